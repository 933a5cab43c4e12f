/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Lucid's artifact asks of the world, by hand: ends seen a step late, survivors of
 * a pair, work lost to preemption; and reserved nodes with profile runs. */
#include "sim/world.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define S CT_SECOND

struct row {
	double submit, duration;
	uint32_t gpus;
};

static struct ct_workload *workload(const struct row *rows, size_t n)
{
	static const char *const ids[] = { "a", "b", "c", "d" };
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct ct_job j = CT_JOB_INIT;

		j.id = ids[i];
		j.submit_us = (ct_time)(rows[i].submit * 1e6);
		j.duration_us = (ct_time)(rows[i].duration * 1e6);
		j.num_gpus = rows[i].gpus;
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static double half(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	(void)state;
	(void)self;
	(void)other;
	return 0.5;
}

static const struct ct_contention halves = { .factor = half };
static const struct ct_node_spec two_by_one[] = { { .count = 2, .gpus = 1, .gpu_speed = 1 } };

static struct ct_world *new_world(const struct ct_workload *work, struct ct_step_law step)
{
	const struct ct_world_spec spec = { .work = work,
					    .cluster = { two_by_one, 1 },
					    .contention = &halves,
					    .residents = 2,
					    .until_us = CT_NEVER,
					    .step = step,
					    .preempt_loss_us = { 4 * S, 6 * S } };
	struct ct_err err = { 0 };
	struct ct_world *w = ct_world_new(&spec, &err);

	if (!w)
		fail_msg("%s", err.text);
	return w;
}

static void start(struct ct_world *w, uint32_t job, uint32_t first, uint32_t n)
{
	const uint32_t gpus[] = { first, first + 1 };
	struct ct_err err = { 0 };

	if (ct_world_start(w, job, 0, gpus, n, &err))
		fail_msg("%s", err.text);
}

static void advance_to(struct ct_world *w, double s)
{
	assert_true(ct_world_advance(w));
	assert_int_equal(ct_world_now(w), (ct_time)llround(s * 1e6));
}

static void end(struct ct_world *w, struct ct_workload *work)
{
	struct ct_err err = { 0 };

	while (ct_world_advance(w))
		;
	if (ct_world_finish(w, &err))
		fail_msg("%s", err.text);
	ct_world_free(w);
	ct_workload_free(work);
}

/* a at 0, b onto the same GPU at 2, both at half speed: the ends of both. */
static void pair(double a, double b, struct ct_step_law step, double end_a, double end_b)
{
	const struct row rows[] = { { 0, a, 1 }, { 2, b, 1 } };
	struct ct_workload *work = workload(rows, 2);
	struct ct_world *w = new_world(work, step);
	const struct ct_outcome *o;

	advance_to(w, 0);
	start(w, 0, 0, 1);
	advance_to(w, 2);
	start(w, 1, 0, 1);
	while (ct_world_advance(w))
		;
	o = ct_world_outcomes(w);
	assert_int_equal(o[0].finish_us, (ct_time)llround(end_a * 1e6));
	assert_int_equal(o[1].finish_us, (ct_time)llround(end_b * 1e6));
	end(w, work);
}

static void the_first_one_ends_first(void **state)
{
	(void)state;
	/* exact: a has 8 left at 2, ends at 18; b did 8, has 2 left */
	pair(10, 10, (struct ct_step_law){ 0, false }, 18, 20);
	/* steps: a is done at 18, seen at 19; b runs alone from 18 on, done at 20, seen at 21 */
	pair(10, 10, (struct ct_step_law){ S, false }, 19, 21);
	/* b keeps half its speed: done at 22, seen at 23 */
	pair(10, 10, (struct ct_step_law){ S, true }, 19, 23);
}

static void the_later_one_ends_first(void **state)
{
	(void)state;
	/* exact: b ends at 12; a did 5 of 18, ends at 25 */
	pair(20, 5, (struct ct_step_law){ 0, false }, 25, 12);
	/* steps: b is seen at 13; a did 5.5, 12.5 left take 13 steps from there, seen one later */
	pair(20, 5, (struct ct_step_law){ S, false }, 27, 13);
	pair(20, 5, (struct ct_step_law){ S, true }, 27, 13);
}

static void both_end_together(void **state)
{
	(void)state;
	/* a has 8 left at 2, b 8: both done at 18 */
	pair(10, 8, (struct ct_step_law){ S, false }, 19, 19);
	pair(10, 8, (struct ct_step_law){ S, true }, 19, 19);
}

static void a_step_is_a_whole_one(void **state)
{
	const struct row rows[] = { { 0.25, 2.5, 1 } };
	struct ct_workload *work = workload(rows, 1);
	struct ct_world *w = new_world(work, (struct ct_step_law){ S, false });

	(void)state;
	advance_to(w, 0.25);
	start(w, 0, 0, 1);
	advance_to(w, 4.25); /* 3 steps, and one to see it */
	assert_true(ct_world_outcomes(w)[0].work_s == 2.5);
	end(w, work);
}

static void preempt(struct ct_world *w, uint32_t job)
{
	struct ct_err err = { 0 };

	if (ct_world_preempt(w, job, &err))
		fail_msg("%s", err.text);
}

/* 4 s on one node, 6 s on two, never more than was done since the start. */
static void a_preemption_costs_work(void **state)
{
	const struct row rows[] = { { 0, 30, 1 }, { 10, 1, 1 }, { 13, 1, 1 }, { 20, 1, 1 } };
	struct ct_workload *work = workload(rows, 4);
	struct ct_world *w = new_world(work, (struct ct_step_law){ 0, false });

	(void)state;
	advance_to(w, 0);
	start(w, 0, 0, 1);
	advance_to(w, 10);
	preempt(w, 0); /* 10 done, 6 count */
	assert_true(ct_world_job_remaining_us(w, 0) == 24e6);
	start(w, 0, 1, 1);
	start(w, 1, 0, 1);
	advance_to(w, 11);
	advance_to(w, 13);
	preempt(w, 0); /* 3 done since, none counts */
	assert_true(ct_world_job_remaining_us(w, 0) == 24e6);
	assert_true(ct_world_outcomes(w)[0].lost_s == 7);
	start(w, 0, 0, 1);
	start(w, 2, 1, 1);
	advance_to(w, 14);
	advance_to(w, 20);
	start(w, 3, 1, 1);
	advance_to(w, 21);
	advance_to(w, 37);
	assert_true(ct_world_outcomes(w)[0].work_s == 30);
	end(w, work);
}

static void a_gang_on_two_nodes_loses_more(void **state)
{
	const struct row rows[] = { { 0, 30, 2 }, { 10, 1, 1 } };
	struct ct_workload *work = workload(rows, 2);
	struct ct_world *w = new_world(work, (struct ct_step_law){ 0, false });

	(void)state;
	advance_to(w, 0);
	start(w, 0, 0, 2);
	advance_to(w, 10);
	preempt(w, 0);
	assert_true(ct_world_job_remaining_us(w, 0) == 26e6);
	start(w, 0, 0, 2);
	end(w, work);
}

/* ---- reserved nodes */

static void only_profile_runs_go_onto_a_reserved_node(void **state)
{
	const struct row rows[] = { { 0, 10, 1 }, { 4, 3, 1 } };
	struct ct_workload *work = workload(rows, 2);
	struct ct_world *w = new_world(work, (struct ct_step_law){ S, false });
	const struct ct_outcome *o = ct_world_outcomes(w);
	const uint32_t zero = 0, one = 1;
	struct ct_err err = { 0 };

	(void)state;
	advance_to(w, 0);
	assert_int_equal(ct_world_profile(w, 0, 0, &one, 1, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "not reserved"));
	assert_int_equal(ct_world_reserve(w, 1, CT_RESERVE_FOR_GOOD, &err), 0);
	assert_int_equal(ct_world_cluster(w)->classes[0].idle_gpus, 1);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_start(w, 0, 0, &one, 1, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "is reserved"));
	assert_int_equal(ct_world_profile(w, 0, 0, &one, 1, &err), 0);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_reserve(w, 1, CT_RESERVE_NOT, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "in use"));
	advance_to(w, 4);
	preempt(w, 0); /* starts anew, and this was no preemption */
	assert_true(ct_world_job_remaining_us(w, 0) == 10e6);
	assert_int_equal(o[0].n_preemptions, 0);
	assert_int_equal(o[0].start_us, -1);
	assert_int_equal(o[0].phase_us[CT_PHASE_PROFILE], 4 * S);
	start(w, 0, zero, 1);
	assert_int_equal(ct_world_profile(w, 1, 0, &one, 1, &err), 0);
	advance_to(w, 7); /* a profile run ends exactly, also with steps */
	assert_int_equal(o[1].state, CT_JOB_FINISHED);
	assert_int_equal(o[1].phase_us[CT_PHASE_PROFILE], 3 * S);
	assert_int_equal(o[1].n_starts, 0);
	assert_int_equal(ct_world_reserve(w, 1, CT_RESERVE_NOT, &err), 0);
	assert_int_equal(ct_world_cluster(w)->classes[0].idle_gpus, 1); /* job a holds the other */
	advance_to(w, 15);
	assert_int_equal(o[0].n_starts, 1);
	end(w, work);
}

