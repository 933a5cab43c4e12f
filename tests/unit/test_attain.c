/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows, shortfall by cause and the log, by hand: the sums stand beside each case. */
#include "sim/result.h"
#include "sim/world.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define S CT_SECOND

static struct ct_workload *workload(size_t n, const double *submit, const double *duration, uint32_t gpus,
				    uint32_t min_gpus)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct ct_job j = CT_JOB_INIT;
		char id[2] = { (char)('a' + i), 0 };

		j.id = ct_workload_text(w, id, 1);
		j.submit_us = (ct_time)(submit[i] * 1e6);
		j.duration_us = (ct_time)(duration[i] * 1e6);
		j.num_gpus = gpus;
		if (min_gpus)
			j.min_gpus = min_gpus;
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static const struct ct_node_spec four = { .count = 1, .gpus = 4, .gpu_speed = 1 };

static struct ct_world *world(const struct ct_world_spec *s)
{
	struct ct_err err = { 0 };
	struct ct_world *w = ct_world_new(s, &err);

	if (!w)
		fail_msg("%s", err.text);
	return w;
}

static struct ct_world_spec spec_of(const struct ct_workload *work, double floor)
{
	return (struct ct_world_spec){ .work = work,
				       .cluster = { &four, 1 },
				       .residents = 2,
				       .until_us = CT_NEVER,
				       .attain_floor = floor,
				       .record_decisions = true };
}

static void start(struct ct_world *w, uint32_t job, uint32_t config, uint32_t n)
{
	static const uint32_t gpus[] = { 0, 1, 2, 3 };
	struct ct_err err = { 0 };

	if (ct_world_start(w, job, config, gpus, n, &err))
		fail_msg("%s", err.text);
}

static void advance_to(struct ct_world *w, double s)
{
	assert_true(ct_world_advance(w));
	assert_int_equal(ct_world_now(w), (ct_time)llround(s * 1e6));
}

static void finish(struct ct_world *w)
{
	struct ct_err err = { 0 };

	assert_false(ct_world_advance(w));
	if (ct_world_finish(w, &err))
		fail_msg("%s", err.text);
}

static const struct ct_attained *attained(const struct ct_world *w, uint32_t job)
{
	return &ct_world_attained(w)[ct_world_outcomes(w)[job].attain];
}

static void near(double a, double b)
{
	if (!(fabs(a - b) < 1e-9))
		fail_msg("%.12g instead of %.12g", a, b);
}

/* Job a keeps half beside another, b three quarters. */
static double truth(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	(void)state;
	(void)other;
	return self->job == 0 ? 0.5 : 0.75;
}

/* Predicted: kind 0 is slowed 1.6 times beside kind 1, kind 1 1.5 times beside kind 0. */
static double belief(void *state, uint32_t self, uint32_t other)
{
	(void)state;
	assert_int_not_equal(self, other);
	return self == 0 ? 1.6 : 1.5;
}

static const struct ct_configuration config_a = { .name = "x", .throughput = 1, .sm_frac = 0.5F, .kind = 0 },
				     config_b = { .name = "y", .throughput = 1, .sm_frac = 0.5F, .kind = 1 };
static const struct ct_family family_a = { .config = &config_a, .n = 1, .scaling = 1, .train = 1 },
			      family_b = { .config = &config_b, .n = 1, .scaling = 1, .train = 0 };

/* a (100 s) from 0, b (30 s) from 10 on one GPU: b ends at 10 + 30 / .75 = 50, a has done
 * 10 + 20 then and ends at 120. a loses 40 x .5 = 20 s beside b; 1 / 1.6 - .5 = .125 of
 * that rate was not predicted: 5 s. b loses 40 x .25 = 10 s, more was predicted (1 / 1.5).
 * a's windows: 40 of 60 s, then 60 of 60; at a floor of .7 (42 s) half of them are met;
 * b's only window has 30 of 40 s. */
static struct ct_world *pair(struct ct_world_spec *spec)
{
	struct ct_world *w = world(spec);

	advance_to(w, 0);
	start(w, 0, 0, 1);
	advance_to(w, 10);
	start(w, 1, 0, 1);
	advance_to(w, 50);
	advance_to(w, 120);
	finish(w);
	return w;
}

static const double pair_submit[] = { 0, 10 }, pair_duration[] = { 100, 30 };
static const struct ct_family *const pair_families[] = { &family_a, &family_b };
static const struct ct_contention pair_truth = { NULL, truth };

