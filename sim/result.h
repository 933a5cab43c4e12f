/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.h - what a run leaves: manifest, summary, jobs, series, events, perf.
 *
 * One in-memory form, made from a finished world or read from a result file, from
 * which every output is written: HDF5 (one file a run), CSV, JSON, tables.
 *
 *	struct ct_result r = { 0 };
 *	ct_result_from_world(&r, world);             // world and workload may go now
 *	ct_result_add(&r, CT_RESULT_MANIFEST, "policy", "easy", 0);
 *	ct_result_seal(&r, config_text, input_digests);
 *	CT_TRY(ct_result_write_h5(&r, "easy.h5", &err));
 *	ct_result_fini(&r);
 *
 * The result digest is SHA-256 over summary, jobs, series, events, the effective
 * configuration and the input digests; never over perf, manifest (build facts,
 * dates), warnings, paths, or decisions, reasons and stretches, which explain a
 * result and are no part of it. It does not depend on how a column is held in memory.
 *
 * HDF5 layout (readable with h5py alone). The first 512 bytes are a user block of
 * text with the length and the hash of the rest, so that truncation and damage are
 * seen before anything is believed:
 *	/            attributes: format = "cotenant-result", version, digest, config_digest,
 *	             input_digest, partial, and complete = 1, written last
 *	/manifest    attributes, one a key; data sets /manifest/config (the effective
 *	             configuration as YAML text) and /manifest/warnings (when there are any);
 *	             group /manifest/import, attributes
 *	/summary     one scalar data set a metric (float64), attributes unit, definition
 *	/jobs        one 1-D data set a column, in order, length = jobs that were submitted;
 *	             attributes unit and kind (real, integer, time, code, text). A column with
 *	             one value for all rows is stored as its fill value. A name with '/' has
 *	             '_' there, and the true name in the attribute name.
 *	/series      likewise, one row a bin; /events likewise, when recorded
 *	/decisions   likewise, when kept: time job why other a b, what a policy noted; job and
 *	             other are rows of /jobs, why one of /reasons, -1 = none
 *	/reasons     likewise: name text waits, the words of `why`; %j = the other job,
 *	             %a, %b = the numbers; waits = 1: the job stays in the queue
 *	/stretches   likewise: time job kind gpus configuration partner_configuration others
 *	             partner slowdown predicted, what changed between a
 *	             job's first start and its end (sim/world.h, enum ct_stretch_kind)
 *	/perf        attributes, wall-clock figures; left out when there are none
 * Times are float64 seconds, exact to the microsecond below 2^52 us = 142 years, NaN = absent.
 * Texts are UTF-8, of fixed length and NUL-padded (bytes in h5py). In /stretches, and
 * where one long row among many would blow the column up, it holds integers: where each
 * row's NUL-terminated text begins in the data set that its attribute heap names.
 *
 * Columns of /jobs and jobs.csv: the Batsim/evalys names first,
 *	job_id workload_name submission_time requested_number_of_resources requested_time
 *	success starting_time execution_time finish_time waiting_time turnaround_time stretch
 *	allocated_resources
 * with evalys' meanings: execution_time = finish - first start, waiting_time = first
 * start - submission, stretch = turnaround / execution; success = 1 for finished
 * jobs, else 0; absent where a job never started or ended, or was rejected. Then ours:
 *	state reason measured attained queue_s profile_s start_s run_s pause_s switch_s
 *	gpu_s work_s lost_s slowdown starts preemptions migrations switches num_gpus
 *	min_gpus max_gpus gpu_milli gpu_mem_mib cpu_milli mem_mib priority duration_s deadline_s
 *	partition gpu_type user group model trace_state class
 *	window_frac short_slowdown_s short_mistaken_s short_config_s short_fewer_s
 * where queue_s is the time in the queue over all visits (the "wait" of the
 * summary), measured = 1 for finished jobs of the measurement window, attained = 1
 * for finished jobs with solo duration / (finish - first start) >= the floor, and
 * class = train or infer as the job's family says, without one as the trace's own
 * column "kind" does, else unknown. window_frac: of the 60-s windows of a finished
 * job, those met; short_*: what it fell short of its default rate by cause, in solo
 * seconds (sim/world.h, struct ct_attained). Then the trace's unknown columns by their own
 * names, "trace_" before a name in use. */
