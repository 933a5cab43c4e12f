#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `sweep`: what becomes of cells that fail, hang, crash or grow, and of a sweep whose
# processes are killed at random moments.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
. tests/cli/sweep_harness
plugin=${PLUGIN_DIR:-$root/build/release}/tests/unit/plugins/misbehave.so
[ -e "$plugin" ] || { echo "skipped: no plug-in '$plugin'"; exit 77; }
cp "$root/tests/data/conformance/easy3.csv" "$H/easy3.csv"

# ---- cells that misbehave

limit=400
case $C in */asan/* | */ubsan/*) limit=0 ;; esac # a sanitizer needs the address space
cp "$plugin" "$H/misbehave.so"
cat >"$H/bad.yaml" <<END
trace: {file: easy3.csv}
cluster: {nodes: 1}
policy: {name: misbehave.so, how: [nothing, wrong, crash, hang, slow]}
sweep: {time_limit: 3}
END
begin "wrong, crash, hang" "$C" sweep bad.yaml -j 2 --out bad; status 1
that [ "$(column bad/runs.csv policy.how | tr '\n' ' ')" = "nothing slow " ]
that [ "$(column bad/failed.csv policy.how | tr '\n' ' ')" = "wrong crash hang " ]
that grep -q "^2,[0-9a-f]*,wrong,exit 6,.*job '0': wants 3 to 3 GPUs.*,cotenant sweep bad.yaml --out bad --only 2$" "$H/bad/failed.csv"
that grep -q "^3,[0-9a-f]*,crash,signal 6 .*,cotenant sweep bad.yaml --out bad --only 3$" "$H/bad/failed.csv"
that grep -q "^4,[0-9a-f]*,hang,time limit of 3 s,.*--only 4$" "$H/bad/failed.csv"
err "cotenant: warning: 3 of 5 cells failed: 'bad/failed.csv' has all of them"
begin "the recorded command" "$C" sweep bad.yaml --out bad --only 2; status 1; no_out
err "cotenant: warning: cell 2 failed: exit 6: *job '0': wants 3 to 3 GPUs*"
begin "the recorded configuration" "$C" run "bad/failed/$(column bad/failed.csv hash | head -n 1).yaml"; status 6
cp "$H/bad/runs.csv" "$work/before"
begin "failed cells have another try" "$C" sweep bad.yaml --out bad --resume; status 1
err "cotenant: 5 cells: 2 finished before, 3 to run"; that cmp "$work/before" "$H/bad/runs.csv"
if [ $limit -gt 0 ]; then
	sed "s/how: .*/how: [memory, nothing]}/; s/sweep: .*/sweep: {memory_limit_mib: $limit}/" "$H/bad.yaml" >"$H/big.yaml"
	begin "memory" "$C" sweep big.yaml --out big; status 1
	that grep -q "^1,[0-9a-f]*,memory,memory limit of $limit MiB,.*out of memory.*--only 1$" "$H/big/failed.csv"
	that [ "$(column big/runs.csv policy.how)" = nothing ]
else
	skip "memory" "not under a sanitizer"
fi

