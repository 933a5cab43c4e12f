/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.h - what a run leaves: manifest, summary, jobs, series, events, perf.
 *
 * One in-memory form, made from a finished world or read from a result file, from
 * which every output is written: HDF5 (one file a run), CSV, JSON, tables. The
 * result digest is SHA-256 over summary, jobs, series, events, the effective
 * configuration and the input digests; never over perf, build facts, paths, dates.
 *
 * HDF5 layout (readable with h5py alone):
 *	/            attributes: format = "cotenant-result", version, digest, complete = 1
 *	             (written last: a file without it is truncated)
 *	/manifest    attributes, one a key; /manifest/config: the effective configuration as YAML text;
 *	             /manifest/warnings, /manifest/import
 *	/summary     one scalar data set a metric (float64), attributes unit, definition
 *	/jobs        one 1-D data set a column, length = jobs submitted or not; attribute unit
 *	/series      likewise, one row a bin; /events likewise, when recorded
 *	/perf        wall-clock figures; left out with --no-perf
 * Times are float64 seconds, exact to the microsecond below 285 years.
 *
 * Columns of /jobs and jobs.csv: the Batsim/evalys names first,
 *	job_id workload_name submission_time requested_number_of_resources requested_time
 *	success starting_time execution_time finish_time waiting_time turnaround_time stretch
 *	allocated_resources
 * then ours: state reason queue_s profile_s start_s run_s pause_s switch_s gpu_s work_s lost_s slowdown
 * attained starts preemptions migrations switches num_gpus gpu_milli partition gpu_type user group model
 * duration_s ..., then the trace's unknown columns by their own names. */
#ifndef CT_SIM_RESULT_H
#define CT_SIM_RESULT_H

#include "sim/digest.h"
#include "sim/err.h"
#include "sim/memory.h"
#include "sim/metrics.h"
#include "sim/world.h"

enum ct_column_type { CT_COLUMN_F64, CT_COLUMN_I64, CT_COLUMN_TIME, CT_COLUMN_TEXT };

/* TIME holds microseconds, written as seconds; absent times are CT_NO_TIME. */
#define CT_NO_TIME INT64_MIN
struct ct_column {
	const char *name, *unit;
	enum ct_column_type type;
	union {
		const double *f64;
		const int64_t *i64; /* I64 and TIME */
		const char *const *text;
	} v;
};

struct ct_frame { /* columns of equal length */
	struct ct_column *column;
	size_t n_columns, n_rows;
};

struct ct_pair { /* of the manifest and of perf */
	const char *key, *value;
	int is_number; /* written bare in JSON */
};

struct ct_result {
	struct ct_arena arena; /* owns all that is below */
	struct ct_pair *manifest;
	size_t n_manifest;
	const char *config_yaml; /* effective configuration, every key, paths included */
	struct ct_pair *import;  /* import report of the trace: rows, rules */
	size_t n_import;
	const char **warnings;
	size_t n_warnings;
	double summary[CT_METRIC_COUNT];
	struct ct_frame jobs, series, events; /* events.n_columns = 0 when not recorded */
	struct ct_pair *perf;
	size_t n_perf;
	char digest[CT_DIGEST_TEXT];
	int partial; /* stopped before its end: Ctrl-C */
};

/* Fills summary, jobs, series and events from a finished world. The manifest,
 * configuration, import, warnings and perf are the caller's, before or after. */
void ct_result_from_world(struct ct_result *r, const struct ct_world *w);
void ct_result_fini(struct ct_result *r);

/* Text that lives as long as the result; printf style. */
__attribute__((format(printf, 2, 3))) const char *ct_result_text(struct ct_result *r, const char *fmt, ...);
enum ct_result_part { CT_RESULT_MANIFEST, CT_RESULT_IMPORT, CT_RESULT_PERF };
void ct_result_add(struct ct_result *r, enum ct_result_part part, const char *key, const char *value, int is_number);
void ct_result_warn(struct ct_result *r, const char *text);

/* Computes r->digest from summary, jobs, series, events, `config_digest_text` (the
 * effective configuration without paths) and `input_digests` (text, fixed order). */
void ct_result_seal(struct ct_result *r, const char *config_digest_text, const char *input_digests);

/* All writers go through a temporary name and rename; nothing half-written is
 * ever seen. CT_EIO with the system's reason. */
int ct_result_write_h5(const struct ct_result *r, const char *path, struct ct_err *err);
/* jobs.csv, summary.csv, series.csv (and events.csv) in a directory, made if absent. */
int ct_result_write_csv(const struct ct_result *r, const char *directory, struct ct_err *err);
/* {"manifest":{},"summary":{},"perf":{}}; keys sorted, one line a key; non-finite = null. */
int ct_result_write_json(const struct ct_result *r, FILE *to, struct ct_err *err);
/* CT_EIO: not a result, truncated, another version. *r is zeroed first. */
int ct_result_read_h5(const char *path, struct ct_result *r, struct ct_err *err);

/* Column by name, NULL if absent. */
const struct ct_column *ct_frame_column(const struct ct_frame *f, const char *name);

#endif
