/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/output.h"
#include "sim/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

static int cannot_write(struct ct_err *err, const char *path, int cause)
{
	return ct_err_at(err, CT_EIO, NULL, "cannot write '%s': %s", path, strerror(cause));
}

static char *copy_text(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(ct_realloc_array(NULL, n, 1), s, n);
}

char *ct_output_temporary(const char *path)
{
	size_t n = strlen(path) + sizeof ".tmp-" + 20;
	char *tmp = ct_realloc_array(NULL, n, 1);

	snprintf(tmp, n, "%s.tmp-%ld", path, (long)getpid());
	return tmp;
}

/* A device or pipe (/dev/stdout) is written as it is: nothing may take its place. */
static int is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int ct_output_open(struct ct_output *o, const char *path, struct ct_err *err)
{
	struct stat st;
	int cause;

	*o = (struct ct_output){ .fd = -1 };
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return cannot_write(err, path, EISDIR);
	if (is_special(path)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
	} else {
		o->tmp = ct_output_temporary(path);
		o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	}
	if (o->fd < 0) {
		cause = errno;
		free(o->tmp);
		o->tmp = NULL;
		return cannot_write(err, path, cause);
	}
	o->path = copy_text(path);
	o->buffer = ct_realloc_array(NULL, BUFFER, 1);
	return 0;
}

static void write_out(struct ct_output *o, const char *s, size_t n)
{
	while (n && !o->failed) {
		ssize_t k = write(o->fd, s, n);

		if (k > 0) {
			s += k;
			n -= (size_t)k;
		} else if (k < 0 && errno != EINTR) {
			o->failed = errno;
		}
	}
}

static void flush(struct ct_output *o)
{
	write_out(o, o->buffer, o->used);
	o->used = 0;
}

void ct_output_write(struct ct_output *o, const char *s, size_t n)
{
	if (o->fd < 0 || !n)
		return;
	if (n > BUFFER - o->used) {
		flush(o);
		if (n >= BUFFER) {
			write_out(o, s, n);
			return;
		}
	}
	memcpy(o->buffer + o->used, s, n);
	o->used += n;
}

void ct_output_text(struct ct_output *o, const char *s)
{
	ct_output_write(o, s, strlen(s));
}

/* Digits of v, the last one before `end`; returns the first. */
static char *put_digits(char *end, uint64_t v)
{
	do {
		*--end = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return end;
}

static size_t format_i64(int64_t v, char *out)
{
	char text[24], *end = text + sizeof text;
	char *p = put_digits(end, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
	size_t n;

	if (v < 0)
		*--p = '-';
	n = (size_t)(end - p);
	memcpy(out, p, n);
	out[n] = '\0';
	return n;
}

void ct_output_i64(struct ct_output *o, int64_t v)
{
	char text[24];

	ct_output_write(o, text, format_i64(v, text));
}

void ct_output_time(struct ct_output *o, ct_time t)
{
	char text[CT_TIME_TEXT];

	ct_output_write(o, text, ct_time_format(t, text));
}

void ct_output_f64(struct ct_output *o, double v)
{
	char text[CT_F64_TEXT];

	ct_output_write(o, text, ct_f64_format(v, text));
}

void ct_output_field(struct ct_output *o, const char *s)
{
	size_t n = strcspn(s, ",\"\r\n");
	int blank_edge = *s == ' ' || *s == '\t';

	if (!s[n])
		blank_edge |= n && (s[n - 1] == ' ' || s[n - 1] == '\t');
	if (!s[n] && !blank_edge) {
		ct_output_write(o, s, n);
		return;
	}
	ct_output_write(o, "\"", 1);
	for (const char *q; (q = strchr(s, '"')); s = q + 1) {
		ct_output_write(o, s, (size_t)(q - s) + 1);
		ct_output_write(o, "\"", 1);
	}
	ct_output_text(o, s);
	ct_output_write(o, "\"", 1);
}

static void release(struct ct_output *o)
{
	free(o->path);
	free(o->tmp);
	free(o->buffer);
	*o = (struct ct_output){ .fd = -1 };
}

/* A device may refuse fsync (EINVAL); it has nothing to sync. */
static void sync_and_close(struct ct_output *o)
{
	if (o->tmp && !o->failed && fsync(o->fd))
		o->failed = errno;
	if (close(o->fd) && !o->failed)
		o->failed = errno;
	o->fd = -1;
}

int ct_output_close(struct ct_output *o, struct ct_err *err)
{
	int rc = 0;

	if (o->fd < 0)
		return 0;
	flush(o);
	sync_and_close(o);
	if (!o->failed && o->tmp && rename(o->tmp, o->path))
		o->failed = errno;
	if (o->failed) {
		if (o->tmp)
			unlink(o->tmp);
		rc = cannot_write(err, o->path, o->failed);
	}
	release(o);
	return rc;
}

void ct_output_abandon(struct ct_output *o)
{
	if (o->fd < 0)
		return;
	close(o->fd);
	if (o->tmp)
		unlink(o->tmp);
	release(o);
}

static int sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), cause = 0;

	if (fd < 0)
		return errno;
	if (fsync(fd))
		cause = errno;
	close(fd);
	return cause;
}

int ct_output_commit(const char *tmp, const char *path, struct ct_err *err)
{
	int cause = sync_file(tmp);

	if (!cause && rename(tmp, path))
		cause = errno;
	if (!cause)
		return 0;
	unlink(tmp);
	return cannot_write(err, path, cause);
}

/* ---- doubles */

/* At most six decimals and fifteen digits, such as most results: m / 10^6 is one
 * correctly rounded division of exact numbers, so when it gives v back, m without
 * its trailing zeros is a decimal that reads as v; and no two decimals of up to
 * fifteen digits read as the same double, so it is the shortest. */
static size_t format_short(double v, char *out)
{
	double a = fabs(v), m = rint(a * 1e6);
	char text[CT_TIME_TEXT];
	size_t n;

	if (!(m < 1e15) || m / 1e6 != a)
		return 0;
	n = ct_time_format((ct_time)m, text);
	*out = '-';
	memcpy(out + !!signbit(v), text, n + 1);
	return n + !!signbit(v);
}

/* Of the powers of two, 46 get 17 digits although a 16-digit neighbour would read
 * back, too: the interval that rounds to them is not symmetric. */
static size_t format_long(double v, char *out)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), old;
	/* Every decimal of 15 digits survives a double, unless that is subnormal. */
	int n = 0, least = fabs(v) < DBL_MIN ? 1 : 15;

	CT_CHECK(NULL, c, "the C locale cannot be had");
	old = uselocale(c);
	for (int digits = least; digits <= 17; digits++) {
		n = snprintf(out, CT_F64_TEXT, "%.*g", digits, v);
		if (strtod(out, NULL) == v)
			break;
	}
	uselocale(old);
	freelocale(c);
	return (size_t)n;
}

size_t ct_f64_format(double v, char out[CT_F64_TEXT])
{
	size_t n;

	if (isnan(v) || isinf(v)) {
		strcpy(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return strlen(out);
	}
	if (v == rint(v) && fabs(v) < 0x1p53 && (v != 0 || !signbit(v)))
		return format_i64((int64_t)v, out);
	n = format_short(v, out);
	return n ? n : format_long(v, out);
}
