/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the joined records to the workload's jobs: what is dropped, what is assumed
 * where a table is absent, and how several tasks become one gang. */
#include "traces/pai_join.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TASK_NAME, INST_NUM, PLAN_GPU, WAIT, GPU_UTIL, TAG, COLUMNS };

struct assembly {
	struct ct_pai *p;
	size_t column[COLUMNS];
	int has[COLUMNS];
	uint32_t ps; /* the name of parameter servers, which use no GPU */
};

/* What the tasks of one job add up to. */
struct demand {
	uint64_t gpus, gpu_milli, cpu_milli, mem_mib, instances;
	uint32_t share, gpu_type; /* of each GPU; 0 = they differ */
	int uneven, rounded, from_machine;
	double plan_gpu, util, gpu_mem_gb;
	uint64_t sensors;
};

static void remark(const struct assembly *a, const char *rule, const char *meaning)
{
	ct_workload_count(a->p->w, rule, meaning, 1, 0);
}

static void drop(const struct assembly *a, const char *rule, const char *meaning)
{
	ct_workload_count(a->p->w, rule, meaning, 1, 1);
}

/* ---- which tasks decide */

static int asks_gpu(const struct assembly *a, const struct ct_pai_task *t)
{
	if (a->p->have[CT_PAI_TASK])
		return t->plan_gpu > 0;
	return t->name != a->ps; /* no table says so; parameter servers never do */
}

/* Tasks with a GPU, or all of them when there is none. */
static int any_gpu(const struct assembly *a, const struct ct_pai_job *j)
{
	for (uint32_t k = j->first_task; k; k = a->p->tasks[k - 1].next)
		if (asks_gpu(a, &a->p->tasks[k - 1]))
			return 1;
	return 0;
}

static enum ct_pai_status task_status(const struct ct_pai_task *t)
{
	static const enum ct_pai_status order[] = { CT_PAI_FAILED, CT_PAI_INTERRUPTED, CT_PAI_RUNNING, CT_PAI_WAITING,
						    CT_PAI_OTHER_STATUS };

	if (t->status != CT_PAI_NO_STATUS)
		return t->status;
	if (t->done)
		return CT_PAI_TERMINATED;
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (t->rows[order[i]])
			return order[i];
	return t->rows[CT_PAI_TERMINATED] ? CT_PAI_TERMINATED : CT_PAI_NO_STATUS;
}

/* The job table's, or the worst of the tasks that decide. */
static enum ct_pai_status job_status(const struct assembly *a, const struct ct_pai_job *j, int gpu)
{
	enum ct_pai_status worst = CT_PAI_NO_STATUS;

	if (j->status != CT_PAI_NO_STATUS)
		return j->status;
	for (uint32_t k = j->first_task; k; k = a->p->tasks[k - 1].next) {
		const struct ct_pai_task *t = &a->p->tasks[k - 1];
		enum ct_pai_status s = task_status(t);

		if (gpu && !asks_gpu(a, t))
			continue;
		if (worst == CT_PAI_NO_STATUS || worst == CT_PAI_TERMINATED || (s != CT_PAI_TERMINATED && s < worst))
			worst = s;
	}
	return worst;
}

static int drop_by_status(const struct assembly *a, enum ct_pai_status s)
{
	static const char *const rule[] = { [CT_PAI_FAILED] = "dropped_failed",
					    [CT_PAI_INTERRUPTED] = "dropped_interrupted",
					    [CT_PAI_RUNNING] = "dropped_running",
					    [CT_PAI_WAITING] = "dropped_waiting",
					    [CT_PAI_OTHER_STATUS] = "dropped_other_status",
					    [CT_PAI_NO_STATUS] = "dropped_other_status" };

	if (s == CT_PAI_TERMINATED)
		return 0;
	drop(a, rule[s], "job that did not end well, so its run time is not known");
	return 1;
}

/* ---- times */

static ct_time task_run(const struct ct_pai_task *t, int *from_task)
{
	if (t->done)
		return t->done_us / t->done;
	if (t->start < 0 || t->end < 0)
		return -1;
	*from_task = 1;
	return t->end - t->start;
}

