/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/report.h"

#include "calib/csv_table.h"
#include "experiments/html.h"
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	ID,
	TABLE,
	UNIT,
	PLACE,
	ROLE,
	PUBLISHED,
	OURS,
	MEAN_LO,
	MEAN_HI,
	LO,
	HI,
	FITS_LO,
	FITS_HI,
	SEEDS,
	AGREES,
	DEFINITION,
	NOTE,
	AIM,
	TOLERANCE,
	COLUMNS
};
static const char *const column_name[COLUMNS] = { "id",         "table",   "unit",    "place",    "role",
						  "published",  "ours",    "mean_lo", "mean_hi",  "lo",
						  "hi",         "fits_lo", "fits_hi", "seeds",    "agrees",
						  "definition", "note",    "aim",     "tolerance" };
enum { OPTIONAL = 2 }; /* the last two: files of earlier versions do not have them */

static const struct {
	const char *word, *title, *about;
	int counted;
} role[] = {
	{ "fit", "Fitted", "These were used to choose the scenario: their agreement proves nothing.", 1 },
	{ "predict", "Predicted", "These were not used: the scenario and the mechanisms give them.", 1 },
	{ "beside", "Beside", "Shown and never scored: another clock, another definition, or calibration.", 0 },
};
enum { ROLES = sizeof role / sizeof *role };

static const struct {
	const char *word, *class, *text;
} verdict[] = {
	{ "yes", "yes", "\xe2\x9c\x93 agrees" },
	{ "NO", "no", "\xe2\x9c\x97 does not agree" },
	{ "", "none", "not scored" },
	{ "not known", "none", "not known" },
	{ "not produced", "none", "not produced" },
	{ "unreachable", "none", "unreachable" },
	{ "synthetic", "none", "synthetic" },
};
enum { AGREED, DISAGREES, VERDICTS = sizeof verdict / sizeof *verdict };

struct figure {
	const char *text[COLUMNS];
	double number[COLUMNS]; /* of the columns from PUBLISHED to SEEDS; NaN where empty */
	size_t role, verdict;
};

struct figures {
	struct figure *row;
	size_t n, cap;
	int ranged; /* some row has a range over equally good fits */
	struct ct_arena arena;
};

/* ---- reading */

static void refuse(struct ct_table *t, size_t column, const char *wanted)
{
	struct ct_loc at = ct_table_loc(t, column);
	struct ct_csv_field f = ct_table_cell(t, column);

	ct_err_add(t->err, CT_ECONFIG, &at, "'%s' wants %s, got '%.40s'", column_name[column], wanted, f.s);
}

/* ROLES and VERDICTS: not one of them. */
static size_t role_of(const char *word)
{
	size_t i = 0;

	while (i < ROLES && strcmp(role[i].word, word) != 0)
		i++;
	return i;
}

static size_t verdict_of(const char *word)
{
	size_t i = 0;

	while (i < VERDICTS && strcmp(verdict[i].word, word) != 0)
		i++;
	return i;
}

static void read_row(struct ct_table *t, struct figures *out)
{
	struct figure f = { 0 };
	double tolerance;

	for (size_t i = 0; i < COLUMNS; i++) {
		struct ct_csv_field cell = { .s = "" };

		if (ct_table_has(t, i))
			cell = ct_table_cell(t, i);
		f.text[i] = ct_arena_text(&out->arena, cell.s, cell.n);
		f.number[i] = NAN;
		if (i >= PUBLISHED && i <= SEEDS && cell.n && ct_parse_f64(cell.s, cell.n, &f.number[i]))
			refuse(t, i, "a number");
	}
	f.role = role_of(f.text[ROLE]);
	f.verdict = verdict_of(f.text[AGREES]);
	if (f.role == ROLES)
		refuse(t, ROLE, "fit, predict or beside");
	if (*f.text[AIM] && strcmp(f.text[AIM], "met") != 0 && strcmp(f.text[AIM], "missed") != 0)
		refuse(t, AIM, "met, missed or nothing");
	if (*f.text[TOLERANCE] && (!strchr("xa", f.text[TOLERANCE][0]) ||
				   ct_parse_f64(f.text[TOLERANCE] + 1, strlen(f.text[TOLERANCE] + 1), &tolerance)))
		refuse(t, TOLERANCE, "x or a and a number, or nothing");
	if (f.verdict == VERDICTS)
		refuse(t, AGREES, "yes, NO, not known, not produced, unreachable, synthetic or nothing");
	out->ranged |= !isnan(f.number[FITS_LO]);
	CT_GROW(out->row, out->cap, out->n + 1);
	out->row[out->n++] = f;
}

