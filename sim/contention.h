/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention.h - the truth about two jobs on one GPU, as the engine asks it.
 *
 * Whoever implements it (a pair table, the calibrated model) fills this struct;
 * the engine multiplies the factor into a job's rate for every resident it
 * shares a GPU with. A policy never sees it: it has its own belief. */
#ifndef CT_SIM_CONTENTION_H
#define CT_SIM_CONTENTION_H

#include <stdint.h>

/* One resident of a GPU. */
struct ct_contender {
	uint32_t job;      /* index in the workload */
	uint32_t model;    /* number in workload->strings, 0 = unnamed */
	uint32_t config;   /* index in the job's family */
	uint32_t gpu_type; /* index in the cluster's types */
	uint32_t milli;    /* share of the GPU */
	uint32_t start;    /* counts starts: the smaller one was there first */
};

struct ct_contention {
	void *state;
	/* Speed that `self` keeps beside `other`, as a fraction of its solo speed: > 0,
	 * usually at most 1. Must be a pure function of its arguments. */
	double (*factor)(const void *state, const struct ct_contender *self, const struct ct_contender *other);
};

#endif
