/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two generators and the operations of transform.h:
 *
 *  1. pai: its training jobs that ask for GPUs. What does not fit is left out and
 *     counted: gangs of more GPUs than the cluster has, run times above the span, and
 *     where a node's size is given gangs of GPU shares above it, which policies that
 *     pack cannot place. GPU types are left out too, since the cluster is of one.
 *  2. genai: its requests, of seconds each, become offline-inference jobs by the
 *     reader's mapping A2: all requests to one model in one window of time, submitted
 *     with the last of them, on one GPU. Batches of few requests are left out and counted.
 *  3. Each generator is asked for so many jobs that its part has the work of its share
 *     or a little more; ct_transform_mix() thins it to the share and sets the load.
 *
 * pai draws from the seed, genai from another made of it. */
#include "traces/generate_mixed.h"

#include "traces/genai.h"
#include "traces/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 12 };
#define OTHER_SEED  (UINT64_C(1) << 62)
#define SHARE_ERROR .002

static const char *const kept_column = "kind";

/* ---- options */

struct mixer {
	const struct ct_generate_options *o;
	struct ct_err *err;
	double share, load;
};

static int settle(const struct ct_generate_options *o, struct mixer *m, struct ct_err *err)
{
	*m = (struct mixer){ o, err, o->share > 0 ? o->share : CT_MIXED_SHARE, o->load > 0 ? o->load : CT_MIXED_LOAD };
	if (!(o->days > 0) || !(o->gpus > 0))
		return ct_err_at(err, CT_ECONFIG, NULL, "a mixed trace wants a number of days and of GPUs");
	if (o->jobs)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "the number of jobs of a mixed trace follows from days, GPUs and load; leave it out");
	if (!(m->share < 1))
		return ct_err_at(err, CT_ECONFIG, NULL, "the share of a mixed trace wants a number below 1, got %g",
				 m->share);
	return 0;
}

/* ---- training */

static const struct ct_extra_column *column_of(const struct ct_workload *w, const char *name)
{
	for (size_t i = 0; i < w->n_columns; i++)
		if (strcmp(w->columns[i].name, name) == 0)
			return &w->columns[i];
	return NULL;
}

static uint32_t moved(struct ct_workload *to, const struct ct_workload *w, uint32_t string)
{
	const char *text = ct_strings_text(&w->strings, string);

	return ct_strings_add(&to->strings, text, strlen(text));
}

static void add_training(struct ct_workload *to, const struct ct_workload *w, const struct ct_job *from)
{
	struct ct_job j = *from;
	uint32_t k;

	j.id = ct_workload_text(to, j.id, strlen(j.id));
	j.user = moved(to, w, j.user);
	j.group = moved(to, w, j.group);
	j.state = moved(to, w, j.state);
	j.gpu_type = 0;
	k = ct_workload_add(to, &j);
	ct_workload_set_extra(to, ct_workload_column(to, kept_column), k, "train", strlen("train"));
}

static struct ct_workload *empty(const struct ct_workload *w)
{
	struct ct_workload *to = ct_workload_new();

	to->report.source = w->report.source;
	to->report.format = w->report.format;
	to->report.rows_read = w->n;
	ct_workload_history(to, "%s", w->report.history);
	return to;
}

static struct ct_workload *training_of(const struct mixer *m, const struct ct_workload *w)
{
	const struct ct_extra_column *kind = column_of(w, kept_column);
	struct ct_workload *to = empty(w);
	uint64_t inference = 0, cpu = 0, large = 0, late = 0, spread = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];

		if (!kind || strcmp(ct_strings_text(&w->strings, kind->value[i]), "train") != 0)
			inference++;
		else if (!j->num_gpus)
			cpu++;
		else if (j->num_gpus > m->o->gpus)
			large++;
		else if (ct_seconds(j->duration_us) > m->o->days * 86400)
			late++;
		else if (m->o->node_gpus && j->gpu_milli < 1000 && j->num_gpus > m->o->node_gpus)
			spread++;
		else
			add_training(to, w, j);
	}
	ct_workload_count(to, "dropped_inference", "job of the training trace that is no training", inference, 1);
	ct_workload_count(to, "dropped_cpu_only", "training without a GPU", cpu, 1);
	ct_workload_count(to, "dropped_too_large", "training on more GPUs than the cluster has", large, 1);
	ct_workload_count(to, "dropped_longer_than_span", "training with a run time above the span", late, 1);
	ct_workload_count(to, "dropped_shares_across_nodes", "training on shares of more GPUs than a node has", spread,
			  1);
	return to;
}

/* ---- inference */

/* The requests as the reader of the real trace would hold them. */
static struct ct_genai *as_read(const struct ct_workload *w)
{
	struct ct_genai *g = ct_calloc(1, sizeof *g);
	struct ct_genai_request *q;

