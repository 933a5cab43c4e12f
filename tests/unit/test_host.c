/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a policy may ask of the host about families, pairs, prices and progress, through
 * a policy of the test's own; the values asked for are the test's or computed by hand. */
#include "scheduler/control.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define S CT_SECOND

/* What the policy was told, for the test to look at. */
struct told {
	struct ct_view_family profiled[3], nearest[3];
	struct ct_view_config config[3], fast, nearest_base; /* first of the profiled ones; others of job 0 */
	double slowdown[5];
	ct_time price[4];
	int blocks[4];
	double progress_us, sm_gpu_us, late_progress_us;
	int bad_note; /* which note to get wrong */
};
struct asker { /* the policy's state: copied by the host */
	struct told *told;
};

static void ask(struct told *t, const struct ct_view *v)
{
	const struct ct_host *h = v->host;
	static const uint32_t pair[5][2] = { { 0, 1 }, { 1, 0 }, { 0, 0 }, { 2, 0 }, { 0, CT_ANY } };

	for (uint32_t job = 0; job < 3; job++) {
		t->profiled[job] = *h->family(h->ctx, job, 1);
		t->nearest[job] = *h->family(h->ctx, job, 0);
		t->config[job] = t->profiled[job].config[0];
	}
	t->fast = t->profiled[0].config[1];
	t->nearest_base = t->nearest[0].config[0];
	for (int i = 0; i < 5; i++)
		t->slowdown[i] = h->slowdown(h->ctx, pair[i][0], pair[i][1]);
	for (int move = 0; move < 4; move++)
		t->price[move] = h->price_us(h->ctx, 0, move, 1, &t->blocks[move]);
}

/* Job 0 starts in its second configuration at 0; the others wait until it has ended. */
static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	struct told *t = ((struct asker *)state)->told;
	const struct ct_host *h = v->host;
	uint32_t gpu = 0, job;

	if (v->now_us == 0) {
		ask(t, v);
		if (t->bad_note == 1)
			p->note(p, 0, 2, CT_NO_JOB, 0, 0);
		if (t->bad_note == 2)
			p->note(p, 99, 0, CT_NO_JOB, 0, 0);
		if (t->bad_note == 3)
			p->note(p, 0, 0, 99, 0, 0);
		if (p->failed)
			return p->failed;
		p->note(p, 1, 1, 0, 2.5, -1);
		p->note(p, 1, 1, 0, 3.5, -1);
		return p->start(p, 0, 1, &gpu, 1) || p->wake(p, 10 * S) || p->wake(p, 11 * S);
	}
	if (v->now_us == 10 * S) {
		t->progress_us = h->progress_us(h->ctx, 0);
		t->sm_gpu_us = h->sm_gpu_us(h->ctx);
		return 0;
	}
	if (v->now_us == 11 * S) {
		t->late_progress_us = h->progress_us(h->ctx, 0);
		return 0;
	}
	for (job = v->queue_first; job != CT_NO_JOB && !p->failed; job = v->queue_first)
		if (ct_start_anywhere(v, p, job, CT_PLACE_COUNT, 1) != CT_STARTED)
			break;
	return p->failed;
}

static const struct ct_why whys[] = { { "one", "%a", 1 }, { "two", "%j", 0 }, { .name = NULL } };
static const struct ct_policy asks = {
	CT_POLICY_HEAD,       .name = "asks", .summary = "asks", .state_size = sizeof(struct asker),
	.schedule = schedule, .whys = whys,
};

static double by_kind(void *state, uint32_t self, uint32_t other)
{
	(void)state;
	return 1 + 0.25 * self + 0.1 * other;
}

static const struct ct_configuration true_configs[] = {
	{ .name = "base", .throughput = 1, .sm_frac = 0.5F, .gpu_mem_mib = 100, .kind = 0 },
	{ .name = "fast", .throughput = 1.25, .sm_frac = 0.75F, .gpu_mem_mib = 200, .kind = 1 },
};
static const struct ct_configuration profiled_configs[] = {
	{ .name = "base", .throughput = 1, .sm_frac = 0.4F, .gpu_mem_mib = 110, .kind = 0 },
	{ .name = "fast", .throughput = 1.3, .sm_frac = 0.7F, .gpu_mem_mib = 210, .kind = 1 },
};
static const struct ct_configuration nearest_configs[] = {
	{ .name = "base", .throughput = 1, .sm_frac = 0.3F, .gpu_mem_mib = 120, .kind = 1 },
	{ .name = "fast", .throughput = 1.1, .sm_frac = 0.6F, .gpu_mem_mib = 220, .kind = 1 },
};
static const struct ct_family true_family = { true_configs, 2, 0, 0.9, 1 },
			      profiled_family = { profiled_configs, 2, 0, 0.8, 1 },
			      nearest_family = { nearest_configs, 2, 0, 0.7, 1 };

