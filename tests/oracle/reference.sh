#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Busy queues: start and finish of every job equal those of reference.py, an independent program in
# Python, on generated workloads of 5,000 jobs at load 1.2 (a backlog of about a thousand jobs).
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
COTENANT=${COTENANT:-build/release/cotenant}
PYTHON=${PYTHON:-/usr/bin/python3}
[ -x "$COTENANT" ] || { echo "no binary '$COTENANT'" >&2; exit 1; }
"$PYTHON" -c 'import decimal, heapq' 2>/dev/null || { echo "skip reference: no '$PYTHON'"; exit 77; }
TMP=$(mktemp -d) || exit 1
trap 'rm -rf "$TMP"' EXIT
CLUSTER=16x8 JOBS=5000

# differences REFERENCE JOBS.CSV: prints "jobs different"
differences() {
	awk -F , '
	FNR == 1 { delete at; for (i = 1; i <= NF; i++) { name = $i; gsub(/"/, "", name); at[name] = i } file++; next }
	file == 1 { start[$at["job_id"]] = $at["start"]; finish[$at["job_id"]] = $at["finish"]; n++; next }
	{
		id = $at["job_id"]
		gsub(/"/, "", id)
		if (!(id in start) || $at["starting_time"] == "" || $at["starting_time"] + 0 != start[id] + 0 ||
		    $at["finish_time"] + 0 != finish[id] + 0)
			differ++
		seen++
	}
	END { print seen + 0, differ + 0 }
	' "$1" "$2"
}

passed=0 failed=0
for workload in 1:0 2:1 3:1; do # seed:whole seconds
	seed=${workload%:*}
	"$PYTHON" tests/oracle/reference.py generate $JOBS "$seed" 1.2 $CLUSTER "${workload#*:}" >"$TMP/jobs.csv" || exit 1
	for how in fifo:count fifo:pack firstfit:count firstfit:pack sjf:count sjf:pack easy:count; do
		policy=${how%:*} rule=${how#*:}
		"$PYTHON" tests/oracle/reference.py "$TMP/jobs.csv" $CLUSTER "$policy" "$rule" >"$TMP/want.csv" || exit 1
		rm -rf "$TMP/csv"
		if "$COTENANT" run --trace "$TMP/jobs.csv" --cluster $CLUSTER --policy "$policy" \
			--set "policy.placement=$rule" --csv "$TMP/csv" >/dev/null 2>"$TMP/err"; then
			got=$(differences "$TMP/want.csv" "$TMP/csv/jobs.csv")
		else
			got="failed: $(head -n 3 "$TMP/err")"
		fi
		if [ "$got" = "$JOBS 0" ]; then
			echo "ok   seed $seed $policy $rule: $JOBS jobs identical"
			passed=$((passed + 1))
		else
			echo "FAIL seed $seed $policy $rule: jobs, different = $got" >&2
			failed=$((failed + 1))
		fi
	done
done
echo "reference: $passed passed, $failed failed"
[ $failed -eq 0 ]
