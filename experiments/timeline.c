/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/timeline.h"

#include <stdlib.h>
#include <string.h>

/* ---- the cluster */

struct shape { /* "8x8 4x4": nodes x GPUs */
	const char *text;
};

/* Is the text of that form? Counts nodes and GPUs. */
static int measure(const char *text, uint32_t *nodes, uint32_t *gpus)
{
	unsigned count, each;
	const char *p = text;
	int used;

	*nodes = *gpus = 0;
	while (p && sscanf(p, " %ux%u%n", &count, &each, &used) == 2) {
		*nodes += count;
		*gpus += count * each;
		p += used;
	}
	return p && *p == '\0' && *nodes > 0;
}

/* 0 where the shape is not known. */
static uint32_t node_of(struct shape s, uint32_t gpu)
{
	uint32_t node = 0, first = 0;
	unsigned count, each;
	const char *p = s.text;
	int used;

	while (p && sscanf(p, " %ux%u%n", &count, &each, &used) == 2) {
		if (each && gpu < first + count * each)
			return node + (gpu - first) / each;
		node += count;
		first += count * each;
		p += used;
	}
	return 0;
}

/* ---- reading */

enum { SUBMIT, START, FINISH, PROFILE, QUEUE, STARTS, RUN, PAUSE, SWITCH, PREEMPTIONS, PLACE, JOB_COLUMNS };
static const struct {
	const char *name;
	enum ct_column_type type;
} job_column[JOB_COLUMNS] = {
	[SUBMIT] = { "submission_time", CT_COLUMN_TIME },
	[START] = { "starting_time", CT_COLUMN_TIME },
	[FINISH] = { "finish_time", CT_COLUMN_TIME },
	[PROFILE] = { "profile_s", CT_COLUMN_TIME },
	[QUEUE] = { "queue_s", CT_COLUMN_TIME },
	[STARTS] = { "start_s", CT_COLUMN_TIME },
	[RUN] = { "run_s", CT_COLUMN_TIME },
	[PAUSE] = { "pause_s", CT_COLUMN_TIME },
	[SWITCH] = { "switch_s", CT_COLUMN_TIME },
	[PREEMPTIONS] = { "preemptions", CT_COLUMN_I64 },
	[PLACE] = { "allocated_resources", CT_COLUMN_TEXT },
};

struct reader {
	struct ct_timeline *t;
	const struct ct_result *r;
	struct ct_err *err;
	struct shape shape;
	const struct ct_column *job[JOB_COLUMNS], *time, *row, *kind, *gpus;
	ct_time *since;  /* a job: when it got the GPUs that it is on; CT_NO_TIME: it is on none */
	ct_time *plain;  /* its first start, which left no record; CT_NO_TIME: it did */
	const char **at; /* where its last record says it is, "node 2"; NULL: as the next place says */
};

static int is_words(const struct ct_column *c)
{
	return c->type == CT_COLUMN_CODE || c->type == CT_COLUMN_TEXT;
}

static int find_columns(struct reader *d)
{
	const struct ct_frame *st = &d->r->stretches;

	for (int i = 0; i < JOB_COLUMNS && d->r->jobs.n_rows; i++) {
		const struct ct_column *c = d->job[i] = ct_frame_column(&d->r->jobs, job_column[i].name);

		if (!c || (job_column[i].type == CT_COLUMN_TEXT ? !is_words(c) : c->type != job_column[i].type))
			return ct_err_at(d->err, CT_EIO, NULL, "'jobs' has no column '%s' of that kind",
					 job_column[i].name);
	}
	d->time = ct_frame_column(st, "time");
	d->row = ct_frame_column(st, "job");
	d->kind = ct_frame_column(st, "kind");
	d->gpus = ct_frame_column(st, "gpus");
	if (st->n_rows && (!d->time || d->time->type != CT_COLUMN_TIME || !d->row || d->row->type != CT_COLUMN_I64 ||
			   !d->kind || !is_words(d->kind) || !d->gpus || !is_words(d->gpus)))
		return ct_err_at(d->err, CT_EIO, NULL, "'stretches' lacks a column");
	return 0;
}

static void add_slice(struct reader *d, const struct ct_slice *s)
{
	CT_GROW(d->t->slice, d->t->cap, d->t->n + 1);
	d->t->slice[d->t->n++] = *s;
}

static int bad_place(struct reader *d, const char *place)
{
	return ct_err_at(d->err, CT_EIO, NULL, "'%.60s' is no place", place);
}

