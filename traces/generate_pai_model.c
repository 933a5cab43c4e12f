/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/generate_pai_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- quantile tables */

static double between(double a, double b, double f)
{
	return a > 0 && b > 0 ? a * pow(b / a, f) : a + (b - a) * f;
}

double ct_pai_quantile(const struct ct_pai_quantiles *q, double p)
{
	size_t i = 1;

	while (i + 1 < q->n && p > q->p[i])
		i++;
	return between(q->v[i - 1], q->v[i], (p - q->p[i - 1]) / (q->p[i] - q->p[i - 1]));
}

double ct_pai_cdf(const struct ct_pai_quantiles *q, double v)
{
	size_t i = 1;
	double a, b, f;

	if (v < q->v[0])
		return 0;
	while (i < q->n && v >= q->v[i])
		i++;
	if (i == q->n)
		return 1;
	a = q->v[i - 1];
	b = q->v[i];
	f = a > 0 ? log(v / a) / log(b / a) : (v - a) / (b - a);
	return q->p[i - 1] + f * (q->p[i] - q->p[i - 1]);
}

static void read_quantiles(const struct ct_constants *c, const char *name, struct ct_pai_quantiles *q,
			   struct ct_err *err)
{
	const struct ct_constant_table *t = ct_constant_table(c, name, 2, err);

	if (!t)
		return;
	q->n = t->n < CT_PAI_KNOTS ? t->n : CT_PAI_KNOTS;
	for (size_t i = 0; i < q->n; i++) {
		q->p[i] = t->row[i].at_number;
		q->v[i] = t->row[i].value;
		if (!(q->p[i] >= 0) || (i && (!(q->p[i] > q->p[i - 1]) || q->v[i] < q->v[i - 1])))
			ct_constants_refuse(c, err, "'%s' wants ascending quantiles, at '%s'", name, t->row[i].at);
	}
	if (t->n > CT_PAI_KNOTS || q->p[0] != 0 || q->p[q->n - 1] != 1)
		ct_constants_refuse(c, err, "'%s' wants at most %d quantiles from 0 to 1", name, (int)CT_PAI_KNOTS);
}

/* ---- choices */

static int normalise(struct ct_pai_choice *t)
{
	double sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (!(t->share[i] >= 0))
			return -1;
		sum += t->share[i];
	}
	for (size_t i = 0; i < t->n; i++)
		t->share[i] /= sum;
	return sum > 0 ? 0 : -1;
}

static void read_choice(const struct ct_constants *c, const char *name, struct ct_pai_choice *out, struct ct_err *err)
{
	const struct ct_constant_table *t = ct_constant_table(c, name, 1, err);

	if (!t)
		return;
	out->n = t->n < CT_PAI_CHOICES ? t->n : CT_PAI_CHOICES;
	for (size_t i = 0; i < out->n; i++) {
		out->name[i] = t->row[i].at;
		out->at[i] = t->row[i].at_number;
		out->share[i] = t->row[i].value;
	}
	if (normalise(out) || t->n > CT_PAI_CHOICES)
		ct_constants_refuse(c, err, "'%s' wants at most %d shares that are not negative", name,
				    (int)CT_PAI_CHOICES);
}

static double share_at(const struct ct_pai_choice *t, double at)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i] == at)
			return t->share[i];
	return 0;
}

/* all = weight x part + (1 - weight) x rest, solved for rest. */
static void residual(const struct ct_constants *c, const char *name, const struct ct_pai_choice *all,
		     const struct ct_pai_choice *part, double weight, struct ct_pai_choice *rest, struct ct_err *err)
{
	*rest = *all;
	for (size_t i = 0; i < all->n; i++) {
		rest->share[i] = all->share[i] - weight * share_at(part, all->at[i]);
		if (rest->share[i] < -1e-9)
			ct_constants_refuse(c, err, "'%s' leaves a share of %g for '%s', below zero", name,
					    rest->share[i], all->name[i]);
		rest->share[i] = fmax(rest->share[i], 0);
	}
	normalise(rest);
}

/* ---- parts of the model */

