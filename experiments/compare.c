/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/compare.h"

#include "experiments/statistics.h"
#include "sim/strings.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL = 0.95;

struct ct_interval ct_batch_interval(const double *v, size_t n)
{
	size_t k = n < CT_COMPARE_BATCHES ? 0 : n < 2 * CT_COMPARE_BATCHES ? n : CT_COMPARE_BATCHES;
	struct ct_estimate e = ct_batch_interval_of(v, n, k, LEVEL);

	return (struct ct_interval){
		.mean = ct_mean(v, n), .sd = ct_deviation(v, n), .lo = e.lo, .hi = e.hi, .batches = k
	};
}

/* ---- pairing */

struct pairs {
	size_t *a, *b, n; /* rows of the same job in both runs */
};

static int is_measured(const struct ct_column *measured, size_t row)
{
	return ct_cell_i64(measured, row) != 0;
}

/* The row of each of a's jobs in b, SIZE_MAX = none. Two runs of one trace have the
 * same jobs in the same rows; only where that is not so a table is needed. */
static size_t *rows_in_b(const struct ct_frame *a, const struct ct_frame *b)
{
	const struct ct_column *id_a = ct_frame_column(a, "job_id"), *id_b = ct_frame_column(b, "job_id");
	size_t *row = ct_calloc(a->n_rows, sizeof *row), *row_of = NULL;
	struct ct_strings ids = { 0 };

	for (size_t i = 0; i < a->n_rows; i++) {
		const char *id = ct_cell_text(id_a, i);
		uint32_t number;

		row[i] = i;
		if (i < b->n_rows && strcmp(id, ct_cell_text(id_b, i)) == 0)
			continue;
		if (!row_of) {
			ct_strings_init(&ids);
			row_of = ct_calloc(b->n_rows + 1, sizeof *row_of);
			for (size_t k = 0; k < b->n_rows; k++) {
				const char *s = ct_cell_text(id_b, k);

				row_of[ct_strings_add(&ids, s, strlen(s))] = k + 1;
			}
		}
		number = ct_strings_find(&ids, id, strlen(id));
		row[i] = number == UINT32_MAX || row_of[number] == 0 ? SIZE_MAX : row_of[number] - 1;
	}
	if (row_of)
		ct_strings_fini(&ids);
	free(row_of);
	return row;
}

static struct pairs pair_up(const struct ct_frame *a, const struct ct_frame *b)
{
	const struct ct_column *in_a = ct_frame_column(a, "measured"), *in_b = ct_frame_column(b, "measured");
	struct pairs p = { .b = rows_in_b(a, b), .a = ct_calloc(a->n_rows, sizeof *p.a) };

	for (size_t i = 0; i < a->n_rows; i++)
		if (p.b[i] != SIZE_MAX && is_measured(in_a, i) && is_measured(in_b, p.b[i])) {
			p.a[p.n] = i;
			p.b[p.n] = p.b[i];
			p.n++;
		}
	return p;
}

static double cell(const struct ct_column *c, size_t row)
{
	return c->type == CT_COLUMN_TIME ? ct_seconds(ct_cell_i64(c, row)) : ct_cell_f64(c, row);
}

/* ---- rows */

/* Per-job metrics and the columns they are means of. */
static const struct {
	enum ct_metric metric;
	const char *column;
} per_job[] = {
	{ CT_METRIC_mean_jct_s, "turnaround_time" },
	{ CT_METRIC_mean_wait_s, "queue_s" },
	{ CT_METRIC_mean_slowdown, "slowdown" },
};
enum { PER_JOB = sizeof per_job / sizeof *per_job, GROUPED = 2 /* of these by group */ };

static struct ct_compare_row new_row(enum ct_metric m, size_t b_run)
{
	const struct ct_metric_info *info = &ct_metric_info[m];

	return (struct ct_compare_row){
		.metric = info->key,
		.unit = info->unit,
		.digits = info->digits,
		.b_run = b_run,
		.lo = NAN,
		.hi = NAN,
		.median_diff = NAN,
		.effect = NAN,
	};
}

static double ratio_of(double b, double a)
{
	return a != 0.0 ? b / a : NAN;
}

static const char *verdict_of(double lo, double hi)
{
	if (isnan(lo))
		return "too few jobs";
	if (lo > 0.0)
		return "a lower";
	return hi < 0.0 ? "b lower" : "no difference shown";
}

static struct ct_compare_row whole_run_row(enum ct_metric m, size_t b_run, const struct ct_result *a,
					   const struct ct_result *b)
{
	struct ct_compare_row row = new_row(m, b_run);

	row.a = a->summary[m];
	row.b = b->summary[m];
	row.diff = row.b - row.a;
	row.ratio = ratio_of(row.b, row.a);
	row.verdict = "one run each";
	return row;
}

