/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learner.h - the kinds of model that learn a slowdown from samples, behind one
 * struct of functions:
 *
 *	dnn	the network of network.h
 *	xgb	gradient-boosted trees (XGBoost's C API): 300 trees of depth 6, step 0.1, on log S
 *	linear	least squares (GSL) on S, clipped to at least 1 like the network
 *	mean	the geometric mean of the training samples, whatever the pair: the trivial predictor
 *
 *	const struct ct_learner *l = ct_learner_find("dnn");
 *	CT_TRY(l->train(&samples, seed, floor, &model, &err));
 *	l->predict(model, x, n, out);
 *	l->free(model);
 *
 * `floor`: slowdowns are known to be at least 1 (0 for real data with speed-ups: no
 * clipping, and the network's output is exp(z)). The same samples and seed give the
 * same model. */
#ifndef CT_CALIB_LEARNER_H
#define CT_CALIB_LEARNER_H

#include "calib/samples.h"

#include <hdf5.h>

struct ct_learner {
	const char *name;
	int built_in; /* 0: this program was built without the library it needs */
	int (*train)(const struct ct_samples *s, uint64_t seed, int floor, void **model, struct ct_err *err);
	void (*predict)(const void *model, const double *x, size_t n, double *out);
	void (*free)(void *model);
	size_t (*width)(const void *model); /* features it takes */
	/* To and from an open HDF5 group; `at` names the file for messages. */
	int (*save)(const void *model, hid_t group, const struct ct_loc *at, struct ct_err *err);
	int (*load)(hid_t group, const struct ct_loc *at, void **model, struct ct_err *err);
};

extern const struct ct_learner ct_learner_dnn, ct_learner_xgb, ct_learner_linear, ct_learner_mean;

/* dnn, xgb, linear, mean; then NULL. */
const struct ct_learner *ct_learner_at(size_t i);
const struct ct_learner *ct_learner_find(const char *name); /* NULL: none */
/* CT_ECONFIG when it is not built in or there are too few samples. */
int ct_learner_check(const struct ct_learner *l, const struct ct_samples *s, struct ct_err *err);

#endif
