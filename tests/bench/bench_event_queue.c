/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hold model: pop the earliest event, push it back an exponential time later,
 * with 10^2 .. 10^6 events pending; then rescheduling a random event by handle.
 * CPU time a step, median of 5 (the machine may be shared). The increments come
 * from a table, so that the generator is a small part of the figure. */
#include "sim/event_queue.h"
#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5, TABLE = 1024, STEPS = 2000000, WARM_UP = 200000 };

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
	uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* Exponential with a mean of 100 s: quantiles in the table, the low bits random. */
static ct_time increment(const ct_time *table, uint64_t *state)
{
	uint64_t r = next_random(state);

	return table[r >> 54] + (ct_time)(r & 0xffff);
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v)
{
	qsort(v, ROUNDS, sizeof *v, compare);
	return v[ROUNDS / 2];
}

static void hold(struct ct_event_queue *q, ct_event_handle *handle, const ct_time *table, uint64_t *state, long steps)
{
	struct ct_event e;

	for (long i = 0; i < steps && ct_event_pop(q, &e); i++)
		handle[e.payload] = ct_event_push(q, e.time + increment(table, state), e.class, e.payload);
}

static void measure(uint32_t pending, const ct_time *table)
{
	double hold_ns[ROUNDS], move_ns[ROUNDS];
	ct_event_handle *handle = ct_calloc(pending, sizeof *handle);
	unsigned long moved = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct ct_event_queue q;
		struct ct_event e = { 0 };
		uint64_t state = 42;
		double from;

		ct_event_queue_init(&q);
		for (uint32_t i = 0; i < pending; i++)
			handle[i] = ct_event_push(&q, increment(table, &state), CT_EVENT_FINISH, i);
		hold(&q, handle, table, &state, WARM_UP + (long)pending);
		from = cpu_ns();
		hold(&q, handle, table, &state, STEPS);
		hold_ns[round] = (cpu_ns() - from) / STEPS;

		ct_event_peek(&q, &e);
		from = cpu_ns();
		for (long i = 0; i < STEPS; i++) {
			uint32_t k = (uint32_t)((next_random(&state) >> 32) * pending >> 32);

			moved += ct_event_move(&q, handle[k], e.time + increment(table, &state));
		}
		move_ns[round] = (cpu_ns() - from) / STEPS;
		ct_event_queue_fini(&q);
	}
	free(handle);
	printf("%9u %14.1f %20.1f\n", pending, median(hold_ns), median(move_ns));
	fflush(stdout);
	if (moved != (unsigned long)ROUNDS * STEPS)
		printf("a handle was stale\n");
}

/* An argument limits the pending events (default 1000000). */
int main(int argc, char **argv)
{
	ct_time table[TABLE];
	unsigned long most = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;

	for (int i = 0; i < TABLE; i++)
		table[i] = (ct_time)(-log((i + 0.5) / TABLE) * 100e6);
	printf("%9s %14s %20s\n", "pending", "ns per hold", "ns per reschedule");
	for (uint32_t pending = 100; pending <= most && pending <= 1000000; pending *= 10)
		measure(pending, table);
	return 0;
}
