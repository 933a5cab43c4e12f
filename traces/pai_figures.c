/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the PAI trace says about itself: requests, recurrence of groups and users,
 * flexibility, utilisation, each over all rows of its tables, of jobs kept or not, as
 * the published figures are. Quantiles are by linear interpolation between order
 * statistics (type 7). A figure whose tables are not there is NaN and says so;
 * the others of its kind are left out. */
#include "traces/pai_join.h"

#include "traces/figures.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
	uint32_t group;
	double plan;
};

/* ---- giving them */

const char *ct_pai_lacking(const struct ct_pai *p, int needs)
{
	if (needs & CT_PAI_NEED_JOB && !p->have[CT_PAI_JOB])
		return "pai_job_table";
	if (needs & CT_PAI_NEED_TASK && !p->have[CT_PAI_TASK])
		return "pai_task_table";
	if (needs & CT_PAI_NEED_TASKS && !p->have[CT_PAI_TASK] && !p->have[CT_PAI_INSTANCE])
		return "pai_task_table";
	if (needs & CT_PAI_NEED_GROUP && !p->have[CT_PAI_GROUP_TAG])
		return "pai_group_tag_table";
	if (needs & CT_PAI_NEED_SENSOR && !p->have[CT_PAI_SENSOR])
		return "pai_sensor_table";
	return NULL;
}

void ct_pai_give(const struct ct_pai_figures *f, const char *name, double value, const char *unit,
		 const char *definition, int needs)
{
	const char *table = ct_pai_lacking(f->p, needs);
	char text[256];

	if (table)
		snprintf(text, sizeof text, "%s (not known: no %s)", definition, table);
	else
		snprintf(text, sizeof text, "%s%s", definition, isnan(value) ? " (there are none)" : "");
	ct_figures_add(f->out, name, table ? (double)NAN : value, unit, text);
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : (double)NAN;
}

/* ---- adding up */

static void add_request(struct ct_pai_tally *t, const struct ct_pai_task *task)
{
	t->min = t->gpu_tasks ? fmin(t->min, task->plan_gpu) : task->plan_gpu;
	t->max = t->gpu_tasks ? fmax(t->max, task->plan_gpu) : task->plan_gpu;
	t->gpu_tasks++;
	t->small_done |= task->plan_gpu < CT_PAI_LARGE && task->status == CT_PAI_TERMINATED;
}

static void add_up(struct ct_pai_figures *f)
{
	const struct ct_pai *p = f->p;

	for (size_t i = 0; i < p->n_jobs; i++) {
		struct ct_pai_tally *user = &f->user[p->jobs[i].user], *group = &f->group[p->jobs[i].group];

		user->jobs++;
		group->jobs++;
		for (uint32_t k = p->jobs[i].first_task; k; k = p->tasks[k - 1].next) {
			const struct ct_pai_task *t = &p->tasks[k - 1];

			f->tasks++;
			user->tasks++;
			group->tasks++;
			if (!(t->plan_gpu > 0))
				continue;
			f->gpu_tasks++;
			add_request(user, t);
			add_request(group, t);
		}
	}
}

/* ---- requests */

/* Tasks that ask for more than `above` and at most `most`, of those with a request. */
static double asking(const struct ct_pai_figures *f, double above, double most)
{
	uint64_t n = 0;

	for (size_t i = 0; i < f->p->n_tasks; i++)
		n += f->p->tasks[i].plan_gpu > above && f->p->tasks[i].plan_gpu <= most;
	return share(n, f->gpu_tasks);
}

static void give_requests(const struct ct_pai_figures *f)
{
	static const struct {
		const char *name;
		double above, most;
		const char *definition;
	} bin[] = {
		{ "request_to_25_share", 0, 25, "share of these tasks with plan_gpu in (0, 25] %" },
		{ "request_to_50_share", 25, 50, "share of these tasks with plan_gpu in (25, 50] %" },
		{ "request_to_75_share", 50, 75, "share of these tasks with plan_gpu in (50, 75] %" },
		{ "request_to_100_share", 75, 100, "share of these tasks with plan_gpu in (75, 100] %" },
		{ "request_to_200_share", 100, 200, "share of these tasks with plan_gpu in (100, 200] %" },
		{ "request_above_200_share", 200, (double)INFINITY, "share of these tasks with plan_gpu above 200 %" },
	};
	static const double size[] = { 5, 10, 15, 20, 25, 50, 100, 200, 400, 500, 800 };
	char name[64], text[96];

	ct_pai_give(f, "tasks", (double)f->tasks, "tasks", "different tasks of the tables", CT_PAI_NEED_TASKS);
	ct_pai_give(f, "gpu_tasks", (double)f->gpu_tasks, "tasks", "tasks with a GPU request (plan_gpu > 0)",
		    CT_PAI_NEED_TASK);
	ct_pai_give(f, "fractional_share", asking(f, 0, nextafter(100, 0)), "",
		    "share of the tasks with a GPU request whose plan_gpu is below 100 %, per instance",
		    CT_PAI_NEED_TASK);
	if (ct_pai_lacking(f->p, CT_PAI_NEED_TASK))
		return;
	for (size_t i = 0; i < sizeof bin / sizeof *bin; i++)
		ct_pai_give(f, bin[i].name, asking(f, bin[i].above, bin[i].most), "", bin[i].definition,
			    CT_PAI_NEED_TASK);
	for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
		snprintf(name, sizeof name, "request_%g_share", size[i]);
		snprintf(text, sizeof text, "share of these tasks with plan_gpu = %g %%", size[i]);
		ct_pai_give(f, name, asking(f, nextafter(size[i], 0), size[i]), "", text, CT_PAI_NEED_TASK);
	}
}

