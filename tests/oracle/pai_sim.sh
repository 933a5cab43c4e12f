#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The Alibaba PAI simulator agrees: every job's completion time, five orders, at 300, 2,200 and
# 6,500 GPUs on one node (the inputs: pai_prepare.awk) with round(23.22 x GPUs)
# cores; ties go by job id, which is the order of the prepared file.
#	pai_sim.sh              all 20 runs
#	pai_sim.sh prepare DIR  only the inputs: DIR/pai_N.csv and DIR/pai_Gg.yaml, for the benchmark
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
COTENANT=${COTENANT:-build/release/cotenant}
DATA=tests/data/pai_sim

prepare() { # prepare DIR
	for jobs in 2000 20000; do
		gzip -dc $DATA/pai_sim_synth_$jobs.csv.gz | tail -n +2 | sort -t , -k 7,7n -k 1,1n |
			awk -f tests/oracle/pai_prepare.awk >"$1/pai_$jobs.csv" || exit 1
	done
	for gpus in 300 2200 6500; do
		cat >"$1/pai_${gpus}g.yaml" <<-END
			# $gpus GPUs and 23.22 cores a GPU, rounded
			cluster:
			  node_types:
			    - name: pai
			      count: 1
			      gpus: $gpus
			      cpus: $(((2322 * gpus + 50) / 100))
			policy:
			  placement: pool
			  on_block: skip
		END
	done
}

if [ "${1:-}" = prepare ]; then
	mkdir -p "$2" && prepare "$2"
	exit
fi
[ -x "$COTENANT" ] || { echo "no binary '$COTENANT'" >&2; exit 1; }
TMP=$(mktemp -d) || exit 1
trap 'rm -rf "$TMP"' EXIT
prepare "$TMP"

# compare ANSWERS COLUMN JOBS.CSV: prints "jobs different mean_jct"
compare() {
	awk -F , -v order="$2" '
	function text(s) { gsub(/"/, "", s); return s }
	FNR == 1 {
		for (i = 1; i <= NF; i++)
			at[text($i)] = i
		column = NR == 1 ? at["jct_" order] : at["turnaround_time"]
		id = at["job_id"]
		if (!column || !id) { print "0 0 no-such-column"; stop = 1; exit }
		delete at
		next
	}
	NR == FNR { want[$id] = $column; n++; next }
	{
		key = text($id)
		if (!(key in want) || $column + 0 != want[key] + 0 || $column == "") differ++
		seen++
		sum += $column
	}
	END { if (!stop) print seen + 0, differ + (n > seen ? n - seen : 0), (seen ? sprintf("%.2f", sum / seen) : "nan") }
	' "$1" "$3"
}

passed=0 failed=0
for size in 2000:300 2000:6500 20000:6500 20000:2200; do
	jobs=${size%:*} gpus=${size#*:}
	gzip -dc $DATA/jct_${jobs}_${gpus}g.csv.gz >"$TMP/answers.csv" || exit 1
	for order in SJF:duration SJU:user_dur SJG:group_dur SJGG:group_gpu_dur FIFO:; do
		column=${order#*:} name=${order%:*}
		set -- --policy firstfit
		[ -n "$column" ] && set -- --policy sjf --set "policy.order_by=$column"
		rm -rf "$TMP/csv"
		if ! "$COTENANT" run "$TMP/pai_${gpus}g.yaml" --trace "$TMP/pai_$jobs.csv" "$@" --csv "$TMP/csv" \
			>"$TMP/out" 2>"$TMP/err"; then
			echo "FAIL $jobs jobs $gpus GPUs $name: $(head -n 3 "$TMP/err")" >&2
			failed=$((failed + 1))
			continue
		fi
		got=$(compare "$TMP/answers.csv" "$name" "$TMP/csv/jobs.csv")
		case $got in
		"$jobs 0 "*)
			echo "ok   $jobs jobs $gpus GPUs $name: identical JCTs, mean ${got##* }"
			passed=$((passed + 1))
			;;
		*)
			echo "FAIL $jobs jobs $gpus GPUs $name: jobs, different, mean = $got" >&2
			failed=$((failed + 1))
			;;
		esac
	done
done
echo "pai_sim: $passed passed, $failed failed"
[ $failed -eq 0 ]
