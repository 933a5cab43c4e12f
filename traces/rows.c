/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/rows.h"

#include "sim/shown.h"
#include "traces/columns.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_ROWS = 8192, RESERVE_FROM = 20000 };
static const ct_time day = 86400 * CT_SECOND;

/* ---- columns */

static int same_name(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char x = a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] + 32) : a[i];
		char y = b[i] >= 'A' && b[i] <= 'Z' ? (char)(b[i] + 32) : b[i];

		if (x != y)
			return 0;
	}
	return !b[n];
}

/* The column of that name, or n. */
static size_t column_of(const struct ct_rows *r, const char *name, size_t n)
{
	size_t k = 0;

	while (k < r->n_columns && !same_name(name, r->columns[k].name, n))
		k++;
	return k;
}

/* Would the name be read as a job column's when the trace is written as CSV? */
static int is_taken(const char *name)
{
	for (size_t c = 0; c < CT_COLUMNS; c++)
		if (ct_column_fit((enum ct_column_id)c, name) != CT_FIT_NONE)
			return 1;
	return 0;
}

static int has_control(struct ct_csv_field f)
{
	for (size_t i = 0; i < f.n; i++)
		if ((unsigned char)f.s[i] < 0x20 || f.s[i] == 0x7f)
			return 1;
	return 0;
}

/* A field that no column takes is carried along under its name; "file.NAME" when a
 * job column is called so. */
static int carry_field(struct ct_rows *r, size_t field, struct ct_csv_field f)
{
	struct ct_loc at = ct_csv_loc(r->in, field);
	char name[CT_NAME_LIMIT + 8], shown[CT_SHOWN];
	size_t known = r->w->n_columns;

	if (f.n > CT_NAME_LIMIT - 5 || has_control(f))
		return ct_err_at(r->err, CT_ETRACE, &at,
				 "column name '%s' is longer than %d bytes or holds a control character",
				 ct_shown(shown, f.s, f.n), (int)CT_NAME_LIMIT - 5);
	if (f.n)
		snprintf(name, sizeof name, "%s%s", is_taken(f.s) ? "file." : "", f.s);
	else
		snprintf(name, sizeof name, "column_%zu", field + 1);
	r->extra[r->n_extra] = field;
	r->extra_column[r->n_extra++] = ct_workload_column(r->w, name);
	if (r->w->n_columns == known)
		return ct_err_at(r->err, CT_ETRACE, &at, "column '%s' stands twice", ct_shown(shown, f.s, f.n));
	return 0;
}

static int check_required(struct ct_rows *r)
{
	struct ct_loc at = ct_csv_loc(r->in, SIZE_MAX);

	for (size_t k = 0; k < r->n_columns; k++)
		if (r->columns[k].required && r->field_of[k] == SIZE_MAX)
			ct_err_add(r->err, CT_ETRACE, &at, "no column '%s', which format '%s' has", r->columns[k].name,
				   r->w->report.format);
	return (int)r->err->code;
}

static int read_header(struct ct_rows *r)
{
	struct ct_loc at = { .file = ct_csv_loc(r->in, SIZE_MAX).file };
	int rc = ct_csv_next(r->in, r->err);

	if (!rc)
		return ct_err_at(r->err, CT_ETRACE, &at, "is empty, wanted a header line");
	if (rc != 1)
		return rc;
	r->width = ct_csv_fields(r->in);
	if (r->width > CT_FIELD_LIMIT)
		return ct_err_at(r->err, CT_ETRACE, &at, "has %zu columns, wanted at most %d", r->width,
				 (int)CT_FIELD_LIMIT);
	r->extra = CT_NEW(&r->arena, size_t, r->width);
	r->extra_column = CT_NEW(&r->arena, size_t, r->width);
	r->extra_seen = CT_NEW(&r->arena, struct ct_rows_seen, r->width);
	for (size_t i = 0; i < r->width; i++) {
		struct ct_csv_field f = ct_csv_field(r->in, i);
		size_t k = column_of(r, f.s, f.n);

		if (k == r->n_columns) {
			CT_TRY(carry_field(r, i, f));
			continue;
		}
		at = ct_csv_loc(r->in, i);
		if (r->field_of[k] != SIZE_MAX)
			return ct_err_at(r->err, CT_ETRACE, &at, "column '%s' stands twice", r->columns[k].name);
		r->field_of[k] = i;
	}
	return check_required(r);
}

