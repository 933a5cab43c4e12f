#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `compare` over seeds (--vs) and by group (--by); the interval by hand from the single runs.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
H=$work/here
key() { sed -n "s/^ *\"$2\": *\([^,]*\),*\$/\1/p" "$1" | head -n 1; }
value() { grep "\"metric\": \"$1\"$2" "$work/out" | head -n 1 | sed "s/.*\"$3\": \([^,}]*\).*/\1/"; }

cat >"$H/gen.yaml" <<END
generate: {kind: mixed, days: 0.25, gpus: 16, load: 1.2, node_gpus: 4}
cluster: {nodes: 4, gpus_per_node: 4}
END
for p in fifo easy; do
	for s in 1 2 3 4 5 6 7; do
		(cd "$H" && "$C" run gen.yaml --policy $p --seed $s --out $p-$s.h5 --json --no-perf) >"$work/$p-$s" 2>"$work/err" ||
			echo "run $p $s failed"
		key "$work/$p-$s" mean_jct_s
	done >"$work/$p"
done
files="fifo-1.h5 fifo-2.h5 fifo-3.h5 fifo-4.h5 fifo-5.h5 fifo-6.h5 fifo-7.h5"
others="easy-7.h5 easy-3.h5 easy-2.h5 easy-4.h5 easy-5.h5 easy-6.h5 easy-1.h5"

# Student's t of 6 degrees of freedom, 0.975: 2.446912 (any table)
# shellcheck disable=SC2086
begin "sets, json" "$C" compare $files --vs $others --json; status 0; no_err
paste "$work/fifo" "$work/easy" | awk '{ d = $2 - $1; n++; s += d; q += d * d; a += $1; b += $2 }
	END { m = s / n; h = 2.446912 * sqrt((q - n * m * m) / (n - 1) / n); printf "%.9g %.9g %.9g %.9g\n", m, m - h, m + h, b / a }' >"$work/hand"
echo "$(value mean_jct_s '' diff) $(value mean_jct_s '' lo) $(value mean_jct_s '' hi) $(value mean_jct_s '' ratio)" >"$work/got"
that awk 'NR == FNR { for (i = 1; i <= 4; i++) w[i] = $i; next }
	{ for (i = 1; i <= 4; i++) if (($i - w[i]) ^ 2 > 1e-10 * w[i] ^ 2) exit 1 }' "$work/hand" "$work/got"
that [ "$(value mean_jct_s '' n)" = 7 ]
out '*"metric": "mean_jct_s", *"verdict": *'; out '*"set": "fifo",*'; out '*"seed": "7"*'; out '*"warnings": \[\]*'
# The same, told from the ends of the interval
verdict=$(awk '{ print ($3 < 0 ? "\"b lower\"" : $2 > 0 ? "\"a lower\"" : "\"no difference shown\"") }' "$work/hand")
that [ "$(value mean_jct_s '' verdict)" = "$verdict" ]

# shellcheck disable=SC2086
begin "sets, table by class" "$C" compare $files --vs $others --by class; status 0; no_err
out "Over seeds, a = fifo (7 runs), b = easy (7 runs)"; out "train *mean_jct_s *"; out "infer *p95_wait_s *"
# shellcheck disable=SC2086
begin "by user" "$C" compare $files --vs $others --by user --json; status 0
out '*"metric": "jain_users"*"n": 7,*'; out '*"metric": "ftf_mean"*'; out '*"by": "user", "group": *'
begin "unequal sets" "$C" compare fifo-1.h5 fifo-2.h5 fifo-3.h5 --vs easy-2.h5 easy-3.h5 easy-4.h5; status 0
out "Warning: 1 of 3 runs of 'fifo' and 1 of 3 of 'easy' have no partner of the same seed: left out."
begin "sets of one are single runs" "$C" compare fifo-1.h5 --vs easy-1.h5; status 0; out "Per job, against a = fifo"
for by in user partition class size; do
	begin "single runs by $by" "$C" compare fifo-1.h5 easy-1.h5 --by $by; status 0; out "By $by, against a = fifo"
done
begin "one run by size" "$C" run gen.yaml --policy fifo --by size; status 0; out "By size"; out "size *jobs_measured *mean_jct_s *"
begin "one run by user" "$C" run gen.yaml --policy fifo --by user; status 0; out "jain_users 0.*, ftf_mean *"
begin "run, bad --by" "$C" run gen.yaml --policy fifo --by users; status 2; no_out; err "*--by wants user, *"
begin "equal runs, no winner" "$C" compare fifo-1.h5 fifo-2.h5 fifo-3.h5 --vs fifo-1.h5 fifo-2.h5 fifo-3.h5; status 0
out "mean_jct_s *no difference shown"
begin "a run twice" "$C" compare fifo-1.h5 fifo-1.h5 --vs easy-1.h5 easy-2.h5; status 2; no_out; err "*say the same twice"
begin "nothing behind --vs" "$C" compare fifo-1.h5 fifo-2.h5 --vs; status 2; no_out; err "*no result behind '--vs'"
begin "bad --by" "$C" compare fifo-1.h5 easy-1.h5 --by users; status 2; err "*--by wants user, partition, class, size or none, got 'users'"
begin "bad --width" "$C" compare fifo-1.h5 easy-1.h5 --width 0; status 2; err "*--width wants a number above 0*"
begin "set with a file missing" "$C" compare fifo-1.h5 fifo-2.h5 --vs easy-1.h5 none.h5; status 5; no_out; err "*none.h5*"
finish
