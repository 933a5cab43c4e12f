/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace's structure is groups: recurrent jobs of one user with one template. A
 * few thousand groups hold most of a million jobs, so independent draws a group would
 * miss every marginal by a per cent or more. Instead, each property is laid out: the
 * groups, in an order that is random for that property, cover the line of jobs end to
 * end, the property's shares cover it too, and a group gets what lies under its
 * middle. A marginal is then off by at most half a group, whatever the seed; what is
 * random is which group gets what. Correlations are in the order (as Iman and Conover
 * induce them, Commun. Stat. B 11, 1982): a key with the wanted correlation to the
 * other property is sorted instead of a random one.
 *
 * Properties, in this order: size of the group; user; roles; instances; plan_gpu of
 * each configuration (a "unit": most groups have one); GPU type; run time; CPU, memory,
 * tag; utilisation. Then each job draws its arrival, and its deviation from its group.
 *
 * Hours have their own rate, Gamma around the recipe's; members of a group arrive
 * independently over the whole horizon (assumed: the trace's recurrence in time is not
 * published). Times are whole seconds, as in the trace. */
#include "traces/generate_pai.h"

#include "sim/memory.h"
#include "sim/random.h"
#include "traces/generate_pai_model.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_TAG = CT_PAI_CHOICES };

struct group {
	uint32_t first, size, user; /* units; jobs */
	uint32_t text;              /* its name, once it is needed */
	uint8_t kind, inst, cpu, mem, tag, configs;
	float z, fail_rate; /* z: normal score of its run time */
};
struct unit {
	uint32_t group, size;
	uint8_t plan, type;
	float z, util; /* normal scores of run time and utilisation within the type, the trace */
};
struct draft {
	int64_t submit_s;
	uint32_t unit, number; /* of the job before sorting: keys its stream */
};
/* One of those that share the line. */
struct item {
	double key;
	uint32_t id, weight;
};

struct generator {
	const struct ct_generate_options *o;
	struct ct_pai_model m;
	struct ct_workload *w;
	struct ct_err *err;
	uint64_t n;
	double days;
	struct group *groups;
	struct unit *units;
	struct draft *drafts;
	struct item *items;
	size_t n_groups, cap_groups, n_units, cap_units, n_items, cap_items;
	size_t n_users;
};

/* A stream a group and property, so that a new property changes no other. */
enum property { SIZE, USER, KIND, INST, PLAN, TYPE, RUN, CPU, MEM, TAG, UTIL, FAIL, PROPERTIES };

static double draw(const struct generator *g, enum property p, size_t group, int normal)
{
	struct ct_stream s;

	ct_stream_init(&s, g->o->seed, CT_RANDOM_GROUP, (uint64_t)group * PROPERTIES + p);
	return normal ? gsl_ran_gaussian_ziggurat(&s.rng, 1) : gsl_rng_uniform(&s.rng);
}

/* ---- laying out */

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void add_item(struct generator *g, double key, size_t id, uint32_t weight)
{
	CT_GROW(g->items, g->cap_items, g->n_items + 1);
	g->items[g->n_items++] = (struct item){ key, (uint32_t)id, weight };
}

/* Sorts the items and calls `put` with the place of each one's middle in (0, 1). */
static void lay_out(struct generator *g, void (*put)(struct generator *, uint32_t id, double at, const void *ctx),
		    const void *ctx)
{
	double total = 0, before = 0;

	qsort(g->items, g->n_items, sizeof *g->items, by_key);
	for (size_t i = 0; i < g->n_items; i++)
		total += g->items[i].weight;
	for (size_t i = 0; i < g->n_items; i++) {
		put(g, g->items[i].id, (before + .5 * g->items[i].weight) / total, ctx);
		before += g->items[i].weight;
	}
	g->n_items = 0;
}

static uint8_t pick(const double *share, size_t n, double at)
{
	size_t i = 0;

	for (; i + 1 < n && at >= share[i]; i++)
		at -= share[i];
	return (uint8_t)i;
}

static double normal_score(double p)
{
	return gsl_cdf_ugaussian_Pinv(p);
}

/* ---- groups */

