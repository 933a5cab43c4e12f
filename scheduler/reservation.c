/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scheduler/reservation.h"

#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>

/* Free CPU or memory of a node without limit: far more than any job asks, and far
 * from overflow when multiplied by a number of GPUs. */
static const uint64_t UNLIMITED = (uint64_t)1 << 40;

enum { LIMITED_HOST = 1, LIMITED_GPU_MEM = 2 };

static void find_limits(struct ct_reservation *r, const struct ct_view *v)
{
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct ct_view_node *n = ct_view_node(v, i);

		if (n->free_cpu_milli != UINT32_MAX || n->free_mem_mib != UINT32_MAX)
			r->limited[n->partition] |= LIMITED_HOST;
		if (n->n_gpus && ct_view_gpu(v, n->first_gpu)->mem_mib != UINT32_MAX)
			r->limited[n->partition] |= LIMITED_GPU_MEM;
	}
}

void ct_reservation_init(struct ct_reservation *r, struct ct_queueing *q, const struct ct_view *v)
{
	r->q = q;
	r->ends = ct_calloc(v->n_partitions, sizeof *r->ends);
	r->shares = ct_calloc(v->n_partitions, sizeof *r->shares);
	r->limited = ct_calloc(v->n_partitions, sizeof *r->limited);
	r->gpus = ct_calloc(v->n_gpus, sizeof *r->gpus);
	r->tally = ct_calloc(v->n_groups, sizeof *r->tally);
	for (uint32_t i = 0; i < v->n_partitions; i++)
		if (q->part[i].n_groups > 1)
			r->ends[i].by_group = ct_calloc(v->n_groups, sizeof(uint32_t));
	find_limits(r, v);
}

void ct_reservation_fini(struct ct_reservation *r)
{
	if (!r->q)
		return;
	for (uint32_t i = 0; i < r->q->n_parts; i++)
		free(r->ends[i].by_group);
	free(r->ends);
	free(r->end);
	free(r->shares);
	free(r->limited);
	free(r->gpus);
	free(r->tally);
	free(r->gpu);
	free(r->node);
	ct_tree_pool_fini(&r->pool);
}

void ct_reservation_know(struct ct_reservation *r, const struct ct_request *d)
{
	if (d->gpu_milli != 1000)
		r->shares[d->partition] = 1;
}

/* ---- estimated ends */

static void end_set(struct ct_reservation *r, uint32_t job, ct_time end_us, uint32_t pool_node)
{
	if (job >= r->n_end) {
		CT_GROW(r->end, r->cap_end, (size_t)job + 1);
		while (r->n_end <= job)
			r->end[r->n_end++].us = INT64_MIN;
	}
	r->end[job] = (struct ct_end){ end_us, pool_node };
}

/* Number of GPUs of a list that belong to a group. */
static uint32_t in_group(const struct ct_view *v, const uint32_t *gpus, uint32_t n, uint32_t group)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++)
		k += ct_view_node(v, ct_view_gpu(v, gpus[i])->node)->group == group;
	return k;
}

void ct_reservation_started(struct ct_reservation *r, const struct ct_view *v, uint32_t job, ct_time end_us,
			    const struct ct_place *at)
{
	uint32_t partition = ct_view_job(v, job)->partition;
	const struct ct_queue_part *part = &r->q->part[partition];
	struct ct_ends *e = &r->ends[partition];
	uint32_t n = ct_request_of(ct_view_job(v, job)).num_gpus ? at->n : 0; /* a CPU job's place is one node */
	struct ct_tree_item it = { .key = end_us, .value = end_us, .weight = n, .item = job };

	end_set(r, job, end_us, at->node);
	ct_tree_insert(&r->pool, &e->all, &it);
	if (!e->by_group || r->q->placement == CT_PLACE_POOL)
		return;
	for (uint32_t i = 0; i < part->n_groups; i++) {
		it.weight = in_group(v, at->gpus, n, part->group[i]);
		if (it.weight)
			ct_tree_insert(&r->pool, &e->by_group[i], &it);
	}
}

