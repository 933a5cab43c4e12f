/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renewal theory as the judge of failures: availability, work lost, and the time a
 * job takes, each within three standard errors of its closed form, over replications
 * with seeds of their own. So that a wide error cannot hide a wrong mean, it must also
 * be below 2 % of the expected value. A second error bound guards against a test that
 * cannot fail: the same formula without the effect in question must be rejected.
 *
 * With failures at rate l while up, repairs of mean D, checkpoints each tau of run
 * time (at no cost) and a restart cost of R:
 *	availability of a node that is up at 0, over [0, T], exponential repairs of rate m
 *	                     m/(l+m) + l/(l+m)^2 (1 - e^-(l+m)T) / T    (Barlow and Proschan,
 *	                     Mathematical Theory of Reliability, 1965, ch. 3); any laws,
 *	                     T -> infinity: MTBF / (MTBF + MTTR)
 *	work lost a failure  1/l - tau / (e^(l tau) - 1), the mean of X mod tau, X exponential
 *	time of W work       e^(l R) (1/l + D) (e^(l tau) - 1) for each tau of it (Daly, Future
 *	                     Generation Computer Systems 22, 2006, eq. 13; with downtime Bougeret
 *	                     et al., SC'11), here without cost of a checkpoint; a gang of n GPUs
 *	                     that fail alone has n times the rate */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/random.h"
#include "tests/oracle/harness.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>

enum { REPLICATIONS = 60 };

struct model {
	const char *name;
	uint32_t nodes, gpus;  /* of the cluster */
	uint32_t jobs, wanted; /* all submitted at 0, so many GPUs each */
	double work_s;
	double until_s; /* 0: to the end */
	struct ct_failure_spec failures;
};

static struct ct_workload *make_jobs(const struct model *m)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	for (uint32_t i = 0; i < m->jobs; i++) {
		struct ct_job job = CT_JOB_INIT;
		char id[16];
		int k = snprintf(id, sizeof id, "%u", i);

		job.id = ct_workload_text(w, id, (size_t)k);
		job.duration_us = (ct_time)llround(m->work_s * 1e6);
		job.num_gpus = job.min_gpus = job.max_gpus = m->wanted;
		ct_workload_add(w, &job);
	}
	if (ct_workload_seal(w, &err))
		fail_msg("%s", err.text);
	return w;
}

static struct ct_world *run(const struct model *m, const struct ct_workload *work, uint64_t seed, const char *policy)
{
	struct ct_node_spec node = { .count = m->nodes, .gpus = m->gpus, .gpu_speed = 1 };
	struct ct_control_spec spec = { .policy = ct_test_policy(policy) };
	void *state = ct_test_state(spec.policy, NULL);
	struct ct_world *w;

	spec.policy_state = state;
	spec.world = (struct ct_world_spec){ .work = work,
					     .cluster = { &node, 1 },
					     .seed = seed,
					     .residents = 1,
					     .until_us = m->until_s > 0 ? (ct_time)llround(m->until_s * 1e6) : CT_NEVER,
					     .censor = m->until_s > 0,
					     .record_events = true,
					     .attain_floor = 0.5,
					     .failures = m->failures };
	w = ct_test_run(&spec);
	free(state);
	return w;
}

/* Mean over replications of what `look` sees in a run. */
static double replicate(const struct model *m, double (*look)(const struct ct_world *w), double *error)
{
	double x[REPLICATIONS];
	struct ct_workload *work = make_jobs(m);

	for (uint64_t seed = 1; seed <= REPLICATIONS; seed++) {
		struct ct_world *w = run(m, work, seed, "fifo");

		x[seed - 1] = look(w);
		ct_world_free(w);
	}
	ct_workload_free(work);
	*error = gsl_stats_sd(x, 1, REPLICATIONS) / sqrt(REPLICATIONS);
	return gsl_stats_mean(x, 1, REPLICATIONS);
}

/* `without`: what would come out if the effect in question were missing. */
static void expect(const struct model *m, double (*look)(const struct ct_world *w), double wanted, double without)
{
	double error, mean = replicate(m, look, &error);

	print_message("%-44s expected %12.6g, got %12.6g +- %.2g\n", m->name, wanted, mean, error);
	if (!(fabs(mean - wanted) <= 3 * error))
		fail_msg("%s: expected %g, got %g +- %g", m->name, wanted, mean, error);
	if (!(error < 0.02 * wanted))
		fail_msg("%s: the error %g says too little about %g", m->name, error, wanted);
	if (!(fabs(mean - without) > 3 * error))
		fail_msg("%s: cannot tell %g from %g", m->name, wanted, without);
}

