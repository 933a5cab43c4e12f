/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a scheduler may believe. Expected values: the truth itself, brute force over
 * names of configurations, the law of the drawn errors, an additive table that least
 * squares must find again. */
#include "calib/belief.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "calib/predictor.h"
#include "calib/user_fit.h"
#include "sim/memory.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIR   "calib/a100-40gb"
#define READY DIR "/iac.h5"

static const char *const models[] = { "ResNet-50", "BERT", "DCGAN",     "PointNet",      "Transformer", "LSTM",
				      "NCF",       "PPO",  "Qwen-1.7b", "DeepSeek-1.5b", "LLaMA-3-7b",  "Mistral-7b" };
enum { MODELS = sizeof models / sizeof *models };

struct world {
	struct ct_workload *w;
	struct ct_truth *t;
};

struct ask {
	const char *model, *isl, *osl;
	uint32_t gpus, cpu_milli;
};

static void add_job(struct ct_workload *w, uint32_t number, const struct ask *ask)
{
	struct ct_job job = CT_JOB_INIT;
	char id[16];

	snprintf(id, sizeof id, "j%u", number);
	job.id = ct_workload_text(w, id, strlen(id));
	job.duration_us = CT_SECOND;
	job.num_gpus = ask->gpus ? ask->gpus : 1;
	job.cpu_milli = ask->cpu_milli;
	job.model = ct_strings_add(&w->strings, ask->model, strlen(ask->model));
	ct_workload_add(w, &job);
	if (ask->isl) {
		ct_workload_set_extra(w, ct_workload_column(w, "isl"), number, ask->isl, strlen(ask->isl));
		ct_workload_set_extra(w, ct_workload_column(w, "osl"), number, ask->osl, strlen(ask->osl));
	}
}

static void make(struct world *x, const struct ask *ask, uint32_t n, const struct ct_truth_options *o)
{
	struct ct_err err = { 0 };

	x->w = ct_workload_new();
	for (uint32_t i = 0; i < n; i++)
		add_job(x->w, i, &ask[i]);
	assert_int_equal(ct_workload_seal(x->w, &err), 0);
	if (ct_truth_new(o, x->w, &x->t, &err))
		fail_msg("%s", err.text);
}

/* Every workload and all its configurations: an 80 GB GPU. */
static void make_all(struct world *x)
{
	const struct ct_truth_options o = { .dir = DIR, .residual = 1, .seed = 7, .gpu_mem_mib = 81920, .scaling = .9 };
	struct ask ask[MODELS] = { { .model = NULL } };

	for (int i = 0; i < MODELS; i++)
		ask[i].model = models[i];
	make(x, ask, MODELS, &o);
}

static void drop(struct world *x)
{
	ct_truth_free(x->t);
	ct_workload_free(x->w);
}

static struct ct_believer *believe(const struct world *x, const struct ct_belief_options *o)
{
	struct ct_believer *b = NULL;
	struct ct_err err = { 0 };

	if (ct_believer_new(o, x->t, &b, &err))
		fail_msg("%s", err.text);
	return b;
}

static double ask_for(const struct ct_believer *b, uint32_t self, uint32_t other)
{
	const struct ct_belief *q = ct_believer_belief(b);

	return q->slowdown(q->state, self, other);
}

/* ---- kinds */

