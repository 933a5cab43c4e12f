/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells are read in the order of the file into a job under construction;
 * what needs several cells (shares of GPUs, instances, the elastic range, the id)
 * is settled at the end of the row. No cell is hashed when its text was seen in
 * the same column shortly before. */
#include "traces/csv_jobs.h"

#include "sim/shown.h"
#include "traces/columns.h"
#include "traces/csv_header.h"
#include "traces/id_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rule {
	FIELD_COUNT,
	MISSING_VALUE,
	NOT_A_NUMBER,
	NEGATIVE_SUBMIT,
	ZERO_DURATION,
	NEGATIVE_DURATION,
	ZERO_GPUS,
	NEGATIVE_GPUS,
	OUT_OF_RANGE,
	DUPLICATE_ID,
	RULES
};
static const struct {
	const char *name, *meaning;
} rules[RULES] = {
	[FIELD_COUNT] = { "dropped_field_count", "more or fewer fields than the header" },
	[MISSING_VALUE] = { "dropped_missing_value", "a required value is empty" },
	[NOT_A_NUMBER] = { "dropped_not_a_number", "not a number, or not a whole one" },
	[NEGATIVE_SUBMIT] = { "dropped_negative_submit", "submitted before time zero" },
	[ZERO_DURATION] = { "dropped_zero_duration", "duration of zero" },
	[NEGATIVE_DURATION] = { "dropped_negative_duration", "duration below zero" },
	[ZERO_GPUS] = { "dropped_zero_gpus", "no GPU and no CPU" },
	[NEGATIVE_GPUS] = { "dropped_negative_gpus", "fewer than zero GPUs" },
	[OUT_OF_RANGE] = { "dropped_out_of_range", "a value outside its limits" },
	[DUPLICATE_ID] = { "dropped_duplicate_id", "job_id of an earlier row" },
};

/* Texts seen lately in one column: direct-mapped, by length and three bytes. */
enum { SEEN = 64, RESERVE_FROM = 20000 };
struct seen {
	struct {
		uint32_t number, n; /* n = 0: empty slot */
	} slot[SEEN];
};

struct reader {
	struct ct_csv *in;
	const struct ct_trace_options *o;
	struct ct_workload *w;
	struct ct_err *err;
	struct ct_arena arena;
	struct ct_csv_header h;
	enum ct_column_id active[CT_COLUMNS];
	size_t n_active;
	size_t *extra_column; /* in the workload */
	struct seen *seen;    /* per canonical column, then per extra */

	/* this row */
	struct ct_job job;
	ct_time gpus; /* millionths */
	int64_t inst;
	struct ct_csv_field id;
	int bad, rounded_gpus, rounded_cpus, rounded_memory;

	struct ct_id_set ids;
};

/* Marks the row as bad; 1 when the caller is to report why. */
static int note(struct reader *r, enum rule rule)
{
	int first = !r->bad;

	r->bad = 1;
	if (r->o->on_bad_row == CT_BAD_ROW_REFUSE)
		return 1;
	if (first)
		ct_workload_count(r->w, rules[rule].name, rules[rule].meaning, 1, 1);
	return 0;
}

#define BAD(r, rule, field, ...)                                            \
	do {                                                                \
		if (note((r), (rule))) {                                    \
			struct ct_loc at_ = ct_csv_loc((r)->in, (field));   \
			ct_err_add((r)->err, CT_ETRACE, &at_, __VA_ARGS__); \
		}                                                           \
	} while (0)

static const char *field_name(const struct reader *r, size_t field, char out[CT_SHOWN])
{
	return ct_shown(out, r->h.name[field], strlen(r->h.name[field]));
}

/* ---- cells */

