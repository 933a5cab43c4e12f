# SPDX-License-Identifier: GPL-3.0-or-later
# Which tasks of four GPUs and more have smaller siblings, and how far the requests of a user
# reach (the analogue of the paper's Figure 4).
#
#	gnuplot -e "folder='build/paper/fig4'; out='fig4.png'; load folder.'/settings.gp'" plots/paper_fig4.gp
#
# Variables, set with -e or in settings.gp, which `cotenant repro fig4 --out` writes:
#	out       PNG file to write
#	folder    where the CSV files are
#	source    optional line below the figure: revision, traces, seeds
#	pai       what the data is of: the trace, or something synthetic
if (!exists("out") || !exists("folder")) {
	print "paper_fig4.gp: set out and folder with -e; see the head of the file"
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
large = folder . "/large_tasks.csv"
set style fill solid 0.8 noborder
set boxwidth 0.7
set yrange [0:*]
set key top left samplen 2 spacing 1.2
set xlabel "GPUs of a task's instance (number)"
set ylabel "tasks (number)"
set title "(a) " . pai . ", large tasks"
name(k) = column("below_gpus") - column("from_gpus") == 1 ? sprintf("%g", column("from_gpus")) : \
	column("below_gpus") > 0 ? sprintf("%g to %g", column("from_gpus"), column("below_gpus") - 1) : \
	sprintf("%g and more", column("from_gpus"))
all(k) = column("with_smaller") + column("without")
stats large using (all(0)) name "L" nooutput
set yrange [0:1.35 * L_max]
set xrange [-0.6:3.6]
plot large using 0:(all(0)):xtic(name(0)) with boxes linecolor rgb "#E69F00" title "user has no task below 4 GPUs", \
	large using 0:"with_smaller" with boxes linecolor rgb "#0072B2" title "user completed a task below 4 GPUs", \
	large using 0:(all(0) > 0 ? all(0) : NaN):(all(0) > 0 ? sprintf("%.0f %%", 100 * column("with_smaller") / all(0)) : "") \
	with labels offset 0,0.7 font ",11" notitle
unset label 1
set title "(b) " . pai . ", users"
set xlabel "largest request of a user / the smallest (x)"
set ylabel "fraction of users"
set key bottom right samplen 4
set logscale x 2
set xrange [1:256]
set xtics 2
set yrange [0:1]
plot folder . "/flexibility_cdf.csv" using "ratio":"all_users" with steps linetype 1 linewidth 1.6 title "all users", \
	folder . "/flexibility_cdf.csv" using "ratio":"users_of_5_jobs" with steps linetype 2 linewidth 1.6 title "of 5 jobs and more"
unset multiplot
