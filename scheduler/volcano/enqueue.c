/* SPDX-License-Identifier: GPL-3.0-or-later */
/* enqueue.c - the gate. It compares aggregates: a gang that passes it and then finds
 * no room keeps its budget, and no timeout takes it back; a job that it rejects is
 * passed by smaller ones (discipline=traverse) or stops its queue (strict_fifo).
 *
 * The backlog is not walked: the tree of pending jobs answers "the next job in order
 * that asks for at most so much". */
#include "scheduler/volcano/volcano.h"

#include <math.h>
#include <stdlib.h>

/* GPUs that one more job of the queue may ask for. */
static int64_t budget(const struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_queue *q)
{
	double most = INFINITY;

	if (s->opt.gate == CT_VOL_GATE_OFF)
		return INT64_MAX;
	if (s->opt.gate != CT_VOL_GATE_OVERCOMMIT)
		most = q->realcap - (double)q->allocated - (double)q->inqueue + (double)q->elastic;
	if (s->opt.gate != CT_VOL_GATE_PROPORTION)
		most = fmin(most, s->opt.overcommit * (double)c->total - (double)c->used - (double)c->inqueue);
	return (int64_t)floor(most + CT_VOL_EPSILON);
}

static bool is_before(const struct ct_tree_item *a, const struct ct_tree_item *b)
{
	return !b || (a && (a->key < b->key || (a->key == b->key && a->item < b->item)));
}

/* The next job after (key, job) that passes; CT_NO_JOB. */
static uint32_t next_job(const struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_queue *q,
			 int64_t key, uint32_t job)
{
	int64_t most = budget(s, c, q);
	const struct ct_tree_item *fits, *expired = NULL;

	if (s->opt.discipline == CT_VOL_STRICT_FIFO) {
		fits = ct_tree_first(&s->trees, q->pending);
		return fits && (fits->value <= most || s->job[fits->item].expired) ? fits->item : CT_NO_JOB;
	}
	fits = ct_tree_find(&s->trees, q->pending, key, job, most);
	if (s->opt.sla_us)
		expired = ct_tree_next(&s->trees, q->expired, key, job);
	if (expired && is_before(expired, fits))
		fits = expired;
	return fits ? fits->item : CT_NO_JOB;
}

void ct_vol_note_pending(const struct ct_volcano *s, const struct ct_vol_cell *c, uint32_t job)
{
	if (s->notes)
		s->notes->note(s->notes, job, CT_VOL_WHY_GATE, CT_NO_JOB, s->job[job].class->need.min_gpus,
			       (double)budget(s, c, ct_vol_queue_of(s, job)));
}

static bool drain(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c, const struct ct_vol_queue *q)
{
	int64_t key = INT64_MIN;
	uint32_t job = 0;
	bool any = false;

	while (q->n_pending && (job = next_job(s, c, q, key, job)) != CT_NO_JOB) {
		key = ct_vol_key(v, job);
		ct_vol_admit(s, v, job);
		any = true;
	}
	if (s->notes && q->n_pending)
		ct_vol_note_pending(s, c, ct_tree_first(&s->trees, q->pending)->item);
	return any;
}

/* Shares do not move meanwhile: each queue is drained in turn. */
bool ct_vol_enqueue(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c)
{
	bool any = false;

	if (c->n_queues == 1)
		return drain(s, v, c, c->queue[0]);
	for (uint32_t i = 0; i < c->n_queues; i++)
		c->queue[i]->dropped = false;
	for (;;) {
		struct ct_vol_queue *q = NULL;

		for (uint32_t i = 0; i < c->n_queues; i++)
			if (!c->queue[i]->dropped && c->queue[i]->n_pending &&
			    (!q || ct_vol_queue_before(s, c->queue[i], q)))
				q = c->queue[i];
		if (!q)
			return any;
		q->dropped = true;
		any |= drain(s, v, c, q);
	}
}
