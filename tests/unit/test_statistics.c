/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics against tables, textbook examples and brute force. Coverage stands in
 * tests/oracle/test_coverage.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/fairness.h"
#include "experiments/statistics.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

static void near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.12g, wanted %.12g", got, want);
}

/* Law, Simulation Modeling and Analysis, example 4.26: ten values, mean 1.34, variance
 * 0.17, 90 % interval 1.34 +- 0.24. */
static void mean_interval_of_laws_example(void **state)
{
	static const double v[] = { 1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09 };
	struct ct_estimate e = ct_mean_interval(v, 10, 0.90);

	(void)state;
	near(e.value, 1.34, 0.005);
	near(e.sd * e.sd, 0.17, 0.005);
	near(e.hi - e.value, 0.24, 0.005);
	near(e.value - e.lo, 0.24, 0.005);
	assert_int_equal(e.n, 10);
}

/* t(0.975, 4) = 2.7764 (any table); 1..5 has mean 3, variance 2.5. */
static void prediction_is_wider_by_the_next_runs_own_noise(void **state)
{
	static const double v[] = { 1, 2, 3, 4, 5 };
	struct ct_estimate e = ct_prediction_interval(v, 5, 0.95);

	(void)state;
	near(e.hi, 3 + 2.7764 * sqrt(2.5 * 1.2), 1e-3);
	near(e.lo, 3 - 2.7764 * sqrt(2.5 * 1.2), 1e-3);
}

static void what_cannot_be_said_is_not_a_number(void **state)
{
	static const double one[] = { 4 }, bad[] = { 1, NAN, 3 }, same[] = { 0.1, 0.1, 0.1 };
	struct ct_estimate e = ct_mean_interval(one, 1, 0.95);

	(void)state;
	near(e.value, 4, 0);
	assert_true(isnan(e.sd) && isnan(e.lo) && isnan(e.hi));
	e = ct_mean_interval(NULL, 0, 0.95);
	assert_true(isnan(e.value) && isnan(e.lo));
	e = ct_mean_interval(bad, 3, 0.95);
	assert_true(isnan(e.value) && isnan(e.lo));
	e = ct_mean_interval(same, 3, 0.95); /* 0.1 + 0.1 + 0.1 is not 0.3 */
	assert_true(e.value == 0.1 && e.sd == 0 && e.lo == 0.1 && e.hi == 0.1);
	e = ct_quantile_interval(bad, 3, 0.5, 0.95);
	assert_true(isnan(e.value) && isnan(e.lo));
	assert_int_equal(ct_paired_compare(bad, same, 3, 0.95).verdict, CT_UNDECIDED);
	assert_int_equal(ct_paired_compare(same, same, 1, 0.95).verdict, CT_UNDECIDED);
	assert_true(isnan(ct_batch_means(bad, 3, 0.95).mean.value));
}

/* Exact levels of the sign test's interval: n = 6 the extremes, 1 - 2 / 64; n = 10 ranks 2
 * and 9, 0.9785; n = 15 ranks 4 and 12, 0.9648 (Conover, Practical Nonparametric
 * Statistics, table A3). */
static void median_by_order_statistics(void **state)
{
	static const struct {
		size_t n;
		double lo, hi, level;
	} want[] = { { 6, 1, 6, 0.96875 }, { 10, 2, 9, 0.9785 }, { 15, 4, 12, 0.9648 } };
	double v[15];

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct ct_estimate e;

		for (size_t i = 0; i < want[k].n; i++)
			v[i] = (double)(want[k].n - i); /* any order */
		e = ct_quantile_interval(v, want[k].n, 0.5, 0.95);
		near(e.value, (double)(want[k].n + 1) / 2, 1e-12);
		near(e.lo, want[k].lo, 0);
		near(e.hi, want[k].hi, 0);
		near(e.level, want[k].level, 5e-5);
	}
	assert_true(isnan(ct_quantile_interval(v, 5, 0.5, 0.95).lo));
}

