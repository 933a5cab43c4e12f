/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/event_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void empty_queue(void **state)
{
	struct ct_event_queue q;
	struct ct_event e = { .time = 7, .payload = 8 };

	(void)state;
	ct_event_queue_init(&q);
	assert_int_equal(ct_event_queue_size(&q), 0);
	assert_false(ct_event_pop(&q, &e));
	assert_false(ct_event_peek(&q, &e));
	assert_true(e.time == 7 && e.payload == 8);
	assert_false(ct_event_cancel(&q, (ct_event_handle){ 0 }));
	assert_false(ct_event_move(&q, (ct_event_handle){ 0 }, 1));
	ct_event_queue_fini(&q);
}

static void expect(struct ct_event_queue *q, ct_time time, enum ct_event_class class, uint32_t payload)
{
	struct ct_event e;

	assert_true(ct_event_pop(q, &e));
	if (e.time != time || e.class != class || e.payload != payload)
		fail_msg("got (%lld, %d, %u), want (%lld, %d, %u)", (long long)e.time, (int)e.class, e.payload,
			 (long long)time, (int)class, payload);
}

/* The contract: time, then class, then order of insertion. */
static void order(void **state)
{
	struct ct_event_queue q;

	(void)state;
	ct_event_queue_init(&q);
	ct_event_push(&q, 5, CT_EVENT_EPOCH, 1);
	ct_event_push(&q, 5, CT_EVENT_TIMER, 2);
	ct_event_push(&q, 5, CT_EVENT_ARRIVAL, 3);
	ct_event_push(&q, 5, CT_EVENT_NODE, 4);
	ct_event_push(&q, 5, CT_EVENT_FINISH, 5);
	ct_event_push(&q, 5, CT_EVENT_FINISH, 6);
	ct_event_push(&q, 4, CT_EVENT_EPOCH, 7);
	ct_event_push(&q, CT_NEVER, CT_EVENT_FINISH, 8);
	ct_event_push(&q, 0, CT_EVENT_TIMER, 9);
	ct_event_push(&q, 5, CT_EVENT_ARRIVAL, 10);
	expect(&q, 0, CT_EVENT_TIMER, 9);
	expect(&q, 4, CT_EVENT_EPOCH, 7);
	expect(&q, 5, CT_EVENT_FINISH, 5);
	expect(&q, 5, CT_EVENT_FINISH, 6);
	expect(&q, 5, CT_EVENT_NODE, 4);
	expect(&q, 5, CT_EVENT_ARRIVAL, 3);
	expect(&q, 5, CT_EVENT_ARRIVAL, 10);
	expect(&q, 5, CT_EVENT_TIMER, 2);
	expect(&q, 5, CT_EVENT_EPOCH, 1);
	expect(&q, CT_NEVER, CT_EVENT_FINISH, 8);
	ct_event_queue_fini(&q);
}

/* A moved event queues up behind its equals, even when its time did not change. */
static void moving_is_inserting_anew(void **state)
{
	struct ct_event_queue q;
	ct_event_handle first, third;

	(void)state;
	ct_event_queue_init(&q);
	first = ct_event_push(&q, 5, CT_EVENT_FINISH, 1);
	ct_event_push(&q, 5, CT_EVENT_FINISH, 2);
	third = ct_event_push(&q, 9, CT_EVENT_FINISH, 3);
	assert_true(ct_event_move(&q, first, 5));
	assert_true(ct_event_move(&q, third, 5));
	assert_true(ct_event_move(&q, third, 4));
	assert_true(ct_event_move(&q, third, 5));
	expect(&q, 5, CT_EVENT_FINISH, 2);
	expect(&q, 5, CT_EVENT_FINISH, 1);
	expect(&q, 5, CT_EVENT_FINISH, 3);
	ct_event_queue_fini(&q);
}

static void stale_handles(void **state)
{
	struct ct_event_queue q;
	ct_event_handle a, b, c;

	(void)state;
	ct_event_queue_init(&q);
	a = ct_event_push(&q, 1, CT_EVENT_TIMER, 1);
	assert_true(a.generation != 0);
	expect(&q, 1, CT_EVENT_TIMER, 1);
	assert_false(ct_event_cancel(&q, a)); /* popped */
	assert_false(ct_event_move(&q, a, 2));
	b = ct_event_push(&q, 3, CT_EVENT_TIMER, 2);
	assert_int_equal(a.slot, b.slot); /* the slot is in use again */
	assert_false(ct_event_cancel(&q, a));
	assert_false(ct_event_move(&q, a, 2));
	assert_true(ct_event_cancel(&q, b));
	assert_false(ct_event_cancel(&q, b));
	c = ct_event_push(&q, 4, CT_EVENT_TIMER, 3);
	assert_false(ct_event_cancel(&q, b));
	assert_true(ct_event_move(&q, c, 6)); /* a move keeps the handle */
	assert_true(ct_event_move(&q, c, 5));
	assert_false(ct_event_cancel(&q, (ct_event_handle){ .slot = 1000000, .generation = 1 }));
	assert_false(ct_event_cancel(&q, (ct_event_handle){ .slot = c.slot, .generation = 0 }));
	expect(&q, 5, CT_EVENT_TIMER, 3);
	assert_int_equal(ct_event_queue_size(&q), 0);
	ct_event_queue_fini(&q);
}

