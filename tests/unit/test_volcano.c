/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Volcano's parts against figures of its specification, brute force, and invariants
 * that are looked at after every decision of random runs. */
#include "scheduler/volcano/volcano.h"

#include "scheduler/builtin.h"
#include "scheduler/control.h"
#include "scheduler/registry.h"
#include "sim/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/oracle/harness.h"

static uint32_t below(struct ct_stream *s, uint32_t n)
{
	return (uint32_t)gsl_rng_uniform_int(&s->rng, n);
}

/* ---- shares */

static struct ct_vol_claimant claimant(double weight, double request)
{
	return (struct ct_vol_claimant){ .weight = weight, .realcap = 64, .request = request };
}

/* specs/volcano.md 5.1, row 5: 64 GPUs. */
static void water_filling(void **state)
{
	struct ct_vol_claimant a[] = { claimant(1, 64), claimant(3, 64) };
	struct ct_vol_claimant b[] = { claimant(1, 64), claimant(3, 20) };
	struct ct_vol_claimant c[] = { claimant(1, 64), claimant(1, 12) };

	(void)state;
	ct_vol_water_fill(a, 2, 64);
	assert_true(a[0].deserved == 16 && a[1].deserved == 48);
	ct_vol_water_fill(b, 2, 64);
	assert_true(b[0].deserved == 44 && b[1].deserved == 20);
	ct_vol_water_fill(c, 2, 64);
	assert_true(c[0].deserved == 52 && c[1].deserved == 12);
}

/* Capability 10 of the first: 10, and the rest, 54, by 1:1 with a request of 20: 34. A
 * guarantee is deserved without any request. */
static void water_filling_with_limits(void **state)
{
	struct ct_vol_claimant q[] = { claimant(2, 64), claimant(1, 20), claimant(1, 64) };
	struct ct_vol_claimant g[] = { claimant(1, 64), claimant(1, 0) };

	(void)state;
	q[0].realcap = 10;
	ct_vol_water_fill(q, 3, 64);
	assert_true(q[0].deserved == 10 && q[1].deserved == 20 && q[2].deserved == 34);
	g[0].realcap = 56;
	g[1].guarantee = 8;
	ct_vol_water_fill(g, 2, 64);
	assert_true(g[0].deserved == 56 && g[1].deserved == 8);
}

/* ---- nodes without a world */

struct bare {
	struct ct_volcano s;
	struct ct_vol_cell cell;
	struct ct_vol_shape shape[2];
	struct ct_vol_node node[16];
	uint32_t number[16], tied[16];
	struct ct_arena arena;
	uint32_t n_nodes;
};

static void bare_shape(struct bare *b, uint32_t shape, uint32_t first, uint32_t n, uint32_t gpus, uint32_t cpu,
		       uint32_t mem)
{
	struct ct_vol_shape *h = &b->shape[shape];

	*h = (struct ct_vol_shape){ .n_gpus = gpus,
				    .gpu_mem_mib = UINT32_MAX,
				    .cpu_milli = cpu,
				    .mem_mib = mem,
				    .node = b->number + first,
				    .n_nodes = n };
	h->by_free = CT_NEW(&b->arena, struct ct_bits, gpus + 1);
	h->n_by_free = CT_NEW(&b->arena, uint32_t, gpus + 1);
	ct_bits_init(&h->levels, &b->arena, gpus + 1);
	for (uint32_t k = 0; k <= gpus; k++)
		ct_bits_init(&h->by_free[k], &b->arena, n);
	for (uint32_t i = 0; i < n; i++) {
		b->number[first + i] = first + i;
		b->node[first + i] = (struct ct_vol_node){
			.shape = shape, .at = i, .up = 1, .gpus = gpus, .cpu_milli = cpu, .mem_mib = mem
		};
		ct_bits_add(&h->by_free[gpus], i);
		h->n_by_free[gpus]++;
	}
	ct_bits_add(&h->levels, gpus);
	b->n_nodes = first + n;
}

static struct bare *bare_new(void)
{
	struct bare *b = ct_calloc(1, sizeof *b);

	b->s.cell = &b->cell;
	b->s.node = b->node;
	b->s.tied = b->tied;
	b->s.opt.s = 0.236;
	b->cell.shape = b->shape;
	return b;
}

