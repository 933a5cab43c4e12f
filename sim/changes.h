/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes.h - a list of changes to a table of numbers, as one text of a configuration:
 *
 *	"infer_share=*0.8, train_gpus@8=0, host@BERT=0.1"
 *
 * NAME=VALUE sets every row of that name, NAME@KEY=VALUE the one of that key; a value
 * "*0.8" multiplies what stands there. Assumptions that live in a file are varied so,
 * and the file stays the one copy.
 *
 *	struct ct_change *change;
 *	size_t n;
 *	CT_TRY(ct_changes_parse(text, &arena, &change, &n, err));
 *	for (size_t i = 0; i < n; i++) ... x = ct_change_of(&change[i], x) ... */
#ifndef CT_SIM_CHANGES_H
#define CT_SIM_CHANGES_H

#include "sim/err.h"
#include "sim/memory.h"

#include <stddef.h>

struct ct_change {
	const char *name, *key; /* key NULL: every row of the name */
	double value;
	int factor; /* `value` multiplies */
};

/* NULL and "" are no changes. CT_ECONFIG. */
int ct_changes_parse(const char *text, struct ct_arena *arena, struct ct_change **out, size_t *n, struct ct_err *err);

static inline double ct_change_of(const struct ct_change *c, double was)
{
	return c->factor ? was * c->value : c->value;
}

#endif
