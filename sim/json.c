/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/json.h"

#include "sim/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put(struct ct_json *j, const char *s, size_t n)
{
	if (j->failed)
		return;
	errno = 0;
	if (fwrite(s, 1, n, j->to) != n)
		j->failed = errno ? errno : EIO;
}

static void put_text(struct ct_json *j, const char *s)
{
	put(j, s, strlen(s));
}

void ct_json_begin(struct ct_json *j, FILE *to)
{
	*j = (struct ct_json){ .to = to };
}

int ct_json_end(struct ct_json *j, const char *name, struct ct_err *err)
{
	CT_CHECK(NULL, j->depth == 0, "%d brackets are still open", j->depth);
	put_text(j, "\n");
	errno = 0;
	if (!j->failed && fflush(j->to) != 0)
		j->failed = errno ? errno : EIO;
	if (j->failed)
		return ct_err_at(err, CT_EIO, NULL, "'%s': cannot be written: %s", name, strerror(j->failed));
	return 0;
}

static void new_line(struct ct_json *j)
{
	put_text(j, "\n");
	for (int i = 0; i < j->depth; i++)
		put_text(j, "  ");
}

/* Length of the valid UTF-8 sequence at s, 0 = none (RFC 3629: shortest form,
 * no surrogates, at most U+10FFFF). s ends with NUL, which is no continuation. */
static size_t utf8_length(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return n;
}

static void put_escaped(struct ct_json *j, unsigned char c)
{
	static const char *const named[] = { ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f",
					     ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\" };
	char hex[8];

	if (c < sizeof named / sizeof *named && named[c]) {
		put_text(j, named[c]);
		return;
	}
	snprintf(hex, sizeof hex, "\\u%04x", c);
	put_text(j, hex);
}

static void put_string(struct ct_json *j, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	put_text(j, "\"");
	while (*s) {
		size_t run = 0, n = 0;

		while (s[run] >= 0x20 && s[run] != '"' && s[run] != '\\' && s[run] != 0x7f &&
		       (n = utf8_length(s + run)) > 0)
			run += n;
		put(j, (const char *)s, run);
		s += run;
		if (!*s)
			break;
		if (*s < 0x80)
			put_escaped(j, *s);
		else
			put_text(j, "\xef\xbf\xbd");
		s++;
	}
	put_text(j, "\"");
}

/* Comma, line break and key before a value. */
static void lead(struct ct_json *j, const char *key)
{
	if (j->depth) {
		int one_line = j->level[j->depth - 1].one_line;

		CT_CHECK(NULL, (key != NULL) == (j->level[j->depth - 1].close == '}'), "key '%s' in the wrong place",
			 key ? key : "none");
		if (j->level[j->depth - 1].any)
			put_text(j, one_line ? ", " : ",");
		if (!one_line)
			new_line(j);
		j->level[j->depth - 1].any = 1;
	}
	if (key) {
		put_string(j, key);
		put_text(j, ": ");
	}
}

void ct_json_open(struct ct_json *j, const char *key, char bracket, int one_line)
{
	int inherited = j->depth && j->level[j->depth - 1].one_line;

	CT_CHECK(NULL, j->depth < CT_JSON_DEPTH && (bracket == '{' || bracket == '['), "JSON of depth %d", j->depth);
	lead(j, key);
	put(j, &bracket, 1);
	j->level[j->depth].close = bracket == '{' ? '}' : ']';
	j->level[j->depth].one_line = one_line || inherited;
	j->level[j->depth].any = 0;
	j->depth++;
}

void ct_json_close(struct ct_json *j)
{
	int broken;

	CT_CHECK(NULL, j->depth > 0, "no bracket is open");
	j->depth--;
	broken = j->level[j->depth].any && !j->level[j->depth].one_line;
	if (broken)
		new_line(j);
	put(j, &j->level[j->depth].close, 1);
}

void ct_json_f64(struct ct_json *j, const char *key, double v)
{
	char text[CT_F64_TEXT];

	lead(j, key);
	if (isfinite(v))
		put(j, text, ct_f64_format(v, text));
	else
		put_text(j, "null");
}

void ct_json_i64(struct ct_json *j, const char *key, int64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRId64, v);
	lead(j, key);
	put_text(j, text);
}

void ct_json_bool(struct ct_json *j, const char *key, int v)
{
	lead(j, key);
	put_text(j, v ? "true" : "false");
}

void ct_json_null(struct ct_json *j, const char *key)
{
	lead(j, key);
	put_text(j, "null");
}

void ct_json_text(struct ct_json *j, const char *key, const char *s)
{
	lead(j, key);
	if (s)
		put_string(j, s);
	else
		put_text(j, "null");
}

static const char *skip_digits(const char *s)
{
	while (*s >= '0' && *s <= '9')
		s++;
	return s;
}

/* number = [ minus ] int [ frac ] [ exp ], RFC 8259 section 6. */
static int is_number(const char *s)
{
	const char *end;

	s += *s == '-';
	end = skip_digits(s);
	if (end == s || (*s == '0' && end != s + 1))
		return 0;
	s = end;
	if (*s == '.') {
		end = skip_digits(s + 1);
		if (end == s + 1)
			return 0;
		s = end;
	}
	if (*s == 'e' || *s == 'E') {
		s += s[1] == '+' || s[1] == '-' ? 2 : 1;
		end = skip_digits(s);
		if (end == s)
			return 0;
		s = end;
	}
	return *s == '\0';
}

static int is_not_finite(const char *s)
{
	s += *s == '-' || *s == '+';
	return strcmp(s, "nan") == 0 || strcmp(s, "inf") == 0;
}

void ct_json_number_text(struct ct_json *j, const char *key, const char *s)
{
	if (is_not_finite(s)) {
		ct_json_null(j, key);
		return;
	}
	lead(j, key);
	if (is_number(s))
		put_text(j, s);
	else
		put_string(j, s);
}
