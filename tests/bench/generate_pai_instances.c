/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate_pai_instances - an instance table of any size in the format of the PAI
 * trace (traces/pai.h): made-up names, the published shares of statuses, of empty
 * times and of rows a job. CSV without header on stdout.
 *
 *	generate_pai_instances --rows 7500000 > pai_instance_table.csv
 *
 * Row i belongs to a job whose number is a hash of i, so that rows of one job stand
 * far apart, as in the real file. */
#include "sim/csv.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

/* `n` hexadecimal digits that are a function of (what, number). */
static char *hex(char *out, unsigned what, uint64_t number, int n)
{
	const uint32_t key[2] = { what, 2026 };
	uint32_t counter[4] = { (uint32_t)number, (uint32_t)(number >> 32), 0, 0 }, block[4] = { 0 };

	for (int i = 0; i < n; i++) {
		if (i % 32 == 0) {
			counter[2] = (uint32_t)i;
			ct_philox_block(key, counter, block);
		}
		*out++ = digits[block[i / 8 % 4] >> 4 * (i % 8) & 15];
	}
	return out;
}

static char *text(char *out, const char *s)
{
	size_t n = strlen(s);

	memcpy(out, s, n);
	return out + n;
}

/* Statuses and empty times as counted in 28,008 rows of the trace. */
static char *outcome(char *out, struct ct_stream *s)
{
	double u = gsl_rng_uniform(&s->rng);
	unsigned start = 494366 + (unsigned)gsl_rng_uniform_int(&s->rng, 5900000);
	unsigned end = start + (unsigned)gsl_ran_lognormal(&s->rng, 6.9, 1.6);

	if (u < .6835)
		return out + sprintf(out, "Terminated,%u.0,%u.0", start, end);
	if (u < .6835 + .0940)
		return out + (gsl_rng_uniform(&s->rng) < .769 ? sprintf(out, "Failed,%u.0,", start)
							      : sprintf(out, "Failed,,%u.0", end));
	if (u < .6835 + .0940 + .0903)
		return out + sprintf(out, "Interrupted,,%u.0", end);
	if (u < .6835 + .0940 + .0903 + .0949)
		return out + (gsl_rng_uniform(&s->rng) < .288 ? sprintf(out, "Running,%u.0,", start)
							      : sprintf(out, "Running,,"));
	return text(out, "Waiting,,");
}

static void write_row(uint64_t i, uint64_t jobs)
{
	static const char *const tasks[] = { "tensorflow", "worker", "ps", "PyTorchWorker" };
	struct ct_stream s;
	char line[512], *at = line;
	uint64_t job;
	unsigned task;

	ct_stream_init(&s, 1, CT_RANDOM_TEST, i);
	job = gsl_rng_uniform_int(&s.rng, jobs);
	task = job % 100 < 85 ? (unsigned)(job % 4) : (unsigned)(i % 2) + 1;
	at = hex(at, 1, job, 24);
	*at++ = ',';
	at = text(at, tasks[task]);
	*at++ = ',';
	at = hex(at, 2, gsl_rng_uniform(&s.rng) < .045 && i > 100 ? i - 100 : i, 60);
	*at++ = ',';
	at = hex(at, 3, i, 60);
	*at++ = ',';
	at = hex(at, 4, job, 60);
	*at++ = ',';
	at = outcome(at, &s);
	*at++ = ',';
	at = hex(at, 5, gsl_rng_uniform_int(&s.rng, 1897), 24);
	*at++ = '\n';
	fwrite(line, 1, (size_t)(at - line), stdout);
}

int main(int argc, char **argv)
{
	int64_t rows;

	if (argc != 3 || strcmp(argv[1], "--rows") != 0 || ct_parse_i64(argv[2], strlen(argv[2]), &rows) || rows < 1) {
		fputs("usage: generate_pai_instances --rows N\n", stderr);
		return 2;
	}
	for (int64_t i = 0; i < rows; i++)
		write_row((uint64_t)i, (uint64_t)rows / 7 + 1);
	if (fflush(stdout) || ferror(stdout)) {
		perror("generate_pai_instances: standard output");
		return 5;
	}
	return 0;
}
