/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy.h - the interface between Cotenant and a scheduling policy, and the only
 * header a policy includes, built in or loaded with --policy ./mine.so.
 *
 * A policy is one `struct ct_policy`: functions and a table of options. When
 * something changed, the host calls schedule(); the policy reads the view (clock,
 * queue, running jobs, nodes, GPUs) and writes into the plan (start, preempt, ...).
 * Every action is validated and takes effect at once, so the view is always
 * current; a wrong action ends the run with an error that names policy, job and
 * time. The smallest complete policy, first come first served:
 *
 *	#include <cotenant/policy.h>
 *
 *	static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
 *	{
 *		uint32_t job, next;
 *		(void)state;
 *		for (job = v->queue_first; job != CT_NO_JOB; job = next) {
 *			next = ct_view_job(v, job)->next;   // read before the job moves
 *			if (ct_start_anywhere(v, p, job, CT_PLACE_COUNT, 1) != CT_STARTED)
 *				break;                      // head of line blocks, or an error
 *		}
 *		return p->failed;
 *	}
 *	static const struct ct_policy mine = {
 *		CT_POLICY_HEAD, .name = "mine", .summary = "first come, first served",
 *		.schedule = schedule,
 *	};
 *	CT_POLICY_EXPORT(mine)
 *
 *	cc -shared -fPIC -o mine.so mine.c $(pkg-config --cflags cotenant)
 *
 * What a policy can know is what a real scheduler could: requests, estimates,
 * attained service, who runs where. True run times exist only behind `oracle`,
 * for policies that declare CT_POLICY_ORACLE.
 *
 * Rules: no threads, no clock, no random source but the host's (same seed, same
 * schedule); memory through host->alloc or freed in fini; on_* callbacks may only
 * update the policy's own state; the host calls from one thread, and several runs
 * may be alive in one process, so no mutable statics.
 *
 * Compatibility: structs grow at the end only; `size` tells old from new. Any
 * other change raises CT_POLICY_ABI. Times are int64 microseconds, GPU shares
 * thousandths of a GPU, memory MiB. Links against nothing of ours. */
#ifndef CT_POLICY_H
#define CT_POLICY_H

#include <stddef.h>
#include <stdint.h>

#define CT_POLICY_ABI 1u
#define CT_NO_JOB     UINT32_MAX
#define CT_ANY        UINT32_MAX /* any GPU type, no node */

typedef int64_t ct_time; /* microseconds */

/* ---- options: one table drives parsing, range checks, --help, the manual and
 * the manifest. The host also uses this type for its own configuration. */
enum ct_opt_type {
	CT_OPT_BOOL,    /* int: true | false */
	CT_OPT_INT,     /* int64_t */
	CT_OPT_DOUBLE,  /* double */
	CT_OPT_SECONDS, /* ct_time; written in seconds, decimals allowed */
	CT_OPT_ENUM,    /* int: index in `choices` */
	CT_OPT_TEXT,    /* const char *: NULL when empty */
};
struct ct_opt {
	const char *name; /* as in `policy.NAME` */
	enum ct_opt_type type;
	size_t offset;       /* of the value, from the start of the policy's state */
	const char *def;     /* default, as a user would write it; never NULL */
	double min, max;     /* inclusive; numbers and seconds */
	const char *choices; /* ENUM: "count|pack|pool" */
	const char *unit;    /* "s", "GPUs", NULL */
	const char *help;    /* one line */
	unsigned flags;      /* enum ct_opt_flags */
};
enum ct_opt_flags {
	CT_OPT_NO_DIGEST = 1,  /* where things are (paths), not what is computed */
	CT_OPT_PATH = 1 << 16, /* a file name, relative to where it was written */
};

/* ---- what can be read */
enum ct_view_state { /* of a job */
		     CT_VIEW_QUEUED = 1,
		     CT_VIEW_STARTING, /* holds GPUs, makes no progress yet */
		     CT_VIEW_RUNNING,
		     CT_VIEW_PAUSED, /* holds GPUs, in a blocking transition */
		     CT_VIEW_ENDED
};

