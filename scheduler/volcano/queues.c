/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queues.c - the option `queues`, and the proportion plugin's shares.
 *
 * Water-filling as in v1.13's proportion.go, on GPUs alone: each round hands out
 * what remains by weight among the queues that are not met, clips to real
 * capability and request, raises to the guarantee; a queue is met when it has its
 * request or gained nothing. */
#include "scheduler/volcano/volcano.h"

#include "sim/csv.h"
#include "sim/err.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct word {
	const char *at;
	size_t n;
};

/* The next part of `rest` up to a separator; `rest` moves behind it. */
static struct word next_word(struct word *rest, char separator)
{
	const char *end = memchr(rest->at, separator, rest->n);
	struct word w = { rest->at, end ? (size_t)(end - rest->at) : rest->n };
	size_t eaten = w.n + (end != NULL);

	rest->at += eaten;
	rest->n -= eaten;
	return w;
}

static bool is_word(struct word w, const char *text)
{
	return w.n == strlen(text) && !memcmp(w.at, text, w.n);
}

static int complain(const struct ct_view *v, const char *what, struct word w, const char *more)
{
	char message[360];

	snprintf(message, sizeof message, "'policy.queues' %s '%.*s'%s", what, (int)(w.n < 100 ? w.n : 100), w.at,
		 more);
	return v->host->fail(v->host->ctx, message);
}

static int set_number(const struct ct_view *v, struct word key, struct word value, struct ct_vol_queue_spec *q)
{
	double x;

	if (ct_parse_f64(value.at, value.n, &x) || !isfinite(x))
		return complain(v, "wants a number, got", value, "");
	if (is_word(key, "weight") && x > 0 && x <= 1e6)
		q->weight = x;
	else if (is_word(key, "priority") && x == floor(x) && fabs(x) <= 1e9)
		q->priority = (int32_t)x;
	else if (is_word(key, "capability") && x > 0)
		q->capability = x;
	else if (is_word(key, "guarantee") && x >= 0)
		q->guarantee = x;
	else
		return complain(v, "has", key,
				" out of range (weight > 0, priority whole, capability > 0, guarantee >= 0)");
	return 0;
}

static int set_field(const struct ct_view *v, struct word field, struct ct_vol_queue_spec *q)
{
	struct word value = field, key = next_word(&value, '=');

	if (is_word(key, "reclaimable")) {
		q->reclaimable = is_word(value, "true");
		return q->reclaimable || is_word(value, "false")
			   ? 0
			   : complain(v, "wants reclaimable=true or false, got", value, "");
	}
	if (is_word(key, "weight") || is_word(key, "priority") || is_word(key, "capability") ||
	    is_word(key, "guarantee"))
		return set_number(v, key, value, q);
	return complain(v, "knows no", key, "; a queue has weight, priority, capability, guarantee, reclaimable");
}

static struct ct_vol_queue_spec *add_spec(struct ct_volcano *s, const char *name)
{
	CT_GROW(s->spec, s->cap_specs, s->n_specs + 1);
	s->spec[s->n_specs] =
	    (struct ct_vol_queue_spec){ .name = name, .weight = 1, .capability = INFINITY, .reclaimable = true };
	for (uint32_t i = 0; i < s->n_cells; i++) {
		struct ct_vol_cell *c = &s->cell[i];

		c->queue = ct_realloc_array(c->queue, s->n_specs + 1, sizeof *c->queue);
		c->queue[c->n_queues] = ct_calloc(1, sizeof **c->queue);
		c->queue[c->n_queues]->index = (uint32_t)s->n_specs;
		c->n_queues++;
	}
	return &s->spec[s->n_specs++];
}

static int parse_queue(struct ct_volcano *s, const struct ct_view *v, struct word text)
{
	struct word fields = text, name = next_word(&fields, ':'), field;
	struct ct_vol_queue_spec *q;
	char *copy;

	if (!name.n)
		return complain(v, "has a queue without a name:", text, "");
	for (size_t i = 0; i < s->n_specs; i++)
		if (is_word(name, s->spec[i].name))
			return complain(v, "names", name, " twice");
	copy = v->host->alloc(v->host->ctx, name.n + 1);
	memcpy(copy, name.at, name.n);
	q = add_spec(s, copy);
	while (fields.n) {
		field = next_word(&fields, ',');
		CT_TRY(set_field(v, field, q));
	}
	if (q->guarantee > q->capability)
		return complain(v, "guarantees more than its capability to", name, "");
	s->guarantees += q->guarantee;
	return 0;
}

