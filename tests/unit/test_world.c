/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The world by hand: every expected time below is computed on paper from the rates
 * and prices stated beside it. */
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

/* ---- building small worlds */

struct row {
	const char *id, *model, *partition, *type;
	double submit, duration;
	uint32_t gpus, milli, mem;
};

static struct ct_workload *workload(const struct row *rows, size_t n)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct ct_job j = CT_JOB_INIT;
		const struct row *r = &rows[i];

		j.id = ct_workload_text(w, r->id, strlen(r->id));
		j.submit_us = (ct_time)(r->submit * 1e6);
		j.duration_us = (ct_time)(r->duration * 1e6);
		j.num_gpus = r->gpus ? r->gpus : 1;
		j.gpu_milli = r->milli ? r->milli : 1000;
		j.gpu_mem_mib = r->mem;
		if (r->model)
			j.model = ct_strings_add(&w->strings, r->model, strlen(r->model));
		if (r->partition)
			j.partition = ct_strings_add(&w->strings, r->partition, strlen(r->partition));
		if (r->type)
			j.gpu_type = ct_strings_add(&w->strings, r->type, strlen(r->type));
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static const struct ct_node_spec two_by_two[] = { { .count = 2, .gpus = 2, .gpu_speed = 1 } };

static struct ct_world_spec spec_of(const struct ct_workload *w)
{
	return (struct ct_world_spec){
		.work = w, .cluster = { two_by_two, 1 }, .residents = 2, .until_us = CT_NEVER, .attain_floor = 0.6
	};
}

static struct ct_world *new_world(const struct ct_world_spec *s)
{
	struct ct_err err = { 0 };
	struct ct_world *w = ct_world_new(s, &err);

	if (!w)
		fail_msg("%s", err.text);
	return w;
}

static void start(struct ct_world *w, uint32_t job, uint32_t gpu)
{
	struct ct_err err = { 0 };

	if (ct_world_start(w, job, 0, &gpu, 1, &err))
		fail_msg("%s", err.text);
}

/* Advances and checks the time arrived at. */
static void advance_to(struct ct_world *w, double s)
{
	assert_true(ct_world_advance(w));
	assert_int_equal(ct_world_now(w), (ct_time)llround(s * 1e6));
}

static void finish_ok(struct ct_world *w)
{
	struct ct_err err = { 0 };

	assert_false(ct_world_advance(w));
	if (ct_world_finish(w, &err))
		fail_msg("%s", err.text);
}

static ct_time finish_of(const struct ct_world *w, uint32_t job)
{
	return ct_world_outcomes(w)[job].finish_us;
}

/* Every job keeps half its speed beside another, model "tough" three quarters. */
static double half_or_tough(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	(void)other;
	return self->model == *(const uint32_t *)state ? 0.75 : 0.5;
}

/* ---- tests */

static void alone_a_job_runs_its_duration(void **s)
{
	struct row rows[] = { { .id = "a", .submit = 1.5, .duration = 100.25 } };
	struct ct_workload *work = workload(rows, 1);
	struct ct_world_spec spec = spec_of(work);
	struct ct_world *w = new_world(&spec);
	struct ct_account a;

	(void)s;
	advance_to(w, 1.5);
	assert_true(ct_world_changed(w));
	start(w, 0, 3);
	advance_to(w, 101.75);
	finish_ok(w);
	assert_int_equal(ct_world_outcomes(w)[0].state, CT_JOB_FINISHED);
	ct_world_account(w, &a);
	assert_int_equal(a.finished, 1);
	assert_true(a.held_gpu_s == 100.25);
	assert_true(a.capacity_gpu_s == 401); /* 4 GPUs over the window of 100.25 s */
	assert_true(fabs(a.work_gpu_s - 100.25) < 1e-9);
	ct_world_free(w);
	ct_workload_free(work);
}

/* a alone 10 s, then beside b: a at .5, b at .75. b (30 s of work) ends at 10 + 40 = 50;
 * a has done 10 + 20 = 30 of 100 s, the other 70 s alone: ends at 120. */
