/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the GenAI trace says about itself. Quantiles are by linear interpolation
 * between order statistics (type 7), deviations divide by n: so the published figures
 * (mean duty 7.0 %, 97.7 % below 50 %, CV 0.87, ratio "nearly 85") come out. */
#include "traces/genai.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct numbers { /* sorted */
	double *v;
	size_t n;
};

static double quantile(const struct numbers *x, double q)
{
	return x->n ? gsl_stats_quantile_from_sorted_data(x->v, 1, x->n, q) : (double)NAN;
}

static double mean(const struct numbers *x)
{
	return x->n ? gsl_stats_mean(x->v, 1, x->n) : (double)NAN;
}

/* Standard deviation over n, by the mean. */
static double variation(const struct numbers *x)
{
	double m = mean(x), sum = 0;

	for (size_t i = 0; i < x->n; i++)
		sum += (x->v[i] - m) * (x->v[i] - m);
	return sqrt(sum / (double)x->n) / m;
}

static struct numbers values(const struct ct_genai_series *s, double scale, double above)
{
	struct numbers x = { ct_calloc(s->n + 1, sizeof *x.v), 0 };

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].value > above)
			x.v[x.n++] = s->v[i].value * scale;
	gsl_sort(x.v, 1, x.n);
	return x;
}

static double sum(const struct ct_genai_series *s)
{
	double total = 0;

	for (size_t i = 0; i < s->n; i++)
		total += s->v[i].value;
	return total;
}

static size_t count_pods(const struct ct_genai *g, enum ct_genai_table t)
{
	unsigned char *seen = ct_calloc(g->names.n + 1, 1);
	size_t n = 0;

	for (size_t i = 0; i < g->series[t].n; i++) {
		uint32_t pod = g->series[t].v[i].pod;

		n += pod && !seen[pod];
		seen[pod] = 1;
	}
	free(seen);
	return n;
}

/* ---- every table */

static void add_rows(const struct ct_genai *g, struct ct_figures *f)
{
	char name[64];

	for (size_t t = 0; t < CT_GENAI_TABLES; t++) {
		if (!(g->there & 1u << t))
			continue;
		snprintf(name, sizeof name, "rows_%s", ct_genai_table_name((enum ct_genai_table)t));
		ct_figures_add(f, name, (double)g->rows[t], "rows", "rows of that table, without its header");
		if (t >= CT_GENAI_SERIES)
			continue;
		snprintf(name, sizeof name, "pods_%s", ct_genai_table_name((enum ct_genai_table)t));
		ct_figures_add(f, name, (double)count_pods(g, (enum ct_genai_table)t), "pods",
			       "different container_ip of that table");
		snprintf(name, sizeof name, "no_pod_%s", ct_genai_table_name((enum ct_genai_table)t));
		ct_figures_add(f, name, (double)g->rule[t][CT_GENAI_EMPTY_POD], "rows",
			       "rows of that table without a pod");
		snprintf(name, sizeof name, "sum_%s", ct_genai_table_name((enum ct_genai_table)t));
		ct_figures_add(f, name, sum(&g->series[t]), "", "sum of all values of that table");
	}
}

/* ---- duty cycle */

size_t ct_genai_runs(const struct ct_genai_sample *v, size_t n, int idle, double *length)
{
	size_t runs = 0;

	for (size_t i = 0; i < n; i++) {
		int goes_on = i && v[i].pod == v[i - 1].pod && v[i].k == v[i - 1].k + 1 &&
			      (v[i - 1].value == 0) == (v[i].value == 0);

		if ((v[i].value == 0) != idle)
			continue;
		if (goes_on)
			length[runs - 1]++;
		else
			length[runs++] = 1;
	}
	gsl_sort(length, 1, runs);
	return runs;
}

static void add_runs(const char *prefix, struct numbers *x, const char *what, struct ct_figures *f)
{
	static const struct {
		const char *name;
		double q;
	} at[] = { { "p25", .25 }, { "p50", .5 },  { "p75", .75 }, { "p90", .9 },
		   { "p95", .95 }, { "p99", .99 }, { "max", 1 } };
	char name[64];

	snprintf(name, sizeof name, "%s_runs", prefix);
	ct_figures_add(f, name, (double)x->n, "runs", what);
	snprintf(name, sizeof name, "%s_run_mean", prefix);
	ct_figures_add(f, name, mean(x), "min", "mean length of these runs");
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		snprintf(name, sizeof name, "%s_run_%s", prefix, at[i].name);
		ct_figures_add(f, name, quantile(x, at[i].q), "min", "that quantile of these runs' lengths");
	}
}

