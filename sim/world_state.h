/* SPDX-License-Identifier: GPL-3.0-or-later */
/* world_state.h - what a world is made of; for the files that implement world.h
 * only: world.c (clock and life cycle), verbs.c, progress.c (rates), failures.c,
 * accounts.c, attain.c (shortfall by cause), log.c (decision records). */
#ifndef CT_SIM_WORLD_STATE_H
#define CT_SIM_WORLD_STATE_H

#include "sim/event_queue.h"
#include "sim/world.h"

/* What takes a job's rate away from 1, as the rate was last set; see ct_attained. */
struct ct_shortfall {
	double config, gpus, slowdown, mispredicted;
};

/* From a job's first start on. */
struct ct_attain {
	ct_time since; /* accounted up to here */
	ct_time into;  /* of the present window */
	double work;   /* done in it, in microseconds */
	uint32_t windows, met;
	bool plain;                   /* `now` is all zero */
	struct ct_shortfall now, sum; /* rates; microseconds */
};

/* Who shares the slowest GPU of a job. */
struct ct_beside {
	uint32_t partner, others; /* CT_NONE, 0: nobody */
	double factor, predicted; /* of its speed; slow-down, NaN: no belief */
};

/* The moving side of a job, from its submission to its end. Records are reused, last
 * freed first: a run touches memory for the jobs that are there at a time, not for
 * all there ever were. */
struct ct_live {
	double remaining_us;          /* solo work left at `settled` */
	double rate;                  /* solo work a microsecond; 0 = no progress */
	ct_time settled;              /* remaining_us is up to date at this time */
	ct_event_handle end;          /* of the job, or of its blocking transition */
	uint32_t first_slot, n_slots; /* n_slots = 0 and node set: a pool share */
	uint32_t node;
	uint32_t config;
	uint32_t next, prev;      /* jobs that hold something */
	uint32_t mark;            /* re-rated by this verb already */
	uint32_t partition, type; /* cluster indexes; type CT_NONE = any */
	uint32_t next_config;     /* a switch under way that does not block */
	enum ct_phase paused_as;  /* what a pause is booked under */
	ct_event_handle switching;
	uint32_t start_number; /* counts all starts: order of start, also within an instant */
	bool profiling;        /* the present run is a profile run */
	bool hit;              /* by a failure, since it last started */
	ct_time phase_since;
	ct_time held_since;
	ct_wide held;              /* milli-GPU x us up to held_since */
	double saved_remaining_us; /* at its last start or checkpoint: what a failure falls back to */
	ct_time unsaved_us;        /* run time since then, at `settled` */
	uint64_t pool_milli;
	struct ct_attain attain;
	/* what the log said last */
	uint32_t why, why_other; /* why + 1; 0: nothing */
	uint32_t told_partner;
	uint32_t told_config;
	float told_slowdown, told_predicted;
};

/* What a configuration of a job asks for, whoever defines it. */
struct ct_demand {
	double throughput;
	float sm_frac;
	uint32_t gpu_mem_mib, cpu_milli, mem_mib;
	const char *name; /* NULL for a job without a family */
};

struct ct_bin { /* of the time series: integrals over one bin */
	ct_wide held_milli, sm_micro, queued, running, queued_milli, mem_mib;
};

struct ct_node_plan {
	uint32_t subject; /* node or GPU */
	bool gpu, up;
};

struct ct_law_state {       /* of a node or GPU that fails by law */
	uint32_t n_outages; /* that are over */
	bool down;
};

/* Exact integrals; every value is constant between two instants. */
struct ct_integrals {
	ct_wide held_milli, sm_micro, union_micro, mem_mib, queued, running, idle_while_queued, down_milli;
};

struct ct_world {
	struct ct_world_spec spec;
	const struct ct_workload *work;
	struct ct_cluster *cluster;
	struct ct_event_queue events;
	struct ct_live *live; /* pool; record 0 is that of every job that is not there */
	uint32_t *live_of;    /* job -> its record */
	uint32_t n_live, free_live;
	size_t cap_live;
	uint32_t *partition_of; /* number in work->strings -> cluster index */
	uint32_t *type_of;
	struct ct_outcome *outcome;
	uint32_t n_jobs;
	struct ct_arena arena;

	struct ct_where where; /* now, seed, events handled */
	bool changed, in_batch, over, stopped;
	uint32_t next_arrival;
	uint32_t start_number;
	uint32_t holders; /* list of jobs that hold something, CT_NONE = empty */
	uint32_t mark;    /* of the current verb */
	uint32_t *gpu_mark;
	uint32_t *scratch; /* n_gpus numbers */

	/* present values of what is integrated */
	int64_t n_queued, n_running, queued_milli, shares_milli, sm_micro, union_micro, capacity_up_milli;
	uint32_t *gpu_sm_micro;    /* per GPU; NULL when no activity is known */
	uint32_t *gpu_union_micro; /* of residents active independently of each other */
	ct_time flushed;
	struct ct_integrals window;
	ct_wide shares_total; /* whole run, for conservation */
	ct_wide held_ended;   /* by jobs that have ended */
	ct_wide sm_total;     /* whole run, for policies */
	bool window_open;
	ct_time window_start, window_end; /* window_end CT_NEVER while open and draining */
	uint64_t window_pending;          /* jobs of the window that have not ended */
	bool pooled;                      /* some job held a pool share: SM activity is not known */
	double work_gpu_s, lost_gpu_s;    /* in the window */
	double failure_lost_gpu_s;        /* part of lost_gpu_s */
	uint64_t n_node_failures, n_gpu_failures, n_hits;
	uint64_t n_submitted, n_finished, n_failed, n_rejected;
	ct_time last_finish;
	uint64_t n_transitions[CT_TRANSITION_KINDS];
	ct_time transition_us[CT_TRANSITION_KINDS];

