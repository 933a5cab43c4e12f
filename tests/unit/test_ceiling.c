/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ceiling of packing: where the linear program can be solved by hand. */
#include "experiments/repro/ceiling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

struct world {
	struct ct_workload *w;
	struct ct_truth *t;
};

static void make(struct world *x, const char *const *model, const int64_t *seconds, size_t n)
{
	const struct ct_truth_options o = { .dir = "calib/a100-40gb" };
	struct ct_err err = { 0 };

	x->w = ct_workload_new();
	for (size_t i = 0; i < n; i++) {
		struct ct_job job = CT_JOB_INIT;
		char id[2] = { (char)('a' + i), 0 };

		job.id = ct_workload_text(x->w, id, 1);
		job.duration_us = seconds[i] * CT_SECOND;
		job.model = ct_strings_add(&x->w->strings, model[i], strlen(model[i]));
		ct_workload_add(x->w, &job);
	}
	assert_int_equal(ct_workload_seal(x->w, &err), 0);
	if (ct_truth_new(&o, x->w, &x->t, &err))
		fail_msg("%s", err.text);
}

static void drop(struct world *x)
{
	ct_truth_free(x->t);
	ct_workload_free(x->w);
}

static double ceiling(const struct world *x, uint32_t mem_mib, double window_gpu_s)
{
	struct ct_err err = { 0 };
	double l = NAN;

	if (ct_ceiling(x->t, x->w, mem_mib, window_gpu_s, &l, &err))
		skip(); /* without GLPK */
	return l;
}

static uint32_t kind_of(const struct world *x, uint32_t job)
{
	const struct ct_family *f = ct_truth_families(x->t)[job];

	return f->config[f->default_config].kind;
}

static void same(double a, double b)
{
	if (fabs(a - b) > 1e-9)
		fail_msg("%.12g is not %.12g", a, b);
}

/* Nothing fits beside anything: each GPU does one job's work, as long as there is some. */
static void test_no_room(void **state)
{
	static const char *const models[] = { "NCF", "BERT" };
	static const int64_t seconds[] = { 100, 300 };
	struct world x;

	(void)state;
	make(&x, models, seconds, 2);
	same(ceiling(&x, 1, 200), 1);
	same(ceiling(&x, 1, 800), .5);
	drop(&x);
}

/* One workload: alone, or two of it at 2 / S. */
static void test_one_workload(void **state)
{
	static const char *const models[] = { "NCF" };
	static const int64_t seconds[] = { 100 };
	struct world x;

	(void)state;
	make(&x, models, seconds, 1);
	same(ceiling(&x, 1 << 20, 10), fmax(1, 2 / ct_truth_slowdown(x.t, kind_of(&x, 0), kind_of(&x, 0))));
	drop(&x);
}

/* Two workloads with room for NCF beside PPO (16 + 24 GB) and NCF twice (32 GB), not for PPO
 * twice (48 GB), and little of NCF: over a grid of how the time is split between the pairs,
 * the rest going to singles, NCF first. */
static void test_two_workloads(void **state)
{
	static const char *const models[] = { "NCF", "PPO" };
	static const int64_t seconds[] = { 100, 300 };
	struct world x;
	uint32_t n, p, room;
	const double window = 1000 / 3., a = .3, b = .9;
	double rn, rp, best = 0;

	(void)state;
	make(&x, models, seconds, 2);
	n = kind_of(&x, 0);
	p = kind_of(&x, 1);
	room = ct_truth_kind(x.t, n).profile->fb_mib + ct_truth_kind(x.t, p).profile->fb_mib;
	rn = 1 / ct_truth_slowdown(x.t, n, p);
	rp = 1 / ct_truth_slowdown(x.t, p, n);
	for (int i = 0; i <= 1000; i++)
		for (int k = 0; i + k <= 1000; k++) {
			double y = i / 1000., z = k / 1000., rest = 1 - y - z, s = ct_truth_slowdown(x.t, n, n);
			double done_n = y * rn + z * 2 / s, done_p = y * rp, u, l;

			u = fmin(fmax(a - done_n, 0), rest);
			l = fmin(done_n + u, a) + fmin(done_p + rest - u, b);
			best = fmax(best, l);
		}
	if (fabs(ceiling(&x, room, window) - best) > 2e-3)
		fail_msg("%g, by search %g", ceiling(&x, room, window), best);
	drop(&x);
}

static void test_no_family(void **state)
{
	static const char *const models[] = { "unheard-of" };
	static const int64_t seconds[] = { 100 };
	struct ct_err err = { 0 };
	struct world x;
	double l;

	(void)state;
	make(&x, models, seconds, 1);
	assert_int_equal(ct_ceiling(x.t, x.w, 40448, 100, &l, &err), CT_ECONFIG);
	drop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_one_workload),
		cmocka_unit_test(test_two_workloads),
		cmocka_unit_test(test_no_family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
