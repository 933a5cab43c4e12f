/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over each table, in the order in which they explain each other: machines,
 * jobs, tasks, groups, instances, sensors. Instances and sensors are added up as
 * they are read, so what is kept grows with the jobs, and with the instances only by
 * a fingerprint each (24 bytes), which finds a worker's second run. */
#include "traces/pai.h"

#include "sim/memory.h"
#include "sim/shown.h"
#include "traces/pai_join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- fingerprints */

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

/* Never 0. */
static uint64_t fingerprint(uint64_t h, const char *s, size_t n)
{
	uint64_t part;

	h = mix(h ^ n * UINT64_C(0x9e3779b97f4a7c15));
	for (; n >= 8; n -= 8, s += 8) {
		memcpy(&part, s, 8);
		h = mix(h ^ part);
	}
	part = 0;
	memcpy(&part, s, n);
	h = mix(h ^ part);
	return h ? h : 1;
}

static uint64_t print_of(struct ct_csv_field f)
{
	return fingerprint(0, f.s, f.n);
}

/* The tables are hit at random, and most of the time of a large trace is misses in
 * them: fewer with huge pages, where the system gives them. */
static void advise(void *p, size_t bytes)
{
	enum { HUGE_PAGE = 1 << 21 };

	if (bytes >= 4 * HUGE_PAGE) {
		uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);

		madvise((char *)from, (bytes - (from - (uintptr_t)p)) & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
	}
}

static void *new_table(size_t n, size_t size)
{
	void *p = ct_calloc(n, size);

	advise(p, n * size);
	return p;
}

static void map_grow(struct ct_pai_map *m)
{
	size_t n = m->slot ? 2 * (m->mask + 1) : 1024;
	struct ct_pai_map_slot *old = m->slot;
	size_t old_n = old ? m->mask + 1 : 0;

	m->slot = new_table(n, sizeof *m->slot);
	m->mask = n - 1;
	for (size_t i = 0; i < old_n; i++) {
		size_t at = old[i].key & m->mask;

		if (!old[i].key)
			continue;
		while (m->slot[at].key)
			at = (at + 1) & m->mask;
		m->slot[at] = old[i];
	}
	free(old);
}

/* The value of a key; a new one gets `value` and *is_new. */
static uint32_t map_claim(struct ct_pai_map *m, uint64_t key, uint32_t value, int *is_new)
{
	size_t at;

	if (!m->slot || m->used + m->used / 3 > m->mask)
		map_grow(m);
	for (at = key & m->mask; m->slot[at].key; at = (at + 1) & m->mask) {
		if (m->slot[at].key == key) {
			*is_new = 0;
			return m->slot[at].value;
		}
	}
	m->slot[at] = (struct ct_pai_map_slot){ key, value };
	m->used++;
	*is_new = 1;
	return value;
}

static uint32_t map_find(const struct ct_pai_map *m, uint64_t key)
{
	if (!m->slot)
		return UINT32_MAX;
	for (size_t at = key & m->mask; m->slot[at].key; at = (at + 1) & m->mask)
		if (m->slot[at].key == key)
			return m->slot[at].value;
	return UINT32_MAX;
}

/* Is the key new? It is in the set from now on. */
static int set_add(struct ct_pai_set *m, uint64_t key)
{
	size_t at;

	if (!m->slot || m->used + m->used / 3 > m->mask) {
		size_t n = m->slot ? 2 * (m->mask + 1) : 1024, old_n = m->slot ? m->mask + 1 : 0;
		uint64_t *old = m->slot;

		m->slot = new_table(n, sizeof *m->slot);
		m->mask = n - 1;
		for (size_t i = 0; i < old_n; i++) {
			for (at = old[i] & m->mask; old[i] && m->slot[at]; at = (at + 1) & m->mask)
				;
			if (old[i])
				m->slot[at] = old[i];
		}
		free(old);
	}
	for (at = key & m->mask; m->slot[at]; at = (at + 1) & m->mask)
		if (m->slot[at] == key)
			return 0;
	m->slot[at] = key;
	m->used++;
	return 1;
}

