/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Result files: the reader. Length and hash first, then everything by name, type and
 * length: whatever is missing or does not fit is refused. */
#include "sim/result_frame.h"
#include "sim/result_hdf5.h"

#include "sim/output.h"
#include "sim/strings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_BYTES = 1 << 20,
	DEFLATE_MOST = 1100,       /* no deflate stream expands by more than 1032 */
	NAME_BYTES = 1 << 16,      /* of a link or an attribute: HDF5's own limit for headers */
	TEXT_BYTES_MOST = 1 << 28, /* one text */
};

struct reader {
	struct ct_result *r;
	struct ct_err *err;
	struct ct_loc at;
	hid_t file;
};

/* Records what is wrong with the file and returns the code. */
__attribute__((format(printf, 2, 3))) static int bad(struct reader *d, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	return ct_err_at(d->err, CT_EIO, &d->at, "%s", what);
}

static int damaged(struct reader *d, const char *what)
{
	char reason[200];

	ct_hdf5_reason(reason, sizeof reason);
	return bad(d, "'%s' cannot be read, the file is damaged%s%s", what, *reason ? ": " : "", reason);
}

static void close_id(hid_t id)
{
	if (id >= 0)
		H5Idec_ref(id); /* of something only read: nothing can be lost */
}

/* ---- attributes */

/* A text of fixed length, padded or ended by NUL; anything else is not ours. */
static int is_our_text(hid_t type)
{
	return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && H5Tget_size(type) > 0 &&
	       H5Tget_size(type) <= TEXT_BYTES_MOST;
}

/* The value as text in the arena: of a text or number, *is_number set. NULL: not readable. */
static const char *attribute_value(struct reader *d, hid_t a, int *is_number)
{
	hid_t type = H5Aget_type(a), space = H5Aget_space(a), memory = ct_hdf5_text_type(H5T_VARIABLE);
	H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
	int single = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
	const char *out = NULL;
	char text[CT_F64_TEXT], *s = NULL;
	int64_t i;
	double v;

	*is_number = class == H5T_INTEGER || class == H5T_FLOAT;
	if (single && class == H5T_INTEGER && H5Aread(a, H5T_NATIVE_INT64, &i) >= 0) {
		out = ct_result_text(d->r, "%" PRId64, i);
	} else if (single && class == H5T_FLOAT && H5Aread(a, H5T_NATIVE_DOUBLE, &v) >= 0) {
		out = ct_arena_text(&d->r->arena, text, ct_f64_format(v, text));
	} else if (single && class == H5T_STRING && H5Tis_variable_str(type) > 0 && H5Aread(a, memory, &s) >= 0) {
		out = ct_arena_text(&d->r->arena, s ? s : "", s ? strlen(s) : 0);
		H5Dvlen_reclaim(memory, space, H5P_DEFAULT, &s);
	}
	close_id(memory);
	close_id(space);
	close_id(type);
	return out;
}

/* NULL: there is none, or it is not a single text or number. */
static const char *attribute(struct reader *d, hid_t object, const char *name)
{
	const char *out = NULL;
	int is_number;
	hid_t a;

	if (H5Aexists(object, name) <= 0)
		return NULL;
	a = H5Aopen(object, name, H5P_DEFAULT);
	if (a >= 0)
		out = attribute_value(d, a, &is_number);
	close_id(a);
	return out;
}

static int read_pairs(struct reader *d, hid_t object, const char *where, enum ct_result_part part)
{
	H5O_info_t info;

	if (H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS) < 0)
		return damaged(d, where);
	for (hsize_t i = 0; i < info.num_attrs; i++) {
		hid_t a = H5Aopen_by_idx(object, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT);
		char *name = ct_calloc(NAME_BYTES, 1);
		const char *value = NULL;
		int is_number = 0;

		if (a >= 0 && H5Aget_name(a, NAME_BYTES, name) > 0)
			value = attribute_value(d, a, &is_number);
		if (value)
			ct_result_add(d->r, part, name, value, is_number);
		free(name);
		close_id(a);
		if (!value)
			return damaged(d, where);
	}
	return 0;
}

/* ---- columns */

struct set {
	struct ct_column *column;
	const char *name, *heap_path; /* heap_path NULL: texts stand in the column itself */
	hid_t id, space, type;
	size_t rows, width; /* bytes of an element in the file */
	int stored;         /* 0: every row is the fill value */
};

