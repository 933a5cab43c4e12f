#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes experiments/paper/RESULTS.md: every table of `cotenant repro`, generated, not typed.
#
#	results.sh [SEEDS [PROCESSES]]      10 seeds, 2 processes; from the project's root
set -eu
cd "$(dirname "$0")/../.."
C=${COTENANT:-build/release/cotenant}
seeds=${1:-10} jobs=${2:-2} to=experiments/paper/RESULTS.md
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT

section() { # TITLE TEXT COMMAND...
	title=$1 text=$2
	shift 2
	printf '## %s\n\n%s\n\n`cotenant %s`\n\n```\n' "$title" "$text" "$*"
	"$C" "$@"
	printf '```\n\n'
}
{
	printf '# The ElastiCo paper, reproduced\n\n'
	printf 'Made %s by `experiments/paper/results.sh %s` with %s.\n' "$(date -u +%F)" "$seeds" "$("$C" --version | head -n 1)"
	printf 'How to read it: README.md, "The ElastiCo paper, reproduced". Definitions stand in `published.yaml`.\n\n'
	section "Published figures" "Roles: fit = used to choose the scenario; predict = not used; beside = shown, never scored." \
		repro all --seeds "$seeds" -j "$jobs"
	for table in table4 table5; do
		section "$table over equally good scenarios" "Fits from .. to: over scenarios that fit the baselines as well, given the seeds (\`fit.csv\`)." \
			repro $table --seeds "$seeds" -j "$jobs" --fits experiments/paper/fit.csv
	done
	section "Where the gain comes from" "Each as a ratio to Volcano as shipped, under the same arrivals." \
		repro where --seeds "$seeds" -j "$jobs"
	section "What each assumption does to it" "One assumption changed at a time, others as in the scenario; fewer seeds." \
		repro sensitivity --seeds "$(((seeds + 1) / 2))" -j "$jobs"
	if [ -d "${COTENANT_SHARED_DATA:-../shared/data}/genai" ]; then
		section "On real traces" "Days of Philly and ITP training with GenAI requests, a day and a draw of models a seed; 13 is what ITP has at 2.5." \
			repro real --seeds 13 -j "$jobs"
		section "In measured worlds" "The scenario's jobs with the workloads, configurations and pairs that others measured; nothing fitted." \
			repro worlds --seeds "$seeds" -j "$jobs"
	fi
} >"$tmp"
cat "$tmp" >$to
echo "wrote $to"
