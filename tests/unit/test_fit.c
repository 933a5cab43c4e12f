/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fit: to the paper's Table 6 within the limits of the specification, and to
 * synthetic pairs whose parameters are known. */
#include "calib/fit.h"

#include "calib/csv_table.h"
#include "calib/table6.h"
#include "sim/memory.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ct_profiles *set;
static struct ct_table6 table6;

static int load(void **state)
{
	struct ct_err err = { 0 };

	(void)state;
	if (ct_profiles_load("calib/a100-40gb", &set, &err) || ct_table6_load("calib/a100-40gb", set, &table6, &err))
		ct_err_print(&err, stderr);
	return (int)err.code;
}

static int unload(void **state)
{
	(void)state;
	ct_profiles_free(set);
	return 0;
}

/* What the calibration folder and the published parameters say. */
static double committed(const struct ct_table6_unknown *u)
{
	const struct ct_slowdown_params s = ct_slowdown_published();
	const double global[] = {
		s.m, s.beta, s.c[0], s.c[1], s.c[2], s.c[3], s.p, set->knobs.pc_dram, set->knobs.pc_host
	};
	const struct ct_workload_base *b;

	if (u->model == UINT32_MAX)
		return global[u->field];
	b = &set->model[u->model].base;
	return (const double[]){ b->sm, b->occ, b->dram, b->tensor, b->host }[u->field];
}

/* ---- the other program's fit of the same table */

enum { FIT_A, FIT_B, LOPO_A, LOPO_B, F_COLUMNS };
static const char *const fit_columns[F_COLUMNS] = { "fitA", "fitB", "lopoA", "lopoB" };

static void same_decays(double (*s)[2], size_t first)
{
	struct ct_err err = { 0 };
	struct ct_table t;
	int row = 0;

	assert_int_equal(
	    ct_table_open(&t, "tests/data/calib/table6_fit.csv", fit_columns, F_COLUMNS, CT_TABLE_KEEP_UNKNOWN, &err),
	    0);
	for (; ct_table_next(&t) == 1; row++)
		for (size_t side = 0; side < 2; side++)
			assert_true(fabs(1 / s[row][side] - strtod(ct_table_cell(&t, first + side).s, NULL)) < 0.002);
	assert_int_equal(ct_table_close(&t), 0);
	assert_int_equal(row, 18);
}

static void same_widths(const struct ct_fit_result *r)
{
	static const char *const column[] = { "post_over_prior_sd" };
	struct ct_err err = { 0 };
	struct ct_table t;
	uint32_t row = 0;

	assert_int_equal(ct_table_open(&t, "tests/data/calib/params_fit.csv", column, 1, CT_TABLE_KEEP_UNKNOWN, &err),
			 0);
	for (; ct_table_next(&t) == 1; row++)
		assert_true(fabs(r->width[row] - strtod(ct_table_cell(&t, 0).s, NULL)) < 0.01);
	assert_int_equal(ct_table_close(&t), 0);
	assert_int_equal(row, table6.n_unknowns);
}

/* Limits of the specification; the prototype had MAE .049, worst .185, LOPO .081. */
static void table_6_within_its_limits(void **state)
{
	struct ct_fit_model m = ct_table6_model(&table6);
	struct ct_err err = { 0 };
	struct ct_fit_result r;
	struct ct_fit_score score;
	double s[CT_TABLE6_PAIRS][2];

	(void)state;
	assert_int_equal(table6.n_pairs, 18);
	assert_int_equal(m.n, 54);
	assert_int_equal(ct_fit(&m, table6.pair, table6.n_pairs, 0.07, NULL, &r, &err), 0);
	assert_true(r.converged);
	ct_fit_predict(&m, r.t, table6.pair, table6.n_pairs, s);
	score = ct_fit_score(table6.pair, table6.n_pairs, (const double(*)[2])s);
	printf(
	    "table 6: MAE %.4f, MAPE %.2f %%, worst %.3f, R2 %.3f, Spearman %.3f, edf %.1f, cost %.4f, %u iterations\n",
	    score.mae, score.mape, score.worst, score.r2, score.spearman, r.freedom, r.cost, r.iterations);
	/* The committed base values are this fit's (made by another program). */
	for (uint32_t i = 0; i < m.n; i++)
		assert_true(fabs(log(ct_table6_value(&table6, i, r.t[i]) / committed(&table6.unknown[i]))) < 1e-3);
	same_decays(s, FIT_A);
	same_widths(&r);
	assert_int_equal(score.n, 36);
	assert_true(score.mae <= 0.055 && score.mape <= 8.5 && score.worst <= 0.20);
	assert_true(score.spearman >= 0.90);
	assert_int_equal(score.confused, 0);
	assert_int_equal(ct_fit_leave_one_out(&m, table6.pair, table6.n_pairs, 0.07, r.t, s, &err), 0);
	score = ct_fit_score(table6.pair, table6.n_pairs, (const double(*)[2])s);
	printf("leave one pair out: MAE %.4f, MAPE %.2f %%, worst %.3f, R2 %.3f\n", score.mae, score.mape, score.worst,
	       score.r2);
	assert_true(score.mae <= 0.085);
	same_decays(s, LOPO_A);
	ct_fit_result_fini(&r);
}