static void slow_down_as_predicted_and_beyond(void **state)
{
	struct ct_belief b = { .profiled = pair_families, .n_kinds = 2, .slowdown = belief };
	struct ct_workload *work = workload(2, pair_submit, pair_duration, 1, 0);
	struct ct_world_spec spec = spec_of(work, 0.7);
	struct ct_world *w;

	(void)state;
	spec.families = pair_families;
	spec.contention = &pair_truth;
	spec.belief = &b;
	w = pair(&spec);
	near(attained(w, 0)->slowdown_s, 20);
	near(attained(w, 0)->mispredicted_s, 5);
	near(attained(w, 0)->window_frac, 0.5);
	near(attained(w, 1)->slowdown_s, 10);
	near(attained(w, 1)->mispredicted_s, 0);
	near(attained(w, 1)->window_frac, 1);
	near(attained(w, 0)->config_s, 0);
	near(attained(w, 0)->gpus_s, 0);
	ct_world_free(w);
	ct_workload_free(work);
}

static void without_belief_nothing_is_said_of_predictions(void **state)
{
	struct ct_workload *work = workload(2, pair_submit, pair_duration, 1, 0);
	struct ct_world_spec spec = spec_of(work, 0.6);
	struct ct_world *w;

	(void)state;
	spec.contention = &pair_truth;
	w = pair(&spec);
	near(attained(w, 0)->slowdown_s, 20);
	assert_true(isnan(attained(w, 0)->mispredicted_s));
	near(attained(w, 0)->window_frac, 1); /* 40 of 60 s is above .6 */
	ct_world_free(w);
	ct_workload_free(work);
}

/* The same pair, and the pair where a is a gang of two that shares one of its GPUs: its
 * slowest member sets its pace, so times are the same. Run: a 120 of 100 s, b 40 of 30 s.
 * Undone because of the other: a 20 of 100, b 10 of 30. The 90 % quantile of 1.2 and 4/3
 * is 1.2 + .9 (4/3 - 1.2) = 1.32. */
static void slow_downs_of_gangs_and_others(void **state)
{
	for (uint32_t gang = 0; gang < 2; gang++) {
		struct ct_workload *work = ct_workload_new();
		struct ct_err err = { 0 };
		struct ct_world_spec spec;
		struct ct_result r;
		struct ct_world *w;

		(void)state;
		for (uint32_t i = 0; i < 2; i++) {
			struct ct_job j = CT_JOB_INIT;

			j.id = ct_workload_text(work, i ? "b" : "a", 1);
			j.submit_us = (ct_time)(pair_submit[i] * 1e6);
			j.duration_us = (ct_time)(pair_duration[i] * 1e6);
			j.num_gpus = i ? 1 : 1 + gang;
			ct_workload_add(work, &j);
		}
		assert_int_equal(ct_workload_seal(work, &err), 0);
		spec = spec_of(work, 0.6);
		spec.contention = &pair_truth;
		w = world(&spec);
		advance_to(w, 0);
		start(w, 0, 0, 1 + gang);
		advance_to(w, 10);
		start(w, 1, 0, 1);
		advance_to(w, 50);
		advance_to(w, 120);
		finish(w);
		memset(&r, 0, sizeof r);
		ct_result_summarise(&r, w);
		near(r.summary[CT_METRIC_mean_run_slowdown_single], gang ? 4. / 3 : (1.2 + 4. / 3) / 2);
		near(r.summary[CT_METRIC_p90_run_slowdown_single], gang ? 4. / 3 : 1.32);
		near(r.summary[CT_METRIC_mean_colo_slowdown_single], gang ? 4. / 3 : (1.2 + 4. / 3) / 2);
		if (gang) {
			near(r.summary[CT_METRIC_mean_run_slowdown_gang], 1.2);
			near(r.summary[CT_METRIC_p90_run_slowdown_gang], 1.2);
			near(r.summary[CT_METRIC_mean_colo_slowdown_gang], 1.2);
		} else {
			assert_true(isnan(r.summary[CT_METRIC_mean_run_slowdown_gang]));
			assert_true(isnan(r.summary[CT_METRIC_p90_run_slowdown_gang]));
			assert_true(isnan(r.summary[CT_METRIC_mean_colo_slowdown_gang]));
		}
		ct_result_fini(&r);
		ct_world_free(w);
		ct_workload_free(work);
	}
}

