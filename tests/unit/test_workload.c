/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t add(struct ct_workload *w, const char *id, ct_time submit_s, ct_time duration_s)
{
	struct ct_job j = CT_JOB_INIT;

	j.id = ct_workload_text(w, id, strlen(id));
	j.submit_us = submit_s * CT_SECOND;
	j.duration_us = duration_s * CT_SECOND;
	j.line = (uint32_t)w->n + 2;
	return ct_workload_add(w, &j);
}

static uint32_t intern(struct ct_workload *w, const char *s)
{
	return ct_strings_add(&w->strings, s, strlen(s));
}

static void seal(struct ct_workload *w)
{
	struct ct_err err = { 0 };

	if (ct_workload_seal(w, &err))
		fail_msg("%s", err.text);
	assert_true(w->sealed && err.code == 0);
}

static void empty_workload(void **state)
{
	struct ct_workload *w = ct_workload_new();

	(void)state;
	seal(w);
	assert_int_equal(w->n, 0);
	assert_int_equal(strlen(w->digest), 64);
	assert_true(ct_workload_offered_load(w, 8) == 0 && ct_workload_gpu_seconds(w) == 0);
	ct_workload_free(w);
	ct_workload_free(NULL);
}

static void defaults(void **state)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_job j = CT_JOB_INIT;

	(void)state;
	j.id = "x";
	j.duration_us = 1;
	j.num_gpus = 4;
	ct_workload_add(w, &j);
	assert_true(w->jobs[0].min_gpus == 4 && w->jobs[0].max_gpus == 4 && w->jobs[0].gpu_milli == 1000);
	assert_true(w->jobs[0].requested_us == -1 && w->jobs[0].deadline_us == -1 && isnan(w->jobs[0].sm_frac));
	j.id = "y";
	j.min_gpus = 2;
	j.max_gpus = 8;
	ct_workload_add(w, &j);
	assert_true(w->jobs[1].min_gpus == 2 && w->jobs[1].max_gpus == 8);
	seal(w);
	ct_workload_free(w);
}

static void sort_is_stable_and_counted(void **state)
{
	static const char *const want[] = { "d", "a", "c", "e", "b", "f" };
	struct ct_workload *w = ct_workload_new();
	size_t column = ct_workload_column(w, "note");

	(void)state;
	add(w, "a", 10, 1);
	add(w, "b", 20, 1);
	add(w, "c", 10, 1);
	add(w, "d", 0, 1);
	add(w, "e", 10, 1);
	add(w, "f", 20, 1);
	ct_workload_set_extra(w, column, 1, "of b", 4);
	ct_workload_set_extra(w, column, 3, "of d", 4);
	seal(w);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(w->jobs[i].id, want[i]);
	assert_string_equal(ct_strings_text(&w->strings, w->columns[column].value[0]), "of d");
	assert_string_equal(ct_strings_text(&w->strings, w->columns[column].value[4]), "of b");
	assert_int_equal(w->columns[column].value[1], 0);
	assert_int_equal(w->report.n_rules, 1);
	assert_string_equal(w->report.rules[0].rule, "unsorted_submit");
	assert_int_equal(w->report.rules[0].rows, 3); /* c, d, e stand behind b */
	assert_int_equal(w->report.rules[0].dropped, 0);
	ct_workload_free(w);
}

