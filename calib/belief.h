/* SPDX-License-Identifier: GPL-3.0-or-later */
/* belief.h - what a scheduler may think of the jobs of a calibrated world: the
 * truth's families as a profiler measured them, and a predictor's slow-downs.
 *
 *	struct ct_believer *b;
 *	CT_TRY(ct_believer_new(&options, truth, &b, &err));
 *	spec.belief = ct_believer_belief(b);
 *	...
 *	ct_believer_free(b);                 // before the truth
 *
 * Families as profiled: counters and throughput of a configuration are off by a
 * log-normal factor each, drawn once for each configuration and seed
 * (CT_RANDOM_BELIEF), whatever the job's lengths. Throughput is relative to the
 * default configuration's as it was seen, so that the default's stays 1. SM activity
 * is cut at 1. Memory, CPU and host memory are what the job is launched with: exact.
 *
 * Families as interpolated: counters, throughput and SM activity of a configuration
 * are those of the nearest *other* profile of its model (ct_profile_distance(), the
 * first of equals), as seen, at the job's lengths. A model with one profile keeps it.
 *
 * Kinds: those of the truth (as profiled), then the same again as interpolated: kind
 * k + ct_truth_kinds() has the knobs and memory of k and the counters of its
 * neighbour.
 *
 * Predictors: dnn, xgb and linear get the 36 features of two kinds as seen; oracle is
 * the truth's own slow-down, residual and measured pairs included; none is 1 for
 * every pair. In a calibration folder the learned ones are trained on the generated
 * set of calib/dataset.h with `seed`, or come from `file`, or from `ready` when that is
 * what training would give: iac.h5 of the folder, renewed by
 * `cotenant calib train --out calib/a100-40gb/iac.h5`. For a calibration file
 * they are trained on its measured pairs; where it has no counters, one-hot names
 * of the two workloads stand beside the features that there are.
 *
 * Training waits for the first question, and answers are kept: a run whose policy
 * never asks pays nothing. Whether there is anything to learn from is known before
 * (ct_believer_check()). Answers do not depend on what was asked before; all are at
 * least 1. */
#ifndef CT_CALIB_BELIEF_H
#define CT_CALIB_BELIEF_H

#include "calib/truth.h"
#include "sim/belief.h"

struct ct_believer;

enum ct_belief_predictor {
	CT_BELIEF_DNN,
	CT_BELIEF_XGB,
	CT_BELIEF_LINEAR,
	CT_BELIEF_ORACLE,
	CT_BELIEF_NONE,
	CT_BELIEF_PREDICTORS
};
#define CT_BELIEF_CHOICES "dnn|xgb|linear|oracle|none"
const char *ct_belief_predictor_name(enum ct_belief_predictor p);

/* Predictors that were trained on calibration folders, kept for the next run with the same
 * profiles, predictor and seed: `trained` of the options. One process, one thread. */
struct ct_trained;
struct ct_trained *ct_trained_new(void);
void ct_trained_free(struct ct_trained *t); /* after the believers that used it */

struct ct_belief_options {
	enum ct_belief_predictor predictor;
	const char *file;           /* of `cotenant calib train`; NULL: train */
	const char *ready;          /* the same, used only if it has these profiles, predictor and seed; may be NULL */
	uint64_t seed;              /* of the training and its set */
	uint64_t run_seed;          /* of the profiles' errors */
	double profile_error;       /* sd of their logarithm */
	struct ct_trained *trained; /* may be NULL */
	double pairs;               /* share of a calibration file's measured pairs to train on */
};

/* CT_ECONFIG, CT_EIO: `file` cannot be read, is of other profiles or another predictor. */
int ct_believer_new(const struct ct_belief_options *o, const struct ct_truth *t, struct ct_believer **out,
		    struct ct_err *err);
void ct_believer_free(struct ct_believer *b);
/* CT_ECONFIG: the predictor cannot be trained here (too few measured pairs, a library
 * that is missing); then nobody may ask. */
int ct_believer_check(const struct ct_believer *b, struct ct_err *err);
/* Lives as long as `b`. */
const struct ct_belief *ct_believer_belief(const struct ct_believer *b);

struct ct_belief_info {
	const char *predictor;
	/* Of everything the belief follows from beside the truth: predictor, seeds, errors,
	 * the file's content. */
	const char *digest;
	uint64_t asked, computed; /* questions, and those that were not answered from the table */
};
struct ct_belief_info ct_believer_info(const struct ct_believer *b);

/* A profile as seen, `id` its number over all known profiles. */
struct ct_profile ct_believer_seen(const struct ct_believer *b, const struct ct_profile *p, uint32_t id);
/* The nearest other profile of a kind's model (a number over all known profiles); the
 * kind's own where there is no other. */
uint32_t ct_believer_nearest(const struct ct_believer *b, uint32_t kind);
/* The answer to slowdown() without the table. */
double ct_believer_compute(struct ct_believer *b, uint32_t self, uint32_t other);

#endif