static uint32_t largest_group(const struct generator *g)
{
	double most = g->m.group_limit * fmin(1, (double)g->n / g->m.trace_jobs);

	return most > 1 ? (uint32_t)most : 1;
}

/* Zeta law, cut off at the largest size. */
static int make_groups(struct generator *g)
{
	uint32_t most = largest_group(g);
	double *p = ct_calloc(most, sizeof *p);
	gsl_ran_discrete_t *sizes;
	uint64_t jobs = 0;

	for (uint32_t i = 0; i < most; i++)
		p[i] = pow(i + 1, -g->m.group_exponent);
	sizes = gsl_ran_discrete_preproc(most, p);
	free(p);
	if (!sizes)
		return ct_err_at(g->err, CT_ECONFIG, NULL, "no sizes of groups can be drawn");
	while (jobs < g->n) {
		struct ct_stream s;
		uint64_t size;

		ct_stream_init(&s, g->o->seed, CT_RANDOM_GROUP, (uint64_t)g->n_groups * PROPERTIES + SIZE);
		size = gsl_ran_discrete(&s.rng, sizes) + 1;
		size = size < g->n - jobs ? size : g->n - jobs;
		CT_GROW(g->groups, g->cap_groups, g->n_groups + 1);
		g->groups[g->n_groups] = (struct group){ .size = (uint32_t)size, .tag = NO_TAG, .configs = 1 };
		g->groups[g->n_groups].z = (float)draw(g, RUN, g->n_groups, 1);
		g->n_groups++;
		jobs += size;
	}
	gsl_ran_discrete_free(sizes);
	return 0;
}

static void put_user(struct generator *g, uint32_t id, double at, const void *ctx)
{
	const double *up_to = ctx;
	size_t lo = 0, hi = g->n_users - 1;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (at < up_to[mid])
			hi = mid;
		else
			lo = mid + 1;
	}
	g->groups[id].user = (uint32_t)lo;
}

/* User 0 is the one with a fixed share; the others have the quantiles of their law,
 * since a lucky draw among its largest would outdo that share. Their number grows as
 * the root of the jobs. */
static void make_users(struct generator *g)
{
	double sum = 0, *up_to;

	g->n_users = 1 + (size_t)ceil(g->m.users * sqrt((double)g->n / g->m.trace_jobs));
	up_to = ct_calloc(g->n_users, sizeof *up_to);
	for (size_t i = 1; i < g->n_users; i++) {
		double z = normal_score(((double)i - .5) / (double)(g->n_users - 1));

		up_to[i] = g->m.user_median * exp(g->m.user_sigma * z);
		sum += up_to[i];
	}
	up_to[0] = g->m.heavy_user_share;
	for (size_t i = 1; i < g->n_users; i++)
		up_to[i] = up_to[i - 1] + up_to[i] / sum * (1 - g->m.heavy_user_share);
	for (size_t i = 0; i < g->n_groups; i++)
		add_item(g, draw(g, USER, i, 0), i, g->groups[i].size);
	lay_out(g, put_user, up_to);
	free(up_to);
}

static void put_kind(struct generator *g, uint32_t id, double at, const void *ctx)
{
	double share[CT_PAI_ROLES + 3];

	(void)ctx;
	for (size_t i = 0; i < g->m.n_kinds; i++)
		share[i] = g->m.kind[i].share;
	g->groups[id].kind = pick(share, g->m.n_kinds, at);
}

static int role_of(const struct generator *g, const struct group *q)
{
	return g->m.kind[q->kind].role;
}

static const struct ct_pai_choice *instances_of(const struct generator *g, const struct group *q)
{
	return role_of(g, q) == g->m.worker ? &g->m.inst_worker : &g->m.inst_pytorch;
}

static void put_inst(struct generator *g, uint32_t id, double at, const void *ctx)
{
	const struct ct_pai_choice *t = ctx;

	g->groups[id].inst = pick(t->share, t->n, at);
}

static double num_inst(const struct generator *g, const struct group *q)
{
	int role = role_of(g, q);

	return role == g->m.worker || role == g->m.pytorch ? instances_of(g, q)->at[q->inst] : 1;
}

static void put_cpu(struct generator *g, uint32_t id, double at, const void *ctx)
{
	(void)ctx;
	g->groups[id].cpu = pick(g->m.cpu.share, g->m.cpu.n, at);
}