static void bare_free(struct bare *b)
{
	free(b->s.level);
	ct_arena_fini(&b->arena);
	free(b);
}

/* specs/volcano.md 2.6: a pod of one GPU asks for half a proportional share of CPU and
 * memory; the node's other pods were alike. 16 cores, 16,000 MiB, 8 GPUs. */
static void full_score(void **state)
{
	const double expected[] = { 196.2, 193.5, 190.8, 188.0, 184.2, 181.5, 178.8, 176.0 };
	const struct ct_vol_pod pod = { 1, CT_ANY, 0, 1000, 1000 };
	struct bare *b = bare_new();

	(void)state;
	bare_shape(b, 0, 0, 1, 8, 16000, 16000);
	b->cell.n_shapes = 1;
	b->cell.limited = true;
	for (uint32_t used = 0; used < 8; used++) {
		double x = ct_vol_score(&b->s, &b->cell, 0, 8 - used, 16000 - 1000 * used, 16000 - 1000 * used, &pod);

		if (fabs(x - expected[used]) > 0.051) /* they are given to one decimal, some cut off */
			fail_msg("%u used: want %g, got %g", used, expected[used], x);
	}
	bare_free(b);
}

/* GPUs alone: -100 s (used + g) / G. */
static void reduced_score(void **state)
{
	const struct ct_vol_pod pod = { 2, CT_ANY, 0, 0, 0 };
	struct bare *b = bare_new();

	(void)state;
	bare_shape(b, 0, 0, 1, 8, UINT32_MAX, UINT32_MAX);
	b->cell.n_shapes = 1;
	assert_true(fabs(ct_vol_score(&b->s, &b->cell, 0, 5, UINT32_MAX, UINT32_MAX, &pod) + 23.6 * 5 / 8) < 1e-12);
	b->s.opt.placement = CT_VOL_GPU_BINPACK;
	assert_true(fabs(ct_vol_score(&b->s, &b->cell, 0, 5, UINT32_MAX, UINT32_MAX, &pod) - 5.0 / 8) < 1e-12);
	bare_free(b);
}

/* The best node by looking at all of them; the lowest number on ties. */
static uint32_t scan(const struct bare *b, const struct ct_vol_pod *pod)
{
	uint32_t best = CT_VOL_NONE;
	double most = 0;

	for (uint32_t i = 0; i < b->n_nodes; i++) {
		const struct ct_vol_node *n = &b->node[i];
		double x;

		if (!n->up || n->gpus < pod->gpus || n->cpu_milli < pod->cpu_milli || n->mem_mib < pod->mem_mib ||
		    !ct_vol_accepts(&b->shape[n->shape], pod))
			continue;
		x = ct_vol_score(&b->s, &b->cell, i, n->gpus, n->cpu_milli, n->mem_mib, pod);
		if (best == CT_VOL_NONE || x > most + 1e-12) {
			best = i;
			most = x;
		}
	}
	return best;
}

/* Nodes of 8 and of 4 GPUs, the latter with or without limited CPU; every placement. */
static void choice_is_that_of_a_scan(void **state)
{
	struct ct_stream r;

	(void)state;
	ct_stream_init(&r, 1, CT_RANDOM_TEST, 7);
	for (int round = 0; round < 400; round++) {
		struct bare *b = bare_new();
		uint32_t cpu = round % 2 ? 16000 : UINT32_MAX;

		bare_shape(b, 0, 0, 1 + below(&r, 8), 8, UINT32_MAX, UINT32_MAX);
		bare_shape(b, 1, b->n_nodes, 1 + below(&r, 7), 4, cpu, UINT32_MAX);
		b->cell.n_shapes = 2;
		b->cell.limited = cpu != UINT32_MAX;
		b->s.opt.placement = round / 2 % 4;
		b->s.opt.tie_break = CT_VOL_TIE_INDEX;
		for (int i = 0; i < 60; i++) {
			struct ct_vol_pod pod = { 1 + below(&r, 8), CT_ANY, 0, 1000 * below(&r, 8), 0 };
			uint32_t node = ct_vol_pick(&b->s, &b->cell, &pod, 0);

			assert_int_equal(node, scan(b, &pod));
			if (node != CT_VOL_NONE)
				ct_vol_node_take(&b->s, node, &pod);
		}
		bare_free(b);
	}
}