static void curve_of_duty(const struct numbers *x, struct ct_figures *f)
{
	struct ct_curve *c = ct_figures_curve(f, "duty_cdf", "util_percent,pods");
	size_t below = 0;

	for (int i = 0; i <= 200; i++) {
		while (below < x->n && x->v[below] <= i / 2.0)
			below++;
		ct_curve_add(c, (const double[]){ i / 2.0, (double)below / (double)x->n });
	}
}

static void add_duty(const struct ct_genai *g, struct ct_figures *f)
{
	const struct ct_genai_series *s = &g->series[CT_GENAI_DUTY];
	struct ct_genai_sample *v = ct_genai_by_pod(s);
	struct numbers x = values(s, 1, -1), runs = { ct_calloc(s->n + 1, sizeof *runs.v), 0 };
	size_t low = 0, zero = 0;

	curve_of_duty(&x, f);
	for (size_t i = 0; i < x.n; i++) {
		low += x.v[i] < 50;
		zero += x.v[i] == 0;
	}
	ct_figures_add(f, "duty_mean", mean(&x), "%", "mean GPU duty cycle of all (pod, minute) rows");
	ct_figures_add(f, "duty_below_50_share", (double)low / (double)x.n, "", "share of these rows below 50 %");
	ct_figures_add(f, "duty_zero_share", (double)zero / (double)x.n, "", "share of these rows that are exactly 0");
	ct_figures_add(f, "duty_zeros", (double)zero, "rows", "rows of exactly 0");
	ct_figures_add(f, "duty_median", quantile(&x, .5), "%", "median of these rows");
	runs.n = ct_genai_runs(v, s->n, 1, runs.v);
	add_runs("idle", &runs, "runs of minutes of a pod at duty 0, cut where a sample is missing", f);
	runs.n = ct_genai_runs(v, s->n, 0, runs.v);
	add_runs("busy", &runs, "runs of minutes of a pod above duty 0, cut where a sample is missing", f);
	free(runs.v);
	free(x.v);
	free(v);
}

/* ---- QPS */

struct per_minute {
	double value[CT_GENAI_LAST + 1];
	unsigned char there[CT_GENAI_LAST + 1];
};

static struct numbers present(const struct per_minute *m, int zero_filled)
{
	struct numbers x = { ct_calloc(CT_GENAI_LAST + 1, sizeof *x.v), 0 };

	for (size_t k = 0; k <= CT_GENAI_LAST; k++)
		if (m->there[k] || zero_filled)
			x.v[x.n++] = m->value[k];
	gsl_sort(x.v, 1, x.n);
	return x;
}

static void add_minutes(const struct per_minute *m, const char *prefix, const char *whose, struct ct_figures *f)
{
	static const struct {
		const char *name, *unit, *what;
	} form[] = { { "minutes", "min", "minutes in which %s has a row" },
		     { "mean", "", "mean of these minutes, summed over pods (%s)" },
		     { "max", "", "largest of these minutes (%s)" },
		     { "cv", "", "standard deviation / mean of these minutes (%s)" },
		     { "p95", "", "95 % quantile of these minutes (%s)" },
		     { "p5", "", "5 % quantile of these minutes (%s)" },
		     { "p95_p5_ratio", "", "their ratio (%s)" } };
	struct numbers x = present(m, 0);
	const double v[] = { (double)x.n,
			     mean(&x),
			     quantile(&x, 1),
			     variation(&x),
			     quantile(&x, .95),
			     quantile(&x, .05),
			     quantile(&x, .95) / quantile(&x, .05) };

	for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
		char name[64], what[160], *at;

		snprintf(name, sizeof name, "%s_%s", prefix, form[i].name);
		at = strstr(form[i].what, "%s");
		snprintf(what, sizeof what, "%.*s%s%s", (int)(at - form[i].what), form[i].what, whose, at + 2);
		ct_figures_add(f, name, v[i], form[i].unit, what);
	}
	free(x.v);
}

