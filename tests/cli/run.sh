#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `run` and `trace` on small files: numbers, streams, files, interruption.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
D=$root/tests/data/conformance
H=$work/here
python=
for p in /usr/bin/python3 python3; do
	[ -n "$python" ] || { command -v $p >/dev/null && python=$p; }
done
json_is_valid() { "$python" -m json.tool "$1" >/dev/null 2>"$work/json"; }
value() { sed -n "s/^ *\"$2\": *\([^,]*\),*\$/\1/p" "$1" | head -n 1; }

# easy3.csv by hand (tests/data/conformance/README.md): mean JCT 172.333, wait 69.000, makespan 310
begin "easy3, table" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy easy; status 0; files
out "mean_jct_s * 172.333 s *"; out "mean_wait_s * 69.000 s *"; out "makespan_s * 310.000 s *"
out "seed * 1"; out "window * 0.000 s to *"; out "digest * [0-9a-f]*"; out "speed *engine events a CPU second*"
err "cotenant: read '*easy3.csv' (csv): 3 rows, 3 jobs kept"
begin "easy3, firstfit" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy firstfit; status 0
out "mean_jct_s * 170.333 s *"; out "makespan_s * 212.000 s *"

begin "easy3, json" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy easy --json; status 0; files
cp "$work/out" "$work/easy.json"
that [ "$(value "$work/easy.json" makespan_s)" = 310 ]
that [ "$(value "$work/easy.json" jobs_finished)" = 3 ]
if [ -n "$python" ]; then
	that json_is_valid "$work/easy.json"
	for a in "policies" "policies las" "trace info $D/easy3.csv" "trace info $D/jobs_1000_le8.csv.gz --cluster 8x8"; do
		# shellcheck disable=SC2086
		begin "json of $a" "$C" $a --json; status 0; that json_is_valid "$work/out"
	done
else
	skip "json is valid" "python3 is missing"
fi
begin "json without perf" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy easy --json --no-perf; status 0
that [ -z "$(value "$work/out" cpu_s)" ]

begin "files" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy easy --out r.h5 --csv c --json; status 0
files c c/jobs.csv c/series.csv c/summary.csv r.h5
that [ "$(grep -c . "$H/c/jobs.csv")" = 4 ]
rm -rf "$H/c" "$H/r.h5"

# bad/ of the conformance set
for f in dup_id neg_duration zero_duration zero_gpus; do
	begin "$f refused" "$C" run --trace "$D/bad/$f.csv" --cluster 1x8 --policy fifo --out r.h5; status 4; no_out; files
	err "cotenant: error: *$f.csv:[0-9]*:[0-9]*: *"
	begin "$f dropped" "$C" run --trace "$D/bad/$f.csv" --cluster 1x8 --policy fifo --on-bad-row=drop; status 0
	err "cotenant: warning: *: 1 (*)"
done
begin "unsorted accepted" "$C" run --trace "$D/bad/unsorted.csv" --cluster 1x8 --policy fifo; status 0; err "*unsorted_submit: *"
begin "too big rejected" "$C" run --trace "$D/bad/too_big.csv" --cluster 1x8 --policy fifo; status 0
err "cotenant: warning: rejected: 1 job: *(larger_than_cluster): *"; out "jobs_rejected * 1 *"
begin "nothing fits" "$C" run --trace "$D/easy3.csv" --cluster 1x1 --policy fifo; status 0; out "jobs_submitted * 3 *"

# load: submission times are stretched to it
begin "trace.load" "$C" run --trace "$D/jobs_1000_le8.csv.gz" --cluster 8x8 --policy fifo --set trace.load=0.5 --json
status 0; that awk "BEGIN { x = $(value "$work/out" offered_load); exit !(x > .49999 && x < .50001) }"

# outputs that cannot be
# D/D/1 for 100,000 s: a job of 150 s every 100 s (load 1.5), then every 200 s (0.75). Of the first, the
# k-th ends at 150 (k + 1): 666 within the window, with a mean JCT of 50 x 332.5 + 150.
for gap in 100 200; do
	awk -v gap=$gap 'BEGIN { print "job_id,submit_time,num_gpus,duration"; for (i = 0; i * gap < 1e5; i++) print i "," i * gap ",1,150" }' >"$work/d$gap.csv"
	begin "D/D/1, every $gap s" "$C" run --trace "$work/d$gap.csv" --cluster 1x1 --policy fifo --set sim.until=100000 --json; status 0
	cp "$work/out" "$work/d$gap.json"
