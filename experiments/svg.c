/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/svg.h"

#include "experiments/html.h"

#include <math.h>

enum { WIDTH = 560, HEIGHT = 300, LEFT = 62, RIGHT = 16, TOP = 14, BOTTOM = 48 };

struct frame { /* of the data, and onto the drawing */
	double x0, x1, y1;
	int log_x;
};

double ct_svg_step(double span, int most)
{
	double step = pow(10, floor(log10(span / most)));

	while (span / step > most * (1 + 1e-9))
		step *= span / (2 * step) <= most * (1 + 1e-9) ? 2 : span / (5 * step) <= most * (1 + 1e-9) ? 5 : 10;
	return step;
}

static double hours_step(double span, int most)
{
	static const double step[] = { 0.25, 0.5, 1, 2, 3, 6, 12, 24, 48 };

	for (size_t i = 0; i < sizeof step / sizeof *step; i++)
		if (span / step[i] <= most)
			return step[i];
	return ct_svg_step(span, most);
}

static double at_x(const struct frame *f, double x)
{
	double part;

	x = x < f->x0 ? f->x0 : x > f->x1 ? f->x1 : x;
	part = f->log_x ? log(x / f->x0) / log(f->x1 / f->x0) : (x - f->x0) / (f->x1 - f->x0);
	return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct frame *f, double y)
{
	return HEIGHT - BOTTOM - y / f->y1 * (HEIGHT - TOP - BOTTOM);
}

/* A logarithmic axis begins at a power of ten, not far below the least positive value. */
static void fit_log(struct frame *f, double least)
{
	f->x0 = least < f->x1 ? pow(10, floor(log10(least) + 1e-9)) : f->x1 / 10;
	if (f->x1 / f->x0 > 1e7)
		f->x0 = pow(10, ceil(log10(f->x1))) / 1e7;
}

/* 0: nothing to draw. */
static int fit(const struct ct_svg_plot *p, struct frame *f)
{
	double least = INFINITY;
	size_t points = 0;

	*f = (struct frame){ .x0 = INFINITY, .x1 = -INFINITY, .y1 = 0, .log_x = p->log_x };
	for (size_t i = 0; i < p->n_lines; i++)
		for (size_t k = 0; k < p->line[i].n; k++, points++) {
			double x = p->line[i].x[k], y = p->line[i].y[k];

			f->x0 = fmin(f->x0, x);
			f->x1 = fmax(f->x1, x);
			f->y1 = fmax(f->y1, y);
			least = x > 0 ? fmin(least, x) : least;
		}
	if (!points)
		return 0;
	if (p->log_x) {
		f->x1 = f->x1 > 0 ? f->x1 : 1;
		fit_log(f, least);
	} else if (!(f->x1 > f->x0)) {
		f->x1 = f->x0 + 1;
	}
	if (p->y_top > 0)
		f->y1 = p->y_top;
	else
		f->y1 = f->y1 > 0 ? ceil(f->y1 / ct_svg_step(f->y1, 5) - 1e-9) * ct_svg_step(f->y1, 5) : 1;
	return 1;
}

/* ---- axes */

static void tick_text(double v, double step, FILE *to)
{
	int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;

	if (fabs(v) >= 1e7)
		fprintf(to, "%.0e", v);
	else
		fprintf(to, "%.*f", decimals, v);
}

static void x_tick(const struct frame *f, double v, double step, FILE *to)
{
	double x = at_x(f, v);

	fprintf(to, "<path class=\"tick\" d=\"M%.1f %dv5\"/><text class=\"mid\" x=\"%.1f\" y=\"%d\">", x,
		HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18);
	tick_text(v, step, to);
	fputs("</text>\n", to);
}

