/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cell.h - runs one effective configuration in this process and hands back what came
 * out: the piece under `run`, `sweep`, `plan` and everything else that runs many.
 *
 *	static const struct ct_cell_set set[] = { { "policy.name", "easy" }, { "cluster.nodes", "12" } };
 *	struct ct_jobs_pool *pool = ct_jobs_pool_new();       // experiments/jobs.h; NULL will do for one run
 *	struct ct_cell_request q = { .pool = pool };
 *	struct ct_cell_result r;
 *	struct ct_config c;
 *
 *	ct_config_init(&c);
 *	if (ct_cell_config(&c, "run.yaml", set, 2, &err) == 0 && ct_cell_run(&c, &q, &r, &err) == 0) {
 *		printf("%g s\n", r.summary[CT_METRIC_mean_jct_s]);    // sim/metrics.h
 *		ct_cell_fini(&r);                                     // before ct_config_fini()
 *	}
 *	ct_config_fini(&c);
 *	ct_jobs_pool_free(pool);                              // after all cells that used it
 *
 * A configuration is run once: for the next one, start again with ct_config_init() and
 * other settings; it costs under a millisecond. Cells that name the same trace (or the
 * same generator and seed) share what the pool read; stretching to trace.load, names by
 * trace.assign, calibration and world are each cell's own. Cells do not see each other:
 * the same configuration gives the same digest after any other cells, and in a child
 * process that inherited the pool.
 *
 * Common random numbers: all draws are keyed by sim.seed, so cells that differ in the
 * policy alone have the same arrivals (generate.kind), estimates and residuals, and can
 * be compared pair by pair.
 *
 * By class, user, partition: ask for `want_jobs` and read the columns of r.result.jobs
 * (sim/result.h says which there are: user, group, partition, num_gpus, measured,
 * turnaround_time, queue_s, ..., and the trace's own, such as `kind` with train/infer),
 * or walk r.world and r.setup.work, which stand until ct_cell_fini(). */
#ifndef CT_EXPERIMENTS_CELL_H
#define CT_EXPERIMENTS_CELL_H

#include "experiments/config.h"
#include "experiments/jobs.h"
#include "experiments/setup.h"
#include "scheduler/control.h"
#include "sim/metrics.h"
#include "sim/result.h"

#include <signal.h>

/* One --set KEY=VALUE: any key of the configuration (`cotenant help config`). */
struct ct_cell_set {
	const char *key, *value;
};

/* The file (a path or "data:NAME"; NULL: none), then the settings in their order, then
 * ct_config_finish() for a run. All errors are added to `err`; the message of a setting
 * says "--set key=value". Relative paths in settings start at the working directory. */
int ct_cell_config(struct ct_config *c, const char *file, const struct ct_cell_set *set, size_t n, struct ct_err *err);

/* All members may be zero. */
struct ct_cell_request {
	struct ct_jobs_pool *pool;  /* NULL: the trace is read for this cell alone */
	struct ct_trained *trained; /* calib/belief.h; NULL: what is trained serves this cell alone */
	int want_jobs; /* fill result.jobs and series, as a result file needs them: 100 bytes a job and more */
	const volatile sig_atomic_t *interrupt; /* nonzero: the cell ends at its next instant, as stopped */
	ct_jobs_progress *reading;
	void (*have_read)(void *ctx, const struct ct_workload *w);
	/* Jobs ended and in all, see scheduler/control.h. */
	void (*running)(void *ctx, uint64_t ended, uint64_t jobs, uint64_t events, ct_time now);
	void *ctx;
};

struct ct_cell_result {
	double summary[CT_METRIC_COUNT]; /* by enum ct_metric; ct_metric_find() knows the keys. NaN: unknown */
	int stopped;                     /* interrupted: the figures cover a part of the run */
	double cpu_s;                    /* of the whole cell, reading included */
	struct ct_account account;
	struct ct_run_perf perf;
	struct ct_result result; /* manifest and digests; sealed; no /perf */
	struct ct_world *world;  /* finished */
	struct ct_setup setup;   /* what the world refers to: setup.work are its jobs */
};

/* `c` is finished for CT_CONFIG_RUN and outlives `out`. CT_ECONFIG, CT_ETRACE, CT_EIO,
 * CT_EPOLICY: as `cotenant run`; *out is empty then and needs no ct_cell_fini(). */
int ct_cell_run(struct ct_config *c, const struct ct_cell_request *q, struct ct_cell_result *out, struct ct_err *err);
void ct_cell_fini(struct ct_cell_result *r);

#endif
