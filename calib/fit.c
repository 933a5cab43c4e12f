/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/fit.h"

#include "sim/memory.h"
#include "sim/random.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 300 };

struct problem {
	const struct ct_fit_model *model;
	const struct ct_fit_pair *pair;
	size_t n_pairs, skip; /* skip: one pair left out, SIZE_MAX = none */
	double sigma;
	struct ct_demand *demand;
};

static size_t decays(const struct problem *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_pairs; i++)
		n += i == p->skip ? 0 : (size_t)(isfinite(p->pair[i].s_a) + isfinite(p->pair[i].s_b));
	return n;
}

/* The norm over the resources has no derivative at 0: a small step away from it. */
static void expand(const struct problem *p, const double *t, struct ct_slowdown_params *s)
{
	*s = ct_slowdown_published();
	s->guard = 1e-9;
	p->model->expand(p->model->ctx, t, s, p->demand);
}

/* Residuals of one pair into f[k..]; returns how many. */
static size_t pair_residuals(const struct problem *p, const struct ct_slowdown_params *s, const struct ct_fit_pair *q,
			     double *f)
{
	const struct ct_demand *a = &p->demand[q->a], *b = &p->demand[q->b];
	size_t k = 0;

	if (isfinite(q->s_a))
		f[k++] = log(ct_slowdown_of(s, a, b, p->model->resources) / q->s_a) / p->sigma;
	if (isfinite(q->s_b))
		f[k++] = log(ct_slowdown_of(s, b, a, p->model->resources) / q->s_b) / p->sigma;
	return k;
}

static int residuals(const gsl_vector *x, void *ctx, gsl_vector *f)
{
	const struct problem *p = ctx;
	struct ct_slowdown_params s;
	size_t k = 0;

	expand(p, x->data, &s);
	for (size_t i = 0; i < p->n_pairs; i++)
		if (i != p->skip)
			k += pair_residuals(p, &s, &p->pair[i], f->data + k);
	for (size_t i = 0; i < p->model->n; i++)
		gsl_vector_set(f, k++, gsl_vector_get(x, i));
	for (k = 0; k < f->size; k++)
		if (!isfinite(gsl_vector_get(f, k)))
			return GSL_EDOM;
	return GSL_SUCCESS;
}

/* Forward differences with GSL's own step, but only of the pairs that an unknown has a
 * part in: most unknowns belong to one configuration. */
static int jacobian(const gsl_vector *x, void *ctx, gsl_matrix *out)
{
	const struct problem *p = ctx;
	size_t n = p->model->n;
	double *t = ct_calloc(n, sizeof *t), *f = ct_calloc(out->size1, sizeof *f), g[2];
	struct ct_slowdown_params s;
	int bad = 0;

	memcpy(t, x->data, n * sizeof *t);
	expand(p, t, &s);
	for (size_t i = 0, k = 0; i < p->n_pairs; i++)
		if (i != p->skip)
			k += pair_residuals(p, &s, &p->pair[i], f + k);
	gsl_matrix_set_zero(out);
	for (uint32_t j = 0; j < n; j++) {
		uint32_t config = p->model->config_of ? p->model->config_of(p->model->ctx, j) : UINT32_MAX;
		double was = t[j], h = GSL_SQRT_DBL_EPSILON * fabs(was);
		size_t k = 0;

		h = h > 0 ? h : GSL_SQRT_DBL_EPSILON;
		t[j] = was + h;
		expand(p, t, &s);
		for (size_t i = 0; i < p->n_pairs; i++) {
			const struct ct_fit_pair *q = &p->pair[i];
			size_t m = (size_t)(isfinite(q->s_a) != 0) + (isfinite(q->s_b) != 0);

			if (i == p->skip)
				continue;
			if (config == UINT32_MAX || q->a == config || q->b == config) {
				pair_residuals(p, &s, q, g);
				for (size_t e = 0; e < m; e++) {
					double d = (g[e] - f[k + e]) / h;

					bad |= !isfinite(d);
					gsl_matrix_set(out, k + e, j, d);
				}
			}
			k += m;
		}
		gsl_matrix_set(out, k + j, j, 1);
		t[j] = was;
	}
	free(t);
	free(f);
	return bad ? GSL_EDOM : GSL_SUCCESS;
}

