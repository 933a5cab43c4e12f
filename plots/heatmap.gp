# SPDX-License-Identifier: GPL-3.0-or-later
# What two configurations keep of their solo speeds on one GPU, as a heat map (the
# analogue of the paper's Figure 9), from the heatmap.csv of `cotenant calib show --out`.
#
#	gnuplot -e "out='fig9.png'; folder='build/calib'" plots/heatmap.gp
#
# Variables, set with -e:
#	out       PNG file to write
#	folder    where heatmap.csv is
#	source    optional line below the figure; `calibration`, which the settings.gp of
#	          `cotenant repro fig9 --out` has, goes before it
if (!exists("out") || !exists("folder")) {
	print "heatmap.gp: set out and folder with -e; see the head of the file"
	exit status 2
}
if (exists("calibration")) source = calibration
if (!exists("source")) source = "mean of the two decays; profiles rest on assumed levels (calib/a100-40gb/workloads.csv)"
set datafile separator ","
file = folder . "/heatmap.csv"
stats file using 1 skip 1 nooutput
n = int(STATS_max) + 1
set terminal pngcairo size 1150,1050 font "sans,10" noenhanced
set output out
set title "Mean decay of co-located pairs (1 = no slow-down); mean of the two" font "sans,13"
set label source at screen 0.985,0.02 right font "sans,9" textcolor "#666666"
set bmargin 13
set lmargin 22
set size ratio 1
set xrange [-0.5:n-0.5]
set yrange [n-0.5:-0.5]
set xtics rotate by 60 right scale 0 font "sans,8"
set ytics scale 0 font "sans,8"
set cbrange [0.5:1]
set cblabel "mean decay (fraction of solo speed)"
# light = harmless, dark = harmful; grey-safe, monotone in lightness
set palette defined (0 "#3b0f70", 0.35 "#b63679", 0.65 "#fb8861", 1 "#fcfdbf")
unset key
plot file using 2:1:5:xticlabels(4):yticlabels(3) skip 1 with image
