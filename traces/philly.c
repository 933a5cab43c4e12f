/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Duplicates are whole rows: jobs have no id, and two jobs of one size may well
 * arrive in the same second. 65 of 82,247 rows, as counted with sort | uniq -d. */
#include "traces/formats.h"
#include "traces/rows.h"
#include "traces/vc.h"

#include <stdio.h>

enum { SUBMIT, DURATION, GPUS, GPU_TIME, VC, COLUMNS };
static const struct ct_rows_column columns[COLUMNS] = {
	[SUBMIT] = { "timestamp", 1 },  [DURATION] = { "duration", 1 }, [GPUS] = { "num_gpus", 1 },
	[GPU_TIME] = { "gpu_time", 0 }, [VC] = { "cluster", 1 },
};

const struct ct_trace_opt ct_philly_opts[] = { CT_VC_OPT, { .name = NULL } };

int ct_philly_recognise(const char *head, size_t n)
{
	return n && ct_head_has_fields(head, "timestamp,duration,num_gpus,gpu_time,cluster", ',');
}

static int is_new(struct ct_strings *rows, const struct ct_rows *r)
{
	char text[1024];
	size_t n = 0;
	int fresh;

	for (size_t k = 0; k < COLUMNS; k++)
		n += (size_t)snprintf(text + n, n < sizeof text ? sizeof text - n : 0, "%s,", r->cell[k].s);
	if (n >= sizeof text) /* too long to compare; such a row has other faults */
		return 1;
	ct_strings_add_new(rows, text, n, &fresh);
	return fresh;
}

int ct_philly_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		   struct ct_err *err)
{
	struct ct_vc_options x;
	struct ct_strings rows;
	struct ct_rows r;

	CT_TRY(ct_trace_opts_read(ct_philly_opts, "philly", o, &x, err));
	CT_TRY(ct_rows_open(&r, s, member, ',', columns, COLUMNS, o, w, err));
	ct_strings_init(&rows);
	while (ct_rows_next(&r)) {
		if (!is_new(&rows, &r))
			ct_rows_drop(&r, "dropped_duplicate_row", "equals an earlier row in every field");
		r.job.submit_us = ct_rows_time(&r, SUBMIT);
		r.job.duration_us = ct_rows_duration(&r, DURATION);
		r.job.num_gpus = (uint32_t)ct_rows_whole(&r, GPUS, 0, UINT32_MAX);
		ct_vc_set(&r.job, x.vc, ct_rows_string(&r, VC));
		ct_rows_carry(&r, ct_rows_keep(&r), "gpu_time", GPU_TIME);
	}
	ct_rows_date_origin(&r);
	ct_strings_fini(&rows);
	return ct_rows_close(&r);
}