/* Reads rows [at, at + n) into `to` as `memory`. */
static int read_block(struct reader *d, const struct set *s, hid_t memory, size_t at, size_t n, void *to)
{
	hsize_t from = at, count = n;
	hid_t space = H5Screate_simple(1, &count, NULL);
	int ok = space >= 0 && H5Sselect_hyperslab(s->space, H5S_SELECT_SET, &from, NULL, &count, NULL) >= 0 &&
		 H5Dread(s->id, memory, space, s->space, H5P_DEFAULT, to) >= 0;
	int rc = ok ? 0 : damaged(d, s->name);

	close_id(space);
	return rc;
}

/* float64 seconds back to microseconds, in place. */
static void to_times(double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t t = CT_NO_TIME;

		if (!isnan(v[i])) {
			t = fabs(v[i]) < (double)CT_TIME_LIMIT * 4 / 1e6 ? llround(v[i] * 1e6) : CT_NO_TIME;
		}
		memcpy(&v[i], &t, sizeof t);
	}
}

static int read_numbers(struct reader *d, const struct set *s)
{
	hid_t memory = s->column->type == CT_COLUMN_I64 ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
	size_t rows = s->stored ? s->rows : s->rows > 0, cap = BLOCK_BYTES / sizeof(double);
	double *block = ct_calloc(rows < cap ? rows : cap, sizeof *block);
	struct ct_fill fill = { 0 };
	int rc = 0;

	for (size_t at = 0, n; at < rows && !rc; at += n) {
		n = rows - at < cap ? rows - at : cap;
		rc = read_block(d, s, memory, at, n, block);
		if (!rc && s->column->type == CT_COLUMN_TIME)
			to_times(block, n);
		if (!rc)
			ct_fill_put(&fill, &d->r->arena, s->rows, block, n);
	}
	ct_fill_end(&fill, &d->r->arena, s->column);
	free(block);
	return rc;
}

/* Receives the texts of a column, one after the other. */
struct sink {
	struct ct_arena *arena;
	struct ct_strings strings;
	struct ct_coder coder;
	struct ct_texts texts;
	int is_code;
};

static void sink_begin(struct sink *k, struct ct_arena *a, int is_code, size_t rows)
{
	*k = (struct sink){ .arena = a, .is_code = is_code };
	if (is_code) {
		ct_strings_init(&k->strings);
		ct_coder_init(&k->coder, rows + 1, rows);
	} else {
		ct_texts_init(&k->texts, a, rows);
	}
}

static void sink_put(struct sink *k, const char *s, size_t n)
{
	if (k->is_code) {
		uint32_t number = ct_strings_add(&k->strings, s, n);

		ct_coder_put(&k->coder, k->arena, number, ct_strings_text(&k->strings, number), 1);
	} else {
		char *to = ct_texts_room(&k->texts, n);

		if (n)
			memcpy(to, s, n);
		ct_texts_put(&k->texts, n);
	}
}

static void sink_end(struct sink *k, struct ct_column *c)
{
	if (k->is_code) {
		ct_coder_end(&k->coder, k->arena, c);
		ct_strings_fini(&k->strings);
	} else {
		ct_texts_end(&k->texts, k->arena, c);
	}
}

static int read_plain_texts(struct reader *d, const struct set *s, size_t rows, struct sink *k)
{
	size_t cap = BLOCK_BYTES / s->width ? BLOCK_BYTES / s->width : 1;
	hid_t memory = ct_hdf5_text_type(s->width);
	char *block = ct_calloc(rows < cap ? rows : cap, s->width);
	int rc = memory < 0 ? damaged(d, s->name) : 0;

	for (size_t at = 0, n; at < rows && !rc; at += n) {
		n = rows - at < cap ? rows - at : cap;
		rc = read_block(d, s, memory, at, n, block);
		for (size_t i = 0; i < n && !rc; i++)
			sink_put(k, block + i * s->width, strnlen(block + i * s->width, s->width));
	}
	free(block);
	close_id(memory);
	return rc;
}