/* A job, as a scheduler knows it. */
struct ct_view_job {
	/* the request */
	ct_time submit_us;
	ct_time deadline_us;                   /* -1 = none */
	uint32_t num_gpus, min_gpus, max_gpus; /* gang size and elastic range; all 0: CPU only */
	uint32_t gpu_milli;                    /* share of each GPU, 1..1000 */
	uint32_t gpu_mem_mib;                  /* on each GPU, 0 = unknown; with configurations: the default's */
	uint32_t cpu_milli, mem_mib;           /* of the whole job, 0 = does not matter */
	uint32_t user, group, model;           /* equal numbers = equal names, 0 = not given; host->text() */
	uint32_t partition;                    /* its virtual cluster */
	uint32_t gpu_type;                     /* the only type it accepts, or CT_ANY */
	int32_t priority;
	uint32_t n_configs, default_config;
	/* its state */
	uint32_t state; /* enum ct_view_state */
	uint32_t config;
	uint32_t next, prev; /* neighbours in the queue or the running list, CT_NO_JOB at the ends */
	ct_time since_us;    /* when the present state began */
	ct_time start_us;    /* first start, -1 = not yet */
	ct_time attained_us; /* time spent running before since_us */
	uint32_t gpus_held;  /* 0 while queued; a pool share counts as num_gpus */
	uint32_t n_preemptions;
};

struct ct_view_node {
	uint32_t partition, gpu_type, group; /* group: index in view->groups */
	uint32_t first_gpu, n_gpus;
	uint32_t up;
	uint32_t idle_gpus;      /* that work, without any resident */
	uint32_t free_cpu_milli; /* UINT32_MAX = unlimited */
	uint32_t free_mem_mib;
	uint64_t free_milli; /* share left of all its GPUs that work */
	uint32_t reserved;   /* not 0: taken out of its partition by plan->reserve */
	uint32_t down_gpus;  /* of its GPUs that have failed */
};

/* A GPU that has failed counts as full: CT_VIEW_GPU_DOWN residents, none of them a job,
 * and all of its share in use. */
#define CT_VIEW_GPU_DOWN 65535u

struct ct_view_gpu {
	uint32_t node;
	uint32_t n_residents;
	uint32_t resident[2];                       /* the first two, CT_NO_JOB */
	uint32_t used_milli, used_mem_mib, mem_mib; /* mem_mib UINT32_MAX = unlimited */
};

/* All nodes of one partition with one GPU type. */
struct ct_view_group {
	uint32_t partition, gpu_type;
	uint32_t n_nodes, n_gpus; /* that are up and work */
	uint32_t idle_gpus;
	uint32_t max_idle;      /* idle GPUs of its emptiest node */
	uint32_t max_node_gpus; /* GPUs of its largest node */
	uint32_t reserved;
};

/* One configuration of a job, as profiled alone: what a scheduler believes of it. */
struct ct_view_config {
	const char *name;            /* NULL for a job without a family */
	double throughput;           /* alone, relative to the default configuration's; > 0 */
	double sm_frac;              /* SM activity alone; NaN = unknown */
	uint32_t gpu_mem_mib;        /* on each GPU */
	uint32_t cpu_milli, mem_mib; /* of the whole job */
	uint32_t kind;               /* number of the profile, for host->slowdown() */
};

/* A job's configurations, numbered as in plan->start(). Jobs of a kind share one. */
struct ct_view_family {
	uint32_t id; /* equal numbers = the same family; dense, from 0 */
	uint32_t n, default_config;
	int train;      /* 1 training, 0 offline inference, -1 unknown */
	double scaling; /* throughput on k of n requested GPUs = (k / n)^scaling */
	const struct ct_view_config *config;
};

/* A reason that a policy gives for what it did or did not do; `text` is for people:
 * %j = the other job's name, %a and %b = the two numbers. `waits`: the job stays in
 * the queue for this reason. */
struct ct_why {
	const char *name, *text;
	int waits;
};

