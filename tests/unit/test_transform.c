/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slice, sample, scale and mix. Expected values are worked out by hand, or follow
 * from what the operation promises (a load that is met, a sample that is binomial). */
#include "traces/transform.h"

#include "traces/trace.h"

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

/* n jobs, one every 10 s from `first` on, of 1 + i % 3 GPUs and 5 + i % 7 seconds, of users u0..u9. */
static struct ct_workload *make(size_t n, int64_t first)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	w->report.source = "made.csv";
	w->report.format = "csv";
	for (size_t i = 0; i < n; i++) {
		struct ct_job j = CT_JOB_INIT;
		char text[32];
		uint32_t job;

		j.id = ct_workload_text(w, text, (size_t)snprintf(text, sizeof text, "j%zu", i));
		j.user = ct_strings_add(&w->strings, text, (size_t)snprintf(text, sizeof text, "u%zu", i % 10));
		j.submit_us = (first + 10 * (int64_t)i) * CT_SECOND;
		j.duration_us = (5 + (int64_t)(i % 7)) * CT_SECOND;
		j.deadline_us = j.submit_us + 100 * CT_SECOND;
		j.num_gpus = 1 + (uint32_t)(i % 3);
		job = ct_workload_add(w, &j);
		ct_workload_set_extra(w, ct_workload_column(w, "k"), job, text + 1, 1);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static void done(int rc, struct ct_workload *const *made, const struct ct_err *err)
{
	if (rc)
		fail_msg("%s", err->text);
	assert_true((*made)->sealed);
}

static void test_slice(void **state)
{
	struct ct_workload *w = make(100, 50), *cut = NULL;
	struct ct_err err = { 0 };
	int rc = ct_transform_slice(w, 100 * CT_SECOND, 200 * CT_SECOND, 1, &cut, &err);

	(void)state;
	done(rc, &cut, &err); /* jobs at 100, 110, ..., 190 are j5 to j14 */
	assert_int_equal(cut->n, 10);
	assert_string_equal(cut->jobs[0].id, "j5");
	assert_int_equal(cut->jobs[0].submit_us, 0);
	assert_int_equal(cut->jobs[9].submit_us, 90 * CT_SECOND);
	assert_int_equal(cut->jobs[9].deadline_us, 190 * CT_SECOND);
	assert_string_equal(ct_strings_text(&cut->strings, cut->jobs[0].user), "u5");
	assert_string_equal(ct_strings_text(&cut->strings, cut->columns[0].value[0]), "5");
	assert_non_null(strstr(cut->report.history, w->digest));
	assert_non_null(strstr(cut->report.history, "slice from=100 to=200 rebased: 10 of 100 jobs"));
	ct_workload_free(cut);
	rc = ct_transform_slice(w, 100 * CT_SECOND, 200 * CT_SECOND, 0, &cut, &err);
	done(rc, &cut, &err);
	assert_int_equal(cut->jobs[0].submit_us, 100 * CT_SECOND);
	ct_workload_free(cut);
	assert_int_equal(ct_transform_slice(w, 9000 * CT_SECOND, 9001 * CT_SECOND, 1, &cut, &err), CT_ECONFIG);
	assert_string_equal(err.text, "no job is left");
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_transform_slice(w, 5, 5, 1, &cut, &err), CT_ECONFIG);
	ct_workload_free(w);
}

static int has(const struct ct_workload *w, const char *id)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->jobs[i].id, id))
			return 1;
	return 0;
}

