#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# All policies on real traces, one table: Microsoft ITP clusters 02 and 07, and October 2017 of
# Microsoft Philly. Times in hours. Fragmentation = GPU time idle while a job waited.
#	experiments/real_traces.sh [DIR]     DIR holds itp/ and philly/ (see README, "Get the real traces")
# A cluster's size is not in the traces: those of the conformance set for ITP, for Philly the
# smallest in steps of 8 nodes that keeps the month's offered load below 0.9. The traces say
# nothing about how jobs use their GPUs, so lucid packs none.
set -u
DATA=${1:-${COTENANT_SHARED_DATA:-../shared/data}}
COTENANT=${COTENANT:-build/release/cotenant}
TMP=$(mktemp -d) || exit 1
trap 'rm -rf "$TMP"' EXIT
export LC_ALL=C

[ -d "$DATA/itp" ] && [ -d "$DATA/philly" ] || { echo "no itp/ and philly/ in '$DATA'" >&2; exit 4; }

number() { # number KEY < JSON
	sed -n "s/^ *\"$1\": \([-0-9.e+]*\),*\$/\1/p" | head -n 1
}

table() { # table NAME CLUSTER TRACE: one line a policy
	for policy in fifo firstfit sjf srtf las easy volcano volcano-gpubinpack volcano-nogate lucid; do
		placement=
		case $policy in
		volcano* | lucid) ;;
		*) placement="--set policy.placement=pack" ;;
		esac
		# shellcheck disable=SC2086 # two words or none
		"$COTENANT" run --trace "$3" --cluster "$2" --policy "$policy" $placement --json >"$TMP/out" 2>"$TMP/err" || {
			cat "$TMP/err" >&2
			exit 1
		}
		set -- "$1" "$2" "$3"
		for key in jobs_finished jobs_rejected jobs_left mean_wait_s mean_jct_s median_jct_s p99_jct_s gpu_alloc_frac \
			blocked_idle_frac; do
			printf '%s ' "$(number $key <"$TMP/out")"
		done | awk -v t="$1" -v p="$policy" '{
			printf "%-9s %-18s %8d %8d %6d %8.2f %8.2f %8.2f %8.1f %7.1f %7.1f\n", t, p, $1, $2, $3, $4 / 3600,
				$5 / 3600, $6 / 3600, $7 / 3600, 100 * $8, 100 * $9
		}'
	done
}

"$COTENANT" trace slice "$DATA/philly/philly.csv.gz" --from 27d --for 31d --out "$TMP/philly.h5" 2>"$TMP/err" || {
	cat "$TMP/err" >&2
	exit 1
}
load=$("$COTENANT" trace info "$TMP/philly.h5" --cluster 1x1 --json 2>/dev/null | number offered_load)
nodes=$(awk -v gpus="$load" 'BEGIN { n = int(gpus / 0.9 / 8) + 1; print int((n + 7) / 8) * 8 }')

printf '%-9s %-18s %8s %8s %6s %8s %8s %8s %8s %7s %7s\n' trace policy finished rejected left 'wait h' 'JCT h' 'median h' \
	'p99 h' 'alloc %' 'frag %'
table itp02 16x8 "$DATA/itp/cluster02.csv.gz"
table itp07 40x8 "$DATA/itp/cluster07.csv.gz"
table "philly$((nodes * 8))" "${nodes}x8" "$TMP/philly.h5"
