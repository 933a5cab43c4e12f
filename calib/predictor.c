/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/predictor.h"
#include "calib/predictor_new.h"

#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 }; /* pairs whose features lie in the cache at a time */

static void predict(const struct ct_predictor *p, const struct ct_config_pair *pair, size_t n, double *out)
{
	double x[BLOCK * CT_FEATURES];

	for (size_t from = 0; from < n; from += BLOCK) {
		size_t k = n - from < BLOCK ? n - from : BLOCK;

		for (size_t i = 0; i < k; i++) {
			const struct ct_config_pair *q = &pair[from + i];

			CT_DCHECK(NULL, q->self < p->profiles && q->other < p->profiles, "pair %u, %u", q->self,
				  q->other);
			ct_features_pair(p->feature + (size_t)q->self * CT_JOB_FEATURES,
					 p->feature + (size_t)q->other * CT_JOB_FEATURES, x + i * CT_FEATURES);
		}
		p->learner->predict(p->model, x, k, out + from);
	}
}

void ct_predictor_features(const struct ct_predictor *p, const double *x, size_t n, double *out)
{
	p->learner->predict(p->model, x, n, out);
	for (size_t i = 0; i < n; i++)
		out[i] = fmax(out[i], 1);
}

static void tell(const struct ct_predictor *p, const struct ct_config_pair *pair, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = ct_slowdown_of(&p->truth, &p->demand[pair[i].self], &p->demand[pair[i].other], CT_RESOURCES);
}

static void never(const struct ct_predictor *p, const struct ct_config_pair *pair, size_t n, double *out)
{
	(void)p;
	(void)pair;
	for (size_t i = 0; i < n; i++)
		out[i] = 1;
}

static void predictor_free(struct ct_predictor *p)
{
	if (!p)
		return;
	if (p->learner && p->model)
		p->learner->free(p->model);
	free(p->feature);
	free(p->demand);
	free(p);
}

/* A learned one without its model. */
struct ct_predictor *ct_predictor_learned(const struct ct_learner *l, const struct ct_profiles *set)
{
	struct ct_predictor *p = ct_calloc(1, sizeof *p);

	*p = (struct ct_predictor){ .name = l->name, .slowdown = predict, .free = predictor_free, .learner = l };
	if (!set)
		return p;
	p->profiles = set->n_profiles;
	p->feature = ct_calloc((size_t)set->n_profiles * CT_JOB_FEATURES, sizeof *p->feature);
	memcpy(p->digest, set->digest, sizeof p->digest);
	return p;
}

int ct_predictor_train(const char *name, const struct ct_samples *samples, uint64_t seed, const struct ct_profiles *set,
		       const struct ct_observation *seen, struct ct_predictor **out, struct ct_err *err)
{
	const struct ct_learner *l = ct_learner_find(name);
	struct ct_predictor *p;
	int rc;

	if (!l || l == &ct_learner_mean)
		return ct_err_at(err, CT_ECONFIG, NULL, "'%s' is none of dnn, xgb, linear", name);
	CT_CHECK(NULL, !set || samples->width == CT_FEATURES, "samples of %zu features", samples->width);
	p = ct_predictor_learned(l, set);
	p->seed = seed;
	for (uint32_t i = 0; i < p->profiles; i++)
		ct_features_job(&set->profile[i], i, seen, p->feature + (size_t)i * CT_JOB_FEATURES);
	rc = l->train(samples, seed, 1, &p->model, err);
	if (rc) {
		p->model = NULL;
		predictor_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

int ct_predictor_plain(const char *name, const struct ct_profiles *set, const struct ct_slowdown_params *truth,
		       struct ct_predictor **out, struct ct_err *err)
{
	int oracle = strcmp(name, "oracle") == 0;
	struct ct_predictor *p;

	if (!oracle && strcmp(name, "none") != 0)
		return ct_err_at(err, CT_ECONFIG, NULL, "'%s' is none of oracle, none", name);
	p = ct_calloc(1, sizeof *p);
	*p = (struct ct_predictor){ .name = oracle ? "oracle" : "none",
				    .slowdown = oracle ? tell : never,
				    .free = predictor_free,
				    .profiles = set->n_profiles };
	if (oracle) {
		p->truth = *truth;
		p->demand = ct_calloc(set->n_profiles, sizeof *p->demand);
		for (uint32_t i = 0; i < set->n_profiles; i++)
			p->demand[i] = ct_slowdown_demand(truth, &set->profile[i]);
	}
	*out = p;
	return 0;
}
