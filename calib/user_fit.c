/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/user_fit.h"

#include "calib/csv_table.h"
#include "sim/memory.h"
#include "sim/random.h"
#include "sim/shown.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_PAIRS = 8, FOLDS = 5, PAIRS_PER_CONFIG = 3 };
#define SIGMA_COUNTERS 0.07
#define SIGMA_LATENT   0.12

enum {
	ID,
	WORKLOAD,
	TYPE,
	THROUGHPUT,
	SOLO_REQUIRED,
	PARAMS = SOLO_REQUIRED,
	BATCH,
	CKPT,
	AMP,
	ISL,
	OSL,
	RHO,
	FB,
	SD,
	SM, /* the five counters stand together */
	OCC,
	DRAM,
	TENSOR,
	HOST,
	SOLO_COLUMNS
};
static const char *const solo_columns[SOLO_COLUMNS] = { "config_id",     "workload",  "type",         "throughput",
							"params",        "batch",     "ckpt",         "amp",
							"isl",           "osl",       "rho",          "fb_mb",
							"throughput_sd", "sm_active", "sm_occupancy", "dram_active",
							"tensor_active", "host" };
enum { CONFIG_I, CONFIG_J, THR_I, THR_J, PAIR_REQUIRED, MPS = PAIR_REQUIRED, REPEAT, PAIR_COLUMNS };
static const char *const pair_columns[PAIR_COLUMNS] = { "config_i",   "config_j", "thr_i_colo",
							"thr_j_colo", "mps",      "repeat" };

struct fitter {
	const struct ct_user_fit_options *o;
	struct ct_table t;
	struct ct_err *err;
	struct ct_calibration *c;
	unsigned *repeats; /* of each configuration */
	double *last;      /* throughput beside the partner before, and whether it ever changed */
	unsigned *seen, *changed;
	struct ct_loc *first, mps_at; /* where each stands first among the pairs; the first row without MPS */
	unsigned *pair_rows;          /* rows behind each pair */
	size_t cap_config, cap_repeats, cap_pair, cap_rows;
	int counters, no_mps, sd;
	unsigned warnings;
};

__attribute__((format(printf, 3, 4))) static void warn(struct fitter *f, const char *name, const char *fmt, ...)
{
	va_list args;

	f->warnings++;
	if (!f->o->warnings)
		return;
	fprintf(f->o->warnings, "cotenant: warning: %s: ", name);
	va_start(args, fmt);
	vfprintf(f->o->warnings, fmt, args);
	va_end(args);
	fputc('\n', f->o->warnings);
}

static void place(const struct fitter *f, size_t column, char *out, size_t n)
{
	struct ct_loc at = ct_table_loc(&f->t, column);

	snprintf(out, n, "%s:%zu:%zu", at.file, at.line, at.col);
}

#define FAIL(f, name, ...)                                           \
	do {                                                         \
		struct ct_loc at_ = ct_table_loc(&(f)->t, (name));   \
		ct_err_add((f)->err, CT_ECONFIG, &at_, __VA_ARGS__); \
	} while (0)

/* A number in [lo, hi]; `fallback` when the column is not there. */
static double number(struct fitter *f, size_t column, double lo, double hi, double fallback)
{
	struct ct_csv_field c;
	char b[CT_SHOWN];
	double x = fallback;

	if (!ct_table_has(&f->t, column))
		return fallback;
	c = ct_table_cell(&f->t, column);
	ct_shown(b, c.s, c.n);
	if (!c.n)
		FAIL(f, column, "'%s' is empty", f->t.names[column]);
	else if (ct_parse_f64(c.s, c.n, &x))
		FAIL(f, column, "'%s' wants a number, got '%s'", f->t.names[column], b);
	else if (x < lo || x > hi)
		FAIL(f, column, "'%s' wants %g to %g, got '%s'", f->t.names[column], lo, hi, b);
	return x;
}

