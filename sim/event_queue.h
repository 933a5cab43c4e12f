/* SPDX-License-Identifier: GPL-3.0-or-later */
/* event_queue.h - the pending events of one world, in the documented order
 *
 *	(time, class, sequence)
 *
 * where class is finish < node < arrival < timer < epoch and sequence is the
 * order of insertion; moving an event counts as inserting it anew. The order is
 * total, exact and part of the contract: golden files and the tests against
 * other engines rest on it.
 *
 *	struct ct_event_queue q;
 *	ct_event_queue_init(&q);
 *	ct_event_handle h = ct_event_push(&q, 5 * CT_SECOND, CT_EVENT_FINISH, job);
 *	ct_event_move(&q, h, 7 * CT_SECOND);    // a re-rated job finishes later
 *	struct ct_event e;
 *	while (ct_event_pop(&q, &e)) ...
 *	ct_event_queue_fini(&q);
 *
 * A handle is a slot and its generation: after the event was popped or
 * cancelled, the old handle is stale and every call on it fails, also when the
 * slot holds another event. Costs: push, pop, cancel, move O(log4 n); peek O(1).
 * At most 2^24 - 1 events pend at a time and 2^36 are pushed in a run (checked). */
#ifndef CT_SIM_EVENT_QUEUE_H
#define CT_SIM_EVENT_QUEUE_H

#include "sim/clock.h"

#include <stdbool.h>
#include <stdint.h>

enum ct_event_class {
	CT_EVENT_FINISH,  /* an activity ends: job done, or its transition over */
	CT_EVENT_NODE,    /* a node goes down or comes up */
	CT_EVENT_ARRIVAL, /* a job is submitted */
	CT_EVENT_TIMER,   /* a wake-up a policy asked for; ends of windows */
	CT_EVENT_EPOCH,   /* the policy is asked, after all else of this instant */
};

typedef struct {
	uint32_t slot, generation; /* generation 0 is never given out: { 0 } is no handle */
} ct_event_handle;

struct ct_event {
	ct_time time;
	enum ct_event_class class;
	uint32_t payload; /* what was pushed: a job, a node, a timer */
};

struct ct_event_node;

struct ct_event_queue {
	void *raw;                  /* the allocation behind heap */
	struct ct_event_node *heap; /* 16-byte nodes; four siblings fill a cache line */
	uint32_t *position;         /* slot -> heap index */
	uint32_t *generation;       /* slot -> current generation */
	uint32_t *payload;          /* slot -> payload */
	uint32_t *free_slot;        /* stack of free slots */
	uint32_t n, cap, n_free;
	uint64_t sequence; /* of the next insertion; also the number of insertions */
};

void ct_event_queue_init(struct ct_event_queue *q);
void ct_event_queue_fini(struct ct_event_queue *q);

/* `time` is at least 0. */
ct_event_handle ct_event_push(struct ct_event_queue *q, ct_time time, enum ct_event_class class, uint32_t payload);
/* Earliest event, removed. False: the queue is empty and *out is unchanged. */
bool ct_event_pop(struct ct_event_queue *q, struct ct_event *out);
bool ct_event_peek(const struct ct_event_queue *q, struct ct_event *out);
/* False: the handle is stale; nothing happens. */
bool ct_event_cancel(struct ct_event_queue *q, ct_event_handle h);
bool ct_event_move(struct ct_event_queue *q, ct_event_handle h, ct_time time);
uint32_t ct_event_queue_size(const struct ct_event_queue *q);

#endif
