/* SPDX-License-Identifier: GPL-3.0-or-later */
/* statistics.h - what may be said about a mean, a quantile or a difference when
 * there are only so many runs. Arrays in, a struct out; nothing is kept.
 *
 *	double a[10], b[10];                       // mean JCT of two policies, seed by seed
 *	struct ct_estimate m = ct_mean_interval(a, 10, 0.95);
 *	struct ct_paired p = ct_paired_compare(a, b, 10, 0.95);
 *	if (p.verdict == CT_B_LOWER)               // only where the interval says so
 *		printf("%g [%g, %g]\n", p.mean.value, p.mean.lo, p.mean.hi);
 *	size_t seeds = ct_runs_needed(p.mean.sd, 60.0, 0.95);
 *
 * Common rules. `level` is the wanted confidence, e.g. 0.95. What cannot be said
 * is NaN: an interval of too few values, and everything when one value is NaN or
 * infinite. Intervals have two sides. The values must be independent of
 * each other (one per seed), except those of ct_batch_means() and ct_warmup(),
 * which are for one long run. An interval holds for one quantity; of twenty
 * independent true nulls at level 0.95 one is missed on average. Whoever looks at
 * many and picks wants a higher level (Bonferroni: 1 - 0.05 / number of looks).
 *
 * Fairness (Jain's index, finish-time fairness) stands in experiments/fairness.h.
 *
 * Sources: [L] Law, Simulation Modeling and Analysis, 5th ed. (2015); [HM] Hahn and
 * Meeker, Statistical Intervals (1991); others at their function. */
#ifndef CT_EXPERIMENTS_STATISTICS_H
#define CT_EXPERIMENTS_STATISTICS_H

#include <stddef.h>

struct ct_estimate {
	double value;  /* the point estimate */
	double sd;     /* sample standard deviation (n - 1), NaN where it has no meaning */
	double lo, hi; /* NaN = cannot be said */
	double level;  /* what [lo, hi] reaches: the wanted level; of quantiles the exact one, at least that */
	size_t n;      /* values it rests on */
};

/* Mean m and its Student-t interval: m +- t(n-1, (1+level)/2) s / sqrt(n) ([L] eq. 4.12).
 * Exact for normal values; means over the thousands of jobs of a run are close to
 * that. Needs n >= 2. */
struct ct_estimate ct_mean_interval(const double *v, size_t n, double level);

/* Where the next single run will fall: m +- t(n-1, (1+level)/2) s sqrt(1 + 1/n)
 * ([HM] section 4.7). Rests on normality much more than the interval of the mean. */
struct ct_estimate ct_prediction_interval(const double *v, size_t n, double level);

/* The q-quantile, 0 < q < 1: type 7, as in sim/metrics.h. The interval is free of any
 * distribution: of all pairs of order statistics [v(l), v(u)] with
 *	P(l <= Binomial(n, q) <= u - 1) >= level
 * the one with the fewest ranks between, of these the likeliest, of equals the lower
 * ([HM] section 5.2). At 0.95 the median needs n >= 6, the 95 % quantile n >= 59.
 * Of independent values only; jobs of one run are not. */
struct ct_estimate ct_quantile_interval(const double *v, size_t n, double q, double level);

/* How many runs make the half-width of the mean's interval at most `half_width`,
 * if the deviation stays `sd`: the least i >= 2 with t(i-1) sd / sqrt(i) <= half_width ([L]
 * section 9.4.1). 0 = no number does (half_width <= 0 with sd > 0, or NaN). The sd of
 * a few runs is itself uncertain: of 5 runs by a factor of about 2. */
size_t ct_runs_needed(double sd, double half_width, double level);

/* A truth that is not known: v[d * seeds + s] is run s under draw d of it, the same seeds
 * under every draw. With the mean m over all, the variance B^2 of the draws' means and the
 * variance W^2 of the seeds' means (each over the other), E^2 of the runs of one draw (mean
 * over draws), and t of draws - 1 degrees of freedom:
 *	mean    m +- t sqrt(B^2 (1 + 1/draws) + W^2 / seeds)    the mean over all seeds under the
 *		one truth that holds, wherever that lies
 *	single  m +- t sqrt(B^2 (1 + 1/draws) + E^2 (1 + 1/seeds))   the next run under it
 * (two random effects, both normal). B^2 has 1/seeds of what draw and seed do together in
 * it: a little too wide. Needs 2 draws and 2 seeds. */
struct ct_pooled {
	struct ct_estimate mean, single; /* sd: the root above */
	double between, shared, within;  /* B, W, E */
	double lo, hi;                   /* quantiles of the draws' means, (1 -+ level) / 2 */
};
struct ct_pooled ct_pooled_intervals(const double *v, size_t draws, size_t seeds, double level);

