/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/report.h"

#include "experiments/statistics.h"
#include "experiments/sweep/pairs.h"
#include "experiments/table.h"
#include "sim/csv.h"
#include "sim/json.h"
#include "sim/output.h"
#include "sim/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVEL        0.95
#define SWEEP_FORMAT "cotenant-sweep"
static const char *const names[] = { "runs.csv", "sweep.h5", "perf.csv", "failed.csv" };

static const char *axis(const struct ct_sweep_row *r, size_t key)
{
	return r->axis[key] ? r->axis[key] : "";
}

/* ---- CSV */

static void header(struct ct_output *o, const struct ct_sweep_table *t, int axes)
{
	ct_output_text(o, "cell,hash");
	for (size_t k = 0; axes && k < t->n_keys; k++) {
		ct_output_text(o, ",");
		ct_output_field(o, t->key[k]);
	}
}

static void row_begin(struct ct_output *o, const struct ct_sweep_table *t, const struct ct_sweep_row *r, int axes)
{
	ct_output_i64(o, r->cell);
	ct_output_text(o, ",");
	ct_output_text(o, r->hash);
	for (size_t k = 0; axes && k < t->n_keys; k++) {
		ct_output_text(o, ",");
		ct_output_field(o, axis(r, k));
	}
}

static void numbers(struct ct_output *o, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ct_output_text(o, ",");
		if (!isnan(v[i]))
			ct_output_f64(o, v[i]);
	}
}

static void runs(struct ct_output *o, const struct ct_sweep_table *t)
{
	header(o, t, 1);
	for (int m = 0; m < CT_METRIC_COUNT; m++) {
		ct_output_text(o, ",");
		ct_output_text(o, ct_metric_info[m].key);
	}
	ct_output_text(o, ",digest\n");
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct ct_sweep_row *r = &t->row[i];

		if (r->state != CT_SWEEP_DONE)
			continue;
		row_begin(o, t, r, 1);
		numbers(o, r->summary, CT_METRIC_COUNT);
		ct_output_text(o, ",");
		ct_output_text(o, r->digest);
		ct_output_text(o, "\n");
	}
}

static void perf(struct ct_output *o, const struct ct_sweep_table *t)
{
	header(o, t, 0);
	for (int i = 0; i < CT_SWEEP_PERF_COUNT; i++) {
		ct_output_text(o, ",");
		ct_output_text(o, ct_sweep_perf_key[i]);
	}
	ct_output_text(o, ",revision\n");
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct ct_sweep_row *r = &t->row[i];

		if (r->state != CT_SWEEP_DONE)
			continue;
		row_begin(o, t, r, 0);
		numbers(o, r->perf, CT_SWEEP_PERF_COUNT);
		ct_output_text(o, ",");
		ct_output_field(o, r->revision);
		ct_output_text(o, "\n");
	}
}

static void failed(struct ct_output *o, const struct ct_sweep_table *t)
{
	header(o, t, 1);
	ct_output_text(o, ",status,message,command\n");
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct ct_sweep_row *r = &t->row[i];
		const char *const text[] = { r->status, r->message, r->command };

		if (r->state != CT_SWEEP_FAILED)
			continue;
		row_begin(o, t, r, 1);
		for (int k = 0; k < 3; k++) {
			ct_output_text(o, ",");
			ct_output_field(o, text[k]);
		}
		ct_output_text(o, "\n");
	}
}

static int write_csv(const struct ct_sweep_table *t, const char *folder, const char *name,
		     void (*put)(struct ct_output *, const struct ct_sweep_table *), struct ct_err *err)
{
	char *path = ct_sweep_path(folder, name);
	struct ct_output o;
	int rc = ct_output_open(&o, path, err);

	free(path);
	if (rc)
		return rc;
	put(&o, t);
	return ct_output_close(&o, err);
}

/* ---- HDF5 */

/* The finished rows. */
static const struct ct_sweep_row **finished(const struct ct_sweep_table *t, size_t *n)
{
	const struct ct_sweep_row **v = ct_calloc(t->n_rows + 1, sizeof *v);

	*n = 0;
	for (size_t i = 0; i < t->n_rows; i++)
		if (t->row[i].state == CT_SWEEP_DONE)
			v[(*n)++] = &t->row[i];
	return v;
}

