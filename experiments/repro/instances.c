/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/capacity.h"
#include "experiments/repro/sources.h"
#include "sim/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "train.mean_slowdown<=1.5" */
static int class_target(const char *class, const char *text, struct ct_capacity_target *out, struct ct_err *err)
{
	char full[256];

	snprintf(full, sizeof full, "%s.%.200s", class, text);
	return ct_capacity_target_parse(full, out, err);
}

static void add_settings(struct ct_repro *rows, const struct ct_cell_set *set, size_t n, struct ct_overrides *to)
{
	for (size_t i = 0; i < n; i++) {
		size_t room = strlen(set[i].key) + strlen(set[i].value) + 2;
		char *text = ct_arena_alloc(&rows->arena, room, 1);

		snprintf(text, room, "%s=%s", set[i].key, set[i].value);
		ct_overrides_add(to, CT_FLAG_SET, text);
	}
}

/* The policy of a variant; the planner compares policies as they are, so options are refused. */
static int policy_of(const struct ct_paper *p, const char *variant, const char **out, struct ct_err *err)
{
	size_t v = ct_paper_variant(p, variant);

	if (v == SIZE_MAX || p->variant[v].n != 1 || strcmp(p->variant[v].set[0].key, "policy.name") != 0)
		return ct_err_add(err, CT_ECONFIG, NULL,
				  "'plan' wants variants that set policy.name alone, and '%.60s' is none", variant);
	*out = p->variant[v].set[0].value;
	return 0;
}

static int find(const struct ct_repro_sources *s, const char *target, const char *pool, struct ct_repro *rows,
		struct ct_capacity *out, struct ct_err *err)
{
	const struct ct_paper_plan *plan = &s->paper->plan;
	struct ct_overrides overrides = { 0 };
	struct ct_capacity_request q = { .config_file = s->scenario,
					 .overrides = &overrides,
					 .n_policies = 2,
					 .n_targets = 2,
					 .runs = (size_t)plan->runs,
					 .is_static = 1,
					 .interrupt = s->interrupted };
	int rc = policy_of(s->paper, pool, &q.policy[0], err);

	if (rc || policy_of(s->paper, plan->shared, &q.policy[1], err))
		return (int)err->code;
	add_settings(rows, s->set, s->n_set, &overrides);
	add_settings(rows, plan->set, plan->n_set, &overrides);
	rc = class_target("train", target, &q.target[0], err);
	if (!rc)
		rc = class_target("infer", target, &q.target[1], err);
	if (!rc)
		rc = ct_capacity_vary_parse(plan->vary, &q.lo, &q.hi, &q.in_nodes, err);
	if (!rc)
		rc = ct_capacity_find(&q, out, err);
	ct_overrides_fini(&overrides);
	return rc;
}

/* ---- the rows of table "instances" */

struct place {
	const struct ct_paper_figure *headline;
	const char *pool;
	size_t runs;
	const struct ct_capacity_saving *saving;
	char target[128]; /* "mean_slowdown<=1.5" */
};

static const char *keep(struct ct_repro *rows, const char *text)
{
	return ct_arena_text(&rows->arena, text, strlen(text));
}

static struct ct_repro_row *add_row(struct ct_repro *rows, const struct ct_paper_figure *headline, size_t runs,
				    const char *id)
{
	struct ct_paper_figure *f = CT_NEW(&rows->arena, struct ct_paper_figure, 1);
	struct ct_repro_row *row;

	*f = *headline;
	f->role = CT_ROLE_BESIDE;
	f->again = headline->id;
	f->id = keep(rows, id);
	f->note = "";
	row = ct_repro_add(rows, f);
	row->seeds = runs;
	return row;
}

