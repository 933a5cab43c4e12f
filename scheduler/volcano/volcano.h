/* SPDX-License-Identifier: GPL-3.0-or-later */
/* volcano.h - state of the volcano policies, and what its files give each other.
 *
 *	volcano.c   options, profiles, cycles, a job's life
 *	queues.c    the option `queues`, deserved shares (proportion's water-filling)
 *	nodes.c     free GPUs of the nodes, node score, choice of a node
 *	enqueue.c   the gate: PENDING -> INQUEUE
 *	allocate.c  placement of gangs with rollback, surplus pods, commit
 *	evict.c     preempt and reclaim
 *
 * README.md says what is modelled and what is not. The decisions follow Volcano
 * v1.13.0; words as there: a *pod* holds GPUs of one node, a job's gang is
 * `min_pods` of its `pods`, a PENDING job waits at the gate, an INQUEUE job holds
 * budget and waits for room. Each partition (virtual cluster) is a *cell*, a Volcano
 * of its own over its own nodes; GPU types are node selectors within it.
 *
 * Cost of a decision. Waiting jobs of one queue with equal demand form a class;
 * within a pass a class that found no room is not tried again, nor in later passes
 * until something is given back. So a pass costs
 *	enqueue    O(queues + admitted x log pending), never the backlog
 *	allocate   O(queues^2 + classes + started x (queues + classes + log inqueue)
 *	           + pods placed x node choice)
 *	choice     O(GPUs a node x shapes + nodes / 64) where the score depends on GPUs
 *	           alone; O(nodes of the partition) when CPU or memory are limited
 *	surplus    O(growing jobs x log growing)
 *	preempt, reclaim (off by default)  O(running + nodes + pods x (nodes + victims))
 *	           for each starving class */
#ifndef CT_SCHEDULER_VOLCANO_VOLCANO_H
#define CT_SCHEDULER_VOLCANO_VOLCANO_H

#include "scheduler/policy.h"
#include "scheduler/tree.h"
#include "sim/bits.h"
#include "sim/memory.h"

#include <stdbool.h>

#define CT_VOL_NONE UINT32_MAX

enum ct_vol_why {
	CT_VOL_WHY_GATE,
	CT_VOL_WHY_GANG,
	CT_VOL_WHY_NODES,
	CT_VOL_WHY_SHARE,
	CT_VOL_WHY_EVICTED,
	CT_VOL_WHY_GROWN
};

enum ct_vol_gate { CT_VOL_GATE_BOTH, CT_VOL_GATE_PROPORTION, CT_VOL_GATE_OVERCOMMIT, CT_VOL_GATE_OFF };
enum ct_vol_discipline { CT_VOL_TRAVERSE, CT_VOL_STRICT_FIFO };
enum ct_vol_placement { CT_VOL_DEFAULT, CT_VOL_GPU_BINPACK, CT_VOL_SPREAD, CT_VOL_RANDOM };
enum ct_vol_tie { CT_VOL_TIE_RANDOM, CT_VOL_TIE_INDEX };

struct ct_vol_options {
	ct_time cycle_us, sla_us, grace_us; /* sla 0: off */
	int64_t admit_lag, pod_gpus;
	int gate, discipline, placement, tie_break;
	int expand, preempt, reclaim;
	double overcommit, s;
	const char *queues, *queue_by, *instances_by;
};

/* ---- demand */

/* Everything that decides where a job fits. No padding: compared bytewise. */
struct ct_vol_need {
	uint32_t queue, partition, gpu_type;
	uint32_t num_gpus, min_gpus, pod_gpus; /* in all, of the gang, of a pod (the last may have less) */
	uint32_t gpu_mem_mib, cpu_milli, mem_mib;
};

struct ct_vol_pod {
	uint32_t gpus, gpu_type, gpu_mem_mib, cpu_milli, mem_mib;
};

struct ct_vol_entry; /* of the hash table over needs */

struct ct_vol_class {
	struct ct_vol_need need;
	uint32_t pods, min_pods;
	struct ct_vol_pod pod; /* every one but perhaps the last */
	bool possible;         /* in the empty partition */
	uint32_t tree;         /* INQUEUE jobs that may be placed: key -priority, item job */
	uint32_t overdue;      /* tree: those of them that are gangs past their SLA; not in `tree` */
	uint32_t active_at;    /* in its queue's `active`, CT_VOL_NONE when both trees are empty */
	uint64_t failed;       /* cell->freed when it last found no room, 0 = never */
};

