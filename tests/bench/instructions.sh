#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Instructions of small fixed runs, which do not depend on what else the machine does, against
# those on record (instructions.csv): more than 3 % off in either direction fails, so that a gain is
# recorded, too. COTENANT names the binary.
#	instructions.sh             compare; skips with another compiler than the record's
#	instructions.sh --accept    record what is counted now, and show what changed
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
COTENANT=${COTENANT:-build/release/cotenant}
OUT=build/bench
RECORD=tests/bench/instructions.csv
DATA=tests/data/conformance
LIMIT=3
accept=0 failed=0
for option; do
	case $option in
	--accept) accept=1 ;;
	--strict | --quick) ;;
	*) sed -n '3,8s/^# *//p' "$0" && exit 2 ;;
	esac
done
[ -x "$COTENANT" ] || { echo "no binary '$COTENANT'" >&2; exit 1; }
command -v valgrind >/dev/null || { echo "instructions: skipped, valgrind is not installed"; exit 0; }
compiler="$("$COTENANT" --version | sed -n 's/^compiler: *//p')"
[ -n "$compiler" ] || compiler=unknown
recorded=$(sed -n 's/^# compiler //p' $RECORD 2>/dev/null)
if [ $accept = 0 ] && [ "$compiler" != "$recorded" ]; then
	echo "instructions: skipped, made by '$compiler', the record by '$recorded'"
	exit 0
fi
mkdir -p "$OUT" || exit 1

count() { # NAME ARGUMENTS...: a line of the table
	local name=$1 n was off
	shift
	if ! valgrind --tool=callgrind --callgrind-out-file=/dev/null "$COTENANT" "$@" >/dev/null 2>"$OUT/run.err"; then
		echo "instructions: cotenant $*: $(grep -v '^==' "$OUT/run.err" | tail -n 3)" >&2
		exit 1
	fi
	n=$(sed -n 's/.*Collected : *//p' "$OUT/run.err")
	was=$(awk -v k="$name," 'index($0, k) == 1 { n = substr($0, length(k) + 1); if (n ~ /^[0-9]+$/) print n }' $RECORD 2>/dev/null)
	printf '%s,%s\n' "$name" "$n" >>"$OUT/instructions.csv"
	if [ -z "$was" ]; then
		printf '%-44s %15s %15s %8s %s\n' "$name" "$n" - - new
		failed=1
		return
	fi
	off=$(awk -v a="$n" -v b="$was" 'BEGIN { printf "%+.2f", 100 * (a / b - 1) }')
	if awk -v o="$off" -v l=$LIMIT 'BEGIN { exit !(o > l || o < -l) }'; then
		failed=1
		printf '%-44s %15s %15s %8s %s\n' "$name" "$n" "$was" "$off" FAIL
	else
		printf '%-44s %15s %15s %8s\n' "$name" "$n" "$was" "$off"
	fi
}

printf '# compiler %s\nrun,instructions\n' "$compiler" >"$OUT/instructions.csv"
printf '%-44s %15s %15s %8s\n' run instructions 'on record' 'off %'
for policy in fifo easy sjf srtf las volcano lucid; do
	count "1000 jobs, 8x8, $policy" run --trace $DATA/jobs_1000_le8.csv.gz --cluster 8x8 --policy $policy --no-perf --json
done
count "1000 jobs, 8x8, fifo, placement=pack" run --trace $DATA/jobs_1000_le8.csv.gz --cluster 8x8 --policy fifo \
	--set policy.placement=pack --no-perf --json
for policy in volcano lucid elastico; do
	count "a quarter of the testbed's day, $policy" run experiments/paper/scenario.yaml --policy $policy \
		--set generate.days=0.25 --set sim.until=21600 --no-perf --json
done
count "generate 20,000 jobs like PAI's" trace generate pai --jobs 20000 --days 7 --seed 3 --out "$OUT/pai.csv"
count "read and describe them" trace info "$OUT/pai.csv"
count "write them as HDF5" trace import "$OUT/pai.csv" --out "$OUT/pai.h5"
count "read that" trace info "$OUT/pai.h5"
count "train the linear predictor" calib train --predictor linear --out "$OUT/linear.h5"

if [ $accept = 1 ]; then
	diff -u $RECORD "$OUT/instructions.csv" 2>/dev/null
	cp "$OUT/instructions.csv" $RECORD
	echo "recorded in $RECORD"
	exit 0
fi
[ $failed = 0 ] || { echo "instructions: more than $LIMIT % off the record; if that is wanted: tests/bench/instructions.sh --accept"; exit 1; }
