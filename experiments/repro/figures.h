/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figures.h - the paper's Figures 1 to 9 by name: what each is drawn from, as CSV
 * files, and the gnuplot scripts that draw it.
 *
 *	struct ct_repro_figures f = { .out = "build/paper", .paper = p, .scenario = path, .traces = t };
 *	CT_TRY(ct_repro_figures_write("fig7", &f, &err));    // build/paper/fig7/...
 *	ct_repro_figures_print("fig7", "build/paper", stdout);
 *
 * Each folder has a settings.gp, which the scripts load: the line below the figure, with
 * revision, seed and digests, and what they must say about their data. */
#ifndef CT_EXPERIMENTS_REPRO_FIGURES_H
#define CT_EXPERIMENTS_REPRO_FIGURES_H

#include "experiments/repro/paper.h"
#include "experiments/repro/traces.h"

#include <stdio.h>

struct ct_repro_figures {
	const char *out; /* folder, made where it is not there */
	const struct ct_paper *paper;
	const char *scenario;
	const struct ct_cell_set *set; /* settings after the scenario's; policy.* are for elastico alone */
	size_t n_set;
	struct ct_repro_traces *traces;
};

/* "fig1" to "fig9", or "figures": all of them. */
int ct_repro_figures_has(const char *name);
int ct_repro_figures_write(const char *name, struct ct_repro_figures *f, struct ct_err *err);
/* What each shows, and how to draw it; `out` NULL: its data was not written. */
void ct_repro_figures_print(const char *name, const char *out, FILE *to);

#endif
