/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far is the policy `elastico` from the optimum? Random instances: 6 to 12
 * single-GPU jobs of the twelve workloads, all submitted at time 0, on 2 to 4 GPUs.
 * What runs after the first epoch, and after ten minutes, is valued with the objective of
 * exact.h (T / T_fastest / slow-down, weights 1, floor 0.6 of the default rate) and
 * compared with the exact optimum.
 *
 * The bars are not our own figures: no value may be above the optimum; the median may
 * not be below that of greedy first fit; and no outcome may be below half the optimum,
 * which is what the simplest greedy rule guarantees (take the most valuable pair or
 * single job that is left: sets of at most two jobs on identical GPUs are a 2-system,
 * Fisher, Nemhauser and Wolsey 1978). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/random.h"
#include "tests/oracle/exact.h"
#include "tests/oracle/harness.h"
#include "tests/oracle/lab.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INSTANCES = 200, MOST_JOBS = 12, MOST_GPUS = 4 };
static const double floor_frac = 0.6; /* sim.attain_floor */

/* The lab, and its families as exact.h wants them. */
struct ground {
	struct lab lab;
	struct exact_job model[LAB_MODELS];
};

struct instance {
	const struct lab *lab;
	uint32_t n, gpus;
	struct lab_job lab_job[MOST_JOBS];
	struct exact_job job[MOST_JOBS];
	struct exact_gpus exact;
	double optimum, aggregate; /* exact_placed(), exact_aggregate() */
};

/* Throughput against the fastest's, needs in GPUs and MiB. */
static struct exact_job exact_of(const struct ct_family *f)
{
	struct exact_config *c = ct_calloc(f->n, sizeof *c);
	double fastest = 0;

	for (uint32_t k = 0; k < f->n; k++)
		fastest = fmax(fastest, f->config[k].throughput);
	for (uint32_t k = 0; k < f->n; k++) {
		c[k].throughput = f->config[k].throughput / fastest;
		c[k].need[EXACT_SM] = f->config[k].sm_frac;
		c[k].need[EXACT_GPU_MEM] = f->config[k].gpu_mem_mib;
	}
	return (struct exact_job){ c, f->n, 1, floor_frac / fastest }; /* the default's throughput is 1 */
}

static void ground_init(struct ground *g, enum ct_belief_predictor predictor, double profile_error)
{
	lab_init(&g->lab, predictor, profile_error);
	for (uint32_t m = 0; m < LAB_MODELS; m++)
		g->model[m] = exact_of(lab_family(&g->lab, m));
}

static void ground_fini(struct ground *g)
{
	for (uint32_t m = 0; m < LAB_MODELS; m++)
		free((void *)(uintptr_t)g->model[m].config);
	lab_fini(&g->lab);
}

static double true_slowdown(const void *ctx, uint32_t job, uint32_t config, uint32_t other, uint32_t other_config)
{
	const struct instance *x = ctx;

	return lab_slowdown(x->lab, x->lab_job[job].model, config, x->lab_job[other].model, other_config);
}

static void draw(struct instance *x, const struct ground *g, uint64_t number)
{
	struct ct_stream r;

	ct_stream_init(&r, 24, CT_RANDOM_TEST, number);
	*x = (struct instance){ .lab = &g->lab };
	x->n = 6 + (uint32_t)gsl_rng_uniform_int(&r.rng, 7);
	x->gpus = 2 + (uint32_t)gsl_rng_uniform_int(&r.rng, 3);
	for (uint32_t j = 0; j < x->n; j++) {
		enum lab_model m = (enum lab_model)gsl_rng_uniform_int(&r.rng, LAB_MODELS);

		x->lab_job[j] = (struct lab_job){ m, 0, 3600 };
		x->job[j] = g->model[m];
	}
	x->exact = (struct exact_gpus){ x->gpus, LAB_GPU_MIB, LAB_GPU_MIB - LAB_RESERVE_MIB, true_slowdown, x };
}

