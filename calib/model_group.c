/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/model_group.h"

#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int put(hid_t g, const char *name, hid_t type, const void *v, size_t n, const struct ct_loc *at,
	       struct ct_err *err)
{
	hsize_t dim = n;
	hid_t space = H5Screate_simple(1, &dim, NULL), how = H5Pcreate(H5P_DATASET_CREATE), set = -1;
	/* Without times: the same model is the same file. */
	int ok = space >= 0 && how >= 0 && H5Pset_obj_track_times(how, 0) >= 0 &&
		 (set = H5Dcreate2(g, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT)) >= 0 &&
		 H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0;

	if (set >= 0 && H5Dclose(set) < 0)
		ok = 0;
	if (space >= 0 && H5Sclose(space) < 0)
		ok = 0;
	if (how >= 0)
		H5Pclose(how);
	return ok ? 0 : ct_err_at(err, CT_EIO, at, "cannot write '%s'", name);
}

int ct_group_put(hid_t g, const char *name, const double *v, size_t n, const struct ct_loc *at, struct ct_err *err)
{
	return put(g, name, H5T_NATIVE_DOUBLE, v, n, at, err);
}

int ct_group_put_bytes(hid_t g, const char *name, const void *v, size_t n, const struct ct_loc *at, struct ct_err *err)
{
	return put(g, name, H5T_NATIVE_UCHAR, v, n, at, err);
}

/* One-dimensional, of the wanted class, 1 to `most` values. */
static int get(hid_t g, const char *name, hid_t type, size_t size, size_t most, void **v, size_t *n)
{
	hid_t set = H5Dopen2(g, name, H5P_DEFAULT), space = -1, file_type = -1;
	hsize_t dim = 0;
	int ok = set >= 0 && (space = H5Dget_space(set)) >= 0 && (file_type = H5Dget_type(set)) >= 0 &&
		 H5Tget_class(file_type) == H5Tget_class(type) && H5Sget_simple_extent_ndims(space) == 1 &&
		 H5Sget_simple_extent_dims(space, &dim, NULL) == 1 && dim > 0 && dim <= most;

	*v = NULL;
	if (ok) {
		*n = (size_t)dim;
		*v = ct_calloc(*n, size);
		ok = H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *v) >= 0;
	}
	if (file_type >= 0)
		H5Tclose(file_type);
	if (space >= 0)
		H5Sclose(space);
	if (set >= 0)
		H5Dclose(set);
	if (!ok)
		free(*v);
	return ok;
}

int ct_group_get(hid_t g, const char *name, size_t most, double **v, size_t *n, const struct ct_loc *at,
		 struct ct_err *err)
{
	void *p;

	if (!get(g, name, H5T_NATIVE_DOUBLE, sizeof **v, most, &p, n))
		return ct_err_at(err, CT_ECONFIG, at, "'%s' is missing or not an array of 1 to %zu numbers", name,
				 most);
	*v = p;
	for (size_t i = 0; i < *n; i++)
		if (!isfinite((*v)[i])) {
			free(p);
			return ct_err_at(err, CT_ECONFIG, at, "'%s' holds a value that is not finite", name);
		}
	return 0;
}

int ct_group_get_bytes(hid_t g, const char *name, size_t most, unsigned char **v, size_t *n, const struct ct_loc *at,
		       struct ct_err *err)
{
	void *p;

	if (!get(g, name, H5T_NATIVE_UCHAR, 1, most, &p, n))
		return ct_err_at(err, CT_ECONFIG, at, "'%s' is missing or not an array of 1 to %zu bytes", name, most);
	*v = p;
	return 0;
}

int ct_group_read(hid_t g, const char *name, double *v, size_t n, const struct ct_loc *at, struct ct_err *err)
{
	double *got;
	size_t k;

	CT_TRY(ct_group_get(g, name, n, &got, &k, at, err));
	if (k == n)
		memcpy(v, got, n * sizeof *v);
	free(got);
	return k == n ? 0 : ct_err_at(err, CT_ECONFIG, at, "'%s' wants %zu numbers, got %zu", name, n, k);
}
