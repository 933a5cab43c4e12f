/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every simple policy against an independent brute-force simulator (brute.h), job
 * by job, on small random workloads: dense enough to block, with ties, on clusters
 * of one to six nodes, with GPU types, CPUs, partitions, and estimates that are
 * wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/random.h"
#include "tests/oracle/brute.h"
#include "tests/oracle/harness.h"

#include <stdio.h>

enum { WORKLOADS = 300, PARTITIONS = 2 };

/* What a test varies. */
struct family {
	const char *policy;
	struct brute_rules rules;
	int pack, types, cpus, partitions, estimates; /* flags */
	int pool;                                     /* one node, its GPUs a pool: the same as counting them */
	int share;  /* a job of half a GPU comes and goes first: the reservation is played through, not counted */
	int couple; /* jobs of one GPU, two to a GPU without slow-down: the same as twice the GPUs */
	const char *settings[5];
};

struct drawn {
	struct brute_cluster cluster;
	struct brute_job jobs[BRUTE_JOBS];
	int partition[BRUTE_JOBS];
	int n;
	int64_t unit; /* microseconds: estimates off by one microsecond must matter, too */
};

static int draw(gsl_rng *rng, int below)
{
	return (int)gsl_rng_uniform_int(rng, (unsigned long)below);
}

static int draw_size(gsl_rng *rng, int most)
{
	static const int sizes[] = { 1, 1, 1, 2, 2, 3, 4, 6, 8, 12 };
	int size = draw(rng, 12) ? sizes[draw(rng, 10)] : most;

	return size < most ? size : most;
}

static void draw_cluster(const struct family *f, gsl_rng *rng, struct brute_cluster *c)
{
	int nodes = f->pool ? 1 : 1 + draw(rng, f->couple ? 3 : 6);

	c->per_node = 1 + draw(rng, 8);
	if (f->couple)
		c->per_node = 2 + 2 * draw(rng, 2);
	c->gpus = nodes * c->per_node;
	c->pack = f->pack;
	c->first_type1 = f->types ? (nodes + 1) / 2 * c->per_node : c->gpus;
	c->cpus_per_node = f->cpus ? 4 * c->per_node : 0;
}

static void draw_workload(const struct family *f, gsl_rng *rng, struct drawn *d)
{
	int64_t t = f->share ? 10 : 0;

	draw_cluster(f, rng, &d->cluster);
	d->n = 1 + draw(rng, BRUTE_JOBS);
	d->unit = draw(rng, 2) ? 1 : 1000000;
	for (int i = 0; i < d->n; i++) {
		struct brute_job *j = &d->jobs[i];
		int longest = draw(rng, 4) ? 20 : 100, gpus0 = d->cluster.first_type1;

		t += draw(rng, 3) ? draw(rng, 8) : 0;
		j->submit = t * d->unit;
		j->duration = (1 + draw(rng, longest)) * d->unit;
		j->estimate = f->estimates ? (1 + draw(rng, longest)) * d->unit : j->duration;
		j->type = f->types && gpus0 < d->cluster.gpus ? draw(rng, 3) - 1 : -1;
		j->gpus = draw_size(rng, j->type < 0 ? d->cluster.gpus : (j->type ? d->cluster.gpus - gpus0 : gpus0));
		if (f->couple)
			j->gpus = 1;
		j->cpus = f->cpus ? draw(rng, 4 * j->gpus + 1) : 0;
		d->partition[i] = f->partitions ? draw(rng, PARTITIONS) : 0;
	}
}

