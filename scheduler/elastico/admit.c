/* SPDX-License-Identifier: GPL-3.0-or-later */
/* admit.c - Algorithm 1, lines 21 and 22: jobs of the queue get GPUs while there is room,
 * in order of submission, passing over what has none.
 *
 * Several passes over the first `horizon` jobs: places with little loss are given away
 * first, so that a pair that goes well together is not broken by an earlier job that
 * would lose half. Jobs that chose to wait at the present prices are looked at last. A
 * class of jobs that found nothing is not tried again in the same pass. */
#include "scheduler/elastico/elastico.h"

#include <math.h>

static const double gain_of_pass[] = { 0.75, 0.5, 0 };
enum { PASSES = sizeof gain_of_pass / sizeof *gain_of_pass };

/* ---- a job that has a place */

int ct_admit_make_room(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job,
		       const struct ct_elastico_place *at)
{
	for (uint32_t i = 0; i < at->n_hosts; i++) {
		uint32_t host = e->host_job[i];

		if (e->host_config[i] == ct_view_job(v, host)->config)
			continue;
		if (ct_adapt_switch(e, v, p, host, e->host_config[i]))
			return 1;
		p->note(p, host, CT_WHY_MADE_ROOM, job, at->other, at->self);
	}
	return 0;
}

static void join(struct ct_elastico *e, uint32_t job, uint32_t partner)
{
	struct ct_elastico_job *j = &e->job[job];

	if (!j->n_partners || j->partner != partner)
		j->n_partners += j->n_partners < 2;
	j->partner = partner;
}

/* What is true of the hosts now that somebody has come. */
void ct_admit_settle(struct ct_elastico *e, const struct ct_view *v, uint32_t job, const struct ct_elastico_place *at)
{
	const struct ct_view_job *w = ct_view_job(v, job);
	struct ct_elastico_job *j = &e->job[job];
	uint32_t idle = 0;

	j->n_alone = j->n_partners = 0;
	j->partner = CT_NO_JOB;
	j->pace = 1;
	j->least_mem = UINT32_MAX;
	for (uint32_t i = 0; i < at->n; i++) {
		const struct ct_view_gpu *g = ct_view_gpu(v, e->found[i]);

		idle += g->n_residents == 1;
		if (g->mem_mib < j->least_mem)
			j->least_mem = g->mem_mib;
	}
	j->n_alone = idle;
	for (uint32_t i = 0; i < at->n_hosts; i++) {
		struct ct_elastico_job *h = &e->job[e->host_job[i]];
		const struct ct_elastico_config *a = &e->family[j->family].config[w->config],
						*b = &e->family[h->family].config[e->host_config[i]];

		ct_pack_remove_host(e, e->host_job[i]);
		join(e, e->host_job[i], job);
		join(e, job, e->host_job[i]);
		h->n_alone = 0;
		for (uint32_t k = 0, n = v->host->gpus_of(v->host->ctx, e->host_job[i], e->gpus, v->n_gpus); k < n; k++)
			h->n_alone += ct_view_gpu(v, e->gpus[k])->n_residents == 1 && ct_keep_usable(e, e->gpus[k]);
		h->pace = fmax(h->pace, ct_iac_slowdown(e, v, b, a));
		j->pace = fmax(j->pace, ct_iac_slowdown(e, v, a, b));
		ct_pack_add_host(e, v, e->host_job[i]);
	}
	ct_pack_add_host(e, v, job);
}

static enum ct_elastico_why why_placed(const struct ct_elastico_place *at, const struct ct_view_job *j)
{
	return at->n_hosts ? CT_WHY_BESIDE : at->n < j->num_gpus ? CT_WHY_FEWER : CT_WHY_ALONE;
}

static int start(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job,
		 const struct ct_elastico_place *at)
{
	const struct ct_view_job *w = ct_view_job(v, job);
	struct ct_elastico_job *j = &e->job[job];
	enum ct_elastico_why why = why_placed(at, w);
	ct_time cost;

	if (ct_admit_make_room(e, v, p, job, at))
		return 1;
	cost = v->host->price_us(v->host->ctx, job, w->start_us < 0 ? CT_MOVE_START : CT_MOVE_RESUME, at->config, NULL);
	if (p->start(p, job, at->config, e->found, at->n))
		return 1;
	j->ready_us = v->now_us + cost;
	j->changed_us = v->now_us;
	j->window_us = -1;
	e->acted = true;
	if (why == CT_WHY_BESIDE)
		p->note(p, job, why, e->host_job[0], at->self, at->other);
	else
		p->note(p, job, why, CT_NO_JOB, at->n, w->num_gpus);
	ct_admit_settle(e, v, job, at);
	return 0;
}