/* ---- two systems under the same seeds (common random numbers): a[i] and b[i] saw
 * the same jobs and the same random draws, so their difference is far less noisy
 * than either ([L] sections 10.2.1 and 11.2). All differences are b - a. */
enum ct_verdict {
	CT_UNDECIDED, /* too few pairs, or not numbers */
	CT_NO_DIFFERENCE_SHOWN,
	CT_A_LOWER, /* the whole interval of the mean difference is above 0 */
	CT_B_LOWER,
};
/* "too few runs", "no difference shown", "a lower", "b lower". */
const char *ct_verdict_text(enum ct_verdict v);

struct ct_paired {
	size_t n;                  /* pairs */
	double a, b;               /* means */
	struct ct_estimate mean;   /* of the differences, Student's t; mean.sd is theirs */
	struct ct_estimate median; /* of the differences, by order statistics (the sign test turned round): no
				    * distribution assumed, not even symmetry; needs 6 pairs at 0.95 */
	double effect;             /* mean.value / mean.sd, Cohen's d_z: 0.2 small, 0.8 large; 0 when both are 0,
				    * NaN when only the deviation is */
	size_t n_lower;            /* pairs with b < a, and with equal values */
	size_t n_equal;
	enum ct_verdict verdict; /* by the interval of the mean; an end that is 0 decides nothing */
	/* By that of the median. The two may differ: a few large differences hide a steady
	 * small one from the mean, and may carry the mean alone. */
	enum ct_verdict median_verdict;
};
struct ct_paired ct_paired_compare(const double *a, const double *b, size_t n, double level);

/* mean(b) / mean(a) over pairs, by Fieller's theorem (Fieller, J. R. Stat. Soc. B 16,
 * 1954): all r that Student's t test of mean(b - r a) = 0 does not refuse,
 *	(mb - r ma)^2 <= t^2 (s_bb - 2 r s_ab + r^2 s_aa) / n.
 * Exact for normal pairs, where the delta method is too narrow for few. When mean(a)
 * cannot be told from 0 that set is unbounded: lo and hi are NaN. sd is NaN. */
struct ct_estimate ct_ratio_interval(const double *a, const double *b, size_t n, double level);

/* (mean(d) / mean(c)) / (mean(b) / mean(a)): what a ratio b/a becomes under a change, when all
 * four saw the same draws. Positive values; Student's t for the logarithm, linear in the
 * four means (delta method). sd is NaN. */
struct ct_estimate ct_double_ratio_interval(const double *a, const double *b, const double *c, const double *d,
					    size_t n, double level);

/* ---- one long run in steady state */

/* Warm-up by MSER-5: the series is averaged over groups of five; cut where
 *	(1 / (k-d)^2) sum_{j>d} (y_j - mean_{j>d} y)^2
 * is least (White, Simulation 69, 1997; White, Cobb and Spratt, WSC 2000). Looked for in the
 * first half; a least value at its end says that the run is too short to tell. */
struct ct_warmup {
	size_t drop; /* so many values at the front, a multiple of 5; 0 when not settled */
	int settled; /* 0: no warm-up found within the first half, or fewer than 50 values */
};
struct ct_warmup ct_warmup(const double *v, size_t n);

/* The mean of a correlated series by batch means: contiguous batches whose sizes
 * differ by one at most, Student's t over their means ([L] section 9.5.3).
 *
 * How many batches: the largest of 30, 25, 20, 15, 10 (Schmeiser, Oper. Res. 30, 1982: beyond 30
 * little is gained) for which neighbours can be taken as independent. Correlation of
 * 30 means is too noisy to be judged by itself, so it is judged on ten times as many
 * finer batches, with the jackknifed estimate of Law and Carson (Oper. Res. 27, 1979): below
 * 0.4 there, at most about 0.05 is left between the batches. When even 10 fail, the
 * run is too short: `correlated` is set, and the interval is too narrow.
 * Below 100 values there is no interval. */
struct ct_batch_means {
	struct ct_estimate mean; /* n = batches; sd that of the batch means */
	size_t batches;
	double lag1;    /* of the finer batches; 0 when the series is constant */
	int correlated; /* warn: the interval is too narrow */
};
struct ct_batch_means ct_batch_means(const double *v, size_t n, double level);
/* With a given number of batches, 2 <= batches <= n, and no check. */
struct ct_estimate ct_batch_interval_of(const double *v, size_t n, size_t batches, double level);
/* Lag-1 autocorrelation, jackknifed: 2 r - (r of the first half + r of the second) / 2. NaN
 * below 4 values; 0 when the series is constant. */
double ct_lag1(const double *v, size_t n);

/* Mean and sample standard deviation; NaN of 0, and of fewer than 2 values. */
double ct_mean(const double *v, size_t n);
double ct_deviation(const double *v, size_t n);

#endif
