/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mapping A: the request trace as offline-inference jobs of one GPU.
 *
 * A1: sorted by (user, model, time), a new job begins where the time from one
 *     request to the next, start to start, is longer than the gap.
 * A2: all requests of one model whose start lies in the same window.
 * Work is the sum of the execution times, which contain waiting and loading, as the
 * trace does not have them apart. */
#include "traces/genai.h"

#include "sim/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	const struct ct_genai_request *q;
	int64_t window;
};

struct group {
	const struct ct_genai_request *q; /* the first */
	ct_time submit, work;
	uint32_t requests;
	double images;
};

struct mapper {
	const struct ct_genai *g;
	const struct ct_genai_options *o;
	struct ct_workload *w;
	struct ct_err *err;
	struct item *item;
	size_t n_items;
	struct group *group;
	size_t n_groups, cap_groups;
	uint32_t *class_of; /* per name of a model: number in w->strings */
	size_t column_requests, column_images;
};

/* ---- which requests */

static int wanted_statuses(const char *text, unsigned char want[CT_GENAI_STATUSES], struct ct_err *err)
{
	char b[CT_SHOWN];

	memset(want, !strcmp(text, "any"), CT_GENAI_STATUSES);
	for (const char *s = text; strcmp(text, "any") != 0;) {
		size_t n = strcspn(s, ","), i = 0;

		while (i < CT_GENAI_STATUSES &&
		       (strlen(ct_genai_status_name[i]) != n || memcmp(ct_genai_status_name[i], s, n) != 0))
			i++;
		if (i == CT_GENAI_STATUSES)
			return ct_err_add(err, CT_ECONFIG, NULL,
					  "'trace.options.status' wants SUCCEED, FAILED, PENDING, PROCESSING or 'any', "
					  "got '%s'",
					  ct_shown(b, s, n));
		want[i] = 1;
		if (!s[n])
			break;
		s += n + 1;
	}
	return 0;
}

static int64_t window_of(const struct mapper *m, ct_time at, ct_time first)
{
	if (m->o->mapping != CT_GENAI_A2)
		return 0;
	return (at - (m->o->window_from ? first : 0)) / (ct_time)llround(m->o->window_s * 1e6);
}

static int filter(struct mapper *m)
{
	const struct ct_genai_request *q = m->g->request[0];
	unsigned char want[CT_GENAI_STATUSES];
	uint64_t by_status = 0, no_work = 0;
	size_t n = m->g->n_requests[0];
	ct_time first = CT_TIME_LIMIT;

	CT_TRY(wanted_statuses(m->o->status, want, m->err));
	for (size_t i = 0; i < n; i++)
		first = q[i].at < first ? q[i].at : first;
	m->item = ct_calloc(n + 1, sizeof *m->item);
	for (size_t i = 0; i < n; i++) {
		by_status += !want[q[i].status];
		no_work += want[q[i].status] && q[i].exec == 0;
		if (want[q[i].status] && q[i].exec > 0)
			m->item[m->n_items++] = (struct item){ &q[i], window_of(m, q[i].at, first) };
	}
	ct_workload_count(m->w, "filtered_status", "request whose status trace.options.status does not want", by_status,
			  1);
	ct_workload_count(m->w, "filtered_no_work", "request with an execution time of zero", no_work, 1);
	ct_workload_count(m->w, "duplicate_request", "equal to an earlier row in every column, kept",
			  ct_genai_duplicates(m->g), 0);
	return 0;
}

/* ---- groups */

#define ORDER(a, b)                                \
	do {                                       \
		if ((a) != (b))                    \
			return (a) < (b) ? -1 : 1; \
	} while (0)

static int by_user(const void *a, const void *b)
{
	const struct ct_genai_request *x = ((const struct item *)a)->q, *y = ((const struct item *)b)->q;

	ORDER(x->user, y->user);
	ORDER(x->model, y->model);
	ORDER(x->at, y->at);
	ORDER(x, y); /* places in one array: the order of the file */
	return 0;
}

