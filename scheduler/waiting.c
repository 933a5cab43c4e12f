/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waiting.c - classes of equal demand, each a treap; over the classes of a
 * partition a complete binary tree (implicit, root 1) whose nodes hold the first
 * job and the smallest demand in each dimension of the classes below. A walk for
 * the classes within some room leaves out every subtree whose smallest demand is
 * too large, so that with no GPU free it ends at the root. */
#include "scheduler/waiting.h"

#include "sim/err.h"
#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>

/* Out of memory aborts in sim/memory.c, so uthash never sees NULL. */
#define uthash_malloc(size) ct_calloc(1, (size))
#define uthash_fatal(msg)   ct_check_failed(NULL, "uthash", __FILE__, __LINE__, "%s", (msg))
#include <uthash.h>

struct ct_waiting_entry {
	UT_hash_handle hh;
	struct ct_request demand;
	uint32_t class;
};

struct ct_waiting_place {
	int64_t key;
	uint32_t class;
	uint32_t present;
};

struct summary { /* of the classes below a node; an empty class asks for the impossible */
	int64_t first_key;
	uint64_t milli;
	uint32_t first_job, whole, cpu_milli, mem_mib;
};

struct ct_waiting_index {
	struct summary *node; /* [1] the root, [cap + slot] the leaves */
	uint32_t *class;      /* slot -> class */
	uint32_t n, cap;
};

static const struct summary nothing = { INT64_MAX, UINT64_MAX, CT_NO_JOB, UINT32_MAX, UINT32_MAX, UINT32_MAX };
const struct ct_room ct_room_unlimited = { UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX };

struct ct_request ct_request_of(const struct ct_view_job *j)
{
	struct ct_request d = {
		.partition = j->partition,
		.gpu_type = j->gpu_type,
		.num_gpus = j->num_gpus,
		.gpu_milli = j->gpu_milli,
		.gpu_mem_mib = j->gpu_mem_mib,
		.cpu_milli = j->cpu_milli,
		.mem_mib = j->mem_mib,
	};

	if (j->n_configs > 1) {
		d.model = j->model;
		d.config = j->default_config;
	}
	return d;
}

static uint32_t whole_of(const struct ct_request *d)
{
	return d->gpu_milli == 1000 ? d->num_gpus : 0;
}

bool ct_room_holds(const struct ct_room *r, const struct ct_request *d)
{
	return ct_request_milli(d) <= r->milli && whole_of(d) <= r->whole && d->cpu_milli <= r->cpu_milli &&
	       d->mem_mib <= r->mem_mib;
}

static struct summary leaf_of(const struct ct_waiting_class *c)
{
	const struct ct_request *d = &c->demand;

	if (c->n_jobs == 0)
		return nothing;
	return (
	    struct summary){ c->first_key, ct_request_milli(d), c->first_job, whole_of(d), d->cpu_milli, d->mem_mib };
}

static struct summary both(const struct summary *a, const struct summary *b)
{
	struct summary s = ct_order_before(b->first_key, b->first_job, a->first_key, a->first_job) ? *b : *a;

	s.milli = a->milli < b->milli ? a->milli : b->milli;
	s.whole = a->whole < b->whole ? a->whole : b->whole;
	s.cpu_milli = a->cpu_milli < b->cpu_milli ? a->cpu_milli : b->cpu_milli;
	s.mem_mib = a->mem_mib < b->mem_mib ? a->mem_mib : b->mem_mib;
	return s;
}

static void index_update(struct ct_waiting *w, const struct ct_waiting_class *c)
{
	struct ct_waiting_index *x = &w->index[c->demand.partition];
	uint32_t i = x->cap + c->slot;

	x->node[i] = leaf_of(c);
	while (i > 1) {
		i /= 2;
		x->node[i] = both(&x->node[2 * i], &x->node[2 * i + 1]);
	}
}

/* Doubles the leaves; all inner nodes are made anew. */
static void index_grow(struct ct_waiting *w, struct ct_waiting_index *x)
{
	uint32_t i, cap = x->cap ? 2 * x->cap : 4;

	x->node = ct_realloc_array(x->node, 2 * (size_t)cap, sizeof *x->node);
	x->class = ct_realloc_array(x->class, cap, sizeof *x->class);
	for (i = 0; i < cap; i++)
		x->node[cap + i] = i < x->n ? leaf_of(&w->class[x->class[i]]) : nothing;
	for (i = cap - 1; i >= 1; i--)
		x->node[i] = both(&x->node[2 * i], &x->node[2 * i + 1]);
	x->cap = cap;
}

void ct_waiting_init(struct ct_waiting *w, uint32_t n_partitions)
{
	*w = (struct ct_waiting){ .n_partitions = n_partitions };
	w->index = ct_calloc(n_partitions, sizeof *w->index);
	w->milli = ct_calloc(n_partitions, sizeof *w->milli);
}

void ct_waiting_fini(struct ct_waiting *w)
{
	struct ct_waiting_entry *e, *next;

	HASH_ITER (hh, w->table, e, next) {
		HASH_DEL(w->table, e);
		free(e);
	}
	for (uint32_t i = 0; i < w->n_partitions; i++) {
		free(w->index[i].node);
		free(w->index[i].class);
	}
	free(w->index);
	free(w->class);
	free(w->place);
	free(w->found);
	free(w->milli);
	ct_tree_pool_fini(&w->pool);
	*w = (struct ct_waiting){ 0 };
}

static uint32_t class_new(struct ct_waiting *w, const struct ct_request *d)
{
	struct ct_waiting_index *x = &w->index[d->partition];
	uint32_t id = (uint32_t)w->n_classes;

	if (x->n == x->cap)
		index_grow(w, x);
	CT_GROW(w->class, w->cap_classes, w->n_classes + 1);
	w->class[id] =
	    (struct ct_waiting_class){ .demand = *d, .first_job = CT_NO_JOB, .first_key = INT64_MAX, .slot = x->n };
	w->n_classes++;
	x->class[x->n++] = id;
	return id;
}