static int all_numbers(const struct ct_sweep_row *const *row, size_t n, size_t key, double *out)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		const char *s = axis(row[i], key);

		out[i] = NAN;
		if (*s && ct_parse_f64(s, strlen(s), &out[i]))
			return 0;
		found += *s != '\0';
	}
	return found > 0;
}

static void add_axis(struct ct_frame *f, struct ct_arena *a, const struct ct_sweep_table *t, size_t key,
		     const struct ct_sweep_row *const *row)
{
	double *number = CT_NEW(a, double, f->n_rows + 1);
	const char **text = CT_NEW(a, const char *, f->n_rows + 1);

	if (all_numbers(row, f->n_rows, key, number)) {
		ct_frame_add_f64(f, a, t->key[key], "", number);
		return;
	}
	for (size_t i = 0; i < f->n_rows; i++)
		text[i] = axis(row[i], key);
	ct_frame_add_text(f, a, t->key[key], CT_COLUMN_CODE, text);
}

static void add_metric(struct ct_frame *f, struct ct_arena *a, int m, const struct ct_sweep_row *const *row)
{
	double *v = CT_NEW(a, double, f->n_rows + 1);

	for (size_t i = 0; i < f->n_rows; i++)
		v[i] = row[i]->summary[m];
	ct_frame_add_f64(f, a, ct_metric_info[m].key, ct_metric_info[m].unit, v);
}

static void make_frame(struct ct_frame *f, struct ct_arena *a, const struct ct_sweep_table *t,
		       const struct ct_sweep_row *const *row)
{
	int64_t *cell = CT_NEW(a, int64_t, f->n_rows + 1);
	const char **text = CT_NEW(a, const char *, f->n_rows + 1);

	for (size_t i = 0; i < f->n_rows; i++) {
		cell[i] = row[i]->cell;
		text[i] = row[i]->hash;
	}
	ct_frame_add_i64(f, a, "cell", "", CT_COLUMN_I64, cell);
	ct_frame_add_text(f, a, "hash", CT_COLUMN_TEXT, text);
	for (size_t k = 0; k < t->n_keys; k++)
		add_axis(f, a, t, k, row);
	for (int m = 0; m < CT_METRIC_COUNT; m++)
		add_metric(f, a, m, row);
	for (size_t i = 0; i < f->n_rows; i++)
		text[i] = row[i]->digest;
	ct_frame_add_text(f, a, "digest", CT_COLUMN_TEXT, text);
}

static int write_h5(const struct ct_sweep_table *t, const char *folder, struct ct_err *err)
{
	struct ct_arena arena = { 0 };
	struct ct_frame f = { 0 };
	const struct ct_sweep_row **row = finished(t, &f.n_rows);
	char *path = ct_sweep_path(folder, "sweep.h5");
	int rc;

	make_frame(&f, &arena, t, row);
	rc = ct_frame_write_h5(&f, SWEEP_FORMAT, "runs", path, err);
	free(path);
	free(row);
	ct_arena_fini(&arena);
	return rc;
}

static int by_cell(const void *a, const void *b)
{
	const struct ct_sweep_row *x = a, *y = b;

	return x->cell < y->cell ? -1 : x->cell > y->cell;
}

int ct_sweep_report_write(struct ct_sweep_table *t, const char *path, struct ct_err *err)
{
	if (t->n_rows)
		qsort(t->row, t->n_rows, sizeof *t->row, by_cell);
	CT_TRY(write_csv(t, path, "runs.csv", runs, err));
	CT_TRY(write_csv(t, path, "perf.csv", perf, err));
	CT_TRY(write_csv(t, path, "failed.csv", failed, err));
	return write_h5(t, path, err);
}

void ct_sweep_report_remove(const char *path)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *name = ct_sweep_path(path, names[i]);

		unlink(name);
		free(name);
	}
}

/* ---- groups: rows that differ in the seed alone */

struct group {
	const struct ct_sweep_row *first;
	size_t n, begin; /* of groups.member */
};
struct groups {
	struct group *v;
	size_t n, cap;
	size_t *of;       /* group of every row; SIZE_MAX: not finished */
	uint32_t *member; /* rows, those of a group together */
};

