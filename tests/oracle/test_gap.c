/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far is the policy `elastico` from the optimum? Random instances: 6 to 12
 * single-GPU jobs of the twelve workloads, all submitted at time 0, on 2 to 4 GPUs.
 * What runs after the first epoch, and after a minute, is valued with the objective of
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

#include "calib/belief.h"
#include "calib/truth.h"
#include "sim/random.h"
#include "tests/oracle/exact.h"
#include "tests/oracle/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INSTANCES = 240, MODELS = 12, MOST_JOBS = 12, GPU_MIB = 40960, RESERVE_MIB = 512 };
static const double floor_frac = 0.6;
static const char *const models[MODELS] = { "ResNet-50",     "BERT",      "DCGAN",      "PointNet",
					    "Transformer",   "LSTM",      "NCF",        "PPO",
					    "DeepSeek-1.5b", "Qwen-1.7b", "Mistral-7b", "LLaMA-3-7b" };

/* One job a model: families, slow-downs and beliefs of all instances come from here. */
struct lab {
	struct ct_workload *work;
	struct ct_truth *truth;
	struct ct_believer *believer;
	struct exact_job model[MODELS];
	double *s; /* [kind][kind], 0 = not asked yet */
	uint32_t n_kinds;
};

struct instance {
	struct lab *lab;
	uint32_t n, gpus, model[MOST_JOBS];
	struct exact_job job[MOST_JOBS];
	struct exact_gpus exact;
	double optimum, aggregate; /* exact_placed(), exact_aggregate() */
};

static struct ct_workload *jobs_of(const uint32_t *model, uint32_t n)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct ct_job job = CT_JOB_INIT;
		char id[16];
		int k = snprintf(id, sizeof id, "j%u", (unsigned)i);

		job.id = ct_workload_text(w, id, (size_t)k);
		job.duration_us = 3600 * CT_SECOND;
		job.model = ct_strings_add(&w->strings, models[model[i]], strlen(models[model[i]]));
		ct_workload_add(w, &job);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

/* A family as exact.h wants it: throughput against the fastest's, in GPUs and MiB. */
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

