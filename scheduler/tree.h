/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree.h - ordered sets of numbered items with two questions that a sorted array
 * cannot answer fast: "the first item after this one whose value is at most x" and
 * "where does the running sum of weights reach x".
 *
 * Items are ordered by (key, item); an item is in at most one place of a tree.
 * Many trees share one pool of nodes; a tree is just the number of its root, 0 =
 * empty. The shape depends on the items alone, not on the order of calls.
 *
 *	struct ct_tree_pool pool = { 0 };
 *	uint32_t tree = 0;
 *	ct_tree_insert(&pool, &tree, &(struct ct_tree_item){ .key = 5, .item = 17 });
 *	...
 *	ct_tree_pool_fini(&pool);
 *
 * Costs: insert, remove and both questions O(log n) expected, first O(log n). */
#ifndef CT_SCHEDULER_TREE_H
#define CT_SCHEDULER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_tree_item {
	int64_t key;     /* the order; ties by item, ascending */
	int64_t value;   /* what ct_tree_find() compares */
	uint32_t weight; /* what ct_tree_reach() adds up */
	uint32_t item;
};

struct ct_tree_node;

struct ct_tree_pool {
	struct ct_tree_node *node; /* [0] is the empty tree */
	size_t n, cap;
	uint32_t free; /* list of free nodes, linked through .left */
};

void ct_tree_pool_fini(struct ct_tree_pool *p);

void ct_tree_insert(struct ct_tree_pool *p, uint32_t *tree, const struct ct_tree_item *it);
/* `key` as given at insertion. False: not there. */
bool ct_tree_remove(struct ct_tree_pool *p, uint32_t *tree, int64_t key, uint32_t item);

/* The item found, or NULL; valid until the pool changes. */
const struct ct_tree_item *ct_tree_first(const struct ct_tree_pool *p, uint32_t tree);
/* The first item ordered after (key, item), item present or not. */
const struct ct_tree_item *ct_tree_next(const struct ct_tree_pool *p, uint32_t tree, int64_t key, uint32_t item);
/* The same among items of value <= most. */
const struct ct_tree_item *ct_tree_find(const struct ct_tree_pool *p, uint32_t tree, int64_t key, uint32_t item,
					int64_t most);
/* The first item at which the sum of the weights up to and with it is at least
 * `need`; NULL when the whole tree has less. need > 0. */
const struct ct_tree_item *ct_tree_reach(const struct ct_tree_pool *p, uint32_t tree, uint64_t need);
/* Sum of the weights of all items with key <= `key`. */
uint64_t ct_tree_weight(const struct ct_tree_pool *p, uint32_t tree, int64_t key);
/* Smallest value, INT64_MAX when empty. */
int64_t ct_tree_least(const struct ct_tree_pool *p, uint32_t tree);

/* An int64 that orders like the double (-0 = 0; NaN after everything). */
int64_t ct_tree_key(double x);

#endif
