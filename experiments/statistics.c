/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/statistics.h"

#include "sim/memory.h"
#include "sim/metrics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces */

static int all_finite(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return 0;
	return 1;
}

/* Plain sums: GSL's own mean and variance run in long double, which differs between
 * machines. Exact zero deviation for equal values. */
double ct_mean(const double *v, size_t n)
{
	double sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / (double)n : NAN;
}

static double covariance(const double *a, const double *b, size_t n)
{
	double ma = ct_mean(a, n), mb = ct_mean(b, n), sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += (a[i] - ma) * (b[i] - mb);
	return n > 1 ? sum / (double)(n - 1) : NAN;
}

static int all_equal(const double *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return 0;
	return 1;
}

double ct_deviation(const double *v, size_t n)
{
	if (n < 2)
		return NAN;
	return all_equal(v, n) ? 0.0 : sqrt(covariance(v, v, n));
}

static double student(size_t n, double level)
{
	return gsl_cdf_tdist_Pinv(0.5 + level / 2, (double)(n - 1));
}

static struct ct_estimate unknown(size_t n, double level)
{
	return (struct ct_estimate){ .value = NAN, .sd = NAN, .lo = NAN, .hi = NAN, .level = level, .n = n };
}

/* Mean +- t s factor. */
static struct ct_estimate around_mean(const double *v, size_t n, double level, double factor)
{
	struct ct_estimate e = unknown(n, level);
	double half;

	if (n == 0 || !all_finite(v, n))
		return e;
	e.value = all_equal(v, n) ? v[0] : ct_mean(v, n);
	e.sd = ct_deviation(v, n);
	if (n < 2)
		return e;
	half = student(n, level) * e.sd * factor;
	e.lo = e.value - half;
	e.hi = e.value + half;
	return e;
}

/* ---- independent values */

struct ct_estimate ct_mean_interval(const double *v, size_t n, double level)
{
	return around_mean(v, n, level, n ? 1 / sqrt((double)n) : 0.0);
}

struct ct_estimate ct_prediction_interval(const double *v, size_t n, double level)
{
	return around_mean(v, n, level, n ? sqrt(1 + 1 / (double)n) : 0.0);
}

static void around(struct ct_estimate *e, double value, double sd, double t)
{
	e->value = value;
	e->sd = sd;
	e->lo = value - t * sd;
	e->hi = value + t * sd;
}

struct ct_pooled ct_pooled_intervals(const double *v, size_t draws, size_t seeds, double level)
{
	struct ct_pooled p = { unknown(draws * seeds, level), unknown(draws * seeds, level), NAN, NAN, NAN, NAN, NAN };
	double *x = ct_calloc(draws + seeds + 1, sizeof *x), *u = x + draws, within = 0, b2, t;

	if (draws < 2 || seeds < 2 || !all_finite(v, draws * seeds)) {
		free(x);
		return p;
	}
	for (size_t d = 0; d < draws; d++) {
		x[d] = ct_mean(v + d * seeds, seeds);
		within += covariance(v + d * seeds, v + d * seeds, seeds) / (double)draws;
		for (size_t s = 0; s < seeds; s++)
			u[s] += v[d * seeds + s] / (double)draws;
	}
	p.between = ct_deviation(x, draws);
	p.shared = ct_deviation(u, seeds);
	p.within = sqrt(within);
	b2 = p.between * p.between * (1 + 1 / (double)draws);
	t = student(draws, level);
	around(&p.mean, ct_mean(x, draws), sqrt(b2 + p.shared * p.shared / (double)seeds), t);
	around(&p.single, p.mean.value, sqrt(b2 + within * (1 + 1 / (double)seeds)), t);
	gsl_sort(x, 1, draws);
	p.lo = gsl_stats_quantile_from_sorted_data(x, 1, draws, (1 - level) / 2);
	p.hi = gsl_stats_quantile_from_sorted_data(x, 1, draws, (1 + level) / 2);
	free(x);
	return p;
}

/* Ranks 1 <= l < u <= n with P(l <= B <= u - 1) >= level of B ~ Binomial(n, q). The
 * probabilities rise to one mode and fall: the likeliest w + 1 values in a row are the
 * likeliest w and the likelier neighbour. */
static int best_ranks(size_t n, double q, double level, size_t *l, size_t *u, double *reached)
{
	size_t from = (size_t)((double)(n + 1) * q), to;
	double sum;

	if (n < 2)
		return 0;
	from = from < 1 ? 1 : from > n - 1 ? n - 1 : from;
	to = from;
	sum = gsl_ran_binomial_pdf((unsigned)from, q, (unsigned)n);
	while (sum < level) {
		double below = from > 1 ? gsl_ran_binomial_pdf((unsigned)(from - 1), q, (unsigned)n) : 0.0;
		double above = to + 1 < n ? gsl_ran_binomial_pdf((unsigned)(to + 1), q, (unsigned)n) : 0.0;

		if (from == 1 && to + 1 >= n)
			return 0;
		if (to + 1 >= n || (from > 1 && above <= below * (1 + 1e-9))) { /* not by rounding */
			from--;
			sum += below;
		} else {
			to++;
			sum += above;
		}
	}
	*l = from;
	*u = to + 1;
	*reached = sum;
	return 1;
}

