/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons: the interval by hand and by coverage, pairing, verdicts, output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/compare.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.12g, wanted %.12g", got, want);
}

/* ---- the interval */

/* 40 values, 20 batches of two with means 1..20: s^2 = 20 x 21 / 12 = 35, and
 * t(0.975, 19) = 2.0930 (any table), so half = 2.0930 sqrt(35 / 20) = 2.7688. */
static void interval_by_hand(void **state)
{
	struct ct_interval i;
	double v[40];

	(void)state;
	for (int k = 0; k < 40; k++)
		v[k] = k / 2 + (k % 2 ? 1.25 : 0.75);
	i = ct_batch_interval(v, 40);
	assert_int_equal(i.batches, 20);
	assert_near(i.mean, 10.5, 1e-12);
	assert_near(i.lo, 10.5 - 2.7688, 1e-4);
	assert_near(i.hi, 10.5 + 2.7688, 1e-4);
}

/* Below two a batch each job is one: the plain t interval. 1..20 again. */
static void few_jobs_are_single_batches(void **state)
{
	struct ct_interval i;
	double v[20];

	(void)state;
	for (int k = 0; k < 20; k++)
		v[k] = k + 1;
	i = ct_batch_interval(v, 20);
	assert_int_equal(i.batches, 20);
	assert_near(i.lo, 10.5 - 2.7688, 1e-4);
	i = ct_batch_interval(v, 19);
	assert_true(isnan(i.lo) && isnan(i.hi));
	assert_near(i.mean, 10.0, 1e-12);
	i = ct_batch_interval(v, 0);
	assert_true(isnan(i.lo) && isnan(i.mean));
}

/* Every value is in exactly one batch, also when the sizes are not equal: 43 values
 * of which the last is 1 and three batches have three. */
static void uneven_batches_use_all_values(void **state)
{
	double v[43] = { 0 };
	struct ct_interval i;

	(void)state;
	v[42] = 1.0;
	i = ct_batch_interval(v, 43); /* one batch mean is 1/2, the others 0: s = 0.5 / sqrt(20) */
	assert_near(i.hi - i.lo, 2 * 2.0930 * 0.5 / sqrt(20.0) / sqrt(20.0), 1e-4);
	v[42] = 0.0;
	v[0] = 1.0; /* the first three batches are the larger */
	i = ct_batch_interval(v, 43);
	assert_near(i.hi - i.lo, 2 * 2.0930 / 3 / sqrt(20.0) / sqrt(20.0), 1e-4);
}

/* Share of samples whose interval holds the true mean 0, for x' = rho x + noise. */
static double coverage(double rho, size_t n, int samples)
{
	double *v = calloc(n, sizeof *v);
	int inside = 0;

	for (int s = 0; s < samples; s++) {
		struct ct_interval i;
		struct ct_stream stream;
		double x;

		ct_stream_init(&stream, 7, CT_RANDOM_TEST, (uint64_t)s);
		x = gsl_ran_gaussian_ziggurat(&stream.rng, 1.0 / sqrt(1.0 - rho * rho));
		for (size_t k = 0; k < n; k++) {
			v[k] = x;
			x = rho * x + gsl_ran_gaussian_ziggurat(&stream.rng, 1.0);
		}
		i = ct_batch_interval(v, n);
		inside += i.lo <= 0.0 && 0.0 <= i.hi;
	}
	free(v);
	return (double)inside / samples;
}

/* 95 % of 2,000 samples: standard error 0.49 %, four of them each way. */
static void interval_covers_independent_values(void **state)
{
	(void)state;
	assert_near(coverage(0.0, 200, 2000), 0.95, 0.0196);
}

/* Correlated neighbours: the point of batch means. 400 samples, standard error 1.1 %;
 * an interval over single values would cover some 35 % (its deviation is too small
 * by sqrt((1 + rho) / (1 - rho)) = 4.4). */
static void interval_covers_correlated_values(void **state)
{
	(void)state;
	assert_near(coverage(0.9, 10000, 400), 0.95, 0.045);
}

/* ---- results */

