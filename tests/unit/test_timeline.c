/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timelines of results written down by hand: who was where when is what the records say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { S = 1000000, MOST = 8 };

struct job {
	const char *id, *place;
	int64_t submit, start, finish, profile, queue, cold, run, preemptions; /* seconds; start, finish -1: none */
};

struct stretch {
	int64_t time, job;
	const char *kind, *gpus;
};

static void add_time(struct ct_result *r, const char *name, const int64_t *s, size_t n)
{
	int64_t us[MOST];

	for (size_t i = 0; i < n; i++)
		us[i] = s[i] < 0 ? CT_NO_TIME : s[i] * S;
	ct_frame_add_i64(&r->jobs, &r->arena, name, "s", CT_COLUMN_TIME, us);
}

#define ADD_TIME(r, name, member)                 \
	do {                                      \
		int64_t v_[MOST];                 \
                                                  \
		for (size_t i_ = 0; i_ < n; i_++) \
			v_[i_] = job[i_].member;  \
		add_time((r), (name), v_, n);     \
	} while (0)

static void make_jobs(struct ct_result *r, const struct job *job, size_t n)
{
	const char *id[MOST], *place[MOST];
	int64_t preemptions[MOST];
	const int64_t none[MOST] = { 0 };

	r->jobs.n_rows = n;
	for (size_t i = 0; i < n; i++) {
		id[i] = job[i].id;
		place[i] = job[i].place;
		preemptions[i] = job[i].preemptions;
	}
	ct_frame_add_text(&r->jobs, &r->arena, "job_id", CT_COLUMN_TEXT, id);
	ct_frame_add_text(&r->jobs, &r->arena, "allocated_resources", CT_COLUMN_TEXT, place);
	ct_frame_add_i64(&r->jobs, &r->arena, "preemptions", "", CT_COLUMN_I64, preemptions);
	ADD_TIME(r, "submission_time", submit);
	ADD_TIME(r, "starting_time", start);
	ADD_TIME(r, "finish_time", finish);
	ADD_TIME(r, "profile_s", profile);
	ADD_TIME(r, "queue_s", queue);
	ADD_TIME(r, "start_s", cold);
	ADD_TIME(r, "run_s", run);
	add_time(r, "pause_s", none, n);
	add_time(r, "switch_s", none, n);
}

static void make_stretches(struct ct_result *r, const struct stretch *s, size_t n)
{
	const char *kind[MOST], *gpus[MOST];
	int64_t time[MOST], job[MOST];

	r->stretches.n_rows = n;
	for (size_t i = 0; i < n; i++) {
		time[i] = s[i].time * S;
		job[i] = s[i].job;
		kind[i] = s[i].kind;
		gpus[i] = s[i].gpus;
	}
	ct_frame_add_i64(&r->stretches, &r->arena, "time", "s", CT_COLUMN_TIME, time);
	ct_frame_add_i64(&r->stretches, &r->arena, "job", "", CT_COLUMN_I64, job);
	ct_frame_add_text(&r->stretches, &r->arena, "kind", CT_COLUMN_CODE, kind);
	ct_frame_add_text(&r->stretches, &r->arena, "gpus", CT_COLUMN_TEXT, gpus);
}

/* "job node.gpu.lane from-to/gpus" of each slice; ~ for a share of the node. */
static void assert_slices(const struct ct_result *r, const char *want, size_t unknown)
{
	struct ct_timeline t;
	struct ct_err err = { 0 };
	char have[1024] = "";
	size_t at = 0;

	assert_int_equal(ct_timeline_make(&t, r, &err), CT_OK);
	for (size_t i = 0; i < t.n; i++) {
		const struct ct_slice *s = &t.slice[i];
		char gpu[16] = "~";

		if (s->gpu != CT_NO_GPU)
			snprintf(gpu, sizeof gpu, "%" PRIu32, s->gpu);
		at += (size_t)snprintf(have + at, sizeof have - at,
				       "%" PRIu32 " %" PRIu32 ".%s.%" PRIu32 " %" PRId64 "-%" PRId64 "/%" PRIu32 "\n",
				       s->job, s->node, gpu, s->lane, s->from / S, s->to / S, s->gpus);
	}
	assert_string_equal(have, want);
	assert_int_equal(t.unknown, unknown);
	ct_timeline_fini(&t);
}

