#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# cppcheck over our own sources; what it is told to ignore says why.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v cppcheck >/dev/null || { echo "tidy: no cppcheck, install it with 'apt-get install cppcheck'"; exit 0; }
mkdir -p build/cppcheck
# missingIncludeSystem: the system's headers are not read.
# constParameterCallback: a callback has the signature of its slot.
# arrayIndexThenCheck: it takes every comparison of an index for a limit check.
# uninitvar in json.c: it does not see that an argument's call fills the array.
if ! cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
	--suppress=missingIncludeSystem --suppress=constParameterCallback --suppress=arrayIndexThenCheck --suppress=uninitvar:sim/json.c \
	--cppcheck-build-dir=build/cppcheck -j "$(nproc)" \
	-D_GNU_SOURCE -I. sim traces calib scheduler experiments; then
	echo "tidy: FAILED"
	exit 1
fi
echo "tidy: ok, cppcheck $(cppcheck --version | cut -d' ' -f2)"
