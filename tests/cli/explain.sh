#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `explain` on traces whose stories are known by hand; every number below is derived
# beside its trace.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work
H=$work/here
run() { "$C" run "$@" >/dev/null 2>&1; }

# 4 GPUs. big holds 3 from 0 to 100. wide (4 GPUs) waits from 10 on, runs 100 to 150. Under
# fifo small waits behind it, then for a GPU; both small and late start at 150.
cat >"$work/a.csv" <<'S'
job_id,submit_time,num_gpus,duration,model
big,0,3,100,A
wide,10,4,50,B
small,20,1,200,C
late,30,1,10,A
S
(cd "$H" && run --trace "$work/a.csv" --cluster 1x4 --policy fifo --out "$work/fifo.h5")
begin "fifo: a gang" "$C" explain "$work/fifo.h5" --job wide; status 0; no_err
out "job * wide, B, 4 GPUs"; out "policy * fifo"
out "JCT * 140.000 s, 2.800 times the 50.000 s it would have run alone"
out "*10.000 *100.000 *90.000 *waits: GPUs wanted at once: 4, idle: 1"
out "*100.000 *150.000 *50.000 *runs on GPUs 0-3 of node 0, alone"
out "waiting in the queue * 90.000 * 64.3"; out "running, as if alone * 50.000 * 35.7"; out "total * 140.000 *"
begin "fifo: behind others" "$C" explain "$work/fifo.h5" --job late; status 0
out "*30.000 *100.000 *70.000 *waits: behind 'wide' in the order (GPUs wanted at once: 4, idle: 1)"
out "*100.000 *150.000 *50.000 *waits: behind 'small' in the order (GPUs wanted at once: 1, idle: 0)"
out "*150.000 *160.000 *10.000 *runs on GPU 1 of node 0, alone"
begin "fifo: at once" "$C" explain "$work/fifo.h5" --job big; status 0
out "JCT * 100.000 s, 1.000 times *"; out "*0.000 *100.000 *runs on GPUs 0-2 of node 0, alone"
that [ "$(grep -c waits "$work/out")" = 0 ]

# easy: late (10 s) ends before wide's shadow time, 100; small (200 s) does not.
(cd "$H" && run --trace "$work/a.csv" --cluster 1x4 --policy easy --out "$work/easy.h5")
begin "easy: the reservation" "$C" explain "$work/easy.h5" --job small; status 0
out "*20.000 *100.000 *80.000 *waits: fits, but its estimate is 200 s, and its GPUs are promised to 'wide' in 80 s"
begin "easy: backfilled" "$C" explain "$work/easy.h5" --job late; status 0
out "*30.000 * 40.000 *10.000 *runs on GPU 3 of node 0, alone"

# One GPU for two. a keeps half its speed beside b, b three quarters beside a: b does its
# 30 s in 40, from 10 to 50; a has then done 10 + 20 s of its 100 and ends at 120.
cat >"$work/b.csv" <<'S'
job_id,submit_time,num_gpus,duration,model
a,0,1,100,A
b,10,1,30,B
S
printf 'model,partner,factor\nA,B,0.5\nB,A,0.75\n' >"$work/pairs.csv"
(cd "$H" && run --trace "$work/b.csv" --cluster 1x1 --policy fifo --set policy.residents=2 --set "contention.pairs=$work/pairs.csv" --out "$work/pair.h5")
begin "beside another" "$C" explain "$work/pair.h5" --job a; status 0
out "*0.000 * 10.000 *10.000 *runs on GPU 0 of node 0, alone"
out "*10.000 * 50.000 *40.000 *runs on GPU 0 of node 0, beside 'b' (B): slow-down 2.000"
out "*50.000 *120.000 *70.000 *runs on GPU 0 of node 0, alone"
out "running, as if alone * 100.000 *"; out "slowed by others on its GPUs * 20.000 *"; out "total * 120.000 * 100.0"
begin "the other one" "$C" explain "$work/pair.h5" --job b; status 0
out "*10.000 * 50.000 *40.000 *runs on GPU 0 of node 0, beside 'a' (A): slow-down 1.333"
begin "sharing is free" "$C" run --trace "$work/b.csv" --cluster 1x1 --policy fifo --set policy.residents=2 --out "$work/free.h5"; status 0
begin "sharing is free, told all the same" "$C" explain "$work/free.h5" --job a; status 0
out "*10.000 * 40.000 *30.000 *runs on GPU 0 of node 0, beside 'b' (B): slow-down 1.000"

