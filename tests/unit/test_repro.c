/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The published figures' file and the recorded state: what is refused, what counts as a
 * difference, and that a row is what statistics say of cells run by themselves. */
#include "experiments/repro/repro.h"
#include "experiments/statistics.h"
#include "sim/output.h"

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

static char folder[] = "/tmp/test_repro.XXXXXX";

static const char *put(const char *name, const char *text)
{
	static char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static const char scenario[] = "generate: {kind: testbed, days: 0.2, load: 1.2}\n"
			       "cluster: {nodes: 2, gpus_per_node: 8}\n"
			       "policy: {name: fifo}\n"
			       "sim: {until: 17280}\n";
static const char published[] = "paper: test\n"
				"variants:\n"
				"  fifo: {policy.name: fifo}\n"
				"  easy: {policy.name: easy}\n"
				"studies:\n"
				"  main: {}\n"
				"  more: {generate.load: \"*1.5\"}\n"
				"figures:\n"
				"  - id: r\n"
				"    table: t\n"
				"    value: 0.9\n"
				"    unit: x\n"
				"    place: p\n"
				"    role: predict\n"
				"    tolerance: x0.5\n"
				"    from: runs\n"
				"    study: main\n"
				"    variant: easy\n"
				"    metric: mean_jct_s\n"
				"    over: fifo\n"
				"    definition: d\n"
				"  - id: why\n"
				"    table: t\n"
				"    value: 1\n"
				"    place: p\n"
				"    role: beside\n"
				"    from: none\n"
				"    note: n\n"
				"  - id: again\n"
				"    table: v\n"
				"    again: r\n"
				"    from: runs\n"
				"    study: more\n"
				"    variant: easy\n"
				"    metric: median_jct_s\n"
				"    over: fifo\n"
				"    complement: true\n"
				"    definition: e\n"
				"plan:\n"
				"  set: {generate.gpus: \"16\"}\n"
				"  vary: gpus=8..64\n"
				"  runs: 2\n"
				"  shared: easy\n"
				"  pools: [fifo]\n"
				"  targets: [\"mean_slowdown<=2,3\"]\n"
				"shown:\n"
				"  - table: u\n"
				"    studies: [more]\n"
				"    variants: [fifo]\n"
				"    metrics: [offered_load, mean_jct_s/easy]\n"
				"  - table: w\n"
				"    against: main\n"
				"    studies: [more]\n"
				"    variants: [easy]\n"
				"    metrics: [mean_jct_s/fifo, mean_jct_s]\n";

static struct ct_paper *paper(void)
{
	struct ct_err err = { 0 };
	struct ct_paper *p = NULL;

	if (ct_paper_load(put("published.yaml", published), &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static void test_loads(void **state)
{
	struct ct_paper *p = paper();

	(void)state;
	assert_int_equal(p->n_figures, 7);
	assert_int_equal(p->figure[4].against, SIZE_MAX);
	assert_int_equal(p->figure[5].against, ct_paper_study(p, "main"));
	assert_true(p->figure[0].relative);
	assert_true(fabs(p->figure[0].tolerance - .5) < 1e-15);
	assert_int_equal(p->figure[0].metric, CT_METRIC_mean_jct_s);
	assert_int_equal(p->figure[1].runs, 0);
	/* the published part of the other figure, and nothing else of it */
	assert_true(p->figure[2].value == p->figure[0].value && p->figure[2].tolerance == p->figure[0].tolerance);
	assert_string_equal(p->figure[2].place, "p");
	assert_string_equal(p->figure[2].definition, "e");
	assert_int_equal(p->figure[2].role, CT_ROLE_BESIDE);
	assert_string_equal(p->figure[3].id, "u.more.fifo.offered_load");
	assert_true(isnan(p->figure[4].value));
	assert_int_equal(p->figure[4].over, ct_paper_variant(p, "easy"));
	assert_string_equal(p->plan.set[0].key, "generate.gpus");
	assert_string_equal(p->plan.target[0], "mean_slowdown<=2,3");
	assert_int_equal(p->plan.n_pools, 1);
	assert_int_equal(p->plan.runs, 2);
	assert_true(ct_repro_knows(p, "u"));
	assert_false(ct_repro_knows(p, "z"));
	ct_paper_free(p);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *from, *to, *wanted;
	} cases[] = {
		{ "role: predict", "role: guess", ":14:11: 'role' wants fit, predict or beside, got 'guess'" },
		{ "variant: easy", "variant: esy", ":18:14: no variant 'esy'; did you mean 'easy'?" },
		{ "metric: mean_jct_s", "metric: jct", "'metric' wants a metric" },
		{ "tolerance: x0.5", "tolerance: 0.5", "x (relative) or a (absolute)" },
		{ "against: main", "against: man", "no against 'man'; did you mean 'main'?" },
		{ "id: why", "id: r", "figure 'r' is there twice" },
		{ "    note: n\n", "", "not produced and wants a note" },
		{ "    value: 0.9\n", "", "is published and wants value and place" },
		{ "again: r", "again: q", "figure 'again' again wants a figure above it, got 'q'" },
		{ "again: r\n", "again: r\n    value: 2\n", "and no value of its own" },
		{ "from: none", "from: cases", "from cases wants config, variant, over, metric" },
		{ "from: none", "from: clock", "from clock wants count and definition" },
		{ "from: none", "from: rumour", "'from' wants runs, plan, cases, clock, trace or none, got 'rumour'" },
		{ "  vary: gpus=8..64", "  vary: gpus=8", "'vary' wants gpus=LO..HI, got 'gpus=8'" },
		{ "mean_slowdown<=2,3", "train.mean_slowdown<=2", "'targets' wants METRIC<=NUMBER,... of a class" },
		{ "  pools: [fifo]\n", "", "'plan' wants vary, shared, runs, targets and pools" },
		{ "  runs: 2\n", "  runs: few\n", "'runs' wants a whole number of 1 to 1000, got 'few'" },
		{ "    definition: d\n", "    colour: d\n", "unknown key 'colour'" },
		{ "from: none", "from: thin air", "'from' wants runs, plan, cases, clock, trace or none" },
		{ "from: none", "from: trace", "from trace wants input, figure, definition" },
		{ "from: none", "from: trace\n    input: philly", "'input' wants pai or genai, got 'philly'" },
		{ "    note: n\n", "    note: n\n    input: pai\n", "has input or figure, but is not from trace" },
		{ "from: runs", "from: trace\n    input: pai\n    figure: f", "wants the role beside" },
		{ "studies: [more]", "studies: [less]", "no study 'less'" },
		{ "variants:\n  fifo", "variants:\n  fifo: 1\n  lifo", "'fifo' wants a mapping of settings" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *at = strstr(published, cases[i].from);
		struct ct_err err = { 0 };
		struct ct_paper *p = NULL;
		char text[4096];

		assert_non_null(at);
		snprintf(text, sizeof text, "%.*s%s%s", (int)(at - published), published, cases[i].to,
			 at + strlen(cases[i].from));
		assert_int_equal(ct_paper_load(put("bad.yaml", text), &p, &err), CT_ECONFIG);
		if (!strstr(err.text, cases[i].wanted))
			fail_msg("case %zu: %s", i, err.text);
	}
}

/* One cell as anybody would run it. */
static double alone(const char *policy, int64_t seed, const char *load, int metric)
{
	struct ct_cell_set set[3] = { { "policy.name", policy }, { "sim.seed", NULL }, { "generate.load", load } };
	struct ct_cell_request q = { 0 };
	struct ct_cell_result r;
	struct ct_err err = { 0 };
	struct ct_config c;
	char text[32], path[128];
	double v = NAN;

	snprintf(text, sizeof text, "%lld", (long long)seed);
	snprintf(path, sizeof path, "%s/scenario.yaml", folder);
	set[1].value = text;
	ct_config_init(&c);
	if (ct_cell_config(&c, path, set, 3, &err) || ct_cell_run(&c, &q, &r, &err))
		fail_msg("%s", err.text);
	v = r.summary[metric];
	ct_cell_fini(&r);
	ct_config_fini(&c);
	return v;
}

static void same(double a, double b)
{
	if (fabs(a - b) > 1e-12 * fabs(b))
		fail_msg("%.17g is not %.17g", a, b);
}

static double mean_of(const char *policy, const char *load, int metric, int64_t n)
{
	double sum = 0;

	for (int64_t seed = 1; seed <= n; seed++)
		sum += alone(policy, seed, load, metric);
	return sum / (double)n;
}

/* The ratio's interval by Fieller, that of a run from the logarithms; 1.2 x 1.5 = 1.8; any
 * number of processes. */
static void test_rows(void **state)
{
	enum { N = 4 };
	struct ct_paper *p = paper();
	char path[128];
	double a[N], b[N], logs[N];
	struct ct_estimate e;

	(void)state;
	snprintf(path, sizeof path, "%s", put("scenario.yaml", scenario));
	for (int i = 0; i < N; i++) {
		a[i] = alone("fifo", i + 1, "1.2", CT_METRIC_mean_jct_s);
		b[i] = alone("easy", i + 1, "1.2", CT_METRIC_mean_jct_s);
		logs[i] = log(b[i] / a[i]);
	}
	for (unsigned processes = 1; processes <= 3; processes++) {
		const struct ct_study_run how = { .processes = processes };
		struct ct_study *s = ct_study_new(p, path, NULL, 0);
		struct ct_repro rows = { 0 }, shown = { 0 }, again = { 0 }, all = { 0 };
		struct ct_err err = { 0 };

		ct_repro_want(p, s, "t", N);
		ct_repro_want(p, s, "u", N);
		ct_repro_want(p, s, "v", N);
		if (ct_study_run(s, &how, &err))
			fail_msg("%s", err.text);
		ct_repro_rows(p, s, "t", &rows);
		ct_repro_rows(p, s, "u", &shown);
		ct_repro_rows(p, s, "v", &again);
		ct_repro_rows(p, s, "all", &all); /* each published cell once */
		assert_int_equal(all.n, 2);
		assert_int_equal(again.n, 1);
		same(again.row[0].ours, 1 - mean_of("easy", "1.8", CT_METRIC_median_jct_s, N) /
						mean_of("fifo", "1.8", CT_METRIC_median_jct_s, N));
		assert_true(again.row[0].mean_lo < again.row[0].ours && again.row[0].ours < again.row[0].mean_hi);
		assert_int_equal(again.row[0].agrees, .9 >= again.row[0].lo && .9 <= again.row[0].hi);
		assert_int_equal(rows.n, 2);
		assert_int_equal(rows.row[0].seeds, N);
		same(rows.row[0].ours, ct_mean(b, N) / ct_mean(a, N));
		e = ct_ratio_interval(a, b, N, .95);
		same(rows.row[0].mean_lo, e.lo);
		same(rows.row[0].mean_hi, e.hi);
		e = ct_prediction_interval(logs, N, .95);
		same(rows.row[0].lo, exp(e.lo));
		same(rows.row[0].hi, exp(e.hi));
		assert_int_equal(rows.row[0].agrees, .9 >= exp(e.lo) && .9 <= exp(e.hi));
		assert_int_equal(rows.row[1].agrees, -1);
		same(shown.row[0].ours, mean_of("fifo", "1.8", CT_METRIC_offered_load, N));
		ct_repro_fini(&rows);
		ct_repro_fini(&again);
		ct_repro_fini(&all);
		ct_repro_fini(&shown);
		ct_study_free(s);
	}
	ct_paper_free(p);
}

/* What a change does to a ratio, and to a value, under the same seeds. */
static void test_effect(void **state)
{
	enum { N = 3 };
	static const char *const load[] = { "1.2", "1.8" }, *const policy[] = { "fifo", "easy" };
	const struct ct_study_run how = { .processes = 1 };
	struct ct_paper *p = paper();
	struct ct_repro rows = { 0 };
	struct ct_err err = { 0 };
	struct ct_study *s;
	double v[4][N];
	char path[128];

	(void)state;
	snprintf(path, sizeof path, "%s", put("scenario.yaml", scenario));
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < N; i++)
			v[k][i] = alone(policy[k % 2], i + 1, load[k / 2], CT_METRIC_mean_jct_s);
	s = ct_study_new(p, path, NULL, 0);
	ct_repro_want(p, s, "w", N);
	if (ct_study_run(s, &how, &err))
		fail_msg("%s", err.text);
	ct_repro_rows(p, s, "w", &rows);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.row[0].seeds, N);
	same(rows.row[0].ours, ct_mean(v[3], N) / ct_mean(v[2], N) / (ct_mean(v[1], N) / ct_mean(v[0], N)));
	same(rows.row[1].ours, ct_mean(v[3], N) / ct_mean(v[1], N));
	ct_repro_fini(&rows);
	ct_study_free(s);
	ct_paper_free(p);
}

/* Two studies as draws, three of four seeds: the ratio of means of each, their spread, and
 * truth and seeds together; the published value comes from the figure of study main. */
static void test_pooled(void **state)
{
	enum { N = 3, DRAWS = 2 };
	static const char *const load[DRAWS] = { "1.2", "1.8" };
	static const char more[] = "  - table: x\n"
				   "    pooled: d\n"
				   "    seeds_most: 3\n"
				   "    studies: [main, more]\n"
				   "    variants: [easy]\n"
				   "    metrics: [mean_jct_s/fifo, offered_load]\n";
	const struct ct_study_run how = { .processes = 1 };
	double mean[DRAWS * N], logs[DRAWS * N], level[DRAWS * N], a[N], b[N];
	struct ct_repro rows = { 0 };
	struct ct_err err = { 0 };
	struct ct_pooled whole, single;
	struct ct_paper *p = NULL;
	struct ct_study *s;
	char text[4096], path[128];

	(void)state;
	snprintf(text, sizeof text, "%s%s", published, more);
	if (ct_paper_load(put("published.yaml", text), &p, &err))
		fail_msg("%s", err.text);
	snprintf(path, sizeof path, "%s", put("scenario.yaml", scenario));
	for (int d = 0; d < DRAWS; d++) {
		for (int i = 0; i < N; i++) {
			a[i] = alone("fifo", i + 1, load[d], CT_METRIC_mean_jct_s);
			b[i] = alone("easy", i + 1, load[d], CT_METRIC_mean_jct_s);
			level[d * N + i] = alone("easy", i + 1, load[d], CT_METRIC_offered_load);
			logs[d * N + i] = log(b[i] / a[i]);
		}
		for (int i = 0; i < N; i++)
			mean[d * N + i] =
			    log(ct_mean(b, N) / ct_mean(a, N)) + b[i] / ct_mean(b, N) - a[i] / ct_mean(a, N);
	}
	whole = ct_pooled_intervals(mean, DRAWS, N, .95);
	single = ct_pooled_intervals(logs, DRAWS, N, .95);
	s = ct_study_new(p, path, NULL, 0);
	ct_repro_want(p, s, "x", 4);
	ct_repro_want(p, s, "t", 4); /* a seed more of study main is there and not taken */
	if (ct_study_run(s, &how, &err))
		fail_msg("%s", err.text);
	ct_repro_rows(p, s, "x", &rows);
	assert_int_equal(rows.n, 4);
	assert_string_equal(rows.row[0].figure->id, "x.d.spread.easy.mean_jct_s");
	assert_string_equal(rows.row[1].figure->id, "x.d.whole.easy.mean_jct_s");
	assert_string_equal(rows.row[3].figure->id, "x.d.whole.easy.offered_load");
	for (int k = 0; k < 2; k++) {
		assert_int_equal(rows.row[k].seeds, N);
		same(rows.row[k].ours, exp(whole.mean.value));
		same(rows.row[k].figure->value, .9);
		assert_true(isnan(rows.row[k + 2].figure->value));
	}
	same(rows.row[0].mean_lo, exp(whole.lo));
	same(rows.row[0].mean_hi, exp(whole.hi));
	assert_true(isnan(rows.row[0].lo));
	assert_int_equal(rows.row[0].agrees, -1);
	same(rows.row[1].mean_lo, exp(whole.mean.lo));
	same(rows.row[1].mean_hi, exp(whole.mean.hi));
	same(rows.row[1].lo, exp(single.single.lo));
	same(rows.row[1].hi, exp(single.single.hi));
	assert_int_equal(rows.row[1].agrees, .9 >= exp(single.single.lo) && .9 <= exp(single.single.hi));
	whole = ct_pooled_intervals(level, DRAWS, N, .95);
	same(rows.row[3].ours, whole.mean.value);
	same(rows.row[3].mean_hi, whole.mean.hi);
	same(rows.row[2].mean_hi, whole.hi);
	ct_repro_fini(&rows);
	ct_repro_rows(p, s, "all", &rows); /* what is published, once */
	assert_int_equal(rows.n, 2);
	ct_repro_fini(&rows);
	ct_study_free(s);
	ct_paper_free(p);
}

/* Five jobs: the second is like the first; the third has another GPU count, the fourth another
 * workload, the fifth one that has no profile. Of four that ask, one hits. First come, first served
 * on GPUs of their own: no transitions. */
static void test_profile_hits(void **state)
{
	static const char text[] = "variants:\n  fifo: {policy.name: fifo}\nstudies:\n  main: {}\nfigures: []\n"
				   "shown:\n  - table: t\n    studies: [main]\n    variants: [fifo]\n"
				   "    metrics: [profile_hits_frac, transition_gpu_frac]\n";
	const struct ct_study_run how = { .processes = 1 };
	struct ct_repro rows = { 0 };
	struct ct_err err = { 0 };
	struct ct_paper *p = NULL;
	struct ct_study *s;
	char path[128];

	(void)state;
	put("jobs.csv", "job_id,submit_time,num_gpus,duration,model\na,0,1,100,BERT\nb,5,1,50,BERT\nc,6,2,70,BERT\n"
			"d,7,1,30,NCF\ne,8,1,30,unheard\n");
	snprintf(path, sizeof path, "%s",
		 put("scenario.yaml", "trace: {file: jobs.csv}\ncluster: {nodes: 2, gpus_per_node: 8}\n"
				      "calib: {dir: \"data:calib/a100-40gb\"}\npolicy: {name: fifo}\n"));
	if (ct_paper_load(put("published.yaml", text), &p, &err))
		fail_msg("%s", err.text);
	s = ct_study_new(p, path, NULL, 0);
	ct_repro_want(p, s, "t", 1);
	if (ct_study_run(s, &how, &err))
		fail_msg("%s", err.text);
	ct_repro_rows(p, s, "t", &rows);
	assert_int_equal(rows.n, 2);
	assert_true(rows.row[0].ours == .25);
	assert_true(rows.row[1].ours == 0);
	ct_repro_fini(&rows);
	ct_study_free(s);
	ct_paper_free(p);
}

/* All of the interval above 0, around it, below it; one seed has none. */
static void test_stability(void **state)
{
	static const struct ct_paper_figure growth = { .id = "a", .runs = 1, .metric = CT_METRIC_backlog_growth },
					    other = { .id = "b", .runs = 1, .metric = CT_METRIC_mean_jct_s };
	static const struct {
		double lo, hi;
		const char *wanted;
	} cases[] = { { 0.1, 5, "NOT stable" }, { -1, 5, "no growth shown" }, { -5, -1, "worked off" } };
	struct ct_repro_row r = { .figure = &growth, .mean_lo = NAN, .mean_hi = NAN };

	(void)state;
	assert_null(ct_repro_stability(&r));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		r.mean_lo = cases[i].lo;
		r.mean_hi = cases[i].hi;
		assert_non_null(strstr(ct_repro_stability(&r), cases[i].wanted));
	}
	r.figure = &other;
	assert_null(ct_repro_stability(&r));
}

static size_t differing(const struct ct_recorded *r, const struct ct_repro *now)
{
	FILE *null = fopen("/dev/null", "w");
	size_t n = ct_recorded_compare(r, now, null);

	fclose(null);
	return n;
}

static void test_recorded(void **state)
{
	static const struct ct_paper_figure f = { .id = "a", .runs = 1 }, g = { .id = "b", .runs = 1 },
					    clock = { .id = "c", .runs = 1, .metric = CT_STUDY_epoch_ms };
	struct ct_repro_row row[3] = { { .figure = &f, .seeds = 5, .ours = .5, .agrees = 1 },
				       { .figure = &g, .seeds = 5, .ours = 2, .agrees = 0 },
				       { .figure = &clock, .seeds = 5, .ours = 3, .agrees = 1 } };
	struct ct_repro now = { .row = row, .n = 3 };
	struct ct_recorded none = { 0 }, r = { 0 };
	struct ct_err err = { 0 };
	char path[128];

	(void)state;
	snprintf(path, sizeof path, "%s/recorded.csv", folder);
	assert_int_equal(differing(&none, &now), 2);
	assert_int_equal(ct_recorded_write(&none, &now, path, &err), 0);
	assert_int_equal(ct_recorded_load(path, &r, &err), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(differing(&r, &now), 0);
	row[0].ours = .5 * (1 + 1e-10);
	assert_int_equal(differing(&r, &now), 0);
	row[0].ours = .5 * (1 + 1e-8);
	assert_int_equal(differing(&r, &now), 1);
	row[0].ours = .5;
	row[1].agrees = 1;
	assert_int_equal(differing(&r, &now), 1);
	row[1].agrees = 0;
	row[1].seeds = 6;
	assert_int_equal(differing(&r, &now), 1);
	now.n = 1; /* what was not run does not differ, and stays recorded */
	assert_int_equal(differing(&r, &now), 0);
	assert_int_equal(ct_recorded_write(&r, &now, path, &err), 0);
	ct_recorded_fini(&r);
	assert_int_equal(ct_recorded_load(path, &r, &err), 0);
	assert_int_equal(r.n, 2);
	ct_recorded_fini(&r);
	put("recorded.csv", "id,seeds,value,agrees\na,5,0.5,yes\na,5,x,perhaps\n");
	assert_int_equal(ct_recorded_load(path, &r, &err), CT_ECONFIG);
	assert_non_null(strstr(err.text, "recorded.csv:3"));
}

static int make_folder(void **state)
{
	(void)state;
	if (setenv("COTENANT_DATA", ".", 1))
		return -1;
	return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "published.yaml", "bad.yaml", "scenario.yaml", "recorded.csv",
					     "jobs.csv" };
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),     cmocka_unit_test(test_refusals), cmocka_unit_test(test_rows),
		cmocka_unit_test(test_effect),    cmocka_unit_test(test_pooled),   cmocka_unit_test(test_profile_hits),
		cmocka_unit_test(test_stability), cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
