/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/belief.h"

#include "calib/predictor.h"
#include "sim/digest.h"
#include "sim/memory.h"
#include "sim/random.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Answers are kept in a table that grows with them: a run asks about some thousand of the
 * 2.4 million pairs of a folder's configurations. A full one of the largest size begins
 * again. */
enum { FIRST_PLACES = 1 << 12, MOST_PLACES = 1 << 23 };

struct answer {
	uint64_t key; /* self, other; 0: none */
	double s;
};

enum { SM, OCCUPANCY, DRAM, TENSOR, THROUGHPUT, SEEN };

struct seen_family {
	struct ct_family family;
	struct ct_configuration *config;
};

struct ct_believer {
	struct ct_belief_options o;
	const struct ct_truth *t;
	uint32_t n_kinds; /* of the truth; the belief has twice as many */
	double (*error)[SEEN];
	uint32_t *nearest; /* of each known profile */
	struct seen_family *as_profiled, *as_nearest;
	const struct ct_family **profiled, **interpolated;
	/* what the learned ones need */
	const struct ct_learner *learner; /* NULL: oracle, none */
	uint32_t *train_on;               /* pairs of the calibration file */
	size_t n_train_on;
	size_t names; /* workloads with a column each; 0: the counters are there */
	struct ct_predictor *predictor;
	int shared;      /* it is of o.trained */
	int hopeless;    /* it cannot be trained */
	double *feature; /* [2 * n_kinds][CT_JOB_FEATURES] */
	struct answer *answer;
	size_t places, n_answers; /* places: a power of two */
	uint64_t n_pairs;         /* that can be asked about */
	struct ct_belief belief;
	uint64_t asked, computed;
	char digest[CT_DIGEST_TEXT];
};

struct ct_trained {
	struct ct_predictor **predictor;
	struct trained_key {
		char profiles[CT_DIGEST_TEXT];
		const struct ct_learner *learner;
		uint64_t seed;
	} * key;
	size_t n, cap_predictor, cap_key;
};

struct ct_trained *ct_trained_new(void)
{
	return ct_calloc(1, sizeof(struct ct_trained));
}

void ct_trained_free(struct ct_trained *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		t->predictor[i]->free(t->predictor[i]);
	free(t->predictor);
	free(t->key);
	free(t);
}

static const char *const names[CT_BELIEF_PREDICTORS] = { "dnn", "xgb", "linear", "oracle", "none" };

const char *ct_belief_predictor_name(enum ct_belief_predictor p)
{
	return names[p];
}

/* ---- profiles as seen */

static void draw_errors(struct ct_believer *b)
{
	uint32_t n = ct_truth_n_profiles(b->t);

	b->error = ct_calloc(n ? n : 1, sizeof *b->error);
	for (uint32_t i = 0; i < n; i++) {
		struct ct_stream s;

		ct_stream_init(&s, b->o.run_seed, CT_RANDOM_BELIEF, i);
		for (int k = 0; k < SEEN; k++)
			b->error[i][k] = exp(b->o.profile_error * gsl_ran_gaussian_ziggurat(&s.rng, 1));
	}
}

struct ct_profile ct_believer_seen(const struct ct_believer *b, const struct ct_profile *p, uint32_t id)
{
	const double *e = b->error[id];
	struct ct_profile seen = *p;

	seen.sm_active *= e[SM];
	seen.sm_occupancy *= e[OCCUPANCY];
	seen.dram_active *= e[DRAM];
	seen.tensor_active *= e[TENSOR];
	seen.throughput *= e[THROUGHPUT];
	return seen;
}

/* Memory shares are sums of steps, so equal distances may differ in their last bits. */
#define EQUAL_DISTANCE 1e-9

