/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Its option's value would lie outside its state. */
#include "scheduler/policy.h"

struct state {
	int64_t a;
};

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	(void)state;
	(void)v;
	return p->failed;
}

static const struct ct_opt opts[] = {
	{ .name = "wild",
	  .type = CT_OPT_INT,
	  .offset = sizeof(struct state),
	  .def = "0",
	  .help = "points behind the end" },
	{ .name = NULL },
};

static const struct ct_policy bad_option = {
	CT_POLICY_HEAD,
	.name = "bad_option",
	.summary = "an option outside the state",
	.opts = opts,
	.state_size = sizeof(struct state),
	.schedule = schedule,
};
CT_POLICY_EXPORT(bad_option)
