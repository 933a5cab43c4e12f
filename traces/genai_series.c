/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The twelve tables of (time, pod, value). */
#include "traces/genai_table.h"

#include "sim/shown.h"

#include <math.h>
#include <string.h>

enum { TIME, VALUE, POD, TYPE };

/* What a value may be: percent and bytes have an upper end, times do not. */
static int in_range(const struct ct_genai_rows *r, double v)
{
	switch (r->table) {
	case CT_GENAI_DUTY:
		return v >= 0 && v <= 100;
	case CT_GENAI_QPS: /* 10,000 requests of a pod in a minute; the published file has 3 */
		return v >= 0 && v <= 900;
	case CT_GENAI_MEMORY: /* the published file has -1.17e-05 */
		return v >= -1e-3 && v <= 1;
	default:
		return v >= 0 && v <= 1e15;
	}
}

static void read_time(struct ct_genai_rows *r, struct ct_genai_sample *s)
{
	double t, k;
	int rc = ct_genai_number(r, TIME, &t);
	char b[CT_SHOWN];
	struct ct_csv_field f = ct_csv_field(r->in, r->field[TIME]);

	if (!rc)
		ct_genai_bad(r, CT_GENAI_MISSING_VALUE, TIME, "'timestamp_anon' is empty");
	if (rc != 1)
		return;
	k = (t - CT_GENAI_EPOCH) / CT_GENAI_STEP_S;
	if (k < 0 || k > CT_GENAI_LAST || k != floor(k))
		ct_genai_bad(r, CT_GENAI_OFF_GRID, TIME,
			     "'timestamp_anon' wants 1662858720 + 57 k with k from 0 to 1440, got '%s'",
			     ct_shown(b, f.s, f.n));
	else
		s->k = (uint16_t)k;
}

static void read_value(struct ct_genai_rows *r, struct ct_genai_sample *s)
{
	int rc = ct_genai_number(r, VALUE, &s->value);
	struct ct_csv_field f = ct_csv_field(r->in, r->field[VALUE]);
	char b[CT_SHOWN];

	if (!rc)
		ct_genai_bad(r, CT_GENAI_MISSING_VALUE, VALUE, "'value' is empty");
	else if (rc == 1 && !in_range(r, s->value))
		ct_genai_bad(r, CT_GENAI_OUT_OF_RANGE, VALUE, "'value' of '%s' is outside its limits: '%s'",
			     ct_genai_table_name(r->table), ct_shown(b, f.s, f.n));
}

static void read_type(struct ct_genai_rows *r, struct ct_genai_sample *s)
{
	struct ct_csv_field f = ct_genai_cell(r, TYPE);
	char b[CT_SHOWN];

	s->api = !strcmp(f.s, "API Requests");
	if (!s->api && strcmp(f.s, "Generative Requests") != 0)
		ct_genai_bad(r, CT_GENAI_UNKNOWN_TYPE, TYPE,
			     "'request_type' wants 'Generative Requests' or 'API Requests', got '%s'",
			     ct_shown(b, f.s, f.n));
}

static void read_row(struct ct_genai_rows *r)
{
	struct ct_genai_series *to = &r->g->series[r->table];
	struct ct_genai_sample s = { 0 };
	struct ct_csv_field pod;

	read_time(r, &s);
	read_value(r, &s);
	if (r->table == CT_GENAI_QPS)
		read_type(r, &s);
	if (r->bad)
		return;
	pod = ct_genai_cell(r, POD);
	s.pod = ct_strings_add(&r->g->names, pod.s, pod.n);
	r->g->rule[r->table][CT_GENAI_EMPTY_POD] += !pod.n;
	r->g->rule[r->table][CT_GENAI_NEGATIVE_MEMORY] += s.value < 0;
	CT_GROW(to->v, to->cap, to->n + 1);
	to->v[to->n++] = s;
}

int ct_genai_read_series(struct ct_genai *g, enum ct_genai_table t, struct ct_csv *in, const struct ct_trace_options *o,
			 struct ct_err *err)
{
	static const char *const names[] = { "timestamp_anon", "value", "container_ip", "request_type" };
	struct ct_genai_rows r = { .g = g, .table = t, .in = in, .o = o, .err = err };

	CT_TRY(ct_genai_rows_open(&r, names, t == CT_GENAI_QPS ? 4 : 3));
	while (ct_genai_rows_next(&r))
		read_row(&r);
	return ct_genai_rows_close(&r);
}
