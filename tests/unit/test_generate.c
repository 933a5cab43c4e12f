/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The PAI-like generator against its recipe (specs/pai.md, section 6; the numbers in
 * traces/data/pai.csv), and workload names by weights. The three figures that the
 * recipe states are computed here from the jobs alone; the other marginals go through
 * ct_generate_check(), which another test shows to notice a workload that is wrong. */
#include "traces/assign.h"
#include "traces/generate.h"
#include "traces/pai.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONSTANTS "traces/data/pai.csv"

static struct ct_workload *make(uint64_t jobs, double days, uint64_t seed)
{
	const struct ct_generate_options o = { .jobs = jobs, .days = days, .seed = seed, .constants = CONSTANTS };
	struct ct_workload *w = NULL;
	struct ct_err err = { 0 };

	if (ct_generate(ct_generator_find("pai"), &o, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static void check(const struct ct_workload *w, struct ct_marginals *m)
{
	const struct ct_generate_options o = { .constants = CONSTANTS };
	struct ct_err err = { 0 };

	if (ct_generate_check(ct_generator_find("pai"), &o, w, m, &err))
		fail_msg("%s", err.text);
}

static void test_recipe(void **state)
{
	struct ct_marginals m = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct ct_workload *w = make(100000, 28, seed);

		check(w, &m);
		for (size_t i = 0; i < m.n; i++)
			if (!(m.row[i].distance <= m.row[i].limit))
				fail_msg("seed %d: %s: %g, limit %g", (int)seed, m.row[i].name, m.row[i].distance,
					 m.row[i].limit);
		assert_true(m.n >= 20);
		ct_marginals_fini(&m);
		ct_workload_free(w);
	}
}

static void test_stated_figures(void **state)
{
	static const double quartile_hours[] = { 3, 22 }; /* the recipe's least and a late hour: .58, .78 of the mean */
	struct ct_workload *w = make(200000, 69, 7);
	double *run = calloc(w->n, sizeof *run), gpu = 0, shared = 0, hour[24] = { 0 };

	(void)state;
	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];

		run[i] = ct_seconds(j->duration_us);
		gpu += j->num_gpus > 0;
		shared += j->num_gpus > 0 && j->gpu_milli < 1000;
		hour[j->submit_us / (3600 * CT_SECOND) % 24]++;
	}
	gsl_sort(run, 1, w->n);
	assert_true(fabs(shared / gpu - .544) < .005);
	assert_true(fabs(run[w->n / 2] / 526 - 1) < .05);
	/* 1087, 449, 606 tasks of 18,550 a day (medians over days) */
	assert_true(fabs(hour[0] / (double)w->n - 1087 / 18550.0) < .006);
	assert_true(fabs(hour[(int)quartile_hours[0]] / (double)w->n - 449 / 18550.0) < .004);
	assert_true(fabs(hour[(int)quartile_hours[1]] / (double)w->n - 606 / 18550.0) < .005);
	free(run);
	ct_workload_free(w);
}

static void test_same_seed_same_jobs(void **state)
{
	struct ct_workload *a = make(5000, 2, 3), *b = make(5000, 2, 3), *c = make(5000, 2, 4);

	(void)state;
	assert_string_equal(a->digest, b->digest);
	assert_string_not_equal(a->digest, c->digest);
	assert_true(a->jobs[a->n - 1].submit_us < 2 * 86400 * CT_SECOND);
	ct_workload_free(a);
	ct_workload_free(b);
	ct_workload_free(c);
}