void ct_reservation_ended(struct ct_reservation *r, const struct ct_view *v, uint32_t job)
{
	uint32_t partition = ct_view_job(v, job)->partition;
	struct ct_ends *e;

	if (job >= r->n_end || r->end[job].us == INT64_MIN)
		return;
	e = &r->ends[partition];
	ct_tree_remove(&r->pool, &e->all, r->end[job].us, job);
	for (uint32_t i = 0; e->by_group && i < r->q->part[partition].n_groups; i++)
		ct_tree_remove(&r->pool, &e->by_group[i], r->end[job].us, job);
	r->end[job].us = INT64_MIN;
}

/* ---- by counts */

static bool accepts(const struct ct_request *d, uint32_t gpu_type)
{
	return d->gpu_type == CT_ANY || d->gpu_type == gpu_type;
}

static bool can_count(const struct ct_reservation *r, const struct ct_request *d)
{
	int limits = r->limited[d->partition];

	if (r->q->placement != CT_PLACE_COUNT || r->q->residents > 1 || r->shares[d->partition])
		return false;
	if ((limits & LIMITED_HOST) && (d->cpu_milli || d->mem_mib))
		return false;
	return !((limits & LIMITED_GPU_MEM) && d->gpu_mem_mib);
}

static void make_counted(struct ct_reservation *r, const struct ct_view *v)
{
	const struct ct_request *d = &r->demand;
	const struct ct_queue_part *part = &r->q->part[d->partition];
	const struct ct_ends *e = &r->ends[d->partition];
	const struct ct_tree_item *last;
	uint64_t idle = 0;
	uint32_t tree = e->all;

	for (uint32_t i = 0; i < part->n_groups; i++) {
		const struct ct_view_group *g = ct_view_group(v, part->group[i]);

		if (!accepts(d, g->gpu_type))
			continue;
		idle += g->idle_gpus;
		if (d->gpu_type != CT_ANY && e->by_group)
			tree = e->by_group[i];
	}
	last = idle < d->num_gpus ? ct_tree_reach(&r->pool, tree, d->num_gpus - idle) : NULL;
	if (!last)
		return;
	r->shadow_us = last->value > v->now_us ? last->value : v->now_us + 1;
	r->spare = idle + ct_tree_weight(&r->pool, tree, r->shadow_us) - d->num_gpus;
}

/* ---- by playing the ends through */

static void copy_node(struct ct_reservation *r, const struct ct_view *v, uint32_t node)
{
	const struct ct_view_node *n = ct_view_node(v, node);
	struct ct_shadow_node *s = &r->node[node];

	*s = (struct ct_shadow_node){ .free_milli = n->free_milli,
				      .cpu_milli = n->free_cpu_milli,
				      .mem_mib = n->free_mem_mib };
	if (s->cpu_milli == UINT32_MAX)
		s->cpu_milli = UNLIMITED;
	if (s->mem_mib == UINT32_MAX)
		s->mem_mib = UNLIMITED;
	if (r->q->placement == CT_PLACE_POOL)
		return;
	for (uint32_t g = n->first_gpu; g < n->first_gpu + n->n_gpus; g++) {
		const struct ct_view_gpu *u = ct_view_gpu(v, g);

		r->gpu[g] = (struct ct_shadow_gpu){ u->used_milli, u->used_mem_mib, u->n_residents };
	}
}

static uint64_t affordable(uint64_t free, uint32_t demand, uint32_t n)
{
	return demand ? free * n / demand : UINT32_MAX;
}

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* GPUs that the promised job could have on a node in the state that is played. */
static uint32_t count_fits(const struct ct_reservation *r, const struct ct_view *v, uint32_t node)
{
	const struct ct_view_node *n = ct_view_node(v, node);
	const struct ct_shadow_node *s = &r->node[node];
	const struct ct_request *d = &r->demand;
	uint32_t fits = 0;

	if (!n->up)
		return 0;
	if (r->q->placement == CT_PLACE_POOL)
		return s->free_milli >= ct_request_milli(d) && s->cpu_milli >= d->cpu_milli && s->mem_mib >= d->mem_mib;
	for (uint32_t g = n->first_gpu; g < n->first_gpu + n->n_gpus; g++) {
		const struct ct_shadow_gpu *u = &r->gpu[g];
		bool room = u->used_milli + d->gpu_milli <= 1000 || u->n_residents < (uint32_t)r->q->residents;

		fits += room && (uint64_t)u->used_mem_mib + d->gpu_mem_mib <= ct_view_gpu(v, g)->mem_mib;
	}
	fits = least(affordable(s->cpu_milli, d->cpu_milli, d->num_gpus), fits);
	return least(affordable(s->mem_mib, d->mem_mib, d->num_gpus), fits);
}