static void solve(struct instance *x)
{
	const double capacity[EXACT_RESOURCES] = { x->gpus, (double)LAB_GPU_MIB * x->gpus, INFINITY, INFINITY };
	struct exact_answer a;

	assert_int_equal(exact_placed(x->job, x->n, &x->exact, &a), 0);
	x->optimum = a.value;
	assert_int_equal(exact_aggregate(x->job, x->n, capacity, 1, &a), 0);
	x->aggregate = a.value;
}

/* ---- an outcome and its value */

struct outcome {
	uint32_t config[MOST_JOBS], gpu[MOST_JOBS]; /* EXACT_NONE: waits */
};

static uint32_t partner_of(const struct instance *x, const struct outcome *o, uint32_t j)
{
	for (uint32_t k = 0; k < x->n; k++)
		if (k != j && o->config[k] != EXACT_NONE && o->gpu[k] == o->gpu[j])
			return k;
	return EXACT_NONE;
}

struct worth {
	double value, alone; /* under sharing; equation 1 */
	double sm, mem;      /* sums of the needs, in GPUs */
	uint32_t floors, running, shared;
};

static struct worth worth(const struct instance *x, const struct outcome *o)
{
	struct worth w = { 0 };

	for (uint32_t j = 0; j < x->n; j++) {
		const struct exact_config *c;
		uint32_t k;
		double t;

		if (o->config[j] == EXACT_NONE)
			continue;
		c = &x->job[j].config[o->config[j]];
		k = partner_of(x, o, j);
		t = c->throughput;
		w.alone += t;
		w.sm += c->need[EXACT_SM];
		w.mem += c->need[EXACT_GPU_MEM] / LAB_GPU_MIB;
		if (k != EXACT_NONE) {
			t /= true_slowdown(x, j, o->config[j], k, o->config[k]);
			assert_true(c->need[EXACT_GPU_MEM] + x->job[k].config[o->config[k]].need[EXACT_GPU_MEM] <=
				    x->exact.mem_two);
			w.shared++;
		}
		w.floors += t < x->job[j].floor * (1 - 1e-12);
		w.value += t;
		w.running++;
	}
	return w;
}

/* ---- two greedy schedulers, written from their definitions */

static uint32_t fastest_alone(const struct exact_job *job)
{
	uint32_t best = 0;

	for (uint32_t c = 1; c < job->n; c++)
		if (job->config[c].throughput > job->config[best].throughput)
			best = c;
	return best;
}

/* In order of submission, each job in the fastest configuration with which it fits on
 * the first GPU that has room: memory, and no floor broken. */
static void first_fit(const struct instance *x, struct outcome *o)
{
	uint32_t resident[MOST_GPUS][2], n[MOST_GPUS] = { 0 };

	for (uint32_t j = 0; j < x->n; j++) {
		o->config[j] = EXACT_NONE;
		for (uint32_t g = 0; g < x->gpus && o->config[j] == EXACT_NONE; g++) {
			double best = -1;

			if (n[g] == 0)
				o->config[j] = fastest_alone(&x->job[j]);
			for (uint32_t c = 0; n[g] == 1 && c < x->job[j].n; c++) {
				uint32_t k = resident[g][0];

				if (x->job[j].config[c].throughput <= best ||
				    exact_pair_value(x->job, &x->exact, j, c, k, o->config[k]) < 0)
					continue;
				best = x->job[j].config[c].throughput;
				o->config[j] = c;
			}
			if (o->config[j] != EXACT_NONE) {
				o->gpu[j] = g;
				resident[g][n[g]++] = j;
			}
		}
	}
}

/* In order of submission, a GPU each, fastest configuration. */
static void one_each(const struct instance *x, struct outcome *o)
{
	for (uint32_t j = 0; j < x->n; j++) {
		o->config[j] = j < x->gpus ? fastest_alone(&x->job[j]) : EXACT_NONE;
		o->gpu[j] = j;
	}
}

/* ---- the policy */