static double positive(struct fitter *f, size_t column)
{
	struct ct_csv_field c = ct_table_cell(&f->t, column);
	char b[CT_SHOWN];
	double x = 1;

	ct_shown(b, c.s, c.n);
	if (ct_parse_f64(c.s, c.n, &x))
		FAIL(f, column, "'%s' wants a number, got '%s'", f->t.names[column], b);
	else if (!(x > 0) || x > 1e15)
		FAIL(f, column, "'%s' wants a positive number, got '%s'", f->t.names[column], b);
	else
		return x;
	return 1;
}

/* ---- solo.csv */

static void text(struct fitter *f, size_t column, char *out, size_t cap)
{
	struct ct_csv_field c = ct_table_cell(&f->t, column);

	if (!c.n || c.n >= cap)
		FAIL(f, column, "'%s' wants 1 to %zu bytes, got %zu", f->t.names[column], cap - 1, c.n);
	snprintf(out, cap, "%s", c.s);
}

static size_t find_config(const struct fitter *f, const char *id)
{
	size_t i = 0;

	while (i < f->c->n_configs && strcmp(f->c->config[i].profile.name, id) != 0)
		i++;
	return i;
}

static void read_profile(struct fitter *f, struct ct_profile *p)
{
	struct ct_csv_field type = ct_table_cell(&f->t, TYPE);
	char b[CT_SHOWN];

	p->train = !strcmp(type.s, "train");
	if (!p->train && strcmp(type.s, "infer") != 0)
		FAIL(f, TYPE, "'type' wants train or infer, got '%s'", ct_shown(b, type.s, type.n));
	p->params = number(f, PARAMS, 0, 1e15, 0);
	p->batch = (uint32_t)number(f, BATCH, 1, 1e9, 1);
	p->ckpt = number(f, CKPT, 0, 1, 0) > 0;
	p->amp = number(f, AMP, 0, 1, 0) > 0;
	p->isl = number(f, ISL, 0, 1e8, 0);
	p->osl = number(f, OSL, 0, 1e8, 0);
	p->rho = number(f, RHO, 0, 1, 0);
	p->fb_mib = (uint32_t)number(f, FB, 0, 4e9, 0);
	f->sd |= ct_table_has(&f->t, SD) && number(f, SD, 0, 1e15, 0) > 0;
	p->sm_active = number(f, SM, 0, 1, (double)NAN);
	p->sm_occupancy = number(f, OCC, 0, 1, (double)NAN);
	p->dram_active = number(f, DRAM, 0, 1, (double)NAN);
	p->tensor_active = number(f, TENSOR, 0, 1, (double)NAN);
	p->host = number(f, HOST, 0, 2, (double)NAN);
	p->weight = 1;
}

static void read_solo_row(struct fitter *f)
{
	struct ct_calib_config c = { 0 };
	double x = positive(f, THROUGHPUT);
	size_t i;

	text(f, ID, c.profile.name, sizeof c.profile.name);
	text(f, WORKLOAD, c.workload, sizeof c.workload);
	read_profile(f, &c.profile);
	i = find_config(f, c.profile.name);
	if (i == f->c->n_configs) {
		CT_GROW(f->c->config, f->cap_config, i + 1);
		CT_GROW(f->repeats, f->cap_repeats, i + 1);
		f->c->config[f->c->n_configs++] = c;
		f->repeats[i] = 0;
	} else if (strcmp(f->c->config[i].workload, c.workload) != 0) {
		FAIL(f, WORKLOAD, "configuration '%s' was of workload '%s' above", c.profile.name,
		     f->c->config[i].workload);
	}
	/* mean of the repeats */
	f->c->config[i].profile.throughput += (x - f->c->config[i].profile.throughput) / ++f->repeats[i];
}

/* All five counters, or none. */
static void check_counters(struct fitter *f)
{
	struct ct_loc head = { .file = f->o->solo, .line = 1 };
	int have = 0;

	for (size_t k = SM; k <= HOST; k++)
		have += ct_table_has(&f->t, k);
	f->counters = have == HOST - SM + 1;
	for (size_t k = SM; k <= HOST; k++)
		if (have && !f->counters && !ct_table_has(&f->t, k))
			ct_err_add(f->err, CT_ECONFIG, &head, "no column '%s'; give all five counters, or none",
				   solo_columns[k]);
	if (f->o->mode == CT_CALIB_COUNTERS && !have)
		ct_err_add(f->err, CT_ECONFIG, &head, "mode 'counters' wants the five counters");
}

