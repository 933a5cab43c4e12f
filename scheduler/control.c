/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view is a mirror: job, node, GPU and group records in the policy's own
 * layout, brought up to date from the world's happenings. The cost of an update is
 * the GPUs that changed. */
#include "scheduler/control.h"

#include "scheduler/placement.h"
#include "sim/csv.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROGRESS_EVERY = 4096, IDLE_WAKES = 100000, TIMED_CALLS = 1024, TIMED_EVERY = 61, LONG_CALL_US = 200 };

struct control {
	const struct ct_control_spec *spec;
	const struct ct_policy *policy;
	struct ct_world *world;
	const struct ct_workload *work;
	const struct ct_cluster *cluster;
	struct ct_arena arena;
	struct ct_view view;
	struct ct_host host;
	struct ct_plan plan;
	struct ct_placement placement;
	struct ct_bits queued;    /* the jobs in the queue */
	struct ct_view_job *jobs; /* record 0 is that of every job that is not there */
	uint32_t *job_record;     /* job -> its record */
	uint32_t n_records, free_record;
	size_t cap_records;
	struct ct_view_node *nodes;
	struct ct_view_gpu *gpus;
	struct ct_view_group *groups;
	void *state;
	struct ct_err *err;
	bool planning;       /* a happening is the plan's own doing */
	double clock_s;      /* what reading the clock takes */
	bool timing;         /* this call of schedule() is measured */
	double verbs_s;      /* of it spent in the world's verbs */
	uint64_t n_notified; /* callbacks made */
	uint64_t n_started;  /* jobs started so far: did a call achieve anything? */
	struct ct_run_perf perf;
};

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the mirror */

static void mirror_gpu(struct control *c, uint32_t gpu)
{
	const struct ct_gpu *g = &c->cluster->gpus[gpu];
	struct ct_view_gpu *v = &c->gpus[gpu];
	uint32_t slot = g->first_slot;

	v->n_residents = g->n_residents;
	v->used_milli = g->used_milli;
	v->used_mem_mib = g->used_mem_mib;
	for (int i = 0; i < 2; i++) {
		v->resident[i] = slot == CT_NONE ? CT_NO_JOB : c->cluster->slots[slot].job;
		slot = slot == CT_NONE ? CT_NONE : c->cluster->slots[slot].next;
	}
}

static void mirror_group(struct control *c, uint32_t group)
{
	const struct ct_class *k = &c->cluster->classes[group];
	struct ct_view_group *v = &c->groups[group];
	uint32_t most = ct_bits_last(&k->levels);

	v->n_nodes = k->n_nodes_up;
	v->n_gpus = k->n_gpus;
	v->idle_gpus = k->idle_gpus;
	v->max_idle = most == UINT32_MAX ? 0 : most;
}

static uint32_t free_of(uint32_t capacity, uint32_t used)
{
	return capacity == UINT32_MAX ? UINT32_MAX : capacity - used;
}

static void mirror_node(struct control *c, uint32_t node)
{
	const struct ct_node *n = &c->cluster->nodes[node];
	struct ct_view_node *v = &c->nodes[node];

	v->up = n->up;
	v->idle_gpus = n->idle_gpus;
	v->free_cpu_milli = free_of(n->cpu_milli, n->used_cpu_milli);
	v->free_mem_mib = free_of(n->mem_mib, n->used_mem_mib);
	v->free_milli = n->free_milli;
	v->reserved = n->reserved;
	v->down_gpus = n->down_gpus;
}

static void mirror_slots(struct control *c, const struct ct_slot *slots, uint32_t n)
{
	uint32_t node = CT_NONE, group = CT_NONE;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t gpu = slots[i].gpu;

		mirror_gpu(c, gpu);
		if (c->cluster->gpus[gpu].node == node)
			continue;
		node = c->cluster->gpus[gpu].node;
		mirror_node(c, node);
		if (c->cluster->nodes[node].class_id != group) {
			if (group != CT_NONE)
				mirror_group(c, group);
			group = c->cluster->nodes[node].class_id;
		}
	}
	if (group != CT_NONE)
		mirror_group(c, group);
}

