/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What fails when, and what that does. Outages of a law are drawn one at a time for
 * each node and GPU: one pending event each. */
#include "sim/failures.h"

#include "sim/random.h"
#include "sim/world_state.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

/* ---- drawing */

static ct_time in_us(double s)
{
	double us = round(s * 1e6);

	return us < (double)CT_TIME_LIMIT ? (ct_time)us : CT_NEVER;
}

static double draw_repair(const struct ct_failure_spec *f, double mean, const gsl_rng *r)
{
	switch (f->repair_law) {
	case CT_REPAIR_FIXED:
		return mean;
	case CT_REPAIR_LOGNORMAL: /* mean = exp(mu + sigma^2 / 2) */
		return mean > 0
			   ? gsl_ran_lognormal(r, log(mean) - f->repair_sigma * f->repair_sigma / 2, f->repair_sigma)
			   : 0;
	default:
		return gsl_ran_exponential(r, mean);
	}
}

struct ct_outage_draw ct_failures_draw(const struct ct_failure_spec *f, uint64_t seed, bool of_gpu, uint32_t number,
				       uint32_t k)
{
	const struct ct_failure_law *law = of_gpu ? &f->gpu : &f->node;
	uint64_t entity = ((uint64_t)of_gpu << 31 | number) << 32 | k;
	struct ct_outage_draw d;
	struct ct_stream s;

	ct_stream_init(&s, seed, CT_RANDOM_FAILURE, entity);
	/* mean = scale x gamma(1 + 1 / shape) */
	d.after_us = in_us(gsl_ran_weibull(&s.rng, law->mtbf_s / tgamma(1 + 1 / law->shape), law->shape));
	d.lasts_us = in_us(draw_repair(f, law->repair_s, &s.rng));
	if (d.after_us < 1)
		d.after_us = 1; /* an instant has one outage of a thing at most */
	return d;
}

/* ---- what fails */

/* Payload of an event by law: this bit, and a node or, after all nodes, a GPU. */
#define BY_LAW ((uint32_t)1 << 31)

static bool is_gpu(const struct ct_world *w, uint32_t entity)
{
	return entity >= w->cluster->n_nodes;
}

static struct ct_outage_draw next_outage(const struct ct_world *w, uint32_t entity)
{
	bool gpu = is_gpu(w, entity);

	return ct_failures_draw(&w->spec.failures, w->spec.seed, gpu, gpu ? entity - w->cluster->n_nodes : entity,
				w->law[entity].n_outages);
}

static void push_after(struct ct_world *w, uint32_t entity, ct_time after_us)
{
	if (after_us < CT_TIME_LIMIT - w->where.now_us)
		ct_event_push(&w->events, w->where.now_us + after_us, CT_EVENT_NODE, BY_LAW | entity);
}

static void plan(struct ct_world *w, ct_time t, struct ct_node_plan p)
{
	CT_GROW(w->node_plans, w->cap_node_plans, w->n_node_plans + 1);
	w->node_plans[w->n_node_plans] = p;
	ct_event_push(&w->events, t, CT_EVENT_NODE, (uint32_t)w->n_node_plans++);
}

static void plan_outage(struct ct_world *w, const struct ct_outage *o)
{
	bool gpu = o->gpu != CT_NONE;
	struct ct_node_plan p = { .subject = gpu ? o->gpu : o->node, .gpu = gpu };
	ct_time first = w->where.now_us;

	if (o->down_us >= CT_TIME_LIMIT - first)
		return;
	plan(w, first + o->down_us, p);
	p.up = true;
	if (o->up_us < CT_TIME_LIMIT - first)
		plan(w, first + o->up_us, p);
}

static int check_law(const char *of, const struct ct_failure_law *l, struct ct_err *err)
{
	if (!(l->mtbf_s >= 0) || !(l->repair_s >= 0) || (l->mtbf_s > 0 && !(l->shape > 0)))
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "failures of %s want a mean time and a repair of at least 0 and a shape above 0, got "
				 "%g s, %g s and %g",
				 of, l->mtbf_s, l->repair_s, l->shape);
	return 0;
}

int ct_failures_open(struct ct_world *w, struct ct_err *err)
{
	const struct ct_failure_spec *f = &w->spec.failures;
	uint32_t n_nodes = w->cluster->n_nodes, n = n_nodes + w->cluster->n_gpus;

	CT_TRY(check_law("nodes", &f->node, err));
	CT_TRY(check_law("GPUs", &f->gpu, err));
	for (size_t i = 0; i < f->n_outages; i++) {
		const struct ct_outage *o = &f->outage[i];

		if (o->gpu == CT_NONE ? o->node >= n_nodes : o->gpu >= w->cluster->n_gpus)
			return ct_err_at(err, CT_ECONFIG, NULL, "outage %zu is of a %s that does not exist", i + 1,
					 o->gpu == CT_NONE ? "node" : "GPU");
		plan_outage(w, o);
	}
	if (!(f->node.mtbf_s > 0) && !(f->gpu.mtbf_s > 0))
		return 0;
	w->law = CT_NEW(&w->arena, struct ct_law_state, n);
	for (uint32_t e = f->node.mtbf_s > 0 ? 0 : n_nodes; e < (f->gpu.mtbf_s > 0 ? n : n_nodes); e++)
		push_after(w, e, next_outage(w, e).after_us);
	return 0;
}

/* ---- what it does */

static bool holds_of_node(const struct ct_world *w, uint32_t job, uint32_t node)
{
	const struct ct_live *l = ct_live(w, job);

	for (uint32_t i = 0; i < l->n_slots; i++)
		if (w->cluster->gpus[w->cluster->slots[l->first_slot + i].gpu].node == node)
			return true;
	return l->node == node;
}

