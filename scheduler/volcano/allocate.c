/* SPDX-License-Identifier: GPL-3.0-or-later */
/* allocate.c - the allocate action, on the mirror of the nodes; what it decided is
 * carried out afterwards (ct_vol_commit).
 *
 * A gang is placed pod by pod up to its minimum, the usage updated in between, or
 * not at all. Surplus pods of an elastic job are placed one at a time, the job going
 * back among the others after each, behind every job that is not ready.
 *
 * A job that cannot be placed blocks nobody. For pods alike, whether a gang fits
 * does not depend on the choice of nodes (specification 2.4), so it is asked before
 * anything is placed, and the answer holds for its whole class until something is
 * given back. With pods unlike (the last one smaller) an attempt may fail by an
 * unlucky choice; then its class is not tried again before that either. */
#include "scheduler/volcano/volcano.h"

#include "sim/err.h"

#include <stdlib.h>

/* Keyed by job, start and pod: a failed attempt elsewhere changes no later draw. */
double ct_vol_draw(const struct ct_volcano *s, const struct ct_view *v, uint32_t job, uint32_t pod)
{
	if (s->opt.tie_break == CT_VOL_TIE_INDEX)
		return 0;
	return v->host->random(v->host->ctx, job, (uint64_t)s->job[job].starts << 32 | pod);
}

static bool within_share(const struct ct_vol_queue *q, uint64_t more)
{
	return (double)(q->allocated + more) <= q->deserved + CT_VOL_EPSILON;
}

static bool is_overused(const struct ct_vol_queue *q)
{
	return q->deserved <= (double)q->allocated + CT_VOL_EPSILON;
}

/* ---- growing jobs, a heap: priority, least held, submission */

static bool grows_before(const struct ct_volcano *s, const struct ct_view *v, uint32_t a, uint32_t b)
{
	int32_t pa = ct_view_job(v, a)->priority, pb = ct_view_job(v, b)->priority;

	if (pa != pb)
		return pa > pb;
	if (!s->opt.sla_us && s->job[a].held != s->job[b].held)
		return s->job[a].held < s->job[b].held;
	return a < b;
}

static void heap_push(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_queue *q, uint32_t job)
{
	size_t at = q->n_heap++;

	CT_GROW(q->heap, q->cap_heap, q->n_heap);
	for (; at && grows_before(s, v, job, q->heap[(at - 1) / 2]); at = (at - 1) / 2)
		q->heap[at] = q->heap[(at - 1) / 2];
	q->heap[at] = job;
}

static uint32_t heap_pop(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_queue *q)
{
	uint32_t top = q->heap[0], last = q->heap[--q->n_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < q->n_heap) {
		if (child + 1 < q->n_heap && grows_before(s, v, q->heap[child + 1], q->heap[child]))
			child++;
		if (!grows_before(s, v, q->heap[child], last))
			break;
		q->heap[at] = q->heap[child];
		at = child;
	}
	q->heap[at] = last;
	return top;
}

/* ---- a pass begins */

/* The engine moves a job only while it runs; one in a transition waits. */
static void collect_growing(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c,
			    struct ct_vol_queue *q)
{
	q->n_heap = 0;
	for (size_t i = 0; i < q->n_grow; i++) {
		const struct ct_vol_job *j = &s->job[q->grow[i]];

		if (j->stuck == c->freed || j->evicting)
			continue;
		if (ct_view_job(v, q->grow[i])->state == CT_VIEW_RUNNING)
			heap_push(s, v, q, q->grow[i]);
		else
			c->waits = true;
	}
}

static void add_candidate(struct ct_vol_queue *q, struct ct_vol_class *k, const struct ct_tree_item *it, bool overdue)
{
	CT_GROW(q->candidate, q->cap_candidates, q->n_candidates + 1);
	q->candidate[q->n_candidates++] = (struct ct_vol_candidate){ k, it->key, it->item, overdue };
}

