/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The digest of a result: of the values, whichever way a column holds them.
 *
 * Every column has a hash of its own, so that all can be fed in one pass over the
 * jobs. A column begins with how often its first value is repeated; half the
 * columns of a run have one value in all rows, and cost nothing. */
#include "sim/result_digest.h"

#include <endian.h>
#include <math.h>
#include <string.h>

enum { CELLS = 512 }; /* converted at a time */

static const char *const type_name[CT_COLUMN_TYPES] = { "real", "integer", "time", "code", "text" };

void ct_column_digest_init(struct ct_column_digest *k, const char *name, const char *unit, enum ct_column_type type)
{
	*k = (struct ct_column_digest){ .type = type };
	ct_digest_init(&k->d);
	ct_digest_text(&k->d, name);
	ct_digest_text(&k->d, unit);
	ct_digest_text(&k->d, type_name[type]);
}

/* One NaN, one zero. */
static uint64_t normal(enum ct_column_type type, uint64_t bits)
{
	double v;

	if (type != CT_COLUMN_F64)
		return bits;
	memcpy(&v, &bits, sizeof v);
	return isnan(v) ? UINT64_C(0x7ff8000000000000) : v == 0.0 ? 0 : bits;
}

static void put_cells(struct ct_column_digest *k, const uint64_t *cells, size_t n)
{
	uint64_t wide[CELLS];
	uint32_t narrow[CELLS];

	for (size_t at = 0, m; at < n; at += m) {
		m = n - at < CELLS ? n - at : CELLS;
		if (k->type == CT_COLUMN_CODE) {
			for (size_t i = 0; i < m; i++)
				narrow[i] = htole32((uint32_t)cells[at + i]);
			ct_digest_bytes(&k->d, narrow, m * sizeof *narrow);
		} else {
			for (size_t i = 0; i < m; i++)
				wide[i] = htole64(normal(k->type, cells[at + i]));
			ct_digest_bytes(&k->d, wide, m * sizeof *wide);
		}
	}
}

static void put_run(struct ct_column_digest *k)
{
	ct_digest_i64(&k->d, (int64_t)k->run);
	ct_digest_i64(&k->d, (int64_t)k->first);
}

void ct_column_digest_cells(struct ct_column_digest *k, const void *cells, size_t n)
{
	const uint64_t *c = cells;
	size_t same = 0;

	if (n && k->rows == 0)
		k->first = normal(k->type, c[0]);
	k->rows += n;
	if (!k->varied) {
		while (same < n && normal(k->type, c[same]) == k->first)
			same++;
		k->run += same;
		if (same == n)
			return;
		k->varied = 1;
		put_run(k);
	}
	put_cells(k, c + same, n - same);
}

void ct_column_digest_texts(struct ct_column_digest *k, const char *heap, size_t n)
{
	k->varied = 1;
	ct_digest_bytes(&k->d, heap, n);
}

void ct_column_digest_end(struct ct_column_digest *k, const char *const *names, size_t n_names, struct ct_digest *into)
{
	char hex[CT_DIGEST_TEXT];

	if (!k->varied)
		put_run(k);
	ct_digest_i64(&k->d, (int64_t)n_names);
	for (size_t i = 0; i < n_names; i++)
		ct_digest_text(&k->d, names[i]);
	ct_digest_final(&k->d, hex);
	ct_digest_text(into, hex);
}

static void put_codes(struct ct_column_digest *k, const struct ct_column *c, size_t rows)
{
	int64_t cells[CELLS];

	for (size_t at = 0, n; at < rows; at += n) {
		n = rows - at < CELLS ? rows - at : CELLS;
		for (size_t i = 0; i < n; i++)
			cells[i] = c->v.code[c->constant ? 0 : at + i];
		ct_column_digest_cells(k, cells, n);
	}
}

static void put_column(struct ct_digest *d, const struct ct_column *c, size_t rows)
{
	struct ct_column_digest k;

	ct_column_digest_init(&k, c->name, c->unit, c->type);
	if (c->type == CT_COLUMN_TEXT) {
		ct_column_digest_texts(&k, c->heap, c->heap_bytes);
	} else if (c->type == CT_COLUMN_CODE) {
		put_codes(&k, c, rows);
	} else if (c->constant) {
		ct_column_digest_cells(&k, c->v.i64, 1);
		k.run = k.rows = rows;
	} else {
		ct_column_digest_cells(&k, c->v.i64, rows);
	}
	ct_column_digest_end(&k, c->names, c->n_names, d);
}

void ct_frame_digest_begin(struct ct_digest *d, size_t n_columns, size_t n_rows)
{
	ct_digest_init(d);
	ct_digest_i64(d, (int64_t)n_columns);
	ct_digest_i64(d, (int64_t)n_rows);
}

void ct_frame_digest(const struct ct_frame *f, char out[CT_DIGEST_TEXT])
{
	struct ct_digest d;

	ct_frame_digest_begin(&d, f->n_columns, f->n_rows);
	for (size_t i = 0; i < f->n_columns; i++)
		put_column(&d, &f->column[i], f->n_rows);
	ct_digest_final(&d, out);
}

void ct_result_digest(const struct ct_result *r, char out[CT_DIGEST_TEXT])
{
	char jobs[CT_DIGEST_TEXT], series[CT_DIGEST_TEXT], events[CT_DIGEST_TEXT];
	struct ct_digest d;

	if (r->jobs.n_columns || !*r->jobs_digest)
		ct_frame_digest(&r->jobs, jobs);
	else
		memcpy(jobs, r->jobs_digest, sizeof jobs);
	ct_frame_digest(&r->series, series);
	ct_frame_digest(&r->events, events);
	ct_digest_init(&d);
	ct_digest_text(&d, "cotenant result digest 1");
	ct_digest_text(&d, r->config_digest);
	ct_digest_text(&d, r->input_digest);
	ct_digest_i64(&d, r->partial != 0);
	for (int i = 0; i < CT_METRIC_COUNT; i++) {
		if (ct_metric_is_optional(i) && isnan(r->summary[i]))
			continue;
		ct_digest_text(&d, ct_metric_info[i].key);
		ct_digest_f64(&d, r->summary[i]);
	}
	ct_digest_text(&d, jobs);
	ct_digest_text(&d, series);
	ct_digest_text(&d, events);
	ct_digest_final(&d, out);
}
