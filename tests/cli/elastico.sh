#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# elastico from the command line: what happens to a pair that no configuration makes safe.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work

# One GPU, two jobs that fit it together (12 + 16 GB), and a tolerance below every slow-down.
printf 'job_id,submit_time,num_gpus,duration,model\na,0,1,1000,LSTM\nb,5,1,1000,NCF\n' >"$W/two.csv"
run="run --trace $W/two.csv --cluster 1x1 --policy elastico --set cluster.gpu_mem_mib=40960
	--set calib.dir=data:calib/a100-40gb --set policy.tau_base=1 --set policy.beta_max=0 --set policy.cache_hit=1
	--set iac.predictor=oracle"
wait_of() { awk -F, -v job="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "queue_s") c = i; next } $1 == job { print $c }' "$W/$1/jobs.csv"; }

begin "violations wait" "$C" $run --csv "$W/wait" --out "$W/wait.h5"; status 0
that [ "$(wait_of wait a)" = 0 ]
that awk -v w="$(wait_of wait b)" 'BEGIN { exit !(w > 100) }'
begin "and say why" "$C" explain "$W/wait.h5" --job b; status 0; out "*waits: *tolerated*"
begin "violations applied" "$C" $run --csv "$W/apply" --set policy.violations=apply; status 0
that [ "$(wait_of apply a)" = 0 ]
that [ "$(wait_of apply b)" = 0 ]
# Nobody hosts anybody: switches go on without partners (once an endless loop).
begin "one resident a GPU" timeout 60 "$C" run "$root/experiments/paper/scenario.yaml" --policy elastico --set sim.residents=1 --json
status 0; out '*"jobs_left": 0,*'
# A gang among jobs of one GPU that come faster than they can run, and GPUs kept for it.
awk 'BEGIN { print "job_id,submit_time,num_gpus,duration,model"
	for (i = 0; i < 160; i++) print "s" i "," i * 30 ",1,600,LSTM"
	print "gang,610,8,600,LSTM" }' >"$W/stream.csv"
stream="run --trace $W/stream.csv --cluster 1x8 --policy elastico --set cluster.gpu_mem_mib=40960
	--set calib.dir=data:calib/a100-40gb --set policy.elastic=false"
begin "a gang starves" "$C" $stream --csv "$W/starves" --out "$W/starves.h5"; status 0
that awk -v w="$(wait_of starves gang)" 'BEGIN { exit !(w > 4800 - 610) }'
begin "by what numbers" "$C" explain "$W/starves.h5" --job gang; status 0
out "*every place would slow somebody down [1-9]*-fold, 1.[0-9]* is tolerated"
begin "not with patience" "$C" $stream --csv "$W/kept" --out "$W/kept.h5" --set policy.patience=900; status 0
that awk -v w="$(wait_of kept gang)" 'BEGIN { exit !(w >= 900 && w < 900 + 2 * 600) }'
begin "kept for it" "$C" explain "$W/kept.h5" --job gang; status 0; out "*8 GPUs are kept for it, as it has waited for 900 s"
begin "patience is a time" "$C" $stream --set policy.patience=-1; status 3; err "*policy.patience*"
# The table of effects has a study for each constant of the README's table.
begin "constants have studies" true; status 0
that python3 - "$root" <<'EOF'
import re, sys
root = sys.argv[1]
text = open(root + "/scheduler/elastico/README.md").read().split("## Constants", 1)[1].split("\n## ", 1)[0]
rows = [r.split("|")[1] for r in text.splitlines() if r.startswith("| `")]
names = [n for r in rows for n in re.findall("`([a-z_.]+)`", r)]
yaml = open(root + "/experiments/paper/published.yaml").read()
shown = yaml.split("- table: effects", 1)[1].split("variants:", 1)[0]
studies = dict(re.findall(r"^  ([\w.-]+): \{(.*)\}$", yaml.split("\nstudies:\n", 1)[1].split("\nfigures:\n", 1)[0], re.M))
keys = " ".join(studies[s] for s in re.findall(r"[\w.-]+", shown.split("studies:", 1)[1]))
missing = [n for n in names if not re.search(r"(^|[ {])(policy\.)?" + re.escape(n) + ":", keys)]
assert len(names) > 25 and not missing, missing
EOF
begin "no such reading" "$C" $run --set policy.violations=never; status 3; err "*policy.violations*wait*apply*"
finish
