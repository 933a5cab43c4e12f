/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a policy may ask: the services of policy.h's struct ct_host. */
#include "scheduler/control_state.h"

#include "sim/csv.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Out of memory aborts in sim/memory.c, so uthash never sees NULL. */
#define uthash_malloc(size) ct_calloc(1, (size))
#define uthash_fatal(msg)   ct_check_failed(NULL, "uthash", __FILE__, __LINE__, "%s", (msg))
#include <uthash.h>

/* What a job without a family asks for; no padding, so that bytes compare. */
struct request {
	uint32_t gpu_mem_mib, cpu_milli, mem_mib, sm_bits;
};

/* Its family, in the policy's own layout; equal requests share one. */
struct ct_loose {
	struct request request;
	struct ct_view_family family;
	UT_hash_handle hh;
};

/* The same of a family of the belief. */
struct ct_believed {
	const struct ct_family *key;
	struct ct_view_family family;
	UT_hash_handle hh;
};

static void *host_alloc(void *ctx, size_t bytes)
{
	struct ct_control *c = ctx;

	return ct_arena_alloc(&c->arena, bytes, 64);
}

int ct_control_error(struct ct_control *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	c->plan.failed = 1;
	return ct_err_at(c->err, CT_EPOLICY, NULL, "policy '%s': %s", c->policy->name, text);
}

static int host_fail(void *ctx, const char *message)
{
	struct ct_control *c = ctx;

	return ct_control_error(c, "at t=%.6f s: %s", ct_seconds(c->view.now_us), message);
}

static const char *host_text(void *ctx, uint32_t name)
{
	struct ct_control *c = ctx;

	return name < c->work->strings.n ? ct_strings_text(&c->work->strings, name) : "";
}

static int need_oracle(struct ct_control *c, const char *what)
{
	if (c->policy->flags & CT_POLICY_ORACLE)
		return 0;
	return ct_control_error(c, "%s needs the flag CT_POLICY_ORACLE", what);
}

static int host_estimate(void *ctx, uint32_t job, int mode, double sigma, ct_time *out)
{
	struct ct_control *c = ctx;
	const struct ct_job *j = &c->work->jobs[job];
	struct ct_stream s;
	double us;

	switch (mode) {
	case CT_ESTIMATE_TRUE:
		CT_TRY(need_oracle(c, "the true run time"));
		*out = j->duration_us;
		return 0;
	case CT_ESTIMATE_NOISY:
		ct_stream_init(&s, c->spec->world.seed, CT_RANDOM_ESTIMATE, job);
		us = round((double)j->duration_us * exp(sigma * gsl_ran_gaussian_ziggurat(&s.rng, 1)));
		*out = us < 1 ? 1 : us < (double)CT_TIME_LIMIT ? (ct_time)us : CT_TIME_LIMIT;
		return 0;
	default:
		if (j->requested_us < 0)
			return ct_control_error(c, "job '%s' has no 'requested_time', which estimate=column wants",
						j->id);
		*out = j->requested_us < 1 ? 1 : j->requested_us;
		return 0;
	}
}

/* Canonical columns a policy may ask for: numbers, then texts; extra columns follow. */
enum { COLUMN_DURATION = 1 };
static const char *const canonical[] = { "submit_time", "duration", "num_gpus", "gpu_milli",   "requested_time",
					 "deadline",    "priority", "num_cpus", "gpu_mem_mib", "mem_mib",
					 "sm_frac",     "user",     "group",    "model",       "partition",
					 "gpu_type",    "state" };
enum { N_CANONICAL = sizeof canonical / sizeof *canonical, N_NUMBERS = N_CANONICAL - 6 };

static uint32_t host_column(void *ctx, const char *name)
{
	struct ct_control *c = ctx;

	for (uint32_t i = 0; i < N_CANONICAL; i++)
		if (!strcmp(canonical[i], name))
			return i;
	for (size_t i = 0; i < c->work->n_columns; i++)
		if (!strcmp(c->work->columns[i].name, name))
			return (uint32_t)(N_CANONICAL + i);
	return CT_ANY;
}

static int extra_value(struct ct_control *c, size_t column, uint32_t job, double *out)
{
	const struct ct_extra_column *x = &c->work->columns[column];
	const char *text = ct_strings_text(&c->work->strings, x->value[job]);

	if (ct_parse_f64(text, strlen(text), out))
		return ct_control_error(c, "job '%s': column '%s' wants a number, got '%s'", c->work->jobs[job].id,
					x->name, text);
	return 0;
}