static void kinds_are_configurations_at_their_lengths(void **state)
{
	/* 3584 + 512: the lengths that the profiles of 4096 tokens have themselves. */
	static const struct ask ask[] = { { .model = "BERT" },
					  { .model = "BERT", .gpus = 4, .cpu_milli = 8000 },
					  { .model = "Qwen-1.7b" },
					  { .model = "Qwen-1.7b", .isl = "3584", .osl = "512" },
					  { .model = "Qwen-1.7b", .isl = "3000", .osl = "500" },
					  { .model = "Qwen-1.7b", .isl = "3000", .osl = "500", .gpus = 2 } };
	const struct ct_truth_options o = { .dir = DIR };
	const struct ct_family *const *f;
	unsigned char *seen;
	struct world x;
	uint32_t same = 0;

	(void)state;
	make(&x, ask, 6, &o);
	f = ct_truth_families(x.t);
	assert_ptr_not_equal(f[0], f[1]);
	for (uint32_t i = 0; i < f[0]->n; i++)
		assert_int_equal(f[0]->config[i].kind, f[1]->config[i].kind);
	for (uint32_t i = 0; i < f[4]->n; i++) {
		assert_int_equal(f[4]->config[i].kind, f[5]->config[i].kind);
		assert_int_not_equal(f[4]->config[i].kind, f[3]->config[i].kind);
	}
	for (uint32_t i = 0; i < f[3]->n; i++) {
		const struct ct_profile *p = &ct_truth_profiles(x.t, 3)[i];
		uint32_t k = 0;

		while (strcmp(f[2]->config[k].name, p->name) != 0)
			k++;
		if (p->seqlen == 4096)
			assert_int_equal(f[3]->config[i].kind, f[2]->config[k].kind);
		else
			assert_int_not_equal(f[3]->config[i].kind, f[2]->config[k].kind);
		same += p->seqlen == 4096;
	}
	assert_int_equal(same, 66); /* of the three sequence lengths that share 198 */
	/* Dense: 12 of BERT, 198 of Qwen, 132 new ones of job 3, 198 of jobs 4 and 5. */
	assert_int_equal(ct_truth_kinds(x.t), 12 + 198 + 132 + 198);
	seen = ct_calloc(ct_truth_kinds(x.t), 1);
	for (int j = 0; j < 6; j++)
		for (uint32_t i = 0; i < f[j]->n; i++) {
			struct ct_kind k = ct_truth_kind(x.t, f[j]->config[i].kind);

			assert_string_equal(k.profile->name, f[j]->config[i].name);
			assert_true(k.id >= k.first && k.id < k.first + k.n);
			seen[f[j]->config[i].kind] = 1;
		}
	for (uint32_t k = 0; k < ct_truth_kinds(x.t); k++)
		assert_int_equal(seen[k], 1);
	free(seen);
	drop(&x);
}

static void training_scales_and_inference_does_not(void **state)
{
	struct world x;

	(void)state;
	make_all(&x);
	assert_int_equal(ct_truth_kinds(x.t), 768);
	for (int i = 0; i < MODELS; i++) {
		const struct ct_family *f = ct_truth_families(x.t)[i];

		assert_int_equal(f->train, i < 8);
		assert_true(f->scaling == (i < 8 ? .9 : 1));
	}
	drop(&x);
}

/* ---- the nearest other */

/* The distance of calib/store.h from the knobs that the names spell. */
static double distance(const char *a, const char *b)
{
	unsigned ba = 0, bb = 0, sa = 1, sb = 1;
	double ma = 0, mb = 0, d, sum = 0;
	static const char *const flag[] = { "+ck", "+amp", "+pc" };

	if (sscanf(a, "b%u-sl%u-mu%lf", &ba, &sa, &ma) < 3)
		sa = 1, ma = 0;
	if (sscanf(b, "b%u-sl%u-mu%lf", &bb, &sb, &mb) < 3)
		sb = 1, mb = 0;
	d = log(ba) / log(2) - log(bb) / log(2);
	sum += d * d;
	d = log(sa) / log(2) - log(sb) / log(2);
	sum += d * d;
	d = 10 * (ma - mb);
	sum += d * d;
	for (int i = 0; i < 3; i++)
		sum += !strstr(a, flag[i]) != !strstr(b, flag[i]);
	return sqrt(sum);
}

