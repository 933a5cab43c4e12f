/* SPDX-License-Identifier: GPL-3.0-or-later */
/* adapt.c - runtime adaptation (section 3.4): what is changed of jobs that run.
 *
 * A pair beyond its tolerance is reconfigured where that helps, else its newer job moves.
 * Everything else must pay back: the gain in rate, over the time that the job has run so
 * far, has to exceed what it loses in the transition. A job's age is the guess of what is
 * left of it; true run times are not known. */
#include "scheduler/elastico/elastico.h"

#include <math.h>

static uint32_t config_of(const struct ct_view *v, uint32_t job)
{
	return ct_view_job(v, job)->config;
}

static double share_of(const struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);

	return ct_rst_share(&e->family[e->job[job].family], j->gpus_held, j->num_gpus);
}

/* GPUs' worth of work a second, at that slow-down. */
static double value_of(const struct ct_elastico *e, const struct ct_view *v, uint32_t job, uint32_t config, double s)
{
	return ct_view_job(v, job)->num_gpus * share_of(e, v, job) * e->family[e->job[job].family].config[config].perf /
	       s;
}

static bool may_change(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	return ct_elastico_ready(e, v, job) && ct_elastico_due(e, e->job[job].changed_us + e->hold);
}

/* Where it has GPUs to itself: what prices choose, but at the floor or above. */
static uint32_t best_alone(const struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	const struct ct_elastico_family *f = &e->family[e->job[job].family];
	double score;
	uint32_t config = ct_esp_best(f, e->job[job].weight, e->price, &score);

	return ct_rst_reaches(f, config, share_of(e, v, job), v->attain_floor) ? config : f->fastest;
}

/* Does `gain` make up for `lost` (GPUs' worth of work x microseconds) within the time since
 * `start`? */
static bool pays(struct ct_elastico *e, double gain, double lost, ct_time start)
{
	double wait;

	if (!(gain > 1e-9))
		return false;
	wait = e->payback * lost / gain;
	return wait < 1e15 && ct_elastico_due(e, start + (ct_time)ceil(wait));
}

static ct_time switch_cost(const struct ct_view *v, uint32_t job, uint32_t config)
{
	int blocks = 1;
	ct_time cost = v->host->price_us(v->host->ctx, job, CT_MOVE_SWITCH, config, &blocks);

	return blocks ? cost : 0;
}

/* ---- actions */

static void changed(struct ct_elastico *e, const struct ct_view *v, uint32_t job, ct_time cost)
{
	struct ct_elastico_job *j = &e->job[job];

	if (j->n_alone)
		ct_pack_remove_host(e, job);
	j->n_alone = 0;
	j->ready_us = v->now_us + cost;
	j->changed_us = v->now_us;
	j->window_us = -1;
	e->acted = true;
}

int ct_adapt_switch(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job, uint32_t config)
{
	ct_time cost = v->host->price_us(v->host->ctx, job, CT_MOVE_SWITCH, config, NULL);
	uint32_t n_alone = e->job[job].n_alone;

	if (p->reconfigure(p, job, config))
		return 1;
	changed(e, v, job, cost);
	e->job[job].n_alone = n_alone;
	return 0;
}

/* To e->found[0 .. n). */
static int move(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job, uint32_t config,
		uint32_t n)
{
	ct_time cost = v->host->price_us(v->host->ctx, job, CT_MOVE_MIGRATE, config, NULL);

	if (p->migrate(p, job, config, e->found, n))
		return 1;
	changed(e, v, job, cost);
	return 0;
}

/* ---- measurement */

static bool has_one_partner(const struct ct_elastico *e, uint32_t job)
{
	const struct ct_elastico_job *j = &e->job[job];

	return j->n_partners == 1 && e->job[j->partner].n_partners == 1;
}

static const struct ct_elastico_config *held(const struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	return &e->family[e->job[job].family].config[config_of(v, job)];
}

/* The slow-down that it saw is that of its slowest member: what is not explained by those
 * whose effect is known is put down to the worst of the others. */
