/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ElastiCo's equations against values worked out by hand: scores and choices (7), prices
 * (8), tolerances (11), reservation (12), and what may be left out of a family. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/elastico/elastico.h"
#include "sim/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SM = CT_ELASTICO_SM, MEM = CT_ELASTICO_MEM, CPU = CT_ELASTICO_CPU, RAM = CT_ELASTICO_RAM };

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("wanted %.12g, got %.12g", want, got);
}

/* Fast and large, slower and small. */
static struct ct_elastico_config two[] = {
	{ .perf = 1, .throughput = 1, .need = { 0.5, 0.9 }, .ok = true },
	{ .perf = 0.9, .throughput = 0.9, .need = { 0.4, 0.3 }, .ok = true },
};
static const uint32_t both[] = { 0, 1 };
static const struct ct_elastico_family pair = { .config = two, .front = both, .n = 2, .n_front = 2, .scaling = 1 };

/* ---- equation 7 */

static void test_score(void **state)
{
	const double price[CT_ELASTICO_RESOURCES] = { 1, 0.4, 2, 3 };
	const struct ct_elastico_config c = { .perf = 0.8, .need = { 0.3, 0.5, 0.05, 0.1 } };

	(void)state;
	near(ct_esp_score(&c, 1, price), 0.2 + 0.3 + 0.2 + 0.1 + 0.3, 1e-15);
}

static void test_choice(void **state)
{
	const double low[CT_ELASTICO_RESOURCES] = { 0, 0.1 }, mid[CT_ELASTICO_RESOURCES] = { 0, 0.2 };
	double score;

	(void)state;
	/* 0.09 against 0.13; 0.18 against 0.16 */
	assert_int_equal(ct_esp_best(&pair, 1, low, &score), 0);
	near(score, 0.09, 1e-15);
	assert_int_equal(ct_esp_best(&pair, 1, mid, &score), 1);
	near(score, 0.16, 1e-15);
}

static void test_switching_cost(void **state)
{
	const double mid[CT_ELASTICO_RESOURCES] = { 0, 0.2 };

	(void)state;
	/* The switch saves 0.02. */
	assert_int_equal(ct_esp_choose(&pair, 1, mid, 0, 0.03), 0);
	assert_int_equal(ct_esp_choose(&pair, 1, mid, 0, 0.01), 1);
	assert_int_equal(ct_esp_choose(&pair, 1, mid, 1, 0), 1);
}

static void test_wait(void **state)
{
	const double high[CT_ELASTICO_RESOURCES] = { 0, 2 }, higher[CT_ELASTICO_RESOURCES] = { 0, 4 };

	(void)state;
	/* Waiting costs all of the performance, 1; running 0.1 + 0.6, then 0.1 + 1.2. */
	assert_int_equal(ct_esp_choose(&pair, 1, high, CT_ELASTICO_WAIT, 0.05), 1);
	assert_int_equal(ct_esp_choose(&pair, 1, higher, CT_ELASTICO_WAIT, 0.05), CT_ELASTICO_WAIT);
	/* Who runs cannot wait. */
	assert_int_equal(ct_esp_choose(&pair, 1, higher, 0, 0.05), 1);
}

/* ---- equation 8 */

static void test_one_step(void **state)
{
	/* 10 GPUs' worth of jobs at the fastest configuration: 5 of SM, 9 of memory. */
	struct ct_esp_group g = { .family = 0, .current = 0, .gpus = 10, .weight = 1 };
	struct ct_esp_market m = { .family = &pair,
				   .group = &g,
				   .n_groups = 1,
				   .capacity = { 10, 6, 10, 10 },
				   .step = 0.1,
				   .max_iterations = 1 };
	double price[CT_ELASTICO_RESOURCES] = { 0.2, 0.01, 0, 0 };

	(void)state;
	assert_int_equal(ct_esp_tatonnement(&m, price), 1);
	near(price[SM], 0.2 + 0.1 * (5.0 / 10 - 1), 1e-15);
	near(price[MEM], 0.01 + 0.1 * (9.0 / 6 - 1), 1e-15);
	near(price[CPU], 0, 0);
	near(price[RAM], 0, 0);
}

