/* SPDX-License-Identifier: GPL-3.0-or-later */
/* volcano.c - the policy: options and profiles, cycles, and a job's way through the
 * phases.
 *
 * With a cycle, schedule() acts only on the grid of cycle_s; between grid points it
 * asks to be woken at the next. A cycle after one that changed nothing would change
 * nothing either, unless something happened, an admitted job became placeable, an
 * SLA ran out, a grace period ended or a growing job left a transition: those are
 * the only wake-ups. With cycle_s = 0 passes are repeated at each change until one
 * changes nothing, and admitted jobs are placeable at once. */
#include "scheduler/volcano/volcano.h"

#include "scheduler/builtin.h"
#include "sim/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* How often a growing job in a transition is looked at when there is no cycle. */
enum { LOOK_AGAIN_US = 1000000 };

struct ct_vol_entry {
	struct ct_vol_class class;
	UT_hash_handle hh;
};

static ct_time on_grid(const struct ct_volcano *s, ct_time t)
{
	ct_time cycle = s->opt.cycle_us;

	return cycle ? (t / cycle + (t % cycle != 0)) * cycle : t;
}

/* ---- classes of demand */

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

static uint32_t largest_node(const struct ct_vol_cell *c, uint32_t gpu_type)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < c->n_shapes; i++)
		if ((gpu_type == CT_ANY || c->shape[i].gpu_type == gpu_type) && c->shape[i].n_gpus > most)
			most = c->shape[i].n_gpus;
	return most;
}

/* GPUs of a pod: as many as a node has, or as the options say. An elastic job's pods
 * are alike and make up its minimum, too. 0: the column is no number of pods. */
static int pod_gpus_of(const struct ct_volcano *s, const struct ct_view *v, uint32_t job, uint32_t *out)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	uint32_t g = largest_node(&s->cell[j->partition], j->gpu_type), step;
	double instances;

	if (s->opt.pod_gpus && (uint64_t)s->opt.pod_gpus < g)
		g = (uint32_t)s->opt.pod_gpus;
	g = j->num_gpus < g ? j->num_gpus : g;
	if (s->instances_column != CT_ANY) {
		CT_TRY(v->host->value(v->host->ctx, s->instances_column, job, &instances));
		if (!(instances >= 1 && instances <= j->num_gpus))
			return v->host->fail(v->host->ctx,
					     "'policy.instances_by' wants a column of 1 to 'num_gpus' in every job");
		g = (uint32_t)((j->num_gpus + (uint32_t)instances - 1) / (uint32_t)instances);
	}
	if (j->min_gpus < j->num_gpus) {
		step = gcd(j->min_gpus, j->num_gpus);
		g = g < step ? g : step;
		while (step % g)
			g--;
	}
	*out = g;
	return 0;
}

static int queue_of(struct ct_volcano *s, const struct ct_view *v, uint32_t job, uint32_t *out)
{
	const char *name = "";
	char message[200];

	*out = 0;
	if (s->queue_column == CT_ANY)
		return 0;
	name = v->host->value_text(v->host->ctx, s->queue_column, job);
	*out = ct_vol_queue_find(s, name);
	if (*out != CT_VOL_NONE)
		return 0;
	snprintf(message, sizeof message, "job number %u wants queue '%.60s', which 'policy.queues' does not have", job,
		 *name ? name : "default");
	return v->host->fail(v->host->ctx, message);
}

/* What does not matter here does not tell classes apart. */
static int need_of(struct ct_volcano *s, const struct ct_view *v, uint32_t job, struct ct_vol_need *d)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	const struct ct_vol_cell *c = &s->cell[j->partition];
	bool memory = false;

	for (uint32_t i = 0; i < c->n_shapes; i++)
		memory |= c->shape[i].gpu_mem_mib != UINT32_MAX;
	*d = (struct ct_vol_need){ .partition = j->partition,
				   .gpu_type = j->gpu_type,
				   .num_gpus = j->num_gpus,
				   .min_gpus = j->min_gpus < j->num_gpus ? j->min_gpus : j->num_gpus,
				   .gpu_mem_mib = memory ? j->gpu_mem_mib : 0,
				   .cpu_milli = c->limited ? j->cpu_milli : 0,
				   .mem_mib = c->limited ? j->mem_mib : 0 };
	CT_TRY(queue_of(s, v, job, &d->queue));
	return pod_gpus_of(s, v, job, &d->pod_gpus);
}

/* With every node up and idle: do all pods fit, the smaller last one in what the
 * others leave? */
