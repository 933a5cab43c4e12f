/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/columns.h"

#include <math.h>
#include <string.h>

/* name, required, cell, member, legal values, unit, unit in HDF5, aliases, meaning */
#define COLUMN(name, required, cell, member, lo, hi, unit, h5_unit, aliases, meaning)                              \
	{                                                                                                          \
		{ name, aliases, unit, meaning, required }, cell, offsetof(struct ct_job, member), lo, hi, h5_unit \
	}

const struct ct_column ct_columns[CT_COLUMNS] = {
	[CT_COLUMN_JOB_ID] = COLUMN("job_id", 0, CT_CELL_ID, id, 0, 0, "", "", "id jobid",
				    "unique name, at most 255 bytes; without the column: the row's number"),
	[CT_COLUMN_SUBMIT_TIME] =
	    COLUMN("submit_time", 1, CT_CELL_TIME, submit_us, 0, CT_TIME_LIMIT, "s", "us",
		   "submission_time submit arrival_time time creation_time timestamp", "when it is submitted"),
	[CT_COLUMN_NUM_GPUS] = COLUMN("num_gpus", 1, CT_CELL_GPUS, num_gpus, 0, UINT32_MAX, "GPUs", "GPUs",
				      "num_gpu gpu_num gpus num_replicas",
				      "gang size; decimals are shares (0.5, 1.5 = 2 x 0.75); 0 only beside num_cpus"),
	[CT_COLUMN_DURATION] = COLUMN("duration", 1, CT_CELL_TIME, duration_us, 1, CT_DURATION_LIMIT, "s", "us",
				      "run_time runtime", "run time alone on its GPUs"),
	[CT_COLUMN_USER] = COLUMN("user", 0, CT_CELL_TEXT, user, 0, 0, "", "", "user_id username", "who submitted it"),
	[CT_COLUMN_GROUP] =
	    COLUMN("group", 0, CT_CELL_TEXT, group, 0, 0, "", "", "group_id", "group of users or of like jobs"),
	[CT_COLUMN_MODEL] = COLUMN("model", 0, CT_CELL_TEXT, model, 0, 0, "", "", "workload model_name",
				   "what it runs; selects profile and contention"),
	[CT_COLUMN_PARTITION] = COLUMN("partition", 0, CT_CELL_TEXT, partition, 0, 0, "", "",
				       "vc queue virtual_cluster", "part of the cluster it must run in"),
	[CT_COLUMN_GPU_TYPE] =
	    COLUMN("gpu_type", 0, CT_CELL_TEXT, gpu_type, 0, 0, "", "", "gpu_model", "GPU type it must run on"),
	[CT_COLUMN_GPU_MILLI] = COLUMN("gpu_milli", 0, CT_CELL_COUNT, gpu_milli, 1, 1000, "GPU/1000", "GPU/1000", "",
				       "share of each of its GPUs; 0 = 1000"),
	[CT_COLUMN_MIN_GPUS] = COLUMN("min_gpus", 0, CT_CELL_COUNT, min_gpus, 1, UINT32_MAX, "GPUs", "GPUs", "min_gpu",
				      "fewest GPUs it runs on, for an elastic job"),
	[CT_COLUMN_MAX_GPUS] = COLUMN("max_gpus", 0, CT_CELL_COUNT, max_gpus, 1, UINT32_MAX, "GPUs", "GPUs", "max_gpu",
				      "most GPUs it runs on, for an elastic job"),
	[CT_COLUMN_PRIORITY] = COLUMN("priority", 0, CT_CELL_SIGNED, priority, INT32_MIN, INT32_MAX, "", "", "",
				      "whole number, higher is more important"),
	[CT_COLUMN_DEADLINE] = COLUMN("deadline", 0, CT_CELL_TIME, deadline_us, 0, CT_TIME_LIMIT, "s", "us", "",
				      "when it should be finished, on the clock of submit_time"),
	[CT_COLUMN_REQUESTED_TIME] = COLUMN("requested_time", 0, CT_CELL_TIME, requested_us, 0, CT_TIME_LIMIT, "s",
					    "us", "", "the user's own estimate of the run time"),
	[CT_COLUMN_NUM_CPUS] = COLUMN("num_cpus", 0, CT_CELL_MILLI, cpu_milli, 0, UINT32_MAX, "cores", "core/1000",
				      "num_cpu cpu_num cpus", "CPU cores, decimals allowed"),
	[CT_COLUMN_MEM_MIB] =
	    COLUMN("mem_mib", 0, CT_CELL_MIB, mem_mib, 0, UINT32_MAX, "MiB", "MiB", "memory_mib", "host memory"),
	[CT_COLUMN_GPU_MEM_MIB] = COLUMN("gpu_mem_mib", 0, CT_CELL_MIB, gpu_mem_mib, 0, UINT32_MAX, "MiB", "MiB",
					 "gmem_mib", "memory on each of its GPUs"),
	[CT_COLUMN_SM_FRAC] = COLUMN("sm_frac", 0, CT_CELL_FRACTION, sm_frac, 0, 1, "", "", "",
				     "SM activity while running alone, 0 to 1"),
	[CT_COLUMN_STATE] = COLUMN("state", 0, CT_CELL_TEXT, state, 0, 0, "", "", "status",
				   "final state in the trace; carried through"),
	[CT_COLUMN_NUM_INST] = { { "num_inst", "inst_num num_instances", "",
				   "so many instances, each with num_gpus, num_cpus and mem_mib: multiplied in", 0 },
				 CT_CELL_INSTANCES,
				 0,
				 1,
				 UINT32_MAX,
				 "" },
};

