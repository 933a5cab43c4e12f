/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for people: alignment by characters, no trailing blanks, harmless text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_printed(struct ct_table *t, const char *want)
{
	char *s = NULL;
	size_t n;
	FILE *f = open_memstream(&s, &n);

	assert_non_null(f);
	ct_table_print(t, f);
	fclose(f);
	assert_string_equal(s, want);
	free(s);
	ct_table_fini(t);
}

static void columns_are_aligned(void **state)
{
	struct ct_table t;

	(void)state;
	ct_table_init(&t);
	ct_table_column(&t, "policy", "", CT_LEFT);
	ct_table_column(&t, "JCT", "s", CT_RIGHT);
	ct_table_column(&t, "note", "", CT_LEFT);
	ct_table_text(&t, "fifo");
	ct_table_number(&t, 3012.55, 1);
	ct_table_text(&t, "first");
	ct_table_text(&t, "firstfit");
	ct_table_number(&t, 7, 1);
	ct_table_end_row(&t);
	assert_printed(&t, "policy       JCT  note\n"
			   "               s\n"
			   "fifo      3012.6  first\n"
			   "firstfit     7.0\n");
}

static void no_units_no_line(void **state)
{
	struct ct_table t;

	(void)state;
	ct_table_init(&t);
	ct_table_column(&t, "a", "", CT_LEFT);
	ct_table_column(&t, "b", "", CT_RIGHT);
	assert_printed(&t, "a  b\n");
}

/* The last row is not full, and a cell between two others is empty. */
static void empty_cells_keep_their_place(void **state)
{
	struct ct_table t;

	(void)state;
	ct_table_init(&t);
	ct_table_column(&t, "a", "", CT_LEFT);
	ct_table_column(&t, "b", "", CT_LEFT);
	ct_table_column(&t, "c", "", CT_LEFT);
	ct_table_text(&t, "1");
	ct_table_text(&t, NULL);
	ct_table_text(&t, "3");
	ct_table_text(&t, "4");
	assert_printed(&t, "a  b  c\n"
			   "1     3\n"
			   "4\n");
}

static void numbers(void **state)
{
	struct ct_table t;

	(void)state;
	ct_table_init(&t);
	ct_table_column(&t, "x", "", CT_RIGHT);
	ct_table_number(&t, NAN, 3);
	ct_table_number(&t, -INFINITY, 3);
	ct_table_number(&t, -0.0004, 3);
	ct_table_number(&t, -12.5, 0);
	ct_table_number(&t, 1e300, 2);
	ct_table_number(&t, 0, 0);
	assert_printed(&t, "        x\n"
			   "        -\n"
			   "     -inf\n"
			   "    0.000\n"
			   "      -12\n"
			   "1.00e+300\n"
			   "        0\n");
}

static void width_counts_characters(void **state)
{
	(void)state;
	assert_int_equal(ct_text_width(""), 0);
	assert_int_equal(ct_text_width("abc"), 3);
	assert_int_equal(ct_text_width("caf\xc3\xa9"), 4);              /* U+00E9 */
	assert_int_equal(ct_text_width("cafe\xcc\x81"), 4);             /* e and U+0301 */
	assert_int_equal(ct_text_width("\xe6\x97\xa5\xe6\x9c\xac"), 4); /* two ideographs */
	assert_int_equal(ct_text_width("\xf0\x9f\x98\x80"), 2);         /* U+1F600 */
}

static void text_is_harmless(void **state)
{
	struct ct_table t;

	(void)state;
	ct_table_init(&t);
	ct_table_column(&t, "x", "", CT_LEFT);
	ct_table_column(&t, "y", "", CT_LEFT);
	ct_table_text(&t, "a\nb\x1b[2J");                /* newline, escape sequence */
	ct_table_text(&t, "\xff|\xc0\xaf|\xed\xa0\x80"); /* no UTF-8; overlong '/'; a surrogate */
	ct_table_text(&t, "caf\xc3\xa9");
	ct_table_text(&t, "\xc2\x9b"
			  "1m"); /* C1 control */
	assert_printed(&t, "x        y\n"
			   "a?b?[2J  ?|??|\?\?\?\n"
			   "caf\xc3\xa9     ??1m\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned),          cmocka_unit_test(no_units_no_line),
		cmocka_unit_test(empty_cells_keep_their_place), cmocka_unit_test(numbers),
		cmocka_unit_test(width_counts_characters),      cmocka_unit_test(text_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
