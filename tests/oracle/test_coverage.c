/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do intervals at 95 % cover what they promise to cover, 95 times in a hundred? Judged
 * on the wait in an M/M/1 queue, whose mean and distribution are known: 1,000
 * experiments each, of which 930 to 970 must cover (binomial standard error 0.7 %).
 *
 * The queue is Lindley's recursion W' = max(0, W + S - A), and for a part the engine
 * itself under fifo, which must give the recursion's waits to the microsecond. It
 * starts in its stationary distribution where seeds are the subject: P(W > t) =
 * rho exp(-(1 - rho) t) (Kleinrock, Queueing Systems I, section 3.2), in the engine as a first
 * job of that length. It starts empty where warm-up is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/statistics.h"
#include "sim/random.h"
#include "tests/oracle/harness.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>

enum { EXPERIMENTS = 1000 };
static const double LEVEL = 0.95, UNIT_US = 1e8;

/* Sum of interarrival and service draws of one run; service has mean 1. */
struct queue {
	struct ct_stream draws;
	double lambda, scale, wait; /* services are scaled; the wait of the next job */
};

/* Stationary start by inversion: the same draw serves every scale (common random numbers). */
static void queue_init(struct queue *q, uint64_t experiment, uint64_t run, double lambda, double scale, int empty)
{
	double rho = lambda * scale, u;

	ct_stream_init(&q->draws, experiment, CT_RANDOM_TEST, run);
	q->lambda = lambda;
	q->scale = scale;
	u = gsl_rng_uniform_pos(&q->draws.rng);
	q->wait = empty || u >= rho ? 0.0 : log(rho / u) * scale / (1 - rho);
}

/* The wait of the next job; *service is its service time, *gap until the one after it. */
static double queue_next(struct queue *q, double *service, double *gap)
{
	double wait = q->wait;

	*service = q->scale * gsl_ran_exponential(&q->draws.rng, 1.0);
	*gap = gsl_ran_exponential(&q->draws.rng, 1 / q->lambda);
	q->wait = fmax(0.0, wait + *service - *gap);
	return wait;
}

static double mean_wait(uint64_t experiment, uint64_t run, double lambda, double scale, size_t jobs)
{
	double sum = 0, service, gap;
	struct queue q;

	queue_init(&q, experiment, run, lambda, scale, 0);
	for (size_t i = 0; i < jobs; i++)
		sum += queue_next(&q, &service, &gap);
	return sum / (double)jobs;
}

static double expected_wait(double lambda, double scale)
{
	double rho = lambda * scale;

	return rho * scale / (1 - rho);
}

static int covers(const struct ct_estimate *e, double truth)
{
	return e->lo <= truth && truth <= e->hi;
}

static void judge(const char *name, int covered, double from, double to)
{
	print_message("%-58s %5.1f %% covered, wanted %.1f to %.1f\n", name, 100.0 * covered / EXPERIMENTS, 100 * from,
		      100 * to);
	assert_true(covered >= from * EXPERIMENTS && covered <= to * EXPERIMENTS);
}

/* ---- over seeds */

static void mean_over_seeds(void **state)
{
	enum { RUNS = 10, JOBS = 1000 };
	int covered = 0, next = 0;

	(void)state;
	for (uint64_t e = 0; e < EXPERIMENTS; e++) {
		struct ct_estimate m, p;
		double v[RUNS + 1];

		for (uint64_t r = 0; r <= RUNS; r++)
			v[r] = mean_wait(e, r, 0.5, 1, JOBS);
		m = ct_mean_interval(v, RUNS, LEVEL);
		p = ct_prediction_interval(v, RUNS, LEVEL);
		covered += covers(&m, expected_wait(0.5, 1));
		next += covers(&p, v[RUNS]);
	}
	judge("mean over 10 seeds, M/M/1 rho 0.5", covered, 0.93, 0.97);
	judge("the eleventh run in the prediction interval", next, 0.93, 0.97);
}

/* B is served a tenth faster on the same draws. Both true means are known, hence
 * their difference and ratio. Common random numbers must be worth it: the interval
 * at most half as wide as that of other seeds for B. */
