/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least squares on S. Several of the 36 features are sums of others, so the columns
 * are standardised and the directions that carry nothing are left out (truncated SVD). */
#include "calib/learner.h"

#include "calib/model_group.h"
#include "sim/memory.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>

#define SINGULAR_LEAST 1e-8 /* of the largest singular value */

struct linear {
	size_t width;
	int floor;
	double *v; /* constant, then one number a feature */
};

static void standardise(const struct ct_samples *s, size_t k, gsl_matrix *x, double *mean, double *sd)
{
	double m = 0, var = 0;

	for (size_t i = 0; i < s->n; i++)
		m += s->x[i * s->width + k] / (double)s->n;
	for (size_t i = 0; i < s->n; i++)
		var += gsl_pow_2(s->x[i * s->width + k] - m) / (double)s->n;
	*mean = m;
	*sd = var > 1e-18 ? sqrt(var) : 1;
	for (size_t i = 0; i < s->n; i++)
		gsl_matrix_set(x, i, k + 1, var > 1e-18 ? (s->x[i * s->width + k] - m) / *sd : 0);
}

/* The number of rows is at least that of the columns: shorter sets get rows of zeros,
 * which say nothing. */
static int solve(const struct ct_samples *s, double *v, double *mean, double *sd)
{
	size_t p = s->width + 1, n = s->n > p ? s->n : p, rank;
	gsl_matrix *x = gsl_matrix_calloc(n, p), *cov = gsl_matrix_alloc(p, p);
	gsl_vector *y = gsl_vector_calloc(n), *c = gsl_vector_alloc(p);
	gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(n, p);
	double chisq;
	int rc;

	for (size_t i = 0; i < s->n; i++) {
		gsl_matrix_set(x, i, 0, 1);
		gsl_vector_set(y, i, s->row[i].slowdown);
	}
	for (size_t k = 0; k < s->width; k++)
		standardise(s, k, x, &mean[k], &sd[k]);
	rc = gsl_multifit_linear_tsvd(x, y, SINGULAR_LEAST, c, cov, &chisq, &rank, w);
	for (size_t k = 0; k < p; k++)
		v[k] = gsl_vector_get(c, k);
	gsl_multifit_linear_free(w);
	gsl_matrix_free(x);
	gsl_matrix_free(cov);
	gsl_vector_free(y);
	gsl_vector_free(c);
	return rc;
}

static void linear_free(void *model)
{
	struct linear *l = model;

	if (l)
		free(l->v);
	free(l);
}

static struct linear *linear_new(size_t width, int floor)
{
	struct linear *l = ct_calloc(1, sizeof *l);

	*l = (struct linear){ width, floor, ct_calloc(width + 1, sizeof *l->v) };
	return l;
}

static int linear_train(const struct ct_samples *s, uint64_t seed, int floor, void **model, struct ct_err *err)
{
	struct linear *l;
	double *mean;
	int rc;

	(void)seed;
	CT_TRY(ct_learner_check(&ct_learner_linear, s, err));
	l = linear_new(s->width, floor);
	mean = ct_calloc(2 * s->width, sizeof *mean);
	rc = solve(s, l->v, mean, mean + s->width);
	for (size_t k = 0; k < s->width; k++) {
		l->v[k + 1] /= mean[s->width + k];
		l->v[0] -= l->v[k + 1] * mean[k];
	}
	free(mean);
	if (rc) {
		linear_free(l);
		return ct_err_at(err, CT_ECONFIG, NULL, "the least-squares fit failed: %s", gsl_strerror(rc));
	}
	*model = l;
	return 0;
}

/* Without a floor at 1 there is still one at a tenth: a slowdown is positive. */
static void linear_predict(const void *model, const double *x, size_t n, double *out)
{
	const struct linear *l = model;

	for (size_t i = 0; i < n; i++) {
		double s = l->v[0];

		for (size_t k = 0; k < l->width; k++)
			s += l->v[k + 1] * x[i * l->width + k];
		out[i] = fmax(s, l->floor ? 1 : .1);
	}
}

static size_t linear_width(const void *model)
{
	return ((const struct linear *)model)->width;
}

static int linear_save(const void *model, hid_t g, const struct ct_loc *at, struct ct_err *err)
{
	const struct linear *l = model;
	double floor = l->floor;

	CT_TRY(ct_group_put(g, "floor", &floor, 1, at, err));
	return ct_group_put(g, "coefficients", l->v, l->width + 1, at, err);
}

static int linear_load(hid_t g, const struct ct_loc *at, void **model, struct ct_err *err)
{
	struct linear *l;
	double floor, *v;
	size_t n;

	CT_TRY(ct_group_read(g, "floor", &floor, 1, at, err));
	CT_TRY(ct_group_get(g, "coefficients", 4097, &v, &n, at, err));
	l = ct_calloc(1, sizeof *l);
	*l = (struct linear){ n - 1, floor != 0, v };
	*model = l;
	return 0;
}

const struct ct_learner ct_learner_linear = { "linear",     1,           linear_train, linear_predict, linear_free,
					      linear_width, linear_save, linear_load };