static void list_target(struct ct_repro *rows, const struct place *at, int total)
{
	const struct ct_capacity_saving *v = at->saving;
	struct ct_repro_row *r;
	struct ct_paper_figure *f;
	char text[384];

	snprintf(text, sizeof text, "%.40s.%.40s.%.120s.%s", at->headline->id, at->pool, at->target,
		 total ? "total" : "additional");
	r = add_row(rows, at->headline, at->runs, text);
	r->ours = 100 * (total ? v->total : v->additional);
	f = CT_NEW(&rows->arena, struct ct_paper_figure, 1);
	*f = *r->figure;
	r->figure = f;
	if (total) {
		f->value = f->tolerance = NAN;
		f->again = NULL;
		f->definition = "1 - G_E / (G_T + G_I)";
		return;
	}
	snprintf(text, sizeof text, "G_T %lld, G_I %lld, G_E %lld GPUs", (long long)v->train->gpus,
		 (long long)v->infer->gpus, (long long)v->shared->gpus);
	f->note = keep(rows, text);
	f->definition = "1 - (G_E - G_T) / G_I";
}

/* What was asked of the training pool, without the class. */
static void name_target(const struct ct_capacity *c, size_t level, char *out, size_t cap)
{
	char text[128];

	ct_capacity_target_text(&c->request.target[0], level, text, sizeof text);
	snprintf(out, cap, "%s", strchr(text, '.') ? strchr(text, '.') + 1 : text);
}

struct values {
	double v[CT_CAPACITY_TARGETS * CT_CAPACITY_LEVELS];
	size_t n, unknown; /* targets that a pool or the shared cluster did not meet */
};

static int pool_rows(const struct ct_repro_sources *s, const struct ct_paper_figure *headline, const char *pool,
		     int listed, struct values *got, struct ct_repro *rows, struct ct_err *err)
{
	const struct ct_paper_plan *plan = &s->paper->plan;

	for (size_t t = 0; t < plan->n_targets; t++) {
		struct ct_capacity c;

		CT_TRY(find(s, plan->target[t], pool, rows, &c, err));
		for (size_t i = 0; i < c.n_savings; i++) {
			struct place at = {
				.headline = headline, .pool = pool, .runs = c.runs, .saving = &c.saving[i]
			};

			name_target(&c, c.saving[i].level, at.target, sizeof at.target);
			got->unknown += isnan(c.saving[i].additional) != 0;
			if (!isnan(c.saving[i].additional))
				got->v[got->n++] = 100 * c.saving[i].additional;
			for (int total = 0; listed && total < 2; total++)
				list_target(rows, &at, total);
		}
		ct_capacity_fini(&c);
		if (*s->interrupted)
			return 0;
	}
	return 0;
}

static void summarise(struct values *got, struct ct_repro_row *r)
{
	static const double q[3] = { 0, 0.5, 1 };
	double at[3];

	if (!got->n || got->unknown)
		return;
	ct_quantiles(got->v, got->n, q, 3, at);
	r->lo = at[0];
	r->ours = at[1];
	r->hi = at[2];
	ct_repro_judge(r);
}

/* The same with the pools under another policy. */
static void list_pool(const struct ct_paper_figure *headline, const struct ct_paper_plan *plan, size_t pool,
		      struct values *got, struct ct_repro *rows)
{
	char id[128];

	snprintf(id, sizeof id, "%.40s.%.40s", headline->id, plan->pool[pool]);
	summarise(got, add_row(rows, headline, (size_t)plan->runs, id));
}

int ct_repro_instances(const struct ct_repro_sources *s, struct ct_repro *rows, struct ct_err *err)
{
	const struct ct_paper_plan *plan = &s->paper->plan;
	int listed = !strcmp(s->table, "instances");
	size_t n = rows->n; /* rows are added behind */

	for (size_t i = 0; i < n; i++) {
		const struct ct_paper_figure *headline = rows->row[i].figure;

		if (headline->from != CT_FROM_PLAN)
			continue;
		rows->row[i].seeds = (size_t)plan->runs;
		for (size_t k = 0; k < (listed ? plan->n_pools : 1) && !*s->interrupted; k++) {
			struct values got = { 0 };

			CT_TRY(pool_rows(s, headline, plan->pool[k], listed, &got, rows, err));
			if (k == 0)
				summarise(&got, &rows->row[i]);
			else
				list_pool(headline, plan, k, &got, rows);
		}
	}
	return 0;
}
