/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verbs: each checks everything first, and only then changes anything. */
#include "sim/world_state.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct ct_world *w, uint32_t job)
{
	return w->work->jobs[job].id;
}

/* "t=12.5 s: job 'a': " in front of every refusal. */
#define REFUSE(w, job, err, fmt, ...)                                                                    \
	ct_err_at((err), CT_EPOLICY, NULL, "at t=%.6f s, job '%s': " fmt, ct_seconds((w)->where.now_us), \
		  name_of((w), (job)), __VA_ARGS__)

static int check_job(const struct ct_world *w, uint32_t job, struct ct_err *err)
{
	if (job >= w->n_jobs || w->outcome[job].state == CT_JOB_FUTURE)
		return ct_err_at(err, CT_EPOLICY, NULL, "at t=%.6f s: job number %u has not been submitted",
				 ct_seconds(w->where.now_us), job);
	return 0;
}

static int check_state(const struct ct_world *w, uint32_t job, bool ok, const char *verb, struct ct_err *err)
{
	if (!ok)
		return REFUSE(w, job, err, "cannot %s a job that is %s", verb,
			      ct_job_state_name(ct_world_job_state(w, job)));
	return 0;
}

static bool holds(const struct ct_world *w, uint32_t job)
{
	uint8_t s = w->outcome[job].state;

	return s == CT_JOB_STARTING || s == CT_JOB_RUNNING || s == CT_JOB_PAUSED;
}

static int check_config(const struct ct_world *w, uint32_t job, uint32_t config, struct ct_err *err)
{
	const struct ct_family *f = w->spec.families ? w->spec.families[job] : NULL;
	uint32_t n = f ? f->n : 1;

	if (config >= n)
		return REFUSE(w, job, err, "has %u configurations, not number %u", n, config);
	return 0;
}

/* ---- do these GPUs have room? */

/* Ordinary runs stay in their partition, off reserved nodes; profile runs on these. */
static int check_territory(const struct ct_world *w, uint32_t job, uint32_t gpu, bool profile, struct ct_err *err)
{
	const struct ct_cluster *c = w->cluster;
	uint32_t node = c->gpus[gpu].node;
	const struct ct_node *n = &c->nodes[node];
	const struct ct_live *l = ct_live(w, job);

	if (profile && !n->reserved)
		return REFUSE(w, job, err, "GPU %u is on node %u, which is not reserved for profile runs", gpu, node);
	if (profile)
		return 0;
	if (n->reserved)
		return REFUSE(w, job, err, "GPU %u is on node %u, which is reserved", gpu, node);
	if (n->partition != l->partition)
		return REFUSE(w, job, err, "GPU %u belongs to partition '%s', the job to '%s'", gpu,
			      c->partitions[n->partition], c->partitions[l->partition]);
	return 0;
}

