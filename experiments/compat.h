/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compat.h - `sim.compat`: sets of defaults that make this program repeat another
 * simulator. Nothing in the engine or in a policy knows of them: each is a list of
 * ordinary keys, visible in the effective configuration.
 *
 *	lucid-artifact           the simulator of Lucid (ASPLOS '23), policies fifo, sjf,
 *	                         las (its Tiresias) and lucid
 *	lucid-artifact-repaired  the same without its host-end defect
 *
 * A key of `sim` that holds its default takes the set's value; an option of the
 * policy that was given keeps what was given. */
#ifndef CT_EXPERIMENTS_COMPAT_H
#define CT_EXPERIMENTS_COMPAT_H

#include <stddef.h>

enum ct_compat { CT_COMPAT_NONE, CT_COMPAT_LUCID, CT_COMPAT_LUCID_REPAIRED };
#define CT_COMPAT_CHOICES "none|lucid-artifact|lucid-artifact-repaired"

struct ct_compat_default {
	unsigned sets; /* sum of 1 << enum ct_compat */
	const char *policy, *section, *key, *text;
};

/* All defaults of all sets, in order; NULL at the end. */
const struct ct_compat_default *ct_compat_at(size_t i);
/* Does the set know the policy? Every set CT_COMPAT_NONE does. */
int ct_compat_has(enum ct_compat set, const char *policy);
static inline int ct_compat_applies(const struct ct_compat_default *d, enum ct_compat set)
{
	return (d->sets >> set & 1) != 0;
}

#endif