static int same_group(const struct ct_sweep_table *t, const struct ct_sweep_row *a, const struct ct_sweep_row *b)
{
	for (size_t k = 0; k < t->n_keys; k++)
		if (k != t->seed_key && strcmp(axis(a, k), axis(b, k)) != 0)
			return 0;
	return 1;
}

/* The last one first: seeds are the fastest axis. */
static size_t group_of(const struct ct_sweep_table *t, const struct groups *g, const struct ct_sweep_row *r)
{
	for (size_t i = g->n; i-- > 0;)
		if (same_group(t, g->v[i].first, r))
			return i;
	return g->n;
}

static void make_groups(const struct ct_sweep_table *t, struct groups *g)
{
	*g = (struct groups){ .of = ct_calloc(t->n_rows + 1, sizeof *g->of) };
	for (size_t i = 0; i < t->n_rows; i++) {
		g->of[i] = SIZE_MAX;
		if (t->row[i].state != CT_SWEEP_DONE)
			continue;
		g->of[i] = group_of(t, g, &t->row[i]);
		if (g->of[i] == g->n) {
			CT_GROW(g->v, g->cap, g->n + 1);
			g->v[g->n++] = (struct group){ .first = &t->row[i] };
		}
		g->v[g->of[i]].n++;
	}
	g->member = ct_calloc(t->n_rows + 1, sizeof *g->member);
	for (size_t i = 1; i < g->n; i++)
		g->v[i].begin = g->v[i - 1].begin + g->v[i - 1].n;
	for (size_t i = 0; i < g->n; i++)
		g->v[i].n = 0;
	for (size_t i = 0; i < t->n_rows; i++)
		if (g->of[i] != SIZE_MAX)
			g->member[g->v[g->of[i]].begin + g->v[g->of[i]].n++] = (uint32_t)i;
}

static void free_groups(struct groups *g)
{
	free(g->v);
	free(g->of);
	free(g->member);
}

static struct ct_estimate estimate(const struct ct_sweep_table *t, const struct groups *g, size_t group, int metric)
{
	double *v = ct_calloc(g->v[group].n + 1, sizeof *v);
	struct ct_estimate e;

	for (size_t i = 0; i < g->v[group].n; i++)
		v[i] = t->row[g->member[g->v[group].begin + i]].summary[metric];
	e = ct_mean_interval(v, g->v[group].n, LEVEL);
	free(v);
	return e;
}

/* ---- the table */

/* "5532.2 +- 310.4" */
static void put_estimate(struct ct_table *table, const struct ct_estimate *e, int digits)
{
	char text[80];

	if (isnan(e->value))
		snprintf(text, sizeof text, "-");
	else if (isnan(e->lo))
		snprintf(text, sizeof text, "%.*f", digits, e->value);
	else
		snprintf(text, sizeof text, "%.*f +- %.*f", digits, e->value, digits, (e->hi - e->lo) / 2);
	ct_table_text(table, text);
}

static void print_groups(const struct ct_sweep_table *t, const int *metric, size_t n_metrics, FILE *to)
{
	struct ct_table table;
	struct groups g;

	make_groups(t, &g);
	ct_table_init(&table);
	for (size_t k = 0; k < t->n_keys; k++)
		if (k != t->seed_key)
			ct_table_column(&table, t->key[k], "", CT_LEFT);
	ct_table_column(&table, "runs", "", CT_RIGHT);
	for (size_t m = 0; m < n_metrics; m++)
		ct_table_column(&table, ct_metric_info[metric[m]].key, ct_metric_info[metric[m]].unit, CT_RIGHT);
	for (size_t i = 0; i < g.n; i++) {
		for (size_t k = 0; k < t->n_keys; k++)
			if (k != t->seed_key)
				ct_table_text(&table, axis(g.v[i].first, k));
		ct_table_number(&table, (double)g.v[i].n, 0);
		for (size_t m = 0; m < n_metrics; m++) {
			struct ct_estimate e = estimate(t, &g, i, metric[m]);
			int digits = ct_metric_info[metric[m]].digits;

			put_estimate(&table, &e, digits == 3 ? 1 : digits);
		}
	}
	ct_table_print(&table, to);
	fputs("mean over the runs +- half of its 95 % interval (Student's t)\n", to);
	ct_table_fini(&table);
	free_groups(&g);
}

