/* SPDX-License-Identifier: GPL-3.0-or-later */
/* assign.h - workload names for traces that name none: every job without a model
 * gets one, drawn by stated weights from a file, seeded.
 *
 * The file is CSV with the header
 *	model,weight,kind,min_duration,max_duration,min_gpus,max_gpus,source
 * one row a name. A job draws among the rows that fit it, by weight: `kind` equal to
 * the job's column "kind" where both say one, its solo run time (seconds) and GPUs
 * within the limits; an empty cell fits every job. Each job has its own random stream,
 * keyed by its id, so a job keeps its name when others are added or left out. A job
 * that no row fits keeps none, and is counted. The name is a text; whoever loads a
 * calibration resolves it. */
#ifndef CT_TRACES_ASSIGN_H
#define CT_TRACES_ASSIGN_H

#include "sim/err.h"
#include "sim/workload.h"

#include <stdint.h>

/* A new sealed workload. CT_EIO, CT_ECONFIG: the file. Rules: assigned_model,
 * unassigned_model. */
int ct_trace_assign(const struct ct_workload *w, const char *path, uint64_t seed, struct ct_workload **out,
		    struct ct_err *err);

#endif
