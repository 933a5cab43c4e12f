/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clock and life cycle: one loop that pops events in their documented order and
 * moves jobs between states. */
#include "sim/world_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

const char *ct_job_state_name(enum ct_job_state s)
{
	static const char *const name[CT_JOB_STATES] = { "future", "queued",   "starting", "running",
							 "paused", "finished", "failed",   "rejected" };

	return name[s];
}

const char *ct_phase_name(enum ct_phase p)
{
	static const char *const name[CT_PHASES] = { "queue", "profile", "start", "run", "pause", "switch" };

	return name[p];
}

static const struct {
	const char *name, *text;
} reasons[CT_REASONS] = {
	[CT_REASON_NONE] = { "", "" },
	[CT_REASON_PARTITION] = { "no_partition", "names a partition that the cluster does not have" },
	[CT_REASON_GPU_TYPE] = { "no_gpu_type", "names a GPU type that its partition does not have" },
	[CT_REASON_CLUSTER_TOO_SMALL] = { "larger_than_cluster", "wants more GPUs than the cluster has" },
	[CT_REASON_PARTITION_TOO_SMALL] = { "larger_than_partition", "wants more GPUs than its partition has" },
	[CT_REASON_GPU_MEMORY] = { "gpu_memory", "wants more memory a GPU than enough of its GPUs have" },
	[CT_REASON_CPU] = { "cpu", "wants more CPU than the nodes of its partition can give it" },
	[CT_REASON_HOST_MEMORY] = { "host_memory",
				    "wants more host memory than the nodes of its partition can give it" },
	[CT_REASON_PLACEMENT] = { "placement", "fits no node under the policy's placement rule" },
	[CT_REASON_NODE_FAILURE] = { "node_failure", "its node failed" },
	[CT_REASON_KILLED] = { "killed", "was killed" },
};

const char *ct_reason_name(enum ct_reason r)
{
	return reasons[r].name;
}

const char *ct_reason_text(enum ct_reason r)
{
	return reasons[r].text;
}

const char *ct_event_kind_name(enum ct_event_kind k)
{
	static const char *const name[CT_EVENT_KINDS] = { "submit",  "reject",    "start",   "run",
							  "finish",  "fail",      "preempt", "switch",
							  "migrate", "node_down", "node_up", "wake" };

	return name[k];
}

/* ---- can it ever run here? */

static bool class_accepts(const struct ct_world *w, uint32_t class, uint32_t job)
{
	const struct ct_class *k = &w->cluster->classes[class];
	const struct ct_live *l = &w->live[job];

	return k->partition == l->partition && (l->type == CT_NONE || k->type == l->type);
}

/* GPUs of one node that a job of n GPUs could use, given its whole demand of
 * something the node has `capacity` of. */
static uint32_t usable(uint32_t gpus, uint32_t demand, uint32_t n, uint32_t capacity)
{
	uint64_t k;

	if (!demand || !capacity)
		return gpus;
	k = (uint64_t)capacity * n / demand; /* largest k with ceil(demand * k / n) <= capacity */
	return k < gpus ? (uint32_t)k : gpus;
}

/* Compares the smallest gang of a job with what its partition has in all, node
 * shape by node shape, whether up or down, busy or idle. */
static enum ct_reason never_runs(const struct ct_world *w, uint32_t job)
{
	const struct ct_job *j = &w->work->jobs[job];
	const struct ct_live *l = &w->live[job];
	const struct ct_family *f = w->spec.families ? w->spec.families[job] : NULL;
	struct ct_demand d = ct_demand_of(w, job, f ? f->default_config : 0);
	uint64_t any = 0, of_type = 0, with_memory = 0, with_cpu = 0, with_host = 0;

