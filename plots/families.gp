# SPDX-License-Identifier: GPL-3.0-or-later
# Memory against throughput of the configurations of some workloads: what RST can
# choose from. Reads the families.csv of `cotenant calib show --out`.
#
#	gnuplot -e "out='fam.png'; folder='build/calib'; workloads='BERT ResNet-50'" plots/families.gp
#
# Variables, set with -e:
#	out        PNG file to write
#	folder     where families.csv is
#	workloads  their names, at most 6 (default: ResNet-50 BERT Transformer LSTM)
#	source     optional line below the figure
if (!exists("out") || !exists("folder")) {
	print "families.gp: set out and folder with -e; see the head of the file"
	exit status 2
}
if (!exists("workloads")) workloads = "ResNet-50 BERT Transformer LSTM Qwen-1.7b LLaMA-3-7b"
if (!exists("source")) source = "memory ranges: the paper's Table 2; throughput: assumed and public levels"
if (words(workloads) > 6) {
	print "families.gp: at most 6 workloads can be told apart"
	exit status 2
}
set datafile separator ","
set terminal pngcairo size 900,600 font "sans,11" noenhanced
set output out
set title "Configurations: GPU memory against throughput"
set xlabel "GPU memory, GiB\n" . source
set ylabel "throughput, 1 = default configuration"
set grid lc rgb "#dddddd"
set key outside right top
set yrange [0:*]
array colour[6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
array shape[6] = [7, 5, 9, 11, 13, 4]
plot for [i=1:words(workloads)] folder . "/families.csv" \
	using (strcol(1) eq word(workloads, i) ? $3 : NaN):5 skip 1 \
	with points pt shape[i] ps 1 lc rgb colour[i] title word(workloads, i)
