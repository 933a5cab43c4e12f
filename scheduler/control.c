/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop: the next instant, then the policy where it is due. view.c keeps the
 * view, host.c answers the policy, plan.c does what it wants. */
#include "scheduler/control_state.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRESS_EVERY = 4096, IDLE_WAKES = 100000, TIMED_CALLS = 1024 };

/* Seconds of the policy's own work in one call of schedule(): the world's verbs,
 * which it calls through the plan, are engine. The monotonic clock costs
 * tens of nanoseconds, but runs on while the thread is off the processor; the
 * thread's CPU clock is a system call, dearer than a short pass. So the first
 * measures, less what reading it takes, and the second corrects only calls long
 * enough to have been interrupted. */
static int timed_schedule(struct ct_control *c, double *s)
{
	double cpu = ct_clock_s(CLOCK_THREAD_CPUTIME_ID), start = ct_clock_s(CLOCK_MONOTONIC);
	int rc;

	c->timing = true;
	c->verbs_s = c->lap_verbs_s = 0;
	c->lap_s = start;
	memset(c->laps_s, 0, sizeof c->laps_s);
	rc = c->policy->schedule(c->state, &c->view, &c->plan);
	c->timing = false;
	*s = ct_clock_s(CLOCK_MONOTONIC) - start - c->clock_s;
	if (*s > CT_LONG_CALL_US * 1e-6) {
		cpu = ct_clock_s(CLOCK_THREAD_CPUTIME_ID) - cpu;
		*s = cpu < *s ? cpu : *s;
	}
	*s -= c->verbs_s;
	*s = *s > 0 ? *s : 0;
	return rc;
}

/* The laps of a call that took `s`, which stands for `calls`. Where the thread was off
 * the processor they are longer than the call, and are cut alike. */
static void book_laps(struct ct_control *c, double s, double calls)
{
	double sum = 0, scale;

	for (uint32_t i = 0; i < c->n_components; i++)
		sum += c->laps_s[i] > 0 ? c->laps_s[i] : 0;
	scale = sum > s ? s / sum : 1;
	for (uint32_t i = 0; i < c->n_components; i++)
		if (c->laps_s[i] > 0)
			c->perf.component_ms[i] += c->laps_s[i] * scale * calls * 1e3;
}

/* What two readings of the monotonic clock are apart, at best. */
static double clock_cost(void)
{
	double least = 1;

	for (int i = 0; i < 64; i++) {
		double t = ct_clock_s(CLOCK_MONOTONIC), d = ct_clock_s(CLOCK_MONOTONIC) - t;

		least = d < least ? d : least;
	}
	return least;
}

/* The first calls are timed, then one in CT_TIMED_EVERY stands for its neighbours. */
static int ask(struct ct_control *c)
{
	uint64_t n = c->perf.schedules++;
	double s = 0;
	int rc;

	if (n < TIMED_CALLS || n % CT_TIMED_EVERY == 0) {
		rc = timed_schedule(c, &s);
		c->perf.policy_cpu_s += n < TIMED_CALLS ? s : s * CT_TIMED_EVERY;
		book_laps(c, s, n < TIMED_CALLS ? 1 : CT_TIMED_EVERY);
		if (s * 1e3 > c->perf.schedule_max_ms)
			c->perf.schedule_max_ms = s * 1e3;
	} else {
		rc = c->policy->schedule(c->state, &c->view, &c->plan);
	}
	if (rc && !c->plan.failed)
		return ct_control_error(c, "at t=%.6f s: schedule() returned %d without a reason",
					ct_seconds(c->view.now_us), rc);
	return c->plan.failed;
}

/* The next point of a policy's grid at or after t. */
static ct_time on_grid(ct_time t, ct_time period)
{
	ct_time k = t / period + (t % period != 0);

	return k * period;
}

/* Should the policy be asked at this instant? A periodic policy is woken at the
 * next point of its grid instead. */
static int is_due(struct ct_control *c, bool *due)
{
	ct_time period = c->spec->period_us > 0 ? c->spec->period_us : c->policy->period_us,
		now = ct_world_now(c->world), grid;

	*due = ct_world_changed(c->world);
	if (!*due || period <= 0)
		return 0;
	grid = on_grid(now, period);
	if (grid == now)
		return 0;
	*due = false;
	return ct_world_wake(c->world, grid, c->err);
}

