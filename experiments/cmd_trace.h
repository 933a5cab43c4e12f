/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_trace.h - the actions of `cotenant trace` that are commands of their own, with
 * flags and help: `cotenant trace slice --help`. */
#ifndef CT_EXPERIMENTS_CMD_TRACE_H
#define CT_EXPERIMENTS_CMD_TRACE_H

#include "experiments/command.h"

extern const struct ct_command ct_cmd_trace_slice, ct_cmd_trace_sample, ct_cmd_trace_scale, ct_cmd_trace_mix,
    ct_cmd_trace_generate, ct_cmd_trace_transitions;

#endif