static void residents_slow_each_other(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 100 },
			      { .id = "b", .model = "tough", .submit = 10, .duration = 30 } };
	struct ct_workload *work = workload(rows, 2);
	uint32_t tough = work->jobs[1].model;
	struct ct_contention truth = { &tough, half_or_tough };
	struct ct_world_spec spec = spec_of(work);

	(void)s;
	spec.contention = &truth;
	struct ct_world *w = new_world(&spec);
	struct ct_account a;

	advance_to(w, 0);
	start(w, 0, 0);
	advance_to(w, 10);
	start(w, 1, 0);
	assert_true(ct_world_job_rate(w, 0) == 0.5);
	assert_true(ct_world_job_rate(w, 1) == 0.75);
	advance_to(w, 50);
	assert_true(ct_world_job_rate(w, 0) == 1);
	advance_to(w, 120);
	finish_ok(w);
	ct_world_account(w, &a);
	assert_true(a.held_gpu_s == 120); /* the GPU counts once */
	assert_true(fabs(ct_world_outcomes(w)[0].gpu_s + ct_world_outcomes(w)[1].gpu_s - 160) < 1e-9);
	ct_world_free(w);
	ct_workload_free(work);
}

/* A gang on GPUs 0 and 1; only GPU 1 is shared, so the gang runs at .5 on both. */
static void a_gang_is_as_slow_as_its_slowest_member(void **s)
{
	struct row rows[] = { { .id = "gang", .duration = 100, .gpus = 2 }, { .id = "b", .duration = 20 } };
	struct ct_workload *work = workload(rows, 2);
	uint32_t none = UINT32_MAX;
	struct ct_contention truth = { &none, half_or_tough };
	struct ct_world_spec spec = spec_of(work);
	uint32_t gpus[] = { 0, 1 };
	struct ct_err err = { 0 };

	(void)s;
	spec.contention = &truth;
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	assert_int_equal(ct_world_start(w, 0, 0, gpus, 2, &err), 0);
	start(w, 1, 1);
	assert_true(ct_world_job_rate(w, 0) == 0.5);
	advance_to(w, 40);  /* b: 20 s of work at .5 */
	advance_to(w, 120); /* gang: 20 done, 80 to go at 1 */
	finish_ok(w);
	ct_world_free(w);
	ct_workload_free(work);
}

/* Speeds 2 and 0.5: 100 s of work last 50 s and 200 s; a gang over both, 200 s. */
static void gpu_types_have_speeds(void **s)
{
	struct ct_node_spec nodes[] = { { .count = 1, .gpus = 2, .gpu_type = "fast", .gpu_speed = 2 },
					{ .count = 1, .gpus = 2, .gpu_type = "slow", .gpu_speed = 0.5 } };
	struct row rows[] = { { .id = "f", .duration = 100, .type = "fast" },
			      { .id = "g", .duration = 100, .gpus = 2 },
			      { .id = "none", .duration = 100, .type = "absent" } };
	struct ct_workload *work = workload(rows, 3);
	struct ct_world_spec spec = spec_of(work);
	uint32_t mixed[] = { 1, 2 }, slow = 3;
	struct ct_err err = { 0 };

	(void)s;
	spec.cluster = (struct ct_cluster_spec){ nodes, 2 };
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	assert_int_equal(ct_world_outcomes(w)[2].state, CT_JOB_REJECTED);
	assert_int_equal(ct_world_outcomes(w)[2].reason, CT_REASON_GPU_TYPE);
	assert_int_equal(ct_world_start(w, 0, 0, &slow, 1, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "job 'f': GPU 3 is a 'slow', the job wants 'fast'"));
	start(w, 0, 0);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_start(w, 1, 0, mixed, 2, &err), 0);
	advance_to(w, 50);
	advance_to(w, 200);
	finish_ok(w);
	ct_world_free(w);
	ct_workload_free(work);
}

static void partitions_do_not_lend(void **s)
{
	struct ct_node_spec nodes[] = { { .count = 1, .gpus = 2, .gpu_speed = 1, .partition = "a" },
					{ .count = 1, .gpus = 4, .gpu_speed = 1, .partition = "b" } };
	struct row rows[] = { { .id = "ok", .duration = 10, .gpus = 2, .partition = "a" },
			      { .id = "big", .duration = 10, .gpus = 3, .partition = "a" },
			      { .id = "lost", .duration = 10, .partition = "c" },
			      { .id = "bare", .duration = 10 } };
	struct ct_workload *work = workload(rows, 4);
	struct ct_world_spec spec = spec_of(work);
	uint32_t theirs[] = { 2, 3 }, own[] = { 1, 0 };
	struct ct_err err = { 0 };

	(void)s;
	spec.cluster = (struct ct_cluster_spec){ nodes, 2 };
	struct ct_world *w = new_world(&spec);
	const struct ct_outcome *o = ct_world_outcomes(w);

	advance_to(w, 0);
	assert_int_equal(o[1].reason, CT_REASON_PARTITION_TOO_SMALL);
	assert_int_equal(o[2].reason, CT_REASON_PARTITION);
	assert_int_equal(o[3].reason, CT_REASON_PARTITION);
	assert_int_equal(ct_world_start(w, 0, 0, theirs, 2, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "belongs to partition 'b', the job to 'a'"));
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_start(w, 0, 0, own, 2, &err), 0);
	assert_int_equal(o[0].n_place, 1); /* GPUs 0-1, whatever order the plan named */
	assert_int_equal(ct_world_places(w)[2 * o[0].place], 0);
	assert_int_equal(ct_world_places(w)[2 * o[0].place + 1], 1);
	advance_to(w, 10);
	finish_ok(w);
	ct_world_free(w);
	ct_workload_free(work);
}