/* ---- queues */

struct ct_vol_queue_spec {
	const char *name;
	double weight, capability, guarantee; /* GPUs; capability INFINITY: none */
	int32_t priority;
	bool reclaimable;
};

struct ct_vol_candidate { /* the next job of a class in a pass */
	struct ct_vol_class *class;
	int64_t key;
	uint32_t job;
	bool overdue;
};

struct ct_vol_claimant { /* a queue, for the water-filling */
	double weight, realcap, request, guarantee, deserved;
	bool met;
};

struct ct_vol_queue {       /* of a cell */
	uint32_t index;     /* of its spec; order of creation */
	uint64_t allocated; /* GPUs its jobs hold */
	uint64_t inqueue;   /* sum of min_gpus of its INQUEUE jobs */
	uint64_t elastic;   /* GPUs held above the minimum */
	uint64_t unplaced;  /* GPUs of jobs past the gate that are not placed */
	uint64_t leaving;   /* GPUs of its jobs that are being evicted */
	double realcap, deserved;
	uint32_t pending; /* tree: key -priority, item job, value min_gpus */
	uint32_t expired; /* tree: those of them past their SLA */
	uint32_t n_pending;
	struct ct_vol_class **active; /* with INQUEUE jobs */
	size_t n_active, cap_active;
	uint32_t *grow; /* running jobs with unplaced pods */
	size_t n_grow, cap_grow;
	/* in a pass */
	struct ct_vol_candidate *candidate;
	size_t n_candidates, cap_candidates;
	uint32_t *heap; /* of growing jobs, best first */
	size_t n_heap, cap_heap;
	bool dropped;
};

/* ---- nodes */

struct ct_vol_node {
	uint32_t cell, shape, at;          /* at: position in its shape */
	uint32_t up, working;              /* working: its GPUs that have not failed, 0 while it is down */
	uint32_t gpus, cpu_milli, mem_mib; /* free; UINT32_MAX: unlimited */
	uint32_t claimed_gpus, claimed_cpu_milli, claimed_mem_mib; /* promised to preemptors */
};

struct ct_vol_shape {                                               /* nodes alike */
	uint32_t gpu_type, n_gpus, gpu_mem_mib, cpu_milli, mem_mib; /* capacities */
	uint32_t *node, n_nodes;
	struct ct_bits *by_free; /* [k]: positions with k free GPUs; only nodes that are up */
	uint32_t *n_by_free;
	struct ct_bits levels; /* k with n_by_free[k] > 0 */
};

/* ---- cells */

/* Victims are evicted at ready_us; until then nobody else gets what was promised. */
struct ct_vol_claim {
	uint32_t job;
	ct_time ready_us;
	uint32_t *victim, n_victims;
	struct ct_vol_hold *at;
	uint32_t n_at;
};

struct ct_vol_lag {
	uint32_t job;
	ct_time placeable_us;
};

struct ct_vol_cell {
	uint32_t partition;
	struct ct_vol_shape *shape;
	uint32_t n_shapes;
	bool limited;   /* some node has limited CPU or memory */
	uint64_t total; /* GPUs of nodes that are up */
	uint64_t total_all;
	uint64_t used, inqueue; /* over all queues */
	uint64_t idle;          /* sum of the free GPUs of its nodes that are up */
	struct ct_vol_queue **queue;
	uint32_t n_queues;
	uint64_t freed;  /* counts what was given back; starts at 1 */
	bool touched;    /* something happened since the last pass */
	bool again;      /* another pass may do more */
	bool holding;    /* partial gangs of overdue jobs are held in this pass */
	bool waits;      /* a growing job is in a transition */
	uint32_t *fresh; /* submitted, not yet looked at */
	size_t n_fresh, cap_fresh;
	struct ct_vol_lag *lag; /* admitted, not yet placeable; in order */
	size_t lag_first, n_lag, cap_lag;
	struct ct_vol_claim *claim;
	size_t n_claims, cap_claims;
};

/* ---- jobs */

enum ct_vol_phase { CT_VOL_NEW, CT_VOL_PENDING, CT_VOL_INQUEUE, CT_VOL_RUNNING, CT_VOL_DONE };