static int check_gpu(struct ct_world *w, uint32_t job, uint32_t gpu, const struct ct_demand *d, uint32_t stamp,
		     bool profile, struct ct_err *err)
{
	const struct ct_cluster *c = w->cluster;
	const struct ct_live *l = ct_live(w, job);
	const struct ct_gpu *g;
	const struct ct_node *n;
	uint32_t milli = w->work->jobs[job].gpu_milli, limit;

	if (gpu >= c->n_gpus)
		return REFUSE(w, job, err, "there is no GPU %u, the cluster has %u", gpu, c->n_gpus);
	if (w->gpu_mark[gpu] == stamp)
		return REFUSE(w, job, err, "GPU %u is named twice", gpu);
	w->gpu_mark[gpu] = stamp;
	g = &c->gpus[gpu];
	n = &c->nodes[g->node];
	if (!n->up)
		return REFUSE(w, job, err, "GPU %u is on node %u, which is down", gpu, g->node);
	CT_TRY(check_territory(w, job, gpu, profile, err));
	if (l->type != CT_NONE && n->type != l->type)
		return REFUSE(w, job, err, "GPU %u is a '%s', the job wants '%s'", gpu, c->types[n->type].name,
			      c->types[l->type].name);
	if (n->pool_milli)
		return REFUSE(w, job, err, "GPU %u is on node %u, which is in use as a pool", gpu, g->node);
	if (g->used_milli + milli > 1000 && g->n_residents == CT_GPU_DOWN)
		return REFUSE(w, job, err, "GPU %u has failed", gpu);
	if (g->used_milli + milli > 1000 && g->n_residents + 1u > w->spec.residents)
		return REFUSE(w, job, err, "GPU %u holds job '%s' already (%u + %u of 1000, %u residents allowed)", gpu,
			      name_of(w, c->slots[g->first_slot].job), g->used_milli, milli, w->spec.residents);
	limit = n->gpu_mem_mib;
	if (g->n_residents && limit != UINT32_MAX)
		limit = limit > w->spec.gpu_reserve_mib ? limit - w->spec.gpu_reserve_mib : 0;
	if ((uint64_t)g->used_mem_mib + d->gpu_mem_mib > limit)
		return REFUSE(w, job, err, "GPU %u has no room for %u MiB (%u of %u used)", gpu, d->gpu_mem_mib,
			      g->used_mem_mib, limit);
	return 0;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The list in ascending order, which puts the GPUs of a node together: the order a
 * plan names them in has no meaning. Sorted in w->scratch where it is not. */
static int ascending(struct ct_world *w, uint32_t job, const uint32_t **gpus, uint32_t n, struct ct_err *err)
{
	const struct ct_job *j = &w->work->jobs[job];
	const uint32_t *list = *gpus;
	uint32_t i = 1;

	if (!j->num_gpus)
		return REFUSE(w, job, err, "%s", "asks for no GPU: it starts on a share of a node");
	if (n < j->min_gpus || n > j->max_gpus)
		return REFUSE(w, job, err, "wants %u to %u GPUs at once, got %u", j->min_gpus, j->max_gpus, n);
	if (n > w->cluster->n_gpus)
		return REFUSE(w, job, err, "the cluster has %u GPUs, not %u", w->cluster->n_gpus, n);
	while (i < n && list[i] > list[i - 1])
		i++;
	if (i < n) {
		memcpy(w->scratch, list, n * sizeof *list);
		qsort(w->scratch, n, sizeof *list, compare_u32);
		*gpus = w->scratch;
	}
	return 0;
}

/* CPU and host memory of the nodes, as ct_cluster_take() books them. */
static int check_hosts(const struct ct_world *w, uint32_t job, const uint32_t *gpus, uint32_t n,
		       const struct ct_demand *d, struct ct_err *err)
{
	const struct ct_cluster *c = w->cluster;
	uint32_t run;

	if (!d->cpu_milli && !d->mem_mib)
		return 0;
	for (uint32_t i = 0; i < n; i += run) {
		uint32_t at = c->gpus[gpus[i]].node;
		const struct ct_node *node = &c->nodes[at];
		uint64_t cpu, mem;

		for (run = 1; i + run < n && c->gpus[gpus[i + run]].node == at;)
			run++;
		cpu = (uint64_t)node->used_cpu_milli + ct_share_of(d->cpu_milli, run, n);
		mem = (uint64_t)node->used_mem_mib + ct_share_of(d->mem_mib, run, n);
		if (cpu > node->cpu_milli)
			return REFUSE(w, job, err, "node %u has no room for its CPU (%.3f of %.3f cores)", at,
				      (double)cpu / 1000, (double)node->cpu_milli / 1000);
		if (mem > node->mem_mib)
			return REFUSE(w, job, err, "node %u has no room for its host memory (%llu of %u MiB)", at,
				      (unsigned long long)mem, node->mem_mib);
	}
	return 0;
}

/* `gpus` ascending. */
static int check_room(struct ct_world *w, uint32_t job, const uint32_t *gpus, uint32_t n, const struct ct_demand *d,
		      bool profile, struct ct_err *err)
{
	uint32_t stamp = ++w->mark;

	for (uint32_t i = 0; i < n; i++)
		CT_TRY(check_gpu(w, job, gpus[i], d, stamp, profile, err));
	return check_hosts(w, job, gpus, n, d, err);
}

/* ---- holding and releasing */

static void link_holder(struct ct_world *w, uint32_t job)
{
	struct ct_live *l = ct_live(w, job);

	l->next = w->holders;
	l->prev = CT_NONE;
	if (w->holders != CT_NONE)
		ct_live(w, w->holders)->prev = job;
	w->holders = job;
}

static void unlink_holder(struct ct_world *w, uint32_t job)
{
	const struct ct_live *l = ct_live(w, job);

	if (l->prev != CT_NONE)
		ct_live(w, l->prev)->next = l->next;
	else
		w->holders = l->next;
	if (l->next != CT_NONE)
		ct_live(w, l->next)->prev = l->prev;
}

/* Share held, booked up to now; `share` is what is held from now on. */
static void book_held(struct ct_world *w, uint32_t job, int64_t before, int64_t after)
{
	struct ct_live *l = ct_live(w, job);

	l->held += (ct_wide)before * (w->where.now_us - l->held_since);
	l->held_since = w->where.now_us;
	w->shares_milli += after - before;
}

static int64_t held_milli(const struct ct_world *w, uint32_t job)
{
	const struct ct_live *l = ct_live(w, job);

	return l->n_slots ? (int64_t)l->n_slots * w->work->jobs[job].gpu_milli : (int64_t)l->pool_milli;
}

/* Remembers the placement as ranges; a later one takes its place where it fits.
 * `gpus` ascending. */
static void record_place(struct ct_world *w, uint32_t job, const uint32_t *gpus, uint32_t n)
{
	struct ct_outcome *o = &w->outcome[job];
	uint32_t ranges = 1, *at;

	for (uint32_t i = 1; i < n; i++)
		ranges += gpus[i] != gpus[i - 1] + 1;
	if (ranges > o->n_place) {
		CT_GROW(w->places, w->cap_places, w->n_places + 2 * (size_t)ranges);
		o->place = (uint32_t)(w->n_places / 2);
		w->n_places += 2 * (size_t)ranges;
	}
	o->n_place = ranges;
	at = w->places + 2 * (size_t)o->place;
	*at++ = gpus[0];
	for (uint32_t i = 1; i < n; i++) {
		if (gpus[i] != gpus[i - 1] + 1) {
			*at++ = gpus[i - 1];
			*at++ = gpus[i];
		}
	}
	*at = gpus[n - 1];
}

static void take(struct ct_world *w, uint32_t job, const uint32_t *gpus, uint32_t n, const struct ct_demand *d)
{
	struct ct_live *l = ct_live(w, job);

	l->first_slot = ct_cluster_take(w->cluster, job, gpus, n, w->work->jobs[job].gpu_milli, d->gpu_mem_mib,
					d->cpu_milli, d->mem_mib);
	l->n_slots = n;
}

static void give(struct ct_world *w, uint32_t job)
{
	struct ct_live *l = ct_live(w, job);
	struct ct_demand d = ct_demand_of(w, job, l->next_config);

	if (l->n_slots)
		ct_cluster_give(w->cluster, l->first_slot, l->n_slots, w->work->jobs[job].gpu_milli, d.gpu_mem_mib,
				d.cpu_milli, d.mem_mib);
	else
		ct_cluster_give_pool(w->cluster, l->node, l->pool_milli, d.cpu_milli, d.mem_mib);
}

void ct_release(struct ct_world *w, uint32_t job, const struct ct_slot **slots, uint32_t *n)
{
	struct ct_live *l = ct_live(w, job);

	book_held(w, job, held_milli(w, job), 0);
	w->outcome[job].gpu_s = (double)l->held / 1e9;
	give(w, job);
	*n = l->n_slots;
	*slots = ct_slots_of(w, l);
	l->n_slots = 0;
	l->node = CT_NONE;
	l->pool_milli = 0;
	l->switching = (ct_event_handle){ 0, 0 };
	unlink_holder(w, job);
	w->n_running--;
	if (w->outcome[job].state == CT_JOB_FINISHED && w->spec.step.step_us)
		ct_progress_rate_survivors(w, *slots, *n, job);
	else
		ct_progress_rate_neighbours(w, *slots, *n, job);
	ct_progress_sm(w, *slots, *n);
}

static uint16_t one_more(uint16_t n)
{
	return n < UINT16_MAX ? (uint16_t)(n + 1) : n;
}

static struct ct_price price_of(const struct ct_world *w, uint32_t job, enum ct_transition_kind kind, uint32_t from,
				uint32_t to)
{
	const struct ct_job *j = &w->work->jobs[job];

	if (!w->spec.transitions)
		return (struct ct_price){ 0, 0 };
	return ct_transition_price(w->spec.transitions, kind,
				   j->model ? ct_strings_text(&w->work->strings, j->model) : NULL,
				   ct_demand_of(w, job, from).name, ct_demand_of(w, job, to).name);
}

struct ct_price ct_world_price(const struct ct_world *w, uint32_t job, enum ct_transition_kind kind, uint32_t config)
{
	bool fresh = kind == CT_TRANSITION_START || kind == CT_TRANSITION_RESUME;

	return price_of(w, job, kind, fresh ? config : ct_live(w, job)->config, config);
}

/* The same, paid. */
static struct ct_price price(struct ct_world *w, uint32_t job, enum ct_transition_kind kind, uint32_t from, uint32_t to)
{
	struct ct_price p = price_of(w, job, kind, from, to);

	w->n_transitions[kind]++;
	w->transition_us[kind] += p.cost_us;
	return p;
}

static uint32_t default_config(const struct ct_world *w, uint32_t job)
{
	const struct ct_family *f = w->spec.families ? w->spec.families[job] : NULL;

	return f ? f->default_config : 0;
}

/* The job holds its GPUs; it starts to run, or to become ready to. */
static void begin(struct ct_world *w, uint32_t job, uint32_t config)
{
	struct ct_live *l = ct_live(w, job);
	struct ct_outcome *o = &w->outcome[job];
	const struct ct_slot *slots;
	struct ct_price p = { 0, 0 };

	if (!l->profiling) {
		p = price(w, job, o->n_starts ? CT_TRANSITION_RESUME : CT_TRANSITION_START, config, config);
		o->n_starts = one_more(o->n_starts);
		if (l->hit) {
			p.cost_us += w->spec.failures.restart_us;
			w->transition_us[CT_TRANSITION_RESUME] += w->spec.failures.restart_us;
			l->hit = false;
		}
	}
	l->start_number = ++w->start_number;
	l->config = l->next_config = config;
	l->held_since = w->where.now_us;
	l->saved_remaining_us = l->remaining_us;
	l->unsaved_us = 0;
	book_held(w, job, 0, held_milli(w, job));
	link_holder(w, job);
	ct_log_start(w, job, o->n_starts == 1 && config == default_config(w, job), p.cost_us > 0);
	w->n_queued--;
	w->queued_milli -= ct_job_milli(&w->work->jobs[job]);
	w->n_running++;
	if (o->start_us < 0) {
		o->start_us = w->where.now_us;
		ct_attain_open(l, w->where.now_us);
	}
	slots = ct_slots_of(w, l);
	l->settled = w->where.now_us;
	if (p.cost_us > 0) {
		ct_world_enter(w, job, CT_JOB_STARTING, CT_PHASE_QUEUE);
		l->rate = 0;
		l->end = ct_event_push(&w->events, w->where.now_us + p.cost_us, CT_EVENT_FINISH,
				       ct_end_payload(job, CT_END_JOB));
	} else {
		ct_world_enter(w, job, CT_JOB_RUNNING, CT_PHASE_QUEUE);
		ct_progress_rate(w, job);
	}
	ct_progress_rate_neighbours(w, slots, l->n_slots, job);
	ct_progress_sm(w, slots, l->n_slots);
	ct_world_tell(w, CT_DID_START, job, config, slots, l->n_slots);
}

static int start(struct ct_world *w, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n, bool profile,
		 struct ct_err *err)
{
	struct ct_demand d;

	CT_TRY(check_job(w, job, err));
	CT_TRY(check_state(w, job, w->outcome[job].state == CT_JOB_QUEUED, "start", err));
	CT_TRY(check_config(w, job, config, err));
	CT_TRY(ascending(w, job, &gpus, n, err));
	d = ct_demand_of(w, job, config);
	CT_TRY(check_room(w, job, gpus, n, &d, profile, err));
	take(w, job, gpus, n, &d);
	record_place(w, job, gpus, n);
	ct_live(w, job)->profiling = profile;
	begin(w, job, config);
	return 0;
}

int ct_world_start(struct ct_world *w, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n,
		   struct ct_err *err)
{
	return start(w, job, config, gpus, n, false, err);
}

int ct_world_profile(struct ct_world *w, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n,
		     struct ct_err *err)
{
	return start(w, job, config, gpus, n, true, err);
}

int ct_world_reserve(struct ct_world *w, uint32_t node, enum ct_reserve how, struct ct_err *err)
{
	const struct ct_node *n;

	if (node >= w->cluster->n_nodes)
		return ct_err_at(err, CT_EPOLICY, NULL, "at t=%.6f s: there is no node %u, the cluster has %u",
				 ct_seconds(w->where.now_us), node, w->cluster->n_nodes);
	n = &w->cluster->nodes[node];
	if (n->up && !ct_node_is_idle(n))
		return ct_err_at(err, CT_EPOLICY, NULL, "at t=%.6f s: node %u is in use, it cannot be %s",
				 ct_seconds(w->where.now_us), node, how ? "reserved" : "given back");
	ct_cluster_reserve(w->cluster, node, how);
	ct_world_tell(w, CT_DID_RESERVE, node, 0, NULL, 0);
	return 0;
}

int ct_world_start_pool(struct ct_world *w, uint32_t job, uint32_t config, uint32_t node, struct ct_err *err)
{
	struct ct_live *l;
	const struct ct_node *n;
	struct ct_demand d;
	uint64_t milli;

	CT_TRY(check_job(w, job, err));
	CT_TRY(check_state(w, job, w->outcome[job].state == CT_JOB_QUEUED, "start", err));
	CT_TRY(check_config(w, job, config, err));
	if (node >= w->cluster->n_nodes || !w->cluster->nodes[node].up || w->cluster->nodes[node].reserved)
		return REFUSE(w, job, err, "node %u does not exist, is down or reserved", node);
	l = ct_live(w, job);
	n = &w->cluster->nodes[node];
	d = ct_demand_of(w, job, config);
	milli = (uint64_t)ct_job_milli(&w->work->jobs[job]);
	if (n->partition != l->partition || (l->type != CT_NONE && n->type != l->type))
		return REFUSE(w, job, err, "node %u has another partition or GPU type", node);
	if (milli > n->free_milli)
		return REFUSE(w, job, err, "node %u has %.3f GPUs free, not %.3f", node, (double)n->free_milli / 1000,
			      (double)milli / 1000);
	if ((uint64_t)n->used_cpu_milli + d.cpu_milli > n->cpu_milli)
		return REFUSE(w, job, err, "node %u has no room for its CPU", node);
	if ((uint64_t)n->used_mem_mib + d.mem_mib > n->mem_mib)
		return REFUSE(w, job, err, "node %u has no room for its host memory", node);
	ct_cluster_take_pool(w->cluster, node, milli, d.cpu_milli, d.mem_mib);
	l->node = node;
	l->n_slots = 0;
	l->pool_milli = milli;
	w->pooled |= milli > 0;
	begin(w, job, config);
	return 0;
}

/* Takes `s` seconds of work back from what a job has done. */
static void lose_work(struct ct_world *w, uint32_t job, double s)
{
	struct ct_outcome *o = &w->outcome[job];
	double gpus = (double)ct_job_milli(&w->work->jobs[job]) / 1000;

	o->work_s -= s;
	o->lost_s += s;
	if (w->window_open) {
		w->work_gpu_s -= s * gpus;
		w->lost_gpu_s += s * gpus;
	}
}

static bool spans_nodes(const struct ct_world *w, uint32_t job)
{
	const struct ct_slot *s = ct_slots_of(w, ct_live(w, job));
	uint32_t n = ct_live(w, job)->n_slots;

	/* slots are in ascending order of GPU */
	return n && w->cluster->gpus[s[0].gpu].node != w->cluster->gpus[s[n - 1].gpu].node;
}

/* What a job of the queue falls back to, in solo microseconds still to do. */
static double fall_back(const struct ct_world *w, uint32_t job, bool failed)
{
	const struct ct_live *l = ct_live(w, job);
	double left = l->remaining_us + (double)w->spec.preempt_loss_us[spans_nodes(w, job)];

	return failed || l->profiling || left > l->saved_remaining_us ? l->saved_remaining_us : left;
}

/* Books that a job which holds something is stopped by a failure. */
static void hit(struct ct_world *w, uint32_t job, double lost_s)
{
	ct_live(w, job)->hit |= !ct_live(w, job)->profiling;
	w->n_hits++;
	if (w->window_open)
		w->failure_lost_gpu_s += lost_s * (double)ct_job_milli(&w->work->jobs[job]) / 1000;
}

void ct_requeue(struct ct_world *w, uint32_t job, bool failed)
{
	struct ct_live *l = ct_live(w, job);
	struct ct_outcome *o = &w->outcome[job];
	const struct ct_slot *slots;
	uint32_t n;
	double left;

	ct_progress_stop(w, job);
	ct_event_cancel(&w->events, l->switching);
	left = fall_back(w, job, failed);
	lose_work(w, job, (left - l->remaining_us) / 1e6);
	if (failed)
		hit(w, job, (left - l->remaining_us) / 1e6);
	l->remaining_us = left;
	ct_log_event(w, job, l->profiling ? CT_STRETCH_PROFILE : failed ? CT_STRETCH_FAILURE : CT_STRETCH_PREEMPT);
	ct_world_enter(w, job, CT_JOB_QUEUED,
		       o->state == CT_JOB_STARTING  ? CT_PHASE_START
		       : l->profiling               ? CT_PHASE_PROFILE
		       : o->state == CT_JOB_RUNNING ? CT_PHASE_RUN
						    : l->paused_as);
	if (!l->profiling)
		o->n_preemptions = one_more(o->n_preemptions);
	else if (!o->n_starts)
		o->start_us = -1;
	l->profiling = false;
	w->n_queued++;
	w->queued_milli += ct_job_milli(&w->work->jobs[job]);
	ct_release(w, job, &slots, &n);
	ct_world_tell(w, CT_DID_PREEMPT, job, l->config, slots, n);
}

int ct_world_preempt(struct ct_world *w, uint32_t job, struct ct_err *err)
{
	CT_TRY(check_job(w, job, err));
	CT_TRY(check_state(w, job, holds(w, job), "preempt", err));
	ct_requeue(w, job, false);
	return 0;
}

/* A blocking transition: the job keeps its GPUs and stands still. */
static void pause_job(struct ct_world *w, uint32_t job, ct_time cost_us, enum ct_phase as)
{
	struct ct_live *l = ct_live(w, job);

	ct_progress_stop(w, job);
	ct_world_enter(w, job, CT_JOB_PAUSED, CT_PHASE_RUN);
	l->paused_as = as;
	l->end = ct_event_push(&w->events, w->where.now_us + cost_us, CT_EVENT_FINISH, ct_end_payload(job, CT_END_JOB));
}

int ct_world_migrate(struct ct_world *w, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n,
		     struct ct_err *err)
{
	struct ct_live *l;
	struct ct_demand d;
	struct ct_price p;
	const struct ct_slot *slots;
	uint32_t first, n_old;
	int refused;

	CT_TRY(check_job(w, job, err));
	CT_TRY(check_state(w, job, w->outcome[job].state == CT_JOB_RUNNING, "migrate", err));
	CT_TRY(check_config(w, job, config, err));
	l = ct_live(w, job);
	if (!l->n_slots)
		return REFUSE(w, job, err, "holds a pool share of node %u, which cannot migrate", l->node);
	if (l->switching.generation)
		return REFUSE(w, job, err, "is switching to configuration %u", l->next_config);
	CT_TRY(ascending(w, job, &gpus, n, err));
	d = ct_demand_of(w, job, config);
	/* Its own GPUs count as free: give, look, and take back when refused. */
	first = l->first_slot;
	n_old = l->n_slots;
	uint32_t *old = ct_calloc(n_old, sizeof *old);

	for (uint32_t i = 0; i < n_old; i++)
		old[i] = w->cluster->slots[first + i].gpu;
	give(w, job);
	refused = check_room(w, job, gpus, n, &d, l->profiling, err);
	if (refused) {
		d = ct_demand_of(w, job, l->config);
		take(w, job, old, n_old, &d);
		free(old);
		return refused;
	}
	ct_progress_settle(w, job);
	book_held(w, job, held_milli(w, job), (int64_t)n * w->work->jobs[job].gpu_milli);
	slots = w->cluster->slots + first;
	ct_progress_rate_neighbours(w, slots, n_old, job);
	ct_progress_sm(w, slots, n_old);
	ct_world_tell(w, CT_DID_MIGRATE, job, l->config, slots, n_old);
	free(old);
	p = price(w, job, CT_TRANSITION_MIGRATE, l->config, config);
	l->config = l->next_config = config;
	ct_log_event(w, job, CT_STRETCH_MIGRATE);
	take(w, job, gpus, n, &d);
	record_place(w, job, gpus, n);
	w->outcome[job].n_migrations = one_more(w->outcome[job].n_migrations);
	if (p.blocks && p.cost_us > 0)
		pause_job(w, job, p.cost_us, CT_PHASE_PAUSE);
	else
		ct_progress_rate(w, job);
	slots = ct_slots_of(w, l);
	ct_progress_rate_neighbours(w, slots, n, job);
	ct_progress_sm(w, slots, n);
	ct_world_tell(w, CT_DID_MIGRATE, job, config, slots, n);
	return 0;
}

int ct_world_reconfigure(struct ct_world *w, uint32_t job, uint32_t config, struct ct_err *err)
{
	struct ct_live *l;
	struct ct_demand d;
	struct ct_price p;
	const struct ct_slot *slots;
	uint32_t n;
	int refused;

	CT_TRY(check_job(w, job, err));
	CT_TRY(check_state(w, job, w->outcome[job].state == CT_JOB_RUNNING, "reconfigure", err));
	CT_TRY(check_config(w, job, config, err));
	l = ct_live(w, job);
	n = l->n_slots;
	if (!n)
		return REFUSE(w, job, err, "holds a pool share of node %u, which cannot be reconfigured", l->node);
	if (l->switching.generation)
		return REFUSE(w, job, err, "is switching to configuration %u already", l->next_config);
	if (config == l->config)
		return REFUSE(w, job, err, "is in configuration %u already", config);
	uint32_t *gpus = ct_calloc(n, sizeof *gpus);

	for (uint32_t i = 0; i < n; i++)
		gpus[i] = w->cluster->slots[l->first_slot + i].gpu;
	give(w, job);
	d = ct_demand_of(w, job, config);
	refused = check_room(w, job, gpus, n, &d, l->profiling, err);
	if (refused)
		d = ct_demand_of(w, job, l->config);
	take(w, job, gpus, n, &d);
	free(gpus);
	if (refused)
		return refused;
	p = price(w, job, CT_TRANSITION_SWITCH, l->config, config);
	l->next_config = config;
	w->outcome[job].n_switches = one_more(w->outcome[job].n_switches);
	ct_log_event(w, job, CT_STRETCH_SWITCH);
	if (p.cost_us > 0 && !p.blocks) {
		l->switching = ct_event_push(&w->events, w->where.now_us + p.cost_us, CT_EVENT_FINISH,
					     ct_end_payload(job, CT_END_SWITCH));
	} else {
		ct_progress_settle(w, job);
		l->config = config;
		if (p.cost_us > 0)
			pause_job(w, job, p.cost_us, CT_PHASE_SWITCH);
		else
			ct_progress_rate(w, job);
	}
	slots = ct_slots_of(w, l);
	ct_progress_rate_neighbours(w, slots, n, job);
	ct_progress_sm(w, slots, n);
	ct_world_tell(w, CT_DID_SWITCH, job, config, slots, n);
	return 0;
}

/* Out of the queue for good. */
static void leave_queue(struct ct_world *w, uint32_t job, enum ct_job_state state, enum ct_reason reason)
{
	w->n_queued--;
	w->queued_milli -= ct_job_milli(&w->work->jobs[job]);
	ct_world_end_job(w, job, state, reason);
	ct_world_tell(w, state == CT_JOB_FAILED ? CT_DID_FAIL : CT_DID_REJECT, job, ct_live(w, job)->config, NULL, 0);
	ct_world_forget(w, job);
}

int ct_world_fail(struct ct_world *w, uint32_t job, enum ct_reason reason, struct ct_err *err)
{
	const struct ct_slot *slots;
	uint32_t n;

	CT_TRY(check_job(w, job, err));
	CT_TRY(check_state(w, job, holds(w, job) || w->outcome[job].state == CT_JOB_QUEUED, "fail", err));
	if (w->outcome[job].state == CT_JOB_QUEUED) {
		leave_queue(w, job, CT_JOB_FAILED, reason);
		return 0;
	}
	ct_progress_stop(w, job);
	ct_event_cancel(&w->events, ct_live(w, job)->switching);
	ct_world_end_job(w, job, CT_JOB_FAILED, reason);
	ct_release(w, job, &slots, &n);
	ct_world_tell(w, CT_DID_FAIL, job, ct_live(w, job)->config, slots, n);
	ct_world_forget(w, job);
	return 0;
}

int ct_world_reject(struct ct_world *w, uint32_t job, enum ct_reason reason, struct ct_err *err)
{
	CT_TRY(check_job(w, job, err));
	CT_TRY(check_state(w, job, w->outcome[job].state == CT_JOB_QUEUED, "reject", err));
	leave_queue(w, job, CT_JOB_REJECTED, reason);
	return 0;
}

int ct_world_wake(struct ct_world *w, ct_time t, struct ct_err *err)
{
	size_t at;

	if (t <= w->where.now_us)
		return ct_err_at(err, CT_EPOLICY, NULL, "at t=%.6f s: a wake-up wants a later time, got %.6f s",
				 ct_seconds(w->where.now_us), ct_seconds(t));
	/* Few are pending at a time, and most new ones come first. */
	for (at = w->n_wakes; at > 0 && w->wakes[at - 1] < t; at--)
		;
	if (at > 0 && w->wakes[at - 1] == t)
		return 0;
	CT_GROW(w->wakes, w->cap_wakes, w->n_wakes + 1);
	memmove(w->wakes + at + 1, w->wakes + at, (w->n_wakes - at) * sizeof *w->wakes);
	w->wakes[at] = t;
	w->n_wakes++;
	ct_event_push(&w->events, t, CT_EVENT_TIMER, CT_TIMER_WAKE);
	return 0;
}
