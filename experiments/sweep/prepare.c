/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/prepare.h"

#include "experiments/setup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A cell of the plan, before anything is read. */
struct ct_sweep_cell {
	char light[CT_SWEEP_HASH]; /* of the configuration without its inputs */
	uint32_t group;
	const char *error; /* it cannot be configured */
	int code;
};

/* Groups by the key of their jobs. */
struct named_group {
	UT_hash_handle hh;
	uint32_t group;
	char key[];
};

/* ---- configuring */

static uint32_t group_of(struct ct_sweep_prepared *s, struct named_group **groups, struct ct_config *c)
{
	const char *key = ct_jobs_key(c);
	size_t n = strlen(key);
	struct named_group *g;

	if (!c->generate.kind)
		return (uint32_t)s->n_groups++;
	HASH_FIND(hh, *groups, key, n, g);
	if (!g) {
		g = ct_calloc(1, sizeof *g + n + 1);
		memcpy(g->key, key, n);
		g->group = (uint32_t)s->n_groups++;
		HASH_ADD_KEYPTR(hh, *groups, g->key, n, g);
	}
	return g->group;
}

static void configure_one(struct ct_sweep_prepared *s, size_t i, struct named_group **groups)
{
	struct ct_sweep_cell *cell = &s->cell[i];
	struct ct_err err = { 0 };
	struct ct_config c;

	ct_config_init(&c);
	if (ct_sweep_plan_config(s->plan, i, s->set, s->n_set, &c, &err) == 0)
		ct_sweep_hash(&c, NULL, NULL, cell->light, &err);
	if (err.code) {
		cell->error = ct_arena_text(&s->arena, err.text, strlen(err.text));
		cell->code = (int)err.code;
		cell->group = (uint32_t)s->n_groups++;
	} else {
		cell->group = group_of(s, groups, &c);
	}
	ct_config_fini(&c);
}

static void half_digest(struct ct_digest *d, char out[CT_SWEEP_HASH])
{
	char digest[CT_DIGEST_TEXT];

	ct_digest_final(d, digest);
	memcpy(out, digest, CT_SWEEP_HASH - 1);
	out[CT_SWEEP_HASH - 1] = '\0';
}

/* The name of the sweep: axes and configurations of all its cells. */
static void name_sweep(struct ct_sweep_prepared *s)
{
	const struct ct_sweep_plan *p = s->plan;
	struct ct_digest d;

	ct_digest_init(&d);
	for (size_t k = 0; k < p->n_keys; k++)
		ct_digest_text(&d, p->key[k]);
	for (size_t i = 0; i < p->n_cells; i++) {
		ct_digest_text(&d, s->cell[i].light);
		for (size_t k = 0; k < p->n_keys; k++)
			ct_digest_text(&d, ct_sweep_plan_value(p, i, k));
	}
	half_digest(&d, s->table.sweep);
}

int ct_sweep_configure(struct ct_sweep_prepared *s, struct ct_err *err)
{
	struct named_group *groups = NULL, *g, *next;
	size_t bad = 0, n = s->plan->n_cells;

	s->jobs = ct_jobs_pool_new();
	s->cell = ct_calloc(n, sizeof *s->cell);
	for (size_t i = 0; i < n; i++) {
		configure_one(s, i, &groups);
		bad += s->cell[i].error != NULL;
	}
	HASH_ITER (hh, groups, g, next) {
		HASH_DELETE(hh, groups, g);
		free(g);
	}
	name_sweep(s);
	if (bad == n)
		return ct_err_add(err, (enum ct_code)s->cell[0].code, NULL, "%s", s->cell[0].error);
	return 0;
}

/* ---- selecting */

static bool in_shard(const struct ct_sweep_prepared *s, size_t i, struct ct_shard shard)
{
	size_t unit = s->n_groups >= shard.of ? s->cell[i].group : i;

	return shard.of == 0 || unit % shard.of == shard.index - 1;
}

