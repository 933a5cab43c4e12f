/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elastico.h - what the files of the policy `elastico` share; README.md says what it is.
 *
 *	rst.c       families of configurations as the market sees them; the profiler
 *	esp.c       scores and prices (equations 6 to 8)
 *	weights.c   what a job's performance counts for
 *	iac.c       predicted and measured slow-downs, tolerances (equation 11), pairs
 *	pack.c      where a job could go: idle GPUs, GPUs with one resident
 *	pds.c       Algorithm 1: reservation, rounds
 *	admit.c     admission from the queue
 *	keep.c      GPUs kept for a job that has waited too long
 *	adapt.c     what is changed of running jobs: switches, moves, growth, measurement
 *	elastico.c  options, callbacks, the epoch
 *
 * Everything that depends on the time goes through ct_elastico_due(), so that an epoch
 * at which nothing happened and nothing fell due would decide what the last one did. */
#ifndef CT_SCHEDULER_ELASTICO_H
#define CT_SCHEDULER_ELASTICO_H

#include "scheduler/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ct_elastico_resource { CT_ELASTICO_SM, CT_ELASTICO_MEM, CT_ELASTICO_CPU, CT_ELASTICO_RAM, CT_ELASTICO_RESOURCES };
#define CT_ELASTICO_WAIT UINT32_MAX /* a pending job's choice to stay in the queue */

/* ---- RST */

/* A configuration in the market's units. */
struct ct_elastico_config {
	double perf;                        /* T(c) / T(fastest), 0..1 */
	double throughput;                  /* T(c), relative to the default's */
	double need[CT_ELASTICO_RESOURCES]; /* of each GPU it holds, as shares of one GPU's part of the machine */
	uint32_t mem_mib, cpu_milli, ram_mib;
	uint32_t kind, row; /* the host's number of its profile; row in the table of slow-downs, or CT_ANY */
	uint32_t family;
	bool ok; /* reaches the floor and fits a GPU */
};

struct ct_elastico_family {
	struct ct_elastico_config *config; /* numbered as the host does */
	const uint32_t *front;             /* those that may be chosen, ascending */
	uint32_t n, n_front, default_config;
	uint32_t first;                      /* number of its configuration 0 among all families' */
	uint32_t fastest;                    /* of the front, the lowest number among equals */
	double least[CT_ELASTICO_RESOURCES]; /* component-wise minimum over the front */
	double scaling;
	int train;
};

/* Of n configurations those that are `ok` and, with `pareto`, not beaten in everything by
 * another: numbers in ascending order; returns how many. */
uint32_t ct_rst_front(const struct ct_elastico_config *config, uint32_t n, bool pareto, uint32_t *front);

/* ---- ESP: pure, on arrays of the caller */

struct ct_esp_group { /* jobs that choose alike */
	uint32_t family;
	uint32_t current; /* CT_ELASTICO_WAIT: pending, may wait */
	double gpus;      /* of all of them */
	double weight;    /* w, 1 on average */
	uint32_t chosen;  /* out */
};

struct ct_esp_market {
	const struct ct_elastico_family *family;
	struct ct_esp_group *group; /* those of a family stand together */
	uint32_t n_groups;
	double capacity[CT_ELASTICO_RESOURCES]; /* C_eff, in GPUs */
	double switch_cost;                     /* gamma0 */
	double step;                            /* eta0 */
	bool diminishing;                       /* eta0 / sqrt(t) */
	double tolerance;                       /* of prices and of excess demand */
	uint32_t max_iterations;                /* I */
};

/* Score of a configuration without its penalty: w (1 - T/T_max) + rent (equation 7). */
double ct_esp_score(const struct ct_elastico_config *c, double weight, const double *price);
/* argmin of the score over the front, the lowest number among equals. */
uint32_t ct_esp_best(const struct ct_elastico_family *f, double weight, const double *price, double *score);
/* Equation 7 with the switching cost: what a job in `current` chooses. */
uint32_t ct_esp_choose(const struct ct_elastico_family *f, double weight, const double *price, uint32_t current,
		       double switch_cost);
