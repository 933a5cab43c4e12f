/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiles against the table that an independent program (Python, numpy)
 * made of the same equations, tests/data/calib/profiles.csv, and against the
 * paper's Table 2. */
#include "calib/profiles.h"

#include "calib/csv_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ct_profiles *set;

static int load(void **state)
{
	struct ct_err err = { 0 };

	(void)state;
	if (ct_profiles_load("calib/a100-40gb", &set, &err))
		ct_err_print(&err, stderr);
	return (int)err.code;
}

static int unload(void **state)
{
	(void)state;
	ct_profiles_free(set);
	return 0;
}

static void counts_are_those_of_table_2(void **state)
{
	static const struct {
		const char *name;
		uint32_t n;
		double lo, hi;
	} want[] = { { "ResNet-50", 20, 12, 24 },  { "BERT", 12, 24, 36 },        { "DCGAN", 20, 8, 16 },
		     { "PointNet", 20, 12, 20 },   { "Transformer", 20, 20, 38 }, { "LSTM", 32, 4, 12 },
		     { "NCF", 36, 4, 16 },         { "PPO", 32, 8, 24 },          { "DeepSeek-1.5b", 198, 16, 36 },
		     { "Qwen-1.7b", 198, 16, 36 }, { "Mistral-7b", 90, 28, 36 },  { "LLaMA-3-7b", 90, 28, 36 } };

	(void)state;
	assert_int_equal(set->n_models, 12);
	assert_int_equal(set->n_profiles, 768);
	for (size_t i = 0; i < 12; i++) {
		const struct ct_workload_model *m = ct_profiles_find(set, want[i].name);
		uint32_t lo = UINT32_MAX, hi = 0;

		assert_non_null(m);
		assert_int_equal(m->n, want[i].n);
		for (uint32_t k = 0; k < m->n; k++) {
			lo = m->profile[k].fb_mib < lo ? m->profile[k].fb_mib : lo;
			hi = m->profile[k].fb_mib > hi ? m->profile[k].fb_mib : hi;
			assert_int_equal(m->profile[k].workload, (uint32_t)(m - set->model));
			assert_ptr_equal(ct_profiles_named(m, m->profile[k].name), &m->profile[k]);
		}
		assert_int_equal(lo, (uint32_t)(want[i].lo * 1024));
		assert_int_equal(hi, (uint32_t)(want[i].hi * 1024));
	}
}

static uint32_t memory(const char *model, const char *config)
{
	const struct ct_profile *p = ct_profiles_named(ct_profiles_find(set, model), config);

	assert_non_null(p);
	return p->fb_mib;
}

static void the_papers_two_reshapings(void **state)
{
	(void)state;
	assert_int_equal(memory("BERT", "b128"), 36864);
	assert_int_equal(memory("BERT", "b128+ck"), 24576);
	assert_int_equal(memory("ResNet-50", "b512"), 24576);
	assert_int_equal(memory("ResNet-50", "b512+amp"), 14336);
}

/* Over the configurations of each workload, then over the workloads. The paper's
 * cluster runs at 25 %; the levels themselves are assumed (see workloads.csv). */
static void mean_sm_activity_of_assumed_levels(void **state)
{
	double mean = 0;

	(void)state;
	for (uint32_t i = 0; i < set->n_models; i++)
		for (uint32_t k = 0; k < set->model[i].n; k++)
			mean += set->model[i].profile[k].sm_active / set->model[i].n / set->n_models;
	assert_true(fabs(mean - 0.254) <= 0.005);
}

enum { W, BATCH, CK, AMP, SEQ, PC, MU, RHO, SM, OCC, DRAM, FB, TC, HOST, WEIGHT, THR, COLUMNS };
static const char *const columns[COLUMNS] = { "workload", "batch", "ck",   "amp",   "seqlen", "pc",   "mu", "rho",
					      "sm",       "occ",   "dram", "fb_mb", "tc",     "host", "w",  "thr" };

static double number(const struct ct_table *t, size_t c)
{
	return strtod(ct_table_cell(t, c).s, NULL);
}

static void near(double got, double want)
{
	/* the table has five digits */
	if (fabs(got - want) > 6e-5 * fabs(want) + 1e-12)
		fail_msg("got %.9g, the other program says %.9g", got, want);
}

