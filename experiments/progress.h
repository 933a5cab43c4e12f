/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.h - one line on the terminal for long work: bar, share done, rate, time
 * left. At most five updates a second; nothing for the first half second, so that
 * short runs stay quiet; the line is wiped at the end. */
#ifndef CT_EXPERIMENTS_PROGRESS_H
#define CT_EXPERIMENTS_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

enum ct_progress_mode { CT_PROGRESS_AUTO, CT_PROGRESS_ALWAYS, CT_PROGRESS_NEVER };

struct ct_progress {
	FILE *to; /* NULL: off */
	const char *what, *unit;
	double start, next; /* monotonic seconds */
	int drawn, terminal;
};

/* "auto" | "always" | "never". Returns -1 for anything else. */
int ct_progress_mode_parse(const char *text, enum ct_progress_mode *out);
/* AUTO: only when stderr is a terminal. */
void ct_progress_init(struct ct_progress *p, enum ct_progress_mode mode, const char *what, const char *unit);
/* `total` 0 = unknown. Cheap when no update is due. */
void ct_progress_update(struct ct_progress *p, uint64_t done, uint64_t total);
void ct_progress_done(struct ct_progress *p);

/* One line without the end of line; for tests. Returns its length. */
size_t ct_progress_line(const char *what, const char *unit, uint64_t done, uint64_t total, double elapsed_s, char *out,
			size_t cap);

#endif
