/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fits.h - the scenarios that fit equally well (`cotenant calib scenario --out`),
 * so that a prediction can be given as a range over them. */
#ifndef CT_EXPERIMENTS_REPRO_FITS_H
#define CT_EXPERIMENTS_REPRO_FITS_H

#include "experiments/repro/repro.h"
#include "experiments/repro/scenario_fit.h"

struct ct_fits {
	double (*x)[CT_SCENARIO_UNKNOWNS];
	size_t n, cap;
};
/* The kept vectors of the file; more than `most` are thinned evenly, the best first. */
int ct_fits_load(const char *path, size_t most, struct ct_fits *out, struct ct_err *err);
void ct_fits_fini(struct ct_fits *f);

/* Runs the table under each of them; lo[i], hi[i]: least and largest of row i's `ours`,
 * rows as in ct_repro_rows(). */
int ct_fits_range(const struct ct_fits *f, const struct ct_paper *p, const char *scenario, const char *table,
		  unsigned seeds, const struct ct_study_run *how, double *lo, double *hi, struct ct_err *err);

#endif