static void read_arrivals(const struct ct_constants *c, struct ct_pai_model *m, struct ct_err *err)
{
	const struct ct_constant_table *hour = ct_constant_table(c, "hour_weight", 24, err);
	const struct ct_constant_table *day = ct_constant_table(c, "weekday_weight", 7, err);
	double sum = 0;

	m->jobs_per_hour = ct_constant(c, "jobs_per_hour", err);
	m->trace_gpus = ct_constant(c, "trace_gpus", err);
	m->trace_jobs = ct_constant(c, "trace_jobs", err);
	m->hour_cv = ct_constant(c, "hour_cv", err);
	for (size_t i = 0; hour && i < 24; i++)
		sum += hour->row[i].value;
	for (size_t i = 0; hour && i < 24; i++)
		m->hour[i] = hour->row[i].value * 24 / sum;
	for (size_t i = 0; day && i < 7; i++)
		m->weekday[i] = day->row[i].value;
}

static void read_people(const struct ct_constants *c, struct ct_pai_model *m, struct ct_err *err)
{
	m->users = ct_constant(c, "users", err);
	m->user_median = ct_constant(c, "user_median", err);
	m->user_sigma = ct_constant(c, "user_sigma", err);
	m->heavy_user_share = ct_constant(c, "heavy_user_share", err);
	m->group_exponent = ct_constant(c, "group_exponent", err);
	m->group_limit = ct_constant(c, "group_limit", err);
	m->multi_config_groups = ct_constant(c, "multi_config_groups", err);
	m->config_ratio = ct_constant(c, "config_ratio", err);
	read_choice(c, "configs", &m->configs, err);
	m->tagged_share = ct_constant(c, "tagged_share", err);
	read_choice(c, "tag", &m->tag, err);
	m->infer_below = ct_constant(c, "infer_below", err);
	m->failed_gpu = ct_constant(c, "failed_gpu", err);
	m->failed_cpu = ct_constant(c, "failed_cpu", err);
	m->failed_all = ct_constant(c, "failed_groups_all", err);
	m->failed_rate = ct_constant(c, "failed_rate", err);
	m->failed_median = ct_constant(c, "failed_median", err);
	m->failed_sigma = ct_constant(c, "failed_sigma", err);
}

static void add_kind(struct ct_pai_model *m, enum ct_pai_shape shape, int role, double share)
{
	m->kind[m->n_kinds++] = (struct ct_pai_kind){ shape, role, share };
}

static int role_of(struct ct_pai_model *m, const struct ct_pai_choice *roles, const char *name)
{
	for (size_t i = 0; i < roles->n; i++)
		if (strcmp(roles->name[i], name) == 0)
			return (int)i;
	(void)m;
	return -1;
}

/* From shares of tasks to shares of jobs. A job has one GPU task, two with an
 * evaluator; so many jobs have no GPU that the share of tasks without is as given. */
static void make_kinds(const struct ct_constants *c, struct ct_pai_model *m, const struct ct_pai_choice *role,
		       double ps, double evaluator, double cpu_tasks, struct ct_err *err)
{
	double tasks = 1 + ps + 2 * evaluator, cpu = cpu_tasks * tasks - ps - evaluator;
	double gpu_tasks = 1 - cpu + evaluator;

	if (m->worker < 0 || m->pytorch < 0 || m->xcompute < 0 || m->evaluator < 0 || cpu < 0 ||
	    role->share[m->worker] * gpu_tasks < ps + evaluator) {
		ct_constants_refuse(c, err, "'role', 'shape' and 'cpu_only_tasks' do not go together");
		return;
	}
	add_kind(m, CT_PAI_CPU_ONLY, CT_PAI_CPU_ROLE, cpu);
	add_kind(m, CT_PAI_WITH_PS, m->worker, ps);
	add_kind(m, CT_PAI_WITH_EVALUATOR, m->worker, evaluator);
	for (size_t i = 0; i < role->n; i++)
		if ((int)i != m->evaluator)
			add_kind(m, CT_PAI_SINGLE, (int)i,
				 role->share[i] * gpu_tasks - ((int)i == m->worker ? ps + evaluator : 0));
}

