/* SPDX-License-Identifier: GPL-3.0-or-later */
/* brute.h - an independent simulator of the simple policies on a small cluster,
 * written from their definitions with linear scans over everything. It shares no
 * code with sim/ or scheduler/ and knows nothing of their data structures.
 *
 * At each instant all completions come first, then all arrivals, then one pass.
 * One queue; GPUs are numbered through, `per_node` to a node. Times in any unit. */
#ifndef CT_TESTS_ORACLE_BRUTE_H
#define CT_TESTS_ORACLE_BRUTE_H

#include <stdint.h>

enum { BRUTE_JOBS = 64, BRUTE_GPUS = 64 };

enum brute_policy { BRUTE_FIFO, BRUTE_FIRSTFIT, BRUTE_SJF, BRUTE_EASY, BRUTE_SRTF, BRUTE_LAS };

struct brute_job {
	int64_t submit, duration, estimate; /* in order of submission */
	int gpus, cpus;                     /* cpus of the whole job */
	int type;                           /* of the GPUs it accepts, -1 = any */
};

struct brute_cluster {
	int gpus, per_node;
	int first_type1;   /* GPUs from this one on are of type 1, the others of type 0 */
	int cpus_per_node; /* 0 = unlimited */
	int pack;          /* one node best fit, large jobs whole nodes; 0: lowest idle GPUs */
};

struct brute_rules {
	enum brute_policy policy;
	int skip;          /* pass over what does not fit (fifo, sjf) */
	int64_t threshold; /* las: attained time x GPUs */
	int64_t promote;   /* las: 0 = never */
};

/* First start and finish of each job. Nonzero: some job never ran. */
int brute_run(const struct brute_cluster *c, const struct brute_rules *r, const struct brute_job *jobs, int n,
	      int64_t *start, int64_t *finish);

#endif