static void put_mem(struct generator *g, uint32_t id, double at, const void *ctx)
{
	(void)ctx;
	g->groups[id].mem = pick(g->m.mem.share, g->m.mem.n, at);
}

static void put_tag(struct generator *g, uint32_t id, double at, const void *ctx)
{
	(void)ctx;
	if (at < g->m.tagged_share)
		g->groups[id].tag = pick(g->m.tag.share, g->m.tag.n, at / g->m.tagged_share);
}

static void lay_out_groups(struct generator *g, enum property p,
			   void (*put)(struct generator *, uint32_t, double, const void *))
{
	for (size_t i = 0; i < g->n_groups; i++)
		add_item(g, draw(g, p, i, 0), i, g->groups[i].size);
	lay_out(g, put, NULL);
}

static void make_templates(struct generator *g)
{
	lay_out_groups(g, KIND, put_kind);
	for (int pass = 0; pass < 2; pass++) {
		int role = pass ? g->m.pytorch : g->m.worker;

		for (size_t i = 0; i < g->n_groups; i++)
			if (role_of(g, &g->groups[i]) == role)
				add_item(g, draw(g, INST, i, 0), i, g->groups[i].size);
		lay_out(g, put_inst, pass ? &g->m.inst_pytorch : &g->m.inst_worker);
	}
	lay_out_groups(g, CPU, put_cpu);
	lay_out_groups(g, MEM, put_mem);
	lay_out_groups(g, TAG, put_tag);
}

/* ---- units: the configurations of a group */

static int has_gpu(const struct generator *g, const struct group *q)
{
	return role_of(g, q) != CT_PAI_CPU_ROLE;
}

static void add_unit(struct generator *g, size_t group, uint32_t size, double key)
{
	CT_GROW(g->units, g->cap_units, g->n_units + 1);
	g->units[g->n_units] = (struct unit){ .group = (uint32_t)group, .size = size, .type = CT_PAI_NO_TYPE };
	g->units[g->n_units++].util = (float)key; /* until the plans are laid out */
}

/* Where a plan begins on the line of a table, and how long it is. */
static double place_of(const struct ct_pai_choice *t, size_t i)
{
	double at = 0;

	for (size_t k = 0; k < i; k++)
		at += t->share[k];
	return at;
}

/* A plan of `t` other than `not` within the largest ratio, by its share; `not` when
 * there is none. */
static size_t partner(const struct generator *g, const struct ct_pai_choice *t, size_t not, gsl_rng *rng)
{
	double share[CT_PAI_CHOICES], sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		double ratio = t->at[i] > t->at[not ] ? t->at[i] / t->at[not ] : t->at[not ] / t->at[i];

		share[i] = i != not &&ratio >= 2 && ratio <= g->m.config_ratio ? t->share[i] : 0;
		sum += share[i];
	}
	if (!(sum > 0))
		return not ;
	return pick(share, t->n, gsl_rng_uniform(rng) * sum);
}

/* One unit, or for the groups with several configurations one each: neighbours on
 * the line of plans within the published ratio. */
static void split_group(struct generator *g, size_t id, const struct ct_pai_choice *plans, double multi)
{
	struct group *q = &g->groups[id];
	struct ct_stream s;
	double at;
	size_t plan;
	uint32_t n = 1, left = q->size;

	ct_stream_init(&s, g->o->seed, CT_RANDOM_GROUP, (uint64_t)id * PROPERTIES + PLAN);
	at = gsl_rng_uniform(&s.rng);
	plan = pick(plans->share, plans->n, at);
	if (q->size >= 5 && gsl_rng_uniform(&s.rng) < multi)
		n = (uint32_t)g->m.configs.at[pick(g->m.configs.share, g->m.configs.n, gsl_rng_uniform(&s.rng))];
	q->first = (uint32_t)g->n_units;
	q->configs = (uint8_t)n;
	add_unit(g, id, left / n + left % n, at);
	for (uint32_t i = 1; i < n; i++) {
		size_t k = partner(g, plans, plan, &s.rng);

		add_unit(g, id, left / n, place_of(plans, k) + gsl_rng_uniform(&s.rng) * plans->share[k]);
	}
}

