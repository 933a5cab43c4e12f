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
	uint32_t task_name[CT_PAI_TASK_NAMES];
};

/* Makes the jobs of the workload (pai_jobs.c). */
void ct_pai_assemble(struct ct_pai *p);
/* The trace's own figures (pai_figures.c). */
void ct_pai_figures(const struct ct_pai *p, struct ct_figures *out);

#endif