static void pairs_over_seeds(void **state)
{
	enum { RUNS = 10, JOBS = 1000 };
	const double a_true = expected_wait(0.5, 1), b_true = expected_wait(0.5, 0.9);
	int covered = 0, ratio = 0, wrong = 0;
	double paired = 0, other = 0;

	(void)state;
	for (uint64_t e = 0; e < EXPERIMENTS; e++) {
		double a[RUNS], b[RUNS], c[RUNS];
		struct ct_estimate r;
		struct ct_paired p;

		for (uint64_t k = 0; k < RUNS; k++) {
			a[k] = mean_wait(e, k, 0.5, 1, JOBS);
			b[k] = mean_wait(e, k, 0.5, 0.9, JOBS);
			c[k] = mean_wait(e, 100 + k, 0.5, 0.9, JOBS);
		}
		p = ct_paired_compare(a, b, RUNS, LEVEL);
		r = ct_ratio_interval(a, b, RUNS, LEVEL);
		covered += covers(&p.mean, b_true - a_true);
		ratio += covers(&r, b_true / a_true);
		wrong += p.verdict == CT_A_LOWER;
		paired += p.mean.hi - p.mean.lo;
		p = ct_paired_compare(a, c, RUNS, LEVEL);
		other += p.mean.hi - p.mean.lo;
	}
	judge("paired difference of means, common random numbers", covered, 0.93, 0.97);
	judge("ratio of means by Fieller", ratio, 0.93, 0.97);
	print_message("%58s width with common random numbers / without: %.2f\n", "", paired / other);
	assert_true(paired < 0.5 * other);
	assert_int_equal(wrong, 0);
}

/* Where nothing differs a winner is called one time in twenty, no more. */
static void no_winner_where_there_is_none(void **state)
{
	enum { RUNS = 10, JOBS = 500 };
	int called = 0;

	(void)state;
	for (uint64_t e = 0; e < EXPERIMENTS; e++) {
		double a[RUNS], b[RUNS];

		for (uint64_t k = 0; k < RUNS; k++) {
			a[k] = mean_wait(e, k, 0.5, 1, JOBS);
			b[k] = mean_wait(e, 100 + k, 0.5, 1, JOBS);
		}
		called += ct_paired_compare(a, b, RUNS, LEVEL).verdict != CT_NO_DIFFERENCE_SHOWN;
	}
	judge("no winner between equals", EXPERIMENTS - called, 0.93, 0.97);
}

/* The time in system of one job a run is exponential with mean 1 / (1 - rho): its
 * quantiles are known, and runs are independent. Order statistics promise more than
 * 95 % because ranks are whole: the exact level of each is the judge, within three
 * standard errors. */
static void quantiles_over_seeds(void **state)
{
	static const struct {
		const char *name;
		size_t runs;
		double q;
	} want[] = {
		{ "median of 10 runs, order statistics", 10, 0.5 },
		{ "median of 25 runs", 25, 0.5 },
		{ "95 % quantile of 100 runs", 100, 0.95 },
	};
	double v[100];

	(void)state;
	for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
		double truth = -log(1 - want[k].q) / (1 - 0.6), level = 0, error;
		int covered = 0;

		for (uint64_t e = 0; e < EXPERIMENTS; e++) {
			struct ct_estimate interval;

			for (uint64_t r = 0; r < want[k].runs; r++) {
				double service = 0, gap, wait = 0;
				struct queue q;

				queue_init(&q, e, 1000 * (k + 1) + r, 0.6, 1, 0);
				for (int i = 0; i < 5; i++)
					wait = queue_next(&q, &service, &gap);
				v[r] = wait + service;
			}
			interval = ct_quantile_interval(v, want[k].runs, want[k].q, LEVEL);
			level = interval.level;
			covered += covers(&interval, truth);
		}
		error = sqrt(level * (1 - level) / EXPERIMENTS);
		judge(want[k].name, covered, level - 3 * error, level + 3 * error);
		assert_true(level >= LEVEL && level < 0.98);
	}
}

/* ---- one long run */

/* Empty at first, MSER-5, then batch means. Batches of a finite run are never quite
 * independent and their means never quite normal, so that this covers less than it
 * says, the less the busier the queue: waits at rho 0.7 stay alike four times as long
 * as at 0.5. The bounds for 0.5 are those of all; 0.7 is held to 90 %. */
static void one_long_run(double rho, double from)
{
	enum { JOBS = 20000 };
	static double v[JOBS];
	int covered = 0, settled = 0, flagged = 0;
	double dropped = 0;
	char name[64];

	for (uint64_t e = 0; e < EXPERIMENTS; e++) {
		double service, gap;
		struct ct_batch_means b;
		struct ct_warmup w;
		struct queue q;

		queue_init(&q, e, 50000, rho, 1, 1);
		for (size_t i = 0; i < JOBS; i++)
			v[i] = queue_next(&q, &service, &gap);
		w = ct_warmup(v, JOBS);
		b = ct_batch_means(v + w.drop, JOBS - w.drop, LEVEL);
		settled += w.settled;
		dropped += (double)w.drop;
		flagged += b.correlated;
		covered += covers(&b.mean, expected_wait(rho, 1));
	}
	print_message("%58s settled %d, dropped %.0f of %d on average, flagged %d\n", "", settled,
		      dropped / EXPERIMENTS, JOBS, flagged);
	snprintf(name, sizeof name, "batch means of one run of %d jobs, rho %.1f", JOBS, rho);
	judge(name, covered, from, 0.97);
	assert_true(settled > 0.8 * EXPERIMENTS);
	assert_true(flagged < 0.05 * EXPERIMENTS);
}

