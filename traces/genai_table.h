/* SPDX-License-Identifier: GPL-3.0-or-later */
/* genai_table.h - one table of the GenAI trace as rows of named columns, and its bad
 * rows. Internal to traces/genai*.c.
 *
 *	struct ct_genai_rows r = { .g = g, .table = t, .in = in, .o = o, .err = err };
 *	CT_TRY(ct_genai_rows_open(&r, names, n));
 *	while (ct_genai_rows_next(&r))
 *		if (ct_genai_number(&r, 0, &v) == 1) ...
 *	return ct_genai_rows_close(&r); */
#ifndef CT_TRACES_GENAI_TABLE_H
#define CT_TRACES_GENAI_TABLE_H

#include "traces/genai.h"

enum { CT_GENAI_COLUMNS = 12 };

struct ct_genai_rows {
	struct ct_genai *g;
	enum ct_genai_table table;
	struct ct_csv *in;
	const struct ct_trace_options *o;
	struct ct_err *err;
	const char *const *names;
	size_t n, n_fields, field[CT_GENAI_COLUMNS];
	int bad, rc;
};

/* Finds the columns, all required, in any order; others are left alone. CT_ETRACE. */
int ct_genai_rows_open(struct ct_genai_rows *r, const char *const *names, size_t n);
/* 1: a row with as many fields as the header; 0: the end, or an error. */
int ct_genai_rows_next(struct ct_genai_rows *r);
/* The code of all that went wrong. */
int ct_genai_rows_close(struct ct_genai_rows *r);

/* Text of a column; "NULL" and "None" count as empty (null_word). */
struct ct_csv_field ct_genai_cell(struct ct_genai_rows *r, size_t column);
/* 1: a finite number; 0: empty; -1: neither, which was reported. */
int ct_genai_number(struct ct_genai_rows *r, size_t column, double *out);
/* Marks the row as bad under a rule: an error, or with CT_BAD_ROW_DROP a count.
 * Only the first of a row counts. */
__attribute__((format(printf, 4, 5))) void ct_genai_bad(struct ct_genai_rows *r, enum ct_genai_rule rule, size_t column,
							const char *fmt, ...);

#endif