static void interpolation_takes_the_nearest_other_profile(void **state)
{
	const struct ct_belief_options o = { .predictor = CT_BELIEF_NONE };
	struct ct_believer *b;
	struct world x;

	(void)state;
	make_all(&x);
	b = believe(&x, &o);
	for (int j = 0; j < MODELS; j++) {
		const struct ct_family *real = ct_truth_families(x.t)[j], *f = ct_believer_belief(b)->nearest[j];
		const struct ct_profile *p = ct_truth_profiles(x.t, (uint32_t)j);
		double reference = 0;

		assert_int_equal(f->n, real->n);
		for (int pass = 0; pass < 2; pass++)
			for (uint32_t i = 0; i < f->n; i++) {
				const struct ct_configuration *c = &f->config[i];
				uint32_t best = UINT32_MAX;
				double least = INFINITY;

				for (uint32_t k = 0; k < f->n; k++)
					if (k != i && distance(p[i].name, p[k].name) < least - 1e-9) {
						least = distance(p[i].name, p[k].name);
						best = k;
					}
				if (i == f->default_config)
					reference = p[best].throughput;
				if (!pass)
					continue;
				assert_true(fabs(c->throughput - p[best].throughput / reference) < 1e-12);
				assert_true(c->sm_frac == (float)p[best].sm_active);
				assert_int_equal(c->gpu_mem_mib, real->config[i].gpu_mem_mib);
				assert_int_equal(c->cpu_milli, real->config[i].cpu_milli);
				assert_int_equal(c->kind, real->config[i].kind + ct_truth_kinds(x.t));
			}
		assert_true(f->config[f->default_config].throughput == 1);
	}
	ct_believer_free(b);
	drop(&x);
}

/* A neighbour is taken at the job's own lengths. */
static void interpolation_keeps_the_lengths_of_the_job(void **state)
{
	static const struct ask ask = { .model = "LLaMA-3-7b", .isl = "1000", .osl = "300" };
	const struct ct_truth_options to = { .dir = DIR };
	const struct ct_belief_options o = { .predictor = CT_BELIEF_NONE };
	const struct ct_family *f, *real;
	struct ct_believer *b;
	struct world x;

	(void)state;
	make(&x, &ask, 1, &to);
	b = believe(&x, &o);
	real = ct_truth_families(x.t)[0];
	f = ct_believer_belief(b)->nearest[0];
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t id = ct_believer_nearest(b, real->config[i].kind), d;
		struct ct_profile p = ct_truth_profile(x.t, id, 1000, 300), q;

		d = ct_believer_nearest(b, real->config[real->default_config].kind);
		q = ct_truth_profile(x.t, d, 1000, 300);
		assert_true(p.isl == 1000 && p.osl == 300);
		assert_int_not_equal(id, ct_truth_kind(x.t, real->config[i].kind).id);
		assert_true(fabs(f->config[i].throughput - p.throughput / q.throughput) < 1e-12);
	}
	ct_believer_free(b);
	drop(&x);
}

/* ---- the profiler's error */

static void errors_have_the_asked_spread_and_the_default_none(void **state)
{
	enum { N = 768 * 5 };
	const double sd = .1;
	const struct ct_belief_options o = { .predictor = CT_BELIEF_NONE, .profile_error = .1, .run_seed = 3 };
	const struct ct_belief_options other = { .predictor = CT_BELIEF_NONE, .profile_error = .1, .run_seed = 4 };
	struct ct_believer *b, *c;
	double sum = 0, squares = 0;
	unsigned equal = 0;
	struct world x;

	(void)state;
	make_all(&x);
	b = believe(&x, &o);
	c = believe(&x, &other);
	for (uint32_t id = 0; id < 768; id++) {
		struct ct_profile p = ct_truth_profile(x.t, id, 0, 0), s = ct_believer_seen(b, &p, id),
				  r = ct_believer_seen(c, &p, id);
		const double e[] = { log(s.sm_active / p.sm_active), log(s.sm_occupancy / p.sm_occupancy),
				     log(s.dram_active / p.dram_active), log(s.throughput / p.throughput),
				     p.tensor_active > 0 ? log(s.tensor_active / p.tensor_active) : sd };

		for (int k = 0; k < 5; k++) {
			sum += k < 4 || p.tensor_active > 0 ? e[k] : 0;
			squares += e[k] * e[k];
		}
		assert_int_equal(s.fb_mib, p.fb_mib);
		assert_true(s.host >= p.host && s.host <= p.host);
		equal += !(s.throughput < r.throughput) && !(s.throughput > r.throughput);
	}
	/* 4.5 standard errors of a mean, and of a variance, of N normal values */
	assert_true(fabs(sum / N) < 4.5 * sd / sqrt(N));
	assert_true(fabs(squares / N / (sd * sd) - 1) < 4.5 * sqrt(2. / N));
	assert_int_equal(equal, 0);
	for (int j = 0; j < MODELS; j++) {
		const struct ct_family *f = ct_believer_belief(b)->profiled[j], *real = ct_truth_families(x.t)[j];
		const struct ct_profile *p = ct_truth_profiles(x.t, (uint32_t)j);
		uint32_t d = f->default_config;
		struct ct_profile own = ct_believer_seen(b, &p[d], ct_truth_kind(x.t, real->config[d].kind).id);

		assert_true(f->config[d].throughput == 1);
		for (uint32_t i = 0; i < f->n; i++) {
			struct ct_profile s = ct_believer_seen(b, &p[i], ct_truth_kind(x.t, real->config[i].kind).id);

			assert_true(fabs(f->config[i].throughput - s.throughput / own.throughput) < 1e-12);
			assert_true(f->config[i].sm_frac >= 0 && f->config[i].sm_frac <= 1);
			assert_int_equal(f->config[i].gpu_mem_mib, real->config[i].gpu_mem_mib);
		}
	}
	ct_believer_free(b);
	ct_believer_free(c);
	drop(&x);
}

