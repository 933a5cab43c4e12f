/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv_table.h - small calibration tables: CSV with a header, columns in any order.
 * Internal to calib/.
 *
 *	static const char *const names[] = { "kind", "seconds" };
 *	struct ct_table t;
 *	CT_TRY(ct_table_open(&t, path, names, 2, CT_TABLE_REFUSE_UNKNOWN, err));
 *	while ((rc = ct_table_next(&t)) == 1)
 *		struct ct_csv_field kind = ct_table_cell(&t, 0);
 *	rc = ct_table_close(&t);
 *
 * All errors are CT_ECONFIG with file:line:column (CT_EIO when the file cannot be
 * read) and are collected: rows with another number of fields than the header are
 * reported and left out of what ct_table_next() delivers. */
#ifndef CT_CALIB_CSV_TABLE_H
#define CT_CALIB_CSV_TABLE_H

#include "sim/csv.h"
#include "sim/err.h"

enum { CT_TABLE_COLUMNS = 24 };
enum ct_table_unknown { CT_TABLE_REFUSE_UNKNOWN, CT_TABLE_KEEP_UNKNOWN };

struct ct_table {
	struct ct_csv *csv;
	struct ct_err *err;
	const char *path;
	const char *const *names;
	size_t n_names, n_required, n_fields;
	size_t field[CT_TABLE_COLUMNS]; /* of each name */
	char unknown[256];              /* other columns of the file, separated by ", " */
};

/* All `names` must be there, each once; the last `n_optional` may be missing. On error
 * nothing is left open. */
int ct_table_open_optional(struct ct_table *t, const char *path, const char *const *names, size_t n, size_t n_optional,
			   enum ct_table_unknown unknown, struct ct_err *err);
int ct_table_open(struct ct_table *t, const char *path, const char *const *names, size_t n,
		  enum ct_table_unknown unknown, struct ct_err *err);
/* 1: a row; 0: the end, or an error that ends the file. */
int ct_table_next(struct ct_table *t);
/* Is the (optional) column there? */
int ct_table_has(const struct ct_table *t, size_t name);
struct ct_csv_field ct_table_cell(const struct ct_table *t, size_t name);
/* Place of the cell, or of the row (SIZE_MAX). */
struct ct_loc ct_table_loc(const struct ct_table *t, size_t name);
/* The code of the errors so far. */
int ct_table_close(struct ct_table *t);

#endif