static void collect(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c, struct ct_vol_queue *q)
{
	q->n_candidates = 0;
	for (size_t i = 0; i < q->n_active; i++) {
		struct ct_vol_class *k = q->active[i];

		if (k->tree && (s->opt.discipline == CT_VOL_STRICT_FIFO || k->failed != c->freed))
			add_candidate(q, k, ct_tree_first(&s->trees, k->tree), false);
		if (k->overdue)
			add_candidate(q, k, ct_tree_first(&s->trees, k->overdue), true);
	}
	collect_growing(s, v, c, q);
	q->dropped = !q->n_candidates && !q->n_heap;
}

/* ---- the next job of a queue */

enum kind { NOTHING, NOT_READY, GROWING };

struct next {
	enum kind kind;
	uint32_t job;
	int64_t key;
	size_t at; /* among the candidates */
};

static void offer(struct next *best, struct next n)
{
	if (best->kind == NOTHING || n.key < best->key || (n.key == best->key && n.job < best->job))
		*best = n;
}

/* Ready jobs come after the others of their priority; with an SLA, by submission. */
static void offer_growing(const struct ct_volcano *s, const struct ct_view *v, const struct ct_vol_queue *q,
			  struct next *best)
{
	struct next n = { GROWING, 0, 0, 0 };

	if (!q->n_heap)
		return;
	n.job = q->heap[0];
	n.key = ct_vol_key(v, n.job);
	if (best->kind == NOTHING || n.key < best->key || (s->opt.sla_us && n.key == best->key && n.job < best->job))
		*best = n;
}

static struct next next_job(const struct ct_volcano *s, const struct ct_view *v, const struct ct_vol_queue *q)
{
	struct next best = { NOTHING, CT_NO_JOB, 0, 0 };

	for (size_t i = 0; i < q->n_candidates; i++)
		offer(&best, (struct next){ NOT_READY, q->candidate[i].job, q->candidate[i].key, i });
	offer_growing(s, v, q, &best);
	return best;
}

/* ---- placing a gang */

static bool place_pod(struct ct_volcano *s, const struct ct_view *v, const struct ct_vol_cell *c, uint32_t job,
		      uint32_t i)
{
	struct ct_vol_pod pod = ct_vol_pod_of(s->job[job].class, i);
	uint32_t node = ct_vol_pick(s, c, &pod, ct_vol_draw(s, v, job, i));

	if (node == CT_VOL_NONE)
		return false;
	ct_vol_node_take(s, node, &pod);
	ct_vol_hold_add(s, job, node, pod.gpus);
	s->job[job].held += pod.gpus;
	return true;
}

/* Pods are undone latest first, so pod n - 1 is on top of the list. */
static void unplace(struct ct_volcano *s, uint32_t job, uint32_t n)
{
	struct ct_vol_job *j = &s->job[job];

	while (n--) {
		struct ct_vol_pod pod = ct_vol_pod_of(j->class, n);

		ct_vol_node_give(s, s->hold[j->hold].node, &pod);
		ct_vol_hold_drop(s, job);
		j->held -= pod.gpus;
	}
}

static void remember_failure(struct ct_vol_cell *c, struct ct_vol_class *k)
{
	if (!c->holding)
		k->failed = c->freed;
}

void ct_vol_note_unplaced(const struct ct_volcano *s, const struct ct_vol_cell *c, uint32_t job)
{
	const struct ct_vol_queue *q = ct_vol_queue_of(s, job);
	uint32_t wants = s->job[job].class->need.min_gpus;

	if (!s->notes)
		return;
	if (wants > c->idle)
		s->notes->note(s->notes, job, CT_VOL_WHY_GANG, CT_NO_JOB, wants, (double)c->idle);
	else if (!within_share(q, wants))
		s->notes->note(s->notes, job, CT_VOL_WHY_SHARE, CT_NO_JOB, q->deserved, (double)q->allocated);
	else
		s->notes->note(s->notes, job, CT_VOL_WHY_NODES, CT_NO_JOB, wants, (double)c->idle);
}

