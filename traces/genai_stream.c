/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mapping B: the QPS series as a stream of requests, or as batches of them.
 *
 * Each row of generative requests is round(value / 0.09) requests at random places of
 * its minute. A request takes what the pod's inference took in that minute; where that
 * is missing, what a random one of all inferences at the pods of the QPS series took. */
#include "traces/genai.h"

#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
	ct_time at, work;
	uint32_t row, pod; /* of the series: keeps the order among equal times */
};

struct batch {
	ct_time submit, work;
	uint32_t requests, pod, rank;
};

struct streamer {
	const struct ct_genai *g;
	const struct ct_genai_options *o;
	struct ct_workload *w;
	struct ct_err *err;
	struct ct_genai_sample *served; /* inferences by pod and minute */
	size_t n_served;
	double *pool; /* their times at the pods of the series, ms */
	size_t n_pool;
	struct request *request;
	size_t n, cap;
	uint64_t drawn, api, none;
};

/* ---- service times */

static void fill_pool(struct streamer *s)
{
	const struct ct_genai_series *qps = &s->g->series[CT_GENAI_QPS];
	unsigned char *in_qps = ct_calloc(s->g->names.n + 1, 1);

	for (size_t i = 0; i < qps->n; i++)
		if (!qps->v[i].api)
			in_qps[qps->v[i].pod] = 1;
	s->pool = ct_calloc(s->n_served + 1, sizeof *s->pool);
	for (size_t i = 0; i < s->n_served; i++)
		if (in_qps[s->served[i].pod] && s->served[i].value > 0)
			s->pool[s->n_pool++] = s->served[i].value;
	free(in_qps);
}

static double inference_ms(const struct streamer *s, const struct ct_genai_sample *q)
{
	size_t lo = 0, hi = s->n_served;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct ct_genai_sample *v = &s->served[mid];

		if (v->pod < q->pod || (v->pod == q->pod && v->k < q->k))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < s->n_served && s->served[lo].pod == q->pod && s->served[lo].k == q->k)
		return s->served[lo].value;
	return 0;
}

/* ---- requests */

static void place(struct streamer *s, uint32_t row)
{
	const struct ct_genai_sample *q = &s->g->series[CT_GENAI_QPS].v[row];
	long long n = llround(q->value / CT_GENAI_QUANTUM);
	double ms = inference_ms(s, q);
	struct ct_stream random;

	ct_stream_init(&random, (uint64_t)s->o->seed, CT_RANDOM_WORKLOAD, row);
	s->none += n == 0;
	if (n > 0 && !(ms > 0))
		s->drawn++;
	for (; n > 0; n--) {
		double at = gsl_rng_uniform(&random.rng);
		double took = ms > 0 ? ms : s->pool[gsl_rng_uniform_int(&random.rng, s->n_pool)];

		CT_GROW(s->request, s->cap, s->n + 1);
		s->request[s->n++] = (struct request){ (ct_time)((q->k + at) * CT_GENAI_MINUTE_S * 1e6),
						       llround(took * 1e3), row, q->pod };
	}
}

