/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.h - texts and cells of an HTML page, escaped whatever they hold. Errors stay in
 * the stream (ferror).
 *
 *	ct_html_region_open(to, "runs", "Runs");        // a box that scrolls by itself
 *	... ct_html_cell(to, "th", "row", job_id); ct_html_number(to, jct_s, 1); ...
 *	ct_html_region_close(to); */
#ifndef CT_EXPERIMENTS_HTML_H
#define CT_EXPERIMENTS_HTML_H

#include <stdio.h>

/* Text between tags or within a quoted attribute. & < > " ' are escaped; bytes that are
 * not UTF-8 and control characters become U+FFFD. NULL is "". */
void ct_html_text(FILE *to, const char *s);

/* A table, its caption and the box around it, up to <thead>. The box can be scrolled
 * by keyboard; it is announced under the caption. */
void ct_html_table_open(FILE *to, const char *caption);
void ct_html_table_close(FILE *to);
/* Header cell of a column; `class` may be NULL, "number" aligns to the right. */
void ct_html_column(FILE *to, const char *title, const char *class);
/* Header cell of a row, and a plain one. */
void ct_html_row(FILE *to, const char *s);
void ct_html_cell(FILE *to, const char *s);
/* Fixed decimals, a dash for NaN, very large numbers in exponential form. */
void ct_html_number(FILE *to, double v, int decimals);

#endif
