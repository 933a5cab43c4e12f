/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One buffer holds the record at hand and whatever was read ahead. A record is
 * scanned without being changed, so that one that reaches past the buffer's end
 * can be scanned again after more was read; when it is complete, its fields are
 * cut and unquoted in place.
 *
 * The readers' leniency, on purpose: a quote inside an unquoted field is an
 * ordinary character (5" disk), text after a closing quote is an error, because
 * no reading of it is the obvious one. */
#include "sim/csv.h"
#include "sim/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 1 << 16 };

/* ---- bytes: from a file, memory or a callback, plain or gzip */

struct source {
	const char *name;
	int fd; /* -1: memory, or input */
	struct ct_csv_input input;
	const unsigned char *mem;
	size_t mem_left;
	uint64_t done, total;
	int gzip, in_member, input_ended;
	z_stream z;
	unsigned char *packed; /* input buffer of a gzip file */
	size_t packed_cap;
};

static int io_error(const struct source *s, struct ct_err *err, const char *what)
{
	struct ct_loc at = { .file = s->name };

	ct_err_add(err, CT_EIO, &at, "%s", what);
	return CT_EIO;
}

/* Raw bytes; *got = 0 at the end of the input. */
static int read_raw(struct source *s, unsigned char *to, size_t n, size_t *got, struct ct_err *err)
{
	ssize_t k;

	if (s->input.read) {
		CT_TRY(s->input.read(s->input.ctx, to, n, got, err));
	} else if (s->fd < 0) {
		*got = n < s->mem_left ? n : s->mem_left;
		if (*got)
			memcpy(to, s->mem, *got);
		s->mem += *got;
		s->mem_left -= *got;
	} else {
		do
			k = read(s->fd, to, n);
		while (k < 0 && errno == EINTR);
		if (k < 0) {
			struct ct_loc at = { .file = s->name };

			ct_err_add(err, CT_EIO, &at, "cannot be read: %s", strerror(errno));
			return CT_EIO;
		}
		*got = (size_t)k;
	}
	s->done += *got;
	return 0;
}

/* Makes sure that compressed input is there, or input_ended is set. */
static int feed(struct source *s, struct ct_err *err)
{
	size_t got;

	if (s->z.avail_in || s->input_ended)
		return 0;
	CT_TRY(read_raw(s, s->packed, s->packed_cap, &got, err));
	s->z.next_in = s->packed;
	s->z.avail_in = (uInt)got;
	s->input_ended = !got;
	return 0;
}

/* After a member's end: another member, zero padding (as gzip(1) allows), or the
 * end of the input. in_member tells whether there is more. */
static int next_member(struct source *s, struct ct_err *err)
{
	int padding = 0;

	for (;;) {
		CT_TRY(feed(s, err));
		if (!s->z.avail_in)
			return 0;
		if (*s->z.next_in)
			break;
		padding = 1;
		s->z.next_in++;
		s->z.avail_in--;
	}
	if (padding || *s->z.next_in != 0x1f)
		return io_error(s, err, "garbage after the end of the gzip data");
	if (inflateReset(&s->z) != Z_OK)
		return io_error(s, err, "gzip data cannot be unpacked");
	s->in_member = 1;
	return 0;
}

static int read_gzip(struct source *s, unsigned char *to, size_t n, size_t *got, struct ct_err *err)
{
	s->z.next_out = to;
	s->z.avail_out = (uInt)n;
	while (s->in_member && s->z.avail_out == n) {
		int rc;

		CT_TRY(feed(s, err));
		if (!s->z.avail_in)
			return io_error(s, err, "gzip data is truncated");
		rc = inflate(&s->z, Z_NO_FLUSH);
		if (rc == Z_STREAM_END) {
			s->in_member = 0;
			CT_TRY(next_member(s, err));
		} else if (rc != Z_OK && rc != Z_BUF_ERROR) {
			struct ct_loc at = { .file = s->name };

			ct_err_add(err, CT_EIO, &at, "gzip data is corrupt: %s", s->z.msg ? s->z.msg : "unknown cause");
			return CT_EIO;
		}
	}
	*got = n - s->z.avail_out;
	return 0;
}

static int read_source(struct source *s, unsigned char *to, size_t n, size_t *got, struct ct_err *err)
{
	return s->gzip ? read_gzip(s, to, n, got, err) : read_raw(s, to, n, got, err);
}

/* ---- records */

struct field {
	uint32_t start, n;   /* in the record; the quotes of a quoted field left out */
	uint32_t at;         /* of the field's first byte, an opening quote included */
	uint32_t line_start; /* of the line it begins in */
	uint32_t line;       /* lines after the record's first */
	uint32_t quotes;     /* 0 plain, 1 quoted, 2 quoted with doubled quotes inside */
};

struct ct_csv {
	struct source source;
	char *buffer;
	size_t cap, begin, end; /* buffer[begin, end) is not consumed; buffer[end] = 0 */
	int ended;              /* nothing follows buffer[end) */
	int started;
	int failed; /* code of the error that ended the reading */
	char delimiter;
	unsigned char stop[256]; /* bytes that an unquoted field cannot simply skip */
	size_t line;             /* of buffer[begin] */
	size_t record_line;
	char *record; /* the current one */
	struct field *fields;
	size_t n_fields, cap_fields;
};

static int is_blank(const struct ct_csv *c, char x)
{
	return (x == ' ' || x == '\t') && x != c->delimiter;
}

/* Moves the open record to the front and reads behind it. Growing doubles, so a
 * long record is scanned again O(log n) times. */
static int refill(struct ct_csv *c, struct ct_err *err)
{
	size_t got;

	if (c->begin) {
		memmove(c->buffer, c->buffer + c->begin, c->end - c->begin);
		c->end -= c->begin;
		c->begin = 0;
	}
	if (c->end > c->cap / 2) {
		c->cap *= 2;
		c->buffer = ct_realloc_array(c->buffer, c->cap + 1, 1);
	}
	do {
		CT_TRY(read_source(&c->source, (unsigned char *)c->buffer + c->end, c->cap - c->end, &got, err));
		c->end += got;
		c->ended = !got;
	} while (got && c->end <= c->cap / 2);
	c->buffer[c->end] = '\0';
	return 0;
}

enum scan { SCAN_RECORD, SCAN_MORE, SCAN_NUL, SCAN_TAIL };

struct cursor {
	const char *base, *p, *end, *line_start;
	uint32_t line;
	const char *open_quote; /* of the field being scanned, NULL outside quotes */
	const char *open_quote_line_start;
	uint32_t open_quote_line;
};

/* Over a line end at k->p: LF, CRLF or CR. SCAN_MORE: cannot tell yet. */
static enum scan skip_line_end(const struct ct_csv *c, struct cursor *k)
{
	if (*k->p == '\r') {
		if (k->p + 1 == k->end && !c->ended)
			return SCAN_MORE;
		k->p++;
		if (k->p == k->end || *k->p != '\n')
			goto done;
	}
	k->p++;
done:
	k->line++;
	k->line_start = k->p;
	return SCAN_RECORD;
}

static inline struct field *add_field(struct ct_csv *c)
{
	CT_GROW(c->fields, c->cap_fields, c->n_fields + 1);
	return &c->fields[c->n_fields++];
}

static enum scan scan_quoted(struct ct_csv *c, struct cursor *k, struct field *f)
{
	k->open_quote = k->p++;
	k->open_quote_line = k->line;
	k->open_quote_line_start = k->line_start;
	f->quotes = 1;
	f->start = (uint32_t)(k->p - k->base);
	for (;;) {
		char x = *k->p;

		if (x == '"') {
			if (k->p + 1 == k->end && !c->ended)
				return SCAN_MORE;
			if (k->p[1] != '"')
				break;
			f->quotes = 2;
			k->p += 2;
		} else if (x == '\n' || x == '\r') {
			if (skip_line_end(c, k) == SCAN_MORE)
				return SCAN_MORE;
		} else if (x == '\0') {
			return k->p == k->end ? SCAN_MORE : SCAN_NUL;
		} else {
			k->p++;
		}
	}
	k->open_quote = NULL;
	f->n = (uint32_t)(k->p++ - k->base) - f->start;
	while (is_blank(c, *k->p))
		k->p++;
	return c->stop[(unsigned char)*k->p] ? SCAN_RECORD : SCAN_TAIL;
}

static enum scan scan_field(struct ct_csv *c, struct cursor *k)
{
	struct field *f = add_field(c);
	const char *start = k->p, *last;

	f->line = k->line;
	f->line_start = (uint32_t)(k->line_start - k->base);
	f->quotes = 0;
	while (is_blank(c, *k->p))
		k->p++;
	f->at = (uint32_t)(k->p - k->base);
	if (*k->p == '"')
		return scan_quoted(c, k, f);
	if (c->stop[(unsigned char)*k->p]) { /* empty: its place is where it begins */
		f->at = f->start = (uint32_t)(start - k->base);
		f->n = 0;
		return SCAN_RECORD;
	}
	f->start = f->at;
	do
		k->p++;
	while (!c->stop[(unsigned char)*k->p]);
	last = k->p;
	while (is_blank(c, last[-1]))
		last--;
	f->n = (uint32_t)(last - k->base) - f->start;
	return SCAN_RECORD;
}

/* One record from buffer[begin). On SCAN_RECORD, k->p stands behind it. */
static enum scan scan_record(struct ct_csv *c, struct cursor *k)
{
	*k = (struct cursor){ .base = c->buffer + c->begin, .end = c->buffer + c->end };
	k->p = k->line_start = k->base;
	c->n_fields = 0;
	for (;;) {
		enum scan s = scan_field(c, k);

		if (s != SCAN_RECORD)
			return s;
		if (*k->p == c->delimiter) {
			k->p++;
			continue;
		}
		if (*k->p)
			return skip_line_end(c, k);
		if (k->p < k->end)
			return SCAN_NUL;
		return c->ended ? SCAN_RECORD : SCAN_MORE;
	}
}

/* "a""b" -> a"b; returns the length. */
static uint32_t undouble(char *s, uint32_t n)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		s[k++] = s[i];
		i += s[i] == '"';
	}
	return k;
}