static void test_unlimited(void **state)
{
	struct ct_esp_group g[] = { { 0, CT_ELASTICO_WAIT, 100, 1, 0 }, { 0, 0, 50, 1, 0 }, { 0, 1, 50, 1, 0 } };
	struct ct_esp_market m = { .family = &pair,
				   .group = g,
				   .n_groups = 3,
				   .capacity = { 1e9, 1e9, 1e9, 1e9 },
				   .switch_cost = 0.05,
				   .step = 0.5,
				   .diminishing = true,
				   .tolerance = 0.01,
				   .max_iterations = 1000 };
	double price[CT_ELASTICO_RESOURCES] = { 2, 5, 0, 1 };

	(void)state;
	assert_true(ct_esp_tatonnement(&m, price) < 1000);
	for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
		near(price[r], 0, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(g[i].chosen, 0);
}

/* Forty jobs, number i loses i/100 when it makes do with half its memory. Memory for ten
 * whole and thirty halves clears where job 30 gives way and job 31 does not: half a unit
 * costs between 0.30 and 0.31, a unit between 0.60 and 0.62. */
static void test_clearing_price(void **state)
{
	struct ct_elastico_config c[40][2];
	struct ct_elastico_family f[40];
	struct ct_esp_group g[40];
	struct ct_esp_market m = { .family = f,
				   .group = g,
				   .n_groups = 40,
				   .capacity = { 40, 25, 40, 40 },
				   .step = 0.5,
				   .diminishing = true,
				   .max_iterations = 400 };
	double price[CT_ELASTICO_RESOURCES] = { 0 }, demand[CT_ELASTICO_RESOURCES];

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		c[i][0] = (struct ct_elastico_config){ .perf = 1, .need = { 0, 1 } };
		c[i][1] = (struct ct_elastico_config){ .perf = 1 - (i + 1) / 100.0, .need = { 0, 0.5 } };
		f[i] = (struct ct_elastico_family){ .config = c[i], .front = both, .n = 2, .n_front = 2 };
		g[i] = (struct ct_esp_group){ i, 0, 1, 1, 0 };
	}
	ct_esp_tatonnement(&m, price);
	near(price[MEM], 0.61, 0.03);
	ct_esp_demand(&m, price, demand);
	near(demand[MEM], 25, 1);
	near(price[SM], 0, 0);
	/* Exactly at the clearing price the market clears. */
	price[MEM] = 0.61;
	ct_esp_demand(&m, price, demand);
	near(demand[MEM], 25, 1e-12);
	/* From above it comes down to the same. */
	price[MEM] = 3;
	ct_esp_tatonnement(&m, price);
	near(price[MEM], 0.61, 0.03);
}

/* A warm start at the clearing price stays there. */
static void test_warm_start(void **state)
{
	struct ct_esp_group g[] = { { 0, 1, 10, 1, 0 } };
	struct ct_esp_market m = { .family = &pair,
				   .group = g,
				   .n_groups = 1,
				   .capacity = { 10, 3, 10, 10 }, /* just what the small configuration needs */
				   .switch_cost = 0,
				   .step = 0.5,
				   .tolerance = 1e-9,
				   .max_iterations = 50 };
	double price[CT_ELASTICO_RESOURCES] = { 0, 0.5 };

	(void)state;
	assert_int_equal(ct_esp_tatonnement(&m, price), 1);
	near(price[MEM], 0.5, 1e-12);
	assert_int_equal(g[0].chosen, 1);
}

/* ---- equation 7 with weights */

static void test_weighted_choice(void **state)
{
	const double mid[CT_ELASTICO_RESOURCES] = { 0, 0.2 }, high[CT_ELASTICO_RESOURCES] = { 0, 2 };
	double score;

	(void)state;
	near(ct_esp_score(&two[1], 2.5, mid), 2.5 * 0.1 + 0.2 * 0.3, 1e-15);
	/* 0.18 against 0.1 w + 0.06: equal at 1.2 */
	assert_int_equal(ct_esp_best(&pair, 1.1, mid, &score), 1);
	assert_int_equal(ct_esp_best(&pair, 1.3, mid, &score), 0);
	near(score, 0.18, 1e-15);
	/* A switch that saves 0.18 - 0.05 - 0.06 = 0.07 at w = 0.5. */
	assert_int_equal(ct_esp_choose(&pair, 0.5, mid, 0, 0.08), 0);
	assert_int_equal(ct_esp_choose(&pair, 0.5, mid, 0, 0.06), 1);
	/* Waiting costs w, running 0.1 w + 0.6: equal at 2/3. */
	assert_int_equal(ct_esp_choose(&pair, 0.6, high, CT_ELASTICO_WAIT, 0), CT_ELASTICO_WAIT);
	assert_int_equal(ct_esp_choose(&pair, 0.7, high, CT_ELASTICO_WAIT, 0), 1);
}

