/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lucid.h - what the files of the policy `lucid` share; README.md says what it is.
 *
 *	lucid.c     options, the callbacks, the pass over a partition
 *	binder.c    packing: who may share GPUs with whom, found without a scan
 *	profiler.c  the pool of nodes that runs new jobs for a while, alone
 *	facts.c     what is known of a job: estimate, memory, sharing score
 *	forecast.c  expected arrivals, which switch packing and size the pool */
#ifndef CT_SCHEDULER_LUCID_H
#define CT_SCHEDULER_LUCID_H

#include "scheduler/queueing.h"

enum { CT_LUCID_SCORES = 3 }; /* 0 tiny, 1 medium, 2 jumbo */

/* Reasons beside those of queueing.h. */
enum ct_lucid_why { CT_LUCID_WHY_PROFILER = CT_QUEUEING_N_WHYS, CT_LUCID_WHY_NO_HOST, CT_LUCID_WHY_PACKED };

enum ct_lucid_profile { CT_LUCID_PROFILE_OFF, CT_LUCID_PROFILE_SERIAL, CT_LUCID_PROFILE_PARALLEL };
enum ct_lucid_switch { CT_LUCID_ALWAYS, CT_LUCID_RECENT, CT_LUCID_FORECAST };

enum ct_lucid_place { /* where a job is */
		      CT_LUCID_NEW,
		      CT_LUCID_WAITS_FOR_PROFILER,
		      CT_LUCID_PROFILED, /* in a profile run */
		      CT_LUCID_WAITS,    /* in the main queue */
		      CT_LUCID_RUNS,
		      CT_LUCID_AGAIN, /* lost its GPUs to a failure */
		      CT_LUCID_ENDED
};

struct ct_lucid_job {
	double weight; /* estimated seconds x GPUs: the order, and the time-aware rule */
	double mem_mib;
	uint32_t score;
	uint32_t place;    /* enum ct_lucid_place */
	uint32_t started;  /* counts main starts: running-list order */
	uint32_t partner;  /* on the same GPUs, or CT_NO_JOB */
	uint32_t is_host;  /* may get a partner: it stands in a shelf's `hosts` */
	uint32_t finishes; /* profile=parallel: it will end within the profile time */
	uint32_t shelf;
	uint32_t num_gpus, gpu_type; /* a shadow may outlive its job's record */
};

/* Jobs of one partition and size that may be packed. */
struct ct_lucid_shelf {
	uint32_t partition, num_gpus;
	uint32_t waiting[CT_LUCID_SCORES]; /* trees: key weight, value memory */
	uint32_t hosts[CT_LUCID_SCORES];   /* trees: key started, value -weight */
};

struct ct_lucid_part { /* of a partition: hosts that waiting jobs were not compared with yet */
	uint32_t *host;
	size_t n_hosts, cap_hosts;
};

struct ct_lucid_pool_node {
	uint32_t node, first_gpu, n_gpus, n_free;
	uint32_t cpu_milli, mem_mib; /* capacities */
	uint32_t in_use;             /* part of the pool at present */
	uint32_t *busy;              /* of each GPU: 0, or 1 + the job of the run that holds it */
};

struct ct_lucid_run {       /* a profile run, or its shadow (profile=parallel) */
	uint32_t job, node; /* index in the pool */
	uint32_t shadow;    /* only in the books */
	ct_time end_us;     /* the run is over; INT64_MAX: at the job's own end */
};

struct ct_lucid_forecast {
	double *jobs, *gpus; /* a bucket */
	size_t n, cap_jobs, cap_gpus;
	uint32_t recent[6]; /* submissions of the last buckets, [0] the present one */
	int64_t bucket;     /* number of the present one */
};

enum { CT_LUCID_TRACE, CT_LUCID_PROFILE };