struct job {
	const char *id;
	double jct, wait, slowdown;
	int measured;
};

static void make_result(struct ct_result *r, const char *policy, const struct job *job, size_t n)
{
	const char **id = calloc(n, sizeof *id);
	int64_t *jct = calloc(n, sizeof *jct), *wait = calloc(n, sizeof *wait), *measured = calloc(n, sizeof *measured);
	double *slowdown = calloc(n, sizeof *slowdown);

	memset(r, 0, sizeof *r);
	for (size_t i = 0; i < n; i++) {
		id[i] = job[i].id;
		measured[i] = job[i].measured;
		jct[i] = job[i].measured ? llround(job[i].jct * 1e6) : CT_NO_TIME;
		wait[i] = llround(job[i].wait * 1e6);
		slowdown[i] = job[i].measured ? job[i].slowdown : NAN;
	}
	r->jobs.n_rows = n;
	ct_frame_add_text(&r->jobs, &r->arena, "job_id", CT_COLUMN_TEXT, id);
	ct_frame_add_i64(&r->jobs, &r->arena, "turnaround_time", "s", CT_COLUMN_TIME, jct);
	ct_frame_add_i64(&r->jobs, &r->arena, "queue_s", "s", CT_COLUMN_TIME, wait);
	ct_frame_add_f64(&r->jobs, &r->arena, "slowdown", "", slowdown);
	ct_frame_add_i64(&r->jobs, &r->arena, "measured", "", CT_COLUMN_I64, measured);
	ct_result_add(r, CT_RESULT_MANIFEST, "policy", policy, 0);
	r->summary[CT_METRIC_throughput] = 2.0;
	free(id);
	free(jct);
	free(wait);
	free(measured);
	free(slowdown);
}

enum { MANY = 60 };
static void many_jobs(struct job *job, char (*name)[16], double jct)
{
	for (int i = 0; i < MANY; i++) {
		snprintf(name[i], 16, "j%d", i);
		job[i] = (struct job){ name[i], jct + i % 7, 1, 1, 1 };
	}
}

static const struct ct_compare_row *row_of(const struct ct_comparison *c, const char *metric, size_t b_run)
{
	for (size_t i = 0; i < c->n_rows; i++)
		if (strcmp(c->row[i].metric, metric) == 0 && c->row[i].b_run == b_run)
			return &c->row[i];
	fail_msg("no row '%s'", metric);
	return NULL;
}

static void compare(struct ct_comparison *c, struct ct_result *r, size_t n)
{
	static const char *const names[] = { "x/one.h5", "x/two.h5", "three" };
	struct ct_err err = { 0 };

	if (ct_compare_results(c, r, names, n, &err))
		fail_msg("%s", err.text);
}

/* Other rows, other order, a job that is missing, one not measured: a of j1..j4 is
 * 10, 20, 30, 40; b is 5, 20, 15, not measured; j9 is b's alone. */
static void jobs_are_paired_by_id(void **state)
{
	static const struct job a[] = { { "j0", 1, 0, 1, 1 },
					{ "j1", 10, 4, 2, 1 },
					{ "j2", 20, 0, 1, 1 },
					{ "j3", 30, 6, 4, 1 },
					{ "j4", 40, 0, 1, 1 } };
	static const struct job b[] = { { "j9", 7, 0, 1, 1 },
					{ "j3", 15, 0, 1, 1 },
					{ "j1", 5, 1, 1, 1 },
					{ "j4", 0, 0, 0, 0 },
					{ "j2", 20, 2, 2, 1 } };
	const struct ct_compare_row *row;
	struct ct_comparison c;
	struct ct_result r[2];

	(void)state;
	make_result(&r[0], "fifo", a, 5);
	make_result(&r[1], "easy", b, 5);
	compare(&c, r, 2);
	row = row_of(&c, "mean_jct_s", 1);
	assert_int_equal(row->n, 3);
	assert_near(row->a, 20.0, 1e-12);
	assert_near(row->b, 40.0 / 3, 1e-12);
	assert_near(row->diff, -20.0 / 3, 1e-12);
	assert_near(row->median_diff, -5.0, 1e-12);                  /* of -5, 0, -15 */
	assert_near(row->effect, -20.0 / 3 / sqrt(175.0 / 3), 1e-9); /* squares 25/9, 400/9, 625/9, over 2 */
	assert_true(isnan(row->lo));
	assert_string_equal(row->verdict, "too few jobs");
	assert_near(row_of(&c, "mean_wait_s", 1)->diff, (1 + 2 + 0 - 4 - 0 - 6) / 3.0, 1e-12);
	assert_near(row_of(&c, "mean_slowdown", 1)->a, 7.0 / 3, 1e-12);
	row = row_of(&c, "throughput", 1);
	assert_false(row->paired);
	assert_near(row->ratio, 1.0, 0.0);
	assert_true(isnan(row->lo) && isnan(row->effect));
	assert_string_equal(row->verdict, "one run each");
	assert_int_equal(c.n_rows, CT_METRIC_COUNT);
	ct_compare_fini(&c);
}

