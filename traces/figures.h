/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figures.h - what a trace says about itself beyond its jobs: a list of named
 * numbers, each with its unit and its exact definition, that any reader may fill
 * (`figures` of struct ct_trace_options) and `cotenant trace info` prints.
 *
 *	struct ct_figures f = { 0 };
 *	ct_figures_add(&f, "duty_mean", 7.0252, "%", "mean of all rows of the duty cycle");
 *	printf("%g\n", ct_figures_find(&f, "duty_mean")->value);
 *	ct_figures_fini(&f); */
#ifndef CT_TRACES_FIGURES_H
#define CT_TRACES_FIGURES_H

#include "sim/memory.h"

#include <stddef.h>

struct ct_figure {
	const char *name;       /* unique in the list */
	double value;           /* NaN: there is nothing to compute it from */
	const char *unit;       /* "" for counts and ratios */
	const char *definition; /* one line for people */
};

/* Zero-initialise to use. Texts are copied. */
struct ct_figures {
	struct ct_arena arena;
	struct ct_figure *v;
	size_t n, cap;
};

void ct_figures_add(struct ct_figures *f, const char *name, double value, const char *unit, const char *definition);
/* NULL: no such figure. */
const struct ct_figure *ct_figures_find(const struct ct_figures *f, const char *name);
void ct_figures_fini(struct ct_figures *f);

#endif