	ct_time bin_us, series_start;
	bool bin_auto;
	struct ct_bin *bins;
	size_t n_bins, cap_bins;
	double *series; /* made by ct_world_finish() */

	ct_time *wakes; /* pending wake-ups, descending: the next one is last */
	size_t n_wakes, cap_wakes;
	struct ct_node_plan *node_plans;
	size_t n_node_plans, cap_node_plans;
	struct ct_law_state *law; /* of all nodes, then all GPUs; NULL: no failures by law */

	uint32_t *places;
	size_t n_places, cap_places;
	struct ct_happening *happenings;
	size_t n_happenings, cap_happenings;
	struct ct_attained *attained; /* [0]: nothing to tell */
	size_t n_attained, cap_attained;
	struct ct_log log;
};

static inline struct ct_live *ct_live(const struct ct_world *w, uint32_t job)
{
	return &w->live[w->live_of[job]];
}

/* A job's slots; NULL for a pool share, when the cluster may have no slots at all. */
static inline const struct ct_slot *ct_slots_of(const struct ct_world *w, const struct ct_live *l)
{
	return l->n_slots ? w->cluster->slots + l->first_slot : NULL;
}

/* FINISH events carry a job and what ends. */
enum { CT_END_JOB = 0, CT_END_SWITCH = 1 };
static inline uint32_t ct_end_payload(uint32_t job, uint32_t what)
{
	return job << 1 | what;
}
/* TIMER events */
enum { CT_TIMER_WAKE, CT_TIMER_WARMUP, CT_TIMER_UNTIL };

/* GPUs' worth of a job's whole request, in milli. */
static inline int64_t ct_job_milli(const struct ct_job *j)
{
	return (int64_t)j->num_gpus * j->gpu_milli;
}

struct ct_demand ct_demand_of(const struct ct_world *w, uint32_t job, uint32_t config);

/* world.c */
void ct_world_tell(struct ct_world *w, enum ct_event_kind kind, uint32_t subject, uint32_t config,
		   const struct ct_slot *slots, uint32_t n_slots);
/* Closes the running phase of a job at now, and enters a state. */
void ct_world_enter(struct ct_world *w, uint32_t job, enum ct_job_state state, enum ct_phase left);
void ct_world_end_job(struct ct_world *w, uint32_t job, enum ct_job_state state, enum ct_reason reason);
/* The job's record goes back; after the last word about its end was told. */
void ct_world_forget(struct ct_world *w, uint32_t job);

/* progress.c */
void ct_progress_settle(struct ct_world *w, uint32_t job);
/* Rate from scratch, finish event moved. Only for jobs in state RUNNING. */
void ct_progress_rate(struct ct_world *w, uint32_t job);
/* Re-rates everyone who shares a GPU of these slots, but not `job`. */
void ct_progress_rate_neighbours(struct ct_world *w, const struct ct_slot *slots, uint32_t n, uint32_t job);
/* The same where `job` has just finished, by the world's step law. */
void ct_progress_rate_survivors(struct ct_world *w, const struct ct_slot *slots, uint32_t n, uint32_t job);
/* SM activity of the GPUs of these slots, from scratch. */
void ct_progress_sm(struct ct_world *w, const struct ct_slot *slots, uint32_t n);
void ct_progress_stop(struct ct_world *w, uint32_t job); /* settle, rate 0, no end event */

/* attain.c */
void ct_attain_open(struct ct_live *l, ct_time now); /* first start */
/* Up to `t` at the present rate; before the rate is changed. */
void ct_attain_settle(const struct ct_world *w, struct ct_live *l, ct_time t);
/* The factors of the rate from now on. */
void ct_attain_rate(struct ct_live *l, double throughput, double gpus, double speed, const struct ct_beside *b);
void ct_attain_close(struct ct_world *w, uint32_t job); /* finished; settled */

/* log.c: no-ops where the log is not kept. */
void ct_log_event(struct ct_world *w, uint32_t job, enum ct_stretch_kind kind);
/* It got its GPUs; `cold`: a transition comes first. */
void ct_log_start(struct ct_world *w, uint32_t job, bool first, bool cold);
/* It runs in this company from `t` on. */
void ct_log_beside(struct ct_world *w, uint32_t job, ct_time t, const struct ct_beside *b);
void ct_log_fini(struct ct_log *log);

/* verbs.c: give everything back (slots or pool) and tell nobody. The slots stay
 * readable through *slots until the next verb. */
void ct_release(struct ct_world *w, uint32_t job, const struct ct_slot **slots, uint32_t *n);
/* To the queue, from any holding state; `failed`: what it did since its last start or
 * checkpoint is lost, and its next start costs more. */
void ct_requeue(struct ct_world *w, uint32_t job, bool failed);

/* failures.c */
int ct_failures_open(struct ct_world *w, struct ct_err *err); /* at creation, after ct_account_open() */
void ct_failures_event(struct ct_world *w, uint32_t payload); /* of class NODE */

/* accounts.c */
void ct_account_open(struct ct_world *w);              /* at creation */
void ct_account_flush(struct ct_world *w, ct_time to); /* integrate up to `to` */
void ct_account_window(struct ct_world *w, bool open); /* a boundary of the window is now */

#endif
