#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Other engines agree: every row of conformance.csv to the printed digit, and what bad/ must do.
# Runs from anywhere; COTENANT names the binary, COTENANT_SHARED_DATA the folder with the files
# that may not be redistributed (rows that need them are skipped when it is absent).
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
COTENANT=${COTENANT:-build/release/cotenant}
DATA=tests/data/conformance
SHARED=${COTENANT_SHARED_DATA:-../shared/data}/conformance
TMP=$(mktemp -d) || exit 1
trap 'rm -rf "$TMP"' EXIT
passed=0 failed=0 skipped=0

pass() {
	passed=$((passed + 1))
}
fail() {
	failed=$((failed + 1))
	echo "FAIL $*" >&2
}

# metric FILE KEY: a number of a --json document, which has one line a key
metric() {
	sed -n "s/^ *\"$2\": *\([^,]*\),*\$/\1/p" "$1" | head -n 1
}

# want WHAT FILE KEY=VALUE...: compared with as many decimals as VALUE has
want() {
	what=$1 file=$2
	shift 2
	bad=
	for pair; do
		value=${pair#*=} decimals=0
		case $value in *.*) decimals=$(printf %s "${value#*.}" | wc -c) ;; esac
		got=$(metric "$file" "${pair%%=*}")
		# awk's printf, not the shell's: some shells round a long double
		[ "$(awk -v got="${got:-nan}" -v n="$decimals" 'BEGIN { printf "%.*f", n, got }')" = "$value" ] || bad="$bad ${pair%%=*} want $value got ${got:-nothing};"
	done
	if [ -z "$bad" ]; then pass; else fail "$what:$bad"; fi
}

# run WANTED_EXIT WHAT ARGUMENTS...: leaves $TMP/out and $TMP/err
run() {
	wanted=$1 what=$2
	shift 2
	"$COTENANT" run "$@" >"$TMP/out" 2>"$TMP/err"
	code=$?
	[ $code -eq "$wanted" ] && return 0
	fail "$what: exit $code, want $wanted: $(head -n 2 "$TMP/err")"
	return 1
}

# says WHAT TEXT...: each text stands in the messages
says() {
	what=$1
	shift
	for text; do
		if grep -qF -- "$text" "$TMP/err"; then pass; else fail "$what: no '$text' in: $(head -n 5 "$TMP/err")"; fi
	done
}

[ -x "$COTENANT" ] || { echo "no binary '$COTENANT'" >&2; exit 1; }

while IFS=, read -r file cluster policy placement jct wait makespan by; do
	[ "$file" = file ] && continue
	path=$DATA/$file
	[ -e "$path" ] || path=$SHARED/$file
	if [ ! -e "$path" ]; then
		skipped=$((skipped + 1))
		echo "skip $file $policy $placement: not in '$SHARED'"
		continue
	fi
	row="$file $cluster $policy $placement (agreed by $by)"
	run 0 "$row" --trace "$path" --cluster "$cluster" --policy "$policy" --set "policy.placement=$placement" --json &&
		want "$row" "$TMP/out" "mean_jct_s=$jct" "mean_wait_s=$wait" "makespan_s=$makespan"
done <tests/oracle/conformance.csv

bad() { # bad EXIT FILE [ARGUMENTS...]
	code_wanted=$1 name=$2
	shift 2
	run "$code_wanted" "bad/$name" --trace "$DATA/bad/$name.csv" --cluster 1x8 --policy fifo --json "$@"
}

# four jobs of 1, 2, 4 and 1 GPUs fit side by side on 8: JCT = duration
bad 0 good && want good "$TMP/out" jobs_finished=4 mean_jct_s=162.500 mean_wait_s=0.000 makespan_s=320
bad 0 float && want float "$TMP/out" jobs_finished=3 mean_jct_s=200.166667 makespan_s=320
bad 0 unsorted && want unsorted "$TMP/out" jobs_finished=3 mean_jct_s=200.000 makespan_s=300 &&
	if grep -q 'unsorted_submit' "$TMP/out" "$TMP/err"; then pass; else fail "unsorted: not counted"; fi
bad 0 too_big && want too_big "$TMP/out" jobs_submitted=3 jobs_finished=2 jobs_rejected=1 mean_jct_s=200.000
# on one GPU the first job alone remains, and its time is exact to the microsecond
run 0 "float, exact" --trace "$DATA/bad/float.csv" --cluster 1x1 --policy fifo --json --csv "$TMP/csv" &&
	want "float on one GPU" "$TMP/out" jobs_finished=1 jobs_rejected=2 mean_jct_s=100.500000

# line 3, the column of the field's first byte, and what stands there
for probe in "dup_id 3:1: '0'" "neg_duration 3:8: '-5'" "zero_duration 3:8: '0'" "zero_gpus 3:6: '0'"; do
	name=${probe%% *} place=${probe#* }
	if bad 4 "$name"; then
		says "$name" "$name.csv:${place% *}" "${place##* }"
		if [ -s "$TMP/out" ]; then fail "$name: output in spite of the error"; else pass; fi
	fi
	bad 0 "$name" --on-bad-row=drop && want "$name, dropped" "$TMP/out" jobs_submitted=2 jobs_finished=2 mean_jct_s=200.000 &&
		if grep -q 'dropped_' "$TMP/out" "$TMP/err"; then pass; else fail "$name: drop not counted"; fi
done

# all errors of a file together
{ cat "$DATA/bad/neg_duration.csv" && echo '3,30,x,10,u,m' && echo '4,40,1,0,u,m'; } >"$TMP/many.csv"
run 4 "many errors" --trace "$TMP/many.csv" --cluster 1x8 --policy fifo --json &&
	says "many errors" many.csv:3:8: many.csv:5:6: many.csv:6:8: "'-5'" "'x'" "'num_gpus'"

echo "conformance: $passed checks passed, $failed failed, $skipped rows skipped"
[ $failed -eq 0 ]