static void cut_fields(struct ct_csv *c)
{
	for (size_t i = 0; i < c->n_fields; i++) {
		struct field *f = &c->fields[i];

		if (f->quotes == 2)
			f->n = undouble(c->record + f->start, f->n);
		c->record[f->start + f->n] = '\0';
	}
}

static int bad(struct ct_csv *c, size_t line, size_t col, struct ct_err *err, const char *what)
{
	struct ct_loc at = { .file = c->source.name, .line = line, .col = col };

	ct_err_add(err, CT_ETRACE, &at, "%s", what);
	return c->failed = CT_ETRACE;
}

static int bad_here(struct ct_csv *c, const struct cursor *k, struct ct_err *err, const char *what)
{
	return bad(c, c->line + k->line, (size_t)(k->p - k->line_start) + 1, err, what);
}

static int bad_quote(struct ct_csv *c, const struct cursor *k, struct ct_err *err, const char *what)
{
	return bad(c, c->line + k->open_quote_line, (size_t)(k->open_quote - k->open_quote_line_start) + 1, err, what);
}

/* A record that is complete or can never be: 1, or an error. */
static int finish_record(struct ct_csv *c, const struct cursor *k, enum scan s, struct ct_err *err)
{
	if (k->p - k->base > CT_CSV_LINE_LIMIT) {
		if (k->open_quote)
			return bad_quote(c, k, err, "a quoted field that begins here does not end within 1 MiB");
		return bad(c, c->line, 0, err, "a record is longer than 1 MiB");
	}
	if (s == SCAN_NUL)
		return bad_here(c, k, err, "a NUL byte; is this a text file in UTF-8?");
	if (s == SCAN_TAIL)
		return bad_here(c, k, err, "text after a closing quote");
	if (s == SCAN_MORE)
		return bad_quote(c, k, err, "a quote that is never closed");
	c->record = c->buffer + c->begin;
	c->record_line = c->line;
	c->line += k->line;
	c->begin += (size_t)(k->p - k->base);
	return 1;
}

