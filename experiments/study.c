/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/study.h"

#include "experiments/config_table.h"
#include "experiments/option.h"
#include "experiments/workers.h"
#include "sim/csv.h"
#include "sim/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS = 64 };

struct cell {
	size_t study, variant;
	int64_t seed;
	int done;
	double value[CT_STUDY_METRIC_COUNT];
};

struct ct_study {
	const struct ct_paper *paper;
	const char *scenario;
	const struct ct_cell_set *set;
	size_t n_set;
	struct ct_inputs *inputs;
	struct cell *cell;
	size_t n, cap;
	struct ct_trained *trained; /* each worker has its own copy */
};

/* ---- metrics */

static const char *const own_key[] = {
#define KEY(key, text) #key,
	CT_STUDY_METRICS(KEY)
#undef KEY
};
enum { OWN = sizeof own_key / sizeof *own_key };

int ct_study_metric(const char *key)
{
	int m = ct_metric_find(key);

	for (int i = 0; m < 0 && i < OWN; i++)
		if (!strcmp(own_key[i], key))
			m = CT_METRIC_COUNT + i;
	return m;
}

const char *ct_study_metric_key(int metric)
{
	return metric < CT_METRIC_COUNT ? ct_metric_info[metric].key : own_key[metric - CT_METRIC_COUNT];
}

static void quantile_of(double *v, size_t n, double q, double *out)
{
	*out = NAN;
	ct_quantiles(v, n, &q, 1, out);
}

/* JCT by class: 1 training, 0 inference, as the families say. */
static void by_class(const struct ct_cell_result *r, int train, double *mean, double *median)
{
	const struct ct_outcome *o = ct_world_outcomes(r->world);
	const struct ct_workload *w = r->setup.work;
	const struct ct_family *const *f = r->setup.spec.families;
	double *jct = ct_calloc(w->n + 1, sizeof *jct), sum = 0;
	size_t n = 0;

	for (size_t i = 0; f && i < w->n; i++) {
		if (o[i].state != CT_JOB_FINISHED || !f[i] || f[i]->train != train)
			continue;
		jct[n] = ct_seconds(o[i].finish_us - w->jobs[i].submit_us);
		sum += jct[n++];
	}
	*mean = n ? sum / (double)n : (double)NAN;
	quantile_of(jct, n, 0.5, median);
	free(jct);
}

static double slowest_decile(const struct ct_cell_result *r)
{
	const struct ct_outcome *o = ct_world_outcomes(r->world);
	const struct ct_workload *w = r->setup.work;
	double *rate = ct_calloc(w->n + 1, sizeof *rate), q;
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		if (o[i].state == CT_JOB_FINISHED)
			rate[n++] = ct_seconds(w->jobs[i].duration_us) / ct_seconds(o[i].finish_us - o[i].start_us);
	quantile_of(rate, n, 0.1, &q);
	free(rate);
	return q;
}

/* From the first submission to the last finish. */
static double transition_share(const struct ct_cell_result *r, double gpu_h)
{
	const struct ct_outcome *o = ct_world_outcomes(r->world);
	const struct ct_workload *w = r->setup.work;
	double still = 0;

	for (size_t i = 0; i < w->n; i++)
		still += ct_seconds(o[i].phase_us[CT_PHASE_PAUSE] + o[i].phase_us[CT_PHASE_SWITCH]) *
			 w->jobs[i].num_gpus * w->jobs[i].gpu_milli / 1000;
	return gpu_h > 0 ? still / 3600 / gpu_h : (double)NAN;
}

/* What a cache of profiles would hit that is empty at first and never forgets. A family is made for each
 * workload, lengths and GPU count (calib/truth.h), so one that was seen is one that was profiled. */