struct ct_lucid {
	struct ct_queueing q; /* first: started() gets it */
	/* options */
	int pack, packing_switch, profile, later_stays_packed;
	int utilisation; /* CT_LUCID_TRACE, CT_LUCID_PROFILE: of jobs without a column of it */
	int64_t capacity, pack_gpus, profiler_nodes, profile_gpus, default_score, spare_nodes;
	double time_factor, memory, switch_jobs;
	ct_time profile_time, round;
	const char *profiler, *lender, *score_column, *forecast_file;
	/* run */
	struct ct_lucid_job *job;
	size_t n_jobs, cap_jobs;
	struct ct_lucid_part *part;
	struct ct_lucid_shelf *shelf;
	size_t n_shelves, cap_shelves;
	struct ct_tree_pool trees;
	uint32_t n_started;
	uint32_t pack_onto; /* host of the start under way, or CT_NO_JOB */
	uint32_t *gpus;     /* scratch: all of the cluster */
	int packing, ready; /* packing: is it switched on at present? */
	uint32_t *fresh;    /* submitted, not looked at */
	size_t n_fresh, cap_fresh;
	/* facts */
	uint32_t score_of, gpu_util, gmem_util, sm_frac; /* columns, CT_ANY = none */
	/* profiler */
	struct ct_lucid_pool_node *pool;
	uint32_t n_pool;
	uint32_t extended; /* a spare node is in use */
	uint32_t lent;     /* node that pays for it, or CT_ANY */
	int lend;          /* +1, -1: to be done at the end of this call */
	struct ct_lucid_run *run;
	size_t n_runs, cap_runs;
	uint32_t profiler_queue; /* tree: key GPUs */
	uint32_t n_profiler_queue;
	struct ct_lucid_forecast forecast;
};

/* ---- facts.c */
int ct_lucid_facts_init(struct ct_lucid *l, const struct ct_view *v);
int ct_lucid_learn(struct ct_lucid *l, const struct ct_view *v, uint32_t job);
/* Score by utilisation, the depth-2 rule: percentages; `gmem_util` NaN = unknown. */
uint32_t ct_lucid_score(double gpu_util, double gmem_util);

/* ---- binder.c */
/* The shelf of a job, or UINT32_MAX when it is never packed. */
uint32_t ct_lucid_shelf_of(struct ct_lucid *l, const struct ct_view *v, uint32_t job);
void ct_lucid_offer(struct ct_lucid *l, uint32_t job);    /* it waits */
void ct_lucid_withdraw(struct ct_lucid *l, uint32_t job); /* it waits no more */
/* It holds GPUs of its own and may get a partner, or no longer. */
void ct_lucid_add_host(struct ct_lucid *l, const struct ct_view *v, uint32_t job);
void ct_lucid_remove_host(struct ct_lucid *l, uint32_t job);
/* The first host for a waiting job in order of start, or CT_NO_JOB. */
uint32_t ct_lucid_find_host(struct ct_lucid *l, const struct ct_view *v, uint32_t job);
/* The first waiting job after (key, job) for a host, or CT_NO_JOB. */
uint32_t ct_lucid_find_guest(struct ct_lucid *l, const struct ct_view *v, uint32_t host, int64_t key, uint32_t job);

/* ---- profiler.c */
int ct_lucid_profiler_init(struct ct_lucid *l, const struct ct_view *v);
int ct_lucid_profiler_reserve(struct ct_lucid *l, struct ct_plan *p);
/* Does the job go through the profiler? Then it is in its queue. */
bool ct_lucid_profiler_takes(struct ct_lucid *l, const struct ct_view *v, uint32_t job);
/* The job has ended or lost its GPUs. */
void ct_lucid_profiler_release(struct ct_lucid *l, uint32_t job);
/* Ends the runs that are over; the jobs go to the main queue through ct_lucid_enter(). */
int ct_lucid_profiler_end(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p);
int ct_lucid_profiler_start(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p);
/* Notes that a job waits for it, if so. */
void ct_lucid_profiler_note(const struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job);
/* After everything else of this call: the lender's node, and the next wake-up. */
int ct_lucid_profiler_after(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p);
void ct_lucid_profiler_fini(struct ct_lucid *l);

/* ---- lucid.c */
/* A partition has got a node back. */
void ct_lucid_gained(struct ct_lucid *l, const struct ct_view *v, const char *partition);
int ct_lucid_enter(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job);

/* ---- forecast.c: buckets of ten minutes, the first begins at time 0 */
#define CT_LUCID_BUCKET ((ct_time)600 * 1000000)
int ct_lucid_forecast_init(struct ct_lucid *l, const struct ct_view *v);
void ct_lucid_forecast_count(struct ct_lucid *l, const struct ct_view *v); /* a submission */
/* Mean of the next five buckets; NaN when the series is over. */
double ct_lucid_expected_jobs(struct ct_lucid *l, const struct ct_view *v);
double ct_lucid_expected_gpus(struct ct_lucid *l, const struct ct_view *v);

#endif
