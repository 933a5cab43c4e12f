/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
	char dir[32], path[64];
};

static int set_up(void **state)
{
	struct place *p = malloc(sizeof *p);

	strcpy(p->dir, "/tmp/test_output.XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->path, sizeof p->path, "%s/out.csv", p->dir);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;
	int left;

	unlink(p->path);
	rmdir(p->path);
	left = rmdir(p->dir);
	free(p);
	return left;
}

/* Names in the directory, those of "." and ".." left out. */
static int entries(const struct place *p)
{
	DIR *d = opendir(p->dir);
	int n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static char *content(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);

	assert_non_null(f);
	*n = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return text;
}

static void holds(const char *path, const char *want)
{
	size_t n;
	char *text = content(path, &n);

	assert_string_equal(text, want);
	free(text);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void file_appears_when_closed(void **state)
{
	struct place *p = *state;
	struct ct_output o;
	struct ct_err err = { 0 };

	put(p->path, "old");
	assert_int_equal(ct_output_open(&o, p->path, &err), 0);
	ct_output_text(&o, "a,b\n");
	ct_output_i64(&o, INT64_MIN);
	ct_output_text(&o, ",");
	ct_output_i64(&o, INT64_MAX);
	ct_output_text(&o, ",");
	ct_output_i64(&o, 0);
	ct_output_text(&o, ",");
	ct_output_time(&o, 1500000);
	ct_output_text(&o, ",");
	ct_output_f64(&o, 0.1);
	ct_output_write(&o, "\nignored", 1);
	holds(p->path, "old");
	assert_int_equal(entries(p), 2);
	assert_int_equal(ct_output_close(&o, &err), 0);
	assert_int_equal(o.fd, -1);
	holds(p->path, "a,b\n-9223372036854775808,9223372036854775807,0,1.5,0.1\n");
	assert_int_equal(entries(p), 1);
}

static void abandoned_file_leaves_nothing(void **state)
{
	struct place *p = *state;
	struct ct_output o;
	struct ct_err err = { 0 };

	put(p->path, "old");
	assert_int_equal(ct_output_open(&o, p->path, &err), 0);
	ct_output_text(&o, "new");
	ct_output_abandon(&o);
	ct_output_abandon(&o);           /* twice is harmless */
	ct_output_text(&o, "no effect"); /* so is writing afterwards */
	assert_int_equal(ct_output_close(&o, &err), 0);
	holds(p->path, "old");
	assert_int_equal(entries(p), 1);
}

/* Pieces of every size around the buffer's come out in order. */
static void large_output(void **state)
{
	static const size_t sizes[] = { 1, 65535, 1, 65536, 7, 65537, 100, 200000, 65400, 136, 1, 65534 };
	struct place *p = *state;
	struct ct_output o;
	struct ct_err err = { 0 };
	char *piece = malloc(200000), *got;
	size_t at = 0, n, total = 0;

	assert_int_equal(ct_output_open(&o, p->path, &err), 0);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		memset(piece, 'a' + (int)i, sizes[i]);
		ct_output_write(&o, piece, sizes[i]);
		total += sizes[i];
	}
	assert_int_equal(ct_output_close(&o, &err), 0);
	got = content(p->path, &n);
	assert_int_equal(n, total);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; at += sizes[i++])
		for (size_t k = 0; k < sizes[i]; k++)
			assert_true(got[at + k] == 'a' + (int)i);
	free(got);
	free(piece);
}

