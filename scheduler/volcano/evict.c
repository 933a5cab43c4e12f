/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evict.c - preempt (within a queue, lower priorities) and reclaim (from queues above
 * their deserved share), after allocate, both off by default.
 *
 * Whole jobs are evicted, since one pod less stops a rigid gang. A gang is placed pod
 * by pod on what would be free: a node that has room as it is comes first, else the
 * best-scoring node on which evicting victims, the lowest priority and among them the
 * last submitted first, makes room. Only when the whole gang finds room is anything
 * done: the victims run on until the grace period ends, are then put back into the
 * queue (the engine keeps their progress), and the gang starts where it was promised. */
#include "scheduler/volcano/volcano.h"

#include "sim/err.h"

#include <stdlib.h>
#include <string.h>

struct victim {
	int32_t priority;
	uint32_t job;
	bool taken;
};

struct part { /* of a victim on one node, in order of the victims */
	uint32_t victim, next;
};

struct future {
	uint32_t gpus, cpu_milli, mem_mib; /* free once the victims are gone; less what was promised */
	uint32_t first, last;              /* parts, CT_VOL_NONE */
};

struct attempt {
	struct ct_volcano *s;
	const struct ct_view *v;
	struct ct_vol_cell *c;
	struct ct_vol_queue *q;
	uint32_t job;
	bool reclaim;
	struct future *future; /* a node */
	struct victim *victim;
	size_t n_victims, cap_victims;
	struct part *part;
	size_t n_parts, cap_parts;
	uint32_t *taken; /* victims, in order */
	size_t n_taken, cap_taken;
	struct ct_vol_hold *at; /* the gang's pods */
	size_t n_at, cap_at;
	uint32_t *rank; /* nodes by score, best first */
	double *score;
};

/* ---- victims */

static bool may_evict(const struct attempt *a, uint32_t victim)
{
	const struct ct_volcano *s = a->s;
	const struct ct_vol_job *j = &s->job[victim];
	const struct ct_vol_queue *q;

	if (j->phase != CT_VOL_RUNNING || j->evicting || ct_vol_cell_of(s, victim) != a->c)
		return false;
	q = ct_vol_queue_of(s, victim);
	if (!a->reclaim)
		return q == a->q && ct_view_job(a->v, victim)->priority < ct_view_job(a->v, a->job)->priority;
	return q != a->q && s->spec[q->index].reclaimable &&
	       (double)q->allocated - (double)q->leaving > q->deserved + CT_VOL_EPSILON;
}

static int lowest_first(const void *x, const void *y)
{
	const struct victim *a = x, *b = y;

	if (a->priority != b->priority)
		return a->priority < b->priority ? -1 : 1;
	return a->job > b->job ? -1 : 1;
}

static void add_parts(struct attempt *a, uint32_t victim)
{
	const struct ct_volcano *s = a->s;

	for (uint32_t h = s->job[a->victim[victim].job].hold; h != CT_VOL_NONE; h = s->hold[h].next) {
		struct future *f = &a->future[s->hold[h].node];

		CT_GROW(a->part, a->cap_parts, a->n_parts + 1);
		a->part[a->n_parts] = (struct part){ victim, CT_VOL_NONE };
		if (f->first == CT_VOL_NONE)
			f->first = (uint32_t)a->n_parts;
		else
			a->part[f->last].next = (uint32_t)a->n_parts;
		f->last = (uint32_t)a->n_parts++;
	}
}

static void collect_victims(struct attempt *a)
{
	const struct ct_view *v = a->v;

	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		if (!may_evict(a, job))
			continue;
		CT_GROW(a->victim, a->cap_victims, a->n_victims + 1);
		a->victim[a->n_victims++] = (struct victim){ ct_view_job(v, job)->priority, job, false };
	}
	if (a->n_victims)
		qsort(a->victim, a->n_victims, sizeof *a->victim, lowest_first);
	for (uint32_t i = 0; i < a->n_victims; i++)
		add_parts(a, i);
}

/* ---- what would be free */

static void start_future(struct attempt *a, uint32_t n_nodes)
{
	for (uint32_t i = 0; i < n_nodes; i++) {
		const struct ct_vol_node *n = &a->s->node[i];

		a->future[i] =
		    (struct future){ n->up ? n->gpus : 0, n->cpu_milli, n->mem_mib, CT_VOL_NONE, CT_VOL_NONE };
	}
}

static uint32_t add(uint32_t free, uint32_t more, int sign)
{
	return free == UINT32_MAX ? free : sign > 0 ? free + more : free - (more < free ? more : free);
}