/* Aggregate demand of the groups' choices at these prices, which it fills in. */
void ct_esp_demand(const struct ct_esp_market *m, const double *price, double *demand);
/* Equation 8 until it stops: prices in and out (>= 0). Returns the iterations. */
uint32_t ct_esp_tatonnement(struct ct_esp_market *m, double *price);

/* ---- weights: w = 1 / remaining, within [lo, hi], / mean */

struct ct_weight_law {
	double lo, hi, mean;
};
/* That of n jobs with so much left, on so many GPUs: the mean weight of a GPU is 1. */
struct ct_weight_law ct_weights_law(const double *remaining, const double *gpus, uint32_t n, double span);
double ct_weights_weigh(const struct ct_weight_law *law, double remaining);

/* ---- IAC: tolerances */

struct ct_iac_law {
	double base, beta, beta_max, target; /* tau_base, beta, its clamp, U_target */
	bool paper;                          /* without the outer minimum */
};
/* Equation 11 without the floor: base + min(beta_max, beta (U / target - 1)), at least 1. */
double ct_iac_tolerance(const struct ct_iac_law *law, double utilisation);
/* The tolerance of a job that runs `rate_over_floor` = T(c) / L above its floor. */
double ct_iac_bound(const struct ct_iac_law *law, double tolerance, double rate_over_floor);

/* ---- PDS: equation 12, clamped at what the running jobs need at least */
void ct_pds_effective_capacity(const double *capacity, double gamma, const double *pending_least,
			       const double *running_least, double *effective);

/* ---- the policy's state */

enum ct_elastico_bidders { CT_BID_ROOM, CT_BID_RUNNING, CT_BID_QUEUE }; /* as the option has them */

enum ct_elastico_why {
	CT_WHY_NO_MEMORY,
	CT_WHY_NO_GANG,
	CT_WHY_PRICE,
	CT_WHY_TOLERANCE,
	CT_WHY_GAIN,
	CT_WHY_HORIZON,
	CT_WHY_ALONE,
	CT_WHY_BESIDE,
	CT_WHY_FEWER,
	CT_WHY_MADE_ROOM,
	CT_WHY_PRICE_SWITCH,
	CT_WHY_INTERFERENCE,
	CT_WHY_MOVED,
	CT_WHY_SPREAD,
	CT_WHY_EXPANDED,
	CT_WHY_MEASURED,
	CT_WHY_SEPARATED,
	CT_WHY_KEPT,
	CT_WHYS
};
extern const struct ct_why ct_elastico_whys[];

/* Parts of an epoch's time: those of the paper's Table 9. */
enum ct_elastico_component { CT_LAP_ESP, CT_LAP_IAC, CT_LAP_PACK, CT_LAP_PDS };

enum { CT_ELASTICO_ROUNDS = 8 }; /* most that `rounds` may be: room for a job's penalties */

struct ct_elastico_job {
	uint32_t family, next_family; /* next: once it has been profiled */
	uint32_t class, next_class;   /* of demand */
	ct_time profile_us;           /* its profile comes then; -1: it is there */
	ct_time ready_us;             /* end of the transition under way */
	ct_time changed_us;           /* when its last transition was ordered */
	ct_time estimate_us;          /* of its run time, 0 = not asked yet */
	double remaining;             /* of that, at the end of the last window */
	double weight;                /* w of this epoch */
	/* of this epoch */
	uint32_t n_alone;          /* its GPUs without a second resident */
	uint32_t n_partners;       /* 0, 1, 2 = several */
	uint32_t partner;          /* the last one met */
	uint32_t least_mem;        /* of the GPUs it holds, MiB */
	double pace;               /* slow-down by those beside it, predicted or measured */
	bool calm;                 /* none of those beside it is in a transition */
	uint64_t beside;           /* digest of who is beside it, and in which configurations */
	uint32_t suspect;          /* of those whose effect was not measured, the worst; CT_NO_JOB */
	double suspected;          /* slow-down that is expected of it */
	double known;              /* largest of the measured ones */
	uint32_t choice;           /* c* */
	uint32_t next_host, group; /* of hosts */
	uint32_t seen;
	uint32_t n_penalties;
	uint32_t penalty_config[CT_ELASTICO_ROUNDS];
	double penalty[CT_ELASTICO_ROUNDS];
	/* measurement beside a partner */
	ct_time window_us; /* when it began, -1: it does not run */
	double window_progress;
	uint64_t window_beside;
	uint32_t window_config;
};

