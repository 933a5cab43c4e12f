/* SPDX-License-Identifier: GPL-3.0-or-later */
/* harness.h - runs a policy in process on a workload made by a test.
 *
 *	void *state = ct_test_state(policy, (const char *const[]){ "placement=pack", NULL });
 *	struct ct_control_spec spec = { .world = ..., .policy = policy, .policy_state = state };
 *	struct ct_world *w = ct_test_run(&spec);
 *
 * Option texts are turned into values here, not by the program's own option
 * tables: the tests of the engine do not lean on the command line. Failures end
 * the test. */
#ifndef CT_TESTS_ORACLE_HARNESS_H
#define CT_TESTS_ORACLE_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/control.h"
#include "scheduler/registry.h"
#include "sim/clock.h"
#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>

/* Position of `text` in "a|b|c", -1 if it is not there. */
static inline int ct_test_choice(const char *choices, const char *text)
{
	size_t n = strlen(text);

	for (int i = 0;; i++) {
		size_t k = strcspn(choices, "|");

		if (k == n && memcmp(choices, text, n) == 0)
			return i;
		if (!choices[k])
			return -1;
		choices += k + 1;
	}
}

static inline void ct_test_set_option(const struct ct_opt *o, void *state, const char *text)
{
	char *at = (char *)state + o->offset;

	switch (o->type) {
	case CT_OPT_BOOL:
		*(int *)(void *)at = strcmp(text, "true") == 0;
		break;
	case CT_OPT_INT:
		*(int64_t *)(void *)at = strtoll(text, NULL, 10);
		break;
	case CT_OPT_DOUBLE:
		*(double *)(void *)at = strtod(text, NULL);
		break;
	case CT_OPT_SECONDS:
		if (ct_time_parse(text, strlen(text), (ct_time *)(void *)at))
			fail_msg("option '%s': '%s' is not a time", o->name, text);
		break;
	case CT_OPT_ENUM:
		*(int *)(void *)at = ct_test_choice(o->choices, text);
		if (*(int *)(void *)at < 0)
			fail_msg("option '%s' has no choice '%s'", o->name, text);
		break;
	case CT_OPT_TEXT:
		*(const char **)(void *)at = *text ? text : NULL;
		break;
	}
}

/* Does the policy have an option of that name? */
static inline const struct ct_opt *ct_test_option(const struct ct_policy *p, const char *name, size_t n)
{
	for (const struct ct_opt *o = p->opts; o && o->name; o++)
		if (strlen(o->name) == n && memcmp(o->name, name, n) == 0)
			return o;
	return NULL;
}

/* The policy's state with its defaults, then `settings` ("name=value", ends with
 * NULL; may be NULL); to be freed. */
static inline void *ct_test_state(const struct ct_policy *p, const char *const *settings)
{
	void *state = ct_calloc(p->state_size ? p->state_size : 1, 1);

	for (const struct ct_opt *o = p->opts; o && o->name; o++)
		ct_test_set_option(o, state, o->def);
	for (; settings && *settings; settings++) {
		size_t n = strcspn(*settings, "=");
		const struct ct_opt *o = ct_test_option(p, *settings, n);

		if (!o)
			fail_msg("policy '%s' has no option for '%s'", p->name, *settings);
		else
			ct_test_set_option(o, state, *settings + n + 1);
	}
	return state;
}

static inline struct ct_world *ct_test_run(const struct ct_control_spec *spec)
{
	struct ct_err err = { 0 };
	struct ct_run_perf perf;
	struct ct_world *w = NULL;

	if (ct_control_run(spec, &w, &perf, &err))
		fail_msg("%s", err.text);
	return w;
}

static inline const struct ct_policy *ct_test_policy(const char *name)
{
	const struct ct_policy *p = ct_policy_find(name);

	if (!p)
		fail_msg("no policy '%s'", name);
	return p;
}

#endif
