/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/dataset.h"

#include "sim/memory.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entities of the streams; those of crossval.c and features.c are other numbers. */
enum { STREAM_VARIANTS = 1 << 30, STREAM_PAIRS = 1 << 30 | 1 << 8, STREAM_TOP_UP = 1 << 30 | 1 << 9 };
#define STREAM_NOISE (1ull << 62)

struct ct_dataset_options ct_dataset_defaults(uint64_t seed)
{
	return (struct ct_dataset_options){
		.seed = seed,
		.variants = { 27, 39 },
		.pairs = { 192, 256, 96 },
		.sigma = { .01, .075, .06 },
		.counter_sd = .03,
		.memory_mib = 80 * 1024 - 512,
	};
}

struct candidate {
	uint32_t a, b; /* profiles, a <= b */
	uint32_t combination, order;
};

struct maker {
	const struct ct_dataset_options *o;
	const struct ct_profiles *set;
	struct ct_demand *demand;
	const struct ct_slowdown_params *truth;
	double *feature; /* [profiles][CT_JOB_FEATURES] as seen */
	struct ct_dataset *out;
	uint32_t *variant[2];
	unsigned n_variants[2];
	struct candidate *c;
	size_t n, cap;
};

static enum ct_pair_type type_of(const struct maker *m, uint32_t a, uint32_t b)
{
	int training = m->set->profile[a].train + m->set->profile[b].train;

	return training == 2 ? CT_PAIR_TT : training == 1 ? CT_PAIR_TI : CT_PAIR_II;
}

static int fits(const struct maker *m, uint32_t a, uint32_t b)
{
	return (double)m->set->profile[a].fb_mib + m->set->profile[b].fb_mib <= m->o->memory_mib;
}

/* ---- variants: one of each workload in turn, from its shuffled configurations */

static void draw_variants(struct maker *m, int train)
{
	uint32_t *order = ct_calloc(m->set->n_profiles, sizeof *order);
	unsigned round = 0, most = 0, want = m->o->variants[train];
	struct ct_stream s;

	m->variant[train] = ct_calloc(want + 1, sizeof **m->variant);
	ct_stream_init(&s, m->o->seed, CT_RANDOM_SAMPLING, STREAM_VARIANTS + (uint64_t)train);
	for (uint32_t w = 0; w < m->set->n_models; w++) {
		const struct ct_workload_model *model = &m->set->model[w];
		uint32_t first = (uint32_t)(model->profile - m->set->profile);

		for (uint32_t i = 0; i < model->n; i++)
			order[first + i] = first + i;
		gsl_ran_shuffle(&s.rng, order + first, model->n, sizeof *order);
		most = model->n > most ? model->n : most;
	}
	for (; round < most; round++)
		for (uint32_t w = 0; w < m->set->n_models; w++) {
			const struct ct_workload_model *model = &m->set->model[w];
			uint32_t first = (uint32_t)(model->profile - m->set->profile);

			if (!!model->train == train && round < model->n && m->n_variants[train] < want)
				m->variant[train][m->n_variants[train]++] = order[first + round];
		}
	free(order);
}

/* ---- pairs: one of each combination of workloads in turn */

static void offer(struct maker *m, uint32_t a, uint32_t b)
{
	struct candidate *c;
	uint32_t u = a < b ? a : b, v = a < b ? b : a;

	if (!fits(m, a, b))
		return;
	CT_GROW(m->c, m->cap, m->n + 1);
	c = &m->c[m->n++];
	*c = (struct candidate){ .a = u, .b = v };
	c->combination = m->set->profile[u].workload * m->set->n_models + m->set->profile[v].workload;
}

static void offer_variants(struct maker *m, enum ct_pair_type type)
{
	int x = type != CT_PAIR_II, y = type == CT_PAIR_TT;

	m->n = 0;
	for (unsigned i = 0; i < m->n_variants[x]; i++)
		for (unsigned k = x == y ? i : 0; k < m->n_variants[y]; k++)
			offer(m, m->variant[x][i], m->variant[y][k]);
}

/* Any pair of configurations that is not in the set yet. */
static void offer_others(struct maker *m, enum ct_pair_type type)
{
	unsigned char *variant = ct_calloc(m->set->n_profiles, 1);

	for (int t = 0; t < 2; t++)
		for (unsigned i = 0; i < m->n_variants[t]; i++)
			variant[m->variant[t][i]] = 1;
	m->n = 0;
	for (uint32_t a = 0; a < m->set->n_profiles; a++)
		for (uint32_t b = a; b < m->set->n_profiles; b++)
			if (type_of(m, a, b) == type && !(variant[a] && variant[b]))
				offer(m, a, b);
	free(variant);
}

static int in_turn(const void *p, const void *q)
{
	const struct candidate *a = p, *b = q;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return (a->combination > b->combination) - (a->combination < b->combination);
}

/* Shuffles, numbers the candidates within their combination and sorts by that number:
 * the first of every combination, then the second. */