static void widths(const gsl_multifit_nlinear_workspace *w, struct ct_fit_result *out, size_t n)
{
	gsl_matrix *cov = gsl_matrix_alloc(n, n);

	gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0, cov);
	out->covariance = ct_calloc(n * n, sizeof *out->covariance);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++)
			out->covariance[i * n + j] = gsl_matrix_get(cov, i, j);
		out->width[i] = sqrt(gsl_matrix_get(cov, i, i));
		out->freedom += 1 - gsl_matrix_get(cov, i, i);
	}
	gsl_matrix_free(cov);
}

static int solve(struct problem *p, const double *start, struct ct_fit_result *out, struct ct_err *err)
{
	gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
	gsl_multifit_nlinear_workspace *w;
	gsl_multifit_nlinear_fdf fdf = { .f = residuals, .df = jacobian, .params = p, .p = p->model->n };
	gsl_vector *x = gsl_vector_calloc(p->model->n);
	double cost;
	int info = 0, rc;

	fdf.n = decays(p) + p->model->n;
	how.trs = gsl_multifit_nlinear_trs_lm;
	/* the default QR at every iteration is exact; Cholesky is faster and the priors
	 * keep the normal equations well conditioned */
	how.solver = gsl_multifit_nlinear_solver_cholesky;
	how.scale = gsl_multifit_nlinear_scale_levenberg;
	if (start)
		memcpy(x->data, start, p->model->n * sizeof *start);
	w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, fdf.n, fdf.p);
	rc = gsl_multifit_nlinear_init(x, &fdf, w);
	if (!rc)
		rc = gsl_multifit_nlinear_driver(ITERATIONS, 1e-7, 1e-7, 1e-9, NULL, NULL, &info, w);
	gsl_blas_ddot(gsl_multifit_nlinear_residual(w), gsl_multifit_nlinear_residual(w), &cost);
	*out = (struct ct_fit_result){ .cost = cost, .converged = rc == GSL_SUCCESS };
	out->t = ct_calloc(fdf.p, sizeof *out->t);
	out->width = ct_calloc(fdf.p, sizeof *out->width);
	out->iterations = (uint32_t)gsl_multifit_nlinear_niter(w);
	memcpy(out->t, gsl_multifit_nlinear_position(w)->data, fdf.p * sizeof *out->t);
	widths(w, out, fdf.p);
	gsl_multifit_nlinear_free(w);
	gsl_vector_free(x);
	if (isfinite(cost))
		return 0;
	ct_fit_result_fini(out);
	return ct_err_at(err, CT_ECONFIG, NULL, "the fit left the range of numbers");
}

static int fit_without(const struct ct_fit_model *m, const struct ct_fit_pair *pair, size_t n_pairs, size_t skip,
		       double sigma, const double *start, struct ct_fit_result *out, struct ct_err *err)
{
	struct problem p = { .model = m, .pair = pair, .n_pairs = n_pairs, .skip = skip, .sigma = sigma };
	int rc;

	if (!decays(&p))
		return ct_err_at(err, CT_ECONFIG, NULL, "no measured pair to fit");
	p.demand = ct_calloc(m->n_configs, sizeof *p.demand);
	rc = solve(&p, start, out, err);
	free(p.demand);
	return rc;
}

int ct_fit(const struct ct_fit_model *m, const struct ct_fit_pair *pair, size_t n_pairs, double sigma,
	   const double *start, struct ct_fit_result *out, struct ct_err *err)
{
	return fit_without(m, pair, n_pairs, SIZE_MAX, sigma, start, out, err);
}

void ct_fit_result_fini(struct ct_fit_result *r)
{
	free(r->t);
	free(r->width);
	free(r->covariance);
	r->t = r->width = r->covariance = NULL;
}

