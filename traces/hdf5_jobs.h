/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hdf5_jobs.h - the canonical HDF5 form of a workload. Internal to traces/.
 *
 *	/            attributes format = "cotenant-trace", version = 1, jobs,
 *	             digest (of the workload), and, written last, complete = 1
 *	/jobs/NAME   one data set a canonical column that is in use (traces/columns.c),
 *	             in order of submission. Numbers are integers in the unit that the
 *	             attribute `unit` names (times: microseconds, cores: thousandths;
 *	             -1 = no deadline, no estimate), sm_frac is float (NaN = unknown),
 *	             job_id is fixed-length text, other texts are numbers in /strings
 *	/jobs/line   line of the original file, 0 = none
 *	/extra/NAME  numbers in /strings, for each column carried through; bytes of the
 *	             name other than letters, digits, '_', '-' are written %XX; attribute
 *	             `order` = its place among them
 *	/strings     bytes: the texts one after the other, each ended by a NUL byte
 *	/report      where the jobs came from: attributes origin, rows_read, rows_kept,
 *	             and data sets rule, meaning, rows, dropped
 *
 *	import h5py                                      # without our code
 *	f = h5py.File("jobs.h5")
 *	text = f["strings"][:].tobytes().split(b"\0")
 *	users = [text[k].decode() for k in f["jobs/user"]]
 *	submit_s = f["jobs/submit_time"][:] / 1e6
 *
 * Readers need /jobs with the three required columns and job_id, `format`, `version`,
 * `complete`, and /strings where a column refers to it; the rest may be absent. A
 * `digest` that is there must be right. */
#ifndef CT_TRACES_HDF5_JOBS_H
#define CT_TRACES_HDF5_JOBS_H

#include "traces/source.h"
#include "traces/trace.h"

int ct_hdf5_jobs_recognise(const char *head, size_t n);
int ct_hdf5_jobs_read(const struct ct_source *s, size_t member, const struct ct_trace_options *o, struct ct_workload *w,
		      struct ct_err *err);

#endif
