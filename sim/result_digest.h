/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result_digest.h - the digest of a column, fed block by block from its first row to
 * its last. It depends on the values alone: not on the sizes of the blocks, nor on
 * how the column is held, nor on whether it is held at all. */
#ifndef CT_SIM_RESULT_DIGEST_H
#define CT_SIM_RESULT_DIGEST_H

#include "sim/result.h"

struct ct_column_digest {
	struct ct_digest d;
	enum ct_column_type type;
	uint64_t first, run, rows; /* the first cell, and how many like it begin the column */
	int varied;                /* a cell other than the first was met */
};

void ct_column_digest_init(struct ct_column_digest *k, const char *name, const char *unit, enum ct_column_type type);
/* 8-byte cells: double, int64_t, or int64_t codes. */
void ct_column_digest_cells(struct ct_column_digest *k, const void *cells, size_t n);
/* Texts: n bytes, every text with its NUL. */
void ct_column_digest_texts(struct ct_column_digest *k, const char *heap, size_t n);
/* Adds the column's digest to `into`. The names are those of CODE. */
void ct_column_digest_end(struct ct_column_digest *k, const char *const *names, size_t n_names, struct ct_digest *into);

/* What a frame's digest begins with; the columns' digests follow in order. */
void ct_frame_digest_begin(struct ct_digest *d, size_t n_columns, size_t n_rows);
void ct_frame_digest(const struct ct_frame *f, char out[CT_DIGEST_TEXT]);

#endif