static bool is_possible(const struct ct_volcano *s, const struct ct_vol_class *k)
{
	const struct ct_vol_cell *c = &s->cell[k->need.partition];
	const struct ct_vol_pod last = ct_vol_pod_of(k, k->pods - 1);
	double realcap = ct_vol_realcap(s, &s->spec[k->need.queue], c->total_all);

	if ((double)k->need.min_gpus > realcap + CT_VOL_EPSILON)
		return false;
	if (ct_vol_fits(s, c, k, k->min_pods, true))
		return true;
	if (last.gpus == k->pod.gpus || k->min_pods < k->pods || !ct_vol_fits(s, c, k, k->pods - 1, true))
		return false;
	for (uint32_t i = 0; i < c->n_shapes; i++) {
		const struct ct_vol_shape *h = &c->shape[i];
		uint32_t whole = ct_vol_accepts(h, &k->pod) ? h->n_gpus / k->pod.gpus : 0;

		if (ct_vol_accepts(h, &last) && h->n_gpus - whole * k->pod.gpus >= last.gpus &&
		    h->cpu_milli >= last.cpu_milli && h->mem_mib >= last.mem_mib)
			return true;
	}
	return false;
}

static struct ct_vol_class *new_class(struct ct_volcano *s, const struct ct_vol_need *d)
{
	struct ct_vol_entry *e = ct_calloc(1, sizeof *e);
	struct ct_vol_class *k = &e->class;

	k->need = *d;
	k->pods = (d->num_gpus + d->pod_gpus - 1) / d->pod_gpus;
	k->min_pods = (d->min_gpus + d->pod_gpus - 1) / d->pod_gpus;
	k->pod = ct_vol_pod_of(k, 0);
	k->active_at = CT_VOL_NONE;
	k->possible = is_possible(s, k);
	HASH_ADD(hh, s->table, class.need, sizeof *d, e);
	return k;
}

static int class_of(struct ct_volcano *s, const struct ct_view *v, uint32_t job, struct ct_vol_class **out)
{
	struct ct_vol_need d;
	struct ct_vol_entry *e;

	CT_TRY(need_of(s, v, job, &d));
	if (s->last_class && !memcmp(&s->last_class->need, &d, sizeof d)) {
		*out = s->last_class;
		return 0;
	}
	HASH_FIND(hh, s->table, &d, sizeof d, e);
	*out = s->last_class = e ? &e->class : new_class(s, &d);
	return 0;
}

/* ---- what a job holds */

void ct_vol_hold_add(struct ct_volcano *s, uint32_t job, uint32_t node, uint32_t gpus)
{
	uint32_t h = s->free_hold;

	if (h != CT_VOL_NONE) {
		s->free_hold = s->hold[h].next;
	} else {
		CT_GROW(s->hold, s->cap_holds, s->n_holds + 1);
		h = (uint32_t)s->n_holds++;
	}
	s->hold[h] = (struct ct_vol_hold){ node, gpus, s->job[job].hold };
	s->job[job].hold = h;
}

void ct_vol_hold_drop(struct ct_volcano *s, uint32_t job)
{
	uint32_t h = s->job[job].hold;

	s->job[job].hold = s->hold[h].next;
	s->hold[h].next = s->free_hold;
	s->free_hold = h;
}

/* ---- phases */

static bool is_expired(const struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	return s->opt.sla_us && v->now_us - ct_view_job(v, job)->submit_us >= s->opt.sla_us;
}

static void insert(struct ct_volcano *s, const struct ct_view *v, uint32_t *tree, uint32_t job)
{
	struct ct_tree_item it = { .key = ct_vol_key(v, job), .value = s->job[job].class->need.min_gpus, .item = job };

	ct_tree_insert(&s->trees, tree, &it);
}

void ct_vol_to_pending(struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	struct ct_vol_job *j = &s->job[job];
	struct ct_vol_queue *q = ct_vol_queue_of(s, job);

	j->phase = CT_VOL_PENDING;
	j->expired = is_expired(s, v, job);
	insert(s, v, &q->pending, job);
	q->n_pending++;
	if (j->expired)
		insert(s, v, &q->expired, job);
	else if (job < s->next_expiry)
		s->next_expiry = job;
}

static void from_pending(struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	struct ct_vol_queue *q = ct_vol_queue_of(s, job);

	ct_tree_remove(&s->trees, &q->pending, ct_vol_key(v, job), job);
	q->n_pending--;
	if (s->job[job].expired)
		ct_tree_remove(&s->trees, &q->expired, ct_vol_key(v, job), job);
}

