/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the fields is parse_trace()'s in Gavel's scheduler/utils.py. A file in
 * the older form with seven fields is not recognised: its order is not documented. */
#include "traces/durations.h"
#include "traces/formats.h"
#include "traces/rows.h"

#include <math.h>
#include <string.h>

enum { TYPE, COMMAND, FOLDER, STEPS_ARG, NEEDS_DATA, STEPS, SCALE, WEIGHT, SLO, ARRIVAL, COLUMNS };
static const struct ct_rows_column columns[COLUMNS] = {
	[TYPE] = { "job_type", 1 },
	[COMMAND] = { "command", 1 },
	[FOLDER] = { "working_directory", 1 },
	[STEPS_ARG] = { "num_steps_arg", 1 },
	[NEEDS_DATA] = { "needs_data_dir", 1 },
	[STEPS] = { "total_steps", 1 },
	[SCALE] = { "scale_factor", 1 },
	[WEIGHT] = { "priority_weight", 1 },
	[SLO] = { "SLO", 1 },
	[ARRIVAL] = { "arrival_time", 1 },
};

const struct ct_trace_opt ct_gavel_opts[] = { CT_DURATIONS_OPT, { .name = NULL } };

/* Nine tabs in the first line, the fifth field a 0 or 1. */
int ct_gavel_recognise(const char *head, size_t n)
{
	const char *p = head;
	int tabs = 0, flag = 0;

	for (; n && *p && *p != '\n' && *p != '\r'; p++) {
		if (*p != '\t')
			continue;
		tabs++;
		flag |= tabs == 4 && (p[1] == '0' || p[1] == '1') && p[2] == '\t';
	}
	return tabs == COLUMNS - 1 && flag;
}

static void find_duration(struct ct_rows *r, const struct ct_durations *d, double steps)
{
	double seconds;

	if (r->bad)
		return;
	if (ct_durations_find(d, r->cell[TYPE].s, r->job.num_gpus, steps, &seconds))
		ct_rows_bad(r, TYPE, "dropped_no_duration", "the table of durations has no such model and size",
			    "no duration for model '%.100s' on %u GPUs", r->cell[TYPE].s, r->job.num_gpus);
	else if (seconds * 1e6 < 1 || seconds * 1e6 > (double)CT_DURATION_LIMIT)
		ct_rows_bad(r, STEPS, "dropped_out_of_range", "a value outside its limits",
			    "a duration of %g s is outside the limits", seconds);
	else
		r->job.duration_us = (ct_time)llround(seconds * 1e6);
}

static int read_all(struct ct_rows *r, const struct ct_durations *d)
{
	while (ct_rows_next(r)) {
		double steps;
		uint32_t job;

		r->job.model = ct_rows_string(r, TYPE);
		steps = ct_rows_number(r, STEPS, 0, 1e18);
		r->job.num_gpus = (uint32_t)ct_rows_whole(r, SCALE, 1, UINT32_MAX);
		r->job.submit_us = ct_rows_time(r, ARRIVAL);
		find_duration(r, d, steps);
		job = ct_rows_keep(r);
		ct_rows_carry(r, job, "total_steps", STEPS);
		ct_rows_carry(r, job, "priority_weight", WEIGHT);
		ct_rows_carry(r, job, "SLO", SLO);
	}
	return ct_rows_close(r);
}

int ct_gavel_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		  struct ct_err *err)
{
	struct ct_durations_options x;
	struct ct_durations *d = NULL;
	struct ct_rows r;
	int rc;

	CT_TRY(ct_trace_opts_read(ct_gavel_opts, "gavel", o, &x, err));
	CT_TRY(ct_durations_load(x.path, "gavel", &d, err));
	rc = ct_rows_open_plain(&r, s, member, '\t', columns, COLUMNS, o, w, err);
	if (!rc)
		rc = read_all(&r, d);
	ct_durations_free(d);
	return rc;
}
