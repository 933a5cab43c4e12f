/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/outages.h"

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

	unlink("o.csv");
	if (chdir(root))
		return -1;
	rc = rmdir(*state);
	free(*state);
	return rc;
}

/* Nodes 0 and 1 with 4 GPUs each, node 2 with none, nodes 3 and 4 with 2. */
static const struct ct_node_spec nodes[] = { { .count = 2, .gpus = 4 },
					     { .count = 1, .gpus = 0 },
					     { .count = 2, .gpus = 2 } };
static const struct ct_cluster_spec cluster = { nodes, 3 };

static int load(const char *text, struct ct_arena *arena, struct ct_failure_spec *f, struct ct_err *err)
{
	FILE *file = fopen("o.csv", "wb");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	return ct_outages_load("o.csv", &cluster, arena, f, err);
}

static void refuses(const char *text, const char *messages)
{
	struct ct_arena arena = { 0 };
	struct ct_failure_spec f = { .n_outages = 77 };
	struct ct_err err = { 0 };

	assert_int_equal(load(text, &arena, &f, &err), CT_ECONFIG);
	assert_string_equal(err.text, messages);
	assert_int_equal(f.n_outages, 77);
	ct_arena_fini(&arena);
}

static void is(const struct ct_outage *o, uint32_t node, uint32_t gpu, ct_time down, ct_time up)
{
	assert_int_equal(o->node, node);
	assert_int_equal(o->gpu, gpu);
	assert_int_equal(o->down_us, down);
	assert_int_equal(o->up_us, up);
}

static void reads_durations_and_events(void **state)
{
	struct ct_arena arena = { 0 };
	struct ct_failure_spec f = { .checkpoint_us = 5 };
	struct ct_err err = { 0 };

	(void)state;
	assert_int_equal(load("node,time,event,gpu,duration\n"
			      "1,100,up,,\n"
			      "1,40.5,down,,\n"
			      "3,7,,1,2.25\n"
			      "1,100,down,,\n"
			      "4,50,down,0,\n"
			      "1,60,,0,10\n",
			      &arena, &f, &err),
			 0);
	assert_int_equal(f.n_outages, 5);
	assert_int_equal(f.checkpoint_us, 5);
	is(&f.outage[0], 3, 9, 7000000, 9250000);
	is(&f.outage[1], 1, CT_NONE, 40500000, 100000000);
	is(&f.outage[2], 4, 10, 50000000, CT_NEVER);
	is(&f.outage[3], 1, 4, 60000000, 70000000);
	is(&f.outage[4], 1, CT_NONE, 100000000, CT_NEVER);
	ct_arena_fini(&arena);
}

static void names_every_bad_row(void **state)
{
	(void)state;
	refuses("time,node,gpu,duration\n"
		"x,0,,1\n"
		"1,5,,1\n"
		"2,2,0,1\n"
		"3,3,2,1\n"
		"4,0,,0\n"
		"5,0,,\n"
		"-1,0,,1\n",
		"o.csv:2:1: 'time' wants a number of seconds, at least 0 and at most 9007199254, got 'x'\n"
		"o.csv:3:3: 'node' wants a whole number from 0 to 4, the last of the cluster, got '5'\n"
		"o.csv:4:5: node 2 has no GPU\n"
		"o.csv:5:5: 'gpu' wants a whole number from 0 to 1, the last of its node, got '2'\n"
		"o.csv:6:6: 'duration' wants a number of seconds, above 0 and at most 9007199254, got '0'\n"
		"o.csv:7:1: a row wants a 'duration' or an 'event', got neither\n"
		"o.csv:8:1: 'time' wants a number of seconds, at least 0 and at most 9007199254, got '-1'");
	refuses("time,node,event,duration\n1,0,down,5\n2,0,broken,\n",
		"o.csv:2:1: a row wants a 'duration' or an 'event', got both\n"
		"o.csv:3:5: 'event' wants down or up, got 'broken'");
	refuses("time,node\n", "o.csv: holds no outages");
}

static void refuses_outages_that_overlap(void **state)
{
	(void)state;
	refuses("time,node,gpu,duration,event\n"
		"10,0,,20,\n"
		"29,0,,5,\n"
		"12,0,1,5,\n"
		"5,3,,,up\n"
		"1,4,,,down\n"
		"2,4,,9,\n",
		"o.csv:3:1: the node is down at that time already, since line 2\n"
		"o.csv:5:1: the node is not down at that time by a row 'down'\n"
		"o.csv:7:1: the node is down at that time already, since line 6");
	refuses("time,node,gpu,duration,event\n10,0,2,20,\n15,0,2,,up\n",
		"o.csv:3:1: the GPU is not down at that time by a row 'down'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_durations_and_events),
		cmocka_unit_test(names_every_bad_row),
		cmocka_unit_test(refuses_outages_that_overlap),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
