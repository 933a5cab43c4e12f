/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/table6.h"

#include "calib/csv_table.h"
#include "sim/memory.h"
#include "sim/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MULTIPLIERS = 2, COUNTERS = 5 };
static const char *const multiplier[MULTIPLIERS] = { "pc_dram", "pc_host" };
static const char *const counter[COUNTERS] = { "sm", "occ", "dram", "tensor", "host" };

static double *counter_of(struct ct_workload_base *b, int k)
{
	double *const at[COUNTERS] = { &b->sm, &b->occ, &b->dram, &b->tensor, &b->host };

	return at[k];
}

#define FAIL(t, err, name, ...)                                   \
	do {                                                      \
		struct ct_loc at_ = ct_table_loc((t), (name));    \
		ct_err_add((err), CT_ECONFIG, &at_, __VA_ARGS__); \
	} while (0)

static double number(const struct ct_table *t, size_t c, double lo, double hi, struct ct_err *err)
{
	struct ct_csv_field f = ct_table_cell(t, c);
	char b[CT_SHOWN];
	double x = lo;

	ct_shown(b, f.s, f.n);
	if (ct_parse_f64(f.s, f.n, &x))
		FAIL(t, err, c, "'%s' wants a number, got '%s'", t->names[c], b);
	else if (!(x > lo && x <= hi))
		FAIL(t, err, c, "'%s' wants more than %g, at most %g, got '%s'", t->names[c], lo, hi, b);
	return x;
}

/* ---- priors */

enum { P_WORKLOAD, P_NAME, P_PRIOR, P_SD, P_SOURCE, P_COLUMNS };
static const char *const prior_columns[P_COLUMNS] = { "workload", "name", "prior", "log_sd", "source" };

static int field_of(const char *name, int global)
{
	if (!global) {
		for (int k = 0; k < COUNTERS; k++)
			if (!strcmp(name, counter[k]))
				return k;
		return -1;
	}
	for (int k = 0; k < CT_GLOBALS; k++)
		if (!strcmp(name, ct_global_prior[k].name))
			return k;
	for (int k = 0; k < MULTIPLIERS; k++)
		if (!strcmp(name, multiplier[k]))
			return CT_GLOBALS + k;
	return -1;
}

static void read_prior(struct ct_table6 *o, const struct ct_table *t, struct ct_err *err)
{
	struct ct_csv_field w = ct_table_cell(t, P_WORKLOAD), name = ct_table_cell(t, P_NAME);
	struct ct_table6_unknown u = { .model = UINT32_MAX };
	int global = !strcmp(w.s, "*");
	char b[CT_SHOWN];

	if (!global) {
		const struct ct_workload_model *m = ct_profiles_find(o->set, w.s);

		if (!m) {
			FAIL(t, err, P_WORKLOAD, "unknown workload '%s'", ct_shown(b, w.s, w.n));
			return;
		}
		u.model = (uint32_t)(m - o->set->model);
	}
	u.field = field_of(name.s, global);
	if (u.field < 0)
		FAIL(t, err, P_NAME, "unknown name '%s'", ct_shown(b, name.s, name.n));
	u.centre = number(t, P_PRIOR, 0, 1e3, err);
	u.sd = number(t, P_SD, 0, 5, err);
	snprintf(u.workload, sizeof u.workload, "%s", w.s);
	snprintf(u.name, sizeof u.name, "%s", name.s);
	for (uint32_t i = 0; i < o->n_unknowns; i++)
		if (o->unknown[i].model == u.model && o->unknown[i].field == u.field)
			FAIL(t, err, P_NAME, "'%s' of '%s' stands twice", u.name, u.workload);
	if (o->n_unknowns == CT_TABLE6_UNKNOWNS)
		FAIL(t, err, P_NAME, "more than %d unknowns", CT_TABLE6_UNKNOWNS);
	else
		o->unknown[o->n_unknowns++] = u;
}

/* ---- pairs */

