/* SPDX-License-Identifier: GPL-3.0-or-later */
/* formats.h - the readers of the published traces, each one file: what it takes,
 * which column becomes what, and what happens to rows that need a decision. Internal
 * to traces/; users call ct_trace_read(), and `cotenant trace formats` lists them.
 * Names of rules that all share: traces/rows.h. */
#ifndef CT_TRACES_FORMATS_H
#define CT_TRACES_FORMATS_H

#include "traces/reader_options.h"
#include "traces/source.h"
#include "traces/trace.h"

#define CT_TRACE_READER(name)                                                                            \
	int ct_##name##_recognise(const char *head, size_t n);                                           \
	int ct_##name##_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, \
			     struct ct_workload *w, struct ct_err *err)

/* Microsoft ITP clusters (elasticflow-traces): job_id, submission_time, duration,
 * num_gpu in seconds and GPUs. */
CT_TRACE_READER(itp);

/* Microsoft Philly as one table: timestamp, duration, num_gpus, gpu_time, cluster
 * (virtual cluster; option `vc`). Timestamps are dates. A row that equals an earlier
 * one in every field is dropped as "dropped_duplicate_row". */
CT_TRACE_READER(philly);
extern const struct ct_trace_opt ct_philly_opts[];

/* Helios and Lucid, cluster_full_log.csv / cluster_log.csv: job_id, user, vc (option
 * `vc`), jobname, gpu_num, cpu_num, state, submit_time, duration; model and gmem (MiB
 * on each GPU) when they are there. Jobs without GPU are CPU jobs. */
CT_TRACE_READER(helios);
extern const struct ct_trace_opt ct_helios_opts[];

/* Alibaba openb pods (cluster-trace-gpu-v2023). Submitted at creation_time; the run
 * time is deletion - scheduled time, or, for a pod that was never scheduled,
 * deletion - creation ("never_scheduled"). gpu_spec with one type is the GPU type;
 * several ("A|B") are carried along and not enforced ("gpu_spec_alternatives"). */
CT_TRACE_READER(openb);

/* Tiresias: job_id, num_gpu, submit_time, iterations, model_name, duration, interval. */
CT_TRACE_READER(tiresias);

/* Pollux and Sia workloads: name, time, application, num_replicas, batch_size. They
 * hold no durations: option `durations` (traces/durations.h), or the file is refused. */
CT_TRACE_READER(pollux);
extern const struct ct_trace_opt ct_pollux_opts[];

/* Gavel, ten fields between tabs, no header: job type, command, working directory,
 * steps argument, needs data, total steps, scale factor, priority weight, SLO, arrival
 * time. Duration = total steps / steps per second of option `durations`. */
CT_TRACE_READER(gavel);
extern const struct ct_trace_opt ct_gavel_opts[];

/* Standard Workload Format 2.2: 18 fields between blanks, -1 = missing. Size = field 5
 * (allocated), else 8 (requested); field 9 = the user's estimate; users and groups by
 * number; executable, queue, partition, preceding job and think time are carried along
 * ("swf_..."), the wait in the trace as "wait_s"; field 11 = state, a filter only
 * with option `status`. A run time of 0 or less makes a bad row, it is never changed.
 * The `;` header is kept in report.header. */
CT_TRACE_READER(swf);
extern const struct ct_trace_opt ct_swf_opts[];
/* What SWF has no field for is left out and said in the `;` header. CT_EIO, or
 * CT_ETRACE when a job cannot be said in SWF (a share of a GPU). */
int ct_trace_write_swf(const struct ct_workload *w, const char *path, struct ct_err *err);

#endif
