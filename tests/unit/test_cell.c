/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One configuration after another in one process: what cells share changes nothing. */
#include "experiments/cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACE "tests/data/conformance/jobs_1000_le8.csv.gz"

struct outcome {
	char digest[CT_DIGEST_TEXT], jobs[CT_DIGEST_TEXT];
	double summary[CT_METRIC_COUNT];
};

static struct outcome run(struct ct_jobs_pool *pool, const struct ct_cell_set *set, size_t n)
{
	struct ct_cell_request q = { .pool = pool };
	struct ct_err err = { 0 };
	struct ct_cell_result r;
	struct ct_config c;
	struct outcome o;

	ct_config_init(&c);
	if (ct_cell_config(&c, NULL, set, n, &err) || ct_cell_run(&c, &q, &r, &err))
		fail_msg("%s", err.text);
	memcpy(o.digest, r.result.digest, sizeof o.digest);
	memcpy(o.jobs, r.setup.work->digest, sizeof o.jobs);
	memcpy(o.summary, r.summary, sizeof o.summary);
	ct_cell_fini(&r);
	ct_config_fini(&c);
	return o;
}

static struct outcome run_trace(struct ct_jobs_pool *pool, const char *policy, const char *load)
{
	const struct ct_cell_set set[] = { { "trace.file", TRACE },
					   { "cluster.nodes", "8" },
					   { "policy.name", policy },
					   { "trace.load", load },
					   { "contention.fallback", ".8" } };

	return run(pool, set, sizeof set / sizeof *set);
}

static struct outcome run_generated(struct ct_jobs_pool *pool, const char *policy, const char *seed, const char *of)
{
	const struct ct_cell_set set[] = { { "generate.kind", "pai" }, { "generate.jobs", "300" },
					   { "generate.gpus", "64" },  { "cluster.nodes", "8" },
					   { "policy.name", policy },  { "sim.seed", seed },
					   { "generate.seed", of } };

	return run(pool, set, sizeof set / sizeof *set);
}

/* Stretching in one cell must not reach the next, whatever the order. */
static void test_cells_do_not_see_each_other(void **state)
{
	static const char *const policy[] = { "fifo", "lucid", "easy" }, *const load[] = { "0", "0.7", "1.3" };
	struct ct_jobs_pool *pool = ct_jobs_pool_new();

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int p = 0; p < 3; p++)
			for (int l = 0; l < 3; l++) {
				struct outcome alone = run_trace(NULL, policy[p], load[round ? 2 - l : l]);
				struct outcome pooled = run_trace(pool, policy[p], load[round ? 2 - l : l]);

				assert_string_equal(alone.digest, pooled.digest);
			}
	ct_jobs_pool_free(pool);
}

static void test_a_trace_is_read_once(void **state)
{
	static const struct ct_cell_set set[] = {
		{ "trace.file", TRACE }, { "cluster.nodes", "8" }, { "policy.name", "fifo" }, { "trace.load", "0.5" }
	};
	static const struct ct_cell_set same[] = {
		{ "trace.file", TRACE }, { "cluster.nodes", "4" }, { "policy.name", "sjf" }, { "sim.seed", "9" }
	};
	static const struct ct_cell_set other[] = { { "trace.file", TRACE },
						    { "trace.shift_to_zero", "true" },
						    { "cluster.nodes", "8" },
						    { "policy.name", "fifo" } };
	struct ct_jobs_pool *pool = ct_jobs_pool_new();
	struct ct_workload *a, *b, *d;
	struct ct_config c[3];
	struct ct_err err = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		ct_config_init(&c[i]);
	assert_int_equal(ct_cell_config(&c[0], NULL, set, 4, &err), 0);
	assert_int_equal(ct_cell_config(&c[1], NULL, same, 4, &err), 0);
	assert_int_equal(ct_cell_config(&c[2], NULL, other, 4, &err), 0);
	assert_null(ct_jobs_pool_find(pool, &c[0]));
	assert_int_equal(ct_jobs_pool_get(pool, &c[0], NULL, NULL, &a, &err), 0);
	assert_int_equal(ct_jobs_pool_get(pool, &c[1], NULL, NULL, &b, &err), 0);
	assert_int_equal(ct_jobs_pool_get(pool, &c[2], NULL, NULL, &d, &err), 0);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, d);
	assert_ptr_equal(ct_jobs_pool_find(pool, &c[0]), a);
	for (int i = 0; i < 3; i++)
		ct_config_fini(&c[i]);
	ct_jobs_pool_free(pool);
}

/* The seed of the run draws the arrivals; the policy does not; generate.seed wins. */
static void test_seeds_draw_arrivals(void **state)
{
	struct ct_jobs_pool *pool = ct_jobs_pool_new();
	struct outcome fifo1 = run_generated(pool, "fifo", "1", "-1"), sjf1 = run_generated(pool, "sjf", "1", "-1");
	struct outcome fifo2 = run_generated(pool, "fifo", "2", "-1"), kept = run_generated(pool, "fifo", "2", "1");

	(void)state;
	assert_string_equal(fifo1.jobs, sjf1.jobs);
	assert_string_not_equal(fifo1.digest, sjf1.digest);
	assert_string_not_equal(fifo1.jobs, fifo2.jobs);
	assert_string_equal(fifo1.jobs, kept.jobs);
	assert_string_equal(fifo2.digest, run_generated(NULL, "fifo", "2", "-1").digest);
	assert_true(fifo1.summary[CT_METRIC_jobs_submitted] == 300);
	ct_jobs_pool_free(pool);
}

