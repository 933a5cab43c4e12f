/* SPDX-License-Identifier: GPL-3.0-or-later */
/* user_fit.h - a calibration file from one's own measurements.
 *
 * solo.csv, one row a measurement alone (several rows of one configuration are
 * repeats):
 *	config_id,workload,type,throughput                             required
 *	params,batch,ckpt,amp,isl,osl,rho,fb_mb,throughput_sd          optional
 *	sm_active,sm_occupancy,dram_active,tensor_active,host          all five or none
 * pairs.csv, one row a pair measured together:
 *	config_i,config_j,thr_i_colo,thr_j_colo                        required
 *	mps,repeat                                                     optional
 *
 * Three modes: `counters` fits the seven globals (and the counters, when there are
 * at least 3 pairs a configuration and 5-fold cross-validation gets better);
 * `latent` fits two latent demands and a weight a configuration; `overrides` keeps
 * only the measured pairs. `auto`: counters when they are there, else latent.
 *
 * What cannot be right is an error with file:line:column; what is doubtful a named
 * warning. The error on held-out pairs stands beside that of two trivial
 * predictors, always. */
#ifndef CT_CALIB_USER_FIT_H
#define CT_CALIB_USER_FIT_H

#include "calib/calibration.h"

#include <stdio.h>

struct ct_user_fit_options {
	const char *solo, *pairs;
	const char *gpu; /* NULL: "unnamed" */
	double mem_mib, reserve_mib;
	int mode; /* enum ct_calib_mode, -1 = auto */
	uint64_t seed;
	FILE *warnings;
};

int ct_user_fit(const struct ct_user_fit_options *o, struct ct_calibration **out, struct ct_err *err);

#endif