static void find_nearest(struct ct_believer *b, const struct ct_kind *k)
{
	struct ct_profile own = ct_truth_profile(b->t, k->id, 0, 0);
	double least = INFINITY;

	if (b->nearest[k->id] != UINT32_MAX)
		return;
	b->nearest[k->id] = k->id;
	for (uint32_t id = k->first; id < k->first + k->n; id++) {
		struct ct_profile other = ct_truth_profile(b->t, id, 0, 0);
		double d = ct_profile_distance(&own, &other);

		if (id != k->id && d < least - EQUAL_DISTANCE) {
			least = d;
			b->nearest[k->id] = id;
		}
	}
}

uint32_t ct_believer_nearest(const struct ct_believer *b, uint32_t kind)
{
	return b->nearest[ct_truth_kind(b->t, kind).id];
}

/* A kind as seen; those from n_kinds on with the counters of their neighbour. */
static struct ct_profile as_seen(const struct ct_believer *b, uint32_t kind)
{
	struct ct_kind k = ct_truth_kind(b->t, kind < b->n_kinds ? kind : kind - b->n_kinds);
	struct ct_profile p = *k.profile, other;
	uint32_t id = b->nearest[k.id];

	if (kind < b->n_kinds)
		return ct_believer_seen(b, &p, k.id);
	other = ct_truth_profile(b->t, id, k.isl, k.osl);
	other = ct_believer_seen(b, &other, id);
	p.sm_active = other.sm_active;
	p.sm_occupancy = other.sm_occupancy;
	p.dram_active = other.dram_active;
	p.tensor_active = other.tensor_active;
	p.throughput = other.throughput;
	return p;
}

/* ---- families */

static void see_family(const struct ct_believer *b, uint32_t family, int interpolated, struct seen_family *out)
{
	const struct ct_family *f = ct_truth_family(b->t, family);
	double reference = 1;

	if (!f->n)
		return;
	out->family = *f;
	out->config = ct_calloc(f->n, sizeof *out->config);
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t kind = f->config[i].kind + (interpolated ? b->n_kinds : 0);
		struct ct_profile p = as_seen(b, kind);

		out->config[i] = f->config[i];
		out->config[i].kind = kind;
		out->config[i].throughput = p.throughput;
		out->config[i].sm_frac = (float)(p.sm_active > 1 ? 1 : p.sm_active);
		if (i == f->default_config)
			reference = p.throughput;
	}
	for (uint32_t i = 0; i < f->n; i++)
		out->config[i].throughput /= reference;
	out->family.config = out->config;
}

static void see_families(struct ct_believer *b)
{
	struct ct_truth_info info = ct_truth_info(b->t);

	b->nearest = ct_calloc(ct_truth_n_profiles(b->t) + 1, sizeof *b->nearest);
	memset(b->nearest, 0xff, ct_truth_n_profiles(b->t) * sizeof *b->nearest);
	for (uint32_t k = 0; k < b->n_kinds; k++) {
		struct ct_kind kind = ct_truth_kind(b->t, k);

		find_nearest(b, &kind);
	}
	b->as_profiled = ct_calloc(info.families + 1, sizeof *b->as_profiled);
	b->as_nearest = ct_calloc(info.families + 1, sizeof *b->as_nearest);
	for (uint32_t f = 0; f < info.families; f++) {
		see_family(b, f, 0, &b->as_profiled[f]);
		see_family(b, f, 1, &b->as_nearest[f]);
	}
	b->profiled = ct_calloc(info.jobs + 1, sizeof *b->profiled);
	b->interpolated = ct_calloc(info.jobs + 1, sizeof *b->interpolated);
	for (uint32_t j = 0; j < info.jobs; j++) {
		uint32_t f = ct_truth_family_of(b->t, j);

		if (f == UINT32_MAX)
			continue;
		b->profiled[j] = &b->as_profiled[f].family;
		b->interpolated[j] = &b->as_nearest[f].family;
	}
}

/* ---- features */

/* A measured profile may lack values (no counters, no parameters): they are 0. */
static void job_features(const struct ct_profile *p, double out[CT_JOB_FEATURES])
{
	ct_features_job(p, 0, NULL, out);
	for (int i = 0; i < CT_JOB_FEATURES; i++)
		if (!isfinite(out[i]))
			out[i] = 0;
}

