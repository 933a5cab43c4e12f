/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two tables of requests. */
#include "traces/genai_table.h"

#include "sim/shown.h"

#include <math.h>
#include <string.h>

enum { EXEC, PROMPT, NEGATIVE, IMAGES, STEPS, MODEL, KIND, LORAS, USER, STATUS, TIME };
static const char *const requests_names[] = { "exec_time_seconds",
					      "prompt_length",
					      "negative_prompt_length",
					      "num_images_per_prompt",
					      "num_inference_steps",
					      "checkpoint_model_version_id",
					      "predict_type",
					      "num_lora",
					      "groupId",
					      "predict_status",
					      "gmt_create" };
static const char *const processed_names[] = { "exec_time_seconds",      "prompt_length",
					       "negative_prompt_length", "num_images_per_prompt",
					       "num_inference_steps",    "checkpoint_model_version_id",
					       "predict_type",           "lora_args" };

const char *const ct_genai_status_name[CT_GENAI_STATUSES] = { "SUCCEED", "FAILED", "PENDING", "PROCESSING" };

/* Days from 1970-01-01 to a date of the proleptic Gregorian calendar: years from
 * March, so that the leap day ends them, in eras of 400 years. */
static int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
	int64_t era, year, day;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	year = y - era * 400;
	day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468;
}

/* The number of `n` digits at s, or -1. */
static int64_t digits(const char *s, size_t n)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = 10 * v + (s[i] - '0');
	}
	return v;
}

static int days_of_month(int64_t y, int64_t m)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[m - 1] + (m == 2 && ((y % 4 == 0 && y % 100) || y % 400 == 0));
}

/* "2024-11-15 16:57:50" in civil seconds since 1970; -1 = no such time. */
static int64_t civil(const struct ct_csv_field *f)
{
	static const char form[] = "dddd-dd-dd dd:dd:dd";
	int64_t y, mo, d, h, mi, s;

	if (f->n != sizeof form - 1)
		return -1;
	for (size_t i = 0; i < f->n; i++)
		if (form[i] != 'd' && f->s[i] != form[i])
			return -1;
	y = digits(f->s, 4), mo = digits(f->s + 5, 2), d = digits(f->s + 8, 2);
	h = digits(f->s + 11, 2), mi = digits(f->s + 14, 2), s = digits(f->s + 17, 2);
	if (y < 1970 || mo < 1 || mo > 12 || d < 1 || d > days_of_month(y, mo) || h < 0 || h > 23 || mi < 0 ||
	    mi > 59 || s < 0 || s > 59)
		return -1;
	return days_from_civil(y, mo, d) * 86400 + h * 3600 + mi * 60 + s;
}

static void read_at(struct ct_genai_rows *r, struct ct_genai_request *q)
{
	struct ct_csv_field f = ct_genai_cell(r, TIME);
	int64_t t = civil(&f);
	char b[CT_SHOWN];

	if (!f.n)
		ct_genai_bad(r, CT_GENAI_MISSING_VALUE, TIME, "'gmt_create' is empty");
	else if (t < 0)
		ct_genai_bad(r, CT_GENAI_NOT_A_NUMBER, TIME, "'gmt_create' wants YYYY-MM-DD HH:MM:SS, got '%s'",
			     ct_shown(b, f.s, f.n));
	q->at = t * CT_SECOND;
}

static void read_status(struct ct_genai_rows *r, struct ct_genai_request *q)
{
	struct ct_csv_field f = ct_genai_cell(r, STATUS);
	char b[CT_SHOWN];

	for (q->status = 0; q->status < CT_GENAI_STATUSES; q->status++)
		if (!strcmp(f.s, ct_genai_status_name[q->status]))
			return;
	ct_genai_bad(r, CT_GENAI_UNKNOWN_STATUS, STATUS,
		     "'predict_status' wants SUCCEED, FAILED, PENDING or PROCESSING, got '%s'", ct_shown(b, f.s, f.n));
}

static void read_numbers(struct ct_genai_rows *r, struct ct_genai_request *q)
{
	for (size_t c = EXEC; c <= STEPS; c++) {
		double v = NAN;
		int rc = ct_genai_number(r, c, &v);

		if (!rc && c == EXEC)
			ct_genai_bad(r, CT_GENAI_MISSING_VALUE, c, "'exec_time_seconds' is empty");
		else if (rc == 1 && (v < 0 || v > 1e9))
			ct_genai_bad(r, CT_GENAI_OUT_OF_RANGE, c, "'%s' wants 0 to 1e9, got %g", r->names[c], v);
		q->number[c] = v;
	}
	q->exec = isnan(q->number[EXEC]) ? 0 : llround(q->number[EXEC] * 1e6);
}

