#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `sweep`: which cells there are, and the same bytes from any number of workers and shards.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
. tests/cli/sweep_harness
python=
for p in /usr/bin/python3 python3; do
	[ -n "$python" ] || { command -v $p >/dev/null && python=$p; }
done
cp "$root/tests/data/conformance/jobs_1000_le8.csv.gz" "$H/jobs.csv.gz"
cp "$root/tests/data/conformance/easy3.csv" "$H/easy3.csv"

# ---- which cells

cat >"$H/grid.yaml" <<END
trace:
  file: jobs.csv.gz
  load: [0.5, 0.9]
cluster: {nodes: 8}
policy: {name: [fifo, easy]}
sweep: {runs: 3, initial_seed: 7}
END
begin "product" "$C" sweep grid.yaml -j 1 --out grid; status 0
out "trace.load  policy.name  runs *"; out "0.5         fifo            3 *"; err "cotenant: 12 cells: 0 finished before, 12 to run"
that [ "$(axes grid trace.load policy.name sim.seed)" = "0.5 fifo 7;0.5 fifo 8;0.5 fifo 9;0.5 easy 7;0.5 easy 8;0.5 easy 9;0.9 fifo 7;0.9 fifo 8;0.9 fifo 9;0.9 easy 7;0.9 easy 8;0.9 easy 9;" ]
that [ "$(column grid/runs.csv cell | tr '\n' ' ')" = "1 2 3 4 5 6 7 8 9 10 11 12 " ]
that [ "$(rows grid/failed.csv)" = 0 ]; that [ "$(rows grid/perf.csv)" = 12 ]

# A cell alone is what `run` gives of the same configuration.
hash=$(column grid/runs.csv hash | sed -n 10p)
begin "a cell repeats" "$C" run "grid/cells/$hash/config.yaml" --json; status 0
that grep -q "\"digest\": \"$(column grid/runs.csv digest | sed -n 10p)\"" "$work/out"
begin "as run without a sweep" "$C" run --trace jobs.csv.gz --set trace.load=0.9 --set cluster.nodes=8 --policy easy --seed 7 --json; status 0
that grep -q "\"digest\": \"$(column grid/runs.csv digest | sed -n 10p)\"" "$work/out"

begin "not twice into one folder" "$C" sweep grid.yaml --out grid; status 2; no_out
err "cotenant: error: 'grid' has 12 finished cells: --resume keeps them, --out names another folder"
cp -r "$H/grid" "$H/kept"
begin "resume of what is finished" "$C" sweep grid.yaml --out grid --resume; status 0
err "cotenant: 12 cells: 12 finished before, 0 to run"; that same grid kept

cat >"$H/zip.yaml" <<END
trace: {file: easy3.csv}
cluster: {nodes: [1, 2, 3], gpus_per_node: [8, 4, 2]}
policy: {name: [fifo, easy]}
sweep:
  zip: [[cluster.nodes, cluster.gpus_per_node]]
  exclude:
    - {cluster.nodes: 2, policy.name: easy}
    - {cluster.gpus_per_node: [2.0, 99], policy.name: fifo}
END
begin "zip and exclude" "$C" sweep zip.yaml --out zip; status 0
that [ "$(axes zip cluster.nodes cluster.gpus_per_node policy.name)" = "1 8 fifo;1 8 easy;2 4 fifo;3 2 easy;" ]

cat >"$H/cells.yaml" <<END
trace: {file: easy3.csv}
cluster: {nodes: 1, gpus_per_node: 4}
policy: {name: fifo}
sim: {seed: [1, 2]}
sweep:
  cells: [{policy.name: easy, policy.placement: pack}, {policy.name: sjf}, {cluster.gpus_per_node: 8}]
END
begin "explicit cells" "$C" sweep cells.yaml --out cells --json; status 0
that [ "$(axes cells policy.name policy.placement cluster.gpus_per_node sim.seed)" = "easy pack  1;easy pack  2;sjf   1;sjf   2;  8 1;  8 2;" ]
# easy3.csv by hand (tests/data/conformance/README.md): 172.333 s under easy on 4 GPUs
that awk "BEGIN { x = $(column cells/runs.csv mean_jct_s | head -n 1); exit !(x > 172.333 && x < 172.334) }"
[ -z "$python" ] || that "$python" -m json.tool "$work/out" "$work/json"

