/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate_pai_model.h - the constants of the PAI-like generator as the tables that
 * it draws from and its check compares with. Internal to traces/. */
#ifndef CT_TRACES_GENERATE_PAI_MODEL_H
#define CT_TRACES_GENERATE_PAI_MODEL_H

#include "traces/constants.h"

#include <stddef.h>
#include <stdint.h>

enum {
	CT_PAI_KNOTS = 16,
	CT_PAI_CHOICES = 32,
	CT_PAI_TYPES = 6,
	CT_PAI_NO_TYPE = 5,
	CT_PAI_ROLES = 6,
	CT_PAI_CPU_ROLE = 6
};

/* A distribution by its quantiles: log-linear between two positive knots, else linear. */
struct ct_pai_quantiles {
	size_t n;
	double p[CT_PAI_KNOTS], v[CT_PAI_KNOTS];
};
double ct_pai_quantile(const struct ct_pai_quantiles *q, double p);
double ct_pai_cdf(const struct ct_pai_quantiles *q, double v); /* of v from below where it jumps */

/* A choice among few: shares add up to 1. */
struct ct_pai_choice {
	size_t n;
	const char *name[CT_PAI_CHOICES];
	double at[CT_PAI_CHOICES], share[CT_PAI_CHOICES];
};

/* What a job is made of. The share of each is of all jobs. */
enum ct_pai_shape { CT_PAI_CPU_ONLY, CT_PAI_WITH_PS, CT_PAI_WITH_EVALUATOR, CT_PAI_SINGLE };
struct ct_pai_kind {
	enum ct_pai_shape shape;
	int role; /* place in struct ct_pai_model.role; CT_PAI_CPU_ROLE: no GPU */
	double share;
};

struct ct_pai_model {
	double jobs_per_hour, trace_gpus, trace_jobs, hour_cv, hour[24], weekday[7];
	double users, user_median, user_sigma, heavy_user_share;
	double group_exponent, group_limit;
	struct ct_pai_kind kind[CT_PAI_ROLES + 3];
	size_t n_kinds;
	const char *role[CT_PAI_ROLES];
	int worker, pytorch, xcompute, evaluator;
	struct ct_pai_choice inst_num, inst_pytorch, inst_worker; /* the first: of all */
	struct ct_pai_choice plan, plan_single, plan_gang;        /* the first: of all */
	double gang_share;
	struct ct_pai_choice type_of_plan[CT_PAI_CHOICES]; /* by place in `plan`; places of its choices: types */
	struct ct_pai_choice cpu, mem, tag, configs;
	double whole_gpu_factor, config_ratio, multi_config_groups;
	const char *type[CT_PAI_TYPES];
	struct ct_pai_quantiles run_time[CT_PAI_TYPES], util;
	double run_time_sigma; /* of log run time, all GPU types together */
	double run_time_rho, run_time_inst_corr;
	double util_rho, util_run_time, util_plan, util_role[CT_PAI_ROLES], util_type[CT_PAI_TYPES];
	double mem_median, mem_sigma, mem_overcommit, device_mem[CT_PAI_TYPES];
	double tagged_share, infer_below;
	double failed_gpu, failed_cpu, failed_all, failed_rate, failed_median, failed_sigma;
};

/* Texts live as long as the constants. CT_ECONFIG: missing or impossible ones, all. */
int ct_pai_model_make(const struct ct_constants *c, struct ct_pai_model *m, struct ct_err *err);

#endif
