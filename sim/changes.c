/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/changes.h"

#include "sim/csv.h"

#include <math.h>
#include <string.h>

static int one(const char *s, size_t n, struct ct_arena *arena, struct ct_change *out, struct ct_err *err)
{
	const char *equals = memchr(s, '=', n), *at;
	const char *value = equals ? equals + 1 : s;
	size_t rest = (size_t)(s + n - value);

	out->factor = rest && *value == '*';
	if (!equals || equals == s || ct_parse_f64(value + out->factor, rest - (size_t)out->factor, &out->value) ||
	    !isfinite(out->value))
		return ct_err_add(
		    err, CT_ECONFIG, NULL,
		    "a change wants NAME=VALUE or NAME@KEY=VALUE, the value a number or *FACTOR, got '%.*s'",
		    n < 60 ? (int)n : 60, s);
	at = memchr(s, '@', (size_t)(equals - s));
	out->name = ct_arena_text(arena, s, (size_t)((at ? at : equals) - s));
	out->key = at ? ct_arena_text(arena, at + 1, (size_t)(equals - at - 1)) : NULL;
	return 0;
}

int ct_changes_parse(const char *text, struct ct_arena *arena, struct ct_change **out, size_t *n, struct ct_err *err)
{
	size_t most = 1, before = err->count;

	*n = 0;
	*out = NULL;
	if (!text || !*text)
		return 0;
	for (const char *s = text; *s; s++)
		most += *s == ',';
	*out = CT_NEW(arena, struct ct_change, most);
	for (const char *s = text;; s++) {
		size_t length = strcspn(s, ","), skip = strspn(s, " ");
		const char *end = s + length;

		if (skip > length)
			skip = length;
		one(s + skip, length - skip, arena, &(*out)[(*n)++], err);
		s = end;
		if (!*s)
			break;
	}
	return err->count > before ? (int)err->code : 0;
}
