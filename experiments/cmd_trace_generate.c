/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant trace generate KIND --jobs N --days D --seed S --out F [--check] */
#include "experiments/cmd_trace.h"
#include "experiments/jobs.h"
#include "experiments/table.h"
#include "sim/csv.h"
#include "sim/json.h"
#include "sim/nearest.h"
#include "traces/generate.h"
#include "traces/trace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	JOBS = 256,
	DAYS,
	SEED,
	GPUS,
	OUT,
	CHECK,
	FAILED,
	CONSTANTS,
	ASSIGN,
	SHARE,
	LOAD,
	NODE_GPUS,
	SPREAD,
	TILT,
	JSON
};
static const struct ct_flag flags[] = {
	{ "jobs", JOBS, "N", "jobs to generate" },
	{ "days", DAYS, "D", "span of their arrivals, from a Monday 00:00 on" },
	{ "gpus", GPUS, "N", "scale the arrival rate to a cluster of so many GPUs" },
	{ "seed", SEED, "N", "of all random draws (1)" },
	{ "out", OUT, "FILE", "canonical trace to write, .h5, .csv or .swf" },
	{ "assign", ASSIGN, "FILE", "give jobs workload names by these weights, e.g. data:traces/data/assign.csv" },
	{ "share", SHARE, "X", "mixed: training's share of the work, below 1 (0.7)" },
	{ "load", LOAD, "X", "mixed, testbed: offered load of --gpus (1)" },
	{ "spread", SPREAD, "X", "testbed: sd of the logarithm of run times (1.3)" },
	{ "tilt", TILT, "X", "testbed: favours large GPU counts, by count^X (0)" },
	{ "node-gpus", NODE_GPUS, "N", "mixed: leave out training on shares of more GPUs than a node has" },
	{ "failed", FAILED, NULL, "also jobs that fail, as in the trace (state 'Failed')" },
	{ "constants", CONSTANTS, "FILE", "instead of the generator's own file of constants" },
	{ "check", CHECK, NULL, "compare with the recipe; exit status 7 when a limit is exceeded" },
	{ "json", JSON, NULL, "with --check: one JSON document" },
	{ 0 },
};

struct request {
	const struct ct_generator *g;
	struct ct_generate_options o;
	const char *out;
	int check, json;
};

static int whole(const struct ct_command *self, const char *name, const char *arg, uint64_t *out)
{
	int64_t v;

	if (ct_parse_i64(arg, strlen(arg), &v) || v < 0)
		return ct_misuse(self, "--%s wants a whole number, got '%.60s'", name, arg);
	*out = (uint64_t)v;
	return 0;
}

static int number(const struct ct_command *self, const char *name, const char *arg, double *out)
{
	double v;

	if (ct_parse_f64(arg, strlen(arg), &v) || !(v > 0))
		return ct_misuse(self, "--%s wants a number above 0, got '%.60s'", name, arg);
	*out = v;
	return 0;
}

static int take(const struct ct_command *self, struct request *r, int id, const char *arg)
{
	switch (id) {
	case JOBS:
		return whole(self, "jobs", arg, &r->o.jobs);
	case SEED:
		return whole(self, "seed", arg, &r->o.seed);
	case NODE_GPUS:
		return whole(self, "node-gpus", arg, &r->o.node_gpus);
	case DAYS:
		return number(self, "days", arg, &r->o.days);
	case GPUS:
		return number(self, "gpus", arg, &r->o.gpus);
	case SHARE:
		return number(self, "share", arg, &r->o.share);
	case LOAD:
		return number(self, "load", arg, &r->o.load);
	case SPREAD:
		return number(self, "spread", arg, &r->o.spread);
	case TILT:
		if (ct_parse_f64(arg, strlen(arg), &r->o.tilt))
			return ct_misuse(self, "--tilt wants a number, got '%.60s'", arg);
		break;
	case OUT:
		r->out = arg;
		break;
	case ASSIGN:
		r->o.assign = arg;
		break;
	case CONSTANTS:
		r->o.constants = arg;
		break;
	case FAILED:
		r->o.failed = 1;
		break;
	case CHECK:
		r->check = 1;
		break;
	default:
		r->json = 1;
		break;
	}
	return 0;
}

/* ---- the check */

static int exceeded(const struct ct_marginals *m)
{
	int n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += !(m->row[i].distance <= m->row[i].limit);
	return n;
}

static void print_marginals(const struct ct_marginals *m)
{
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "property", "", CT_LEFT);
	ct_table_column(&t, "target", "", CT_RIGHT);
	ct_table_column(&t, "got", "", CT_RIGHT);
	ct_table_column(&t, "measure", "", CT_LEFT);
	ct_table_column(&t, "distance", "", CT_RIGHT);
	ct_table_column(&t, "limit", "", CT_RIGHT);
	ct_table_column(&t, "within", "", CT_LEFT);
	for (size_t i = 0; i < m->n; i++) {
		const struct ct_marginal *r = &m->row[i];

		ct_table_text(&t, r->name);
		ct_table_number(&t, r->target, 4);
		ct_table_number(&t, r->got, 4);
		ct_table_text(&t, r->measure);
		ct_table_number(&t, r->distance, 4);
		ct_table_number(&t, r->limit, 4);
		ct_table_text(&t, r->distance <= r->limit ? "yes" : "NO");
	}
	ct_table_print(&t, stdout);
	ct_table_fini(&t);
}

