#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs fuzz targets, two at a time, FUZZ_TIME seconds each. They start from
# tests/fuzz/corpus/NAME (committed) and build/fuzz/corpus/NAME (grown on this
# machine). An input that fails is kept in build/fuzz/findings; put it into
# tests/fuzz/corpus/NAME with the fix, so that `make test` replays it.
#
#	fuzz.sh NAME...        after `make V=fuzz fuzz-build`
set -u
cd "$(dirname "$0")/../.." || exit 1
export FUZZ_TIME=${FUZZ_TIME:-30}
mkdir -p build/fuzz/findings build/fuzz/log
one() {
	local name=$1 log=build/fuzz/log/$1 runs
	mkdir -p "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name"
	"build/fuzz/tests/fuzz/fuzz_$name" -max_total_time="$FUZZ_TIME" -timeout=10 -rss_limit_mb=2048 \
		-artifact_prefix="build/fuzz/findings/$name-" -print_final_stats=1 \
		"build/fuzz/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1 </dev/null
	local rc=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	if [ $rc -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
		echo "fuzz $name: ok, $runs runs in $FUZZ_TIME s"
	else
		echo "fuzz $name: FAILED, exit $rc, log in $log:"
		# the input too (base64 -d): the machine that found it may be gone
		grep -aE 'does not hold|cotenant: |ERROR|SUMMARY|Test unit written|runtime error|^Base64' "$log" |
			head -n 12 | sed 's/^/     | /'
		return 1
	fi
}
export -f one
[ $# -gt 0 ] || { echo "fuzz: no target" >&2; exit 1; }
# xargs exits non-zero when any of them did.
printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'one {}' || exit 1
