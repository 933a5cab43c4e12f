/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Failures by hand: every expected time is computed on paper from what is said beside
 * it. Two nodes with two GPUs each. */
#include "sim/failures.h"
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

static const struct ct_node_spec two_by_two[] = { { .count = 2, .gpus = 2, .gpu_speed = 1 } };

struct row {
	double duration;
	uint32_t gpus, milli;
};

static struct ct_workload *workload(const struct row *rows, size_t n)
{
	static const char *const ids[] = { "a", "b", "c", "d", "e" };
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct ct_job j = CT_JOB_INIT;

		j.id = ct_workload_text(w, ids[i], 1);
		j.duration_us = (ct_time)(rows[i].duration * 1e6);
		j.num_gpus = rows[i].gpus;
		j.gpu_milli = rows[i].milli ? rows[i].milli : 1000;
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static struct ct_world *new_world(const struct ct_workload *work, const struct ct_failure_spec *f)
{
	const struct ct_world_spec spec = { .work = work,
					    .cluster = { two_by_two, 1 },
					    .residents = 2,
					    .until_us = CT_NEVER,
					    .attain_floor = 0.6,
					    .failures = *f };
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

static void finish_ok(struct ct_world *w, struct ct_account *a)
{
	struct ct_err err = { 0 };

	assert_false(ct_world_advance(w));
	if (ct_world_finish(w, &err))
		fail_msg("%s", err.text);
	ct_world_account(w, a);
	ct_world_free(w);
}

static void a_gpu_fails_alone(void **state)
{
	const struct row rows[] = { { 100, 2, 0 }, { 100, 1, 0 }, { 50, 1, 0 } };
	const struct ct_outage outage[] = { { .node = 0, .gpu = 1, .down_us = 30 * S, .up_us = 80 * S } };
	const struct ct_failure_spec f = { .outage = outage, .n_outages = 1 };
	struct ct_workload *work = workload(rows, 3);
	struct ct_world *w = new_world(work, &f);
	const struct ct_cluster *c = ct_world_cluster(w);
	const uint32_t failed = 1, reserved = 0;
	struct ct_err err = { 0 };
	struct ct_account a;

	(void)state;
	advance_to(w, 0);
	start(w, 0, 0, 2); /* on both GPUs of node 0 */
	start(w, 1, 2, 1);
	advance_to(w, 30);
	assert_true(ct_world_changed(w));
	assert_int_equal(ct_world_job_state(w, 0), CT_JOB_QUEUED);
	assert_int_equal(ct_world_job_state(w, 1), CT_JOB_RUNNING);
	assert_int_equal(c->nodes[0].idle_gpus, 1);
	assert_int_equal(c->nodes[0].free_milli, 1000);
	assert_int_equal(c->nodes[0].down_gpus, 1);
	assert_int_equal(c->classes[0].n_gpus, 3);
	assert_int_equal(c->classes[0].idle_gpus, 2);
	assert_int_equal(c->classes[0].n_nodes_up, 2);
	assert_int_equal(ct_world_start(w, 2, 0, &failed, 1, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "GPU 1 has failed"));
	memset(&err, 0, sizeof err);
	/* a node with a failed GPU can be reserved and given back */
	assert_int_equal(ct_world_reserve(w, reserved, CT_RESERVE_FOR_NOW, &err), 0);
	assert_int_equal(ct_world_reserve(w, reserved, CT_RESERVE_NOT, &err), 0);
	assert_int_equal(c->classes[0].n_gpus, 3);
	start(w, 2, 0, 1); /* its other GPU goes on: 30 to 80 */
	advance_to(w, 80);
	assert_int_equal(ct_world_outcomes(w)[2].finish_us, 80 * S);
	assert_int_equal(c->nodes[0].idle_gpus, 2);
	assert_int_equal(c->classes[0].n_gpus, 4);
	start(w, 0, 0, 2); /* from the beginning: 80 to 180 */
	advance_to(w, 100);
	advance_to(w, 180);
	finish_ok(w, &a);
	assert_int_equal(a.gpu_failures, 1);
	assert_int_equal(a.node_failures, 0);
	assert_int_equal(a.n_hits, 1);
	assert_true(a.down_gpu_s == 50);
	assert_true(a.failure_lost_gpu_s == 60); /* 30 s on 2 GPUs */
	assert_true(a.lost_gpu_s == 60);
	ct_workload_free(work);
}

/* Checkpoints at 20, 40, 60 s of run; the second start takes 7 s of restart. */
static void work_since_the_last_checkpoint_is_lost(void **state)
{
	const struct row rows[] = { { 100, 1, 0 } };
	const struct ct_outage outage[] = { { .node = 0, .gpu = CT_NONE, .down_us = 55 * S, .up_us = 60 * S } };
	const struct ct_failure_spec f = {
		.outage = outage, .n_outages = 1, .checkpoint_us = 20 * S, .restart_us = 7 * S
	};
	struct ct_workload *work = workload(rows, 1);
	struct ct_world *w = new_world(work, &f);
	struct ct_account a;

	(void)state;
	advance_to(w, 0);
	start(w, 0, 0, 1);
	advance_to(w, 55);
	assert_true(ct_world_job_remaining_us(w, 0) == 60e6);
	advance_to(w, 60);
	start(w, 0, 0, 1);
	assert_int_equal(ct_world_job_state(w, 0), CT_JOB_STARTING);
	advance_to(w, 67);
	advance_to(w, 127);
	assert_int_equal(ct_world_outcomes(w)[0].phase_us[CT_PHASE_START], 7 * S);
	assert_true(ct_world_outcomes(w)[0].lost_s == 15);
	assert_int_equal(ct_world_outcomes(w)[0].finish_us, 127 * S);
	finish_ok(w, &a);
	assert_true(a.down_gpu_s == 10); /* two GPUs for 5 s */
	assert_true(a.transition_s[CT_TRANSITION_RESUME] == 7);
	ct_workload_free(work);
}

static double half(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	(void)state;
	(void)self;
	(void)other;
	return 0.5;
}

/* Half speed from 0 to 25, alone from then on: checkpoints after 20 s of run (10 of
 * work) and 40 s (12.5 + 15 = 27.5); the failure at 47 s takes the 7 s since. */
static void checkpoints_count_run_time_at_any_speed(void **state)
{
	const struct row rows[] = { { 100, 1, 0 }, { 12.5, 1, 0 } };
	const struct ct_contention sharing = { .factor = half };
	struct ct_workload *work = workload(rows, 2);
	struct ct_world_spec spec = { .work = work,
				      .cluster = { two_by_two, 1 },
				      .contention = &sharing,
				      .residents = 2,
				      .until_us = CT_NEVER,
				      .attain_floor = 0.6,
				      .failures = { .checkpoint_us = 20 * S } };
	struct ct_err err = { 0 };
	struct ct_world *w = ct_world_new(&spec, &err);
	struct ct_account a;

	(void)state;
	assert_int_equal(ct_world_plan_gpu(w, 47 * S, 0, false, &err), 0);
	assert_int_equal(ct_world_plan_gpu(w, 48 * S, 4, false, &err), CT_ECONFIG);
	advance_to(w, 0);
	start(w, 0, 0, 1);
	start(w, 1, 0, 1);
	advance_to(w, 25);
	assert_int_equal(ct_world_job_state(w, 1), CT_JOB_FINISHED);
	advance_to(w, 47);
	assert_true(fabs(ct_world_job_remaining_us(w, 0) - 72.5e6) < 1e-3);
	assert_true(fabs(ct_world_outcomes(w)[0].lost_s - 7) < 1e-9);
	start(w, 0, 1, 1);
	advance_to(w, 119.5);
	finish_ok(w, &a);
	ct_workload_free(work);
}

/* Shares of 600, 600, 600 laid over two GPUs: the first lies on GPU 0, the second on
 * both, the third on GPU 1. */
static void a_gpu_takes_what_lies_on_it_of_a_pool(void **state)
{
	const struct row rows[] = { { 100, 1, 600 }, { 100, 1, 600 }, { 100, 1, 600 } };
	const struct ct_failure_spec none = { 0 };
	struct ct_workload *work = workload(rows, 3);

	(void)state;
	for (uint32_t failed = 0; failed < 2; failed++) {
		struct ct_world *w = new_world(work, &none);
		struct ct_err err = { 0 };
		struct ct_account a;

		assert_int_equal(ct_world_plan_gpu(w, 40 * S, failed, false, &err), 0);
		advance_to(w, 0);
		for (uint32_t job = 0; job < 3; job++)
			assert_int_equal(ct_world_start_pool(w, job, 0, 0, &err), 0);
		advance_to(w, 40);
		assert_int_equal(ct_world_job_state(w, 0), failed ? CT_JOB_RUNNING : CT_JOB_QUEUED);
		assert_int_equal(ct_world_job_state(w, 1), CT_JOB_QUEUED);
		assert_int_equal(ct_world_job_state(w, 2), failed ? CT_JOB_QUEUED : CT_JOB_RUNNING);
		assert_int_equal(ct_world_cluster(w)->nodes[0].free_milli, 400);
		assert_int_equal(ct_world_start_pool(w, 1, 0, 0, &err), CT_EPOLICY);
		memset(&err, 0, sizeof err);
		assert_int_equal(ct_world_start_pool(w, 1, 0, 1, &err), 0);
		assert_int_equal(ct_world_start_pool(w, failed ? 2 : 0, 0, 1, &err), 0);
		advance_to(w, 100);
		advance_to(w, 140);
		finish_ok(w, &a);
		assert_int_equal(a.n_hits, 2);
	}
	ct_workload_free(work);
}

static void a_gpu_stays_down_while_its_node_comes_back(void **state)
{
	const struct row rows[] = { { 100, 1, 0 } };
	const struct ct_failure_spec none = { 0 };
	struct ct_workload *work = workload(rows, 1);
	struct ct_world *w = new_world(work, &none);
	const struct ct_cluster *c = ct_world_cluster(w);
	struct ct_err err = { 0 };
	struct ct_account a;

	(void)state;
	assert_int_equal(ct_world_plan_node(w, 10 * S, 1, false, &err), 0);
	assert_int_equal(ct_world_plan_gpu(w, 20 * S, 3, false, &err), 0);
	assert_int_equal(ct_world_plan_node(w, 30 * S, 1, true, &err), 0);
	assert_int_equal(ct_world_plan_gpu(w, 40 * S, 3, true, &err), 0);
	advance_to(w, 0);
	start(w, 0, 0, 1);
	advance_to(w, 10);
	assert_int_equal(c->classes[0].n_gpus, 2);
	advance_to(w, 20);
	assert_int_equal(c->classes[0].n_gpus, 2);
	advance_to(w, 30);
	assert_int_equal(c->classes[0].n_gpus, 3);
	assert_int_equal(c->nodes[1].idle_gpus, 1);
	advance_to(w, 40);
	assert_int_equal(c->classes[0].n_gpus, 4);
	assert_int_equal(c->nodes[1].free_milli, 2000);
	advance_to(w, 100);
	finish_ok(w, &a);
	assert_true(a.down_gpu_s == 50); /* 2 GPUs for 20 s, one for 10 s */
	assert_true(a.failure_lost_gpu_s == 0);
	ct_workload_free(work);
}

/* Means and coefficients of variation of the laws, over 20,000 draws of one node. */
static void draws_have_their_moments(void **state)
{
	enum { N = 20000 };
	struct ct_failure_spec f = { .node = { 1000, 0.7, 400 },
				     .repair_law = CT_REPAIR_LOGNORMAL,
				     .repair_sigma = 0.9 };
	double up = 0, up2 = 0, down = 0, down2 = 0, cv2_up, cv2_down;
	double wanted_up = tgamma(1 + 2 / 0.7) / pow(tgamma(1 + 1 / 0.7), 2) - 1, wanted_down = expm1(0.81);

	(void)state;
	for (uint32_t k = 0; k < N; k++) {
		struct ct_outage_draw d = ct_failures_draw(&f, 1, false, 5, k);

		up += (double)d.after_us / 1e6 / N;
		up2 += pow((double)d.after_us / 1e6, 2) / N;
		down += (double)d.lasts_us / 1e6 / N;
		down2 += pow((double)d.lasts_us / 1e6, 2) / N;
	}
	cv2_up = up2 / (up * up) - 1;
	cv2_down = down2 / (down * down) - 1;
	assert_true(fabs(up - 1000) < 4 * 1000 * sqrt(wanted_up / N));
	assert_true(fabs(down - 400) < 4 * 400 * sqrt(wanted_down / N));
	assert_true(fabs(cv2_up / wanted_up - 1) < 0.15);
	assert_true(fabs(cv2_down / wanted_down - 1) < 0.15);
	f.repair_law = CT_REPAIR_FIXED;
	assert_int_equal(ct_failures_draw(&f, 1, false, 5, 3).lasts_us, 400 * S);
	/* keyed by node, GPU and number */
	f.gpu = f.node;
	assert_int_equal(ct_failures_draw(&f, 1, false, 5, 3).after_us, ct_failures_draw(&f, 1, false, 5, 3).after_us);
	assert_int_not_equal(ct_failures_draw(&f, 1, false, 5, 3).after_us,
			     ct_failures_draw(&f, 1, true, 5, 3).after_us);
	assert_int_not_equal(ct_failures_draw(&f, 1, false, 5, 3).after_us,
			     ct_failures_draw(&f, 2, false, 5, 3).after_us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gpu_fails_alone),
		cmocka_unit_test(work_since_the_last_checkpoint_is_lost),
		cmocka_unit_test(checkpoints_count_run_time_at_any_speed),
		cmocka_unit_test(a_gpu_takes_what_lies_on_it_of_a_pool),
		cmocka_unit_test(a_gpu_stays_down_while_its_node_comes_back),
		cmocka_unit_test(draws_have_their_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
