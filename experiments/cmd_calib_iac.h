/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_calib_iac.h - what `calib train` and `calib eval` share. */
#ifndef CT_EXPERIMENTS_CMD_CALIB_IAC_H
#define CT_EXPERIMENTS_CMD_CALIB_IAC_H

#include "calib/profiles.h"
#include "calib/slowdown.h"
#include "experiments/cmd_calib.h"

struct ct_calib_iac {
	struct ct_profiles *set;
	struct ct_slowdown_params truth;
	double memory_mib; /* that two may fill together */
};
int ct_calib_iac_world(const struct ct_calib_args *a, struct ct_calib_iac *w, struct ct_err *err);

#endif