static size_t width(const struct ct_believer *b)
{
	return CT_FEATURES + 2 * b->names;
}

/* The features of a pair, then, without counters, the names of both. */
static void pair_features(const struct ct_believer *b, const double *self, const double *other, uint32_t workload,
			  uint32_t beside, double *out)
{
	ct_features_pair(self, other, out);
	if (!b->names)
		return;
	memset(out + CT_FEATURES, 0, 2 * b->names * sizeof *out);
	out[CT_FEATURES + workload] = 1;
	out[CT_FEATURES + b->names + beside] = 1;
}

/* ---- learning */

/* Pairs that hardly run together, or not at all, are lessons of this slow-down: more
 * would count for more than all others. */
#define HARM 10.

/* The measured pairs of a calibration file that the predictor may see: a random share. */
static void choose_pairs(struct ct_believer *b, const struct ct_calibration *c)
{
	struct ct_stream s;

	b->train_on = ct_calloc(c->n_pairs + 1, sizeof *b->train_on);
	for (size_t i = 0; i < c->n_pairs; i++)
		b->train_on[i] = (uint32_t)i;
	ct_stream_init(&s, b->o.seed, CT_RANDOM_BELIEF, UINT64_C(1) << 63);
	if (c->n_pairs)
		gsl_ran_shuffle(&s.rng, b->train_on, c->n_pairs, sizeof *b->train_on);
	b->n_train_on = (size_t)ceil(b->o.pairs * (double)c->n_pairs);
}

/* Number of each configuration's workload in order of appearance; returns how many. */
static size_t number_workloads(const struct ct_calibration *c, uint32_t *of)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_configs; i++) {
		if (i && strcmp(c->config[i].workload, c->config[i - 1].workload) != 0)
			n++;
		if (of)
			of[i] = (uint32_t)n;
	}
	return n + (c->n_configs > 0);
}

static int has_counters(const struct ct_calibration *c)
{
	for (size_t i = 0; i < c->n_configs; i++)
		if (isnan(c->config[i].profile.sm_active))
			return 0;
	return 1;
}

static void add_measured(const struct ct_believer *b, const struct ct_calibration *c, const uint32_t *workload,
			 const struct ct_fit_pair *m, int swapped, struct ct_samples *to)
{
	uint32_t i = swapped ? m->b : m->a, j = swapped ? m->a : m->b;
	struct ct_sample row = { .slowdown = swapped ? m->s_b : m->s_a, .truth = (double)NAN };
	struct ct_profile x = ct_believer_seen(b, &c->config[i].profile, i);
	struct ct_profile y = ct_believer_seen(b, &c->config[j].profile, j);
	double self[CT_JOB_FEATURES], other[CT_JOB_FEATURES];

	if (!isfinite(row.slowdown))
		return;
	job_features(&x, self);
	job_features(&y, other);
	row.slowdown = fmin(fmax(row.slowdown, 1), HARM); /* a belief has no speed-ups */
	row.type = ct_features_type(self, other);
	row.pair = i < j ? i * (uint32_t)c->n_configs + j : j * (uint32_t)c->n_configs + i;
	pair_features(b, self, other, workload[i], workload[j], ct_samples_add(to, &row));
}

static void measured_samples(const struct ct_believer *b, const struct ct_calibration *c, struct ct_samples *out)
{
	uint32_t *workload = ct_calloc(c->n_configs + 1, sizeof *workload);

	number_workloads(c, workload);
	ct_samples_init(out, width(b));
	for (size_t i = 0; i < b->n_train_on; i++)
		for (int swapped = 0; swapped < 2; swapped++)
			add_measured(b, c, workload, &c->pair[b->train_on[i]].measured, swapped, out);
	free(workload);
}

static int train(struct ct_believer *b, struct ct_err *err)
{
	const struct ct_calibration *file = ct_truth_file(b->t);
	struct ct_dataset_options o = ct_dataset_defaults(b->o.seed);
	struct ct_dataset d = { 0 };
	int rc;

	if (file)
		measured_samples(b, file, &d.samples);
	else
		ct_dataset_make(&o, ct_truth_set(b->t), ct_truth_params(b->t), &d);
	rc = ct_predictor_train(b->learner->name, &d.samples, b->o.seed, NULL, NULL, &b->predictor, err);
	ct_dataset_fini(&d);
	return rc;
}

