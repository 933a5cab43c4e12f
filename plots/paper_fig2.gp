# SPDX-License-Identifier: GPL-3.0-or-later
# Demand over time (the analogue of the paper's Figure 2): medians of GPU utilisation of six
# hours in PAI, requests of a minute in the GenAI trace.
#
#	gnuplot -e "folder='build/paper/fig2'; out='fig2.png'; load folder.'/settings.gp'" plots/paper_fig2.gp
#
# Variables, set with -e or in settings.gp, which `cotenant repro fig2 --out` writes:
#	out       PNG file to write
#	folder    where the CSV files are
#	source    optional line below the figure: revision, traces, seeds
#	pai, genai  what the data of a panel is of: the trace, or something synthetic
if (!exists("out") || !exists("folder")) {
	print "paper_fig2.gp: set out and folder with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = ""
if (!exists("pai")) pai = "PAI trace"
if (!exists("genai")) genai = "GenAI trace"

# Okabe and Ito's colours without the yellow, told apart with any colour vision; dashes
# tell lines apart in grey.
set linetype 1 linecolor rgb "#0072B2" dashtype solid
set linetype 2 linecolor rgb "#D55E00" dashtype (10,3)
set linetype 3 linecolor rgb "#009E73" dashtype (3,2)
set datafile separator ","
set datafile columnheaders # functions name columns, too
set datafile missing NaN
set terminal pngcairo size 1200,540 font "DejaVu Sans,13" linewidth 1.6 background "#ffffff" noenhanced
set output out
set border 3 linecolor "#444444"
set tics nomirror
set grid ytics linecolor "#dddddd" linetype 1 linewidth 0.6
set label 1 source at screen 0.99,0.03 right font ",9" textcolor "#666666"
set multiplot layout 1,2 margins 0.085,0.97,0.2,0.88 spacing 0.12
util = folder . "/util_6h.csv"
qps = folder . "/qps.csv"
stats util using "training_median_percent":"inference_median_percent" name "U" nooutput
stats qps using (strlen(strcol("qps")) ? column("qps") : NaN) name "Q" nooutput
set xlabel "time (days)"
set ylabel "median GPU utilisation of 6 h (%)"
set yrange [0:1.3 * (U_max_x > U_max_y ? U_max_x : U_max_y)]
set key top right samplen 4 spacing 1.2
set title "(a) " . pai . sprintf(": r = %.2f", U_correlation)
plot util using "day":"training_median_percent" with lines linetype 1 linewidth 1.4 title "training", \
	util using "day":"inference_median_percent" with lines linetype 2 linewidth 1.4 title "inference"
unset label 1
set title "(b) " . genai . sprintf(": CV %.2f", Q_stddev / Q_mean)
set ylabel "QPS, all pods (0.09: one a minute)"
set xrange [0:1]
set xtics 0.2
set yrange [0:1.25 * Q_max]
plot qps using "day":"qps" with points pointtype 7 pointsize 0.3 linecolor rgb "#9956B4E9" title "minute", \
	qps using "day":"mean_of_11_min" with lines linetype 1 linewidth 1.2 title "mean of 11 min"
unset multiplot
