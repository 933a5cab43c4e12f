/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates and remaining work. A job's rate changes only through these functions, and
 * only when it, or a job it shares a GPU with, starts, stops or switches: the cost
 * of a change is the slots of the jobs concerned, not of the cluster. */
#include "sim/world_state.h"

#include <math.h>

struct ct_demand ct_demand_of(const struct ct_world *w, uint32_t job, uint32_t config)
{
	const struct ct_job *j = &w->work->jobs[job];
	const struct ct_family *f = w->spec.families ? w->spec.families[job] : NULL;

	if (f) {
		const struct ct_configuration *c = &f->config[config];

		return (
		    struct ct_demand){ c->throughput, c->sm_frac, c->gpu_mem_mib, c->cpu_milli, c->mem_mib, c->name };
	}
	return (struct ct_demand){ 1, j->sm_frac, j->gpu_mem_mib, j->cpu_milli, j->mem_mib, NULL };
}

static double scaling(const struct ct_world *w, uint32_t job)
{
	const struct ct_job *j = &w->work->jobs[job];
	const struct ct_live *l = ct_live(w, job);
	const struct ct_family *f = w->spec.families ? w->spec.families[job] : NULL;
	double share;

	if (!l->n_slots || l->n_slots == j->num_gpus)
		return 1;
	share = (double)l->n_slots / j->num_gpus;
	return f && (f->scaling < 1 || f->scaling > 1) ? pow(share, f->scaling) : share;
}

static struct ct_contender contender(const struct ct_world *w, uint32_t job, uint32_t gpu)
{
	const struct ct_job *j = &w->work->jobs[job];

	return (struct ct_contender){ job,
				      j->model,
				      ct_live(w, job)->config,
				      w->cluster->nodes[w->cluster->gpus[gpu].node].type,
				      j->gpu_milli,
				      ct_live(w, job)->start_number };
}

/* What `job` keeps of its solo speed on one GPU. */
static double factor_on(const struct ct_world *w, uint32_t job, uint32_t gpu)
{
	const struct ct_contention *c = w->spec.contention;
	const struct ct_gpu *g = &w->cluster->gpus[gpu];
	struct ct_contender self;
	double factor = 1;

	if (g->n_residents < 2 || !c)
		return 1;
	self = contender(w, job, gpu);
	for (uint32_t s = g->first_slot; s != CT_NONE; s = w->cluster->slots[s].next) {
		uint32_t other = w->cluster->slots[s].job;

		if (other != job) {
			struct ct_contender beside = contender(w, other, gpu);

			factor *= c->factor(c->state, &self, &beside);
		}
	}
	return factor;
}

/* The profile that the belief knows a job by, in its present configuration. */
static uint32_t believed_kind(const struct ct_world *w, uint32_t job)
{
	const struct ct_belief *b = w->spec.belief;
	const struct ct_family *f = b->profiled ? b->profiled[job] : NULL;
	uint32_t config = ct_live(w, job)->config;

	if (!f && b->nearest)
		f = b->nearest[job];
	if (!f && w->spec.families)
		f = w->spec.families[job];
	return f && config < f->n ? f->config[config].kind : CT_NONE;
}

/* The slow-down that the belief predicts on one GPU, as it does to policies. */
static double predicted_on(const struct ct_world *w, uint32_t job, uint32_t gpu)
{
	const struct ct_belief *b = w->spec.belief;
	uint32_t self = believed_kind(w, job);
	double product = 1;

	if (!b->slowdown || self >= b->n_kinds)
		return 1;
	for (uint32_t s = w->cluster->gpus[gpu].first_slot; s != CT_NONE; s = w->cluster->slots[s].next) {
		uint32_t other = w->cluster->slots[s].job, kind;

		if (other == job)
			continue;
		kind = believed_kind(w, other);
		product *= kind < b->n_kinds ? b->slowdown(b->state, self, kind) : 1;
	}
	return product;
}

static uint32_t first_beside(const struct ct_cluster *c, uint32_t gpu, uint32_t job)
{
	uint32_t s = c->gpus[gpu].first_slot;

	while (s != CT_NONE && c->slots[s].job == job)
		s = c->slots[s].next;
	return s == CT_NONE ? CT_NONE : c->slots[s].job;
}

/* Of all its GPUs the largest; those beside the same single job are asked once. */
static double predicted(const struct ct_world *w, uint32_t job)
{
	const struct ct_cluster *c = w->cluster;
	const struct ct_live *l = ct_live(w, job);
	uint32_t asked = CT_NONE;
	double most = 1;

	if (!w->spec.belief)
		return (double)NAN;
	for (uint32_t i = 0; i < l->n_slots; i++) {
		uint32_t gpu = c->slots[l->first_slot + i].gpu, n = c->gpus[gpu].n_residents, other;
		double s;

		if (n < 2)
			continue;
		other = first_beside(c, gpu, job);
		if (n == 2 && other == asked)
			continue;
		asked = n == 2 ? other : CT_NONE;
		s = predicted_on(w, job, gpu);
		most = s > most ? s : most;
	}
	return most;
}

