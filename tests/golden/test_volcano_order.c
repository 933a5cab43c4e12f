/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much Volcano's configuration alone decides: the seven rows of specs/volcano.md
 * 5.2 on a mix stated here in full. The rows there are of an earlier prototype whose
 * mix is lost ("600 jobs, 64 GPUs, load 0.8, synthetic log-normal durations").
 *
 *	cluster    8 nodes x 8 GPUs, event-driven, GPUs alone modelled
 *	jobs       600 a run, rigid, one queue, one priority; 20 runs, seeds 1..20
 *	sizes      single: 1, 2, 4, 8 GPUs at .50 .20 .15 .15 (mean 2.70)
 *	           gangs:  1, 2, 4, 8, 16, 32 at .48 .192 .144 .144 .03 .01 (mean 3.392)
 *	durations  log-normal, mean 80 min, sigma 1.2, independent of size
 *	arrivals   Poisson, mean interval = mean size x 80 min / (0.8 x 64): load 0.8
 *	           "same arrivals": gangs at the interval of the single mix, load 1.005;
 *	           this is what the prototype's second column looks like
 *	estimates  of easy: log-normal error, sigma 0.5
 *
 * All rows see the same jobs. Tested is the order of the mean JCT over the 20 runs,
 *
 *	{strict FIFO, default} > random > default without gate > binpack > {binpack
 *	without gate, EASY},
 *
 * the braces being rows that the prototype has within 7 % of each other and that
 * change places with the mix; and that the ratio default / binpack lies within the
 * prototype's range over seeds. In one table strict FIFO is left out of the order: at
 * a load of 0.8 with gangs it is faster here than random + gate, in the prototype the
 * slowest. The figures themselves belong to this mix. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <gsl/gsl_randist.h>
#include <cmocka.h>

#include "sim/random.h"
#include "tests/oracle/harness.h"

enum { SEEDS = 20, JOBS = 600, GPUS = 64, SIZES = 6 };
enum { DEFAULT, RANDOM, BINPACK, DEFAULT_NOGATE, BINPACK_NOGATE, STRICT, EASY, ROWS };

static const struct {
	const char *name, *policy, *setting[6];
	double published[2]; /* minutes: the prototype's */
} row[ROWS] = {
	{ "shipped default (spread, gate)", "volcano", { "cycle_s=0", NULL }, { 121.6, 337.8 } },
	{ "random + gate", "volcano", { "cycle_s=0", "placement=random", NULL }, { 106.5, 234.1 } },
	{ "GPU binpack + gate", "volcano-gpubinpack", { "cycle_s=0", NULL }, { 91.2, 134.9 } },
	{ "default score, gate off", "volcano", { "cycle_s=0", "gate=off", NULL }, { 101.3, 161.4 } },
	{ "GPU binpack, gate off", "volcano-nogate", { "cycle_s=0", NULL }, { 87.4, 122.2 } },
	{ "strict FIFO, binpack", "volcano-nogate", { "cycle_s=0", "discipline=strict_fifo", NULL }, { 129.9, 358.9 } },
	{ "EASY, binpack, noisy estimates",
	  "easy",
	  { "placement=pack", "estimate=noisy", "estimate_sigma=0.5", NULL },
	  { 86.7, 124.6 } },
};

/* Of default / binpack + gate over its seeds. */
static const double published_range[2][2] = { { 1.09, 2.09 }, { 1.44, 4.40 } };

static const double probability[2][SIZES] = {
	{ .50, .20, .15, .15, 0, 0 },
	{ .48, .192, .144, .144, .03, .01 },
};
static const double load = 0.8, mean_s = 80 * 60, sigma = 1.2;

static uint32_t draw_size(struct ct_stream *s, const double *p)
{
	double u = gsl_rng_uniform(&s->rng);
	uint32_t k = 0;

	while (k < SIZES - 1 && u >= p[k])
		u -= p[k++];
	return 1u << k;
}

