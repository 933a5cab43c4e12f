/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv_header.h - which field of a CSV file is which job column. Internal to traces/.
 *
 * For each canonical column, the first of these that exists decides:
 *  1. the field that `trace.columns.NAME=FIELD` names, letter by letter;
 *  2. the field with the canonical name;
 *  3. the field with the canonical name but for upper and lower case;
 *  4. a field with one of its aliases, whatever the case, unless 1 uses it already.
 * Two fields of the same rank are an error that names both, as are two fields with
 * the same name. A field that no column takes is carried through under its name
 * ("column_N" when it has none; "file.NAME" when NAME is a canonical name that 1
 * gave to another field). */
#ifndef CT_TRACES_CSV_HEADER_H
#define CT_TRACES_CSV_HEADER_H

#include "sim/csv.h"
#include "sim/memory.h"
#include "traces/columns.h"
#include "traces/trace.h"

struct ct_csv_header {
	size_t n;                    /* fields of a row */
	const char **name;           /* of each field, as the file has it */
	size_t field_of[CT_COLUMNS]; /* SIZE_MAX: the file does not have it */
	size_t n_extra;
	size_t *extra; /* fields carried through */
	const char **extra_name;
};

/* Reads the first record. CT_ETRACE: empty file, no header, another delimiter, a
 * required column missing, names that clash (all together); CT_ECONFIG: a map of a
 * column that does not exist. The arrays live in `arena`. */
int ct_csv_header_read(struct ct_csv *in, const struct ct_trace_options *o, struct ct_arena *arena,
		       struct ct_csv_header *out, struct ct_err *err);

#endif