enum { A_WORKLOAD, A_CONFIG, B_WORKLOAD, B_CONFIG, A_DECAY, B_DECAY, SEVERITY, SOURCE, T_COLUMNS };
static const char *const pair_columns[T_COLUMNS] = { "workload_a", "config_a", "workload_b", "config_b",
						     "decay_a",    "decay_b",  "severity",   "source" };

static uint32_t config_of(struct ct_table6 *o, const struct ct_table *t, size_t workload, struct ct_err *err)
{
	struct ct_csv_field w = ct_table_cell(t, workload), c = ct_table_cell(t, workload + 1);
	const struct ct_workload_model *m = ct_profiles_find(o->set, w.s);
	const struct ct_profile *p = m ? ct_profiles_named(m, c.s) : NULL;
	char b[CT_SHOWN];
	uint32_t i = 0;

	if (!m)
		FAIL(t, err, workload, "unknown workload '%s'", ct_shown(b, w.s, w.n));
	else if (!p)
		FAIL(t, err, workload + 1, "unknown configuration '%s' of '%s'", ct_shown(b, c.s, c.n), m->name);
	while (i < o->n_configs && o->config[i] != p)
		i++;
	if (i == o->n_configs && i < CT_TABLE6_CONFIGS)
		o->config[o->n_configs++] = p;
	return i;
}

static void read_pair(struct ct_table6 *o, const struct ct_table *t, struct ct_err *err)
{
	struct ct_fit_pair p = { .a = config_of(o, t, A_WORKLOAD, err), .b = config_of(o, t, B_WORKLOAD, err) };

	p.s_a = 1 / number(t, A_DECAY, 0, 1.3, err);
	p.s_b = 1 / number(t, B_DECAY, 0, 1.3, err);
	if (o->n_pairs == CT_TABLE6_PAIRS) {
		FAIL(t, err, A_WORKLOAD, "more than %d pairs", CT_TABLE6_PAIRS);
		return;
	}
	snprintf(o->severity[o->n_pairs], sizeof o->severity[0], "%s", ct_table_cell(t, SEVERITY).s);
	o->pair[o->n_pairs++] = p;
}

