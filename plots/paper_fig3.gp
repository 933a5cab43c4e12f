# SPDX-License-Identifier: GPL-3.0-or-later
# What PAI's tasks ask for, and how many different requests the tasks of a group of jobs
# have (the analogue of the paper's Figure 3; groups of five jobs and more).
#
#	gnuplot -e "folder='build/paper/fig3'; out='fig3.png'; load folder.'/settings.gp'" plots/paper_fig3.gp
#
# Variables, set with -e or in settings.gp, which `cotenant repro fig3 --out` writes:
#	out       PNG file to write
#	folder    where the CSV files are
#	source    optional line below the figure: revision, traces, seeds
#	pai       what the data is of: the trace, or something synthetic
if (!exists("out") || !exists("folder")) {
	print "paper_fig3.gp: set out and folder with -e; see the head of the file"
	exit status 2
}
if (!exists("source")) source = ""
if (!exists("pai")) pai = "PAI trace"

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
requests = folder . "/requests.csv"
configs = folder . "/configs.csv"
set style fill solid 0.8 noborder
set boxwidth 0.75
set yrange [0:*]
unset key
set xlabel "GPU request of a task's instance (% of a GPU)"
set ylabel "tasks that ask for GPUs (%)"
set title "(a) " . pai . ", requests"
name(k) = column("to_percent") > 0 ? sprintf("to %g", column("to_percent")) : "more"
stats requests using (column("to_percent") <= 100 ? column("share") : 0) name "R" nooutput
set xtics scale 0
set xrange [-0.6:6.6]
plot requests using 0:(100 * column("share")):xtic(name(0)) with boxes linecolor rgb "#0072B2", \
	requests using 0:(100 * column("share")):(sprintf("%.1f", 100 * column("share"))) with labels offset 0,0.7 font ",11"
unset label 1
set xtics 1
set xlabel "different GPU requests in a group (number)"
set ylabel "groups of 5 jobs and more (logarithmic)"
set title "(b) " . pai . ", groups"
stats configs using "configurations":"groups" name "C" nooutput
stats configs using (column("configurations") > 1 ? column("groups") : 0) name "M" nooutput
set label 2 sprintf("2 and more: %.1f %%", 100 * M_sum / C_sum_y) at graph 0.97,0.93 right
set xrange [0.4:(C_max_x < 7 ? 7 : C_max_x) + 0.6]
set logscale y 10
set yrange [0.5:3 * C_max_y]
plot configs using "configurations":"groups" with boxes linecolor rgb "#0072B2", \
	configs using "configurations":"groups":(sprintf("%d", column("groups"))) with labels offset 0,0.7 font ",11"
unset multiplot