static void stratify(struct maker *m, struct ct_stream *s)
{
	size_t combinations = (size_t)m->set->n_models * m->set->n_models;
	uint32_t *next = ct_calloc(combinations, sizeof *next);

	gsl_ran_shuffle(&s->rng, m->c, m->n, sizeof *m->c);
	for (size_t i = 0; i < m->n; i++)
		m->c[i].order = next[m->c[i].combination]++;
	qsort(m->c, m->n, sizeof *m->c, in_turn);
	free(next);
}

static double noise(const struct maker *m, uint32_t self, uint32_t other)
{
	struct ct_stream s;

	ct_stream_init(&s, m->o->seed, CT_RANDOM_SAMPLING, STREAM_NOISE | (uint64_t)self << 24 | other);
	return exp(m->o->sigma[type_of(m, self, other)] * gsl_ran_gaussian_ziggurat(&s.rng, 1));
}

static void add_sample(const struct maker *m, struct ct_samples *to, uint32_t self, uint32_t other, int noisy)
{
	uint32_t a = self < other ? self : other, b = self < other ? other : self;
	uint32_t u = m->set->profile[a].workload, v = m->set->profile[b].workload;
	double s = ct_slowdown_of(m->truth, &m->demand[self], &m->demand[other], CT_RESOURCES);
	struct ct_sample row = { .slowdown = noisy ? fmax(1, s * noise(m, self, other)) : s,
				 .truth = s,
				 .pair = a * m->set->n_profiles + b,
				 .model_pair = u * m->set->n_models + v,
				 .type = type_of(m, self, other) };

	ct_features_pair(m->feature + (size_t)self * CT_JOB_FEATURES, m->feature + (size_t)other * CT_JOB_FEATURES,
			 ct_samples_add(to, &row));
}

/* A configuration beside itself gives one slowdown twice over: both jobs are measured. */
static void measure(struct maker *m, enum ct_pair_type type, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		add_sample(m, &m->out->samples, m->c[i].a, m->c[i].b, 1);
		add_sample(m, &m->out->samples, m->c[i].b, m->c[i].a, 1);
		m->out->used[m->c[i].a] = m->out->used[m->c[i].b] = 1;
	}
	m->out->pairs[type] += n;
}

static void draw_pairs(struct maker *m, enum ct_pair_type type)
{
	size_t want = m->o->pairs[type], n;
	struct ct_stream s;

	offer_variants(m, type);
	ct_stream_init(&s, m->o->seed, CT_RANDOM_SAMPLING, STREAM_PAIRS + (uint64_t)type);
	stratify(m, &s);
	m->out->possible[type] = m->n;
	n = m->n < want ? m->n : want;
	measure(m, type, n);
	if (n == want)
		return;
	offer_others(m, type);
	ct_stream_init(&s, m->o->seed, CT_RANDOM_SAMPLING, STREAM_TOP_UP + (uint64_t)type);
	stratify(m, &s);
	n = m->n < want - n ? m->n : want - n;
	m->out->topped_up[type] = n;
	measure(m, type, n);
}

static void prepare(struct maker *m)
{
	struct ct_observation seen = { m->o->seed, m->o->counter_sd };

	m->demand = ct_calloc(m->set->n_profiles, sizeof *m->demand);
	m->feature = ct_calloc((size_t)m->set->n_profiles * CT_JOB_FEATURES, sizeof *m->feature);
	for (uint32_t i = 0; i < m->set->n_profiles; i++) {
		m->demand[i] = ct_slowdown_demand(m->truth, &m->set->profile[i]);
		ct_features_job(&m->set->profile[i], i, &seen, m->feature + (size_t)i * CT_JOB_FEATURES);
	}
}

static void release(struct maker *m)
{
	free(m->demand);
	free(m->feature);
	free(m->variant[0]);
	free(m->variant[1]);
	free(m->c);
}

void ct_dataset_make(const struct ct_dataset_options *o, const struct ct_profiles *set,
		     const struct ct_slowdown_params *truth, struct ct_dataset *out)
{
	struct maker m = { .o = o, .set = set, .truth = truth, .out = out };

	*out = (struct ct_dataset){ .used = ct_calloc(set->n_profiles, 1) };
	ct_samples_init(&out->samples, CT_FEATURES);
	prepare(&m);
	draw_variants(&m, 0);
	draw_variants(&m, 1);
	for (enum ct_pair_type t = CT_PAIR_TT; t < CT_PAIR_TYPES; t++)
		draw_pairs(&m, t);
	release(&m);
}

void ct_dataset_fini(struct ct_dataset *d)
{
	ct_samples_fini(&d->samples);
	free(d->used);
	*d = (struct ct_dataset){ 0 };
}

void ct_dataset_every(const struct ct_dataset_options *o, const struct ct_profiles *set,
		      const struct ct_slowdown_params *truth, const unsigned char *used, struct ct_samples *out)
{
	struct maker m = { .o = o, .set = set, .truth = truth };

	ct_samples_init(out, CT_FEATURES);
	prepare(&m);
	for (uint32_t a = 0; a < set->n_profiles; a++)
		for (uint32_t b = 0; b < set->n_profiles; b++)
			if (fits(&m, a, b) && !(used && (used[a] || used[b])))
				add_sample(&m, out, a, b, 0);
	release(&m);
}
