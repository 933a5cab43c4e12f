/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Has everything but the one required function. */
#include "scheduler/policy.h"

static const struct ct_policy no_schedule = {
	CT_POLICY_HEAD,
	.name = "no_schedule",
	.summary = "never decides",
};
CT_POLICY_EXPORT(no_schedule)
