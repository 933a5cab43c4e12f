/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns are read one after the other, CT_H5_BLOCK rows at a time, straight into
 * the jobs. Nothing in the file is trusted: types, ranks, lengths, string numbers
 * and ranges are checked, and the row count against the size of the file before
 * memory is asked for (deflate shrinks at most 1032 : 1). */
#include "traces/hdf5_jobs.h"

#include "sim/shown.h"
#include "traces/hdf5_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEFLATE_RATIO = 1032, IMPORT_RULES = 32 };

struct input {
	const char *path;
	uint64_t file_bytes;
	hid_t file;
	struct ct_workload *w;
	struct ct_err *err;
};

#define FAIL(x, ...)                                                \
	do {                                                        \
		struct ct_loc at_ = { .file = (x)->path };          \
		ct_err_add((x)->err, CT_ETRACE, &at_, __VA_ARGS__); \
	} while (0)

static int failed(const struct input *x)
{
	return x->err->code != CT_OK;
}

/* ---- attributes: NULL / -1 when absent or of the wrong kind */

static char *read_text_value(hid_t a, hid_t type)
{
	char *out = NULL, *s = NULL;
	size_t size = H5Tget_size(type);

	if (H5Tis_variable_str(type) > 0) { /* what h5py writes for a str */
		if (H5Aread(a, type, &s) >= 0 && s)
			out = strdup(s);
		(void)!(H5free_memory(s) < 0);
		return out;
	}
	if (!size || size > 65536)
		return NULL;
	out = ct_calloc(size + 1, 1);
	if (H5Aread(a, type, out) < 0) {
		free(out);
		return NULL;
	}
	return out;
}

static hid_t open_scalar(hid_t on, const char *name, H5T_class_t class, hid_t *type)
{
	hid_t a, space;
	int ok;

	if (H5Aexists(on, name) <= 0)
		return -1;
	a = H5Aopen(on, name, H5P_DEFAULT);
	*type = a < 0 ? -1 : H5Aget_type(a);
	space = a < 0 ? -1 : H5Aget_space(a);
	ok = *type >= 0 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && H5Tget_class(*type) == class;
	if (space >= 0 && H5Sclose(space) < 0)
		ok = 0;
	if (ok)
		return a;
	if (*type >= 0 && H5Tclose(*type) < 0)
		return -1;
	if (a >= 0 && H5Aclose(a) < 0)
		return -1;
	return -1;
}

static int close_scalar(hid_t a, hid_t type)
{
	int bad = H5Tclose(type) < 0;

	return H5Aclose(a) < 0 || bad ? -1 : 0;
}

/* malloc'ed, or NULL. */
static char *get_text(hid_t on, const char *name)
{
	hid_t type = -1, a = open_scalar(on, name, H5T_STRING, &type);
	char *s;

	if (a < 0)
		return NULL;
	s = read_text_value(a, type);
	if (close_scalar(a, type)) {
		free(s);
		return NULL;
	}
	return s;
}

static int get_i64(hid_t on, const char *name, int64_t *out)
{
	hid_t type = -1, a = open_scalar(on, name, H5T_INTEGER, &type);
	int rc;

	if (a < 0)
		return -1;
	rc = H5Aread(a, H5T_NATIVE_INT64, out) < 0 ? -1 : 0;
	return close_scalar(a, type) ? -1 : rc;
}

/* ---- data sets */

struct column {
	hid_t set, type;
	size_t n, width; /* rows, bytes of an element in the file */
};

static void close_column(struct input *x, struct column *c)
{
	if ((c->type >= 0 && H5Tclose(c->type) < 0) || (c->set >= 0 && H5Dclose(c->set) < 0))
		FAIL(x, "HDF5 cannot close a data set");
}