static int host_value(void *ctx, uint32_t column, uint32_t job, double *out)
{
	struct ct_control *c = ctx;
	const struct ct_job *j = &c->work->jobs[job];
	const double value[N_NUMBERS] = { ct_seconds(j->submit_us),
					  ct_seconds(j->duration_us),
					  j->num_gpus,
					  j->gpu_milli,
					  ct_seconds(j->requested_us),
					  ct_seconds(j->deadline_us),
					  j->priority,
					  j->cpu_milli / 1000.0,
					  j->gpu_mem_mib,
					  j->mem_mib,
					  (double)j->sm_frac };

	if (column >= N_CANONICAL)
		return extra_value(c, column - N_CANONICAL, job, out);
	if (column >= N_NUMBERS)
		return ct_control_error(c, "column '%s' is not a number", canonical[column]);
	if (column == COLUMN_DURATION)
		CT_TRY(need_oracle(c, "order by 'duration'"));
	*out = value[column];
	return 0;
}

static const char *host_value_text(void *ctx, uint32_t column, uint32_t job)
{
	struct ct_control *c = ctx;
	const struct ct_job *j = &c->work->jobs[job];
	const uint32_t text[] = { j->user, j->group, j->model, j->partition, j->gpu_type, j->state };

	if (column >= N_CANONICAL + c->work->n_columns || column < N_NUMBERS)
		return "";
	return ct_strings_text(&c->work->strings, column < N_CANONICAL
						      ? text[column - N_NUMBERS]
						      : c->work->columns[column - N_CANONICAL].value[job]);
}

static struct ct_place host_place(void *ctx, uint32_t job, int rule, uint32_t residents)
{
	struct ct_control *c = ctx;

	return ct_placement_find(&c->placement, job, (enum ct_place_rule)rule, residents);
}

static int host_could_place(void *ctx, uint32_t job, int rule)
{
	struct ct_control *c = ctx;

	return ct_placement_possible(&c->placement, job, (enum ct_place_rule)rule);
}

static uint32_t host_gpus_of(void *ctx, uint32_t job, uint32_t *gpus, uint32_t cap)
{
	struct ct_control *c = ctx;
	uint32_t n;
	const struct ct_slot *s = ct_world_job_slots(c->world, job, &n);

	for (uint32_t i = 0; i < n && i < cap; i++)
		gpus[i] = s[i].gpu;
	return n;
}

static double host_random(void *ctx, uint64_t entity, uint64_t draw)
{
	struct ct_control *c = ctx;
	struct ct_stream s;
	/* The counter of one block, as the stream would reach it; its first 53 bits answer. */
	uint32_t counter[4], out[4];

	ct_stream_init(&s, c->spec->world.seed, CT_RANDOM_POLICY, entity);
	memcpy(counter, s.state.counter, sizeof counter);
	counter[0] = (uint32_t)draw;
	counter[1] |= (uint32_t)(draw >> 32) & 0xffffff;
	ct_philox_block(s.state.key, counter, out);
	return (double)(((uint64_t)out[0] << 32 | out[1]) >> 11) * 0x1p-53;
}

static double host_remaining(void *ctx, uint32_t job)
{
	struct ct_control *c = ctx;

	return ct_world_job_remaining_us(c->world, job);
}

static uint32_t host_partition(void *ctx, const char *name)
{
	struct ct_control *c = ctx;

	return ct_cluster_partition(c->cluster, name);
}

/* A job's only configuration, when nothing is known of its model. */
static struct ct_configuration requested(const struct ct_job *j)
{
	return (struct ct_configuration){ .throughput = 1,
					  .sm_frac = j->sm_frac,
					  .gpu_mem_mib = j->gpu_mem_mib,
					  .cpu_milli = j->cpu_milli,
					  .mem_mib = j->mem_mib,
					  .kind = CT_ANY };
}

static void translate(struct ct_control *c, const struct ct_configuration *from, uint32_t n, struct ct_view_family *out)
{
	struct ct_view_config *config = CT_NEW(&c->arena, struct ct_view_config, n);

	for (uint32_t i = 0; i < n; i++)
		config[i] = (struct ct_view_config){ .name = from[i].name,
						     .throughput = from[i].throughput,
						     .sm_frac = (double)from[i].sm_frac,
						     .gpu_mem_mib = from[i].gpu_mem_mib,
						     .cpu_milli = from[i].cpu_milli,
						     .mem_mib = from[i].mem_mib,
						     .kind = from[i].kind };
	out->id = c->n_believed++;
	out->n = n;
	out->config = config;
}

