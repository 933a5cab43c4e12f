/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/result_frame.h"

#include "sim/strings.h"

#include <stdlib.h>
#include <string.h>

void ct_frame_reserve(struct ct_frame *f, struct ct_arena *a, size_t n)
{
	struct ct_column *c;

	if (f->n_columns + n <= f->cap_columns)
		return;
	f->cap_columns = f->n_columns + n;
	c = CT_NEW(a, struct ct_column, f->cap_columns);
	if (f->n_columns)
		memcpy(c, f->column, f->n_columns * sizeof *c);
	f->column = c;
}

struct ct_column *ct_frame_new(struct ct_frame *f, struct ct_arena *a, const char *name, const char *unit,
			       enum ct_column_type type)
{
	struct ct_column *c;

	if (f->n_columns == f->cap_columns)
		ct_frame_reserve(f, a, f->n_columns + 8);
	c = &f->column[f->n_columns++];
	memset(c, 0, sizeof *c);
	c->name = ct_arena_text(a, name, strlen(name));
	c->unit = ct_arena_text(a, unit, strlen(unit));
	c->type = type;
	return c;
}

const struct ct_column *ct_frame_column(const struct ct_frame *f, const char *name)
{
	for (size_t i = 0; i < f->n_columns; i++)
		if (strcmp(f->column[i].name, name) == 0)
			return &f->column[i];
	return NULL;
}

/* ---- numbers */

void ct_fill_put(struct ct_fill *f, struct ct_arena *a, size_t rows, const void *block, size_t n)
{
	const uint64_t *b = block;

	if (n == 0)
		return;
	if (!f->all) {
		size_t same = 0;

		if (f->done == 0)
			f->first = b[0];
		while (same < n && b[same] == f->first)
			same++;
		if (same == n) {
			f->done += n;
			return;
		}
		f->all = CT_NEW(a, uint64_t, rows);
		for (size_t i = 0; i < f->done; i++)
			f->all[i] = f->first;
	}
	memcpy(f->all + f->done, b, n * sizeof *b);
	f->done += n;
}

void ct_fill_copy(struct ct_fill *f, const struct ct_fill *from, struct ct_arena *a, size_t rows)
{
	*f = *from;
	if (from->all) {
		f->all = CT_NEW(a, uint64_t, rows);
		memcpy(f->all, from->all, from->done * sizeof *f->all);
	}
}

void ct_fill_end(struct ct_fill *f, struct ct_arena *a, struct ct_column *c)
{
	c->constant = !f->all && f->done > 0;
	if (c->constant) {
		f->all = CT_NEW(a, uint64_t, 1);
		f->all[0] = f->first;
	}
	c->v.i64 = (const int64_t *)(const void *)f->all;
}

struct ct_column *ct_frame_add_f64(struct ct_frame *f, struct ct_arena *a, const char *name, const char *unit,
				   const double *v)
{
	struct ct_column *c = ct_frame_new(f, a, name, unit, CT_COLUMN_F64);
	struct ct_fill fill = { 0 };

	ct_fill_put(&fill, a, f->n_rows, v, f->n_rows);
	ct_fill_end(&fill, a, c);
	return c;
}

struct ct_column *ct_frame_add_i64(struct ct_frame *f, struct ct_arena *a, const char *name, const char *unit,
				   enum ct_column_type type, const int64_t *v)
{
	struct ct_column *c = ct_frame_new(f, a, name, unit, type);
	struct ct_fill fill = { 0 };

	ct_fill_put(&fill, a, f->n_rows, v, f->n_rows);
	ct_fill_end(&fill, a, c);
	return c;
}

/* ---- codes */

void ct_coder_init(struct ct_coder *k, size_t numbers, size_t rows)
{
	*k = (struct ct_coder){ .remap = ct_calloc(numbers, sizeof *k->remap), .rows = rows };
}

uint32_t ct_coder_put(struct ct_coder *k, struct ct_arena *a, uint32_t number, const char *text, int copy)
{
	uint32_t code = k->remap[number];

	if (code == 0) {
		CT_GROW(k->names, k->cap_names, k->n_names + 1);
		k->names[k->n_names++] = copy ? ct_arena_text(a, text, strlen(text)) : text;
		k->remap[number] = code = (uint32_t)k->n_names;
	}
	code--;
	if (k->rows == 0)
		return code;
	if (code && !k->all)
		k->all = CT_NEW(a, uint32_t, k->rows); /* zeros, as all rows so far */
	if (k->all)
		k->all[k->done] = code;
	k->done++;
	return code;
}

void ct_coder_end(struct ct_coder *k, struct ct_arena *a, struct ct_column *c)
{
	const char **names = CT_NEW(a, const char *, k->n_names);

	if (k->n_names)
		memcpy(names, k->names, k->n_names * sizeof *names);
	c->names = names;
	c->n_names = (uint32_t)k->n_names;
	c->constant = !k->all && k->done > 0;
	c->v.code = c->constant ? CT_NEW(a, uint32_t, 1) : k->all;
	ct_coder_fini(k);
}

void ct_coder_fini(struct ct_coder *k)
{
	free(k->names);
	free(k->remap);
	*k = (struct ct_coder){ 0 };
}

/* ---- texts */

void ct_texts_init(struct ct_texts *t, struct ct_arena *a, size_t rows)
{
	*t = (struct ct_texts){ .at = CT_NEW(a, size_t, rows) };
}

char *ct_texts_room(struct ct_texts *t, size_t n)
{
	CT_GROW(t->heap, t->cap, t->used + n + 1);
	return t->heap + t->used;
}

void ct_texts_put(struct ct_texts *t, size_t n)
{
	t->at[t->done++] = t->used;
	t->heap[t->used + n] = '\0';
	t->used += n + 1;
}

void ct_texts_end(struct ct_texts *t, struct ct_arena *a, struct ct_column *c)
{
	c->v.at = t->at;
	c->heap = ct_arena_text(a, t->heap, t->used);
	c->heap_bytes = t->used;
	free(t->heap);
	t->heap = NULL;
}

static void add_texts(struct ct_column *c, struct ct_arena *a, size_t rows, const char *const *v)
{
	struct ct_texts t;

	ct_texts_init(&t, a, rows);
	for (size_t i = 0; i < rows; i++) {
		size_t n = strlen(v[i]);

		memcpy(ct_texts_room(&t, n), v[i], n);
		ct_texts_put(&t, n);
	}
	ct_texts_end(&t, a, c);
}

/* The dictionary is found by hashing; runs of one text are looked up once. */
static void add_codes(struct ct_column *c, struct ct_arena *a, size_t rows, const char *const *v)
{
	struct ct_strings s;
	struct ct_coder k;
	uint32_t number = 0;

	ct_strings_init(&s);
	ct_coder_init(&k, rows + 1, rows); /* number 0 is the empty text */
	for (size_t i = 0; i < rows; i++) {
		if (i == 0 || strcmp(v[i], v[i - 1]) != 0)
			number = ct_strings_add(&s, v[i], strlen(v[i]));
		ct_coder_put(&k, a, number, v[i], 1);
	}
	ct_coder_end(&k, a, c);
	ct_strings_fini(&s);
}

struct ct_column *ct_frame_add_text(struct ct_frame *f, struct ct_arena *a, const char *name, enum ct_column_type type,
				    const char *const *v)
{
	struct ct_column *c = ct_frame_new(f, a, name, "", type);

	if (type == CT_COLUMN_TEXT)
		add_texts(c, a, f->n_rows, v);
	else
		add_codes(c, a, f->n_rows, v);
	return c;
}
