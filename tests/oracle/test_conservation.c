/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Property test: whatever the workload, the cluster and the policy, no job and no
 * GPU second is lost or made.
 *
 * Random small runs (several node types, partitions, GPU shares, memory, CPU,
 * co-location with random factors, transition costs, windows) under every
 * built-in policy and placement. ct_control_run() ends with ct_world_finish(), the
 * engine's own books; here they are kept a second time from the outcomes alone:
 * states add up, phases add up, work equals the trace's, and at no instant does a
 * GPU hold more than it may, or a job it may not.
 *
 * Once more with nodes and GPUs that fail: after each call of the policy nobody is on a
 * GPU that is down, by outages that are known here without the engine's help; the jobs
 * that can never run are those of the run without failures; all others finish. */
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

enum { ROUNDS = 400, FAILING_ROUNDS = 500, MAX_NODES = 4, MAX_OUTAGES = 16, MAX_THINGS = 12 + 96 };

/* Of the run without failures. A profile run that nothing cuts short may be the only
 * run that a job can have: it fits the profiler's nodes alone. */
enum { RUNS, REJECTED, IN_PROFILER };

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
	uint8_t *rejected;              /* per job, of the run without failures; NULL: nothing fails */
	struct ct_failure_spec failures;
	struct ct_outage outage[MAX_OUTAGES];
	struct cursor {
		struct ct_outage_draw d;
		ct_time down_us; /* of outage k */
		uint32_t k;
	} cursor[MAX_THINGS]; /* by law: of the nodes, then the GPUs */
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

static uint64_t hits; /* jobs stopped by failures in all runs */

