/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pai.h - reader of Alibaba's PAI trace (cluster-trace-gpu-v2020): header-less CSV
 * tables, a directory of them, or one alone, as published. Internal to traces/;
 * users call ct_trace_read().
 *
 * Tables: job, task, instance, group tag, sensor, machine spec; each may be absent,
 * and what is then unknown is a rule of the report (no_task_table, ...). The first
 * of job, task and instance that is there says which jobs exist. A job of the
 * workload is a job of the trace: its tasks run together, its GPUs are the sum over
 * its tasks, and it takes as long as the longest task that asks for a GPU, whose
 * run time is the mean over its terminated instances.
 *
 * Rows that are wrong are refused with their places, or with CT_BAD_ROW_DROP left
 * out and counted: dropped_field_count, dropped_not_a_number, dropped_negative,
 * dropped_no_name. Everything else is counted and goes on, in either mode:
 *	header_line             a first line with the columns' names
 *	duplicate_job, _task, _group   a key of an earlier row; the first is kept
 *	orphan_task, _instance, _sensor   of a job or task that the tables before lack
 *	reversed_times          a row ends before it starts: its end counts as missing
 *	other_status, other_gpu_type     not of the known ones; kept
 *	repeated_worker         a worker's second run; the later end counts
 *	instances_STATUS        rows of the instance table
 * Jobs left out: dropped_failed, _interrupted, _running, _waiting, _other_status,
 * _no_times, _reversed_times, _no_request. Jobs kept with a remark: partial_job,
 * one_second, rounded_gpus, uneven_share, run_time_from_task, run_time_from_job,
 * submit_from_instance, cpu_only_job, gpu_type_from_machine, no_group.
 *
 * Figures (traces/figures.h) are over all rows of the tables, of jobs left out, too:
 * shares of request sizes, recurrence of groups and users, flexibility, utilisation;
 * one that a table's absence leaves open is NaN, and its definition names the table. */
#ifndef CT_TRACES_PAI_H
#define CT_TRACES_PAI_H

#include "traces/reader_options.h"
#include "traces/source.h"
#include "traces/trace.h"

int ct_pai_recognise(const struct ct_source *s);
/* Format's functions and options (struct ct_trace_format). */
int ct_pai_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		struct ct_err *err);
extern const struct ct_trace_opt ct_pai_opts[];

#endif