static int skip_bom(struct ct_csv *c, struct ct_err *err)
{
	c->started = 1;
	c->failed = refill(c, err);
	if (c->end >= 3 && !memcmp(c->buffer, "\xef\xbb\xbf", 3))
		c->begin = 3;
	return c->failed;
}

int ct_csv_next(struct ct_csv *c, struct ct_err *err)
{
	struct cursor k;
	enum scan s;
	int rc;

	if (c->failed)
		return c->failed;
	if (!c->started)
		CT_TRY(skip_bom(c, err));
	do {
		while ((s = scan_record(c, &k)) == SCAN_MORE && !c->ended && k.p - k.base <= CT_CSV_LINE_LIMIT)
			CT_TRY(c->failed = refill(c, err));
		if (c->begin == c->end) { /* the end; an empty last line is none */
			c->n_fields = 0;
			return 0;
		}
		rc = finish_record(c, &k, s, err);
	} while (rc == 1 && c->n_fields == 1 && !c->fields[0].n && !c->fields[0].quotes);
	if (rc == 1)
		cut_fields(c);
	else
		c->n_fields = 0;
	return rc;
}

size_t ct_csv_fields(const struct ct_csv *c)
{
	return c->n_fields;
}

struct ct_csv_field ct_csv_field(const struct ct_csv *c, size_t i)
{
	const struct field *f;

