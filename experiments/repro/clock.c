/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/sources.h"

#include "calib/predictor.h"
#include "experiments/data_path.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* The least of a few rounds, each long enough for the clock: what else runs on the machine only adds. */
enum { ROUNDS = 5, PREDICTIONS_A_ROUND = 20000 };

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Milliseconds of `n` predictions asked for together. */
static double time_of(const struct ct_predictor *p, uint32_t profiles, size_t n)
{
	struct ct_config_pair *pair = ct_calloc(n, sizeof *pair);
	double *out = ct_calloc(n, sizeof *out), best = INFINITY;
	size_t calls = PREDICTIONS_A_ROUND / n + 1;

	for (size_t i = 0; i < n; i++) /* a permutation: neighbours are far apart */
		pair[i] = (struct ct_config_pair){ (uint32_t)(i * 7919 % profiles), (uint32_t)(i * 104729 % profiles) };
	for (int round = 0; round < ROUNDS; round++) {
		double from = cpu_s();

		for (size_t k = 0; k < calls; k++)
			p->slowdown(p, pair, n, out);
		best = fmin(best, 1e3 * (cpu_s() - from) / (double)calls);
	}
	free(pair);
	free(out);
	return best;
}

int ct_repro_clock(const struct ct_repro_sources *s, struct ct_repro *rows, struct ct_err *err)
{
	struct ct_predictor *p = NULL;
	struct ct_profiles *set = NULL;
	const char *dir, *file;
	int rc = 0;

	(void)s;
	for (size_t i = 0; i < rows->n && !rc; i++) {
		struct ct_repro_row *r = &rows->row[i];

		if (r->figure->from != CT_FROM_CLOCK)
			continue;
		if (!set) {
			rc = ct_data_path("data:calib/a100-40gb", &rows->arena, &dir, err);
			if (!rc)
				rc = ct_data_path("data:calib/a100-40gb/iac.h5", &rows->arena, &file, err);
			if (!rc)
				rc = ct_profiles_load(dir, &set, err);
			if (!rc)
				rc = ct_predictor_load(file, set, &p, err);
		}
		if (!rc)
			r->ours = r->figure->scale * time_of(p, set->n_profiles, (size_t)r->figure->count);
	}
	if (p)
		p->free(p);
	ct_profiles_free(set);
	return rc;
}
