/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons as tables and as JSON. */
#include "experiments/compare.h"
#include "experiments/table.h"
#include "sim/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- for people */

int ct_metric_is_main(enum ct_metric m)
{
	static const enum ct_metric always[] = {
		CT_METRIC_jobs_submitted, CT_METRIC_jobs_finished,  CT_METRIC_mean_jct_s,      CT_METRIC_median_jct_s,
		CT_METRIC_p95_jct_s,      CT_METRIC_p99_jct_s,      CT_METRIC_mean_wait_s,     CT_METRIC_median_wait_s,
		CT_METRIC_p95_wait_s,     CT_METRIC_p99_wait_s,     CT_METRIC_mean_slowdown,   CT_METRIC_makespan_s,
		CT_METRIC_throughput,     CT_METRIC_gpu_alloc_frac, CT_METRIC_attainment_frac, CT_METRIC_offered_load,
	};

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		if (always[i] == m)
			return 1;
	return 0;
}

static int is_shown(int m, const struct ct_result *const *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (runs[i]->summary[m] != 0.0 && !isnan(runs[i]->summary[m]))
			return 1;
	return ct_metric_is_main((enum ct_metric)m);
}

void ct_summary_print(FILE *to, const struct ct_result *const *runs, const char *const *labels, size_t n)
{
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "metric", "", CT_LEFT);
	ct_table_column(&t, "unit", "", CT_LEFT);
	for (size_t i = 0; i < n; i++)
		ct_table_column(&t, labels[i], "", CT_RIGHT);
	if (n == 2) {
		ct_table_column(&t, "difference", "", CT_RIGHT);
		ct_table_column(&t, "ratio", "", CT_RIGHT);
	}
	for (int m = 0; m < CT_METRIC_COUNT; m++) {
		const struct ct_metric_info *info = &ct_metric_info[m];

		if (!is_shown(m, runs, n))
			continue;
		ct_table_text(&t, info->key);
		ct_table_text(&t, info->unit);
		for (size_t i = 0; i < n; i++)
			ct_table_number(&t, runs[i]->summary[m], info->digits);
		if (n == 2) {
			ct_table_number(&t, runs[1]->summary[m] - runs[0]->summary[m], info->digits);
			ct_table_number(
			    &t, runs[0]->summary[m] != 0.0 ? runs[1]->summary[m] / runs[0]->summary[m] : NAN, 3);
		}
	}
	ct_table_print(&t, to);
	ct_table_fini(&t);
}

static void print_side_by_side(const struct ct_comparison *c, FILE *to)
{
	const struct ct_result **runs = ct_calloc(c->n_runs, sizeof *runs);

	for (size_t i = 0; i < c->n_runs; i++)
		runs[i] = &c->run[i];
	ct_summary_print(to, runs, (const char *const *)c->label, c->n_runs);
	free(runs);
}

static void print_paired(const struct ct_comparison *c, const struct ct_compare_row *rows, size_t n,
			 const char *group_title, FILE *to)
{
	static const char *const title[] = {
		"a", "b", "mean b - a", "95 % from", "to", "median b - a", "effect", "jobs"
	};
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "b", "", CT_LEFT);
	if (group_title)
		ct_table_column(&t, group_title, "", CT_LEFT);
	ct_table_column(&t, "metric", "", CT_LEFT);
	for (size_t i = 0; i < sizeof title / sizeof *title; i++)
		ct_table_column(&t, title[i], "", CT_RIGHT);
	ct_table_column(&t, "verdict", "", CT_LEFT);
	for (size_t i = 0; i < n; i++) {
		const struct ct_compare_row *r = &rows[i];

		if (!r->paired)
			continue;
		ct_table_text(&t, c->label[r->b_run]);
		if (group_title)
			ct_table_text(&t, r->group);
		ct_table_text(&t, r->metric);
		ct_table_number(&t, r->a, r->digits);
		ct_table_number(&t, r->b, r->digits);
		ct_table_number(&t, r->diff, r->digits);
		ct_table_number(&t, r->lo, r->digits);
		ct_table_number(&t, r->hi, r->digits);
		ct_table_number(&t, r->median_diff, r->digits);
		ct_table_number(&t, r->effect, 3);
		ct_table_number(&t, (double)r->n, 0);
		ct_table_text(&t, r->verdict);
	}
	ct_table_print(&t, to);
	ct_table_fini(&t);
}

static void print_fairness(const struct ct_comparison *c, FILE *to)
{
	static const char *const title[] = { "users", CT_FAIRNESS_KEYS };
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "run", "", CT_LEFT);
	for (size_t i = 0; i < sizeof title / sizeof *title; i++)
		ct_table_column(&t, title[i], "", CT_RIGHT);
	ct_table_column(&t, "worst user", "", CT_LEFT);
	for (size_t i = 0; i < c->n_runs; i++) {
		const struct ct_user_fairness *f = &c->fairness[i];

		ct_table_text(&t, c->label[i]);
		ct_table_number(&t, (double)f->users, 0);
		ct_table_number(&t, f->jain, 4);
		ct_table_number(&t, f->ftf_mean, 3);
		ct_table_number(&t, f->ftf_above_frac, 4);
		ct_table_number(&t, f->ftf_worst_user, 3);
		ct_table_text(&t, f->worst_user);
	}
	fputs("\nFairness\n", to);
	ct_table_print(&t, to);
	ct_table_fini(&t);
	fputs(CT_FAIRNESS_NOTE, to);
}