static void runs_grow(struct ct_pai_runs *m)
{
	size_t n = m->slot ? 2 * (m->mask + 1) : 1024;
	struct ct_pai_run *old = m->slot;
	size_t old_n = old ? m->mask + 1 : 0;

	m->slot = new_table(n, sizeof *m->slot);
	m->mask = n - 1;
	for (size_t i = 0; i < old_n; i++) {
		size_t at = old[i].key & m->mask;

		if (!old[i].key)
			continue;
		while (m->slot[at].key)
			at = (at + 1) & m->mask;
		m->slot[at] = old[i];
	}
	free(old);
}

/* The slot of a worker; key 0 = it was not seen before. */
static struct ct_pai_run *runs_slot(struct ct_pai_runs *m, uint64_t key)
{
	size_t at;

	if (!m->slot || m->used + m->used / 3 > m->mask)
		runs_grow(m);
	for (at = key & m->mask; m->slot[at].key && m->slot[at].key != key; at = (at + 1) & m->mask)
		;
	m->used += !m->slot[at].key;
	return &m->slot[at];
}

/* ---- records */

static void count(struct ct_pai *p, const char *rule, const char *meaning)
{
	ct_workload_count(p->w, rule, meaning, 1, 0);
}

static uint32_t intern(struct ct_pai *p, struct ct_csv_field f)
{
	return ct_strings_add(&p->w->strings, f.s, f.n);
}

/* Task names are two dozen: one seen lately is not hashed again. */
static uint32_t intern_task(struct ct_pai *p, struct ct_csv_field f)
{
	uint32_t *seen = &p->task_name[(f.n + (unsigned char)f.s[0]) % CT_PAI_TASK_NAMES];

	if (!*seen || strcmp(ct_strings_text(&p->w->strings, *seen), f.s) != 0)
		*seen = intern(p, f);
	return *seen;
}

/* The job of a name. UINT32_MAX when it is not known and `may_add` is 0. */
static uint32_t job_named(struct ct_pai *p, struct ct_csv_field f, int may_add, int *is_new)
{
	uint64_t key = print_of(f);
	uint32_t job;

	*is_new = 0;
	if (!may_add)
		return map_find(&p->job_of_name, key);
	job = map_claim(&p->job_of_name, key, (uint32_t)p->n_jobs, is_new);
	if (!*is_new)
		return job;
	if (p->n_jobs == p->cap_jobs) {
		CT_GROW(p->jobs, p->cap_jobs, p->n_jobs + 1);
		advise(p->jobs, p->cap_jobs * sizeof *p->jobs);
	}
	p->jobs[p->n_jobs++] = (struct ct_pai_job){
		.name = ct_workload_text(p->w, f.s, f.n), .status = CT_PAI_NO_STATUS, .start = -1, .end = -1
	};
	return job;
}

/* The task of a job; added when it is new and may be. */
static uint32_t task_named(struct ct_pai *p, uint32_t job, uint32_t name, int may_add, int *is_new)
{
	struct ct_pai_job *j = &p->jobs[job];

	*is_new = 0;
	for (uint32_t t = j->first_task; t; t = p->tasks[t - 1].next)
		if (p->tasks[t - 1].name == name)
			return t - 1;
	if (!may_add)
		return UINT32_MAX;
	if (p->n_tasks == p->cap_tasks) {
		CT_GROW(p->tasks, p->cap_tasks, p->n_tasks + 1);
		advise(p->tasks, p->cap_tasks * sizeof *p->tasks);
	}
	p->tasks[p->n_tasks++] = (struct ct_pai_task){ .name = name,
						       .status = CT_PAI_NO_STATUS,
						       .start = -1,
						       .end = -1,
						       .first_start = -1,
						       .plan_cpu = (double)NAN,
						       .plan_mem = (double)NAN,
						       .plan_gpu = (double)NAN,
						       .max_mem = (double)NAN };
	if (j->last_task)
		p->tasks[j->last_task - 1].next = (uint32_t)p->n_tasks;
	else
		j->first_task = (uint32_t)p->n_tasks;
	j->last_task = (uint32_t)p->n_tasks;
	*is_new = 1;
	return (uint32_t)p->n_tasks - 1;
}

