/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradient-boosted trees (Chen and Guestrin 2016) through XGBoost's C API; HAVE_XGBOOST
 * is set by the Makefile where the library is there. */
#include "calib/learner.h"

#include "calib/model_group.h"
#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_XGBOOST
#include <xgboost/c_api.h>

enum { ROUNDS = 300, MODEL_BYTES_MOST = 1 << 26 };

struct trees {
	size_t width;
	int floor; /* boosting overshoots its labels a little: clip at 1 */
	BoosterHandle booster;
};

/* XGBoost takes floats. */
static float *as_floats(const double *x, size_t n)
{
	float *f = ct_calloc(n, sizeof *f);

	for (size_t i = 0; i < n; i++)
		f[i] = (float)x[i];
	return f;
}

static DMatrixHandle matrix_of(const double *x, size_t n, size_t width)
{
	float *f = as_floats(x, n * width);
	DMatrixHandle m = NULL;

	if (XGDMatrixCreateFromMat(f, n, width, NAN, &m) != 0)
		m = NULL;
	free(f);
	return m;
}

static int set_label(DMatrixHandle m, const struct ct_samples *s)
{
	float *label = ct_calloc(s->n, sizeof *label);
	int rc;

	for (size_t i = 0; i < s->n; i++)
		label[i] = (float)log(s->row[i].slowdown);
	rc = XGDMatrixSetFloatInfo(m, "label", label, s->n);
	free(label);
	return rc;
}

/* One thread: the sums of the gradients then have one order. */
static int set_parameters(BoosterHandle b, uint64_t seed)
{
	char text[24];
	const char *const pair[][2] = { { "objective", "reg:squarederror" },
					{ "max_depth", "6" },
					{ "eta", "0.1" },
					{ "tree_method", "exact" },
					{ "nthread", "1" },
					{ "verbosity", "0" },
					{ "seed", text } };

	snprintf(text, sizeof text, "%u", (unsigned)(seed & 0x7fffffff));
	for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
		if (XGBoosterSetParam(b, pair[i][0], pair[i][1]) != 0)
			return -1;
	return 0;
}

static int boost(BoosterHandle b, DMatrixHandle m, uint64_t seed)
{
	if (set_parameters(b, seed))
		return -1;
	for (int i = 0; i < ROUNDS; i++)
		if (XGBoosterUpdateOneIter(b, i, m) != 0)
			return -1;
	return 0;
}

static void trees_free(void *model)
{
	struct trees *t = model;

	if (t)
		XGBoosterFree(t->booster);
	free(t);
}

static int failed(const struct ct_loc *at, struct ct_err *err)
{
	char line[200];

	snprintf(line, sizeof line, "%.*s", (int)strcspn(XGBGetLastError(), "\n"), XGBGetLastError());
	return ct_err_at(err, CT_ECONFIG, at, "XGBoost failed: %s", line);
}

static int trees_train(const struct ct_samples *s, uint64_t seed, int floor, void **model, struct ct_err *err)
{
	struct trees *t;
	DMatrixHandle m;
	int rc;

	CT_TRY(ct_learner_check(&ct_learner_xgb, s, err));
	m = matrix_of(s->x, s->n, s->width);
	if (!m)
		return failed(NULL, err);
	t = ct_calloc(1, sizeof *t);
	t->width = s->width;
	t->floor = floor;
	rc = set_label(m, s) || XGBoosterCreate(&m, 1, &t->booster) || boost(t->booster, m, seed);
	XGDMatrixFree(m);
	if (rc) {
		rc = failed(NULL, err);
		trees_free(t);
		return rc;
	}
	*model = t;
	return 0;
}

static void trees_predict(const void *model, const double *x, size_t n, double *out)
{
	const struct trees *t = model;
	DMatrixHandle m = matrix_of(x, n, t->width);
	const float *p = NULL;
	bst_ulong got = 0;

	CT_CHECK(NULL, m && XGBoosterPredict(t->booster, m, 0, 0, 0, &got, &p) == 0 && got == n,
		 "XGBoost gave no prediction: %s", XGBGetLastError());
	for (size_t i = 0; i < n; i++)
		out[i] = t->floor && p[i] < 0 ? 1 : exp((double)p[i]);
	XGDMatrixFree(m);
}

static size_t trees_width(const void *model)
{
	return ((const struct trees *)model)->width;
}

static int trees_save(const void *model, hid_t g, const struct ct_loc *at, struct ct_err *err)
{
	const struct trees *t = model;
	double shape[] = { (double)t->width, t->floor };
	const char *bytes;
	bst_ulong n;

	if (XGBoosterSaveModelToBuffer(t->booster, "{\"format\": \"json\"}", &n, &bytes) != 0)
		return failed(at, err);
	CT_TRY(ct_group_put(g, "shape", shape, 2, at, err));
	return ct_group_put_bytes(g, "trees", bytes, n, at, err);
}

static int trees_load(hid_t g, const struct ct_loc *at, void **model, struct ct_err *err)
{
	struct trees *t;
	unsigned char *bytes;
	double shape[2];
	size_t n;
	int rc;

	CT_TRY(ct_group_read(g, "shape", shape, 2, at, err));
	if (!(shape[0] >= 1 && shape[0] <= 4096))
		return ct_err_at(err, CT_ECONFIG, at, "'shape' wants 1 to 4096 features");
	CT_TRY(ct_group_get_bytes(g, "trees", MODEL_BYTES_MOST, &bytes, &n, at, err));
	t = ct_calloc(1, sizeof *t);
	t->width = (size_t)shape[0];
	t->floor = shape[1] != 0;
	rc = XGBoosterCreate(NULL, 0, &t->booster) || XGBoosterLoadModelFromBuffer(t->booster, bytes, n) ||
	     XGBoosterSetParam(t->booster, "nthread", "1");
	free(bytes);
	if (rc) {
		rc = failed(at, err);
		trees_free(t);
		return rc;
	}
	*model = t;
	return 0;
}

const struct ct_learner ct_learner_xgb = { "xgb",      1,           trees_train, trees_predict,
					   trees_free, trees_width, trees_save,  trees_load };

#else

static int not_built_in(const struct ct_samples *s, uint64_t seed, int floor, void **model, struct ct_err *err)
{
	(void)seed;
	(void)floor;
	(void)model;
	return ct_learner_check(&ct_learner_xgb, s, err);
}

static int cannot_load(hid_t g, const struct ct_loc *at, void **model, struct ct_err *err)
{
	(void)g;
	(void)model;
	return ct_err_at(err, CT_ECONFIG, at,
			 "predictor 'xgb' is not built in: install libxgboost-dev and build again");
}

const struct ct_learner ct_learner_xgb = { .name = "xgb", .train = not_built_in, .load = cannot_load };
#endif