/* The pace of the slowest member: GPU speed x contention, and who is there. Of equals
 * the first GPU that is shared. */
static double slowest(const struct ct_world *w, uint32_t job, double *speed, struct ct_beside *beside)
{
	const struct ct_cluster *c = w->cluster;
	const struct ct_live *l = ct_live(w, job);
	bool noticed = c->shared_gpus && (w->spec.contention || w->spec.record_decisions);
	uint32_t at = CT_NONE;
	double pace = INFINITY;

	*beside = (struct ct_beside){ CT_NONE, 0, 1, 1 };
	*speed = l->n_slots ? c->one_speed : c->types[c->nodes[l->node].type].speed;
	if (!l->n_slots || (c->one_speed > 0 && !noticed))
		return *speed;
	for (uint32_t i = 0; i < l->n_slots; i++) {
		uint32_t gpu = c->slots[l->first_slot + i].gpu;
		double factor = factor_on(w, job, gpu), s = c->types[c->nodes[c->gpus[gpu].node].type].speed;

		if (s * factor > pace || (s * factor >= pace && (beside->others || c->gpus[gpu].n_residents < 2)))
			continue;
		pace = s * factor;
		at = gpu;
		*speed = s;
		beside->factor = factor;
		beside->others = c->gpus[gpu].n_residents - 1u;
	}
	if (beside->others) {
		beside->partner = first_beside(c, at, job);
		beside->predicted = predicted(w, job);
	}
	return pace;
}

/* Books the work done since the last settlement. */
static void credit(struct ct_world *w, uint32_t job, double done_us)
{
	const struct ct_job *j = &w->work->jobs[job];
	double s = done_us / 1e6;

	ct_live(w, job)->remaining_us -= done_us;
	w->outcome[job].work_s += s;
	if (w->window_open)
		w->work_gpu_s += s * (double)ct_job_milli(j) / 1000;
}

/* The last checkpoint of a job in (settled, t], while its rate was the same. */
static void checkpoint(struct ct_world *w, uint32_t job, ct_time t)
{
	struct ct_live *l = ct_live(w, job);
	ct_time every = w->spec.failures.checkpoint_us, run = l->unsaved_us + (t - l->settled);
	double left;

	if (l->profiling)
		return;
	l->unsaved_us = run % every;
	if (run < every)
		return;
	left = l->remaining_us - (double)(t - l->unsaved_us - l->settled) * l->rate;
	l->saved_remaining_us = left > 0 ? left : 0;
}

static void settle_at(struct ct_world *w, uint32_t job, ct_time t)
{
	struct ct_live *l = ct_live(w, job);

	if (l->rate > 0 && t > l->settled) {
		double done = (double)(t - l->settled) * l->rate;

		if (w->spec.failures.checkpoint_us)
			checkpoint(w, job, t);
		credit(w, job, done < l->remaining_us ? done : l->remaining_us);
	}
	ct_attain_settle(w, l, t);
	l->settled = t;
}

void ct_progress_settle(struct ct_world *w, uint32_t job)
{
	settle_at(w, job, w->where.now_us);
}

/* Microseconds until the end of a job is seen. */
static double wait_of(const struct ct_world *w, const struct ct_live *l)
{
	double step = (double)w->spec.step.step_us;

	if (step > 0 && !l->profiling)
		return (ceil(l->remaining_us / (l->rate * step)) + 1) * step;
	return ceil(l->remaining_us / l->rate);
}

/* The rate holds from `from` on, at most a step before now. */
static void rate_from(struct ct_world *w, uint32_t job, ct_time from)
{
	struct ct_live *l = ct_live(w, job);
	double throughput = ct_demand_of(w, job, l->config).throughput, share = scaling(w, job), speed, rate, wait;
	struct ct_beside beside;
	ct_time end;

	rate = throughput * share * slowest(w, job, &speed, &beside);

	CT_CHECK(&w->where, rate > 0 && isfinite(rate), "job '%s' has rate %g", w->work->jobs[job].id, rate);
	settle_at(w, job, from);
	ct_attain_rate(l, throughput, share, speed, &beside);
	ct_log_beside(w, job, from, &beside);
	if (l->end.generation && !(rate < l->rate) && !(rate > l->rate))
		return;
	l->rate = rate;
	/* Done, but not seen yet: no speed changes that. */
	if (l->end.generation && w->spec.step.step_us && !(l->remaining_us > 0))
		return;
	wait = wait_of(w, l);
	/* A job re-rated by a verb ends after the present instant, also when rounding
	 * left it nothing to do: an instant is not visited twice. */
	if (wait < 1 && !w->in_batch)
		wait = 1;
	CT_CHECK(&w->where, wait < 9e18, "job '%s' would run for %g us", w->work->jobs[job].id, wait);
	end = from + (wait < (double)(CT_NEVER - from) ? (ct_time)wait : CT_NEVER - from);
	if (l->end.generation)
		ct_event_move(&w->events, l->end, end);
	else
		l->end = ct_event_push(&w->events, end, CT_EVENT_FINISH, ct_end_payload(job, CT_END_JOB));
}

