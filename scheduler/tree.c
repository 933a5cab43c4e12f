/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree.c - a treap (Seidel, Aragon: Randomized search trees, 1996) whose priorities
 * are a hash of the item's number, so that its shape is the same in every run.
 * Each node carries the least value and the sum of weights of its subtree. */
#include "scheduler/tree.h"

#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ct_tree_node {
	struct ct_tree_item it;
	int64_t least; /* value in this subtree */
	uint64_t sum;  /* of weights in this subtree */
	uint32_t left, right;
};

/* Finaliser of MurmurHash3 (public domain): a bijection, so priorities of distinct
 * items are distinct and the treap is unique. */
static uint32_t priority(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x85ebca6bu;
	x ^= x >> 13;
	x *= 0xc2b2ae35u;
	return x ^ x >> 16;
}

static bool before(const struct ct_tree_item *it, int64_t key, uint32_t item)
{
	return it->key < key || (it->key == key && it->item < item);
}

static bool after(const struct ct_tree_item *it, int64_t key, uint32_t item)
{
	return it->key > key || (it->key == key && it->item > item);
}

static void refresh(struct ct_tree_node *node, uint32_t t)
{
	struct ct_tree_node *n = &node[t];
	const struct ct_tree_node *l = &node[n->left], *r = &node[n->right];
	int64_t least = l->least < r->least ? l->least : r->least;

	n->least = n->it.value < least ? n->it.value : least;
	n->sum = l->sum + n->it.weight + r->sum;
}

static uint32_t new_node(struct ct_tree_pool *p, const struct ct_tree_item *it)
{
	uint32_t t = p->free;

	if (p->n == 0) {
		CT_GROW(p->node, p->cap, 1);
		memset(&p->node[0], 0, sizeof p->node[0]);
		p->node[0].least = INT64_MAX;
		p->n = 1;
	}
	if (t != 0) {
		p->free = p->node[t].left;
	} else {
		CT_GROW(p->node, p->cap, p->n + 1);
		t = (uint32_t)p->n++;
	}
	p->node[t] = (struct ct_tree_node){ .it = *it, .least = it->value, .sum = it->weight };
	return t;
}

/* Splits `t` at (key, item) into the items before and after it. */
static void split(struct ct_tree_node *node, uint32_t t, int64_t key, uint32_t item, uint32_t *lo, uint32_t *hi)
{
	if (t == 0) {
		*lo = *hi = 0;
	} else if (before(&node[t].it, key, item)) {
		split(node, node[t].right, key, item, &node[t].right, hi);
		*lo = t;
		refresh(node, t);
	} else {
		split(node, node[t].left, key, item, lo, &node[t].left);
		*hi = t;
		refresh(node, t);
	}
}

static uint32_t merge(struct ct_tree_node *node, uint32_t a, uint32_t b)
{
	if (a == 0 || b == 0)
		return a ? a : b;
	if (priority(node[a].it.item) > priority(node[b].it.item)) {
		node[a].right = merge(node, node[a].right, b);
		refresh(node, a);
		return a;
	}
	node[b].left = merge(node, a, node[b].left);
	refresh(node, b);
	return b;
}

void ct_tree_insert(struct ct_tree_pool *p, uint32_t *tree, const struct ct_tree_item *it)
{
	uint32_t fresh = new_node(p, it);
	struct ct_tree_node *node = p->node;
	uint32_t *link = tree;
	uint32_t rank = priority(it->item);

	while (*link != 0 && priority(node[*link].it.item) > rank) {
		struct ct_tree_node *n = &node[*link];

		n->sum += it->weight;
		if (it->value < n->least)
			n->least = it->value;
		link = before(&n->it, it->key, it->item) ? &n->right : &n->left;
	}
	split(node, *link, it->key, it->item, &node[fresh].left, &node[fresh].right);
	*link = fresh;
	refresh(node, fresh);
}

