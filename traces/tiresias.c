/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/formats.h"
#include "traces/rows.h"

enum { JOB, GPUS, SUBMIT, MODEL, DURATION, COLUMNS };
static const struct ct_rows_column columns[COLUMNS] = {
	[JOB] = { "job_id", 1 },       [GPUS] = { "num_gpu", 1 },      [SUBMIT] = { "submit_time", 1 },
	[MODEL] = { "model_name", 1 }, [DURATION] = { "duration", 1 },
};

int ct_tiresias_recognise(const char *head, size_t n)
{
	return n && ct_head_has_fields(head, "job_id,num_gpu,submit_time,iterations,model_name,duration", ',');
}

int ct_tiresias_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		     struct ct_err *err)
{
	struct ct_rows r;

	CT_TRY(ct_rows_open(&r, s, member, ',', columns, COLUMNS, o, w, err));
	while (ct_rows_next(&r)) {
		ct_rows_id(&r, JOB);
		r.job.num_gpus = (uint32_t)ct_rows_whole(&r, GPUS, 0, UINT32_MAX);
		r.job.submit_us = ct_rows_time(&r, SUBMIT);
		r.job.model = ct_rows_string(&r, MODEL);
		r.job.duration_us = ct_rows_duration(&r, DURATION);
		ct_rows_keep(&r);
	}
	return ct_rows_close(&r);
}