/* Counts a job into or out of the budget of the gate. */
static void count_inqueue(struct ct_volcano *s, uint32_t job, int sign)
{
	const struct ct_vol_need *d = &s->job[job].class->need;
	struct ct_vol_queue *q = ct_vol_queue_of(s, job);
	uint64_t once = sign > 0 ? 1 : UINT64_MAX;

	q->inqueue += once * d->min_gpus;
	q->unplaced += once * d->num_gpus;
	ct_vol_cell_of(s, job)->inqueue += once * d->min_gpus;
}

void ct_vol_admit(struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	struct ct_vol_cell *c = ct_vol_cell_of(s, job);
	ct_time lag = s->opt.cycle_us * s->opt.admit_lag;

	from_pending(s, v, job);
	s->job[job].phase = CT_VOL_INQUEUE;
	count_inqueue(s, job, 1);
	if (!lag) {
		ct_vol_to_class(s, v, job);
		return;
	}
	if (c->lag_first == c->n_lag)
		c->lag_first = c->n_lag = 0;
	CT_GROW(c->lag, c->cap_lag, c->n_lag + 1);
	c->lag[c->n_lag++] = (struct ct_vol_lag){ job, v->now_us + lag };
	s->job[job].lagging = true;
}

void ct_vol_to_class(struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	struct ct_vol_job *j = &s->job[job];
	struct ct_vol_class *k = j->class;
	struct ct_vol_queue *q = ct_vol_queue_of(s, job);

	j->overdue = j->expired && k->pods > 1;
	insert(s, v, j->overdue ? &k->overdue : &k->tree, job);
	if (k->active_at != CT_VOL_NONE)
		return;
	CT_GROW(q->active, q->cap_active, q->n_active + 1);
	k->active_at = (uint32_t)q->n_active;
	q->active[q->n_active++] = k;
}

void ct_vol_from_class(struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	struct ct_vol_job *j = &s->job[job];
	struct ct_vol_class *k = j->class;
	struct ct_vol_queue *q = ct_vol_queue_of(s, job);

	ct_tree_remove(&s->trees, j->overdue ? &k->overdue : &k->tree, ct_vol_key(v, job), job);
	j->overdue = false;
	if (k->tree || k->overdue)
		return;
	q->active[k->active_at] = q->active[--q->n_active];
	q->active[k->active_at]->active_at = k->active_at;
	k->active_at = CT_VOL_NONE;
}

void ct_vol_grow_remove(struct ct_volcano *s, uint32_t job)
{
	struct ct_vol_job *j = &s->job[job];
	struct ct_vol_queue *q = ct_vol_queue_of(s, job);

	if (j->grow_at == CT_VOL_NONE)
		return;
	q->unplaced -= j->class->need.num_gpus - j->held;
	q->grow[j->grow_at] = q->grow[--q->n_grow];
	s->job[q->grow[j->grow_at]].grow_at = j->grow_at;
	j->grow_at = CT_VOL_NONE;
}

void ct_vol_to_running(struct ct_volcano *s, uint32_t job)
{
	struct ct_vol_job *j = &s->job[job];
	const struct ct_vol_need *d = &j->class->need;
	struct ct_vol_queue *q = ct_vol_queue_of(s, job);

	count_inqueue(s, job, -1);
	j->phase = CT_VOL_RUNNING;
	j->stuck = 0;
	q->allocated += j->held;
	q->elastic += j->held - d->min_gpus;
	ct_vol_cell_of(s, job)->used += j->held;
	if (j->held == d->num_gpus)
		return;
	q->unplaced += d->num_gpus - j->held;
	CT_GROW(q->grow, q->cap_grow, q->n_grow + 1);
	j->grow_at = (uint32_t)q->n_grow;
	q->grow[q->n_grow++] = job;
}

void ct_vol_release(struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	struct ct_vol_job *j = &s->job[job];
	struct ct_vol_cell *c = ct_vol_cell_of(s, job);
	struct ct_vol_queue *q = ct_vol_queue_of(s, job);

	ct_vol_grow_remove(s, job);
	q->allocated -= j->held;
	q->elastic -= j->held - j->class->need.min_gpus;
	c->used -= j->held;
	if (j->evicting)
		q->leaving -= j->held;
	j->evicting = false;
	while (j->hold != CT_VOL_NONE) {
		ct_vol_node_sync(s, v, s->hold[j->hold].node);
		ct_vol_hold_drop(s, job);
	}
	j->held = 0;
	c->freed++;
	c->touched = true;
}

