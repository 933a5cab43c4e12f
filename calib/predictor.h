/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor.h - the belief about interference that a scheduler may ask: the slowdown
 * S of a configuration beside another, as numbers of a profile set.
 *
 *	dnn, xgb, linear	learned from a sampled, noisy co-location set
 *	oracle			the truth itself (without the frozen residual): an upper bound, not a method
 *	none			1 for every pair: co-location without a check
 *
 *	struct ct_predictor *p;
 *	CT_TRY(ct_predictor_load("iac.h5", set, &p, &err));     // or ct_predictor_train(), ..._plain()
 *	struct ct_config_pair pair[] = { { self, other }, { other, self } };
 *	double s[2];
 *	p->slowdown(p, pair, 2, s);
 *	p->free(p);
 *
 * A file (HDF5) holds one learned predictor: group /predictor with the learner's
 * arrays, its name, the seed of its training, the features of the configurations as
 * they were seen, and the digest of the profile set they belong to. */
#ifndef CT_CALIB_PREDICTOR_H
#define CT_CALIB_PREDICTOR_H

#include "calib/dataset.h"
#include "calib/features.h"
#include "calib/learner.h"
#include "calib/profiles.h"
#include "calib/slowdown.h"

/* Two configurations of the set on one GPU; it is the first whose slowdown is asked. */
struct ct_config_pair {
	uint32_t self, other;
};

struct ct_predictor {
	const char *name;
	/* Indices are below `profiles`. */
	void (*slowdown)(const struct ct_predictor *p, const struct ct_config_pair *pair, size_t n, double *out);
	void (*free)(struct ct_predictor *p);
	uint32_t profiles;
	/* of those that learned */
	const struct ct_learner *learner;
	void *model;
	double *feature; /* [profiles][CT_JOB_FEATURES] */
	char digest[65]; /* of the profile set */
	uint64_t seed;   /* of the training */
	/* of the oracle */
	struct ct_demand *demand;
	struct ct_slowdown_params truth;
};

/* dnn, xgb or linear from a sample set that `seen` made. `seen` NULL: exact counters.
 * `set` NULL: it knows no configurations by number and answers ct_predictor_features()
 * alone; then the samples may have any width. */
int ct_predictor_train(const char *name, const struct ct_samples *samples, uint64_t seed, const struct ct_profiles *set,
		       const struct ct_observation *seen, struct ct_predictor **out, struct ct_err *err);
/* oracle or none. `truth` may be NULL for none. */
int ct_predictor_plain(const char *name, const struct ct_profiles *set, const struct ct_slowdown_params *truth,
		       struct ct_predictor **out, struct ct_err *err);

/* What a learned predictor says of a pair of which only the features are known; `n`
 * rows of the learner's width. At least 1. */
void ct_predictor_features(const struct ct_predictor *p, const double *x, size_t n, double *out);

/* Written whole or not at all; CT_EIO. CT_ECONFIG for oracle and none, which have
 * nothing to save. */
int ct_predictor_save(const struct ct_predictor *p, const char *path, struct ct_err *err);
/* CT_EIO: no such file; CT_ECONFIG: not such a file, or made for other profiles. */
int ct_predictor_load(const char *path, const struct ct_profiles *set, struct ct_predictor **out, struct ct_err *err);

#endif
