# SPDX-License-Identifier: GPL-3.0-or-later
# Rows of a PAI simulator input, without header and sorted by (submit_time, job_id), to a job file
# of ours: sort -t, -k7,7n -k1,1n | awk -f pai_prepare.awk. Columns in: job_id,user,gpu_type,
# num_inst,num_gpu,num_cpu,submit_time,duration,group,user_dur,group_dur,group_gpu_dur.
#
# The simulator replaces the submission time by floor(rank / 1000) minutes and places jobs on one
# node with two divisible amounts, GPUs and CPU cores, both in hundredths. A fifth of its jobs ask
# for no GPU.
BEGIN {
	FS = ","
	print "job_id,submit_time,num_gpus,num_cpus,duration,user_dur,group_dur,group_gpu_dur"
}
$4 != 1 {
	print "row " NR ": one instance expected: " $0 > "/dev/stderr"
	exit 1
}
{
	printf "%s,%d,%.2f,%.2f,%s,%s,%s,%s\n", $1, int((NR - 1) / 1000) * 60, $5, $6, $8, $10, $11, $12
}
