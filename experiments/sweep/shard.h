/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shard.h - which part of a sweep this process does.
 *
 *	--shard 3/8       the third of eight parts
 *	--shard auto      as the array job that this is a task of says
 *	--shard auto/8    likewise, of eight parts, however many tasks run now: a task that is
 *	                  submitted again alone does its own part
 *
 * `auto` knows Slurm's job arrays (SLURM_ARRAY_TASK_ID, and without a number of parts
 * SLURM_ARRAY_TASK_MIN, _STEP and _COUNT) and Kubernetes' indexed jobs (JOB_COMPLETION_INDEX,
 * which counts from 0; the number of parts must be given). */
#ifndef CT_EXPERIMENTS_SWEEP_SHARD_H
#define CT_EXPERIMENTS_SWEEP_SHARD_H

#include "sim/err.h"

#include <stdint.h>

struct ct_shard {
	uint32_t index, of; /* index 1..of; of = 0: everything */
};

/* `get` looks an environment variable up: getenv(). CT_EUSAGE. */
int ct_shard_parse(const char *text, char *(*get)(const char *), struct ct_shard *out, struct ct_err *err);

#endif
