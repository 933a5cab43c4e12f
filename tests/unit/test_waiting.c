/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The waiting list and its trees against linear scans over the same jobs, on random
 * sequences of operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/waiting.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 400, STEPS = 6000, PARTITIONS = 3 };

/* ---- the tree */

struct flat {
	struct ct_tree_item item[JOBS];
	int there[JOBS];
};

static int after(const struct ct_tree_item *a, int64_t key, uint32_t item)
{
	return a->key > key || (a->key == key && a->item > item);
}

/* The first item after (key, item) with value <= most. */
static const struct ct_tree_item *scan(const struct flat *f, int64_t key, uint32_t item, int64_t most)
{
	const struct ct_tree_item *best = NULL;

	for (int i = 0; i < JOBS; i++)
		if (f->there[i] && after(&f->item[i], key, item) && f->item[i].value <= most &&
		    (!best || after(best, f->item[i].key, f->item[i].item)))
			best = &f->item[i];
	return best;
}

static uint64_t scan_weight(const struct flat *f, int64_t key)
{
	uint64_t sum = 0;

	for (int i = 0; i < JOBS; i++)
		if (f->there[i] && f->item[i].key <= key)
			sum += f->item[i].weight;
	return sum;
}

/* Walks in order until the weights add up to `need`. */
static const struct ct_tree_item *scan_reach(const struct flat *f, uint64_t need)
{
	const struct ct_tree_item *it = scan(f, INT64_MIN, 0, INT64_MAX);

	for (uint64_t sum = 0; it; it = scan(f, it->key, it->item, INT64_MAX)) {
		sum += it->weight;
		if (sum >= need)
			return it;
	}
	return NULL;
}

static void same_item(const struct ct_tree_item *got, const struct ct_tree_item *want)
{
	if (!want) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_int_equal(got->item, want->item);
}

static void ask_tree(const struct ct_tree_pool *pool, uint32_t tree, const struct flat *f, gsl_rng *rng)
{
	int64_t key = (int64_t)gsl_rng_uniform_int(rng, 60) - 5, most = (int64_t)gsl_rng_uniform_int(rng, 110);
	uint32_t item = (uint32_t)gsl_rng_uniform_int(rng, JOBS);
	const struct ct_tree_item *first = scan(f, INT64_MIN, 0, INT64_MAX);
	uint64_t need = 1 + gsl_rng_uniform_int(rng, 800);
	int64_t least = INT64_MAX;

	for (int i = 0; i < JOBS; i++)
		if (f->there[i] && f->item[i].value < least)
			least = f->item[i].value;
	same_item(ct_tree_first(pool, tree), first);
	same_item(ct_tree_next(pool, tree, key, item), scan(f, key, item, INT64_MAX));
	same_item(ct_tree_find(pool, tree, key, item, most), scan(f, key, item, most));
	same_item(ct_tree_reach(pool, tree, need), scan_reach(f, need));
	assert_true(ct_tree_weight(pool, tree, key) == scan_weight(f, key));
	assert_true(ct_tree_least(pool, tree) == least);
}

static void test_tree(void **state)
{
	struct ct_tree_pool pool = { 0 };
	uint32_t tree = 0;
	struct flat f = { 0 };
	struct ct_stream s;

	(void)state;
	ct_stream_init(&s, 1, CT_RANDOM_TEST, 1);
	for (int step = 0; step < STEPS; step++) {
		/* grows for a while, then shrinks, and so on: small and large trees */
		int growing = step / 1000 % 2 == 0, i = (int)gsl_rng_uniform_int(&s.rng, JOBS);

		if (!f.there[i] && (growing || gsl_rng_uniform(&s.rng) < 0.2)) {
			f.item[i] = (struct ct_tree_item){ .key = (int64_t)gsl_rng_uniform_int(&s.rng, 50),
							   .value = (int64_t)gsl_rng_uniform_int(&s.rng, 100),
							   .weight = (uint32_t)gsl_rng_uniform_int(&s.rng, 9),
							   .item = (uint32_t)i };
			ct_tree_insert(&pool, &tree, &f.item[i]);
			f.there[i] = 1;
		} else if (f.there[i]) {
			assert_false(ct_tree_remove(&pool, &tree, f.item[i].key + 1000, (uint32_t)i));
			assert_true(ct_tree_remove(&pool, &tree, f.item[i].key, (uint32_t)i));
			f.there[i] = 0;
		}
		ask_tree(&pool, tree, &f, &s.rng);
	}
	ct_tree_pool_fini(&pool);
}

