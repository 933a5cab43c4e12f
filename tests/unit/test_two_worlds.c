/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two simulations in one process do not disturb each other: stepped in turn, or
 * one run from inside another, they end as each does alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/control.h"
#include "scheduler/registry.h"
#include "sim/random.h"
#include "tests/oracle/harness.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A world and the trivial policy that drives it: first come first served on the
 * lowest idle GPUs; with `preempts`, the longest running job makes room every
 * twentieth arrival. */
struct side {
	struct ct_workload *work;
	struct ct_node_spec nodes[2];
	struct ct_contention sharing;
	double factor;
	struct ct_world *world;
	uint32_t head, preempts;
	uint8_t *queued_again; /* per job */
	int over;
};

static double constant_factor(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	(void)self;
	(void)other;
	return *(const double *)state;
}

static struct ct_workload *make_jobs(uint64_t seed, size_t n, double mean_gap_s)
{
	static const uint32_t sizes[] = { 1, 1, 1, 2, 4, 8 };
	struct ct_workload *w = ct_workload_new();
	struct ct_stream s;
	struct ct_err err = { 0 };
	double t = 0;

	ct_stream_init(&s, seed, CT_RANDOM_TEST, 0);
	for (size_t i = 0; i < n; i++) {
		struct ct_job job = CT_JOB_INIT;
		char id[32];
		int k = snprintf(id, sizeof id, "job%zu", i);

		t += gsl_ran_exponential(&s.rng, mean_gap_s);
		job.id = ct_workload_text(w, id, (size_t)k);
		job.submit_us = (ct_time)(t * 1e6);
		job.duration_us = 1 + (ct_time)(gsl_ran_lognormal(&s.rng, 5.0, 1.5) * 1e6);
		job.num_gpus = sizes[gsl_rng_uniform_int(&s.rng, 6)];
		ct_workload_add(w, &job);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static void side_init(struct side *s, uint64_t seed, double factor, uint32_t preempts)
{
	struct ct_world_spec spec = { 0 };
	struct ct_err err = { 0 };

	*s = (struct side){ .work = make_jobs(seed, 400, 40), .factor = factor, .preempts = preempts };
	s->nodes[0] = (struct ct_node_spec){ .name = "a", .count = 2, .gpus = 4, .gpu_type = "slow", .gpu_speed = 1 };
	s->nodes[1] = (struct ct_node_spec){ .name = "b", .count = 1, .gpus = 6, .gpu_type = "fast", .gpu_speed = 1.5 };
	s->sharing = (struct ct_contention){ .state = &s->factor, .factor = constant_factor };
	s->queued_again = ct_calloc(s->work->n, 1);
	spec.work = s->work;
	spec.cluster = (struct ct_cluster_spec){ s->nodes, 2 };
	spec.contention = &s->sharing;
	spec.seed = seed;
	spec.residents = 2;
	spec.until_us = CT_NEVER;
	spec.attain_floor = 0.5;
	s->world = ct_world_new(&spec, &err);
	if (!s->world)
		fail_msg("%s", err.text);
}

static void side_fini(struct side *s)
{
	ct_world_free(s->world);
	ct_workload_free(s->work);
	free(s->queued_again);
}

/* Starts `job` on the lowest GPUs with fewer than two residents; 0 if it does not fit. */
static int try_start(struct side *s, uint32_t job)
{
	const struct ct_cluster *c = ct_world_cluster(s->world);
	uint32_t gpus[8], n = 0, want = s->work->jobs[job].num_gpus;
	struct ct_err err = { 0 };

	for (uint32_t g = 0; g < c->n_gpus && n < want; g++)
		if (c->gpus[g].n_residents < 2)
			gpus[n++] = g;
	if (n < want)
		return 0;
	if (ct_world_start(s->world, job, 0, gpus, n, &err))
		fail_msg("%s", err.text);
	return 1;
}

static void preempt_one(struct side *s)
{
	struct ct_err err = { 0 };

	for (uint32_t j = 0; j < s->head; j++) {
		if (ct_world_job_state(s->world, j) != CT_JOB_RUNNING || s->queued_again[j])
			continue;
		if (ct_world_preempt(s->world, j, &err))
			fail_msg("%s", err.text);
		s->queued_again[j] = 1;
		return;
	}
}

static int waits(const struct side *s, uint32_t job)
{
	return ct_world_job_state(s->world, job) == CT_JOB_QUEUED;
}

/* One instant; sets over at the end. */
static void step(struct side *s)
{
	if (s->over)
		return;
	if (!ct_world_advance(s->world)) {
		struct ct_err err = { 0 };

		s->over = 1;
		if (ct_world_finish(s->world, &err))
			fail_msg("%s", err.text);
		return;
	}
	if (!ct_world_changed(s->world))
		return;
	for (uint32_t j = 0; j < s->head; j++) /* the preempted ones first */
		if (s->queued_again[j] && waits(s, j) && !try_start(s, j))
			return;
	while (s->head < s->work->n && waits(s, s->head) && try_start(s, s->head)) {
		s->head++;
		if (s->preempts && s->head % 20 == 0)
			preempt_one(s);
	}
}

static void assert_same_outcomes(const struct ct_world *a, const struct ct_world *b, size_t n)
{
	assert_true(ct_world_events(a) == ct_world_events(b));
	assert_true(ct_world_now(a) == ct_world_now(b));
	for (size_t i = 0; i < n; i++) {
		const struct ct_outcome *x = &ct_world_outcomes(a)[i], *y = &ct_world_outcomes(b)[i];

		assert_int_equal(x->state, y->state);
		assert_true(x->start_us == y->start_us && x->finish_us == y->finish_us);
		assert_true(x->work_s == y->work_s && x->gpu_s == y->gpu_s);
		assert_int_equal(x->n_preemptions, y->n_preemptions);
		assert_memory_equal(x->phase_us, y->phase_us, sizeof x->phase_us);
		assert_int_equal(x->n_place, y->n_place);
	}
}

static void stepped_in_turn(void **state)
{
	struct side alone[2], together[2];
	uint32_t n_preemptions = 0;

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		side_init(&alone[k], 11 + k, k ? 0.6 : 0.9, k);
		side_init(&together[k], 11 + k, k ? 0.6 : 0.9, k);
		while (!alone[k].over)
			step(&alone[k]);
	}
	/* uneven turns, so that the two clocks overtake each other */
	for (uint32_t turn = 0; !together[0].over || !together[1].over; turn++) {
		step(&together[0]);
		for (uint32_t i = 0; i < turn % 4; i++)
			step(&together[1]);
	}
	for (uint32_t k = 0; k < 2; k++) {
		assert_same_outcomes(alone[k].world, together[k].world, alone[k].work->n);
		for (size_t i = 0; i < alone[k].work->n; i++) {
			assert_int_equal(ct_world_outcomes(alone[k].world)[i].state, CT_JOB_FINISHED);
			n_preemptions += ct_world_outcomes(alone[k].world)[i].n_preemptions;
		}
	}
	assert_true(n_preemptions > 0); /* the test has bite */
	for (uint32_t k = 0; k < 2; k++) {
		side_fini(&alone[k]);
		side_fini(&together[k]);
	}
}

/* ---- a control run inside another's progress call, on the same workload */

struct nested {
	struct ct_control_spec inner;
	const struct ct_world *expected;
	size_t n;
	unsigned runs;
};

static void run_inside(void *ctx, uint64_t ended, uint64_t jobs, uint64_t events, ct_time now)
{
	struct nested *x = ctx;
	struct ct_world *w;

	(void)ended;
	(void)jobs;
	(void)events;
	(void)now;
	if (x->runs++ > 2)
		return;
	w = ct_test_run(&x->inner);
	assert_same_outcomes(w, x->expected, x->n);
	ct_world_free(w);
}

static struct ct_control_spec control(const struct ct_workload *work, const struct ct_node_spec *node,
				      const struct ct_policy *p, const void *state)
{
	struct ct_control_spec spec = { 0 };

	spec.world.work = work;
	spec.world.cluster = (struct ct_cluster_spec){ node, 1 };
	spec.world.seed = 5;
	spec.world.residents = 1;
	spec.world.until_us = CT_NEVER;
	spec.world.attain_floor = 0.5;
	spec.policy = p;
	spec.policy_state = state;
	return spec;
}

static void run_within_a_run(void **state)
{
	static const char *const pairs[][2] = {
		{ "fifo", "fifo" }, { "easy", "sjf" }, { "las", "las" }, { "srtf", "easy" }
	};
	const struct ct_node_spec node = { .count = 4, .gpus = 8, .gpu_speed = 1 };
	struct ct_workload *work = make_jobs(21, 6000, 40);

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		const struct ct_policy *outer = ct_test_policy(pairs[i][0]), *inner = ct_test_policy(pairs[i][1]);
		void *outer_state = ct_test_state(outer, NULL), *inner_state = ct_test_state(inner, NULL);
		struct ct_control_spec a = control(work, &node, outer, outer_state);
		struct ct_control_spec b = control(work, &node, inner, inner_state);
		struct ct_world *alone = ct_test_run(&a), *inner_alone = ct_test_run(&b), *w;
		struct nested nested = { .inner = b, .expected = inner_alone, .n = work->n };

		a.progress = run_inside;
		a.progress_ctx = &nested;
		w = ct_test_run(&a);
		assert_true(nested.runs > 0);
		assert_same_outcomes(w, alone, work->n);
		ct_world_free(w);
		ct_world_free(alone);
		ct_world_free(inner_alone);
		free(outer_state);
		free(inner_state);
	}
	ct_workload_free(work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stepped_in_turn),
		cmocka_unit_test(run_within_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
