/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/compat.h"

#include <string.h>

/* Values from the artifact's code (S-Lab-System-Group/Lucid @63685a3a), for Venus. */
enum { DEFECT = 1 << CT_COMPAT_LUCID, BOTH = DEFECT | 1 << CT_COMPAT_LUCID_REPAIRED };
static const struct ct_compat_default defaults[] = {
	{ BOTH, "fifo", "policy", "placement", "pack" },
	{ BOTH, "sjf", "policy", "placement", "pack" },
	{ BOTH, "las", "policy", "placement", "pack" },
	/* there a job is in the first queue up to and with the threshold */
	{ BOTH, "las", "policy", "threshold", "18000.000001" },
	{ BOTH, "las", "policy", "ties", "running" },
	{ BOTH, "las", "sim", "period", "60" },
	{ BOTH, "las", "sim", "step", "1" },
	{ BOTH, "las", "sim", "preempt_loss", "40" },
	{ BOTH, "las", "sim", "preempt_loss_multi", "60" },
	{ BOTH, "lucid", "sim", "step", "1" },
	{ DEFECT, "lucid", "sim", "later_keeps_rate", "true" },
	{ DEFECT, "lucid", "policy", "later_stays_packed", "true" },
	{ BOTH, "lucid", "policy", "round", "1" },
	{ BOTH, "lucid", "policy", "profile", "parallel" },
	{ BOTH, "lucid", "policy", "profiler_nodes", "2" },
	{ BOTH, "lucid", "policy", "profile_time", "200" },
	{ BOTH, "lucid", "policy", "profile_gpus", "8" },
	{ BOTH, "lucid", "policy", "memory", "24576" },
	{ BOTH, "lucid", "policy", "estimate", "column" },
};
enum { N_DEFAULTS = sizeof defaults / sizeof *defaults };

const struct ct_compat_default *ct_compat_at(size_t i)
{
	return i < N_DEFAULTS ? &defaults[i] : NULL;
}

int ct_compat_has(enum ct_compat set, const char *policy)
{
	if (set == CT_COMPAT_NONE)
		return 1;
	for (size_t i = 0; i < N_DEFAULTS; i++)
		if (ct_compat_applies(&defaults[i], set) && strcmp(defaults[i].policy, policy) == 0)
			return 1;
	return 0;
}