static void compare(const struct ct_table *t)
{
	const struct ct_workload_model *m = ct_profiles_find(set, ct_table_cell(t, W).s);
	const struct ct_profile *p = NULL;
	char name[64];

	assert_non_null(m);
	if (m->train)
		snprintf(name, sizeof name, "b%.0f%s%s", number(t, BATCH), number(t, CK) > 0 ? "+ck" : "",
			 number(t, AMP) > 0 ? "+amp" : "");
	else
		snprintf(name, sizeof name, "b%.0f-sl%.0f-mu%.2f%s", number(t, BATCH), number(t, SEQ), number(t, MU),
			 number(t, PC) > 0 ? "+pc" : "");
	p = ct_profiles_named(m, name);
	assert_non_null(p);
	near(p->rho, number(t, RHO));
	near(p->sm_active, number(t, SM));
	near(p->sm_occupancy, number(t, OCC));
	near(p->dram_active, number(t, DRAM));
	near(p->tensor_active, number(t, TC));
	assert_true(fabs(p->fb_mib - number(t, FB)) <= 0.6); /* whole MiB */
	near(p->host, number(t, HOST));
	near(p->weight, number(t, WEIGHT));
	near(p->throughput, number(t, THR));
}

static void profiles_are_those_of_the_other_program(void **state)
{
	struct ct_err err = { 0 };
	struct ct_table t;
	int rows = 0;

	(void)state;
	assert_int_equal(
	    ct_table_open(&t, "tests/data/calib/profiles.csv", columns, COLUMNS, CT_TABLE_KEEP_UNKNOWN, &err), 0);
	for (; ct_table_next(&t) == 1; rows++)
		compare(&t);
	assert_int_equal(ct_table_close(&t), 0);
	assert_int_equal(rows, 768);
}

static void the_default_is_the_largest_plain_configuration(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < set->n_models; i++) {
		const struct ct_workload_model *m = &set->model[i];
		const struct ct_profile *p = &m->profile[m->default_profile];

		assert_true(p->batch == (uint32_t)m->base.batch_hi && !p->ckpt && !p->amp && !p->prefix);
		assert_true(fabs(p->weight - 1) < 1e-12);
		if (!m->train)
			assert_true(fabs(p->mu - 0.9) < 1e-9 && p->seqlen == (uint32_t)m->base.default_seq);
	}
}

static void switching_classes(void **state)
{
	const struct ct_workload_model *t = ct_profiles_find(set, "BERT"), *q = ct_profiles_find(set, "Qwen-1.7b");
	const struct ct_profile *a = ct_profiles_named(q, "b4-sl4096-mu0.90");

	(void)state;
	assert_int_equal(ct_profile_switching(ct_profiles_named(t, "b128"), ct_profiles_named(t, "b128+ck")),
			 CT_SWITCH_CHECKPOINT);
	assert_int_equal(ct_profile_switching(a, ct_profiles_named(q, "b4-sl4096-mu0.90+pc")), CT_SWITCH_FLAG);
	assert_int_equal(ct_profile_switching(a, ct_profiles_named(q, "b2-sl4096-mu0.90+pc")), CT_SWITCH_ENGINE);
	assert_int_equal(ct_profile_switching(a, a), CT_SWITCH_NONE);
}

static void refuse(const char *text, const char *want)
{
	char dir[] = "/tmp/cotenant-test-XXXXXX", path[64];
	struct ct_profiles *p = NULL;
	struct ct_err err = { 0 };
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/workloads.csv", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(ct_profiles_load(dir, &p, &err), CT_ECONFIG);
	if (!strstr(err.text, want))
		fail_msg("wanted '%s' in: %s", want, err.text);
	unlink(path);
	rmdir(dir);
}

#define HEAD "workload,name,value,unit,mark,source\n"
static void bad_tables_are_refused_with_their_place(void **state)
{
	(void)state;
	refuse(HEAD "BERT,sm,x,-,paper,here\n", "workloads.csv:2:9: 'sm' wants a number, got 'x'");
	refuse(HEAD "BERT,x_ref,0,-,paper,here\n", "workloads.csv:2:12: 'x_ref' wants 1e-09 to 1e+15, got '0'");
	refuse(HEAD "BERT,hots,1,-,paper,here\n", "workloads.csv:2:6: unknown name 'hots'; did you mean 'host'?");
	refuse(HEAD "BERT,sm,0.1,-,guess,here\n", "workloads.csv:2:15: 'mark' wants paper, public, fitted or assumed");
	refuse(HEAD "BERT,sm,0.1,-,paper,\n", "workloads.csv:2:21: 'source' is empty");
	refuse(HEAD "BERT,sm,0.1,-,paper,a\nBERT,sm,0.2,-,paper,a\n", "workloads.csv:3:6: 'sm' of 'BERT' stands twice");
	refuse(HEAD "BERT,type,train,-,paper,a\n", "'BERT' has no row 'x_ref'");
	refuse("workload,name,value\n", "no column 'mark'");
	refuse(HEAD, "no row '*,signature'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_those_of_table_2),
		cmocka_unit_test(the_papers_two_reshapings),
		cmocka_unit_test(mean_sm_activity_of_assumed_levels),
		cmocka_unit_test(profiles_are_those_of_the_other_program),
		cmocka_unit_test(the_default_is_the_largest_plain_configuration),
		cmocka_unit_test(switching_classes),
		cmocka_unit_test(bad_tables_are_refused_with_their_place),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
