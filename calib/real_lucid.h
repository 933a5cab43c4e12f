/* SPDX-License-Identifier: GPL-3.0-or-later */
/* real_lucid.h - Lucid's two tables as they are: single_data.csv (configurations
 * alone) and colocate_info.csv (pairs, fractions of the solo speed kept). Internal to
 * calib/. */
#ifndef CT_CALIB_REAL_LUCID_H
#define CT_CALIB_REAL_LUCID_H

#include "calib/real_cells.h"

#include <stdint.h>

struct ct_lucid_single {
	size_t model, dataset;                               /* numbers in their lists */
	double batch, amp, speed, gpu_util, gmem_util, gmem; /* fractions 0..1; MiB */
};

struct ct_lucid_side {
	size_t config; /* number in `configs` */
	double speed;  /* of the solo speed */
};

struct ct_lucid {
	struct ct_name_list models, datasets, configs; /* configs: "model/dataset/batch/amp" */
	struct ct_lucid_single *single;                /* [configs] */
	struct ct_lucid_side (*pair)[2];
	size_t n_pairs, cap_single, cap_pairs;
};
enum { CT_LUCID_CONFIGS = 4096 };

/* CT_ECONFIG with file:line:column, CT_EIO. ct_lucid_fini() in any case. */
int ct_lucid_read(struct ct_lucid *l, const char *pairs, const char *single, struct ct_err *err);
void ct_lucid_fini(struct ct_lucid *l);
/* [models] 1: some speed other than 1, so the model was measured and not only beside
 * others; malloc'ed. */
unsigned char *ct_lucid_measured(const struct ct_lucid *l);

#endif