	if (l->partition == CT_NONE)
		return CT_REASON_PARTITION;
	for (uint32_t i = 0; i < w->cluster->n_shapes; i++) {
		const struct ct_node_spec *s = &w->cluster->shapes[i];
		uint32_t class = w->cluster->shape_class[i];

		if (w->cluster->classes[class].partition != l->partition)
			continue;
		any += (uint64_t)s->count * s->gpus;
		if (!class_accepts(w, class, job))
			continue;
		of_type += (uint64_t)s->count * s->gpus;
		if (s->gpu_mem_mib && d.gpu_mem_mib > s->gpu_mem_mib)
			continue;
		with_memory += (uint64_t)s->count * s->gpus;
		with_cpu += (uint64_t)s->count * usable(s->gpus, d.cpu_milli, j->min_gpus, s->cpu_milli);
		with_host += (uint64_t)s->count * usable(s->gpus, d.mem_mib, j->min_gpus, s->mem_mib);
	}
	if (!of_type && any)
		return CT_REASON_GPU_TYPE;
	if (of_type < j->min_gpus)
		return w->cluster->n_partitions > 1 ? CT_REASON_PARTITION_TOO_SMALL : CT_REASON_CLUSTER_TOO_SMALL;
	if (with_memory < j->min_gpus)
		return CT_REASON_GPU_MEMORY;
	if (with_cpu < j->min_gpus)
		return CT_REASON_CPU;
	return with_host < j->min_gpus ? CT_REASON_HOST_MEMORY : CT_REASON_NONE;
}

/* ---- making a world */

/* Partition and type names of the jobs, resolved once a distinct name. A cluster
 * with one unnamed partition takes every job (a trace may name partitions that
 * only a partitioned cluster cares about), and a job that names no partition
 * belongs to the only one there is. */
static void prepare_jobs(struct ct_world *w)
{
	size_t n = w->work->strings.n;
	uint32_t *partition = ct_calloc(n, sizeof *partition), *type = ct_calloc(n, sizeof *type);
	bool one = w->cluster->n_partitions == 1, unnamed = one && !w->cluster->partitions[0][0];

	for (uint32_t i = 0; i < n; i++)
		partition[i] = type[i] = CT_NONE - 1; /* not asked yet */
	for (uint32_t i = 0; i < w->n_jobs; i++) {
		const struct ct_job *j = &w->work->jobs[i];

		if (partition[j->partition] == CT_NONE - 1)
			partition[j->partition] =
			    unnamed || (one && !j->partition)
				? 0
				: ct_cluster_partition(w->cluster, ct_strings_text(&w->work->strings, j->partition));
		if (type[j->gpu_type] == CT_NONE - 1)
			type[j->gpu_type] =
			    ct_cluster_type(w->cluster, ct_strings_text(&w->work->strings, j->gpu_type));
		w->live[i].partition = partition[j->partition];
		w->live[i].type = j->gpu_type ? type[j->gpu_type] : CT_NONE;
		if (j->gpu_type && w->live[i].type == CT_NONE)
			w->live[i].type = CT_NONE - 1; /* a type that no node has */
		w->outcome[i].start_us = w->outcome[i].finish_us = -1;
		w->live[i].node = CT_NONE;
		w->live[i].remaining_us = (double)j->duration_us;
		if (w->spec.families && w->spec.families[i])
			w->live[i].config = w->live[i].next_config = w->spec.families[i]->default_config;
	}
	free(partition);
	free(type);
}

static int check_spec(const struct ct_world_spec *s, struct ct_err *err)
{
	if (s->residents < 1 || s->residents > UINT16_MAX)
		return ct_err_at(err, CT_ECONFIG, NULL, "'sim.residents' wants 1 to %d, got %u", UINT16_MAX,
				 s->residents);
	if (s->warmup_us < 0 || s->until_us <= s->warmup_us)
		return ct_err_at(err, CT_ECONFIG, NULL, "'sim.until' wants to be later than 'sim.warmup'");
	if (s->series_us < 0)
		return ct_err_at(err, CT_ECONFIG, NULL, "'sim.series' wants at least 0");
	if (s->work->n > UINT32_MAX / 2 - 1)
		return ct_err_at(err, CT_ECONFIG, NULL, "%zu jobs are more than %u", s->work->n, UINT32_MAX / 2 - 1);
	return 0;
}

/* The trace says of every job how active it keeps its SMs. */
static bool sm_known(const struct ct_world *w)
{
	for (uint32_t i = 0; i < w->n_jobs; i++) {
		const struct ct_family *f = w->spec.families ? w->spec.families[i] : NULL;

		if (isnan(ct_demand_of(w, i, f ? f->default_config : 0).sm_frac))
			return false;
	}
	return w->n_jobs > 0;
}

struct ct_world *ct_world_new(const struct ct_world_spec *spec, struct ct_err *err)
{
	struct ct_world *w;
	struct ct_cluster *c;

