/* SPDX-License-Identifier: GPL-3.0-or-later */
/* breakdown.h - the per-job metrics of one result for each user, partition, class or
 * size of job, and how fairly its users were served.
 *
 *	struct ct_breakdown b;
 *	CT_TRY(ct_breakdown_make(&result, CT_BY_CLASS, &b, &err));
 *	for (size_t i = 0; i < b.n; i++)
 *		printf("%s: %g s\n", b.group[i].name, b.group[i].metric[CT_METRIC_mean_jct_s]);
 *	ct_breakdown_fini(&b);
 *
 * All over the jobs with measured = 1, as the summary. Needs the columns of
 * sim/result.h: a result read from a file, or made by ct_result_from_world(). */
#ifndef CT_EXPERIMENTS_BREAKDOWN_H
#define CT_EXPERIMENTS_BREAKDOWN_H

#include "sim/err.h"
#include "sim/json.h"
#include "sim/result.h"

enum ct_breakdown_by { CT_BY_NONE, CT_BY_USER, CT_BY_PARTITION, CT_BY_CLASS, CT_BY_SIZE };
#define CT_BREAKDOWN_CHOICES "user, partition, class, size or none"
/* The name of a choice ("user"), and back; 0 = found. */
const char *ct_breakdown_name(enum ct_breakdown_by by);
int ct_breakdown_parse(const char *name, enum ct_breakdown_by *by);

struct ct_group {
	const char *name; /* "" becomes "(none)" */
	size_t jobs;      /* measured */
	/* jobs_measured, mean_slowdown, attainment_frac, and mean, median, p95, p99, max of
	 * jct_s and wait_s, as sim/metrics.h defines them; all others NaN. */
	double metric[CT_METRIC_COUNT];
};

struct ct_breakdown {
	struct ct_group *group;
	size_t n;
	uint32_t *of_row; /* the group of each row of /jobs, UINT32_MAX = none: not measured; on the heap */
	struct ct_arena arena;
};

/* Groups with at least one measured job, the one with most jobs first, then by name;
 * sizes in their order. Size: GPUs held at once, "0" (CPU only), "<1" (a share of one),
 * "1", "2", "3-4", "5-8", "9-16" and so on. NONE: one group "all". CT_EIO: the result
 * lacks a column. */
int ct_breakdown_make(const struct ct_result *r, enum ct_breakdown_by by, struct ct_breakdown *out, struct ct_err *err);
void ct_breakdown_fini(struct ct_breakdown *b);
/* By name, NULL if absent. */
const struct ct_group *ct_breakdown_find(const struct ct_breakdown *b, const char *name);
/* JCT and wait of the groups as a table, by user also fairness. CT_EIO: a column is missing. */
int ct_breakdown_report(const struct ct_result *r, enum ct_breakdown_by by, FILE *to, struct ct_err *err);
/* Is it one of the metrics that a group has? */
int ct_breakdown_has(enum ct_metric m);

/* Over the users that have a measured job; formulas in experiments/fairness.h. */
struct ct_user_fairness {
	size_t users;
	double jain;            /* of the users' progress, sum of solo durations / sum of JCT: 1 = all alike */
	double ftf_mean;        /* finish-time fairness of the jobs: mean */
	double ftf_above_frac;  /* jobs above 1: worse off than with their own part of the cluster */
	double ftf_worst_user;  /* the largest of the users' means */
	const char *worst_user; /* points into the result */
};
/* Jobs present are those of all users, measured or not, until they ended, or the last
 * end of any job. Rejected jobs were never there. CT_EIO: a column is missing. */
int ct_user_fairness(const struct ct_result *r, struct ct_user_fairness *out, struct ct_err *err);
/* Members of the object that is open: jain_users, ftf_mean, ... */
void ct_user_fairness_json(const struct ct_user_fairness *f, struct ct_json *j);
#define CT_FAIRNESS_KEYS "jain_users", "ftf_mean", "ftf_above_frac", "ftf_worst_user"
#define CT_FAIRNESS_NOTE                                                                             \
	"jain_users: Jain's index of the users' progress, solo time / JCT: 1 = all alike.\n"         \
	"ftf: finish-time fairness, JCT / (solo time x contention share): above 1 a job was worse\n" \
	"off than with its own part of the cluster (experiments/fairness.h).\n"

#endif
