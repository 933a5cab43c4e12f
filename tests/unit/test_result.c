/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: quantiles and summary against hand values, the digest, and files that
 * come back equal, are refused when broken, and are never half-written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/result.h"

#include <dirent.h>
#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.17g, wanted %.17g", got, want);
}

/* ---- quantiles, type 7: h = (n - 1) q, linear between order statistics */

static void quantiles_follow_type_7(void **state)
{
	double v[] = { 50, 10, 40, 20, 30 }, out[3];
	const double q[] = { 0.5, 0.9, 0.95 };

	(void)state;
	ct_quantiles(v, 5, q, 3, out); /* h = 2, 3.6, 3.8 */
	assert_near(out[0], 30.0, 1e-12);
	assert_near(out[1], 46.0, 1e-12);
	assert_near(out[2], 48.0, 1e-12);
}

static void quantiles_of_few(void **state)
{
	const double q[] = { 0.0, 0.25, 0.26, 1.0 };
	double one[] = { 7 }, two[] = { 3, 1 }, out[4];

	(void)state;
	ct_quantiles(one, 1, q, 4, out);
	for (int i = 0; i < 4; i++)
		assert_near(out[i], 7.0, 0.0);
	ct_quantiles(two, 2, q, 4, out); /* several quantiles between the same two values */
	assert_near(out[0], 1.0, 0.0);
	assert_near(out[1], 1.5, 1e-12);
	assert_near(out[2], 1.52, 1e-12);
	assert_near(out[3], 3.0, 0.0);
	ct_quantiles(two, 0, q, 1, out);
	assert_true(isnan(out[0]));
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Against a full sort, on data with many ties. */
static void quantiles_equal_a_full_sort(void **state)
{
	enum { N = 1000 };
	const double q[] = { 0.001, 0.5, 0.9, 0.95, 0.99, 0.999 };
	double v[N], sorted[N], out[6];
	uint32_t x = 1;

	(void)state;
	for (int round = 1; round <= 20; round++) {
		size_t n = (size_t)(N - 37 * round);

		for (size_t i = 0; i < n; i++) {
			x = x * 1664525u + 1013904223u;
			v[i] = sorted[i] = (double)((x >> 8) % (unsigned)(round * round));
		}
		qsort(sorted, n, sizeof *sorted, by_value);
		ct_quantiles(v, n, q, 6, out);
		for (int k = 0; k < 6; k++) {
			double h = q[k] * (double)(n - 1);
			size_t lo = (size_t)h, hi = lo + 1 < n ? lo + 1 : lo;

			assert_near(out[k], sorted[lo] + (h - (double)lo) * (sorted[hi] - sorted[lo]), 1e-9);
		}
	}
}

/* ---- a world of four GPUs and four jobs, started by hand */

static uint32_t add_job(struct ct_workload *w, const char *id, ct_time submit, ct_time duration, uint32_t gpus)
{
	struct ct_job j = CT_JOB_INIT;

	j.id = ct_workload_text(w, id, strlen(id));
	j.submit_us = submit * CT_SECOND;
	j.duration_us = duration * CT_SECOND;
	j.num_gpus = gpus;
	j.user = ct_strings_add(&w->strings, "ann", 3);
	return ct_workload_add(w, &j);
}

static void start_at(struct ct_world *w, ct_time now, ct_time when, uint32_t job, const uint32_t *gpus, uint32_t n)
{
	struct ct_err err = { 0 };

	if (now == when * CT_SECOND && ct_world_start(w, job, 0, gpus, n, &err))
		fail_msg("%s", err.text);
}

static void run_by_hand(struct ct_world *w)
{
	static const uint32_t a[] = { 0, 1 }, b[] = { 2, 3 }, c[] = { 3, 0, 2 };
	struct ct_err err = { 0 };

	while (ct_world_advance(w)) {
		ct_time now = ct_world_now(w);

		start_at(w, now, 0, 0, a, 2);
		start_at(w, now, 10, 1, b, 2);
		start_at(w, now, 100, 2, c, 3);
	}
	if (ct_world_finish(w, &err))
		fail_msg("%s", err.text);
}

/* The trace's own word on each job, and a family for job b, which knows better. */
static void add_kinds(struct ct_workload *work)
{
	static const char *const kind[] = { "train", "train", "other", "infer" };
	size_t column = ct_workload_column(work, "kind");

	for (uint32_t i = 0; i < 4; i++)
		ct_workload_set_extra(work, column, i, kind[i], strlen(kind[i]));
}

static void make_tiny_in(struct ct_result *r, void (*make)(struct ct_result *, const struct ct_world *), ct_time warmup,
			 ct_time until)
{
	static const struct ct_configuration only = { .name = "only", .throughput = 1.0, .sm_frac = NAN };
	static const struct ct_family infer = { .config = &only, .n = 1, .scaling = 1.0, .train = 0 };
	static const struct ct_family *const families[] = { NULL, &infer, NULL, NULL };
	const struct ct_node_spec node = { .count = 2, .gpus = 2, .gpu_speed = 1.0 };
	struct ct_world_spec spec = { .cluster = { &node, 1 },
				      .families = families,
				      .residents = 1,
				      .warmup_us = warmup,
				      .until_us = until,
				      .attain_floor = 0.9,
				      .series_us = 10 * CT_SECOND,
				      .record_events = true };
	struct ct_workload *work = ct_workload_new();
	struct ct_err err = { 0 };
	struct ct_world *w;
	size_t column;

	add_job(work, "a", 0, 100, 2);
	add_job(work, "b", 10, 50, 2);
	add_job(work, "c", 20, 30, 3);
	add_job(work, "huge", 30, 5, 8);
	column = ct_workload_column(work, "reason"); /* a name of ours */
	ct_workload_set_extra(work, column, 2, "nightly", 7);
	add_kinds(work);
	if (ct_workload_seal(work, &err))
		fail_msg("%s", err.text);
	spec.work = work;
	w = ct_world_new(&spec, &err);
	if (!w)
		fail_msg("%s", err.text);
	run_by_hand(w);
	memset(r, 0, sizeof *r);
	make(r, w);
	ct_world_free(w);
	ct_workload_free(work); /* the result stands alone */
}

static void make_tiny(struct ct_result *r, void (*make)(struct ct_result *, const struct ct_world *))
{
	make_tiny_in(r, make, 0, CT_NEVER);
}

static void result_of_tiny_world(struct ct_result *r)
{
	make_tiny(r, ct_result_from_world);
}

static void assert_cell(const struct ct_result *r, const char *column, size_t row, const char *want)
{
	const struct ct_column *c = ct_frame_column(&r->jobs, column);
	char got[64];

	assert_non_null(c);
	if (c->type == CT_COLUMN_TIME && ct_cell_i64(c, row) == CT_NO_TIME)
		snprintf(got, sizeof got, "absent");
	else if (c->type == CT_COLUMN_TIME)
		snprintf(got, sizeof got, "%g", (double)ct_cell_i64(c, row) / 1e6);
	else if (c->type == CT_COLUMN_I64)
		snprintf(got, sizeof got, "%lld", (long long)ct_cell_i64(c, row));
	else if (c->type == CT_COLUMN_F64)
		snprintf(got, sizeof got, "%.6g", ct_cell_f64(c, row));
	else
		snprintf(got, sizeof got, "%s", ct_cell_text(c, row));
	assert_string_equal(got, want);
}

static void jobs_of_a_world(void **state)
{
	static const struct {
		const char *column, *want[4]; /* a 0..100, b 10..60, c 100..130, huge rejected */
	} rows[] = {
		{ "job_id", { "a", "b", "c", "huge" } },
		{ "submission_time", { "0", "10", "20", "30" } },
		{ "requested_number_of_resources", { "2", "2", "3", "8" } },
		{ "requested_time", { "absent", "absent", "absent", "absent" } },
		{ "success", { "1", "1", "1", "0" } },
		{ "starting_time", { "0", "10", "100", "absent" } },
		{ "execution_time", { "100", "50", "30", "absent" } },
		{ "finish_time", { "100", "60", "130", "absent" } },
		{ "waiting_time", { "0", "0", "80", "absent" } },
		{ "turnaround_time", { "100", "50", "110", "absent" } },
		{ "stretch", { "1", "1", "3.66667", "nan" } },
		{ "slowdown", { "1", "1", "3.66667", "nan" } },
		{ "allocated_resources", { "0-1", "2-3", "0 2-3", "" } },
		{ "state", { "finished", "finished", "finished", "rejected" } },
		{ "measured", { "1", "1", "1", "0" } },
		{ "attained", { "1", "1", "1", "0" } },
		{ "queue_s", { "0", "0", "80", "0" } },
		{ "run_s", { "100", "50", "30", "0" } },
		{ "gpu_s", { "200", "100", "90", "0" } },
		{ "starts", { "1", "1", "1", "0" } },
		{ "user", { "ann", "ann", "ann", "ann" } },
		{ "class", { "train", "infer", "unknown", "infer" } },
		{ "trace_reason", { "", "", "nightly", "" } },
	};
	struct ct_result r;

	(void)state;
	result_of_tiny_world(&r);
	assert_int_equal(r.jobs.n_rows, 4);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t k = 0; k < 4; k++)
			assert_cell(&r, rows[i].column, k, rows[i].want[k]);
	assert_string_equal(r.jobs.column[0].name, "job_id");
	assert_string_equal(r.jobs.column[12].name, "allocated_resources");
	ct_result_fini(&r);
}

