/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ceiling.h - the most useful work a GPU can do when jobs run in their default
 * configurations and share GPUs in pairs that fit its memory: a bound for every
 * scheduler that does not reshape jobs, however clever.
 *
 * Linear program (GLPK): the GPU spends shares of its time on single workloads and on
 * pairs; work of each workload comes out in the proportions of the trace:
 *	max L  with  x_w + sum over pairs of y_wv / S(w|v) >= L a_w  for each workload w,
 *	             sum x + sum y <= 1
 * a_w: the workload's share of all work, in default-configuration GPU-seconds. Gangs, queues and
 * arrivals only lower what can be reached. */
#ifndef CT_EXPERIMENTS_REPRO_CEILING_H
#define CT_EXPERIMENTS_REPRO_CEILING_H

#include "calib/truth.h"
#include "sim/err.h"
#include "sim/workload.h"

/* Default-configuration GPU-seconds a second and GPU, at least 1 when every job has a family.
 * CT_ECONFIG: built without GLPK, or no job has a family. */
int ct_ceiling(const struct ct_truth *t, const struct ct_workload *w, uint32_t gpu_mem_mib, double *out,
	       struct ct_err *err);

#endif
