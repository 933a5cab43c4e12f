#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Speed on one page: CPU seconds of whole runs (user + system, reading and results included, the
# least of a few runs, because the machine may be shared), each beside its limit. COTENANT names the
# binary, BENCH_DIR the folder of the helper programs.
#	bench.sh [--strict] [--quick]   --strict: exit 1 when a limit is missed; --quick: no million jobs
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
COTENANT=${COTENANT:-build/release/cotenant}
BENCH_DIR=${BENCH_DIR:-build/release/tests/bench}
OUT=build/bench
DATA=tests/data/conformance
strict=0 quick=0 failed=0
for option; do
	case $option in
	--strict) strict=1 ;;
	--quick) quick=1 ;;
	*) sed -n '3,7s/^# *//p' "$0" && exit 2 ;;
	esac
done
mkdir -p "$OUT" || exit 1
[ -x "$COTENANT" ] || { echo "no binary '$COTENANT'" >&2; exit 1; }

# metric KEY: a number of the last run's JSON, which has one line a key
metric() {
	sed -n "s/^ *\"$1\": *\([^,]*\),*\$/\1/p" "$OUT/run.json" | head -n 1
}

# cost RUNS ARGUMENTS...: runs cotenant; sets cpu and rss
cost() {
	local runs=$1
	shift
	if ! "$BENCH_DIR/measure" "$runs" "$COTENANT" run "$@" --json >"$OUT/run.json" 2>"$OUT/run.err"; then
		echo "bench: cotenant run $*: $(head -n 3 "$OUT/run.err")" >&2
		exit 1
	fi
	read -r cpu rss < <(tail -n 1 "$OUT/run.err")
}

# judge VALUE OPERATOR LIMIT: prints PASS or FAIL; nothing without a limit
judge() {
	[ "$3" = - ] && return
	if awk -v a="$1" -v b="$3" "BEGIN { exit !(a $2 b) }"; then
		echo PASS
	else
		echo FAIL
		return 1
	fi
}

# line WHAT VALUE UNIT OPERATOR LIMIT
line() {
	local verdict
	verdict=$(judge "$2" "$4" "$5") || failed=1
	if [ "$5" = - ]; then
		printf '%-64s %10s %s\n' "$1" "$2" "$3"
	else
		printf '%-64s %10s %-9s %2s %-8s %s\n' "$1" "$2" "$3" "$4" "$5" "$verdict"
	fi
}

echo "Cotenant benchmarks, $(uname -sm), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), load average $(cut -d ' ' -f 1 /proc/loadavg)"
echo
printf '%-64s %10s %-9s %s\n' what measured unit limit

# ---- the event queue
if [ -x "$BENCH_DIR/bench_event_queue" ]; then
	"$BENCH_DIR/bench_event_queue" >"$OUT/event_queue.txt" || failed=1
	while read -r pending hold _; do
		case $pending in *[!0-9]* | '') continue ;; esac
		limit=-
		[ "$pending" -eq 10000 ] && limit=80
		line "event queue: pop and push with $pending pending" "$hold" "ns CPU" "<=" $limit
	done <"$OUT/event_queue.txt"
fi

# ---- whole runs of fixed files
cost 5 --trace $DATA/jobs_10000.csv.gz --cluster 32x8 --policy fifo
line "10,000 jobs, fifo, reading the .csv.gz included" "$cpu" "CPU s" "<" 0.1

# Limits: a hundredth of the PAI simulator's own CPU seconds on the same file, 2,200 GPUs: 43.41
# (SJF) and 84.01 (FIFO), measured on a machine of the same kind.
tests/oracle/pai_sim.sh prepare "$OUT" || exit 1
cost 5 "$OUT/pai_2200g.yaml" --trace "$OUT/pai_20000.csv" --policy sjf --set policy.order_by=duration
line "20,000 jobs of the PAI simulator, 2,200 GPUs, SJF" "$cpu" "CPU s" "<=" 0.4341
cost 5 "$OUT/pai_2200g.yaml" --trace "$OUT/pai_20000.csv" --policy firstfit
line "20,000 jobs of the PAI simulator, 2,200 GPUs, FIFO" "$cpu" "CPU s" "<=" 0.8401

# ---- growth: 10^4, 10^5, 10^6 jobs on 812 x 8 GPUs
sizes="10000 100000 1000000"
[ $quick -eq 1 ] && sizes="10000 100000"
declare -A million=([fifo-0.9]=3 [easy-0.9]=5 [fifo-1.2]=- [easy-1.2]=30)
echo
printf '%-32s %8s %9s %9s %10s %9s %8s %6s\n' "812x8 GPUs, count" jobs "CPU s" growth "peak MiB" "events/s" limit ""
engine=0
for load in 0.9 1.2; do
	for policy in fifo easy; do
		before=
		for jobs in $sizes; do
			file=$OUT/jobs-$jobs-$load.csv
			if [ ! -s "$file" ]; then
				"$BENCH_DIR/generate_jobs" --jobs "$jobs" --load "$load" --gpus 6496 --seed 1 2>/dev/null >"$file.tmp" && mv "$file.tmp" "$file" || exit 1
			fi
			runs=3
			[ "$jobs" -ge 1000000 ] && runs=1
			cost $runs --trace "$file" --cluster 812x8 --policy $policy --set policy.placement=count
			limit=-
			[ "$jobs" -eq 1000000 ] && limit=${million[$policy-$load]}
			verdict=$(judge "$cpu" "<" $limit) || failed=1
			growth=-
			[ -n "$before" ] && growth=$(awk -v a="$cpu" -v b="$before" 'BEGIN { printf "%.1f", a / b }')
			rate=$(metric events_per_s)
			case $rate in '' | *[!0-9.e+]*) rate=0 ;; esac # null: the policy took all the time
			printf '%-32s %8s %9s %9s %10s %9s %8s %6s\n' "$policy, load $load" "$jobs" "$cpu" "$growth" "$rss" \
				"$(awk -v r="$rate" 'BEGIN { printf "%.2fM", r / 1e6 }')" "${limit/-/}" "$verdict"
			before=$cpu
			engine=$(awk -v a="$engine" -v b="$rate" 'BEGIN { print (a > b) ? a : b }')
			peak=$(awk -v a="${peak:-0}" -v b="$rss" 'BEGIN { print (a > b) ? a : b }')
		done
	done
done
echo
line "largest memory of these runs" "$peak" MiB "<" 1024
line "engine events a CPU second without policy cost, best run" "$(awk -v r="$engine" 'BEGIN { printf "%.2f", r / 1e6 }')" \
	million ">=" 5

# ---- the others, as measured once (peers.csv); ours beside them is the first line of whole runs
echo
printf '%-16s %-6s %8s %8s %10s\n' 'other simulator' policy jobs 'CPU s' 'jobs/CPU s'
awk -F, 'NR > 1 { printf "%-16s %-6s %8d %8.2f %10.0f\n", $1, $2, $3, $4, $3 / $4 }' tests/bench/peers.csv
[ $strict -eq 1 ] && exit $failed
exit 0
