/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sources.h - the figures of `repro` that no study makes. Each fills its rows among
 * those of ct_repro_rows(), by `from` of the figure:
 *
 *	cases	the case's configuration under `variant` and `over`. [lo, hi]: least and largest
 *		over CT_CASE_DRAWS draws of the jobs' lengths, each within a factor of two of
 *		the file's, since the paper gives none
 *	plan	what sharing saves of the GPUs that inference adds to training's (capacity.h):
 *		median, least and largest over the targets of published.yaml, pools of its first
 *		policy. Table "instances" lists every target and pool policy besides
 *	clock	milliseconds of `count` predictions of the interference predictor, CPU time of
 *		this machine; never recorded
 *
 * All but the last are the same on every machine. */
#ifndef CT_EXPERIMENTS_REPRO_SOURCES_H
#define CT_EXPERIMENTS_REPRO_SOURCES_H

#include "experiments/repro/repro.h"

enum { CT_CASE_DRAWS = 40 };

struct ct_repro_sources {
	const struct ct_paper *paper;
	const char *scenario, *table;
	/* Of --set. Cases have their own jobs, cluster and seed, and take what is said of the policy elastico, of
	 * calib, iac and transitions. */
	const struct ct_cell_set *set;
	size_t n_set;
	const volatile sig_atomic_t *interrupted;
};

/* Errors as of runs. Interrupted: rows that were not reached stay unknown. */
int ct_repro_cases(const struct ct_repro_sources *s, struct ct_repro *rows, struct ct_err *err);
int ct_repro_instances(const struct ct_repro_sources *s, struct ct_repro *rows, struct ct_err *err);
int ct_repro_clock(const struct ct_repro_sources *s, struct ct_repro *rows, struct ct_err *err);

#endif