/* The extent of a 1-D data set, or -1. */
static int64_t extent(hid_t set)
{
	hid_t space = H5Dget_space(set);
	hsize_t n = 0;
	int ok = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
		 H5Sget_simple_extent_dims(space, &n, NULL) == 1 && n <= INT64_MAX;

	if (space >= 0 && H5Sclose(space) < 0)
		ok = 0;
	return ok ? (int64_t)n : -1;
}

static uint64_t stored_bytes(const struct input *x, hid_t set)
{
	hsize_t n = H5Dget_storage_size(set);

	return n < x->file_bytes ? n : x->file_bytes;
}

static const char *class_name(H5T_class_t class)
{
	return class == H5T_STRING ? "fixed-length text" : class == H5T_FLOAT ? "floats" : "integers";
}

/* Opens /group/name; 0, or an error was added. Rows and type are checked. */
static int open_column(struct input *x, hid_t group, const char *where, const char *name, H5T_class_t class,
		       struct column *c)
{
	int64_t n;

	*c = (struct column){ .set = -1, .type = -1 };
	c->set = H5Dopen2(group, name, H5P_DEFAULT);
	c->type = c->set < 0 ? -1 : H5Dget_type(c->set);
	if (c->type < 0) {
		FAIL(x, "'%s%s' is not a data set", where, name);
		close_column(x, c);
		return -1;
	}
	c->width = H5Tget_size(c->type);
	n = extent(c->set);
	if (n < 0)
		FAIL(x, "'%s%s' wants one dimension", where, name);
	else if (H5Tget_class(c->type) != class || H5Tis_variable_str(c->type) > 0)
		FAIL(x, "'%s%s' wants %s", where, name, class_name(class));
	else if (!c->width || (class != H5T_STRING && c->width > 8))
		FAIL(x, "'%s%s' wants at most 8 bytes an element, got %zu", where, name, c->width);
	else if ((uint64_t)n > stored_bytes(x, c->set) * DEFLATE_RATIO / c->width)
		FAIL(x, "'%s%s' claims %lld rows, more than the file can hold", where, name, (long long)n);
	else {
		c->n = (size_t)n;
		return 0;
	}
	close_column(x, c);
	return -1;
}