static void finish_window(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	struct ct_elastico_job *j = &e->job[job];
	const struct ct_elastico_config *c = held(e, v, job);
	double done = v->host->progress_us(v->host->ctx, job) - j->window_progress;
	double alone = c->throughput * share_of(e, v, job) * (double)(v->now_us - j->window_us), s, its;

	j->window_us = -1;
	if (!(done > 0))
		return;
	s = its = alone / done;
	if (j->known > 0.98 * s)
		its = fmin(s, j->suspected);
	ct_iac_measured(e, c, held(e, v, j->suspect), its);
	if (ct_pds_violates(e, v, job, config_of(v, job), s, e->hysteresis))
		p->note(p, job, CT_WHY_MEASURED, j->suspect, s,
			ct_iac_tau_of(e, v, &e->family[j->family], config_of(v, job), share_of(e, v, job)));
	j->pace = fmax(j->known, its);
	j->suspect = CT_NO_JOB;
}

static void measure(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	struct ct_elastico_job *j = &e->job[job];
	uint32_t own = config_of(v, job);

	if (j->window_us >= 0 && (j->window_beside != j->beside || j->window_config != own))
		j->window_us = -1;
	if (j->suspect == CT_NO_JOB || j->profile_us >= 0)
		return;
	if (!ct_elastico_ready(e, v, job) || !j->calm) {
		j->window_us = -1;
		return;
	}
	if (j->window_us < 0) {
		j->window_us = v->now_us;
		j->window_progress = v->host->progress_us(v->host->ctx, job);
		j->window_beside = j->beside;
		j->window_config = own;
	}
	if (ct_elastico_due(e, j->window_us + e->window))
		finish_window(e, v, p, job);
}

void ct_adapt_measure(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	if (!e->iac || !e->pds || !e->measure)
		return;
	for (uint32_t i = 0; i < e->n_shared; i++)
		measure(e, v, p, e->shared[i]);
}

/* ---- pairs */

struct duo {
	uint32_t job[2], config[2]; /* older first */
	double slow[2];
	bool bad, measured;
};

static void weigh(struct ct_elastico *e, const struct ct_view *v, struct duo *d, double slack)
{
	const struct ct_elastico_config *a = &e->family[e->job[d->job[0]].family].config[d->config[0]],
					*b = &e->family[e->job[d->job[1]].family].config[d->config[1]];

	d->slow[0] = ct_iac_slowdown(e, v, a, b);
	d->slow[1] = ct_iac_slowdown(e, v, b, a);
	d->bad = ct_pds_violates(e, v, d->job[0], d->config[0], d->slow[0], slack) ||
		 ct_pds_violates(e, v, d->job[1], d->config[1], d->slow[1], slack);
	d->measured = ct_iac_is_measured(e, a, b) || ct_iac_is_measured(e, b, a);
}

static double worth(const struct ct_elastico *e, const struct ct_view *v, const struct duo *d)
{
	return value_of(e, v, d->job[0], d->config[0], d->slow[0]) +
	       value_of(e, v, d->job[1], d->config[1], d->slow[1]);
}

/* Does it fit on the GPUs that they share, each where it is? */
static bool fits_beside(struct ct_elastico *e, const struct ct_view *v, const struct duo *d)
{
	uint32_t least = UINT32_MAX;
	uint64_t both = 0;

	for (int i = 0; i < 2; i++) {
		const struct ct_elastico_config *c = &e->family[e->job[d->job[i]].family].config[d->config[i]],
						*now = held(e, v, d->job[i]);

		both += c->mem_mib;
		least = e->job[d->job[i]].least_mem < least ? e->job[d->job[i]].least_mem : least;
		if (e->hosts_modelled && (c->cpu_milli > now->cpu_milli || c->ram_mib > now->ram_mib))
			return false;
	}
	if (least == UINT32_MAX)
		return true;
	return both + v->gpu_reserve_mib <= least;
}

static ct_time later_start(const struct ct_view *v, const struct duo *d)
{
	ct_time a = ct_view_job(v, d->job[0])->start_us, b = ct_view_job(v, d->job[1])->start_us;

	return a > b ? a : b;
}