done
that [ "$(value "$work/d100.json" backlog_growth) $(value "$work/d100.json" active_jobs)" = "0.5 1" ]
that [ "$(value "$work/d100.json" window_finished) $(value "$work/d100.json" window_finished_jct_s)" = "666 16775" ]
that [ "$(value "$work/d100.json" drained_throughput) $(value "$work/d100.json" makespan_s)" = "1 150000" ]
that [ "$(value "$work/d200.json" backlog_growth) $(value "$work/d200.json" active_jobs)" = "0 0.75" ]

begin "folder of --out is missing" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy easy --out none/r.h5; status 5; no_out; files
err "cotenant: error: cannot write 'none/r.h5': folder 'none': No such file or directory"
begin "--out is a folder" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy easy --out "$work/here"; status 5; no_out
err "*Is a directory"
begin "folder of --csv is missing" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy easy --csv none/c; status 5; no_out
begin "stdout is full" sh -c "'$C' run --trace '$D/easy3.csv' --cluster 1x4 --policy easy >/dev/full"; status 5
err "cotenant: error: *standard output: No space left on device"
begin "stdout is full, json" sh -c "'$C' run --trace '$D/easy3.csv' --cluster 1x4 --policy easy --json >/dev/full"; status 5
begin "stdout is closed" sh -c "'$C' run --trace '$D/easy3.csv' --cluster 1x4 --policy easy --out r.h5 >&-"; status 5; files r.h5
rm -f "$H/r.h5"
cat >"$work/closed.sh" <<'S'
mkfifo pipe
"$@" >pipe 2>err & pid=$!
exec 3<pipe
exec 3<&-
wait $pid; echo "exit $?"; cat err >&2; rm -f pipe err
S
begin "the reader left before the result" sh "$work/closed.sh" "$C" run --trace "$D/jobs_10000.csv.gz" --cluster 32x8 --policy easy
out "exit 5"; err "cotenant: error: cannot write to standard output: Broken pipe"; files

# a file system without room
if [ "$(id -u)" = 0 ] && mkdir "$work/full" && mount -t tmpfs -o size=64k tmpfs "$work/full" 2>/dev/null; then
	trap 'umount "$work/full" 2>/dev/null; rm -rf "$work"' EXIT
	begin "disk is full, --out" "$C" run --trace "$D/jobs_10000.csv.gz" --cluster 32x8 --policy fifo --out "$work/full/r.h5"
	status 5; err "cotenant: error: *r.h5*"; that [ -z "$(ls -A "$work/full")" ]
	begin "disk is full, --csv" "$C" run --trace "$D/jobs_10000.csv.gz" --cluster 32x8 --policy fifo --csv "$work/full/c"
	status 5; err "*No space left on device*"; that [ -z "$(find "$work/full" -type f)" ]
	begin "disk is full, import" "$C" trace import "$D/jobs_10000.csv.gz" --out "$work/full/t.csv"
	status 5; that [ -z "$(find "$work/full" -type f)" ]
	end_case
	umount "$work/full"
else
	skip "disk is full" "cannot mount a small tmpfs"
fi

# Ctrl-C: the first time the progress line shows up, the run is under way
cat >"$work/interrupt.sh" <<'S'
"$@" >out 2>err & pid=$!
while ! grep -q 'running' err 2>/dev/null; do
	kill -0 $pid 2>/dev/null || break
done
kill -INT $pid; wait $pid; echo "exit $?"; cat out; cat err >&2; rm -f out err
S
# A long enough run: each job of this file twenty times over.
zcat "$D/jobs_10000.csv.gz" | awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) k[$i] = i; print; next }
	{ id = $k["job_id"]; for (i = 0; i < 30; i++) { $k["job_id"] = id "_" i; print } }' >"$work/long.csv"
begin "Ctrl-C" bash "$work/interrupt.sh" "$C" run --trace "$work/long.csv" --cluster 32x8 --policy easy --progress=always --out p.h5
out "exit 130"; out "PARTIAL *"; err "cotenant: stopped by a signal*"; files p.h5
rm -f "$H/p.h5"
begin "Ctrl-C, json" bash "$work/interrupt.sh" "$C" run --trace "$work/long.csv" --cluster 32x8 --policy easy --progress=always --json
out "exit 130"; out '*"partial": true*'; files

begin "progress always" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy easy --progress=always; status 0
begin "progress never" "$C" run --trace "$D/easy3.csv" --cluster 1x4 --policy easy --progress=never; status 0
that [ "$(wc -l <"$work/err")" = 1 ]