static void lab_init(struct lab *lab, enum ct_belief_predictor predictor, double profile_error)
{
	static const uint32_t all[MODELS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	const struct ct_truth_options t = { .dir = "calib/a100-40gb" };
	const struct ct_belief_options b = {
		.predictor = predictor, .seed = 1, .run_seed = 1, .profile_error = profile_error
	};
	struct ct_err err = { 0 };

	*lab = (struct lab){ .work = jobs_of(all, MODELS) };
	if (ct_truth_new(&t, lab->work, &lab->truth, &err) || ct_believer_new(&b, lab->truth, &lab->believer, &err))
		fail_msg("%s", err.text);
	for (uint32_t m = 0; m < MODELS; m++)
		lab->model[m] = exact_of(ct_truth_families(lab->truth)[m]);
	lab->n_kinds = ct_truth_kinds(lab->truth);
	lab->s = ct_calloc((size_t)lab->n_kinds * lab->n_kinds, sizeof *lab->s);
}

static void lab_fini(struct lab *lab)
{
	for (uint32_t m = 0; m < MODELS; m++)
		free((void *)(uintptr_t)lab->model[m].config);
	free(lab->s);
	ct_believer_free(lab->believer);
	ct_truth_free(lab->truth);
	ct_workload_free(lab->work);
}

static double true_slowdown(const void *ctx, uint32_t job, uint32_t config, uint32_t other, uint32_t other_config)
{
	const struct instance *x = ctx;
	const struct ct_family *const *f = ct_truth_families(x->lab->truth);
	uint32_t a = f[x->model[job]]->config[config].kind, b = f[x->model[other]]->config[other_config].kind;
	double *s = &x->lab->s[(size_t)a * x->lab->n_kinds + b];

	if (*s == 0)
		*s = ct_truth_slowdown(x->lab->truth, a, b);
	return *s;
}

static void draw(struct instance *x, struct lab *lab, uint64_t number)
{
	struct ct_stream r;

	ct_stream_init(&r, 24, CT_RANDOM_TEST, number);
	*x = (struct instance){ .lab = lab };
	x->n = 6 + (uint32_t)gsl_rng_uniform_int(&r.rng, 7);
	x->gpus = 2 + (uint32_t)gsl_rng_uniform_int(&r.rng, 3);
	for (uint32_t j = 0; j < x->n; j++) {
		x->model[j] = (uint32_t)gsl_rng_uniform_int(&r.rng, MODELS);
		x->job[j] = lab->model[x->model[j]];
	}
	x->exact = (struct exact_gpus){ x->gpus, GPU_MIB, GPU_MIB - RESERVE_MIB, true_slowdown, x };
}

static void solve(struct instance *x)
{
	const double capacity[EXACT_RESOURCES] = { x->gpus, (double)GPU_MIB * x->gpus, INFINITY, INFINITY };
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
		w.mem += c->need[EXACT_GPU_MEM] / GPU_MIB;
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
	uint32_t resident[4][2], n[4] = { 0 };

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

struct remapped { /* jobs of the instance -> those of the lab */
	struct ct_contention inner;
	const uint32_t *model;
	const struct ct_workload *work;
};

static double remapped_factor(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	const struct remapped *m = state;
	struct ct_contender a = *self, b = *other;

	a.job = m->model[a.job];
	b.job = m->model[b.job];
	return m->inner.factor(m->inner.state, &a, &b);
}

/* What runs `after` seconds. */
static void run(const struct instance *x, const char *const *settings, int after, struct outcome *o)
{
	const struct ct_belief *all = ct_believer_belief(x->lab->believer);
	const struct ct_node_spec node = { .count = 1, .gpus = x->gpus, .gpu_speed = 1, .gpu_mem_mib = GPU_MIB };
	const struct ct_family *families[MOST_JOBS], *profiled[MOST_JOBS], *nearest[MOST_JOBS];
	struct remapped map = { .inner = ct_truth_contention(x->lab->truth), .model = x->model };
	struct ct_contention contention = { &map, remapped_factor };
	struct ct_belief belief = *all;
	const struct ct_policy *policy = ct_test_policy("elastico");
	void *state = ct_test_state(policy, settings);
	struct ct_control_spec spec = { .policy = policy, .policy_state = state, .belief = &belief };
	struct ct_workload *work = jobs_of(x->model, x->n);
	struct ct_world *w;

	for (uint32_t j = 0; j < x->n; j++) {
		families[j] = ct_truth_families(x->lab->truth)[x->model[j]];
		profiled[j] = all->profiled ? all->profiled[x->model[j]] : NULL;
		nearest[j] = all->nearest ? all->nearest[x->model[j]] : NULL;
	}
	belief.profiled = profiled;
	belief.nearest = nearest;
	spec.world = (struct ct_world_spec){ .work = work,
					     .cluster = { &node, 1 },
					     .contention = &contention,
					     .families = families,
					     .seed = 1,
					     .residents = 2,
					     .gpu_reserve_mib = RESERVE_MIB,
					     .until_us = after * CT_SECOND,
					     .censor = true,
					     .attain_floor = floor_frac };
	w = ct_test_run(&spec);
	for (uint32_t j = 0; j < x->n; j++) {
		uint32_t n;
		const struct ct_slot *slot = ct_world_job_slots(w, j, &n);

		o->config[j] = n ? ct_world_job_config(w, j) : EXACT_NONE;
		o->gpu[j] = n ? slot->gpu : EXACT_NONE;
	}
	ct_world_free(w);
	ct_workload_free(work);
	free(state);
}

/* ---- the figures */

struct figures {
	const char *name;
	double share[INSTANCES], aggregate[INSTANCES]; /* of the optimum */
	uint32_t floors, above, within, above_aggregate, running, shared;
};

static void count(struct figures *f, uint32_t i, const struct instance *x, const struct outcome *o)
{
	struct worth w = worth(x, o);

	f->share[i] = w.value / x->optimum;
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
	    "gap to the optimum, %%    median   p95  worst   median gap to eq. 1-5 (%%)  jobs running  sharing  floors "
	    "broken\n");
}

static void print(struct figures *f)
{
	print_message("%-24s %6.1f %6.1f %6.1f   %10.1f %20.2f %12.2f %8u\n", f->name,
		      100 * (1 - quantile(f->share, 0.5)), 100 * (1 - quantile(f->share, 0.05)),
		      100 * (1 - quantile(f->share, 0)), 100 * (1 - quantile(f->aggregate, 0.5)),
		      (double)f->running / INSTANCES, (double)f->shared / INSTANCES, (unsigned)f->floors);
}

static void need_glpk(void)
{
	if (exact_present())
		return;
	print_message("skipped: built without GLPK (libglpk-dev)\n");
	skip();
}

static const char *const all_profiled[] = { "cache_hit=1", NULL };

static void the_gap_with_perfect_predictions(void **state)
{
	static struct figures first = { .name = "elastico, first epoch" }, minute = { .name = "elastico, one minute" },
			      fit = { .name = "greedy first fit" }, each = { .name = "one job a GPU" };
	struct lab lab;

	(void)state;
	need_glpk();
	lab_init(&lab, CT_BELIEF_ORACLE, 0);
	for (uint32_t i = 0; i < INSTANCES; i++) {
		struct instance x;
		struct outcome o;

		draw(&x, &lab, i);
		solve(&x);
		run(&x, all_profiled, 1, &o);
		count(&first, i, &x, &o);
		run(&x, all_profiled, 60, &o);
		count(&minute, i, &x, &o);
		first_fit(&x, &o);
		count(&fit, i, &x, &o);
		one_each(&x, &o);
		count(&each, i, &x, &o);
	}
	print_head();
	print(&first);
	print(&minute);
	print(&fit);
	print(&each);
	assert_int_equal(first.above + minute.above + fit.above + each.above, 0);
	assert_int_equal(first.above_aggregate + minute.above_aggregate + fit.above_aggregate + each.above_aggregate,
			 0);
	assert_true(fit.within > 0);
	assert_int_equal(first.floors + minute.floors, 0); /* predictions are right: no floor is broken */
	assert_true(quantile(first.share, 0.5) >= quantile(fit.share, 0.5));
	assert_true(quantile(minute.share, 0.5) >= quantile(fit.share, 0.5));
	assert_true(quantile(first.share, 0) >= 0.5);
	assert_true(quantile(minute.share, 0) >= 0.5);
	lab_fini(&lab);
}

static void the_gap_with_the_network(void **state)
{
	static struct figures first = { .name = "elastico with dnn, first" },
			      minute = { .name = "elastico with dnn, 1 min" }, fit = { .name = "greedy first fit" };
	struct lab lab;

	(void)state;
	need_glpk();
	lab_init(&lab, CT_BELIEF_DNN, 0.03);
	for (uint32_t i = 0; i < INSTANCES; i++) {
		struct instance x;
		struct outcome o;

		draw(&x, &lab, i);
		solve(&x);
		run(&x, all_profiled, 1, &o);
		count(&first, i, &x, &o);
		run(&x, all_profiled, 60, &o);
		count(&minute, i, &x, &o);
		first_fit(&x, &o);
		count(&fit, i, &x, &o);
	}
	print_head();
	print(&first);
	print(&minute);
	/* a floor broken by a wrong prediction buys throughput: only the others are bounded */
	assert_int_equal(first.above + minute.above, 0);
	assert_true(quantile(first.share, 0.5) >= quantile(fit.share, 0.5));
	assert_true(quantile(first.share, 0.05) >= 0.5);
	lab_fini(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gap_with_perfect_predictions),
		cmocka_unit_test(the_gap_with_the_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
