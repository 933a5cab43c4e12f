/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strings.h - interned text: every distinct string once, known by a dense number.
 *
 * Numbers are given in order of first appearance, so they do not depend on the
 * hash; nothing iterates in hash order. Number 0 is the empty string. The texts
 * live as long as the table. Built on uthash. */
#ifndef CT_SIM_STRINGS_H
#define CT_SIM_STRINGS_H

#include "sim/memory.h"

#include <stddef.h>
#include <stdint.h>

struct ct_string_entry;

struct ct_strings {
	struct ct_arena arena;
	struct ct_string_entry *table; /* uthash head */
	const char **text;             /* number -> text */
	size_t n, cap;
};

void ct_strings_init(struct ct_strings *s);
void ct_strings_fini(struct ct_strings *s);
/* The number of the text of `n` bytes, new or known. */
uint32_t ct_strings_add(struct ct_strings *s, const char *text, size_t n);
/* The same, and whether it was new. */
uint32_t ct_strings_add_new(struct ct_strings *s, const char *text, size_t n, int *is_new);
/* The number of a text, or UINT32_MAX when it was never added. */
uint32_t ct_strings_find(const struct ct_strings *s, const char *text, size_t n);
const char *ct_strings_text(const struct ct_strings *s, uint32_t number);

#endif
