# SPDX-License-Identifier: GPL-3.0-or-later
# Queueing delay of each job, in order of arrival (the analogue of the paper's Figure 6b),
# from the jobs.csv files that `cotenant run --csv DIR` wrote. Points are jobs, lines the
# means of 25 jobs that came one after the other.
#
#	gnuplot -e "folder='build/paper/fig6'; out='fig6b.png'; load folder.'/settings.gp'" plots/paper_fig6b.gp
#
# Variables, set with -e or in settings.gp, which `cotenant repro fig6 --out` writes:
#	out       PNG file to write
#	folder    where the runs are; policies: their folders, which are the legend (up to 7)
#	source    optional line below the figure: revision, seed and digests
if (!exists("out") || !exists("folder") || !exists("policies")) {
	print "paper_fig6b.gp: set out, folder and policies with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = ""
n = words(policies)
if (n > 7) {
	print "paper_fig6b.gp: at most 7 runs can be told apart"
	exit status 2
}
file(i) = folder . "/" . word(policies, i) . "/jobs.csv"

# Okabe and Ito's colours without the yellow, told apart with any colour vision; dashes
# and points tell the runs apart in grey.
array faint[7] = ["#A00072B2", "#A0D55E00", "#A0009E73", "#A0CC79A7", "#A056B4E9", "#A0E69F00", "#A0000000"]
set linetype 1 linecolor rgb "#0072B2" dashtype solid
set linetype 2 linecolor rgb "#D55E00" dashtype (10,3)
set linetype 3 linecolor rgb "#009E73" dashtype (3,2)
set linetype 4 linecolor rgb "#CC79A7" dashtype (10,3,2,3)
set linetype 5 linecolor rgb "#56B4E9" dashtype (16,4)
set linetype 6 linecolor rgb "#E69F00" dashtype (6,2,2,2,2,2)
set linetype 7 linecolor rgb "#000000" dashtype (1,4)
array shape[7] = [7, 5, 9, 13, 11, 15, 1]
group = 25

set datafile separator ","
set datafile columnheaders # functions name columns, too
set terminal pngcairo size 900,620 font "DejaVu Sans,13" linewidth 1.6 background "#ffffff" noenhanced
set output out
set border 3 linecolor "#444444"
set tics nomirror
set grid ytics linecolor "#dddddd" linetype 1 linewidth 0.6
set title "Queueing delay in order of arrival (points: jobs; lines: means of 25)"
set xlabel "job, in order of arrival (number)"
set ylabel "time in the queue, all visits (hours)"
set yrange [0:*]
set key above horizontal center samplen 4 spacing 1.2
set bmargin 5.5
set label 1 source at screen 0.985,0.025 right font ",9" textcolor "#666666"
hours = 3600.0
middle(k) = group * (floor(k / group) + 0.5)
plot for [i = 1:n] file(i) using 0:(column("queue_s") / hours) with points pointtype shape[i] pointsize 0.4 \
	linecolor rgb faint[i] notitle, \
	for [i = 1:n] file(i) using (middle($0)):(column("queue_s") / hours) smooth unique \
	with lines linewidth 1.8 linetype i title word(policies, i)
