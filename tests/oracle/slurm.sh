#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# experiments/slurm/array.sbatch on a real Slurm: one node on the loopback device with its
# own munged, slurmctld and slurmd, which end with this script. A sweep goes through it as
# an array of three tasks, one of which is killed at work and submitted again alone; merged,
# the bytes are those of one local run. Skips where Slurm is not there or does not start.
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
root=$PWD
C=${COTENANT:-build/release/cotenant}
case $C in /*) ;; *) C=$root/$C ;; esac
plugin=${PLUGIN_DIR:-$root/build/release}/tests/unit/plugins/misbehave.so
skip() { echo "skipped: $*"; exit 77; }
fail() {
	echo "FAIL $*"
	for f in "$D"/*.log "$D"/slurm-*.out; do [ ! -s "$f" ] || { echo "--- $f"; tail -n 15 "$f"; }; done
	exit 1
}
PATH=$PATH:/usr/sbin:/sbin
for p in munged slurmctld slurmd sbatch squeue sinfo; do
	command -v $p >/dev/null || skip "$p is missing (packages slurm-wlm, munge)"
done
[ -x "$C" ] || { echo "no program '$C'"; exit 1; }
[ -e "$plugin" ] || skip "no plug-in '$plugin'"

D=$(mktemp -d) || exit 1
daemons=
end() {
	[ -z "$daemons" ] || kill $daemons 2>/dev/null
	sleep 0.3
	[ -z "$daemons" ] || kill -9 $daemons 2>/dev/null
	rm -rf "$D"
}
trap end EXIT
trap 'exit 130' INT TERM
mkdir "$D/state" "$D/spool" "$D/munge" && chmod 711 "$D" && chmod 755 "$D/munge"

# ---- the daemons

host=$(hostname -s 2>/dev/null || uname -n)
user=$(id -un)
free_port() { # one that nobody listens on
	local p
	for p in $(awk -v s="$1$$" 'BEGIN { srand(s); for (i = 0; i < 50; i++) print 20000 + int(rand() * 12000) }'); do
		(exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null || { echo "$p"; return; }
	done
}
head -c 1024 /dev/urandom >"$D/munge/key" && chmod 600 "$D/munge/key"
munged --foreground --force --key-file="$D/munge/key" --socket="$D/munge/socket" --pid-file="$D/munge/pid" \
	--log-file="$D/munge.log" --seed-file="$D/munge/seed" --num-threads=1 >"$D/munged.log" 2>&1 &
daemons=$!
cat >"$D/slurm.conf" <<END
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port 1)
SlurmdPort=$(free_port 2)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$D/munge/socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=50000,batch_sched_delay=1,default_queue_depth=10
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=2
InactiveLimit=0
SlurmdTimeout=60
SlurmdParameters=config_overrides
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd.pid
SlurmctldLogFile=$D/slurmctld.log
SlurmdLogFile=$D/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$D/slurm.conf
for t in 1 2 3 4 5 6 7 8 9 10; do [ -S "$D/munge/socket" ] && break; sleep 0.3; done
[ -S "$D/munge/socket" ] || skip "munged does not start: $(tail -n 1 "$D/munged.log" "$D/munge.log" 2>/dev/null | tail -n 1)"
slurmctld -D >"$D/out.log" 2>&1 &
daemons="$daemons $!"
slurmd -D -N "$host" >>"$D/out.log" 2>&1 &
daemons="$daemons $!"
up=
for ((t = 0; t < 40; t++)); do
	case $(sinfo -h -o %T 2>/dev/null) in idle | mixed) up=1; break ;; esac
	sleep 0.5
done
[ -n "$up" ] || skip "Slurm does not start here: $(grep -h 'error\|fatal' "$D"/slurm*.log 2>/dev/null | tail -n 1)"

# ---- the sweep

mkdir "$D/here" && cd "$D/here" || exit 1
cp "$plugin" misbehave.so
cat >sweep.yaml <<END
generate: {kind: testbed, days: 0.1, load: 1.2}
cluster: {nodes: 8}
policy: {name: misbehave.so, how: [slow, nothing]}
sweep: {runs: 18}
END
"$C" sweep sweep.yaml -j 2 --out local >/dev/null 2>local.err || fail "the local run: $(tail -n 1 local.err)"

submit() { # ARRAY: prints the job's number
	COTENANT=$C SWEEP=$D/here/sweep.yaml PARTS=3 OUT=$D/here/out sbatch --parsable --array="$1" --chdir="$D/here" \
		--output="$D/slurm-%a.out" "$root/experiments/slurm/array.sbatch"
}
finished() { # FOLDER: how many cells
	find "out/$1/cells" -mindepth 1 -maxdepth 1 -name '[0-9a-f]*' 2>/dev/null | grep -c .
}
drain() { # until nothing is queued or running
	for ((t = 0; t < 200; t++)); do
		[ -n "$(squeue -h 2>/dev/null)" ] || return 0
		sleep 0.2
	done
	fail "jobs are left after 40 s: $(squeue -h)"
}

job=$(submit 1-3) || fail "sbatch: $job"
for ((t = 0; t < 400; t++)); do # its first cell is there, its last is not
	[ "$(finished part-3)" -ge 1 ] && break
	sleep 0.05
done
pid=
for p in $(grep -la "$D/here/out/part-3" /proc/[0-9]*/cmdline 2>/dev/null); do
	p=${p%/cmdline}
	[ "$(readlink "$p/exe")" = "$(readlink -f "$C")" ] && pid="$pid ${p#/proc/}"
