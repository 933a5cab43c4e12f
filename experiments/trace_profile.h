/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_profile.h - the shape of a trace: when jobs arrive, how many GPUs they hold
 * at once when each runs at its own time, and how sizes and durations spread. For
 * `cotenant trace info` as text, JSON and CSV; the CSV files are what the scripts
 * plots/trace_*.gp draw.
 *
 * A job's own time is its submission plus the wait that the trace itself reports
 * (column "wait_s"), or its submission where there is none. */
#ifndef CT_EXPERIMENTS_TRACE_PROFILE_H
#define CT_EXPERIMENTS_TRACE_PROFILE_H

#include "sim/err.h"
#include "sim/json.h"
#include "sim/workload.h"

#include <stdio.h>

enum { CT_PROFILE_BINS = 480 };

struct ct_trace_bin {
	double gpus, jobs; /* held and running, mean over the bin */
	uint64_t arrivals;
};

struct ct_trace_profile {
	uint64_t by_hour[24];   /* arrivals; hour 0 begins at time 0 and every 86,400 s after */
	double peak_gpus;       /* most that are held at one instant */
	double peak_s;          /* first such instant */
	double mean_gpus;       /* over [first, last) */
	double first_s, last_s; /* first submission, last submission or end of a run before it */
	struct ct_trace_bin bin[CT_PROFILE_BINS];
};

/* `w` is sealed and not empty. */
void ct_trace_profile(const struct ct_workload *w, struct ct_trace_profile *out);
void ct_trace_profile_print(const struct ct_trace_profile *p, FILE *to);
void ct_trace_profile_json(const struct ct_trace_profile *p, struct ct_json *j);
/* demand.csv, arrivals.csv, sizes.csv and durations.csv in a directory that is made
 * when it is not there. CT_EIO. */
int ct_trace_profile_csv(const struct ct_trace_profile *p, const struct ct_workload *w, const char *directory,
			 struct ct_err *err);

#endif
