/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration from one's own measurements: synthetic pairs whose truth is known,
 * bad tables, doubtful tables, and the file's way to disk and back. */
#include "calib/user_fit.h"

#include "calib/truth.h"
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
#include <unistd.h>

static char dir[] = "/tmp/cotenant-test-XXXXXX", solo[64], pairs[64], out[64];

static int enter(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(solo, sizeof solo, "%s/solo.csv", dir);
	snprintf(pairs, sizeof pairs, "%s/pairs.csv", dir);
	snprintf(out, sizeof out, "%s/out.h5", dir);
	return 0;
}

static int leave(void **state)
{
	(void)state;
	unlink(solo);
	unlink(pairs);
	unlink(out);
	return rmdir(dir);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* ---- synthetic measurements */

enum { CONFIGS = 24, PAIRS = 150 };

static struct ct_slowdown_params other_truth(void)
{
	struct ct_slowdown_params s = ct_slowdown_published();

	s.m = 0.03;
	s.c[CT_RESOURCE_DRAM] = 0.7;
	s.c[CT_RESOURCE_HOST] = 1.1;
	s.p = 5;
	return s;
}

static void write_synthetic(int counters)
{
	const struct ct_slowdown_params s = other_truth();
	struct ct_profile p[CONFIGS];
	struct ct_stream k;
	FILE *f = fopen(solo, "w");

	assert_non_null(f);
	ct_stream_init(&k, 11, CT_RANDOM_TEST, 5);
	fputs("config_id,workload,type,throughput,throughput_sd,fb_mb", f);
	fputs(counters ? ",sm_active,sm_occupancy,dram_active,tensor_active,host\n" : "\n", f);
	for (int i = 0; i < CONFIGS; i++) {
		double v[5];

		for (int r = 0; r < 5; r++)
			v[r] = 0.05 + 0.9 * gsl_rng_uniform(&k.rng);
		p[i] = (struct ct_profile){ .sm_active = v[0],
					    .sm_occupancy = v[1],
					    .dram_active = v[2],
					    .tensor_active = v[3],
					    .host = v[4],
					    .weight = 1,
					    .throughput = 10 + i };
		fprintf(f, "c%d,w%d,%s,%d,0.1,4096", i, i % 4, i % 4 < 2 ? "train" : "infer", 10 + i);
		if (counters)
			fprintf(f, ",%.17g,%.17g,%.17g,%.17g,%.17g", v[0], v[1], v[2], v[3], v[4]);
		fputc('\n', f);
	}
	assert_int_equal(fclose(f), 0);
	f = fopen(pairs, "w");
	assert_non_null(f);
	fputs("config_i,config_j,thr_i_colo,thr_j_colo,mps,repeat\n", f);
	for (int n = 0; n < PAIRS; n++) {
		int i = (int)gsl_rng_uniform_int(&k.rng, CONFIGS), j = (int)gsl_rng_uniform_int(&k.rng, CONFIGS);

		fprintf(f, "c%d,c%d,%.17g,%.17g,1,%d\n", i, j, p[i].throughput / ct_slowdown(&s, &p[i], &p[j]),
			p[j].throughput / ct_slowdown(&s, &p[j], &p[i]), n);
	}
	assert_int_equal(fclose(f), 0);
}

static struct ct_calibration *fit(int mode, char *warnings, size_t n)
{
	FILE *w = warnings ? fmemopen(warnings, n, "w") : NULL;
	const struct ct_user_fit_options o = { .solo = solo, .pairs = pairs, .mode = mode, .seed = 1, .warnings = w };
	struct ct_calibration *c = NULL;
	struct ct_err err = { 0 };

	if (ct_user_fit(&o, &c, &err))
		fail_msg("%s", err.text);
	if (w)
		fclose(w);
	return c;
}

static const struct ct_calib_config *config(const struct ct_calibration *c, const char *name)
{
	for (size_t i = 0; i < c->n_configs; i++)
		if (!strcmp(c->config[i].profile.name, name))
			return &c->config[i];
	fail_msg("no configuration %s", name);
	return NULL;
}

static void counters_find_another_gpus_globals(void **state)
{
	const struct ct_slowdown_params want = other_truth();
	struct ct_calibration *c;

	(void)state;
	write_synthetic(1);
	c = fit(-1, NULL, 0);
	assert_int_equal(c->mode, CT_CALIB_COUNTERS);
	assert_int_equal(c->n_configs, CONFIGS);
	/* noise-free: the fit beats the trivial predictors by far, and finds the knee */
	assert_true(c->holdout[0].mape < 1 && c->holdout[0].mape < c->holdout[1].mape / 5 &&
		    c->holdout[0].mape < c->holdout[2].mape / 5);
	assert_true(fabs(c->wstr.c[CT_RESOURCE_DRAM] - want.c[CT_RESOURCE_DRAM]) < 0.03);
	assert_true(fabs(c->wstr.c[CT_RESOURCE_HOST] - want.c[CT_RESOURCE_HOST]) < 0.05);
	assert_true(fabs(c->wstr.m - want.m) < 0.015);
	assert_string_equal(config(c, "c5")->workload, "w1");
	ct_calibration_free(c);
}

static void without_counters_latent_demands(void **state)
{
	char warnings[4096] = "";
	struct ct_calibration *c;

	(void)state;
	write_synthetic(0);
	c = fit(-1, warnings, sizeof warnings);
	assert_int_equal(c->mode, CT_CALIB_LATENT);
	assert_int_equal(c->n_holdouts, 3);
	assert_true(c->holdout[0].mape < c->holdout[1].mape);
	assert_null(strstr(warnings, "no-better-than-mean"));
	ct_calibration_free(c);
}

static void a_file_comes_back_as_it_was(void **state)
{
	struct ct_calibration *c, *d = NULL;
	struct ct_err err = { 0 };

	(void)state;
	write_synthetic(1);
	c = fit(-1, NULL, 0);
	assert_int_equal(ct_calibration_write(c, out, &err), 0);
	assert_int_equal(ct_calibration_read(out, &d, &err), 0);
	assert_int_equal(d->n_configs, c->n_configs);
	assert_int_equal(d->n_pairs, c->n_pairs);
	assert_int_equal(d->n_unknowns, c->n_unknowns);
	assert_memory_equal(&d->wstr, &c->wstr, offsetof(struct ct_slowdown_params, guard));
	assert_memory_equal(d->sigma, c->sigma, sizeof c->sigma);
	for (size_t i = 0; i < c->n_configs; i++) {
		assert_string_equal(d->config[i].profile.name, c->config[i].profile.name);
		assert_memory_equal(&d->config[i].demand, &c->config[i].demand, sizeof c->config[i].demand);
		assert_true(d->config[i].profile.throughput == c->config[i].profile.throughput);
	}
	for (size_t i = 0; i < c->n_pairs; i++)
		assert_true(d->pair[i].measured.s_a == c->pair[i].measured.s_a &&
			    d->pair[i].fit[1] == c->pair[i].fit[1]);
	ct_calibration_free(c);
	ct_calibration_free(d);
}

static void a_damaged_file_is_refused(void **state)
{
	struct ct_calibration *c = NULL;
	struct ct_err err = { 0 };
	FILE *f;

	(void)state;
	write_synthetic(1);
	c = fit(-1, NULL, 0);
	assert_int_equal(ct_calibration_write(c, out, &err), 0);
	ct_calibration_free(c);
	f = fopen(out, "r+");
	assert_non_null(f);
	fseek(f, 3000, SEEK_SET);
	fputc('x', f);
	fclose(f);
	assert_int_equal(ct_calibration_read(out, &c, &err), CT_EIO);
	assert_non_null(strstr(err.text, "is damaged, cut short"));
	err = (struct ct_err){ 0 };
	assert_int_equal(truncate(out, 700), 0);
	assert_int_equal(ct_calibration_read(out, &c, &err), CT_EIO);
	err = (struct ct_err){ 0 };
	put(out, "no calibration");
	assert_int_equal(ct_calibration_read(out, &c, &err), CT_EIO);
	assert_non_null(strstr(err.text, "is not a calibration file"));
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_calibration_read("/nowhere/x.h5", &c, &err), CT_EIO);
}