static void fields(void **state)
{
	static const struct {
		const char *text, *field;
	} row[] = {
		{ "", "" },
		{ "plain text", "plain text" },
		{ "a,b", "\"a,b\"" },
		{ "say \"hi\"", "\"say \"\"hi\"\"\"" },
		{ "\"", "\"\"\"\"" },
		{ "two\nlines", "\"two\nlines\"" },
		{ "cr\r", "\"cr\r\"" },
		{ " edge", "\" edge\"" }, /* or our own reader would trim it */
		{ "edge\t", "\"edge\t\"" },
		{ "a;b|c'd", "a;b|c'd" },
	};
	struct place *p = *state;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct ct_output o;
		struct ct_err err = { 0 };

		assert_int_equal(ct_output_open(&o, p->path, &err), 0);
		ct_output_field(&o, row[i].text);
		assert_int_equal(ct_output_close(&o, &err), 0);
		holds(p->path, row[i].field);
	}
}

/* ---- what goes wrong */

static void directory_that_is_not_there(void **state)
{
	struct place *p = *state;
	struct ct_output o;
	struct ct_err err = { 0 };
	char path[100], want[200];

	snprintf(path, sizeof path, "%s/none/out.csv", p->dir);
	snprintf(want, sizeof want, "cannot write '%s': No such file or directory", path);
	assert_int_equal(ct_output_open(&o, path, &err), CT_EIO);
	assert_string_equal(err.text, want);
	ct_output_text(&o, "no effect");
	assert_int_equal(ct_output_close(&o, &err), 0);
	assert_int_equal(entries(p), 0);
}

static void path_is_a_directory(void **state)
{
	struct place *p = *state;
	struct ct_output o;
	struct ct_err err = { 0 };

	assert_int_equal(ct_output_open(&o, p->dir, &err), CT_EIO);
	assert_non_null(strstr(err.text, "Is a directory"));
	assert_int_equal(entries(p), 0);
}

static void rename_fails(void **state)
{
	struct place *p = *state;
	struct ct_output o;
	struct ct_err err = { 0 };

	assert_int_equal(ct_output_open(&o, p->path, &err), 0);
	ct_output_text(&o, "text");
	assert_int_equal(mkdir(p->path, 0700), 0);
	assert_int_equal(ct_output_close(&o, &err), CT_EIO);
	assert_non_null(strstr(err.text, "cannot write '"));
	assert_non_null(strstr(err.text, "out.csv': Is a directory"));
	assert_int_equal(entries(p), 1); /* the directory alone */
}