/* A row that ends before it starts has no usable end. */
static void check_order(struct ct_pai *p, ct_time start, ct_time *end)
{
	if (start < 0 || *end < 0 || *end >= start)
		return;
	*end = -1;
	count(p, "reversed_times", "row of a table that ends before it starts; its end counts as missing");
}

static enum ct_pai_status status_cell(struct ct_pai *p, struct ct_csv_field f)
{
	enum ct_pai_status s = ct_pai_status_of(f);

	if (s == CT_PAI_OTHER_STATUS)
		count(p, "other_status", "row of a table with a status that the trace's description lacks");
	return s;
}

/* "CPU" and empty are no GPU. */
static uint32_t gpu_type_cell(struct ct_pai *p, struct ct_csv_field f)
{
	static const char *const known[] = { "MISC", "T4", "P100", "V100", "V100M32" };

	if (!f.n || strcmp(f.s, "CPU") == 0)
		return 0;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(f.s, known[i]) == 0)
			return intern(p, f);
	count(p, "other_gpu_type", "row of a table with a GPU type that the trace's description lacks");
	return intern(p, f);
}

/* ---- rows of each table */

static void machine_row(struct ct_pai *p, struct ct_pai_rows *r)
{
	struct ct_csv_field machine = ct_pai_key(r, 0);
	int is_new;

	if (!r->bad)
		map_claim(&p->type_of_machine, print_of(machine), gpu_type_cell(p, ct_pai_cell(r, 1)), &is_new);
}

static void job_row(struct ct_pai *p, struct ct_pai_rows *r)
{
	struct ct_csv_field name = ct_pai_key(r, 0);
	ct_time start = ct_pai_time(r, 4), end = ct_pai_time(r, 5);
	struct ct_pai_job *j;
	uint32_t job;
	int is_new;

	if (r->bad)
		return;
	job = job_named(p, name, 1, &is_new);
	if (!is_new) {
		count(p, "duplicate_job", "row of the job table with the name of an earlier one; the first is kept");
		return;
	}
	j = &p->jobs[job];
	j->line = (uint32_t)ct_csv_loc(r->in, SIZE_MAX).line;
	j->user = intern(p, ct_pai_cell(r, 2));
	j->status = status_cell(p, ct_pai_cell(r, 3));
	j->start = start;
	j->end = end;
	if (ct_pai_cell(r, 1).n)
		map_claim(&p->job_of_inst, print_of(ct_pai_cell(r, 1)), job, &is_new);
}

/* Whole instances; 0 = not said. */
static uint32_t instances(struct ct_pai_rows *r, size_t i)
{
	double v = ct_pai_number(r, i);

	return v >= 1 && v <= 1e6 ? (uint32_t)ceil(v) : 0;
}

static void task_row(struct ct_pai *p, struct ct_pai_rows *r)
{
	struct ct_csv_field name = ct_pai_key(r, 0), task_name = ct_pai_key(r, 1);
	struct ct_pai_task row = { .inst_num = instances(r, 2),
				   .start = ct_pai_time(r, 4),
				   .end = ct_pai_time(r, 5),
				   .plan_cpu = ct_pai_number(r, 6),
				   .plan_mem = ct_pai_number(r, 7),
				   .plan_gpu = ct_pai_number(r, 8) };
	struct ct_pai_task *t;
	uint32_t job, task;
	int is_new;

	if (r->bad)
		return;
	job = job_named(p, name, !p->have[CT_PAI_JOB], &is_new);
	if (job == UINT32_MAX) {
		count(p, "orphan_task", "row of the task table whose job is not in the job table");
		return;
	}
	task = task_named(p, job, intern_task(p, task_name), 1, &is_new);
	if (!is_new) {
		count(p, "duplicate_task",
		      "row of the task table with job and task of an earlier one; the first is kept");
		return;
	}
	t = &p->tasks[task];
	t->inst_num = row.inst_num;
	t->status = status_cell(p, ct_pai_cell(r, 3));
	t->start = row.start;
	t->end = row.end;
	check_order(p, t->start, &t->end);
	t->plan_cpu = row.plan_cpu;
	t->plan_mem = row.plan_mem;
	t->plan_gpu = row.plan_gpu > 0 ? row.plan_gpu : (double)NAN;
	t->gpu_type = gpu_type_cell(p, ct_pai_cell(r, 9));
	if (!p->jobs[job].line)
		p->jobs[job].line = (uint32_t)ct_csv_loc(r->in, SIZE_MAX).line;
}

