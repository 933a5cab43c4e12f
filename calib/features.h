/* SPDX-License-Identifier: GPL-3.0-or-later */
/* features.h - the 36 features of a co-location pair (ElastiCo, section 3.3.1).
 *
 *	 0-13  of the job whose slowdown is asked: SM activity, SM occupancy, DRAM activity,
 *	       framebuffer (MB), tensor activity, is training, log10 parameters, log10
 *	       throughput, log2 batch (training), checkpointing, AMP, ISL, OSL, prefix
 *	       share (inference); what a job does not have is 0
 *	14-27  of the other
 *	28-31  means of SM activity, occupancy, DRAM and tensor activity
 *	   32  type: 0 T+T, 1 T+I, 2 I+I
 *	   33  memory pressure: sum of framebuffers / 80 GB
 *	   34  compute balance: min / max SM activity
 *	   35  |DRAM / SM of one - DRAM / SM of the other|
 *
 * The paper counts 36 but lists 37 with a mean of the framebuffer, which is the
 * memory pressure times a constant; it is left out. Host pressure and share weight of
 * the truth are not among them: the scheduler does not see them. */
#ifndef CT_CALIB_FEATURES_H
#define CT_CALIB_FEATURES_H

#include "calib/profiles.h"
#include "calib/samples.h"

enum { CT_JOB_FEATURES = 14, CT_FEATURES = 36 };
extern const char *const ct_feature_name[CT_FEATURES];

/* Counters and throughput as a profiler measures them: off by a log-normal factor of
 * this sd, drawn once for each configuration. */
struct ct_observation {
	uint64_t seed;
	double sd;
};

/* `index` of the profile in its set keys the error; `seen` NULL: exact. */
void ct_features_job(const struct ct_profile *p, uint64_t index, const struct ct_observation *seen,
		     double out[CT_JOB_FEATURES]);
void ct_features_pair(const double self[CT_JOB_FEATURES], const double other[CT_JOB_FEATURES], double out[CT_FEATURES]);
enum ct_pair_type ct_features_type(const double self[CT_JOB_FEATURES], const double other[CT_JOB_FEATURES]);

#endif
