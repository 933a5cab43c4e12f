/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The format's entry: which member is which table, what a mapping needs, and the
 * report. The tables are kept in memory (16 bytes a sample): the figures want
 * quantiles, and a whole day of all of them is 12 MB. */
#include "traces/genai.h"

#include "sim/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPT(field) offsetof(struct ct_genai_options, field)
const struct ct_trace_opt ct_genai_opts[] = {
	{ "mapping", CT_TRACE_OPT_WORD, OPT(mapping), "auto", 0, 0, "auto|a1|a2|qps", "",
	  "what is a job: a1 = a user's requests to one model without a long gap, a2 = a model's requests in a window, "
	  "qps = requests of the QPS series; auto = a1 where the request trace is there, otherwise qps" },
	{ "gap", CT_TRACE_OPT_NUMBER, OPT(gap_s), "600", 0, 1e9, NULL, "s",
	  "a1: longest time from request to request within a job" },
	{ "window", CT_TRACE_OPT_NUMBER, OPT(window_s), "3600", 1, 1e9, NULL, "s", "a2: length of a window" },
	{ "window_from", CT_TRACE_OPT_WORD, OPT(window_from), "midnight", 0, 0, "midnight|first", "",
	  "a2: windows count from the midnight before the first request, or from it" },
	{ "submit", CT_TRACE_OPT_WORD, OPT(submit), "last", 0, 0, "last|first", "",
	  "a job of several requests is submitted with its last (the batch is closed) or its first" },
	{ "fold", CT_TRACE_OPT_NUMBER, OPT(fold_days), "0", 0, 1e5, NULL, "days",
	  "lay the trace over itself in this many days, which keeps the hour of day; 0 = as it is" },
	{ "demand", CT_TRACE_OPT_NUMBER, OPT(demand_gpus), "0", 0, 1e6, NULL, "GPUs",
	  "multiply all work so that it asks for this many GPUs on average; 0 = as it is" },
	{ "status", CT_TRACE_OPT_TEXT, OPT(status), "SUCCEED", 0, 0, NULL, "",
	  "a1, a2: statuses of the requests that count, separated by commas, or 'any'" },
	{ "classes", CT_TRACE_OPT_TEXT, OPT(classes), "", 0, 0, NULL, "",
	  "a1, a2: workload names, separated by commas, given to the models in turn by how often they are asked for; "
	  "empty = the trace's own model names" },
	{ "batch", CT_TRACE_OPT_NUMBER, OPT(batch), "1", 1, 1e6, NULL, "requests", "qps: requests of a job" },
	{ "batch_minutes", CT_TRACE_OPT_NUMBER, OPT(batch_minutes), "0", 0, 1440, NULL, "min",
	  "qps: a job is all requests of so many minutes; 0 = by number" },
	{ "seed", CT_TRACE_OPT_NUMBER, OPT(seed), "1", 0, 9e15, NULL, "",
	  "qps: of the places of requests within their minute, and of service times that the trace does not have" },
	{ .name = NULL },
};

static const struct {
	const char *file; /* without ".csv", ".gz", ".tar.gz" */
} tables[CT_GENAI_TABLES] = {
	[CT_GENAI_QPS] = { "qps" },
	[CT_GENAI_QUEUE_SIZE] = { "queue_size_raw_anon" },
	[CT_GENAI_QUEUE_TIME] = { "queue_rt_raw_anon" },
	[CT_GENAI_UPDATE] = { "pipeline_update_latency_anon" },
	[CT_GENAI_BASE] = { "basemodel_update_latency_anon" },
	[CT_GENAI_LORA] = { "lora_update_latency_anon" },
	[CT_GENAI_CONTROLNET] = { "controlnet_latency_data_anon" },
	[CT_GENAI_PREDICT] = { "model_predict_data_anon" },
	[CT_GENAI_INFERENCE] = { "pipeline_inference_data_anon" },
	[CT_GENAI_DUTY] = { "pod_gpu_duty_cycle_anon" },
	[CT_GENAI_GPU_MEMORY] = { "pod_gpu_memory_used_bytes_anon" },
	[CT_GENAI_MEMORY] = { "pod_memory_util_anon" },
	[CT_GENAI_REQUESTS] = { "lora_request_trace" },
	[CT_GENAI_PROCESSED] = { "data_trace_processed" },
};