#ifndef CT_SIM_RESULT_H
#define CT_SIM_RESULT_H

#include "sim/digest.h"
#include "sim/err.h"
#include "sim/memory.h"
#include "sim/metrics.h"
#include "sim/world.h"

enum ct_column_type {
	CT_COLUMN_F64,
	CT_COLUMN_I64,
	CT_COLUMN_TIME, /* microseconds, written as seconds */
	CT_COLUMN_CODE, /* text with few distinct values: numbers into a dictionary */
	CT_COLUMN_TEXT, /* text, mostly distinct */
	CT_COLUMN_TYPES
};

#define CT_NO_TIME INT64_MIN /* absent time: an empty CSV field, NaN in HDF5 */

/* Read cells with the functions below: a column whose rows all hold one value
 * keeps that value once. A million jobs have some fifty columns, of which half
 * are of that kind. */
struct ct_column {
	const char *name, *unit; /* unit "" = none */
	enum ct_column_type type;
	int constant; /* v holds one element */
	int narrow;   /* its numbers fit, and in a file take, 4 bytes; its texts stand there in a heap */
	union {
		const double *f64;
		const int64_t *i64;   /* I64 and TIME */
		const uint32_t *code; /* in names, numbered by first appearance */
		const size_t *at;     /* TEXT: of the row's NUL-terminated text in heap */
	} v;
	const char *const *names; /* CODE */
	uint32_t n_names;
	const char *heap; /* TEXT: the rows one after the other */
	size_t heap_bytes;
};

static inline double ct_cell_f64(const struct ct_column *c, size_t row)
{
	return c->v.f64[c->constant ? 0 : row];
}
/* Also of TIME, in microseconds. */
static inline int64_t ct_cell_i64(const struct ct_column *c, size_t row)
{
	return c->v.i64[c->constant ? 0 : row];
}
static inline const char *ct_cell_text(const struct ct_column *c, size_t row)
{
	row = c->constant ? 0 : row;
	return c->type == CT_COLUMN_CODE ? c->names[c->v.code[row]] : c->heap + c->v.at[row];
}

struct ct_frame { /* columns of equal length; n_columns = 0: not there */
	struct ct_column *column;
	size_t n_columns, cap_columns, n_rows;
};

struct ct_pair { /* of the manifest and of perf */
	const char *key, *value;
	int is_number; /* written bare in JSON */
};

struct ct_result {
	struct ct_arena arena; /* owns all that is below */
	struct ct_pair *manifest;
	size_t n_manifest, cap_manifest;
	const char *config_yaml; /* effective configuration, every key, paths included; NULL = "" */
	struct ct_pair *import;  /* import report of the trace: rows, rules */
	size_t n_import, cap_import;
	const char **warnings;
	size_t n_warnings, cap_warnings;
	double summary[CT_METRIC_COUNT];
	struct ct_frame jobs, series, events;          /* events only when recorded */
	struct ct_frame decisions, reasons, stretches; /* only when kept */
	struct ct_pair *perf;
	size_t n_perf, cap_perf;
	char jobs_digest[CT_DIGEST_TEXT];   /* when jobs has rows but no columns: ct_result_summarise() */
	int partial;                        /* stopped before its end: Ctrl-C */
	char digest[CT_DIGEST_TEXT];        /* set by ct_result_seal() */
	char config_digest[CT_DIGEST_TEXT]; /* of the text given to it */
	char input_digest[CT_DIGEST_TEXT];  /* likewise */
};

/* Fills summary, jobs, series, events and partial from a finished world; copies all
 * it needs, so that world and workload may be freed. The manifest, configuration,
 * import, warnings and perf are the caller's, before or after. */
