/* SPDX-License-Identifier: GPL-3.0-or-later */
/* genai.h - reads Alibaba's GenAI serving trace (GenTD26, cluster-trace-v2026-GenAI):
 * the fourteen archives as published, the CSV files in them, or a directory of
 * either. Internal to traces/; users call ct_trace_read() with format "genai".
 *
 * Tables are known by the name of their file, or else by a column only they have;
 * columns stand in any order. Facts about the files, with their proofs, stand in the
 * dataset's README and in what the tests hold; the ones that matter here:
 *
 *  - The metric tables cover one day of 1441 samples. Their clock is compressed by
 *    0.95: sample k stands at 1662858720 + 57 k, and is minute k of the day.
 *  - In the tables of events, no row means that nothing happened; in the tables of
 *    duty cycle and memory it means that the pod was not there.
 *  - A row of qps.csv is no rate to integrate: value / 0.09 is the number of requests
 *    of that pod in that minute. Rows of API requests have no pod and count the same
 *    traffic again.
 *  - The request trace has its own clock of 23 days and cannot be joined to the pods.
 *
 * Rows that break a rule are refused, all together, or with CT_BAD_ROW_DROP left out
 * and counted:
 *	dropped_field_count     more or fewer fields than the header
 *	dropped_missing_value   a required value is empty
 *	dropped_not_a_number    or no time, where one is wanted
 *	dropped_off_grid        a time that is not 1662858720 + 57 k, k = 0 to 1440
 *	dropped_out_of_range    a negative or impossible value
 *	dropped_unknown_status  predict_status is none of the four that exist
 *	dropped_unknown_type    request_type is none of the two that exist
 * Dropped and counted in either mode, as the mapping asks for it:
 *	filtered_status         request whose status is not wanted (trace.options.status)
 *	filtered_no_work        wanted, but with an execution time of zero
 *	filtered_api_requests   rows of API requests
 *	filtered_no_request     qps: less than half a request
 * Noticed: other_members (files that are no table of the trace), empty_pod, null_word,
 * negative_memory, duplicate_request, drawn_service_time. */
#ifndef CT_TRACES_GENAI_H
#define CT_TRACES_GENAI_H

#include "sim/strings.h"
#include "traces/figures.h"
#include "traces/reader_options.h"
#include "traces/source.h"
#include "traces/trace.h"

#include <stddef.h>
#include <stdint.h>

enum ct_genai_table {
	CT_GENAI_QPS,
	CT_GENAI_QUEUE_SIZE,
	CT_GENAI_QUEUE_TIME,
	CT_GENAI_UPDATE,
	CT_GENAI_BASE,
	CT_GENAI_LORA,
	CT_GENAI_CONTROLNET,
	CT_GENAI_PREDICT,
	CT_GENAI_INFERENCE,
	CT_GENAI_DUTY,
	CT_GENAI_GPU_MEMORY,
	CT_GENAI_MEMORY,
	CT_GENAI_SERIES, /* the tables above are series of (time, pod, value) */
	CT_GENAI_REQUESTS = CT_GENAI_SERIES,
	CT_GENAI_PROCESSED, /* the same requests and 41,372 more, without time or user */
	CT_GENAI_TABLES
};
#define CT_GENAI_ALL ((1u << CT_GENAI_TABLES) - 1)

/* Of the published files (see the top). */
enum {
	CT_GENAI_EPOCH = 1662858720,
	CT_GENAI_STEP_S = 57,   /* of the compressed clock */
	CT_GENAI_MINUTE_S = 60, /* what a step is in truth */
	CT_GENAI_LAST = 1440,
};
#define CT_GENAI_QUANTUM 0.09 /* value of one request in qps.csv */

enum ct_genai_rule {
	CT_GENAI_FIELD_COUNT,
	CT_GENAI_MISSING_VALUE,
	CT_GENAI_NOT_A_NUMBER,
	CT_GENAI_OFF_GRID,
	CT_GENAI_OUT_OF_RANGE,
	CT_GENAI_UNKNOWN_STATUS,
	CT_GENAI_UNKNOWN_TYPE,
	CT_GENAI_DROPS, /* the rules above drop the row */
	CT_GENAI_EMPTY_POD = CT_GENAI_DROPS,
	CT_GENAI_NULL_WORD,
	CT_GENAI_NEGATIVE_MEMORY,
	CT_GENAI_RULES
};
struct ct_genai_rule_text {
	const char *name, *meaning;
};
extern const struct ct_genai_rule_text ct_genai_rules[CT_GENAI_RULES];

struct ct_genai_sample {
	double value;
	uint32_t pod; /* number in `names`, 0 = none */
	uint16_t k;
	uint8_t api; /* qps: the row is one of API requests */
};
struct ct_genai_series {
	struct ct_genai_sample *v; /* in the order of the file */
	size_t n, cap;
};