/* Ties are broken evenly: 12 nodes alike, 12,000 draws, chi-square with 11 degrees of
 * freedom (0.999 quantile 31.3). */
static void ties_are_uniform(void **state)
{
	const struct ct_vol_pod pod = { 1, CT_ANY, 0, 0, 0 };
	struct bare *b = bare_new();
	double chi = 0, n[12] = { 0 };
	struct ct_stream r;

	(void)state;
	ct_stream_init(&r, 1, CT_RANDOM_TEST, 8);
	bare_shape(b, 0, 0, 12, 8, UINT32_MAX, UINT32_MAX);
	b->cell.n_shapes = 1;
	for (int i = 0; i < 12000; i++)
		n[ct_vol_pick(&b->s, &b->cell, &pod, gsl_rng_uniform(&r.rng))]++;
	for (int i = 0; i < 12; i++)
		chi += (n[i] - 1000) * (n[i] - 1000) / 1000;
	assert_true(chi < 31.3);
	bare_free(b);
}

/* Can k pods of g GPUs be placed, trying every node for each? */
static int search(uint32_t *free_gpus, uint32_t n_nodes, uint32_t g, uint32_t k)
{
	int ok = k == 0;

	for (uint32_t i = 0; i < n_nodes && !ok; i++) {
		if (free_gpus[i] < g)
			continue;
		free_gpus[i] -= g;
		ok = search(free_gpus, n_nodes, g, k - 1);
		free_gpus[i] += g;
	}
	return ok;
}

/* specs/volcano.md 2.4, lemma: greedy placement of pods alike is exact. */
static void gang_of_equal_pods_fits(void **state)
{
	struct ct_stream r;

	(void)state;
	ct_stream_init(&r, 1, CT_RANDOM_TEST, 9);
	for (int round = 0; round < 2000; round++) {
		struct bare *b = bare_new();
		uint32_t n = 1 + below(&r, 4), g = 1 + below(&r, 4), k = 1 + below(&r, 5), free_gpus[4];
		struct ct_vol_class class = { .pod = { g, CT_ANY, 0, 0, 0 } };

		bare_shape(b, 0, 0, n, 8, UINT32_MAX, UINT32_MAX);
		b->cell.n_shapes = 1;
		for (uint32_t i = 0; i < n; i++) {
			struct ct_vol_pod busy = { below(&r, 9), CT_ANY, 0, 0, 0 };

			ct_vol_node_take(&b->s, i, &busy);
			free_gpus[i] = 8 - busy.gpus;
		}
		assert_int_equal(ct_vol_fits(&b->s, &b->cell, &class, k, false), search(free_gpus, n, g, k));
		bare_free(b);
	}
}

/* ---- random runs, looked at after every decision */

struct tally {
	uint64_t calls, most_inqueue_b;
	bool no_gate; /* one queue, no gate: nothing that fits may wait */
};

struct spy {
	struct ct_volcano s;
	struct tally *tally;
};

static void check_gpus(const struct ct_view *v)
{
	for (uint32_t i = 0; i < v->n_gpus; i++)
		assert_in_range(ct_view_gpu(v, i)->n_residents, 0, 1);
}

/* No part of a gang runs alone; each pod is on one node. */
static void check_gang(const struct ct_volcano *s, const struct ct_view *v, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	const struct ct_vol_need *d = &s->job[job].class->need;
	uint32_t gpus[256], n = v->host->gpus_of(v->host->ctx, job, gpus, 256), on[64] = { 0 }, whole = 0, sum = 0;

	assert_in_range(n, j->min_gpus < j->num_gpus ? j->min_gpus : j->num_gpus, j->num_gpus);
	assert_int_equal(n, s->job[job].held);
	for (uint32_t i = 0; i < n; i++)
		on[ct_view_gpu(v, gpus[i])->node]++;
	for (uint32_t i = 0; i < v->n_nodes; i++)
		whole += on[i] / d->pod_gpus;
	assert_true(whole >= n / d->pod_gpus);
	for (uint32_t h = s->job[job].hold; h != CT_VOL_NONE; h = s->hold[h].next)
		sum += s->hold[h].gpus;
	assert_int_equal(sum, n);
}