/* Rows of one workload together, both in order of first appearance. */
static void group_workloads(struct fitter *f)
{
	struct ct_calib_config *sorted = ct_calloc(f->c->n_configs + 1, sizeof *sorted);
	size_t n = 0;

	for (size_t i = 0; i < f->c->n_configs; i++) {
		size_t first = 0;

		while (strcmp(f->c->config[first].workload, f->c->config[i].workload) != 0)
			first++;
		for (size_t k = i; first == i && k < f->c->n_configs; k++)
			if (!strcmp(f->c->config[k].workload, f->c->config[i].workload))
				sorted[n++] = f->c->config[k];
	}
	free(f->c->config);
	f->c->config = sorted;
}

static int read_solo(struct fitter *f)
{
	unsigned once = 0;

	CT_TRY(ct_table_open_optional(&f->t, f->o->solo, solo_columns, SOLO_COLUMNS, SOLO_COLUMNS - SOLO_REQUIRED,
				      CT_TABLE_REFUSE_UNKNOWN, f->err));
	check_counters(f);
	while (ct_table_next(&f->t) == 1)
		read_solo_row(f);
	CT_TRY(ct_table_close(&f->t));
	for (size_t i = 0; i < f->c->n_configs; i++)
		once += f->repeats[i] < 2;
	if (once && !f->sd)
		warn(f, "solo-once",
		     "%u of %zu configurations were measured alone only once; a biased solo speed biases all their "
		     "pairs",
		     once, f->c->n_configs);
	group_workloads(f);
	return 0;
}

/* ---- pairs.csv */

static size_t config_of(struct fitter *f, size_t column)
{
	struct ct_csv_field c = ct_table_cell(&f->t, column);
	size_t i = find_config(f, c.s);
	char b[CT_SHOWN];

	if (i == f->c->n_configs)
		FAIL(f, column, "configuration '%s' is not in '%s'", ct_shown(b, c.s, c.n), f->o->solo);
	return i;
}

static double slowdown_of(struct fitter *f, size_t column, size_t config)
{
	double x = positive(f, column), s, solo;
	char at[512];

	if (config == f->c->n_configs)
		return 1;
	solo = f->c->config[config].profile.throughput;
	s = solo / x;
	place(f, column, at, sizeof at);
	if (s < 1 / 1.3)
		FAIL(f, column,
		     "%.4g is %.2f times the solo throughput %.4g; over 1.3 times is a mistake in one of them", x,
		     1 / s, solo);
	else if (s < 0.97)
		warn(f, "speed-up", "%s: '%s' is %.1f %% faster in company than alone; measure alone again", at,
		     f->c->config[config].profile.name, 100 * (1 / s - 1));
	if (!f->seen[config])
		f->first[config] = ct_table_loc(&f->t, column);
	if (f->seen[config]++ && fabs(x - f->last[config]) > 1e-9 * x)
		f->changed[config] = 1;
	f->last[config] = x;
	return s;
}

static int one_sided(struct fitter *f)
{
	for (size_t k = THR_I; k <= THR_J; k++)
		if (!ct_table_cell(&f->t, k).n) {
			FAIL(f, k, "'%s' is empty; a pair needs both sides", pair_columns[k]);
			return 1;
		}
	return 0;
}

