#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Same input, same result: digest, CSV files and JSON are the same under another
# locale, time zone and working directory, and from gcc -O0, gcc -O2 and clang -O2;
# so are the bits of a trained network and of a fitted calibration; a whole result file is byte-identical when the same program runs twice with
# --no-perf.
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset COTENANT_DATA LANG LC_ALL
fail() {
	echo "determinism: FAILED, $*"
	exit 1
}

declare -A built=([strict]="gcc -O2" [debug]="gcc -O0" [clang]="clang -O2")
for v in strict debug clang; do
	make --no-print-directory -j"$(nproc)" V=$v all >"$work/log" 2>&1 || { grep -A5 'error' "$work/log" | head -n 30; fail "build of variant $v"; }
done
# A locale with a decimal comma and other digit groups, generated here.
mkdir "$work/locale"
localedef -i de_DE -f UTF-8 "$work/locale/de_DE.UTF-8" >"$work/log" 2>&1 || true
[ "$(LOCPATH=$work/locale LC_ALL=de_DE.UTF-8 locale decimal_point 2>/dev/null)" = , ] || fail "no locale de_DE.UTF-8: install 'locales'"

# The runs: the demo, and two small ones that draw random numbers, preempt, pack.
jobs=tests/data/conformance/jobs_1000_le8.csv.gz
arguments() { # NAME ROOT: the arguments of a run, with paths below ROOT
	case $1 in
	demo) echo "$2/experiments/demo/demo.yaml" ;;
	easy) echo "--trace $2/$jobs --cluster 8x8 --policy easy --set policy.placement=pack --set policy.estimate=noisy --seed 3" ;;
	las) echo "--trace $2/$jobs --cluster 8x8 --policy las --seed 4" ;;
	esac
}
plain=(env LC_ALL=C TZ=UTC)
foreign=(env LOCPATH="$work/locale" LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo)
around=("${plain[@]}")
# take WHERE RUN VARIANT ROOT: digest, CSV and JSON of a run into work/WHERE/RUN
take() {
	local to=$work/$1/$2
	mkdir -p "$to"
	# shellcheck disable=SC2046
	"${around[@]}" "$root/build/$3/cotenant" run $(arguments "$2" "$4") --json --csv "$to" >"$to/all.json" 2>"$to/err" ||
		{ cat "$to/err"; fail "run '$2' with ${built[$3]}, $1"; }
	# Not in the comparison: what the wall clock said, and facts of the build.
	sed -e '/^ *"perf": *{/,/^ *}/d' \
		-e '/"\(revision\|compiler\|build\|flags\|libraries\|hdf5\|gsl\|zlib\|libyaml\|openssl\|glibc\)[a-z_]*":/d' \
		"$to/all.json" >"$to/result.json"
	grep -q '"digest": *"[0-9a-f]\{64\}"' "$to/result.json" || fail "run '$2' printed no digest"
	rm "$to/all.json" "$to/err"
}
same() { # WHERE RUN
	diff -r "$work/base/$2" "$work/$1/$2" >"$work/log" || { head -n 20 "$work/log" | cut -c 1-200; fail "run '$2' differs: $1"; }
}
n=0
for r in demo easy las; do
	take base $r strict .
	take "gcc -O0" $r debug .
	take "clang -O2" $r clang .
	around=("${foreign[@]}")
	cd "$work" && take "another locale, time zone and directory" $r strict "$root"
	cd "$root" || exit 1
	around=("${plain[@]}")
	for where in "another locale, time zone and directory" "gcc -O0" "clang -O2"; do
		same "$where" $r
		n=$((n + 1))
	done
	for i in 1 2; do
		# shellcheck disable=SC2046
		build/strict/cotenant run $(arguments $r .) --no-perf --out "$work/same.h5" >/dev/null 2>"$work/log" || fail "--no-perf"
		mv "$work/same.h5" "$work/$i.h5"
	done
	cmp "$work/1.h5" "$work/2.h5" || fail "run '$r': result file differs from itself"
	n=$((n + 1))
done
# Training and fitting: long chains of sums, where a contraction or another order shows.
learn() { # VARIANT
	"${around[@]}" "$root/build/$1/cotenant" calib train --predictor dnn --dir "$root/calib/a100-40gb" --out "$work/$1-dnn.h5" >"$work/log" 2>&1 &&
		"${around[@]}" "$root/build/$1/cotenant" calib fit --dir "$root/calib/a100-40gb" --out "$work/$1-fit.h5" >"$work/log" 2>&1 ||
		{ cat "$work/log"; fail "calib train or fit with ${built[$1]}"; }
}
for v in strict debug clang; do learn $v; done
for v in debug clang; do
	for what in dnn fit; do
		cmp "$work/strict-$what.h5" "$work/$v-$what.h5" || fail "calib: $what from ${built[$v]} is not that from ${built[strict]}"
		n=$((n + 1))
	done
done
echo "network trained by gcc -O0, gcc -O2 and clang -O2: $(sha256sum <"$work/strict-dnn.h5" | cut -c 1-16)"
echo "determinism: ok, $n comparisons"
