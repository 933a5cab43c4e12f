/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file is built in memory (HDF5's core driver) and written as one piece of
 * bytes: a full disk is then an ordinary write error with its reason, while HDF5
 * would notice it as late as H5Fclose and say only that closing failed.
 *
 * The first HDF5 call that fails is kept in `failed`; what follows gets the bad
 * handle and fails as well, so the code reads straight on. */
#include "sim/output.h"
#include "traces/hdf5_layout.h"
#include "traces/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_STEP = 1 << 22, DEFLATE = 1 }; /* level 1: levels above cost time, save 2 % (specs/engine.md 2.1) */

struct writer {
	const struct ct_workload *w;
	hid_t file;
	char failed[64]; /* what could not be written, "" = all well */
};

static void check(struct writer *x, herr_t rc, const char *what)
{
	if (rc < 0 && !*x->failed)
		snprintf(x->failed, sizeof x->failed, "%.63s", what);
}

static hid_t keep(struct writer *x, hid_t id, const char *what)
{
	check(x, id < 0 ? -1 : 0, what);
	return id;
}

/* ---- attributes */

static void put_attribute(struct writer *x, hid_t on, const char *name, hid_t file_type, hid_t type, const void *v)
{
	hid_t space = keep(x, H5Screate(H5S_SCALAR), name);
	hid_t a = keep(x, H5Acreate2(on, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT), name);

	check(x, H5Awrite(a, type, v), name);
	check(x, H5Aclose(a), name);
	check(x, H5Sclose(space), name);
}

static void put_i64(struct writer *x, hid_t on, const char *name, int64_t v)
{
	put_attribute(x, on, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &v);
}

static hid_t text_type(struct writer *x, size_t width)
{
	hid_t type = keep(x, H5Tcopy(H5T_C_S1), "a text type");

	check(x, H5Tset_size(type, width ? width : 1), "a text type");
	check(x, H5Tset_cset(type, H5T_CSET_UTF8), "a text type");
	check(x, H5Tset_strpad(type, H5T_STR_NULLPAD), "a text type");
	return type;
}

/* Padded to the type's width by the NUL that ends the text. */
static void put_text(struct writer *x, hid_t on, const char *name, const char *text)
{
	hid_t type = text_type(x, strlen(text));

	put_attribute(x, on, name, type, type, text);
	check(x, H5Tclose(type), name);
}

/* ---- data sets */

static hid_t make_group(struct writer *x, const char *name)
{
	hid_t plist = keep(x, H5Pcreate(H5P_GROUP_CREATE), name), g;

	check(x, H5Pset_obj_track_times(plist, 0), name);
	g = keep(x, H5Gcreate2(x->file, name, H5P_DEFAULT, plist, H5P_DEFAULT), name);
	check(x, H5Pclose(plist), name);
	return g;
}

static hid_t make_dataset(struct writer *x, hid_t group, const char *name, hid_t type, size_t n)
{
	hsize_t dims = n, chunk = n < CT_H5_BLOCK ? n : CT_H5_BLOCK;
	hid_t space = keep(x, H5Screate_simple(1, &dims, NULL), name);
	hid_t plist = keep(x, H5Pcreate(H5P_DATASET_CREATE), name), d;

	check(x, H5Pset_obj_track_times(plist, 0), name);
	if (n) {
		check(x, H5Pset_chunk(plist, 1, &chunk), name);
		check(x, H5Pset_shuffle(plist), name);
		check(x, H5Pset_deflate(plist, DEFLATE), name);
	}
	d = keep(x, H5Dcreate2(group, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT), name);
	check(x, H5Pclose(plist), name);
	check(x, H5Sclose(space), name);
	return d;
}

static void put_block(struct writer *x, hid_t d, hid_t type, size_t first, size_t n, const void *from, const char *name)
{
	hsize_t start = first, count = n;
	hid_t file = keep(x, H5Dget_space(d), name), memory = keep(x, H5Screate_simple(1, &count, NULL), name);

	check(x, H5Sselect_hyperslab(file, H5S_SELECT_SET, &start, NULL, &count, NULL), name);
	check(x, H5Dwrite(d, type, memory, file, H5P_DEFAULT, from), name);
	check(x, H5Sclose(memory), name);
	check(x, H5Sclose(file), name);
}

/* One number a job: value(w, job, which). */
static hid_t put_numbers(struct writer *x, hid_t group, const char *name, hid_t type,
			 int64_t (*value)(const struct ct_workload *, size_t, size_t), size_t which)
{
	hid_t d = make_dataset(x, group, name, type, x->w->n);
	int64_t *block = ct_calloc(CT_H5_BLOCK, sizeof *block);

	for (size_t at = 0; at < x->w->n && !*x->failed; at += CT_H5_BLOCK) {
		size_t n = x->w->n - at < CT_H5_BLOCK ? x->w->n - at : CT_H5_BLOCK;

		for (size_t i = 0; i < n; i++)
			block[i] = value(x->w, at + i, which);
		put_block(x, d, H5T_NATIVE_INT64, at, n, block, name);
	}
	free(block);
	return d;
}

static int64_t job_number(const struct ct_workload *w, size_t job, size_t c)
{
	const void *v = ct_column_value(&w->jobs[job], (enum ct_column_id)c);

	switch (ct_columns[c].cell) {
	case CT_CELL_TIME:
		return *(const ct_time *)v;
	case CT_CELL_SIGNED:
		return *(const int32_t *)v;
	default:
		return *(const uint32_t *)v;
	}
}

static int64_t job_line(const struct ct_workload *w, size_t job, size_t unused)
{
	(void)unused;
	return w->jobs[job].line;
}

static int64_t extra_number(const struct ct_workload *w, size_t job, size_t column)
{
	return w->columns[column].value[job];
}

static hid_t put_ids(struct writer *x, hid_t group, const char *name)
{
	size_t width = 1;
	char *block;
	hid_t type, d;

	for (size_t i = 0; i < x->w->n; i++)
		if (strlen(x->w->jobs[i].id) > width)
			width = strlen(x->w->jobs[i].id);
	type = text_type(x, width);
	d = make_dataset(x, group, name, type, x->w->n);
	block = ct_calloc(CT_H5_BLOCK, width);
	for (size_t at = 0; at < x->w->n && !*x->failed; at += CT_H5_BLOCK) {
		size_t n = x->w->n - at < CT_H5_BLOCK ? x->w->n - at : CT_H5_BLOCK;

		memset(block, 0, n * width);
		for (size_t i = 0; i < n; i++)
			memcpy(block + i * width, x->w->jobs[at + i].id, strlen(x->w->jobs[at + i].id));
		put_block(x, d, type, at, n, block, name);
	}
	free(block);
	check(x, H5Tclose(type), name);
	return d;
}

static hid_t put_fractions(struct writer *x, hid_t group, const char *name)
{
	hid_t d = make_dataset(x, group, name, H5T_IEEE_F32LE, x->w->n);
	float *v = ct_calloc(x->w->n, sizeof *v);

	for (size_t i = 0; i < x->w->n; i++)
		v[i] = isnan(x->w->jobs[i].sm_frac) ? NAN : x->w->jobs[i].sm_frac; /* one NaN for all */
	if (x->w->n)
		put_block(x, d, H5T_NATIVE_FLOAT, 0, x->w->n, v, name);
	free(v);
	return d;
}

static hid_t put_column(struct writer *x, hid_t group, enum ct_column_id c)
{
	const char *name = ct_columns[c].doc.name;

	switch (ct_columns[c].cell) {
	case CT_CELL_ID:
		return put_ids(x, group, name);
	case CT_CELL_FRACTION:
		return put_fractions(x, group, name);
	case CT_CELL_TIME:
		return put_numbers(x, group, name, H5T_STD_I64LE, job_number, c);
	case CT_CELL_SIGNED:
		return put_numbers(x, group, name, H5T_STD_I32LE, job_number, c);
	default:
		return put_numbers(x, group, name, H5T_STD_U32LE, job_number, c);
	}
}

/* ---- the groups */

static void put_jobs(struct writer *x)
{
	hid_t group = make_group(x, "jobs"), d;

	for (size_t c = 0; c < CT_COLUMN_NUM_INST; c++) {
		if (!ct_column_in_use(x->w, (enum ct_column_id)c))
			continue;
		d = put_column(x, group, (enum ct_column_id)c);
		if (*ct_columns[c].h5_unit)
			put_text(x, d, "unit", ct_columns[c].h5_unit);
		check(x, H5Dclose(d), ct_columns[c].doc.name);
	}
	d = put_numbers(x, group, "line", H5T_STD_U32LE, job_line, 0);
	check(x, H5Dclose(d), "line");
	check(x, H5Gclose(group), "jobs");
}

static void put_extras(struct writer *x)
{
	hid_t group = make_group(x, "extra");

	for (size_t i = 0; i < x->w->n_columns; i++) {
		char link[CT_H5_LINK_LIMIT];
		hid_t d;

		ct_h5_link_name(x->w->columns[i].name, link);
		d = put_numbers(x, group, link, H5T_STD_U32LE, extra_number, i);
		put_i64(x, d, "order", (int64_t)i);
		check(x, H5Dclose(d), link);
	}
	check(x, H5Gclose(group), "extra");
}

/* A whole byte or text array in one call. */
static void put_array(struct writer *x, hid_t group, const char *name, hid_t file_type, hid_t type, size_t n,
		      const void *v)
{
	hid_t d = make_dataset(x, group, name, file_type, n);

	put_block(x, d, type, 0, n, v, name);
	check(x, H5Dclose(d), name);
}

static void put_strings(struct writer *x)
{
	const struct ct_strings *s = &x->w->strings;
	size_t bytes = 0, at = 0;
	char *all;

	for (size_t i = 0; i < s->n; i++)
		bytes += strlen(s->text[i]) + 1;
	all = ct_calloc(bytes, 1);
	for (size_t i = 0; i < s->n; i++) {
		size_t n = strlen(s->text[i]) + 1;

		memcpy(all + at, s->text[i], n);
		at += n;
	}
	put_array(x, x->file, "strings", H5T_STD_U8LE, H5T_NATIVE_UINT8, bytes, all);
	free(all);
}

static void put_rule_texts(struct writer *x, hid_t group, const char *name, int meaning)
{
	const struct ct_import_report *r = &x->w->report;
	size_t width = 1;
	char *all;
	hid_t type;

	for (unsigned i = 0; i < r->n_rules; i++) {
		size_t n = strlen(meaning ? r->rules[i].meaning : r->rules[i].rule);

		width = n > width ? n : width;
	}
	all = ct_calloc(r->n_rules, width);
	for (unsigned i = 0; i < r->n_rules; i++) {
		const char *s = meaning ? r->rules[i].meaning : r->rules[i].rule;

		memcpy(all + i * width, s, strlen(s));
	}
	type = text_type(x, width);
	put_array(x, group, name, type, type, r->n_rules, all);
	check(x, H5Tclose(type), name);
	free(all);
}

static void put_rules(struct writer *x, hid_t group)
{
	const struct ct_import_report *r = &x->w->report;
	int64_t rows[CT_RULES], dropped[CT_RULES];

	if (!r->n_rules)
		return;
	for (unsigned i = 0; i < r->n_rules; i++) {
		rows[i] = (int64_t)r->rules[i].rows;
		dropped[i] = r->rules[i].dropped;
	}
	put_rule_texts(x, group, "rule", 0);
	put_rule_texts(x, group, "meaning", 1);
	put_array(x, group, "rows", H5T_STD_I64LE, H5T_NATIVE_INT64, r->n_rules, rows);
	put_array(x, group, "dropped", H5T_STD_I64LE, H5T_NATIVE_INT64, r->n_rules, dropped);
}

/* The original's name without its folder, so that the bytes do not depend on where
 * the import ran. */
static void put_report(struct writer *x)
{
	const struct ct_import_report *r = &x->w->report;
	const char *source = r->source ? r->source : "", *slash = strrchr(source, '/');
	char origin[1024];
	hid_t group = make_group(x, "report");

	if (r->origin)
		snprintf(origin, sizeof origin, "%s", r->origin);
	else
		snprintf(origin, sizeof origin, "%s (%s)", slash ? slash + 1 : source, r->format ? r->format : "");
	put_text(x, group, "origin", origin);
	if (r->history)
		put_text(x, group, "history", r->history);
	if (r->header)
		put_text(x, group, "header", r->header);
	put_i64(x, group, "rows_read", (int64_t)r->rows_read);
	put_i64(x, group, "rows_kept", (int64_t)r->rows_kept);
	put_rules(x, group);
	check(x, H5Gclose(group), "report");
}

static void put_all(struct writer *x)
{
	put_text(x, x->file, "format", CT_H5_FORMAT);
	put_i64(x, x->file, "version", CT_H5_VERSION);
	put_i64(x, x->file, "jobs", (int64_t)x->w->n);
	put_text(x, x->file, "digest", x->w->digest);
	put_jobs(x);
	put_extras(x);
	put_strings(x);
	put_report(x);
	if (!*x->failed)
		put_i64(x, x->file, "complete", 1);
}

static hid_t make_file(struct writer *x)
{
	hid_t access = keep(x, H5Pcreate(H5P_FILE_ACCESS), "the file"), f;
	hid_t create = keep(x, H5Pcreate(H5P_FILE_CREATE), "the file");

	check(x, H5Pset_fapl_core(access, MEMORY_STEP, 0), "the file");
	check(x, H5Pset_obj_track_times(create, 0), "the file");
	f = keep(x, H5Fcreate("cotenant-trace.h5", H5F_ACC_TRUNC, create, access), "the file");
	check(x, H5Pclose(create), "the file");
	check(x, H5Pclose(access), "the file");
	return f;
}

/* The finished file's bytes; malloc'ed. */
static char *image_of(struct writer *x, size_t *n)
{
	ssize_t size, got;
	char *bytes;

	check(x, H5Fflush(x->file, H5F_SCOPE_GLOBAL), "the file");
	size = H5Fget_file_image(x->file, NULL, 0);
	check(x, size < 0 ? -1 : 0, "the file");
	if (*x->failed)
		return NULL;
	bytes = ct_calloc((size_t)size, 1);
	got = H5Fget_file_image(x->file, bytes, (size_t)size);
	check(x, got != size ? -1 : 0, "the file");
	*n = (size_t)size;
	return bytes;
}

static char *build(struct writer *x, size_t *n)
{
	struct ct_h5_quiet quiet;
	char *bytes = NULL;

	ct_h5_quiet_begin(&quiet);
	x->file = make_file(x);
	if (!*x->failed)
		put_all(x);
	if (!*x->failed)
		bytes = image_of(x, n);
	if (x->file >= 0)
		check(x, H5Fclose(x->file), "the file");
	ct_h5_quiet_end(&quiet);
	return bytes;
}

int ct_trace_write_h5(const struct ct_workload *w, const char *path, struct ct_err *err)
{
	struct writer x = { .w = w, .file = -1 };
	struct ct_loc at = { .file = path };
	struct ct_output o;
	size_t n = 0;
	char *bytes;

	CT_CHECK(NULL, w->sealed, "workload written before it was sealed");
	for (size_t i = 0; i < w->n; i++)
		if (strlen(w->jobs[i].id) > CT_ID_LIMIT)
			return ct_err_at(err, CT_EIO, &at, "job id of %zu bytes, wanted at most %d",
					 strlen(w->jobs[i].id), CT_ID_LIMIT);
	bytes = build(&x, &n);
	if (*x.failed) {
		free(bytes);
		return ct_err_at(err, CT_EIO, &at, "HDF5 cannot write '%s'", x.failed);
	}
	if (ct_output_open(&o, path, err)) {
		free(bytes);
		return (int)err->code;
	}
	ct_output_write(&o, bytes, n);
	free(bytes);
	return ct_output_close(&o, err);
}
