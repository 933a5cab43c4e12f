/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.h - a calibration file: what is known of one GPU, in HDF5.
 *
 *	/meta         attributes gpu, source, mode, mem_mib, reserve_mib, sigma_fit,
 *	              fit_mae, fit_mape, fit_worst, fit_r2, resources, and lopo_*:
 *	              the same for pairs the fit did not see (Table 6: one left out; own
 *	              measurements: 5-fold)
 *	/wstr         attributes m beta c_C c_D c_O c_H p q omega_clip s_soft
 *	/noise        attributes sigma_TT sigma_TI sigma_II: log sd of the frozen residual
 *	/profiles     one column a value: workload, config, counters, demands a0..a3
 *	/pairs        measured pairs: a, b (rows of /profiles), s_a, s_b; fit_*, lopo_*
 *	/posterior    name, value, width (posterior / prior standard deviation)
 *	/holdout      predictor, mape, r2: error on pairs the fit did not see
 *
 * The file begins with 512 bytes of text, "cotenant-calibration 1\nBYTES SHA256\n",
 * which are checked before HDF5 sees the rest. */
#ifndef CT_CALIB_CALIBRATION_H
#define CT_CALIB_CALIBRATION_H

#include "calib/fit.h"
#include "calib/profiles.h"
#include "calib/slowdown.h"

enum { CT_DIGEST_TEXT_CALIB = 65 };

/* The largest slow-down a file may hold: a pair that did not run together at all. It
 * counts in runs, and is nothing to learn a slow-down from. */
#define CT_CALIB_FAILED 1e3

enum ct_calib_mode { CT_CALIB_COUNTERS, CT_CALIB_LATENT, CT_CALIB_OVERRIDES, CT_CALIB_MODES };

struct ct_calib_config {
	char workload[32];
	struct ct_profile profile; /* name is the configuration's */
	struct ct_demand demand;
	uint8_t is_default; /* of its workload; without one the first row is */
};

struct ct_calib_pair {
	struct ct_fit_pair measured; /* a, b: indices of configurations */
	double fit[2], lopo[2];      /* NaN: not computed */
};

struct ct_calib_unknown {
	char name[48];
	double value, width;
};

struct ct_calib_holdout {
	char predictor[32];
	double mape, r2;
};

struct ct_calibration {
	char gpu[64], source[256];
	enum ct_calib_mode mode;
	double mem_mib, reserve_mib, sigma_fit;
	double sigma[CT_COLOCS]; /* of the frozen residual */
	struct ct_fit_score fit, lopo;
	int resources;
	struct ct_slowdown_params wstr;
	struct ct_calib_config *config;
	struct ct_calib_pair *pair;
	struct ct_calib_unknown *unknown;
	struct ct_calib_holdout *holdout;
	size_t n_configs, n_pairs, n_unknowns, n_holdouts;
	int overrides; /* measured pairs replace the model */
	char digest[CT_DIGEST_TEXT_CALIB];
};

/* CT_EIO. The file is complete or not there; the same calibration gives the same bytes. */
int ct_calibration_write(const struct ct_calibration *c, const char *path, struct ct_err *err);
/* CT_EIO: not readable, not such a file, damaged. CT_ECONFIG: values out of range. */
int ct_calibration_read(const char *path, struct ct_calibration **out, struct ct_err *err);
void ct_calibration_free(struct ct_calibration *c);
/* The file's configurations as a profile set, with its digest; ct_profiles_free(). The
 * calibration may go before it. CT_ECONFIG: rows of a workload do not stand together. */
int ct_calibration_profiles(const struct ct_calibration *c, struct ct_profiles **out, struct ct_err *err);
const char *ct_calib_mode_name(enum ct_calib_mode m);

#endif