static int read_block(struct input *x, const struct column *c, hid_t type, const char *name, size_t first, size_t n,
		      void *to)
{
	hsize_t start = first, count = n;
	hid_t file = H5Dget_space(c->set), memory = H5Screate_simple(1, &count, NULL);
	int ok = file >= 0 && memory >= 0 &&
		 H5Sselect_hyperslab(file, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
		 H5Dread(c->set, type, memory, file, H5P_DEFAULT, to) >= 0;

	if ((memory >= 0 && H5Sclose(memory) < 0) || (file >= 0 && H5Sclose(file) < 0))
		ok = 0;
	if (!ok)
		FAIL(x, "cannot read rows %zu to %zu of '%s'", first + 1, first + n, name);
	return ok ? 0 : -1;
}

/* Rows must be those of the jobs. */
static int open_job_column(struct input *x, hid_t group, const char *where, const char *name, H5T_class_t class,
			   struct column *c)
{
	if (open_column(x, group, where, name, class, c))
		return -1;
	if (c->n == x->w->n)
		return 0;
	FAIL(x, "'%s%s' has %zu rows, 'jobs/submit_time' has %zu", where, name, c->n, x->w->n);
	close_column(x, c);
	return -1;
}

/* Calls put(ctx, row, value) for each row with a legal value. */
struct sink {
	void (*put)(const struct sink *s, size_t row, int64_t value);
	struct ct_workload *w;
	size_t which;
	int64_t lo, hi;
};

static void read_numbers(struct input *x, hid_t group, const char *where, const char *name, const struct sink *s)
{
	struct column c;
	int64_t *block;

	if (open_job_column(x, group, where, name, H5T_INTEGER, &c))
		return;
	block = ct_calloc(CT_H5_BLOCK, sizeof *block);
	for (size_t at = 0; at < c.n; at += CT_H5_BLOCK) {
		size_t n = c.n - at < CT_H5_BLOCK ? c.n - at : CT_H5_BLOCK;

		if (read_block(x, &c, H5T_NATIVE_INT64, name, at, n, block))
			break;
		for (size_t i = 0; i < n; i++) {
			if (block[i] < s->lo || block[i] > s->hi)
				FAIL(x, "'%s%s' of row %zu wants %lld to %lld, got %lld", where, name, at + i + 1,
				     (long long)s->lo, (long long)s->hi, (long long)block[i]);
			else
				s->put(s, at + i, block[i]);
		}
	}
	free(block);
	close_column(x, &c);
}

/* ---- /jobs */

static void put_member(const struct sink *s, size_t row, int64_t value)
{
	struct ct_job *job = &s->w->jobs[row];

	switch (ct_columns[s->which].cell) {
	case CT_CELL_TIME:
		*(ct_time *)ct_column_member(job, (enum ct_column_id)s->which) = value;
		break;
	case CT_CELL_SIGNED:
		job->priority = (int32_t)value;
		break;
	default:
		*(uint32_t *)ct_column_member(job, (enum ct_column_id)s->which) = (uint32_t)value;
	}
}

static void put_line(const struct sink *s, size_t row, int64_t value)
{
	s->w->jobs[row].line = (uint32_t)value;
}

static void put_extra(const struct sink *s, size_t row, int64_t value)
{
	s->w->columns[s->which].value[row] = (uint32_t)value;
}

static void read_ids(struct input *x, hid_t jobs, const char *name)
{
	struct column c;
	char *block;

	if (open_job_column(x, jobs, "jobs/", name, H5T_STRING, &c))
		return;
	if (c.width > CT_ID_LIMIT + 1 || H5Tget_strpad(c.type) == H5T_STR_SPACEPAD) {
		FAIL(x, "'jobs/%s' wants NUL-padded text of at most %d bytes, got %zu", name, CT_ID_LIMIT, c.width);
		close_column(x, &c);
		return;
	}
	block = ct_calloc(CT_H5_BLOCK, c.width);
	for (size_t at = 0; at < c.n; at += CT_H5_BLOCK) {
		size_t n = c.n - at < CT_H5_BLOCK ? c.n - at : CT_H5_BLOCK;

		if (read_block(x, &c, c.type, name, at, n, block))
			break;
		for (size_t i = 0; i < n; i++) {
			const char *s = block + i * c.width;

			x->w->jobs[at + i].id = ct_workload_text(x->w, s, strnlen(s, c.width));
			if (!*s)
				FAIL(x, "'jobs/%s' of row %zu is empty", name, at + i + 1);
		}
	}
	free(block);
	close_column(x, &c);
}

static void read_fractions(struct input *x, hid_t jobs, const char *name)
{
	struct column c;
	float *v;

	if (open_job_column(x, jobs, "jobs/", name, H5T_FLOAT, &c))
		return;
	v = ct_calloc(c.n, sizeof *v);
	if (c.n && !read_block(x, &c, H5T_NATIVE_FLOAT, name, 0, c.n, v)) {
		for (size_t i = 0; i < c.n; i++) {
			if (v[i] < 0 || v[i] > 1)
				FAIL(x, "'jobs/%s' of row %zu wants 0 to 1, got %g", name, i + 1, (double)v[i]);
			x->w->jobs[i].sm_frac = v[i];
		}
	}
	free(v);
	close_column(x, &c);
}

static void read_column(struct input *x, hid_t jobs, enum ct_column_id c)
{
	const char *name = ct_columns[c].doc.name;
	struct sink s = { put_member, x->w, c, ct_columns[c].lo, ct_columns[c].hi };
	int required = ct_columns[c].doc.required || c == CT_COLUMN_JOB_ID;

	if (H5Lexists(jobs, name, H5P_DEFAULT) <= 0) {
		if (required)
			FAIL(x, "no data set 'jobs/%s'", name);
		return;
	}
	switch (ct_columns[c].cell) {
	case CT_CELL_ID:
		read_ids(x, jobs, name);
		return;
	case CT_CELL_FRACTION:
		read_fractions(x, jobs, name);
		return;
	case CT_CELL_TEXT:
		s.hi = (int64_t)x->w->strings.n - 1;
		break;
	case CT_CELL_COUNT:
		s.lo = 0; /* as for a job without GPUs: settled below */
		break;
	case CT_CELL_TIME:
		s.lo = c == CT_COLUMN_DEADLINE || c == CT_COLUMN_REQUESTED_TIME ? -1 : s.lo;
		break;
	default:
		break;
	}
	read_numbers(x, jobs, "jobs/", name, &s);
}

/* Calls each(x, group, link) for every link of a group, in the order of names. */
static void for_each_link(struct input *x, hid_t group, const char *where,
			  void (*each)(struct input *, hid_t, const char *))
{
	H5G_info_t info;
	char name[CT_H5_LINK_LIMIT];

	if (H5Gget_info(group, &info) < 0) {
		FAIL(x, "cannot list '%s'", where);
		return;
	}
	for (hsize_t i = 0; i < info.nlinks; i++) {
		ssize_t n =
		    H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);

		if (n < 0 || (size_t)n >= sizeof name)
			FAIL(x, "name %llu of '%s' is too long or not readable", (unsigned long long)i + 1, where);
		else
			each(x, group, name);
	}
}

