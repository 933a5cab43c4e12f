/* SPDX-License-Identifier: GPL-3.0-or-later */
/* repro.h - published figures beside ours, and the recorded state they are held to.
 *
 * A figure of runs is a mean over seeds, or a ratio of two means under common arrivals;
 * [mean_lo, mean_hi] is the 95 % interval of that (Student; Fieller for ratios), [lo, hi] where
 * 95 % of single runs fall, since the paper's figures are of one: of the seeds'
 * values, or of the logarithms of their ratios. It agrees when the published value
 * lies in [lo, hi]. Figures that no study makes: experiments/repro/sources.h.
 *
 * The recorded state is a CSV: id,seeds,value,agrees. A check runs the same seeds and
 * wants the same agreement, and values equal to 1e-9 of their size. */
#ifndef CT_EXPERIMENTS_REPRO_REPRO_H
#define CT_EXPERIMENTS_REPRO_REPRO_H

#include "experiments/repro/paper.h"
#include "experiments/study.h"

struct ct_repro_row {
	const struct ct_paper_figure *figure;
	size_t seeds;
	double ours, mean_lo, mean_hi, lo, hi;
	int agrees;              /* -1: not produced */
	int in_aim;              /* -1: no aim */
	const char *source;      /* of a trace's figure: of what trace; NULL: of runs */
	int synthetic;           /* of a generated one: nothing to agree with, it was fitted to such figures */
	double ceiling;          /* of a bounded ratio; NaN: not computed */
	double fits_lo, fits_hi; /* range over scenarios that fit equally well; NaN: not computed */
};

struct ct_repro {
	struct ct_repro_row *row;
	size_t n, cap;
	struct ct_arena arena; /* of figures that no file lists, and of sources */
};
void ct_repro_fini(struct ct_repro *r);
/* A further row, of which nothing is known yet. */
struct ct_repro_row *ct_repro_add(struct ct_repro *r, const struct ct_paper_figure *f);

/* Asks the study for what figures of `table` take ("all": of every table). */
void ct_repro_want(const struct ct_paper *p, struct ct_study *s, const char *table, unsigned seeds);
/* After the study has run. */
void ct_repro_rows(const struct ct_paper *p, const struct ct_study *s, const char *table, struct ct_repro *out);
/* Asks for the further seeds that figures of role fit and predict are expected to take until half of
 * the 95 % interval of their mean is at most `width` of it, no more than `most` seeds each; returns
 * how many figures take more. Run the study and read the rows anew after it. */
size_t ct_repro_widen(struct ct_study *s, const struct ct_repro *rows, double width, unsigned most);
/* Tables 6 and 7, which take no runs: decays of the truth as runs have it without its residual, and
 * cross-validated errors of the predictors. `table`: "table6", "table7", or both for "all". */
int ct_repro_calibration(const char *table, struct ct_repro *out, struct ct_err *err);
/* What a row of the metric backlog_growth says of a steady state, by the interval of its mean; NULL of
 * other rows, and where there is no interval. */
const char *ct_repro_stability(const struct ct_repro_row *r);
/* Sets in_aim: does `ours` meet the figure's aim, where there is one? */
void ct_repro_aim(struct ct_repro_row *r);
/* Sets agrees and in_aim from the rest. */
void ct_repro_judge(struct ct_repro_row *r);
/* Known name of a table, or "all"? */
int ct_repro_knows(const struct ct_paper *p, const char *table);

/* Is it kept in the recorded state? Wall clock figures are not. */
int ct_repro_is_recorded(const struct ct_repro_row *r);

struct ct_recorded {
	struct ct_recorded_row {
		const char *id;
		size_t seeds;
		double value;
		int agrees;
	} * row;
	size_t n, cap;
	struct ct_arena arena;
};
/* CT_EIO, CT_ECONFIG with file:line:column. */
int ct_recorded_load(const char *path, struct ct_recorded *out, struct ct_err *err);
void ct_recorded_fini(struct ct_recorded *r);
const struct ct_recorded_row *ct_recorded_find(const struct ct_recorded *r, const char *id);
/* What differs, one line each on `to`; returns how many rows do. Rows that are not
 * recorded differ; recorded rows that were not run do not. */
size_t ct_recorded_compare(const struct ct_recorded *r, const struct ct_repro *now, FILE *to);
/* Rows of `now` replace recorded ones of the same id. */
int ct_recorded_write(const struct ct_recorded *r, const struct ct_repro *now, const char *path, struct ct_err *err);

#endif