	if (check_spec(spec, err))
		return NULL;
	CT_CHECK(NULL, spec->work->sealed, "a world wants a sealed workload");
	c = ct_cluster_new(&spec->cluster, err);
	if (!c)
		return NULL;
	w = ct_calloc(1, sizeof *w);
	w->spec = *spec;
	w->work = spec->work;
	w->cluster = c;
	w->n_jobs = (uint32_t)spec->work->n;
	w->live = ct_calloc(w->n_jobs, sizeof *w->live);
	w->outcome = ct_calloc(w->n_jobs, sizeof *w->outcome);
	w->gpu_mark = ct_calloc(c->n_gpus, sizeof *w->gpu_mark);
	w->scratch = ct_calloc(c->n_gpus, sizeof *w->scratch);
	w->holders = CT_NONE;
	w->where.seed = spec->seed;
	w->last_finish = -1;
	prepare_jobs(w);
	if (sm_known(w))
		w->gpu_sm_micro = ct_calloc(c->n_gpus, sizeof *w->gpu_sm_micro);
	w->capacity_up_milli = (int64_t)c->capacity_milli;
	ct_event_queue_init(&w->events);
	ct_account_open(w);
	if (w->n_jobs)
		ct_event_push(&w->events, w->work->jobs[0].submit_us, CT_EVENT_ARRIVAL, 0);
	return w;
}

void ct_world_free(struct ct_world *w)
{
	if (!w)
		return;
	ct_event_queue_fini(&w->events);
	ct_cluster_free(w->cluster);
	ct_arena_fini(&w->arena);
	free(w->live);
	free(w->outcome);
	free(w->gpu_mark);
	free(w->scratch);
	free(w->gpu_sm_micro);
	free(w->bins);
	free(w->series);
	free(w->wakes);
	free(w->node_plans);
	free(w->places);
	free(w->happenings);
	free(w);
}

/* ---- moving jobs between states */

void ct_world_tell(struct ct_world *w, enum ct_event_kind kind, uint32_t subject, uint32_t config,
		   const struct ct_slot *slots, uint32_t n_slots)
{
	struct ct_happening h = { w->where.now_us, subject, (uint16_t)kind, (uint16_t)config };

	if (w->spec.record_events) {
		CT_GROW(w->happenings, w->cap_happenings, w->n_happenings + 1);
		w->happenings[w->n_happenings++] = h;
	}
	if (w->spec.observer)
		w->spec.observer(w->spec.observer_ctx, &h, slots, n_slots);
}

void ct_world_enter(struct ct_world *w, uint32_t job, enum ct_job_state state, enum ct_phase left)
{
	struct ct_live *l = &w->live[job];

	w->outcome[job].phase_us[left] += w->where.now_us - l->phase_since;
	l->phase_since = w->where.now_us;
	w->outcome[job].state = (uint8_t)state;
}

/* The phase that a state's time is booked under. */
static enum ct_phase phase_of(const struct ct_world *w, uint32_t job)
{
	switch (w->outcome[job].state) {
	case CT_JOB_STARTING:
		return CT_PHASE_START;
	case CT_JOB_RUNNING:
		return w->live[job].profiling ? CT_PHASE_PROFILE : CT_PHASE_RUN;
	case CT_JOB_PAUSED:
		return w->live[job].paused_as;
	default:
		return CT_PHASE_QUEUE;
	}
}

static bool in_window(const struct ct_world *w, uint32_t job)
{
	ct_time submit = w->work->jobs[job].submit_us;

	return submit >= w->window_start && submit < w->window_end;
}

void ct_world_end_job(struct ct_world *w, uint32_t job, enum ct_job_state state, enum ct_reason reason)
{
	struct ct_outcome *o = &w->outcome[job];

	ct_world_enter(w, job, state, phase_of(w, job));
	o->reason = (uint8_t)reason;
	o->finish_us = w->where.now_us;
	if (in_window(w, job))
		w->window_pending--;
	w->changed = true;
	if (state == CT_JOB_FINISHED) {
		w->n_finished++;
		w->last_finish = w->where.now_us;
	} else if (state == CT_JOB_FAILED) {
		w->n_failed++;
	} else {
		w->n_rejected++;
	}
}

