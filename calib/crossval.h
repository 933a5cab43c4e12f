/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crossval.h - k-fold cross-validation of a learner on a sample set.
 *
 *	struct ct_crossval_options o = { .folds = 5, .split = CT_SPLIT_PAIR, .seed = 1, .floor = 1 };
 *	struct ct_score score[CT_SCORES];
 *	CT_TRY(ct_crossval(&ct_learner_dnn, &samples, &o, score, &err));
 *
 * Folds: single rows, whole pairs, or whole pairs of models, dealt out at random by
 * the seed, for all learners the same. */
#ifndef CT_CALIB_CROSSVAL_H
#define CT_CALIB_CROSSVAL_H

#include "calib/learner.h"

enum ct_split { CT_SPLIT_ROW, CT_SPLIT_PAIR, CT_SPLIT_MODEL_PAIR, CT_SPLITS };
extern const char *const ct_split_name[CT_SPLITS];

struct ct_crossval_options {
	unsigned folds;
	enum ct_split split;
	uint64_t seed;
	int floor;
	double train_share; /* 0: all other folds; else only this share of the data's groups, drawn from them */
};

/* Of the slowdown S. */
struct ct_score {
	size_t n;
	double mape;     /* mean |S^ - S| / S */
	double r2;       /* 1 - sum (S^ - S)^2 / sum (S - mean S)^2 */
	double moderate; /* MAPE where the measured decay is 0.6 to 0.9; NaN: none */
};
enum { CT_SCORE_ALL = CT_PAIR_TYPES, CT_SCORES }; /* by type of pair, then overall */

/* From predictions for each row. NaN where there is no row. */
void ct_score_of(const struct ct_samples *s, const double *predicted, struct ct_score score[CT_SCORES]);
int ct_crossval(const struct ct_learner *l, const struct ct_samples *s, const struct ct_crossval_options *o,
		struct ct_score score[CT_SCORES], struct ct_err *err);
/* fold[i] of each row; returns how many groups there are. */
size_t ct_crossval_folds(const struct ct_samples *s, const struct ct_crossval_options *o, unsigned *fold);

#endif
