/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Philox4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel
 * Random Numbers: As Easy as 1, 2, 3", SC'11, section 3.3; multipliers and Weyl
 * constants from its table 2 and figure 3 (Random123's philox.h).
 *
 * A stream's key is the seed. Its 128-bit counter is
 *
 *	block number, 56 bits | purpose, 8 bits | entity, 64 bits
 *
 * so streams of one seed never overlap, and no stream repeats within 2^58 draws.
 * Purpose 0 belongs to gsl_rng_set(). */
#include "sim/random.h"

#include <string.h>

void ct_philox_block(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
	uint32_t k0 = key[0], k1 = key[1];
	uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];

	for (int round = 0; round < 10; round++) {
		uint64_t p = UINT64_C(0xD2511F53) * a, q = UINT64_C(0xCD9E8D57) * c;

		a = (uint32_t)(q >> 32) ^ b ^ k0;
		b = (uint32_t)q;
		c = (uint32_t)(p >> 32) ^ d ^ k1;
		d = (uint32_t)p;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	out[0] = a;
	out[1] = b;
	out[2] = c;
	out[3] = d;
}

static void key_by(struct ct_philox *p, uint64_t seed, unsigned purpose, uint64_t entity)
{
	memset(p, 0, sizeof *p);
	p->key[0] = (uint32_t)seed;
	p->key[1] = (uint32_t)(seed >> 32);
	p->counter[1] = (uint32_t)purpose << 24;
	p->counter[2] = (uint32_t)entity;
	p->counter[3] = (uint32_t)(entity >> 32);
}

static uint32_t next(struct ct_philox *p)
{
	if (!p->left) {
		ct_philox_block(p->key, p->counter, p->block);
		if (!++p->counter[0])
			++p->counter[1];
		p->left = 4;
	}
	return p->block[4 - p->left--];
}

static void philox_set(void *state, unsigned long seed)
{
	key_by(state, seed, 0, 0);
}

static unsigned long philox_get(void *state)
{
	return next(state);
}

/* [0, 1) on the grid of 2^-53, from two draws. */
static double philox_get_double(void *state)
{
	uint64_t hi = next(state), lo = next(state);

	return (double)((hi << 32 | lo) >> 11) * 0x1p-53;
}

static const gsl_rng_type philox = {
	.name = "philox4x32-10",
	.max = 0xffffffffUL,
	.min = 0,
	.size = sizeof(struct ct_philox),
	.set = philox_set,
	.get = philox_get,
	.get_double = philox_get_double,
};
const gsl_rng_type *const ct_rng_philox = &philox;

void ct_stream_init(struct ct_stream *s, uint64_t seed, enum ct_random_purpose purpose, uint64_t entity)
{
	key_by(&s->state, seed, (unsigned)purpose, entity);
	s->rng.type = &philox;
	s->rng.state = &s->state;
}