/* A pool share changes one node; which one is known only to the cluster. */
static void mirror_pools(struct control *c)
{
	for (uint32_t i = 0; i < c->view.n_nodes; i++) {
		const struct ct_node *n = &c->cluster->nodes[i];

		if (c->nodes[i].free_milli == n->free_milli &&
		    c->nodes[i].free_cpu_milli == free_of(n->cpu_milli, n->used_cpu_milli) &&
		    c->nodes[i].free_mem_mib == free_of(n->mem_mib, n->used_mem_mib))
			continue;
		mirror_node(c, i);
		mirror_group(c, c->nodes[i].group);
	}
}

static struct ct_view_job *job_of(const struct control *c, uint32_t job)
{
	return &c->jobs[c->job_record[job]];
}

struct list {
	uint32_t *first, *last, *n;
};

static struct list queue_of(struct control *c)
{
	return (struct list){ &c->view.queue_first, &c->view.queue_last, &c->view.n_queued };
}

static struct list running_of(struct control *c)
{
	return (struct list){ &c->view.running_first, &c->view.running_last, &c->view.n_running };
}

/* Inserts `job` before `next`; CT_NO_JOB: at the end. */
static void list_insert(struct control *c, struct list l, uint32_t job, uint32_t next)
{
	uint32_t prev = next == CT_NO_JOB ? *l.last : job_of(c, next)->prev;

	job_of(c, job)->next = next;
	job_of(c, job)->prev = prev;
	if (prev == CT_NO_JOB)
		*l.first = job;
	else
		job_of(c, prev)->next = job;
	if (next == CT_NO_JOB)
		*l.last = job;
	else
		job_of(c, next)->prev = job;
	++*l.n;
}

static void list_remove(struct control *c, struct list l, uint32_t job)
{
	struct ct_view_job *j = job_of(c, job);

	if (j->prev == CT_NO_JOB)
		*l.first = j->next;
	else
		job_of(c, j->prev)->next = j->next;
	if (j->next == CT_NO_JOB)
		*l.last = j->prev;
	else
		job_of(c, j->next)->prev = j->prev;
	j->next = j->prev = CT_NO_JOB;
	--*l.n;
}

static void enqueue(struct control *c, uint32_t job)
{
	uint32_t last = c->view.queue_last;
	/* A preempted job returns to its place by submission: before the next that waits. */
	uint32_t next = last == CT_NO_JOB || last < job ? CT_NO_JOB : ct_bits_next(&c->queued, job);

	list_insert(c, queue_of(c), job, next);
	ct_bits_add(&c->queued, job);
}

static void dequeue(struct control *c, uint32_t job)
{
	list_remove(c, queue_of(c), job);
	ct_bits_remove(&c->queued, job);
}

/* A record for a job that was submitted; records of ended jobs are used again. */
static void remember(struct control *c, uint32_t job)
{
	const struct ct_job *j = &c->work->jobs[job];
	const struct ct_family *f = c->spec->world.families ? c->spec->world.families[job] : NULL;
	uint32_t at = c->free_record, config = f ? f->default_config : 0;

	if (at) {
		c->free_record = c->jobs[at].next;
	} else {
		CT_GROW(c->jobs, c->cap_records, c->n_records + 1);
		at = c->n_records++;
		c->view.jobs = (const unsigned char *)c->jobs;
	}
	c->job_record[job] = at;
	c->view.n_jobs = job + 1;
	c->jobs[at] = (struct ct_view_job){ .submit_us = j->submit_us,
					    .deadline_us = j->deadline_us,
					    .num_gpus = j->num_gpus,
					    .min_gpus = j->min_gpus,
					    .max_gpus = j->max_gpus,
					    .gpu_milli = j->gpu_milli,
					    .gpu_mem_mib = f ? f->config[config].gpu_mem_mib : j->gpu_mem_mib,
					    .cpu_milli = f ? f->config[config].cpu_milli : j->cpu_milli,
					    .mem_mib = f ? f->config[config].mem_mib : j->mem_mib,
					    .user = j->user,
					    .group = j->group,
					    .model = j->model,
					    .partition = ct_world_job_partition(c->world, job),
					    .gpu_type = ct_world_job_type(c->world, job),
					    .priority = j->priority,
					    .n_configs = f ? f->n : 1,
					    .default_config = config,
					    .config = config,
					    .next = CT_NO_JOB,
					    .prev = CT_NO_JOB,
					    .start_us = -1 };
}

