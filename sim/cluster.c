/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_or_empty(const char *s)
{
	return s ? s : "";
}

/* ---- building */

static int check_shape(const struct ct_node_spec *s, size_t row, struct ct_err *err)
{
	const char *name = text_or_empty(s->name);

	if (!s->count)
		return ct_err_at(err, CT_ECONFIG, NULL, "node type %zu '%s': 'count' wants at least 1", row + 1, name);
	if (s->gpus > CT_MAX_GPUS_PER_NODE)
		return ct_err_at(err, CT_ECONFIG, NULL, "node type %zu '%s': %u GPUs a node, at most %d are supported",
				 row + 1, name, s->gpus, CT_MAX_GPUS_PER_NODE);
	if (!(s->gpu_speed > 0) || !isfinite(s->gpu_speed))
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "node type %zu '%s': 'gpu_speed' wants a positive number, got %g", row + 1, name,
				 s->gpu_speed);
	return 0;
}

static int check_spec(const struct ct_cluster_spec *spec, struct ct_err *err)
{
	uint64_t gpus = 0, nodes = 0;

	for (size_t i = 0; i < spec->n; i++) {
		CT_TRY(check_shape(&spec->nodes[i], i, err));
		gpus += (uint64_t)spec->nodes[i].count * spec->nodes[i].gpus;
		nodes += spec->nodes[i].count;
		if (gpus > CT_MAX_GPUS || nodes > CT_MAX_GPUS)
			return ct_err_at(err, CT_ECONFIG, NULL,
					 "the cluster is too large: at most %d GPUs and as many nodes", CT_MAX_GPUS);
	}
	if (!gpus)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "the cluster has no GPU: set 'cluster.nodes' or 'cluster.node_types'");
	return 0;
}

static uint32_t intern_partition(struct ct_cluster *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_partitions; i++)
		if (!strcmp(c->partitions[i], name))
			return i;
	c->partitions[c->n_partitions] = ct_arena_text(&c->arena, name, strlen(name));
	return c->n_partitions++;
}

static int intern_type(struct ct_cluster *c, const char *name, double speed, uint32_t *out, struct ct_err *err)
{
	for (uint32_t i = 0; i < c->n_types; i++) {
		if (strcmp(c->types[i].name, name))
			continue;
		if (c->types[i].speed < speed || c->types[i].speed > speed)
			return ct_err_at(err, CT_ECONFIG, NULL, "GPU type '%s' has speed %g and speed %g", name,
					 c->types[i].speed, speed);
		*out = i;
		return 0;
	}
	c->types[c->n_types] = (struct ct_gpu_type){ ct_arena_text(&c->arena, name, strlen(name)), speed };
	*out = c->n_types++;
	return 0;
}

static uint32_t intern_class(struct ct_cluster *c, uint32_t partition, uint32_t type)
{
	for (uint32_t i = 0; i < c->n_classes; i++)
		if (c->classes[i].partition == partition && c->classes[i].type == type)
			return i;
	c->classes[c->n_classes].partition = partition;
	c->classes[c->n_classes].type = type;
	return c->n_classes++;
}

static uint32_t or_unlimited(uint32_t capacity)
{
	return capacity ? capacity : UINT32_MAX;
}

