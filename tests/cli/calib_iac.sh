#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# calib train and calib eval: misuse, a file, the same file twice, a small evaluation.
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/harness

begin "train, no file" "$C" calib train; status 2; no_out; err "*'train' wants --out FILE.h5"
begin "train, no such predictor" "$C" calib train --predictor magic --out "$work/p.h5"; status 3; no_out
err "*'magic' is none of dnn, xgb, linear"
that [ ! -e "$work/p.h5" ]
begin "train" "$C" calib train --predictor linear --out "$work/p.h5"; status 0; no_err
out "T+T: 192 pairs, 780 of the variants fit, 0 of other configurations"
begin "train again" "$C" calib train --predictor linear --out "$work/q.h5" --json; status 0; no_err
that cmp -s "$work/p.h5" "$work/q.h5"
begin "eval, form unknown" "$C" calib eval --pairs x.csv; status 2; no_out; err "*'eval --pairs' wants --solo FILE*"
begin "eval, no file" "$C" calib eval --pairs "$work/none.csv" --gpu v100; status 5; no_out
begin "eval, seeds" "$C" calib eval --seeds 0; status 2; no_out; err "*--seeds wants a whole number from 1 to 200, got '0'"
finish
