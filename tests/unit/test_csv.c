/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* All records as text: "[field]line:col" for each field, '\n' after a record, the
 * error at the end. */
static char *render(struct ct_csv *c)
{
	struct ct_err err = { 0 };
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int rc;

	while ((rc = ct_csv_next(c, &err)) == 1) {
		for (size_t i = 0; i < ct_csv_fields(c); i++) {
			struct ct_csv_field d = ct_csv_field(c, i);
			struct ct_loc at = ct_csv_loc(c, i);

			assert_int_equal(d.s[d.n], '\0');
			assert_int_equal(d.col, at.col);
			fprintf(f, "[%s]%zu:%zu", d.s, at.line, at.col);
		}
		fputc('\n', f);
	}
	if (rc)
		fprintf(f, "%d %s", rc, err.text);
	assert_int_equal(ct_csv_fields(c), 0);
	assert_int_equal(ct_csv_next(c, &err), rc); /* the end stays the end */
	fclose(f);
	return text;
}

static char *render_memory(const void *bytes, size_t n, char delimiter)
{
	struct ct_csv *c;
	struct ct_err err = { 0 };
	char *text;

	assert_int_equal(ct_csv_open_memory("t.csv", bytes, n, delimiter, &c, &err), 0);
	text = render(c);
	ct_csv_close(c);
	return text;
}

struct sample {
	const char *input;
	size_t n; /* 0: strlen(input) */
	const char *records;
};
#define BYTES(s) (s), sizeof(s) - 1

static void check(const struct sample *row, size_t n, char delimiter)
{
	for (size_t i = 0; i < n; i++) {
		char *got = render_memory(row[i].input, row[i].n ? row[i].n : strlen(row[i].input), delimiter);

		if (strcmp(got, row[i].records))
			fail_msg("row %zu '%s' gives\n%s\ninstead of\n%s", i, row[i].input, got, row[i].records);
		free(got);
	}
}

/* Expected values by hand from RFC 4180 and the header's rules. */
static void awkward_inputs(void **state)
{
	static const struct sample row[] = {
		{ "", 0, "" },
		{ "\n", 0, "" },
		{ "a", 0, "[a]1:1\n" },
		{ "a\n", 0, "[a]1:1\n" },
		{ "a\nb", 0, "[a]1:1\n[b]2:1\n" },
		{ "a,b\n1,2\n", 0, "[a]1:1[b]1:3\n[1]2:1[2]2:3\n" },
		/* line ends */
		{ "a\r\nb\r\n", 0, "[a]1:1\n[b]2:1\n" },
		{ "a\rb\r", 0, "[a]1:1\n[b]2:1\n" },
		{ "a\r\rb", 0, "[a]1:1\n[b]3:1\n" },
		{ "a\n\rb", 0, "[a]1:1\n[b]3:1\n" },
		{ "a,\r\n,b\r\n", 0, "[a]1:1[]1:3\n[]2:1[b]2:2\n" },
		{ "\r", 0, "" },
		{ "\r\n\r\n", 0, "" },
		/* blank lines */
		{ "a\n\n\nb\n\n", 0, "[a]1:1\n[b]4:1\n" },
		{ "  \n\t\na\n", 0, "[a]3:1\n" },
		{ "\"\"\na\n", 0, "[]1:1\n[a]2:1\n" },
		{ ",\n", 0, "[]1:1[]1:2\n" },
		/* empty fields */
		{ ",a,,", 0, "[]1:1[a]1:2[]1:4[]1:5\n" },
		{ "a,\n", 0, "[a]1:1[]1:3\n" },
		{ "a,", 0, "[a]1:1[]1:3\n" },
		/* blanks around */
		{ " a , b\t, c d ", 0, "[a]1:2[b]1:6[c d]1:10\n" },
		{ "a,   ,b", 0, "[a]1:1[]1:3[b]1:7\n" },
		{ "a,  ", 0, "[a]1:1[]1:3\n" },
		/* quotes */
		{ "\"a\",\"b\"\n", 0, "[a]1:1[b]1:5\n" },
		{ "\"a,b\",c", 0, "[a,b]1:1[c]1:7\n" },
		{ "\"a\"\"b\",c", 0, "[a\"b]1:1[c]1:8\n" },
		{ "\"\"\"\",c", 0, "[\"]1:1[c]1:6\n" },
		{ "\"\"\"a\"\"\"", 0, "[\"a\"]1:1\n" },
		{ " \" a \" ,b", 0, "[ a ]1:2[b]1:9\n" },
		{ "\"\",\"\"", 0, "[]1:1[]1:4\n" },
		{ "5\" disk,b", 0, "[5\" disk]1:1[b]1:9\n" },
		{ "a\"\"b", 0, "[a\"\"b]1:1\n" },
		/* quotes over lines */
		{ "\"a\nb\",c\nd,e\n", 0, "[a\nb]1:1[c]2:4\n[d]3:1[e]3:3\n" },
		{ "x,\"a\r\n\r\nb\",\"c\rd\",e\nf", 0, "[x]1:1[a\r\n\r\nb]1:3[c\rd]3:4[e]4:4\n[f]5:1\n" },
		/* byte order mark: not part of the first line's columns */
		{ "\xef\xbb\xbf"
		  "a,b\n1",
		  0, "[a]1:1[b]1:3\n[1]2:1\n" },
		{ "\xef\xbb\xbf", 0, "" },
		{ "\xef\xbb\xbf\"a\"", 0, "[a]1:1\n" },
		{ "a\n\xef\xbb\xbf"
		  "b",
		  0,
		  "[a]1:1\n[\xef\xbb\xbf"
		  "b]2:1\n" },
		{ "\xef\xbb", 0, "[\xef\xbb]1:1\n" },
		/* columns are bytes */
		{ "\xc3\xa4,b", 0, "[\xc3\xa4]1:1[b]1:4\n" },
		/* another delimiter is text */
		{ "a;b\tc", 0, "[a;b\tc]1:1\n" },
	};

	(void)state;
	check(row, sizeof row / sizeof *row, ',');
}

