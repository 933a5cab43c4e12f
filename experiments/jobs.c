/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/jobs.h"

#include "experiments/config_table.h"
#include "experiments/data_path.h"
#include "experiments/option.h"
#include "experiments/setup.h"

#include <stdlib.h>
#include <string.h>

/* ---- generated */

/* *path, or when it is not given the file `own` that comes with the program. */
static int find(const char **path, const char *own, struct ct_arena *arena, struct ct_err *err)
{
	char name[256];

	if (*path)
		return ct_data_path(*path, arena, path, err);
	if (!own)
		return 0;
	snprintf(name, sizeof name, "data:%s", own);
	return ct_data_path(ct_arena_text(arena, name, strlen(name)), arena, path, err);
}

int ct_jobs_generator_files(const struct ct_generator *g, struct ct_generate_options *o, struct ct_arena *arena,
			    struct ct_err *err)
{
	CT_TRY(find(&o->constants, g->constants, arena, err));
	CT_TRY(find(&o->other, g->other, arena, err));
	return find(&o->assign, g->assign, arena, err);
}

static double gpus_of(const struct ct_config *c)
{
	return c->generate.gpus > 0 ? c->generate.gpus : ct_setup_gpus(c);
}

static int64_t seed_of(const struct ct_config *c)
{
	return c->generate.seed >= 0 ? c->generate.seed : c->sim.seed;
}

static int generate(struct ct_config *c, struct ct_workload **out, struct ct_err *err)
{
	const struct ct_generator *g = ct_generator_find(c->generate.kind);
	struct ct_generate_options o = {
		.seed = (uint64_t)seed_of(c),
		.jobs = (uint64_t)c->generate.jobs,
		.days = c->generate.days,
		.gpus = gpus_of(c),
		.failed = c->generate.failed,
		.constants = c->generate.constants,
		.share = c->generate.share,
		.node_gpus = (uint64_t)c->generate.node_gpus,
		.load = c->generate.load,
		.spread = c->generate.spread,
		.tilt = c->generate.tilt,
		.change = c->generate.change,
	};

	CT_TRY(ct_jobs_generator_files(g, &o, &c->arena, err));
	return ct_generate(g, &o, out, err);
}

/* ---- from a file */

int ct_jobs_read(struct ct_config *c, struct ct_figures *figures, ct_jobs_progress *progress, void *ctx,
		 struct ct_workload **out, struct ct_err *err)
{
	const struct ct_trace_options o = {
		.format = c->trace.format,
		.on_bad_row = (enum ct_bad_row)c->trace.on_bad_row,
		.columns = c->trace.columns,
		.n_columns = c->trace.n_columns,
		.options = c->trace.options,
		.n_options = c->trace.n_options,
		.shift_to_zero = c->trace.shift_to_zero,
		.figures = figures,
		.progress = progress,
		.progress_ctx = ctx,
	};
	const char *path;

	if (c->generate.kind)
		return generate(c, out, err);
	CT_TRY(ct_data_path(c->trace.file, &c->arena, &path, err));
	return ct_trace_read(path, &o, out, err);
}

/* ---- the key: "name=length:value" lines */

struct text {
	char *s;
	size_t n, cap;
};

static void line(struct text *t, const char *name, const char *value)
{
	size_t room = strlen(name) + strlen(value) + 32;

	CT_GROW(t->s, t->cap, t->n + room);
	t->n += (size_t)snprintf(t->s + t->n, room, "%s=%zu:%s\n", name, strlen(value), value);
}

static void number(struct text *t, const char *name, double v)
{
	char value[40];

	snprintf(value, sizeof value, "%.17g", v);
	line(t, name, value);
}

/* load, assign and only come after reading. */
static void file_key(struct text *t, struct ct_config *c)
{
	for (const struct ct_opt *o = ct_config_section("trace")->opts; o->name; o++)
		if (strcmp(o->name, "load") != 0 && strcmp(o->name, "assign") != 0 && strcmp(o->name, "only") != 0)
			line(t, o->name, ct_opt_text(o, c, &c->arena));
	for (size_t i = 0; i < c->trace.n_columns; i++) {
		line(t, "column", c->trace.columns[i].canonical);
		line(t, "is", c->trace.columns[i].name);
	}
	for (size_t i = 0; i < c->trace.n_options; i++) {
		line(t, "option", c->trace.options[i].name);
		line(t, "is", c->trace.options[i].value);
	}
}

static void generator_key(struct text *t, struct ct_config *c)
{
	for (const struct ct_opt *o = ct_config_section("generate")->opts; o->name; o++)
		if (strcmp(o->name, "seed") != 0 && strcmp(o->name, "gpus") != 0)
			line(t, o->name, ct_opt_text(o, c, &c->arena));
	number(t, "gpus", gpus_of(c));
	number(t, "seed", (double)seed_of(c));
}

const char *ct_jobs_key(struct ct_config *c)
{
	struct text t = { 0 };
	const char *key;

	if (c->generate.kind)
		generator_key(&t, c);
	else
		file_key(&t, c);
	key = ct_arena_text(&c->arena, t.s, t.n);
	free(t.s);
	return key;
}

/* ---- the pool */

struct ct_jobs_pool {
	struct ct_arena arena;
	struct entry {
		const char *key;
		struct ct_workload *work;
	} * entry;
	size_t n, cap;
};

struct ct_jobs_pool *ct_jobs_pool_new(void)
{
	return ct_calloc(1, sizeof(struct ct_jobs_pool));
}

void ct_jobs_pool_free(struct ct_jobs_pool *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		ct_workload_free(p->entry[i].work);
	free(p->entry);
	ct_arena_fini(&p->arena);
	free(p);
}

static struct ct_workload *find_key(const struct ct_jobs_pool *p, const char *key)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->entry[i].key, key) == 0)
			return p->entry[i].work;
	return NULL;
}

struct ct_workload *ct_jobs_pool_find(const struct ct_jobs_pool *p, struct ct_config *c)
{
	return find_key(p, ct_jobs_key(c));
}

int ct_jobs_pool_get(struct ct_jobs_pool *p, struct ct_config *c, ct_jobs_progress *progress, void *ctx,
		     struct ct_workload **out, struct ct_err *err)
{
	const char *key = ct_jobs_key(c);
	struct ct_workload *work = find_key(p, key);

	if (!work) {
		CT_TRY(ct_jobs_read(c, NULL, progress, ctx, &work, err));
		CT_GROW(p->entry, p->cap, p->n + 1);
		p->entry[p->n++] = (struct entry){ ct_arena_text(&p->arena, key, strlen(key)), work };
	}
	*out = work;
	return 0;
}
