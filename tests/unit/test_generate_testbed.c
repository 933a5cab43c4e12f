/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The testbed's day: laws that its assumptions state (normal quantiles, weights x
 * count^tilt, a sine's integral) against counts over a large workload, and that
 * scenarios share their randomness. */
#include "traces/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

static const struct ct_generate_options ask = {
	.days = 1, .gpus = 20000, .load = 1, .seed = 11, .constants = "traces/data/testbed.csv"
};

static struct ct_workload *make(struct ct_generate_options o)
{
	struct ct_workload *w = NULL;
	struct ct_err err = { 0 };

	if (ct_generate(ct_generator_find("testbed"), &o, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static int is_train(const struct ct_workload *w, size_t i)
{
	for (size_t c = 0; c < w->n_columns; c++)
		if (strcmp(w->columns[c].name, "kind") == 0)
			return strcmp(ct_strings_text(&w->strings, w->columns[c].value[i]), "train") == 0;
	fail_msg("no kind");
	return 0;
}

/* Four standard errors of a share. */
static void assert_share(double got, double want, double n)
{
	if (fabs(got - want) > 4 * sqrt(want * (1 - want) / n))
		fail_msg("share %g, wanted %g (n = %g)", got, want, n);
}

/* Log-normal: Phi(1) of the run times lie below median x exp(sigma). */
static void test_run_times(void **state)
{
	struct ct_generate_options o = ask;
	const double phi1 = 0.8413447460685429;

	(void)state;
	for (int k = 0; k < 2; k++) {
		double sigma = k ? 0.8 : 1.3, below = 0;
		struct ct_workload *w;

		o.spread = k ? 0.8 : 0;
		w = make(o);
		for (size_t i = 0; i < w->n; i++)
			below += ct_seconds(w->jobs[i].duration_us) < 3641 * exp(sigma);
		assert_share(below / (double)w->n, phi1, (double)w->n);
		ct_workload_free(w);
	}
}

static void test_gpu_counts(void **state)
{
	static const double weight[4] = { .50, .20, .18, .12 };
	struct ct_generate_options o = ask;

	(void)state;
	for (int k = -1; k <= 1; k++) {
		double n[4] = { 0 }, total = 0, sum = 0;
		struct ct_workload *w;

		o.tilt = k;
		w = make(o);
		for (size_t i = 0; i < w->n; i++)
			if (is_train(w, i)) {
				n[(int)lround(log2(w->jobs[i].num_gpus))]++;
				total++;
			}
		for (int c = 0; c < 4; c++)
			sum += weight[c] * pow(1 << c, k);
		for (int c = 0; c < 4; c++)
			assert_share(n[c] / total, weight[c] * pow(1 << c, k) / sum, total);
		ct_workload_free(w);
	}
}

/* The rate is 1 + a cos(2 pi (hour - 14) / 24) of its mean, a = 1/2; from 8:00 on the
 * cosine's first twelve hours are its positive half wave, whose mean is 2/pi: these
 * hours hold 1/2 + a/pi of the arrivals. */
static void test_arrivals(void **state)
{
	struct ct_workload *w = make(ask);
	double first = 0;

	(void)state;
	for (size_t i = 0; i < w->n; i++)
		first += w->jobs[i].submit_us < 12 * 3600 * CT_SECOND;
	assert_share(first / (double)w->n, .5 + .5 / M_PI, (double)w->n);
	ct_workload_free(w);
}

/* Half the load: a subset of the same jobs, at the same times. */
static void test_common_random_numbers(void **state)
{
	struct ct_generate_options o = ask;
	struct ct_workload *w = make(ask), *half;
	double work = 0;
	size_t at = 0;

	(void)state;
	o.load = .5;
	half = make(o);
	for (size_t i = 0; i < half->n; i++) {
		const struct ct_job *j = &half->jobs[i];

		while (at < w->n && strcmp(w->jobs[at].id, j->id) != 0)
			at++;
		assert_true(at < w->n);
		assert_int_equal(w->jobs[at].submit_us, j->submit_us);
		assert_int_equal(w->jobs[at].duration_us, j->duration_us);
		assert_int_equal(w->jobs[at].num_gpus, j->num_gpus);
		work += ct_seconds(j->duration_us) * j->num_gpus;
	}
	assert_true(fabs(work / (.5 * 20000 * 86400) - 1) < 1e-3);
	ct_workload_free(w);
	ct_workload_free(half);
}

/* A change of the constants is what a changed file would be. */
static void test_changes(void **state)
{
	struct ct_generate_options o = ask;
	struct ct_workload *w, *plain = make(ask);
	double train = 0;

	(void)state;
	o.change = "";
	w = make(o);
	assert_int_equal(w->n, plain->n);
	assert_string_equal(w->digest, plain->digest);
	ct_workload_free(w);
	ct_workload_free(plain);
	o.change = "infer_share=*0.8, train_gpus@2=0,train_gpus@4=0, train_gpus@8=0,infer_gpus@2=0";
	w = make(o);
	for (size_t i = 0; i < w->n; i++) {
		train += is_train(w, i);
		assert_int_equal(w->jobs[i].num_gpus, 1);
	}
	assert_share(train / (double)w->n, 1 - .8 * .35, (double)w->n);
	ct_workload_free(w);
}

static void test_wrong_changes(void **state)
{
	static const struct {
		const char *change, *message;
	} wrong[] = { { "infer=2", "no row 'infer' to change" },
		      { "train_gpus@3=1", "no row 'train_gpus' at '3' to change" },
		      { "infer_share", "wants NAME=VALUE" },
		      { "infer_share=", "wants NAME=VALUE" },
		      { "=1", "wants NAME=VALUE" },
		      { "infer_share=1,,", "wants NAME=VALUE" },
		      { "infer_share=**2", "wants NAME=VALUE" },
		      { "infer_share=1e999", "wants NAME=VALUE" },
		      { "infer_share=*9", "0 <= infer_share <= 1" },
		      { "train_model=0", "weights of at least 0, not all 0" },
		      { "train_gpus@1=-1", "weights of at least 0, not all 0" } };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ct_generate_options o = ask;
		struct ct_workload *w = NULL;
		struct ct_err err = { 0 };

		o.change = wrong[i].change;
		assert_int_equal(ct_generate(ct_generator_find("testbed"), &o, &w, &err), CT_ECONFIG);
		if (!strstr(err.text, wrong[i].message))
			fail_msg("'%s': %s", wrong[i].change, err.text);
	}
}

static void test_refusals(void **state)
{
	struct ct_generate_options o[] = { ask, ask, ask, ask };

	(void)state;
	o[0].gpus = 0;
	o[1].jobs = 5;
	o[2].spread = 9;
	o[3].tilt = -9;
	for (int i = 0; i < 4; i++) {
		struct ct_workload *w = NULL;
		struct ct_err err = { 0 };

		assert_int_equal(ct_generate(ct_generator_find("testbed"), &o[i], &w, &err), CT_ECONFIG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_times),
		cmocka_unit_test(test_gpu_counts),
		cmocka_unit_test(test_arrivals),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_wrong_changes),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_common_random_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
