/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/calib_scores.h"

#include "calib/real_cells.h"
#include "sim/memory.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5 };

void ct_score_list_fini(struct ct_score_list *l)
{
	free(l->v);
	*l = (struct ct_score_list){ 0 };
}

const struct ct_score_line *ct_score_find(const struct ct_score_list *l, const char *set, const char *split,
					  const char *predictor)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].set, set) && !strcmp(l->v[i].split, split) && !strcmp(l->v[i].predictor, predictor))
			return &l->v[i];
	return NULL;
}

struct ct_score_line *ct_score_line(struct ct_score_list *l, const char *set, const char *split, const char *predictor)
{
	const struct ct_score_line *there = ct_score_find(l, set, split, predictor);

	if (there)
		return &l->v[there - l->v];
	CT_GROW(l->v, l->cap, l->n + 1);
	l->v[l->n] = (struct ct_score_line){ .set = set, .split = split, .predictor = predictor };
	return &l->v[l->n++];
}

static struct ct_mean mean_of(const double *v, unsigned n)
{
	struct ct_mean m = { gsl_stats_mean(v, 1, n), (double)NAN };

	if (n > 1)
		m.half = gsl_cdf_tdist_Pinv(.975, n - 1) * gsl_stats_sd(v, 1, n) / sqrt(n);
	return m;
}

struct ct_mean ct_score_mean(const struct ct_score_line *l, unsigned type, enum ct_score_what what)
{
	double v[CT_SEEDS_MOST] = { 0 };

	for (unsigned i = 0; i < l->seeds; i++) {
		const struct ct_score *s = &l->score[i][type];

		v[i] = what == CT_R2 ? s->r2 : 100 * (what == CT_MAPE_PCT ? s->mape : s->moderate);
	}
	return mean_of(v, l->seeds);
}

struct ct_mean ct_score_difference(const struct ct_score_line *a, const struct ct_score_line *b)
{
	double v[CT_SEEDS_MOST] = { 0 };

	for (unsigned i = 0; i < a->seeds; i++)
		v[i] = 100 * (b->score[i][CT_SCORE_ALL].mape - a->score[i][CT_SCORE_ALL].mape);
	return mean_of(v, a->seeds);
}

/* ---- cross-validation */

static int crossval(struct ct_score_list *out, const char *set, const struct ct_samples *s, enum ct_split split,
		    uint64_t seed, int floor, struct ct_err *err)
{
	const struct ct_learner *l;

	for (size_t i = 0; (l = ct_learner_at(i)); i++) {
		struct ct_crossval_options o = { .folds = FOLDS, .split = split, .seed = seed, .floor = floor };
		struct ct_score_line *line;

		if (!l->built_in)
			continue;
		line = ct_score_line(out, set, ct_split_name[split], l->name);
		CT_TRY(ct_crossval(l, s, &o, line->score[line->seeds++], err));
	}
	return 0;
}

static void noise_floor(struct ct_score_list *out, const char *set, const struct ct_samples *s)
{
	struct ct_score_line *line = ct_score_line(out, set, "-", "noise floor");
	double *truth = ct_calloc(s->n, sizeof *truth);

	for (size_t i = 0; i < s->n; i++)
		truth[i] = s->row[i].truth;
	ct_score_of(s, truth, line->score[line->seeds++]);
	free(truth);
}

/* ---- trained on the whole set, against pairs beyond it */

static int beyond(struct ct_score_list *out, const char *split, const struct ct_samples *train,
		  const struct ct_samples *test, uint64_t seed, struct ct_err *err)
{
	double *predicted = ct_calloc(test->n, sizeof *predicted);
	const struct ct_learner *l;
	int rc = 0;

	for (size_t i = 0; rc == 0 && (l = ct_learner_at(i)); i++) {
		struct ct_score_line *line;
		void *model;

		if (!l->built_in)
			continue;
		rc = l->train(train, seed, 1, &model, err);
		if (rc)
			break;
		line = ct_score_line(out, "generated", split, l->name);
		l->predict(model, test->x, test->n, predicted);
		ct_score_of(test, predicted, line->score[line->seeds++]);
		l->free(model);
	}
	free(predicted);
	return rc;
}

static int one_generated(const struct ct_scores_options *s, uint64_t seed, struct ct_score_list *out,
			 struct ct_err *err)
{
	struct ct_dataset_options o = ct_dataset_defaults(seed);
	struct ct_samples every;
	struct ct_dataset d;
	int rc = 0;

	o.memory_mib = s->memory_mib;
	ct_dataset_make(&o, s->set, s->truth, &d);
	noise_floor(out, "generated", &d.samples);
	for (enum ct_split split = CT_SPLIT_ROW; rc == 0 && split < CT_SPLITS; split++)
		rc = crossval(out, "generated", &d.samples, split, seed, 1, err);
	for (int unseen = 0; rc == 0 && unseen < 2; unseen++) {
		ct_dataset_every(&o, s->set, s->truth, unseen ? d.used : NULL, &every);
		rc =
		    beyond(out, unseen ? "unseen configurations" : "all configurations", &d.samples, &every, seed, err);
		ct_samples_fini(&every);
	}
	ct_dataset_fini(&d);
	memset(o.sigma, 0, sizeof o.sigma);
	o.counter_sd = 0;
	ct_dataset_make(&o, s->set, s->truth, &d);
	if (rc == 0)
		rc = crossval(out, "generated, no noise", &d.samples, CT_SPLIT_PAIR, seed, 1, err);
	ct_dataset_fini(&d);
	return rc;
}