/* The sums that are kept are the sums over the jobs. */
static void check_sums(const struct ct_volcano *s, const struct ct_view *v)
{
	uint64_t all = 0, sum = 0;

	for (uint32_t c = 0; c < s->n_cells; c++) {
		uint64_t used = 0, inqueue_all = 0;

		for (uint32_t i = 0; i < s->cell[c].n_queues; i++) {
			const struct ct_vol_queue *q = s->cell[c].queue[i];
			uint64_t held = 0, inqueue = 0, elastic = 0, leaving = 0, pending = 0;

			for (uint32_t job = 0; job < s->n_jobs; job++) {
				const struct ct_vol_job *j = &s->job[job];

				if (!j->class || j->class->need.partition != c || j->class->need.queue != i)
					continue;
				if (j->phase == CT_VOL_RUNNING)
					elastic += j->held - j->class->need.min_gpus;
				held += j->held;
				leaving += j->evicting ? j->held : 0;
				inqueue += j->phase == CT_VOL_INQUEUE ? j->class->need.min_gpus : 0;
				pending += j->phase == CT_VOL_PENDING;
			}
			assert_int_equal(q->allocated, held);
			assert_int_equal(q->inqueue, inqueue);
			assert_int_equal(q->elastic, elastic);
			assert_int_equal(q->leaving, leaving);
			assert_int_equal(q->n_pending, pending);
			used += held;
			inqueue_all += inqueue;
		}
		assert_int_equal(s->cell[c].used, used);
		assert_int_equal(s->cell[c].inqueue, inqueue_all);
	}
	for (uint32_t i = 0; i < s->n_cells; i++)
		all += s->cell[i].idle;
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct ct_vol_node *n = &s->node[i];
		uint32_t idle = ct_view_node(v, i)->idle_gpus;

		assert_int_equal(n->gpus, idle > n->claimed_gpus ? idle - n->claimed_gpus : 0);
		sum += n->gpus;
	}
	assert_int_equal(all, sum);
}

/* Nothing that waits would fit: pods of up to a node, alike. */
static void check_no_room(const struct ct_volcano *s, const struct ct_view *v)
{
	for (uint32_t job = v->queue_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		const struct ct_vol_class *k = s->job[job].class;
		uint32_t fit = 0;

		for (uint32_t i = 0; i < v->n_nodes; i++)
			fit += ct_view_node(v, i)->idle_gpus / k->pod.gpus;
		if (k->need.num_gpus % k->pod.gpus == 0)
			assert_true(fit < k->min_pods);
	}
}

static int spy_schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	struct spy *spy = state;
	int rc = ct_policy_volcano.schedule(state, v, p);

	if (rc)
		return rc;
	spy->tally->calls++;
	check_gpus(v);
	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next)
		check_gang(&spy->s, v, job);
	check_sums(&spy->s, v);
	if (spy->tally->no_gate)
		check_no_room(&spy->s, v);
	if (spy->s.n_specs == 2 && spy->s.cell[0].queue[1]->inqueue > spy->tally->most_inqueue_b &&
	    spy->s.cell[0].used == v->n_gpus)
		spy->tally->most_inqueue_b = spy->s.cell[0].queue[1]->inqueue;
	return 0;
}

