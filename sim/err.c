/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends one message; a message that no longer fits is counted, not cut. */
__attribute__((format(printf, 3, 0))) static void append(struct ct_err *e, const struct ct_loc *at, const char *fmt,
							 va_list ap)
{
	char line[1024];
	size_t n = 0;
	int k;

	e->count++;
	if (e->kept >= CT_ERR_LINES)
		return;
	if (at) {
		if (at->line && at->col)
			k = snprintf(line, sizeof line, "%s:%zu:%zu: ", at->file, at->line, at->col);
		else if (at->line)
			k = snprintf(line, sizeof line, "%s:%zu: ", at->file, at->line);
		else
			k = snprintf(line, sizeof line, "%s: ", at->file);
		/* A place that leaves no room for the message is left out. */
		if (k > 0 && (size_t)k < sizeof line)
			n = (size_t)k;
	}
	k = vsnprintf(line + n, sizeof line - n, fmt, ap);
	if (k < 0)
		return;
	n = (size_t)k < sizeof line - n ? n + (size_t)k : sizeof line - 1;
	if (e->used + n + 2 > sizeof e->text)
		return;
	if (e->kept)
		e->text[e->used++] = '\n';
	memcpy(e->text + e->used, line, n);
	e->used += n;
	e->text[e->used] = '\0';
	e->kept++;
}

int ct_err_at(struct ct_err *e, enum ct_code code, const struct ct_loc *at, const char *fmt, ...)
{
	va_list ap;

	if (e->code)
		return (int)e->code;
	e->code = code;
	va_start(ap, fmt);
	append(e, at, fmt, ap);
	va_end(ap);
	return (int)code;
}

int ct_err_add(struct ct_err *e, enum ct_code code, const struct ct_loc *at, const char *fmt, ...)
{
	va_list ap;

	if (!e->code)
		e->code = code;
	va_start(ap, fmt);
	append(e, at, fmt, ap);
	va_end(ap);
	return (int)e->code;
}

void ct_err_print(const struct ct_err *e, FILE *to)
{
	const char *s = e->text;

	for (unsigned i = 0; i < e->kept; i++) {
		size_t n = strcspn(s, "\n");

		fprintf(to, "cotenant: error: %.*s\n", (int)n, s);
		s += n + (s[n] == '\n');
	}
	if (e->count > e->kept)
		fprintf(to, "cotenant: error: ... and %u more errors\n", e->count - e->kept);
}

void ct_check_failed(const struct ct_where *where, const char *expr, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "cotenant: bug: %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (%s)\n", expr);
	if (where)
		fprintf(stderr, "cotenant: bug: at t=%.6f s, seed %llu, event %llu\n", (double)where->now_us / 1e6,
			(unsigned long long)where->seed, (unsigned long long)where->event);
	abort();
}