/* Mean of the repeats, on the scale of speeds. */
static void add_pair(struct fitter *f, const struct ct_fit_pair *p)
{
	struct ct_calibration *c = f->c;
	struct ct_fit_pair *q;
	size_t k = 0;

	while (k < c->n_pairs && (c->pair[k].measured.a != p->a || c->pair[k].measured.b != p->b))
		k++;
	if (k == c->n_pairs) {
		CT_GROW(c->pair, f->cap_pair, k + 1);
		CT_GROW(f->pair_rows, f->cap_rows, k + 1);
		c->pair[c->n_pairs++] =
		    (struct ct_calib_pair){ .measured = *p, .fit = { NAN, NAN }, .lopo = { NAN, NAN } };
		f->pair_rows[k] = 1;
		return;
	}
	q = &c->pair[k].measured;
	f->pair_rows[k]++;
	q->s_a = 1 / (1 / q->s_a + (1 / p->s_a - 1 / q->s_a) / f->pair_rows[k]);
	q->s_b = 1 / (1 / q->s_b + (1 / p->s_b - 1 / q->s_b) / f->pair_rows[k]);
}

static void read_pair_row(struct fitter *f)
{
	unsigned before = f->err->count;
	size_t i = config_of(f, CONFIG_I), j = config_of(f, CONFIG_J);
	struct ct_fit_pair p;
	char at[512];
	double sum;

	if (one_sided(f))
		return;
	if (number(f, MPS, 0, 1, 1) < 1 && !f->no_mps) {
		f->no_mps = 1;
		f->mps_at = ct_table_loc(&f->t, MPS);
	}
	number(f, REPEAT, 0, 1e9, 0);
	p = (struct ct_fit_pair){ .s_a = slowdown_of(f, THR_I, i), .s_b = slowdown_of(f, THR_J, j) };
	if (f->err->count != before)
		return;
	p.a = (uint32_t)(i <= j ? i : j);
	p.b = (uint32_t)(i <= j ? j : i);
	if (i > j) {
		double s = p.s_a;

		p.s_a = p.s_b;
		p.s_b = s;
	}
	sum = 1 / p.s_a + 1 / p.s_b;
	place(f, THR_I, at, sizeof at);
	if (sum < 0.9 || sum > 2.05)
		warn(f, "sum-of-speeds", "%s: the two keep %.2f of their solo speeds together; 0.9 to 2.05 is usual",
		     at, sum);
	add_pair(f, &p);
}

static void check_pairs(struct fitter *f)
{
	struct ct_loc whole = { .file = f->o->pairs };
	const struct ct_calibration *c = f->c;
	double possible = (double)c->n_configs * ((double)c->n_configs + 1) / 2;

	if (f->c->mode != CT_CALIB_OVERRIDES && c->n_pairs < MIN_PAIRS)
		ct_err_add(f->err, CT_ECONFIG, &whole,
			   "%zu pairs are too few to fit, wanted at least %d; mode 'overrides' uses them as they are",
			   c->n_pairs, MIN_PAIRS);
	if (!c->n_pairs && !f->err->code)
		ct_err_add(f->err, CT_ECONFIG, &whole, "holds no pairs");
	for (size_t i = 0; i < c->n_configs; i++)
		if (f->seen[i] > 2 && !f->changed[i])
			warn(f, "constant-column",
			     "%s:%zu:%zu: '%s' has the same throughput beside every partner: is it really measured?",
			     f->o->pairs, f->first[i].line, f->first[i].col, c->config[i].profile.name);
	if (f->no_mps)
		warn(f, "no-mps", "%s:%zu:%zu: pairs measured without MPS: what is fitted is time slicing", f->o->pairs,
		     f->mps_at.line, f->mps_at.col);
	if (c->mode == CT_CALIB_LATENT && (double)c->n_pairs < 0.3 * possible)
		warn(f, "few-pairs", "%zu of %.0f possible pairs; latent demands want at least 30 %%", c->n_pairs,
		     possible);
}

static int read_pairs(struct fitter *f)
{
	f->last = ct_calloc(f->c->n_configs + 1, sizeof *f->last);
	f->seen = ct_calloc(f->c->n_configs + 1, sizeof *f->seen);
	f->first = ct_calloc(f->c->n_configs + 1, sizeof *f->first);
	f->changed = ct_calloc(f->c->n_configs + 1, sizeof *f->changed);
	CT_TRY(ct_table_open_optional(&f->t, f->o->pairs, pair_columns, PAIR_COLUMNS, PAIR_COLUMNS - PAIR_REQUIRED,
				      CT_TABLE_REFUSE_UNKNOWN, f->err));
	while (ct_table_next(&f->t) == 1)
		read_pair_row(f);
	if (!ct_table_close(&f->t))
		check_pairs(f);
	return (int)f->err->code;
}

