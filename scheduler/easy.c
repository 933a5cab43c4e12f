/* SPDX-License-Identifier: GPL-3.0-or-later */
/* easy.c - EASY backfilling (Lifka 1995; Mu'alem, Feitelson 2001, aggressive): jobs
 * start in strict order; the first that does not fit gets a reservation at its
 * shadow time (reservation.h), and later jobs, in order, start now if they fit now
 * and either are estimated to end by the shadow time or leave the reservation
 * intact. All of it anew at every change.
 *
 * Cost of a decision, a partition where jobs came or ended: the reservation (only
 * when a later job may fit at all), then O(classes that may fit x log jobs) for each
 * job started; the backlog is never scanned, since each class knows the first of
 * its jobs whose estimate is short enough (waiting.h). */
#include "scheduler/builtin.h"
#include "scheduler/queueing.h"
#include "scheduler/reservation.h"

struct easy {
	struct ct_queueing q; /* first: the options */
	struct ct_reservation r;
};

static int started(struct ct_queueing *q, const struct ct_view *v, uint32_t job, const struct ct_place *at)
{
	struct easy *e = (struct easy *)(void *)q;
	ct_time estimate;

	if (ct_queueing_remaining(q, v, job, &estimate))
		return 1;
	ct_reservation_started(&e->r, v, job, v->now_us + estimate, at);
	return 0;
}

static int init(void *state, const struct ct_view *v)
{
	struct easy *e = state;
	int rc = ct_queueing_init(&e->q, v, CT_ORDER_SUBMIT);

	e->q.started = started;
	ct_reservation_init(&e->r, &e->q, v);
	return rc;
}

static void on_submit(void *state, const struct ct_view *v, uint32_t job)
{
	struct ct_request d = ct_request_of(ct_view_job(v, job));
	struct easy *e = state;

	ct_reservation_know(&e->r, &d);
	ct_queueing_submit(&e->q, v, job);
}

static void on_finish(void *state, const struct ct_view *v, uint32_t job)
{
	struct easy *e = state;

	ct_reservation_ended(&e->r, v, job);
	ct_queueing_finish(&e->q, v, job);
}

static void on_change(void *state, const struct ct_view *v, uint32_t job)
{
	struct easy *e = state;

	if (job != CT_NO_JOB)
		ct_reservation_ended(&e->r, v, job);
	ct_queueing_change(&e->q, v, job);
}

/* The first job of a class after the cursor that may start beside the reservation;
 * *fits = 0: no job of the class fits now. */
static uint32_t next_of_class(struct easy *e, const struct ct_view *v, uint32_t class,
			      const struct ct_candidate *cursor, int *fits)
{
	const struct ct_waiting_class *c = &e->q.waiting.class[class];
	int allowed = ct_reservation_allows_anywhere(&e->r, v, &c->demand);

	*fits = 1;
	if (allowed < 0) {
		struct ct_place at = ct_queueing_place(&e->q, v, c->first_job);

		*fits = at.n > 0;
		allowed = *fits && ct_reservation_allows(&e->r, v, &c->demand, &at);
	}
	if (!*fits)
		return CT_NO_JOB;
	if (allowed)
		return ct_waiting_next(&e->q.waiting, class, cursor->key, cursor->job);
	return ct_waiting_find(&e->q.waiting, class, cursor->key, cursor->job, e->r.shadow_us - v->now_us);
}

/* The earliest such job of all classes; those that do not fit leave the array. */
static struct ct_candidate next_candidate(struct easy *e, const struct ct_view *v, uint32_t *class, uint32_t *n,
					  const struct ct_candidate *cursor)
{
	struct ct_candidate best = { INT64_MAX, CT_NO_JOB, 0 };
	struct ct_room room = ct_queueing_room(&e->q, v, e->r.partition);

	for (uint32_t i = 0; i < *n; i++) {
		const struct ct_waiting_class *c = &e->q.waiting.class[class[i]];
		uint32_t job = CT_NO_JOB;
		int fits = c->n_jobs > 0 && ct_queueing_may_fit(&e->q, v, &room, &c->demand);

		if (fits)
			job = next_of_class(e, v, class[i], cursor, &fits);
		if (!fits) {
			class[i--] = class[--*n];
			continue;
		}
		if (job != CT_NO_JOB && ct_order_before(ct_waiting_key_of(&e->q.waiting, job), job, best.key, best.job))
			best = (struct ct_candidate){ ct_waiting_key_of(&e->q.waiting, job), job, class[i] };
	}
	return best;
}

