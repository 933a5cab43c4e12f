/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pai_tables.h - the tables of the PAI trace: which file is which, and their cells.
 * Internal to traces/. */
#ifndef CT_TRACES_PAI_TABLES_H
#define CT_TRACES_PAI_TABLES_H

#include "sim/clock.h"
#include "sim/csv.h"
#include "traces/source.h"
#include "traces/trace.h"

enum ct_pai_table {
	CT_PAI_MACHINE_SPEC, /* in the order of reading */
	CT_PAI_JOB,
	CT_PAI_TASK,
	CT_PAI_GROUP_TAG,
	CT_PAI_INSTANCE,
	CT_PAI_SENSOR,
	CT_PAI_MACHINE_METRIC, /* known, not used */
	CT_PAI_TABLES,
	CT_PAI_OTHER = CT_PAI_TABLES
};

enum ct_pai_status {
	CT_PAI_TERMINATED,
	CT_PAI_FAILED,
	CT_PAI_INTERRUPTED,
	CT_PAI_RUNNING,
	CT_PAI_WAITING,
	CT_PAI_OTHER_STATUS,
	CT_PAI_STATUSES,
	CT_PAI_NO_STATUS = CT_PAI_STATUSES
};

/* By the file's name, else by the first line. */
enum ct_pai_table ct_pai_table_of(const char *name, const char *head, size_t n);
const char *ct_pai_table_name(enum ct_pai_table t); /* "pai_job_table" */
size_t ct_pai_table_fields(enum ct_pai_table t);

enum ct_pai_status ct_pai_status_of(struct ct_csv_field f);
const char *ct_pai_status_name(enum ct_pai_status s);

/* One table being read, row by row. */
struct ct_pai_rows {
	struct ct_csv *in;
	enum ct_pai_table table;
	const struct ct_trace_options *o;
	struct ct_workload *w; /* for the counters */
	struct ct_err *err;
	int bad;  /* the row at hand, after a cell was wrong */
	int last; /* a header line was possible only before the first row */
};

/* 1: a row of the right number of fields; 0: the end; or an error's code. */
int ct_pai_next(struct ct_pai_rows *r);
/* A field's text. */
struct ct_csv_field ct_pai_cell(const struct ct_pai_rows *r, size_t i);
/* A time, -1 = missing (empty, "nan" or 0). A number that is no time marks the row. */
ct_time ct_pai_time(struct ct_pai_rows *r, size_t i);
/* A number >= 0, NaN = missing. */
double ct_pai_number(struct ct_pai_rows *r, size_t i);
/* A name that must be there. */
struct ct_csv_field ct_pai_key(struct ct_pai_rows *r, size_t i);

#endif