static int by_submit(const void *a, const void *b)
{
	const struct ct_job *x = a, *y = b;

	if (x->submit_us != y->submit_us)
		return x->submit_us < y->submit_us ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Against qsort with the position as tie-break. */
static void random_orders(void **state)
{
	static const uint64_t ranges[] = { 1, 7, 3000, UINT64_C(1) << 24, CT_TIME_LIMIT };
	uint64_t s = 3;

	(void)state;
	for (size_t k = 0; k < 5; k++) {
		enum { N = 5000 };
		struct ct_workload *w = ct_workload_new();
		size_t column = ct_workload_column(w, "c");
		struct ct_job *want = malloc(N * sizeof *want);
		char id[16];

		for (int i = 0; i < N; i++) {
			struct ct_job j = CT_JOB_INIT;
			size_t n = (size_t)snprintf(id, sizeof id, "%d", i);

			s = s * UINT64_C(6364136223846793005) + 1442695040888963407;
			j.id = ct_workload_text(w, id, n);
			j.submit_us = (ct_time)((s >> 3) % ranges[k]);
			j.duration_us = 1;
			j.line = (uint32_t)i + 1;
			ct_workload_set_extra(w, column, ct_workload_add(w, &j), id, n);
		}
		memcpy(want, w->jobs, N * sizeof *want);
		qsort(want, N, sizeof *want, by_submit);
		seal(w);
		for (size_t i = 0; i < N; i++) {
			assert_ptr_equal(w->jobs[i].id, want[i].id);
			assert_int_equal(w->jobs[i].submit_us, want[i].submit_us);
			assert_string_equal(ct_strings_text(&w->strings, w->columns[column].value[i]), want[i].id);
		}
		free(want);
		ct_workload_free(w);
	}
}

/* ---- what seal refuses */

static struct ct_job good(void)
{
	struct ct_job j = CT_JOB_INIT;

	j.id = "j";
	j.duration_us = CT_SECOND;
	j.line = 9;
	return j;
}

static void refused(struct ct_job j, const char *text)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	w->report.source = "jobs.csv";
	ct_workload_add(w, &j);
	assert_int_equal(ct_workload_seal(w, &err), CT_ETRACE);
	assert_int_equal(err.code, CT_ETRACE);
	assert_int_equal(err.count, 1);
	assert_string_equal(err.text, text);
	assert_false(w->sealed);
	ct_workload_free(w);
}

static void accepted(struct ct_job j)
{
	struct ct_workload *w = ct_workload_new();

	ct_workload_add(w, &j);
	seal(w);
	ct_workload_free(w);
}

#define WITH(member, value) (j = good(), j.member = (value), j)

static void times_out_of_range(void **state)
{
	struct ct_job j;

	(void)state;
	refused(WITH(submit_us, -1),
		"jobs.csv:9: 'submit_time' of job 'j' wants seconds from 0 to 288230376151, got -0.000001");
	refused(WITH(submit_us, CT_TIME_LIMIT + 1),
		"jobs.csv:9: 'submit_time' of job 'j' wants seconds from 0 to 288230376151, got 288230376151.711744");
	refused(WITH(duration_us, 0),
		"jobs.csv:9: 'duration' of job 'j' wants seconds above 0 and up to 9007199254, got 0");
	refused(WITH(duration_us, -5 * CT_SECOND),
		"jobs.csv:9: 'duration' of job 'j' wants seconds above 0 and up to 9007199254, got -5");
	refused(WITH(duration_us, CT_DURATION_LIMIT + 1),
		"jobs.csv:9: 'duration' of job 'j' wants seconds above 0 and up to 9007199254, got 9007199254.740993");
	refused(WITH(requested_us, -2), "jobs.csv:9: 'requested_time' of job 'j' wants seconds from 0 to 288230376151, "
					"or none, got -0.000002");
	refused(WITH(deadline_us, CT_NEVER), "jobs.csv:9: 'deadline' of job 'j' wants seconds from 0 to 288230376151, "
					     "or none, got 9223372036854.775807");
	accepted(WITH(submit_us, CT_TIME_LIMIT));
	accepted(WITH(duration_us, CT_DURATION_LIMIT));
	accepted(WITH(duration_us, 1));
	accepted(WITH(requested_us, 0));
	accepted(WITH(deadline_us, 0));
}