# ---- what is wrong with a sweep

bad() { # NAME YAML MESSAGE
	printf "%b" "$2" >"$H/bad.yaml"
	begin "$1" "$C" sweep bad.yaml --out bad; status "${4-3}"; no_out; err "$3"; that [ ! -e "$H/bad/runs.csv" ]
}
ok='trace: {file: easy3.csv}\ncluster: {nodes: 1}\npolicy: {name: [fifo, easy]}\n'
bad "empty axis" "sim: {seed: []}\n" "cotenant: error: bad.yaml:1:13: axis 'sim.seed' has no value"
bad "list of lists" "sim: {seed: [[1]]}\n" "cotenant: error: bad.yaml:1:14: 'sim.seed' wants single values in its list, got a list"
bad "unknown key of sweep" "${ok}sweep: {rusn: 3}\n" "cotenant: error: bad.yaml:4:9: unknown key 'sweep.rusn'; did you mean 'runs'?"
bad "runs and seeds" "${ok}sim: {seed: 4}\nsweep: {runs: 3}\n" "cotenant: error: bad.yaml:4:13: 'sim.seed' and 'sweep.runs' exclude each other*"
bad "zip of unequal lists" "${ok}sim: {seed: [1, 2, 3]}\nsweep: {zip: [[policy.name, sim.seed]]}\n" \
	"cotenant: error: bad.yaml:5:29: zipped axes want lists of equal length: 'policy.name' has 2, 'sim.seed' has 3"
bad "zip of no axis" "${ok}sweep: {zip: [[policy.name, sim.sede]]}\n" "*'sweep.zip': 'sim.sede' is no axis*"
bad "exclude of no axis" "${ok}sweep: {exclude: [{policy.nam: fifo}]}\n" "cotenant: error: bad.yaml:4:20: 'sweep.exclude': 'policy.nam' is no axis; did you mean 'policy.name'?"
bad "exclude of nothing" "${ok}sweep: {exclude: [{policy.name: fofo}]}\n" "cotenant: error: bad.yaml:4:19: 'sweep.exclude': no cell has these values"
bad "exclude of all" "${ok}sweep: {exclude: [{policy.name: [fifo, easy]}]}\n" "cotenant: error: every cell is excluded"
bad "baseline of no axis" "${ok}sweep: {baseline: {policy.nam: fifo}}\n" "cotenant: error: bad.yaml:4:20: 'sweep.baseline': 'policy.nam' is no axis"
bad "baseline of no cell" "${ok}sweep: {baseline: {policy.name: las}}\n" "cotenant: error: bad.yaml:4:33: 'sweep.baseline': no cell has this value"
bad "the same cell twice" "trace: {file: easy3.csv}\ncluster: {nodes: 1}\npolicy: {name: [fifo, easy, fifo]}\n" \
	"cotenant: error: cells 1 and 3 are the same configuration*"
bad "key that no cell can have" "${ok}clutser: {nodes: 3}\n" "cotenant: error: bad.yaml:4:1: unknown section 'clutser'*"
bad "trace that is not there" "trace: {file: none.csv}\ncluster: {nodes: 1}\npolicy: {name: [fifo, easy]}\n" "cotenant: error: *none.csv*" 5
begin "set of an axis" "$C" sweep grid.yaml --out bad --set policy.name=las; status 2; err "*the sweep has an axis of that name"
begin "set" "$C" sweep zip.yaml --out set --set sim.seed=5; status 0; that [ "$(rows set/runs.csv)" = 4 ]

