# SPDX-License-Identifier: GPL-3.0-or-later
# GPU allocation and queue length over time, one curve a run, from the series.csv
# files that `cotenant run --csv DIR` wrote, and from nothing else.
#
#	gnuplot -e "out='fig.png'; folder='build/demo'; policies='fifo easy las'" plots/utilisation.gp
#
# reads FOLDER/POLICY/series.csv for each policy. Variables, set with -e:
#	out       PNG file to write
#	folder    where the runs are; policies: their folders, which are the legend (up to 7)
#	source    optional line below the figure: revision and digests
#	labels    optional legend, one word a run; quote a label with blanks: 'a "b c"'
if (!exists("out") || !exists("folder") || !exists("policies")) {
	print "utilisation.gp: set out, folder and policies with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = ""
if (!exists("labels")) labels = policies
if (words(labels) != words(policies)) {
	print "utilisation.gp: labels and policies are not equally many"
	exit status 2
}
file(i) = folder . "/" . word(policies, i) . "/series.csv"
n = words(policies)
if (n > 7) {
	print "utilisation.gp: at most 7 runs can be told apart"
	exit status 2
}

# Okabe and Ito's colours, told apart with any colour vision; the yellow is left out
# because it is hard to see on white. Dashes tell the curves apart in grey.
array colour[7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
array dashes[7] = [1, 1, 1, 2, 4, 5, 3]

set datafile separator ","
set terminal pngcairo size 1400,1000 font "DejaVu Sans,15" linewidth 1.6 background "#ffffff"
set output out

# Where time begins, the unit that suits the span of the longest run, and the size of
# the cluster.
first = NaN
last = 0.0
gpus = 0.0
queue = 0.0
do for [i = 1:n] {
	undefine STATS_*
	stats file(i) using "time" nooutput
	if (!exists("STATS_max")) {
		print "utilisation.gp: cannot read '" . file(i) . "'"
		exit status 5
	}
	first = STATS_min < first || i == 1 ? STATS_min : first
	last = STATS_max > last ? STATS_max : last
	stats file(i) using "total_gpus" nooutput
	gpus = STATS_max > gpus ? STATS_max : gpus
	stats file(i) using "queued_jobs" nooutput
	queue = STATS_max > queue ? STATS_max : queue
}
span = last > first ? last - first : 1.0
unit = span > 4 * 86400 ? "days" : span > 2 * 3600 ? "hours" : span > 300 ? "minutes" : "seconds"
divisor = unit eq "days" ? 86400.0 : unit eq "hours" ? 3600.0 : unit eq "minutes" ? 60.0 : 1.0

set border 3 linecolor "#444444"
set tics nomirror textcolor "#222222"
set grid ytics linecolor "#dddddd" linetype 1 linewidth 0.6
set style fill transparent solid 0.1 noborder
set lmargin 11
set rmargin 3
set xrange [0:span / divisor]
if (unit eq "hours" && span > 12 * 3600) set xtics span > 48 * 3600 ? 12 : span > 30 * 3600 ? 6 : 3
set key noenhanced above horizontal right samplen 3 spacing 1.2 textcolor "#222222"

set multiplot layout 2,1 margins 0.085,0.975,0.125,0.93 spacing 0.09

set label 2 "GPUs allocated" at graph 0,1.06 left font ",17" textcolor "#222222"
set ylabel sprintf("allocated (%% of %d GPUs)", gpus) offset 0.5,0
set yrange [0:105]
set ytics 0,25,100 format "%g"
set xlabel ""
plot for [i = 1:n] file(i) using ((column("time") - first) / divisor):(100 * column("held_gpus") / column("total_gpus")) \
	with steps linewidth 1.6 linecolor rgb colour[i] dashtype dashes[i] title word(labels, i)

set label 2 "Jobs waiting"
set ylabel "queue length (jobs)"
if (queue > 0) { set yrange [0:*] } else { set yrange [0:1] }
set ytics autofreq
set xlabel "time since the first submission (" . unit . ")" offset 0,0.3
unset key
set label 1 source at screen 0.975,0.022 right font ",11" textcolor "#666666" noenhanced
plot for [i = 1:n] file(i) using ((column("time") - first) / divisor):(column("queued_jobs")) \
	with steps linewidth 1.6 linecolor rgb colour[i] dashtype dashes[i] notitle
unset multiplot
