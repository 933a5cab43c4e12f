/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

static void sha256(const void *p, size_t n, char out[CT_DIGEST_TEXT])
{
	struct ct_digest d;

	ct_digest_init(&d);
	ct_digest_bytes(&d, p, n);
	ct_digest_final(&d, out);
}

/* FIPS 180-2, appendix B, and NIST's example for the empty message. */
static void known_answers(void **state)
{
	struct ct_digest d;
	char out[CT_DIGEST_TEXT], block[1000];

	(void)state;
	sha256("", 0, out);
	assert_string_equal(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256("abc", 3, out);
	assert_string_equal(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, out);
	assert_string_equal(out, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(block, 'a', sizeof block);
	ct_digest_init(&d);
	for (int i = 0; i < 1000; i++)
		ct_digest_bytes(&d, block, sizeof block);
	ct_digest_final(&d, out);
	assert_string_equal(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* The documented form of each kind of value, spelled out in bytes. */
static void forms(void **state)
{
	static const unsigned char bytes[] = {
		3,    0,    0,    0,    0,    0,    0,    0,    'a', 'b', 'c',                /* "abc" */
		0,    0,    0,    0,    0,    0,    0,    0,                                  /* NULL */
		0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,                               /* -2 */
		0,    0,    0,    0,    0,    0,    0xf8, 0x3f,                               /* 1.5 */
		2,    0,    0,    0,    0,    0,    0,    0,                                  /* two integers */
		1,    0,    0,    0,    0,    0,    0,    0,    0,   1,   0,   0, 0, 0, 0, 0, /* 1, 256 */
		1,    0,    0,    0,    0,    0,    0,    0,                                  /* one double */
		0,    0,    0,    0,    0,    0,    0,    0xc0,                               /* -2.0 */
	};
	struct ct_digest d;
	char got[CT_DIGEST_TEXT], want[CT_DIGEST_TEXT];

	(void)state;
	ct_digest_init(&d);
	ct_digest_text(&d, "abc");
	ct_digest_text(&d, NULL);
	ct_digest_i64(&d, -2);
	ct_digest_f64(&d, 1.5);
	ct_digest_i64_array(&d, (const int64_t[]){ 1, 256 }, 2);
	ct_digest_f64_array(&d, (const double[]){ -2.0 }, 1);
	ct_digest_final(&d, got);
	sha256(bytes, sizeof bytes, want);
	assert_string_equal(got, want);
}

static void digest_f64(double v, char out[CT_DIGEST_TEXT])
{
	struct ct_digest d;

	ct_digest_init(&d);
	ct_digest_f64(&d, v);
	ct_digest_final(&d, out);
}

static void one_nan_and_one_zero(void **state)
{
	char a[CT_DIGEST_TEXT], b[CT_DIGEST_TEXT];
	double odd;
	uint64_t bits = UINT64_C(0xfff0000000000123);

	(void)state;
	memcpy(&odd, &bits, sizeof odd);
	digest_f64((double)NAN, a);
	digest_f64(odd, b);
	assert_string_equal(a, b);
	digest_f64(0.0, a);
	digest_f64(-0.0, b);
	assert_string_equal(a, b);
	digest_f64(1.0, b);
	assert_string_not_equal(a, b);
}

/* Longer than a conversion block; an array is its length and then its values. */
static void long_arrays(void **state)
{
	enum { N = 1500 };
	static int64_t i64[N];
	static double f64[N];
	struct ct_digest d;
	char a[CT_DIGEST_TEXT], b[CT_DIGEST_TEXT];

	(void)state;
	for (int i = 0; i < N; i++) {
		i64[i] = (int64_t)i * i * i - 7;
		f64[i] = i / 7.0;
	}
	ct_digest_init(&d);
	ct_digest_i64_array(&d, i64, N);
	ct_digest_f64_array(&d, f64, N);
	ct_digest_final(&d, a);
	ct_digest_init(&d);
	ct_digest_i64(&d, N);
	for (int i = 0; i < N; i++)
		ct_digest_i64(&d, i64[i]);
	ct_digest_i64(&d, N);
	for (int i = 0; i < N; i++)
		ct_digest_f64(&d, f64[i]);
	ct_digest_final(&d, b);
	assert_string_equal(a, b);
}

static void texts_do_not_run_together(void **state)
{
	struct ct_digest d;
	char a[CT_DIGEST_TEXT], b[CT_DIGEST_TEXT];

	(void)state;
	ct_digest_init(&d);
	ct_digest_text(&d, "ab");
	ct_digest_text(&d, "c");
	ct_digest_final(&d, a);
	ct_digest_init(&d);
	ct_digest_text(&d, "a");
	ct_digest_text(&d, "bc");
	ct_digest_final(&d, b);
	assert_string_not_equal(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(forms),
		cmocka_unit_test(one_nan_and_one_zero),
		cmocka_unit_test(long_arrays),
		cmocka_unit_test(texts_do_not_run_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
