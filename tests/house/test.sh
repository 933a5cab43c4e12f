#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs test programs, JOBS at a time, and reports them in the order given. The
# last line is "N passed, N failed, N skipped".
#
#	test.sh PROGRAM|SCRIPT...
#
# A cmocka program counts each of its tests; it must end with cmocka's summary, so
# that one that stops half-way is seen. A script (*.sh) and a fuzz replay count as
# one: exit 0 passed, 77 skipped, anything else failed; a script may count for
# itself with a last line "[NAME: ]N [checks ]passed, N failed[, N skipped]".
# Whatever runs longer than TEST_TIMEOUT seconds (60) is killed and has failed.
#
# Tests start in the project's root with COTENANT (the program), PLUGIN_DIR (tree
# of the plug-ins built from scheduler/example and tests/unit/plugins), TMPDIR (empty,
# removed afterwards), and COTENANT_SHARED_DATA if the caller has it. EXEC goes before
# every program, e.g. EXEC='valgrind -q'.
set -u
cd "$(dirname "$0")/../.." || exit 1
unset COTENANT_DATA MAKEFLAGS MAKELEVEL MFLAGS
export COTENANT PLUGIN_DIR
export CMOCKA_MESSAGE_OUTPUT=stdout
export LSAN_OPTIONS=suppressions=$PWD/tests/house/lsan.supp:print_suppressions=0
JOBS=${JOBS:-2} TEST_TIMEOUT=${TEST_TIMEOUT:-60}
case ${COTENANT:-none} in */asan/* | */ubsan/* | */coverage/* | */debug/*) TEST_TIMEOUT=${TEST_TIMEOUT_SLOW:-$((TEST_TIMEOUT * 5))} ;; esac
work=$(mktemp -d) || exit 1
stop() {
	trap - INT TERM
	kill $(jobs -p) 2>/dev/null
	wait
	rm -rf "$work"
	exit 130
}
trap stop INT TERM
trap 'rm -rf "$work"' EXIT

# run NUMBER TEST: leaves NUMBER.out and NUMBER.rc
run() {
	local t=$2 interpreter
	mkdir "$work/$1.tmp"
	case $t in
	*.sh) read -r interpreter <"$t" && set -- "$1" "${interpreter#\#!}" "$t" ;;
	/*) set -- "$1" ${EXEC-} "$t" ;;
	*) set -- "$1" ${EXEC-} "./$t" ;;
	esac
	TMPDIR=$work/$1.tmp timeout -k 5 "$TEST_TIMEOUT" "${@:2}" >"$work/$1.out" 2>&1 </dev/null
	echo $? >"$work/$1.rc.new"
	chmod -R u+w "$work/$1.tmp" 2>/dev/null
	rm -rf "$work/$1.tmp"
	mv "$work/$1.rc.new" "$work/$1.rc"
}

# count FILE: "passed failed skipped" from the summaries of all cmocka groups, or
# from a plain closing line; nothing when there is neither.
count() {
	awk '
	/\[==========\] Running [0-9]+ test\(s\)/ { began++ }
	/\[==========\] [0-9]+ test\(s\) run/     { ended++ }
	match($0, /\[  PASSED  \] [0-9]+ test\(s\)/) { p += substr($0, RSTART + 13) }
	match($0, /\[  FAILED  \] [0-9]+ test\(s\)/) { f += substr($0, RSTART + 13) }
	match($0, /\[  SKIPPED \] [0-9]+ test\(s\)/) { s += substr($0, RSTART + 13) }
	/^([a-z_]+: )?[0-9]+ [a-z ]*passed, [0-9]+ failed(, [0-9]+ [a-z ]*skipped)?$/ {
		began++; ended++; sub(/^[a-z_]+: /, ""); gsub(/[a-z ]+/, " "); split($0, n, ",")
		p += n[1]; f += n[2]; s += n[3]
	}
	END { if (began && began == ended) print p + 0, f + 0, s + 0 }' "$1"
}

passed=0 failed=0 skipped=0
report() { # NUMBER TEST
	local rc counts p=0 f=0 s=0 note= word=ok
	rc=$(<"$work/$1.rc")
	counts=$(count "$work/$1.out")
	if [ -n "$counts" ]; then
		read -r p f s <<<"$counts"
	else
		case $2:$rc in
		*:77) s=1 ;;
		*.sh:0 | */replay_*:0) p=1 ;;
		*:0) f=1 note=", ended without a summary" ;;
		esac
	fi
	if [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; then
		note=", killed after $TEST_TIMEOUT s"
	elif [ "$rc" -gt 128 ]; then
		note=", signal $((rc - 128))"
	elif [ "$rc" -ne 0 ] && [ "$rc" -ne 77 ]; then
		note=", exit $rc"
	fi
	# A program that failed without saying which test did: one failure.
	if [ "$rc" -ne 0 ] && [ "$rc" -ne 77 ] && [ "$f" -eq 0 ]; then f=1; fi
	[ "$f" -eq 0 ] || word=FAIL
	[ $((p + f)) -gt 0 ] || word=skip
	printf '%-4s %-40s %4d passed' "$word" "${2#"$PWD"/}" "$p"
	[ "$f" -eq 0 ] || printf ', %d failed' "$f"
	[ "$s" -eq 0 ] || printf ', %d skipped' "$s"
	echo "$note"
	if [ "$f" -gt 0 ]; then
		grep -v '^\[ RUN      \]\|^\[       OK \]' "$work/$1.out" | tail -n 60 | sed 's/^/     | /'
	elif [ "$s" -gt 0 ]; then
		grep -i 'skip' "$work/$1.out" | grep -v '^\[' | sort -u | head -n 5 | sed 's/^/     | /'
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

tests=("$@")
shown=0 running=0
show() { # those that have ended, in order
	while [ "$shown" -lt ${#tests[@]} ] && [ -e "$work/$shown.rc" ]; do
		report "$shown" "${tests[shown]}"
		shown=$((shown + 1))
	done
}
for i in "${!tests[@]}"; do
	run "$i" "${tests[i]}" 2>/dev/null &
	running=$((running + 1))
	if [ "$running" -ge "$JOBS" ]; then
		wait -n
		running=$((running - 1))
		show
	fi
done
wait
show
if [ ${#tests[@]} -eq 0 ]; then
	echo "no test found"
	failed=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
