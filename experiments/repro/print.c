/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/print.h"

#include "experiments/repro/shown.h"
#include "experiments/repro/sources.h"
#include "experiments/table.h"
#include "sim/json.h"
#include "sim/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *verdict(const struct ct_repro_row *r)
{
	if (isnan(r->figure->value))
		return "";
	if (r->figure->value > r->ceiling)
		return "unreachable";
	if (r->synthetic)
		return "synthetic";
	if (r->agrees < 0 && isfinite(r->ours))
		return "";
	if (r->agrees < 0)
		return r->figure->from ? "not known" : "not produced";
	return r->agrees ? "yes" : "NO";
}

static const char *aim_text(const struct ct_repro_row *r)
{
	return r->in_aim < 0 ? "" : r->in_aim ? "met" : "missed";
}

static void print_rows(const struct ct_repro *rows, int ranged)
{
	static const char *const right[] = { "published", "ours", "mean from", "to", "one run from", "to", "off %" };
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "figure", "", CT_LEFT);
	ct_table_column(&t, "unit", "", CT_LEFT);
	for (size_t i = 0; i < sizeof right / sizeof *right; i++)
		ct_table_column(&t, right[i], "", CT_RIGHT);
	if (ranged) {
		ct_table_column(&t, "fits from", "", CT_RIGHT);
		ct_table_column(&t, "to", "", CT_RIGHT);
	}
	ct_table_column(&t, "seeds", "", CT_RIGHT);
	ct_table_column(&t, "role", "", CT_LEFT);
	ct_table_column(&t, "agrees", "", CT_LEFT);
	ct_table_column(&t, "aim", "", CT_LEFT);
	for (size_t i = 0; i < rows->n; i++) {
		const struct ct_repro_row *r = &rows->row[i];

		ct_table_text(&t, r->figure->id);
		ct_table_text(&t, r->figure->unit);
		ct_table_number(&t, r->figure->value, 2);
		ct_table_number(&t, r->ours, 3);
		ct_table_number(&t, r->mean_lo, 3);
		ct_table_number(&t, r->mean_hi, 3);
		ct_table_number(&t, r->lo, 3);
		ct_table_number(&t, r->hi, 3);
		ct_table_number(&t, 100 * (r->ours / r->figure->value - 1), 1);
		if (ranged) {
			ct_table_number(&t, r->fits_lo, 3);
			ct_table_number(&t, r->fits_hi, 3);
		}
		ct_table_number(&t, r->seeds ? (double)r->seeds : NAN, 0);
		ct_table_text(&t, ct_role_name[r->figure->role]);
		ct_table_text(&t, verdict(r));
		ct_table_text(&t, aim_text(r));
	}
	ct_table_print(&t, stdout);
	ct_table_fini(&t);
}

/* Where [lo, hi] is not of single runs. */
static void print_ranges(const struct ct_repro *rows)
{
	unsigned seen = 0;

	for (size_t i = 0; i < rows->n; i++)
		seen |= 1u << rows->row[i].figure->from;
	if (seen & 1u << CT_FROM_CASES)
		printf(
		    "cases: from .. to is not of runs but least and largest over %d draws of the jobs' lengths, each "
		    "within a factor of two\n",
		    (int)CT_CASE_DRAWS);
	if (seen & 1u << CT_FROM_PLAN)
		printf("instances: from .. to is not of runs but least and largest over the targets\n");
}

static void print_notes(const struct ct_repro *rows)
{
	print_ranges(rows);
	for (size_t i = 0; i < rows->n; i++)
		if (isfinite(rows->row[i].ceiling))
			printf("%s: at most %.2f by pairs of default configurations that fit the memory (linear "
			       "program)\n",
			       rows->row[i].figure->id, rows->row[i].ceiling);
	for (size_t i = 0; i < rows->n; i++)
		if (rows->row[i].source)
			printf("%s: %s\n", rows->row[i].figure->id, rows->row[i].source);
	for (size_t i = 0; i < rows->n; i++)
		if (*rows->row[i].figure->note)
			printf("%s (%s): %s\n", rows->row[i].figure->id, rows->row[i].figure->place,
			       rows->row[i].figure->note);
}

/* Does agreement with a published cell depend on how the thing is defined? */
static void print_terms(const struct ct_repro *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const char *again = rows->row[i].figure->again;
		size_t n = 0, agree = 0, aim = 0, first = 0;

		if (!again)
			continue;
		while (!rows->row[first].figure->again || strcmp(rows->row[first].figure->again, again) != 0)
			first++;
		if (first < i)
			continue;
		for (size_t k = 0; k < rows->n; k++) {
			const struct ct_repro_row *r = &rows->row[k];

			if (strcmp(r->figure->again ? r->figure->again : r->figure->id, again) != 0 || r->agrees < 0)
				continue;
			n++;
			agree += r->agrees > 0;
			aim += r->in_aim > 0;
		}
		printf("%s, published %g %s: %zu of %zu definitions agree, %zu meet the aim\n", again,
		       rows->row[i].figure->value, rows->row[i].figure->unit, agree, n, aim);
	}
}

static void print_stability(const struct ct_repro *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct ct_repro_row *r = &rows->row[i];
		const char *text = ct_repro_stability(r);

		if (text)
			printf("%s: work is left over at the rate of %.1f GPUs [%.1f, %.1f]: %s\n", r->figure->id,
			       r->ours, r->mean_lo, r->mean_hi, text);
	}
}