static void test_amounts(void **state)
{
	const struct ct_generate_options days = { .days = 7, .gpus = 674.2, .seed = 1, .constants = CONSTANTS };
	const struct ct_generate_options nothing = { .seed = 1, .constants = CONSTANTS };
	struct ct_workload *w = NULL;
	struct ct_err err = { 0 };

	(void)state;
	for (uint64_t n = 1; n <= 9; n += 4) {
		w = make(n, 0, 1);
		assert_int_equal(w->n, n);
		ct_workload_free(w);
	}
	/* a tenth of 638 jobs an hour for a week: 10,718; hours vary by 35 %, so 3 % in all */
	assert_int_equal(ct_generate(ct_generator_find("pai"), &days, &w, &err), 0);
	assert_true(fabs((double)w->n - 10718) < 4 * .03 * 10718);
	ct_workload_free(w);
	assert_int_equal(ct_generate(ct_generator_find("pai"), &nothing, &w, &err), CT_ECONFIG);
}

/* The check is no rubber stamp: shares, run times and arrivals that are wrong are seen. */
static int exceeded(struct ct_workload *w, const char *name)
{
	struct ct_marginals m = { 0 };
	int found = -1;

	check(w, &m);
	for (size_t i = 0; i < m.n; i++)
		if (strcmp(m.row[i].name, name) == 0)
			found = m.row[i].distance > m.row[i].limit;
	ct_marginals_fini(&m);
	return found;
}

static void test_check_notices(void **state)
{
	struct ct_workload *w = make(20000, 14, 1);

	(void)state;
	assert_int_equal(exceeded(w, "run time MISC"), 0);
	assert_int_equal(exceeded(w, "hour of the day"), 0);
	for (size_t i = 0; i < w->n; i++)
		w->jobs[i].duration_us += w->jobs[i].duration_us / 3;
	assert_int_equal(exceeded(w, "run time MISC"), 1);
	assert_int_equal(exceeded(w, "median run time"), 1);
	for (size_t i = 0; i < w->n; i++)
		w->jobs[i].submit_us += 6 * 3600 * CT_SECOND;
	assert_int_equal(exceeded(w, "hour of the day"), 1);
	ct_workload_free(w);
}

/* ---- files that are wrong */

static const char *scratch(char path[64], const char *text)
{
	int fd;

	strcpy(path, "/tmp/cotenant-generate-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return path;
}

static void test_constants_are_checked(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "is empty" },
		{ "name,value\n", "wanted the header" },
		{ "name,at,value,kind,source\nx,,1,guess,s\n", ":2:6: 'kind' wants paper, measured or assumed" },
		{ "name,at,value,kind,source\nx,,abc,paper,s\n", ":2:4: 'value' wants a number" },
		{ "name,at,value,kind,source\nx,,1,paper,\n", "wants a name and a source" },
		{ "name,at,value,kind,source\nx,1,1,paper,s\nx,1,2,paper,s\n", ":3:3: 'x' has '1' twice" },
		{ "name,at,value,kind,source\nx,1,1,paper,s\n", "'hour_weight' is missing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char path[64];
		struct ct_generate_options o = { .jobs = 10, .constants = scratch(path, bad[i].text) };
		struct ct_workload *w = NULL;
		struct ct_err err = { 0 };

		assert_int_equal(ct_generate(ct_generator_find("pai"), &o, &w, &err), CT_ECONFIG);
		if (!strstr(err.text, bad[i].message))
			fail_msg("%zu: %s", i, err.text);
		unlink(path);
	}
}

/* ---- workload names */

#define HEAD "model,weight,kind,min_duration,max_duration,min_gpus,max_gpus,source\n"

static struct ct_workload *plain_jobs(uint32_t n, uint32_t step)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (uint32_t i = 0; i < n; i += step) {
		struct ct_job j = CT_JOB_INIT;
		char id[16];