/* P(l <= B <= u - 1) summed term by term. */
static double term_by_term(size_t l, size_t u, size_t n, double q)
{
	double sum = 0;

	for (size_t k = l; k < u; k++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) +
			   (double)k * log(q) + (double)(n - k) * log(1 - q));
	return sum;
}

/* Every pair of ranks is tried: none with fewer ranks reaches the level, none with as
 * many reaches more. */
static void quantile_ranks_are_the_best(void **state)
{
	static const double quantile[] = { 0.05, 0.25, 0.5, 0.9, 0.95 };
	double v[80];

	(void)state;
	for (size_t i = 0; i < 80; i++)
		v[i] = (double)i + 1;
	for (size_t n = 1; n <= 80; n += 3)
		for (size_t k = 0; k < 5; k++) {
			struct ct_estimate e = ct_quantile_interval(v, n, quantile[k], 0.95);
			double best = 0;
			size_t width = n;

			for (size_t w = 1; w < n && width == n; w++)
				for (size_t l = 1; l + w <= n; l++)
					if (term_by_term(l, l + w, n, quantile[k]) >= 0.95) {
						width = w;
						best = fmax(best, term_by_term(l, l + w, n, quantile[k]));
					}
			if (isnan(e.lo) ? width != n : width == n)
				fail_msg("n %zu, q %g: width %zu, lo %g", n, quantile[k], width, e.lo);
			if (width == n)
				continue;
			near(e.hi - e.lo, (double)width, 0);
			near(e.level, best, 1e-9);
			near(term_by_term((size_t)e.lo, (size_t)e.hi, n, quantile[k]), best, 1e-9);
		}
	assert_true(isnan(ct_quantile_interval(v, 58, 0.95, 0.95).lo));
	assert_true(ct_quantile_interval(v, 59, 0.95, 0.95).lo > 0);
}

/* By going up one by one. For large n the normal's: (1.96 sd / w)^2. */
static void runs_needed(void **state)
{
	(void)state;
	near((double)ct_runs_needed(1, 0.1, 0.95), 1.95996 * 1.95996 * 100, 3);
	assert_int_equal(ct_runs_needed(1, 9, 0.95), 2); /* t(1) / sqrt(2) = 8.98 */
	assert_int_equal(ct_runs_needed(1, 8.9, 0.95), 3);
	assert_int_equal(ct_runs_needed(0, 0, 0.95), 2);
	assert_int_equal(ct_runs_needed(1, 0, 0.95), 0);
	assert_int_equal(ct_runs_needed(NAN, 1, 0.95), 0);
	for (size_t n = 2; n < 40; n++) { /* the width that n runs just reach */
		double v[40], width;

		for (size_t i = 0; i < n; i++)
			v[i] = (double)(i % 3);
		width = ct_mean_interval(v, n, 0.95).hi - ct_mean_interval(v, n, 0.95).value;
		assert_int_equal(ct_runs_needed(ct_deviation(v, n), width * (1 + 1e-9), 0.95), n);
	}
}

/* Student's own example (sleep, 1908; in R `t.test(extra ~ group, paired = TRUE)`): mean
 * difference 1.58, 95 % interval 0.7001142 to 2.4598858. */