static void add_span(const struct per_minute *m, struct ct_figures *f)
{
	int first = -1, last = -1;

	for (int k = 0; k <= CT_GENAI_LAST; k++) {
		first = first < 0 && m->there[k] ? k : first;
		last = m->there[k] ? k : last;
	}
	ct_figures_add(f, "qps_span", (double)(last - first) * CT_GENAI_STEP_S / 86400, "d",
		       "last - first row on the compressed clock of the files");
}

/* On the true clock, k minutes after midnight; minutes without a row count as 0 in the mean. */
static void curve_of_qps(const struct per_minute *m, struct ct_figures *f)
{
	enum { HALF = 5 };
	struct ct_curve *c = ct_figures_curve(f, "qps", "day,qps,mean_of_11_min");

	for (int k = 0; k <= CT_GENAI_LAST; k++) {
		int from = k < HALF ? 0 : k - HALF, to = k + HALF > CT_GENAI_LAST ? CT_GENAI_LAST : k + HALF;
		double around = 0;

		for (int i = from; i <= to; i++)
			around += m->value[i] / (to - from + 1);
		ct_curve_add(c, (const double[]){ k / 1440.0, m->there[k] ? m->value[k] : (double)NAN, around });
	}
}

static void add_qps(const struct ct_genai *g, struct ct_figures *f)
{
	const struct ct_genai_series *s = &g->series[CT_GENAI_QPS];
	struct per_minute both = { 0 }, generative = { 0 };
	struct numbers filled;
	double requests = 0;
	size_t zero = 0;

	for (size_t i = 0; i < s->n; i++) {
		both.value[s->v[i].k] += s->v[i].value;
		both.there[s->v[i].k] = 1;
		if (s->v[i].api)
			continue;
		generative.value[s->v[i].k] += s->v[i].value;
		generative.there[s->v[i].k] = 1;
		requests += round(s->v[i].value / CT_GENAI_QUANTUM);
	}
	curve_of_qps(&both, f);
	add_minutes(&both, "qps", "both request types", f);
	filled = present(&both, 1);
	for (size_t i = 0; i < filled.n; i++)
		zero += filled.v[i] == 0;
	ct_figures_add(f, "qps_filled_cv", variation(&filled), "", "the same with minutes without a row as 0");
	ct_figures_add(f, "qps_zero_share", (double)zero / (double)filled.n, "", "share of minutes without a row");
	add_span(&both, f);
	add_minutes(&generative, "generative", "generative requests", f);
	ct_figures_add(f, "generative_requests", requests, "requests", "sum of round(value / 0.09) of generative rows");
	free(filled.v);
}

/* ---- memory */

static void add_host_memory(const struct ct_genai *g, struct ct_figures *f)
{
	ct_figures_add(f, "negative_memory", (double)g->rule[CT_GENAI_MEMORY][CT_GENAI_NEGATIVE_MEMORY], "rows",
		       "host memory below zero");
}

static void add_memory(const struct ct_genai *g, struct ct_figures *f)
{
	struct numbers x = values(&g->series[CT_GENAI_GPU_MEMORY], 0x1p-30, -1);

	ct_figures_add(f, "gpu_memory_p50", quantile(&x, .5), "GiB", "median GPU memory in use of all rows");
	ct_figures_add(f, "gpu_memory_max", quantile(&x, 1), "GiB", "largest of all rows");
	free(x.v);
}

/* ---- loading and latency */

static void add_latencies(const struct ct_genai *g, struct ct_figures *f)
{
	static const struct {
		enum ct_genai_table table;
		double above;
		const char *name, *what;
	} row[] = {
		{ CT_GENAI_BASE, -1, "base_load_p50", "median time to load a base model" },
		{ CT_GENAI_LORA, -1, "lora_load_p50", "median time to load a LoRA adapter" },
		{ CT_GENAI_CONTROLNET, -1, "controlnet_load_p50", "median time to load a ControlNet" },
		{ CT_GENAI_UPDATE, 0, "update_p50", "median time of the pipeline updates that took any" },
		{ CT_GENAI_INFERENCE, -1, "inference_p50", "median of pipeline_inference, the inner latency" },
		{ CT_GENAI_PREDICT, -1, "predict_p50", "median of model_predict, the latency with loading" },
		{ CT_GENAI_QUEUE_TIME, -1, "queue_time_p50", "median time in the gateway's queue" },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct numbers x = values(&g->series[row[i].table], 1e-3, row[i].above);

		if (g->there & 1u << row[i].table)
			ct_figures_add(f, row[i].name, quantile(&x, .5), "s", row[i].what);
		free(x.v);
	}
	if (g->there & 1u << CT_GENAI_UPDATE) {
		struct numbers x = values(&g->series[CT_GENAI_UPDATE], 1, 0);

		ct_figures_add(f, "update_zeros", (double)(g->series[CT_GENAI_UPDATE].n - x.n), "rows",
			       "pipeline updates that took no time");
		free(x.v);
	}
}

