/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes.c - what is free on the nodes, as a pass sees it, and which node scores best.
 *
 * Nodes of equal capacity form a shape; within a shape nodes stand in one bit set
 * for each number of free GPUs. Where the score is a function of GPUs alone, all
 * nodes of a set tie, so the best node is a member of the best set, picked in
 * O(nodes / 64).
 *
 * The full score is that of v1.13's binpack and nodeorder at their defaults
 * (specification 2.6): with it every node of the cell is looked at. A resource that
 * a node has without limit takes no part. */
#include "scheduler/volcano/volcano.h"

#include <math.h>
#include <stdlib.h>

struct ct_vol_tie_level {
	uint32_t shape, free, n;
};

/* Requests that nodeorder assumes of a pod that names none (k8s, non-zero requests). */
enum { ASSUMED_CPU_MILLI = 100, ASSUMED_MEM_MIB = 200 };

/* ---- the mirror */

static void leave_level(struct ct_vol_shape *h, const struct ct_vol_node *n)
{
	ct_bits_remove(&h->by_free[n->gpus], n->at);
	if (!--h->n_by_free[n->gpus])
		ct_bits_remove(&h->levels, n->gpus);
}

static void enter_level(struct ct_vol_shape *h, const struct ct_vol_node *n)
{
	ct_bits_add(&h->by_free[n->gpus], n->at);
	if (!h->n_by_free[n->gpus]++)
		ct_bits_add(&h->levels, n->gpus);
}

static struct ct_vol_shape *shape_of(const struct ct_volcano *s, uint32_t node)
{
	return &s->cell[s->node[node].cell].shape[s->node[node].shape];
}

static void set_free(struct ct_volcano *s, uint32_t node, uint32_t gpus)
{
	struct ct_vol_node *n = &s->node[node];

	if (n->gpus == gpus)
		return;
	s->cell[n->cell].idle += (uint64_t)gpus - n->gpus;
	leave_level(shape_of(s, node), n);
	n->gpus = gpus;
	enter_level(shape_of(s, node), n);
}

static uint32_t less(uint32_t free, uint32_t claimed)
{
	return free == UINT32_MAX ? free : free > claimed ? free - claimed : 0;
}

void ct_vol_node_sync(struct ct_volcano *s, const struct ct_view *v, uint32_t node)
{
	const struct ct_view_node *from = ct_view_node(v, node);
	struct ct_vol_node *n = &s->node[node];
	struct ct_vol_cell *c = &s->cell[n->cell];
	uint32_t working = from->up ? from->n_gpus - from->down_gpus : 0;

	c->total += (uint64_t)working - n->working;
	n->working = working;
	if (n->up != from->up) {
		if (from->up) {
			c->idle += n->gpus;
			enter_level(shape_of(s, node), n);
		} else {
			c->idle -= n->gpus;
			leave_level(shape_of(s, node), n);
		}
		n->up = from->up;
	}
	if (!n->up)
		return;
	set_free(s, node, less(from->idle_gpus, n->claimed_gpus));
	n->cpu_milli = less(from->free_cpu_milli, n->claimed_cpu_milli);
	n->mem_mib = less(from->free_mem_mib, n->claimed_mem_mib);
}

void ct_vol_node_take(struct ct_volcano *s, uint32_t node, const struct ct_vol_pod *pod)
{
	struct ct_vol_node *n = &s->node[node];

	set_free(s, node, n->gpus - pod->gpus);
	n->cpu_milli = less(n->cpu_milli, pod->cpu_milli);
	n->mem_mib = less(n->mem_mib, pod->mem_mib);
}

void ct_vol_node_give(struct ct_volcano *s, uint32_t node, const struct ct_vol_pod *pod)
{
	struct ct_vol_node *n = &s->node[node];

	set_free(s, node, n->gpus + pod->gpus);
	if (n->cpu_milli != UINT32_MAX)
		n->cpu_milli += pod->cpu_milli;
	if (n->mem_mib != UINT32_MAX)
		n->mem_mib += pod->mem_mib;
}

/* ---- set-up */

static uint32_t gpu_memory(const struct ct_view *v, const struct ct_view_node *n)
{
	return n->n_gpus ? ct_view_gpu(v, n->first_gpu)->mem_mib : 0;
}

