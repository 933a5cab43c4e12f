/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/pair_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[4096];

static int enter(void **state)
{
	char *dir = strdup("/tmp/cotenant-test-XXXXXX");

	if (!getcwd(root, sizeof root) || !mkdtemp(dir) || chdir(dir))
		return -1;
	*state = dir;
	return 0;
}

static int leave(void **state)
{
	int rc;

	unlink("p.csv");
	if (chdir(root))
		return -1;
	rc = rmdir(*state);
	free(*state);
	return rc;
}

static void put_file(const char *text)
{
	FILE *f = fopen("p.csv", "wb");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static struct ct_pair_table *load(const char *text, double fallback, const struct ct_strings *used)
{
	struct ct_err err = { 0 };
	struct ct_pair_table *t = NULL;

	put_file(text);
	if (ct_pair_table_load("p.csv", fallback, used, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static void refuses(const char *text, const char *messages)
{
	struct ct_err err = { 0 };
	struct ct_pair_table *t = NULL;
	struct ct_strings used;

	ct_strings_init(&used);
	put_file(text);
	assert_int_equal(ct_pair_table_load("p.csv", 1, &used, &t, &err), CT_ECONFIG);
	assert_string_equal(err.text, messages);
	assert_int_equal(err.code, CT_ECONFIG);
	assert_null(t);
	ct_strings_fini(&used);
}

static double factor(const struct ct_pair_table *t, uint32_t self, uint32_t other)
{
	struct ct_contention c = ct_pair_table_contention(t);
	const struct ct_contender a = { .job = 1, .model = self, .milli = 1000 };
	const struct ct_contender b = { .job = 2, .model = other, .milli = 1000 };

	return c.factor(c.state, &a, &b);
}

/* All sixteen cases of what rows exist, by hand: the most specific one decides. */
static void test_precedence(void **state)
{
	static const struct {
		const char *row;
		double factor;
	} rows[4] = { { "*,*,0.1\n", 0.1 }, { "*,b,0.2\n", 0.2 }, { "a,*,0.3\n", 0.3 }, { "a,b,0.4\n", 0.4 } };
	struct ct_strings used;
	uint32_t a, b;

	(void)state;
	ct_strings_init(&used);
	a = ct_strings_add(&used, "a", 1);
	b = ct_strings_add(&used, "b", 1);
	for (unsigned set = 1; set < 16; set++) {
		char text[128] = "model,partner,factor\n";
		struct ct_pair_table *t;
		double want = 0.9;

		for (int i = 3; i >= 0; i--) /* the order in the file must not matter */
			if (set >> i & 1)
				strcat(text, rows[i].row);
		for (int i = 0; i < 4; i++)
			if (set >> i & 1)
				want = rows[i].factor;
		t = load(text, 0.9, &used);
		assert_true(factor(t, a, b) == want);
		/* beside itself only the row of a, or of all, fits */
		assert_true(factor(t, a, a) == (set & 4 ? 0.3 : set & 1 ? 0.1 : 0.9));
		assert_true(factor(t, b, a) == (set & 1 ? 0.1 : 0.9));
		ct_pair_table_free(t);
	}
	ct_strings_fini(&used);
}

/* Two equal models: the row's own factor for the later one, `first` for the earlier. */
static void test_first_of_two_equal_ones(void **state)
{
	struct ct_strings used;
	struct ct_pair_table *t;
	struct ct_contention c;
	struct ct_contender x = { .job = 1, .start = 1 }, y = { .job = 2, .start = 2 };

	(void)state;
	ct_strings_init(&used);
	x.model = y.model = ct_strings_add(&used, "a", 1);
	t = load("model,partner,factor,first\na,a,0.7,0.8\nb,b,0.5,\n", 1, &used);
	c = ct_pair_table_contention(t);
	assert_true(c.factor(c.state, &x, &y) == 0.8);
	assert_true(c.factor(c.state, &y, &x) == 0.7);
	ct_pair_table_free(t);
	ct_strings_fini(&used);
	refuses("model,partner,factor,first\na,b,0.7,0.8\n",
		"p.csv:2:9: 'first' wants a row with one model as both 'model' and 'partner'");
	refuses("model,partner,factor,first\na,a,0.7,3\n",
		"p.csv:2:9: 'first' wants more than 0 and at most 2, got '3'");
}

static void test_directions_and_unknown_models(void **state)
{
	struct ct_strings used;
	struct ct_pair_table *t;
	uint32_t a, b, other;

	(void)state;
	ct_strings_init(&used);
	other = ct_strings_add(&used, "not in the table", 16);
	a = ct_strings_add(&used, "a", 1);
	b = ct_strings_add(&used, "b", 1);
	t = load("note,factor,partner,model,gpu\nx,0.5,b,a,V100\ny,0.75,a,b,V100\nz,0.6,*,a,V100\nw,1.2,q,q,V100\n", 1,
		 &used);
	assert_true(factor(t, a, b) == 0.5);
	assert_true(factor(t, b, a) == 0.75);
	assert_true(factor(t, a, other) == 0.6);
	assert_true(factor(t, a, 0) == 0.6); /* a job without a model */
	assert_true(factor(t, other, a) == 1);
	assert_true(factor(t, 0, 0) == 1);
	assert_true(factor(t, a, 1000000) == 0.6);
	assert_int_equal(ct_pair_table_info(t).rows, 4);
	assert_int_equal(ct_pair_table_info(t).unused_names, 1); /* q */
	assert_string_equal(ct_pair_table_info(t).ignored, "note, gpu");
	ct_pair_table_free(t);
	ct_strings_fini(&used);
}

static void test_only_fallback(void **state)
{
	struct ct_err err = { 0 };
	struct ct_pair_table *t = NULL;
	struct ct_strings used;

	(void)state;
	ct_strings_init(&used);
	ct_strings_add(&used, "a", 1);
	assert_int_equal(ct_pair_table_load(NULL, 0.5, &used, &t, &err), 0);
	assert_true(factor(t, 1, 0) == 0.5);
	ct_pair_table_free(t);
	t = NULL;
	assert_int_equal(ct_pair_table_load(NULL, 0, &used, &t, &err), CT_ECONFIG);
	assert_string_equal(err.text, "the fallback factor wants more than 0 and at most 2, got 0");
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_pair_table_load(NULL, NAN, &used, &t, &err), CT_ECONFIG);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_pair_table_load("absent.csv", 1, &used, &t, &err), CT_EIO);
	assert_string_equal(err.text, "cannot open 'absent.csv': No such file or directory");
	assert_null(t);
	ct_strings_fini(&used);
}

static void test_digest(void **state)
{
	static const char *const texts[] = {
		"model,partner,factor\na,b,0.5\nb,a,0.6\n", /* the first two say the same */
		"partner,factor,model,note\na,6e-1,b,x\nb,0.50,a,y\n",
		"model,partner,factor\na,b,0.5\nb,a,0.61\n",
		"model,partner,factor\na,b,0.5\nb,c,0.6\n",
		"model,partner,factor\na,b,0.5\n",
	};
	enum { N = sizeof texts / sizeof *texts };
	struct ct_pair_table *t[N + 1];
	struct ct_strings used;

	(void)state;
	ct_strings_init(&used);
	for (size_t i = 0; i < N; i++)
		t[i] = load(texts[i], 1, &used);
	t[N] = load(texts[0], 0.9, &used);
	assert_int_equal(strlen(ct_pair_table_digest(t[0])), 64);
	for (size_t i = 0; i <= N; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_equal(!strcmp(ct_pair_table_digest(t[i]), ct_pair_table_digest(t[k])), i == 1 && !k);
	for (size_t i = 0; i <= N; i++)
		ct_pair_table_free(t[i]);
	ct_strings_fini(&used);
}

static void test_bad_tables(void **state)
{
	(void)state;
	refuses("", "p.csv: is empty");
	refuses("model,partner,factor\n", "p.csv: holds no pairs");
	refuses("model,parter,factor,model\na,b,1,a\n",
		"p.csv:1:21: column 'model' stands twice\np.csv:1: no column 'partner'");
	refuses("model,partner,factor\na,b,0\na,c,-1\na,d,2.5\na,e,nan\na,f,\n,g,1\na,h\na,i,1,2\n",
		"p.csv:2:5: 'factor' wants more than 0 and at most 2, got '0'\n"
		"p.csv:3:5: 'factor' wants more than 0 and at most 2, got '-1'\n"
		"p.csv:4:5: 'factor' wants more than 0 and at most 2, got '2.5'\n"
		"p.csv:5:5: 'factor' wants a number, got 'nan'\n"
		"p.csv:6:5: 'factor' wants a number, got ''\n"
		"p.csv:7:1: 'model' is empty; '*' stands for any model\n"
		"p.csv:8:3: row has 2 fields, wanted 3 as in the header\n"
		"p.csv:9:7: row has 4 fields, wanted 3 as in the header");
	refuses("factor,model,partner\n1,a,b\n1,*,*\n1,b,a\n0.5,a,b\n0.7,*,*\n0.6,a,b\n",
		"p.csv:5:5: the pair 'a' beside 'b' stands in line 2 already\n"
		"p.csv:6:5: the pair '*' beside '*' stands in line 3 already\n"
		"p.csv:7:5: the pair 'a' beside 'b' stands in line 2 already");
	refuses("model,partner,factor\na,\"b,1\n", "p.csv:2:3: a quote that is never closed");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_first_of_two_equal_ones),
		cmocka_unit_test(test_directions_and_unknown_models),
		cmocka_unit_test(test_only_fallback),
		cmocka_unit_test(test_digest),
		cmocka_unit_test(test_bad_tables),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