/* With hundreds of users a table is no use: the largest, the rest in JSON. */
enum { GROUPS_SHOWN = 20 };
static void print_groups(const struct ct_comparison *c, FILE *to)
{
	struct ct_compare_row *shown = ct_calloc(c->n_group_rows + 1, sizeof *shown);
	size_t n = 0, limit = c->parts.n < GROUPS_SHOWN ? c->parts.n : GROUPS_SHOWN;

	for (size_t i = 0; i < c->n_group_rows; i++)
		for (size_t g = 0; g < limit; g++)
			if (c->group_row[i].group == c->parts.group[g].name)
				shown[n++] = c->group_row[i];
	fprintf(to, "\nBy %s, against a = %s\n", ct_breakdown_name(c->by), c->label[0]);
	print_paired(c, shown, n, ct_breakdown_name(c->by), to);
	if (limit < c->parts.n)
		fprintf(to, "%zu smaller of %zu are left out; --json has all.\n", c->parts.n - limit, c->parts.n);
	if (c->by == CT_BY_USER)
		print_fairness(c, to);
	free(shown);
}

static int check_stream(FILE *to, struct ct_err *err)
{
	errno = 0;
	if (fflush(to) != 0 || ferror(to))
		return ct_err_at(err, CT_EIO, NULL, "cannot write the table: %s", strerror(errno ? errno : EIO));
	return 0;
}

int ct_compare_print(const struct ct_comparison *c, FILE *to, struct ct_err *err)
{
	print_side_by_side(c, to);
	fprintf(to, "\nPer job, against a = %s\n", c->label[0]);
	print_paired(c, c->row, c->n_rows, NULL, to);
	if (c->by != CT_BY_NONE)
		print_groups(c, to);
	fprintf(to,
		"\nPaired by job_id, over jobs measured and finished in both runs. The 95 %% interval of the mean\n"
		"is by batch means: %d batches of contiguous jobs in order of submission, Student's t, because\n"
		"neighbouring jobs are correlated. effect = mean / standard deviation of the differences.\n"
		"All other metrics have one value a run, and so no interval.\n",
		CT_COMPARE_BATCHES);
	for (size_t i = 0; i < c->n_warnings; i++)
		fprintf(to, "%sWarning: %s.\n", i ? "" : "\n", c->warning[i]);
	return check_stream(to, err);
}

/* ---- for programs */

static void json_row(struct ct_json *j, const struct ct_comparison *c, const struct ct_compare_row *r)
{
	ct_json_open(j, NULL, '{', 1);
	ct_json_text(j, "metric", r->metric);
	if (r->group) {
		ct_json_text(j, "by", ct_breakdown_name(c->by));
		ct_json_text(j, "group", r->group);
	}
	ct_json_text(j, "unit", r->unit);
	ct_json_text(j, "a_run", c->label[r->a_run]);
	ct_json_text(j, "b_run", c->label[r->b_run]);
	ct_json_f64(j, "a", r->a);
	ct_json_f64(j, "b", r->b);
	ct_json_f64(j, "diff", r->diff);
	ct_json_f64(j, "ratio", r->ratio);
	ct_json_f64(j, "lo", r->lo);
	ct_json_f64(j, "hi", r->hi);
	ct_json_f64(j, "median_diff", r->median_diff);
	ct_json_f64(j, "effect", r->effect);
	if (r->paired)
		ct_json_i64(j, "n", (int64_t)r->n);
	else
		ct_json_null(j, "n");
	ct_json_text(j, "verdict", r->verdict);
	ct_json_close(j);
}

int ct_compare_json(const struct ct_comparison *c, FILE *to, struct ct_err *err)
{
	struct ct_json j;

	ct_json_begin(&j, to);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_open(&j, "rows", '[', 0);
	for (size_t i = 0; i < c->n_rows; i++)
		json_row(&j, c, &c->row[i]);
	for (size_t i = 0; i < c->n_group_rows; i++)
		json_row(&j, c, &c->group_row[i]);
	ct_json_close(&j);
	ct_json_open(&j, "runs", '[', 0);
	for (size_t i = 0; i < c->n_runs; i++) {
		ct_json_open(&j, NULL, '{', 1);
		ct_json_text(&j, "run", c->label[i]);
		ct_json_text(&j, "policy", ct_result_get(&c->run[i], CT_RESULT_MANIFEST, "policy"));
		ct_json_text(&j, "digest", c->run[i].digest);
		if (c->by == CT_BY_USER)
			ct_user_fairness_json(&c->fairness[i], &j);
		ct_json_close(&j);
	}
	ct_json_close(&j);
	ct_json_open(&j, "warnings", '[', 0);
	for (size_t i = 0; i < c->n_warnings; i++)
		ct_json_text(&j, NULL, c->warning[i]);
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, to == stdout ? "standard output" : "JSON output", err);
}
