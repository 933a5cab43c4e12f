/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/progress.h"

#include "experiments/command.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 24 };
#define PERIOD_S 0.2
#define QUIET_S  0.5

int ct_progress_mode_parse(const char *text, enum ct_progress_mode *out)
{
	static const char *const name[] = { "auto", "always", "never" };

	for (int i = 0; i < 3; i++)
		if (strcmp(text, name[i]) == 0) {
			*out = (enum ct_progress_mode)i;
			return 0;
		}
	return -1;
}

void ct_progress_init(struct ct_progress *p, enum ct_progress_mode mode, const char *what, const char *unit)
{
	int terminal = isatty(STDERR_FILENO);
	int on = mode == CT_PROGRESS_ALWAYS || (mode == CT_PROGRESS_AUTO && terminal);

	*p = (struct ct_progress){ .to = on ? stderr : NULL, .what = what, .unit = unit, .terminal = terminal };
	if (on) {
		p->start = ct_wall_s();
		p->next = p->start + (mode == CT_PROGRESS_ALWAYS ? 0 : QUIET_S);
	}
}

/* "850", "12.3k", "4.56M" */
static void short_number(double v, char out[16])
{
	static const char *const suffix[] = { "", "k", "M", "G", "T" };
	int i = 0;

	for (; v >= 1000 && i < 4; i++)
		v /= 1000;
	snprintf(out, 16, v >= 100 || i == 0 ? "%.0f%s" : "%.1f%s", v, suffix[i]);
}

static void short_time(double s, char out[24])
{
	if (!(s < 360000))
		snprintf(out, 24, "long");
	else if (s >= 3600)
		snprintf(out, 24, "%d:%02d h", (int)s / 3600, (int)s / 60 % 60);
	else if (s >= 60)
		snprintf(out, 24, "%d:%02d min", (int)s / 60, (int)s % 60);
	else
		snprintf(out, 24, "%d s", (int)ceil(s));
}

size_t ct_progress_line(const char *what, const char *unit, uint64_t done, uint64_t total, double elapsed_s, char *out,
			size_t cap)
{
	double share = total ? (double)done / (double)total : 0;
	double rate = elapsed_s > 0 ? (double)done / elapsed_s : 0;
	char bar[BAR + 1], a[16], b[16], r[16], left[24];
	int k;

	share = share > 1 ? 1 : share;
	for (int i = 0; i < BAR; i++)
		bar[i] = i < (int)(share * BAR) ? '#' : '.';
	bar[BAR] = '\0';
	short_number((double)done, a);
	short_number((double)total, b);
	short_number(rate, r);
	short_time(rate > 0 ? (double)(total > done ? total - done : 0) / rate : INFINITY, left);
	if (total)
		k = snprintf(out, cap, "%s [%s] %3d %%  %s of %s %s, %s/s, %s left", what, bar, (int)(share * 100), a,
			     b, unit, r, left);
	else
		k = snprintf(out, cap, "%s %s %s, %s/s", what, a, unit, r);
	return k < 0 ? 0 : (size_t)k;
}

void ct_progress_update(struct ct_progress *p, uint64_t done, uint64_t total)
{
	char line[160];
	double now;

	if (!p->to)
		return;
	now = ct_wall_s();
	if (now < p->next)
		return;
	p->next = now + PERIOD_S;
	ct_progress_line(p->what, p->unit, done, total, now - p->start, line, sizeof line);
	if (p->terminal)
		fprintf(p->to, "\r%s\033[K", line);
	else
		fprintf(p->to, "%s\n", line);
	fflush(p->to);
	p->drawn = 1;
}

void ct_progress_done(struct ct_progress *p)
{
	if (p->to && p->drawn && p->terminal) {
		fputs("\r\033[K", p->to);
		fflush(p->to);
	}
	p->to = NULL;
}
