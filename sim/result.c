/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/result.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void ct_result_fini(struct ct_result *r)
{
	ct_arena_fini(&r->arena);
	memset(r, 0, sizeof *r);
}

const char *ct_result_text(struct ct_result *r, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	CT_CHECK(NULL, n >= 0, "text of a result cannot be formatted");
	s = ct_arena_alloc(&r->arena, (size_t)n + 1, 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

/* Growing arrays in the arena: the old one stays behind, which for the few dozen
 * entries of a manifest does not matter. */
static void *grown(struct ct_arena *a, void *p, size_t n, size_t *cap, size_t size)
{
	void *q;

	if (n < *cap)
		return p;
	*cap = 2 * *cap + 16;
	q = ct_arena_alloc(a, *cap * size, _Alignof(max_align_t));
	if (n)
		memcpy(q, p, n * size);
	return q;
}

struct part {
	struct ct_pair **pair;
	size_t *n, *cap;
};

static struct part part_of(struct ct_result *r, enum ct_result_part which)
{
	switch (which) {
	case CT_RESULT_IMPORT:
		return (struct part){ &r->import, &r->n_import, &r->cap_import };
	case CT_RESULT_PERF:
		return (struct part){ &r->perf, &r->n_perf, &r->cap_perf };
	case CT_RESULT_MANIFEST:
		break;
	}
	return (struct part){ &r->manifest, &r->n_manifest, &r->cap_manifest };
}

static struct ct_pair *find(const struct part *p, const char *key)
{
	for (size_t i = 0; i < *p->n; i++)
		if (strcmp((*p->pair)[i].key, key) == 0)
			return &(*p->pair)[i];
	return NULL;
}

void ct_result_add(struct ct_result *r, enum ct_result_part which, const char *key, const char *value, int is_number)
{
	struct part p = part_of(r, which);
	struct ct_pair *e = find(&p, key);

	if (!e) {
		*p.pair = grown(&r->arena, *p.pair, *p.n, p.cap, sizeof **p.pair);
		e = &(*p.pair)[(*p.n)++];
		e->key = ct_arena_text(&r->arena, key, strlen(key));
	}
	e->value = ct_arena_text(&r->arena, value, strlen(value));
	e->is_number = is_number;
}

const char *ct_result_get(const struct ct_result *r, enum ct_result_part which, const char *key)
{
	struct ct_result view = *r; /* part_of() hands out pointers for writing, too */
	struct part p = part_of(&view, which);
	const struct ct_pair *e = find(&p, key);

	return e ? e->value : NULL;
}

void ct_result_warn(struct ct_result *r, const char *text)
{
	r->warnings = grown(&r->arena, r->warnings, r->n_warnings, &r->cap_warnings, sizeof *r->warnings);
	r->warnings[r->n_warnings++] = ct_arena_text(&r->arena, text, strlen(text));
}

static void digest_of_text(const char *s, char out[CT_DIGEST_TEXT])
{
	struct ct_digest d;

	ct_digest_init(&d);
	ct_digest_text(&d, s);
	ct_digest_final(&d, out);
}

void ct_result_seal(struct ct_result *r, const char *config_digest_text, const char *input_digests)
{
	digest_of_text(config_digest_text, r->config_digest);
	digest_of_text(input_digests, r->input_digest);
	ct_result_digest(r, r->digest);
}