static void sizes_out_of_range(void **state)
{
	struct ct_job j;

	(void)state;
	refused(WITH(num_gpus, 0), "jobs.csv:9: 'num_gpus' of job 'j' wants at least 1, got 0");
	refused(WITH(min_gpus, 2), "jobs.csv:9: job 'j' wants min_gpus <= num_gpus <= max_gpus, got 2, 1, 1");
	j = good();
	j.num_gpus = 4;
	j.max_gpus = 3;
	refused(j, "jobs.csv:9: job 'j' wants min_gpus <= num_gpus <= max_gpus, got 4, 4, 3");
	refused(WITH(gpu_milli, 0), "jobs.csv:9: 'gpu_milli' of job 'j' wants 1 to 1000, got 0");
	refused(WITH(gpu_milli, 1001), "jobs.csv:9: 'gpu_milli' of job 'j' wants 1 to 1000, got 1001");
	refused(WITH(sm_frac, 1.5f), "jobs.csv:9: 'sm_frac' of job 'j' wants 0 to 1, got 1.5");
	refused(WITH(sm_frac, -0.5f), "jobs.csv:9: 'sm_frac' of job 'j' wants 0 to 1, got -0.5");
	refused(WITH(id, ""), "jobs.csv:9: a job wants an id");
	refused(WITH(id, NULL), "jobs.csv:9: a job wants an id");
	accepted(WITH(gpu_milli, 1));
	accepted(WITH(num_gpus, UINT32_MAX));
	accepted(WITH(sm_frac, 0.0f));
	accepted(WITH(sm_frac, 1.0f));
}

static void place_without_line_or_source(void **state)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };
	struct ct_job j = good();

	(void)state;
	j.line = 0;
	j.num_gpus = 0;
	ct_workload_add(w, &j);
	assert_int_equal(ct_workload_seal(w, &err), CT_ETRACE);
	assert_string_equal(err.text, "workload: 'num_gpus' of job 'j' wants at least 1, got 0");
	ct_workload_free(w);
}

static void ids_are_unique(void **state)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	(void)state;
	w->report.source = "f";
	add(w, "a", 0, 1);
	add(w, "b", 5, 1);
	add(w, "a", 9, 1);
	add(w, "ab", 1, 1);
	add(w, "a", 2, 1);
	assert_int_equal(ct_workload_seal(w, &err), CT_ETRACE);
	assert_string_equal(err.text, "f:4: job id 'a' was used before, in line 2\n"
				      "f:6: job id 'a' was used before, in line 2");
	ct_workload_free(w);
}

/* Ids of all lengths, first distinct, then with one repeated far away. */
static void many_ids(void **state)
{
	(void)state;
	for (int twice = 0; twice < 2; twice++) {
		struct ct_workload *w = ct_workload_new();
		struct ct_err err = { 0 };
		char id[64];

		w->report.source = "f";
		for (int i = 0; i < 20000; i++) {
			snprintf(id, sizeof id, "%0*d", i % 40 + 6, twice && i == 19999 ? 39 : i);
			add(w, id, i, 1);
		}
		assert_int_equal(ct_workload_seal(w, &err), twice ? CT_ETRACE : 0);
		assert_string_equal(err.text, twice ? "f:20001: job id '000000000000000000000000000000000000000000039'"
						      " was used before, in line 41"
						    : "");
		ct_workload_free(w);
	}
}

/* 32 jobs of 2^53 us are 2^58 us; the limit is 2^58 - 1. */
static void all_work_is_bounded(void **state)
{
	for (int n = 31; n <= 33; n++) {
		struct ct_workload *w = ct_workload_new();
		struct ct_err err = { 0 };
		char id[16];

		(void)state;
		for (int i = 0; i < n; i++) {
			snprintf(id, sizeof id, "%d", i);
			add(w, id, i, 1);
			w->jobs[i].duration_us = CT_DURATION_LIMIT;
		}
		w->report.source = "f";
		assert_int_equal(ct_workload_seal(w, &err), n == 31 ? 0 : CT_ETRACE);
		if (n > 31)
			assert_string_equal(err.text, "f:33: the durations up to job '31' add up to more than "
						      "288230376151 seconds");
		ct_workload_free(w);
	}
}