/* Appends the nodes of one row of the specification. */
static int add_shape(struct ct_cluster *c, uint32_t row, struct ct_err *err)
{
	const struct ct_node_spec *s = &c->shapes[row];
	uint32_t partition = intern_partition(c, text_or_empty(s->partition)), type = 0;

	CT_TRY(intern_type(c, text_or_empty(s->gpu_type), s->gpu_speed, &type, err));
	c->shape_class[row] = intern_class(c, partition, type);
	struct ct_class *k = &c->classes[c->shape_class[row]];

	k->n_nodes += s->count;
	k->n_gpus_all += s->count * s->gpus;
	if (s->gpus > k->max_node_gpus)
		k->max_node_gpus = s->gpus;
	for (uint32_t i = 0; i < s->count; i++) {
		struct ct_node *n = &c->nodes[c->n_nodes++];

		*n = (struct ct_node){ .class_id = c->shape_class[row],
				       .partition = partition,
				       .type = type,
				       .first_gpu = c->n_gpus,
				       .n_gpus = s->gpus,
				       .gpu_mem_mib = or_unlimited(s->gpu_mem_mib),
				       .cpu_milli = or_unlimited(s->cpu_milli),
				       .mem_mib = or_unlimited(s->mem_mib) };
		for (uint32_t g = 0; g < s->gpus; g++)
			c->gpus[c->n_gpus++] = (struct ct_gpu){ .node = c->n_nodes - 1, .first_slot = CT_NONE };
		c->capacity_mem_mib += (uint64_t)s->gpus * s->gpu_mem_mib;
	}
	return 0;
}

/* Gives every node and GPU its position in its class; everything goes up. */
static void index_classes(struct ct_cluster *c)
{
	uint32_t *n_nodes = ct_calloc(c->n_classes, sizeof *n_nodes), *n_gpus = ct_calloc(c->n_classes, sizeof *n_gpus);

	for (uint32_t i = 0; i < c->n_classes; i++) {
		struct ct_class *k = &c->classes[i];

		k->node = CT_NEW(&c->arena, uint32_t, k->n_nodes);
		k->gpu = CT_NEW(&c->arena, uint32_t, k->n_gpus_all ? k->n_gpus_all : 1);
		ct_bits_init(&k->idle, &c->arena, k->n_gpus_all);
		ct_bits_init(&k->partial, &c->arena, k->n_gpus_all);
		ct_bits_init(&k->levels, &c->arena, k->max_node_gpus + 1);
		k->by_idle = CT_NEW(&c->arena, struct ct_bits, k->max_node_gpus + 1);
		k->n_by_idle = CT_NEW(&c->arena, uint32_t, k->max_node_gpus + 1);
		for (uint32_t g = 0; g <= k->max_node_gpus; g++)
			ct_bits_init(&k->by_idle[g], &c->arena, k->n_nodes);
	}
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		struct ct_node *n = &c->nodes[i];
		struct ct_class *k = &c->classes[n->class_id];

		c->node_position[i] = n_nodes[n->class_id];
		k->node[n_nodes[n->class_id]++] = i;
		for (uint32_t g = n->first_gpu; g < n->first_gpu + n->n_gpus; g++) {
			c->gpu_position[g] = n_gpus[n->class_id];
			k->gpu[n_gpus[n->class_id]++] = g;
		}
		ct_cluster_set_up(c, i, 1);
	}
	free(n_nodes);
	free(n_gpus);
}

struct ct_cluster *ct_cluster_new(const struct ct_cluster_spec *spec, struct ct_err *err)
{
	struct ct_cluster *c;
	struct ct_node_spec *shapes;
	size_t nodes = 0, gpus = 0;
	int known_memory = 1;