/* The same workload for the engine. */
static struct ct_workload *workload_of(const struct family *f, const struct drawn *d)
{
	static const char *const partition[PARTITIONS] = { "one", "two" };
	static const char *const type[2] = { "type0", "type1" };
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };

	if (f->share) {
		struct ct_job job = CT_JOB_INIT;

		job.id = "share";
		job.duration_us = job.requested_us = 1;
		job.gpu_milli = 500;
		job.partition = ct_strings_add(&w->strings, partition[0], 3);
		ct_workload_add(w, &job);
	}
	for (int i = 0; i < d->n; i++) {
		const struct brute_job *b = &d->jobs[i];
		struct ct_job job = CT_JOB_INIT;
		char id[16];

		job.id = ct_workload_text(w, id, (size_t)snprintf(id, sizeof id, "j%d", i));
		job.submit_us = b->submit;
		job.duration_us = b->duration;
		job.requested_us = b->estimate;
		job.num_gpus = (uint32_t)b->gpus;
		job.cpu_milli = (uint32_t)b->cpus * 1000;
		job.partition = ct_strings_add(&w->strings, partition[d->partition[i]], 3);
		if (b->type >= 0)
			job.gpu_type = ct_strings_add(&w->strings, type[b->type], 5);
		ct_workload_add(w, &job);
	}
	if (ct_workload_seal(w, &err))
		fail_msg("%s", err.text);
	return w;
}

/* Each partition is a cluster of the drawn shape. */
static size_t nodes_of(const struct family *f, const struct brute_cluster *c, struct ct_node_spec *out)
{
	int partitions = f->partitions ? PARTITIONS : 1, residents = f->couple ? 2 : 1;
	size_t n = 0;

	for (int p = 0; p < partitions; p++)
		for (int type = 0; type < 2; type++) {
			int gpus = type ? c->gpus - c->first_type1 : c->first_type1;

			if (gpus)
				out[n++] = (struct ct_node_spec){ .count = (uint32_t)(gpus / c->per_node),
								  .gpus = (uint32_t)(c->per_node / residents),
								  .gpu_type = type ? "type1" : "type0",
								  .gpu_speed = 1,
								  .cpu_milli = (uint32_t)c->cpus_per_node * 1000,
								  .partition = p ? "two" : "one" };
		}
	return n;
}

/* By brute force, a partition at a time. A job that never runs (its CPUs are on no
 * node) would tell nothing: such a workload is not used. */
static int brute_all(const struct family *f, const struct drawn *d, int64_t *start, int64_t *finish)
{
	for (int p = 0; p < PARTITIONS; p++) {
		struct brute_job mine[BRUTE_JOBS];
		int64_t s[BRUTE_JOBS], e[BRUTE_JOBS];
		int index[BRUTE_JOBS], n = 0;

		for (int i = 0; i < d->n; i++)
			if (d->partition[i] == p) {
				index[n] = i;
				mine[n++] = d->jobs[i];
			}
		if (n && brute_run(&d->cluster, &f->rules, mine, n, s, e))
			return 1;
		for (int i = 0; i < n; i++) {
			start[index[i]] = s[i];
			finish[index[i]] = e[i];
		}
	}
	return 0;
}

static void compare(const struct family *f, const struct drawn *d, int number, const int64_t *start,
		    const int64_t *finish)
{
	const struct ct_policy *policy = ct_test_policy(f->policy);
	struct ct_workload *work = workload_of(f, d);
	struct ct_node_spec nodes[2 * PARTITIONS];
	struct ct_control_spec spec = { .policy = policy, .policy_state = ct_test_state(policy, f->settings) };
	const struct ct_outcome *o;
	struct ct_world *w;

	spec.world.work = work;
	spec.world.cluster = (struct ct_cluster_spec){ nodes, nodes_of(f, &d->cluster, nodes) };
	spec.world.residents = f->couple ? 2 : 1;
	spec.world.until_us = CT_NEVER;
	spec.world.attain_floor = 0.5;
	w = ct_test_run(&spec);
	o = ct_world_outcomes(w) + (f->share ? 1 : 0);
	for (int i = 0; i < d->n; i++)
		if (o[i].start_us != start[i] || o[i].finish_us != finish[i])
			fail_msg(
			    "%s, workload %d of %d jobs on %dx%d: job %d ran %lld..%lld, by brute force %lld..%lld",
			    f->policy, number, d->n, d->cluster.gpus / d->cluster.per_node, d->cluster.per_node, i,
			    (long long)o[i].start_us, (long long)o[i].finish_us, (long long)start[i],
			    (long long)finish[i]);
	ct_world_free(w);
	ct_workload_free(work);
	free((void *)(uintptr_t)spec.policy_state);
}