/* The same pair in the log: a is joined at 10 and left at 50, b starts in company. */
static void the_log_tells_company(void **state)
{
	static const struct {
		double t, slowdown, predicted;
		uint32_t job, partner;
	} want[] = { { 10, 1 / 0.75, 1.5, 1, 0 }, { 10, 2, 1.6, 0, 1 }, { 50, 1, 1, 0, CT_NONE } };
	struct ct_belief b = { .profiled = pair_families, .n_kinds = 2, .slowdown = belief };
	struct ct_workload *work = workload(2, pair_submit, pair_duration, 1, 0);
	struct ct_world_spec spec = spec_of(work, 0.7);
	const struct ct_log *log;
	struct ct_world *w;

	(void)state;
	spec.families = pair_families;
	spec.contention = &pair_truth;
	spec.belief = &b;
	w = pair(&spec);
	log = ct_world_log(w);
	assert_int_equal(log->n_stretches, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(log->stretch[i].kind, CT_STRETCH_RUN);
		assert_int_equal(log->stretch[i].time, (ct_time)(want[i].t * 1e6));
		assert_int_equal(log->stretch[i].job, want[i].job);
		assert_int_equal(log->stretch[i].partner, want[i].partner);
		assert_true(fabs((double)log->stretch[i].slowdown - want[i].slowdown) < 1e-6);
		assert_true(fabs((double)log->stretch[i].predicted - want[i].predicted) < 1e-6);
	}
	ct_world_free(w);
	ct_workload_free(work);
}

/* 40 s of work at .8 x 2/4 = .4: 100 s. Of each second .2 goes to the configuration and
 * .8 x .5 = .4 to the GPUs it does not have. A second configuration, faster than the
 * default, makes up for nothing: gains are no shortfall. */
static void slow_configurations_and_fewer_gpus(void **state)
{
	static const struct ct_configuration configs[] = { { .name = "default", .throughput = 1, .sm_frac = 0.5F },
							   { .name = "slow", .throughput = 0.8, .sm_frac = 0.5F },
							   { .name = "fast", .throughput = 2, .sm_frac = 0.5F } };
	static const struct ct_family family = { .config = configs, .n = 3, .scaling = 1, .train = 1 };
	static const struct ct_family *const families[] = { &family, &family };
	struct ct_workload *work = workload(2, (double[]){ 0, 200 }, (double[]){ 40, 40 }, 4, 2);
	struct ct_world_spec spec = spec_of(work, 0.6);
	struct ct_world *w;

	(void)state;
	spec.families = families;
	w = world(&spec);
	advance_to(w, 0);
	start(w, 0, 1, 2);
	advance_to(w, 100);
	advance_to(w, 200);
	start(w, 1, 2, 4);
	advance_to(w, 220);
	finish(w);
	near(attained(w, 0)->config_s, 20);
	near(attained(w, 0)->gpus_s, 40);
	near(attained(w, 0)->window_frac, 0);
	assert_int_equal(ct_world_outcomes(w)[1].attain, 0);
	near(attained(w, 1)->window_frac, 1);
	ct_world_free(w);
	ct_workload_free(work);
}

/* 60 s of work: 0 to 30, in the queue until 150, 150 to 180. Windows from the first start:
 * 30, 0 and 30 of 60 s, none of which reaches .6; at .5 the first and the last do. */
static void windows_count_standing_still(void **state)
{
	(void)state;
	for (int half = 0; half < 2; half++) {
		struct ct_workload *work = workload(3, (double[]){ 0, 30, 150 }, (double[]){ 60, 1, 1 }, 1, 0);
		struct ct_world_spec spec = spec_of(work, half ? 0.5 : 0.6);
		struct ct_world *w = world(&spec);
		struct ct_err err = { 0 };

		advance_to(w, 0);
		start(w, 0, 0, 1);
		advance_to(w, 30);
		assert_int_equal(ct_world_preempt(w, 0, &err), 0);
		assert_int_equal(ct_world_reject(w, 1, CT_REASON_PLACEMENT, &err), 0);
		advance_to(w, 150);
		assert_int_equal(ct_world_reject(w, 2, CT_REASON_PLACEMENT, &err), 0);
		start(w, 0, 0, 1);
		advance_to(w, 180);
		finish(w);
		near(attained(w, 0)->window_frac, half ? 2.0 / 3 : 0);
		ct_world_free(w);
		ct_workload_free(work);
	}
}

