/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV and JSON of a result. */
#include "sim/json.h"
#include "sim/output.h"
#include "sim/result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- CSV */

static void csv_f64(struct ct_output *o, double v)
{
	if (!isnan(v)) /* not known: an empty field */
		ct_output_f64(o, v);
}

static void csv_cell(struct ct_output *o, const struct ct_column *c, size_t row)
{
	switch (c->type) {
	case CT_COLUMN_F64:
		csv_f64(o, ct_cell_f64(c, row));
		break;
	case CT_COLUMN_I64:
		ct_output_i64(o, ct_cell_i64(c, row));
		break;
	case CT_COLUMN_TIME:
		if (ct_cell_i64(c, row) != CT_NO_TIME)
			ct_output_time(o, ct_cell_i64(c, row));
		break;
	case CT_COLUMN_CODE:
	case CT_COLUMN_TEXT:
		ct_output_field(o, ct_cell_text(c, row));
		break;
	case CT_COLUMN_TYPES:
		break;
	}
}

static void csv_frame(struct ct_output *o, const struct ct_frame *f)
{
	for (size_t c = 0; c < f->n_columns; c++) {
		if (c)
			ct_output_write(o, ",", 1);
		ct_output_field(o, f->column[c].name);
	}
	ct_output_write(o, "\n", 1);
	for (size_t row = 0; row < f->n_rows; row++) {
		for (size_t c = 0; c < f->n_columns; c++) {
			if (c)
				ct_output_write(o, ",", 1);
			csv_cell(o, &f->column[c], row);
		}
		ct_output_write(o, "\n", 1);
	}
}

static void csv_summary(struct ct_output *o, const struct ct_result *r)
{
	ct_output_text(o, "metric,value,unit,definition\n");
	for (int i = 0; i < CT_METRIC_COUNT; i++) {
		if (ct_metric_is_optional(i) && isnan(r->summary[i]))
			continue;
		ct_output_field(o, ct_metric_info[i].key);
		ct_output_write(o, ",", 1);
		csv_f64(o, r->summary[i]);
		ct_output_write(o, ",", 1);
		ct_output_field(o, ct_metric_info[i].unit);
		ct_output_write(o, ",", 1);
		ct_output_field(o, ct_metric_info[i].definition);
		ct_output_write(o, "\n", 1);
	}
}

enum { JOBS, SUMMARY, SERIES, EVENTS, FILES };
static const char *const file_name[FILES] = { "jobs.csv", "summary.csv", "series.csv", "events.csv" };

static char *joined(const char *directory, const char *name)
{
	size_t n = strlen(directory) + strlen(name) + 2;
	char *path = ct_calloc(n, 1);

	snprintf(path, n, "%s/%s", directory, name);
	return path;
}

static int write_file(const struct ct_result *r, int which, const char *path, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(ct_output_open(&o, path, err));
	switch (which) {
	case JOBS:
		csv_frame(&o, &r->jobs);
		break;
	case SERIES:
		csv_frame(&o, &r->series);
		break;
	case EVENTS:
		csv_frame(&o, &r->events);
		break;
	default:
		csv_summary(&o, r);
	}
	return ct_output_close(&o, err);
}

int ct_result_write_csv(const struct ct_result *r, const char *directory, struct ct_err *err)
{
	int n = r->events.n_columns ? FILES : EVENTS, rc = 0;

	CT_CHECK(NULL, r->jobs.n_columns || !r->jobs.n_rows, "a summarised result has no columns to write");
	if (mkdir(directory, 0777) != 0 && errno != EEXIST)
		return ct_err_at(err, CT_EIO, NULL, "'%s': directory cannot be made: %s", directory, strerror(errno));
	for (int i = 0; i < n && !rc; i++) {
		char *path = joined(directory, file_name[i]);

		rc = write_file(r, i, path, err);
		free(path);
	}
	return rc;
}

/* ---- JSON */

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct ct_pair *)a)->key, ((const struct ct_pair *)b)->key);
}