static void put_plan(struct generator *g, uint32_t id, double at, const void *ctx)
{
	const struct ct_pai_choice *t = ctx;

	g->units[id].plan = pick(t->share, t->n, at);
}

static void put_type(struct generator *g, uint32_t id, double at, const void *ctx)
{
	const struct ct_pai_choice *t = ctx;

	g->units[id].type = (uint8_t)t->at[pick(t->share, t->n, at)];
}

/* The two tables name the same plans; a unit holds the place in the first. */
static uint8_t plan_place(const struct generator *g, double plan)
{
	size_t i = 0;

	while (i + 1 < g->m.plan.n && g->m.plan.at[i] != plan)
		i++;
	return (uint8_t)i;
}

static int is_gang(const struct generator *g, const struct unit *u)
{
	return num_inst(g, &g->groups[u->group]) > 1;
}

static void make_units(struct generator *g)
{
	for (size_t i = 0; i < g->n_groups; i++) {
		const struct group *q = &g->groups[i];

		if (has_gpu(g, q))
			split_group(g, i, num_inst(g, q) > 1 ? &g->m.plan_gang : &g->m.plan_single,
				    g->m.multi_config_groups);
		else
			split_group(g, i, &g->m.plan_single, 0);
	}
	for (int gang = 0; gang < 2; gang++) {
		const struct ct_pai_choice *plans = gang ? &g->m.plan_gang : &g->m.plan_single;

		for (size_t i = 0; i < g->n_units; i++)
			if (has_gpu(g, &g->groups[g->units[i].group]) && is_gang(g, &g->units[i]) == gang)
				add_item(g, g->units[i].util, i, g->units[i].size);
		lay_out(g, put_plan, plans);
		for (size_t i = 0; gang && i < g->n_units; i++)
			if (is_gang(g, &g->units[i]))
				g->units[i].plan = plan_place(g, g->m.plan_gang.at[g->units[i].plan]);
	}
	for (size_t p = 0; p < g->m.plan.n; p++) {
		for (size_t i = 0; i < g->n_units; i++)
			if (has_gpu(g, &g->groups[g->units[i].group]) && g->units[i].plan == p)
				add_item(g, draw(g, TYPE, g->units[i].group, 0), i, g->units[i].size);
		lay_out(g, put_type, &g->m.type_of_plan[p]);
	}
}

/* ---- run time and utilisation, as normal scores of the unit */

static void put_z(struct generator *g, uint32_t id, double at, const void *ctx)
{
	(void)ctx;
	g->units[id].z = (float)normal_score(at);
}

/* Mean and spread of log inst_num over the units with a GPU, by jobs. */
static void inst_moments(const struct generator *g, double *mean, double *sd)
{
	double n = 0, sum = 0, sum2 = 0;

	for (size_t i = 0; i < g->n_units; i++) {
		const struct group *q = &g->groups[g->units[i].group];
		double x = log(num_inst(g, q)), weight = has_gpu(g, q) ? g->units[i].size : 0;

		n += weight;
		sum += weight * x;
		sum2 += weight * x * x;
	}
	*mean = n > 0 ? sum / n : 0;
	*sd = n > 0 ? sqrt(fmax(0, sum2 / n - *mean * *mean)) : 0;
}

/* Run time rises a little with the instances; for other configurations of the same
 * group, run time x plan_gpu stays the same. */
static double run_time_key(const struct generator *g, const struct unit *u, double mean, double sd)
{
	const struct group *q = &g->groups[u->group];
	double b = g->m.run_time_inst_corr / sqrt(g->m.run_time_rho), x = log(num_inst(g, q));
	double first = g->m.plan.at[g->units[q->first].plan], plan = g->m.plan.at[u->plan];

	if (!has_gpu(g, q))
		return q->z;
	return b * (sd > 0 ? (x - mean) / sd : 0) + sqrt(1 - b * b) * q->z + log(first / plan) / g->m.run_time_sigma;
}

