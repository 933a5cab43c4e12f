/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Families of jobs, contention between them, the profile store and the transition
 * table of the A100 folder. Expected values: the paper's Table 2 and section 5.7,
 * the equations of calib/slowdown.h, hand counts. */
#include "calib/truth.h"

#include "calib/transitions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#define DIR "calib/a100-40gb"

struct world {
	struct ct_workload *w;
	struct ct_truth *t;
};

struct ask {
	const char *model, *isl, *osl, *floor, *config;
};

static void make(struct world *x, const struct ask *ask, size_t n, const struct ct_truth_options *o)
{
	static const char *const column[4] = { "isl", "osl", "min_throughput", "config" };
	struct ct_err err = { 0 };

	x->w = ct_workload_new();
	for (size_t i = 0; i < n; i++) {
		const char *const v[4] = { ask[i].isl, ask[i].osl, ask[i].floor, ask[i].config };
		struct ct_job job = CT_JOB_INIT;
		char id[8] = { 'a', (char)('0' + i), 0 };

		job.id = ct_workload_text(x->w, id, 2);
		job.duration_us = CT_SECOND;
		job.model = ct_strings_add(&x->w->strings, ask[i].model, strlen(ask[i].model));
		ct_workload_add(x->w, &job);
		for (int k = 0; k < 4; k++)
			if (v[k])
				ct_workload_set_extra(x->w, ct_workload_column(x->w, column[k]), (uint32_t)i, v[k],
						      strlen(v[k]));
	}
	assert_int_equal(ct_workload_seal(x->w, &err), 0);
	if (ct_truth_new(o, x->w, &x->t, &err))
		fail_msg("%s", err.text);
}

static void drop(struct world *x)
{
	ct_truth_free(x->t);
	ct_workload_free(x->w);
}

static void families_hold_what_the_job_can_use(void **state)
{
	static const struct ask ask[] = { { .model = "Qwen-1.7b" },
					  { .model = "Qwen-1.7b", .isl = "6000", .osl = "1000" },
					  { .model = "Qwen-1.7b", .isl = "20000", .osl = "1" },
					  { .model = "BERT", .floor = "200" },
					  { .model = "nobody" },
					  { .model = "BERT", .config = "b100+ck" },
					  { .model = "LSTM" } };
	const struct ct_truth_options o = { .dir = DIR };
	const struct ct_family *const *f;
	const struct ct_profile *p;
	struct ct_truth_info i;
	struct world x;

	(void)state;
	make(&x, ask, 7, &o);
	f = ct_truth_families(x.t);
	i = ct_truth_info(x.t);
	assert_int_equal(f[0]->n, 198);
	assert_int_equal(f[1]->n, 132); /* two of the three sequence lengths cover 7000 tokens */
	assert_null(f[2]);
	assert_null(f[4]);
	assert_int_equal(f[6]->n, 32);
	p = ct_truth_profiles(x.t, 1);
	for (uint32_t k = 0; k < f[1]->n; k++) {
		assert_true(p[k].seqlen >= 7000 && p[k].isl == 6000 && p[k].osl == 1000);
		assert_string_equal(f[1]->config[k].name, p[k].name);
	}
	p = ct_truth_profiles(x.t, 3);
	for (uint32_t k = 0; k < f[3]->n; k++)
		assert_true(p[k].throughput >= 200);
	assert_true(f[3]->n > 0 && f[3]->n < 12);
	assert_true(f[0]->config[f[0]->default_config].throughput == 1);
	assert_string_equal(f[0]->config[f[0]->default_config].name, "b4-sl4096-mu0.90");
	assert_string_equal(f[5]->config[f[5]->default_config].name, "b128+ck"); /* nearest to 100 in log2 */
	assert_int_equal(i.jobs_known, 5);
	assert_int_equal(i.jobs_unknown, 1);
	assert_int_equal(i.jobs_unmet, 1);
	/* hits: four plain, one of them unmet in the end; one nearest; one unknown */
	assert_int_equal(i.store.hits, 5);
	assert_int_equal(i.store.nearest, 1);
	assert_int_equal(i.store.misses, 1);
	assert_int_equal(i.reserve_mib, 512);
	drop(&x);
}