/* May the pair change from `now` to `then`? */
static bool is_better(struct ct_elastico *e, const struct ct_view *v, const struct duo *now, struct duo *then)
{
	double lost = 0;

	if (!fits_beside(e, v, then))
		return false;
	weigh(e, v, then, 0);
	if (then->bad)
		return false;
	for (int i = 0; i < 2; i++) {
		if (then->config[i] == now->config[i])
			continue;
		if (!may_change(e, v, then->job[i]))
			return false;
		lost += (double)switch_cost(v, then->job[i], then->config[i]) *
			value_of(e, v, then->job[i], now->config[i], now->slow[i]);
	}
	return now->bad || pays(e, worth(e, v, then) - worth(e, v, now), lost, later_start(v, now));
}

static int reconfigure(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, const struct duo *now,
		       const struct duo *then)
{
	/* Who gives memory back goes first. */
	int first =
	    held(e, v, then->job[1])->mem_mib > e->family[e->job[then->job[1]].family].config[then->config[1]].mem_mib;

	for (int k = 0; k < 2; k++) {
		int i = k ? !first : first;

		if (then->config[i] == now->config[i])
			continue;
		if (ct_adapt_switch(e, v, p, then->job[i], then->config[i]))
			return 1;
		p->note(p, then->job[i], now->bad ? CT_WHY_INTERFERENCE : CT_WHY_PRICE_SWITCH, then->job[!i],
			now->slow[i], then->slow[i]);
	}
	return 0;
}

/* The newer of a pair that is beyond a tolerance gets GPUs elsewhere. */
static int part(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, const struct duo *d)
{
	uint32_t job = d->job[1], n = ct_view_job(v, job)->gpus_held, config;
	struct ct_elastico_place at;
	double alone, before = worth(e, v, d), cost;

	if (!may_change(e, v, job))
		return 0;
	config = best_alone(e, v, job);
	cost = (double)v->host->price_us(v->host->ctx, job, CT_MOVE_MIGRATE, config, NULL) *
	       value_of(e, v, job, d->config[1], d->slow[1]);
	alone = value_of(e, v, d->job[0], d->config[0], 1);
	if (ct_pack_find_idle(e, v, job, config, n, n, 0)) {
		if (!d->measured &&
		    !pays(e, alone + value_of(e, v, job, config, 1) - before, cost, ct_view_job(v, job)->start_us))
			return 0;
		p->note(p, job, CT_WHY_SEPARATED, d->job[0], d->slow[1], d->slow[0]);
		return move(e, v, p, job, config, n);
	}
	if (!d->measured)
		return 0;
	if (e->job[job].n_alone) /* it is no host for itself */
		ct_pack_remove_host(e, job);
	at = ct_pack_find_shared(e, v, job, n, e->margin);
	if (at.found && at.n_hosts && alone + at.gain > before) {
		if (ct_admit_make_room(e, v, p, job, &at) || move(e, v, p, job, at.config, n))
			return 1;
		p->note(p, job, CT_WHY_MOVED, e->host_job[0], d->slow[1], at.self);
		ct_admit_settle(e, v, job, &at);
		return 0;
	}
	/* Taking turns would be faster than sharing. */
	if (e->separate && before < alone) {
		p->note(p, job, CT_WHY_SEPARATED, d->job[0], d->slow[1], d->slow[0]);
		e->acted = true;
		e->job[job].window_us = -1;
		return p->preempt(p, job);
	}
	return 0;
}

static int adapt_pair(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t older, uint32_t newer)
{
	struct duo now = { .job = { older, newer }, .config = { config_of(v, older), config_of(v, newer) } };
	uint32_t want[2] = { e->job[older].choice, e->job[newer].choice };

	weigh(e, v, &now, e->hysteresis);
	for (int k = 0; k < 3; k++) {
		struct duo then = now;

		if (k != 2)
			then.config[0] = want[0];
		if (k != 1)
			then.config[1] = want[1];
		if (then.config[0] == now.config[0] && then.config[1] == now.config[1])
			continue;
		if (is_better(e, v, &now, &then))
			return reconfigure(e, v, p, &now, &then);
	}
	return now.bad ? part(e, v, p, &now) : 0;
}

/* A gang beside several, or one of several beside a gang: only where it is itself is up to
 * it. It moves when its slowest member is beyond its tolerance. */