/* Three jobs of one family in one configuration that weigh differently: 10 GPUs stay at
 * 0.9 of memory each, 20 and 5 go down to 0.3. */
static void test_weighted_demand(void **state)
{
	struct ct_esp_group g[] = { { 0, 0, 10, 1.3, 0 }, { 0, 0, 20, 1.1, 0 }, { 0, 0, 5, 0.5, 0 } };
	struct ct_esp_market m = { .family = &pair, .group = g, .n_groups = 3 };
	const double price[CT_ELASTICO_RESOURCES] = { 0, 0.2 };
	double demand[CT_ELASTICO_RESOURCES];

	(void)state;
	ct_esp_demand(&m, price, demand);
	near(demand[MEM], 9 + 6 + 1.5, 1e-12);
	near(demand[SM], 5 + 8 + 2, 1e-12);
}

static void test_weights(void **state)
{
	const double left[] = { 100, 400 }, same[] = { 2, 2 }, other[] = { 1, 3 };
	struct ct_weight_law law;

	(void)state;
	/* 1/100 and 1/400: mean 1/160, or (1/100 + 3/400) / 4 = 7/1600 a GPU. */
	law = ct_weights_law(left, same, 2, 10);
	near(ct_weights_weigh(&law, 100), 1.6, 1e-12);
	near(ct_weights_weigh(&law, 400), 0.4, 1e-12);
	law = ct_weights_law(left, other, 2, 10);
	near(ct_weights_weigh(&law, 100), 16.0 / 7, 1e-12);
	near(ct_weights_weigh(&law, 400), 4.0 / 7, 1e-12);
	/* Geometric mean 1/200; no further than 1.5 from it: 3/400 and 1/300, mean 13/2400. */
	law = ct_weights_law(left, same, 2, 1.5);
	near(ct_weights_weigh(&law, 100), 18.0 / 13, 1e-12);
	near(ct_weights_weigh(&law, 400), 8.0 / 13, 1e-12);
	near(ct_weights_weigh(&law, 1), 18.0 / 13, 1e-12); /* who does not bid */
}

/* ---- equation 11 */

static void test_tolerance(void **state)
{
	struct ct_iac_law law = { .base = 1.5, .beta = 0.5, .beta_max = 0.25, .target = 0.4 };

	(void)state;
	near(ct_iac_tolerance(&law, 0.4), 1.5, 1e-15);
	near(ct_iac_tolerance(&law, 0.5), 1.5 + 0.5 * 0.25, 1e-15);
	near(ct_iac_tolerance(&law, 0.2), 1.25, 1e-15);
	near(ct_iac_tolerance(&law, 1), 1.75, 1e-15); /* clamped: 0.75 would be added */
	law.beta = 2;
	near(ct_iac_tolerance(&law, 0), 1, 0); /* nobody gets faster */
	near(ct_iac_tolerance(&law, 0.35), 1.25, 1e-12);
}

static void test_floor(void **state)
{
	struct ct_iac_law law = { 0 };

	(void)state;
	near(ct_iac_bound(&law, 1.6, 1.5), 1.5, 0); /* T/L binds */
	near(ct_iac_bound(&law, 1.4, 1.5), 1.4, 0);
	law.paper = true;
	near(ct_iac_bound(&law, 1.6, 1.5), 1.6, 0);
}

/* ---- equation 12 */