/* Starts a candidate if it finds a place. */
static enum ct_start_result start_beside(struct easy *e, const struct ct_view *v, struct ct_plan *p, uint32_t job,
					 uint32_t class)
{
	const struct ct_request *d = &e->q.waiting.class[class].demand;
	struct ct_place at = ct_queueing_place(&e->q, v, job);
	ct_time estimate;

	if (at.n == 0)
		return CT_DOES_NOT_FIT;
	if (ct_queueing_remaining(&e->q, v, job, &estimate))
		return CT_START_FAILED;
	if (estimate > e->r.shadow_us - v->now_us)
		ct_reservation_take(&e->r, v, d, &at);
	return ct_queueing_start_at(&e->q, v, p, job, &at) ? CT_START_FAILED : CT_STARTED;
}

static void drop_class(uint32_t *class, uint32_t *n, uint32_t which)
{
	uint32_t i = 0;

	while (class[i] != which)
		i++;
	class[i] = class[--*n];
}

static int backfill(struct easy *e, const struct ct_view *v, struct ct_plan *p, uint32_t partition, uint32_t head)
{
	struct ct_waiting *w = &e->q.waiting;
	uint32_t head_class = ct_waiting_class_of(w, head), n;
	struct ct_room room = ct_queueing_room(&e->q, v, partition);
	uint32_t *class = ct_waiting_match(w, partition, &room, &n);
	struct ct_candidate cursor = { ct_waiting_key_of(w, head), head, head_class }, next;

	for (uint32_t i = 0; i < n; i++) /* nothing of the head's class fits */
		if (class[i] == head_class)
			class[i--] = class[--n];
	if (n == 0)
		return 0;
	ct_reservation_make(&e->r, v, &w->class[head_class].demand);
	while (n > 0) {
		next = next_candidate(e, v, class, &n, &cursor);
		if (next.job == CT_NO_JOB)
			return 0;
		switch (start_beside(e, v, p, next.job, next.class)) {
		case CT_START_FAILED:
			return 1;
		case CT_DOES_NOT_FIT:
			drop_class(class, &n, next.class);
			break;
		case CT_STARTED:
			cursor = next;
			break;
		}
	}
	return 0;
}

/* Each new job that waits behind the head is looked at once: it does not fit, or would
 * outlast the reservation. */
static void note_fresh(struct easy *e, const struct ct_view *v, struct ct_plan *p)
{
	const struct ct_queueing *q = &e->q;
	ct_time estimate;

	for (size_t i = 0; p->keeps_notes && i < q->n_fresh; i++) {
		uint32_t job = q->fresh[i], head;

		if (!ct_waiting_has(&q->waiting, job))
			continue;
		head = q->part[ct_view_job(v, job)->partition].blocked;
		if (head == job || head == CT_NO_JOB)
			continue;
		if (!ct_queueing_place(q, v, job).n)
			ct_queueing_note_room(q, v, p, job);
		else if (e->r.partition == ct_view_job(v, job)->partition && e->r.shadow_us < INT64_MAX &&
			 !ct_queueing_remaining(q, v, job, &estimate))
			p->note(p, job, CT_WHY_OUTLASTS, head, (double)estimate / 1e6,
				(double)(e->r.shadow_us - v->now_us) / 1e6);
	}
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	struct easy *e = state;

	if (ct_queueing_admit(&e->q, v, p, 1))
		return 1;
	for (uint32_t i = 0; i < e->q.n_parts; i++) {
		if (!e->q.part[i].freed && !e->q.part[i].fresh)
			continue;
		if (ct_queueing_start_head(&e->q, v, p, i))
			return 1;
		if (e->q.part[i].blocked != CT_NO_JOB && backfill(e, v, p, i, e->q.part[i].blocked))
			return 1;
	}
	note_fresh(e, v, p);
	ct_queueing_done(&e->q);
	return 0;
}

static void fini(void *state)
{
	struct easy *e = state;

	ct_reservation_fini(&e->r);
	ct_queueing_fini(&e->q);
}

static const struct ct_opt opts[] = {
	CT_QUEUEING_PLACEMENT, CT_QUEUEING_ORDER_BY, CT_QUEUEING_ESTIMATE, CT_QUEUEING_RESIDENTS, { .name = NULL },
};

const struct ct_policy ct_policy_easy = {
	CT_POLICY_HEAD,
	.name = "easy",
	.summary = "in order, with EASY backfilling behind a reservation for the first that waits",
	.paper = "Mu'alem, Feitelson: Utilization, Predictability, Workloads, and User Runtime Estimates in "
		 "Scheduling the IBM SP2 with Backfilling, IEEE TPDS 12(6), 2001",
	.opts = opts,
	.state_size = sizeof(struct easy),
	.flags = CT_POLICY_ORACLE, /* for estimate=true */
	.init = init,
	.on_submit = on_submit,
	.on_finish = on_finish,
	.on_change = on_change,
	.schedule = schedule,
	.fini = fini,
	.whys = ct_queueing_whys,
};
