/* SPDX-License-Identifier: GPL-3.0-or-later */
/* placement.h - the placement rules that policies share (host->place in policy.h).
 *
 * Whole GPUs without co-location are found through the cluster's index: any idle
 * GPUs in O(GPUs asked for), the best-fitting node in O(1) for nodes alike.
 * Shares of a GPU and co-location look at the GPUs of the job's partition.
 *
 * Preference among GPUs: with shares, the fullest GPU that still has room, then
 * idle ones; with co-location, idle GPUs first, then those with the fewest
 * residents. Lowest number on ties, always. */
#ifndef CT_SCHEDULER_PLACEMENT_H
#define CT_SCHEDULER_PLACEMENT_H

#include "scheduler/policy.h"
#include "sim/world.h"

struct ct_placement {
	const struct ct_world *world;
	uint32_t *gpus;      /* the answer, and room for it: n_gpus */
	uint32_t *candidate; /* n_gpus */
	uint32_t *class_at;  /* per class: a position while GPUs are merged */
};

void ct_placement_init(struct ct_placement *p, const struct ct_world *w);
void ct_placement_fini(struct ct_placement *p);

/* Where a job fits now in its default configuration. */
struct ct_place ct_placement_find(struct ct_placement *p, uint32_t job, enum ct_place_rule rule, uint32_t residents);
/* Would it fit if the cluster were empty and every node up? */
int ct_placement_possible(const struct ct_placement *p, uint32_t job, enum ct_place_rule rule);

#endif