static void other_delimiters(void **state)
{
	static const struct sample tab[] = {
		{ "a\t\tb\n", 0, "[a]1:1[]1:3[b]1:4\n" },
		{ " a \t b", 0, "[a]1:2[b]1:6\n" },
		{ "a,b\tc", 0, "[a,b]1:1[c]1:5\n" },
		{ "\t\n", 0, "[]1:1[]1:2\n" },
	};
	static const struct sample semicolon[] = {
		{ "1,5;\"2;3\"", 0, "[1,5]1:1[2;3]1:5\n" },
	};
	static const struct sample blank[] = {
		{ "a b\n", 0, "[a]1:1[b]1:3\n" },
		{ "a  b", 0, "[a]1:1[]1:3[b]1:4\n" },
	};

	(void)state;
	check(tab, 4, '\t');
	check(semicolon, 1, ';');
	check(blank, 2, ' ');
}

static void refused_inputs(void **state)
{
#define NUL_SAYS "a NUL byte; is this a text file in UTF-8?"
#define TAIL     "text after a closing quote"
#define OPEN     "a quote that is never closed"
	static const struct sample row[] = {
		{ BYTES("a\n1,\0\n"), "[a]1:1\n4 t.csv:2:3: " NUL_SAYS },
		{ BYTES("\0"), "4 t.csv:1:1: " NUL_SAYS },
		{ BYTES("a\0b"), "4 t.csv:1:2: " NUL_SAYS },
		{ BYTES("a,b\n\"x\ny\0\"\n"), "[a]1:1[b]1:3\n4 t.csv:3:2: " NUL_SAYS },
		{ BYTES("\"a\"\0"), "4 t.csv:1:4: " NUL_SAYS },
		{ BYTES("\xff\xfe"
			"a\0,\0"),
		  "4 t.csv:1:4: " NUL_SAYS },
		{ BYTES("a,\"b\"c\n"), "4 t.csv:1:6: " TAIL },
		{ BYTES("a\n\"b\" \"c\"\n"), "[a]1:1\n4 t.csv:2:5: " TAIL },
		{ BYTES("a,\"b\nc"), "4 t.csv:1:3: " OPEN },
		{ BYTES("a\nb,\n \"c\"\"\n"), "[a]1:1\n[b]2:1[]2:3\n4 t.csv:3:2: " OPEN },
		{ BYTES("\"x\ny\",\"z"), "4 t.csv:2:4: " OPEN },
		{ BYTES("\""), "4 t.csv:1:1: " OPEN },
	};

	(void)state;
	check(row, sizeof row / sizeof *row, ',');
}