void ct_sweep_select(struct ct_sweep_prepared *s, struct ct_shard shard, uint32_t only)
{
	const struct ct_sweep_plan *p = s->plan;
	struct ct_sweep_table *t = &s->table;

	t->n_cells = (uint32_t)p->n_cells;
	t->n_keys = p->n_keys;
	t->seed_key = p->seed_key;
	t->key = CT_NEW(&t->arena, const char *, p->n_keys + 1);
	for (size_t k = 0; k < p->n_keys; k++)
		t->key[k] = p->key[k];
	for (size_t i = 0; i < p->n_cells; i++) {
		struct ct_sweep_row *r;

		if (only ? i + 1 != only : !in_shard(s, i, shard))
			continue;
		CT_GROW(t->row, t->cap_rows, t->n_rows + 1);
		r = &t->row[t->n_rows++];
		*r = (struct ct_sweep_row){ .cell = (uint32_t)i + 1 };
		r->axis = CT_NEW(&t->arena, const char *, p->n_keys + 1);
		for (size_t k = 0; k < p->n_keys; k++)
			r->axis[k] = ct_sweep_plan_value(p, i, k);
	}
}

/* ---- reading */

/* A cell without an effective configuration, or without its inputs, is named by the
 * sweep and its axes. */
static void fail_row(struct ct_sweep_prepared *s, struct ct_sweep_row *r, int code, const char *message)
{
	struct ct_digest d;
	char status[32];

	ct_digest_init(&d);
	ct_digest_text(&d, s->table.sweep);
	ct_digest_i64(&d, r->cell);
	half_digest(&d, r->hash);
	snprintf(status, sizeof status, "exit %d", code);
	r->state = CT_SWEEP_FAILED;
	r->status = ct_arena_text(&s->table.arena, status, strlen(status));
	r->message = ct_arena_text(&s->table.arena, message, strlen(message));
}

struct reader {
	struct ct_sweep_prepared *s;
	struct ct_file_digests files;
	ct_jobs_progress *progress;
	void *ctx;
};

static int read_row(struct reader *d, struct ct_sweep_row *r, struct ct_err *err)
{
	struct ct_workload *work = NULL;
	struct ct_config c;
	int rc;

	ct_config_init(&c);
	rc = ct_sweep_plan_config(d->s->plan, r->cell - 1, d->s->set, d->s->n_set, &c, err);
	if (!rc && !c.generate.kind) {
		bool known = ct_jobs_pool_find(d->s->jobs, &c) != NULL;

		rc = ct_jobs_pool_get(d->s->jobs, &c, d->progress, d->ctx, &work, err);
		if (!rc && !known)
			ct_setup_print_import(work, stderr);
	}
	if (!rc)
		rc = ct_sweep_hash(&c, work ? work->digest : NULL, &d->files, r->hash, err);
	ct_config_fini(&c);
	return rc;
}

static int compare_hashes(const void *a, const void *b)
{
	const struct ct_sweep_row *const *x = a, *const *y = b;

	return strcmp((*x)->hash, (*y)->hash);
}

/* The same cell twice would count as two independent runs. */
static int check_distinct(struct ct_sweep_table *t, struct ct_err *err)
{
	struct ct_sweep_row **sorted = ct_calloc(t->n_rows + 1, sizeof(struct ct_sweep_row *));

	for (size_t i = 0; i < t->n_rows; i++)
		sorted[i] = &t->row[i];
	qsort(sorted, t->n_rows, sizeof(struct ct_sweep_row *), compare_hashes);
	for (size_t i = 1; i < t->n_rows && !err->code; i++)
		if (strcmp(sorted[i - 1]->hash, sorted[i]->hash) == 0)
			ct_err_add(err, CT_ECONFIG, NULL,
				   "cells %u and %u are the same configuration: their axes do not make a difference",
				   sorted[i - 1]->cell < sorted[i]->cell ? sorted[i - 1]->cell : sorted[i]->cell,
				   sorted[i - 1]->cell < sorted[i]->cell ? sorted[i]->cell : sorted[i - 1]->cell);
	free(sorted);
	return (int)err->code;
}