static void arrive(struct ct_world *w, uint32_t job)
{
	enum ct_reason reason = never_runs(w, job);
	struct ct_live *l = &w->live[job];

	l->phase_since = l->settled = w->where.now_us;
	w->outcome[job].state = CT_JOB_QUEUED;
	w->n_submitted++;
	w->window_pending += in_window(w, job);
	if (reason != CT_REASON_NONE) {
		ct_world_end_job(w, job, CT_JOB_REJECTED, reason);
		ct_world_tell(w, CT_DID_REJECT, job, l->config, NULL, 0);
		return;
	}
	w->n_queued++;
	w->queued_milli += ct_job_milli(&w->work->jobs[job]);
	w->changed = true;
	ct_world_tell(w, CT_DID_SUBMIT, job, l->config, NULL, 0);
}

/* All jobs submitted at this instant; the next submission becomes the one pending
 * arrival. */
static void arrivals(struct ct_world *w)
{
	const struct ct_job *jobs = w->work->jobs;

	do {
		arrive(w, w->next_arrival++);
		w->where.event++;
	} while (w->next_arrival < w->n_jobs && jobs[w->next_arrival].submit_us == w->where.now_us);
	w->where.event--; /* the popped event counts itself */
	if (w->next_arrival < w->n_jobs)
		ct_event_push(&w->events, jobs[w->next_arrival].submit_us, CT_EVENT_ARRIVAL, w->next_arrival);
}

static void run(struct ct_world *w, uint32_t job, enum ct_phase left)
{
	const struct ct_live *l = &w->live[job];
	const struct ct_slot *slots = w->cluster->slots + l->first_slot;

	ct_world_enter(w, job, CT_JOB_RUNNING, left);
	w->live[job].settled = w->where.now_us;
	ct_progress_rate(w, job);
	ct_progress_sm(w, slots, l->n_slots);
	ct_world_tell(w, CT_DID_RUN, job, l->config, slots, l->n_slots);
}

static void finish(struct ct_world *w, uint32_t job)
{
	struct ct_live *l = &w->live[job];
	const struct ct_slot *slots;
	uint32_t n;

	l->rate = 0;
	if (l->remaining_us > 0) {
		/* What rounding the end up to a whole microsecond left over. */
		double rest = l->remaining_us;

		w->outcome[job].work_s += rest / 1e6;
		if (w->window_open)
			w->work_gpu_s += rest / 1e6 * (double)ct_job_milli(&w->work->jobs[job]) / 1000;
		l->remaining_us = 0;
	}
	ct_event_cancel(&w->events, l->switching);
	ct_world_end_job(w, job, CT_JOB_FINISHED, CT_REASON_NONE);
	ct_release(w, job, &slots, &n);
	ct_world_tell(w, CT_DID_FINISH, job, l->config, slots, n);
}

/* An activity ends: a cold start, a blocking or non-blocking switch, or the job. */
static void end_of_activity(struct ct_world *w, uint32_t payload)
{
	uint32_t job = payload >> 1;
	struct ct_live *l = &w->live[job];

	if ((payload & 1) == CT_END_SWITCH) {
		l->switching = (ct_event_handle){ 0, 0 };
		l->config = l->next_config;
		const struct ct_slot *slots = w->cluster->slots + l->first_slot;

		ct_progress_rate(w, job);
		ct_progress_rate_neighbours(w, slots, l->n_slots, job);
		ct_progress_sm(w, slots, l->n_slots);
		ct_world_tell(w, CT_DID_RUN, job, l->config, slots, l->n_slots);
		return;
	}
	l->end = (ct_event_handle){ 0, 0 };
	if (w->outcome[job].state == CT_JOB_RUNNING) {
		ct_progress_settle(w, job);
		finish(w, job);
		return;
	}
	run(w, job, phase_of(w, job));
}

static void node_event(struct ct_world *w, const struct ct_node_plan *plan)
{
	const struct ct_node *n = &w->cluster->nodes[plan->node];

	if ((n->up != 0) == plan->up)
		return;
	if (!plan->up) {
		for (uint32_t job = w->holders, next; job != CT_NONE; job = next) {
			const struct ct_live *l = &w->live[job];
			bool here = l->node == plan->node;

			next = l->next;
			for (uint32_t i = 0; i < l->n_slots && !here; i++)
				here = w->cluster->gpus[w->cluster->slots[l->first_slot + i].gpu].node == plan->node;
			if (here)
				ct_requeue(w, job, true);
		}
	}
	ct_cluster_set_up(w->cluster, plan->node, plan->up);
	w->capacity_up_milli += (plan->up ? 1000 : -1000) * (int64_t)n->n_gpus;
	w->changed = true;
	ct_world_tell(w, plan->up ? CT_DID_NODE_UP : CT_DID_NODE_DOWN, plan->node, 0, NULL, 0);
}