static void change(struct attempt *a, uint32_t node, uint32_t gpus, const struct ct_vol_class *k, uint32_t of, int sign)
{
	struct future *f = &a->future[node];

	if (!a->s->node[node].up)
		return;
	f->gpus = sign > 0 ? f->gpus + gpus : f->gpus - gpus;
	/* rounded down when given back, up when taken: never more than there will be */
	f->cpu_milli =
	    add(f->cpu_milli, (uint32_t)(((uint64_t)k->need.cpu_milli * gpus + (sign < 0 ? of - 1 : 0)) / of), sign);
	f->mem_mib =
	    add(f->mem_mib, (uint32_t)(((uint64_t)k->need.mem_mib * gpus + (sign < 0 ? of - 1 : 0)) / of), sign);
}

/* Evicts a victim (+1) or takes that back (-1). */
static void evict(struct attempt *a, uint32_t victim, int sign)
{
	const struct ct_volcano *s = a->s;
	const struct ct_vol_job *j = &s->job[a->victim[victim].job];
	struct ct_vol_queue *q = ct_vol_queue_of(s, a->victim[victim].job);

	a->victim[victim].taken = sign > 0;
	q->leaving = sign > 0 ? q->leaving + j->held : q->leaving - j->held;
	for (uint32_t h = j->hold; h != CT_VOL_NONE; h = s->hold[h].next)
		change(a, s->hold[h].node, s->hold[h].gpus, j->class, j->held, sign);
}

static void take_back(struct attempt *a, size_t n)
{
	while (a->n_taken > n)
		evict(a, a->taken[--a->n_taken], -1);
}

static bool fits(const struct attempt *a, uint32_t node, const struct ct_vol_pod *pod)
{
	const struct future *f = &a->future[node];

	return f->gpus >= pod->gpus && f->cpu_milli >= pod->cpu_milli && f->mem_mib >= pod->mem_mib;
}

/* Evicts on this node, lowest first, until the pod fits. */
static bool make_room(struct attempt *a, uint32_t node, const struct ct_vol_pod *pod)
{
	size_t before = a->n_taken;

	for (uint32_t i = a->future[node].first; i != CT_VOL_NONE && !fits(a, node, pod); i = a->part[i].next) {
		uint32_t victim = a->part[i].victim;

		if (a->victim[victim].taken || !may_evict(a, a->victim[victim].job))
			continue;
		CT_GROW(a->taken, a->cap_taken, a->n_taken + 1);
		a->taken[a->n_taken++] = victim;
		evict(a, victim, 1);
	}
	if (fits(a, node, pod))
		return true;
	take_back(a, before);
	return false;
}

/* ---- a gang */

static int compare_rank(const void *x, const void *y, void *score)
{
	const double *s = score;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	if (s[a] != s[b])
		return s[a] > s[b] ? -1 : 1;
	return a < b ? -1 : 1;
}

static uint32_t rank_nodes(struct attempt *a, const struct ct_vol_pod *pod)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->c->n_shapes; i++) {
		const struct ct_vol_shape *h = &a->c->shape[i];

		for (uint32_t at = 0; at < h->n_nodes && ct_vol_accepts(h, pod); at++) {
			uint32_t node = h->node[at];
			const struct future *f = &a->future[node];

			if (!a->s->node[node].up)
				continue;
			a->score[node] = ct_vol_score(a->s, a->c, node, f->gpus, f->cpu_milli, f->mem_mib, pod);
			a->rank[n++] = node;
		}
	}
	if (n)
		qsort_r(a->rank, n, sizeof *a->rank, compare_rank, a->score);
	return n;
}

static bool place_pod(struct attempt *a, const struct ct_vol_pod *pod)
{
	uint32_t n = rank_nodes(a, pod), node = CT_VOL_NONE;

	for (uint32_t i = 0; i < n && node == CT_VOL_NONE; i++)
		if (fits(a, a->rank[i], pod))
			node = a->rank[i];
	for (uint32_t i = 0; i < n && node == CT_VOL_NONE; i++)
		if (make_room(a, a->rank[i], pod))
			node = a->rank[i];
	if (node == CT_VOL_NONE)
		return false;
	a->future[node].gpus -= pod->gpus;
	a->future[node].cpu_milli = add(a->future[node].cpu_milli, pod->cpu_milli, -1);
	a->future[node].mem_mib = add(a->future[node].mem_mib, pod->mem_mib, -1);
	CT_GROW(a->at, a->cap_at, a->n_at + 1);
	a->at[a->n_at++] = (struct ct_vol_hold){ node, pod->gpus, CT_VOL_NONE };
	return true;
}

static bool place_gang(struct attempt *a)
{
	const struct ct_vol_class *k = a->s->job[a->job].class;

	for (uint32_t i = 0; i < k->min_pods; i++) {
		struct ct_vol_pod pod = ct_vol_pod_of(k, i);

		if (!place_pod(a, &pod))
			return false;
	}
	return a->n_taken > 0; /* without victims allocate would have placed it */
}

