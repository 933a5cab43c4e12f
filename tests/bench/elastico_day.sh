#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A day of mixed jobs under elastico on 64 and 512 GPUs, deciding at every epoch of 5 s and
# leaving out those at which nothing can have changed: CPU seconds (user + system, reading,
# training the predictor and results included, the least of two runs) beside their limits.
# COTENANT names the binary, BENCH_DIR the folder of `measure`.
#	elastico_day.sh [--strict]     --strict: exit 1 when a limit is missed
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
COTENANT=${COTENANT:-build/release/cotenant}
BENCH_DIR=${BENCH_DIR:-build/release/tests/bench}
OUT=build/bench
failed=0
mkdir -p "$OUT" || exit 1
cat >"$OUT/elastico.yaml" <<'END' || exit 1
trace: {file: elastico_day.h5}
cluster: {nodes: 8, gpus_per_node: 8, gpu_mem_mib: 40960}
policy: {name: elastico}
calib: {dir: "data:calib/a100-40gb"}
transitions: {file: "data:calib/a100-40gb/transitions.csv"}
sim: {residents: 2}
END

# metric KEY: a number of the last run
metric() {
	sed -n "s/^ *\"$1\": *\([^,]*\),*\$/\1/p" "$OUT/elastico.json" | head -n 1
}

printf '%5s %7s %-8s %8s %6s %8s\n' GPUs jobs epochs 'CPU s' limit MiB
while read -r gpus every limit; do
	"$COTENANT" trace generate mixed --days 1 --gpus "$gpus" --node-gpus 8 --load 1.2 --seed 5 \
		--out "$OUT/elastico_day.h5" >/dev/null 2>"$OUT/elastico.err" &&
		"$BENCH_DIR/measure" 2 "$COTENANT" run "$OUT/elastico.yaml" --set cluster.nodes=$((gpus / 8)) \
			--set policy.every_epoch="$every" --json >"$OUT/elastico.json" 2>"$OUT/elastico.err" || {
		echo "elastico_day: $(head -n 3 "$OUT/elastico.err")" >&2
		exit 1
	}
	read -r cpu rss < <(tail -n 1 "$OUT/elastico.err")
	word=PASS
	awk -v a="$cpu" -v b="$limit" 'BEGIN { exit !(a < b) }' || { word=FAIL failed=1; }
	[ "$every" = true ] && epochs=all || epochs=changed
	printf '%5s %7s %-8s %8s %6s %8s %s\n' "$gpus" "$(metric jobs_finished)" "$epochs" "$cpu" "$limit" "$rss" "$word"
	metric mean_jct_s >"$OUT/elastico.$gpus.$every"
done <<'END'
64 true 7
64 false 1
512 true 25
512 false 10
END
for gpus in 64 512; do
	cmp -s "$OUT/elastico.$gpus.true" "$OUT/elastico.$gpus.false" || {
		echo "elastico_day: the mean JCT at $gpus GPUs depends on the epochs left out" >&2
		failed=1
	}
done
[ "${1-}" != --strict ] || exit $failed