static bool is_shape(const struct ct_vol_shape *h, const struct ct_view *v, const struct ct_view_node *n)
{
	return h->gpu_type == n->gpu_type && h->n_gpus == n->n_gpus && h->cpu_milli == n->free_cpu_milli &&
	       h->mem_mib == n->free_mem_mib && h->gpu_mem_mib == gpu_memory(v, n);
}

/* Nothing runs yet: what is free is the capacity. */
static uint32_t find_shape(struct ct_vol_cell *c, const struct ct_view *v, const struct ct_view_node *n)
{
	for (uint32_t i = 0; i < c->n_shapes; i++)
		if (is_shape(&c->shape[i], v, n))
			return i;
	c->shape = ct_realloc_array(c->shape, c->n_shapes + 1, sizeof *c->shape);
	c->shape[c->n_shapes] = (struct ct_vol_shape){ .gpu_type = n->gpu_type,
						       .n_gpus = n->n_gpus,
						       .gpu_mem_mib = gpu_memory(v, n),
						       .cpu_milli = n->free_cpu_milli,
						       .mem_mib = n->free_mem_mib };
	return c->n_shapes++;
}

static void fill_shape(struct ct_volcano *s, uint32_t cell, uint32_t shape, uint32_t n_nodes, struct ct_arena *arena)
{
	struct ct_vol_shape *h = &s->cell[cell].shape[shape];
	uint32_t at = 0;

	h->node = CT_NEW(arena, uint32_t, h->n_nodes);
	h->by_free = CT_NEW(arena, struct ct_bits, h->n_gpus + 1);
	h->n_by_free = CT_NEW(arena, uint32_t, h->n_gpus + 1);
	ct_bits_init(&h->levels, arena, h->n_gpus + 1);
	for (uint32_t k = 0; k <= h->n_gpus; k++)
		ct_bits_init(&h->by_free[k], arena, h->n_nodes);
	for (uint32_t i = 0; i < n_nodes; i++) {
		if (s->node[i].cell != cell || s->node[i].shape != shape)
			continue;
		h->node[at] = i;
		s->node[i].at = at++;
	}
}

void ct_vol_nodes_init(struct ct_volcano *s, const struct ct_view *v)
{
	s->n_cells = v->n_partitions;
	s->cell = ct_calloc(s->n_cells, sizeof *s->cell);
	s->node = ct_calloc(v->n_nodes, sizeof *s->node);
	s->tied = ct_calloc(v->n_nodes, sizeof *s->tied);
	s->gpus = ct_calloc(v->n_gpus, sizeof *s->gpus);
	for (uint32_t i = 0; i < s->n_cells; i++) {
		s->cell[i].partition = i;
		s->cell[i].freed = 1;
	}
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct ct_view_node *n = ct_view_node(v, i);
		struct ct_vol_cell *c = &s->cell[n->partition];
		uint32_t shape = find_shape(c, v, n);

		s->node[i] = (struct ct_vol_node){ .cell = n->partition, .shape = shape };
		c->shape[shape].n_nodes++;
		c->total_all += n->n_gpus;
		c->limited |= n->free_cpu_milli != UINT32_MAX || n->free_mem_mib != UINT32_MAX;
	}
	for (uint32_t i = 0; i < s->n_cells; i++)
		for (uint32_t k = 0; k < s->cell[i].n_shapes; k++)
			fill_shape(s, i, k, v->n_nodes, &s->arena);
	for (uint32_t i = 0; i < v->n_nodes; i++)
		ct_vol_node_sync(s, v, i);
}

void ct_vol_nodes_fini(struct ct_volcano *s)
{
	for (uint32_t i = 0; i < s->n_cells; i++)
		free(s->cell[i].shape);
	free(s->node);
	free(s->tied);
	free(s->gpus);
	free(s->level);
	ct_arena_fini(&s->arena);
}

/* ---- what fits */

static uint32_t share_of(uint32_t total, uint32_t part, uint32_t whole)
{
	return (uint32_t)(((uint64_t)total * part + whole - 1) / whole);
}

/* CPU and memory are of the whole job: a pod takes its part of them. An elastic job
 * counts at its minimum, when a pod's part is largest. */