static void x_axis(const struct ct_svg_plot *p, const struct frame *f, FILE *to)
{
	double step;

	if (p->log_x) {
		int all = f->x1 / f->x0 < 100; /* few powers of ten: 2 and 5 as well */

		for (double v = f->x0; v <= f->x1 * (1 + 1e-9); v *= 10)
			for (int m = 1; m <= (all ? 5 : 1); m += m == 1 ? 1 : 3)
				if (v * m <= f->x1 * (1 + 1e-9))
					x_tick(f, v * m, v, to);
		return;
	}
	step = p->clock_x ? hours_step(f->x1 - f->x0, 9) : ct_svg_step(f->x1 - f->x0, 8);
	for (double k = ceil(f->x0 / step - 1e-9) + 0.0; /* no -0 */ k * step <= f->x1 + 1e-9 * step; k++)
		x_tick(f, k * step, step, to);
}

static void y_axis(const struct frame *f, FILE *to)
{
	double step = ct_svg_step(f->y1, 5);

	for (int k = 0; k * step <= f->y1 * (1 + 1e-9); k++) {
		double y = at_y(f, k * step);

		fprintf(to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"end\" x=\"%d\" y=\"%.1f\">", LEFT, y,
			WIDTH - RIGHT, LEFT - 7, y + 4);
		tick_text(k * step, step, to);
		fputs("</text>\n", to);
	}
}

static void axes(const struct ct_svg_plot *p, const struct frame *f, FILE *to)
{
	y_axis(f, to);
	x_axis(p, f, to);
	fprintf(to, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
	fprintf(to, "<text class=\"mid label\" x=\"%d\" y=\"%d\">", LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 8);
	ct_html_text(to, p->x_label);
	fprintf(to, "</text>\n<text class=\"mid label\" transform=\"translate(15 %d) rotate(-90)\">",
		TOP + (HEIGHT - TOP - BOTTOM) / 2);
	ct_html_text(to, p->y_label);
	fputs("</text>\n", to);
}

/* ---- curves */

/* Points that could not be seen apart from the one before are left out. */
static void curve(const struct frame *f, const struct ct_svg_line *line, size_t number, FILE *to)
{
	double x = 0, y = 0;

	if (!line->n)
		return;
	fprintf(to, "<path class=\"s%zu\" d=\"", number);
	for (size_t k = 0; k < line->n; k++) {
		double u = at_x(f, line->x[k]), v = at_y(f, fmin(line->y[k], f->y1));

		if (k && k + 1 < line->n && fabs(u - x) < 0.25 && fabs(v - y) < 0.25)
			continue;
		if (!k)
			fprintf(to, "M%.1f %.1f", u, v);
		else
			fprintf(to, "H%.1fV%.1f", u, v);
		x = u;
		y = v;
	}
	fputs("\"/>\n", to);
}

static void legend(const struct ct_svg_plot *p, FILE *to)
{
	fputs("<ul class=\"legend\">", to);
	for (size_t i = 0; i < p->n_lines; i++) {
		if (!p->line[i].n)
			continue;
		fprintf(to,
			"<li><svg viewBox=\"0 0 36 10\" width=\"36\" height=\"10\" aria-hidden=\"true\">"
			"<path class=\"s%zu\" d=\"M1 5H35\"/></svg> ",
			i);
		ct_html_text(to, p->line[i].label);
		fputs("</li>", to);
	}
	fputs("</ul>\n", to);
}

void ct_svg_draw(const struct ct_svg_plot *p, FILE *to)
{
	struct frame f;

	fputs("<figure><h3>", to);
	ct_html_text(to, p->title);
	fputs("</h3>\n", to);
	if (fit(p, &f)) {
		legend(p, to);
		fputs("<div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"Figure: ", to);
		ct_html_text(to, p->title);
		fprintf(to,
			"\"><svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-t %s-d\">"
			"<title id=\"%s-t\">",
			WIDTH, HEIGHT, p->id, p->id, p->id);
		ct_html_text(to, p->title);
		fprintf(to, "</title><desc id=\"%s-d\">", p->id);
		ct_html_text(to, p->about);
		fputs("</desc>\n", to);
		axes(p, &f, to);
		for (size_t i = 0; i < p->n_lines; i++)
			curve(&f, &p->line[i], i, to);
		fputs("</svg></div>\n", to);
	} else {
		fputs("<p>Nothing to draw: none of the results knows it.</p>\n", to);
	}
	fputs("<figcaption>", to);
	ct_html_text(to, p->about);
	fputs("</figcaption></figure>\n", to);
}