static void wrong_plans_are_refused_and_change_nothing(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 10 },
			      { .id = "b", .duration = 10, .gpus = 2 },
			      { .id = "c", .duration = 10 },
			      { .id = "late", .submit = 5, .duration = 10 } };
	struct ct_workload *work = workload(rows, 4);
	struct ct_world_spec spec = spec_of(work);
	uint32_t twice[] = { 1, 1 }, one[] = { 1 }, beyond = 4, zero = 0;
	struct {
		uint32_t job, config;
		const uint32_t *gpus;
		uint32_t n;
		const char *wants;
	} t[] = {
		{ 1, 0, twice, 2, "job 'b': GPU 1 is named twice" },
		{ 1, 0, one, 1, "job 'b': wants 2 to 2 GPUs at once, got 1" },
		{ 2, 0, &beyond, 1, "job 'c': there is no GPU 4, the cluster has 4" },
		{ 2, 0, &zero, 1, "job 'c': GPU 0 holds job 'a' already (1000 + 1000 of 1000, 1 residents allowed)" },
		{ 2, 1, one, 1, "job 'c': has 1 configurations, not number 1" },
		{ 3, 0, one, 1, "job number 3 has not been submitted" },
		{ 0, 0, one, 1, "job 'a': cannot start a job that is running" },
	};

	(void)s;
	spec.residents = 1;
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	start(w, 0, 0);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct ct_err err = { 0 };

		assert_int_equal(ct_world_start(w, t[i].job, t[i].config, t[i].gpus, t[i].n, &err), CT_EPOLICY);
		if (!strstr(err.text, t[i].wants))
			fail_msg("'%s' lacks '%s'", err.text, t[i].wants);
		assert_int_equal(ct_world_cluster(w)->busy_gpus, 1);
	}
	start(w, 2, 1);
	advance_to(w, 5);
	start(w, 3, 2);
	advance_to(w, 10);
	uint32_t free_two[] = { 0, 1 };
	struct ct_err err = { 0 };

	assert_int_equal(ct_world_start(w, 1, 0, free_two, 2, &err), 0);
	advance_to(w, 15);
	advance_to(w, 20);
	finish_ok(w);
	ct_world_free(w);
	ct_workload_free(work);
}

/* 600 + 300 milli share a GPU as a plain sum; 500 more do not fit as a third, but
 * memory refuses the second only with the reserve counted. */
static void shares_and_memory(void **s)
{
	struct ct_node_spec nodes[] = { { .count = 1, .gpus = 1, .gpu_speed = 1, .gpu_mem_mib = 1000 } };
	struct row rows[] = { { .id = "a", .duration = 10, .milli = 600, .mem = 500 },
			      { .id = "b", .duration = 10, .milli = 300, .mem = 500 },
			      { .id = "c", .duration = 10, .milli = 500, .mem = 1 },
			      { .id = "huge", .duration = 10, .mem = 1001 } };
	struct ct_workload *work = workload(rows, 4);
	struct ct_world_spec spec = spec_of(work);
	struct ct_err err = { 0 };
	uint32_t gpu = 0;

	(void)s;
	spec.cluster = (struct ct_cluster_spec){ nodes, 1 };
	spec.residents = 1;
	spec.gpu_reserve_mib = 10;
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	assert_int_equal(ct_world_outcomes(w)[3].reason, CT_REASON_GPU_MEMORY);
	start(w, 0, 0);
	assert_int_equal(ct_world_start(w, 1, 0, &gpu, 1, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "GPU 0 has no room for 500 MiB (500 of 990 used)"));
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_start(w, 2, 0, &gpu, 1, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "600 + 500 of 1000"));
	ct_world_free(w);

	spec.gpu_reserve_mib = 0;
	w = new_world(&spec);
	advance_to(w, 0);
	start(w, 0, 0);
	start(w, 1, 0);
	assert_int_equal(ct_world_cluster(w)->used_milli, 900);
	advance_to(w, 10);
	start(w, 2, 0);
	advance_to(w, 20);
	finish_ok(w);
	ct_world_free(w);
	ct_workload_free(work);
}

