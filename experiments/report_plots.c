/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/report.h"

#include "sim/clock.h"

#include <math.h>
#include <stdlib.h>

enum { BINS_SHOWN = 480 }; /* about one a pixel; longer series are averaged */

/* Values of one curve, on the heap. */
struct curve {
	double *x, *y;
	size_t n;
};

static int column_of(const struct ct_frame *f, const char *name, enum ct_column_type type, const char *label,
		     const struct ct_column **out, struct ct_err *err)
{
	*out = ct_frame_column(f, name);
	if (!*out || (*out)->type != type)
		return ct_err_at(err, CT_EIO, NULL, "the result of '%s' has no column '%s' of that kind", label, name);
	return 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* ---- distributions over jobs */

/* Of a column of times over the measured jobs; begins at 0 under the least value. */
static int distribution(const struct ct_result *r, const char *label, const char *column, struct curve *out,
			struct ct_err *err)
{
	const struct ct_column *time, *measured;
	size_t n = 0;

	CT_TRY(column_of(&r->jobs, column, CT_COLUMN_TIME, label, &time, err));
	CT_TRY(column_of(&r->jobs, "measured", CT_COLUMN_I64, label, &measured, err));
	out->x = ct_calloc(r->jobs.n_rows + 1, sizeof *out->x);
	out->y = ct_calloc(r->jobs.n_rows + 1, sizeof *out->y);
	for (size_t i = 0; i < r->jobs.n_rows; i++)
		if (ct_cell_i64(measured, i) > 0 && ct_cell_i64(time, i) != CT_NO_TIME)
			out->x[++n] = ct_seconds(ct_cell_i64(time, i));
	if (!n)
		return 0;
	qsort(out->x + 1, n, sizeof *out->x, ascending);
	out->x[0] = out->x[1];
	for (size_t i = 1; i <= n; i++)
		out->y[i] = (double)i / (double)n;
	out->n = n + 1;
	return 0;
}

/* ---- over time */

struct over_time {
	double unit_s; /* of the axis */
	const char *x_label;
	ct_time bins; /* averaged into one step, the most of any run */
};

static double seconds_at(const struct ct_column *time, size_t i)
{
	return ct_seconds(ct_cell_i64(time, i) - ct_cell_i64(time, 0));
}

static void choose_unit(const struct ct_comparison *c, struct over_time *o)
{
	double span = 0;

	for (size_t i = 0; i < c->n_runs; i++) {
		const struct ct_column *time = ct_frame_column(&c->run[i].series, "time");
		size_t n = c->run[i].series.n_rows;

		if (time && n)
			span = fmax(span, seconds_at(time, n - 1));
	}
	*o = (struct over_time){ 1, "time since the first submission (s)", 1 };
	if (span > 10 * 86400.0)
		*o = (struct over_time){ 86400, "time since the first submission (days)", 1 };
	else if (span > 2 * 3600.0)
		*o = (struct over_time){ 3600, "time since the first submission (hours)", 1 };
	else if (span > 300)
		*o = (struct over_time){ 60, "time since the first submission (minutes)", 1 };
}

/* `column` / `over` x scale; unknown bins end the curve. */
static int series(const struct ct_result *r, const char *label, const char *column, const char *over, double scale,
		  struct over_time *o, struct curve *out, struct ct_err *err)
{
	const struct ct_column *time, *value, *by = NULL;
	size_t n = r->series.n_rows, group = n / BINS_SHOWN + 1;

	if (!n)
		return 0;
	CT_TRY(column_of(&r->series, "time", CT_COLUMN_TIME, label, &time, err));
	CT_TRY(column_of(&r->series, column, CT_COLUMN_F64, label, &value, err));
	if (over)
		CT_TRY(column_of(&r->series, over, CT_COLUMN_F64, label, &by, err));
	out->x = ct_calloc(n + 1, sizeof *out->x);
	out->y = ct_calloc(n + 1, sizeof *out->y);
	o->bins = (ct_time)group > o->bins ? (ct_time)group : o->bins;
	for (size_t i = 0; i < n; i += group) {
		size_t k = 0;
		double sum = 0;

		for (; k < group && i + k < n; k++)
			sum += scale * ct_cell_f64(value, i + k) / (by ? ct_cell_f64(by, i + k) : 1);
		if (!isfinite(sum))
			break;
		out->x[out->n] = seconds_at(time, i) / o->unit_s;
		out->y[out->n++] = sum / (double)k;
	}
	if (out->n && n > 1) {
		out->x[out->n] = (seconds_at(time, n - 1) + seconds_at(time, 1)) / o->unit_s;
		out->y[out->n] = out->y[out->n - 1];
		out->n++;
	}
	return 0;
}

/* ---- the drawings */

static void draw(const struct ct_comparison *c, struct ct_svg_plot *p, struct curve *curve, FILE *to)
{
	struct ct_svg_line line[CT_REPORT_RUNS];

	for (size_t i = 0; i < c->n_runs; i++)
		line[i] = (struct ct_svg_line){ c->label[i], curve[i].x, curve[i].y, curve[i].n };
	p->line = line;
	p->n_lines = c->n_runs;
	ct_svg_draw(p, to);
}

static void forget(struct curve *curve, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(curve[i].x);
		free(curve[i].y);
	}
}

