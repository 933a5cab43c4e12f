/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.h - the profile store: which configurations of which workload were
 * profiled on which hardware, how often a question was answered exactly, and the
 * nearest profile where it was not.
 *
 * Distance: l2 over (log2 batch, log2 sequence length, 10 x memory share, and 1 for
 * each of checkpointing, mixed precision and prefix caching that differs). Another
 * hardware signature invalidates all profiles: then nothing is found until they
 * are measured again. */
#ifndef CT_CALIB_STORE_H
#define CT_CALIB_STORE_H

#include "calib/profiles.h"

struct ct_profile_store {
	const char *signature;          /* of the hardware the profiles were measured on */
	uint64_t hits, nearest, misses; /* exact, nearest instead, nothing at all */
};

/* Parses a configuration's name ("b48+ck", "b4-sl4096-mu0.90+pc") into the knobs of
 * `p`. 0, or -1 when it is none. */
int ct_profile_parse(const char *name, struct ct_profile *p);
double ct_profile_distance(const struct ct_profile *a, const struct ct_profile *b);
/* The profile with the knobs of `want` among the n of `have`, else the nearest (first
 * of equals); NULL when n = 0 or `hardware` is not the store's. Counts. `exact` may be NULL. */
const struct ct_profile *ct_profile_store_find(struct ct_profile_store *s, const char *hardware,
					       const struct ct_profile *have, size_t n, const struct ct_profile *want,
					       int *exact);
/* Share of questions answered exactly, NaN before the first. */
double ct_profile_store_hit_rate(const struct ct_profile_store *s);

#endif
