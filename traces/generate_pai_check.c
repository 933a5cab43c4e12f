/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a workload is from the recipe, read off the workload alone: its jobs and
 * the columns task_name, instances, plan_gpu, gpu_util, tag. Limits: what the
 * layout of generate_pai.c promises, and 1.63 / sqrt(n) (the KS distance that chance
 * exceeds once in a hundred) where jobs draw independently. */
#include "sim/memory.h"
#include "traces/generate_pai.h"
#include "traces/generate_pai_model.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One job as the recipe sees it; NaN = does not apply. */
struct row {
	double run_s, inst, plan, util, cpu, mem;
	uint32_t group, user, task, type;
	int failed, single, tagged;
	ct_time submit;
};

struct check {
	struct ct_pai_model m;
	const struct ct_constants *c;
	const struct ct_workload *w;
	struct ct_marginals *out;
	struct ct_err *err;
	struct row *row;
	double *v;
	size_t n, gpu;
	double days;
	int failed;
};

static void put(struct check *k, const char *name, const char *measure, double target, double got, double distance,
		double limit)
{
	struct ct_marginal m = { name, measure, target, got, distance, limit };

	ct_marginals_add(k->out, &m);
}

static void put_absolute(struct check *k, const char *name, double target, double got, double limit)
{
	put(k, name, "absolute", target, got, fabs(got - target), limit);
}

static void put_relative(struct check *k, const char *name, double target, double got, double limit)
{
	put(k, name, "relative", target, got, fabs(got / target - 1), limit);
}

static double chance(double n)
{
	return n > 0 ? 1.63 / sqrt(n) : 1;
}

/* ---- the jobs */

static const struct ct_extra_column *column(const struct check *k, const char *name)
{
	for (size_t i = 0; i < k->w->n_columns; i++)
		if (strcmp(k->w->columns[i].name, name) == 0)
			return &k->w->columns[i];
	ct_err_add(k->err, CT_ETRACE, NULL, "the workload has no column '%s', which the check needs", name);
	return NULL;
}

static double number(const struct check *k, const struct ct_extra_column *c, size_t job)
{
	const char *s = ct_strings_text(&k->w->strings, c->value[job]);

	return *s ? strtod(s, NULL) : (double)NAN; /* our own text: a number, or empty */
}

static struct row row_of(const struct check *k, size_t i, const struct ct_extra_column *const c[5])
{
	const struct ct_job *j = &k->w->jobs[i];
	struct row r = { .run_s = ct_seconds(j->duration_us), .group = j->group, .user = j->user, .type = j->gpu_type };
	double factor;

	r.submit = j->submit_us;
	r.task = c[0]->value[i];
	r.inst = number(k, c[1], i);
	r.plan = number(k, c[2], i);
	r.util = number(k, c[3], i);
	r.tagged = c[4]->value[i] != 0;
	r.single = !strchr(ct_strings_text(&k->w->strings, r.task), '+');
	r.failed = strcmp(ct_strings_text(&k->w->strings, j->state), "Failed") == 0;
	factor = r.plan >= 200 ? k->m.whole_gpu_factor : 1;
	r.cpu = j->cpu_milli / 10.0 / r.inst / factor;
	r.mem = j->mem_mib / 1024.0 / r.inst / factor;
	return r;
}

static int read_rows(struct check *k)
{
	const struct ct_extra_column *c[5] = { column(k, "task_name"), column(k, "instances"), column(k, "plan_gpu"),
					       column(k, "gpu_util"), column(k, "tag") };

	if (k->err->code)
		return (int)k->err->code;
	k->n = k->w->n;
	k->row = ct_calloc(k->n, sizeof *k->row);
	k->v = ct_calloc(k->n, sizeof *k->v);
	for (size_t i = 0; i < k->n; i++) {
		k->row[i] = row_of(k, i, c);
		k->gpu += isnan(k->row[i].plan) ? 0 : 1;
		k->failed |= k->row[i].failed;
	}
	k->days = ct_seconds(k->w->jobs[k->n - 1].submit_us) / 86400;
	return 0;
}

/* ---- distances */

/* Kolmogorov-Smirnov distance of k->v[0..n) to quantiles. Values are rounded to
 * `grain`: compared is the share up to the middle between two of them. */
static double ks(struct check *k, size_t n, const struct ct_pai_quantiles *q, double grain)
{
	double worst = 0;

	gsl_sort(k->v, 1, n);
	for (size_t i = 0; i < n; i++) {
		double d;

		if (i + 1 < n && k->v[i + 1] == k->v[i])
			continue;
		d = fabs((double)(i + 1) / (double)n - ct_pai_cdf(q, k->v[i] + grain / 2));
		worst = d > worst ? d : worst;
	}
	return worst;
}

