/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/repro.h"

#include "calib/csv_table.h"
#include "experiments/statistics.h"
#include "sim/csv.h"
#include "sim/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS_MOST = 1000 };
#define LEVEL 0.95
#define SAME  1e-9

void ct_repro_fini(struct ct_repro *r)
{
	free(r->row);
	ct_arena_fini(&r->arena);
	memset(r, 0, sizeof *r);
}

struct ct_repro_row *ct_repro_add(struct ct_repro *r, const struct ct_paper_figure *f)
{
	CT_GROW(r->row, r->cap, r->n + 1);
	r->row[r->n] = (struct ct_repro_row){ .figure = f,
					      .ours = NAN,
					      .mean_lo = NAN,
					      .mean_hi = NAN,
					      .lo = NAN,
					      .hi = NAN,
					      .agrees = -1,
					      .in_aim = -1,
					      .ceiling = NAN,
					      .fits_lo = NAN,
					      .fits_hi = NAN };
	return &r->row[r->n++];
}

/* "all" is what is published, each cell once; what is only shown is asked for by name. */
static int concerns(const struct ct_paper_figure *f, const char *table)
{
	return (!strcmp(table, "all") && !isnan(f->value) && !f->n_draws && !f->again) || !strcmp(f->table, table) ||
	       (!strcmp(table, "figures") && !strncmp(f->table, "fig", strlen("fig")));
}

int ct_repro_knows(const struct ct_paper *p, const char *table)
{
	for (size_t i = 0; i < p->n_figures; i++)
		if (concerns(&p->figure[i], table))
			return 1;
	return !strcmp(table, "table6") || !strcmp(table, "table7");
}

static unsigned seeds_of(const struct ct_paper_figure *f, unsigned seeds)
{
	return f->seeds_most && f->seeds_most < seeds ? f->seeds_most : seeds;
}

/* The k-th study of a figure; SIZE_MAX past the last. */
static size_t study_of(const struct ct_paper_figure *f, size_t k)
{
	if (!f->n_draws)
		return k == 0 ? f->study : k == 1 ? f->against : SIZE_MAX;
	return k < f->n_draws ? f->draw[k] : SIZE_MAX;
}

void ct_repro_want(const struct ct_paper *p, struct ct_study *s, const char *table, unsigned seeds)
{
	for (size_t i = 0; i < p->n_figures; i++) {
		const struct ct_paper_figure *f = &p->figure[i];

		if (!f->runs || !concerns(f, table))
			continue;
		for (size_t k = 0; study_of(f, k) != SIZE_MAX; k++) {
			ct_study_want(s, study_of(f, k), f->variant, 1, seeds_of(f, seeds));
			if (f->over != SIZE_MAX)
				ct_study_want(s, study_of(f, k), f->over, 1, seeds_of(f, seeds));
		}
	}
}

/* ---- one row */

static void invert(struct ct_repro_row *r)
{
	double lo = r->lo, mean_lo = r->mean_lo;

	r->ours = 1 / r->ours;
	r->lo = 1 / r->hi;
	r->hi = 1 / lo;
	r->mean_lo = 1 / r->mean_hi;
	r->mean_hi = 1 / mean_lo;
}

static void ratio(struct ct_repro_row *r, const double *a, const double *b, size_t n)
{
	double *logs = ct_calloc(n + 1, sizeof *logs);
	struct ct_estimate e = ct_ratio_interval(a, b, n, LEVEL), single;

	for (size_t i = 0; i < n; i++)
		logs[i] = log(b[i] / a[i]);
	single = ct_prediction_interval(logs, n, LEVEL);
	r->ours = ct_mean(b, n) / ct_mean(a, n);
	r->mean_lo = e.lo;
	r->mean_hi = e.hi;
	r->lo = exp(single.lo);
	r->hi = exp(single.hi);
	free(logs);
}

static void plain(struct ct_repro_row *r, const double *b, size_t n)
{
	struct ct_estimate e = ct_mean_interval(b, n, LEVEL), single = ct_prediction_interval(b, n, LEVEL);

	r->ours = ct_mean(b, n);
	r->mean_lo = e.lo;
	r->mean_hi = e.hi;
	r->lo = single.lo;
	r->hi = single.hi;
}