/* ---- predictors */

/* Pairs spread over all; both numbers are coprime to 768. */
static uint32_t spread(uint32_t i, int other)
{
	return (other ? i * 77 + 5 : i * 35) % 768;
}

static void oracle_is_what_the_world_does(void **state)
{
	const struct ct_belief_options o = { .predictor = CT_BELIEF_ORACLE, .profile_error = .03 };
	const struct ct_belief_options nothing = { .predictor = CT_BELIEF_NONE, .profile_error = .03 };
	const struct ct_family *const *f;
	struct ct_believer *b, *none;
	struct ct_contention c;
	struct world x;

	(void)state;
	make_all(&x);
	b = believe(&x, &o);
	none = believe(&x, &nothing);
	c = ct_truth_contention(x.t);
	f = ct_truth_families(x.t);
	for (uint32_t i = 0; i < 3000; i++) {
		struct ct_contender self = { .job = i % MODELS, .milli = 1000 },
				    other = { .job = i / MODELS % MODELS, .milli = 1000 };
		uint32_t a, k;
		double s;

		self.config = i * 35 % f[self.job]->n;
		other.config = (i * 77 + 5) % f[other.job]->n;
		a = f[self.job]->config[self.config].kind;
		k = f[other.job]->config[other.config].kind;
		s = 1 / c.factor(c.state, &self, &other);
		assert_true(fabs(ask_for(b, a, k) - s) < 1e-12 * s);
		assert_true(fabs(ask_for(b, a + 768, k) - s) < 1e-12 * s); /* interpolated: it knows better */
		assert_true(ask_for(none, a, k) == 1 && ask_for(none, a + 768, k + 768) == 1);
	}
	assert_true(ask_for(b, 2 * 768, 0) == 1); /* no such kind */
	ct_believer_free(b);
	ct_believer_free(none);
	drop(&x);
}

/* Answers kept in the table are those computed alone. */
static void a_kept_answer_is_the_computed_one(void **state)
{
	enum { PAIRS = 100 };
	struct ct_belief_options o = { .seed = 1, .run_seed = 1, .profile_error = .03, .ready = READY };
	struct world x;

	(void)state;
	make_all(&x);
	for (o.predictor = CT_BELIEF_DNN; o.predictor <= CT_BELIEF_LINEAR; o.predictor++) {
		struct ct_believer *b;
		double first[PAIRS];

		if (!ct_learner_find(ct_belief_predictor_name(o.predictor))->built_in)
			continue;
		b = believe(&x, &o);
		for (uint32_t i = 0; i < PAIRS; i++)
			first[i] = ask_for(b, spread(i, 0) + i % 2 * 768, spread(i, 1) + i / 2 % 2 * 768);
		for (uint32_t i = PAIRS; i-- > 0;) {
			uint32_t self = spread(i, 0) + i % 2 * 768, other = spread(i, 1) + i / 2 % 2 * 768;

			assert_true(ask_for(b, self, other) == first[i]);
			assert_true(ct_believer_compute(b, self, other) == first[i]);
			assert_true(first[i] >= 1);
		}
		assert_int_equal(ct_believer_info(b).asked, 2 * PAIRS);
		if (o.predictor != CT_BELIEF_XGB) /* trees: whole rows */
			assert_int_equal(ct_believer_info(b).computed, PAIRS);
		ct_believer_free(b);
	}
	drop(&x);
}

