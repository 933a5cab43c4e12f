/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/features.h"

#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#define PRESSURE_MB (80 * 1024.) /* the paper's C_mem, "e.g., 80 GB for A100" */

enum { SM, OCCUPANCY, DRAM, FB, TENSOR, TRAIN, PARAMS, THROUGHPUT, BATCH, CKPT, AMP, ISL, OSL, RHO };
enum { MEANS = 28, TYPE = 32, PRESSURE, BALANCE, INTENSITY };

const char *const ct_feature_name[CT_FEATURES] = {
	"sm_active_i",     "sm_occupancy_i", "dram_active_i", "fb_used_mb_i",   "tensor_active_i", "is_train_i",
	"log_params_i",    "throughput_i",   "batch_i",       "ckpt_i",         "amp_i",           "isl_i",
	"osl_i",           "rho_i",          "sm_active_j",   "sm_occupancy_j", "dram_active_j",   "fb_used_mb_j",
	"tensor_active_j", "is_train_j",     "log_params_j",  "throughput_j",   "batch_j",         "ckpt_j",
	"amp_j",           "isl_j",          "osl_j",         "rho_j",          "mean_sm",         "mean_occ",
	"mean_dram",       "mean_tensor",    "coloc_type",    "mem_pressure",   "compute_balance", "mem_intensity_diff",
};

/* What was not measured is 0, as what a job does not have. */
static double known(double v)
{
	return isnan(v) ? 0 : v;
}

void ct_features_job(const struct ct_profile *p, uint64_t index, const struct ct_observation *seen,
		     double out[CT_JOB_FEATURES])
{
	double e[5] = { 1, 1, 1, 1, 1 };

	if (seen) {
		struct ct_stream s;

		ct_stream_init(&s, seen->seed, CT_RANDOM_SAMPLING, 1ull << 63 | index);
		for (int k = 0; k < 5; k++)
			e[k] = exp(seen->sd * gsl_ran_gaussian_ziggurat(&s.rng, 1));
	}
	memset(out, 0, CT_JOB_FEATURES * sizeof *out);
	out[SM] = known(p->sm_active) * e[0];
	out[OCCUPANCY] = known(p->sm_occupancy) * e[1];
	out[DRAM] = known(p->dram_active) * e[2];
	out[FB] = p->fb_mib;
	out[TENSOR] = known(p->tensor_active) * e[3];
	out[TRAIN] = p->train;
	out[PARAMS] = p->params > 0 ? log10(p->params) : 0;
	out[THROUGHPUT] = log10(p->throughput * e[4]);
	if (p->train) {
		out[BATCH] = p->batch ? log2(p->batch) : 0;
		out[CKPT] = p->ckpt;
		out[AMP] = p->amp;
	} else {
		out[ISL] = p->isl;
		out[OSL] = p->osl;
		out[RHO] = p->rho;
	}
}

enum ct_pair_type ct_features_type(const double self[CT_JOB_FEATURES], const double other[CT_JOB_FEATURES])
{
	int training = (self[TRAIN] != 0) + (other[TRAIN] != 0);

	return training == 2 ? CT_PAIR_TT : training == 1 ? CT_PAIR_TI : CT_PAIR_II;
}

/* An idle job (SM activity 0) has no intensity. */
static double intensity(const double x[CT_JOB_FEATURES])
{
	return x[SM] > 0 ? x[DRAM] / x[SM] : 0;
}

void ct_features_pair(const double self[CT_JOB_FEATURES], const double other[CT_JOB_FEATURES], double out[CT_FEATURES])
{
	static const int mean_of[] = { SM, OCCUPANCY, DRAM, TENSOR };
	double lo = self[SM] < other[SM] ? self[SM] : other[SM], hi = self[SM] < other[SM] ? other[SM] : self[SM];

	memcpy(out, self, CT_JOB_FEATURES * sizeof *out);
	memcpy(out + CT_JOB_FEATURES, other, CT_JOB_FEATURES * sizeof *out);
	for (int k = 0; k < 4; k++)
		out[MEANS + k] = .5 * (self[mean_of[k]] + other[mean_of[k]]);
	out[TYPE] = ct_features_type(self, other);
	out[PRESSURE] = (self[FB] + other[FB]) / PRESSURE_MB;
	out[BALANCE] = hi > 0 ? lo / hi : 1;
	out[INTENSITY] = fabs(intensity(self) - intensity(other));
}
