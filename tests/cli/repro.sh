#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# cotenant repro: the command line; that the numbers do not depend on the number of
# processes; and what a recorded state is for.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work
small="--seeds 2 --set cluster.nodes=2 --set generate.days=0.3 --set sim.until=25920"

begin "no such table" "$C" repro table99; status 2; no_out; err "*no table 'table99'*which has table4 *load *terms *table6 table7 fig1 to fig9 figures*"
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

# Figures of traces. Of four tasks two ask for less than a GPU; no table has groups or sensors.
mkdir -p "$W/traces/pai"
printf 'j%d,i%d,u,Terminated,1,9\n' 1 1 2 2 3 3 >"$W/traces/pai/pai_job_table.csv"
printf 'j%d,worker,1,Terminated,1,9,600,2,%d,T4\n' 1 50 2 25 3 800 >"$W/traces/pai/pai_task_table.csv"
echo 'j3,evaluator,1,Terminated,1,9,600,2,100,T4' >>"$W/traces/pai/pai_task_table.csv"
begin "a trace with some tables" "$C" repro fig3 --seeds 2 --data "$W/traces" --csv "$W/fig3.csv"; status 0
out "figure3.fractional *%*54.00  *50.000 *- * beside *missed"; out "figure3.configs *synthetic*"
out "figure3.fractional: PAI trace"; out "figure3.configs: synthetic, not the PAI trace (trace generate pai, seeds 1 to 2)"
that grep -q '^figure3.fractional,fig3,%,.*,50,.*,PAI trace$' "$W/fig3.csv"
begin "its curves" "$C" repro figures --seeds 1 --data "$W/traces" --out "$W/figs" --set cluster.nodes=2 --set generate.days=0.3 --set sim.until=25920 --set sim.seed=4 --json
status 0; out '*"id": "figure4.ratio",*"ours": 32,*"source": "PAI trace"*'; out '*"id": "figure1.genai",*"within": "synthetic",*'
printf 'above_percent,to_percent,tasks,share\n0,25,1,0.25\n25,50,1,0.25\n50,75,0,0\n75,100,1,0.25\n100,200,0,0\n200,400,0,0\n400,,1,0.25\n' >"$W/want"
that cmp "$W/want" "$W/figs/fig3/requests.csv"
that grep -q "^pai = 'PAI trace'$" "$W/figs/fig4/settings.gp"; that grep -q "^pai = 'SYNTHETIC, not the PAI trace'$" "$W/figs/fig1/settings.gp"
that grep -q "^source = 'cotenant .*; synthetic, not the PAI trace (trace generate pai, seed 4); synthetic, not the GenAI trace" "$W/figs/fig2/settings.gp"
for f in fig1/util_cdf fig1/duty_cdf fig2/util_6h fig2/qps fig3/configs fig4/large_tasks fig4/flexibility_cdf fig8/cdf fig9/heatmap; do
	that [ -s "$W/figs/$f.csv" ]
done
begin "a figure's runs are what run gives" "$C" run "$root/experiments/paper/scenario.yaml" --policy elastico --set cluster.nodes=2 --set generate.days=0.3 --set sim.until=25920 --set sim.seed=4 --csv "$W/run"
status 0; that cmp "$W/run/jobs.csv" "$W/figs/fig6/elastico/jobs.csv"; that cmp "$W/run/series.csv" "$W/figs/fig7/elastico/series.csv"
begin "and where jobs were" "$C" report "$W/figs/fig6/elastico.h5" --timeline "$W/t.json"; status 0; no_err
begin "no data" "$C" repro fig5; status 0; out "fig5: the architecture, a drawing: there is no data"
begin "a figure alone" "$C" repro fig7; status 0; out "  plots/paper_fig7.gp, from the files*"
begin "out of a table" "$C" repro table4 --out "$W/none"; status 2; no_out; err "*--out belongs to fig1 to fig9, or figures"
begin "no traces" "$C" repro fig1 --seeds 1 --data "$W/none"; status 5; no_out; err "*cannot read folder '*/none'*"
echo 'j1,worker' >"$W/traces/pai/pai_task_table.csv"
begin "a broken trace" "$C" repro fig3 --seeds 1 --data "$W/traces"; status 4; no_out; err "*pai_task_table.csv:1*"
shared=${COTENANT_SHARED_DATA:-$root/../shared/data}
if [ -d "$shared/genai" ]; then
	# the published ones: 7.0 %, 0.87, "nearly 85"
	begin "the GenAI trace" "$C" repro figures --seeds 1 --data "$shared"; status 0
	out "figure1.genai *7.025 *met"; out "figure2.cv *0.868 *met"; out "figure2.peak *84.600 *met"; out "figure2.peak: GenAI trace"
else
	skip "the GenAI trace" "no $shared/genai"
fi

begin "accept" "$C" repro table4 $small --accept "$W/state.csv"; status 0; err "*figures changed in*"
begin "check" "$C" repro table4 $small --check "$W/state.csv" -j 2; status 0
sed 's/^table4.elastico.jct,2,0\.\(.\)/table4.elastico.jct,2,0.9\1/' "$W/state.csv" >"$W/other.csv"
begin "a changed value" "$C" repro table4 $small --check "$W/other.csv"; status 7
err "table4.elastico.jct: *recorded 0.9*"; err "*1 figures differ from *--accept*"
begin "other seeds" "$C" repro table4 $small --seeds 3 --check "$W/state.csv"; status 7
begin "no state" "$C" repro table4 $small --check "$W/none.csv"; status 5

begin "without IAC: expected, then found" "$C" repro iac --seeds 2 --set cluster.nodes=1 --set generate.days=0.2; status 0
err "cotenant: expected without IAC: *% of the pairs that fit *"
out "iac.losing.8 *"; out "no-rst-no-gangs *no-iac *"; out "*found without IAC: throughput x *"
begin "a draw that is none" "$C" run --trace data:experiments/demo/day.csv --cluster 8x8 --policy fifo \
	--set calib.dir=data:calib/a100-40gb --set calib.draw=-1; status 3; err "*calib.draw*"
begin "a change of nothing" "$C" run --trace data:experiments/demo/day.csv --cluster 8x8 --policy fifo \
	--set calib.dir=data:calib/a100-40gb --set calib.change=speed=2; status 3; err "*no number 'speed' to change"
begin "constants of two files" "$C" run --cluster 8x8 --policy fifo --set generate.kind=mixed --set generate.days=1 \
	--set generate.change=infer_share=0; status 3; err "*has two files of constants and no 'change' of them"
"$C" calib fit --dir calib/a100-40gb --out "$W/a100.h5" >/dev/null
begin "a draw of a file" "$C" run --trace data:experiments/demo/day.csv --cluster 8x8 --policy fifo \
	--set calib.file="$W/a100.h5" --set calib.draw=1; status 3; err "*are of a calibration folder; *a100.h5' is a file"
begin "posterior" "$C" calib posterior --out "$W/posterior.csv"; status 0; out "PPO *host *"
that cmp -s "$W/posterior.csv" calib/a100-40gb/posterior.csv
begin "posterior, blind" "$C" calib posterior --blind-host --out "$W/blind.csv"; status 0
that cmp -s "$W/blind.csv" calib/a100-40gb/posterior-blind.csv

printf 'load,spread,tilt,kept\n1.5,1.3,0,yes\n2,1.3,0,yes\n9,9,9,no\n' >"$W/fits.csv"
begin "over fits" "$C" repro table4 $small --fits "$W/fits.csv"; status 0; out "*fits from*"
begin "no vector kept" "$C" repro table4 $small --fits /dev/null; status 3
files
finish