# Shortest remaining time first, a resume costs 3 s: long runs 0 to 10, waits for short
# until 15, resumes until 18 and has 90 s to do.
cat >"$work/c.csv" <<'S'
job_id,submit_time,num_gpus,duration
long,0,1,100
short,10,1,5
S
(cd "$H" && run --trace "$work/c.csv" --cluster 1x1 --policy srtf --set transitions.resume=3 --out "$work/srtf.h5")
begin "preempted" "$C" explain "$work/srtf.h5" --job long; status 0
out "*0.000 * 10.000 *10.000 *runs on GPU 0 of node 0, alone"
out "*10.000 *gave its GPUs back, to the queue"; out "*10.000 *gave way to jobs that rank before it, first of them 'short'"
out "*10.000 * 15.000 *5.000 *waits: *"
out "*15.000 * 18.000 *3.000 *starts on GPU 0 of node 0"; out "*18.000 *108.000 *90.000 *runs on GPU 0 of node 0, alone"
out "waiting in the queue * 5.000 *"; out "starting * 3.000 *"; out "running, as if alone * 100.000 *"; out "total * 108.000 *"

# Volcano: 1.2 x 4 - 4 GPUs leave 0.8 in the gate's budget; second passes it at 100, may be
# placed a cycle later.
cat >"$work/d.csv" <<'S'
job_id,submit_time,num_gpus,duration
first,0,4,99
second,10,2,10
S
(cd "$H" && run --trace "$work/d.csv" --cluster 1x4 --policy volcano --out "$work/volcano.h5")
begin "volcano: the gate" "$C" explain "$work/volcano.h5" --job second; status 0
out "*10.000 *waits: not admitted; GPUs asked for: 2, left in the budget of the enqueue gate: 0"

begin "json" "$C" explain "$work/pair.h5" --job a --json; status 0
out '  "jct_s": 120,'
out '*"what": "run", "from_s": 10, "to_s": 50, "gpus": "0", *"beside": "b", *"slowdown": 2, "predicted": null, *'
out '    {"part": "slowed by others on its GPUs", "s": 20}'

# Decisions are no part of the result: the digest is the same without.
digest() { "$C" run --trace "$work/$1.csv" --cluster 1x1 --policy srtf --set sim.decisions="$2" --out "$work/x.h5" 2>/dev/null | sed -n 's/^digest *//p'; }
with=$(digest c true) without=$(digest c false)
begin "no decisions kept" "$C" explain "$work/x.h5" --job long; status 3; no_out
err "cotenant: error: the result keeps no decisions: run it again with sim.decisions=true"
that [ -n "$with" ]; that [ "$with" = "$without" ]
begin "unknown job" "$C" explain "$work/fifo.h5" --job smal; status 2; no_out
err "cotenant: error: the result has no job 'smal'; did you mean 'small'?"
begin "no job" "$C" explain "$work/fifo.h5"; status 2; no_out; err "*which job? give --job ID"
begin "no result" "$C" explain --job a; status 2; no_out
begin "not a result" "$C" explain "$work/a.csv" --job a; status 5; no_out
# A profile run of 200 s that ends at the instant of the first start: not a wait.
printf 'job_id,submit_time,num_gpus,duration\na,0,1,1000\n' >"$W/profiled.csv"
begin "run with a profile" "$C" run --trace "$W/profiled.csv" --cluster 2x8 --policy lucid --out "$W/profiled.h5"; status 0
begin "a reserved node is no job" "$C" run --trace "$W/profiled.csv" --cluster 2x8 --policy lucid --set sim.events=true --csv "$W/events"; status 0
that grep -q '^0,reserve,,1,' "$W/events/events.csv"
begin "profile, then start" "$C" explain "$W/profiled.h5" --job a; status 0
out "* 0.000   200.000   200.000  profile run on GPU 8 of node 1"; out "*200.000  1200.000  1000.000  runs on GPU 0 of node 0, alone"
finish
