/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the figures of section 2 of the ElastiCo paper (arXiv 2608.07971) are drawn from,
 * and what sets training against inference there.
 *
 * The trace has no label for the two, and the paper does not give its rule. Ours is that
 * of the generator: training when the workload tag is nmt, ctr, graphlearn or rl, or
 * when a parameter server or an evaluator belongs to the job; otherwise inference when
 * every GPU task is one instance that asks for less than one GPU and ends within
 * trace.options.infer_below; otherwise training. */
#include "traces/pai_join.h"

#include "traces/figures.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BIN_S = 6 * 3600, DAYS = 45, BINS = DAYS * 86400 / BIN_S };

/* ---- training or inference */

/* The rule's words as numbers in workload->strings; UINT32_MAX: no row has the word. */
struct words {
	uint32_t tag[4], task[2];
};

static struct words find_words(const struct ct_workload *w)
{
	static const char *const tag[] = { "nmt", "ctr", "graphlearn", "rl" }, *const task[] = { "ps", "evaluator" };
	struct words k;

	for (size_t i = 0; i < 4; i++)
		k.tag[i] = ct_strings_find(&w->strings, tag[i], strlen(tag[i]));
	for (size_t i = 0; i < 2; i++)
		k.task[i] = ct_strings_find(&w->strings, task[i], strlen(task[i]));
	return k;
}

/* NaN: not known. */
static double run_s(const struct ct_pai_task *t)
{
	if (t->done)
		return ct_seconds(t->done_us) / t->done;
	return t->start >= 0 && t->end >= 0 ? ct_seconds(t->end - t->start) : (double)NAN;
}

static int is_training(const struct ct_pai *p, const struct ct_pai_job *j, const struct words *k)
{
	int small = 1, gpu = 0;

	if (j->kind != CT_PAI_BY_RULE)
		return j->kind == CT_PAI_TRAINING;
	for (size_t i = 0; i < 4; i++)
		if (j->tag == k->tag[i])
			return 1;
	for (uint32_t i = j->first_task; i; i = p->tasks[i - 1].next) {
		const struct ct_pai_task *t = &p->tasks[i - 1];

		if (t->name == k->task[0] || t->name == k->task[1])
			return 1;
		if (!(t->plan_gpu > 0))
			continue;
		gpu = 1;
		small &= t->plan_gpu < 100 && t->inst_num <= 1 && run_s(t) < p->opts.infer_below_s;
	}
	return !(gpu && small);
}

/* ---- utilisation of the two */

struct point {
	int bin; /* of six hours since the first one; -1: start not known, or after 45 days */
	int kind;
	double util;
};

static int by_kind_and_util(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind - y->kind;
	return (x->util > y->util) - (x->util < y->util);
}

static int by_bin_kind_and_util(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->bin != y->bin ? x->bin - y->bin : by_kind_and_util(a, b);
}

static ct_time start_of(const struct ct_pai_task *t)
{
	return t->first_start >= 0 ? t->first_start : t->start;
}

/* One a row of the sensor table whose job is known: kind 0 is training, 1 inference. */
static struct point *points_of(const struct ct_pai *p)
{
	struct words words = find_words(p->w);
	struct point *x = ct_calloc(p->n_samples + 1, sizeof *x);
	unsigned char *infer = ct_calloc(p->n_tasks + 1, 1);
	ct_time first = -1;

	for (size_t i = 0; i < p->n_jobs; i++) {
		int kind = !is_training(p, &p->jobs[i], &words);

		for (uint32_t k = p->jobs[i].first_task; k; k = p->tasks[k - 1].next)
			infer[k - 1] = (unsigned char)kind;
	}
	for (size_t i = 0; i < p->n_samples; i++) {
		ct_time at = start_of(&p->tasks[p->samples[i].task]);

		first = at >= 0 && (first < 0 || at < first) ? at : first;
	}
	for (size_t i = 0; i < p->n_samples; i++) {
		ct_time at = start_of(&p->tasks[p->samples[i].task]);
		ct_time bin = at < 0 ? -1 : (at - first) / (BIN_S * CT_SECOND);

		x[i] = (struct point){ bin < BINS ? (int)bin : -1, infer[p->samples[i].task], p->samples[i].util };
	}
	free(infer);
	return x;
}

struct half {
	double sum;
	uint64_t rows, below_50;
};

