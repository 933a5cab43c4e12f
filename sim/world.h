/* SPDX-License-Identifier: GPL-3.0-or-later */
/* world.h - the simulated cluster: a clock, jobs, GPUs, and verbs that change them.
 *
 * A world is mechanism only. Somebody else (scheduler/control.c, a test) moves
 * it from instant to instant and uses its verbs; the world validates every verb,
 * prices it in time, advances running jobs by the truth (contention.h) and keeps
 * the accounts. No global state: any number of worlds can live in one process.
 *
 *	struct ct_world *w = ct_world_new(&spec, &err);
 *	while (ct_world_advance(w)) {            // all events of the next instant
 *		if (ct_world_changed(w)) ...     // verbs here, at ct_world_now(w)
 *	}
 *	ct_world_finish(w, &err);                // conservation of jobs and GPU time
 *	ct_world_free(w);
 *
 * A job's life:
 *
 *	future -> queued -> starting -> running -> finished
 *	             ^                   |  ^ |
 *	             +- preempted, hit --+  | +-> paused (switch, migration) -+
 *	             |                      +--------------------------------+
 *	   rejected <+-> (can never run)         failed (killed)
 *
 * Progress: a running job does `rate` seconds of solo work a second, where
 *	rate = throughput(config) x (k / num_gpus)^scaling
 *	       x min over its GPUs ( GPU speed x product of contention factors )
 * so a gang moves at the pace of its slowest member. Only jobs that share a GPU
 * with what changed are re-rated. Remaining work is a double in microseconds,
 * exact while the rate is 1; a finish is rounded up to the next microsecond. */
#ifndef CT_SIM_WORLD_H
#define CT_SIM_WORLD_H

#include "sim/belief.h"
#include "sim/clock.h"
#include "sim/cluster.h"
#include "sim/contention.h"
#include "sim/err.h"
#include "sim/failures.h"
#include "sim/profile.h"
#include "sim/workload.h"

#include <stdbool.h>
#include <stdint.h>

enum ct_job_state {
	CT_JOB_FUTURE,   /* not submitted yet */
	CT_JOB_QUEUED,   /* waits; holds nothing */
	CT_JOB_STARTING, /* holds GPUs, cold start or resume in progress */
	CT_JOB_RUNNING,
	CT_JOB_PAUSED, /* holds GPUs, a blocking switch or migration in progress */
	CT_JOB_FINISHED,
	CT_JOB_FAILED,   /* killed, with a reason */
	CT_JOB_REJECTED, /* can never run here, with a reason */
	CT_JOB_STATES
};
const char *ct_job_state_name(enum ct_job_state s);

/* Where a job's time went; the six add up to finish - submission. */
enum ct_phase {
	CT_PHASE_QUEUE,
	CT_PHASE_PROFILE, /* in a policy's profiling pool */
	CT_PHASE_START,   /* cold start, resume */
	CT_PHASE_RUN,
	CT_PHASE_PAUSE,  /* blocking migration */
	CT_PHASE_SWITCH, /* blocking configuration switch */
	CT_PHASES
};
const char *ct_phase_name(enum ct_phase p);

enum ct_reason {
	CT_REASON_NONE,
	CT_REASON_PARTITION,         /* names a partition the cluster does not have */
	CT_REASON_GPU_TYPE,          /* names a GPU type its partition does not have */
	CT_REASON_CLUSTER_TOO_SMALL, /* more GPUs than the cluster has */
	CT_REASON_PARTITION_TOO_SMALL,
	CT_REASON_GPU_MEMORY, /* more memory than any of its GPUs */
	CT_REASON_CPU,        /* more CPU than the nodes could give it */
	CT_REASON_HOST_MEMORY,
	CT_REASON_PLACEMENT, /* the policy's placement rule can never hold it */
	CT_REASON_NODE_FAILURE,
	CT_REASON_KILLED,
	CT_REASONS
};
const char *ct_reason_name(enum ct_reason r); /* short name, for columns */
const char *ct_reason_text(enum ct_reason r); /* for people */