/* ---- synthetic pairs: what was put in comes out */

enum { SYN_CONFIGS = 60, SYN_PAIRS = 400 };

static void synthetic(const struct ct_fit_counters *c, const double *truth, struct ct_fit_pair *pair)
{
	struct ct_fit_model m = ct_fit_globals(c);
	double(*s)[2] = ct_calloc(SYN_PAIRS, sizeof *s);
	struct ct_stream k;

	ct_stream_init(&k, 3, CT_RANDOM_TEST, 2);
	for (int i = 0; i < SYN_PAIRS; i++) {
		pair[i].a = (uint32_t)gsl_rng_uniform_int(&k.rng, c->n_configs);
		pair[i].b = (uint32_t)gsl_rng_uniform_int(&k.rng, c->n_configs);
	}
	ct_fit_predict(&m, truth, pair, SYN_PAIRS, s);
	for (int i = 0; i < SYN_PAIRS; i++) {
		pair[i].s_a = s[i][0];
		pair[i].s_b = s[i][1];
	}
	free(s);
}

static void known_parameters_come_back(void **state)
{
	static const double truth[CT_GLOBALS] = { 0.5, -0.7, 1.2, -0.8, 0.6, 0.9, 0.8 };
	struct ct_fit_pair *pair = ct_calloc(SYN_PAIRS, sizeof *pair);
	const struct ct_profile *profile[SYN_CONFIGS];
	struct ct_fit_counters c = { profile, SYN_CONFIGS };
	struct ct_fit_model m = ct_fit_globals(&c);
	struct ct_err err = { 0 };
	struct ct_fit_result r;

	(void)state;
	for (uint32_t i = 0; i < SYN_CONFIGS; i++)
		profile[i] = &set->profile[i * 12];
	synthetic(&c, truth, pair);
	/* noiseless: a small sigma makes the priors' pull vanish */
	assert_int_equal(ct_fit(&m, pair, SYN_PAIRS, 1e-4, NULL, &r, &err), 0);
	for (int k = 0; k < CT_GLOBALS; k++) {
		if (fabs(r.t[k] - truth[k]) > 0.02)
			fail_msg("%s: got %.4f, put in %.4f", ct_global_prior[k].name, r.t[k], truth[k]);
		assert_true(r.width[k] < 0.1);
	}
	ct_fit_result_fini(&r);
	free(pair);
}

/* S = exp(1 + a_i + b_j) exactly: the additive predictor must find it, the null
 * says the geometric mean. */
static void trivial_predictors(void **state)
{
	static const double a[4] = { 0.1, -0.2, 0.3, 0 }, b[4] = { -0.1, 0.2, 0, 0.4 };
	struct ct_fit_pair pair[10];
	double s[10][2], mean = 0;
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = i; j < 4; j++)
			pair[n++] = (struct ct_fit_pair){ i, j, exp(1 + a[i] + b[j]), exp(1 + a[j] + b[i]) };
	for (size_t i = 0; i < n; i++)
		mean += (log(pair[i].s_a) + log(pair[i].s_b)) / (double)(2 * n);
	ct_fit_null(pair, n, pair, n, s);
	assert_true(fabs(log(s[4][1]) - mean) < 1e-12);
	ct_fit_additive(pair, n, 4, pair, n, s);
	for (size_t i = 0; i < n; i++)
		assert_true(fabs(s[i][0] / pair[i].s_a - 1) < 1e-9 && fabs(s[i][1] / pair[i].s_b - 1) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_6_within_its_limits),
		cmocka_unit_test(known_parameters_come_back),
		cmocka_unit_test(trivial_predictors),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