static void timer(struct ct_world *w, uint32_t what)
{
	switch (what) {
	case CT_TIMER_WAKE:
		w->n_wakes--;
		w->changed = true;
		ct_world_tell(w, CT_DID_WAKE, CT_NONE, 0, NULL, 0);
		break;
	case CT_TIMER_WARMUP:
		ct_account_window(w, true);
		break;
	case CT_TIMER_UNTIL:
		ct_account_window(w, false);
		if (w->spec.censor)
			w->over = true;
		break;
	}
}

bool ct_world_advance(struct ct_world *w)
{
	struct ct_event e;
	ct_time t;

	if (w->over || w->stopped || !ct_event_peek(&w->events, &e))
		return false;
	t = e.time;
	ct_account_flush(w, t);
	w->where.now_us = t;
	w->changed = false;
	w->in_batch = true;
	do {
		ct_event_pop(&w->events, &e);
		w->where.event++;
		switch (e.class) {
		case CT_EVENT_FINISH:
			end_of_activity(w, e.payload);
			break;
		case CT_EVENT_NODE:
			node_event(w, &w->node_plans[e.payload]);
			break;
		case CT_EVENT_ARRIVAL:
			arrivals(w);
			break;
		case CT_EVENT_TIMER:
		case CT_EVENT_EPOCH:
			timer(w, e.payload);
			break;
		}
	} while (ct_event_peek(&w->events, &e) && e.time == t);
	w->in_batch = false;
	if (!w->spec.censor && t >= w->window_end && !w->window_pending)
		w->over = true;
	return true;
}

bool ct_world_changed(const struct ct_world *w)
{
	return w->changed && !w->over;
}

ct_time ct_world_now(const struct ct_world *w)
{
	return w->where.now_us;
}

ct_time ct_world_next(const struct ct_world *w)
{
	struct ct_event e;

	return ct_event_peek(&w->events, &e) ? e.time : CT_NEVER;
}

void ct_world_stop(struct ct_world *w)
{
	w->stopped = true;
}

bool ct_world_stopped(const struct ct_world *w)
{
	return w->stopped;
}

uint64_t ct_world_events(const struct ct_world *w)
{
	return w->where.event;
}

const struct ct_where *ct_world_where(const struct ct_world *w)
{
	return &w->where;
}

/* ---- what can be read */

const struct ct_world_spec *ct_world_spec_of(const struct ct_world *w)
{
	return &w->spec;
}

const struct ct_cluster *ct_world_cluster(const struct ct_world *w)
{
	return w->cluster;
}

const struct ct_outcome *ct_world_outcomes(const struct ct_world *w)
{
	return w->outcome;
}

enum ct_job_state ct_world_job_state(const struct ct_world *w, uint32_t job)
{
	return (enum ct_job_state)w->outcome[job].state;
}

const struct ct_slot *ct_world_job_slots(const struct ct_world *w, uint32_t job, uint32_t *n)
{
	*n = w->live[job].n_slots;
	return *n ? w->cluster->slots + w->live[job].first_slot : NULL;
}

uint32_t ct_world_job_config(const struct ct_world *w, uint32_t job)
{
	return w->live[job].config;
}

double ct_world_job_remaining_us(const struct ct_world *w, uint32_t job)
{
	const struct ct_live *l = &w->live[job];
	double left = l->remaining_us - (double)(w->where.now_us - l->settled) * l->rate;

	return left > 0 ? left : 0;
}

double ct_world_job_rate(const struct ct_world *w, uint32_t job)
{
	return w->live[job].rate;
}

uint32_t ct_world_job_partition(const struct ct_world *w, uint32_t job)
{
	return w->live[job].partition;
}

uint32_t ct_world_job_type(const struct ct_world *w, uint32_t job)
{
	return w->live[job].type;
}

const uint32_t *ct_world_places(const struct ct_world *w)
{
	return w->places;
}

const struct ct_happening *ct_world_happenings(const struct ct_world *w, size_t *n)
{
	*n = w->n_happenings;
	return w->happenings;
}
