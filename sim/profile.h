/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.h - what a job can be turned into and what that costs: plain structs
 * that calib/ fills and experiments/ hands to the world.
 *
 * A *family* is a job's set of configurations; configuration 0..n-1, one of them
 * the default. A job without a family has exactly one configuration, made of its
 * own request, with throughput 1.
 *
 * A *transition* is the one kind of object for every cost in time: cold start,
 * configuration switch, migration, resume from a checkpoint. The file form is a
 * CSV with the header
 *
 *	kind,model,from,to,seconds,blocks,source
 *
 * kind = start | switch | migrate | resume; model, from, to name a workload and
 * its configurations, "*" or empty = any; blocks = 1 when the job makes no
 * progress meanwhile (0: it goes on at its old rate until the switch is done);
 * source says where the number comes from. The most specific row wins (model,
 * then to, then from), among equals the first. */
#ifndef CT_SIM_PROFILE_H
#define CT_SIM_PROFILE_H

#include "sim/clock.h"

#include <stddef.h>
#include <stdint.h>

struct ct_configuration {
	const char *name;
	double throughput;    /* solo, relative to the default configuration; > 0 */
	float sm_frac;        /* SM activity alone, NaN = unknown */
	uint32_t gpu_mem_mib; /* on each GPU */
	uint32_t cpu_milli;   /* of the whole job */
	uint32_t mem_mib;     /* host memory of the whole job */
	uint32_t kind;        /* number of the profile behind it, for contention and belief */
};

struct ct_family {
	const struct ct_configuration *config;
	uint32_t n, default_config;
	double scaling; /* throughput on k of the n requested GPUs = (k/n)^scaling; 1 = linear */
	int train;      /* 1 training, 0 offline inference, -1 unknown */
};

enum ct_transition_kind {
	CT_TRANSITION_START,   /* first start: image, weights, warm-up */
	CT_TRANSITION_SWITCH,  /* another configuration on the same GPUs */
	CT_TRANSITION_MIGRATE, /* other GPUs */
	CT_TRANSITION_RESUME,  /* start again after a preemption, from the checkpoint */
	CT_TRANSITION_KINDS
};

struct ct_transition {
	enum ct_transition_kind kind;
	const char *model, *from, *to; /* NULL = any */
	ct_time cost_us;
	int blocks;
	const char *source;
};

struct ct_transition_table {
	const struct ct_transition *row;
	size_t n;
};

struct ct_price {
	ct_time cost_us;
	int blocks;
};

/* The cost of one transition; names may be NULL (unknown). 0 when no row fits. */
struct ct_price ct_transition_price(const struct ct_transition_table *t, enum ct_transition_kind kind,
				    const char *model, const char *from, const char *to);

#endif