/* (d/c) / (b/a), or d/b */
static void effect(struct ct_repro_row *r, const struct ct_paper_figure *f, const struct ct_study *s)
{
	double v[4][SEEDS_MOST], *log_of = v[0];
	struct ct_estimate e, single;
	size_t n = SEEDS_MOST;

	for (int i = 0; i < 4; i++) {
		size_t variant = i % 2 ? f->variant : f->over, k;

		if (variant == SIZE_MAX)
			continue;
		k = ct_study_values(s, i < 2 ? f->against : f->study, variant, f->metric, v[i], SEEDS_MOST);
		n = k < n ? k : n;
	}
	if (f->over == SIZE_MAX) {
		ratio(r, v[1], v[3], n);
		r->seeds = n;
		return;
	}
	e = ct_double_ratio_interval(v[0], v[1], v[2], v[3], n, LEVEL);
	for (size_t i = 0; i < n; i++)
		log_of[i] = log(v[3][i] / v[2][i]) - log(v[1][i] / v[0][i]);
	single = ct_prediction_interval(log_of, n, LEVEL);
	r->ours = e.value;
	r->mean_lo = e.lo;
	r->mean_hi = e.hi;
	r->lo = exp(single.lo);
	r->hi = exp(single.hi);
	r->seeds = n;
}

static void scale(struct ct_repro_row *r, double by)
{
	r->ours *= by;
	r->mean_lo *= by;
	r->mean_hi *= by;
	r->lo *= by;
	r->hi *= by;
}

/* Runs of one draw: n values that average to (the logarithm of) its figure, and n single ones. */
struct pool {
	double *mean, *single;
	size_t n;
};

/* A ratio of means is not the mean of ratios: ln(mb / ma) + b / mb - a / ma averages to its logarithm,
 * and varies as that does to first order. */
static void add_draw(struct pool *p, size_t at, const double *a, const double *b)
{
	double ma = a ? ct_mean(a, p->n) : 0, mb = ct_mean(b, p->n);

	for (size_t i = 0; i < p->n; i++) {
		p->mean[at + i] = a ? log(mb / ma) + b[i] / mb - a[i] / ma : b[i];
		p->single[at + i] = a ? log(b[i] / a[i]) : b[i];
	}
}

static void pooled(struct ct_repro_row *r, const struct ct_study *s)
{
	const struct ct_paper_figure *f = r->figure;
	int is_ratio = f->over != SIZE_MAX;
	double a[SEEDS_MOST], b[SEEDS_MOST];
	struct ct_pooled mean, single;
	struct pool p = { .n = SEEDS_MOST };

	for (size_t k = 0; k < f->n_draws; k++) {
		size_t n = ct_study_values(s, f->draw[k], f->variant, f->metric, b, SEEDS_MOST);
		size_t m = is_ratio ? ct_study_values(s, f->draw[k], f->over, f->metric, a, SEEDS_MOST) : n;

		n = m < n ? m : n;
		p.n = n < p.n ? n : p.n;
	}
	p.n = f->seeds_most && f->seeds_most < p.n ? f->seeds_most : p.n;
	p.mean = ct_calloc(f->n_draws * p.n + 1, sizeof *p.mean);
	p.single = ct_calloc(f->n_draws * p.n + 1, sizeof *p.single);
	for (size_t k = 0; k < f->n_draws; k++) {
		ct_study_values(s, f->draw[k], f->variant, f->metric, b, p.n);
		if (is_ratio)
			ct_study_values(s, f->draw[k], f->over, f->metric, a, p.n);
		add_draw(&p, k * p.n, is_ratio ? a : NULL, b);
	}
	mean = ct_pooled_intervals(p.mean, f->n_draws, p.n, LEVEL);
	single = ct_pooled_intervals(p.single, f->n_draws, p.n, LEVEL);
	r->ours = is_ratio ? exp(mean.mean.value) : mean.mean.value;
	r->mean_lo = f->spread ? mean.lo : mean.mean.lo;
	r->mean_hi = f->spread ? mean.hi : mean.mean.hi;
	r->lo = f->spread ? NAN : single.single.lo;
	r->hi = f->spread ? NAN : single.single.hi;
	if (is_ratio) {
		r->mean_lo = exp(r->mean_lo);
		r->mean_hi = exp(r->mean_hi);
		r->lo = exp(r->lo);
		r->hi = exp(r->hi);
	}
	r->seeds = p.n;
	free(p.mean);
	free(p.single);
}

/* What is left of `whole`. */
static void complement(struct ct_repro_row *r, double whole)
{
	double lo = r->lo, mean_lo = r->mean_lo;

	r->ours = whole - r->ours;
	r->lo = whole - r->hi;
	r->hi = whole - lo;
	r->mean_lo = whole - r->mean_hi;
	r->mean_hi = whole - mean_lo;
}