static void a_smaller_gpu_holds_fewer_configurations(void **state)
{
	static const struct ask ask[] = { { .model = "BERT" }, { .model = "Mistral-7b" } };
	const struct ct_truth_options o = { .dir = DIR, .gpu_mem_mib = 24576 };
	const struct ct_family *const *f;
	struct world x;

	(void)state;
	make(&x, ask, 2, &o);
	f = ct_truth_families(x.t);
	assert_true(f[0]->n > 0 && f[0]->n < 12);
	for (uint32_t k = 0; k < f[0]->n; k++)
		assert_true(f[0]->config[k].gpu_mem_mib <= 24576);
	assert_null(f[1]); /* 28 GB at least */
	drop(&x);
}

static struct ct_contender contender(const struct world *x, uint32_t job)
{
	const struct ct_family *f = ct_truth_families(x->t)[job];

	return (struct ct_contender){ .job = job, .config = f ? f->default_config : 0, .milli = 1000 };
}

static void contention_is_the_slow_down(void **state)
{
	static const struct ask ask[] = { { .model = "BERT" }, { .model = "NCF" }, { .model = "nobody" } };
	const struct ct_truth_options bare = { .dir = DIR }, noisy = { .dir = DIR, .residual = 1, .seed = 3 },
				      other = { .dir = DIR, .residual = 1, .seed = 4 };
	const struct ct_truth_options *const all[] = { &bare, &noisy, &noisy, &other };
	struct ct_slowdown_params s = ct_slowdown_published();
	double f[4];

	(void)state;
	for (int k = 0; k < 4; k++) {
		struct world x;
		struct ct_contention c;
		struct ct_contender a, b, n;
		double want;

		make(&x, ask, 3, all[k]);
		c = ct_truth_contention(x.t);
		a = contender(&x, 0);
		b = contender(&x, 1);
		n = contender(&x, 2);
		f[k] = c.factor(c.state, &a, &b);
		want = 1 / ct_slowdown(&s, &ct_truth_profiles(x.t, 0)[a.config], &ct_truth_profiles(x.t, 1)[b.config]);
		if (!k)
			assert_true(fabs(f[0] - want) < 1e-15);
		else /* sigma of training pairs is 0.01 */
			assert_true(f[k] != want && fabs(log(f[k] / want)) < 0.05 && f[k] <= 1);
		assert_true(f[k] == c.factor(c.state, &a, &b));
		assert_true(c.factor(c.state, &a, &n) == 1 && c.factor(c.state, &n, &a) == 1);
		drop(&x);
	}
	assert_true(f[1] == f[2]); /* frozen */
	assert_true(f[1] != f[3]); /* by its seed */
}

static uint32_t default_of(const struct world *x, uint32_t job)
{
	return ct_truth_families(x->t)[job]->default_config;
}

/* ResNet-50 beside Qwen with prefix caching: rows 1 and 4 of Table 6. */
static void measured_pairs_of_the_folder(void **state)
{
	struct ask ask[] = { { "Qwen-1.7b", NULL, NULL, NULL, "b4-sl4096-mu0.90+pc" },
			     { "ResNet-50", NULL, NULL, NULL, "b512+ck" } };
	struct ct_truth_options o = { .dir = DIR, .seed = 1, .residual = 1, .measured = 1 };
	struct world x;

	(void)state;
	for (int measured = 0; measured < 2; measured++) {
		double s[2];

		o.measured = measured;
		make(&x, ask, 2, &o);
		for (uint32_t j = 0; j < 2; j++)
			s[j] = ct_truth_slowdown(x.t, ct_truth_families(x.t)[j]->config[default_of(&x, j)].kind,
						 ct_truth_families(x.t)[!j]->config[default_of(&x, !j)].kind);
		assert_int_equal(ct_truth_info(x.t).measured_pairs, measured ? 18 : 0);
		assert_true((fabs(s[0] * .48 - 1) < 1e-6) == measured);
		assert_true((fabs(s[1] * .55 - 1) < 1e-6) == measured);
		drop(&x);
	}
}