/* The longest of the tasks that decide; -1 = none has one. */
static ct_time job_run(const struct assembly *a, const struct ct_pai_job *j, int gpu)
{
	ct_time longest = -1;
	int from_task = 0;

	for (uint32_t k = j->first_task; k; k = a->p->tasks[k - 1].next) {
		const struct ct_pai_task *t = &a->p->tasks[k - 1];
		ct_time run;

		if (gpu && !asks_gpu(a, t))
			continue;
		run = task_run(t, &from_task);
		if (run > longest)
			longest = run;
	}
	if (longest >= 0 && from_task)
		remark(a, "run_time_from_task",
		       "job without a terminated instance: run time is the task's end - start, queueing included");
	if (longest < 0 && j->start >= 0 && j->end >= j->start) {
		remark(a, "run_time_from_job", "job without run times of tasks: run time is the job's end - start");
		longest = j->end - j->start;
	}
	return longest;
}

static ct_time first_of(const struct assembly *a, const struct ct_pai_job *j, int instance)
{
	ct_time first = -1;

	for (uint32_t k = j->first_task; k; k = a->p->tasks[k - 1].next) {
		ct_time t = instance ? a->p->tasks[k - 1].first_start : a->p->tasks[k - 1].start;

		if (t >= 0 && (first < 0 || t < first))
			first = t;
	}
	return first;
}

static ct_time job_submit(const struct assembly *a, const struct ct_pai_job *j)
{
	ct_time t = j->start >= 0 ? j->start : first_of(a, j, 0);

	if (t >= 0)
		return t;
	t = first_of(a, j, 1);
	if (t >= 0)
		remark(a, "submit_from_instance",
		       "no submission in the tables: the first start of an instance stands for it");
	return t;
}

/* Fills in the job's times; 0 when it has none and was dropped. */
static int times(const struct assembly *a, const struct ct_pai_job *j, int gpu, struct ct_job *out)
{
	out->submit_us = job_submit(a, j);
	if (j->start >= 0 && j->end >= 0 && j->end < j->start) {
		drop(a, "dropped_reversed_times", "job that ends before it starts");
		return 0;
	}
	out->duration_us = out->submit_us < 0 || (a->p->have[CT_PAI_JOB] && j->end < 0) ? -1 : job_run(a, j, gpu);
	if (out->duration_us < 0) {
		drop(a, "dropped_no_times", "terminated job without submission or without run time");
		return 0;
	}
	if (out->duration_us == 0) {
		remark(a, "one_second", "job that ended in the second in which it started: run time 1 s");
		out->duration_us = CT_SECOND;
	}
	return 1;
}

/* ---- sizes */

static void add_gpus(struct demand *d, const struct ct_pai_task *t, uint32_t n, double plan)
{
	uint32_t devices = plan > 100 ? (uint32_t)ceil(plan / 100) : 1, share = 1000;

	if (plan < 100) {
		share = (uint32_t)lround(plan * 10);
		share = share ? share : 1;
	}
	d->rounded |= plan > 100 && fmod(plan, 100) > 0;
	d->uneven |= d->gpus && d->share != share;
	d->share = share;
	d->plan_gpu = d->gpus ? d->plan_gpu : plan;
	d->gpus += (uint64_t)n * devices;
	d->gpu_milli += (uint64_t)n * devices * share;
	d->util += t->util;
	d->sensors += t->sensors;
	if (!isnan(t->max_mem) && t->max_mem / devices > d->gpu_mem_gb)
		d->gpu_mem_gb = t->max_mem / devices;
	if (!d->gpu_type)
		d->gpu_type = t->gpu_type;
	if (!d->gpu_type) {
		d->gpu_type = t->machine_type;
		d->from_machine = t->machine_type != 0;
	}
}

