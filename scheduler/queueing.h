/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queueing.h - what the simple policies share: their options, the waiting list in
 * the policy's order, and the passes over it.
 *
 * Each partition (virtual cluster) is a queue of its own: a blocked head blocks
 * only its partition. Order is strict, ties by submission. A policy's state begins
 * with a struct ct_queueing, its option table with CT_QUEUEING_OPTIONS:
 *
 *	static const struct ct_opt opts[] = { CT_QUEUEING_OPTIONS("stop"), { .name = NULL } };
 *
 * A job whose placement rule can never hold it is rejected when first looked at.
 *
 * Cost of a call of schedule(): nothing but the new jobs where nothing was freed
 * since the last; else, a partition, the classes of demand (waiting.h) that pass a
 * comparison with what is free, plus O(log) a job started. Never the backlog. */
#ifndef CT_SCHEDULER_QUEUEING_H
#define CT_SCHEDULER_QUEUEING_H

#include "scheduler/policy.h"
#include "scheduler/waiting.h"

enum ct_on_block { CT_ON_BLOCK_STOP, CT_ON_BLOCK_SKIP };
enum ct_order {
	CT_ORDER_SUBMIT,   /* order_by's column if given, else submission */
	CT_ORDER_ESTIMATE, /* order_by's column if given, else the estimate, shortest first */
	CT_ORDER_OWN,      /* the policy adds jobs itself */
};

struct ct_queue_part {             /* of a partition */
	uint32_t *group, n_groups; /* in view->groups */
	uint32_t node;             /* its only node, or CT_ANY */
	uint32_t blocked;          /* head that did not fit, CT_NO_JOB */
	uint32_t freed;            /* something was given back since the last pass */
	uint32_t fresh;            /* jobs were added since the last pass */
};

struct ct_candidate { /* the next job of a class in a pass */
	int64_t key;
	uint32_t job, class;
};

struct ct_queueing {
	/* options */
	int placement; /* enum ct_place_rule */
	int on_block;  /* enum ct_on_block */
	int estimate;  /* enum ct_estimate_mode */
	double sigma;
	int64_t residents;
	const char *order_by;
	/* run */
	enum ct_order order;
	uint32_t column; /* of order_by, or CT_ANY */
	struct ct_waiting waiting;
	struct ct_queue_part *part;
	uint32_t n_parts;
	uint32_t *fresh; /* jobs to be admitted, in order of arrival */
	size_t n_fresh, cap_fresh;
	/* Told of each start and where, before anything else is placed; may be NULL. */
	int (*started)(struct ct_queueing *q, const struct ct_view *v, uint32_t job, const struct ct_place *at);
	struct ct_candidate *candidate; /* scratch of a pass */
	size_t cap_candidates;
};

#define CT_QUEUEING_PLACEMENT                                                                                        \
	{                                                                                                            \
		"placement", CT_OPT_ENUM, offsetof(struct ct_queueing, placement), "count", 0, 0, "count|pack|pool", \
		    NULL, "any free GPUs, one node best fit, or a share of a node as one divisible pool", 0          \
	}
#define CT_QUEUEING_ON_BLOCK(default_)                                                                              \
	{                                                                                                           \
		"on_block", CT_OPT_ENUM, offsetof(struct ct_queueing, on_block), default_, 0, 0, "stop|skip", NULL, \
		    "a job that does not fit stops the jobs behind it, or is passed over", 0                        \
	}
#define CT_QUEUEING_ORDER_BY                                                                           \
	{                                                                                              \
		"order_by", CT_OPT_TEXT, offsetof(struct ct_queueing, order_by), "", 0, 0, NULL, NULL, \
		    "trace column that orders the queue, smallest value first, ties by submission", 0  \
	}
#define CT_QUEUEING_ESTIMATE                                                                                    \
	{ "estimate",                                                                                           \
	  CT_OPT_ENUM,                                                                                          \
	  offsetof(struct ct_queueing, estimate),                                                               \
	  "true",                                                                                               \
	  0,                                                                                                    \
	  0,                                                                                                    \
	  "true|noisy|column",                                                                                  \
	  NULL,                                                                                                 \
	  "run-time estimates: the truth, the truth with log-normal error, the trace's requested time",         \
	  0 },                                                                                                  \
	{                                                                                                       \
		"estimate_sigma", CT_OPT_DOUBLE, offsetof(struct ct_queueing, sigma), "0.5", 0, 10, NULL, NULL, \
		    "sigma of the log-normal error of estimate=noisy", 0                                        \
	}
#define CT_QUEUEING_RESIDENTS                                                                            \
	{                                                                                                \
		"residents", CT_OPT_INT, offsetof(struct ct_queueing, residents), "1", 1, 2, "", "jobs", \
		    "jobs that may share a GPU beyond what their shares allow; 1 = no co-location", 0    \
	}