const struct ct_trace_column *ct_trace_column_at(size_t i)
{
	return i < CT_COLUMNS ? &ct_columns[i].doc : NULL;
}

/* Equal but for the case of ASCII letters, whatever the locale. */
static int same_letters(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char x = a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] + 32) : a[i];
		char y = b[i] >= 'A' && b[i] <= 'Z' ? (char)(b[i] + 32) : b[i];

		if (x != y)
			return 0;
	}
	return 1;
}

enum ct_fit ct_column_fit(enum ct_column_id c, const char *name)
{
	const struct ct_trace_column *doc = &ct_columns[c].doc;
	size_t n = strlen(name);

	if (!strcmp(name, doc->name))
		return CT_FIT_EXACT;
	if (n == strlen(doc->name) && same_letters(name, doc->name, n))
		return CT_FIT_CASE;
	for (const char *a = doc->aliases; n && *a;) {
		size_t k = strcspn(a, " ");

		if (k == n && same_letters(a, name, n))
			return CT_FIT_ALIAS;
		a += k + (a[k] == ' ');
	}
	return CT_FIT_NONE;
}

/* What a job holds when the trace does not have the column. */
static int holds_default(const struct ct_job *job, enum ct_column_id c)
{
	const void *v = ct_column_value(job, c);

	switch (c) {
	case CT_COLUMN_GPU_MILLI:
		return job->gpu_milli == 1000;
	case CT_COLUMN_MIN_GPUS:
		return job->min_gpus == job->num_gpus;
	case CT_COLUMN_MAX_GPUS:
		return job->max_gpus == job->num_gpus;
	case CT_COLUMN_DEADLINE:
	case CT_COLUMN_REQUESTED_TIME:
		return *(const ct_time *)v == -1;
	case CT_COLUMN_SM_FRAC:
		return isnan(job->sm_frac);
	case CT_COLUMN_PRIORITY:
		return job->priority == 0;
	default:
		return *(const uint32_t *)v == 0;
	}
}

int ct_column_in_use(const struct ct_workload *w, enum ct_column_id c)
{
	if (c == CT_COLUMN_JOB_ID || ct_columns[c].doc.required)
		return 1;
	for (size_t i = 0; c != CT_COLUMN_NUM_INST && i < w->n; i++)
		if (!holds_default(&w->jobs[i], c))
			return 1;
	for (size_t i = 0; i < w->n_columns; i++)
		if (ct_column_fit(c, w->columns[i].name) != CT_FIT_NONE)
			return 1;
	return 0;
}
