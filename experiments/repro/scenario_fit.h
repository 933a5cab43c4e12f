/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scenario_fit.h - chooses the scenario's three unknowns (offered load, spread of run
 * times, tilt of GPU counts) so that the figures of role `fit` come out: rows Volcano
 * and Lucid of Table 4, nothing about ElastiCo.
 *
 * Loss: sum over those figures of ((ours - published) / aim)^2, for relative aims of the
 * logarithm. Nelder-Mead (gsl nmsimplex2) from several starts, every vector over the same
 * seeds (common random numbers), seeds that `cotenant repro` does not use. Vectors whose loss is
 * within two jackknife standard errors of the best are as good as it: predictions are
 * to be given as ranges over them. */
#ifndef CT_EXPERIMENTS_REPRO_SCENARIO_FIT_H
#define CT_EXPERIMENTS_REPRO_SCENARIO_FIT_H

#include "experiments/repro/paper.h"
#include "experiments/study.h"

enum { CT_SCENARIO_UNKNOWNS = 3, CT_SCENARIO_FIGURES = 16 };
extern const char *const ct_scenario_key[CT_SCENARIO_UNKNOWNS]; /* "generate.load", ... */

struct ct_scenario_vector {
	double x[CT_SCENARIO_UNKNOWNS];
	double loss, above, above_se; /* above: loss - the best's, with its standard error */
	double ours[CT_SCENARIO_FIGURES];
	double held_out; /* loss over other seeds; NaN: not computed */
	int kept;
	double *leave_one; /* [seeds], loss without that seed */
};

struct ct_scenario_fit {
	const struct ct_paper *paper;
	const char *scenario;
	const char *without;                 /* id of a figure that the loss leaves out; NULL: none */
	unsigned starts, evaluations, seeds; /* evaluations: of each start */
	int64_t first_seed, held_out_seed;
	struct ct_study_run how; /* its progress is not used */
	void (*evaluated)(void *ctx, const struct ct_scenario_vector *v, size_t n);
	void *ctx;
	/* results, best first */
	struct ct_scenario_vector *v;
	size_t n, cap;
	const struct ct_paper_figure *figure[CT_SCENARIO_FIGURES];
	size_t n_figures;
};

/* The members up to `ctx` are set. CT_ECONFIG, and what runs return. */
int ct_scenario_fit(struct ct_scenario_fit *f, struct ct_err *err);
void ct_scenario_fit_fini(struct ct_scenario_fit *f);

#endif
