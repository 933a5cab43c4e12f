/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/transitions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

	unlink("t.csv");
	if (chdir(root))
		return -1;
	rc = rmdir(*state);
	free(*state);
	return rc;
}

static void put_file(const char *text)
{
	FILE *f = fopen("t.csv", "wb");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void refuses(const char *text, const char *messages)
{
	struct ct_arena arena = { 0 };
	struct ct_transition_table untouched = { .n = 77 }, t = untouched;
	struct ct_err err = { 0 };

	put_file(text);
	assert_int_equal(ct_transitions_load("t.csv", &arena, &t, &err), CT_ECONFIG);
	assert_string_equal(err.text, messages);
	assert_int_equal(t.n, untouched.n);
	ct_arena_fini(&arena);
}

#define HEAD "kind,model,from,to,seconds,blocks,source\n"

static void test_rows(void **state)
{
	struct ct_arena arena = { 0 };
	struct ct_transition_table t;
	struct ct_err err = { 0 };

	(void)state;
	put_file("source,blocks,seconds,to,from,model,kind\n"
		 "\"paper, table 3\",1,12.5,,,*,start\n"
		 "measured,0,0,mig-3g,*,bert,switch\n"
		 "assumed,1,30,*,,,migrate\n"
		 "assumed,1,0.000001,,,,resume\n");
	assert_int_equal(ct_transitions_load("t.csv", &arena, &t, &err), 0);
	unlink("t.csv"); /* the rows do not need the file */
	assert_int_equal(t.n, 4);
	assert_int_equal(t.row[0].kind, CT_TRANSITION_START);
	assert_null(t.row[0].model);
	assert_null(t.row[0].from);
	assert_null(t.row[0].to);
	assert_int_equal(t.row[0].cost_us, 12500000);
	assert_int_equal(t.row[0].blocks, 1);
	assert_string_equal(t.row[0].source, "paper, table 3");
	assert_int_equal(t.row[1].kind, CT_TRANSITION_SWITCH);
	assert_string_equal(t.row[1].model, "bert");
	assert_null(t.row[1].from);
	assert_string_equal(t.row[1].to, "mig-3g");
	assert_int_equal(t.row[1].cost_us, 0);
	assert_int_equal(t.row[1].blocks, 0);
	assert_int_equal(t.row[2].kind, CT_TRANSITION_MIGRATE);
	assert_null(t.row[2].to);
	assert_int_equal(t.row[3].kind, CT_TRANSITION_RESUME);
	assert_int_equal(t.row[3].cost_us, 1);
	assert_int_equal(ct_transition_price(&t, CT_TRANSITION_MIGRATE, "x", NULL, NULL).cost_us, 30000000);
	ct_arena_fini(&arena);
}

static void test_bad_tables(void **state)
{
	struct ct_arena arena = { 0 };
	struct ct_transition_table t;
	struct ct_err err = { 0 };

	(void)state;
	refuses("", "t.csv: is empty");
	refuses(HEAD, "t.csv: holds no transitions");
	refuses("kind,model,form,to,seconds,blocks,note,source\nstart,,,,1,1,,x\n",
		"t.csv:1:12: unknown column 'form'; did you mean 'from'?\n"
		"t.csv:1:35: unknown column 'note'\n"
		"t.csv:1: no column 'from'");
	refuses(
	    HEAD
	    "begin,,,,1,1,x\nstrat,,,,1,1,x\nstart,,,,-1,1,x\nstart,,,,abc,yes,x\nswitch,,,,9e18,2,\nresume,,,,1,1\n",
	    "t.csv:2:1: 'kind' wants start, switch, migrate or resume, got 'begin'\n"
	    "t.csv:3:1: 'kind' wants start, switch, migrate or resume, got 'strat'; did you mean 'start'?\n"
	    "t.csv:4:10: 'seconds' wants 0 to 9007199254, got '-1'\n"
	    "t.csv:5:10: 'seconds' wants a number, got 'abc'\n"
	    "t.csv:5:14: 'blocks' wants 0 or 1, got 'yes'\n"
	    "t.csv:6:11: 'seconds' wants 0 to 9007199254, got '9e18'\n"
	    "t.csv:6:16: 'blocks' wants 0 or 1, got '2'\n"
	    "t.csv:6:18: 'source' is empty; say where the number comes from\n"
	    "t.csv:7:13: row has 6 fields, wanted 7 as in the header");
	refuses(HEAD "start,a,*,,1,1,x\nstart,a,b,,1,1,x\nstart,a,,*,2,1,x\nswitch,a,,,2,1,x\n",
		"t.csv:4:1: the same transition stands in line 2");
	assert_int_equal(ct_transitions_load("absent.csv", &arena, &t, &err), CT_EIO);
	assert_string_equal(err.text, "cannot open 'absent.csv': No such file or directory");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_bad_tables),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
