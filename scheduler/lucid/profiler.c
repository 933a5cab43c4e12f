/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler: reserved nodes on which a new job runs alone for at most profile_time.
 * Least GPUs first, by submission among equals, the first that does not fit stops the
 * pass; best fit, lowest number on ties. A job that ends there has left the system.
 *
 * profile=serial: the others enter the main queue afterwards, and begin anew.
 * profile=parallel (the artifact): they wait in the main queue from their submission
 * on and are in the profiler at the same time; only their hold on its GPUs is kept
 * here. Who ends in time is known beforehand there.
 *
 * The pool is small: a placement looks at each of its nodes, an end at each run. */
#include "scheduler/lucid/lucid.h"

#include "sim/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROW_EVERY_S = 10, GROW_QUEUE = 10, SHRINK_EVERY_S = 100, SHRINK_QUEUE = 5, SHRINK_GPUS = 5 };
enum { NOT, FOR_GOOD, FOR_NOW }; /* plan->reserve */
#define SECOND ((ct_time)1000000)

/* ---- which nodes */

static int partition_named(const struct ct_view *v, const char *name, uint32_t *partition)
{
	char message[256];

	*partition = v->host->partition(v->host->ctx, name);
	if (*partition != CT_ANY)
		return 0;
	snprintf(message, sizeof message, "the cluster has no partition '%.100s'", name);
	return v->host->fail(v->host->ctx, message);
}

static uint32_t nodes_in(const struct ct_view *v, uint32_t partition)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_nodes; i++)
		n += ct_view_node(v, i)->partition == partition;
	return n;
}

static uint32_t largest_partition(const struct ct_view *v)
{
	uint32_t best = 0;

	for (uint32_t k = 1; k < v->n_partitions; k++)
		best = nodes_in(v, k) > nodes_in(v, best) ? k : best;
	return best;
}

static void add_pool_node(struct ct_lucid *l, const struct ct_view *v, uint32_t node, uint32_t in_use)
{
	const struct ct_view_node *n = ct_view_node(v, node);

	l->pool[l->n_pool++] = (struct ct_lucid_pool_node){ .node = node,
							    .first_gpu = n->first_gpu,
							    .n_gpus = n->n_gpus,
							    .n_free = n->n_gpus,
							    .cpu_milli = n->free_cpu_milli,
							    .mem_mib = n->free_mem_mib,
							    .in_use = in_use,
							    .busy = ct_calloc(n->n_gpus, sizeof(uint32_t)) };
}

/* In the proportion of the authors' cluster (Venus, 135 nodes), at least one where the
 * partition keeps another. */
enum { VENUS_NODES = 135, VENUS_PROFILERS = 2 };

static int64_t automatic_nodes(const struct ct_view *v, uint32_t partition, bool own)
{
	uint32_t most = own ? nodes_in(v, partition) : nodes_in(v, partition) - 1;
	uint32_t want = (uint32_t)(((uint64_t)v->n_nodes * VENUS_PROFILERS + VENUS_NODES - 1) / VENUS_NODES);

	return want < most ? want : most;
}

/* A partition of its own: its first nodes, then spare ones. Otherwise the last nodes of
 * the largest partition. */
int ct_lucid_profiler_init(struct ct_lucid *l, const struct ct_view *v)
{
	uint32_t want, partition;
	bool own = l->profiler && *l->profiler;

	l->lent = CT_ANY;
	if (own && partition_named(v, l->profiler, &partition))
		return 1;
	if (!own)
		partition = largest_partition(v);
	if (l->profiler_nodes < 0)
		l->profiler_nodes = automatic_nodes(v, partition, own);
	if (l->profile == CT_LUCID_PROFILE_OFF || l->profiler_nodes == 0)
		return 0;
	if (l->spare_nodes && !own)
		return v->host->fail(v->host->ctx, "'policy.spare_nodes' wants 'policy.profiler', a partition");
	want = (uint32_t)(l->profiler_nodes + l->spare_nodes);
	if (nodes_in(v, partition) < want + !own)
		return v->host->fail(v->host->ctx,
				     "the profiler leaves no node of its partition, or wants more than there are: see "
				     "'policy.profiler_nodes'");
	l->pool = ct_calloc(want, sizeof *l->pool);
	for (uint32_t k = 0; k < v->n_nodes && l->n_pool < want; k++) {
		uint32_t node = own ? k : v->n_nodes - 1 - k;

		if (ct_view_node(v, node)->partition == partition)
			add_pool_node(l, v, node, l->n_pool < (uint32_t)l->profiler_nodes);
	}
	return 0;
}

int ct_lucid_profiler_reserve(struct ct_lucid *l, struct ct_plan *p)
{
	for (uint32_t i = 0; i < l->n_pool; i++)
		if (p->reserve(p, l->pool[i].node, FOR_GOOD))
			return 1;
	return 0;
}