const char *ct_genai_table_name(enum ct_genai_table t)
{
	return t < CT_GENAI_TABLES ? tables[t].file : "unknown";
}

/* Does the first line name this column, in full? */
static int has_column(const struct ct_member *m, const char *name)
{
	size_t k = strlen(name), n;

	if (!m->head_n)
		return 0;
	for (const char *p = m->head + (strncmp(m->head, "\xef\xbb\xbf", 3) ? 0 : 3);; p += n + 1) {
		p += strspn(p, " \"");
		n = strcspn(p, ",\r\n");
		if (n >= k && !strncmp(p, name, k) && strspn(p + k, " \"") == n - k)
			return 1;
		if (p[n] != ',')
			return 0;
	}
}

enum ct_genai_table ct_genai_table_of(const struct ct_member *m)
{
	for (size_t t = 0; t < CT_GENAI_TABLES; t++) {
		size_t n = strlen(tables[t].file);

		if (!strncasecmp(m->name, tables[t].file, n) && (!m->name[n] || m->name[n] == '.'))
			return (enum ct_genai_table)t;
	}
	if (has_column(m, "gmt_create") && has_column(m, "checkpoint_model_version_id"))
		return CT_GENAI_REQUESTS;
	if (has_column(m, "lora_args") && has_column(m, "checkpoint_model_version_id"))
		return CT_GENAI_PROCESSED;
	if (has_column(m, "timestamp_anon") && has_column(m, "request_type"))
		return CT_GENAI_QPS;
	return CT_GENAI_TABLES;
}

static uint32_t tables_in(const struct ct_source *s)
{
	uint32_t there = 0;

	for (size_t i = 0; i < ct_source_members(s); i++) {
		enum ct_genai_table t = ct_genai_table_of(ct_source_member(s, i));

		there |= t < CT_GENAI_TABLES ? 1u << t : 0;
	}
	return there;
}

/* ---- loading */

void ct_genai_free(struct ct_genai *g)
{
	if (!g)
		return;
	for (size_t t = 0; t < CT_GENAI_SERIES; t++)
		free(g->series[t].v);
	free(g->request[0]);
	free(g->request[1]);
	free(g->lora);
	ct_strings_fini(&g->names);
	free(g);
}

static int load_member(struct ct_genai *g, const struct ct_source *s, size_t i, enum ct_genai_table t,
		       const struct ct_trace_options *o, struct ct_err *err)
{
	struct ct_loc at = { .file = ct_source_member(s, i)->path };
	struct ct_csv *in;
	int rc;

	if (g->there & 1u << t)
		return ct_err_add(err, CT_ETRACE, &at, "table '%s' is there a second time", tables[t].file);
	g->there |= 1u << t;
	CT_TRY(ct_source_csv(s, i, ',', &in, err));
	rc = t < CT_GENAI_SERIES ? ct_genai_read_series(g, t, in, o, err) : ct_genai_read_requests(g, t, in, o, err);
	ct_csv_close(in);
	return rc;
}

int ct_genai_load(const struct ct_source *s, uint32_t want, const struct ct_trace_options *o, struct ct_genai **out,
		  struct ct_err *err)
{
	struct ct_genai *g = ct_calloc(1, sizeof *g);

	ct_strings_init(&g->names);
	for (size_t i = 0; i < ct_source_members(s); i++) {
		enum ct_genai_table t = ct_genai_table_of(ct_source_member(s, i));

		if (t == CT_GENAI_TABLES)
			g->other_members++;
		else if (want & 1u << t)
			load_member(g, s, i, t, o, err);
		if (err->code && err->code != CT_ETRACE)
			break;
	}
	if (err->code)
		ct_genai_free(g);
	else
		*out = g;
	return (int)err->code;
}

/* ---- what the mappings share */

ct_time ct_genai_folded(const struct ct_genai_options *opts, ct_time t)
{
	ct_time span = (ct_time)llround(opts->fold_days * 86400e6);

	return span > 0 ? t % span : t;
}

int ct_genai_work_factor(const struct ct_genai_options *opts, double work_s, double span_s, double *factor,
			 struct ct_err *err)
{
	*factor = 1;
	if (!(opts->demand_gpus > 0))
		return 0;
	if (opts->fold_days > 0)
		span_s = opts->fold_days * 86400;
	if (!(work_s > 0) || !(span_s > 0))
		return ct_err_add(err, CT_ECONFIG, NULL,
				  "'trace.options.demand' wants requests at different times, or 'trace.options.fold'");
	*factor = opts->demand_gpus * span_s / work_s;
	return 0;
}

