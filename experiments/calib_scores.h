/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calib_scores.h - what `cotenant calib eval` measures, before it is printed: scores of
 * predictors over several seeds, and the paper's Table 7. */
#ifndef CT_EXPERIMENTS_CALIB_SCORES_H
#define CT_EXPERIMENTS_CALIB_SCORES_H

#include "calib/crossval.h"
#include "calib/curve.h"
#include "calib/dataset.h"
#include "calib/profiles.h"
#include "calib/slowdown.h"

enum { CT_SEEDS_MOST = 20 };

/* One line of the report. */
struct ct_score_line {
	const char *set, *split, *predictor;
	unsigned seeds;
	struct ct_score score[CT_SEEDS_MOST][CT_SCORES];
};

struct ct_score_list {
	struct ct_score_line *v;
	size_t n, cap;
};
void ct_score_list_fini(struct ct_score_list *l);
/* The line, appended when it is new. */
struct ct_score_line *ct_score_line(struct ct_score_list *l, const char *set, const char *split, const char *predictor);

enum ct_score_what { CT_MAPE_PCT, CT_R2, CT_MODERATE_PCT };
/* Mean over the seeds and half the 95 % interval of that mean (Student; NaN from one seed). */
struct ct_mean {
	double mean, half;
};
struct ct_mean ct_score_mean(const struct ct_score_line *l, unsigned type, enum ct_score_what what);

/* MAPE of `b` less that of `a` (percentage points), paired by seed. */
struct ct_mean ct_score_difference(const struct ct_score_line *a, const struct ct_score_line *b);
/* NULL: no such line. */
const struct ct_score_line *ct_score_find(const struct ct_score_list *l, const char *set, const char *split,
					  const char *predictor);

struct ct_scores_options {
	const struct ct_profiles *set;
	const struct ct_slowdown_params *truth;
	double memory_mib; /* pairs of the generated set fit this */
	uint64_t seed;
	unsigned seeds;
};
/* Generated sets: cross-validation by row, pair and model pair; the noise floor; the
 * same without noise (by pair); and predictors trained on the whole set against all
 * pairs of all configurations and of those it never saw. */
int ct_scores_generated(const struct ct_scores_options *o, struct ct_score_list *out, struct ct_err *err);
/* Measured samples: the three splits (one with fewer than 5 groups is left out), without a floor at 1; for the network
 * also with the paper's ("dnn, S >= 1"). */
int ct_scores_measured(const char *name, const struct ct_samples *s, uint64_t seed, unsigned seeds,
		       struct ct_score_list *out, struct ct_err *err);

/* One line of the learning curve: a predictor that saw a share of the pairs. */
struct ct_curve_line {
	const char *predictor;
	double share;
	unsigned seeds;
	size_t train, test; /* rows, of the first seed */
	double mape_pct[CT_SEEDS_MOST], r2[CT_SEEDS_MOST];
};
enum { CT_CURVE_SHARES = 4 };
extern const double ct_curve_share[CT_CURVE_SHARES]; /* .2 .3 .5 .7; 30 % of the pairs are kept apart */
/* `out` malloc'ed, *n lines by share, then predictor; without predictors that are not built in. */
int ct_scores_curve(const struct ct_samples *s, uint64_t seed, unsigned seeds, struct ct_curve_line **out, size_t *n,
		    struct ct_err *err);
struct ct_mean ct_curve_mean(const struct ct_curve_line *l, int r2);

struct ct_published {
	char predictor[16], type[16];
	double mape_pct, r2; /* NaN: not given */
	int samples;
};
enum { CT_PUBLISHED_MOST = 32 };
int ct_published_load(const char *path, struct ct_published out[CT_PUBLISHED_MOST], size_t *n, struct ct_err *err);

#endif
