# SPDX-License-Identifier: GPL-3.0-or-later
# Distribution of GPU utilisation in two production systems (the analogue of the paper's
# Figure 1): PAI's training and inference jobs, the GenAI trace's pods.
#
#	gnuplot -e "folder='build/paper/fig1'; out='fig1.png'; load folder.'/settings.gp'" plots/paper_fig1.gp
#
# Variables, set with -e or in settings.gp, which `cotenant repro fig1 --out` writes:
#	out       PNG file to write
#	folder    where the CSV files are
#	source    optional line below the figure: revision, traces, seeds
#	pai, genai  what the data of a panel is of: the trace, or something synthetic
if (!exists("out") || !exists("folder")) {
	print "paper_fig1.gp: set out and folder with -e; see the head of the file"
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
set xlabel "GPU utilisation (%)"
set ylabel "fraction of rows"
set xrange [0:100]
set yrange [0:1]
set xtics 25
set key bottom right samplen 4 spacing 1.2
set title "(a) " . pai . ", by worker"
plot folder . "/util_cdf.csv" using "util_percent":"training" with lines linetype 1 linewidth 1.6 title "training", \
	folder . "/util_cdf.csv" using "util_percent":"inference" with lines linetype 2 linewidth 1.6 title "inference"
unset label 1
set title "(b) " . genai . ", by pod and minute"
plot folder . "/duty_cdf.csv" using "util_percent":"pods" with lines linetype 3 dashtype solid linewidth 1.6 title "pods, duty cycle"
unset multiplot
