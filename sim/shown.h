/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shown.h - foreign text in a message: short, on one line, harmless on a terminal.
 *
 *	char b[CT_SHOWN];
 *	ct_err_add(err, CT_ETRACE, &at, "'num_gpus' wants a number, got '%s'", ct_shown(b, s, n)); */
#ifndef CT_SIM_SHOWN_H
#define CT_SIM_SHOWN_H

#include <stddef.h>

enum { CT_SHOWN = 64 };

/* At most CT_SHOWN - 1 bytes of the text: control bytes become '?', a cut is
 * marked by "..." and never splits an UTF-8 character. Returns `out`. */
const char *ct_shown(char out[CT_SHOWN], const char *s, size_t n);

#endif