/* Job 0 has a family; 1 and 2 ask for the same, without one. */
static struct ct_workload *three_jobs(void)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (int i = 0; i < 3; i++) {
		struct ct_job j = CT_JOB_INIT;
		char id[2] = { (char)('a' + i), 0 };

		j.id = ct_workload_text(w, id, 1);
		j.duration_us = 100 * S;
		j.sm_frac = 0.25F;
		j.gpu_mem_mib = 1000;
		j.cpu_milli = 2000;
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

/* Start 7 s; switch 3 s without a block; migrate 5 s; resume 2 s. */
static const struct ct_transition prices[] = {
	{ .kind = CT_TRANSITION_START, .cost_us = 7 * S, .blocks = 1 },
	{ .kind = CT_TRANSITION_SWITCH, .to = "fast", .cost_us = 3 * S, .blocks = 0 },
	{ .kind = CT_TRANSITION_MIGRATE, .cost_us = 5 * S, .blocks = 1 },
	{ .kind = CT_TRANSITION_RESUME, .cost_us = 2 * S, .blocks = 1 },
};
static const struct ct_transition_table price_table = { prices, 4 };
static const struct ct_node_spec two = { .count = 1, .gpus = 2, .gpu_speed = 1 };
static const struct ct_family *const families[] = { &true_family, NULL, NULL };
static const struct ct_family *const profiled[] = { &profiled_family, NULL, NULL };
static const struct ct_family *const nearest[] = { &nearest_family, NULL, NULL };

static int run(const struct ct_belief *belief, struct told *told, struct ct_workload *work, struct ct_world **w,
	       struct ct_err *err)
{
	struct asker state = { told };
	const struct ct_control_spec spec = {
		.world = { .work = work,
			   .cluster = { &two, 1 },
			   .families = families,
			   .transitions = &price_table,
			   .residents = 2,
			   .until_us = CT_NEVER,
			   .attain_floor = 0.6,
			   .record_decisions = true },
		.policy = &asks,
		.policy_state = &state,
		.belief = belief,
	};

