/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv_jobs.h - the generic CSV reader: one row a job, columns by name
 * (csv_header.h says how names are found, columns.c what they mean).
 * Internal to traces/; users call ct_trace_read().
 *
 * Rows that cannot be a job are refused, all together, or with CT_BAD_ROW_DROP
 * left out and counted under the first rule they break:
 *	dropped_field_count       more or fewer fields than the header
 *	dropped_missing_value     a required value is empty
 *	dropped_not_a_number      or not a whole number, where one is wanted
 *	dropped_negative_submit   submitted before time zero (legal with shift_to_zero)
 *	dropped_zero_duration, dropped_negative_duration
 *	dropped_zero_gpus, dropped_negative_gpus
 *	dropped_out_of_range      any other value or combination outside its limits
 *	dropped_duplicate_id      the id of an earlier row that was kept
 * Counted and kept: rounded_num_gpus, rounded_num_cpus, rounded_memory,
 * generated_job_id, cpu_only_job.
 *
 * An input that is no CSV (NUL byte, record over the limit, open quote, truncated
 * gzip) is refused in either mode. */
#ifndef CT_TRACES_CSV_JOBS_H
#define CT_TRACES_CSV_JOBS_H

#include "sim/csv.h"
#include "traces/source.h"
#include "traces/trace.h"

/* Does a file begin as ct_trace_write_csv() begins one? */
int ct_csv_jobs_canonical(const char *head, size_t n);
/* Formats' functions (struct ct_trace_format). */
int ct_csv_jobs_recognise(const char *head, size_t n);
int ct_csv_jobs_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		     struct ct_err *err);

/* The same from an open CSV, which stays open; `w` is not sealed. */
int ct_csv_jobs_read_open(struct ct_csv *in, const struct ct_trace_options *o, struct ct_workload *w,
			  struct ct_err *err);

#endif