/* ---- the queue */

/* CPU only: a share of a node. */
static int start_without_gpus(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	enum ct_start_result r = ct_start_anywhere(v, p, job, CT_PLACE_COUNT, 1);

	if (r == CT_STARTED) {
		e->job[job].ready_us = v->now_us;
		e->acted = true;
	}
	return r == CT_START_FAILED;
}

/* Where the cluster is uneven the search of pack.c, which takes nodes greedily, can miss
 * the only place that a job can have: in its default configuration the host finds it. */
static struct ct_elastico_place place_of_host(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	struct ct_place at = v->host->place(v->host->ctx, job, CT_PLACE_COUNT, 1);
	struct ct_elastico_place p = { .self = 1, .other = 1, .config = ct_view_job(v, job)->default_config };

	if (!at.n || at.node != CT_ANY)
		return p;
	for (uint32_t i = 0; i < at.n; i++) {
		if (!ct_keep_usable(e, at.gpus[i]))
			return p;
		e->found[i] = at.gpus[i];
	}
	p.found = true;
	p.n = at.n;
	return p;
}

/* Jobs whose one configuration fits nowhere would wait for ever. */
static bool is_possible(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	struct ct_elastico_class *k = &e->class[e->job[job].class];
	bool fixed = !ct_view_job(v, job)->num_gpus || e->family[k->family].n_front == 1;

	if (!k->possible)
		k->possible = !fixed || v->host->could_place(v->host->ctx, job, CT_PLACE_COUNT) ? 1 : -1;
	return k->possible > 0;
}

static int try(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job, uint32_t pass)
{
	struct ct_elastico_class *k = &e->class[e->job[job].class];
	struct ct_elastico_place at;

	if (!is_possible(e, v, job))
		return pass + 1 < PASSES ? 0 : p->reject(p, job);
	if (!ct_view_job(v, job)->num_gpus)
		return pass + 1 < PASSES ? 0 : start_without_gpus(e, v, p, job);
	if (k->failed == e->pass)
		return 0;
	if (pass + 1 < PASSES && ct_pds_choice(e, job) == CT_ELASTICO_WAIT)
		return 0;
	at = ct_pack_find(e, v, job, fmax(e->margin, gain_of_pass[pass]));
	if (!at.found && e->uneven && pass + 1 == PASSES) {
		struct ct_elastico_place fallback = place_of_host(e, v, job);

		at = fallback.found ? fallback : at;
	}
	if (at.found)
		return start(e, v, p, job, &at);
	k->failed = e->pass;
	k->why = at.why;
	k->a = at.a;
	k->b = at.b;
	return 0;
}

static void note_waiting(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	uint32_t n = 0;

	if (!p->keeps_notes)
		return;
	for (uint32_t job = v->queue_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		const struct ct_elastico_class *k = &e->class[e->job[job].class];

		if (n++ == (uint64_t)e->horizon) {
			p->note(p, job, CT_WHY_HORIZON, CT_NO_JOB, (double)e->horizon, v->n_queued);
			return;
		}
		if (!ct_view_job(v, job)->num_gpus)
			p->note(p, job, CT_WHY_NO_GANG, CT_NO_JOB, 0, 0);
		else if (ct_pds_choice(e, job) == CT_ELASTICO_WAIT)
			p->note(p, job, CT_WHY_PRICE, CT_NO_JOB, e->price[CT_ELASTICO_MEM], e->price[CT_ELASTICO_SM]);
		else
			p->note(p, job, k->why, CT_NO_JOB, k->a, k->b);
	}
}

/* Whom GPUs are kept for is asked first, and may have any. */
static int try_kept(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	if (e->kept_for == CT_NO_JOB)
		return 0;
	e->open = true;
	ct_pack_scan(e, v);
	e->pass++;
	if (try(e, v, p, e->kept_for, PASSES - 1))
		return 1;
	e->open = ct_view_job(v, e->kept_for)->state != CT_VIEW_QUEUED;
	if (!e->open)
		ct_pack_scan(e, v);
	return 0;
}

int ct_admit(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	uint32_t passes = e->passes && e->iac ? PASSES : 1;

	if (try_kept(e, v, p))
		return 1;

	for (uint32_t pass = PASSES - passes; pass < PASSES && v->queue_first != CT_NO_JOB; pass++) {
		uint32_t n = 0, next;

		e->pass++;
		for (uint32_t job = v->queue_first; job != CT_NO_JOB && n < (uint64_t)e->horizon; job = next, n++) {
			next = ct_view_job(v, job)->next;
			if (try(e, v, p, job, pass))
				return 1;
		}
	}
	note_waiting(e, v, p);
	return 0;
}