static int check_measured(const struct ct_believer *b, const struct ct_calibration *c, struct ct_err *err)
{
	struct ct_samples s;
	int rc;

	measured_samples(b, c, &s);
	rc = ct_learner_check(b->learner, &s, err);
	if (rc && b->learner->built_in)
		ct_err_add(err, CT_ECONFIG, NULL,
			   "the calibration file has too few measured pairs to learn from: measure more, or use "
			   "iac.predictor=oracle or none");
	ct_samples_fini(&s);
	return rc;
}

int ct_believer_check(const struct ct_believer *b, struct ct_err *err)
{
	if (!b->learner || b->predictor)
		return 0;
	if (ct_truth_file(b->t))
		return check_measured(b, ct_truth_file(b->t), err);
	return b->learner->built_in ? 0 : ct_learner_check(b->learner, &(struct ct_samples){ 0 }, err);
}

static int load(struct ct_believer *b, struct ct_err *err)
{
	struct ct_loc at = { .file = b->o.file };

	if (!b->learner)
		return ct_err_at(err, CT_ECONFIG, NULL, "'iac.file' and iac.predictor=%s exclude each other",
				 names[b->o.predictor]);
	if (ct_truth_file(b->t))
		return ct_err_at(err, CT_ECONFIG, &at,
				 "a predictor of a calibration folder's profiles; with a calibration file leave "
				 "iac.file out: it is trained on the file's measured pairs");
	CT_TRY(ct_predictor_load(b->o.file, ct_truth_set(b->t), &b->predictor, err));
	if (strcmp(b->predictor->name, b->learner->name) != 0)
		return ct_err_at(err, CT_ECONFIG, &at, "holds '%s', iac.predictor says '%s'", b->predictor->name,
				 b->learner->name);
	return 0;
}

/* Training itself waits. */
static int prepare(struct ct_believer *b, struct ct_err *err)
{
	const struct ct_calibration *c = ct_truth_file(b->t);

	b->learner = ct_learner_find(names[b->o.predictor]);
	if (c && b->learner) {
		choose_pairs(b, c);
		b->names = has_counters(c) ? 0 : number_workloads(c, NULL);
	}
	return b->o.file ? load(b, err) : 0;
}

/* Whatever is wrong with it, training gives the same, only later. */
static void take_ready(struct ct_believer *b)
{
	struct ct_predictor *p = NULL;
	struct ct_err err = { 0 };

	if (b->predictor || !b->o.ready || !ct_truth_set(b->t) ||
	    ct_predictor_load(b->o.ready, ct_truth_set(b->t), &p, &err))
		return;
	if (p->learner == b->learner && p->seed == b->o.seed)
		b->predictor = p;
	else
		p->free(p);
}

static int is_of(const struct trained_key *k, const struct ct_believer *b)
{
	return k->learner == b->learner && k->seed == b->o.seed && !strcmp(k->profiles, ct_truth_set(b->t)->digest);
}

static void take_trained(struct ct_believer *b)
{
	struct ct_trained *t = b->o.trained;

	for (size_t i = 0; i < t->n && !b->predictor; i++)
		if (is_of(&t->key[i], b))
			b->predictor = t->predictor[i];
	b->shared = b->predictor != NULL;
}

static void keep_trained(struct ct_believer *b)
{
	struct ct_trained *t = b->o.trained;
	struct trained_key key = { .learner = b->learner, .seed = b->o.seed };

	snprintf(key.profiles, sizeof key.profiles, "%s", ct_truth_set(b->t)->digest);
	CT_GROW(t->predictor, t->cap_predictor, t->n + 1);
	CT_GROW(t->key, t->cap_key, t->n + 1);
	t->key[t->n] = key;
	t->predictor[t->n++] = b->predictor;
	b->shared = 1;
}