int ct_scores_generated(const struct ct_scores_options *o, struct ct_score_list *out, struct ct_err *err)
{
	for (unsigned i = 0; i < o->seeds; i++)
		CT_TRY(one_generated(o, o->seed + i, out, err));
	return 0;
}

/* A split with fewer groups than folds is left out. */
static int has_groups(const struct ct_samples *s, enum ct_split split, uint64_t seed)
{
	struct ct_crossval_options o = { .folds = FOLDS, .split = split, .seed = seed };
	unsigned *fold = ct_calloc(s->n + 1, sizeof *fold);
	size_t n = ct_crossval_folds(s, &o, fold);

	free(fold);
	return n >= FOLDS;
}

int ct_scores_measured(const char *name, const struct ct_samples *s, uint64_t seed, unsigned seeds,
		       struct ct_score_list *out, struct ct_err *err)
{
	for (unsigned i = 0; i < seeds; i++)
		for (enum ct_split split = CT_SPLIT_ROW; split < CT_SPLITS; split++) {
			struct ct_crossval_options o = { FOLDS, split, seed + i, 1, 0 };
			struct ct_score_line *line;

			if (!has_groups(s, split, seed + i))
				continue;
			CT_TRY(crossval(out, name, s, split, seed + i, 0, err));
			line = ct_score_line(out, name, ct_split_name[split], "dnn, S >= 1");
			CT_TRY(ct_crossval(&ct_learner_dnn, s, &o, line->score[line->seeds++], err));
		}
	return 0;
}

/* ---- learning curve */

const double ct_curve_share[CT_CURVE_SHARES] = { .2, .3, .5, .7 };

int ct_scores_curve(const struct ct_samples *s, uint64_t seed, unsigned seeds, struct ct_curve_line **out, size_t *n,
		    struct ct_err *err)
{
	struct ct_curve_score score[CT_CURVE_SHARES * CT_CURVE_PREDICTORS];
	struct ct_curve_line *l = ct_calloc(CT_CURVE_SHARES * CT_CURVE_PREDICTORS, sizeof *l);
	size_t k = 0;

	for (unsigned i = 0; i < seeds; i++) {
		struct ct_curve_options o = {
			.seed = seed + i, .test_share = .3, .share = ct_curve_share, .n = CT_CURVE_SHARES
		};
		int rc = ct_curve(s, &o, score, err);

		if (rc) {
			free(l);
			return rc;
		}
		k = 0;
		for (unsigned e = 0; e < CT_CURVE_SHARES * CT_CURVE_PREDICTORS; e++) {
			if (!score[e].test)
				continue;
			if (!i)
				l[k] = (struct ct_curve_line){ .predictor = ct_curve_predictor(e % CT_CURVE_PREDICTORS),
							       .share = ct_curve_share[e / CT_CURVE_PREDICTORS],
							       .seeds = seeds,
							       .train = score[e].train,
							       .test = score[e].test };
			l[k].mape_pct[i] = 100 * score[e].mape;
			l[k++].r2[i] = score[e].r2;
		}
	}
	*out = l;
	*n = k;
	return 0;
}

struct ct_mean ct_curve_mean(const struct ct_curve_line *l, int r2)
{
	return mean_of(r2 ? l->r2 : l->mape_pct, l->seeds);
}

/* ---- the paper's table */

static double number_or_nan(const struct ct_table *t, size_t name, double lo, double hi)
{
	return ct_table_cell(t, name).n ? ct_cell_number(t, name, lo, hi) : (double)NAN;
}

int ct_published_load(const char *path, struct ct_published out[CT_PUBLISHED_MOST], size_t *n, struct ct_err *err)
{
	static const char *const names[] = { "predictor", "type", "mape_pct", "r2", "samples", "source" };
	struct ct_table t;

	*n = 0;
	CT_TRY(ct_table_open(&t, path, names, sizeof names / sizeof *names, CT_TABLE_REFUSE_UNKNOWN, err));
	while (*n < CT_PUBLISHED_MOST && ct_table_next(&t) == 1) {
		struct ct_published *p = &out[(*n)++];

		snprintf(p->predictor, sizeof p->predictor, "%s", ct_table_cell(&t, 0).s);
		snprintf(p->type, sizeof p->type, "%s", ct_table_cell(&t, 1).s);
		p->mape_pct = number_or_nan(&t, 2, 0, 1000);
		p->r2 = number_or_nan(&t, 3, -100, 1);
		p->samples = (int)number_or_nan(&t, 4, 0, 1e9);
	}
	return ct_table_close(&t);
}
