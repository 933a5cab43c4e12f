/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Duplicates are whole rows: jobs have no id, and two jobs of one size may well
 * arrive in the same second. 65 of 82,247 rows, as counted with sort | uniq -d. */
#include "traces/formats.h"
#include "traces/rows.h"
#include "traces/vc.h"

#include <math.h>
#include <stdlib.h>

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

/* The rows kept, by open addressing; `slot` holds index + 1. */
struct row {
	ct_time submit, duration;
	uint32_t gpus, vc;
};
struct rows_seen {
	struct row *row;
	size_t n, cap;
	uint32_t *slot;
	size_t mask;
};

static size_t slot_of(const struct rows_seen *s, const struct row *r)
{
	uint64_t h = (uint64_t)r->submit * UINT64_C(0x9E3779B97F4A7C15);
	size_t at;

	h = (h ^ h >> 29 ^ (uint64_t)r->duration ^ (uint64_t)r->gpus << 40 ^ (uint64_t)r->vc << 50) *
	    UINT64_C(0xBF58476D1CE4E5B9);
	for (at = (size_t)(h ^ h >> 32) & s->mask; s->slot[at]; at = (at + 1) & s->mask) {
		const struct row *x = &s->row[s->slot[at] - 1];

		if (x->submit == r->submit && x->duration == r->duration && x->gpus == r->gpus && x->vc == r->vc)
			break;
	}
	return at;
}

static void grow(struct rows_seen *s)
{
	free(s->slot);
	s->mask = s->mask ? 2 * s->mask + 1 : 1023;
	s->slot = ct_calloc(s->mask + 1, sizeof *s->slot);
	for (size_t i = 0; i < s->n; i++)
		s->slot[slot_of(s, &s->row[i])] = (uint32_t)i + 1;
}

static int is_new(struct rows_seen *s, const struct row *r)
{
	size_t at;

	if (2 * s->n >= s->mask)
		grow(s);
	at = slot_of(s, r);
	if (s->slot[at])
		return 0;
	CT_GROW(s->row, s->cap, s->n + 1);
	s->row[s->n++] = *r;
	s->slot[at] = (uint32_t)s->n;
	return 1;
}

/* The published column is duration x GPUs and is not carried along; a row where it is
 * something else is counted. */
static void check_gpu_time(struct ct_rows *r)
{
	double t;

	if (r->bad || !ct_rows_has(r, GPU_TIME) || ct_parse_f64(r->cell[GPU_TIME].s, r->cell[GPU_TIME].n, &t))
		return;
	if (fabs(t - ct_seconds(r->job.duration_us) * r->job.num_gpus) > 1e-6 * t)
		ct_workload_count(r->w, "gpu_time_differs", "gpu_time is not duration x num_gpus; not used", 1, 0);
}

static void read_row(struct ct_rows *r, int vc, struct rows_seen *seen)
{
	uint32_t name = ct_rows_string(r, VC);
	struct row row;

	r->job.submit_us = ct_rows_time(r, SUBMIT);
	r->job.duration_us = ct_rows_duration(r, DURATION);
	r->job.num_gpus = (uint32_t)ct_rows_whole(r, GPUS, 0, UINT32_MAX);
	ct_vc_set(&r->job, vc, name);
	row = (struct row){ r->job.submit_us, r->job.duration_us, r->job.num_gpus, name };
	if (!r->bad && !is_new(seen, &row))
		ct_rows_drop(r, "dropped_duplicate_row", "equals an earlier row in every field");
	check_gpu_time(r);
	ct_rows_keep(r);
}

int ct_philly_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		   struct ct_err *err)
{
	struct ct_vc_options x;
	struct rows_seen seen = { 0 };
	struct ct_rows r;

	CT_TRY(ct_trace_opts_read(ct_philly_opts, "philly", o, &x, err));
	CT_TRY(ct_rows_open(&r, s, member, ',', columns, COLUMNS, o, w, err));
	while (ct_rows_next(&r))
		read_row(&r, x.vc, &seen);
	ct_rows_date_origin(&r);
	free(seen.row);
	free(seen.slot);
	return ct_rows_close(&r);
}
