/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A generated workload as the tables that it imitates: a job of one task, whose row of
 * the sensor table is the job's utilisation. So its figures are computed by the
 * code that computes the trace's. */
#include "sim/csv.h"
#include "traces/figures.h"
#include "traces/pai_join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_NAME, INST_NUM, PLAN_GPU, GPU_UTIL, TAG, KIND, COLUMNS };
static const char *const names[COLUMNS] = { "task_name", "instances", "plan_gpu", "gpu_util", "tag", "kind" };

static int find_columns(const struct ct_workload *w, const struct ct_extra_column *column[COLUMNS])
{
	for (size_t k = 0; k < COLUMNS; k++) {
		column[k] = NULL;
		for (size_t i = 0; i < w->n_columns; i++)
			if (!strcmp(w->columns[i].name, names[k]))
				column[k] = &w->columns[i];
		if (!column[k])
			return 0;
	}
	return 1;
}

/* NaN: empty, or not a number. */
static double number(const struct ct_workload *w, const struct ct_extra_column *c, size_t job)
{
	const char *s = ct_strings_text(&w->strings, c->value[job]);
	double v;

	return *s && ct_parse_f64(s, strlen(s), &v) == 0 ? v : (double)NAN;
}

static void add_job(struct ct_pai *p, size_t i, const struct ct_extra_column *const column[COLUMNS])
{
	const struct ct_job *j = &p->w->jobs[i];
	const char *kind = ct_strings_text(&p->w->strings, column[KIND]->value[i]);
	double inst = number(p->w, column[INST_NUM], i), util = number(p->w, column[GPU_UTIL], i);
	int failed = !strcmp(ct_strings_text(&p->w->strings, j->state), "Failed");
	enum ct_pai_status status = failed ? CT_PAI_FAILED : CT_PAI_TERMINATED;

	p->jobs[i] = (struct ct_pai_job){
		.name = j->id,
		.first_task = (uint32_t)i + 1,
		.last_task = (uint32_t)i + 1,
		.user = j->user,
		.group = j->group,
		.tag = column[TAG]->value[i],
		.status = status,
		.start = j->submit_us,
		.end = j->submit_us + j->duration_us,
		.kind = !strcmp(kind, "train")   ? CT_PAI_TRAINING
			: !strcmp(kind, "infer") ? CT_PAI_INFERENCE
						 : CT_PAI_BY_RULE,
	};
	p->tasks[i] = (struct ct_pai_task){
		.name = column[TASK_NAME]->value[i],
		.gpu_type = j->gpu_type,
		.inst_num = inst > 0 ? (uint32_t)inst : 0,
		.status = status,
		.start = j->submit_us,
		.end = j->submit_us + j->duration_us,
		.plan_cpu = (double)NAN,
		.plan_mem = (double)NAN,
		.plan_gpu = number(p->w, column[PLAN_GPU], i),
		.first_start = -1,
		.max_mem = (double)NAN,
	};
	ct_pai_add_util(&p->util, util);
	if (!isnan(util))
		p->samples[p->n_samples++] = (struct ct_pai_sample){ (uint32_t)i, util };
}

int ct_pai_workload_figures(struct ct_workload *w, struct ct_figures *out)
{
	const struct ct_extra_column *column[COLUMNS];
	struct ct_pai p = { .w = w, .n_jobs = w->n, .n_tasks = w->n };

	if (!w->n || !find_columns(w, column))
		return 0;
	for (int t = 0; t < CT_PAI_TABLES; t++)
		p.have[t] = 1;
	p.jobs = ct_calloc(w->n, sizeof *p.jobs);
	p.tasks = ct_calloc(w->n, sizeof *p.tasks);
	p.samples = ct_calloc(w->n, sizeof *p.samples);
	for (size_t i = 0; i < w->n; i++)
		add_job(&p, i, column);
	ct_pai_figures(&p, out);
	free(p.jobs);
	free(p.tasks);
	free(p.samples);
	return 1;
}
