/* SPDX-License-Identifier: GPL-3.0-or-later */
/* constants.h - the numbers a generator draws from, each with its source.
 *
 * A CSV file with the header name,at,value,kind,source: one row a number. Rows of
 * one name are a table, in the order of the file; `at` is its key, a text or a
 * number, and empty for a scalar. `kind` says where the number is from: paper,
 * measured (counted in the public trace, or read off its published plots) or
 * assumed. Every row names its source.
 *
 *	struct ct_constants *c;
 *	CT_TRY(ct_constants_load("traces/data/pai.csv", &c, &err));
 *	double rate = ct_constant(c, "jobs_per_hour", &err);
 *	const struct ct_constant_table *t = ct_constant_table(c, "plan_gpu", 1, &err);
 *	if (err.code) ...            // all that are missing, together
 *	ct_constants_free(c); */
#ifndef CT_TRACES_CONSTANTS_H
#define CT_TRACES_CONSTANTS_H

#include "sim/err.h"

#include <stddef.h>
#include <stdint.h>

enum ct_constant_kind { CT_CONSTANT_PAPER, CT_CONSTANT_MEASURED, CT_CONSTANT_ASSUMED };

struct ct_constant_row {
	const char *at;
	double at_number; /* NaN when `at` is no number */
	double value;
	const char *source;
	enum ct_constant_kind kind;
	size_t line;
};

struct ct_constant_table {
	const char *name;
	const struct ct_constant_row *row;
	size_t n;
};

struct ct_constants;

/* CT_EIO, or CT_ECONFIG with everything wrong in the file. */
int ct_constants_load(const char *path, struct ct_constants **out, struct ct_err *err);
void ct_constants_free(struct ct_constants *c);

/* Applies "infer_share=*0.8, train_gpus@8=0" (sim/changes.h); NULL: none. CT_ECONFIG: no such row. */
int ct_constants_change(struct ct_constants *c, const char *changes, struct ct_err *err);

/* A scalar; 0 and CT_ECONFIG in `err` when there is none, or it is a table. */
double ct_constant(const struct ct_constants *c, const char *name, struct ct_err *err);
/* A table of at least `least` rows; NULL and CT_ECONFIG when there is none. */
const struct ct_constant_table *ct_constant_table(const struct ct_constants *c, const char *name, size_t least,
						  struct ct_err *err);
/* Value at a text key; NaN when the table has none. */
double ct_constant_at(const struct ct_constant_table *t, const char *at);

/* Adds an error that names the file. Returns its code. */
__attribute__((format(printf, 3, 4))) int ct_constants_refuse(const struct ct_constants *c, struct ct_err *err,
							      const char *fmt, ...);

#endif