		j.id = ct_workload_text(w, id, (size_t)snprintf(id, sizeof id, "%u", i));
		j.submit_us = i * CT_SECOND;
		j.duration_us = (i % 2 ? 1000 : 10) * CT_SECOND;
		j.model = i % 10 == 0 ? ct_strings_add(&w->strings, "given", 5) : 0;
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static struct ct_workload *assigned(const struct ct_workload *w, const char *text, uint64_t seed)
{
	struct ct_workload *out = NULL;
	struct ct_err err = { 0 };
	char path[64];
	int rc = ct_trace_assign(w, scratch(path, text), seed, &out, &err);

	unlink(path);
	if (rc)
		fail_msg("%s", err.text);
	return out;
}

static const char *model(const struct ct_workload *w, size_t i)
{
	return ct_strings_text(&w->strings, w->jobs[i].model);
}

static void test_assigns_by_weight(void **state)
{
	static const char text[] = HEAD "a,3,,,,,,s\nb,1,,,,,,s\n";
	struct ct_workload *w = plain_jobs(20000, 1), *x = assigned(w, text, 1), *y = assigned(w, text, 2);
	struct ct_workload *few = plain_jobs(20000, 3), *z = assigned(few, text, 1);
	double a = 0, differ = 0;

	(void)state;
	for (size_t i = 0; i < x->n; i++) {
		a += strcmp(model(x, i), "a") == 0;
		differ += strcmp(model(x, i), model(y, i)) != 0;
		if (i % 10 == 0)
			assert_string_equal(model(x, i), "given");
		if (i % 3 == 0) /* a job keeps its name when others are left out */
			assert_string_equal(model(x, i), model(z, i / 3));
	}
	assert_true(fabs(a / 18000 - .75) < 4 * sqrt(.75 * .25 / 18000));
	assert_true(fabs(differ / 18000 - 2 * .75 * .25) < .02);
	ct_workload_free(w);
	ct_workload_free(x);
	ct_workload_free(y);
	ct_workload_free(few);
	ct_workload_free(z);
}

static void test_assigns_what_fits(void **state)
{
	struct ct_workload *w = plain_jobs(100, 1);
	struct ct_workload *x = assigned(w, HEAD "long,1,,500,,,,s\nwide,9,,,,2,,s\n", 1);

	(void)state;
	for (size_t i = 0; i < x->n; i++)
		assert_string_equal(model(x, i), i % 10 == 0 ? "given" : i % 2 ? "long" : "");
	ct_workload_free(w);
	ct_workload_free(x);
}

static void test_assign_refuses(void **state)
{
	static const char *const bad[] = { "",
					   "model\n",
					   HEAD,
					   HEAD "a,0,,,,,,s\n",
					   HEAD "a,-1,,,,,,s\n",
					   HEAD "a,1\n",
					   HEAD ",1,,,,,,s\n",
					   HEAD "a,x,,,,,,s\n" };
	struct ct_workload *w = plain_jobs(10, 1), *out = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ct_err err = { 0 };
		char path[64];

		if (ct_trace_assign(w, scratch(path, bad[i]), 1, &out, &err) != CT_ECONFIG)
			fail_msg("%zu is not refused: %s", i, err.text);
		unlink(path);
	}
	ct_workload_free(w);
}

/* The reader's rule for inference is the generator's: one number, in the generator's file. */
static void test_rule_for_inference(void **state)
{
	const struct ct_trace_opt *o = ct_pai_opts;
	struct ct_constants *c = NULL;
	struct ct_err err = { 0 };

	(void)state;
	while (o->name && strcmp(o->name, "infer_below") != 0)
		o++;
	assert_non_null(o->name);
	assert_int_equal(ct_constants_load(CONSTANTS, &c, &err), 0);
	assert_float_equal(ct_constant(c, "infer_below", &err), strtod(o->standard, NULL), 0);
	ct_constants_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recipe),
		cmocka_unit_test(test_stated_figures),
		cmocka_unit_test(test_rule_for_inference),
		cmocka_unit_test(test_same_seed_same_jobs),
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_check_notices),
		cmocka_unit_test(test_constants_are_checked),
		cmocka_unit_test(test_assigns_by_weight),
		cmocka_unit_test(test_assigns_what_fits),
		cmocka_unit_test(test_assign_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
