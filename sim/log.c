/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of a run: what `cotenant explain` tells beyond /jobs. Records are written only
 * where a job's life is not told by /jobs alone, and a job's last words are kept with it,
 * so that a run in which jobs start once and alone writes next to nothing. */
#include "sim/world_state.h"

#include <math.h>
#include <stdlib.h>

const char *ct_stretch_kind_name(enum ct_stretch_kind k)
{
	static const char *const name[CT_STRETCH_KINDS] = { "start",  "cold",    "profile", "run",
							    "switch", "migrate", "preempt", "failure" };

	return name[k];
}

void ct_world_note(struct ct_world *w, uint32_t job, uint32_t why, uint32_t other, double a, double b)
{
	struct ct_live *l = ct_live(w, job);
	struct ct_log *log = &w->log;

	if (!w->spec.record_decisions || (l->why == why + 1 && l->why_other == other))
		return;
	l->why = why + 1;
	l->why_other = other;
	CT_GROW(log->decision, log->cap_decisions, log->n_decisions + 1);
	log->decision[log->n_decisions++] =
	    (struct ct_decision){ w->where.now_us, job, why, other, (float)a, (float)b };
}

/* ---- placements */

static uint32_t *place_room(struct ct_log *log, size_t n)
{
	uint32_t *at;

	CT_GROW(log->place, log->cap_place, log->n_place + n);
	at = log->place + log->n_place;
	log->n_place += n;
	return at;
}

/* Where the job is now, which is its last placement. */
static uint32_t log_place(struct ct_world *w, uint32_t job)
{
	const struct ct_outcome *o = &w->outcome[job];
	const struct ct_live *l = ct_live(w, job);
	uint32_t at = (uint32_t)w->log.n_place, *to;

	if (!l->n_slots) {
		to = place_room(&w->log, 2);
		to[0] = CT_NONE;
		to[1] = l->node;
		return at;
	}
	to = place_room(&w->log, 1 + 2 * (size_t)o->n_place);
	*to++ = o->n_place;
	for (uint32_t i = 0; i < 2 * o->n_place; i++)
		*to++ = w->places[2 * (size_t)o->place + i];
	return at;
}

/* ---- stretches */

static struct ct_stretch *log_stretch(struct ct_world *w, uint32_t job, enum ct_stretch_kind kind, ct_time t)
{
	struct ct_log *log = &w->log;
	struct ct_stretch *s;

	CT_GROW(log->stretch, log->cap_stretches, log->n_stretches + 1);
	s = &log->stretch[log->n_stretches++];
	*s = (struct ct_stretch){ .time = t,
				  .job = job,
				  .partner = CT_NONE,
				  .slowdown = 1,
				  .predicted = 1,
				  .place = CT_NONE,
				  .config = (uint16_t)ct_live(w, job)->next_config,
				  .kind = (uint8_t)kind };
	return s;
}

/* From now on nothing is said of its company. */
static void forget_words(struct ct_live *l)
{
	l->why = 0;
	l->told_partner = CT_NONE;
	l->told_config = l->next_config;
	l->told_slowdown = l->told_predicted = 1;
}

void ct_log_start(struct ct_world *w, uint32_t job, bool first, bool cold)
{
	struct ct_live *l = ct_live(w, job);
	struct ct_stretch *s;

	if (!w->spec.record_decisions)
		return;
	forget_words(l);
	if (cold)
		l->told_config = CT_NONE; /* so that a RUN follows */
	else if (l->profiling || (first && l->n_slots))
		return; /* told at its end; as /jobs says */
	s = log_stretch(w, job, cold ? CT_STRETCH_COLD : CT_STRETCH_START, w->where.now_us);
	if (!l->n_slots) {
		uint32_t at = log_place(w, job);

		s->place = at;
	}
}

void ct_log_event(struct ct_world *w, uint32_t job, enum ct_stretch_kind kind)
{
	struct ct_stretch *s;

	if (!w->spec.record_decisions)
		return;
	s = log_stretch(w, job, kind, w->where.now_us);
	if (kind != CT_STRETCH_SWITCH)
		s->place = log_place(w, job);
	forget_words(ct_live(w, job));
	ct_live(w, job)->told_config = CT_NONE; /* likewise */
}

static bool same(float a, float b)
{
	return !(a < b) && !(a > b) && isnan(a) == isnan(b);
}

void ct_log_beside(struct ct_world *w, uint32_t job, ct_time t, const struct ct_beside *b)
{
	struct ct_live *l = ct_live(w, job);
	float slowdown = (float)(1 / b->factor), predicted = b->others ? (float)b->predicted : 1;
	struct ct_stretch *s;

	if (!w->spec.record_decisions || (b->partner == l->told_partner && l->config == l->told_config &&
					  same(slowdown, l->told_slowdown) && same(predicted, l->told_predicted)))
		return;
	l->told_partner = b->partner;
	l->told_config = l->config;
	l->told_slowdown = slowdown;
	l->told_predicted = predicted;
	s = log_stretch(w, job, CT_STRETCH_RUN, t);
	s->config = (uint16_t)l->config;
	s->partner = b->partner;
	s->partner_config = b->others ? (uint16_t)ct_live(w, b->partner)->config : 0;
	s->slowdown = slowdown;
	s->predicted = predicted;
	s->others = (uint8_t)(b->others < UINT8_MAX ? b->others : UINT8_MAX);
}

void ct_log_fini(struct ct_log *log)
{
	free(log->decision);
	free(log->stretch);
	free(log->place);
	*log = (struct ct_log){ 0 };
}

const struct ct_log *ct_world_log(const struct ct_world *w)
{
	return &w->log;
}
