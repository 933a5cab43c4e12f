# SPDX-License-Identifier: GPL-3.0-or-later
# Distribution of the normalised JCT of training jobs, JCT / duration alone in the
# default configuration (the analogue of the paper's Figure 6a), from the jobs.csv files
# that `cotenant run --csv DIR` wrote.
#
#	gnuplot -e "folder='build/paper/fig6'; out='fig6a.png'; load folder.'/settings.gp'" plots/paper_fig6a.gp
#
# Variables, set with -e or in settings.gp, which `cotenant repro fig6 --out` writes:
#	out       PNG file to write
#	folder    where the runs are; policies: their folders, which are the legend (up to 7)
#	source    optional line below the figure: revision, seed and digests
if (!exists("out") || !exists("folder") || !exists("policies")) {
	print "paper_fig6a.gp: set out, folder and policies with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = ""
n = words(policies)
if (n > 7) {
	print "paper_fig6a.gp: at most 7 runs can be told apart"
	exit status 2
}
file(i) = folder . "/" . word(policies, i) . "/jobs.csv"

# Okabe and Ito's colours without the yellow, told apart with any colour vision; dashes
# and points tell the runs apart in grey.
set linetype 1 linecolor rgb "#0072B2" dashtype solid
set linetype 2 linecolor rgb "#D55E00" dashtype (10,3)
set linetype 3 linecolor rgb "#009E73" dashtype (3,2)
set linetype 4 linecolor rgb "#CC79A7" dashtype (10,3,2,3)
set linetype 5 linecolor rgb "#56B4E9" dashtype (16,4)
set linetype 6 linecolor rgb "#E69F00" dashtype (6,2,2,2,2,2)
set linetype 7 linecolor rgb "#000000" dashtype (1,4)

set datafile separator ","
set datafile columnheaders # functions name columns, too
set datafile missing NaN
set terminal pngcairo size 900,620 font "DejaVu Sans,13" linewidth 1.6 background "#ffffff" noenhanced
set output out
set border 3 linecolor "#444444"
set tics nomirror
set grid linecolor "#dddddd" linetype 1 linewidth 0.6
set title "Training jobs: how much longer than alone"
set xlabel "JCT / duration alone in the default configuration (x)"
set ylabel "fraction of training jobs"
set key bottom right samplen 4 spacing 1.2
set bmargin 5.5
set label 1 source at screen 0.985,0.025 right font ",9" textcolor "#666666"
train(i) = strcol("class") eq "train" && column("measured") == 1 ? column("slowdown") : NaN
array middle[n]
do for [i = 1:n] {
	undefine STATS_*
	stats file(i) using (train(i)) nooutput
	if (!exists("STATS_median")) {
		print "paper_fig6a.gp: no training jobs in '" . file(i) . "'"
		exit status 5
	}
	middle[i] = STATS_median
}
# after stats, which leaves out what is out of range
set logscale x 10
set yrange [0:1]
plot for [i = 1:n] file(i) using (train(i)):(1) smooth cnormal with lines linewidth 1.6 linetype i \
	title sprintf("%s, median %.2f x", word(policies, i), middle[i])