	if (check_spec(spec, err))
		return NULL;
	c = ct_calloc(1, sizeof *c);
	shapes = CT_NEW(&c->arena, struct ct_node_spec, spec->n);
	for (size_t i = 0; i < spec->n; i++) {
		const struct ct_node_spec *s = &spec->nodes[i];

		shapes[i] = *s;
		shapes[i].name = ct_arena_text(&c->arena, text_or_empty(s->name), strlen(text_or_empty(s->name)));
		shapes[i].gpu_type = shapes[i].partition = NULL; /* reached through the class */
		nodes += s->count;
		gpus += (size_t)s->count * s->gpus;
		if (s->gpus && !s->gpu_mem_mib)
			known_memory = 0;
	}
	c->shapes = shapes;
	c->n_shapes = (uint32_t)spec->n;
	c->shape_class = CT_NEW(&c->arena, uint32_t, spec->n);
	c->shape_reserved = CT_NEW(&c->arena, uint32_t, spec->n);
	c->nodes = CT_NEW(&c->arena, struct ct_node, nodes);
	c->gpus = CT_NEW(&c->arena, struct ct_gpu, gpus);
	c->types = CT_NEW(&c->arena, struct ct_gpu_type, spec->n);
	c->partitions = CT_NEW(&c->arena, const char *, spec->n);
	c->classes = CT_NEW(&c->arena, struct ct_class, spec->n);
	c->gpu_position = CT_NEW(&c->arena, uint32_t, gpus);
	c->node_position = CT_NEW(&c->arena, uint32_t, nodes);
	for (int k = 0; k < CT_SLOT_SIZES; k++)
		c->free_slots[k] = CT_NONE;
	for (uint32_t i = 0; i < c->n_shapes; i++) {
		shapes[i].gpu_type = spec->nodes[i].gpu_type;
		shapes[i].partition = spec->nodes[i].partition;
		if (add_shape(c, i, err)) {
			ct_cluster_free(c);
			return NULL;
		}
		shapes[i].gpu_type = c->types[c->classes[c->shape_class[i]].type].name;
		shapes[i].partition = c->partitions[c->classes[c->shape_class[i]].partition];
	}
	c->capacity_milli = 1000 * (uint64_t)c->n_gpus;
	c->one_speed = c->types[0].speed;
	for (uint32_t i = 1; i < c->n_types; i++)
		if (c->types[i].speed < c->one_speed || c->types[i].speed > c->one_speed)
			c->one_speed = 0;
	if (!known_memory)
		c->capacity_mem_mib = 0;
	index_classes(c);
	return c;
}

void ct_cluster_free(struct ct_cluster *c)
{
	if (!c)
		return;
	free(c->slots);
	ct_arena_fini(&c->arena);
	free(c);
}

uint32_t ct_cluster_partition(const struct ct_cluster *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_partitions; i++)
		if (!strcmp(c->partitions[i], name))
			return i;
	return CT_NONE;
}

uint32_t ct_cluster_type(const struct ct_cluster *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_types; i++)
		if (!strcmp(c->types[i].name, name))
			return i;
	return CT_NONE;
}

/* ---- the index of what is idle */

/* Files the node under its present number of idle GPUs, or takes it out. */
static void level_add(struct ct_cluster *c, uint32_t node)
{
	struct ct_node *n = &c->nodes[node];
	struct ct_class *k = &c->classes[n->class_id];

	if (n->reserved)
		return;
	ct_bits_add(&k->by_idle[n->idle_gpus], c->node_position[node]);
	if (!k->n_by_idle[n->idle_gpus]++)
		ct_bits_add(&k->levels, n->idle_gpus);
	k->idle_gpus += n->idle_gpus;
}

static void level_remove(struct ct_cluster *c, uint32_t node)
{
	struct ct_node *n = &c->nodes[node];
	struct ct_class *k = &c->classes[n->class_id];

	if (n->reserved)
		return;
	ct_bits_remove(&k->by_idle[n->idle_gpus], c->node_position[node]);
	if (!--k->n_by_idle[n->idle_gpus])
		ct_bits_remove(&k->levels, n->idle_gpus);
	k->idle_gpus -= n->idle_gpus;
}

static uint32_t count_idle(const struct ct_cluster *c, const struct ct_node *n)
{
	uint32_t idle = 0;

	for (uint32_t g = n->first_gpu; g < n->first_gpu + n->n_gpus; g++)
		idle += c->gpus[g].n_residents == 0;
	return idle;
}

