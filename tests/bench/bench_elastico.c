/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an epoch of the policy `elastico` costs with 30 to 2,000 active jobs on 64 to 4,096
 * GPUs, every epoch evaluated: mean CPU time of schedule(), split into the components of
 * the ElastiCo paper's Table 9, with the sizes that the paper's bound
 * O(M (I N K + N^2 F)) speaks of: N active jobs, M rounds and I price updates an epoch,
 * K configurations a job (all, and those that no other beats).
 *
 * Jobs of the twelve workloads on 1 to 8 GPUs, lengths exponential with a mean of an hour;
 * N jobs at the start, and as many an hour after that, so that about N are active (where
 * many wait, more). Five minutes are left out (the predictor is trained in them), 50
 * count. "there": those that run.
 *
 * The split: the linker puts a stop watch around the entries of each component (--wrap,
 * see the Makefile); a second run has it on, and its shares are applied to the first
 * run's total. What it says is each component's own time, callees of other components
 * taken off.
 *	bench_elastico [--strict] [N]    --strict: exit 1 when a limit is missed
 *	bench_elastico --plain N S [crowded]
 *	                                 one run without a watch, S seconds of it counted: its sizes, for whoever
 *	                                 counts the instructions of counted_schedule() (elastico_epoch.sh); with
 *	                                 the linear predictor, which is trained in no time */
#include "calib/belief.h"
#include "calib/truth.h"
#include "scheduler/control.h"
#include "scheduler/elastico/elastico.h"
#include "scheduler/registry.h"
#include "sim/clock.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MODELS = 12, EPOCH_S = 5, WARM_S = 300 };
static int counted_s = 3000;
static const char *const models[MODELS] = { "ResNet-50",     "BERT",      "DCGAN",      "PointNet",
					    "Transformer",   "LSTM",      "NCF",        "PPO",
					    "DeepSeek-1.5b", "Qwen-1.7b", "Mistral-7b", "LLaMA-3-7b" };

/* GPUs that a job asks for: about as many as there are in all, and far too many. */
enum { ENOUGH, CROWDED, SIZES };
static const uint32_t sizes[SIZES][6] = { { 1, 1, 1, 2, 4, 8 }, { 1, 2, 4, 8, 8, 8 } };

static const struct scale {
	uint32_t jobs, gpus;
	double limit_ms; /* 0: none; a tenth of the 4.2 and 13.7 ms of Table 9 and section 5.7 */
} scales[] = { { 30, 64, 0.4 }, { 100, 256, 0 }, { 200, 512, 1.4 }, { 500, 1024, 0 }, { 2000, 4096, 0 } };
enum { SCALES = sizeof scales / sizeof scales[0] };

/* ---- the stop watch: time goes to the component on top of the stack */

enum component { ESP, IAC, PACKING, PDS, COMPONENTS };
static const char *const component_name[COMPONENTS] = { "ESP", "IAC", "packing", "PDS" };

static struct {
	int on;
	enum component stack[64];
	uint32_t depth;
	double since, spent[COMPONENTS];
	uint64_t calls[COMPONENTS];
} watch;

static double clock_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void enter(enum component c)
{
	double now;

	if (!watch.on)
		return;
	now = clock_s(CLOCK_MONOTONIC);
	if (watch.depth)
		watch.spent[watch.stack[watch.depth - 1]] += now - watch.since;
	watch.stack[watch.depth++] = c;
	watch.calls[c]++;
	watch.since = now;
}

static void leave(void)
{
	double now;

	if (!watch.on)
		return;
	now = clock_s(CLOCK_MONOTONIC);
	watch.spent[watch.stack[--watch.depth]] += now - watch.since;
	watch.since = now;
}

/* WRAP(component, type, name, (parameters), (arguments)); the header's declaration is
 * the one that counts, so that a changed one does not compile. */
#define WRAP(c, type, name, parameters, arguments)     \
	__typeof__(name) __real_##name, __wrap_##name; \
	type __wrap_##name parameters                  \
	{                                              \
		type result;                           \
                                                       \
		enter(c);                              \
		result = __real_##name arguments;      \
		leave();                               \
		return result;                         \
	}
