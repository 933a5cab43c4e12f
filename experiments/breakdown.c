/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/breakdown.h"

#include "experiments/fairness.h"
#include "experiments/table.h"
#include "sim/strings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const by_name[] = {
	[CT_BY_NONE] = "none",   [CT_BY_USER] = "user", [CT_BY_PARTITION] = "partition",
	[CT_BY_CLASS] = "class", [CT_BY_SIZE] = "size",
};
enum { CHOICES = sizeof by_name / sizeof *by_name };

const char *ct_breakdown_name(enum ct_breakdown_by by)
{
	return by_name[by];
}

int ct_breakdown_parse(const char *name, enum ct_breakdown_by *by)
{
	for (int i = 0; i < CHOICES; i++)
		if (strcmp(by_name[i], name) == 0) {
			*by = (enum ct_breakdown_by)i;
			return 0;
		}
	return -1;
}

/* ---- columns */

static const struct ct_column *column(const struct ct_result *r, const char *name, enum ct_column_type type,
				      struct ct_err *err)
{
	const struct ct_column *c = ct_frame_column(&r->jobs, name);

	if (c && c->type == type)
		return c;
	ct_err_add(err, CT_EIO, NULL, "'jobs' of the result has no column '%s' of that kind", name);
	return NULL;
}

static double seconds(const struct ct_column *c, size_t row)
{
	ct_time t = ct_cell_i64(c, row);

	return t == CT_NO_TIME ? NAN : ct_seconds(t);
}

struct per_job {
	const struct ct_column *measured, *attained, *jct, *wait, *slowdown;
};

static int find_per_job(const struct ct_result *r, struct per_job *p, struct ct_err *err)
{
	p->measured = column(r, "measured", CT_COLUMN_I64, err);
	p->attained = column(r, "attained", CT_COLUMN_I64, err);
	p->jct = column(r, "turnaround_time", CT_COLUMN_TIME, err);
	p->wait = column(r, "queue_s", CT_COLUMN_TIME, err);
	p->slowdown = column(r, "slowdown", CT_COLUMN_F64, err);
	return (int)err->code;
}

/* ---- which group a job is in: a number by first appearance, with a name */

struct grouper {
	enum ct_breakdown_by by;
	const struct ct_column *name, *gpus, *milli;
	struct ct_strings names;
};

/* "5-8" of 7. */
static void size_name(int64_t gpus, int64_t milli, char *out, size_t cap)
{
	int64_t most = 2;

	if (gpus * milli < 1000) {
		snprintf(out, cap, gpus ? "<1" : "0");
		return;
	}
	if (gpus <= 2) {
		snprintf(out, cap, "%lld", (long long)gpus);
		return;
	}
	while (most < gpus)
		most *= 2;
	snprintf(out, cap, "%lld-%lld", (long long)(most / 2 + 1), (long long)most);
}

static uint32_t group_of(struct grouper *g, size_t row)
{
	char size[48];
	const char *name = size;

	if (g->by == CT_BY_NONE)
		name = "all";
	else if (g->by == CT_BY_SIZE)
		size_name(ct_cell_i64(g->gpus, row), ct_cell_i64(g->milli, row), size, sizeof size);
	else
		name = ct_cell_text(g->name, row);
	if (!*name)
		name = "(none)";
	return ct_strings_add(&g->names, name, strlen(name));
}

static int grouper_init(struct grouper *g, const struct ct_result *r, enum ct_breakdown_by by, struct ct_err *err)
{
	*g = (struct grouper){ .by = by };
	if (by == CT_BY_SIZE) {
		g->gpus = column(r, "num_gpus", CT_COLUMN_I64, err);
		g->milli = column(r, "gpu_milli", CT_COLUMN_I64, err);
	} else if (by != CT_BY_NONE) {
		g->name = column(r, by_name[by], CT_COLUMN_CODE, err);
	}
	if (err->code)
		return (int)err->code;
	ct_strings_init(&g->names);
	return 0;
}

/* ---- metrics of a group */

static const enum ct_metric has[] = {
	CT_METRIC_jobs_measured,   CT_METRIC_mean_jct_s, CT_METRIC_median_jct_s, CT_METRIC_p95_jct_s,
	CT_METRIC_p99_jct_s,       CT_METRIC_max_jct_s,  CT_METRIC_mean_wait_s,  CT_METRIC_median_wait_s,
	CT_METRIC_p95_wait_s,      CT_METRIC_p99_wait_s, CT_METRIC_max_wait_s,   CT_METRIC_mean_slowdown,
	CT_METRIC_attainment_frac,
};