static struct ct_workload *make_jobs(int mix, int arrivals, uint64_t seed)
{
	const double median_s = mean_s * exp(-sigma * sigma / 2);
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };
	double t = 0, size = 0, interval;
	struct ct_stream s;
	char text[16];

	for (int k = 0; k < SIZES; k++)
		size += probability[arrivals][k] * (1 << k);
	interval = size * mean_s / (load * GPUS);
	ct_stream_init(&s, seed, CT_RANDOM_TEST, (uint64_t)mix);
	for (int i = 0; i < JOBS; i++) {
		struct ct_job j = CT_JOB_INIT;
		int n = snprintf(text, sizeof text, "%d", i);

		t += gsl_ran_exponential(&s.rng, interval);
		j.id = ct_workload_text(w, text, (size_t)n);
		j.submit_us = (ct_time)(t * 1e6);
		j.num_gpus = draw_size(&s, probability[mix]);
		j.duration_us = (ct_time)(1e6 * median_s * exp(sigma * gsl_ran_gaussian_ziggurat(&s.rng, 1))) + 1;
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

/* Mean JCT in minutes; every job ends. */
static double mean_jct(const struct ct_workload *work, int r, uint64_t seed)
{
	static const struct ct_node_spec nodes[] = { { .count = 8, .gpus = 8, .gpu_speed = 1 } };
	const struct ct_policy *policy = ct_test_policy(row[r].policy);
	void *state = ct_test_state(policy, row[r].setting);
	struct ct_control_spec spec = {
		.world = { .work = work, .cluster = { nodes, 1 }, .residents = 1, .until_us = CT_NEVER, .seed = seed },
		.policy = policy,
		.policy_state = state
	};
	struct ct_world *w = ct_test_run(&spec);
	double sum = 0;

	for (uint32_t i = 0; i < work->n; i++) {
		assert_int_equal(ct_world_outcomes(w)[i].state, CT_JOB_FINISHED);
		sum += ct_seconds(ct_world_outcomes(w)[i].finish_us - work->jobs[i].submit_us);
	}
	ct_world_free(w);
	free(state);
	return sum / (double)work->n / 60;
}

struct table {
	double mean[ROWS];
	double ratio, ratio_min, ratio_max; /* default / binpack + gate; per run */
};

static struct table make_table(int mix, int arrivals)
{
	struct table t = { { 0 }, 0, INFINITY, 0 };

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct ct_workload *work = make_jobs(mix, arrivals, seed);
		double jct[ROWS], ratio;

		for (int r = 0; r < ROWS; r++) {
			jct[r] = mean_jct(work, r, seed);
			t.mean[r] += jct[r] / SEEDS;
		}
		ratio = jct[DEFAULT] / jct[BINPACK];
		t.ratio_min = fmin(t.ratio_min, ratio);
		t.ratio_max = fmax(t.ratio_max, ratio);
		ct_workload_free(work);
	}
	t.ratio = t.mean[DEFAULT] / t.mean[BINPACK];
	return t;
}

static void print_table(const struct table *t, int mix, const char *title)
{
	printf("\n%-34s %12s %12s\n", title, "mean JCT min", "prototype");
	for (int r = 0; r < ROWS; r++)
		printf("%-34s %12.1f %12.1f\n", row[r].name, t->mean[r], row[r].published[mix]);
	printf("default / GPU binpack + gate: %.2f, per run %.2f to %.2f (prototype %.2f, %.2f to %.2f)\n", t->ratio,
	       t->ratio_min, t->ratio_max, row[DEFAULT].published[mix] / row[BINPACK].published[mix],
	       published_range[mix][0], published_range[mix][1]);
}

static void check(const struct table *t, int mix)
{
	assert_true(t->mean[DEFAULT] > t->mean[RANDOM]);
	assert_true(t->mean[RANDOM] > t->mean[DEFAULT_NOGATE]);
	assert_true(t->mean[DEFAULT_NOGATE] > t->mean[BINPACK]);
	assert_true(t->mean[BINPACK] > t->mean[BINPACK_NOGATE]);
	assert_true(t->mean[BINPACK] > t->mean[EASY]);
	assert_true(t->mean[STRICT] > t->mean[DEFAULT_NOGATE]);
	assert_true(t->ratio > published_range[mix][0] && t->ratio < published_range[mix][1]);
}

static void single_node_jobs(void **state)
{
	struct table t = make_table(0, 0);

	(void)state;
	print_table(&t, 0, "1, 2, 4, 8 GPUs, load 0.8");
	check(&t, 0);
	assert_true(t.mean[STRICT] > t.mean[RANDOM]);
}

static void with_gangs(void **state)
{
	struct table t = make_table(1, 1);

	(void)state;
	print_table(&t, 1, "with 16 and 32 GPUs, load 0.8");
	check(&t, 1);
}

static void with_gangs_same_arrivals(void **state)
{
	struct table t = make_table(1, 0);

	(void)state;
	print_table(&t, 1, "with 16 and 32 GPUs, same arrivals");
	check(&t, 1);
	assert_true(t.mean[STRICT] > t.mean[RANDOM]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(single_node_jobs), cmocka_unit_test(with_gangs),
					    cmocka_unit_test(with_gangs_same_arrivals) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