static uint32_t find_class(struct ct_waiting *w, const struct ct_request *d)
{
	struct ct_waiting_entry *e;

	HASH_FIND(hh, w->table, d, sizeof *d, e);
	if (e)
		return e->class;
	e = ct_calloc(1, sizeof *e);
	e->demand = *d;
	e->class = class_new(w, d);
	HASH_ADD(hh, w->table, demand, sizeof e->demand, e);
	return e->class;
}

/* Traces have a few demands that nearly all jobs share, so a small direct-mapped
 * memory of classes spares most of the hashing. */
uint32_t ct_waiting_class(struct ct_waiting *w, const struct ct_request *d)
{
	uint32_t mix = (d->num_gpus + d->partition * 8 + d->cpu_milli + d->gpu_milli * 16) * 0x9e3779b9u;
	uint32_t *memo = &w->memo[mix >> 26];

	CT_CHECK(NULL, d->partition < w->n_partitions, "partition %u of %u", d->partition, w->n_partitions);
	if (*memo >= w->n_classes || memcmp(&w->class[*memo].demand, d, sizeof *d) != 0)
		*memo = find_class(w, d);
	return *memo;
}

static void places_reach(struct ct_waiting *w, uint32_t job)
{
	if (job < w->n_places)
		return;
	CT_GROW(w->place, w->cap_places, (size_t)job + 1);
	memset(w->place + w->n_places, 0, sizeof *w->place * (job + 1 - w->n_places));
	w->n_places = (size_t)job + 1;
}

void ct_waiting_add(struct ct_waiting *w, uint32_t class, uint32_t job, int64_t key, int64_t value)
{
	struct ct_waiting_class *c = &w->class[class];

	places_reach(w, job);
	CT_CHECK(NULL, !w->place[job].present, "job %u waits twice", job);
	w->place[job] = (struct ct_waiting_place){ .key = key, .class = class, .present = 1 };
	ct_tree_insert(&w->pool, &c->tree, &(struct ct_tree_item){ .key = key, .value = value, .item = job });
	w->n_jobs++;
	w->milli[c->demand.partition] += ct_request_milli(&c->demand);
	if (c->n_jobs++ == 0 || ct_order_before(key, job, c->first_key, c->first_job)) {
		c->first_key = key;
		c->first_job = job;
		index_update(w, c);
	}
}

bool ct_waiting_has(const struct ct_waiting *w, uint32_t job)
{
	return job < w->n_places && w->place[job].present;
}

bool ct_waiting_remove(struct ct_waiting *w, uint32_t job)
{
	const struct ct_tree_item *first;
	struct ct_waiting_class *c;

	if (!ct_waiting_has(w, job))
		return false;
	c = &w->class[w->place[job].class];
	ct_tree_remove(&w->pool, &c->tree, w->place[job].key, job);
	w->place[job].present = 0;
	c->n_jobs--;
	w->n_jobs--;
	w->milli[c->demand.partition] -= ct_request_milli(&c->demand);
	if (c->first_job == job) {
		first = ct_tree_first(&w->pool, c->tree);
		c->first_key = first ? first->key : INT64_MAX;
		c->first_job = first ? first->item : CT_NO_JOB;
		index_update(w, c);
	}
	return true;
}

uint32_t ct_waiting_class_of(const struct ct_waiting *w, uint32_t job)
{
	return w->place[job].class;
}

int64_t ct_waiting_key_of(const struct ct_waiting *w, uint32_t job)
{
	return w->place[job].key;
}

uint32_t ct_waiting_first(const struct ct_waiting *w, uint32_t partition)
{
	const struct ct_waiting_index *x = &w->index[partition];

	return x->n ? x->node[1].first_job : CT_NO_JOB;
}

static bool within(const struct summary *s, const struct ct_room *r)
{
	return s->first_job != CT_NO_JOB && s->milli <= r->milli && s->whole <= r->whole &&
	       s->cpu_milli <= r->cpu_milli && s->mem_mib <= r->mem_mib;
}

static uint32_t walk(const struct ct_waiting_index *x, uint32_t i, const struct ct_room *r, uint32_t *out)
{
	uint32_t n;

	if (!within(&x->node[i], r))
		return 0;
	if (i >= x->cap) {
		*out = x->class[i - x->cap];
		return 1;
	}
	n = walk(x, 2 * i, r, out);
	return n + walk(x, 2 * i + 1, r, out + n);
}

uint32_t *ct_waiting_match(struct ct_waiting *w, uint32_t partition, const struct ct_room *room, uint32_t *n)
{
	const struct ct_waiting_index *x = &w->index[partition];

	CT_GROW(w->found, w->cap_found, (size_t)x->n + 1);
	*n = x->n ? walk(x, 1, room, w->found) : 0;
	return w->found;
}

uint32_t ct_waiting_find(const struct ct_waiting *w, uint32_t class, int64_t key, uint32_t job, int64_t most)
{
	const struct ct_tree_item *it = ct_tree_find(&w->pool, w->class[class].tree, key, job, most);

	return it ? it->item : CT_NO_JOB;
}

uint32_t ct_waiting_next(const struct ct_waiting *w, uint32_t class, int64_t key, uint32_t job)
{
	const struct ct_tree_item *it = ct_tree_next(&w->pool, w->class[class].tree, key, job);

	return it ? it->item : CT_NO_JOB;
}

int64_t ct_waiting_least(const struct ct_waiting *w, uint32_t class)
{
	return ct_tree_least(&w->pool, w->class[class].tree);
}
