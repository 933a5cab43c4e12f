#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Lucid equals its artifact, job by job: fifo, sjf, las (its Tiresias) and lucid under
# sim.compat against results of the artifact's own simulator (specs/lucid.md, section 5).
# The artifact's tables are under a non-commercial licence, so nothing of them is kept
# here: without the data the test is skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
COTENANT=${COTENANT:-build/release/cotenant}
DATA=${COTENANT_SHARED_DATA:-../shared/data}/lucid
AWK=tests/oracle/lucid_prepare.awk
if [ ! -d "$DATA" ]; then
	echo "skip: no Lucid data in '$DATA'"
	exit 77
fi
TMP=$(mktemp -d) || exit 1
trap 'rm -rf "$TMP"' EXIT
passed=0 failed=0

pass() {
	passed=$((passed + 1))
}
fail() {
	failed=$((failed + 1))
	echo "FAIL $*" >&2
}
metric() { # FILE KEY: a number of a --json document, which has one line a key
	sed -n "s/^ *\"$2\": *\([^,]*\),*\$/\1/p" "$1" | head -n 1
}
is() { # WHAT GOT CONDITION: awk expression of x
	if awk -v x="${2:-nan}" "BEGIN { exit !($3) }"; then pass; else fail "$1: $2, want $3"; fi
}

# compare EXPECTED.gz JOBS.csv: jobs, equal starts, equal ends, ends within 1 s. The artifact
# counts from 1 April, this trace from 1 September 2020: 13,219,200 s.
compare() {
	gzip -dc "$1" | awk -F, '
		FNR == 1 {
			split("", at)
			for (i = 1; i <= NF; i++)
				at[$i] = i
			next
		}
		NR == FNR {
			start[$at["job_id"]] = $at["starting_time"] + 13219200
			end[$at["job_id"]] = $at["finish_time"] + 13219200
			next
		}
		{
			id = $at["job_id"]
			n++
			starts += id in start && start[id] == $at["start_time"]
			ends += id in end && end[id] == $at["end_time"]
			d = end[id] - $at["end_time"]
			near += id in end && d <= 1 && d >= -1
		}
		END { print n + 0, starts + 0, ends + 0, near + 0 }' "$2" -
}

# packings JOBS.csv [PARTITION]: jobs that started on a GPU where another one ran, without
# profile runs and the named partition. No job of lucid starts twice in the main cluster.
packings() {
	awk -F, -v but="${2:-}" '
		NR == 1 {
			for (i = 1; i <= NF; i++)
				at[$i] = i
			next
		}
		$at["profile_s"] == 0 && $at["partition"] != but {
			split($at["allocated_resources"], gpu, /[- ]/)
			print $at["starting_time"], 1, NR, gpu[1]
			print $at["finish_time"], 0, NR, gpu[1]
		}' "$1" | sort -n -k1,1 -k2,2 -k3,3 |
		awk '{ if ($2) { n += on[$4] > 0; on[$4]++ } else on[$4]-- } END { print n + 0 }'
}

run() { # WHAT FOLDER ARGUMENTS...
	what=$1 folder=$2
	shift 2
	if "$COTENANT" run "$@" --csv "$TMP/$folder" --json >"$TMP/$folder.json" 2>"$TMP/err"; then return 0; fi
	fail "$what: $(head -n 3 "$TMP/err")"
	return 1
}

[ -x "$COTENANT" ] || { echo "no binary '$COTENANT'" >&2; exit 1; }
awk -v what=cluster -f $AWK "$DATA/vc_config.csv" >"$TMP/cluster.yaml"
awk -v what=cluster -v lucid=1 -f $AWK "$DATA/vc_config.csv" >"$TMP/lucid.yaml"
awk -v what=pairs -f $AWK "$DATA/colocate_info.csv" >"$TMP/pairs.csv"
for n in 5000 23859; do
	gzip -dc "$DATA/des_input_$n.csv.gz" | awk -v what=jobs -f $AWK >"$TMP/jobs_$n.csv"
done

