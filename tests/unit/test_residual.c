/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frozen residual of the truth: log-normal with the sd of its type, drawn once for
 * each ordered pair of configurations, keyed by the seed. */
#include "calib/truth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const model[] = { "ResNet-50", "BERT", "Transformer", "LSTM", "DeepSeek-1.5b", "Qwen-1.7b" };
enum { MODELS = sizeof model / sizeof *model, MOST = 200000 };

static struct ct_workload *work;

static int enter(void **state)
{
	struct ct_err err = { 0 };

	(void)state;
	work = ct_workload_new();
	for (uint32_t i = 0; i < MODELS; i++) {
		struct ct_job j = CT_JOB_INIT;
		char id[2] = { (char)('a' + i), 0 };

		j.id = ct_workload_text(work, id, 1);
		j.duration_us = CT_SECOND;
		j.model = ct_strings_add(&work->strings, model[i], strlen(model[i]));
		ct_workload_add(work, &j);
	}
	return ct_workload_seal(work, &err);
}

static int leave(void **state)
{
	(void)state;
	ct_workload_free(work);
	return 0;
}

static struct ct_truth *truth(uint64_t seed, int residual)
{
	const struct ct_truth_options o = { .dir = "calib/a100-40gb", .seed = seed, .residual = residual };
	struct ct_truth *t = NULL;
	struct ct_err err = { 0 };

	if (ct_truth_new(&o, work, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

struct drawn {
	double *to, *back; /* log residual of a beside b, and of b beside a */
	size_t n;
};

/* The specification's levels. */
static const double sigma[CT_COLOCS] = { .01, .075, .06 };

/* All pairs of one type whose bare slow-down is so far above 1 that the floor does not
 * cut: five sd. */
static void draw(struct ct_truth *noisy, struct ct_truth *bare, enum ct_coloc type, struct drawn *out)
{
	const struct ct_family *const *f = ct_truth_families(bare);
	struct ct_contention c = ct_truth_contention(noisy), d = ct_truth_contention(bare);

	out->to = calloc(MOST, sizeof *out->to);
	out->back = calloc(MOST, sizeof *out->back);
	out->n = 0;
	assert_true(out->to && out->back);
	for (uint32_t i = 0; i < MODELS; i++)
		for (uint32_t j = i + 1; j < MODELS; j++)
			for (uint32_t p = 0; p < f[i]->n; p++)
				for (uint32_t q = 0; q < f[j]->n && out->n < MOST; q++) {
					struct ct_contender a = { .job = i, .config = p },
							    b = { .job = j, .config = q };
					double s = 1 / d.factor(d.state, &a, &b), r = 1 / d.factor(d.state, &b, &a);

					if (ct_coloc_type(&ct_truth_profiles(bare, i)[p],
							  &ct_truth_profiles(bare, j)[q]) != type ||
					    s < exp(5 * sigma[type]) || r < exp(5 * sigma[type]))
						continue;
					out->to[out->n] = log(1 / c.factor(c.state, &a, &b) / s);
					out->back[out->n++] = log(1 / c.factor(c.state, &b, &a) / r);
				}
	assert_true(out->n > 300);
}

static void drop(struct drawn *d)
{
	free(d->to);
	free(d->back);
}

/* Two-sided tests at 1e-5. */
static void mean_and_sd_by_type(void **state)
{
	struct ct_truth *noisy = truth(7, 1), *bare = truth(7, 0);

	(void)state;
	for (int type = 0; type < CT_COLOCS; type++) {
		struct drawn d;
		double n, sum;

		draw(noisy, bare, (enum ct_coloc)type, &d);
		n = (double)d.n;
		assert_true(fabs(gsl_stats_mean(d.to, 1, d.n)) < 4.42 * sigma[type] / sqrt(n));
		sum = (n - 1) * gsl_stats_variance(d.to, 1, d.n) / (sigma[type] * sigma[type]);
		assert_true(gsl_cdf_chisq_P(sum, n - 1) > 5e-6 && gsl_cdf_chisq_Q(sum, n - 1) > 5e-6);
		/* normal: kurtosis 0 with a standard error of sqrt(24 / n) */
		assert_true(fabs(gsl_stats_kurtosis(d.to, 1, d.n)) < 5 * sqrt(24 / n));
		assert_true(fabs(gsl_stats_skew(d.to, 1, d.n)) < 5 * sqrt(6 / n));
		drop(&d);
	}
	ct_truth_free(noisy);
	ct_truth_free(bare);
}

/* What a does to b says nothing about what b does to a; another seed is another world. */
static void sides_and_seeds_are_independent(void **state)
{
	struct ct_truth *one = truth(7, 1), *other = truth(8, 1), *bare = truth(7, 0);
	struct drawn d, e;

	(void)state;
	draw(one, bare, CT_COLOC_TI, &d);
	draw(other, bare, CT_COLOC_TI, &e);
	assert_true(fabs(gsl_stats_correlation(d.to, 1, d.back, 1, d.n)) < 4.42 / sqrt((double)d.n));
	assert_true(fabs(gsl_stats_correlation(d.to, 1, e.to, 1, d.n)) < 4.42 / sqrt((double)d.n));
	drop(&d);
	drop(&e);
	ct_truth_free(one);
	ct_truth_free(other);
	ct_truth_free(bare);
}

static void frozen(void **state)
{
	struct ct_truth *one = truth(7, 1), *again = truth(7, 1), *bare = truth(7, 0);
	struct drawn d, e;

	(void)state;
	draw(one, bare, CT_COLOC_II, &d);
	draw(again, bare, CT_COLOC_II, &e);
	assert_int_equal(d.n, e.n);
	assert_memory_equal(d.to, e.to, d.n * sizeof *d.to);
	assert_memory_equal(d.back, e.back, d.n * sizeof *d.back);
	drop(&d);
	drop(&e);
	ct_truth_free(one);
	ct_truth_free(again);
	ct_truth_free(bare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_and_sd_by_type),
		cmocka_unit_test(sides_and_seeds_are_independent),
		cmocka_unit_test(frozen),
	};

	gsl_set_error_handler_off();
	return cmocka_run_group_tests(tests, enter, leave);
}