/* What both request tables have; NaN = empty. */
enum ct_genai_number {
	CT_GENAI_EXEC_S,
	CT_GENAI_PROMPT,
	CT_GENAI_NEGATIVE_PROMPT,
	CT_GENAI_IMAGES,
	CT_GENAI_STEPS,
	CT_GENAI_NUMBERS
};
enum ct_genai_status { CT_GENAI_SUCCEED, CT_GENAI_FAILED, CT_GENAI_PENDING, CT_GENAI_PROCESSING, CT_GENAI_STATUSES };
extern const char *const ct_genai_status_name[CT_GENAI_STATUSES];

struct ct_genai_request {
	ct_time at; /* since the midnight before the table's first request */
	ct_time exec;
	double number[CT_GENAI_NUMBERS];
	uint32_t user, model, kind, line; /* in `names`; processed: user = 0 */
	uint32_t loras, first_lora;       /* how many; place of their numbers in `lora`, processed only */
	uint8_t status;                   /* enum ct_genai_status; processed: 0 */
};

struct ct_genai {
	struct ct_strings names;
	struct ct_genai_series series[CT_GENAI_SERIES];
	struct ct_genai_request *request[2]; /* REQUESTS, PROCESSED, in the order of the file */
	size_t n_requests[2], cap_requests[2];
	uint32_t *lora;
	size_t n_loras, cap_loras;
	int64_t midnight_s; /* of the request trace, civil seconds since 1970 */
	uint32_t there;     /* tables that were read, bit 1 << table */
	uint64_t rows[CT_GENAI_TABLES];
	uint64_t rule[CT_GENAI_TABLES][CT_GENAI_RULES];
	uint64_t other_members;
};

/* Options of the reader. */
enum ct_genai_mapping { CT_GENAI_AUTO, CT_GENAI_A1, CT_GENAI_A2, CT_GENAI_B };
struct ct_genai_options {
	int mapping, window_from, submit;
	double gap_s, window_s, fold_days, demand_gpus, batch, batch_minutes, minute_s, seed;
	const char *status, *classes;
};
extern const struct ct_trace_opt ct_genai_opts[];

/* What a member of an archive or a directory is; CT_GENAI_TABLES = none. */
enum ct_genai_table ct_genai_table_of(const struct ct_member *m);
const char *ct_genai_table_name(enum ct_genai_table t);
/* Reads the tables of `want` that are there. CT_ETRACE with all errors of all files. */
int ct_genai_load(const struct ct_source *s, uint32_t want, const struct ct_trace_options *o, struct ct_genai **out,
		  struct ct_err *err);
void ct_genai_free(struct ct_genai *g);

/* One table from an open CSV, which stays open. */
int ct_genai_read_series(struct ct_genai *g, enum ct_genai_table t, struct ct_csv *in, const struct ct_trace_options *o,
			 struct ct_err *err);
int ct_genai_read_requests(struct ct_genai *g, enum ct_genai_table t, struct ct_csv *in,
			   const struct ct_trace_options *o, struct ct_err *err);

/* Mappings: add jobs to `w` and count what they left out. */
int ct_genai_jobs(const struct ct_genai *g, const struct ct_genai_options *opts, struct ct_workload *w,
		  struct ct_err *err); /* A1, A2 */
int ct_genai_stream(const struct ct_genai *g, const struct ct_genai_options *opts, struct ct_workload *w,
		    struct ct_err *err); /* B */

/* Wanted execution times are multiplied by this, so that they ask for
 * `demand_gpus` on average over `span`; 1 when the option is not set. CT_ECONFIG. */
int ct_genai_work_factor(const struct ct_genai_options *opts, double work_s, double span_s, double *factor,
			 struct ct_err *err);
ct_time ct_genai_folded(const struct ct_genai_options *opts, ct_time t);
/* Rows equal to an earlier one in every column. */
uint64_t ct_genai_duplicates(const struct ct_genai *g);
/* A copy of the samples by pod, then time; free() it. */
struct ct_genai_sample *ct_genai_by_pod(const struct ct_genai_series *s);

void ct_genai_figures(const struct ct_genai *g, struct ct_figures *out);
/* Of a workload with the columns of the generator (genai_workload.c): its first day. 0: it
 * has none. */
int ct_genai_workload_figures(struct ct_workload *w, struct ct_figures *out);

/* Format's functions (struct ct_trace_format). */
int ct_genai_recognise(const struct ct_source *s);
int ct_genai_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		  struct ct_err *err);

/* Runs of a pod's samples that are all zero, or all not, cut where samples are
 * missing: their lengths in minutes, sorted. `v` must stand by pod and time. */
size_t ct_genai_runs(const struct ct_genai_sample *v, size_t n, int idle, double *length);

#endif
