/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Features and generated sets. tests/data/calib/features36.csv and
 * coloc_dataset_sample.csv (every 20th row of a set) come from an independent Python
 * prototype, written for this project. */
#include "calib/dataset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define assert_near(got, want, within) assert_true(fabs((got) - (want)) <= (within))

static struct ct_profiles *set;
static struct ct_slowdown_params truth;

static int load(void **state)
{
	struct ct_err err = { 0 };

	(void)state;
	truth = ct_slowdown_published();
	return ct_profiles_load("calib/a100-40gb", &set, &err);
}

static int unload(void **state)
{
	(void)state;
	ct_profiles_free(set);
	return 0;
}

static void names_and_order(void **state)
{
	struct ct_err err = { 0 };
	struct ct_csv *c;
	int i = -1;

	(void)state;
	assert_int_equal(ct_csv_open("tests/data/calib/features36.csv", ',', &c, &err), 0);
	for (; ct_csv_next(c, &err) == 1; i++)
		if (i >= 0)
			assert_string_equal(ct_csv_field(c, 1).s, ct_feature_name[i]);
	assert_int_equal(i, CT_FEATURES);
	ct_csv_close(c);
}

static double cell(struct ct_csv *c, size_t i)
{
	double v = NAN;

	assert_int_equal(ct_parse_f64(ct_csv_field(c, i).s, ct_csv_field(c, i).n, &v), 0);
	return v;
}

/* The prototype's pairwise features from its job features; both have five digits, and
 * the means of rounded counters are off by at most half a digit. */
static void pairwise_features_as_the_prototype(void **state)
{
	struct ct_err err = { 0 };
	struct ct_csv *c;
	int rows = 0;

	(void)state;
	assert_int_equal(ct_csv_open("tests/data/calib/coloc_dataset_sample.csv", ',', &c, &err), 0);
	assert_int_equal(ct_csv_next(c, &err), 1);
	for (; ct_csv_next(c, &err) == 1; rows++) {
		double job[2 * CT_JOB_FEATURES], x[CT_FEATURES];

		for (size_t i = 0; i < 2 * CT_JOB_FEATURES; i++)
			job[i] = cell(c, i);
		ct_features_pair(job, job + CT_JOB_FEATURES, x);
		for (size_t i = 0; i < CT_FEATURES; i++)
			assert_near(x[i], cell(c, i), 1e-3 * fabs(x[i]) + 1e-4);
		assert_string_equal(ct_csv_field(c, 36).s,
				    ct_features_type(job, job + CT_JOB_FEATURES) == CT_PAIR_TT   ? "TT"
				    : ct_features_type(job, job + CT_JOB_FEATURES) == CT_PAIR_TI ? "TI"
												 : "II");
	}
	assert_int_equal(rows, 55);
	ct_csv_close(c);
}

/* What a job does not have is 0; errors of observation are small, frozen and not in the memory. */
static void job_features(void **state)
{
	struct ct_observation seen = { 1, .03 }, other = { 2, .03 };
	double x[CT_JOB_FEATURES], y[CT_JOB_FEATURES], z[CT_JOB_FEATURES], sum = 0;

	(void)state;
	for (uint32_t i = 0; i < set->n_profiles; i++) {
		const struct ct_profile *p = &set->profile[i];

		ct_features_job(p, i, NULL, x);
		assert_near(x[0], p->sm_active, 0);
		assert_near(x[3], p->fb_mib, 0);
		assert_near(pow(10, x[7]), p->throughput, 1e-9 * p->throughput);
		for (int k = 8; k < 11; k++)
			assert_true(p->train || x[k] == 0);
		for (int k = 11; k < 14; k++)
			assert_true(!p->train || x[k] == 0);
		ct_features_job(p, i, &seen, y);
		ct_features_job(p, i, &seen, z);
		assert_memory_equal(y, z, sizeof y);
		ct_features_job(p, i, &other, z);
		assert_true(y[0] != z[0]);
		assert_near(y[3], x[3], 0);
		sum += pow(log(y[0] / x[0]), 2);
	}
	/* The sd of 768 draws is within 10 % of 3 % (four standard errors). */
	assert_near(sqrt(sum / set->n_profiles), .03, .003);
}