static void all_errors_together(void **state)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	(void)state;
	ct_err_add(&err, CT_ETRACE, NULL, "of the reader");
	w->report.source = "f";
	for (int i = 0; i < 30; i++)
		add(w, i ? "same" : "other", -1, 0);
	assert_int_equal(ct_workload_seal(w, &err), CT_ETRACE);
	assert_int_equal(err.count, 1 + 30 * 2 + 28);
	assert_int_equal(strncmp(err.text, "of the reader\nf:2: 'submit_time'", 32), 0);
	ct_workload_free(w);
}

/* ---- the digest is of the content */

struct variant {
	int reversed_strings, reversed_columns, lines, change;
};

static void digest_of(struct variant v, char out[CT_DIGEST_TEXT])
{
	struct ct_workload *w = ct_workload_new();
	size_t queue, note;

	if (v.reversed_strings) {
		intern(w, "zzz");
		intern(w, "bob");
	}
	note = v.reversed_columns ? ct_workload_column(w, "note") : 0;
	queue = ct_workload_column(w, "queue");
	if (!v.reversed_columns)
		note = ct_workload_column(w, "note");
	add(w, "a", 1, 5);
	add(w, "b", v.change == 1 ? 3 : 2, 5);
	w->jobs[0].user = intern(w, "alice");
	w->jobs[1].user = intern(w, v.change == 2 ? "alice" : "bob");
	w->jobs[1].sm_frac = v.change == 3 ? 0.25f : 0.5f;
	w->jobs[0].priority = v.change == 4 ? -1 : 1;
	ct_workload_set_extra(w, queue, 0, "q", 1);
	if (v.change != 5)
		ct_workload_set_extra(w, note, 1, "text", 4);
	if (v.change == 6)
		ct_workload_column(w, "more");
	if (v.change == 7)
		w->jobs[0].model = w->jobs[0].user;
	if (v.lines) {
		w->report.source = "elsewhere.csv";
		w->jobs[0].line = 77;
	}
	seal(w);
	memcpy(out, w->digest, CT_DIGEST_TEXT);
	ct_workload_free(w);
}

static void digest_is_of_the_content(void **state)
{
	char base[CT_DIGEST_TEXT], other[CT_DIGEST_TEXT], seen[8][CT_DIGEST_TEXT];

	(void)state;
	digest_of((struct variant){ 0 }, base);
	digest_of((struct variant){ .reversed_strings = 1, .reversed_columns = 1, .lines = 1 }, other);
	assert_string_equal(base, other);
	for (int i = 0; i < 8; i++) {
		digest_of((struct variant){ .change = i }, seen[i]);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(seen[i], seen[k]);
	}
}

/* A file in another order of rows is the same workload. */
static void digest_is_after_sorting(void **state)
{
	struct ct_workload *a = ct_workload_new(), *b = ct_workload_new();

	(void)state;
	add(a, "x", 1, 1);
	add(a, "y", 2, 1);
	add(b, "y", 2, 1);
	add(b, "x", 1, 1);
	seal(a);
	seal(b);
	assert_string_equal(a->digest, b->digest);
	ct_workload_free(a);
	ct_workload_free(b);
}

/* An id longer than the packing buffer, and extra columns over more than one. */
static void long_texts(void **state)
{
	char digest[3][CT_DIGEST_TEXT], *id = malloc(100001);

	(void)state;
	memset(id, 'i', 100000);
	id[100000] = '\0';
	for (int k = 0; k < 3; k++) {
		struct ct_workload *w = ct_workload_new();
		size_t c = ct_workload_column(w, "c");
		char name[16];

		if (k == 2)
			id[99999] = 'j';
		add(w, id, 0, 1);
		for (int i = 0; i < 9000; i++) {
			size_t n = (size_t)snprintf(name, sizeof name, "n%d", i);

			ct_workload_set_extra(w, c, add(w, name, i, 1), name, n);
		}
		seal(w);
		memcpy(digest[k], w->digest, CT_DIGEST_TEXT);
		ct_workload_free(w);
	}
	free(id);
	assert_string_equal(digest[0], digest[1]);
	assert_string_not_equal(digest[1], digest[2]);
}