/* Two nodes of 3 cores; a job of 4 cores on 2 GPUs takes 2 on each node. */
static void hosts_give_cpu_in_proportion(void **s)
{
	struct ct_node_spec nodes[] = { { .count = 2, .gpus = 2, .gpu_speed = 1, .cpu_milli = 3000 } };
	struct row rows[] = { { .id = "a", .duration = 10, .gpus = 2 }, { .id = "b", .duration = 10, .gpus = 2 } };
	struct ct_workload *work = workload(rows, 2);
	struct ct_world_spec spec = spec_of(work);
	uint32_t same[] = { 0, 1 }, spread[] = { 0, 2 }, other[] = { 1, 3 };
	struct ct_err err = { 0 };

	(void)s;
	work->jobs[0].cpu_milli = work->jobs[1].cpu_milli = 4000;
	spec.cluster = (struct ct_cluster_spec){ nodes, 1 };
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	assert_int_equal(ct_world_start(w, 0, 0, same, 2, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "node 0 has no room for its CPU (4.000 of 3.000 cores)"));
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_start(w, 0, 0, spread, 2, &err), 0);
	assert_int_equal(ct_world_start(w, 1, 0, other, 2, &err), CT_EPOLICY);
	advance_to(w, 10);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_start(w, 1, 0, other, 2, &err), 0);
	advance_to(w, 20);
	finish_ok(w);
	ct_world_free(w);
	ct_workload_free(work);
}

/* Prices: start 5 s, resume 7 s. a: starts 0, runs from 5, preempted at 20 after 15 s of
 * work, starts again at 30, runs from 37, ends at 37 + 85 = 122. */
static void preemption_keeps_progress_and_costs_a_resume(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 100 },
			      { .id = "x", .submit = 20, .duration = 1 },
			      { .id = "y", .submit = 30, .duration = 1 } };
	struct ct_workload *work = workload(rows, 3);
	const struct ct_transition prices[] = { { .kind = CT_TRANSITION_START, .cost_us = 5 * S, .blocks = 1 },
						{ .kind = CT_TRANSITION_RESUME, .cost_us = 7 * S, .blocks = 1 } };
	const struct ct_transition_table table = { prices, 2 };
	struct ct_world_spec spec = spec_of(work);
	struct ct_err err = { 0 };

	(void)s;
	spec.transitions = &table;
	struct ct_world *w = new_world(&spec);
	const struct ct_outcome *o = ct_world_outcomes(w);

	advance_to(w, 0);
	start(w, 0, 0);
	assert_int_equal(o[0].state, CT_JOB_STARTING);
	advance_to(w, 5);
	assert_false(ct_world_changed(w)); /* no arrival, end, node or wake-up */
	advance_to(w, 20);
	assert_int_equal(ct_world_preempt(w, 0, &err), 0);
	assert_true(ct_world_job_remaining_us(w, 0) == 85e6);
	start(w, 1, 0);
	advance_to(w, 25); /* x ready */
	advance_to(w, 26); /* x done */
	advance_to(w, 30);
	start(w, 0, 1);
	start(w, 2, 0);
	advance_to(w, 35);
	advance_to(w, 36);
	advance_to(w, 37);
	advance_to(w, 122);
	finish_ok(w);
	assert_int_equal(o[0].phase_us[CT_PHASE_QUEUE], 10 * S);
	assert_int_equal(o[0].phase_us[CT_PHASE_START], 12 * S);
	assert_int_equal(o[0].phase_us[CT_PHASE_RUN], 100 * S);
	assert_int_equal(o[0].n_starts, 2);
	assert_int_equal(o[0].n_preemptions, 1);
	ct_world_free(w);
	ct_workload_free(work);
}

/* A family of two: default, and "fast" with twice the throughput. A blocking switch
 * of 4 s at t=10: 10 done, 90 left at 2 a second from 14: ends 59. A switch that does
 * not block: 14 done at t=14, 86 left at 2: ends 57. */