static uint32_t intern(struct reader *r, struct seen *seen, const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t k;
	uint32_t number;

	if (!n)
		return 0;
	k = (n + 7u * u[0] + 31u * u[n / 2] + 17u * u[n - 1]) % SEEN;
	if (seen->slot[k].n == n && !memcmp(r->w->strings.text[seen->slot[k].number], s, n))
		return seen->slot[k].number;
	number = ct_strings_add(&r->w->strings, s, n);
	seen->slot[k].number = number;
	seen->slot[k].n = (uint32_t)n;
	return number;
}

/* Digits only, as most cells are: a tenth of ct_time_parse()'s instructions. */
static int plain_digits(const struct ct_csv_field *f, int64_t *out)
{
	int64_t v = 0;

	if (f->n > 11) /* 10^11 seconds are below the limit */
		return 0;
	for (size_t i = 0; i < f->n; i++) {
		unsigned d = (unsigned)(unsigned char)f->s[i] - '0';

		if (d > 9)
			return 0;
		v = 10 * v + d;
	}
	*out = v * 1000000;
	return 1;
}

/* A decimal number in millionths, which is also how times are kept. */
static int decimal(struct reader *r, size_t field, const struct ct_csv_field *f, const char *wanted, int64_t *out)
{
	int rc = plain_digits(f, out) ? 0 : ct_time_parse(f->s, f->n, out);
	char name[CT_SHOWN], got[CT_SHOWN];

	if (rc == -1)
		BAD(r, NOT_A_NUMBER, field, "'%s' wants %s, got '%s'", field_name(r, field, name), wanted,
		    ct_shown(got, f->s, f->n));
	else if (rc)
		BAD(r, OUT_OF_RANGE, field, "'%s' wants %s of at most 288230376151, got '%s'",
		    field_name(r, field, name), wanted, ct_shown(got, f->s, f->n));
	return rc;
}

static void out_of_range(struct reader *r, size_t field, const struct ct_csv_field *f, int64_t lo, int64_t hi)
{
	char name[CT_SHOWN], got[CT_SHOWN];

	BAD(r, OUT_OF_RANGE, field, "'%s' wants %lld to %lld, got '%s'", field_name(r, field, name), (long long)lo,
	    (long long)hi, ct_shown(got, f->s, f->n));
}

static void time_out_of_range(struct reader *r, enum ct_column_id c, size_t field, const struct ct_csv_field *f,
			      ct_time t)
{
	char name[CT_SHOWN], got[CT_SHOWN];

	field_name(r, field, name);
	ct_shown(got, f->s, f->n);
	if (c == CT_COLUMN_DURATION && t == 0)
		BAD(r, ZERO_DURATION, field, "'%s' must be positive, got '%s'", name, got);
	else if (c == CT_COLUMN_DURATION && t < 0)
		BAD(r, NEGATIVE_DURATION, field, "'%s' must be positive, got '%s'", name, got);
	else if (c == CT_COLUMN_SUBMIT_TIME && t < 0)
		BAD(r, NEGATIVE_SUBMIT, field, "'%s' must not be negative, got '%s'", name, got);
	else
		BAD(r, OUT_OF_RANGE, field, "'%s' wants 0 to %lld seconds, got '%s'", name,
		    (long long)(ct_columns[c].hi / CT_SECOND), got);
}

static void read_time(struct reader *r, enum ct_column_id c, size_t field, const struct ct_csv_field *f)
{
	int shifted = c == CT_COLUMN_SUBMIT_TIME && r->o->shift_to_zero;
	ct_time t;

	if (decimal(r, field, f, "seconds", &t))
		return;
	if (t > ct_columns[c].hi || (t < ct_columns[c].lo && !shifted))
		time_out_of_range(r, c, field, f, t);
	else
		*(ct_time *)ct_column_member(&r->job, c) = t;
}