/* Largest difference of the shares of a column's values to a choice. */
static double share_distance(const struct check *k, double (*value)(const struct row *), const struct ct_pai_choice *t,
			     double *n_out)
{
	double count[CT_PAI_CHOICES] = { 0 }, n = 0, worst = 0, other = 0;

	for (size_t i = 0; i < k->n; i++) {
		double v = value(&k->row[i]);
		size_t at = 0;

		if (isnan(v))
			continue;
		n++;
		while (at < t->n && fabs(v - t->at[at]) > 1e-3 * t->at[at])
			at++;
		if (at < t->n)
			count[at]++;
		else
			other++;
	}
	for (size_t i = 0; i < t->n; i++)
		worst = fmax(worst, fabs(count[i] / n - t->share[i]));
	*n_out = n;
	return fmax(worst, other / n);
}

static double plan_of(const struct row *r)
{
	return r->plan;
}
static double inst_of(const struct row *r)
{
	return isnan(r->plan) ? (double)NAN : r->inst;
}
static double cpu_of(const struct row *r)
{
	return r->single ? r->cpu : (double)NAN;
}
static double mem_of(const struct row *r)
{
	return r->single ? r->mem : (double)NAN;
}

/* Jobs of the largest group over all: the layout's error at a boundary. */
static double grain_of_groups(const struct check *k)
{
	uint32_t *size = ct_calloc(k->w->strings.n, sizeof *size), most = 0;

	for (size_t i = 0; i < k->n; i++) {
		uint32_t n = ++size[k->row[i].group];

		most = n > most ? n : most;
	}
	free(size);
	return (double)most / (double)k->n;
}

/* ---- the marginals */

static void check_run_times(struct check *k)
{
	static const char *const name[CT_PAI_TYPES] = { "run time MISC", "run time T4",      "run time P100",
							"run time V100", "run time V100M32", "run time no GPU" };

	for (size_t t = 0; t < CT_PAI_TYPES; t++) {
		size_t n = 0;

		for (size_t i = 0; i < k->n; i++) {
			const char *type = ct_strings_text(&k->w->strings, k->row[i].type);

			if (!k->row[i].failed && strcmp(type, t == CT_PAI_NO_TYPE ? "" : k->m.type[t]) == 0)
				k->v[n++] = k->row[i].run_s;
		}
		if (n < 100)
			continue;
		put(k, name[t], "KS", ct_pai_quantile(&k->m.run_time[t], .5), NAN, ks(k, n, &k->m.run_time[t], 1),
		    .02 + chance((double)n));
		k->out->row[k->out->n - 1].got = k->v[n / 2];
	}
}

static void check_all_run_times(struct check *k)
{
	double sum = 0, low = ct_constant(k->c, "mean_run_time_low", k->err),
	       high = ct_constant(k->c, "mean_run_time_high", k->err);
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++) {
		if (k->row[i].failed)
			continue;
		k->v[n++] = k->row[i].run_s;
		sum += k->row[i].run_s;
	}
	if (!n)
		return;
	gsl_sort(k->v, 1, n);
	put_relative(k, "median run time", ct_constant(k->c, "median_run_time", k->err), k->v[n / 2],
		     .05 + 2 * chance((double)n));
	put(k, "mean run time", "outside of range", (low + high) / 2, sum / (double)n,
	    fmax(0, fmax(low - sum / (double)n, sum / (double)n - high)) / low, .05 + 2 * chance((double)n));
}

static void check_requests(struct check *k)
{
	double n, grain = grain_of_groups(k), fractional = 0;

	for (size_t i = 0; i < k->n; i++)
		fractional += k->row[i].plan < 100;
	put_absolute(k, "fractional share of tasks with a GPU", ct_constant(k->c, "fractional_tasks", k->err),
		     fractional / (double)k->gpu, .005 + chance((double)k->gpu) / 10);
	put(k, "plan_gpu", "max |share|", NAN, NAN, share_distance(k, plan_of, &k->m.plan, &n), .002 + grain);
	put(k, "inst_num", "max |share|", NAN, NAN, share_distance(k, inst_of, &k->m.inst_num, &n), .002 + grain);
	put(k, "plan_cpu", "max |share|", NAN, NAN, share_distance(k, cpu_of, &k->m.cpu, &n), .03 + grain);
	put(k, "plan_mem", "max |share|", NAN, NAN, share_distance(k, mem_of, &k->m.mem, &n), .03 + grain);
}