/* ---- callbacks */

/* ---- jobs without GPUs: no part of the gate or the shares, which count GPUs; they
 * start in order of submission wherever a node has CPU and memory for them. */

static void cpu_only_waits(struct ct_volcano *s, uint32_t job)
{
	CT_GROW(s->cpu_only, s->cap_cpu_only, s->n_cpu_only + 1);
	s->cpu_only[s->n_cpu_only++] = job;
}

static int start_cpu_only(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p)
{
	const struct ct_host *h = v->host;
	size_t left = 0;

	for (size_t i = 0; i < s->n_cpu_only; i++) {
		uint32_t job = s->cpu_only[i];
		struct ct_place at;

		if (ct_view_job(v, job)->state != CT_VIEW_QUEUED)
			continue; /* killed while it waited */
		at = h->place(h->ctx, job, CT_PLACE_COUNT, 1);
		if (at.n) {
			CT_TRY(ct_start_at(v, p, job, &at));
			ct_vol_node_sync(s, v, at.node);
		} else if (!h->could_place(h->ctx, job, CT_PLACE_COUNT)) {
			CT_TRY(p->reject(p, job));
		} else {
			s->cpu_only[left++] = job;
		}
	}
	s->n_cpu_only = left;
	return 0;
}

static void sync_nodes(struct ct_volcano *s, const struct ct_view *v)
{
	for (uint32_t i = 0; i < v->n_nodes; i++)
		ct_vol_node_sync(s, v, i);
	for (uint32_t i = 0; i < s->n_cells; i++) {
		s->cell[i].freed++;
		s->cell[i].touched = true;
	}
}

static void on_submit(void *state, const struct ct_view *v, uint32_t job)
{
	struct ct_volcano *s = state;
	struct ct_vol_cell *c = &s->cell[ct_view_job(v, job)->partition];

	while (s->n_jobs <= job) { /* numbers are in order of arrival; some were rejected unseen */
		CT_GROW(s->job, s->cap_jobs, s->n_jobs + 1);
		s->job[s->n_jobs++] = (struct ct_vol_job){ .hold = CT_VOL_NONE, .grow_at = CT_VOL_NONE };
	}
	if (!ct_view_job(v, job)->num_gpus) {
		cpu_only_waits(s, job);
		return;
	}
	CT_GROW(c->fresh, c->cap_fresh, c->n_fresh + 1);
	c->fresh[c->n_fresh++] = job;
}

static void forget_lag(struct ct_vol_cell *c, uint32_t job)
{
	for (size_t i = c->lag_first; i < c->n_lag; i++)
		if (c->lag[i].job == job)
			c->lag[i].job = CT_NO_JOB;
}

static void leave_queue(struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	struct ct_vol_job *j = &s->job[job];
	struct ct_vol_cell *c = ct_vol_cell_of(s, job);

	count_inqueue(s, job, -1);
	if (j->lagging)
		forget_lag(c, job);
	else if (j->claimed)
		ct_vol_claim_drop(s, v, c, job);
	else
		ct_vol_from_class(s, v, job);
	c->touched = true;
}

static void on_finish(void *state, const struct ct_view *v, uint32_t job)
{
	struct ct_volcano *s = state;

	if (job >= s->n_jobs)
		return;
	if (!ct_view_job(v, job)->num_gpus) {
		sync_nodes(s, v);
		return;
	}
	switch ((enum ct_vol_phase)s->job[job].phase) {
	case CT_VOL_PENDING:
		from_pending(s, v, job);
		break;
	case CT_VOL_INQUEUE:
		leave_queue(s, v, job);
		break;
	case CT_VOL_RUNNING:
		ct_vol_release(s, v, job);
		break;
	case CT_VOL_NEW:
	case CT_VOL_DONE:
		break;
	}
	s->job[job].phase = CT_VOL_DONE;
}

static void on_change(void *state, const struct ct_view *v, uint32_t job)
{
	struct ct_volcano *s = state;

	if (job != CT_NO_JOB && !ct_view_job(v, job)->num_gpus) {
		cpu_only_waits(s, job);
	} else if (job != CT_NO_JOB) {
		ct_vol_release(s, v, job);
		ct_vol_to_pending(s, v, job);
		return;
	}
	sync_nodes(s, v);
}

/* ---- a cycle */

