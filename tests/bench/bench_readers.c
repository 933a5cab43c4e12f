/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MB of CSV text a CPU second, gzip inflated on the way, from the first byte to the
 * sealed workload; best of three. The floor is 50 MB/s. Text is made here in each
 * format's form; times are random, ids as long as the published ones. */
#include "sim/csv.h"
#include "sim/memory.h"
#include "sim/random.h"
#include "traces/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum { ROWS = 600000, LINE = 256 };

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int itp_row(char *to, int i, unsigned long r)
{
	return snprintf(to, LINE, "%08lx-%04lx-c1a8-12af-%012d,%d,%lu,%lu\n", r & 0xffffffff, r >> 7 & 0xffff, i, i * 3,
			r % 90000 + 1, 1ul << r % 4);
}

static int philly_row(char *to, int i, unsigned long r)
{
	return snprintf(to, LINE, "2017-%02d-%02d %02d:%02d:%02lu,%lu.0,%lu,%lu.0,%06lx\n", 9 + i / 200000,
			1 + i / 8000 % 28, i / 340 % 24, i / 6 % 60, r % 60, r % 90000 + 1, 1ul << r % 4, r % 1000000,
			r % 15 * 0x11cb);
}

static int openb_row(char *to, int i, unsigned long r)
{
	return snprintf(to, LINE, "openb-pod-%06d,%lu,%lu,1,%lu,,LS,Running,%d,%lu,%d\n", i, r % 90 * 1000 + 1,
			r % 99999, r % 1000 + 1, i * 5, (unsigned long)i * 5 + 100 + r % 90000, i * 5 + 7);
}

static int swf_row(char *to, int i, unsigned long r)
{
	return snprintf(to, LINE, "%d %d %lu %lu %lu -1 -1 %lu %lu -1 1 %lu 1 -1 1 1 -1 -1\n", i + 1, i * 4, r % 500,
			r % 90000 + 1, 1ul << r % 4, 1ul << r % 4, r % 90000 + 60, r % 99);
}

static int csv_row(char *to, int i, unsigned long r)
{
	return snprintf(to, LINE, "%d,%d,%lu,%lu,u%lu,model-%lu\n", i, i * 4, 1ul << r % 4, r % 90000 + 1, r % 99,
			r % 12);
}

static const struct {
	const char *format, *header;
	int (*row)(char *to, int i, unsigned long r);
} kinds[] = {
	{ "csv", "job_id,submit_time,num_gpus,duration,user,model\n", csv_row },
	{ "itp", "job_id,submission_time,duration,num_gpu\n", itp_row },
	{ "philly", "timestamp,duration,num_gpus,gpu_time,cluster\n", philly_row },
	{ "openb",
	  "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_"
	  "time\n",
	  openb_row },
	{ "swf", "; Version: 2.2\n", swf_row },
};

/* Text of a kind; its length. */
static size_t make_text(size_t kind, char *text)
{
	size_t n = strlen(kinds[kind].header);
	struct ct_stream s;

	memcpy(text, kinds[kind].header, n);
	ct_stream_init(&s, 1, CT_RANDOM_TEST, kind);
	for (int i = 0; i < ROWS; i++)
		n += (size_t)kinds[kind].row(text + n, i, gsl_rng_get(&s.rng));
	return n;
}

static size_t pack(const char *text, size_t n, unsigned char *to, size_t cap)
{
	z_stream z = {
		.next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)n, .next_out = to, .avail_out = (uInt)cap
	};

	if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	deflateEnd(&z);
	return cap - z.avail_out;
}

/* Least CPU seconds of three readings. */
static double read_it(const char *format, const unsigned char *packed, size_t n)
{
	const struct ct_trace_options o = { .format = format };
	double best = 1e9;

	for (int i = 0; i < 3; i++) {
		struct ct_workload *w = NULL;
		struct ct_err err = { 0 };
		double start = cpu_s(), took;

		if (ct_trace_read_memory("bench", packed, n, &o, &w, &err)) {
			ct_err_print(&err, stderr);
			exit(1);
		}
		took = cpu_s() - start;
		best = took < best ? took : best;
		ct_workload_free(w);
	}
	return best;
}

/* The same bytes through zlib and the tokenizer alone. */
static double tokenize(const unsigned char *packed, size_t n)
{
	double start = cpu_s();
	struct ct_err err = { 0 };
	struct ct_csv *c;

	if (ct_csv_open_memory("bench", packed, n, ',', &c, &err))
		exit(1);
	while (ct_csv_next(c, &err) == 1)
		;
	ct_csv_close(c);
	return cpu_s() - start;
}

int main(void)
{
	char *text = ct_realloc_array(NULL, (size_t)ROWS + 1, LINE);
	unsigned char *packed = ct_realloc_array(NULL, (size_t)ROWS + 1, LINE);

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		size_t n = make_text(k, text), p = pack(text, n, packed, (size_t)ROWS * LINE);
		double s = read_it(kinds[k].format, packed, p), rate = (double)n / 1e6 / s;
		double bare = (double)n / 1e6 / tokenize(packed, p);

		printf("reading %-8s .csv.gz, %d rows, %5.1f MB (zlib and fields alone %3.0f MB/s) %4.0f MB/s CPU   > "
		       "50 %s\n",
		       kinds[k].format, ROWS, (double)n / 1e6, bare, rate, rate > 50 ? "PASS" : "FAIL");
	}
	free(text);
	free(packed);
	return 0;
}
