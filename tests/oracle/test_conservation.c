/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Property test: whatever the workload, the cluster and the policy, no job and no
 * GPU second is lost or made.
 *
 * Random small runs (several node types, partitions, GPU shares, memory, CPU,
 * co-location with random factors, transition costs, windows) under every
 * built-in policy and placement. ct_control_run() ends with ct_world_finish(), the
 * engine's own books; here they are kept a second time from the outcomes alone:
 * states add up, phases add up, work equals the trace's, and at no instant does a
 * GPU hold more than it may, or a job it may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/random.h"
#include "tests/oracle/harness.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 400, MAX_NODES = 4 };

static const char *const partitions[] = { "", "blue", "red" };
static const char *const types[] = { "", "old", "new" };
static const double speeds[] = { 1.0, 0.5, 1.75 };

struct setting {
	uint64_t seed;
	struct ct_node_spec nodes[MAX_NODES];
	size_t n_nodes;
	struct ct_workload *work;
	double factor;
	struct ct_contention sharing;
	struct ct_transition rows[3];
	struct ct_transition_table transitions;
	uint32_t residents;
	ct_time warmup_us, until_us;
	int censor;
	const char *policy, *placement; /* of the present run */
};

#define EXPECT(s, cond)                                                                                       \
	do {                                                                                                  \
		if (!(cond))                                                                                  \
			fail_msg("seed %llu, policy %s, placement %s: not %s", (unsigned long long)(s)->seed, \
				 (s)->policy, (s)->placement, #cond);                                         \
	} while (0)

static uint32_t below(const gsl_rng *r, uint32_t n)
{
	return (uint32_t)gsl_rng_uniform_int(r, n);
}

static void random_nodes(struct setting *s, const gsl_rng *r)
{
	s->n_nodes = 1 + below(r, MAX_NODES);
	for (size_t i = 0; i < s->n_nodes; i++) {
		uint32_t type = below(r, 3);

		s->nodes[i] = (struct ct_node_spec){
			.count = 1 + below(r, 3),
			.gpus = 1 + below(r, 8),
			.gpu_type = types[type],
			.gpu_speed = speeds[type],
			.gpu_mem_mib = type == 1 ? 16000 : 40000, /* one fact a type */
			.cpu_milli = below(r, 2) ? 8000 + 8000 * below(r, 8) : 0,
			.mem_mib = below(r, 2) ? 64000 : 0,
			.partition = partitions[below(r, 3)],
		};
	}
}

static struct ct_workload *random_jobs(const gsl_rng *r)
{
	static const uint32_t sizes[] = { 1, 1, 1, 2, 2, 3, 4, 8, 12, 20 };
	struct ct_workload *w = ct_workload_new();
	struct ct_err err = { 0 };
	uint32_t n = 20 + below(r, 80);
	double t = 0, gap = gsl_ran_exponential(r, 60) + 1;

	for (uint32_t i = 0; i < n; i++) {
		struct ct_job job = CT_JOB_INIT;
		const char *partition = partitions[below(r, 3)], *type = below(r, 5) ? "" : types[below(r, 3)];
		char id[32];
		int k = snprintf(id, sizeof id, "j%u", i);

		if (below(r, 4))
			t += floor(gsl_ran_exponential(r, gap)); /* else: a tie */
		job.id = ct_workload_text(w, id, (size_t)k);
		job.submit_us = (ct_time)(t * 1e6);
		job.duration_us = 1 + (ct_time)(gsl_ran_lognormal(r, 4.5, 1.5) * 1e6);
		if (below(r, 3) == 0)
			job.duration_us = (job.duration_us / 60000000 + 1) * 60000000;
		job.requested_us = 2 * job.duration_us;
		job.num_gpus = sizes[below(r, 10)];
		job.gpu_milli = below(r, 3) ? 1000 : 100 + 100 * below(r, 9);
		job.gpu_mem_mib = below(r, 2) ? 1000 * below(r, 24) : 0;
		job.cpu_milli = below(r, 2) ? 500 * (1 + below(r, 40)) : 0;
		job.mem_mib = below(r, 3) ? 0 : 1000 * (1 + below(r, 40));
		job.partition = ct_strings_add(&w->strings, partition, strlen(partition));
		job.gpu_type = ct_strings_add(&w->strings, type, strlen(type));
		ct_workload_add(w, &job);
	}
	if (ct_workload_seal(w, &err))
		fail_msg("%s", err.text);
	return w;
}

static double factor_of(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	return *(const double *)state + 0.01 * ((self->job + 3 * other->job) % 20);
}

static void random_setting(struct setting *s, uint64_t seed)
{
	static const enum ct_transition_kind kinds[] = { CT_TRANSITION_START, CT_TRANSITION_RESUME,
							 CT_TRANSITION_MIGRATE };
	struct ct_stream stream;
	const gsl_rng *r = &stream.rng;

	ct_stream_init(&stream, seed, CT_RANDOM_TEST, 1);
	memset(s, 0, sizeof *s);
	s->seed = seed;
	random_nodes(s, r);
	s->work = random_jobs(r);
	s->factor = 0.3 + 0.5 * gsl_rng_uniform(r);
	s->sharing = (struct ct_contention){ .state = &s->factor, .factor = factor_of };
	for (size_t i = 0; i < 3; i++)
		s->rows[i] = (struct ct_transition){ .kind = kinds[i],
						     .cost_us = (ct_time)below(r, 40) * CT_SECOND / 3,
						     .blocks = 1 };
	s->transitions = (struct ct_transition_table){ s->rows, below(r, 2) ? 3 : 0 };
	s->residents = 1 + below(r, 2);
	s->warmup_us = below(r, 3) ? 0 : 600 * CT_SECOND;
	s->until_us = below(r, 3) ? CT_NEVER : 1800 * CT_SECOND;
	s->censor = s->until_us != CT_NEVER && below(r, 2);
}

static void check_states(const struct setting *s, const struct ct_world *w)
{
	uint64_t count[CT_JOB_STATES] = { 0 };
	struct ct_account a;

	ct_world_account(w, &a);
	for (size_t i = 0; i < s->work->n; i++)
		count[ct_world_outcomes(w)[i].state]++;
	EXPECT(s, count[CT_JOB_FINISHED] == a.finished && count[CT_JOB_REJECTED] == a.rejected &&
		      count[CT_JOB_FAILED] == a.failed);
	EXPECT(s, a.submitted == a.finished + a.rejected + a.failed + a.left);
	EXPECT(s, a.submitted + count[CT_JOB_FUTURE] == s->work->n);
	if (s->until_us == CT_NEVER)
		EXPECT(s, a.left == 0 && a.submitted == s->work->n);
	EXPECT(s, a.held_gpu_s <= a.capacity_gpu_s * (1 + 1e-12));
}

static void check_job(const struct setting *s, const struct ct_world *w, size_t i)
{
	const struct ct_job *j = &s->work->jobs[i];
	const struct ct_outcome *o = &ct_world_outcomes(w)[i];
	double solo = ct_seconds(j->duration_us);
	ct_time sum = 0, run_us;

	if (o->state == CT_JOB_REJECTED)
		EXPECT(s, o->reason != CT_REASON_NONE && o->start_us == -1);
	if (o->state != CT_JOB_FINISHED)
		return;
	for (int p = 0; p < CT_PHASES; p++) {
		EXPECT(s, o->phase_us[p] >= 0);
		sum += o->phase_us[p];
	}
	EXPECT(s, sum == o->finish_us - j->submit_us);
	EXPECT(s, o->start_us >= j->submit_us);
	EXPECT(s, fabs(o->work_s - solo) <= 1e-6 + 1e-9 * solo);
	/* no faster than on the fastest GPU, no slower than on the slowest among nine neighbours (shares of 0.1) */
	run_us = o->n_starts ? o->phase_us[CT_PHASE_RUN] : o->phase_us[CT_PHASE_PROFILE];
	EXPECT(s, (double)run_us + 2 >= (double)j->duration_us / 1.75);
	EXPECT(s, (double)run_us <= (double)j->duration_us / (0.5 * pow(s->factor, 9)) + 1000);
}

/* Share of GPU `g` that job `i` held at instant `t`; 0 when it was not there.
 * Exact for a job that started once and never moved. */
static uint32_t held(const struct setting *s, const struct ct_world *w, size_t i, uint32_t g, ct_time t)
{
	const struct ct_outcome *o = &ct_world_outcomes(w)[i];

	if (o->start_us < 0 || o->start_us > t || (o->finish_us >= 0 && o->finish_us <= t))
		return 0;
	for (uint32_t k = 0; k < o->n_place; k++) {
		const uint32_t *range = ct_world_places(w) + 2 * ((size_t)o->place + k);

		if (g >= range[0] && g <= range[1])
			return s->work->jobs[i].gpu_milli;
	}
	return 0;
}

/* A cluster with one partition takes jobs that name none, and when the partition
 * has no name either, every job. */
static void check_partition(const struct setting *s, const struct ct_cluster *c, const struct ct_node *node,
			    const struct ct_job *job)
{
	const char *has = c->partitions[node->partition], *wants = ct_strings_text(&s->work->strings, job->partition);

	if (c->n_partitions > 1 || (*has && *wants))
		EXPECT(s, strcmp(has, wants) == 0);
}

/* What is on GPU `g` when job `i` starts there. */
static void check_gpu(const struct setting *s, const struct ct_world *w, size_t i, uint32_t g)
{
	const struct ct_node *node = &ct_world_cluster(w)->nodes[ct_world_cluster(w)->gpus[g].node];
	const struct ct_job *job = &s->work->jobs[i];
	ct_time t = ct_world_outcomes(w)[i].start_us;
	uint32_t milli = 0, n = 0;
	uint64_t mem = 0;

	for (size_t k = 0; k < s->work->n; k++) {
		uint32_t share = held(s, w, k, g, t);

		milli += share;
		n += share > 0;
		mem += share ? s->work->jobs[k].gpu_mem_mib : 0;
	}
	EXPECT(s, milli <= 1000 || n <= s->residents);
	EXPECT(s, mem <= node->gpu_mem_mib);
	if (ct_world_outcomes(w)[i].n_starts) /* not in a profile run */
		check_partition(s, ct_world_cluster(w), node, job);
	if (job->gpu_type)
		EXPECT(s, strcmp(ct_world_cluster(w)->types[node->type].name,
				 ct_strings_text(&s->work->strings, job->gpu_type)) == 0);
}

static void check_places(const struct setting *s, const struct ct_world *w)
{
	for (size_t i = 0; i < s->work->n; i++)
		if (ct_world_outcomes(w)[i].n_starts > 1 || ct_world_outcomes(w)[i].n_preemptions)
			return; /* places are those of the last start only, and no policy here migrates */
	for (size_t i = 0; i < s->work->n; i++) {
		const struct ct_outcome *o = &ct_world_outcomes(w)[i];
		uint32_t n = 0;

		for (uint32_t k = 0; k < o->n_place; k++) {
			const uint32_t *range = ct_world_places(w) + 2 * ((size_t)o->place + k);

			for (uint32_t g = range[0]; g <= range[1]; g++, n++)
				check_gpu(s, w, i, g);
		}
		if (o->start_us >= 0)
			EXPECT(s, n == s->work->jobs[i].num_gpus);
	}
}

static void run_one(struct setting *s, const struct ct_policy *p, const char *placement, uint32_t residents)
{
	char place[32], share[32];
	const char *settings[3] = { NULL };
	size_t n = 0;
	struct ct_control_spec spec = { 0 };
	struct ct_world *w;
	void *state;

	s->policy = p->name;
	s->placement = placement;
	snprintf(place, sizeof place, "placement=%s", placement);
	snprintf(share, sizeof share, "residents=%u", residents);
	if (ct_test_option(p, "placement", 9))
		settings[n++] = place;
	if (ct_test_option(p, "residents", 9))
		settings[n++] = share;
	state = ct_test_state(p, settings);
	spec.world.work = s->work;
	spec.world.cluster = (struct ct_cluster_spec){ s->nodes, s->n_nodes };
	spec.world.contention = &s->sharing;
	spec.world.transitions = &s->transitions;
	spec.world.seed = s->seed;
	spec.world.residents = s->residents;
	spec.world.warmup_us = s->warmup_us;
	spec.world.until_us = s->until_us;
	spec.world.censor = s->censor;
	spec.world.attain_floor = 0.5;
	spec.policy = p;
	spec.policy_state = state;
	w = ct_test_run(&spec);
	check_states(s, w);
	for (size_t i = 0; i < s->work->n; i++)
		check_job(s, w, i);
	if (strcmp(placement, "pool") != 0)
		check_places(s, w);
	ct_world_free(w);
	free(state);
}

static void nothing_is_lost(void **state)
{
	static const char *const placements[] = { "count", "pack", "pool" };
	const struct ct_policy *p;
	unsigned runs = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct setting s;

		random_setting(&s, seed);
		for (size_t i = 0; (p = ct_policy_at(i)); i++) {
			const struct ct_opt *o = ct_test_option(p, "placement", 9);

			for (size_t k = 0; k < 3; k++) {
				if (o ? ct_test_choice(o->choices, placements[k]) < 0 : k > 0)
					continue;
				run_one(&s, p, placements[k], k < 2 ? s.residents : 1);
				runs++;
			}
		}
		ct_workload_free(s.work);
	}
	print_message("%u runs\n", runs);
	assert_true(runs >= ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_lost) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
