/* SPDX-License-Identifier: GPL-3.0-or-later */
/* transform.h - a trace made from traces: cut, thinned, sped up, mixed.
 *
 * Each function takes sealed workloads, leaves them alone and gives a new sealed one
 * whose import report says how it was made: a line of report.history for every
 * operation, with its parameters and the digest of what it was made from. The same
 * input and parameters give the same workload. *out is untouched on error
 * (CT_ECONFIG: the parameters do not fit the trace). */
#ifndef CT_TRACES_TRANSFORM_H
#define CT_TRACES_TRANSFORM_H

#include "sim/workload.h"

/* Jobs submitted in [from, to), counted from `from` on when `rebase`. */
int ct_transform_slice(const struct ct_workload *w, ct_time from, ct_time to, int rebase, struct ct_workload **out,
		       struct ct_err *err);

/* Each job, or all jobs of each user (jobs without user: one by one), kept with
 * probability `share`, in (0, 1]. The draw depends on the seed and on the job's id or
 * the user's name alone, so that a longer slice keeps what a shorter one kept. */
enum ct_sample_by { CT_SAMPLE_JOB, CT_SAMPLE_USER };
int ct_transform_sample(const struct ct_workload *w, double share, enum ct_sample_by by, uint64_t seed,
			struct ct_workload **out, struct ct_err *err);
/* Would a sample keep a job of that id? */
int ct_transform_keeps(const char *id, double share, uint64_t seed);

/* The jobs whose own column of that name holds `value`. CT_ECONFIG: no such column. */
int ct_transform_only(const struct ct_workload *w, const char *column, const char *value, struct ct_workload **out,
		      struct ct_err *err);

/* Submissions `rate` times as dense: times divided by it, run times as they are. */
int ct_transform_rate(const struct ct_workload *w, double rate, struct ct_workload **out, struct ct_err *err);
/* The rate that makes the offered load of so many GPUs (sim/workload.h) `load`. */
int ct_transform_load(const struct ct_workload *w, double gpus, double load, struct ct_workload **out,
		      struct ct_err *err);

/* Several traces at once. Each begins at its own first submission's time; ids, users
 * and groups get "LABEL/" in front, a column "trace" names the label. */
struct ct_mix_part {
	const struct ct_workload *w;
	const char *label; /* unique */
	double share;      /* of the work (GPU-seconds) of the mix; shares are relative to their sum */
};
struct ct_mix_options {
	ct_time span; /* the mix's window: parts are cut to [0, span); 0 = the longest part's */
	double gpus;  /* for the load */
	double load;  /* work of the mix / (gpus x span); 0 = as much as the shares allow without repeating a job */
	uint64_t seed;
	int untyped; /* jobs ask for no GPU type: the mix is for a cluster of one */
};
/* A part with more work than its share is thinned: jobs in random order, each kept
 * while it fits. One with less is repeated ("ID#2" at the same time) as often as
 * needed, and the report says so. With a load, submissions are stretched at the end
 * by what rounding to whole jobs left over. */
int ct_transform_mix(const struct ct_mix_part *part, size_t n, const struct ct_mix_options *o, struct ct_workload **out,
		     struct ct_err *err);

/* Several traces at once as they are, without shares: each job at its own time, or at
 * at[job], where -1 leaves it out. Ids and the column "trace" as in a mix; a part with a
 * `kind` gets it in the column "kind". */
struct ct_superposed {
	const struct ct_workload *w;
	const char *label, *kind; /* kind NULL: none */
	const ct_time *at;        /* NULL: all jobs as they are */
};
int ct_transform_superpose(const struct ct_superposed *part, size_t n, struct ct_workload **out, struct ct_err *err);

#endif
