/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.h - rows and fields of a delimited text, plain or gzip, with their places.
 *
 * Own tokenizer: libcsv reports neither line nor column of a field (fields arrive
 * unquoted in a callback, so the byte position is lost), and measured 2.3 times
 * slower (specs/engine.md 2.1). RFC 4180 quotes (also across lines), LF, CRLF and
 * lone CR, an UTF-8 byte order mark, a last line without newline. Memory is bounded
 * by the longest line (limit CT_CSV_LINE_LIMIT).
 *
 *	struct ct_csv *c;
 *	CT_TRY(ct_csv_open("jobs.csv.gz", ',', &c, &err));
 *	while ((rc = ct_csv_next(c, &err)) == 1)
 *		for (size_t i = 0; i < ct_csv_fields(c); i++)
 *			use(ct_csv_field(c, i));
 *	ct_csv_close(c); */
#ifndef CT_SIM_CSV_H
#define CT_SIM_CSV_H

#include "sim/err.h"

#include <stddef.h>
#include <stdint.h>

enum { CT_CSV_LINE_LIMIT = 1 << 20 }; /* bytes of one record */

struct ct_csv_field {
	const char *s; /* unquoted, NUL-terminated, trimmed of blanks outside quotes */
	size_t n;
	size_t col; /* 1-based byte of the field's first character in its line */
};

struct ct_csv;

/* CT_EIO: cannot be opened or is not readable. gzip is recognised by content. */
int ct_csv_open(const char *path, char delimiter, struct ct_csv **out, struct ct_err *err);
/* From memory (tests, fuzzing); `name` stands in messages. The bytes must outlive it. */
int ct_csv_open_memory(const char *name, const void *bytes, size_t n, char delimiter, struct ct_csv **out,
		       struct ct_err *err);
/* From a stream of bytes that someone else unpacks (a member of an archive); gzip
 * inside is recognised all the same. `close` is called once, by ct_csv_close() or
 * when opening fails; it may be NULL. */
struct ct_csv_input {
	/* Up to n bytes; *got = 0 at the end. An error code, and its text, otherwise. */
	int (*read)(void *ctx, void *to, size_t n, size_t *got, struct ct_err *err);
	void (*close)(void *ctx);
	void *ctx;
	uint64_t total; /* bytes in all, 0 = unknown */
};
int ct_csv_open_input(const char *name, const struct ct_csv_input *input, char delimiter, struct ct_csv **out,
		      struct ct_err *err);
void ct_csv_close(struct ct_csv *c);

/* 1: a record is there; 0: end of input; otherwise an error code: CT_EIO (read,
 * truncated gzip), CT_ETRACE (NUL byte, record over the limit, quote never closed, text after a closing quote).
 * Blank lines are skipped. */
int ct_csv_next(struct ct_csv *c, struct ct_err *err);
size_t ct_csv_fields(const struct ct_csv *c);
struct ct_csv_field ct_csv_field(const struct ct_csv *c, size_t i);
/* Place of field i (or of the record, i = SIZE_MAX) for messages. */
struct ct_loc ct_csv_loc(const struct ct_csv *c, size_t i);
/* Input bytes consumed (compressed), and in all (0 = unknown). */
void ct_csv_progress(const struct ct_csv *c, uint64_t *done, uint64_t *total);

/* Numbers, exact and free of the locale. 0, -1 = not a number, -2 = out of range. */
int ct_parse_i64(const char *s, size_t n, int64_t *out);
int ct_parse_f64(const char *s, size_t n, double *out); /* finite only; no hex, no inf, no nan */

#endif
