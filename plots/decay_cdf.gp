# SPDX-License-Identifier: GPL-3.0-or-later
# Distribution of the mean decay over pairs of variants (the analogue of the paper's
# Figure 8a), from the cdf.csv of `cotenant calib show --out`.
#
#	gnuplot -e "out='fig8a.png'; folder='build/calib'" plots/decay_cdf.gp
#
# Variables, set with -e:
#	out       PNG file to write
#	folder    where cdf.csv is
#	source    optional line below the figure; `calibration`, which the settings.gp of
#	          `cotenant repro fig8 --out` has, goes before it
if (!exists("out") || !exists("folder")) {
	print "decay_cdf.gp: set out and folder with -e; see the head of the file"
	exit status 2
}
if (exists("calibration")) source = calibration
if (!exists("source")) source = "profiles rest on assumed levels (calib/a100-40gb/workloads.csv)"
set datafile separator ","
set terminal pngcairo size 900,620 font "DejaVu Sans,13" linewidth 1.6 background "#ffffff" noenhanced
set output out
set title "How much co-located pairs keep of their solo speeds"
set xlabel "mean decay of the pair (fraction of solo speed, 1 = no slow-down)"
set ylabel "fraction of pairs"
set xrange [0.4:1]
set yrange [0:1]
set border 3 linecolor "#444444"
set tics nomirror
set grid linecolor "#dddddd" linetype 1 linewidth 0.6
set bmargin 5.5
set label 1 source at screen 0.985,0.025 right font ",9" textcolor "#666666"
unset key
set arrow from 0.6,0 to 0.6,1 nohead dt 2 lc rgb "#666666"
set arrow from 0.9,0 to 0.9,1 nohead dt 2 lc rgb "#666666"
set label "harmful" at 0.59,0.92 right tc rgb "#444444"
set label "safe" at 0.91,0.05 left tc rgb "#444444"
plot folder . "/cdf.csv" using 1:2 skip 1 with steps lw 2 lc rgb "#0072b2"
