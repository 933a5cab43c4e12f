/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scheduler/placement.h"

#include <stdlib.h>

/* What is asked for, and by whom. */
struct request {
	const struct ct_cluster *c;
	uint32_t partition, type;
	uint32_t n, milli, residents;
	uint32_t gpu_mem_mib, cpu_milli, mem_mib, reserve_mib;
};

void ct_placement_init(struct ct_placement *p, const struct ct_world *w)
{
	const struct ct_cluster *c = ct_world_cluster(w);

	p->world = w;
	p->gpus = ct_calloc(c->n_gpus, sizeof *p->gpus);
	p->candidate = ct_calloc(c->n_gpus, sizeof *p->candidate);
	p->class_at = ct_calloc(c->n_classes, sizeof *p->class_at);
}

void ct_placement_fini(struct ct_placement *p)
{
	free(p->gpus);
	free(p->candidate);
	free(p->class_at);
}

static struct request request_of(const struct ct_placement *p, uint32_t job, uint32_t residents)
{
	const struct ct_world_spec *s = ct_world_spec_of(p->world);
	const struct ct_job *j = &s->work->jobs[job];
	const struct ct_family *f = s->families ? s->families[job] : NULL;
	struct request r = { .c = ct_world_cluster(p->world),
			     .partition = ct_world_job_partition(p->world, job),
			     .type = ct_world_job_type(p->world, job),
			     .n = j->num_gpus,
			     .milli = j->gpu_milli,
			     .residents = residents,
			     .gpu_mem_mib = j->gpu_mem_mib,
			     .cpu_milli = j->cpu_milli,
			     .mem_mib = j->mem_mib,
			     .reserve_mib = s->gpu_reserve_mib };

	if (f) {
		r.gpu_mem_mib = f->config[f->default_config].gpu_mem_mib;
		r.cpu_milli = f->config[f->default_config].cpu_milli;
		r.mem_mib = f->config[f->default_config].mem_mib;
	}
	return r;
}

static int accepts(const struct request *r, const struct ct_class *k)
{
	return k->partition == r->partition && (r->type == CT_NONE || k->type == r->type);
}

/* GPUs of a node whose share of a demand of the whole job the node has left. */
static uint32_t affordable(uint32_t demand, uint32_t n, uint32_t capacity, uint32_t used)
{
	uint64_t k;

	if (!demand || capacity == UINT32_MAX)
		return UINT32_MAX;
	k = (uint64_t)(capacity - used) * n / demand;
	return k < UINT32_MAX ? (uint32_t)k : UINT32_MAX;
}

/* How many GPUs of this node the job may use at most, whatever is idle. */
static uint32_t node_limit(const struct request *r, const struct ct_node *n)
{
	uint32_t cpu, mem;

	if (!n->up || n->reserved || n->pool_milli || r->gpu_mem_mib > n->gpu_mem_mib)
		return 0;
	cpu = affordable(r->cpu_milli, r->n, n->cpu_milli, n->used_cpu_milli);
	mem = affordable(r->mem_mib, r->n, n->mem_mib, n->used_mem_mib);
	return cpu < mem ? cpu : mem;
}

/* ---- whole idle GPUs */

/* Lowest-numbered idle GPUs of all classes that the job accepts. Classes may
 * interleave in number, so the lowest head of all is taken each time. */
static uint32_t take_idle(struct ct_placement *p, const struct request *r, uint32_t want)
{
	const struct ct_cluster *c = r->c;
	uint32_t got = 0, node = CT_NONE, limit = 0, on_node = 0;

	for (uint32_t i = 0; i < c->n_classes; i++)
		p->class_at[i] = accepts(r, &c->classes[i]) ? ct_bits_next(&c->classes[i].idle, 0) : UINT32_MAX;
	while (got < want) {
		uint32_t best = UINT32_MAX, from = 0;

		for (uint32_t i = 0; i < c->n_classes; i++) {
			if (p->class_at[i] != UINT32_MAX && c->classes[i].gpu[p->class_at[i]] < best) {
				best = c->classes[i].gpu[p->class_at[i]];
				from = i;
			}
		}
		if (best == UINT32_MAX)
			break;
		p->class_at[from] = ct_bits_next(&c->classes[from].idle, p->class_at[from] + 1);
		if (c->gpus[best].node != node) {
			node = c->gpus[best].node;
			limit = node_limit(r, &c->nodes[node]);
			on_node = 0;
		}
		if (on_node < limit) {
			p->gpus[got++] = best;
			on_node++;
		}
	}
	return got;
}