/* After the last generation comes 1, never 0. */
static void generation_wraps_past_zero(void **state)
{
	struct ct_event_queue q;
	ct_event_handle a, b;

	(void)state;
	ct_event_queue_init(&q);
	a = ct_event_push(&q, 1, CT_EVENT_TIMER, 1);
	q.generation[a.slot] = UINT32_MAX;
	a.generation = UINT32_MAX;
	assert_true(ct_event_cancel(&q, a));
	b = ct_event_push(&q, 1, CT_EVENT_TIMER, 2);
	assert_int_equal(b.slot, a.slot);
	assert_int_equal(b.generation, 1);
	ct_event_queue_fini(&q);
}

/* ---- against a plain sorted array */

struct entry {
	ct_time time;
	int class;
	uint64_t sequence;
	uint32_t payload;
	ct_event_handle handle;
};

struct model {
	struct entry e[4096];
	size_t n;
	uint64_t sequence;
};

static int precedes(const struct entry *a, const struct entry *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->class != b->class)
		return a->class < b->class;
	return a->sequence < b->sequence;
}

static void model_insert(struct model *m, struct entry x)
{
	size_t i = m->n++;

	x.sequence = m->sequence++;
	for (; i && precedes(&x, &m->e[i - 1]); i--)
		m->e[i] = m->e[i - 1];
	m->e[i] = x;
}

static struct entry model_remove(struct model *m, size_t i)
{
	struct entry x = m->e[i];

	memmove(&m->e[i], &m->e[i + 1], (--m->n - i) * sizeof x);
	return x;
}

static uint64_t next_random(uint64_t *s)
{
	uint64_t z = (*s += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* Times of a small range, so that ties of every kind are common. */
static void step(struct ct_event_queue *q, struct model *m, uint64_t *s, unsigned push_in_16, ct_time range)
{
	uint64_t r = next_random(s);
	ct_time t = (ct_time)((r >> 8) % (uint64_t)range);
	unsigned what = (unsigned)(r & 15);

	if (what < push_in_16 && m->n < 4095) {
		struct entry x = { .time = t, .class = (int)((r >> 40) % 5), .payload = (uint32_t)(r >> 16) };

		x.handle = ct_event_push(q, t, (enum ct_event_class)x.class, x.payload);
		model_insert(m, x);
	} else if (m->n && what % 3 == 0) {
		struct entry x = model_remove(m, 0);
		struct ct_event e;

		assert_true(ct_event_peek(q, &e));
		assert_true(e.time == x.time && (int)e.class == x.class && e.payload == x.payload);
		expect(q, x.time, (enum ct_event_class)x.class, x.payload);
		assert_false(ct_event_cancel(q, x.handle));
	} else if (m->n && what % 3 == 1) {
		struct entry x = model_remove(m, (size_t)(next_random(s) % m->n));

		assert_true(ct_event_cancel(q, x.handle));
		assert_false(ct_event_move(q, x.handle, t));
	} else if (m->n) {
		struct entry x = model_remove(m, (size_t)(next_random(s) % m->n));

		assert_true(ct_event_move(q, x.handle, t));
		x.time = t;
		model_insert(m, x);
	}
	assert_int_equal(ct_event_queue_size(q), m->n);
}

static void random_operations(void **state)
{
	static struct model m;
	static const ct_time ranges[] = { 1, 3, 50, 100000, CT_NEVER };
	uint64_t s = 1;

	(void)state;
	for (size_t k = 0; k < 5; k++) {
		struct ct_event_queue q;

		m = (struct model){ 0 };
		ct_event_queue_init(&q);
		for (int i = 0; i < 6000; i++) /* grows, then shrinks */
			step(&q, &m, &s, i < 3500 ? 11 : 4, ranges[k]);
		while (m.n) {
			struct entry x = model_remove(&m, 0);

			expect(&q, x.time, (enum ct_event_class)x.class, x.payload);
		}
		assert_int_equal(ct_event_queue_size(&q), 0);
		ct_event_queue_fini(&q);
	}
}

static void two_queues_do_not_meet(void **state)
{
	struct ct_event_queue a, b;

	(void)state;
	ct_event_queue_init(&a);
	ct_event_queue_init(&b);
	ct_event_push(&a, 2, CT_EVENT_FINISH, 1);
	ct_event_push(&b, 1, CT_EVENT_FINISH, 2);
	expect(&a, 2, CT_EVENT_FINISH, 1);
	expect(&b, 1, CT_EVENT_FINISH, 2);
	ct_event_queue_fini(&a);
	ct_event_queue_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_queue),
		cmocka_unit_test(order),
		cmocka_unit_test(moving_is_inserting_anew),
		cmocka_unit_test(stale_handles),
		cmocka_unit_test(generation_wraps_past_zero),
		cmocka_unit_test(random_operations),
		cmocka_unit_test(two_queues_do_not_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