int ct_breakdown_has(enum ct_metric m)
{
	for (size_t i = 0; i < sizeof has / sizeof *has; i++)
		if (has[i] == m)
			return 1;
	return 0;
}

/* Mean, median, p95, p99, max: neighbours in the list of metrics. In whole microseconds,
 * as the summary has them, so that the sum of one group of all jobs is the same. */
static void put_distribution(double *metric, enum ct_metric mean, const struct ct_column *time, const size_t *row,
			     size_t n, double *v)
{
	static const double q[4] = { 0.50, 0.95, 0.99, 1.0 };
	ct_wide sum = 0;

	for (size_t i = 0; i < n; i++) {
		v[i] = (double)ct_cell_i64(time, row[i]);
		sum += ct_cell_i64(time, row[i]);
	}
	metric[mean] = (double)sum / (double)n / 1e6;
	ct_quantiles(v, n, q, 4, metric + mean + 1);
	for (int k = 1; k <= 4; k++)
		metric[(int)mean + k] /= 1e6;
}

/* Rows of a group stand together: row[begin[g]..begin[g + 1]). */
static size_t *sort_rows(const struct ct_breakdown *b, size_t n_rows, size_t *begin)
{
	size_t *row = ct_calloc(n_rows + 1, sizeof *row);

	for (size_t i = 0; i < n_rows; i++)
		if (b->of_row[i] != UINT32_MAX)
			begin[b->of_row[i] + 1]++;
	for (size_t g = 0; g < b->n; g++)
		begin[g + 1] += begin[g];
	for (size_t i = 0; i < n_rows; i++)
		if (b->of_row[i] != UINT32_MAX)
			row[begin[b->of_row[i]]++] = i;
	for (size_t g = b->n; g > 0; g--)
		begin[g] = begin[g - 1];
	begin[0] = 0;
	return row;
}

static void put_group(struct ct_group *g, const struct per_job *p, const size_t *row, size_t n, double *v)
{
	double slowdown = 0.0, attained = 0.0;

	for (int m = 0; m < CT_METRIC_COUNT; m++)
		g->metric[m] = NAN;
	g->jobs = n;
	g->metric[CT_METRIC_jobs_measured] = (double)n;
	for (size_t i = 0; i < n; i++) {
		slowdown += ct_cell_f64(p->slowdown, row[i]);
		attained += ct_cell_i64(p->attained, row[i]) ? 1.0 : 0.0;
	}
	put_distribution(g->metric, CT_METRIC_mean_jct_s, p->jct, row, n, v);
	put_distribution(g->metric, CT_METRIC_mean_wait_s, p->wait, row, n, v);
	g->metric[CT_METRIC_mean_slowdown] = slowdown / (double)n;
	g->metric[CT_METRIC_attainment_frac] = attained / (double)n;
}

/* ---- order of groups */

struct place {
	const char *name;
	size_t jobs, was;
	int64_t size; /* numeric order of sizes */
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->jobs != y->jobs)
		return x->jobs > y->jobs ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int64_t rank_of_size(const char *name)
{
	return *name == '<' ? 0 : strcmp(name, "0") == 0 ? -1 : strtoll(name, NULL, 10);
}

/* Numbers by first appearance become numbers by order. */
static void arrange(struct ct_breakdown *b, const struct grouper *g, size_t n_rows)
{
	size_t n = g->names.n;
	struct place *place = ct_calloc(n, sizeof *place);
	uint32_t *now = ct_calloc(n, sizeof *now);

	for (size_t i = 0; i < n; i++) {
		place[i].name = ct_strings_text(&g->names, (uint32_t)i);
		place[i].was = i;
		place[i].size = g->by == CT_BY_SIZE ? rank_of_size(place[i].name) : 0;
	}
	for (size_t i = 0; i < n_rows; i++)
		if (b->of_row[i] != UINT32_MAX)
			place[b->of_row[i]].jobs++;
	qsort(place, n, sizeof *place, by_place);
	for (size_t i = 0; i < n; i++) {
		if (!place[i].jobs)
			continue; /* the empty text, which every table of texts begins with */
		now[place[i].was] = (uint32_t)b->n;
		b->group[b->n++].name = ct_arena_text(&b->arena, place[i].name, strlen(place[i].name));
	}
	for (size_t i = 0; i < n_rows; i++)
		if (b->of_row[i] != UINT32_MAX)
			b->of_row[i] = now[b->of_row[i]];
	free(place);
	free(now);
}

