/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/crossval.h"

#include "sim/memory.h"
#include "sim/random.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

const char *const ct_split_name[CT_SPLITS] = { "row", "pair", "model pair" };

static uint32_t group_of(const struct ct_samples *s, size_t i, enum ct_split split)
{
	switch (split) {
	case CT_SPLIT_PAIR:
		return s->row[i].pair;
	case CT_SPLIT_MODEL_PAIR:
		return s->row[i].model_pair;
	default:
		return (uint32_t)i;
	}
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The distinct groups, ascending; malloc'ed. */
static uint32_t *groups_of(const struct ct_samples *s, enum ct_split split, size_t *n)
{
	uint32_t *g = ct_calloc(s->n + 1, sizeof *g);
	size_t k = 0;

	for (size_t i = 0; i < s->n; i++)
		g[i] = group_of(s, i, split);
	qsort(g, s->n, sizeof *g, by_value);
	for (size_t i = 0; i < s->n; i++)
		if (!k || g[k - 1] != g[i])
			g[k++] = g[i];
	*n = k;
	return g;
}

/* place[group] in a random order: dealt out like cards. */
size_t ct_crossval_folds(const struct ct_samples *s, const struct ct_crossval_options *o, unsigned *fold)
{
	size_t n;
	uint32_t *g = groups_of(s, o->split, &n), *order = ct_calloc(n, sizeof *order);
	unsigned *of = ct_calloc(n, sizeof *of);
	struct ct_stream r;

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	ct_stream_init(&r, o->seed, CT_RANDOM_SAMPLING, 1 + (uint64_t)o->split);
	gsl_ran_shuffle(&r.rng, order, n, sizeof *order);
	for (size_t i = 0; i < n; i++)
		of[order[i]] = (unsigned)(i % o->folds);
	for (size_t i = 0; i < s->n; i++) {
		uint32_t key = group_of(s, i, o->split);
		const uint32_t *at = bsearch(&key, g, n, sizeof *g, by_value);

		fold[i] = of[at - g];
	}
	free(g);
	free(order);
	free(of);
	return n;
}

static struct ct_score score_type(const struct ct_samples *s, const double *predicted, unsigned type)
{
	struct ct_score r = { .mape = 0 };
	double mean = 0, total = 0, rest = 0, moderate = 0;
	size_t n_moderate = 0;

	for (size_t i = 0; i < s->n; i++)
		if (type == CT_SCORE_ALL || s->row[i].type == type) {
			double y = s->row[i].slowdown, e = fabs(predicted[i] - y) / y;
			int middle = 1 / y >= .6 && 1 / y <= .9;

			r.n++;
			r.mape += e;
			mean += y;
			n_moderate += (size_t)middle;
			moderate += middle ? e : 0;
		}
	mean /= (double)r.n;
	for (size_t i = 0; i < s->n; i++)
		if (type == CT_SCORE_ALL || s->row[i].type == type) {
			total += gsl_pow_2(s->row[i].slowdown - mean);
			rest += gsl_pow_2(s->row[i].slowdown - predicted[i]);
		}
	r.mape = r.n ? r.mape / (double)r.n : (double)NAN;
	r.r2 = r.n && total > 0 ? 1 - rest / total : (double)NAN;
	r.moderate = n_moderate ? moderate / (double)n_moderate : (double)NAN;
	return r;
}

void ct_score_of(const struct ct_samples *s, const double *predicted, struct ct_score score[CT_SCORES])
{
	for (unsigned t = 0; t < CT_SCORES; t++)
		score[t] = score_type(s, predicted, t);
}

/* Does a group of the training folds take part, when only a share of all may? Drawn
 * by the group, so a larger share holds the smaller one. */
static int taken(const struct ct_samples *s, size_t i, const struct ct_crossval_options *o)
{
	double others = 1 - 1 / (double)o->folds;
	struct ct_stream r;

	if (o->train_share <= 0 || o->train_share >= others)
		return 1;
	ct_stream_init(&r, o->seed, CT_RANDOM_SAMPLING, (uint64_t)group_of(s, i, o->split) << 8 | 0x80);
	return gsl_rng_uniform(&r.rng) < o->train_share / others;
}

static int one_fold(const struct ct_learner *l, const struct ct_samples *s, const struct ct_crossval_options *o,
		    const unsigned *fold, unsigned k, double *predicted, struct ct_err *err)
{
	size_t *rows = ct_calloc(s->n, sizeof *rows), n = 0;
	struct ct_samples part;
	void *model;
	int rc;

	for (size_t i = 0; i < s->n; i++)
		if (fold[i] != k && taken(s, i, o))
			rows[n++] = i;
	ct_samples_subset(s, rows, n, &part);
	free(rows);
	rc = l->train(&part, o->seed * 1009 + k, o->floor, &model, err);
	ct_samples_fini(&part);
	if (rc)
		return rc;
	for (size_t i = 0; i < s->n; i++)
		if (fold[i] == k)
			l->predict(model, s->x + i * s->width, 1, predicted + i);
	l->free(model);
	return 0;
}

int ct_crossval(const struct ct_learner *l, const struct ct_samples *s, const struct ct_crossval_options *o,
		struct ct_score score[CT_SCORES], struct ct_err *err)
{
	unsigned *fold;
	double *predicted;
	size_t groups;
	int rc = ct_learner_check(l, s, err);

	if (rc)
		return rc;
	CT_CHECK(NULL, o->folds >= 2, "%u folds", o->folds);
	fold = ct_calloc(s->n, sizeof *fold);
	predicted = ct_calloc(s->n, sizeof *predicted);
	groups = ct_crossval_folds(s, o, fold);
	if (groups < o->folds)
		rc = ct_err_at(err, CT_ECONFIG, NULL, "%u folds want at least as many groups by %s, got %zu", o->folds,
			       ct_split_name[o->split], groups);
	for (unsigned k = 0; rc == 0 && k < o->folds; k++)
		rc = one_fold(l, s, o, fold, k, predicted, err);
	if (rc == 0)
		ct_score_of(s, predicted, score);
	free(fold);
	free(predicted);
	return rc;
}
