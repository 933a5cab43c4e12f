#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `plan`: sizes that can be worked out by hand, what it refuses, and its intervals.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
D=$root/tests/data/conformance
H=$work/here
# value of a key in the N-th row that has it, of the last command's JSON
value() { grep -o "\"$1\": [^,}]*" "$work/out" | sed -n "${2:-1}s/.*: //p"; }

# Twelve jobs of 100 s at once, one GPU each: on c GPUs the last waits 100 (ceil(12 / c) - 1).
{
	echo job_id,submit_time,num_gpus,duration
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "j$i,0,1,100"; done
} >"$H/batch.csv"
one="--trace batch.csv --policy fifo --set cluster.gpus_per_node=1"
# shellcheck disable=SC2086
begin "single GPUs" "$C" plan $one --target 'max_wait_s<=0,100,200,300,1000' --vary gpus=1..40 --json; status 0; no_err
for i in 1:12 2:6 3:4 4:3 5:2; do that [ "$(value gpus ${i%:*})" = ${i#*:} ]; done
that [ "$(value monotone)" = 1 ]
# Mean wait on 4 GPUs: (0 + 100 + 200) / 3 = 100; on 5: (5 x 0 + 5 x 100 + 2 x 200) / 12 = 75
# shellcheck disable=SC2086
begin "a bound that is just not met" "$C" plan $one --target 'mean_wait_s<100' --vary gpus=1..12 --json; status 0
that [ "$(value gpus)" = 5 ]; that [ "$(value mean)" = 75 ]
# shellcheck disable=SC2086
begin "two targets, the harder one decides" "$C" plan $one --target 'mean_wait_s<=100' --target 'max_wait_s<=100' --vary gpus=1..12 --json
status 0; that [ "$(value gpus)" = 6 ]
# 1,200 GPU-seconds of work in 100 ceil(12 / c) seconds
# shellcheck disable=SC2086
begin "a larger value wanted" "$C" plan $one --target 'throughput>=6' --vary gpus=1..12 --json; status 0
that [ "$(value gpus)" = 6 ]; that [ "$(value mean)" = 6 ]
begin "whole nodes" "$C" plan --trace batch.csv --policy fifo --set cluster.gpus_per_node=4 --target 'max_wait_s<=100' --vary gpus=1..40 --json
status 0; that [ "$(value gpus)" = 8 ]; that [ "$(value nodes)" = 2 ]
begin "range in nodes" "$C" plan --trace batch.csv --policy fifo --set cluster.gpus_per_node=4 --target 'max_wait_s<=100' --vary nodes=1..9 --json
status 0; that [ "$(value gpus)" = 8 ]
# shellcheck disable=SC2086
begin "never met" "$C" plan $one --target 'max_wait_s<0' --vary gpus=1..20; status 0
out "Note: fifo (all): max_wait_s<0 is not met with 20 GPUs."; out "max_wait_s<0 *fifo *all *-*-*-*"
# shellcheck disable=SC2086
begin "seeds change nothing" "$C" plan $one --target 'max_wait_s<=100' --vary gpus=1..12 --runs 3; status 0
out "Note: all runs of a size are equal: *"; out "*max_wait_s<=100*100.000*100.000*100.000"

# Larger is not always better. a: 3 GPUs, 0 to 10 s; g: 4 GPUs, 10 s, at 1; l: 2 GPUs, 100 s, at 2. First fit on
# 4 GPUs: g at 10, l at 20. On 5: l at once, g behind it at 102. On 6: l at once, g at 10. On 7, 8: g at once, l at 10.
cat >"$H/anomaly.csv" <<END
job_id,submit_time,num_gpus,duration
a,0,3,10
g,1,4,10
l,2,2,100
END
begin "not monotone" "$C" plan --trace anomaly.csv --policy firstfit --set cluster.gpus_per_node=1 --set policy.placement=count \
	--target 'max_wait_s<=20' --vary gpus=4..9
status 0; out "*max_wait_s<=20 *firstfit *all *6 *"; out "Note: *is not monotone: met with 4 GPUs, not with 5; *"
# Below 4 GPUs g is rejected: the means of the others would look well.
begin "rejected jobs meet nothing" "$C" plan --trace anomaly.csv --policy firstfit --set cluster.gpus_per_node=1 \
	--target 'mean_wait_s<=50' --vary gpus=3..4 --json
status 0; that [ "$(value gpus)" = 4 ]

# Two pools against one cluster: four training jobs at 0, four of inference when they are over.
{
	echo job_id,submit_time,num_gpus,duration,kind
	for i in 1 2 3 4; do echo "t$i,0,1,100,train"; done
	for i in 1 2 3 4; do echo "i$i,100,1,100,infer"; done
} >"$H/shifts.csv"
begin "static pools" "$C" plan --trace shifts.csv --set cluster.gpus_per_node=1 --static --policies fifo,firstfit \
	--target 'train.max_wait_s<=0,100' --target 'infer.max_wait_s<=0' --vary gpus=1..20 --json
status 0
# row 1: G_T = G_I = G_E = 4; row 2: G_T 2 (till 200), but inference still needs 4 idle GPUs at 100
that [ "$(value gpus_train 1) $(value gpus_infer 1) $(value gpus_shared 1)" = "4 4 4" ]
that [ "$(value saving_additional 1) $(value saving_total 1)" = "1 0.5" ]
that [ "$(value gpus_train 2) $(value gpus_infer 2) $(value gpus_shared 2)" = "2 4 4" ]
that [ "$(value saving_additional 2)" = 0.5 ]
begin "static, table" "$C" plan --trace shifts.csv --set cluster.gpus_per_node=1 --static --policies fifo,firstfit \
	--target 'train.max_wait_s<=0' --target 'infer.max_wait_s<=0' --vary gpus=1..20
status 0; out "*fifo *firstfit *4 *4 *4 *1.0000 *0.5000 *1.0000 *0.5000"
begin "only one kind" "$C" run --trace shifts.csv --cluster 4x1 --policy fifo --set trace.only=kind=infer --json; status 0
out '*"jobs_submitted": 4,*'

# Over seeds: what the interval leaves open is a range, and the answer repeats byte for byte.
cat >"$H/gen.yaml" <<END
generate: {kind: mixed, days: 0.25, gpus: 16, load: 1, node_gpus: 4}
cluster: {gpus_per_node: 4}
END
begin "over seeds" "$C" plan gen.yaml --policies fifo,easy --target 'mean_slowdown<3' --vary gpus=4..128 --runs 4 --json; status 0
cp "$work/out" "$work/first"
for i in 1 2; do
	that [ "$(value gpus_possible $i)" -le "$(value gpus_by_mean $i)" ]
	that [ "$(value gpus_by_mean $i)" -le "$(value gpus $i)" ]
	that awk "BEGIN { exit !($(value lo $i) < $(value mean $i) && $(value hi $i) < 3) }"
done
begin "again" "$C" plan gen.yaml --policies fifo,easy --target 'mean_slowdown<3' --vary gpus=4..128 --runs 4 --json; status 0
that cmp -s "$work/out" "$work/first"

# What it refuses
t="--target p95_jct_s<7200 --vary gpus=4..32"
# shellcheck disable=SC2086
begin "trace.load" "$C" plan $one $t --set trace.load=1; status 3; no_out; err "*'trace.load' would stretch*"
# shellcheck disable=SC2086
begin "one process" "$C" plan gen.yaml --policies fifo,easy --target 'p95_jct_s<20000' --vary gpus=4..32 --runs 5 --json; status 0; no_err
cp "$work/out" "$work/one"
for n in 2 3 9; do
	begin "$n processes" "$C" plan gen.yaml --policies fifo,easy --target 'p95_jct_s<20000' --vary gpus=4..32 --runs 5 --json -j $n; status 0; no_err
	that cmp "$work/one" "$work/out"
done
begin "no process" "$C" plan gen.yaml --policy fifo --target 'p95_jct_s<1' --vary gpus=4..8 -j 0; status 2; err "*-j wants 1 to 1024, got '0'"
begin "a run that fails in a worker" "$C" plan gen.yaml --policy fifo --target 'p95_jct_s<1' --vary gpus=4..8 --runs 3 -j 2 --set policy.order_by=nothing
rc_many=$rc; cp "$work/err" "$work/many"
begin "and here" "$C" plan gen.yaml --policy fifo --target 'p95_jct_s<1' --vary gpus=4..8 --runs 3 --set policy.order_by=nothing
status "$rc_many"; that cmp "$work/many" "$work/err"; that [ "$rc" -ne 0 ]
begin "generated for this size" "$C" plan gen.yaml --policy fifo --set generate.gpus=0 $t; status 3; err "*give generate.gpus"
# shellcheck disable=SC2086
begin "no policy" "$C" plan gen.yaml $t; status 3; err "*no policy: *"
# shellcheck disable=SC2086
begin "unknown policy" "$C" plan gen.yaml --policies fivo $t; status 6; err "*--policies fivo*did you mean 'fifo'?*"
begin "unknown metric" "$C" plan gen.yaml --target 'p95_jtc_s<1' --vary gpus=4..8; status 2; no_out; err "*did you mean 'p95_jct_s'?"
begin "no class's metric" "$C" plan gen.yaml --target 'train.makespan_s<1' --vary gpus=4..8; status 2; err "*'makespan_s' is of the whole run*"
begin "no number" "$C" plan gen.yaml --target 'p95_jct_s<2h' --vary gpus=4..8; status 2; err "*a target wants a number, got '2h'"
begin "no comparison" "$C" plan gen.yaml --target 'p95_jct_s' --vary gpus=4..8; status 2; err "*a target wants METRIC<NUMBER*"
begin "bad range" "$C" plan gen.yaml --target 'p95_jct_s<1' --vary gpus=8..4; status 2; err "*--vary wants gpus=LO..HI or nodes=LO..HI, got 'gpus=8..4'"
begin "no whole node" "$C" plan gen.yaml --policy fifo --target 'p95_jct_s<1' --vary gpus=5..7; status 2; err "*no whole node of 4 GPUs between 5 and 7 GPUs"
begin "uneven values" "$C" plan gen.yaml --target 'p95_jct_s<1,2' --target 'mean_jct_s<1,2,3' --vary gpus=4..8; status 2; err "*want equally many*"
begin "static without a class" "$C" plan gen.yaml --static --target 'train.p95_jct_s<1' --vary gpus=4..8; status 2; err "*targets of both classes*"
begin "no target" "$C" plan gen.yaml --vary gpus=4..8; status 2; err "*wanted --target and --vary"
begin "no kinds" "$C" plan --trace "$D/easy3.csv" --static --policies fifo,easy --target 'train.max_jct_s<1' --target 'infer.max_jct_s<1' --vary gpus=8..16
status 3; err "*the trace has no own column 'kind'"
finish