/* A whole number in [lo, hi]; also written "8.0" or "1e2". */
static int whole(struct reader *r, size_t field, const struct ct_csv_field *f, int64_t lo, int64_t hi, int64_t *out)
{
	char name[CT_SHOWN], got[CT_SHOWN];
	int64_t v;

	if (decimal(r, field, f, "a whole number", &v))
		return -1;
	if (v % 1000000) {
		BAD(r, NOT_A_NUMBER, field, "'%s' wants a whole number, got '%s'", field_name(r, field, name),
		    ct_shown(got, f->s, f->n));
		return -1;
	}
	v /= 1000000;
	if (v < lo || v > hi) {
		out_of_range(r, field, f, lo, hi);
		return -1;
	}
	*out = v;
	return 0;
}

static void read_count(struct reader *r, enum ct_column_id c, size_t field, const struct ct_csv_field *f)
{
	int64_t lo = c == CT_COLUMN_GPU_MILLI ? 0 : ct_columns[c].lo, v;

	if (!whole(r, field, f, lo, ct_columns[c].hi, &v))
		*(uint32_t *)ct_column_member(&r->job, c) = (uint32_t)v;
}

/* A decimal in units of `millionths`, rounded up so that no request vanishes. */
static void read_amount(struct reader *r, enum ct_column_id c, size_t field, const struct ct_csv_field *f,
			int64_t millionths, int *rounded)
{
	int64_t v;

	if (decimal(r, field, f, "a number", &v))
		return;
	if (v < 0 || v > UINT32_MAX * millionths) {
		out_of_range(r, field, f, 0, UINT32_MAX * millionths / 1000000);
		return;
	}
	*rounded |= v % millionths != 0;
	*(uint32_t *)ct_column_member(&r->job, c) = (uint32_t)((v + millionths - 1) / millionths);
}

static void read_fraction(struct reader *r, size_t field, const struct ct_csv_field *f)
{
	int rc;
	double v;
	char name[CT_SHOWN], got[CT_SHOWN];

	rc = ct_parse_f64(f->s, f->n, &v);
	if (rc == -1)
		BAD(r, NOT_A_NUMBER, field, "'%s' wants a number, got '%s'", field_name(r, field, name),
		    ct_shown(got, f->s, f->n));
	else if (rc || v < 0 || v > 1)
		out_of_range(r, field, f, 0, 1);
	else
		r->job.sm_frac = (float)v;
}

static void read_id(struct reader *r, size_t field, const struct ct_csv_field *f)
{
	char got[CT_SHOWN], name[CT_SHOWN];

	if (f->n > CT_ID_LIMIT)
		BAD(r, OUT_OF_RANGE, field, "'%s' wants at most %d bytes, got '%s'", field_name(r, field, name),
		    CT_ID_LIMIT, ct_shown(got, f->s, f->n));
	r->id = *f;
}

static void read_cell(struct reader *r, enum ct_column_id c, size_t field)
{
	const struct ct_csv_field f = ct_csv_field(r->in, field);
	int64_t v;

	if (!f.n) {
		char name[CT_SHOWN];

		if (ct_columns[c].doc.required || c == CT_COLUMN_JOB_ID)
			BAD(r, MISSING_VALUE, field, "'%s' is empty", field_name(r, field, name));
		return;
	}
	switch (ct_columns[c].cell) {
	case CT_CELL_ID:
		read_id(r, field, &f);
		break;
	case CT_CELL_TEXT:
		*(uint32_t *)ct_column_member(&r->job, c) = intern(r, &r->seen[c], f.s, f.n);
		break;
	case CT_CELL_TIME:
		read_time(r, c, field, &f);
		break;
	case CT_CELL_COUNT:
		read_count(r, c, field, &f);
		break;
	case CT_CELL_GPUS:
		decimal(r, field, &f, "a number", &r->gpus);
		break;
	case CT_CELL_MILLI:
		read_amount(r, c, field, &f, 1000, &r->rounded_cpus);
		break;
	case CT_CELL_MIB:
		read_amount(r, c, field, &f, 1000000, &r->rounded_memory);
		break;
	case CT_CELL_SIGNED:
		if (!whole(r, field, &f, INT32_MIN, INT32_MAX, &v))
			r->job.priority = (int32_t)v;
		break;
	case CT_CELL_FRACTION:
		read_fraction(r, field, &f);
		break;
	case CT_CELL_INSTANCES:
		whole(r, field, &f, 1, UINT32_MAX, &r->inst);
		break;
	}
}

