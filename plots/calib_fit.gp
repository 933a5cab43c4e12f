# SPDX-License-Identifier: GPL-3.0-or-later
# Fitted and left-out decays against the measured ones, from the fit.csv of
# `cotenant calib show FILE.h5 --out`.
#
#	gnuplot -e "out='fit.png'; folder='build/calib'" plots/calib_fit.gp
#
# Variables, set with -e:
#	out       PNG file to write
#	folder    where fit.csv is
#	source    optional line below the figure
if (!exists("out") || !exists("folder")) {
	print "calib_fit.gp: set out and folder with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = "a fit calibrates; it does not validate"
set datafile separator ","
set terminal pngcairo size 700,700 font "sans,11" noenhanced
set output out
set title "Decay: model against measurement"
set xlabel "measured\n" . source
set ylabel "model"
set size ratio 1
set xrange [0.4:1.05]
set yrange [0.4:1.05]
set grid lc rgb "#dddddd"
set key left top
plot x with lines lc rgb "#999999" notitle, \
	x + 0.1 with lines dt 2 lc rgb "#bbbbbb" title "+- 0.1", \
	x - 0.1 with lines dt 2 lc rgb "#bbbbbb" notitle, \
	folder . "/fit.csv" using 5:7 skip 1 with points pt 6 ps 1.2 lc rgb "#d55e00" title "pair left out of the fit", \
	folder . "/fit.csv" using 5:6 skip 1 with points pt 7 ps 0.9 lc rgb "#0072b2" title "fitted"
