/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iac.c - Interference-Aware Co-location: section 3.3. Tolerances, and what the policy
 * believes of pairs: the host's prediction, until a pair was measured in this run.
 *
 * Best choices of a pair are kept by (family, configuration), (family, family) and
 * (configuration, family) until the tolerance or a slow-down changes. In a trace whose
 * jobs all differ there are as many families as jobs, so nothing here may be a square of
 * their number. */
#include "scheduler/elastico/elastico.h"
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_KINDS = 2048,       /* rows of the table of slow-downs; a kind beyond is asked anew each time */
	MOST_CHOICES = 1 << 16, /* of each sort that are kept */
};

/* ---- equation 11 */

double ct_iac_tolerance(const struct ct_iac_law *law, double utilisation)
{
	double more = law->beta * (utilisation / law->target - 1);

	return fmax(1, law->base + fmin(law->beta_max, more));
}

double ct_iac_bound(const struct ct_iac_law *law, double tolerance, double rate_over_floor)
{
	return law->paper ? tolerance : fmin(tolerance, rate_over_floor);
}

double ct_iac_tau_of(const struct ct_elastico *e, const struct ct_view *v, const struct ct_elastico_family *f,
		     uint32_t config, double share)
{
	struct ct_iac_law law = { .paper = e->tau_paper };
	double floor = v->attain_floor;

	return ct_iac_bound(&law, e->tau, floor > 0 ? f->config[config].throughput * share / floor : INFINITY);
}

static bool content(const struct ct_elastico *e, const struct ct_view *v, const struct ct_elastico_family *f,
		    uint32_t config, double share, double slowdown)
{
	return ct_rst_reaches(f, config, share, v->attain_floor) &&
	       (!e->iac || e->lenient || slowdown <= ct_iac_tau_of(e, v, f, config, share));
}

/* Utilisation is taken at the ends of windows, and the tolerance in steps of 0.01: both
 * change at few instants. */
void ct_iac_update(struct ct_elastico *e, const struct ct_view *v)
{
	struct ct_iac_law law = { e->tau_base, e->beta, e->beta_max, e->target, e->tau_paper };
	double tau;

	if (e->util_by_queue) {
		double want = 0;

		for (uint32_t job = v->queue_first, n = 0; job != CT_NO_JOB && n < (uint64_t)e->horizon; n++) {
			const struct ct_view_job *j = ct_view_job(v, job);

			want += j->num_gpus;
			job = j->next;
		}
		e->utilisation = e->target * (1 + want / fmax(1, e->n_gpus_up));
	} else if (ct_elastico_due(e, e->util_next)) {
		double sm = v->host->sm_gpu_us(v->host->ctx), span = (double)(v->now_us - e->util_last);

		if (span > 0 && isfinite(sm - e->util_sm))
			e->utilisation = (sm - e->util_sm) / (span * fmax(1, v->n_gpus));
		e->util_sm = sm;
		e->util_last = v->now_us;
		e->util_next = (v->now_us / e->util_window + 1) * e->util_window;
		ct_elastico_due(e, e->util_next);
	}
	tau = round(ct_iac_tolerance(&law, e->utilisation) * 100) / 100;
	if (tau < e->tau || tau > e->tau) {
		e->tau = tau;
		e->version++;
		e->dirty = true;
	}
}

/* ---- the table */

static void grow_table(struct ct_elastico *e)
{
	uint32_t side = e->side ? e->side * 2 : 64;
	double *slow = ct_calloc((size_t)side * side, sizeof *slow);

	for (uint32_t i = 0; i < e->n_kinds; i++)
		memcpy(slow + (size_t)i * side, e->slow + (size_t)i * e->side, e->n_kinds * sizeof *slow);
	free(e->slow);
	e->slow = slow;
	e->side = side;
}

/* The row of a host's kind. Allocates. */
static uint32_t row_of(struct ct_elastico *e, uint32_t kind)
{
	size_t old = e->cap_kind_of;

	if (kind >= 1u << 24)
		return CT_ANY;
	CT_GROW(e->kind_of, e->cap_kind_of, (size_t)kind + 1);
	if (e->cap_kind_of > old)
		memset(e->kind_of + old, 0, (e->cap_kind_of - old) * sizeof *e->kind_of);
	if (e->kind_of[kind])
		return e->kind_of[kind] - 1;
	if (e->n_kinds == MAX_KINDS)
		return CT_ANY;
	if (e->n_kinds == e->side)
		grow_table(e);
	e->kind_of[kind] = ++e->n_kinds;
	return e->n_kinds - 1;
}