/* ---- long inputs: what reaches past the buffer reads like what does not */

static char *repeat(const char *s, size_t times, size_t *n)
{
	size_t k = strlen(s);
	char *text = malloc(k * times + 1);

	for (size_t i = 0; i < times; i++)
		memcpy(text + i * k, s, k);
	text[k * times] = '\0';
	*n = k * times;
	return text;
}

/* Blanks before it push the record to every offset around the buffer's end. */
static void records_across_the_buffer_end(void **state)
{
	static const char record[] = "ab , \"c\"\"d\r\ne\" ,\r\nf\n";
	enum { K = sizeof record - 1, BUFFER = 1 << 17, HALF = 1 << 16 };

	(void)state;
	for (size_t edge = HALF; edge <= BUFFER; edge += HALF)
		for (size_t shift = edge - K - 2; shift < edge + 3; shift++) {
			char *text = malloc(shift + 3 * HALF), want[200], *got;
			size_t n = shift + 2 * HALF;

			memset(text, ' ', n);
			text[0] = 'x';
			text[shift - 1] = '\n';
			memcpy(text + shift, record, K);
			got = render_memory(text, n, ',');
			snprintf(want, sizeof want, "[x]1:1\n[ab]2:1[c\"d\r\ne]2:6[]3:5\n[f]4:1\n");
			assert_string_equal(got, want);
			free(got);
			free(text);
		}
}

static void many_records(void **state)
{
	size_t n;
	char *text = repeat("12345,\"a\"\"b\",x y\r\n", 50000, &n);
	struct ct_csv *c;
	struct ct_err err = { 0 };
	size_t rows = 0;
	uint64_t done, total;

	(void)state;
	assert_int_equal(ct_csv_open_memory("t.csv", text, n, ',', &c, &err), 0);
	while (ct_csv_next(c, &err) == 1) {
		rows++;
		assert_int_equal(ct_csv_loc(c, SIZE_MAX).line, rows);
		assert_int_equal(ct_csv_loc(c, SIZE_MAX).col, 0);
		assert_int_equal(ct_csv_fields(c), 3);
		assert_string_equal(ct_csv_field(c, 0).s, "12345");
		assert_string_equal(ct_csv_field(c, 1).s, "a\"b");
		assert_string_equal(ct_csv_field(c, 2).s, "x y");
		assert_int_equal(ct_csv_field(c, 2).col, 14);
	}
	assert_int_equal(rows, 50000);
	ct_csv_progress(c, &done, &total);
	assert_true(done == n && total == n);
	ct_csv_close(c);
	free(text);
}

/* A record of exactly the limit, its line end included, and one byte more. */
static void longest_record(void **state)
{
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		size_t n = CT_CSV_LINE_LIMIT + more + 2;
		char *text = malloc(n);
		struct ct_csv *c;
		struct ct_err err = { 0 };

		memset(text, 'x', n);
		text[0] = 'a';
		text[1] = text[n - 1] = '\n';
		assert_int_equal(ct_csv_open_memory("t.csv", text, n, ',', &c, &err), 0);
		assert_int_equal(ct_csv_next(c, &err), 1);
		assert_int_equal(ct_csv_next(c, &err), more ? CT_ETRACE : 1);
		if (more)
			assert_string_equal(err.text, "t.csv:2: a record is longer than 1 MiB");
		else
			assert_int_equal(ct_csv_field(c, 0).n, CT_CSV_LINE_LIMIT - 1);
		ct_csv_close(c);
		free(text);
	}
}

/* Memory stays bounded: the reader gives up long before the end of the input. */
static void endless_records(void **state)
{
	static const char *const begin[] = { "x", "a\nb,\"x" };
	static const char *const says[] = {
		"4 t.csv:1: a record is longer than 1 MiB",
		"[a]1:1\n4 t.csv:2:3: a quoted field that begins here does not end within 1 MiB",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		size_t n = 8 * CT_CSV_LINE_LIMIT;
		char *text = malloc(n), *got;
		struct ct_csv *c;
		struct ct_err err = { 0 };
		uint64_t done, total;

		memset(text, 'x', n);
		memcpy(text, begin[i], strlen(begin[i]));
		assert_int_equal(ct_csv_open_memory("t.csv", text, n, ',', &c, &err), 0);
		got = render(c);
		assert_string_equal(got, says[i]);
		ct_csv_progress(c, &done, &total);
		assert_true(done < 4 * CT_CSV_LINE_LIMIT && total == n);
		ct_csv_close(c);
		free(got);
		free(text);
	}
}

