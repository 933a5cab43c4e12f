#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What an epoch of the policy `elastico` costs with 30 to 2,000 active jobs, in instructions, which do
# not depend on what else the machine does: valgrind counts those of the epochs of bench_elastico
# after its warm-up, by source file. N active jobs, M rounds and I price updates an epoch, K
# configurations a job. growth: instructions a job, the first row's = 1; bound: instructions over the
# paper's M (I N K + N^2), the first row's = 1: at most 1 where the cost grows no faster.
#	elastico_epoch.sh [--strict] [--quick]   --strict: exit 1 above that; --quick: up to 200 jobs
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
BENCH_DIR=${BENCH_DIR:-build/release/tests/bench}
OUT=build/bench
SECONDS_COUNTED=600
sizes="30 100 200 500 2000" strict=0 failed=0
for option; do
	case $option in
	--strict) strict=1 ;;
	--quick) sizes="30 100 200" ;;
	*) sed -n '3,8s/^# *//p' "$0" && exit 2 ;;
	esac
done
command -v valgrind >/dev/null || { echo "elastico_epoch: skipped, valgrind is not installed"; exit 0; }
mkdir -p "$OUT" || exit 1

# row N [crowded]: sets jobs running m i k front epochs gpus, and the sums by file
row() {
	valgrind --tool=callgrind --callgrind-out-file="$OUT/epoch.out" --toggle-collect=counted_schedule \
		"$BENCH_DIR/bench_elastico" --plain "$1" $SECONDS_COUNTED ${2+"$2"} >"$OUT/epoch.txt" 2>"$OUT/epoch.err"
	read -r gpus jobs running m i k front epochs <"$OUT/epoch.txt"
	[ -n "${epochs:-}" ] || { echo "elastico_epoch: $(tail -n 3 "$OUT/epoch.err")" >&2; exit 1; }
	callgrind_annotate --auto=no --threshold=100 "$OUT/epoch.out" | awk -v n="$epochs" '
		/PROGRAM TOTALS/ { gsub(",", "", $1); total = $1; next }
		$1 ~ /^[0-9,]+$/ {
			gsub(",", "", $1)
			part = $0 ~ /elastico\/esp\.c/ ? "esp" : $0 ~ /elastico\/iac\.c|calib\// ? "iac" : $0 ~ /elastico\/pack\.c/ ? "pack" : "pds"
			sum[part] += $1
		}
		END { printf "%.0f %.0f %.0f %.0f %.0f\n", sum["esp"] / n, sum["iac"] / n, sum["pack"] / n, (total - sum["esp"] - sum["iac"] - sum["pack"]) / n, total / n }' \
		>"$OUT/epoch.sums"
	read -r esp iac pack pds total <"$OUT/epoch.sums"
}

table() { # TITLE [crowded]
	local title=$1 first= first_bound= n bound growth ratio word
	shift
	echo "$title"
	printf '%5s %6s %6s %5s %5s %6s %5s %10s %10s %10s %10s %10s %7s %6s\n' GPUs N there M I K front ESP IAC packing rest total growth bound
	for n in $sizes; do
		row "$n" "$@"
		bound=$(awk -v m="$m" -v i="$i" -v n="$jobs" -v k="$k" -v t="$total" 'BEGIN { print t / (m * (i * n * k + n * n)) }')
		first=${first:-$(awk -v t="$total" -v n="$jobs" 'BEGIN { print t / n }')} first_bound=${first_bound:-$bound}
		growth=$(awk -v t="$total" -v n="$jobs" -v f="$first" 'BEGIN { printf "%.2f", t / n / f }')
		ratio=$(awk -v b="$bound" -v f="$first_bound" 'BEGIN { printf "%.2f", b / f }') word=
		awk -v r="$ratio" 'BEGIN { exit !(r > 1) }' && word=FAIL failed=1
		printf '%5s %6s %6s %5.2f %5.2f %6.1f %5.1f %10s %10s %10s %10s %10s %7s %6s %s\n' "$gpus" "$jobs" "$running" "$m" "$i" "$k" "$front" \
			"$esp" "$iac" "$pack" "$pds" "$total" "$growth" "$ratio" "$word"
	done
}

echo "elastico, every epoch: instructions of one, by the file they are in"
table "jobs of 2.8 GPUs: nearly all run"
table "jobs of 5.2 GPUs: many wait" crowded
[ $strict -eq 1 ] && exit $failed
exit 0