static int draw_distribution(const struct ct_comparison *c, const char *column, struct ct_svg_plot *p, FILE *to,
			     struct ct_err *err)
{
	struct curve curve[CT_REPORT_RUNS] = { 0 };
	int rc = 0;

	for (size_t i = 0; i < c->n_runs && !rc; i++)
		rc = distribution(&c->run[i], c->label[i], column, &curve[i], err);
	if (!rc)
		draw(c, p, curve, to);
	forget(curve, c->n_runs);
	return rc;
}

static int draw_series(const struct ct_comparison *c, const char *column, const char *over, double scale,
		       struct ct_svg_plot *p, FILE *to, struct ct_err *err)
{
	struct curve curve[CT_REPORT_RUNS] = { 0 };
	struct over_time o;
	char about[400];
	int rc = 0;

	choose_unit(c, &o);
	for (size_t i = 0; i < c->n_runs && !rc; i++)
		rc = series(&c->run[i], c->label[i], column, over, scale, &o, &curve[i], err);
	snprintf(about, sizeof about, o.bins > 1 ? "%s Each step is the mean of up to %d bins of the series." : "%s",
		 p->about, (int)o.bins);
	p->about = about;
	p->x_label = o.x_label;
	p->clock_x = o.unit_s > 3000 && o.unit_s < 4000;
	if (!rc)
		draw(c, p, curve, to);
	forget(curve, c->n_runs);
	return rc;
}

static int draw_all(const struct ct_comparison *c, FILE *to, struct ct_err *err)
{
	CT_TRY(draw_distribution(
	    c, "turnaround_time",
	    &(struct ct_svg_plot){
		.id = "jct",
		.title = "Job completion time",
		.about = "Fraction of the measured jobs that were done within a time since their submission.",
		.x_label = "job completion time (s), logarithmic",
		.y_label = "fraction of jobs",
		.log_x = 1,
		.y_top = 1 },
	    to, err));
	CT_TRY(draw_distribution(
	    c, "queue_s",
	    &(struct ct_svg_plot){ .id = "wait",
				   .title = "Waiting",
				   .about = "Fraction of the measured jobs that waited at most a time in the "
					    "queue, over all visits. Jobs that waited less than the left "
					    "edge stand at it.",
				   .x_label = "time in the queue (s), logarithmic",
				   .y_label = "fraction of jobs",
				   .log_x = 1,
				   .y_top = 1 },
	    to, err));
	CT_TRY(draw_series(c, "sm_gpus", "total_gpus", 100,
			   &(struct ct_svg_plot){ .id = "sm",
						  .title = "SM activity",
						  .about = "SM-active share of all GPUs, idle ones included.",
						  .y_label = "SM active (% of all GPUs)" },
			   to, err));
	CT_TRY(draw_series(c, "held_gpus", "total_gpus", 100,
			   &(struct ct_svg_plot){
			       .id = "held",
			       .title = "GPUs held",
			       .about = "GPUs that jobs hold, as a share of all; a GPU that several hold counts once.",
			       .y_label = "held (% of all GPUs)",
			       .y_top = 100 },
			   to, err));
	return draw_series(c, "queued_jobs", NULL, 1,
			   &(struct ct_svg_plot){ .id = "queue",
						  .title = "Queue length",
						  .about = "Jobs that wait for GPUs.",
						  .y_label = "queue length (jobs)" },
			   to, err);
}

int ct_report_plots(const struct ct_comparison *c, FILE *to, struct ct_err *err)
{
	fputs("<section><h2>Figures</h2><div class=\"figures\">\n", to);
	CT_TRY(draw_all(c, to, err));
	fputs("</div></section>\n", to);
	return 0;
}