static int by_time(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int place_all(struct streamer *s)
{
	const struct ct_genai_series *qps = &s->g->series[CT_GENAI_QPS];
	struct ct_loc at = { .file = s->w->report.source };

	s->served = ct_genai_by_pod(&s->g->series[CT_GENAI_INFERENCE]);
	s->n_served = s->g->series[CT_GENAI_INFERENCE].n;
	fill_pool(s);
	if (!s->n_pool && qps->n)
		return ct_err_at(s->err, CT_ETRACE, &at, "no inference at any pod of the QPS series: no service times");
	for (size_t i = 0; i < qps->n; i++) {
		s->api += qps->v[i].api;
		if (!qps->v[i].api)
			place(s, (uint32_t)i);
	}
	if (s->n)
		qsort(s->request, s->n, sizeof *s->request, by_time);
	ct_workload_count(s->w, "filtered_api_requests", "rows of API requests, which count the same traffic again",
			  s->api, 1);
	ct_workload_count(s->w, "filtered_no_request", "rows of less than half a request", s->none, 1);
	ct_workload_count(s->w, "drawn_service_time",
			  "rows without an inference at that pod and minute: drawn from all", s->drawn, 0);
	return 0;
}

/* ---- jobs */

static int same_batch(const struct streamer *s, const struct batch *b, const struct request *first,
		      const struct request *r)
{
	ct_time window = (ct_time)llround(s->o->batch_minutes * 60e6);

	if (!b->requests)
		return 1;
	if (window > 0)
		return r->at / window == first->at / window;
	return b->requests < (uint32_t)s->o->batch;
}

static int add_job(struct streamer *s, const struct batch *b, double factor, size_t column)
{
	struct ct_job job = CT_JOB_INIT;
	double work = round((double)b->work * factor);
	char text[32];
	int n = snprintf(text, sizeof text, "qps-%zu", s->w->n + 1);
	const char *pod;
	uint32_t k;

	if (!(work >= 1 && work <= (double)CT_DURATION_LIMIT))
		return ct_err_add(s->err, CT_ETRACE, NULL, "a job of %g s, wanted 1e-6 to %g", work / 1e6,
				  (double)CT_DURATION_LIMIT / 1e6);
	job.id = ct_workload_text(s->w, text, (size_t)n);
	job.submit_us = b->submit;
	job.duration_us = (ct_time)work;
	if (b->requests == 1) {
		pod = ct_strings_text(&s->g->names, b->pod);
		job.group = ct_strings_add(&s->w->strings, pod, strlen(pod));
	}
	k = ct_workload_add(s->w, &job);
	n = snprintf(text, sizeof text, "%u", b->requests);
	ct_workload_set_extra(s->w, column, k, text, (size_t)n);
	return 0;
}

static int by_submission(const void *a, const void *b)
{
	const struct batch *x = a, *y = b;

	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Batches in order of submission, which folding and closing by the first may change. */
static size_t collect(const struct streamer *s, struct batch *out)
{
	const struct request *first = NULL;
	struct batch b = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct request *r = &s->request[i];

		if (!same_batch(s, &b, first, r)) {
			out[n++] = b;
			b = (struct batch){ .rank = (uint32_t)n };
		}
		if (!b.requests++ || !s->o->submit)
			b.submit = ct_genai_folded(s->o, r->at);
		first = b.requests == 1 ? r : first;
		b.work += r->work;
		b.pod = r->pod;
	}
	if (b.requests)
		out[n++] = b;
	return n;
}

static int add_jobs(struct streamer *s)
{
	struct batch *batch = ct_calloc(s->n + 1, sizeof *batch);
	size_t n = collect(s, batch), column = ct_workload_column(s->w, "requests");
	double factor, work = 0;
	int rc;

	for (size_t i = 0; i < n; i++)
		work += ct_seconds(batch[i].work);
	if (s->o->fold_days > 0)
		qsort(batch, n, sizeof *batch, by_submission);
	rc = ct_genai_work_factor(s->o, work, (CT_GENAI_LAST + 1) * CT_GENAI_MINUTE_S, &factor, s->err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = add_job(s, &batch[i], factor, column);
	free(batch);
	return rc;
}

static int check_options(const struct ct_genai_options *o, struct ct_err *err)
{
	if (o->batch > 1 && o->batch_minutes > 0)
		ct_err_add(
		    err, CT_ECONFIG, NULL,
		    "'trace.options.batch' and 'trace.options.batch_minutes' are two ways to make batches; give one");
	if (o->batch != floor(o->batch))
		ct_err_add(err, CT_ECONFIG, NULL, "'trace.options.batch' wants a whole number, got %g", o->batch);
	if (*o->classes)
		ct_err_add(err, CT_ECONFIG, NULL,
			   "'trace.options.classes' wants models, and the QPS series names none");
	return (int)err->code;
}

int ct_genai_stream(const struct ct_genai *g, const struct ct_genai_options *opts, struct ct_workload *w,
		    struct ct_err *err)
{
	struct streamer s = { .g = g, .o = opts, .w = w, .err = err };
	int rc = check_options(opts, err);

	if (!rc)
		rc = place_all(&s);
	if (!rc)
		rc = add_jobs(&s);
	free(s.served);
	free(s.pool);
	free(s.request);
	return rc;
}