/* Shares of jobs by what they are made of, and of tasks without a GPU. */
static void check_roles(struct check *k)
{
	double tasks = 0, cpu = 0, worst = 0, tagged = 0;
	const char *const shape[] = { "ps", "ps+worker", "evaluator+ps+worker" };

	for (size_t i = 0; i < k->n; i++) {
		const char *t = ct_strings_text(&k->w->strings, k->row[i].task);

		tasks++;
		for (const char *s = t; *s; s++)
			tasks += *s == '+';
		cpu += strncmp(t, "ps", 2) == 0 || strstr(t, "+ps+");
		tagged += k->row[i].tagged;
	}
	for (size_t q = 0; q < k->m.n_kinds; q++) {
		const struct ct_pai_kind *kind = &k->m.kind[q];
		const char *name = kind->shape == CT_PAI_SINGLE ? k->m.role[kind->role] : shape[kind->shape];
		uint32_t s = ct_strings_find(&k->w->strings, name, strlen(name));
		double n = 0;

		for (size_t i = 0; i < k->n; i++)
			n += k->row[i].task == s;
		worst = fmax(worst, fabs(n / (double)k->n - kind->share));
	}
	put(k, "roles and shapes of jobs", "max |share|", NAN, NAN, worst, .002 + grain_of_groups(k));
	put_absolute(k, "tasks without a GPU", ct_constant(k->c, "cpu_only_tasks", k->err), cpu / tasks,
		     .005 + grain_of_groups(k));
	put_absolute(k, "jobs with a workload tag", k->m.tagged_share, tagged / (double)k->n,
		     .002 + grain_of_groups(k));
}

static void check_types(struct check *k)
{
	for (size_t p = 0; p < k->m.plan.n; p++) {
		const struct ct_pai_choice *t = &k->m.type_of_plan[p];
		double n = 0, worst = 0;
		char name[48];

		for (size_t i = 0; i < k->n; i++)
			n += k->row[i].plan == k->m.plan.at[p];
		if (n < (double)k->n / 50)
			continue;
		for (size_t c = 0; c < t->n; c++) {
			double got = 0;
			uint32_t s = ct_strings_find(&k->w->strings, t->name[c], strlen(t->name[c]));

			for (size_t i = 0; i < k->n; i++)
				got += k->row[i].plan == k->m.plan.at[p] && k->row[i].type == s;
			worst = fmax(worst, fabs(got / n - t->share[c]));
		}
		snprintf(name, sizeof name, "GPU type at plan_gpu %g", k->m.plan.at[p]);
		put(k, ct_arena_text(&k->out->arena, name, strlen(name)), "max |share|", NAN, NAN, worst,
		    .002 + grain_of_groups(k) * (double)k->n / n);
	}
}

static void check_arrivals(struct check *k)
{
	double hour[24] = { 0 }, day[7] = { 0 }, want[7] = { 0 }, sum = 0, f = 0, worst = 0;

	for (size_t i = 0; i < k->n; i++) {
		hour[k->row[i].submit / (3600 * CT_SECOND) % 24]++;
		day[k->row[i].submit / (86400 * CT_SECOND) % 7]++;
	}
	for (int h = 0; h < 24; h++) {
		f += hour[h] / (double)k->n - k->m.hour[h] / 24;
		worst = fmax(worst, fabs(f));
	}
	if (k->days >= 1)
		put(k, "hour of the day", "KS", NAN, NAN, worst, .01 + .5 / sqrt(24 * k->days) + chance((double)k->n));
	for (int d = 0; d < (int)ceil(k->days); d++) {
		want[d % 7] += k->m.weekday[d % 7] * fmin(1, k->days - d);
		sum += k->m.weekday[d % 7] * fmin(1, k->days - d);
	}
	f = worst = 0;
	for (int d = 0; d < 7; d++) {
		f += day[d] / (double)k->n - want[d] / sum;
		worst = fmax(worst, fabs(f));
	}
	if (k->days >= 7)
		put(k, "day of the week", "KS", NAN, NAN, worst, .01 + .5 / sqrt(24 * k->days) + chance((double)k->n));
}

static int by_group(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->group < y->group ? -1 : x->group > y->group;
}

/* Different requests among the jobs of one group. */
static int has_configs(const struct row *r, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (r[i].plan != r[0].plan)
			return 1;
	return 0;
}

/* The published share is of the whole trace; in a smaller one the largest groups are
 * smaller, and the zeta law itself says how many jobs are left in groups of 5. */
static void check_often(struct check *k, double got)
{
	double limit = floor(fmax(1, k->m.group_limit * fmin(1, (double)k->n / k->m.trace_jobs))), all = 0, few = 0;

	for (double size = 1; size <= limit; size++) {
		all += pow(size, 1 - k->m.group_exponent);
		few += size < 5 ? pow(size, 1 - k->m.group_exponent) : 0;
	}
	if (limit >= k->m.group_limit / 2)
		put_absolute(k, "jobs in groups of 5 or more", ct_constant(k->c, "jobs_in_groups_of_5", k->err), got,
			     .03);
	else
		put_absolute(k, "jobs in groups of 5 or more, at this scale", 1 - few / all, got,
			     .02 + chance((double)k->n / 10));
}

