/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nearest.h - "did you mean": the known word closest to an unknown one.
 *
 *	struct ct_nearest n;
 *	ct_nearest_init(&n, "plicy");
 *	for (...)
 *		ct_nearest_offer(&n, known[i]);
 *	if (ct_nearest_word(&n))
 *		... "; did you mean '%s'?"
 *
 * Distance: insertions, deletions, substitutions and swaps of neighbours (optimal
 * string alignment), '-' and '_' being the same letter. A word is near when at
 * most a third of its letters, rounded up, would have to change. */
#ifndef CT_SIM_NEAREST_H
#define CT_SIM_NEAREST_H

#include <stddef.h>

enum { CT_NEAREST_LENGTH = 64 }; /* longer words are near to nothing */

struct ct_nearest {
	const char *wanted, *best;
	size_t distance; /* of the best so far */
};

void ct_nearest_init(struct ct_nearest *n, const char *wanted);
/* Among equally near words the first offered stays. */
void ct_nearest_offer(struct ct_nearest *n, const char *known);
/* NULL: nothing near. */
const char *ct_nearest_word(const struct ct_nearest *n);

size_t ct_edit_distance(const char *a, const char *b);

#endif