# A value that some cells cannot have costs these cells alone.
printf "%b" "trace: {file: [easy3.csv, none.csv]}\ncluster: {nodes: 1}\npolicy: {name: [fifo, easy], residents: [1, 0]}\n" >"$H/some.yaml"
begin "some cells cannot be" "$C" sweep some.yaml --out some; status 1
that [ "$(rows some/runs.csv)" -ge 1 ]; that [ $(($(rows some/runs.csv) + $(rows some/failed.csv))) = 8 ]
err "cotenant: warning: * of 8 cells failed: 'some/failed.csv' has all of them"

# ---- seeds mean other arrivals, and the same under all policies

cat >"$H/seeds.yaml" <<END
generate: {kind: testbed, days: 0.3, load: 1.3}
cluster: {nodes: 8}
policy: {name: [fifo, las, easy]}
sweep: {runs: 4, metrics: [mean_jct_s, offered_load]}
END
begin "common random numbers" "$C" sweep seeds.yaml -j 2 --out seeds --json; status 0
that [ "$(axes seeds sim.seed offered_load | tr ';' '\n' | sort -u | grep -c .)" = 4 ]
that [ "$(column seeds/runs.csv offered_load | sort -u | grep -c .)" = 4 ]
that [ "$(column seeds/runs.csv digest | sort -u | grep -c .)" = 12 ]
that [ "$(column seeds/runs.csv jobs_rejected | sort -u)" = 0 ]
begin "of one worker" "$C" sweep seeds.yaml -j 1 --out seeds1 --json; status 0; that same seeds seeds1
begin "of many workers" "$C" sweep seeds.yaml -j 7 --out seeds7 --json; status 0; that same seeds seeds7
# Student's t by hand: t(0.975, 3) = 3.182446
if [ -n "$python" ]; then
	cat >"$work/interval.py" <<'END'
import csv, json, math, sys
rows = list(csv.DictReader(open(sys.argv[1])))
groups = {g["policy.name"]: g for g in json.load(open(sys.argv[2]))["groups"]}
assert set(groups) == {"fifo", "las", "easy"}
for name, g in groups.items():
    v = [float(r["mean_jct_s"]) for r in rows if r["policy.name"] == name]
    m = sum(v) / 4
    half = 3.182446305284263 * math.sqrt(sum((x - m) ** 2 for x in v) / 3) / 2
    e = g["mean_jct_s"]
    assert g["n"] == 4 and len(v) == 4
    for got, wanted in ((e["mean"], m), (e["lo"], m - half), (e["hi"], m + half)):
        assert abs(got - wanted) < 1e-8 * abs(m), (name, got, wanted)
# pairs with the baseline fifo: by seed
of = {(r["policy.name"], r["sim.seed"]): float(r["mean_jct_s"]) for r in rows}
pairs = [p for p in json.load(open(sys.argv[2]))["pairs"] if p["metric"] == "mean_jct_s"]
assert sorted(p["policy.name"] for p in pairs) == ["easy", "las"]
for p in pairs:
    d = [of[p["policy.name"], s] - of["fifo", s] for s in "1234"]
    m = sum(d) / 4
    half = 3.182446305284263 * math.sqrt(sum((x - m) ** 2 for x in d) / 3) / 2
    for got, wanted in ((p["diff"], m), (p["lo"], m - half), (p["hi"], m + half)):
        assert abs(got - wanted) <= 1e-8 * abs(m), (p, got, wanted)
    assert m != 0 and half > 0
    assert p["verdict"] == ("a lower" if m - half > 0 else "b lower" if m + half < 0 else "no difference shown")
END
	begin "interval over seeds" "$C" sweep seeds.yaml --out seeds --resume --baseline policy.name=fifo --json; status 0
	that "$python" "$work/interval.py" "$H/seeds/runs.csv" "$work/out"
	if "$python" -c 'import h5py' 2>/dev/null; then
		cat >"$work/h5.py" <<'END'
import csv, h5py, math, sys
f = h5py.File(sys.argv[1] + "/sweep.h5")
rows = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
assert f.attrs["format"] == "cotenant-sweep" and f.attrs["complete"] == 1
assert list(f) == ["runs"] and set(f["runs"]) == set(rows[0])
for key in rows[0]:
    for got, text in zip(f["runs"][key][:], (r[key] for r in rows)):
        if isinstance(got, bytes):
            assert got.decode() == text, key
        else:
            assert math.isnan(got) if text == "" else got == float(text), key