int ct_sweep_read(struct ct_sweep_prepared *s, ct_jobs_progress *progress, void *ctx, struct ct_err *err)
{
	struct reader d = { .s = s, .progress = progress, .ctx = ctx };
	struct ct_err first = { 0 };
	size_t bad = 0;

	for (size_t i = 0; i < s->table.n_rows; i++) {
		struct ct_sweep_row *r = &s->table.row[i];
		const struct ct_sweep_cell *cell = &s->cell[r->cell - 1];
		struct ct_err one = { 0 };

		if (cell->error)
			ct_err_add(&one, (enum ct_code)cell->code, NULL, "%s", cell->error);
		else
			read_row(&d, r, &one);
		if (!one.code)
			continue;
		if (!bad++)
			first = one;
		fail_row(s, r, (int)one.code, one.text);
	}
	ct_file_digests_fini(&d.files);
	if (bad && bad == s->table.n_rows)
		return ct_err_add(err, first.code, NULL, "%s", first.text);
	return check_distinct(&s->table, err);
}

/* ---- batches */

/* How many generators have cells to run, and is there one with several? */
static size_t generators(const struct ct_sweep_prepared *s, const size_t *members, bool *shared)
{
	size_t n = 0;

	*shared = false;
	for (size_t g = 0; g < s->n_groups; g++) {
		n += members[g] > 0;
		*shared = *shared || members[g] > 1;
	}
	return n;
}

static size_t *count_members(const struct ct_sweep_prepared *s)
{
	size_t *members = ct_calloc(s->n_groups + 1, sizeof *members);

	for (size_t i = 0; i < s->table.n_rows; i++)
		if (s->table.row[i].state == CT_SWEEP_MISSING)
			members[s->cell[s->table.row[i].cell - 1].group]++;
	return members;
}

/* The jobs of every group with several cells, in this process. */
static int generate_here(struct ct_sweep_prepared *s, const size_t *members, struct ct_err *err)
{
	for (size_t i = 0; i < s->table.n_rows && !err->code; i++) {
		const struct ct_sweep_row *r = &s->table.row[i];
		struct ct_workload *work;
		struct ct_err ignored = { 0 }; /* the cells will say */
		struct ct_config c;

		if (r->state != CT_SWEEP_MISSING || members[s->cell[r->cell - 1].group] < 2)
			continue;
		ct_config_init(&c);
		if (ct_sweep_plan_config(s->plan, r->cell - 1, s->set, s->n_set, &c, err) == 0)
			ct_jobs_pool_get(s->jobs, &c, NULL, NULL, &work, &ignored);
		ct_config_fini(&c);
	}
	return (int)err->code;
}

/* A batch for every group in order of its first cell; `alone`: for every cell. */
static void fill_batches(struct ct_sweep_prepared *s, const size_t *members, bool alone)
{
	size_t *batch_of = ct_calloc(s->n_groups + 1, sizeof *batch_of), used = 0;

	s->batch = ct_calloc(s->table.n_rows + 1, sizeof *s->batch);
	s->order = ct_calloc(s->table.n_rows + 1, sizeof *s->order);
	for (size_t i = 0; i < s->table.n_rows; i++) {
		const struct ct_sweep_row *r = &s->table.row[i];
		size_t group = s->cell[r->cell - 1].group, at;

		if (r->state != CT_SWEEP_MISSING)
			continue;
		if (alone || !batch_of[group]) {
			s->batch[s->n_batches].item = s->order + used;
			used += alone ? 1 : members[group];
			batch_of[group] = ++s->n_batches;
		}
		at = batch_of[group] - 1;
		s->batch[at].item[s->batch[at].n++] = i;
	}
	free(batch_of);
}

int ct_sweep_make_batches(struct ct_sweep_prepared *s, unsigned workers, struct ct_err *err)
{
	size_t *members = count_members(s);
	bool shared, few = generators(s, members, &shared) < (size_t)2 * workers;

	if (shared && few)
		generate_here(s, members, err);
	if (!err->code)
		fill_batches(s, members, few);
	free(members);
	return (int)err->code;
}

void ct_sweep_prepared_fini(struct ct_sweep_prepared *s)
{
	ct_sweep_table_fini(&s->table);
	ct_jobs_pool_free(s->jobs);
	free(s->batch);
	free(s->order);
	free(s->cell);
	ct_arena_fini(&s->arena);
	memset(s, 0, sizeof *s);
}
