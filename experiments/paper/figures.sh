#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The paper's Figures 6a, 6b, 7, 8a, 8b and 9 from our own runs: volcano, lucid and elastico on the
# one scenario of experiments/paper/scenario.yaml, case 3 of section 5.4, and the calibration
# behind them.
#
#	experiments/paper/figures.sh OUT_DIR [SEED]
#
# leaves OUT_DIR/fig6a.png and so on, the CSV files they were drawn from, the results, and
# report.html of the three runs. One run each, as a testbed day is; the figures with
# intervals are `cotenant repro`'s. Needs gnuplot.
set -u
[ $# -ge 1 ] || { echo "usage: figures.sh OUT_DIR [SEED]" >&2; exit 2; }
here=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
COTENANT=${COTENANT:-$here/build/release/cotenant}
out=$1
seed=${2:-1}
export LC_ALL=C
command -v gnuplot >/dev/null || { echo "figures.sh: gnuplot is missing (Debian: gnuplot-nox)" >&2; exit 1; }
mkdir -p "$out" || exit 5

digests=
simulate() { # simulate CONFIG POLICY DIR OPTION...: DIR/POLICY.h5, its CSV, and its digest
	config=$1 policy=$2 dir=$3
	shift 3
	"$COTENANT" run "$here/experiments/$config" --policy "$policy" "$@" \
		--out "$dir/$policy.h5" --csv "$dir/$policy" >"$dir/$policy.txt" 2>"$out/log" || { rc=$?; cat "$out/log" >&2; exit $rc; }
	digests="$digests $policy $(sed -n 's/^digest *\(........\).*/\1/p' "$dir/$policy.txt")"
}
draw() { # draw FIGURE SCRIPT FOLDER POLICIES SOURCE
	gnuplot -e "out='$out/$1.png'; folder='$3'; policies='$4'; source='$5'" "$here/plots/$2.gp" || exit 5
}
revision=$("$COTENANT" --version | sed -n '1s/.*(\(.*\)).*/\1/p')

simulate paper/scenario.yaml volcano "$out" --set sim.seed="$seed"
# 2 profiling nodes in 135, as the authors have it, are none of 8
simulate paper/scenario.yaml lucid "$out" --set sim.seed="$seed" --set policy.profile=off
simulate paper/scenario.yaml elastico "$out" --set sim.seed="$seed"
for f in fig6a fig6b fig7; do
	draw $f paper_$f "$out" "volcano lucid elastico" "cotenant $revision, scenario.yaml, seed $seed, digests:$digests"
done

mkdir -p "$out/case3" || exit 5
digests=
simulate cases/case3.yaml firstfit "$out/case3"
simulate cases/case3.yaml elastico "$out/case3"
draw fig8b paper_fig8b "$out/case3" "firstfit elastico" "cotenant $revision, cases/case3.yaml, digests:$digests"

"$COTENANT" calib show --out "$out/calib" >/dev/null || exit $?
source="cotenant $revision; profiles rest on assumed levels (calib/a100-40gb/workloads.csv)"
draw fig8a decay_cdf "$out/calib" "" "$source"
draw fig9 heatmap "$out/calib" "" "$source"
"$COTENANT" report "$out/volcano.h5" "$out/lucid.h5" "$out/elastico.h5" --out "$out/report.html" || exit $?
rm -f "$out/log"
echo "figures and report.html in $out"