static void forget(struct control *c, uint32_t job)
{
	job_of(c, job)->next = c->free_record;
	c->free_record = c->job_record[job];
	c->job_record[job] = 0;
}

static void enter(struct control *c, uint32_t job, enum ct_view_state state)
{
	struct ct_view_job *j = job_of(c, job);

	if (j->state == CT_VIEW_RUNNING)
		j->attained_us += c->view.now_us - j->since_us;
	j->state = state;
	j->since_us = c->view.now_us;
}

static enum ct_view_state holding_state(const struct control *c, uint32_t job)
{
	switch (ct_world_job_state(c->world, job)) {
	case CT_JOB_STARTING:
		return CT_VIEW_STARTING;
	case CT_JOB_PAUSED:
		return CT_VIEW_PAUSED;
	default:
		return CT_VIEW_RUNNING;
	}
}

static void mirror_holding(struct control *c, uint32_t job, uint32_t config, uint32_t n_slots)
{
	struct ct_view_job *j = job_of(c, job);
	enum ct_view_state state = holding_state(c, job);

	j->config = config;
	j->gpus_held = n_slots ? n_slots : j->num_gpus;
	if (j->state != state)
		enter(c, job, state);
}

/* Tells the policy; one call in TIMED_EVERY is measured for all. */
static void notify(struct control *c, void (*callback)(void *state, const struct ct_view *v, uint32_t job),
		   uint32_t job)
{
	double start;

	if (!callback)
		return;
	if (c->n_notified++ % TIMED_EVERY) {
		callback(c->state, &c->view, job);
		return;
	}
	start = seconds_of(CLOCK_MONOTONIC);
	callback(c->state, &c->view, job);
	start = seconds_of(CLOCK_MONOTONIC) - start - c->clock_s;
	if (start > 0 && start < LONG_CALL_US * 1e-6) /* longer: the thread was interrupted */
		c->perf.policy_cpu_s += start * TIMED_EVERY;
}

static void job_ended(struct control *c, uint32_t job)
{
	job_of(c, job)->gpus_held = 0;
	enter(c, job, CT_VIEW_ENDED);
	notify(c, c->policy->on_finish, job);
	forget(c, job);
}

static bool may_hold_pool(enum ct_event_kind kind)
{
	return kind == CT_DID_START || kind == CT_DID_FINISH || kind == CT_DID_FAIL || kind == CT_DID_PREEMPT;
}

static void observe(void *ctx, const struct ct_happening *h, const struct ct_slot *slots, uint32_t n_slots)
{
	struct control *c = ctx;
	uint32_t job = h->subject;

	c->view.now_us = h->time;
	if (!n_slots && may_hold_pool((enum ct_event_kind)h->kind))
		mirror_pools(c);
	mirror_slots(c, slots, n_slots);
	switch ((enum ct_event_kind)h->kind) {
	case CT_DID_SUBMIT:
		remember(c, job);
		enter(c, job, CT_VIEW_QUEUED);
		enqueue(c, job);
		notify(c, c->policy->on_submit, job);
		break;
	case CT_DID_START:
		dequeue(c, job);
		list_insert(c, running_of(c), job, CT_NO_JOB);
		mirror_holding(c, job, h->config, n_slots);
		if (job_of(c, job)->start_us < 0)
			job_of(c, job)->start_us = h->time;
		c->n_started++;
		break;
	case CT_DID_RUN:
	case CT_DID_SWITCH:
	case CT_DID_MIGRATE:
		mirror_holding(c, job, h->config, n_slots);
		break;
	case CT_DID_REJECT:
		if (c->view.n_jobs <= job) { /* at its arrival: the policy never sees it */
			c->view.n_jobs = job + 1;
			break;
		}
		dequeue(c, job);
		job_ended(c, job);
		break;
	case CT_DID_FAIL:
	case CT_DID_FINISH:
		if (job_of(c, job)->state == CT_VIEW_QUEUED)
			dequeue(c, job);
		else
			list_remove(c, running_of(c), job);
		job_ended(c, job);
		break;
	case CT_DID_PREEMPT:
		list_remove(c, running_of(c), job);
		enter(c, job, CT_VIEW_QUEUED);
		job_of(c, job)->gpus_held = 0;
		job_of(c, job)->n_preemptions = ct_world_outcomes(c->world)[job].n_preemptions;
		if (ct_world_outcomes(c->world)[job].start_us < 0) /* it was a profile run */
			job_of(c, job)->start_us = -1;
		enqueue(c, job);
		if (!c->planning)
			notify(c, c->policy->on_change, job);
		break;
	case CT_DID_NODE_DOWN:
	case CT_DID_NODE_UP:
		mirror_node(c, job);
		mirror_group(c, c->nodes[job].group);
		notify(c, c->policy->on_change, CT_NO_JOB);
		break;
	case CT_DID_GPU_DOWN:
	case CT_DID_GPU_UP:
		mirror_gpu(c, job);
		mirror_node(c, c->gpus[job].node);
		mirror_group(c, c->nodes[c->gpus[job].node].group);
		notify(c, c->policy->on_change, CT_NO_JOB);
		break;
	case CT_DID_RESERVE:
		mirror_node(c, job);
		mirror_group(c, c->nodes[job].group);
		break;
	case CT_DID_WAKE:
	case CT_EVENT_KINDS:
		break;
	}
}

