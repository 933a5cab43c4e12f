/* SPDX-License-Identifier: GPL-3.0-or-later */
/* las.c - least attained service in two queues, as Tiresias discretises it (Gu et
 * al., NSDI'19, "Discretized 2D-LAS"): service is run time x GPUs (x share). Below
 * the threshold a job is in the first queue, from it on in the second; within a
 * queue by submission. Needs no knowledge of run times.
 *
 * The default threshold, 18,000 GPU-seconds, is that of the Tiresias baseline in
 * the Lucid artifact (an assumption there, not a measurement). `promote` is Tiresias'
 * PROMOTEKNOB against starvation: a job of the second queue that has waited at
 * least `promote` times as long as it has run since it last counted from zero goes
 * back to the first queue, its service counted from zero again; 0 = never.
 *
 * Jobs submitted at the same instant: in the trace's order, or with ties=running first
 * those that run, in order of start, then those that wait, in the order in which they
 * were submitted or lost their GPUs (the Tiresias of the Lucid artifact).
 *
 * The policy wakes itself when a running job reaches the threshold or a waiting
 * one is due for promotion. Cost of a decision: preemptive.h, plus O(log jobs) a
 * promotion. */
#include "scheduler/builtin.h"
#include "scheduler/preemptive.h"
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>

struct las {
	struct ct_preemptive s;
	ct_time threshold; /* GPU-microseconds */
	double promote;
	int ties;
	struct las_job *job;
	size_t n_jobs, cap_jobs;
	int64_t n_turns;
	ct_time last_submit;
};

struct las_job {
	ct_time base;  /* attained time that no longer counts */
	int64_t first; /* job submitted at the same instant */
	int64_t turn;  /* counts entries into the list it is in; waiting: above all running */
};

/* A key of ties=running: queue, submission, running or waiting, turn. */
enum { TIES_TRACE, TIES_RUNNING };
#define QUEUE_BIT   ((int64_t)1 << 62)
#define SUBMIT_UNIT ((int64_t)1 << 31)
#define WAITING_BIT ((int64_t)1 << 30)

static ct_time service_us(const struct las *l, const struct ct_view *v, uint32_t job)
{
	return ct_view_attained_us(v, job) - l->job[job].base;
}

/* Later than any run: half the range, so that adding the clock stays in it. */
#define NEVER_US (INT64_MAX / 2)

/* Run time after which a job has the threshold's service. */
static ct_time threshold_us(const struct las *l, const struct ct_view_job *j)
{
	double gpus = j->num_gpus * (j->gpu_milli / 1000.0);

	/* A job without GPUs attains no GPU time: it stays in the first queue. */
	return gpus > 0 ? (ct_time)ceil((double)l->threshold / gpus) : NEVER_US;
}

static int key(struct ct_preemptive *s, const struct ct_view *v, uint32_t job, int64_t *out)
{
	struct las *l = (struct las *)(void *)s;
	int second = service_us(l, v, job) >= threshold_us(l, ct_view_job(v, job));

	*out = second;
	if (l->ties == TIES_TRACE)
		return 0;
	if (ct_view_job(v, job)->state == CT_VIEW_QUEUED)
		l->job[job].turn = WAITING_BIT | ++l->n_turns;
	*out = second * QUEUE_BIT + l->job[job].first * SUBMIT_UNIT + l->job[job].turn;
	return 0;
}

static int64_t queue_of(const struct las *l, int64_t key)
{
	return l->ties == TIES_TRACE ? key : key / QUEUE_BIT;
}

/* Told of each start, in order. */
static int started(struct ct_queueing *q, const struct ct_view *v, uint32_t job, const struct ct_place *at)
{
	struct las *l = (struct las *)(void *)q;

	(void)v;
	(void)at;
	l->job[job].turn = ++l->n_turns;
	return 0;
}

/* When a waiting job is due for promotion. */
static int64_t promotion_us(struct ct_preemptive *s, const struct ct_view *v, uint32_t job)
{
	const struct las *l = (const struct las *)(const void *)s;
	const struct ct_view_job *j = ct_view_job(v, job);
	ct_time service = service_us(l, v, job);

	if (l->promote <= 0 || service < threshold_us(l, j))
		return INT64_MAX;
	return j->since_us + (ct_time)ceil(l->promote * (double)service);
}

static int init(void *state, const struct ct_view *v)
{
	struct las *l = state;

	l->s.key = key;
	l->s.value = promotion_us;
	l->s.q.started = started;
	return ct_preemptive_init(&l->s, v);
}

