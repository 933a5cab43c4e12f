/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_group.h - arrays of doubles and bytes in an HDF5 group, as the learners store
 * themselves. Every return value of HDF5 is checked. Internal to calib/. */
#ifndef CT_CALIB_MODEL_GROUP_H
#define CT_CALIB_MODEL_GROUP_H

#include "sim/err.h"

#include <hdf5.h>
#include <stddef.h>

int ct_group_put(hid_t g, const char *name, const double *v, size_t n, const struct ct_loc *at, struct ct_err *err);
int ct_group_put_bytes(hid_t g, const char *name, const void *v, size_t n, const struct ct_loc *at, struct ct_err *err);
/* malloc'ed; at most `most` values, all finite. */
int ct_group_get(hid_t g, const char *name, size_t most, double **v, size_t *n, const struct ct_loc *at,
		 struct ct_err *err);
int ct_group_get_bytes(hid_t g, const char *name, size_t most, unsigned char **v, size_t *n, const struct ct_loc *at,
		       struct ct_err *err);
/* Exactly n values into v. */
int ct_group_read(hid_t g, const char *name, double *v, size_t n, const struct ct_loc *at, struct ct_err *err);

#endif