static void assert_metric(const struct ct_result *r, enum ct_metric m, double want)
{
	if (!(fabs(r->summary[m] - want) < 1e-9))
		fail_msg("%s: %.12g, wanted %.12g", ct_metric_info[m].key, r->summary[m], want);
}

static void summary_of_a_world(void **state)
{
	static const struct {
		enum ct_metric metric;
		double want;
	} rows[] = {
		{ CT_METRIC_jobs_submitted, 4 },
		{ CT_METRIC_jobs_finished, 3 },
		{ CT_METRIC_jobs_rejected, 1 },
		{ CT_METRIC_jobs_left, 0 },
		{ CT_METRIC_jobs_measured, 3 },
		{ CT_METRIC_mean_jct_s, 260.0 / 3 },
		{ CT_METRIC_median_jct_s, 100 },
		{ CT_METRIC_p95_jct_s, 109 }, /* h = 1.9 over 50, 100, 110 */
		{ CT_METRIC_max_jct_s, 110 },
		{ CT_METRIC_mean_wait_s, 80.0 / 3 },
		{ CT_METRIC_median_wait_s, 0 },
		{ CT_METRIC_p95_wait_s, 72 }, /* h = 1.9 over 0, 0, 80 */
		{ CT_METRIC_mean_slowdown, (1 + 1 + 11.0 / 3) / 3 },
		{ CT_METRIC_makespan_s, 130 },
		{ CT_METRIC_throughput, 390.0 / 130 },
		{ CT_METRIC_gpu_alloc_frac, 390.0 / 520 },
		{ CT_METRIC_attainment_frac, 1 },
		{ CT_METRIC_mean_queue_length, 80.0 / 130 },
		{ CT_METRIC_offered_load, (200 + 100 + 90 + 40) / (4.0 * 30) },
		{ CT_METRIC_active_jobs, 180.0 / 130 },
		{ CT_METRIC_window_finished, 3 },
		{ CT_METRIC_window_finished_per_h, 3 * 3600.0 / 130 },
		{ CT_METRIC_window_finished_jct_s, 260.0 / 3 },
		{ CT_METRIC_drained_throughput, 390.0 / 130 },
		{ CT_METRIC_backlog_growth, 0 }, /* what can never run is no backlog */
	};
	struct ct_result r;

	(void)state;
	result_of_tiny_world(&r);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_metric(&r, rows[i].metric, rows[i].want);
	assert_true(isnan(r.summary[CT_METRIC_gpu_mem_frac])); /* no capacity is known */
	ct_result_fini(&r);
}

