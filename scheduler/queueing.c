/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queueing.c - passes over the waiting list.
 *
 * Two facts keep a pass away from the backlog. Within a pass GPUs are only taken,
 * so a class of equal demand that did not fit does not fit later in that pass:
 * skipping needs each class once. And between two passes without anything given
 * back, jobs that did not fit still do not: only new jobs are looked at. */
#include "scheduler/queueing.h"

#include "sim/memory.h"

#include <stdio.h>
#include <stdlib.h>

static void find_groups(struct ct_queueing *q, const struct ct_view *v)
{
	for (uint32_t i = 0; i < q->n_parts; i++) {
		q->part[i].group = ct_calloc(v->n_groups, sizeof(uint32_t));
		q->part[i].node = CT_ANY;
		q->part[i].blocked = CT_NO_JOB;
	}
	for (uint32_t g = 0; g < v->n_groups; g++) {
		struct ct_queue_part *part = &q->part[ct_view_group(v, g)->partition];

		part->group[part->n_groups++] = g;
	}
}

/* A node down at the start counts, too: it may come up. */
static void find_single_nodes(struct ct_queueing *q, const struct ct_view *v)
{
	uint32_t *n = ct_calloc(q->n_parts, sizeof *n);

	for (uint32_t i = 0; i < v->n_nodes; i++) {
		uint32_t p = ct_view_node(v, i)->partition;

		q->part[p].node = n[p]++ ? CT_ANY : i;
	}
	free(n);
}

int ct_queueing_init(struct ct_queueing *q, const struct ct_view *v, enum ct_order order)
{
	char message[256];

	q->order = order;
	q->n_parts = v->n_partitions;
	q->part = ct_calloc(q->n_parts, sizeof *q->part);
	find_groups(q, v);
	find_single_nodes(q, v);
	ct_waiting_init(&q->waiting, q->n_parts);
	q->column = CT_ANY;
	if (!q->order_by || !*q->order_by)
		return 0;
	q->column = v->host->column(v->host->ctx, q->order_by);
	if (q->column != CT_ANY)
		return 0;
	snprintf(message, sizeof message, "'policy.order_by' wants a column of the trace, got '%.100s'", q->order_by);
	return v->host->fail(v->host->ctx, message);
}

void ct_queueing_fini(void *queueing)
{
	struct ct_queueing *q = queueing;
	for (uint32_t i = 0; q->part && i < q->n_parts; i++)
		free(q->part[i].group);
	free(q->part);
	free(q->fresh);
	free(q->candidate);
	ct_waiting_fini(&q->waiting);
}

void ct_queueing_submit(void *queueing, const struct ct_view *v, uint32_t job)
{
	struct ct_queueing *q = queueing;
	(void)v;
	CT_GROW(q->fresh, q->cap_fresh, q->n_fresh + 1);
	q->fresh[q->n_fresh++] = job;
}

void ct_queueing_finish(void *queueing, const struct ct_view *v, uint32_t job)
{
	struct ct_queueing *q = queueing;
	uint32_t partition = ct_view_job(v, job)->partition;

	if (partition < q->n_parts)
		q->part[partition].freed = 1;
	ct_waiting_remove(&q->waiting, job);
}

void ct_queueing_change(void *queueing, const struct ct_view *v, uint32_t job)
{
	struct ct_queueing *q = queueing;
	if (job != CT_NO_JOB) {
		ct_queueing_submit(q, v, job);
		q->part[ct_view_job(v, job)->partition].freed = 1;
		return;
	}
	for (uint32_t i = 0; i < q->n_parts; i++)
		q->part[i].freed = 1;
}

int ct_queueing_remaining(const struct ct_queueing *q, const struct ct_view *v, uint32_t job, ct_time *out)
{
	int rc = v->host->estimate_us(v->host->ctx, job, q->estimate, q->sigma, out);

	if (rc)
		return rc;
	*out -= ct_view_attained_us(v, job);
	if (*out < 1)
		*out = 1;
	return 0;
}