static void composition_of_the_paper(void **state)
{
	struct ct_dataset_options o = ct_dataset_defaults(1);
	size_t variants[2] = { 0 }, by_type[CT_PAIR_TYPES] = { 0 };
	struct ct_dataset d;

	(void)state;
	ct_dataset_make(&o, set, &truth, &d);
	assert_int_equal(d.samples.n, 1088);
	for (size_t i = 0; i < d.samples.n; i++)
		by_type[d.samples.row[i].type]++;
	assert_int_equal(by_type[CT_PAIR_TT], 384);
	assert_int_equal(by_type[CT_PAIR_TI], 512);
	assert_int_equal(by_type[CT_PAIR_II], 192);
	/* 39 x 40 / 2, 39 x 27, 27 x 28 / 2: all fit 79.5 GB. */
	assert_int_equal(d.possible[CT_PAIR_TT], 780);
	assert_int_equal(d.possible[CT_PAIR_TI], 1053);
	assert_int_equal(d.possible[CT_PAIR_II], 378);
	for (uint32_t i = 0; i < set->n_profiles; i++)
		variants[set->profile[i].train] += d.used[i];
	assert_in_range(variants[1], 35, 39); /* of 448 ends, 39 variants: nearly all occur */
	assert_in_range(variants[0], 25, 27);
	ct_dataset_fini(&d);
}

/* Every pair comes twice, jobs exchanged, and no pair is drawn twice. */
static void two_samples_a_pair(void **state)
{
	struct ct_dataset_options o = ct_dataset_defaults(2);
	struct ct_dataset d;

	(void)state;
	ct_dataset_make(&o, set, &truth, &d);
	for (size_t i = 0; i < d.samples.n; i += 2) {
		const double *x = d.samples.x + i * CT_FEATURES, *y = x + CT_FEATURES;

		assert_int_equal(d.samples.row[i].pair, d.samples.row[i + 1].pair);
		assert_memory_equal(x, y + CT_JOB_FEATURES, CT_JOB_FEATURES * sizeof *x);
		assert_memory_equal(x + CT_JOB_FEATURES, y, CT_JOB_FEATURES * sizeof *x);
		for (size_t k = 0; k < i; k += 2)
			assert_int_not_equal(d.samples.row[i].pair, d.samples.row[k].pair);
	}
	ct_dataset_fini(&d);
}

/* log(measured / true) has the sd of its type where the floor at 1 is far. */
static void noise_by_type(void **state)
{
	double sum[CT_PAIR_TYPES] = { 0 }, n[CT_PAIR_TYPES] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct ct_dataset_options o = ct_dataset_defaults(seed);
		struct ct_dataset d;

		ct_dataset_make(&o, set, &truth, &d);
		for (size_t i = 0; i < d.samples.n; i++) {
			const struct ct_sample *r = &d.samples.row[i];

			assert_true(r->slowdown >= 1 && r->truth >= 1 + truth.m);
			if (r->truth > 1.3) {
				sum[r->type] += pow(log(r->slowdown / r->truth), 2);
				n[r->type]++;
			}
		}
		ct_dataset_fini(&d);
	}
	assert_near(sqrt(sum[CT_PAIR_TT] / n[CT_PAIR_TT]), .01, .001);
	assert_near(sqrt(sum[CT_PAIR_TI] / n[CT_PAIR_TI]), .075, .0075);
	assert_near(sqrt(sum[CT_PAIR_II] / n[CT_PAIR_II]), .06, .006);
}

/* On 40 GB: every pair fits, and what the variants lack comes from other configurations. */
static void only_pairs_that_fit(void **state)
{
	struct ct_dataset_options o = ct_dataset_defaults(1);
	struct ct_dataset d;
	struct ct_samples every, unseen;

	(void)state;
	o.memory_mib = 40 * 1024 - 512;
	ct_dataset_make(&o, set, &truth, &d);
	assert_int_equal(d.samples.n, 1088);
	for (size_t i = 0; i < d.samples.n; i++)
		assert_true(d.samples.x[i * CT_FEATURES + 3] + d.samples.x[i * CT_FEATURES + 17] <= 40448);
	for (int t = 0; t < CT_PAIR_TYPES; t++)
		assert_int_equal(d.topped_up[t], d.possible[t] < o.pairs[t] ? o.pairs[t] - d.possible[t] : 0);
	ct_dataset_every(&o, set, &truth, NULL, &every);
	ct_dataset_every(&o, set, &truth, d.used, &unseen);
	assert_true(unseen.n > 1000 && unseen.n < every.n && every.n < 768 * 768);
	ct_samples_fini(&every);
	ct_samples_fini(&unseen);
	ct_dataset_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_order),     cmocka_unit_test(pairwise_features_as_the_prototype),
		cmocka_unit_test(job_features),        cmocka_unit_test(composition_of_the_paper),
		cmocka_unit_test(two_samples_a_pair),  cmocka_unit_test(noise_by_type),
		cmocka_unit_test(only_pairs_that_fit),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
