/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The standard: D. Feitelson's Parallel Workloads Archive, "The Standard Workload
 * Format", version 2.2. Lines are cut at blanks here, since a CSV of blanks would
 * take every one of a run of them as a field. */
#include "sim/output.h"
#include "traces/formats.h"
#include "traces/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	JOB,
	SUBMIT,
	WAIT,
	RUN,
	ALLOCATED,
	CPU_TIME,
	USED_MEMORY,
	REQUESTED,
	ESTIMATE,
	WANTED_MEMORY,
	STATUS,
	USER,
	GROUP,
	EXECUTABLE,
	QUEUE,
	PARTITION,
	PRECEDING,
	THINK,
	COLUMNS
};
static const struct ct_rows_column columns[COLUMNS] = {
	[JOB] = { "1 job number", 1 },
	[SUBMIT] = { "2 submit time", 1 },
	[WAIT] = { "3 wait time", 1 },
	[RUN] = { "4 run time", 1 },
	[ALLOCATED] = { "5 allocated processors", 1 },
	[CPU_TIME] = { "6 average CPU time", 1 },
	[USED_MEMORY] = { "7 used memory", 1 },
	[REQUESTED] = { "8 requested processors", 1 },
	[ESTIMATE] = { "9 requested time", 1 },
	[WANTED_MEMORY] = { "10 requested memory", 1 },
	[STATUS] = { "11 status", 1 },
	[USER] = { "12 user", 1 },
	[GROUP] = { "13 group", 1 },
	[EXECUTABLE] = { "14 executable", 1 },
	[QUEUE] = { "15 queue", 1 },
	[PARTITION] = { "16 partition", 1 },
	[PRECEDING] = { "17 preceding job", 1 },
	[THINK] = { "18 think time", 1 },
};

/* Fields that are no job column, and the name under which they are carried along. */
static const struct {
	int column;
	const char *name;
} carried[] = {
	{ CPU_TIME, "swf_cpu_time" },
	{ USED_MEMORY, "swf_used_memory" },
	{ WANTED_MEMORY, "swf_requested_memory" },
	{ EXECUTABLE, "swf_executable" },
	{ QUEUE, "swf_queue" },
	{ PARTITION, "swf_partition" },
	{ PRECEDING, "swf_preceding" },
	{ THINK, "swf_think_time" },
};
enum { CARRIED = sizeof carried / sizeof *carried, NEVER = 1 /* no such byte in text: the line is one field */ };

struct options {
	int status;
};
enum { STATUS_ANY, STATUS_COMPLETED };
const struct ct_trace_opt ct_swf_opts[] = {
	{ "status", CT_TRACE_OPT_WORD, offsetof(struct options, status), "any", 0, 0, "any|completed", "",
	  "jobs to take: all, or those of status 1" },
	{ .name = NULL },
};

/* ---- lines */

static int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts a line into cells; the number of fields it has. */
static size_t cut(struct ct_rows *r)
{
	struct ct_csv_field line = ct_csv_field(r->in, 0);
	const char *p = line.s;
	size_t n = 0;

	for (;; n++) {
		const char *begin;

		while (is_blank(*p))
			p++;
		if (!*p)
			return n;
		for (begin = p; *p && !is_blank(*p); p++)
			;
		if (n < COLUMNS)
			r->cell[n] =
			    (struct ct_csv_field){ begin, (size_t)(p - begin), line.col + (size_t)(begin - line.s) };
	}
}

/* The first line that is no comment: 18 numbers. */
int ct_swf_recognise(const char *head, size_t n)
{
	int fields = 0;

	if (!n)
		return 0;
	while (*head == ';' || *head == '\n' || *head == '\r') {
		head += strcspn(head, "\n");
		head += *head == '\n';
	}
	while (*head && *head != '\n' && *head != '\r') {
		size_t k = strcspn(head, " \t\r\n");

		if (k && strspn(head, "0123456789+-.eE") != k)
			return 0;
		fields += k > 0;
		head += k ? k : 1;
	}
	return fields == COLUMNS;
}

