#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `repro real` and `repro worlds` from files made here in the published forms; what they say
# without data. What a seed gets is tests/unit/test_inputs.c's.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work
data=$W/data
unset COTENANT_SHARED_DATA

begin "no data" "$C" repro real --seeds 1; status 5; no_out; files
err "*study 'philly-1.2', variant 'volcano', seed 1: input 'philly-1.2' is made of published data, and there is no folder '../shared/data': --data DIR or COTENANT_SHARED_DATA; README, *"
begin "no such folder" "$C" repro worlds --seeds 1 --data "$W/none"; status 5; no_out; err "*there is no folder '$W/none'*"
mkdir -p "$data/philly" "$data/itp" "$data/genai" "$data/lucid" "$data/gavel"
begin "no such file" "$C" repro real --seeds 1 --data "$data"; status 5; err "*wants '$data/philly/philly.csv.gz', which is not there"

# 14 weeks of Philly from Monday 4 September 2017, every 24 minutes a job of two hours or three on 1 to 8 GPUs
awk 'BEGIN {
	print "timestamp,duration,num_gpus,gpu_time,cluster"
	split("30 31 30 31", length_of)
	for (i = 0; i < 98 * 60; i++) {
		m = 8; d = 4 + int(i / 60); s = i % 60 * 1440
		for (k = 1; d > length_of[k]; k++) d -= length_of[k]
		m += k; g = 2 ^ (i % 4); t = 7200 + i % 7 * 600
		printf "2017-%02d-%02d %02d:%02d:%02d,%d,%d,%d,vc\n", m, d, s / 3600, s % 3600 / 60, s % 60, t, g, t * g
	}
}' | gzip >"$data/philly/philly.csv.gz"
awk 'BEGIN {
	print "job_id,submission_time,duration,num_gpu"
	for (i = 0; i < 42 * 48; i++) printf "j%d,%d,%d,%d\n", i, i * 1800, 5400 + i % 5 * 900, 2 ^ (i % 3)
}' | gzip >"$data/itp/cluster08.csv.gz"
awk 'BEGIN {
	print "gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,negative_prompt_length,num_images_per_prompt,num_inference_steps,checkpoint_model_version_id,num_lora"
	for (i = 0; i < 300; i++) printf "2024-11-%02d %02d:%02d:00,TXT_2_IMG,SUCCEED,%d.0,u%d,5.0,,2.0,30.0,m%d,0\n",
		15 + i % 3, i / 13, i % 60, 200 + i, i % 9, i % 5
}' | (read -r h; echo "$h"; sort) >"$data/genai/lora_request_trace.csv"
begin "real" "$C" repro real --seeds 1 -j 2 --data "$data" --json --set iac.predictor=oracle; status 0; no_err; files
out '*"id": "real.philly-2.5.elastico.mean_jct_s", *'
that [ "$(grep -c '"ours": null' "$W/out")" -eq 0 ]
cp "$W/out" "$W/real"
begin "from the environment" env COTENANT_SHARED_DATA="$data" "$C" repro real --seeds 1 --json --set iac.predictor=oracle; status 0
that cmp -s "$W/out" "$W/real"
begin "more seeds than days" "$C" repro real --seeds 17 --data "$data"; status 3
err "*published.yaml:*: input 'philly-1.2' has 50 days, 3 for a seed: enough for seeds 1 to 16, got 17"

awk 'BEGIN {
	print "model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label"
	for (m = 1; m <= 3; m++) for (b = 32; b <= 64; b *= 2)
		printf "M%d,D,%d,0,%d,%d,10,%d,0\n", m, b, 100 * m + b, 15 * m, 2000 * m
}' >"$data/lucid/single_data.csv"
awk 'BEGIN {
	print ",model1,dataset1,gpu_num1,batchsize1,amp1,speed1,model2,dataset2,gpu_num2,batchsize2,amp2,speed2,gpu_util,gmem_util,gmem"
	for (m = 1; m <= 3; m++) for (n = m; n <= 3; n++) for (b = 32; b <= 64; b *= 2) for (c = n == m ? b : 32; c <= 64; c *= 2)
		printf "%d,M%d,D,1,%d,0,%g,M%d,D,1,%d,0,%g,50,20,%d\n", k++, m, b, 1 - .1 * n, n, c, 1 - .08 * m, 2000 * (m + n)
}' >"$data/lucid/colocate_info.csv"
awk 'BEGIN {
	print "gpu,job_a,scale_a,job_b,scale_b,alone_a,alone_b,packed_a,packed_b"
	for (i = 0; i < 6; i++) for (j = i; j < 6; j++) {
		a = 40 / 2 ^ (i % 3); b = 60 / 2 ^ (j % 3)
		if (i < 3 && j < 3) b = 40 / 2 ^ (j % 3)
		if (i >= 3) a = 60 / 2 ^ (i % 3)
		printf "v100,%s (batch size %d),1,%s (batch size %d),1,%g,%g,%g,%g\n", i < 3 ? "A" : "B", 2 ^ (i % 3),
			j < 3 ? "A" : "B", 2 ^ (j % 3), a, b, a * (.9 - .05 * j), b * (.8 - .05 * i)
	}
}' >"$data/gavel/colocation_pairs.csv"
cp "$data/gavel/colocation_pairs.csv" "$data/gavel/gavel_pairs.csv"
small="--set cluster.nodes=2 --set generate.days=0.2 --set sim.until=17280 --set iac.predictor=oracle"
begin "worlds" "$C" repro worlds --seeds 1 -j 2 --data "$data" --json $small; status 0; no_err; files
out '*"id": "worlds.v100-world.elastico.throughput", *'
that [ "$(grep -c '"ours": null' "$W/out")" -eq 0 ]
begin "worlds as tables" "$C" repro worlds --seeds 1 --data "$data" $small; status 0
that [ "$(grep -c '^study ' "$W/out")" -eq 3 ]; out "*mean_jct_s, as a ratio of means to elastico under common arrivals*"
out "lucid-world *elastico *"; out "*scenario CHANGED by --set"
finish
