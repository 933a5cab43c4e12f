/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry: built-in policies, the documented example plug-in, and plug-ins
 * that are wrong in every way the host has to survive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/registry.h"
#include "tests/oracle/harness.h"

#include <stdio.h>
#include <unistd.h>

/* Path of a plug-in built by the Makefile from the source of that name. */
static const char *plugin(const char *name)
{
	static char path[4096];
	const char *dir = getenv("PLUGIN_DIR");

	snprintf(path, sizeof path, "%s/%s.so", dir ? dir : "build/release", name);
	if (access(path, R_OK))
		fail_msg("no plug-in '%s': 'make' builds it", path);
	return path;
}

static void refused(const char *name_or_path, const char *const *parts)
{
	const struct ct_policy *p = NULL;
	struct ct_err err = { 0 };

	assert_int_equal(ct_policy_get(name_or_path, &p, &err), CT_EPOLICY);
	assert_int_equal(err.code, CT_EPOLICY);
	assert_null(p);
	for (; *parts; parts++)
		if (!strstr(err.text, *parts))
			fail_msg("'%s' is not in \"%s\"", *parts, err.text);
}
#define REFUSED(path, ...) refused((path), (const char *const[]){ __VA_ARGS__, NULL })

static void test_list(void **state)
{
	static const char *const first[] = { "fifo", "firstfit", "sjf", "srtf", "las", "easy" };
	const struct ct_policy *p, *q;
	struct ct_err err = { 0 };
	size_t n;

	(void)state;
	for (n = 0; (p = ct_policy_at(n)) != NULL; n++) {
		if (n < sizeof first / sizeof *first)
			assert_string_equal(p->name, first[n]);
		assert_ptr_equal(ct_policy_find(p->name), p);
		assert_int_equal(ct_policy_get(p->name, &q, &err), 0);
		assert_ptr_equal(q, p);
		assert_int_equal(p->abi, CT_POLICY_ABI);
		assert_int_equal(p->size, sizeof *p);
		assert_non_null(p->summary);
		for (const struct ct_opt *o = p->opts; o && o->name; o++) {
			assert_non_null(o->def);
			assert_non_null(o->help);
			assert_true(o->offset + sizeof(int) <= p->state_size);
		}
	}
	assert_true(n >= sizeof first / sizeof *first);
	assert_null(ct_policy_at(n + 100));
	assert_null(ct_policy_find("no such policy"));
}

static void test_unknown_name(void **state)
{
	(void)state;
	REFUSED("fifp", "no policy 'fifp'", "did you mean 'fifo'?");
	REFUSED("frist-fit", "did you mean 'firstfit'?");
	REFUSED("", "no policy ''");
	REFUSED("something else entirely", "no policy 'something else entirely'", "cotenant policies");
}

static void test_bad_objects(void **state)
{
	(void)state;
	REFUSED("./no/such/file.so", "cannot load policy './no/such/file.so'");
	REFUSED("nothing.so", "cannot load policy './nothing.so'");
	REFUSED(plugin("tests/unit/plugins/no_entry"), "is no policy", "ct_policy_v1()");
	REFUSED(plugin("tests/unit/plugins/bad_abi"), "interface 2", "has 1");
	REFUSED(plugin("tests/unit/plugins/too_small"), "struct ct_policy wants at least");
	REFUSED(plugin("tests/unit/plugins/no_schedule"), "'no_schedule'", "has no schedule()");
	REFUSED(plugin("tests/unit/plugins/bad_option"), "option 'wild'", "'bad_option'", "outside");
}

static void test_not_an_object(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char dir[1024], path[1040];
	FILE *f;

	(void)state;
	snprintf(dir, sizeof dir, "%s/cotenant-registry-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/text.so", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("this is no shared object\n", f);
	fclose(f);
	REFUSED(path, "cannot load policy", path);
	unlink(path);
	rmdir(dir);
}

/* ---- running plug-ins */

struct row {
	int64_t submit_s, duration_s;
	uint32_t gpus;
};

static struct ct_workload *workload_of(const struct row *rows, size_t n)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct ct_job job = CT_JOB_INIT;
		char id[16];

		job.id = ct_workload_text(w, id, (size_t)snprintf(id, sizeof id, "j%zu", i));
		job.submit_us = rows[i].submit_s * CT_SECOND;
		job.duration_us = rows[i].duration_s * CT_SECOND;
		job.num_gpus = rows[i].gpus;
		ct_workload_add(w, &job);
	}
	if (ct_workload_seal(w, &err))
		fail_msg("%s", err.text);
	return w;
}