/* An idle node into the sets and counts of its class. */
static void class_add(struct ct_cluster *c, uint32_t node)
{
	struct ct_node *n = &c->nodes[node];
	struct ct_class *k = &c->classes[n->class_id];

	if (n->reserved)
		return;
	k->n_gpus += ct_node_working_gpus(n);
	k->n_nodes_up++;
	for (uint32_t g = n->first_gpu; g < n->first_gpu + n->n_gpus; g++)
		if (!c->gpus[g].n_residents)
			ct_bits_add(&k->idle, c->gpu_position[g]);
	level_add(c, node);
}

static void class_remove(struct ct_cluster *c, uint32_t node)
{
	struct ct_node *n = &c->nodes[node];
	struct ct_class *k = &c->classes[n->class_id];

	if (n->reserved)
		return;
	level_remove(c, node);
	for (uint32_t g = n->first_gpu; g < n->first_gpu + n->n_gpus; g++)
		ct_bits_remove(&k->idle, c->gpu_position[g]);
	k->n_gpus -= ct_node_working_gpus(n);
	k->n_nodes_up--;
}

void ct_cluster_set_up(struct ct_cluster *c, uint32_t node, int up)
{
	struct ct_node *n = &c->nodes[node];

	if ((int)n->up == up)
		return;
	if (up) {
		n->up = 1;
		n->idle_gpus = ct_node_working_gpus(n);
		n->free_milli = 1000 * (uint64_t)n->idle_gpus;
		class_add(c, node);
		return;
	}
	CT_CHECK(NULL, ct_node_is_idle(n), "node %u goes down with jobs on it", node);
	class_remove(c, node);
	n->up = 0;
	n->idle_gpus = 0;
	n->free_milli = 0;
}

/* One working GPU more or less on a node that is up. */
static void count_gpu(struct ct_cluster *c, uint32_t gpu, int up)
{
	uint32_t node = c->gpus[gpu].node;
	struct ct_node *n = &c->nodes[node];
	struct ct_class *k = &c->classes[n->class_id];

	n->free_milli = up ? n->free_milli + 1000 : n->free_milli - 1000;
	if (!n->pool_milli) {
		level_remove(c, node);
		n->idle_gpus = up ? n->idle_gpus + 1 : n->idle_gpus - 1;
		level_add(c, node);
	}
	if (n->reserved)
		return;
	k->n_gpus = up ? k->n_gpus + 1 : k->n_gpus - 1;
	if (up)
		ct_bits_add(&k->idle, c->gpu_position[gpu]);
	else
		ct_bits_remove(&k->idle, c->gpu_position[gpu]);
}

void ct_cluster_set_gpu(struct ct_cluster *c, uint32_t gpu, int up)
{
	struct ct_gpu *g = &c->gpus[gpu];
	struct ct_node *n = &c->nodes[g->node];

	if ((g->n_residents != CT_GPU_DOWN) == (up != 0))
		return;
	CT_CHECK(NULL, up || (!g->n_residents && (!n->up || n->free_milli >= 1000)), "GPU %u fails with jobs on it",
		 gpu);
	g->n_residents = up ? 0 : CT_GPU_DOWN;
	g->used_milli = up ? 0 : 1000;
	n->down_gpus = up ? n->down_gpus - 1 : n->down_gpus + 1;
	if (n->up)
		count_gpu(c, gpu, up);
}

/* The row of the specification that a node comes from; nodes stand in its order. */
static uint32_t shape_of(const struct ct_cluster *c, uint32_t node)
{
	uint32_t i = 0;

	while (node >= c->shapes[i].count)
		node -= c->shapes[i++].count;
	return i;
}

void ct_cluster_reserve(struct ct_cluster *c, uint32_t node, enum ct_reserve how)
{
	struct ct_node *n = &c->nodes[node];
	uint32_t shape = shape_of(c, node);

	CT_CHECK(NULL, !n->up || ct_node_is_idle(n), "node %u is reserved with jobs on it", node);
	if (n->up)
		class_remove(c, node);
	c->shape_reserved[shape] -= n->reserved == CT_RESERVE_FOR_GOOD;
	n->reserved = how;
	c->shape_reserved[shape] += n->reserved == CT_RESERVE_FOR_GOOD;
	if (n->up)
		class_add(c, node);
}

