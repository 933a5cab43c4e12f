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
policies="fifo easy las"

for p in $policies; do
	"$program" run experiments/demo/demo.yaml --policy "$p" --out "$out/$p.h5" --csv "$out/$p" >"$out/$p.txt" || exit $?
done
"$program" compare $out/fifo.h5 $out/easy.h5 $out/las.h5 || exit $?

figure="$out/utilisation.png"
if ! sh tests/house/packages.sh demo; then
	figure="not drawn: gnuplot is missing, see the line above"
elif command -v gnuplot >/dev/null; then
	gnuplot -e "out='$figure'; folder='$out'; policies='$policies'" plots/utilisation.gp || exit 5
else
	figure="not drawn: install gnuplot and run 'make demo' again"
fi
cat <<END

Results   $out/{fifo,easy,las}.h5, the same as CSV in $out/{fifo,easy,las}/
Figure    $figure
END
