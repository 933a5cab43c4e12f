#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Failures through the program: files, laws, metrics, and a run without them.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
H=$work/here
cat >"$H/jobs.csv" <<'CSV'
job_id,submit_time,num_gpus,duration
a,0,2,100
b,0,1,300
CSV
cat >"$H/outages.csv" <<'CSV'
time,node,gpu,duration
50,0,1,30
CSV
cat >"$H/bad.csv" <<'CSV'
time,node,gpu,duration
5,0,7,30
5,9,,30
CSV
run() {
	label=$1
	shift
	begin "$label" "$C" run --trace jobs.csv --cluster 1x4 --policy fifo "$@"
}
digest() { sed -n 's/^digest *//p' "$work/out"; }

run "nothing fails"; status 0
calm=$(digest)
that [ -n "$calm" ]
run "keys without effect" --set failures.checkpoint=10 --set failures.restart=5; status 0
that [ "$(digest)" = "$calm" ]
that [ -z "$(grep availability "$work/out")" ]
# job a on GPUs 0 and 1 loses 10 s since its checkpoint at 40 s, starts on 0 and 3 in 5 s
run "a GPU fails" --set failures.file=outages.csv --set failures.checkpoint=40 --set failures.restart=5 --csv out; status 0
out "availability_frac            0.9750 *"
out "gpu_failures                      1 *"
out "failure_stops                     1 *"
out "failure_lost_gpu_s             20.0 *"
that grep -q '^a,.*,115,' "$H/out/jobs.csv"
that [ "$(digest)" != "$calm" ]
rm -r "$H/out"
run "by law, twice" --set failures.mtbf=400 --set failures.repair=20 --set failures.checkpoint=10 --seed 3; status 0
first=$(digest)
run "by law, again" --set failures.mtbf=400 --set failures.repair=20 --set failures.checkpoint=10 --seed 3; status 0
that [ "$(digest)" = "$first" ]
run "another seed" --set failures.mtbf=400 --set failures.repair=20 --set failures.checkpoint=10 --seed 4; status 0
that [ "$(digest)" != "$first" ]
run "a bad file" --set failures.file=bad.csv; status 3; no_out
err "cotenant: error: bad.csv:2:5: 'gpu' wants a whole number from 0 to 3, the last of its node, got '7'"
err "cotenant: error: bad.csv:3:3: 'node' wants a whole number from 0 to 0, the last of the cluster, got '9'"
run "no file" --set failures.file=none.csv; status 5; no_out
run "file and law" --set failures.file=outages.csv --set failures.mtbf=5; status 3; no_out
err "cotenant: error: 'failures.file' excludes 'failures.mtbf' and 'failures.gpu_mtbf'"
begin "check reads the file" "$C" check --trace jobs.csv --cluster 1x4 --policy fifo --set failures.file=bad.csv; status 3
begin "check comes to an end" "$C" check --trace jobs.csv --cluster 1x4 --policy fifo --set failures.mtbf=5; status 0
# what has no failures stands without the metrics, what has them with
begin "results with" "$C" run --trace jobs.csv --cluster 1x4 --policy fifo --set failures.file=outages.csv --out f.h5; status 0
begin "and without" "$C" run --trace jobs.csv --cluster 1x4 --policy fifo --out n.h5; status 0
begin "are compared" "$C" compare f.h5 n.h5; status 0
out "gpu_failures *1*-*"
rm "$H/f.h5" "$H/n.h5"
finish
