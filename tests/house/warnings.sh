#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program, plug-ins, tests and benchmarks build without a warning with gcc and clang.
set -u
cd "$(dirname "$0")/../.." || exit 1
jobs=$(nproc)
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for v in strict clang; do
	if ! make --no-print-directory -j"$jobs" V=$v WERROR=1 everything >"$log" 2>&1; then
		grep -E 'error|warning|\*\*\*' "$log" | head -n 30
		echo "warnings: FAILED in variant $v"
		exit 1
	fi
done
echo "warnings: ok, none with gcc $(gcc -dumpfullversion) and clang $(clang -dumpversion)"
