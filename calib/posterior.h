/* SPDX-License-Identifier: GPL-3.0-or-later */
/* posterior.h - how sure the calibration of a folder is: the fit's unknowns and the
 * covariance of their logarithms, and draws from them.
 *
 * Unknowns are those of Table 6's fit (calib/table6.h: globals, multipliers, counters of
 * the workloads that it has), and the counters of the others, of which `unmeasured.csv`
 * (workload,name,log_sd,source) has the prior's width: with no pair measured the prior is
 * the posterior. By Laplace's approximation ln v ~ N(ln of the best fit, covariance), the
 * inverse of J'J of the fit in these units.
 *
 * File, one row for each two unknowns of a covariance other than 0, the later first:
 * workload,name,value,with_workload,with_name,covariance; the row of an unknown with
 * itself comes first and holds its value.
 *
 *	struct ct_posterior p;
 *	CT_TRY(ct_posterior_load("calib/a100-40gb/posterior.csv", &p, &err));
 *	double *x = ct_calloc(p.n, sizeof *x);
 *	CT_TRY(ct_posterior_draw(&p, 3, x, &err));       // value[i] * exp(x[i]) is draw 3
 *	ct_posterior_fini(&p); */
#ifndef CT_CALIB_POSTERIOR_H
#define CT_CALIB_POSTERIOR_H

#include "sim/err.h"

#include <stddef.h>
#include <stdint.h>

struct ct_posterior_unknown {
	char workload[32], name[16]; /* workload "*": a global or a multiplier */
	double value;                /* best fit */
};

struct ct_posterior {
	struct ct_posterior_unknown *unknown;
	double *covariance; /* [n][n], of the logarithms */
	size_t n, cap;
};

/* Fits the folder's table. `blind_host`: the priors of host pressure are not the
 * folder's, which were set after the table had been read, but the share of time in which
 * the GPU of the default configuration is not busy. CT_ECONFIG, CT_EIO. */
int ct_posterior_fit(const char *dir, int blind_host, struct ct_posterior *out, struct ct_err *err);
/* CT_ECONFIG with file:line:column, CT_EIO. */
int ct_posterior_load(const char *path, struct ct_posterior *out, struct ct_err *err);
int ct_posterior_save(const struct ct_posterior *p, const char *path, struct ct_err *err);
void ct_posterior_fini(struct ct_posterior *p);

/* Logarithm of value / best fit of each unknown in draw number `draw`; 0 is the best fit
 * itself. A draw is a function of its number and the posterior alone. CT_ECONFIG: the
 * covariance is none. */
int ct_posterior_draw(const struct ct_posterior *p, uint64_t draw, double *out, struct ct_err *err);

#endif