static int take_fresh(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, struct ct_vol_cell *c)
{
	for (size_t i = 0; i < c->n_fresh; i++) {
		uint32_t job = c->fresh[i];

		if (s->job[job].phase != CT_VOL_NEW)
			continue;
		CT_TRY(class_of(s, v, job, &s->job[job].class));
		if (s->job[job].class->possible)
			ct_vol_to_pending(s, v, job);
		else
			CT_TRY(p->reject(p, job));
	}
	c->n_fresh = 0;
	return 0;
}

/* Each job is looked at once when it is new, and once when it may be placed. */
static void note_new(struct ct_volcano *s, const struct ct_vol_cell *c, size_t n_fresh)
{
	for (size_t i = 0; s->notes && i < n_fresh; i++) {
		uint32_t job = c->fresh[i];

		if (s->job[job].phase == CT_VOL_PENDING)
			ct_vol_note_pending(s, c, job);
		else if (s->job[job].phase == CT_VOL_INQUEUE && !s->job[job].lagging)
			ct_vol_note_unplaced(s, c, job);
	}
	for (size_t i = 0; i < s->n_placeable; i++)
		if (s->job[s->placeable[i]].phase == CT_VOL_INQUEUE)
			ct_vol_note_unplaced(s, c, s->placeable[i]);
}

static void take_placeable(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c)
{
	s->n_placeable = 0;
	for (; c->lag_first < c->n_lag && c->lag[c->lag_first].placeable_us <= v->now_us; c->lag_first++) {
		uint32_t job = c->lag[c->lag_first].job;

		if (job == CT_NO_JOB)
			continue;
		s->job[job].lagging = false;
		ct_vol_to_class(s, v, job);
		c->touched = true;
		if (!s->notes)
			continue;
		CT_GROW(s->placeable, s->cap_placeable, s->n_placeable + 1);
		s->placeable[s->n_placeable++] = job;
	}
}

static bool work_left(const struct ct_vol_cell *c)
{
	if (c->inqueue)
		return true;
	for (uint32_t i = 0; i < c->n_queues; i++)
		if (c->queue[i]->n_pending || c->queue[i]->n_grow)
			return true;
	return false;
}

/* One ENQUEUE and one ALLOCATE on the state of its beginning. */
static int pass(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, struct ct_vol_cell *c, bool *changed)
{
	ct_vol_derive(s, c);
	*changed = ct_vol_enqueue(s, v, c);
	if (s->opt.cycle_us && !s->opt.admit_lag)
		ct_vol_derive(s, c); /* pods that exist at once count at once */
	c->waits = false;
	*changed |= ct_vol_allocate(s, v, c);
	CT_TRY(ct_vol_commit(s, v, p));
	if (s->opt.preempt || s->opt.reclaim)
		CT_TRY(ct_vol_evict(s, v, p, c, changed));
	return 0;
}

static int cycle(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, struct ct_vol_cell *c)
{
	size_t n_fresh = c->n_fresh;
	bool changed;

	CT_TRY(ct_vol_claims_due(s, v, p, c));
	take_placeable(s, v, c);
	CT_TRY(take_fresh(s, v, p, c));
	c->touched = false;
	do {
		changed = false;
		if (work_left(c))
			CT_TRY(pass(s, v, p, c, &changed));
	} while (changed && !s->opt.cycle_us);
	note_new(s, c, n_fresh);
	c->again = changed && work_left(c);
	return 0;
}

/* ---- when to act */

/* Jobs whose SLA has run out by now, in order of submission. */
static void expire(struct ct_volcano *s, const struct ct_view *v)
{
	for (; s->next_expiry < s->n_jobs; s->next_expiry++) {
		uint32_t job = s->next_expiry;
		struct ct_vol_job *j = &s->job[job];

		if (j->phase == CT_VOL_RUNNING || j->phase == CT_VOL_DONE || j->expired)
			continue;
		if (!is_expired(s, v, job))
			return;
		if (j->phase == CT_VOL_NEW) /* marked when it gets its class */
			continue;
		j->expired = true;
		ct_vol_cell_of(s, job)->touched = true;
		if (j->phase == CT_VOL_PENDING) {
			insert(s, v, &ct_vol_queue_of(s, job)->expired, job);
		} else if (!j->lagging && !j->claimed && j->class->pods > 1) {
			ct_vol_from_class(s, v, job);
			ct_vol_to_class(s, v, job);
		}
	}
}

static bool is_due(const struct ct_volcano *s, const struct ct_view *v, const struct ct_vol_cell *c)
{
	return c->n_fresh || c->again || (c->touched && work_left(c)) || c->waits ||
	       (c->lag_first < c->n_lag && c->lag[c->lag_first].placeable_us <= on_grid(s, v->now_us)) ||
	       (c->n_claims && c->claim[0].ready_us <= v->now_us);
}

