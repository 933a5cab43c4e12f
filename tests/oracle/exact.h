/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact.h - the best that any scheduler could do at one instant, by integer
 * programming (GLPK). Shares no code with the policies.
 *
 * exact_aggregate(): equations 1 to 5 of the ElastiCo paper. One configuration a job,
 * the sums of needs within the cluster's capacities, no GPU and no sharing in it:
 *
 *	max sum w_j T_j(c) x_jc,  sum_c x_jc = 1,  sum R_j(c)[r] x_jc <= C_r,  T_j(c) >= L_j
 *
 * With `may_wait` the equality is <= 1: as published it has no solution once the jobs'
 * smallest configurations do not fit together.
 *
 * exact_placed(): single-GPU jobs onto identical GPUs, one or two a GPU, valued by the
 * throughput that they keep under sharing,
 *
 *	max sum w_j T_j(c) / S(j|partner),  M_i + M_j <= mem_two,  T_j(c) / S >= L_j,
 *
 * jobs may wait. What a GPU holds decides its value and nothing else does, so of all
 * pairs of configurations of two jobs the best one is enough: a column a job and one
 * a pair of jobs, at most `gpus` columns, each job at most once (set packing).
 *
 * Both return 0, EXACT_INFEASIBLE, or EXACT_ABSENT when built without GLPK. Throughputs
 * and floors are in one unit of the caller's. */
#ifndef CT_TESTS_ORACLE_EXACT_H
#define CT_TESTS_ORACLE_EXACT_H

#include <stdint.h>

enum { EXACT_JOBS = 64, EXACT_ABSENT = 1, EXACT_INFEASIBLE };
#define EXACT_NONE UINT32_MAX
enum { EXACT_SM, EXACT_GPU_MEM, EXACT_CPU, EXACT_HOST_MEM, EXACT_RESOURCES };

struct exact_config {
	double throughput; /* alone; > 0 */
	double need[EXACT_RESOURCES];
};

struct exact_job {
	const struct exact_config *config;
	uint32_t n;
	double weight, floor;
};

/* Slow-down >= 1 of `job` in configuration `config` beside the other two numbers. */
typedef double exact_slowdown(const void *ctx, uint32_t job, uint32_t config, uint32_t other, uint32_t other_config);

struct exact_gpus {
	uint32_t gpus;
	double mem, mem_two; /* of a GPU with one resident, with two */
	exact_slowdown *slowdown;
	const void *ctx;
};

struct exact_answer {
	double value;
	uint32_t config[EXACT_JOBS];  /* EXACT_NONE: waits */
	uint32_t partner[EXACT_JOBS]; /* EXACT_NONE: alone or waiting; exact_placed() only */
};

int exact_present(void);
int exact_aggregate(const struct exact_job *jobs, uint32_t n, const double capacity[EXACT_RESOURCES], int may_wait,
		    struct exact_answer *out);
int exact_placed(const struct exact_job *jobs, uint32_t n, const struct exact_gpus *gpus, struct exact_answer *out);

/* Weighted throughput that two jobs keep beside each other in these configurations;
 * below 0: not allowed (memory, a floor). */
double exact_pair_value(const struct exact_job *jobs, const struct exact_gpus *gpus, uint32_t i, uint32_t ci,
			uint32_t j, uint32_t cj);

#endif
