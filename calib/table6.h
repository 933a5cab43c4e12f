/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table6.h - the calibration of the A100 truth: globals, prefix-cache multipliers
 * and base counters fitted to the paper's Table 6 (18 pairs, 36 decays).
 *
 * Files of the calibration folder: `table6.csv` (pair,severity,workload_a,config_a,
 * workload_b,config_b,decay_a,decay_b,source) and `priors.csv` (workload,name,prior,
 * log_sd,source). 54 unknowns against 36 decays: most of what comes out is the
 * prior, and the widths say of which unknown that is not so. It calibrates, it does
 * not validate. */
#ifndef CT_CALIB_TABLE6_H
#define CT_CALIB_TABLE6_H

#include "calib/calibration.h"
#include "calib/fit.h"
#include "calib/profiles.h"

/* Error of the logarithm of a measured decay that the fit assumes. */
#define CT_TABLE6_SIGMA 0.07

enum { CT_TABLE6_UNKNOWNS = 128, CT_TABLE6_PAIRS = 64, CT_TABLE6_CONFIGS = 2 * CT_TABLE6_PAIRS };

struct ct_table6_unknown {
	char workload[32], name[16]; /* workload "*": a global or a multiplier */
	double centre, sd;
	uint32_t model; /* index in the set, UINT32_MAX for "*" */
	int field;      /* which of the globals, multipliers or counters */
};

struct ct_table6 {
	const struct ct_profiles *set;
	struct ct_table6_unknown unknown[CT_TABLE6_UNKNOWNS];
	uint32_t n_unknowns;
	const struct ct_profile *config[CT_TABLE6_CONFIGS];
	uint32_t n_configs;
	struct ct_fit_pair pair[CT_TABLE6_PAIRS];
	char severity[CT_TABLE6_PAIRS][16];
	uint32_t n_pairs;
};

/* CT_ECONFIG with file:line:column. `set` must outlive the table. */
int ct_table6_load(const char *dir, const struct ct_profiles *set, struct ct_table6 *out, struct ct_err *err);
struct ct_fit_model ct_table6_model(const struct ct_table6 *t);
double ct_table6_value(const struct ct_table6 *t, uint32_t unknown, double x);
/* The globals, and the profiles (n_profiles of the set) that the unknowns give. */
void ct_table6_apply(const struct ct_table6 *t, const double *x, struct ct_slowdown_params *s,
		     struct ct_profile *profile);
/* "BERT b128+ck" */
const char *ct_table6_label(const struct ct_table6 *t, uint32_t config, char out[64]);

/* The calibration of a folder: loads, fits, leaves each pair out once. `overrides`:
 * the measured pairs replace the model in runs. */
int ct_table6_fit(const char *dir, int overrides, struct ct_calibration **out, struct ct_err *err);

#endif