/* [15, 110): c arrives in it, a and b end in it; of a 85 s lie in it, of b 45, of c 10. */
static void summary_of_a_window(void **state)
{
	static const struct {
		enum ct_metric metric;
		double want;
	} rows[] = {
		{ CT_METRIC_jobs_finished, 3 },
		{ CT_METRIC_jobs_measured, 1 },
		{ CT_METRIC_mean_jct_s, 110 },
		{ CT_METRIC_makespan_s, 130 },
		{ CT_METRIC_throughput, (170 + 90 + 30) / 95.0 },
		{ CT_METRIC_active_jobs, (85 + 45 + 10) / 95.0 },
		{ CT_METRIC_window_finished, 2 },
		{ CT_METRIC_window_finished_per_h, 2 * 3600 / 95.0 },
		{ CT_METRIC_window_finished_jct_s, 75 },
		{ CT_METRIC_drained_throughput, 390.0 / 130 },
		{ CT_METRIC_backlog_growth, (90 - (170 + 90 + 30)) / 95.0 },
	};
	struct ct_result r;

	(void)state;
	make_tiny_in(&r, ct_result_from_world, 15 * CT_SECOND, 110 * CT_SECOND);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_metric(&r, rows[i].metric, rows[i].want);
	ct_result_fini(&r);
}

static void digest_needs_no_columns(void **state)
{
	struct ct_result with, without;

	(void)state;
	make_tiny(&with, ct_result_from_world);
	make_tiny(&without, ct_result_summarise);
	ct_result_seal(&with, "config", "inputs");
	ct_result_seal(&without, "config", "inputs");
	assert_int_equal(without.jobs.n_columns, 0);
	assert_string_equal(with.digest, without.digest);
	assert_int_equal(strlen(without.jobs_digest), 64);
	for (int i = 0; i < CT_METRIC_COUNT; i++)
		assert_true(with.summary[i] == without.summary[i] || isnan(with.summary[i]));
	ct_result_fini(&with);
	ct_result_fini(&without);
}

static void series_and_events_of_a_world(void **state)
{
	const struct ct_column *held, *queued, *time, *kind, *job;
	struct ct_result r;

	(void)state;
	result_of_tiny_world(&r);
	held = ct_frame_column(&r.series, "held_gpus");
	queued = ct_frame_column(&r.series, "queued_jobs");
	time = ct_frame_column(&r.series, "time");
	assert_true(r.series.n_rows >= 13);
	assert_int_equal(ct_cell_i64(time, 3), 30 * CT_SECOND);
	assert_near(ct_cell_f64(held, 0), 2.0, 1e-9);
	assert_near(ct_cell_f64(held, 3), 4.0, 1e-9);
	assert_near(ct_cell_f64(held, 12), 3.0, 1e-9);
	assert_near(ct_cell_f64(queued, 1), 0.0, 1e-9);
	assert_near(ct_cell_f64(queued, 5), 1.0, 1e-9);
	kind = ct_frame_column(&r.events, "kind");
	job = ct_frame_column(&r.events, "job_id");
	assert_true(r.events.n_rows >= 10); /* 4 submitted, 1 rejected, 3 started, 3 finished */
	assert_string_equal(ct_cell_text(kind, 0), "submit");
	assert_string_equal(ct_cell_text(job, 0), "a");
	assert_string_equal(ct_cell_text(kind, r.events.n_rows - 1), "finish");
	assert_string_equal(ct_cell_text(job, r.events.n_rows - 1), "c");
	ct_result_fini(&r);
}

/* ---- a result put together by hand */

enum { ROWS = 5 };
struct parts {
	double metric, real;
	int64_t integer, time;
	const char *code, *text, *unit;
	const char *config, *inputs, *extra;
	size_t rows;
	int partial, with_events;
};
static const struct parts usual = { .metric = 1.5,
				    .real = 0.1,
				    .integer = 3,
				    .time = 1000001,
				    .code = "ann",
				    .text = "j2",
				    .unit = "s",
				    .config = "policy: easy",
				    .inputs = "trace 12ab",
				    .extra = "squad",
				    .rows = ROWS };