static uint64_t idle_accepted(const struct request *r)
{
	uint64_t idle = 0;

	for (uint32_t i = 0; i < r->c->n_classes; i++)
		if (accepts(r, &r->c->classes[i]))
			idle += r->c->classes[i].idle_gpus;
	return idle;
}

/* The fullest node of a class with at least `want` idle GPUs, passing over the first
 * `taken` of the wholly idle ones that could give all their GPUs; CT_NONE: none. */
static uint32_t best_node(const struct request *r, const struct ct_class *k, uint32_t want, uint32_t taken)
{
	for (uint32_t level = ct_bits_next(&k->levels, want); level != UINT32_MAX;
	     level = ct_bits_next(&k->levels, level + 1)) {
		for (uint32_t at = ct_bits_next(&k->by_idle[level], 0); at != UINT32_MAX;
		     at = ct_bits_next(&k->by_idle[level], at + 1)) {
			uint32_t limit = node_limit(r, &r->c->nodes[k->node[at]]);

			if (taken && level == k->max_node_gpus && limit >= level)
				taken--;
			else if (limit >= want)
				return k->node[at];
		}
	}
	return CT_NONE;
}

static uint32_t take_from_node(struct ct_placement *p, const struct ct_cluster *c, uint32_t node, uint32_t want,
			       uint32_t got)
{
	const struct ct_node *n = &c->nodes[node];

	for (uint32_t g = n->first_gpu; want && g < n->first_gpu + n->n_gpus; g++) {
		if (!c->gpus[g].n_residents) {
			p->gpus[got++] = g;
			want--;
		}
	}
	return got;
}

/* More than any node has: wholly idle nodes of one class, the rest best fit. */
static uint32_t take_nodes(struct ct_placement *p, const struct request *r, const struct ct_class *k)
{
	uint32_t size = k->max_node_gpus, whole = size ? r->n / size : 0, rest = size ? r->n % size : 0, got = 0,
		 taken = 0;

	if (!size || k->n_by_idle[size] < whole || k->idle_gpus < r->n)
		return 0;
	for (uint32_t at = ct_bits_next(&k->by_idle[size], 0); at != UINT32_MAX && taken < whole;
	     at = ct_bits_next(&k->by_idle[size], at + 1)) {
		if (node_limit(r, &r->c->nodes[k->node[at]]) < size)
			continue;
		got = take_from_node(p, r->c, k->node[at], size, got);
		taken++;
	}
	if (taken < whole)
		return 0;
	if (rest) {
		uint32_t node = best_node(r, k, rest, whole);

		if (node == CT_NONE)
			return 0;
		got = take_from_node(p, r->c, node, rest, got);
	}
	return got;
}

static uint32_t pack_idle(struct ct_placement *p, const struct request *r)
{
	const struct ct_cluster *c = r->c;
	uint32_t best = CT_NONE, largest = 0;

	for (uint32_t i = 0; i < c->n_classes; i++) {
		uint32_t node;

		if (!accepts(r, &c->classes[i]))
			continue;
		if (c->classes[i].max_node_gpus > largest)
			largest = c->classes[i].max_node_gpus;
		node = c->classes[i].max_node_gpus >= r->n ? best_node(r, &c->classes[i], r->n, 0) : CT_NONE;
		if (node != CT_NONE && (best == CT_NONE || c->nodes[node].idle_gpus < c->nodes[best].idle_gpus ||
					(c->nodes[node].idle_gpus == c->nodes[best].idle_gpus && node < best)))
			best = node;
	}
	if (best != CT_NONE)
		return take_from_node(p, c, best, r->n, 0);
	if (largest >= r->n)
		return 0;
	for (uint32_t i = 0; i < c->n_classes; i++) {
		uint32_t got = accepts(r, &c->classes[i]) ? take_nodes(p, r, &c->classes[i]) : 0;

		if (got == r->n)
			return got;
	}
	return 0;
}

