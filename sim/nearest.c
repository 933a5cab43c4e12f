/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/nearest.h"

#include <stdint.h>
#include <string.h>

static char letter(char c)
{
	return c == '-' ? '_' : c;
}

/* Dynamic programme over prefixes, three rows of it at a time. */
size_t ct_edit_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	size_t row[3][CT_NEAREST_LENGTH + 1];

	if (na > CT_NEAREST_LENGTH || nb > CT_NEAREST_LENGTH)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			char x = letter(a[i - 1]), y = letter(b[j - 1]);
			size_t d = up[j - 1] + (x != y);

			if (up[j] + 1 < d)
				d = up[j] + 1;
			if (now[j - 1] + 1 < d)
				d = now[j - 1] + 1;
			if (i > 1 && j > 1 && x == letter(b[j - 2]) && letter(a[i - 2]) == y && up2[j - 2] + 1 < d)
				d = up2[j - 2] + 1;
			now[j] = d;
		}
	}
	return row[na % 3][nb];
}

void ct_nearest_init(struct ct_nearest *n, const char *wanted)
{
	n->wanted = wanted;
	n->best = NULL;
	n->distance = (strlen(wanted) + 2) / 3 + 1;
}

void ct_nearest_offer(struct ct_nearest *n, const char *known)
{
	size_t d = ct_edit_distance(n->wanted, known);

	if (d < n->distance && d < strlen(known)) {
		n->best = known;
		n->distance = d;
	}
}

const char *ct_nearest_word(const struct ct_nearest *n)
{
	return n->best;
}
