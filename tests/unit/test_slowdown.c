/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The weighted-stretch model against vectors that an independent program made
 * (tests/data/calib/test_vectors.csv), and its properties on random pairs. */
#include "calib/slowdown.h"

#include "calib/csv_table.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SM_I, OCC_I, DRAM_I, TC_I, HOST_I, W_I, SM_J, OCC_J, DRAM_J, TC_J, HOST_J, W_J, S_I, S_J, COLUMNS };
static const char *const columns[COLUMNS] = { "sm_i",  "occ_i",  "dram_i", "tc_i",   "host_i", "w_i", "sm_j",
					      "occ_j", "dram_j", "tc_j",   "host_j", "w_j",    "S_i", "S_j" };

static double number(const struct ct_table *t, size_t c)
{
	return strtod(ct_table_cell(t, c).s, NULL);
}

static struct ct_profile profile(const struct ct_table *t, size_t first)
{
	return (struct ct_profile){
		.sm_active = number(t, first),
		.sm_occupancy = number(t, first + 1),
		.dram_active = number(t, first + 2),
		.tensor_active = number(t, first + 3),
		.host = number(t, first + 4),
		.weight = number(t, first + 5),
	};
}

static void near(double got, double want)
{
	if (fabs(got - want) > 1e-9 * want)
		fail_msg("got %.12f, the other program says %.12f", got, want);
}

/* The vectors were made with 1e-9 added to each z. */
static void vectors_of_the_other_program(void **state)
{
	struct ct_slowdown_params s = ct_slowdown_published();
	struct ct_err err = { 0 };
	struct ct_table t;
	int rows = 0;

	(void)state;
	s.guard = 1e-9;
	assert_int_equal(
	    ct_table_open(&t, "tests/data/calib/test_vectors.csv", columns, COLUMNS, CT_TABLE_KEEP_UNKNOWN, &err), 0);
	for (; ct_table_next(&t) == 1; rows++) {
		struct ct_profile i = profile(&t, SM_I), j = profile(&t, SM_J);

		near(ct_slowdown(&s, &i, &j), number(&t, S_I));
		near(ct_slowdown(&s, &j, &i), number(&t, S_J));
	}
	assert_int_equal(ct_table_close(&t), 0);
	assert_int_equal(rows, 32);
}

static double draw(struct ct_stream *k)
{
	return gsl_rng_uniform(&k->rng);
}

static struct ct_profile random_profile(struct ct_stream *k)
{
	struct ct_profile p = { .sm_active = draw(k), .sm_occupancy = draw(k), .dram_active = draw(k) };

	p.tensor_active = draw(k);
	p.host = draw(k);
	p.weight = 0.1 + 2 * draw(k);
	return p;
}

static double *demand_of(struct ct_profile *p, int r)
{
	double *const at[] = { &p->sm_active, &p->tensor_active, &p->dram_active, &p->sm_occupancy, &p->host };

	return at[r];
}

static void properties_on_random_pairs(void **state)
{
	struct ct_slowdown_params s = ct_slowdown_published();
	struct ct_stream k;

	(void)state;
	ct_stream_init(&k, 7, CT_RANDOM_TEST, 0);
	for (int n = 0; n < 20000; n++) {
		struct ct_profile i = random_profile(&k), j = random_profile(&k), idle = { .weight = j.weight };
		struct ct_demand di = ct_slowdown_demand(&s, &i), dj = ct_slowdown_demand(&s, &j);
		double si = ct_slowdown(&s, &i, &j), sj = ct_slowdown(&s, &j, &i);
		double *more = demand_of(&j, n % 5);

		assert_true(si >= 1 + s.m && sj >= 1 + s.m);
		assert_true(ct_slowdown(&s, &i, &idle) == 1 + s.m);
		/* swap symmetry: the two directions are one function with the roles changed */
		assert_true(ct_slowdown_of(&s, &di, &dj, CT_RESOURCES) == si);
		assert_true(ct_slowdown_of(&s, &dj, &di, CT_RESOURCES) == sj);
		*more += (1 - *more) * draw(&k);
		assert_true(ct_slowdown(&s, &i, &j) >= si - 1e-12);
		/* a heavier partner takes more */
		j.weight *= 1 + draw(&k);
		assert_true(ct_slowdown(&s, &i, &j) >= si - 1e-12);
	}
}

/* Sharing may not waste the GPU: what two real configurations keep together is
 * near 1 or more (Gavel's V100 and P100 pairs: at least 0.93). */