/* What else a manifest says, as keys among the others. */
enum extra { TEXT_DIGEST, TEXT_CONFIG, OBJECT_IMPORT, BOOL_PARTIAL, LIST_WARNINGS };
static const struct {
	const char *key;
	enum extra what;
} manifest_extra[] = {
	{ "config", TEXT_CONFIG },   { "digest", TEXT_DIGEST },     { "import", OBJECT_IMPORT },
	{ "partial", BOOL_PARTIAL }, { "warnings", LIST_WARNINGS },
};
enum { EXTRAS = sizeof manifest_extra / sizeof *manifest_extra };

static void json_pair(struct ct_json *j, const struct ct_pair *p)
{
	if (p->is_number)
		ct_json_number_text(j, p->key, p->value);
	else
		ct_json_text(j, p->key, p->value);
}

static struct ct_pair *sorted(const struct ct_pair *p, size_t n)
{
	struct ct_pair *copy = ct_calloc(n, sizeof *copy);

	if (n)
		memcpy(copy, p, n * sizeof *copy);
	qsort(copy, n, sizeof *copy, by_key);
	return copy;
}

static void json_pairs(struct ct_json *j, const char *name, const struct ct_pair *p, size_t n)
{
	struct ct_pair *copy = sorted(p, n);

	ct_json_open(j, name, '{', 0);
	for (size_t i = 0; i < n; i++)
		json_pair(j, &copy[i]);
	ct_json_close(j);
	free(copy);
}

static void json_extra(struct ct_json *j, const struct ct_result *r, int i)
{
	const char *key = manifest_extra[i].key;

	switch (manifest_extra[i].what) {
	case TEXT_DIGEST:
		ct_json_text(j, key, r->digest);
		break;
	case TEXT_CONFIG:
		ct_json_text(j, key, r->config_yaml ? r->config_yaml : "");
		break;
	case OBJECT_IMPORT:
		json_pairs(j, key, r->import, r->n_import);
		break;
	case BOOL_PARTIAL:
		ct_json_bool(j, key, r->partial);
		break;
	case LIST_WARNINGS:
		ct_json_open(j, key, '[', 0);
		for (size_t k = 0; k < r->n_warnings; k++)
			ct_json_text(j, NULL, r->warnings[k]);
		ct_json_close(j);
		break;
	}
}

static int is_extra(const char *key)
{
	for (int i = 0; i < EXTRAS; i++)
		if (strcmp(manifest_extra[i].key, key) == 0)
			return 1;
	return 0;
}

/* Both lists are sorted: merged. A pair under an extra's name gives way to it. */
static void json_manifest(struct ct_json *j, const struct ct_result *r)
{
	struct ct_pair *p = sorted(r->manifest, r->n_manifest);
	int e = 0;

	ct_json_open(j, "manifest", '{', 0);
	for (size_t i = 0; i < r->n_manifest; i++) {
		if (is_extra(p[i].key))
			continue;
		while (e < EXTRAS && strcmp(manifest_extra[e].key, p[i].key) < 0)
			json_extra(j, r, e++);
		json_pair(j, &p[i]);
	}
	while (e < EXTRAS)
		json_extra(j, r, e++);
	ct_json_close(j);
	free(p);
}

static int by_metric_key(const void *a, const void *b)
{
	return strcmp(ct_metric_info[*(const int *)a].key, ct_metric_info[*(const int *)b].key);
}

static void json_summary(struct ct_json *j, const struct ct_result *r)
{
	int order[CT_METRIC_COUNT];

	for (int i = 0; i < CT_METRIC_COUNT; i++)
		order[i] = i;
	qsort(order, CT_METRIC_COUNT, sizeof *order, by_metric_key);
	ct_json_open(j, "summary", '{', 0);
	for (int i = 0; i < CT_METRIC_COUNT; i++)
		if (!ct_metric_is_optional(order[i]) || !isnan(r->summary[order[i]]))
			ct_json_f64(j, ct_metric_info[order[i]].key, r->summary[order[i]]);
	ct_json_close(j);
}

int ct_result_write_json(const struct ct_result *r, FILE *to, struct ct_err *err)
{
	struct ct_json j;

	ct_json_begin(&j, to);
	ct_json_open(&j, NULL, '{', 0);
	json_manifest(&j, r);
	json_pairs(&j, "perf", r->perf, r->n_perf);
	json_summary(&j, r);
	ct_json_close(&j);
	return ct_json_end(&j, to == stdout ? "standard output" : "JSON output", err);
}
