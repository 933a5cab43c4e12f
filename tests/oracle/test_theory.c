/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queueing theory as the judge of the engine: the simulated mean must lie within
 * three standard errors of the closed form.
 *
 * Method: R independent replications with seeds 1..R; each simulates WARM + n +
 * TAIL jobs and averages over the n in the middle, so that neither the empty
 * start nor the drain at the end counts. The standard error is that of the R
 * replication means. So that a wide error cannot hide a wrong mean, it must also
 * be below 2 % of the expected value.
 *
 * Sources: Kleinrock, Queueing Systems I (1975) and II (1976); Schrage and
 * Miller, Operations Research 14 (1966) for SRPT. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/random.h"
#include "tests/oracle/harness.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>

enum { WARM = 1500, TAIL = 500, REPLICATIONS = 50 };

/* Service times have mean 1 "unit" of 100 simulated seconds: far above the
 * microsecond to which every time is rounded. */
static const double UNIT_US = 1e8;

enum service { EXPONENTIAL, CONSTANT, LOG_NORMAL, HYPER_EXPONENTIAL };

/* Log-normal: mean 1, squared coefficient of variation exp(sigma^2) - 1 = 1.718. */
static const double LOG_SIGMA = 1.0;
/* Hyper-exponential: a quarter of the jobs with mean 2.5, the others with 0.5; E[S^2] = 3.5. */
static const double HYPER_P = 0.25, HYPER_LONG = 2.5, HYPER_SHORT = 0.5;

struct model {
	const char *name;
	uint32_t number; /* of its random streams: no two models share draws */
	double lambda;   /* arrivals per unit; the mean service is one unit */
	enum service service;
	uint32_t servers;
	double speed;  /* of the GPUs; durations are scaled so that the mean service stays one unit */
	double factor; /* > 0: two residents a GPU, each slowed to this factor */
	const char *policy;
	const char *const *settings;
	size_t n;  /* jobs measured a replication */
	int waits; /* 1: mean wait before the first start, 0: mean time in system */
};

static double draw_service(const struct model *m, const gsl_rng *rng)
{
	switch (m->service) {
	case EXPONENTIAL:
		return gsl_ran_exponential(rng, 1.0);
	case CONSTANT:
		return 1.0;
	case LOG_NORMAL:
		return gsl_ran_lognormal(rng, -LOG_SIGMA * LOG_SIGMA / 2, LOG_SIGMA);
	case HYPER_EXPONENTIAL:
		return gsl_ran_exponential(rng, gsl_rng_uniform(rng) < HYPER_P ? HYPER_LONG : HYPER_SHORT);
	}
	return NAN;
}

static struct ct_workload *make_jobs(const struct model *m, uint64_t seed)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_stream arrivals, services;
	struct ct_err err = { 0 };
	double t = 0;

	ct_stream_init(&arrivals, seed, CT_RANDOM_TEST, 2 * m->number);
	ct_stream_init(&services, seed, CT_RANDOM_TEST, 2 * m->number + 1);
	for (size_t i = 0; i < WARM + m->n + TAIL; i++) {
		struct ct_job job = CT_JOB_INIT;
		char id[32];
		int k = snprintf(id, sizeof id, "%zu", i);
		double service = draw_service(m, &services.rng);

		t += gsl_ran_exponential(&arrivals.rng, 1 / m->lambda);
		job.id = ct_workload_text(w, id, (size_t)k);
		job.submit_us = (ct_time)llround(t * UNIT_US);
		job.duration_us = (ct_time)fmax(1, round(service * m->speed * UNIT_US));
		ct_workload_add(w, &job);
	}
	if (ct_workload_seal(w, &err))
		fail_msg("%s", err.text);
	return w;
}

static double constant_factor(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	(void)self;
	(void)other;
	return *(const double *)state;
}

/* Mean over the measured jobs, in units. */
static double replicate(const struct model *m, uint64_t seed)
{
	struct ct_workload *work = make_jobs(m, seed);
	struct ct_node_spec node = { .count = m->servers, .gpus = 1, .gpu_speed = m->speed };
	double factor = m->factor;
	struct ct_contention sharing = { .state = &factor, .factor = constant_factor };
	struct ct_control_spec spec = { 0 };
	struct ct_world *w;
	void *state;
	double sum = 0;

	spec.policy = ct_test_policy(m->policy);
	spec.policy_state = state = ct_test_state(spec.policy, m->settings);
	spec.world.work = work;
	spec.world.cluster = (struct ct_cluster_spec){ &node, 1 };
	spec.world.seed = seed;
	spec.world.residents = factor > 0 ? 2 : 1;
	spec.world.contention = factor > 0 ? &sharing : NULL;
	spec.world.until_us = CT_NEVER;
	spec.world.attain_floor = 0.5;
	w = ct_test_run(&spec);
	for (size_t i = WARM; i < WARM + m->n; i++) {
		const struct ct_outcome *o = &ct_world_outcomes(w)[i];

		assert_int_equal(o->state, CT_JOB_FINISHED);
		sum += (double)((m->waits ? o->start_us : o->finish_us) - work->jobs[i].submit_us);
	}
	ct_world_free(w);
	free(state);
	ct_workload_free(work);
	return sum / (double)m->n / UNIT_US;
}