/* ---- rows */

/* "-1" is how the format says that something is not known. */
static int is_known(const struct ct_rows *r, size_t column)
{
	double v;

	if (r->cell[column].s[0] != '-')
		return 1;
	return ct_parse_f64(r->cell[column].s, r->cell[column].n, &v) || v != -1;
}

static void missing(struct ct_rows *r, size_t column)
{
	ct_rows_bad(r, column, "dropped_missing_value", "a required value is empty", "field '%s' is -1, not known",
		    columns[column].name);
}

static void read_size(struct ct_rows *r)
{
	size_t column = is_known(r, ALLOCATED) ? ALLOCATED : REQUESTED;

	if (!is_known(r, column))
		missing(r, ALLOCATED);
	else
		r->job.num_gpus = (uint32_t)ct_rows_whole(r, column, 1, UINT32_MAX);
	if (column == REQUESTED && !r->bad)
		ct_workload_count(r->w, "size_from_request", "field 5 is not known: the size is field 8", 1, 0);
}

static void read_run_time(struct ct_rows *r)
{
	ct_time t;

	if (!is_known(r, RUN)) {
		missing(r, RUN);
		return;
	}
	t = ct_rows_time(r, RUN); /* negative: bad already */
	if (t > CT_DURATION_LIMIT)
		ct_rows_bad(r, RUN, "dropped_out_of_range", "a value outside its limits",
			    "field '%s' is longer than 285 years", columns[RUN].name);
	else if (t <= 0 && !r->bad)
		ct_rows_bad(r, RUN, "dropped_zero_duration", "duration of zero",
			    "field '%s' must be positive, got '%.*s'", columns[RUN].name, (int)r->cell[RUN].n,
			    r->cell[RUN].s);
	r->job.duration_us = t;
}

static void read_job(struct ct_rows *r)
{
	struct ct_job *j = &r->job;

	ct_rows_id(r, JOB);
	j->submit_us = ct_rows_time(r, SUBMIT);
	read_run_time(r);
	read_size(r);
	if (is_known(r, ESTIMATE))
		j->requested_us = ct_rows_time(r, ESTIMATE);
	j->state = is_known(r, STATUS) ? ct_rows_string(r, STATUS) : 0;
	j->user = is_known(r, USER) ? ct_rows_string(r, USER) : 0;
	j->group = is_known(r, GROUP) ? ct_rows_string(r, GROUP) : 0;
}

static void carry(struct ct_rows *r, uint32_t job)
{
	if (job == UINT32_MAX)
		return;
	if (is_known(r, WAIT))
		ct_rows_carry(r, job, "wait_s", WAIT);
	for (size_t k = 0; k < CARRIED; k++)
		if (is_known(r, (size_t)carried[k].column))
			ct_rows_carry(r, job, carried[k].name, (size_t)carried[k].column);
}

/* Keeps a comment line; those between jobs, too. */
static void keep_comment(struct ct_rows *r, char **text, size_t *n, size_t *cap)
{
	struct ct_csv_field f = ct_csv_field(r->in, 0);

	if (*n + f.n + 2 > 1 << 15) {
		ct_workload_count(r->w, "comments_left_out", "comment lines beyond the first 32 KiB", 1, 0);
		return;
	}
	CT_GROW(*text, *cap, *n + f.n + 2);
	memcpy(*text + *n, f.s, f.n);
	*n += f.n;
	(*text)[(*n)++] = '\n';
}

