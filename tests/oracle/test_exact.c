/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The integer programs of exact.h against the enumeration of every assignment on
 * tiny instances, and against what theory says of them: weak duality, monotony. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/random.h"
#include "tests/oracle/exact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 150, JOBS = 6, CONFIGS = 4, MOST_GPUS = 3 };

struct instance {
	struct exact_config config[JOBS][CONFIGS];
	struct exact_job job[JOBS];
	uint32_t n;
	double capacity[EXACT_RESOURCES];
	struct exact_gpus gpus;
	double s[JOBS][CONFIGS][JOBS][CONFIGS];
};

static double s_of(const void *ctx, uint32_t job, uint32_t config, uint32_t other, uint32_t other_config)
{
	const struct instance *x = ctx;

	return x->s[job][config][other][other_config];
}

static uint32_t below(struct ct_stream *r, uint32_t n)
{
	return (uint32_t)gsl_rng_uniform_int(&r->rng, n);
}

static void draw_job(struct instance *x, struct ct_stream *r, uint32_t j)
{
	x->job[j] = (struct exact_job){ x->config[j], 1 + below(r, CONFIGS), 0.5 + gsl_rng_uniform(&r->rng), 0 };
	for (uint32_t c = 0; c < x->job[j].n; c++) {
		struct exact_config *k = &x->config[j][c];

		/* coarse values, so that ties and equal sums happen */
		k->throughput = 0.1 * (1 + below(r, 10));
		k->need[EXACT_SM] = 0.125 * (1 + below(r, 8));
		k->need[EXACT_GPU_MEM] = 4 * (1 + below(r, 10));
		k->need[EXACT_CPU] = 1 + below(r, 8);
		k->need[EXACT_HOST_MEM] = 1 + below(r, 4);
		for (uint32_t i = 0; i < JOBS; i++)
			for (uint32_t d = 0; d < CONFIGS; d++)
				x->s[j][c][i][d] = below(r, 4) ? 1 + gsl_rng_uniform(&r->rng) : 1;
	}
	if (below(r, 2))
		x->job[j].floor = 0.1 * below(r, 6);
}

static void draw(struct instance *x, uint64_t round, uint32_t most)
{
	struct ct_stream r;

	ct_stream_init(&r, 24, CT_RANDOM_TEST, round);
	memset(x, 0, sizeof *x);
	x->n = 2 + below(&r, most - 1);
	for (uint32_t j = 0; j < x->n; j++)
		draw_job(x, &r, j);
	x->gpus = (struct exact_gpus){ 1 + below(&r, MOST_GPUS), 40, 39.5, s_of, x };
	x->capacity[EXACT_SM] = x->gpus.gpus;
	x->capacity[EXACT_GPU_MEM] = 40.0 * x->gpus.gpus;
	x->capacity[EXACT_CPU] = below(&r, 2) ? INFINITY : 12;
	x->capacity[EXACT_HOST_MEM] = 8;
}

/* ---- every assignment, with the constraints as they are written in the paper */

struct brute {
	const struct instance *x;
	int may_wait;
	uint32_t config[JOBS], gpu[JOBS];
	double best;
};

static void aggregate_all(struct brute *b, uint32_t j)
{
	const struct instance *x = b->x;
	double use[EXACT_RESOURCES] = { 0 }, value = 0;

	if (j < x->n) {
		for (b->config[j] = 0; b->config[j] < x->job[j].n; b->config[j]++)
			if (x->config[j][b->config[j]].throughput >= x->job[j].floor)
				aggregate_all(b, j + 1);
		b->config[j] = EXACT_NONE;
		if (b->may_wait)
			aggregate_all(b, j + 1);
		return;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		if (b->config[i] == EXACT_NONE)
			continue;
		value += x->job[i].weight * x->config[i][b->config[i]].throughput;
		for (int r = 0; r < EXACT_RESOURCES; r++)
			use[r] += x->config[i][b->config[i]].need[r];
	}
	for (int r = 0; r < EXACT_RESOURCES; r++)
		if (use[r] > x->capacity[r])
			return;
	if (value > b->best)
		b->best = value;
}

/* What the jobs get on their GPUs, -1 when they may not be there. */
static double worth(const struct brute *b)
{
	const struct instance *x = b->x;
	double value = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		const struct exact_config *c;
		double kept, memory, allowed = x->gpus.mem;

		if (b->config[i] == EXACT_NONE)
			continue;
		c = &x->config[i][b->config[i]];
		kept = c->throughput;
		memory = c->need[EXACT_GPU_MEM];
		for (uint32_t k = 0; k < x->n; k++) {
			if (k == i || b->config[k] == EXACT_NONE || b->gpu[k] != b->gpu[i])
				continue;
			if (allowed == x->gpus.mem_two)
				return -1; /* a third */
			allowed = x->gpus.mem_two;
			memory += x->config[k][b->config[k]].need[EXACT_GPU_MEM];
			kept /= x->s[i][b->config[i]][k][b->config[k]];
		}
		if (memory > allowed || kept < x->job[i].floor)
			return -1;
		value += x->job[i].weight * kept;
	}
	return value;
}

static void placed_all(struct brute *b, uint32_t j)
{
	if (j == b->x->n) {
		b->best = fmax(b->best, worth(b));
		return;
	}
	for (uint32_t g = 0; g < b->x->gpus.gpus; g++)
		for (uint32_t c = 0; c < b->x->job[j].n; c++) {
			b->config[j] = c;
			b->gpu[j] = g;
			placed_all(b, j + 1);
		}
	b->config[j] = EXACT_NONE;
	placed_all(b, j + 1);
}

