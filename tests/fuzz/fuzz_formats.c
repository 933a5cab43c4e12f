/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers of published traces. The first byte chooses the reader (or recognition),
 * the rest is the file. Relations: with bad rows dropped, a file that is read strictly
 * gives the same jobs; every row is kept or counted; what was read can be written as
 * CSV and read again by the generic reader, to the same digest. */
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

static const char *const formats[] = {
	"auto", "openb", "helios", "philly", "itp", "tiresias", "swf", "pollux", "gavel"
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Durations for the two formats without: written once a process. */
static const char *durations(int steps)
{
	static char path[2][64];

	if (!*path[steps]) {
		FILE *f;

		snprintf(path[steps], sizeof path[steps], "%s/cotenant-fuzz-formats-%ld-%d.csv",
			 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid(), steps);
		f = fopen(path[steps], "wb");
		REQUIRE(f);
		fputs(steps ? "model,num_gpus,steps_per_s\na,1,4\na,2,7.5\n"
			    : "model,num_gpus,duration\na,1,4\na,2,1e9\n",
		      f);
		REQUIRE(!fclose(f));
	}
	return path[steps];
}

static void remove_durations(void)
{
	unlink(durations(0));
	unlink(durations(1));
}

static struct ct_workload *read_bytes(const uint8_t *data, size_t size, const struct ct_trace_options *o)
{
	struct ct_workload *w = NULL;
	struct ct_err err = { 0 };
	int rc = ct_trace_read_memory("fuzz", data, size, o, &w, &err);

	REQUIRE(rc == (int)err.code);
	REQUIRE(!rc == (w != NULL));
	REQUIRE(!rc || (*err.text && (rc == CT_ETRACE || rc == CT_EIO || rc == CT_ECONFIG)));
	return w;
}

static void check(const struct ct_workload *w)
{
	uint64_t dropped = 0;

	for (unsigned i = 0; i < w->report.n_rules; i++)
		dropped += w->report.rules[i].dropped ? w->report.rules[i].rows : 0;
	REQUIRE(w->report.rows_kept == w->n);
	REQUIRE(w->report.rows_read == w->n + dropped);
	for (size_t i = 0; i < w->n; i++) {
		REQUIRE(w->jobs[i].duration_us > 0 && w->jobs[i].submit_us >= 0);
		REQUIRE(w->jobs[i].num_gpus || w->jobs[i].cpu_milli);
	}
}

static void check_written(const struct ct_workload *w)
{
	const struct ct_trace_options o = { .format = "csv" };
	struct ct_workload *again = NULL;
	struct ct_err err = { 0 };
	char path[64];

	snprintf(path, sizeof path, "%s/cotenant-fuzz-formats-%ld-out.csv",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
	REQUIRE(!ct_trace_write_csv(w, path, &err));
	if (ct_trace_read(path, &o, &again, &err))
		ct_err_print(&err, stderr);
	unlink(path);
	REQUIRE(again && !strcmp(again->digest, w->digest));
	ct_workload_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int registered;
	struct ct_trace_option option = { "durations", NULL };
	struct ct_trace_options o = { 0 };
	struct ct_workload *strict, *lenient;

	if (!size)
		return 0;
	if (!registered++)
		atexit(remove_durations);
	o.format = formats[data[0] % FORMATS];
	o.shift_to_zero = data[0] >= 128;
	if (!strcmp(o.format, "pollux") || !strcmp(o.format, "gavel")) {
		option.value = durations(o.format[0] == 'g');
		o.options = &option;
		o.n_options = 1;
	}
	strict = read_bytes(data + 1, size - 1, &o);
	o.on_bad_row = CT_BAD_ROW_DROP;
	lenient = read_bytes(data + 1, size - 1, &o);
	if (strict) {
		REQUIRE(lenient && !strcmp(strict->digest, lenient->digest));
		check(strict);
	}
	if (lenient) {
		check(lenient);
		if (lenient->n < 200)
			check_written(lenient);
	}
	ct_workload_free(strict);
	ct_workload_free(lenient);
	return 0;
}
