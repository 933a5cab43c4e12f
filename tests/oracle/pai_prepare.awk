# SPDX-License-Identifier: GPL-3.0-or-later
# Rows of a PAI simulator input, without header and sorted by (submit_time, job_id), to a job file
# of ours: sort -t, -k7,7n -k1,1n | awk -f pai_prepare.awk. Columns in: job_id,user,gpu_type,
# num_inst,num_gpu,num_cpu,submit_time,duration,group,user_dur,group_dur,group_gpu_dur.
#
# The simulator replaces the submission time by floor(rank / 1000) minutes and places jobs on one
# node with two divisible amounts, GPUs and CPU cores, both in hundredths. A fifth of its jobs ask
# for no GPU, while a job of ours always holds a share of one. The model is symmetric in its two
# amounts, so they change places: its cores are the pool (every job has some), its GPUs the node's
# second amount, which a job may leave at 0.
BEGIN {
	FS = OFS = ","
	print "job_id", "submit_time", "num_gpus", "gpu_milli", "cpu_milli", "duration", "user_dur", "group_dur",
	      "group_gpu_dur"
}
{
	cores = int($6 * 100 + 0.5)
	gpu = int($5 * 100 + 0.5)
	if ($4 != 1 || cores <= 0 || (cores > 100 && cores % 100)) {
		print "row " NR ": one instance and whole cores or a part of one expected: " $0 > "/dev/stderr"
		exit 1
	}
	whole = cores >= 100
	print $1, int((NR - 1) / 1000) * 60, whole ? cores / 100 : 1, whole ? 1000 : cores * 10, gpu * 10, $8, $10, $11,
	      $12
}