static void check_states(const struct setting *s, const struct ct_world *w)
{
	uint64_t count[CT_JOB_STATES] = { 0 };
	struct ct_account a;

	ct_world_account(w, &a);
	hits += a.n_hits;
	for (size_t i = 0; i < s->work->n; i++)
		count[ct_world_outcomes(w)[i].state]++;
	EXPECT(s, count[CT_JOB_FINISHED] == a.finished && count[CT_JOB_REJECTED] == a.rejected &&
		      count[CT_JOB_FAILED] == a.failed);
	EXPECT(s, a.submitted == a.finished + a.rejected + a.failed + a.left);
	EXPECT(s, a.submitted + count[CT_JOB_FUTURE] == s->work->n);
	if (s->until_us == CT_NEVER)
		EXPECT(s, a.left == 0 && a.submitted == s->work->n);
	EXPECT(s, a.held_gpu_s + a.down_gpu_s <= a.capacity_gpu_s * (1 + 1e-12));
	if (!s->failures.outage && !(s->failures.node.mtbf_s > 0))
		EXPECT(s, a.down_gpu_s == 0 && a.n_hits == 0);
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
	if (!s->rejected) /* work that is lost is done again */
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

static void check_rejected(const struct setting *s, const struct ct_world *w)
{
	for (size_t i = 0; s->rejected && i < s->work->n; i++) {
		const struct ct_outcome *o = &ct_world_outcomes(w)[i];

		if (o->state != CT_JOB_FUTURE && s->rejected[i] != IN_PROFILER)
			EXPECT(s, (o->state == CT_JOB_REJECTED) == (s->rejected[i] == REJECTED));
	}
}

static bool has_choice(const struct ct_policy *p, const char *placement)
{
	const struct ct_opt *o = ct_test_option(p, "placement", 9);

	return o && ct_test_choice(o->choices, placement) >= 0;
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
	if (has_choice(p, placement))
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
	spec.world.failures = s->failures;
	spec.policy = p;
	spec.policy_state = state;
	w = ct_test_run(&spec);
	check_states(s, w);
	check_rejected(s, w);
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

/* ---- with failures */

/* Cluster-wide numbers, in the order of the specification. */
static uint32_t n_nodes_of(const struct setting *s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < s->n_nodes; i++)
		n += s->nodes[i].count;
	return n;
}

static uint32_t first_gpu_of(const struct setting *s, uint32_t node, uint32_t *on_node)
{
	uint32_t first = 0;

	for (size_t i = 0; i < s->n_nodes; i++)
		for (uint32_t k = 0; k < s->nodes[i].count; k++, first += s->nodes[i].gpus) {
			*on_node = s->nodes[i].gpus;
			if (!node--)
				return first;
		}
	return first;
}

/* By law: the outages of a thing one after the other, from draws alone. Asked at times
 * that do not decrease. */
static bool down_by_law(struct setting *s, bool gpu, uint32_t number, ct_time now)
{
	struct cursor *c = &s->cursor[gpu ? n_nodes_of(s) + number : number];

	for (;;) {
		if (!c->k && !c->down_us) {
			c->d = ct_failures_draw(&s->failures, s->seed, gpu, number, 0);
			c->down_us = s->work->jobs[0].submit_us + c->d.after_us;
		}
		if (now < c->down_us)
			return false;
		if (now < c->down_us + c->d.lasts_us)
			return true;
		c->down_us += c->d.lasts_us;
		c->d = ct_failures_draw(&s->failures, s->seed, gpu, number, ++c->k);
		c->down_us += c->d.after_us;
	}
}

static bool is_down(struct setting *s, bool gpu, uint32_t number, ct_time now)
{
	ct_time since = now - s->work->jobs[0].submit_us;

	if ((gpu ? s->failures.gpu.mtbf_s : s->failures.node.mtbf_s) > 0)
		return down_by_law(s, gpu, number, now);
	for (size_t i = 0; i < s->failures.n_outages; i++) {
		const struct ct_outage *o = &s->outage[i];

		if ((o->gpu == CT_NONE ? !gpu && o->node == number : gpu && o->gpu == number) && o->down_us <= since &&
		    since < o->up_us)
			return true;
	}
	return false;
}

static struct setting *watched;                /* the present setting and */
static const struct ct_policy *watched_policy; /* policy, for the one that stands in front */

static int schedule_and_look(void *state, const struct ct_view *v, struct ct_plan *p)
{
	int rc = watched_policy->schedule(state, v, p);
	uint32_t gpus[96], on_node = 0;

	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		uint32_t n = v->host->gpus_of(v->host->ctx, job, gpus, 96);

		for (uint32_t i = 0; i < n; i++) {
			EXPECT(watched, !is_down(watched, true, gpus[i], v->now_us));
			EXPECT(watched, !is_down(watched, false, ct_view_gpu(v, gpus[i])->node, v->now_us));
		}
	}
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct ct_view_node *node = ct_view_node(v, i);
		uint32_t first = first_gpu_of(watched, i, &on_node), working = 0;

		for (uint32_t g = first; g < first + on_node; g++)
			working += !is_down(watched, true, g, v->now_us);
		EXPECT(watched, node->up == !is_down(watched, false, i, v->now_us));
		EXPECT(watched, node->down_gpus == on_node - working);
		EXPECT(watched, node->free_milli <= 1000 * (uint64_t)(node->up ? working : 0));
	}
	return rc;
}

/* Of one thing they do not overlap: one a thing. */
static void random_outages(struct setting *s, const gsl_rng *r)
{
	uint32_t n = 1 + below(r, MAX_OUTAGES), on_node = 0;

	s->failures.outage = s->outage;
	for (uint32_t i = 0; i < n; i++) {
		struct ct_outage o = { .node = below(r, n_nodes_of(s)), .gpu = CT_NONE };
		bool again = false;

		if (below(r, 2)) {
			o.gpu = first_gpu_of(s, o.node, &on_node);
			o.gpu += below(r, on_node);
		}
		o.down_us = (ct_time)below(r, 4000) * CT_SECOND;
		o.up_us = o.down_us + (ct_time)(gsl_ran_exponential(r, 800) * 1e6);
		for (size_t k = 0; k < s->failures.n_outages; k++)
			again |= s->outage[k].gpu == o.gpu && (o.gpu != CT_NONE || s->outage[k].node == o.node);
		if (!again)
			s->outage[s->failures.n_outages++] = o;
	}
}

