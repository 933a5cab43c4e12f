/* SPDX-License-Identifier: GPL-3.0-or-later */
/* truth.h - the calibrated world as the engine asks for it: the family of
 * configurations of every job whose model is known, and what they do to each
 * other on one GPU.
 *
 * A job's model name selects the workload. These columns of the trace, where they
 * are there, narrow its family: `isl`, `osl` (tokens: only configurations whose
 * sequence length covers their sum, at the throughput of these lengths),
 * `min_throughput` (in the workload's unit), `config` (the default, nearest when it
 * was not profiled). Configurations that do not fit the GPU's memory are out. A job
 * of an unknown model, or with a need that nothing meets, has no family; it is
 * counted, runs as its request says, and shares by the contention `beside`.
 *
 * The frozen residual multiplies each slow-down by exp(sigma z), sigma by type of
 * the pair, z drawn once for each ordered pair of configurations (CT_RANDOM_TRUTH);
 * S stays at least 1. Measured pairs of a calibration file, and of a folder when that
 * is asked for, replace the model and get no residual.
 *
 * A *kind* is a configuration at given sequence lengths: what decides contention and
 * belief. Jobs that differ only in GPUs, CPU or floor share kinds; they are numbered
 * from 0 in the order in which jobs bring them. */
#ifndef CT_CALIB_TRUTH_H
#define CT_CALIB_TRUTH_H

#include "calib/alter.h"
#include "calib/calibration.h"
#include "calib/store.h"
#include "sim/contention.h"
#include "sim/profile.h"
#include "sim/workload.h"

struct ct_truth;

struct ct_truth_options {
	const char *dir;      /* a calibration folder, or */
	const char *file;     /* a calibration file */
	uint64_t seed;        /* of the residual */
	int residual;         /* 0: the bare model */
	uint32_t gpu_mem_mib; /* largest GPU of the cluster, 0 = that of the calibration */
	double scaling;       /* of training jobs over GPUs (struct ct_family); 0 = 1 */
	int no_amp;           /* leave out configurations of mixed precision */
	/* Jobs start in their fastest configuration instead of the default, which stays
	 * the measure of work: "each job's fastest static configuration". */
	int fastest;
	struct ct_alteration world;  /* of the folder's best fit (calib/alter.h) */
	int measured;                /* the folder's measured pairs (table6.csv) replace the model */
	struct ct_contention beside; /* of pairs the calibration does not know; factor NULL = none */
};

/* `work` is read, not kept; its jobs' numbers are. */
int ct_truth_new(const struct ct_truth_options *o, const struct ct_workload *work, struct ct_truth **out,
		 struct ct_err *err);
void ct_truth_free(struct ct_truth *t);
/* Per job, NULL entries for jobs without one. */
const struct ct_family *const *ct_truth_families(const struct ct_truth *t);
struct ct_contention ct_truth_contention(const struct ct_truth *t);
/* The profiles of a job's family, in its order; NULL without a family. */
const struct ct_profile *ct_truth_profiles(const struct ct_truth *t, uint32_t job);

/* ---- for the belief (calib/belief.h) */

/* Number of a job's family, below ct_truth_info().families; UINT32_MAX without one. */
uint32_t ct_truth_family_of(const struct ct_truth *t, uint32_t job);
/* A family by number; n = 0: its configurations meet no job's need, and no job has it. */
const struct ct_family *ct_truth_family(const struct ct_truth *t, uint32_t family);

struct ct_kind {
	const struct ct_profile *profile; /* at its lengths */
	uint32_t id;                      /* of the profile, over all that are known */
	uint32_t workload, first, n;      /* its workload, and the ids of that: first .. first + n - 1 */
	double isl, osl;                  /* of the job; 0, 0: those of the profile */
};
uint32_t ct_truth_kinds(const struct ct_truth *t);
struct ct_kind ct_truth_kind(const struct ct_truth *t, uint32_t kind);
/* Slow-down of kind `self` beside `other`, residual and measured pairs included, at
 * least 1 unless measured otherwise: 1 / the contention's factor. */
double ct_truth_slowdown(const struct ct_truth *t, uint32_t self, uint32_t other);

uint32_t ct_truth_n_profiles(const struct ct_truth *t);
/* A known profile at these lengths, 0, 0 = its own. */
struct ct_profile ct_truth_profile(const struct ct_truth *t, uint32_t id, double isl, double osl);
/* What the truth was made of: one of the two is NULL. */
const struct ct_profiles *ct_truth_set(const struct ct_truth *t);
const struct ct_calibration *ct_truth_file(const struct ct_truth *t);
const struct ct_slowdown_params *ct_truth_params(const struct ct_truth *t);

/* A switch row from `flag` to `flag` stands for every pair of configurations (of its
 * model, or of all) that differ in a flag alone, prefix caching: `in` with those rows
 * made explicit, into the arena. */
struct ct_transition_table ct_truth_transitions(const struct ct_truth *t, const struct ct_transition_table *in,
						struct ct_arena *arena);

struct ct_truth_info {
	const char *gpu, *digest;
	uint32_t reserve_mib; /* memory of a shared GPU that no job may use */
	size_t jobs, jobs_known, jobs_unknown, jobs_unmet, families, measured_pairs;
	struct ct_profile_store store; /* arrivals: profiled, nearest instead, unknown */
};
struct ct_truth_info ct_truth_info(const struct ct_truth *t);

#endif