/* Brings a node's part in the tally of its group up to date. */
static void tally_node(struct ct_reservation *r, const struct ct_view *v, uint32_t node)
{
	struct ct_shadow_tally *t = &r->tally[ct_view_node(v, node)->group];
	uint32_t old = r->node[node].fits, new = count_fits(r, v, node);

	r->node[node].fits = new;
	t->gpus += (uint64_t) new - old;
	t->full += (uint32_t)(new >= t->full_at) - (uint32_t)(old >= t->full_at);
	t->rest += (uint32_t)(new >= t->rest_at) - (uint32_t)(old >= t->rest_at);
}

/* Does the promised job fit in the state that is played? Mirrors the rules of
 * policy.h: any GPUs; one node; whole nodes of one group and the rest on another. */
static bool fits(const struct ct_reservation *r, const struct ct_view *v)
{
	const struct ct_queue_part *part = &r->q->part[r->partition];
	uint64_t gpus = 0;

	for (uint32_t i = 0; i < part->n_groups; i++) {
		const struct ct_shadow_tally *t = &r->tally[part->group[i]];
		uint32_t whole;

		if (!accepts(&r->demand, ct_view_group(v, part->group[i])->gpu_type))
			continue;
		gpus += t->gpus;
		if (r->q->placement == CT_PLACE_COUNT || !t->full_at)
			continue;
		whole = t->rest_at == UINT32_MAX ? 1 : r->demand.num_gpus / t->full_at;
		if (t->full >= whole && (t->rest_at == UINT32_MAX || t->rest_at == 0 || t->rest > whole))
			return true;
	}
	return r->q->placement == CT_PLACE_COUNT && gpus >= r->demand.num_gpus;
}

static uint32_t largest_node(const struct ct_reservation *r, const struct ct_view *v)
{
	const struct ct_queue_part *part = &r->q->part[r->partition];
	uint32_t most = 0;

	for (uint32_t i = 0; i < part->n_groups; i++) {
		const struct ct_view_group *g = ct_view_group(v, part->group[i]);

		if (accepts(&r->demand, g->gpu_type) && g->max_node_gpus > most)
			most = g->max_node_gpus;
	}
	return most;
}

/* What a node must offer: all GPUs (rest_at = never), or its whole, or the rest. */
static void set_thresholds(struct ct_reservation *r, const struct ct_view *v)
{
	bool one_node = r->q->placement == CT_PLACE_POOL || r->demand.num_gpus <= largest_node(r, v);

	for (uint32_t g = 0; g < v->n_groups; g++) {
		uint32_t size = ct_view_group(v, g)->max_node_gpus;

		r->tally[g] = (struct ct_shadow_tally){ 0 };
		r->tally[g].full_at = one_node ? (r->q->placement == CT_PLACE_POOL ? 1 : r->demand.num_gpus) : size;
		r->tally[g].rest_at = one_node || !size ? UINT32_MAX : r->demand.num_gpus % size;
	}
}

/* Gives back (sign = 1) or takes (-1) what a job has on GPUs, or without any, or of a
 * pool, on its node. */
