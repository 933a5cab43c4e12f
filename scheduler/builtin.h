/* SPDX-License-Identifier: GPL-3.0-or-later */
/* builtin.h - the built-in policies, for the list in registry.c. */
#ifndef CT_SCHEDULER_BUILTIN_H
#define CT_SCHEDULER_BUILTIN_H

#include "scheduler/policy.h"

extern const struct ct_policy ct_policy_fifo, ct_policy_firstfit, ct_policy_sjf, ct_policy_srtf, ct_policy_las,
    ct_policy_easy, ct_policy_volcano, ct_policy_volcano_gpubinpack, ct_policy_volcano_nogate, ct_policy_lucid,
    ct_policy_elastico;

#endif