static double profile_hits(const struct ct_cell_result *r)
{
	const struct ct_family *const *f = r->setup.spec.families;
	size_t n = r->setup.work->n, asked = 0, hits = 0, n_seen = 0;
	const struct ct_family **seen = ct_calloc(n + 1, sizeof *seen);

	for (size_t i = 0; f && i < n; i++) {
		size_t k = 0;

		if (!f[i])
			continue;
		asked++;
		while (k < n_seen && seen[k] != f[i])
			k++;
		hits += k < n_seen;
		if (k == n_seen)
			seen[n_seen++] = f[i];
	}
	free(seen);
	return asked ? (double)hits / (double)asked : (double)NAN;
}

static void measure(const struct ct_cell_result *r, double *value)
{
	const struct ct_account *a = &r->account;
	double gpu_h = r->summary[CT_METRIC_makespan_s] / 3600 * ct_world_cluster(r->world)->n_gpus;
	uint64_t n = a->n_transitions[CT_TRANSITION_SWITCH] + a->n_transitions[CT_TRANSITION_MIGRATE];

	memcpy(value, r->summary, sizeof r->summary);
	by_class(r, 1, &value[CT_STUDY_mean_train_jct_s], &value[CT_STUDY_median_train_jct_s]);
	by_class(r, 0, &value[CT_STUDY_mean_infer_jct_s], &value[CT_STUDY_median_infer_jct_s]);
	value[CT_STUDY_slowest_decile_rate] = slowest_decile(r);
	value[CT_STUDY_transitions_per_gpu_h] = gpu_h > 0 ? (double)n / gpu_h : (double)NAN;
	value[CT_STUDY_transition_gpu_frac] = transition_share(r, gpu_h);
	value[CT_STUDY_profile_hits_frac] = profile_hits(r);
	value[CT_STUDY_epoch_ms] = r->perf.schedule_mean_ms;
	value[CT_STUDY_cpu_s] = r->cpu_s;
}

/* ---- cells */

struct ct_study *ct_study_new(const struct ct_paper *paper, const char *scenario, const struct ct_cell_set *set,
			      size_t n_set)
{
	struct ct_study *s = ct_calloc(1, sizeof *s);

	*s = (struct ct_study){ .paper = paper, .scenario = scenario, .set = set, .n_set = n_set };
	s->trained = ct_trained_new();
	return s;
}

void ct_study_inputs(struct ct_study *s, struct ct_inputs *in)
{
	s->inputs = in;
}

void ct_study_free(struct ct_study *s)
{
	if (!s)
		return;
	ct_trained_free(s->trained);
	free(s->cell);
	free(s);
}

void ct_study_want(struct ct_study *s, size_t study, size_t variant, int64_t first, unsigned n)
{
	for (int64_t seed = first; seed < first + (int64_t)n; seed++) {
		size_t i = 0;

		while (i < s->n &&
		       (s->cell[i].study != study || s->cell[i].variant != variant || s->cell[i].seed != seed))
			i++;
		if (i < s->n)
			continue;
		CT_GROW(s->cell, s->cap, s->n + 1);
		memset(&s->cell[s->n], 0, sizeof *s->cell);
		s->cell[s->n].study = study;
		s->cell[s->n].variant = variant;
		s->cell[s->n++].seed = seed;
	}
}

struct settings {
	struct ct_cell_set set[SETTINGS];
	size_t n;
};

static int append(struct settings *to, const struct ct_cell_set *set, size_t n, struct ct_err *err)
{
	if (to->n + n > SETTINGS)
		return ct_err_add(err, CT_ECONFIG, NULL, "a cell of more than %d settings", SETTINGS);
	if (n)
		memcpy(to->set + to->n, set, n * sizeof *set);
	to->n += n;
	return 0;
}

static int is_elastico(const struct ct_paper_change *variant)
{
	for (size_t i = 0; i < variant->n; i++)
		if (!strcmp(variant->set[i].key, "policy.name"))
			return !strcmp(variant->set[i].value, "elastico");
	return 0;
}

