/* SPDX-License-Identifier: GPL-3.0-or-later */
/* genai_transitions.h - the loading times measured in the GenAI trace, as a table of
 * transitions in the form that sim/profile.h describes.
 *
 *	CT_TRY(ct_genai_write_transitions("data/genai", NULL, "transitions.csv", &err)); */
#ifndef CT_TRACES_GENAI_TRANSITIONS_H
#define CT_TRACES_GENAI_TRANSITIONS_H

#include "traces/trace.h"

/* `path` as for ct_trace_read(); `o` may be NULL. Wants the tables of base model and
 * pipeline updates, and of requests and adapter loads to tell cold pods from others:
 * CT_ETRACE names what is missing. The file is written through a temporary name. */
int ct_genai_write_transitions(const char *path, const struct ct_trace_options *o, const char *out, struct ct_err *err);

#endif