/* ---- fitting */

struct form {
	struct ct_fit_model model;
	struct ct_fit_latent latent;
	struct ct_fit_counters counters;
	double sigma;
	int is_latent;
};

static int fit_form(const struct form *m, const struct ct_fit_pair *pair, size_t n, uint64_t seed,
		    struct ct_fit_result *r, struct ct_err *err)
{
	if (m->is_latent)
		return ct_fit_latents_best(&m->latent, pair, n, m->sigma, 2, seed, r, err);
	return ct_fit(&m->model, pair, n, m->sigma, NULL, r, err);
}

/* Every pair predicted by fits that did not see it, for the form and the two trivial
 * predictors. `order` is a seeded permutation. */
struct folds {
	double (*model)[2], (*null)[2], (*additive)[2];
};

static int cross_validate(const struct form *m, const struct ct_fit_pair *pair, size_t n, uint32_t n_configs,
			  uint64_t seed, struct folds *out, struct ct_err *err)
{
	struct ct_fit_pair *train = ct_calloc(n, sizeof *train);
	int rc = 0;

	for (size_t fold = 0; fold < FOLDS && !rc; fold++) {
		size_t from = n * fold / FOLDS, to = n * (fold + 1) / FOLDS, k = n - (to - from);
		struct ct_fit_result r;

		memcpy(train, pair, from * sizeof *pair);
		memcpy(train + from, pair + to, (n - to) * sizeof *pair);
		rc = fit_form(m, train, k, seed, &r, err);
		if (rc)
			break;
		ct_fit_predict(&m->model, r.t, pair + from, to - from, out->model + from);
		ct_fit_null(train, k, pair + from, to - from, out->null + from);
		ct_fit_additive(train, k, n_configs, pair + from, to - from, out->additive + from);
		ct_fit_result_fini(&r);
	}
	free(train);
	return rc;
}

static void shuffle(struct ct_fit_pair *pair, size_t n, uint64_t seed)
{
	struct ct_stream s;

	ct_stream_init(&s, seed, CT_RANDOM_TRUTH, UINT64_MAX);
	for (size_t i = n; i-- > 1;) {
		size_t k = gsl_rng_uniform_int(&s.rng, i + 1);
		struct ct_fit_pair p = pair[i];

		pair[i] = pair[k];
		pair[k] = p;
	}
}

static void add_holdout(struct ct_calibration *c, const char *name, const struct ct_fit_pair *pair, size_t n,
			double (*s)[2])
{
	struct ct_fit_score score = ct_fit_score(pair, n, (const double(*)[2])s);
	struct ct_calib_holdout *h = &c->holdout[c->n_holdouts++];

	snprintf(h->predictor, sizeof h->predictor, "%s", name);
	h->mape = score.mape;
	h->r2 = score.r2;
}

/* The frozen residual of pairs nobody measured: what held-out pairs deviate. */
static void residuals(struct ct_calibration *c, const struct ct_fit_pair *pair, size_t n, double (*s)[2])
{
	double sum[CT_COLOCS + 1] = { 0 }, k[CT_COLOCS + 1] = { 0 };

	for (size_t i = 0; i < n; i++) {
		enum ct_coloc type = ct_coloc_type(&c->config[pair[i].a].profile, &c->config[pair[i].b].profile);
		double a = log(s[i][0] / pair[i].s_a), b = log(s[i][1] / pair[i].s_b);

		sum[type] += a * a + b * b;
		sum[CT_COLOCS] += a * a + b * b;
		k[type] += 2;
		k[CT_COLOCS] += 2;
	}
	for (int t = 0; t < CT_COLOCS; t++)
		c->sigma[t] = fmin(1, k[t] >= 10 ? sqrt(sum[t] / k[t]) : sqrt(sum[CT_COLOCS] / k[CT_COLOCS]));
}

