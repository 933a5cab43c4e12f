/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.h - the jobs that a configuration names, from a file or from a generator, as
 * they are before trace.assign, trace.only and trace.load; and a pool that reads them once for
 * many configurations.
 *
 * `trace.file` is read by traces/trace.h. `generate.kind` instead makes the jobs anew
 * (traces/generate.h) from the seed of the run, so that runs of different seeds see
 * different arrivals, and runs of one seed under different policies the same.
 *
 *	struct ct_jobs_pool *pool = ct_jobs_pool_new();
 *	CT_TRY(ct_jobs_pool_get(pool, &config, NULL, NULL, &work, &err));   // reads
 *	CT_TRY(ct_jobs_pool_get(pool, &other, NULL, NULL, &work, &err));    // has it, if it is the same
 *	ct_jobs_pool_free(pool);                                            // and all workloads
 *
 * A workload is not changed once it is made: any number of worlds, of this process or
 * of its children, may use one of the pool at the same time. */
#ifndef CT_EXPERIMENTS_JOBS_H
#define CT_EXPERIMENTS_JOBS_H

#include "experiments/config.h"
#include "sim/workload.h"
#include "traces/figures.h"
#include "traces/generate.h"

/* Bytes done and in all, 0 = unknown; may be NULL. */
typedef void ct_jobs_progress(void *ctx, uint64_t done, uint64_t total);

/* `figures`: see ct_trace_options; NULL: not wanted. The caller frees *out. */
int ct_jobs_read(struct ct_config *c, struct ct_figures *figures, ct_jobs_progress *progress, void *ctx,
		 struct ct_workload **out, struct ct_err *err);

/* Everything that bears on what ct_jobs_read() gives, as text: two configurations
 * with the same key have the same jobs. Names files, does not read them. */
const char *ct_jobs_key(struct ct_config *c);

struct ct_jobs_pool;
struct ct_jobs_pool *ct_jobs_pool_new(void);
void ct_jobs_pool_free(struct ct_jobs_pool *p);
/* *out belongs to the pool. A trace that cannot be read is tried again at the next call. */
int ct_jobs_pool_get(struct ct_jobs_pool *p, struct ct_config *c, ct_jobs_progress *progress, void *ctx,
		     struct ct_workload **out, struct ct_err *err);
/* The one that is there already, or NULL. */
struct ct_workload *ct_jobs_pool_find(const struct ct_jobs_pool *p, struct ct_config *c);

/* The files of a generator: those of `o` that are not given become the generator's own,
 * and "data:" names are looked up. Into the arena. CT_EIO. */
int ct_jobs_generator_files(const struct ct_generator *g, struct ct_generate_options *o, struct ct_arena *arena,
			    struct ct_err *err);

#endif