/* ---- what several cells decide together */

/* num_gpus with decimals: the share in thousandths is spread evenly over the
 * fewest GPUs that hold it, so 1.5 is 2 GPUs at 750. */
static void split_share(struct reader *r, size_t field)
{
	struct ct_job *j = &r->job;
	int64_t total = (r->gpus + 500) / 1000, n = (total + 999) / 1000;
	struct ct_csv_field f = ct_csv_field(r->in, field);
	char got[CT_SHOWN], name[CT_SHOWN];

	ct_shown(got, f.s, f.n);
	field_name(r, field, name);
	if (j->gpu_milli)
		BAD(r, OUT_OF_RANGE, field, "'%s' wants whole GPUs beside 'gpu_milli', got '%s'", name, got);
	else if (!total)
		BAD(r, OUT_OF_RANGE, field, "'%s' wants at least a thousandth of a GPU, got '%s'", name, got);
	else if (total % n)
		BAD(r, OUT_OF_RANGE, field, "'%s' of '%s' is not %lld equal shares of whole thousandths of a GPU", name,
		    got, (long long)n);
	if (r->bad)
		return;
	j->num_gpus = (uint32_t)n;
	j->gpu_milli = (uint32_t)(total / n);
	r->rounded_gpus = r->gpus % 1000 != 0;
}

static void settle_gpus(struct reader *r)
{
	size_t field = r->h.field_of[CT_COLUMN_NUM_GPUS];
	struct ct_job *j = &r->job;
	struct ct_csv_field f = ct_csv_field(r->in, field);
	char got[CT_SHOWN], name[CT_SHOWN];

	if (r->gpus < 0 || (!r->gpus && !j->cpu_milli)) {
		BAD(r, r->gpus < 0 ? NEGATIVE_GPUS : ZERO_GPUS, field, "'%s' must be positive, got '%s'",
		    field_name(r, field, name), ct_shown(got, f.s, f.n));
	} else if (r->gpus > UINT32_MAX * INT64_C(1000000)) {
		out_of_range(r, field, &f, 0, UINT32_MAX);
	} else if (r->gpus % 1000000) {
		split_share(r, field);
	} else {
		j->num_gpus = (uint32_t)(r->gpus / 1000000);
		j->gpu_milli = j->gpu_milli ? j->gpu_milli : 1000;
	}
}

static void multiply(struct reader *r, uint32_t *v, const char *name)
{
	int64_t product = *v * r->inst;

	if (product > UINT32_MAX)
		BAD(r, OUT_OF_RANGE, r->h.field_of[CT_COLUMN_NUM_INST],
		    "%lld instances of '%s' %lld are more than %lld", (long long)r->inst, name, (long long)*v,
		    (long long)UINT32_MAX);
	*v = (uint32_t)product;
}

static void settle_range(struct reader *r)
{
	struct ct_job *j = &r->job;

	if (j->min_gpus > j->num_gpus)
		BAD(r, OUT_OF_RANGE, r->h.field_of[CT_COLUMN_MIN_GPUS],
		    "'min_gpus' wants at most the %u GPUs of the job, got %u", j->num_gpus, j->min_gpus);
	if (j->max_gpus && j->max_gpus < j->num_gpus)
		BAD(r, OUT_OF_RANGE, r->h.field_of[CT_COLUMN_MAX_GPUS],
		    "'max_gpus' wants at least the %u GPUs of the job, got %u", j->num_gpus, j->max_gpus);
	if (j->deadline_us >= 0 && j->deadline_us < j->submit_us)
		BAD(r, OUT_OF_RANGE, r->h.field_of[CT_COLUMN_DEADLINE],
		    "'deadline' lies before the submission (both count from the same zero)");
}