/* What happened to a job; index = job. All times in microseconds. */
struct ct_outcome {
	uint8_t state;                                              /* enum ct_job_state */
	uint8_t reason;                                             /* enum ct_reason */
	uint16_t n_switches, n_migrations, n_preemptions, n_starts; /* saturating */
	uint32_t place, n_place;                                    /* last placement: ranges in ct_world_places() */
	uint32_t attain;                                            /* finished: index in ct_world_attained() */
	ct_time start_us;                                           /* first time on GPUs, -1 = never */
	ct_time finish_us;                                          /* -1 = not ended */
	ct_time phase_us[CT_PHASES];
	double gpu_s;  /* GPU-seconds held (share counted) */
	double work_s; /* solo seconds of work done and kept */
	double lost_s; /* solo seconds of work done and lost to failures, preemptions and profile runs */
};

/* How a finished job fared against its default rate (1: its default configuration
 * alone on all its GPUs, of speed 1). In solo seconds of one job; what a rate r below 1
 * leaves undone in time dt is (1 - r) dt, and goes, factor by factor of the rate, to
 *	config      1 - throughput, where the configuration is slower than the default
 *	gpus        fewer GPUs than it asked for
 *	slowdown    those beside it; of which
 *	mispredicted  what the belief did not see: 1 / S - factor where that is positive, S the
 *	            slow-down that it predicts at the time; NaN without a belief
 * A window is 60 s from the job's first start on, the last one to its end; it is met when
 * its mean rate, standing still included, reaches sim.attain_floor. */
struct ct_attained {
	double window_frac; /* windows met / windows */
	double config_s, gpus_s, slowdown_s, mispredicted_s;
};
enum { CT_ATTAIN_WINDOW_S = 60 };

/* Why a policy did or did not do something: plan->note(). */
struct ct_decision {
	ct_time time;
	uint32_t job, why, other; /* why: index in the policy's table; other: a job or CT_NONE */
	float a, b;
};

/* A change in the life of a job between its first start and its end that /jobs does not
 * tell. A first start alone, at once, in the default configuration, on whole GPUs, is
 * told there and leaves none; so does the end. */
enum ct_stretch_kind {
	CT_STRETCH_START,   /* on GPUs, runs at once */
	CT_STRETCH_COLD,    /* on GPUs, in a cold start or resume; RUN follows */
	CT_STRETCH_PROFILE, /* a profile run on `place` ends, unfinished; it was one stretch */
	CT_STRETCH_RUN,     /* runs from now on: beside `partner`, at that slow-down */
	CT_STRETCH_SWITCH,  /* to `config`; RUN follows */
	CT_STRETCH_MIGRATE, /* from `place`; RUN follows */
	CT_STRETCH_PREEMPT, /* left `place` */
	CT_STRETCH_FAILURE, /* the same, its node went down */
	CT_STRETCH_KINDS
};
const char *ct_stretch_kind_name(enum ct_stretch_kind k);
struct ct_stretch {
	ct_time time;
	uint32_t job, partner;     /* on its slowest GPU; CT_NONE: alone */
	float slowdown, predicted; /* of RUN: by the truth, by the belief (NaN: none); else 1 */
	uint32_t place;            /* in the log's places, CT_NONE: see /jobs, or the next one */
	uint16_t config, partner_config;
	uint8_t kind, others; /* others: on that GPU, saturating */
};

/* The records of a run with `record_decisions`; all empty otherwise. */
struct ct_log {
	struct ct_decision *decision;
	size_t n_decisions, cap_decisions;
	struct ct_stretch *stretch;
	size_t n_stretches, cap_stretches;
	/* Placements one after the other: a number n and n ranges first, last of GPUs; or
	 * CT_NONE and a node, for a share of it. */
	uint32_t *place;
	size_t n_place, cap_place;
};

