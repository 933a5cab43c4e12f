/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK = 1 << 16, BLOCK_MAX = 1 << 24, HUGE_PAGE = 1 << 21, ALIGN_MAX = 64 };

struct ct_arena_block {
	struct ct_arena_block *next;
	size_t cap, used;
	unsigned char *mem; /* behind this header, aligned */
};

static void out_of_memory(size_t n, size_t size)
{
	fprintf(stderr, "cotenant: out of memory: wanted %zu x %zu bytes\n", n, size);
	abort();
}

/* A million jobs fill several hundred MiB once; in pages of 4 KiB the faults alone
 * cost as much as the whole simulation, so large areas ask for huge pages. Advice
 * only: without them everything works the same. Not after realloc, which moves
 * pages: splitting huge ones costs more than they save. */
static void advise(void *p, size_t n)
{
	uintptr_t first = ((uintptr_t)p + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);

	if (n >= 2 * HUGE_PAGE && first + HUGE_PAGE <= (uintptr_t)p + n)
		(void)madvise((void *)first, ((uintptr_t)p + n - first) & ~(uintptr_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
}

/* calloc() knows that fresh pages are zero, so nothing is touched before its use. */
void *ct_calloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory(n, size);
	advise(p, n * size);
	return p;
}

/* Blocks double in size, so that n bytes cost O(log n) calls of the system. A block
 * is zero from the start and every byte is handed out once. */
void *ct_arena_alloc(struct ct_arena *a, size_t n, size_t align)
{
	struct ct_arena_block *b = a->head;
	size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;

	if (!b || at > b->cap || n > b->cap - at) {
		size_t cap = b ? (b->cap < BLOCK_MAX ? 2 * b->cap : BLOCK_MAX) : BLOCK;

		if (n > cap)
			cap = n;
		if (cap > SIZE_MAX / 2)
			out_of_memory(1, n);
		b = ct_calloc(1, sizeof *b + cap + ALIGN_MAX);
		b->mem = (unsigned char *)(((uintptr_t)(b + 1) + ALIGN_MAX - 1) & ~(uintptr_t)(ALIGN_MAX - 1));
		b->next = a->head;
		b->cap = cap;
		a->head = b;
		at = 0;
	}
	b->used = at + n;
	a->used += n;
	return b->mem + at;
}

char *ct_arena_text(struct ct_arena *a, const char *s, size_t n)
{
	char *p = ct_arena_alloc(a, n + 1, 1);

	if (n)
		memcpy(p, s, n);
	return p;
}

void ct_arena_fini(struct ct_arena *a)
{
	while (a->head) {
		struct ct_arena_block *b = a->head;

		a->head = b->next;
		free(b);
	}
	a->used = 0;
}

void *ct_realloc_array(void *p, size_t n, size_t size)
{
	void *q = reallocarray(p, n ? n : 1, size ? size : 1);

	if (!q)
		out_of_memory(n, size);
	if (!p)
		advise(q, n * size);
	return q;
}

void *ct_grow(void *p, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap + *cap / 2 + 16;

	if (n < need)
		n = need;
	p = ct_realloc_array(p, n, size);
	*cap = n;
	return p;
}
