/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How sure the calibration is. Expected values: Sherman and Morrison's inverse, sampling
 * theory of normal variables, widths that another program found for the same table. */
#include "calib/alter.h"
#include "calib/csv_table.h"
#include "calib/fit.h"
#include "calib/posterior.h"
#include "calib/table6.h"
#include "sim/memory.h"

#include <gsl/gsl_errno.h>
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

#define DIR "calib/a100-40gb"

/* ---- the covariance of a fit */

/* Beside a partner without demand S = 1 + m whatever else; m = .5 exp(a t0 + b t1). */
#define M0   .5
#define A    .3
#define B    -.7
#define SEEN .05

static void expand(const void *ctx, const double *t, struct ct_slowdown_params *s, struct ct_demand *demand)
{
	(void)ctx;
	s->m = M0 * exp(A * t[0] + B * t[1]);
	s->guard = 0;
	demand[0] = demand[1] = (struct ct_demand){ .weight = 1 };
}

/* Measured without error at t = 0, n decays: J'J = n g g' with g = m / (1 + m) / sigma (a, b, 0),
 * and (I + n g g')^-1 = I - n g g' / (1 + n g'g). The third unknown is in no pair. */
static void covariance_of_a_fit(void **state)
{
	const struct ct_fit_model m = { .n = 3, .n_configs = 2, .resources = CT_RESOURCES, .expand = expand };
	const struct ct_fit_pair pair[] = { { 0, 1, 1 + M0, 1 + M0 }, { 0, 1, 1 + M0, NAN } };
	const double scale = M0 / (1 + M0) / SEEN, g[3] = { A * scale, B * scale, 0 }, n = 3;
	const double gg = g[0] * g[0] + g[1] * g[1];
	struct ct_err err = { 0 };
	struct ct_fit_result r;

	(void)state;
	assert_int_equal(ct_fit(&m, pair, 2, SEEN, NULL, &r, &err), 0);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			double want = (i == j) - n * g[i] * g[j] / (1 + n * gg);

			if (!(fabs(r.covariance[3 * i + j] - want) < 1e-6))
				fail_msg("%d, %d: %.9g, wanted %.9g", i, j, r.covariance[3 * i + j], want);
		}
	ct_fit_result_fini(&r);
}

/* ---- draws */

enum { DRAWS = 40000 };

/* Means and covariances of n draws have standard errors sqrt(c_ii / n) and
 * sqrt((c_ii c_jj + c_ij^2) / n). */
static void draws_have_the_covariance(void **state)
{
	double c[9] = { .09, -.03, 0, -.03, .04, .012, 0, .012, .01 }, mean[3] = { 0 }, sum[9] = { 0 };
	struct ct_posterior_unknown u[3] = { { .value = 1 } };
	struct ct_posterior p = { .unknown = u, .covariance = c, .n = 3 };
	struct ct_err err = { 0 };
	double x[3], again[3];

	(void)state;
	assert_int_equal(ct_posterior_draw(&p, 0, x, &err), 0);
	for (int i = 0; i < 3; i++)
		assert_true(x[i] >= 0 && x[i] <= 0);
	for (uint64_t k = 1; k <= DRAWS; k++) {
		assert_int_equal(ct_posterior_draw(&p, k, x, &err), 0);
		for (int i = 0; i < 3; i++) {
			mean[i] += x[i] / DRAWS;
			for (int j = 0; j < 3; j++)
				sum[3 * i + j] += x[i] * x[j] / DRAWS;
		}
	}
	assert_int_equal(ct_posterior_draw(&p, DRAWS, again, &err), 0);
	assert_memory_equal(x, again, sizeof x);
	for (int i = 0; i < 3; i++) {
		if (!(fabs(mean[i]) < 5 * sqrt(c[4 * i] / DRAWS)))
			fail_msg("mean of %d: %g", i, mean[i]);
		for (int j = 0; j < 3; j++)
			if (!(fabs(sum[3 * i + j] - c[3 * i + j]) <
			      5 * sqrt((c[4 * i] * c[4 * j] + c[3 * i + j] * c[3 * i + j]) / DRAWS)))
				fail_msg("%d, %d: %g, wanted %g", i, j, sum[3 * i + j], c[3 * i + j]);
	}
	c[1] = c[3] = 1; /* no covariance: more than the variances allow */
	assert_int_equal(ct_posterior_draw(&p, 1, x, &err), CT_ECONFIG);
}

