# SPDX-License-Identifier: GPL-3.0-or-later
# When each of a few jobs waited and ran, one panel a run (the analogue of the paper's
# Figure 8b), from the jobs.csv files that `cotenant run --csv DIR` wrote.
#
#	gnuplot -e "folder='build/paper/fig8'; out='fig8b.png'; load folder.'/settings.gp'" plots/paper_fig8b.gp
#
# Variables, set with -e or in settings.gp, which `cotenant repro fig8 --out` writes:
#	out       PNG file to write
#	folder    where the runs are; policies: their folders, one panel each (up to 4)
#	source    optional line below the figure: revision, seed and digests
if (!exists("out") || !exists("folder") || !exists("policies")) {
	print "paper_fig8b.gp: set out, folder and policies with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = ""
n = words(policies)
if (n > 4) {
	print "paper_fig8b.gp: at most 4 runs"
	exit status 2
}
file(i) = folder . "/" . word(policies, i) . "/jobs.csv"

set datafile separator ","
set datafile columnheaders # functions name columns, too
set terminal pngcairo size 900,160+230*n font "DejaVu Sans,13" linewidth 1.6 background "#ffffff" noenhanced
set output out
hours = 3600.0
end = 0.0
jobs = 0
array last[n]
array mean[n]
do for [i = 1:n] {
	undefine STATS_*
	stats file(i) using (column("finish_time") / hours) nooutput
	if (!exists("STATS_max")) {
		print "paper_fig8b.gp: no job ended in '" . file(i) . "'"
		exit status 5
	}
	last[i] = STATS_max
	jobs = STATS_records
	end = last[i] > end ? last[i] : end
	stats file(i) using (column("turnaround_time") / hours) nooutput
	mean[i] = STATS_mean
}
set border 3 linecolor "#444444"
set tics nomirror
set grid xtics linecolor "#dddddd" linetype 1 linewidth 0.6
set ytics scale 0
set xrange [0:end * 1.02]
set yrange [jobs - 0.4:-0.6]
set style arrow 1 nohead linewidth 2 linecolor rgb "#999999" dashtype (3,2)
set style arrow 2 nohead linewidth 9 linecolor rgb "#0072B2"
set label 1 source at screen 0.985,0.022 right font ",9" textcolor "#666666"
set label 2 "dashed: waits, bar: on the GPU" at screen 0.015,0.022 left font ",9" textcolor "#666666"
set multiplot layout n,1 margins 0.17,0.97,0.17,0.93 spacing 0.14
do for [i = 1:n] {
	set title sprintf("%s: all done after %.2f hours, mean JCT %.2f hours", word(policies, i), last[i], mean[i])
	set xlabel i == n ? "time (hours)" : ""
	plot file(i) using (column("submission_time") / hours):0:((column("starting_time") - column("submission_time")) / hours):(0):yticlabels(1) \
		with vectors arrowstyle 1 notitle, \
		file(i) using (column("starting_time") / hours):0:(column("execution_time") / hours):(0) with vectors arrowstyle 2 notitle
}
unset multiplot