static void test_tree_empty(void **state)
{
	struct ct_tree_pool pool = { 0 };
	uint32_t tree = 0;

	(void)state;
	assert_null(ct_tree_first(&pool, tree));
	assert_null(ct_tree_next(&pool, tree, INT64_MIN, 0));
	assert_null(ct_tree_find(&pool, tree, INT64_MIN, 0, INT64_MAX));
	assert_null(ct_tree_reach(&pool, tree, 1));
	assert_false(ct_tree_remove(&pool, &tree, 0, 0));
	assert_true(ct_tree_weight(&pool, tree, INT64_MAX) == 0);
	assert_true(ct_tree_least(&pool, tree) == INT64_MAX);
}

static void test_key_orders_like_doubles(void **state)
{
	static const double x[] = { -INFINITY, -1e300, -2.5, -1, -1e-300, 0, 1e-300, 1, 1.5, 1e300, INFINITY };

	(void)state;
	for (size_t i = 0; i + 1 < sizeof x / sizeof *x; i++)
		assert_true(ct_tree_key(x[i]) < ct_tree_key(x[i + 1]));
	assert_true(ct_tree_key(-0.0) == ct_tree_key(0.0));
	assert_true(ct_tree_key(NAN) > ct_tree_key(INFINITY));
}

/* ---- the waiting list */

struct job {
	struct ct_request demand;
	int64_t key, value;
	int waits;
};

static struct ct_request draw_demand(gsl_rng *rng)
{
	static const uint32_t shares[] = { 1000, 1000, 500, 100 };
	struct ct_request d = { 0 };

	d.partition = (uint32_t)gsl_rng_uniform_int(rng, PARTITIONS);
	d.gpu_type = gsl_rng_uniform_int(rng, 2) ? CT_ANY : (uint32_t)gsl_rng_uniform_int(rng, 2);
	d.num_gpus = 1 + (uint32_t)gsl_rng_uniform_int(rng, 4);
	d.gpu_milli = shares[gsl_rng_uniform_int(rng, 4)];
	d.cpu_milli = 1000 * (uint32_t)gsl_rng_uniform_int(rng, 4);
	d.mem_mib = 512 * (uint32_t)gsl_rng_uniform_int(rng, 3);
	return d;
}

static struct ct_room draw_room(gsl_rng *rng)
{
	struct ct_room r = ct_room_unlimited;

	if (gsl_rng_uniform_int(rng, 2))
		r.milli = gsl_rng_uniform_int(rng, 4500);
	if (gsl_rng_uniform_int(rng, 2))
		r.whole = (uint32_t)gsl_rng_uniform_int(rng, 5);
	if (gsl_rng_uniform_int(rng, 2))
		r.cpu_milli = (uint32_t)gsl_rng_uniform_int(rng, 4000);
	if (gsl_rng_uniform_int(rng, 2))
		r.mem_mib = (uint32_t)gsl_rng_uniform_int(rng, 1500);
	return r;
}

static int holds(const struct ct_room *r, const struct ct_request *d)
{
	if ((uint64_t)d->num_gpus * d->gpu_milli > r->milli || d->cpu_milli > r->cpu_milli || d->mem_mib > r->mem_mib)
		return 0;
	return d->gpu_milli < 1000 || d->num_gpus <= r->whole;
}

/* By linear scan: the first job of the partition after (key, job), within the room,
 * with value <= most or no more GPUs than `spare`. */
static uint32_t scan_jobs(const struct job *jobs, uint32_t partition, int64_t key, uint32_t job,
			  const struct ct_room *room, int64_t most, uint32_t spare)
{
	uint32_t best = CT_NO_JOB;

	for (uint32_t i = 0; i < JOBS; i++) {
		const struct job *j = &jobs[i];

		if (!j->waits || j->demand.partition != partition || !holds(room, &j->demand))
			continue;
		if (j->key < key || (j->key == key && i <= job))
			continue;
		if (j->value > most && j->demand.num_gpus > spare)
			continue;
		if (best == CT_NO_JOB || j->key < jobs[best].key)
			best = i;
	}
	return best;
}