static void switches_block_or_not(void **s)
{
	const struct ct_configuration configs[] = { { "plain", 1, NAN, 100, 0, 0, 0 },
						    { "fast", 2, NAN, 900, 0, 0, 1 } };
	const struct ct_family family = { configs, 2, 0, 1, -1 };
	const struct ct_family *families[] = { &family, NULL, NULL };
	struct ct_node_spec nodes[] = { { .count = 1, .gpus = 2, .gpu_speed = 1, .gpu_mem_mib = 1000 } };
	struct row rows[] = { { .id = "a", .duration = 100 },
			      { .id = "b", .duration = 1, .submit = 10, .mem = 200 },
			      { .id = "c", .duration = 200, .submit = 10 } };

	(void)s;
	for (int blocks = 0; blocks < 2; blocks++) {
		struct ct_workload *work = workload(rows, 3);
		const struct ct_transition prices[] = {
			{ .kind = CT_TRANSITION_SWITCH, .to = "fast", .cost_us = 4 * S, .blocks = blocks }
		};
		const struct ct_transition_table table = { prices, 1 };
		struct ct_world_spec spec = spec_of(work);
		struct ct_err err = { 0 };
		uint32_t gpu = 0;

		spec.cluster = (struct ct_cluster_spec){ nodes, 1 };
		spec.families = families;
		spec.transitions = &table;
		struct ct_world *w = new_world(&spec);
		const struct ct_outcome *o = ct_world_outcomes(w);

		advance_to(w, 0);
		start(w, 0, 0);
		advance_to(w, 10);
		assert_int_equal(ct_world_reconfigure(w, 0, 1, &err), 0);
		/* its memory is 900 at once: job b's 200 do not fit beside it any more */
		assert_int_equal(ct_world_start(w, 1, 0, &gpu, 1, &err), CT_EPOLICY);
		err = (struct ct_err){ 0 };
		start(w, 1, 1);
		if (blocks)
			assert_int_equal(o[0].state, CT_JOB_PAUSED);
		else
			assert_int_equal(o[0].state, CT_JOB_RUNNING);
		advance_to(w, 11);
		start(w, 2, 1);
		advance_to(w, 14);
		assert_true(ct_world_job_rate(w, 0) == 2);
		advance_to(w, blocks ? 59 : 57);
		advance_to(w, 211);
		finish_ok(w);
		assert_int_equal(o[0].phase_us[CT_PHASE_SWITCH], blocks ? 4 * S : 0);
		assert_int_equal(o[0].n_switches, 1);
		ct_world_free(w);
		ct_workload_free(work);
	}
}

/* At t=10 job a moves from GPU 0 to GPU 1 for 3 s: ends at 103; GPU 0 is free at once. */
static void migration_moves_and_pauses(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 100 }, { .id = "b", .submit = 10, .duration = 5 } };
	struct ct_workload *work = workload(rows, 2);
	const struct ct_transition prices[] = { { .kind = CT_TRANSITION_MIGRATE, .cost_us = 3 * S, .blocks = 1 } };
	const struct ct_transition_table table = { prices, 1 };
	struct ct_world_spec spec = spec_of(work);
	struct ct_err err = { 0 };
	uint32_t to = 1, two[] = { 0, 1 };

	(void)s;
	spec.transitions = &table;
	spec.residents = 1;
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	start(w, 0, 0);
	advance_to(w, 10);
	assert_int_equal(ct_world_migrate(w, 0, 0, two, 2, &err), CT_EPOLICY); /* a rigid job of one GPU */
	assert_int_equal(ct_world_cluster(w)->gpus[0].n_residents, 1);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_migrate(w, 0, 0, &to, 1, &err), 0);
	start(w, 1, 0);
	advance_to(w, 13);
	advance_to(w, 15);
	advance_to(w, 103);
	finish_ok(w);
	assert_int_equal(ct_world_outcomes(w)[0].phase_us[CT_PHASE_PAUSE], 3 * S);
	ct_world_free(w);
	ct_workload_free(work);
}

/* Node 0 fails at 40 with a (40 s done, all lost) and comes back at 60. Restarted at
 * 60, a ends at 160. b on node 1 is untouched. */
