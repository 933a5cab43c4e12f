/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First come, first served, each job on the fewest GPUs that it may run on. */
#include "scheduler/policy.h"

enum { MOST = 64 };

/* 0: too few idle. */
static uint32_t idle_gpus(const struct ct_view *v, uint32_t want, uint32_t *gpus)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < v->n_gpus && n < want; g++)
		if (ct_view_gpu(v, g)->n_residents == 0)
			gpus[n++] = g;
	return n == want ? n : 0;
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	uint32_t job, next, n, gpus[MOST];

	(void)state;
	for (job = v->queue_first; job != CT_NO_JOB; job = next) {
		const struct ct_view_job *j = ct_view_job(v, job);

		next = j->next;
		n = j->min_gpus <= MOST ? idle_gpus(v, j->min_gpus, gpus) : 0;
		if (!n)
			break;
		if (p->start(p, job, j->default_config, gpus, n))
			return p->failed;
	}
	return p->failed;
}

static const struct ct_policy fewest_gpus = {
	CT_POLICY_HEAD,
	.name = "fewest_gpus",
	.summary = "first come, first served, on the fewest GPUs",
	.flags = CT_POLICY_ELASTIC,
	.schedule = schedule,
};
CT_POLICY_EXPORT(fewest_gpus)