/* Waiting jobs that are alike to placement. */
struct ct_elastico_class {
	uint32_t family, gpus, least, partition, type;
	uint32_t failed; /* in the pass of that number */
	int possible;    /* 0 not asked yet, 1 could run in the empty cluster, -1 never */
	uint32_t why;    /* enum ct_elastico_why */
	double a, b;
};

/* Hosts that are alike to a newcomer. */
struct ct_elastico_hosts {
	uint32_t family, config, held, requested, n_alone, partition, type, least_mem;
	bool free;            /* alone on all of its GPUs, and may be reconfigured now */
	double pace;          /* its slow-down by partners it has already */
	double share;         /* of its rate, by the GPUs it holds */
	uint32_t first, last; /* list through job->next_host, in order of start */
	uint32_t next;        /* group of the same configuration */
	/* what it offers to the newcomer under consideration */
	bool usable, taken;
	uint32_t reply; /* its configuration then */
	double self, other, loss;
};

struct ct_pair { /* two configurations on one GPU */
	bool fits, content;
	double self, other, value; /* slow-downs; perf / S of both */
};

struct ct_pair_choice {                /* of a newcomer beside a host */
	uint32_t version, row, column; /* what it is the answer to */
	uint32_t self, other;
	bool fits;
	double value; /* < 0: there is none */
};

/* Answers by (row, column): all of them while there are few, the latest at each place
 * when there are many. Those given out stand until the next question to the same table. */
struct ct_choice_table {
	struct ct_pair_choice *v;
	uint32_t mask, stride;
};

struct ct_iac_bias {    /* of predictions for jobs of one family beside those of another */
	double log_sum; /* of measured / predicted */
	uint32_t n;
	double factor; /* that the predictions not measured yet get; 0 = 1 */
};

/* What was learned of a family beside the families first, first + 1, ... */
struct ct_iac_biases {
	struct ct_iac_bias *v;
	uint32_t first, n;
};

/* A place for a job. */
struct ct_elastico_place {
	bool found, shared;
	uint32_t config, n; /* GPUs: e->found[0 .. n) */
	uint32_t n_hosts;   /* e->host_job[], e->host_config[] */
	double gain;        /* GPUs worth of work */
	double pace;        /* slowest host that was let in */
	double self, other; /* predicted slow-downs, the largest */
	uint32_t why;       /* not found: the reason, */
	double a, b;        /* its numbers */
};

