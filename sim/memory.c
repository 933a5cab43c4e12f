/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Pages of 2 MiB for large fresh memory: a million jobs are 130 MiB, and taking
 * them in 4 KiB pages cost more time than reading the trace. Not after realloc,
 * which moves pages: splitting huge ones costs more than they save. */
enum { HUGE_PAGE = 1 << 21 };

static void *prefer_huge_pages(void *p, size_t n)
{
	uintptr_t first = ((uintptr_t)p + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)p + n) & ~(uintptr_t)(HUGE_PAGE - 1);

	if (p && n >= 2 * HUGE_PAGE && first < end)
		(void)madvise((char *)p + (first - (uintptr_t)p), end - first, MADV_HUGEPAGE); /* a wish, may fail */
	return p;
}

enum { BLOCK = 1 << 16, BLOCK_MAX = 1 << 24 };

struct ct_arena_block {
	struct ct_arena_block *next;
	size_t cap, used;
	_Alignas(64) unsigned char mem[];
};

static void out_of_memory(size_t n, size_t size)
{
	fprintf(stderr, "cotenant: out of memory: wanted %zu x %zu bytes\n", n, size);
	abort();
}

/* Blocks double in size, so that n bytes cost O(log n) calls of the system. */
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
		cap = (cap + 63) & ~(size_t)63;
		b = prefer_huge_pages(aligned_alloc(64, sizeof *b + cap), sizeof *b + cap);
		if (!b)
			out_of_memory(1, cap);
		b->next = a->head;
		b->cap = cap;
		a->head = b;
		at = 0;
	}
	b->used = at + n;
	a->used += n;
	return memset(b->mem + at, 0, n);
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

void *ct_calloc(size_t n, size_t size)
{
	void *p = prefer_huge_pages(calloc(n ? n : 1, size ? size : 1), n * size);

	if (!p)
		out_of_memory(n, size);
	return p;
}

void *ct_realloc_array(void *p, size_t n, size_t size)
{
	void *q = reallocarray(p, n ? n : 1, size ? size : 1);

	if (!q)
		out_of_memory(n, size);
	return p ? q : prefer_huge_pages(q, n * size);
}

void *ct_grow(void *p, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap + *cap / 2 + 16;

	if (n < need)
		n = need;
	if (*cap && n / 2 >= *cap && n * size >= 2 * HUGE_PAGE) { /* a reservation: rather copied than moved */
		void *q = ct_realloc_array(NULL, n, size);

		memcpy(q, p, *cap * size);
		free(p);
		p = q;
	} else {
		p = ct_realloc_array(p, n, size);
	}
	*cap = n;
	return p;
}
