/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Its struct ends before the last member of the first release. */
#include "scheduler/policy.h"

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	(void)state;
	(void)v;
	return p->failed;
}

static const struct ct_policy too_small = {
	.abi = CT_POLICY_ABI,
	.size = offsetof(struct ct_policy, fini),
	.name = "too_small",
	.summary = "a struct cut short",
	.schedule = schedule,
};
CT_POLICY_EXPORT(too_small)
