#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The paper's Figures 1 to 9: 1 to 4 of traces, 6 to 9 of our own runs (volcano, lucid and elastico on
# the one scenario of experiments/paper/scenario.yaml, case 3 of section 5.4) and the
# calibration behind them. Figure 5 is a drawing.
#
#	experiments/paper/figures.sh OUT_DIR [SEED [TRACES]]
#
# leaves OUT_DIR/fig1.png and so on, in OUT_DIR/fig1/ ... what they were drawn from and the
# results, and report.html of the three runs. One run each, as a testbed day is; the figures with
# intervals are `cotenant repro`'s. TRACES holds pai/ and genai/ as published; what is not there
# is generated, and called synthetic in the figure. Needs gnuplot.
set -u
[ $# -ge 1 ] || { echo "usage: figures.sh OUT_DIR [SEED [TRACES]]" >&2; exit 2; }
here=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
COTENANT=${COTENANT:-$here/build/release/cotenant}
out=$1
export LC_ALL=C
command -v gnuplot >/dev/null || { echo "figures.sh: gnuplot is missing (Debian: gnuplot-nox)" >&2; exit 1; }
mkdir -p "$out" || exit 5

"$COTENANT" repro figures --seeds 1 --out "$out" --set sim.seed="${2:-1}" ${3:+--data "$3"} >"$out/figures.txt" || exit $?
# The command that draws each figure is what `repro` says.
sed -n 's/^  gnuplot /gnuplot /p' "$out/figures.txt" >"$out/draw.sh"
sh -e "$out/draw.sh" || exit 5
"$COTENANT" report "$out/fig6/volcano.h5" "$out/fig6/lucid.h5" "$out/fig6/elastico.h5" --out "$out/report.html" || exit $?
echo "figures and report.html in $out"