static void get_ready(struct ct_believer *b)
{
	int keeps = b->o.trained && !b->predictor && ct_truth_set(b->t);
	struct ct_err err = { 0 };

	if (keeps)
		take_trained(b);
	take_ready(b);
	CT_CHECK(NULL, b->predictor || train(b, &err) == 0, "a predictor that was not checked: %s", err.text);
	if (keeps && !b->shared)
		keep_trained(b);
	b->feature = ct_calloc(2 * (size_t)b->n_kinds + 1, CT_JOB_FEATURES * sizeof *b->feature);
	for (uint32_t k = 0; k < 2 * b->n_kinds; k++) {
		struct ct_profile p = as_seen(b, k);

		job_features(&p, b->feature + (size_t)k * CT_JOB_FEATURES);
	}
}

/* ---- answers */

static uint32_t true_kind(const struct ct_believer *b, uint32_t kind)
{
	return kind < b->n_kinds ? kind : kind - b->n_kinds;
}

static void features_of(const struct ct_believer *b, uint32_t self, uint32_t other, double *out)
{
	pair_features(b, b->feature + (size_t)self * CT_JOB_FEATURES, b->feature + (size_t)other * CT_JOB_FEATURES,
		      ct_truth_kind(b->t, true_kind(b, self)).workload,
		      ct_truth_kind(b->t, true_kind(b, other)).workload, out);
}

/* Of one kind beside n others that are numbered on from `other`. */
static void predict(struct ct_believer *b, uint32_t self, uint32_t other, uint32_t n, double *out)
{
	double *x;

	if (!b->feature)
		get_ready(b);
	x = ct_calloc(n * width(b), sizeof *x);
	for (uint32_t i = 0; i < n; i++)
		features_of(b, self, other + i, x + i * width(b));
	ct_predictor_features(b->predictor, x, n, out);
	free(x);
}

double ct_believer_compute(struct ct_believer *b, uint32_t self, uint32_t other)
{
	double s = 1;

	if (b->o.predictor == CT_BELIEF_ORACLE)
		s = fmax(1, ct_truth_slowdown(b->t, true_kind(b, self), true_kind(b, other)));
	else if (b->learner)
		predict(b, self, other, 1, &s);
	return s;
}

static uint64_t key_of(const struct ct_believer *b, uint32_t self, uint32_t other)
{
	return self * (2 * (uint64_t)b->n_kinds) + other + 1;
}

static size_t home_of(uint64_t key, size_t places)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (places - 1);
}

/* Where the key is, or may go. */
static struct answer *place_of(struct answer *answer, size_t places, uint64_t key)
{
	size_t at = home_of(key, places);

	while (answer[at].key && answer[at].key != key)
		at = (at + 1) & (places - 1);
	return &answer[at];
}

static void grow_answers(struct ct_believer *b)
{
	size_t places = b->places ? b->places * 2 : FIRST_PLACES;
	struct answer *answer = ct_calloc(places, sizeof *answer);

	for (size_t i = 0; i < b->places; i++)
		if (b->answer[i].key)
			*place_of(answer, places, b->answer[i].key) = b->answer[i];
	free(b->answer);
	b->answer = answer;
	b->places = places;
}

/* At most half of the places are taken, so every search ends. */
static void keep(struct ct_believer *b, uint64_t key, double s)
{
	struct answer *a;

	if (2 * b->n_answers >= b->places) {
		if (b->places < MOST_PLACES) {
			grow_answers(b);
		} else {
			memset(b->answer, 0, b->places * sizeof *b->answer);
			b->n_answers = 0;
		}
	}
	a = place_of(b->answer, b->places, key);
	b->n_answers += !a->key;
	*a = (struct answer){ key, s };
}

/* The trees' library takes as long for a pair as for a hundred: they answer for the
 * whole row of what is asked, all others of the same form. */