static void check_known(struct input *x, hid_t jobs, const char *link)
{
	char b[CT_SHOWN];

	(void)jobs;
	if (!strcmp(link, "line"))
		return;
	for (size_t c = 0; c < CT_COLUMN_NUM_INST; c++)
		if (!strcmp(ct_columns[c].doc.name, link))
			return;
	FAIL(x, "unknown data set 'jobs/%s'; other columns stand in 'extra'", ct_shown(b, link, strlen(link)));
}

/* As many jobs as there are submission times. */
static int make_jobs(struct input *x, hid_t jobs)
{
	struct ct_job job = CT_JOB_INIT;
	struct column c;

	if (H5Lexists(jobs, "submit_time", H5P_DEFAULT) <= 0) {
		FAIL(x, "no data set 'jobs/submit_time'");
		return -1;
	}
	if (open_column(x, jobs, "jobs/", "submit_time", H5T_INTEGER, &c))
		return -1;
	close_column(x, &c);
	if (c.n >= UINT32_MAX - 2) {
		FAIL(x, "%zu jobs, wanted at most %u", c.n, UINT32_MAX - 2);
		return -1;
	}
	job.num_gpus = 0;
	CT_GROW(x->w->jobs, x->w->cap, c.n);
	for (size_t i = 0; i < c.n; i++)
		ct_workload_add(x->w, &job);
	return 0;
}

/* What the file leaves out, and what several columns must agree on. */
static void settle_jobs(struct input *x)
{
	for (size_t i = 0; i < x->w->n; i++) {
		struct ct_job *j = &x->w->jobs[i];

		if (!j->num_gpus && !j->cpu_milli)
			FAIL(x, "'jobs/num_gpus' of row %zu must be positive, got 0", i + 1);
		j->gpu_milli = j->gpu_milli ? j->gpu_milli : 1000;
		j->min_gpus = j->min_gpus ? j->min_gpus : j->num_gpus;
		j->max_gpus = j->max_gpus ? j->max_gpus : j->num_gpus;
		if (j->min_gpus > j->num_gpus || j->max_gpus < j->num_gpus)
			FAIL(x, "row %zu wants min_gpus <= num_gpus <= max_gpus, got %u, %u, %u", i + 1, j->min_gpus,
			     j->num_gpus, j->max_gpus);
	}
}