/* Workers get the instances that the other roles leave: tensorflow, xCompute and the
 * rest have one, PyTorch a table of its own. */
static void make_instances(const struct ct_constants *c, struct ct_pai_model *m, struct ct_err *err)
{
	const struct ct_pai_choice one = { 1, { "1" }, { 1 }, { 1 } };
	struct ct_pai_choice rest;
	double gpu = 0, worker = 0, pytorch = 0;

	for (size_t i = 0; i < m->n_kinds; i++) {
		gpu += m->kind[i].role == CT_PAI_CPU_ROLE ? 0 : m->kind[i].share;
		worker += m->kind[i].role == m->worker ? m->kind[i].share : 0;
		pytorch += m->kind[i].role == m->pytorch ? m->kind[i].share : 0;
	}
	if (!(worker > 0 && gpu > worker + pytorch))
		return;
	residual(c, "inst_num", &m->inst_num, &m->inst_pytorch, pytorch / gpu, &rest, err);
	/* `rest` is normalised over 1 - pytorch */
	residual(c, "inst_num", &rest, &one, (gpu - worker - pytorch) / (gpu - pytorch), &m->inst_worker, err);
}

static void read_sizes(const struct ct_constants *c, struct ct_pai_model *m, struct ct_err *err)
{
	struct ct_pai_choice role = { 0 };
	const struct ct_constant_table *shape = ct_constant_table(c, "shape", 2, err);
	double cpu = ct_constant(c, "cpu_only_tasks", err);

	read_choice(c, "role", &role, err);
	read_choice(c, "inst_num", &m->inst_num, err);
	read_choice(c, "inst_num_PyTorchWorker", &m->inst_pytorch, err);
	read_choice(c, "plan_gpu", &m->plan, err);
	read_choice(c, "plan_gpu_gang", &m->plan_gang, err);
	read_choice(c, "plan_cpu", &m->cpu, err);
	read_choice(c, "plan_mem", &m->mem, err);
	m->whole_gpu_factor = ct_constant(c, "whole_gpu_factor", err);
	if (err->code)
		return;
	if (role.n != CT_PAI_ROLES) {
		ct_constants_refuse(c, err, "'role' wants %d rows", (int)CT_PAI_ROLES);
		return;
	}
	for (size_t i = 0; i < role.n; i++)
		m->role[i] = role.name[i];
	m->worker = role_of(m, &role, "worker");
	m->pytorch = role_of(m, &role, "PyTorchWorker");
	m->xcompute = role_of(m, &role, "xComputeWorker");
	m->evaluator = role_of(m, &role, "evaluator");
	make_kinds(c, m, &role, ct_constant_at(shape, "ps+worker"), ct_constant_at(shape, "evaluator+ps+worker"), cpu,
		   err);
	if (err->code)
		return;
	make_instances(c, m, err);
	m->gang_share = 1 - share_at(&m->inst_num, 1);
	residual(c, "plan_gpu", &m->plan, &m->plan_gang, m->gang_share, &m->plan_single, err);
}

static size_t type_named(const struct ct_pai_model *m, const char *name)
{
	size_t i = 0;

	while (i < CT_PAI_NO_TYPE && strcmp(m->type[i], name) != 0)
		i++;
	return i;
}

/* The published rows are for ranges of plan_gpu. */
static const char *type_table(double plan)
{
	static const struct {
		double most;
		const char *name;
	} range[] = { { 20, "gpu_type_20" },   { 30, "gpu_type_25" },   { 50, "gpu_type_50" },
		      { 100, "gpu_type_100" }, { 300, "gpu_type_300" }, { 500, "gpu_type_500" } };

	for (size_t i = 0; i < sizeof range / sizeof *range; i++)
		if (plan <= range[i].most)
			return range[i].name;
	return "gpu_type_800";
}

static double per_type(const struct ct_constants *c, const char *table, const char *type, double otherwise,
		       struct ct_err *err)
{
	const struct ct_constant_table *t = ct_constant_table(c, table, 1, err);
	double v = t ? ct_constant_at(t, type) : (double)NAN;

