#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# cotenant repro effects: what changes of a study do, by the values of another.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness
W=$work
small="--set cluster.nodes=2 --set generate.days=0.1 --set sim.until=8640"

begin "effects" "$C" repro effects $small --seeds 1 --csv "$W/effects.csv"; status 0; out "*all by their values in study main, under the same seeds"
that grep -q '^effects.horizon-high.elastico.mean_jct_s,effects,x,,beside,,1,' "$W/effects.csv" # a short queue
that awk -F, '/choice-price.*jct/ { x = $7 } END { exit !(x > 0 && x != 1) }' "$W/effects.csv"
files
finish