static void make_run_times(struct generator *g)
{
	double mean, sd;

	inst_moments(g, &mean, &sd);
	for (size_t t = 0; t < CT_PAI_TYPES; t++) {
		for (size_t i = 0; i < g->n_units; i++)
			if (g->units[i].type == t)
				add_item(g, run_time_key(g, &g->units[i], mean, sd), i, g->units[i].size);
		lay_out(g, put_z, NULL);
	}
}

/* Also for the plans' scores, which stand there until they are used. */
static void put_util(struct generator *g, uint32_t id, double at, const void *ctx)
{
	(void)ctx;
	g->units[id].util = (float)normal_score(at);
}

/* The unit's part of the copula: what correlates with plan_gpu and run time, the
 * role's and type's shift, and the group's own. */
static double util_key(const struct generator *g, const struct unit *u)
{
	const struct group *q = &g->groups[u->group];
	double p = g->m.util_plan / sqrt(g->m.util_rho);
	double r = g->m.util_run_time / sqrt(g->m.util_rho * g->m.run_time_rho);
	double own = sqrt(fmax(0, 1 - p * p - r * r));

	return p * u->util + r * u->z + own * draw(g, UTIL, u->group, 1) + g->m.util_role[role_of(g, q)] +
	       g->m.util_type[u->type];
}

static void make_utilisation(struct generator *g)
{
	for (size_t i = 0; i < g->n_units; i++)
		if (g->units[i].type != CT_PAI_NO_TYPE) /* ties between equal plans: in random order */
			add_item(g, g->units[i].plan + draw(g, TYPE, g->units[i].group, 0), i, g->units[i].size);
	lay_out(g, put_util, NULL);
	for (size_t i = 0; i < g->n_units; i++)
		if (g->units[i].type != CT_PAI_NO_TYPE)
			add_item(g, util_key(g, &g->units[i]), i, g->units[i].size);
	lay_out(g, put_util, NULL);
}

/* A share of the groups fails, some of them always, the others now and then. */
static void make_failures(struct generator *g)
{
	double all = g->m.failed_all, often = all + (1 - all) * g->m.failed_rate;

	for (size_t i = 0; g->o->failed && i < g->n_groups; i++) {
		struct group *q = &g->groups[i];
		double wanted = has_gpu(g, q) ? g->m.failed_gpu : g->m.failed_cpu, u = draw(g, FAIL, i, 0);

		if (u < wanted / often * all)
			q->fail_rate = 1;
		else if (u < wanted / often)
			q->fail_rate = (float)g->m.failed_rate;
	}
}

/* ---- arrivals */

static double rate_of_hour(const struct generator *g, size_t hour)
{
	double shape = 1 / (g->m.hour_cv * g->m.hour_cv), part = fmin(1, g->days * 24 - (double)hour);
	struct ct_stream s;

	ct_stream_init(&s, g->o->seed, CT_RANDOM_HOUR, hour);
	return g->m.hour[hour % 24] * g->m.weekday[hour / 24 % 7] * gsl_ran_gamma(&s.rng, shape, 1 / shape) * part;
}

static double *hour_rates(const struct generator *g, size_t *n)
{
	double *rate;

	*n = (size_t)ceil(g->days * 24);
	*n = *n ? *n : 1;
	rate = ct_calloc(*n, sizeof *rate);
	for (size_t i = 0; i < *n; i++)
		rate[i] = rate_of_hour(g, i);
	return rate;
}

/* Jobs and days, of which one may be left open. */
static int settle_amount(struct generator *g)
{
	double scale = g->o->gpus > 0 ? g->o->gpus / g->m.trace_gpus : 1, *rate, expected = 0;
	size_t hours;
	struct ct_stream s;

	g->n = g->o->jobs;
	g->days = g->o->days > 0 ? g->o->days : (double)g->n / (g->m.jobs_per_hour * scale * 24);
	if (g->n)
		return 0;
	rate = hour_rates(g, &hours);
	for (size_t i = 0; i < hours; i++)
		expected += rate[i] * g->m.jobs_per_hour * scale;
	free(rate);
	if (expected > 1e9)
		return ct_err_at(g->err, CT_ECONFIG, NULL, "%g days on %g GPUs are %.3g jobs, more than 1e9",
				 g->o->days, g->o->gpus, expected);
	ct_stream_init(&s, g->o->seed, CT_RANDOM_HOUR, UINT64_MAX);
	g->n = gsl_ran_poisson(&s.rng, expected);
	if (!g->n)
		return ct_err_at(g->err, CT_ECONFIG, NULL, "no job arrived in %g days on %g GPUs", g->days, g->o->gpus);
	return 0;
}

