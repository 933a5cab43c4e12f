#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The paper's Figures 6a, 6b, 7, 8a and 9 from our own runs: volcano, lucid and elastico on the
# one scenario of experiments/paper/scenario.yaml, and the calibration behind it.
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
policies="volcano lucid elastico"

digests=
for p in $policies; do
	# 2 profiling nodes in 135, as the authors have it, are none of 8
	profile=
	[ "$p" = lucid ] && profile="--set policy.profile=off"
	# shellcheck disable=SC2086 # two words or none
	"$COTENANT" run "$here/experiments/paper/scenario.yaml" --policy "$p" $profile --set sim.seed="$seed" \
		--out "$out/$p.h5" --csv "$out/$p" >"$out/$p.txt" 2>"$out/log" || { rc=$?; cat "$out/log" >&2; exit $rc; }
	digests="$digests $p $(sed -n 's/^digest *\(........\).*/\1/p' "$out/$p.txt")"
done
"$COTENANT" calib show --out "$out/calib" >/dev/null || exit $?
revision=$("$COTENANT" --version | sed -n '1s/.*(\(.*\)).*/\1/p')
source="cotenant $revision, scenario.yaml, seed $seed, digests:$digests"

for f in fig6a fig6b fig7; do
	gnuplot -e "out='$out/$f.png'; folder='$out'; policies='$policies'; source='$source'" "$here/plots/paper_$f.gp" || exit 5
done
source="cotenant $revision; profiles rest on assumed levels (calib/a100-40gb/workloads.csv)"
gnuplot -e "out='$out/fig8a.png'; folder='$out/calib'; source='$source'" "$here/plots/decay_cdf.gp" || exit 5
gnuplot -e "out='$out/fig9.png'; folder='$out/calib'; source='$source'" "$here/plots/heatmap.gp" || exit 5
"$COTENANT" report "$out/volcano.h5" "$out/lucid.h5" "$out/elastico.h5" --out "$out/report.html" || exit $?
rm -f "$out/log"
echo "figures and report.html in $out"