static void build_cluster(struct control *c)
{
	const struct ct_cluster *k = c->cluster;

	c->nodes = CT_NEW(&c->arena, struct ct_view_node, k->n_nodes);
	c->gpus = CT_NEW(&c->arena, struct ct_view_gpu, k->n_gpus);
	c->groups = CT_NEW(&c->arena, struct ct_view_group, k->n_classes);
	for (uint32_t i = 0; i < k->n_classes; i++) {
		c->groups[i].partition = k->classes[i].partition;
		c->groups[i].gpu_type = k->classes[i].type;
		c->groups[i].max_node_gpus = k->classes[i].max_node_gpus;
		mirror_group(c, i);
	}
	for (uint32_t i = 0; i < k->n_nodes; i++) {
		const struct ct_node *n = &k->nodes[i];

		c->nodes[i].partition = n->partition;
		c->nodes[i].gpu_type = n->type;
		c->nodes[i].group = n->class_id;
		c->nodes[i].first_gpu = n->first_gpu;
		c->nodes[i].n_gpus = n->n_gpus;
		mirror_node(c, i);
	}
	for (uint32_t i = 0; i < k->n_gpus; i++) {
		c->gpus[i].node = k->gpus[i].node;
		c->gpus[i].mem_mib = k->nodes[k->gpus[i].node].gpu_mem_mib;
		mirror_gpu(c, i);
	}
}

static void build_view(struct control *c)
{
	CT_GROW(c->jobs, c->cap_records, 64);
	c->jobs[0] = (struct ct_view_job){ .state = CT_VIEW_ENDED, .next = CT_NO_JOB, .prev = CT_NO_JOB };
	c->n_records = 1;
	c->job_record = CT_NEW(&c->arena, uint32_t, c->work->n + 1);
	ct_bits_init(&c->queued, &c->arena, (uint32_t)c->work->n);
	build_cluster(c);
	c->view = (struct ct_view){ .abi = CT_POLICY_ABI,
				    .size = sizeof c->view,
				    .now_us = ct_world_now(c->world),
				    .jobs = (const unsigned char *)c->jobs,
				    .job_stride = sizeof *c->jobs,
				    .job_record = c->job_record,
				    .queue_first = CT_NO_JOB,
				    .queue_last = CT_NO_JOB,
				    .running_first = CT_NO_JOB,
				    .running_last = CT_NO_JOB,
				    .nodes = (const unsigned char *)c->nodes,
				    .gpus = (const unsigned char *)c->gpus,
				    .groups = (const unsigned char *)c->groups,
				    .node_stride = sizeof *c->nodes,
				    .gpu_stride = sizeof *c->gpus,
				    .group_stride = sizeof *c->groups,
				    .n_nodes = c->cluster->n_nodes,
				    .n_gpus = c->cluster->n_gpus,
				    .n_groups = c->cluster->n_classes,
				    .n_partitions = c->cluster->n_partitions,
				    .n_gpu_types = c->cluster->n_types,
				    .max_residents = c->spec->world.residents,
				    .host = &c->host,
				    .gpu_reserve_mib = c->spec->world.gpu_reserve_mib };
}

/* ---- services */

static void *host_alloc(void *ctx, size_t bytes)
{
	struct control *c = ctx;

	return ct_arena_alloc(&c->arena, bytes, 64);
}

