#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Wrong configurations through the program: exit status and message. (Places inside
# a file are tested one by one in tests/unit/test_config.c.)
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
H=$work/here
cp tests/data/conformance/easy3.csv "$work/jobs.csv"

# yaml: standard input into a file beside the jobs
yaml() { cat >"$work/run.yaml"; }
run() {
	label=$1
	shift
	begin "$label" "$C" run "$work/run.yaml" "$@"
	no_out
	files
}

yaml <<'Y'
trace: {file: jobs.csv}
cluster: {nodes: 1, gpus_per_node: 4}
policy: {name: easy}
Y
begin "a good one" "$C" run "$work/run.yaml"; status 0
begin "the same by options" "$C" run --trace "$work/jobs.csv" --cluster 1x4 --policy easy; status 0
begin "file is missing" "$C" run none.yaml; status 5; no_out; err "cotenant: error: none.yaml: cannot open: No such file*"
begin "file is a folder" "$C" run .; status 5; err "cotenant: error: .: cannot read: Is a directory"
run "jobs are missing" --trace nowhere.csv; status 5; err "*nowhere.csv*No such file*"
run "unknown key by --set" --set cluster.nodse=4; status 3; err "*--set cluster.nodse=4: unknown key 'cluster.nodse'; did you mean 'nodes'?"
run "wrong type by --set" --set cluster.nodes=four; status 3; err "*'cluster.nodes' wants a whole number *, got 'four'"
run "bad seed" --seed -1; status 3; err "cotenant: error: --seed -1: 'sim.seed' wants a whole number >= 0, got '-1'"
run "bad row rule" --on-bad-row=keep; status 3; err "*wants one of refuse|drop, got 'keep'"
run "unknown policy" --policy esay; status 6; err "cotenant: error: --policy esay: *'esay'*did you mean 'easy'*"
run "policy is no object" --policy ./none.so; status 6; err "*./none.so*"
run "unknown policy option" --set policy.plcement=pack; status 3; err "*policy 'easy' has no option 'plcement'; did you mean 'placement'?"
run "bad policy option" --set policy.placement=pile; status 3; err "*'policy.placement' wants one of count|pack|pool, got 'pile'"
run "no nodes" --cluster 0x8; status 3; err "cotenant: error: --cluster 0x8: the cluster has no node*"
run "no GPUs" --cluster 8x0; status 3; err "cotenant: error: --cluster 8x0: the cluster has 0 GPUs*"
run "too many GPUs" --cluster 4194304x1048576; status 3; err "*the cluster has * GPUs*"
run "empty window" --set sim.warmup=10 --set sim.until=5; status 3; err "*measurement window is empty*"
run "unknown format" --set trace.format=cvs; status 3; err "*unknown trace.format 'cvs'; did you mean 'csv'?"
run "pairs are missing" --set contention.pairs=none.csv; status 5; err "*none.csv*"
run "transitions are missing" --set transitions.file=none.csv; status 5; err "*none.csv*"
run "data file is missing" --set trace.file=data:none.csv; status 5; err "*data file 'none.csv' not found in *"
run "data file outside" --set trace.file=data:../none.csv; status 5; err "*'data:../none.csv' is not the name of a data file"

printf 'model,partner,factor\na,b,zero\n' >"$work/pairs.csv"
run "bad pair table" --set "contention.pairs=$work/pairs.csv"; status 3; err "*pairs.csv:2:5: *"
printf 'kind,model,from,to,seconds,blocks,source\nfly,*,*,*,1,1,x\n' >"$work/t.csv"
run "bad transition table" --set "transitions.file=$work/t.csv"; status 3; err "*t.csv:2:1: *"

yaml <<'Y'
trace: {file: jobs.csv}
cluster: {nodes: 1, gpus_per_nod: 4}
policy: {name: easy, name: fifo}
sim: {seed: x}
Y
run "all errors together"; status 3
err "*run.yaml:2:21: unknown key 'cluster.gpus_per_nod'; did you mean 'gpus_per_node'?"
err "*run.yaml:4:13: 'sim.seed' wants a whole number >= 0, got 'x'"
err "*run.yaml:3:22: key 'name' is there twice, first on line 3"

# paths: relative to the file, or to the working directory on the command line
mkdir "$work/sub"
cp "$work/jobs.csv" "$work/sub/mine.csv"
printf 'trace: {file: mine.csv}\ncluster: {nodes: 1, gpus_per_node: 4}\npolicy: {name: fifo}\n' >"$work/sub/run.yaml"
begin "path in a file" "$C" run "$work/sub/run.yaml"; status 0
begin "path on the command line" "$C" run "$work/sub/run.yaml" --trace mine.csv; status 5; err "*mine.csv*No such file*"
begin "path by --set" "$C" run "$work/sub/run.yaml" --set trace.file=../jobs.csv; status 0

# check: the same errors, and jobs that can never run
begin "check, good" "$C" check "$work/sub/run.yaml"; status 0; no_err; out "policy * fifo: placement=count*"; out "*every job fits*"
begin "check, bad row" "$C" check "$work/sub/run.yaml" --trace "$root/tests/data/conformance/bad/zero_gpus.csv"; status 4; no_out
err "*zero_gpus.csv:*:*: *"
begin "check, too large" "$C" check "$work/sub/run.yaml" --trace "$root/tests/data/conformance/bad/too_big.csv" --cluster 1x8
status 0; out "can never run: 1 job: *"
begin "check, bad option" "$C" check "$work/sub/run.yaml" --set policy.on_block=maybe; status 3
begin "check writes nothing" "$C" check "$work/sub/run.yaml" --set output.file=x.h5; status 0; files

# the printed configuration is the same run
begin "print-config" "$C" check "$work/sub/run.yaml" --set policy.placement=pack --seed 9 --print-config; status 0; no_err
cp "$work/out" "$work/printed.yaml"
begin "printed again" "$C" check "$work/printed.yaml" --print-config; status 0; that cmp -s "$work/out" "$work/printed.yaml"
begin "original" "$C" run "$work/sub/run.yaml" --set policy.placement=pack --seed 9 --json
grep '"digest"' "$work/out" >"$work/digest"
begin "printed, run" "$C" run "$work/printed.yaml" --json; status 0
grep '"digest"' "$work/out" >"$work/digest2"
that cmp -s "$work/digest" "$work/digest2"
that [ -s "$work/digest" ]

# a cluster in a file of its own
printf 'nodes: 1\ngpus_per_node: 4\n' >"$work/sub/cluster.yaml"
printf 'trace: {file: mine.csv}\ncluster: {file: cluster.yaml}\npolicy: {name: fifo}\n' >"$work/sub/split.yaml"
begin "cluster file" "$C" check "$work/sub/split.yaml"; status 0; out "cluster * 1 nodes, 4 GPUs: 1x4"
begin "cluster file by --set" "$C" check "$work/sub/run.yaml" --set "cluster.file=$work/sub/cluster.yaml" --set cluster.nodes=3
status 0; out "cluster * 3 nodes, 12 GPUs: 3x4"
files
finish