static struct ct_workload *random_jobs(uint64_t seed, uint32_t n, bool elastic, bool limited)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };
	struct ct_stream s;
	char text[16];
	ct_time t = 0;

	ct_stream_init(&s, seed, CT_RANDOM_TEST, 10);
	for (uint32_t i = 0; i < n; i++) {
		struct ct_job j = CT_JOB_INIT;
		int len = snprintf(text, sizeof text, "%u", i);

		t += 100000 * (ct_time)below(&s, 200);
		j.id = ct_workload_text(w, text, (size_t)len);
		j.submit_us = t;
		j.duration_us = 100000 * (ct_time)(1 + below(&s, 1500));
		j.num_gpus = below(&s, 8) ? 1 + below(&s, 8) : 1 + below(&s, 24);
		j.min_gpus = elastic && below(&s, 3) == 0 ? 1 + below(&s, j.num_gpus) : 0;
		j.priority = (int32_t)below(&s, 3);
		j.cpu_milli = limited ? j.num_gpus * 250 * below(&s, 9) : 0;
		j.mem_mib = limited ? j.num_gpus * 999 : 0;
		len = snprintf(text, sizeof text, "%c", 'A' + (char)below(&s, 2));
		j.group = ct_strings_add(&w->strings, text, (size_t)len);
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static struct ct_world *spy_run(const struct ct_workload *work, const struct ct_cluster_spec *cluster,
				const char *const *settings, uint64_t seed, struct tally *tally)
{
	struct ct_policy policy = ct_policy_volcano;
	struct ct_control_spec spec = {
		.world = { .work = work, .cluster = *cluster, .residents = 1, .until_us = CT_NEVER, .seed = seed },
		.policy = &policy
	};
	struct ct_world *w;
	struct spy *state;

	policy.schedule = spy_schedule;
	policy.state_size = sizeof *state;
	state = ct_test_state(&policy, settings);
	state->tally = tally;
	spec.policy_state = state;
	w = ct_test_run(&spec);
	free(state);
	return w;
}

static const struct ct_node_spec plain[] = { { .count = 5, .gpus = 8, .gpu_speed = 1 } };
static const struct ct_node_spec mixed[] = {
	{ .count = 3, .gpus = 8, .gpu_speed = 1, .cpu_milli = 12000, .mem_mib = 16000 },
	{ .count = 4, .gpus = 4, .gpu_type = "fast", .gpu_speed = 2 },
};

static void invariants_hold(void **state)
{
	static const struct {
		const char *setting[6];
		bool mixed, elastic, no_gate;
	} t[] = {
		{ { NULL }, false, false, false },
		{ { "cycle_s=0", NULL }, false, false, false },
		{ { "cycle_s=0", "gate=off", NULL }, false, false, true },
		{ { "cycle_s=0", "gate=off", "placement=gpu_binpack", NULL }, false, true, false },
		{ { "placement=random", "overcommit_factor=1.5", "gate=overcommit", NULL }, true, true, false },
		{ { "queue_by=group", "sla_s=100", NULL }, true, true, false },
		{ { "sla_s=60", "gate=off", "pod_gpus=2", "cycle_s=0", NULL }, false, true, false },
		{ { "preempt=true", "gate=off", "grace_s=7.5", NULL }, true, true, false },
		{ { "preempt=true", "gate=off", "grace_s=0", "cycle_s=0", NULL }, false, false, false },
		{ { "reclaim=true", "preempt=true", "queue_by=group", "queues=A;B:weight=3", "gate=overcommit", NULL },
		  false,
		  true,
		  false },
		{ { "reclaim=true", "queue_by=group", "queues=A:guarantee=8;B:capability=20", "sla_s=50", NULL },
		  true,
		  true,
		  false },
		{ { "discipline=strict_fifo", "queue_by=group", "cycle_s=2", "admit_lag_cycles=3", NULL },
		  false,
		  true,
		  false },
	};
	const struct ct_cluster_spec cluster[] = { { plain, 1 }, { mixed, 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct ct_workload *work = random_jobs(i, 150, t[i].elastic, t[i].mixed);
		struct tally tally = { .no_gate = t[i].no_gate };
		struct ct_world *a = spy_run(work, &cluster[t[i].mixed], t[i].setting, 3, &tally);
		struct ct_world *b = spy_run(work, &cluster[t[i].mixed], t[i].setting, 3, &tally);

		assert_true(tally.calls > 300);
		/* the same seed, the same schedule */
		assert_memory_equal(ct_world_outcomes(a), ct_world_outcomes(b), work->n * sizeof *ct_world_outcomes(a));
		ct_world_free(a);
		ct_world_free(b);
		ct_workload_free(work);
	}
}

static struct ct_workload *one_priority_jobs(uint64_t seed, uint32_t n)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };
	struct ct_stream s;
	char text[16];
	ct_time t = 0;

	ct_stream_init(&s, seed, CT_RANDOM_TEST, 11);
	for (uint32_t i = 0; i < n; i++) {
		struct ct_job j = CT_JOB_INIT;
		int len = snprintf(text, sizeof text, "%u", i);

		t += CT_SECOND * (ct_time)below(&s, 12);
		j.id = ct_workload_text(w, text, (size_t)len);
		j.submit_us = t;
		j.duration_us = CT_SECOND * (ct_time)(1 + below(&s, 100));
		j.num_gpus = 1 + below(&s, 8);
		ct_workload_add(w, &j);
	}
	assert_int_equal(ct_workload_seal(w, &err), 0);
	return w;
}

