/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/learner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "calib/crossval.h"
#include "sim/random.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NaN fails. */
#define assert_near(got, want, within) assert_true(fabs((got) - (want)) <= (within))

static const struct ct_loc nowhere = { .file = "memory" };

static hid_t memory_file(void)
{
	hid_t how = H5Pcreate(H5P_FILE_ACCESS), f;

	H5Pset_fapl_core(how, 1 << 16, 0);
	f = H5Fcreate("learner-in-memory", H5F_ACC_TRUNC, H5P_DEFAULT, how);
	H5Pclose(how);
	assert_true(f >= 0);
	return f;
}

/* S = 2 + 3 a - b, and a third column that is a + b; a in [0, 1], b in [0, 0.5]. */
static void linear_samples(struct ct_samples *s, unsigned n)
{
	struct ct_stream r;

	ct_stream_init(&r, 1, CT_RANDOM_TEST, 10);
	ct_samples_init(s, 3);
	for (unsigned i = 0; i < n; i++) {
		double a = gsl_rng_uniform(&r.rng), b = .5 * gsl_rng_uniform(&r.rng);
		struct ct_sample row = {
			.slowdown = 2 + 3 * a - b, .truth = NAN, .pair = i / 2, .model_pair = i / 8, .type = i % 3
		};
		double *x = ct_samples_add(s, &row);

		x[0] = a;
		x[1] = b;
		x[2] = a + b;
	}
}

static void linear_recovers_a_line(void **state)
{
	static const double x[] = { .25, .5, .75, 4, 0, 4, -10, 0, -10 };
	struct ct_samples s;
	struct ct_err err = { 0 };
	double out[3];
	void *m;

	(void)state;
	linear_samples(&s, 60);
	assert_int_equal(ct_learner_linear.train(&s, 1, 1, &m, &err), 0);
	ct_learner_linear.predict(m, x, 3, out);
	assert_near(out[0], 2.25, 1e-9);
	assert_near(out[1], 14, 1e-8); /* outside the data, on the plane c = a + b */
	assert_near(out[2], 1, 0);     /* -28: clipped */
	ct_learner_linear.free(m);
	ct_samples_fini(&s);
}

static void mean_is_geometric(void **state)
{
	struct ct_samples s;
	struct ct_err err = { 0 };
	double out;
	void *m;

	(void)state;
	ct_samples_init(&s, 1);
	for (int i = 0; i < 20; i++)
		*ct_samples_add(&s, &(struct ct_sample){ .slowdown = i % 2 ? 1 : 4 }) = 0;
	assert_int_equal(ct_learner_mean.train(&s, 1, 1, &m, &err), 0);
	ct_learner_mean.predict(m, s.x, 1, &out);
	assert_near(out, 2, 1e-12);
	ct_learner_mean.free(m);
	ct_samples_fini(&s);
}

/* Trees learn a step exactly; absent, the learner says so. */
static void trees_learn_a_step_or_say_no(void **state)
{
	struct ct_samples s;
	struct ct_err err = { 0 };
	double out[2];
	void *m;

	(void)state;
	ct_samples_init(&s, 1);
	for (int i = 0; i < 40; i++)
		*ct_samples_add(&s, &(struct ct_sample){ .slowdown = i < 20 ? 1.2 : 3 }) = i;
	if (!ct_learner_xgb.built_in) {
		assert_int_equal(ct_learner_xgb.train(&s, 1, 1, &m, &err), CT_ECONFIG);
		assert_non_null(strstr(err.text, "not built in"));
		ct_samples_fini(&s);
		return;
	}
	assert_int_equal(ct_learner_xgb.train(&s, 1, 1, &m, &err), 0);
	ct_learner_xgb.predict(m, (const double[]){ 3, 30 }, 2, out);
	assert_near(out[0], 1.2, 1e-3);
	assert_near(out[1], 3, 1e-3);
	ct_learner_xgb.free(m);
	ct_samples_fini(&s);
}

static void saved_is_loaded(void **state)
{
	struct ct_samples s;

	(void)state;
	linear_samples(&s, 60);
	for (size_t i = 0; ct_learner_at(i); i++) {
		const struct ct_learner *l = ct_learner_at(i);
		struct ct_err err = { 0 };
		double before[60], after[60];
		hid_t f = memory_file();
		void *m, *n;

		if (!l->built_in)
			continue;
		assert_int_equal(l->train(&s, 5, 1, &m, &err), 0);
		assert_int_equal(l->width(m), 3);
		l->predict(m, s.x, s.n, before);
		assert_int_equal(l->save(m, f, &nowhere, &err), 0);
		assert_int_equal(l->load(f, &nowhere, &n, &err), 0);
		l->predict(n, s.x, s.n, after);
		assert_memory_equal(before, after, sizeof before);
		l->free(m);
		l->free(n);
		assert_true(H5Fclose(f) >= 0);
	}
	ct_samples_fini(&s);
}