static void add_task(const struct assembly *a, const struct ct_pai_task *t, struct demand *d)
{
	uint32_t n = t->inst_num ? t->inst_num : t->distinct ? t->distinct : 1;
	double plan = a->p->have[CT_PAI_TASK] ? t->plan_gpu : 100;

	if (asks_gpu(a, t)) {
		add_gpus(d, t, n, plan < 1e5 ? plan : 1e5);
		d->instances += n;
	} else if (t->name == a->ps && a->p->opts.ps == CT_PAI_PS_DROP)
		return;
	if (t->plan_cpu > 0 && t->plan_cpu < 1e7)
		d->cpu_milli += (uint64_t)ceil(n * t->plan_cpu * 10);
	if (t->plan_mem > 0 && t->plan_mem < 1e7)
		d->mem_mib += (uint64_t)ceil(n * t->plan_mem * 1024);
}

static struct demand demand_of(const struct assembly *a, const struct ct_pai_job *j)
{
	struct demand d = { 0 };

	for (uint32_t k = j->first_task; k; k = a->p->tasks[k - 1].next)
		add_task(a, &a->p->tasks[k - 1], &d);
	if (!j->first_task && !a->p->have[CT_PAI_TASK]) /* the job table alone */
		d.gpus = d.instances = 1, d.gpu_milli = d.share = 1000, d.plan_gpu = 100;
	return d;
}

/* 0 when the job cannot be placed, and was dropped. */
static int sizes(const struct assembly *a, const struct demand *d, struct ct_job *out)
{
	if ((!d->gpus && !d->cpu_milli) || d->gpus > UINT32_MAX || d->cpu_milli > UINT32_MAX ||
	    d->mem_mib > UINT32_MAX) {
		drop(a, "dropped_no_request", "job whose tasks ask for nothing that is known, or for too much");
		return 0;
	}
	out->num_gpus = (uint32_t)d->gpus;
	out->cpu_milli = (uint32_t)d->cpu_milli;
	out->mem_mib = (uint32_t)d->mem_mib;
	out->gpu_type = d->gpu_type;
	if (!d->gpus) {
		remark(a, "cpu_only_job", "no GPU, only CPU");
		return 1;
	}
	out->gpu_milli = d->uneven ? (uint32_t)((d->gpu_milli + d->gpus - 1) / d->gpus) : d->share;
	if (d->uneven)
		remark(a, "uneven_share",
		       "job whose tasks ask for different shares of a GPU: the sum spread over its GPUs");
	if (d->rounded)
		remark(a, "rounded_gpus", "more than one GPU but not whole ones: rounded up");
	if (d->from_machine)
		remark(a, "gpu_type_from_machine", "job without a GPU type: that of the machine it ran on");
	if (d->sensors)
		out->sm_frac = (float)fmin(1, d->util / (double)d->sensors / 100 / fmax(1, ceil(d->plan_gpu / 100)));
	out->gpu_mem_mib = d->gpu_mem_gb < 1e6 ? (uint32_t)ceil(d->gpu_mem_gb * 1024) : 0;
	return 1;
}

/* ---- the other columns */

static void set(const struct assembly *a, int column, uint32_t job, const char *text)
{
	if (a->has[column])
		ct_workload_set_extra(a->p->w, a->column[column], job, text, strlen(text));
}

static void number(const struct assembly *a, int column, uint32_t job, double v)
{
	char text[32];

	snprintf(text, sizeof text, "%.7g", v);
	set(a, column, job, text);
}

/* "ps+worker", in the order of the tables. */
static void task_names(const struct assembly *a, const struct ct_pai_job *j, uint32_t job)
{
	const struct ct_strings *s = &a->p->w->strings;
	char text[256];
	size_t n = 0;

	for (uint32_t k = j->first_task; k; k = a->p->tasks[k - 1].next) {
		const char *name = ct_strings_text(s, a->p->tasks[k - 1].name);
		size_t len = strlen(name);

		if (n + len + 2 > sizeof text)
			break;
		if (n)
			text[n++] = '+';
		memcpy(text + n, name, len);
		n += len;
	}
	text[n] = '\0';
	set(a, TASK_NAME, job, text);
}

static void extras(const struct assembly *a, const struct ct_pai_job *j, const struct demand *d, uint32_t job)
{
	ct_time task = first_of(a, j, 0), start = first_of(a, j, 1);

	task_names(a, j, job);
	if (d->instances)
		number(a, INST_NUM, job, (double)d->instances);
	if (d->gpus)
		number(a, PLAN_GPU, job, d->plan_gpu);
	if (task >= 0 && start >= task)
		number(a, WAIT, job, ct_seconds(start - task));
	if (d->sensors)
		number(a, GPU_UTIL, job, d->util / (double)d->sensors);
	set(a, TAG, job, ct_strings_text(&a->p->w->strings, j->tag));
}

