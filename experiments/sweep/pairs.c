/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/pairs.h"

#include "experiments/table.h"
#include "sim/csv.h"

#include <stdlib.h>
#include <string.h>

#define LEVEL 0.95

struct maker {
	const struct ct_sweep_table *t;
	size_t key;
	const char *value;
	unsigned char *with; /* by key: goes with that of the baseline */
};

static const char *axis(const struct ct_sweep_row *r, size_t key)
{
	return r->axis[key] ? r->axis[key] : "";
}

/* Equal texts, or equal numbers. */
static int same_value(const char *a, const char *b)
{
	double x, y;

	if (strcmp(a, b) == 0)
		return 1;
	return !ct_parse_f64(a, strlen(a), &x) && !ct_parse_f64(b, strlen(b), &y) && !(x < y) && !(x > y);
}

/* Do two keys always change together? */
static int zipped(const struct ct_sweep_table *t, size_t a, size_t b)
{
	int changes = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		int equal_a = strcmp(axis(&t->row[0], a), axis(&t->row[i], a)) == 0;
		int equal_b = strcmp(axis(&t->row[0], b), axis(&t->row[i], b)) == 0;

		changes = changes || !equal_a;
		if (equal_a != equal_b)
			return 0;
	}
	return changes;
}

static int find_baseline(struct maker *m, const char *key, struct ct_err *err)
{
	const struct ct_sweep_table *t = m->t;
	int found = 0;

	for (m->key = 0; m->key < t->n_keys && strcmp(t->key[m->key], key) != 0; m->key++)
		;
	if (m->key == t->n_keys || m->key == t->seed_key)
		return ct_err_add(err, CT_EUSAGE, NULL, "baseline '%s': no axis of that name", key);
	for (size_t i = 0; i < t->n_rows; i++)
		found = found || same_value(axis(&t->row[i], m->key), m->value);
	if (!found)
		return ct_err_add(err, CT_EUSAGE, NULL, "baseline '%s': no cell has the value '%s'", key, m->value);
	m->with = ct_calloc(t->n_keys + 1, 1);
	for (size_t k = 0; k < t->n_keys; k++)
		m->with[k] = k == m->key || zipped(t, m->key, k);
	return 0;
}

/* Equal in all axes but those of the baseline; `seed`: in the seed too. */
static int alike(const struct maker *m, const struct ct_sweep_row *a, const struct ct_sweep_row *b, int seed)
{
	for (size_t k = 0; k < m->t->n_keys; k++)
		if (!m->with[k] && (seed || k != m->t->seed_key) && strcmp(axis(a, k), axis(b, k)) != 0)
			return 0;
	return 1;
}

static int same_group(const struct maker *m, const struct ct_sweep_row *a, const struct ct_sweep_row *b)
{
	for (size_t k = 0; k < m->t->n_keys; k++)
		if (k != m->t->seed_key && strcmp(axis(a, k), axis(b, k)) != 0)
			return 0;
	return 1;
}

static int is_done(const struct ct_sweep_row *r)
{
	return r->state == CT_SWEEP_DONE;
}

static int is_baseline(const struct maker *m, const struct ct_sweep_row *r)
{
	return same_value(axis(r, m->key), m->value);
}

static const struct ct_sweep_row *partner(const struct maker *m, const struct ct_sweep_row *b)
{
	for (size_t i = 0; i < m->t->n_rows; i++) {
		const struct ct_sweep_row *a = &m->t->row[i];

		if (is_done(a) && is_baseline(m, a) && alike(m, a, b, 1))
			return a;
	}
	return NULL;
}

/* The rows of one group, from `first` on, and their partners. */
static void add_group(const struct maker *m, size_t first, const int *metric, size_t n_metrics,
		      struct ct_sweep_pairs *out, unsigned char *seen)
{
	const struct ct_sweep_table *t = m->t;
	const struct ct_sweep_row **a = ct_calloc(t->n_rows, sizeof *a), **b = ct_calloc(t->n_rows, sizeof *b);
	double *x = ct_calloc(t->n_rows, sizeof *x), *y = ct_calloc(t->n_rows, sizeof *y);
	size_t n = 0;

	for (size_t i = first; i < t->n_rows; i++) {
		if (seen[i] || !is_done(&t->row[i]) || !same_group(m, &t->row[first], &t->row[i]))
			continue;
		seen[i] = 1;
		b[n] = &t->row[i];
		a[n] = partner(m, b[n]);
		out->unpaired += a[n] == NULL;
		n += a[n] != NULL;
	}
	for (size_t k = 0; n && k < n_metrics; k++) {
		for (size_t i = 0; i < n; i++) {
			x[i] = a[i]->summary[metric[k]];
			y[i] = b[i]->summary[metric[k]];
		}
		CT_GROW(out->v, out->cap, out->n + 1);
		out->v[out->n++] =
		    (struct ct_sweep_pair){ &t->row[first], metric[k], ct_paired_compare(x, y, n, LEVEL) };
	}
	free(x);
	free(y);
	free(a);
	free(b);
}