int ct_vol_queues_parse(struct ct_volcano *s, const struct ct_view *v)
{
	struct word rest = { s->opt.queues ? s->opt.queues : "", 0 }, queue;

	rest.n = strlen(rest.at);
	s->named = rest.n > 0;
	while (rest.n) {
		queue = next_word(&rest, ';');
		if (queue.n)
			CT_TRY(parse_queue(s, v, queue));
	}
	for (uint32_t i = 0; i < s->n_cells; i++)
		if (s->guarantees > (double)s->cell[i].total_all)
			return v->host->fail(v->host->ctx, "'policy.queues' guarantees more GPUs than a partition has");
	if (!s->n_specs)
		add_spec(s, "default");
	return 0;
}

uint32_t ct_vol_queue_find(struct ct_volcano *s, const char *name)
{
	if (!*name)
		name = "default";
	for (size_t i = 0; i < s->n_specs; i++)
		if (!strcmp(s->spec[i].name, name))
			return (uint32_t)i;
	if (s->named)
		return CT_VOL_NONE;
	add_spec(s, name);
	return (uint32_t)s->n_specs - 1;
}

/* ---- shares */

/* One round. Returns what the queues gained. */
static double pour(struct ct_vol_claimant *q, size_t n, double remaining, double weights)
{
	double gained = 0;

	for (size_t i = 0; i < n; i++) {
		double before = q[i].deserved;

		if (q[i].met)
			continue;
		q[i].deserved += remaining * q[i].weight / weights;
		q[i].deserved = fmin(q[i].deserved, q[i].realcap);
		q[i].deserved = fmin(q[i].deserved, q[i].request);
		q[i].deserved = fmax(q[i].deserved, q[i].guarantee);
		q[i].met = q[i].request <= q[i].deserved || q[i].deserved == before;
		gained += q[i].deserved - before;
	}
	return gained;
}

void ct_vol_water_fill(struct ct_vol_claimant *q, size_t n, double total)
{
	double remaining = total;

	for (size_t i = 0; i < n; i++) {
		q[i].deserved = 0;
		q[i].met = false;
	}
	for (;;) {
		double weights = 0, gained;

		for (size_t i = 0; i < n; i++)
			weights += q[i].met ? 0 : q[i].weight;
		if (weights <= 0)
			break;
		gained = pour(q, n, remaining, weights);
		remaining = fmax(remaining - gained, 0);
		if (remaining < CT_VOL_EPSILON || gained == 0)
			break;
	}
}

double ct_vol_realcap(const struct ct_volcano *s, const struct ct_vol_queue_spec *spec, uint64_t total)
{
	double rest = fmax((double)total - s->guarantees, 0) + spec->guarantee;

	return fmin(spec->capability, rest);
}

/* One queue deserves what it asks for, up to its real capability. */
static void derive_single(const struct ct_volcano *s, struct ct_vol_cell *c)
{
	struct ct_vol_queue *q = c->queue[0];
	double request = (double)(q->allocated + q->unplaced);

	q->realcap = ct_vol_realcap(s, &s->spec[0], c->total);
	q->deserved = fmax(fmin(fmin((double)c->total, q->realcap), request), s->spec[0].guarantee);
}

void ct_vol_derive(struct ct_volcano *s, struct ct_vol_cell *c)
{
	struct ct_vol_claimant *x;

	if (c->n_queues == 1) {
		derive_single(s, c);
		return;
	}
	CT_GROW(s->claimant, s->cap_claimants, c->n_queues);
	x = s->claimant;
	for (uint32_t i = 0; i < c->n_queues; i++) {
		const struct ct_vol_queue_spec *spec = &s->spec[i];
		struct ct_vol_queue *q = c->queue[i];

		q->realcap = ct_vol_realcap(s, spec, c->total);
		x[i] = (struct ct_vol_claimant){ .weight = spec->weight,
						 .realcap = q->realcap,
						 .request = (double)(q->allocated + q->unplaced),
						 .guarantee = spec->guarantee };
	}
	ct_vol_water_fill(x, c->n_queues, (double)c->total);
	for (uint32_t i = 0; i < c->n_queues; i++)
		c->queue[i]->deserved = x[i].deserved;
}

static double share(const struct ct_vol_queue *q)
{
	if (q->deserved <= 0)
		return q->allocated ? 1 : 0;
	return (double)q->allocated / q->deserved;
}

bool ct_vol_queue_before(const struct ct_volcano *s, const struct ct_vol_queue *a, const struct ct_vol_queue *b)
{
	int32_t pa = s->spec[a->index].priority, pb = s->spec[b->index].priority;
	double sa, sb;

	if (pa != pb)
		return pa > pb;
	sa = share(a);
	sb = share(b);
	return sa != sb ? sa < sb : a->index < b->index;
}