static void read_line(struct ct_rows *r, const struct options *x)
{
	size_t n = cut(r);

	if (n != COLUMNS) {
		for (size_t k = n; k < COLUMNS; k++)
			r->cell[k] = (struct ct_csv_field){ .s = "" };
		ct_rows_bad(r, SIZE_MAX, "dropped_field_count", "more or fewer than 18 fields",
			    "line has %zu fields, wanted 18", n);
		return;
	}
	if (x->status == STATUS_COMPLETED && !(r->cell[STATUS].n == 1 && r->cell[STATUS].s[0] == '1')) {
		ct_rows_drop(r, "dropped_status", "of another status, as option 'status' asks");
		return;
	}
	read_job(r);
	carry(r, ct_rows_keep(r));
}

int ct_swf_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		struct ct_err *err)
{
	char *text = NULL;
	size_t n = 0, cap = 0;
	struct options x;
	struct ct_rows r;

	CT_TRY(ct_trace_opts_read(ct_swf_opts, "swf", o, &x, err));
	CT_TRY(ct_rows_open_plain(&r, s, member, NEVER, columns, COLUMNS, o, w, err));
	r.by_line = 1;
	r.width = 0; /* counted here */
	while (ct_rows_next(&r)) {
		if (ct_csv_field(r.in, 0).s[0] != ';') {
			read_line(&r, &x);
			continue;
		}
		w->report.rows_read--; /* a comment is no row */
		keep_comment(&r, &text, &n, &cap);
	}
	if (n)
		w->report.header = ct_workload_text(w, text, n - 1);
	free(text);
	return ct_rows_close(&r);
}

/* ---- export */

static int whole_number(const char *s, int64_t lo, int64_t hi, int64_t *out)
{
	int64_t v;

	if (ct_parse_i64(s, strlen(s), &v) || v < lo || v > hi)
		return 0;
	*out = v;
	return 1;
}

/* What the file needs to say about itself, and whether it can be said at all. */
struct facts {
	int own_ids, decimals, named_states, named_users;
};

static int is_named(const struct ct_workload *w, uint32_t string)
{
	int64_t v;

	return string && !whole_number(ct_strings_text(&w->strings, string), 0, INT64_MAX, &v);
}

static int look(const struct ct_workload *w, struct facts *f, struct ct_err *err)
{
	int64_t id;

	*f = (struct facts){ .own_ids = 1 };
	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];
		const char *state = ct_strings_text(&w->strings, j->state);

		if (!j->num_gpus || j->gpu_milli != 1000)
			return ct_err_at(err, CT_ETRACE, NULL,
					 "job '%.100s' cannot be written as SWF: it asks for %s, and SWF counts whole "
					 "processors",
					 j->id, j->num_gpus ? "a share of a GPU" : "no GPU");
		f->own_ids &= whole_number(j->id, 1, INT64_MAX, &id);
		f->decimals |= j->submit_us % CT_SECOND || j->duration_us % CT_SECOND;
		f->named_states |= *state && !whole_number(state, -1, 5, &id);
		f->named_users |= is_named(w, j->user) || is_named(w, j->group);
	}
	return 0;
}

static void write_header(struct ct_output *o, const struct ct_workload *w, const struct facts *f)
{
	static const char *const left_out[] = {
		"; Note: job numbers are ranks of submission, the ids were no positive whole numbers\n",
		"; Note: times have decimals of a second\n",
		"; Note: states that are no SWF status are left out (-1)\n",
		"; Note: users and groups are numbered by first appearance\n",
	};
	const int say[] = { !f->own_ids, f->decimals, f->named_states, f->named_users };

	if (w->report.header) {
		ct_output_text(o, w->report.header);
		ct_output_text(o, "\n");
	} else {
		ct_output_text(o, "; Version: 2.2\n; MaxJobs: ");
		ct_output_i64(o, (int64_t)w->n);
		ct_output_text(o, "\n; MaxRecords: ");
		ct_output_i64(o, (int64_t)w->n);
		ct_output_text(o, "\n; Note: a processor is a GPU\n");
	}
	for (size_t k = 0; k < sizeof say / sizeof *say; k++)
		if (say[k] && !(w->report.header && strstr(w->report.header, left_out[k])))
			ct_output_text(o, left_out[k]);
}

