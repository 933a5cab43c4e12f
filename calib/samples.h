/* SPDX-License-Identifier: GPL-3.0-or-later */
/* samples.h - what the interference predictors learn from: one row for each job of
 * a co-located pair (the one whose slowdown is in question comes first), whatever
 * the data set: generated, Lucid's or Gavel's.
 *
 *	struct ct_samples s;
 *	CT_TRY(ct_samples_lucid(path, &s, &err));
 *	... ct_crossval(&s, ...);
 *	ct_samples_fini(&s);
 */
#ifndef CT_CALIB_SAMPLES_H
#define CT_CALIB_SAMPLES_H

#include "sim/err.h"

#include <stddef.h>
#include <stdint.h>

enum ct_pair_type { CT_PAIR_TT, CT_PAIR_TI, CT_PAIR_II, CT_PAIR_TYPES };
extern const char *const ct_pair_type_name[CT_PAIR_TYPES];

struct ct_sample {
	double slowdown;      /* measured: solo / co-located throughput, > 0 */
	double truth;         /* without noise; NaN = unknown */
	uint32_t pair;        /* both rows of an unordered pair of configurations: the same number */
	uint32_t model_pair;  /* the same for all pairs of the same two models */
	uint32_t type;        /* enum ct_pair_type */
	uint32_t self, other; /* numbers of the two configurations in a measured set, from 0 */
};

struct ct_samples {
	size_t n, width, cap;
	double *x; /* n rows of `width` features */
	struct ct_sample *row;
	size_t ignored; /* rows of the file that a named rule left out (the reader says which) */
};

void ct_samples_init(struct ct_samples *s, size_t width);
void ct_samples_fini(struct ct_samples *s);
/* Appends a row; returns the place of its `width` features. */
double *ct_samples_add(struct ct_samples *s, const struct ct_sample *row);
/* Copies the given rows, in that order, into `out` (initialised here). */
void ct_samples_subset(const struct ct_samples *s, const size_t *rows, size_t n, struct ct_samples *out);

/* Lucid's colocate_info.csv: pairs measured on an RTX 3090, of which speed1 and speed2
 * are the fractions kept; `single` is single_data.csv, the same configurations alone.
 * Features of each job: log2 batch, amp, gpu_util, gmem_util, gmem (GB), log speed, log
 * GPU seconds an iteration; of the pair: the sums of the three utilisations, the
 * balance of gpu_util, the difference of the last. Ignored: the rows of a model whose
 * speed is exactly 1 wherever it stands (PPO and TD3 were not measured, only beside
 * others). CT_ECONFIG with file:line:column, also for a configuration that `single`
 * does not have. */
enum { CT_LUCID_FEATURES = 19 };
int ct_samples_lucid(const char *pairs, const char *single, struct ct_samples *out, struct ct_err *err);

/* Gavel's pairs in the flat form gpu,config_a,config_b,decay_a,decay_b with
 * configurations named "MODEL (batch size N)" or "MODEL", for one GPU ("v100").
 * Features of each job: one-hot model, log2 batch (0 = none). Ignored: pairs of other
 * GPUs. Errors as above; a decay is > 0. */
int ct_samples_gavel(const char *pairs, const char *gpu, struct ct_samples *out, struct ct_err *err);

#endif