static int wake(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, ct_time t)
{
	t = on_grid(s, t);
	if (t <= v->now_us || t == s->woken_us)
		return 0;
	s->woken_us = t;
	return p->wake(p, t);
}

static int wake_for_cell(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, const struct ct_vol_cell *c)
{
	if (c->again)
		CT_TRY(wake(s, v, p, v->now_us + s->opt.cycle_us));
	if (c->waits)
		CT_TRY(wake(s, v, p, v->now_us + (s->opt.cycle_us ? s->opt.cycle_us : LOOK_AGAIN_US)));
	if (c->lag_first < c->n_lag)
		CT_TRY(wake(s, v, p, c->lag[c->lag_first].placeable_us));
	return c->n_claims ? wake(s, v, p, c->claim[0].ready_us) : 0;
}

static int wake_for_sla(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p)
{
	while (s->next_expiry < s->n_jobs &&
	       (s->job[s->next_expiry].phase == CT_VOL_RUNNING || s->job[s->next_expiry].phase == CT_VOL_DONE))
		s->next_expiry++;
	if (s->next_expiry >= s->n_jobs)
		return 0;
	return wake(s, v, p, ct_view_job(v, s->next_expiry)->submit_us + s->opt.sla_us);
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	struct ct_volcano *s = state;
	bool between = on_grid(s, v->now_us) != v->now_us;

	s->notes = p->keeps_notes ? p : NULL;
	CT_TRY(start_cpu_only(s, v, p));
	if (s->opt.sla_us)
		expire(s, v);
	for (uint32_t i = 0; i < s->n_cells; i++) {
		struct ct_vol_cell *c = &s->cell[i];

		if (is_due(s, v, c)) {
			if (between)
				return wake(s, v, p, v->now_us);
			CT_TRY(cycle(s, v, p, c));
		}
		CT_TRY(wake_for_cell(s, v, p, c));
	}
	return s->opt.sla_us ? wake_for_sla(s, v, p) : 0;
}

/* ---- the policy's life */

static int find_column(const struct ct_view *v, const char *option, const char *name, uint32_t *out)
{
	char message[256];

	*out = CT_ANY;
	if (!name || !*name)
		return 0;
	*out = v->host->column(v->host->ctx, name);
	if (*out != CT_ANY)
		return 0;
	snprintf(message, sizeof message, "'policy.%s' wants a column of the trace, got '%.100s'", option, name);
	return v->host->fail(v->host->ctx, message);
}

static int init(void *state, const struct ct_view *v)
{
	struct ct_volcano *s = state;

	s->free_hold = CT_VOL_NONE;
	s->woken_us = -1;
	CT_TRY(find_column(v, "queue_by", s->opt.queue_by, &s->queue_column));
	CT_TRY(find_column(v, "instances_by", s->opt.instances_by, &s->instances_column));
	ct_vol_nodes_init(s, v);
	return ct_vol_queues_parse(s, v);
}

static void fini_cell(struct ct_vol_cell *c)
{
	for (uint32_t i = 0; i < c->n_queues; i++) {
		free(c->queue[i]->active);
		free(c->queue[i]->grow);
		free(c->queue[i]->candidate);
		free(c->queue[i]->heap);
		free(c->queue[i]);
	}
	free(c->queue);
	free(c->fresh);
	free(c->lag);
	ct_vol_claims_fini(c);
}

static void fini(void *state)
{
	struct ct_volcano *s = state;
	struct ct_vol_entry *e, *next;

	HASH_ITER (hh, s->table, e, next) {
		HASH_DEL(s->table, e);
		free(e);
	}
	for (uint32_t i = 0; i < s->n_cells; i++)
		fini_cell(&s->cell[i]);
	ct_vol_nodes_fini(s);
	free(s->cell);
	free(s->spec);
	free(s->claimant);
	free(s->job);
	ct_tree_pool_fini(&s->trees);
	free(s->hold);
	free(s->placeable);
	free(s->started);
	free(s->expanded);
	free(s->held_back);
	free(s->cpu_only);
	free(s->sorted);
}

/* ---- options: one table, three profiles that differ in two defaults */