/* ---- slots: runs of 2^k, free runs linked through the first one's `next` */

static uint32_t slot_size(uint32_t n)
{
	return n <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(n - 1);
}

static uint32_t slots_alloc(struct ct_cluster *c, uint32_t n)
{
	uint32_t k = slot_size(n), first = c->free_slots[k];

	if (first != CT_NONE) {
		c->free_slots[k] = c->slots[first].next;
		return first;
	}
	CT_GROW(c->slots, c->cap_slots, c->n_slots + ((size_t)1 << k));
	first = (uint32_t)c->n_slots;
	c->n_slots += (size_t)1 << k;
	return first;
}

static void slots_free(struct ct_cluster *c, uint32_t first, uint32_t n)
{
	uint32_t k = slot_size(n);

	c->slots[first].next = c->free_slots[k];
	c->free_slots[k] = first;
}

/* ---- taking and giving */

static uint64_t capped(uint32_t milli)
{
	return milli < 1000 ? milli : 1000;
}

/* A GPU's share changes by its residents; what the node and the cluster count of it
 * is at most the whole GPU. */
static void book_share(struct ct_cluster *c, struct ct_node *n, uint64_t before, uint64_t after)
{
	c->used_milli += after - before;
	n->free_milli -= after - before;
}

static void gpu_take(struct ct_cluster *c, struct ct_class *k, struct ct_node *n, uint32_t slot, uint32_t milli,
		     uint32_t mem_mib)
{
	uint32_t gpu = c->slots[slot].gpu, at = c->gpu_position[gpu];
	struct ct_gpu *g = &c->gpus[gpu];
	uint64_t before = capped(g->used_milli);

	c->slots[slot].next = g->first_slot;
	g->first_slot = slot;
	g->used_milli += milli;
	g->used_mem_mib += mem_mib;
	c->used_mem_mib += mem_mib;
	book_share(c, n, before, capped(g->used_milli));
	if (!g->n_residents++) {
		c->busy_gpus++;
		ct_bits_remove(&k->idle, at);
		if (g->used_milli < 1000 && !n->reserved)
			ct_bits_add(&k->partial, at);
	} else {
		c->shared_gpus += g->n_residents == 2;
		c->ever_shared = true;
		if (g->used_milli >= 1000)
			ct_bits_remove(&k->partial, at);
	}
}

static void gpu_give(struct ct_cluster *c, struct ct_class *k, struct ct_node *n, uint32_t slot, uint32_t milli,
		     uint32_t mem_mib)
{
	uint32_t gpu = c->slots[slot].gpu, at = c->gpu_position[gpu], *link;
	struct ct_gpu *g = &c->gpus[gpu];
	uint64_t before = capped(g->used_milli);

	for (link = &g->first_slot; *link != slot; link = &c->slots[*link].next)
		CT_CHECK(NULL, *link != CT_NONE, "GPU %u does not know slot %u", gpu, slot);
	*link = c->slots[slot].next;
	g->used_milli -= milli;
	g->used_mem_mib -= mem_mib;
	c->used_mem_mib -= mem_mib;
	book_share(c, n, before, capped(g->used_milli));
	if (!--g->n_residents) {
		c->busy_gpus--;
		if (!n->reserved)
			ct_bits_add(&k->idle, at);
		if (before < 1000)
			ct_bits_remove(&k->partial, at);
	} else {
		c->shared_gpus -= g->n_residents == 1;
		if (g->used_milli < 1000 && !n->reserved)
			ct_bits_add(&k->partial, at);
	}
}

