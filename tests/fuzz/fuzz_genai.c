/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_genai.c - the GenAI reader on any bytes. The first byte says which table the
 * rest is (or an archive of tables), the second the mapping. Relations:
 *  - an error has a message and an exit code of the outside world;
 *  - what is accepted when bad rows are refused is accepted alike when they are
 *    dropped, with the same content and none dropped for being bad;
 *  - rows read are rows kept and rows dropped;
 *  - the jobs of a mapping hold every kept request once, and all their work;
 *  - what is accepted obeys what ct_workload_seal() promises. */
#include "traces/genai.h"

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

static struct ct_workload *read_bytes(const char *name, const uint8_t *bytes, size_t n,
				      const struct ct_trace_options *o, struct ct_err *err)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_source *s = NULL;
	int rc = ct_source_open_memory(name, bytes, n, &s, err);

	w->report.source = name;
	if (!rc) {
		rc = ct_genai_read(s, SIZE_MAX, o, w, err);
		if (!rc)
			rc = ct_workload_seal(w, err);
		w->report.source = "";
		ct_source_close(s);
	}
	REQUIRE(rc == (int)err->code);
	if (!rc)
		return w;
	REQUIRE(err->count && err->kept && *err->text);
	REQUIRE(rc == CT_ETRACE || rc == CT_EIO || rc == CT_ECONFIG);
	ct_workload_free(w);
	return NULL;
}

static uint64_t dropped(const struct ct_workload *w, const char *prefix)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < w->report.n_rules; i++)
		if (w->report.rules[i].dropped && !strncmp(w->report.rules[i].rule, prefix, strlen(prefix)))
			n += w->report.rules[i].rows;
	return n;
}

static void check_workload(const struct ct_workload *w)
{
	uint64_t requests = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct ct_job *j = &w->jobs[i];

		REQUIRE(j->id && *j->id && j->num_gpus == 1 && j->gpu_milli == 1000);
		REQUIRE(j->submit_us >= (i ? w->jobs[i - 1].submit_us : 0) && j->submit_us <= CT_TIME_LIMIT);
		REQUIRE(j->duration_us > 0 && j->duration_us <= CT_DURATION_LIMIT);
		REQUIRE(j->user < w->strings.n && j->group < w->strings.n && j->model < w->strings.n);
		requests += strtoull(ct_strings_text(&w->strings, w->columns[0].value[i]), NULL, 10);
	}
	REQUIRE(w->report.rows_read == w->report.rows_kept + dropped(w, ""));
	REQUIRE(!w->n || !strncmp(w->jobs[0].id, "qps", 3) || requests == w->report.rows_kept);
}

static void check_figures(const struct ct_figures *f)
{
	for (size_t i = 0; i < f->n; i++) {
		REQUIRE(f->v[i].name && *f->v[i].name && f->v[i].definition && f->v[i].unit);
		REQUIRE(ct_figures_find(f, f->v[i].name) == &f->v[i]); /* unique */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const mapping[] = { "auto", "a1", "a2", "qps" };
	struct ct_trace_option option[] = { { "mapping", "auto" }, { "fold", "1" } };
	struct ct_figures one = { 0 }, two = { 0 };
	struct ct_trace_options o = { .options = option, .n_options = 2, .figures = &one };
	struct ct_err err = { 0 }, err_drop = { 0 };
	struct ct_workload *strict, *lenient;
	char name[64];

	if (size < 2)
		return 0;
	snprintf(name, sizeof name, "%s%s", ct_genai_table_name((enum ct_genai_table)(data[0] % 15)),
		 data[0] % 15 == CT_GENAI_TABLES ? ".tar" : ".csv");
	option[0].value = mapping[data[1] % 4];
	o.n_options = data[1] & 4 ? 2 : 1;
	strict = read_bytes(name, data + 2, size - 2, &o, &err);
	o.on_bad_row = CT_BAD_ROW_DROP;
	o.figures = &two;
	lenient = read_bytes(name, data + 2, size - 2, &o, &err_drop);
	if (strict) {
		REQUIRE(lenient && !strcmp(strict->digest, lenient->digest) && !dropped(strict, "dropped_"));
		REQUIRE(!dropped(lenient, "dropped_") && one.n == two.n);
		check_workload(strict);
	}
	if (lenient) {
		check_workload(lenient);
		check_figures(&two);
	}
	ct_workload_free(strict);
	ct_workload_free(lenient);
	ct_figures_fini(&one);
	ct_figures_fini(&two);
	return 0;
}