__attribute__((format(printf, 2, 3))) static int policy_error(struct control *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	c->plan.failed = 1;
	return ct_err_at(c->err, CT_EPOLICY, NULL, "policy '%s': %s", c->policy->name, text);
}

static int host_fail(void *ctx, const char *message)
{
	struct control *c = ctx;

	return policy_error(c, "at t=%.6f s: %s", ct_seconds(c->view.now_us), message);
}

static const char *host_text(void *ctx, uint32_t name)
{
	struct control *c = ctx;

	return name < c->work->strings.n ? ct_strings_text(&c->work->strings, name) : "";
}

static int need_oracle(struct control *c, const char *what)
{
	if (c->policy->flags & CT_POLICY_ORACLE)
		return 0;
	return policy_error(c, "%s needs the flag CT_POLICY_ORACLE", what);
}

static int host_estimate(void *ctx, uint32_t job, int mode, double sigma, ct_time *out)
{
	struct control *c = ctx;
	const struct ct_job *j = &c->work->jobs[job];
	struct ct_stream s;
	double us;

	switch (mode) {
	case CT_ESTIMATE_TRUE:
		CT_TRY(need_oracle(c, "the true run time"));
		*out = j->duration_us;
		return 0;
	case CT_ESTIMATE_NOISY:
		ct_stream_init(&s, c->spec->world.seed, CT_RANDOM_ESTIMATE, job);
		us = round((double)j->duration_us * exp(sigma * gsl_ran_gaussian_ziggurat(&s.rng, 1)));
		*out = us < 1 ? 1 : us < (double)CT_TIME_LIMIT ? (ct_time)us : CT_TIME_LIMIT;
		return 0;
	default:
		if (j->requested_us < 0)
			return policy_error(c, "job '%s' has no 'requested_time', which estimate=column wants", j->id);
		*out = j->requested_us < 1 ? 1 : j->requested_us;
		return 0;
	}
}

/* Canonical columns a policy may ask for: numbers, then texts; extra columns follow. */
enum { COLUMN_DURATION = 1 };
static const char *const canonical[] = { "submit_time", "duration", "num_gpus", "gpu_milli",   "requested_time",
					 "deadline",    "priority", "num_cpus", "gpu_mem_mib", "mem_mib",
					 "sm_frac",     "user",     "group",    "model",       "partition",
					 "gpu_type",    "state" };
enum { N_CANONICAL = sizeof canonical / sizeof *canonical, N_NUMBERS = N_CANONICAL - 6 };

static uint32_t host_column(void *ctx, const char *name)
{
	struct control *c = ctx;

	for (uint32_t i = 0; i < N_CANONICAL; i++)
		if (!strcmp(canonical[i], name))
			return i;
	for (size_t i = 0; i < c->work->n_columns; i++)
		if (!strcmp(c->work->columns[i].name, name))
			return (uint32_t)(N_CANONICAL + i);
	return CT_ANY;
}

static int extra_value(struct control *c, size_t column, uint32_t job, double *out)
{
	const struct ct_extra_column *x = &c->work->columns[column];
	const char *text = ct_strings_text(&c->work->strings, x->value[job]);

	if (ct_parse_f64(text, strlen(text), out))
		return policy_error(c, "job '%s': column '%s' wants a number, got '%s'", c->work->jobs[job].id, x->name,
				    text);
	return 0;
}

static int host_value(void *ctx, uint32_t column, uint32_t job, double *out)
{
	struct control *c = ctx;
	const struct ct_job *j = &c->work->jobs[job];
	const double value[N_NUMBERS] = { ct_seconds(j->submit_us),
					  ct_seconds(j->duration_us),
					  j->num_gpus,
					  j->gpu_milli,
					  ct_seconds(j->requested_us),
					  ct_seconds(j->deadline_us),
					  j->priority,
					  j->cpu_milli / 1000.0,
					  j->gpu_mem_mib,
					  j->mem_mib,
					  (double)j->sm_frac };

	if (column >= N_CANONICAL)
		return extra_value(c, column - N_CANONICAL, job, out);
	if (column >= N_NUMBERS)
		return policy_error(c, "column '%s' is not a number", canonical[column]);
	if (column == COLUMN_DURATION)
		CT_TRY(need_oracle(c, "order by 'duration'"));
	*out = value[column];
	return 0;
}

