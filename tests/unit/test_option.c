/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "experiments/option.h"
#include "sim/nearest.h"

#include <math.h>
#include <string.h>

struct state {
	int flag, choice;
	int64_t count, any;
	double ratio;
	ct_time wait;
	const char *name, *file;
};

#define AT(f) offsetof(struct state, f)
static const struct ct_opt opts[] = {
	{ "flag", CT_OPT_BOOL, AT(flag), "true", 0, 0, NULL, NULL, "a switch", 0 },
	{ "choice", CT_OPT_ENUM, AT(choice), "pack", 0, 0, "count|pack|pool", NULL, "one of three", 0 },
	{ "count", CT_OPT_INT, AT(count), "3", -2, 7, NULL, "GPUs", "small", 0 },
	{ "any", CT_OPT_INT, AT(any), "0", 0, 0, NULL, NULL, "without limits", 0 },
	{ "ratio", CT_OPT_DOUBLE, AT(ratio), "0.1", 0, INFINITY, NULL, NULL, "not negative", 0 },
	{ "wait", CT_OPT_SECONDS, AT(wait), "1.5", 0, 100, NULL, "s", "a while", 0 },
	{ "name", CT_OPT_TEXT, AT(name), "", 0, 0, NULL, NULL, "a text", 0 },
	{ "file", CT_OPT_TEXT, AT(file), "", 0, 0, NULL, NULL, "a path", CT_OPT_PATH },
	{ 0 },
};

static const struct ct_loc at = { "f.yaml", 3, 7 };

static int set(struct state *s, struct ct_arena *arena, const char *name, const char *text, struct ct_err *err)
{
	const struct ct_opt_place p = { name, &at, "conf", CT_ECONFIG, arena, err };

	return ct_opt_set(&p, ct_opt_find(opts, name), s, text);
}

static void test_defaults(void **unused)
{
	struct ct_arena arena = { 0 };
	struct state s;

	(void)unused;
	ct_opt_defaults(opts, &s, &arena);
	assert_int_equal(s.flag, 1);
	assert_int_equal(s.choice, 1);
	assert_int_equal(s.count, 3);
	assert_true(s.ratio == 0.1);
	assert_int_equal(s.wait, 1500000);
	assert_null(s.name);
	ct_arena_fini(&arena);
}

/* Every value that is accepted, and the value it must become, by hand. */
static void test_accepted(void **unused)
{
	struct ct_arena arena = { 0 };
	struct ct_err err = { 0 };
	struct state s = { 0 };

	(void)unused;
	assert_int_equal(set(&s, &arena, "count", "-2", &err), 0);
	assert_int_equal(s.count, -2);
	assert_int_equal(set(&s, &arena, "any", "9223372036854775807", &err), 0);
	assert_int_equal(s.any, INT64_MAX);
	assert_int_equal(set(&s, &arena, "ratio", "1e300", &err), 0);
	assert_true(s.ratio == 1e300);
	assert_int_equal(set(&s, &arena, "wait", "0.000001", &err), 0);
	assert_int_equal(s.wait, 1);
	assert_int_equal(set(&s, &arena, "wait", "100", &err), 0);
	assert_int_equal(s.wait, 100000000);
	assert_int_equal(set(&s, &arena, "choice", "pool", &err), 0);
	assert_int_equal(s.choice, 2);
	assert_int_equal(set(&s, &arena, "name", "größer", &err), 0);
	assert_string_equal(s.name, "größer");
	assert_int_equal(set(&s, &arena, "file", "a.csv", &err), 0);
	assert_string_equal(s.file, "conf/a.csv");
	assert_int_equal(set(&s, &arena, "file", "/a.csv", &err), 0);
	assert_string_equal(s.file, "/a.csv");
	assert_int_equal(set(&s, &arena, "file", "data:x/a.csv", &err), 0);
	assert_string_equal(s.file, "data:x/a.csv");
	assert_int_equal(set(&s, &arena, "file", "", &err), 0);
	assert_null(s.file);
	assert_int_equal(err.count, 0);
	ct_arena_fini(&arena);
}

static void test_refused(void **unused)
{
	static const struct {
		const char *name, *text, *message;
	} row[] = {
		{ "flag", "yes", "f.yaml:3:7: 'flag' wants true or false, got 'yes'" },
		{ "flag", "True", "f.yaml:3:7: 'flag' wants true or false, got 'True'" },
		{ "choice", "pac",
		  "f.yaml:3:7: 'choice' wants one of count|pack|pool, got 'pac'; did you mean 'pack'?" },
		{ "choice", "zzz", "f.yaml:3:7: 'choice' wants one of count|pack|pool, got 'zzz'" },
		{ "choice", "", "f.yaml:3:7: 'choice' wants one of count|pack|pool, got ''" },
		{ "count", "8", "f.yaml:3:7: 'count' wants a whole number -2..7, got '8'" },
		{ "count", "1.0", "f.yaml:3:7: 'count' wants a whole number -2..7, got '1.0'" },
		{ "count", "0x1", "f.yaml:3:7: 'count' wants a whole number -2..7, got '0x1'" },
		{ "count", " 1", "f.yaml:3:7: 'count' wants a whole number -2..7, got ' 1'" },
		{ "count", "", "f.yaml:3:7: 'count' wants a whole number -2..7, got ''" },
		{ "any", "9223372036854775808", "f.yaml:3:7: 'any' wants a whole number, got '9223372036854775808'" },
		{ "ratio", "nan", "f.yaml:3:7: 'ratio' wants a number >= 0, got 'nan'" },
		{ "ratio", "inf", "f.yaml:3:7: 'ratio' wants a number >= 0, got 'inf'" },
		{ "ratio", "-1e-9", "f.yaml:3:7: 'ratio' wants a number >= 0, got '-1e-9'" },
		{ "ratio", "1,5", "f.yaml:3:7: 'ratio' wants a number >= 0, got '1,5'" },
		{ "wait", "100.000001", "f.yaml:3:7: 'wait' wants seconds 0..100, got '100.000001'" },
		{ "wait", "1h", "f.yaml:3:7: 'wait' wants seconds 0..100, got '1h'" },
		{ "name", "a\xff", "f.yaml:3:7: 'name' is not UTF-8 text at byte 2" },
		{ "name", "a\x01", "f.yaml:3:7: 'name' is not UTF-8 text at byte 2" },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct ct_arena arena = { 0 };
		struct ct_err err = { 0 };
		struct state s, before;

		memset(&s, 0x5a, sizeof s);
		before = s;
		assert_int_equal(set(&s, &arena, row[i].name, row[i].text, &err), CT_ECONFIG);
		assert_string_equal(err.text, row[i].message);
		assert_memory_equal(&s, &before, sizeof s);
		ct_arena_fini(&arena);
	}
}

