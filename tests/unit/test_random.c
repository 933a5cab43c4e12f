/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

/* Random123, kat_vectors, lines "philox4x32 10". */
static void published_answers(void **state)
{
	static const struct {
		uint32_t counter[4], key[2], out[4];
	} row[] = {
		{ { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
		{ { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
		  { 0xffffffff, 0xffffffff },
		  { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
		{ { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
		  { 0xa4093822, 0x299f31d0 },
		  { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		uint32_t out[4];

		ct_philox_block(row[i].key, row[i].counter, out);
		assert_memory_equal(out, row[i].out, sizeof out);
	}
}

/* The generator hands out the blocks of counters 0, 1, ... word by word. */
static void stream_is_the_counter_sequence(void **state)
{
	gsl_rng *r = gsl_rng_alloc(ct_rng_philox);
	uint32_t key[2] = { 0x89abcdef, 0x01234567 }, counter[4] = { 0 }, out[4];

	(void)state;
	gsl_rng_set(r, 0x0123456789abcdefUL);
	for (uint32_t block = 0; block < 5; block++) {
		counter[0] = block;
		ct_philox_block(key, counter, out);
		for (int i = 0; i < 4; i++)
			assert_int_equal(gsl_rng_get(r), out[i]);
	}
	gsl_rng_free(r);
}

static void draw(uint64_t seed, enum ct_random_purpose purpose, uint64_t entity, unsigned long out[8])
{
	struct ct_stream s;

	ct_stream_init(&s, seed, purpose, entity);
	for (int i = 0; i < 8; i++)
		out[i] = gsl_rng_get(&s.rng);
}

static void keys_separate_streams(void **state)
{
	enum { N = 9 };
	static const uint64_t big = UINT64_C(1) << 32;
	unsigned long v[N][8];

	(void)state;
	draw(1, CT_RANDOM_TEST, 1, v[0]);
	draw(2, CT_RANDOM_TEST, 1, v[1]);
	draw(1, CT_RANDOM_POLICY, 1, v[2]);
	draw(1, CT_RANDOM_TEST, 2, v[3]);
	draw(1 + big, CT_RANDOM_TEST, 1, v[4]);
	draw(1, CT_RANDOM_TEST, 1 + big, v[5]);
	draw(0, CT_RANDOM_TEST, 0, v[6]);
	draw(1, CT_RANDOM_ESTIMATE, 1, v[7]);
	draw(0, CT_RANDOM_ESTIMATE, 0, v[8]);
	for (int a = 0; a < N; a++)
		for (int b = 0; b < a; b++)
			for (int i = 0; i < 8; i++)
				for (int k = 0; k < 8; k++)
					assert_true(v[a][i] != v[b][k]);
	draw(1, CT_RANDOM_TEST, 1, v[1]);
	assert_memory_equal(v[0], v[1], sizeof v[0]);
}

/* Draws of one stream do not depend on those of another. */
static void interleaving_changes_nothing(void **state)
{
	unsigned long alone[8];
	struct ct_stream a, b;

	(void)state;
	draw(9, CT_RANDOM_TEST, 3, alone);
	ct_stream_init(&a, 9, CT_RANDOM_TEST, 3);
	ct_stream_init(&b, 9, CT_RANDOM_TEST, 4);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(gsl_rng_get(&a.rng), alone[i]);
		for (int k = 0; k <= i; k++)
			gsl_ran_gaussian_ziggurat(&b.rng, 1.0);
	}
}

/* The block number runs over 2^32 without leaving its stream. */
static void block_number_carries(void **state)
{
	struct ct_stream s;
	uint32_t counter[4], out[4];

	(void)state;
	ct_stream_init(&s, 5, CT_RANDOM_TEST, 6);
	s.state.counter[0] = UINT32_MAX;
	memcpy(counter, s.state.counter, sizeof counter);
	for (int i = 0; i < 4; i++)
		gsl_rng_get(&s.rng);
	counter[0] = 0;
	counter[1]++;
	ct_philox_block(s.state.key, counter, out);
	assert_int_equal(gsl_rng_get(&s.rng), out[0]);
}

/* Chi-square of 10^6 uniforms in 1000 cells, and mean and variance of a normal:
 * inside the 10^-6 tails. The seed is fixed, so this cannot fail by chance. */
static void distributions(void **state)
{
	enum { N = 1000000, CELLS = 1000 };
	static int count[CELLS];
	struct ct_stream s;
	double chi = 0, sum = 0, square = 0, low = 1, high = 0;

	(void)state;
	ct_stream_init(&s, 11, CT_RANDOM_TEST, 0);
	for (int i = 0; i < N; i++) {
		double u = gsl_rng_uniform(&s.rng);

		low = fmin(low, u);
		high = fmax(high, u);
		assert_true(u >= 0 && u < 1);
		count[(int)(u * CELLS)]++;
	}
	for (int i = 0; i < CELLS; i++)
		chi += (count[i] - N / CELLS) * (double)(count[i] - N / CELLS) / (N / CELLS);
	assert_true(chi < gsl_cdf_chisq_Qinv(1e-6, CELLS - 1) && chi > gsl_cdf_chisq_Pinv(1e-6, CELLS - 1));
	assert_true(low < 2e-5 && high > 1 - 2e-5);
	for (int i = 0; i < N; i++) {
		double z = gsl_ran_gaussian_ziggurat(&s.rng, 1.0);

		sum += z;
		square += z * z;
	}
	assert_true(fabs(sum / N) < 4.9 / sqrt(N));
	assert_true(fabs(square / N - 1) < 4.9 * sqrt(2.0 / N));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_answers),     cmocka_unit_test(stream_is_the_counter_sequence),
		cmocka_unit_test(keys_separate_streams), cmocka_unit_test(interleaving_changes_nothing),
		cmocka_unit_test(block_number_carries),  cmocka_unit_test(distributions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