static void print_count(const struct ct_repro *rows)
{
	for (unsigned role = 0; role < CT_ROLES; role++) {
		size_t n = 0, agree = 0, aimed = 0, aim = 0;

		for (size_t i = 0; i < rows->n; i++) {
			const struct ct_repro_row *r = &rows->row[i];

			if ((unsigned)r->figure->role != role || r->agrees < 0)
				continue;
			n++;
			agree += r->agrees > 0;
			aimed += r->in_aim >= 0;
			aim += r->in_aim > 0;
		}
		if (n)
			printf(
			    "%-8s %zu of %zu published figures lie where one run of ours would; %zu of %zu meet their "
			    "aim\n",
			    ct_role_name[role], agree, n, aim, aimed);
	}
}

int ct_repro_print_json(const struct ct_repro *rows, struct ct_err *err)
{
	struct ct_json j;

	ct_json_begin(&j, stdout);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_open(&j, "rows", '[', 0);
	for (size_t i = 0; i < rows->n; i++) {
		const struct ct_repro_row *r = &rows->row[i];

		ct_json_open(&j, NULL, '{', 1);
		ct_json_text(&j, "id", r->figure->id);
		ct_json_text(&j, "unit", r->figure->unit);
		ct_json_text(&j, "place", r->figure->place);
		ct_json_f64(&j, "published", r->figure->value);
		ct_json_f64(&j, "ours", r->ours);
		ct_json_f64(&j, "mean_lo", r->mean_lo);
		ct_json_f64(&j, "mean_hi", r->mean_hi);
		ct_json_f64(&j, "lo", r->lo);
		ct_json_f64(&j, "hi", r->hi);
		ct_json_f64(&j, "fits_lo", r->fits_lo);
		ct_json_f64(&j, "fits_hi", r->fits_hi);
		ct_json_f64(&j, "ratio", r->ours / r->figure->value);
		ct_json_f64(&j, "seeds", (double)r->seeds);
		ct_json_text(&j, "role", ct_role_name[r->figure->role]);
		ct_json_f64(&j, "tolerance", r->figure->tolerance);
		ct_json_text(&j, "within", verdict(r));
		ct_json_text(&j, "aim", aim_text(r));
		ct_json_text(&j, "definition", r->figure->definition);
		ct_json_text(&j, "note", r->figure->note);
		ct_json_text(&j, "source", r->source);
		ct_json_close(&j);
	}
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, "standard output", err);
}

/* As published.yaml has it: "x0.07" is relative, "a3" absolute. */
static void write_tolerance(struct ct_output *o, const struct ct_paper_figure *f)
{
	if (isnan(f->tolerance))
		return;
	ct_output_text(o, f->relative ? "x" : "a");
	ct_output_f64(o, f->tolerance);
}

int ct_repro_write_csv(const struct ct_repro *rows, const char *path, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(ct_output_open(&o, path, err));
	ct_output_text(&o, "id,table,unit,place,role,published,ours,mean_lo,mean_hi,lo,hi,fits_lo,fits_hi,seeds,agrees,"
			   "aim,tolerance,definition,note,source\n");
	for (size_t i = 0; i < rows->n; i++) {
		const struct ct_repro_row *r = &rows->row[i];
		const char *const head[] = { r->figure->id, r->figure->table, r->figure->unit, r->figure->place,
					     ct_role_name[r->figure->role] };
		const double number[] = { r->figure->value, r->ours,   r->mean_lo, r->mean_hi, r->lo, r->hi,
					  r->fits_lo,       r->fits_hi };

		for (size_t k = 0; k < sizeof head / sizeof *head; k++) {
			ct_output_field(&o, head[k]);
			ct_output_text(&o, ",");
		}
		for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
			if (isfinite(number[k]))
				ct_output_f64(&o, number[k]);
			ct_output_text(&o, ",");
		}
		ct_output_i64(&o, (int64_t)r->seeds);
		ct_output_text(&o, ",");
		ct_output_field(&o, verdict(r));
		ct_output_text(&o, ",");
		ct_output_field(&o, aim_text(r));
		ct_output_text(&o, ",");
		write_tolerance(&o, r->figure);
		ct_output_text(&o, ",");
		ct_output_field(&o, r->figure->definition);
		ct_output_text(&o, ",");
		ct_output_field(&o, r->figure->note);
		ct_output_text(&o, ",");
		ct_output_field(&o, r->source ? r->source : "");
		ct_output_text(&o, "\n");
	}
	return ct_output_close(&o, err);
}

static void print_listed(const struct ct_repro *rows, int ranged)
{
	print_rows(rows, ranged);
	fputs("\nagrees: the published value lies where 95 % of single runs of ours fall (one run from .. to)\n",
	      stdout);
	print_count(rows);
	print_terms(rows);
	fputs("\n", stdout);
	print_notes(rows);
}

/* Runs of which nothing is published have a table of their own. The figures stay those of `rows`. */
static void part(const struct ct_repro *rows, struct ct_repro *listed, struct ct_repro *shown)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct ct_paper_figure *f = rows->row[i].figure;
		struct ct_repro *to = f->runs && isnan(f->value) && !f->n_draws ? shown : listed;

		CT_GROW(to->row, to->cap, to->n + 1);
		to->row[to->n++] = rows->row[i];
	}
}

void ct_repro_print(const struct ct_paper *p, const struct ct_repro *rows, int ranged)
{
	struct ct_repro listed = { 0 }, shown = { 0 };

	if (ranged) {
		print_listed(rows, 1);
		return;
	}
	part(rows, &listed, &shown);
	if (listed.n)
		print_listed(&listed, 0);
	if (listed.n && shown.n)
		fputs("\n", stdout);
	if (shown.n)
		ct_repro_print_shown(p, &shown, stdout);
	print_stability(rows);
	free(listed.row);
	free(shown.row);
}
