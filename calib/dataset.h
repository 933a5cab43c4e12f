/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dataset.h - generated co-location sets with the composition of the paper's: 39
 * training and 27 inference variants are drawn (the workloads in turn, configurations
 * uniformly), then 192 T+T, 256 T+I and 96 I+I of their pairs, the combinations of
 * workloads in turn; two samples a pair. That is 24 to 25 % of the pairs of 39 and 27
 * variants, a variant beside itself included.
 *
 *	struct ct_dataset_options o = ct_dataset_defaults(1);
 *	struct ct_dataset d;
 *	ct_dataset_make(&o, profiles, &truth, &d);
 *	... d.samples ...
 *	ct_dataset_fini(&d);
 *
 * measured S = max(1, S exp(sigma_type N)), N frozen for each ordered pair of
 * configurations; counters and throughput are seen with an error of 3 %, drawn once
 * for each configuration. The labels come from the same profiles as the features: what
 * is learned from such a set says something about the learner, nothing about GPUs. */
#ifndef CT_CALIB_DATASET_H
#define CT_CALIB_DATASET_H

#include "calib/features.h"
#include "calib/profiles.h"
#include "calib/slowdown.h"

struct ct_dataset_options {
	uint64_t seed;
	unsigned variants[2]; /* inference, training */
	unsigned pairs[CT_PAIR_TYPES];
	double sigma[CT_PAIR_TYPES]; /* of log S, by type */
	double counter_sd;
	double memory_mib; /* pairs whose memory fits this are measured */
};
/* The paper's composition on an 80 GB device (79.5 GB: less the reserve). */
struct ct_dataset_options ct_dataset_defaults(uint64_t seed);

struct ct_dataset {
	struct ct_samples samples;
	size_t pairs[CT_PAIR_TYPES], possible[CT_PAIR_TYPES]; /* measured; of the variants, that fit */
	size_t topped_up[CT_PAIR_TYPES]; /* pairs of other configurations, where the variants have too few that fit */
	unsigned char *used;             /* [profiles] 1: the configuration occurs in the set */
};

void ct_dataset_make(const struct ct_dataset_options *o, const struct ct_profiles *set,
		     const struct ct_slowdown_params *truth, struct ct_dataset *out);
void ct_dataset_fini(struct ct_dataset *d);

/* Every ordered pair of the set's configurations that fits, or only those of two
 * configurations that `used` (may be NULL) leaves out; without noise in the labels. */
void ct_dataset_every(const struct ct_dataset_options *o, const struct ct_profiles *set,
		      const struct ct_slowdown_params *truth, const unsigned char *used, struct ct_samples *out);

#endif
