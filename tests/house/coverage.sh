#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Lines, functions and branches the tests reached, a folder; functions never entered.
# After `make V=coverage test-run`.
set -u
cd "$(dirname "$0")/../.." || exit 1
info=build/coverage/all.info
opts=(--rc lcov_branch_coverage=1 --quiet)
# Debian's geninfo warns about its own Perl.
lcov "${opts[@]}" --capture --directory build/coverage --base-directory "$PWD" --no-external --output-file $info.all 2> >(grep -v "redefined at /usr/bin/geninfo" >&2) || exit 1
lcov "${opts[@]}" --remove $info.all "$PWD/tests/*" "$PWD/scheduler/example/*" --output-file $info || exit 1
awk -v root="$PWD/" -F: '
/^SF:/ { f = substr($2, length(root) + 1); sub(/\/.*/, "", f); file = substr($2, length(root) + 1); seen[f] }
/^LF:/ { lf[f] += $2 } /^LH:/ { lh[f] += $2 } /^BRF:/ { bf[f] += $2 } /^BRH:/ { bh[f] += $2 }
/^FNDA:0,/ { sub(/^FNDA:0,/, ""); never[++n] = file ": " $0 }
function row(name, a, b, c, d) {
	printf "%-12s %6d lines %6.1f %%   %6d branches %6.1f %%\n", name, b, b ? 100 * a / b : 0, d, d ? 100 * c / d : 0
}
END {
	k = split("sim traces calib scheduler experiments", order, " ")
	for (i = 1; i <= k; i++) if (order[i] in seen) {
		f = order[i]; row(f, lh[f], lf[f], bh[f], bf[f])
		a += lh[f]; b += lf[f]; c += bh[f]; d += bf[f]
	}
	row("all", a, b, c, d)
	for (i = 1; i <= n && i <= 40; i++) print "never entered: " never[i]
	if (n > 40) print "and " n - 40 " more"
}' $info