struct ct_estimate ct_quantile_interval(const double *v, size_t n, double q, double level)
{
	struct ct_estimate e = unknown(n, level);
	size_t l = 0, u = 0;
	double *sorted;

	if (n == 0 || !all_finite(v, n) || !(q > 0.0 && q < 1.0))
		return e;
	sorted = ct_calloc(n, sizeof *sorted);
	memcpy(sorted, v, n * sizeof *sorted);
	gsl_sort(sorted, 1, n);
	e.value = gsl_stats_quantile_from_sorted_data(sorted, 1, n, q);
	if (best_ranks(n, q, level, &l, &u, &e.level)) {
		e.lo = sorted[l - 1];
		e.hi = sorted[u - 1];
	}
	free(sorted);
	return e;
}

static int is_enough(size_t n, double sd, double half_width, double level)
{
	return student(n, level) * sd / sqrt((double)n) <= half_width;
}

size_t ct_runs_needed(double sd, double half_width, double level)
{
	size_t below = 1, enough = 2;

	if (sd == 0.0 && half_width >= 0.0)
		return 2;
	if (!(sd > 0.0 && half_width > 0.0 && isfinite(sd)))
		return 0;
	while (!is_enough(enough, sd, half_width, level)) {
		if (enough > (size_t)1 << 50)
			return 0;
		below = enough;
		enough *= 2;
	}
	while (enough - below > 1) {
		size_t middle = below + (enough - below) / 2;

		if (is_enough(middle, sd, half_width, level))
			enough = middle;
		else
			below = middle;
	}
	return enough;
}

/* ---- pairs */

const char *ct_verdict_text(enum ct_verdict v)
{
	switch (v) {
	case CT_A_LOWER:
		return "a lower";
	case CT_B_LOWER:
		return "b lower";
	case CT_NO_DIFFERENCE_SHOWN:
		return "no difference shown";
	case CT_UNDECIDED:
		break;
	}
	return "too few runs";
}

static enum ct_verdict verdict_of(const struct ct_estimate *e)
{
	if (isnan(e->lo) || isnan(e->hi))
		return CT_UNDECIDED;
	if (e->lo > 0.0)
		return CT_A_LOWER;
	return e->hi < 0.0 ? CT_B_LOWER : CT_NO_DIFFERENCE_SHOWN;
}

static double effect_of(const struct ct_estimate *e)
{
	if (e->sd > 0.0)
		return e->value / e->sd;
	return e->sd == 0.0 && e->value == 0.0 ? 0.0 : NAN;
}

struct ct_paired ct_paired_compare(const double *a, const double *b, size_t n, double level)
{
	struct ct_paired p = { .n = n };
	double *d = ct_calloc(n ? n : 1, sizeof *d);

	for (size_t i = 0; i < n; i++) {
		d[i] = b[i] - a[i];
		p.n_lower += b[i] < a[i];
		p.n_equal += b[i] == a[i];
	}
	p.a = ct_mean(a, n);
	p.b = ct_mean(b, n);
	p.mean = ct_mean_interval(d, n, level);
	p.median = ct_quantile_interval(d, n, 0.5, level);
	p.effect = effect_of(&p.mean);
	p.verdict = verdict_of(&p.mean);
	p.median_verdict = verdict_of(&p.median);
	free(d);
	return p;
}

/* With g = t^2 / n the set is A r^2 - 2 B r + C <= 0, A = ma^2 - g s_aa, B = ma mb - g s_ab,
 * C = mb^2 - g s_bb: an interval exactly when A > 0. */
struct ct_estimate ct_ratio_interval(const double *a, const double *b, size_t n, double level)
{
	struct ct_estimate e = unknown(n, level);
	double ma, mb, g, A, B, C, root;

	if (n == 0 || !all_finite(a, n) || !all_finite(b, n))
		return e;
	ma = ct_mean(a, n);
	mb = ct_mean(b, n);
	e.value = ma != 0.0 ? mb / ma : NAN;
	if (n < 2)
		return e;
	g = student(n, level) * student(n, level) / (double)n;
	A = ma * ma - g * covariance(a, a, n);
	B = ma * mb - g * covariance(a, b, n);
	C = mb * mb - g * covariance(b, b, n);
	if (!(A > 0.0))
		return e;
	root = sqrt(fmax(0.0, B * B - A * C)); /* not negative but for rounding */
	e.lo = (B - root) / A;
	e.hi = (B + root) / A;
	return e;
}