static void group_row(struct ct_pai *p, struct ct_pai_rows *r)
{
	struct ct_csv_field inst = ct_pai_key(r, 0);
	uint32_t job;

	if (r->bad)
		return;
	job = map_find(&p->job_of_inst, print_of(inst));
	if (job == UINT32_MAX)
		return; /* a group of jobs that are not here */
	if (p->jobs[job].group) {
		count(p, "duplicate_group", "row of the group table with the job of an earlier one; the first is kept");
		return;
	}
	p->jobs[job].group = intern(p, ct_pai_cell(r, 3));
	p->jobs[job].tag = intern(p, ct_pai_cell(r, 4));
	if (!p->jobs[job].user)
		p->jobs[job].user = intern(p, ct_pai_cell(r, 1));
}

/* A run that terminated; of a worker's several the one that ended last. */
static void done(struct ct_pai *p, struct ct_pai_task *t, uint64_t key, ct_time start, ct_time end)
{
	struct ct_pai_run *run = runs_slot(&p->run, key);

	if (run->key) {
		count(p, "repeated_worker", "terminated row of a worker that terminated before; the later end counts");
		if (end <= run->end)
			return;
		t->done_us -= run->run;
		t->done--;
	}
	*run = (struct ct_pai_run){ key, end, end - start };
	t->done_us += end - start;
	t->done++;
}

static const char *const instance_rule[CT_PAI_STATUSES] = {
	"instances_terminated", "instances_failed",  "instances_interrupted",
	"instances_running",    "instances_waiting", "instances_other",
};

static uint32_t find_or_add_task(struct ct_pai *p, struct ct_csv_field job_name, struct ct_csv_field task_name,
				 const struct ct_pai_rows *r)
{
	int is_new;
	uint32_t job = job_named(p, job_name, !p->have[CT_PAI_JOB] && !p->have[CT_PAI_TASK], &is_new);

	if (job == UINT32_MAX)
		return UINT32_MAX;
	if (is_new)
		p->jobs[job].line = (uint32_t)ct_csv_loc(r->in, SIZE_MAX).line;
	return task_named(p, job, intern_task(p, task_name), !p->have[CT_PAI_TASK], &is_new);
}

/* The task of an instance. Most rows name one that an instance named before, and find
 * it without a look at the job: each look is a miss. */
static uint32_t task_of_instance(struct ct_pai *p, uint64_t key, struct ct_csv_field job_name,
				 struct ct_csv_field task_name, const struct ct_pai_rows *r)
{
	uint32_t task = map_find(&p->task_of_instance, key);
	int is_new;

	if (task != UINT32_MAX)
		return task;
	task = find_or_add_task(p, job_name, task_name, r);
	if (task != UINT32_MAX)
		map_claim(&p->task_of_instance, key, task, &is_new);
	return task;
}

static void add_instance(struct ct_pai_task *t, enum ct_pai_status s, int is_new, ct_time start)
{
	t->rows[s]++;
	t->distinct += is_new != 0;
	if (start >= 0 && (t->first_start < 0 || start < t->first_start))
		t->first_start = start;
}

static void find_machine(const struct ct_pai *p, struct ct_pai_task *t, struct ct_csv_field machine)
{
	uint32_t type;

	if (t->machine_type || !machine.n || !p->type_of_machine.slot)
		return;
	type = map_find(&p->type_of_machine, print_of(machine));
	t->machine_type = type == UINT32_MAX ? 0 : type;
}