int ct_sweep_pairs_make(const struct ct_sweep_table *t, const char *key, const char *value, const int *metric,
			size_t n_metrics, struct ct_sweep_pairs *out, struct ct_err *err)
{
	struct maker m = { .t = t, .value = value };
	unsigned char *seen;

	*out = (struct ct_sweep_pairs){ 0 };
	CT_TRY(find_baseline(&m, key, err));
	seen = ct_calloc(t->n_rows + 1, 1);
	for (size_t i = 0; i < t->n_rows; i++)
		if (!seen[i] && is_done(&t->row[i]) && !is_baseline(&m, &t->row[i]))
			add_group(&m, i, metric, n_metrics, out, seen);
	free(seen);
	free(m.with);
	return 0;
}

void ct_sweep_pairs_fini(struct ct_sweep_pairs *p)
{
	free(p->v);
	*p = (struct ct_sweep_pairs){ 0 };
}

void ct_sweep_pairs_print(const struct ct_sweep_table *t, const struct ct_sweep_pairs *p, const char *key,
			  const char *value, FILE *to)
{
	static const char *const number[] = { "a", "b", "mean b - a", "95 % from", "to", "median b - a" };
	struct ct_table table;

	ct_table_init(&table);
	for (size_t k = 0; k < t->n_keys; k++)
		if (k != t->seed_key)
			ct_table_column(&table, t->key[k], "", CT_LEFT);
	ct_table_column(&table, "metric", "", CT_LEFT);
	for (size_t i = 0; i < sizeof number / sizeof *number; i++)
		ct_table_column(&table, number[i], "", CT_RIGHT);
	ct_table_column(&table, "effect", "", CT_RIGHT);
	ct_table_column(&table, "n", "", CT_RIGHT);
	ct_table_column(&table, "verdict", "", CT_LEFT);
	for (size_t i = 0; i < p->n; i++) {
		const struct ct_sweep_pair *r = &p->v[i];
		int digits = ct_metric_info[r->metric].digits == 3 ? 1 : ct_metric_info[r->metric].digits;
		const double v[] = { r->p.a, r->p.b, r->p.mean.value, r->p.mean.lo, r->p.mean.hi, r->p.median.value };

		for (size_t k = 0; k < t->n_keys; k++)
			if (k != t->seed_key)
				ct_table_text(&table, axis(r->row, k));
		ct_table_text(&table, ct_metric_info[r->metric].key);
		for (size_t k = 0; k < sizeof v / sizeof *v; k++)
			ct_table_number(&table, v[k], digits);
		ct_table_number(&table, r->p.effect, 3);
		ct_table_number(&table, (double)r->p.n, 0);
		ct_table_text(&table, ct_verdict_text(r->p.verdict));
	}
	fprintf(to,
		"\na = %s %s, b = the others, paired by the other axes and the seed; 95 %% intervals (Student's t)\n",
		key, value);
	ct_table_print(&table, to);
	if (p->unpaired)
		fprintf(to, "%zu cells have no partner\n", p->unpaired);
	ct_table_fini(&table);
}

void ct_sweep_pairs_json(struct ct_json *j, const struct ct_sweep_table *t, const struct ct_sweep_pairs *p)
{
	ct_json_open(j, "pairs", '[', 0);
	for (size_t i = 0; i < p->n; i++) {
		const struct ct_sweep_pair *r = &p->v[i];

		ct_json_open(j, NULL, '{', 1);
		for (size_t k = 0; k < t->n_keys; k++)
			if (k != t->seed_key)
				ct_json_number_text(j, t->key[k], axis(r->row, k));
		ct_json_text(j, "metric", ct_metric_info[r->metric].key);
		ct_json_f64(j, "a", r->p.a);
		ct_json_f64(j, "b", r->p.b);
		ct_json_f64(j, "diff", r->p.mean.value);
		ct_json_f64(j, "lo", r->p.mean.lo);
		ct_json_f64(j, "hi", r->p.mean.hi);
		ct_json_f64(j, "median", r->p.median.value);
		ct_json_f64(j, "effect", r->p.effect);
		ct_json_i64(j, "n", (int64_t)r->p.n);
		ct_json_text(j, "verdict", ct_verdict_text(r->p.verdict));
		ct_json_close(j);
	}
	ct_json_close(j);
}