static int by_pod(const void *a, const void *b)
{
	const struct ct_genai_sample *x = a, *y = b;

	if (x->pod != y->pod)
		return x->pod < y->pod ? -1 : 1;
	return x->k - y->k;
}

struct ct_genai_sample *ct_genai_by_pod(const struct ct_genai_series *s)
{
	struct ct_genai_sample *v = ct_calloc(s->n + 1, sizeof *v);

	if (s->n)
		memcpy(v, s->v, s->n * sizeof *v);
	qsort(v, s->n, sizeof *v, by_pod);
	return v;
}

/* ---- the format */

int ct_genai_recognise(const struct ct_source *s)
{
	return tables_in(s) != 0;
}

/* Which mapping, and the tables it needs. */
static int choose(struct ct_genai_options *opts, uint32_t there, uint32_t *want, const char *path, struct ct_err *err)
{
	const uint32_t requests = 1u << CT_GENAI_REQUESTS, qps = 1u << CT_GENAI_QPS,
		       inference = 1u << CT_GENAI_INFERENCE;
	struct ct_loc at = { .file = path };

	if (opts->mapping == CT_GENAI_AUTO && there & requests)
		opts->mapping = CT_GENAI_A1;
	else if (opts->mapping == CT_GENAI_AUTO && (there & (qps | inference)) == (qps | inference))
		opts->mapping = CT_GENAI_B;
	*want = opts->mapping == CT_GENAI_AUTO ? 0 : opts->mapping == CT_GENAI_B ? qps | inference : requests;
	for (size_t t = 0; t < CT_GENAI_TABLES; t++)
		if (*want & ~there & 1u << t)
			ct_err_add(err, CT_ETRACE, &at, "no table '%s', which this mapping wants", tables[t].file);
	return (int)err->code;
}

static void count_rules(const struct ct_genai *g, uint32_t mapped, struct ct_workload *w)
{
	uint64_t dropped = 0;

	for (size_t t = 0; t < CT_GENAI_TABLES; t++) {
		if (!(mapped & 1u << t))
			continue;
		w->report.rows_read += g->rows[t];
		for (size_t i = 0; i < CT_GENAI_RULES; i++)
			ct_workload_count(w, ct_genai_rules[i].name, ct_genai_rules[i].meaning, g->rule[t][i],
					  i < CT_GENAI_DROPS);
	}
	ct_workload_count(w, "other_members", "files that are no table of the trace, or are not needed",
			  g->other_members, 0);
	for (unsigned i = 0; i < w->report.n_rules; i++)
		dropped += w->report.rules[i].dropped ? w->report.rules[i].rows : 0;
	w->report.rows_kept = w->report.rows_read - dropped;
}

int ct_genai_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		  struct ct_err *err)
{
	struct ct_loc at = { .file = ct_source_path(s) };
	struct ct_genai_options opts;
	uint32_t there = tables_in(s), want;
	struct ct_genai *g = NULL;
	int rc;

	(void)member; /* all of them */
	CT_TRY(ct_trace_opts_read(ct_genai_opts, "genai", o, &opts, err));
	if (!there)
		return ct_err_at(err, CT_ETRACE, &at, "none of its files is a table of the GenAI trace");
	CT_TRY(choose(&opts, there, &want, ct_source_path(s), err));
	if (!want && !o->figures)
		return ct_err_at(
		    err, CT_ETRACE, &at,
		    "makes no jobs: wanted 'lora_request_trace', or 'qps' with 'pipeline_inference_data_anon'");
	CT_TRY(ct_genai_load(s, o->figures ? there : want, o, &g, err));
	rc = opts.mapping == CT_GENAI_AUTO ? 0
	     : opts.mapping == CT_GENAI_B  ? ct_genai_stream(g, &opts, w, err)
					   : ct_genai_jobs(g, &opts, w, err);
	if (!rc)
		count_rules(g, want ? want : there, w);
	if (!rc && o->figures)
		ct_genai_figures(g, o->figures);
	ct_genai_free(g);
	return rc;
}