static void give_halves(const struct ct_pai_figures *f, const struct point *x, size_t n)
{
	static const struct {
		const char *mean, *low, *rows, *mean_is, *low_is, *rows_is;
	} say[2] = { { "util_train_mean", "util_train_below_50_share", "util_train_rows",
		       "mean gpu_wrk_util of the rows of training jobs (no label in the trace; our rule: "
		       "traces/pai_curves.c)",
		       "share of these rows below 50 %", "rows of training jobs" },
		     { "util_infer_mean", "util_infer_below_50_share", "util_infer_rows",
		       "mean gpu_wrk_util of the rows of inference jobs, by the same rule",
		       "share of these rows below 50 %", "rows of inference jobs" } };
	struct half half[2] = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct half *h = &half[x[i].kind];

		h->rows++;
		h->sum += x[i].util;
		h->below_50 += x[i].util < 50;
	}
	for (int k = 0; k < 2; k++) {
		double rows = half[k].rows ? (double)half[k].rows : (double)NAN;

		ct_pai_give(f, say[k].mean, half[k].sum / rows, "%", say[k].mean_is, CT_PAI_NEED_SENSOR);
		if (ct_pai_lacking(f->p, CT_PAI_NEED_SENSOR))
			continue;
		ct_pai_give(f, say[k].low, (double)half[k].below_50 / rows, "", say[k].low_is, CT_PAI_NEED_SENSOR);
		ct_pai_give(f, say[k].rows, (double)half[k].rows, "rows", say[k].rows_is, CT_PAI_NEED_SENSOR);
	}
}

/* Share of v[0..n), ascending, up to a value that does not fall from call to call. */
static double up_to(const struct point *v, size_t n, double value, size_t *at)
{
	while (*at < n && v[*at].util <= value)
		(*at)++;
	return n ? (double)*at / (double)n : (double)NAN;
}

/* x by kind and utilisation. */
static void curve_of_util(const struct ct_pai_figures *f, const struct point *x, size_t n)
{
	struct ct_curve *c = ct_figures_curve(f->out, "util_cdf", "util_percent,training,inference,all");
	size_t split = 0, at[2] = { 0 };

	while (split < n && !x[split].kind)
		split++;
	for (int i = 0; i <= 200; i++) {
		double value = i / 2.0, train = up_to(x, split, value, &at[0]),
		       infer = up_to(x + split, n - split, value, &at[1]);

		ct_curve_add(c, (const double[]){ value, train, infer, (double)(at[0] + at[1]) / (double)n });
	}
}

/* ---- utilisation over time */

struct bin {
	double median[2];
	size_t rows[2];
};

static double median_of(const struct point *x, size_t n)
{
	return n % 2 ? x[n / 2].util : (x[n / 2 - 1].util + x[n / 2].util) / 2;
}

/* Sorts x. */
static void fill_bins(struct point *x, size_t n, struct bin *bin)
{
	size_t k;

	for (int b = 0; b < BINS; b++)
		bin[b] = (struct bin){ { (double)NAN, (double)NAN }, { 0, 0 } };
	qsort(x, n, sizeof *x, by_bin_kind_and_util);
	for (size_t i = 0; i < n; i += k) {
		for (k = 1; i + k < n && x[i + k].bin == x[i].bin && x[i + k].kind == x[i].kind; k++)
			;
		if (x[i].bin < 0)
			continue;
		bin[x[i].bin].median[x[i].kind] = median_of(x + i, k);
		bin[x[i].bin].rows[x[i].kind] = k;
	}
}

static void give_correlation(const struct ct_pai_figures *f, const struct bin *bin)
{
	double a[BINS], b[BINS], r = (double)NAN, p = (double)NAN;
	size_t n = 0;

	for (int i = 0; i < BINS; i++)
		if (bin[i].rows[0] && bin[i].rows[1]) {
			a[n] = bin[i].median[0];
			b[n++] = bin[i].median[1];
		}
	if (n > 2 && gsl_stats_variance(a, 1, n) > 0 && gsl_stats_variance(b, 1, n) > 0) {
		r = gsl_stats_correlation(a, 1, b, 1, n);
		p = 2 * gsl_cdf_tdist_Q(fabs(r) * sqrt((double)(n - 2) / (1 - r * r)), (double)(n - 2));
	}
	ct_pai_give(f, "util_correlation", r, "",
		    "Pearson's r of the medians of gpu_wrk_util of training and of inference, six hours each by the "
		    "start of their task, first 45 days",
		    CT_PAI_NEED_SENSOR);
	if (ct_pai_lacking(f->p, CT_PAI_NEED_SENSOR))
		return;
	ct_pai_give(f, "util_correlation_p", p, "", "its two-sided p, by Student's t as if bins were independent",
		    CT_PAI_NEED_SENSOR);
	ct_pai_give(f, "util_correlation_bins", (double)n, "bins", "six hours with rows of both", CT_PAI_NEED_SENSOR);
}

static void curve_of_bins(const struct ct_pai_figures *f, const struct bin *bin)
{
	struct ct_curve *c = ct_figures_curve(f->out, "util_6h",
					      "day,training_median_percent,inference_median_percent,training_rows,"
					      "inference_rows");

	for (int i = 0; i < BINS; i++)
		if (bin[i].rows[0] || bin[i].rows[1])
			ct_curve_add(c, (const double[]){ (i + .5) * BIN_S / 86400, bin[i].median[0], bin[i].median[1],
							  (double)bin[i].rows[0], (double)bin[i].rows[1] });
}