static void a_node_failure_loses_work_and_requeues(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 100 }, { .id = "b", .duration = 50 } };
	struct ct_workload *work = workload(rows, 2);
	struct ct_world_spec spec = spec_of(work);
	struct ct_err err = { 0 };
	struct ct_account a;
	uint32_t gpu = 0;

	(void)s;
	struct ct_world *w = new_world(&spec);

	assert_int_equal(ct_world_plan_node(w, 40 * S, 0, false, &err), 0);
	assert_int_equal(ct_world_plan_node(w, 60 * S, 0, true, &err), 0);
	advance_to(w, 0);
	start(w, 0, 0);
	start(w, 1, 2);
	advance_to(w, 40);
	assert_true(ct_world_changed(w));
	assert_int_equal(ct_world_job_state(w, 0), CT_JOB_QUEUED);
	assert_int_equal(ct_world_start(w, 0, 0, &gpu, 1, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "GPU 0 is on node 0, which is down"));
	advance_to(w, 50);
	advance_to(w, 60);
	start(w, 0, 0);
	advance_to(w, 160);
	finish_ok(w);
	ct_world_account(w, &a);
	assert_true(ct_world_outcomes(w)[0].lost_s == 40);
	assert_true(a.lost_gpu_s == 40);
	assert_true(fabs(a.work_gpu_s - 150) < 1e-9);
	ct_world_free(w);
	ct_workload_free(work);
}

static void killed_jobs_fail_with_their_reason(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 100 },
			      { .id = "b", .duration = 100 },
			      { .id = "c", .submit = 30, .duration = 1 } };
	struct ct_workload *work = workload(rows, 3);
	struct ct_world_spec spec = spec_of(work);
	struct ct_err err = { 0 };
	struct ct_account a;

	(void)s;
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	start(w, 0, 0);
	advance_to(w, 30);
	assert_int_equal(ct_world_fail(w, 0, CT_REASON_KILLED, &err), 0);
	assert_int_equal(ct_world_fail(w, 1, CT_REASON_KILLED, &err), 0);
	assert_int_equal(ct_world_fail(w, 1, CT_REASON_KILLED, &err), CT_EPOLICY);
	finish_ok(w);
	ct_world_account(w, &a);
	assert_int_equal(a.submitted, 3);
	assert_int_equal(a.failed, 2);
	assert_int_equal(a.left, 1);
	assert_int_equal(finish_of(w, 0), 30 * S);
	ct_world_free(w);
	ct_workload_free(work);
}

/* Window [10, 40): a runs 0-100 on one GPU, so 30 GPU s held and 30 s of work in it; the
 * run goes on until the window's job b (submitted at 20, started at 100) has ended. */
static void the_window_cuts_integrals_and_follows_its_jobs(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 100 },
			      { .id = "b", .submit = 20, .duration = 50 },
			      { .id = "c", .submit = 60, .duration = 1000 } };
	struct ct_workload *work = workload(rows, 3);
	struct ct_world_spec spec = spec_of(work);
	struct ct_account a;

	(void)s;
	spec.warmup_us = 10 * S;
	spec.until_us = 40 * S;
	for (int censor = 0; censor < 2; censor++) {
		spec.censor = censor;
		struct ct_world *w = new_world(&spec);

		advance_to(w, 0);
		start(w, 0, 0);
		advance_to(w, 10);
		assert_false(ct_world_changed(w));
		advance_to(w, 20);
		advance_to(w, 40);
		if (!censor) {
			advance_to(w, 60);
			start(w, 2, 1);
			advance_to(w, 100);
			start(w, 1, 0);
			advance_to(w, 150);
		}
		finish_ok(w);
		ct_world_account(w, &a);
		assert_true(a.held_gpu_s == 30);
		assert_true(fabs(a.work_gpu_s - 30) < 1e-9);
		assert_true(a.capacity_gpu_s == 120);
		assert_true(a.queue_s == 20); /* b waits from 20 to 40 in the window */
		assert_true(a.idle_while_queued_gpu_s == 60);
		assert_int_equal(a.left, censor ? 2 : 1);
		ct_world_free(w);
	}
	ct_workload_free(work);
}

/* Bins of 10 s: GPUs held 1 from 0 to 25, 0 to 30, and 2 queued from 0 to 30. */
static void the_series_holds_means_a_bin(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 25 },
			      { .id = "b", .duration = 1, .gpus = 2 },
			      { .id = "c", .submit = 30, .duration = 1 } };
	struct ct_workload *work = workload(rows, 3);
	struct ct_world_spec spec = spec_of(work);
	struct ct_series x;

	(void)s;
	spec.series_us = 10 * S;
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	start(w, 0, 0);
	advance_to(w, 25);
	advance_to(w, 30);
	finish_ok(w);
	ct_world_series(w, &x);
	assert_int_equal(x.n, 3);
	assert_true(x.held_gpus[0] == 1 && x.held_gpus[1] == 1 && x.held_gpus[2] == 0.5);
	assert_true(x.queued_jobs[0] == 1 && x.queued_gpus[2] == 2);
	assert_true(isnan(x.sm_gpus[0]));
	ct_world_free(w);
	ct_workload_free(work);
}