const char *ct_repro_stability(const struct ct_repro_row *r)
{
	if (!r->figure->runs || r->figure->metric != CT_METRIC_backlog_growth || !isfinite(r->mean_hi - r->mean_lo))
		return NULL;
	if (r->mean_lo > 0)
		return "NOT stable, mean JCT grows with the length of the run";
	if (r->mean_hi < 0)
		return "a backlog is worked off, the warm-up is too short";
	return "no growth shown, stable as far as these seeds say";
}

void ct_repro_aim(struct ct_repro_row *r)
{
	const struct ct_paper_figure *f = r->figure;

	if (!isnan(f->value) && !isnan(f->tolerance))
		r->in_aim = fabs(r->ours - f->value) <= f->tolerance * (f->relative ? fabs(f->value) : 1);
}

void ct_repro_judge(struct ct_repro_row *r)
{
	const struct ct_paper_figure *f = r->figure;

	if (!isfinite(r->ours) || isnan(f->value))
		return;
	r->agrees = f->value >= r->lo && f->value <= r->hi;
	ct_repro_aim(r);
}

static void fill_row(struct ct_repro_row *r, const struct ct_study *s)
{
	const struct ct_paper_figure *f = r->figure;
	double a[SEEDS_MOST], b[SEEDS_MOST];
	size_t n;

	if (!f->runs)
		return;
	if (f->against != SIZE_MAX) {
		effect(r, f, s);
		return;
	}
	if (f->n_draws) {
		pooled(r, s);
		scale(r, f->scale);
		if (!f->spread && isfinite(r->lo) && !isnan(f->value))
			r->agrees = f->value >= r->lo && f->value <= r->hi;
		return;
	}
	n = ct_study_values(s, f->study, f->variant, f->metric, b, SEEDS_MOST);
	if (f->over != SIZE_MAX) {
		size_t m = ct_study_values(s, f->study, f->over, f->metric, a, SEEDS_MOST);

		n = m < n ? m : n;
		ratio(r, a, b, n);
	} else {
		plain(r, b, n);
	}
	scale(r, f->scale);
	if (f->invert)
		invert(r);
	if (f->complement)
		complement(r, f->scale);
	r->seeds = n;
	ct_repro_judge(r);
}

void ct_repro_rows(const struct ct_paper *p, const struct ct_study *s, const char *table, struct ct_repro *out)
{
	for (size_t i = 0; i < p->n_figures; i++) {
		if (!concerns(&p->figure[i], table))
			continue;
		fill_row(ct_repro_add(out, &p->figure[i]), s);
	}
}

/* An interval shrinks with the root of the number of seeds. Tenths more than it takes, so that
 * the next look is mostly the last; at most four times as many, since a first estimate is poor. */
static unsigned seeds_for(const struct ct_repro_row *r, double width, unsigned most)
{
	double half = (r->mean_hi - r->mean_lo) / 2 / fabs(r->ours), n = (double)r->seeds, more;

	if (!isfinite(r->ours) || half <= width)
		return 0;
	more = isfinite(half) ? 1.1 * pow(half / width, 2) : 4;
	n = fmin(ceil(n * fmin(fmax(more, 1.1), 4)), most);
	return n > (double)r->seeds ? (unsigned)n : 0;
}

size_t ct_repro_widen(struct ct_study *s, const struct ct_repro *rows, double width, unsigned most)
{
	size_t wide = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct ct_paper_figure *f = rows->row[i].figure;
		unsigned n = f->runs && f->role != CT_ROLE_BESIDE ? seeds_for(&rows->row[i], width, most) : 0;

		if (!n)
			continue;
		wide++;
		ct_study_want(s, f->study, f->variant, 1, n);
		if (f->over != SIZE_MAX)
			ct_study_want(s, f->study, f->over, 1, n);
	}
	return wide;
}

/* ---- the recorded state */

enum { ID, SEEDS, VALUE, AGREES, COLUMNS };
static const char *const names[COLUMNS] = { "id", "seeds", "value", "agrees" };