/* Places the gang; on failure nothing, unless `partial` keeps what was placed. */
static bool place_gang(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c, struct ct_vol_queue *q,
		       uint32_t job, bool partial)
{
	struct ct_vol_class *k = s->job[job].class;
	bool alike = k->need.num_gpus % k->need.pod_gpus == 0;
	uint32_t n = 0;

	if (!partial && !within_share(q, k->need.min_gpus))
		return false;
	if (!partial && alike && !ct_vol_fits(s, c, k, k->min_pods, false)) {
		remember_failure(c, k);
		return false;
	}
	for (; n < k->min_pods; n++) {
		if (!within_share(q, s->job[job].held + (uint64_t)ct_vol_pod_of(k, n).gpus))
			break;
		if (!place_pod(s, v, c, job, n)) {
			remember_failure(c, k);
			break;
		}
	}
	if (n == k->min_pods)
		return true;
	if (partial && n > 0) {
		CT_GROW(s->held_back, s->cap_held_back, s->n_held_back + 1);
		s->held_back[s->n_held_back++] = job;
		q->allocated += s->job[job].held;
		c->holding = true;
	} else {
		unplace(s, job, n);
	}
	return false;
}

static void release_held_back(struct ct_volcano *s, struct ct_vol_cell *c)
{
	for (size_t i = 0; i < s->n_held_back; i++) {
		uint32_t job = s->held_back[i];

		ct_vol_queue_of(s, job)->allocated -= s->job[job].held;
		unplace(s, job, s->job[job].held / s->job[job].class->need.pod_gpus);
	}
	s->n_held_back = 0;
	c->holding = false;
}

static void started(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_queue *q, uint32_t job)
{
	ct_vol_from_class(s, v, job);
	ct_vol_to_running(s, job);
	CT_GROW(s->started, s->cap_started, s->n_started + 1);
	s->started[s->n_started++] = job;
	if (s->job[job].held < s->job[job].class->need.num_gpus)
		heap_push(s, v, q, job);
}

/* One more pod. */
static bool grow(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c, struct ct_vol_queue *q,
		 uint32_t job)
{
	struct ct_vol_job *j = &s->job[job];
	uint32_t g = j->class->need.pod_gpus;

	if (!within_share(q, g))
		return false;
	if (!place_pod(s, v, c, job, j->held / g)) {
		j->stuck = c->holding ? 0 : c->freed;
		return false;
	}
	q->allocated += g;
	q->elastic += g;
	c->used += g;
	if (j->grow_at != CT_VOL_NONE)
		q->unplaced -= g;
	if (!j->grown && j->phase == CT_VOL_RUNNING && ct_view_job(v, job)->state == CT_VIEW_RUNNING) {
		CT_GROW(s->expanded, s->cap_expanded, s->n_expanded + 1);
		s->expanded[s->n_expanded++] = job;
	}
	j->grown += g;
	if (j->held < j->class->need.num_gpus)
		heap_push(s, v, q, job);
	else
		ct_vol_grow_remove(s, job);
	return true;
}

/* The candidate moves on to the next job of its class. An overdue gang that could
 * not even hold a pod leaves nothing for others alike. */
static void move_on(struct ct_volcano *s, struct ct_vol_queue *q, size_t at, bool goes_on)
{
	struct ct_vol_candidate *x = &q->candidate[at];
	uint32_t tree = x->overdue ? x->class->overdue : x->class->tree;
	const struct ct_tree_item *it = goes_on ? ct_tree_next(&s->trees, tree, x->key, x->job) : NULL;

	if (it) {
		x->key = it->key;
		x->job = it->item;
	} else {
		*x = q->candidate[--q->n_candidates];
	}
}

static bool try_next(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c, struct ct_vol_queue *q,
		     const struct next *n)
{
	const struct ct_vol_candidate *x;
	size_t held_back = s->n_held_back;
	bool ok;

	if (n->kind == GROWING) {
		heap_pop(s, v, q);
		return grow(s, v, c, q, n->job);
	}
	x = &q->candidate[n->at];
	ok = (x->overdue || x->class->failed != c->freed) && place_gang(s, v, c, q, n->job, x->overdue);
	if (ok)
		started(s, v, q, n->job);
	else
		ct_vol_note_unplaced(s, c, n->job);
	move_on(s, q, n->at, ok || s->n_held_back > held_back);
	return ok;
}

/* ---- the action */

static struct ct_vol_queue *best_queue(const struct ct_volcano *s, const struct ct_vol_cell *c)
{
	struct ct_vol_queue *best = NULL;

	for (uint32_t i = 0; i < c->n_queues; i++)
		if (!c->queue[i]->dropped && (!best || ct_vol_queue_before(s, c->queue[i], best)))
			best = c->queue[i];
	return best;
}