/* The same words in a row are kept once; a job that got or lost GPUs says them again. */
static void reasons_are_noted_once(void **state)
{
	struct ct_workload *work = workload(2, (double[]){ 0, 10 }, (double[]){ 60, 5 }, 1, 0);
	struct ct_world_spec spec = spec_of(work, 0.6);
	struct ct_world *w = world(&spec);
	struct ct_err err = { 0 };

	(void)state;
	advance_to(w, 0);
	ct_world_note(w, 0, 3, CT_NONE, 1, 2);
	ct_world_note(w, 0, 3, CT_NONE, 5, 6);
	assert_int_equal(ct_world_log(w)->n_decisions, 1);
	ct_world_note(w, 0, 4, CT_NONE, 1, 2);
	ct_world_note(w, 0, 3, CT_NONE, 1, 2);
	assert_int_equal(ct_world_log(w)->n_decisions, 3);
	start(w, 0, 0, 1);
	advance_to(w, 10);
	assert_int_equal(ct_world_preempt(w, 0, &err), 0);
	ct_world_note(w, 0, 3, CT_NONE, 1, 2);
	ct_world_note(w, 0, 3, 1, 1, 2);
	assert_int_equal(ct_world_log(w)->n_decisions, 5);
	assert_int_equal(ct_world_log(w)->decision[4].other, 1);
	assert_int_equal(ct_world_log(w)->decision[4].time, 10 * S);
	ct_world_free(w);
	ct_workload_free(work);
}

static void nothing_is_kept_unasked(void **state)
{
	struct ct_workload *work = workload(2, pair_submit, pair_duration, 1, 0);
	struct ct_world_spec spec = spec_of(work, 0.6);
	struct ct_world *w;

	(void)state;
	spec.contention = &pair_truth;
	spec.record_decisions = false;
	w = pair(&spec);
	assert_int_equal(ct_world_log(w)->n_stretches + ct_world_log(w)->n_decisions, 0);
	near(attained(w, 0)->slowdown_s, 20);
	ct_world_free(w);
	ct_workload_free(work);
}

static int64_t cell(const struct ct_frame *f, const char *column, size_t row)
{
	const struct ct_column *c = ct_frame_column(f, column);

	assert_non_null(c);
	return ct_cell_i64(c, row);
}

static void through_a_file(const struct ct_result *r, struct ct_result *back)
{
	char path[] = "/tmp/cotenant-log-XXXXXX";
	struct ct_err err = { 0 };

	close(mkstemp(path));
	if (ct_result_write_h5(r, path, &err) || ct_result_read_h5(path, back, &err))
		fail_msg("%s", err.text);
	unlink(path);
}

/* The log, its words and its placements survive a file; they are no part of the digest. */
static void the_log_in_a_file(void **state)
{
	const char *const name[] = { "gang", "preempted" }, *const text[] = { "%a of %b", "for %j" };
	const int waits[] = { 1, 0 };
	struct ct_workload *work = workload(2, (double[]){ 0, 10 }, (double[]){ 60, 5 }, 1, 0);
	struct ct_world_spec spec = spec_of(work, 0.6);
	struct ct_result r = { 0 }, back;
	char digest[CT_DIGEST_TEXT];
	struct ct_world *w = world(&spec);
	struct ct_err err = { 0 };

	(void)state;
	advance_to(w, 0);
	ct_world_note(w, 0, 0, CT_NONE, 1, 0.5);
	start(w, 0, 0, 1);
	advance_to(w, 10);
	ct_world_note(w, 0, 1, 1, 0, 0);
	assert_int_equal(ct_world_preempt(w, 0, &err), 0);
	start(w, 1, 0, 1);
	advance_to(w, 15);
	start(w, 0, 0, 1);
	advance_to(w, 65);
	finish(w);
	ct_result_from_world(&r, w);
	ct_result_add_reasons(&r, name, text, waits, 2);
	ct_result_seal(&r, "", "");
	through_a_file(&r, &back);
	assert_int_equal(back.decisions.n_rows, 2);
	assert_int_equal(cell(&back.decisions, "time", 1), 10 * S);
	assert_int_equal(cell(&back.decisions, "job", 1), 0);
	assert_int_equal(cell(&back.decisions, "other", 0), -1);
	assert_int_equal(cell(&back.decisions, "other", 1), 1);
	assert_true(ct_cell_f64(ct_frame_column(&back.decisions, "b"), 0) == 0.5);
	assert_string_equal(ct_cell_text(ct_frame_column(&back.reasons, "text"), 1), "for %j");
	assert_int_equal(cell(&back.reasons, "waits", 0), 1);
	assert_int_equal(back.stretches.n_rows, 2);
	assert_string_equal(ct_cell_text(ct_frame_column(&back.stretches, "kind"), 0), "preempt");
	assert_string_equal(ct_cell_text(ct_frame_column(&back.stretches, "gpus"), 0), "0");
	assert_string_equal(ct_cell_text(ct_frame_column(&back.stretches, "kind"), 1), "start");
	assert_int_equal(cell(&back.stretches, "time", 1), 15 * S);
	assert_string_equal(ct_result_get(&back, CT_RESULT_MANIFEST, "node_gpus"), "1x4");
	ct_result_fini(&back);
	/* the same without them */
	r.decisions = r.reasons = r.stretches = (struct ct_frame){ 0 };
	ct_result_digest(&r, digest);
	assert_string_equal(digest, r.digest);
	ct_result_fini(&r);
	ct_world_free(w);
	ct_workload_free(work);
}

