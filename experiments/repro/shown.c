/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/shown.h"

#include "experiments/table.h"

#include <math.h>
#include <string.h>

enum { METRICS = CT_TABLE_COLUMNS - 3, CELL = 64 };

static int same_metric(const struct ct_paper_figure *a, const struct ct_paper_figure *b)
{
	return a->metric == b->metric && a->over == b->over;
}

static int same_line(const struct ct_paper_figure *a, const struct ct_paper_figure *b)
{
	return a->study == b->study && a->variant == b->variant;
}

/* The metrics in the order in which they first come. */
static size_t metrics_of(const struct ct_repro *rows, const struct ct_paper_figure *out[METRICS])
{
	size_t n = 0, k;

	for (size_t i = 0; i < rows->n; i++) {
		for (k = 0; k < n && !same_metric(out[k], rows->row[i].figure);)
			k++;
		if (k == n && n < METRICS)
			out[n++] = rows->row[i].figure;
	}
	return n;
}

static void fill(struct ct_table *t, const struct ct_repro_row *r)
{
	char text[CELL];

	if (r && isfinite(r->mean_hi - r->mean_lo))
		snprintf(text, sizeof text, "%.3f +- %.3f", r->ours, (r->mean_hi - r->mean_lo) / 2);
	else if (r && isfinite(r->ours))
		snprintf(text, sizeof text, "%.3f", r->ours);
	else
		snprintf(text, sizeof text, "-");
	ct_table_text(t, text);
}

/* Rows from `from` on that are of one line. */
static size_t line_end(const struct ct_repro *rows, size_t from)
{
	size_t end = from + 1;

	while (end < rows->n && same_line(rows->row[from].figure, rows->row[end].figure))
		end++;
	return end;
}

/* Has the line at `b` the metrics of that at `a`? */
static int same_metrics(const struct ct_repro *rows, size_t a, size_t b)
{
	size_t n = line_end(rows, a) - a;

	if (line_end(rows, b) - b != n)
		return 0;
	for (size_t k = 0; k < n; k++)
		if (!same_metric(rows->row[a + k].figure, rows->row[b + k].figure))
			return 0;
	return 1;
}

static void print_block(const struct ct_paper *p, const struct ct_repro *rows, FILE *to)
{
	const struct ct_paper_figure *metric[METRICS];
	size_t n = metrics_of(rows, metric);
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "study", "", CT_LEFT);
	ct_table_column(&t, "variant", "", CT_LEFT);
	for (size_t k = 0; k < n; k++)
		ct_table_column(&t, ct_study_metric_key(metric[k]->metric), metric[k]->unit, CT_RIGHT);
	ct_table_column(&t, "seeds", "", CT_RIGHT);
	for (size_t i = 0, end; i < rows->n; i = end) {
		const struct ct_paper_figure *f = rows->row[i].figure;

		end = line_end(rows, i);
		ct_table_text(&t, p->study[f->study].name);
		ct_table_text(&t, p->variant[f->variant].name);
		for (size_t k = 0; k < n; k++) {
			const struct ct_repro_row *r = NULL;

			for (size_t j = i; j < end && !r; j++)
				r = same_metric(rows->row[j].figure, metric[k]) ? &rows->row[j] : NULL;
			fill(&t, r);
		}
		ct_table_number(&t, (double)rows->row[i].seeds, 0);
	}
	ct_table_print(&t, to);
	ct_table_fini(&t);
	for (size_t k = 0, said = 0; k < n; k++)
		if (metric[k]->over != SIZE_MAX)
			fprintf(to, "%s%s, as a ratio of means to %s under common arrivals", said++ ? ";\n" : "\n",
				ct_study_metric_key(metric[k]->metric), p->variant[metric[k]->over].name);
	if (n && metric[0]->against != SIZE_MAX)
		fprintf(to, ";\nall by their values in study %s, under the same seeds",
			p->study[metric[0]->against].name);
	fputs("\n", to);
}

/* A table for as many lines in a row as have the same metrics. */
void ct_repro_print_shown(const struct ct_paper *p, const struct ct_repro *rows, FILE *to)
{
	for (size_t i = 0, end; i < rows->n; i = end) {
		struct ct_repro block = { .row = rows->row + i };

		for (end = line_end(rows, i); end < rows->n && same_metrics(rows, i, end);)
			end = line_end(rows, end);
		block.n = end - i;
		if (i)
			fputs("\n", to);
		print_block(p, &block, to);
	}
	fputs("+- half of the 95 % interval of the mean\n", to);
}
