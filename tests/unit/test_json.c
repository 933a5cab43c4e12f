/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON: valid whatever the input, numbers that read back, errors that are seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/json.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *text;
static size_t length;

static void begin(struct ct_json *j)
{
	FILE *f = open_memstream(&text, &length);

	assert_non_null(f);
	ct_json_begin(j, f);
}

static void assert_written(struct ct_json *j, const char *want)
{
	struct ct_err err = { 0 };

	assert_int_equal(ct_json_end(j, "memory", &err), 0);
	fclose(j->to);
	assert_string_equal(text, want);
	free(text);
}

static void layout(void **state)
{
	struct ct_json j;

	(void)state;
	begin(&j);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_f64(&j, "mean_jct_s", 1.5);
	ct_json_open(&j, "rows", '[', 0);
	ct_json_open(&j, NULL, '{', 1);
	ct_json_text(&j, "metric", "jct");
	ct_json_open(&j, "within", '[', 0); /* stays on the line */
	ct_json_i64(&j, NULL, -1);
	ct_json_bool(&j, NULL, 1);
	ct_json_null(&j, NULL);
	ct_json_close(&j);
	ct_json_close(&j);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_close(&j);
	ct_json_close(&j);
	ct_json_close(&j);
	assert_written(&j, "{\n"
			   "  \"mean_jct_s\": 1.5,\n"
			   "  \"rows\": [\n"
			   "    {\"metric\": \"jct\", \"within\": [-1, true, null]},\n"
			   "    {}\n"
			   "  ]\n"
			   "}\n");
}

static void assert_text(const char *s, const char *want)
{
	struct ct_json j;

	begin(&j);
	ct_json_text(&j, NULL, s);
	assert_written(&j, want);
}

static void texts_are_escaped(void **state)
{
	(void)state;
	assert_text(NULL, "null\n");
	assert_text("", "\"\"\n");
	assert_text("a\"b\\c/d", "\"a\\\"b\\\\c/d\"\n");
	assert_text("\b\t\n\f\r\x01\x1f\x7f", "\"\\b\\t\\n\\f\\r\\u0001\\u001f\\u007f\"\n");
	assert_text("caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80\"\n");
}

/* Each byte that is not part of valid UTF-8 becomes U+FFFD. */
#define FFFD "\xef\xbf\xbd"
static void bad_utf8_is_replaced(void **state)
{
	(void)state;
	assert_text("\xff", "\"" FFFD "\"\n");
	assert_text("a\xc3", "\"a" FFFD "\"\n");                          /* cut short */
	assert_text("\xc0\xaf", "\"" FFFD FFFD "\"\n");                   /* overlong '/' */
	assert_text("\xe0\x80\xaf", "\"" FFFD FFFD FFFD "\"\n");          /* overlong */
	assert_text("\xed\xa0\x80", "\"" FFFD FFFD FFFD "\"\n");          /* surrogate */
	assert_text("\xf4\x90\x80\x80", "\"" FFFD FFFD FFFD FFFD "\"\n"); /* above U+10FFFF */
	assert_text("\xe6\x97x", "\"" FFFD FFFD "x\"\n");
}

static void numbers_are_shortest(void **state)
{
	static const double v[] = { 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2, 1e15, 123456.75 };
	struct ct_json j;
	char *end;

	(void)state;
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		struct ct_err err = { 0 };

		begin(&j);
		ct_json_f64(&j, NULL, v[i]);
		assert_int_equal(ct_json_end(&j, "memory", &err), 0);
		fclose(j.to);
		assert_true(strtod(text, &end) == v[i]);
		assert_string_equal(end, "\n");
		free(text);
	}
	begin(&j);
	ct_json_open(&j, NULL, '[', 1);
	ct_json_f64(&j, NULL, 0.1);
	ct_json_f64(&j, NULL, NAN);
	ct_json_f64(&j, NULL, INFINITY);
	ct_json_f64(&j, NULL, -INFINITY);
	ct_json_i64(&j, NULL, INT64_MIN);
	ct_json_close(&j);
	assert_written(&j, "[0.1, null, null, null, -9223372036854775808]\n");
}

static void numbers_as_text(void **state)
{
	static const char *const in[] = { "0",   "-0.50", "1e-7", "12E+3", "01",  "1.",   ".5", "1,5",
					  "0x1", "",      "-",    "1e",    "nan", "-inf", "+1", "1 " };
	struct ct_json j;

	(void)state;
	begin(&j);
	ct_json_open(&j, NULL, '[', 1);
	for (size_t i = 0; i < sizeof in / sizeof *in; i++)
		ct_json_number_text(&j, NULL, in[i]);
	ct_json_close(&j);
	assert_written(&j,
		       "[0, -0.50, 1e-7, 12E+3, \"01\", \"1.\", \".5\", \"1,5\", \"0x1\", \"\", \"-\", \"1e\", null, "
		       "null, \"+1\", \"1 \"]\n");
}

static void full_disk_is_reported(void **state)
{
	FILE *f = fopen("/dev/full", "w");
	struct ct_err err = { 0 };
	struct ct_json j;

	(void)state;
	assert_non_null(f);
	ct_json_begin(&j, f);
	ct_json_open(&j, NULL, '[', 0);
	for (int i = 0; i < 100000; i++)
		ct_json_i64(&j, NULL, i);
	ct_json_close(&j);
	assert_int_equal(ct_json_end(&j, "out.json", &err), CT_EIO);
	assert_non_null(strstr(err.text, "'out.json'"));
	assert_non_null(strstr(err.text, "No space left"));
	fclose(f);
}

static void closed_pipe_is_reported(void **state)
{
	struct ct_err err = { 0 };
	struct ct_json j;
	int ends[2];
	FILE *f;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	f = fdopen(ends[1], "w");
	ct_json_begin(&j, f);
	ct_json_text(&j, NULL, "x");
	assert_int_equal(ct_json_end(&j, "standard output", &err), CT_EIO);
	assert_non_null(strstr(err.text, "Broken pipe"));
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),
		cmocka_unit_test(texts_are_escaped),
		cmocka_unit_test(bad_utf8_is_replaced),
		cmocka_unit_test(numbers_are_shortest),
		cmocka_unit_test(numbers_as_text),
		cmocka_unit_test(full_disk_is_reported),
		cmocka_unit_test(closed_pipe_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