static const struct ct_view_family *believed_family(struct ct_control *c, const struct ct_family *f)
{
	struct ct_believed *b;

	HASH_FIND_PTR(c->believed, &f, b);
	if (b)
		return &b->family;
	b = CT_NEW(&c->arena, struct ct_believed, 1);
	b->key = f;
	b->family.default_config = f->default_config;
	b->family.train = f->train;
	b->family.scaling = f->scaling;
	translate(c, f->config, f->n, &b->family);
	HASH_ADD_PTR(c->believed, key, b);
	return &b->family;
}

/* Jobs without a family: one for each set of equal requests. */
static const struct ct_view_family *requested_family(struct ct_control *c, uint32_t job)
{
	const struct ct_job *j = &c->work->jobs[job];
	struct ct_configuration k = requested(j);
	struct request key = { k.gpu_mem_mib, k.cpu_milli, k.mem_mib, 0 };
	struct ct_loose *l;

	memcpy(&key.sm_bits, &k.sm_frac, sizeof key.sm_bits);
	HASH_FIND(hh, c->loose, &key, sizeof key, l);
	if (l)
		return &l->family;
	l = CT_NEW(&c->arena, struct ct_loose, 1);
	l->request = key;
	l->family.train = -1;
	l->family.scaling = 1;
	translate(c, &k, 1, &l->family);
	HASH_ADD(hh, c->loose, request, sizeof l->request, l);
	return &l->family;
}

static const struct ct_view_family *host_family(void *ctx, uint32_t job, int profiled)
{
	struct ct_control *c = ctx;
	const struct ct_belief *b = c->spec->belief;
	const struct ct_family *const *table = NULL, *f = NULL;

	if (b)
		table = profiled ? b->profiled : b->nearest;
	if (table)
		f = table[job];
	if (!f && c->spec->world.families)
		f = c->spec->world.families[job];
	return f ? believed_family(c, f) : requested_family(c, job);
}

static double host_slowdown(void *ctx, uint32_t self, uint32_t other)
{
	struct ct_control *c = ctx;
	const struct ct_belief *b = c->spec->belief;

	if (!b || !b->slowdown || self >= b->n_kinds || other >= b->n_kinds)
		return 1;
	return b->slowdown(b->state, self, other);
}

static ct_time host_price(void *ctx, uint32_t job, int move, uint32_t config, int *blocks)
{
	static const enum ct_transition_kind kind[] = { CT_TRANSITION_START, CT_TRANSITION_SWITCH,
							CT_TRANSITION_MIGRATE, CT_TRANSITION_RESUME };
	struct ct_control *c = ctx;
	struct ct_price p = ct_world_price(c->world, job, kind[move & 3], config);

	if (blocks)
		*blocks = p.blocks;
	return p.cost_us;
}

static double host_progress(void *ctx, uint32_t job)
{
	struct ct_control *c = ctx;

	return (double)c->work->jobs[job].duration_us - ct_world_job_remaining_us(c->world, job);
}

static double host_sm(void *ctx)
{
	struct ct_control *c = ctx;

	return ct_world_sm_gpu_us(c->world);
}

void ct_control_build_host(struct ct_control *c)
{
	c->host = (struct ct_host){ .size = sizeof c->host,
				    .ctx = c,
				    .alloc = host_alloc,
				    .fail = host_fail,
				    .text = host_text,
				    .estimate_us = host_estimate,
				    .column = host_column,
				    .value = host_value,
				    .place = host_place,
				    .could_place = host_could_place,
				    .gpus_of = host_gpus_of,
				    .random = host_random,
				    .oracle_remaining_us = c->policy->flags & CT_POLICY_ORACLE ? host_remaining : NULL,
				    .value_text = host_value_text,
				    .partition = host_partition,
				    .family = host_family,
				    .slowdown = host_slowdown,
				    .price_us = host_price,
				    .progress_us = host_progress,
				    .sm_gpu_us = host_sm };
}

void ct_control_free_host(struct ct_control *c)
{
	HASH_CLEAR(hh, c->believed);
	HASH_CLEAR(hh, c->loose);
}