static void instance_row(struct ct_pai *p, struct ct_pai_rows *r)
{
	struct ct_csv_field job = ct_pai_key(r, 0), task_name = ct_pai_key(r, 1), inst = ct_pai_cell(r, 2);
	ct_time start = ct_pai_time(r, 6), end = ct_pai_time(r, 7);
	struct ct_csv_field worker = ct_pai_cell(r, 3);
	enum ct_pai_status s;
	uint64_t key, inst_key, run_key;
	uint32_t task;
	int is_new = 1;

	if (r->bad)
		return;
	key = fingerprint(print_of(job), task_name.s, task_name.n);
	inst_key = fingerprint(key, inst.s, inst.n);
	run_key = worker.n ? fingerprint(key, worker.s, worker.n) : inst_key;
	if (p->run.slot)
		__builtin_prefetch(&p->run.slot[run_key & p->run.mask], 1);
	if (p->instance.slot)
		__builtin_prefetch(&p->instance.slot[inst_key & p->instance.mask], 1);
	s = status_cell(p, ct_pai_cell(r, 5));
	s = s == CT_PAI_NO_STATUS ? CT_PAI_OTHER_STATUS : s;
	p->instances[s]++;
	task = task_of_instance(p, key, job, task_name, r);
	if (task == UINT32_MAX) {
		count(p, "orphan_instance", "row of the instance table whose job or task is not in the tables before");
		return;
	}
	check_order(p, start, &end);
	if (!p->have[CT_PAI_TASK] && inst.n)
		is_new = set_add(&p->instance, inst_key);
	add_instance(&p->tasks[task], s, is_new, start);
	if (s == CT_PAI_TERMINATED && start >= 0 && end >= 0)
		done(p, &p->tasks[task], run_key, start, end);
	find_machine(p, &p->tasks[task], ct_pai_cell(r, 8));
}

void ct_pai_add_util(struct ct_pai_util *u, double util)
{
	if (isnan(util))
		return;
	u->rows++;
	u->zero += util == 0;
	u->below_10 += util < 10;
	u->below_50 += util < 50;
	u->sum += util;
	u->max = fmax(u->max, util);
}

static void add_sample(struct ct_pai *p, uint32_t task, double util)
{
	CT_GROW(p->samples, p->cap_samples, p->n_samples + 1);
	p->samples[p->n_samples++] = (struct ct_pai_sample){ task, util };
}

static void sensor_row(struct ct_pai *p, struct ct_pai_rows *r)
{
	struct ct_csv_field job = ct_pai_key(r, 0), task_name = ct_pai_key(r, 1);
	double util = ct_pai_number(r, 7), max_mem = ct_pai_number(r, 11);
	struct ct_pai_task *t;
	uint32_t j, task;
	int is_new;

	if (r->bad)
		return;
	ct_pai_add_util(&p->util, util);
	j = job_named(p, job, 0, &is_new);
	task = j == UINT32_MAX ? UINT32_MAX : task_named(p, j, intern_task(p, task_name), 0, &is_new);
	if (task == UINT32_MAX) {
		count(p, "orphan_sensor", "row of the sensor table whose job or task is not in the tables before");
		return;
	}
	t = &p->tasks[task];
	if (!isnan(util)) {
		t->sensors++;
		t->util += util;
		if (p->o->figures)
			add_sample(p, task, util);
	}
	if (!isnan(max_mem) && !(max_mem <= t->max_mem))
		t->max_mem = max_mem;
}

/* ---- the tables */

static void (*const row_of[CT_PAI_TABLES])(struct ct_pai *, struct ct_pai_rows *) = {
	[CT_PAI_MACHINE_SPEC] = machine_row, [CT_PAI_JOB] = job_row,           [CT_PAI_TASK] = task_row,
	[CT_PAI_GROUP_TAG] = group_row,      [CT_PAI_INSTANCE] = instance_row, [CT_PAI_SENSOR] = sensor_row,
};

static int read_table(struct ct_pai *p, const struct ct_source *s, size_t member, enum ct_pai_table table)
{
	struct ct_pai_rows r = { .table = table, .o = p->o, .w = p->w, .err = p->err };
	int rc;

	CT_TRY(ct_source_csv(s, member, ',', &r.in, p->err));
	while ((rc = ct_pai_next(&r)) == 1) {
		if (!r.bad)
			row_of[table](p, &r);
		if (p->n_jobs >= UINT32_MAX / 2 || p->n_tasks >= UINT32_MAX / 2)
			rc = ct_err_at(p->err, CT_ETRACE, NULL, "more than %u jobs or tasks", UINT32_MAX / 2);
	}
	ct_csv_close(r.in);
	return p->err->code && rc ? (int)p->err->code : rc; /* the first error, also when a later one ended it */
}