/* What runs `after` seconds. */
static void run(const struct instance *x, const char *const *settings, double after, struct outcome *o)
{
	const struct lab_request q = { .job = x->lab_job,
				       .n = x->n,
				       .gpus = x->gpus,
				       .policy = "elastico",
				       .settings = settings,
				       .until_s = after,
				       .free_transitions = 1 };
	struct lab_run r;

	lab_run(x->lab, &q, &r);
	for (uint32_t j = 0; j < x->n; j++) {
		uint32_t n;
		const struct ct_slot *slot = ct_world_job_slots(r.world, j, &n);

		o->config[j] = n ? ct_world_job_config(r.world, j) : EXACT_NONE;
		o->gpu[j] = n ? slot->gpu : EXACT_NONE;
	}
	lab_run_fini(&r);
}

/* ---- the figures */

struct figures {
	const char *name;
	double share[INSTANCES], aggregate[INSTANCES]; /* of the optimum */
	double configs, pairs, jobs;                   /* parts of the gap, summed */
	uint32_t floors, above, within, above_aggregate, running, shared;
};

/* The optimum of some of the jobs on some GPUs. */
static double optimum_of(const struct instance *x, const uint32_t *job, uint32_t n, uint32_t gpus)
{
	struct instance sub = { .lab = x->lab, .n = n, .gpus = gpus, .exact = x->exact };
	struct exact_answer a;

	for (uint32_t i = 0; i < n; i++) {
		sub.lab_job[i] = x->lab_job[job[i]];
		sub.job[i] = x->job[job[i]];
	}
	sub.exact.gpus = gpus;
	sub.exact.ctx = &sub;
	assert_int_equal(exact_placed(sub.job, n, &sub.exact, &a), 0);
	return a.value;
}

/* What is lost by the configurations of those who share or run, by who shares with whom,
 * and by who runs at all: the same outcome with one after the other left to exact_placed(). */
static void split_gap(struct figures *f, const struct instance *x, const struct outcome *o, double value)
{
	uint32_t running[MOST_JOBS], n = 0;
	double configs = 0, pairs;

	for (uint32_t j = 0; j < x->n; j++) {
		uint32_t two[2] = { j, 0 };

		if (o->config[j] == EXACT_NONE)
			continue;
		running[n++] = j;
		two[1] = partner_of(x, o, j);
		if (two[1] == EXACT_NONE || two[1] > j)
			configs += optimum_of(x, two, two[1] == EXACT_NONE ? 1 : 2, 1);
	}
	pairs = optimum_of(x, running, n, x->gpus);
	f->configs += (configs - value) / x->optimum / INSTANCES;
	f->pairs += (pairs - configs) / x->optimum / INSTANCES;
	f->jobs += (x->optimum - pairs) / x->optimum / INSTANCES;
}