/* ---- gzip */

static unsigned char *gzip(const char *text, size_t n, size_t *packed)
{
	z_stream z = { 0 };
	size_t cap = n + n / 10 + 100;
	unsigned char *out = malloc(cap);

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)(uintptr_t)text;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)cap;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	*packed = cap - z.avail_out;
	deflateEnd(&z);
	return out;
}

static void gzip_is_recognised(void **state)
{
	size_t n, packed;
	char *text = repeat("12345,\"a\"\"b\",x y\r\n", 20000, &n), *plain, *got;
	unsigned char *gz = gzip(text, n, &packed);

	(void)state;
	plain = render_memory(text, n, ',');
	got = render_memory(gz, packed, ',');
	assert_true(strlen(plain) > n);
	assert_string_equal(got, plain);
	free(got);
	free(plain);
	free(gz);
	free(text);
}

static void gzip_members_join(void **state)
{
	size_t na, nb, nc;
	unsigned char *a = gzip("x,1\ny,", 6, &na), *b = gzip("", 0, &nb), *c = gzip("2\nz,3\n", 6, &nc);
	unsigned char all[400] = { 0 };
	char *got;

	(void)state;
	memcpy(all, a, na);
	memcpy(all + na, b, nb);
	memcpy(all + na + nb, c, nc);
	got = render_memory(all, na + nb + nc, ',');
	assert_string_equal(got, "[x]1:1[1]1:3\n[y]2:1[2]2:3\n[z]3:1[3]3:3\n");
	free(got);
	got = render_memory(all, na + nb + nc + 50, ','); /* zero padding, as on tapes */
	assert_string_equal(got, "[x]1:1[1]1:3\n[y]2:1[2]2:3\n[z]3:1[3]3:3\n");
	free(got);
	all[na + nb + nc] = 'g';
	got = render_memory(all, na + nb + nc + 1, ',');
	assert_non_null(strstr(got, "5 t.csv: garbage after the end of the gzip data"));
	free(got);
	all[na + nb + nc] = 0;
	all[na + nb + nc + 1] = 0x1f;
	got = render_memory(all, na + nb + nc + 2, ',');
	assert_non_null(strstr(got, "5 t.csv: garbage after the end of the gzip data"));
	free(got);
	free(a);
	free(b);
	free(c);
}

/* Cut anywhere, the input is refused, never a shorter table accepted. */
static void truncated_gzip(void **state)
{
	static const char text[] = "job,submit\nj1,0\nj2,17\nj3,20\n";
	size_t n;
	unsigned char *gz = gzip(text, sizeof text - 1, &n);

	(void)state;
	for (size_t cut = 2; cut < n; cut++) {
		char *got = render_memory(gz, cut, ',');

		assert_non_null(strstr(got, "5 t.csv: gzip data is truncated"));
		free(got);
	}
	free(gz);
}

static void corrupt_gzip(void **state)
{
	size_t n;
	unsigned char *gz = gzip("a,b\n1,2\n", 8, &n);
	char *got;

	(void)state;
	gz[n - 6] ^= 1; /* the check sum */
	got = render_memory(gz, n, ',');
	assert_non_null(strstr(got, "5 t.csv: gzip data is corrupt: incorrect data check"));
	free(got);
	gz[2] = 9; /* no such method */
	got = render_memory(gz, n, ',');
	assert_string_equal(got, "5 t.csv: gzip data is corrupt: unknown compression method");
	free(got);
	free(gz);
}

/* ---- files */