#define AT(field) offsetof(struct ct_volcano, opt.field)
#define OPTIONS(gate_, placement_)                                                                                       \
	{                                                                                                                \
		{ "gate",                                                                                                \
		  CT_OPT_ENUM,                                                                                           \
		  AT(gate),                                                                                              \
		  gate_,                                                                                                 \
		  0,                                                                                                     \
		  0,                                                                                                     \
		  "both|proportion|overcommit|off",                                                                      \
		  NULL,                                                                                                  \
		  "what the enqueue action compares aggregate requests with, before a job may be placed",                \
		  0 },                                                                                                   \
		    { "overcommit_factor",                                                                               \
		      CT_OPT_DOUBLE,                                                                                     \
		      AT(overcommit),                                                                                    \
		      "1.2",                                                                                             \
		      1,                                                                                                 \
		      1000,                                                                                              \
		      NULL,                                                                                              \
		      "x",                                                                                               \
		      "overcommit admits requests up to this times the GPUs",                                            \
		      0 },                                                                                               \
		    { "discipline",                                                                                      \
		      CT_OPT_ENUM,                                                                                       \
		      AT(discipline),                                                                                    \
		      "traverse",                                                                                        \
		      0,                                                                                                 \
		      0,                                                                                                 \
		      "traverse|strict_fifo",                                                                            \
		      NULL,                                                                                              \
		      "a job that is not admitted or placed is passed, or stops its queue",                              \
		      0 },                                                                                               \
		    { "placement",                                                                                       \
		      CT_OPT_ENUM,                                                                                       \
		      AT(placement),                                                                                     \
		      placement_,                                                                                        \
		      0,                                                                                                 \
		      0,                                                                                                 \
		      "volcano_default|gpu_binpack|spread|random",                                                       \
		      NULL,                                                                                              \
		      "node score: as shipped (blind to GPUs in binpack), fullest, emptiest, none",                      \
		      0 },                                                                                               \
		    { "s",                                                                                               \
		      CT_OPT_DOUBLE,                                                                                     \
		      AT(s),                                                                                             \
		      "0.236",                                                                                           \
		      0,                                                                                                 \
		      1,                                                                                                 \
		      NULL,                                                                                              \
		      NULL,                                                                                              \
		      "volcano_default without CPU and memory: slope of the score; > 0 spreads, 0 is a tie",             \
		      0 },                                                                                               \
		    { "tie_break",                                                                                       \
		      CT_OPT_ENUM,                                                                                       \
		      AT(tie_break),                                                                                     \
		      "random",                                                                                          \
		      0,                                                                                                 \
		      0,                                                                                                 \
		      "random|index",                                                                                    \
		      NULL,                                                                                              \
		      "among nodes of equal score",                                                                      \
		      0 },                                                                                               \
		    { "queues",                                                                                          \
		      CT_OPT_TEXT,                                                                                       \
		      AT(queues),                                                                                        \
		      "",                                                                                                \
		      0,                                                                                                 \
		      0,                                                                                                 \
		      NULL,                                                                                              \
		      NULL,                                                                                              \
		      "a:weight=1,priority=0,capability=32,guarantee=8,reclaimable=true;b:weight=3; empty: as named "    \
		      "by queue_by, else one",                                                                           \
		      0 },                                                                                               \
		    { "queue_by",                                                                                        \
		      CT_OPT_TEXT,                                                                                       \
		      AT(queue_by),                                                                                      \
		      "",                                                                                                \
		      0,                                                                                                 \
		      0,                                                                                                 \
		      NULL,                                                                                              \
		      NULL,                                                                                              \
		      "trace column that names a job's queue; empty values mean queue 'default'",                        \
		      0 },                                                                                               \
		    { "pod_gpus", CT_OPT_INT, AT(pod_gpus),                                                              \
		      "0",        0,          1 << 20,                                                                   \
		      NULL,       "GPUs",     "largest pod; 0: as many GPUs as the largest node has",                    \
		      0 },                                                                                               \
		    { "instances_by",                                                                                    \
		      CT_OPT_TEXT,                                                                                       \
		      AT(instances_by),                                                                                  \
		      "",                                                                                                \
		      0,                                                                                                 \
		      0,                                                                                                 \
		      NULL,                                                                                              \
		      NULL,                                                                                              \
		      "trace column with a job's number of pods",                                                        \
		      0 },                                                                                               \
		    { "expand",                                                                                          \
		      CT_OPT_BOOL,                                                                                       \
		      AT(expand),                                                                                        \
		      "true",                                                                                            \
		      0,                                                                                                 \
		      0,                                                                                                 \
		      NULL,                                                                                              \
		      NULL,                                                                                              \
		      "running elastic jobs get their surplus pods later, at the price of a migration",                  \
		      0 },                                                                                               \
		    { "sla_s",                                                                                           \
		      CT_OPT_SECONDS,                                                                                    \
		      AT(sla_us),                                                                                        \
		      "0",                                                                                               \
		      0,                                                                                                 \
		      1e10,                                                                                              \
		      NULL,                                                                                              \
		      "s",                                                                                               \
		      "sla plugin: a job that waited so long passes the gate and holds partial placements; 0: off",      \
		      0 },                                                                                               \
		    { "preempt", CT_OPT_BOOL, AT(preempt),                                                               \
		      "false",   0,           0,                                                                         \
		      NULL,      NULL,        "preempt action: starving jobs evict lower priorities of their queue",     \
		      0 },                                                                                               \
		    { "reclaim", CT_OPT_BOOL, AT(reclaim),                                                               \
		      "false",   0,           0,                                                                         \
		      NULL,      NULL,        "reclaim action: queues below their share evict from queues above theirs", \
		      0 },                                                                                               \
		    { "grace_s",                                                                                         \
		      CT_OPT_SECONDS,                                                                                    \
		      AT(grace_us),                                                                                      \
		      "30",                                                                                              \
		      0,                                                                                                 \
		      1e8,                                                                                               \
		      NULL,                                                                                              \
		      "s",                                                                                               \
		      "from the decision to evict until the GPUs change hands",                                          \
		      0 },                                                                                               \
		    { "cycle_s",                                                                                         \
		      CT_OPT_SECONDS,                                                                                    \
		      AT(cycle_us),                                                                                      \
		      "1",                                                                                               \
		      0,                                                                                                 \
		      1e6,                                                                                               \
		      NULL,                                                                                              \
		      "s",                                                                                               \
		      "scheduling period; 0: at every change, repeated until nothing moves",                             \
		      0 },                                                                                               \
		    { "admit_lag_cycles",                                                                                \
		      CT_OPT_INT,                                                                                        \
		      AT(admit_lag),                                                                                     \
		      "1",                                                                                               \
		      0,                                                                                                 \
		      1000,                                                                                              \
		      NULL,                                                                                              \
		      "cycles",                                                                                          \
		      "a job can be placed so many cycles after its admission (its pods are made then)",                 \
		      0 },                                                                                               \
		{                                                                                                        \
			.name = NULL                                                                                     \
		}                                                                                                        \
	}