static void compute_row(struct ct_believer *b, uint32_t self, uint32_t other)
{
	uint32_t first = other < b->n_kinds ? 0 : b->n_kinds;
	double *s = ct_calloc(b->n_kinds, sizeof *s);

	predict(b, self, first, b->n_kinds, s);
	for (uint32_t i = 0; i < b->n_kinds; i++)
		keep(b, key_of(b, self, first + i), s[i]);
	b->computed += b->n_kinds;
	free(s);
}

static double slowdown(void *state, uint32_t self, uint32_t other)
{
	struct ct_believer *b = state;
	uint64_t key = key_of(b, self, other);
	const struct answer *a;
	double s;

	if (self >= 2 * b->n_kinds || other >= 2 * b->n_kinds)
		return 1;
	b->asked++;
	if (!b->places)
		grow_answers(b);
	a = place_of(b->answer, b->places, key);
	if (a->key == key)
		return a->s;
	if (b->o.predictor == CT_BELIEF_XGB && b->n_pairs <= MOST_PLACES / 2) { /* all will find a place */
		compute_row(b, self, other);
		return place_of(b->answer, b->places, key)->s;
	}
	b->computed++;
	s = ct_believer_compute(b, self, other);
	keep(b, key, s);
	return s;
}

/* ---- the whole */

static int digest_file(struct ct_digest *d, const char *path, struct ct_err *err)
{
	struct ct_loc at = { .file = path };
	FILE *f = fopen(path, "rb");
	char part[1 << 14];
	size_t n;
	int bad;

	if (!f)
		return ct_err_at(err, CT_EIO, &at, "cannot be read: %s", strerror(errno));
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		ct_digest_bytes(d, part, n);
	bad = ferror(f);
	fclose(f);
	return bad ? ct_err_at(err, CT_EIO, &at, "cannot be read") : 0;
}

static int digest(struct ct_believer *b, struct ct_err *err)
{
	struct ct_digest d;
	int rc = 0;

	ct_digest_init(&d);
	ct_digest_text(&d, names[b->o.predictor]);
	ct_digest_f64(&d, b->o.profile_error);
	if (b->o.file)
		rc = digest_file(&d, b->o.file, err);
	else
		ct_digest_i64(&d, (int64_t)b->o.seed);
	if (b->train_on)
		ct_digest_f64(&d, b->o.pairs);
	ct_digest_final(&d, b->digest);
	return rc;
}

int ct_believer_new(const struct ct_belief_options *o, const struct ct_truth *t, struct ct_believer **out,
		    struct ct_err *err)
{
	struct ct_believer *b = ct_calloc(1, sizeof *b);
	int rc;

	b->o = *o;
	b->t = t;
	b->n_kinds = ct_truth_kinds(t);
	b->n_pairs = 4 * (uint64_t)b->n_kinds * b->n_kinds;
	draw_errors(b);
	rc = prepare(b, err);
	if (rc == 0)
		rc = digest(b, err);
	if (rc) {
		ct_believer_free(b);
		return rc;
	}
	see_families(b);
	b->belief = (struct ct_belief){ .state = b,
					.profiled = b->profiled,
					.nearest = b->interpolated,
					.n_kinds = 2 * b->n_kinds,
					.slowdown = slowdown };
	*out = b;
	return 0;
}

void ct_believer_free(struct ct_believer *b)
{
	if (!b)
		return;
	for (size_t i = 0; b->as_profiled && i < ct_truth_info(b->t).families; i++) {
		free(b->as_profiled[i].config);
		free(b->as_nearest[i].config);
	}
	free(b->as_profiled);
	free(b->as_nearest);
	free(b->profiled);
	free(b->interpolated);
	free(b->error);
	free(b->nearest);
	free(b->train_on);
	free(b->feature);
	free(b->answer);
	if (b->predictor && !b->shared)
		b->predictor->free(b->predictor);
	free(b);
}

const struct ct_belief *ct_believer_belief(const struct ct_believer *b)
{
	return &b->belief;
}

struct ct_belief_info ct_believer_info(const struct ct_believer *b)
{
	return (struct ct_belief_info){ names[b->o.predictor], b->digest, b->asked, b->computed };
}
