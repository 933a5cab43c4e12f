#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The demo: one day of jobs on 64 GPUs under three policies; a table and a figure.
#
#	demo.sh PROGRAM        after `make all`
set -u
program=${1:-build/release/cotenant}
cd "$(dirname "$0")/../.." || exit 1
out=build/demo
mkdir -p $out || exit 1
rm -f $out/*.h5 $out/utilisation.png
policies="volcano lucid easy"

for p in $policies; do
	"$program" run experiments/demo/demo.yaml --policy "$p" --out "$out/$p.h5" --csv "$out/$p" >"$out/$p.txt" 2>"$out/log" || { rc=$?; cat "$out/log" >&2; exit $rc; }
done
"$program" compare $out/volcano.h5 $out/lucid.h5 $out/easy.h5 || exit $?

figure="$out/utilisation.png"
if ! sh tests/house/packages.sh demo; then
	figure="not drawn: gnuplot is missing, see the line above"
elif command -v gnuplot >/dev/null; then
	source=$(for p in $policies; do sed -n "s/^digest *\(............\).*/$p \1/p" "$out/$p.txt"; done | paste -s -d ' ')
	gnuplot -e "source='digests: $source'; out='$figure'; folder='$out'; policies='$policies'" plots/utilisation.gp || exit 5
else
	figure="not drawn: install gnuplot and run 'make demo' again"
fi
cat <<END

Results   $out/{fifo,easy,las}.h5, the same as CSV in $out/{fifo,easy,las}/
Figure    $figure

What you see: the same jobs on the same 64 GPUs, in three orders. Under fifo the
first job that does not fit holds up all behind it: jobs wait beside idle GPUs
(blocked_idle_frac). easy lets others overtake when that does not delay the first,
and fills these holes. las preempts jobs that have used much GPU time: short ones
hardly wait, long ones pay (compare median_jct_s with p99_jct_s).
END