# ---- killed at random moments; the slow cells make sure that there is something left
cat >"$H/slow.yaml" <<END
generate: {kind: testbed, days: 0.1, load: 1.2}
cluster: {nodes: 8}
policy: {name: misbehave.so, how: [slow, nothing]}
sweep: {runs: 8}
END
begin "undisturbed" "$C" sweep slow.yaml -j 2 --out quiet; status 0; that [ "$(rows quiet/runs.csv)" = 16 ]
pause() { # a random part of a second
	sleep "0.$(od -An -N1 -tu1 /dev/urandom | awk '{ printf "%03d", 50 + $1 * 2 }')"
}
# A shell's background processes ignore Ctrl-C until they say otherwise; who has workers has.
has_workers() { # PID
	while kill -0 "$1" 2>/dev/null && [ -z "$(cat "/proc/$1/task/$1/children" 2>/dev/null)" ]; do :; done
}
disturbed() { # SIGNAL FOLDER
	(cd "$H" && exec "$C" sweep slow.yaml -j 2 --out "$2" --resume) >"$work/out" 2>"$work/err" &
	pid=$!
	[ "$1" = KILL ] || has_workers $pid
	pause
	children=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
	kill "-$1" $pid 2>/dev/null
	wait $pid 2>/dev/null
	rc=$?
}
orphans() { # they end with their parent; whoever inherits a dead one need not hurry
	for t in $(seq 50); do
		alive=
		for c in $children; do
			state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$c/status" 2>/dev/null)
			[ -z "$state" ] || [ "$state" = Z ] || alive=1
		done
		[ -n "$alive" ] || return 0
		sleep 0.2
	done
	return 1
}
begin "kill -9 twice, then resume" mkdir killed; status 0
for k in 1 2; do
	disturbed KILL killed
	that [ $rc = 137 ]; that [ ! -e "$H/killed/runs.csv" ]; that orphans
	# Whatever is there by its name is whole.
	for f in "$H"/killed/cells/*/; do
		[ ! -d "$f" ] || that grep -q "^digest," "$f/summary.csv"
	done
done
(cd "$H" && "$C" sweep slow.yaml -j 2 --out killed --resume) >"$work/out" 2>"$work/err"
rc=$?; status 0; that same killed quiet
that [ -z "$(cd "$H/killed/cells" && find . -name '.?*')" ]
begin "Ctrl-C, then resume" mkdir stopped; status 0
disturbed INT stopped
[ $rc = 130 ] || wrong "exit $rc instead of 130"
err "cotenant: stopped by a signal: * of 16 cells are finished; --resume goes on"; that [ ! -e "$H/stopped/runs.csv" ]; that orphans
that [ -z "$(cd "$H/stopped/cells" && find . -name '.?*')" ]
(cd "$H" && "$C" sweep slow.yaml -j 1 --out stopped --resume) >"$work/out" 2>"$work/err"
rc=$?; status 0; that same stopped quiet

begin "kill -9 of a worker" mkdir worker; status 0
(cd "$H" && exec "$C" sweep slow.yaml -j 2 --out worker --resume) >"$work/out" 2>"$work/err" &
pid=$! child=
while [ -z "$child" ] && kill -0 $pid 2>/dev/null; do child=$(cut -d' ' -f1 "/proc/$pid/task/$pid/children" 2>/dev/null); done
kill -9 "$child"
wait $pid
rc=$?; status 1
that [ "$(rows worker/failed.csv)" = 1 ]; that [ "$(rows worker/runs.csv)" = 15 ]
that grep -q ",signal 9 " "$H/worker/failed.csv"
(cd "$H" && "$C" sweep slow.yaml -j 2 --out worker --resume) >"$work/out" 2>"$work/err"
rc=$?; status 0; that same worker quiet; err "cotenant: 16 cells: 15 finished before, 1 to run"

begin "two at once" mkdir twice; status 0
(cd "$H" && exec "$C" sweep slow.yaml -j 1 --out twice) >/dev/null 2>&1 &
pid=$!
has_workers $pid
(cd "$H" && "$C" sweep slow.yaml --out twice --resume) >"$work/out" 2>"$work/err"
rc=$?; status 5; err "cotenant: error: another sweep is at work in 'twice'*"
kill -INT $pid
wait $pid

# A damaged cell is run again.
hash=$(column quiet/runs.csv hash | sed -n 2p)
cp -r "$H/quiet" "$H/damaged"
sed -i '$d' "$H/damaged/cells/$hash/summary.csv"
begin "damaged cell" "$C" sweep slow.yaml --out damaged --resume; status 0
err "cotenant: 16 cells: 15 finished before, 1 to run"; that same damaged quiet
finish
