/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups of jobs and fairness over users, by hand; sets of runs over seeds, against
 * Student's own example. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/breakdown.h"
#include "experiments/compare.h"
#include "experiments/compare_sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.12g, wanted %.12g", got, want);
}

struct job {
	const char *id, *user, *partition, *class, *state;
	int64_t submit, finish, wait, duration, gpus, milli, measured, attained;
};
/* Of 8 GPUs. gone was rejected, late is still running, odd finished outside the window. */
static const struct job JOBS[] = {
	{ "a", "ann", "", "train", "finished", 0, 100, 50, 50, 4, 1000, 1, 1 },
	{ "b", "bob", "", "infer", "finished", 0, 40, 0, 40, 1, 500, 1, 0 },
	{ "c", "ann", "big", "train", "finished", 20, 60, 10, 20, 8, 1000, 1, 1 },
	{ "gone", "eve", "big", "train", "rejected", 30, -1, 0, 10, 16, 1000, 0, 0 },
	{ "d", "ann", "", "infer", "finished", 60, 100, 20, 10, 0, 1000, 1, 1 },
	{ "odd", "cat", "", "unknown", "finished", 100, 110, 0, 10, 1, 1000, 0, 1 },
	{ "late", "cat", "", "unknown", "running", 90, -1, 0, 10, 1, 1000, 0, 0 },
};
enum { N = sizeof JOBS / sizeof *JOBS };

static int64_t time_of(int64_t s)
{
	return s < 0 ? CT_NO_TIME : s * 1000000;
}

static void add_times(struct ct_result *r)
{
	int64_t submit[N], finish[N], jct[N], wait[N], duration[N];
	double slowdown[N], gpus[1] = { 8 };

	for (int i = 0; i < N; i++) {
		submit[i] = time_of(JOBS[i].submit);
		finish[i] = time_of(JOBS[i].finish);
		jct[i] = JOBS[i].finish < 0 ? CT_NO_TIME : finish[i] - submit[i];
		wait[i] = time_of(JOBS[i].wait);
		duration[i] = time_of(JOBS[i].duration);
		slowdown[i] = JOBS[i].finish < 0 ? NAN : (double)jct[i] / (double)duration[i];
	}
	ct_frame_add_i64(&r->jobs, &r->arena, "submission_time", "s", CT_COLUMN_TIME, submit);
	ct_frame_add_i64(&r->jobs, &r->arena, "finish_time", "s", CT_COLUMN_TIME, finish);
	ct_frame_add_i64(&r->jobs, &r->arena, "turnaround_time", "s", CT_COLUMN_TIME, jct);
	ct_frame_add_i64(&r->jobs, &r->arena, "queue_s", "s", CT_COLUMN_TIME, wait);
	ct_frame_add_i64(&r->jobs, &r->arena, "duration_s", "s", CT_COLUMN_TIME, duration);
	ct_frame_add_f64(&r->jobs, &r->arena, "slowdown", "", slowdown);
	r->series.n_rows = 1;
	ct_frame_add_f64(&r->series, &r->arena, "total_gpus", "GPUs", gpus);
}

static void add_names(struct ct_result *r)
{
	const char *id[N], *user[N], *partition[N], *class[N], *state[N];

	for (int i = 0; i < N; i++) {
		id[i] = JOBS[i].id;
		user[i] = JOBS[i].user;
		partition[i] = JOBS[i].partition;
		class[i] = JOBS[i].class;
		state[i] = JOBS[i].state;
	}
	ct_frame_add_text(&r->jobs, &r->arena, "job_id", CT_COLUMN_TEXT, id);
	ct_frame_add_text(&r->jobs, &r->arena, "user", CT_COLUMN_CODE, user);
	ct_frame_add_text(&r->jobs, &r->arena, "partition", CT_COLUMN_CODE, partition);
	ct_frame_add_text(&r->jobs, &r->arena, "class", CT_COLUMN_CODE, class);
	ct_frame_add_text(&r->jobs, &r->arena, "state", CT_COLUMN_CODE, state);
}