struct ct_vol_pod ct_vol_pod_of(const struct ct_vol_class *k, uint32_t i)
{
	const struct ct_vol_need *d = &k->need;
	struct ct_vol_pod pod = { d->pod_gpus, d->gpu_type, d->gpu_mem_mib, 0, 0 };

	if (i == k->pods - 1)
		pod.gpus = d->num_gpus - i * d->pod_gpus;
	pod.cpu_milli = share_of(d->cpu_milli, pod.gpus, d->min_gpus);
	pod.mem_mib = share_of(d->mem_mib, pod.gpus, d->min_gpus);
	return pod;
}

bool ct_vol_accepts(const struct ct_vol_shape *h, const struct ct_vol_pod *pod)
{
	return (pod->gpu_type == CT_ANY || pod->gpu_type == h->gpu_type) && pod->gpu_mem_mib <= h->gpu_mem_mib &&
	       pod->gpus <= h->n_gpus;
}

/* Does this shape have limits that the pod can run into? */
static bool matters(const struct ct_vol_shape *h, const struct ct_vol_pod *pod)
{
	return (h->cpu_milli != UINT32_MAX && pod->cpu_milli) || (h->mem_mib != UINT32_MAX && pod->mem_mib);
}

static bool has_room(const struct ct_vol_node *n, const struct ct_vol_pod *pod)
{
	return n->cpu_milli >= pod->cpu_milli && n->mem_mib >= pod->mem_mib;
}

static uint32_t times(uint32_t have, uint32_t want)
{
	return want == 0 || have == UINT32_MAX ? UINT32_MAX : have / want;
}

static uint32_t least(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* How many such pods a shape holds now, or 0 .. `enough`. */
static uint64_t count_now(const struct ct_volcano *s, const struct ct_vol_shape *h, const struct ct_vol_pod *pod,
			  uint64_t enough)
{
	bool check = matters(h, pod);
	uint64_t n = 0;

	for (uint32_t f = ct_bits_next(&h->levels, pod->gpus); f != UINT32_MAX && n < enough;
	     f = ct_bits_next(&h->levels, f + 1)) {
		if (!check) {
			n += (uint64_t)h->n_by_free[f] * (f / pod->gpus);
			continue;
		}
		for (uint32_t at = ct_bits_next(&h->by_free[f], 0); at != UINT32_MAX && n < enough;
		     at = ct_bits_next(&h->by_free[f], at + 1)) {
			const struct ct_vol_node *node = &s->node[h->node[at]];

			n += least(f / pod->gpus, times(node->cpu_milli, pod->cpu_milli),
				   times(node->mem_mib, pod->mem_mib));
		}
	}
	return n;
}

static uint64_t count_empty(const struct ct_vol_shape *h, const struct ct_vol_pod *pod)
{
	return (uint64_t)h->n_nodes *
	       least(h->n_gpus / pod->gpus, times(h->cpu_milli, pod->cpu_milli), times(h->mem_mib, pod->mem_mib));
}

/* Pods alike never compete for different parts of a node: however the first are
 * placed, the number that fits in all is the sum over the nodes. */
bool ct_vol_fits(const struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_class *k, uint32_t pods,
		 bool empty)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->n_shapes && n < pods; i++) {
		const struct ct_vol_shape *h = &c->shape[i];

		if (ct_vol_accepts(h, &k->pod))
			n += empty ? count_empty(h, &k->pod) : count_now(s, h, &k->pod, pods - n);
	}
	return n >= pods;
}

/* ---- score */

static double fraction(uint32_t capacity, uint32_t free, uint32_t request)
{
	double f = ((double)(capacity - free) + request) / capacity;

	return f < 1 ? f : 1;
}

/* floor(100 x what is left), as nodeorder's least-requested in integers. */
static int64_t least_requested(uint32_t capacity, uint32_t free, uint32_t request)
{
	int64_t left = (int64_t)free - (int64_t)request;

	return left > 0 ? left * 100 / (int64_t)capacity : 0;
}

static double deviation(const double *x, int n)
{
	double mean = 0, var = 0;

	for (int i = 0; i < n; i++)
		mean += x[i] / n;
	for (int i = 0; i < n; i++)
		var += (x[i] - mean) * (x[i] - mean) / n;
	return sqrt(var);
}