struct ct_vol_hold { /* GPUs of one job on one node */
	uint32_t node, gpus, next;
};

struct ct_vol_job {
	struct ct_vol_class *class;
	uint32_t held;    /* GPUs */
	uint32_t hold;    /* list, latest first */
	uint32_t grown;   /* GPUs of it that are not committed yet */
	uint32_t grow_at; /* in its queue's `grow`, CT_VOL_NONE */
	uint32_t starts;
	uint8_t phase; /* enum ct_vol_phase */
	bool expired;  /* past its SLA */
	bool overdue;  /* in its class's tree of that name */
	bool lagging;  /* in the cell's list of that name */
	bool claimed;  /* waits for its victims to go */
	bool evicting;
	uint64_t stuck; /* cell->freed when its growth last found no room */
};

struct ct_volcano {
	struct ct_vol_options opt; /* first: the option table points into it */
	struct ct_vol_queue_spec *spec;
	size_t n_specs, cap_specs;
	bool named; /* the option `queues` names them all */
	double guarantees;
	struct ct_vol_claimant *claimant; /* scratch */
	size_t cap_claimants;
	uint32_t queue_column, instances_column; /* CT_ANY: none */
	struct ct_arena arena;                   /* of the nodes' sets */
	struct ct_vol_cell *cell;
	uint32_t n_cells;
	struct ct_vol_node *node;
	struct ct_vol_job *job;
	size_t n_jobs, cap_jobs;
	struct ct_tree_pool trees;
	struct ct_vol_entry *table;
	struct ct_vol_class *last_class; /* asked for last */
	struct ct_vol_hold *hold;
	size_t n_holds, cap_holds;
	uint32_t free_hold;
	struct ct_plan *notes; /* NULL: nobody keeps them */
	uint32_t *placeable;   /* with notes: became so in this cycle */
	size_t n_placeable, cap_placeable;
	uint32_t next_expiry; /* no job before this one can still expire */
	ct_time woken_us;     /* latest wake-up asked for */
	uint32_t *cpu_only;   /* jobs without GPUs that wait */
	size_t n_cpu_only, cap_cpu_only;
	uint32_t *started; /* of this pass, in order */
	size_t n_started, cap_started;
	uint32_t *expanded;
	size_t n_expanded, cap_expanded;
	uint32_t *held_back; /* overdue gangs with a partial placement */
	size_t n_held_back, cap_held_back;
	uint32_t *gpus;             /* scratch, all GPUs */
	struct ct_vol_hold *sorted; /* scratch of commit */
	size_t cap_sorted;
	uint32_t *tied; /* scratch of the choice of a node, all nodes */
	struct ct_vol_tie_level *level;
	size_t cap_levels;
};

/* ---- queues.c */
int ct_vol_queues_parse(struct ct_volcano *s, const struct ct_view *v);
/* The queue of that name, made when the option does not name them; CT_VOL_NONE. */
uint32_t ct_vol_queue_find(struct ct_volcano *s, const char *name);
/* Deserved and real capability of every queue of the cell. */
void ct_vol_derive(struct ct_volcano *s, struct ct_vol_cell *c);
/* Proportion's water-filling over n queues; `deserved` is the result. */
void ct_vol_water_fill(struct ct_vol_claimant *q, size_t n, double total);
double ct_vol_realcap(const struct ct_volcano *s, const struct ct_vol_queue_spec *spec, uint64_t total);
/* Does queue a come before b? Priority, share, creation. */
bool ct_vol_queue_before(const struct ct_volcano *s, const struct ct_vol_queue *a, const struct ct_vol_queue *b);
/* Smallest amount that counts, of the arithmetic in doubles: 0.1 milli-GPU as in
 * Volcano's resource comparison. */
#define CT_VOL_EPSILON 1e-4