/* One thing that happened; told to the observer and, if wanted, recorded. */
enum ct_event_kind {
	CT_DID_SUBMIT,
	CT_DID_REJECT,
	CT_DID_START, /* got its GPUs */
	CT_DID_RUN,   /* transition over, makes progress */
	CT_DID_FINISH,
	CT_DID_FAIL,
	CT_DID_PREEMPT, /* gave its GPUs back, queued again */
	CT_DID_SWITCH,
	CT_DID_MIGRATE,
	CT_DID_NODE_DOWN,
	CT_DID_NODE_UP,
	CT_DID_WAKE,
	CT_DID_RESERVE, /* a node was reserved or given back */
	CT_DID_GPU_DOWN,
	CT_DID_GPU_UP,
	CT_EVENT_KINDS
};
const char *ct_event_kind_name(enum ct_event_kind k);
struct ct_happening {
	ct_time time;
	uint32_t subject; /* job, or node for NODE_* and RESERVE, or GPU for GPU_* */
	uint16_t kind;    /* enum ct_event_kind */
	uint16_t config;  /* of the job, after the event */
};

/* Called after the world's own state is consistent again. `slots` are the GPUs
 * the job held before (FINISH, FAIL, PREEMPT), took (START) or holds (others);
 * for MIGRATE it is called twice, with PREEMPT-like old slots under
 * CT_DID_MIGRATE first and the new ones second. The slots are valid during the
 * call only. May not use verbs. */
typedef void ct_observer(void *ctx, const struct ct_happening *h, const struct ct_slot *slots, uint32_t n_slots);

/* How simulators that advance in fixed steps see the end of a job; all zero: exact.
 * In each step they go through the running jobs in order of start; a job that had
 * nothing left to do ends, any other does a step's work. So an end is seen one step
 * after the work was done, on a whole number of steps after the last change of
 * speed, and a resident that started after the one that ended has its new speed for
 * this very step, one that started before for the next. Profile runs end exactly. */
struct ct_step_law {
	ct_time step_us;
	/* A resident that started after the one that ended keeps the speed it had
	 * beside it, to its own end (a defect of the Lucid artifact). */
	bool later_keeps_rate;
};

struct ct_world_spec {
	const struct ct_workload *work; /* sealed; outlives the world */
	struct ct_cluster_spec cluster;
	const struct ct_contention *contention;        /* NULL: sharing costs nothing */
	const struct ct_family *const *families;       /* per job, entries may be NULL; NULL: none */
	const struct ct_transition_table *transitions; /* NULL: all cost nothing */
	uint64_t seed;
	uint32_t residents;             /* jobs a GPU may hold beyond a plain sum of shares <= 1000; >= 1 */
	uint32_t gpu_reserve_mib;       /* GPU memory no job may use when GPUs are shared */
	ct_time warmup_us;              /* measurement window [warmup, until), since the first submission */
	ct_time until_us;               /* CT_NEVER: drain */
	bool censor;                    /* stop at until_us, not when the window's jobs have ended */
	double attain_floor;            /* a job attains when solo time / time since start >= this */
	const struct ct_belief *belief; /* for the accounts alone: what was predicted; NULL: nothing */
	bool record_decisions;          /* keep a struct ct_log */
	ct_time series_us;              /* bin of the time series; 0 = from the trace's span */
	bool record_events;
	struct ct_step_law step;
	/* Work a preemption throws away (done since the last checkpoint), at most what was
	 * done since the job last started: of a job on one node, on several. */
	ct_time preempt_loss_us[2];
	struct ct_failure_spec failures; /* its list of outages outlives the world */
	ct_observer *observer;           /* may be NULL */
	void *observer_ctx;
};

struct ct_world;

/* CT_ECONFIG for a cluster or option that cannot be. */
struct ct_world *ct_world_new(const struct ct_world_spec *spec, struct ct_err *err);
void ct_world_free(struct ct_world *w);