#define WRAP_VOID(c, name, parameters, arguments)      \
	__typeof__(name) __real_##name, __wrap_##name; \
	void __wrap_##name parameters                  \
	{                                              \
		enter(c);                              \
		__real_##name arguments;               \
		leave();                               \
	}
#define WORLD struct ct_elastico *e, const struct ct_view *v

WRAP(ESP, uint32_t, ct_esp_tatonnement, (struct ct_esp_market * m, double *price), (m, price))
WRAP_VOID(IAC, ct_iac_update, (WORLD), (e, v))
WRAP(IAC, const struct ct_pair_choice *, ct_iac_fixed, (WORLD, uint32_t family, uint32_t other, uint32_t config),
     (e, v, family, other, config))
WRAP(IAC, const struct ct_pair_choice *, ct_iac_reply, (WORLD, uint32_t family, uint32_t config, uint32_t other),
     (e, v, family, config, other))
WRAP(IAC, const struct ct_pair_choice *, ct_iac_joint, (WORLD, uint32_t family, uint32_t other), (e, v, family, other))
WRAP_VOID(PACKING, ct_pack_scan, (WORLD), (e, v))
WRAP(PACKING, struct ct_elastico_place, ct_pack_find, (WORLD, uint32_t job, double least), (e, v, job, least))
WRAP(PACKING, struct ct_elastico_place, ct_pack_find_shared, (WORLD, uint32_t job, uint32_t want, double least),
     (e, v, job, want, least))
WRAP_VOID(PDS, ct_pds_rounds, (WORLD, struct ct_plan *p), (e, v, p))
WRAP(PDS, int, ct_admit, (WORLD, struct ct_plan *p), (e, v, p))
WRAP(PDS, int, ct_adapt, (WORLD, struct ct_plan *p), (e, v, p))
WRAP_VOID(PDS, ct_adapt_measure, (WORLD, struct ct_plan *p), (e, v, p))

/* ---- the policy with a watch around it */

struct sums {
	const struct ct_policy *inner;
	double cpu_s, jobs, configs, front, rounds, iterations, running;
	uint64_t epochs, families;
};
static struct sums sums; /* a policy has no other way to its host */

static void count_list(struct ct_elastico *e, const struct ct_view *v, uint32_t first)
{
	for (uint32_t job = first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		const struct ct_elastico_family *f = &e->family[e->job[job].family];

		sums.jobs++;
		sums.configs += f->n;
		sums.front += f->n_front;
	}
}

/* By this name a profiler tells the epochs that count. */
__attribute__((noinline)) static int counted_schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	int rc = sums.inner->schedule(state, v, p);

	sums.epochs++; /* and this is no tail call */
	return rc;
}

static int watched_schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	struct ct_elastico *e = state;
	int counts = v->now_us >= WARM_S * CT_SECOND, timed = watch.on, rc;
	uint64_t rounds = e->n_rounds, iterations = e->n_iterations;
	double t;

	if (counts) {
		count_list(e, v, v->running_first);
		count_list(e, v, v->queue_first);
		sums.running += v->n_running;
	}
	watch.on = timed && counts;
	t = clock_s(CLOCK_THREAD_CPUTIME_ID);
	enter(PDS);
	rc = counts ? counted_schedule(state, v, p) : sums.inner->schedule(state, v, p);
	leave();
	t = clock_s(CLOCK_THREAD_CPUTIME_ID) - t;
	watch.on = timed;
	if (counts) {
		sums.cpu_s += t;
		sums.rounds += (double)(e->n_rounds - rounds);
		sums.iterations += (double)(e->n_iterations - iterations);
		sums.families = e->n_families;
	}
	return rc;
}

/* ---- runs */

static void die(const struct ct_err *err)
{
	fprintf(stderr, "bench_elastico: %s\n", err->text);
	exit(1);
}

static struct ct_workload *make_jobs(const struct scale *scale, const uint32_t *size)
{
	struct ct_workload *w = ct_workload_new();
	struct ct_stream s;
	struct ct_err err = { 0 };
	double t = 0;

