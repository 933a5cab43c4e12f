/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper.h - the published figures that runs are compared with, and the runs it takes:
 * experiments/paper/published.yaml, whose head says what its words mean.
 *
 *	struct ct_paper *p;
 *	CT_TRY(ct_paper_load("experiments/paper/published.yaml", &p, &err));
 *	for (size_t i = 0; i < p->n_figures; i++) ... p->figure[i].value ...
 *	ct_paper_free(p); */
#ifndef CT_EXPERIMENTS_REPRO_PAPER_H
#define CT_EXPERIMENTS_REPRO_PAPER_H

#include "experiments/cell.h"
#include "experiments/yaml.h"
#include "sim/err.h"
#include "sim/memory.h"

#include <stddef.h>

enum ct_role { CT_ROLE_FIT, CT_ROLE_PREDICT, CT_ROLE_BESIDE, CT_ROLES };
extern const char *const ct_role_name[CT_ROLES];

/* Where ours comes from; published.yaml says what each wants. */
enum ct_paper_from { CT_FROM_NONE, CT_FROM_RUNS, CT_FROM_PLAN, CT_FROM_CASES, CT_FROM_CLOCK, CT_FROM_TRACE, CT_FROMS };

/* A named list of settings: a variant or a study. A value "*1.5" multiplies what the
 * scenario, or the policy's default, says. A study's `policy.*` are for variants of the
 * policy elastico alone. */
struct ct_paper_change {
	const char *name;
	const char *base; /* of a study: the scenario that it changes; NULL: the one of the paper */
	struct ct_cell_set *set;
	size_t n;
};

/* What a setting "input:NAME" stands for: experiments/inputs.h reads the recipe. */
struct ct_paper_input {
	const char *name;
	const struct ct_yaml *recipe;
};

struct ct_paper_figure {
	const char *id, *table, *unit, *place, *definition, *note; /* "" where not given */
	double value;                                              /* NaN: nothing is published (role beside) */
	double tolerance;                                          /* the aim; NaN = none */
	int relative;                                              /* of the tolerance */
	enum ct_role role;
	enum ct_paper_from from; /* CT_FROM_NONE: not produced, `note` says why */
	int runs, trace;         /* from == CT_FROM_RUNS, CT_FROM_TRACE */
	const char *input,
	    *figure; /* trace: which (experiments/repro/traces.h), and the name of its figure (traces/figures.h) */
	const char *again;           /* the figure whose published value is shown again; NULL: none */
	const char *config;          /* of a case */
	int64_t count;               /* of what the clock measures */
	size_t study, variant, over; /* indices; over SIZE_MAX: no ratio */
	size_t against;              /* a study: ours is the value by that one's; SIZE_MAX: none */
	int metric;                  /* experiments/study.h */
	double scale;
	int invert, complement; /* 1 / ratio; 1 - ratio */
	/* Over studies that differ in a draw of the truth, instead of one study; NULL: one. The
	 * published value beside it is that of the same figure in the tables. */
	const size_t *draw;
	size_t n_draws;
	int spread;          /* the range of the draws' means; 0: truth and seeds together */
	unsigned seeds_most; /* 0: as many as asked for */
	int bounded;         /* of a scheduler that does not reshape jobs: ceiling.h says what it cannot reach */
};

/* What `cotenant plan --static` is asked for the figures from `plan`, see capacity.h. */
struct ct_paper_plan {
	struct ct_cell_set *set; /* of the scenario */
	size_t n_set;
	const char *vary, *shared; /* "gpus=8..512"; a variant */
	int64_t runs;
	/* "mean_slowdown<=1.5,2": asked of both classes; variants that run the two pools. */
	const char **target, **pool;
	size_t n_targets, n_pools;
};

struct ct_paper {
	struct ct_arena arena;
	struct ct_paper_plan plan; /* n_pools = 0: there is none */
	const char *file;          /* that this was read from */
	const char *source;        /* which paper */
	struct ct_paper_change *variant, *study;
	size_t n_variants, n_studies, cap_variants, cap_studies;
	struct ct_paper_input *input;
	size_t n_inputs, cap_inputs;
	struct ct_paper_figure *figure;
	size_t n_figures, cap_figures;
};

/* CT_EIO, or CT_ECONFIG with file:line:column, all errors together. */
int ct_paper_load(const char *path, struct ct_paper **out, struct ct_err *err);
void ct_paper_free(struct ct_paper *p);
struct ct_yaml;
/* The key `plan` of the file, for ct_paper_load(). */
void ct_paper_read_plan(struct ct_paper *p, const struct ct_yaml *y, struct ct_err *err);
/* Index, or SIZE_MAX. */
size_t ct_paper_variant(const struct ct_paper *p, const char *name);
size_t ct_paper_study(const struct ct_paper *p, const char *name);
/* Wherever variant `role` stands, `actor` plays it: other settings under the same name. CT_ECONFIG. */
int ct_paper_play(struct ct_paper *p, const char *role, const char *actor, struct ct_err *err);

#endif
