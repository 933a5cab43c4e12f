/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.h - the three ways memory is got: an arena for what lives as long as
 * its owner, growing arrays, and plain checked allocation.
 *
 * Out of memory is not an input error: the call prints how much was wanted and
 * aborts, so no caller checks for NULL. */
#ifndef CT_SIM_MEMORY_H
#define CT_SIM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct ct_arena_block;

/* Bump allocator; zero-initialise to use. Everything in it dies with
 * ct_arena_fini(). */
struct ct_arena {
	struct ct_arena_block *head;
	size_t used; /* bytes handed out */
};

/* `n` zeroed bytes aligned to `align` (a power of two, at most 64). */
void *ct_arena_alloc(struct ct_arena *a, size_t n, size_t align);
/* A NUL-terminated copy of `n` bytes. */
char *ct_arena_text(struct ct_arena *a, const char *s, size_t n);
void ct_arena_fini(struct ct_arena *a);

#define CT_NEW(arena, type, n) ((type *)ct_arena_alloc((arena), sizeof(type) * (size_t)(n), _Alignof(type)))

/* calloc / realloc that abort on failure and on overflow of n * size. */
void *ct_calloc(size_t n, size_t size);
void *ct_realloc_array(void *p, size_t n, size_t size);

/* Room for `need` elements in the growing array `p` of capacity `cap` (both are
 * updated); new elements are not initialised. Grows by half, so appending is
 * amortised constant. */
#define CT_GROW(p, cap, need)                                                    \
	do {                                                                     \
		if ((need) > (cap))                                              \
			(p) = ct_grow((p), &(cap), (size_t)(need), sizeof *(p)); \
	} while (0)
void *ct_grow(void *p, size_t *cap, size_t need, size_t size);

#endif
