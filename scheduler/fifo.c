/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fifo.c - first come, first served: fifo (a job that does not fit stops those
 * behind it) and firstfit (it is passed over, without a reservation).
 *
 * Cost of a decision (queueing.h): fifo O(log jobs) a start and O(1) for the
 * blocked head; firstfit O(classes that may fit) more where something was freed. */
#include "scheduler/builtin.h"
#include "scheduler/queueing.h"

static int init(void *state, const struct ct_view *v)
{
	return ct_queueing_init(state, v, CT_ORDER_SUBMIT);
}

static const struct ct_opt stop_opts[] = {
	CT_QUEUEING_PLACEMENT, CT_QUEUEING_ON_BLOCK("stop"), CT_QUEUEING_ORDER_BY, CT_QUEUEING_RESIDENTS,
	{ .name = NULL },
};
static const struct ct_opt skip_opts[] = {
	CT_QUEUEING_PLACEMENT, CT_QUEUEING_ON_BLOCK("skip"), CT_QUEUEING_ORDER_BY, CT_QUEUEING_RESIDENTS,
	{ .name = NULL },
};

const struct ct_policy ct_policy_fifo = {
	CT_POLICY_HEAD,
	.name = "fifo",
	.summary = "first come, first served; a job that does not fit stops those behind it",
	.opts = stop_opts,
	.state_size = sizeof(struct ct_queueing),
	.init = init,
	CT_QUEUEING_CALLBACKS,
};

const struct ct_policy ct_policy_firstfit = {
	CT_POLICY_HEAD,
	.name = "firstfit",
	.summary = "in order of submission, passing over what does not fit, without reservations",
	.opts = skip_opts,
	.state_size = sizeof(struct ct_queueing),
	.init = init,
	CT_QUEUEING_CALLBACKS,
};
