/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/scenario_fit.h"

#include "experiments/statistics.h"
#include "sim/output.h"

#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS_MOST = 200, STARTS_MOST = 8 };
#define NOISE 2.0 /* standard errors of a loss difference */
#define FAR   1e6 /* loss outside the ranges below */

const char *const ct_scenario_key[CT_SCENARIO_UNKNOWNS] = { "generate.load", "generate.spread", "generate.tilt" };
static const double lowest[CT_SCENARIO_UNKNOWNS] = { 0.7, 0.5, -1.5 },
		    highest[CT_SCENARIO_UNKNOWNS] = { 5.0, 2.2, 1.5 };
/* From load and spread as specs/feasibility.md has them, then corners of the range. */
static const double start[STARTS_MOST][CT_SCENARIO_UNKNOWNS] = {
	{ 1.8, 1.3, 0 },    { 2.8, 1.0, 0.5 }, { 1.2, 1.7, -0.5 }, { 2.2, 1.7, 0.8 },
	{ 3.5, 1.3, -0.5 }, { 1.2, 0.9, 0.8 }, { 4.0, 0.8, 0 },    { 1.0, 2.0, 0 },
};
static const double step[CT_SCENARIO_UNKNOWNS] = { 0.4, 0.25, 0.4 };

struct search {
	struct ct_scenario_fit *f;
	struct ct_err *err;
};

/* ---- one vector */

/* Figures by their values over the seeds, without seed `skip` (SIZE_MAX: with all). */
struct table {
	double a[CT_SCENARIO_FIGURES][SEEDS_MOST], b[CT_SCENARIO_FIGURES][SEEDS_MOST];
	size_t n;
};

static double mean_without(const double *v, size_t n, size_t skip)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += i == skip ? 0 : v[i];
	return sum / (double)(skip < n ? n - 1 : n);
}

static double ours(const struct ct_paper_figure *g, const struct table *t, size_t i, size_t skip)
{
	double v = mean_without(t->b[i], t->n, skip);

	if (g->over != SIZE_MAX)
		v /= mean_without(t->a[i], t->n, skip);
	v *= g->scale;
	return g->invert ? 1 / v : v;
}

static double loss_of(const struct ct_scenario_fit *f, const struct table *t, size_t skip)
{
	double loss = 0;

	for (size_t i = 0; i < f->n_figures; i++) {
		const struct ct_paper_figure *g = f->figure[i];
		double v = ours(g, t, i, skip), d = g->relative ? log(v / g->value) : v - g->value;

		loss += d * d / (g->tolerance * g->tolerance);
	}
	return loss;
}

static int simulate(const struct search *s, const double *x, int64_t first_seed, struct table *t)
{
	struct ct_scenario_fit *f = s->f;
	struct ct_cell_set set[CT_SCENARIO_UNKNOWNS];
	char text[CT_SCENARIO_UNKNOWNS][CT_F64_TEXT];
	struct ct_study *study;
	int rc;

	for (int k = 0; k < CT_SCENARIO_UNKNOWNS; k++) {
		ct_f64_format(x[k], text[k]);
		set[k] = (struct ct_cell_set){ ct_scenario_key[k], text[k] };
	}
	study = ct_study_new(f->paper, f->scenario, set, CT_SCENARIO_UNKNOWNS);
	for (size_t i = 0; i < f->n_figures; i++) {
		ct_study_want(study, f->figure[i]->study, f->figure[i]->variant, first_seed, f->seeds);
		if (f->figure[i]->over != SIZE_MAX)
			ct_study_want(study, f->figure[i]->study, f->figure[i]->over, first_seed, f->seeds);
	}
	rc = ct_study_run(study, &f->how, s->err);
	for (size_t i = 0; i < f->n_figures && !rc; i++) {
		const struct ct_paper_figure *g = f->figure[i];

		t->n = ct_study_values(study, g->study, g->variant, g->metric, t->b[i], SEEDS_MOST);
		if (g->over != SIZE_MAX)
			ct_study_values(study, g->study, g->over, g->metric, t->a[i], SEEDS_MOST);
	}
	ct_study_free(study);
	return rc;
}

static int inside(const double *x)
{
	for (int k = 0; k < CT_SCENARIO_UNKNOWNS; k++)
		if (!(x[k] >= lowest[k] && x[k] <= highest[k]))
			return 0;
	return 1;
}

static double evaluate(const gsl_vector *at, void *ctx)
{
	struct search *s = ctx;
	struct ct_scenario_fit *f = s->f;
	struct ct_scenario_vector v = { .held_out = NAN };
	struct table *t;

	for (int k = 0; k < CT_SCENARIO_UNKNOWNS; k++)
		v.x[k] = round(gsl_vector_get(at, (size_t)k) * 1000) / 1000;
	if (!inside(v.x) || s->err->code || (f->how.interrupted && *f->how.interrupted))
		return FAR;
	t = ct_calloc(1, sizeof *t);
	if (simulate(s, v.x, f->first_seed, t) == 0 && t->n == f->seeds) {
		v.leave_one = ct_calloc(f->seeds, sizeof *v.leave_one);
		v.loss = loss_of(f, t, SIZE_MAX);
		for (size_t i = 0; i < f->seeds; i++)
			v.leave_one[i] = loss_of(f, t, i);
		for (size_t i = 0; i < f->n_figures; i++)
			v.ours[i] = ours(f->figure[i], t, i, SIZE_MAX);
		CT_GROW(f->v, f->cap, f->n + 1);
		f->v[f->n++] = v;
		if (f->evaluated)
			f->evaluated(f->ctx, &f->v[f->n - 1], f->n);
	}
	free(t);
	return v.leave_one && isfinite(v.loss) ? v.loss : FAR;
}