/* With exact profiles the answers are those of the predictor over the set's numbers,
 * which come from the features of an exact observer. */
static void answers_are_the_predictors_own(void **state)
{
	const struct ct_belief_options o = { .predictor = CT_BELIEF_LINEAR, .seed = 5 };
	struct ct_dataset_options d = ct_dataset_defaults(5);
	struct ct_predictor *p;
	struct ct_believer *b;
	struct ct_dataset data;
	struct ct_err err = { 0 };
	struct world x;

	(void)state;
	make_all(&x);
	b = believe(&x, &o);
	ct_dataset_make(&d, ct_truth_set(x.t), ct_truth_params(x.t), &data);
	assert_int_equal(ct_predictor_train("linear", &data.samples, 5, ct_truth_set(x.t), NULL, &p, &err), 0);
	for (uint32_t i = 0; i < 768; i++) {
		uint32_t a = spread(i, 0), k = spread(i, 1);
		struct ct_config_pair pair = { ct_truth_kind(x.t, a).id, ct_truth_kind(x.t, k).id };
		double s;

		p->slowdown(p, &pair, 1, &s);
		assert_true(ask_for(b, a, k) == s);
	}
	p->free(p);
	ct_dataset_fini(&data);
	ct_believer_free(b);
	drop(&x);
}

/* The file in the folder is what training would give; when this fails:
 * build/release/cotenant calib train --out calib/a100-40gb/iac.h5 */
static void the_ready_predictor_is_the_trained_one(void **state)
{
	struct ct_belief_options o = { .seed = 1, .run_seed = 1, .profile_error = .03 };
	struct ct_predictor *p = NULL;
	struct ct_believer *trained, *ready;
	struct ct_err err = { 0 };
	struct world x;

	(void)state;
	make_all(&x);
	if (ct_predictor_load(READY, ct_truth_set(x.t), &p, &err))
		fail_msg("%s", err.text);
	assert_string_equal(p->name, "dnn");
	assert_int_equal(p->seed, 1);
	p->free(p);
	trained = believe(&x, &o);
	o.ready = READY;
	ready = believe(&x, &o);
	for (uint32_t i = 0; i < 768; i++)
		assert_true(ask_for(trained, spread(i, 0), spread(i, 1)) == ask_for(ready, spread(i, 0), spread(i, 1)));
	assert_string_equal(ct_believer_info(trained).digest, ct_believer_info(ready).digest);
	ct_believer_free(trained);
	ct_believer_free(ready);
	drop(&x);
}

/* Another seed, and another predictor, are trained although a ready one is offered. */
/* What was trained for one believer serves the next in the same world, and no other: with
 * and without it, each world has its own answers. */
static void kept_predictors_change_nothing(void **state)
{
	static const struct ask ask[] = { { .model = "BERT" }, { .model = "NCF" }, { .model = "LSTM" } };
	const struct ct_alteration worlds[] = { { .draw = 0 }, { .draw = 3 }, { .draw = 0 } };
	struct ct_trained *trained = ct_trained_new();
	double s[3][2];

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct ct_truth_options o = { .dir = DIR, .seed = 7, .world = worlds[i] };
		struct world x;

		make(&x, ask, 3, &o);
		for (int kept = 0; kept < 2; kept++) {
			struct ct_believer *b = believe(
			    &x, &(struct ct_belief_options){
				    .predictor = CT_BELIEF_LINEAR, .seed = 1, .trained = kept ? trained : NULL });

			s[i][kept] = ask_for(b, ct_truth_families(x.t)[0]->config[0].kind,
					     ct_truth_families(x.t)[2]->config[0].kind);
			ct_believer_free(b);
		}
		drop(&x);
		assert_memory_equal(&s[i][0], &s[i][1], sizeof s[i][0]);
	}
	assert_memory_equal(&s[0], &s[2], sizeof s[0]);
	assert_memory_not_equal(&s[0], &s[1], sizeof s[0]);
	ct_trained_free(trained);
}

