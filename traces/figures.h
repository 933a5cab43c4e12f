/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figures.h - what a trace says about itself beyond its jobs: a list of named
 * numbers, each with its unit and its exact definition, and of curves to draw, that any
 * reader may fill (`figures` of struct ct_trace_options) and `cotenant trace info` prints.
 *
 *	struct ct_figures f = { 0 };
 *	struct ct_curve *c = ct_figures_curve(&f, "qps", "day,qps");
 *	ct_figures_add(&f, "duty_mean", 7.0252, "%", "mean of all rows of the duty cycle");
 *	ct_curve_add(c, (const double[]){ 0.5, 3.2 });
 *	printf("%g\n", ct_figures_find(&f, "duty_mean")->value);
 *	CT_TRY(ct_figures_write(&f, "build/genai", &err));     // figures.csv, qps.csv
 *	ct_figures_fini(&f); */
#ifndef CT_TRACES_FIGURES_H
#define CT_TRACES_FIGURES_H

#include "sim/err.h"
#include "sim/memory.h"
#include "sim/workload.h"

#include <stddef.h>

struct ct_figure {
	const char *name;       /* unique in the list */
	double value;           /* NaN: there is nothing to compute it from */
	const char *unit;       /* "" for counts and ratios */
	const char *definition; /* one line for people */
};

/* A table of numbers that a figure is drawn from. */
struct ct_curve {
	const char *name;    /* unique in the list; its file is NAME.csv */
	const char *columns; /* their names, separated by commas: the head of the file */
	size_t n_columns, n, cap;
	double *v; /* n rows of n_columns, one after the other; NaN: nothing there */
};

/* Zero-initialise to use. Texts are copied. */
struct ct_figures {
	struct ct_arena arena;
	struct ct_figure *v;
	size_t n, cap;
	struct ct_curve *curve;
	size_t n_curves, cap_curves;
};

void ct_figures_add(struct ct_figures *f, const char *name, double value, const char *unit, const char *definition);
/* NULL: no such figure. */
const struct ct_figure *ct_figures_find(const struct ct_figures *f, const char *name);
/* An empty one; the pointer holds until the next call. */
struct ct_curve *ct_figures_curve(struct ct_figures *f, const char *name, const char *columns);
void ct_curve_add(struct ct_curve *c, const double *row);
/* NULL: no such curve. */
const struct ct_curve *ct_figures_find_curve(const struct ct_figures *f, const char *name);
/* As CSV; what is NaN is an empty field. CT_EIO. */
int ct_curve_write(const struct ct_curve *c, const char *folder, struct ct_err *err);
/* figures.csv (name,value,unit,definition) and the curves, in a folder that is there. */
int ct_figures_write(const struct ct_figures *f, const char *folder, struct ct_err *err);
void ct_figures_fini(struct ct_figures *f);

/* The figures of a workload that one of our generators made like a trace (generate.h),
 * read off its columns as those of the trace off its tables: plan_gpu, gpu_util and kind
 * as PAI, pod as GenAI. 0: it has no such columns, and nothing was added. */
int ct_workload_figures(struct ct_workload *w, struct ct_figures *out);

#endif
