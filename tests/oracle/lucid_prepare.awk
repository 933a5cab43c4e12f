# SPDX-License-Identifier: GPL-3.0-or-later
# The Lucid artifact's files in this program's terms. A workload is named by what the
# artifact's tables are keyed by: model/dataset/batchsize/amp.
#
#	awk -v what=pairs -f lucid_prepare.awk colocate_info.csv        -> model,partner,factor,first
#	awk -v what=jobs  -f lucid_prepare.awk des_input.csv            -> a trace
#	awk -v what=cluster [-v lucid=1] -f lucid_prepare.awk vc_config.csv
#
# Pairs with NeuMF (and ResNet50, BERT, Transformer, which have no rows) do not disturb
# each other in the artifact, so its NeuMF rows are left out. Of two equal jobs the later
# one takes the place of job 1 of the row, the earlier one that of job 2.
BEGIN {
	FS = OFS = ","
	if (what == "pairs")
		print "model", "partner", "factor", "first"
}
FNR == 1 {
	if (what == "jobs") {
		for (i = 1; i <= NF; i++)
			at[$i] = i
		print "job_id,partition,submit_time,duration,num_gpus,model,gpu_mem_mib,sharescore,requested_time"
	}
	if (what == "cluster")
		print "node_types:"
	next
}
what == "pairs" && $2 != "NeuMF" && $8 != "NeuMF" {
	a = $2 "/" $3 "/" $5 "/" $6
	b = $8 "/" $9 "/" $11 "/" $12
	if (a == b)
		print a, b, $7, $13
	else
		print a, b, $7, "" RS b, a, $13, ""
}
what == "jobs" {
	print $at["job_id"], $at["vc"], $at["submit_s"], $at["duration_s"], $at["gpu_num"],
		$at["model"] "/" $at["dataset"] "/" $at["batchsize"] "/" $at["amp"], $at["gmem_mib"],
		$at["sharescore"], $at["est_duration_s"]
}
# lucid=1: the profiler's two nodes are taken from vc8Gr and vcefl, a third is its spare one
what == "cluster" {
	n = $2 - (lucid && ($1 == "vc8Gr" || $1 == "vcefl"))
	printf "  - {count: %d, gpus: 8, partition: %s}\n", n, $1
}
END {
	if (what == "cluster" && lucid)
		print "  - {count: 3, gpus: 8, partition: profiler}"
}