static void on_submit(void *state, const struct ct_view *v, uint32_t job)
{
	struct las *l = state;
	ct_time submit = ct_view_job(v, job)->submit_us;
	int64_t first = l->n_jobs > 0 && submit == l->last_submit ? l->job[l->n_jobs - 1].first : job;

	l->last_submit = submit;
	CT_GROW(l->job, l->cap_jobs, (size_t)job + 1);
	for (; l->n_jobs <= job; l->n_jobs++)
		l->job[l->n_jobs] = (struct las_job){ .first = first };
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

static void promote(struct las *l, const struct ct_view *v)
{
	struct ct_waiting *w = &l->s.q.waiting;
	uint32_t job;

	for (uint32_t c = 0; l->promote > 0 && c < w->n_classes; c++)
		while ((job = ct_waiting_find(w, c, INT64_MIN, 0, v->now_us)) != CT_NO_JOB) {
			int64_t first_queue;

			l->job[job].base = ct_view_attained_us(v, job); /* counted from zero */
			key(&l->s, v, job, &first_queue);
			ct_waiting_remove(w, job);
			ct_waiting_add(w, c, job, first_queue, INT64_MAX);
			l->s.q.part[ct_view_job(v, job)->partition].fresh = 1;
		}
}

/* Asks for every partition where jobs wait and a running one crossed the threshold. */
static void mark_crossed(struct las *l, const struct ct_view *v)
{
	for (uint32_t i = 0; i < l->s.q.n_parts; i++) {
		const struct ct_active_list *a = &l->s.active[i];
		int64_t now_key;

		if (ct_waiting_first(&l->s.q.waiting, i) == CT_NO_JOB)
			continue;
		for (size_t k = 0; k < a->n; k++) {
			key(&l->s, v, a->job[k].job, &now_key);
			if (queue_of(l, now_key) != queue_of(l, a->job[k].key))
				l->s.q.part[i].freed = 1;
		}
	}
}

static ct_time next_change(const struct las *l, const struct ct_view *v)
{
	ct_time next = INT64_MAX;

	for (uint32_t i = 0; i < l->s.q.n_parts; i++) {
		const struct ct_active_list *a = &l->s.active[i];

		if (ct_waiting_first(&l->s.q.waiting, i) == CT_NO_JOB)
			continue;
		for (size_t k = 0; k < a->n; k++) {
			uint32_t job = a->job[k].job;
			ct_time left = threshold_us(l, ct_view_job(v, job)) - service_us(l, v, job);

			if (left > 0 && v->now_us + left < next)
				next = v->now_us + left;
		}
	}
	for (uint32_t c = 0; l->promote > 0 && c < l->s.q.waiting.n_classes; c++)
		if (ct_waiting_least(&l->s.q.waiting, c) < next)
			next = ct_waiting_least(&l->s.q.waiting, c);
	return next;
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	struct las *l = state;
	ct_time next;

	promote(l, v);
	mark_crossed(l, v);
	if (ct_preemptive_admit(&l->s, v, p) || ct_preemptive_pass(&l->s, v, p))
		return 1;
	next = next_change(l, v);
	return next < NEVER_US ? p->wake(p, next) : 0;
}

static void fini(void *state)
{
	struct las *l = state;

	free(l->job);
	ct_preemptive_fini(&l->s);
}

static const struct ct_opt opts[] = {
	CT_PREEMPTIVE_OPTIONS,
	{ "threshold", CT_OPT_SECONDS, offsetof(struct las, threshold), "18000", 1e-6, 1e12, NULL, "GPU s",
	  "attained service from which a job is in the second queue", 0 },
	{ "promote", CT_OPT_DOUBLE, offsetof(struct las, promote), "0", 0, 1e6, NULL, NULL,
	  "back to the first queue after waiting so many times the time run; 0 = never", 0 },
	{ "ties", CT_OPT_ENUM, offsetof(struct las, ties), "trace", 0, 0, "trace|running", NULL,
	  "jobs submitted together: in the trace's order, or running ones first", 0 },
	{ .name = NULL },
};

const struct ct_policy ct_policy_las = {
	CT_POLICY_HEAD,
	.name = "las",
	.summary = "least attained service in two queues, preemptive (Tiresias)",
	.paper = "Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI 2019",
	.opts = opts,
	.state_size = sizeof(struct las),
	.init = init,
	.on_submit = on_submit,
	.on_finish = on_finish,
	.on_change = on_change,
	.schedule = schedule,
	.fini = fini,
	.whys = ct_queueing_whys,
};