static int set_up(struct ct_rows *r, const struct ct_source *s, size_t member, char delimiter,
		  const struct ct_rows_column *columns, size_t n, const struct ct_trace_options *o,
		  struct ct_workload *w, struct ct_err *err)
{
	struct ct_loc at = { .file = ct_source_path(s) };

	CT_CHECK(NULL, n <= CT_ROWS_COLUMNS, "%zu columns", n);
	*r = (struct ct_rows){ .o = o, .w = w, .err = err, .columns = columns, .n_columns = n, .id_column = SIZE_MAX };
	for (size_t k = 0; k < CT_ROWS_COLUMNS; k++)
		r->field_of[k] = SIZE_MAX;
	if (o->n_columns)
		return ct_err_at(err, CT_ECONFIG, &at,
				 "'trace.columns' is for format 'csv', this is '%s'; trace.format=csv reads it so",
				 w->report.format);
	r->seen = CT_NEW(&r->arena, struct ct_rows_seen, n);
	if (ct_source_csv(s, member, delimiter, &r->in, err))
		ct_arena_fini(&r->arena);
	return (int)err->code;
}

int ct_rows_open(struct ct_rows *r, const struct ct_source *s, size_t member, char delimiter,
		 const struct ct_rows_column *columns, size_t n, const struct ct_trace_options *o,
		 struct ct_workload *w, struct ct_err *err)
{
	CT_TRY(set_up(r, s, member, delimiter, columns, n, o, w, err));
	r->rc = read_header(r);
	return r->rc ? ct_rows_close(r) : 0;
}

int ct_rows_open_plain(struct ct_rows *r, const struct ct_source *s, size_t member, char delimiter,
		       const struct ct_rows_column *columns, size_t n, const struct ct_trace_options *o,
		       struct ct_workload *w, struct ct_err *err)
{
	CT_TRY(set_up(r, s, member, delimiter, columns, n, o, w, err));
	for (size_t k = 0; k < n; k++)
		r->field_of[k] = k;
	r->width = n;
	return 0;
}

/* ---- rows */

static void fill_cells(struct ct_rows *r)
{
	static const struct ct_csv_field none = { .s = "" };

	for (size_t k = 0; k < r->n_columns; k++)
		r->cell[k] = r->field_of[k] == SIZE_MAX ? none : ct_csv_field(r->in, r->field_of[k]);
}

static void progress(const struct ct_rows *r)
{
	uint64_t done, total;

	if (!r->o->progress)
		return;
	ct_csv_progress(r->in, &done, &total);
	r->o->progress(r->o->progress_ctx, done, total);
}

static int field_count_is_right(struct ct_rows *r)
{
	size_t n = ct_csv_fields(r->in);
	struct ct_loc at = ct_csv_loc(r->in, n < r->width ? n - 1 : r->width);

	if (!r->width || n == r->width)
		return 1;
	if (r->o->on_bad_row == CT_BAD_ROW_REFUSE)
		ct_err_add(r->err, CT_ETRACE, &at, "row has %zu fields, wanted %zu", n, r->width);
	else
		ct_workload_count(r->w, "dropped_field_count", "more or fewer fields than the header", 1, 1);
	return 0;
}

static int next_record(struct ct_rows *r)
{
	r->rc = ct_csv_next(r->in, r->err);
	if (r->rc != 1)
		return 0;
	r->rc = 0;
	if (r->w->n >= UINT32_MAX - 2) {
		r->rc = ct_err_at(r->err, CT_ETRACE, NULL, "more than %u jobs", UINT32_MAX - 2);
		return 0;
	}
	if (++r->w->report.rows_read % PROGRESS_ROWS == 0)
		progress(r);
	return 1;
}

