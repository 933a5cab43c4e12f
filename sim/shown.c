/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/shown.h"

#include <string.h>

const char *ct_shown(char out[CT_SHOWN], const char *s, size_t n)
{
	size_t keep = n < CT_SHOWN ? n : CT_SHOWN - 4;

	while (keep < n && keep && ((unsigned char)s[keep] & 0xc0) == 0x80)
		keep--;
	for (size_t i = 0; i < keep; i++) {
		unsigned char c = (unsigned char)s[i];

		out[i] = c < 0x20 || c == 0x7f ? '?' : s[i];
	}
	if (keep < n) {
		memcpy(out + keep, "...", 3);
		keep += 3;
	}
	out[keep] = '\0';
	return out;
}
