/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.h - what the readers of tables have in common: columns found by name, cells
 * read with their limits, bad rows refused or dropped, ids kept unique, fields that
 * no column takes carried along. Internal to traces/; README.md of this folder shows
 * the smallest reader.
 *
 * One row is one job under construction, `r.job`. Any number of cells may be bad;
 * ct_rows_keep() then drops the row. Three things can happen to a row:
 *  - ct_rows_bad(): it cannot be a job. The file is refused, with every such place,
 *    or with on_bad_row = drop the row is left out and counted;
 *  - ct_rows_drop(): it is a known quirk of the published trace (a duplicate row, a
 *    pod that lived no time): always left out and counted;
 *  - ct_workload_count() by the reader: kept, with something repaired or noticed.
 *
 *	CT_TRY(ct_rows_open(&r, s, member, ',', columns, N, o, w, err));
 *	while (ct_rows_next(&r)) {
 *		ct_rows_id(&r, ID);
 *		r.job.submit_us = ct_rows_time(&r, SUBMIT);
 *		...
 *		ct_rows_keep(&r);
 *	}
 *	return ct_rows_close(&r); */
#ifndef CT_TRACES_ROWS_H
#define CT_TRACES_ROWS_H

#include "sim/csv.h"
#include "traces/id_set.h"
#include "traces/source.h"
#include "traces/trace.h"

enum { CT_ROWS_COLUMNS = 32 };

struct ct_rows_column {
	const char *name; /* as the published file has it; upper and lower case do not matter */
	int required;     /* the file is refused without it */
};

/* Texts seen lately in one column: most need no look-up by hash. */
enum { CT_ROWS_SEEN = 64 };
struct ct_rows_seen {
	struct {
		uint32_t number, n; /* n = 0: empty slot */
	} slot[CT_ROWS_SEEN];
};

struct ct_rows {
	struct ct_csv *in;
	const struct ct_trace_options *o;
	struct ct_workload *w;
	struct ct_err *err;
	const struct ct_rows_column *columns;
	size_t n_columns;
	size_t field_of[CT_ROWS_COLUMNS];          /* SIZE_MAX: the file does not have it */
	struct ct_csv_field cell[CT_ROWS_COLUMNS]; /* of this row; n = 0 where it has none */
	size_t width;                              /* fields of the header; 0 = none */
	size_t *extra, *extra_column, n_extra;     /* fields carried along, and where to */
	struct ct_arena arena;
	struct ct_rows_seen *seen, *extra_seen; /* by column, by extra */
	struct ct_id_set ids;
	struct ct_job job;
	struct ct_csv_field id;
	size_t id_column;
	int bad, rc;
	int dates;         /* times of this file are dates */
	char day_text[10]; /* the day of the last date, and its first microsecond */
	ct_time day;
	int by_line; /* cells were cut by the reader from one line (SWF) */
};

/* Opens the member and reads the header. */
int ct_rows_open(struct ct_rows *r, const struct ct_source *s, size_t member, char delimiter,
		 const struct ct_rows_column *columns, size_t n, const struct ct_trace_options *o,
		 struct ct_workload *w, struct ct_err *err);
/* The same for a file without header: the columns stand in this order. */
int ct_rows_open_plain(struct ct_rows *r, const struct ct_source *s, size_t member, char delimiter,
		       const struct ct_rows_column *columns, size_t n, const struct ct_trace_options *o,
		       struct ct_workload *w, struct ct_err *err);
/* 1: a row with as many fields as there should be; 0: the end, or an error that
 * ct_rows_close() returns. */
int ct_rows_next(struct ct_rows *r);
/* Adds the job when nothing about the row is bad: its index, or UINT32_MAX. */
uint32_t ct_rows_keep(struct ct_rows *r);
/* Gives back everything; the error of the reading, if any. */
int ct_rows_close(struct ct_rows *r);

static inline int ct_rows_has(const struct ct_rows *r, size_t column)
{
	return r->cell[column].n > 0;
}

/* Cells. An empty one is a missing value (bad). A bad cell gives 0. */
void ct_rows_id(struct ct_rows *r, size_t column);
/* Seconds with decimals, or "YYYY-MM-DD HH:MM:SS" (also with T, and with Z), taken
 * as UTC; see ct_rows_date_origin(). */
ct_time ct_rows_time(struct ct_rows *r, size_t column);
/* Above zero and within the limit of a duration. */
ct_time ct_rows_duration(struct ct_rows *r, size_t column);
/* A whole number in [lo, hi], also written "8.0". */
int64_t ct_rows_whole(struct ct_rows *r, size_t column, int64_t lo, int64_t hi);
/* Finite, in [lo, hi]. */
double ct_rows_number(struct ct_rows *r, size_t column, double lo, double hi);
/* A number of the workload's strings; 0 when empty. */
uint32_t ct_rows_string(struct ct_rows *r, size_t column);
/* Carries the cell along as column `name` of the job that ct_rows_keep() added. */
void ct_rows_carry(struct ct_rows *r, uint32_t job, const char *name, size_t column);

/* `rule` and `meaning` as in ct_workload_count(). */
__attribute__((format(printf, 5, 6))) void ct_rows_bad(struct ct_rows *r, size_t column, const char *rule,
						       const char *meaning, const char *fmt, ...);
void ct_rows_drop(struct ct_rows *r, const char *rule, const char *meaning);

/* After the last row: dates become seconds since the midnight (UTC) before the first
 * submission, so that the hour of the day stays; the report names that midnight. */
void ct_rows_date_origin(struct ct_rows *r);

#endif