/* ---- availability */

static double availability(const struct ct_world *w)
{
	struct ct_account a;

	ct_world_account(w, &a);
	return 1 - a.down_gpu_s / a.capacity_gpu_s;
}

static void availability_of_a_node(void **state)
{
	const double up = 900, down = 300, until = 300 * (up + down), l = 1 / up, m = 1 / down;
	struct model node = { .name = "availability, exponential",
			      .nodes = 1,
			      .gpus = 2,
			      .jobs = 1,
			      .wanted = 1,
			      .work_s = 1e7,
			      .until_s = until,
			      .failures = { .node = { up, 1, down }, .checkpoint_us = 60 * CT_SECOND } };

	(void)state;
	expect(&node, availability, m / (l + m) + l / ((l + m) * (l + m)) * (1 - exp(-(l + m) * until)) / until, 0.7);
	node.until_s = 3000 * (up + down); /* bursts: a start with all up must not count */
	node.name = "availability, Weibull 0.7, log-normal repairs";
	node.failures.node.shape = 0.7;
	node.failures.repair_law = CT_REPAIR_LOGNORMAL;
	node.failures.repair_sigma = 1;
	expect(&node, availability, up / (up + down), 0.7);
	node.name = "availability, Weibull 3, fixed repairs";
	node.failures.node.shape = 3;
	node.failures.repair_law = CT_REPAIR_FIXED;
	expect(&node, availability, up / (up + down), 0.7);
}

static void availability_of_nodes_and_gpus(void **state)
{
	/* a GPU is up when it and its node are, independently */
	const struct model both = {
		.name = "availability, nodes and GPUs",
		.nodes = 4,
		.gpus = 4,
		.jobs = 1,
		.wanted = 1,
		.work_s = 1e7,
		.until_s = 2e6,
		.failures = { .node = { 5000, 1, 1000 }, .gpu = { 3000, 1, 2000 }, .checkpoint_us = 60 * CT_SECOND }
	};

	(void)state;
	expect(&both, availability, 5.0 / 6 * 3 / 5, 5.0 / 6);
}

/* ---- lost work */

static double lost_a_stop(const struct ct_world *w)
{
	struct ct_account a;

	ct_world_account(w, &a);
	return a.failure_lost_gpu_s / (double)a.n_hits;
}

static double lost_mean(double l, double tau)
{
	return 1 / l - tau / expm1(l * tau);
}

static void work_lost_by_a_failure(void **state)
{
	const double up = 1000, tau = 800;
	struct model m = { .name = "work lost, checkpoint each 0.8 MTBF",
			   .nodes = 1,
			   .gpus = 1,
			   .jobs = 1,
			   .wanted = 1,
			   .work_s = 1e7,
			   .until_s = 4e6,
			   .failures = { .node = { up, 1, 50 }, .checkpoint_us = (ct_time)(tau * 1e6) } };

	(void)state;
	expect(&m, lost_a_stop, lost_mean(1 / up, tau), tau / 2); /* not just half an interval */
	m.name = "work lost, checkpoint each 0.05 MTBF";
	m.failures.checkpoint_us = 50 * CT_SECOND;
	expect(&m, lost_a_stop, lost_mean(1 / up, 50), 50);
	m.name = "work lost, none but at the start";
	m.failures.checkpoint_us = 0;
	expect(&m, lost_a_stop, up, lost_mean(1 / up, tau));
}

/* ---- completion */

static double completion(const struct ct_world *w)
{
	double sum = 0;
	struct ct_account a;

	ct_world_account(w, &a);
	for (uint64_t i = 0; i < a.submitted; i++)
		sum += ct_seconds(ct_world_outcomes(w)[i].finish_us);
	return sum / (double)a.submitted;
}

/* Of `work` in pieces of tau, the last one shorter. */
static double completion_mean(double l, double repair, double restart, double tau, double work)
{
	double whole = floor(work / tau), rest = work - whole * tau;

	return exp(l * restart) * (1 / l + repair) * (whole * expm1(l * tau) + expm1(l * rest));
}

