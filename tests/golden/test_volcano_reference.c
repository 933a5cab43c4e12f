/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Volcano's decisions once more, written as plainly as possible from the pseudo-code
 * (arrays, every job looked at in every pass, a tick every second), and compared
 * with the policy, job by job, on small random workloads. Rigid jobs, ties by node
 * number; queues with weight, priority, capability and guarantee; all gates, both
 * disciplines, both orders of nodes; event-driven and in 1 s cycles. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "sim/random.h"
#include "tests/oracle/harness.h"

enum { JOBS = 24, NODES = 4, QUEUES = 3, MAX_PODS = 8 };
enum { PENDING, INQUEUE, RUNNING, DONE };
static const double eps = 1e-4;

struct rjob {
	int64_t submit, duration, start, end; /* microseconds */
	int gpus, priority, queue, phase, held;
	int64_t admitted; /* at */
	int pods, pod[MAX_PODS], node[MAX_PODS], failed;
};

struct rqueue {
	double weight, capability, guarantee, deserved, realcap;
	int priority, allocated, inqueue, request, dropped;
};

struct setting {
	int both, proportion, overcommit; /* gates */
	int fifo, binpack;
	int64_t cycle, lag;
	int n_queues, n_nodes, node_gpus;
};

struct ref {
	struct setting set;
	struct rjob job[JOBS];
	struct rqueue queue[QUEUES];
	int free[NODES], total, used, inqueue;
	int64_t now;
};

/* ---- DERIVE */

static void derive(struct ref *r)
{
	double remaining = r->total, guarantees = 0, before[QUEUES];
	int met[QUEUES] = { 0 };

	r->used = r->inqueue = 0;
	for (int q = 0; q < r->set.n_queues; q++) {
		struct rqueue *x = &r->queue[q];

		x->allocated = x->inqueue = x->request = 0;
		x->deserved = 0;
		guarantees += x->guarantee;
		for (int i = 0; i < JOBS; i++) {
			const struct rjob *j = &r->job[i];

			if (j->queue != q)
				continue;
			x->allocated += j->phase == RUNNING ? j->gpus : 0;
			x->inqueue += j->phase == INQUEUE ? j->gpus : 0;
		}
		x->request = x->allocated + x->inqueue;
		r->used += x->allocated;
		r->inqueue += x->inqueue;
	}
	for (int q = 0; q < r->set.n_queues; q++)
		r->queue[q].realcap = fmin(r->queue[q].capability, r->total - guarantees + r->queue[q].guarantee);
	for (;;) {
		double weights = 0, given = 0;

		for (int q = 0; q < r->set.n_queues; q++)
			if (!met[q])
				weights += r->queue[q].weight;
		if (weights <= 0)
			return;
		for (int q = 0; q < r->set.n_queues; q++) {
			struct rqueue *x = &r->queue[q];

			before[q] = x->deserved;
			if (met[q])
				continue;
			x->deserved = x->deserved + remaining * x->weight / weights;
			if (x->deserved > x->realcap)
				x->deserved = x->realcap;
			if (x->deserved > x->request)
				x->deserved = x->request;
			if (x->deserved < x->guarantee)
				x->deserved = x->guarantee;
			if (x->request <= x->deserved || x->deserved == before[q])
				met[q] = 1;
			given += x->deserved - before[q];
		}
		remaining -= given;
		if (remaining < eps || given == 0)
			return;
	}
}

static double share(const struct rqueue *q)
{
	if (q->deserved == 0)
		return q->allocated == 0 ? 0 : 1;
	return q->allocated / q->deserved;
}

/* Best queue that is not dropped, -1. */
static int best_queue(const struct ref *r)
{
	int best = -1;

	for (int q = 0; q < r->set.n_queues; q++) {
		const struct rqueue *x = &r->queue[q], *b = &r->queue[best < 0 ? 0 : best];

		if (x->dropped)
			continue;
		if (best < 0 || x->priority > b->priority || (x->priority == b->priority && share(x) < share(b)))
			best = q;
	}
	return best;
}

