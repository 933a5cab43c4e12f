/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/memory.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NaN fails. */
#define assert_near(got, want, within) assert_true(fabs((got) - (want)) <= (within))

/* Two inputs, two units, one unit; normalisations of factor 1 (variance 1 - epsilon). */
static struct ct_network *tiny(int floor)
{
	/* W1 [in][out], scale1, shift1, W2, scale2, shift2, w3, b3 */
	static const double theta[] = { 1, -1, 2, 1, 1, 1, .5, 0, .5, -1, 1, -.25, 2, -1 };
	struct ct_network *n = ct_network_new(2, 2, 1, floor);

	assert_int_equal(n->n_theta, 14);
	memcpy(n->theta, theta, sizeof theta);
	n->bn_var1[0] = n->bn_var1[1] = n->bn_var2[0] = 1 - 1e-5;
	ct_network_fold(n);
	return n;
}

/* x = (1, 2): sums 5.5 and 1; then 2.75 - 1 - 0.25 = 1.5; z = 2. x = (-1, 0): 0 and 1;
 * then 0; z = -1. */
static void a_net_by_hand(void **state)
{
	static const double x[] = { 1, 2, -1, 0 };
	struct ct_network *n = tiny(1);
	double s[2];

	(void)state;
	ct_network_predict(n, x, 2, s);
	assert_near(s[0], 3, 1e-12);
	assert_near(s[1], 1, 0);
	ct_network_free(n);
	n = tiny(0);
	ct_network_predict(n, x, 2, s);
	assert_near(s[0], exp(2), 1e-11);
	assert_near(s[1], exp(-1), 1e-12);
	ct_network_free(n);
}

/* Inputs of mean 3, sd 2 and a first layer of mean 1, variance 4: x = (7, 1) stands for
 * (2, -1), sums 0 and -3, normalised -0.5 and -2, with shifts 0 and -2. */
static void normalisations_fold(void **state)
{
	static const double x[] = { 7, 1 };
	struct ct_network *n = tiny(1);
	double s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		n->in_mean[i] = 3;
		n->in_sd[i] = 2;
		n->bn_mean1[i] = 1;
		n->bn_var1[i] = 4 - 1e-5;
	}
	n->theta[12] = -2; /* w3 */
	n->theta[10] = 3;  /* scale2 */
	n->theta[11] = -.5;
	n->theta[6] = 1.5; /* shift1: unit 0 gives 1, unit 1 gives 0; then 3 * 0.5 - 0.5 = 1; z = -2 + 3 */
	n->theta[13] = 3;
	ct_network_fold(n);
	ct_network_predict(n, x, 1, &s);
	assert_near(s, 2, 1e-12);
	ct_network_free(n);
}

enum { IN = 5, H1 = 6, H2 = 4, ROWS = 9 };

static void fill(struct ct_stream *s, double *v, size_t n, double sd)
{
	for (size_t i = 0; i < n; i++)
		v[i] = gsl_ran_gaussian_ziggurat(&s->rng, sd);
}

/* Central differences: error O(h^2) plus rounding O(1e-16 / h). */
static void check_gradient(int floor, uint64_t seed)
{
	double x[ROWS * IN], y[ROWS], keep1[ROWS * H1], keep2[ROWS * H2], *g, *scratch, h = 1e-6;
	struct ct_network *n = ct_network_new(IN, H1, H2, floor);
	struct ct_network_work *w = ct_network_work_new(n, ROWS);
	struct ct_network_batch b = { x, y, keep1, keep2, ROWS, 0, 0 };
	struct ct_stream s;
	double largest = 0;

	ct_stream_init(&s, seed, CT_RANDOM_TEST, 1);
	fill(&s, x, ROWS * IN, 1);
	fill(&s, n->theta, n->n_theta, .7);
	n->theta[n->n_theta - 1] = 1.5;
	for (int i = 0; i < ROWS; i++)
		y[i] = 1 + gsl_rng_uniform(&s.rng);
	for (int i = 0; i < ROWS * H1; i++)
		keep1[i] = gsl_rng_uniform(&s.rng) < .2 ? 0 : 1.25;
	for (int i = 0; i < ROWS * H2; i++)
		keep2[i] = gsl_rng_uniform(&s.rng) < .2 ? 0 : 1.25;
	g = ct_calloc(2 * n->n_theta, sizeof *g);
	scratch = g + n->n_theta;
	assert_true(ct_network_gradient(n, w, &b, g) > 0);
	for (size_t i = 0; i < n->n_theta; i++) {
		double keep = n->theta[i], up, down;

		n->theta[i] = keep + h;
		up = ct_network_gradient(n, w, &b, scratch);
		n->theta[i] = keep - h;
		down = ct_network_gradient(n, w, &b, scratch);
		n->theta[i] = keep;
		assert_near(g[i], (up - down) / (2 * h), 2e-8 + 1e-6 * fabs(g[i]));
		largest = fmax(largest, fabs(g[i]));
	}
	assert_true(largest > 1e-3);
	free(g);
	ct_network_work_free(w);
	ct_network_free(n);
}