int ct_queueing_classify(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t job,
			 uint32_t *class, int *possible)
{
	enum { UNKNOWN, POSSIBLE, NEVER };
	struct ct_request d = ct_request_of(ct_view_job(v, job));
	struct ct_waiting_class *c;

	*class = ct_waiting_class(&q->waiting, &d);
	c = &q->waiting.class[*class];
	if (c->known == UNKNOWN)
		c->known = v->host->could_place(v->host->ctx, job, q->placement) ? POSSIBLE : NEVER;
	*possible = c->known == POSSIBLE;
	return *possible ? 0 : p->reject(p, job);
}

static int order_key(const struct ct_queueing *q, const struct ct_view *v, uint32_t job, int64_t *key)
{
	ct_time estimate;
	double x;

	*key = 0;
	if (q->column != CT_ANY) {
		if (v->host->value(v->host->ctx, q->column, job, &x))
			return 1;
		*key = ct_tree_key(x);
	} else if (q->order == CT_ORDER_ESTIMATE) {
		if (ct_queueing_remaining(q, v, job, &estimate))
			return 1;
		*key = estimate;
	}
	return 0;
}

static int admit(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t job, int with_value,
		 int *added)
{
	uint32_t class;
	int64_t key, value = 0;

	if (ct_queueing_classify(q, v, p, job, &class, added))
		return 1;
	if (!*added)
		return 0;
	if (order_key(q, v, job, &key) || (with_value && ct_queueing_remaining(q, v, job, &value)))
		return 1;
	ct_waiting_add(&q->waiting, class, job, key, value);
	q->part[ct_view_job(v, job)->partition].fresh = 1;
	return 0;
}

int ct_queueing_admit(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, int with_value)
{
	size_t n = 0;
	int added;

	for (size_t i = 0; i < q->n_fresh; i++) {
		uint32_t job = q->fresh[i];

		/* killed meanwhile, or hit by two failures of one instant */
		if (ct_view_job(v, job)->state != CT_VIEW_QUEUED || ct_waiting_has(&q->waiting, job))
			continue;
		if (admit(q, v, p, job, with_value, &added))
			return 1;
		if (added)
			q->fresh[n++] = job;
	}
	q->n_fresh = n;
	return 0;
}

void ct_queueing_done(struct ct_queueing *q)
{
	q->n_fresh = 0;
	for (uint32_t i = 0; i < q->n_parts; i++)
		q->part[i].freed = q->part[i].fresh = 0;
}

/* ---- what fits */

struct ct_room ct_queueing_room(const struct ct_queueing *q, const struct ct_view *v, uint32_t partition)
{
	const struct ct_queue_part *part = &q->part[partition];
	struct ct_room r = ct_room_unlimited;

	if (q->residents == 1 && q->placement != CT_PLACE_POOL) {
		r.whole = 0;
		for (uint32_t i = 0; i < part->n_groups; i++)
			r.whole += ct_view_group(v, part->group[i])->idle_gpus;
	}
	if (part->node != CT_ANY) {
		const struct ct_view_node *n = ct_view_node(v, part->node);

		if (q->residents == 1 || q->placement == CT_PLACE_POOL)
			r.milli = n->free_milli;
		r.cpu_milli = n->free_cpu_milli;
		r.mem_mib = n->free_mem_mib;
	}
	return r;
}

/* With PACK a job no larger than a node needs its GPUs on one node. */
static bool some_node_may_hold(const struct ct_queueing *q, const struct ct_view *v, const struct ct_request *d)
{
	const struct ct_queue_part *part = &q->part[d->partition];
	uint32_t idle = 0, size = 0;

	for (uint32_t i = 0; i < part->n_groups; i++) {
		const struct ct_view_group *g = ct_view_group(v, part->group[i]);

		if (d->gpu_type != CT_ANY && d->gpu_type != g->gpu_type)
			continue;
		idle = g->max_idle > idle ? g->max_idle : idle;
		size = g->max_node_gpus > size ? g->max_node_gpus : size;
	}
	return d->num_gpus <= idle || d->num_gpus > size;
}

bool ct_queueing_may_fit(const struct ct_queueing *q, const struct ct_view *v, const struct ct_room *room,
			 const struct ct_request *d)
{
	if (!ct_room_holds(room, d))
		return false;
	if (q->placement != CT_PLACE_PACK || q->residents != 1 || d->gpu_milli != 1000)
		return true;
	return some_node_may_hold(q, v, d);
}