static int load(const char *path, struct figures *out, struct ct_err *err)
{
	struct ct_table t;

	CT_TRY(ct_table_open_optional(&t, path, column_name, COLUMNS, OPTIONAL, CT_TABLE_KEEP_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		read_row(&t, out);
	return ct_table_close(&t);
}

/* ---- writing */

/* Figures have very different sizes: four significant digits, at most three decimals. */
static int decimals(double v)
{
	double a = fabs(v);

	return a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3;
}

static void interval(double lo, double hi, FILE *to)
{
	if (isnan(lo) || isnan(hi)) {
		ct_html_number(to, NAN, 0);
		return;
	}
	fprintf(to, "<td class=\"number\">%.*f to %.*f</td>", decimals(lo), lo, decimals(hi), hi);
}

/* "met (7 %)", "missed (3)": the aim is relative, or in the figure's own unit. */
static void aim_cell(const struct figure *f, FILE *to)
{
	const char *text = f->text[TOLERANCE];
	double tolerance = NAN;

	fputs("<td>", to);
	ct_html_text(to, f->text[AIM]);
	if (*f->text[AIM] && *text && ct_parse_f64(text + 1, strlen(text + 1), &tolerance) == 0)
		fprintf(to, " (%g%s)", text[0] == 'x' ? 100 * tolerance : tolerance, text[0] == 'x' ? " %" : "");
	fputs("</td>", to);
}

static void put_row(const struct figures *all, const struct figure *f, FILE *to)
{
	const double *v = f->number;

	fputs("<tr>", to);
	ct_html_row(to, f->text[ID]);
	fputs("<td class=\"place\">", to);
	ct_html_text(to, f->text[PLACE]);
	fputs("</td>", to);
	ct_html_cell(to, f->text[UNIT]);
	ct_html_number(to, v[PUBLISHED], decimals(v[PUBLISHED]));
	ct_html_number(to, v[OURS], decimals(v[OURS]));
	ct_html_number(to, 100 * (v[OURS] / v[PUBLISHED] - 1), 1);
	interval(v[MEAN_LO], v[MEAN_HI], to);
	interval(v[LO], v[HI], to);
	if (all->ranged)
		interval(v[FITS_LO], v[FITS_HI], to);
	fprintf(to, "<td class=\"verdict %s\">%s</td>", verdict[f->verdict].class, verdict[f->verdict].text);
	aim_cell(f, to);
	fputs("<td class=\"words\">", to);
	ct_html_text(to, f->text[DEFINITION]);
	if (*f->text[DEFINITION] && *f->text[NOTE])
		fputs(". ", to);
	ct_html_text(to, f->text[NOTE]);
	fputs("</td></tr>\n", to);
}

static void put_columns(const struct figures *all, FILE *to)
{
	fputs("<thead><tr>", to);
	ct_html_column(to, "figure", NULL);
	ct_html_column(to, "in the paper", NULL);
	ct_html_column(to, "unit", NULL);
	ct_html_column(to, "published", "number");
	ct_html_column(to, "ours", "number");
	ct_html_column(to, "off (%)", "number");
	ct_html_column(to, "mean, 95 %", "number");
	ct_html_column(to, "one run, 95 %", "number");
	if (all->ranged)
		ct_html_column(to, "equal fits", "number");
	ct_html_column(to, "agreement", NULL);
	ct_html_column(to, "aim (within)", NULL);
	ct_html_column(to, "definition, note", NULL);
	fputs("</tr></thead><tbody>\n", to);
}

static void put_role(const struct figures *all, size_t which, FILE *to)
{
	size_t n = 0, scored = 0, agree = 0, aimed = 0, met = 0;

	for (size_t i = 0; i < all->n; i++) {
		n += all->row[i].role == which;
		scored += all->row[i].role == which && all->row[i].verdict <= DISAGREES;
		agree += all->row[i].role == which && all->row[i].verdict == AGREED;
		aimed += all->row[i].role == which && *all->row[i].text[AIM];
		met += all->row[i].role == which && !strcmp(all->row[i].text[AIM], "met");
	}
	if (!n)
		return;
	fprintf(to, "<h3>%s</h3><p>%s", role[which].title, role[which].about);
	if (scored && role[which].counted)
		fprintf(to, " <strong>%zu of %zu</strong> figures agree.", agree, scored);
	if (aimed && role[which].counted)
		fprintf(to, " <strong>%zu of %zu</strong> meet their aim.", met, aimed);
	fputs("</p>\n", to);
	ct_html_table_open(to, role[which].title);
	put_columns(all, to);
	for (size_t i = 0; i < all->n; i++)
		if (all->row[i].role == which)
			put_row(all, &all->row[i], to);
	ct_html_table_close(to);
}

static void put_all(const struct figures *all, FILE *to)
{
	double seeds = 0;

	for (size_t i = 0; i < all->n; i++)
		seeds = fmax(seeds, all->row[i].number[SEEDS]);
	fprintf(to,
		"<section><h2>Published figures beside ours</h2>\n<p>Ours are means of runs with up to %.0f seed%s. "
		"\xe2\x80\x9cMean\xe2\x80\x9d is the "
		"95 %% interval of that mean; \xe2\x80\x9cone run\xe2\x80\x9d is where 95 %% of single runs fall. A "
		"published figure is "
		"of one run, and agrees when it lies there.%s</p>\n",
		seeds, seeds > 1 ? "s" : "",
		all->ranged ? " \xe2\x80\x9c"
			      "Equal fits\xe2\x80\x9d is the range of ours over scenarios that fit equally well."
			    : "");
	for (size_t k = 0; k < ROLES; k++)
		put_role(all, k, to);
	fputs("</section>\n", to);
}

int ct_report_figures(const char *path, FILE *to, struct ct_err *err)
{
	struct figures all = { 0 };
	int rc = load(path, &all, err);

	if (!rc)
		put_all(&all, to);
	free(all.row);
	ct_arena_fini(&all.arena);
	return rc;
}
