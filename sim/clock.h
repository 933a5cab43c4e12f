/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - simulated time: int64 microseconds since the trace's time zero.
 *
 * Integers make ties exact and sums independent of the order of addition, so a
 * schedule does not depend on compiler or optimisation level. Text is converted
 * once, at the edges, exactly: "100.5" is 100500000 us. */
#ifndef CT_SIM_CLOCK_H
#define CT_SIM_CLOCK_H

#include <stddef.h>
#include <stdint.h>

typedef int64_t ct_time; /* microseconds */

#define CT_SECOND ((ct_time)1000000)
#define CT_NEVER  INT64_MAX /* later than any event */

/* The latest time the readers accept: about 9,000 years of seconds, and small
 * enough that submission + waiting + run time of any run stays far from
 * overflow (the sum of all durations is checked against it, too). Doubles hold
 * every integer up to 2^53 us = 285 years exactly; the reader limits a single
 * duration to that. */
#define CT_TIME_LIMIT     (INT64_MAX / 32)
#define CT_DURATION_LIMIT ((ct_time)1 << 53)

/* Exact sums of GPU x time. */
__extension__ typedef __int128 ct_wide;

/* Decimal seconds -> microseconds, rounded half away from zero beyond the sixth
 * decimal; signs and exponents ("1.5e3") are accepted, spaces, "nan", "inf" and
 * hexadecimal are not. Locale has no effect.
 * Returns 0, or -1 = not a number, -2 = outside +-CT_TIME_LIMIT. */
int ct_time_parse(const char *s, size_t n, ct_time *out);

enum { CT_TIME_TEXT = 32 };
/* Shortest decimal seconds: "0", "100.5", "-3.000001". Returns the length. */
size_t ct_time_format(ct_time t, char out[CT_TIME_TEXT]);

static inline double ct_seconds(ct_time t)
{
	return (double)t / 1e6;
}

#endif