/* Length of the run of slots on one node that begins at `i` of `n`. */
static uint32_t node_run(const struct ct_cluster *c, uint32_t first, uint32_t i, uint32_t n, uint32_t *node)
{
	const struct ct_slot *slot = c->slots + first;
	const struct ct_node *at;
	uint32_t k = i + 1;

	*node = c->gpus[slot[i].gpu].node;
	at = &c->nodes[*node];
	while (k < n && slot[k].gpu - at->first_gpu < at->n_gpus) /* unsigned: also false below first_gpu */
		k++;
	return k - i;
}

uint32_t ct_cluster_take(struct ct_cluster *c, uint32_t job, const uint32_t *gpus, uint32_t n, uint32_t milli,
			 uint32_t gpu_mem_mib, uint32_t cpu_milli, uint32_t mem_mib)
{
	uint32_t first = slots_alloc(c, n), node, run;

	for (uint32_t i = 0; i < n; i++)
		c->slots[first + i] = (struct ct_slot){ gpus[i], job, CT_NONE };
	for (uint32_t i = 0; i < n; i += run) {
		run = node_run(c, first, i, n, &node);
		struct ct_node *at = &c->nodes[node];
		uint32_t busy = c->busy_gpus, was_idle;

		for (uint32_t k = i; k < i + run; k++)
			gpu_take(c, &c->classes[at->class_id], at, first + k, milli, gpu_mem_mib);
		was_idle = c->busy_gpus - busy;
		at->used_cpu_milli += ct_share_of(cpu_milli, run, n);
		at->used_mem_mib += ct_share_of(mem_mib, run, n);
		if (was_idle && !at->pool_milli) {
			level_remove(c, node);
			at->idle_gpus -= was_idle;
			level_add(c, node);
		}
	}
	return first;
}

void ct_cluster_give(struct ct_cluster *c, uint32_t first, uint32_t n, uint32_t milli, uint32_t gpu_mem_mib,
		     uint32_t cpu_milli, uint32_t mem_mib)
{
	uint32_t node, run;

	for (uint32_t i = 0; i < n; i += run) {
		run = node_run(c, first, i, n, &node);
		struct ct_node *at = &c->nodes[node];
		uint32_t busy = c->busy_gpus, is_idle;

		for (uint32_t k = i; k < i + run; k++)
			gpu_give(c, &c->classes[at->class_id], at, first + k, milli, gpu_mem_mib);
		is_idle = busy - c->busy_gpus;
		at->used_cpu_milli -= ct_share_of(cpu_milli, run, n);
		at->used_mem_mib -= ct_share_of(mem_mib, run, n);
		if (is_idle && !at->pool_milli) {
			level_remove(c, node);
			at->idle_gpus += is_idle;
			level_add(c, node);
		}
	}
	slots_free(c, first, n);
}

/* The node's idle count changes with the first and the last pool share only. */
static void set_pool(struct ct_cluster *c, uint32_t node, uint64_t milli)
{
	struct ct_node *n = &c->nodes[node];
	int toggles = !n->pool_milli != !milli;

	if (toggles)
		level_remove(c, node);
	n->pool_milli = milli;
	if (toggles) {
		n->idle_gpus = milli ? 0 : count_idle(c, n);
		level_add(c, node);
	}
}

void ct_cluster_take_pool(struct ct_cluster *c, uint32_t node, uint64_t milli, uint32_t cpu_milli, uint32_t mem_mib)
{
	struct ct_node *n = &c->nodes[node];

	set_pool(c, node, n->pool_milli + milli);
	n->free_milli -= milli;
	n->used_cpu_milli += cpu_milli;
	n->used_mem_mib += mem_mib;
	c->used_milli += milli;
}

void ct_cluster_give_pool(struct ct_cluster *c, uint32_t node, uint64_t milli, uint32_t cpu_milli, uint32_t mem_mib)
{
	struct ct_node *n = &c->nodes[node];

	set_pool(c, node, n->pool_milli - milli);
	n->free_milli += milli;
	n->used_cpu_milli -= cpu_milli;
	n->used_mem_mib -= mem_mib;
	c->used_milli -= milli;
}