void ct_progress_rate(struct ct_world *w, uint32_t job)
{
	rate_from(w, job, w->where.now_us);
}

/* Sharing costs nothing: its company changes, its rate does not. */
static void tell_company(struct ct_world *w, uint32_t job)
{
	struct ct_beside beside;
	double speed;

	slowest(w, job, &speed, &beside);
	ct_log_beside(w, job, w->where.now_us, &beside);
}

static void rate_neighbours(struct ct_world *w, const struct ct_slot *slots, uint32_t n, uint32_t job,
			    void (*rate)(struct ct_world *w, uint32_t other, uint32_t job))
{
	uint32_t mark = ++w->mark;

	if (!w->cluster->ever_shared || (!w->spec.contention && !w->spec.record_decisions))
		return; /* nobody is there, or notices */
	for (uint32_t i = 0; i < n; i++) {
		const struct ct_gpu *g = &w->cluster->gpus[slots[i].gpu];

		for (uint32_t s = g->first_slot; s != CT_NONE; s = w->cluster->slots[s].next) {
			uint32_t other = w->cluster->slots[s].job;

			if (other == job || ct_live(w, other)->mark == mark)
				continue;
			ct_live(w, other)->mark = mark;
			if (w->outcome[other].state != CT_JOB_RUNNING)
				continue;
			if (w->spec.contention)
				rate(w, other, job);
			else
				tell_company(w, other);
		}
	}
}

static void rate_now(struct ct_world *w, uint32_t other, uint32_t job)
{
	(void)job;
	ct_progress_rate(w, other);
}

void ct_progress_rate_neighbours(struct ct_world *w, const struct ct_slot *slots, uint32_t n, uint32_t job)
{
	rate_neighbours(w, slots, n, job, rate_now);
}

static void rate_survivor(struct ct_world *w, uint32_t other, uint32_t job)
{
	const struct ct_live *l = ct_live(w, other);
	ct_time step = w->spec.step.step_us, from = w->where.now_us - step;

	if (l->start_number < ct_live(w, job)->start_number)
		ct_progress_rate(w, other);
	else if (!w->spec.step.later_keeps_rate)
		rate_from(w, other, from > l->settled ? from : l->settled);
}

void ct_progress_rate_survivors(struct ct_world *w, const struct ct_slot *slots, uint32_t n, uint32_t job)
{
	rate_neighbours(w, slots, n, job, rate_survivor);
}

void ct_progress_stop(struct ct_world *w, uint32_t job)
{
	struct ct_live *l = ct_live(w, job);

	ct_progress_settle(w, job);
	l->rate = 0;
	ct_event_cancel(&w->events, l->end);
	l->end = (ct_event_handle){ 0, 0 };
}

/* SM activity of a resident: its solo activity, thinned by its slow-down. */
static double sm_of(const struct ct_world *w, uint32_t job, uint32_t gpu)
{
	const struct ct_live *l = ct_live(w, job);
	struct ct_demand d = ct_demand_of(w, job, l->config);
	const struct ct_cluster *c = w->cluster;
	double solo = d.throughput * scaling(w, job) * c->types[c->nodes[c->gpus[gpu].node].type].speed;

	if (w->outcome[job].state != CT_JOB_RUNNING || isnan(d.sm_frac))
		return 0;
	return (double)d.sm_frac * l->rate / solo;
}

static void set_sm(struct ct_world *w, uint32_t gpu)
{
	const struct ct_gpu *g = &w->cluster->gpus[gpu];
	double sum = 0, idle = 1;
	uint32_t micro, joint;

	for (uint32_t s = g->first_slot; s != CT_NONE; s = w->cluster->slots[s].next) {
		double sm = sm_of(w, w->cluster->slots[s].job, gpu);

		sum += sm;
		idle *= sm < 1 ? 1 - sm : 0;
	}
	micro = sum < 1 ? (uint32_t)lround(sum * 1e6) : 1000000;
	joint = (uint32_t)lround((1 - idle) * 1e6);
	w->sm_micro += (int64_t)micro - w->gpu_sm_micro[gpu];
	w->gpu_sm_micro[gpu] = micro;
	w->union_micro += (int64_t)joint - w->gpu_union_micro[gpu];
	w->gpu_union_micro[gpu] = joint;
}

/* Neighbours may have been re-rated, so their other GPUs are looked at, too. */
void ct_progress_sm(struct ct_world *w, const struct ct_slot *slots, uint32_t n)
{
	if (!w->gpu_sm_micro)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct ct_gpu *g = &w->cluster->gpus[slots[i].gpu];

		set_sm(w, slots[i].gpu);
		for (uint32_t s = g->first_slot; s != CT_NONE; s = w->cluster->slots[s].next) {
			const struct ct_live *l = ct_live(w, w->cluster->slots[s].job);

			if (w->cluster->slots[s].job != slots[i].job)
				for (uint32_t k = 0; k < l->n_slots; k++)
					set_sm(w, w->cluster->slots[l->first_slot + k].gpu);
		}
	}
}
