/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iac.c - Interference-Aware Co-location: section 3.3. Tolerances, and what the policy
 * believes of pairs: the host's prediction, until a pair was measured in this run.
 *
 * Best choices of a pair are kept by (family, kind), (family, family) and (kind, family)
 * until the tolerance or a slow-down changes. */
#include "scheduler/elastico/elastico.h"
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the table; a kind beyond is asked anew each time. */
enum { MAX_KINDS = 2048 };
#define NO_ROW UINT32_MAX

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
		return NO_ROW;
	CT_GROW(e->kind_of, e->cap_kind_of, (size_t)kind + 1);
	if (e->cap_kind_of > old)
		memset(e->kind_of + old, 0, (e->cap_kind_of - old) * sizeof *e->kind_of);
	if (e->kind_of[kind])
		return e->kind_of[kind] - 1;
	if (e->n_kinds == MAX_KINDS)
		return NO_ROW;
	if (e->n_kinds == e->side)
		grow_table(e);
	e->kind_of[kind] = ++e->n_kinds;
	return e->n_kinds - 1;
}

uint32_t ct_iac_row(struct ct_elastico *e, uint32_t kind)
{
	return row_of(e, kind);
}

double ct_iac_slowdown(struct ct_elastico *e, const struct ct_view *v, const struct ct_elastico_config *self,
		       const struct ct_elastico_config *other)
{
	const struct ct_iac_bias *b;
	double *cell;

	if (!e->iac)
		return 1;
	if (self->row == NO_ROW || other->row == NO_ROW)
		return v->host->slowdown(v->host->ctx, self->kind, other->kind);
	cell = &e->slow[(size_t)self->row * e->side + other->row];
	if (!(*cell > 0) && !(*cell < 0))
		*cell = v->host->slowdown(v->host->ctx, self->kind, other->kind);
	if (*cell < 0)
		return -*cell;
	b = &e->bias[(size_t)self->family * e->fixed_families + other->family];
	return b->n ? fmax(1, *cell * b->factor) : *cell;
}

bool ct_iac_is_measured(const struct ct_elastico *e, const struct ct_elastico_config *self,
			const struct ct_elastico_config *other)
{
	if (self->row == NO_ROW || other->row == NO_ROW)
		return true;
	return e->slow[(size_t)self->row * e->side + other->row] < 0;
}

/* A predictor that was wrong about two configurations is wrong about their neighbours: who
 * looks for the best prediction finds the most flattering one. The mean error in logs,
 * with one error of 0 for a start. */
static void learn(struct ct_iac_bias *b, double ratio)
{
	b->log_sum += log(ratio);
	b->n++;
	b->factor = exp(b->log_sum / (b->n + 1));
}

void ct_iac_measured(struct ct_elastico *e, const struct ct_elastico_config *self,
		     const struct ct_elastico_config *other, double slowdown)
{
	double *cell;

	if (self->row == NO_ROW || other->row == NO_ROW)
		return;
	cell = &e->slow[(size_t)self->row * e->side + other->row];
	if (*cell > 0 && e->learn)
		learn(&e->bias[(size_t)self->family * e->fixed_families + other->family], slowdown / *cell);
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
	*best = (struct ct_pair_choice){ e->version, config, other, p.value, true };
}

static bool is_known(const struct ct_elastico *e, struct ct_pair_choice *c)
{
	if (c->version == e->version)
		return true;
	*c = (struct ct_pair_choice){ .version = e->version, .value = -1 };
	return false;
}

const struct ct_pair_choice *ct_iac_fixed(struct ct_elastico *e, const struct ct_view *v, uint32_t family,
					  uint32_t host_family, uint32_t host_config)
{
	const struct ct_elastico_family *f = &e->family[family], *g = &e->family[host_family];
	struct ct_pair_choice *c = &e->fixed[(size_t)family * e->fixed_configs + g->first + host_config];

	if (!is_known(e, c))
		for (uint32_t i = 0; i < f->n_front; i++)
			offer(e, v, f, f->front[i], g, host_config, c);
	return c;
}

const struct ct_pair_choice *ct_iac_reply(struct ct_elastico *e, const struct ct_view *v, uint32_t family,
					  uint32_t config, uint32_t host_family)
{
	const struct ct_elastico_family *f = &e->family[family], *g = &e->family[host_family];
	struct ct_pair_choice *c = &e->reply[(size_t)(f->first + config) * e->fixed_families + host_family];

	if (!is_known(e, c))
		for (uint32_t i = 0; i < g->n_front; i++)
			offer(e, v, f, config, g, g->front[i], c);
	return c;
}

const struct ct_pair_choice *ct_iac_joint(struct ct_elastico *e, const struct ct_view *v, uint32_t family,
					  uint32_t host_family)
{
	const struct ct_elastico_family *f = &e->family[family];
	struct ct_pair_choice *c = &e->joint[(size_t)family * e->fixed_families + host_family];

	if (is_known(e, c))
		return c;
	for (uint32_t i = 0; i < f->n_front; i++) {
		const struct ct_pair_choice *r = ct_iac_reply(e, v, family, f->front[i], host_family);

		c->fits |= r->fits;
		if (r->value > c->value)
			*c = *r;
	}
	return c;
}

static void grow_bias(struct ct_elastico *e, uint32_t families)
{
	struct ct_iac_bias *bias = ct_calloc((size_t)families * families, sizeof *bias);

	for (uint32_t i = 0; i < e->fixed_families; i++)
		memcpy(bias + (size_t)i * families, e->bias + (size_t)i * e->fixed_families,
		       e->fixed_families * sizeof *bias);
	free(e->bias);
	e->bias = bias;
}

/* Room for all families and configurations. Allocates. */
void ct_iac_grow(struct ct_elastico *e)
{
	uint32_t families = e->fixed_families, configs = e->fixed_configs;

	while (families < e->n_families)
		families = families ? families * 2 : 8;
	while (configs < e->n_configs)
		configs = configs ? configs * 2 : 64;
	if (families == e->fixed_families && configs == e->fixed_configs)
		return;
	grow_bias(e, families);
	free(e->fixed);
	free(e->joint);
	free(e->reply);
	e->fixed_families = families;
	e->fixed_configs = configs;
	e->fixed = ct_calloc((size_t)families * configs, sizeof *e->fixed);
	e->reply = ct_calloc((size_t)families * configs, sizeof *e->reply);
	e->joint = ct_calloc((size_t)families * families, sizeof *e->joint);
}

void ct_iac_fini(struct ct_elastico *e)
{
	free(e->kind_of);
	free(e->slow);
	free(e->fixed);
	free(e->joint);
	free(e->reply);
	free(e->bias);
}