enum ct_move { CT_MOVE_START, CT_MOVE_SWITCH, CT_MOVE_MIGRATE, CT_MOVE_RESUME };

enum ct_place_rule {
	CT_PLACE_COUNT, /* any idle GPUs, lowest numbers first */
	CT_PLACE_PACK,  /* one node, the fullest that fits, lowest number on ties; jobs larger
			   than every node of their partition: whole idle nodes, the rest best fit */
	CT_PLACE_POOL,  /* a share of one node whose GPUs are one divisible amount */
};

struct ct_host;

struct ct_view {
	uint32_t abi, size; /* of this struct */
	ct_time now_us;
	/* Jobs submitted so far are 0 .. n_jobs - 1, in order of submission. Records are
	 * those of jobs that have not ended: use ct_view_job(). */
	const unsigned char *jobs;
	size_t job_stride;
	const uint32_t *job_record;
	uint32_t n_jobs;
	/* The queue in order of submission (a preempted job returns to its place),
	 * linked by job->next; likewise the jobs that hold GPUs, in order of start. */
	uint32_t queue_first, queue_last, n_queued;
	uint32_t running_first, running_last, n_running;
	const unsigned char *nodes, *gpus, *groups;
	size_t node_stride, gpu_stride, group_stride;
	uint32_t n_nodes, n_gpus, n_groups, n_partitions, n_gpu_types;
	uint32_t max_residents; /* jobs the engine lets share one GPU */
	const struct ct_host *host;
	uint32_t gpu_reserve_mib; /* memory of a shared GPU that no job may use */
	double attain_floor;      /* a job's target rate, as a share of its default configuration's */
};

/* A job's record, until its on_finish() has returned; afterwards (and for numbers not
 * submitted yet) a record in state CT_VIEW_ENDED, otherwise zero. The pointer is good
 * until the host's next call. */
static inline const struct ct_view_job *ct_view_job(const struct ct_view *v, uint32_t job)
{
	return (const struct ct_view_job *)(const void *)(v->jobs + v->job_stride * v->job_record[job]);
}
static inline const struct ct_view_node *ct_view_node(const struct ct_view *v, uint32_t node)
{
	return (const struct ct_view_node *)(const void *)(v->nodes + v->node_stride * node);
}
static inline const struct ct_view_gpu *ct_view_gpu(const struct ct_view *v, uint32_t gpu)
{
	return (const struct ct_view_gpu *)(const void *)(v->gpus + v->gpu_stride * gpu);
}
static inline const struct ct_view_group *ct_view_group(const struct ct_view *v, uint32_t group)
{
	return (const struct ct_view_group *)(const void *)(v->groups + v->group_stride * group);
}
/* Running time attained so far, in microseconds. */
static inline ct_time ct_view_attained_us(const struct ct_view *v, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);

	return j->attained_us + (j->state == CT_VIEW_RUNNING ? v->now_us - j->since_us : 0);
}

/* ---- services of the host */
enum ct_estimate_mode { CT_ESTIMATE_TRUE, CT_ESTIMATE_NOISY, CT_ESTIMATE_COLUMN };

/* A placement found by host->place: n GPUs, or a share of a node (CT_PLACE_POOL, and
 * under every rule for a job that asks for CPU but no GPU). ct_start_at() starts it. */
struct ct_place {
	const uint32_t *gpus; /* valid until the next call of place() */
	uint32_t n;           /* 0: the job does not fit now; 1 for a job without GPUs */
	uint32_t node;        /* CT_ANY: gpus; else a share of this node */
};

