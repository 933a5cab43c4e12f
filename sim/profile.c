/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/profile.h"

#include <string.h>

/* 0 or `weight` when the row's field fits, -1 when it does not. */
static int fit(const char *row, const char *asked, int weight)
{
	if (!row)
		return 0;
	return asked && !strcmp(row, asked) ? weight : -1;
}

/* The weights order the rows as the header says: model, then to, then from. */
static int specificity(const struct ct_transition *r, const char *model, const char *from, const char *to)
{
	int m = fit(r->model, model, 4), t = fit(r->to, to, 2), f = fit(r->from, from, 1);

	return m < 0 || t < 0 || f < 0 ? -1 : m + t + f;
}

struct ct_price ct_transition_price(const struct ct_transition_table *t, enum ct_transition_kind kind,
				    const char *model, const char *from, const char *to)
{
	struct ct_price price = { 0 };
	int best = -1;

	for (size_t i = 0; t && i < t->n; i++) {
		const struct ct_transition *r = &t->row[i];
		int s = r->kind == kind ? specificity(r, model, from, to) : -1;

		if (s > best) {
			best = s;
			price = (struct ct_price){ .cost_us = r->cost_us, .blocks = r->blocks };
		}
	}
	return price;
}
