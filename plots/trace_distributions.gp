# SPDX-License-Identifier: GPL-3.0-or-later
# How durations and sizes spread, and the hours of arrival, from the durations.csv,
# sizes.csv and arrivals.csv that `cotenant trace info FILE --csv DIR` wrote.
#
#	gnuplot -e "out='fig.png'; folder='build/itp08'" plots/trace_distributions.gp
#
# Variables, set with -e:
#	out       PNG file to write
#	folder    where the CSV files are
#	source    optional line below the figure: the trace and its digest
if (!exists("out") || !exists("folder")) {
	print "trace_distributions.gp: set out and folder with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = ""
durations = folder . "/durations.csv"
sizes = folder . "/sizes.csv"
arrivals = folder . "/arrivals.csv"
set datafile separator ","
stats sizes using "jobs" nooutput
if (!exists("STATS_sum")) {
	print "trace_distributions.gp: cannot read '" . sizes . "'"
	exit status 5
}
jobs = STATS_sum
stats sizes using "gpu_s" nooutput
work = STATS_sum > 0 ? STATS_sum : 1.0

set terminal pngcairo size 1400,1000 font "DejaVu Sans,15" linewidth 1.6 background "#ffffff"
set output out
set border 3 linecolor "#606060"
set tics nomirror out
set grid linecolor "#d8d8d8" linewidth 0.6
set multiplot layout 2,2
set yrange [0:1]
set ylabel "share of the jobs"
set xlabel "duration, s"
set logscale x 10
set format x "10^{%L}"
plot durations using "duration_s":"quantile" with lines linecolor "#0072B2" notitle
unset logscale x
set format x "%g"
set key bottom right
set ylabel "share of what asks for at most x GPUs"
set xlabel "GPUs asked for (0.1 and less stand at 0.1)"
set logscale x 2
sum_jobs = 0.0
sum_work = 0.0
at(x) = x < 0.1 ? 0.1 : x
plot sizes using (at(column("gpus"))):(sum_jobs = sum_jobs + column("jobs"), sum_jobs / jobs) with steps \
	linecolor "#0072B2" title "jobs", \
	sizes using (at(column("gpus"))):(sum_work = sum_work + column("gpu_s"), sum_work / work) with steps \
	linecolor "#D55E00" dashtype 2 title "GPU time"
unset logscale x
set yrange [0:*]
set xrange [-0.7:23.7]
set xtics 0,3,21
set style fill solid 0.6 noborder
set boxwidth 0.8
set ylabel "arrivals"
set xlabel "hour of the day (time 0 is midnight)" . (source eq "" ? "" : "\n{/*0.75 " . source . "}")
plot arrivals using "hour":"arrivals" with boxes linecolor "#009E73" notitle
unset multiplot
