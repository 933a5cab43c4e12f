/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "experiments/progress.h"

/* Half done after 4 s: 12 of 24 marks, half the work left at the same rate. */
static void test_line(void **unused)
{
	static const struct {
		uint64_t done, total;
		double elapsed_s;
		const char *line;
	} row[] = {
		{ 500, 1000, 4, "run [############............]  50 %  500 of 1.0k jobs, 125/s, 4 s left" },
		{ 0, 1000, 4, "run [........................]   0 %  0 of 1.0k jobs, 0/s, long left" },
		{ 999999, 1000000, 2, "run [#######################.]  99 %  1000k of 1.0M jobs, 500k/s, 1 s left" },
		{ 1000, 1000, 8, "run [########################] 100 %  1.0k of 1.0k jobs, 125/s, 0 s left" },
		{ 2000, 1000, 8, "run [########################] 100 %  2.0k of 1.0k jobs, 250/s, 0 s left" },
		{ 1, 61, 1, "run [........................]   1 %  1 of 61 jobs, 1/s, 1:00 min left" },
		{ 1, 7262, 1, "run [........................]   0 %  1 of 7.3k jobs, 1/s, 2:01 h left" },
		{ 1500, 0, 2, "run 1.5k jobs, 750/s" },
		{ 0, 0, 0, "run 0 jobs, 0/s" },
	};
	char line[160];

	(void)unused;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		ct_progress_line("run", "jobs", row[i].done, row[i].total, row[i].elapsed_s, line, sizeof line);
		assert_string_equal(line, row[i].line);
	}
}

static void test_mode(void **unused)
{
	enum ct_progress_mode m = CT_PROGRESS_AUTO;

	(void)unused;
	assert_int_equal(ct_progress_mode_parse("never", &m), 0);
	assert_int_equal(m, CT_PROGRESS_NEVER);
	assert_int_equal(ct_progress_mode_parse("always", &m), 0);
	assert_int_equal(m, CT_PROGRESS_ALWAYS);
	assert_int_equal(ct_progress_mode_parse("often", &m), -1);
	assert_int_equal(m, CT_PROGRESS_ALWAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_line), cmocka_unit_test(test_mode) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
