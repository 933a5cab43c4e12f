#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# All tests under the sanitizers: address and undefined behaviour of gcc, then
# undefined behaviour of clang.
set -u
cd "$(dirname "$0")/../.." || exit 1
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for v in ${1:-asan ubsan}; do
	if ! make --no-print-directory $v >"$log" 2>&1; then
		grep -vE '^(ok|skip) |^  (CC|LINK|PLUG) ' "$log" | tail -n 60
		echo "$v: FAILED"
		exit 1
	fi
	echo "$v: ok, $(tail -n 1 "$log")"
done