static void equal_runs_do_not_differ(void **state)
{
	char name[MANY][16];
	struct job job[MANY];
	const struct ct_compare_row *row;
	struct ct_comparison c;
	struct ct_result r[2];

	(void)state;
	many_jobs(job, name, 100);
	make_result(&r[0], "fifo", job, MANY);
	make_result(&r[1], "fifo", job, MANY);
	compare(&c, r, 2);
	row = row_of(&c, "mean_jct_s", 1);
	assert_true(row->diff == 0.0 && row->lo == 0.0 && row->hi == 0.0 && row->effect == 0.0);
	assert_string_equal(row->verdict, "no difference shown");
	assert_string_equal(c.label[0], "fifo (one)");
	assert_string_equal(c.label[1], "fifo (two)");
	assert_int_equal(c.n_warnings, 0);
	ct_compare_fini(&c);
}

static void verdicts_name_the_lower(void **state)
{
	char name[MANY][16];
	struct job job[MANY];
	const struct ct_compare_row *row;
	struct ct_comparison c;
	struct ct_result r[3];

	(void)state;
	many_jobs(job, name, 100);
	make_result(&r[0], "fifo", job, MANY);
	for (int i = 0; i < MANY; i++)
		job[i].jct -= 10 + i % 2; /* all lower, by 10 or 11 */
	make_result(&r[1], "easy", job, MANY);
	for (int i = 0; i < MANY; i++)
		job[i].jct += 30 - i % 3; /* all higher than the first */
	make_result(&r[2], "las", job, MANY);
	compare(&c, r, 3);
	row = row_of(&c, "mean_jct_s", 1);
	assert_string_equal(row->verdict, "b lower");
	assert_near(row->diff, -10.5, 1e-9);
	assert_true(row->hi < 0.0 && row->lo < row->diff && row->diff < row->hi);
	row = row_of(&c, "mean_jct_s", 2);
	assert_string_equal(row->verdict, "a lower");
	assert_near(row->diff, 18.5, 1e-9);
	assert_string_equal(row_of(&c, "mean_wait_s", 2)->verdict, "no difference shown");
	assert_int_equal(c.n_rows, 2 * CT_METRIC_COUNT);
	ct_compare_fini(&c);
}

static void other_inputs_are_warned_of(void **state)
{
	static const struct job job[] = { { "j0", 1, 0, 1, 1 } };
	struct ct_comparison c;
	struct ct_result r[2];

	(void)state;
	make_result(&r[0], "fifo", job, 1);
	make_result(&r[1], "easy", job, 1);
	ct_result_add(&r[0], CT_RESULT_MANIFEST, "trace_digest", "aa", 0);
	ct_result_add(&r[1], CT_RESULT_MANIFEST, "trace_digest", "bb", 0);
	ct_result_add(&r[0], CT_RESULT_MANIFEST, "cluster", "8x8", 0);
	ct_result_add(&r[1], CT_RESULT_MANIFEST, "cluster", "4x8", 0);
	ct_result_add(&r[0], CT_RESULT_MANIFEST, "seed", "1", 1);
	ct_result_add(&r[1], CT_RESULT_MANIFEST, "seed", "1", 1);
	r[1].partial = 1;
	compare(&c, r, 2);
	assert_int_equal(c.n_warnings, 3);
	assert_string_equal(c.warning[0], "'fifo' and 'easy' ran different traces: jobs are matched by name only");
	assert_string_equal(c.warning[1], "'fifo' and 'easy' ran on different clusters");
	assert_string_equal(c.warning[2], "'easy' was stopped before its end");
	ct_compare_fini(&c);
}

