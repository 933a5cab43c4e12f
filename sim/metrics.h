/* SPDX-License-Identifier: GPL-3.0-or-later */
/* metrics.h - every metric of a run's summary: key, unit and definition, once.
 * The summary of every output (table, JSON, CSV, HDF5) is made from this list, in
 * this order; `cotenant run --help` and the README point here.
 *
 * Window: jobs submitted in [warmup, until) since the first submission, followed
 * to their end (unless censored); integrals over [warmup, until or the end).
 * Quantiles interpolate linearly between order statistics (type 7 of Hyndman and
 * Fan, the default of GSL, NumPy and R). NaN (null in JSON) = not known. */
#ifndef CT_SIM_METRICS_H
#define CT_SIM_METRICS_H

#include <stddef.h>

/* X(key, unit, digits, definition); digits = decimals in tables; unit "" = a count. */
#define CT_METRICS(X)                                                                                                  \
	X(jobs_submitted, "", 0, "jobs that arrived")                                                                  \
	X(jobs_finished, "", 0, "jobs that did all their work")                                                        \
	X(jobs_failed, "", 0, "jobs killed")                                                                           \
	X(jobs_rejected, "", 0, "jobs that can never run on this cluster")                                             \
	X(jobs_left, "", 0, "jobs still queued or running when the run ended")                                         \
	X(jobs_measured, "", 0, "jobs of the window that finished: JCT, wait and attainment are over these")           \
	X(jobs_censored, "", 0, "jobs of the window that had not ended when the run ended")                            \
	X(mean_jct_s, "s", 3, "job completion time, submission to finish: mean")                                       \
	X(median_jct_s, "s", 3, "median of it")                                                                        \
	X(p95_jct_s, "s", 3, "95 % quantile of it")                                                                    \
	X(p99_jct_s, "s", 3, "99 % quantile of it")                                                                    \
	X(max_jct_s, "s", 3, "largest of it")                                                                          \
	X(mean_wait_s, "s", 3, "queueing delay, time in the queue over all visits: mean")                              \
	X(median_wait_s, "s", 3, "median of it")                                                                       \
	X(p95_wait_s, "s", 3, "95 % quantile of it")                                                                   \
	X(p99_wait_s, "s", 3, "99 % quantile of it")                                                                   \
	X(max_wait_s, "s", 3, "largest of it")                                                                         \
	X(mean_slowdown, "x", 3, "JCT / solo duration: mean")                                                          \
	X(makespan_s, "s", 3, "first submission to last finish")                                                       \
	X(throughput, "GPUs", 3,                                                                                       \
	  "useful work done in the window, solo seconds at the default configuration x GPUs, per second of it")        \
	X(goodput_frac, "frac", 4, "throughput / GPUs of the cluster")                                                 \
	X(gpu_alloc_frac, "frac", 4, "GPU time held by jobs / GPU time of the cluster")                                \
	X(sm_active_frac, "frac", 4,                                                                                   \
	  "SM-active GPU time / GPU time of the cluster, min(1, sum of residents) a GPU, idle GPUs included")          \
	X(gpu_mem_frac, "frac", 4, "GPU memory held / GPU memory of the cluster, over time")                           \
	X(attainment_frac, "frac", 4, "jobs with solo duration / (finish - first start) at or above sim.attain_floor") \
	X(attainment_train_frac, "frac", 4, "the same over jobs of class train")                                       \
	X(attainment_infer_frac, "frac", 4, "the same over jobs of class infer")                                       \
	X(window_attainment_frac, "frac", 4,                                                                           \
	  "60-s windows from first start to finish whose mean rate, standing still included, reached "                 \
	  "sim.attain_floor x the default rate / such windows of a job: mean over jobs")                               \
	X(short_gpu_s, "GPU s", 1,                                                                                     \
	  "shortfall: work not done from first start to finish that the default rate would have done, "                \
	  "(finish - first start - solo duration) x GPUs: sum over measured jobs")                                     \
	X(short_transition_gpu_s, "GPU s", 1, "of it: standing still in starts, migrations and switches")              \
	X(short_slowdown_gpu_s, "GPU s", 1, "of it: slowed by jobs on the same GPUs")                                  \
	X(short_tolerated_gpu_s, "GPU s", 1, "of that: as the belief in force predicted, null without one")            \
	X(short_mistaken_gpu_s, "GPU s", 1, "of that: beyond the prediction, rate x max(0, 1/predicted - 1/true)")     \
	X(short_config_gpu_s, "GPU s", 1, "of it: in configurations slower than the default")                          \
	X(short_fewer_gpu_s, "GPU s", 1, "of it: on fewer GPUs than requested")                                        \
	X(short_other_gpu_s, "GPU s", 1,                                                                               \
	  "of it: the rest: queued again, work done twice, slower GPUs, less what faster GPUs and "                    \
	  "configurations gained")                                                                                     \
	X(offered_load, "frac", 4, "work of all arrivals / (GPUs x (last - first submission))")                        \
	X(mean_queue_length, "jobs", 3, "time average of queued jobs")                                                 \
	X(blocked_idle_frac, "frac", 4,                                                                                \
	  "GPU time idle while at least one job waited / GPU time of the cluster: fragmentation and blocking")         \
	X(lost_work_gpu_s, "GPU s", 1, "work done and lost to failures and preemptions")                               \
	X(starts, "", 0, "cold starts")                                                                                \
	X(resumes, "", 0, "starts after a preemption")                                                                 \
	X(switches, "", 0, "configuration switches")                                                                   \
	X(migrations, "", 0, "migrations")                                                                             \
	X(transition_s, "s", 1, "job time spent in all of these")                                                      \
	/* Of one GPU (a share of one included) and of gangs, which ask for more: null without such jobs. */           \
	X(mean_run_slowdown_single, "x", 3, "(finish - first start) / solo duration, jobs of one GPU: mean")           \
	X(p90_run_slowdown_single, "x", 3, "90 % quantile of it: the slowest decile of them does worse")               \
	X(mean_colo_slowdown_single, "x", 3,                                                                           \
	  "1 + solo seconds not done because of jobs on the same GPUs / solo duration, jobs of one GPU: mean")         \
	X(mean_run_slowdown_gang, "x", 3, "(finish - first start) / solo duration, jobs of more GPUs: mean")           \
	X(p90_run_slowdown_gang, "x", 3, "90 % quantile of it")                                                        \
	X(mean_colo_slowdown_gang, "x", 3,                                                                             \
	  "1 + solo seconds not done because of jobs on any of its GPUs / solo duration, jobs of more GPUs: mean")     \
	/* These five are known where failures are simulated (failures.h). */                                          \
	X(availability_frac, "frac", 4, "GPU time that was up / GPU time of the cluster")                              \
	X(node_failures, "", 0, "failures of whole nodes")                                                             \
	X(gpu_failures, "", 0, "failures of single GPUs")                                                              \
	X(failure_stops, "", 0, "times a job was stopped by a failure")                                                \
	X(failure_lost_gpu_s, "GPU s", 1, "work done and lost to failures alone")                                      \
	/* Other definitions of the same things, and what tells a backlog from a steady state. */                      \
	X(active_jobs, "jobs", 3, "time average of jobs that hold GPUs")                                               \
	X(window_finished, "", 0, "jobs that finished within the window, whenever submitted")                          \
	X(window_finished_per_h, "1/h", 3, "the same per hour of the window")                                          \
	X(window_finished_jct_s, "s", 3, "mean JCT over them: blind to jobs that take longer than it")                 \
	X(drained_throughput, "GPUs", 3,                                                                               \
	  "work of the finished jobs, solo seconds at the default configuration x GPUs / makespan")                    \
	X(backlog_growth, "GPUs", 3,                                                                                   \
	  "(work submitted in the window by jobs that can run - useful work done in it) / its length: the mean "       \
	  "is 0 in a steady state, above 0 where work arrives faster than it is done")                                 \
	X(sm_union_frac, "frac", 4,                                                                                    \
	  "as sm_active_frac, 1 - product of (1 - activity of a resident) a GPU: residents active independently")

enum ct_metric {
#define CT_METRIC_ID(key, unit, digits, text) CT_METRIC_##key,
	CT_METRICS(CT_METRIC_ID)
#undef CT_METRIC_ID
	    CT_METRIC_COUNT
};

struct ct_metric_info {
	const char *key, *unit, *definition;
	int digits;
};
extern const struct ct_metric_info ct_metric_info[CT_METRIC_COUNT];

/* Of those that only some runs have, where NaN stands for "no such thing here": left
 * out of tables and digests then, and out of files that are older than they. */
static inline int ct_metric_is_optional(int m)
{
	return m >= CT_METRIC_mean_run_slowdown_single && m <= CT_METRIC_sm_union_frac;
}

/* The metric of that key, or -1. */
int ct_metric_find(const char *key);

/* Quantiles of v[0..n) as defined above, at q[0] < q[1] < ... < q[m-1] in [0, 1];
 * NaN when n = 0. O(n) a quantile; reorders v, which must hold no NaN. */
void ct_quantiles(double *v, size_t n, const double *q, size_t m, double *out);

#endif