struct ct_elastico {
	/* options */
	int rst, esp, iac, pds, elastic, every_epoch, measure, pareto, inside, diminishing, tau_paper, util_by_queue;
	int violations; /* 0: the newer job waits; 1: applied after all */
	bool lenient;   /* a search that ignores tolerances is under way */
	int separate, learn;
	int prices, matching, passes, reshape_hosts; /* parts of ESP: all off without it */
	int bidders;                                 /* enum ct_elastico_bidders */
	int by_price;                                /* beside a resident: 0 what suits both, 1 c* of equation 7 */
	int64_t horizon, rounds, iterations;
	double switch_cost, step, price_tolerance, alpha, gamma, margin, payback;
	double tau_base, beta, beta_max, target, hysteresis, cache_hit;
	ct_time patience;
	int weighted, estimate; /* by remaining work; estimate: 0 noisy, 1 the trace's column */
	double estimate_sigma, weight_span;
	ct_time hold, window, util_window, profile_min, profile_max, epoch;
	/* the machine */
	double gpu_cpu_milli, gpu_ram_mib; /* a GPU's part, 0 = unlimited */
	uint32_t gpu_mem_mib;              /* of the largest GPU; UINT32_MAX = unlimited */
	uint32_t shared_mem_mib;           /* what two residents of it may use */
	bool uneven;                       /* GPUs differ in memory or type, or hosts are modelled */
	bool hosts_modelled;               /* CPU or host memory limited somewhere */
	uint32_t profiler_gpu;             /* not to be used, or CT_ANY */
	uint32_t n_gpus_up;
	unsigned char *kept; /* for each GPU: is it kept for */
	uint32_t kept_for, n_kept;
	bool open; /* the search under way is for that job */
	/* families; arrays per configuration are numbered family->first + configuration */
	struct ct_elastico_family *family;
	size_t n_families, cap_families;
	uint32_t *family_of; /* host's id -> own number + 1 */
	size_t cap_family_of;
	uint32_t n_configs;
	uint32_t *config_head; /* first group of hosts, CT_ANY */
	double *config_gpus;   /* GPUs of running jobs */
	size_t cap_config_head, cap_config_gpus;
	double *pending_gpus;
	uint32_t *pending_choice;
	size_t cap_pending_gpus, cap_pending_choice;
	struct ct_esp_group *group;
	double *left, *gpus_of_group; /* scratch of the weights */
	size_t cap_group, cap_left, cap_gpus_of_group;
	size_t n_active; /* jobs submitted and not finished */
	ct_time weights_next;
	struct ct_elastico_class *class;
	size_t n_classes, cap_classes;
	/* slow-downs */
	uint32_t *kind_of; /* host's kind -> row + 1 */
	size_t cap_kind_of;
	uint32_t n_kinds, side;       /* the table is side x side */
	double *slow;                 /* 0 = not asked yet; negative = measured */
	struct ct_choice_table fixed; /* [family][configuration of the host] */
	struct ct_choice_table reply; /* [configuration][family of the host] */
	struct ct_choice_table joint; /* [family][family of the host] */
	struct ct_iac_biases *bias;   /* [family] */
	size_t cap_bias;
	uint32_t version;
	/* jobs */
	struct ct_elastico_job *job;
	size_t n_jobs, cap_jobs;
	uint32_t *profiling; /* jobs whose profile is being made, or was, in order */
	size_t first_profiling, n_profiling, cap_profiling;
	/* the epoch */
	double price[CT_ELASTICO_RESOURCES], start_price[CT_ELASTICO_RESOURCES];
	double effective[CT_ELASTICO_RESOURCES];
	double tau, utilisation;
	ct_time util_next, util_last;
	double util_sm;
	ct_time profiler_free;
	ct_time now, next_due, wake_us;
	bool dirty, acted;
	uint32_t pass;
	struct ct_elastico_hosts *hosts;
	uint32_t n_hosts, cap_hosts;
	uint32_t *gpus, *found, *host_job, *host_config, *node_mark; /* scratch */
	uint32_t node_stamp;
	uint32_t *shared; /* running jobs with a partner, in order of start */
	uint32_t n_shared;
	uint64_t n_epochs, n_iterations, n_rounds;
};

/* Is that time reached? Otherwise the policy is woken then. */
bool ct_elastico_due(struct ct_elastico *e, ct_time t);
/* Has the job no transition under way? */
bool ct_elastico_ready(struct ct_elastico *e, const struct ct_view *v, uint32_t job);

/* ---- weights.c */
/* Estimates of new jobs; counts work where a window has ended. */
int ct_weights_update(struct ct_elastico *e, const struct ct_view *v);

/* ---- rst.c. Those marked * allocate: not in schedule() */
uint32_t ct_rst_family(struct ct_elastico *e, const struct ct_view *v, uint32_t job, bool profiled); /* * */
/* Equation 4: does the configuration reach the floor at that share of its rate? */
bool ct_rst_reaches(const struct ct_elastico_family *f, uint32_t config, double share, double floor);
/* (k / n)^scaling */
double ct_rst_share(const struct ct_elastico_family *f, uint32_t gpus, uint32_t requested);
void ct_rst_submit(struct ct_elastico *e, const struct ct_view *v, uint32_t job); /* * */
/* Has the job's profile just come in? Then it replaces the estimate. */
bool ct_rst_collect(struct ct_elastico *e, uint32_t job);

/* ---- iac.c */
uint32_t ct_iac_row(struct ct_elastico *e, uint32_t kind); /* * */
void ct_iac_grow(struct ct_elastico *e);                   /* * */
void ct_iac_fini(struct ct_elastico *e);
/* Utilisation and tolerance of this epoch. */
void ct_iac_update(struct ct_elastico *e, const struct ct_view *v);
double ct_iac_slowdown(struct ct_elastico *e, const struct ct_view *v, const struct ct_elastico_config *self,
		       const struct ct_elastico_config *other);