static void make_result(struct ct_result *r)
{
	int64_t gpus[N], milli[N], measured[N], attained[N];

	memset(r, 0, sizeof *r);
	r->jobs.n_rows = N;
	for (int i = 0; i < N; i++) {
		gpus[i] = JOBS[i].gpus;
		milli[i] = JOBS[i].milli;
		measured[i] = JOBS[i].measured;
		attained[i] = JOBS[i].attained;
	}
	add_names(r);
	add_times(r);
	ct_frame_add_i64(&r->jobs, &r->arena, "num_gpus", "", CT_COLUMN_I64, gpus);
	ct_frame_add_i64(&r->jobs, &r->arena, "gpu_milli", "", CT_COLUMN_I64, milli);
	ct_frame_add_i64(&r->jobs, &r->arena, "measured", "", CT_COLUMN_I64, measured);
	ct_frame_add_i64(&r->jobs, &r->arena, "attained", "", CT_COLUMN_I64, attained);
}

static void break_down(enum ct_breakdown_by by, struct ct_breakdown *b)
{
	struct ct_err err = { 0 };
	struct ct_result r;

	make_result(&r);
	if (ct_breakdown_make(&r, by, b, &err))
		fail_msg("%s", err.text);
	ct_result_fini(&r); /* the breakdown stands alone */
}

static void by_user(void **state)
{
	struct ct_breakdown b;
	const double *m;

	(void)state;
	break_down(CT_BY_USER, &b);
	assert_int_equal(b.n, 2); /* eve and cat have no measured job */
	assert_string_equal(b.group[0].name, "ann");
	assert_string_equal(b.group[1].name, "bob");
	m = b.group[0].metric; /* JCT 100, 40, 40; wait 50, 10, 20; slow-down 2, 2, 4 */
	assert_int_equal(b.group[0].jobs, 3);
	near(m[CT_METRIC_mean_jct_s], 60, 1e-12);
	near(m[CT_METRIC_median_jct_s], 40, 1e-12);
	near(m[CT_METRIC_p95_jct_s], 94, 1e-9); /* 40 + 0.9 x 60 */
	near(m[CT_METRIC_max_jct_s], 100, 1e-12);
	near(m[CT_METRIC_mean_wait_s], 80.0 / 3, 1e-9);
	near(m[CT_METRIC_median_wait_s], 20, 1e-12);
	near(m[CT_METRIC_mean_slowdown], 8.0 / 3, 1e-12);
	near(m[CT_METRIC_attainment_frac], 1, 0);
	assert_true(isnan(m[CT_METRIC_makespan_s]));
	near(b.group[1].metric[CT_METRIC_attainment_frac], 0, 0);
	assert_int_equal(b.of_row[0], 0);
	assert_int_equal(b.of_row[1], 1);
	assert_int_equal(b.of_row[3], UINT32_MAX);
	assert_non_null(ct_breakdown_find(&b, "bob"));
	assert_null(ct_breakdown_find(&b, "eve"));
	ct_breakdown_fini(&b);
}

static void assert_groups(enum ct_breakdown_by by, const char *const *name, const size_t *jobs)
{
	struct ct_breakdown b;
	size_t n = 0;

	break_down(by, &b);
	for (; name[n]; n++) {
		assert_true(n < b.n);
		assert_string_equal(b.group[n].name, name[n]);
		assert_int_equal(b.group[n].jobs, jobs[n]);
	}
	assert_int_equal(b.n, n);
	ct_breakdown_fini(&b);
}

static void by_the_others(void **state)
{
	(void)state;
	assert_groups(CT_BY_PARTITION, (const char *const[]){ "(none)", "big", NULL }, (const size_t[]){ 3, 1 });
	assert_groups(CT_BY_CLASS, (const char *const[]){ "infer", "train", NULL }, (const size_t[]){ 2, 2 });
	assert_groups(CT_BY_SIZE, (const char *const[]){ "0", "<1", "3-4", "5-8", NULL },
		      (const size_t[]){ 1, 1, 1, 1 });
	assert_groups(CT_BY_NONE, (const char *const[]){ "all", NULL }, (const size_t[]){ 4 });
}

static void missing_columns_are_named(void **state)
{
	struct ct_result r = { 0 };
	struct ct_err err = { 0 };
	struct ct_breakdown b;
	enum ct_breakdown_by by;

	(void)state;
	assert_int_equal(ct_breakdown_make(&r, CT_BY_USER, &b, &err), CT_EIO);
	assert_non_null(strstr(err.text, "'measured'"));
	assert_int_equal(ct_breakdown_parse("users", &by), -1);
	assert_int_equal(ct_breakdown_parse("size", &by), 0);
	assert_int_equal(by, CT_BY_SIZE);
}

