/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/option.h"

#include "scheduler/registry.h"
#include "sim/clock.h"
#include "sim/csv.h"
#include "sim/nearest.h"
#include "sim/shown.h"
#include "sim/output.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Length of the character at s, 0 when it is not UTF-8 (RFC 3629: no overlong
 * forms, no surrogates, at most U+10FFFF). */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	size_t k = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (k == 0 || k > n)
		return 0;
	for (size_t i = 1; i < k; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return k;
}

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

size_t ct_utf8_check(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	for (size_t i = 0; i < n;) {
		size_t k = utf8_length(u + i, n - i);

		if (k == 0 || (is_control(u[i]) && u[i] != '\t' && u[i] != '\n'))
			return i;
		i += k;
	}
	return SIZE_MAX;
}

int ct_opt_is_text(const struct ct_opt *o)
{
	return o->type == CT_OPT_TEXT || o->type == CT_OPT_ENUM;
}

static bool has_limits(const struct ct_opt *o)
{
	return o->min < 0 || o->min > 0 || o->max < 0 || o->max > 0;
}

static const char *noun(const struct ct_opt *o)
{
	switch (o->type) {
	case CT_OPT_BOOL:
		return "true or false";
	case CT_OPT_INT:
		return "a whole number";
	case CT_OPT_DOUBLE:
		return "a number";
	case CT_OPT_SECONDS:
		return "seconds";
	case CT_OPT_ENUM:
		return "one of";
	case CT_OPT_TEXT:
		return o->flags & CT_OPT_PATH ? "a file name" : "text";
	}
	return "?";
}

/* " 0..7", " >= 0", " <= 7", or nothing. */
static void range_text(const struct ct_opt *o, char *out, size_t cap)
{
	char lo[CT_F64_TEXT], hi[CT_F64_TEXT];

	out[0] = '\0';
	if (ct_opt_is_text(o) || o->type == CT_OPT_BOOL || !has_limits(o))
		return;
	ct_f64_format(o->min, lo);
	ct_f64_format(o->max, hi);
	if (isinf(o->min) && isinf(o->max))
		return;
	if (isinf(o->max))
		snprintf(out, cap, " >= %s", lo);
	else if (isinf(o->min))
		snprintf(out, cap, " <= %s", hi);
	else
		snprintf(out, cap, " %s..%s", lo, hi);
}

size_t ct_opt_domain(const struct ct_opt *o, char *out, size_t cap)
{
	char range[2 * CT_F64_TEXT + 8];
	const char *what = noun(o);
	int k;

	range_text(o, range, sizeof range);
	if (o->type == CT_OPT_ENUM)
		k = snprintf(out, cap, "%s", o->choices);
	else if (o->type == CT_OPT_BOOL)
		k = snprintf(out, cap, "true|false");
	else
		k = snprintf(out, cap, "%s%s", strncmp(what, "a ", 2) == 0 ? what + 2 : what, range);
	return k < 0 ? 0 : (size_t)k;
}

/* One error "'cluster.nodes' wants a whole number 0..7, got '-1'". */
static int refuse(const struct ct_opt_place *p, const struct ct_opt *o, const char *text)
{
	char range[2 * CT_F64_TEXT + 8], shown[CT_SHOWN];

	range_text(o, range, sizeof range);
	return ct_err_add(p->err, p->code, p->at, "'%s' wants %s%s, got '%s'", p->key, noun(o), range,
			  ct_shown(shown, text, strlen(text)));
}

static int64_t choice_index(const char *choices, const char *text)
{
	size_t n = strlen(text);
	int64_t i = 0;

	for (const char *c = choices; *c; i++) {
		size_t k = strcspn(c, "|");

		if (k == n && memcmp(c, text, n) == 0)
			return i;
		c += k + (c[k] == '|');
	}
	return -1;
}

/* The i-th of "a|b|c" into the arena. */
static const char *choice_text(const char *choices, int i, struct ct_arena *arena)
{
	const char *c = choices;
	size_t k = strcspn(c, "|");

	for (; i > 0 && c[k] == '|'; i--) {
		c += k + 1;
		k = strcspn(c, "|");
	}
	return ct_arena_text(arena, c, k);
}

