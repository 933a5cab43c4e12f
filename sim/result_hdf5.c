/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Result files: the writer, and what it shares with the reader.
 *
 * The file is put together in memory (HDF5's core driver) and then written like
 * any other file of ours. A full disk is thus met outside HDF5, which after a
 * failed flush can neither close the file nor forget it. It costs the size of the
 * file, some 50 MB for a million jobs. */
#include "sim/result_hdf5.h"

#include "sim/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SMALL_FRAME = 4096,   /* rows up to which columns are stored plain */
	CHUNK_BYTES = 1 << 19 /* half of HDF5's default chunk cache */
};

const char *const ct_column_kind[CT_COLUMN_TYPES] = {
	[CT_COLUMN_F64] = "real",  [CT_COLUMN_I64] = "integer", [CT_COLUMN_TIME] = "time",
	[CT_COLUMN_CODE] = "code", [CT_COLUMN_TEXT] = "text",
};

void ct_hdf5_quiet_begin(struct ct_hdf5_quiet *q)
{
	CT_CHECK(NULL, H5Eget_auto2(H5E_DEFAULT, &q->func, &q->data) >= 0 && H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0,
		 "HDF5's error handler cannot be set");
}

void ct_hdf5_quiet_end(const struct ct_hdf5_quiet *q)
{
	CT_CHECK(NULL, H5Eset_auto2(H5E_DEFAULT, q->func, q->data) >= 0, "HDF5's error handler cannot be set");
}

struct reason {
	char *out;
	size_t cap;
};

static herr_t keep_reason(unsigned n, const H5E_error2_t *e, void *ctx)
{
	struct reason *r = ctx;

	(void)n;
	snprintf(r->out, r->cap, "%s", e->desc ? e->desc : "");
	return 0;
}

void ct_hdf5_reason(char *out, size_t cap)
{
	struct reason r = { out, cap };

	out[0] = '\0';
	if (H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_reason, &r) < 0)
		out[0] = '\0';
}

hid_t ct_hdf5_text_type(size_t n)
{
	hid_t t = H5Tcopy(H5T_C_S1);

	if (t >= 0 &&
	    (H5Tset_size(t, n) < 0 || H5Tset_cset(t, H5T_CSET_UTF8) < 0 || H5Tset_strpad(t, H5T_STR_NULLPAD) < 0)) {
		H5Tclose(t);
		return H5I_INVALID_HID;
	}
	return t;
}

/* ---- the writer: after the first failure every step is skipped */

struct writer {
	hid_t file;
	int failed;
	char reason[256];
};

static void fail(struct writer *w)
{
	if (!w->failed)
		ct_hdf5_reason(w->reason, sizeof w->reason);
	w->failed = 1;
}

static void done(struct writer *w, herr_t rc)
{
	if (rc < 0)
		fail(w);
}

/* Identifiers pass through; those of skipped steps are negative. */
static hid_t made(struct writer *w, hid_t id)
{
	if (id < 0)
		fail(w);
	return id;
}

static void close_id(struct writer *w, hid_t id)
{
	if (id >= 0)
		done(w, H5Idec_ref(id) < 0 ? -1 : 0);
}

