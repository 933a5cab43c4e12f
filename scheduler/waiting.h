/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waiting.h - the jobs that wait, in a policy's order, without ever being scanned.
 *
 * Jobs that ask for the same thing in the same partition form a *class*: at any
 * moment they all fit, or none does. The list keeps one ordered tree a class
 * (tree.h) and, a partition, an index over its classes that knows the first job
 * and the smallest demand below each of its nodes. So
 *
 *	the first job of a partition                         O(1)
 *	the classes that may fit into some room              O(found x log classes)
 *	the first job of a class after a given one with      O(log jobs)
 *	    value (an estimate, a date) <= x
 *	adding or removing a job                             O(log jobs + log classes)
 *
 * Order: key, then job number, ascending. With append-only keys (submission) or
 * any others alike.
 *
 *	struct ct_waiting w;
 *	ct_waiting_init(&w, v->n_partitions);
 *	uint32_t class = ct_waiting_class(&w, &demand);
 *	ct_waiting_add(&w, class, job, key, value);
 *	uint32_t n, *found = ct_waiting_match(&w, partition, &room, &n);
 *	ct_waiting_fini(&w); */
#ifndef CT_SCHEDULER_WAITING_H
#define CT_SCHEDULER_WAITING_H

#include "scheduler/policy.h"
#include "scheduler/tree.h"

#include <stdbool.h>

/* Everything that decides where a job fits. No padding: compared bytewise. */
struct ct_request {
	uint32_t partition, gpu_type;
	uint32_t num_gpus, gpu_milli, gpu_mem_mib;
	uint32_t cpu_milli, mem_mib;
	uint32_t model, config; /* 0 unless the job has a family of configurations */
};
struct ct_request ct_request_of(const struct ct_view_job *j);

static inline uint64_t ct_request_milli(const struct ct_request *d)
{
	return (uint64_t)d->num_gpus * d->gpu_milli;
}

/* What there is at most; a class that asks for more in any respect cannot fit. */
struct ct_room {
	uint64_t milli;              /* GPU share, num_gpus x gpu_milli */
	uint32_t whole;              /* GPUs, asked by jobs of gpu_milli 1000 */
	uint32_t cpu_milli, mem_mib; /* of the whole job */
};
extern const struct ct_room ct_room_unlimited;
bool ct_room_holds(const struct ct_room *r, const struct ct_request *d);

struct ct_waiting_class {
	struct ct_request demand;
	uint32_t tree, n_jobs;
	uint32_t first_job; /* CT_NO_JOB when empty */
	int64_t first_key;
	uint32_t slot;  /* in its partition's index */
	uint32_t known; /* for the policy: 0 at creation */
};

struct ct_waiting_index;
struct ct_waiting_entry;
struct ct_waiting_place;

enum { CT_WAITING_MEMO = 64 };

struct ct_waiting {
	struct ct_tree_pool pool;
	struct ct_waiting_class *class;
	size_t n_classes, cap_classes;
	struct ct_waiting_entry *table; /* uthash: demand -> class */
	uint32_t memo[CT_WAITING_MEMO]; /* classes asked for lately */
	struct ct_waiting_index *index; /* a partition */
	uint32_t n_partitions;
	struct ct_waiting_place *place; /* a job: where it stands */
	size_t n_places, cap_places;
	uint64_t *milli; /* a partition: GPU share that its jobs ask for in all */
	uint32_t *found;
	size_t cap_found;
	uint32_t n_jobs;
};

void ct_waiting_init(struct ct_waiting *w, uint32_t n_partitions);
void ct_waiting_fini(struct ct_waiting *w);

/* The class of a demand, new or known. Class pointers move when one is made. */
uint32_t ct_waiting_class(struct ct_waiting *w, const struct ct_request *d);
/* `job` must not be in the list. */
void ct_waiting_add(struct ct_waiting *w, uint32_t class, uint32_t job, int64_t key, int64_t value);
/* False: it was not in the list. */
bool ct_waiting_remove(struct ct_waiting *w, uint32_t job);
bool ct_waiting_has(const struct ct_waiting *w, uint32_t job);
/* Of a job that was added before, also when it has left. */
uint32_t ct_waiting_class_of(const struct ct_waiting *w, uint32_t job);
int64_t ct_waiting_key_of(const struct ct_waiting *w, uint32_t job);

/* First job of the partition, CT_NO_JOB when none waits. */
uint32_t ct_waiting_first(const struct ct_waiting *w, uint32_t partition);
/* Classes with jobs in the partition whose demand is within `room`, in the order of
 * their creation; the array is valid until the next call. */
uint32_t *ct_waiting_match(struct ct_waiting *w, uint32_t partition, const struct ct_room *room, uint32_t *n);
/* First job of the class after (key, job) with value <= most, CT_NO_JOB when none. */
uint32_t ct_waiting_find(const struct ct_waiting *w, uint32_t class, int64_t key, uint32_t job, int64_t most);
/* First job of the class after (key, job). */
uint32_t ct_waiting_next(const struct ct_waiting *w, uint32_t class, int64_t key, uint32_t job);
/* Smallest value of the class, INT64_MAX when empty. */
int64_t ct_waiting_least(const struct ct_waiting *w, uint32_t class);

/* Does (key, job) come before (key2, job2)? */
static inline bool ct_order_before(int64_t key, uint32_t job, int64_t key2, uint32_t job2)
{
	return key < key2 || (key == key2 && job < job2);
}

#endif
