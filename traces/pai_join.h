/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pai_join.h - what the PAI reader keeps of the tables: a record a job, a record a
 * task, and fingerprints of the workers that ended. Internal to traces/. */
#ifndef CT_TRACES_PAI_JOIN_H
#define CT_TRACES_PAI_JOIN_H

#include "traces/pai_tables.h"

struct ct_pai_task {
	uint32_t name, gpu_type; /* numbers in workload->strings */
	uint32_t next;           /* of the job + 1, 0 = last */
	uint32_t inst_num;       /* 0 = unknown */
	enum ct_pai_status status;
	ct_time start, end;                  /* -1 = missing */
	double plan_cpu, plan_mem, plan_gpu; /* NaN = missing */
	/* from the instance table */
	uint32_t rows[CT_PAI_STATUSES], distinct, done; /* rows, instances, terminated ones with both times */
	ct_time done_us, first_start;                   /* sum of their run times; -1 = none */
	uint32_t machine_type;
	/* from the sensor table */
	uint32_t sensors;
	double util, max_mem; /* sum; largest; NaN = none */
};

struct ct_pai_job {
	const char *name;
	uint32_t first_task, last_task; /* + 1 */
	uint32_t user, group, tag, line;
	enum ct_pai_status status;
	ct_time start, end;
	enum ct_pai_kind { CT_PAI_BY_RULE, CT_PAI_TRAINING, CT_PAI_INFERENCE } kind; /* who made it up knows */
};

/* A row of the sensor table; kept for the figures alone. */
struct ct_pai_sample {
	uint32_t task; /* its place in `tasks` */
	double util;   /* gpu_wrk_util, per cent */
};

/* Keys are 64-bit fingerprints of the trace's long names: two of 10^7 names meet
 * with a probability of 3 in a million. */
struct ct_pai_map {
	struct ct_pai_map_slot {
		uint64_t key; /* 0 = free */
		uint32_t value;
	} * slot;
	size_t mask, used;
};
struct ct_pai_set {
	uint64_t *slot; /* 0 = free */
	size_t mask, used;
};
/* A worker's last run among those that terminated. */
struct ct_pai_runs {
	struct ct_pai_run {
		uint64_t key;
		ct_time end, run;
	} * slot;
	size_t mask, used;
};

/* All rows of the sensor table with a gpu_wrk_util. */
struct ct_pai_util {
	uint64_t rows, zero, below_10, below_50;
	double sum, max;
};

enum { CT_PAI_TASK_NAMES = 64 };
struct ct_pai_options {
	int ps; /* ct_pai_ps */
	double infer_below_s;
};
enum ct_pai_ps { CT_PAI_PS_KEEP, CT_PAI_PS_DROP };

struct ct_pai {
	struct ct_pai_options opts;
	struct ct_workload *w;
	const struct ct_trace_options *o;
	struct ct_err *err;
	int have[CT_PAI_TABLES];
	struct ct_pai_job *jobs;
	struct ct_pai_task *tasks;
	size_t n_jobs, cap_jobs, n_tasks, cap_tasks;
	struct ct_pai_map job_of_name, job_of_inst, type_of_machine, task_of_instance;
	struct ct_pai_set instance;
	struct ct_pai_runs run;
	uint64_t instances[CT_PAI_STATUSES];
	struct ct_pai_util util;
	struct ct_pai_sample *samples;
	size_t n_samples, cap_samples;
	uint32_t task_name[CT_PAI_TASK_NAMES];
};

/* Makes the jobs of the workload (pai_jobs.c). */
void ct_pai_assemble(struct ct_pai *p);
/* A gpu_wrk_util of the table; NaN = empty. */
void ct_pai_add_util(struct ct_pai_util *u, double util);

/* ---- the trace's own figures (pai_figures.c) */

enum { CT_PAI_OFTEN = 5, CT_PAI_LARGE = 400 }; /* jobs that make a group recurrent; percent of a GPU */
enum {
	CT_PAI_NEED_TASK = 1,
	CT_PAI_NEED_JOB = 2,
	CT_PAI_NEED_GROUP = 4,
	CT_PAI_NEED_SENSOR = 8,
	CT_PAI_NEED_TASKS = 16
};

/* What the rows of one user, or of one group, add up to. */
struct ct_pai_tally {
	uint64_t jobs, tasks, gpu_tasks;
	double min, max;  /* plan_gpu; when gpu_tasks > 0 */
	int small_done;   /* a terminated task below CT_PAI_LARGE */
	uint32_t configs; /* of a group of CT_PAI_OFTEN jobs: its different plan_gpu */
};

struct ct_pai_figures {
	const struct ct_pai *p;
	struct ct_figures *out;
	struct ct_pai_tally *user, *group; /* by number in workload->strings; 0 = not said */
	size_t names;
	uint64_t tasks, gpu_tasks;
};

void ct_pai_figures(const struct ct_pai *p, struct ct_figures *out);
/* Adds one, or says which table it lacks. */
void ct_pai_give(const struct ct_pai_figures *f, const char *name, double value, const char *unit,
		 const char *definition, int needs);
/* The table without which a figure is not known; NULL: all are there. */
const char *ct_pai_lacking(const struct ct_pai *p, int needs);
/* Curves, and what sets training against inference (pai_curves.c). */
void ct_pai_curves(const struct ct_pai_figures *f);
/* Of a workload with the columns of the generator (pai_workload.c); 0: it has none. */
int ct_pai_workload_figures(struct ct_workload *w, struct ct_figures *out);

#endif