int ct_breakdown_make(const struct ct_result *r, enum ct_breakdown_by by, struct ct_breakdown *b, struct ct_err *err)
{
	size_t n_rows = r->jobs.n_rows, *begin, *row;
	struct per_job p;
	struct grouper g;
	double *v;

	memset(b, 0, sizeof *b);
	CT_TRY(find_per_job(r, &p, err));
	CT_TRY(grouper_init(&g, r, by, err));
	b->of_row = ct_calloc(n_rows + 1, sizeof *b->of_row);
	for (size_t i = 0; i < n_rows; i++)
		b->of_row[i] = ct_cell_i64(p.measured, i) ? group_of(&g, i) : UINT32_MAX;
	b->group = CT_NEW(&b->arena, struct ct_group, g.names.n + 1);
	arrange(b, &g, n_rows);
	begin = ct_calloc(b->n + 1, sizeof *begin);
	row = sort_rows(b, n_rows, begin);
	v = ct_calloc(n_rows + 1, sizeof *v);
	for (size_t k = 0; k < b->n; k++)
		put_group(&b->group[k], &p, row + begin[k], begin[k + 1] - begin[k], v);
	free(v);
	free(row);
	free(begin);
	ct_strings_fini(&g.names);
	return 0;
}

void ct_breakdown_fini(struct ct_breakdown *b)
{
	free(b->of_row);
	ct_arena_fini(&b->arena);
	memset(b, 0, sizeof *b);
}

const struct ct_group *ct_breakdown_find(const struct ct_breakdown *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->group[i].name, name) == 0)
			return &b->group[i];
	return NULL;
}

/* ---- fairness */

struct fair_columns {
	const struct ct_column *submit, *finish, *duration, *gpus, *milli, *state, *user;
	double cluster_gpus;
};

static int find_fair(const struct ct_result *r, struct fair_columns *f, struct ct_err *err)
{
	const struct ct_column *total = ct_frame_column(&r->series, "total_gpus");

	f->submit = column(r, "submission_time", CT_COLUMN_TIME, err);
	f->finish = column(r, "finish_time", CT_COLUMN_TIME, err);
	f->duration = column(r, "duration_s", CT_COLUMN_TIME, err);
	f->gpus = column(r, "num_gpus", CT_COLUMN_I64, err);
	f->milli = column(r, "gpu_milli", CT_COLUMN_I64, err);
	f->state = column(r, "state", CT_COLUMN_CODE, err);
	f->user = column(r, "user", CT_COLUMN_CODE, err);
	f->cluster_gpus = total && total->type == CT_COLUMN_F64 && r->series.n_rows ? ct_cell_f64(total, 0) : NAN;
	return (int)err->code;
}

/* When each job came and left; a rejected one leaves as it comes. */
static void lives(const struct fair_columns *f, size_t n, double *submit, double *finish)
{
	double last = 0.0;

	for (size_t i = 0; i < n; i++) {
		submit[i] = seconds(f->submit, i);
		finish[i] = seconds(f->finish, i);
		last = fmax(last, fmax(submit[i], finish[i])); /* of NaN the other */
	}
	for (size_t i = 0; i < n; i++)
		if (isnan(finish[i]))
			finish[i] = strcmp(ct_cell_text(f->state, i), "rejected") == 0 ? submit[i] : last;
}

struct user_sum {
	double solo, jct, rho, jobs;
};

static void close_users(const struct ct_breakdown *b, const struct user_sum *u, const char *const *name,
			struct ct_user_fairness *out)
{
	double *progress = ct_calloc(b->n, sizeof *progress);

	for (size_t k = 0; k < b->n; k++) {
		progress[k] = u[k].solo / u[k].jct;
		if (!(u[k].rho / u[k].jobs <= out->ftf_worst_user)) { /* also the first, over NaN */
			out->ftf_worst_user = u[k].rho / u[k].jobs;
			out->worst_user = name[k];
		}
	}
	out->users = b->n;
	out->jain = ct_jain(progress, b->n);
	free(progress);
}