static void read_row(struct ct_recorded *out, struct ct_table *t)
{
	struct ct_csv_field id = ct_table_cell(t, ID), seeds = ct_table_cell(t, SEEDS), value = ct_table_cell(t, VALUE),
			    agrees = ct_table_cell(t, AGREES);
	struct ct_recorded_row row = { .agrees = !strcmp(agrees.s, "yes") };
	struct ct_loc at = ct_table_loc(t, SIZE_MAX);
	int64_t n;

	if (!id.n || ct_parse_i64(seeds.s, seeds.n, &n) || n < 1 || ct_parse_f64(value.s, value.n, &row.value) ||
	    (!row.agrees && strcmp(agrees.s, "no") != 0)) {
		ct_err_add(t->err, CT_ECONFIG, &at, "wanted an id, a number of seeds, a value, and yes or no");
		return;
	}
	row.seeds = (size_t)n;
	row.id = ct_arena_text(&out->arena, id.s, id.n);
	if (ct_recorded_find(out, row.id))
		ct_err_add(t->err, CT_ECONFIG, &at, "'%.60s' is there twice", row.id);
	CT_GROW(out->row, out->cap, out->n + 1);
	out->row[out->n++] = row;
}

int ct_recorded_load(const char *path, struct ct_recorded *out, struct ct_err *err)
{
	struct ct_table t;
	int rc;

	CT_TRY(ct_table_open(&t, path, names, COLUMNS, CT_TABLE_REFUSE_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		read_row(out, &t);
	rc = ct_table_close(&t);
	if (rc)
		ct_recorded_fini(out);
	return rc;
}

void ct_recorded_fini(struct ct_recorded *r)
{
	free(r->row);
	ct_arena_fini(&r->arena);
	memset(r, 0, sizeof *r);
}

const struct ct_recorded_row *ct_recorded_find(const struct ct_recorded *r, const char *id)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->row[i].id, id))
			return &r->row[i];
	return NULL;
}

static int same(double a, double b)
{
	return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

size_t ct_recorded_compare(const struct ct_recorded *r, const struct ct_repro *now, FILE *to)
{
	size_t differ = 0;

	for (size_t i = 0; i < now->n; i++) {
		const struct ct_repro_row *row = &now->row[i];
		const struct ct_recorded_row *was = ct_recorded_find(r, row->figure->id);

		if (row->agrees < 0 || !ct_repro_is_recorded(row))
			continue;
		if (was && was->seeds == row->seeds && was->agrees == row->agrees && same(was->value, row->ours))
			continue;
		differ++;
		if (!was)
			fprintf(to, "%s: %.10g (%zu seeds, agrees: %s), not recorded\n", row->figure->id, row->ours,
				row->seeds, row->agrees ? "yes" : "no");
		else
			fprintf(to, "%s: %.10g (%zu seeds, agrees: %s), recorded %.10g (%zu seeds, agrees: %s)\n",
				row->figure->id, row->ours, row->seeds, row->agrees ? "yes" : "no", was->value,
				was->seeds, was->agrees ? "yes" : "no");
	}
	return differ;
}

int ct_repro_is_recorded(const struct ct_repro_row *r)
{
	int is_made = r->figure->runs || r->figure->from == CT_FROM_CASES || r->figure->from == CT_FROM_PLAN;

	return is_made && r->figure->metric != CT_STUDY_epoch_ms && r->figure->metric != CT_STUDY_cpu_s &&
	       isfinite(r->ours);
}

static void write_row(struct ct_output *o, const char *id, size_t seeds, double value, int agrees)
{
	ct_output_field(o, id);
	ct_output_text(o, ",");
	ct_output_i64(o, (int64_t)seeds);
	ct_output_text(o, ",");
	ct_output_f64(o, value);
	ct_output_text(o, agrees ? ",yes\n" : ",no\n");
}

static const struct ct_repro_row *find_row(const struct ct_repro *now, const char *id)
{
	for (size_t i = 0; i < now->n; i++)
		if (!strcmp(now->row[i].figure->id, id) && ct_repro_is_recorded(&now->row[i]))
			return &now->row[i];
	return NULL;
}

int ct_recorded_write(const struct ct_recorded *r, const struct ct_repro *now, const char *path, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(ct_output_open(&o, path, err));
	ct_output_text(&o, "id,seeds,value,agrees\n");
	for (size_t i = 0; i < r->n; i++)
		if (!find_row(now, r->row[i].id))
			write_row(&o, r->row[i].id, r->row[i].seeds, r->row[i].value, r->row[i].agrees);
	for (size_t i = 0; i < now->n; i++)
		if (ct_repro_is_recorded(&now->row[i]))
			write_row(&o, now->row[i].figure->id, now->row[i].seeds, now->row[i].ours, now->row[i].agrees);
	return ct_output_close(&o, err);
}
