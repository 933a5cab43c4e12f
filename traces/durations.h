/* SPDX-License-Identifier: GPL-3.0-or-later */
/* durations.h - how long a job runs, for traces that say only what it runs: a CSV of
 * model, num_gpus and either
 *	duration      seconds of the whole job
 *	steps_per_s   by which the job's own number of steps is divided
 * (a file has one of the two). Exact matches only: nothing is interpolated. Internal
 * to traces/. */
#ifndef CT_TRACES_DURATIONS_H
#define CT_TRACES_DURATIONS_H

#include "sim/clock.h"
#include "sim/err.h"
#include "traces/reader_options.h"

struct ct_durations;

struct ct_durations_options {
	const char *path;
};
#define CT_DURATIONS_OPT                                                                                         \
	{                                                                                                        \
		"durations", CT_TRACE_OPT_TEXT, offsetof(struct ct_durations_options, path), "", 0, 0, NULL, "", \
		    "CSV with model,num_gpus,duration or model,num_gpus,steps_per_s; the trace has no durations" \
	}

/* CT_ECONFIG: no path was given, or the file is not such a table; CT_EIO. */
int ct_durations_load(const char *path, const char *format, struct ct_durations **out, struct ct_err *err);
void ct_durations_free(struct ct_durations *d);
/* Steps are wanted by the table. */
int ct_durations_by_steps(const struct ct_durations *d);
/* 0 and *out, or -1: no such row. *out may lie outside the limits of a duration. */
int ct_durations_find(const struct ct_durations *d, const char *model, uint32_t num_gpus, double steps, double *out);

#endif