static int by_submit(const void *a, const void *b)
{
	const struct draft *x = a, *y = b;

	if (x->submit_s != y->submit_s)
		return x->submit_s < y->submit_s ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void start_job_stream(const struct generator *g, const struct draft *d, struct ct_stream *s)
{
	ct_stream_init(s, g->o->seed, CT_RANDOM_WORKLOAD, d->number);
}

static int make_arrivals(struct generator *g)
{
	size_t hours;
	double *rate = hour_rates(g, &hours), last = g->days * 24 - (double)(hours - 1);
	gsl_ran_discrete_t *table = gsl_ran_discrete_preproc(hours, rate);
	uint32_t number = 0;

	free(rate);
	if (!table)
		return ct_err_at(g->err, CT_ECONFIG, NULL, "no arrival can be drawn in %g days", g->days);
	g->drafts = ct_realloc_array(NULL, g->n, sizeof *g->drafts);
	for (uint32_t u = 0; u < g->n_units; u++) {
		for (uint32_t i = 0; i < g->units[u].size; i++, number++) {
			struct draft *d = &g->drafts[number];
			struct ct_stream s;
			size_t hour;
			double part;

			d->number = number;
			d->unit = u;
			start_job_stream(g, d, &s);
			hour = gsl_ran_discrete(&s.rng, table);
			part = hour + 1 == hours ? last : 1;
			d->submit_s = (int64_t)(((double)hour + part * gsl_rng_uniform(&s.rng)) * 3600);
		}
	}
	gsl_ran_discrete_free(table);
	qsort(g->drafts, g->n, sizeof *g->drafts, by_submit);
	return 0;
}

/* ---- jobs */

enum { TASK_NAME, INST_NUM, PLAN_GPU, GPU_UTIL, WORKLOAD, KIND_OF_JOB, COLUMNS };

/* Numbers of the texts that many jobs have, found once. */
struct texts {
	size_t column[COLUMNS];
	uint32_t *user, task[CT_PAI_ROLES + 3], type[CT_PAI_TYPES], tag[CT_PAI_CHOICES];
	uint32_t plan[CT_PAI_CHOICES], inst[1024], util[1 << 17], train, infer, terminated, failed;
};

static uint32_t text(struct generator *g, const char *s)
{
	return ct_strings_add(&g->w->strings, s, strlen(s));
}

static uint32_t number_text(struct generator *g, const char *before, double v)
{
	char s[48];

	snprintf(s, sizeof s, "%s%.10g", before, v);
	return text(g, s);
}

/* A number's text, made when it is first needed. */
static uint32_t cached(struct generator *g, uint32_t *slot, double v)
{
	if (!*slot)
		*slot = number_text(g, "", v);
	return *slot;
}

static uint32_t inst_text(struct generator *g, struct texts *t, double n)
{
	return n < 1024 ? cached(g, &t->inst[(size_t)n], n) : number_text(g, "", n);
}

/* Two decimals. */
static uint32_t util_text(struct generator *g, struct texts *t, double util)
{
	double rounded = round(util * 100);

	return rounded < 1 << 17 ? cached(g, &t->util[(size_t)rounded], rounded / 100)
				 : number_text(g, "", rounded / 100);
}

static uint32_t group_text(struct generator *g, uint32_t group)
{
	struct group *q = &g->groups[group];

	if (!q->text)
		q->text = number_text(g, "g", group + 1.0);
	return q->text;
}

static struct texts *make_texts(struct generator *g)
{
	static const char *const column[COLUMNS] = { "task_name", "instances", "plan_gpu", "gpu_util", "tag", "kind" };
	static const char *const shape[] = { [CT_PAI_CPU_ONLY] = "ps",
					     [CT_PAI_WITH_PS] = "ps+worker",
					     [CT_PAI_WITH_EVALUATOR] = "evaluator+ps+worker",
					     [CT_PAI_SINGLE] = NULL };
	struct texts *t = ct_calloc(1, sizeof *t);

	for (int i = 0; i < COLUMNS; i++)
		t->column[i] = ct_workload_column(g->w, column[i]);
	t->user = ct_calloc(g->n_users, sizeof *t->user);
	for (size_t i = 0; i < g->n_users; i++)
		t->user[i] = number_text(g, "u", (double)i);
	for (size_t i = 0; i < g->m.n_kinds; i++)
		t->task[i] =
		    text(g, shape[g->m.kind[i].shape] ? shape[g->m.kind[i].shape] : g->m.role[g->m.kind[i].role]);
	for (size_t i = 0; i < CT_PAI_NO_TYPE; i++)
		t->type[i] = text(g, g->m.type[i]);
	for (size_t i = 0; i < g->m.tag.n; i++)
		t->tag[i] = text(g, g->m.tag.name[i]);
	t->train = text(g, "train");
	t->infer = text(g, "infer");
	t->terminated = text(g, "Terminated");
	t->failed = text(g, "Failed");
	return t;
}

static void set(struct generator *g, const struct texts *t, int column, uint32_t job, uint32_t value)
{
	struct ct_extra_column *c = &g->w->columns[t->column[column]];

	if (job >= c->cap)
		ct_workload_set_extra(g->w, t->column[column], job, "", 0);
	c->value[job] = value;
}

static int32_t whole(double v)
{
	return (int32_t)lround(v);
}

/* The gang: each instance asks for its share of one GPU, or for whole ones. An
 * evaluator is one more instance; a parameter server adds CPU and memory. */
static void fill_sizes(const struct generator *g, const struct unit *u, struct ct_job *j)
{
	const struct group *q = &g->groups[u->group];
	const struct ct_pai_kind *k = &g->m.kind[q->kind];
	double plan = has_gpu(g, q) ? g->m.plan.at[u->plan] : 0, factor = plan >= 200 ? g->m.whole_gpu_factor : 1;
	double cpu = g->m.cpu.at[q->cpu], mem = g->m.mem.at[q->mem];
	uint32_t inst = (uint32_t)num_inst(g, q) + (k->shape == CT_PAI_WITH_EVALUATOR);
	double servers = k->shape == CT_PAI_WITH_PS || k->shape == CT_PAI_WITH_EVALUATOR;

	j->num_gpus = plan > 0 ? inst * (uint32_t)fmax(1, ceil(plan / 100)) : 0;
	j->gpu_milli = plan > 0 && plan < 100 ? (uint32_t)whole(plan * 10) : 1000;
	j->cpu_milli = (uint32_t)whole((inst * factor + servers) * cpu * 10);
	j->mem_mib = (uint32_t)whole((inst * factor + servers) * mem * 1024);
}

static void fill_use(const struct generator *g, const struct unit *u, double zu, gsl_rng *rng, struct ct_job *j,
		     double *util)
{
	double plan = g->m.plan.at[u->plan], device = g->m.device_mem[u->type];
	double mem = gsl_ran_lognormal(rng, log(g->m.mem_median), g->m.mem_sigma);

	*util = ct_pai_quantile(&g->m.util, gsl_cdf_ugaussian_P(zu));
	j->sm_frac = (float)fmin(1, *util / 100 / fmax(1, ceil(plan / 100)));
	mem = fmin(mem, fmin(device, fmin(1, plan / 100) * device * g->m.mem_overcommit));
	j->gpu_mem_mib = (uint32_t)ceil(mem * 1024);
}

/* The trace does not say; the rule is the recipe's step 17. */
static int is_training(const struct generator *g, const struct unit *u, double run_s)
{
	static const char *const trained[] = { "nmt", "ctr", "graphlearn", "rl" };
	const struct group *q = &g->groups[u->group];
	enum ct_pai_shape shape = g->m.kind[q->kind].shape;

	for (size_t i = 0; q->tag != NO_TAG && i < sizeof trained / sizeof *trained; i++)
		if (strcmp(g->m.tag.name[q->tag], trained[i]) == 0)
			return 1;
	if (shape == CT_PAI_WITH_PS || shape == CT_PAI_WITH_EVALUATOR)
		return 1;
	return !(has_gpu(g, q) && g->m.plan.at[u->plan] < 100 && num_inst(g, q) == 1 && run_s < g->m.infer_below);
}

static double run_time(const struct generator *g, const struct unit *u, gsl_rng *rng, int *failed)
{
	double z = sqrt(g->m.run_time_rho) * u->z + sqrt(1 - g->m.run_time_rho) * gsl_ran_gaussian_ziggurat(rng, 1);
	double s = ct_pai_quantile(&g->m.run_time[u->type], gsl_cdf_ugaussian_P(z));

	*failed = 0;
	if (g->groups[u->group].fail_rate > 0 && gsl_rng_uniform(rng) < (double)g->groups[u->group].fail_rate) {
		*failed = 1;
		s = gsl_ran_lognormal(rng, log(g->m.failed_median), g->m.failed_sigma);
	}
	return fmax(1, round(fmin(s, 1e9)));
}

static void add_job(struct generator *g, struct texts *t, const struct draft *d, uint64_t id)
{
	const struct unit *u = &g->units[d->unit];
	const struct group *q = &g->groups[u->group];
	struct ct_job j = CT_JOB_INIT;
	struct ct_stream s;
	char name[24];
	int failed, gpu = has_gpu(g, q);
	double run, util = 0;
	uint32_t at;

	start_job_stream(g, d, &s);
	s.state.counter[0] = 4; /* behind the draws of its arrival */
	run = run_time(g, u, &s.rng, &failed);
	fill_sizes(g, u, &j);
	if (gpu)
		fill_use(g, u,
			 sqrt(g->m.util_rho) * (double)u->util +
			     sqrt(1 - g->m.util_rho) * gsl_ran_gaussian_ziggurat(&s.rng, 1),
			 &s.rng, &j, &util);
	j.id = ct_workload_text(g->w, name, (size_t)snprintf(name, sizeof name, "%llu", (unsigned long long)id));
	j.submit_us = d->submit_s * CT_SECOND;
	j.duration_us = (ct_time)run * CT_SECOND;
	j.user = t->user[q->user];
	j.group = group_text(g, u->group);
	j.gpu_type = t->type[u->type];
	j.state = failed ? t->failed : t->terminated;
	at = ct_workload_add(g->w, &j);
	set(g, t, TASK_NAME, at, t->task[q->kind]);
	set(g, t, INST_NUM, at, inst_text(g, t, num_inst(g, q)));
	set(g, t, PLAN_GPU, at, gpu ? cached(g, &t->plan[u->plan], g->m.plan.at[u->plan]) : 0);
	set(g, t, GPU_UTIL, at, gpu ? util_text(g, t, util) : 0);
	set(g, t, WORKLOAD, at, q->tag == NO_TAG ? 0 : t->tag[q->tag]);
	set(g, t, KIND_OF_JOB, at, is_training(g, u, run) ? t->train : t->infer);
	if (run > g->days * 86400)
		ct_workload_count(g->w, "longer_than_horizon", "run time above the span of all arrivals", 1, 0);
}

static void add_jobs(struct generator *g)
{
	struct texts *t = make_texts(g);

	CT_GROW(g->w->jobs, g->w->cap, g->n);
	for (uint64_t i = 0; i < g->n; i++)
		add_job(g, t, &g->drafts[i], i + 1);
	free(t->user);
	free(t);
}

static int run(struct generator *g)
{
	CT_TRY(settle_amount(g));
	CT_TRY(make_groups(g));
	make_users(g);
	make_templates(g);
	make_units(g);
	make_run_times(g);
	make_utilisation(g);
	make_failures(g);
	CT_TRY(make_arrivals(g));
	add_jobs(g);
	return 0;
}

int ct_generate_pai(const struct ct_generate_options *o, const struct ct_constants *c, struct ct_workload *w,
		    struct ct_err *err)
{
	struct generator *g = ct_calloc(1, sizeof *g);
	int rc;

	g->o = o;
	g->w = w;
	g->err = err;
	rc = ct_pai_model_make(c, &g->m, err);
	if (!rc)
		rc = run(g);
	free(g->groups);
	free(g->units);
	free(g->drafts);
	free(g->items);
	free(g);
	return rc;
}
