/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_trace.c - the generic CSV reader on any bytes. The first byte chooses the
 * options, the rest is the file. Relations, not only absence of crashes:
 *  - an error has a message and an exit code of the outside world;
 *  - what is accepted when bad rows are refused is accepted alike when they are
 *    dropped, with nothing dropped;
 *  - what is accepted obeys what ct_workload_seal() promises;
 *  - written as canonical CSV and read again, it has the same digest. */
#include "sim/csv.h"
#include "traces/columns.h"
#include "traces/csv_jobs.h"
#include "traces/trace.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(cond)                                                                    \
	do {                                                                             \
		if (!(cond)) {                                                           \
			fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #cond); \
			abort();                                                         \
		}                                                                        \
	} while (0)

/* A sealed workload, or NULL and the error. */
static struct ct_workload *read_bytes(const void *bytes, size_t n, const struct ct_trace_options *o, struct ct_err *err)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_csv *in = NULL;
	int rc = ct_csv_open_memory("fuzz.csv", bytes, n, ',', &in, err);

	if (!rc) {
		rc = ct_csv_jobs_read_open(in, o, w, err);
		ct_csv_close(in);
	}
	if (!rc)
		rc = ct_workload_seal(w, err);
	REQUIRE(rc == (int)err->code);
	if (!rc)
		return w;
	REQUIRE(err->count && err->kept && *err->text);
	REQUIRE(rc == CT_ETRACE || rc == CT_EIO || rc == CT_ECONFIG);
	ct_workload_free(w);
	return NULL;
}

static void check_job(const struct ct_workload *w, size_t i)
{
	const struct ct_job *j = &w->jobs[i];
	size_t n = w->strings.n;

	REQUIRE(j->id && *j->id && strlen(j->id) <= CT_ID_LIMIT);
	REQUIRE(j->submit_us >= (i ? w->jobs[i - 1].submit_us : 0) && j->submit_us <= CT_TIME_LIMIT);
	REQUIRE(j->duration_us > 0 && j->duration_us <= CT_DURATION_LIMIT);
	REQUIRE(j->num_gpus || j->cpu_milli);
	REQUIRE(j->gpu_milli >= 1 && j->gpu_milli <= 1000);
	REQUIRE(j->min_gpus <= j->num_gpus && j->num_gpus <= j->max_gpus);
	REQUIRE(!(j->sm_frac < 0) && !(j->sm_frac > 1));
	REQUIRE(j->deadline_us >= -1 && j->requested_us >= -1);
	REQUIRE(j->user < n && j->group < n && j->model < n && j->partition < n && j->gpu_type < n && j->state < n);
	for (size_t c = 0; c < w->n_columns; c++)
		REQUIRE(w->columns[c].value[i] < n);
}

static uint64_t dropped(const struct ct_workload *w)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < w->report.n_rules; i++)
		n += w->report.rules[i].dropped ? w->report.rules[i].rows : 0;
	return n;
}

static void check_workload(const struct ct_workload *w)
{
	for (size_t i = 0; i < w->n; i++)
		check_job(w, i);
	REQUIRE(w->report.rows_kept == w->n);
	REQUIRE(w->report.rows_read == w->n + dropped(w));
	REQUIRE(strlen(w->digest) == CT_DIGEST_TEXT - 1);
}

/* In a folder of this process; left empty after every input. */
static const char *scratch(void)
{
	static char path[64];

	if (!*path) {
		const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

		snprintf(path, sizeof path, "%s/cotenant-fuzz-trace-%ld.csv", base, (long)getpid());
	}
	return path;
}

static void check_written(const struct ct_workload *w)
{
	static const struct ct_trace_options plain;
	struct ct_err err = { 0 };
	struct ct_workload *again = NULL;

	REQUIRE(!ct_trace_write_csv(w, scratch(), &err));
	if (ct_trace_read(scratch(), &plain, &again, &err))
		ct_err_print(&err, stderr);
	unlink(scratch());
	REQUIRE(again);
	REQUIRE(!strcmp(again->digest, w->digest));
	ct_workload_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ct_column_map map = { "submit_time", "when" };
	struct ct_trace_options o = { .on_bad_row = CT_BAD_ROW_REFUSE };
	struct ct_err err = { 0 }, err_drop = { 0 };
	struct ct_workload *strict, *lenient;

	if (!size)
		return 0;
	if (data[0] & 1) {
		o.columns = &map;
		o.n_columns = 1;
	}
	strict = read_bytes(data + 1, size - 1, &o, &err);
	o.on_bad_row = CT_BAD_ROW_DROP;
	lenient = read_bytes(data + 1, size - 1, &o, &err_drop);
	if (strict) {
		REQUIRE(lenient && !dropped(lenient) && !strcmp(strict->digest, lenient->digest));
		check_workload(strict);
	}
	if (lenient) {
		check_workload(lenient);
		if (lenient->n && lenient->n < 1000)
			check_written(lenient);
	}
	ct_workload_free(strict);
	ct_workload_free(lenient);
	return 0;
}
