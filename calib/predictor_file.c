/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictors in HDF5 files. */
#include "calib/predictor.h"
#include "calib/predictor_new.h"

#include "calib/model_group.h"
#include "sim/csv.h"
#include "sim/memory.h"
#include "sim/output.h"
#include "sim/result_hdf5.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char format[] = "cotenant-predictor 2";
enum { NAME_MOST = 64 };

/* ---- writing */

static int write_group(const struct ct_predictor *p, hid_t g, const struct ct_loc *at, struct ct_err *err)
{
	char seed[24];

	snprintf(seed, sizeof seed, "%" PRIu64, p->seed);
	CT_TRY(ct_group_put_bytes(g, "format", format, sizeof format - 1, at, err));
	CT_TRY(ct_group_put_bytes(g, "seed", seed, strlen(seed), at, err));
	CT_TRY(ct_group_put_bytes(g, "learner", p->name, strlen(p->name), at, err));
	CT_TRY(ct_group_put_bytes(g, "profiles", p->digest, strlen(p->digest), at, err));
	CT_TRY(ct_group_put(g, "features", p->feature, (size_t)p->profiles * CT_JOB_FEATURES, at, err));
	return p->learner->save(p->model, g, at, err);
}

/* Without times, so that the same predictor is the same file. */
static hid_t group_without_times(hid_t file)
{
	hid_t how = H5Pcreate(H5P_GROUP_CREATE), g = -1;

	if (how >= 0 && H5Pset_obj_track_times(how, 0) >= 0)
		g = H5Gcreate2(file, "predictor", H5P_DEFAULT, how, H5P_DEFAULT);
	if (how >= 0)
		H5Pclose(how);
	return g;
}

static int write_file(const struct ct_predictor *p, const char *tmp, const struct ct_loc *at, struct ct_err *err)
{
	hid_t file = H5Fcreate(tmp, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), g = -1;
	int rc = 0;

	if (file < 0)
		return ct_err_at(err, CT_EIO, at, "cannot be created%s%s", errno ? ": " : "",
				 errno ? strerror(errno) : "");
	g = group_without_times(file);
	rc = g < 0 ? ct_err_at(err, CT_EIO, at, "cannot write '/predictor'") : write_group(p, g, at, err);
	if (g >= 0 && H5Gclose(g) < 0 && !rc)
		rc = ct_err_at(err, CT_EIO, at, "cannot write '/predictor'");
	if (H5Fclose(file) < 0 && !rc)
		rc = ct_err_at(err, CT_EIO, at, "cannot be written");
	return rc;
}

int ct_predictor_save(const struct ct_predictor *p, const char *path, struct ct_err *err)
{
	struct ct_loc at = { .file = path };
	struct ct_hdf5_quiet q;
	char *tmp;
	int rc;

	if (!p->learner)
		return ct_err_at(err, CT_ECONFIG, &at, "predictor '%s' has nothing to save", p->name);
	tmp = ct_output_temporary(path);
	ct_hdf5_quiet_begin(&q);
	errno = 0;
	rc = write_file(p, tmp, &at, err);
	ct_hdf5_quiet_end(&q);
	if (rc)
		unlink(tmp);
	else
		rc = ct_output_commit(tmp, path, err);
	free(tmp);
	return rc;
}

/* ---- reading */

static int is_bytes(hid_t g, const char *name, const char *want, const struct ct_loc *at, struct ct_err *err)
{
	unsigned char *v;
	size_t n;
	int same;

	if (ct_group_get_bytes(g, name, NAME_MOST, &v, &n, at, err))
		return 0;
	same = n == strlen(want) && memcmp(v, want, n) == 0;
	free(v);
	return same;
}

static const struct ct_learner *learner_of(hid_t g, const struct ct_loc *at, struct ct_err *err)
{
	char name[NAME_MOST + 1] = { 0 };
	const struct ct_learner *l;
	unsigned char *v;
	size_t n;

	if (ct_group_get_bytes(g, "learner", NAME_MOST, &v, &n, at, err))
		return NULL;
	memcpy(name, v, n);
	free(v);
	l = ct_learner_find(name);
	if (!l || l == &ct_learner_mean)
		ct_err_at(err, CT_ECONFIG, at, "its predictor is none of dnn, xgb, linear");
	return l == &ct_learner_mean ? NULL : l;
}

static int read_seed(hid_t g, struct ct_predictor *p, const struct ct_loc *at, struct ct_err *err)
{
	char text[NAME_MOST + 1] = { 0 };
	unsigned char *v;
	int64_t seed;
	size_t n;

	CT_TRY(ct_group_get_bytes(g, "seed", NAME_MOST, &v, &n, at, err));
	memcpy(text, v, n);
	free(v);
	if (ct_parse_i64(text, n, &seed) || seed < 0)
		return ct_err_at(err, CT_ECONFIG, at, "'seed' wants a whole number >= 0");
	p->seed = (uint64_t)seed;
	return 0;
}

static int fits_features(const struct ct_predictor *p, const struct ct_loc *at, struct ct_err *err)
{
	if (p->learner->width(p->model) == CT_FEATURES)
		return 0;
	return ct_err_at(err, CT_ECONFIG, at, "its predictor wants %zu features, a pair has %d",
			 p->learner->width(p->model), CT_FEATURES);
}

static int read_group(hid_t g, const struct ct_profiles *set, struct ct_predictor **out, const struct ct_loc *at,
		      struct ct_err *err)
{
	const struct ct_learner *l;
	struct ct_predictor *p;
	int rc;

	if (!is_bytes(g, "format", format, at, err))
		return ct_err_at(err, CT_ECONFIG, at, "not of the format '%s'", format);
	if (!is_bytes(g, "profiles", set->digest, at, err))
		return ct_err_at(err, CT_ECONFIG, at, "made for other profiles; train it again");
	l = learner_of(g, at, err);
	if (!l)
		return (int)err->code;
	p = ct_predictor_learned(l, set);
	rc = read_seed(g, p, at, err);
	if (!rc)
		rc = ct_group_read(g, "features", p->feature, (size_t)p->profiles * CT_JOB_FEATURES, at, err);
	if (!rc)
		rc = l->load(g, at, &p->model, err);
	if (!rc)
		rc = fits_features(p, at, err);
	if (rc)
		p->free(p);
	else
		*out = p;
	return rc;
}

int ct_predictor_load(const char *path, const struct ct_profiles *set, struct ct_predictor **out, struct ct_err *err)
{
	struct ct_loc at = { .file = path };
	struct ct_hdf5_quiet q;
	hid_t file, g = -1;
	int rc;

	if (access(path, R_OK) != 0)
		return ct_err_at(err, CT_EIO, &at, "cannot be read: %s", strerror(errno));
	ct_hdf5_quiet_begin(&q);
	file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	if (file >= 0)
		g = H5Gopen2(file, "predictor", H5P_DEFAULT);
	rc = g < 0 ? ct_err_at(err, CT_ECONFIG, &at, "not a predictor's file") : read_group(g, set, out, &at, err);
	if (g >= 0)
		H5Gclose(g);
	if (file >= 0)
		H5Fclose(file);
	ct_hdf5_quiet_end(&q);
	return rc;
}
