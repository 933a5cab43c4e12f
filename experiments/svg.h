/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svg.h - step curves over a linear or logarithmic axis, as an inline SVG of an HTML page.
 *
 *	const struct ct_svg_line line[] = { { "easy", x, y, n }, { "fifo", u, v, m } };
 *	ct_svg_draw(&(struct ct_svg_plot){ .id = "jct", .title = "Job completion time", .about = "...",
 *					   .x_label = "JCT (s)", .y_label = "fraction of jobs",
 *					   .log_x = 1, .y_top = 1, .line = line, .n_lines = 2 }, to);
 *
 * A value holds from its x to the next one; the last point ends the curve. Colours and
 * fonts are the style sheet's: curves have the classes s0 to s6, and so have the
 * strokes of the legend, which stands above the drawing and wraps. Curves also
 * differ in their dashes. */
#ifndef CT_EXPERIMENTS_SVG_H
#define CT_EXPERIMENTS_SVG_H

#include <stddef.h>
#include <stdio.h>

enum { CT_SVG_LINES = 7 }; /* that can be told apart */

struct ct_svg_line {
	const char *label;
	const double *x, *y; /* x ascending; y finite */
	size_t n;
};

struct ct_svg_plot {
	const char *id;            /* unique in the page */
	const char *title, *about; /* about: what is shown, in a sentence */
	const char *x_label, *y_label;
	int log_x;    /* x below the left edge stands at the edge */
	int clock_x;  /* ticks at 1, 2, 3, 6, 12, 24: hours */
	double y_top; /* 0: as the data asks */
	const struct ct_svg_line *line;
	size_t n_lines; /* at most CT_SVG_LINES */
};

/* A <figure> with heading, legend and drawing; says so when there is nothing to draw. */
void ct_svg_draw(const struct ct_svg_plot *p, FILE *to);

/* Distance of ticks: 1, 2 or 5 times a power of ten, such that at most `most` intervals
 * cover `span` > 0. */
double ct_svg_step(double span, int most);

#endif