static int by_window(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	ORDER(x->q->model, y->q->model);
	ORDER(x->window, y->window);
	ORDER(x->q->at, y->q->at);
	ORDER(x->q, y->q);
	return 0;
}

static int starts_job(const struct mapper *m, size_t i)
{
	const struct item *it = &m->item[i], *before = it - 1;

	if (!i || it->q->model != before->q->model)
		return 1;
	if (m->o->mapping == CT_GENAI_A2)
		return it->window != before->window;
	return it->q->user != before->q->user || it->q->at - before->q->at > (ct_time)llround(m->o->gap_s * 1e6);
}

static void collect(struct mapper *m)
{
	qsort(m->item, m->n_items, sizeof *m->item, m->o->mapping == CT_GENAI_A2 ? by_window : by_user);
	for (size_t i = 0; i < m->n_items; i++) {
		const struct ct_genai_request *q = m->item[i].q;
		struct group *to;

		if (starts_job(m, i)) {
			CT_GROW(m->group, m->cap_groups, m->n_groups + 1);
			m->group[m->n_groups++] = (struct group){ .q = q, .submit = q->at };
		}
		to = &m->group[m->n_groups - 1];
		to->work += q->exec;
		to->requests++;
		to->images += isnan(q->number[CT_GENAI_IMAGES]) ? 0 : q->number[CT_GENAI_IMAGES];
		if (!m->o->submit)
			to->submit = q->at;
	}
}

static int by_submission(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	ORDER(x->submit, y->submit);
	ORDER(x->q, y->q);
	return 0;
}

/* ---- classes: model of rank r, by how often it is asked for, is class r mod n */

struct rank {
	uint64_t requests;
	uint32_t model;
};

static int by_requests(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	ORDER(y->requests, x->requests);
	ORDER(x->model, y->model); /* numbers stand in order of first appearance */
	return 0;
}

static const char *nth(const char *list, size_t i, size_t *n)
{
	for (; i; i--)
		list += strcspn(list, ",") + 1;
	*n = strcspn(list, ",");
	return list;
}

static int name_classes(struct mapper *m)
{
	size_t models = m->g->names.n, classes = 1, n;
	struct rank *rank;

	m->class_of = ct_calloc(models + 1, sizeof *m->class_of);
	for (const char *s = m->o->classes; *s; s++)
		classes += *s == ',';
	for (size_t i = 0; i < classes; i++) {
		nth(m->o->classes, i, &n);
		if (*m->o->classes && !n)
			return ct_err_add(m->err, CT_ECONFIG, NULL,
					  "'trace.options.classes' has an empty name: '%.60s'", m->o->classes);
	}
	rank = ct_calloc(models + 1, sizeof *rank);
	for (size_t i = 0; i < models; i++)
		rank[i].model = (uint32_t)i;
	for (size_t i = 0; i < m->n_items; i++)
		rank[m->item[i].q->model].requests++;
	qsort(rank, models, sizeof *rank, by_requests);
	for (size_t i = 0; i < models && rank[i].requests; i++) {
		const char *s = ct_strings_text(&m->g->names, rank[i].model);

		n = strlen(s);
		if (*m->o->classes)
			s = nth(m->o->classes, i % classes, &n);
		m->class_of[rank[i].model] = ct_strings_add(&m->w->strings, s, n);
	}
	free(rank);
	return 0;
}

/* ---- jobs */

static uint32_t text(struct mapper *m, uint32_t name)
{
	const char *s = ct_strings_text(&m->g->names, name);

	return ct_strings_add(&m->w->strings, s, strlen(s));
}

static void set_number(struct mapper *m, size_t column, uint32_t job, double v)
{
	char s[32];
	int n = snprintf(s, sizeof s, "%.0f", v);

	ct_workload_set_extra(m->w, column, job, s, (size_t)n);
}