/* Options of the policy only where the variant is of that policy. */
static int append_for(struct settings *to, const struct ct_paper_change *variant, const struct ct_cell_set *set,
		      size_t n, struct ct_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(set[i].key, "policy.", strlen("policy.")) != 0 || is_elastico(variant))
			CT_TRY(append(to, &set[i], 1, err));
	return 0;
}

/* The text of "section.name" in a finished configuration; NULL: no such key. */
static const char *value_of(struct ct_config *c, const char *key, struct ct_arena *arena)
{
	const char *dot = strchr(key, '.');
	const struct ct_config_section *section;

	if (!dot)
		return NULL;
	for (const struct ct_opt *o = c->policy.policy ? c->policy.policy->opts : NULL; o && o->name; o++)
		if (!strncmp(key, "policy.", strlen("policy.")) && !strcmp(o->name, dot + 1))
			return ct_opt_text(o, c->policy.state, arena);
	section = ct_config_section(ct_arena_text(arena, key, (size_t)(dot - key)));
	for (const struct ct_opt *o = section ? section->opts : NULL; o && o->name; o++)
		if (!strcmp(o->name, dot + 1))
			return ct_opt_text(o, c, arena);
	return NULL;
}

/* "*1.5" multiplies the value that the scenario and the settings before give. */
static int resolve(const char *scenario, struct settings *q, size_t at, struct ct_arena *arena, struct ct_err *err)
{
	struct ct_cell_set *set = &q->set[at];
	double factor, value;
	struct ct_config c;
	const char *text;
	char out[CT_F64_TEXT] = "";

	if (set->value[0] != '*')
		return 0;
	ct_config_init(&c);
	if (ct_cell_config(&c, scenario, q->set, at, err) == 0) {
		text = value_of(&c, set->key, arena);
		if (ct_parse_f64(set->value + 1, strlen(set->value + 1), &factor) || !text ||
		    ct_parse_f64(text, strlen(text), &value))
			ct_err_add(err, CT_ECONFIG, NULL, "'%s: %s' wants a number that stands in the scenario",
				   set->key, set->value);
		else
			ct_f64_format(factor * value, out);
	}
	if (!err->code)
		set->value = ct_arena_text(arena, out, strlen(out));
	ct_config_fini(&c);
	return (int)err->code;
}

static const char *scenario_of(const struct ct_study *s, const struct cell *k)
{
	const char *base = s->paper->study[k->study].base;

	return base ? base : s->scenario;
}

/* The file that "input:NAME" stands for. */
static int fetch(const struct ct_study *s, const struct cell *k, struct ct_cell_set *set, struct ct_err *err)
{
	static const char input[] = "input:";

	if (strncmp(set->value, input, strlen(input)) != 0)
		return 0;
	if (!s->inputs)
		return ct_err_add(err, CT_ECONFIG, NULL, "'%s: %s': inputs are made by `cotenant repro` alone",
				  set->key, set->value);
	return ct_inputs_get(s->inputs, set->value + strlen(input), k->seed, &set->value, err);
}

static int gather(const struct ct_study *s, const struct cell *k, struct settings *q, struct ct_arena *arena,
		  struct ct_err *err)
{
	const struct ct_paper_change *study = &s->paper->study[k->study], *variant = &s->paper->variant[k->variant];
	char seed[32];

	q->n = 0;
	CT_TRY(append(q, variant->set, variant->n, err));
	CT_TRY(append_for(q, variant, s->set, s->n_set, err));
	CT_TRY(append_for(q, variant, study->set, study->n, err));
	snprintf(seed, sizeof seed, "%" PRId64, k->seed);
	CT_TRY(append(q, &(struct ct_cell_set){ "sim.seed", ct_arena_text(arena, seed, strlen(seed)) }, 1, err));
	for (size_t i = 0; i < q->n; i++)
		CT_TRY(fetch(s, k, &q->set[i], err));
	return 0;
}

static int settle(const struct ct_study *s, const struct cell *k, struct settings *q, struct ct_arena *arena,
		  struct ct_err *err)
{
	CT_TRY(gather(s, k, q, arena, err));
	for (size_t i = 0; i < q->n; i++)
		CT_TRY(resolve(scenario_of(s, k), q, i, arena, err));
	return 0;
}

