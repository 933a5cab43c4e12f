#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What it costs to keep the records that `explain` reads (sim.decisions, on unless switched
# off): instructions of a run that writes its result, with them and without. More than 10 %
# in any case fails. Two counts of one program, so any compiler will do. COTENANT names the
# binary, BENCH_DIR the folder of the helper programs.
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
COTENANT=${COTENANT:-build/release/cotenant}
BENCH_DIR=${BENCH_DIR:-build/release/tests/bench}
OUT=build/bench
LIMIT=10
failed=0
for option; do
	case $option in
	--strict | --quick) ;;
	*) sed -n '3,6s/^# *//p' "$0" && exit 2 ;;
	esac
done
[ -x "$COTENANT" ] || { echo "no binary '$COTENANT'" >&2; exit 1; }
command -v valgrind >/dev/null || { echo "records: skipped, valgrind is not installed"; exit 0; }
mkdir -p "$OUT" || exit 1

count() { # ARGUMENTS...: sets instructions
	if ! valgrind --tool=callgrind --callgrind-out-file=/dev/null "$COTENANT" run "$@" --no-perf --out "$OUT/records.h5" \
		>/dev/null 2>"$OUT/run.err"; then
		echo "records: cotenant run $*: $(grep -v '^==' "$OUT/run.err" | tail -n 3)" >&2
		exit 1
	fi
	instructions=$(sed -n 's/.*Collected : *//p' "$OUT/run.err")
}

compare() { # NAME ARGUMENTS...
	local name=$1 with bytes share word=
	shift
	count "$@"
	with=$instructions bytes=$(wc -c <"$OUT/records.h5")
	count "$@" --set sim.decisions=false
	share=$(awk -v a="$with" -v b="$instructions" 'BEGIN { printf "%.2f", 100 * (a / b - 1) }')
	awk -v s="$share" -v l=$LIMIT 'BEGIN { exit !(s < l) }' || { word=FAIL failed=1; }
	printf '%-44s %15s %15s %8s %10s %s\n' "$name" "$with" "$instructions" "$share" \
		$((bytes - $(wc -c <"$OUT/records.h5"))) "$word"
}

jobs=$OUT/jobs-10000-0.9-2048.csv
if [ ! -s "$jobs" ]; then
	"$BENCH_DIR/generate_jobs" --jobs 10000 --load 0.9 --gpus 2048 --seed 1 2>/dev/null >"$jobs.tmp" && mv "$jobs.tmp" "$jobs" ||
		exit 1
fi
printf '%-44s %15s %15s %8s %10s\n' run 'with records' without 'cost %' bytes
for policy in fifo volcano lucid elastico; do
	compare "the demo's day, $policy" experiments/demo/demo.yaml --policy $policy
done
for policy in fifo volcano lucid elastico; do
	compare "a quarter of the testbed's day, $policy" experiments/paper/scenario.yaml --policy $policy \
		--set generate.days=0.25 --set sim.until=21600
done
for policy in fifo volcano lucid; do
	compare "10,000 jobs, 256x8, $policy" --trace "$jobs" --cluster 256x8 --policy $policy
done
[ $failed = 0 ] || { echo "records: they cost more than $LIMIT %"; exit 1; }