struct ct_estimate ct_double_ratio_interval(const double *a, const double *b, const double *c, const double *d,
					    size_t n, double level)
{
	const double *const of[] = { a, b, c, d };
	static const double sign[] = { 1, -1, -1, 1 };
	struct ct_estimate e = unknown(n, level);
	double mean[4], log_ratio = 0, sum = 0, half;

	for (int k = 0; k < 4; k++) {
		if (n == 0 || !all_finite(of[k], n) || !(ct_mean(of[k], n) > 0))
			return e;
		mean[k] = ct_mean(of[k], n);
		log_ratio += sign[k] * log(mean[k]);
	}
	e.value = exp(log_ratio);
	if (n < 2)
		return e;
	for (size_t i = 0; i < n; i++) {
		double u = 0;

		for (int k = 0; k < 4; k++)
			u += sign[k] * (of[k][i] / mean[k] - 1);
		sum += u * u;
	}
	half = student(n, level) * sqrt(sum / (double)(n - 1) / (double)n);
	e.lo = exp(log_ratio - half);
	e.hi = exp(log_ratio + half);
	return e;
}

/* ---- one series */

enum { MSER_GROUP = 5, MSER_LEAST = 50 };

/* From the end to the front: mean and sum of squares about it of what is kept grow by
 * one group at a time (Welford, Technometrics 4, 1962; exactly 0 for equal values). */
struct ct_warmup ct_warmup(const double *v, size_t n)
{
	struct ct_warmup out = { 0 };
	size_t groups = n / MSER_GROUP, best = 0;
	double mean = 0.0, squares = 0.0, least = INFINITY;

	if (n < MSER_LEAST || !all_finite(v, n))
		return out;
	for (size_t d = groups; d-- > 0;) {
		double y = ct_mean(v + d * MSER_GROUP, MSER_GROUP), kept = (double)(groups - d), off = y - mean;

		mean += off / kept;
		squares += off * (y - mean);
		if (d <= groups / 2 && squares / (kept * kept) <= least) { /* the earliest of equals */
			least = squares / (kept * kept);
			best = d;
		}
	}
	out.settled = best < groups / 2;
	out.drop = out.settled ? best * MSER_GROUP : 0;
	return out;
}

static double plain_lag1(const double *v, size_t n)
{
	double mean = ct_mean(v, n), cross = 0.0, square = 0.0;

	for (size_t i = 0; i < n; i++) {
		square += (v[i] - mean) * (v[i] - mean);
		if (i + 1 < n)
			cross += (v[i] - mean) * (v[i + 1] - mean);
	}
	return all_equal(v, n) || square == 0.0 ? 0.0 : cross / square;
}

double ct_lag1(const double *v, size_t n)
{
	if (n < 4 || !all_finite(v, n))
		return NAN;
	return 2 * plain_lag1(v, n) - (plain_lag1(v, n / 2) + plain_lag1(v + n / 2, n - n / 2)) / 2;
}

/* Means of k contiguous batches; the first n % k are one longer. */
static void batch(const double *v, size_t n, size_t k, double *out)
{
	for (size_t b = 0, at = 0; b < k; b++) {
		size_t size = n / k + (b < n % k);

		out[b] = all_equal(v + at, size) ? v[at] : ct_mean(v + at, size);
		at += size;
	}
}

struct ct_estimate ct_batch_interval_of(const double *v, size_t n, size_t batches, double level)
{
	struct ct_estimate e = unknown(batches, level);
	double *mean, half;

	if (n == 0 || !all_finite(v, n))
		return e;
	e.value = all_equal(v, n) ? v[0] : ct_mean(v, n);
	if (batches < 2 || batches > n)
		return e;
	mean = ct_calloc(batches, sizeof *mean);
	batch(v, n, batches, mean);
	e.sd = ct_deviation(mean, batches);
	half = student(batches, level) * e.sd / sqrt((double)batches);
	e.lo = e.value - half;
	e.hi = e.value + half;
	free(mean);
	return e;
}

enum { BATCHES_MOST = 30, BATCHES_LEAST = 10, BATCHES_STEP = 5, FINER = 10 };
static const double LAG1_MOST = 0.4;

struct ct_batch_means ct_batch_means(const double *v, size_t n, double level)
{
	struct ct_batch_means out = { .mean = unknown(0, level), .lag1 = NAN };
	double fine[BATCHES_MOST * FINER];

	if (n == 0 || !all_finite(v, n))
		return out;
	out.mean.value = ct_mean(v, n);
	if (n < BATCHES_LEAST * FINER)
		return out;
	for (size_t k = BATCHES_MOST; k >= BATCHES_LEAST; k -= BATCHES_STEP) {
		if (n < k * FINER)
			continue;
		batch(v, n, k * FINER, fine);
		out.batches = k;
		out.lag1 = ct_lag1(fine, k * FINER);
		out.correlated = out.lag1 >= LAG1_MOST;
		if (!out.correlated)
			break;
	}
	out.mean = ct_batch_interval_of(v, n, out.batches, level);
	return out;
}
