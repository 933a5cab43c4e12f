/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/figures.h"

#include <stdlib.h>
#include <string.h>

static const char *keep(struct ct_figures *f, const char *s)
{
	return ct_arena_text(&f->arena, s, strlen(s));
}

void ct_figures_add(struct ct_figures *f, const char *name, double value, const char *unit, const char *definition)
{
	CT_GROW(f->v, f->cap, f->n + 1);
	f->v[f->n++] = (struct ct_figure){ keep(f, name), value, keep(f, unit), keep(f, definition) };
}

const struct ct_figure *ct_figures_find(const struct ct_figures *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].name, name))
			return &f->v[i];
	return NULL;
}

void ct_figures_fini(struct ct_figures *f)
{
	free(f->v);
	ct_arena_fini(&f->arena);
	memset(f, 0, sizeof *f);
}