# The plain files are read as they are.
simple() { # POLICY SIZE
	run "$1 $2" "$1_$2" --trace "$DATA/des_input_$2.csv.gz" --policy "$1" --set "cluster.file=$TMP/cluster.yaml" \
		--set trace.columns.submit_time=submit_s --set trace.columns.duration=duration_s \
		--set sim.compat=lucid-artifact
}
lucid() { # FOLDER SIZE COMPAT
	run "$3 $2" "$1" --trace "$TMP/jobs_$2.csv" --policy lucid --set "cluster.file=$TMP/lucid.yaml" \
		--set "contention.pairs=$TMP/pairs.csv" --set policy.profiler=profiler --set policy.spare_nodes=1 \
		--set policy.lender=vcYVn --set policy.switch=forecast \
		--set "policy.forecast=$DATA/Venus_throughput_pred.csv" --set "sim.compat=$3"
}
every_job() { # WHAT EXPECTED FOLDER
	# shellcheck disable=SC2046
	set -- "$1" $(compare "$DATA/expected/$2.csv.gz" "$TMP/$3/jobs.csv")
	echo "$1: $2 jobs, $3 starts equal, $4 ends equal, $5 within 1 s"
	is "$1: jobs" "$2" 'x > 4000'
	is "$1: starts" "$3" "x == $2"
	is "$1: ends" "$4" "x == $2"
}
most_jobs() { # WHAT EXPECTED FOLDER PACKINGS
	# shellcheck disable=SC2046
	set -- "$1" "$4" "$(packings "$TMP/$3/jobs.csv")" $(compare "$DATA/expected/$2.csv.gz" "$TMP/$3/jobs.csv")
	echo "$1: $4 jobs, $5 starts equal, $6 ends equal, $7 within 1 s, $3 packings"
	is "$1: jobs" "$4" 'x > 4000'
	is "$1: starts" "$5" "x == $4"
	is "$1: ends" "$6" "x >= 0.999 * $4"
	is "$1: ends within 1 s" "$7" "x == $4"
	is "$1: packings" "$3" "x == $2"
}

for p in fifo sjf; do
	for n in 5000 23859; do
		simple $p $n && every_job "$p $n" ${p}_$n ${p}_$n
	done
done
simple las 5000 && every_job "tiresias 5000" tiresias_5000 las_5000
lucid artifact 5000 lucid-artifact && most_jobs "lucid 5000" lucid_5000 artifact 690
lucid repaired 5000 lucid-artifact-repaired && most_jobs "lucid repaired 5000" lucid_fixed_5000 repaired 784

# Here only the artifact's means are known (to the second), and its counts.
if simple las 23859; then
	is "tiresias 23859: mean JCT" "$(metric "$TMP/las_23859.json" mean_jct_s)" 'int(x) == 10951'
	is "tiresias 23859: mean queue" "$(metric "$TMP/las_23859.json" mean_wait_s)" 'int(x) == 2806'
	is "tiresias 23859: preemptions" "$(metric "$TMP/las_23859.json" resumes)" 'x == 6994'
fi
if lucid large 23859 lucid-artifact; then
	jct=$(metric "$TMP/large.json" mean_jct_s) cpu=$(metric "$TMP/large.json" cpu_s)
	all=$(packings "$TMP/large/jobs.csv") most=$(packings "$TMP/large/jobs.csv" vcYVn)
	echo "lucid 23859: mean JCT $jct s (artifact 11860), $all packings (3675), $most without vcYVn (3458), $cpu CPU s"
	is "lucid 23859: mean JCT" "$jct" 'x > 11860 * 0.999 && x < 11861 * 1.001'
	is "lucid 23859: packings" "$all" 'x == 3675'
	is "lucid 23859: packings in 14 virtual clusters" "$most" 'x == 3458'
	# sanitizers and valgrind take their own time
	case $COTENANT in */release/*) is "lucid 23859: CPU seconds" "$cpu" 'x < 2' ;; esac
fi

echo "lucid_artifact: $passed checks passed, $failed failed"
[ $failed -eq 0 ]
