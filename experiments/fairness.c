/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/fairness.h"

#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>

double ct_jain(const double *x, size_t n)
{
	double sum = 0.0, squares = 0.0;

	if (n == 0)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	return squares == 0.0 ? 1.0 : sum * sum / ((double)n * squares);
}

/* An instant at which N changes; area = integral of N up to it. */
struct change {
	double at, area;
	size_t present; /* from it on, after all changes of that instant */
	size_t job;
	int up;
};

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->up != y->up)
		return x->up < y->up ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

static void integrate(struct change *c, size_t n)
{
	double area = 0.0, last = n ? c[0].at : 0.0;
	size_t present = 0;

	for (size_t i = 0; i < n; i++) {
		area += (double)present * (c[i].at - last);
		last = c[i].at;
		c[i].area = area;
		if (c[i].up)
			present++;
		else
			present--;
		c[i].present = present;
	}
}

/* A job of no length would leave before it comes: sorted by time, departures stand
 * first. It is left out of the integral, to which it adds nothing. */
void ct_mean_present(const double *submit, const double *finish, size_t n, double *out)
{
	struct change *c = ct_calloc(2 * n + 1, sizeof *c);
	double *begin = ct_calloc(n + 1, sizeof *begin);
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(finish[i] > submit[i]))
			continue;
		c[m++] = (struct change){ .at = submit[i], .job = i, .up = 1 };
		c[m++] = (struct change){ .at = finish[i], .job = i };
	}
	if (m)
		qsort(c, m, sizeof *c, by_time);
	integrate(c, m);
	for (size_t i = 0; i < m; i++) {
		size_t j = c[i].job;

		if (c[i].up)
			begin[j] = c[i].area;
		else
			out[j] = (c[i].area - begin[j]) / (finish[j] - submit[j]);
	}
	for (size_t i = 0; i < n; i++) {
		size_t lo = 0, hi = m;

		if (finish[i] > submit[i])
			continue;
		while (lo < hi) { /* the last change at or before it */
			size_t middle = lo + (hi - lo) / 2;

			if (c[middle].at <= submit[i])
				lo = middle + 1;
			else
				hi = middle;
		}
		out[i] = 1.0 + (lo ? (double)c[lo - 1].present : 0.0);
	}
	free(c);
	free(begin);
}

double ct_finish_time_fairness(double jct_s, double solo_s, double gpus, double present, double cluster_gpus)
{
	double share = gpus * present / cluster_gpus;

	return jct_s / (solo_s * (share <= 1.0 ? 1.0 : share)); /* NaN stays NaN */
}
