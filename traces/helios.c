/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/formats.h"
#include "traces/rows.h"
#include "traces/vc.h"

#include <math.h>
#include <string.h>

enum { JOB, USER, VC, NAME, GPUS, CPUS, STATE, SUBMIT, DURATION, START, MODEL, GPU_MEMORY, COLUMNS };
static const struct ct_rows_column columns[COLUMNS] = {
	[JOB] = { "job_id", 1 },       [USER] = { "user", 1 },          [VC] = { "vc", 1 },
	[NAME] = { "jobname", 0 },     [GPUS] = { "gpu_num", 1 },       [CPUS] = { "cpu_num", 0 },
	[STATE] = { "state", 0 },      [SUBMIT] = { "submit_time", 1 }, [DURATION] = { "duration", 1 },
	[START] = { "start_time", 0 }, [MODEL] = { "model", 0 },        [GPU_MEMORY] = { "gmem", 0 },
};

const struct ct_trace_opt ct_helios_opts[] = { CT_VC_OPT, { .name = NULL } };

int ct_helios_recognise(const char *head, size_t n)
{
	return n && ct_head_has_fields(head, "job_id,user,vc,jobname,gpu_num", ',');
}

static void read_job(struct ct_rows *r, int vc)
{
	struct ct_job *j = &r->job;

	ct_rows_id(r, JOB);
	j->user = ct_rows_string(r, USER);
	ct_vc_set(j, vc, ct_rows_string(r, VC));
	j->num_gpus = (uint32_t)ct_rows_whole(r, GPUS, 0, UINT32_MAX);
	if (ct_rows_has(r, CPUS))
		j->cpu_milli = (uint32_t)ceil(ct_rows_number(r, CPUS, 0, 4e6) * 1000);
	j->state = ct_rows_string(r, STATE);
	j->submit_us = ct_rows_time(r, SUBMIT);
	j->duration_us = ct_rows_duration(r, DURATION);
	j->model = ct_rows_string(r, MODEL);
	if (ct_rows_has(r, GPU_MEMORY))
		j->gpu_mem_mib = (uint32_t)ceil(ct_rows_number(r, GPU_MEMORY, 0, UINT32_MAX));
}

int ct_helios_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		   struct ct_err *err)
{
	struct ct_vc_options x;
	struct ct_rows r;

	CT_TRY(ct_trace_opts_read(ct_helios_opts, "helios", o, &x, err));
	CT_TRY(ct_rows_open(&r, s, member, ',', columns, COLUMNS, o, w, err));
	while (ct_rows_next(&r)) {
		uint32_t job;

		read_job(&r, x.vc);
		job = ct_rows_keep(&r);
		ct_rows_carry(&r, job, "jobname", NAME);
		ct_rows_carry(&r, job, "start_date", START);
	}
	ct_rows_date_origin(&r);
	return ct_rows_close(&r);
}