static void build_jobs(struct ct_result *r, const struct parts *p)
{
	const double real[ROWS] = { p->real, NAN, -0.0, 1e300, -1e-300 },
		     equal[ROWS] = { 0.25, 0.25, 0.25, 0.25, 0.25 };
	const int64_t integer[ROWS] = { p->integer, 2, INT64_MAX, -1, 0 };
	const int64_t time[ROWS] = { p->time, CT_NO_TIME, 0, (INT64_C(1) << 52) - 1, -5 };
	const int64_t never[ROWS] = { CT_NO_TIME, CT_NO_TIME, CT_NO_TIME, CT_NO_TIME, CT_NO_TIME };
	const char *code[ROWS] = { "bob", p->code, "bob", "", "caf\xc3\xa9, \"quoted\"\nline" };
	const char *same[ROWS] = { "w0", "w0", "w0", "w0", "w0" },
		   *text[ROWS] = { "j1", p->text, "", "j4", "a longer one" };
	struct ct_frame *f = &r->jobs;

	f->n_rows = p->rows;
	ct_frame_add_text(f, &r->arena, "job_id", CT_COLUMN_TEXT, text);
	ct_frame_add_text(f, &r->arena, "user", CT_COLUMN_CODE, code);
	ct_frame_add_text(f, &r->arena, "workload_name", CT_COLUMN_CODE, same);
	ct_frame_add_f64(f, &r->arena, "real", p->unit, real);
	ct_frame_add_f64(f, &r->arena, "equal", "", equal);
	ct_frame_add_i64(f, &r->arena, "integer", "", CT_COLUMN_I64, integer);
	ct_frame_add_i64(f, &r->arena, "time", "s", CT_COLUMN_TIME, time);
	ct_frame_add_i64(f, &r->arena, "never", "s", CT_COLUMN_TIME, never);
	ct_frame_add_text(f, &r->arena, p->extra, CT_COLUMN_CODE, code);
	ct_frame_add_text(f, &r->arena, "a/b", CT_COLUMN_CODE, code);
	ct_frame_add_text(f, &r->arena, "a_b", CT_COLUMN_CODE, same);
}

static void build(struct ct_result *r, const struct parts *p)
{
	const int64_t bins[3] = { 0, 60000000, 120000000 };
	const double held[3] = { 1, 2.5, 0 };

	memset(r, 0, sizeof *r);
	for (int i = 0; i < CT_METRIC_COUNT; i++)
		r->summary[i] = i % 3 ? i / 7.0 : NAN;
	r->summary[CT_METRIC_mean_jct_s] = p->metric;
	build_jobs(r, p);
	r->series.n_rows = 3;
	ct_frame_add_i64(&r->series, &r->arena, "time", "s", CT_COLUMN_TIME, bins);
	ct_frame_add_f64(&r->series, &r->arena, "held_gpus", "GPUs", held);
	if (p->with_events)
		ct_frame_add_i64(&r->events, &r->arena, "time", "s", CT_COLUMN_TIME, bins); /* no rows */
	r->partial = p->partial;
	r->config_yaml = ct_result_text(r, "policy:\n  name: %s\n", "easy");
	ct_result_add(r, CT_RESULT_MANIFEST, "policy", "easy", 0);
	ct_result_add(r, CT_RESULT_MANIFEST, "seed", "7", 1);
	ct_result_add(r, CT_RESULT_MANIFEST, "empty", "", 0);
	ct_result_add(r, CT_RESULT_MANIFEST, "load", "1.40", 1); /* stays as it is written */
	ct_result_add(r, CT_RESULT_IMPORT, "rows_read", "5", 1);
	ct_result_add(r, CT_RESULT_PERF, "cpu_s", "0.125", 1);
	ct_result_warn(r, "2 rows were not sorted");
	ct_result_warn(r, "another");
	ct_result_seal(r, p->config, p->inputs);
}

static void digest_of(const struct parts *p, char out[CT_DIGEST_TEXT])
{
	struct ct_result r;

	build(&r, p);
	memcpy(out, r.digest, CT_DIGEST_TEXT);
	ct_result_fini(&r);
}

static void digest_changes_with_any_part(void **state)
{
	struct parts v[16];
	char digest[16][CT_DIGEST_TEXT];
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < 16; i++)
		v[i] = usual;
	v[++n].metric = 1.5000000000000002; /* one unit in the last place */
	v[++n].real = 0.10000000000000002;
	v[++n].integer = 4;
	v[++n].time++;
	v[++n].code = "anne";
	v[++n].text = "j3";
	v[++n].unit = "h";
	v[++n].config = "policy: fifo";
	v[++n].inputs = "trace 12ac";
	v[++n].extra = "squads";
	v[++n].rows = ROWS - 1;
	v[++n].partial = 1;
	v[++n].with_events = 1;
	v[++n].code = "bob"; /* one name less in the dictionary */
	for (size_t i = 0; i <= n; i++) {
		digest_of(&v[i], digest[i]);
		assert_int_equal(strlen(digest[i]), 64);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(digest[i], digest[k]);
	}
	digest_of(&usual, digest[1]);
	assert_string_equal(digest[0], digest[1]);
}

static void digest_ignores_perf_and_manifest(void **state)
{
	struct ct_result r;
	char before[CT_DIGEST_TEXT];

	(void)state;
	build(&r, &usual);
	memcpy(before, r.digest, sizeof before);
	ct_result_add(&r, CT_RESULT_PERF, "cpu_s", "99", 1);
	ct_result_add(&r, CT_RESULT_MANIFEST, "revision", "deadbeef", 0);
	ct_result_warn(&r, "slow disk");
	r.config_yaml = "file: /other/path";
	ct_result_seal(&r, usual.config, usual.inputs);
	assert_string_equal(r.digest, before);
	ct_result_fini(&r);
}