/* SM activity .6 and .8, each at half speed together: .3 + .4 on GPU 0, or 1 - .7 x .6; alone .6. */
static void sm_activity_is_thinned_by_the_slow_down(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 100 }, { .id = "b", .duration = 10 } };
	struct ct_workload *work = workload(rows, 2);
	uint32_t none = UINT32_MAX;
	struct ct_contention truth = { &none, half_or_tough };
	struct ct_world_spec spec = spec_of(work);
	struct ct_account a;

	(void)s;
	work->jobs[0].sm_frac = 0.6f;
	work->jobs[1].sm_frac = 0.8f;
	spec.contention = &truth;
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	start(w, 0, 0);
	start(w, 1, 0);
	advance_to(w, 20);
	advance_to(w, 110);
	finish_ok(w);
	ct_world_account(w, &a);
	assert_true(fabs(a.sm_gpu_s - (20 * 0.7 + 90 * 0.6)) < 1e-3);
	assert_true(fabs(a.sm_union_gpu_s - (20 * 0.58 + 90 * 0.6)) < 1e-3);
	ct_world_free(w);
	ct_workload_free(work);
}

/* 3 x 0.8 = 2.4 GPUs of a node of 4 as a pool: 1.5 more fit, 2 more do not, nor a whole GPU. */
static void a_node_can_be_a_pool(void **s)
{
	struct ct_node_spec nodes[] = { { .count = 1, .gpus = 4, .gpu_speed = 1 } };
	struct row rows[] = { { .id = "a", .duration = 10, .gpus = 3, .milli = 800 },
			      { .id = "b", .duration = 10, .gpus = 2 },
			      { .id = "c", .duration = 10, .gpus = 3, .milli = 500 },
			      { .id = "d", .duration = 10 } };
	struct ct_workload *work = workload(rows, 4);
	struct ct_world_spec spec = spec_of(work);
	struct ct_err err = { 0 };
	struct ct_account a;
	uint32_t gpu = 3;

	(void)s;
	spec.cluster = (struct ct_cluster_spec){ nodes, 1 };
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	assert_int_equal(ct_world_start_pool(w, 0, 0, 0, &err), 0);
	assert_int_equal(ct_world_start_pool(w, 1, 0, 0, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "node 0 has 1.600 GPUs free, not 2.000"));
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_start_pool(w, 2, 0, 0, &err), 0);
	assert_int_equal(ct_world_start(w, 3, 0, &gpu, 1, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "in use as a pool"));
	err = (struct ct_err){ 0 };
	advance_to(w, 10);
	assert_int_equal(ct_world_cluster(w)->nodes[0].idle_gpus, 4);
	assert_int_equal(ct_world_start(w, 3, 0, &gpu, 1, &err), 0);
	advance_to(w, 20);
	finish_ok(w);
	ct_world_account(w, &a);
	assert_true(fabs(a.held_gpu_s - (24 + 15 + 10)) < 1e-9);
	assert_int_equal(a.left, 1);
	ct_world_free(w);
	ct_workload_free(work);
}

/* A node of 2 GPUs and 4 cores: a job of 3 cores and no GPU leaves both GPUs idle and
 * 1 core; a job of 5 cores can never run. */