done
parent= # the one whose parent is none of them
for p in $pid; do
	case " $pid " in *" $(cut -d' ' -f4 "/proc/$p/stat" 2>/dev/null) "*) ;; *) parent=$p ;; esac
done
[ -n "$parent" ] && kill -9 "$parent" || fail "no process of task 3 to kill"
drain
before=$(finished part-3)
[ "$before" -ge 1 ] && [ "$before" -lt 12 ] || fail "task 3 was not killed at work: $before of its 12 cells are finished"
[ ! -e out/part-3/runs.csv ] || fail "a killed task has written its table"
[ -e out/part-1/runs.csv ] && [ -e out/part-2/runs.csv ] || fail "tasks 1 and 2 have not finished"
"$C" sweep merge out/part-1 out/part-2 out/part-3 --out out/early >/dev/null 2>early.err
[ $? = 1 ] && grep -q "of 36 cells are not in these folders" early.err || fail "a merge without the killed task's cells"
stamp=$(stat -c %Y.%i out/part-3/cells/*/summary.csv | sort)

job=$(submit 3) || fail "sbatch: $job"
drain
[ "$(finished part-3)" = 12 ] || fail "task 3 again: $(finished part-3) of its 12 cells are finished"
grep -q "36 cells, not all here: $before finished before, $((12 - before)) to run" "$D/slurm-3.out" || fail "task 3 did not resume"
for s in $stamp; do # what was there was kept
	stat -c %Y.%i out/part-3/cells/*/summary.csv | grep -qx "$s" || fail "a finished cell was run again"
done
"$C" sweep merge out/part-1 out/part-2 out/part-3 --out out/all >merged.txt 2>merged.err || fail "merge: $(tail -n 1 merged.err)"
cmp out/all/runs.csv local/runs.csv || fail "runs.csv differs from the local run's"
cmp out/all/sweep.h5 local/sweep.h5 || fail "sweep.h5 differs from the local run's"
[ "$(wc -l <out/all/runs.csv)" = 37 ] || fail "not 36 cells"
echo "Slurm $(slurmctld -V | cut -d' ' -f2): array of 3, task 3 killed after $before of 12 cells, resumed, merged: 36 cells, the local run's bytes"
