/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network_layout.h - where the parts of a network's parameters lie.
 * Internal to calib/. */
#ifndef CT_CALIB_NETWORK_LAYOUT_H
#define CT_CALIB_NETWORK_LAYOUT_H

#include "calib/network.h"

#define CT_NETWORK_EPSILON 1e-5 /* added to a variance before its root */

struct ct_network_layout {
	size_t w1, scale1, shift1, w2, scale2, shift2, w3, b3, end;
};

static inline struct ct_network_layout ct_network_layout(const struct ct_network *n)
{
	struct ct_network_layout at = { 0 };

	at.scale1 = n->in * n->h1;
	at.shift1 = at.scale1 + n->h1;
	at.w2 = at.shift1 + n->h1;
	at.scale2 = at.w2 + n->h1 * n->h2;
	at.shift2 = at.scale2 + n->h2;
	at.w3 = at.shift2 + n->h2;
	at.b3 = at.w3 + n->h2;
	at.end = at.b3 + 1;
	return at;
}

#endif
