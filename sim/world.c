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
	static const char *const name[CT_EVENT_KINDS] = { "submit",  "reject",  "start",   "run",      "finish",
							  "fail",    "preempt", "switch",  "migrate",  "node_down",
							  "node_up", "wake",    "reserve", "gpu_down", "gpu_up" };

	return name[k];
}

/* ---- can it ever run here? */

/* Beside the cluster's indexes and CT_NONE = any. */
#define NO_SUCH_TYPE (CT_NONE - 1)
#define NOT_ASKED    (CT_NONE - 2)

static bool class_accepts(const struct ct_world *w, uint32_t class, uint32_t job)
{
	const struct ct_class *k = &w->cluster->classes[class];
	const struct ct_live *l = ct_live(w, job);

	return k->partition == l->partition && (l->type == CT_NONE || k->type == l->type);
}

/* GPUs of one node that a job of n GPUs could use, given its whole demand of
 * something the node has `capacity` of. */
static uint32_t usable(uint32_t gpus, uint32_t demand, uint32_t n, uint32_t capacity)
{
	uint64_t k;

	if (!demand || !capacity)
		return gpus;
	if (!n) /* no GPUs: the whole demand on one node, or not */
		return demand <= capacity;
	k = (uint64_t)capacity * n / demand; /* largest k with ceil(demand * k / n) <= capacity */
	return k < gpus ? (uint32_t)k : gpus;
}

/* The first thing there is too little of for the smallest gang; a job without GPUs
 * wants one node with enough of the rest. */
static enum ct_reason judge(const struct ct_job *j, uint32_t n_partitions, uint64_t gpus, uint64_t with_memory,
			    uint64_t with_cpu, uint64_t with_host)
{
	uint64_t wanted = j->num_gpus ? j->min_gpus : 1;

	if (gpus < j->min_gpus)
		return n_partitions > 1 ? CT_REASON_PARTITION_TOO_SMALL : CT_REASON_CLUSTER_TOO_SMALL;
	if (with_memory < j->min_gpus)
		return CT_REASON_GPU_MEMORY;
	if (with_cpu < wanted)
		return CT_REASON_CPU;
	return with_host < wanted ? CT_REASON_HOST_MEMORY : CT_REASON_NONE;
}

/* Compares the smallest gang of a job with what its partition has in all, node
 * shape by node shape, whether up or down, busy or idle. */
static enum ct_reason never_runs(const struct ct_world *w, uint32_t job)
{
	const struct ct_job *j = &w->work->jobs[job];
	const struct ct_live *l = ct_live(w, job);
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
	return of_type || !any ? judge(j, w->cluster->n_partitions, of_type, with_memory, with_cpu, with_host)
			       : CT_REASON_GPU_TYPE;
}

/* ---- making a world */

/* Partition and type names of the jobs, resolved once a distinct name. A cluster
 * with one unnamed partition takes every job (a trace may name partitions that
 * only a partitioned cluster cares about), and a job that names no partition
 * belongs to the only one there is. */