static void sum_fairness(const struct ct_result *r, const struct fair_columns *f, const struct ct_breakdown *b,
			 struct ct_user_fairness *out)
{
	size_t n = r->jobs.n_rows;
	double *submit = ct_calloc(n + 1, sizeof *submit), *finish = ct_calloc(n + 1, sizeof *finish),
	       *present = ct_calloc(n + 1, sizeof *present), rho = 0.0, above = 0.0, jobs = 0.0;
	struct user_sum *u = ct_calloc(b->n + 1, sizeof *u);
	const char **name = ct_calloc(b->n + 1, sizeof *name);

	lives(f, n, submit, finish);
	ct_mean_present(submit, finish, n, present);
	for (size_t i = 0; i < n; i++) {
		uint32_t k = b->of_row[i];
		double jct = finish[i] - submit[i], solo = seconds(f->duration, i), fair;

		if (k == UINT32_MAX)
			continue;
		fair = ct_finish_time_fairness(jct, solo,
					       (double)(ct_cell_i64(f->gpus, i) * ct_cell_i64(f->milli, i)) / 1000,
					       present[i], f->cluster_gpus);
		name[k] = ct_cell_text(f->user, i);
		u[k].solo += solo;
		u[k].jct += jct;
		u[k].rho += fair;
		u[k].jobs++;
		rho += fair;
		above += fair > 1.0 + 1e-9; /* times are whole microseconds, N is not */
		jobs++;
	}
	out->ftf_mean = jobs > 0 ? rho / jobs : NAN;
	out->ftf_above_frac = jobs > 0 && !isnan(rho) ? above / jobs : NAN;
	close_users(b, u, name, out);
	free(submit);
	free(finish);
	free(present);
	free(u);
	free(name);
}

int ct_user_fairness(const struct ct_result *r, struct ct_user_fairness *out, struct ct_err *err)
{
	struct fair_columns f;
	struct ct_breakdown b;

	*out = (struct ct_user_fairness){ .jain = NAN, .ftf_mean = NAN, .ftf_above_frac = NAN, .ftf_worst_user = NAN };
	CT_TRY(find_fair(r, &f, err));
	CT_TRY(ct_breakdown_make(r, CT_BY_USER, &b, err));
	sum_fairness(r, &f, &b, out);
	ct_breakdown_fini(&b);
	return 0;
}

void ct_user_fairness_json(const struct ct_user_fairness *f, struct ct_json *j)
{
	static const char *const key[] = { CT_FAIRNESS_KEYS };
	const double value[] = { f->jain, f->ftf_mean, f->ftf_above_frac, f->ftf_worst_user };

	ct_json_i64(j, "users", (int64_t)f->users);
	for (size_t i = 0; i < sizeof key / sizeof *key; i++)
		ct_json_f64(j, key[i], value[i]);
	ct_json_text(j, "worst_user", f->worst_user ? f->worst_user : "");
}

/* ---- as a table */

static void print_groups(const struct ct_breakdown *b, enum ct_breakdown_by by, FILE *to)
{
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, by_name[by], "", CT_LEFT);
	for (size_t k = 0; k < sizeof has / sizeof *has; k++)
		ct_table_column(&t, ct_metric_info[has[k]].key, "", CT_RIGHT);
	for (size_t i = 0; i < b->n; i++) {
		ct_table_text(&t, b->group[i].name);
		for (size_t k = 0; k < sizeof has / sizeof *has; k++)
			ct_table_number(&t, b->group[i].metric[has[k]], ct_metric_info[has[k]].digits);
	}
	fprintf(to, "\nBy %s\n", by_name[by]);
	ct_table_print(&t, to);
	ct_table_fini(&t);
}

int ct_breakdown_report(const struct ct_result *r, enum ct_breakdown_by by, FILE *to, struct ct_err *err)
{
	struct ct_user_fairness f;
	struct ct_breakdown b;

	CT_TRY(ct_breakdown_make(r, by, &b, err));
	print_groups(&b, by, to);
	ct_breakdown_fini(&b);
	if (by != CT_BY_USER)
		return 0;
	CT_TRY(ct_user_fairness(r, &f, err));
	fprintf(to, "jain_users %.4f, ftf_mean %.3f, ftf_above_frac %.4f, ftf_worst_user %.3f (%s)\n" CT_FAIRNESS_NOTE,
		f.jain, f.ftf_mean, f.ftf_above_frac, f.ftf_worst_user, f.worst_user ? f.worst_user : "none");
	return 0;
}