static int adapt_gang(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	struct ct_elastico_job *j = &e->job[job];
	uint32_t n = ct_view_job(v, job)->gpus_held, own = config_of(v, job), config;
	double now = value_of(e, v, job, own, j->pace), lost, pace = j->pace;
	struct ct_elastico_place at;

	if (!ct_pds_violates(e, v, job, own, pace, e->hysteresis) || !may_change(e, v, job))
		return 0;
	config = best_alone(e, v, job);
	lost = (double)v->host->price_us(v->host->ctx, job, CT_MOVE_MIGRATE, config, NULL) * now;
	if (ct_pack_find_idle(e, v, job, config, n, n, 0)) {
		if (!pays(e, value_of(e, v, job, config, 1) - now, lost, ct_view_job(v, job)->start_us))
			return 0;
		p->note(p, job, CT_WHY_SEPARATED, j->partner, pace, 1);
		return move(e, v, p, job, config, n);
	}
	if (j->n_alone)
		ct_pack_remove_host(e, job);
	at = ct_pack_find_shared(e, v, job, n, e->margin);
	if (!at.found || !at.n_hosts || !pays(e, at.gain - now, lost, ct_view_job(v, job)->start_us))
		return 0;
	if (ct_admit_make_room(e, v, p, job, &at) || move(e, v, p, job, at.config, n))
		return 1;
	p->note(p, job, CT_WHY_MOVED, e->host_job[0], pace, at.self);
	ct_admit_settle(e, v, job, &at);
	return 0;
}

/* Still where it was when the epoch began? */
static bool untouched(const struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	return ct_view_job(v, job)->gpus_held && e->job[job].changed_us < v->now_us;
}

static int adapt_pairs(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	for (uint32_t i = 0; i < e->n_shared; i++) {
		uint32_t job = e->shared[i], partner = e->job[job].partner;

		e->job[job].seen = i;
		if (!untouched(e, v, job) || !untouched(e, v, partner))
			continue;
		if (!has_one_partner(e, job)) {
			if (adapt_gang(e, v, p, job))
				return 1;
			continue;
		}
		/* Once for both, at the newer one. */
		if (e->job[partner].seen < i && e->shared[e->job[partner].seen] == partner &&
		    adapt_pair(e, v, p, partner, job))
			return 1;
	}
	return 0;
}

/* ---- jobs on GPUs of their own */

static int speed_up(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	const struct ct_view_job *w = ct_view_job(v, job);
	const struct ct_elastico_job *j = &e->job[job];
	const struct ct_elastico_config *now = held(e, v, job), *then = &e->family[j->family].config[j->choice];
	double lost;

	if (then->perf <= now->perf || then->mem_mib > j->least_mem || !may_change(e, v, job) ||
	    (e->hosts_modelled && (then->cpu_milli > now->cpu_milli || then->ram_mib > now->ram_mib)))
		return 0;
	lost = (double)switch_cost(v, job, j->choice) * now->perf;
	if (!pays(e, then->perf - now->perf, lost, w->start_us))
		return 0;
	if (ct_adapt_switch(e, v, p, job, j->choice))
		return 1;
	p->note(p, job, CT_WHY_PRICE_SWITCH, CT_NO_JOB, now->perf, then->perf);
	return 0;
}

static int speed_up_all(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	for (uint32_t job = v->running_first; job != CT_NO_JOB;) {
		const struct ct_view_job *w = ct_view_job(v, job);
		uint32_t next = w->next;

		/* Untouched in this epoch. */
		if (w->num_gpus && e->job[job].n_alone == w->gpus_held && e->job[job].pace <= 1 &&
		    e->job[job].choice != w->config && e->job[job].changed_us < v->now_us && speed_up(e, v, p, job))
			return 1;
		job = next;
	}
	return 0;
}

/* ---- GPUs that nobody waits for: growth, and pairs apart */

struct growth {
	uint32_t job, gpus, config;
	double per_gpu;
};