static struct ct_compare_row paired_row(enum ct_metric m, size_t b_run, const struct pairs *p,
					const struct ct_result *a_run, const struct ct_result *b_result,
					const char *column)
{
	static const double half[] = { 0.5 };
	const struct ct_column *a = ct_frame_column(&a_run->jobs, column),
			       *b = ct_frame_column(&b_result->jobs, column);
	struct ct_compare_row row = new_row(m, b_run);
	double *va = ct_calloc(p->n, sizeof *va), *vb = ct_calloc(p->n, sizeof *vb), *d = ct_calloc(p->n, sizeof *d);
	struct ct_interval i;

	for (size_t k = 0; k < p->n; k++) {
		va[k] = cell(a, p->a[k]);
		vb[k] = cell(b, p->b[k]);
		d[k] = vb[k] - va[k];
	}
	i = ct_batch_interval(d, p->n);
	row.paired = 1;
	row.n = p->n;
	row.a = ct_mean(va, p->n);
	row.b = ct_mean(vb, p->n);
	row.diff = i.mean;
	row.ratio = ratio_of(row.b, row.a);
	row.lo = i.lo;
	row.hi = i.hi;
	row.effect = i.mean == 0.0 ? 0.0 : i.sd > 0.0 ? i.mean / i.sd : NAN;
	ct_quantiles(d, p->n, half, 1, &row.median_diff);
	row.correlated = ct_batch_means(d, p->n, LEVEL).correlated;
	row.verdict = row.correlated ? "run too short" : verdict_of(row.lo, row.hi);
	free(va);
	free(vb);
	free(d);
	return row;
}

static void add_rows(struct ct_comparison *c, size_t b_run)
{
	const struct ct_result *a = &c->run[0], *b = &c->run[b_run];
	struct pairs p = pair_up(&a->jobs, &b->jobs);

	for (int m = 0; m < CT_METRIC_COUNT; m++) {
		const char *column = NULL;

		for (size_t k = 0; k < PER_JOB; k++)
			if (per_job[k].metric == (enum ct_metric)m)
				column = per_job[k].column;
		c->row[c->n_rows++] = column ? paired_row((enum ct_metric)m, b_run, &p, a, b, column)
					     : whole_run_row((enum ct_metric)m, b_run, a, b);
	}
	free(p.a);
	free(p.b);
}

/* JCT and wait of the pairs in one group of a's. */
static void add_group_rows(struct ct_comparison *c, size_t b_run, const struct pairs *p, uint32_t group)
{
	struct pairs in = { .a = ct_calloc(p->n, sizeof *in.a), .b = ct_calloc(p->n, sizeof *in.b) };

	for (size_t k = 0; k < p->n; k++)
		if (c->parts.of_row[p->a[k]] == group) {
			in.a[in.n] = p->a[k];
			in.b[in.n++] = p->b[k];
		}
	for (size_t k = 0; k < GROUPED && in.n; k++) {
		struct ct_compare_row *row = &c->group_row[c->n_group_rows++];

		*row = paired_row(per_job[k].metric, b_run, &in, &c->run[0], &c->run[b_run], per_job[k].column);
		row->group = c->parts.group[group].name;
	}
	free(in.a);
	free(in.b);
}

int ct_compare_break_down(struct ct_comparison *c, enum ct_breakdown_by by, struct ct_err *err)
{
	CT_TRY(ct_breakdown_make(&c->run[0], by, &c->parts, err));
	c->by = by;
	c->fairness = ct_calloc(c->n_runs, sizeof *c->fairness);
	for (size_t i = 0; i < c->n_runs && by == CT_BY_USER; i++)
		CT_TRY(ct_user_fairness(&c->run[i], &c->fairness[i], err));
	c->group_row = ct_calloc(c->parts.n * GROUPED * c->n_runs, sizeof *c->group_row);
	for (size_t b = 1; b < c->n_runs; b++) {
		struct pairs p = pair_up(&c->run[0].jobs, &c->run[b].jobs);

		for (uint32_t g = 0; g < c->parts.n; g++)
			add_group_rows(c, b, &p, g);
		free(p.a);
		free(p.b);
	}
	return 0;
}

/* ---- labels and warnings */

