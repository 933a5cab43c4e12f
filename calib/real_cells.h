/* SPDX-License-Identifier: GPL-3.0-or-later */
/* real_cells.h - cells of the measured data sets. Internal to calib/. */
#ifndef CT_CALIB_REAL_CELLS_H
#define CT_CALIB_REAL_CELLS_H

#include "calib/csv_table.h"

/* A number within [lo, hi]; reports anything else and returns NaN. */
double ct_cell_number(const struct ct_table *t, size_t name, double lo, double hi);

/* A growing list of names, number = place. */
struct ct_name_list {
	char **v;
	size_t n, cap;
};
size_t ct_name_list_add(struct ct_name_list *l, const char *s, size_t n);        /* finds or appends */
size_t ct_name_list_find(const struct ct_name_list *l, const char *s, size_t n); /* SIZE_MAX: no */
void ct_name_list_fini(struct ct_name_list *l);

#endif