/* The bytes of a heap, a NUL behind them; NULL: the error is recorded. */
static char *read_heap(struct reader *d, const struct set *s, size_t *bytes)
{
	hid_t set = H5Dopen2(d->file, s->heap_path, H5P_DEFAULT), space = set < 0 ? set : H5Dget_space(set);
	hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
	char *heap = NULL;

	if (n >= 0 && (hsize_t)n <= H5Dget_storage_size(set) * DEFLATE_MOST) {
		heap = ct_calloc((size_t)n + 1, 1);
		if (H5Dread(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, heap) < 0) {
			free(heap);
			heap = NULL;
		}
	}
	if (!heap)
		damaged(d, s->heap_path);
	close_id(space);
	close_id(set);
	*bytes = n < 0 ? 0 : (size_t)n;
	return heap;
}

static int read_heap_texts(struct reader *d, const struct set *s, size_t rows, struct sink *k)
{
	size_t bytes;
	char *heap = read_heap(d, s, &bytes);
	int64_t *at = ct_calloc(rows, sizeof *at);
	int rc = heap ? read_block(d, s, H5T_NATIVE_INT64, 0, rows, at) : (int)d->err->code;

	for (size_t i = 0; i < rows && !rc; i++) {
		if (at[i] < 0 || (uint64_t)at[i] >= bytes)
			rc = bad(d, "'%s' points outside its heap", s->name);
		else
			sink_put(k, heap + at[i], strlen(heap + at[i]));
	}
	free(at);
	free(heap);
	return rc;
}

static int read_texts(struct reader *d, const struct set *s)
{
	size_t rows = s->stored ? s->rows : s->rows > 0;
	struct sink k;
	int rc;

	sink_begin(&k, &d->r->arena, s->column->type == CT_COLUMN_CODE, rows);
	rc = s->heap_path ? read_heap_texts(d, s, rows, &k) : read_plain_texts(d, s, rows, &k);
	sink_end(&k, s->column);
	return rc;
}

static int kind_of(const char *kind)
{
	for (int i = 0; kind && i < CT_COLUMN_TYPES; i++)
		if (strcmp(ct_column_kind[i], kind) == 0)
			return i;
	return -1;
}

static int type_fits(const struct set *s, enum ct_column_type kind)
{
	if ((kind == CT_COLUMN_CODE || kind == CT_COLUMN_TEXT) && !s->heap_path)
		return is_our_text(s->type);
	return H5Tget_class(s->type) == (kind == CT_COLUMN_I64 || s->heap_path ? H5T_INTEGER : H5T_FLOAT);
}

/* Shape and type, and whether the file is large enough for what it claims. */
static int inspect(struct reader *d, struct set *s, enum ct_column_type kind)
{
	hsize_t storage = H5Dget_storage_size(s->id);
	hsize_t rows;

	if (H5Sget_simple_extent_ndims(s->space) != 1 || H5Sget_simple_extent_dims(s->space, &rows, NULL) != 1)
		return bad(d, "'%s' has not one dimension", s->name);
	if (!type_fits(s, kind))
		return bad(d, "'%s' is not of the type its kind '%s' says", s->name, ct_column_kind[kind]);
	s->rows = (size_t)rows;
	s->width = H5Tget_size(s->type);
	s->stored = storage > 0;
	if (s->width == 0 || rows > UINT32_MAX || (s->stored && rows > storage * DEFLATE_MOST / s->width) ||
	    (!s->stored && kind == CT_COLUMN_TEXT && rows > 0))
		return bad(d, "'%s' claims more data than the file has", s->name);
	return 0;
}

static int read_values(struct reader *d, struct set *s, struct ct_frame *f, const char *link)
{
	const char *kind = attribute(d, s->id, "kind"), *unit = attribute(d, s->id, "unit"),
		   *name = attribute(d, s->id, "name");
	int type = kind_of(kind);

	if (type < 0)
		return bad(d, "'%s' has no known 'kind'", s->name);
	s->heap_path = attribute(d, s->id, "heap");
	CT_TRY(inspect(d, s, (enum ct_column_type)type));
	if (f->n_columns == 0)
		f->n_rows = s->rows;
	if (s->rows != f->n_rows)
		return bad(d, "'%s' has %zu rows, the columns before it %zu", s->name, s->rows, f->n_rows);
	s->column = ct_frame_new(f, &d->r->arena, name ? name : link, unit ? unit : "", (enum ct_column_type)type);
	return type == CT_COLUMN_CODE || type == CT_COLUMN_TEXT ? read_texts(d, s) : read_numbers(d, s);
}