/* ---- claims */

static void claim_nodes(struct ct_volcano *s, const struct ct_view *v, const struct ct_vol_claim *claim, int sign)
{
	const struct ct_vol_class *k = s->job[claim->job].class;

	for (uint32_t i = 0; i < claim->n_at; i++) {
		struct ct_vol_node *n = &s->node[claim->at[i].node];
		struct ct_vol_pod pod = ct_vol_pod_of(k, i);

		n->claimed_gpus += (uint32_t)sign * pod.gpus;
		n->claimed_cpu_milli += (uint32_t)sign * pod.cpu_milli;
		n->claimed_mem_mib += (uint32_t)sign * pod.mem_mib;
		ct_vol_node_sync(s, v, claim->at[i].node);
	}
}

static void make_claim(struct attempt *a)
{
	struct ct_volcano *s = a->s;
	struct ct_vol_cell *c = a->c;
	struct ct_vol_claim *claim;

	CT_GROW(c->claim, c->cap_claims, c->n_claims + 1);
	claim = &c->claim[c->n_claims++];
	*claim = (struct ct_vol_claim){ .job = a->job,
					.ready_us = a->v->now_us + s->opt.grace_us,
					.victim = ct_calloc(a->n_taken, sizeof(uint32_t)),
					.n_victims = (uint32_t)a->n_taken,
					.at = ct_calloc(a->n_at, sizeof *a->at),
					.n_at = (uint32_t)a->n_at };
	memcpy(claim->at, a->at, a->n_at * sizeof *a->at);
	for (size_t i = 0; i < a->n_taken; i++) {
		claim->victim[i] = a->victim[a->taken[i]].job;
		s->job[claim->victim[i]].evicting = true;
	}
	ct_vol_from_class(s, a->v, a->job);
	s->job[a->job].claimed = true;
	claim_nodes(s, a->v, claim, 1);
}

/* Out of the list and off the nodes; to be freed by the caller. */
static struct ct_vol_claim take_claim(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c, size_t i)
{
	struct ct_vol_claim claim = c->claim[i];

	memmove(&c->claim[i], &c->claim[i + 1], (c->n_claims - i - 1) * sizeof *c->claim);
	c->n_claims--;
	s->job[claim.job].claimed = false;
	claim_nodes(s, v, &claim, -1);
	c->freed++;
	return claim;
}

static void free_claim(struct ct_vol_claim *claim)
{
	free(claim->victim);
	free(claim->at);
}

void ct_vol_claim_drop(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c, uint32_t job)
{
	struct ct_vol_claim claim;
	size_t i = 0;

	while (i < c->n_claims && c->claim[i].job != job)
		i++;
	if (i == c->n_claims)
		return;
	claim = take_claim(s, v, c, i);
	for (uint32_t k = 0; k < claim.n_victims; k++) {
		struct ct_vol_job *j = &s->job[claim.victim[k]];

		if (j->evicting)
			ct_vol_queue_of(s, claim.victim[k])->leaving -= j->held;
		j->evicting = false;
	}
	free_claim(&claim);
}

void ct_vol_claims_fini(struct ct_vol_cell *c)
{
	for (size_t i = 0; i < c->n_claims; i++)
		free_claim(&c->claim[i]);
	free(c->claim);
}

/* A node may have gone down in the meantime. */
static bool still_there(const struct ct_volcano *s, const struct ct_vol_claim *claim)
{
	const struct ct_vol_class *k = s->job[claim->job].class;

	for (uint32_t i = 0; i < claim->n_at; i++) {
		const struct ct_vol_node *node = &s->node[claim->at[i].node];
		uint64_t gpus = 0, cpu = 0, mem = 0;

		for (uint32_t m = 0; m < claim->n_at; m++) {
			struct ct_vol_pod pod = ct_vol_pod_of(k, m);

			if (claim->at[m].node != claim->at[i].node)
				continue;
			gpus += pod.gpus;
			cpu += pod.cpu_milli;
			mem += pod.mem_mib;
		}
		if (!node->up || node->gpus < gpus || node->cpu_milli < cpu || node->mem_mib < mem)
			return false;
	}
	return true;
}

static int start_preemptor(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p,
			   const struct ct_vol_claim *claim)
{
	uint32_t job = claim->job;

	if (!still_there(s, claim)) {
		ct_vol_to_class(s, v, job);
		return 0;
	}
	for (uint32_t i = 0; i < claim->n_at; i++) {
		ct_vol_hold_add(s, job, claim->at[i].node, claim->at[i].gpus);
		s->job[job].held += claim->at[i].gpus;
	}
	ct_vol_to_running(s, job);
	CT_TRY(ct_vol_start(s, v, p, job));
	if (!s->opt.expand)
		ct_vol_grow_remove(s, job);
	for (uint32_t i = 0; i < claim->n_at; i++)
		ct_vol_node_sync(s, v, claim->at[i].node);
	return 0;
}