static void test_reservation(void **state)
{
	const double capacity[] = { 64, 64, 8, 0 }, pending[] = { 10, 20, 30, 0 }, running[] = { 1, 60, 2, 0 };
	double out[CT_ELASTICO_RESOURCES];

	(void)state;
	ct_pds_effective_capacity(capacity, 0.5, pending, running, out);
	near(out[0], 59, 0);
	near(out[1], 60, 0); /* 54 is less than what runs needs at least */
	near(out[2], 2, 0);
	near(out[3], 0, 0);
	ct_pds_effective_capacity(capacity, 0, pending, running, out);
	near(out[0], 64, 0);
	ct_pds_effective_capacity(capacity, 1, pending, running, out);
	near(out[0], 54, 0);
}

/* ---- RST */

static void test_front(void **state)
{
	/* 1 is beaten by 0, 3 equals 2, 4 is slowest but needs least, 5 is not ok. */
	const struct ct_elastico_config c[] = {
		{ .throughput = 1.5, .need = { 0.4, 0.5 }, .ok = true },
		{ .throughput = 1.4, .need = { 0.4, 0.6 }, .ok = true },
		{ .throughput = 1.2, .need = { 0.3, 0.5 }, .ok = true },
		{ .throughput = 1.2, .need = { 0.3, 0.5 }, .ok = true },
		{ .throughput = 0.7, .need = { 0.3, 0.2 }, .ok = true },
		{ .throughput = 9.0, .need = { 0.1, 0.1 }, .ok = false },
	};
	uint32_t front[6];

	(void)state;
	assert_int_equal(ct_rst_front(c, 6, true, front), 3);
	assert_int_equal(front[0], 0);
	assert_int_equal(front[1], 2);
	assert_int_equal(front[2], 4);
	assert_int_equal(ct_rst_front(c, 6, false, front), 5);
}

/* What a family is reduced to changes no choice at any prices. */
static void test_front_is_enough(void **state)
{
	enum { N = 24 };
	struct ct_stream s;

	(void)state;
	ct_stream_init(&s, 1, CT_RANDOM_TEST, 0);
	for (int round = 0; round < 300; round++) {
		struct ct_elastico_config c[N];
		uint32_t all[N], few[N];
		struct ct_elastico_family whole = { .config = c, .front = all, .n = N },
					  front = { .config = c, .front = few, .n = N };
		double price[CT_ELASTICO_RESOURCES], a, b;

		for (int i = 0; i < N; i++) {
			c[i] = (struct ct_elastico_config){ .ok = true };
			/* Coarse, so that there are ties. */
			c[i].perf = c[i].throughput = 0.1 * (double)(1 + gsl_rng_uniform_int(&s.rng, 10));
			for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
				c[i].need[r] = 0.1 * (double)gsl_rng_uniform_int(&s.rng, 11);
		}
		whole.n_front = ct_rst_front(c, N, false, all);
		front.n_front = ct_rst_front(c, N, true, few);
		assert_int_equal(whole.n_front, N);
		for (int k = 0; k < 20; k++) {
			for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
				price[r] = k ? 3 * gsl_rng_uniform(&s.rng) : 0;
			ct_esp_best(&whole, 1, price, &a);
			ct_esp_best(&front, 1, price, &b);
			near(b, a, 1e-12);
		}
	}
}

static void test_share(void **state)
{
	const struct ct_elastico_family linear = { .scaling = 1 }, less = { .scaling = 0.5 };

	(void)state;
	near(ct_rst_share(&linear, 2, 8), 0.25, 0);
	near(ct_rst_share(&less, 2, 8), 0.5, 1e-15);
	near(ct_rst_share(&less, 8, 8), 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_score),           cmocka_unit_test(test_choice),
		cmocka_unit_test(test_switching_cost),  cmocka_unit_test(test_wait),
		cmocka_unit_test(test_one_step),        cmocka_unit_test(test_unlimited),
		cmocka_unit_test(test_clearing_price),  cmocka_unit_test(test_warm_start),
		cmocka_unit_test(test_weighted_choice), cmocka_unit_test(test_weighted_demand),
		cmocka_unit_test(test_weights),         cmocka_unit_test(test_tolerance),
		cmocka_unit_test(test_floor),           cmocka_unit_test(test_reservation),
		cmocka_unit_test(test_front),           cmocka_unit_test(test_front_is_enough),
		cmocka_unit_test(test_share),
	};

	return cmocka_run_group_tests_name("elastico equations", tests, NULL, NULL);
}