static const char *host_value_text(void *ctx, uint32_t column, uint32_t job)
{
	struct control *c = ctx;
	const struct ct_job *j = &c->work->jobs[job];
	const uint32_t text[] = { j->user, j->group, j->model, j->partition, j->gpu_type, j->state };

	if (column >= N_CANONICAL + c->work->n_columns || column < N_NUMBERS)
		return "";
	return ct_strings_text(&c->work->strings, column < N_CANONICAL
						      ? text[column - N_NUMBERS]
						      : c->work->columns[column - N_CANONICAL].value[job]);
}

static struct ct_place host_place(void *ctx, uint32_t job, int rule, uint32_t residents)
{
	struct control *c = ctx;

	return ct_placement_find(&c->placement, job, (enum ct_place_rule)rule, residents);
}

static int host_could_place(void *ctx, uint32_t job, int rule)
{
	struct control *c = ctx;

	return ct_placement_possible(&c->placement, job, (enum ct_place_rule)rule);
}

static uint32_t host_gpus_of(void *ctx, uint32_t job, uint32_t *gpus, uint32_t cap)
{
	struct control *c = ctx;
	uint32_t n;
	const struct ct_slot *s = ct_world_job_slots(c->world, job, &n);

	for (uint32_t i = 0; i < n && i < cap; i++)
		gpus[i] = s[i].gpu;
	return n;
}

static double host_random(void *ctx, uint64_t entity, uint64_t draw)
{
	struct control *c = ctx;
	struct ct_stream s;
	/* The counter of one block, as the stream would reach it; its first 53 bits answer. */
	uint32_t counter[4], out[4];

	ct_stream_init(&s, c->spec->world.seed, CT_RANDOM_POLICY, entity);
	memcpy(counter, s.state.counter, sizeof counter);
	counter[0] = (uint32_t)draw;
	counter[1] |= (uint32_t)(draw >> 32) & 0xffffff;
	ct_philox_block(s.state.key, counter, out);
	return (double)(((uint64_t)out[0] << 32 | out[1]) >> 11) * 0x1p-53;
}

static double host_remaining(void *ctx, uint32_t job)
{
	struct control *c = ctx;

	return ct_world_job_remaining_us(c->world, job);
}

static uint32_t host_partition(void *ctx, const char *name)
{
	struct control *c = ctx;

	return ct_cluster_partition(c->cluster, name);
}

static void build_host(struct control *c)
{
	c->host = (struct ct_host){ .size = sizeof c->host,
				    .ctx = c,
				    .alloc = host_alloc,
				    .fail = host_fail,
				    .text = host_text,
				    .estimate_us = host_estimate,
				    .column = host_column,
				    .value = host_value,
				    .place = host_place,
				    .could_place = host_could_place,
				    .gpus_of = host_gpus_of,
				    .random = host_random,
				    .oracle_remaining_us = c->policy->flags & CT_POLICY_ORACLE ? host_remaining : NULL,
				    .value_text = host_value_text,
				    .partition = host_partition };
}

/* ---- the plan: every action is a verb of the world; a refusal is the policy's error */

static int act(struct ct_plan *p, int rc, const struct ct_err *e)
{
	struct control *c = p->ctx;

	return rc ? policy_error(c, "%s", e->text) : 0;
}

/* A verb with its own error object, so that the message can name the policy. */
#define ACT(plan, call)                                                                 \
	do {                                                                            \
		struct control *c = (plan)->ctx;                                        \
		struct ct_err e;                                                        \
		double start;                                                           \
		int rc;                                                                 \
                                                                                        \
		if ((plan)->failed)                                                     \
			return (plan)->failed;                                          \
		e.code = CT_OK;                                                         \
		e.count = e.kept = 0;                                                   \
		e.used = 0;                                                             \
		start = c->timing ? seconds_of(CLOCK_MONOTONIC) : 0;                    \
		c->planning = true;                                                     \
		rc = (call);                                                            \
		c->planning = false;                                                    \
		if (c->timing)                                                          \
			c->verbs_s += seconds_of(CLOCK_MONOTONIC) - start - c->clock_s; \
		return act((plan), rc, &e);                                             \
	} while (0)

static int plan_start(struct ct_plan *p, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n)
{
	ACT(p, ct_world_start(c->world, job, config, gpus, n, &e));
}