/* Present: from 0 a b, 20 a b c, 40 a c, 60 a d, 90 a d late, 100 odd late (to 110; eve's
 * job was never there).
 *	a 100 s: 20 x 2 + 20 x 3 + 20 x 2 + 30 x 2 + 10 x 3 = 230, N 2.3; 4 GPUs need 4 N / 8 = 1.15
 *	  parts: rho 100 / (50 x 1.15)
 *	b 40 s: 20 x 2 + 20 x 3 = 100, N 2.5; half a GPU fits: rho 1
 *	c 40 s: 20 x 3 + 20 x 2 = 100, N 2.5; 8 GPUs need 2.5 parts: rho 40 / (20 x 2.5) = 0.8
 *	d of no GPU: 40 / 10 = 4 */
static void fairness_by_hand(void **state)
{
	struct ct_user_fairness f;
	struct ct_err err = { 0 };
	struct ct_result r;
	double rho_a = 100 / (50 * 1.15), ann = 80.0 / 180, bob = 1;

	(void)state;
	make_result(&r);
	if (ct_user_fairness(&r, &f, &err))
		fail_msg("%s", err.text);
	assert_int_equal(f.users, 2);
	near(f.ftf_mean, (rho_a + 1 + 0.8 + 4) / 4, 1e-9);
	near(f.ftf_above_frac, 0.5, 0);
	near(f.ftf_worst_user, (rho_a + 0.8 + 4) / 3, 1e-9);
	assert_string_equal(f.worst_user, "ann");
	near(f.jain, (ann + bob) * (ann + bob) / 2 / (ann * ann + bob * bob), 1e-12);
	ct_result_fini(&r);
}

/* ---- one day against itself and against another, by group */

static void groups_are_compared(void **state)
{
	static const char *const names[] = { "a.h5", "b.h5" };
	struct ct_comparison c;
	struct ct_err err = { 0 };
	struct ct_result r[2];
	char *text = NULL;
	size_t n;
	FILE *f;

	(void)state;
	make_result(&r[0]);
	make_result(&r[1]);
	if (ct_compare_results(&c, r, names, 2, &err) || ct_compare_break_down(&c, CT_BY_USER, &err))
		fail_msg("%s", err.text);
	assert_int_equal(c.n_group_rows, 4);
	assert_string_equal(c.group_row[0].group, "ann");
	assert_string_equal(c.group_row[0].metric, "mean_jct_s");
	near(c.group_row[0].a, 60, 1e-12);
	near(c.group_row[3].b, 0, 0); /* bob's wait */
	assert_int_equal(c.group_row[0].n, 3);
	assert_string_equal(c.group_row[0].verdict, "too few jobs");
	f = open_memstream(&text, &n);
	if (ct_compare_json(&c, f, &err))
		fail_msg("%s", err.text);
	fclose(f);
	assert_non_null(strstr(text, "\"by\": \"user\", \"group\": \"ann\", "));
	assert_non_null(strstr(text, "\"users\": 2, \"jain_users\": "));
	free(text);
	ct_compare_fini(&c);
}

/* ---- sets */

