/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result_frame.h - how columns are put together, for the makers of results (from a
 * world, from a file). Users of results need only sim/result.h.
 *
 * A column is filled from its first row to its last, in blocks of any size. As
 * long as all values are equal only one is kept. */
#ifndef CT_SIM_RESULT_FRAME_H
#define CT_SIM_RESULT_FRAME_H

#include "sim/result.h"

/* result_log.c: the frames of a world's log. */
void ct_result_add_log(struct ct_result *r, const struct ct_world *w);

/* Room for n columns more: pointers to them stay valid until then. */
void ct_frame_reserve(struct ct_frame *f, struct ct_arena *a, size_t n);
/* A new empty column; name and unit are copied. */
struct ct_column *ct_frame_new(struct ct_frame *f, struct ct_arena *a, const char *name, const char *unit,
			       enum ct_column_type type);

/* Numbers: 8-byte elements of F64, I64, TIME. Zero-initialise. */
struct ct_fill {
	uint64_t first;
	uint64_t *all; /* NULL while every value is `first` */
	size_t done;
};
void ct_fill_put(struct ct_fill *f, struct ct_arena *a, size_t rows, const void *block, size_t n);
/* Everything `from` holds, as if it had been put here. */
void ct_fill_copy(struct ct_fill *f, const struct ct_fill *from, struct ct_arena *a, size_t rows);
void ct_fill_end(struct ct_fill *f, struct ct_arena *a, struct ct_column *c);

/* Dictionary codes. The caller knows each text by a number below `numbers`. With
 * rows = 0 the codes are given out but not kept. */
struct ct_coder {
	uint32_t *remap; /* number -> code + 1, 0 = not met yet */
	const char **names;
	size_t n_names, cap_names;
	uint32_t *all; /* NULL while every code is 0 */
	size_t done, rows;
};
void ct_coder_init(struct ct_coder *k, size_t numbers, size_t rows);
/* Next row; returns its code. `text` is copied when the number is new, or kept as it is. */
uint32_t ct_coder_put(struct ct_coder *k, struct ct_arena *a, uint32_t number, const char *text, int copy);
/* Fills the column and frees what init took. */
void ct_coder_end(struct ct_coder *k, struct ct_arena *a, struct ct_column *c);
void ct_coder_fini(struct ct_coder *k);

/* Texts. */
struct ct_texts {
	char *heap;
	size_t used, cap;
	size_t *at, done;
};
void ct_texts_init(struct ct_texts *t, struct ct_arena *a, size_t rows);
/* Room for a text of n bytes as the next row; the caller writes it there and
 * says with ct_texts_put() how long it became. */
char *ct_texts_room(struct ct_texts *t, size_t n);
void ct_texts_put(struct ct_texts *t, size_t n);
void ct_texts_end(struct ct_texts *t, struct ct_arena *a, struct ct_column *c);

#endif
