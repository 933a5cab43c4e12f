/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The planner against queueing theory: jobs of an M/M/c queue, and the number of
 * servers that Erlang's formula says a bound on the mean wait needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/capacity.h"
#include "sim/random.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Offered load in Erlang; service has mean SERVICE_S. */
static const double ERLANG = 8.0, SERVICE_S = 100.0;
enum { JOBS = 60000, FEWEST = 10, MOST = 14 };

/* Mean wait with c servers: Erlang C by the recursion of Erlang B, C / (c mu - lambda). */
static double erlang_wait(int c)
{
	double b = 1;

	for (int k = 1; k <= c; k++)
		b = ERLANG * b / (k + ERLANG * b);
	return b / (1 - ERLANG / c * (1 - b)) * SERVICE_S / (c - ERLANG);
}

static void write_jobs(const char *path)
{
	struct ct_stream s;
	FILE *f = fopen(path, "w");
	double t = 0;

	assert_non_null(f);
	ct_stream_init(&s, 1, CT_RANDOM_TEST, 0);
	fputs("job_id,submit_time,num_gpus,duration\n", f);
	for (int i = 0; i < JOBS; i++) {
		t += gsl_ran_exponential(&s.rng, SERVICE_S / ERLANG);
		fprintf(f, "%d,%.6f,1,%.6f\n", i, t, fmax(1e-6, gsl_ran_exponential(&s.rng, SERVICE_S)));
	}
	assert_int_equal(fclose(f), 0);
}

/* The bound between the waits of c - 1 and c servers, in the middle of their
 * logarithms: a factor of 1.6 and more from either, far beyond the noise of the run. */
static void servers_of_erlang(void **state)
{
	char path[] = "/tmp/cotenant-test-XXXXXX.csv";
	int fd = mkstemps(path, 4);
	struct ct_overrides overrides = { 0 };
	struct ct_capacity_request q = { .overrides = &overrides, .lo = 1, .hi = 40, .n_targets = 1, .runs = 1 };
	struct ct_capacity found;
	struct ct_err err = { 0 };

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_jobs(path);
	ct_overrides_add(&overrides, CT_FLAG_TRACE, path);
	ct_overrides_add(&overrides, CT_FLAG_POLICY, "fifo");
	ct_overrides_add(&overrides, CT_FLAG_SET, "cluster.gpus_per_node=1");
	q.target[0] = (struct ct_capacity_target){ .metric = CT_METRIC_mean_wait_s, .is_lower = 1 };
	for (int c = FEWEST; c <= MOST; c++)
		q.target[0].bound[q.target[0].n_bounds++] = sqrt(erlang_wait(c - 1) * erlang_wait(c));
	if (ct_capacity_find(&q, &found, &err))
		fail_msg("%s", err.text);
	unlink(path);
	assert_int_equal(found.n_answers, MOST - FEWEST + 1);
	for (int c = FEWEST; c <= MOST; c++) {
		const struct ct_capacity_answer *a = &found.answer[c - FEWEST];

		print_message("wait below %8.3f s: %2d servers by Erlang, %2d found; wait %8.3f s, by Erlang %8.3f s\n",
			      q.target[0].bound[c - FEWEST], c, (int)a->gpus, a->value[0].value, erlang_wait(c));
		assert_int_equal(a->gpus, c);
		assert_true(a->monotone);
	}
	ct_capacity_fini(&found);
	ct_overrides_fini(&overrides);
}

/* Table of Erlang C, 8 erlangs (any): 10 servers wait with probability 0.4092. */
static void formula(void **state)
{
	(void)state;
	assert_true(fabs(erlang_wait(10) - 0.4092 * 100 / 2) < 0.005 * 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formula),
		cmocka_unit_test(servers_of_erlang),
	};

	gsl_set_error_handler_off();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