bool ct_iac_is_measured(const struct ct_elastico *e, const struct ct_elastico_config *self,
			const struct ct_elastico_config *other);
void ct_iac_measured(struct ct_elastico *e, const struct ct_elastico_config *self,
		     const struct ct_elastico_config *other, double slowdown);
/* tau of a job in that configuration, at that share of its rate. */
double ct_iac_tau_of(const struct ct_elastico *e, const struct ct_view *v, const struct ct_elastico_family *f,
		     uint32_t config, double share);
struct ct_pair ct_iac_pair(struct ct_elastico *e, const struct ct_view *v, const struct ct_elastico_family *f,
			   uint32_t config, double share, const struct ct_elastico_family *g, uint32_t other,
			   double other_share, uint32_t room_mib);
/* The best pair on one GPU: beside a host that stays as it is; beside a newcomer that
 * does; with both to be chosen. */
const struct ct_pair_choice *ct_iac_fixed(struct ct_elastico *e, const struct ct_view *v, uint32_t family,
					  uint32_t host_family, uint32_t host_config);
const struct ct_pair_choice *ct_iac_reply(struct ct_elastico *e, const struct ct_view *v, uint32_t family,
					  uint32_t config, uint32_t host_family);
const struct ct_pair_choice *ct_iac_joint(struct ct_elastico *e, const struct ct_view *v, uint32_t family,
					  uint32_t host_family);

/* ---- pack.c */
/* Who stands where: n_alone, partners, pace of the running jobs; groups of hosts. */
void ct_pack_scan(struct ct_elastico *e, const struct ct_view *v);
/* A job that holds GPUs alone has become a host. */
void ct_pack_add_host(struct ct_elastico *e, const struct ct_view *v, uint32_t job);
void ct_pack_remove_host(struct ct_elastico *e, uint32_t job);
/* Idle GPUs that a job of this partition and type could use, beside reserved ones. */
uint32_t ct_pack_idle(const struct ct_elastico *e, const struct ct_view *v, uint32_t partition, uint32_t type);
/* `want` idle GPUs for the job in a configuration: e->found[at ..]. `total`: with those it
 * has there already. */
bool ct_pack_find_idle(struct ct_elastico *e, const struct ct_view *v, uint32_t job, uint32_t config, uint32_t want,
		       uint32_t total, uint32_t at);
/* The best place for a job whose gain a GPU is at least `least`. */
struct ct_elastico_place ct_pack_find(struct ct_elastico *e, const struct ct_view *v, uint32_t job, double least);
/* On GPUs that have a resident, `want` of them. */
struct ct_elastico_place ct_pack_find_shared(struct ct_elastico *e, const struct ct_view *v, uint32_t job,
					     uint32_t want, double least);

/* ---- pds.c */
void ct_pds_rounds(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p);
/* What prices choose for a job of the queue; CT_ELASTICO_WAIT. */
uint32_t ct_pds_choice(const struct ct_elastico *e, uint32_t job);
/* Is that slow-down more than the job tolerates in a configuration, `slack` on top? */
bool ct_pds_violates(const struct ct_elastico *e, const struct ct_view *v, uint32_t job, uint32_t config,
		     double slowdown, double slack);

/* ---- admit.c */
int ct_admit(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p);
/* Reconfigures the hosts of a place. */
int ct_admit_make_room(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job,
		       const struct ct_elastico_place *at);

/* The hosts and the newcomer after the job has taken the place. */
void ct_admit_settle(struct ct_elastico *e, const struct ct_view *v, uint32_t job, const struct ct_elastico_place *at);

/* ---- keep.c */
/* May a job be placed on it now? */
bool ct_keep_usable(const struct ct_elastico *e, uint32_t gpu);
/* Idle GPUs of a node that are kept from the job under consideration. */
uint32_t ct_keep_idle_on(const struct ct_elastico *e, const struct ct_view *v, uint32_t node);
/* Before the epoch: who has started, who has waited too long. */
void ct_keep_update(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p);

/* ---- adapt.c */
void ct_adapt_measure(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p);
int ct_adapt(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p);
int ct_adapt_switch(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job, uint32_t config);

#endif