/* Properties of objects: no times, attributes and members in order of creation. */
static hid_t object_properties(struct writer *w, hid_t class)
{
	hid_t p = made(w, H5Pcreate(class));

	if (w->failed)
		return p;
	done(w, H5Pset_obj_track_times(p, 0));
	done(w, H5Pset_attr_creation_order(p, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
	if (class != H5P_DATASET_CREATE)
		done(w, H5Pset_link_creation_order(p, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
	return p;
}

static hid_t make_group(struct writer *w, hid_t parent, const char *name)
{
	hid_t p = object_properties(w, H5P_GROUP_CREATE), g = H5I_INVALID_HID;

	if (!w->failed)
		g = made(w, H5Gcreate2(parent, name, H5P_DEFAULT, p, H5P_DEFAULT));
	close_id(w, p);
	return g;
}

static void put_attribute(struct writer *w, hid_t object, const char *name, hid_t type, const void *value)
{
	hid_t space = H5I_INVALID_HID, a = H5I_INVALID_HID;

	if (!w->failed)
		space = made(w, H5Screate(H5S_SCALAR));
	if (!w->failed)
		a = made(w, H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
	if (!w->failed)
		done(w, H5Awrite(a, type, value));
	close_id(w, a);
	close_id(w, space);
}

static void put_text_attribute(struct writer *w, hid_t object, const char *name, const char *text)
{
	hid_t type = w->failed ? H5I_INVALID_HID : made(w, ct_hdf5_text_type(H5T_VARIABLE));

	put_attribute(w, object, name, type, &text);
	close_id(w, type);
}

static void put_int_attribute(struct writer *w, hid_t object, const char *name, int64_t v)
{
	put_attribute(w, object, name, H5T_NATIVE_INT64, &v);
}

/* A number that reads back as the same text becomes a number, anything else text. */
static void put_pair(struct writer *w, hid_t object, const struct ct_pair *p)
{
	char text[CT_F64_TEXT];
	int64_t i;
	double v;

	if (p->is_number) {
		i = strtoll(p->value, NULL, 10);
		snprintf(text, sizeof text, "%" PRId64, i);
		if (strcmp(text, p->value) == 0) {
			put_int_attribute(w, object, p->key, i);
			return;
		}
		v = strtod(p->value, NULL);
		text[ct_f64_format(v, text)] = '\0';
		if (strcmp(text, p->value) == 0) {
			put_attribute(w, object, p->key, H5T_NATIVE_DOUBLE, &v);
			return;
		}
	}
	put_text_attribute(w, object, p->key, p->value);
}

static void put_pairs(struct writer *w, hid_t object, const struct ct_pair *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_pair(w, object, &p[i]);
}

/* ---- columns */

/* How a column is stored, and blocks of rows in that form. */
struct store {
	const struct ct_column *column;
	size_t rows;
	hid_t type, space, properties, set; /* type: of the elements in memory */
	size_t width;                       /* bytes of one element in memory */
	size_t chunk;                       /* rows written at a time */
	int narrow;                         /* numbers and offsets of 4 bytes */
	size_t *offset;                     /* texts: of every row in a heap beside the column; NULL: as they are */
	char *heap;
	size_t heap_bytes;
	void *block;
};

static size_t longest_text(const struct ct_column *c, size_t rows)
{
	size_t longest = 1;

	if (c->type == CT_COLUMN_CODE)
		rows = c->n_names;
	for (size_t i = 0; i < rows; i++) {
		size_t n = strlen(c->type == CT_COLUMN_CODE ? c->names[i] : ct_cell_text(c, i));

		longest = n > longest ? n : longest;
	}
	return longest;
}

/* Padding is cheap (it compresses to nothing) until one row of some kB meets a
 * million rows. */
static int too_much_padding(const struct ct_column *c, size_t rows, size_t width)
{
	size_t used = 0, free_bytes = (size_t)64 << 20;

	if (c->constant || rows <= free_bytes / width)
		return 0;
	for (size_t i = 0; i < rows; i++)
		used += strlen(ct_cell_text(c, i));
	return rows > (free_bytes + 8 * used) / width;
}

/* Then the column holds where each row's text begins in a data set of bytes. */
static void make_heap(struct store *s)
{
	const struct ct_column *c = s->column;
	size_t cap = 0, *at = ct_calloc(c->n_names, sizeof *at);

	s->offset = ct_calloc(s->rows, sizeof *s->offset);
	if (c->type == CT_COLUMN_TEXT) {
		s->heap_bytes = c->heap_bytes;
		s->heap = ct_calloc(c->heap_bytes, 1);
		memcpy(s->heap, c->heap, c->heap_bytes);
	}
	for (size_t i = 0; i < c->n_names; i++) {
		size_t n = strlen(c->names[i]) + 1;

		at[i] = s->heap_bytes;
		CT_GROW(s->heap, cap, s->heap_bytes + n);
		memcpy(s->heap + s->heap_bytes, c->names[i], n);
		s->heap_bytes += n;
	}
	for (size_t i = 0; i < s->rows; i++)
		s->offset[i] = c->type == CT_COLUMN_TEXT ? c->v.at[i] : at[c->v.code[i]];
	free(at);
}

static int is_text(const struct ct_column *c)
{
	return c->type == CT_COLUMN_CODE || c->type == CT_COLUMN_TEXT;
}

static double seconds_or_nan(ct_time t)
{
	return t == CT_NO_TIME ? NAN : ct_seconds(t);
}

/* Rows [at, at + n) of a narrow column. HDF5 converts, too, with a buffer of a MiB that it
 * clears for every column. */
static void fill_narrow(const struct store *s, size_t at, size_t n)
{
	const struct ct_column *c = s->column;
	int32_t *whole = s->block;
	float *real = s->block;

	for (size_t i = 0; i < n; i++) {
		if (s->offset)
			whole[i] = (int32_t)s->offset[at + i];
		else if (c->type == CT_COLUMN_I64)
			whole[i] = (int32_t)ct_cell_i64(c, at + i);
		else
			real[i] = (float)ct_cell_f64(c, at + i);
	}
}

/* Rows [at, at + n) as they are stored. */
static void fill_block(const struct store *s, size_t at, size_t n)
{
	const struct ct_column *c = s->column;

	if (s->narrow) {
		fill_narrow(s, at, n);
	} else if (s->offset) {
		int64_t *to = s->block;

		for (size_t i = 0; i < n; i++)
			to[i] = (int64_t)s->offset[at + i];
	} else if (is_text(c)) {
		char *to = s->block;

		for (size_t i = 0; i < n; i++) /* pads with NUL; a text of full width has none */
			memcpy(memset(to + i * s->width, 0, s->width), ct_cell_text(c, at + i),
			       strnlen(ct_cell_text(c, at + i), s->width));
	} else if (c->type == CT_COLUMN_TIME) {
		double *to = s->block;

		for (size_t i = 0; i < n; i++)
			to[i] = seconds_or_nan(ct_cell_i64(c, at + i));
	} else {
		memcpy(s->block, c->v.i64 + at, n * sizeof *c->v.i64);
	}
}

static void store_properties(struct writer *w, struct store *s)
{
	hsize_t chunk = s->chunk;

	s->properties = object_properties(w, H5P_DATASET_CREATE);
	if (w->failed)
		return;
	if (s->column->constant) {
		fill_block(s, 0, 1);
		done(w, H5Pset_fill_value(s->properties, s->type, s->block));
	} else if (s->rows > SMALL_FRAME) {
		done(w, H5Pset_chunk(s->properties, 1, &chunk));
		if (!is_text(s->column) || s->offset)
			done(w, H5Pset_shuffle(s->properties));
		done(w, H5Pset_deflate(s->properties, 1));
	}
}

static void store_rows(struct writer *w, struct store *s)
{
	for (size_t at = 0, n; at < s->rows && !w->failed; at += n) {
		hsize_t from = at, count;
		hid_t memory;

		n = s->rows - at < s->chunk ? s->rows - at : s->chunk;
		count = n;
		fill_block(s, at, n);
		done(w, H5Sselect_hyperslab(s->space, H5S_SELECT_SET, &from, NULL, &count, NULL));
		memory = made(w, H5Screate_simple(1, &count, NULL));
		if (!w->failed)
			done(w, H5Dwrite(s->set, s->type, memory, s->space, H5P_DEFAULT, s->block));
		close_id(w, memory);
	}
}

static hid_t number_type(const struct store *s)
{
	if (s->offset || s->column->type == CT_COLUMN_I64)
		return s->narrow ? H5T_NATIVE_INT32 : H5T_NATIVE_INT64;
	return s->narrow ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

static void store_type(struct writer *w, struct store *s)
{
	const struct ct_column *c = s->column;

	s->width = is_text(c) ? longest_text(c, s->rows) : 8;
	if (is_text(c) && s->rows && !c->constant && (c->narrow || too_much_padding(c, s->rows, s->width)))
		make_heap(s);
	if (is_text(c) && !s->offset) {
		s->type = made(w, ct_hdf5_text_type(s->width));
	} else {
		s->narrow = c->narrow && s->heap_bytes <= INT32_MAX;
		s->width = s->narrow ? 4 : 8;
		s->type = made(w, H5Tcopy(number_type(s)));
	}
	s->chunk = CHUNK_BYTES / s->width ? CHUNK_BYTES / s->width : 1;
	if (s->chunk > s->rows)
		s->chunk = s->rows ? s->rows : 1;
	s->block = ct_calloc(s->chunk, s->width);
}

/* The bytes, compressed, as data set NAME.text of the group /heap; the column
 * names it in its attribute `heap`. */
static void put_heap(struct writer *w, const struct store *s, const char *frame, const char *link)
{
	size_t n = strlen(frame) + strlen(link) + sizeof "/heap/.";
	char *path = ct_calloc(n, 1);
	hsize_t bytes = s->heap_bytes, chunk = CHUNK_BYTES < bytes ? CHUNK_BYTES : bytes;
	hid_t p = object_properties(w, H5P_DATASET_CREATE), space = made(w, H5Screate_simple(1, &bytes, NULL)),
	      set = H5I_INVALID_HID, g;

	snprintf(path, n, "/heap/%s.%s", frame, link);
	if (!w->failed && H5Lexists(w->file, "heap", H5P_DEFAULT) <= 0) {
		g = make_group(w, w->file, "heap");
		close_id(w, g);
	}
	if (!w->failed && H5Pset_chunk(p, 1, &chunk) >= 0 && H5Pset_deflate(p, 1) >= 0)
		set = made(w, H5Dcreate2(w->file, path, H5T_NATIVE_UINT8, space, H5P_DEFAULT, p, H5P_DEFAULT));
	if (!w->failed)
		done(w, H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, s->heap));
	put_text_attribute(w, s->set, "heap", path);
	close_id(w, set);
	close_id(w, space);
	close_id(w, p);
	free(path);
}

/* Link names cannot hold '/', and "." means the group itself. */
static char *link_name(const char *name)
{
	char *s = ct_calloc(strlen(name) + 2, 1);

	strcpy(s, *name ? name : "_");
	for (char *p = s; *p; p++)
		if (*p == '/')
			*p = '_';
	if (strcmp(s, ".") == 0)
		*s = '_';
	return s;
}

/* Two names that differ in '/' only: the later one gets more "_". */
static char *free_link(hid_t group, const char *name)
{
	char *s = link_name(name);

	while (H5Lexists(group, s, H5P_DEFAULT) > 0) {
		s = ct_realloc_array(s, strlen(s) + 2, 1);
		strcat(s, "_");
	}
	return s;
}

static void put_column(struct writer *w, hid_t group, const char *frame, const struct ct_column *c, size_t rows)
{
	struct store s = { .column = c, .rows = rows, .properties = H5I_INVALID_HID, .set = H5I_INVALID_HID };
	hsize_t n = rows;
	char *link;

	if (w->failed)
		return;
	link = free_link(group, c->name);
	store_type(w, &s);
	s.space = made(w, H5Screate_simple(1, &n, NULL));
	store_properties(w, &s);
	if (!w->failed)
		s.set = made(w, H5Dcreate2(group, link, s.type, s.space, H5P_DEFAULT, s.properties, H5P_DEFAULT));
	if (!w->failed && !c->constant)
		store_rows(w, &s);
	put_text_attribute(w, s.set, "kind", ct_column_kind[c->type]);
	if (s.offset)
		put_heap(w, &s, frame, link);
	if (*c->unit)
		put_text_attribute(w, s.set, "unit", c->unit);
	if (strcmp(link, c->name) != 0)
		put_text_attribute(w, s.set, "name", c->name);
	close_id(w, s.set);
	close_id(w, s.properties);
	close_id(w, s.space);
	close_id(w, s.type);
	free(s.block);
	free(s.offset);
	free(s.heap);
	free(link);
}

static void put_frame(struct writer *w, const char *name, const struct ct_frame *f)
{
	hid_t g;

	if (f->n_columns == 0)
		return;
	g = make_group(w, w->file, name);
	for (size_t i = 0; i < f->n_columns; i++)
		put_column(w, g, name, &f->column[i], f->n_rows);
	close_id(w, g);
}

/* ---- the parts */

static hid_t put_scalar(struct writer *w, hid_t group, const char *name, hid_t type, const void *value)
{
	hid_t p = object_properties(w, H5P_DATASET_CREATE), space = H5I_INVALID_HID, set = H5I_INVALID_HID;

	if (!w->failed)
		space = made(w, H5Screate(H5S_SCALAR));
	if (!w->failed)
		set = made(w, H5Dcreate2(group, name, type, space, H5P_DEFAULT, p, H5P_DEFAULT));
	if (!w->failed)
		done(w, H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value));
	close_id(w, space);
	close_id(w, p);
	return set;
}

static void put_summary(struct writer *w, const struct ct_result *r)
{
	hid_t g = make_group(w, w->file, "summary");

	for (int i = 0; i < CT_METRIC_COUNT; i++) {
		if (ct_metric_is_optional(i) && isnan(r->summary[i]))
			continue;
		hid_t set = put_scalar(w, g, ct_metric_info[i].key, H5T_NATIVE_DOUBLE, &r->summary[i]);

		put_text_attribute(w, set, "unit", ct_metric_info[i].unit);
		put_text_attribute(w, set, "definition", ct_metric_info[i].definition);
		close_id(w, set);
	}
	close_id(w, g);
}

static void put_warnings(struct writer *w, hid_t manifest, const struct ct_result *r)
{
	struct ct_frame f = { .n_rows = r->n_warnings };
	struct ct_arena scratch = { 0 };

	if (r->n_warnings)
		put_column(w, manifest, "manifest",
			   ct_frame_add_text(&f, &scratch, "warnings", CT_COLUMN_TEXT, r->warnings), f.n_rows);
	ct_arena_fini(&scratch);
}

static void put_manifest(struct writer *w, const struct ct_result *r)
{
	hid_t g = make_group(w, w->file, "manifest"), import;
	const char *config = r->config_yaml ? r->config_yaml : "";
	hid_t text = w->failed ? H5I_INVALID_HID : made(w, ct_hdf5_text_type(*config ? strlen(config) : 1));

	put_pairs(w, g, r->manifest, r->n_manifest);
	close_id(w, put_scalar(w, g, "config", text, config));
	put_warnings(w, g, r);
	import = make_group(w, g, "import");
	put_pairs(w, import, r->import, r->n_import);
	close_id(w, import);
	close_id(w, text);
	close_id(w, g);
}

static void put_perf(struct writer *w, const struct ct_result *r)
{
	hid_t g;

	if (r->n_perf == 0)
		return;
	g = make_group(w, w->file, "perf");
	put_pairs(w, g, r->perf, r->n_perf);
	close_id(w, g);
}

static void put_all(struct writer *w, const struct ct_result *r)
{
	put_text_attribute(w, w->file, "format", CT_RESULT_FORMAT);
	put_int_attribute(w, w->file, "version", CT_RESULT_VERSION);
	put_text_attribute(w, w->file, "digest", r->digest);
	put_text_attribute(w, w->file, "config_digest", r->config_digest);
	put_text_attribute(w, w->file, "input_digest", r->input_digest);
	put_int_attribute(w, w->file, "partial", r->partial != 0);
	put_manifest(w, r);
	put_summary(w, r);
	put_frame(w, "jobs", &r->jobs);
	put_frame(w, "series", &r->series);
	put_frame(w, "events", &r->events);
	put_frame(w, "decisions", &r->decisions);
	put_frame(w, "reasons", &r->reasons);
	put_frame(w, "stretches", &r->stretches);
	put_perf(w, r);
	put_int_attribute(w, w->file, "complete", 1);
}

/* An empty file in memory. The oldest format that can hold it, which is HDF5's
 * default: with the flags above that means object headers with check sums (a
 * newer superblock loses its own in H5Fget_file_image() of HDF5 1.10). */
static void writer_begin(struct writer *w)
{
	hid_t access = made(w, H5Pcreate(H5P_FILE_ACCESS)), create = object_properties(w, H5P_FILE_CREATE);

	w->file = H5I_INVALID_HID;
	if (!w->failed)
		done(w, H5Pset_userblock(create, CT_RESULT_BLOCK));
	if (!w->failed)
		done(w, H5Pset_fapl_core(access, (size_t)4 << 20, 0));
	if (!w->failed)
		w->file = made(w, H5Fcreate("cotenant-result", H5F_ACC_TRUNC, create, access));
	close_id(w, create);
	close_id(w, access);
}

/* The bytes of the file, the user block still empty; malloc'ed. HDF5 hands out what
 * follows the user block. */
static char *writer_image(struct writer *w, size_t *n)
{
	char *image = NULL;
	ssize_t bytes = -1;

	if (!w->failed)
		done(w, H5Fflush(w->file, H5F_SCOPE_LOCAL));
	if (!w->failed) {
		bytes = H5Fget_file_image(w->file, NULL, 0);
		done(w, bytes < 0 ? -1 : 0);
	}
	if (!w->failed) {
		image = ct_calloc((size_t)bytes + CT_RESULT_BLOCK, 1);
		done(w, H5Fget_file_image(w->file, image + CT_RESULT_BLOCK, (size_t)bytes) == bytes ? 0 : -1);
	}
	if (w->file >= 0)
		done(w, H5Fclose(w->file));
	*n = bytes < 0 ? 0 : (size_t)bytes + CT_RESULT_BLOCK;
	return image;
}

void ct_result_block(char block[CT_RESULT_BLOCK], unsigned long long bytes, const char *digest)
{
	char text[CT_RESULT_BLOCK];
	int used = snprintf(text, sizeof text, CT_RESULT_FORMAT " %d\n%llu %s\n", CT_RESULT_VERSION, bytes, digest);

	memset(block, '\n', CT_RESULT_BLOCK);
	memcpy(block, text, (size_t)used);
}

static void put_block(char *image, size_t n)
{
	char digest[CT_DIGEST_TEXT];
	struct ct_digest d;

	ct_digest_init(&d);
	ct_digest_bytes(&d, image + CT_RESULT_BLOCK, n - CT_RESULT_BLOCK);
	ct_digest_final(&d, digest);
	ct_result_block(image, n - CT_RESULT_BLOCK, digest);
}

/* What was put together, into the file; ends the writer. */
static int write_file(struct writer *w, const char *path, struct ct_err *err)
{
	struct ct_output o;
	size_t n;
	char *image = writer_image(w, &n);

	if (w->failed) {
		free(image);
		return ct_err_at(err, CT_EIO, NULL, "cannot write '%s': HDF5 failed: %s", path, w->reason);
	}
	put_block(image, n);
	if (ct_output_open(&o, path, err) == 0) {
		ct_output_write(&o, image, n);
		ct_output_close(&o, err);
	}
	free(image);
	return (int)err->code;
}

int ct_result_write_h5(const struct ct_result *r, const char *path, struct ct_err *err)
{
	struct ct_hdf5_quiet quiet;
	struct writer w = { 0 };
	int rc;

	CT_CHECK(NULL, r->jobs.n_columns || !r->jobs.n_rows, "a summarised result has no columns to write");
	ct_hdf5_quiet_begin(&quiet);
	writer_begin(&w);
	put_all(&w, r);
	rc = write_file(&w, path, err);
	ct_hdf5_quiet_end(&quiet);
	return rc;
}

int ct_frame_write_h5(const struct ct_frame *f, const char *format, const char *name, const char *path,
		      struct ct_err *err)
{
	struct ct_hdf5_quiet quiet;
	struct writer w = { 0 };
	int rc;

	ct_hdf5_quiet_begin(&quiet);
	writer_begin(&w);
	put_text_attribute(&w, w.file, "format", format);
	put_int_attribute(&w, w.file, "version", CT_RESULT_VERSION);
	put_frame(&w, name, f);
	put_int_attribute(&w, w.file, "complete", 1);
	rc = write_file(&w, path, err);
	ct_hdf5_quiet_end(&quiet);
	return rc;
}
