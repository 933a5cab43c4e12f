/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.h - who held which GPU when, from a result, for a trace viewer (Perfetto,
 * chrome://tracing).
 *
 *	struct ct_timeline t;
 *	CT_TRY(ct_timeline_make(&t, &result, &err));
 *	CT_TRY(ct_timeline_write(&t, &result, "out.json", CT_TIMELINE_EVENTS, &err));
 *	ct_timeline_fini(&t);
 *
 * One slice for every GPU of every placement of a job, from when the job got it until it
 * ended, left or moved; starts, switches and pauses on the GPU belong to it. So the
 * slices of a job, times its share of a GPU, add up to its gpu_s.
 *
 * Placements are put together from /jobs and, where decisions were kept, /stretches;
 * without, a job that moved is shown on its last GPUs all the time, and a job that
 * was preempted not at all (counted in `unknown`).
 *
 * The file: {"traceEvents":[...],"displayTimeUnit":"ms","otherData":{...}}, times in
 * microseconds of the trace's clock, sorted by time.
 *	ph M	names: process_name "node 3", thread_name "GPU 25"
 *	ph X	slices: pid = node, tid = GPU, numbered through the cluster; args: job, GPUs,
 *		share, model, user, state. Where jobs share a GPU at one time, those
 *		after the first go to lanes: tid = GPU + k x (GPUs of the cluster), sorted
 *		beside it. A share of a node's GPUs, none in particular, has tid from
 *		lanes x (GPUs of the cluster) on.
 *	ph C	counters of pid = (number of nodes), "cluster": "queue length" and "free GPUs",
 *		means over the bins of /series */
#ifndef CT_EXPERIMENTS_TIMELINE_H
#define CT_EXPERIMENTS_TIMELINE_H

#include "sim/err.h"
#include "sim/result.h"

/* What viewers bear: some 200 bytes each. */
enum { CT_TIMELINE_EVENTS = 1000000 };

struct ct_slice {
	ct_time from, to;
	uint32_t job; /* row of /jobs */
	uint32_t gpu; /* CT_NO_GPU: a share of the node */
	uint32_t node;
	uint32_t lane; /* 0 unless others are there at the same time */
	uint32_t gpus; /* of this placement */
};
#define CT_NO_GPU UINT32_MAX

struct ct_timeline {
	struct ct_slice *slice; /* by time, node, GPU, lane */
	size_t n, cap;
	uint32_t n_gpus, n_nodes, lanes;
	size_t unknown; /* placements of which the result does not say where */
};

/* CT_EIO: a column is missing, or a place is not one. */
int ct_timeline_make(struct ct_timeline *t, const struct ct_result *r, struct ct_err *err);
void ct_timeline_fini(struct ct_timeline *t);
/* CT_ECONFIG: more than `most` events. CT_EIO. */
int ct_timeline_write(const struct ct_timeline *t, const struct ct_result *r, const char *path, size_t most,
		      struct ct_err *err);

#endif
