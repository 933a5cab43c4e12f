/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slowdown.h - the truth about two jobs on one GPU: the weighted-stretch model.
 *
 *	a_r = sat(u_r / c_r)            demand of a job on resource r, sat(x) = x / (1 + x^8)^(1/8)
 *	omega = clip(w_j / w_i, 1/k, k) Phi(L) = (1 + L^p)^(1/p)
 *	z_r = a_ir (Phi(a_ir + omega a_jr) / Phi(a_ir) - 1)
 *	S(i|j) = 1 + m + (sum_r (z_r + guard)^q)^(1/q)
 *
 * Resources: C compute (a mix of SM and tensor activity), D DRAM bandwidth, O
 * occupancy, H host path. S is how many times slower i runs beside j; the speed it
 * keeps is 1 / S. Properties: S >= 1 + m; S = 1 + m beside an idle partner (guard
 * 0); S grows with the partner's demand; swapping the jobs swaps the results.
 * Memory is no part of it: that is an admission rule, ct_slowdown_fits(). */
#ifndef CT_CALIB_SLOWDOWN_H
#define CT_CALIB_SLOWDOWN_H

#include "calib/profiles.h"

enum { CT_RESOURCE_COMPUTE, CT_RESOURCE_DRAM, CT_RESOURCE_OCCUPANCY, CT_RESOURCE_HOST, CT_RESOURCES };

struct ct_slowdown_params {
	double m, beta, c[CT_RESOURCES], p, q;
	double omega_clip, soft; /* bound of omega; the exponent of sat */
	double guard;            /* added to each z before the norm: 0, or 1e-9 where a derivative at 0 is wanted */
};

/* A job as the model sees it. */
struct ct_demand {
	double a[CT_RESOURCES];
	double weight;
};

/* The values that were published with the model (fit to the 36 decays of the paper's Table 6). */
struct ct_slowdown_params ct_slowdown_published(void);
double ct_slowdown_sat(double x, double exponent);
struct ct_demand ct_slowdown_demand(const struct ct_slowdown_params *s, const struct ct_profile *p);
/* S of `self` beside `other`, over the first `resources` of them. */
double ct_slowdown_of(const struct ct_slowdown_params *s, const struct ct_demand *self, const struct ct_demand *other,
		      int resources);
/* The same from two profiles. */
double ct_slowdown(const struct ct_slowdown_params *s, const struct ct_profile *self, const struct ct_profile *other);

/* Whether two configurations share a GPU: sum of memory <= gpu - reserve. */
int ct_slowdown_fits(const struct ct_workload_knobs *k, const struct ct_profile *a, const struct ct_profile *b);

/* Log-normal residuals by type of the pair, frozen for each ordered pair of configurations. */
enum ct_coloc { CT_COLOC_TT, CT_COLOC_TI, CT_COLOC_II, CT_COLOCS };
enum ct_coloc ct_coloc_type(const struct ct_profile *a, const struct ct_profile *b);

#endif