static void read_jobs(struct input *x)
{
	struct sink line = { put_line, x->w, 0, 0, UINT32_MAX };
	hid_t jobs = H5Gopen2(x->file, "jobs", H5P_DEFAULT);

	if (jobs < 0) {
		FAIL(x, "no group 'jobs'");
		return;
	}
	for_each_link(x, jobs, "jobs", check_known);
	if (!make_jobs(x, jobs)) {
		for (size_t c = 0; c < CT_COLUMN_NUM_INST; c++)
			read_column(x, jobs, (enum ct_column_id)c);
		if (H5Lexists(jobs, "line", H5P_DEFAULT) > 0)
			read_numbers(x, jobs, "jobs/", "line", &line);
	}
	if (H5Gclose(jobs) < 0)
		FAIL(x, "HDF5 cannot close 'jobs'");
	if (!failed(x))
		settle_jobs(x);
}

/* ---- /strings */

static void split_strings(struct input *x, const char *all, size_t n)
{
	uint32_t expected = 0;
	char b[CT_SHOWN];

	if (!n || all[0] || all[n - 1]) {
		FAIL(x, "'strings' wants texts that end in a NUL byte, the empty one first");
		return;
	}
	for (size_t at = 0; at < n; expected++) {
		size_t k = strlen(all + at);

		if (ct_strings_add(&x->w->strings, all + at, k) != expected) {
			FAIL(x, "'strings' holds '%s' twice", ct_shown(b, all + at, k));
			return;
		}
		at += k + 1;
	}
}

static void read_strings(struct input *x)
{
	struct column c;
	char *all;

	if (H5Lexists(x->file, "strings", H5P_DEFAULT) <= 0)
		return;
	if (open_column(x, x->file, "", "strings", H5T_INTEGER, &c))
		return;
	if (c.width != 1) {
		FAIL(x, "'strings' wants bytes");
	} else if (c.n) {
		all = ct_calloc(c.n, 1);
		if (!read_block(x, &c, H5T_NATIVE_UINT8, "strings", 0, c.n, all))
			split_strings(x, all, c.n);
		free(all);
	}
	close_column(x, &c);
}

/* ---- /extra */

/* Names first, put at their place; values when all are known. */
struct extra {
	char *link;
	int64_t order;
};

static int compare_extras(const void *a, const void *b)
{
	const struct extra *x = a, *y = b;

	return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : strcmp(x->link, y->link);
}

static int extra_order(hid_t group, const char *link, int64_t *order)
{
	hid_t set = H5Dopen2(group, link, H5P_DEFAULT);
	int rc;

	if (set < 0)
		return -1;
	rc = get_i64(set, "order", order);
	return H5Dclose(set) < 0 ? -1 : rc;
}

static void read_extra(struct input *x, hid_t group, const char *link)
{
	char name[CT_NAME_LIMIT + 1];
	struct sink s = { put_extra, x->w, 0, 0, (int64_t)x->w->strings.n - 1 };

	if (ct_h5_column_name(link, name)) {
		FAIL(x, "'extra/%s' is not a column name in the %%XX form", link);
		return;
	}
	s.which = ct_workload_column(x->w, name);
	if (x->w->n) /* makes room for all */
		ct_workload_set_extra(x->w, s.which, (uint32_t)x->w->n - 1, "", 0);
	read_numbers(x, group, "extra/", link, &s);
}