/* Which member is which table. */
static int find_tables(const struct ct_source *s, size_t member[CT_PAI_TABLES], struct ct_err *err)
{
	struct ct_loc at = { .file = ct_source_path(s) };

	for (int t = 0; t < CT_PAI_TABLES; t++)
		member[t] = SIZE_MAX;
	for (size_t i = 0; i < ct_source_members(s); i++) {
		const struct ct_member *m = ct_source_member(s, i);
		enum ct_pai_table t = ct_pai_table_of(m->name, m->head, m->head_n);

		if (t == CT_PAI_OTHER)
			continue;
		if (member[t] != SIZE_MAX)
			return ct_err_at(err, CT_ETRACE, &at, "'%s' and '%s' are both a '%s'; leave one of them",
					 ct_source_member(s, member[t])->path, m->path, ct_pai_table_name(t));
		member[t] = i;
	}
	if (member[CT_PAI_JOB] == SIZE_MAX && member[CT_PAI_TASK] == SIZE_MAX && member[CT_PAI_INSTANCE] == SIZE_MAX)
		return ct_err_at(err, CT_ETRACE, &at,
				 "has no jobs: wanted a pai_job_table, pai_task_table or pai_instance_table");
	return 0;
}

static int read_tables(struct ct_pai *p, const struct ct_source *s)
{
	size_t member[CT_PAI_TABLES];

	CT_TRY(find_tables(s, member, p->err));
	for (int t = 0; t < CT_PAI_TABLES; t++)
		p->have[t] = member[t] != SIZE_MAX;
	for (int t = 0; t < CT_PAI_TABLES; t++) {
		if (p->have[t] && row_of[t])
			CT_TRY(read_table(p, s, member[t], (enum ct_pai_table)t));
	}
	for (int k = 0; k < CT_PAI_STATUSES; k++)
		ct_workload_count(p->w, instance_rule[k], "rows of the instance table, by status", p->instances[k], 0);
	return (int)p->err->code;
}

static void fini(struct ct_pai *p)
{
	free(p->jobs);
	free(p->tasks);
	free(p->job_of_name.slot);
	free(p->job_of_inst.slot);
	free(p->type_of_machine.slot);
	free(p->task_of_instance.slot);
	free(p->instance.slot);
	free(p->run.slot);
	free(p->samples);
}

const struct ct_trace_opt ct_pai_opts[] = {
	{ "ps", CT_TRACE_OPT_WORD, offsetof(struct ct_pai_options, ps), "keep", 0, 0, "keep|drop", "",
	  "CPU and memory of parameter servers (task 'ps'): part of their job's request, or left out" },
	{ "infer_below", CT_TRACE_OPT_NUMBER, offsetof(struct ct_pai_options, infer_below_s), "526", 0, 1e9, NULL, "s",
	  "figures: a job on less than one GPU that ends earlier counts as inference, where nothing else says "
	  "training; "
	  "assumed, as in traces/data/pai.csv" },
	{ .name = NULL },
};

int ct_pai_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		struct ct_err *err)
{
	struct ct_pai p = { .w = w, .o = o, .err = err };
	int rc = ct_trace_opts_read(ct_pai_opts, "pai", o, &p.opts, err);

	(void)member; /* the tables belong together */
	if (!rc)
		rc = read_tables(&p, s);
	if (!rc)
		ct_pai_assemble(&p);
	if (!rc && o->figures && p.n_jobs)
		ct_pai_figures(&p, o->figures);
	fini(&p);
	return rc;
}

int ct_pai_recognise(const struct ct_source *s)
{
	for (size_t i = 0; i < ct_source_members(s); i++) {
		const struct ct_member *m = ct_source_member(s, i);
		enum ct_pai_table t = ct_pai_table_of(m->name, m->head, m->head_n);

		if (t == CT_PAI_JOB || t == CT_PAI_TASK || t == CT_PAI_INSTANCE)
			return 1;
	}
	return 0;
}
