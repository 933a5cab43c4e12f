#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# sim.compat and lucid's options through the program.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness

cat >"$work/jobs.csv" <<'Y'
job_id,submit_time,duration,num_gpus,requested_time,sharescore,model
a,0,100,1,100,0,m
b,10,50,1,50,0,m
Y
cat >"$work/pairs.csv" <<'Y'
model,partner,factor,first
m,m,0.5,0.75
Y
run() {
	label=$1
	shift
	begin "$label" "$C" run --trace "$work/jobs.csv" --cluster 1x1 "$@"
}
ends() { # the ends of both jobs
	begin "$1: ends" sh -c "cut -d, -f1,9 '$work/$2/jobs.csv' | tail -n 2 | tr '\n' ' '"
	status 0
	out "$3"
}

run "unknown set" --policy fifo --set sim.compat=lucid; status 3; no_out
err "*'sim.compat' wants one of none|lucid-artifact|lucid-artifact-repaired, got 'lucid'"
run "a policy it does not know" --policy easy --set sim.compat=lucid-artifact; status 3; no_out
err "*'sim.compat' knows nothing about policy 'easy'"
run "no such partition" --policy lucid --set policy.profiler=none; status 6; no_out
err "*policy 'lucid'*the cluster has no partition 'none'*"
run "forecast without a file" --policy lucid --set policy.switch=forecast; status 6; no_out
err "*'policy.switch=forecast' wants 'policy.forecast', a file*"
run "no such score" --policy lucid --set policy.score_column=labels; status 6; no_out
err "*'policy.score_column' wants a column of the trace, got 'labels'*"

# b beside a from 10 on: exact, b at half speed from 10 to 110; a, first, at 3/4: 90 left
# at 10, 15 left at 110, ends at 125.
cp "$work/jobs.csv" "$work/keep.csv"
run "packed" --policy lucid --set policy.profile=off --set contention.pairs="$work/pairs.csv" --csv "$work/exact"; status 0
ends "packed" exact "a,125 b,110*"
# a step late: b is seen at 111, a did 75.75 of 90 by then, 14.25 take 15 steps: 127
run "artifact" --policy lucid --set sim.compat=lucid-artifact --set policy.profile=off \
	--set contention.pairs="$work/pairs.csv" --csv "$work/late"; status 0
ends "artifact" late "a,127 b,111*"
run "artifact, one key given" --policy lucid --set sim.compat=lucid-artifact --set policy.profile=off \
	--set policy.pack=off --csv "$work/alone"; status 0
ends "artifact, one key given" alone "a,101 b,152*"
# Tiresias: both start at passes, 0 and 120 (a ends, seen, at 101)
run "artifact's Tiresias" --policy las --set sim.compat=lucid-artifact --csv "$work/las"; status 0
ends "artifact's Tiresias" las "a,101 b,171*"
finish