void ct_fit_predict(const struct ct_fit_model *m, const double *t, const struct ct_fit_pair *pair, size_t n_pairs,
		    double (*s)[2])
{
	struct problem p = { .model = m, .demand = ct_calloc(m->n_configs, sizeof *p.demand) };
	struct ct_slowdown_params g;

	expand(&p, t, &g);
	for (size_t i = 0; i < n_pairs; i++) {
		const struct ct_demand *a = &p.demand[pair[i].a], *b = &p.demand[pair[i].b];

		s[i][0] = ct_slowdown_of(&g, a, b, m->resources);
		s[i][1] = ct_slowdown_of(&g, b, a, m->resources);
	}
	free(p.demand);
}

int ct_fit_leave_one_out(const struct ct_fit_model *m, const struct ct_fit_pair *pair, size_t n_pairs, double sigma,
			 const double *start, double (*s)[2], struct ct_err *err)
{
	for (size_t i = 0; i < n_pairs; i++) {
		struct ct_fit_result r;

		CT_TRY(fit_without(m, pair, n_pairs, i, sigma, start, &r, err));
		ct_fit_predict(m, r.t, &pair[i], 1, &s[i]);
		ct_fit_result_fini(&r);
	}
	return 0;
}

/* ---- scores */

static void score_one(struct ct_fit_score *o, double measured, double said)
{
	double d = 1 / measured, e = fabs(1 / said - d);

	if (!isfinite(measured))
		return;
	o->n++;
	o->mape += fabs(said / measured - 1);
	o->mae += e;
	o->worst = fmax(o->worst, e);
	o->confused += (d < 0.6 && 1 / said > 0.9) || (d > 0.9 && 1 / said < 0.6);
}

static double r2_of(const struct ct_fit_pair *pair, size_t n, const double (*s)[2], size_t decays_n)
{
	double mean = 0, rest = 0, all = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n; i++)
			for (int side = 0; side < 2; side++) {
				double d = 1 / (side ? pair[i].s_b : pair[i].s_a), e = d - 1 / s[i][side];

				if (!isfinite(d))
					continue;
				if (!pass) {
					mean += d / (double)decays_n;
					continue;
				}
				rest += e * e;
				all += (d - mean) * (d - mean);
			}
	return 1 - rest / all;
}

struct ct_fit_score ct_fit_score(const struct ct_fit_pair *pair, size_t n_pairs, const double (*s)[2])
{
	double *x = ct_calloc(n_pairs * 4, sizeof *x), *y = x + n_pairs, *work = y + n_pairs;
	struct ct_fit_score o = { 0 };
	size_t both = 0;

	for (size_t i = 0; i < n_pairs; i++) {
		score_one(&o, pair[i].s_a, s[i][0]);
		score_one(&o, pair[i].s_b, s[i][1]);
		if (!isfinite(pair[i].s_a) || !isfinite(pair[i].s_b))
			continue;
		x[both] = (1 / pair[i].s_a + 1 / pair[i].s_b) / 2;
		y[both++] = (1 / s[i][0] + 1 / s[i][1]) / 2;
	}
	o.mape *= 100 / (double)o.n;
	o.mae /= (double)o.n;
	o.r2 = r2_of(pair, n_pairs, s, o.n);
	o.spearman = both > 1 ? gsl_stats_spearman(x, 1, y, 1, both, work) : (double)NAN;
	free(x);
	return o;
}

/* ---- models */

const struct ct_prior ct_global_prior[CT_GLOBALS] = {
	{ "m", 0.02, 0.5 },    { "beta", 0.25, 0.5 }, { "c_C", 0.45, 0.15 }, { "c_D", 0.8, 0.12 },
	{ "c_O", 0.45, 0.25 }, { "c_H", 1.0, 0.12 },  { "p", 4.0, 0.5 },
};

void ct_global_set(struct ct_slowdown_params *s, int which, double value)
{
	double *const at[CT_GLOBALS] = { &s->m, &s->beta, &s->c[0], &s->c[1], &s->c[2], &s->c[3], &s->p };

	*at[which] = value;
}