static void gradients_are_differences(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		check_gradient(1, seed);
		check_gradient(0, seed);
	}
}

/* S = 1 + 0.5 a + b^2: smooth, at least 1. */
static void smooth_samples(struct ct_samples *s, unsigned n)
{
	struct ct_stream r;

	ct_stream_init(&r, 3, CT_RANDOM_TEST, 2);
	ct_samples_init(s, 3);
	for (unsigned i = 0; i < n; i++) {
		double a = gsl_rng_uniform(&r.rng), b = 2 * gsl_rng_uniform(&r.rng) - 1;
		struct ct_sample row = { .slowdown = 1 + .5 * a + b * b, .truth = NAN, .pair = i, .model_pair = i };
		double *x = ct_samples_add(s, &row);

		x[0] = a;
		x[1] = 1000 * b + 5;
		x[2] = 7; /* a constant column */
	}
}

static double mape(const struct ct_network *n, const struct ct_samples *s)
{
	double *p = ct_calloc(s->n, sizeof *p), e = 0;

	ct_network_predict(n, s->x, s->n, p);
	for (size_t i = 0; i < s->n; i++) {
		assert_true(p[i] >= 1);
		e += fabs(p[i] / s->row[i].slowdown - 1) / (double)s->n;
	}
	free(p);
	return e;
}

/* Learns a smooth function far better than its mean (MAPE of the mean: 20 %). */
static void learns_and_repeats(void **state)
{
	struct ct_network_options o = ct_network_defaults();
	struct ct_network *a, *b, *c;
	struct ct_samples s;

	(void)state;
	smooth_samples(&s, 400);
	o.epochs = 120;
	a = ct_network_train(&o, &s, 1);
	b = ct_network_train(&o, &s, 1);
	c = ct_network_train(&o, &s, 2);
	assert_true(mape(a, &s) < .05);
	assert_memory_equal(a->theta, b->theta, a->n_theta * sizeof *a->theta);
	assert_memory_not_equal(a->theta, c->theta, a->n_theta * sizeof *a->theta);
	ct_network_free(a);
	ct_network_free(b);
	ct_network_free(c);
	ct_samples_fini(&s);
}

/* A target that is noise: early stopping ends long before the last epoch. */
static void stops_early_on_noise(void **state)
{
	struct ct_network_options o = ct_network_defaults();
	struct ct_samples s;
	struct ct_network *n;
	struct ct_stream r;

	(void)state;
	smooth_samples(&s, 300);
	ct_stream_init(&r, 4, CT_RANDOM_TEST, 3);
	for (size_t i = 0; i < s.n; i++)
		s.row[i].slowdown = 1 + gsl_rng_uniform(&r.rng);
	o.epochs = 2000;
	o.patience = 30;
	n = ct_network_train(&o, &s, 1);
	assert_in_range(n->epochs, 1, 1000);
	ct_network_free(n);
	ct_samples_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_net_by_hand),
		cmocka_unit_test(normalisations_fold),
		cmocka_unit_test(gradients_are_differences),
		cmocka_unit_test(learns_and_repeats),
		cmocka_unit_test(stops_early_on_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