/* Best job of a queue in a phase that has not failed in this pass, -1. Jobs are
 * numbered by submission. */
static int best_job(const struct ref *r, int queue, int phase)
{
	int best = -1;

	for (int i = 0; i < JOBS; i++) {
		const struct rjob *j = &r->job[i];

		if (j->queue != queue || j->phase != phase || j->failed || j->submit > r->now)
			continue;
		if (phase == INQUEUE && j->admitted + r->set.lag * r->set.cycle > r->now)
			continue;
		if (best < 0 || j->priority > r->job[best].priority)
			best = i;
	}
	return best;
}

static void forget_failures(struct ref *r)
{
	for (int i = 0; i < JOBS; i++)
		r->job[i].failed = 0;
	for (int q = 0; q < r->set.n_queues; q++)
		r->queue[q].dropped = 0;
}

/* ---- ENQUEUE */

static int enqueue(struct ref *r)
{
	int any = 0, q, i;

	forget_failures(r);
	while ((q = best_queue(r)) >= 0) {
		struct rqueue *x = &r->queue[q];

		x->dropped = 1;
		while ((i = best_job(r, q, PENDING)) >= 0) {
			struct rjob *j = &r->job[i];
			int ok = 1;

			if (r->set.both || r->set.proportion)
				ok &= j->gpus + x->allocated + x->inqueue <= x->realcap + eps;
			if (r->set.both || r->set.overcommit)
				ok &= r->inqueue + j->gpus <= 1.2 * r->total - r->used + eps;
			if (ok) {
				j->phase = INQUEUE;
				j->admitted = r->now;
				x->inqueue += j->gpus;
				r->inqueue += j->gpus;
				any = 1;
			} else if (r->set.fifo) {
				break;
			}
			j->failed = !ok;
		}
	}
	return any;
}

/* ---- ALLOCATE */

static int pick(const struct ref *r, int g)
{
	int best = -1;

	for (int n = 0; n < r->set.n_nodes; n++) {
		if (r->free[n] < g)
			continue;
		if (best < 0 || (r->set.binpack ? r->free[n] < r->free[best] : r->free[n] > r->free[best]))
			best = n;
	}
	return best;
}

static int place(struct ref *r, struct rqueue *q, struct rjob *j)
{
	int n = 0;

	for (; n < j->pods; n++) {
		int node = pick(r, j->pod[n]);

		if (q->allocated + j->pod[n] > q->deserved + eps || node < 0)
			break;
		j->node[n] = node;
		r->free[node] -= j->pod[n];
		q->allocated += j->pod[n];
	}
	if (n == j->pods)
		return 1;
	while (n--) {
		r->free[j->node[n]] += j->pod[n];
		q->allocated -= j->pod[n];
	}
	return 0;
}

static int allocate(struct ref *r)
{
	int any = 0, q, i;

	forget_failures(r);
	while ((q = best_queue(r)) >= 0) {
		struct rqueue *x = &r->queue[q];
		struct rjob *j;

		i = best_job(r, q, INQUEUE);
		if (i < 0 || x->deserved <= x->allocated + eps) {
			x->dropped = 1;
			continue;
		}
		j = &r->job[i];
		if (place(r, x, j)) {
			j->phase = RUNNING;
			j->start = r->now;
			j->end = r->now + j->duration;
			any = 1;
		} else {
			j->failed = 1;
			x->dropped = r->set.fifo;
		}
	}
	return any;
}

/* ---- time */

static void complete(struct ref *r)
{
	for (int i = 0; i < JOBS; i++) {
		struct rjob *j = &r->job[i];

		if (j->phase != RUNNING || j->end > r->now)
			continue;
		j->phase = DONE;
		for (int n = 0; n < j->pods; n++)
			r->free[j->node[n]] += j->pod[n];
	}
}

static int64_t next_event(const struct ref *r)
{
	int64_t next = INT64_MAX;

	for (int i = 0; i < JOBS; i++) {
		const struct rjob *j = &r->job[i];

		if (j->phase == RUNNING && j->end < next)
			next = j->end;
		if (j->phase == PENDING && j->submit > r->now && j->submit < next)
			next = j->submit;
	}
	return next;
}

