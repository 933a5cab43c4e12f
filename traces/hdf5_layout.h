/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hdf5_layout.h - what the writer and the reader of the canonical HDF5 form must
 * agree on (described in hdf5_jobs.h). Internal to traces/. */
#ifndef CT_TRACES_HDF5_LAYOUT_H
#define CT_TRACES_HDF5_LAYOUT_H

#include "traces/columns.h"

#include <hdf5.h>

#define CT_H5_FORMAT "cotenant-trace"
enum {
	CT_H5_VERSION = 1,
	CT_H5_BLOCK = 1 << 14,                   /* rows a chunk, and rows moved at a time */
	CT_H5_LINK_LIMIT = 3 * CT_NAME_LIMIT + 1 /* bytes of an escaped column name */
};

/* HDF5 prints its error stack to stderr unless told otherwise; our messages say
 * what went wrong. Put back afterwards: the setting belongs to the process. */
struct ct_h5_quiet {
	H5E_auto2_t print;
	void *data;
};
void ct_h5_quiet_begin(struct ct_h5_quiet *q);
void ct_h5_quiet_end(const struct ct_h5_quiet *q);

/* Column name <-> link name. Decoding returns -1 for what encoding cannot give. */
void ct_h5_link_name(const char *name, char out[CT_H5_LINK_LIMIT]);
int ct_h5_column_name(const char *link, char out[CT_NAME_LIMIT + 1]);

#endif