static void random_failures(struct setting *s)
{
	static const double shapes[] = { 0.7, 1, 2.5 };
	struct ct_stream stream;
	const gsl_rng *r = &stream.rng;

	ct_stream_init(&stream, s->seed, CT_RANDOM_TEST, 2);
	s->failures.checkpoint_us = (ct_time)(20 + below(r, 100)) * CT_SECOND;
	s->failures.restart_us = (ct_time)below(r, 20) * CT_SECOND;
	if (below(r, 2)) {
		random_outages(s, r);
		if (below(r, 3) == 0)
			s->failures.checkpoint_us = 0; /* they end, so that every job does without */
		return;
	}
	s->failures.node = (struct ct_failure_law){ 3000 + 10000 * gsl_rng_uniform(r), shapes[below(r, 3)], 300 };
	if (below(r, 2))
		s->failures.gpu =
		    (struct ct_failure_law){ 9000 + 10000 * gsl_rng_uniform(r), shapes[below(r, 3)], 200 };
	s->failures.repair_law = (enum ct_repair_law)below(r, 3);
	s->failures.repair_sigma = 0.8;
}

static void fail_one(struct setting *s, const struct ct_policy *p, const char *placement, uint32_t residents)
{
	struct ct_policy looks = *p;

	looks.schedule = schedule_and_look;
	watched = s;
	watched_policy = p;
	memset(s->cursor, 0, sizeof s->cursor);
	run_one(s, &looks, placement, residents);
}

/* Which jobs a policy can never run, found without failures and without a window. */
static void find_rejected(struct setting *s, const struct ct_policy *p, const char *placement, uint32_t residents)
{
	struct setting calm = *s;
	struct ct_control_spec spec = { 0 };
	char place[32], share[32];
	const char *settings[3] = { NULL };
	size_t n = 0;
	struct ct_world *w;
	void *state;

	snprintf(place, sizeof place, "placement=%s", placement);
	snprintf(share, sizeof share, "residents=%u", residents);
	if (has_choice(p, placement))
		settings[n++] = place;
	if (ct_test_option(p, "residents", 9))
		settings[n++] = share;
	state = ct_test_state(p, settings);
	spec.world = (struct ct_world_spec){ .work = s->work,
					     .cluster = { calm.nodes, calm.n_nodes },
					     .seed = s->seed,
					     .residents = s->residents,
					     .until_us = CT_NEVER,
					     .attain_floor = 0.5 };
	spec.policy = p;
	spec.policy_state = state;
	w = ct_test_run(&spec);
	for (size_t i = 0; i < s->work->n; i++)
		s->rejected[i] = ct_world_outcomes(w)[i].phase_us[CT_PHASE_PROFILE] ? IN_PROFILER
				 : ct_world_outcomes(w)[i].state == CT_JOB_REJECTED ? REJECTED
										    : RUNS;
	ct_world_free(w);
	free(state);
}

static void nothing_is_lost_when_things_fail(void **state)
{
	static const char *const placements[] = { "count", "pack", "pool" };
	const struct ct_policy *p;
	unsigned runs = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= FAILING_ROUNDS; seed++) {
		struct setting s;

		random_setting(&s, seed);
		random_failures(&s);
		s.rejected = ct_calloc(s.work->n, 1);
		for (size_t i = 0; (p = ct_policy_at(i)); i++) {
			const struct ct_opt *o = ct_test_option(p, "placement", 9);
			size_t k = o ? seed % 3 : 0;

			for (size_t tries = 0; o && tries < 3 && ct_test_choice(o->choices, placements[k]) < 0; tries++)
				k = (k + 1) % 3;
			find_rejected(&s, p, placements[k], k < 2 ? s.residents : 1);
			fail_one(&s, p, placements[k], k < 2 ? s.residents : 1);
			runs++;
		}
		free(s.rejected);
		ct_workload_free(s.work);
	}
	print_message("%u runs with failures, %llu jobs stopped by one\n", runs, (unsigned long long)hits);
	assert_true(runs >= FAILING_ROUNDS && hits > runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(nothing_is_lost_when_things_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
