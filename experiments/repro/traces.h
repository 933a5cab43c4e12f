/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traces.h - the figures of the paper's section 2, which are of traces and not of
 * runs: Alibaba's PAI and GenAI traces where they are there, and what their tables do not
 * say (or all of it, where they are not there) from generated traces. Those were
 * fitted to such figures, so that they agree proves nothing: rows and curves say which.
 *
 *	struct ct_repro_traces *t = ct_repro_traces_new("/data", 10, 1);   // holds pai/ and genai/
 *	CT_TRY(ct_repro_traces_rows(t, &rows, &err));                      // fills rows with an input
 *	CT_TRY(ct_repro_traces_curve(t, "genai", "qps", &curve, &from, &err));
 *	ct_repro_traces_free(t);
 *
 * Nothing is read or generated before it is asked for. */
#ifndef CT_EXPERIMENTS_REPRO_TRACES_H
#define CT_EXPERIMENTS_REPRO_TRACES_H

#include "experiments/repro/repro.h"
#include "traces/figures.h"

struct ct_repro_traces;

/* `folder`: NULL, no traces are there. Generated figures are means over seeds 1 to `seeds`
 * (ten at most), curves of `seed`. */
struct ct_repro_traces *ct_repro_traces_new(const char *folder, unsigned seeds, uint64_t seed);
void ct_repro_traces_free(struct ct_repro_traces *t);

/* CT_EIO, CT_ETRACE, CT_ECONFIG: a trace that is there but cannot be read; a figure of no such name. */
int ct_repro_traces_rows(struct ct_repro_traces *t, struct ct_repro *rows, struct ct_err *err);

struct ct_trace_origin {
	int synthetic;
	const char *title, *text; /* "PAI trace"; what it is in truth; live as long as `t` */
};
/* Of the input called `name`. *out belongs to `t`. */
int ct_repro_traces_curve(struct ct_repro_traces *t, const char *name, const char *curve, const struct ct_curve **out,
			  struct ct_trace_origin *from, struct ct_err *err);

/* Is it the name of an input? */
int ct_trace_input_is(const char *name);

#endif