uint32_t ct_iac_row(struct ct_elastico *e, uint32_t kind)
{
	return row_of(e, kind);
}

static double biased(const struct ct_iac_biases *b, uint32_t family, double predicted)
{
	uint32_t at = family - b->first; /* large when before the first */

	return at < b->n && b->v[at].n ? fmax(1, predicted * b->v[at].factor) : predicted;
}

double ct_iac_slowdown(struct ct_elastico *e, const struct ct_view *v, const struct ct_elastico_config *self,
		       const struct ct_elastico_config *other)
{
	double *cell;

	if (!e->iac)
		return 1;
	if (self->row == CT_ANY || other->row == CT_ANY)
		return v->host->slowdown(v->host->ctx, self->kind, other->kind);
	cell = &e->slow[(size_t)self->row * e->side + other->row];
	if (!(*cell > 0) && !(*cell < 0))
		*cell = v->host->slowdown(v->host->ctx, self->kind, other->kind);
	if (*cell < 0)
		return -*cell;
	return biased(&e->bias[self->family], other->family, *cell);
}

bool ct_iac_is_measured(const struct ct_elastico *e, const struct ct_elastico_config *self,
			const struct ct_elastico_config *other)
{
	if (self->row == CT_ANY || other->row == CT_ANY)
		return true;
	return e->slow[(size_t)self->row * e->side + other->row] < 0;
}

/* Families that meet came about the same time, so the range stays short. */
static struct ct_iac_bias *bias_of(struct ct_iac_biases *b, uint32_t family)
{
	uint32_t first = b->n && b->first < family ? b->first : family,
		 end = b->n && b->first + b->n > family ? b->first + b->n : family + 1;
	struct ct_iac_bias *v;

	if (!b->n || first < b->first || end > b->first + b->n) {
		v = ct_calloc(end - first, sizeof *v);
		if (b->n)
			memcpy(v + (b->first - first), b->v, b->n * sizeof *v);
		free(b->v);
		*b = (struct ct_iac_biases){ v, first, end - first };
	}
	return &b->v[family - b->first];
}

/* A predictor that was wrong about two configurations is wrong about their neighbours: who
 * looks for the best prediction finds the most flattering one. The mean error in logs,
 * with one error of 0 for a start. */
static void learn(struct ct_iac_biases *all, uint32_t family, double ratio)
{
	struct ct_iac_bias *b = bias_of(all, family);

	b->log_sum += log(ratio);
	b->n++;
	b->factor = exp(b->log_sum / (b->n + 1));
}

void ct_iac_measured(struct ct_elastico *e, const struct ct_elastico_config *self,
		     const struct ct_elastico_config *other, double slowdown)
{
	double *cell;

	if (self->row == CT_ANY || other->row == CT_ANY)
		return;
	cell = &e->slow[(size_t)self->row * e->side + other->row];
	if (*cell > 0 && e->learn)
		learn(&e->bias[self->family], other->family, slowdown / *cell);
	*cell = -fmax(1, slowdown);
	e->version++;
	e->dirty = true;
}

/* ---- pairs */

struct ct_pair ct_iac_pair(struct ct_elastico *e, const struct ct_view *v, const struct ct_elastico_family *f,
			   uint32_t config, double share, const struct ct_elastico_family *g, uint32_t other,
			   double other_share, uint32_t room_mib)
{
	const struct ct_elastico_config *a = &f->config[config], *b = &g->config[other];
	struct ct_pair p = { .fits = (uint64_t)a->mem_mib + b->mem_mib <= room_mib };

	if (!p.fits)
		return p;
	p.self = ct_iac_slowdown(e, v, a, b);
	p.other = ct_iac_slowdown(e, v, b, a);
	p.content = content(e, v, f, config, share, p.self) && content(e, v, g, other, other_share, p.other);
	p.value = a->perf / p.self + b->perf / p.other;
	return p;
}

static void offer(struct ct_elastico *e, const struct ct_view *v, const struct ct_elastico_family *f, uint32_t config,
		  const struct ct_elastico_family *g, uint32_t other, struct ct_pair_choice *best)
{
	struct ct_pair p = ct_iac_pair(e, v, f, config, 1, g, other, 1, e->shared_mem_mib);

	best->fits |= p.fits;
	if (!p.fits || !p.content || p.value <= best->value)
		return;
	best->self = config;
	best->other = other;
	best->value = p.value;
}

