/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.h - the canonical job columns: one table that the CSV reader, both
 * writers, the HDF5 form and the documentation (ct_trace_column_at) go by.
 * Internal to traces/. */
#ifndef CT_TRACES_COLUMNS_H
#define CT_TRACES_COLUMNS_H

#include "sim/workload.h"
#include "traces/trace.h"

#include <stddef.h>
#include <stdint.h>

/* In the order in which the writers put them. */
enum ct_column_id {
	CT_COLUMN_JOB_ID,
	CT_COLUMN_SUBMIT_TIME,
	CT_COLUMN_NUM_GPUS,
	CT_COLUMN_DURATION,
	CT_COLUMN_USER,
	CT_COLUMN_GROUP,
	CT_COLUMN_MODEL,
	CT_COLUMN_PARTITION,
	CT_COLUMN_GPU_TYPE,
	CT_COLUMN_GPU_MILLI,
	CT_COLUMN_MIN_GPUS,
	CT_COLUMN_MAX_GPUS,
	CT_COLUMN_PRIORITY,
	CT_COLUMN_DEADLINE,
	CT_COLUMN_REQUESTED_TIME,
	CT_COLUMN_NUM_CPUS,
	CT_COLUMN_MEM_MIB,
	CT_COLUMN_GPU_MEM_MIB,
	CT_COLUMN_SM_FRAC,
	CT_COLUMN_STATE,
	CT_COLUMN_NUM_INST, /* multiplied into the others on reading */
	CT_COLUMNS
};

/* What a cell of the column holds, and the type of the job's member. */
enum ct_cell {
	CT_CELL_ID,        /* const char * */
	CT_CELL_TEXT,      /* uint32_t, a number in workload->strings */
	CT_CELL_TIME,      /* ct_time; text: decimal seconds */
	CT_CELL_COUNT,     /* uint32_t; text: a whole number */
	CT_CELL_GPUS,      /* uint32_t; text: decimals make shares of a GPU */
	CT_CELL_MILLI,     /* uint32_t in thousandths; text: decimal */
	CT_CELL_MIB,       /* uint32_t; text: decimal, rounded up */
	CT_CELL_SIGNED,    /* int32_t */
	CT_CELL_FRACTION,  /* float */
	CT_CELL_INSTANCES, /* no member */
};

struct ct_column {
	struct ct_trace_column doc;
	enum ct_cell cell;
	size_t offset;       /* of the member in struct ct_job */
	int64_t lo, hi;      /* legal values of the member, where it is an integer */
	const char *h5_unit; /* attribute of the HDF5 data set */
};

enum {
	CT_ID_LIMIT = 255,    /* bytes of a job_id; the HDF5 form stores them at fixed width */
	CT_NAME_LIMIT = 255,  /* bytes of a column's name */
	CT_FIELD_LIMIT = 4096 /* columns of a file */
};

extern const struct ct_column ct_columns[CT_COLUMNS];

/* How well a file's column name fits canonical column `c`. */
enum ct_fit { CT_FIT_NONE, CT_FIT_ALIAS, CT_FIT_CASE, CT_FIT_EXACT };
enum ct_fit ct_column_fit(enum ct_column_id c, const char *name);

/* Must a writer write the column? Yes for the three required ones and the id; for
 * the others when a job does not hold the default, or when an extra column's name
 * would otherwise be taken for it on reading back. */
int ct_column_in_use(const struct ct_workload *w, enum ct_column_id c);

static inline void *ct_column_member(struct ct_job *job, enum ct_column_id c)
{
	return (char *)job + ct_columns[c].offset;
}
static inline const void *ct_column_value(const struct ct_job *job, enum ct_column_id c)
{
	return (const char *)job + ct_columns[c].offset;
}

#endif