static void files(void **state)
{
	char dir[] = "/tmp/test_csv.XXXXXX", path[64], want[200], *got;
	struct ct_csv *c = NULL;
	struct ct_err err = { 0 };
	size_t n;
	unsigned char *gz = gzip("a,b\n1,2\n", 8, &n);
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/t.gz", dir);
	assert_int_equal(ct_csv_open(path, ',', &c, &err), CT_EIO);
	snprintf(want, sizeof want, "cannot open '%s': No such file or directory", path);
	assert_string_equal(err.text, want);
	assert_null(c);

	f = fopen(path, "wb");
	assert_int_equal(fwrite(gz, 1, n, f), n);
	fclose(f);
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_csv_open(path, ',', &c, &err), 0);
	assert_string_equal(ct_csv_loc(c, 0).file, path);
	got = render(c);
	assert_string_equal(got, "[a]1:1[b]1:3\n[1]2:1[2]2:3\n");
	free(got);
	ct_csv_close(c);

	c = NULL;
	assert_int_equal(ct_csv_open(dir, ',', &c, &err), CT_EIO);
	snprintf(want, sizeof want, "%s: cannot be read: Is a directory", dir);
	assert_string_equal(err.text, want);
	assert_null(c);
	unlink(path);
	rmdir(dir);
	free(gz);
}

/* A pipe that gives a byte at a time is read like a file. */
static void slow_pipe(void **state)
{
	static const char text[] = "a,\"b\r\n\"\r\n1,2";
	int fd[2];
	char path[32], *got;
	struct ct_csv *c;
	struct ct_err err = { 0 };

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], text, sizeof text - 1), sizeof text - 1);
	close(fd[1]);
	snprintf(path, sizeof path, "/dev/fd/%d", fd[0]);
	assert_int_equal(ct_csv_open(path, ',', &c, &err), 0);
	got = render(c);
	assert_string_equal(got, "[a]1:1[b\r\n]1:3\n[1]3:1[2]3:3\n");
	free(got);
	ct_csv_close(c);
	close(fd[0]);
}

/* An error of the reader does not hide that the file breaks off. */
static void errors_after_errors(void **state)
{
	struct ct_csv *c;
	struct ct_err err = { 0 };

	(void)state;
	assert_int_equal(ct_csv_open_memory("t.csv", "a\n\"", 3, ',', &c, &err), 0);
	assert_int_equal(ct_csv_next(c, &err), 1);
	ct_err_add(&err, CT_ECONFIG, NULL, "the reader's");
	assert_int_equal(ct_csv_next(c, &err), CT_ETRACE);
	assert_string_equal(err.text, "the reader's\nt.csv:2:1: a quote that is never closed");
	ct_csv_close(c);
}

/* ---- numbers */

static void integers(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t value;
	} row[] = {
		{ "0", 0, 0 },
		{ "-0", 0, 0 },
		{ "+17", 0, 17 },
		{ "-17", 0, -17 },
		{ "0000000000000000000000000000017", 0, 17 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "-9223372036854775807", 0, -INT64_MAX },
		{ "-9223372036854775808", 0, INT64_MIN },
		{ "9223372036854775808", -2, 0 },
		{ "-9223372036854775809", -2, 0 },
		{ "9223372036854775810", -2, 0 },
		{ "18446744073709551615", -2, 0 },
		{ "18446744073709551616", -2, 0 },
		{ "18446744073709551617", -2, 0 },
		{ "99999999999999999999999999999999", -2, 0 },
		{ "99999999999999999999999999999x", -1, 0 },
		{ "", -1, 0 },
		{ "-", -1, 0 },
		{ "+-1", -1, 0 },
		{ "1.0", -1, 0 },
		{ "1e3", -1, 0 },
		{ "0x1", -1, 0 },
		{ " 1", -1, 0 },
		{ "1 ", -1, 0 },
		{ "1_000", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		int64_t v = 77;
		int rc = ct_parse_i64(row[i].text, strlen(row[i].text), &v);

		if (rc != row[i].rc || v != (rc ? 77 : row[i].value))
			fail_msg("'%s' gives %d, %lld", row[i].text, rc, (long long)v);
	}
}

static uint64_t bits(double v)
{
	uint64_t b;

	memcpy(&b, &v, sizeof b);
	return b;
}

