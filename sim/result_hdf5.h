/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result_hdf5.h - what the writer and the reader of result files agree on; the
 * layout stands in sim/result.h. */
#ifndef CT_SIM_RESULT_HDF5_H
#define CT_SIM_RESULT_HDF5_H

#include "sim/result.h"

#include <hdf5.h>

#define CT_RESULT_FORMAT "cotenant-result"
enum { CT_RESULT_VERSION = 1 };

/* The file begins with a user block (HDF5 skips it) of text:
 *
 *	cotenant-result 1
 *	BYTES SHA256
 *
 * where BYTES is the number of bytes after the block and SHA256 their hash, padded
 * with newlines. The reader checks both before HDF5 sees the file: HDF5 1.10.8
 * crashes on some damaged files, and prints a page on others at exit. */
enum { CT_RESULT_BLOCK = 512 };
void ct_result_block(char block[CT_RESULT_BLOCK], unsigned long long bytes, const char *digest);

/* Values of the attribute `kind` of a column; index = enum ct_column_type. */
extern const char *const ct_column_kind[CT_COLUMN_TYPES];

/* HDF5 prints every failure on stderr by default: off between these two. */
struct ct_hdf5_quiet {
	H5E_auto2_t func;
	void *data;
};
void ct_hdf5_quiet_begin(struct ct_hdf5_quiet *q);
void ct_hdf5_quiet_end(const struct ct_hdf5_quiet *q);
/* What HDF5 says about the last failure, innermost cause; "" = nothing. */
void ct_hdf5_reason(char *out, size_t cap);

/* In memory and file: a UTF-8 text of `n` bytes, NUL-padded, or of any length
 * (H5T_VARIABLE; attributes, because h5py gives `str` for them). Negative on failure. */
hid_t ct_hdf5_text_type(size_t n);

#endif
