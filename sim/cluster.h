/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cluster.h - the resource tree: cluster > node > GPU, with integer capacities.
 *
 * A node belongs to one named partition (virtual cluster) and carries GPUs of
 * one type. A *class* is the set of nodes with the same partition and GPU type;
 * it indexes what is free, so that "any free GPU" and "best-fitting node" cost
 * far less than a scan. GPUs and nodes are numbered through, nodes in the order
 * of the specification.
 *
 * A job holds slots: one (job, GPU) pair each, linked per GPU. Whole-node pools
 * (a node's GPUs as one divisible amount) hold a share of the node instead.
 *
 * A GPU that has failed is full of nobody: CT_GPU_DOWN residents, all of its share in
 * use, in no set. Whoever looks for room on a GPU finds none there, without asking.
 *
 * The tree is mechanism: ct_cluster_take() and ct_cluster_give() keep all
 * indexes; who may take what is decided by the world's verbs. */
#ifndef CT_SIM_CLUSTER_H
#define CT_SIM_CLUSTER_H

#include "sim/bits.h"
#include "sim/clock.h"
#include "sim/err.h"
#include "sim/memory.h"

#include <stdbool.h>
#include <stdint.h>

#define CT_NONE UINT32_MAX /* no job, no slot, no node */

/* What a configuration says: `count` nodes alike. */
struct ct_node_spec {
	const char *name;      /* of this kind of node, for messages; may be NULL */
	uint32_t count;        /* >= 1 */
	uint32_t gpus;         /* per node, 0..CT_MAX_GPUS_PER_NODE */
	const char *gpu_type;  /* NULL or "": unnamed */
	double gpu_speed;      /* > 0; 1 = the GPU that durations are given for */
	uint32_t gpu_mem_mib;  /* 0 = unlimited (unknown) */
	uint32_t cpu_milli;    /* per node, 0 = unlimited */
	uint32_t mem_mib;      /* host memory per node, 0 = unlimited */
	const char *partition; /* NULL or "": the default partition */
};
enum { CT_MAX_GPUS_PER_NODE = 1 << 20, CT_MAX_GPUS = 1 << 22, CT_GPU_DOWN = UINT16_MAX };

struct ct_cluster_spec {
	const struct ct_node_spec *nodes;
	size_t n;
};

struct ct_gpu {
	uint32_t node;
	uint32_t first_slot;  /* residents, linked by ct_slot.next; CT_NONE = idle */
	uint16_t n_residents; /* CT_GPU_DOWN: it has failed */
	uint32_t used_milli;  /* sum of the residents' shares; over 1000 only when co-located */
	uint32_t used_mem_mib;
};

struct ct_node {
	uint32_t class_id, partition, type; /* indexes into the arrays of ct_cluster */
	uint32_t first_gpu, n_gpus;
	uint32_t gpu_mem_mib, cpu_milli, mem_mib; /* capacities; UINT32_MAX = unlimited */
	uint32_t up;                              /* 0 while the node is down */
	uint32_t down_gpus;                       /* of its GPUs that have failed, whether it is up or not */
	uint32_t reserved;                        /* enum ct_reserve; not NOT: in no set or count of its class */
	uint32_t idle_gpus;  /* GPUs that work, without any resident; 0 while a pool share is held */
	uint64_t free_milli; /* of all its GPUs that work, pool shares and slots taken off; floor 0 */
	uint32_t used_cpu_milli, used_mem_mib;
	uint64_t pool_milli; /* held as pool shares */
};

struct ct_gpu_type {
	const char *name; /* "" = unnamed */
	double speed;
};

/* The nodes of one partition with one GPU type. Sets hold positions within the
 * class: GPUs in node order, nodes in ascending order. Only nodes that are up and not
 * reserved are in any set or count, and of them only GPUs that work. A node that holds a pool share counts as having no
 * idle GPU; its GPUs stay in `idle`, so whoever reads that set looks at pool_milli. */
struct ct_class {
	uint32_t partition, type;
	uint32_t *node, n_nodes;     /* position -> node */
	uint32_t *gpu, n_gpus_all;   /* position -> GPU */
	uint32_t n_nodes_up, n_gpus; /* up */
	uint32_t idle_gpus;
	struct ct_bits idle;     /* GPUs without a resident */
	struct ct_bits partial;  /* GPUs in use with share to spare */
	struct ct_bits *by_idle; /* [k]: nodes with exactly k idle GPUs */
	uint32_t *n_by_idle;
	struct ct_bits levels;  /* those k that any node has */
	uint32_t max_node_gpus; /* of its largest node, up or down */
};

/* One (job, GPU) pair. A job's slots are consecutive. */
struct ct_slot {
	uint32_t gpu, job, next;
};

enum { CT_SLOT_SIZES = 23 };

struct ct_cluster {
	struct ct_arena arena;
	struct ct_node *nodes;
	struct ct_gpu *gpus;
	uint32_t n_nodes, n_gpus;
	struct ct_gpu_type *types;
	const char **partitions; /* [0] is the default partition "" when any node is in it */
	struct ct_class *classes;
	uint32_t n_types, n_partitions, n_classes;
	const struct ct_node_spec *shapes; /* the specification, copied */
	uint32_t *shape_class;             /* class of each row of it */
	uint32_t *shape_reserved;          /* nodes of each row reserved for good */
	uint32_t n_shapes;
	uint32_t *gpu_position;  /* GPU -> position in its class's bit sets */
	uint32_t *node_position; /* node -> position in its class */
	struct ct_slot *slots;
	size_t n_slots, cap_slots;
	uint32_t free_slots[CT_SLOT_SIZES]; /* free runs of 2^k slots, linked through .next */
	double one_speed;                   /* of all GPU types, 0 when they differ */
	/* totals */
	uint32_t busy_gpus;        /* with at least one resident */
	uint32_t shared_gpus;      /* with at least two */
	bool ever_shared;          /* some GPU was */
	uint64_t used_milli;       /* allocated share, at most 1000 a GPU; pool shares included */
	uint64_t used_mem_mib;     /* GPU memory held */
	uint64_t capacity_milli;   /* of all GPUs, up or down */
	uint64_t capacity_mem_mib; /* 0 when any GPU's memory is unknown */
};

/* CT_ECONFIG: no GPU at all, too many, names twice with different facts. */
struct ct_cluster *ct_cluster_new(const struct ct_cluster_spec *spec, struct ct_err *err);
void ct_cluster_free(struct ct_cluster *c);

/* Partition or type of that name, or CT_NONE. "" is the default partition. */
uint32_t ct_cluster_partition(const struct ct_cluster *c, const char *name);
uint32_t ct_cluster_type(const struct ct_cluster *c, const char *name);

/* Take `n` distinct GPUs for `job`, `milli` and `mem_mib` on each, and CPU and
 * host memory from their nodes in proportion to the GPUs there (cpu_milli and
 * mem_mib are of the whole job). The caller has checked that there is room.
 * Returns the first of n consecutive slots. */
uint32_t ct_cluster_take(struct ct_cluster *c, uint32_t job, const uint32_t *gpus, uint32_t n, uint32_t milli,
			 uint32_t gpu_mem_mib, uint32_t cpu_milli, uint32_t mem_mib);
void ct_cluster_give(struct ct_cluster *c, uint32_t first_slot, uint32_t n, uint32_t milli, uint32_t gpu_mem_mib,
		     uint32_t cpu_milli, uint32_t mem_mib);
/* The same for `milli` of a node as a divisible pool. */
void ct_cluster_take_pool(struct ct_cluster *c, uint32_t node, uint64_t milli, uint32_t cpu_milli, uint32_t mem_mib);
void ct_cluster_give_pool(struct ct_cluster *c, uint32_t node, uint64_t milli, uint32_t cpu_milli, uint32_t mem_mib);

/* A node goes down, without residents, or up. */
void ct_cluster_set_up(struct ct_cluster *c, uint32_t node, int up);
/* A GPU fails, without residents and with its share of a pool free, or works again;
 * remembered while its node is down. */
void ct_cluster_set_gpu(struct ct_cluster *c, uint32_t gpu, int up);
static inline uint32_t ct_node_working_gpus(const struct ct_node *n)
{
	return n->n_gpus - n->down_gpus;
}
static inline int ct_node_is_idle(const struct ct_node *n)
{
	return n->idle_gpus == ct_node_working_gpus(n) && !n->pool_milli;
}
/* Takes a node without residents out of its class's sets and counts, or back in. */
enum ct_reserve { CT_RESERVE_NOT, CT_RESERVE_FOR_GOOD, CT_RESERVE_FOR_NOW };
void ct_cluster_reserve(struct ct_cluster *c, uint32_t node, enum ct_reserve how);

/* CPU or host memory of a job of `total` on `n` GPUs that falls to the k GPUs on
 * one node: rounded up, so that no node is over-committed. */
static inline uint32_t ct_share_of(uint32_t total, uint32_t k, uint32_t n)
{
	return (uint32_t)(((uint64_t)total * k + n - 1) / n);
}

#endif