static void doubles(void **state)
{
	static const struct {
		const char *text;
		int rc;
		double value;
	} row[] = {
		{ "0", 0, 0.0 },
		{ "-0", 0, -0.0 },
		{ "1.5", 0, 1.5 },
		{ "+1.5", 0, 1.5 },
		{ ".5", 0, 0.5 },
		{ "5.", 0, 5.0 },
		{ "-1e3", 0, -1000.0 },
		{ "1E-2", 0, 0.01 },
		{ "0.1", 0, 0x1.999999999999ap-4 },
		{ "9007199254740993", 0, 0x1p53 }, /* 2^53 + 1: half way, to even */
		{ "9007199254740995", 0, 0x1.0000000000002p53 },
		{ "1e22", 0, 1e22 },
		{ "1e23", 0, 0x1.52d02c7e14af6p76 },     /* not 10 x 1e22 rounded */
		{ "8.98846567431158e307", 0, 0x1p1023 }, /* 0.23 units in the last place above it */
		{ "1.7976931348623157e308", 0, 0x1.fffffffffffffp1023 },
		{ "1.7976931348623159e308", -2, 0 },
		{ "-1e309", -2, 0 },
		{ "1e99999999999999999999", -2, 0 },
		{ "2.2250738585072011e-308", 0, 0x0.fffffffffffffp-1022 }, /* once made PHP hang */
		{ "4.9406564584124654e-324", 0, 0x1p-1074 },
		{ "1e-400", 0, 0.0 },
		{ "0e99999999999999999999", 0, 0.0 },
		{ "0.000000000000000000000000000000000000000000001e45", 0, 1.0 },
		{ "10000000000000000000000000000000000000000e-40", 0, 1.0 },
		{ "", -1, 0 },
		{ ".", -1, 0 },
		{ "-", -1, 0 },
		{ "e5", -1, 0 },
		{ "1e", -1, 0 },
		{ "1e+", -1, 0 },
		{ "1e5x", -1, 0 },
		{ "1,5", -1, 0 },
		{ "1.2.3", -1, 0 },
		{ "0x1p3", -1, 0 },
		{ "inf", -1, 0 },
		{ "-infinity", -1, 0 },
		{ "nan", -1, 0 },
		{ "NaN(1)", -1, 0 },
		{ " 1", -1, 0 },
		{ "1 ", -1, 0 },
		{ "--1", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		double v = 77;
		int rc = ct_parse_f64(row[i].text, strlen(row[i].text), &v);

		if (rc != row[i].rc || bits(v) != bits(rc ? 77 : row[i].value))
			fail_msg("'%s' gives %d, %a, not %d, %a", row[i].text, rc, v, row[i].rc, row[i].value);
	}
}

/* The C library is the reference, on both sides of every limit of the fast path. */
static void doubles_like_strtod(void **state)
{
	uint64_t s = 1;
	char text[64];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		int digits, exponent;
		double v;

		s = s * UINT64_C(6364136223846793005) + 1442695040888963407;
		digits = 1 + (int)(s >> 60);
		exponent = (int)((s >> 50) % 61) - 30;
		snprintf(text, sizeof text, "%s%.*fe%d", s & 1 ? "-" : "", (int)((s >> 44) % 8),
			 (double)(s >> 11) / pow(10, 16 - digits), exponent);
		assert_int_equal(ct_parse_f64(text, strlen(text), &v), 0);
		if (bits(v) != bits(strtod(text, NULL)))
			fail_msg("'%s' gives %a", text, v);
	}
}

static void locale_has_no_effect(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8" };
	double v;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names && !setlocale(LC_ALL, names[i]); i++)
		;
	assert_int_equal(ct_parse_f64("1.5", 3, &v), 0);
	assert_true(v == 1.5);
	assert_int_equal(ct_parse_f64("1.5e-40", 7, &v), 0);
	assert_true(v == 1.5e-40);
	assert_int_equal(ct_parse_f64("1,5", 3, &v), -1);
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(awkward_inputs),
		cmocka_unit_test(other_delimiters),
		cmocka_unit_test(refused_inputs),
		cmocka_unit_test(records_across_the_buffer_end),
		cmocka_unit_test(many_records),
		cmocka_unit_test(longest_record),
		cmocka_unit_test(endless_records),
		cmocka_unit_test(gzip_is_recognised),
		cmocka_unit_test(gzip_members_join),
		cmocka_unit_test(truncated_gzip),
		cmocka_unit_test(corrupt_gzip),
		cmocka_unit_test(files),
		cmocka_unit_test(slow_pipe),
		cmocka_unit_test(errors_after_errors),
		cmocka_unit_test(integers),
		cmocka_unit_test(doubles),
		cmocka_unit_test(doubles_like_strtod),
		cmocka_unit_test(locale_has_no_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