struct ct_place ct_queueing_place(const struct ct_queueing *q, const struct ct_view *v, uint32_t job)
{
	return v->host->place(v->host->ctx, job, q->placement, (uint32_t)q->residents);
}

int ct_queueing_start_at(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t job,
			 const struct ct_place *at)
{
	int rc = ct_start_at(v, p, job, at);

	if (rc)
		return rc;
	ct_waiting_remove(&q->waiting, job);
	return q->started ? q->started(q, v, job, at) : 0;
}

enum ct_start_result ct_queueing_start(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	struct ct_place at = ct_queueing_place(q, v, job);

	if (at.n == 0)
		return CT_DOES_NOT_FIT;
	return ct_queueing_start_at(q, v, p, job, &at) ? CT_START_FAILED : CT_STARTED;
}

/* ---- why not */

const struct ct_why ct_queueing_whys[] = { CT_QUEUEING_WHYS, { .name = NULL } };

void ct_queueing_note_room(const struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	const struct ct_queue_part *part = &q->part[j->partition];
	uint32_t idle = 0, emptiest = 0, largest = 0;
	double wants = (double)j->num_gpus * j->gpu_milli / 1000;

	if (!p->keeps_notes)
		return;
	for (uint32_t i = 0; i < part->n_groups; i++) {
		const struct ct_view_group *g = ct_view_group(v, part->group[i]);

		if (j->gpu_type != CT_ANY && j->gpu_type != g->gpu_type)
			continue;
		idle += g->idle_gpus;
		emptiest = g->max_idle > emptiest ? g->max_idle : emptiest;
		largest = g->max_node_gpus > largest ? g->max_node_gpus : largest;
	}
	if (wants > idle)
		p->note(p, job, CT_WHY_GANG, CT_NO_JOB, wants, idle);
	else if (q->placement != CT_PLACE_COUNT && j->num_gpus <= largest && wants > emptiest)
		p->note(p, job, CT_WHY_NODE, CT_NO_JOB, wants, emptiest);
	else
		p->note(p, job, CT_WHY_ROOM, CT_NO_JOB, wants, idle);
}

/* Those who skip look at each new job once. */
static void note_fresh(const struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p)
{
	for (size_t i = 0; p->keeps_notes && i < q->n_fresh; i++)
		if (ct_waiting_has(&q->waiting, q->fresh[i]))
			ct_queueing_note_room(q, v, p, q->fresh[i]);
}

/* ---- passes */

int ct_queueing_start_head(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t partition)
{
	struct ct_queue_part *part = &q->part[partition];
	uint32_t job;

	if (part->freed)
		part->blocked = CT_NO_JOB;
	while ((job = ct_waiting_first(&q->waiting, partition)) != CT_NO_JOB && job != part->blocked) {
		struct ct_room room = ct_queueing_room(q, v, partition);
		const struct ct_request *d = &q->waiting.class[ct_waiting_class_of(&q->waiting, job)].demand;
		enum ct_start_result r = CT_DOES_NOT_FIT;

		if (ct_queueing_may_fit(q, v, &room, d))
			r = ct_queueing_start(q, v, p, job);
		if (r == CT_START_FAILED)
			return 1;
		if (r == CT_DOES_NOT_FIT) {
			part->blocked = job;
			ct_queueing_note_room(q, v, p, job);
			return 0;
		}
	}
	if (job == CT_NO_JOB)
		part->blocked = CT_NO_JOB;
	return 0;
}

static struct ct_candidate candidate_of(const struct ct_queueing *q, uint32_t class)
{
	const struct ct_waiting_class *c = &q->waiting.class[class];

	return (struct ct_candidate){ c->first_key, c->first_job, class };
}

uint32_t ct_candidate_earliest(const struct ct_candidate *c, uint32_t n)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++)
		if (ct_order_before(c[i].key, c[i].job, c[best].key, c[best].job))
			best = i;
	return best;
}