/* A column that keeps one value once and one that repeats it are the same. */
static void digest_is_of_the_values(void **state)
{
	static const int64_t seven[3] = { 7, 7, 7 };
	struct ct_result a = { 0 }, b = { 0 };
	struct ct_column *c;

	(void)state;
	a.jobs.n_rows = b.jobs.n_rows = 3;
	c = ct_frame_add_i64(&a.jobs, &a.arena, "x", "", CT_COLUMN_I64, seven);
	assert_true(c->constant);
	c = ct_frame_add_i64(&b.jobs, &b.arena, "x", "", CT_COLUMN_I64, seven);
	c->constant = 0;
	c->v.i64 = seven;
	ct_result_seal(&a, "", "");
	ct_result_seal(&b, "", "");
	assert_string_equal(a.digest, b.digest);
	ct_result_fini(&a);
	ct_result_fini(&b);
}

static void pairs_are_replaced(void **state)
{
	struct ct_result r = { 0 };
	char key[16];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof key, "k%d", i % 50);
		ct_result_add(&r, CT_RESULT_MANIFEST, key, i < 50 ? "old" : "new", 0);
	}
	assert_int_equal(r.n_manifest, 50);
	assert_string_equal(ct_result_get(&r, CT_RESULT_MANIFEST, "k49"), "new");
	assert_null(ct_result_get(&r, CT_RESULT_PERF, "k49"));
	ct_result_fini(&r);
}

/* ---- files */

struct place {
	char dir[64], path[96];
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof *p);

	strcpy(p->dir, "/tmp/ct-result-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->path, sizeof p->path, "%s/r.h5", p->dir);
	*state = p;
	return 0;
}

static int entries(const char *dir, int remove_them)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
			n++;
			if (remove_them)
				unlinkat(dirfd(d), e->d_name, 0);
		}
	closedir(d);
	return n;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	entries(p->dir, 1);
	rmdir(p->dir);
	free(p);
	return 0;
}

static void write_ok(const struct ct_result *r, const char *path)
{
	struct ct_err err = { 0 };

	if (ct_result_write_h5(r, path, &err))
		fail_msg("%s", err.text);
}

static void read_ok(struct ct_result *r, const char *path)
{
	struct ct_err err = { 0 };

	if (ct_result_read_h5(path, r, &err))
		fail_msg("%s", err.text);
}

static char *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *s = NULL;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*n = (size_t)ftell(f);
	rewind(f);
	s = calloc(*n + 1, 1);
	assert_int_equal(fread(s, 1, *n, f), *n);
	fclose(f);
	return s;
}

static void spill(const char *path, const char *s, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(s, 1, n, f), n);
	fclose(f);
}

static void assert_same_column(const struct ct_column *a, const struct ct_column *b, size_t rows)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->unit, b->unit);
	assert_int_equal(a->type, b->type);
	for (size_t i = 0; i < rows; i++) {
		if (a->type == CT_COLUMN_CODE || a->type == CT_COLUMN_TEXT)
			assert_string_equal(ct_cell_text(a, i), ct_cell_text(b, i));
		else if (a->type == CT_COLUMN_F64)
			assert_true(ct_cell_f64(a, i) == ct_cell_f64(b, i) ||
				    (isnan(ct_cell_f64(a, i)) && isnan(ct_cell_f64(b, i))));
		else
			assert_true(ct_cell_i64(a, i) == ct_cell_i64(b, i));
	}
}

static void assert_same_frame(const struct ct_frame *a, const struct ct_frame *b)
{
	assert_int_equal(a->n_columns, b->n_columns);
	assert_int_equal(a->n_rows, b->n_rows);
	for (size_t i = 0; i < a->n_columns; i++)
		assert_same_column(&a->column[i], &b->column[i], a->n_rows);
}

static void assert_same_pairs(const struct ct_pair *a, size_t n, const struct ct_pair *b, size_t m)
{
	assert_int_equal(n, m);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(a[i].key, b[i].key);
		assert_string_equal(a[i].value, b[i].value);
		if (strcmp(a[i].key, "load") != 0) /* a number with a form of its own comes back as text */
			assert_int_equal(a[i].is_number, b[i].is_number);
	}
}

static void assert_same(const struct ct_result *a, const struct ct_result *b)
{
	for (int i = 0; i < CT_METRIC_COUNT; i++)
		assert_true(a->summary[i] == b->summary[i] || (isnan(a->summary[i]) && isnan(b->summary[i])));
	assert_same_frame(&a->jobs, &b->jobs);
	assert_same_frame(&a->series, &b->series);
	assert_same_frame(&a->events, &b->events);
	assert_same_pairs(a->manifest, a->n_manifest, b->manifest, b->n_manifest);
	assert_same_pairs(a->import, a->n_import, b->import, b->n_import);
	assert_same_pairs(a->perf, a->n_perf, b->perf, b->n_perf);
	assert_string_equal(a->config_yaml, b->config_yaml);
	assert_int_equal(a->n_warnings, b->n_warnings);
	for (size_t i = 0; i < a->n_warnings; i++)
		assert_string_equal(a->warnings[i], b->warnings[i]);
	assert_string_equal(a->digest, b->digest);
	assert_int_equal(a->partial, b->partial);
}