	CT_CHECK(NULL, i < c->n_fields, "field %zu of %zu", i, c->n_fields);
	f = &c->fields[i];
	return (struct ct_csv_field){ .s = c->record + f->start, .n = f->n, .col = f->at - f->line_start + 1 };
}

struct ct_loc ct_csv_loc(const struct ct_csv *c, size_t i)
{
	struct ct_loc at = { .file = c->source.name, .line = c->record_line };

	if (i < c->n_fields) {
		at.line += c->fields[i].line;
		at.col = c->fields[i].at - c->fields[i].line_start + 1;
	}
	return at;
}

void ct_csv_progress(const struct ct_csv *c, uint64_t *done, uint64_t *total)
{
	*done = c->source.done;
	*total = c->source.total;
}

/* ---- opening */

/* Looks at the first bytes: the plain ones go into the buffer, compressed ones to
 * zlib. */
static int start(struct ct_csv *c, struct ct_err *err)
{
	struct source *s = &c->source;
	size_t n = 0, got, half = s->total && s->total < CHUNK ? (size_t)s->total + 1 : CHUNK;

	c->cap = 2 * half; /* a small file gets a small buffer */
	c->buffer = ct_realloc_array(NULL, c->cap + 1, 1);
	do { /* a pipe may give one byte at a time */
		CT_TRY(read_raw(s, (unsigned char *)c->buffer + n, half - n, &got, err));
		n += got;
	} while (got && n < 2 && n < half);
	if (n < 2 || memcmp(c->buffer, "\x1f\x8b", 2)) {
		c->end = n;
		return 0;
	}
	s->packed = ct_realloc_array(NULL, half, 1);
	s->packed_cap = half;
	memcpy(s->packed, c->buffer, n);
	s->z.next_in = s->packed;
	s->z.avail_in = (uInt)n;
	s->gzip = s->in_member = 1;
	/* 15 = largest window, + 16 = gzip only */
	CT_CHECK(NULL, inflateInit2(&s->z, 15 + 16) == Z_OK, "zlib cannot be set up");
	return 0;
}

static struct ct_csv *new_csv(const char *name, char delimiter)
{
	struct ct_csv *c = ct_calloc(1, sizeof *c);
	size_t n = strlen(name) + 1;

	c->source.name = memcpy(ct_realloc_array(NULL, n, 1), name, n);
	c->source.fd = -1;
	c->delimiter = delimiter;
	c->line = c->record_line = 1;
	c->stop[0] = c->stop['\n'] = c->stop['\r'] = c->stop[(unsigned char)delimiter] = 1;
	return c;
}

static int open_done(struct ct_csv *c, struct ct_csv **out, struct ct_err *err)
{
	int rc = start(c, err);

	if (rc)
		ct_csv_close(c);
	else
		*out = c;
	return rc;
}

int ct_csv_open(const char *path, char delimiter, struct ct_csv **out, struct ct_err *err)
{
	struct ct_csv *c = new_csv(path, delimiter);
	struct stat st;

	c->source.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (c->source.fd < 0) {
		ct_err_add(err, CT_EIO, NULL, "cannot open '%s': %s", path, strerror(errno));
		ct_csv_close(c);
		return CT_EIO;
	}
	if (!fstat(c->source.fd, &st) && S_ISREG(st.st_mode))
		c->source.total = (uint64_t)st.st_size;
	return open_done(c, out, err);
}

int ct_csv_open_memory(const char *name, const void *bytes, size_t n, char delimiter, struct ct_csv **out,
		       struct ct_err *err)
{
	struct ct_csv *c = new_csv(name, delimiter);

	c->source.mem = bytes;
	c->source.mem_left = n;
	c->source.total = n;
	return open_done(c, out, err);
}

