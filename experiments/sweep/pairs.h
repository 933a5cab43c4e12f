/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.h - one value of an axis against the others, cell by cell: what is left when
 * the days and seeds that both saw are taken out.
 *
 * With the baseline policy.name=fifo, every cell of another policy is paired with the
 * cell of fifo that is equal in all other axes, the seed included. For each combination
 * of these axes there is one row a metric: mean and median of the differences (other -
 * baseline) over the seeds, interval of the mean, effect size, and a verdict that calls a
 * winner only where the 95 % interval does (ct_paired_compare(), experiments/statistics.h).
 * Keys zipped with that of the baseline go with it. */
#ifndef CT_EXPERIMENTS_SWEEP_PAIRS_H
#define CT_EXPERIMENTS_SWEEP_PAIRS_H

#include "experiments/statistics.h"
#include "experiments/sweep/store.h"
#include "sim/json.h"

#include <stdio.h>

struct ct_sweep_pair {
	const struct ct_sweep_row *row; /* the first of the other value; its axes but the seed name the row */
	int metric;
	struct ct_paired p;
};
struct ct_sweep_pairs {
	struct ct_sweep_pair *v;
	size_t n, cap;
	size_t unpaired; /* cells without a partner */
};

/* CT_USAGE: no axis of that name, or no finished cell has that value. */
int ct_sweep_pairs_make(const struct ct_sweep_table *t, const char *key, const char *value, const int *metric,
			size_t n_metrics, struct ct_sweep_pairs *out, struct ct_err *err);
void ct_sweep_pairs_fini(struct ct_sweep_pairs *p);
void ct_sweep_pairs_print(const struct ct_sweep_table *t, const struct ct_sweep_pairs *p, const char *key,
			  const char *value, FILE *to);
/* Member "pairs": rows with the axes, metric a b diff lo hi median effect n verdict. */
void ct_sweep_pairs_json(struct ct_json *j, const struct ct_sweep_table *t, const struct ct_sweep_pairs *p);

#endif
