/* SPDX-License-Identifier: GPL-3.0-or-later */
/* srtf.c - shortest remaining time first, preemptive: on one GPU exactly SRPT
 * (Schrage 1968). With estimate=true the remaining time is the true remaining solo
 * work, otherwise the estimate less the time attained, at least 1 us.
 *
 * Cost of a decision: preemptive.h. */
#include "scheduler/builtin.h"
#include "scheduler/preemptive.h"

static int key(struct ct_preemptive *s, const struct ct_view *v, uint32_t job, int64_t *out)
{
	ct_time left;

	if (s->q.estimate == CT_ESTIMATE_TRUE) {
		*out = ct_tree_key(v->host->oracle_remaining_us(v->host->ctx, job));
		return 0;
	}
	if (ct_queueing_remaining(&s->q, v, job, &left))
		return 1;
	*out = left;
	return 0;
}

static int init(void *state, const struct ct_view *v)
{
	((struct ct_preemptive *)state)->key = key;
	return ct_preemptive_init(state, v);
}

static void on_submit(void *state, const struct ct_view *v, uint32_t job)
{
	ct_queueing_submit(state, v, job);
}

static void on_finish(void *state, const struct ct_view *v, uint32_t job)
{
	ct_preemptive_finish(state, v, job);
}

static void on_change(void *state, const struct ct_view *v, uint32_t job)
{
	ct_preemptive_change(state, v, job);
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	return ct_preemptive_admit(state, v, p) || ct_preemptive_pass(state, v, p);
}

static void fini(void *state)
{
	ct_preemptive_fini(state);
}

static const struct ct_opt opts[] = {
	CT_PREEMPTIVE_OPTIONS,
	CT_QUEUEING_ESTIMATE,
	{ .name = NULL },
};

const struct ct_policy ct_policy_srtf = {
	CT_POLICY_HEAD,
	.name = "srtf",
	.summary = "shortest remaining time first, preemptive",
	.opts = opts,
	.state_size = sizeof(struct ct_preemptive),
	.flags = CT_POLICY_ORACLE, /* for estimate=true */
	.init = init,
	.on_submit = on_submit,
	.on_finish = on_finish,
	.on_change = on_change,
	.schedule = schedule,
	.fini = fini,
	.whys = ct_queueing_whys,
};