/* ---- the files of the folder */

static void load(const char *path, struct ct_posterior *p)
{
	struct ct_err err = { 0 };

	if (ct_posterior_load(path, p, &err))
		fail_msg("%s", err.text);
}

static double sd_of(const struct ct_posterior *p, size_t i)
{
	return sqrt(p->covariance[i * p->n + i]);
}

/* The committed files are what the program makes of the committed table. */
static void files_are_the_fits(void **state)
{
	static const char *const path[] = { DIR "/posterior.csv", DIR "/posterior-blind.csv" };

	(void)state;
	for (int blind = 0; blind < 2; blind++) {
		struct ct_posterior file, now;
		struct ct_err err = { 0 };

		load(path[blind], &file);
		if (ct_posterior_fit(DIR, blind, &now, &err))
			fail_msg("%s", err.text);
		assert_int_equal(file.n, now.n);
		assert_int_equal(file.n, 54 + 15); /* of Table 6, and of three workloads that it has not */
		for (size_t i = 0; i < file.n; i++) {
			assert_string_equal(file.unknown[i].workload, now.unknown[i].workload);
			assert_string_equal(file.unknown[i].name, now.unknown[i].name);
			assert_true(fabs(file.unknown[i].value / now.unknown[i].value - 1) < 1e-6);
			for (size_t j = 0; j < file.n; j++)
				assert_true(fabs(file.covariance[i * file.n + j] - now.covariance[i * now.n + j]) <
					    1e-6 * sd_of(&now, i) * sd_of(&now, j));
		}
		ct_posterior_fini(&file);
		ct_posterior_fini(&now);
	}
}

/* Posterior over prior deviations by the prototype (scipy), of the 54 unknowns. */
static void widths_of_another_program(void **state)
{
	static const char *const column[] = { "prior_logsd", "post_over_prior_sd" };
	struct ct_posterior p;
	struct ct_err err = { 0 };
	struct ct_table t;
	size_t i = 0;

	(void)state;
	load(DIR "/posterior.csv", &p);
	assert_int_equal(ct_table_open(&t, "tests/data/calib/params_fit.csv", column, 2, CT_TABLE_KEEP_UNKNOWN, &err),
			 0);
	for (; ct_table_next(&t) == 1; i++)
		assert_true(fabs(sd_of(&p, i) / strtod(ct_table_cell(&t, 0).s, NULL) -
				 strtod(ct_table_cell(&t, 1).s, NULL)) < 0.01);
	assert_int_equal(ct_table_close(&t), 0);
	assert_int_equal(i, 54);
	ct_posterior_fini(&p);
}

static void damaged_files(void **state)
{
	static const char head[] = "workload,name,value,with_workload,with_name,covariance\n";
	static const struct {
		const char *rows, *place;
	} bad[] = { { "A,sm,1,A,sm,x\n", ":2:13: 'covariance' wants a number" },
		    { "A,sm,1,A,sm,0\n", ":2:6: an unknown wants a value and a variance above 0" },
		    { "A,sm,-1,A,sm,1\n", ":2:6: an unknown wants a value" },
		    { "A,sm,,A,sm,1\n", ":2:6: an unknown wants a value" },
		    { "A,sm,1,A,sm,1\nA,sm,1,A,sm,1\n", ":3: wanted two unknowns" },
		    { "A,sm,1,A,sm,1\nB,sm,,A,sm,.1\n", ":3: wanted two unknowns" },
		    { "A,sm,1,A,sm,1\nB,sm,1,B,sm,1\nB,sm,,A,sm,.1\nA,sm,,B,sm,.1\n", ":5: wanted two unknowns" } };
	char path[] = "/tmp/test_posterior.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ct_posterior p;
		struct ct_err err = { 0 };
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fprintf(f, "%s%s", head, bad[i].rows);
		assert_int_equal(fclose(f), 0);
		assert_int_equal(ct_posterior_load(path, &p, &err), CT_ECONFIG);
		if (!strstr(err.text, bad[i].place))
			fail_msg("%zu: %s", i, err.text);
	}
	close(fd);
	unlink(path);
}