#define CT_QUEUEING_OPTIONS(on_block_)                                                                      \
	CT_QUEUEING_PLACEMENT, CT_QUEUEING_ON_BLOCK(on_block_), CT_QUEUEING_ORDER_BY, CT_QUEUEING_ESTIMATE, \
	    CT_QUEUEING_RESIDENTS

/* Finds order_by's column; the error was reported when nonzero. */
int ct_queueing_init(struct ct_queueing *q, const struct ct_view *v, enum ct_order order);
void ct_queueing_fini(void *queueing);
/* The policy's callbacks, or the first part of them. */
void ct_queueing_submit(void *queueing, const struct ct_view *v, uint32_t job);
void ct_queueing_finish(void *queueing, const struct ct_view *v, uint32_t job);
void ct_queueing_change(void *queueing, const struct ct_view *v, uint32_t job);

/* Estimated run time still to come: the estimate less what was attained, >= 1. */
int ct_queueing_remaining(const struct ct_queueing *q, const struct ct_view *v, uint32_t job, ct_time *out);
/* The class of a job, or *possible = 0 after rejecting a job that can never fit. */
int ct_queueing_classify(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t job,
			 uint32_t *class, int *possible);
/* Puts the jobs of `fresh` that still wait into the list by order and key; with
 * `with_value`, an estimate of the remaining time is each job's value. They stay in
 * q->fresh (those added only) until ct_queueing_done(). */
int ct_queueing_admit(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, int with_value);
/* Forgets the fresh jobs and what was freed. */
void ct_queueing_done(struct ct_queueing *q);

/* An upper bound of what fits into the partition now. */
struct ct_room ct_queueing_room(const struct ct_queueing *q, const struct ct_view *v, uint32_t partition);
/* False: a job of that demand cannot fit now (cheaper than host->place). */
bool ct_queueing_may_fit(const struct ct_queueing *q, const struct ct_view *v, const struct ct_room *room,
			 const struct ct_request *d);
/* Fills q->candidate with the first jobs of the classes within `room`; their number. */
uint32_t ct_queueing_candidates(struct ct_queueing *q, uint32_t partition, const struct ct_room *room);
/* Index of the earliest of n > 0 candidates. */
uint32_t ct_candidate_earliest(const struct ct_candidate *c, uint32_t n);
/* Where the rule puts a job; .n = 0: it does not fit. */
struct ct_place ct_queueing_place(const struct ct_queueing *q, const struct ct_view *v, uint32_t job);
/* Starts a waiting job there and takes it from the list. */
int ct_queueing_start_at(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t job,
			 const struct ct_place *at);
/* Both. */
enum ct_start_result ct_queueing_start(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t job);
/* The reasons of these policies; the table of one with more begins with CT_QUEUEING_WHYS. */
enum ct_queueing_why {
	CT_WHY_GANG,
	CT_WHY_NODE,
	CT_WHY_ROOM,
	CT_WHY_OUTLASTS,
	CT_WHY_RANK,
	CT_WHY_PREEMPTED,
	CT_QUEUEING_N_WHYS
};
/* clang-format off */
#define CT_QUEUEING_WHYS                                                                                              \
	{ "gang", "GPUs wanted at once: %a, idle: %b", 1 },                                                           \
	{ "node", "GPUs wanted on one node: %a, idle on the emptiest: %b", 1 },                                       \
	{ "room", "GPUs wanted: %a, idle: %b, but not as it wants them (type, memory, CPU, nodes)", 1 },              \
	{ "outlasts", "fits, but its estimate is %a s, and its GPUs are promised to %j in %b s", 1 },                 \
	{ "rank", "GPUs wanted: %a, left by the jobs that rank before it: %b", 1 },                                   \
	{ "preempted", "gave way to jobs that rank before it, first of them %j", 0 }
/* clang-format on */
extern const struct ct_why ct_queueing_whys[];
/* Notes why a job does not fit now: its gang, one node, or the rest. */
void ct_queueing_note_room(const struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t job);

/* Starts jobs of a partition in order until one does not fit; q->part[].blocked is
 * that one, or CT_NO_JOB. */
int ct_queueing_start_head(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t partition);

/* The whole of schedule() for a policy that starts jobs in its order and stops or
 * skips at those that do not fit. */
int ct_queueing_schedule(void *queueing, const struct ct_view *v, struct ct_plan *p);
/* A policy that is nothing but a queue in some order begins its state with it. */
#define CT_QUEUEING_CALLBACKS                                                                              \
	.on_submit = ct_queueing_submit, .on_finish = ct_queueing_finish, .on_change = ct_queueing_change, \
	.schedule = ct_queueing_schedule, .fini = ct_queueing_fini, .whys = ct_queueing_whys

#endif
