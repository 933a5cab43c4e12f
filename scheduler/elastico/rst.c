/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rst.c - Resource Shape Transformation: section 3.1. A job's family as the market sees
 * it, the floor L, and the profile cache of section 4.1.
 *
 * Families that look alike (the same kinds, rates and needs) are one, whatever the host
 * calls them: prices and pairs are worked out once for all their jobs. */
#include "scheduler/elastico/elastico.h"
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a family in the market's units */

static double part(double amount, double of)
{
	return of > 0 ? amount / of : 0;
}

static void fill_config(struct ct_elastico *e, const struct ct_view_config *c, uint32_t requested,
			struct ct_elastico_config *out)
{
	double gpus = requested ? requested : 1;

	*out = (struct ct_elastico_config){
		.throughput = c->throughput,
		.mem_mib = c->gpu_mem_mib,
		.cpu_milli = c->cpu_milli,
		.ram_mib = c->mem_mib,
		.kind = c->kind,
		.row = CT_ANY,
		.family = (uint32_t)e->n_families,
	};
	out->need[CT_ELASTICO_SM] = c->sm_frac > 0 ? c->sm_frac : 0; /* NaN: unknown, no rent */
	out->need[CT_ELASTICO_MEM] = e->gpu_mem_mib == UINT32_MAX ? 0 : part(c->gpu_mem_mib, e->gpu_mem_mib);
	out->need[CT_ELASTICO_CPU] = part(c->cpu_milli / gpus, e->gpu_cpu_milli);
	out->need[CT_ELASTICO_RAM] = part(c->mem_mib / gpus, e->gpu_ram_mib);
}

/* No slower, and no need larger; among equals the lower number stays. */
static bool dominates(const struct ct_elastico_config *a, const struct ct_elastico_config *b, bool before)
{
	bool better = a->throughput > b->throughput;

	if (a->throughput < b->throughput)
		return false;
	for (int r = 0; r < CT_ELASTICO_RESOURCES; r++) {
		if (a->need[r] > b->need[r])
			return false;
		better |= a->need[r] < b->need[r];
	}
	return better || before;
}

static bool on_front(const struct ct_elastico_config *c, uint32_t n, uint32_t i)
{
	for (uint32_t k = 0; k < n; k++)
		if (k != i && c[k].ok && dominates(&c[k], &c[i], k < i))
			return false;
	return true;
}

uint32_t ct_rst_front(const struct ct_elastico_config *c, uint32_t n, bool pareto, uint32_t *front)
{
	uint32_t n_front = 0;

	for (uint32_t i = 0; i < n; i++)
		if (c[i].ok && (!pareto || on_front(c, n, i)))
			front[n_front++] = i;
	return n_front;
}

/* Slow-downs are kept of what may run: the front, and the default. */
static void give_row(struct ct_elastico *e, struct ct_elastico_config *c)
{
	if (c->row == CT_ANY)
		c->row = ct_iac_row(e, c->kind);
}

static void fill_family(struct ct_elastico *e, const struct ct_view *v, const struct ct_view_family *h,
			uint32_t requested, struct ct_elastico_family *f)
{
	struct ct_elastico_config *c = v->host->alloc(v->host->ctx, h->n * sizeof *c);
	uint32_t *front = v->host->alloc(v->host->ctx, h->n * sizeof *front);
	double fastest = 0;

	*f = (struct ct_elastico_family){ .config = c,
					  .front = front,
					  .n = h->n,
					  .default_config = h->default_config,
					  .scaling = h->scaling,
					  .train = h->train };
	for (uint32_t i = 0; i < h->n; i++) {
		fill_config(e, &h->config[i], requested, &c[i]);
		c[i].ok = (e->rst || i == h->default_config) && c[i].mem_mib <= e->gpu_mem_mib &&
			  c[i].throughput >= v->attain_floor;
	}
	f->n_front = ct_rst_front(c, h->n, e->pareto != 0, front);
	if (!f->n_front) /* nothing reaches the floor: the default then, as the request has it */
		front[f->n_front++] = h->default_config;
	f->fastest = front[0];
	give_row(e, &c[h->default_config]);
	for (uint32_t i = 0; i < f->n_front; i++) {
		give_row(e, &c[front[i]]);
		if (c[front[i]].throughput > c[f->fastest].throughput)
			f->fastest = front[i];
		for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
			f->least[r] = i ? fmin(f->least[r], c[front[i]].need[r]) : c[front[i]].need[r];
	}
	fastest = c[f->fastest].throughput;
	for (uint32_t i = 0; i < h->n; i++)
		c[i].perf = c[i].throughput / fastest;
}

/* ---- families that look alike */

static bool same_config(const struct ct_elastico *e, const struct ct_view_config *h, uint32_t requested,
			const struct ct_elastico_config *c)
{
	double gpus = requested ? requested : 1;

	if (h->kind != c->kind || h->gpu_mem_mib != c->mem_mib || h->throughput < c->throughput ||
	    h->throughput > c->throughput)
		return false;
	/* The rest is a function of the kind, but for CPU and host memory where they matter. */
	return !e->hosts_modelled || (h->cpu_milli == c->cpu_milli && h->mem_mib == c->ram_mib &&
				      part(h->cpu_milli / gpus, e->gpu_cpu_milli) <= c->need[CT_ELASTICO_CPU] &&
				      part(h->cpu_milli / gpus, e->gpu_cpu_milli) >= c->need[CT_ELASTICO_CPU]);
}

