/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/samples.h"

#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>

const char *const ct_pair_type_name[CT_PAIR_TYPES] = { "T+T", "T+I", "I+I" };

void ct_samples_init(struct ct_samples *s, size_t width)
{
	*s = (struct ct_samples){ .width = width };
}

void ct_samples_fini(struct ct_samples *s)
{
	free(s->x);
	free(s->row);
	*s = (struct ct_samples){ 0 };
}

double *ct_samples_add(struct ct_samples *s, const struct ct_sample *row)
{
	size_t cap = s->cap;

	CT_GROW(s->row, s->cap, s->n + 1);
	if (s->cap != cap)
		s->x = ct_realloc_array(s->x, s->cap * s->width, sizeof *s->x);
	s->row[s->n] = *row;
	return s->x + s->width * s->n++;
}

void ct_samples_subset(const struct ct_samples *s, const size_t *rows, size_t n, struct ct_samples *out)
{
	ct_samples_init(out, s->width);
	for (size_t i = 0; i < n; i++)
		memcpy(ct_samples_add(out, &s->row[rows[i]]), s->x + rows[i] * s->width, s->width * sizeof *s->x);
}