/* ---- ids */

/* Called last, for rows that are otherwise good: a bad row takes no id. */
static void claim_id(struct reader *r)
{
	uint32_t other = ct_id_set_claim(&r->ids, r->w, r->id.s, r->id.n, (uint32_t)r->w->n);
	size_t field = r->h.field_of[CT_COLUMN_JOB_ID];
	char got[CT_SHOWN], name[CT_SHOWN];

	if (other != UINT32_MAX)
		BAD(r, DUPLICATE_ID, field, "'%s' '%s' is taken by line %u", field_name(r, field, name),
		    ct_shown(got, r->id.s, r->id.n), r->w->jobs[other].line);
}

static void give_id(struct reader *r)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%llu", (unsigned long long)r->w->report.rows_read);

	r->job.id = ct_workload_text(r->w, text, (size_t)n);
}

/* ---- rows */

static void carry_extras(struct reader *r, uint32_t job)
{
	for (size_t i = 0; i < r->h.n_extra; i++) {
		struct ct_csv_field f = ct_csv_field(r->in, r->h.extra[i]);
		struct ct_extra_column *c = &r->w->columns[r->extra_column[i]];

		if (job >= c->cap)
			ct_workload_set_extra(r->w, r->extra_column[i], job, f.s, f.n);
		else
			c->value[job] = intern(r, &r->seen[CT_COLUMNS + i], f.s, f.n);
	}
}

static void count_repairs(struct reader *r)
{
	struct ct_workload *w = r->w;

	if (r->rounded_gpus)
		ct_workload_count(w, "rounded_num_gpus", "share rounded to a thousandth of a GPU", 1, 0);
	if (r->rounded_cpus)
		ct_workload_count(w, "rounded_num_cpus", "cores rounded up to a thousandth", 1, 0);
	if (r->rounded_memory)
		ct_workload_count(w, "rounded_memory", "memory rounded up to a MiB", 1, 0);
	if (!r->job.num_gpus)
		ct_workload_count(w, "cpu_only_job", "no GPU, only CPU", 1, 0);
}

static int check_field_count(struct reader *r)
{
	size_t n = ct_csv_fields(r->in);

	if (n < r->h.n)
		BAD(r, FIELD_COUNT, n - 1, "row ends after %zu fields, wanted %zu as in the header", n, r->h.n);
	else if (n > r->h.n)
		BAD(r, FIELD_COUNT, r->h.n, "row has %zu fields, wanted %zu as in the header", n, r->h.n);
	return n != r->h.n;
}

static void read_row(struct reader *r)
{
	struct ct_loc at = ct_csv_loc(r->in, SIZE_MAX);

	r->job = (struct ct_job)CT_JOB_INIT;
	r->job.gpu_milli = 0; /* until settled: not given */
	r->job.line = at.line <= UINT32_MAX ? (uint32_t)at.line : 0;
	r->gpus = 0;
	r->inst = 1;
	r->bad = r->rounded_gpus = r->rounded_cpus = r->rounded_memory = 0;
	if (check_field_count(r))
		return;
	for (size_t i = 0; i < r->n_active; i++)
		read_cell(r, r->active[i], r->h.field_of[r->active[i]]);
	if (!r->bad)
		settle_gpus(r);
	if (!r->bad && r->inst != 1) {
		multiply(r, &r->job.num_gpus, "num_gpus");
		multiply(r, &r->job.cpu_milli, "num_cpus");
		multiply(r, &r->job.mem_mib, "mem_mib");
	}
	if (!r->bad)
		settle_range(r);
	if (!r->bad && r->h.field_of[CT_COLUMN_JOB_ID] != SIZE_MAX)
		claim_id(r);
	if (r->bad)
		return;
	if (r->h.field_of[CT_COLUMN_JOB_ID] != SIZE_MAX)
		r->job.id = ct_workload_text(r->w, r->id.s, r->id.n);
	else
		give_id(r);
	count_repairs(r);
	carry_extras(r, ct_workload_add(r->w, &r->job));
}