/* The next range of "0-3 8"; 0: there is none, -1: it is not one. */
static int next_range(const char **p, unsigned *first, unsigned *last)
{
	int used;

	*p += strspn(*p, " ");
	if (!**p)
		return 0;
	if (sscanf(*p, "%u%n", first, &used) != 1)
		return -1;
	*p += used;
	*last = *first;
	if (**p == '-' && sscanf(*p, "-%u%n", last, &used) == 1)
		*p += used;
	return (**p == ' ' || !**p) && *last >= *first && *last < 1u << 28 ? 1 : -1;
}

/* The job held `place` from `from` to `to`. */
static int held(struct reader *d, uint32_t job, const char *place, ct_time from, ct_time to)
{
	struct ct_slice s = { .from = from, .to = to, .job = job, .gpu = CT_NO_GPU, .gpus = 0 };
	unsigned first, last, node;
	const char *p;
	int more;

	if (to <= from)
		return 0;
	if (!*place) {
		d->t->unknown++;
		return 0;
	}
	if (sscanf(place, "node %u", &node) == 1) {
		s.node = node;
		s.gpus = 1;
		add_slice(d, &s);
		return 0;
	}
	for (p = place; (more = next_range(&p, &first, &last)) == 1;)
		s.gpus += last - first + 1;
	if (more < 0)
		return bad_place(d, place);
	for (p = place; next_range(&p, &first, &last) == 1;)
		for (s.gpu = first; s.gpu <= last; s.gpu++) {
			s.node = node_of(d->shape, s.gpu);
			add_slice(d, &s);
		}
	return 0;
}

static ct_time job_time(const struct reader *d, int column, size_t row)
{
	return ct_cell_i64(d->job[column], row);
}

/* Got its GPUs. A start of a share of a GPU says where. */
static void got(struct reader *d, uint32_t job, ct_time t, const char *place)
{
	d->since[job] = t;
	d->at[job] = *place ? place : NULL;
}

/* A first start of which there is no record came before `t`, or at it. */
static void start_plainly(struct reader *d, uint32_t job, ct_time t)
{
	if (d->plain[job] == CT_NO_TIME || d->plain[job] > t)
		return;
	got(d, job, d->plain[job], "");
	d->plain[job] = CT_NO_TIME;
}

static int read_stretch(struct reader *d, size_t i)
{
	uint32_t job = (uint32_t)ct_cell_i64(d->row, i);
	const char *kind = ct_cell_text(d->kind, i), *place = ct_cell_text(d->gpus, i);
	ct_time t = ct_cell_i64(d->time, i), from;

	if (!strcmp(kind, "start") || !strcmp(kind, "cold")) {
		got(d, job, t, place);
		return 0;
	}
	if (!strcmp(kind, "profile")) /* the only one of the job, before its first start, told at its end */
		return held(d, job, place, t - job_time(d, PROFILE, job), t);
	start_plainly(d, job, t);
	if (!strcmp(kind, "run") || !strcmp(kind, "switch"))
		return 0;
	from = d->since[job];
	d->since[job] = strcmp(kind, "migrate") ? CT_NO_TIME : t;
	d->at[job] = NULL;
	return from == CT_NO_TIME ? 0 : held(d, job, place, from, t);
}

/* A first start at the same time as a record of it is that one. */
static void find_plain_starts(struct reader *d)
{
	for (size_t i = 0; i < d->r->jobs.n_rows; i++) {
		d->plain[i] = job_time(d, START, i);
		d->since[i] = CT_NO_TIME;
	}
	for (size_t i = 0; i < d->r->stretches.n_rows; i++) {
		const char *kind = ct_cell_text(d->kind, i);
		int64_t job = ct_cell_i64(d->row, i);

		if ((!strcmp(kind, "start") || !strcmp(kind, "cold")) && job >= 0 && (size_t)job < d->r->jobs.n_rows &&
		    d->plain[job] == ct_cell_i64(d->time, i))
			d->plain[job] = CT_NO_TIME;
	}
}

/* Its end; of a job that had not ended, that of the run: its phases cover all time. */
static ct_time end_of(const struct reader *d, size_t row)
{
	static const int phase[] = { QUEUE, PROFILE, STARTS, RUN, PAUSE, SWITCH };
	ct_time t = job_time(d, FINISH, row);

	if (t != CT_NO_TIME)
		return t;
	t = job_time(d, SUBMIT, row);
	for (size_t k = 0; k < sizeof phase / sizeof *phase; k++)
		t += job_time(d, phase[k], row);
	return t;
}

