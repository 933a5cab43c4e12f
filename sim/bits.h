/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bits.h - a set of small numbers with "next member" in O(1) for up to 4,096 of
 * them and O(n / 4096) above: one bit a number, one summary bit a word. */
#ifndef CT_SIM_BITS_H
#define CT_SIM_BITS_H

#include "sim/memory.h"

#include <stdint.h>

struct ct_bits {
	uint64_t *word, *summary; /* summary bit i: word[i] is not zero */
	uint32_t n_words, n_summary;
};

/* Room for the numbers 0 .. n - 1; empty. */
static inline void ct_bits_init(struct ct_bits *b, struct ct_arena *arena, uint32_t n)
{
	b->n_words = n / 64 + 1;
	b->n_summary = b->n_words / 64 + 1;
	b->word = CT_NEW(arena, uint64_t, b->n_words);
	b->summary = CT_NEW(arena, uint64_t, b->n_summary);
}

static inline void ct_bits_add(struct ct_bits *b, uint32_t i)
{
	b->word[i / 64] |= (uint64_t)1 << (i % 64);
	b->summary[i / 4096] |= (uint64_t)1 << (i / 64 % 64);
}

static inline void ct_bits_remove(struct ct_bits *b, uint32_t i)
{
	b->word[i / 64] &= ~((uint64_t)1 << (i % 64));
	if (!b->word[i / 64])
		b->summary[i / 4096] &= ~((uint64_t)1 << (i / 64 % 64));
}

/* The smallest member at or after `from`, or UINT32_MAX. */
static inline uint32_t ct_bits_next(const struct ct_bits *b, uint32_t from)
{
	uint32_t w = from / 64, s;
	uint64_t x;

	if (w >= b->n_words)
		return UINT32_MAX;
	x = b->word[w] >> (from % 64);
	if (x)
		return from + (uint32_t)__builtin_ctzll(x);
	w++;
	if (w >= b->n_words)
		return UINT32_MAX;
	s = w / 64;
	x = b->summary[s] >> (w % 64) << (w % 64);
	while (!x) {
		if (++s >= b->n_summary)
			return UINT32_MAX;
		x = b->summary[s];
	}
	w = 64 * s + (uint32_t)__builtin_ctzll(x);
	return 64 * w + (uint32_t)__builtin_ctzll(b->word[w]);
}

/* The largest member, or UINT32_MAX. */
static inline uint32_t ct_bits_last(const struct ct_bits *b)
{
	for (uint32_t s = b->n_summary; s-- > 0;) {
		if (b->summary[s]) {
			uint32_t w = 64 * s + 63 - (uint32_t)__builtin_clzll(b->summary[s]);

			return 64 * w + 63 - (uint32_t)__builtin_clzll(b->word[w]);
		}
	}
	return UINT32_MAX;
}

#endif