/* The same through the list, as EASY asks it. */
static uint32_t ask_jobs(struct ct_waiting *w, uint32_t partition, int64_t key, uint32_t job,
			 const struct ct_room *room, int64_t most, uint32_t spare)
{
	uint32_t n, *class = ct_waiting_match(w, partition, room, &n), best = CT_NO_JOB;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = w->class[class[i]].demand.num_gpus <= spare ? ct_waiting_next(w, class[i], key, job)
									 : ct_waiting_find(w, class[i], key, job, most);

		if (k != CT_NO_JOB && (best == CT_NO_JOB ||
				       ct_order_before(ct_waiting_key_of(w, k), k, ct_waiting_key_of(w, best), best)))
			best = k;
	}
	return best;
}

static void ask_waiting(struct ct_waiting *w, const struct job *jobs, gsl_rng *rng)
{
	uint32_t partition = (uint32_t)gsl_rng_uniform_int(rng, PARTITIONS);
	uint32_t job = (uint32_t)gsl_rng_uniform_int(rng, JOBS), spare = (uint32_t)gsl_rng_uniform_int(rng, 4);
	int64_t key = (int64_t)gsl_rng_uniform_int(rng, 40) - 2, most = (int64_t)gsl_rng_uniform_int(rng, 100);
	struct ct_room room = draw_room(rng);
	uint32_t n_jobs = 0;

	for (uint32_t i = 0; i < JOBS; i++) {
		n_jobs += (uint32_t)jobs[i].waits;
		assert_int_equal(ct_waiting_has(w, i), jobs[i].waits);
	}
	assert_int_equal(w->n_jobs, n_jobs);
	assert_int_equal(ct_waiting_first(w, partition),
			 scan_jobs(jobs, partition, INT64_MIN, 0, &ct_room_unlimited, INT64_MAX, UINT32_MAX));
	assert_int_equal(ask_jobs(w, partition, key, job, &room, most, spare),
			 scan_jobs(jobs, partition, key, job, &room, most, spare));
}

static void check_room(const struct ct_room *room, const struct ct_request *d)
{
	assert_int_equal(ct_room_holds(room, d), holds(room, d));
}

/* `same_key`: order of submission, as fifo has it. */
static void run_waiting(uint64_t seed, int same_key)
{
	struct ct_waiting w;
	struct job jobs[JOBS] = { 0 };
	struct ct_stream s;

	ct_stream_init(&s, seed, CT_RANDOM_TEST, 2);
	ct_waiting_init(&w, PARTITIONS);
	for (uint32_t i = 0; i < JOBS; i++) {
		struct ct_room room = draw_room(&s.rng);

		jobs[i].demand = draw_demand(&s.rng);
		jobs[i].key = same_key ? 0 : (int64_t)gsl_rng_uniform_int(&s.rng, 30);
		jobs[i].value = (int64_t)gsl_rng_uniform_int(&s.rng, 90);
		check_room(&room, &jobs[i].demand);
	}
	for (int step = 0; step < STEPS; step++) {
		int growing = step / 1000 % 2 == 0;
		uint32_t i = (uint32_t)gsl_rng_uniform_int(&s.rng, JOBS);

		assert_int_equal(ct_waiting_remove(&w, JOBS + i), 0);
		if (!jobs[i].waits && (growing || gsl_rng_uniform(&s.rng) < 0.2)) {
			ct_waiting_add(&w, ct_waiting_class(&w, &jobs[i].demand), i, jobs[i].key, jobs[i].value);
			jobs[i].waits = 1;
		} else if (jobs[i].waits) {
			assert_true(ct_waiting_remove(&w, i));
			assert_false(ct_waiting_remove(&w, i));
			jobs[i].waits = 0;
		}
		ask_waiting(&w, jobs, &s.rng);
	}
	ct_waiting_fini(&w);
}

static void test_waiting_by_submission(void **state)
{
	(void)state;
	run_waiting(3, 1);
}

static void test_waiting_by_key(void **state)
{
	(void)state;
	run_waiting(4, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_tree_empty),
		cmocka_unit_test(test_key_orders_like_doubles),
		cmocka_unit_test(test_waiting_by_submission),
		cmocka_unit_test(test_waiting_by_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