static void wrong_use_is_refused(void **state)
{
	static const char *const missing[] = { "/nonexistent/a.h5", "/nonexistent/b.h5" };
	struct ct_err err = { 0 };
	struct ct_comparison c;
	struct ct_result r = { 0 };

	(void)state;
	assert_int_equal(ct_compare_load(&c, missing, 1, &err), CT_EUSAGE);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_compare_load(&c, missing, 2, &err), CT_EIO);
	assert_non_null(strstr(err.text, "/nonexistent/a.h5"));
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_compare_results(&c, (struct ct_result[2]){ r, r }, missing, 2, &err), CT_EIO);
	assert_non_null(strstr(err.text, "job_id"));
}

/* ---- output */

static char *printed(struct ct_comparison *c, int (*print)(const struct ct_comparison *, FILE *, struct ct_err *))
{
	struct ct_err err = { 0 };
	char *s = NULL;
	size_t n;
	FILE *f = open_memstream(&s, &n);

	if (print(c, f, &err))
		fail_msg("%s", err.text);
	fclose(f);
	return s;
}

static void output_for_both(void **state)
{
	char name[MANY][16], *s;
	struct job job[MANY];
	struct ct_err err = { 0 };
	struct ct_comparison c;
	struct ct_result r[2];
	FILE *full;

	(void)state;
	many_jobs(job, name, 100);
	make_result(&r[0], "fifo", job, MANY);
	for (int i = 0; i < MANY; i++)
		job[i].jct -= 10;
	make_result(&r[1], "easy", job, MANY);
	compare(&c, r, 2);
	s = printed(&c, ct_compare_json);
	assert_non_null(
	    strstr(s, "    {\"metric\": \"mean_jct_s\", \"unit\": \"s\", \"a_run\": \"fifo\", \"b_run\": \"easy\", "));
	assert_non_null(strstr(s, "\"diff\": -10, "));
	assert_non_null(strstr(s, "\"lo\": -10, \"hi\": -10, \"median_diff\": -10, \"effect\": null, \"n\": 60, "
				  "\"verdict\": \"b lower\"}"));
	assert_non_null(strstr(s, "\"metric\": \"throughput\""));
	assert_non_null(strstr(s, "\"lo\": null, \"hi\": null, \"median_diff\": null, \"effect\": null, \"n\": null, "
				  "\"verdict\": \"one run each\"}"));
	assert_non_null(strstr(s, "\"warnings\": []"));
	free(s);
	s = printed(&c, ct_compare_print);
	assert_non_null(strstr(s, "batch means"));
	assert_non_null(strstr(s, "Per job, against a = fifo"));
	assert_null(strstr(s, " \n"));
	free(s);
	full = fopen("/dev/full", "w");
	assert_int_equal(ct_compare_print(&c, full, &err), CT_EIO);
	fclose(full);
	ct_compare_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interval_by_hand),
		cmocka_unit_test(few_jobs_are_single_batches),
		cmocka_unit_test(uneven_batches_use_all_values),
		cmocka_unit_test(interval_covers_independent_values),
		cmocka_unit_test(interval_covers_correlated_values),
		cmocka_unit_test(jobs_are_paired_by_id),
		cmocka_unit_test(equal_runs_do_not_differ),
		cmocka_unit_test(verdicts_name_the_lower),
		cmocka_unit_test(other_inputs_are_warned_of),
		cmocka_unit_test(wrong_use_is_refused),
		cmocka_unit_test(output_for_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