static void node_changes(struct ct_world *w, uint32_t node, bool up)
{
	const struct ct_node *n = &w->cluster->nodes[node];
	int64_t milli = 1000 * (int64_t)ct_node_working_gpus(n);

	if ((n->up != 0) == up)
		return;
	for (uint32_t job = up ? CT_NONE : w->holders, next; job != CT_NONE; job = next) {
		next = ct_live(w, job)->next;
		if (holds_of_node(w, job, node))
			ct_requeue(w, job, true);
	}
	ct_cluster_set_up(w->cluster, node, up);
	w->capacity_up_milli += up ? milli : -milli;
	w->n_node_failures += !up;
	w->changed = true;
	ct_world_tell(w, up ? CT_DID_NODE_UP : CT_DID_NODE_DOWN, node, 0, NULL, 0);
}

/* The jobs with a share of a node's pool, in order of start; returns their number. */
static uint32_t pool_jobs(const struct ct_world *w, uint32_t node, uint32_t **out)
{
	uint32_t n = 0, *job = NULL;
	size_t cap = 0;

	for (uint32_t j = w->holders; j != CT_NONE; j = ct_live(w, j)->next) {
		uint32_t at = n;

		if (ct_live(w, j)->node != node || !ct_live(w, j)->pool_milli)
			continue;
		CT_GROW(job, cap, (size_t)n + 1);
		for (; at > 0 && ct_live(w, job[at - 1])->start_number > ct_live(w, j)->start_number; at--)
			job[at] = job[at - 1];
		job[at] = j;
		n++;
	}
	*out = job;
	return n;
}

/* Share of a GPU that its node's pool can use. */
static uint64_t pool_room(const struct ct_gpu *g)
{
	return g->used_milli < 1000 ? 1000 - g->used_milli : 0;
}

/* What lies on a GPU when the shares of the pool are laid over the working ones. As
 * what lies there goes, what is left fits the others. */
static void requeue_pool(struct ct_world *w, uint32_t gpu)
{
	uint32_t node = w->cluster->gpus[gpu].node, *job, n = pool_jobs(w, node, &job);
	uint64_t from = 0, to, at = 0;

	for (uint32_t g = w->cluster->nodes[node].first_gpu; g < gpu; g++)
		from += pool_room(&w->cluster->gpus[g]);
	to = from + pool_room(&w->cluster->gpus[gpu]);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t milli = ct_live(w, job[i])->pool_milli;

		if (at < to && at + milli > from)
			ct_requeue(w, job[i], true);
		at += milli;
	}
	free(job);
}

static void gpu_changes(struct ct_world *w, uint32_t gpu, bool up)
{
	const struct ct_gpu *g = &w->cluster->gpus[gpu];
	const struct ct_node *n = &w->cluster->nodes[g->node];

	if ((g->n_residents != CT_GPU_DOWN) == up)
		return;
	if (!up && n->pool_milli)
		requeue_pool(w, gpu);
	while (!up && g->first_slot != CT_NONE)
		ct_requeue(w, w->cluster->slots[g->first_slot].job, true);
	ct_cluster_set_gpu(w->cluster, gpu, up);
	if (n->up)
		w->capacity_up_milli += up ? 1000 : -1000;
	w->n_gpu_failures += !up;
	w->changed = true;
	ct_world_tell(w, up ? CT_DID_GPU_UP : CT_DID_GPU_DOWN, gpu, 0, NULL, 0);
}

static void changes(struct ct_world *w, bool gpu, uint32_t subject, bool up)
{
	if (gpu)
		gpu_changes(w, subject, up);
	else
		node_changes(w, subject, up);
}

static void law_event(struct ct_world *w, uint32_t entity)
{
	struct ct_law_state *s = &w->law[entity];
	bool gpu = is_gpu(w, entity);
	struct ct_outage_draw d = next_outage(w, entity);

	s->down = !s->down;
	if (!s->down) {
		s->n_outages++;
		d = next_outage(w, entity);
	}
	push_after(w, entity, s->down ? d.lasts_us : d.after_us);
	changes(w, gpu, gpu ? entity - w->cluster->n_nodes : entity, !s->down);
}

void ct_failures_event(struct ct_world *w, uint32_t payload)
{
	const struct ct_node_plan *p;

	if (payload & BY_LAW) {
		law_event(w, payload & ~BY_LAW);
		return;
	}
	p = &w->node_plans[payload];
	changes(w, p->gpu, p->subject, p->up);
}

/* ---- by hand */

static int plan_change(struct ct_world *w, ct_time t, bool gpu, uint32_t subject, bool up, struct ct_err *err)
{
	uint32_t n = gpu ? w->cluster->n_gpus : w->cluster->n_nodes;
	const char *what = gpu ? "GPU" : "node";

	if (subject >= n)
		return ct_err_at(err, CT_ECONFIG, NULL, "there is no %s %u, the cluster has %u", what, subject, n);
	if (t < w->where.now_us)
		return ct_err_at(err, CT_ECONFIG, NULL, "%s %u cannot change in the past, at %.6f s", what, subject,
				 ct_seconds(t));
	plan(w, t, (struct ct_node_plan){ .subject = subject, .gpu = gpu, .up = up });
	return 0;
}

int ct_world_plan_node(struct ct_world *w, ct_time t, uint32_t node, bool up, struct ct_err *err)
{
	return plan_change(w, t, false, node, up, err);
}

int ct_world_plan_gpu(struct ct_world *w, ct_time t, uint32_t gpu, bool up, struct ct_err *err)
{
	return plan_change(w, t, true, gpu, up, err);
}