static void resolve_names(struct ct_world *w)
{
	size_t n = w->work->strings.n;
	bool one = w->cluster->n_partitions == 1, unnamed = one && !w->cluster->partitions[0][0];

	w->partition_of = CT_NEW(&w->arena, uint32_t, n);
	w->type_of = CT_NEW(&w->arena, uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		w->partition_of[i] = w->type_of[i] = NOT_ASKED;
	for (uint32_t i = 0; i < w->n_jobs; i++) {
		const struct ct_job *j = &w->work->jobs[i];

		if (w->partition_of[j->partition] == NOT_ASKED)
			w->partition_of[j->partition] =
			    unnamed || (one && !j->partition)
				? 0
				: ct_cluster_partition(w->cluster, ct_strings_text(&w->work->strings, j->partition));
		if (w->type_of[j->gpu_type] == NOT_ASKED)
			w->type_of[j->gpu_type] =
			    ct_cluster_type(w->cluster, ct_strings_text(&w->work->strings, j->gpu_type));
	}
}

/* A record for a job that arrives. */
static struct ct_live *remember(struct ct_world *w, uint32_t job)
{
	const struct ct_job *j = &w->work->jobs[job];
	uint32_t at = w->free_live;
	struct ct_live *l;

	if (at) {
		w->free_live = w->live[at].next;
	} else {
		CT_GROW(w->live, w->cap_live, w->n_live + 1);
		at = w->n_live++;
	}
	w->live_of[job] = at;
	l = &w->live[at];
	memset(l, 0, sizeof *l);
	l->node = CT_NONE;
	l->remaining_us = (double)j->duration_us;
	l->phase_since = l->settled = w->where.now_us;
	l->partition = w->partition_of[j->partition];
	l->type = CT_NONE;
	if (j->gpu_type)
		l->type = w->type_of[j->gpu_type] == CT_NONE ? NO_SUCH_TYPE : w->type_of[j->gpu_type];
	if (w->spec.families && w->spec.families[job])
		l->config = l->next_config = w->spec.families[job]->default_config;
	return l;
}

void ct_world_forget(struct ct_world *w, uint32_t job)
{
	struct ct_live *l = ct_live(w, job);

	w->held_ended += l->held;
	l->next = w->free_live;
	w->free_live = w->live_of[job];
	w->live_of[job] = 0;
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
	w->live_of = ct_calloc(w->n_jobs, sizeof *w->live_of);
	CT_GROW(w->live, w->cap_live, 64);
	w->live[0] = (struct ct_live){ .node = CT_NONE, .partition = CT_NONE, .type = CT_NONE };
	w->n_live = 1;
	w->outcome = ct_calloc(w->n_jobs, sizeof *w->outcome);
	/* Most jobs leave one range; asked for at once, the pages are huge and never move. */
	w->cap_places = 4 * (size_t)w->n_jobs;
	w->places = ct_calloc(w->cap_places, sizeof *w->places);
	CT_GROW(w->attained, w->cap_attained, 1);
	w->attained[0] = (struct ct_attained){ .window_frac = 1 };
	w->n_attained = 1;
	w->gpu_mark = ct_calloc(c->n_gpus, sizeof *w->gpu_mark);
	w->scratch = ct_calloc(c->n_gpus, sizeof *w->scratch);
	w->holders = CT_NONE;
	w->where.seed = spec->seed;
	w->last_finish = -1;
	resolve_names(w);
	for (uint32_t i = 0; i < w->n_jobs; i++)
		w->outcome[i].start_us = w->outcome[i].finish_us = -1;
	if (sm_known(w)) {
		w->gpu_sm_micro = ct_calloc(c->n_gpus, sizeof *w->gpu_sm_micro);
		w->gpu_union_micro = ct_calloc(c->n_gpus, sizeof *w->gpu_union_micro);
	}
	w->capacity_up_milli = (int64_t)c->capacity_milli;
	ct_event_queue_init(&w->events);
	ct_account_open(w);
	if (ct_failures_open(w, err)) {
		ct_world_free(w);
		return NULL;
	}
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
	free(w->live_of);
	free(w->outcome);
	free(w->gpu_mark);
	free(w->scratch);
	free(w->gpu_sm_micro);
	free(w->gpu_union_micro);
	free(w->bins);
	free(w->series);
	free(w->wakes);
	free(w->node_plans);
	free(w->places);
	free(w->happenings);
	free(w->attained);
	ct_log_fini(&w->log);
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
	struct ct_live *l = ct_live(w, job);

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
		return ct_live(w, job)->profiling ? CT_PHASE_PROFILE : CT_PHASE_RUN;
	case CT_JOB_PAUSED:
		return ct_live(w, job)->paused_as;
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
	struct ct_live *l = remember(w, job);
	enum ct_reason reason = never_runs(w, job);

	w->outcome[job].state = CT_JOB_QUEUED;
	w->n_submitted++;
	w->window_pending += in_window(w, job);
	if (reason != CT_REASON_NONE) {
		ct_world_end_job(w, job, CT_JOB_REJECTED, reason);
		ct_world_tell(w, CT_DID_REJECT, job, l->config, NULL, 0);
		ct_world_forget(w, job);
		return;
	}
	w->n_queued++;
	w->queued_milli += ct_job_milli(&w->work->jobs[job]);
	w->changed = true;
	ct_world_tell(w, CT_DID_SUBMIT, job, l->config, NULL, 0);
}

/* Submissions stand sorted in the workload, so the next one is kept beside the heap
 * of events instead of in it: half the pushes and pops of a run. */
static ct_time next_arrival(const struct ct_world *w)
{
	return w->next_arrival < w->n_jobs ? w->work->jobs[w->next_arrival].submit_us : CT_NEVER;
}

/* All jobs submitted at this instant. */
static void arrivals(struct ct_world *w)
{
	while (next_arrival(w) == w->where.now_us) {
		w->where.event++;
		arrive(w, w->next_arrival++);
	}
}

static void run(struct ct_world *w, uint32_t job, enum ct_phase left)
{
	const struct ct_live *l = ct_live(w, job);
	const struct ct_slot *slots = ct_slots_of(w, l);

	ct_world_enter(w, job, CT_JOB_RUNNING, left);
	ct_live(w, job)->settled = w->where.now_us;
	ct_progress_rate(w, job);
	ct_progress_sm(w, slots, l->n_slots);
	ct_world_tell(w, CT_DID_RUN, job, l->config, slots, l->n_slots);
}

static void finish(struct ct_world *w, uint32_t job)
{
	struct ct_live *l = ct_live(w, job);
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
	ct_attain_close(w, job);
	ct_world_end_job(w, job, CT_JOB_FINISHED, CT_REASON_NONE);
	ct_release(w, job, &slots, &n);
	ct_world_tell(w, CT_DID_FINISH, job, l->config, slots, n);
	ct_world_forget(w, job);
}

/* An activity ends: a cold start, a blocking or non-blocking switch, or the job. */
static void end_of_activity(struct ct_world *w, uint32_t payload)
{
	uint32_t job = payload >> 1;
	struct ct_live *l = ct_live(w, job);

	if ((payload & 1) == CT_END_SWITCH) {
		l->switching = (ct_event_handle){ 0, 0 };
		l->config = l->next_config;
		const struct ct_slot *slots = ct_slots_of(w, l);

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

static void handle(struct ct_world *w, const struct ct_event *e)
{
	w->where.event++;
	switch (e->class) {
	case CT_EVENT_FINISH:
		end_of_activity(w, e->payload);
		break;
	case CT_EVENT_NODE:
		ct_failures_event(w, e->payload);
		break;
	case CT_EVENT_ARRIVAL: /* never pushed, see next_arrival() */
	case CT_EVENT_TIMER:
	case CT_EVENT_EPOCH:
		timer(w, e->payload);
		break;
	}
}

/* The pending events of this instant below a class, in their order. */
static void handle_until(struct ct_world *w, enum ct_event_class class)
{
	struct ct_event e;

	while (ct_event_peek(&w->events, &e) && e.time == w->where.now_us && e.class < class) {
		ct_event_pop(&w->events, &e);
		handle(w, &e);
	}
}

/* Failures and a policy's wake-ups go on after the last job; nobody is there to see them,
 * and they are no part of what is measured. */
static bool only_echoes_left(const struct ct_world *w)
{
	return w->n_finished + w->n_failed + w->n_rejected == w->n_jobs && w->window_open;
}

bool ct_world_advance(struct ct_world *w)
{
	ct_time t = ct_world_next(w);

	if (w->over || w->stopped || t == CT_NEVER)
		return false;
	ct_account_flush(w, t);
	w->where.now_us = t;
	w->changed = false;
	w->in_batch = true;
	handle_until(w, CT_EVENT_ARRIVAL);
	arrivals(w);
	handle_until(w, CT_EVENT_EPOCH);
	w->in_batch = false;
	if (!w->spec.censor && t >= w->window_end && !w->window_pending)
		w->over = true;
	if (w->window_end == CT_NEVER && only_echoes_left(w))
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
	ct_time arrival = next_arrival(w);

	return ct_event_peek(&w->events, &e) && e.time < arrival ? e.time : arrival;
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
	*n = ct_live(w, job)->n_slots;
	return *n ? w->cluster->slots + ct_live(w, job)->first_slot : NULL;
}

uint32_t ct_world_job_config(const struct ct_world *w, uint32_t job)
{
	return ct_live(w, job)->config;
}

double ct_world_job_remaining_us(const struct ct_world *w, uint32_t job)
{
	const struct ct_live *l = ct_live(w, job);
	double left = l->remaining_us - (double)(w->where.now_us - l->settled) * l->rate;

	return left > 0 ? left : 0;
}

double ct_world_job_rate(const struct ct_world *w, uint32_t job)
{
	return ct_live(w, job)->rate;
}

uint32_t ct_world_job_partition(const struct ct_world *w, uint32_t job)
{
	return ct_live(w, job)->partition;
}

uint32_t ct_world_job_type(const struct ct_world *w, uint32_t job)
{
	return ct_live(w, job)->type;
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