static void check_family(const struct family *f, uint64_t seed)
{
	int used = 0, waited = 0;

	for (int k = 0; k < WORKLOADS; k++) {
		int64_t start[BRUTE_JOBS], finish[BRUTE_JOBS];
		struct family scaled = *f;
		struct ct_stream s;
		struct drawn d;

		ct_stream_init(&s, seed, CT_RANDOM_TEST, (uint64_t)k);
		draw_workload(f, &s.rng, &d);
		scaled.rules.threshold *= d.unit;
		if (f->rules.policy == BRUTE_LAS)
			scaled.settings[2] = d.unit == 1 ? "threshold=0.000040" : "threshold=40";
		if (brute_all(&scaled, &d, start, finish))
			continue;
		used++;
		for (int i = 0; i < d.n; i++)
			waited += start[i] > d.jobs[i].submit;
		compare(&scaled, &d, k, start, finish);
	}
	assert_true(used >= 200);
	assert_true(waited > 1000); /* the workloads do block */
}

#define FAMILY(name_, seed_, ...)                        \
	static void test_##name_(void **state)           \
	{                                                \
		const struct family f = { __VA_ARGS__ }; \
		(void)state;                             \
		check_family(&f, seed_);                 \
	}

FAMILY(fifo_count, 1, .policy = "fifo", .rules = { BRUTE_FIFO, 0, 0, 0 }, .types = 1, .settings = { "placement=count" })
FAMILY(fifo_pack, 2, .policy = "fifo", .rules = { BRUTE_FIFO, 0, 0, 0 }, .pack = 1, .settings = { "placement=pack" })
FAMILY(fifo_partitions, 3, .policy = "fifo", .rules = { BRUTE_FIFO, 0, 0, 0 }, .partitions = 1, .cpus = 1)
FAMILY(firstfit_count, 4, .policy = "firstfit", .rules = { BRUTE_FIRSTFIT, 0, 0, 0 }, .types = 1, .cpus = 1)
FAMILY(firstfit_pack, 5, .policy = "firstfit", .rules = { BRUTE_FIRSTFIT, 0, 0, 0 }, .pack = 1, .partitions = 1,
       .settings = { "placement=pack" })
FAMILY(sjf_count, 6, .policy = "sjf", .rules = { BRUTE_SJF, 0, 0, 0 }, .types = 1)
FAMILY(sjf_pack, 7, .policy = "sjf", .rules = { BRUTE_SJF, 0, 0, 0 }, .pack = 1, .estimates = 1,
       .settings = { "placement=pack", "estimate=column" })
FAMILY(sjf_skip, 8, .policy = "sjf", .rules = { BRUTE_SJF, 1, 0, 0 }, .types = 1, .partitions = 1,
       .settings = { "on_block=skip" })
FAMILY(sjf_order_by, 9, .policy = "fifo", .rules = { BRUTE_SJF, 1, 0, 0 }, .estimates = 1, .cpus = 1,
       .settings = { "order_by=requested_time", "on_block=skip" })
FAMILY(easy_count, 10, .policy = "easy", .rules = { BRUTE_EASY, 0, 0, 0 })
FAMILY(easy_count_wrong, 11, .policy = "easy", .rules = { BRUTE_EASY, 0, 0, 0 }, .estimates = 1, .partitions = 1,
       .settings = { "estimate=column" })
FAMILY(easy_count_types, 12, .policy = "easy", .rules = { BRUTE_EASY, 0, 0, 0 }, .estimates = 1, .types = 1,
       .settings = { "estimate=column" })
FAMILY(easy_count_cpus, 13, .policy = "easy", .rules = { BRUTE_EASY, 0, 0, 0 }, .types = 1, .cpus = 1)
FAMILY(easy_pack, 14, .policy = "easy", .rules = { BRUTE_EASY, 0, 0, 0 }, .pack = 1, .settings = { "placement=pack" })
FAMILY(easy_pack_wrong, 15, .policy = "easy", .rules = { BRUTE_EASY, 0, 0, 0 }, .pack = 1, .estimates = 1,
       .partitions = 1, .settings = { "placement=pack", "estimate=column" })
