/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Built for an interface that does not exist yet. */
#include "scheduler/policy.h"

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	(void)state;
	(void)v;
	return p->failed;
}

static const struct ct_policy bad_abi = {
	.abi = CT_POLICY_ABI + 1,
	.size = sizeof(struct ct_policy),
	.name = "bad_abi",
	.summary = "of a later interface",
	.schedule = schedule,
};
CT_POLICY_EXPORT(bad_abi)
