/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What co-location without a check should do: worlds small enough for a pencil, and the
 * heaviest matching against every matching. */
#include "experiments/repro/iac.h"

#include "sim/memory.h"
#include "sim/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define DIR "calib/a100-40gb"

static void near(double a, double b)
{
	if (!(fabs(a - b) < 1e-9))
		fail_msg("%.12g instead of %.12g", a, b);
}

static uint32_t least_memory(const struct ct_workload_model *m)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < m->n; i++)
		least = m->profile[i].fb_mib < least ? m->profile[i].fb_mib : least;
	return least;
}

/* Share of the pairs of workloads that fit 40 GB at all; the smallest memory of Table 2 is there
 * at every sequence length. */
static double fitting(const struct ct_profiles *set)
{
	double n = 0;

	for (uint32_t i = 0; i < set->n_models; i++)
		for (uint32_t j = 0; j < set->n_models; j++)
			n += least_memory(&set->model[i]) + least_memory(&set->model[j]) <= 40960 - 512;
	return n / (set->n_models * set->n_models);
}

/* Nobody asks for anything: S = 1 + m of all, so 2 / (1 + m) of a pair, (n + 1) / (1 + m)
 * against n of a gang. With m = .2: 1.67, never less than one alone; 9 / 1.2 = 7.5 < 8, 5 / 1.2 =
 * 4.2 > 4, 3 / 1.2 = 2.5 > 2. Choices do not matter to S: the blind one is the best. */
static void a_world_of_overhead_alone(void **state)
{
	struct ct_slowdown_params p = ct_slowdown_published();
	struct ct_profiles *set;
	struct ct_iac_expected e;
	struct ct_err err = { 0 };

	(void)state;
	assert_int_equal(ct_profiles_load(DIR, &set, &err), 0);
	p.m = .2;
	for (int r = 0; r < CT_RESOURCES; r++)
		p.c[r] = 1e30;
	e = ct_iac_expect(set, &p);
	near(e.least, 2 / 1.2);
	near(e.losing[0], 0);
	near(e.losing[1], 0);
	near(e.losing[2], 0);
	near(e.losing[3], 1);
	near(e.losing_default, 0);
	near(e.informed, e.blind);
	assert_true(e.matched >= e.informed && e.matched <= 2 / 1.2);
	p.m = 1.5; /* 2 / 2.5 = .8: all pairs lose, and alone is best */
	e = ct_iac_expect(set, &p);
	near(e.losing[0], 1);
	near(e.losing_default, 1);
	near(e.informed, 1);
	near(e.matched, 1);
	near(e.blind_losing, fitting(set));
	ct_profiles_free(set);
}

/* A request of the default's lengths needs its sequence length. */
static int fits_lengths(const struct ct_profiles *set, uint32_t i)
{
	const struct ct_workload_model *m = &set->model[set->profile[i].workload];

	return m->train || set->profile[i].seqlen >= m->profile[m->default_profile].seqlen;
}

/* Pairs of the 12 workloads whose configurations fit 40 GB less 512 MiB together, counted
 * from the profiles one by one. */
static void pairs_are_those_that_fit(void **state)
{
	struct ct_slowdown_params p = ct_slowdown_published();
	struct ct_profiles *set;
	struct ct_iac_expected e;
	struct ct_err err = { 0 };
	size_t n = 0;

	(void)state;
	assert_int_equal(ct_profiles_load(DIR, &set, &err), 0);
	for (uint32_t i = 0; i < set->n_profiles; i++)
		for (uint32_t j = 0; j < set->n_profiles; j++)
			n += fits_lengths(set, i) && fits_lengths(set, j) &&
			     set->profile[i].fb_mib + set->profile[j].fb_mib <= 40960 - 512;
	e = ct_iac_expect(set, &p);
	assert_int_equal(e.pairs, n);
	assert_true(e.informed >= e.blind && e.matched >= e.informed);
	ct_profiles_free(set);
}

/* Every permutation by recursion. */
static double every(const double *w, size_t n, size_t row, unsigned used)
{
	double best = row < n ? -1 : 0;

	for (size_t j = 0; j < n; j++)
		if (row < n && !(used >> j & 1)) {
			double x = w[row * n + j] + every(w, n, row + 1, used | 1u << j);

			best = x > best ? x : best;
		}
	return best;
}

static void the_heaviest_matching(void **state)
{
	/* 1 with 2 is best by itself, but 1 with 3 and 2 with 4 do more together. */
	static const double four[] = { 0, 10, 9, 0, 10, 0, 0, 9, 9, 0, 0, 1, 0, 9, 1, 0 };
	struct ct_stream s;
	double w[49];

	(void)state;
	near(ct_iac_matching(four, 4), 9);
	near(ct_iac_matching((const double[]){ 3 }, 1), 3);
	ct_stream_init(&s, 1, CT_RANDOM_TEST, 77);
	for (int r = 0; r < 50; r++) {
		for (size_t i = 0; i < 7; i++)
			for (size_t j = 0; j <= i; j++)
				w[i * 7 + j] = w[j * 7 + i] = gsl_rng_uniform(&s.rng);
		near(ct_iac_matching(w, 7), every(w, 7, 0, 0) / 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_world_of_overhead_alone),
		cmocka_unit_test(pairs_are_those_that_fit),
		cmocka_unit_test(the_heaviest_matching),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
