/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capacity.h - the smallest cluster that meets targets: the work of `cotenant plan`.
 *
 *	struct ct_capacity_request q = { .config_file = "run.yaml", .overrides = &o, ... };
 *	CT_TRY(ct_capacity_target_parse("train.p95_jct_s<7200,14400", &target, &err));
 *	CT_TRY(ct_capacity_find(&q, &found, &err));
 *	CT_TRY(ct_capacity_print(&found, stdout, &err));    // or ct_capacity_json()
 *	ct_capacity_fini(&found);
 *
 * A size is a number of whole nodes of cluster.gpus_per_node GPUs. Each size is run
 * with `runs` seeds, sim.seed and those behind it; all policies and sizes see the same
 * seeds. A target is
 *	- shown to be met: the whole 95 % interval of the metric's mean over seeds meets it
 *	  (experiments/statistics.h), the answer's `gpus`;
 *	- met by the mean: `gpus_mean`;
 *	- not ruled out: a part of the interval meets it, `gpus_possible`.
 * [gpus_possible, gpus] is thus what the seeds leave open. With one run the three are
 * the same. A size at which fewer jobs are measured than on the largest cluster (they
 * were rejected, or never started) meets nothing: means over fewer jobs would lie.
 *
 * Search: bisection, which is right where larger is better. Scheduling does not
 * promise that (Graham, SIAM J. Appl. Math. 17, 1969), so two sizes above the one found and two below
 * it are run, too. When a larger one fails, the search goes on above it; any size that
 * fails above one that meets makes the answer not monotone, and it says so.
 *
 * Static partitioning (`is_static`): training and inference each have a pool, under
 * policy[0], on their jobs alone (trace.only=kind=train, kind=infer), sized G_T and
 * G_I by the targets of their class; each other policy runs all jobs on one cluster of
 * G_E GPUs that meets all targets. Two savings:
 *	additional  1 - (G_E - G_T) / G_I	of the GPUs that inference adds to training's
 *	total       1 - G_E / (G_T + G_I)	of all */
#ifndef CT_EXPERIMENTS_CAPACITY_H
#define CT_EXPERIMENTS_CAPACITY_H

#include "experiments/overrides.h"
#include "experiments/statistics.h"
#include "sim/metrics.h"

#include <signal.h>

enum ct_capacity_class { CT_CAPACITY_ALL, CT_CAPACITY_TRAIN, CT_CAPACITY_INFER, CT_CAPACITY_CLASSES };

enum { CT_CAPACITY_LEVELS = 32, CT_CAPACITY_TARGETS = 8, CT_CAPACITY_POLICIES = 16 };

/* [train.|infer.]METRIC OP NUMBER[,NUMBER...], OP one of < <= > >=. */
struct ct_capacity_target {
	enum ct_capacity_class class;
	enum ct_metric metric;
	int is_lower, is_strict; /* < or <=; < or > */
	double bound[CT_CAPACITY_LEVELS];
	size_t n_bounds;
};
/* CT_EUSAGE: no such form, an unknown metric (the nearest is named), or one that a class
 * does not have. */
int ct_capacity_target_parse(const char *text, struct ct_capacity_target *t, struct ct_err *err);
/* "train.p95_jct_s<7200"; level beyond the target's bounds: its last. */
void ct_capacity_target_text(const struct ct_capacity_target *t, size_t level, char *out, size_t cap);

/* "gpus=16..512" or "nodes=2..64"; *in_nodes says which. CT_EUSAGE. */
int ct_capacity_vary_parse(const char *text, int64_t *lo, int64_t *hi, int *in_nodes, struct ct_err *err);

struct ct_capacity_request {
	const char *config_file; /* NULL: none */
	const struct ct_overrides *overrides;
	const char *policy[CT_CAPACITY_POLICIES]; /* none: that of the configuration; static: volcano, elastico */
	size_t n_policies;
	/* Targets with several bounds are swept together: the i-th row takes the i-th of
	 * each, or the only one. */
	struct ct_capacity_target target[CT_CAPACITY_TARGETS];
	size_t n_targets;
	int64_t lo, hi; /* GPUs, or nodes */
	int in_nodes;
	size_t runs; /* 0: 5 where the jobs are generated, else 1 */
	int is_static;
	unsigned processes; /* for the seeds of a size; 0, 1: this one alone. Answers do not depend on it */
	const volatile sig_atomic_t *interrupt;
	void (*progress)(void *ctx, uint64_t runs_done); /* may be NULL */
	void *ctx;
};

struct ct_capacity_answer {
	size_t level;
	const char *policy;
	enum ct_capacity_class only;            /* the jobs it ran on */
	int64_t gpus, gpus_mean, gpus_possible; /* 0: not up to the largest */
	int monotone;                           /* 0: `gpus_fails`, larger than a size that meets, does not */
	int64_t gpus_fails, gpus_smallest;      /* when not monotone: the latter the smallest that was seen to meet */
	size_t sizes;                           /* that were run for this policy until then */
	int same_runs;                          /* seeds change nothing: all runs of the largest are equal */
	int64_t gpus_at;                        /* where the values below are from: gpus, else the largest */
	struct ct_estimate value[CT_CAPACITY_TARGETS]; /* of the targets it had to meet; n = 0 for the others */
	size_t fewer_jobs; /* on gpus_at, fewer measured than on the largest: rejected or left */
};

struct ct_capacity_saving {
	size_t level;
	const struct ct_capacity_answer *train, *infer, *shared;
	double additional, total, additional_mean, total_mean; /* by gpus, by gpus_mean; NaN: one is missing */
};

struct ct_capacity {
	struct ct_capacity_request request;
	int64_t node_gpus, first_seed;
	size_t runs, levels;
	struct ct_capacity_answer *answer;
	size_t n_answers;
	struct ct_capacity_saving *saving; /* static only */
	size_t n_savings;
	int stopped; /* interrupted: answers are missing */
	struct ct_arena arena;
};

/* CT_EUSAGE: targets, sizes or policies do not go together. CT_ECONFIG: the cluster
 * cannot be varied, or the work would change with it (trace.load, generate.kind without
 * generate.gpus). And what a run may return. *out is empty after an error. */
int ct_capacity_find(const struct ct_capacity_request *q, struct ct_capacity *out, struct ct_err *err);
void ct_capacity_fini(struct ct_capacity *c);
/* CT_EIO. */
int ct_capacity_print(const struct ct_capacity *c, FILE *to, struct ct_err *err);
/* {"rows":[...], "savings":[...]}. CT_EIO. */
int ct_capacity_json(const struct ct_capacity *c, FILE *to, struct ct_err *err);
const char *ct_capacity_class_name(enum ct_capacity_class c); /* "all", "train", "infer" */

#endif
