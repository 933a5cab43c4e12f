/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of learners, the network's and the mean's adapters. */
#include "calib/learner.h"

#include "calib/model_group.h"
#include "calib/network.h"
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ct_learner *const learners[] = { &ct_learner_dnn, &ct_learner_xgb, &ct_learner_linear,
						     &ct_learner_mean };

const struct ct_learner *ct_learner_at(size_t i)
{
	return i < sizeof learners / sizeof *learners ? learners[i] : NULL;
}

const struct ct_learner *ct_learner_find(const char *name)
{
	for (size_t i = 0; ct_learner_at(i); i++)
		if (strcmp(learners[i]->name, name) == 0)
			return learners[i];
	return NULL;
}

enum { SAMPLES_LEAST = 20 };

int ct_learner_check(const struct ct_learner *l, const struct ct_samples *s, struct ct_err *err)
{
	if (!l->built_in)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "predictor '%s' is not built in: install libxgboost-dev and build again", l->name);
	if (s->n < SAMPLES_LEAST)
		return ct_err_at(err, CT_ECONFIG, NULL, "predictor '%s' wants at least %d samples to train on, got %zu",
				 l->name, SAMPLES_LEAST, s->n);
	return 0;
}

/* ---- dnn */

static int dnn_train(const struct ct_samples *s, uint64_t seed, int floor, void **model, struct ct_err *err)
{
	struct ct_network_options o = ct_network_defaults();

	CT_TRY(ct_learner_check(&ct_learner_dnn, s, err));
	o.floor = floor;
	*model = ct_network_train(&o, s, seed);
	return 0;
}

static void dnn_predict(const void *model, const double *x, size_t n, double *out)
{
	ct_network_predict(model, x, n, out);
}

static void dnn_free(void *model)
{
	ct_network_free(model);
}

static size_t dnn_width(const void *model)
{
	return ((const struct ct_network *)model)->in;
}

static int dnn_save(const void *model, hid_t g, const struct ct_loc *at, struct ct_err *err)
{
	const struct ct_network *n = model;
	double shape[] = { (double)n->in, (double)n->h1, (double)n->h2, n->floor, n->epochs, n->validation_loss };

	CT_TRY(ct_group_put(g, "shape", shape, sizeof shape / sizeof *shape, at, err));
	CT_TRY(ct_group_put(g, "weights", n->theta, n->n_theta, at, err));
	CT_TRY(ct_group_put(g, "feature_mean", n->in_mean, n->in, at, err));
	CT_TRY(ct_group_put(g, "feature_sd", n->in_sd, n->in, at, err));
	CT_TRY(ct_group_put(g, "bn_mean1", n->bn_mean1, n->h1, at, err));
	CT_TRY(ct_group_put(g, "bn_var1", n->bn_var1, n->h1, at, err));
	CT_TRY(ct_group_put(g, "bn_mean2", n->bn_mean2, n->h2, at, err));
	return ct_group_put(g, "bn_var2", n->bn_var2, n->h2, at, err);
}

static int is_size(double v)
{
	return v >= 1 && v <= 4096 && v == floor(v);
}

static int all_positive(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(v[i] > 0))
			return 0;
	return 1;
}

static int dnn_read(struct ct_network *n, hid_t g, const struct ct_loc *at, struct ct_err *err)
{
	CT_TRY(ct_group_read(g, "weights", n->theta, n->n_theta, at, err));
	CT_TRY(ct_group_read(g, "feature_mean", n->in_mean, n->in, at, err));
	CT_TRY(ct_group_read(g, "feature_sd", n->in_sd, n->in, at, err));
	CT_TRY(ct_group_read(g, "bn_mean1", n->bn_mean1, n->h1, at, err));
	CT_TRY(ct_group_read(g, "bn_var1", n->bn_var1, n->h1, at, err));
	CT_TRY(ct_group_read(g, "bn_mean2", n->bn_mean2, n->h2, at, err));
	CT_TRY(ct_group_read(g, "bn_var2", n->bn_var2, n->h2, at, err));
	if (!all_positive(n->in_sd, n->in))
		return ct_err_at(err, CT_ECONFIG, at, "'feature_sd' wants numbers over 0");
	/* 0 is the variance of a unit that never fires. */
	for (size_t i = 0; i < n->h1 + n->h2; i++)
		if ((i < n->h1 ? n->bn_var1[i] : n->bn_var2[i - n->h1]) < 0)
			return ct_err_at(err, CT_ECONFIG, at, "'bn_var' wants numbers of at least 0");
	return 0;
}

static int dnn_load(hid_t g, const struct ct_loc *at, void **model, struct ct_err *err)
{
	double shape[6];
	struct ct_network *n;
	int rc;

	CT_TRY(ct_group_read(g, "shape", shape, 6, at, err));
	if (!is_size(shape[0]) || !is_size(shape[1]) || !is_size(shape[2]))
		return ct_err_at(err, CT_ECONFIG, at, "'shape' wants layers of 1 to 4096 units");
	n = ct_network_new((size_t)shape[0], (size_t)shape[1], (size_t)shape[2], shape[3] != 0);
	n->epochs = shape[4] >= 0 && shape[4] < 1e9 ? (unsigned)shape[4] : 0;
	n->validation_loss = shape[5];
	rc = dnn_read(n, g, at, err);
	if (rc) {
		ct_network_free(n);
		return rc;
	}
	ct_network_fold(n);
	*model = n;
	return 0;
}

const struct ct_learner ct_learner_dnn = { "dnn", 1, dnn_train, dnn_predict, dnn_free, dnn_width, dnn_save, dnn_load };

/* ---- mean */

static int mean_train(const struct ct_samples *s, uint64_t seed, int floor, void **model, struct ct_err *err)
{
	double *m, sum = 0;

	(void)seed;
	(void)floor;
	CT_TRY(ct_learner_check(&ct_learner_mean, s, err));
	for (size_t i = 0; i < s->n; i++)
		sum += log(s->row[i].slowdown);
	m = ct_calloc(2, sizeof *m);
	m[0] = (double)s->width;
	m[1] = exp(sum / (double)s->n);
	*model = m;
	return 0;
}

static void mean_predict(const void *model, const double *x, size_t n, double *out)
{
	(void)x;
	for (size_t i = 0; i < n; i++)
		out[i] = ((const double *)model)[1];
}

static size_t mean_width(const void *model)
{
	return (size_t)((const double *)model)[0];
}

static int mean_save(const void *model, hid_t g, const struct ct_loc *at, struct ct_err *err)
{
	return ct_group_put(g, "mean", model, 2, at, err);
}

static int mean_load(hid_t g, const struct ct_loc *at, void **model, struct ct_err *err)
{
	double *m = ct_calloc(2, sizeof *m);
	int rc = ct_group_read(g, "mean", m, 2, at, err);

	if (rc)
		free(m);
	else
		*model = m;
	return rc;
}

const struct ct_learner ct_learner_mean = {
	"mean", 1, mean_train, mean_predict, free, mean_width, mean_save, mean_load
};