void ct_lucid_profiler_fini(struct ct_lucid *l)
{
	for (uint32_t i = 0; i < l->n_pool; i++)
		free(l->pool[i].busy);
	free(l->pool);
	free(l->run);
}

/* ---- queue */

/* Could it run there if it were alone? */
static bool suits(const struct ct_view *v, const struct ct_lucid_pool_node *n, const struct ct_view_job *j)
{
	return j->num_gpus <= n->n_gpus && j->cpu_milli <= n->cpu_milli && j->mem_mib <= n->mem_mib &&
	       j->gpu_mem_mib <= ct_view_gpu(v, n->first_gpu)->mem_mib &&
	       (j->gpu_type == CT_ANY || j->gpu_type == ct_view_node(v, n->node)->gpu_type);
}

bool ct_lucid_profiler_takes(struct ct_lucid *l, const struct ct_view *v, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);

	uint32_t base = (uint32_t)l->profiler_nodes, i = 0;

	if (!l->n_pool || j->gpu_milli < 1000 || j->num_gpus == 0 || j->num_gpus > (uint64_t)l->profile_gpus)
		return false;
	while (i < base && !suits(v, &l->pool[i], j))
		i++;
	if (i == base)
		return false;
	ct_tree_insert(&l->trees, &l->profiler_queue, &(struct ct_tree_item){ .key = j->num_gpus, .item = job });
	l->n_profiler_queue++;
	return true;
}

/* ---- runs */

static bool is_free(const struct ct_view *v, const struct ct_lucid_pool_node *n, uint32_t g)
{
	return !n->busy[g] && ct_view_gpu(v, n->first_gpu + g)->n_residents != CT_VIEW_GPU_DOWN;
}

/* GPUs that work and nobody has. */
static uint32_t count_free(const struct ct_view *v, const struct ct_lucid_pool_node *n)
{
	uint32_t k = 0;

	if (!ct_view_node(v, n->node)->down_gpus)
		return n->n_free;
	for (uint32_t g = 0; g < n->n_gpus; g++)
		k += is_free(v, n, g);
	return k;
}

/* Takes the lowest-numbered free GPUs; leaves them in l->gpus. */
static void take(struct ct_lucid *l, const struct ct_view *v, struct ct_lucid_pool_node *n, uint32_t want, uint32_t job)
{
	uint32_t got = 0;

	for (uint32_t g = 0; g < n->n_gpus && got < want; g++) {
		if (!is_free(v, n, g))
			continue;
		n->busy[g] = job + 1;
		l->gpus[got++] = n->first_gpu + g;
	}
	n->n_free -= want;
}

static bool holds(const struct ct_view *v, const struct ct_lucid_pool_node *n, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job); /* demands 0 where the job has ended */
	const struct ct_view_node *at = ct_view_node(v, n->node);

	return at->free_cpu_milli >= j->cpu_milli && at->free_mem_mib >= j->mem_mib &&
	       ct_view_gpu(v, n->first_gpu)->mem_mib >= j->gpu_mem_mib;
}

static uint32_t best_node(const struct ct_lucid *l, const struct ct_view *v, uint32_t job)
{
	const struct ct_lucid_job *j = &l->job[job];
	uint32_t best = CT_ANY, least = 0;

	for (uint32_t i = 0; i < l->n_pool; i++) {
		const struct ct_lucid_pool_node *n = &l->pool[i];
		const struct ct_view_node *at = ct_view_node(v, n->node);
		uint32_t free = count_free(v, n);

		if (!n->in_use || free < j->num_gpus || !at->up || (best != CT_ANY && free >= least))
			continue;
		if ((j->gpu_type == CT_ANY || at->gpu_type == j->gpu_type) && holds(v, n, job)) {
			best = i;
			least = free;
		}
	}
	return best;
}

static void end_run(struct ct_lucid *l, size_t i)
{
	struct ct_lucid_run r = l->run[i];
	struct ct_lucid_pool_node *n = &l->pool[r.node];

	for (uint32_t g = 0; g < n->n_gpus; g++) {
		if (n->busy[g] == r.job + 1) {
			n->busy[g] = 0;
			n->n_free++;
		}
	}
	l->n_runs--;
	memmove(&l->run[i], &l->run[i + 1], (l->n_runs - i) * sizeof *l->run);
}

void ct_lucid_profiler_release(struct ct_lucid *l, uint32_t job)
{
	if (l->job[job].place == CT_LUCID_WAITS_FOR_PROFILER &&
	    ct_tree_remove(&l->trees, &l->profiler_queue, l->job[job].num_gpus, job))
		l->n_profiler_queue--;
	for (size_t i = 0; i < l->n_runs; i++) {
		if (l->run[i].job == job && !l->run[i].shadow) {
			end_run(l, i);
			return;
		}
	}
}

int ct_lucid_profiler_end(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p)
{
	size_t i = 0;

	while (i < l->n_runs) {
		struct ct_lucid_run r = l->run[i];

		if (r.end_us > v->now_us) {
			i++;
			continue;
		}
		end_run(l, i);
		if (!r.shadow && (p->preempt(p, r.job) || ct_lucid_enter(l, v, p, r.job)))
			return 1;
	}
	return 0;
}

