/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct ct_transition rows[] = {
	{ CT_TRANSITION_SWITCH, NULL, NULL, NULL, 1, 1, "any" },
	{ CT_TRANSITION_SWITCH, NULL, "a", NULL, 2, 0, "from" },
	{ CT_TRANSITION_SWITCH, NULL, NULL, "b", 3, 1, "to" },
	{ CT_TRANSITION_SWITCH, NULL, "a", "b", 4, 0, "from, to" },
	{ CT_TRANSITION_SWITCH, "m", NULL, NULL, 5, 1, "model" },
	{ CT_TRANSITION_SWITCH, "m", "a", NULL, 6, 0, "model, from" },
	{ CT_TRANSITION_SWITCH, "m", NULL, "b", 7, 1, "model, to" },
	{ CT_TRANSITION_SWITCH, "m", "a", "b", 8, 0, "all" },
	{ CT_TRANSITION_SWITCH, "m", "a", "b", 9, 1, "all, but second" },
	{ CT_TRANSITION_START, "m", NULL, NULL, 10, 1, "another kind" },
};

static struct ct_price price(size_t n, enum ct_transition_kind kind, const char *model, const char *from,
			     const char *to)
{
	struct ct_transition_table t = { rows, n };

	return ct_transition_price(&t, kind, model, from, to);
}

/* By the header: model, then to, then from; among equals the first. */
static void most_specific_row_wins(void **state)
{
	static const struct {
		const char *model, *from, *to;
		ct_time cost;
	} want[] = {
		{ "m", "a", "b", 8 },  { "m", "x", "b", 7 },  { "m", "a", "x", 6 },   { "m", "x", "x", 5 },
		{ "x", "a", "b", 4 },  { "x", "x", "b", 3 },  { "x", "a", "x", 2 },   { "x", "x", "x", 1 },
		{ NULL, "a", "b", 4 }, { "m", NULL, "b", 7 }, { "m", NULL, NULL, 5 }, { NULL, NULL, NULL, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct ct_price p = price(10, CT_TRANSITION_SWITCH, want[i].model, want[i].from, want[i].to);

		assert_int_equal(p.cost_us, want[i].cost);
		assert_int_equal(p.blocks, want[i].cost % 2);
	}
}

/* A row for a destination beats one for an origin, also when it stands later. */
static void to_beats_from(void **state)
{
	(void)state;
	assert_int_equal(price(3, CT_TRANSITION_SWITCH, NULL, "a", "b").cost_us, 3);
	assert_int_equal(price(5, CT_TRANSITION_SWITCH, "m", "a", "b").cost_us, 5);
}

static void no_row_costs_nothing(void **state)
{
	struct ct_price p = price(10, CT_TRANSITION_MIGRATE, "m", "a", "b");

	(void)state;
	assert_true(p.cost_us == 0 && p.blocks == 0);
	assert_int_equal(price(10, CT_TRANSITION_START, "x", NULL, NULL).cost_us, 0);
	assert_int_equal(price(10, CT_TRANSITION_START, "m", NULL, "z").cost_us, 10);
	assert_int_equal(price(0, CT_TRANSITION_SWITCH, "m", "a", "b").cost_us, 0);
	assert_int_equal(ct_transition_price(NULL, CT_TRANSITION_SWITCH, "m", "a", "b").cost_us, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_specific_row_wins),
		cmocka_unit_test(to_beats_from),
		cmocka_unit_test(no_row_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
