/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static void numbers_follow_first_appearance(void **state)
{
	struct ct_strings s;
	int is_new = -1;

	(void)state;
	ct_strings_init(&s);
	assert_int_equal(ct_strings_add(&s, "", 0), 0);
	assert_int_equal(ct_strings_add(&s, "b", 1), 1);
	assert_int_equal(ct_strings_add(&s, "a", 1), 2);
	assert_int_equal(ct_strings_add(&s, "b", 1), 1);
	assert_int_equal(ct_strings_add_new(&s, "ab", 2, &is_new), 3);
	assert_int_equal(is_new, 1);
	assert_int_equal(ct_strings_add_new(&s, "abc", 2, &is_new), 3);
	assert_int_equal(is_new, 0);
	assert_int_equal(ct_strings_add_new(&s, "x", 0, &is_new), 0);
	assert_int_equal(is_new, 0);
	assert_string_equal(ct_strings_text(&s, 0), "");
	assert_string_equal(ct_strings_text(&s, 3), "ab");
	assert_int_equal(ct_strings_find(&s, "a", 1), 2);
	assert_int_equal(ct_strings_find(&s, "", 0), 0);
	assert_int_equal(ct_strings_find(&s, "c", 1), UINT32_MAX);
	ct_strings_fini(&s);
}

/* Texts differ by their bytes, a NUL among them included. */
static void bytes_count(void **state)
{
	struct ct_strings s;

	(void)state;
	ct_strings_init(&s);
	assert_int_equal(ct_strings_add(&s, "a\0b", 3), 1);
	assert_int_equal(ct_strings_add(&s, "a", 1), 2);
	assert_int_equal(ct_strings_add(&s, "a\0c", 3), 3);
	assert_int_equal(ct_strings_find(&s, "a\0b", 3), 1);
	assert_memory_equal(ct_strings_text(&s, 3), "a\0c", 4);
	ct_strings_fini(&s);
}

static void many_strings(void **state)
{
	enum { N = 50000 };
	struct ct_strings s;
	const char *early;
	char text[16];

	(void)state;
	ct_strings_init(&s);
	early = ct_strings_text(&s, ct_strings_add(&s, "0", 1));
	for (int i = 1; i < N; i++)
		assert_int_equal(ct_strings_add(&s, text, (size_t)snprintf(text, sizeof text, "%d", i)), i + 1);
	for (int i = 0; i < N; i++) {
		size_t n = (size_t)snprintf(text, sizeof text, "%d", i);

		assert_int_equal(ct_strings_find(&s, text, n), i + 1);
		assert_string_equal(ct_strings_text(&s, (uint32_t)i + 1), text);
	}
	assert_ptr_equal(early, ct_strings_text(&s, 1)); /* texts do not move */
	assert_int_equal(s.n, N + 1);
	ct_strings_fini(&s);
}

static void two_tables_do_not_meet(void **state)
{
	struct ct_strings a, b;

	(void)state;
	ct_strings_init(&a);
	ct_strings_init(&b);
	ct_strings_add(&a, "x", 1);
	assert_int_equal(ct_strings_find(&b, "x", 1), UINT32_MAX);
	ct_strings_fini(&a);
	assert_int_equal(ct_strings_add(&b, "y", 1), 1);
	ct_strings_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_follow_first_appearance),
		cmocka_unit_test(bytes_count),
		cmocka_unit_test(many_strings),
		cmocka_unit_test(two_tables_do_not_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