static void test_sample(void **state)
{
	enum { N = 20000 };
	struct ct_workload *w = make(N, 0), *a = NULL, *b = NULL, *cut = NULL;
	struct ct_err err = { 0 };
	int user[10] = { 0 };

	(void)state;
	done(ct_transform_sample(w, 0.3, CT_SAMPLE_JOB, 7, &a, &err), &a, &err);
	done(ct_transform_sample(w, 0.3, CT_SAMPLE_JOB, 7, &b, &err), &b, &err);
	assert_string_equal(a->digest, b->digest);
	ct_workload_free(b);
	/* binomial: 5 standard deviations */
	assert_true(fabs((double)a->n - 0.3 * N) < 5 * sqrt(N * 0.3 * 0.7));
	/* a job is kept or not, whatever else is in the trace */
	done(ct_transform_slice(w, 0, 1000 * CT_SECOND, 0, &cut, &err), &cut, &err);
	done(ct_transform_sample(cut, 0.3, CT_SAMPLE_JOB, 7, &b, &err), &b, &err);
	for (size_t i = 0; i < cut->n; i++)
		assert_int_equal(has(b, cut->jobs[i].id), has(a, cut->jobs[i].id));
	ct_workload_free(b);
	ct_workload_free(cut);
	ct_workload_free(a);
	/* a user is kept with all jobs or with none */
	done(ct_transform_sample(w, 0.5, CT_SAMPLE_USER, 3, &a, &err), &a, &err);
	for (size_t i = 0; i < a->n; i++)
		user[ct_strings_text(&a->strings, a->jobs[i].user)[1] - '0']++;
	for (int u = 0; u < 10; u++)
		assert_true(user[u] == 0 || user[u] == N / 10);
	assert_true(a->n > 0 && a->n < N);
	ct_workload_free(a);
	assert_int_equal(ct_transform_sample(w, 1.5, CT_SAMPLE_JOB, 7, &a, &err), CT_ECONFIG);
	ct_workload_free(w);
}

static void test_scale(void **state)
{
	struct ct_workload *w = make(101, 0), *a = NULL;
	struct ct_err err = { 0 };

	(void)state;
	done(ct_transform_rate(w, 4, &a, &err), &a, &err);
	assert_int_equal(a->jobs[100].submit_us, 250 * CT_SECOND);
	assert_int_equal(a->jobs[100].duration_us, w->jobs[100].duration_us);
	ct_workload_free(a);
	done(ct_transform_load(w, 8, 1.4, &a, &err), &a, &err);
	assert_float_equal(ct_workload_offered_load(a, 8), 1.4, 1e-6);
	ct_workload_free(a);
	assert_int_equal(ct_transform_load(w, 0, 1.4, &a, &err), CT_ECONFIG);
	ct_workload_free(w);
	w = make(1, 0);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_transform_load(w, 8, 1.4, &a, &err), CT_ECONFIG);
	ct_workload_free(w);
}

static double work_of(const struct ct_workload *w, const char *label)
{
	double sum = 0;

	for (size_t i = 0; i < w->n; i++)
		if (!strncmp(w->jobs[i].id, label, strlen(label)))
			sum += ct_seconds(w->jobs[i].duration_us) * w->jobs[i].num_gpus;
	return sum;
}

/* The load is met, the shares up to one job of 33 GPU-seconds, and the parts stay apart. */
static void test_mix(void **state)
{
	struct ct_workload *a = make(2000, 500), *b = make(300, 0), *m = NULL, *again = NULL;
	const struct ct_mix_part part[] = { { a, "a", 3 }, { b, "b", 1 } };
	const struct ct_mix_options o = { .span = 3000 * CT_SECOND, .gpus = 2, .load = 0.8, .seed = 5 };
	struct ct_err err = { 0 };
	double total = 0.8 * 2 * 3000;

	(void)state;
	done(ct_transform_mix(part, 2, &o, &m, &err), &m, &err);
	assert_float_equal(ct_workload_offered_load(m, 2), 0.8, 1e-6);
	assert_true(work_of(m, "a/") <= 0.75 * total && work_of(m, "a/") > 0.75 * total - 33);
	assert_true(work_of(m, "b/") <= 0.25 * total && work_of(m, "b/") > 0.25 * total - 33);
	for (size_t i = 0; i < m->n; i++) {
		const char *user = ct_strings_text(&m->strings, m->jobs[i].user);

		assert_int_equal(user[0], m->jobs[i].id[0]);
		assert_null(strchr(m->jobs[i].id, '#'));
	}
	assert_non_null(strstr(m->report.history, a->digest));
	assert_non_null(strstr(m->report.history, b->digest));
	assert_non_null(strstr(m->report.history, "mix span=3000 load=0.8 gpus=2 seed=5"));
	done(ct_transform_mix(part, 2, &o, &again, &err), &again, &err);
	assert_string_equal(again->digest, m->digest);
	ct_workload_free(again);
	ct_workload_free(m);
	ct_workload_free(a);
	ct_workload_free(b);
}

