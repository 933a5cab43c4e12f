#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Options of a reader from YAML and the command line, the table of transitions, and the
# generator. Expected values by hand from the rows below.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness

here=$work/here
cat >"$here/lora_request_trace.csv" <<'END'
gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,negative_prompt_length,num_images_per_prompt,num_inference_steps,checkpoint_model_version_id,num_lora
2024-11-15 10:00:00,TXT_2_IMG,SUCCEED,10.0,u1,5.0,,2.0,30.0,m1,0
2024-11-15 10:30:00,TXT_2_IMG,SUCCEED,20.0,u1,5.0,,2.0,30.0,m1,0
2024-11-15 11:30:00,TXT_2_IMG,SUCCEED,30.0,u2,5.0,,2.0,30.0,m1,0
END
printf 'trace:\n  file: lora_request_trace.csv\n  options:\n    mapping: a2\n    window: 7200\n' >"$here/a2.yaml"

begin "info, default mapping" "$C" trace info lora_request_trace.csv; status 0; no_err; out "jobs           3; *"
out "  work_succeed *60 s *"
begin "check, options in YAML" "$C" check a2.yaml --cluster 1x1 --policy fifo; status 0; out "trace *: 3 rows, 1 jobs*"
begin "an option on the command line" "$C" check a2.yaml --cluster 1x1 --policy fifo --set trace.options.window=3600
status 0; out "trace *: 3 rows, 2 jobs*"
begin "an unknown option" "$C" trace info lora_request_trace.csv --set trace.options.gpa=1; status 3; no_out
err "*no option 'trace.options.gpa'; did you mean 'gap'?"

h=timestamp_anon,value,container_ip
printf '%s,request_type\n1662858720,0.09,A,Generative Requests\n' $h >"$here/qps.csv"
printf '%s\n1662858720,30000,A\n1662858777,40000,A\n1662858777,3000,B\n' $h >"$here/basemodel_update_latency_anon.csv"
printf '%s\n1662858834,5000,A\n' $h >"$here/lora_update_latency_anon.csv"
printf '%s\n1662858834,4000,A\n' $h >"$here/controlnet_latency_data_anon.csv"
printf '%s\n1662858777,40000,A\n1662858834,9000,A\n' $h >"$here/pipeline_update_latency_anon.csv"
begin "transitions" "$C" trace transitions . --out t.csv; status 0; no_out
for row in start,*,*,*,35,1, switch,*,*,*,9,1, migrate,*,*,*,35,1, resume,*,*,*,3,1,; do
	that grep -qF "$row" "$here/t.csv"
done
begin "transitions, a table is missing" "$C" trace transitions qps.csv --out u.csv; status 4
err "*no table 'basemodel_update_latency_anon', which the transitions want"
that [ ! -e "$here/u.csv" ]
begin "transitions, no --out" "$C" trace transitions .; status 2

begin "generate" "$C" trace generate genai --jobs 100 --out g.csv; status 0
begin "what was generated" "$C" trace info g.csv; status 0; out "jobs           100; *4 models*"

# training and inference on one cluster
begin "generate mixed" "$C" trace generate mixed --days 1 --gpus 64 --share 0.6 --load 1.4 --seed 2 --out m.h5 --check; status 0
out "training's share of the work * 0.6000 *yes"; out "offered load * 1.4000 *yes"
err "*note: dropped_small_batch: *"
begin "what was mixed" "$C" trace info m.h5 --cluster 8x8; status 0
out "*part pai: generate pai seed=2 *"; out "*part genai: map a2 window=1800 *"; out "*assign 'assign.csv' seed=2"
out "jobs *12 models*"; out "offered load   1.4000 of 64 GPUs*"
begin "mixed, again" "$C" trace generate mixed --days 1 --gpus 64 --share 0.6 --load 1.4 --seed 2 --out n.h5; status 0
that cmp "$here/m.h5" "$here/n.h5"
begin "mixed, which cluster" "$C" trace generate mixed --days 1 --out x.h5; status 3; err "*wants a number of days and of GPUs*"
begin "mixed, no share left" "$C" trace generate mixed --days 1 --gpus 8 --share 1 --out x.h5; status 3; err "*share * below 1*"
begin "pai, typed GPUs" "$C" trace generate pai --days 1 --gpus 64 --out p.csv; status 0
begin "typed mix" "$C" trace mix 1:p.csv --out t.csv; status 0; that grep -q ,T4, "$here/t.csv"
begin "untyped mix" "$C" trace mix 1:p.csv --no-types --out u.csv; status 0; that [ "$(grep -cE ',(T4|P100|MISC|V100|V100M32),' "$here/u.csv")" = 0 ]
err "*seed=* no-types: *"
begin "the kinds" "$C" trace generate --help; status 0; out "*'pai'*"; out "*'genai'*"; out "*'mixed'*"
finish
