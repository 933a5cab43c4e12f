/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors and memory. The aborting sides run in a child process. */
#include "sim/err.h"
#include "sim/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Under AddressSanitizer too, a request that cannot be met gives NULL to our code. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void first_cause_wins(void **state)
{
	struct ct_err e = { 0 };
	struct ct_loc at = { .file = "jobs.csv", .line = 17, .col = 4 };

	(void)state;
	assert_int_equal(ct_err_at(&e, CT_ETRACE, &at, "'%s' wants an integer", "num_gpus"), CT_ETRACE);
	assert_int_equal(ct_err_at(&e, CT_EIO, NULL, "second"), CT_ETRACE);
	assert_string_equal(e.text, "jobs.csv:17:4: 'num_gpus' wants an integer");
	assert_int_equal(e.count, 1);
}

static void places(void **state)
{
	static const struct {
		struct ct_loc at;
		const char *text;
	} row[] = {
		{ { "f", 0, 0 }, "f: m" },
		{ { "f", 3, 0 }, "f:3: m" },
		{ { "f", 3, 9 }, "f:3:9: m" },
		{ { "f", 0, 9 }, "f: m" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct ct_err e = { 0 };

		ct_err_at(&e, CT_EIO, &row[i].at, "m");
		assert_string_equal(e.text, row[i].text);
	}
}

static void lines_are_collected_and_counted(void **state)
{
	struct ct_err e = { 0 };
	unsigned lines = 1;

	(void)state;
	for (int i = 0; i < 30; i++)
		assert_int_equal(ct_err_add(&e, i ? CT_EIO : CT_ECONFIG, NULL, "m%d", i), CT_ECONFIG);
	assert_int_equal(e.count, 30);
	assert_int_equal(e.kept, CT_ERR_LINES);
	for (const char *s = e.text; (s = strchr(s, '\n')); s++)
		lines++;
	assert_int_equal(lines, CT_ERR_LINES);
	assert_string_equal(strrchr(e.text, '\n'), "\nm19");
}

/* Messages as long as can be never overrun the text, and are still counted. */
static void long_messages(void **state)
{
	struct ct_err e = { 0 };
	char *name = malloc(5000);

	(void)state;
	memset(name, 'x', 4999);
	name[4999] = '\0';
	for (int i = 0; i < 40; i++) {
		struct ct_loc at = { .file = i % 2 ? name : "f", .line = 1, .col = 1 };

		ct_err_add(&e, CT_ETRACE, &at, "%s", name);
	}
	free(name);
	assert_int_equal(e.count, 40);
	assert_true(e.kept > 0 && e.used < sizeof e.text);
	assert_int_equal(strlen(e.text), e.used);
}

static void printed_form(void **state)
{
	struct ct_err e = { 0 };
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	for (int i = 0; i < CT_ERR_LINES + 2; i++)
		ct_err_add(&e, CT_ETRACE, NULL, "m");
	ct_err_print(&e, f);
	fclose(f);
	assert_int_equal(n, CT_ERR_LINES * strlen("cotenant: error: m\n") +
				strlen("cotenant: error: ... and 2 more errors\n"));
	assert_non_null(strstr(text, "m\ncotenant: error: ... and 2 more errors\n"));
	free(text);
}

/* Runs `body` in a child; true when it aborts and says `text` on stderr. */
static int aborts_saying(void (*body)(void), const char *text)
{
	char said[1024] = "";
	int pipe_fd[2], status = 0;
	size_t n = 0;
	ssize_t k;
	pid_t child;

	if (pipe(pipe_fd))
		return 0;
	child = fork();
	if (child == 0) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		dup2(pipe_fd[1], 2);
		body();
		_exit(0);
	}
	close(pipe_fd[1]);
	while (n < sizeof said - 1 && (k = read(pipe_fd[0], said + n, sizeof said - 1 - n)) > 0)
		n += (size_t)k;
	close(pipe_fd[0]);
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(said, text);
}

static void broken_check(void)
{
	struct ct_where at = { .now_us = 1500000, .seed = 7, .event = 42 };

	CT_CHECK(&at, 1 + 1 == 3, "job '%s' vanished", "j1");
}

static void huge_product(void)
{
	void *volatile p = ct_realloc_array(NULL, SIZE_MAX / 4, 16);

	(void)p;
}

static void huge_arena(void)
{
	struct ct_arena a = { 0 };
	void *volatile p = ct_arena_alloc(&a, SIZE_MAX - 8, 1);

	(void)p;
}

static void checks_abort(void **state)
{
	(void)state;
	assert_true(aborts_saying(broken_check, "job 'j1' vanished (1 + 1 == 3)"));
	assert_true(aborts_saying(broken_check, "at t=1.500000 s, seed 7, event 42"));
	CT_CHECK(NULL, 1, "never printed");
}

static void out_of_memory_aborts(void **state)
{
	(void)state;
	assert_true(aborts_saying(huge_product, "out of memory"));
	assert_true(aborts_saying(huge_arena, "out of memory"));
}

static void arena_is_zeroed_aligned_and_disjoint(void **state)
{
	struct ct_arena a = { 0 };
	unsigned char *part[400];
	size_t size[400];

	(void)state;
	for (size_t i = 0; i < 400; i++) {
		size_t align = (size_t)1 << i % 7;

		size[i] = 1 + i * i % 3000 + (i == 200 ? 300000 : 0);
		part[i] = ct_arena_alloc(&a, size[i], align);
		assert_int_equal((uintptr_t)part[i] % align, 0);
		for (size_t k = 0; k < size[i]; k++)
			assert_int_equal(part[i][k], 0);
		memset(part[i], (int)(i % 255 + 1), size[i]);
	}
	for (size_t i = 0; i < 400; i++)
		assert_true(part[i][0] == i % 255 + 1 && part[i][size[i] - 1] == i % 255 + 1);
	ct_arena_fini(&a);
	assert_null(a.head);
}

static void arena_text_is_terminated(void **state)
{
	struct ct_arena a = { 0 };

	(void)state;
	assert_string_equal(ct_arena_text(&a, "abcdef", 3), "abc");
	assert_string_equal(ct_arena_text(&a, NULL, 0), "");
	ct_arena_fini(&a);
}

static void growing_array(void **state)
{
	int *v = NULL;
	size_t cap = 0, moves = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		size_t before = cap;

		CT_GROW(v, cap, (size_t)i + 1);
		moves += cap != before;
		v[i] = i;
	}
	for (int i = 0; i < 100000; i++)
		assert_int_equal(v[i], i);
	assert_true(moves < 40); /* log(100000) / log(1.5) = 28.4 */
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_cause_wins),
		cmocka_unit_test(places),
		cmocka_unit_test(lines_are_collected_and_counted),
		cmocka_unit_test(long_messages),
		cmocka_unit_test(printed_form),
		cmocka_unit_test(checks_abort),
		cmocka_unit_test(out_of_memory_aborts),
		cmocka_unit_test(arena_is_zeroed_aligned_and_disjoint),
		cmocka_unit_test(arena_text_is_terminated),
		cmocka_unit_test(growing_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