static void moves_and_losses(void **state)
{
	/* a starts plainly on 0-1, moves to 4-5 at 10, is preempted at 20, resumes on 2 at 30, its
	 * node fails at 40, it resumes on 0-1 at 50 and ends at 60. */
	static const struct job job[] = { { .id = "a", .place = "0-1", .start = 0, .finish = 60, .preemptions = 2 } };
	static const struct stretch stretch[] = {
		{ 10, 0, "migrate", "0-1" }, { 10, 0, "run", "" }, { 20, 0, "preempt", "4-5" },
		{ 30, 0, "cold", "" },       { 33, 0, "run", "" }, { 40, 0, "failure", "2" },
		{ 50, 0, "cold", "" },
	};
	struct ct_result r = { 0 };

	(void)state;
	make_jobs(&r, job, 1);
	make_stretches(&r, stretch, sizeof stretch / sizeof *stretch);
	ct_result_add(&r, CT_RESULT_MANIFEST, "node_gpus", "1x4 1x2", 0);
	assert_slices(&r,
		      "0 0.0.0 0-10/2\n0 0.1.0 0-10/2\n0 1.4.0 10-20/2\n0 1.5.0 10-20/2\n0 0.2.0 30-40/1\n"
		      "0 0.0.0 50-60/2\n0 0.1.0 50-60/2\n",
		      0);
	ct_result_fini(&r);
}

static void profile_before_the_first_start(void **state)
{
	/* The profile run ends at 15, when the job also starts: on other GPUs. */
	static const struct job job[] = {
		{ .id = "a", .place = "3", .submit = 5, .start = 15, .finish = 40, .profile = 10 }
	};
	static const struct stretch stretch[] = { { 15, 0, "profile", "0" } };
	struct ct_result r = { 0 };

	(void)state;
	make_jobs(&r, job, 1);
	make_stretches(&r, stretch, 1);
	ct_result_add(&r, CT_RESULT_MANIFEST, "cluster", "2x2", 0);
	assert_slices(&r, "0 0.0.0 5-15/1\n0 1.3.0 15-40/1\n", 0);
	ct_result_fini(&r);
}

static void shares_get_lanes(void **state)
{
	/* Shares of node 1, at one time and one after the other; b's record says where it is. */
	static const struct job job[] = {
		{ .id = "a", .place = "0", .start = 0, .finish = 30 },
		{ .id = "b", .place = "", .start = 10, .finish = 30 },
		{ .id = "c", .place = "", .start = 20, .finish = 40 },
		{ .id = "d", .place = "0", .start = 10, .finish = 20 },
		{ .id = "e", .place = "", .start = 30, .finish = 50 },
	};
	static const struct stretch stretch[] = { { 10, 1, "start", "node 1" },
						  { 20, 2, "start", "node 1" },
						  { 30, 4, "start", "node 1" } };
	struct ct_result r = { 0 };

	(void)state;
	make_jobs(&r, job, 5);
	make_stretches(&r, stretch, 3);
	ct_result_add(&r, CT_RESULT_MANIFEST, "node_gpus", "2x1", 0);
	assert_slices(&r, "0 0.0.0 0-30/1\n3 0.0.1 10-20/1\n1 1.~.0 10-30/1\n2 1.~.1 20-40/1\n4 1.~.0 30-50/1\n", 0);
	ct_result_fini(&r);
}

static void without_records(void **state)
{
	/* c was on and off, d never started, e runs still: submitted at 5, 3 s queued, 20 s running so far. */
	static const struct job job[] = {
		{ .id = "a", .place = "0 2-3", .start = 0, .finish = 10 },
		{ .id = "c", .place = "1", .start = 0, .finish = 50, .preemptions = 1 },
		{ .id = "d", .place = "", .start = -1, .finish = -1, .queue = 28 },
		{ .id = "e", .place = "0", .submit = 5, .start = 8, .finish = -1, .queue = 3, .run = 20 },
	};
	struct ct_result r = { 0 };

	(void)state;
	make_jobs(&r, job, 4);
	assert_slices(&r, "0 0.0.0 0-10/3\n0 0.2.0 0-10/3\n0 0.3.0 0-10/3\n3 0.0.1 8-28/1\n", 1);
	ct_result_fini(&r);
}

static void places_are_checked(void **state)
{
	static const char *const bad[] = { "x", "1-", "3-1", "0 1x", "99999999999" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const struct job job[] = { { .id = "a", .place = bad[i], .start = 0, .finish = 10 } };
		struct ct_result r = { 0 };
		struct ct_timeline t;
		struct ct_err err = { 0 };

		make_jobs(&r, job, 1);
		assert_int_equal(ct_timeline_make(&t, &r, &err), CT_EIO);
		assert_null(t.slice);
		ct_result_fini(&r);
	}
}

static void no_jobs(void **state)
{
	struct ct_result r = { 0 };

	(void)state;
	assert_slices(&r, "", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_and_losses),   cmocka_unit_test(profile_before_the_first_start),
		cmocka_unit_test(shares_get_lanes),   cmocka_unit_test(without_records),
		cmocka_unit_test(places_are_checked), cmocka_unit_test(no_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