/* More GPUs for a job that has fewer than it asked for. */
static void offer_more(struct ct_elastico *e, const struct ct_view *v, uint32_t job, uint32_t idle, struct growth *best)
{
	const struct ct_view_job *w = ct_view_job(v, job);
	const struct ct_elastico_family *f = &e->family[e->job[job].family];
	uint32_t extra = w->num_gpus - w->gpus_held;
	double now = value_of(e, v, job, w->config, 1), gain, lost;

	if (extra > idle)
		extra = idle;
	gain = w->num_gpus * f->config[w->config].perf * ct_rst_share(f, w->gpus_held + extra, w->num_gpus) - now;
	if (!extra || gain / extra <= best->per_gpu || !may_change(e, v, job))
		return;
	lost = (double)v->host->price_us(v->host->ctx, job, CT_MOVE_MIGRATE, w->config, NULL) * now;
	if (pays(e, gain, lost, w->start_us))
		*best = (struct growth){ job, w->gpus_held + extra, w->config, gain / extra };
}

/* GPUs of its own for one of a pair. */
static void offer_own(struct ct_elastico *e, const struct ct_view *v, uint32_t job, uint32_t idle, struct growth *best)
{
	const struct ct_view_job *w = ct_view_job(v, job);
	const struct ct_elastico_job *j = &e->job[job];
	double now = value_of(e, v, job, w->config, j->pace), gain, lost;
	uint32_t config = best_alone(e, v, job);

	if (w->gpus_held > idle || ct_view_job(v, j->partner)->gpus_held == 0)
		return;
	gain = value_of(e, v, job, config, 1) - now;
	if (has_one_partner(e, job)) {
		uint32_t c = config_of(v, j->partner);

		gain += value_of(e, v, j->partner, c, 1) - value_of(e, v, j->partner, c, e->job[j->partner].pace);
	}
	if (gain / w->gpus_held <= best->per_gpu || !may_change(e, v, job))
		return;
	lost = (double)v->host->price_us(v->host->ctx, job, CT_MOVE_MIGRATE, config, NULL) * now;
	if (pays(e, gain, lost, w->start_us))
		*best = (struct growth){ job, w->gpus_held, config, gain / w->gpus_held };
}

static struct growth find_growth(struct ct_elastico *e, const struct ct_view *v)
{
	struct growth best = { .job = CT_NO_JOB };

	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		const struct ct_view_job *w = ct_view_job(v, job);
		const struct ct_elastico_job *j = &e->job[job];
		uint32_t idle;

		if (!w->num_gpus || j->changed_us == v->now_us)
			continue;
		idle = ct_pack_idle(e, v, w->partition, w->gpu_type);
		if (!idle)
			continue;
		if (j->n_partners)
			offer_own(e, v, job, idle, &best);
		else if (w->gpus_held < w->num_gpus)
			offer_more(e, v, job, idle, &best);
	}
	return best;
}

static int grow(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	for (;;) {
		struct growth g = find_growth(e, v);
		const struct ct_view_job *w;
		uint32_t kept = 0, before, partner;
		double pace;

		if (g.job == CT_NO_JOB)
			return 0;
		w = ct_view_job(v, g.job);
		before = w->gpus_held;
		if (g.gpus > before)
			kept = v->host->gpus_of(v->host->ctx, g.job, e->found, v->n_gpus);
		if (!ct_pack_find_idle(e, v, g.job, g.config, g.gpus - kept, g.gpus, kept)) {
			/* CPU or host memory is in the way. */
			e->job[g.job].changed_us = v->now_us;
			continue;
		}
		partner = e->job[g.job].n_partners ? e->job[g.job].partner : CT_NO_JOB;
		pace = e->job[g.job].pace;
		if (move(e, v, p, g.job, g.config, g.gpus))
			return 1;
		if (partner != CT_NO_JOB)
			p->note(p, g.job, CT_WHY_SPREAD, partner, pace, 1);
		else
			p->note(p, g.job, CT_WHY_EXPANDED, CT_NO_JOB, before, g.gpus);
		ct_pack_scan(e, v); /* who has partners now */
	}
}

int ct_adapt(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	if (!e->pds)
		return 0;
	if (adapt_pairs(e, v, p) || speed_up_all(e, v, p))
		return 1;
	return v->queue_first == CT_NO_JOB ? grow(e, v, p) : 0;
}