static struct form form_of(const struct fitter *f, const struct ct_profile *const *profile)
{
	uint32_t n = (uint32_t)f->c->n_configs;
	struct form m = { .is_latent = f->c->mode == CT_CALIB_LATENT };

	m.latent.n_configs = n;
	m.counters = (struct ct_fit_counters){ profile, n };
	m.sigma = m.is_latent ? SIGMA_LATENT : SIGMA_COUNTERS;
	return m;
}

/* The model points into the form, so it is made where the form stays. */
static void bind(struct form *m, int free_counters)
{
	if (m->is_latent)
		m->model = ct_fit_latents(&m->latent);
	else
		m->model = free_counters ? ct_fit_free_counters(&m->counters) : ct_fit_globals(&m->counters);
}

static void keep(struct fitter *f, const struct form *m, const struct ct_fit_result *r, int free_counters)
{
	struct ct_calibration *c = f->c;
	struct ct_demand *demand = ct_calloc(c->n_configs, sizeof *demand);
	static const char *const latent[CT_LATENT_GLOBALS] = { "m", "p" };

	c->wstr = ct_slowdown_published();
	m->model.expand(m->model.ctx, r->t, &c->wstr, demand);
	c->wstr.guard = 0;
	c->resources = m->model.resources;
	for (size_t i = 0; i < c->n_configs; i++)
		c->config[i].demand = demand[i];
	free(demand);
	c->unknown = ct_calloc(m->model.n, sizeof *c->unknown);
	c->n_unknowns = m->model.n;
	for (uint32_t i = 0; i < m->model.n; i++) {
		struct ct_calib_unknown *u = &c->unknown[i];
		uint32_t globals = m->is_latent ? CT_LATENT_GLOBALS : CT_GLOBALS;
		uint32_t per = m->is_latent ? CT_LATENTS + 1 : 5;

		if (i < globals)
			snprintf(u->name, sizeof u->name, "%s", m->is_latent ? latent[i] : ct_global_prior[i].name);
		else
			snprintf(u->name, sizeof u->name, "%s %s%u", c->config[(i - globals) / per].profile.name,
				 free_counters ? "counter" : "latent", (i - globals) % per);
		u->value = r->t[i];
		u->width = r->width[i];
	}
}

static int fit_all(struct fitter *f, const struct form *m, int free_counters)
{
	struct ct_calibration *c = f->c;
	struct ct_fit_pair *pair = ct_calloc(c->n_pairs, sizeof *pair);
	double(*s)[2] = ct_calloc(c->n_pairs, sizeof *s);
	struct ct_fit_result r;
	int rc;

	for (size_t i = 0; i < c->n_pairs; i++)
		pair[i] = c->pair[i].measured;
	rc = fit_form(m, pair, c->n_pairs, f->o->seed, &r, f->err);
	if (!rc) {
		if (!r.converged)
			warn(f, "not-converged", "the fit stopped after %u iterations", r.iterations);
		ct_fit_predict(&m->model, r.t, pair, c->n_pairs, s);
		for (size_t i = 0; i < c->n_pairs; i++)
			memcpy(c->pair[i].fit, s[i], sizeof s[i]);
		c->fit = ct_fit_score(pair, c->n_pairs, (const double(*)[2])s);
		keep(f, m, &r, free_counters);
		ct_fit_result_fini(&r);
	}
	free(s);
	free(pair);
	return rc;
}