void ct_result_from_world(struct ct_result *r, const struct ct_world *w);
/* The same without the columns of /jobs, for a run that writes no file: the digest is
 * the same, the memory (100 bytes a job and more) is not touched. Such a result
 * can be sealed, printed and written as JSON only. */
void ct_result_summarise(struct ct_result *r, const struct ct_world *w);
void ct_result_fini(struct ct_result *r);

/* Text that lives as long as the result; printf style. */
__attribute__((format(printf, 2, 3))) const char *ct_result_text(struct ct_result *r, const char *fmt, ...);

/* Manifest keys that `compare` and the figures look for (others are free):
 *	policy, seed, revision, trace_digest, cluster (a short text that names the
 *	cluster's size, "8x8"), cluster_digest; node_gpus, the GPUs of each node, "8x8 4x4",
 *	where decisions are kept */
/* The words of /decisions: n reasons, as the policy numbers them. */
void ct_result_add_reasons(struct ct_result *r, const char *const *name, const char *const *text, const int *waits,
			   size_t n);

enum ct_result_part { CT_RESULT_MANIFEST, CT_RESULT_IMPORT, CT_RESULT_PERF };
/* Copies both; a key that is there gets the new value. */
void ct_result_add(struct ct_result *r, enum ct_result_part part, const char *key, const char *value, int is_number);
/* The value of a key, NULL if absent. */
const char *ct_result_get(const struct ct_result *r, enum ct_result_part part, const char *key);
void ct_result_warn(struct ct_result *r, const char *text);

/* Computes r->digest from summary, jobs, series, events, `config_digest_text` (the
 * effective configuration without paths) and `input_digests` (text, fixed order). */
void ct_result_seal(struct ct_result *r, const char *config_digest_text, const char *input_digests);
/* The digest of what r holds now, config_digest and input_digest included. */
void ct_result_digest(const struct ct_result *r, char out[CT_DIGEST_TEXT]);

/* All writers go through a temporary name and rename; nothing half-written is
 * ever seen. CT_EIO with the system's reason. */
int ct_result_write_h5(const struct ct_result *r, const char *path, struct ct_err *err);
/* jobs.csv, summary.csv, series.csv (and events.csv) in a directory, made if absent. */
int ct_result_write_csv(const struct ct_result *r, const char *directory, struct ct_err *err);
/* {"manifest":{},"perf":{},"summary":{}}; keys sorted, one line a key; non-finite =
 * null. The manifest also holds the result's digest, configuration, import report,
 * warnings and whether it is partial. */
int ct_result_write_json(const struct ct_result *r, FILE *to, struct ct_err *err);
/* CT_EIO: not a result, truncated, another version, damaged or changed since it was
 * written. *r is zeroed first and empty after an error. */
int ct_result_read_h5(const char *path, struct ct_result *r, struct ct_err *err);

/* A frame by itself, as group `name` of a file that says format = `format` and
 * complete = 1, column by column as in a result file. CT_EIO. */
int ct_frame_write_h5(const struct ct_frame *f, const char *format, const char *name, const char *path,
		      struct ct_err *err);

/* ---- frames, column by column. All values are copied into the arena; `n_rows` is
 * set before the first column. The column returned is valid until the next one. */
struct ct_column *ct_frame_add_f64(struct ct_frame *f, struct ct_arena *a, const char *name, const char *unit,
				   const double *v);
/* I64 or TIME. */
struct ct_column *ct_frame_add_i64(struct ct_frame *f, struct ct_arena *a, const char *name, const char *unit,
				   enum ct_column_type type, const int64_t *v);
/* CODE or TEXT. */
struct ct_column *ct_frame_add_text(struct ct_frame *f, struct ct_arena *a, const char *name, enum ct_column_type type,
				    const char *const *v);

/* Column by name, NULL if absent. */
const struct ct_column *ct_frame_column(const struct ct_frame *f, const char *name);

#endif