	q = g->request[0] = ct_calloc(w->n, sizeof *q);
	g->n_requests[0] = w->n;
	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];
		const char *user = ct_strings_text(&w->strings, j->user);
		const char *model = ct_strings_text(&w->strings, j->group);

		q[i].at = j->submit_us;
		q[i].exec = j->duration_us;
		q[i].user = ct_strings_add(&g->names, user, strlen(user));
		q[i].model = ct_strings_add(&g->names, model, strlen(model));
		q[i].status = CT_GENAI_SUCCEED;
		for (size_t k = 0; k < CT_GENAI_NUMBERS; k++)
			q[i].number[k] = NAN;
	}
	return g;
}

/* Workload of every model, by the model's number in `to`. */
static uint32_t *workloads(struct ct_workload *to, const struct ct_workload *w)
{
	uint32_t *of = ct_calloc(w->strings.n + w->n + 2, sizeof *of);

	for (size_t i = 0; i < w->n; i++) {
		uint32_t model = moved(to, w, w->jobs[i].group);

		of[model] = moved(to, w, w->jobs[i].model);
	}
	return of;
}

/* Batches of at least so many requests, with the workload that the generator gave
 * their model. */
static void add_batches(struct ct_workload *to, const struct ct_workload *all, const struct ct_workload *w,
			double least)
{
	const struct ct_extra_column *requests = column_of(all, "requests");
	uint32_t *workload = workloads(to, w);
	uint64_t small = 0;

	for (size_t i = 0; i < all->n; i++) {
		const char *n = requests ? ct_strings_text(&all->strings, requests->value[i]) : "";
		struct ct_job j = all->jobs[i];
		uint32_t k;

		if (strtod(n, NULL) < least) {
			small++;
			continue;
		}
		j.id = ct_workload_text(to, j.id, strlen(j.id));
		j.group = moved(to, all, j.group);
		j.model = workload[j.group];
		j.user = 0;
		k = ct_workload_add(to, &j);
		ct_workload_set_extra(to, ct_workload_column(to, kept_column), k, "infer", strlen("infer"));
		ct_workload_set_extra(to, ct_workload_column(to, "requests"), k, n, strlen(n));
	}
	ct_workload_count(to, "dropped_small_batch", "batch of few requests, of seconds: no job", small, 1);
	free(workload);
}

static int map(const struct ct_workload *w, struct ct_workload *all, double window, struct ct_err *err)
{
	const struct ct_trace_options o = { 0 };
	struct ct_genai_options opts;
	struct ct_genai *g;
	int rc;

	CT_TRY(ct_trace_opts_read(ct_genai_opts, "genai", &o, &opts, err));
	opts.mapping = CT_GENAI_A2;
	opts.window_s = window;
	g = as_read(w);
	rc = ct_genai_jobs(g, &opts, all, err);
	ct_genai_free(g);
	return rc;
}

static int read_batches(const char *constants, double *window, double *least, struct ct_err *err)
{
	struct ct_constants *c;

	CT_TRY(ct_constants_load(constants, &c, err));
	*window = ct_constant(c, "batch_window_s", err);
	*least = ct_constant(c, "batch_least_requests", err);
	if (!err->code && !(*window >= 1 && *window <= 1e9))
		ct_constants_refuse(c, err, "'batch_window_s' wants 1 to 1e9");
	ct_constants_free(c);
	return (int)err->code;
}

static int inference_of(const struct mixer *m, const struct ct_workload *w, struct ct_workload **out)
{
	struct ct_workload *all = ct_workload_new(), *to = empty(w);
	double window, least;
	int rc = read_batches(m->o->other, &window, &least, m->err);

	if (!rc)
		rc = map(w, all, window, m->err);
	if (!rc) {
		add_batches(to, all, w, least);
		ct_workload_history(to, "map a2 window=%.12g least_requests=%.12g: %zu jobs", window, least, to->n);
		*out = to;
	} else {
		ct_workload_free(to);
	}
	ct_workload_free(all);
	return rc;
}

/* ---- parts of the wanted size */

static int make_once(const struct mixer *m, int inference, uint64_t jobs, size_t *drawn, struct ct_workload **out)
{
	const struct ct_generator *g = ct_generator_find(inference ? "genai" : "pai");
	struct ct_generate_options o = *m->o;
	struct ct_workload *w;
	int rc = 0;

	o.jobs = jobs;
	o.assign = NULL;
	o.load = o.share = 0; /* of the mix alone */
	o.node_gpus = 0;
	if (inference) {
		o.constants = m->o->other;
		o.seed ^= OTHER_SEED;
	}
	CT_TRY(ct_generate(g, &o, &w, m->err));
	*drawn = w->n;
	if (inference)
		rc = inference_of(m, w, out);
	else
		*out = training_of(m, w);
	ct_workload_free(w);
	if (rc)
		return rc;
	(*out)->report.rows_kept = (*out)->n;
	rc = ct_workload_seal(*out, m->err);
	if (rc)
		ct_workload_free(*out);
	return rc;
}

