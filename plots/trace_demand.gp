# SPDX-License-Identifier: GPL-3.0-or-later
# GPUs in use and arrivals over time, from the demand.csv that
# `cotenant trace info FILE --csv DIR` wrote, and from nothing else.
#
#	gnuplot -e "out='fig.png'; folder='build/itp08'" plots/trace_demand.gp
#
# Variables, set with -e:
#	out       PNG file to write
#	folder    where demand.csv is
#	gpus      optional: size of a cluster, drawn as a line
#	source    optional line below the figure: the trace and its digest
if (!exists("out") || !exists("folder")) {
	print "trace_demand.gp: set out and folder with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = ""
file = folder . "/demand.csv"
set datafile separator ","
stats file using "time" nooutput
if (!exists("STATS_max")) {
	print "trace_demand.gp: cannot read '" . file . "'"
	exit status 5
}
first = STATS_min
span = STATS_max > first ? STATS_max - first : 1.0
unit = span > 4 * 86400 ? "days" : span > 2 * 3600 ? "hours" : span > 300 ? "minutes" : "seconds"
divisor = unit eq "days" ? 86400.0 : unit eq "hours" ? 3600.0 : unit eq "minutes" ? 60.0 : 1.0

set terminal pngcairo size 1400,1000 font "DejaVu Sans,15" linewidth 1.6 background "#ffffff"
set output out
set border 3 linecolor "#606060"
set tics nomirror out
set grid ytics linecolor "#d8d8d8" linewidth 0.6
set lmargin 10
set rmargin 4
set xrange [0:span / divisor]
set yrange [0:*]
set key top right
set multiplot layout 2,1
set ylabel "GPUs in use"
set format x ""
if (exists("gpus")) {
	plot file using ((column("time") - first) / divisor):"gpus_in_use" with fillsteps \
		fillcolor "#0072B2" fillstyle solid 0.35 noborder notitle, \
		file using ((column("time") - first) / divisor):"gpus_in_use" with steps linecolor "#0072B2" \
		title "each job at its own time", \
		gpus + 0 with lines linecolor "#000000" dashtype 2 title sprintf("%g GPUs", gpus)
} else {
	plot file using ((column("time") - first) / divisor):"gpus_in_use" with fillsteps \
		fillcolor "#0072B2" fillstyle solid 0.35 noborder notitle, \
		file using ((column("time") - first) / divisor):"gpus_in_use" with steps linecolor "#0072B2" \
		title "each job at its own time"
}
set format x "%g"
set ylabel "arrivals per hour"
set xlabel unit . " since the first submission" . (source eq "" ? "" : "\n{/*0.75 " . source . "}")
plot file using ((column("time") - first) / divisor):"arrivals_per_h" with steps linecolor "#D55E00" notitle
unset multiplot