static int plan_start_pool(struct ct_plan *p, uint32_t job, uint32_t config, uint32_t node)
{
	ACT(p, ct_world_start_pool(c->world, job, config, node, &e));
}

static int plan_preempt(struct ct_plan *p, uint32_t job)
{
	ACT(p, ct_world_preempt(c->world, job, &e));
}

static int plan_migrate(struct ct_plan *p, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n)
{
	ACT(p, ct_world_migrate(c->world, job, config, gpus, n, &e));
}

static int plan_reconfigure(struct ct_plan *p, uint32_t job, uint32_t config)
{
	ACT(p, ct_world_reconfigure(c->world, job, config, &e));
}

static int plan_reject(struct ct_plan *p, uint32_t job)
{
	ACT(p, ct_world_reject(c->world, job, CT_REASON_PLACEMENT, &e));
}

static int plan_wake(struct ct_plan *p, ct_time t)
{
	ACT(p, ct_world_wake(c->world, t, &e));
}

static int plan_reserve(struct ct_plan *p, uint32_t node, int how)
{
	enum ct_reserve r = how == 0 ? CT_RESERVE_NOT : how == 1 ? CT_RESERVE_FOR_GOOD : CT_RESERVE_FOR_NOW;

	ACT(p, ct_world_reserve(c->world, node, r, &e));
}

static int plan_profile(struct ct_plan *p, uint32_t job, uint32_t config, const uint32_t *gpus, uint32_t n)
{
	ACT(p, ct_world_profile(c->world, job, config, gpus, n, &e));
}

/* ---- the loop */

/* Seconds of the policy's own work in one call of schedule(): the world's verbs,
 * which it calls through the plan, are engine. The monotonic clock costs
 * tens of nanoseconds, but runs on while the thread is off the processor; the
 * thread's CPU clock is a system call, dearer than a short pass. So the first
 * measures, less what reading it takes, and the second corrects only calls long
 * enough to have been interrupted. */
static int timed_schedule(struct control *c, double *s)
{
	double cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID), start = seconds_of(CLOCK_MONOTONIC);
	int rc;

	c->timing = true;
	c->verbs_s = 0;
	rc = c->policy->schedule(c->state, &c->view, &c->plan);
	c->timing = false;
	*s = seconds_of(CLOCK_MONOTONIC) - start - c->clock_s;
	if (*s > LONG_CALL_US * 1e-6) {
		cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
		*s = cpu < *s ? cpu : *s;
	}
	*s -= c->verbs_s;
	*s = *s > 0 ? *s : 0;
	return rc;
}

/* What two readings of the monotonic clock are apart, at best. */
static double clock_cost(void)
{
	double least = 1;

	for (int i = 0; i < 64; i++) {
		double t = seconds_of(CLOCK_MONOTONIC), d = seconds_of(CLOCK_MONOTONIC) - t;

		least = d < least ? d : least;
	}
	return least;
}

/* The first calls are timed, then one in TIMED_EVERY stands for its neighbours. */
static int ask(struct control *c)
{
	uint64_t n = c->perf.schedules++;
	double s = 0;
	int rc;

	if (n < TIMED_CALLS || n % TIMED_EVERY == 0) {
		rc = timed_schedule(c, &s);
		c->perf.policy_cpu_s += n < TIMED_CALLS ? s : s * TIMED_EVERY;
		if (s * 1e3 > c->perf.schedule_max_ms)
			c->perf.schedule_max_ms = s * 1e3;
	} else {
		rc = c->policy->schedule(c->state, &c->view, &c->plan);
	}
	if (rc && !c->plan.failed)
		return policy_error(c, "at t=%.6f s: schedule() returned %d without a reason",
				    ct_seconds(c->view.now_us), rc);
	return c->plan.failed;
}

/* The next point of a policy's grid at or after t. */
static ct_time on_grid(ct_time t, ct_time period)
{
	ct_time k = t / period + (t % period != 0);

	return k * period;
}

/* Should the policy be asked at this instant? A periodic policy is woken at the
 * next point of its grid instead. */
static int is_due(struct control *c, bool *due)
{
	ct_time period = c->spec->period_us > 0 ? c->spec->period_us : c->policy->period_us,
		now = ct_world_now(c->world), grid;

	*due = ct_world_changed(c->world);
	if (!*due || period <= 0)
		return 0;
	grid = on_grid(now, period);
	if (grid == now)
		return 0;
	*due = false;
	return ct_world_wake(c->world, grid, c->err);
}