static void read_extras(struct input *x)
{
	H5G_info_t info;
	struct extra *all;
	size_t n = 0;
	hid_t group;

	if (H5Lexists(x->file, "extra", H5P_DEFAULT) <= 0)
		return;
	group = H5Gopen2(x->file, "extra", H5P_DEFAULT);
	if (group < 0 || H5Gget_info(group, &info) < 0 || info.nlinks > CT_FIELD_LIMIT) {
		FAIL(x, "'extra' wants to be a group of at most %d data sets", CT_FIELD_LIMIT);
		if (group >= 0 && H5Gclose(group) < 0)
			FAIL(x, "HDF5 cannot close 'extra'");
		return;
	}
	all = ct_calloc(info.nlinks, sizeof *all);
	for (; n < info.nlinks; n++) {
		char link[CT_H5_LINK_LIMIT];
		ssize_t k =
		    H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, n, link, sizeof link, H5P_DEFAULT);

		if (k < 0 || (size_t)k >= sizeof link) {
			FAIL(x, "a name in 'extra' is too long or not readable");
			break;
		}
		if (extra_order(group, link, &all[n].order))
			all[n].order = INT64_MAX; /* written by others: after the rest, by name */
		all[n].link = strdup(link);
	}
	if (n == info.nlinks) {
		qsort(all, n, sizeof *all, compare_extras);
		for (size_t i = 0; i < n; i++)
			read_extra(x, group, all[i].link);
	}
	for (size_t i = 0; i < n; i++)
		free(all[i].link);
	free(all);
	if (H5Gclose(group) < 0)
		FAIL(x, "HDF5 cannot close 'extra'");
}

/* ---- /report */

/* n texts of a data set, into the workload's arena. */
static int read_texts(struct input *x, hid_t group, const char *name, size_t max, const char **out, size_t *n)
{
	struct column c;
	char *all;
	int rc = -1;

	if (open_column(x, group, "report/", name, H5T_STRING, &c))
		return -1;
	if (c.n > max || c.width > 4096) {
		FAIL(x, "'report/%s' wants at most %zu texts of at most 4096 bytes", name, max);
	} else {
		all = ct_calloc(c.n + 1, c.width);
		rc = c.n ? read_block(x, &c, c.type, name, 0, c.n, all) : 0;
		for (size_t i = 0; i < c.n && !rc; i++)
			out[i] = ct_workload_text(x->w, all + i * c.width, strnlen(all + i * c.width, c.width));
		free(all);
	}
	*n = c.n;
	close_column(x, &c);
	return rc;
}

static int read_counts(struct input *x, hid_t group, const char *name, size_t n, int64_t *out)
{
	struct column c;
	int rc = -1;

	if (open_column(x, group, "report/", name, H5T_INTEGER, &c))
		return -1;
	if (c.n != n)
		FAIL(x, "'report/%s' has %zu rows, 'report/rule' has %zu", name, c.n, n);
	else
		rc = n ? read_block(x, &c, H5T_NATIVE_INT64, name, 0, n, out) : 0;
	close_column(x, &c);
	return rc;
}

