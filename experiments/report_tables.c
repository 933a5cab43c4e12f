/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/report.h"

#include "experiments/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *fact(const struct ct_result *r, const char *key)
{
	return ct_result_get(r, CT_RESULT_MANIFEST, key);
}

/* ---- which runs */

static void runs_table(const struct ct_comparison *c, const char *const *path, FILE *to)
{
	static const char *const title[] = { "run",      "file",          "trace",        "cluster", "seed",
					     "revision", "result digest", "trace digest", "complete" };

	ct_html_table_open(to, "The runs");
	fputs("<thead><tr>", to);
	for (size_t i = 0; i < sizeof title / sizeof *title; i++)
		ct_html_column(to, title[i], NULL);
	fputs("</tr></thead><tbody>\n", to);
	for (size_t i = 0; i < c->n_runs; i++) {
		const struct ct_result *r = &c->run[i];
		char digest[13], trace[13];

		snprintf(digest, sizeof digest, "%.12s", r->digest);
		snprintf(trace, sizeof trace, "%.12s", fact(r, "trace_digest") ? fact(r, "trace_digest") : "");
		fputs("<tr>", to);
		ct_html_row(to, c->label[i]);
		ct_html_cell(to, path[i]);
		ct_html_cell(to, fact(r, "trace"));
		ct_html_cell(to, fact(r, "cluster"));
		ct_html_cell(to, fact(r, "seed"));
		ct_html_cell(to, fact(r, "revision"));
		ct_html_cell(to, digest);
		ct_html_cell(to, trace);
		ct_html_cell(to, r->partial ? "no: stopped before its end" : "yes");
		fputs("</tr>\n", to);
	}
	ct_html_table_close(to);
}

static void doubts(const struct ct_comparison *c, FILE *to)
{
	if (!c->n_warnings)
		return;
	fputs("<div class=\"doubt\" role=\"note\"><strong>Before you compare:</strong><ul>\n", to);
	for (size_t i = 0; i < c->n_warnings; i++) {
		fputs("<li>", to);
		ct_html_text(to, c->warning[i]);
		fputs("</li>\n", to);
	}
	fputs("</ul></div>\n", to);
}

/* ---- summary */

static int is_shown(const struct ct_comparison *c, int metric)
{
	for (size_t i = 0; i < c->n_runs; i++)
		if (c->run[i].summary[metric] != 0.0 && !isnan(c->run[i].summary[metric]))
			return 1;
	return ct_metric_is_main((enum ct_metric)metric);
}

static void summary_table(const struct ct_comparison *c, FILE *to)
{
	ct_html_table_open(to, "Metrics of each run");
	fputs("<thead><tr>", to);
	ct_html_column(to, "metric", NULL);
	for (size_t i = 0; i < c->n_runs; i++)
		ct_html_column(to, c->label[i], "number");
	ct_html_column(to, "unit", NULL);
	ct_html_column(to, "definition", NULL);
	fputs("</tr></thead><tbody>\n", to);
	for (int m = 0; m < CT_METRIC_COUNT; m++) {
		const struct ct_metric_info *info = &ct_metric_info[m];

		if (!is_shown(c, m))
			continue;
		fputs("<tr>", to);
		ct_html_row(to, info->key);
		for (size_t i = 0; i < c->n_runs; i++)
			ct_html_number(to, c->run[i].summary[m], info->digits);
		ct_html_cell(to, *info->unit ? info->unit : "count");
		fputs("<td class=\"words\">", to);
		ct_html_text(to, info->definition);
		fputs("</td></tr>\n", to);
	}
	ct_html_table_close(to);
}

/* ---- paired differences */

static void paired_row(const struct ct_comparison *c, const struct ct_compare_row *row, FILE *to)
{
	fputs("<tr>", to);
	ct_html_row(to, row->metric);
	ct_html_cell(to, c->label[row->a_run]);
	ct_html_cell(to, c->label[row->b_run]);
	ct_html_number(to, row->a, row->digits);
	ct_html_number(to, row->b, row->digits);
	ct_html_number(to, row->diff, row->digits);
	ct_html_number(to, row->lo, row->digits);
	ct_html_number(to, row->hi, row->digits);
	ct_html_cell(to, row->unit);
	ct_html_number(to, (double)row->n, 0);
	ct_html_cell(to, row->verdict);
	fputs("</tr>\n", to);
}

static void paired_table(const struct ct_comparison *c, FILE *to)
{
	static const struct {
		const char *title, *class;
	} column[] = {
		{ "metric", NULL },
		{ "a", NULL },
		{ "b", NULL },
		{ "mean of a", "number" },
		{ "mean of b", "number" },
		{ "b \xe2\x88\x92 a", "number" },
		{ "from", "number" },
		{ "to", "number" },
		{ "unit", NULL },
		{ "jobs", "number" },
		{ "verdict", NULL },
	};

	ct_html_table_open(to, "Paired differences");
	fputs("<thead><tr>", to);
	for (size_t i = 0; i < sizeof column / sizeof *column; i++)
		ct_html_column(to, column[i].title, column[i].class);
	fputs("</tr></thead><tbody>\n", to);
	for (size_t i = 0; i < c->n_rows; i++)
		if (c->row[i].paired)
			paired_row(c, &c->row[i], to);
	ct_html_table_close(to);
	fputs("<p class=\"small\">Each run with the first, over the jobs measured in both, job by job; [from, to] is "
	      "the 95 % "
	      "confidence interval of the mean difference, by batch means over the order of submission. It holds for "
	      "the trace that was run, not for other days.</p>\n",
	      to);
}