/* ---- altered worlds */

struct altered {
	struct ct_profiles *set;
	struct ct_slowdown_params s;
};

static struct altered alter(const struct ct_alteration *a)
{
	struct altered x = { .s = ct_slowdown_published() };
	struct ct_err err = { 0 };

	if (ct_profiles_load(DIR, &x.set, &err) || ct_alter(a, DIR, x.set, &x.s, &err))
		fail_msg("%s", err.text);
	return x;
}

static double base_of(const struct altered *x, const char *workload, const char *name)
{
	const struct ct_workload_base *b = &ct_profiles_find(x->set, workload)->base;

	return !strcmp(name, "sm")       ? b->sm
	       : !strcmp(name, "occ")    ? b->occ
	       : !strcmp(name, "dram")   ? b->dram
	       : !strcmp(name, "tensor") ? b->tensor
					 : b->host;
}

static void draw_0_is_the_best_fit(void **state)
{
	struct altered x = alter(&(struct ct_alteration){ .draw = 0 }), plain = { .s = ct_slowdown_published() };
	struct ct_err err = { 0 };

	(void)state;
	assert_int_equal(ct_profiles_load(DIR, &plain.set, &err), 0);
	assert_memory_equal(&x.s, &plain.s, sizeof x.s);
	assert_int_equal(x.set->n_profiles, plain.set->n_profiles);
	assert_memory_equal(x.set->profile, plain.set->profile, x.set->n_profiles * sizeof *x.set->profile);
	assert_string_equal(x.set->digest, plain.set->digest);
	ct_profiles_free(x.set);
	ct_profiles_free(plain.set);
}

/* A draw multiplies each number by its own exp(x), and profiles follow from the numbers. */
static void draws_are_worlds_of_their_own(void **state)
{
	struct altered best = alter(&(struct ct_alteration){ 0 }), one = alter(&(struct ct_alteration){ .draw = 1 }),
		       again = alter(&(struct ct_alteration){ .draw = 1 }),
		       two = alter(&(struct ct_alteration){ .draw = 2 });
	struct ct_posterior p;
	struct ct_err err = { 0 };
	size_t counters = 0;
	double *x;

	(void)state;
	load(DIR "/posterior.csv", &p);
	x = ct_calloc(p.n, sizeof *x);
	assert_int_equal(ct_posterior_draw(&p, 1, x, &err), 0);
	for (size_t i = 0; i < p.n; i++) {
		const struct ct_posterior_unknown *u = &p.unknown[i];

		if (!strcmp(u->workload, "*"))
			continue;
		counters++;
		assert_true(fabs(log(base_of(&one, u->workload, u->name) / base_of(&best, u->workload, u->name)) -
				 x[i]) < 1e-12);
	}
	assert_int_equal(counters, 12 * 5);
	assert_true(fabs(log(one.s.p / best.s.p) - x[6]) < 1e-12);
	assert_true(fabs(log(one.set->knobs.pc_host / best.set->knobs.pc_host) - x[8]) < 1e-12);
	for (uint32_t i = 0; i < one.set->n_profiles; i++) {
		struct ct_profile q = best.set->profile[i];

		ct_profile_fill(&one.set->knobs, &one.set->model[q.workload], &q);
		assert_memory_equal(&q, &one.set->profile[i], sizeof q);
	}
	assert_string_equal(one.set->digest, again.set->digest);
	assert_string_not_equal(one.set->digest, best.set->digest);
	assert_string_not_equal(one.set->digest, two.set->digest);
	assert_memory_not_equal(&one.s, &two.s, sizeof one.s);
	free(x);
	ct_posterior_fini(&p);
	ct_profiles_free(best.set);
	ct_profiles_free(one.set);
	ct_profiles_free(again.set);
	ct_profiles_free(two.set);
}

/* The specification's prototype: this prior fits the table with an MAE of .053 (its own idea of
 * the share of idle time of the four models for inference is not known, hence the margin),
 * 1 - g where nothing was measured. */