# Jobs without GPUs beside one that waits: c and d overtake b and move nothing. Typed
# GPUs, since these are counted apart.
cat >"$work/cpu.csv" <<'END'
job_id,submit_time,num_gpus,duration,num_cpus
a,0,4,100,1
b,1,4,100,1
c,2,0,50,1
d,3,0,500,1
END
cat >"$work/cpu.yaml" <<'END'
trace: {file: cpu.csv}
cluster:
  node_types:
    - {count: 1, gpus: 4, gpu_type: a, cpus: 4}
    - {count: 1, gpus: 1, gpu_type: b, cpus: 2}
END
for p in count pack pool; do
	begin "easy, jobs without GPUs, $p" "$C" run "$work/cpu.yaml" --policy easy --set policy.placement=$p; status 0
	out "jobs_finished * 4 *"; out "makespan_s * 503.000 s *"
	begin "easy, jobs without GPUs, $p, one node" "$C" run --trace "$work/cpu.csv" --cluster 1x4 --policy easy --set policy.placement=$p --csv cpu; status 0
	that [ "$(cut -d, -f1,7,9 "$work/here/cpu/jobs.csv" | paste -s -d' ')" = "job_id,starting_time,finish_time a,0,100 b,100,200 c,2,52 d,3,503" ]
	rm -rf "$work/here/cpu"
done

# data files
mkdir -p "$work/data/x"
cp "$D/easy3.csv" "$work/data/x/three.csv"
begin "COTENANT_DATA" env COTENANT_DATA="$work/data" "$C" run --trace data:x/three.csv --cluster 1x4 --policy easy; status 0
out "makespan_s * 310.000 s *"
begin "the demo, from elsewhere" "$C" run data:experiments/demo/demo.yaml --policy las; status 0; files
out "jobs_finished * 1010 *"

# two results
for p in fifo easy; do
	begin "run $p for compare" "$C" run "$root/experiments/demo/demo.yaml" --policy $p --out $p.h5; status 0
done
begin "compare" "$C" compare fifo.h5 easy.h5; status 0; no_err; out "*mean_jct_s*"
begin "compare, json" "$C" compare fifo.h5 easy.h5 --json; status 0; out '*"metric": "mean_jct_s"*"verdict": *'
[ -z "$python" ] || that json_is_valid "$work/out"
begin "compare, one is missing" "$C" compare fifo.h5 none.h5; status 5; no_out; err "*none.h5*"
head -c 3000 "$H/easy.h5" >"$H/cut.h5"
begin "compare, one is cut off" "$C" compare fifo.h5 cut.h5; status 5; no_out; err "*cut.h5*"
begin "compare, one is no result" "$C" compare fifo.h5 "$D/easy3.csv"; status 5; no_out; err "*easy3.csv*"
end_case
rm -f "$H"/*.h5

# the same file, byte for byte
begin "no-perf, once" "$C" run "$root/experiments/demo/demo.yaml" --no-perf --out a.h5; status 0
begin "no-perf, twice" "$C" run "$root/experiments/demo/demo.yaml" --no-perf --out b.h5; status 0; that cmp "$H/a.h5" "$H/b.h5"
end_case
rm -f "$H"/*.h5

# traces
begin "trace info" "$C" trace info "$D/jobs_1000_le8.csv.gz" --cluster 8x8; status 0; no_err
out "rows * 1000 read, 1000 kept"; out "offered load *"; out "duration s *"; out "largest job *"
printf 'who,when,long,much\n1,5,100,2\n2,65,300,1\n' >"$work/names.csv"
begin "trace info, other names" "$C" trace info "$work/names.csv" --cluster 1x10 --set trace.columns.job_id=who \
	--set trace.columns.submit_time=when --set trace.columns.duration=long --set trace.columns.num_gpus=much
status 0; no_err; out "offered load *0.8333 of 10 GPUs*"; out "largest job *'1': 2 GPUs for 100 s"
begin "trace info, a column that is not there" "$C" trace info "$work/names.csv" --set trace.columns.job_id=whom; status 4; no_out
begin "import to h5" "$C" trace import "$D/jobs_1000_le8.csv.gz" --out t.h5; status 0; no_out; files t.h5
begin "import to csv" "$C" trace import t.h5 --out t.csv; status 0; files t.csv t.h5
for f in "$D/jobs_1000_le8.csv.gz" t.h5 t.csv; do
	begin "replay $f" "$C" run --trace "$f" --cluster 8x8 --policy fifo --json; status 0
	grep '"digest"' "$work/out" >>"$work/digests"
done
begin "one digest for the three forms" sort -u "$work/digests"; that [ "$(wc -l <"$work/out")" = 1 ]
finish
