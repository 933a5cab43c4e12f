/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/metrics.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

const struct ct_metric_info ct_metric_info[CT_METRIC_COUNT] = {
#define CT_METRIC_INFO(key, unit, digits, text) { #key, unit, text, digits },
	CT_METRICS(CT_METRIC_INFO)
#undef CT_METRIC_INFO
};

int ct_metric_find(const char *key)
{
	for (int i = 0; i < CT_METRIC_COUNT; i++)
		if (strcmp(ct_metric_info[i].key, key) == 0)
			return i;
	return -1;
}

static double smallest(const double *v, size_t n)
{
	double m = v[0];

	for (size_t i = 1; i < n; i++)
		if (v[i] < m)
			m = v[i];
	return m;
}

/* Quickselect (GSL), from the largest quantile down: after the k-th order
 * statistic is in place nothing smaller lies behind it, so the next, smaller one
 * is looked for in v[0..k] only. The neighbour that interpolation needs is the
 * least element behind position k. */
void ct_quantiles(double *v, size_t n, const double *q, size_t m, double *out)
{
	size_t end = n; /* v[0..end) holds the `end` smallest */

	for (size_t i = m; i-- > 0;) {
		double h, frac, at;
		size_t k;

		if (n == 0) {
			out[i] = NAN;
			continue;
		}
		h = q[i] * (double)(n - 1);
		k = (size_t)h;
		frac = h - (double)k;
		at = gsl_stats_select(v, 1, end, k);
		out[i] = at;
		if (frac > 0.0) {
			size_t stop = k + 1 < end ? end : n;

			out[i] += frac * (smallest(v + k + 1, stop - k - 1) - at);
		}
		end = k + 1;
	}
}
