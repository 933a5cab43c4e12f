/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stream of operations on the event queue against a plain sorted array. Three
 * bytes an operation: what (and the class), time, which event. Every result, the
 * order of the rest at the end, and that old handles are stale, must agree. */
#include "sim/event_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 2048, GRAVES = 64 };

struct entry {
	ct_time time;
	unsigned class;
	uint64_t sequence;
	uint32_t payload;
	ct_event_handle handle;
};

struct model {
	struct entry e[LIMIT];
	size_t n;
	uint64_t sequence;
	ct_event_handle dead[GRAVES]; /* handles that must stay stale */
	size_t n_dead;
};

#define WANT(cond)                                                                         \
	do {                                                                               \
		if (!(cond)) {                                                             \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                           \
		}                                                                          \
	} while (0)

static int precedes(const struct entry *a, const struct entry *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->class != b->class)
		return a->class < b->class;
	return a->sequence < b->sequence;
}

static void insert(struct model *m, struct entry x)
{
	size_t i = m->n++;

	x.sequence = m->sequence++;
	for (; i && precedes(&x, &m->e[i - 1]); i--)
		m->e[i] = m->e[i - 1];
	m->e[i] = x;
}

static struct entry take(struct model *m, size_t i)
{
	struct entry x = m->e[i];

	memmove(&m->e[i], &m->e[i + 1], (--m->n - i) * sizeof x);
	return x;
}

static void bury(struct model *m, ct_event_handle h)
{
	m->dead[m->n_dead++ % GRAVES] = h;
}

static void push(struct ct_event_queue *q, struct model *m, unsigned class, ct_time t, uint32_t payload)
{
	struct entry x = { .time = t, .class = class, .payload = payload };

	if (m->n == LIMIT)
		return;
	x.handle = ct_event_push(q, t, (enum ct_event_class) class, payload);
	WANT(x.handle.generation != 0);
	insert(m, x);
}

static void pop(struct ct_event_queue *q, struct model *m)
{
	struct ct_event seen, e;
	struct entry x;

	if (!m->n) {
		WANT(!ct_event_peek(q, &seen) && !ct_event_pop(q, &e));
		return;
	}
	x = take(m, 0);
	WANT(ct_event_peek(q, &seen) && ct_event_pop(q, &e));
	WANT(e.time == x.time && (unsigned)e.class == x.class && e.payload == x.payload);
	WANT(seen.time == e.time && seen.class == e.class && seen.payload == e.payload);
	bury(m, x.handle);
}

static void cancel(struct ct_event_queue *q, struct model *m, size_t which)
{
	struct entry x;

	if (!m->n)
		return;
	x = take(m, which % m->n);
	WANT(ct_event_cancel(q, x.handle));
	bury(m, x.handle);
}

static void move(struct ct_event_queue *q, struct model *m, size_t which, ct_time t)
{
	struct entry x;

	if (!m->n)
		return;
	x = take(m, which % m->n);
	WANT(ct_event_move(q, x.handle, t));
	x.time = t;
	insert(m, x);
}

static void use_dead(struct ct_event_queue *q, const struct model *m, size_t which)
{
	size_t n = m->n_dead < GRAVES ? m->n_dead : GRAVES;

	if (!n)
		return;
	WANT(!ct_event_cancel(q, m->dead[which % n]));
	WANT(!ct_event_move(q, m->dead[which % n], 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_event_queue q;
	struct model *m = calloc(1, sizeof *m);

	WANT(m);
	ct_event_queue_init(&q);
	for (; size >= 3; data += 3, size -= 3) {
		unsigned what = data[0] & 15, class = (data[0] >> 4) % 5;
		ct_time t = data[1] == 255 ? CT_NEVER : data[1];
		size_t which = data[2] * (size_t)257 + data[1];

		if (what < 7)
			push(&q, m, class, t, data[2]);
		else if (what < 10)
			pop(&q, m);
		else if (what < 12)
			cancel(&q, m, which);
		else if (what < 15)
			move(&q, m, which, t);
		else
			use_dead(&q, m, which);
		WANT(ct_event_queue_size(&q) == m->n);
	}
	while (m->n)
		pop(&q, m);
	pop(&q, m);
	ct_event_queue_fini(&q);
	free(m);
	return 0;
}