/* binpack (cpu 1, memory 1) + least requested (cpu 50, memory 50) + balanced
 * allocation (cpu, memory, GPU), each of weight 1. */
static double full_score(const struct ct_vol_shape *h, uint32_t gpus, uint32_t cpu, uint32_t mem,
			 const struct ct_vol_pod *pod)
{
	double used[3], packed = 0;
	int64_t left = 0;
	int n = 0, asked = 0, dims = 0;

	if (h->cpu_milli != UINT32_MAX) {
		used[n] = fraction(h->cpu_milli, cpu, pod->cpu_milli);
		packed += pod->cpu_milli ? 100 * used[n] : 0;
		asked += pod->cpu_milli > 0;
		left += least_requested(h->cpu_milli, cpu, pod->cpu_milli ? pod->cpu_milli : ASSUMED_CPU_MILLI);
		n++;
		dims++;
	}
	if (h->mem_mib != UINT32_MAX) {
		used[n] = fraction(h->mem_mib, mem, pod->mem_mib);
		packed += pod->mem_mib ? 100 * used[n] : 0;
		asked += pod->mem_mib > 0;
		left += least_requested(h->mem_mib, mem, pod->mem_mib ? pod->mem_mib : ASSUMED_MEM_MIB);
		n++;
		dims++;
	}
	used[n++] = fraction(h->n_gpus, gpus, pod->gpus);
	return (asked ? packed / asked : 0) + (double)(dims ? left / dims : 0) + floor(100 * (1 - deviation(used, n)));
}

double ct_vol_score(const struct ct_volcano *s, const struct ct_vol_cell *c, uint32_t node, uint32_t free_gpus,
		    uint32_t free_cpu, uint32_t free_mem, const struct ct_vol_pod *pod)
{
	const struct ct_vol_shape *h = &c->shape[s->node[node].shape];
	double x = fraction(h->n_gpus, free_gpus, pod->gpus);

	switch (s->opt.placement) {
	case CT_VOL_GPU_BINPACK:
		return x;
	case CT_VOL_SPREAD:
		return -x;
	case CT_VOL_RANDOM:
		return 0;
	default:
		return c->limited ? full_score(h, free_gpus, free_cpu, free_mem, pod) : -100 * s->opt.s * x;
	}
}

/* ---- choice */

static uint32_t choose(const struct ct_volcano *s, uint32_t n, double u)
{
	uint32_t k = (uint32_t)(u * n), lowest = 0;

	if (s->opt.tie_break == CT_VOL_TIE_RANDOM)
		return s->tied[k < n ? k : n - 1];
	for (uint32_t i = 1; i < n; i++)
		if (s->tied[i] < s->tied[lowest])
			lowest = i;
	return s->tied[lowest];
}

/* Scores every node; for the full score. */
static uint32_t pick_scored(struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_pod *pod, double u)
{
	double best = -INFINITY;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_shapes; i++) {
		const struct ct_vol_shape *h = &c->shape[i];

		for (uint32_t at = 0; at < h->n_nodes && ct_vol_accepts(h, pod); at++) {
			const struct ct_vol_node *node = &s->node[h->node[at]];
			double score;

			if (!node->up || node->gpus < pod->gpus || !has_room(node, pod))
				continue;
			score = ct_vol_score(s, c, h->node[at], node->gpus, node->cpu_milli, node->mem_mib, pod);
			if (score < best)
				continue;
			n = score > best ? 0 : n;
			best = score;
			s->tied[n++] = h->node[at];
		}
	}
	return n ? choose(s, n, u) : CT_VOL_NONE;
}

/* Nodes of a level that have room; all of them unless CPU or memory matter. */
static uint32_t members(const struct ct_volcano *s, const struct ct_vol_shape *h, uint32_t free,
			const struct ct_vol_pod *pod)
{
	uint32_t n = 0;

	if (!matters(h, pod))
		return h->n_by_free[free];
	for (uint32_t at = ct_bits_next(&h->by_free[free], 0); at != UINT32_MAX;
	     at = ct_bits_next(&h->by_free[free], at + 1))
		n += has_room(&s->node[h->node[at]], pod);
	return n;
}

