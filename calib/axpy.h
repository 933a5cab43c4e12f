/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axpy.h - the one loop the network spends its time in: y += sum_k a[k] * W[k], with
 * W row-major [rows][n]. The sum over k is taken in order, each product rounded by
 * itself, so the result does not depend on compiler or vector width.
 * Internal to calib/. */
#ifndef CT_CALIB_AXPY_H
#define CT_CALIB_AXPY_H

#include <stddef.h>

/* -O2 of gcc 12 does not vectorise loops of unknown length; two lanes by hand. */
typedef double ct_pair_of __attribute__((vector_size(16), aligned(8), may_alias));

static inline void ct_axpy_rows(double *restrict y, const double *restrict a, const double *restrict w, size_t rows,
				size_t n)
{
	size_t k = 0;

	for (; k + 4 <= rows; k += 4) {
		const double *w0 = w + k * n, *w1 = w0 + n, *w2 = w1 + n, *w3 = w2 + n;
		double a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3];
		size_t i = 0;

		for (; i + 2 <= n; i += 2) {
			ct_pair_of t = *(const ct_pair_of *)(y + i);

			t += a0 * *(const ct_pair_of *)(w0 + i);
			t += a1 * *(const ct_pair_of *)(w1 + i);
			t += a2 * *(const ct_pair_of *)(w2 + i);
			t += a3 * *(const ct_pair_of *)(w3 + i);
			*(ct_pair_of *)(y + i) = t;
		}
		for (; i < n; i++)
			y[i] = y[i] + a0 * w0[i] + a1 * w1[i] + a2 * w2[i] + a3 * w3[i];
	}
	for (; k < rows; k++)
		for (size_t i = 0; i < n; i++)
			y[i] += a[k] * w[k * n + i];
}

#endif