static int json_marginals(const struct ct_marginals *m, struct ct_err *err)
{
	struct ct_json j;

	ct_json_begin(&j, stdout);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_open(&j, "rows", '[', 0);
	for (size_t i = 0; i < m->n; i++) {
		ct_json_open(&j, NULL, '{', 1);
		ct_json_text(&j, "property", m->row[i].name);
		ct_json_text(&j, "measure", m->row[i].measure);
		ct_json_f64(&j, "target", m->row[i].target);
		ct_json_f64(&j, "got", m->row[i].got);
		ct_json_f64(&j, "distance", m->row[i].distance);
		ct_json_f64(&j, "limit", m->row[i].limit);
		ct_json_close(&j);
	}
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, "standard output", err);
}

static int check(const struct request *r, const struct ct_workload *w, struct ct_err *err)
{
	struct ct_marginals m = { 0 };
	int rc = ct_generate_check(r->g, &r->o, w, &m, err);

	if (!rc && r->json)
		rc = json_marginals(&m, err);
	else if (!rc)
		print_marginals(&m);
	if (!rc && exceeded(&m))
		rc = ct_err_add(err, CT_EMISMATCH, NULL,
				"%d of %zu properties are farther from the recipe than their limit", exceeded(&m), m.n);
	ct_marginals_fini(&m);
	return rc;
}

/* ---- generating */

static void say(const struct ct_workload *w)
{
	ct_note("generated %zu jobs over %.2f days, digest %s", w->n,
		ct_seconds(w->jobs[w->n - 1].submit_us - w->jobs[0].submit_us) / 86400, w->digest);
	for (unsigned i = 0; i < w->report.n_rules; i++)
		ct_note("note: %s: %" PRIu64 " (%s)", w->report.rules[i].rule, w->report.rules[i].rows,
			w->report.rules[i].meaning);
}

static int generate(struct request *r, struct ct_arena *arena, struct ct_err *err)
{
	struct ct_workload *w;
	int rc;

	CT_TRY(ct_jobs_generator_files(r->g, &r->o, arena, err));
	CT_TRY(ct_generate(r->g, &r->o, &w, err));
	say(w);
	rc = r->out ? ct_trace_write(w, r->out, err) : 0;
	if (!rc && r->check)
		rc = check(r, w, err);
	ct_workload_free(w);
	return rc;
}

static int unknown_kind(const struct ct_command *self, const char *word)
{
	struct ct_nearest near;
	const char *best;

	ct_nearest_init(&near, word);
	for (size_t i = 0; ct_generator_at(i); i++)
		ct_nearest_offer(&near, ct_generator_at(i)->name);
	best = ct_nearest_word(&near);
	return ct_misuse(self, "no generator '%.60s'%s%s%s; --help lists them", word, best ? "; did you mean '" : "",
			 best ? best : "", best ? "'?" : "");
}

static int act(const struct ct_command *self, struct request *r, int argc, char **argv)
{
	struct ct_arena arena = { 0 };
	struct ct_err err = { 0 };

	if (argc != 1)
		return ct_misuse(self, "wanted one kind of trace, got %d", argc);
	r->g = ct_generator_find(argv[0]);
	if (!r->g)
		return unknown_kind(self, argv[0]);
	if (!r->out && !r->check)
		return ct_misuse(self, "nothing to do: give --out FILE, --check, or both");
	if (r->out && !ct_trace_can_write(r->out))
		return ct_misuse(self, "--out wants a name that ends in .h5, .csv or .swf, got '%.200s'", r->out);
	if (!r->o.jobs && !(r->o.days > 0))
		return ct_misuse(self, "how much: give --jobs N, --days D, or both");
	generate(r, &arena, &err);
	ct_arena_fini(&arena);
	return err.code ? ct_fail(&err) : CT_OK;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader f = { .command = self, .argc = argc, .argv = argv };
	struct request r = { .o.seed = 1 };
	int id;

	(void)program;
	while ((id = ct_flag_next(&f)) >= 0)
		CT_TRY(take(self, &r, id, f.arg));
	if (id != CT_FLAGS_DONE)
		return id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	return act(self, &r, argc - f.first, argv + f.first);
}

const struct ct_command ct_cmd_trace_generate = {
	.name = "trace generate",
	.usage = "KIND [--jobs N] [--days D] [--gpus N] [--seed N] [--out FILE] [--check]",
	.summary = "make a trace that looks like a public one",
	.flags = flags,
	.notes = "  KIND is 'pai' (training and inference like Alibaba's PAI trace), 'genai' (requests like\n"
		 "  its GenAI serving trace), or 'mixed': pai's training, and genai's requests as a job for each\n"
		 "  model and half hour, for a cluster of --gpus at an offered load; 'testbed' is a day of the\n"
		 "  ElastiCo paper's workloads, by the assumptions in traces/data/testbed.csv. Without --days the\n"
		 "  span follows from the trace's own arrival rate, without --jobs their number does.",
	.examples = "  cotenant trace generate pai --jobs 20000 --days 7 --seed 3 --out pai.h5\n"
		    "  cotenant trace generate pai --jobs 1000000 --check\n"
		    "  cotenant trace generate mixed --days 1 --gpus 64 --load 1.4 --out mixed.h5",
	.run = run,
};
