/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_pai.c - the reader of the PAI tables on any bytes. The first byte chooses the
 * file's name, so which table it is taken for ('*': by its content, or an archive
 * with several); the rest is the file. Relations:
 *  - an error has a message and an exit code of the outside world;
 *  - what is accepted when bad rows are refused gives the same jobs when they are
 *    dropped;
 *  - what is accepted obeys what ct_workload_seal() promises, and every job of the
 *    tables is either kept or counted as dropped;
 *  - a figure that is a share lies in [0, 1] or is not a number. */
#include "traces/figures.h"
#include "traces/pai.h"

#include <math.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(cond)                                                                    \
	do {                                                                             \
		if (!(cond)) {                                                           \
			fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #cond); \
			abort();                                                         \
		}                                                                        \
	} while (0)

static const char *name_for(uint8_t choice)
{
	switch (choice) {
	case 'j':
		return "pai_job_table.csv";
	case 't':
		return "pai_task_table.csv";
	case 'i':
		return "pai_instance_table.csv";
	default:
		return "tables";
	}
}

static uint64_t count_of(const struct ct_workload *w, const char *rule)
{
	for (unsigned i = 0; i < w->report.n_rules; i++)
		if (strcmp(w->report.rules[i].rule, rule) == 0)
			return w->report.rules[i].rows;
	return 0;
}

/* Jobs left out; rows of a table that were wrong are counted beside them. */
static uint64_t dropped_jobs(const struct ct_workload *w)
{
	static const char *const rules[] = { "dropped_failed",         "dropped_interrupted",  "dropped_running",
					     "dropped_waiting",        "dropped_other_status", "dropped_no_times",
					     "dropped_reversed_times", "dropped_no_request" };
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		n += count_of(w, rules[i]);
	return n;
}

static void check_job(const struct ct_workload *w, const struct ct_job *j)
{
	REQUIRE(j->id && *j->id && j->submit_us >= 0 && j->submit_us <= CT_TIME_LIMIT);
	REQUIRE(j->duration_us > 0 && j->duration_us <= CT_DURATION_LIMIT);
	REQUIRE(j->num_gpus || j->cpu_milli);
	REQUIRE(j->gpu_milli >= 1 && j->gpu_milli <= 1000);
	REQUIRE(!(j->sm_frac < 0) && !(j->sm_frac > 1));
	REQUIRE(j->user < w->strings.n && j->group < w->strings.n && j->gpu_type < w->strings.n);
}

static void check_shares(const struct ct_figures *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct ct_figure *x = &f->v[i];

		if (strstr(x->name, "_share"))
			REQUIRE(isnan(x->value) || (x->value >= 0 && x->value <= 1));
		else
			REQUIRE(isnan(x->value) || x->value >= 0);
	}
}

static struct ct_workload *read_bytes(const uint8_t *data, size_t size, enum ct_bad_row bad)
{
	struct ct_figures figures = { 0 };
	const struct ct_trace_options o = { .on_bad_row = bad, .figures = &figures };
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };
	struct ct_source *s = NULL;
	int rc = ct_source_open_memory(name_for(data[0]), data + 1, size - 1, &s, &err);

	if (!rc) {
		rc = ct_pai_read(s, SIZE_MAX, &o, w, &err);
		if (!rc)
			REQUIRE(count_of(w, "jobs_seen") == w->n + dropped_jobs(w));
	}
	if (!rc)
		rc = ct_workload_seal(w, &err);
	ct_source_close(s);
	check_shares(&figures);
	ct_figures_fini(&figures);
	REQUIRE(rc == (int)err.code);
	if (!rc)
		return w;
	REQUIRE(err.count && *err.text);
	REQUIRE(rc == CT_ETRACE || rc == CT_EIO || rc == CT_ECONFIG);
	ct_workload_free(w);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_workload *strict, *lenient;

	if (!size)
		return 0;
	strict = read_bytes(data, size, CT_BAD_ROW_REFUSE);
	lenient = read_bytes(data, size, CT_BAD_ROW_DROP);
	if (strict)
		REQUIRE(lenient && strcmp(strict->digest, lenient->digest) == 0);
	for (size_t i = 0; lenient && i < lenient->n; i++)
		check_job(lenient, &lenient->jobs[i]);
	ct_workload_free(strict);
	ct_workload_free(lenient);
	return 0;
}