static int refuse_choice(const struct ct_opt_place *p, const struct ct_opt *o, const char *text)
{
	struct ct_arena words = { 0 };
	struct ct_nearest near;
	char shown[CT_SHOWN];
	const char *hint;
	int n = 1;

	ct_nearest_init(&near, text);
	for (const char *c = o->choices; *c; c++)
		n += *c == '|';
	for (int i = 0; i < n; i++)
		ct_nearest_offer(&near, choice_text(o->choices, i, &words));
	hint = ct_nearest_word(&near);
	ct_err_add(p->err, p->code, p->at, "'%s' wants one of %s, got '%s'%s%s%s", p->key, o->choices,
		   ct_shown(shown, text, strlen(text)), hint ? "; did you mean '" : "", hint ? hint : "",
		   hint ? "'?" : "");
	ct_arena_fini(&words);
	return (int)p->err->code;
}

static int set_text(const struct ct_opt_place *p, const struct ct_opt *o, void *at, const char *text)
{
	const char **value = at;
	size_t n = strlen(text), bad = ct_utf8_check(text, n);
	size_t folder = o->flags & CT_OPT_PATH && p->folder ? strlen(p->folder) : 0;
	char *s;

	if (bad != SIZE_MAX)
		return ct_err_add(p->err, p->code, p->at, "'%s' is not UTF-8 text at byte %zu", p->key, bad + 1);
	if (n == 0) {
		*value = NULL;
		return 0;
	}
	if (folder == 0 || text[0] == '/' || strncmp(text, "data:", 5) == 0) {
		*value = ct_arena_text(p->arena, text, n);
		return 0;
	}
	s = CT_NEW(p->arena, char, folder + n + 2);
	memcpy(s, p->folder, folder);
	s[folder] = '/';
	memcpy(s + folder + 1, text, n + 1);
	*value = s;
	return 0;
}

static bool in_range(const struct ct_opt *o, double v)
{
	return !has_limits(o) || (v >= o->min && v <= o->max);
}

static int set_number(const struct ct_opt_place *p, const struct ct_opt *o, void *at, const char *text)
{
	size_t n = strlen(text);
	int64_t i;
	double d;

	if (o->type == CT_OPT_DOUBLE) {
		if (ct_parse_f64(text, n, &d) || !in_range(o, d))
			return refuse(p, o, text);
		*(double *)at = d;
		return 0;
	}
	if (o->type == CT_OPT_SECONDS) {
		ct_time t;

		if (ct_time_parse(text, n, &t) || !in_range(o, ct_seconds(t)))
			return refuse(p, o, text);
		*(ct_time *)at = t;
		return 0;
	}
	if (ct_parse_i64(text, n, &i) || !in_range(o, (double)i))
		return refuse(p, o, text);
	*(int64_t *)at = i;
	return 0;
}

int ct_opt_set(const struct ct_opt_place *p, const struct ct_opt *o, void *base, const char *text)
{
	void *at = (char *)base + o->offset;
	int64_t i;

	switch (o->type) {
	case CT_OPT_BOOL:
		if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
			return refuse(p, o, text);
		*(int *)at = text[0] == 't';
		return 0;
	case CT_OPT_ENUM:
		i = choice_index(o->choices, text);
		if (i < 0)
			return refuse_choice(p, o, text);
		*(int *)at = (int)i;
		return 0;
	case CT_OPT_TEXT:
		return set_text(p, o, at, text);
	case CT_OPT_INT:
	case CT_OPT_DOUBLE:
	case CT_OPT_SECONDS:
		return set_number(p, o, at, text);
	}
	return ct_err_add(p->err, p->code, p->at, "'%s' has an unknown type", p->key);
}

void ct_opt_defaults(const struct ct_opt *opts, void *base, struct ct_arena *arena)
{
	struct ct_err err = { 0 };

	for (const struct ct_opt *o = opts; o && o->name; o++) {
		struct ct_opt_place p = { .key = o->name, .code = CT_ECONFIG, .arena = arena, .err = &err };

		CT_CHECK(NULL, ct_opt_set(&p, o, base, o->def) == 0, "default of an option: %s", err.text);
	}
}