static void blind_host(void **state)
{
	struct altered x = alter(&(struct ct_alteration){ .blind_host = 1 });
	struct ct_table6 *t = ct_calloc(1, sizeof *t);
	double s[CT_TABLE6_PAIRS][2];
	struct ct_fit_score score;
	struct ct_err err = { 0 };

	(void)state;
	assert_true(fabs(base_of(&x, "DCGAN", "host") - (1 - .75)) < 1e-12);
	assert_true(fabs(base_of(&x, "PointNet", "host") - (1 - .12)) < 1e-12);
	assert_int_equal(ct_table6_load(DIR, x.set, t, &err), 0);
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		s[i][0] = ct_slowdown(&x.s, t->config[t->pair[i].a], t->config[t->pair[i].b]);
		s[i][1] = ct_slowdown(&x.s, t->config[t->pair[i].b], t->config[t->pair[i].a]);
	}
	score = ct_fit_score(t->pair, t->n_pairs, (const double(*)[2])s);
	printf("blind prior of host pressure: MAE %.4f, MAPE %.2f %%\n", score.mae, score.mape);
	assert_true(fabs(score.mae - .053) < .006);
	free(t);
	ct_profiles_free(x.set);
}

static void single_changes(void **state)
{
	struct altered best = alter(&(struct ct_alteration){ 0 }),
		       x = alter(&(struct ct_alteration){ .change = "sm=*0.5,host@BERT=0.25, c_H=*2, rho0@*=0.25" }),
		       half = alter(&(struct ct_alteration){ .default_batch = 0.5 });

	(void)state;
	for (uint32_t i = 0; i < best.set->n_models; i++) {
		const struct ct_workload_model *was = &best.set->model[i], *now = &x.set->model[i],
					       *h = &half.set->model[i];

		assert_true(fabs(now->base.sm / was->base.sm - .5) < 1e-15);
		if (strcmp(was->name, "BERT") != 0)
			assert_memory_equal(&now->base.host, &was->base.host, sizeof(double));
		assert_int_equal(h->profile[h->default_profile].batch, was->profile[was->default_profile].batch / 2);
		assert_int_equal(h->profile[h->default_profile].seqlen, was->profile[was->default_profile].seqlen);
		assert_int_equal(h->profile[h->default_profile].amp, 0);
	}
	assert_true(fabs(ct_profiles_find(x.set, "BERT")->base.host - .25) < 1e-15);
	assert_true(fabs(x.s.c[CT_RESOURCE_HOST] / best.s.c[CT_RESOURCE_HOST] - 2) < 1e-15);
	assert_true(fabs(x.set->knobs.rho0 - .25) < 1e-15);
	assert_string_not_equal(x.set->digest, best.set->digest);
	ct_profiles_free(best.set);
	ct_profiles_free(x.set);
	ct_profiles_free(half.set);
}

static void wrong_changes(void **state)
{
	static const struct {
		const char *change, *message;
	} wrong[] = { { "speed=2", "no number 'speed'" },
		      { "sm@BRET=2", "no number 'sm' of 'BRET'" },
		      { "g=*9", "'g' of 'ResNet-50' wants 0.001 to 1" },
		      { "batch_hi=8", "decides which configurations there are" },
		      { "beta=2", "at most 1" },
		      { "c_H@BERT=2", "no workload's own" },
		      { "p=0", "wants more than 0" },
		      { "mem_lo@BERT=99", "more than mem_hi" },
		      { "sm", "wants NAME=VALUE" } };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct altered x = { .s = ct_slowdown_published() };
		struct ct_err err = { 0 };

		assert_int_equal(ct_profiles_load(DIR, &x.set, &err), 0);
		assert_int_equal(ct_alter(&(struct ct_alteration){ .change = wrong[i].change }, DIR, x.set, &x.s, &err),
				 CT_ECONFIG);
		if (!strstr(err.text, wrong[i].message))
			fail_msg("'%s': %s", wrong[i].change, err.text);
		ct_profiles_free(x.set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(covariance_of_a_fit),
		cmocka_unit_test(draws_have_the_covariance),
		cmocka_unit_test(files_are_the_fits),
		cmocka_unit_test(widths_of_another_program),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(draw_0_is_the_best_fit),
		cmocka_unit_test(draws_are_worlds_of_their_own),
		cmocka_unit_test(blind_host),
		cmocka_unit_test(single_changes),
		cmocka_unit_test(wrong_changes),
	};

	gsl_set_error_handler_off();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