static struct ct_world *plain_run(const struct ct_workload *work, const char *name, const char *const *settings)
{
	const struct ct_policy *policy = ct_test_policy(name);
	void *state = ct_test_state(policy, settings);
	struct ct_control_spec spec = {
		.world = { .work = work, .cluster = { plain, 1 }, .residents = 1, .until_us = CT_NEVER },
		.policy = policy,
		.policy_state = state
	};
	struct ct_world *w = ct_test_run(&spec);

	free(state);
	return w;
}

/* Without gate, Volcano is fifo or firstfit: jobs within a node by best fit
 * (placement=pack), or any free GPUs when pods have one GPU (count). Those policies are
 * checked against other engines (tests/oracle/conformance.csv). */
static void without_gate_it_is_fifo_or_firstfit(void **state)
{
	static const struct {
		const char *setting[6], *policy, *other[2];
	} t[] = {
		{ { "discipline=strict_fifo", "cycle_s=0", "tie_break=index", NULL },
		  "fifo",
		  { "placement=pack", NULL } },
		{ { "discipline=traverse", "cycle_s=0", "tie_break=index", NULL },
		  "firstfit",
		  { "placement=pack", NULL } },
		{ { "discipline=strict_fifo", "cycle_s=0", "pod_gpus=1", NULL }, "fifo", { "placement=count", NULL } },
		{ { "discipline=traverse", "cycle_s=0", "pod_gpus=1", NULL }, "firstfit", { "placement=count", NULL } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct ct_workload *work = one_priority_jobs(i, 400);
		struct ct_world *a = plain_run(work, "volcano-nogate", t[i].setting);
		struct ct_world *b = plain_run(work, t[i].policy, t[i].other);
		ct_time waited = 0;

		for (uint32_t k = 0; k < work->n; k++) {
			assert_int_equal(ct_world_outcomes(a)[k].start_us, ct_world_outcomes(b)[k].start_us);
			assert_int_equal(ct_world_outcomes(a)[k].finish_us, ct_world_outcomes(b)[k].finish_us);
			waited += ct_world_outcomes(a)[k].start_us - work->jobs[k].submit_us;
		}
		assert_true(waited > 0);
		ct_world_free(a);
		ct_world_free(b);
		ct_workload_free(work);
	}
}

/* Ties are random: another seed gives another schedule. */
static void seed_matters(void **state)
{
	const struct ct_cluster_spec cluster = { plain, 1 };
	struct ct_workload *work = random_jobs(5, 150, false, false);
	struct tally tally = { 0 };
	struct ct_world *a = spy_run(work, &cluster, NULL, 1, &tally), *b = spy_run(work, &cluster, NULL, 2, &tally);
	uint32_t differ = 0;

	(void)state;
	for (uint32_t i = 0; i < work->n; i++)
		differ += ct_world_outcomes(a)[i].finish_us != ct_world_outcomes(b)[i].finish_us;
	assert_true(differ > 0);
	ct_world_free(a);
	ct_world_free(b);
	ct_workload_free(work);
}

/* specs/volcano.md 5.1, row 6: with A on all 64 GPUs, at most 12 GPUs of B are INQUEUE. */
static void overcommit_limits_inqueue(void **state)
{
	const struct ct_node_spec nodes[] = { { .count = 8, .gpus = 8, .gpu_speed = 1 } };
	const struct ct_cluster_spec cluster = { nodes, 1 };
	const char *settings[] = { "queue_by=group", "queues=A;B", NULL };
	struct ct_workload *work = ct_workload_new();
	struct tally tally = { 0 };
	struct ct_err err = { 0 };
	char text[16];

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct ct_job j = CT_JOB_INIT;
		int len = snprintf(text, sizeof text, "%d", i);

		j.id = ct_workload_text(work, text, (size_t)len);
		j.num_gpus = i < 8 ? 8 : 1;
		j.submit_us = i < 8 ? 0 : 10 * CT_SECOND;
		j.duration_us = 1000 * CT_SECOND;
		j.group = ct_strings_add(&work->strings, i < 8 ? "A" : "B", 1);
		ct_workload_add(work, &j);
	}
	assert_int_equal(ct_workload_seal(work, &err), 0);
	ct_world_free(spy_run(work, &cluster, settings, 1, &tally));
	assert_int_equal(tally.most_inqueue_b, 12);
	ct_workload_free(work);
}