static void a_ready_predictor_of_other_terms_is_not_taken(void **state)
{
	char dir[] = "/tmp/cotenant-test-XXXXXX", path[64];
	struct ct_belief_options o = { .predictor = CT_BELIEF_LINEAR, .seed = 2 };
	struct ct_predictor *p = NULL;
	struct ct_believer *trained, *offered, *own;
	struct ct_dataset_options d = ct_dataset_defaults(1);
	struct ct_dataset data;
	struct ct_err err = { 0 };
	unsigned same = 0, differ = 0;
	struct world x;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/p.h5", dir);
	make_all(&x);
	ct_dataset_make(&d, ct_truth_set(x.t), ct_truth_params(x.t), &data);
	assert_int_equal(ct_predictor_train("linear", &data.samples, 1, ct_truth_set(x.t), NULL, &p, &err), 0);
	assert_int_equal(ct_predictor_save(p, path, &err), 0);
	trained = believe(&x, &o);
	o.ready = path;
	offered = believe(&x, &o);
	o.ready = NULL;
	o.file = path; /* asked for by name it is taken, whatever its seed */
	own = believe(&x, &o);
	for (uint32_t i = 0; i < 768; i++) {
		double s = ask_for(trained, spread(i, 0), spread(i, 1));

		same += s == ask_for(offered, spread(i, 0), spread(i, 1));
		differ += s < ask_for(own, spread(i, 0), spread(i, 1)) || s > ask_for(own, spread(i, 0), spread(i, 1));
	}
	assert_int_equal(same, 768);
	assert_true(differ > 700);
	assert_string_not_equal(ct_believer_info(trained).digest, ct_believer_info(own).digest);
	ct_believer_free(own);
	o.predictor = CT_BELIEF_DNN;
	assert_int_equal(ct_believer_new(&o, x.t, &own, &err), CT_ECONFIG);
	assert_non_null(strstr(err.text, "holds 'linear', iac.predictor says 'dnn'"));
	p->free(p);
	ct_dataset_fini(&data);
	ct_believer_free(trained);
	ct_believer_free(offered);
	unlink(path);
	rmdir(dir);
	drop(&x);
}

/* ---- calibration files */

enum { OWN = 8 };
static char own_dir[] = "/tmp/cotenant-test-XXXXXX", own_path[64];

/* S of i beside j in the table that the file holds. */
static double additive(int i, int j)
{
	return 1.1 + .07 * i + .03 * ((j * 5) % OWN);
}

/* A file of measured pairs, no counters, of the first `n` workloads. */
static void write_own(int n)
{
	struct ct_user_fit_options o = { .mode = CT_CALIB_OVERRIDES, .mem_mib = 40960, .seed = 1 };
	struct ct_calibration *c;
	struct ct_err err = { 0 };
	char solo[64], pairs[64];
	FILE *f;

	snprintf(solo, sizeof solo, "%s/solo.csv", own_dir);
	snprintf(pairs, sizeof pairs, "%s/pairs.csv", own_dir);
	snprintf(own_path, sizeof own_path, "%s/own.h5", own_dir);
	f = fopen(solo, "w");
	fputs("config_id,workload,type,throughput\n", f);
	for (int i = 0; i < n; i++)
		fprintf(f, "c%d,w%d,%s,%d\n", i, i, i % 2 ? "train" : "infer", 100 * (i + 1));
	fclose(f);
	f = fopen(pairs, "w");
	fputs("config_i,config_j,thr_i_colo,thr_j_colo\n", f);
	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++)
			fprintf(f, "c%d,c%d,%.17g,%.17g\n", i, j, 100 * (i + 1) / additive(i, j),
				100 * (j + 1) / additive(j, i));
	fclose(f);
	o.solo = solo;
	o.pairs = pairs;
	o.warnings = fopen("/dev/null", "w");
	if (ct_user_fit(&o, &c, &err) || ct_calibration_write(c, own_path, &err))
		fail_msg("%s", err.text);
	fclose(o.warnings);
	ct_calibration_free(c);
	unlink(solo);
	unlink(pairs);
}