static void report_progress(struct ct_control *c, bool last)
{
	struct ct_account a;

	if (!c->spec->progress)
		return;
	if (!last && ct_world_events(c->world) / PROGRESS_EVERY == c->perf.events / PROGRESS_EVERY)
		return;
	c->perf.events = ct_world_events(c->world);
	ct_world_account(c->world, &a);
	c->spec->progress(c->spec->progress_ctx, a.finished + a.failed + a.rejected, c->work->n, c->perf.events,
			  ct_world_now(c->world));
}

/* A policy that only wakes itself, with nobody running and nobody to come, would
 * go on for ever. */
static bool is_stuck(struct ct_control *c, uint64_t started_before, uint64_t *idle_wakes)
{
	bool moving = c->view.n_running > 0 || c->view.n_jobs < c->work->n || c->n_started != started_before;

	*idle_wakes = moving ? 0 : *idle_wakes + 1;
	return *idle_wakes > IDLE_WAKES;
}

static int loop(struct ct_control *c)
{
	uint64_t idle_wakes = 0;

	while (ct_world_advance(c->world)) {
		uint64_t started = c->n_started;
		bool due;

		c->view.now_us = ct_world_now(c->world);
		CT_TRY(is_due(c, &due));
		if (due)
			CT_TRY(ask(c));
		if (c->spec->interrupt && *c->spec->interrupt)
			ct_world_stop(c->world);
		if (is_stuck(c, started, &idle_wakes))
			break;
		report_progress(c, false);
	}
	report_progress(c, true);
	return 0;
}

static int begin(struct ct_control *c)
{
	struct ct_world_spec spec = c->spec->world;

	spec.observer = ct_control_observe;
	spec.observer_ctx = c;
	spec.belief = c->spec->belief;
	c->world = ct_world_new(&spec, c->err);
	if (!c->world)
		return (int)c->err->code;
	c->work = spec.work;
	c->cluster = ct_world_cluster(c->world);
	c->state = ct_arena_alloc(&c->arena, c->policy->state_size ? c->policy->state_size : 1, 64);
	if (c->spec->policy_state)
		memcpy(c->state, c->spec->policy_state, c->policy->state_size);
	ct_control_build_host(c);
	ct_control_build_view(c);
	ct_placement_init(&c->placement, c->world);
	ct_control_build_plan(c);
	if (c->policy->init) {
		int rc = c->policy->init(c->state, &c->view);

		if (rc && !c->plan.failed)
			return ct_control_error(c, "init() returned %d without a reason", rc);
		return c->plan.failed ? (int)CT_EPOLICY : 0;
	}
	return 0;
}

int ct_control_run(const struct ct_control_spec *spec, struct ct_world **out, struct ct_run_perf *perf,
		   struct ct_err *err)
{
	struct ct_control *c = ct_calloc(1, sizeof *c);
	double t0;
	int rc;

	c->spec = spec;
	c->policy = spec->policy;
	c->err = err;
	c->clock_s = clock_cost();
	rc = begin(c);
	t0 = ct_clock_s(CLOCK_THREAD_CPUTIME_ID);
	if (!rc && loop(c))
		rc = (int)err->code;
	c->perf.cpu_s = ct_clock_s(CLOCK_THREAD_CPUTIME_ID) - t0;
	if (c->state && c->policy->fini)
		c->policy->fini(c->state);
	if (!rc)
		rc = ct_world_finish(c->world, err);
	if (!rc) {
		c->perf.events = ct_world_events(c->world);
		c->perf.schedule_mean_ms =
		    c->perf.schedules ? c->perf.policy_cpu_s * 1e3 / (double)c->perf.schedules : 0;
		for (uint32_t i = 0; i < c->n_components; i++)
			c->perf.component_ms[i] /= c->perf.schedules ? (double)c->perf.schedules : 1;
		if (perf)
			*perf = c->perf;
		*out = c->world;
	} else {
		ct_world_free(c->world);
	}
	ct_control_free_host(c);
	ct_placement_fini(&c->placement);
	free(c->jobs);
	ct_arena_fini(&c->arena);
	free(c);
	return rc;
}
