/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/reader_options.h"

#include "sim/csv.h"
#include "sim/nearest.h"
#include "sim/shown.h"

#include <string.h>

static const struct ct_trace_opt *find(const struct ct_trace_opt *table, const char *name)
{
	for (; table && table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

static void unknown(const struct ct_trace_opt *table, const char *format, const char *name, struct ct_err *err)
{
	struct ct_nearest near;
	char b[CT_SHOWN];
	const char *best;

	ct_nearest_init(&near, name);
	for (const struct ct_trace_opt *t = table; t && t->name; t++)
		ct_nearest_offer(&near, t->name);
	best = ct_nearest_word(&near);
	ct_err_add(err, CT_ECONFIG, NULL, "the '%s' reader has no option 'trace.options.%s'%s%s%s", format,
		   ct_shown(b, name, strlen(name)), best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

/* The place of `text` in "a|b|c", or -1. */
static int word_index(const char *words, const char *text)
{
	size_t n = strlen(text);
	int i = 0;

	for (const char *s = words; *s; i++) {
		size_t k = strcspn(s, "|");

		if (k == n && !memcmp(s, text, n))
			return i;
		s += k + (s[k] == '|');
	}
	return -1;
}

static int set(const struct ct_trace_opt *t, void *out, const char *text, struct ct_err *err)
{
	char *at = (char *)out + t->offset, b[CT_SHOWN];
	double v;
	int word;

	switch (t->type) {
	case CT_TRACE_OPT_NUMBER:
		if (ct_parse_f64(text, strlen(text), &v) || v < t->lo || v > t->hi)
			return ct_err_add(err, CT_ECONFIG, NULL, "'trace.options.%s' wants a number %g to %g, got '%s'",
					  t->name, t->lo, t->hi, ct_shown(b, text, strlen(text)));
		*(double *)(void *)at = v;
		return 0;
	case CT_TRACE_OPT_WORD:
		word = word_index(t->words, text);
		if (word < 0)
			return ct_err_add(err, CT_ECONFIG, NULL, "'trace.options.%s' wants one of %s, got '%s'",
					  t->name, t->words, ct_shown(b, text, strlen(text)));
		*(int *)(void *)at = word;
		return 0;
	case CT_TRACE_OPT_TEXT:
		*(const char **)(void *)at = text;
		return 0;
	}
	return 0;
}

int ct_trace_opts_read(const struct ct_trace_opt *table, const char *format, const struct ct_trace_options *o,
		       void *out, struct ct_err *err)
{
	struct ct_err own = { 0 };

	for (const struct ct_trace_opt *t = table; t && t->name; t++)
		CT_CHECK(NULL, !set(t, out, t->standard, &own), "%s", own.text);
	for (size_t i = 0; i < o->n_options; i++) {
		const struct ct_trace_option *given = &o->options[i];
		const struct ct_trace_opt *t = find(table, given->name);

		for (size_t k = 0; k < i; k++)
			if (!strcmp(o->options[k].name, given->name))
				ct_err_add(err, CT_ECONFIG, NULL, "'trace.options.%s' is given twice", given->name);
		if (t)
			set(t, out, given->value, err);
		else
			unknown(table, format, given->name, err);
	}
	return (int)err->code;
}