static void play(struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d, const uint32_t *gpus,
		 uint32_t n, uint32_t node, int sign)
{
	uint64_t s = sign > 0 ? 1 : UINT64_MAX; /* +1 or -1, modulo 2^64 */
	uint32_t k;

	if (r->q->placement == CT_PLACE_POOL || !d->num_gpus) {
		r->node[node].free_milli += s * ct_request_milli(d);
		r->node[node].cpu_milli += s * d->cpu_milli;
		r->node[node].mem_mib += s * d->mem_mib;
		tally_node(r, v, node);
		return;
	}
	for (uint32_t i = 0; i < n; i += k) {
		node = ct_view_gpu(v, gpus[i])->node;
		for (k = 0; i + k < n && ct_view_gpu(v, gpus[i + k])->node == node; k++) {
			struct ct_shadow_gpu *u = &r->gpu[gpus[i + k]];

			u->used_milli -= (uint32_t)s * d->gpu_milli;
			u->used_mem_mib -= (uint32_t)s * d->gpu_mem_mib;
			u->n_residents -= (uint32_t)s;
		}
		r->node[node].cpu_milli += s * (((uint64_t)d->cpu_milli * k + n - 1) / n);
		r->node[node].mem_mib += s * (((uint64_t)d->mem_mib * k + n - 1) / n);
		tally_node(r, v, node);
	}
}

static void release(struct ct_reservation *r, const struct ct_view *v, uint32_t job)
{
	struct ct_request d = ct_request_of(ct_view_job(v, job));
	uint32_t n = 0, node = 0;

	if (r->q->placement == CT_PLACE_POOL || !d.num_gpus)
		node = r->end[job].node;
	else
		n = v->host->gpus_of(v->host->ctx, job, r->gpus, v->n_gpus);
	play(r, v, &d, r->gpus, n, node, 1);
}

static void make_played(struct ct_reservation *r, const struct ct_view *v)
{
	uint32_t tree = r->ends[r->partition].all;
	const struct ct_tree_item *it = ct_tree_first(&r->pool, tree);

	if (!r->gpu) {
		r->gpu = ct_calloc(v->n_gpus, sizeof *r->gpu);
		r->node = ct_calloc(v->n_nodes, sizeof *r->node);
	}
	set_thresholds(r, v);
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		if (ct_view_node(v, i)->partition != r->partition)
			continue;
		copy_node(r, v, i);
		tally_node(r, v, i);
	}
	while (it && (r->shadow_us == INT64_MAX || it->value <= r->shadow_us)) {
		release(r, v, it->item);
		if (r->shadow_us == INT64_MAX && fits(r, v))
			r->shadow_us = it->value > v->now_us ? it->value : v->now_us + 1;
		it = ct_tree_next(&r->pool, tree, it->key, it->item);
	}
}

void ct_reservation_make(struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d)
{
	r->demand = *d;
	r->partition = d->partition;
	r->shadow_us = INT64_MAX;
	r->spare = UINT64_MAX;
	r->counted = can_count(r, d);
	if (r->counted)
		make_counted(r, v);
	else
		make_played(r, v);
}

/* ---- questions */

int ct_reservation_allows_anywhere(const struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d)
{
	(void)v;
	if (r->shadow_us == INT64_MAX)
		return 1;
	if (!r->counted)
		return -1;
	if (d->num_gpus <= r->spare)
		return 1;
	if (r->demand.gpu_type == CT_ANY || d->gpu_type == r->demand.gpu_type || !r->ends[r->partition].by_group)
		return 0;
	return d->gpu_type == CT_ANY ? -1 : 1;
}

/* GPUs of a placement that the promised job could use. */
static uint32_t concerned(const struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d,
			  const struct ct_place *at)
{
	uint32_t k = 0;

	for (uint32_t i = 0; d->num_gpus && i < at->n; i++)
		k += accepts(&r->demand, ct_view_node(v, ct_view_gpu(v, at->gpus[i])->node)->gpu_type);
	return k;
}

bool ct_reservation_allows(struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d,
			   const struct ct_place *at)
{
	bool ok;

	if (r->shadow_us == INT64_MAX)
		return true;
	if (r->counted)
		return concerned(r, v, d, at) <= r->spare;
	play(r, v, d, at->gpus, at->n, at->node, -1);
	ok = fits(r, v);
	play(r, v, d, at->gpus, at->n, at->node, 1);
	return ok;
}

void ct_reservation_take(struct ct_reservation *r, const struct ct_view *v, const struct ct_request *d,
			 const struct ct_place *at)
{
	if (r->shadow_us == INT64_MAX)
		return;
	if (r->counted)
		r->spare -= concerned(r, v, d, at);
	else
		play(r, v, d, at->gpus, at->n, at->node, -1);
}
