/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ceiling.h - the most work that GPUs can do within a window when jobs run in their default
 * configurations and share GPUs in pairs that fit the memory: a bound for every scheduler
 * that does not reshape jobs, however clever, and whichever of the jobs it chooses.
 *
 * Linear program (GLPK): the GPUs spend shares of their time on single workloads and on
 * pairs; of no workload more is done than there is:
 *	max sum of d_w  with  d_w <= x_w + sum over pairs of y_wv / S(w|v),  0 <= d_w <= a_w
 *	                      for each workload w,  sum x + sum y <= 1
 * a_w: the workload's work, in default-configuration GPU-seconds, over the window's GPU-seconds. Gangs,
 * queues and arrivals only lower what can be reached. */
#ifndef CT_EXPERIMENTS_REPRO_CEILING_H
#define CT_EXPERIMENTS_REPRO_CEILING_H

#include "calib/truth.h"
#include "sim/err.h"
#include "sim/workload.h"

/* Default-configuration GPU-seconds a second and GPU, in a window of so many GPU-seconds. CT_ECONFIG:
 * built without GLPK, or no job has a family. */
int ct_ceiling(const struct ct_truth *t, const struct ct_workload *w, uint32_t gpu_mem_mib, double window_gpu_s,
	       double *out, struct ct_err *err);

#endif