/* Numbers for users or groups: their own where all are numbers, else by appearance. */
struct numbers {
	int own;
	int64_t *of; /* by string */
	int64_t last;
};

static void number_all(struct numbers *n, const struct ct_workload *w, size_t offset)
{
	int64_t v;

	n->own = 1;
	n->of = ct_calloc(w->strings.n + 1, sizeof *n->of);
	for (size_t i = 0; i < w->n; i++) {
		uint32_t k;

		memcpy(&k, (const char *)&w->jobs[i] + offset, sizeof k);
		if (!k || n->of[k])
			continue;
		n->of[k] = ++n->last;
		n->own &= whole_number(ct_strings_text(&w->strings, k), 0, INT64_MAX, &v);
	}
}

static int64_t number_of(const struct numbers *n, const struct ct_workload *w, uint32_t string)
{
	int64_t v = -1;

	if (string && n->own)
		whole_number(ct_strings_text(&w->strings, string), 0, INT64_MAX, &v);
	else if (string)
		v = n->of[string];
	return v;
}

static const struct ct_extra_column *extra(const struct ct_workload *w, const char *name)
{
	for (size_t c = 0; c < w->n_columns; c++)
		if (!strcmp(w->columns[c].name, name))
			return &w->columns[c];
	return NULL;
}

static void put(struct ct_output *o, int64_t v)
{
	ct_output_text(o, " ");
	ct_output_i64(o, v);
}

static void put_time(struct ct_output *o, ct_time t)
{
	ct_output_text(o, " ");
	if (t < 0)
		ct_output_text(o, "-1");
	else
		ct_output_time(o, t);
}

/* A carried field, or -1. */
static void put_carried(struct ct_output *o, const struct ct_workload *w, const struct ct_extra_column *c, size_t i)
{
	const char *text = c && i < c->cap ? ct_strings_text(&w->strings, c->value[i]) : "";

	ct_output_text(o, " ");
	ct_output_text(o, *text ? text : "-1");
}

static void write_jobs(struct ct_output *o, const struct ct_workload *w, const struct facts *f)
{
	const struct ct_extra_column *more[CARRIED], *wait = extra(w, "wait_s");
	struct numbers user = { 0 }, group = { 0 };

	for (size_t k = 0; k < CARRIED; k++)
		more[k] = extra(w, carried[k].name);
	number_all(&user, w, offsetof(struct ct_job, user));
	number_all(&group, w, offsetof(struct ct_job, group));
	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];
		int64_t id = (int64_t)i + 1, status = -1;

		if (f->own_ids)
			whole_number(j->id, 1, INT64_MAX, &id);
		whole_number(ct_strings_text(&w->strings, j->state), -1, 5, &status);
		ct_output_i64(o, id);
		put_time(o, j->submit_us);
		put_carried(o, w, wait, i);
		put_time(o, j->duration_us);
		put(o, j->num_gpus);
		put_carried(o, w, more[0], i);
		put_carried(o, w, more[1], i);
		put(o, j->num_gpus);
		put_time(o, j->requested_us);
		put_carried(o, w, more[2], i);
		put(o, status);
		put(o, number_of(&user, w, j->user));
		put(o, number_of(&group, w, j->group));
		for (size_t k = 3; k < CARRIED; k++)
			put_carried(o, w, more[k], i);
		ct_output_text(o, "\n");
	}
	free(user.of);
	free(group.of);
}

int ct_trace_write_swf(const struct ct_workload *w, const char *path, struct ct_err *err)
{
	struct ct_output o;
	struct facts f;

	CT_TRY(look(w, &f, err));
	CT_TRY(ct_output_open(&o, path, err));
	write_header(&o, w, &f);
	write_jobs(&o, w, &f);
	return ct_output_close(&o, err);
}