static void make_own(struct world *x, int n)
{
	static const char *const name[OWN] = { "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7" };
	const struct ct_truth_options o = { .file = own_path };
	struct ask ask[OWN] = { { .model = NULL } };

	write_own(n);
	for (int i = 0; i < n; i++)
		ask[i].model = name[i];
	make(x, ask, (uint32_t)n, &o);
}

/* Without counters the names of the workloads tell them apart: least squares finds an
 * additive table again, from two thirds of its pairs, errors of the profiles or not. */
static void a_file_without_counters_is_learned_by_name(void **state)
{
	const struct ct_belief_options o = {
		.predictor = CT_BELIEF_LINEAR, .seed = 1, .profile_error = .03, .pairs = .67
	};
	struct ct_believer *b;
	struct world x;

	(void)state;
	assert_non_null(mkdtemp(own_dir));
	make_own(&x, OWN);
	b = believe(&x, &o);
	for (int i = 0; i < OWN; i++)
		for (int j = 0; j < OWN; j++) {
			uint32_t a = ct_truth_families(x.t)[i]->config[0].kind;
			uint32_t k = ct_truth_families(x.t)[j]->config[0].kind;

			if (fabs(ask_for(b, a, k) - additive(i, j)) > 1e-6)
				fail_msg("w%d beside w%d: %.9f, wanted %.9f", i, j, ask_for(b, a, k), additive(i, j));
		}
	ct_believer_free(b);
	drop(&x);
	unlink(own_path);
}

static void a_file_with_too_few_pairs_says_what_to_do(void **state)
{
	struct ct_belief_options o = { .predictor = CT_BELIEF_DNN, .seed = 1, .pairs = 1 };
	struct ct_believer *b = NULL;
	struct ct_err err = { 0 };
	struct world x;

	(void)state;
	make_own(&x, 3);     /* 6 pairs, 12 samples */
	b = believe(&x, &o); /* a run that does not ask may go on */
	assert_int_equal(ct_believer_check(b, &err), CT_ECONFIG);
	ct_believer_free(b);
	assert_non_null(strstr(err.text, "wants at least 20 samples to train on, got 12"));
	assert_non_null(strstr(err.text, "iac.predictor=oracle or none"));
	o.file = READY;
	memset(&err, 0, sizeof err);
	assert_int_equal(ct_believer_new(&o, x.t, &b, &err), CT_ECONFIG);
	o.file = NULL;
	o.predictor = CT_BELIEF_ORACLE;
	b = believe(&x, &o);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			uint32_t a = ct_truth_families(x.t)[i]->config[0].kind;
			uint32_t k = ct_truth_families(x.t)[j]->config[0].kind;

			assert_true(fabs(ask_for(b, a, k) - additive(i, j)) < 1e-6); /* floats in the table */
		}
	ct_believer_free(b);
	drop(&x);
	unlink(own_path);
	assert_int_equal(rmdir(own_dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_configurations_at_their_lengths),
		cmocka_unit_test(training_scales_and_inference_does_not),
		cmocka_unit_test(interpolation_takes_the_nearest_other_profile),
		cmocka_unit_test(interpolation_keeps_the_lengths_of_the_job),
		cmocka_unit_test(errors_have_the_asked_spread_and_the_default_none),
		cmocka_unit_test(oracle_is_what_the_world_does),
		cmocka_unit_test(a_kept_answer_is_the_computed_one),
		cmocka_unit_test(answers_are_the_predictors_own),
		cmocka_unit_test(the_ready_predictor_is_the_trained_one),
		cmocka_unit_test(kept_predictors_change_nothing),
		cmocka_unit_test(a_ready_predictor_of_other_terms_is_not_taken),
		cmocka_unit_test(a_file_without_counters_is_learned_by_name),
		cmocka_unit_test(a_file_with_too_few_pairs_says_what_to_do),
	};

	gsl_set_error_handler_off();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
