#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Executes the README: every ```sh block, in order, in a fresh copy of the tree
# with a home of its own. A ```text block right after one shows its output: every
# line of it must be a line of what the block printed ("..." stands for others).
#
#	readme.sh [-k]        -k keeps the copy and names it
# README_SKIP: a command that was executed already, such as 'make test'.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
if [ "${1-}" = -k ]; then echo "readme: in $work"; else trap 'rm -rf "$work"' EXIT; fi
mkdir "$work/cotenant" "$work/home" "$work/block"
# Ours, committed or not, without what was built.
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
	git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do
		[ -e "$f" ] && printf '%s\0' "$f"
	done | tar -c --null -T - | tar -x -C "$work/cotenant"
else
	tar -c --exclude=./build . | tar -x -C "$work/cotenant"
fi

# Blocks as NUMBER.sh, NUMBER.line (where it begins) and NUMBER.text.
awk -v to="$work/block/" '
/^```/ && inside { inside = 0; close(file); if (kind == "sh") after = 1; next }
/^```sh$/        { inside = 1; kind = "sh"; n++; file = sprintf("%s%02d.sh", to, n); print FNR > sprintf("%s%02d.line", to, n); next }
/^```text$/ && after { inside = 1; kind = "text"; after = 0; file = sprintf("%s%02d.text", to, n); next }
/^```/           { inside = 1; kind = "other"; after = 0; file = "/dev/null"; next }
inside           { print > file; next }
NF               { if ($0 !~ /:$/) after = 0 }' README.md

if [ -z "${COTENANT_SHARED_DATA-}" ] && [ -d ../shared/data ]; then
	COTENANT_SHARED_DATA=$(cd ../shared/data && pwd)
	export COTENANT_SHARED_DATA
fi
unset COTENANT COTENANT_DATA MAKEFLAGS MAKELEVEL MFLAGS
export HOME=$work/home PATH=$work/home/.local/bin:$PATH
n=0
for block in "$work"/block/*.sh; do
	[ -e "$block" ] || { echo "readme: FAILED, no command in README.md"; exit 1; }
	[ "$(<"$block")" != "${README_SKIP-}" ] || continue
	at=README.md:$(<"${block%.sh}.line")
	if ! (cd "$work/cotenant" && timeout -k 5 600 bash -eu "$block" >"${block%.sh}.out" 2>&1 </dev/null); then
		echo "$at: the block fails:"
		sed 's/^/    $ /' "$block"
		tail -n 40 "${block%.sh}.out" | sed 's/^/    | /'
		echo "readme: FAILED"
		exit 1
	fi
	if [ -e "${block%.sh}.text" ]; then
		while IFS= read -r line; do
			[ "$line" != "..." ] && [ -n "$line" ] || continue
			if ! grep -qxF -- "$line" "${block%.sh}.out"; then
				echo "$at: the block does not print"
				echo "    $line"
				tail -n 40 "${block%.sh}.out" | sed 's/^/    | /'
				echo "readme: FAILED"
				exit 1
			fi
		done <"${block%.sh}.text"
	fi
	n=$((n + 1))
done
echo "readme: ok, $n blocks executed"
