/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/curve.h"

#include "calib/fit.h"
#include "calib/learner.h"
#include "sim/memory.h"
#include "sim/random.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

enum { STARTS = 3 };
#define SIGMA_LATENT 0.12

const char *ct_curve_predictor(unsigned k)
{
	return k == CT_CURVE_LATENT ? "latent truth" : ct_learner_at(k - CT_CURVE_LEARNERS)->name;
}

/* Rows in order of the pairs' random rank. */
struct split {
	size_t *row, n;
	size_t *end; /* of pair k's rows in `row` */
	size_t pairs;
};

struct ranked {
	uint32_t pair, rank;
	size_t row;
};

static int by_pair(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void shuffle_pairs(const struct ct_samples *s, uint64_t seed, struct split *out)
{
	struct ranked *v = ct_calloc(s->n, sizeof *v);
	uint32_t *order = ct_calloc(s->n, sizeof *order), k = 0;
	struct ct_stream r;

	for (size_t i = 0; i < s->n; i++)
		v[i] = (struct ranked){ .pair = s->row[i].pair, .row = i };
	qsort(v, s->n, sizeof *v, by_pair);
	for (size_t i = 0; i < s->n; i++)
		v[i].rank = i && v[i].pair == v[i - 1].pair ? k - 1 : k++;
	for (uint32_t i = 0; i < k; i++)
		order[i] = i;
	ct_stream_init(&r, seed, CT_RANDOM_CURVE, 0);
	gsl_ran_shuffle(&r.rng, order, k, sizeof *order);
	for (size_t i = 0; i < s->n; i++)
		v[i].rank = order[v[i].rank];
	qsort(v, s->n, sizeof *v, by_rank);
	*out = (struct split){ .n = s->n, .pairs = k };
	out->row = ct_calloc(s->n, sizeof *out->row);
	out->end = ct_calloc((size_t)k + 1, sizeof *out->end);
	for (size_t i = 0; i < s->n; i++) {
		out->row[i] = v[i].row;
		out->end[v[i].rank] = i + 1;
	}
	free(order);
	free(v);
}

static size_t rows_of(const struct split *p, double share)
{
	size_t k = (size_t)((double)p->pairs * share);

	return k ? p->end[k - 1] : 0;
}

static struct ct_curve_score score_of(const struct ct_samples *test, const double *said, size_t train)
{
	struct ct_curve_score r = { .train = train, .test = test->n };
	double mean = 0, total = 0, rest = 0;

	for (size_t i = 0; i < test->n; i++) {
		r.mape += fabs(said[i] / test->row[i].slowdown - 1) / (double)test->n;
		mean += 1 / test->row[i].slowdown / (double)test->n;
	}
	for (size_t i = 0; i < test->n; i++) {
		total += gsl_pow_2(1 / test->row[i].slowdown - mean);
		rest += gsl_pow_2(1 / test->row[i].slowdown - 1 / said[i]);
	}
	r.r2 = total > 0 ? 1 - rest / total : (double)NAN;
	return r;
}

/* ---- the latent form */

/* One decay a row: the other side of the pair is another row, or was not measured. */
static void pairs_of(const struct ct_samples *s, struct ct_fit_pair *pair)
{
	for (size_t i = 0; i < s->n; i++)
		pair[i] = (struct ct_fit_pair){ s->row[i].self, s->row[i].other, s->row[i].slowdown, NAN };
}

static int latent(const struct ct_samples *train, const struct ct_samples *test, uint64_t seed, double *said,
		  struct ct_err *err)
{
	struct ct_fit_latent l = { 0 };
	struct ct_fit_model m;
	struct ct_fit_pair *a = ct_calloc(train->n, sizeof *a), *b = ct_calloc(test->n, sizeof *b);
	double(*s)[2] = ct_calloc(test->n, sizeof *s);
	struct ct_fit_result r;
	int rc;

	pairs_of(train, a);
	pairs_of(test, b);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < (k ? test->n : train->n); i++) {
			const struct ct_fit_pair *p = k ? &b[i] : &a[i];

			l.n_configs = p->a >= l.n_configs ? p->a + 1 : l.n_configs;
			l.n_configs = p->b >= l.n_configs ? p->b + 1 : l.n_configs;
		}
	m = ct_fit_latents(&l);
	rc = ct_fit_latents_best(&l, a, train->n, SIGMA_LATENT, STARTS, seed, &r, err);
	if (!rc) {
		ct_fit_predict(&m, r.t, b, test->n, s);
		for (size_t i = 0; i < test->n; i++)
			said[i] = s[i][0];
		ct_fit_result_fini(&r);
	}
	free(s);
	free(a);
	free(b);
	return rc;
}

static int one_share(const struct ct_samples *train, const struct ct_samples *test, const struct ct_curve_options *o,
		     struct ct_curve_score *score, struct ct_err *err)
{
	double *said = ct_calloc(test->n, sizeof *said);
	int rc = 0;

	for (unsigned k = 0; k < CT_CURVE_PREDICTORS && !rc; k++) {
		const struct ct_learner *l = k < CT_CURVE_LEARNERS ? NULL : ct_learner_at(k - CT_CURVE_LEARNERS);
		void *model;

		score[k] = (struct ct_curve_score){ .train = train->n, .mape = NAN, .r2 = NAN };
		if (l ? !l->built_in : o->without_latent)
			continue;
		if (!l) {
			rc = latent(train, test, o->seed, said, err);
		} else {
			rc = l->train(train, o->seed, 0, &model, err);
			if (!rc) {
				l->predict(model, test->x, test->n, said);
				l->free(model);
			}
		}
		if (!rc)
			score[k] = score_of(test, said, train->n);
	}
	free(said);
	return rc;
}

int ct_curve(const struct ct_samples *s, const struct ct_curve_options *o, struct ct_curve_score *score,
	     struct ct_err *err)
{
	struct ct_samples train, test;
	struct split p;
	size_t apart;
	int rc = 0;

	shuffle_pairs(s, o->seed, &p);
	apart = rows_of(&p, 1 - o->test_share);
	ct_samples_subset(s, p.row + apart, p.n - apart, &test);
	for (size_t i = 0; i < o->n && !rc; i++) {
		size_t n = rows_of(&p, o->share[i]);

		n = n > apart ? apart : n;
		if (n < 8 || !test.n) {
			rc = ct_err_at(err, CT_ECONFIG, NULL,
				       "%g %% of %zu pairs are %zu rows to learn from and %zu to test, wanted at least "
				       "8 and 1",
				       100 * o->share[i], p.pairs, n, test.n);
			break;
		}
		ct_samples_subset(s, p.row, n, &train);
		rc = one_share(&train, &test, o, score + i * CT_CURVE_PREDICTORS, err);
		ct_samples_fini(&train);
	}
	ct_samples_fini(&test);
	free(p.row);
	free(p.end);
	return rc;
}
