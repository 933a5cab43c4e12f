/* SPDX-License-Identifier: GPL-3.0-or-later */
/* control.h - the loop between a world and a policy: it builds the view, asks,
 * validates the plan through the world's verbs, and moves on to the next instant.
 *
 * schedule() runs once per distinct instant at which a job arrived or ended, a
 * node changed or a wake-up fell due, after all events of that instant; a policy
 * with a period only on its grid (multiples of period_us), and only when
 * something changed since its last call or it asked to be woken. */
#ifndef CT_SCHEDULER_CONTROL_H
#define CT_SCHEDULER_CONTROL_H

#include "scheduler/policy.h"
#include "sim/belief.h"
#include "sim/err.h"
#include "sim/world.h"

#include <signal.h>
#include <stdint.h>

struct ct_control_spec {
	struct ct_world_spec world; /* its observer must be NULL: control sets it */
	const struct ct_policy *policy;
	const struct ct_belief *belief; /* NULL: every pair is believed harmless */
	/* The policy's option values: state_size bytes, options set, otherwise zero;
	 * copied. NULL: state_size zeros (only for policies without options). */
	const void *policy_state;
	/* > 0: schedule() only at multiples of it, instead of the policy's own period. */
	ct_time period_us;
	const volatile sig_atomic_t *interrupt; /* nonzero: stop after this instant; may be NULL */
	/* Called every few thousand events with jobs ended and jobs in all; may be NULL. */
	void (*progress)(void *ctx, uint64_t ended, uint64_t jobs, uint64_t events, ct_time now);
	void *progress_ctx;
};

/* The reasons of a policy, ends with name = NULL; NULL: it was built before there were any. */
const struct ct_why *ct_control_whys(const struct ct_policy *p);

/* Names of a policy's components, NULL for none. */
const char *const *ct_control_components(const struct ct_policy *p);

struct ct_run_perf {
	double cpu_s;        /* of the loop, CPU time of this thread */
	double policy_cpu_s; /* of which inside the policy's functions */
	double schedule_max_ms, schedule_mean_ms;
	uint64_t events, schedules;
	double component_ms[CT_COMPONENTS]; /* of schedule_mean_ms, by the policy's laps */
};

/* Runs to the end. On success *out is the finished world (ct_world_finish() has
 * accepted it), to be freed by the caller. CT_EPOLICY: the policy failed or made a
 * wrong plan; the message names policy, job and time. */
int ct_control_run(const struct ct_control_spec *spec, struct ct_world **out, struct ct_run_perf *perf,
		   struct ct_err *err);

#endif
