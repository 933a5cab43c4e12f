/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Lucid knows of a job. Its run-time estimator is a regression on user, job name
 * and time (R2 0.41 by its authors); here an estimate is the true run time with
 * log-normal error, or the trace's own. The sharing score comes from a column of the
 * trace, else from a rule on solo utilisation. */
#include "scheduler/lucid/lucid.h"

#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Thresholds in per cent. The authors name 25 and 53 % of GPU utilisation; the rule with
 * memory-bandwidth utilisation is a depth-2 tree fitted to their 66 labelled profiles
 * (81.8 % of the labels, never off by two; 78.8 % without it). */
#define TINY_UTIL  25.0
#define JUMBO_UTIL 53.0
#define JUMBO_GMEM 30.5

uint32_t ct_lucid_score(double gpu_util, double gmem_util)
{
	if (!isnan(gmem_util))
		return gmem_util > JUMBO_GMEM ? 2 : gpu_util <= TINY_UTIL ? 0 : 1;
	return gpu_util <= TINY_UTIL ? 0 : gpu_util <= JUMBO_UTIL ? 1 : 2;
}

static uint32_t column(const struct ct_view *v, const char *name)
{
	return v->host->column(v->host->ctx, name);
}

int ct_lucid_facts_init(struct ct_lucid *l, const struct ct_view *v)
{
	char message[256];

	if (l->score_column && *l->score_column) {
		l->score_of = column(v, l->score_column);
		if (l->score_of == CT_ANY) {
			snprintf(message, sizeof message,
				 "'policy.score_column' wants a column of the trace, got '%.100s'", l->score_column);
			return v->host->fail(v->host->ctx, message);
		}
	} else {
		l->score_of = column(v, "sharescore");
		if (l->score_of == CT_ANY)
			l->score_of = column(v, "label");
	}
	l->gpu_util = column(v, "gpu_util");
	l->gmem_util = column(v, "gmem_util");
	l->sm_frac = column(v, "sm_frac");
	return 0;
}

static int value(const struct ct_view *v, uint32_t of, uint32_t job, double *out)
{
	return v->host->value(v->host->ctx, of, job, out);
}

/* A column of the trace where it may be empty: NaN then. */
static int optional_value(const struct ct_view *v, uint32_t of, uint32_t job, double *out)
{
	*out = NAN;
	if (of == CT_ANY || !*v->host->value_text(v->host->ctx, of, job))
		return 0;
	return value(v, of, job, out);
}

static int labelled_score(const struct ct_lucid *l, const struct ct_view *v, uint32_t job, uint32_t *score)
{
	double x;

	if (value(v, l->score_of, job, &x))
		return 1;
	for (uint32_t s = 0; s < CT_LUCID_SCORES; s++) {
		if (!(x < s) && !(x > s)) {
			*score = s;
			return 0;
		}
	}
	return v->host->fail(v->host->ctx, "a sharing score wants to be 0, 1 or 2");
}

static int find_score(const struct ct_lucid *l, const struct ct_view *v, uint32_t job, uint32_t *score)
{
	double util, gmem = NAN;

	*score = (uint32_t)l->default_score;
	if (l->score_of != CT_ANY)
		return labelled_score(l, v, job, score);
	if (l->gpu_util != CT_ANY) {
		if (optional_value(v, l->gpu_util, job, &util) || optional_value(v, l->gmem_util, job, &gmem))
			return 1;
		if (!isnan(util))
			*score = ct_lucid_score(util, gmem);
		return 0;
	}
	if (value(v, l->sm_frac, job, &util))
		return 1;
	if (isnan(util) && l->utilisation == CT_LUCID_PROFILE) {
		const struct ct_view_family *f = v->host->family(v->host->ctx, job, 1);

		util = f->config[f->default_config].sm_frac;
	}
	if (!isnan(util))
		*score = ct_lucid_score(100 * util, NAN);
	return 0;
}

int ct_lucid_learn(struct ct_lucid *l, const struct ct_view *v, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	struct ct_lucid_job *f;
	ct_time estimate;

	if (job >= l->n_jobs) {
		CT_GROW(l->job, l->cap_jobs, (size_t)job + 1);
		memset(l->job + l->n_jobs, 0, (job + 1 - l->n_jobs) * sizeof *l->job);
		l->n_jobs = (size_t)job + 1;
	}
	f = &l->job[job];
	if (v->host->estimate_us(v->host->ctx, job, l->q.estimate, l->q.sigma, &estimate) ||
	    find_score(l, v, job, &f->score))
		return 1;
	f->weight = (double)estimate / 1e6 * j->num_gpus;
	f->mem_mib = j->gpu_mem_mib;
	f->num_gpus = j->num_gpus;
	f->gpu_type = j->gpu_type;
	f->partner = CT_NO_JOB;
	f->shelf = ct_lucid_shelf_of(l, v, job);
	return 0;
}
