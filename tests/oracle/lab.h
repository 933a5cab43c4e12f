/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lab.h - small runs on the calibrated A100: jobs of the twelve workloads, one GPU
 * each, on one node, under any policy. Truth and predictor are made once (training
 * takes seconds) and serve any number of runs.
 *
 *	struct lab lab;
 *	struct lab_run run;
 *	lab_init(&lab, CT_BELIEF_ORACLE, 0);
 *	lab_run(&lab, &(struct lab_request){ .job = jobs, .n = 4, .gpus = 2, .policy = "elastico" }, &run);
 *	... ct_world_outcomes(run.world) ...
 *	lab_run_fini(&run);
 *	lab_fini(&lab);
 *
 * Failures end the test. */
#ifndef CT_TESTS_ORACLE_LAB_H
#define CT_TESTS_ORACLE_LAB_H

#include "calib/belief.h"
#include "calib/truth.h"
#include "sim/world.h"

#include <stdint.h>

enum { LAB_MODELS = 12, LAB_JOBS = 16, LAB_GPU_MIB = 40960, LAB_RESERVE_MIB = 512 };
enum lab_model {
	LAB_RESNET,
	LAB_BERT,
	LAB_DCGAN,
	LAB_POINTNET,
	LAB_TRANSFORMER,
	LAB_LSTM,
	LAB_NCF,
	LAB_PPO,
	LAB_DEEPSEEK,
	LAB_QWEN,
	LAB_MISTRAL,
	LAB_LLAMA
};

struct lab {
	struct ct_workload *work; /* one job a model: job m is model m */
	struct ct_truth *truth;   /* without residual */
	struct ct_believer *believer;
	struct ct_arena arena;
	struct ct_transition_table transitions; /* of the A100 folder */
	double *slowdown;                       /* [kind][kind], 0 = not asked yet */
	uint32_t n_kinds;
};

struct lab_job {
	enum lab_model model;
	double submit_s, duration_s;
};

struct lab_request {
	const struct lab_job *job;
	uint32_t n, gpus;
	const char *policy;
	const char *const *settings; /* "name=value", ends with NULL; may be NULL */
	double until_s;              /* the run stops there; 0: when all jobs have ended */
	int free_transitions;        /* switches and moves cost nothing */
};

struct lab_run {
	struct ct_world *world; /* finished; with its events */
	struct lab_run_own *own;
};

void lab_init(struct lab *lab, enum ct_belief_predictor predictor, double profile_error);
void lab_fini(struct lab *lab);
const char *lab_model_name(enum lab_model m);
const struct ct_family *lab_family(const struct lab *lab, enum lab_model m);
/* Number of the configuration with that name. */
uint32_t lab_config(const struct lab *lab, enum lab_model m, const char *name);
/* True slow-down of a model in a configuration beside another. */
double lab_slowdown(const struct lab *lab, enum lab_model self, uint32_t config, enum lab_model other,
		    uint32_t other_config);
void lab_run(const struct lab *lab, const struct lab_request *q, struct lab_run *out);
void lab_run_fini(struct lab_run *run);

#endif