struct ct_host {
	uint32_t size;
	void *ctx; /* first argument of every function */
	/* Zeroed memory that lives as long as the run. */
	void *(*alloc)(void *ctx, size_t bytes);
	/* Reports an error of the policy ("lower case, no full stop"); returns what
	 * init() and schedule() should return. */
	int (*fail)(void *ctx, const char *message);
	const char *(*text)(void *ctx, uint32_t name); /* user, group, model */
	/* Run time of a job in its default configuration alone on its full request, as a
	 * scheduler could estimate it. TRUE needs CT_POLICY_ORACLE; NOISY multiplies the
	 * truth by a log-normal error with `sigma` frozen per job; COLUMN is the trace's
	 * requested time, an error where the trace has none. At least 1. */
	int (*estimate_us)(void *ctx, uint32_t job, int mode, double sigma, ct_time *out);
	/* Numeric value of a trace column for a job: any canonical name or extra column.
	 * column() finds it once (CT_ANY: no such column), value() reads it; empty or
	 * not a number is an error. */
	uint32_t (*column)(void *ctx, const char *name);
	int (*value)(void *ctx, uint32_t column, uint32_t job, double *out);
	/* Where the job fits now under a rule, with at most `residents` jobs a GPU (1 =
	 * no co-location). */
	struct ct_place (*place)(void *ctx, uint32_t job, int rule, uint32_t residents);
	/* Could it fit in the empty cluster under that rule? */
	int (*could_place)(void *ctx, uint32_t job, int rule);
	/* The GPUs a job holds now. */
	uint32_t (*gpus_of)(void *ctx, uint32_t job, uint32_t *gpus, uint32_t cap);
	/* Uniform in [0, 1), a pure function of the run's seed and both numbers. */
	double (*random)(void *ctx, uint64_t entity, uint64_t draw);
	/* Solo work still to do, in microseconds. NULL unless CT_POLICY_ORACLE. */
	double (*oracle_remaining_us)(void *ctx, uint32_t job);
	/* Text of a column for a job, as the trace has it: user, group, model, partition,
	 * gpu_type, state or an extra column; "" when empty. For numbers use value(). */
	const char *(*value_text)(void *ctx, uint32_t column, uint32_t job);
	/* Number of the partition of that name, as in the view's nodes; CT_ANY: none. */
	uint32_t (*partition)(void *ctx, const char *name);
	/* The configurations of a submitted job as profiled or, with `profiled` 0, as
	 * interpolated from the nearest other profile of its model. Never NULL; good for
	 * the whole run. A job of unknown model has the one that its request describes. */
	const struct ct_view_family *(*family)(void *ctx, uint32_t job, int profiled);
	/* Slow-down (>= 1) of a kind beside another on one GPU, as the run's predictor
	 * (iac.predictor) believes. */
	double (*slowdown)(void *ctx, uint32_t self, uint32_t other);
	/* What a transition (enum ct_move) to a configuration would cost; `blocks`, may be
	 * NULL: whether the job makes no progress meanwhile. */
	ct_time (*price_us)(void *ctx, uint32_t job, int move, uint32_t config, int *blocks);
	/* Work a job has done and kept, as counted iterations tell: in microseconds of its
	 * default configuration alone on the whole request. */
	double (*progress_us)(void *ctx, uint32_t job);
	/* Integral of SM activity over the cluster's GPUs so far, in GPU-microseconds; NaN
	 * when the activity of the jobs is not known. */
	double (*sm_gpu_us)(void *ctx);
};

/* ---- the plan. Functions return 0, or nonzero after recording an error: return it. */
struct ct_plan {
	uint32_t size;
	int failed; /* nonzero once an action was refused */
	void *ctx;
	int (*start)(struct ct_plan *p, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n);
	int (*start_pool)(struct ct_plan *p, uint32_t job, uint32_t config, uint32_t node);
	int (*preempt)(struct ct_plan *p, uint32_t job);
	int (*migrate)(struct ct_plan *p, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n);
	int (*reconfigure)(struct ct_plan *p, uint32_t job, uint32_t config);
	/* Refuse a job for good: this policy can never run it. */
	int (*reject)(struct ct_plan *p, uint32_t job);
	/* Call schedule() again at t > now. */
	int (*wake)(struct ct_plan *p, ct_time t);
	/* Take an idle node out of its partition's reach, or give it back. How: 0 = not,
	 * 1 = for good, could_place() does not count on it, 2 = for now. */
	int (*reserve)(struct ct_plan *p, uint32_t node, int how);
	/* A trial run of a queued job on GPUs of reserved nodes, of any partition. It
	 * finishes if its work ends meanwhile; preempt() ends it otherwise, and what
	 * it did is done again. */
	int (*profile)(struct ct_plan *p, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n);
	/* Records why: `why` is an index in the policy's `whys`, `other` a job or CT_NO_JOB.
	 * The same reason as the job's last since it got or lost GPUs, with the same other job,
	 * is recorded once. Costs nothing when the run keeps no decisions. */
	void (*note)(struct ct_plan *p, uint32_t job, uint32_t why, uint32_t other, double a, double b);
	int keeps_notes; /* 0: note() does nothing; spare yourself the numbers */
	/* What ran since the last lap of this call of schedule(), or since it began, was
	 * this one of the policy's `components`. For /perf; a policy never sees the time. */
	void (*lap)(struct ct_plan *p, uint32_t component);
};

