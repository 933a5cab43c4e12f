/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sjf.c - shortest job first by estimated run time, without preemption.
 *
 * Cost of a decision as in fifo.c. */
#include "scheduler/builtin.h"
#include "scheduler/queueing.h"

static int init(void *state, const struct ct_view *v)
{
	return ct_queueing_init(state, v, CT_ORDER_ESTIMATE);
}

static const struct ct_opt opts[] = {
	CT_QUEUEING_OPTIONS("stop"),
	{ .name = NULL },
};

const struct ct_policy ct_policy_sjf = {
	CT_POLICY_HEAD,
	.name = "sjf",
	.summary = "shortest estimated run time first, without preemption",
	.opts = opts,
	.state_size = sizeof(struct ct_queueing),
	.flags = CT_POLICY_ORACLE, /* for estimate=true */
	.init = init,
	CT_QUEUEING_CALLBACKS,
};