/* Nobody waited, nothing changed: the frames are there, without rows. */
static void an_empty_log_in_a_file(void **state)
{
	struct ct_workload *work = workload(1, (double[]){ 0 }, (double[]){ 60 }, 1, 0);
	struct ct_world_spec spec = spec_of(work, 0.6);
	struct ct_world *w = world(&spec);
	struct ct_result r = { 0 }, back;

	(void)state;
	advance_to(w, 0);
	start(w, 0, 0, 1);
	advance_to(w, 60);
	finish(w);
	ct_result_from_world(&r, w);
	ct_result_seal(&r, "", "");
	through_a_file(&r, &back);
	assert_int_equal(back.decisions.n_rows + back.stretches.n_rows + back.reasons.n_rows, 0);
	assert_true(back.decisions.n_columns > 0);
	ct_result_fini(&back);
	ct_result_fini(&r);
	ct_world_free(w);
	ct_workload_free(work);
}

/* Long enough for blocks of rows: one job starts and gives way, on three placements in turn. */
static void a_long_log_in_a_file(void **state)
{
	enum { TURNS = 3000 };
	static const uint32_t gpus[3][2] = { { 0, 1 }, { 0, 3 }, { 2, 3 } };
	static const char *const text[3] = { "0-1", "0 3", "2-3" };
	struct ct_workload *work = workload(1, (double[]){ 0 }, (double[]){ 60 }, 2, 0);
	struct ct_world_spec spec = spec_of(work, 0.6);
	struct ct_world *w = world(&spec);
	struct ct_result r = { 0 }, back;
	struct ct_err err = { 0 };

	(void)state;
	advance_to(w, 0);
	for (uint32_t k = 0; k <= TURNS; k++) {
		ct_world_note(w, 0, k % 2, CT_NONE, k, k * 0.25);
		assert_int_equal(ct_world_start(w, 0, 0, gpus[k % 3], 2, &err), 0);
		if (k < TURNS) {
			assert_int_equal(ct_world_preempt(w, 0, &err), 0);
		}
	}
	advance_to(w, 60);
	finish(w);
	ct_result_from_world(&r, w);
	ct_result_seal(&r, "", "");
	through_a_file(&r, &back);
	assert_int_equal(back.decisions.n_rows, TURNS + 1);
	assert_int_equal(back.stretches.n_rows, 2 * TURNS);
	for (uint32_t k = 0; k < TURNS; k++) {
		const struct ct_frame *f = &back.stretches;

		assert_int_equal(cell(&back.decisions, "why", k), k % 2);
		assert_true(ct_cell_f64(ct_frame_column(&back.decisions, "a"), k) == k);
		assert_true(ct_cell_f64(ct_frame_column(&back.decisions, "b"), k) == k * 0.25);
		assert_string_equal(ct_cell_text(ct_frame_column(f, "kind"), 2 * k), "preempt");
		assert_string_equal(ct_cell_text(ct_frame_column(f, "gpus"), 2 * k), text[k % 3]);
		assert_string_equal(ct_cell_text(ct_frame_column(f, "kind"), 2 * k + 1), "start");
		assert_string_equal(ct_cell_text(ct_frame_column(f, "gpus"), 2 * k + 1), "");
		assert_int_equal(cell(f, "partner", 2 * k), -1);
	}
	ct_result_fini(&back);
	ct_result_fini(&r);
	ct_world_free(w);
	ct_workload_free(work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_down_as_predicted_and_beyond),
		cmocka_unit_test(without_belief_nothing_is_said_of_predictions),
		cmocka_unit_test(slow_downs_of_gangs_and_others),
		cmocka_unit_test(the_log_tells_company),
		cmocka_unit_test(slow_configurations_and_fewer_gpus),
		cmocka_unit_test(windows_count_standing_still),
		cmocka_unit_test(reasons_are_noted_once),
		cmocka_unit_test(nothing_is_kept_unasked),
		cmocka_unit_test(the_log_in_a_file),
		cmocka_unit_test(an_empty_log_in_a_file),
		cmocka_unit_test(a_long_log_in_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