static int read_end(struct reader *d, uint32_t job)
{
	start_plainly(d, job, INT64_MAX);
	if (d->since[job] == CT_NO_TIME)
		return 0;
	if (!d->r->stretches.n_rows && job_time(d, PREEMPTIONS, job) > 0) {
		d->t->unknown++; /* it was on and off, and nobody noted when */
		return 0;
	}
	return held(d, job, d->at[job] ? d->at[job] : ct_cell_text(d->job[PLACE], job), d->since[job], end_of(d, job));
}

static int read_all(struct reader *d)
{
	CT_TRY(find_columns(d));
	find_plain_starts(d);
	for (size_t i = 0; i < d->r->stretches.n_rows; i++) {
		int64_t job = ct_cell_i64(d->row, i);

		if (job < 0 || (size_t)job >= d->r->jobs.n_rows)
			return ct_err_at(d->err, CT_EIO, NULL, "'stretches' names a job that is not there");
		CT_TRY(read_stretch(d, i));
	}
	for (size_t i = 0; i < d->r->jobs.n_rows; i++)
		CT_TRY(read_end(d, (uint32_t)i));
	return 0;
}

/* ---- lanes */

static int three_way(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
	const struct ct_slice *x = a, *y = b;
	int c = three_way(x->gpu, y->gpu);

	c = c ? c : three_way(x->node, y->node);
	c = c ? c : three_way(x->from, y->from);
	return c ? c : three_way(x->job, y->job);
}

static int by_time(const void *a, const void *b)
{
	const struct ct_slice *x = a, *y = b;
	int c = three_way(x->from, y->from);

	c = c ? c : three_way(x->node, y->node);
	c = c ? c : three_way(x->gpu, y->gpu);
	c = c ? c : three_way(x->lane, y->lane);
	return c ? c : three_way(x->job, y->job);
}

/* Each slice into the first lane of its GPU that is free by then. */
static void find_lanes(struct ct_timeline *t)
{
	ct_time *busy = NULL; /* lane: until when */
	size_t n = 0, cap = 0;

	t->lanes = 1;
	for (size_t i = 0; i < t->n; i++) {
		struct ct_slice *s = &t->slice[i];
		size_t k = 0;

		if (i && (s->gpu != s[-1].gpu || s->node != s[-1].node))
			n = 0;
		while (k < n && busy[k] > s->from)
			k++;
		if (k == n) {
			CT_GROW(busy, cap, n + 1);
			n++;
		}
		busy[k] = s->to;
		s->lane = (uint32_t)k;
		if (s->gpu != CT_NO_GPU && k >= t->lanes)
			t->lanes = (uint32_t)k + 1;
	}
	free(busy);
}

/* What the places name is there, whatever the manifest says. */
static void find_size(struct ct_timeline *t, struct shape *shape, const struct ct_result *r)
{
	const char *const text[] = { ct_result_get(r, CT_RESULT_MANIFEST, "node_gpus"),
				     ct_result_get(r, CT_RESULT_MANIFEST, "cluster") };

	for (size_t i = 0; i < 2 && !shape->text; i++)
		if (measure(text[i], &t->n_nodes, &t->n_gpus))
			shape->text = text[i];
	if (!shape->text)
		t->n_nodes = t->n_gpus = 0;
}

static void widen(struct ct_timeline *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct ct_slice *s = &t->slice[i];

		if (s->gpu != CT_NO_GPU && s->gpu >= t->n_gpus)
			t->n_gpus = s->gpu + 1;
		if (s->node >= t->n_nodes)
			t->n_nodes = s->node + 1;
	}
}

int ct_timeline_make(struct ct_timeline *t, const struct ct_result *r, struct ct_err *err)
{
	size_t n = r->jobs.n_rows;
	struct reader d = { .t = t,
			    .r = r,
			    .err = err,
			    .since = ct_calloc(n + 1, sizeof *d.since),
			    .plain = ct_calloc(n + 1, sizeof *d.plain),
			    .at = ct_calloc(n + 1, sizeof *d.at) };
	int rc;

	memset(t, 0, sizeof *t);
	find_size(t, &d.shape, r);
	rc = read_all(&d);
	free(d.since);
	free(d.plain);
	free(d.at);
	if (rc) {
		ct_timeline_fini(t);
		return rc;
	}
	widen(t);
	if (t->n)
		qsort(t->slice, t->n, sizeof *t->slice, by_place);
	find_lanes(t);
	if (t->n)
		qsort(t->slice, t->n, sizeof *t->slice, by_time);
	return 0;
}

void ct_timeline_fini(struct ct_timeline *t)
{
	free(t->slice);
	memset(t, 0, sizeof *t);
}