static void pairs_of_students_example(void **state)
{
	static const double a[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
	static const double b[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
	struct ct_paired p = ct_paired_compare(a, b, 10, 0.95);

	(void)state;
	near(p.mean.value, 1.58, 1e-12);
	near(p.mean.lo, 0.7001142, 1e-6);
	near(p.mean.hi, 2.4598858, 1e-6);
	near(p.effect, 4.062128 / sqrt(10), 1e-6); /* t / sqrt(n) */
	near(p.median.value, 1.3, 1e-12);
	near(p.median.lo, 0.8, 1e-9); /* ranks 2 and 9 of 0, 0.8, 1, 1.2, 1.3, 1.3, 1.4, 1.8, 2.4, 4.6 */
	near(p.median.hi, 2.4, 1e-9);
	assert_int_equal(p.n_equal, 1);
	assert_int_equal(p.n_lower, 0);
	assert_int_equal(p.verdict, CT_A_LOWER);
	assert_int_equal(p.median_verdict, CT_A_LOWER);
	p = ct_paired_compare(b, a, 10, 0.95);
	assert_int_equal(p.verdict, CT_B_LOWER);
	assert_int_equal(p.n_lower, 9);
	assert_int_equal(ct_paired_compare(b, a, 2, 0.95).verdict, CT_NO_DIFFERENCE_SHOWN);
}

/* Nine differences of 1 to 9 and one of 1000: t = 104.5 / 99.5, the median's interval
 * from rank 2 to 9. */
static void one_outlier_hides_the_mean_not_the_median(void **state)
{
	static const double a[10] = { 0 }, b[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 1000 };
	struct ct_paired p = ct_paired_compare(a, b, 10, 0.95);

	(void)state;
	assert_int_equal(p.verdict, CT_NO_DIFFERENCE_SHOWN);
	assert_int_equal(p.median_verdict, CT_A_LOWER);
	near(p.median.lo, 2, 0);
	near(p.median.hi, 9, 0);
	assert_int_equal(ct_paired_compare(a, b, 5, 0.95).median_verdict, CT_UNDECIDED);
}

static void equal_pairs_show_nothing(void **state)
{
	static const double a[] = { 3, 1, 2 }, b[] = { 5, 3, 4 };
	struct ct_paired p = ct_paired_compare(a, a, 3, 0.95);

	(void)state;
	assert_int_equal(p.verdict, CT_NO_DIFFERENCE_SHOWN);
	assert_true(p.effect == 0 && p.mean.lo == 0);
	p = ct_paired_compare(a, b, 3, 0.95); /* the same 2 every time */
	assert_int_equal(p.verdict, CT_A_LOWER);
	assert_true(isnan(p.effect) && p.mean.lo == 2);
}

/* The ends of Fieller's set are where the t test of b - r a is just refused; and where
 * mean(a) has no sign there are none. */
static void ratio_ends_are_where_the_test_turns(void **state)
{
	static const double a[] = { 10, 12, 9, 14, 11, 10 }, b[] = { 7, 9, 6, 9, 8, 8 };
	static const double weak[] = { -1, 2, -3, 3, 1, -1 };
	struct ct_estimate e = ct_ratio_interval(a, b, 6, 0.95);

	(void)state;
	near(e.value, 47.0 / 66, 1e-12);
	assert_true(e.lo < e.value && e.value < e.hi);
	for (int end = 0; end < 2; end++) {
		double d[6], r = end ? e.hi : e.lo;
		struct ct_estimate test;

		for (int i = 0; i < 6; i++)
			d[i] = b[i] - r * a[i];
		test = ct_mean_interval(d, 6, 0.95);
		near(end ? test.hi : test.lo, 0, 1e-9);
	}
	assert_true(isnan(ct_ratio_interval(weak, b, 6, 0.95).lo));
	e = ct_ratio_interval(a, a, 6, 0.95);
	near(e.lo, 1, 1e-6);
	near(e.hi, 1, 1e-6);
}

/* ---- series */

/* The definition, cut by cut. */
static size_t mser5_by_definition(const double *v, size_t n)
{
	size_t k = n / 5, best = 0;
	double least = INFINITY;

	for (size_t d = 0; d <= k / 2; d++) {
		double mean = 0, sum = 0;

		for (size_t i = 5 * d; i < 5 * k; i++)
			mean += v[i] / (double)(5 * (k - d));
		for (size_t j = d; j < k; j++) {
			double y = (v[5 * j] + v[5 * j + 1] + v[5 * j + 2] + v[5 * j + 3] + v[5 * j + 4]) / 5;

			sum += (y - mean) * (y - mean);
		}
		sum /= (double)((k - d) * (k - d));
		if (sum < least) {
			least = sum;
			best = d;
		}
	}
	return best;
}

static void warmup_is_mser5(void **state)
{
	double v[503];
	struct ct_warmup w;

	(void)state;
	for (uint64_t s = 0; s < 20; s++) {
		struct ct_stream r;

		ct_stream_init(&r, 23, CT_RANDOM_TEST, s);
		for (int i = 0; i < 503; i++)
			v[i] = 1e6 + 20 * exp(-i / (2.0 + 2 * (double)s)) + gsl_ran_gaussian_ziggurat(&r.rng, 1);
		w = ct_warmup(v, 503);
		assert_true(w.settled);
		assert_int_equal(w.drop, 5 * mser5_by_definition(v, 503));
	}
	for (int i = 0; i < 500; i++)
		v[i] = i; /* never settles */
	w = ct_warmup(v, 500);
	assert_false(w.settled);
	assert_int_equal(w.drop, 0);
	for (int i = 0; i < 500; i++)
		v[i] = i < 100 ? 50 : 1;
	assert_int_equal(ct_warmup(v, 500).drop, 100);
	for (int i = 0; i < 500; i++)
		v[i] = 7;
	w = ct_warmup(v, 500);
	assert_true(w.settled && w.drop == 0);
	assert_false(ct_warmup(v, 49).settled);
}

/* Alternating +1 -1: r = -(n-1)/n in the whole and each half. */
static void lag1_by_hand(void **state)
{
	double v[40];

	(void)state;
	for (int i = 0; i < 40; i++)
		v[i] = i % 2 ? 1 : -1;
	near(ct_lag1(v, 40), -2 * 39.0 / 40 + 19.0 / 20, 1e-12);
	assert_true(isnan(ct_lag1(v, 3)));
	for (int i = 0; i < 40; i++)
		v[i] = 5;
	near(ct_lag1(v, 40), 0, 0);
}

static void batches_follow_the_correlation(void **state)
{
	static double v[3000];
	struct ct_batch_means b;
	struct ct_stream r;
	double x = 0;

	(void)state;
	ct_stream_init(&r, 23, CT_RANDOM_TEST, 100);
	for (int i = 0; i < 3000; i++)
		v[i] = gsl_ran_gaussian_ziggurat(&r.rng, 1);
	b = ct_batch_means(v, 3000, 0.95);
	assert_int_equal(b.batches, 30);
	assert_false(b.correlated);
	assert_int_equal(b.mean.n, 30);
	near(b.lag1, 0, 0.25);
	for (int i = 0; i < 3000; i++) /* rho = 0.99: 30 batches of 100 are far too short */
		v[i] = x = 0.99 * x + gsl_ran_gaussian_ziggurat(&r.rng, 1);
	b = ct_batch_means(v, 3000, 0.95);
	assert_int_equal(b.batches, 10);
	assert_true(b.correlated);
	assert_true(isnan(ct_batch_means(v, 99, 0.95).mean.lo));
	assert_int_equal(ct_batch_means(v, 100, 0.95).batches, 10);
	assert_true(ct_batch_means(v, 249, 0.95).batches <= 20);
}

/* ---- fairness */

static void jain_by_hand(void **state)
{
	static const double one[] = { 5, 0, 0, 0 }, even[] = { 2, 2, 2 }, mixed[] = { 1, 2, 3 }, none[] = { 0, 0 };

	(void)state;
	near(ct_jain(one, 4), 0.25, 1e-12);
	near(ct_jain(even, 3), 1, 1e-12);
	near(ct_jain(mixed, 3), 36.0 / 42, 1e-12);
	near(ct_jain(none, 2), 1, 0);
	assert_true(isnan(ct_jain(NULL, 0)));
}

/* a 0-10, b 5-15, c 15-20, d 7-7: N = 1, 2, 1, 1. a and b see 1.5; c comes when b has gone. */
static void present_by_hand(void **state)
{
	static const double submit[] = { 15, 5, 7, 0, 20, 3 }, finish[] = { 20, 15, 7, 10, 20, 3 };
	double out[6];

	(void)state;
	ct_mean_present(submit, finish, 6, out);
	near(out[0], 1, 1e-12);
	near(out[1], 1.5, 1e-12);
	near(out[2], 3, 1e-12);
	near(out[3], 1.5, 1e-12);
	near(out[4], 1, 1e-12);
	near(out[5], 2, 1e-12);
	ct_mean_present(NULL, NULL, 0, out);
}

/* Little's law: sum of what each job sees, weighted by its life, is the integral of N^2. */
static void present_keeps_the_integral(void **state)
{
	enum { N = 50, END = 200 };
	double submit[N], finish[N], out[N], seen = 0, square = 0;
	struct ct_stream r;

	(void)state;
	ct_stream_init(&r, 23, CT_RANDOM_TEST, 200);
	for (int i = 0; i < N; i++) {
		submit[i] = (double)gsl_rng_uniform_int(&r.rng, 100);
		finish[i] = submit[i] + 1 + (double)gsl_rng_uniform_int(&r.rng, 90);
	}
	ct_mean_present(submit, finish, N, out);
	for (int i = 0; i < N; i++)
		seen += out[i] * (finish[i] - submit[i]);
	for (int t = 0; t < END; t++) {
		double present = 0;

		for (int i = 0; i < N; i++)
			present += submit[i] <= t && t < finish[i];
		square += present * present;
	}
	near(seen, square, 1e-6);
}

/* 64 GPUs, 16 jobs present: a part is 4 GPUs. A gang of 2 fits and runs alone in 100 s;
 * one of 8 gets half of what it needs. */
static void finish_time_fairness_by_hand(void **state)
{
	(void)state;
	near(ct_finish_time_fairness(150, 100, 2, 16, 64), 1.5, 1e-12);
	near(ct_finish_time_fairness(150, 100, 8, 16, 64), 0.75, 1e-12);
}

/* Two seeds: ratios 1 and 3 of 2, 3 and 5 of 4 about their means, so the logarithm moves by
 * 3/4 - 1/2 and 5/4 - 3/2: variance 1/8, standard error 1/4, Student's t 12.706. */
static void double_ratio_by_hand(void **state)
{
	static const double one[] = { 1, 1 }, b[] = { 1, 3 }, d[] = { 3, 5 }, twice[] = { 2, 6 };
	struct ct_estimate e = ct_double_ratio_interval(one, b, one, d, 2, 0.95);

	(void)state;
	near(e.value, 2, 1e-12);
	near(log(e.hi / 2), 12.7062047364 / 4, 1e-9);
	near(log(e.lo / 2), -12.7062047364 / 4, 1e-9);
	/* What doubles all alike is known exactly. */
	e = ct_double_ratio_interval(one, b, one, twice, 2, 0.95);
	near(e.lo, 2, 1e-12);
	near(e.hi, 2, 1e-12);
	/* The ratio's ratio: numerator and denominator change alike. */
	e = ct_double_ratio_interval(d, b, d, b, 2, 0.95);
	near(e.value, 1, 1e-12);
	e = ct_double_ratio_interval(one, b, d, b, 2, 0.95);
	near(e.value, 0.25, 1e-12);
	assert_true(isnan(ct_double_ratio_interval(one, b, one, d, 1, 0.95).lo));
}

/* Draws' means 2 and 6: B^2 = 8; seeds' means 2.5, 3.5 and 6: W^2 = 3.25; variances within
 * 1 and 7: E^2 = 4; t(1, .975) = 12.7062 (any table). */
static void pooled_by_hand(void **state)
{
	static const double v[] = { 1, 2, 3, 4, 5, 9 };
	struct ct_pooled p = ct_pooled_intervals(v, 2, 3, 0.95);

	(void)state;
	near(p.between, sqrt(8), 1e-12);
	near(p.shared, sqrt(3.25), 1e-12);
	near(p.within, 2, 1e-12);
	near(p.mean.value, 4, 1e-12);
	near(p.mean.hi - 4, 12.7062 * sqrt(8 * 1.5 + 3.25 / 3), 1e-3);
	near(4 - p.mean.lo, p.mean.hi - 4, 1e-12);
	near(p.single.hi - 4, 12.7062 * sqrt(8 * 1.5 + 4 * 4. / 3), 1e-3);
	near(p.lo, 2.1, 1e-12);
	near(p.hi, 5.9, 1e-12);
	assert_true(isnan(ct_pooled_intervals(v, 1, 6, 0.95).mean.lo));
	assert_true(isnan(ct_pooled_intervals(v, 6, 1, 0.95).mean.lo));
}

/* The truth that holds is one more draw: its mean over all seeds is 2 + a. */
static void pooled_intervals_cover(void **state)
{
	enum { REPEATS = 4000, DRAWS = 8, SEEDS = 6 };
	unsigned mean = 0, single = 0;
	struct ct_stream s;
	double v[DRAWS * SEEDS], b[SEEDS];

	(void)state;
	ct_stream_init(&s, 5, CT_RANDOM_TEST, 1);
	for (int r = 0; r < REPEATS; r++) {
		double truth = 2 + gsl_ran_gaussian_ziggurat(&s.rng, 1);
		struct ct_pooled p;

		for (int i = 0; i < SEEDS; i++)
			b[i] = gsl_ran_gaussian_ziggurat(&s.rng, 1.5);
		for (int d = 0; d < DRAWS; d++) {
			double a = 2 + gsl_ran_gaussian_ziggurat(&s.rng, 1);

			for (int i = 0; i < SEEDS; i++)
				v[d * SEEDS + i] = a + b[i] + gsl_ran_gaussian_ziggurat(&s.rng, .3);
		}
		p = ct_pooled_intervals(v, DRAWS, SEEDS, 0.95);
		mean += truth > p.mean.lo && truth < p.mean.hi;
		truth += gsl_ran_gaussian_ziggurat(&s.rng, hypot(1.5, .3));
		single += truth > p.single.lo && truth < p.single.hi;
	}
	/* Five standard errors of 95 % are 1.7 points; the intervals are a little too wide. */
	assert_true(mean / (double)REPEATS > .933 && mean / (double)REPEATS < .985);
	assert_true(single / (double)REPEATS > .933 && single / (double)REPEATS < .985);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_interval_of_laws_example),
		cmocka_unit_test(prediction_is_wider_by_the_next_runs_own_noise),
		cmocka_unit_test(what_cannot_be_said_is_not_a_number),
		cmocka_unit_test(median_by_order_statistics),
		cmocka_unit_test(quantile_ranks_are_the_best),
		cmocka_unit_test(runs_needed),
		cmocka_unit_test(pairs_of_students_example),
		cmocka_unit_test(one_outlier_hides_the_mean_not_the_median),
		cmocka_unit_test(equal_pairs_show_nothing),
		cmocka_unit_test(ratio_ends_are_where_the_test_turns),
		cmocka_unit_test(double_ratio_by_hand),
		cmocka_unit_test(warmup_is_mser5),
		cmocka_unit_test(lag1_by_hand),
		cmocka_unit_test(batches_follow_the_correlation),
		cmocka_unit_test(jain_by_hand),
		cmocka_unit_test(present_by_hand),
		cmocka_unit_test(present_keeps_the_integral),
		cmocka_unit_test(finish_time_fairness_by_hand),
		cmocka_unit_test(pooled_by_hand),
		cmocka_unit_test(pooled_intervals_cover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