/* Member number k of a level, in order of node number. */
static uint32_t member(const struct ct_volcano *s, const struct ct_vol_shape *h, uint32_t free, uint32_t k,
		       const struct ct_vol_pod *pod)
{
	const struct ct_bits *b = &h->by_free[free];
	uint32_t at = 0;

	if (!matters(h, pod)) {
		uint32_t w = 0, in_word;

		while (k >= (in_word = (uint32_t)__builtin_popcountll(b->word[w]))) {
			k -= in_word;
			w++;
		}
		at = 64 * w;
	}
	for (at = ct_bits_next(b, at);; at = ct_bits_next(b, at + 1))
		if ((!matters(h, pod) || has_room(&s->node[h->node[at]], pod)) && !k--)
			return h->node[at];
}

static void add_level(struct ct_volcano *s, uint32_t *n, struct ct_vol_tie_level t)
{
	CT_GROW(s->level, s->cap_levels, *n + 1u);
	s->level[(*n)++] = t;
}

/* The lower of two nodes with f of n and f2 of n2 GPUs left after placement is
 * fuller: compares f / n with f2 / n2. */
static int compare_left(uint32_t f, uint32_t n, uint32_t f2, uint32_t n2)
{
	uint64_t a = (uint64_t)f * n2, b = (uint64_t)f2 * n;

	return (a > b) - (a < b);
}

/* The levels of equal best score: +1 wants most left, -1 least, 0 takes them all. */
static uint32_t best_levels(struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_pod *pod, int wants)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_shapes; i++) {
		const struct ct_vol_shape *h = &c->shape[i];
		struct ct_vol_tie_level best = { i, 0, 0 };

		if (!ct_vol_accepts(h, pod))
			continue;
		for (uint32_t f = ct_bits_next(&h->levels, pod->gpus); f != UINT32_MAX;
		     f = ct_bits_next(&h->levels, f + 1)) {
			uint32_t k = members(s, h, f, pod);

			if (!k)
				continue;
			best = (struct ct_vol_tie_level){ i, f, k };
			if (wants < 0)
				break;
			if (wants == 0)
				add_level(s, &n, best);
		}
		if (wants == 0 || !best.n)
			continue;
		if (n) {
			const struct ct_vol_shape *other = &c->shape[s->level[0].shape];
			int order = wants * compare_left(best.free - pod->gpus, h->n_gpus, s->level[0].free - pod->gpus,
							 other->n_gpus);

			if (order < 0)
				continue;
			n = order > 0 ? 0 : n;
		}
		add_level(s, &n, best);
	}
	return n;
}

/* Which of the tied levels' members. */
static uint32_t pick_member(const struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_pod *pod,
			    uint32_t n, double u)
{
	uint32_t total = 0, k, lowest = CT_VOL_NONE;

	for (uint32_t i = 0; i < n; i++) {
		const struct ct_vol_tie_level *t = &s->level[i];

		total += t->n;
		if (s->opt.tie_break == CT_VOL_TIE_INDEX) {
			uint32_t node = member(s, &c->shape[t->shape], t->free, 0, pod);

			lowest = node < lowest ? node : lowest;
		}
	}
	if (s->opt.tie_break == CT_VOL_TIE_INDEX)
		return lowest;
	k = (uint32_t)(u * total);
	k = k < total ? k : total - 1;
	for (uint32_t i = 0;; i++) {
		if (k < s->level[i].n)
			return member(s, &c->shape[s->level[i].shape], s->level[i].free, k, pod);
		k -= s->level[i].n;
	}
}

uint32_t ct_vol_pick(struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_pod *pod, double u)
{
	int wants = 0;
	uint32_t n;

	if (s->opt.placement == CT_VOL_DEFAULT && c->limited)
		return pick_scored(s, c, pod, u);
	if (s->opt.placement == CT_VOL_GPU_BINPACK)
		wants = -1;
	else if (s->opt.placement == CT_VOL_SPREAD || (s->opt.placement == CT_VOL_DEFAULT && s->opt.s > 0))
		wants = 1;
	n = best_levels(s, c, pod, wants);
	return n ? pick_member(s, c, pod, n, u) : CT_VOL_NONE;
}