__attribute__((format(printf, 1, 2))) static char *formatted(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	CT_CHECK(NULL, n >= 0, "out of memory");
	return s;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *manifest(const struct ct_result *r, const char *key)
{
	return ct_result_get(r, CT_RESULT_MANIFEST, key);
}

static int policy_is_shared(const struct ct_comparison *c, size_t run)
{
	const char *policy = manifest(&c->run[run], "policy");

	for (size_t i = 0; i < c->n_runs; i++) {
		const char *other = manifest(&c->run[i], "policy");

		if (i != run && policy && other && strcmp(policy, other) == 0)
			return 1;
	}
	return 0;
}

static char *label_of(const struct ct_comparison *c, size_t run, const char *name)
{
	const char *policy = manifest(&c->run[run], "policy"), *base = base_name(name);
	size_t n = strlen(base);

	if (n > 3 && strcmp(base + n - 3, ".h5") == 0)
		n -= 3;
	if (!policy)
		return formatted("%.*s", (int)n, base);
	if (policy_is_shared(c, run))
		return formatted("%s (%.*s)", policy, (int)n, base);
	return formatted("%s", policy);
}

static void warn(struct ct_comparison *c, char *text)
{
	c->warning = ct_realloc_array(c->warning, c->n_warnings + 1, sizeof *c->warning);
	c->warning[c->n_warnings++] = text;
}

/* 1: both say something, and not the same. */
static int differs(const struct ct_comparison *c, size_t run, const char *key)
{
	const char *a = manifest(&c->run[0], key), *b = manifest(&c->run[run], key);

	return a && b && strcmp(a, b) != 0;
}

static void add_warnings(struct ct_comparison *c)
{
	for (size_t i = 1; i < c->n_runs; i++) {
		if (differs(c, i, "trace_digest"))
			warn(c, formatted("'%s' and '%s' ran different traces: jobs are matched by name only",
					  c->label[0], c->label[i]));
		if (differs(c, i, "cluster_digest") || differs(c, i, "cluster"))
			warn(c, formatted("'%s' and '%s' ran on different clusters", c->label[0], c->label[i]));
		if (differs(c, i, "seed"))
			warn(c, formatted("'%s' and '%s' have different seeds: random draws are not common to both",
					  c->label[0], c->label[i]));
	}
	for (size_t i = 0; i < c->n_runs; i++)
		if (c->run[i].partial)
			warn(c, formatted("'%s' was stopped before its end", c->label[i]));
	for (size_t i = 0; i < c->n_rows; i++)
		if (c->row[i].correlated)
			warn(c, formatted("%s against '%s': neighbours are so much alike that the interval is too "
					  "narrow; the run is too short, take more seeds",
					  c->row[i].metric, c->label[c->row[i].b_run]));
}

/* ---- the whole */

static int check_columns(const struct ct_result *r, const char *name, struct ct_err *err)
{
	static const struct {
		const char *column;
		enum ct_column_type type;
	} want[] = {
		{ "job_id", CT_COLUMN_TEXT },  { "measured", CT_COLUMN_I64 }, { "turnaround_time", CT_COLUMN_TIME },
		{ "queue_s", CT_COLUMN_TIME }, { "slowdown", CT_COLUMN_F64 },
	};

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const struct ct_column *c = ct_frame_column(&r->jobs, want[i].column);

		if (!c || c->type != want[i].type)
			return ct_err_at(err, CT_EIO, &(struct ct_loc){ .file = name },
					 "'jobs' has no column '%s' of that kind", want[i].column);
	}
	return 0;
}

int ct_compare_results(struct ct_comparison *c, struct ct_result *results, const char *const *names, size_t n,
		       struct ct_err *err)
{
	memset(c, 0, sizeof *c);
	if (n < 2 || n > CT_COMPARE_RUNS)
		return ct_err_at(err, CT_EUSAGE, NULL, "'compare' wants 2 to %d results, got %zu", CT_COMPARE_RUNS, n);
	for (size_t i = 0; i < n; i++)
		CT_TRY(check_columns(&results[i], names[i], err));
	c->n_runs = n;
	c->run = ct_calloc(n, sizeof *c->run);
	memcpy(c->run, results, n * sizeof *results);
	memset(results, 0, n * sizeof *results);
	c->label = ct_calloc(n, sizeof *c->label);
	for (size_t i = 0; i < n; i++)
		c->label[i] = label_of(c, i, names[i]);
	c->row = ct_calloc((n - 1) * CT_METRIC_COUNT, sizeof *c->row);
	for (size_t i = 1; i < n; i++)
		add_rows(c, i);
	add_warnings(c);
	return 0;
}

int ct_compare_load(struct ct_comparison *c, const char *const *paths, size_t n, struct ct_err *err)
{
	size_t cap = n <= CT_COMPARE_RUNS ? n : 0;
	struct ct_result *r = ct_calloc(cap, sizeof *r);
	int rc = 0;

	memset(c, 0, sizeof *c);
	for (size_t i = 0; i < cap && n >= 2 && !rc; i++)
		rc = ct_result_read_h5(paths[i], &r[i], err);
	if (!rc)
		rc = ct_compare_results(c, r, paths, n, err);
	for (size_t i = 0; i < cap; i++)
		ct_result_fini(&r[i]);
	free(r);
	return rc;
}

void ct_compare_fini(struct ct_comparison *c)
{
	for (size_t i = 0; i < c->n_runs; i++) {
		ct_result_fini(&c->run[i]);
		free(c->label[i]);
	}
	for (size_t i = 0; i < c->n_warnings; i++)
		free(c->warning[i]);
	free(c->run);
	free(c->label);
	free(c->row);
	free(c->warning);
	free(c->group_row);
	free(c->fairness);
	ct_breakdown_fini(&c->parts);
	memset(c, 0, sizeof *c);
}