int ct_csv_open_input(const char *name, const struct ct_csv_input *input, char delimiter, struct ct_csv **out,
		      struct ct_err *err)
{
	struct ct_csv *c = new_csv(name, delimiter);

	c->source.input = *input;
	c->source.total = input->total;
	return open_done(c, out, err);
}

void ct_csv_close(struct ct_csv *c)
{
	if (!c)
		return;
	if (c->source.gzip)
		inflateEnd(&c->source.z);
	if (c->source.fd >= 0)
		close(c->source.fd);
	if (c->source.input.close)
		c->source.input.close(c->source.input.ctx);
	free(c->source.packed);
	free((char *)c->source.name);
	free(c->buffer);
	free(c->fields);
	free(c);
}

/* ---- numbers */

static int is_digit(char x)
{
	return x >= '0' && x <= '9';
}

int ct_parse_i64(const char *s, size_t n, int64_t *out)
{
	const char *end = s + n;
	int negative = 0, over = 0;
	uint64_t v = 0;

	if (s < end && (*s == '+' || *s == '-'))
		negative = *s++ == '-';
	if (s == end)
		return -1;
	for (; s < end; s++) {
		if (!is_digit(*s))
			return -1;
		over |= v > (uint64_t)INT64_MAX / 10; /* the product could pass 2^63 + 7 */
		v = over ? 0 : 10 * v + (unsigned)(*s - '0');
	}
	if (over || v > (uint64_t)INT64_MAX + (unsigned)negative)
		return -2;
	*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

/* A checked decimal: mantissa x 10^exponent when `exact`. */
struct decimal {
	uint64_t mantissa;
	int exponent, negative, exact;
};

/* [eE][+-]digits at [s, end); saturates. */
static int scan_exponent(const char *s, const char *end, int *out)
{
	int negative = 0, e = 0;

	s++;
	if (s < end && (*s == '+' || *s == '-'))
		negative = *s++ == '-';
	if (s == end)
		return -1;
	for (; s < end; s++) {
		if (!is_digit(*s))
			return -1;
		if (e < 100000)
			e = 10 * e + (*s - '0');
	}
	*out = negative ? -e : e;
	return 0;
}

static int scan_decimal(const char *s, const char *end, struct decimal *d)
{
	int digits = 0, significant = 0, fraction = 0, dot = 0, e = 0;

	*d = (struct decimal){ 0 };
	if (s < end && (*s == '+' || *s == '-'))
		d->negative = *s++ == '-';
	for (; s < end && *s != 'e' && *s != 'E'; s++) {
		if (*s == '.' && !dot) {
			dot = 1;
			continue;
		}
		if (!is_digit(*s))
			return -1;
		digits = 1;
		fraction += dot;
		if (significant || *s != '0')
			significant++;
		if (significant <= 19)
			d->mantissa = 10 * d->mantissa + (unsigned)(*s - '0');
	}
	if (!digits || (s < end && scan_exponent(s, end, &e)))
		return -1;
	d->exact = significant <= 19;
	d->exponent = e - fraction;
	return 0;
}

/* Clinger 1990: when mantissa and power of ten are exact doubles, one division or
 * product is the correctly rounded value. Powers of ten are exact up to 10^22. */
static int fast_f64(const struct decimal *d, double *out)
{
	static const double ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
				      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	double v = (double)d->mantissa;

	if (!d->exact || d->mantissa > UINT64_C(1) << 53 || d->exponent < -22 || d->exponent > 22)
		return 0;
	v = d->exponent < 0 ? v / ten[-d->exponent] : v * ten[d->exponent];
	*out = d->negative ? -v : v;
	return 1;
}

/* The C library rounds correctly, too, and takes any number of digits. */
static double slow_f64(const char *s, size_t n)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *text = ct_realloc_array(NULL, n + 1, 1);
	double v;

	CT_CHECK(NULL, c, "the C locale cannot be had");
	memcpy(text, s, n);
	text[n] = '\0';
	v = strtod_l(text, NULL, c);
	free(text);
	freelocale(c);
	return v;
}

int ct_parse_f64(const char *s, size_t n, double *out)
{
	struct decimal d;
	double v;

	if (scan_decimal(s, s + n, &d))
		return -1;
	if (!fast_f64(&d, &v))
		v = slow_f64(s, n);
	if (v - v != 0)
		return -2;
	*out = v;
	return 0;
}
