/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.h - any supported trace file in, one canonical workload out.
 *
 * A reader is one file of this folder and one row of the table in trace.c. The
 * generic reader takes a CSV whose header names the columns in any order, under
 * their canonical names or known aliases; the canonical HDF5 form replays to
 * identical results. */
#ifndef CT_TRACES_TRACE_H
#define CT_TRACES_TRACE_H

#include "sim/err.h"
#include "sim/workload.h"

enum ct_bad_row { CT_BAD_ROW_REFUSE, CT_BAD_ROW_DROP };

struct ct_column_map { /* `canonical` is called `name` in this file */
	const char *canonical, *name;
};

struct ct_trace_option { /* trace.options.NAME: value; what there is, the reader's table says */
	const char *name, *value;
};

struct ct_figures;
struct ct_trace_opt;

struct ct_trace_options {
	const char *format; /* reader's name, or NULL / "auto": from the content */
	enum ct_bad_row on_bad_row;
	const struct ct_column_map *columns;
	size_t n_columns;
	const struct ct_trace_option *options;
	size_t n_options;
	int shift_to_zero; /* subtract the first submission from submissions and deadlines */
	/* Filled by readers whose trace has figures of its own (traces/figures.h); NULL:
	 * not wanted, which is quicker. With figures, a trace without jobs is no error. */
	struct ct_figures *figures;
	/* Called now and then with bytes read and bytes in all (0 = unknown); may be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/* `path`: a file, an archive or a directory (traces/source.h). CT_ETRACE with every
 * error of the file (file:line:column), CT_EIO when it cannot be read; *out is
 * untouched on error. The workload is sealed. */
int ct_trace_read(const char *path, const struct ct_trace_options *o, struct ct_workload **out, struct ct_err *err);

/* The same from memory (tests, fuzzing): a file of that name with these bytes. */
int ct_trace_read_memory(const char *name, const void *bytes, size_t n, const struct ct_trace_options *o,
			 struct ct_workload **out, struct ct_err *err);

struct ct_source;

/* One of the two `recognise` is there. A format of one file gets that file's first
 * bytes (already inflated, NUL behind them); its `read` gets the member that was
 * recognised or is the only one. A format of several tables gets them all, and its
 * `read` gets member = SIZE_MAX. `w` is new; trace.c seals it. */
struct ct_trace_format {
	const char *name, *summary;
	int (*recognise)(const char *head, size_t n);
	int (*recognise_all)(const struct ct_source *s);
	int (*read)(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		    struct ct_err *err);
	const struct ct_trace_opt *opts; /* NULL: no options of its own (traces/reader_options.h) */
};
const struct ct_trace_format *ct_trace_format_at(size_t i); /* NULL past the end */

/* Canonical HDF5: /jobs with one data set a column, attribute format =
 * "cotenant-trace". Written through a temporary name. */
int ct_trace_write_h5(const struct ct_workload *w, const char *path, struct ct_err *err);
int ct_trace_write_csv(const struct ct_workload *w, const char *path, struct ct_err *err);

/* By the end of the name: .h5 or .hdf5, .csv, .swf; the others cannot be written. */
int ct_trace_can_write(const char *path);
int ct_trace_write(const struct ct_workload *w, const char *path, struct ct_err *err);

/* One line of the documented columns: canonical name, aliases (separated by a
 * blank), unit, meaning. Names match in any case; csv_header.h says which field
 * wins, csv_jobs.h which rows are bad, columns.c holds the table. */
struct ct_trace_column {
	const char *name, *aliases, *unit, *meaning;
	int required;
};
const struct ct_trace_column *ct_trace_column_at(size_t i); /* NULL past the end */

#endif