static int load(struct ct_table6 *o, const char *dir, const char *file, const char *const *columns, size_t n,
		void (*row)(struct ct_table6 *, const struct ct_table *, struct ct_err *), struct ct_err *err)
{
	char path[4096];
	struct ct_table t;

	if (snprintf(path, sizeof path, "%s/%s", dir, file) >= (int)sizeof path)
		return ct_err_at(err, CT_EIO, NULL, "path of '%s' is too long", file);
	CT_TRY(ct_table_open(&t, path, columns, n, CT_TABLE_REFUSE_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		row(o, &t, err);
	return ct_table_close(&t);
}

int ct_table6_load(const char *dir, const struct ct_profiles *set, struct ct_table6 *out, struct ct_err *err)
{
	memset(out, 0, sizeof *out);
	out->set = set;
	CT_TRY(load(out, dir, "priors.csv", prior_columns, P_COLUMNS, read_prior, err));
	CT_TRY(load(out, dir, "table6.csv", pair_columns, T_COLUMNS, read_pair, err));
	return 0;
}

/* ---- the model */

double ct_table6_value(const struct ct_table6 *t, uint32_t unknown, double x)
{
	return t->unknown[unknown].centre * exp(t->unknown[unknown].sd * x);
}

static void set_values(const struct ct_table6 *t, const double *x, struct ct_slowdown_params *s,
		       struct ct_workload_knobs *k, struct ct_workload_model *model)
{
	for (uint32_t i = 0; i < t->n_unknowns; i++) {
		const struct ct_table6_unknown *u = &t->unknown[i];
		double v = ct_table6_value(t, i, x[i]);

		if (u->model != UINT32_MAX)
			*counter_of(&model[u->model].base, u->field) = v;
		else if (u->field < CT_GLOBALS)
			ct_global_set(s, u->field, v);
		else
			*(u->field == CT_GLOBALS ? &k->pc_dram : &k->pc_host) = v;
	}
}

void ct_table6_apply(const struct ct_table6 *t, const double *x, struct ct_slowdown_params *s,
		     struct ct_profile *profile)
{
	const struct ct_profiles *set = t->set;
	struct ct_workload_model *model = ct_calloc(set->n_models, sizeof *model);
	struct ct_workload_knobs k = set->knobs;

	memcpy(model, set->model, set->n_models * sizeof *model);
	set_values(t, x, s, &k, model);
	for (uint32_t i = 0; i < set->n_profiles; i++) {
		profile[i] = set->profile[i];
		ct_profile_fill(&k, &model[profile[i].workload], &profile[i]);
	}
	free(model);
}

static void expand(const void *ctx, const double *x, struct ct_slowdown_params *s, struct ct_demand *demand)
{
	const struct ct_table6 *t = ctx;
	struct ct_workload_model model[64];
	struct ct_workload_knobs k = t->set->knobs;

	CT_CHECK(NULL, t->set->n_models <= 64, "%u workloads", t->set->n_models);
	memcpy(model, t->set->model, t->set->n_models * sizeof *model);
	set_values(t, x, s, &k, model);
	for (uint32_t i = 0; i < t->n_configs; i++) {
		struct ct_profile p = *t->config[i];

		ct_profile_fill(&k, &model[p.workload], &p);
		demand[i] = ct_slowdown_demand(s, &p);
	}
}

struct ct_fit_model ct_table6_model(const struct ct_table6 *t)
{
	return (struct ct_fit_model){
		.ctx = t, .n = t->n_unknowns, .n_configs = t->n_configs, .resources = CT_RESOURCES, .expand = expand
	};
}

const char *ct_table6_label(const struct ct_table6 *t, uint32_t config, char out[64])
{
	const struct ct_profile *p = t->config[config];

	snprintf(out, 64, "%.30s %s", t->set->model[p->workload].name, p->name);
	return out;
}

/* ---- a calibration of it */

static void keep_configs(const struct ct_table6 *t, const double *x, struct ct_calibration *c)
{
	const struct ct_profiles *set = t->set;
	struct ct_profile *p = ct_calloc(set->n_profiles, sizeof *p);

	c->wstr = ct_slowdown_published();
	ct_table6_apply(t, x, &c->wstr, p);
	c->n_configs = set->n_profiles;
	c->config = ct_calloc(c->n_configs, sizeof *c->config);
	for (size_t i = 0; i < c->n_configs; i++) {
		snprintf(c->config[i].workload, sizeof c->config[i].workload, "%s", set->model[p[i].workload].name);
		c->config[i].profile = p[i];
		c->config[i].is_default =
		    &set->profile[i] == &set->model[p[i].workload].profile[set->model[p[i].workload].default_profile];
		c->config[i].demand = ct_slowdown_demand(&c->wstr, &p[i]);
	}
	free(p);
}

static void keep_pairs(const struct ct_table6 *t, double (*fit)[2], double (*lopo)[2], struct ct_calibration *c)
{
	c->n_pairs = t->n_pairs;
	c->pair = ct_calloc(c->n_pairs, sizeof *c->pair);
	for (size_t i = 0; i < c->n_pairs; i++) {
		c->pair[i].measured = t->pair[i];
		c->pair[i].measured.a = (uint32_t)(t->config[t->pair[i].a] - t->set->profile);
		c->pair[i].measured.b = (uint32_t)(t->config[t->pair[i].b] - t->set->profile);
		memcpy(c->pair[i].fit, fit[i], sizeof fit[i]);
		memcpy(c->pair[i].lopo, lopo[i], sizeof lopo[i]);
	}
}

static void keep_unknowns(const struct ct_table6 *t, const struct ct_fit_result *r, struct ct_calibration *c)
{
	c->n_unknowns = t->n_unknowns;
	c->unknown = ct_calloc(c->n_unknowns, sizeof *c->unknown);
	for (uint32_t i = 0; i < t->n_unknowns; i++) {
		snprintf(c->unknown[i].name, sizeof c->unknown[i].name, "%s %s", t->unknown[i].workload,
			 t->unknown[i].name);
		c->unknown[i].value = ct_table6_value(t, i, r->t[i]);
		c->unknown[i].width = r->width[i];
	}
}

/* The geometric mean of the other pairs, for each pair in turn. */
static void trivial(const struct ct_table6 *t, struct ct_calibration *c)
{
	double s[CT_TABLE6_PAIRS][2];
	struct ct_fit_pair rest[CT_TABLE6_PAIRS];
	struct ct_fit_score score;

	for (uint32_t i = 0; i < t->n_pairs; i++) {
		memcpy(rest, t->pair, i * sizeof *rest);
		memcpy(rest + i, t->pair + i + 1, (t->n_pairs - i - 1) * sizeof *rest);
		ct_fit_null(rest, t->n_pairs - 1, &t->pair[i], 1, &s[i]);
	}
	score = ct_fit_score(t->pair, t->n_pairs, (const double(*)[2])s);
	c->n_holdouts = 2;
	c->holdout = ct_calloc(2, sizeof *c->holdout);
	c->holdout[0] = (struct ct_calib_holdout){ "model", c->lopo.mape, c->lopo.r2 };
	c->holdout[1] = (struct ct_calib_holdout){ "geometric mean", score.mape, score.r2 };
}

static int fit_table(const struct ct_table6 *t, struct ct_calibration *c, struct ct_err *err)
{
	/* Levels of the residual that the paper's Table 7 asks for. */
	static const double sigma[CT_COLOCS] = { 0.01, 0.075, 0.06 };
	struct ct_fit_model m = ct_table6_model(t);
	double fit[CT_TABLE6_PAIRS][2], lopo[CT_TABLE6_PAIRS][2];
	struct ct_fit_result r;
	int rc;

	c->sigma_fit = CT_TABLE6_SIGMA;
	CT_TRY(ct_fit(&m, t->pair, t->n_pairs, c->sigma_fit, NULL, &r, err));
	rc = ct_fit_leave_one_out(&m, t->pair, t->n_pairs, c->sigma_fit, r.t, lopo, err);
	if (!rc) {
		ct_fit_predict(&m, r.t, t->pair, t->n_pairs, fit);
		c->fit = ct_fit_score(t->pair, t->n_pairs, (const double(*)[2])fit);
		c->lopo = ct_fit_score(t->pair, t->n_pairs, (const double(*)[2])lopo);
		c->resources = CT_RESOURCES;
		memcpy(c->sigma, sigma, sizeof sigma);
		keep_configs(t, r.t, c);
		keep_pairs(t, fit, lopo, c);
		keep_unknowns(t, &r, c);
		trivial(t, c);
	}
	ct_fit_result_fini(&r);
	return rc;
}

int ct_table6_fit(const char *dir, int overrides, struct ct_calibration **out, struct ct_err *err)
{
	struct ct_calibration *c = ct_calloc(1, sizeof *c);
	struct ct_table6 *t = ct_calloc(1, sizeof *t);
	struct ct_profiles *set = NULL;

	if (!ct_profiles_load(dir, &set, err) && !ct_table6_load(dir, set, t, err) && !fit_table(t, c, err)) {
		snprintf(c->gpu, sizeof c->gpu, "%s", set->signature);
		snprintf(c->source, sizeof c->source, "table6.csv and priors.csv of the calibration folder");
		c->mem_mib = set->knobs.gpu_mem_mib;
		c->reserve_mib = set->knobs.reserve_mib;
		c->overrides = overrides;
	}
	ct_profiles_free(set);
	free(t);
	if (err->code)
		ct_calibration_free(c);
	else
		*out = c;
	return (int)err->code;
}