static bool same_sm(const struct ct_view_config *h, const struct ct_elastico_config *c)
{
	double sm = h->sm_frac > 0 ? h->sm_frac : 0;

	return sm <= c->need[CT_ELASTICO_SM] && sm >= c->need[CT_ELASTICO_SM];
}

static bool same_family(const struct ct_elastico *e, const struct ct_view_family *h, uint32_t requested,
			const struct ct_elastico_family *f)
{
	if (h->n != f->n || h->default_config != f->default_config || h->scaling < f->scaling ||
	    h->scaling > f->scaling || h->train != f->train)
		return false;
	for (uint32_t i = 0; i < h->n; i++)
		if (!same_config(e, &h->config[i], requested, &f->config[i]) || !same_sm(&h->config[i], &f->config[i]))
			return false;
	return true;
}

static uint32_t find_family(const struct ct_elastico *e, const struct ct_view_family *h, uint32_t requested)
{
	for (uint32_t i = 0; i < e->n_families; i++)
		if (same_family(e, h, requested, &e->family[i]))
			return i;
	return UINT32_MAX;
}

static void grow_scratch(struct ct_elastico *e)
{
	size_t old = e->cap_config_head;

	CT_GROW(e->config_head, e->cap_config_head, e->n_configs);
	CT_GROW(e->config_gpus, e->cap_config_gpus, e->n_configs);
	for (size_t i = old; i < e->cap_config_head; i++)
		e->config_head[i] = CT_ANY;
	CT_GROW(e->pending_gpus, e->cap_pending_gpus, e->n_families);
	CT_GROW(e->pending_choice, e->cap_pending_choice, e->n_families);
	CT_GROW(e->group, e->cap_group, (size_t)e->n_configs + e->n_families);
	ct_iac_grow(e);
}

uint32_t ct_rst_family(struct ct_elastico *e, const struct ct_view *v, uint32_t job, bool profiled)
{
	const struct ct_view_family *h = v->host->family(v->host->ctx, job, profiled);
	uint32_t requested = ct_view_job(v, job)->num_gpus, own;
	size_t old = e->cap_family_of;

	CT_GROW(e->family_of, e->cap_family_of, (size_t)h->id + 1);
	if (e->cap_family_of > old)
		memset(e->family_of + old, 0, (e->cap_family_of - old) * sizeof *e->family_of);
	own = e->family_of[h->id];
	if (own && same_family(e, h, requested, &e->family[own - 1]))
		return own - 1;
	own = find_family(e, h, requested);
	if (own == UINT32_MAX) {
		CT_GROW(e->family, e->cap_families, e->n_families + 1);
		own = (uint32_t)e->n_families;
		fill_family(e, v, h, requested, &e->family[own]);
		e->family[own].first = e->n_configs;
		e->n_configs += h->n;
		e->n_families++;
		grow_scratch(e);
	}
	e->family_of[h->id] = own + 1;
	return own;
}

/* ---- rates */

double ct_rst_share(const struct ct_elastico_family *f, uint32_t gpus, uint32_t requested)
{
	double share = (double)gpus / requested;

	if (gpus == requested)
		return 1;
	return f->scaling < 1 || f->scaling > 1 ? pow(share, f->scaling) : share;
}

bool ct_rst_reaches(const struct ct_elastico_family *f, uint32_t config, double share, double floor)
{
	return f->config[config].throughput * share >= floor;
}

/* ---- the profile cache: who arrives is known with probability `cache_hit`; the others
 * are measured one after the other, on interpolated estimates meanwhile */

static ct_time profile_time(const struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	double u = v->host->random(v->host->ctx, job, 1);

	return e->profile_min + (ct_time)((double)(e->profile_max - e->profile_min) * u);
}

/* A job that is profiled while it runs keeps its configuration, which need not be on the
 * front of its new family. */
static void give_rows_of(struct ct_elastico *e, const struct ct_elastico_family *before,
			 const struct ct_elastico_family *after)
{
	for (uint32_t i = 0; i < before->n_front; i++)
		give_row(e, &after->config[before->front[i]]);
}

void ct_rst_submit(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	struct ct_elastico_job *j = &e->job[job];

	j->profile_us = -1;
	j->family = ct_rst_family(e, v, job, true);
	if (!ct_view_job(v, job)->num_gpus || v->host->random(v->host->ctx, job, 0) < e->cache_hit)
		return;
	j->next_family = j->family;
	j->family = ct_rst_family(e, v, job, false);
	give_rows_of(e, &e->family[j->family], &e->family[j->next_family]);
	if (e->profiler_free < v->now_us)
		e->profiler_free = v->now_us;
	e->profiler_free += profile_time(e, v, job);
	j->profile_us = e->profiler_free;
}

bool ct_rst_collect(struct ct_elastico *e, uint32_t job)
{
	struct ct_elastico_job *j = &e->job[job];

	if (j->profile_us < 0 || !ct_elastico_due(e, j->profile_us))
		return false;
	j->profile_us = -1;
	j->family = j->next_family;
	j->class = j->next_class;
	return true;
}