/* ---- the search */

static int descend(struct search *s, const double *from)
{
	gsl_multimin_fminimizer *m =
	    gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, CT_SCENARIO_UNKNOWNS);
	gsl_vector *x = gsl_vector_alloc(CT_SCENARIO_UNKNOWNS), *size = gsl_vector_alloc(CT_SCENARIO_UNKNOWNS);
	gsl_multimin_function fn = { .f = evaluate, .n = CT_SCENARIO_UNKNOWNS, .params = s };
	size_t first = s->f->n;
	int rc;

	if (!m || !x || !size)
		return ct_err_at(s->err, CT_EIO, NULL, "out of memory for the minimiser");
	for (size_t k = 0; k < CT_SCENARIO_UNKNOWNS; k++) {
		gsl_vector_set(x, k, from[k]);
		gsl_vector_set(size, k, step[k]);
	}
	rc = gsl_multimin_fminimizer_set(m, &fn, x, size);
	while (!rc && !s->err->code && s->f->n - first < s->f->evaluations &&
	       !(s->f->how.interrupted && *s->f->how.interrupted)) {
		rc = gsl_multimin_fminimizer_iterate(m);
		if (gsl_multimin_test_size(gsl_multimin_fminimizer_size(m), 0.01) == GSL_SUCCESS)
			break;
	}
	gsl_vector_free(x);
	gsl_vector_free(size);
	gsl_multimin_fminimizer_free(m);
	if (rc && rc != GSL_ENOPROG)
		ct_err_at(s->err, CT_EIO, NULL, "the minimiser failed: %s", gsl_strerror(rc));
	return (int)s->err->code;
}

static int by_loss(const void *a, const void *b)
{
	const struct ct_scenario_vector *x = a, *y = b;

	if (x->loss < y->loss || x->loss > y->loss)
		return x->loss < y->loss ? -1 : 1;
	return memcmp(x->x, y->x, sizeof x->x);
}

/* Jackknife of the difference to the best vector: both have the same seeds. */
static void judge(struct ct_scenario_fit *f)
{
	double n = f->seeds;

	for (size_t i = 0; i < f->n; i++) {
		struct ct_scenario_vector *v = &f->v[i];
		double mean = 0, sum = 0;

		for (size_t k = 0; k < f->seeds; k++)
			mean += (v->leave_one[k] - f->v[0].leave_one[k]) / n;
		for (size_t k = 0; k < f->seeds; k++)
			sum += pow(v->leave_one[k] - f->v[0].leave_one[k] - mean, 2);
		v->above = v->loss - f->v[0].loss;
		v->above_se = sqrt((n - 1) / n * sum);
		v->kept = v->above <= NOISE * v->above_se || i == 0;
	}
}

static int choose_figures(struct ct_scenario_fit *f, struct ct_err *err)
{
	int left_out = 0;

	for (size_t i = 0; i < f->paper->n_figures; i++) {
		const struct ct_paper_figure *g = &f->paper->figure[i];

		if (g->role != CT_ROLE_FIT || !g->runs || isnan(g->tolerance))
			continue;
		if (f->without && !strcmp(f->without, g->id)) {
			left_out = 1;
			continue;
		}
		if (f->n_figures == CT_SCENARIO_FIGURES)
			return ct_err_at(err, CT_ECONFIG, NULL, "more than %d figures of role fit",
					 (int)CT_SCENARIO_FIGURES);
		f->figure[f->n_figures++] = g;
	}
	if (f->without && !left_out)
		return ct_err_at(err, CT_ECONFIG, NULL, "'%.60s' is no figure of the fit", f->without);
	if (!f->n_figures)
		return ct_err_at(err, CT_ECONFIG, NULL, "no figures of role fit");
	return 0;
}

int ct_scenario_fit(struct ct_scenario_fit *f, struct ct_err *err)
{
	struct search s = { f, err };
	struct table *t;

	if (f->seeds < 2 || f->seeds > SEEDS_MOST || f->starts < 1 || f->starts > STARTS_MOST)
		return ct_err_at(err, CT_ECONFIG, NULL, "wanted 2 to %d seeds and 1 to %d starts", (int)SEEDS_MOST,
				 (int)STARTS_MOST);
	CT_TRY(choose_figures(f, err));
	for (unsigned i = 0; i < f->starts; i++)
		CT_TRY(descend(&s, start[i]));
	if (!f->n)
		return ct_err_at(err, CT_ECONFIG, NULL, "no vector could be evaluated");
	qsort(f->v, f->n, sizeof *f->v, by_loss);
	judge(f);
	t = ct_calloc(1, sizeof *t);
	if (simulate(&s, f->v[0].x, f->held_out_seed, t) == 0)
		f->v[0].held_out = loss_of(f, t, SIZE_MAX);
	free(t);
	return (int)err->code;
}

void ct_scenario_fit_fini(struct ct_scenario_fit *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].leave_one);
	free(f->v);
	f->v = NULL;
	f->n = f->cap = 0;
}
