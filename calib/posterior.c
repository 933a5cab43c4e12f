/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/posterior.h"

#include "calib/csv_table.h"
#include "calib/table6.h"
#include "sim/memory.h"
#include "sim/output.h"
#include "sim/random.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWNS = 512 };
/* Covariances this far below the product of the deviations are rounding errors of the fit. */
#define NOTHING 1e-7

void ct_posterior_fini(struct ct_posterior *p)
{
	free(p->unknown);
	free(p->covariance);
	*p = (struct ct_posterior){ 0 };
}

static size_t find(const struct ct_posterior *p, const char *workload, const char *name)
{
	size_t i = 0;

	while (i < p->n && (strcmp(p->unknown[i].workload, workload) != 0 || strcmp(p->unknown[i].name, name) != 0))
		i++;
	return i;
}

/* The matrix grows by a row and a column of zeros. */
static size_t add(struct ct_posterior *p, const char *workload, const char *name, double value)
{
	size_t n = p->n;
	double *wider = ct_calloc((n + 1) * (n + 1), sizeof *wider);

	for (size_t i = 0; i < n; i++)
		memcpy(wider + i * (n + 1), p->covariance + i * n, n * sizeof *wider);
	free(p->covariance);
	p->covariance = wider;
	CT_GROW(p->unknown, p->cap, n + 1);
	p->unknown[n] = (struct ct_posterior_unknown){ .value = value };
	snprintf(p->unknown[n].workload, sizeof p->unknown[n].workload, "%s", workload);
	snprintf(p->unknown[n].name, sizeof p->unknown[n].name, "%s", name);
	return p->n++;
}

/* ---- from the fit */

static int is_host(const struct ct_table6_unknown *u)
{
	return u->model != UINT32_MAX && !strcmp(u->name, "host");
}

static double idle(const struct ct_profiles *set, const struct ct_workload_model *m)
{
	return ct_profile_idle(&set->knobs, m, &m->profile[m->default_profile]);
}

enum { M_WORKLOAD, M_NAME, M_SD, M_SOURCE, M_COLUMNS };
static const char *const unmeasured_columns[M_COLUMNS] = { "workload", "name", "log_sd", "source" };

static int base_value(const struct ct_workload_model *m, const char *name, double *out)
{
	const struct {
		const char *name;
		double value;
	} values[] = { { "sm", m->base.sm },
		       { "occ", m->base.occ },
		       { "dram", m->base.dram },
		       { "tensor", m->base.tensor },
		       { "host", m->base.host } };

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (!strcmp(values[i].name, name)) {
			*out = values[i].value;
			return 0;
		}
	return -1;
}

static void read_unmeasured(struct ct_table *t, const struct ct_profiles *set, int blind_host, struct ct_posterior *p)
{
	struct ct_csv_field w = ct_table_cell(t, M_WORKLOAD), name = ct_table_cell(t, M_NAME),
			    sd = ct_table_cell(t, M_SD);
	const struct ct_workload_model *m = ct_profiles_find(set, w.s);
	struct ct_loc at = ct_table_loc(t, SIZE_MAX);
	double value, width;
	size_t i;

	if (!m || base_value(m, name.s, &value) || ct_parse_f64(sd.s, sd.n, &width) || !(width > 0 && width <= 5)) {
		ct_err_add(t->err, CT_ECONFIG, &at, "wanted a workload, one of its counters, and a deviation up to 5");
		return;
	}
	if (find(p, w.s, name.s) < p->n) {
		ct_err_add(t->err, CT_ECONFIG, &at, "'%s' of '%s' has a prior already", name.s, w.s);
		return;
	}
	if (blind_host && !strcmp(name.s, "host"))
		value = idle(set, m);
	i = add(p, w.s, name.s, value);
	p->covariance[i * p->n + i] = width * width;
}

static int add_unmeasured(const char *dir, const struct ct_profiles *set, int blind_host, struct ct_posterior *p,
			  struct ct_err *err)
{
	char path[4096];
	struct ct_table t;

