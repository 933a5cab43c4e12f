/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a policy may do: every action is a verb of the world; a refusal is the
 * policy's error. */
#include "scheduler/control_state.h"

static int act(struct ct_plan *p, int rc, const struct ct_err *e)
{
	struct ct_control *c = p->ctx;

	return rc ? ct_control_error(c, "%s", e->text) : 0;
}

/* A verb with its own error object, so that the message can name the policy. */
#define ACT(plan, call)                                                                 \
	do {                                                                            \
		struct ct_control *c = (plan)->ctx;                                     \
		struct ct_err e;                                                        \
		double start;                                                           \
		int rc;                                                                 \
                                                                                        \
		if ((plan)->failed)                                                     \
			return (plan)->failed;                                          \
		e.code = CT_OK;                                                         \
		e.count = e.kept = 0;                                                   \
		e.used = 0;                                                             \
		start = c->timing ? ct_clock_s(CLOCK_MONOTONIC) : 0;                    \
		c->planning = true;                                                     \
		rc = (call);                                                            \
		c->planning = false;                                                    \
		if (c->timing)                                                          \
			c->verbs_s += ct_clock_s(CLOCK_MONOTONIC) - start - c->clock_s; \
		return act((plan), rc, &e);                                             \
	} while (0)

static int plan_start(struct ct_plan *p, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n)
{
	ACT(p, ct_world_start(c->world, job, config, gpus, n, &e));
}

static int plan_start_pool(struct ct_plan *p, uint32_t job, uint32_t config, uint32_t node)
{
	ACT(p, ct_world_start_pool(c->world, job, config, node, &e));
}

static int plan_preempt(struct ct_plan *p, uint32_t job)
{
	ACT(p, ct_world_preempt(c->world, job, &e));
}

static int plan_migrate(struct ct_plan *p, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n)
{
	ACT(p, ct_world_migrate(c->world, job, config, gpus, n, &e));
}

static int plan_reconfigure(struct ct_plan *p, uint32_t job, uint32_t config)
{
	ACT(p, ct_world_reconfigure(c->world, job, config, &e));
}

static int plan_reject(struct ct_plan *p, uint32_t job)
{
	ACT(p, ct_world_reject(c->world, job, CT_REASON_PLACEMENT, &e));
}

static int plan_wake(struct ct_plan *p, ct_time t)
{
	ACT(p, ct_world_wake(c->world, t, &e));
}

static int plan_reserve(struct ct_plan *p, uint32_t node, int how)
{
	enum ct_reserve r = how == 0 ? CT_RESERVE_NOT : how == 1 ? CT_RESERVE_FOR_GOOD : CT_RESERVE_FOR_NOW;

	ACT(p, ct_world_reserve(c->world, node, r, &e));
}

static int plan_profile(struct ct_plan *p, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n)
{
	ACT(p, ct_world_profile(c->world, job, config, gpus, n, &e));
}

static void plan_note(struct ct_plan *p, uint32_t job, uint32_t why, uint32_t other, double a, double b)
{
	struct ct_control *c = p->ctx;

	if (!c->spec->world.record_decisions || p->failed)
		return;
	if (why >= c->n_whys)
		ct_control_error(c, "at t=%.6f s: note() got reason %u, the policy has %u", ct_seconds(c->view.now_us),
				 why, c->n_whys);
	else if (job >= c->view.n_jobs || !c->job_record[job])
		ct_control_error(c, "at t=%.6f s: note() about job number %u, which is not there",
				 ct_seconds(c->view.now_us), job);
	else if (other != CT_NO_JOB && other >= c->view.n_jobs)
		ct_control_error(c, "at t=%.6f s: note() names job number %u, which does not exist",
				 ct_seconds(c->view.now_us), other);
	else
		ct_world_note(c->world, job, why, other, a, b);
}

static void plan_lap(struct ct_plan *p, uint32_t component)
{
	struct ct_control *c = p->ctx;
	double now;

	if (!c->timing || component >= c->n_components)
		return;
	now = ct_clock_s(CLOCK_MONOTONIC);
	c->laps_s[component] += now - c->lap_s - c->clock_s - (c->verbs_s - c->lap_verbs_s);
	c->lap_s = now;
	c->lap_verbs_s = c->verbs_s;
}

const char *const *ct_control_components(const struct ct_policy *p)
{
	return p->size >= offsetof(struct ct_policy, components) + sizeof p->components ? p->components : NULL;
}

const struct ct_why *ct_control_whys(const struct ct_policy *p)
{
	return p->size >= offsetof(struct ct_policy, whys) + sizeof p->whys ? p->whys : NULL;
}

void ct_control_build_plan(struct ct_control *c)
{
	const struct ct_why *whys = ct_control_whys(c->policy);
	const char *const *components = ct_control_components(c->policy);

	while (whys && whys[c->n_whys].name)
		c->n_whys++;
	while (components && c->n_components < CT_COMPONENTS && components[c->n_components])
		c->n_components++;
	c->plan = (struct ct_plan){ .size = sizeof c->plan,
				    .ctx = c,
				    .start = plan_start,
				    .start_pool = plan_start_pool,
				    .preempt = plan_preempt,
				    .migrate = plan_migrate,
				    .reconfigure = plan_reconfigure,
				    .reject = plan_reject,
				    .wake = plan_wake,
				    .reserve = plan_reserve,
				    .profile = plan_profile,
				    .note = plan_note,
				    .keeps_notes = c->spec->world.record_decisions,
				    .lap = plan_lap };
}