static void bad_needs_are_refused(void **state)
{
	const struct ct_truth_options o = { .dir = DIR };
	struct ct_workload *w = ct_workload_new();
	struct ct_job job = CT_JOB_INIT;
	struct ct_truth *t;
	struct ct_err err = { 0 };

	(void)state;
	job.id = "one";
	job.duration_us = CT_SECOND;
	job.model = ct_strings_add(&w->strings, "BERT", 4);
	ct_workload_add(w, &job);
	ct_workload_set_extra(w, ct_workload_column(w, "config"), 0, "big", 3);
	assert_int_equal(ct_workload_seal(w, &err), 0);
	assert_int_equal(ct_truth_new(&o, w, &t, &err), CT_ETRACE);
	assert_non_null(strstr(err.text, "job 'one': 'BERT' has no configuration 'big'"));
	ct_workload_free(w);
}

static void store_parses_and_finds(void **state)
{
	struct ct_profile have[3], want;
	struct ct_profile_store s = { .signature = "A" };
	int exact;

	(void)state;
	assert_int_equal(ct_profile_parse("b64+ck", &have[0]), 0);
	assert_int_equal(ct_profile_parse("b256+amp", &have[1]), 0);
	assert_int_equal(ct_profile_parse("b4-sl4096-mu0.90+pc", &have[2]), 0);
	assert_true(have[2].prefix && have[2].batch == 4 && have[2].seqlen == 4096 && have[2].mu == 0.9);
	assert_int_equal(ct_profile_parse("b64+foo", &want), -1);
	assert_int_equal(ct_profile_parse("64", &want), -1);
	assert_int_equal(ct_profile_parse("b0", &want), -1);
	/* log2 512/256 = 1, log2 512/64 = 3; flags: 1 each */
	assert_int_equal(ct_profile_parse("b512", &want), 0);
	assert_true(fabs(ct_profile_distance(&have[0], &want) - sqrt(10)) < 1e-12);
	assert_true(fabs(ct_profile_distance(&have[1], &want) - sqrt(2)) < 1e-12);
	assert_ptr_equal(ct_profile_store_find(&s, "A", have, 2, &want, &exact), &have[1]);
	assert_false(exact);
	assert_ptr_equal(ct_profile_store_find(&s, "A", have, 2, &have[0], &exact), &have[0]);
	assert_true(exact);
	assert_null(ct_profile_store_find(&s, "B", have, 2, &have[0], NULL)); /* other hardware */
	assert_true(fabs(ct_profile_store_hit_rate(&s) - 1.0 / 3) < 1e-12);
}

/* Section 5.7 of the paper. */
static void transitions_of_the_paper(void **state)
{
	static const struct ask ask[] = { { .model = "BERT" }, { .model = "Qwen-1.7b" } };
	const struct ct_truth_options o = { .dir = DIR };
	struct ct_arena arena = { 0 };
	struct ct_transition_table file, t;
	struct ct_err err = { 0 };
	struct ct_price p;
	struct world x;

	(void)state;
	make(&x, ask, 2, &o);
	assert_int_equal(ct_transitions_load(DIR "/transitions.csv", &arena, &file, &err), 0);
	t = ct_truth_transitions(x.t, &file, &arena);
	/* each of the 288 configurations without prefix caching, both ways; no `flag` row left */
	assert_int_equal(t.n, file.n - 1 + 2 * 288);
	p = ct_transition_price(&t, CT_TRANSITION_SWITCH, "Qwen-1.7b", "b4-sl4096-mu0.90", "b4-sl4096-mu0.90+pc");
	assert_true(p.cost_us > 0 && p.cost_us <= 1000 && !p.blocks);
	p = ct_transition_price(&t, CT_TRANSITION_SWITCH, "Qwen-1.7b", "b4-sl4096-mu0.90", "b2-sl4096-mu0.90");
	assert_true(p.cost_us >= 5 * CT_SECOND && p.cost_us <= 15 * CT_SECOND && p.blocks);
	p = ct_transition_price(&t, CT_TRANSITION_SWITCH, "BERT", "b128", "b128+ck");
	assert_true(p.cost_us >= 15 * CT_SECOND && p.cost_us <= 45 * CT_SECOND && p.blocks);
	ct_arena_fini(&arena);
	drop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families_hold_what_the_job_can_use),
		cmocka_unit_test(a_smaller_gpu_holds_fewer_configurations),
		cmocka_unit_test(contention_is_the_slow_down),
		cmocka_unit_test(measured_pairs_of_the_folder),
		cmocka_unit_test(bad_needs_are_refused),
		cmocka_unit_test(store_parses_and_finds),
		cmocka_unit_test(transitions_of_the_paper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