/* Same jobs, on a cluster of another size: only when the generator is told which. */
static void test_generated_for_which_cluster(void **state)
{
	struct ct_cell_set set[] = { { "generate.kind", "pai" },
				     { "generate.jobs", "300" },
				     { "generate.gpus", "0" },
				     { "cluster.nodes", "8" },
				     { "policy.name", "fifo" } };
	struct outcome eight = run(NULL, set, 5), four, fixed;

	(void)state;
	set[3].value = "4";
	four = run(NULL, set, 5);
	set[2].value = "64";
	fixed = run(NULL, set, 5);
	assert_string_not_equal(eight.jobs, four.jobs);
	assert_string_equal(eight.jobs, fixed.jobs);
}

/* A child that inherits the pool finds what its parent would. */
static void test_in_a_child(void **state)
{
	struct ct_jobs_pool *pool = ct_jobs_pool_new();
	struct outcome here = run_trace(pool, "lucid", "1.1"), there;
	int fd[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (pid == 0) {
		there = run_trace(pool, "lucid", "1.1");
		_exit(write(fd[1], &there, sizeof there) == (ssize_t)sizeof there ? 0 : 1);
	}
	assert_int_equal(read(fd[0], &there, sizeof there), sizeof there);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_string_equal(here.digest, there.digest);
	close(fd[0]);
	close(fd[1]);
	ct_jobs_pool_free(pool);
}

static void test_columns_of_jobs(void **state)
{
	static const struct ct_cell_set set[] = { { "trace.file", TRACE },
						  { "cluster.nodes", "8" },
						  { "policy.name", "easy" } };
	struct ct_cell_request q = { .want_jobs = 1 };
	const struct ct_column *jct, *measured;
	struct ct_err err = { 0 };
	struct ct_cell_result r;
	struct ct_config c;
	double sum = 0, n = 0;

	(void)state;
	ct_config_init(&c);
	assert_int_equal(ct_cell_config(&c, NULL, set, 3, &err), 0);
	assert_int_equal(ct_cell_run(&c, &q, &r, &err), 0);
	jct = ct_frame_column(&r.result.jobs, "turnaround_time");
	measured = ct_frame_column(&r.result.jobs, "measured");
	for (size_t i = 0; i < r.result.jobs.n_rows; i++)
		if (ct_cell_i64(measured, i)) {
			sum += ct_seconds(ct_cell_i64(jct, i));
			n++;
		}
	assert_true(fabs(sum / n - r.summary[CT_METRIC_mean_jct_s]) < 1e-6);
	assert_true(n == 1000);
	ct_cell_fini(&r);
	ct_config_fini(&c);
}

static void test_errors(void **state)
{
	static const struct {
		struct ct_cell_set set[4];
		size_t n;
		enum ct_code code;
		const char *text;
	} bad[] = {
		{ { { "cluster.nodse", "8" } }, 1, CT_ECONFIG, "--set cluster.nodse=8: unknown key" },
		{ { { "trace.file", "x.csv" },
		    { "generate.kind", "pai" },
		    { "cluster.nodes", "8" },
		    { "policy.name", "fifo" } },
		  4,
		  CT_ECONFIG,
		  "'trace.file' and 'generate.kind' exclude each other" },
		{ { { "generate.kind", "mixd" }, { "cluster.nodes", "8" }, { "policy.name", "fifo" } },
		  3,
		  CT_ECONFIG,
		  "unknown generate.kind 'mixd'; did you mean 'mixed'?" },
		{ { { "generate.kind", "pai" },
		    { "generate.load", "1" },
		    { "cluster.nodes", "8" },
		    { "policy.name", "fifo" } },
		  4,
		  CT_ECONFIG,
		  "the load of a 'pai' trace follows from its arrival rate" },
		{ { { "cluster.nodes", "8" }, { "policy.name", "fifo" } }, 2, CT_ECONFIG, "no jobs: give trace.file" },
		{ { { "trace.file", "none.csv" }, { "cluster.nodes", "8" }, { "policy.name", "fifo" } },
		  3,
		  CT_EIO,
		  "none.csv" },
		{ { { "generate.kind", "pai" }, { "cluster.nodes", "8" }, { "policy.name", "fifo" } },
		  3,
		  CT_ECONFIG,
		  "how much to generate" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ct_jobs_pool *pool = ct_jobs_pool_new();
		struct ct_cell_request q = { .pool = pool };
		struct ct_err err = { 0 };
		struct ct_cell_result r;
		struct ct_config c;
		int rc;

		ct_config_init(&c);
		rc = ct_cell_config(&c, NULL, bad[i].set, bad[i].n, &err);
		if (!rc)
			rc = ct_cell_run(&c, &q, &r, &err);
		assert_int_equal(rc, bad[i].code);
		if (!strstr(err.text, bad[i].text))
			fail_msg("wanted '%s', got '%s'", bad[i].text, err.text);
		ct_config_fini(&c);
		ct_jobs_pool_free(pool);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_do_not_see_each_other),
		cmocka_unit_test(test_a_trace_is_read_once),
		cmocka_unit_test(test_seeds_draw_arrivals),
		cmocka_unit_test(test_generated_for_which_cluster),
		cmocka_unit_test(test_in_a_child),
		cmocka_unit_test(test_columns_of_jobs),
		cmocka_unit_test(test_errors),
	};

	setenv("COTENANT_DATA", ".", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
