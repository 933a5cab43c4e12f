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

/* The jobs kept, by open addressing. A slot holds the job's hash beside its number, so
 * that neither growing nor passing another job's slot looks at jobs: each look misses
 * the cache. */
struct slot {
	uint32_t hash, job; /* index + 1, 0 = free */
};
struct seen {
	struct slot *slot;
	size_t n, mask;
};

static uint32_t hash_of(const struct ct_job *j)
{
	uint64_t h = (uint64_t)j->submit_us * UINT64_C(0x9E3779B97F4A7C15);

	h = (h ^ h >> 29 ^ (uint64_t)j->duration_us ^ (uint64_t)j->num_gpus << 40 ^
	     (uint64_t)(j->partition + j->group) << 50) *
	    UINT64_C(0xBF58476D1CE4E5B9);
	return (uint32_t)(h ^ h >> 32);
}

static int is_equal(const struct ct_job *a, const struct ct_job *b)
{
	return a->submit_us == b->submit_us && a->duration_us == b->duration_us && a->num_gpus == b->num_gpus &&
	       a->partition == b->partition && a->group == b->group;
}

static void grow(struct seen *s)
{
	struct slot *old = s->slot;
	size_t old_n = old ? s->mask + 1 : 0;

	s->mask = old ? 2 * s->mask + 1 : 1023;
	s->slot = ct_calloc(s->mask + 1, sizeof *s->slot);
	for (size_t i = 0; i < old_n; i++) {
		size_t at = old[i].hash & s->mask;

		if (!old[i].job)
			continue;
		while (s->slot[at].job)
			at = (at + 1) & s->mask;
		s->slot[at] = old[i];
	}
	free(old);
}

/* The free slot for a job, or NULL: an earlier one is equal. */
static struct slot *slot_for(struct seen *s, const struct ct_workload *w, const struct ct_job *j, uint32_t hash)
{
	size_t at;

	if (s->n + s->n / 3 >= s->mask)
		grow(s);
	for (at = hash & s->mask; s->slot[at].job; at = (at + 1) & s->mask)
		if (s->slot[at].hash == hash && is_equal(&w->jobs[s->slot[at].job - 1], j))
			return NULL;
	return &s->slot[at];
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

static void keep(struct ct_rows *r, struct seen *seen)
{
	uint32_t hash = hash_of(&r->job), job;
	struct slot *slot = r->bad ? NULL : slot_for(seen, r->w, &r->job, hash);

	if (!slot)
		ct_rows_drop(r, "dropped_duplicate_row", "equals an earlier row in every field");
	check_gpu_time(r);
	job = ct_rows_keep(r);
	if (job == UINT32_MAX)
		return;
	*slot = (struct slot){ hash, job + 1 };
	seen->n++;
}

/* Until here they told one row from another. */
static void forget_vcs(struct ct_workload *w)
{
	for (size_t i = 0; i < w->n; i++)
		w->jobs[i].partition = 0;
}

static void read_row(struct ct_rows *r, int vc, struct seen *seen)
{
	uint32_t name = ct_rows_string(r, VC);

	r->job.submit_us = ct_rows_time(r, SUBMIT);
	r->job.duration_us = ct_rows_duration(r, DURATION);
	r->job.num_gpus = (uint32_t)ct_rows_whole(r, GPUS, 0, UINT32_MAX);
	ct_vc_set(&r->job, vc == CT_VC_IGNORE ? CT_VC_PARTITION : vc, name);
	keep(r, seen);
}

int ct_philly_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		   struct ct_err *err)
{
	struct ct_vc_options x;
	struct seen seen = { 0 };
	struct ct_rows r;

	CT_TRY(ct_trace_opts_read(ct_philly_opts, "philly", o, &x, err));
	CT_TRY(ct_rows_open(&r, s, member, ',', columns, COLUMNS, o, w, err));
	while (ct_rows_next(&r))
		read_row(&r, x.vc, &seen);
	if (x.vc == CT_VC_IGNORE)
		forget_vcs(w);
	ct_rows_date_origin(&r);
	free(seen.slot);
	return ct_rows_close(&r);
}