static void too_few_and_nothing_there(void **state)
{
	struct ct_samples s;
	hid_t f = memory_file();
	void *m;

	(void)state;
	linear_samples(&s, 19);
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	for (size_t i = 0; ct_learner_at(i); i++) {
		struct ct_err err = { 0 };

		assert_int_equal(ct_learner_at(i)->train(&s, 1, 1, &m, &err), CT_ECONFIG);
		memset(&err, 0, sizeof err);
		assert_int_equal(ct_learner_at(i)->load(f, &nowhere, &m, &err), CT_ECONFIG);
		assert_non_null(strstr(err.text, "memory: "));
	}
	assert_null(ct_learner_find("magic"));
	assert_ptr_equal(ct_learner_find("linear"), &ct_learner_linear);
	H5Fclose(f);
	ct_samples_fini(&s);
}

/* By hand: S = 1, 2, 1.25; predicted 1.5, 2, 1. Errors 0.5, 0, 0.2. Mean of S 17/12;
 * sum of squares about it 13/24, of the errors 0.3125. Decay 0.8 alone is moderate. */
static void scores_by_hand(void **state)
{
	static const double y[] = { 1, 2, 1.25 }, p[] = { 1.5, 2, 1 };
	static const unsigned type[] = { CT_PAIR_TT, CT_PAIR_TT, CT_PAIR_II };
	struct ct_score score[CT_SCORES];
	struct ct_samples s;

	(void)state;
	ct_samples_init(&s, 1);
	for (int i = 0; i < 3; i++)
		*ct_samples_add(&s, &(struct ct_sample){ .slowdown = y[i], .type = type[i] }) = 0;
	ct_score_of(&s, p, score);
	assert_int_equal(score[CT_SCORE_ALL].n, 3);
	assert_near(score[CT_SCORE_ALL].mape, .7 / 3, 1e-15);
	assert_near(score[CT_SCORE_ALL].r2, 1 - .3125 / (13. / 24), 1e-12);
	assert_near(score[CT_SCORE_ALL].moderate, .2, 1e-15);
	assert_near(score[CT_PAIR_TT].mape, .25, 1e-15);
	assert_int_equal(score[CT_PAIR_TI].n, 0);
	assert_true(isnan(score[CT_PAIR_TI].mape) && isnan(score[CT_PAIR_TI].r2));
	assert_near(score[CT_PAIR_II].mape, .2, 1e-15);
	ct_samples_fini(&s);
}

static void folds_keep_groups_together(void **state)
{
	struct ct_samples s;
	unsigned fold[64];

	(void)state;
	linear_samples(&s, 64);
	for (enum ct_split split = CT_SPLIT_ROW; split < CT_SPLITS; split++) {
		struct ct_crossval_options o = { .folds = 4, .split = split, .seed = 9 };
		size_t of[4] = { 0 };

		assert_int_equal(ct_crossval_folds(&s, &o, fold), split == CT_SPLIT_ROW    ? 64
								  : split == CT_SPLIT_PAIR ? 32
											   : 8);
		for (int i = 0; i < 64; i++) {
			of[fold[i]]++;
			for (int k = 0; k < i; k++) {
				if (split == CT_SPLIT_PAIR && s.row[i].pair == s.row[k].pair)
					assert_int_equal(fold[i], fold[k]);
				if (split == CT_SPLIT_MODEL_PAIR && s.row[i].model_pair == s.row[k].model_pair)
					assert_int_equal(fold[i], fold[k]);
			}
		}
		for (int k = 0; k < 4; k++)
			assert_int_equal(of[k], 16);
	}
	ct_samples_fini(&s);
}

/* Exactly linear data: every held-out row is right, also from a third of the groups. */
static void crossval_of_a_line_has_no_error(void **state)
{
	struct ct_crossval_options o = { .folds = 5, .split = CT_SPLIT_PAIR, .seed = 1, .floor = 1 };
	struct ct_score score[CT_SCORES];
	struct ct_err err = { 0 };
	struct ct_samples s;

	(void)state;
	linear_samples(&s, 160);
	for (int i = 0; i < 2; i++, o.train_share = .33) {
		assert_int_equal(ct_crossval(&ct_learner_linear, &s, &o, score, &err), 0);
		assert_true(score[CT_SCORE_ALL].mape < 1e-9 && score[CT_SCORE_ALL].r2 > 1 - 1e-9);
	}
	o.folds = 81;
	assert_int_equal(ct_crossval(&ct_learner_linear, &s, &o, score, &err), CT_ECONFIG);
	assert_non_null(strstr(err.text, "81 folds"));
	ct_samples_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear_recovers_a_line),       cmocka_unit_test(mean_is_geometric),
		cmocka_unit_test(trees_learn_a_step_or_say_no), cmocka_unit_test(saved_is_loaded),
		cmocka_unit_test(too_few_and_nothing_there),    cmocka_unit_test(scores_by_hand),
		cmocka_unit_test(folds_keep_groups_together),   cmocka_unit_test(crossval_of_a_line_has_no_error),
	};

	gsl_set_error_handler_off();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
