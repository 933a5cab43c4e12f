/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.h - a sweep file: one configuration in which keys may have lists, and which
 * cells that makes.
 *
 *	policy: {name: [fifo, easy, lucid]}            # a list is an axis
 *	trace:  {file: day.csv, load: [0.8, 1.0]}
 *	cluster: {nodes: 8, gpus_per_node: 8}
 *	sweep:
 *	  runs: 10                                     # axis sim.seed: 1, 2, ... 10
 *
 * is 60 cells. The axes are multiplied; the order of the cells is that of an odometer
 * whose first wheel is the first axis of the file and whose last, fastest, is the seed.
 * The section `sweep:`, every key of it optional:
 *
 *	runs: 10             so many seeds; instead of a list at sim.seed
 *	initial_seed: 1      the first of them
 *	zip: [[a, b], ...]   axes a and b (dotted names) advance together: lists of equal length
 *	cells: [{a: 1, b: 2}, ...]
 *	                     an explicit list: one axis, the first, each of whose values sets
 *	                     several keys (dotted names); what one does not set is as in the file
 *	exclude: [{a: 1, b: [2, 3]}, ...]
 *	                     leave out the cells in which all of these axes have (one of) these values
 *	time_limit: 600      seconds of wall time a cell may take, its trace's reading included; 0 = any
 *	memory_limit_mib: 4096
 *	                     memory a cell may take beyond the traces it shares; 0 = any
 *	results: true        also keep each cell's result file (run.h5), for compare and report
 *	baseline: {policy.name: fifo}
 *	                     also compare every other value of that axis with this one, pair by pair
 *	metrics: [...]       columns of the table at the end (keys of sim/metrics.h)
 *
 * `cluster.node_types` is a list of its own and no axis; vary `cluster.file` instead.
 *
 *	struct ct_sweep_plan *p;
 *	CT_TRY(ct_sweep_plan_load("sweep.yaml", &p, &err));
 *	for (size_t i = 0; i < p->n_cells; i++) {
 *		ct_config_init(&c);
 *		rc = ct_sweep_plan_config(p, i, set, n_set, &c, &err);
 *		... ct_sweep_plan_value(p, i, k) is the text of column k, NULL where not set ...
 *	}
 *	ct_sweep_plan_free(p);    // after all its configurations */
#ifndef CT_EXPERIMENTS_SWEEP_PLAN_H
#define CT_EXPERIMENTS_SWEEP_PLAN_H

#include "experiments/cell.h"
#include "experiments/yaml.h"

enum {
	CT_SWEEP_AXES = 32,
	CT_SWEEP_KEYS = 48, /* of all axes: a zipped axis has several */
	CT_SWEEP_CELLS = 1000000,
	CT_SWEEP_METRICS = 15, /* of the table */
};
#define CT_SWEEP_SEED_KEY "sim.seed"

/* One wheel of the odometer. */
struct ct_sweep_axis {
	size_t n_values, first_key, n_keys; /* keys[first_key...] */
	const struct ct_yaml **value;       /* n_values rows of n_keys scalars; NULL: not set */
};

struct ct_sweep_plan {
	struct ct_arena arena;
	const char *file, *folder;
	const struct ct_yaml *base; /* the tree without `sweep:` and without the lists */
	struct ct_sweep_axis axis[CT_SWEEP_AXES];
	size_t n_axes;
	const char *key[CT_SWEEP_KEYS]; /* columns of the outputs, in order of the axes */
	size_t n_keys;
	size_t seed_key;  /* which of them is sim.seed, SIZE_MAX: none */
	uint32_t *number; /* of every cell that is not excluded: its place in the full product */
	size_t n_cells;
	int metric[CT_SWEEP_METRICS]; /* enum ct_metric; of the table */
	size_t n_metrics;
	const char *baseline_key, *baseline_value; /* NULL: none */
	struct {
		int64_t runs, initial_seed, memory_limit_mib;
		ct_time time_limit;
		int results;
	} opt;
};

/* CT_EIO, CT_ECONFIG: all that is wrong with the axes, file:line:column. Values are
 * looked at when a cell is configured. */
int ct_sweep_plan_load(const char *path, struct ct_sweep_plan **out, struct ct_err *err);
void ct_sweep_plan_free(struct ct_sweep_plan *p);

/* Text of a key in a cell as it stands in the file; NULL: the cell does not set it. */
const char *ct_sweep_plan_value(const struct ct_sweep_plan *p, size_t cell, size_t key);
/* The cell's configuration, finished: file, axes, then the settings. */
int ct_sweep_plan_config(const struct ct_sweep_plan *p, size_t cell, const struct ct_cell_set *set, size_t n,
			 struct ct_config *c, struct ct_err *err);

#endif
