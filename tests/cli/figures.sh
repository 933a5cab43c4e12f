#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The paper's figures, drawn: PNG files that begin as such and end as such, without a warning.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness

if command -v gnuplot >/dev/null; then
	begin "the paper's figures" env COTENANT="$C" sh "$root/experiments/paper/figures.sh" "$work/paper" 2; status 0
	out "figures and report.html in *"
	for f in fig1 fig2 fig3 fig4 fig6a fig6b fig7 fig8a fig8b fig9; do
		that [ "$(head -c 4 "$work/paper/$f.png" | tail -c 3)" = PNG ]
		that [ "$(tail -c 8 "$work/paper/$f.png" | head -c 4)" = IEND ]
	done
	that [ "$(grep -c warning "$work/err")" = 0 ]
else
	skip "the paper's figures" "no gnuplot"
fi
finish
