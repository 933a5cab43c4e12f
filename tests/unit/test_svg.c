/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of a page that cannot break it, and drawings whose ends are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/html.h"
#include "experiments/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *escaped(const char *text)
{
	char *s = NULL;
	size_t n;
	FILE *f = open_memstream(&s, &n);

	assert_non_null(f);
	ct_html_text(f, text);
	fclose(f);
	return s;
}

static void texts_are_escaped(void **state)
{
	static const char *const pair[][2] = {
		{ "<a href=\"x\" title='y'>&amp;", "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "a\xff\x01<\x7f", "a&#xFFFD;&#xFFFD;&lt;&#xFFFD;" },
		{ "\xc3", "&#xFFFD;" },
		{ "", "" },
		{ NULL, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
		char *have = escaped(pair[i][0]);

		assert_string_equal(have, pair[i][1]);
		free(have);
	}
}

static void steps_are_1_2_5(void **state)
{
	static const struct {
		double span;
		int most;
		double step;
	} want[] = { { 100, 5, 20 },      { 100, 10, 10 }, { 101, 10, 20 }, { 1, 5, 0.2 },
		     { 0.003, 5, 0.001 }, { 6, 5, 2 },     { 7e9, 4, 2e9 } };

	(void)state;
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		double have = ct_svg_step(want[i].span, want[i].most);

		assert_true(fabs(have - want[i].step) < 1e-9 * want[i].step);
	}
	for (double span = 1e-6; span < 1e9; span *= 1.7)
		for (int most = 3; most < 12; most++) {
			double step = ct_svg_step(span, most);

			assert_true(span / step <= most * (1 + 1e-6)); /* not too many ... */
			assert_true(span / step >
				    most / 2.6); /* ... and not needlessly few: 2 to 5 is the widest gap */
		}
}

static char *drawn(const struct ct_svg_plot *p)
{
	char *s = NULL;
	size_t n;
	FILE *f = open_memstream(&s, &n);

	assert_non_null(f);
	ct_svg_draw(p, f);
	fclose(f);
	return s;
}

static void nothing_to_draw(void **state)
{
	const struct ct_svg_line line = { "a", NULL, NULL, 0 };
	const struct ct_svg_plot p = {
		.id = "x", .title = "<T>", .about = "A", .x_label = "x", .y_label = "y", .line = &line, .n_lines = 1
	};
	char *s = drawn(&p);

	(void)state;
	assert_non_null(strstr(s, "&lt;T&gt;"));
	assert_non_null(strstr(s, "Nothing to draw"));
	assert_null(strstr(s, "nan"));
	free(s);
}

/* All zero, one point, only zeros on a logarithmic axis: no division by nothing. */
static void flat_curves(void **state)
{
	static const double zero[] = { 0, 0 }, x[] = { 3, 3 }, one[] = { 0, 1 };
	const struct ct_svg_line line[] = { { "flat", x, zero, 2 },
					    { "point", x, one, 1 },
					    { "all at once", zero, one, 2 } };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (int log_x = 0; log_x < 2; log_x++) {
			const struct ct_svg_plot p = { .id = "x",
						       .title = "",
						       .about = "",
						       .x_label = "",
						       .y_label = "",
						       .log_x = log_x,
						       .line = &line[i],
						       .n_lines = 1 };
			char *s = drawn(&p);

			assert_null(strstr(s, "nan"));
			assert_null(strstr(s, "inf"));
			assert_non_null(strstr(s, "class=\"s0\""));
			free(s);
		}
}

/* What cannot be seen is left out, the last point never. */
static void long_curves_stay_short(void **state)
{
	enum { N = 200000 };
	double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
	struct ct_svg_line line = { "long", x, y, N };
	const struct ct_svg_plot p = { .id = "x",
				       .title = "",
				       .about = "",
				       .x_label = "",
				       .y_label = "",
				       .y_top = 1,
				       .line = &line,
				       .n_lines = 1 };
	char *s;

	(void)state;
	assert_true(x && y);
	for (size_t i = 0; i < N; i++) {
		x[i] = (double)i;
		y[i] = (double)(i + 1) / N;
	}
	s = drawn(&p);
	assert_true(strlen(s) < 100000);
	assert_non_null(strstr(s, "V14.0\"")); /* y = 1, at the top */
	free(s);
	free(x);
	free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_escaped),      cmocka_unit_test(steps_are_1_2_5),
		cmocka_unit_test(nothing_to_draw),        cmocka_unit_test(flat_curves),
		cmocka_unit_test(long_curves_stay_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
