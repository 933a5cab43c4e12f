#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# cotenant repro: the command line; that the numbers do not depend on the number of
# processes; and what a recorded state is for.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work
small="--seeds 2 --set cluster.nodes=2 --set generate.days=0.3 --set sim.until=25920"

begin "no such table" "$C" repro table99; status 2; no_out; err "*no table 'table99'*"
begin "two tables" "$C" repro table4 table5; status 2; err "*wanted one table, got 2*"
begin "no seeds" "$C" repro --seeds 0; status 2; err "*--seeds wants a whole number of 1 to 1000*"
begin "no setting" "$C" repro --set novalue; status 2; err "*--set wants KEY=VALUE*"
begin "unknown setting" "$C" repro table4 --seeds 1 --set sim.sed=1; status 3; err "*study 'main', variant *sim.sed*"
begin "table 4, small" "$C" repro table4 $small --json; status 0
out '*"id": "table4.elastico.jct", *"published": 0.34,*"role": "predict",*'
cp "$W/out" "$W/one"
begin "in two processes" "$C" repro table4 $small --json -j 2; status 0; that cmp -s "$W/out" "$W/one"
begin "as a table" "$C" repro table4 $small --csv "$W/rows.csv"; status 0
out "table4.volcano.sm *%*25.00 *fit *"; out "*scenario CHANGED by --set"
that grep -q '^table4.lucid.jct,table4,x,"Table 4, row lucid",fit,0.46,' "$W/rows.csv"
begin "no width" "$C" repro --width 0; status 2; err "*--width wants a percentage of 0.1 to 100*"
# two seeds leave table 5's ratios wide; the rows that are not scored keep them
begin "until the means are known" "$C" repro table5 $small --width 40 --json; status 0
err "*means are not known to 40 % yet: more seeds"
that python3 - "$W/out" <<'EOF'
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["ours"] is not None]
scored = [r for r in rows if r["role"] in ("fit", "predict")]
assert scored and all((r["mean_hi"] - r["mean_lo"]) / 2 <= 0.4 * r["ours"] for r in scored), scored
assert max(r["seeds"] for r in scored) > 2
EOF
begin "table 6" "$C" repro table6 --json; status 0; out '*"id": "table6.18.b",*'

# The cases are what `run` says of their files; the definitions' first is Table 4's own.
figure() { sed -n "s/.*\"id\": \"$2\",.* \"$3\": \([^,]*\),.*/\1/p" "$1"; }
makespan() { "$C" run data:experiments/cases/case1.yaml --policy "$1" --json 2>/dev/null | awk '$1 == "\"makespan_s\":" { sub(",$", "", $2); print $2 }'; }
begin "cases" "$C" repro cases --json; status 0; cp "$W/out" "$W/cases.json"
that awk "BEGIN { d = $(figure "$W/cases.json" case1.makespan ours) - 100 * (1 - $(makespan elastico) / $(makespan firstfit)); exit !(d * d < 1e-12) }"
that awk "BEGIN { exit !($(figure "$W/cases.json" case3.mean lo) < $(figure "$W/cases.json" case3.mean ours) && $(figure "$W/cases.json" case3.mean ours) < $(figure "$W/cases.json" case3.mean hi)) }"
begin "terms" "$C" repro terms $small --json; status 0; cp "$W/out" "$W/terms.json"
that [ "$(figure "$W/terms.json" terms.throughput.backlog.elastico ours)" = "$(figure "$W/one" table4.elastico.throughput ours)" ]
that [ "$(figure "$W/terms.json" terms.jct.backlog.lucid published)" = 0.46 ]
# activities that overlap fill less than their sum
that awk "BEGIN { exit !($(figure "$W/terms.json" terms.sm.union.elastico ours) < $(figure "$W/terms.json" terms.sm.min.elastico ours)) }"
begin "terms, counted" "$C" repro terms $small; status 0; out "table4.elastico.jct, published 0.34 x: [0-5] of 5 definitions agree, *"
# A tenth of what the GPUs can do is steady, and more work than there are GPUs is not under Volcano.
begin "stable" "$C" repro load --seeds 3 --set generate.load=0.1; status 0
out "load.days100.volcano.backlog_growth: *: no growth shown,*"
begin "not stable" "$C" repro load --seeds 3 --set generate.load=1.3; status 0
out "load.days100.volcano.backlog_growth: *: NOT stable,*"
begin "clock" "$C" repro table9 $small --csv "$W/clock.csv"; status 0
that grep -q '^section3.4.pairs,table9,ms,.*,beside,1.2,[0-9.]*,' "$W/clock.csv"
that [ "$(head -n 1 "$W/clock.csv" | tr , '\n' | grep -c '^aim$\|^tolerance$')" = 2 ]

begin "accept" "$C" repro table4 $small --accept "$W/state.csv"; status 0; err "*figures changed in*"
begin "check" "$C" repro table4 $small --check "$W/state.csv" -j 2; status 0
sed 's/^table4.elastico.jct,2,0\.\(.\)/table4.elastico.jct,2,0.9\1/' "$W/state.csv" >"$W/other.csv"
begin "a changed value" "$C" repro table4 $small --check "$W/other.csv"; status 7
err "table4.elastico.jct: *recorded 0.9*"; err "*1 figures differ from *--accept*"
begin "other seeds" "$C" repro table4 $small --seeds 3 --check "$W/state.csv"; status 7
begin "no state" "$C" repro table4 $small --check "$W/none.csv"; status 5

printf 'load,spread,tilt,kept\n1.5,1.3,0,yes\n2,1.3,0,yes\n9,9,9,no\n' >"$W/fits.csv"
begin "over fits" "$C" repro table4 $small --fits "$W/fits.csv"; status 0; out "*fits from*"
begin "no vector kept" "$C" repro table4 $small --fits /dev/null; status 3
files
finish