static const struct ct_policy *loaded(const char *name)
{
	const struct ct_policy *p = NULL;
	struct ct_err err = { 0 };

	if (ct_policy_get(plugin(name), &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static struct ct_control_spec spec_of(const struct ct_policy *p, const char *const *settings,
				      const struct ct_workload *work, const struct ct_node_spec *node)
{
	struct ct_control_spec spec = { .policy = p, .policy_state = ct_test_state(p, settings) };

	spec.world.work = work;
	spec.world.cluster = (struct ct_cluster_spec){ node, 1 };
	spec.world.residents = 1;
	spec.world.until_us = CT_NEVER;
	spec.world.attain_floor = 0.5;
	return spec;
}

static void start_times(const char *const *settings, const struct row *rows, size_t n, int64_t *start_s)
{
	const struct ct_node_spec node = { .count = 1, .gpus = 4, .gpu_speed = 1 };
	struct ct_workload *work = workload_of(rows, n);
	struct ct_control_spec spec = spec_of(loaded("scheduler/example/lifo"), settings, work, &node);
	struct ct_world *w = ct_test_run(&spec);

	for (size_t i = 0; i < n; i++)
		start_s[i] = ct_world_outcomes(w)[i].start_us / CT_SECOND;
	ct_world_free(w);
	ct_workload_free(work);
	free((void *)(uintptr_t)spec.policy_state);
}

/* One job of 100 s at a time. By hand: without patience the newest first; with 150 s
 * the job of second 1 has waited longer at second 200, all that still wait at 300. */
static void test_example(void **state)
{
	static const struct row rows[] = { { 0, 100, 4 }, { 1, 100, 4 }, { 2, 100, 4 }, { 150, 100, 4 } };
	int64_t start[4];

	(void)state;
	start_times((const char *const[]){ NULL }, rows, 4, start);
	assert_int_equal(start[0], 0);
	assert_int_equal(start[2], 100);
	assert_int_equal(start[3], 200);
	assert_int_equal(start[1], 300);
	start_times((const char *const[]){ "patience=150", "placement=pack", NULL }, rows, 4, start);
	assert_int_equal(start[0], 0);
	assert_int_equal(start[2], 100);
	assert_int_equal(start[1], 200);
	assert_int_equal(start[3], 300);
}

static void test_wrong_plans(void **state)
{
	/* What is done wrong at second 5, when j0 runs on GPUs 0 and 1, j1 waits and j2 is to come. */
	static const struct {
		const char *setting, *part[3];
	} wrong[] = {
		{ "wrong=busy_gpus", { "t=5.000000", "'j1'" } },
		{ "wrong=same_gpu_twice", { "t=5.000000", "'j1'" } },
		{ "wrong=too_few_gpus", { "t=5.000000", "'j1'" } },
		{ "wrong=no_such_gpu", { "t=5.000000", "'j1'" } },
		{ "wrong=future_job", { "t=5.000000", "job number 2" } },
		{ "wrong=running_job", { "t=5.000000", "'j0'" } },
		{ "wrong=past_wake", { "t=5.000000", "wake" } },
		{ "wrong=silent_failure", { "t=5.000000", "without a reason" } },
	};
	static const struct row rows[] = { { 0, 100, 2 }, { 5, 100, 2 }, { 1000, 100, 2 } };
	const struct ct_node_spec node = { .count = 1, .gpus = 4, .gpu_speed = 1 };
	const struct ct_policy *p = loaded("tests/unit/plugins/wrong_plan");
	struct ct_workload *work = workload_of(rows, 3);

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const char *const settings[] = { wrong[i].setting, NULL };
		struct ct_control_spec spec = spec_of(p, settings, work, &node);
		struct ct_world *w = NULL;
		struct ct_err err = { 0 };

		assert_int_equal(ct_control_run(&spec, &w, NULL, &err), CT_EPOLICY);
		assert_null(w);
		assert_non_null(strstr(err.text, "policy 'wrong_plan'"));
		for (const char *const *part = wrong[i].part; *part; part++)
			if (!strstr(err.text, *part))
				fail_msg("%s: '%s' is not in \"%s\"", wrong[i].setting, *part, err.text);
		free((void *)(uintptr_t)spec.policy_state);
	}
	ct_workload_free(work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),        cmocka_unit_test(test_unknown_name),
		cmocka_unit_test(test_bad_objects), cmocka_unit_test(test_not_an_object),
		cmocka_unit_test(test_example),     cmocka_unit_test(test_wrong_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