FAMILY(srtf_count, 16, .policy = "srtf", .rules = { BRUTE_SRTF, 0, 0, 0 }, .partitions = 1)
FAMILY(srtf_pack, 17, .policy = "srtf", .rules = { BRUTE_SRTF, 0, 0, 0 }, .pack = 1, .settings = { "placement=pack" })
FAMILY(las_count, 18, .policy = "las", .rules = { BRUTE_LAS, 0, 40, 0 }, .partitions = 1,
       .settings = { "promote=0", "placement=count" })
FAMILY(las_pack, 19, .policy = "las", .rules = { BRUTE_LAS, 0, 40, 0 }, .pack = 1,
       .settings = { "promote=0", "placement=pack" })
FAMILY(las_promote, 20, .policy = "las", .rules = { BRUTE_LAS, 0, 40, 2 },
       .settings = { "promote=2", "placement=count" })
FAMILY(firstfit_pool, 21, .policy = "firstfit", .rules = { BRUTE_FIRSTFIT, 0, 0, 0 }, .pool = 1, .cpus = 1,
       .settings = { "placement=pool" })
FAMILY(easy_pool, 22, .policy = "easy", .rules = { BRUTE_EASY, 0, 0, 0 }, .pool = 1, .cpus = 1, .estimates = 1,
       .settings = { "placement=pool", "estimate=column" })
FAMILY(srtf_pool, 23, .policy = "srtf", .rules = { BRUTE_SRTF, 0, 0, 0 }, .pool = 1, .settings = { "placement=pool" })
FAMILY(easy_share, 24, .policy = "easy", .rules = { BRUTE_EASY, 0, 0, 0 }, .share = 1, .types = 1, .estimates = 1,
       .settings = { "estimate=column" })
FAMILY(fifo_couple, 25, .policy = "fifo", .rules = { BRUTE_FIFO, 0, 0, 0 }, .couple = 1, .settings = { "residents=2" })
FAMILY(sjf_couple, 26, .policy = "sjf", .rules = { BRUTE_SJF, 1, 0, 0 }, .couple = 1,
       .settings = { "residents=2", "on_block=skip", "placement=pack" })
FAMILY(easy_couple, 27, .policy = "easy", .rules = { BRUTE_EASY, 0, 0, 0 }, .couple = 1, .estimates = 1,
       .settings = { "residents=2", "estimate=column" })
FAMILY(srtf_couple, 28, .policy = "srtf", .rules = { BRUTE_SRTF, 0, 0, 0 }, .couple = 1, .settings = { "residents=2" })
FAMILY(las_couple, 29, .policy = "las", .rules = { BRUTE_LAS, 0, 40, 0 }, .couple = 1,
       .settings = { "residents=2", "placement=pack" })

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fifo_count),       cmocka_unit_test(test_fifo_pack),
		cmocka_unit_test(test_fifo_partitions),  cmocka_unit_test(test_firstfit_count),
		cmocka_unit_test(test_firstfit_pack),    cmocka_unit_test(test_sjf_count),
		cmocka_unit_test(test_sjf_pack),         cmocka_unit_test(test_sjf_skip),
		cmocka_unit_test(test_sjf_order_by),     cmocka_unit_test(test_easy_count),
		cmocka_unit_test(test_easy_count_wrong), cmocka_unit_test(test_easy_count_types),
		cmocka_unit_test(test_easy_count_cpus),  cmocka_unit_test(test_easy_pack),
		cmocka_unit_test(test_easy_pack_wrong),  cmocka_unit_test(test_srtf_count),
		cmocka_unit_test(test_srtf_pack),        cmocka_unit_test(test_las_count),
		cmocka_unit_test(test_las_pack),         cmocka_unit_test(test_las_promote),
		cmocka_unit_test(test_firstfit_pool),    cmocka_unit_test(test_easy_pool),
		cmocka_unit_test(test_srtf_pool),        cmocka_unit_test(test_easy_share),
		cmocka_unit_test(test_fifo_couple),      cmocka_unit_test(test_sjf_couple),
		cmocka_unit_test(test_easy_couple),      cmocka_unit_test(test_srtf_couple),
		cmocka_unit_test(test_las_couple),

	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
