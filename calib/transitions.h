/* SPDX-License-Identifier: GPL-3.0-or-later */
/* transitions.h - reads the transition table (format: sim/profile.h). */
#ifndef CT_CALIB_TRANSITIONS_H
#define CT_CALIB_TRANSITIONS_H

#include "sim/err.h"
#include "sim/memory.h"
#include "sim/profile.h"

/* Rows live in `arena`. CT_ECONFIG with file:line:column, all errors together. */
int ct_transitions_load(const char *path, struct ct_arena *arena, struct ct_transition_table *out, struct ct_err *err);

#endif
