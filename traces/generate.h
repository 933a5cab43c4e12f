/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate.h - workloads of any size that look like a public trace.
 *
 * A generator is one file of this folder, one file of constants (constants.h) and
 * one row of the table in generate.c. Same options and seed, same workload: every
 * group and every job has its own random stream (sim/random.h).
 *
 *	struct ct_generate_options o = { .seed = 1, .jobs = 100000, .constants = "traces/data/pai.csv" };
 *	CT_TRY(ct_generate(ct_generator_find("pai"), &o, &work, &err));   // sealed
 *	struct ct_marginals m = { 0 };
 *	CT_TRY(ct_generate_check(ct_generator_find("pai"), &o, work, &m, &err));
 *	for (size_t i = 0; i < m.n; i++) ... m.row[i].distance <= m.row[i].limit ...
 *	ct_marginals_fini(&m); */
#ifndef CT_TRACES_GENERATE_H
#define CT_TRACES_GENERATE_H

#include "sim/err.h"
#include "sim/workload.h"
#include "traces/constants.h"

#include <stddef.h>
#include <stdint.h>

struct ct_generate_options {
	uint64_t seed;
	uint64_t jobs;         /* 0: as many as the arrival rate gives in `days` */
	double days;           /* 0: as long as the arrival rate takes for `jobs` */
	double gpus;           /* cluster that the arrival rate is scaled to; 0: the trace's own */
	int failed;            /* also jobs that fail in the trace, state "Failed" */
	const char *constants; /* path of the generator's file of constants */
	const char *other;     /* of a second one, for generators that mix two */
	const char *assign;    /* weights by which jobs get workload names (traces/assign.h); NULL: none */
	double share;          /* of the work from the first, where two are mixed; 0: CT_MIXED_SHARE */
	uint64_t node_gpus;    /* mixed: no gang of GPU shares is larger; 0: as large as it comes */
	double load;           /* offered load of `gpus`, where it can be chosen; 0: CT_MIXED_LOAD */
	double spread;         /* testbed: sd of the logarithm of run times; 0: the constants' */
	double tilt;           /* testbed: added to the exponent that favours large GPU counts */
	const char *change;    /* of the constants (ct_constants_change()); NULL: none. Not of mixed traces */
};
#define CT_MIXED_SHARE 0.7
#define CT_MIXED_LOAD  1.0

/* One property of the recipe, and how far a workload is from it. */
struct ct_marginal {
	const char *name;
	const char *measure; /* "KS", "max |share|", "relative", "absolute" */
	double target, got;  /* of a scalar, or the medians; NaN when there is no such number */
	double distance, limit;
};
struct ct_marginals {
	struct ct_arena arena; /* for names that are made */
	struct ct_marginal *row;
	size_t n, cap;
};
void ct_marginals_add(struct ct_marginals *m, const struct ct_marginal *row);
void ct_marginals_fini(struct ct_marginals *m);

/* Options that not every generator takes. */
enum ct_generator_takes { CT_TAKES_LOAD = 1, CT_TAKES_SHARE = 2, CT_TAKES_SHAPE = 4 /* spread and tilt */ };

struct ct_generator {
	const char *name, *summary;
	unsigned takes; /* enum ct_generator_takes; share: with node_gpus */
	/* Below the project's root. NULL: no second one; no names unless they are asked for. */
	const char *constants, *other, *assign;
	/* Adds jobs to `w`, in order of submission; ct_generate() seals it. */
	int (*generate)(const struct ct_generate_options *o, const struct ct_constants *c, struct ct_workload *w,
			struct ct_err *err);
	/* Instead, for what is made of other workloads: gives a sealed one. */
	int (*mix)(const struct ct_generate_options *o, struct ct_workload **out, struct ct_err *err);
	/* Compares with the recipe; NULL: cannot. */
	int (*check)(const struct ct_generate_options *o, const struct ct_constants *c, const struct ct_workload *w,
		     struct ct_marginals *out, struct ct_err *err);
};
const struct ct_generator *ct_generator_at(size_t i); /* NULL past the end */
const struct ct_generator *ct_generator_find(const char *name);

/* CT_ECONFIG: options that do not go together, or constants that are wrong. */
int ct_generate(const struct ct_generator *g, const struct ct_generate_options *o, struct ct_workload **out,
		struct ct_err *err);
int ct_generate_check(const struct ct_generator *g, const struct ct_generate_options *o, const struct ct_workload *w,
		      struct ct_marginals *out, struct ct_err *err);

#endif
