/* SPDX-License-Identifier: GPL-3.0-or-later */
/* control_state.h - what the control loop is made of; for the files that implement
 * control.h only: control.c (the loop), view.c (the mirror), host.c (services),
 * plan.c (actions). */
#ifndef CT_SCHEDULER_CONTROL_STATE_H
#define CT_SCHEDULER_CONTROL_STATE_H

#include "scheduler/control.h"
#include "scheduler/placement.h"
#include "sim/bits.h"
#include "sim/memory.h"

#include <stdbool.h>
#include <time.h>

/* One call in TIMED_EVERY is measured for its neighbours; a call longer than
 * LONG_CALL_US may have been interrupted. */
enum { CT_TIMED_EVERY = 61, CT_LONG_CALL_US = 200 };

struct ct_control {
	const struct ct_control_spec *spec;
	const struct ct_policy *policy;
	struct ct_world *world;
	const struct ct_workload *work;
	const struct ct_cluster *cluster;
	struct ct_arena arena;
	struct ct_view view;
	struct ct_host host;
	struct ct_plan plan;
	struct ct_placement placement;
	struct ct_believed *believed; /* families as the policy sees them, by address */
	struct ct_loose *loose;
	uint32_t n_believed;      /* of both */
	struct ct_bits queued;    /* the jobs in the queue */
	struct ct_view_job *jobs; /* record 0 is that of every job that is not there */
	uint32_t *job_record;     /* job -> its record */
	uint32_t n_records, free_record;
	size_t cap_records;
	struct ct_view_node *nodes;
	struct ct_view_gpu *gpus;
	struct ct_view_group *groups;
	void *state;
	struct ct_err *err;
	uint32_t n_whys;           /* reasons that the policy knows */
	bool planning;             /* a happening is the plan's own doing */
	double clock_s;            /* what reading the clock takes */
	bool timing;               /* this call of schedule() is measured */
	double verbs_s;            /* of it spent in the world's verbs */
	double lap_s, lap_verbs_s; /* clock and verbs_s at the last lap */
	uint32_t n_components;
	double laps_s[CT_COMPONENTS]; /* of this call */
	uint64_t n_notified;          /* callbacks made */
	uint64_t n_started;           /* jobs started so far: did a call achieve anything? */
	struct ct_run_perf perf;
};

/* view.c: the view, and the observer of the world that keeps it up to date. */
void ct_control_build_view(struct ct_control *c);
void ct_control_observe(void *ctx, const struct ct_happening *h, const struct ct_slot *slots, uint32_t n_slots);

/* host.c: the policy's services. */
void ct_control_build_host(struct ct_control *c);
void ct_control_free_host(struct ct_control *c);
/* Records an error that names the policy; the plan has failed. */
__attribute__((format(printf, 2, 3))) int ct_control_error(struct ct_control *c, const char *fmt, ...);

/* plan.c: what a policy may do. */
void ct_control_build_plan(struct ct_control *c);

static inline double ct_clock_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