	ct_stream_init(&s, 24, CT_RANDOM_TEST, scale->jobs);
	for (uint32_t i = 0; t < WARM_S + counted_s; i++) {
		const char *model = models[gsl_rng_uniform_int(&s.rng, MODELS)];
		struct ct_job job = CT_JOB_INIT;
		char id[16];
		int k = snprintf(id, sizeof id, "j%u", (unsigned)i);

		if (i >= scale->jobs)
			t += gsl_ran_exponential(&s.rng, 3600.0 / scale->jobs);
		job.id = ct_workload_text(w, id, (size_t)k);
		job.submit_us = (ct_time)(t * 1e6);
		job.duration_us = 1 + (ct_time)(gsl_ran_exponential(&s.rng, 3600) * 1e6);
		job.num_gpus = size[gsl_rng_uniform_int(&s.rng, 6)];
		job.model = ct_strings_add(&w->strings, model, strlen(model));
		ct_workload_add(w, &job);
	}
	if (ct_workload_seal(w, &err))
		die(&err);
	return w;
}

/* The policy's defaults, written out; then every epoch. */
static void *make_state(const struct ct_policy *p)
{
	char *state = calloc(1, p->state_size);

	if (!state)
		abort();
	for (const struct ct_opt *o = p->opts; o->name; o++) {
		char *at = state + o->offset;
		const char *def = strcmp(o->name, "every_epoch") ? o->def : "true";

		switch (o->type) {
		case CT_OPT_BOOL:
			*(int *)(void *)at = strcmp(def, "true") == 0;
			break;
		case CT_OPT_INT:
			*(int64_t *)(void *)at = strtoll(def, NULL, 10);
			break;
		case CT_OPT_DOUBLE:
			*(double *)(void *)at = strtod(def, NULL);
			break;
		case CT_OPT_SECONDS:
			if (ct_time_parse(def, strlen(def), (ct_time *)(void *)at))
				abort();
			break;
		case CT_OPT_ENUM: /* all defaults are the first choice */
		case CT_OPT_TEXT:
			break;
		}
	}
	return state;
}

struct ground {
	struct ct_workload *work;
	struct ct_truth *truth;
	struct ct_believer *believer;
};

static void run(const struct scale *scale, const struct ground *g, int with_watch)
{
	const struct ct_policy *inner = ct_policy_find("elastico");
	const struct ct_node_spec nodes = { .count = scale->gpus / 8, .gpus = 8, .gpu_speed = 1, .gpu_mem_mib = 40960 };
	struct ct_policy policy = *inner;
	struct ct_control_spec spec = { 0 };
	struct ct_contention contention;
	struct ct_err err = { 0 };
	struct ct_run_perf perf;
	struct ct_world *world;
	void *state = make_state(inner);

	memset(&sums, 0, sizeof sums);
	memset(&watch, 0, sizeof watch);
	sums.inner = inner;
	watch.on = with_watch;
	policy.schedule = watched_schedule;
	contention = ct_truth_contention(g->truth);
	spec.world.work = g->work;
	spec.world.cluster = (struct ct_cluster_spec){ &nodes, 1 };
	spec.world.contention = &contention;
	spec.world.families = ct_truth_families(g->truth);
	spec.world.seed = 1;
	spec.world.residents = 2;
	spec.world.gpu_reserve_mib = 512;
	spec.world.until_us = (WARM_S + counted_s) * CT_SECOND;
	spec.world.censor = true;
	spec.world.attain_floor = 0.6;
	spec.policy = &policy;
	spec.policy_state = state;
	spec.belief = ct_believer_belief(g->believer);
	if (ct_control_run(&spec, &world, &perf, &err))
		die(&err);
	ct_world_free(world);
	free(state);
}

static struct ground ground_new(const struct scale *scale, const uint32_t *size, enum ct_belief_predictor predictor)
{
	const struct ct_truth_options t = { .dir = "calib/a100-40gb", .residual = 1, .seed = 1, .scaling = 0.9 };
	const struct ct_belief_options b = { .predictor = predictor, .seed = 1, .run_seed = 1, .profile_error = 0.03 };
	struct ground g = { .work = make_jobs(scale, size) };
	struct ct_err err = { 0 };