/* Handles every event of the next instant, classes finish to timer. False: the
 * run is over (nothing pending, the window done, or ct_world_stop()). */
bool ct_world_advance(struct ct_world *w);
/* Did a job arrive or end, a node change or a wake-up fall due at this instant? */
bool ct_world_changed(const struct ct_world *w);
ct_time ct_world_now(const struct ct_world *w);
/* Time of the next pending event, CT_NEVER if none. */
ct_time ct_world_next(const struct ct_world *w);
/* End the run after this instant; the result is partial and says so. */
void ct_world_stop(struct ct_world *w);
bool ct_world_stopped(const struct ct_world *w);
/* Events handled so far. */
uint64_t ct_world_events(const struct ct_world *w);
const struct ct_where *ct_world_where(const struct ct_world *w);

/* ---- verbs; CT_EPOLICY with the reason when the world refuses, nothing changed.
 * Times in messages are simulated seconds. */

/* Start a queued job on `n` distinct GPUs. */
int ct_world_start(struct ct_world *w, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n,
		   struct ct_err *err);
/* Start it on its share (num_gpus x gpu_milli) of a node taken as a divisible pool. */
int ct_world_start_pool(struct ct_world *w, uint32_t job, uint32_t config, uint32_t node, struct ct_err *err);
/* Start a profile run of a queued job: on reserved nodes, of whatever partition, at no
 * cost. Its time is booked as PROFILE; a job that ends meanwhile has finished,
 * preempting it throws what it did away and counts neither as start nor as
 * preemption. */
int ct_world_profile(struct ct_world *w, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n,
		     struct ct_err *err);
/* Takes an idle node out of every partition's reach (idle counts, placement, start),
 * or gives it back. It stays part of the cluster's capacity. */
int ct_world_reserve(struct ct_world *w, uint32_t node, enum ct_reserve how, struct ct_err *err);
/* Back into the queue, progress kept but for what spec.preempt_loss_us says; starting
 * again costs a resume. */
int ct_world_preempt(struct ct_world *w, uint32_t job, struct ct_err *err);
/* To other GPUs (some may be the same), at the price of a migration. */
int ct_world_migrate(struct ct_world *w, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n,
		     struct ct_err *err);
/* Another configuration on the same GPUs, at the price of a switch. */
int ct_world_reconfigure(struct ct_world *w, uint32_t job, uint32_t config, struct ct_err *err);
/* End a queued or running job as failed. */
int ct_world_fail(struct ct_world *w, uint32_t job, enum ct_reason reason, struct ct_err *err);
/* Refuse a queued job for good. */
int ct_world_reject(struct ct_world *w, uint32_t job, enum ct_reason reason, struct ct_err *err);
/* Notes a reason in the log, unless it is the job's last one, with the same other job,
 * since it got or lost its GPUs. For jobs that have arrived and not ended. */
void ct_world_note(struct ct_world *w, uint32_t job, uint32_t why, uint32_t other, double a, double b);
/* Make ct_world_changed() true at `t` > now. Several calls for one instant are one. */
int ct_world_wake(struct ct_world *w, ct_time t, struct ct_err *err);
/* A node or a GPU goes down or up at `t` >= now; see failures.h for what jobs lose. */
int ct_world_plan_node(struct ct_world *w, ct_time t, uint32_t node, bool up, struct ct_err *err);
int ct_world_plan_gpu(struct ct_world *w, ct_time t, uint32_t gpu, bool up, struct ct_err *err);

