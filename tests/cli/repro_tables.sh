#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# cotenant repro: tables that are more than cells beside each other: cases, terms, load, instances, clock.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work
small="--seeds 2 --set cluster.nodes=2 --set generate.days=0.3 --set sim.until=25920"

# The cases are what `run` says of their files; the definitions' first is Table 4's own.
figure() { sed -n "s/.*\"id\": \"$2\",.* \"$3\": \([^,]*\),.*/\1/p" "$1"; }
makespan() { "$C" run data:experiments/cases/case1.yaml --policy "$1" --json 2>/dev/null | awk '$1 == "\"makespan_s\":" { sub(",$", "", $2); print $2 }'; }
begin "cases" "$C" repro cases --json; status 0; cp "$W/out" "$W/cases.json"
that awk "BEGIN { d = $(figure "$W/cases.json" case1.makespan ours) - 100 * (1 - $(makespan elastico) / $(makespan firstfit)); exit !(d * d < 1e-12) }"
that awk "BEGIN { exit !($(figure "$W/cases.json" case3.mean lo) < $(figure "$W/cases.json" case3.mean ours) && $(figure "$W/cases.json" case3.mean ours) < $(figure "$W/cases.json" case3.mean hi)) }"
# without reshaping nothing fits beside anything, and nothing is saved (tests/cli/cases.sh)
begin "cases without reshaping" "$C" repro cases --set policy.rst=false --json; status 0
that [ "$(figure "$W/out" case1.makespan ours)" = 0 ]
# other lengths end between the policy's epochs of 5 s: less than 0.2 % is lost, nothing won
that awk "BEGIN { exit !($(figure "$W/out" case1.makespan hi) <= 0 && $(figure "$W/out" case1.makespan lo) > -0.2) }"
begin "cases, no such key" "$C" repro cases --set cluster.nods=3; status 3; no_out; err "*cluster.nods*did you mean*"
begin "cases, no such option" "$C" repro cases --set policy.rsst=false; status 3; no_out; err "*policy.rsst*"
begin "an option of elastico's" "$C" repro table4 $small --set policy.rst=false --json; status 0
begin "table 4" "$C" repro table4 $small --json; status 0; cp "$W/out" "$W/one"
begin "terms" "$C" repro terms $small --json; status 0; cp "$W/out" "$W/terms.json"
that [ "$(figure "$W/terms.json" terms.throughput.backlog.elastico ours)" = "$(figure "$W/one" table4.elastico.throughput ours)" ]
that [ "$(figure "$W/terms.json" terms.jct.backlog.lucid published)" = 0.46 ]
# activities that overlap fill less than their sum
that awk "BEGIN { exit !($(figure "$W/terms.json" terms.sm.union.elastico ours) < $(figure "$W/terms.json" terms.sm.min.elastico ours)) }"
begin "terms, counted" "$C" repro terms $small; status 0; out "table4.elastico.jct, published 0.34 x: [0-5] of 5 definitions agree, *"
# A tenth of what the GPUs can do is steady (one that is not: D/D/1 in run.sh, and test_repro).
begin "stable" "$C" repro load --seeds 2 --set generate.load=0.1; status 0
out "load.days100.volcano.backlog_growth: *: no growth shown,*"
# What the planner says by itself, of one target.
short="--set generate.days=0.1 --set generate.load=0.3 --set sim.until=8640"
mkdir -p "$W/data/experiments/paper"
ln -s "$root/calib" "$root/traces" "$W/data"
cp "$root/experiments/paper/scenario.yaml" "$W/data/experiments/paper"
sed 's/^  pools: .*/  pools: [volcano]/; s/^  targets: .*/  targets: ["p95_wait_s<=600"]/' "$root/experiments/paper/published.yaml" \
	>"$W/data/experiments/paper/published.yaml"
begin "instances" env COTENANT_DATA="$W/data" "$C" repro instances $short --json; status 0; cp "$W/out" "$W/instances.json"
begin "plan" "$C" plan data:experiments/paper/scenario.yaml $short --set generate.gpus=64 --static --policies volcano,elastico \
	--vary gpus=8..1024 --runs 5 --target 'train.p95_wait_s<=600' --target 'infer.p95_wait_s<=600' --json; status 0
saved() { sed -n "s/.*\"saving_$1\": \([^,}]*\)[,}].*/\1/p" "$W/out" | head -n 1; }
for what in additional total; do
	that awk "BEGIN { exit !($(figure "$W/instances.json" "instances.volcano.p95_wait_s<=600.$what" ours) == 100 * $(saved $what)) }"
done
that awk "BEGIN { exit !($(figure "$W/instances.json" instances ours) == 100 * $(saved additional)) }"
sed -i 's/^  pools: .*/  pools: [lucid]/' "$W/data/experiments/paper/published.yaml"
begin "a pool with options" env COTENANT_DATA="$W/data" "$C" repro instances; status 3; no_out; err "*'plan' wants variants that set policy.name alone, and 'lucid' is none*"
begin "clock" "$C" repro table9 $small --csv "$W/clock.csv"; status 0
that grep -q '^section3.4.pairs,table9,ms,.*,beside,1.2,[0-9.]*,' "$W/clock.csv"
that [ "$(head -n 1 "$W/clock.csv" | tr , '\n' | grep -c '^aim$\|^tolerance$')" = 2 ]

files
finish