static void time_of_a_job_with_checkpoints(void **state)
{
	const double up = 2000, repair = 300, restart = 120, tau = 700, work = 150 * tau + 400;
	struct model m = { .name = "completion, checkpoints and restarts",
			   .nodes = 1,
			   .gpus = 1,
			   .jobs = 1,
			   .wanted = 1,
			   .work_s = work,
			   .failures = { .node = { up, 1, repair },
					 .repair_law = CT_REPAIR_LOGNORMAL,
					 .repair_sigma = 0.5,
					 .checkpoint_us = (ct_time)(tau * 1e6),
					 .restart_us = (ct_time)(restart * 1e6) } };

	(void)state;
	expect(&m, completion, completion_mean(1 / up, repair, restart, tau, work),
	       completion_mean(1 / up, repair, 0, tau, work));
	m.name = "completion, work lost since the start";
	m.failures.checkpoint_us = 0;
	m.failures.node.repair_s = 1;
	m.work_s = 1800;
	m.jobs = 200; /* one after the other: their sum of ends says less than one end, so the mean of them */
	expect(&m, completion, (m.jobs + 1) / 2.0 * exp(restart / up) * (up + 1) * expm1(1800 / up),
	       (m.jobs + 1) / 2.0 * 1800);
}

static void time_of_a_gang(void **state)
{
	/* Of 4 GPUs on 2 nodes that fail alone, one in 2000 s, up at once again. */
	const double l = 4.0 / 2000, tau = 300, work = 300 * tau;
	struct model m = { .name = "completion of a gang of 4 GPUs",
			   .nodes = 2,
			   .gpus = 2,
			   .jobs = 1,
			   .wanted = 4,
			   .work_s = work,
			   .failures = { .gpu = { 2000, 1, 0 },
					 .repair_law = CT_REPAIR_FIXED,
					 .checkpoint_us = (ct_time)(tau * 1e6),
					 .restart_us = 60 * CT_SECOND } };

	(void)state;
	expect(&m, completion, completion_mean(l, 0, 60, tau, work), completion_mean(l / 4, 0, 60, tau, work));
}

/* ---- the same under every policy */

static size_t failures_of(const struct ct_world *w, struct ct_happening *out, size_t cap, ct_time end)
{
	size_t n, k = 0;
	const struct ct_happening *h = ct_world_happenings(w, &n);

	for (size_t i = 0; i < n && k < cap; i++)
		if (h[i].time < end && (h[i].kind == CT_DID_NODE_DOWN || h[i].kind == CT_DID_NODE_UP ||
					h[i].kind == CT_DID_GPU_DOWN || h[i].kind == CT_DID_GPU_UP))
			out[k++] = h[i];
	return k;
}

static void every_policy_sees_the_same_failures(void **state)
{
	enum { MOST = 4096 };
	const struct model m = { .name = "",
				 .nodes = 5,
				 .gpus = 4,
				 .jobs = 40,
				 .wanted = 3,
				 .work_s = 5000,
				 .failures = { .node = { 9000, 0.7, 600 },
					       .gpu = { 20000, 1, 900 },
					       .repair_law = CT_REPAIR_LOGNORMAL,
					       .repair_sigma = 1.94,
					       .checkpoint_us = 100 * CT_SECOND } };
	struct ct_happening *first = ct_calloc(MOST, sizeof *first), *other = ct_calloc(MOST, sizeof *other);
	struct ct_workload *work = make_jobs(&m);
	const struct ct_policy *p;
	struct ct_world *fifo = run(&m, work, 7, "fifo");

	(void)state;
	for (size_t i = 0; (p = ct_policy_at(i)); i++) {
		struct ct_world *w = run(&m, work, 7, p->name);
		ct_time end = ct_world_now(w) < ct_world_now(fifo) ? ct_world_now(w) : ct_world_now(fifo);
		size_t n = failures_of(fifo, first, MOST, end);

		assert_true(n > 20 && n < MOST);
		assert_int_equal(failures_of(w, other, MOST, end), n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(first[k].time, other[k].time);
			assert_int_equal(first[k].kind, other[k].kind);
			assert_int_equal(first[k].subject, other[k].subject);
		}
		ct_world_free(w);
	}
	ct_world_free(fifo);
	ct_workload_free(work);
	free(first);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(availability_of_a_node), cmocka_unit_test(availability_of_nodes_and_gpus),
		cmocka_unit_test(work_lost_by_a_failure), cmocka_unit_test(time_of_a_job_with_checkpoints),
		cmocka_unit_test(time_of_a_gang),         cmocka_unit_test(every_policy_sees_the_same_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
