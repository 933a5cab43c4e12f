/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A generated day of requests as the tables that it imitates: requests of each pod and
 * minute (qps.csv, without the gateway's rows, which count the same traffic again), and
 * how much of each minute each pod was busy, one request after the other (the duty
 * cycle). So its figures are computed by the code that computes the trace's. */
#include "sim/csv.h"
#include "traces/genai.h"

#include <stdlib.h>
#include <string.h>

enum { MINUTES = CT_GENAI_LAST };
static const ct_time minute = CT_GENAI_MINUTE_S * CT_SECOND;

static const struct ct_extra_column *pod_column(const struct ct_workload *w)
{
	for (size_t i = 0; i < w->n_columns; i++)
		if (!strcmp(w->columns[i].name, "pod"))
			return &w->columns[i];
	return NULL;
}

/* Numbers of the pods, in the order of their first requests; how many there are. */
static uint32_t number_pods(const struct ct_workload *w, const struct ct_extra_column *c, uint32_t *pod)
{
	uint32_t *number = ct_calloc(w->strings.n + 1, sizeof *number), n = 0;

	for (size_t i = 0; i < w->n; i++) {
		uint32_t *of = &number[c->value[i]];

		if (!*of)
			*of = ++n;
		pod[i] = *of - 1;
	}
	free(number);
	return n;
}

static void add(struct ct_genai_series *s, double value, uint32_t pod, int k)
{
	CT_GROW(s->v, s->cap, s->n + 1);
	s->v[s->n++] = (struct ct_genai_sample){ .value = value, .pod = pod + 1, .k = (uint16_t)k };
}

/* One request after the other: what is left of it in each minute. */
static void serve(double *busy, ct_time from, ct_time to)
{
	for (ct_time m = from / minute; m < MINUTES && m * minute < to; m++) {
		ct_time a = from > m * minute ? from : m * minute, b = to < (m + 1) * minute ? to : (m + 1) * minute;

		busy[m] += 100 * (double)(b - a) / (double)minute;
	}
}

int ct_genai_workload_figures(struct ct_workload *w, struct ct_figures *out)
{
	const struct ct_extra_column *column = pod_column(w);
	struct ct_genai g = { 0 };
	uint32_t *pod, pods;
	ct_time *free_at;
	double *busy, *count;

	if (!w->n || !column)
		return 0;
	pod = ct_calloc(w->n, sizeof *pod);
	pods = number_pods(w, column, pod);
	free_at = ct_calloc(pods, sizeof *free_at);
	busy = ct_calloc((size_t)pods * MINUTES, sizeof *busy);
	count = ct_calloc((size_t)pods * MINUTES, sizeof *count);
	for (size_t i = 0; i < w->n && w->jobs[i].submit_us < MINUTES * minute; i++) {
		const struct ct_job *j = &w->jobs[i];
		ct_time start = j->submit_us > free_at[pod[i]] ? j->submit_us : free_at[pod[i]];

		count[(size_t)pod[i] * MINUTES + (size_t)(j->submit_us / minute)]++;
		free_at[pod[i]] = start + j->duration_us;
		serve(busy + (size_t)pod[i] * MINUTES, start, free_at[pod[i]]);
	}
	for (uint32_t p = 0; p < pods; p++)
		for (int k = 0; k < MINUTES; k++) {
			size_t at = (size_t)p * MINUTES + (size_t)k;

			add(&g.series[CT_GENAI_DUTY], busy[at], p, k);
			if (count[at] > 0)
				add(&g.series[CT_GENAI_QPS], count[at] * CT_GENAI_QUANTUM, p, k);
		}
	ct_genai_figures(&g, out);
	for (size_t t = 0; t < CT_GENAI_SERIES; t++)
		free(g.series[t].v);
	free(pod);
	free(free_at);
	free(busy);
	free(count);
	return 1;
}
