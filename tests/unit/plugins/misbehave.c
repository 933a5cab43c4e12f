/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First come, first served, and on request: wrong plans, crashes, hangs, a hunger for
 * memory, or just slowness. For the tests of sweeps. */
#include "scheduler/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum how { NOTHING, WRONG, CRASH, HANG, MEMORY, SLOW };
#define SLOW_S     0.1
#define MOST_BYTES ((size_t)2 << 30)

struct misbehave {
	int how;
	int begun;
};

static const struct ct_opt opts[] = {
	{ .name = "how",
	  .type = CT_OPT_ENUM,
	  .offset = offsetof(struct misbehave, how),
	  .def = "nothing",
	  .choices = "nothing|wrong|crash|hang|memory|slow",
	  .help = "what it does at its first decision" },
	{ .name = NULL },
};

/* All there is, up to MOST_BYTES, and in ever smaller pieces. */
static void eat_memory(void)
{
	size_t eaten = 0;

	for (size_t n = (size_t)1 << 24; n >= 32; n /= 2)
		while (eaten < MOST_BYTES) {
			void *p = malloc(n);

			if (!p)
				break;
			memset(p, 1, n < 4096 ? n : 4096);
			eaten += n;
		}
}

static void waste_time(double seconds)
{
	clock_t begin = clock();

	while ((double)(clock() - begin) < seconds * CLOCKS_PER_SEC)
		;
}

static int misbehave(struct misbehave *m, struct ct_plan *p)
{
	static const uint32_t nowhere = UINT32_MAX;

	if (m->begun++)
		return p->failed;
	if (m->how == WRONG)
		return p->start(p, 0, 0, &nowhere, 1);
	if (m->how == CRASH)
		abort();
	if (m->how == HANG)
		waste_time(HUGE_VAL);
	if (m->how == MEMORY)
		eat_memory();
	if (m->how == SLOW)
		waste_time(SLOW_S);
	return p->failed;
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	uint32_t next;

	if (misbehave(state, p))
		return p->failed;
	for (uint32_t job = v->queue_first; job != CT_NO_JOB && !p->failed; job = next) {
		next = ct_view_job(v, job)->next;
		if (!v->host->could_place(v->host->ctx, job, 0))
			p->reject(p, job);
		else
			ct_start_anywhere(v, p, job, 0, 1);
	}
	return p->failed;
}

static const struct ct_policy policy = {
	CT_POLICY_HEAD,
	.name = "misbehave",
	.summary = "does what it should not",
	.opts = opts,
	.state_size = sizeof(struct misbehave),
	.schedule = schedule,
};
CT_POLICY_EXPORT(policy)
