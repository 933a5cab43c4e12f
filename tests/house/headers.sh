#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every header compiles alone, with gcc and with clang. policy.h, the installed
# one, also under plain C11 without GNU extensions.
set -u
cd "$(dirname "$0")/../.." || exit 1
cflags="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I. $(pkg-config --cflags gsl hdf5 yaml-0.1 libcrypto)"
n=0 bad=0
while IFS= read -r h; do
	n=$((n + 1))
	for cc in gcc clang; do
		# Included from a file of its own: a header as the main file makes clang
		# warn about unused inline functions.
		echo "#include \"$h\"" | $cc -std=c17 -D_GNU_SOURCE $cflags -fsyntax-only -x c - || { echo "$h: does not compile alone with $cc"; bad=1; }
	done
done < <(find sim traces calib scheduler experiments tests -name '*.h' | LC_ALL=C sort)
for cc in gcc clang; do
	echo '#include "scheduler/policy.h"' | $cc -std=c11 -pedantic-errors $cflags -fsyntax-only -x c - || bad=1
done
[ $bad -eq 0 ] || { echo "headers: FAILED"; exit 1; }
echo "headers: ok, $n headers with gcc and clang"
