/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.h - files that are either complete or not there, and text forms of
 * numbers that do not depend on the locale.
 *
 *	struct ct_output o;
 *	CT_TRY(ct_output_open(&o, "jobs.csv", &err));     // opens jobs.csv.tmp-PID
 *	ct_output_text(&o, "job_id,...\n");
 *	CT_TRY(ct_output_close(&o, &err));                // flush, fsync, rename, or unlink
 *
 * Writing errors are kept and reported by close, so callers write without
 * checking every call. */
#ifndef CT_SIM_OUTPUT_H
#define CT_SIM_OUTPUT_H

#include "sim/clock.h"
#include "sim/err.h"

#include <stddef.h>
#include <stdint.h>

struct ct_output {
	int fd;     /* -1: closed */
	int failed; /* errno of the first failure */
	char *path, *tmp;
	char *buffer;
	size_t used;
};

int ct_output_open(struct ct_output *o, const char *path, struct ct_err *err);
void ct_output_write(struct ct_output *o, const char *s, size_t n);
void ct_output_text(struct ct_output *o, const char *s);
void ct_output_i64(struct ct_output *o, int64_t v);
void ct_output_time(struct ct_output *o, ct_time t);
/* Shortest decimal that reads back as the same double; "nan", "inf" as given. */
void ct_output_f64(struct ct_output *o, double v);
/* One CSV field, quoted where RFC 4180 asks for it. */
void ct_output_field(struct ct_output *o, const char *s);
/* Renames into place; on any failure removes the temporary file and reports. */
int ct_output_close(struct ct_output *o, struct ct_err *err);
/* Removes the temporary file. */
void ct_output_abandon(struct ct_output *o);

/* Shortest round-trip decimal of a double into `out`; returns its length. */
enum { CT_F64_TEXT = 40 };
size_t ct_f64_format(double v, char out[CT_F64_TEXT]);

/* `path` + ".tmp-" + process id, for writers that need a name (HDF5); malloc'ed. */
char *ct_output_temporary(const char *path);
/* rename(tmp, path) after fsync of the file; removes tmp on failure. */
int ct_output_commit(const char *tmp, const char *path, struct ct_err *err);

#endif