static int add_job(struct mapper *m, size_t i, double factor)
{
	const struct group *from = &m->group[i];
	struct ct_loc at = { .file = m->w->report.source, .line = from->q->line };
	struct ct_job job = CT_JOB_INIT;
	double work = round((double)from->work * factor);
	char id[32];
	int n = snprintf(id, sizeof id, "%s-%zu", m->o->mapping == CT_GENAI_A2 ? "a2" : "a1", i + 1);
	uint32_t k;

	if (!(work >= 1 && work <= (double)CT_DURATION_LIMIT))
		return ct_err_add(m->err, CT_ETRACE, &at, "a job of %g s, wanted 1e-6 to %g", work / 1e6,
				  (double)CT_DURATION_LIMIT / 1e6);
	job.id = ct_workload_text(m->w, id, (size_t)n);
	job.submit_us = from->submit;
	job.duration_us = (ct_time)work;
	job.line = from->q->line;
	job.model = m->class_of[from->q->model];
	job.group = text(m, from->q->model);
	job.user = m->o->mapping == CT_GENAI_A1 ? text(m, from->q->user) : 0;
	k = ct_workload_add(m->w, &job);
	set_number(m, m->column_requests, k, from->requests);
	set_number(m, m->column_images, k, from->images);
	return 0;
}

static int add_jobs(struct mapper *m)
{
	ct_time first = CT_TIME_LIMIT, last = 0, work = 0;
	double factor;

	for (size_t i = 0; i < m->n_items; i++) {
		const struct ct_genai_request *q = m->item[i].q;

		first = q->at < first ? q->at : first;
		last = q->at > last ? q->at : last;
		if (__builtin_add_overflow(work, q->exec, &work))
			return ct_err_add(m->err, CT_ETRACE, NULL, "the sum of all execution times is too large");
	}
	CT_TRY(ct_genai_work_factor(m->o, ct_seconds(work), ct_seconds(last - first), &factor, m->err));
	CT_TRY(name_classes(m));
	collect(m);
	for (size_t i = 0; i < m->n_groups; i++)
		m->group[i].submit = ct_genai_folded(m->o, m->group[i].submit);
	if (m->n_groups)
		qsort(m->group, m->n_groups, sizeof *m->group, by_submission);
	m->column_requests = ct_workload_column(m->w, "requests");
	m->column_images = ct_workload_column(m->w, "images");
	for (size_t i = 0; i < m->n_groups; i++)
		CT_TRY(add_job(m, i, factor));
	return 0;
}

int ct_genai_jobs(const struct ct_genai *g, const struct ct_genai_options *opts, struct ct_workload *w,
		  struct ct_err *err)
{
	struct mapper m = { .g = g, .o = opts, .w = w, .err = err };
	int rc = filter(&m);

	if (!rc)
		rc = add_jobs(&m);
	free(m.item);
	free(m.group);
	free(m.class_of);
	return rc;
}

/* ---- duplicates */

static int same_number(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

static int by_content(const void *a, const void *b)
{
	const struct ct_genai_request *x = *(const struct ct_genai_request *const *)a,
				      *y = *(const struct ct_genai_request *const *)b;

	ORDER(x->at, y->at);
	ORDER(x->user, y->user);
	ORDER(x->model, y->model);
	ORDER(x->kind, y->kind);
	ORDER(x->status, y->status);
	ORDER(x->loras, y->loras);
	for (size_t i = 0; i < CT_GENAI_NUMBERS; i++)
		if (!same_number(x->number[i], y->number[i]))
			return isnan(x->number[i]) || (!isnan(y->number[i]) && x->number[i] < y->number[i]) ? -1 : 1;
	return 0;
}

uint64_t ct_genai_duplicates(const struct ct_genai *g)
{
	size_t n = g->n_requests[0];
	const struct ct_genai_request **p = ct_calloc(n + 1, sizeof *p);
	uint64_t same = 0;

	for (size_t i = 0; i < n; i++)
		p[i] = &g->request[0][i];
	qsort(p, n, sizeof *p, by_content);
	for (size_t i = 1; i < n; i++)
		same += !by_content(&p[i - 1], &p[i]);
	free(p);
	return same;
}