static void judge(const struct model *m, double expected)
{
	double mean[REPLICATIONS], average, error;

	for (int r = 0; r < REPLICATIONS; r++)
		mean[r] = replicate(m, (uint64_t)r + 1);
	average = gsl_stats_mean(mean, 1, REPLICATIONS);
	error = gsl_stats_sd(mean, 1, REPLICATIONS) / sqrt(REPLICATIONS);
	print_message("%-34s expected %8.5f, simulated %8.5f, standard error %7.5f: %+.2f\n", m->name, expected,
		      average, error, (average - expected) / error);
	assert_true(error < 0.02 * expected);
	assert_true(fabs(average - expected) <= 3 * error);
}

/* ---- closed forms, service rate 1 */

/* Pollaczek-Khinchine: E[wait] = lambda E[S^2] / (2 (1 - rho)), rho = lambda here. */
static double pollaczek(double lambda, double second_moment)
{
	return lambda * second_moment / (2 * (1 - lambda));
}

/* Erlang C by the stable recursion of Erlang B. */
static double erlang_c(double lambda, uint32_t c)
{
	double b = 1, rho = lambda / c;

	for (uint32_t k = 1; k <= c; k++)
		b = lambda * b / (k + lambda * b);
	return b / (1 - rho * (1 - b));
}

/* Exponential service of mean 1: load of the jobs shorter than x, lambda int_0^x t e^-t dt. */
static double load_below(double lambda, double x)
{
	return lambda * (1 - exp(-x) * (1 + x));
}

static double slowness(double t, void *lambda)
{
	return 1 / (1 - load_below(*(double *)lambda, t));
}

struct srpt {
	double lambda;
	gsl_integration_workspace *space;
};

static double integrate(double (*f)(double, void *), void *params, double to, gsl_integration_workspace *space)
{
	gsl_function g = { .function = f, .params = params };
	double result, error;
	int status = to < 0 ? gsl_integration_qagiu(&g, 0, 0, 1e-9, 1000, space, &result, &error)
			    : gsl_integration_qags(&g, 0, to, 0, 1e-10, 1000, space, &result, &error);

	assert_int_equal(status, GSL_SUCCESS);
	return result;
}

/* Schrage-Miller, weighted with the density of x: waiting for smaller remaining
 * times, then the residence. */
static double srpt_density(double x, void *params)
{
	struct srpt *s = params;
	double second = 2 - exp(-x) * (x * x + 2 * x + 2); /* int_0^x t^2 e^-t dt */
	double below = 1 - load_below(s->lambda, x);
	double wait = s->lambda * (second + x * x * exp(-x)) / (2 * below * below);

	return (wait + integrate(slowness, &s->lambda, x, s->space)) * exp(-x);
}

static double srpt_mean(double lambda)
{
	struct srpt s = { .lambda = lambda, .space = gsl_integration_workspace_alloc(1000) };
	gsl_integration_workspace *outer = gsl_integration_workspace_alloc(1000);
	double mean;

	assert_non_null(s.space);
	assert_non_null(outer);
	mean = integrate(srpt_density, &s, -1, outer);
	gsl_integration_workspace_free(s.space);
	gsl_integration_workspace_free(outer);
	return mean;
}

/* Shortest job first without preemption: E[wait | x] = (lambda E[S^2] / 2) / (1 - rho(x))^2. */
static double sjf_density(double x, void *lambda)
{
	double below = 1 - load_below(*(double *)lambda, x);

	return *(double *)lambda / (below * below) * exp(-x);
}

static double sjf_wait(double lambda)
{
	gsl_integration_workspace *space = gsl_integration_workspace_alloc(1000);
	double wait;

	assert_non_null(space);
	wait = integrate(sjf_density, &lambda, -1, space);
	gsl_integration_workspace_free(space);
	return wait;
}

/* At most two jobs in service on one GPU, each at factor f beside the other: a
 * birth-death chain with mu_1 = 1 and mu_n = 2 f from two jobs on.
 * p_1 = lambda p_0, p_n = p_1 r^(n-1), r = lambda / (2 f); E[T] = E[N] / lambda. */
