#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How a run grows: CPU seconds (user + system, reading and results included, the least of a few
# runs) and peak memory at three sizes, at an offered load of 0.9 and with a backlog (1.2), each
# beside its limit; a day on 512 GPUs under every policy; what failures cost. COTENANT names the
# binary, BENCH_DIR the folder of the helper programs.
#	scale.sh [--strict] [--quick]   --strict: exit 1 when a limit is missed; --quick: no million jobs
# growth: exponent k of CPU ~ jobs^k from the size before; B/job: memory beyond the size before.
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
COTENANT=${COTENANT:-build/release/cotenant}
BENCH_DIR=${BENCH_DIR:-build/release/tests/bench}
OUT=build/bench
strict=0 quick=0 failed=0
for option; do
	case $option in
	--strict) strict=1 ;;
	--quick) quick=1 ;;
	*) sed -n '3,9s/^# *//p' "$0" && exit 2 ;;
	esac
done
mkdir -p "$OUT" || exit 1
[ -x "$COTENANT" ] || { echo "no binary '$COTENANT'" >&2; exit 1; }

# cost RUNS ARGUMENTS...: runs cotenant; sets cpu and rss
cost() {
	local runs=$1
	shift
	if ! "$BENCH_DIR/measure" "$runs" "$COTENANT" run "$@" --json >"$OUT/scale.json" 2>"$OUT/scale.err"; then
		echo "scale: cotenant run $*: $(grep -v ': read ' "$OUT/scale.err" | head -n 3)" >&2
		exit 1
	fi
	read -r cpu rss < <(tail -n 1 "$OUT/scale.err")
}

metric() {
	sed -n "s/^ *\"$1\": *\([^,]*\),*\$/\1/p" "$OUT/scale.json" | head -n 1
}

# jobs_file JOBS LOAD GPUS: sets file
jobs_file() {
	file=$OUT/jobs-$1-$2.csv
	[ "$3" -eq 6496 ] || file=$OUT/jobs-$1-$2-$3.csv
	[ -s "$file" ] && return
	"$BENCH_DIR/generate_jobs" --jobs "$1" --load "$2" --gpus "$3" --seed 1 2>/dev/null >"$file.tmp" && mv "$file.tmp" "$file" || exit 1
}

# verdict VALUE LIMIT
verdict() {
	[ -z "$2" ] && return
	if awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; then echo PASS; else echo FAIL; return 1; fi
}

has_policy() {
	"$COTENANT" policies | grep -q "^$1 "
}

# grow POLICY LOAD NODES LIMIT SIZE...: one line a size; the limit is for the last
grow() {
	local policy=$1 load=$2 nodes=$3 limit=$4 before= held= n=0 jobs runs shown growth bytes word
	shift 4
	for jobs; do
		jobs_file "$jobs" "$load" $((nodes * 8))
		runs=3
		[ "$jobs" -ge 1000000 ] && runs=1
		cost $runs --trace "$file" --cluster "${nodes}x8" --policy "$policy"
		growth=- bytes=-
		[ -n "$before" ] && growth=$(awk -v a="$cpu" -v b="$before" -v n="$jobs" -v m="$n" 'BEGIN { printf "%.2f", log(a / b) / log(n / m) }')
		[ -n "$held" ] && bytes=$(awk -v a="$rss" -v b="$held" -v n="$jobs" -v m="$n" 'BEGIN { printf "%.0f", (a - b) * 1048576 / (n - m) }')
		shown=
		[ "$jobs" -eq "${!#}" ] && shown=$limit
		word=$(verdict "$cpu" "$shown") || failed=1
		if [ "$bytes" != - ] && ! verdict "$bytes" 1024 >/dev/null; then
			word="$word FAIL: memory" failed=1
		fi
		printf '%-20s %5s %4sx8 %8s %9s %7s %9s %6s %9.0f %7s %s\n' "$policy" "$load" "$nodes" "$jobs" "$cpu" "$growth" \
			"$rss" "$bytes" "$(metric mean_queue_length)" "$shown" "$word"
		before=$cpu held=$rss n=$jobs
	done
}

echo "Growth, $(uname -sm), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), load average $(cut -d ' ' -f 1 /proc/loadavg)"
echo
printf '%-20s %5s %6s %8s %9s %7s %9s %6s %9s %7s\n' policy load nodes jobs 'CPU s' growth 'peak MiB' B/job queue 'limit s'
sizes="10000 100000 1000000" few="1000 10000 100000"
[ $quick -eq 1 ] && sizes="1000 10000 100000" few="1000 10000"
for load in 0.9 1.2; do
	limit=
	for policy in volcano lucid easy fifo; do
		[ $load = 0.9 ] && limit=$([ $policy = lucid ] && echo 60 || echo 30)
		# shellcheck disable=SC2086
		grow $policy $load 812 "$limit" $sizes
	done
	if has_policy elastico; then
		limit=
		[ $load = 0.9 ] && limit=600
		# shellcheck disable=SC2086
		grow elastico $load 256 "$limit" $few
	fi
done

echo
echo "A day of training and inference on 64x8 GPUs, 'trace generate mixed', under every policy"
printf '%-20s %5s %6s %8s %9s %9s %9s\n' policy load nodes jobs 'CPU s' 'peak MiB' queue
for load in 0.9 1.4; do
	[ -s "$OUT/day-$load.h5" ] ||
		"$COTENANT" trace generate mixed --days 1 --gpus 512 --load $load --out "$OUT/day-$load.h5" >/dev/null 2>&1 || exit 1
	while read -r policy _; do
		cost 3 --trace "$OUT/day-$load.h5" --cluster 64x8 --policy "$policy"
		# Its jobs all differ: what grows with their square shows here.
		word=$(verdict "$rss" 100) || { failed=1 word="FAIL: memory"; }
		printf '%-20s %5s %6s %8s %9s %9s %9.0f %s\n' "$policy" $load 64x8 "$(metric jobs_submitted)" "$cpu" "$rss" \
			"$(metric mean_queue_length)" "$word"
	done < <("$COTENANT" policies)
done

# An outage a node in 50 days and a GPU in a year: some hundred a day on 812 x 8 GPUs
echo
echo "The same run without and with failures, checkpoints and restarts"
jobs_file 100000 0.9 6496
printf '%-20s %9s %9s %9s\n' policy 'CPU s' 'with' stops
for policy in fifo easy volcano lucid; do
	cost 3 --trace "$file" --cluster 812x8 --policy $policy
	plain=$cpu
	cost 3 --trace "$file" --cluster 812x8 --policy $policy --set failures.mtbf=4320000 --set failures.gpu_mtbf=31536000 \
		--set failures.checkpoint=1800 --set failures.restart=60
	printf '%-20s %9s %9s %9s\n' $policy "$plain" "$cpu" "$(metric failure_stops)"
done
[ $strict -eq 1 ] && exit $failed
exit 0