/* ---- groups */

static int by_group_and_plan(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->plan > y->plan) - (x->plan < y->plan);
}

static struct request *requests_of_groups(const struct ct_pai_figures *f, size_t *n)
{
	const struct ct_pai *p = f->p;
	struct request *r = ct_calloc(f->gpu_tasks + 1, sizeof *r);

	*n = 0;
	for (size_t i = 0; i < p->n_jobs; i++) {
		uint32_t g = p->jobs[i].group;

		if (!g || f->group[g].jobs < CT_PAI_OFTEN)
			continue;
		for (uint32_t k = p->jobs[i].first_task; k; k = p->tasks[k - 1].next)
			if (p->tasks[k - 1].plan_gpu > 0)
				r[(*n)++] = (struct request){ g, p->tasks[k - 1].plan_gpu };
	}
	qsort(r, *n, sizeof *r, by_group_and_plan);
	return r;
}

/* Groups with two or more different requests, and the most that one has. */
static uint64_t differing(const struct ct_pai_figures *f, uint64_t *most)
{
	size_t n;
	struct request *r = requests_of_groups(f, &n);
	uint64_t groups = 0, here = 0;

	*most = 0;
	for (size_t i = 0; i < n; i++) {
		int same_group = i && r[i].group == r[i - 1].group;

		if (same_group && !(r[i].plan > r[i - 1].plan))
			continue;
		here = same_group ? here + 1 : 1;
		f->group[r[i].group].configs = (uint32_t)here;
		groups += here == 2;
		*most = here > *most ? here : *most;
	}
	free(r);
	return groups;
}

static void give_groups(const struct ct_pai_figures *f)
{
	uint64_t groups = 0, often = 0, jobs = 0, tasks = 0, most, differ = differing(f, &most);

	for (size_t g = 1; g < f->names; g++) {
		groups += f->group[g].jobs > 0;
		if (f->group[g].jobs < CT_PAI_OFTEN)
			continue;
		often++;
		jobs += f->group[g].jobs;
		tasks += f->group[g].tasks;
	}
	ct_pai_give(f, "groups", (double)groups, "groups", "different groups that the jobs name",
		    CT_PAI_NEED_JOB | CT_PAI_NEED_GROUP);
	ct_pai_give(f, "recurrent_groups", (double)often, "groups", "groups with at least 5 jobs",
		    CT_PAI_NEED_JOB | CT_PAI_NEED_GROUP);
	ct_pai_give(f, "recurrent_job_share", share(jobs, f->p->n_jobs), "",
		    "share of all jobs that are in such a group", CT_PAI_NEED_JOB | CT_PAI_NEED_GROUP);
	ct_pai_give(f, "recurrent_task_share", share(tasks, f->tasks), "",
		    "share of all tasks that are in such a group",
		    CT_PAI_NEED_JOB | CT_PAI_NEED_GROUP | CT_PAI_NEED_TASKS);
	ct_pai_give(f, "group_configs_share", share(differ, often), "",
		    "share of such groups with 2 or more different plan_gpu",
		    CT_PAI_NEED_JOB | CT_PAI_NEED_GROUP | CT_PAI_NEED_TASK);
	ct_pai_give(f, "group_configs_max", often ? (double)most : (double)NAN, "",
		    "most different plan_gpu that one such group has",
		    CT_PAI_NEED_JOB | CT_PAI_NEED_GROUP | CT_PAI_NEED_TASK);
}

/* ---- users */

static void give_quantiles(const struct ct_pai_figures *f, const char *what, double *v, size_t n, int needs)
{
	static const struct {
		const char *name;
		double q;
	} at[] = { { "p10", .1 }, { "p25", .25 }, { "p50", .5 },  { "p75", .75 },
		   { "p90", .9 }, { "p95", .95 }, { "p97", .97 }, { "max", 1 } };
	char name[64], text[96];

	gsl_sort(v, 1, n);
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		if (ct_pai_lacking(f->p, needs) && at[i].q != .5)
			continue;
		snprintf(name, sizeof name, "user_%s_%s", what, at[i].name);
		snprintf(text, sizeof text, "that quantile of the users' numbers of %s", what);
		ct_pai_give(f, name, n ? gsl_stats_quantile_from_sorted_data(v, 1, n, at[i].q) : (double)NAN, what,
			    text, needs);
	}
}

