/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.h - two or more results side by side, and what can be said about their
 * differences: the work of `cotenant compare A.h5 B.h5 [...]`.
 *
 *	struct ct_comparison c;
 *	CT_TRY(ct_compare_load(&c, paths, n, &err));
 *	CT_TRY(ct_compare_print(&c, stdout, &err));    // or ct_compare_json()
 *	ct_compare_fini(&c);
 *
 * Every run is compared with the first (a = first, b = the other, difference = b - a).
 *
 * Per-job metrics (mean_jct_s, mean_wait_s, mean_slowdown) are paired by job_id, over
 * the jobs measured and finished in both runs; a and b are the means over exactly
 * these. The 95 % confidence interval of the mean difference is by batch means:
 * jobs that are neighbours in time meet the same queue, so their differences are
 * correlated and an interval over single jobs would be far too narrow. The paired
 * differences in order of submission are cut into CT_COMPARE_BATCHES runs of
 * contiguous jobs (sizes differ by one at most), whose means are nearly
 * independent; with their standard deviation s, half the interval is
 * t(0.975, batches - 1) s / sqrt(batches) (Law, Simulation Modeling and Analysis,
 * 5th ed., section 9.5.3). Below two jobs a batch every job is a batch; below
 * CT_COMPARE_BATCHES jobs there is no interval.
 *
 * effect = mean difference / standard deviation of the paired differences of single
 * jobs (Cohen's d_z): 0.2 is small, 0.8 large. NaN when that deviation is 0 and the
 * difference is not.
 *
 * All other metrics have one value a run and therefore no interval: their verdict
 * is "one run each". More seeds or traces would be needed to say more: that is what
 * experiments/compare_sets.h does. */
#ifndef CT_EXPERIMENTS_COMPARE_H
#define CT_EXPERIMENTS_COMPARE_H

#include "experiments/breakdown.h"
#include "sim/err.h"
#include "sim/result.h"

#include <stddef.h>
#include <stdio.h>

enum { CT_COMPARE_BATCHES = 20, CT_COMPARE_RUNS = 60 };

struct ct_compare_row {
	const char *metric, *unit; /* key and unit of sim/metrics.h */
	const char *group;         /* NULL: all jobs */
	int digits;
	int paired;                 /* per-job, with an interval */
	size_t a_run, b_run;        /* index of the runs */
	double a, b, diff;          /* diff = b - a; paired: mean of the differences */
	double ratio;               /* b / a, NaN when a is 0 */
	double lo, hi;              /* 95 % interval of diff, NaN = none */
	double median_diff, effect; /* NaN unless paired */
	size_t n;                   /* jobs matched; 0 unless paired */
	int correlated;             /* the interval is too narrow, see ct_batch_means(); a warning says so */
	const char *verdict;        /* "a lower", "b lower", "no difference shown", "too few jobs", "one run each" */
};

struct ct_comparison {
	size_t n_runs;
	struct ct_result *run;
	char **label; /* the policy; with the file's name where two would be equal */
	struct ct_compare_row *row;
	size_t n_rows;
	enum ct_breakdown_by by;          /* NONE until ct_compare_break_down() */
	struct ct_breakdown parts;        /* of the first run */
	struct ct_compare_row *group_row; /* mean_jct_s and mean_wait_s of every group and other run */
	size_t n_group_rows;
	struct ct_user_fairness *fairness; /* per run, when by user */
	char **warning; /* what makes the comparison doubtful: other traces, clusters, partial runs */
	size_t n_warnings;
};

/* Reads 2..CT_COMPARE_RUNS files and computes. CT_EUSAGE: too few or too many files;
 * CT_EIO: a file is not a result. *c is empty after an error. */
int ct_compare_load(struct ct_comparison *c, const char *const *paths, size_t n, struct ct_err *err);
/* The same of results in memory, which the comparison takes over (they are zeroed).
 * `names` stand in for file names. */
int ct_compare_results(struct ct_comparison *c, struct ct_result *results, const char *const *names, size_t n,
		       struct ct_err *err);
/* Adds rows for every user, partition, class or size of job, a job's group being the
 * first run's; by user also the fairness of each run. Once. CT_EIO: a column is missing. */
int ct_compare_break_down(struct ct_comparison *c, enum ct_breakdown_by by, struct ct_err *err);
void ct_compare_fini(struct ct_comparison *c);

/* Summaries side by side, paired differences, footnotes and warnings. CT_EIO. */
int ct_compare_print(const struct ct_comparison *c, FILE *to, struct ct_err *err);
/* {"rows":[{...}], "runs":[{...}], "warnings":[...]}, one row a line. CT_EIO. */
int ct_compare_json(const struct ct_comparison *c, FILE *to, struct ct_err *err);

/* Summaries as a table, one column a run; with two runs also difference and ratio.
 * Metrics that are zero or unknown in all runs are left out unless they are among
 * the main ones. Also what `run` prints, with n = 1. */
void ct_summary_print(FILE *to, const struct ct_result *const *runs, const char *const *labels, size_t n);

/* Is it shown even where it is 0 in all runs? */
int ct_metric_is_main(enum ct_metric m);

/* The interval by itself. */
struct ct_interval {
	double mean, sd; /* of all values */
	double lo, hi;   /* NaN below CT_COMPARE_BATCHES values */
	size_t batches;
};
struct ct_interval ct_batch_interval(const double *v, size_t n);

#endif
