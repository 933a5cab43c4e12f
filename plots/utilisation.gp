# SPDX-License-Identifier: GPL-3.0-or-later
# GPUs held and jobs waiting over time, one line a policy, from series.csv files.
#
#	gnuplot -e "out='f.png'; folder='build/demo'; policies='fifo easy las'" plots/utilisation.gp
#
# reads FOLDER/POLICY/series.csv as `cotenant run --csv FOLDER/POLICY` wrote it.
# Columns are found by name. A bin is drawn as a step from its beginning.
if (!exists("out") || !exists("folder") || !exists("policies")) {
	print "utilisation.gp: set out, folder and policies with -e"
	exit status 2
}
set terminal pngcairo size 1200,800 font "sans,13" linewidth 1.6
set output out
set datafile separator ","
set datafile columnheaders
file(p) = folder . "/" . p . "/series.csv"
array colour[6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"]
n = words(policies)

stats file(word(policies, 1)) using (column("total_gpus")) nooutput
total = STATS_max

set multiplot layout 2,1 margins 0.08,0.97,0.09,0.95 spacing 0.1
set border 3
set grid ytics linecolor "#dddddd"
set tics nomirror out
set xrange [0:]
set yrange [0:105]
set ylabel "GPUs held, %"
set key above horizontal
set format x ""
plot for [i = 1:n] file(word(policies, i)) using (column("time") / 3600.0):(100.0 * column("held_gpus") / total) \
	with steps linecolor rgb colour[1 + (i - 1) % 6] title word(policies, i)
set yrange [0:*]
set ylabel "jobs waiting"
set xlabel "hours since the first submission"
set format x "%g"
unset key
plot for [i = 1:n] file(word(policies, i)) using (column("time") / 3600.0):(column("queued_jobs")) \
	with steps linecolor rgb colour[1 + (i - 1) % 6]
unset multiplot
