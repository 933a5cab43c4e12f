/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preemptive.h - what srtf and las share: at every change all jobs of a partition,
 * running or not, are taken in the policy's order while its GPUs last (greedy
 * admission, as the Lucid artifact does it for both). Running jobs that are chosen
 * keep their GPUs; those that are not give them back; then the chosen waiting jobs
 * start, in order, where the placement rule puts them. One that finds no place
 * (fragmentation) waits on, its GPUs unused until the next change.
 *
 * Admission counts GPU share, a partition's GPU types apart: capacity of the nodes
 * that are up x residents. No job is preempted unless a waiting one was chosen.
 *
 * on_block=skip (the default here) passes over a job larger than what is left;
 * on_block=stop chooses no waiting job behind such a one. order_by does not apply.
 *
 * Cost of a decision, a partition: O(log jobs) a start where all that wait fits
 * beside all that runs; else O(running jobs + classes of demand) more. The running
 * jobs are kept sorted, and re-sorted by insertion. */
#ifndef CT_SCHEDULER_PREEMPTIVE_H
#define CT_SCHEDULER_PREEMPTIVE_H

#include "scheduler/queueing.h"

struct ct_active { /* a job that holds GPUs */
	int64_t key;
	uint64_t milli;
	uint32_t job, gpu_type, chosen;
};

struct ct_active_list { /* of a partition, sorted by (key, job) */
	struct ct_active *job;
	size_t n, cap;
	uint64_t milli; /* sum */
};

struct ct_preemptive {
	struct ct_queueing q; /* first: the options */
	struct ct_active_list *active;
	uint32_t *chosen; /* waiting jobs to start, in order */
	size_t n_chosen, cap_chosen;
	uint64_t *left_by_type; /* scratch: share left of each GPU type */
	/* Rank of a job now, smaller first. Nonzero: an error, reported. */
	int (*key)(struct ct_preemptive *s, const struct ct_view *v, uint32_t job, int64_t *key);
	/* Value of a waiting job (waiting.h); may be NULL. */
	int64_t (*value)(struct ct_preemptive *s, const struct ct_view *v, uint32_t job);
};

int ct_preemptive_init(struct ct_preemptive *s, const struct ct_view *v);
void ct_preemptive_fini(struct ct_preemptive *s);
void ct_preemptive_finish(struct ct_preemptive *s, const struct ct_view *v, uint32_t job);
void ct_preemptive_change(struct ct_preemptive *s, const struct ct_view *v, uint32_t job);
/* Takes the new jobs into the list. */
int ct_preemptive_admit(struct ct_preemptive *s, const struct ct_view *v, struct ct_plan *p);
/* Chooses, preempts and starts in every partition. */
int ct_preemptive_pass(struct ct_preemptive *s, const struct ct_view *v, struct ct_plan *p);

#define CT_PREEMPTIVE_OPTIONS CT_QUEUEING_PLACEMENT, CT_QUEUEING_ON_BLOCK("skip"), CT_QUEUEING_RESIDENTS

#endif