static int read_column(struct reader *d, hid_t group, const char *where, const char *link, struct ct_frame *f)
{
	struct set s = { .id = H5Dopen2(group, link, H5P_DEFAULT), .space = H5I_INVALID_HID, .type = H5I_INVALID_HID };
	int rc;

	s.name = ct_result_text(d->r, "%s/%s", where, link);
	if (s.id >= 0) {
		s.space = H5Dget_space(s.id);
		s.type = H5Dget_type(s.id);
	}
	rc = s.space < 0 || s.type < 0 ? damaged(d, s.name) : read_values(d, &s, f, link);
	close_id(s.type);
	close_id(s.space);
	close_id(s.id);
	return rc;
}

static int read_columns(struct reader *d, hid_t group, const char *where, struct ct_frame *f)
{
	H5G_info_t info;
	char *link = ct_calloc(NAME_BYTES, 1);
	int rc = H5Gget_info(group, &info) < 0 ? damaged(d, where) : 0;

	for (hsize_t i = 0; !rc && i < info.nlinks; i++) {
		ssize_t n =
		    H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, link, NAME_BYTES, H5P_DEFAULT);

		rc = n <= 0 || n >= NAME_BYTES ? damaged(d, where) : read_column(d, group, where, link, f);
	}
	free(link);
	return rc;
}

/* ---- the parts */

/* The group, or negative: the error is recorded. */
static hid_t open_group(struct reader *d, const char *name)
{
	hid_t g = H5Lexists(d->file, name, H5P_DEFAULT) > 0 ? H5Gopen2(d->file, name, H5P_DEFAULT) : H5I_INVALID_HID;

	if (g < 0)
		bad(d, "the group '%s' is missing: not a complete result", name);
	return g;
}

static int read_frame(struct reader *d, const char *name, struct ct_frame *f, const char *required)
{
	hid_t g = open_group(d, name);
	int rc = g < 0 ? (int)d->err->code : read_columns(d, g, name, f);

	close_id(g);
	if (!rc && !ct_frame_column(f, required))
		rc = bad(d, "'%s' has no column '%s'", name, required);
	return rc;
}

static int read_metric(struct reader *d, hid_t group, int i)
{
	const char *key = ct_metric_info[i].key;

	if (ct_metric_is_optional(i) && H5Lexists(group, key, H5P_DEFAULT) == 0) {
		d->r->summary[i] = NAN;
		return 0;
	}
	hid_t set = H5Lexists(group, key, H5P_DEFAULT) > 0 ? H5Dopen2(group, key, H5P_DEFAULT) : H5I_INVALID_HID;
	hid_t space = set < 0 ? H5I_INVALID_HID : H5Dget_space(set);
	int ok = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
		 H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &d->r->summary[i]) >= 0;

	close_id(space);
	close_id(set);
	return ok ? 0 : bad(d, "the metric 'summary/%s' is missing or no number", key);
}

static int read_summary(struct reader *d)
{
	hid_t g = open_group(d, "summary");
	int rc = g < 0 ? (int)d->err->code : 0;

	for (int i = 0; i < CT_METRIC_COUNT && !rc; i++)
		rc = read_metric(d, g, i);
	close_id(g);
	return rc;
}

/* A scalar data set of text. */
static int read_text(struct reader *d, hid_t set, hid_t type, const char **out)
{
	size_t n = H5Tget_size(type);
	hid_t memory = ct_hdf5_text_type(n);
	char *s = ct_arena_alloc(&d->r->arena, n + 1, 1);
	int ok = memory >= 0 && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, s) >= 0;

	close_id(memory);
	*out = s;
	return ok;
}

static int read_config(struct reader *d, hid_t manifest)
{
	hid_t set = H5Lexists(manifest, "config", H5P_DEFAULT) > 0 ? H5Dopen2(manifest, "config", H5P_DEFAULT)
								   : H5I_INVALID_HID;
	hid_t space = set < 0 ? H5I_INVALID_HID : H5Dget_space(set),
	      type = set < 0 ? H5I_INVALID_HID : H5Dget_type(set);
	int ok = space >= 0 && type >= 0 && H5Sget_simple_extent_npoints(space) == 1 && is_our_text(type);

	if (ok)
		ok = read_text(d, set, type, &d->r->config_yaml);
	close_id(type);
	close_id(space);
	close_id(set);
	return ok ? 0 : bad(d, "the text 'manifest/config' is missing or not readable");
}

