/* SPDX-License-Identifier: GPL-3.0-or-later */
/* belief.h - what a scheduler may believe about jobs and pairs of jobs: the other side
 * of contention.h, which is the truth.
 *
 * Whoever implements it (calib/belief.h) fills this struct; scheduler/control.c hands
 * it to policies through the host table. */
#ifndef CT_SIM_BELIEF_H
#define CT_SIM_BELIEF_H

#include "sim/profile.h"

#include <stdint.h>

struct ct_belief {
	void *state;
	/* Per job, as profiled and as interpolated from the nearest other profile. Entries,
	 * and the arrays, may be NULL: then the world's own family, else the request. */
	const struct ct_family *const *profiled, *const *nearest;
	uint32_t n_kinds;
	/* Slow-down >= 1 of kind `self` beside `other`; NULL: 1 for every pair. */
	double (*slowdown)(void *state, uint32_t self, uint32_t other);
};

#endif