static void a_job_may_ask_for_cpu_alone(void **s)
{
	struct ct_node_spec nodes[] = { { .count = 1, .gpus = 2, .gpu_speed = 1, .cpu_milli = 4000 } };
	struct ct_workload *work = ct_workload_new();
	struct ct_err err = { 0 };
	struct ct_account a;
	uint32_t cores[] = { 3, 2, 5 }, gpu = 0;

	(void)s;
	for (int i = 0; i < 3; i++) {
		struct ct_job j = CT_JOB_INIT;

		j.id = ct_workload_text(work, &"abc"[i], 1);
		j.duration_us = 10 * S;
		j.num_gpus = 0;
		j.cpu_milli = 1000 * cores[i];
		ct_workload_add(work, &j);
	}
	assert_int_equal(ct_workload_seal(work, &err), 0);
	struct ct_world_spec spec = spec_of(work);

	spec.cluster = (struct ct_cluster_spec){ nodes, 1 };
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	assert_int_equal(ct_world_outcomes(w)[2].reason, CT_REASON_CPU);
	assert_int_equal(ct_world_start(w, 0, 0, &gpu, 1, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "asks for no GPU"));
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_world_start_pool(w, 0, 0, 0, &err), 0);
	assert_int_equal(ct_world_cluster(w)->nodes[0].idle_gpus, 2);
	assert_int_equal(ct_world_start_pool(w, 1, 0, 0, &err), CT_EPOLICY);
	assert_non_null(strstr(err.text, "node 0 has no room for its CPU"));
	err = (struct ct_err){ 0 };
	advance_to(w, 10);
	assert_int_equal(ct_world_start_pool(w, 1, 0, 0, &err), 0);
	advance_to(w, 20);
	finish_ok(w);
	ct_world_account(w, &a);
	assert_true(a.held_gpu_s == 0 && a.finished == 2);
	ct_world_free(w);
	ct_workload_free(work);
}

/* An accounting defect must be found and name the job: forge one. */
static void conservation_names_the_job(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 10 }, { .id = "forged", .duration = 10 } };
	struct ct_workload *work = workload(rows, 2);
	struct ct_world_spec spec = spec_of(work);
	struct ct_err err = { 0 };

	(void)s;
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	start(w, 0, 0);
	start(w, 1, 1);
	advance_to(w, 10);
	assert_int_equal(ct_world_finish(w, &err), 0);
	((struct ct_outcome *)(uintptr_t)ct_world_outcomes(w))[1].finish_us += 1;
	assert_int_equal(ct_world_finish(w, &err), CT_EMISMATCH);
	assert_non_null(
	    strstr(err.text, "job 'forged': its phases add up to 10.000000 s, its life lasted 10.000001 s"));
	err = (struct ct_err){ 0 };
	((struct ct_outcome *)(uintptr_t)ct_world_outcomes(w))[1].finish_us -= 1;
	((struct ct_outcome *)(uintptr_t)ct_world_outcomes(w))[1].state = CT_JOB_QUEUED;
	assert_int_equal(ct_world_finish(w, &err), CT_EMISMATCH);
	ct_world_free(w);
	ct_workload_free(work);
}

static void wake_ups_are_instants(void **s)
{
	struct row rows[] = { { .id = "a", .duration = 100 } };
	struct ct_workload *work = workload(rows, 1);
	struct ct_world_spec spec = spec_of(work);
	struct ct_err err = { 0 };

	(void)s;
	struct ct_world *w = new_world(&spec);

	advance_to(w, 0);
	assert_int_equal(ct_world_wake(w, 30 * S, &err), 0);
	assert_int_equal(ct_world_wake(w, 10 * S, &err), 0);
	assert_int_equal(ct_world_wake(w, 30 * S, &err), 0);
	assert_int_equal(ct_world_wake(w, 0, &err), CT_EPOLICY);
	start(w, 0, 0);
	advance_to(w, 10);
	assert_true(ct_world_changed(w));
	advance_to(w, 30);
	advance_to(w, 100);
	finish_ok(w);
	ct_world_free(w);
	ct_workload_free(work);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(alone_a_job_runs_its_duration),
		cmocka_unit_test(residents_slow_each_other),
		cmocka_unit_test(a_gang_is_as_slow_as_its_slowest_member),
		cmocka_unit_test(gpu_types_have_speeds),
		cmocka_unit_test(partitions_do_not_lend),
		cmocka_unit_test(wrong_plans_are_refused_and_change_nothing),
		cmocka_unit_test(shares_and_memory),
		cmocka_unit_test(hosts_give_cpu_in_proportion),
		cmocka_unit_test(preemption_keeps_progress_and_costs_a_resume),
		cmocka_unit_test(switches_block_or_not),
		cmocka_unit_test(migration_moves_and_pauses),
		cmocka_unit_test(a_node_failure_loses_work_and_requeues),
		cmocka_unit_test(killed_jobs_fail_with_their_reason),
		cmocka_unit_test(the_window_cuts_integrals_and_follows_its_jobs),
		cmocka_unit_test(the_series_holds_means_a_bin),
		cmocka_unit_test(sm_activity_is_thinned_by_the_slow_down),
		cmocka_unit_test(a_node_can_be_a_pool),
		cmocka_unit_test(a_job_may_ask_for_cpu_alone),
		cmocka_unit_test(conservation_names_the_job),
		cmocka_unit_test(wake_ups_are_instants),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
