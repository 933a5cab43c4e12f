#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Case 1 of the paper (section 5.4): BERT (36 GB) and ResNet-50 (24 GB) do not fit one
# A100-40GB; BERT with checkpointing (24 GB) and ResNet-50 with AMP (14 GB) do, 38.0 GB.
# The specification: decays .79 and .74, makespan shorter by 26 to 40 % for solo lengths
# 1:1 to 1:2 (the paper, without its lengths: 41 %).
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work

begin "families" "$C" calib show --out there; status 0
cp "$W/here/there/families.csv" "$W/families.csv" && rm -r "$W/here/there"
# column NAME WORKLOAD CONFIG
column() {
	awk -F, -v c="$1" -v w="$2" -v k="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) n = i } $1 == w && $2 == k { print $n }' "$W/families.csv"
}
ck=$(column relative BERT b128+ck) amp=$(column relative ResNet-50 b512+amp)
sum=$(awk "BEGIN { print $(column mem_gib BERT b128+ck) + $(column mem_gib ResNet-50 b512+amp) }")
that [ "$sum" = 38 ]

cat >"$W/one.yaml" <<END
cluster: {node_types: [{name: n, count: 1, gpus: 1, gpu_type: a100, gpu_mem_mib: 40960}]}
calib: {dir: "data:calib/a100-40gb", residual: false}
END
# trace BERT_S RESNET_S BERT_CONFIG RESNET_CONFIG: seconds of work in the default configuration
trace() {
	printf 'job_id,submit_time,duration,num_gpus,model,config\nb,0,%s,1,BERT,%s\nr,0,%s,1,ResNet-50,%s\n' "$1" "$3" "$2" "$4" >"$W/jobs.csv"
}
makespan() {
	sed -n 's/^ *"makespan_s": *\([0-9.e+]*\),*$/\1/p' "$W/out"
}
run="run $W/one.yaml --trace $W/jobs.csv --policy fifo --set policy.residents=2 --json"
within() { # VALUE LO HI
	awk "BEGIN { exit !($1 >= $2 && $1 <= $3) }" || wrong "$1 is not in $2 to $3"
}

# What each keeps: the other's work is far longer, so that they are together all the time.
trace "$(awk "BEGIN { print 1000 / $ck }")" "$(awk "BEGIN { print 100000 / $amp }")" b128+ck b512+amp
begin "BERT keeps .79" "$C" $run --csv csv; status 0
keeps() { # JOB: solo seconds in its configuration / seconds run
	awk -F, -v j="$1" -v solo="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "execution_time") n = i } $1 == j { print solo / $n }' "$W/here/csv/jobs.csv"
}
within "$(keeps b "$(awk "BEGIN { print 1000 / $ck }")")" 0.785 0.795
rm -r "$W/here/csv"
trace "$(awk "BEGIN { print 100000 / $ck }")" "$(awk "BEGIN { print 1000 / $amp }")" b128+ck b512+amp
begin "ResNet-50 keeps .74" "$C" $run --csv csv; status 0
within "$(keeps r "$(awk "BEGIN { print 1000 / $amp }")")" 0.735 0.745
rm -r "$W/here/csv"

for ratio in 1 1.5 2; do
	length=$(awk "BEGIN { print 1000 * $ratio }")
	trace 1000 "$length" "" ""
	begin "rigid, 1:$ratio" "$C" $run; status 0
	rigid=$(makespan)
	within "$rigid" "$(awk "BEGIN { print 1000 + $length }")" "$(awk "BEGIN { print 1000 + $length }")"
	trace "$(awk "BEGIN { print 1000 / $ck }")" "$(awk "BEGIN { print $length / $amp }")" b128+ck b512+amp
	begin "reshaped, 1:$ratio" "$C" $run; status 0
	within "$(awk "BEGIN { print 1 - $(makespan) / $rigid }")" 0.26 0.405
done
finish
