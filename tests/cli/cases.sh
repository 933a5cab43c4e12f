#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The case studies that come with the program (experiments/cases): what the files say can be
# run, first fit does what the lengths say by hand, and elastico what the paper says it does.
# Figures over ranges of lengths: tests/oracle/test_cases.c.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness

# run CASE POLICY: figures into $work/CASE.POLICY, events into its folder
run() {
	begin "case $1, $2" sh -c "'$C' run data:experiments/cases/case$1.yaml --policy $2 --csv '$work/$1.$2' >'$work/table' &&
		awk '\$1 ~ /^(makespan_s|mean_jct_s|mean_wait_s|jobs_finished)\$/ { print \$1, \$2 }' '$work/table' | tee '$work/$1.$2.txt'"
	status 0
}
# falls CASE METRIC: elastico's is below first fit's
falls() {
	begin "case $1: $2 is shorter" awk -v key="$2" '$1 == key { v[FILENAME == ARGV[1]] = $2 }
		END { exit !(length(v) == 2 && v[1] < v[0]) }' "$work/$1.elastico.txt" "$work/$1.firstfit.txt"
	status 0
}
# starts CASE POLICY WITHIN: jobs that have started by then
starts() {
	begin "case $1, $2: starts within $3 s" awk -F, -v t="$3" '$2 == "start" && $1 <= t { n++ } END { print n + 0 }' \
		"$work/$1.$2/events.csv"
	status 0
	out "$4"
}

# one after the other: an hour each, or half an hour for ResNet-50, PPO and NCF
run 1 firstfit; out "jobs_finished 2"; out "makespan_s 7200.000"; out "mean_jct_s 5400.000"
run 2 firstfit; out "jobs_finished 4"; out "makespan_s 5400.000"; out "mean_wait_s 1350.000"
run 3 firstfit; out "jobs_finished 6"; out "makespan_s 21600.000"; out "mean_wait_s 9000.000"
starts 1 firstfit 5 1
starts 2 firstfit 5 2

run 1 elastico; out "jobs_finished 2"; out "mean_wait_s 0.000"
run 2 elastico; out "jobs_finished 4"; out "mean_wait_s 0.000" # 30 minutes to none
run 3 elastico; out "jobs_finished 6"
starts 1 elastico 5 2
starts 2 elastico 5 4
starts 3 elastico 5 2
for case in 1 2 3; do
	falls $case makespan_s
	falls $case mean_jct_s
done
falls 3 mean_wait_s

# The mechanism, as `explain` tells it.
told() { # CASE POLICY JOB
	begin "case $1, $2: explain $3" sh -c "'$C' run data:experiments/cases/case$1.yaml --policy $2 --out '$work/$1.h5' >/dev/null 2>&1 &&
		'$C' explain '$work/$1.h5' --job $3"
	status 0
}
told 1 firstfit resnet; out "*0.000*3600.000*3600.000*waits:*"
told 1 elastico bert; out "*0.000*runs on GPU 0 of node 0 as b*, beside 'resnet' (ResNet-50 b*): slow-down *, predicted *"
told 2 firstfit ppo; out "*0.000*1800.000*1800.000*waits:*"
told 2 elastico ppo; out "*placed beside '*': slow-down *, of its host *"

# The defaults do not fit beside each other: who shares has been reshaped.
begin "case 1: not the default configurations" awk -F, '
	$2 == "submit" { default_of[$3] = $5 }
	$2 == "start" && $5 != default_of[$3] { n++ }
	END { exit !(n >= 1) }' "$work/1.elastico/events.csv"
status 0
begin "case 1 without reshaping" sh -c "'$C' run data:experiments/cases/case1.yaml --set policy.rst=false | awk '\$1 == \"makespan_s\" { print \$2 }'"
status 0
out "7200.000"

# The sweep of the ablation: cell 50 of 140 is elastico on the tenth day.
begin "ablation, one cell" "$C" sweep data:experiments/sweeps/ablation.yaml --shard 50/140 -j 1 --out "$work/ablation"
status 0
out "elastico *"
begin "ablation: which cell" tail -n 1 "$work/ablation/runs.csv"
out "50,*,elastico,,,,,10,*"
finish