END
		begin "sweep.h5" "$python" "$work/h5.py" seeds; status 0
	else
		skip "sweep.h5" "h5py is missing"
	fi
else
	skip "interval over seeds" "python3 is missing"
fi
# Elsewhere, under other names: the same cells.
mkdir -p "$H/deep/er"
sed 's/jobs.csv.gz/other.csv.gz/' "$H/grid.yaml" >"$H/deep/er/renamed.yaml"
cp "$H/jobs.csv.gz" "$H/deep/er/other.csv.gz"
begin "another folder" "$C" sweep deep/er/renamed.yaml --out moved; status 0; that same grid moved
that [ "$(cd "$H/grid/cells" && echo *)" = "$(cd "$H/moved/cells" && echo *)" ]
# An edited input makes other cells.
gzip -dc "$H/jobs.csv.gz" | sed '$d' | gzip -n >"$H/deep/er/other.csv.gz"
begin "another trace" "$C" sweep deep/er/renamed.yaml --out moved --resume; status 0
err "cotenant: 12 cells: 0 finished before, 12 to run"

# ---- shards

for i in 1 2 3; do
	begin "shard $i of 3" "$C" sweep seeds.yaml --shard $i/3 --out "part$i"; status 0
done
begin "merge" "$C" sweep merge part3 part1 part2 --out merged; status 0
that cmp "$H/merged/runs.csv" "$H/seeds/runs.csv"; that cmp "$H/merged/sweep.h5" "$H/seeds/sweep.h5"
that [ "$(($(rows part1/runs.csv) + $(rows part2/runs.csv) + $(rows part3/runs.csv)))" = 12 ]
begin "merge of a part" "$C" sweep merge part1 part3 --out merged2; status 1; err "cotenant: warning: * of 12 cells are not in these folders*"
begin "merge of two sweeps" "$C" sweep merge part1 grid --out merged3; status 3; err "*grid/plan.csv:1*: belongs to another sweep than the folders before"
begin "merge of no sweep" "$C" sweep merge deep --out merged3; status 5
begin "slurm's array" env SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_STEP=1 "$C" sweep seeds.yaml --shard auto --out array; status 0; that same array part3
begin "slurm's array, one task again" env SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_COUNT=1 "$C" sweep seeds.yaml --shard auto/3 --out array2; status 0; that same array2 part2
begin "kubernetes' index" env JOB_COMPLETION_INDEX=0 "$C" sweep seeds.yaml --shard auto/3 --out array1; status 0; that same array1 part1
begin "kubernetes' index without a number" env JOB_COMPLETION_INDEX=0 "$C" sweep seeds.yaml --shard auto --out array4; status 2
begin "no array" "$C" sweep seeds.yaml --shard auto --out array4; status 2
for s in 0/3 4/3 1 a/b 1/0 /; do
	begin "shard $s" "$C" sweep seeds.yaml --shard $s --out array4; status 2; no_out
done

# ---- the rest

begin "results kept" "$C" sweep grid.yaml --out results --only 1 --set sim.events=false; status 0; no_out
cat >"$H/keep.yaml" <<END
trace: {file: easy3.csv}
cluster: {nodes: 1, gpus_per_node: 4}
policy: {name: [fifo, easy]}
sweep: {results: true}
END
begin "results" "$C" sweep keep.yaml --out keep; status 0
that [ "$(find "$H/keep/cells" -name run.h5 | grep -c .)" = 2 ]
begin "compare of cells" "$C" compare $(cd "$H" && echo keep/cells/*/run.h5); status 0
begin "progress" "$C" sweep keep.yaml --out keep2 --progress always; status 0; err "sweeping \[*\] * of 2 cells, */s, * left"
begin "nothing to do" "$C" sweep; status 2
begin "merge without a folder" "$C" sweep merge --out x; status 2
finish