/* Whether it only holds GPUs of the pool in the books, beside its life in the queue. */
static bool is_shadow(const struct ct_lucid *l, uint32_t job)
{
	return l->profile == CT_LUCID_PROFILE_PARALLEL && !l->job[job].finishes;
}

static int start_run(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job, uint32_t node)
{
	struct ct_lucid_run r = { .job = job, .node = node, .shadow = is_shadow(l, job) };
	uint32_t n = l->job[job].num_gpus;

	take(l, v, &l->pool[node], n, job);
	r.end_us = l->job[job].finishes ? INT64_MAX : v->now_us + l->profile_time;
	CT_GROW(l->run, l->cap_runs, l->n_runs + 1);
	l->run[l->n_runs++] = r;
	if (r.shadow)
		return 0;
	l->job[job].place = CT_LUCID_PROFILED;
	return p->profile(p, job, ct_view_job(v, job)->default_config, l->gpus, n);
}

static void resize(struct ct_lucid *l, const struct ct_view *v)
{
	struct ct_lucid_pool_node *spare = l->spare_nodes ? &l->pool[l->profiler_nodes] : NULL;

	if (!spare)
		return;
	if (!l->extended && v->now_us % (GROW_EVERY_S * SECOND) == 0 && l->n_profiler_queue > GROW_QUEUE) {
		l->extended = spare->in_use = 1;
		l->lend = 1;
	} else if (l->extended && v->now_us % (SHRINK_EVERY_S * SECOND) == 0 && l->n_profiler_queue < SHRINK_QUEUE &&
		   spare->n_free == spare->n_gpus &&
		   !(ct_lucid_expected_gpus(l, v) > SHRINK_GPUS * (double)l->profile_gpus)) {
		l->extended = spare->in_use = 0;
		l->lend = -1;
	}
}

int ct_lucid_profiler_start(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p)
{
	const struct ct_tree_item *t;

	while ((t = ct_tree_first(&l->trees, l->profiler_queue))) {
		uint32_t job = t->item, node;

		node = best_node(l, v, job);
		if (node == CT_ANY)
			break;
		ct_tree_remove(&l->trees, &l->profiler_queue, t->key, job);
		l->n_profiler_queue--;
		if (start_run(l, v, p, job, node))
			return 1;
	}
	resize(l, v);
	return 0;
}

void ct_lucid_profiler_note(const struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	uint32_t n_free = 0;

	if (job >= l->n_jobs || l->job[job].place != CT_LUCID_WAITS_FOR_PROFILER ||
	    ct_view_job(v, job)->state != CT_VIEW_QUEUED)
		return;
	for (uint32_t i = 0; i < l->n_pool; i++)
		n_free += l->pool[i].in_use ? l->pool[i].n_free : 0;
	p->note(p, job, CT_LUCID_WHY_PROFILER, CT_NO_JOB, l->job[job].num_gpus, n_free);
}

/* ---- afterwards */

/* The lender gives its idle node of the highest number. */
static int lend(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p)
{
	uint32_t partition;
	int rc = 0;

	if (!l->lend || !l->lender || !*l->lender)
		return 0;
	if (l->lend < 0 && l->lent != CT_ANY) {
		rc = p->reserve(p, l->lent, NOT);
		l->lent = CT_ANY;
		if (!rc)
			ct_lucid_gained(l, v, l->lender);
	} else if (l->lend > 0) {
		if (partition_named(v, l->lender, &partition))
			return 1;
		for (uint32_t i = v->n_nodes; i-- > 0 && l->lent == CT_ANY;) {
			const struct ct_view_node *n = ct_view_node(v, i);

			if (n->partition == partition && n->up && !n->reserved && n->idle_gpus == n->n_gpus)
				l->lent = i;
		}
		if (l->lent != CT_ANY)
			rc = p->reserve(p, l->lent, FOR_NOW);
	}
	l->lend = 0;
	return rc;
}

static ct_time next_multiple(ct_time t, ct_time of)
{
	return (t / of + 1) * of;
}

int ct_lucid_profiler_after(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p)
{
	ct_time next = INT64_MAX;

	if (lend(l, v, p))
		return 1;
	for (size_t i = 0; i < l->n_runs; i++)
		next = l->run[i].end_us < next ? l->run[i].end_us : next;
	if (l->spare_nodes && !l->extended && l->n_profiler_queue > GROW_QUEUE) {
		ct_time t = next_multiple(v->now_us, GROW_EVERY_S * SECOND);

		next = t < next ? t : next;
	}
	if (l->extended) {
		ct_time t = next_multiple(v->now_us, SHRINK_EVERY_S * SECOND);

		next = t < next ? t : next;
	}
	return next < INT64_MAX ? p->wake(p, next) : 0;
}
