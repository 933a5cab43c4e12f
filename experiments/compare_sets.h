/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_sets.h - configurations with several runs each, compared over their seeds: the
 * work of `cotenant compare A1.h5 A2.h5 ... --vs B1.h5 B2.h5 ...`.
 *
 *	const struct ct_run_files set[] = { { a_paths, 10 }, { b_paths, 10 } };
 *	struct ct_set_comparison c;
 *	CT_TRY(ct_compare_sets_load(&c, set, 2, CT_BY_CLASS, 0.05, &err));
 *	CT_TRY(ct_compare_sets_print(&c, stdout, &err));    // or ct_compare_sets_json()
 *	ct_compare_sets_fini(&c);
 *
 * Every set is compared with the first (difference = b - a), metric by metric. The
 * value of a metric in one run is one observation; runs of both sets with the same
 * seed and the same trace are a pair, for they saw the same world (common random
 * numbers). Without a partner of the same trace, one with the same seed will do, with
 * a warning. Runs without any are left out, with a warning.
 *
 * Intervals at 95 % as experiments/statistics.h defines them: of the mean difference
 * (Student), of the median difference (order statistics, 6 pairs at least), of the
 * ratio of means (Fieller). They hold for other seeds of the same configuration, not
 * for other traces unless the runs are of several. */
#ifndef CT_EXPERIMENTS_COMPARE_SETS_H
#define CT_EXPERIMENTS_COMPARE_SETS_H

#include "experiments/breakdown.h"
#include "experiments/statistics.h"
#include "sim/metrics.h"

#include <stdio.h>

struct ct_run_files {
	const char *const *path;
	size_t n;
};

/* A run's values: the summary, then fairness over users (by user only). */
enum {
	CT_SET_JAIN = CT_METRIC_COUNT,
	CT_SET_FTF_MEAN,
	CT_SET_FTF_ABOVE,
	CT_SET_FTF_WORST,
	CT_SET_VALUES,
};

struct ct_set_run {
	char *name, *seed, *policy, *trace, *cluster; /* "" = the result does not say */
	char digest[CT_DIGEST_TEXT];
	int partial;
	double value[CT_SET_VALUES];
	struct ct_breakdown parts; /* n = 0 when not asked for */
};

struct ct_run_set {
	char *label; /* the policy; with the first file's name where two would be equal */
	struct ct_set_run *run;
	size_t n;
};

struct ct_set_row {
	const char *metric, *unit;
	const char *group; /* NULL: all jobs */
	int digits;
	size_t b_set;
	struct ct_paired p;
	struct ct_estimate ratio;
	/* Runs that make half the interval of the mean difference at most `width` x |a|; 0: none. */
	size_t runs_needed;
};

struct ct_set_comparison {
	enum ct_breakdown_by by;
	double width;
	struct ct_run_set *set;
	size_t n_sets;
	struct ct_set_row *row; /* those of all jobs first */
	size_t n_rows, cap_rows;
	char **warning;
	size_t n_warnings;
};

/* CT_EUSAGE: fewer than two sets, an empty one, or a set that has two runs of the
 * same seed and trace. CT_EIO: a file is not a result. Files are read one by one: what
 * is kept of each is small. *c is empty after an error. */
int ct_compare_sets_load(struct ct_set_comparison *c, const struct ct_run_files *files, size_t n,
			 enum ct_breakdown_by by, double width, struct ct_err *err);
void ct_compare_sets_fini(struct ct_set_comparison *c);
/* CT_EIO. */
int ct_compare_sets_print(const struct ct_set_comparison *c, FILE *to, struct ct_err *err);
/* {"rows":[{...}], "sets":[{...}], "warnings":[...]}, one row a line. CT_EIO. */
int ct_compare_sets_json(const struct ct_set_comparison *c, FILE *to, struct ct_err *err);

/* The pieces, for results in memory: takes what it needs of `r`. Zeroed sets and
 * c->by, c->width come from the caller; then ct_compare_sets_finish(). */
int ct_set_run_take(struct ct_set_run *run, const struct ct_result *r, const char *name, enum ct_breakdown_by by,
		    struct ct_err *err);
int ct_compare_sets_finish(struct ct_set_comparison *c, struct ct_err *err);

#endif