#define COUNTER_SD 0.25
enum { CT_COUNTERS = 5 };

static void expand_globals(const void *ctx, const double *t, struct ct_slowdown_params *s, struct ct_demand *demand)
{
	const struct ct_fit_counters *c = ctx;

	for (int k = 0; k < CT_GLOBALS; k++)
		ct_global_set(s, k, ct_global_prior[k].centre * exp(ct_global_prior[k].sd * t[k]));
	s->beta = fmin(s->beta, 1);
	for (uint32_t i = 0; i < c->n_configs; i++)
		demand[i] = ct_slowdown_demand(s, c->profile[i]);
}

struct ct_fit_model ct_fit_globals(const struct ct_fit_counters *c)
{
	return (struct ct_fit_model){ .ctx = c,
				      .n = CT_GLOBALS,
				      .n_configs = c->n_configs,
				      .resources = CT_RESOURCES,
				      .expand = expand_globals };
}

static void expand_free(const void *ctx, const double *t, struct ct_slowdown_params *s, struct ct_demand *demand)
{
	const struct ct_fit_counters *c = ctx;
	const double *x = t + CT_GLOBALS;

	expand_globals(ctx, t, s, demand);
	for (uint32_t i = 0; i < c->n_configs; i++, x += CT_COUNTERS) {
		struct ct_profile p = *c->profile[i];

		p.sm_active *= exp(COUNTER_SD * x[0]);
		p.sm_occupancy *= exp(COUNTER_SD * x[1]);
		p.dram_active *= exp(COUNTER_SD * x[2]);
		p.tensor_active *= exp(COUNTER_SD * x[3]);
		p.host *= exp(COUNTER_SD * x[4]);
		demand[i] = ct_slowdown_demand(s, &p);
	}
}

static uint32_t config_of_counter(const void *ctx, uint32_t unknown)
{
	(void)ctx;
	return unknown < CT_GLOBALS ? UINT32_MAX : (unknown - CT_GLOBALS) / CT_COUNTERS;
}

struct ct_fit_model ct_fit_free_counters(const struct ct_fit_counters *c)
{
	return (struct ct_fit_model){ .ctx = c,
				      .config_of = config_of_counter,
				      .n = CT_GLOBALS + CT_COUNTERS * c->n_configs,
				      .n_configs = c->n_configs,
				      .resources = CT_RESOURCES,
				      .expand = expand_free };
}

#define LOGIT_SD 3.3

static void expand_latents(const void *ctx, const double *t, struct ct_slowdown_params *s, struct ct_demand *demand)
{
	const struct ct_fit_latent *l = ctx;

	s->m = 0.02 * exp(0.5 * t[0]);
	s->p = 4 * exp(0.5 * t[1]);
	/* Phases add: on 14 splits of Gavel's V100 and 8 of its P100 pairs, 70 % shown, R2 of the
	 * decay is 0.955 and 0.886 (worst 0.949, 0.863) against 0.941 and 0.881 (0.818, 0.853)
	 * with the counter form's 3. */
	s->q = 1;
	s->omega_clip = 20; /* weights are free here: the clip of the counter form would hide them */
	t += CT_LATENT_GLOBALS;
	for (uint32_t i = 0; i < l->n_configs; i++, t += CT_LATENTS + 1) {
		for (int r = 0; r < CT_LATENTS; r++)
			demand[i].a[r] = 1 / (1 + exp(-LOGIT_SD * t[r]));
		demand[i].weight = exp(t[CT_LATENTS]);
	}
}

static uint32_t config_of_latent(const void *ctx, uint32_t unknown)
{
	(void)ctx;
	return unknown < CT_LATENT_GLOBALS ? UINT32_MAX : (unknown - CT_LATENT_GLOBALS) / (CT_LATENTS + 1);
}

struct ct_fit_model ct_fit_latents(const struct ct_fit_latent *l)
{
	return (struct ct_fit_model){ .ctx = l,
				      .config_of = config_of_latent,
				      .n = CT_LATENT_GLOBALS + l->n_configs * (CT_LATENTS + 1),
				      .n_configs = l->n_configs,
				      .resources = CT_LATENTS,
				      .expand = expand_latents };
}

