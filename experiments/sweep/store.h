/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.h - the folder of a sweep, and what it says about each cell.
 *
 *	OUT/plan.csv              one row a cell that this folder is about: cell,cells,sweep,hash, axes
 *	OUT/cells/HASH/           a finished cell, complete or not there:
 *		config.yaml       its effective configuration: `cotenant run` repeats it
 *		summary.csv       key,value: hash, every metric, result digest, revision of the program
 *		perf.csv          key,value: wall-clock figures
 *		run.h5            with sweep.results
 *	OUT/failed/HASH.csv       key,value: status, message, command of a cell that failed
 *	OUT/runs.csv sweep.h5 perf.csv failed.csv      of all cells (experiments/sweep/report.h)
 *
 * A cell is written into a folder of another name and renamed when it is complete, so
 * whoever is killed at whatever moment leaves either all of it or none. One process at
 * a time works in a folder: it holds a lock on OUT/lock, which the kernel releases
 * when it dies. Names that begin with a dot are of work in hand; the next who holds
 * the lock removes them. */
#ifndef CT_EXPERIMENTS_SWEEP_STORE_H
#define CT_EXPERIMENTS_SWEEP_STORE_H

#include "experiments/cell.h"
#include "experiments/sweep/identity.h"
#include "sim/metrics.h"

enum ct_sweep_state { CT_SWEEP_MISSING, CT_SWEEP_DONE, CT_SWEEP_FAILED };

#define CT_SWEEP_PERF(X) X(cpu_s) X(wall_s) X(read_s) X(peak_rss_mib) X(events) X(events_per_s) X(epoch_ms_mean)
enum ct_sweep_perf {
#define CT_SWEEP_PERF_ID(key) CT_SWEEP_PERF_##key,
	CT_SWEEP_PERF(CT_SWEEP_PERF_ID)
#undef CT_SWEEP_PERF_ID
	    CT_SWEEP_PERF_COUNT
};
extern const char *const ct_sweep_perf_key[CT_SWEEP_PERF_COUNT];

/* What is known of a cell; texts live in the arena given to the call that read them. */
struct ct_sweep_row {
	uint32_t cell; /* number in the sweep, from 1 */
	char hash[CT_SWEEP_HASH];
	const char **axis; /* text of every key, NULL where not set */
	enum ct_sweep_state state;
	double summary[CT_METRIC_COUNT], perf[CT_SWEEP_PERF_COUNT]; /* DONE */
	const char *digest, *revision;
	const char *status, *message, *command; /* FAILED */
};

/* All cells of a sweep, or of a shard of it. */
struct ct_sweep_table {
	struct ct_arena arena;
	uint32_t n_cells;          /* of the whole sweep */
	char sweep[CT_SWEEP_HASH]; /* names the sweep: equal in all its shards */
	const char **key;
	size_t n_keys, seed_key; /* SIZE_MAX: none is sim.seed */
	struct ct_sweep_row *row;
	size_t n_rows, cap_rows;
	uint32_t *place; /* by cell: its row + 1, 0 = none; of tables that were read */
};
void ct_sweep_table_fini(struct ct_sweep_table *t);

struct ct_sweep_store {
	char *path;
	int lock; /* file descriptor */
};
/* Makes the folder if it is not there, locks it, and clears what was left of work in
 * hand. CT_EIO. */
int ct_sweep_store_open(struct ct_sweep_store *s, const char *path, struct ct_err *err);
/* Workers are gone by then: what they had in hand is removed. */
void ct_sweep_store_close(struct ct_sweep_store *s);
/* Finished cells in it, of whatever sweep. */
size_t ct_sweep_store_count(const struct ct_sweep_store *s);

/* A finished cell. `perf`: enum ct_sweep_perf. With `result` also run.h5, for which the
 * cell was run with want_jobs. */
int ct_sweep_store_put(const struct ct_sweep_store *s, const char *hash, struct ct_config *c,
		       const struct ct_cell_result *cell, const double *perf, int result, struct ct_err *err);
/* Takes the place of what failed before. `config`: YAML to repeat it with, kept as
 * failed/HASH.yaml; may be NULL. */
int ct_sweep_store_fail(const struct ct_sweep_store *s, const struct ct_sweep_row *row, const char *config,
			struct ct_err *err);
/* Fills row->state and what it brings; a damaged cell counts as missing. */
void ct_sweep_store_get(const char *path, struct ct_sweep_row *row, struct ct_arena *arena);

/* plan.csv */
int ct_sweep_store_put_plan(const struct ct_sweep_store *s, const struct ct_sweep_table *t, struct ct_err *err);
/* Adds the rows of a folder's plan and what is known of its cells. A cell that is there
 * already is taken over where it is finished here and was not. CT_EIO: no plan;
 * CT_ECONFIG: of another sweep than the rows before. */
int ct_sweep_store_get_plan(const char *path, struct ct_sweep_table *t, struct ct_err *err);

/* path/name, malloc'ed; the second with "/" and another name behind it. */
char *ct_sweep_path(const char *path, const char *name);
char *ct_sweep_path2(const char *path, const char *name, const char *name2);

#endif