/* ---- what can be read */
const struct ct_world_spec *ct_world_spec_of(const struct ct_world *w);
const struct ct_cluster *ct_world_cluster(const struct ct_world *w);
const struct ct_outcome *ct_world_outcomes(const struct ct_world *w); /* index = job */
enum ct_job_state ct_world_job_state(const struct ct_world *w, uint32_t job);
/* The GPUs a job holds; NULL and 0 when none (or a pool share). */
const struct ct_slot *ct_world_job_slots(const struct ct_world *w, uint32_t job, uint32_t *n);
uint32_t ct_world_job_config(const struct ct_world *w, uint32_t job);
/* Solo work still to do at this instant, in microseconds. The truth: for oracles. */
double ct_world_job_remaining_us(const struct ct_world *w, uint32_t job);
/* Present speed, 0 unless running (or switching without a block). The truth. */
double ct_world_job_rate(const struct ct_world *w, uint32_t job);
/* What a transition of a job, from its present configuration, would cost. */
struct ct_price ct_world_price(const struct ct_world *w, uint32_t job, enum ct_transition_kind kind, uint32_t config);
/* Integral of SM activity over all GPUs since the beginning, in GPU-microseconds; NaN
 * when no job's activity is known. */
double ct_world_sm_gpu_us(const struct ct_world *w);
/* Partition and GPU type of a job as cluster indexes, CT_NONE = any / unknown. */
uint32_t ct_world_job_partition(const struct ct_world *w, uint32_t job);
uint32_t ct_world_job_type(const struct ct_world *w, uint32_t job);

/* Placements, [first, last] GPU number pairs, see ct_outcome.place. */
const uint32_t *ct_world_places(const struct ct_world *w);
/* Records of finished jobs, see ct_outcome.attain; [0] is that of all that met every window
 * and fell short of nothing. */
const struct ct_attained *ct_world_attained(const struct ct_world *w);
const struct ct_log *ct_world_log(const struct ct_world *w);
const struct ct_happening *ct_world_happenings(const struct ct_world *w, size_t *n);

/* Counts and integrals over the measurement window. */
struct ct_account {
	uint64_t submitted, finished, failed, rejected, left; /* whole run */
	ct_time first_submit, last_submit, last_finish;       /* CT_NEVER / -1 when none */
	ct_time window_start, window_end;
	double capacity_gpu_s;                /* GPUs x window */
	double held_gpu_s;                    /* allocated, a GPU counted at most once */
	double sm_gpu_s;                      /* SM-active; NaN when no job's activity is known */
	double sm_union_gpu_s;                /* the same if residents were active independently of each other */
	double mem_mib_s, capacity_mem_mib_s; /* GPU memory; capacity 0 = unknown */
	double work_gpu_s;                    /* useful work: solo seconds x GPUs done in the window */
	double lost_gpu_s;
	double failure_lost_gpu_s;                    /* of lost_gpu_s, to failures */
	double down_gpu_s;                            /* GPU time that was down */
	uint64_t node_failures, gpu_failures, n_hits; /* whole run; n_hits: jobs stopped by one */
	double queue_s, active_s;                     /* integrals of jobs queued, and of jobs that hold GPUs */
	double idle_while_queued_gpu_s; /* idle GPU time while at least one job waited: fragmentation and blocking */
	uint64_t n_transitions[CT_TRANSITION_KINDS];
	double transition_s[CT_TRANSITION_KINDS];
};
void ct_world_account(const struct ct_world *w, struct ct_account *out);

/* The time series: one row a bin, means over the bin. */
struct ct_series {
	ct_time bin_us, start_us; /* row i covers start + i * bin ... */
	size_t n;
	const double *held_gpus, *sm_gpus, *queued_jobs, *running_jobs, *queued_gpus, *gpu_mem_mib;
};
void ct_world_series(const struct ct_world *w, struct ct_series *out);

/* The end: closes the accounts and checks conservation. submitted = finished +
 * failed + rejected + left; GPU time held by jobs = GPU time taken from the
 * cluster, exactly; every finished job did exactly its work. Otherwise an error
 * that names the job: a defect of ours, not of the input. */
int ct_world_finish(struct ct_world *w, struct ct_err *err);

#endif