uint32_t ct_queueing_candidates(struct ct_queueing *q, uint32_t partition, const struct ct_room *room)
{
	uint32_t n, *class = ct_waiting_match(&q->waiting, partition, room, &n);

	CT_GROW(q->candidate, q->cap_candidates, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		q->candidate[i] = candidate_of(q, class[i]);
	return n;
}

/* Leaves the candidates that may fit; the index of the earliest of them. */
static uint32_t earliest_in_room(struct ct_queueing *q, const struct ct_view *v, uint32_t partition, uint32_t *n)
{
	struct ct_room room = ct_queueing_room(q, v, partition);
	struct ct_candidate *c = q->candidate;
	uint32_t kept = 0, best = 0;

	for (uint32_t i = 0; i < *n; i++) {
		if (!ct_queueing_may_fit(q, v, &room, &q->waiting.class[c[i].class].demand))
			continue;
		c[kept] = c[i];
		if (ct_order_before(c[kept].key, c[kept].job, c[best].key, c[best].job))
			best = kept;
		kept++;
	}
	*n = kept;
	return best;
}

/* Greedy scan of the whole queue: the candidates are the first jobs of the classes
 * that fitted last time they were asked. */
static int skip_pass(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p, uint32_t partition)
{
	struct ct_room room = ct_queueing_room(q, v, partition);
	uint32_t n = ct_queueing_candidates(q, partition, &room), i;

	while (n > 0) {
		enum ct_start_result r;
		struct ct_candidate *c;

		i = earliest_in_room(q, v, partition, &n);
		if (n == 0)
			return 0;
		c = &q->candidate[i];
		r = ct_queueing_start(q, v, p, c->job);
		if (r == CT_START_FAILED)
			return 1;
		if (r == CT_STARTED)
			*c = candidate_of(q, c->class);
		else
			ct_queueing_note_room(q, v, p, c->job);
		if (r == CT_DOES_NOT_FIT || c->job == CT_NO_JOB)
			*c = q->candidate[--n];
	}
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct ct_candidate *x = a, *y = b;

	return ct_order_before(x->key, x->job, y->key, y->job) ? -1 : 1;
}

/* Nothing was given back in these partitions: only the new jobs, in order. */
static int skip_fresh(struct ct_queueing *q, const struct ct_view *v, struct ct_plan *p)
{
	size_t n = 0;

	CT_GROW(q->candidate, q->cap_candidates, q->n_fresh);
	for (size_t i = 0; i < q->n_fresh; i++) {
		uint32_t job = q->fresh[i];

		if (!q->part[ct_view_job(v, job)->partition].freed)
			q->candidate[n++] = (struct ct_candidate){ ct_waiting_key_of(&q->waiting, job), job,
								   ct_waiting_class_of(&q->waiting, job) };
	}
	if (n > 1)
		qsort(q->candidate, n, sizeof *q->candidate, by_order);
	for (size_t i = 0; i < n; i++) {
		const struct ct_request *d = &q->waiting.class[q->candidate[i].class].demand;
		struct ct_room room = ct_queueing_room(q, v, d->partition);

		if (ct_queueing_may_fit(q, v, &room, d) &&
		    ct_queueing_start(q, v, p, q->candidate[i].job) == CT_START_FAILED)
			return 1;
	}
	return 0;
}

int ct_queueing_schedule(void *queueing, const struct ct_view *v, struct ct_plan *p)
{
	struct ct_queueing *q = queueing;
	if (ct_queueing_admit(q, v, p, 0))
		return 1;
	if (q->on_block == CT_ON_BLOCK_SKIP && q->n_fresh && skip_fresh(q, v, p))
		return 1;
	for (uint32_t i = 0; i < q->n_parts; i++) {
		if (q->on_block == CT_ON_BLOCK_STOP && (q->part[i].freed || q->part[i].fresh) &&
		    ct_queueing_start_head(q, v, p, i))
			return 1;
		if (q->on_block == CT_ON_BLOCK_SKIP && q->part[i].freed && skip_pass(q, v, p, i))
			return 1;
	}
	if (q->on_block == CT_ON_BLOCK_SKIP)
		note_fresh(q, v, p);
	ct_queueing_done(q);
	return 0;
}
