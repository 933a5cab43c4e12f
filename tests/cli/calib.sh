#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `calib fit` and `calib show`, and runs with what they made.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work

begin "calib without an action" "$C" calib; status 2; no_out; files
begin "unknown action" "$C" calib fti; status 2; no_out; err "*did you mean 'fit'?"
begin "fit wants a file" "$C" calib fit; status 2; err "*'fit' wants --out FILE.h5"
begin "too many seeds" "$C" calib eval --seeds 50; status 2; no_out; err "*'eval' takes at most 20 --seeds, got 50"
begin "no figure of the fit" "$C" calib scenario --without table4.elastico.jct; status 3
err "*'table4.elastico.jct' is no figure of the fit"
begin "unknown mode" "$C" calib fit --solo s --pairs p --mode best --out x.h5; status 2; err "*--mode wants auto, counters*"
begin "show without files" "$C" calib show; status 0; no_err; files
out "LLaMA-3-7b *90 *28.0 *36.0 *"; out "NVIDIA A100-SXM4-40GB: 768 configurations, 0 measured pairs"
out "mean over the workloads of their mean SM activity: 0.254 *"
begin "show with files" "$C" calib show --out there; status 0
files there there/cdf.csv there/families.csv there/heatmap.csv
that [ "$(wc -l <"$W/here/there/families.csv")" -eq 769 ]
rm -r "$W/here/there"
begin "Table 6" "$C" calib fit --out "$W/a100.h5"; status 0; no_err
out "fitted: MAE of the decay 0.04* Spearman of pair means 0.9*"; out "one pair left out: MAE 0.08*"
out "Table 6 calibrates this model and does not validate it*"
begin "the same bytes again" "$C" calib fit --out "$W/again.h5" --json; status 0
that cmp -s "$W/a100.h5" "$W/again.h5"
begin "show a file" "$C" calib show "$W/a100.h5"; status 0; out "NVIDIA A100-SXM4-40GB: 768 configurations, 18 measured pairs"
begin "show no calibration" "$C" calib show "$root/README.md"; status 5; err "*is not a calibration file*"

# By hand: a keeps 0.5 and b 0.8 beside each other. b's 100 s take 125 s; then a has
# done 62.5 s and finishes alone at 162.5 s. Mean 143.75 s.
printf 'config_id,workload,type,throughput,throughput_sd\nca,wa,train,10,1\ncb,wb,train,20,1\n' >"$W/solo.csv"
printf 'config_i,config_j,thr_i_colo,thr_j_colo\nca,cb,5,16\n' >"$W/pairs.csv"
printf 'job_id,submit_time,duration,num_gpus,model\na,0,100,1,wa\nb,0,100,1,wb\n' >"$W/jobs.csv"
fit="calib fit --solo $W/solo.csv --pairs $W/pairs.csv"
begin "too few to fit" "$C" $fit --out "$W/my.h5"; status 3; no_out; err "*pairs.csv: 1 pairs are too few to fit, wanted at least 8*"
that [ ! -e "$W/my.h5" ]
begin "overrides" "$C" $fit --mode overrides --out "$W/my.h5"; status 0; out "unnamed, mode overrides: 2 configurations, 1 pairs"
run="run --trace $W/jobs.csv --cluster 1x1 --policy fifo --set policy.residents=2"
begin "a run uses it" "$C" $run --set "calib=$W/my.h5"; status 0
out "mean_jct_s * 143.750 s *"; out "makespan_s * 162.500 s *"
begin "without it" "$C" $run; status 0; out "makespan_s * 100.000 s *"
# Lucid packs what it knows to be small: by the trace nothing is known, by the calibration
# both are (SM activity 0.2); alone b waits for a's 100 s. Packed as above.
sed 's/,throughput_sd$/,sm_active,sm_occupancy,dram_active,tensor_active,host/; s/,1$/,.2,.1,.1,.1,.1/' "$W/solo.csv" >"$W/small.csv"
begin "with counters" "$C" calib fit --solo "$W/small.csv" --pairs "$W/pairs.csv" --mode overrides --out "$W/small.h5"; status 0
lucid="run --trace $W/jobs.csv --cluster 1x1 --policy lucid --set policy.profile=off --set policy.estimate=true --set calib=$W/small.h5"
begin "lucid by the trace" "$C" $lucid --set policy.utilisation=trace; status 0; out "makespan_s * 200.000 s *"
begin "lucid by the calibration" "$C" $lucid; status 0
out "mean_jct_s * 143.750 s *"; out "makespan_s * 162.500 s *"
begin "both forms" "$C" $run --set "calib=$W/my.h5" --set calib.dir=data:calib/a100-40gb; status 3; err "*'calib.dir' and 'calib.file' exclude each other*"
begin "a folder" "$C" $run --set calib.dir=data:calib/a100-40gb --set transitions.file=data:calib/a100-40gb/transitions.csv; status 0
begin "no folder" "$C" $run --set calib.dir=nowhere; status 5; err "*nowhere/workloads.csv*"
finish