static int make_pairs(const struct ct_sweep_table *t, const struct ct_sweep_view *v, struct ct_sweep_pairs *out,
		      struct ct_err *err)
{
	return ct_sweep_pairs_make(t, v->key, v->value, v->metric, v->n_metrics, out, err);
}

int ct_sweep_report_print(const struct ct_sweep_table *t, const struct ct_sweep_view *v, FILE *to, struct ct_err *err)
{
	struct ct_sweep_pairs pairs;

	print_groups(t, v->metric, v->n_metrics, to);
	if (!v->key)
		return 0;
	CT_TRY(make_pairs(t, v, &pairs, err));
	ct_sweep_pairs_print(t, &pairs, v->key, v->value, to);
	ct_sweep_pairs_fini(&pairs);
	return 0;
}

/* ---- JSON */

static void json_axes(struct ct_json *j, const struct ct_sweep_table *t, const struct ct_sweep_row *r, int seed)
{
	for (size_t k = 0; k < t->n_keys; k++) {
		if (k == t->seed_key && !seed)
			continue;
		if (*axis(r, k))
			ct_json_number_text(j, t->key[k], axis(r, k));
		else
			ct_json_null(j, t->key[k]);
	}
}

static void json_rows(struct ct_json *j, const struct ct_sweep_table *t)
{
	ct_json_open(j, "rows", '[', 0);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct ct_sweep_row *r = &t->row[i];

		if (r->state != CT_SWEEP_DONE)
			continue;
		ct_json_open(j, NULL, '{', 1);
		json_axes(j, t, r, 1);
		for (int m = 0; m < CT_METRIC_COUNT; m++)
			ct_json_f64(j, ct_metric_info[m].key, r->summary[m]);
		ct_json_i64(j, "cell", r->cell);
		ct_json_text(j, "hash", r->hash);
		ct_json_text(j, "digest", r->digest);
		ct_json_close(j);
	}
	ct_json_close(j);
}

static void json_groups(struct ct_json *j, const struct ct_sweep_table *t, const int *metric, size_t n_metrics)
{
	struct groups g;

	make_groups(t, &g);
	ct_json_open(j, "groups", '[', 0);
	for (size_t i = 0; i < g.n; i++) {
		ct_json_open(j, NULL, '{', 1);
		json_axes(j, t, g.v[i].first, 0);
		ct_json_i64(j, "n", (int64_t)g.v[i].n);
		for (size_t m = 0; m < n_metrics; m++) {
			struct ct_estimate e = estimate(t, &g, i, metric[m]);

			ct_json_open(j, ct_metric_info[metric[m]].key, '{', 1);
			ct_json_f64(j, "mean", e.value);
			ct_json_f64(j, "lo", e.lo);
			ct_json_f64(j, "hi", e.hi);
			ct_json_close(j);
		}
		ct_json_close(j);
	}
	ct_json_close(j);
	free_groups(&g);
}

static void json_failed(struct ct_json *j, const struct ct_sweep_table *t)
{
	ct_json_open(j, "failed", '[', 0);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct ct_sweep_row *r = &t->row[i];

		if (r->state != CT_SWEEP_FAILED)
			continue;
		ct_json_open(j, NULL, '{', 1);
		json_axes(j, t, r, 1);
		ct_json_i64(j, "cell", r->cell);
		ct_json_text(j, "hash", r->hash);
		ct_json_text(j, "status", r->status);
		ct_json_text(j, "message", r->message);
		ct_json_text(j, "command", r->command);
		ct_json_close(j);
	}
	ct_json_close(j);
}

int ct_sweep_report_json(const struct ct_sweep_table *t, const struct ct_sweep_view *v, FILE *to, struct ct_err *err)
{
	struct ct_sweep_pairs pairs = { 0 };
	struct ct_json j;

	if (v->key)
		CT_TRY(make_pairs(t, v, &pairs, err));
	ct_json_begin(&j, to);
	ct_json_open(&j, NULL, '{', 0);
	json_rows(&j, t);
	json_groups(&j, t, v->metric, v->n_metrics);
	if (v->key)
		ct_sweep_pairs_json(&j, t, &pairs);
	json_failed(&j, t);
	ct_json_close(&j);
	ct_sweep_pairs_fini(&pairs);
	return ct_json_end(&j, "standard output", err);
}