/* When the jobs' array is full and large: room for as many as the rest of the file
 * should hold, in fresh memory, as in csv_jobs.c. */
static void reserve(struct ct_rows *r)
{
	struct ct_workload *w = r->w;
	struct ct_job *jobs;
	uint64_t done, total;
	double want;

	if (w->n < w->cap || w->n < RESERVE_FROM)
		return;
	ct_csv_progress(r->in, &done, &total);
	want = (double)w->n * 1.1 * (double)total / (double)(done ? done : 1) + RESERVE_FROM;
	if (done >= total || want > UINT32_MAX)
		return;
	jobs = ct_realloc_array(NULL, (size_t)want, sizeof *jobs);
	memcpy(jobs, w->jobs, w->n * sizeof *jobs);
	free(w->jobs);
	w->jobs = jobs;
	w->cap = (size_t)want;
}

int ct_rows_next(struct ct_rows *r)
{
	struct ct_loc at;

	do
		if (!next_record(r))
			return 0;
	while (!field_count_is_right(r));
	at = ct_csv_loc(r->in, SIZE_MAX);
	r->job = (struct ct_job)CT_JOB_INIT;
	r->job.line = at.line <= UINT32_MAX ? (uint32_t)at.line : 0;
	r->bad = 0;
	r->id = (struct ct_csv_field){ .s = "" };
	if (!r->by_line)
		fill_cells(r);
	return 1;
}

static uint32_t intern(struct ct_rows *r, struct ct_rows_seen *seen, const struct ct_csv_field *f)
{
	const unsigned char *u = (const unsigned char *)f->s;
	uint32_t number;
	size_t k;

	if (!f->n)
		return 0;
	k = (f->n + 7u * u[0] + 31u * u[f->n / 2] + 17u * u[f->n - 1]) % CT_ROWS_SEEN;
	if (seen->slot[k].n == f->n && !memcmp(r->w->strings.text[seen->slot[k].number], f->s, f->n))
		return seen->slot[k].number;
	number = ct_strings_add(&r->w->strings, f->s, f->n);
	seen->slot[k].number = number;
	seen->slot[k].n = (uint32_t)f->n;
	return number;
}

static void set_extra(struct ct_rows *r, size_t column, uint32_t job, struct ct_rows_seen *seen,
		      const struct ct_csv_field *f)
{
	struct ct_extra_column *c = &r->w->columns[column];

	if (job < c->cap)
		c->value[job] = intern(r, seen, f);
	else
		ct_workload_set_extra(r->w, column, job, f->s, f->n);
}

static void carry_extras(struct ct_rows *r, uint32_t job)
{
	for (size_t i = 0; i < r->n_extra; i++) {
		struct ct_csv_field f = ct_csv_field(r->in, r->extra[i]);

		set_extra(r, r->extra_column[i], job, &r->extra_seen[i], &f);
	}
}

/* The row's number as an id. */
static const char *numbered(struct ct_rows *r)
{
	char text[24], *p = text + sizeof text;

	for (uint64_t v = r->w->report.rows_read; v || p == text + sizeof text; v /= 10)
		*--p = (char)('0' + v % 10);
	return ct_workload_text(r->w, p, (size_t)(text + sizeof text - p));
}

/* Called last, for rows that are otherwise good: a bad row takes no id. */
static void claim_id(struct ct_rows *r)
{
	char shown[CT_SHOWN];
	uint32_t other;

	if (r->id_column == SIZE_MAX) {
		r->job.id = numbered(r);
		return;
	}
	other = ct_id_set_claim(&r->ids, r->w, r->id.s, r->id.n, (uint32_t)r->w->n);
	if (other != UINT32_MAX)
		ct_rows_bad(r, r->id_column, "dropped_duplicate_id", "job id of an earlier row",
			    "'%s' '%s' is taken by line %u", r->columns[r->id_column].name,
			    ct_shown(shown, r->id.s, r->id.n), r->w->jobs[other].line);
	else
		r->job.id = ct_workload_text(r->w, r->id.s, r->id.n);
}

