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

static void on_submit(void *state, const struct ct_view *v, uint32_t job)
{
	ct_queueing_submit(state, v, job);
}

static void on_finish(void *state, const struct ct_view *v, uint32_t job)
{
	ct_queueing_finish(state, v, job);
}

static void on_change(void *state, const struct ct_view *v, uint32_t job)
{
	ct_queueing_change(state, v, job);
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	return ct_queueing_schedule(state, v, p);
}

static void fini(void *state)
{
	ct_queueing_fini(state);
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
	.on_submit = on_submit,
	.on_finish = on_finish,
	.on_change = on_change,
	.schedule = schedule,
	.fini = fini,
};
