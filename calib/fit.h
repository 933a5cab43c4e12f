/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fit.h - maximum a posteriori fit of the weighted-stretch model to measured
 * pairs, by GSL's trust-region nonlinear least squares.
 *
 * Unknowns are in units of their prior: t = 0 is the prior's centre, t = 1 one
 * prior standard deviation. Residuals are (ln S_model - ln S_measured) / sigma for
 * each decay, and t for each unknown. A model turns t into the globals and the
 * demand of each configuration:
 *
 *	struct ct_fit_model m = ct_fit_globals(...);
 *	struct ct_fit_result r;
 *	CT_TRY(ct_fit(&m, pairs, n, 0.07, NULL, &r, &err));
 *	ct_fit_predict(&m, r.t, &pairs[0], &s_a, &s_b);
 *	ct_fit_result_fini(&r); */
#ifndef CT_CALIB_FIT_H
#define CT_CALIB_FIT_H

#include "calib/slowdown.h"
#include "sim/err.h"

/* One measured pair: slow-down of a beside b, and of b beside a. NaN: not measured. */
struct ct_fit_pair {
	uint32_t a, b;
	double s_a, s_b;
};

struct ct_fit_model {
	const void *ctx;
	uint32_t n;         /* unknowns */
	uint32_t n_configs; /* configurations that pairs speak of */
	int resources;
	void (*expand)(const void *ctx, const double *t, struct ct_slowdown_params *s, struct ct_demand *demand);
	/* The one configuration whose demand an unknown changes, UINT32_MAX = all; NULL: all. */
	uint32_t (*config_of)(const void *ctx, uint32_t unknown);
};

struct ct_fit_result {
	double *t;     /* unknowns */
	double *width; /* posterior / prior standard deviation of each, 1 = nothing learned */
	/* Posterior covariance [unknown][unknown] in the same units, by Laplace's approximation:
	 * the inverse of J'J at the best fit, the priors' rows included. */
	double *covariance;
	double cost;    /* sum of squared residuals, priors included */
	double freedom; /* effective number of unknowns: sum of 1 - width^2 */
	uint32_t iterations;
	int converged;
};

/* `start`: n values, NULL = the priors. CT_ECONFIG when there is nothing to fit. */
int ct_fit(const struct ct_fit_model *m, const struct ct_fit_pair *pair, size_t n_pairs, double sigma,
	   const double *start, struct ct_fit_result *out, struct ct_err *err);
void ct_fit_result_fini(struct ct_fit_result *r);
/* S of both sides of each pair. */
void ct_fit_predict(const struct ct_fit_model *m, const double *t, const struct ct_fit_pair *pair, size_t n_pairs,
		    double (*s)[2]);
/* Each pair predicted by a fit to all others. */
int ct_fit_leave_one_out(const struct ct_fit_model *m, const struct ct_fit_pair *pair, size_t n_pairs, double sigma,
			 const double *start, double (*s)[2], struct ct_err *err);

/* How well `s` says the measured pairs. */
struct ct_fit_score {
	size_t n;          /* decays */
	double mape;       /* of S, % */
	double mae;        /* of the decay 1/S */
	double worst;      /* largest error of a decay */
	double r2;         /* of the decay */
	double spearman;   /* of pair means of decays */
	unsigned confused; /* decays below 0.6 said to be above 0.9, or the reverse */
};
struct ct_fit_score ct_fit_score(const struct ct_fit_pair *pair, size_t n_pairs, const double (*s)[2]);

/* ---- models */

/* Prior of one unknown: value = centre * exp(sd * t). */
struct ct_prior {
	const char *name;
	double centre, sd;
};
enum { CT_GLOBALS = 7 }; /* m, beta, c[4], p */
extern const struct ct_prior ct_global_prior[CT_GLOBALS];
void ct_global_set(struct ct_slowdown_params *s, int which, double value);

/* The seven globals, counters fixed. */
struct ct_fit_counters {
	const struct ct_profile *const *profile; /* of each configuration */
	uint32_t n_configs;
};
struct ct_fit_model ct_fit_globals(const struct ct_fit_counters *c);

/* The globals, and each counter of each configuration by exp(0.25 t) from its
 * measured value: only with many pairs a configuration, and only where it predicts
 * better. */
struct ct_fit_model ct_fit_free_counters(const struct ct_fit_counters *c);

/* No counters: two latent demands (logits, prior sd 3.3) and a weight (log, sd 1) a
 * configuration, after m and p; the resources' stretches add up (q = 1). */
enum { CT_LATENTS = 2, CT_LATENT_GLOBALS = 2 };
struct ct_fit_latent {
	uint32_t n_configs;
};
struct ct_fit_model ct_fit_latents(const struct ct_fit_latent *l);
/* Several seeded starts, the best kept. */
int ct_fit_latents_best(const struct ct_fit_latent *l, const struct ct_fit_pair *pair, size_t n_pairs, double sigma,
			int starts, uint64_t seed, struct ct_fit_result *out, struct ct_err *err);

/* ---- trivial predictors, to stand beside every hold-out error */

/* The geometric mean of all S of the training pairs. */
void ct_fit_null(const struct ct_fit_pair *train, size_t n_train, const struct ct_fit_pair *test, size_t n_test,
		 double (*s)[2]);
/* ln S = a_i + b_j by least squares (alternating means until settled). */
void ct_fit_additive(const struct ct_fit_pair *train, size_t n_train, uint32_t n_configs,
		     const struct ct_fit_pair *test, size_t n_test, double (*s)[2]);

#endif