	return isnan(v) ? otherwise : v;
}

static void read_types(const struct ct_constants *c, struct ct_pai_model *m, struct ct_err *err)
{
	static const char *const types[CT_PAI_TYPES] = { "MISC", "T4", "P100", "V100", "V100M32", "none" };

	for (size_t i = 0; i < CT_PAI_TYPES; i++) {
		char name[32];

		m->type[i] = types[i];
		snprintf(name, sizeof name, "run_time_%s", types[i]);
		read_quantiles(c, name, &m->run_time[i], err);
		m->util_type[i] = per_type(c, "util_shift", types[i], 0, err);
		m->device_mem[i] = per_type(c, "device_mem", types[i], 16, err);
	}
	for (size_t i = 0; i < m->plan.n; i++) {
		struct ct_pai_choice *t = &m->type_of_plan[i];

		read_choice(c, type_table(m->plan.at[i]), t, err);
		for (size_t k = 0; k < t->n; k++) {
			t->at[k] = (double)type_named(m, t->name[k]);
			if (t->at[k] == CT_PAI_NO_TYPE)
				ct_constants_refuse(c, err, "'%s' has the unknown type '%s'", type_table(m->plan.at[i]),
						    t->name[k]);
		}
	}
	for (size_t i = 0; i < CT_PAI_ROLES && m->role[i]; i++)
		m->util_role[i] = per_type(c, "util_shift", m->role[i], 0, err);
}

static void read_use(const struct ct_constants *c, struct ct_pai_model *m, struct ct_err *err)
{
	m->run_time_rho = ct_constant(c, "group_run_time_rho", err);
	m->run_time_inst_corr = ct_constant(c, "run_time_inst_num_corr", err);
	read_quantiles(c, "gpu_util", &m->util, err);
	m->util_rho = ct_constant(c, "util_group_rho", err);
	m->util_run_time = ct_constant(c, "util_run_time_corr", err);
	m->util_plan = ct_constant(c, "util_plan_corr", err);
	m->mem_median = ct_constant(c, "gpu_mem_median", err);
	m->mem_sigma = ct_constant(c, "gpu_mem_sigma", err);
	m->mem_overcommit = ct_constant(c, "gpu_mem_overcommit", err);
	if (!(m->run_time_rho > 0 && m->run_time_rho <= 1 && m->util_rho > 0 && m->util_rho <= 1) ||
	    m->util_plan * m->util_plan + m->util_run_time * m->util_run_time / m->run_time_rho > m->util_rho)
		ct_constants_refuse(c, err, "the correlations of run time and utilisation do not go together");
}

static double sigma_of(const struct ct_pai_quantiles *q)
{
	enum { STEPS = 1000 };
	double sum = 0, sum2 = 0;

	for (int i = 0; i < STEPS; i++) {
		double x = log(ct_pai_quantile(q, (i + .5) / STEPS));

		sum += x;
		sum2 += x * x;
	}
	return sqrt(sum2 / STEPS - sum / STEPS * (sum / STEPS));
}

int ct_pai_model_make(const struct ct_constants *c, struct ct_pai_model *m, struct ct_err *err)
{
	memset(m, 0, sizeof *m);
	read_arrivals(c, m, err);
	read_people(c, m, err);
	read_sizes(c, m, err);
	read_types(c, m, err);
	read_use(c, m, err);
	if (!err->code && !(m->users >= 1 && m->group_limit >= 1 && m->group_exponent > 1 && m->user_median > 0 &&
			    m->mem_median > 0 && m->failed_median > 0 && m->jobs_per_hour > 0 && m->trace_gpus > 0 &&
			    m->trace_jobs > 0 && m->hour_cv > 0 && m->run_time[0].v[0] > 0))
		ct_constants_refuse(c, err, "a rate, size or spread that must be positive is not");
	if (!err->code)
		m->run_time_sigma = sigma_of(&m->run_time[0]);
	return (int)err->code;
}