/* Without a load nothing is repeated, and the part that is scarcest is taken whole;
 * with more than there is, jobs are repeated and the history says so. */
static void test_mix_amounts(void **state)
{
	struct ct_workload *a = make(1000, 0), *b = make(70, 0), *m = NULL;
	const struct ct_mix_part part[] = { { a, "a", 1 }, { b, "b", 1 } };
	struct ct_mix_options o = { .seed = 1 };
	struct ct_err err = { 0 };
	size_t whole = 0;

	(void)state;
	done(ct_transform_mix(part, 2, &o, &m, &err), &m, &err);
	for (size_t i = 0; i < m->n; i++)
		whole += m->jobs[i].id[0] == 'b';
	assert_int_equal(whole, 70);
	assert_float_equal(work_of(m, "a/"), work_of(m, "b/"), 33);
	assert_null(strstr(m->report.history, "repeated"));
	ct_workload_free(m);
	o = (struct ct_mix_options){ .span = 700 * CT_SECOND, .gpus = 10, .load = 2, .seed = 1 };
	done(ct_transform_mix(part, 2, &o, &m, &err), &m, &err);
	assert_float_equal(work_of(m, "b/"), 7000, 33);
	assert_true(has(m, "b/j3") && has(m, "b/j3#2"));
	assert_non_null(strstr(m->report.history, "repeated"));
	ct_workload_free(m);
	o.load = 1e7;
	assert_int_equal(ct_transform_mix(part, 2, &o, &m, &err), CT_ECONFIG);
	ct_workload_free(a);
	ct_workload_free(b);
}

/* The canonical HDF5 form keeps how the trace was made. */
static void test_history_is_kept(void **state)
{
	struct ct_workload *w = make(100, 0), *a = NULL, *again = NULL;
	char dir[] = "/tmp/cotenant-test-XXXXXX", path[64];
	struct ct_err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a.h5", dir);
	done(ct_transform_rate(w, 2, &a, &err), &a, &err);
	assert_int_equal(ct_trace_write(a, path, &err), 0);
	done(ct_trace_read(path, NULL, &again, &err), &again, &err);
	assert_string_equal(again->report.history, a->report.history);
	assert_string_equal(again->digest, a->digest);
	unlink(path);
	rmdir(dir);
	ct_workload_free(w);
	ct_workload_free(a);
	ct_workload_free(again);
}

/* Every third job is of the kind; the others go, the kept keep their times and columns. */
static void test_only(void **state)
{
	struct ct_workload *w = ct_workload_new(), *a = NULL;
	struct ct_err err = { 0 };
	size_t column = ct_workload_column(w, "kind");

	(void)state;
	for (int i = 0; i < 9; i++) {
		struct ct_job j = CT_JOB_INIT;
		char id[8];
		int n = snprintf(id, sizeof id, "%d", i);

		j.id = ct_workload_text(w, id, (size_t)n);
		j.submit_us = i * CT_SECOND;
		j.duration_us = CT_SECOND;
		ct_workload_set_extra(w, column, ct_workload_add(w, &j), i % 3 ? "train" : "infer", 5);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	done(ct_transform_only(w, "kind", "infer", &a, &err), &a, &err);
	assert_int_equal(a->n, 3);
	assert_string_equal(a->jobs[1].id, "3");
	assert_int_equal(a->jobs[1].submit_us, 3 * CT_SECOND);
	assert_string_equal(ct_strings_text(&a->strings, a->columns[0].value[2]), "infer");
	assert_non_null(strstr(a->report.history, "only kind=infer: 3 of 9 jobs"));
	ct_workload_free(a);
	a = NULL;
	assert_int_equal(ct_transform_only(w, "class", "infer", &a, &err), CT_ECONFIG);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_transform_only(w, "kind", "other", &a, &err), CT_ECONFIG);
	assert_null(a);
	ct_workload_free(w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slice),       cmocka_unit_test(test_sample),
		cmocka_unit_test(test_scale),       cmocka_unit_test(test_mix),
		cmocka_unit_test(test_mix_amounts), cmocka_unit_test(test_history_is_kept),
		cmocka_unit_test(test_only),
	};

	return cmocka_run_group_tests_name("transform", tests, NULL, NULL);
}
