/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.h - what a sweep leaves when its cells are done, from the cells' own files
 * alone, so that a sweep of one process, of many, resumed, or merged from shards writes
 * the same bytes. All in order of the cells:
 *
 *	runs.csv    cell, hash, the axes, every metric (sim/metrics.h), digest: one row a finished cell
 *	sweep.h5    the same as columns of /runs; an axis of numbers only holds numbers
 *	perf.csv    cell, hash and wall-clock figures, which differ from run to run
 *	failed.csv  cell, hash, the axes, status, message, command of each that failed
 *
 * The table for people has one row a combination of the axes other than sim.seed: mean
 * over its seeds and half of the 95 % interval of that mean (Student's t over the
 * seeds, experiments/statistics.h). */
#ifndef CT_EXPERIMENTS_SWEEP_REPORT_H
#define CT_EXPERIMENTS_SWEEP_REPORT_H

#include "experiments/sweep/store.h"

#include <stdio.h>

/* The four files, in the folder `path`. Sorts the rows by cell. CT_EIO. */
int ct_sweep_report_write(struct ct_sweep_table *t, const char *path, struct ct_err *err);
/* Removes them: what is there is not of the cells that are about to run. */
void ct_sweep_report_remove(const char *path);

/* What the table shows. */
struct ct_sweep_view {
	const int *metric; /* enum ct_metric */
	size_t n_metrics;
	const char *key, *value; /* of a baseline (experiments/sweep/pairs.h); key NULL: none */
};

/* CT_EUSAGE: a baseline that no axis has. */
int ct_sweep_report_print(const struct ct_sweep_table *t, const struct ct_sweep_view *v, FILE *to, struct ct_err *err);
/* {"rows":[axes, then the summary keys, one a finished cell], "groups":[axes, n, and for
 * each metric of the table its mean, lo and hi], "pairs":[...] with a baseline, "failed":[...]}.
 * CT_EIO, CT_EUSAGE. */
int ct_sweep_report_json(const struct ct_sweep_table *t, const struct ct_sweep_view *v, FILE *to, struct ct_err *err);

#endif
