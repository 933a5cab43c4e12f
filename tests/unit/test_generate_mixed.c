/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixed traces: what was asked for (share of the work, load, sizes, one of the twelve
 * workload names of ElastiCo's Table 2) is computed here from the jobs alone. */
#include "traces/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ct_generate_options ask = {
	.days = 1,
	.gpus = 64,
	.load = 1.4,
	.share = .6,
	.constants = "traces/data/pai.csv",
	.other = "traces/data/genai.csv",
	.assign = "traces/data/assign.csv",
};

static struct ct_workload *make(const struct ct_generate_options *o)
{
	struct ct_workload *w = NULL;
	struct ct_err err = { 0 };

	if (ct_generate(ct_generator_find("mixed"), o, &w, &err))
		fail_msg("%s", err.text);
	return w;
}

static struct ct_workload *seeded(uint64_t seed)
{
	struct ct_generate_options o = ask;

	o.seed = seed;
	return make(&o);
}

static const char *extra(const struct ct_workload *w, const char *column, size_t i)
{
	for (size_t c = 0; c < w->n_columns; c++)
		if (strcmp(w->columns[c].name, column) == 0)
			return ct_strings_text(&w->strings, w->columns[c].value[i]);
	fail_msg("no column '%s'", column);
	return "";
}

static double work_of(const struct ct_job *j)
{
	return ct_seconds(j->duration_us) * j->num_gpus * j->gpu_milli / 1000;
}

static void test_share_and_load(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct ct_workload *w = seeded(seed);
		double train = 0, infer = 0, span;

		for (size_t i = 0; i < w->n; i++)
			*(strcmp(extra(w, "kind", i), "train") == 0 ? &train : &infer) += work_of(&w->jobs[i]);
		span = ct_seconds(w->jobs[w->n - 1].submit_us - w->jobs[0].submit_us);
		assert_true(fabs(train / (train + infer) - .6) <= .01);
		assert_true(fabs((train + infer) / (64 * span) - 1.4) <= .01);
		assert_true(span > .95 * 86400 && span < 1.02 * 86400);
		ct_workload_free(w);
	}
}

/* Batches, not requests: the trace's longest request takes 91 s. */
static void test_jobs(void **state)
{
	struct ct_workload *w = seeded(1);

	(void)state;
	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];
		int train = strcmp(extra(w, "kind", i), "train") == 0;

		assert_true(j->num_gpus >= 1 && j->num_gpus <= 64);
		assert_true(j->duration_us <= 86400 * CT_SECOND);
		assert_int_equal(j->gpu_type, 0);
		assert_int_equal(strncmp(j->id, train ? "pai/" : "genai/", train ? 4 : 6), 0);
		if (!train) {
			assert_int_equal(j->num_gpus, 1);
			assert_true(atof(extra(w, "requests", i)) >= 20);
		}
	}
	ct_workload_free(w);
}

static void test_names(void **state)
{
	static const char *const table2[] = { "ResNet-50",     "BERT",      "DCGAN",      "PointNet",
					      "Transformer",   "LSTM",      "NCF",        "PPO",
					      "DeepSeek-1.5b", "Qwen-1.7b", "Mistral-7b", "LLaMA-3-7b" };
	struct ct_workload *w = seeded(1);
	size_t count[12] = { 0 };

	(void)state;
	for (size_t i = 0; i < w->n; i++) {
		const char *name = ct_strings_text(&w->strings, w->jobs[i].model);
		int infer = strcmp(extra(w, "kind", i), "infer") == 0;
		size_t k = 0;

		while (k < 12 && strcmp(name, table2[k]) != 0)
			k++;
		assert_true(k < 12);
		assert_int_equal(k >= 8, infer);
		count[k]++;
	}
	for (size_t k = 0; k < 12; k++)
		assert_true(count[k] > 0);
	ct_workload_free(w);
}

static void test_seeds(void **state)
{
	struct ct_workload *a = seeded(5), *b = seeded(5), *c = seeded(6);

	(void)state;
	assert_string_equal(a->digest, b->digest);
	assert_string_not_equal(a->digest, c->digest);
	assert_string_equal(a->report.history, b->report.history);
	assert_non_null(strstr(a->report.history, "generate pai seed=5"));
	assert_non_null(strstr(a->report.history, "map a2"));
	assert_non_null(strstr(a->report.history, "mix span="));
	ct_workload_free(a);
	ct_workload_free(b);
	ct_workload_free(c);
}

/* Gangs of shares above a node's size go, and are counted; whole GPUs stay. */
static void test_node_gpus(void **state)
{
	struct ct_generate_options o = ask;
	struct ct_workload *w;
	size_t whole = 0;
	uint64_t dropped = 0;

	(void)state;
	o.seed = 1;
	o.node_gpus = 8;
	w = make(&o);
	for (size_t i = 0; i < w->n; i++) {
		assert_true(w->jobs[i].gpu_milli == 1000 || w->jobs[i].num_gpus <= 8);
		whole += w->jobs[i].num_gpus > 8;
	}
	for (unsigned i = 0; i < w->report.n_rules; i++)
		if (strcmp(w->report.rules[i].rule, "dropped_shares_across_nodes") == 0)
			dropped = w->report.rules[i].rows;
	assert_true(whole > 0);
	assert_true(dropped > 0);
	ct_workload_free(w);
}

/* The check notices a share and a load that were not asked for. */
static void test_check(void **state)
{
	struct ct_generate_options other = ask;
	struct ct_workload *w = seeded(1);
	struct ct_err err = { 0 };

	(void)state;
	for (int wrong = 0; wrong < 2; wrong++) {
		struct ct_marginals m = { 0 };
		int far = 0;

		if (wrong)
			other.share = .65, other.load = 1.3;
		assert_int_equal(ct_generate_check(ct_generator_find("mixed"), &other, w, &m, &err), 0);
		for (size_t i = 0; i < m.n; i++)
			far += !(m.row[i].distance <= m.row[i].limit);
		assert_int_equal(far, wrong ? 2 : 0);
		ct_marginals_fini(&m);
	}
	ct_workload_free(w);
}

static void test_refuses(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct ct_generate_options o = ask;
		struct ct_workload *w = NULL;
		struct ct_err err = { 0 };

		if (i == 0)
			o.gpus = 0;
		else if (i == 1)
			o.days = 0, o.jobs = 10;
		else if (i == 2)
			o.share = 1;
		else
			o.jobs = 10;
		assert_int_equal(ct_generate(ct_generator_find("mixed"), &o, &w, &err), CT_ECONFIG);
		assert_null(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share_and_load), cmocka_unit_test(test_jobs),      cmocka_unit_test(test_names),
		cmocka_unit_test(test_seeds),          cmocka_unit_test(test_node_gpus), cmocka_unit_test(test_check),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