/* ---- shares and co-location: looks at every GPU of the partition */

/* Is there room on this GPU, beside whoever is on it? */
static int has_room(const struct request *r, const struct ct_gpu *g)
{
	uint32_t limit = r->c->nodes[g->node].gpu_mem_mib;

	if (g->used_milli + r->milli > 1000 && g->n_residents + 1u > r->residents)
		return 0;
	if (g->n_residents && limit != UINT32_MAX)
		limit = limit > r->reserve_mib ? limit - r->reserve_mib : 0;
	return (uint64_t)g->used_mem_mib + r->gpu_mem_mib <= limit;
}

/* Smaller is preferred. Shares fill the fullest GPU first, within its 1000 milli;
 * co-location starts with idle GPUs, then the fewest residents. */
static uint64_t preference(const struct request *r, uint32_t gpu)
{
	const struct ct_gpu *g = &r->c->gpus[gpu];
	uint32_t rank = g->used_milli + r->milli <= 1000 ? 1000 - g->used_milli : 1000u + g->n_residents;

	return (uint64_t)rank << 32 | gpu;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The `want` most preferred GPUs among GPUs first..last of accepted nodes. */
static uint32_t take_shared(struct ct_placement *p, const struct request *r, uint32_t first, uint32_t last)
{
	const struct ct_cluster *c = r->c;
	uint64_t *key, best = UINT64_MAX;
	uint32_t n = 0, got = 0;

	for (uint32_t g = first; g < last; g++) {
		const struct ct_node *node = &c->nodes[c->gpus[g].node];

		if (!accepts(r, &c->classes[node->class_id]) || !node_limit(r, node) || !has_room(r, &c->gpus[g]))
			continue;
		p->candidate[n++] = g;
		if (preference(r, g) < best)
			best = preference(r, g);
	}
	if (n < r->n)
		return 0;
	if (r->n == 1) {
		p->gpus[0] = (uint32_t)best;
		return 1;
	}
	key = ct_calloc(n, sizeof *key);
	for (uint32_t i = 0; i < n; i++)
		key[i] = preference(r, p->candidate[i]);
	qsort(key, n, sizeof *key, compare_u64);
	for (uint32_t i = 0; i < n && got < r->n; i++) {
		uint32_t gpu = (uint32_t)key[i], on_node = 0;

		for (uint32_t k = 0; k < got; k++)
			on_node += c->gpus[p->gpus[k]].node == c->gpus[gpu].node;
		if (on_node < node_limit(r, &c->nodes[c->gpus[gpu].node]))
			p->gpus[got++] = gpu;
	}
	free(key);
	return got == r->n ? got : 0;
}

/* One node for all of a job's GPUs: the one whose taking leaves least free. */
static uint32_t pack_shared(struct ct_placement *p, const struct request *r)
{
	const struct ct_cluster *c = r->c;
	uint32_t best = CT_NONE;

	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const struct ct_node *n = &c->nodes[i];

		if (!accepts(r, &c->classes[n->class_id]) || node_limit(r, n) < r->n)
			continue;
		if (best != CT_NONE && n->free_milli >= c->nodes[best].free_milli)
			continue;
		if (take_shared(p, r, n->first_gpu, n->first_gpu + n->n_gpus) == r->n)
			best = i;
	}
	if (best == CT_NONE)
		return 0;
	return take_shared(p, r, c->nodes[best].first_gpu, c->nodes[best].first_gpu + c->nodes[best].n_gpus);
}

/* ---- pools */

static struct ct_place find_pool(const struct request *r)
{
	const struct ct_cluster *c = r->c;
	uint64_t need = (uint64_t)r->n * r->milli;
	uint32_t best = CT_NONE;

	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const struct ct_node *n = &c->nodes[i];

		if (!n->up || n->reserved || !accepts(r, &c->classes[n->class_id]) || n->free_milli < need)
			continue;
		if (n->cpu_milli - n->used_cpu_milli < r->cpu_milli || n->mem_mib - n->used_mem_mib < r->mem_mib)
			continue;
		if (best == CT_NONE || n->free_milli < c->nodes[best].free_milli)
			best = i;
	}
	return (struct ct_place){ NULL, best == CT_NONE ? 0 : r->n ? r->n : 1, best };
}