uint32_t ct_rows_keep(struct ct_rows *r)
{
	uint32_t job;

	if (!r->bad && !r->job.num_gpus && !r->job.cpu_milli)
		ct_rows_drop(r, "dropped_zero_gpus", "no GPU and no CPU");
	if (!r->bad)
		claim_id(r);
	if (r->bad)
		return UINT32_MAX;
	if (!r->job.num_gpus)
		ct_workload_count(r->w, "cpu_only_job", "no GPU, only CPU", 1, 0);
	reserve(r);
	job = ct_workload_add(r->w, &r->job);
	carry_extras(r, job);
	return job;
}

int ct_rows_close(struct ct_rows *r)
{
	int rc = r->err->code ? (int)r->err->code : r->rc;

	if (r->in) {
		progress(r);
		ct_csv_close(r->in);
	}
	if (!rc && r->id_column == SIZE_MAX)
		ct_workload_count(r->w, "generated_job_id", "no column names the jobs: the row's number is the id",
				  r->w->n, 0);
	r->w->report.rows_kept = r->w->n;
	ct_id_set_fini(&r->ids);
	ct_arena_fini(&r->arena);
	return rc;
}

/* ---- what is wrong with a row */

static struct ct_loc place_of(const struct ct_rows *r, size_t column)
{
	struct ct_loc at;

	if (!r->by_line)
		return ct_csv_loc(r->in, column < r->n_columns ? r->field_of[column] : SIZE_MAX);
	at = ct_csv_loc(r->in, SIZE_MAX);
	at.col = column < r->n_columns ? r->cell[column].col : 0;
	return at;
}

void ct_rows_bad(struct ct_rows *r, size_t column, const char *rule, const char *meaning, const char *fmt, ...)
{
	struct ct_loc at = place_of(r, column);
	char text[512];
	va_list ap;

	if (r->o->on_bad_row == CT_BAD_ROW_REFUSE) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof text, fmt, ap);
		va_end(ap);
		ct_err_add(r->err, CT_ETRACE, &at, "%s", text);
	} else if (!r->bad) {
		ct_workload_count(r->w, rule, meaning, 1, 1);
	}
	r->bad = 1;
}

void ct_rows_drop(struct ct_rows *r, const char *rule, const char *meaning)
{
	if (!r->bad)
		ct_workload_count(r->w, rule, meaning, 1, 1);
	r->bad = 1;
}

static int is_missing(struct ct_rows *r, size_t column)
{
	if (r->cell[column].n)
		return 0;
	ct_rows_bad(r, column, "dropped_missing_value", "a required value is empty", "'%s' is empty",
		    r->columns[column].name);
	return 1;
}

static void not_a(struct ct_rows *r, size_t column, const char *wanted)
{
	char shown[CT_SHOWN];

	ct_rows_bad(r, column, "dropped_not_a_number", "not a number, or not a whole one", "'%s' wants %s, got '%s'",
		    r->columns[column].name, wanted, ct_shown(shown, r->cell[column].s, r->cell[column].n));
}

static void out_of_range(struct ct_rows *r, size_t column, double lo, double hi)
{
	char shown[CT_SHOWN];

	ct_rows_bad(r, column, "dropped_out_of_range", "a value outside its limits",
		    "'%s' wants %.15g to %.15g, got '%s'", r->columns[column].name, lo, hi,
		    ct_shown(shown, r->cell[column].s, r->cell[column].n));
}

/* ---- cells */

void ct_rows_id(struct ct_rows *r, size_t column)
{
	r->id = r->cell[column];
	r->id_column = column;
	if (is_missing(r, column))
		return;
	if (r->id.n > CT_ID_LIMIT)
		ct_rows_bad(r, column, "dropped_out_of_range", "a value outside its limits",
			    "'%s' wants at most %d bytes, got %zu", r->columns[column].name, (int)CT_ID_LIMIT, r->id.n);
}

