/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload.h - the jobs of a run, as any trace reader or generator delivers them.
 *
 * A workload is immutable once ct_workload_seal() accepted it; worlds share it.
 * Jobs stand in order of submission (ties: in the order they were added), so a
 * job's index is also its rank of arrival. Whatever a reader repaired, dropped
 * or noticed is counted in the import report, never silent.
 *
 *	struct ct_workload *w = ct_workload_new();
 *	struct ct_job job = CT_JOB_INIT;
 *	job.id = ct_workload_text(w, "j1", 2);
 *	job.submit_us = 0, job.duration_us = 100 * CT_SECOND;
 *	ct_workload_add(w, &job);
 *	if (ct_workload_seal(w, &err)) ...
 *	ct_workload_free(w); */
#ifndef CT_SIM_WORKLOAD_H
#define CT_SIM_WORKLOAD_H

#include "sim/clock.h"
#include "sim/digest.h"
#include "sim/err.h"
#include "sim/memory.h"
#include "sim/strings.h"

#include <math.h>
#include <stdint.h>

/* One job as submitted. What the trace does not say holds the stated default. */
struct ct_job {
	const char *id;              /* unique in the workload; lives as long as it */
	ct_time submit_us;           /* may be negative only before ct_workload_seal() refuses it */
	ct_time duration_us;         /* solo run time on num_gpus GPUs of speed 1 in the default configuration; > 0 */
	ct_time requested_us;        /* the user's own estimate, -1 = none */
	ct_time deadline_us;         /* absolute, -1 = none; carried, not enforced */
	uint32_t num_gpus;           /* gang size, >= 1; 0 for a job that asks for CPU only (cpu_milli > 0) */
	uint32_t gpu_milli;          /* share of each of them, 1..1000; 1000 = whole GPUs */
	uint32_t min_gpus, max_gpus; /* elastic range; both equal num_gpus for a rigid job */
	uint32_t cpu_milli;          /* of the whole job, 0 = does not matter */
	uint32_t mem_mib;            /* host memory of the whole job, 0 = does not matter */
	uint32_t gpu_mem_mib;        /* on each GPU, 0 = unknown, counts as nothing */
	int32_t priority;            /* higher is more important, 0 = none */
	float sm_frac;               /* SM activity while running alone, 0..1, NaN = unknown */
	uint32_t user, group, model, partition, gpu_type, state; /* numbers in workload->strings, 0 = not given */
	uint32_t line;                                           /* of the source file, 0 = none */
};
#define CT_JOB_INIT                                                                                                    \
	{                                                                                                              \
		.requested_us = -1, .deadline_us = -1, .num_gpus = 1, .gpu_milli = 1000, .min_gpus = 0, .max_gpus = 0, \
		.sm_frac = NAN                                                                                         \
	}

/* A column of the trace that the simulator does not interpret: carried through
 * to the output, and usable by `policy.order_by`. */
struct ct_extra_column {
	const char *name;
	uint32_t *value; /* per job, a number in workload->strings */
	size_t cap;
};

/* A cleaning rule that fired. Names are part of the interface (README). */
struct ct_rule_count {
	const char *rule;    /* "unsorted_submit", "dropped_zero_duration", ... */
	const char *meaning; /* one line for people */
	uint64_t rows;
	int dropped; /* 1: the rows are not in the workload; 0: kept, repaired or only noticed */
};
enum { CT_RULES = 48 };

struct ct_import_report {
	const char *source;  /* file name as given */
	const char *format;  /* "csv", "cotenant-hdf5", ... */
	const char *origin;  /* what a canonical file was made from; NULL: the source is the original */
	const char *history; /* how it was made: a line each for what happened to it, NULL = nothing */
	const char *header;  /* the original's own comment lines (SWF), NULL = none */
	uint64_t rows_read, rows_kept;
	struct ct_rule_count rules[CT_RULES];
	unsigned n_rules;
};

struct ct_workload {
	struct ct_arena arena;
	struct ct_strings strings;
	struct ct_job *jobs;
	size_t n, cap;
	struct ct_extra_column *columns;
	size_t n_columns, cap_columns;
	struct ct_import_report report;
	char digest[CT_DIGEST_TEXT]; /* of the content, set by seal: the same for any file form */
	int sealed;
};

struct ct_workload *ct_workload_new(void);
void ct_workload_free(struct ct_workload *w);
/* Text that lives as long as the workload. */
const char *ct_workload_text(struct ct_workload *w, const char *s, size_t n);
/* Appends a copy. min_gpus/max_gpus of 0 become num_gpus. */
uint32_t ct_workload_add(struct ct_workload *w, const struct ct_job *job);
/* The column's index; adding the same name twice gives the same column. */
size_t ct_workload_column(struct ct_workload *w, const char *name);
/* Value of an extra column for a job that was already added. */
void ct_workload_set_extra(struct ct_workload *w, size_t column, uint32_t job, const char *text, size_t n);
/* Counts `rows` under a rule; `rule` and `meaning` must be string constants. */
void ct_workload_count(struct ct_workload *w, const char *rule, const char *meaning, uint64_t rows, int dropped);

/* Adds a line to report.history; allowed also when sealed, it is no content. */
__attribute__((format(printf, 2, 3))) void ct_workload_history(struct ct_workload *w, const char *fmt, ...);
/* A new workload, not sealed, with the strings (under the same numbers), extra
 * columns' names and report of `w`, but no jobs. */
struct ct_workload *ct_workload_like(const struct ct_workload *w);

/* Sorts by submission time (stable, a move is counted as "unsorted_submit"),
 * checks what every reader must guarantee (positive durations and sizes, ranges,
 * unique ids, the sum of all work far from overflow) and computes the digest.
 * CT_ETRACE names the line. Call once; afterwards nothing may change. */
int ct_workload_seal(struct ct_workload *w, struct ct_err *err);

/* A new sealed workload with every submission time t replaced by
 * first + (t - first) * factor, rounded to microseconds. factor > 0. */
int ct_workload_stretch(const struct ct_workload *w, double factor, struct ct_workload **out, struct ct_err *err);

/* A new sealed workload whose job i runs on as few as min_gpus[i] GPUs (0: as in `w`).
 * It keeps the digest of `w`: the trace is the same, it is only known better what its
 * jobs can be turned into. */
int ct_workload_elastic(const struct ct_workload *w, const uint32_t *min_gpus, struct ct_workload **out,
			struct ct_err *err);

/* Work asked for: sum of duration x GPUs x share, in GPU-seconds. */
double ct_workload_gpu_seconds(const struct ct_workload *w);
/* Offered load: that work / (gpus x (last - first submission)). Infinite when
 * all jobs are submitted at once, 0 for an empty workload. */
double ct_workload_offered_load(const struct ct_workload *w, double gpus);

#endif