void ct_report_tables(const struct ct_comparison *c, const char *const *path, FILE *to)
{
	fputs("<section><h2>Runs</h2>\n", to);
	runs_table(c, path, to);
	doubts(c, to);
	fputs("</section><section><h2>Summary</h2>\n", to);
	summary_table(c, to);
	if (c->n_runs > 1)
		paired_table(c, to);
	fputs("</section>\n", to);
}

/* ---- details */

enum { SLOWEST = 10 };

struct ranked {
	int64_t jct_us;
	size_t row;
};

static int by_jct(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->jct_us != y->jct_us)
		return x->jct_us < y->jct_us ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static const char *words(const struct ct_result *r, const char *column, size_t row)
{
	const struct ct_column *c = ct_frame_column(&r->jobs, column);

	return c && (c->type == CT_COLUMN_CODE || c->type == CT_COLUMN_TEXT) ? ct_cell_text(c, row) : "";
}

static double value(const struct ct_result *r, const char *column, size_t row)
{
	const struct ct_column *c = ct_frame_column(&r->jobs, column);

	if (!c || c->type == CT_COLUMN_CODE || c->type == CT_COLUMN_TEXT)
		return NAN;
	if (c->type == CT_COLUMN_F64)
		return ct_cell_f64(c, row);
	if (c->type == CT_COLUMN_I64)
		return (double)ct_cell_i64(c, row);
	return ct_cell_i64(c, row) == CT_NO_TIME ? (double)NAN : ct_seconds(ct_cell_i64(c, row));
}

static void job_row(const struct ct_result *r, size_t row, FILE *to)
{
	fputs("<tr>", to);
	ct_html_row(to, words(r, "job_id", row));
	ct_html_cell(to, words(r, "user", row));
	ct_html_cell(to, words(r, "model", row));
	ct_html_number(to, value(r, "num_gpus", row), 0);
	ct_html_number(to, value(r, "submission_time", row), 3);
	ct_html_number(to, value(r, "queue_s", row), 3);
	ct_html_number(to, value(r, "turnaround_time", row), 3);
	ct_html_number(to, value(r, "slowdown", row), 2);
	fputs("</tr>\n", to);
}

static void slowest_table(const struct ct_result *r, FILE *to)
{
	static const char *const title[] = { "job",           "user",       "model",   "GPUs",
					     "submitted (s)", "waited (s)", "JCT (s)", "JCT / solo" };
	const struct ct_column *jct = ct_frame_column(&r->jobs, "turnaround_time"),
			       *measured = ct_frame_column(&r->jobs, "measured");
	struct ranked *job = ct_calloc(r->jobs.n_rows + 1, sizeof *job);
	size_t n = 0;

	for (size_t i = 0; jct && measured && i < r->jobs.n_rows; i++)
		if (ct_cell_i64(measured, i) > 0)
			job[n++] = (struct ranked){ ct_cell_i64(jct, i), i };
	qsort(job, n, sizeof *job, by_jct);
	ct_html_table_open(to, "Jobs that took longest");
	fputs("<thead><tr>", to);
	for (size_t i = 0; i < sizeof title / sizeof *title; i++)
		ct_html_column(to, title[i], i < 3 ? NULL : "number");
	fputs("</tr></thead><tbody>\n", to);
	for (size_t i = 0; i < n && i < SLOWEST; i++)
		job_row(r, job[i].row, to);
	ct_html_table_close(to);
	free(job);
}

static void pairs_table(const char *caption, const struct ct_pair *pair, size_t n, FILE *to)
{
	if (!n)
		return;
	ct_html_table_open(to, caption);
	fputs("<tbody>\n", to);
	for (size_t i = 0; i < n; i++) {
		fputs("<tr>", to);
		ct_html_row(to, pair[i].key);
		fputs("<td class=\"wrap\">", to);
		ct_html_text(to, pair[i].value);
		fputs("</td></tr>\n", to);
	}
	ct_html_table_close(to);
}

static void warnings(const struct ct_result *r, FILE *to)
{
	fputs("<h3>Warnings</h3>\n", to);
	if (!r->n_warnings) {
		fputs("<p>None.</p>\n", to);
		return;
	}
	fputs("<ul>\n", to);
	for (size_t i = 0; i < r->n_warnings; i++) {
		fputs("<li>", to);
		ct_html_text(to, r->warnings[i]);
		fputs("</li>\n", to);
	}
	fputs("</ul>\n", to);
}

void ct_report_details(const struct ct_comparison *c, FILE *to)
{
	fputs("<section><h2>What each run was</h2>\n", to);
	for (size_t i = 0; i < c->n_runs; i++) {
		const struct ct_result *r = &c->run[i];

		fputs("<details><summary>", to);
		ct_html_text(to, c->label[i]);
		fprintf(to, ": jobs that took longest, warnings (%zu), manifest, configuration</summary>\n",
			r->n_warnings);
		slowest_table(r, to);
		warnings(r, to);
		pairs_table("Manifest", r->manifest, r->n_manifest, to);
		pairs_table("Import of the trace", r->import, r->n_import, to);
		if (r->config_yaml && *r->config_yaml) {
			fputs("<h3>Effective configuration</h3><pre tabindex=\"0\" role=\"region\" "
			      "aria-label=\"Effective configuration\">",
			      to);
			ct_html_text(to, r->config_yaml);
			fputs("</pre>\n", to);
		}
		fputs("</details>\n", to);
	}
	fputs("</section>\n", to);
}
