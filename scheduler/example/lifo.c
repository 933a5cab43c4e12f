/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lifo.c - a policy as a plug-in: last come, first served, without preemption. It
 * shows what a plug-in consists of; copy it to begin your own.
 *
 * Build it against the installed header:
 *
 *	cc -std=c17 -shared -fPIC -o lifo.so lifo.c $(pkg-config --cflags cotenant)
 *
 * or inside the source tree, where `make` does it as build/release/scheduler/example/lifo.so:
 *
 *	cc -std=c17 -shared -fPIC -I. -o lifo.so scheduler/example/lifo.c
 *
 * and run it:
 *
 *	cotenant run --policy ./lifo.so --set policy.patience=3600 ...
 *
 * The newest job goes first. A job that has waited longer than `patience` goes
 * before all others, the oldest first, so that nobody starves; 0 = no patience at
 * all. A job that does not fit is passed over.
 *
 * Cost of a decision: one look at each waiting job. That is fine for queues of a
 * few thousand; the built-in policies do without (waiting.h). */
#if __has_include(<cotenant/policy.h>)
#include <cotenant/policy.h>
#else
#include "scheduler/policy.h"
#endif

/* The host allocates it zeroed, one a run, and fills in the options. */
struct lifo {
	ct_time patience;
	int placement; /* index in the option's choices = enum ct_place_rule */
};

static const struct ct_opt opts[] = {
	{ .name = "patience",
	  .type = CT_OPT_SECONDS,
	  .offset = offsetof(struct lifo, patience),
	  .def = "0",
	  .min = 0,
	  .max = 1e9,
	  .unit = "s",
	  .help = "jobs that have waited longer go first, oldest first; 0 = never" },
	{ .name = "placement",
	  .type = CT_OPT_ENUM,
	  .offset = offsetof(struct lifo, placement),
	  .def = "count",
	  .choices = "count|pack",
	  .help = "any free GPUs, or one node, best fit" },
	{ .name = NULL },
};

static int is_impatient(const struct lifo *l, const struct ct_view *v, uint32_t job)
{
	return l->patience > 0 && v->now_us - ct_view_job(v, job)->submit_us > l->patience;
}

/* Nonzero ends the run: the plan has recorded why. */
static int try_start(const struct lifo *l, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	if (!v->host->could_place(v->host->ctx, job, l->placement))
		return p->reject(p, job);
	ct_start_anywhere(v, p, job, l->placement, 1);
	return p->failed;
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	const struct lifo *l = state;
	uint32_t job, next;

	/* The queue is in order of submission: those without patience are its head. */
	for (job = v->queue_first; job != CT_NO_JOB && is_impatient(l, v, job); job = next) {
		next = ct_view_job(v, job)->next; /* read before the job moves */
		if (try_start(l, v, p, job))
			return p->failed;
	}
	for (job = v->queue_last; job != CT_NO_JOB; job = next) {
		next = ct_view_job(v, job)->prev;
		if (!is_impatient(l, v, job) && try_start(l, v, p, job))
			return p->failed;
	}
	return p->failed;
}

static const struct ct_policy lifo = {
	CT_POLICY_HEAD,
	.name = "lifo",
	.summary = "last come, first served, with a limit to everybody's patience",
	.opts = opts,
	.state_size = sizeof(struct lifo),
	.schedule = schedule,
};
CT_POLICY_EXPORT(lifo)
