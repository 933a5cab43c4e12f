/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curve.h - the learning curve: how well predictors say pairs kept apart, by how many of
 * the other pairs they were shown.
 *
 *	static const double share[] = { .2, .3, .5, .7 };
 *	struct ct_curve_options o = { .seed = 1, .test_share = .3, .share = share, .n = 4 };
 *	struct ct_curve_score score[4 * CT_CURVE_PREDICTORS];
 *	CT_TRY(ct_curve(&samples, &o, score, &err));       // score[i * CT_CURVE_PREDICTORS + k]
 *
 * Pairs are shuffled by the seed; the last `test_share` of them is kept apart, the first
 * share[i] of all is shown, so a larger share holds the smaller one. Samples must say
 * which configurations they are of (self, other). Shares are of the data's pairs, both
 * rows of a pair stay together. */
#ifndef CT_CALIB_CURVE_H
#define CT_CALIB_CURVE_H

#include "calib/samples.h"

/* The latent form of the truth (fit.h), then the learners of learner.h in their order. */
enum { CT_CURVE_LATENT, CT_CURVE_LEARNERS, CT_CURVE_PREDICTORS = CT_CURVE_LEARNERS + 4 };
const char *ct_curve_predictor(unsigned k);

struct ct_curve_options {
	uint64_t seed;
	double test_share;
	const double *share;
	size_t n;
	int without_latent; /* leave it out (its score is of 0 rows) */
};

struct ct_curve_score {
	size_t train, test; /* rows; test 0: not built in */
	double mape;        /* of S, a fraction */
	double r2;          /* of the decay 1/S, as the fits report it */
};

/* CT_ECONFIG when a share leaves nothing to learn from or to test. */
int ct_curve(const struct ct_samples *s, const struct ct_curve_options *o, struct ct_curve_score *score,
	     struct ct_err *err);

#endif
