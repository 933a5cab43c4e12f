/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h - tables for people: aligned columns, a line of units, no trailing blanks.
 *
 *	struct ct_table t;
 *	ct_table_init(&t);
 *	ct_table_column(&t, "policy", "", CT_LEFT);
 *	ct_table_column(&t, "mean JCT", "s", CT_RIGHT);
 *	ct_table_text(&t, "fifo");
 *	ct_table_number(&t, 3012.5, 1);
 *	ct_table_print(&t, stdout);
 *	ct_table_fini(&t);
 *
 * gives
 *	policy  mean JCT
 *	               s
 *	fifo      3012.5
 *
 * Cells are filled row by row; a row that is not full when the table is printed is
 * filled up with empty cells. Texts may be UTF-8: width counts characters (two for
 * East Asian wide ones, none for combining ones). Bytes that are not UTF-8 and control
 * characters, which could move the cursor of a terminal, are shown as '?'. */
#ifndef CT_EXPERIMENTS_TABLE_H
#define CT_EXPERIMENTS_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum ct_align { CT_LEFT, CT_RIGHT };
enum { CT_TABLE_COLUMNS = 64 };

struct ct_table {
	struct {
		char *title, *unit;
		enum ct_align align;
	} column[CT_TABLE_COLUMNS];
	size_t n_columns;
	char **cell; /* row-major */
	size_t n_cells, cap_cells;
};

void ct_table_init(struct ct_table *t);
void ct_table_fini(struct ct_table *t);
/* All columns come before the first cell. */
void ct_table_column(struct ct_table *t, const char *title, const char *unit, enum ct_align align);
/* The next cell; NULL is "". */
void ct_table_text(struct ct_table *t, const char *s);
/* Fixed decimals, "-" for NaN; very large numbers in exponential form. */
void ct_table_number(struct ct_table *t, double v, int decimals);
/* The rest of the row stays empty. */
void ct_table_end_row(struct ct_table *t);
/* Two blanks between columns; the line of units only when there is a unit. Errors
 * stay in the stream (ferror). */
void ct_table_print(const struct ct_table *t, FILE *to);

/* Columns of a terminal that a text takes up. */
size_t ct_text_width(const char *s);

#endif