/* Student (1908), as in tests/unit/test_statistics.c; b in another order of seeds. */
static const double A[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
static const double B[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };

static void take(struct ct_set_run *run, const char *policy, int seed, const char *trace, double value)
{
	struct ct_err err = { 0 };
	struct ct_result r;
	char text[16];

	make_result(&r);
	snprintf(text, sizeof text, "%d", seed);
	ct_result_add(&r, CT_RESULT_MANIFEST, "seed", text, 1);
	ct_result_add(&r, CT_RESULT_MANIFEST, "policy", policy, 0);
	ct_result_add(&r, CT_RESULT_MANIFEST, "trace_digest", trace, 0);
	for (int m = 0; m < CT_METRIC_COUNT; m++)
		r.summary[m] = NAN;
	r.summary[CT_METRIC_mean_jct_s] = value;
	if (ct_set_run_take(run, &r, policy, CT_BY_CLASS, &err))
		fail_msg("%s", err.text);
	ct_result_fini(&r);
}

static void make_sets(struct ct_set_comparison *c, size_t n_a, size_t n_b)
{
	*c = (struct ct_set_comparison){ .by = CT_BY_CLASS, .width = 0.5, .n_sets = 2 };
	c->set = calloc(2, sizeof *c->set);
	c->set[0] = (struct ct_run_set){ .run = calloc(n_a, sizeof(struct ct_set_run)), .n = n_a };
	c->set[1] = (struct ct_run_set){ .run = calloc(n_b, sizeof(struct ct_set_run)), .n = n_b };
	for (size_t i = 0; i < n_a; i++)
		take(&c->set[0].run[i], "fifo", (int)i + 1, "t", A[i]);
	for (size_t i = 0; i < n_b; i++)
		take(&c->set[1].run[i], "easy", (int)(n_b - i), "t", B[n_b - 1 - i]);
}

static const struct ct_set_row *row_of(const struct ct_set_comparison *c, const char *metric, const char *group)
{
	for (size_t i = 0; i < c->n_rows; i++)
		if (strcmp(c->row[i].metric, metric) == 0 && (c->row[i].group != NULL) == (group != NULL) &&
		    (!group || strcmp(group, c->row[i].group) == 0))
			return &c->row[i];
	fail_msg("no row '%s'", metric);
	return NULL;
}

static void sets_are_paired_by_seed(void **state)
{
	const struct ct_set_row *row;
	struct ct_set_comparison c;
	struct ct_err err = { 0 };

	(void)state;
	make_sets(&c, 10, 10);
	if (ct_compare_sets_finish(&c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(c.n_warnings, 0);
	row = row_of(&c, "mean_jct_s", NULL);
	assert_int_equal(row->p.n, 10);
	near(row->p.mean.lo, 0.7001142, 1e-6);
	near(row->p.mean.hi, 2.4598858, 1e-6);
	near(row->p.median.lo, 0.8, 1e-9);
	assert_int_equal(row->p.verdict, CT_A_LOWER);
	assert_int_equal(row->runs_needed, ct_runs_needed(row->p.mean.sd, 0.5 * 0.75, 0.95)); /* mean a = 0.75 */
	row = row_of(&c, "makespan_s", NULL);                                                 /* no run has one */
	assert_int_equal(row->p.n, 0);
	assert_int_equal(row->p.verdict, CT_UNDECIDED);
	row = row_of(&c, "mean_jct_s", "train"); /* a and c: 100 and 40, in every run */
	near(row->p.a, 70, 1e-9);
	assert_int_equal(row->p.n, 10);
	assert_int_equal(row->p.verdict, CT_NO_DIFFERENCE_SHOWN);
	ct_compare_sets_fini(&c);
}

static void runs_without_a_partner_are_left_out(void **state)
{
	struct ct_set_comparison c;
	struct ct_err err = { 0 };

	(void)state;
	make_sets(&c, 10, 4);
	c.set[1].run[0].trace[0] = 'u'; /* seed 4: another trace */
	if (ct_compare_sets_finish(&c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(row_of(&c, "mean_jct_s", NULL)->p.n, 4);
	near(row_of(&c, "mean_jct_s", NULL)->p.b, (B[0] + B[1] + B[2] + B[3]) / 4, 1e-12);
	assert_int_equal(c.n_warnings, 2);
	assert_non_null(strstr(c.warning[0], "different traces"));
	assert_non_null(strstr(c.warning[1], "6 of 10 runs of 'fifo' and 0 of 4 of 'easy'"));
	ct_compare_sets_fini(&c);
}

static void a_run_twice_is_refused(void **state)
{
	static const struct ct_run_files none[] = { { NULL, 0 }, { NULL, 0 } };
	struct ct_set_comparison c;
	struct ct_err err = { 0 };

	(void)state;
	make_sets(&c, 3, 3);
	strcpy(c.set[1].run[2].seed, "2");
	assert_int_equal(ct_compare_sets_finish(&c, &err), CT_EUSAGE);
	ct_compare_sets_fini(&c);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_compare_sets_load(&c, none, 2, CT_BY_NONE, 0.05, &err), CT_EUSAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_user),
		cmocka_unit_test(by_the_others),
		cmocka_unit_test(missing_columns_are_named),
		cmocka_unit_test(fairness_by_hand),
		cmocka_unit_test(groups_are_compared),
		cmocka_unit_test(sets_are_paired_by_seed),
		cmocka_unit_test(runs_without_a_partner_are_left_out),
		cmocka_unit_test(a_run_twice_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