static void batch_means_after_warmup(void **state)
{
	(void)state;
	one_long_run(0.5, 0.93);
	one_long_run(0.7, 0.90);
}

static void too_short_a_run_says_so(void **state)
{
	enum { JOBS = 1000 };
	static double v[JOBS];
	int covered = 0, flagged = 0;

	(void)state;
	for (uint64_t e = 0; e < EXPERIMENTS; e++) {
		double service, gap;
		struct ct_batch_means b;
		struct queue q;

		queue_init(&q, e, 60000, 0.9, 1, 0);
		for (size_t i = 0; i < JOBS; i++)
			v[i] = queue_next(&q, &service, &gap);
		b = ct_batch_means(v, JOBS, LEVEL);
		flagged += b.correlated;
		covered += covers(&b.mean, expected_wait(0.9, 1));
	}
	print_message("%-58s %5.1f %% covered, %.1f %% flagged as too short\n", "1,000 jobs at rho 0.9",
		      100.0 * covered / EXPERIMENTS, 100.0 * flagged / EXPERIMENTS);
	assert_true(covered < 0.85 * EXPERIMENTS);
	assert_true(flagged > 0.9 * EXPERIMENTS);
}

/* ---- the engine */

static uint32_t add_job(struct ct_workload *w, size_t number, double at, double service)
{
	struct ct_job job = CT_JOB_INIT;
	char id[32];
	int n = snprintf(id, sizeof id, "%zu", number);

	job.id = ct_workload_text(w, id, (size_t)n);
	job.submit_us = (ct_time)llround(at * UNIT_US);
	job.duration_us = (ct_time)fmax(1, round(service * UNIT_US));
	return ct_workload_add(w, &job);
}

/* Waits of the jobs of one run under fifo on one GPU. The work found by the first job is
 * a job before it. */
static double engine_wait(uint64_t experiment, uint64_t run, double lambda, size_t jobs, double *recursion)
{
	struct ct_workload *work = ct_workload_new();
	struct ct_node_spec node = { .count = 1, .gpus = 1, .gpu_speed = 1 };
	struct ct_control_spec spec = { 0 };
	struct ct_err err = { 0 };
	double t = 0, sum = 0, service, gap;
	struct ct_world *w;
	void *state;
	struct queue q;
	size_t first;

	queue_init(&q, experiment, run, lambda, 1, 0);
	first = q.wait > 0;
	if (first)
		add_job(work, jobs, 0, q.wait);
	*recursion = 0;
	for (size_t i = 0; i < jobs; i++) {
		*recursion += queue_next(&q, &service, &gap);
		add_job(work, i, t, service);
		t += gap;
	}
	if (ct_workload_seal(work, &err))
		fail_msg("%s", err.text);
	spec.policy = ct_test_policy("fifo");
	spec.policy_state = state = ct_test_state(spec.policy, NULL);
	spec.world = (struct ct_world_spec){
		.work = work, .cluster = { &node, 1 }, .residents = 1, .until_us = CT_NEVER, .attain_floor = 0.5
	};
	w = ct_test_run(&spec);
	for (size_t i = first; i < work->n; i++)
		sum += (double)(ct_world_outcomes(w)[i].start_us - work->jobs[i].submit_us);
	ct_world_free(w);
	free(state);
	ct_workload_free(work);
	*recursion /= (double)jobs;
	return sum / (double)jobs / UNIT_US;
}

/* A time is rounded to 1e-8 of a unit, a wait is at most the sum of the roundings of
 * a busy period. */
static void engine_over_seeds(void **state)
{
	enum { RUNS = 5, JOBS = 200 };
	int covered = 0;

	(void)state;
	for (uint64_t e = 0; e < EXPERIMENTS; e++) {
		struct ct_estimate m;
		double v[RUNS], recursion;

		for (uint64_t r = 0; r < RUNS; r++) {
			v[r] = engine_wait(e, 70000 + r, 0.3, JOBS, &recursion);
			if (fabs(v[r] - recursion) > 1e-8 * JOBS)
				fail_msg("engine %.10g, recursion %.10g", v[r], recursion);
		}
		m = ct_mean_interval(v, RUNS, LEVEL);
		covered += covers(&m, expected_wait(0.3, 1));
	}
	judge("mean over 5 seeds of the engine, M/M/1 rho 0.3", covered, 0.93, 0.97);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_over_seeds),
		cmocka_unit_test(pairs_over_seeds),
		cmocka_unit_test(no_winner_where_there_is_none),
		cmocka_unit_test(quantiles_over_seeds),
		cmocka_unit_test(batch_means_after_warmup),
		cmocka_unit_test(too_short_a_run_says_so),
		cmocka_unit_test(engine_over_seeds),
	};

	gsl_set_error_handler_off();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