static double two_residents(double lambda, double f)
{
	double r = lambda / (2 * f), p0 = 1 / (1 + lambda / (1 - r));

	return p0 / ((1 - r) * (1 - r));
}

/* ---- the tests */

static void mm1(void **state)
{
	const struct model m = { "M/M/1, rho 0.7, fifo: wait", 1, 0.7, EXPONENTIAL, 1, 1, 0, "fifo", NULL, 8000, 1 };

	(void)state;
	judge(&m, 0.7 / (1 - 0.7));
}

static void mmc(void **state)
{
	const struct model m = { "M/M/5, rho 0.8, fifo: wait", 2, 4.0, EXPONENTIAL, 5, 1, 0, "fifo", NULL, 16000, 1 };

	(void)state;
	judge(&m, erlang_c(4.0, 5) / (5 - 4.0));
}

static void md1_on_a_fast_gpu(void **state)
{
	const struct model m = { "M/D/1, rho 0.7, speed 2: wait", 3, 0.7, CONSTANT, 1, 2, 0, "fifo", NULL, 5000, 1 };

	(void)state;
	judge(&m, pollaczek(0.7, 1));
}

static void mg1_log_normal(void **state)
{
	const struct model m = {
		"M/G/1 log-normal, rho 0.6: wait", 4, 0.6, LOG_NORMAL, 1, 1, 0, "fifo", NULL, 10000, 1
	};

	(void)state;
	judge(&m, pollaczek(0.6, exp(LOG_SIGMA * LOG_SIGMA)));
}

static void mg1_hyper_exponential(void **state)
{
	const struct model m = {
		"M/G/1 hyper-exponential, rho 0.6", 5, 0.6, HYPER_EXPONENTIAL, 1, 1, 0, "fifo", NULL, 8000, 1
	};
	double second = 2 * (HYPER_P * HYPER_LONG * HYPER_LONG + (1 - HYPER_P) * HYPER_SHORT * HYPER_SHORT);

	(void)state;
	judge(&m, pollaczek(0.6, second));
}

static void sjf(void **state)
{
	const struct model m = { "M/M/1, rho 0.7, sjf: wait", 6, 0.7, EXPONENTIAL, 1, 1, 0, "sjf", NULL, 8000, 1 };

	(void)state;
	judge(&m, sjf_wait(0.7));
}

static void srpt(void **state)
{
	const struct model m = { "M/M/1, rho 0.8, srtf: time", 7, 0.8, EXPONENTIAL, 1, 1, 0, "srtf", NULL, 6000, 0 };

	(void)state;
	judge(&m, srpt_mean(0.8));
}

static const char *const TWO[] = { "residents=2", NULL };

static void residents_without_gain(void **state)
{
	const struct model m = {
		"two residents, f 0.5, lambda 0.7", 8, 0.7, EXPONENTIAL, 1, 1, 0.5, "fifo", TWO, 8000, 0
	};

	(void)state;
	assert_true(fabs(two_residents(0.7, 0.5) - 1 / (1 - 0.7)) < 1e-12); /* M/M/1's mean */
	judge(&m, two_residents(0.7, 0.5));
}

static void residents_with_gain(void **state)
{
	const struct model m = {
		"two residents, f 0.7, lambda 0.9", 9, 0.9, EXPONENTIAL, 1, 1, 0.7, "fifo", TWO, 8000, 0
	};

	(void)state;
	judge(&m, two_residents(0.9, 0.7));
}

/* The formulas themselves, against published or elementary values. */
static void formulas(void **state)
{
	(void)state;
	assert_true(fabs(erlang_c(0.7, 1) - 0.7) < 1e-12);    /* one server: rho */
	assert_true(fabs(erlang_c(4.0, 5) - 0.55411) < 1e-5); /* Erlang C table, 4 erlangs, 5 servers */
	/* Bansal, Operations Research Letters 33 (2005), mean under SRPT by load */
	assert_true(fabs(srpt_mean(0.5) - 1.4254) < 5.1e-5);
	assert_true(fabs(srpt_mean(0.7) - 1.8746) < 5.1e-5);
	assert_true(fabs(srpt_mean(0.9) - 3.5521) < 5.1e-5);
	assert_true(fabs(two_residents(0.8, 1.0) - 1 / (1 - 0.16)) < 1e-12); /* no contention: M/M/2 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas),
		cmocka_unit_test(mm1),
		cmocka_unit_test(mmc),
		cmocka_unit_test(md1_on_a_fast_gpu),
		cmocka_unit_test(mg1_log_normal),
		cmocka_unit_test(mg1_hyper_exponential),
		cmocka_unit_test(sjf),
		cmocka_unit_test(srpt),
		cmocka_unit_test(residents_without_gain),
		cmocka_unit_test(residents_with_gain),
	};

	gsl_set_error_handler_off();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