const struct ct_opt *ct_opt_find(const struct ct_opt *opts, const char *name)
{
	for (const struct ct_opt *o = opts; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

const char *ct_opt_nearest(const struct ct_opt *opts, const char *name)
{
	struct ct_nearest near;

	ct_nearest_init(&near, name);
	for (const struct ct_opt *o = opts; o && o->name; o++)
		ct_nearest_offer(&near, o->name);
	return ct_nearest_word(&near);
}

static bool good_name(const char *s)
{
	return s[0] && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(s);
}

/* What is wrong with one row, or NULL. */
static const char *row_defect(const struct ct_opt *opts, const struct ct_opt *o, size_t state_size)
{
	size_t size = ct_opt_value_size(o->type);

	if (!good_name(o->name))
		return "its name is not lower-case letters, digits and '_'";
	if (ct_opt_find(opts, o->name) != o)
		return "its name is there twice";
	if (size == 0)
		return "its type is unknown";
	if (o->offset > state_size || size > state_size - o->offset || o->offset % size)
		return "its value lies outside the state, or is misaligned";
	if (!o->def || !o->help)
		return "it has no default or no help";
	if (o->type == CT_OPT_ENUM && (!o->choices || !o->choices[0]))
		return "it has no choices";
	if (!(o->min <= o->max))
		return "its limits are the wrong way round";
	return NULL;
}

int ct_opt_check_table(const struct ct_opt *opts, size_t state_size, const char *owner, struct ct_err *err)
{
	struct ct_arena arena = { 0 };
	void *scratch = ct_calloc(1, state_size);
	int bad = 0;

	for (const struct ct_opt *o = opts; o && o->name; o++) {
		const char *defect = row_defect(opts, o, state_size);
		struct ct_opt_place p = { .key = o->name, .code = CT_EPOLICY, .arena = &arena, .err = err };

		if (defect)
			bad = ct_err_add(err, CT_EPOLICY, NULL, "option '%s' of %s is not usable: %s", o->name, owner,
					 defect);
		else if (ct_opt_set(&p, o, scratch, o->def))
			bad = ct_err_add(err, CT_EPOLICY, NULL, "option '%s' of %s refuses its own default '%s'",
					 o->name, owner, o->def);
	}
	free(scratch);
	ct_arena_fini(&arena);
	return bad;
}

const char *ct_opt_text(const struct ct_opt *o, const void *base, struct ct_arena *arena)
{
	const void *at = (const char *)base + o->offset;
	char text[64];
	size_t n = 0;

	switch (o->type) {
	case CT_OPT_BOOL:
		return *(const int *)at ? "true" : "false";
	case CT_OPT_ENUM:
		return choice_text(o->choices, *(const int *)at, arena);
	case CT_OPT_TEXT:
		return *(const char *const *)at ? *(const char *const *)at : "";
	case CT_OPT_INT:
		n = (size_t)snprintf(text, sizeof text, "%lld", (long long)*(const int64_t *)at);
		break;
	case CT_OPT_DOUBLE:
		n = ct_f64_format(*(const double *)at, text);
		break;
	case CT_OPT_SECONDS:
		n = ct_time_format(*(const ct_time *)at, text);
		break;
	}
	return ct_arena_text(arena, text, n);
}

void ct_opt_print_manual(FILE *to, const char *section, const struct ct_opt *opts)
{
	for (const struct ct_opt *o = opts; o && o->name; o++) {
		char name[64], domain[128];
		const char *unit = o->unit && !(o->type == CT_OPT_SECONDS) ? o->unit : NULL;

		snprintf(name, sizeof name, "%s%s%s", section, section[0] ? "." : "", o->name);
		ct_opt_domain(o, domain, sizeof domain);
		fprintf(to, "  %-24s %s\n", name, o->help);
		fprintf(to, "  %-24s   %s%s%s%s%s; default %s\n", "", domain, unit ? " " : "", unit ? "(" : "",
			unit ? unit : "", unit ? ")" : "", o->def[0] ? o->def : "none");
	}
}
