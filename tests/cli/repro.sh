#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# cotenant repro: the command line; that the numbers do not depend on the number of
# processes; and what a recorded state is for.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work
small="--seeds 2 --set cluster.nodes=2 --set generate.days=0.3 --set sim.until=25920"

begin "no such table" "$C" repro table99; status 2; no_out; err "*no table 'table99'*which has table4 *load *terms *table6 table7*"
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
# what is only shown: a line a study and variant, a column a metric
begin "shown" "$C" repro misses $small; status 0
out "study * variant * mean_jct_s * median_train_jct_s * throughput * sm_active_frac * seeds"
out "load-3 * elastico-rigid * +- *"; out "mean_jct_s, as a ratio of means to volcano under common arrivals;"
begin "another Volcano" "$C" repro table4 $small --volcano volcano-gpubinpack; status 0; out "*as Volcano volcano-gpubinpack"
begin "no such Volcano" "$C" repro table4 --volcano vulcano; status 3; err "*no variant 'vulcano'*"
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