static int all_done(const struct ref *r)
{
	for (int i = 0; i < JOBS; i++)
		if (r->job[i].phase != DONE)
			return 0;
	return 1;
}

/* To the end, or until nothing can happen any more: two queues whose admitted gangs
 * are larger than what each deserves wait for each other for ever. */
static void simulate(struct ref *r)
{
	int64_t quiet = 0;

	r->now = -1;
	while (!all_done(r)) {
		int again = 1, any = 0;

		if (next_event(r) == INT64_MAX && (quiet > r->set.lag + 1 || (!r->set.cycle && r->now >= 0)))
			return;
		r->now = r->set.cycle ? (r->now < 0 ? 0 : r->now + r->set.cycle) : next_event(r);
		complete(r);
		while (again) {
			derive(r);
			again = enqueue(r);
			if (r->set.cycle && !r->set.lag)
				derive(r);
			again |= allocate(r);
			any |= again;
			if (r->set.cycle)
				break;
		}
		quiet = any ? 0 : quiet + 1;
	}
}

/* ---- random small worlds */

static uint32_t below(struct ct_stream *s, uint32_t n)
{
	return (uint32_t)gsl_rng_uniform_int(&s->rng, n);
}

static void make_queues(struct ref *r, struct ct_stream *s)
{
	for (int q = 0; q < r->set.n_queues; q++)
		r->queue[q] =
		    (struct rqueue){ .weight = 1 + below(s, 4),
				     .capability = below(s, 2) ? (double)INFINITY : r->total / 2 + 1,
				     .guarantee = r->set.n_queues > 1 ? below(s, (uint32_t)r->total / 8 + 1) : 0,
				     .priority = (int)below(s, 3) == 0 };
}

static void make_jobs(struct ref *r, struct ct_stream *s)
{
	int64_t t = 0;

	for (int i = 0; i < JOBS; i++) {
		struct rjob *j = &r->job[i];
		double guarantees = 0, most;

		t += below(s, 4) ? 250000 * (int64_t)below(s, 40) : 0;
		*j = (struct rjob){ .submit = t,
				    .duration = 1000000 * (int64_t)(1 + below(s, 60)),
				    .start = -1,
				    .end = -1,
				    .priority = (int)below(s, 2),
				    .queue = (int)below(s, (uint32_t)r->set.n_queues) };
		for (int q = 0; q < r->set.n_queues; q++)
			guarantees += r->queue[q].guarantee;
		most = fmin(r->queue[j->queue].capability, r->total - guarantees + r->queue[j->queue].guarantee);
		j->gpus = 1 + (int)below(s, below(s, 3) ? 4 : (uint32_t)most);
		j->gpus = j->gpus < most ? j->gpus : (int)most;
		for (int left = j->gpus; left > 0; left -= r->set.node_gpus)
			j->pod[j->pods++] = left < r->set.node_gpus ? left : r->set.node_gpus;
	}
}

