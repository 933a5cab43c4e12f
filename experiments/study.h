/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - runs variants of policies over seeds in studies (experiments/repro/paper.h), each
 * cell once, on several processes, and keeps one row of numbers for each.
 *
 *	struct ct_study *s = ct_study_new(paper, "experiments/paper/scenario.yaml");
 *	ct_study_want(s, study, variant, 10);              // seeds 1..10; again with more: the rest is added
 *	CT_TRY(ct_study_run(s, &how, &err));
 *	const double *jct = ct_study_values(s, study, variant, CT_METRIC_mean_jct_s, seeds, values);
 *
 * Cells are independent and keyed by their seed, so numbers do not depend on how many
 * processes there are, nor on what else was run. */
#ifndef CT_EXPERIMENTS_STUDY_H
#define CT_EXPERIMENTS_STUDY_H

#include "experiments/inputs.h"
#include "experiments/repro/paper.h"
#include "sim/metrics.h"

#include <signal.h>

/* Beside the metrics of sim/metrics.h, numbered after them: X(key, definition) */
#define CT_STUDY_METRICS(X)                                                                                     \
	X(mean_train_jct_s, "mean JCT of training jobs")                                                        \
	X(median_train_jct_s, "median JCT of training jobs")                                                    \
	X(mean_infer_jct_s, "mean JCT of inference jobs")                                                       \
	X(median_infer_jct_s, "median JCT of inference jobs")                                                   \
	X(slowest_decile_rate, "10 % quantile over jobs of duration / (finish - first start)")                  \
	X(transitions_per_gpu_h, "switches and migrations an hour and GPU, first submission to last finish")    \
	X(transition_gpu_frac, "GPU time that jobs held standing still in switches and migrations / all of it") \
	X(profile_hits_frac, "arrivals whose workload, lengths and GPU count had arrived before / arrivals")    \
	X(epoch_ms, "mean time of a call of the policy (wall clock)")                                           \
	X(cpu_s, "CPU seconds of the cell (wall clock)")

enum ct_study_metric {
	CT_STUDY_FIRST_ = CT_METRIC_COUNT - 1,
#define CT_STUDY_ID(key, text) CT_STUDY_##key,
	CT_STUDY_METRICS(CT_STUDY_ID)
#undef CT_STUDY_ID
	    CT_STUDY_METRIC_COUNT
};
/* By key, of both kinds; -1: none. */
int ct_study_metric(const char *key);
const char *ct_study_metric_key(int metric);

struct ct_study;

/* `set`: settings after the scenario and before study and variant (for sensitivity);
 * both must outlive the study. */
struct ct_study *ct_study_new(const struct ct_paper *paper, const char *scenario, const struct ct_cell_set *set,
			      size_t n_set);
/* Where settings "input:NAME" are from; `in` outlives the study. Without it they are refused. */
void ct_study_inputs(struct ct_study *s, struct ct_inputs *in);
void ct_study_free(struct ct_study *s);
/* Asks for seeds first .. first + n - 1 of a study under a variant. */
void ct_study_want(struct ct_study *s, size_t study, size_t variant, int64_t first, unsigned n);

struct ct_study_run {
	unsigned processes; /* 0 and 1: this one alone */
	const volatile sig_atomic_t *interrupted;
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
};
/* Runs what was wanted and is not there yet. Errors name the cell. */
int ct_study_run(struct ct_study *s, const struct ct_study_run *how, struct ct_err *err);

/* The metric for each wanted seed of a study under a variant, ascending by seed, into
 * `out` (cap values); returns how many there are. */
size_t ct_study_values(const struct ct_study *s, size_t study, size_t variant, int metric, double *out, size_t cap);

#endif