/* ---- columns, rules, load */

static void columns_by_name(void **state)
{
	struct ct_workload *w = ct_workload_new();
	size_t a = ct_workload_column(w, "a"), b = ct_workload_column(w, "b");

	(void)state;
	assert_int_equal(ct_workload_column(w, "a"), a);
	assert_int_not_equal(a, b);
	add(w, "x", 0, 1);
	add(w, "y", 0, 1);
	ct_workload_set_extra(w, b, 1, "v", 1);
	seal(w);
	assert_int_equal(w->columns[a].value[1], 0); /* never set */
	assert_int_equal(w->columns[b].value[0], 0);
	assert_string_equal(ct_strings_text(&w->strings, w->columns[b].value[1]), "v");
	ct_workload_free(w);
}

static void rules_add_up(void **state)
{
	struct ct_workload *w = ct_workload_new();

	(void)state;
	ct_workload_count(w, "never", "did not fire", 0, 1);
	ct_workload_count(w, "one", "first", 2, 1);
	ct_workload_count(w, "two", "second", 1, 0);
	ct_workload_count(w, "one", "first", 3, 1);
	assert_int_equal(w->report.n_rules, 2);
	assert_int_equal(w->report.rules[0].rows, 5);
	assert_int_equal(w->report.rules[0].dropped, 1);
	assert_string_equal(w->report.rules[1].meaning, "second");
	ct_workload_free(w);
}

/* 10 s x 4 GPUs + 20 s x 1 GPU x 0.5 = 50 GPU-s; over 2 GPUs x 100 s = 0.25. */
static void offered_load(void **state)
{
	struct ct_workload *w = ct_workload_new();

	(void)state;
	add(w, "a", 50, 10);
	add(w, "b", 150, 20);
	w->jobs[0].num_gpus = w->jobs[0].min_gpus = w->jobs[0].max_gpus = 4;
	w->jobs[1].gpu_milli = 500;
	seal(w);
	assert_true(ct_workload_gpu_seconds(w) == 50.0);
	assert_true(ct_workload_offered_load(w, 2) == 0.25);
	ct_workload_free(w);
	w = ct_workload_new();
	add(w, "a", 50, 10);
	add(w, "b", 50, 10);
	seal(w);
	assert_true(isinf(ct_workload_offered_load(w, 2)));
	ct_workload_free(w);
}

/* 31 jobs of 2^53 us on 2^32 - 1 GPUs: exact in 128 bits, 31 x 2^53 x (2^32 - 1) / 10^6. */
static void huge_work_does_not_overflow(void **state)
{
	struct ct_workload *w = ct_workload_new();
	char id[16];

	(void)state;
	for (int i = 0; i < 31; i++) {
		snprintf(id, sizeof id, "%d", i);
		add(w, id, i, 1);
		w->jobs[i].duration_us = CT_DURATION_LIMIT;
		w->jobs[i].num_gpus = w->jobs[i].min_gpus = w->jobs[i].max_gpus = UINT32_MAX;
	}
	seal(w);
	assert_true(fabs(ct_workload_gpu_seconds(w) / (31.0 * 0x1p53 * 4294967295.0 / 1e6) - 1) < 1e-15);
	ct_workload_free(w);
}

/* ---- stretch */

