/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal text to microseconds by shifting the decimal point, never through a
 * double: the digits before position 10^-6 are the result, the next digit decides
 * the rounding. That is exact for any number of digits and any exponent. */
#include "sim/clock.h"

#include <string.h>

/* A decimal number, taken apart: digits[0..n) without the point, the point
 * standing `point` digits from their start (exponent included). */
struct decimal {
	const char *first, *last; /* mantissa text, [first, last), may hold one '.' */
	int64_t point;
	int negative;
};

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "e+12" at [s, end): 0 and the value, saturated far beyond any use, or -1. */
static int scan_exponent(const char *s, const char *end, int64_t *out)
{
	int negative = 0;
	int64_t e = 0;

	s++;
	if (s < end && (*s == '+' || *s == '-'))
		negative = *s++ == '-';
	if (s == end)
		return -1;
	for (; s < end; s++) {
		if (!is_digit(*s))
			return -1;
		if (e < INT64_MAX / 100)
			e = 10 * e + (*s - '0');
	}
	*out = negative ? -e : e;
	return 0;
}

static int scan(const char *s, size_t n, struct decimal *d)
{
	const char *end = s + n;
	int64_t integer = 0, digits = 0, exponent = 0;
	int dot = 0;

	d->negative = 0;
	if (s < end && (*s == '+' || *s == '-'))
		d->negative = *s++ == '-';
	d->first = s;
	for (; s < end && *s != 'e' && *s != 'E'; s++) {
		if (is_digit(*s)) {
			digits++;
			integer += !dot;
		} else if (*s == '.' && !dot) {
			dot = 1;
		} else {
			return -1;
		}
	}
	d->last = s;
	if (!digits || (s < end && scan_exponent(s, end, &exponent)))
		return -1;
	d->point = integer + exponent;
	return 0;
}

int ct_time_parse(const char *s, size_t n, ct_time *out)
{
	struct decimal d;
	uint64_t v = 0;
	int64_t left;      /* digits still to take */
	unsigned next = 0; /* the digit that decides the rounding */

	if (scan(s, n, &d))
		return -1;
	left = d.point + 6;
	for (const char *p = d.first; p < d.last; p++) {
		if (*p == '.')
			continue;
		if (left <= 0) {
			next = left == 0 ? (unsigned)(*p - '0') : 0;
			break;
		}
		v = 10 * v + (unsigned)(*p - '0');
		left--;
		if (v > (uint64_t)CT_TIME_LIMIT)
			return -2;
	}
	for (; left > 0 && v; left--) {
		v *= 10;
		if (v > (uint64_t)CT_TIME_LIMIT)
			return -2;
	}
	v += next >= 5;
	if (v > (uint64_t)CT_TIME_LIMIT)
		return -2;
	*out = d.negative ? -(ct_time)v : (ct_time)v;
	return 0;
}

size_t ct_time_format(ct_time t, char out[CT_TIME_TEXT])
{
	uint64_t u = t < 0 ? 0 - (uint64_t)t : (uint64_t)t;
	uint64_t whole = u / 1000000;
	unsigned frac = (unsigned)(u % 1000000);
	char text[CT_TIME_TEXT], *p = text + sizeof text;
	size_t n;

	if (frac) {
		int digits = 6;

		for (; frac % 10 == 0; frac /= 10)
			digits--;
		for (; digits; digits--, frac /= 10)
			*--p = (char)('0' + frac % 10);
		*--p = '.';
	}
	do {
		*--p = (char)('0' + whole % 10);
		whole /= 10;
	} while (whole);
	if (t < 0)
		*--p = '-';
	n = (size_t)(text + sizeof text - p);
	memcpy(out, p, n);
	out[n] = '\0';
	return n;
}