static void round_trip(const struct ct_result *r, const char *path)
{
	char digest[CT_DIGEST_TEXT];
	struct ct_result back;

	write_ok(r, path);
	read_ok(&back, path);
	assert_same(r, &back);
	ct_result_digest(&back, digest); /* the values that were read give the digest that was written */
	assert_string_equal(digest, r->digest);
	ct_result_fini(&back);
}

static void h5_comes_back_equal(void **state)
{
	struct place *p = *state;
	static char big[100001];
	struct parts v = usual;
	struct ct_result r;

	build(&r, &usual);
	memset(big, 'y', sizeof big - 1);
	ct_result_add(&r, CT_RESULT_MANIFEST, "big", big, 0); /* beyond what an object header holds */
	round_trip(&r, p->path);
	ct_result_fini(&r);
	v.partial = v.with_events = 1;
	build(&r, &v);
	r.n_perf = r.n_warnings = 0;
	round_trip(&r, p->path);
	ct_result_fini(&r);
	v.rows = 0;
	build(&r, &v);
	round_trip(&r, p->path);
	ct_result_fini(&r);
	assert_int_equal(entries(p->dir, 0), 1);
}

static void world_comes_back_equal(void **state)
{
	struct place *p = *state;
	struct ct_result r;

	result_of_tiny_world(&r);
	r.config_yaml = "";
	ct_result_seal(&r, "config", "inputs");
	round_trip(&r, p->path);
	ct_result_fini(&r);
}

/* Enough rows for chunks and compression, and texts of which one is so long that
 * fixed length would not do. */
static void large_h5_comes_back_equal(void **state)
{
	enum { N = 150000 };
	struct place *p = *state;
	struct ct_result r;
	double *real = calloc(N, sizeof *real);
	int64_t *integer = calloc(N, sizeof *integer);
	const char **text = calloc(N, sizeof *text), **code = calloc(N, sizeof *code);
	char *names = calloc(N, 16), *long_text = calloc(20001, 1);

	memset(long_text, 'x', 20000);
	for (size_t i = 0; i < N; i++) {
		real[i] = sin((double)i);
		integer[i] = (int64_t)(i * i) - 500;
		snprintf(names + 16 * i, 16, "job%zu", i);
		text[i] = i == 77777 ? long_text : names + 16 * i;
		code[i] = names + 16 * (i % 300);
	}
	build(&r, &usual);
	r.jobs.n_columns = 0;
	r.jobs.n_rows = N;
	ct_frame_add_text(&r.jobs, &r.arena, "job_id", CT_COLUMN_TEXT, text);
	ct_frame_add_text(&r.jobs, &r.arena, "allocated_resources", CT_COLUMN_TEXT, code);
	ct_frame_add_text(&r.jobs, &r.arena, "model", CT_COLUMN_CODE, code);
	ct_frame_add_f64(&r.jobs, &r.arena, "real", "", real);
	ct_frame_add_i64(&r.jobs, &r.arena, "integer", "", CT_COLUMN_I64, integer);
	ct_frame_add_i64(&r.jobs, &r.arena, "time", "s", CT_COLUMN_TIME, integer);
	ct_result_seal(&r, "", "");
	round_trip(&r, p->path);
	ct_result_fini(&r);
	free(real);
	free(integer);
	free(text);
	free(code);
	free(names);
	free(long_text);
}

static void h5_is_byte_identical(void **state)
{
	struct place *p = *state;
	struct ct_result r, back;
	char *first, *second;
	size_t n, m;

	build(&r, &usual);
	write_ok(&r, p->path);
	first = slurp(p->path, &n);
	ct_result_fini(&r);
	build(&r, &usual);
	write_ok(&r, p->path);
	second = slurp(p->path, &m);
	assert_int_equal(n, m);
	assert_memory_equal(first, second, n);
	free(second);
	read_ok(&back, p->path); /* and what was read writes the same file */
	write_ok(&back, p->path);
	second = slurp(p->path, &m);
	assert_int_equal(n, m);
	assert_memory_equal(first, second, n);
	free(first);
	free(second);
	ct_result_fini(&r);
	ct_result_fini(&back);
}

static void assert_refused(const char *path, const char *word)
{
	struct ct_err err = { 0 };
	struct ct_result r;

	assert_int_equal(ct_result_read_h5(path, &r, &err), CT_EIO);
	if (!strstr(err.text, word))
		fail_msg("message '%s' does not say '%s'", err.text, word);
	assert_non_null(strstr(err.text, "r.h5"));
	assert_null(r.arena.head);
	assert_int_equal(r.jobs.n_columns, 0);
}

static void truncated_h5_is_refused(void **state)
{
	struct place *p = *state;
	struct ct_result r;
	char *all;
	size_t n;

	build(&r, &usual);
	write_ok(&r, p->path);
	ct_result_fini(&r);
	all = slurp(p->path, &n);
	for (size_t i = 0; i < 64; i++) {
		spill(p->path, all, n * i / 64);
		assert_refused(p->path, "");
	}
	spill(p->path, all, n - 1);
	assert_refused(p->path, "truncated");
	free(all);
}

