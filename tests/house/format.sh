#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every C file is as clang-format leaves it; `make format` puts it right.
set -u
cd "$(dirname "$0")/../.." || exit 1
mapfile -t files < <(find sim traces calib scheduler experiments tests -name '*.[ch]' | LC_ALL=C sort)
if ! clang-format --dry-run -Werror --ferror-limit=3 "${files[@]}"; then
	echo "format: FAILED, run 'make format'"
	exit 1
fi
echo "format: ok, ${#files[@]} files"
