# SPDX-License-Identifier: GPL-3.0-or-later
# SM activity of the whole cluster over the day (the analogue of the paper's Figure 7),
# idle GPUs included, from the series.csv files that `cotenant run --csv DIR` wrote.
# Lines are means of half an hour; the legend has the mean of the window.
#
#	gnuplot -e "folder='build/paper/fig7'; out='fig7.png'; load folder.'/settings.gp'" plots/paper_fig7.gp
#
# Variables, set with -e or in settings.gp, which `cotenant repro fig7 --out` writes:
#	out       PNG file to write
#	folder    where the runs are; policies: their folders, which are the legend (up to 7)
#	source    optional line below the figure: revision, seed and digests
if (!exists("out") || !exists("folder") || !exists("policies")) {
	print "paper_fig7.gp: set out, folder and policies with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = ""
n = words(policies)
if (n > 7) {
	print "paper_fig7.gp: at most 7 runs can be told apart"
	exit status 2
}
file(i) = folder . "/" . word(policies, i) . "/series.csv"

# Okabe and Ito's colours without the yellow, told apart with any colour vision; dashes
# and points tell the runs apart in grey.
set linetype 1 linecolor rgb "#0072B2" dashtype solid
set linetype 2 linecolor rgb "#D55E00" dashtype (10,3)
set linetype 3 linecolor rgb "#009E73" dashtype (3,2)
set linetype 4 linecolor rgb "#CC79A7" dashtype (10,3,2,3)
set linetype 5 linecolor rgb "#56B4E9" dashtype (16,4)
set linetype 6 linecolor rgb "#E69F00" dashtype (6,2,2,2,2,2)
set linetype 7 linecolor rgb "#000000" dashtype (1,4)
if (!exists("window")) window = 24 # hours since the first submission
part = 0.5

set datafile separator ","
set datafile columnheaders # functions name columns, too
set datafile missing NaN
set terminal pngcairo size 900,620 font "DejaVu Sans,13" linewidth 1.6 background "#ffffff" noenhanced
set output out
set border 3 linecolor "#444444"
set tics nomirror
set grid ytics linecolor "#dddddd" linetype 1 linewidth 0.6
set title "SM activity of the cluster, means of half an hour"
set xlabel "time since the first submission (hours)"
set ylabel "SM active (% of all GPUs, idle ones included)"
set xtics 3
set key bottom right samplen 4 spacing 1.2
set bmargin 5.5
set label 1 source at screen 0.985,0.025 right font ",9" textcolor "#666666"
array first[n]
array mean[n]
hour(i) = (column("time") - first[i]) / 3600.0
sm(i) = hour(i) < window ? 100 * column("sm_gpus") / column("total_gpus") : NaN
do for [i = 1:n] {
	undefine STATS_*
	stats file(i) using "time" nooutput
	first[i] = exists("STATS_min") ? STATS_min : NaN
	undefine STATS_*
	stats file(i) using (sm(i)) nooutput
	if (!exists("STATS_mean")) {
		print "paper_fig7.gp: no SM activity in '" . file(i) . "'"
		exit status 5
	}
	mean[i] = STATS_mean
}
# after stats, which leaves out what is out of range
set xrange [0:window]
set yrange [0:*]
plot for [i = 1:n] file(i) using (part * (floor(hour(i) / part) + 0.5)):(sm(i)) smooth unique with lines linewidth 1.6 linetype i \
	title sprintf("%s, mean %.1f %%", word(policies, i), mean[i])
