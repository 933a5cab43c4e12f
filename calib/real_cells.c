/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/real_cells.h"

#include "sim/memory.h"
#include "sim/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double ct_cell_number(const struct ct_table *t, size_t name, double lo, double hi)
{
	struct ct_csv_field f = ct_table_cell(t, name);
	struct ct_loc at = ct_table_loc(t, name);
	double v;

	if (ct_parse_f64(f.s, f.n, &v) == 0 && v >= lo && v <= hi)
		return v;
	{
		char b[CT_SHOWN];

		ct_shown(b, f.s, f.n);
		ct_err_add(t->err, CT_ECONFIG, &at, "'%s' wants a number from %g to %g, got '%s'", t->names[name], lo,
			   hi, b);
	}
	return NAN;
}

size_t ct_name_list_find(const struct ct_name_list *l, const char *s, size_t n)
{
	for (size_t i = 0; i < l->n; i++)
		if (strlen(l->v[i]) == n && memcmp(l->v[i], s, n) == 0)
			return i;
	return SIZE_MAX;
}

size_t ct_name_list_add(struct ct_name_list *l, const char *s, size_t n)
{
	size_t i = ct_name_list_find(l, s, n);

	if (i != SIZE_MAX)
		return i;
	CT_GROW(l->v, l->cap, l->n + 1);
	l->v[l->n] = ct_calloc(n + 1, 1);
	memcpy(l->v[l->n], s, n);
	return l->n++;
}

void ct_name_list_fini(struct ct_name_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct ct_name_list){ 0 };
}