/* Printing, then parsing, gives the same value. */
static void test_round_trip(void **unused)
{
	static const struct state some[] = {
		{ 0, 0, -2, INT64_MIN, 0.1, 1, NULL, NULL },
		{ 1, 2, 7, INT64_MAX, 1.0 / 3, 99999999, "null", "/x y" },
		{ 1, 1, 0, 0, 5e-324, 0, "a: \"b\" # c\n\td", "/a\\b" },
		{ 0, 1, 1, -1, 1.7976931348623157e308, 100000000, "ü", NULL },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		struct ct_arena arena = { 0 };
		struct ct_err err = { 0 };
		struct state copy = { 0 };

		for (const struct ct_opt *o = opts; o->name; o++)
			assert_int_equal(set(&copy, &arena, o->name, ct_opt_text(o, &some[i], &arena), &err), 0);
		assert_int_equal(copy.flag, some[i].flag);
		assert_int_equal(copy.choice, some[i].choice);
		assert_int_equal(copy.count, some[i].count);
		assert_int_equal(copy.any, some[i].any);
		assert_true(copy.ratio == some[i].ratio);
		assert_int_equal(copy.wait, some[i].wait);
		assert_string_equal(copy.name ? copy.name : "", some[i].name ? some[i].name : "");
		assert_string_equal(copy.file ? copy.file : "", some[i].file ? some[i].file : "");
		ct_arena_fini(&arena);
	}
}

static void check_table(struct ct_opt second, const char *message)
{
	struct ct_opt table[3] = { opts[0], second, { 0 } };
	struct ct_err err = { 0 };

	assert_int_equal(ct_opt_check_table(table, sizeof(struct state), "policy 'p'", &err), CT_EPOLICY);
	if (!strstr(err.text, message))
		fail_msg("'%s' is not in '%s'", message, err.text);
}

static void test_tables(void **unused)
{
	struct ct_err err = { 0 };
	struct ct_opt o = opts[2];

	(void)unused;
	assert_int_equal(ct_opt_check_table(opts, sizeof(struct state), "policy 'p'", &err), 0);
	assert_int_equal(ct_opt_check_table(NULL, 0, "policy 'p'", &err), 0);
	o.name = "flag";
	check_table(o, "its name is there twice");
	o = opts[2], o.name = "Big-Name";
	check_table(o, "not lower-case");
	o = opts[2], o.offset = sizeof(struct state);
	check_table(o, "outside the state");
	o = opts[2], o.offset = AT(count) + 4;
	check_table(o, "misaligned");
	o = opts[2], o.def = "8";
	check_table(o, "refuses its own default '8'");
	o = opts[2], o.def = NULL;
	check_table(o, "no default");
	o = opts[2], o.min = 1, o.max = 0;
	check_table(o, "the wrong way round");
	o = opts[1], o.choices = NULL;
	check_table(o, "no choices");
	o = opts[2], o.type = (enum ct_opt_type)77;
	check_table(o, "type is unknown");
}

/* Distances by hand; the classic kitten/sitting, and a swap that counts once. */
static void test_distance(void **unused)
{
	(void)unused;
	assert_int_equal(ct_edit_distance("kitten", "sitting"), 3);
	assert_int_equal(ct_edit_distance("", "abc"), 3);
	assert_int_equal(ct_edit_distance("abc", "abc"), 0);
	assert_int_equal(ct_edit_distance("fiof", "fifo"), 1);
	assert_int_equal(ct_edit_distance("on-block", "on_block"), 0);
	assert_int_equal(ct_edit_distance("ca", "abc"), 3);
}

static void test_nearest(void **unused)
{
	static const char long_word[] = "0123456789012345678901234567890123456789012345678901234567890123456789";

	(void)unused;
	assert_string_equal(ct_opt_nearest(opts, "cuont"), "count");
	assert_string_equal(ct_opt_nearest(opts, "flags"), "flag");
	assert_null(ct_opt_nearest(opts, "elephant"));
	assert_null(ct_opt_nearest(opts, "x"));
	assert_null(ct_opt_nearest(opts, long_word));
	assert_null(ct_opt_nearest(NULL, "flag"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),   cmocka_unit_test(test_accepted), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_tables),   cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