static void stretch_scales_arrivals(void **state)
{
	struct ct_workload *w = ct_workload_new(), *s = NULL;
	struct ct_err err = { 0 };
	size_t c = ct_workload_column(w, "c");

	(void)state;
	w->report.source = "f";
	add(w, "a", 100, 10);
	add(w, "b", 104, 20);
	add(w, "c", 107, 30);
	w->jobs[1].user = intern(w, "alice");
	w->jobs[1].deadline_us = 200 * CT_SECOND;
	w->jobs[2].deadline_us = 10 * CT_SECOND; /* before its submission */
	ct_workload_set_extra(w, c, 2, "v", 1);
	seal(w);
	assert_int_equal(ct_workload_stretch(w, 0.3, &s, &err), 0);
	assert_int_equal(s->jobs[0].submit_us, 100000000);
	assert_int_equal(s->jobs[1].submit_us, 101200000);
	assert_int_equal(s->jobs[2].submit_us, 102100000);
	assert_int_equal(s->jobs[1].deadline_us, 197200000); /* 2.8 s earlier, like its job */
	assert_int_equal(s->jobs[2].deadline_us, 5100000);
	assert_int_equal(s->jobs[0].deadline_us, -1);
	assert_int_equal(s->jobs[2].duration_us, 30 * CT_SECOND);
	assert_string_equal(ct_strings_text(&s->strings, s->jobs[1].user), "alice");
	assert_string_equal(ct_strings_text(&s->strings, s->columns[c].value[2]), "v");
	assert_true(s->sealed);
	assert_string_not_equal(s->digest, w->digest);
	ct_workload_free(w); /* the copy stands alone */
	assert_string_equal(s->jobs[2].id, "c");
	ct_workload_free(s);
}

static void stretch_by_one_is_a_copy(void **state)
{
	struct ct_workload *w = ct_workload_new(), *s = NULL;
	struct ct_err err = { 0 };

	(void)state;
	add(w, "a", 3, 10);
	add(w, "b", 1, 20);
	seal(w);
	assert_int_equal(ct_workload_stretch(w, 1.0, &s, &err), 0);
	assert_string_equal(s->digest, w->digest);
	assert_int_equal(s->report.n_rules, 1); /* still knows what was repaired */
	assert_int_equal(s->report.rules[0].rows, 1);
	ct_workload_free(s);
	ct_workload_free(w);
}

static void stretch_refuses(void **state)
{
	static const double bad[] = { 0.0, -1.0, 1e18 };
	struct ct_workload *w = ct_workload_new(), *s = NULL;

	(void)state;
	add(w, "a", 0, 10);
	add(w, "b", 1, 10);
	seal(w);
	for (size_t i = 0; i < 5; i++) {
		struct ct_err err = { 0 };
		double factor = i < 3 ? bad[i] : i == 3 ? (double)NAN : (double)INFINITY;

		assert_int_equal(ct_workload_stretch(w, factor, &s, &err), CT_ECONFIG);
		assert_null(s);
		assert_true(err.count == 1 && strstr(err.text, "stretch"));
	}
	ct_workload_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_workload),
		cmocka_unit_test(defaults),
		cmocka_unit_test(sort_is_stable_and_counted),
		cmocka_unit_test(random_orders),
		cmocka_unit_test(times_out_of_range),
		cmocka_unit_test(sizes_out_of_range),
		cmocka_unit_test(place_without_line_or_source),
		cmocka_unit_test(ids_are_unique),
		cmocka_unit_test(many_ids),
		cmocka_unit_test(all_work_is_bounded),
		cmocka_unit_test(all_errors_together),
		cmocka_unit_test(digest_is_of_the_content),
		cmocka_unit_test(digest_is_after_sorting),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(columns_by_name),
		cmocka_unit_test(rules_add_up),
		cmocka_unit_test(offered_load),
		cmocka_unit_test(huge_work_does_not_overflow),
		cmocka_unit_test(stretch_scales_arrivals),
		cmocka_unit_test(stretch_by_one_is_a_copy),
		cmocka_unit_test(stretch_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
