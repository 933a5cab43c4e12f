/* SPDX-License-Identifier: GPL-3.0-or-later */
/* id_set.h - which job ids were seen. Internal to traces/.
 *
 * While ids are numbers in ascending order, as in most files, the last one says it
 * all. Otherwise open addressing over job indices instead of uthash: the ids stay
 * in the workload, and a million of them cost a fifth of what uthash (through
 * ct_strings) took, which was twice the rest of the reading. */
#ifndef CT_TRACES_ID_SET_H
#define CT_TRACES_ID_SET_H

#include "sim/workload.h"

#include <stddef.h>
#include <stdint.h>

struct ct_id_slot {
	uint32_t hash, job; /* job + 1; 0 = free */
};

/* Zero-initialise to use. */
struct ct_id_set {
	struct ct_id_slot *slot;
	size_t mask; /* slots - 1 */
	size_t used;
	uint64_t last; /* value of the last id + 1, while there is no table */
};

void ct_id_set_fini(struct ct_id_set *s);
/* The job that has the id already, or UINT32_MAX: then `job` holds it from now on
 * and must be added to the workload next, with this id. */
uint32_t ct_id_set_claim(struct ct_id_set *s, const struct ct_workload *w, const char *id, size_t n, uint32_t job);

#endif