static void count_loras(struct ct_genai_rows *r, struct ct_genai_request *q)
{
	double v = 0;
	int rc = ct_genai_number(r, LORAS, &v);

	if (rc == 1 && (v < 0 || v > 1000 || v != floor(v)))
		ct_genai_bad(r, CT_GENAI_OUT_OF_RANGE, LORAS, "'num_lora' wants 0 to 1000, got %g", v);
	else if (rc == 1)
		q->loras = (uint32_t)v;
}

/* lora_args is a printed Python list: [{'modelVersionId': 'ID', 'scale': 0.8}, ...]. */
static void list_loras(struct ct_genai_rows *r, struct ct_genai_request *q)
{
	static const char key[] = "'modelVersionId': '";
	struct ct_csv_field f = ct_genai_cell(r, LORAS);
	struct ct_genai *g = r->g;
	char b[CT_SHOWN];

	q->first_lora = (uint32_t)g->n_loras;
	if (f.n && (f.s[0] != '[' || f.s[f.n - 1] != ']')) {
		ct_genai_bad(r, CT_GENAI_OUT_OF_RANGE, LORAS, "'lora_args' wants a list in brackets, got '%s'",
			     ct_shown(b, f.s, f.n));
		return;
	}
	for (const char *s = f.s; (s = strstr(s, key));) {
		size_t n = strcspn(s += sizeof key - 1, "'");

		CT_GROW(g->lora, g->cap_loras, g->n_loras + 1);
		g->lora[g->n_loras++] = ct_strings_add(&g->names, s, n);
		q->loras++;
	}
}

static uint32_t name(struct ct_genai_rows *r, size_t column)
{
	struct ct_csv_field f = ct_genai_cell(r, column);

	return ct_strings_add(&r->g->names, f.s, f.n);
}

static void read_row(struct ct_genai_rows *r)
{
	size_t which = r->table == CT_GENAI_PROCESSED;
	struct ct_genai *g = r->g;
	struct ct_genai_request q = { 0 };
	struct ct_loc at = ct_csv_loc(r->in, SIZE_MAX);

	q.line = at.line <= UINT32_MAX ? (uint32_t)at.line : 0;
	read_numbers(r, &q);
	if (which) {
		list_loras(r, &q);
	} else {
		read_at(r, &q);
		read_status(r, &q);
		count_loras(r, &q);
	}
	if (r->bad)
		return;
	q.model = name(r, MODEL);
	q.kind = name(r, KIND);
	if (!which)
		q.user = name(r, USER);
	CT_GROW(g->request[which], g->cap_requests[which], g->n_requests[which] + 1);
	g->request[which][g->n_requests[which]++] = q;
}

/* Times count from the midnight before the first request. */
static void settle_midnight(struct ct_genai *g)
{
	const ct_time day = 86400 * CT_SECOND;
	struct ct_genai_request *q = g->request[0];
	ct_time first = g->n_requests[0] ? q[0].at : 0;

	for (size_t i = 1; i < g->n_requests[0]; i++)
		first = q[i].at < first ? q[i].at : first;
	first -= first % day;
	g->midnight_s = first / CT_SECOND;
	for (size_t i = 0; i < g->n_requests[0]; i++)
		q[i].at -= first;
}

int ct_genai_read_requests(struct ct_genai *g, enum ct_genai_table t, struct ct_csv *in,
			   const struct ct_trace_options *o, struct ct_err *err)
{
	struct ct_genai_rows r = { .g = g, .table = t, .in = in, .o = o, .err = err };

	if (t == CT_GENAI_PROCESSED)
		CT_TRY(ct_genai_rows_open(&r, processed_names, sizeof processed_names / sizeof *processed_names));
	else
		CT_TRY(ct_genai_rows_open(&r, requests_names, sizeof requests_names / sizeof *requests_names));
	while (ct_genai_rows_next(&r))
		read_row(&r);
	if (t == CT_GENAI_REQUESTS)
		settle_midnight(g);
	return ct_genai_rows_close(&r);
}