static void a_reserved_node_may_fail(void **state)
{
	const struct row rows[] = { { 0, 10, 1 }, { 8, 1, 1 } };
	struct ct_workload *work = workload(rows, 2);
	struct ct_world *w = new_world(work, (struct ct_step_law){ 0, false });
	const uint32_t one = 1;
	struct ct_err err = { 0 };

	(void)state;
	assert_int_equal(ct_world_plan_node(w, 3 * S, 1, false, &err), 0);
	assert_int_equal(ct_world_plan_node(w, 5 * S, 1, true, &err), 0);
	advance_to(w, 0);
	assert_int_equal(ct_world_reserve(w, 1, CT_RESERVE_FOR_NOW, &err), 0);
	assert_int_equal(ct_world_profile(w, 0, 0, &one, 1, &err), 0);
	advance_to(w, 3);
	assert_int_equal(ct_world_job_state(w, 0), CT_JOB_QUEUED);
	advance_to(w, 5);
	assert_int_equal(ct_world_cluster(w)->classes[0].n_gpus, 1);
	assert_int_equal(ct_world_reserve(w, 1, CT_RESERVE_NOT, &err), 0);
	assert_int_equal(ct_world_cluster(w)->classes[0].n_gpus, 2);
	start(w, 0, 1, 1);
	advance_to(w, 8);
	start(w, 1, 0, 1);
	end(w, work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_one_ends_first),
		cmocka_unit_test(the_later_one_ends_first),
		cmocka_unit_test(both_end_together),
		cmocka_unit_test(a_step_is_a_whole_one),
		cmocka_unit_test(a_preemption_costs_work),
		cmocka_unit_test(a_gang_on_two_nodes_loses_more),
		cmocka_unit_test(only_profile_runs_go_onto_a_reserved_node),
		cmocka_unit_test(a_reserved_node_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
