/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical CSV: required columns, then those in use, then the extra ones, as
 * text that reads back to the same digest. */
#include "sim/output.h"
#include "traces/columns.h"
#include "traces/trace.h"

#include <math.h>

static void write_milli(struct ct_output *o, uint32_t milli)
{
	ct_output_time(o, (ct_time)milli * 1000); /* thousandths of a core as decimals */
}

/* The shortest decimal that is the same float again. */
static void write_float(struct ct_output *o, float x)
{
	double scale = 10;

	for (int digits = 1; digits <= 12; digits++, scale *= 10) {
		double y = round((double)x * scale) / scale;

		if ((float)y == x) {
			ct_output_f64(o, y);
			return;
		}
	}
	ct_output_f64(o, (double)x);
}

static void write_cell(struct ct_output *o, const struct ct_workload *w, const struct ct_job *job, enum ct_column_id c)
{
	const void *v = ct_column_value(job, c);

	switch (ct_columns[c].cell) {
	case CT_CELL_ID:
		ct_output_field(o, job->id);
		break;
	case CT_CELL_TEXT:
		ct_output_field(o, ct_strings_text(&w->strings, *(const uint32_t *)v));
		break;
	case CT_CELL_TIME:
		if (*(const ct_time *)v >= 0)
			ct_output_time(o, *(const ct_time *)v);
		break;
	case CT_CELL_COUNT: /* 0: the range of a job without GPUs */
		if (*(const uint32_t *)v)
			ct_output_i64(o, *(const uint32_t *)v);
		break;
	case CT_CELL_GPUS:
	case CT_CELL_MIB:
		ct_output_i64(o, *(const uint32_t *)v);
		break;
	case CT_CELL_MILLI:
		write_milli(o, *(const uint32_t *)v);
		break;
	case CT_CELL_SIGNED:
		ct_output_i64(o, job->priority);
		break;
	case CT_CELL_FRACTION:
		if (!isnan(job->sm_frac))
			write_float(o, job->sm_frac);
		break;
	case CT_CELL_INSTANCES:
		break; /* multiplied in already */
	}
}

int ct_trace_write_csv(const struct ct_workload *w, const char *path, struct ct_err *err)
{
	enum ct_column_id used[CT_COLUMNS];
	size_t n = 0;
	struct ct_output o;

	CT_TRY(ct_output_open(&o, path, err));
	for (size_t c = 0; c < CT_COLUMNS; c++)
		if (ct_column_in_use(w, (enum ct_column_id)c))
			used[n++] = (enum ct_column_id)c;
	for (size_t k = 0; k < n; k++) {
		ct_output_text(&o, k ? "," : "");
		ct_output_text(&o, ct_columns[used[k]].doc.name);
	}
	for (size_t k = 0; k < w->n_columns; k++) {
		ct_output_text(&o, ",");
		ct_output_field(&o, w->columns[k].name);
	}
	ct_output_text(&o, "\n");
	for (size_t i = 0; i < w->n; i++) {
		for (size_t k = 0; k < n; k++) {
			ct_output_text(&o, k ? "," : "");
			write_cell(&o, w, &w->jobs[i], used[k]);
		}
		for (size_t k = 0; k < w->n_columns; k++) {
			ct_output_text(&o, ",");
			ct_output_field(&o, ct_strings_text(&w->strings, w->columns[k].value[i]));
		}
		ct_output_text(&o, "\n");
	}
	return ct_output_close(&o, err);
}