	if (ct_truth_new(&t, g.work, &g.truth, &err) || ct_believer_new(&b, g.truth, &g.believer, &err))
		die(&err);
	return g;
}

static void ground_free(struct ground *g)
{
	ct_believer_free(g->believer);
	ct_truth_free(g->truth);
	ct_workload_free(g->work);
}

/* first: ms and jobs of the first row */
static int bench(const struct scale *scale, const uint32_t *size, double *first)
{
	struct ground g = ground_new(scale, size, CT_BELIEF_DNN);
	struct sums plain;
	double ms, all = 0, n;
	int missed;

	run(scale, &g, 0);
	plain = sums;
	run(scale, &g, 1);
	ground_free(&g);
	n = (double)plain.epochs;
	ms = plain.cpu_s * 1e3 / n;
	if (first[1] == 0) {
		first[0] = ms;
		first[1] = plain.jobs / n;
	}
	for (int c = 0; c < COMPONENTS; c++)
		all += watch.spent[c];
	missed = scale->limit_ms > 0 && ms > scale->limit_ms;
	printf("%5u %6.0f %6.0f %5.2f %5.2f %6.1f %5.1f", (unsigned)scale->gpus, plain.jobs / n, plain.running / n,
	       plain.rounds / n, plain.iterations / plain.rounds, plain.configs / plain.jobs, plain.front / plain.jobs);
	for (int c = 0; c < COMPONENTS; c++)
		printf(" %8.4f", ms * watch.spent[c] / all);
	printf(" %8.4f %8.2f", ms, ms / first[0] / (plain.jobs / n / first[1]));
	if (scale->limit_ms > 0)
		printf("  %.1f %s", scale->limit_ms, missed ? "FAIL" : "PASS");
	printf("\n");
	fflush(stdout);
	return missed;
}

static int table(const uint32_t *size, const char *title, long only)
{
	double first[2] = { 0, 0 };
	int missed = 0;

	printf("%s\n GPUs      N  there     M     I      K front", title);
	for (int c = 0; c < COMPONENTS; c++)
		printf(" %8s", component_name[c]);
	printf(" %8s %8s  limit\n", "total", "growth");
	for (int i = 0; i < SCALES; i++)
		if (!only || only == scales[i].jobs)
			missed |= bench(&scales[i], size, first);
	return missed;
}

static int plain(long jobs, const uint32_t *size)
{
	for (int i = 0; i < SCALES; i++) {
		struct ground g;
		double n;

		if (jobs != scales[i].jobs)
			continue;
		g = ground_new(&scales[i], size, CT_BELIEF_LINEAR);
		run(&scales[i], &g, 0);
		ground_free(&g);
		n = (double)sums.epochs;
		printf("%u %.0f %.0f %.3f %.3f %.2f %.2f %.0f\n", (unsigned)scales[i].gpus, sums.jobs / n,
		       sums.running / n, sums.rounds / n, sums.iterations / sums.rounds, sums.configs / sums.jobs,
		       sums.front / sums.jobs, n);
		return 0;
	}
	fprintf(stderr, "bench_elastico: no row of %ld jobs\n", jobs);
	return 2;
}

int main(int argc, char **argv)
{
	int strict = 0, missed = 0;
	long only = 0;

	if (argc >= 4 && strcmp(argv[1], "--plain") == 0) {
		counted_s = atoi(argv[3]);
		return plain(strtol(argv[2], NULL, 10), sizes[argc > 4 ? CROWDED : ENOUGH]);
	}
	for (int i = 1; i < argc; i++) {
		strict |= strcmp(argv[i], "--strict") == 0;
		only = strtol(argv[i], NULL, 10) > 0 ? strtol(argv[i], NULL, 10) : only;
	}
	printf("elastico, every epoch: mean CPU ms of one, by component; growth: ms a job, the first row's = 1\n");
	missed |= table(sizes[ENOUGH], "jobs of 2.8 GPUs: nearly all run", only);
	missed |= table(sizes[CROWDED], "jobs of 5.2 GPUs: many wait", only);
	return strict && missed;
}