/* A device is written in place: no temporary name, and it stays a device. */
static void full_device(void **state)
{
	struct ct_output o;
	struct ct_err err = { 0 };
	struct stat st;

	(void)state;
	if (access("/dev/full", W_OK)) {
		print_message("skipped: no /dev/full\n");
		skip();
	}
	assert_int_equal(ct_output_open(&o, "/dev/full", &err), 0);
	ct_output_text(&o, "text");
	assert_int_equal(ct_output_close(&o, &err), CT_EIO);
	assert_string_equal(err.text, "cannot write '/dev/full': No space left on device");
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

/* A write that fails half-way, by a limit on the file's size. */
static void write_fails(void **state)
{
	struct place *p = *state;
	struct ct_output o;
	struct ct_err err = { 0 };
	struct rlimit old, small;

	put(p->path, "old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 100000;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(ct_output_open(&o, p->path, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 50000; i++)
		ct_output_text(&o, "0123456789");
	assert_int_equal(ct_output_close(&o, &err), CT_EIO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_non_null(strstr(err.text, "out.csv': File too large"));
	holds(p->path, "old");
	assert_int_equal(entries(p), 1);
}

static void commit(void **state)
{
	struct place *p = *state;
	struct ct_err err = { 0 };
	char *tmp = ct_output_temporary(p->path), want[100];

	snprintf(want, sizeof want, "%s.tmp-%ld", p->path, (long)getpid());
	assert_string_equal(tmp, want);
	assert_int_equal(ct_output_commit(tmp, p->path, &err), CT_EIO); /* nothing there */
	assert_non_null(strstr(err.text, "No such file"));
	put(tmp, "new");
	err = (struct ct_err){ 0 };
	assert_int_equal(ct_output_commit(tmp, p->path, &err), 0);
	holds(p->path, "new");
	assert_int_equal(entries(p), 1);
	unlink(p->path);
	assert_int_equal(mkdir(p->path, 0700), 0);
	put(tmp, "new");
	assert_int_equal(ct_output_commit(tmp, p->path, &err), CT_EIO);
	assert_int_equal(entries(p), 1);
	free(tmp);
}

/* ---- doubles */

static void shortest_doubles(void **state)
{
	/* As printed by Python's repr(), the reference for "shortest that reads back",
	 * apart from ".0" and from where an exponent begins. */
	static const struct {
		double v;
		const char *text;
	} row[] = {
		{ 0.0, "0" },
		{ -0.0, "-0" },
		{ 1.0, "1" },
		{ -17.0, "-17" },
		{ 0.1, "0.1" },
		{ 0.5, "0.5" },
		{ -0.25, "-0.25" },
		{ 100.5, "100.5" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 2.0 / 3, "0.6666666666666666" },
		{ 100.0 / 3, "33.333333333333336" },
		{ 123456789.123456, "123456789.123456" },
		{ 0.000001, "0.000001" },
		{ 1e-7, "1e-07" },
		{ 1.5e-9, "1.5e-09" },
		{ 9007199254740991.0, "9007199254740991" },
		{ 1e15, "1000000000000000" },
		{ 1e22, "1e+22" },
		{ 1e23, "1e+23" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ -DBL_MAX, "-1.7976931348623157e+308" },
		{ DBL_MIN, "2.2250738585072014e-308" },
		{ 0x1p-1074, "5e-324" },
		{ 0x1p-1073, "1e-323" },
	};
	char text[CT_F64_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		assert_int_equal(ct_f64_format(row[i].v, text), strlen(row[i].text));
		assert_string_equal(text, row[i].text);
	}
	assert_int_equal(ct_f64_format((double)NAN, text), 3);
	assert_string_equal(text, "nan");
	assert_int_equal(ct_f64_format((double)INFINITY, text), 3);
	assert_string_equal(text, "inf");
	assert_int_equal(ct_f64_format(-(double)INFINITY, text), 4);
	assert_string_equal(text, "-inf");
}

static void reads_back(double v)
{
	char text[CT_F64_TEXT];
	double back;

	assert_true(ct_f64_format(v, text) < CT_F64_TEXT);
	back = strtod(text, NULL);
	if (memcmp(&back, &v, sizeof v))
		fail_msg("%a is written as %s", v, text);
}

/* Any bits, and the decimals that results are made of. */
static void doubles_read_back(void **state)
{
	uint64_t s = 1;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		double v;

		s = s * UINT64_C(6364136223846793005) + 1442695040888963407;
		memcpy(&v, &s, sizeof v);
		if (isfinite(v))
			reads_back(v);
		reads_back((double)(s >> 30) / 1e6);
		reads_back(-(double)(s >> 11) * 0x1p-53);
		reads_back(ldexp(1.0, (int)(s >> 40) % 1024));
	}
}

static void locale_has_no_effect(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8" };
	char text[CT_F64_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names && !setlocale(LC_ALL, names[i]); i++)
		;
	ct_f64_format(1.0 / 3, text);
	assert_string_equal(text, "0.3333333333333333");
	ct_f64_format(1.5, text);
	assert_string_equal(text, "1.5");
	setlocale(LC_ALL, "C");
}

int main(void)
{
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		ON_DISK(file_appears_when_closed),
		ON_DISK(abandoned_file_leaves_nothing),
		ON_DISK(large_output),
		ON_DISK(fields),
		ON_DISK(directory_that_is_not_there),
		ON_DISK(path_is_a_directory),
		ON_DISK(rename_fails),
		cmocka_unit_test(full_device),
		ON_DISK(write_fails),
		ON_DISK(commit),
		cmocka_unit_test(shortest_doubles),
		cmocka_unit_test(doubles_read_back),
		cmocka_unit_test(locale_has_no_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