static void give_two(const struct ct_pai_figures *f)
{
	struct point *x = points_of(f->p);
	struct bin *bin = ct_calloc(BINS, sizeof *bin);
	size_t n = f->p->n_samples;

	qsort(x, n, sizeof *x, by_kind_and_util);
	give_halves(f, x, n);
	if (n)
		curve_of_util(f, x, n);
	fill_bins(x, n, bin);
	give_correlation(f, bin);
	if (n)
		curve_of_bins(f, bin);
	free(bin);
	free(x);
}

/* ---- requests and configurations */

static void curve_of_requests(const struct ct_pai_figures *f)
{
	static const double edge[] = { 0, 25, 50, 75, 100, 200, 400, (double)INFINITY };
	struct ct_curve *c = ct_figures_curve(f->out, "requests", "above_percent,to_percent,tasks,share");

	for (size_t i = 0; i + 1 < sizeof edge / sizeof *edge; i++) {
		double n = 0;

		for (size_t k = 0; k < f->p->n_tasks; k++)
			n += f->p->tasks[k].plan_gpu > edge[i] && f->p->tasks[k].plan_gpu <= edge[i + 1];
		ct_curve_add(c, (const double[]){ edge[i], edge[i + 1], n, n / (double)f->gpu_tasks });
	}
}

static void curve_of_configs(const struct ct_pai_figures *f)
{
	struct ct_curve *c = ct_figures_curve(f->out, "configs", "configurations,groups");
	uint32_t most = 1;

	for (size_t g = 1; g < f->names; g++)
		most = f->group[g].configs > most ? f->group[g].configs : most;
	for (uint32_t k = 1; k <= most; k++) {
		double n = 0;

		for (size_t g = 1; g < f->names; g++)
			n += f->group[g].configs == k;
		ct_curve_add(c, (const double[]){ k, n });
	}
}

/* Tasks of four GPUs and more, with and without smaller ones of their user. */
static void curve_of_large(const struct ct_pai_figures *f)
{
	static const double edge[] = { 400, 500, 600, 800, (double)INFINITY };
	enum { BARS = sizeof edge / sizeof *edge - 1 };
	struct ct_curve *c = ct_figures_curve(f->out, "large_tasks", "from_gpus,below_gpus,with_smaller,without");
	const struct ct_pai *p = f->p;
	double n[BARS][2] = { { 0 } };

	for (size_t i = 0; i < p->n_jobs; i++)
		for (uint32_t k = p->jobs[i].first_task; k; k = p->tasks[k - 1].next)
			for (size_t b = 0; b < BARS; b++) {
				double plan = p->tasks[k - 1].plan_gpu;

				if (plan >= edge[b] && plan < edge[b + 1])
					n[b][!(p->jobs[i].user && f->user[p->jobs[i].user].small_done)]++;
			}
	for (size_t b = 0; b < BARS; b++)
		ct_curve_add(c, (const double[]){ edge[b] / 100, edge[b + 1] / 100, n[b][0], n[b][1] });
}

static double share_up_to(const double *v, size_t n, double value)
{
	size_t below = 0;

	while (below < n && v[below] <= value)
		below++;
	return n ? (double)below / (double)n : (double)NAN;
}

static void curve_of_flexibility(const struct ct_pai_figures *f)
{
	struct ct_curve *c = ct_figures_curve(f->out, "flexibility_cdf", "ratio,all_users,users_of_5_jobs");
	double *all = ct_calloc(f->names, sizeof *all), *often = ct_calloc(f->names, sizeof *often);
	size_t n = 0, m = 0;

	for (size_t u = 1; u < f->names; u++) {
		if (!f->user[u].gpu_tasks)
			continue;
		all[n++] = f->user[u].max / f->user[u].min;
		if (f->user[u].jobs >= CT_PAI_OFTEN)
			often[m++] = f->user[u].max / f->user[u].min;
	}
	gsl_sort(all, 1, n);
	gsl_sort(often, 1, m);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || all[i + 1] > all[i])
			ct_curve_add(
			    c, (const double[]){ all[i], (double)(i + 1) / (double)n, share_up_to(often, m, all[i]) });
	free(all);
	free(often);
}

void ct_pai_curves(const struct ct_pai_figures *f)
{
	give_two(f);
	if (!f->gpu_tasks)
		return;
	curve_of_requests(f);
	if (!ct_pai_lacking(f->p, CT_PAI_NEED_JOB | CT_PAI_NEED_GROUP))
		curve_of_configs(f);
	if (ct_pai_lacking(f->p, CT_PAI_NEED_JOB))
		return;
	curve_of_large(f);
	curve_of_flexibility(f);
}
