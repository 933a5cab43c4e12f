/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/id_set.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 12 };

/* FNV-1a, its high bits folded in: the table takes the low ones. */
static uint32_t hash_of(const char *s, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
	h ^= h >> 32;
	return (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* At most half full, so that a search ends after a few steps. */
static void grow(struct ct_id_set *s)
{
	size_t n = s->slot ? 2 * (s->mask + 1) : FIRST_SLOTS;
	struct ct_id_slot *slot = ct_calloc(n, sizeof *slot);

	for (size_t i = 0; s->slot && i <= s->mask; i++) {
		size_t k = s->slot[i].hash & (n - 1);

		if (!s->slot[i].job)
			continue;
		while (slot[k].job)
			k = (k + 1) & (n - 1);
		slot[k] = s->slot[i];
	}
	free(s->slot);
	s->slot = slot;
	s->mask = n - 1;
}

static uint32_t find_or_put(struct ct_id_set *s, const struct ct_workload *w, const char *id, size_t n, uint32_t job)
{
	uint32_t hash = hash_of(id, n);
	size_t k;

	if (!s->slot || 2 * s->used > s->mask)
		grow(s);
	for (k = hash & s->mask; s->slot[k].job; k = (k + 1) & s->mask) {
		const char *other;

		if (s->slot[k].hash != hash)
			continue;
		other = w->jobs[s->slot[k].job - 1].id;
		if (!strncmp(other, id, n) && !other[n])
			return s->slot[k].job - 1;
	}
	s->slot[k] = (struct ct_id_slot){ .hash = hash, .job = job + 1 };
	s->used++;
	return UINT32_MAX;
}

/* The value + 1 of an id that is a plain number without leading zeros, else 0. Two
 * such ids are equal when their values are; any other id differs from them. */
static uint64_t number_of(const char *id, size_t n)
{
	uint64_t v = 0;

	if (n > 18 || (id[0] == '0' && n > 1))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (id[i] < '0' || id[i] > '9')
			return 0;
		v = 10 * v + (uint64_t)(id[i] - '0');
	}
	return v + 1;
}

uint32_t ct_id_set_claim(struct ct_id_set *s, const struct ct_workload *w, const char *id, size_t n, uint32_t job)
{
	if (!s->slot) {
		uint64_t v = number_of(id, n);

		if (v > s->last) {
			s->last = v;
			return UINT32_MAX;
		}
		for (uint32_t i = 0; i < job; i++)
			find_or_put(s, w, w->jobs[i].id, strlen(w->jobs[i].id), i);
	}
	return find_or_put(s, w, id, n, job);
}

void ct_id_set_fini(struct ct_id_set *s)
{
	free(s->slot);
}