static void other_files_are_refused(void **state)
{
	struct place *p = *state;
	hid_t f;

	assert_refused(p->path, "No such file");
	spill(p->path, "", 0);
	assert_refused(p->path, "empty");
	spill(p->path, "job_id,submit_time\n1,2\n", 22);
	assert_refused(p->path, "does not begin with");
	f = H5Fcreate(p->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	H5Fclose(f);
	assert_refused(p->path, "but not a result");
}

/* ---- a result file, then changed by HDF5 itself, under a new length and hash */

static void bless(const char *path)
{
	char digest[CT_DIGEST_TEXT], *s;
	struct ct_digest d;
	size_t n;

	s = slurp(path, &n);
	ct_digest_init(&d);
	ct_digest_bytes(&d, s + 512, n - 512);
	ct_digest_final(&d, digest);
	memset(s, '\n', 512);
	s[snprintf(s, 512, "cotenant-result 1\n%zu %s\n", n - 512, digest)] = '\n';
	spill(path, s, n);
	free(s);
}

static void with_file(const char *path, void (*change)(hid_t file))
{
	struct ct_result r;
	hid_t f;

	build(&r, &usual);
	write_ok(&r, path);
	ct_result_fini(&r);
	f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(f >= 0);
	change(f);
	assert_true(H5Fclose(f) >= 0);
	bless(path);
}

static void set_integer(hid_t file, const char *name, int64_t v)
{
	hid_t a = H5Aopen(file, name, H5P_DEFAULT);

	assert_true(a >= 0 && H5Awrite(a, H5T_NATIVE_INT64, &v) >= 0);
	H5Aclose(a);
}

static void next_version(hid_t f)
{
	set_integer(f, "version", 2);
}
static void not_complete(hid_t f)
{
	assert_true(H5Adelete(f, "complete") >= 0);
}
static void no_jobs(hid_t f)
{
	assert_true(H5Ldelete(f, "jobs", H5P_DEFAULT) >= 0);
}
static void no_metric(hid_t f)
{
	assert_true(H5Ldelete(f, "summary/mean_jct_s", H5P_DEFAULT) >= 0);
}
static void no_job_id(hid_t f)
{
	assert_true(H5Ldelete(f, "jobs/job_id", H5P_DEFAULT) >= 0);
}
static void replace(hid_t f, hsize_t rows, hid_t type)
{
	hid_t space = H5Screate_simple(1, &rows, NULL), kind = H5Tcopy(H5T_C_S1), one = H5Screate(H5S_SCALAR), d, a;
	const char *integer = "integer";

	assert_true(H5Ldelete(f, "jobs/integer", H5P_DEFAULT) >= 0);
	d = H5Dcreate2(f, "jobs/integer", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	H5Tset_size(kind, H5T_VARIABLE);
	a = H5Acreate2(d, "kind", kind, one, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(a >= 0 && H5Awrite(a, kind, &integer) >= 0);
	H5Aclose(a);
	H5Dclose(d);
	H5Tclose(kind);
	H5Sclose(one);
	H5Sclose(space);
}
static void shorter_column(hid_t f)
{
	replace(f, ROWS - 1, H5T_NATIVE_INT64);
}
static void wrong_type(hid_t f)
{
	replace(f, ROWS, H5T_NATIVE_DOUBLE);
}
static void nothing(hid_t f)
{
	(void)f;
}

static void damaged_h5_is_refused(void **state)
{
	static const struct {
		void (*change)(hid_t);
		const char *word;
	} cases[] = {
		{ next_version, "version '2'" }, { not_complete, "incomplete" }, { no_jobs, "'jobs' is missing" },
		{ no_metric, "mean_jct_s" },     { no_job_id, "no column" },     { shorter_column, "has 4 rows" },
		{ wrong_type, "type" },
	};
	struct place *p = *state;
	struct ct_result r;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		with_file(p->path, cases[i].change);
		assert_refused(p->path, cases[i].word);
	}
	with_file(p->path, nothing); /* the changes are what was refused, not the opening */
	read_ok(&r, p->path);
	ct_result_fini(&r);
}

static void flipped_bytes_are_noticed(void **state)
{
	struct place *p = *state;
	struct ct_result r;
	char *all;
	size_t n;

	build(&r, &usual);
	write_ok(&r, p->path);
	ct_result_fini(&r);
	all = slurp(p->path, &n);
	for (size_t i = 0; i < n; i += i < 90 ? 1 : 97) {
		all[i] = (char)(all[i] ^ 0x24);
		spill(p->path, all, n);
		all[i] = (char)(all[i] ^ 0x24);
		assert_refused(p->path, "");
	}
	spill(p->path, all, n);
	read_ok(&r, p->path);
	ct_result_fini(&r);
	all = realloc(all, n + 1);
	all[n] = 'x';
	spill(p->path, all, n + 1);
	assert_refused(p->path, "damaged");
	free(all);
}

static void failed_writes_leave_nothing(void **state)
{
	struct place *p = *state;
	struct rlimit old, small;
	struct ct_err err = { 0 };
	struct ct_result r;
	char missing[128];
	size_t n;
	char *kept;

	build(&r, &usual);
	snprintf(missing, sizeof missing, "%s/no/r.h5", p->dir);
	assert_int_equal(ct_result_write_h5(&r, missing, &err), CT_EIO);
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(entries(p->dir, 0), 0);

	memset(&err, 0, sizeof err);
	assert_int_equal(ct_result_write_h5(&r, "/dev/full", &err), CT_EIO);
	assert_non_null(strstr(err.text, "No space left"));

	spill(p->path, "what was there", 14);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	memset(&err, 0, sizeof err);
	assert_int_equal(ct_result_write_h5(&r, p->path, &err), CT_EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_non_null(strstr(err.text, "File too large"));
	assert_int_equal(entries(p->dir, 0), 1);
	kept = slurp(p->path, &n);
	assert_string_equal(kept, "what was there");
	free(kept);
	ct_result_fini(&r);
}

/* ---- CSV and JSON */

static void csv_is_as_expected(void **state)
{
	struct place *p = *state;
	struct ct_err err = { 0 };
	struct ct_result r;
	char *s, path[128];
	size_t n;

	build(&r, &usual);
	if (ct_result_write_csv(&r, p->dir, &err))
		fail_msg("%s", err.text);
	assert_int_equal(entries(p->dir, 0), 3);
	snprintf(path, sizeof path, "%s/jobs.csv", p->dir);
	s = slurp(path, &n);
	assert_string_equal(s, "job_id,user,workload_name,real,equal,integer,time,never,squad,a/b,a_b\n"
			       "j1,bob,w0,0.1,0.25,3,1.000001,,bob,bob,w0\n"
			       "j2,ann,w0,,0.25,2,,,ann,ann,w0\n"
			       ",bob,w0,-0,0.25,9223372036854775807,0,,bob,bob,w0\n"
			       "j4,,w0,1e+300,0.25,-1,4503599627.370495,,,,w0\n"
			       "a longer one,\"caf\xc3\xa9, \"\"quoted\"\"\nline\",w0,-1e-300,0.25,0,-0.000005,,"
			       "\"caf\xc3\xa9, \"\"quoted\"\"\nline\",\"caf\xc3\xa9, \"\"quoted\"\"\nline\",w0\n");
	free(s);
	snprintf(path, sizeof path, "%s/series.csv", p->dir);
	s = slurp(path, &n);
	assert_string_equal(s, "time,held_gpus\n0,1\n60,2.5\n120,0\n");
	free(s);
	snprintf(path, sizeof path, "%s/summary.csv", p->dir);
	s = slurp(path, &n);
	assert_non_null(strstr(s, "\nmean_jct_s,1.5,s,"));
	assert_non_null(strstr(s, "metric,value,unit,definition\n"));
	free(s);
	ct_result_fini(&r);
}

static void csv_errors_are_reported(void **state)
{
	struct place *p = *state;
	struct ct_err err = { 0 };
	struct ct_result r;

	build(&r, &usual);
	spill(p->path, "x", 1); /* a file where the directory should be */
	assert_int_equal(ct_result_write_csv(&r, p->path, &err), CT_EIO);
	assert_int_equal(entries(p->dir, 0), 1);
	ct_result_fini(&r);
}

static void json_is_as_expected(void **state)
{
	struct ct_err err = { 0 };
	struct ct_result r;
	char *s = NULL;
	size_t n;
	FILE *f = open_memstream(&s, &n);

	(void)state;
	build(&r, &usual);
	if (ct_result_write_json(&r, f, &err))
		fail_msg("%s", err.text);
	fclose(f);
	assert_ptr_equal(strstr(s, "{\n  \"manifest\": {\n    \"config\": \"policy:\\n  name: easy\\n\",\n"), s);
	assert_non_null(strstr(s, "\"empty\": \"\",\n    \"import\": {\n      \"rows_read\": 5\n    },\n    \"load\": "
				  "1.40,\n    \"partial\": false,\n"
				  "    \"policy\": \"easy\",\n    \"seed\": 7,\n    \"warnings\": [\n"));
	assert_non_null(
	    strstr(s, "  \"perf\": {\n    \"cpu_s\": 0.125\n  },\n  \"summary\": {\n    \"active_jobs\": "));
	assert_non_null(strstr(s, "\"mean_jct_s\": 1.5,\n"));
	assert_non_null(strstr(s, "\"jobs_submitted\": null,\n")); /* NaN in build() */
	free(s);
	ct_result_fini(&r);
}

static void json_to_a_full_disk_fails(void **state)
{
	FILE *f = fopen("/dev/full", "w");
	struct ct_err err = { 0 };
	struct ct_result r;

	(void)state;
	assert_non_null(f);
	build(&r, &usual);
	assert_int_equal(ct_result_write_json(&r, f, &err), CT_EIO);
	assert_non_null(strstr(err.text, "No space left"));
	fclose(f);
	ct_result_fini(&r);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_follow_type_7),
		cmocka_unit_test(quantiles_of_few),
		cmocka_unit_test(quantiles_equal_a_full_sort),
		cmocka_unit_test(jobs_of_a_world),
		cmocka_unit_test(summary_of_a_world),
		cmocka_unit_test(summary_of_a_window),
		cmocka_unit_test(series_and_events_of_a_world),
		cmocka_unit_test(digest_needs_no_columns),
		cmocka_unit_test(digest_changes_with_any_part),
		cmocka_unit_test(digest_ignores_perf_and_manifest),
		cmocka_unit_test(digest_is_of_the_values),
		cmocka_unit_test(pairs_are_replaced),
		IN_PLACE(h5_comes_back_equal),
		IN_PLACE(world_comes_back_equal),
		IN_PLACE(large_h5_comes_back_equal),
		IN_PLACE(h5_is_byte_identical),
		IN_PLACE(truncated_h5_is_refused),
		IN_PLACE(other_files_are_refused),
		IN_PLACE(damaged_h5_is_refused),
		IN_PLACE(flipped_bytes_are_noticed),
		IN_PLACE(failed_writes_leave_nothing),
		IN_PLACE(csv_is_as_expected),
		IN_PLACE(csv_errors_are_reported),
		cmocka_unit_test(json_is_as_expected),
		cmocka_unit_test(json_to_a_full_disk_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
