#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every source file names its licence in its first three lines.
set -u
cd "$(dirname "$0")/../.." || exit 1
n=0 bad=0
while IFS= read -r f; do
	n=$((n + 1))
	if ! head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later'; then
		echo "$f: no SPDX line"
		bad=1
	fi
done < <(find Makefile .ci/run sim traces calib scheduler experiments plots tests -type f \( -name '*.[ch]' -o -name '*.sh' \
	-o -name '*.py' -o -name '*.awk' -o -name '*.gp' -o -name '*.in' -o -name '*.yaml' -o -name Makefile -o -path .ci/run \) \
	-not -path 'tests/data/*' -not -path 'tests/fuzz/corpus/*' -not -path 'tests/cli/*/*' -not -path 'tests/golden/*' | LC_ALL=C sort)
[ $bad -eq 0 ] || { echo "spdx: FAILED"; exit 1; }
echo "spdx: ok, $n files"