static void pairs_of_profiles_keep_the_gpu_busy(void **state)
{
	struct ct_slowdown_params s = ct_slowdown_published();
	struct ct_profiles *set;
	struct ct_err err = { 0 };
	struct ct_stream k;

	(void)state;
	assert_int_equal(ct_profiles_load("calib/a100-40gb", &set, &err), 0);
	ct_stream_init(&k, 8, CT_RANDOM_TEST, 0);
	for (int n = 0; n < 20000; n++) {
		const struct ct_profile *i = &set->profile[gsl_rng_uniform_int(&k.rng, set->n_profiles)];
		const struct ct_profile *j = &set->profile[gsl_rng_uniform_int(&k.rng, set->n_profiles)];

		assert_true(1 / ct_slowdown(&s, i, j) + 1 / ct_slowdown(&s, j, i) >= 0.95);
	}
	ct_profiles_free(set);
}

/* ---- the heat map of another program: pair means of 28 variants, three decimals */

enum { VARIANTS = 28 };

static const struct ct_profile *variant(const struct ct_profiles *set, const char *label)
{
	static const struct {
		const char *suffix;
		int ckpt, amp, prefix;
	} kind[] = {
		{ "def", 0, 0, 0 }, { "CK", 1, 0, 0 }, { "AMP", 0, 1, 0 }, { "AMPCK", 1, 1, 0 }, { "PC", 0, 0, 1 }
	};
	const char *slash = strchr(label, '/');
	const struct ct_workload_model *m;
	char name[32];

	assert_non_null(slash);
	memcpy(name, label, (size_t)(slash - label));
	name[slash - label] = '\0';
	m = ct_profiles_find(set, name);
	assert_non_null(m);
	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
		for (uint32_t i = 0; !strcmp(kind[k].suffix, slash + 1) && i < m->n; i++) {
			const struct ct_profile *p = &m->profile[i], *d = &m->profile[m->default_profile];

			if (p->batch == d->batch && p->seqlen == d->seqlen && fabs(p->mu - d->mu) < 1e-9 &&
			    p->ckpt == kind[k].ckpt && p->amp == kind[k].amp && p->prefix == kind[k].prefix)
				return p;
		}
	fail_msg("no variant %s", label);
	return NULL;
}

static void heat_map_of_the_other_program(void **state)
{
	struct ct_slowdown_params s = ct_slowdown_published();
	const struct ct_profile *v[VARIANTS];
	struct ct_profiles *set;
	struct ct_csv *c;
	struct ct_err err = { 0 };
	int row = 0;

	(void)state;
	assert_int_equal(ct_profiles_load("calib/a100-40gb", &set, &err), 0);
	assert_int_equal(ct_csv_open("tests/data/calib/heatmap_fig9.csv", ',', &c, &err), 0);
	assert_int_equal(ct_csv_next(c, &err), 1);
	assert_int_equal(ct_csv_fields(c), VARIANTS + 1);
	for (int i = 0; i < VARIANTS; i++)
		v[i] = variant(set, ct_csv_field(c, (size_t)i + 1).s);
	for (; ct_csv_next(c, &err) == 1; row++)
		for (int i = 0; i < VARIANTS; i++) {
			double want = strtod(ct_csv_field(c, (size_t)i + 1).s, NULL);
			double got = (1 / ct_slowdown(&s, v[row], v[i]) + 1 / ct_slowdown(&s, v[i], v[row])) / 2;

			assert_true(fabs(got - want) <= 0.00051);
		}
	assert_int_equal(row, VARIANTS);
	ct_csv_close(c);
	ct_profiles_free(set);
}

/* Two equal jobs that each saturate one resource alone: each gets half of it, so
 * with p, q large and soft clip hard, S -> 2 + m: processor sharing. */
static void two_full_jobs_halve(void **state)
{
	struct ct_slowdown_params s = ct_slowdown_published();
	struct ct_demand full = { .a = { 0, 1, 0, 0 }, .weight = 1 }, none = { .weight = 1 };

	(void)state;
	s.p = 400;
	assert_true(fabs(ct_slowdown_of(&s, &full, &full, CT_RESOURCES) - (2 + s.m)) < 0.01);
	assert_true(ct_slowdown_of(&s, &none, &full, CT_RESOURCES) == 1 + s.m);
}

static void memory_is_a_rule_of_its_own(void **state)
{
	struct ct_workload_knobs k = { .gpu_mem_mib = 40960, .reserve_mib = 512 };
	struct ct_profile bert = { .fb_mib = 24576 }, resnet = { .fb_mib = 14336 }, small = { .fb_mib = 15872 };

	(void)state;
	assert_true(ct_slowdown_fits(&k, &bert, &resnet)); /* the paper's case 1: 38 GB */
	assert_true(ct_slowdown_fits(&k, &bert, &small));
	small.fb_mib++;
	assert_false(ct_slowdown_fits(&k, &bert, &small));
	assert_false(ct_slowdown_fits(&k, &bert, &bert));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_of_the_other_program),
		cmocka_unit_test(properties_on_random_pairs),
		cmocka_unit_test(pairs_of_profiles_keep_the_gpu_busy),
		cmocka_unit_test(heat_map_of_the_other_program),
		cmocka_unit_test(two_full_jobs_halve),
		cmocka_unit_test(memory_is_a_rule_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