static int evict_victims(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p,
			 const struct ct_vol_claim *claim)
{
	for (uint32_t i = 0; i < claim->n_victims; i++) {
		if (!s->job[claim->victim[i]].evicting) /* it ended by itself */
			continue;
		p->note(p, claim->victim[i], CT_VOL_WHY_EVICTED, claim->job, 0, 0);
		CT_TRY(p->preempt(p, claim->victim[i]));
		ct_vol_release(s, v, claim->victim[i]);
		ct_vol_to_pending(s, v, claim->victim[i]);
	}
	return 0;
}

int ct_vol_claims_due(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, struct ct_vol_cell *c)
{
	while (c->n_claims && c->claim[0].ready_us <= v->now_us) {
		struct ct_vol_claim claim;
		int rc;

		CT_TRY(evict_victims(s, v, p, &c->claim[0]));
		claim = take_claim(s, v, c, 0);
		rc = start_preemptor(s, v, p, &claim);
		free_claim(&claim);
		CT_TRY(rc);
		c->touched = true;
	}
	return 0;
}

/* ---- the actions */

static uint64_t promised(const struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_queue *q)
{
	uint64_t gpus = 0;

	for (size_t i = 0; i < c->n_claims; i++)
		if (ct_vol_queue_of(s, c->claim[i].job) == q)
			gpus += s->job[c->claim[i].job].class->need.min_gpus;
	return gpus;
}

static bool try_job(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c, struct ct_vol_queue *q,
		    uint32_t job, bool reclaim)
{
	struct attempt a = { .s = s, .v = v, .c = c, .q = q, .job = job, .reclaim = reclaim };
	uint64_t after = q->allocated + promised(s, c, q) + s->job[job].class->need.min_gpus;
	bool ok;

	if (reclaim && (double)after > q->deserved + CT_VOL_EPSILON)
		return false;
	a.future = ct_calloc(v->n_nodes, sizeof *a.future);
	a.rank = ct_calloc(v->n_nodes, sizeof *a.rank);
	a.score = ct_calloc(v->n_nodes, sizeof *a.score);
	start_future(&a, v->n_nodes);
	collect_victims(&a);
	ok = a.n_victims && place_gang(&a);
	if (ok)
		make_claim(&a);
	else
		take_back(&a, 0);
	free(a.future);
	free(a.rank);
	free(a.score);
	free(a.victim);
	free(a.part);
	free(a.taken);
	free(a.at);
	return ok;
}

/* First job of a class, overdue or not. */
static void set_head(const struct ct_volcano *s, struct ct_vol_candidate *x)
{
	const struct ct_tree_item *a = ct_tree_first(&s->trees, x->class->tree),
				  *b = ct_tree_first(&s->trees, x->class->overdue);

	if (!a || (b && (b->key < a->key || (b->key == a->key && b->item < a->item))))
		a = b;
	x->job = a ? a->item : CT_NO_JOB;
	x->key = a ? a->key : 0;
}

static size_t first_candidate(const struct ct_vol_queue *q)
{
	size_t best = 0;

	for (size_t i = 1; i < q->n_candidates; i++) {
		const struct ct_vol_candidate *x = &q->candidate[i], *y = &q->candidate[best];

		if (x->key < y->key || (x->key == y->key && x->job < y->job))
			best = i;
	}
	return best;
}

/* Starving jobs in order; of a class that failed no other can succeed. */
static bool evict_for_queue(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c,
			    struct ct_vol_queue *q, bool reclaim)
{
	bool any = false;

	q->n_candidates = 0;
	CT_GROW(q->candidate, q->cap_candidates, q->n_active);
	for (size_t i = 0; i < q->n_active; i++) {
		q->candidate[i].class = q->active[i];
		set_head(s, &q->candidate[i]);
		q->n_candidates++;
	}
	while (q->n_candidates) {
		size_t at = first_candidate(q);
		bool ok = try_job(s, v, c, q, q->candidate[at].job, reclaim);

		any |= ok;
		set_head(s, &q->candidate[at]);
		if (!ok || q->candidate[at].job == CT_NO_JOB)
			q->candidate[at] = q->candidate[--q->n_candidates];
	}
	return any;
}

int ct_vol_evict(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, struct ct_vol_cell *c, bool *any)
{
	for (uint32_t i = 0; i < c->n_queues && s->opt.preempt; i++)
		*any |= evict_for_queue(s, v, c, c->queue[i], false);
	for (uint32_t i = 0; i < c->n_queues && s->opt.reclaim; i++)
		*any |= evict_for_queue(s, v, c, c->queue[i], true);
	return ct_vol_claims_due(s, v, p, c); /* those without grace */
}