/* A run with the file: measured pairs as measured, the others by the model. */
static void a_run_uses_the_file(void **state)
{
	const struct ct_truth_options o = { .file = out };
	struct ct_workload *w = ct_workload_new();
	struct ct_calibration *c;
	struct ct_contention k;
	struct ct_truth *t;
	struct ct_err err = { 0 };
	const struct ct_fit_pair *p;

	(void)state;
	write_synthetic(1);
	c = fit(-1, NULL, 0);
	assert_int_equal(ct_calibration_write(c, out, &err), 0);
	p = &c->pair[3].measured;
	for (int i = 0; i < 2; i++) {
		const struct ct_calib_config *x = &c->config[i ? p->b : p->a];
		struct ct_job job = CT_JOB_INIT;

		job.id = i ? "b" : "a";
		job.duration_us = CT_SECOND;
		job.model = ct_strings_add(&w->strings, x->workload, strlen(x->workload));
		ct_workload_add(w, &job);
		ct_workload_set_extra(w, ct_workload_column(w, "config"), (uint32_t)i, x->profile.name,
				      strlen(x->profile.name));
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	assert_int_equal(ct_truth_new(&o, w, &t, &err), 0);
	k = ct_truth_contention(t);
	for (int i = 0; i < 2; i++) {
		const struct ct_family *const *f = ct_truth_families(t);
		struct ct_contender self = { .job = (uint32_t)i, .config = f[i]->default_config };
		struct ct_contender other = { .job = (uint32_t)!i, .config = f[!i]->default_config };

		assert_true(fabs(k.factor(k.state, &self, &other) - 1 / (i ? p->s_b : p->s_a)) < 1e-6);
	}
	assert_int_equal(ct_truth_info(t).measured_pairs, c->n_pairs);
	ct_truth_free(t);
	ct_workload_free(w);
	ct_calibration_free(c);
}

/* ---- bad and doubtful tables */

#define SOLO       "config_id,workload,type,throughput\na,A,train,10\nb,B,infer,20\nc,C,train,5\n"
#define PAIRS_HEAD "config_i,config_j,thr_i_colo,thr_j_colo\n"

static void refuse(const char *solo_text, const char *pair_text, int mode, const char *want)
{
	const struct ct_user_fit_options o = { .solo = solo, .pairs = pairs, .mode = mode };
	struct ct_calibration *c = NULL;
	struct ct_err err = { 0 };

	put(solo, solo_text);
	put(pairs, pair_text);
	assert_int_equal(ct_user_fit(&o, &c, &err), CT_ECONFIG);
	if (!strstr(err.text, want))
		fail_msg("wanted '%s' in: %s", want, err.text);
}

static void bad_tables_are_refused_with_their_place(void **state)
{
	(void)state;
	refuse("config_id,workload,type,throughput\na,A,train,0\n", PAIRS_HEAD, -1,
	       "solo.csv:2:11: 'throughput' wants a positive number, got '0'");
	refuse("config_id,workload,type,throughput\na,A,train,-3\nb,B,wrong,1\n", PAIRS_HEAD, -1,
	       "solo.csv:3:5: 'type' wants train or infer, got 'wrong'");
	refuse(SOLO, PAIRS_HEAD "a,x,9,9\n", -1, "pairs.csv:2:3: configuration 'x' is not in");
	refuse(SOLO, PAIRS_HEAD "a,b,9,\n", -1, "pairs.csv:2:7: 'thr_j_colo' is empty; a pair needs both sides");
	refuse(SOLO, PAIRS_HEAD "a,b,9,-1\n", -1, "pairs.csv:2:7: 'thr_j_colo' wants a positive number, got '-1'");
	refuse(SOLO, PAIRS_HEAD "a,b,14,9\n", -1, "pairs.csv:2:5: 14 is 1.40 times the solo throughput 10");
	refuse(SOLO, PAIRS_HEAD "a,b,9,18\na,c,9,4\nb,c,18,4\n", -1,
	       "pairs.csv: 3 pairs are too few to fit, wanted at least 8");
	refuse("config_id,workload,type,throughput,sm_active\na,A,train,1,0.5\n", PAIRS_HEAD, -1,
	       "solo.csv:1: no column 'host'; give all five counters, or none");
	refuse(SOLO, PAIRS_HEAD, CT_CALIB_COUNTERS, "mode 'counters' wants the five counters");
	refuse("config_id,workload,type,throughput,sm_active,sm_occupancy,dram_active,tensor_active,host\n"
	       "a,A,train,1,0.5,,0.1,0.1,0.1\n",
	       PAIRS_HEAD, -1, "solo.csv:2:17: 'sm_occupancy' is empty");
	refuse("config_id,workload,type\na,A,train\n", PAIRS_HEAD, -1, "no column 'throughput'");
	refuse(SOLO, PAIRS_HEAD, CT_CALIB_OVERRIDES, "pairs.csv: holds no pairs");
	refuse("config_id,workload,type,throughput\na,A,train,1\na,B,train,1\n", PAIRS_HEAD, -1,
	       "solo.csv:3:3: configuration 'a' was of workload 'A' above");
}

static void doubtful_tables_are_named(void **state)
{
	char warnings[8192] = "";
	struct ct_calibration *c;

	(void)state;
	put(solo, SOLO);
	/* c never changes; a b are faster together than alone; c b far too slow; no MPS */
	put(pairs, "config_i,config_j,thr_i_colo,thr_j_colo,mps,repeat\n"
		   "a,c,9,5,0,1\nb,c,18,5,0,1\nc,c,5,5,0,1\na,b,11,21,0,1\na,b,11,21,0,2\na,a,3,3,0,1\n");
	c = fit(CT_CALIB_OVERRIDES, warnings, sizeof warnings);
	assert_non_null(strstr(warnings, "solo-once: 3 of 3 configurations"));
	assert_non_null(strstr(warnings, "constant-column: "));
	assert_non_null(strstr(warnings, "pairs.csv:2:7: 'c' has the same throughput"));
	assert_non_null(strstr(warnings, "speed-up: "));
	assert_non_null(strstr(warnings, "pairs.csv:5:5: 'a' is 10.0 % faster in company than alone"));
	assert_non_null(strstr(warnings, "sum-of-speeds: "));
	assert_non_null(strstr(warnings, "pairs.csv:7:5: the two keep 0.60 of their solo speeds"));
	assert_non_null(strstr(warnings, "no-mps: "));
	assert_non_null(strstr(warnings, "pairs.csv:2:9: pairs measured without MPS"));
	assert_int_equal(c->n_pairs, 5); /* the repeat is a mean */
	assert_true(fabs(c->pair[3].measured.s_a - 10.0 / 11) < 1e-12);
	ct_calibration_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_find_another_gpus_globals),
		cmocka_unit_test(without_counters_latent_demands),
		cmocka_unit_test(a_file_comes_back_as_it_was),
		cmocka_unit_test(a_damaged_file_is_refused),
		cmocka_unit_test(a_run_uses_the_file),
		cmocka_unit_test(bad_tables_are_refused_with_their_place),
		cmocka_unit_test(doubtful_tables_are_named),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
