#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What runs make of calib.scaling, calib.gpu_span and the section iac.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work
A100=data:calib/a100-40gb
fewest=${PLUGIN_DIR:-$root/build/release}/tests/unit/plugins/fewest_gpus.so

# All alone on their GPUs. t: 8 GPUs wanted, runs on ceil(8 / 4) = 2: 100 s x 4^0.9 = 348.22 s.
# g: the trace says 4 at least: 100 s x 2^0.9 = 186.61 s. i: inference, rigid: 100 s.
# f: ceil(5 / 4) = 2: 100 s x 2.5^0.9 = 228.11 s. u: of no known model, rigid.
cat >"$W/jobs.csv" <<END
job_id,submit_time,duration,num_gpus,min_gpus,model
t,0,100,8,,BERT
g,0,100,8,4,BERT
i,0,100,4,,Qwen-1.7b
f,0,100,5,,PointNet
u,0,100,6,,nobody
END
run="run --trace $W/jobs.csv --cluster 4x8"
column() { awk -F, -v job="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == name) c = i; if ($i == "job_id") k = i } next } $k == job { print $c }' "$W/$1/jobs.csv"; }
is() { [ "$(column "$1" "$2" "$3")" = "$4" ] || wrong "$2 $3: $(column "$1" "$2" "$3") instead of $4"; }
near() { # FOLDER JOB COLUMN VALUE
	awk -v a="$(column "$1" "$2" "$3")" -v b="$4" 'BEGIN { exit !(a - b < .01 && b - a < .01) }' ||
		wrong "$2 $3: $(column "$1" "$2" "$3") instead of $4"
}

begin "on fewer GPUs" "$C" $run --policy "$fewest" --set calib.dir=$A100 --csv "$W/few" --json; status 0
out '*"widened_gpus": 2*'
is few t min_gpus 2; is few g min_gpus 4; is few i min_gpus 4; is few f min_gpus 2; is few u min_gpus 6
near few t execution_time 348.220; near few g execution_time 186.607; near few i execution_time 100
near few f execution_time 228.109; near few u execution_time 100
begin "linear" "$C" $run --policy "$fewest" --set calib.dir=$A100 --set calib.scaling=1 --csv "$W/lin"; status 0
near lin t execution_time 400; near lin f execution_time 250
begin "span 1" "$C" $run --policy "$fewest" --set calib.dir=$A100 --set calib.gpu_span=1 --csv "$W/one"; status 0
is one t min_gpus 8; near one t execution_time 100; near one g execution_time 186.607
begin "span 8" "$C" $run --policy "$fewest" --set calib.dir=$A100 --set calib.gpu_span=8 --csv "$W/eight"; status 0
is eight t min_gpus 1; is eight f min_gpus 1
begin "no calibration" "$C" $run --policy "$fewest" --csv "$W/bare"; status 0; is bare t min_gpus 8
begin "span below 1" "$C" $run --policy fifo --set calib.gpu_span=.5; status 3; err "*calib.gpu_span*"

# Requests are rigid for every policy that does not say otherwise, whatever the span.
for p in volcano lucid fifo; do
	begin "$p, span 4" "$C" $run --policy $p --set calib.dir=$A100 --csv "$W/a$p"; status 0
	is "a$p" t min_gpus 8; is "a$p" f min_gpus 5; near "a$p" t execution_time 100; near "a$p" f execution_time 100
	begin "$p, span 1" "$C" $run --policy $p --set calib.dir=$A100 --set calib.gpu_span=1 --csv "$W/b$p"; status 0
	that cmp -s "$W/a$p/jobs.csv" "$W/b$p/jobs.csv"
done

# The belief.
for p in linear oracle none dnn; do
	begin "predictor $p" "$C" $run --policy fifo --set calib.dir=$A100 --set iac.predictor=$p --json; status 0
	out "*\"predictor\": \"$p\",*"; out '*"predictions_asked": 0,*'
done
begin "no such predictor" "$C" $run --policy fifo --set calib.dir=$A100 --set iac.predictor=magic; status 3; no_out
err "*iac.predictor*dnn*none*'magic'*"
begin "a file and no calibration" "$C" $run --policy fifo --set "iac.file=$W/none.h5"; status 3; no_out
err "*'iac.file' wants a calibration too: calib.dir"
begin "no file" "$C" $run --policy fifo --set calib.dir=$A100 --set "iac.file=$W/none.h5"; status 5; no_out
err "*none.h5*cannot be read*"
begin "no predictor's file" "$C" $run --policy fifo --set calib.dir=$A100 --set "iac.file=$W/jobs.csv"; status 3; no_out
err "*jobs.csv: not a predictor's file"
begin "train" "$C" calib train --predictor linear --out "$W/lin.h5"; status 0
begin "another predictor" "$C" $run --policy fifo --set calib.dir=$A100 --set "iac.file=$W/lin.h5"; status 3; no_out
err "*lin.h5: holds 'linear', iac.predictor says 'dnn'"
lin="--set iac.file=$W/lin.h5 --set iac.predictor"
begin "its own" "$C" $run --policy fifo --set calib.dir=$A100 $lin=linear; status 0
begin "a file and the oracle" "$C" $run --policy fifo --set calib.dir=$A100 $lin=oracle; status 3; no_out
err "*'iac.file' and iac.predictor=oracle exclude each other"
mkdir "$W/other"
sed 's/^BERT,params,[^,]*,/BERT,params,2e8,/' "$root/calib/a100-40gb/workloads.csv" >"$W/other/workloads.csv"
begin "of other profiles" "$C" $run --policy fifo --set "calib.dir=$W/other" $lin=linear; status 3; no_out
err "*lin.h5: made for other profiles; train it again"

# One measured pair teaches nothing: told before the run where the policy makes use of
# predictions, not at all where it does not ask.
printf 'config_id,workload,type,throughput,throughput_sd\nca,wa,train,10,1\ncb,wb,train,20,1\n' >"$W/solo.csv"
printf 'config_i,config_j,thr_i_colo,thr_j_colo\nca,cb,5,16\n' >"$W/pairs.csv"
printf 'job_id,submit_time,duration,num_gpus,model\na,0,100,1,wa\nb,0,100,1,wb\n' >"$W/own.csv"
begin "one pair" "$C" calib fit --solo "$W/solo.csv" --pairs "$W/pairs.csv" --mode overrides --out "$W/my.h5"; status 0
own="run --trace $W/own.csv --cluster 1x2 --set calib=$W/my.h5"
begin "too few to learn from" "$C" $own --policy "$fewest"; status 3; no_out
err "*'dnn' wants at least 20 samples to train on, got 2"; err "*iac.predictor=oracle or none"
begin "nobody asks" "$C" $own --policy fifo --json; status 0
out "*nothing is predicted: predictor 'dnn' wants at least 20 samples*"
begin "the oracle needs no pairs" "$C" $own --policy "$fewest" --set iac.predictor=oracle; status 0
finish
