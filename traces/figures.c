/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/figures.h"

#include "sim/output.h"
#include "traces/genai.h"
#include "traces/pai_join.h"

#include <math.h>
#include <stdio.h>
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

struct ct_curve *ct_figures_curve(struct ct_figures *f, const char *name, const char *columns)
{
	struct ct_curve *c;

	CT_GROW(f->curve, f->cap_curves, f->n_curves + 1);
	c = &f->curve[f->n_curves++];
	*c = (struct ct_curve){ .name = keep(f, name), .columns = keep(f, columns), .n_columns = 1 };
	for (const char *s = columns; *s; s++)
		c->n_columns += *s == ',';
	return c;
}

void ct_curve_add(struct ct_curve *c, const double *row)
{
	CT_GROW(c->v, c->cap, (c->n + 1) * c->n_columns);
	memcpy(c->v + c->n++ * c->n_columns, row, c->n_columns * sizeof *row);
}

const struct ct_curve *ct_figures_find_curve(const struct ct_figures *f, const char *name)
{
	for (size_t i = 0; i < f->n_curves; i++)
		if (!strcmp(f->curve[i].name, name))
			return &f->curve[i];
	return NULL;
}

/* ---- files */

static int open_in(struct ct_output *o, const char *folder, const char *name, struct ct_err *err)
{
	char path[4096];

	if (snprintf(path, sizeof path, "%s/%s.csv", folder, name) >= (int)sizeof path)
		return ct_err_at(err, CT_EIO, NULL, "path of '%s' is too long", name);
	return ct_output_open(o, path, err);
}

static void cell(struct ct_output *o, double v)
{
	if (isfinite(v))
		ct_output_f64(o, v);
}

int ct_curve_write(const struct ct_curve *c, const char *folder, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(open_in(&o, folder, c->name, err));
	ct_output_text(&o, c->columns);
	ct_output_text(&o, "\n");
	for (size_t i = 0; i < c->n * c->n_columns; i++) {
		cell(&o, c->v[i]);
		ct_output_text(&o, (i + 1) % c->n_columns ? "," : "\n");
	}
	return ct_output_close(&o, err);
}

int ct_figures_write(const struct ct_figures *f, const char *folder, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(open_in(&o, folder, "figures", err));
	ct_output_text(&o, "name,value,unit,definition\n");
	for (size_t i = 0; i < f->n; i++) {
		ct_output_field(&o, f->v[i].name);
		ct_output_text(&o, ",");
		cell(&o, f->v[i].value);
		ct_output_text(&o, ",");
		ct_output_field(&o, f->v[i].unit);
		ct_output_text(&o, ",");
		ct_output_field(&o, f->v[i].definition);
		ct_output_text(&o, "\n");
	}
	CT_TRY(ct_output_close(&o, err));
	for (size_t i = 0; i < f->n_curves; i++)
		CT_TRY(ct_curve_write(&f->curve[i], folder, err));
	return 0;
}

int ct_workload_figures(struct ct_workload *w, struct ct_figures *out)
{
	return ct_pai_workload_figures(w, out) || ct_genai_workload_figures(w, out);
}

void ct_figures_fini(struct ct_figures *f)
{
	for (size_t i = 0; i < f->n_curves; i++)
		free(f->curve[i].v);
	free(f->curve);
	free(f->v);
	ct_arena_fini(&f->arena);
	memset(f, 0, sizeof *f);
}