	if (snprintf(path, sizeof path, "%s/unmeasured.csv", dir) >= (int)sizeof path)
		return ct_err_at(err, CT_EIO, NULL, "path of 'unmeasured.csv' is too long");
	CT_TRY(ct_table_open(&t, path, unmeasured_columns, M_COLUMNS, CT_TABLE_REFUSE_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		read_unmeasured(&t, set, blind_host, p);
	return ct_table_close(&t);
}

static int fit(struct ct_table6 *t, int blind_host, struct ct_posterior *p, struct ct_err *err)
{
	struct ct_fit_model m = ct_table6_model(t);
	struct ct_fit_result r;

	for (uint32_t i = 0; blind_host && i < t->n_unknowns; i++)
		if (is_host(&t->unknown[i]))
			t->unknown[i].centre = idle(t->set, &t->set->model[t->unknown[i].model]);
	CT_TRY(ct_fit(&m, t->pair, t->n_pairs, CT_TABLE6_SIGMA, NULL, &r, err));
	for (uint32_t i = 0; i < m.n; i++)
		add(p, t->unknown[i].workload, t->unknown[i].name, ct_table6_value(t, i, r.t[i]));
	for (uint32_t i = 0; i < m.n; i++)
		for (uint32_t j = 0; j < m.n; j++)
			p->covariance[i * m.n + j] = r.covariance[i * m.n + j] * t->unknown[i].sd * t->unknown[j].sd;
	ct_fit_result_fini(&r);
	return 0;
}

int ct_posterior_fit(const char *dir, int blind_host, struct ct_posterior *out, struct ct_err *err)
{
	struct ct_table6 *t = ct_calloc(1, sizeof *t);
	struct ct_profiles *set = NULL;

	*out = (struct ct_posterior){ 0 };
	if (!ct_profiles_load(dir, &set, err) && !ct_table6_load(dir, set, t, err) && !fit(t, blind_host, out, err))
		add_unmeasured(dir, set, blind_host, out, err);
	ct_profiles_free(set);
	free(t);
	if (err->code)
		ct_posterior_fini(out);
	return (int)err->code;
}

/* ---- the file */

enum { WORKLOAD, NAME, VALUE, WITH_WORKLOAD, WITH_NAME, COVARIANCE, COLUMNS };
static const char *const columns[COLUMNS] = { "workload", "name", "value", "with_workload", "with_name", "covariance" };

static void write_row(struct ct_output *o, const struct ct_posterior *p, size_t i, size_t j)
{
	ct_output_field(o, p->unknown[i].workload);
	ct_output_text(o, ",");
	ct_output_field(o, p->unknown[i].name);
	ct_output_text(o, ",");
	if (i == j)
		ct_output_f64(o, p->unknown[i].value);
	ct_output_text(o, ",");
	ct_output_field(o, p->unknown[j].workload);
	ct_output_text(o, ",");
	ct_output_field(o, p->unknown[j].name);
	ct_output_text(o, ",");
	ct_output_f64(o, p->covariance[i * p->n + j]);
	ct_output_text(o, "\n");
}

int ct_posterior_save(const struct ct_posterior *p, const char *path, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(ct_output_open(&o, path, err));
	ct_output_text(&o, "workload,name,value,with_workload,with_name,covariance\n");
	for (size_t i = 0; i < p->n; i++) {
		write_row(&o, p, i, i);
		for (size_t j = 0; j < i; j++)
			if (fabs(p->covariance[i * p->n + j]) >
			    NOTHING * sqrt(p->covariance[i * p->n + i] * p->covariance[j * p->n + j]))
				write_row(&o, p, i, j);
	}
	return ct_output_close(&o, err);
}

static void read_row(struct ct_table *t, struct ct_posterior *p)
{
	struct ct_csv_field w = ct_table_cell(t, WORKLOAD), name = ct_table_cell(t, NAME),
			    value = ct_table_cell(t, VALUE), with = ct_table_cell(t, WITH_WORKLOAD),
			    other = ct_table_cell(t, WITH_NAME), cov = ct_table_cell(t, COVARIANCE);
	size_t i = find(p, w.s, name.s), j = find(p, with.s, other.s);
	int same = !strcmp(w.s, with.s) && !strcmp(name.s, other.s);
	struct ct_loc at = ct_table_loc(t, COVARIANCE);
	double c, v = 0;

	if (ct_parse_f64(cov.s, cov.n, &c)) {
		ct_err_add(t->err, CT_ECONFIG, &at, "'covariance' wants a number");
		return;
	}
	if (same && i == p->n) {
		at = ct_table_loc(t, VALUE);
		if (p->n == UNKNOWNS || ct_parse_f64(value.s, value.n, &v) || !(v > 0) || !(c > 0)) {
			ct_err_add(t->err, CT_ECONFIG, &at,
				   "an unknown wants a value and a variance above 0, and there are at most %d of them",
				   (int)UNKNOWNS);
			return;
		}
		i = j = add(p, w.s, name.s, v);
	} else if (same || i == p->n || j == p->n || p->covariance[i * p->n + j] < 0 ||
		   p->covariance[i * p->n + j] > 0) {
		at = ct_table_loc(t, SIZE_MAX);
		ct_err_add(t->err, CT_ECONFIG, &at,
			   "wanted two unknowns whose own rows came before, and not yet together");
		return;
	}
	p->covariance[i * p->n + j] = p->covariance[j * p->n + i] = c;
}

int ct_posterior_load(const char *path, struct ct_posterior *out, struct ct_err *err)
{
	struct ct_table t;
	int rc;

	*out = (struct ct_posterior){ 0 };
	CT_TRY(ct_table_open(&t, path, columns, COLUMNS, CT_TABLE_REFUSE_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		read_row(&t, out);
	rc = ct_table_close(&t);
	if (rc)
		ct_posterior_fini(out);
	return rc;
}

/* ---- draws */

/* x = L z with L L' the covariance. */
int ct_posterior_draw(const struct ct_posterior *p, uint64_t draw, double *out, struct ct_err *err)
{
	gsl_matrix *l;
	struct ct_stream s;
	double *z;
	int rc;

	memset(out, 0, p->n * sizeof *out);
	if (!draw || !p->n)
		return 0;
	l = gsl_matrix_alloc(p->n, p->n);
	memcpy(l->data, p->covariance, p->n * p->n * sizeof *out);
	rc = gsl_linalg_cholesky_decomp1(l);
	z = ct_calloc(p->n, sizeof *z);
	ct_stream_init(&s, 0, CT_RANDOM_POSTERIOR, draw);
	for (size_t i = 0; i < p->n; i++)
		z[i] = gsl_ran_gaussian_ziggurat(&s.rng, 1);
	for (size_t i = 0; i < p->n && !rc; i++)
		for (size_t j = 0; j <= i; j++)
			out[i] += gsl_matrix_get(l, i, j) * z[j];
	free(z);
	gsl_matrix_free(l);
	return rc ? ct_err_at(err, CT_ECONFIG, NULL, "the posterior's covariance is not positive definite") : 0;
}