static int validate(struct fitter *f, struct form *m, struct ct_fit_pair *pair, struct folds *o, int *free_counters)
{
	struct ct_calibration *c = f->c;
	size_t n = c->n_pairs;
	struct ct_fit_score fixed, freed;

	bind(m, 0);
	CT_TRY(cross_validate(m, pair, n, (uint32_t)c->n_configs, f->o->seed, o, f->err));
	if (m->is_latent)
		return 0;
	if (n < PAIRS_PER_CONFIG * c->n_configs) {
		warn(f, "counters-fixed", "%zu pairs for %zu configurations: the counters stay as measured", n,
		     c->n_configs);
		return 0;
	}
	fixed = ct_fit_score(pair, n, (const double(*)[2])o->model);
	bind(m, 1);
	CT_TRY(cross_validate(m, pair, n, (uint32_t)c->n_configs, f->o->seed, o, f->err));
	freed = ct_fit_score(pair, n, (const double(*)[2])o->model);
	*free_counters = freed.mape < fixed.mape;
	if (*free_counters)
		return 0;
	bind(m, 0);
	return cross_validate(m, pair, n, (uint32_t)c->n_configs, f->o->seed, o, f->err);
}

static int fit_model(struct fitter *f)
{
	struct ct_calibration *c = f->c;
	const struct ct_profile **profile = ct_calloc(c->n_configs, sizeof *profile);
	struct ct_fit_pair *pair = ct_calloc(c->n_pairs, sizeof *pair);
	double(*s)[2] = ct_calloc(3 * c->n_pairs, sizeof *s);
	struct folds o = { s, s + c->n_pairs, s + 2 * c->n_pairs };
	struct form m = form_of(f, profile);
	int rc, free_counters = 0;

	for (size_t i = 0; i < c->n_configs; i++)
		profile[i] = &c->config[i].profile;
	for (size_t i = 0; i < c->n_pairs; i++)
		pair[i] = c->pair[i].measured;
	shuffle(pair, c->n_pairs, f->o->seed);
	c->sigma_fit = m.sigma;
	rc = validate(f, &m, pair, &o, &free_counters);
	if (!rc) {
		add_holdout(c, free_counters ? "model, counters freed" : "model", pair, c->n_pairs, o.model);
		add_holdout(c, "geometric mean", pair, c->n_pairs, o.null);
		add_holdout(c, "a_i + b_j", pair, c->n_pairs, o.additive);
		residuals(c, pair, c->n_pairs, o.model);
		c->lopo = ct_fit_score(pair, c->n_pairs, (const double(*)[2])o.model);
		if (c->holdout[0].mape >= c->holdout[1].mape)
			warn(f, "no-better-than-mean", "held-out pairs: %.1f %% error, the mean of all has %.1f %%",
			     c->holdout[0].mape, c->holdout[1].mape);
		rc = fit_all(f, &m, free_counters);
	}
	free(s);
	free(pair);
	free(profile);
	return rc;
}

static void only_overrides(struct ct_calibration *c)
{
	c->wstr = ct_slowdown_published();
	c->resources = 0;
	for (size_t i = 0; i < c->n_configs; i++)
		c->config[i].demand.weight = 1;
}

int ct_user_fit(const struct ct_user_fit_options *o, struct ct_calibration **out, struct ct_err *err)
{
	struct fitter f = { .o = o, .err = err, .c = ct_calloc(1, sizeof *f.c) };
	struct ct_calibration *c = f.c;

	snprintf(c->gpu, sizeof c->gpu, "%s", o->gpu ? o->gpu : "unnamed");
	c->mem_mib = o->mem_mib;
	c->reserve_mib = o->reserve_mib;
	c->overrides = 1;
	c->holdout = ct_calloc(4, sizeof *c->holdout);
	if (!read_solo(&f)) {
		c->mode = o->mode >= 0 ? (enum ct_calib_mode)o->mode : f.counters ? CT_CALIB_COUNTERS : CT_CALIB_LATENT;
		snprintf(c->source, sizeof c->source, "measured pairs, mode %s", ct_calib_mode_name(c->mode));
		if (!read_pairs(&f) && c->mode == CT_CALIB_OVERRIDES)
			only_overrides(c);
		else if (!err->code)
			fit_model(&f);
	}
	free(f.repeats);
	free(f.last);
	free(f.seen);
	free(f.changed);
	free(f.first);
	free(f.pair_rows);
	if (err->code)
		ct_calibration_free(c);
	else
		*out = c;
	return (int)err->code;
}