/* With `surplus` times the work of its share, or up to half as much again: as many jobs
 * as the trace's own rate gives first, then as many more as these lacked. What still
 * lacks, the mix makes up by repeating jobs, and says so. */
static int make_part(const struct mixer *m, int inference, double surplus, struct ct_workload **out)
{
	double share = inference ? 1 - m->share : m->share, jobs = 0;
	double wanted = surplus * share * m->load * m->o->gpus * m->o->days * 86400;
	struct ct_workload *w = NULL;

	for (int i = 0; i < TRIES; i++) {
		size_t drawn;
		double work;

		ct_workload_free(w);
		CT_TRY(make_once(m, inference, (uint64_t)jobs, &drawn, &w));
		work = ct_workload_gpu_seconds(w);
		if (work >= wanted && work <= 1.5 * wanted)
			break;
		jobs = ceil((double)drawn * fmin(8, work > 0 ? 1.1 * wanted / work : 8));
		if (jobs > UINT32_MAX / 2)
			break;
	}
	*out = w;
	return 0;
}

static void report_drops(struct ct_workload *to, const struct ct_workload *part)
{
	for (unsigned i = 0; i < part->report.n_rules; i++) {
		const struct ct_rule_count *r = &part->report.rules[i];

		if (r->dropped)
			ct_workload_count(to, r->rule, r->meaning, r->rows, 1);
	}
}

static int mix(const struct mixer *m, const struct ct_workload *train, const struct ct_workload *infer,
	       struct ct_workload **out)
{
	const struct ct_mix_part part[] = { { train, "pai", m->share }, { infer, "genai", 1 - m->share } };
	const struct ct_mix_options o = {
		.span = (ct_time)(m->o->days * 86400 * 1e6), .gpus = m->o->gpus, .load = m->load, .seed = m->o->seed
	};

	CT_TRY(ct_transform_mix(part, 2, &o, out, m->err));
	report_drops(*out, train);
	report_drops(*out, infer);
	return 0;
}

static double training_share(const struct ct_workload *w)
{
	const struct ct_extra_column *kind = column_of(w, kept_column);
	double work = 0, train = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];
		double job = ct_seconds(j->duration_us) * j->num_gpus * j->gpu_milli / 1000;

		work += job;
		train += kind && strcmp(ct_strings_text(&w->strings, kind->value[i]), "train") == 0 ? job : 0;
	}
	return work > 0 ? train / work : (double)NAN;
}

int ct_generate_mixed(const struct ct_generate_options *o, struct ct_workload **out, struct ct_err *err)
{
	static const double surplus[] = { 1, 1.15, 1.35, 1.7, 2.5 };
	struct ct_workload *train, *infer, *made = NULL;
	struct mixer m;
	int rc;

	CT_TRY(settle(o, &m, err));
	CT_TRY(make_part(&m, 1, 1, &infer));
	/* A few large jobs that do not fit any more can leave the share unfilled. */
	for (size_t i = 0; i < sizeof surplus / sizeof *surplus; i++) {
		ct_workload_free(made);
		made = NULL;
		rc = make_part(&m, 0, surplus[i], &train);
		if (rc)
			break;
		rc = mix(&m, train, infer, &made);
		ct_workload_free(train);
		if (rc || fabs(training_share(made) - m.share) <= SHARE_ERROR)
			break;
	}
	ct_workload_free(infer);
	if (!rc)
		*out = made;
	return rc;
}

/* ---- the check */

static void compare(struct ct_marginals *out, const char *name, double target, double got, double limit)
{
	ct_marginals_add(out, &(struct ct_marginal){ name, "absolute", target, got, fabs(got - target), limit });
}

int ct_generate_mixed_check(const struct ct_generate_options *o, const struct ct_constants *c,
			    const struct ct_workload *w, struct ct_marginals *out, struct ct_err *err)
{
	double unnamed = 0, large = 0;
	struct mixer m;

	(void)c;
	CT_TRY(settle(o, &m, err));
	for (size_t i = 0; i < w->n; i++) {
		unnamed += !w->jobs[i].model;
		large += w->jobs[i].num_gpus > o->gpus;
	}
	compare(out, "training's share of the work", m.share, training_share(w), .01);
	compare(out, "offered load", m.load, ct_workload_offered_load(w, o->gpus), .01);
	compare(out, "jobs without a workload name", 0, unnamed, 0);
	compare(out, "jobs larger than the cluster", 0, large, 0);
	return 0;
}
