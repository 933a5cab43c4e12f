/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reader_options.h - the options that one reader has beside the common ones, given
 * as `trace.options.NAME: value`: one table drives parsing, checks and the manual.
 *
 *	struct mine { double gap; int mapping; const char *status; };
 *	const struct ct_trace_opt opts[] = {
 *		{ "gap", CT_TRACE_OPT_NUMBER, offsetof(struct mine, gap), "600", 0, 1e9, NULL, "s", "..." },
 *		{ "mapping", CT_TRACE_OPT_WORD, offsetof(struct mine, mapping), "a1", 0, 0, "a1|a2", "", "..." },
 *		{ .name = NULL },
 *	};
 *	CT_TRY(ct_trace_opts_read(opts, "genai", o, &mine, err));
 *
 * A reader with a table stands with it in the table of trace.c; for a reader
 * without one, ct_trace_read() refuses every option. */
#ifndef CT_TRACES_READER_OPTIONS_H
#define CT_TRACES_READER_OPTIONS_H

#include "sim/err.h"
#include "traces/trace.h"

#include <stddef.h>

enum ct_trace_opt_type {
	CT_TRACE_OPT_NUMBER, /* double, in [lo, hi] */
	CT_TRACE_OPT_WORD,   /* int, place of the word in `words` */
	CT_TRACE_OPT_TEXT,   /* const char *, lives as long as the options or the table */
};

struct ct_trace_opt {
	const char *name; /* NULL ends the table */
	enum ct_trace_opt_type type;
	size_t offset;
	const char *standard; /* the default, as text */
	double lo, hi;
	const char *words; /* "a|b|c" */
	const char *unit, *help;
};

/* Defaults, then every option that was given. CT_ECONFIG names each that is unknown,
 * given twice, or not what it wants. `table` NULL: there are none. */
int ct_trace_opts_read(const struct ct_trace_opt *table, const char *format, const struct ct_trace_options *o,
		       void *out, struct ct_err *err);

#endif
