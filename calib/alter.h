/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alter.h - another truth than the best fit of a calibration folder: what is assumed of
 * it, or known with a width, varied. In this order:
 *
 *	blind_host   the fit with the blind prior of host pressure (DIR/posterior-blind.csv)
 *		     instead of the folder's values
 *	draw         draw number N from the posterior around it (calib/posterior.h;
 *		     DIR/posterior.csv); the same under every policy and seed
 *	change       single numbers (sim/changes.h): rows of workloads.csv by NAME (every
 *		     workload), NAME@WORKLOAD or NAME@* (shared by all), and m, beta,
 *		     c_C, c_D, c_O, c_H, p of the contention
 *	default_batch  the default configurations' batch over the largest
 *
 * Profiles and digest follow, so that predictors are trained on the altered world. */
#ifndef CT_CALIB_ALTER_H
#define CT_CALIB_ALTER_H

#include "calib/profiles.h"
#include "calib/slowdown.h"

struct ct_alteration {
	uint64_t draw; /* 0: none */
	int blind_host;
	const char *change;   /* NULL, "": none */
	double default_batch; /* 0, 1: as the folder has it */
};

int ct_alteration_any(const struct ct_alteration *a);
/* CT_ECONFIG, CT_EIO; without an alteration nothing is touched. */
int ct_alter(const struct ct_alteration *a, const char *dir, struct ct_profiles *set, struct ct_slowdown_params *s,
	     struct ct_err *err);

#endif