static int read_warnings(struct reader *d, hid_t manifest)
{
	struct ct_frame f = { 0 };

	if (H5Lexists(manifest, "warnings", H5P_DEFAULT) <= 0)
		return 0;
	CT_TRY(read_column(d, manifest, "manifest", "warnings", &f));
	if (f.column[0].type != CT_COLUMN_TEXT && f.column[0].type != CT_COLUMN_CODE)
		return bad(d, "'manifest/warnings' is no text");
	for (size_t i = 0; i < f.n_rows; i++)
		ct_result_warn(d->r, ct_cell_text(&f.column[0], i));
	return 0;
}

static int read_import(struct reader *d, hid_t manifest)
{
	hid_t g = H5Lexists(manifest, "import", H5P_DEFAULT) > 0 ? H5Gopen2(manifest, "import", H5P_DEFAULT)
								 : H5I_INVALID_HID;
	int rc = g < 0 ? bad(d, "the group 'manifest/import' is missing: not a complete result")
		       : read_pairs(d, g, "manifest/import", CT_RESULT_IMPORT);

	close_id(g);
	return rc;
}

static int read_manifest(struct reader *d)
{
	hid_t g = open_group(d, "manifest");
	int rc = g < 0 ? (int)d->err->code : read_pairs(d, g, "manifest", CT_RESULT_MANIFEST);

	if (!rc)
		rc = read_config(d, g);
	if (!rc)
		rc = read_warnings(d, g);
	if (!rc)
		rc = read_import(d, g);
	close_id(g);
	return rc;
}

static int read_perf(struct reader *d)
{
	hid_t g;
	int rc;

	if (H5Lexists(d->file, "perf", H5P_DEFAULT) <= 0)
		return 0;
	g = open_group(d, "perf");
	rc = g < 0 ? (int)d->err->code : read_pairs(d, g, "perf", CT_RESULT_PERF);
	close_id(g);
	return rc;
}

static int read_digest(struct reader *d, const char *name, char out[CT_DIGEST_TEXT])
{
	const char *s = attribute(d, d->file, name);

	if (!s || strlen(s) >= CT_DIGEST_TEXT)
		return bad(d, "the attribute '%s' is missing or not a digest", name);
	snprintf(out, CT_DIGEST_TEXT, "%s", s);
	return 0;
}

static int read_head(struct reader *d)
{
	const char *format = attribute(d, d->file, "format"), *version = attribute(d, d->file, "version"),
		   *complete = attribute(d, d->file, "complete"), *partial = attribute(d, d->file, "partial");
	char want[16];

	snprintf(want, sizeof want, "%d", CT_RESULT_VERSION);
	if (!format || strcmp(format, CT_RESULT_FORMAT) != 0)
		return bad(d, "an HDF5 file, but not a result (its attribute 'format' is not '%s')", CT_RESULT_FORMAT);
	if (!version || strcmp(version, want) != 0)
		return bad(d, "a result of format version '%s', this program reads version %s", version ? version : "?",
			   want);
	if (!complete || strcmp(complete, "1") != 0)
		return bad(d, "an incomplete result: its writer was interrupted");
	if (!partial)
		return bad(d, "the attribute 'partial' is missing");
	d->r->partial = strcmp(partial, "0") != 0;
	CT_TRY(read_digest(d, "digest", d->r->digest));
	CT_TRY(read_digest(d, "config_digest", d->r->config_digest));
	return read_digest(d, "input_digest", d->r->input_digest);
}

static int read_all(struct reader *d)
{
	CT_TRY(read_head(d));
	CT_TRY(read_manifest(d));
	CT_TRY(read_summary(d));
	CT_TRY(read_frame(d, "jobs", &d->r->jobs, "job_id"));
	CT_TRY(read_frame(d, "series", &d->r->series, "time"));
	if (H5Lexists(d->file, "events", H5P_DEFAULT) > 0)
		CT_TRY(read_frame(d, "events", &d->r->events, "time"));
	if (H5Lexists(d->file, "decisions", H5P_DEFAULT) > 0) {
		CT_TRY(read_frame(d, "decisions", &d->r->decisions, "time"));
		CT_TRY(read_frame(d, "reasons", &d->r->reasons, "name"));
		CT_TRY(read_frame(d, "stretches", &d->r->stretches, "time"));
	}
	return read_perf(d);
}

