/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/formats.h"
#include "traces/rows.h"

enum { JOB, SUBMIT, DURATION, GPUS, COLUMNS };
static const struct ct_rows_column columns[COLUMNS] = {
	[JOB] = { "job_id", 1 },
	[SUBMIT] = { "submission_time", 1 },
	[DURATION] = { "duration", 1 },
	[GPUS] = { "num_gpu", 1 },
};

int ct_itp_recognise(const char *head, size_t n)
{
	return n && ct_head_has_fields(head, "job_id,submission_time,duration,num_gpu", ',');
}

int ct_itp_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		struct ct_err *err)
{
	struct ct_rows r;

	CT_TRY(ct_rows_open(&r, s, member, ',', columns, COLUMNS, o, w, err));
	while (ct_rows_next(&r)) {
		ct_rows_id(&r, JOB);
		r.job.submit_us = ct_rows_time(&r, SUBMIT);
		r.job.duration_us = ct_rows_duration(&r, DURATION);
		r.job.num_gpus = (uint32_t)ct_rows_whole(&r, GPUS, 0, UINT32_MAX);
		ct_rows_keep(&r);
	}
	return ct_rows_close(&r);
}
