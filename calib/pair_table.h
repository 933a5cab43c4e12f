/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pair_table.h - contention from a table: what each of two models keeps of its
 * solo speed beside the other.
 *
 * File: CSV with the header `model,partner,factor` (any order; further columns are
 * ignored and listed), one row a direction: `model` runs at `factor` of its solo
 * speed beside `partner`. "*" stands for any model; the more specific row wins
 * (both named, then model named, then partner named, then both "*"). A pair
 * without a row keeps `fallback`. An optional column `first`, where not empty, holds the
 * factor of the one of two equal models that started first (two measured copies differ);
 * `factor` is the other's then, and only rows with model = partner may have it. Factors are > 0 and at most 2 (measured
 * tables contain speed-ups), the fallback likewise; 0 rows, a pair given twice or an empty name is an error. */
#ifndef CT_CALIB_PAIR_TABLE_H
#define CT_CALIB_PAIR_TABLE_H

#include "sim/contention.h"
#include "sim/err.h"
#include "sim/strings.h"

struct ct_pair_table;

/* `names` are the workload's strings (workload->strings), which the table's model
 * names are looked up in; names no job uses are counted. `path` may be NULL: only
 * the fallback. CT_ECONFIG with file:line:column. */
int ct_pair_table_load(const char *path, double fallback, const struct ct_strings *names, struct ct_pair_table **out,
		       struct ct_err *err);
void ct_pair_table_free(struct ct_pair_table *t);
/* The engine's view of it; valid while the table is. */
struct ct_contention ct_pair_table_contention(const struct ct_pair_table *t);
/* SHA-256 of the content (rows in any order, and the fallback), for the result digest. */
const char *ct_pair_table_digest(const struct ct_pair_table *t);

/* What the import noticed, for the run's report. */
struct ct_pair_table_info {
	size_t rows;
	size_t unused_names; /* distinct names of the file that no job uses */
	const char *ignored; /* further columns, separated by ", "; "" = none */
};
struct ct_pair_table_info ct_pair_table_info(const struct ct_pair_table *t);

#endif
