/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/alter.h"

#include "calib/fit.h"
#include "calib/posterior.h"
#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_default_batch(const struct ct_alteration *a)
{
	return !(a->default_batch > 0 && a->default_batch < 1);
}

static int has_change(const struct ct_alteration *a)
{
	return a->change && *a->change;
}

int ct_alteration_any(const struct ct_alteration *a)
{
	return a->draw || a->blind_host || has_change(a) || !is_default_batch(a);
}

/* One of the contention's own numbers? */
static int global_of(const char *name)
{
	for (int k = 0; k < CT_GLOBALS; k++)
		if (!strcmp(ct_global_prior[k].name, name))
			return k;
	return -1;
}

static double global_value(const struct ct_slowdown_params *s, int which)
{
	const double at[CT_GLOBALS] = { s->m, s->beta, s->c[0], s->c[1], s->c[2], s->c[3], s->p };

	return at[which];
}

/* beta mixes two activities and ends at 1; all others have no upper end. */
static int change_global(const struct ct_change *change, struct ct_slowdown_params *s, struct ct_err *err)
{
	int k = global_of(change->name);
	double x = ct_change_of(change, global_value(s, k));

	if (!(x > 0) || (x > 1 && !strcmp(change->name, "beta")))
		return ct_err_add(err, CT_ECONFIG, NULL, "'%s' wants more than 0%s, changed it is %g", change->name,
				  strcmp(change->name, "beta") != 0 ? "" : ", at most 1", x);
	ct_global_set(s, k, x);
	return 0;
}

static int change_one(const struct ct_change *change, struct ct_profiles *set, struct ct_slowdown_params *s,
		      struct ct_err *err)
{
	if (global_of(change->name) < 0)
		return ct_profiles_change(set, change, err);
	if (change->key && strcmp(change->key, "*") != 0)
		return ct_err_add(err, CT_ECONFIG, NULL, "'%s' is no workload's own, got '%s@%.60s'", change->name,
				  change->name, change->key);
	return change_global(change, s, err);
}

static int from_posterior(const struct ct_alteration *a, const char *dir, struct ct_profiles *set,
			  struct ct_slowdown_params *s, struct ct_err *err)
{
	const char *name = a->blind_host ? "posterior-blind.csv" : "posterior.csv";
	struct ct_posterior p;
	char path[4096];
	double *x;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
		return ct_err_at(err, CT_EIO, NULL, "path of '%s' is too long", name);
	CT_TRY(ct_posterior_load(path, &p, err));
	x = ct_calloc(p.n + 1, sizeof *x);
	if (!ct_posterior_draw(&p, a->draw, x, err))
		for (size_t i = 0; i < p.n; i++) {
			const struct ct_posterior_unknown *u = &p.unknown[i];
			struct ct_change change = { .name = u->name, .key = u->workload, .value = exp(x[i]) };

			/* Around the folder's own values, so that draw 0 is exactly they. */
			change.factor = !a->blind_host;
			change.value *= a->blind_host ? u->value : 1;
			if (!strcmp(u->name, "beta"))
				change.value = fmin(change.value, change.factor ? 1 / s->beta : 1);
			change_one(&change, set, s, err);
		}
	free(x);
	ct_posterior_fini(&p);
	return (int)err->code;
}

static int apply_changes(const struct ct_alteration *a, struct ct_profiles *set, struct ct_slowdown_params *s,
			 struct ct_err *err)
{
	struct ct_arena arena = { 0 };
	struct ct_change *change;
	size_t n;

	if (!ct_changes_parse(a->change, &arena, &change, &n, err))
		for (size_t i = 0; i < n; i++)
			change_one(&change[i], set, s, err);
	ct_arena_fini(&arena);
	return (int)err->code;
}

int ct_alter(const struct ct_alteration *a, const char *dir, struct ct_profiles *set, struct ct_slowdown_params *s,
	     struct ct_err *err)
{
	double global[CT_GLOBALS];

	if (a->draw || a->blind_host)
		CT_TRY(from_posterior(a, dir, set, s, err));
	if (has_change(a))
		CT_TRY(apply_changes(a, set, s, err));
	if (a->draw || a->blind_host || has_change(a)) {
		for (int k = 0; k < CT_GLOBALS; k++)
			global[k] = global_value(s, k);
		ct_profiles_refill(set, global, CT_GLOBALS);
	}
	if (!is_default_batch(a))
		ct_profiles_default_batch(set, a->default_batch);
	return 0;
}
