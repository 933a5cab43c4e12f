#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `calib import`: published forms made here, runs with what comes out, and the same
# file evaluated.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work

begin "import what" "$C" calib import; status 2; no_out; err "*'import' wants 'lucid DIR' or 'gavel FILE'*"
begin "import unknown form" "$C" calib import philly x --out y.h5; status 2; err "*'import' wants 'lucid DIR' or 'gavel FILE'*"
begin "import without --out" "$C" calib import lucid x; status 2; err "*'import' wants --out FILE.h5*"
begin "gavel wants a GPU" "$C" calib import gavel x --out y.h5; status 2; err "*'import gavel' wants --gpu NAME*"
begin "no such folder" "$C" calib import lucid "$W/none" --out y.h5; status 5; no_out; files

# Twelve configurations of two models. Everyone keeps half beside everyone, but the two
# largest did not run together, and M's smallest was never measured beside N's.
awk 'BEGIN {
	print "gpu,job_a,scale_a,job_b,scale_b,alone_a,alone_b,packed_a,packed_b"
	for (i = 0; i < 12; i++)
		for (j = i; j < 12; j++) {
			if (i == 0 && j >= 6)
				continue
			a = (10 + i) * 4; b = (10 + j) * 4; keep = i == 5 && j == 11 ? 0 : .5
			printf "v100,%s (batch size %d),1,%s (batch size %d),1,%d,%d,%g,%g\n",
			       i < 6 ? "M" : "N", 2 ^ (i % 6), j < 6 ? "M" : "N", 2 ^ (j % 6), a, b, a * keep, b * keep
		}
}' >"$W/gavel.csv"
begin "gavel" "$C" calib import gavel "$W/gavel.csv" --gpu v100 --out "$W/v100.h5"; status 0; no_err
out "NVIDIA V100: 2 workloads, 12 configurations, 72 measured pairs"
out "1 pairs did not run together (throughput 0): kept with the slow-down 1000"
out "6 of 78 possible pairs were never measured: in runs 'contention' says what they cost (contention.fallback, 1 = nothing)"
out "Predictors that saw 30 % of the pairs, on the others"
out "mean *0.00 *"
begin "the same bytes again" "$C" calib import gavel "$W/gavel.csv" --gpu v100 --out "$W/again.h5" --json; status 0
out '*"possible_pairs": 78,*'
that cmp -s "$W/v100.h5" "$W/again.h5"
begin "another GPU" "$C" calib import gavel "$W/gavel.csv" --gpu k80 --out "$W/k80.h5"; status 3; no_out
err "*has no measured pair for GPU 'k80'"
begin "show" "$C" calib show "$W/v100.h5"; status 0
out "no model: 6 of 78 possible pairs were never measured; in runs 'contention' says what they cost"

# a, b: the defaults b32, which did not run together. c, d: half each, 200 s. e, f: never
# measured, so 0.8 of contention.fallback, 125 s.
head='job_id,submit_time,duration,num_gpus,model,config'
printf '%s\nc,0,100,1,M,b2\nd,0,100,1,N,b2\n' "$head" >"$W/half.csv"
printf '%s\ne,0,100,1,M,b1\nf,0,100,1,N,b1\n' "$head" >"$W/never.csv"
printf '%s\na,0,100,1,M,\nb,0,100,1,N,\n' "$head" >"$W/failed.csv"
run="--cluster 1x1 --policy fifo --set policy.residents=2 --set calib=$W/v100.h5 --set contention.fallback=0.8"
begin "measured pair" "$C" run --trace "$W/half.csv" $run; status 0; out "makespan_s * 200.000 s *"
begin "never measured" "$C" run --trace "$W/never.csv" $run; status 0; out "makespan_s * 125.000 s *"
begin "did not run together" "$C" run --trace "$W/failed.csv" $run; status 0; out "makespan_s * 100000.000 s *"

begin "curve" "$C" calib eval --calib "$W/v100.h5" --curve --seeds 1; status 0
out "Learning curve: 30 % of the pairs kept apart, a share of all pairs shown"; out " *20  mean *0.00 *"; out " *70  latent truth *"
head -n 9 "$W/gavel.csv" >"$W/few.csv"
begin "few pairs" "$C" calib import gavel "$W/few.csv" --gpu v100 --out "$W/few.h5"; status 0
out "too few pairs to keep any apart: no predictor was tried"
begin "curve of few" "$C" calib eval --calib "$W/few.h5" --curve; status 3; err "*wanted at least 8 and 1*"
begin "curve of what" "$C" calib eval --curve; status 2; err "*--curve is of measured pairs*"
begin "both" "$C" calib eval --calib a --pairs b --gpu c; status 2; err "*--calib and --pairs exclude each other*"
begin "eval the file" "$C" calib eval --calib "$W/v100.h5" --seeds 1; status 0; out "NVIDIA V100: 142 measured slow-downs, 1 seeds; 2 ignored"
out "by pair: '*' has the least MAPE*"; out "by model pair: fewer than 5 groups, left out"

# The real tables: what the specification counts.
data=${COTENANT_SHARED_DATA:-$root/../shared/data}
if [ -r "$data/lucid/colocate_info.csv" ]; then
	begin "lucid" "$C" calib import lucid "$data/lucid" --out "$W/lucid.h5"; status 0
	out "NVIDIA GeForce RTX 3090: 9 workloads, 50 configurations, 1091 measured pairs"
	out "left out, since their speed is 1 in every pair (not measured): PPO, TD3"
	out "left out, since no pair has them: BERT, ResNet50, Transformer"
else
	skip "lucid" "no '$data/lucid'"
fi
finish