static void give_users(const struct ct_pai_figures *f)
{
	double *jobs = ct_calloc(f->names, sizeof *jobs), *tasks = ct_calloc(f->names, sizeof *tasks);
	size_t n = 0;

	for (size_t u = 1; u < f->names; u++) {
		if (!f->user[u].jobs)
			continue;
		jobs[n] = (double)f->user[u].jobs;
		tasks[n++] = (double)f->user[u].tasks;
	}
	ct_pai_give(f, "users", (double)n, "users", "different users that the jobs name", CT_PAI_NEED_JOB);
	give_quantiles(f, "jobs", jobs, n, CT_PAI_NEED_JOB);
	give_quantiles(f, "tasks", tasks, n, CT_PAI_NEED_JOB | CT_PAI_NEED_TASKS);
	free(jobs);
	free(tasks);
}

/* ---- flexibility */

static double median_ratio(const struct ct_pai_figures *f)
{
	double *ratio = ct_calloc(f->names, sizeof *ratio), median = (double)NAN;
	size_t n = 0;

	for (size_t u = 1; u < f->names; u++)
		if (f->user[u].gpu_tasks)
			ratio[n++] = f->user[u].max / f->user[u].min;
	gsl_sort(ratio, 1, n);
	if (n)
		median = gsl_stats_median_from_sorted_data(ratio, 1, n);
	free(ratio);
	return median;
}

static void give_flexibility(const struct ct_pai_figures *f)
{
	const struct ct_pai *p = f->p;
	uint64_t gpu_jobs = 0, smaller = 0, large = 0, flexible = 0;

	for (size_t i = 0; i < p->n_jobs; i++) {
		const struct ct_pai_tally *user = &f->user[p->jobs[i].user];
		double own = 0;

		for (uint32_t k = p->jobs[i].first_task; k; k = p->tasks[k - 1].next) {
			const struct ct_pai_task *t = &p->tasks[k - 1];

			own = t->plan_gpu > own ? t->plan_gpu : own;
			large += t->plan_gpu >= CT_PAI_LARGE;
			flexible += t->plan_gpu >= CT_PAI_LARGE && p->jobs[i].user && user->small_done;
		}
		gpu_jobs += own > 0;
		smaller += own > 0 && p->jobs[i].user && user->min < own;
	}
	ct_pai_give(f, "flexibility_ratio_p50", median_ratio(f), "",
		    "median over users with a GPU request of their largest plan_gpu / their smallest",
		    CT_PAI_NEED_JOB | CT_PAI_NEED_TASK);
	ct_pai_give(f, "smaller_request_share", share(smaller, gpu_jobs), "",
		    "share of jobs with a GPU request whose user also has a request below the job's largest",
		    CT_PAI_NEED_JOB | CT_PAI_NEED_TASK);
	ct_pai_give(f, "large_tasks", (double)large, "tasks", "tasks with plan_gpu >= 400 %, per instance",
		    CT_PAI_NEED_TASK);
	ct_pai_give(f, "flexible_share", share(flexible, large), "",
		    "share of these tasks whose user also has a terminated task with plan_gpu < 400 %",
		    CT_PAI_NEED_JOB | CT_PAI_NEED_TASK);
}

/* ---- utilisation */

static void give_utilisation(const struct ct_pai_figures *f)
{
	const struct ct_pai_util *u = &f->p->util;

	ct_pai_give(f, "util_mean", u->rows ? u->sum / (double)u->rows : (double)NAN, "%",
		    "mean gpu_wrk_util of all rows of the sensor table that have one, not weighted",
		    CT_PAI_NEED_SENSOR);
	if (ct_pai_lacking(f->p, CT_PAI_NEED_SENSOR))
		return;
	ct_pai_give(f, "util_rows", (double)u->rows, "rows", "these rows, of any job", CT_PAI_NEED_SENSOR);
	ct_pai_give(f, "util_max", u->rows ? u->max : (double)NAN, "%", "largest gpu_wrk_util", CT_PAI_NEED_SENSOR);
	ct_pai_give(f, "util_zero_share", share(u->zero, u->rows), "", "share of these rows that are 0",
		    CT_PAI_NEED_SENSOR);
	ct_pai_give(f, "util_below_10_share", share(u->below_10, u->rows), "", "share of these rows below 10 %",
		    CT_PAI_NEED_SENSOR);
	ct_pai_give(f, "util_below_50_share", share(u->below_50, u->rows), "", "share of these rows below 50 %",
		    CT_PAI_NEED_SENSOR);
}

void ct_pai_figures(const struct ct_pai *p, struct ct_figures *out)
{
	struct ct_pai_figures f = { .p = p, .out = out, .names = p->w->strings.n + 1 };

	f.user = ct_calloc(f.names, sizeof *f.user);
	f.group = ct_calloc(f.names, sizeof *f.group);
	add_up(&f);
	give_requests(&f);
	give_groups(&f);
	give_users(&f);
	give_flexibility(&f);
	give_utilisation(&f);
	ct_pai_curves(&f);
	free(f.user);
	free(f.group);
}
