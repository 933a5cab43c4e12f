/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view is a mirror: job, node, GPU and group records in the policy's own
 * layout, brought up to date from the world's happenings. The cost of an update is
 * the GPUs that changed. */
#include "scheduler/control_state.h"

static void mirror_gpu(struct ct_control *c, uint32_t gpu)
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

static void mirror_group(struct ct_control *c, uint32_t group)
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

static void mirror_node(struct ct_control *c, uint32_t node)
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

static void mirror_slots(struct ct_control *c, const struct ct_slot *slots, uint32_t n)
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
static void mirror_pools(struct ct_control *c)
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

static struct ct_view_job *job_of(const struct ct_control *c, uint32_t job)
{
	return &c->jobs[c->job_record[job]];
}

struct list {
	uint32_t *first, *last, *n;
};

static struct list queue_of(struct ct_control *c)
{
	return (struct list){ &c->view.queue_first, &c->view.queue_last, &c->view.n_queued };
}

static struct list running_of(struct ct_control *c)
{
	return (struct list){ &c->view.running_first, &c->view.running_last, &c->view.n_running };
}

/* Inserts `job` before `next`; CT_NO_JOB: at the end. */
static void list_insert(struct ct_control *c, struct list l, uint32_t job, uint32_t next)
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

static void list_remove(struct ct_control *c, struct list l, uint32_t job)
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

static void enqueue(struct ct_control *c, uint32_t job)
{
	uint32_t last = c->view.queue_last;
	/* A preempted job returns to its place by submission: before the next that waits. */
	uint32_t next = last == CT_NO_JOB || last < job ? CT_NO_JOB : ct_bits_next(&c->queued, job);

	list_insert(c, queue_of(c), job, next);
	ct_bits_add(&c->queued, job);
}

static void dequeue(struct ct_control *c, uint32_t job)
{
	list_remove(c, queue_of(c), job);
	ct_bits_remove(&c->queued, job);
}

/* A record for a job that was submitted; records of ended jobs are used again. */
static void remember(struct ct_control *c, uint32_t job)
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

static void forget(struct ct_control *c, uint32_t job)
{
	job_of(c, job)->next = c->free_record;
	c->free_record = c->job_record[job];
	c->job_record[job] = 0;
}

static void enter(struct ct_control *c, uint32_t job, enum ct_view_state state)
{
	struct ct_view_job *j = job_of(c, job);

	if (j->state == CT_VIEW_RUNNING)
		j->attained_us += c->view.now_us - j->since_us;
	j->state = state;
	j->since_us = c->view.now_us;
}

static enum ct_view_state holding_state(const struct ct_control *c, uint32_t job)
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

static void mirror_holding(struct ct_control *c, uint32_t job, uint32_t config, uint32_t n_slots)
{
	struct ct_view_job *j = job_of(c, job);
	enum ct_view_state state = holding_state(c, job);

	j->config = config;
	j->gpus_held = n_slots ? n_slots : j->num_gpus;
	if (j->state != state)
		enter(c, job, state);
}

/* Tells the policy; one call in CT_TIMED_EVERY is measured for all. */
static void notify(struct ct_control *c, void (*callback)(void *state, const struct ct_view *v, uint32_t job),
		   uint32_t job)
{
	double start;

	if (!callback)
		return;
	if (c->n_notified++ % CT_TIMED_EVERY) {
		callback(c->state, &c->view, job);
		return;
	}
	start = ct_clock_s(CLOCK_MONOTONIC);
	callback(c->state, &c->view, job);
	start = ct_clock_s(CLOCK_MONOTONIC) - start - c->clock_s;
	if (start > 0 && start < CT_LONG_CALL_US * 1e-6) /* longer: the thread was interrupted */
		c->perf.policy_cpu_s += start * CT_TIMED_EVERY;
}

static void job_ended(struct ct_control *c, uint32_t job)
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

void ct_control_observe(void *ctx, const struct ct_happening *h, const struct ct_slot *slots, uint32_t n_slots)
{
	struct ct_control *c = ctx;
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

static void build_cluster(struct ct_control *c)
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

void ct_control_build_view(struct ct_control *c)
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
				    .gpu_reserve_mib = c->spec->world.gpu_reserve_mib,
				    .attain_floor = c->spec->world.attain_floor };
}
