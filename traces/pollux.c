/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/durations.h"
#include "traces/formats.h"
#include "traces/rows.h"

#include <math.h>

enum { NAME, TIME, APPLICATION, GPUS, COLUMNS };
static const struct ct_rows_column columns[COLUMNS] = {
	[NAME] = { "name", 1 },
	[TIME] = { "time", 1 },
	[APPLICATION] = { "application", 1 },
	[GPUS] = { "num_replicas", 1 },
};

const struct ct_trace_opt ct_pollux_opts[] = { CT_DURATIONS_OPT, { .name = NULL } };

int ct_pollux_recognise(const char *head, size_t n)
{
	return n && ct_head_has_fields(head, "name,time,application,num_replicas", ',');
}

static void find_duration(struct ct_rows *r, const struct ct_durations *d)
{
	double seconds;

	if (r->bad)
		return;
	if (ct_durations_find(d, r->cell[APPLICATION].s, r->job.num_gpus, 0, &seconds))
		ct_rows_bad(r, APPLICATION, "dropped_no_duration", "the table of durations has no such model and size",
			    "no duration for model '%.100s' on %u GPUs", r->cell[APPLICATION].s, r->job.num_gpus);
	else if (seconds * 1e6 < 1 || seconds * 1e6 > (double)CT_DURATION_LIMIT)
		ct_rows_bad(r, APPLICATION, "dropped_out_of_range", "a value outside its limits",
			    "a duration of %g s is outside the limits", seconds);
	else
		r->job.duration_us = (ct_time)llround(seconds * 1e6);
}

static int read_all(struct ct_rows *r, const struct ct_durations *d)
{
	while (ct_rows_next(r)) {
		ct_rows_id(r, NAME);
		r->job.submit_us = ct_rows_time(r, TIME);
		r->job.model = ct_rows_string(r, APPLICATION);
		r->job.num_gpus = (uint32_t)ct_rows_whole(r, GPUS, 1, UINT32_MAX);
		find_duration(r, d);
		ct_rows_keep(r);
	}
	return ct_rows_close(r);
}

int ct_pollux_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		   struct ct_err *err)
{
	struct ct_durations_options x;
	struct ct_durations *d = NULL;
	struct ct_rows r;
	int rc;

	CT_TRY(ct_trace_opts_read(ct_pollux_opts, "pollux", o, &x, err));
	CT_TRY(ct_durations_load(x.path, "pollux", &d, err));
	if (ct_durations_by_steps(d))
		rc = ct_err_at(err, CT_ECONFIG, NULL,
			       "'%s' has steps_per_s, but a 'pollux' trace has no steps; "
			       "wanted a column 'duration'",
			       x.path);
	else
		rc = ct_rows_open(&r, s, member, ',', columns, COLUMNS, o, w, err);
	if (!rc)
		rc = read_all(&r, d);
	ct_durations_free(d);
	return rc;
}