static const struct ct_opt shipped[] = OPTIONS("both", "volcano_default");
static const struct ct_opt binpack[] = OPTIONS("both", "gpu_binpack");
static const struct ct_opt nogate[] = OPTIONS("off", "gpu_binpack");

static const struct ct_why whys[] = {
	[CT_VOL_WHY_GATE] = { "gate", "not admitted; GPUs asked for: %a, left in the budget of the enqueue gate: %b",
			      1 },
	[CT_VOL_WHY_GANG] = { "gang", "admitted; GPUs wanted at once: %a, idle: %b", 1 },
	[CT_VOL_WHY_NODES] = { "nodes", "admitted; GPUs wanted: %a, idle: %b, but its pods do not fit the nodes", 1 },
	[CT_VOL_WHY_SHARE] = { "share", "admitted; its queue deserves %a GPUs and holds %b", 1 },
	[CT_VOL_WHY_EVICTED] = { "evicted", "evicted for %j", 0 },
	[CT_VOL_WHY_GROWN] = { "grown", "grows to %a of the %b GPUs it asked for", 0 },
	{ .name = NULL },
};

#define PROFILE(name_, summary_, options_)                                                                           \
	{                                                                                                            \
		CT_POLICY_HEAD, .name = name_, .summary = summary_,                                                  \
				.paper = "Volcano v1.13.0, https://github.com/volcano-sh/volcano", .opts = options_, \
				.state_size = sizeof(struct ct_volcano), .init = init, .on_submit = on_submit,       \
				.on_finish = on_finish, .on_change = on_change, .schedule = schedule, .fini = fini,  \
				.whys = whys,                                                                        \
	}

const struct ct_policy ct_policy_volcano =
    PROFILE("volcano", "Volcano as shipped: enqueue gate, gangs, nodes scored blind to GPUs", shipped);
const struct ct_policy ct_policy_volcano_gpubinpack =
    PROFILE("volcano-gpubinpack", "Volcano with binpack configured to count GPUs", binpack);
const struct ct_policy ct_policy_volcano_nogate =
    PROFILE("volcano-nogate", "Volcano without the enqueue action, binpack counting GPUs", nogate);