	return ct_control_run(&spec, w, NULL, err);
}

static void run_ok(const struct ct_belief *belief, struct told *told)
{
	struct ct_workload *work = three_jobs();
	struct ct_err err = { 0 };
	struct ct_world *w;

	if (run(belief, told, work, &w, &err))
		fail_msg("%s", err.text);
	/* noted twice, recorded once, as the first time */
	assert_int_equal(ct_world_log(w)->n_decisions, 1);
	assert_int_equal(ct_world_log(w)->decision[0].job, 1);
	assert_int_equal(ct_world_log(w)->decision[0].other, 0);
	assert_true(ct_world_log(w)->decision[0].a == 2.5F);
	ct_world_free(w);
	ct_workload_free(work);
}

static void families_as_believed(void **state)
{
	struct ct_belief b = { .profiled = profiled, .nearest = nearest, .n_kinds = 2, .slowdown = by_kind };
	struct told t = { 0 };

	(void)state;
	run_ok(&b, &t);
	assert_int_equal(t.profiled[0].n, 2);
	assert_int_equal(t.profiled[0].train, 1);
	assert_true(t.profiled[0].scaling == 0.8);
	assert_true(t.nearest[0].scaling == 0.7);
	assert_int_equal(t.config[0].gpu_mem_mib, 110);
	assert_int_equal(t.config[0].kind, 0);
	assert_true(fabs(t.config[0].sm_frac - 0.4) < 1e-7);
	assert_string_equal(t.fast.name, "fast");
	assert_true(t.fast.throughput == 1.3);
	assert_int_equal(t.nearest_base.kind, 1);
	assert_int_not_equal(t.profiled[0].id, t.nearest[0].id);
}

static void a_job_without_family_is_its_request(void **state)
{
	struct ct_belief b = { .profiled = profiled, .nearest = nearest, .n_kinds = 2, .slowdown = by_kind };
	struct told t = { 0 };

	(void)state;
	run_ok(&b, &t);
	assert_int_equal(t.profiled[1].n, 1);
	assert_int_equal(t.profiled[1].train, -1);
	assert_int_equal(t.config[1].gpu_mem_mib, 1000);
	assert_int_equal(t.config[1].cpu_milli, 2000);
	assert_int_equal(t.config[1].kind, CT_ANY);
	assert_true(t.config[1].throughput == 1);
	assert_true(fabs(t.config[1].sm_frac - 0.25) < 1e-7);
	assert_int_equal(t.profiled[1].id, t.profiled[2].id); /* equal requests */
	assert_int_equal(t.profiled[1].id, t.nearest[1].id);
	assert_int_not_equal(t.profiled[1].id, t.profiled[0].id);
}

static void without_belief_families_are_true_and_pairs_harmless(void **state)
{
	struct told t = { 0 };

	(void)state;
	run_ok(NULL, &t);
	assert_true(t.profiled[0].scaling == 0.9);
	assert_int_equal(t.profiled[0].id, t.nearest[0].id);
	assert_int_equal(t.config[0].gpu_mem_mib, 100);
	for (int i = 0; i < 5; i++)
		assert_true(t.slowdown[i] == 1);
}

/* 1 + .25 self + .1 other; a kind that the belief does not have is harmless. */
static void slow_downs_by_kind(void **state)
{
	static const double want[5] = { 1.1, 1.25, 1, 1, 1 };
	struct ct_belief b = { .n_kinds = 2, .slowdown = by_kind };
	struct told t = { 0 };

	(void)state;
	run_ok(&b, &t);
	for (int i = 0; i < 5; i++)
		assert_true(fabs(t.slowdown[i] - want[i]) < 1e-12);
	assert_true(t.profiled[0].scaling == 0.9); /* no arrays: the world's own */
}

static void prices_of_moves(void **state)
{
	struct told t = { 0 };

	(void)state;
	run_ok(NULL, &t);
	assert_int_equal(t.price[CT_MOVE_START], 7 * S);
	assert_int_equal(t.price[CT_MOVE_SWITCH], 3 * S);
	assert_int_equal(t.price[CT_MOVE_MIGRATE], 5 * S);
	assert_int_equal(t.price[CT_MOVE_RESUME], 2 * S);
	assert_int_equal(t.blocks[CT_MOVE_START], 1);
	assert_int_equal(t.blocks[CT_MOVE_SWITCH], 0);
}

/* Started at 0, ready at 7 s, then 1.25 solo seconds a second: 3.75 s at 10 s, 5 s at 11.
 * Its SMs are .75 active for 3 s, nobody else runs. */
static void progress_and_activity(void **state)
{
	struct told t = { 0 };

	(void)state;
	run_ok(NULL, &t);
	assert_true(fabs(t.progress_us - 3.75e6) < 1e-3);
	assert_true(fabs(t.late_progress_us - 5e6) < 1e-3);
	assert_true(fabs(t.sm_gpu_us - 2.25e6) < 1);
}

static void wrong_notes_end_the_run(void **state)
{
	static const char *const want[] = { "reason 2, the policy has 2", "job number 99, which is not there",
					    "job number 99, which does not exist" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct told t = { .bad_note = i + 1 };
		struct ct_workload *work = three_jobs();
		struct ct_err err = { 0 };
		struct ct_world *w;

		assert_int_equal(run(NULL, &t, work, &w, &err), CT_EPOLICY);
		if (!strstr(err.text, want[i]))
			fail_msg("%s", err.text);
		ct_workload_free(work);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families_as_believed),
		cmocka_unit_test(a_job_without_family_is_its_request),
		cmocka_unit_test(without_belief_families_are_true_and_pairs_harmless),
		cmocka_unit_test(slow_downs_by_kind),
		cmocka_unit_test(prices_of_moves),
		cmocka_unit_test(progress_and_activity),
		cmocka_unit_test(wrong_notes_end_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
