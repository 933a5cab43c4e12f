#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the Debian packages that a step needs, when it may, and otherwise says
# which line does it. Silent and quick when everything is there.
#
#	packages.sh GROUP...            install what is missing (build test demo check, or all)
#	packages.sh --missing GROUP...  only print the line that would install it
#	packages.sh --list              the packages and what each is for
set -u

packages() { # group package purpose
	cat <<-'END'
	build gcc C17 compiler
	build libc6-dev C library headers
	build make this build
	build pkg-config where the libraries are
	build libgsl-dev statistics, distributions, random number framework
	build libhdf5-dev results and canonical traces
	build zlib1g-dev reading .csv.gz
	build libarchive-dev reading .tar.gz and .zip
	build libyaml-dev configuration files
	build libssl-dev SHA-256 of the result digest
	build libarchive-dev reading .tar.gz
	build uthash-dev name tables
	test libcmocka-dev unit tests
	check slurm-wlm a sweep as a job array (tests/oracle/slurm.sh)
	check munge authentication of Slurm
	test libglpk-dev exact reference of the tests, ceiling of repro (both do without)
	demo gnuplot-nox figures
	check git README commands run in a fresh clone
	check clang second compiler, fuzzing
	check clang-format code format
	check libclang-rt-14-dev sanitizer and fuzzer run time of clang
	check valgrind uninitialised reads
	check lcov coverage summary
	check cppcheck static analysis
	check libxgboost-dev the predictor xgb (the build does without)
	check locales determinism under another locale
	check python3-h5py results read without our code
	check python3-simpy independent reference simulator
	END
}

only_print=
case ${1-} in
--list)
	packages | while read -r group package purpose; do printf '%-6s %-20s %s\n' "$group" "$package" "$purpose"; done
	exit 0 ;;
--missing) only_print=1; shift ;;
esac
[ $# -gt 0 ] || { echo "usage: packages.sh [--missing|--list] build|test|demo|check|all ..." >&2; exit 2; }

wanted=
for group in "$@"; do
	case $group in
	all) wanted="$wanted $(packages | cut -d' ' -f2)" ;;
	build | test | demo | check) wanted="$wanted $(packages | grep "^$group " | cut -d' ' -f2)" ;;
	*) echo "packages.sh: unknown group '$group'" >&2; exit 2 ;;
	esac
done

missing_packages() {
	installed=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package} ' $wanted 2>/dev/null) "
	for p in $wanted; do
		case $installed in *"ii $p "*) ;; *) printf ' %s' "$p" ;; esac
	done
}

if ! command -v dpkg-query >/dev/null 2>&1; then
	if [ -n "$only_print" ]; then
		echo "cotenant: a library is missing; this is no Debian system, install what corresponds to:" $wanted >&2
	fi
	exit 0 # the build itself says what it does not find
fi
missing=$(missing_packages)
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
	if sudo -n true 2>/dev/null; then sudo="sudo -n"; else only_print=1; fi
fi
if [ -n "$only_print" ]; then
	[ "$(id -u)" -eq 0 ] && line= || line="sudo "
	echo "cotenant: packages are missing. Install them with" >&2
	echo "    ${line}apt-get update && ${line}apt-get install -y --no-install-recommends$missing" >&2
	exit 1
fi

echo "cotenant: installing$missing" >&2
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
get() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >>"$log" 2>&1; }
# The package lists may be there and fresh enough; ask for new ones only if not.
if ! get install --no-install-recommends $missing; then
	if ! { get update && get install --no-install-recommends $missing; }; then
		tail -n 15 "$log" >&2
		echo "cotenant: apt-get could not install$missing" >&2
		exit 1
	fi
fi