static void progress(const struct reader *r)
{
	uint64_t done, total;

	if (!r->o->progress)
		return;
	ct_csv_progress(r->in, &done, &total);
	r->o->progress(r->o->progress_ctx, done, total);
}

/* When the jobs' array is full and large: room for as many as the rest of the file
 * should hold, in one step and in fresh memory, which comes in huge pages. Growing
 * bit by bit took three times as long as all the rest of the reading. */
static void reserve(struct reader *r)
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

static int read_rows(struct reader *r)
{
	struct ct_import_report *report = &r->w->report;
	int rc;

	while ((rc = ct_csv_next(r->in, r->err)) == 1) {
		if (r->w->n >= UINT32_MAX - 2)
			return ct_err_at(r->err, CT_ETRACE, NULL, "more than %u jobs", UINT32_MAX - 2);
		report->rows_read++;
		reserve(r);
		read_row(r);
		if (report->rows_read % 8192 == 0)
			progress(r);
	}
	progress(r);
	report->rows_kept = r->w->n;
	if (r->h.field_of[CT_COLUMN_JOB_ID] == SIZE_MAX)
		ct_workload_count(r->w, "generated_job_id", "no job_id column: the row's number is the id", r->w->n, 0);
	return r->err->code ? (int)r->err->code : rc;
}

/* Cells are read in the order of the file, so that messages come in its order. */
static void activate(struct reader *r, enum ct_column_id c)
{
	size_t at = r->n_active++;

	for (; at && r->h.field_of[r->active[at - 1]] > r->h.field_of[c]; at--)
		r->active[at] = r->active[at - 1];
	r->active[at] = c;
}

static void prepare(struct reader *r)
{
	r->extra_column = CT_NEW(&r->arena, size_t, r->h.n_extra);
	r->seen = CT_NEW(&r->arena, struct seen, CT_COLUMNS + r->h.n_extra);
	for (size_t i = 0; i < r->h.n_extra; i++)
		r->extra_column[i] = ct_workload_column(r->w, r->h.extra_name[i]);
	for (size_t c = 0; c < CT_COLUMNS; c++)
		if (r->h.field_of[c] != SIZE_MAX)
			activate(r, (enum ct_column_id)c);
}

int ct_csv_jobs_read_open(struct ct_csv *in, const struct ct_trace_options *o, struct ct_workload *w,
			  struct ct_err *err)
{
	struct reader *r = ct_calloc(1, sizeof *r);
	int rc;

	r->in = in;
	r->o = o;
	r->w = w;
	r->err = err;
	rc = ct_csv_header_read(in, o, &r->arena, &r->h, err);
	if (!rc) {
		prepare(r);
		rc = read_rows(r);
	}
	ct_id_set_fini(&r->ids);
	ct_arena_fini(&r->arena);
	free(r);
	return rc;
}

int ct_csv_jobs_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		     struct ct_err *err)
{
	struct ct_csv *in;
	int rc;

	CT_TRY(ct_source_csv(s, member, ',', &in, err));
	rc = ct_csv_jobs_read_open(in, o, w, err);
	ct_csv_close(in);
	return rc;
}

int ct_csv_jobs_canonical(const char *head, size_t n)
{
	return n && ct_head_has_fields(head, "job_id,submit_time,num_gpus,duration", ',');
}

/* Text, as far as the first line goes: the generic reader is the last resort, and
 * says itself what is wrong with a text. */
int ct_csv_jobs_recognise(const char *head, size_t n)
{
	if (n && ((unsigned char)head[0] & 0xc0) == 0x80)
		return 0; /* no character begins so in UTF-8 */
	for (size_t i = 0; i < n && head[i] != '\n' && head[i] != '\r'; i++)
		if ((unsigned char)head[i] < 0x20 && head[i] != '\t')
			return 0;
	return 1;
}