/* Two or four digits; -1 otherwise. */
static int digits(const char *s, int n)
{
	int v = 0;

	for (int i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = 10 * v + (s[i] - '0');
	}
	return v;
}

/* Days since 1970-01-01 of the proleptic Gregorian calendar: years begin in March, so
 * that the leap day comes last (H. Hinnant's algorithm, stated at length in his
 * "chrono-Compatible Low-Level Date Algorithms"). */
static int64_t days_from_civil(int y, int m, int d)
{
	int64_t era, yoe, doy;

	y -= m <= 2;
	era = y / 400;
	yoe = y - era * 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* "YYYY-MM-DD". */
static int parse_day(const char *s, ct_time *out)
{
	static const int days_in[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int y = digits(s, 4), m = digits(s + 5, 2), d = digits(s + 8, 2);

	if (s[4] != '-' || s[7] != '-' || y < 1970 || m < 1 || m > 12 || d < 1 || d > days_in[m - 1])
		return -1;
	if (m == 2 && d == 29 && (y % 4 || (y % 100 == 0 && y % 400)))
		return -1;
	*out = days_from_civil(y, m, d) * day;
	return 0;
}

/* "YYYY-MM-DD HH:MM:SS", then perhaps a fraction, then perhaps Z. The day is most
 * often that of the row before. */
static int parse_date(struct ct_rows *r, const char *s, size_t n, ct_time *out)
{
	ct_time fraction = 0;
	int h, mi, se;

	if (n && s[n - 1] == 'Z')
		n--;
	if (n < 19 || s[4] != '-' || (s[10] != ' ' && s[10] != 'T') || s[13] != ':' || s[16] != ':')
		return -1;
	h = digits(s + 11, 2), mi = digits(s + 14, 2), se = digits(s + 17, 2);
	if (h < 0 || h > 23 || mi < 0 || mi > 59 || se < 0 || se > 59)
		return -1;
	if (memcmp(s, r->day_text, sizeof r->day_text) != 0) {
		if (parse_day(s, &r->day))
			return -1;
		memcpy(r->day_text, s, sizeof r->day_text);
	}
	if (n > 19 && (s[19] != '.' || n == 20 || ct_time_parse(s + 19, n - 19, &fraction)))
		return -1;
	*out = r->day + (h * 3600 + mi * 60 + se) * CT_SECOND + fraction;
	return 0;
}

/* ct_time_parse(), with a short way for "123" and "123.5", as most cells are. */
static int parse_millionths(const struct ct_csv_field *f, int64_t *out)
{
	int64_t v = 0, unit = 0; /* of the next decimal; 0 = before the point */

	if (f->n > 11 || !f->n || f->s[0] == '.' || f->s[f->n - 1] == '.') /* 10^11 seconds are below the limit */
		return ct_time_parse(f->s, f->n, out);
	for (size_t i = 0; i < f->n; i++) {
		unsigned d = (unsigned)(unsigned char)f->s[i] - '0';

		if (d <= 9 && !unit) {
			v = 10 * v + d;
		} else if (d <= 9 && unit > 1) {
			unit /= 10;
			v += d * unit;
		} else if (f->s[i] == '.' && !unit) {
			v *= 1000000;
			unit = 1000000;
		} else {
			return ct_time_parse(f->s, f->n, out);
		}
	}
	*out = unit ? v : v * 1000000;
	return 0;
}

/* 0 and *out, or the row is bad. */
static int read_time(struct ct_rows *r, size_t column, ct_time *out)
{
	const struct ct_csv_field *f = &r->cell[column];
	int rc;

	if (is_missing(r, column))
		return -1;
	rc = f->n >= 19 && f->s[4] == '-' ? -1 : parse_millionths(f, out);
	if (rc == -1 && !parse_date(r, f->s, f->n, out)) {
		r->dates = 1;
		return 0;
	}
	if (rc == -1)
		not_a(r, column, "seconds or a date");
	else if (rc)
		out_of_range(r, column, 0, ct_seconds(CT_TIME_LIMIT));
	return rc;
}

ct_time ct_rows_time(struct ct_rows *r, size_t column)
{
	ct_time t;

	if (read_time(r, column, &t))
		return 0;
	if (t >= 0 || r->o->shift_to_zero)
		return t;
	ct_rows_bad(r, column, "dropped_negative_submit", "a time before zero", "'%s' must not be negative, got '%.*s'",
		    r->columns[column].name, (int)r->cell[column].n, r->cell[column].s);
	return 0;
}

ct_time ct_rows_duration(struct ct_rows *r, size_t column)
{
	ct_time t;

	if (read_time(r, column, &t))
		return 0;
	if (t > CT_DURATION_LIMIT)
		out_of_range(r, column, 0, ct_seconds(CT_DURATION_LIMIT));
	else if (!t)
		ct_rows_drop(r, "dropped_zero_duration", "duration of zero");
	else if (t < 0)
		ct_rows_bad(r, column, "dropped_negative_duration", "duration below zero",
			    "'%s' must be positive, got '%.*s'", r->columns[column].name, (int)r->cell[column].n,
			    r->cell[column].s);
	return t;
}

int64_t ct_rows_whole(struct ct_rows *r, size_t column, int64_t lo, int64_t hi)
{
	const struct ct_csv_field *f = &r->cell[column];
	int64_t v;
	int rc;

	if (is_missing(r, column))
		return 0;
	rc = parse_millionths(f, &v);
	if (rc == -1 || (!rc && v % 1000000)) {
		not_a(r, column, "a whole number");
		return 0;
	}
	v /= 1000000;
	if (!rc && v >= lo && v <= hi)
		return v;
	out_of_range(r, column, (double)lo, (double)hi);
	return 0;
}

double ct_rows_number(struct ct_rows *r, size_t column, double lo, double hi)
{
	const struct ct_csv_field *f = &r->cell[column];
	double v;
	int rc;

	if (is_missing(r, column))
		return 0;
	rc = ct_parse_f64(f->s, f->n, &v);
	if (rc == -1)
		not_a(r, column, "a number");
	else if (rc || v < lo || v > hi)
		out_of_range(r, column, lo, hi);
	else
		return v;
	return 0;
}

uint32_t ct_rows_string(struct ct_rows *r, size_t column)
{
	return intern(r, &r->seen[column], &r->cell[column]);
}

void ct_rows_carry(struct ct_rows *r, uint32_t job, const char *name, size_t column)
{
	if (job != UINT32_MAX && r->field_of[column] != SIZE_MAX)
		set_extra(r, ct_workload_column(r->w, name), job, &r->seen[column], &r->cell[column]);
}

/* ---- dates */

static void civil_from_days(int64_t z, int *y, int *m, int *d)
{
	int64_t era, doe, yoe, doy, mp;

	z += 719468;
	era = z / 146097;
	doe = z - era * 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	*d = (int)(doy - (153 * mp + 2) / 5 + 1);
	*m = (int)(mp < 10 ? mp + 3 : mp - 9);
	*y = (int)(yoe + era * 400 + (*m <= 2));
}

void ct_rows_date_origin(struct ct_rows *r)
{
	struct ct_workload *w = r->w;
	ct_time first = INT64_MAX;
	int y, m, d;

	if (!r->dates || !w->n)
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->jobs[i].submit_us < first)
			first = w->jobs[i].submit_us;
	first -= first % day;
	for (size_t i = 0; i < w->n; i++)
		w->jobs[i].submit_us -= first;
	ct_workload_count(w, "date_origin", "dates counted in seconds from the midnight before the first one", w->n, 0);
	civil_from_days(first / day, &y, &m, &d);
	ct_workload_history(w, "time 0 is %04d-%02d-%02d 00:00:00 UTC", y, m, d);
}