static struct ct_workload *workload_of(const struct ref *r)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };
	char text[24];

	for (int i = 0; i < JOBS; i++) {
		struct ct_job j = CT_JOB_INIT;
		int n = snprintf(text, sizeof text, "%d", i);

		j.id = ct_workload_text(w, text, (size_t)n);
		j.submit_us = r->job[i].submit;
		j.duration_us = r->job[i].duration;
		j.num_gpus = (uint32_t)r->job[i].gpus;
		j.priority = r->job[i].priority;
		n = snprintf(text, sizeof text, "q%d", r->job[i].queue);
		j.group = ct_strings_add(&w->strings, text, (size_t)n);
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static void queues_text(const struct ref *r, char *out, size_t cap)
{
	size_t n = (size_t)snprintf(out, cap, "queues=");

	for (int q = 0; q < r->set.n_queues; q++) {
		const struct rqueue *x = &r->queue[q];

		n += (size_t)snprintf(out + n, cap - n, "q%d:weight=%g,priority=%d,guarantee=%g", q, x->weight,
				      x->priority, x->guarantee);
		if (x->capability < INFINITY)
			n += (size_t)snprintf(out + n, cap - n, ",capability=%g", x->capability);
		n += (size_t)snprintf(out + n, cap - n, ";");
	}
}

static void compare(struct ref *r, uint64_t instance)
{
	struct ct_node_spec nodes = { .count = (uint32_t)r->set.n_nodes,
				      .gpus = (uint32_t)r->set.node_gpus,
				      .gpu_speed = 1 };
	const struct ct_policy *policy = ct_test_policy("volcano");
	char queues[400], cycle[40], lag[40];
	const char *settings[] = { queues,
				   cycle,
				   lag,
				   "queue_by=group",
				   "tie_break=index",
				   r->set.both         ? "gate=both"
				   : r->set.proportion ? "gate=proportion"
				   : r->set.overcommit ? "gate=overcommit"
						       : "gate=off",
				   r->set.fifo ? "discipline=strict_fifo" : "discipline=traverse",
				   r->set.binpack ? "placement=gpu_binpack" : "placement=volcano_default",
				   NULL };
	struct ct_workload *work = workload_of(r);
	struct ct_control_spec spec = {
		.world = { .work = work, .cluster = { &nodes, 1 }, .residents = 1, .until_us = CT_NEVER },
		.policy = policy
	};
	struct ct_world *w;
	void *state;

	queues_text(r, queues, sizeof queues);
	snprintf(cycle, sizeof cycle, "cycle_s=%d", (int)(r->set.cycle / 1000000));
	snprintf(lag, sizeof lag, "admit_lag_cycles=%d", (int)r->set.lag);
	spec.policy_state = state = ct_test_state(policy, settings);
	w = ct_test_run(&spec);
	for (uint32_t i = 0; i < JOBS; i++) {
		const struct ct_outcome *o = &ct_world_outcomes(w)[i];

		if (o->start_us != r->job[i].start || o->finish_us != r->job[i].end)
			fail_msg("instance %d (%s, %s, %s, %s, %s): job %u: reference %g to %g, policy %g to %g",
				 (int)instance, queues, cycle, settings[5], settings[6], settings[7], i,
				 (double)r->job[i].start / 1e6, (double)r->job[i].end / 1e6, (double)o->start_us / 1e6,
				 (double)o->finish_us / 1e6);
	}
	ct_world_free(w);
	ct_workload_free(work);
	free(state);
}

/* Did all jobs end? */
static int compare_instance(uint64_t instance, int64_t cycle)
{
	struct ref r = { 0 };
	struct ct_stream s;
	uint32_t gate;

	ct_stream_init(&s, 1, CT_RANDOM_TEST, instance);
	gate = below(&s, 4);
	r.set = (struct setting){ .both = gate == 0,
				  .proportion = gate == 1,
				  .overcommit = gate == 2,
				  .fifo = below(&s, 3) == 0,
				  .binpack = (int)below(&s, 2),
				  .cycle = cycle,
				  .lag = cycle ? (int64_t)below(&s, 3) : 0,
				  .n_queues = 1 + (int)below(&s, QUEUES),
				  .n_nodes = 1 + (int)below(&s, NODES),
				  .node_gpus = 2 + (int)below(&s, 7) };
	r.total = r.set.n_nodes * r.set.node_gpus;
	for (int n = 0; n < r.set.n_nodes; n++)
		r.free[n] = r.set.node_gpus;
	make_queues(&r, &s);
	make_jobs(&r, &s);
	simulate(&r);
	compare(&r, instance);
	return all_done(&r);
}

static void event_driven(void **state)
{
	int ended = 0;

	(void)state;
	for (uint64_t i = 0; i < 600; i++)
		ended += compare_instance(i, 0);
	assert_in_range(ended, 450, 600);
}

static void in_cycles(void **state)
{
	int ended = 0;

	(void)state;
	for (uint64_t i = 1000; i < 1400; i++)
		ended += compare_instance(i, i % 2 ? 1000000 : 3000000);
	assert_in_range(ended, 300, 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(event_driven), cmocka_unit_test(in_cycles) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
