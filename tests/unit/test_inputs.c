/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs of studies: which jobs a seed gets, by hand from the rows below; what is refused;
 * that a study under an input and a base is the cell one would run by oneself. */
#include "calib/calibration.h"
#include "experiments/inputs.h"
#include "experiments/study.h"
#include "traces/generate.h"
#include "traces/trace.h"
#include "traces/transform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_inputs.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[4][160];
	static int k;

	k = (k + 1) % 4;
	snprintf(path[k], sizeof path[k], "%s/%s", folder, name);
	return path[k];
}

static const char *put(const char *name, const char *text)
{
	const char *path = path_of(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

/* Three weeks from a Monday: every day at 06:00 a job of half a day on one GPU of group a, and at
 * 12:00 one of six hours on two of group b: 0.5 + 0.5 GPUs. Crowd: 2000 jobs on day 0. */
static void write_traces(void)
{
	FILE *f = fopen(path_of("days.csv"), "w"), *g = fopen(path_of("crowd.csv"), "w");

	assert_non_null(f);
	assert_non_null(g);
	fputs("job_id,submit_time,num_gpus,duration,group\n", f);
	for (int d = 0; d < 21; d++)
		fprintf(f, "a%d,%d,1,43200,a\nb%d,%d,2,21600,b\n", d, d * 86400 + 21600, d, d * 86400 + 43200);
	fputs("job_id,submit_time,num_gpus,duration\n", g);
	for (int i = 0; i < 2000; i++)
		fprintf(g, "c%d,%d,1,86.4\n", i, 40 * i);
	assert_int_equal(fclose(f) | fclose(g), 0);
	put("whole.csv", "job_id,submit_time,num_gpus,duration,model\nw1,100,1,50,BERT\nw2,200,4,50,NCF\n");
	put("pairs.csv", "gpu,job_a,scale_a,job_b,scale_b,alone_a,alone_b,packed_a,packed_b\n"
			 "v100,LM (batch size 5),1,A3C,1,10,4,5,2\n"
			 "v100,LM (batch size 10),1,A3C,1,8,4,4,2\n"
			 "v100,LM (batch size 10),1,LM (batch size 5),1,8,10,4,5\n");
}

static const char head[] = "paper: test\n"
			   "variants:\n"
			   "  fifo: {policy.name: fifo}\n"
			   "  elastico: {policy.name: elastico}\n"
			   "inputs:\n";
static const char tail[] = "studies:\n"
			   "  main: {}\n"
			   "  days: {base: other.yaml, trace.file: \"input:days\"}\n"
			   "  first: {base: other.yaml, trace.file: \"input:days@1\"}\n"
			   "figures: []\n";
static const char inputs[] = "  days:\n"
			     "    jobs:\n"
			     "      - {file: days.csv, kind: train, days: 0..20, weekdays: true}\n"
			     "      - {file: whole.csv, kind: infer}\n"
			     "  all: {jobs: [{file: days.csv, days: 2..20}]}\n"
			     "  group: {jobs: [{file: days.csv, days: 0..20, group: b}]}\n"
			     "  short: {jobs: [{file: days.csv, days: 0..20, longest: 21600}]}\n"
			     "  double: {jobs: [{file: days.csv, days: 0..20, demand: 2}]}\n"
			     "  busy: {jobs: [{file: days.csv, days: 0..20, weekdays: true, demand: 2.5}]}\n"
			     "  thin: {jobs: [{file: crowd.csv, days: 0..0, demand: 0.5}]}\n"
			     "  v100: {measured: gavel, file: pairs.csv, gpu: v100}\n"
			     "  v100-jobs: {constants: \"data:traces/data/testbed.csv\", models: v100}\n";

static struct ct_paper *paper(const char *recipes)
{
	struct ct_err err = { 0 };
	struct ct_paper *p = NULL;
	char text[8192];

	snprintf(text, sizeof text, "%s%s%s", head, recipes, tail);
	if (ct_paper_load(put("published.yaml", text), &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static struct ct_workload *jobs(struct ct_inputs *in, const char *name, int64_t seed)
{
	const struct ct_trace_options o = { 0 };
	struct ct_workload *w = NULL;
	struct ct_err err = { 0 };
	const char *path;

	if (ct_inputs_get(in, name, seed, &path, &err) || ct_trace_read(path, &o, &w, &err))
		fail_msg("%s seed %d: %s", name, (int)seed, err.text);
	return w;
}

static const char *column(const struct ct_workload *w, const char *name, size_t job)
{
	for (size_t c = 0; c < w->n_columns; c++)
		if (!strcmp(w->columns[c].name, name))
			return ct_strings_text(&w->strings, w->columns[c].value[job]);
	return "";
}

/* "train/a0@21600 ...": the jobs in order. */
static void expect(struct ct_inputs *in, const char *name, int64_t seed, const char *wanted)
{
	struct ct_workload *w = jobs(in, name, seed);
	char text[1024] = "";
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s@%.0f", i ? " " : "", w->jobs[i].id,
				      ct_seconds(w->jobs[i].submit_us));
	assert_string_equal(text, wanted);
	ct_workload_free(w);
}

static void a_day_for_each_seed(void **state)
{
	struct ct_paper *p = paper(inputs);
	struct ct_inputs *in = ct_inputs_new(p, folder);
	struct ct_workload *w;

	(void)state;
	expect(in, "days", 1, "infer/w1@100 infer/w2@200 train/a0@21600 train/b0@43200");
	expect(in, "days", 5, "infer/w1@100 infer/w2@200 train/a4@21600 train/b4@43200");
	expect(in, "days", 6, "infer/w1@100 infer/w2@200 train/a7@21600 train/b7@43200"); /* past the weekend */
	expect(in, "days@2", 6, "infer/w1@100 infer/w2@200 train/a1@21600 train/b1@43200");
	expect(in, "all", 1, "days.csv/a2@21600 days.csv/b2@43200");
	expect(in, "all", 4, "days.csv/a5@21600 days.csv/b5@43200"); /* a Saturday */
	expect(in, "group", 1, "days.csv/b0@43200");
	expect(in, "short", 2, "days.csv/b1@43200");
	w = jobs(in, "days", 1);
	assert_string_equal(column(w, "kind", 0), "infer");
	assert_string_equal(column(w, "kind", 2), "train");
	assert_string_equal(ct_strings_text(&w->strings, w->jobs[0].model), "BERT");
	assert_int_equal(w->jobs[3].num_gpus, 2);
	assert_int_equal(w->jobs[3].duration_us, 21600 * CT_SECOND);
	ct_workload_free(w);
	ct_inputs_free(in);
	ct_paper_free(p);
}

/* A day asks for 1 GPU on the average. 2: two days whole. 2.5: three at 5/6 each. */
static void demand_superposes_and_thins(void **state)
{
	struct ct_paper *p = paper(inputs);
	struct ct_inputs *in = ct_inputs_new(p, folder);
	struct ct_workload *w;
	struct ct_err err = { 0 };
	const char *path;
	double kept = 0, sd;

	(void)state;
	expect(in, "double", 1, "days.csv/a0@21600 days.csv/a1@21600 days.csv/b0@43200 days.csv/b1@43200");
	expect(in, "double", 10, "days.csv/a18@21600 days.csv/a19@21600 days.csv/b18@43200 days.csv/b19@43200");
	assert_int_equal(ct_inputs_get(in, "double", 11, &path, &err), CT_ECONFIG);
	assert_non_null(strstr(err.text, "has 21 days, 2 for a seed: enough for seeds 1 to 10, got 11"));
	for (int64_t seed = 1; seed <= 5; seed++) {
		w = jobs(in, "busy", seed);
		kept += (double)w->n;
		for (size_t i = 0; i < w->n; i++) { /* of three weekdays in a row */
			int day = atoi(strchr(w->jobs[i].id, '/') + 2);

			assert_int_equal((day / 7 * 5 + day % 7) / 3, seed - 1);
		}
		ct_workload_free(w);
	}
	sd = sqrt(30 * 5. / 6 / 6);
	assert_true(fabs(kept - 25) <= 4 * sd);
	/* the crowd is 2 GPUs; a quarter of it, each job by its own coin */
	w = jobs(in, "thin", 1);
	assert_true(fabs((double)w->n - 500) <= 4 * sqrt(2000 * .25 * .75));
	for (size_t i = 0; i < w->n; i++)
		assert_true(ct_transform_keeps(strchr(w->jobs[i].id, '/') + 1, .25, 1));
	ct_workload_free(w);
	ct_inputs_free(in);
	ct_paper_free(p);
}

static void a_measured_world(void **state)
{
	struct ct_paper *p = paper(inputs);
	struct ct_inputs *in = ct_inputs_new(p, folder);
	struct ct_generate_options o = { .seed = 1, .days = 1, .gpus = 16 };
	const struct ct_generator *g = ct_generator_find("testbed");
	struct ct_calibration *c = NULL;
	struct ct_workload *w = NULL;
	struct ct_err err = { 0 };
	const char *path;
	size_t lm = 0;

	(void)state;
	if (ct_inputs_get(in, "v100", 7, &path, &err) || ct_calibration_read(path, &c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(c->n_configs, 3);
	assert_int_equal(c->n_pairs, 3);
	ct_calibration_free(c);
	if (ct_inputs_get(in, "v100-jobs", 7, &o.constants, &err) || ct_generate(g, &o, &w, &err))
		fail_msg("%s", err.text);
	assert_true(w->n > 30);
	for (size_t i = 0; i < w->n; i++) {
		const char *model = ct_strings_text(&w->strings, w->jobs[i].model);

		assert_true(!strcmp(model, "LM") || !strcmp(model, "A3C"));
		assert_string_equal(column(w, "isl", i), "");
		lm += !strcmp(model, "LM");
	}
	assert_true(fabs((double)lm - (double)w->n / 2) <= 4 * sqrt((double)w->n / 4));
	ct_workload_free(w);
	ct_inputs_free(in);
	ct_paper_free(p);
}

static void what_is_refused(void **state)
{
	static const struct {
		const char *recipe, *name;
		int code;
		const char *wanted;
	} cases[] = {
		{ "  x: {jobs: [{file: none.csv}]}\n", "x", CT_EIO, "/none.csv', which is not there" },
		{ "  x: {jobs: [{file: days.csv, days: 3..1}]}\n", "x", CT_ECONFIG,
		  ":6:37: 'days' wants FIRST..LAST, whole numbers from 0, got '3..1'" },
		{ "  x: {jobs: [{file: days.csv, days: 0..9, demand: 0}]}\n", "x", CT_ECONFIG,
		  ":6:51: 'demand' wants a number above 0, got '0'" },
		{ "  x: {jobs: [{file: days.csv, demand: 1}]}\n", "x", CT_ECONFIG,
		  ":6:14: 'demand' and 'weekdays' want 'days'" },
		{ "  x: {jobs: [{file: days.csv, weekday: true}]}\n", "x", CT_ECONFIG, ":6:31: unknown key 'weekday'" },
		{ "  x: {jobs: [{kind: train}]}\n", "x", CT_ECONFIG, ":6:14: a part of 'x' wants a file" },
		{ "  x: {jobs: days.csv}\n", "x", CT_ECONFIG, "'jobs' wants a list of up to 16 parts, got 'days.csv'" },
		{ "  x: {jobs: [{file: days.csv, days: 50..60}]}\n", "x", CT_ECONFIG,
		  ":6:14: no job of 'days.csv' is taken for input 'x'" },
		{ "  x: {measured: gavel, file: pairs.csv}\n", "x", CT_ECONFIG, "or gavel with a gpu, and a file" },
		{ "  x: {constants: \"data:traces/data/testbed.csv\"}\n", "x", CT_ECONFIG,
		  "wants models: another input" },
		{ "  x: {made: up}\n", "x", CT_ECONFIG, ":6:6: input 'x' wants jobs, measured or constants" },
		{ "  x: {made: up}\n", "y", CT_ECONFIG, "no input 'y'" },
		{ "  x: {made: up}\n", "x@0", CT_ECONFIG, "no input 'x@0'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ct_paper *p = paper(cases[i].recipe);
		struct ct_inputs *in = ct_inputs_new(p, folder);
		struct ct_err err = { 0 };
		const char *path;

		if (ct_inputs_get(in, cases[i].name, 1, &path, &err) != cases[i].code ||
		    !strstr(err.text, cases[i].wanted))
			fail_msg("case %zu: %d, %s", i, (int)err.code, err.text);
		ct_inputs_free(in);
		ct_paper_free(p);
	}
}

static void no_data(void **state)
{
	struct ct_paper *p = paper(inputs);
	struct ct_inputs *in = ct_inputs_new(p, "/nowhere/at/all");
	struct ct_err err = { 0 };
	const char *path;

	(void)state;
	assert_int_equal(ct_inputs_get(in, "days", 1, &path, &err), CT_EIO);
	assert_non_null(strstr(err.text, "there is no folder '/nowhere/at/all': --data DIR or COTENANT_SHARED_DATA"));
	ct_inputs_free(in);
	ct_paper_free(p);
}

static const char other[] = "cluster: {nodes: 1, gpus_per_node: 4}\n"
			    "policy: {name: fifo}\n";

static void a_study_of_inputs(void **state)
{
	struct ct_paper *p = paper(inputs);
	const size_t days = ct_paper_study(p, "days"), first = ct_paper_study(p, "first");
	char made[256] = "";

	(void)state;
	put("other.yaml", other);
	put("scenario.yaml", "cluster: {nodes: 1}\n");
	assert_null(p->study[ct_paper_study(p, "main")].base);
	assert_string_equal(p->study[days].base, path_of("other.yaml"));
	for (unsigned processes = 1; processes <= 3; processes++) {
		const struct ct_study_run how = { .processes = processes };
		struct ct_inputs *in = ct_inputs_new(p, folder);
		struct ct_study *s = ct_study_new(p, path_of("scenario.yaml"), NULL, 0);
		struct ct_err err = { 0 };
		const char *path;
		double jct[3];

		ct_study_inputs(s, in);
		ct_study_want(s, days, 0, 1, 3);
		ct_study_want(s, first, 0, 1, 2);
		if (ct_study_run(s, &how, &err))
			fail_msg("%s", err.text);
		/* four GPUs, so that nobody waits: w1 50 s, w2 50 s, a 43200 s, b 21600 s */
		assert_int_equal(ct_study_values(s, days, 0, CT_METRIC_mean_jct_s, jct, 3), 3);
		for (int k = 0; k < 3; k++)
			assert_true(fabs(jct[k] - (50 + 50 + 43200 + 21600) / 4.) < 1e-6);
		assert_int_equal(ct_study_values(s, first, 0, CT_METRIC_jobs_finished, jct, 3), 2);
		assert_true(fabs(jct[1] - 4) < 1e-9);
		if (ct_inputs_get(in, "days", 1, &path, &err))
			fail_msg("%s", err.text);
		snprintf(made, sizeof made, "%s", path);
		assert_int_equal(access(made, R_OK), 0);
		ct_study_free(s);
		ct_inputs_free(in);
		assert_int_not_equal(access(made, R_OK), 0);
	}
	ct_paper_free(p);
}

static void a_study_without_inputs(void **state)
{
	const struct ct_study_run how = { .processes = 1 };
	struct ct_paper *p = paper(inputs);
	struct ct_study *s = ct_study_new(p, path_of("scenario.yaml"), NULL, 0);
	struct ct_err err = { 0 };

	(void)state;
	ct_study_want(s, ct_paper_study(p, "days"), 0, 1, 1);
	assert_int_equal(ct_study_run(s, &how, &err), CT_ECONFIG);
	assert_non_null(strstr(err.text, "study 'days', variant 'fifo', seed 1: "));
	assert_non_null(strstr(err.text, "trace.file: input:days"));
	ct_study_free(s);
	ct_paper_free(p);
}

/* Counts of another program over the published files: 3,179 jobs of 763,010 s of requests, the second
 * day of ITP's cluster 08 has 302 jobs, the sixth 220. */
static void published_files(void **state)
{
	static const char recipe[] =
	    "  itp:\n"
	    "    jobs:\n"
	    "      - {file: itp/cluster08.csv.gz, kind: train, days: 1..41}\n"
	    "      - {file: genai, kind: infer, trace.options.mapping: a2, trace.options.fold: \"1\"}\n";
	const char *env = getenv("COTENANT_SHARED_DATA"), *data = env ? env : "../shared/data";
	struct ct_inputs *in;
	struct ct_workload *w;
	struct ct_paper *p;

	(void)state;
	if (access(data, R_OK)) {
		printf("no '%s'\n", data);
		skip();
	}
	p = paper(recipe);
	in = ct_inputs_new(p, data);
	for (int seed = 1; seed <= 5; seed += 4) {
		double work = 0;
		size_t infer = 0;

		w = jobs(in, "itp", seed);
		for (size_t i = 0; i < w->n; i++) {
			if (strcmp(column(w, "kind", i), "infer") != 0)
				continue;
			work += ct_seconds(w->jobs[i].duration_us);
			infer++;
		}
		assert_int_equal(infer, 3179);
		assert_true(fabs(work - 763010) < .5);
		assert_int_equal(w->n - infer, seed == 1 ? 302 : 220);
		ct_workload_free(w);
	}
	ct_inputs_free(in);
	ct_paper_free(p);
}

static int set_up(void **state)
{
	(void)state;
	setenv("COTENANT_DATA", ".", 0); /* tests run in the project's root */
	if (!mkdtemp(folder))
		return -1;
	write_traces();
	return 0;
}

static int tear_down(void **state)
{
	static const char *const name[] = { "days.csv",       "crowd.csv",  "whole.csv",    "pairs.csv",
					    "published.yaml", "other.yaml", "scenario.yaml" };

	(void)state;
	for (size_t i = 0; i < sizeof name / sizeof *name; i++)
		unlink(path_of(name[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_day_for_each_seed),
		cmocka_unit_test(demand_superposes_and_thins),
		cmocka_unit_test(a_measured_world),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(no_data),
		cmocka_unit_test(a_study_of_inputs),
		cmocka_unit_test(a_study_without_inputs),
		cmocka_unit_test(published_files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