static int named(const struct ct_study *s, const struct cell *k, const struct ct_err *inner, struct ct_err *err)
{
	return ct_err_at(err, inner->code, NULL, "study '%s', variant '%s', seed %" PRId64 ": %s",
			 s->paper->study[k->study].name, s->paper->variant[k->variant].name, k->seed, inner->text);
}

/* Inputs are made before there are processes, so that they share them. */
static int prepare(const struct ct_study *s, const struct cell *k, struct ct_err *err)
{
	struct ct_arena arena = { 0 };
	struct ct_err inner = { 0 };
	struct settings q;

	gather(s, k, &q, &arena, &inner);
	ct_arena_fini(&arena);
	return inner.code ? named(s, k, &inner, err) : 0;
}

static int run_cell(const struct ct_study *s, struct cell *k, const volatile sig_atomic_t *interrupted,
		    struct ct_err *err)
{
	const struct ct_cell_request request = { .interrupt = interrupted, .trained = s->trained };
	struct ct_arena arena = { 0 };
	struct ct_err inner = { 0 };
	struct ct_cell_result r;
	struct settings q;
	struct ct_config c;

	ct_config_init(&c);
	if (settle(s, k, &q, &arena, &inner) == 0 && ct_cell_config(&c, scenario_of(s, k), q.set, q.n, &inner) == 0 &&
	    ct_cell_run(&c, &request, &r, &inner) == 0) {
		measure(&r, k->value);
		k->done = !r.stopped;
		ct_cell_fini(&r);
	}
	ct_config_fini(&c);
	ct_arena_fini(&arena);
	return inner.code ? named(s, k, &inner, err) : 0;
}

/* ---- all of them */

struct todo {
	struct ct_study *s;
	size_t *cell;
	const volatile sig_atomic_t *interrupted;
};

static int run_item(void *ctx, size_t item, void *result, struct ct_err *err)
{
	const struct todo *t = ctx;
	struct cell *k = &t->s->cell[t->cell[item]];
	int rc = run_cell(t->s, k, t->interrupted, err);

	memcpy(result, k, sizeof *k);
	return rc;
}

static void take_item(void *ctx, size_t item, const void *result)
{
	const struct todo *t = ctx;

	memcpy(&t->s->cell[t->cell[item]], result, sizeof *t->s->cell);
}

int ct_study_run(struct ct_study *s, const struct ct_study_run *how, struct ct_err *err)
{
	struct todo todo = { s, ct_calloc(s->n + 1, sizeof *todo.cell), how->interrupted };
	const struct ct_workers workers = { .processes = how->processes,
					    .bytes = sizeof(struct cell),
					    .run = run_item,
					    .take = take_item,
					    .ctx = &todo,
					    .interrupted = how->interrupted,
					    .progress = how->progress,
					    .progress_ctx = how->ctx };
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < s->n; i++)
		if (!s->cell[i].done)
			todo.cell[n++] = i;
	for (size_t i = 0; i < n && s->inputs && !rc; i++)
		rc = prepare(s, &s->cell[todo.cell[i]], err);
	if (!rc)
		rc = ct_workers_run(&workers, n, err);
	free(todo.cell);
	return rc;
}

size_t ct_study_values(const struct ct_study *s, size_t study, size_t variant, int metric, double *out, size_t cap)
{
	int64_t last = INT64_MIN;
	size_t n = 0;

	while (n < cap) {
		const struct cell *best = NULL;

		for (size_t i = 0; i < s->n; i++) {
			const struct cell *k = &s->cell[i];

			if (k->done && k->study == study && k->variant == variant && k->seed > last &&
			    (!best || k->seed < best->seed))
				best = k;
		}
		if (!best)
			break;
		last = best->seed;
		out[n++] = best->value[metric];
	}
	return n;
}