struct ct_place ct_placement_find(struct ct_placement *p, uint32_t job, enum ct_place_rule rule, uint32_t residents)
{
	struct request r = request_of(p, job, residents);
	uint32_t got = 0;

	if (rule == CT_PLACE_POOL || !r.n)
		return find_pool(&r);
	if (r.milli == 1000 && idle_accepted(&r) >= r.n)
		got = rule == CT_PLACE_COUNT ? take_idle(p, &r, r.n) : pack_idle(p, &r);
	if (got < r.n && (r.milli < 1000 || residents > 1))
		got = rule == CT_PLACE_COUNT ? take_shared(p, &r, 0, r.c->n_gpus) : pack_shared(p, &r);
	return (struct ct_place){ p->gpus, got == r.n ? got : 0, CT_NONE };
}

/* ---- the empty cluster */

static uint32_t nodes_of(const struct request *r, uint32_t shape)
{
	return r->c->shapes[shape].count - r->c->shape_reserved[shape];
}

/* GPUs of an idle node of this shape that the job could use. */
static uint32_t shape_limit(const struct request *r, const struct ct_node_spec *s)
{
	uint32_t cpu = affordable(r->cpu_milli, r->n, s->cpu_milli ? s->cpu_milli : UINT32_MAX, 0);
	uint32_t mem = affordable(r->mem_mib, r->n, s->mem_mib ? s->mem_mib : UINT32_MAX, 0);
	uint32_t least = cpu < mem ? cpu : mem;

	if (s->gpu_mem_mib && r->gpu_mem_mib > s->gpu_mem_mib)
		return 0;
	return least < s->gpus ? least : s->gpus;
}

/* Whole nodes of one class and the rest on one more, as take_nodes() does it. */
static int nodes_possible(const struct request *r, uint32_t class)
{
	const struct ct_cluster *c = r->c;
	uint32_t size = c->classes[class].max_node_gpus, whole = size ? r->n / size : 0, rest = size ? r->n % size : 0;
	uint64_t full = 0, fit_rest = 0;

	if (!size || r->milli < 1000)
		return 0;
	for (uint32_t i = 0; i < c->n_shapes; i++) {
		uint32_t limit = c->shape_class[i] == class ? shape_limit(r, &c->shapes[i]) : 0;

		full += limit == size ? nodes_of(r, i) : 0;
		fit_rest += rest && limit >= rest ? nodes_of(r, i) : 0;
	}
	return full >= whole && (!rest || fit_rest > whole);
}

int ct_placement_possible(const struct ct_placement *p, uint32_t job, enum ct_place_rule rule)
{
	struct request r = request_of(p, job, 1);
	const struct ct_cluster *c = r.c;
	uint64_t anywhere = 0;
	uint32_t largest = 0;

	for (uint32_t i = 0; i < c->n_shapes; i++) {
		const struct ct_node_spec *s = &c->shapes[i];

		if (!accepts(&r, &c->classes[c->shape_class[i]]))
			continue;
		if (s->gpus > largest) /* reserved or not, as pack_idle() sees it */
			largest = s->gpus;
		if (!nodes_of(&r, i))
			continue;
		if ((rule == CT_PLACE_POOL || !r.n) && (uint64_t)r.n * r.milli <= 1000 * (uint64_t)s->gpus &&
		    (!s->cpu_milli || r.cpu_milli <= s->cpu_milli) && (!s->mem_mib || r.mem_mib <= s->mem_mib))
			return 1;
		if (rule == CT_PLACE_POOL || !r.n)
			continue;
		anywhere += (uint64_t)nodes_of(&r, i) * shape_limit(&r, s);
		if (rule == CT_PLACE_PACK && shape_limit(&r, s) >= r.n)
			return 1;
	}
	if (rule == CT_PLACE_POOL || !r.n)
		return 0;
	if (rule == CT_PLACE_COUNT)
		return anywhere >= r.n;
	if (largest >= r.n)
		return 0;
	for (uint32_t i = 0; i < c->n_classes; i++)
		if (accepts(&r, &c->classes[i]) && nodes_possible(&r, i))
			return 1;
	return 0;
}