/* ---- jobs */

static int is_partial(const struct assembly *a, const struct ct_pai_job *j, int gpu)
{
	for (uint32_t k = j->first_task; k; k = a->p->tasks[k - 1].next) {
		const struct ct_pai_task *t = &a->p->tasks[k - 1];

		if ((!gpu || asks_gpu(a, t)) && t->done && t->done < (t->inst_num ? t->inst_num : t->distinct))
			return 1;
	}
	return 0;
}

static void add_job(const struct assembly *a, const struct ct_pai_job *j)
{
	struct ct_job out = CT_JOB_INIT;
	int gpu = any_gpu(a, j);
	struct demand d;

	if (drop_by_status(a, job_status(a, j, gpu)) || !times(a, j, gpu, &out))
		return;
	d = demand_of(a, j);
	if (!sizes(a, &d, &out))
		return;
	if (is_partial(a, j, gpu))
		remark(a, "partial_job", "not all instances have a terminated run; run time is of those that do");
	if (a->p->have[CT_PAI_GROUP_TAG] && !j->group)
		remark(a, "no_group", "job without a group tag: alone in its group");
	out.id = j->name;
	out.user = j->user;
	out.group = j->group;
	out.line = j->line;
	out.state = ct_strings_add(&a->p->w->strings, "Terminated", 10);
	extras(a, j, &d, ct_workload_add(a->p->w, &out));
}

/* Says what the absent tables leave open. */
static void missing_tables(const struct ct_pai *p)
{
	static const struct {
		enum ct_pai_table table;
		const char *rule, *meaning;
	} unknown[] = {
		{ CT_PAI_JOB, "no_job_table", "no pai_job_table: users unknown, status and submission from the tasks" },
		{ CT_PAI_TASK, "no_task_table",
		  "no pai_task_table: requests unknown; one whole GPU an instance, none for task 'ps'" },
		{ CT_PAI_INSTANCE, "no_instance_table",
		  "no pai_instance_table: run times include queueing, waiting unknown" },
		{ CT_PAI_GROUP_TAG, "no_group_tag_table", "no pai_group_tag_table: groups and workload tags unknown" },
		{ CT_PAI_SENSOR, "no_sensor_table", "no pai_sensor_table: utilisation and GPU memory unknown" },
	};

	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		if (!p->have[unknown[i].table])
			ct_workload_count(p->w, unknown[i].rule, unknown[i].meaning, p->n_jobs, 0);
}

static void columns(struct assembly *a)
{
	static const char *const name[COLUMNS] = { "task_name", "instances", "plan_gpu", "wait_s", "gpu_util", "tag" };
	const int *have = a->p->have;

	a->has[TASK_NAME] = a->has[INST_NUM] = have[CT_PAI_TASK] || have[CT_PAI_INSTANCE];
	a->has[PLAN_GPU] = have[CT_PAI_TASK];
	a->has[WAIT] = have[CT_PAI_TASK] && have[CT_PAI_INSTANCE];
	a->has[GPU_UTIL] = have[CT_PAI_SENSOR];
	a->has[TAG] = have[CT_PAI_GROUP_TAG] && have[CT_PAI_JOB];
	for (int c = 0; c < COLUMNS; c++)
		if (a->has[c])
			a->column[c] = ct_workload_column(a->p->w, name[c]);
}

void ct_pai_assemble(struct ct_pai *p)
{
	struct assembly a = { .p = p, .ps = ct_strings_add(&p->w->strings, "ps", 2) };

	columns(&a);
	missing_tables(p);
	ct_workload_count(p->w, "jobs_seen", "jobs in the tables, kept or not", p->n_jobs, 0);
	for (size_t i = 0; i < p->n_jobs; i++)
		add_job(&a, &p->jobs[i]);
	p->w->report.rows_kept = p->w->n;
}