static void count(struct figures *f, uint32_t i, const struct instance *x, const struct outcome *o)
{
	struct worth w = worth(x, o);

	f->share[i] = w.value / x->optimum;
	split_gap(f, x, o, w.value);
	f->aggregate[i] = w.alone / x->aggregate;
	f->floors += w.floors;
	f->running += w.running;
	f->shared += w.shared;
	f->above += w.floors == 0 && w.value > x->optimum * (1 + 1e-9);
	if (w.sm <= x->gpus && w.mem <= x->gpus) { /* it keeps equation 3 */
		f->within++;
		f->above_aggregate += w.alone > x->aggregate * (1 + 1e-9);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts. q = 0.05: the gap that 95 % of the instances keep below. */
static double quantile(double *v, double q)
{
	qsort(v, INSTANCES, sizeof *v, by_size);
	return v[(size_t)(q * (INSTANCES - 1) + 0.5)];
}

static void print_head(void)
{
	print_message(
	    "gap to the optimum, %%     median   p95 worst | mean = configurations + pairs + jobs | eq. 1-5 | running "
	    "sharing floors broken\n");
}

static void print(struct figures *f)
{
	print_message("%-24s %7.1f %5.1f %5.1f | %4.1f %16.1f %7.1f %6.1f | %7.1f | %7.2f %7.2f %8u\n", f->name,
		      100 * (1 - quantile(f->share, 0.5)), 100 * (1 - quantile(f->share, 0.05)),
		      100 * (1 - quantile(f->share, 0)), 100 * (f->configs + f->pairs + f->jobs), 100 * f->configs,
		      100 * f->pairs, 100 * f->jobs, 100 * (1 - quantile(f->aggregate, 0.5)),
		      (double)f->running / INSTANCES, (double)f->shared / INSTANCES, (unsigned)f->floors);
}

static void need_glpk(void)
{
	if (exact_present())
		return;
	print_message("skipped: built without GLPK (libglpk-dev)\n");
	skip();
}

/* All jobs come with a profile, as all of an instance's are equally new. */
#define PROFILED "cache_hit=1"
static const char *const as_is[] = { PROFILED, NULL };
static const char *const tolerant[] = { PROFILED, "tau_base=100", NULL }; /* the floors alone bind */
static const char *const no_rst[] = { PROFILED, "rst=false", NULL };
static const char *const no_esp[] = { PROFILED, "esp=false", NULL };

static void try(struct figures *f, uint32_t i, const struct instance *x, const char *const *settings, double after)
{
	struct outcome o;

	run(x, settings, after, &o);
	count(f, i, x, &o);
}

static void the_gap_with_perfect_predictions(void **state)
{
	static struct figures first = { .name = "elastico, first epoch" }, later = { .name = "elastico, ten minutes" },
			      loose = { .name = "  any slow-down" }, rigid = { .name = "  without RST" },
			      unpriced = { .name = "  without ESP" }, fit = { .name = "greedy first fit" },
			      each = { .name = "one job a GPU" };
	struct figures *const all[] = { &first, &later, &loose, &rigid, &unpriced, &fit, &each };
	struct ground g;

	(void)state;
	need_glpk();
	ground_init(&g, CT_BELIEF_ORACLE, 0);
	for (uint32_t i = 0; i < INSTANCES; i++) {
		struct instance x;
		struct outcome o;

		draw(&x, &g, i);
		solve(&x);
		try(&first, i, &x, as_is, 1);
		try(&later, i, &x, as_is, 600);
		try(&loose, i, &x, tolerant, 1);
		try(&rigid, i, &x, no_rst, 1);
		try(&unpriced, i, &x, no_esp, 1);
		first_fit(&x, &o);
		count(&fit, i, &x, &o);
		one_each(&x, &o);
		count(&each, i, &x, &o);
	}
	print_head();
	for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
		print(all[k]);
		assert_int_equal(all[k]->above, 0);
		assert_int_equal(all[k]->above_aggregate, 0);
		assert_int_equal(all[k]->floors, 0); /* predictions are right */
	}
	assert_true(first.within > 0 && fit.within > 0);
	assert_true(quantile(first.share, 0.5) >= quantile(fit.share, 0.5));
	assert_true(quantile(later.share, 0.5) >= quantile(fit.share, 0.5));
	assert_true(quantile(first.share, 0) >= 0.5);
	assert_true(quantile(later.share, 0) >= 0.5);
	ground_fini(&g);
}

static void the_gap_with_the_network(void **state)
{
	static struct figures first = { .name = "with dnn, first epoch" }, later = { .name = "with dnn, ten minutes" },
			      fit = { .name = "greedy first fit" };
	struct ground g;

	(void)state;
	need_glpk();
	ground_init(&g, CT_BELIEF_DNN, 0.03);
	for (uint32_t i = 0; i < INSTANCES; i++) {
		struct instance x;
		struct outcome o;

		draw(&x, &g, i);
		solve(&x);
		try(&first, i, &x, as_is, 1);
		try(&later, i, &x, as_is, 600);
		first_fit(&x, &o);
		count(&fit, i, &x, &o);
	}
	print_head();
	print(&first);
	print(&later);
	/* a floor broken by a wrong prediction buys throughput: only the others are bounded */
	assert_int_equal(first.above + later.above, 0);
	assert_true(quantile(first.share, 0.5) >= quantile(fit.share, 0.5));
	assert_true(quantile(first.share, 0.05) >= 0.5);
	ground_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gap_with_perfect_predictions),
		cmocka_unit_test(the_gap_with_the_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