/* ---- before HDF5 looks at it */

/* "cotenant-result 1", then length and hash of what follows. */
static int parse_block(struct reader *d, char *block, unsigned long long *bytes, char digest[CT_DIGEST_TEXT])
{
	static const char format[] = CT_RESULT_FORMAT " ", hdf5[] = "\x89HDF\r\n\x1a\n";
	char exact[CT_RESULT_BLOCK];
	int version;

	if (memcmp(block, hdf5, sizeof hdf5 - 1) == 0)
		return bad(d, "an HDF5 file, but not a result");
	if (strncmp(block, format, sizeof format - 1) != 0)
		return bad(d, "not a result: it does not begin with '" CT_RESULT_FORMAT "'");
	if (sscanf(block + sizeof format - 1, "%9d\n%19llu %64[0-9a-f]\n", &version, bytes, digest) != 3)
		return bad(d, "damaged: its first %d bytes are not those of a result", CT_RESULT_BLOCK);
	ct_result_block(exact, *bytes, digest);
	if (version == CT_RESULT_VERSION && memcmp(block, exact, sizeof exact) != 0)
		return bad(d, "damaged in its first %d bytes", CT_RESULT_BLOCK);
	if (version != CT_RESULT_VERSION)
		return bad(d, "a result of format version %d, this program reads version %d", version,
			   CT_RESULT_VERSION);
	return 0;
}

static int check_content(struct reader *d, FILE *f, unsigned long long want, const char *digest)
{
	unsigned long long bytes = 0;
	char *buffer = ct_calloc(BLOCK_BYTES, 1), got[CT_DIGEST_TEXT];
	struct ct_digest sum;
	size_t n;

	ct_digest_init(&sum);
	while ((n = fread(buffer, 1, BLOCK_BYTES, f)) > 0) {
		ct_digest_bytes(&sum, buffer, n);
		bytes += n;
	}
	ct_digest_final(&sum, got);
	free(buffer);
	if (ferror(f))
		return bad(d, "cannot be read: %s", strerror(errno));
	if (bytes < want)
		return bad(d, "truncated: %llu of %llu bytes", bytes + CT_RESULT_BLOCK, want + CT_RESULT_BLOCK);
	if (bytes > want || strcmp(got, digest) != 0)
		return bad(d, "damaged, or changed since it was written");
	return 0;
}

static int check_stream(struct reader *d, FILE *f)
{
	char block[CT_RESULT_BLOCK + 1] = "", digest[CT_DIGEST_TEXT] = "";
	unsigned long long bytes = 0;
	size_t n = fread(block, 1, CT_RESULT_BLOCK, f);

	if (ferror(f))
		return bad(d, "cannot be read: %s", strerror(errno));
	if (n == 0)
		return bad(d, "an empty file, not a result");
	if (n < CT_RESULT_BLOCK && strncmp(block, CT_RESULT_FORMAT, n < 16 ? n : 15) == 0)
		return bad(d, "truncated: only %zu bytes", n);
	CT_TRY(parse_block(d, block, &bytes, digest));
	return check_content(d, f, bytes, digest);
}

static int check_file(struct reader *d, const char *path)
{
	FILE *f = fopen(path, "rb");
	int rc;

	if (!f)
		return bad(d, "cannot be opened: %s", strerror(errno));
	rc = check_stream(d, f);
	fclose(f);
	return rc;
}

static int open_and_read(struct reader *d, const char *path)
{
	char reason[200];
	int rc;

	d->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	if (d->file < 0) {
		ct_hdf5_reason(reason, sizeof reason);
		return bad(d, "HDF5 cannot open it%s%s", *reason ? ": " : "", reason);
	}
	rc = read_all(d);
	H5Fclose(d->file);
	return rc;
}

int ct_result_read_h5(const char *path, struct ct_result *r, struct ct_err *err)
{
	struct reader d = { .r = r, .err = err, .at = { .file = path } };
	struct ct_hdf5_quiet quiet;
	int rc;

	memset(r, 0, sizeof *r);
	CT_TRY(check_file(&d, path));
	ct_hdf5_quiet_begin(&quiet);
	rc = open_and_read(&d, path);
	ct_hdf5_quiet_end(&quiet);
	if (rc)
		ct_result_fini(r);
	return rc;
}