static void need_glpk(void)
{
	if (exact_present())
		return;
	print_message("skipped: built without GLPK (libglpk-dev)\n");
	skip();
}

static void aggregate_is_the_best_of_all(void **state)
{
	unsigned solved = 0, impossible = 0;

	(void)state;
	need_glpk();
	for (uint64_t round = 0; round < ROUNDS; round++)
		for (int may_wait = 0; may_wait < 2; may_wait++) {
			struct instance x;
			struct exact_answer a;
			struct brute b = { .x = &x, .may_wait = may_wait, .best = -1 };
			int rc;

			draw(&x, round, JOBS);
			aggregate_all(&b, 0);
			rc = exact_aggregate(x.job, x.n, x.capacity, may_wait, &a);
			assert_int_equal(rc, b.best < 0 ? EXACT_INFEASIBLE : 0);
			if (rc == 0 && fabs(a.value - b.best) > 1e-9)
				fail_msg("round %u: %.12g instead of %.12g", (unsigned)round, a.value, b.best);
			solved += rc == 0;
			impossible += rc != 0;
		}
	assert_true(solved > ROUNDS && impossible > ROUNDS / 10); /* both kinds were there */
}

static void placed_is_the_best_of_all(void **state)
{
	unsigned shared = 0, waiting = 0, alone = 0;

	(void)state;
	need_glpk();
	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct instance x;
		struct exact_answer a;
		struct brute b = { .x = &x, .best = -1 };

		draw(&x, round, JOBS - 2);
		placed_all(&b, 0);
		assert_int_equal(exact_placed(x.job, x.n, &x.gpus, &a), 0);
		if (fabs(a.value - b.best) > 1e-9)
			fail_msg("round %u: %.12g instead of %.12g", (unsigned)round, a.value, b.best);
		for (uint32_t j = 0; j < x.n; j++) {
			shared += a.partner[j] != EXACT_NONE;
			waiting += a.config[j] == EXACT_NONE;
			alone += a.config[j] != EXACT_NONE && a.partner[j] == EXACT_NONE;
		}
	}
	assert_true(shared > 20 && waiting > 20 && alone > 20);
}

/* Equation 6: at any prices >= 0 the Lagrangian is an upper bound. */
static void prices_bound_the_optimum(void **state)
{
	(void)state;
	need_glpk();
	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct instance x;
		struct exact_answer a;
		struct ct_stream r;

		draw(&x, round, JOBS);
		assert_int_equal(exact_aggregate(x.job, x.n, x.capacity, 1, &a), 0);
		ct_stream_init(&r, 25, CT_RANDOM_TEST, round);
		for (int k = 0; k < 20; k++) {
			double price[EXACT_RESOURCES], dual = 0;

			for (int q = 0; q < EXACT_RESOURCES; q++) {
				price[q] = isinf(x.capacity[q]) ? 0 : 0.2 * gsl_rng_uniform(&r.rng);
				if (price[q] > 0)
					dual += price[q] * x.capacity[q];
			}
			for (uint32_t j = 0; j < x.n; j++) {
				double best = 0; /* waiting */

				for (uint32_t c = 0; c < x.job[j].n; c++) {
					double net = x.job[j].weight * x.config[j][c].throughput;

					if (x.config[j][c].throughput < x.job[j].floor)
						continue;
					for (int q = 0; q < EXACT_RESOURCES; q++)
						net -= price[q] * x.config[j][c].need[q];
					best = fmax(best, net);
				}
				dual += best;
			}
			assert_true(a.value <= dual + 1e-9);
		}
	}
}

/* More GPUs, or partners that disturb less, never make the optimum worse; with room
 * for everybody it is the sum of the fastest. */
static void more_room_is_never_worse(void **state)
{
	(void)state;
	need_glpk();
	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct instance x;
		struct exact_answer a, more;
		double fastest = 0;

		draw(&x, round, JOBS);
		assert_int_equal(exact_placed(x.job, x.n, &x.gpus, &a), 0);
		x.gpus.gpus++;
		assert_int_equal(exact_placed(x.job, x.n, &x.gpus, &more), 0);
		assert_true(more.value >= a.value - 1e-9);
		x.gpus.gpus--;
		for (uint32_t k = 0; k < sizeof x.s / sizeof(double); k++)
			(&x.s[0][0][0][0])[k] = 1;
		assert_int_equal(exact_placed(x.job, x.n, &x.gpus, &more), 0);
		assert_true(more.value >= a.value - 1e-9);
		x.gpus.gpus = x.n;
		for (uint32_t j = 0; j < x.n; j++) {
			double best = 0;

			for (uint32_t c = 0; c < x.job[j].n; c++)
				if (x.config[j][c].throughput >= x.job[j].floor)
					best = fmax(best, x.config[j][c].throughput);
			fastest += x.job[j].weight * best;
		}
		assert_int_equal(exact_placed(x.job, x.n, &x.gpus, &more), 0);
		assert_true(fabs(more.value - fastest) < 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aggregate_is_the_best_of_all),
		cmocka_unit_test(placed_is_the_best_of_all),
		cmocka_unit_test(prices_bound_the_optimum),
		cmocka_unit_test(more_room_is_never_worse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
