/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/strings.h"
#include "sim/err.h"

#include <string.h>

/* Out of memory aborts in sim/memory.c, so uthash never sees NULL. */
#define uthash_malloc(size) ct_calloc(1, (size))
#define uthash_fatal(msg)   ct_check_failed(NULL, "uthash", __FILE__, __LINE__, "%s", (msg))
#include <uthash.h>

struct ct_string_entry {
	UT_hash_handle hh;
	uint32_t number;
	char text[];
};

static struct ct_string_entry *find(const struct ct_strings *s, const char *text, size_t n, unsigned hash)
{
	struct ct_string_entry *e;

	HASH_FIND_BYHASHVALUE(hh, s->table, text, n, hash, e);
	return e;
}

static unsigned hash_of(const char *text, size_t n)
{
	unsigned hash;

	HASH_VALUE(text, n, hash);
	return hash;
}

static void insert(struct ct_strings *s, const char *text, size_t n, unsigned hash)
{
	struct ct_string_entry *e;

	CT_CHECK(NULL, s->n < UINT32_MAX, "more than 2^32 - 1 different strings");
	e = ct_arena_alloc(&s->arena, sizeof *e + n + 1, _Alignof(struct ct_string_entry));
	e->number = (uint32_t)s->n;
	if (n)
		memcpy(e->text, text, n);
	CT_GROW(s->text, s->cap, s->n + 1);
	s->text[s->n++] = e->text;
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, s->table, e->text, n, hash, e);
}

void ct_strings_init(struct ct_strings *s)
{
	*s = (struct ct_strings){ 0 };
	insert(s, "", 0, hash_of("", 0));
}

void ct_strings_fini(struct ct_strings *s)
{
	HASH_CLEAR(hh, s->table);
	ct_arena_fini(&s->arena);
	free(s->text);
	*s = (struct ct_strings){ 0 };
}

uint32_t ct_strings_add_new(struct ct_strings *s, const char *text, size_t n, int *is_new)
{
	unsigned hash;
	struct ct_string_entry *e;

	*is_new = 0;
	if (!n)
		return 0; /* most optional columns are empty */
	hash = hash_of(text, n);
	e = find(s, text, n, hash);
	if (e)
		return e->number;
	*is_new = 1;
	insert(s, text, n, hash);
	return (uint32_t)(s->n - 1);
}

uint32_t ct_strings_add(struct ct_strings *s, const char *text, size_t n)
{
	int is_new;

	return ct_strings_add_new(s, text, n, &is_new);
}

uint32_t ct_strings_find(const struct ct_strings *s, const char *text, size_t n)
{
	const struct ct_string_entry *e = n ? find(s, text, n, hash_of(text, n)) : NULL;

	if (!n)
		return 0;
	return e ? e->number : UINT32_MAX;
}

const char *ct_strings_text(const struct ct_strings *s, uint32_t number)
{
	CT_CHECK(NULL, number < s->n, "string %u of %zu", number, s->n);
	return s->text[number];
}