/* Where the answer is; a new one has value -1 and version 0. */
static struct ct_pair_choice *choice(const struct ct_elastico *e, const struct ct_choice_table *t, uint32_t row,
				     uint32_t column)
{
	struct ct_pair_choice *c = &t->v[(row * t->stride + column) & t->mask];

	if (c->version != e->version || c->row != row || c->column != column)
		*c = (struct ct_pair_choice){ .row = row, .column = column, .value = -1 };
	return c;
}

static bool is_known(const struct ct_elastico *e, struct ct_pair_choice *c)
{
	bool known = c->version == e->version;

	c->version = e->version;
	return known;
}

const struct ct_pair_choice *ct_iac_fixed(struct ct_elastico *e, const struct ct_view *v, uint32_t family,
					  uint32_t host_family, uint32_t host_config)
{
	const struct ct_elastico_family *f = &e->family[family], *g = &e->family[host_family];
	struct ct_pair_choice *c = choice(e, &e->fixed, family, g->first + host_config);

	if (!is_known(e, c))
		for (uint32_t i = 0; i < f->n_front; i++)
			offer(e, v, f, f->front[i], g, host_config, c);
	return c;
}

const struct ct_pair_choice *ct_iac_reply(struct ct_elastico *e, const struct ct_view *v, uint32_t family,
					  uint32_t config, uint32_t host_family)
{
	const struct ct_elastico_family *f = &e->family[family], *g = &e->family[host_family];
	struct ct_pair_choice *c = choice(e, &e->reply, f->first + config, host_family);

	if (!is_known(e, c))
		for (uint32_t i = 0; i < g->n_front; i++)
			offer(e, v, f, config, g, g->front[i], c);
	return c;
}

const struct ct_pair_choice *ct_iac_joint(struct ct_elastico *e, const struct ct_view *v, uint32_t family,
					  uint32_t host_family)
{
	const struct ct_elastico_family *f = &e->family[family];
	struct ct_pair_choice *c = choice(e, &e->joint, family, host_family);

	if (is_known(e, c))
		return c;
	for (uint32_t i = 0; i < f->n_front; i++) {
		const struct ct_pair_choice *r = ct_iac_reply(e, v, family, f->front[i], host_family);

		c->fits |= r->fits;
		if (r->value > c->value) {
			c->self = r->self;
			c->other = r->other;
			c->value = r->value;
		}
	}
	return c;
}

static uint32_t power_of_two(size_t n)
{
	uint32_t p = 8;

	while (p < n && p < MOST_CHOICES)
		p *= 2;
	return p;
}

/* A place for each (row, column) as long as they are few; then as they fall. */
static void grow_choices(struct ct_choice_table *t, size_t rows, size_t columns)
{
	size_t stride = power_of_two(columns), places = stride * power_of_two(rows);

	if (places > MOST_CHOICES || columns > stride) {
		places = MOST_CHOICES;
		stride = 2654435769; /* odd: 2^32 / the golden ratio, so neighbours fall far apart */
	}
	if (t->v && places == (size_t)t->mask + 1 && stride == t->stride)
		return;
	free(t->v);
	*t = (struct ct_choice_table){ ct_calloc(places, sizeof *t->v), (uint32_t)places - 1, (uint32_t)stride };
}

/* Room for all families and configurations. Allocates. */
void ct_iac_grow(struct ct_elastico *e)
{
	size_t old = e->cap_bias;

	CT_GROW(e->bias, e->cap_bias, e->n_families);
	if (e->cap_bias > old)
		memset(e->bias + old, 0, (e->cap_bias - old) * sizeof *e->bias);
	grow_choices(&e->fixed, e->n_families, e->n_configs);
	grow_choices(&e->reply, e->n_configs, e->n_families);
	grow_choices(&e->joint, e->n_families, e->n_families);
}

void ct_iac_fini(struct ct_elastico *e)
{
	free(e->kind_of);
	free(e->slow);
	free(e->fixed.v);
	free(e->joint.v);
	free(e->reply.v);
	for (size_t i = 0; i < e->cap_bias; i++)
		free(e->bias[i].v);
	free(e->bias);
}
