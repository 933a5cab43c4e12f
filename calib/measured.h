/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measured.h - calibration files of measured numbers only: families of configurations
 * and slow-downs of their pairs exactly as others published them, no model between.
 *
 *	struct ct_measured_report r;
 *	CT_TRY(ct_measured_lucid("lucid", NULL, &r, &c, &err));   // single_data.csv, colocate_info.csv
 *	CT_TRY(ct_measured_gavel("oracle_throughputs.json", NULL, "v100", NULL, &r, &c, &err));
 *	ct_calibration_write(c, "lucid.h5", &err);
 *
 * Lucid (RTX 3090, training jobs): a model with a data set is a workload, batch x mixed
 * precision its configurations ("b64+amp") with speed, memory and utilisation as
 * measured (gpu_util stands for SM activity, gmem_util for DRAM activity). Left out, and
 * named: models whose speed is 1 in every row (they were not measured, only stood beside
 * others: PPO, TD3), and models that no pair has.
 *
 * Gavel (K80, P100, V100): its own JSON (GPU -> job -> "null" or partner -> throughputs;
 * job is "MODEL (batch size N)" or, newer, "('MODEL (batch size N)', GPUS)"), or CSV with
 * gpu,job_a,scale_a,job_b,scale_b,alone_a,alone_b,packed_a,packed_b. Jobs of one GPU. Or
 * CSV with gpu,config_a,config_b,decay_a,decay_b (fractions kept), and the throughputs
 * alone from a file `solo` of the CSV form above. A job without a batch size has the one configuration "default".
 * Throughputs are steps a second there, samples a second here (times the batch size, where
 * there is one), so that configurations of one workload compare.
 * Memory and utilisation are not in the file: memory 0, SM activity NaN, both "unknown".
 *
 * The default configuration of a workload is its largest batch without mixed precision.
 *
 * Pairs. One that is there several times keeps the mean of its speeds, a configuration
 * beside itself the mean of both. A pair that did not run together (throughput 0) is kept
 * as the largest slow-down a file may hold, CT_CALIB_FAILED: both all but stand still.
 * A pair that was never measured is not in the file; in runs `contention` says what it
 * costs (contention.pairs by model, else contention.fallback). The report counts all. */
#ifndef CT_CALIB_MEASURED_H
#define CT_CALIB_MEASURED_H

#include "calib/calibration.h"
#include "calib/samples.h"

struct ct_measured_report {
	size_t rows;                         /* pairs that the file has for this GPU */
	size_t workloads, configs, pairs;    /* kept */
	size_t possible;                     /* pairs of the kept configurations, each beside itself included */
	size_t failed;                       /* of the kept pairs: did not run together */
	size_t repeated;                     /* rows that met a pair that was there already */
	size_t speedups;                     /* slow-downs below 1 among those kept */
	size_t left_out;                     /* rows of models that were left out */
	size_t several_gpus;                 /* rows of jobs on several GPUs, left out */
	char unmeasured[256], unpaired[256]; /* models left out, separated by ", " */
};

/* `gpus`: CSV name,gpu,mem_mib,source; NULL: memory unknown, the name as given. Errors:
 * CT_ECONFIG with file:line:column, CT_EIO. */
int ct_measured_lucid(const char *dir, const char *gpus, struct ct_measured_report *report, struct ct_calibration **out,
		      struct ct_err *err);
int ct_measured_gavel(const char *path, const char *solo, const char *gpu, const char *gpus,
		      struct ct_measured_report *report, struct ct_calibration **out, struct ct_err *err);

/* The measured pairs of any calibration file as samples of the 36 features; what was not
 * measured of a configuration is 0. Where a configuration has no counters, one-hot names
 * of the two workloads follow. Pairs that did not run together are ignored. */
void ct_samples_calibration(const struct ct_calibration *c, struct ct_samples *out);

#endif