/* ---- nodes.c */
void ct_vol_nodes_init(struct ct_volcano *s, const struct ct_view *v);
void ct_vol_nodes_fini(struct ct_volcano *s);
/* Takes the node's state from the view, less what is claimed. */
void ct_vol_node_sync(struct ct_volcano *s, const struct ct_view *v, uint32_t node);
void ct_vol_node_take(struct ct_volcano *s, uint32_t node, const struct ct_vol_pod *pod);
void ct_vol_node_give(struct ct_volcano *s, uint32_t node, const struct ct_vol_pod *pod);
/* Pod number i of a job of the class. */
struct ct_vol_pod ct_vol_pod_of(const struct ct_vol_class *k, uint32_t i);
/* The best node for a pod, ties by `u` in [0, 1) or lowest number; CT_VOL_NONE. */
uint32_t ct_vol_pick(struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_pod *pod, double u);
/* Higher is better; for a node with `free` GPUs, CPU and memory. */
double ct_vol_score(const struct ct_volcano *s, const struct ct_vol_cell *c, uint32_t node, uint32_t free_gpus,
		    uint32_t free_cpu, uint32_t free_mem, const struct ct_vol_pod *pod);
/* Do `pods` like the class's fit at once (exact for pods alike)? `empty`: if all
 * nodes were up and idle. */
bool ct_vol_fits(const struct ct_volcano *s, const struct ct_vol_cell *c, const struct ct_vol_class *k, uint32_t pods,
		 bool empty);
bool ct_vol_accepts(const struct ct_vol_shape *h, const struct ct_vol_pod *pod);

/* ---- enqueue.c */
/* One enqueue action. True: some job was admitted. */
bool ct_vol_enqueue(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c);
/* Notes that a job waits at the gate. */
void ct_vol_note_pending(const struct ct_volcano *s, const struct ct_vol_cell *c, uint32_t job);

/* ---- allocate.c */
/* One allocate action; the starts and expansions stand in the state, tentative. */
bool ct_vol_allocate(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c);
int ct_vol_commit(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p);
/* Starts a job on the GPUs of its holds. */
int ct_vol_start(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, uint32_t job);
double ct_vol_draw(const struct ct_volcano *s, const struct ct_view *v, uint32_t job, uint32_t pod);

/* ---- evict.c */
int ct_vol_evict(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, struct ct_vol_cell *c, bool *any);
/* Evictions whose grace is over: victims go, preemptors start. */
int ct_vol_claims_due(struct ct_volcano *s, const struct ct_view *v, struct ct_plan *p, struct ct_vol_cell *c);
/* Forgets the claim of a job that left the queue. */
void ct_vol_claim_drop(struct ct_volcano *s, const struct ct_view *v, struct ct_vol_cell *c, uint32_t job);
void ct_vol_claims_fini(struct ct_vol_cell *c);

/* Notes why a job that passed the gate is not placed. */
void ct_vol_note_unplaced(const struct ct_volcano *s, const struct ct_vol_cell *c, uint32_t job);

/* ---- volcano.c: a job's life */
static inline struct ct_vol_cell *ct_vol_cell_of(const struct ct_volcano *s, uint32_t job)
{
	return &s->cell[s->job[job].class->need.partition];
}
static inline struct ct_vol_queue *ct_vol_queue_of(const struct ct_volcano *s, uint32_t job)
{
	return ct_vol_cell_of(s, job)->queue[s->job[job].class->need.queue];
}
static inline int64_t ct_vol_key(const struct ct_view *v, uint32_t job)
{
	return -(int64_t)ct_view_job(v, job)->priority;
}
/* Into the queue's pending jobs. */
void ct_vol_to_pending(struct ct_volcano *s, const struct ct_view *v, uint32_t job);
/* Past the gate; out of pending. */
void ct_vol_admit(struct ct_volcano *s, const struct ct_view *v, uint32_t job);
/* INQUEUE, may be placed: into its class or the overdue jobs; and out again. */
void ct_vol_to_class(struct ct_volcano *s, const struct ct_view *v, uint32_t job);
void ct_vol_from_class(struct ct_volcano *s, const struct ct_view *v, uint32_t job);
/* INQUEUE -> RUNNING with the GPUs it holds; counts it. The job is in no class. */
void ct_vol_to_running(struct ct_volcano *s, uint32_t job);
/* A running job gave its GPUs back (the view says so already). */
void ct_vol_release(struct ct_volcano *s, const struct ct_view *v, uint32_t job);
void ct_vol_hold_add(struct ct_volcano *s, uint32_t job, uint32_t node, uint32_t gpus);
void ct_vol_hold_drop(struct ct_volcano *s, uint32_t job); /* the latest */
void ct_vol_grow_remove(struct ct_volcano *s, uint32_t job);

#endif
