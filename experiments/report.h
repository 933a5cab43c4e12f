/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.h - results as one HTML page that needs nothing else: tables, drawings,
 * definitions, manifests. The work of `cotenant report A.h5 [...] --out report.html`.
 *
 *	const struct ct_report_request q = { .path = paths, .n_paths = 2, .style = "plots/report.css",
 *					     .figures = "repro.csv", .out = "report.html" };
 *	CT_TRY(ct_report_write(&q, &err));
 *
 * The page holds no script, asks no network for anything and depends on no date: the
 * same results give the same bytes. Whatever text comes from a result is escaped. */
#ifndef CT_EXPERIMENTS_REPORT_H
#define CT_EXPERIMENTS_REPORT_H

#include "experiments/compare.h"
#include "experiments/svg.h"
#include "sim/err.h"

enum { CT_REPORT_RUNS = CT_SVG_LINES };

struct ct_report_request {
	const char *const *path; /* result files */
	size_t n_paths;          /* up to CT_REPORT_RUNS; 0 only with figures */
	const char *style;       /* style sheet, copied into the page */
	const char *figures;     /* CSV of `cotenant repro --csv`; NULL = none */
	const char *out;
};
/* CT_EIO: a file cannot be read or is no result, the page cannot be written; CT_ECONFIG:
 * the figures are not in the form of `cotenant repro --csv`. */
int ct_report_write(const struct ct_report_request *q, struct ct_err *err);

/* ---- the parts of the page */

/* Of c: only run, label, and with two runs or more row and warning. */
void ct_report_tables(const struct ct_comparison *c, const char *const *path, FILE *to);
/* CT_EIO: a result lacks a column. */
int ct_report_plots(const struct ct_comparison *c, FILE *to, struct ct_err *err);
/* The jobs that took longest, warnings, manifest and configuration, folded up. */
void ct_report_details(const struct ct_comparison *c, FILE *to);
/* Published figures beside ours, from the CSV; fitted ones apart from predicted ones. */
int ct_report_figures(const char *path, FILE *to, struct ct_err *err);

#endif
