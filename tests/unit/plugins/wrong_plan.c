/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First come, first served, until the simulated second `at`: then it does the
 * wrong thing that `wrong` names, once. Every such plan must end the run with a
 * message, never with a corrupt cluster. */
#include "scheduler/policy.h"

enum wrong { BUSY_GPUS, SAME_GPU_TWICE, TOO_FEW_GPUS, NO_SUCH_GPU, FUTURE_JOB, RUNNING_JOB, PAST_WAKE, SILENT_FAILURE };

struct state {
	int wrong;
	ct_time at;
};

static const struct ct_opt opts[] = {
	{ .name = "wrong",
	  .type = CT_OPT_ENUM,
	  .offset = offsetof(struct state, wrong),
	  .def = "busy_gpus",
	  .choices =
	      "busy_gpus|same_gpu_twice|too_few_gpus|no_such_gpu|future_job|running_job|past_wake|silent_failure",
	  .help = "what to do wrong" },
	{ .name = "at",
	  .type = CT_OPT_SECONDS,
	  .offset = offsetof(struct state, at),
	  .def = "0",
	  .max = 1e9,
	  .unit = "s",
	  .help = "when" },
	{ .name = NULL },
};

static int go_wrong(const struct state *s, const struct ct_view *v, struct ct_plan *p)
{
	const uint32_t twice[] = { v->n_gpus - 1, v->n_gpus - 1 }, none[] = { v->n_gpus, v->n_gpus + 1 };
	uint32_t job = v->queue_first, gpus[64] = { 0 }, n;

	switch ((enum wrong)s->wrong) {
	case BUSY_GPUS:
		n = v->host->gpus_of(v->host->ctx, v->running_first, gpus, 64);
		return p->start(p, job, 0, gpus, n);
	case SAME_GPU_TWICE:
		return p->start(p, job, 0, twice, 2);
	case TOO_FEW_GPUS:
		return p->start(p, job, 0, twice, 1);
	case NO_SUCH_GPU:
		return p->start(p, job, 0, none, 2);
	case FUTURE_JOB:
		return p->start(p, v->n_jobs, 0, twice, 1);
	case RUNNING_JOB:
		return p->start(p, v->running_first, 0, twice, 1);
	case PAST_WAKE:
		return p->wake(p, v->now_us);
	case SILENT_FAILURE:
		return 1;
	}
	return 0;
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	struct state *s = state;
	uint32_t job, next;

	if (v->now_us >= s->at && v->queue_first != CT_NO_JOB && v->running_first != CT_NO_JOB)
		return go_wrong(s, v, p);
	for (job = v->queue_first; job != CT_NO_JOB; job = next) {
		next = ct_view_job(v, job)->next;
		if (ct_start_anywhere(v, p, job, CT_PLACE_COUNT, 1) != CT_STARTED)
			break;
	}
	return p->failed;
}

static const struct ct_policy wrong_plan = {
	CT_POLICY_HEAD,
	.name = "wrong_plan",
	.summary = "makes a wrong plan",
	.opts = opts,
	.state_size = sizeof(struct state),
	.schedule = schedule,
};
CT_POLICY_EXPORT(wrong_plan)
