/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <string.h>

/* By hand, from the definition: microseconds, half away from zero. */
static void exact_values(void **state)
{
	static const struct {
		const char *text;
		int rc;
		ct_time us;
	} row[] = {
		{ "0", 0, 0 },
		{ "-0", 0, 0 },
		{ "1", 0, 1000000 },
		{ "+1", 0, 1000000 },
		{ "100.5", 0, 100500000 },
		{ "1.", 0, 1000000 },
		{ ".5", 0, 500000 },
		{ "-.5", 0, -500000 },
		{ "007", 0, 7000000 },
		{ "0.1", 0, 100000 },
		{ "0.000001", 0, 1 },
		{ "0.0000004999999999999999999999", 0, 0 },
		{ "0.0000005", 0, 1 },
		{ "-0.0000005", 0, -1 },
		{ "-0.00000049", 0, 0 },
		{ "1.0000015", 0, 1000002 },
		{ "1.0000014999", 0, 1000001 },
		{ "0.9999995", 0, 1000000 },
		{ "1.5e3", 0, 1500000000 },
		{ "1.5E+3", 0, 1500000000 },
		{ "15e-1", 0, 1500000 },
		{ "5e-7", 0, 1 },
		{ "4e-7", 0, 0 },
		{ "50e-8", 0, 1 },
		{ "5e-8", 0, 0 },
		{ "0.00000000000000000000015e22", 0, 1500000 },
		{ "1500000000000000000000000e-24", 0, 1500000 },
		{ "1e-999999999999999999999999", 0, 0 },
		{ "0e999999999999999999999999", 0, 0 },
		{ "0.0e400", 0, 0 },
		{ "123456789.123456", 0, 123456789123456 },
		/* INT64_MAX / 32 = 288230376151711743 */
		{ "288230376151.711743", 0, 288230376151711743 },
		{ "-288230376151.711743", 0, -288230376151711743 },
		{ "288230376151.7117434", 0, 288230376151711743 },
		{ "288230376151.7117435", -2, 0 },
		{ "288230376151.711744", -2, 0 },
		{ "-288230376151.711744", -2, 0 },
		{ "1e12", -2, 0 },
		{ "1e999999999999999999999999", -2, 0 },
		{ "18446744073709551616", -2, 0 },
		{ "99999999999999999999999999999999999999999999999", -2, 0 },
		{ "", -1, 0 },
		{ "-", -1, 0 },
		{ "+", -1, 0 },
		{ ".", -1, 0 },
		{ "-.", -1, 0 },
		{ "e5", -1, 0 },
		{ ".e5", -1, 0 },
		{ "1e", -1, 0 },
		{ "1e+", -1, 0 },
		{ "1e5.5", -1, 0 },
		{ "1e5e5", -1, 0 },
		{ "1..2", -1, 0 },
		{ "1.2.3", -1, 0 },
		{ "--1", -1, 0 },
		{ "+-1", -1, 0 },
		{ "1-", -1, 0 },
		{ " 1", -1, 0 },
		{ "1 ", -1, 0 },
		{ "1,5", -1, 0 },
		{ "0x10", -1, 0 },
		{ "nan", -1, 0 },
		{ "inf", -1, 0 },
		{ "Infinity", -1, 0 },
		{ "1e400x", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		ct_time t = 77;
		int rc = ct_time_parse(row[i].text, strlen(row[i].text), &t);

		if (rc != row[i].rc || t != (rc ? 77 : row[i].us))
			fail_msg("'%s' gives %d, %lld", row[i].text, rc, (long long)t);
	}
}

static void only_n_bytes_count(void **state)
{
	ct_time t;

	(void)state;
	assert_int_equal(ct_time_parse("12.5junk", 4, &t), 0);
	assert_int_equal(t, 12500000);
}

static void shortest_text(void **state)
{
	static const struct {
		ct_time us;
		const char *text;
	} row[] = {
		{ 0, "0" },
		{ 1, "0.000001" },
		{ -1, "-0.000001" },
		{ 10, "0.00001" },
		{ 500000, "0.5" },
		{ 1000000, "1" },
		{ 100500000, "100.5" },
		{ -3000001, "-3.000001" },
		{ 60 * CT_SECOND, "60" },
		{ INT64_MAX, "9223372036854.775807" },
		{ INT64_MIN, "-9223372036854.775808" },
	};
	char text[CT_TIME_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		assert_int_equal(ct_time_format(row[i].us, text), strlen(row[i].text));
		assert_string_equal(text, row[i].text);
	}
}

static void text_and_back(void **state)
{
	uint64_t x = 1;
	char text[CT_TIME_TEXT];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		ct_time t, back;

		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		t = (ct_time)(x >> (6 + i % 58)) * (i % 2 ? 1 : -1);
		if (t > CT_TIME_LIMIT || t < -CT_TIME_LIMIT)
			continue;
		assert_int_equal(ct_time_parse(text, ct_time_format(t, text), &back), 0);
		assert_int_equal(back, t);
	}
}

static void locale_has_no_effect(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8" };
	ct_time t;
	char text[CT_TIME_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names && !setlocale(LC_ALL, names[i]); i++)
		;
	assert_int_equal(ct_time_parse("1.5", 3, &t), 0);
	assert_int_equal(t, 1500000);
	ct_time_format(t, text);
	assert_string_equal(text, "1.5");
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_values),         cmocka_unit_test(only_n_bytes_count),
		cmocka_unit_test(shortest_text),        cmocka_unit_test(text_and_back),
		cmocka_unit_test(locale_has_no_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
