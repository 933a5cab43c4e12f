/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.h - runs the cells of a sweep in worker processes.
 *
 * A worker is a fork of this process, so it shares the pages of every trace that was
 * read before. It gets a batch: one cell, or all cells that are generated with the
 * same options and seed, whose jobs it then makes once. It says through a pipe which
 * cell it begins and which is done, and writes each into the store by itself.
 *
 * A worker that ends in the middle of a cell - an error, a crash, a signal, too much
 * memory, or killed here because the cell took too long - costs that cell alone: it is
 * recorded as failed, and another worker goes on with the rest of the batch. Workers
 * die with this process, whatever ends it. */
#ifndef CT_EXPERIMENTS_SWEEP_POOL_H
#define CT_EXPERIMENTS_SWEEP_POOL_H

#include "experiments/cell.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/store.h"

#include <signal.h>

struct ct_sweep_batch {
	size_t *item; /* rows of the table */
	size_t n;
};

struct ct_sweep_pool {
	const struct ct_sweep_plan *plan;
	const struct ct_cell_set *set; /* --set */
	size_t n_set;
	struct ct_jobs_pool *jobs; /* what was read already; workers add to their copy */
	const struct ct_sweep_store *store;
	struct ct_sweep_table *table; /* states and failures are written here */
	const char *command;          /* "cotenant sweep ...": repeats a cell with " --only N" behind it */
	unsigned workers;
	const volatile sig_atomic_t *interrupted;
	void (*progress)(void *ctx, uint64_t done, uint64_t total); /* cells, failed ones too */
	void *ctx;
};

/* All batches, in order as workers become free. Returns when every cell has ended, or
 * after an interruption when all workers are gone. CT_EIO: no process, or a failure
 * cannot be recorded. */
int ct_sweep_pool_run(const struct ct_sweep_pool *p, const struct ct_sweep_batch *batch, size_t n, struct ct_err *err);

#endif
