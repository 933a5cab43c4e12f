/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reservation.h - EASY's promise to a job that does not fit: by the estimated ends
 * of the running jobs it can start at the *shadow time*, and no job that is started
 * before it in the queue's stead may take that away.
 *
 * Shadow time = the earliest estimated end after which the job fits by the policy's
 * placement rule, once all jobs with that end or an earlier one have given back
 * what they hold. A job past its estimate is assumed to end in 1 us. A later job
 * that outlives the shadow time is allowed where the rule puts it now if the
 * promised job would still fit at the shadow time beside it and all other such jobs.
 * Where even all ends do not suffice (nodes are down), nothing is promised and
 * everything is allowed.
 *
 * With whole GPUs counted (placement=count, nobody shares, CPU and memory do not
 * matter) "fits" is a comparison of two counts: O(log running jobs) a reservation,
 * O(1) a question. Otherwise the GPUs of the partition are copied and the ends
 * played through: O(GPUs + GPUs of the jobs that end before) a reservation, O(GPUs
 * of the nodes concerned) a question. GPU memory held back when GPUs are shared
 * (sim's gpu_reserve_mib) is not known to a policy and not counted. */
#ifndef CT_SCHEDULER_RESERVATION_H
#define CT_SCHEDULER_RESERVATION_H

#include "scheduler/queueing.h"

struct ct_ends {            /* of the running jobs of a partition, by estimated end */
	uint32_t all;       /* tree: weight = GPUs held */
	uint32_t *by_group; /* trees, index in part->group; NULL with one group */
};

struct ct_end {
	ct_time us;    /* INT64_MIN: it does not run */
	uint32_t node; /* with CT_PLACE_POOL */
};

struct ct_shadow_gpu {
	uint32_t used_milli, used_mem_mib, n_residents;
};
struct ct_shadow_node {
	uint64_t free_milli;
	uint64_t cpu_milli, mem_mib; /* free */
	uint32_t fits;               /* GPUs the promised job could have here */
};
struct ct_shadow_tally {     /* over the nodes of a group */
	uint64_t gpus;       /* sum of fits */
	uint32_t full, rest; /* nodes with at least so many as full_at, rest_at */
	uint32_t full_at, rest_at;
};

struct ct_reservation {
	struct ct_queueing *q;
	struct ct_tree_pool pool;
	struct ct_ends *ends; /* a partition */
	struct ct_end *end;   /* a job */
	size_t n_end, cap_end;
	uint8_t *shares;  /* a partition: some job of it asked for a share */
	uint8_t *limited; /* a partition: some node has limited CPU or memory */
	uint32_t *gpus;   /* scratch */
	/* the present promise */
	uint32_t partition;
	struct ct_request demand;
	int counted;       /* by counts alone */
	ct_time shadow_us; /* INT64_MAX: nothing is promised */
	uint64_t spare;    /* counted: GPUs beside the promised job's at that time */
	struct ct_shadow_gpu *gpu;
	struct ct_shadow_node *node;
	struct ct_shadow_tally *tally; /* a group */
};

void ct_reservation_init(struct ct_reservation *r, struct ct_queueing *q, const struct ct_view *v);
void ct_reservation_fini(struct ct_reservation *r);
/* A job of a class with this demand exists. */
void ct_reservation_know(struct ct_reservation *r, const struct ct_request *d);
/* A job was started there and is estimated to end then; it ended or was preempted. */
void ct_reservation_started(struct ct_reservation *r, const struct ct_view *v, uint32_t job, ct_time end_us,
			    const struct ct_place *at);
void ct_reservation_ended(struct ct_reservation *r, const struct ct_view *v, uint32_t job);

/* Promises the cluster to a job with demand `d` that does not fit now. */
void ct_reservation_make(struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d);
/* May a job of demand `d` that outlives the shadow time start? 1, 0, or -1: that
 * depends on where (ask ct_reservation_allows). */
int ct_reservation_allows_anywhere(const struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d);
/* May one start here? */
bool ct_reservation_allows(struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d,
			   const struct ct_place *at);
/* One does. Call before it starts. */
void ct_reservation_take(struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d,
			 const struct ct_place *at);

#endif
