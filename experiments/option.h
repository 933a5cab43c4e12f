/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option.h - what can be done with a table of `struct ct_opt` (scheduler/policy.h):
 * fill in defaults, set a value from text, print values and the manual. The host's
 * own configuration and every policy's options go through this one file.
 *
 *	static const struct ct_opt opts[] = {
 *		{ "nodes", CT_OPT_INT, offsetof(struct cluster, nodes), "0", 0, 1e6, NULL, NULL, "nodes", 0 },
 *		{ 0 },
 *	};
 *	ct_opt_defaults(opts, &cluster, &arena);
 *	CT_TRY(ct_opt_set(&place, &opts[0], &cluster, "12"));
 *
 * The text form of a value is what ct_opt_text() writes; setting that text again
 * gives the same value. Numbers are decimal, exact and free of the locale; seconds
 * have up to six decimals. min = max = 0 means without limits. */
#ifndef CT_EXPERIMENTS_OPTION_H
#define CT_EXPERIMENTS_OPTION_H

#include "scheduler/policy.h"
#include "sim/err.h"
#include "sim/memory.h"

#include <stddef.h>
#include <stdio.h>

/* Where a value comes from, and where the outcome goes. */
struct ct_opt_place {
	const char *key;         /* full name, "cluster.nodes" */
	const struct ct_loc *at; /* file:line:column; or "--set cluster.nodes=12" as the file; may be NULL */
	const char *folder;      /* relative PATH values start here; NULL or "": as they are */
	enum ct_code code;       /* of an error */
	struct ct_arena *arena;  /* for texts */
	struct ct_err *err;      /* errors are added, not only the first kept */
};

/* Is the table well formed (types, defaults within their own limits, unique names)?
 * For tables that were loaded. `owner` names whose it is. */
int ct_opt_check_table(const struct ct_opt *opts, size_t state_size, const char *owner, struct ct_err *err);
/* Sets every value to its default; the table is known to be well formed. */
void ct_opt_defaults(const struct ct_opt *opts, void *base, struct ct_arena *arena);
/* NULL: no such option. `opts` may be NULL. */
const struct ct_opt *ct_opt_find(const struct ct_opt *opts, const char *name);
/* The option of the nearest name, or NULL. */
const char *ct_opt_nearest(const struct ct_opt *opts, const char *name);
/* Parses and checks `text`; on error nothing is changed. */
int ct_opt_set(const struct ct_opt_place *p, const struct ct_opt *o, void *base, const char *text);

/* The value as text, without its unit; into the arena. TEXT: "" when NULL. */
const char *ct_opt_text(const struct ct_opt *o, const void *base, struct ct_arena *arena);
/* Is the text form one that needs quotes in YAML and JSON (TEXT and ENUM)? */
int ct_opt_is_text(const struct ct_opt *o);

/* The manual: one line an option: name, what it takes, default, help. `section` is
 * put before each name ("policy" gives policy.placement). */
void ct_opt_print_manual(FILE *to, const char *section, const struct ct_opt *opts);
/* What an option takes: "whole number 0..7", "seconds", "count|pack|pool", "file". */
size_t ct_opt_domain(const struct ct_opt *o, char *out, size_t cap);

/* Valid UTF-8 without control characters but tab and newline? Then SIZE_MAX,
 * otherwise the offset of the first byte that is not. */
size_t ct_utf8_check(const char *s, size_t n);

#endif
