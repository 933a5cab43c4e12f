/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/formats.h"
#include "traces/rows.h"

#include <stdio.h>
#include <string.h>

enum { NAME, CPU, MEMORY, GPUS, MILLI, SPEC, PHASE, CREATED, DELETED, SCHEDULED, COLUMNS };
static const struct ct_rows_column columns[COLUMNS] = {
	[NAME] = { "name", 1 },
	[CPU] = { "cpu_milli", 1 },
	[MEMORY] = { "memory_mib", 1 },
	[GPUS] = { "num_gpu", 1 },
	[MILLI] = { "gpu_milli", 1 },
	[SPEC] = { "gpu_spec", 0 },
	[PHASE] = { "pod_phase", 0 },
	[CREATED] = { "creation_time", 1 },
	[DELETED] = { "deletion_time", 1 },
	[SCHEDULED] = { "scheduled_time", 1 },
};

int ct_openb_recognise(const char *head, size_t n)
{
	return n && ct_head_has_fields(head, "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec", ',');
}

static void read_request(struct ct_rows *r)
{
	struct ct_job *j = &r->job;

	j->cpu_milli = (uint32_t)ct_rows_whole(r, CPU, 0, UINT32_MAX);
	j->mem_mib = (uint32_t)ct_rows_whole(r, MEMORY, 0, UINT32_MAX);
	j->num_gpus = (uint32_t)ct_rows_whole(r, GPUS, 0, UINT32_MAX);
	j->gpu_milli = (uint32_t)ct_rows_whole(r, MILLI, j->num_gpus ? 1 : 0, 1000);
	if (!j->num_gpus)
		j->gpu_milli = 1000; /* of no GPU */
	j->state = ct_rows_string(r, PHASE);
	if (ct_rows_has(r, SPEC) && !strchr(r->cell[SPEC].s, '|'))
		j->gpu_type = ct_rows_string(r, SPEC);
	else if (ct_rows_has(r, SPEC) && !r->bad)
		ct_workload_count(r->w, "gpu_spec_alternatives",
				  "may run on several GPU types; carried along, any type is taken", 1, 0);
}

/* The time the pod waited in the trace; carried along for `trace info`. */
static ct_time read_times(struct ct_rows *r)
{
	struct ct_job *j = &r->job;
	int scheduled = ct_rows_has(r, SCHEDULED);
	ct_time begin, end;

	j->submit_us = ct_rows_time(r, CREATED);
	begin = scheduled ? ct_rows_time(r, SCHEDULED) : j->submit_us;
	end = ct_rows_time(r, DELETED);
	j->duration_us = end - begin;
	if (r->bad)
		return 0;
	if (begin < j->submit_us || end < begin)
		ct_rows_bad(r, end < begin ? DELETED : SCHEDULED, "dropped_reversed_times",
			    "deleted before it was scheduled, or scheduled before it was created",
			    "'%s' lies before '%s'", columns[end < begin ? DELETED : SCHEDULED].name,
			    columns[end < begin && scheduled ? SCHEDULED : CREATED].name);
	else if (end == begin)
		ct_rows_drop(r, "dropped_zero_duration", "duration of zero");
	else if (!scheduled)
		ct_workload_count(r->w, "never_scheduled", "no scheduled_time: runs from creation to deletion", 1, 0);
	return begin - j->submit_us;
}

static void carry(struct ct_rows *r, uint32_t job, ct_time wait)
{
	char text[CT_TIME_TEXT];
	size_t n = ct_time_format(wait, text);

	if (job == UINT32_MAX)
		return;
	ct_workload_set_extra(r->w, ct_workload_column(r->w, "wait_s"), job, text, n);
	if (ct_rows_has(r, SPEC) && strchr(r->cell[SPEC].s, '|'))
		ct_rows_carry(r, job, "gpu_spec", SPEC);
}

int ct_openb_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		  struct ct_err *err)
{
	struct ct_rows r;

	CT_TRY(ct_rows_open(&r, s, member, ',', columns, COLUMNS, o, w, err));
	while (ct_rows_next(&r)) {
		ct_time wait;

		ct_rows_id(&r, NAME);
		read_request(&r);
		wait = read_times(&r);
		carry(&r, ct_rows_keep(&r), wait);
	}
	return ct_rows_close(&r);
}
