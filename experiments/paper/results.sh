#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes experiments/paper/RESULTS.md, every table of `cotenant repro`, and the table in
# README.md: generated, not typed.
#
#	results.sh [SEEDS [PROCESSES]]      40 seeds, 2 processes; from the project's root
#
# Tables that are there from the same program and the same experiments/paper/*.yaml, in
# build/results, are not run again: it can be interrupted.
set -eu
cd "$(dirname "$0")/../.."
C=${COTENANT:-build/release/cotenant}
seeds=${1:-40} jobs=${2:-2} here=experiments/paper
version=$("$C" --version | head -n 1)
state=$(cat "$C" $here/*.yaml $here/fit*.csv | cksum | tr ' ' -)
kept=build/results/$state-$seeds
mkdir -p "$kept"
[ -d "${COTENANT_SHARED_DATA:=../shared/data}" ] && export COTENANT_SHARED_DATA

run() { # NAME COMMAND...: its output in $kept/NAME
	name=$1
	shift
	[ ! -e "$kept/$name" ] || return 0
	echo "cotenant $*" >&2
	"$C" "$@" >"$kept/part" || { rc=$?; echo "results.sh: 'cotenant $*' ended with $rc" >&2; exit $rc; }
	mv "$kept/part" "$kept/$name"
}
section() { # NAME TITLE TEXT COMMAND...
	name=$1 title=$2 text=$3
	shift 3
	run "$name" "$@" || exit $?
	{
		printf '## %s\n\n%s\n\n`cotenant %s`\n\n```\n' "$title" "$text" "$*"
		cat "$kept/$name"
		printf '```\n\n'
	} >>"$kept/all.md"
}
# The best vector of a fit as settings.
vector() { # FILE
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR == 2 { printf "--set generate.load=%s --set generate.spread=%s --set generate.tilt=%s", $at["load"], $at["spread"], $at["tilt"] }' "$1"
}

: >"$kept/all.md"
section all "Published figures" "Roles: fit = used to choose the scenario; predict = not used; beside = shown, never scored.
Seeds were added until half of the 95 % interval of each scored mean was at most 3 % of it." \
	repro all --seeds "$seeds" --width 3 -j "$jobs"
for table in table4 table5; do
	section "fits-$table" "$table over equally good scenarios" "Fits from .. to: over scenarios that fit the baselines as well, given the seeds (\`fit.csv\`)." \
		repro $table --seeds "$seeds" -j "$jobs" --fits $here/fit.csv
done
section where "Where the gain comes from" "Each as a ratio to Volcano as shipped, under the same arrivals. Faster static configuration: \`-fast\`; number of
GPUs: \`elastico\` over \`elastico-rigid\`; order: \`easy\`, \`lucid-nopack\`; co-location: \`elastico\` over \`elastico-alone\`; reconfiguration of
running jobs: \`elastico\` over \`elastico-still\`." \
	repro where --seeds "$seeds" -j "$jobs"
for v in volcano-gpubinpack volcano-nogate; do
	# shellcheck disable=SC2046
	section "fit-$v" "The scenario fitted with $v as Volcano" "The vector of least loss of \`fit-$v.csv\`, made by \`cotenant calib scenario --seeds 40 --evaluations 20 --volcano $v\`." \
		repro table4 --seeds "$seeds" -j "$jobs" --volcano $v $(vector $here/fit-$v.csv)
done
# shellcheck disable=SC2046
section fit-without "The scenario fitted without Lucid's throughput" "Lucid's 1.76 is missed in every scenario and pulls at this one; here the loss leaves it out (\`fit-without.csv\`, made by
\`cotenant calib scenario --seeds 40 --evaluations 20 --without table4.lucid.throughput\`)." \
	repro table4 --seeds "$seeds" -j "$jobs" $(vector $here/fit-without.csv)
section misses "What is missed, and whether another scenario would give it" "Lucid's published throughput is below what pairs of default configurations could do (the linear program's bound), and no
load or spread here gives it: a Lucid that packs whatever fits (\`lucid-loose\`) comes nearer than one that keeps to its sharing scores, and 80 GB
GPUs give it (How sure). No load from 1 to 4 and no spread gives a ratio of medians nearer to one than that of means,
as published (2.5x against 2.94x): what Volcano's queue costs, it costs every job, and so the median job most. Against \`volcano-gpubinpack\`
it does (the scenario fitted with it, above)." \
	repro misses --seeds "$seeds" -j "$jobs"
section why "Why ESP is worth less here than published" "As ratios to the full scheduler; read in scheduler/elastico/README.md." \
	repro why --seeds "$seeds" -j "$jobs"
section gangs "Who waits longest" "Admission passes over gangs; \`patience\` seconds after, GPUs are kept for them (scheduler/elastico/README.md)." \
	repro gangs --seeds "$seeds" -j "$jobs"
section convergence "Table 8: prices, converged and not" "Published: the gain shrinks from 64 to 512 GPUs, since prices converge slowly. Here prices that are converged to a
thousandth, or stopped after two iterations, give the same at every size: whatever trend there is, convergence does not explain it." \
	repro convergence --seeds 10 -j "$jobs"
section terms "Table 4 by other definitions" "The published cells beside ours when the same words are meant otherwise: a warm-up day, jobs that finished in the
window only, medians, jobs an hour, work over the makespan of the drained run, SM activity as a product. Whether a cell agrees depends on it." \
	repro terms --seeds "$seeds" -j "$jobs"
section load "The load curve, and whether it has a steady state" "Six days at 128 GPUs, the last five measured: where work is left over at a rate above zero there is no steady
state, and a ratio of mean JCTs depends on how long one looks." \
	repro load --seeds "$seeds" -j "$jobs"
section instances "GPU instances saved" "The smallest clusters that meet a target, by the planner: pools for training and for inference (G_T, G_I) against a shared one (G_E).
With pools under Volcano most of the saving is that ElastiCo replaces Volcano; with pools under ElastiCo itself it is sharing alone." \
	repro instances
section cases "The case studies" "Savings over first fit; the lengths of the jobs are not published." \
	repro cases
section active "Which scenario has 30 active jobs" "Section 5.7 has 30 active jobs at 64 GPUs: fewer than Lucid and ElastiCo have here at the fitted load. Other loads and mixes:" \
	repro active --seeds "$seeds" -j "$jobs"
section iac "Without interference-aware co-location" "The expected sign comes from the truth, before the runs. Slow-downs are of run times; the slowest decile of jobs does
worse than the 90 % quantile." \
	repro iac --seeds "$seeds" -j "$jobs"
section sure "How sure" "The truth drawn from its posterior, other truths, and each assumption 20 % off; predictors are trained on each truth.
\`spread\`: where 95 % of the draws' means lie; \`whole\`: truth and seeds together, so that its interval of one run includes both." \
	repro sure --seeds "$((seeds / 2))" -j "$jobs"
section sensitivity "What each assumption of the scenario does to it" "One assumption changed at a time, others as in the scenario; the policy's constants: scheduler/elastico/EFFECTS.md." \
	repro sensitivity --seeds "$seeds" -j "$jobs"
if [ -d ../shared/data/genai ]; then
	section figures "Trace figures of section 2" "From the published traces where they are there, otherwise from the generators, and then called synthetic." \
		repro figures --seeds 10 --data ../shared/data
fi
if [ -d "$COTENANT_SHARED_DATA/genai" ]; then
	section real "On real traces" "Days of Philly and ITP training with GenAI requests, a day and a draw of models a seed; 13 is what ITP has at load 2.5." \
		repro real --seeds 13 -j "$jobs"
	section worlds "In measured worlds" "The scenario's jobs with the workloads, configurations and pairs that others measured; nothing fitted." \
		repro worlds --seeds 10 -j "$jobs"
fi

run readme repro table4 --seeds "$seeds" --width 3 -j "$jobs"
made="Made $(date -u +%F) by \`experiments/paper/results.sh $seeds\` with $version."
{
	printf '# The ElastiCo paper, reproduced\n\n%s\n' "$made"
	printf 'How to read it: README.md, "The ElastiCo paper, reproduced". Definitions stand in `published.yaml`.\n\n'
	cat "$kept/all.md"
} >"$kept/RESULTS.md"
{
	sed '/^<!-- repro:begin/q' README.md
	printf '%s\n\n```\n' "$made"
	sed -n '/^figure/,/^$/p' "$kept/readme" | sed '/^$/d' | cut -c1-200
	printf '```\n'
	sed -n '/^<!-- repro:end/,$p' README.md
} >"$kept/README.md"
cat "$kept/RESULTS.md" >$here/RESULTS.md
cat "$kept/README.md" >README.md
echo "wrote $here/RESULTS.md and the table in README.md"