/* ---- requests */

static size_t distinct(const struct ct_genai *g, const uint32_t *first, size_t stride, size_t n)
{
	unsigned char *seen = ct_calloc(g->names.n + 1, 1);
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t k = *(const uint32_t *)(const void *)((const char *)first + i * stride);

		count += k && !seen[k];
		seen[k] = 1;
	}
	free(seen);
	return count;
}

static void add_requests(const struct ct_genai *g, struct ct_figures *f)
{
	const struct ct_genai_request *q = g->request[0];
	size_t n = g->n_requests[0], good = 0;
	double all = 0, work = 0;

	for (size_t i = 0; i < n; i++) {
		all += q[i].number[CT_GENAI_EXEC_S];
		work += q[i].status == CT_GENAI_SUCCEED ? q[i].number[CT_GENAI_EXEC_S] : 0;
		good += q[i].status == CT_GENAI_SUCCEED;
	}
	ct_figures_add(f, "requests_succeed", (double)good, "requests", "requests of status SUCCEED");
	ct_figures_add(f, "work_succeed", work, "s", "sum of their execution times");
	ct_figures_add(f, "work_all", all, "s", "sum of the execution times of all requests");
	ct_figures_add(f, "folded_demand", work / 86400, "GPUs", "work of SUCCEED laid over one day");
	ct_figures_add(f, "users", n ? (double)distinct(g, &q->user, sizeof *q, n) : 0, "",
		       "different groupId of all requests");
	ct_figures_add(f, "models", n ? (double)distinct(g, &q->model, sizeof *q, n) : 0, "",
		       "different checkpoint_model_version_id of all requests");
	ct_figures_add(f, "duplicate_requests", (double)ct_genai_duplicates(g), "rows",
		       "equal to an earlier row in every column");
}

/* Row i of the request trace is row i + (difference in length) of the other table:
 * where it holds for every row, that table adds which adapters a request had. */
static void add_join(const struct ct_genai *g, struct ct_figures *f)
{
	size_t n = g->n_requests[0], m = g->n_requests[1], same = 0, uses = 0;
	const struct ct_genai_request *q;

	if (m < n)
		return;
	q = g->request[1] + (m - n);
	for (size_t i = 0; i < n; i++) {
		const double *a = g->request[0][i].number, *b = q[i].number;
		size_t c = 0;

		while (c < CT_GENAI_NUMBERS && (a[c] == b[c] || (isnan(a[c]) && isnan(b[c]))))
			c++;
		same += c == CT_GENAI_NUMBERS && g->request[0][i].loras == q[i].loras;
		uses += q[i].loras;
	}
	ct_figures_add(f, "joined_rows", (double)same, "rows",
		       "requests equal to the row as far from the end of data_trace_processed");
	ct_figures_add(f, "adapter_uses", (double)uses, "", "LoRA adapters named by the joined requests");
	if (n && same == n && uses)
		ct_figures_add(f, "adapters", (double)distinct(g, g->lora + q[0].first_lora, sizeof *g->lora, uses), "",
			       "different LoRA adapters among them");
}

void ct_genai_figures(const struct ct_genai *g, struct ct_figures *out)
{
	if (g->series[CT_GENAI_DUTY].n)
		add_duty(g, out);
	if (g->series[CT_GENAI_QPS].n)
		add_qps(g, out);
	if (g->series[CT_GENAI_GPU_MEMORY].n)
		add_memory(g, out);
	if (g->series[CT_GENAI_MEMORY].n)
		add_host_memory(g, out);
	add_latencies(g, out);
	if (g->n_requests[0])
		add_requests(g, out);
	if (g->n_requests[0] && g->n_requests[1])
		add_join(g, out);
	add_rows(g, out);
}