bool ct_vol_allocate(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c)
{
	struct ct_vol_queue *q;
	bool any = false;

	for (uint32_t i = 0; i < c->n_queues; i++)
		collect(s, v, c, c->queue[i]);
	while (c->idle && (q = best_queue(s, c)) != NULL) { /* with nothing idle all would fail */
		struct next n = { NOTHING, 0, 0, 0 };

		if (!is_overused(q))
			n = next_job(s, v, q);
		if (n.kind == NOTHING) {
			if (q->n_candidates)
				ct_vol_note_unplaced(s, c, q->candidate[0].job);
			q->dropped = true;
			continue;
		}
		if (try_next(s, v, c, q, &n))
			any = true;
		else if (s->opt.discipline == CT_VOL_STRICT_FIFO)
			q->dropped = true;
	}
	release_held_back(s, c);
	return any;
}

/* ---- carrying it out */

static int by_node(const void *a, const void *b)
{
	const struct ct_vol_hold *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

/* Idle GPUs for the first `gpus` GPUs on a job's list of holds, lowest numbers
 * first, all of a node together; appended to s->gpus. */
static uint32_t gather(struct ct_volcano *s, const struct ct_view *v, uint32_t job, uint32_t gpus, uint32_t n)
{
	size_t m = 0;

	for (uint32_t h = s->job[job].hold; gpus; h = s->hold[h].next) {
		CT_GROW(s->sorted, s->cap_sorted, m + 1);
		s->sorted[m++] = s->hold[h];
		gpus -= s->hold[h].gpus;
	}
	if (m > 1)
		qsort(s->sorted, m, sizeof *s->sorted, by_node);
	for (size_t i = 0; i < m; i++) {
		const struct ct_view_node *node = ct_view_node(v, s->sorted[i].node);
		uint32_t want = s->sorted[i].gpus, at = node->first_gpu;

		if (i && s->sorted[i - 1].node == s->sorted[i].node)
			at = s->gpus[n - 1] + 1;
		for (; want && at < node->first_gpu + node->n_gpus; at++) {
			if (ct_view_gpu(v, at)->n_residents)
				continue;
			s->gpus[n++] = at;
			want--;
		}
	}
	return n;
}

int ct_vol_start(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	uint32_t n = gather(s, v, job, s->job[job].held, 0);

	s->job[job].grown = 0;
	s->job[job].starts++;
	return p->start(p, job, ct_view_job(v, job)->default_config, s->gpus, n);
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The engine has no free growth: it is a migration to more GPUs, at its price. */
static int expand(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	struct ct_vol_job *j = &s->job[job];
	uint32_t n = v->host->gpus_of(v->host->ctx, job, s->gpus, v->n_gpus);

	n = gather(s, v, job, j->grown, n);
	p->note(p, job, CT_VOL_WHY_GROWN, CT_NO_JOB, n, j->class->need.num_gpus);
	j->grown = 0;
	qsort(s->gpus, n, sizeof *s->gpus, compare_u32);
	return p->migrate(p, job, ct_view_job(v, job)->config, s->gpus, n);
}

static void sync_nodes_of(struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	for (uint32_t h = s->job[job].hold; h != CT_VOL_NONE; h = s->hold[h].next)
		ct_vol_node_sync(s, v, s->hold[h].node);
}

int ct_vol_commit(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p)
{
	for (size_t i = 0; i < s->n_started; i++)
		CT_TRY(ct_vol_start(s, v, p, s->started[i]));
	for (size_t i = 0; i < s->n_expanded; i++)
		CT_TRY(expand(s, v, p, s->expanded[i]));
	/* The engine's rounding of CPU and memory is the truth. */
	for (size_t i = 0; i < s->n_started; i++)
		sync_nodes_of(s, v, s->started[i]);
	for (size_t i = 0; i < s->n_expanded; i++)
		sync_nodes_of(s, v, s->expanded[i]);
	for (size_t i = 0; i < s->n_started; i++)
		if (!s->opt.expand)
			ct_vol_grow_remove(s, s->started[i]);
	s->n_started = s->n_expanded = 0;
	return 0;
}