static void queues_text_is_checked(void **state)
{
	static const struct {
		const char *text, *message;
	} t[] = {
		{ "queues=a;b:weight=0", "'policy.queues' has 'weight' out of range" },
		{ "queues=a;a", "'policy.queues' names 'a' twice" },
		{ "queues=:weight=1", "'policy.queues' has a queue without a name: ':weight=1'" },
		{ "queues=a:weigth=1", "'policy.queues' knows no 'weigth'; a queue has weight" },
		{ "queues=a:weight=x", "'policy.queues' wants a number, got 'x'" },
		{ "queues=a:priority=1.5", "'policy.queues' has 'priority' out of range" },
		{ "queues=a:reclaimable=1", "'policy.queues' wants reclaimable=true or false, got '1'" },
		{ "queues=a:capability=2,guarantee=3", "guarantees more than its capability to 'a'" },
		{ "queues=a:guarantee=20;b:guarantee=21", "guarantees more GPUs than a partition has" },
		{ "queue_by=nothing", "'policy.queue_by' wants a column of the trace, got 'nothing'" },
		{ "queues=A", "wants queue 'B', which 'policy.queues' does not have" },
		{ "instances_by=nothing", "'policy.instances_by' wants a column of the trace" },
		{ "instances_by=duration", "order by 'duration' needs the flag" },
		{ "instances_by=submit_time", "'policy.instances_by' wants a column of 1 to 'num_gpus'" },
	};
	struct ct_workload *work = random_jobs(1, 40, false, false);

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		const char *settings[] = { t[i].text, i == 10 ? "queue_by=group" : NULL, NULL };
		struct ct_control_spec spec = {
			.world = { .work = work, .cluster = { plain, 1 }, .residents = 1, .until_us = CT_NEVER },
			.policy = &ct_policy_volcano,
			.policy_state = ct_test_state(&ct_policy_volcano, settings)
		};
		struct ct_world *w = NULL;
		struct ct_err err = { 0 };

		assert_int_equal(ct_control_run(&spec, &w, NULL, &err), CT_EPOLICY);
		if (!strstr(err.text, t[i].message))
			fail_msg("'%s': '%s' lacks '%s'", t[i].text, err.text, t[i].message);
		free((void *)(uintptr_t)spec.policy_state);
	}
	ct_workload_free(work);
}

/* Three profiles, one table: they differ in two defaults. */
static void profiles(void **state)
{
	const struct {
		const char *name, *gate, *placement;
	} t[] = { { "volcano", "both", "volcano_default" },
		  { "volcano-gpubinpack", "both", "gpu_binpack" },
		  { "volcano-nogate", "off", "gpu_binpack" } };
	const struct ct_opt *shipped = ct_policy_volcano.opts;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct ct_policy *p = ct_test_policy(t[i].name);
		size_t k = 0;

		for (; p->opts[k].name; k++) {
			assert_string_equal(p->opts[k].name, shipped[k].name);
			if (!strcmp(p->opts[k].name, "gate"))
				assert_string_equal(p->opts[k].def, t[i].gate);
			else if (!strcmp(p->opts[k].name, "placement"))
				assert_string_equal(p->opts[k].def, t[i].placement);
			else
				assert_string_equal(p->opts[k].def, shipped[k].def);
		}
		assert_null(shipped[k].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(water_filling),
		cmocka_unit_test(water_filling_with_limits),
		cmocka_unit_test(full_score),
		cmocka_unit_test(reduced_score),
		cmocka_unit_test(choice_is_that_of_a_scan),
		cmocka_unit_test(ties_are_uniform),
		cmocka_unit_test(gang_of_equal_pods_fits),
		cmocka_unit_test(invariants_hold),
		cmocka_unit_test(without_gate_it_is_fifo_or_firstfit),
		cmocka_unit_test(seed_matters),
		cmocka_unit_test(overcommit_limits_inqueue),
		cmocka_unit_test(queues_text_is_checked),
		cmocka_unit_test(profiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
