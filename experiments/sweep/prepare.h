/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prepare.h - from a plan to what is to be run: every cell configured, the traces read
 * once, every cell named by its hash, and the batches of cells for the workers.
 *
 *	struct ct_sweep_prepared s = { .plan = plan, .set = set, .n_set = n };
 *	CT_TRY(ct_sweep_configure(&s, &err));               // quick; reads no trace
 *	ct_sweep_select(&s, shard, 0);
 *	CT_TRY(ct_sweep_read(&s, workers, ..., &err));      // reads traces, fills s.table
 *	... states of the rows from the store ...
 *	ct_sweep_make_batches(&s);
 *	ct_sweep_pool_run(...);
 *	ct_sweep_prepared_fini(&s);
 *
 * A cell that cannot be configured, or whose trace cannot be read, is a failed cell with
 * its message; only when that is so of all of them there is no sweep, and the error is
 * returned. */
#ifndef CT_EXPERIMENTS_SWEEP_PREPARE_H
#define CT_EXPERIMENTS_SWEEP_PREPARE_H

#include "experiments/sweep/plan.h"
#include "experiments/sweep/pool.h"
#include "experiments/sweep/shard.h"
#include "experiments/sweep/store.h"

struct ct_sweep_prepared {
	const struct ct_sweep_plan *plan; /* the caller's, like the next two */
	const struct ct_cell_set *set;
	size_t n_set;
	struct ct_jobs_pool *jobs;
	struct ct_sweep_table table; /* the selected cells */
	struct ct_sweep_batch *batch;
	size_t n_batches;
	struct ct_sweep_cell *cell; /* of the whole plan */
	size_t n_groups;            /* of cells that generate the same jobs, or stand alone */
	size_t *order;              /* rows, batch by batch */
	struct ct_arena arena;
};

/* CT_ECONFIG: no cell can be configured; that of the first is told. */
int ct_sweep_configure(struct ct_sweep_prepared *s, struct ct_err *err);
/* The cells of a shard (cells that generate the same jobs stay together where there are
 * enough such groups for all shards), or one cell alone (`only`, from 1). Fills the
 * table but for hashes and states. */
void ct_sweep_select(struct ct_sweep_prepared *s, struct ct_shard shard, uint32_t only);
/* Reads the traces of the selected cells and computes their hashes. Cells that cannot be
 * run have state FAILED. CT_ECONFIG: two cells are the same; else none can be run. */
int ct_sweep_read(struct ct_sweep_prepared *s, ct_jobs_progress *progress, void *ctx, struct ct_err *err);
/* Of the rows whose state is MISSING. Jobs that few generators make for many workers are
 * made here, so that the cells need not wait for one another. */
int ct_sweep_make_batches(struct ct_sweep_prepared *s, unsigned workers, struct ct_err *err);
void ct_sweep_prepared_fini(struct ct_sweep_prepared *s);

#endif
