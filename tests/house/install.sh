#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `make install`: the installed program runs from another directory and finds its
# data, the example policy builds with nothing but what pkg-config says and runs,
# DESTDIR gives the same files, `make uninstall` leaves none.
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset COTENANT_DATA
fail() {
	[ ! -s "$work/log" ] || tail -n 30 "$work/log" | sed 's/^/    | /'
	echo "install: FAILED, $*"
	exit 1
}
mk() { make --no-print-directory V=strict -j"$(nproc)" "$@" >"$work/log" 2>&1; }
files() { (cd "$1" && find . -type f -o -type l | LC_ALL=C sort); }

prefix=$work/prefix
mk install PREFIX="$prefix" || fail "make install"
for f in bin/cotenant include/cotenant/policy.h lib/pkgconfig/cotenant.pc share/cotenant/experiments/demo/demo.yaml \
	share/doc/cotenant/LICENSE; do
	[ -e "$prefix/$f" ] || fail "$f is not installed"
done

# Away from the sources. The demo by the name the installed program knows it by.
mkdir "$work/elsewhere" && cd "$work/elsewhere" || exit 1
run() { "$prefix/bin/cotenant" "$@" >"$work/log" 2>&1; }
run --version || fail "--version"
grep -qF "$prefix" "$work/log" && fail "--version shows a path"
run run data:experiments/demo/demo.yaml --out demo.h5 || fail "the demo from another directory"
[ -s demo.h5 ] || fail "no result file"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
flags=$(pkg-config --cflags cotenant) || fail "pkg-config does not know cotenant"
example=$(find "$prefix/share/cotenant/scheduler/example" -name '*.c' | head -n 1)
[ -n "$example" ] || fail "no example policy"
for cc in gcc clang; do
	# shellcheck disable=SC2086
	$cc -std=c17 -Wall -Wextra -Werror -shared -fPIC -o "mine-$cc.so" "$example" $flags >"$work/log" 2>&1 ||
		fail "the example policy with $cc"
	[ "$(nm -D --defined-only "mine-$cc.so" | awk '{ print $3 }')" = ct_policy_v1 ] || fail "it exports more than one symbol"
	run run data:experiments/demo/demo.yaml --policy "./mine-$cc.so" || fail "running the example policy"
done

cd "$root" || exit 1
mk install DESTDIR="$work/dest" PREFIX=/usr || fail "make install with DESTDIR"
diff <(files "$prefix") <(files "$work/dest/usr") >"$work/log" || fail "DESTDIR gives other files"
grep -qx 'prefix=/usr' "$work/dest/usr/lib/pkgconfig/cotenant.pc" || fail "cotenant.pc does not name PREFIX"
mk uninstall DESTDIR="$work/dest" PREFIX=/usr || fail "make uninstall"
[ -z "$(files "$work/dest")" ] || fail "make uninstall leaves $(files "$work/dest" | head -n 3)"
echo "install: ok, $(files "$prefix" | wc -l) files"