int ct_fit_latents_best(const struct ct_fit_latent *l, const struct ct_fit_pair *pair, size_t n_pairs, double sigma,
			int starts, uint64_t seed, struct ct_fit_result *out, struct ct_err *err)
{
	struct ct_fit_model m = ct_fit_latents(l);
	double *start = ct_calloc(m.n, sizeof *start);
	int rc = 0;

	*out = (struct ct_fit_result){ 0 };
	for (int k = 0; k < starts && !rc; k++) {
		struct ct_fit_result r;
		struct ct_stream s;

		ct_stream_init(&s, seed, CT_RANDOM_TRUTH, (uint64_t)k);
		for (uint32_t i = 0; i < m.n; i++)
			start[i] = i < CT_LATENT_GLOBALS ? 0 : 0.3 * gsl_ran_gaussian_ziggurat(&s.rng, 1);
		rc = ct_fit(&m, pair, n_pairs, sigma, start, &r, err);
		if (rc || (out->t && r.cost >= out->cost)) {
			if (!rc)
				ct_fit_result_fini(&r);
			continue;
		}
		ct_fit_result_fini(out);
		*out = r;
	}
	free(start);
	if (rc)
		ct_fit_result_fini(out);
	return rc;
}

/* ---- trivial predictors */

void ct_fit_null(const struct ct_fit_pair *train, size_t n_train, const struct ct_fit_pair *test, size_t n_test,
		 double (*s)[2])
{
	double sum = 0, n = 0;

	(void)test;
	for (size_t i = 0; i < n_train; i++)
		for (int side = 0; side < 2; side++) {
			double v = side ? train[i].s_b : train[i].s_a;

			sum += isfinite(v) ? log(v) : 0;
			n += isfinite(v);
		}
	for (size_t i = 0; i < n_test; i++)
		s[i][0] = s[i][1] = exp(n > 0 ? sum / n : 0);
}

/* One half step: the victim effects given the aggressor effects, or the reverse. */
static void half_step(const struct ct_fit_pair *train, size_t n_train, uint32_t n_configs, int victim, double mean,
		      const double *other, double *effect)
{
	double *n = ct_calloc(n_configs, sizeof *n);

	memset(effect, 0, n_configs * sizeof *effect);
	for (size_t i = 0; i < n_train; i++)
		for (int side = 0; side < 2; side++) {
			double v = side ? train[i].s_b : train[i].s_a;
			uint32_t self = side ? train[i].b : train[i].a, partner = side ? train[i].a : train[i].b;
			uint32_t mine = victim ? self : partner, theirs = victim ? partner : self;

			if (!isfinite(v))
				continue;
			effect[mine] += log(v) - mean - other[theirs];
			n[mine] += 1;
		}
	for (uint32_t i = 0; i < n_configs; i++)
		effect[i] /= n[i] > 0 ? n[i] : 1;
	free(n);
}

void ct_fit_additive(const struct ct_fit_pair *train, size_t n_train, uint32_t n_configs,
		     const struct ct_fit_pair *test, size_t n_test, double (*s)[2])
{
	double *victim = ct_calloc(n_configs, sizeof *victim), *aggressor = ct_calloc(n_configs, sizeof *aggressor);
	double one[1][2], mean;

	ct_fit_null(train, n_train, test, 1, one);
	mean = log(one[0][0]);
	for (int k = 0; k < 200; k++) {
		half_step(train, n_train, n_configs, 1, mean, aggressor, victim);
		half_step(train, n_train, n_configs, 0, mean, victim, aggressor);
	}
	for (size_t i = 0; i < n_test; i++) {
		s[i][0] = exp(mean + victim[test[i].a] + aggressor[test[i].b]);
		s[i][1] = exp(mean + victim[test[i].b] + aggressor[test[i].a]);
	}
	free(victim);
	free(aggressor);
}
