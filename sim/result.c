/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/result.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void ct_result_fini(struct ct_result *r)
{
	ct_arena_fini(&r->arena);
	memset(r, 0, sizeof *r);
}

const char *ct_result_text(struct ct_result *r, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	CT_CHECK(NULL, n >= 0, "text of a result cannot be formatted");
	s = ct_arena_alloc(&r->arena, (size_t)n + 1, 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

/* Growing arrays in the arena: the old one stays behind, which for the few dozen
 * entries of a manifest does not matter. */
static void *grown(struct ct_arena *a, void *p, size_t n, size_t *cap, size_t size)
{
	void *q;

	if (n < *cap)
		return p;
	*cap = 2 * *cap + 16;
	q = ct_arena_alloc(a, *cap * size, _Alignof(max_align_t));
	if (n)
		memcpy(q, p, n * size);
	return q;
}

struct part {
	struct ct_pair **pair;
	size_t *n, *cap;
};

static struct part part_of(struct ct_result *r, enum ct_result_part which)
{
	switch (which) {
	case CT_RESULT_IMPORT:
		return (struct part){ &r->import, &r->n_import, &r->cap_import };
	case CT_RESULT_PERF:
		return (struct part){ &r->perf, &r->n_perf, &r->cap_perf };
	case CT_RESULT_MANIFEST:
		break;
	}
	return (struct part){ &r->manifest, &r->n_manifest, &r->cap_manifest };
}

static struct ct_pair *find(const struct part *p, const char *key)
{
	for (size_t i = 0; i < *p->n; i++)
		if (strcmp((*p->pair)[i].key, key) == 0)
			return &(*p->pair)[i];
	return NULL;
}

void ct_result_add(struct ct_result *r, enum ct_result_part which, const char *key, const char *value, int is_number)
{
	struct part p = part_of(r, which);
	struct ct_pair *e = find(&p, key);

	if (!e) {
		*p.pair = grown(&r->arena, *p.pair, *p.n, p.cap, sizeof **p.pair);
		e = &(*p.pair)[(*p.n)++];
		e->key = ct_arena_text(&r->arena, key, strlen(key));
	}
	e->value = ct_arena_text(&r->arena, value, strlen(value));
	e->is_number = is_number;
}

const char *ct_result_get(const struct ct_result *r, enum ct_result_part which, const char *key)
{
	struct ct_result view = *r; /* part_of() hands out pointers for writing, too */
	struct part p = part_of(&view, which);
	const struct ct_pair *e = find(&p, key);

	return e ? e->value : NULL;
}

void ct_result_warn(struct ct_result *r, const char *text)
{
	r->warnings = grown(&r->arena, r->warnings, r->n_warnings, &r->cap_warnings, sizeof *r->warnings);
	r->warnings[r->n_warnings++] = ct_arena_text(&r->arena, text, strlen(text));
}

/* ---- the digest: of the values, whichever way a column holds them */

static const char *const type_name[CT_COLUMN_TYPES] = { "real", "integer", "time", "code", "text" };

static int same_cell(const struct ct_column *c, size_t i)
{
	if (c->type == CT_COLUMN_CODE)
		return c->v.code[i] == c->v.code[0];
	if (c->type == CT_COLUMN_F64) /* as the digest sees it: one NaN, one zero */
		return c->v.f64[i] == c->v.f64[0] || (isnan(c->v.f64[i]) && isnan(c->v.f64[0]));
	return c->v.i64[i] == c->v.i64[0];
}

/* Have all rows one value? Stops at the first that differs. */
static int all_equal(const struct ct_column *c, size_t rows)
{
	if (c->constant || c->type == CT_COLUMN_TEXT)
		return c->constant;
	for (size_t i = 1; i < rows; i++)
		if (!same_cell(c, i))
			return 0;
	return rows > 0;
}

/* Codes in as few bytes as the dictionary allows: a column of states is one byte
 * a row, not four. */
static void digest_codes(struct ct_digest *d, const struct ct_column *c, size_t rows)
{
	size_t width = c->n_names <= 1u << 8 ? 1 : c->n_names <= 1u << 16 ? 2 : 4;
	unsigned char block[4096];
	size_t used = 0;

	for (size_t i = 0; i < rows; i++) {
		uint32_t code = c->v.code[i];

		for (size_t k = 0; k < width; k++)
			block[used++] = (unsigned char)(code >> 8 * k);
		if (used == sizeof block) {
			ct_digest_bytes(d, block, used);
			used = 0;
		}
	}
	ct_digest_bytes(d, block, used);
}

static void digest_values(struct ct_digest *d, const struct ct_column *c, size_t rows)
{
	switch (c->type) {
	case CT_COLUMN_F64:
		ct_digest_f64_array(d, c->v.f64, rows);
		break;
	case CT_COLUMN_I64:
	case CT_COLUMN_TIME:
		ct_digest_i64_array(d, c->v.i64, rows);
		break;
	case CT_COLUMN_CODE:
		digest_codes(d, c, rows);
		break;
	case CT_COLUMN_TEXT:
		ct_digest_i64(d, (int64_t)c->heap_bytes);
		ct_digest_bytes(d, c->heap, c->heap_bytes);
		break;
	case CT_COLUMN_TYPES:
		break;
	}
}

static void digest_column(struct ct_digest *d, const struct ct_column *c, size_t rows)
{
	int equal = all_equal(c, rows);

	ct_digest_text(d, c->name);
	ct_digest_text(d, c->unit);
	ct_digest_text(d, type_name[c->type]);
	ct_digest_i64(d, equal);
	if (c->type == CT_COLUMN_CODE) {
		ct_digest_i64(d, c->n_names);
		for (uint32_t i = 0; i < c->n_names; i++)
			ct_digest_text(d, c->names[i]);
	}
	digest_values(d, c, equal ? 1 : rows);
}

static void digest_frame(struct ct_digest *d, const char *name, const struct ct_frame *f)
{
	ct_digest_text(d, name);
	ct_digest_i64(d, (int64_t)f->n_columns);
	ct_digest_i64(d, (int64_t)f->n_rows);
	for (size_t i = 0; i < f->n_columns; i++)
		digest_column(d, &f->column[i], f->n_rows);
}

void ct_result_digest(const struct ct_result *r, char out[CT_DIGEST_TEXT])
{
	struct ct_digest d;

	ct_digest_init(&d);
	ct_digest_text(&d, "cotenant result digest 1");
	ct_digest_text(&d, r->config_digest);
	ct_digest_text(&d, r->input_digest);
	ct_digest_i64(&d, r->partial != 0);
	for (int i = 0; i < CT_METRIC_COUNT; i++) {
		ct_digest_text(&d, ct_metric_info[i].key);
		ct_digest_f64(&d, r->summary[i]);
	}
	digest_frame(&d, "jobs", &r->jobs);
	digest_frame(&d, "series", &r->series);
	digest_frame(&d, "events", &r->events);
	ct_digest_final(&d, out);
}

static void digest_of_text(const char *s, char out[CT_DIGEST_TEXT])
{
	struct ct_digest d;

	ct_digest_init(&d);
	ct_digest_text(&d, s);
	ct_digest_final(&d, out);
}

void ct_result_seal(struct ct_result *r, const char *config_digest_text, const char *input_digests)
{
	digest_of_text(config_digest_text, r->config_digest);
	digest_of_text(input_digests, r->input_digest);
	ct_result_digest(r, r->digest);
}
