#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Prints the revision of this tree: the commit, "-dirty" when tracked files
# differ from it, "unknown" outside a repository of our own (a tarball, or a
# tarball unpacked inside somebody else's repository).
cd "$(dirname "$0")/../.." || exit 1
top=$(git rev-parse --show-toplevel 2>/dev/null) || top=
if [ -n "$top" ] && [ "$top" = "$(pwd -P)" ]; then
	git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || echo unknown
else
	echo unknown
fi
