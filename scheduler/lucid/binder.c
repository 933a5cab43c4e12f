/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indolent packing. A waiting job W may go onto the GPUs of a running job H iff
 *
 *	both want the same number of whole GPUs, at most pack_gpus, and H is on one node
 *	H is alone on them
 *	memory(H) < limit - memory(W)
 *	score(W) + score(H) <= capacity
 *	weight(W) <= time_factor x weight(H), H's original estimate
 *
 * and takes the host that started first. Hosts of a partition and size stand in one
 * tree a score, in order of start, searched by weight; waiting jobs likewise, in the
 * queue's order, searched by memory. Both questions cost O(log jobs), and one step
 * more for each candidate that the rule the tree does not know turns down. */
#include "scheduler/lucid/lucid.h"

#include "sim/memory.h"

#include <math.h>

uint32_t ct_lucid_shelf_of(struct ct_lucid *l, const struct ct_view *v, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);

	if (!l->pack || j->gpu_milli < 1000 || j->num_gpus == 0 || j->num_gpus > (uint64_t)l->pack_gpus)
		return UINT32_MAX;
	for (size_t i = 0; i < l->n_shelves; i++)
		if (l->shelf[i].partition == j->partition && l->shelf[i].num_gpus == j->num_gpus)
			return (uint32_t)i;
	CT_GROW(l->shelf, l->cap_shelves, l->n_shelves + 1);
	l->shelf[l->n_shelves] = (struct ct_lucid_shelf){ .partition = j->partition, .num_gpus = j->num_gpus };
	return (uint32_t)l->n_shelves++;
}

void ct_lucid_offer(struct ct_lucid *l, uint32_t job)
{
	const struct ct_lucid_job *j = &l->job[job];

	if (j->shelf != UINT32_MAX)
		ct_tree_insert(&l->trees, &l->shelf[j->shelf].waiting[j->score],
			       &(struct ct_tree_item){
				   .key = ct_tree_key(j->weight), .value = ct_tree_key(j->mem_mib), .item = job });
}

void ct_lucid_withdraw(struct ct_lucid *l, uint32_t job)
{
	const struct ct_lucid_job *j = &l->job[job];

	if (j->shelf != UINT32_MAX)
		ct_tree_remove(&l->trees, &l->shelf[j->shelf].waiting[j->score], ct_tree_key(j->weight), job);
}

/* Its GPUs are on one node, and whole. */
static bool on_one_node(const struct ct_lucid *l, const struct ct_view *v, uint32_t job, uint32_t *node)
{
	uint32_t n = v->host->gpus_of(v->host->ctx, job, l->gpus, v->n_gpus);

	if (n != ct_view_job(v, job)->num_gpus)
		return false;
	*node = ct_view_gpu(v, l->gpus[0])->node;
	for (uint32_t i = 1; i < n; i++)
		if (ct_view_gpu(v, l->gpus[i])->node != *node)
			return false;
	return true;
}

void ct_lucid_add_host(struct ct_lucid *l, const struct ct_view *v, uint32_t job)
{
	struct ct_lucid_job *j = &l->job[job];
	struct ct_lucid_part *part = &l->part[ct_view_job(v, job)->partition];
	uint32_t node;

	if (j->shelf == UINT32_MAX || !on_one_node(l, v, job, &node))
		return;
	j->is_host = 1;
	ct_tree_insert(&l->trees, &l->shelf[j->shelf].hosts[j->score],
		       &(struct ct_tree_item){ .key = j->started, .value = ct_tree_key(-j->weight), .item = job });
	CT_GROW(part->host, part->cap_hosts, part->n_hosts + 1);
	part->host[part->n_hosts++] = job;
}

void ct_lucid_remove_host(struct ct_lucid *l, uint32_t job)
{
	struct ct_lucid_job *j = &l->job[job];

	if (!j->is_host)
		return;
	j->is_host = 0;
	ct_tree_remove(&l->trees, &l->shelf[j->shelf].hosts[j->score], j->started, job);
}

/* Memory that two jobs may use together on a GPU. */
static double memory_limit(const struct ct_lucid *l, const struct ct_view *v, uint32_t gpu)
{
	uint32_t has = ct_view_gpu(v, gpu)->mem_mib;
	double limit = l->memory > 0 ? l->memory : (double)INFINITY;

	if (has == UINT32_MAX)
		return limit;
	has = has > v->gpu_reserve_mib ? has - v->gpu_reserve_mib : 0;
	return has < limit ? has : limit;
}

/* What the trees do not know. Leaves the host's GPUs in l->gpus. */
static bool suits(const struct ct_lucid *l, const struct ct_view *v, uint32_t host, uint32_t guest)
{
	const struct ct_lucid_job *h = &l->job[host], *g = &l->job[guest];
	const struct ct_view_job *j = ct_view_job(v, guest);
	const struct ct_view_node *n;
	uint32_t node;

	if (h->score + g->score > (uint64_t)l->capacity || g->weight > l->time_factor * h->weight)
		return false;
	if (!on_one_node(l, v, host, &node))
		return false;
	if (!(h->mem_mib < memory_limit(l, v, l->gpus[0]) - g->mem_mib))
		return false;
	n = ct_view_node(v, node);
	return (j->gpu_type == CT_ANY || j->gpu_type == n->gpu_type) && j->cpu_milli <= n->free_cpu_milli &&
	       j->mem_mib <= n->free_mem_mib;
}

uint32_t ct_lucid_find_host(struct ct_lucid *l, const struct ct_view *v, uint32_t job)
{
	const struct ct_lucid_job *j = &l->job[job];
	int64_t most = ct_tree_key(-(j->weight / l->time_factor * (1 - 1e-15)));
	uint32_t best = CT_NO_JOB;

	if (j->shelf == UINT32_MAX)
		return CT_NO_JOB;
	for (uint32_t s = 0; s < CT_LUCID_SCORES && s + j->score <= (uint64_t)l->capacity; s++) {
		uint32_t tree = l->shelf[j->shelf].hosts[s];
		const struct ct_tree_item *t = ct_tree_find(&l->trees, tree, INT64_MIN, 0, most);

		while (t && (best == CT_NO_JOB || t->key < l->job[best].started) && !suits(l, v, t->item, job))
			t = ct_tree_find(&l->trees, tree, t->key, t->item, most);
		if (t && (best == CT_NO_JOB || t->key < l->job[best].started))
			best = t->item;
	}
	return best;
}

uint32_t ct_lucid_find_guest(struct ct_lucid *l, const struct ct_view *v, uint32_t host, int64_t key, uint32_t job)
{
	const struct ct_lucid_job *h = &l->job[host];
	uint32_t best = CT_NO_JOB, node;
	int64_t most;

	if (!h->is_host || !on_one_node(l, v, host, &node))
		return CT_NO_JOB;
	most = ct_tree_key(memory_limit(l, v, l->gpus[0]) - h->mem_mib);
	for (uint32_t s = 0; s < CT_LUCID_SCORES && s + h->score <= (uint64_t)l->capacity; s++) {
		uint32_t tree = l->shelf[h->shelf].waiting[s];
		const struct ct_tree_item *t = ct_tree_find(&l->trees, tree, key, job, most);

		while (t && l->job[t->item].weight <= l->time_factor * h->weight && !suits(l, v, host, t->item))
			t = ct_tree_find(&l->trees, tree, t->key, t->item, most);
		if (!t || l->job[t->item].weight > l->time_factor * h->weight)
			continue;
		if (best == CT_NO_JOB || ct_order_before(t->key, t->item, ct_tree_key(l->job[best].weight), best))
			best = t->item;
	}
	return best;
}