static void report_progress(struct control *c, bool last)
{
	struct ct_account a;

	if (!c->spec->progress)
		return;
	if (!last && ct_world_events(c->world) / PROGRESS_EVERY == c->perf.events / PROGRESS_EVERY)
		return;
	c->perf.events = ct_world_events(c->world);
	ct_world_account(c->world, &a);
	c->spec->progress(c->spec->progress_ctx, a.finished + a.failed + a.rejected, c->work->n, c->perf.events,
			  ct_world_now(c->world));
}

/* A policy that only wakes itself, with nobody running and nobody to come, would
 * go on for ever. */
static bool is_stuck(struct control *c, uint64_t started_before, uint64_t *idle_wakes)
{
	bool moving = c->view.n_running > 0 || c->view.n_jobs < c->work->n || c->n_started != started_before;

	*idle_wakes = moving ? 0 : *idle_wakes + 1;
	return *idle_wakes > IDLE_WAKES;
}

static int loop(struct control *c)
{
	uint64_t idle_wakes = 0;

	while (ct_world_advance(c->world)) {
		uint64_t started = c->n_started;
		bool due;

		c->view.now_us = ct_world_now(c->world);
		CT_TRY(is_due(c, &due));
		if (due)
			CT_TRY(ask(c));
		if (c->spec->interrupt && *c->spec->interrupt)
			ct_world_stop(c->world);
		if (is_stuck(c, started, &idle_wakes))
			break;
		report_progress(c, false);
	}
	report_progress(c, true);
	return 0;
}

static int begin(struct control *c)
{
	struct ct_world_spec spec = c->spec->world;

	spec.observer = observe;
	spec.observer_ctx = c;
	c->world = ct_world_new(&spec, c->err);
	if (!c->world)
		return (int)c->err->code;
	c->work = spec.work;
	c->cluster = ct_world_cluster(c->world);
	c->state = ct_arena_alloc(&c->arena, c->policy->state_size ? c->policy->state_size : 1, 64);
	if (c->spec->policy_state)
		memcpy(c->state, c->spec->policy_state, c->policy->state_size);
	build_host(c);
	build_view(c);
	ct_placement_init(&c->placement, c->world);
	c->plan = (struct ct_plan){ .size = sizeof c->plan,
				    .ctx = c,
				    .start = plan_start,
				    .start_pool = plan_start_pool,
				    .preempt = plan_preempt,
				    .migrate = plan_migrate,
				    .reconfigure = plan_reconfigure,
				    .reject = plan_reject,
				    .wake = plan_wake,
				    .reserve = plan_reserve,
				    .profile = plan_profile };
	if (c->policy->init) {
		int rc = c->policy->init(c->state, &c->view);

		if (rc && !c->plan.failed)
			return policy_error(c, "init() returned %d without a reason", rc);
		return c->plan.failed ? (int)CT_EPOLICY : 0;
	}
	return 0;
}

int ct_control_run(const struct ct_control_spec *spec, struct ct_world **out, struct ct_run_perf *perf,
		   struct ct_err *err)
{
	struct control *c = ct_calloc(1, sizeof *c);
	double t0;
	int rc;

	c->spec = spec;
	c->policy = spec->policy;
	c->err = err;
	c->clock_s = clock_cost();
	rc = begin(c);
	t0 = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	if (!rc && loop(c))
		rc = (int)err->code;
	c->perf.cpu_s = seconds_of(CLOCK_THREAD_CPUTIME_ID) - t0;
	if (c->state && c->policy->fini)
		c->policy->fini(c->state);
	if (!rc)
		rc = ct_world_finish(c->world, err);
	if (!rc) {
		c->perf.events = ct_world_events(c->world);
		c->perf.schedule_mean_ms =
		    c->perf.schedules ? c->perf.policy_cpu_s * 1e3 / (double)c->perf.schedules : 0;
		if (perf)
			*perf = c->perf;
		*out = c->world;
	} else {
		ct_world_free(c->world);
	}
	ct_placement_fini(&c->placement);
	free(c->jobs);
	ct_arena_fini(&c->arena);
	free(c);
	return rc;
}
