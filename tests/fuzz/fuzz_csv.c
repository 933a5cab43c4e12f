/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first byte chooses the delimiter, the rest is the input, plain or gzip.
 * Relations:
 *   - a field is terminated, and its text stands in the input at the place it
 *     names (plain input);
 *   - places ascend;
 *   - an input either ends well or with one message of the right code;
 *   - the fields written again, all quoted, read back as the same fields;
 *   - the numbers agree with the C library's. */
#include "sim/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WANT(cond)                                                                         \
	do {                                                                               \
		if (!(cond)) {                                                             \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                           \
		}                                                                          \
	} while (0)

/* Start of line `line` (1-based) of the input, or NULL: LF, CRLF and CR end one. */
struct lines {
	const char **start;
	size_t n;
};

static struct lines find_lines(const char *s, size_t n)
{
	struct lines l = { .start = malloc((n + 2) * sizeof *l.start) };
	const char *end = s + n;

	WANT(l.start);
	if (n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3))
		s += 3;
	l.start[l.n++] = s;
	while (s < end) {
		char c = *s++;

		if (c == '\r' && s < end && *s == '\n')
			s++;
		if (c == '\n' || c == '\r')
			l.start[l.n++] = s;
	}
	return l;
}

/* The text at its place: as it is, or behind a quote with quotes doubled. */
static void check_place(const struct lines *l, const char *end, struct ct_loc at, struct ct_csv_field f)
{
	const char *p;
	int quoted;

	WANT(at.line >= 1 && at.line <= l->n && at.col >= 1);
	WANT(at.col - 1 <= (size_t)(end - l->start[at.line - 1]));
	p = l->start[at.line - 1] + at.col - 1;
	quoted = p < end && *p == '"';
	p += quoted;
	for (size_t i = 0; i < f.n; i++) {
		WANT(p < end && *p == f.s[i]);
		p += 1 + (quoted && *p == '"');
	}
	WANT(!quoted || (p < end && *p == '"'));
}

static void check_numbers(struct ct_csv_field f)
{
	int64_t i = 0;
	double d = 0;
	char *end;

	if (!ct_parse_i64(f.s, f.n, &i))
		WANT(strtoll(f.s, &end, 10) == i && end == f.s + f.n);
	if (!ct_parse_f64(f.s, f.n, &d)) {
		double want = strtod(f.s, &end);

		WANT(!memcmp(&d, &want, sizeof d) && end == f.s + f.n);
	}
}

/* All fields, quoted; each record ends with LF. */
struct text {
	char *s;
	size_t n, cap, fields, records;
};

static void append(struct text *t, char c)
{
	if (t->n == t->cap) {
		t->cap = 2 * t->cap + 64;
		t->s = realloc(t->s, t->cap);
		WANT(t->s);
	}
	t->s[t->n++] = c;
}

static void append_record(struct text *t, const struct ct_csv *c, char delimiter)
{
	for (size_t i = 0; i < ct_csv_fields(c); i++) {
		struct ct_csv_field f = ct_csv_field(c, i);

		if (i)
			append(t, delimiter);
		append(t, '"');
		for (size_t k = 0; k < f.n; k++) {
			append(t, f.s[k]);
			if (f.s[k] == '"')
				append(t, '"');
		}
		append(t, '"');
	}
	append(t, '\n');
	t->fields += ct_csv_fields(c);
	t->records++;
}

/* Reads it all; `lines` = NULL when places cannot be checked (gzip). */
static struct text read_all(const char *s, size_t n, char delimiter, const struct lines *lines)
{
	struct text t = { 0 };
	struct ct_err err = { 0 };
	struct ct_csv *c;
	size_t line = 0, col = 0;
	int rc;

	WANT(ct_csv_open_memory("fuzz", s, n, delimiter, &c, &err) == 0);
	while ((rc = ct_csv_next(c, &err)) == 1) {
		WANT(ct_csv_fields(c) >= 1);
		for (size_t i = 0; i < ct_csv_fields(c); i++) {
			struct ct_csv_field f = ct_csv_field(c, i);
			struct ct_loc at = ct_csv_loc(c, i);

			WANT(f.s[f.n] == '\0' && !memchr(f.s, '\0', f.n) && f.col == at.col);
			WANT(at.line > line || (at.line == line && at.col > col));
			line = at.line;
			col = at.col;
			if (lines)
				check_place(lines, s + n, at, f);
			check_numbers(f);
		}
		append_record(&t, c, delimiter);
	}
	WANT(rc == 0 ? !err.code : err.code == (enum ct_code)rc && err.count == 1);
	WANT(rc == 0 || rc == CT_ETRACE || rc == CT_EIO);
	WANT(!lines || rc != CT_EIO);
	WANT(ct_csv_next(c, &err) == rc);
	ct_csv_close(c);
	return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char delimiters[] = ",;\t|";
	const char *s = (const char *)data + 1;
	struct lines lines;
	struct text first, again;
	char delimiter;
	int gzip;

	if (!size)
		return 0;
	delimiter = delimiters[data[0] % 4];
	size--;
	gzip = size >= 2 && !memcmp(s, "\x1f\x8b", 2);
	lines = find_lines(s, size);
	first = read_all(s, size, delimiter, gzip ? NULL : &lines);
	again = read_all(first.s ? first.s : "", first.n, delimiter, NULL);
	WANT(again.n == first.n && again.fields == first.fields && again.records == first.records);
	WANT(!first.n || !memcmp(again.s, first.s, first.n));
	free(first.s);
	free(again.s);
	free(lines.start);
	return 0;
}