/* Sorts the rows by group. */
static void check_groups(struct check *k)
{
	double often = 0, groups = 0, configs = 0, within = 0, pairs = 0;
	size_t n;

	qsort(k->row, k->n, sizeof *k->row, by_group);
	for (size_t i = 0; i < k->n; i += n) {
		double mean = 0;

		for (n = 1; i + n < k->n && k->row[i + n].group == k->row[i].group; n++)
			;
		if (n < 5)
			continue;
		often += (double)n;
		groups += !isnan(k->row[i].plan);
		configs += !isnan(k->row[i].plan) && has_configs(&k->row[i], n);
		if (isnan(k->row[i].plan) || has_configs(&k->row[i], n))
			continue;
		for (size_t q = 0; q < n; q++)
			mean += log(k->row[i + q].run_s) / (double)n;
		for (size_t q = 0; q < n; q++)
			within += pow(log(k->row[i + q].run_s) - mean, 2);
		pairs += (double)n - 1;
	}
	check_often(k, often / (double)k->n);
	if (groups > 200)
		put_absolute(k, "groups of 5 or more with several plan_gpu", k->m.multi_config_groups, configs / groups,
			     .01 + chance(groups));
	if (pairs > 1000 && !k->failed)
		put_absolute(k, "variance of log run time within groups, of all", 1 - k->m.run_time_rho,
			     within / pairs / (k->m.run_time_sigma * k->m.run_time_sigma), .03);
}

/* User "u0" is the one with a share of its own. */
static void check_users(struct check *k)
{
	uint32_t heavy = ct_strings_find(&k->w->strings, "u0", 2);
	double jobs = 0;

	for (size_t i = 0; i < k->n; i++)
		jobs += k->row[i].user == heavy;
	put_absolute(k, "jobs of the largest user", k->m.heavy_user_share, jobs / (double)k->n,
		     .002 + grain_of_groups(k));
}

static void check_correlation(struct check *k)
{
	double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;

	for (size_t i = 0; i < k->n; i++) {
		double x = log(k->row[i].run_s), y = log(k->row[i].inst);

		if (isnan(k->row[i].plan) || k->row[i].failed)
			continue;
		n++, sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
	}
	if (n > 1000)
		put_absolute(k, "correlation of log run time and log inst_num", k->m.run_time_inst_corr,
			     (sxy - sx * sy / n) / sqrt((sxx - sx * sx / n) * (syy - sy * sy / n)),
			     .04 + chance(n / 10));
}

static void check_utilisation(struct check *k)
{
	double sum = 0, above = 0, q = 0;
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++) {
		if (isnan(k->row[i].util))
			continue;
		k->v[n++] = k->row[i].util;
		sum += k->row[i].util;
		above += k->row[i].util > k->row[i].plan;
	}
	for (int i = 0; i < 10000; i++)
		q += ct_pai_quantile(&k->m.util, (i + .5) / 10000) / 10000;
	if (n < 1000)
		return;
	put(k, "GPU utilisation", "KS", NAN, NAN, ks(k, n, &k->m.util, .01), .02 + chance((double)n));
	put_relative(k, "mean GPU utilisation", q, sum / (double)n, .05 + chance((double)n / 10));
	put_absolute(k, "jobs that use more than they ask for", ct_constant(k->c, "util_above_plan", k->err),
		     above / (double)n, .02);
}

static void check_failures(struct check *k)
{
	double failed = 0;

	for (size_t i = 0; i < k->n; i++)
		failed += !isnan(k->row[i].plan) && k->row[i].failed;
	if (k->failed)
		put_absolute(k, "failed jobs with a GPU", k->m.failed_gpu, failed / (double)k->gpu,
			     .01 + 20 * grain_of_groups(k));
}

int ct_generate_pai_check(const struct ct_generate_options *o, const struct ct_constants *c,
			  const struct ct_workload *w, struct ct_marginals *out, struct ct_err *err)
{
	struct check k = { .c = c, .w = w, .out = out, .err = err };

	(void)o;
	CT_TRY(ct_pai_model_make(c, &k.m, err));
	if (!w->n)
		return ct_err_at(err, CT_ETRACE, NULL, "no job to check");
	if (!read_rows(&k)) {
		check_arrivals(&k);
		check_users(&k);
		check_roles(&k);
		check_requests(&k);
		check_types(&k);
		check_all_run_times(&k);
		check_run_times(&k);
		check_correlation(&k);
		check_utilisation(&k);
		check_failures(&k);
		check_groups(&k); /* last: sorts the rows */
	}
	free(k.row);
	free(k.v);
	return (int)err->code;
}