/* Start a job in its default configuration where place() found room. */
static inline int ct_start_at(const struct ct_view *v, struct ct_plan *p, uint32_t job, const struct ct_place *at)
{
	uint32_t config = ct_view_job(v, job)->default_config;

	return at->node == CT_ANY ? p->start(p, job, config, at->gpus, at->n) : p->start_pool(p, job, config, at->node);
}

enum ct_start_result { CT_STARTED, CT_DOES_NOT_FIT, CT_START_FAILED };
/* Place by a rule and start in the default configuration. */
static inline enum ct_start_result ct_start_anywhere(const struct ct_view *v, struct ct_plan *p, uint32_t job, int rule,
						     uint32_t residents)
{
	struct ct_place at = v->host->place(v->host->ctx, job, rule, residents);

	if (at.n == 0)
		return CT_DOES_NOT_FIT;
	return ct_start_at(v, p, job, &at) ? CT_START_FAILED : CT_STARTED;
}

/* ---- the policy */
enum ct_policy_flags {
	CT_POLICY_ORACLE = 1,  /* may ask for true run times */
	CT_POLICY_ELASTIC = 2, /* makes use of fewer GPUs than a job asks for: only then does calib.gpu_span
				  lower min_gpus; to other policies requests are rigid unless the trace says so */
};

enum { CT_COMPONENTS = 8 };

struct ct_policy {
	uint32_t abi, size;                 /* CT_POLICY_HEAD */
	const char *name, *summary, *paper; /* paper: where it is described, may be NULL */
	const struct ct_opt *opts;          /* ends with name = NULL; may be NULL */
	size_t state_size;                  /* the host allocates it zeroed and fills in the options */
	unsigned flags;
	ct_time period_us;                                 /* > 0: schedule() only on this grid; 0: at every change */
	int (*init)(void *state, const struct ct_view *v); /* optional */
	void (*on_submit)(void *state, const struct ct_view *v, uint32_t job); /* optional: queued */
	void (*on_finish)(void *state, const struct ct_view *v, uint32_t job); /* optional: ended in any way */
	void (*on_change)(void *state, const struct ct_view *v,
			  uint32_t job); /* optional: preempted by a failure; CT_NO_JOB: a node or GPU */
	int (*schedule)(void *state, const struct ct_view *v, struct ct_plan *p); /* required */
	void (*fini)(void *state);                                                /* optional */
	const struct ct_why *whys;     /* reasons for plan->note(), ends with name = NULL; may be NULL */
	const char *const *components; /* names for plan->lap(), at most CT_COMPONENTS, ends with NULL; may be NULL */
};
#define CT_POLICY_HEAD .abi = CT_POLICY_ABI, .size = sizeof(struct ct_policy)

/* A plug-in exports exactly one symbol. */
typedef const struct ct_policy *ct_policy_entry(void);
#define CT_POLICY_SYMBOL "ct_policy_v1"
#define CT_POLICY_EXPORT(policy_)                                                          \
	__attribute__((visibility("default"))) const struct ct_policy *ct_policy_v1(void); \
	const struct ct_policy *ct_policy_v1(void)                                         \
	{                                                                                  \
		return &(policy_);                                                         \
	}

#endif
