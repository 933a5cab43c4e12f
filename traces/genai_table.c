/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/genai_table.h"

#include "sim/nearest.h"
#include "sim/shown.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct ct_genai_rule_text ct_genai_rules[CT_GENAI_RULES] = {
	[CT_GENAI_FIELD_COUNT] = { "dropped_field_count", "more or fewer fields than the header" },
	[CT_GENAI_MISSING_VALUE] = { "dropped_missing_value", "a required value is empty" },
	[CT_GENAI_NOT_A_NUMBER] = { "dropped_not_a_number", "not a number, or not a time" },
	[CT_GENAI_OFF_GRID] = { "dropped_off_grid", "a time that is not one of the trace's 1441 samples" },
	[CT_GENAI_OUT_OF_RANGE] = { "dropped_out_of_range", "a value outside its limits" },
	[CT_GENAI_UNKNOWN_STATUS] = { "dropped_unknown_status", "predict_status that the trace does not have" },
	[CT_GENAI_UNKNOWN_TYPE] = { "dropped_unknown_type", "request_type that the trace does not have" },
	[CT_GENAI_EMPTY_POD] = { "empty_pod", "no container_ip: kept, belongs to no pod" },
	[CT_GENAI_NULL_WORD] = { "null_word", "'NULL' or 'None' read as an empty value" },
	[CT_GENAI_NEGATIVE_MEMORY] = { "negative_memory", "host memory below zero, kept as it is" },
};

void ct_genai_bad(struct ct_genai_rows *r, enum ct_genai_rule rule, size_t column, const char *fmt, ...)
{
	struct ct_loc at = ct_csv_loc(r->in, column == SIZE_MAX ? SIZE_MAX : r->field[column]);
	char text[256];
	va_list ap;

	if (r->bad)
		return;
	r->bad = 1;
	r->g->rule[r->table][rule]++;
	if (r->o->on_bad_row == CT_BAD_ROW_DROP)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	ct_err_add(r->err, CT_ETRACE, &at, "%s", text);
}

static int find(struct ct_genai_rows *r, size_t c)
{
	struct ct_loc at = ct_csv_loc(r->in, SIZE_MAX);
	struct ct_nearest near;
	char b[CT_SHOWN];
	const char *best;

	ct_nearest_init(&near, r->names[c]);
	r->field[c] = SIZE_MAX;
	for (size_t i = 0; i < r->n_fields; i++) {
		struct ct_csv_field f = ct_csv_field(r->in, i);

		if (strcmp(f.s, r->names[c])) {
			ct_nearest_offer(&near, f.s);
			continue;
		}
		if (r->field[c] != SIZE_MAX) {
			at = ct_csv_loc(r->in, i);
			ct_err_add(r->err, CT_ETRACE, &at, "column '%s' stands twice", r->names[c]);
		}
		r->field[c] = i;
	}
	if (r->field[c] != SIZE_MAX)
		return 0;
	best = ct_nearest_word(&near);
	return ct_err_add(r->err, CT_ETRACE, &at, "no column '%s' in this '%s' table%s%s%s", r->names[c],
			  ct_genai_table_name(r->table), best ? "; did you mean '" : "",
			  best ? ct_shown(b, best, strlen(best)) : "", best ? "'?" : "");
}

int ct_genai_rows_open(struct ct_genai_rows *r, const char *const *names, size_t n)
{
	unsigned before = r->err->count;
	int rc = ct_csv_next(r->in, r->err);

	CT_CHECK(NULL, n <= CT_GENAI_COLUMNS, "%zu columns", n);
	if (rc != 1) {
		struct ct_loc at = { .file = ct_csv_loc(r->in, SIZE_MAX).file };

		return rc ? rc : ct_err_add(r->err, CT_ETRACE, &at, "is empty");
	}
	r->names = names;
	r->n = n;
	r->n_fields = ct_csv_fields(r->in);
	for (size_t c = 0; c < n; c++)
		find(r, c);
	return r->err->count == before ? 0 : (int)r->err->code;
}

static void progress(const struct ct_genai_rows *r)
{
	uint64_t done, total;

	if (!r->o->progress || r->g->rows[r->table] % 8192)
		return;
	ct_csv_progress(r->in, &done, &total);
	r->o->progress(r->o->progress_ctx, done, total);
}

int ct_genai_rows_next(struct ct_genai_rows *r)
{
	while ((r->rc = ct_csv_next(r->in, r->err)) == 1) {
		size_t n = ct_csv_fields(r->in);

		r->g->rows[r->table]++;
		r->bad = 0;
		progress(r);
		if (n == r->n_fields)
			return 1;
		ct_genai_bad(r, CT_GENAI_FIELD_COUNT, SIZE_MAX, "row has %zu fields, wanted %zu as in the header", n,
			     r->n_fields);
	}
	return 0;
}

int ct_genai_rows_close(struct ct_genai_rows *r)
{
	return r->rc ? r->rc : (int)r->err->code;
}

struct ct_csv_field ct_genai_cell(struct ct_genai_rows *r, size_t column)
{
	struct ct_csv_field f = ct_csv_field(r->in, r->field[column]);

	if (f.n == 4 && (!memcmp(f.s, "NULL", 4) || !memcmp(f.s, "None", 4))) {
		r->g->rule[r->table][CT_GENAI_NULL_WORD]++;
		f.s += f.n;
		f.n = 0;
	}
	return f;
}

int ct_genai_number(struct ct_genai_rows *r, size_t column, double *out)
{
	struct ct_csv_field f = ct_genai_cell(r, column);
	char b[CT_SHOWN];

	if (!f.n)
		return 0;
	if (!ct_parse_f64(f.s, f.n, out))
		return 1;
	ct_genai_bad(r, CT_GENAI_NOT_A_NUMBER, column, "'%s' wants a number, got '%s'", r->names[column],
		     ct_shown(b, f.s, f.n));
	return -1;
}