static bool cut(struct ct_tree_pool *p, uint32_t *link, int64_t key, uint32_t item)
{
	uint32_t t = *link;
	struct ct_tree_node *n = &p->node[t];
	bool found;

	if (t == 0)
		return false;
	if (n->it.key == key && n->it.item == item) {
		*link = merge(p->node, n->left, n->right);
		n->left = p->free;
		p->free = t;
		return true;
	}
	found = cut(p, before(&n->it, key, item) ? &n->right : &n->left, key, item);
	if (found)
		refresh(p->node, t);
	return found;
}

bool ct_tree_remove(struct ct_tree_pool *p, uint32_t *tree, int64_t key, uint32_t item)
{
	return p->n != 0 && cut(p, tree, key, item);
}

const struct ct_tree_item *ct_tree_first(const struct ct_tree_pool *p, uint32_t tree)
{
	if (tree == 0)
		return NULL;
	while (p->node[tree].left != 0)
		tree = p->node[tree].left;
	return &p->node[tree].it;
}

const struct ct_tree_item *ct_tree_next(const struct ct_tree_pool *p, uint32_t tree, int64_t key, uint32_t item)
{
	const struct ct_tree_item *best = NULL;

	while (tree != 0) {
		const struct ct_tree_node *n = &p->node[tree];

		if (after(&n->it, key, item))
			best = &n->it;
		tree = after(&n->it, key, item) ? n->left : n->right;
	}
	return best;
}

/* Only along the border of "after (key, item)" can a subtree with a small enough
 * least value turn out to hold none, so this visits O(depth) nodes. */
static const struct ct_tree_item *find(const struct ct_tree_node *node, uint32_t t, int64_t key, uint32_t item,
				       int64_t most)
{
	const struct ct_tree_item *left;

	while (t != 0 && node[t].least <= most) {
		const struct ct_tree_node *n = &node[t];

		if (after(&n->it, key, item)) {
			left = find(node, n->left, key, item, most);
			if (left)
				return left;
			if (n->it.value <= most)
				return &n->it;
		}
		t = n->right;
	}
	return NULL;
}

const struct ct_tree_item *ct_tree_find(const struct ct_tree_pool *p, uint32_t tree, int64_t key, uint32_t item,
					int64_t most)
{
	return tree ? find(p->node, tree, key, item, most) : NULL;
}

const struct ct_tree_item *ct_tree_reach(const struct ct_tree_pool *p, uint32_t tree, uint64_t need)
{
	if (tree == 0 || p->node[tree].sum < need)
		return NULL;
	for (;;) {
		const struct ct_tree_node *n = &p->node[tree];
		uint64_t left = p->node[n->left].sum;

		if (need <= left) {
			tree = n->left;
		} else if (need <= left + n->it.weight) {
			return &n->it;
		} else {
			need -= left + n->it.weight;
			tree = n->right;
		}
	}
}

uint64_t ct_tree_weight(const struct ct_tree_pool *p, uint32_t tree, int64_t key)
{
	uint64_t sum = 0;

	while (tree != 0) {
		const struct ct_tree_node *n = &p->node[tree];

		if (n->it.key <= key)
			sum += p->node[n->left].sum + n->it.weight;
		tree = n->it.key <= key ? n->right : n->left;
	}
	return sum;
}

int64_t ct_tree_least(const struct ct_tree_pool *p, uint32_t tree)
{
	return tree ? p->node[tree].least : INT64_MAX;
}

void ct_tree_pool_fini(struct ct_tree_pool *p)
{
	free(p->node);
	*p = (struct ct_tree_pool){ 0 };
}

int64_t ct_tree_key(double x)
{
	int64_t bits;

	if (isnan(x))
		return INT64_MAX;
	if (x == 0)
		return 0;
	memcpy(&bits, &x, sizeof bits);
	return bits < 0 ? INT64_MIN - bits : bits;
}
