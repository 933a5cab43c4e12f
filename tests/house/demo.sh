#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The demo: a generated day of training and inference on 64 GPUs under three policies; a table and a figure.
#
#	demo.sh PROGRAM        after `make all`
set -u
program=${1:-build/release/cotenant}
cd "$(dirname "$0")/../.." || exit 1
out=build/demo
mkdir -p $out || exit 1
rm -f $out/*.h5 $out/utilisation.png
policies="volcano lucid elastico"

for p in $policies; do
	"$program" run experiments/demo/demo.yaml --policy "$p" --out "$out/$p.h5" --csv "$out/$p" >"$out/$p.txt" 2>"$out/log" || { rc=$?; cat "$out/log" >&2; exit $rc; }
done
"$program" compare $out/volcano.h5 $out/lucid.h5 $out/elastico.h5 || exit $?

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

Results   $out/{volcano,lucid,elastico}.h5, the same as CSV in $out/{volcano,lucid,elastico}/
Figure    $figure

What you see: one day of training and offline inference on the same 64 A100 GPUs,
under three schedulers. Under volcano, as shipped, jobs scatter over all nodes, so that large
ones find no room although they were admitted, and the enqueue gate meanwhile holds
back small ones that would fit: GPUs idle beside waiting jobs (blocked_idle_frac).
Try --set policy.gate=off. lucid starts what is short and small first: most jobs do
not wait, a few wait longest of all (median_wait_s, max_wait_s); one node of eight is
its profiler. elastico reshapes jobs (batch, precision, checkpointing, fewer GPUs) and
lets two share a GPU where it predicts little harm; some then run below their target
rate (attainment_frac). Why a job waited: cotenant explain $out/elastico.h5 --job ID.
Another day (another seed) gives other figures, for volcano very different ones.
END
