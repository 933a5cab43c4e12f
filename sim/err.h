/* SPDX-License-Identifier: GPL-3.0-or-later */
/* err.h - errors of the outside world (files, options, plug-ins), and the check
 * for our own mistakes.
 *
 * A function that can fail for an outside reason returns `int`: 0, or the
 * `enum ct_code` it also left in its `struct ct_err`. The first cause wins; a
 * reader that goes on after an error adds further lines with ct_err_add(), so
 * that all errors of one file are reported together.
 *
 *	struct ct_err err = { 0 };
 *	if (ct_trace_read(path, &opts, &work, &err)) {
 *		ct_err_print(&err, stderr);     // "cotenant: error: jobs.csv:17:4: ..."
 *		return (int)err.code;           // the process's exit status
 *	}
 *
 * Message form (git's): lower case, no full stop, the subject in single
 * quotes, what was wanted and what was got.
 *
 * CT_CHECK is the other direction: a broken invariant of our own. It stays in
 * release builds, prints simulation time, seed and event number, and aborts. */
#ifndef CT_SIM_ERR_H
#define CT_SIM_ERR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Also the exit status of the program; see STYLE.md, rule 13. */
enum ct_code {
	CT_OK = 0,
	CT_EUSAGE = 2,    /* command line */
	CT_ECONFIG = 3,   /* configuration, cluster, pair or transition file */
	CT_ETRACE = 4,    /* job trace */
	CT_EIO = 5,       /* reading or writing failed */
	CT_EPOLICY = 6,   /* a policy could not be loaded, or made a wrong plan */
	CT_EMISMATCH = 7, /* regression against recorded values */
};

enum { CT_ERR_LINES = 20 }; /* at most so many messages are kept; the rest is counted */

struct ct_err {
	enum ct_code code; /* CT_OK: nothing happened */
	unsigned count;    /* errors seen, also those whose text was not kept */
	unsigned kept;     /* messages in `text`, separated by '\n' */
	size_t used;       /* bytes of `text` in use, without the final NUL */
	char text[8192];
};

/* A place in an input file. `line` and `col` count from 1; `col` is the 1-based
 * byte of the field's first character. line = 0: the file as a whole; col = 0:
 * the line as a whole. */
struct ct_loc {
	const char *file;
	size_t line, col;
};

/* Record the first cause: a no-op when `e` already holds an error. `at` may be
 * NULL. Returns e->code, never 0. */
__attribute__((format(printf, 4, 5), cold)) int ct_err_at(struct ct_err *e, enum ct_code code, const struct ct_loc *at,
							  const char *fmt, ...);

/* Record one more error of the same kind of input. The code of the first stays. */
__attribute__((format(printf, 4, 5), cold)) int ct_err_add(struct ct_err *e, enum ct_code code, const struct ct_loc *at,
							   const char *fmt, ...);

/* One line a message, "cotenant: error: ...", then "... and N more errors". */
void ct_err_print(const struct ct_err *e, FILE *to);

#define CT_TRY(x)                   \
	do {                        \
		int rc_ = (x);      \
		if (rc_)            \
			return rc_; \
	} while (0)

/* Where the simulation stands, for the message of a failed check. Each world
 * keeps one; code without a world passes NULL. */
struct ct_where {
	int64_t now_us;
	uint64_t seed, event;
};

__attribute__((noreturn, cold, format(printf, 5, 6))) void ct_check_failed(const struct ct_where *where,
									   const char *expr, const char *file, int line,
									   const char *fmt, ...);

/* CT_CHECK(where, condition, "format", ...): the message names what was wrong. */
#define CT_CHECK(where, cond, ...)                                                        \
	do {                                                                              \
		if (__builtin_expect(!(cond), 0))                                         \
			ct_check_failed((where), #cond, __FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

/* Same, for debug builds only (hot paths). */
#ifdef NDEBUG
#define CT_DCHECK(where, cond, ...) ((void)0)
#else
#define CT_DCHECK(where, cond, ...) CT_CHECK(where, cond, __VA_ARGS__)
#endif

#endif