static void read_rules(struct input *x, hid_t group)
{
	const char *rule[IMPORT_RULES], *meaning[IMPORT_RULES];
	int64_t rows[IMPORT_RULES], dropped[IMPORT_RULES];
	size_t n, m;

	if (H5Lexists(group, "rule", H5P_DEFAULT) <= 0)
		return;
	if (read_texts(x, group, "rule", IMPORT_RULES, rule, &n) ||
	    read_texts(x, group, "meaning", IMPORT_RULES, meaning, &m) || read_counts(x, group, "rows", n, rows) ||
	    read_counts(x, group, "dropped", n, dropped))
		return;
	if (m != n) {
		FAIL(x, "'report/meaning' has %zu rows, 'report/rule' has %zu", m, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (rows[i] < 0) {
			FAIL(x, "'report/rows' of row %zu must not be negative", i + 1);
			return;
		}
		ct_workload_count(x->w, rule[i], meaning[i], (uint64_t)rows[i], dropped[i] != 0);
	}
}

/* A text of the report, or NULL. */
static const char *report_text(struct input *x, hid_t group, const char *name)
{
	char *text = H5Aexists(group, name) > 0 ? get_text(group, name) : NULL;
	const char *kept = text ? ct_workload_text(x->w, text, strlen(text)) : NULL;

	free(text);
	return kept;
}

static void read_report(struct input *x)
{
	struct ct_import_report *r = &x->w->report;
	int64_t read = (int64_t)x->w->n;
	hid_t group;

	r->rows_kept = x->w->n;
	if (H5Lexists(x->file, "report", H5P_DEFAULT) > 0) {
		group = H5Gopen2(x->file, "report", H5P_DEFAULT);
		if (group < 0) {
			FAIL(x, "'report' is not a group");
			return;
		}
		r->origin = report_text(x, group, "origin");
		r->history = report_text(x, group, "history");
		r->header = report_text(x, group, "header");
		if (get_i64(group, "rows_read", &read) || read < (int64_t)x->w->n)
			read = (int64_t)x->w->n;
		read_rules(x, group);
		if (H5Gclose(group) < 0)
			FAIL(x, "HDF5 cannot close 'report'");
	}
	r->rows_read = (uint64_t)read;
}

/* ---- the file */

static int check_header(struct input *x)
{
	char *format = get_text(x->file, "format"), *digest;
	int64_t version = 0, complete = 0;

	if (!format || strcmp(format, CT_H5_FORMAT) != 0)
		FAIL(x, "is HDF5, but not a trace: wanted the attribute format = '%s'", CT_H5_FORMAT);
	else if (get_i64(x->file, "version", &version) || version != CT_H5_VERSION)
		FAIL(x, "is of format version %lld, wanted %d", (long long)version, CT_H5_VERSION);
	else if (get_i64(x->file, "complete", &complete) || complete != 1)
		FAIL(x, "is not complete: its writer did not finish");
	free(format);
	if (failed(x))
		return -1;
	digest = get_text(x->file, "digest");
	if (digest && strlen(digest) == CT_DIGEST_TEXT - 1)
		memcpy(x->w->digest, digest, CT_DIGEST_TEXT); /* ct_trace_read() compares */
	else if (digest)
		FAIL(x, "the attribute 'digest' wants %d digits, got %zu", CT_DIGEST_TEXT - 1, strlen(digest));
	free(digest);
	return failed(x) ? -1 : 0;
}

static void read_all(struct input *x, const struct ct_trace_options *o)
{
	if (check_header(x))
		return;
	read_strings(x);
	if (!failed(x))
		read_jobs(x);
	if (!failed(x))
		read_extras(x);
	if (!failed(x))
		read_report(x);
	if (o->progress)
		o->progress(o->progress_ctx, x->file_bytes, x->file_bytes);
}

static int starts_gzip(const char *path)
{
	unsigned char two[2] = { 0 };
	FILE *f = fopen(path, "rb");
	int yes = f && fread(two, 1, 2, f) == 2 && two[0] == 0x1f && two[1] == 0x8b;

	if (f)
		fclose(f);
	return yes;
}

int ct_hdf5_jobs_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		      struct ct_err *err)
{
	const char *path = ct_source_member(s, member)->path;
	struct input x = { .path = path, .file = -1, .w = w, .err = err };
	struct ct_h5_quiet quiet;
	struct stat st;

	if (o->n_columns) {
		FAIL(&x, "has canonical columns; 'trace.columns' is for CSV");
		return (int)err->code;
	}
	if (!ct_source_file(s, member)) {
		FAIL(&x, "is HDF5 in an archive, which cannot be read in place; unpack it first");
		return (int)err->code;
	}
	if (stat(path, &st))
		return ct_err_at(err, CT_EIO, NULL, "cannot open '%s': %s", path, strerror(errno));
	x.file_bytes = (uint64_t)st.st_size;
	ct_h5_quiet_begin(&quiet);
	x.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	if (x.file >= 0) {
		read_all(&x, o);
		if (H5Fclose(x.file) < 0)
			FAIL(&x, "HDF5 cannot close the file");
	} else if (starts_gzip(path)) {
		FAIL(&x, "is compressed HDF5; gunzip it first");
	} else {
		FAIL(&x, "is truncated or damaged: HDF5 cannot open it");
	}
	ct_h5_quiet_end(&quiet);
	return (int)err->code;
}

int ct_hdf5_jobs_recognise(const char *head, size_t n)
{
	return n >= 8 && !memcmp(head, "\211HDF\r\n\032\n", 8);
}
