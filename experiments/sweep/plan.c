/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lists are taken out of the tree; what is left is a plain configuration, onto
 * which a cell puts one value of each. Only cluster.file goes before it, because keys
 * beside an included file are exceptions to it. */
#include "experiments/sweep/plan.h"

#include "experiments/data_path.h"
#include "experiments/option.h"
#include "sim/csv.h"
#include "sim/nearest.h"
#include "sim/shown.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct ct_sweep_plan, opt.field)
static const struct ct_opt sweep_opts[] = {
	{ "runs", CT_OPT_INT, AT(runs), "1", 1, 100000, NULL, NULL, "seeds of each combination", 0 },
	{ "initial_seed", CT_OPT_INT, AT(initial_seed), "1", 0, 1e15, NULL, NULL, "the first of them", 0 },
	{ "memory_limit_mib", CT_OPT_INT, AT(memory_limit_mib), "0", 0, 4e9, NULL, "MiB", "memory of a cell", 0 },
	{ "time_limit", CT_OPT_SECONDS, AT(time_limit), "0", 0, 2e11, NULL, "s", "wall time of a cell", 0 },
	{ "results", CT_OPT_BOOL, AT(results), "false", 0, 0, NULL, NULL, "keep each cell's result file", 0 },
	{ 0 },
};
static const char *const sweep_lists[] = { "zip", "cells", "exclude", "metrics", NULL };
static const char *const baseline_name = "baseline";

/* A list at a key, before zipping. */
struct list {
	const char *key;
	const struct ct_yaml *y;
	int used; /* zipped: part of an axis that is there */
};

struct parser {
	struct ct_sweep_plan *p;
	struct ct_err *err;
	const struct ct_yaml *part[4]; /* of `sweep:`, by sweep_lists */
	const struct ct_yaml *baseline;
	struct list list[CT_SWEEP_KEYS];
	size_t n_lists;
	const struct ct_yaml *seed; /* sim.seed as one value */
	bool has_runs, has_initial;
};

static const char *joined(struct parser *r, const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	char *s = CT_NEW(&r->p->arena, char, n + m + 2);

	memcpy(s, a, n);
	s[n] = '.';
	memcpy(s + n + 1, b, m + 1);
	return s;
}

static int wrong(struct parser *r, const struct ct_yaml *y, const char *what, const char *wanted)
{
	return ct_err_add(r->err, CT_ECONFIG, &y->at, "'%s' wants %s, got %s", what, wanted, ct_yaml_type_name(y));
}

/* ---- taking the lists out */

static int take_list(struct parser *r, const char *key, const struct ct_yaml *y)
{
	if (y->n == 0)
		return ct_err_add(r->err, CT_ECONFIG, &y->at, "axis '%s' has no value", key);
	for (const struct ct_yaml *v = y->first; v; v = v->next)
		if (v->type != CT_YAML_SCALAR)
			return wrong(r, v, key, "single values in its list");
	if (r->n_lists == CT_SWEEP_KEYS)
		return ct_err_add(r->err, CT_ECONFIG, &y->key_at, "more than %d axes", (int)CT_SWEEP_KEYS);
	r->list[r->n_lists++] = (struct list){ .key = key, .y = y };
	return 0;
}

/* A list that is a value in itself. */
static bool is_value(const char *key)
{
	return strcmp(key, "cluster.node_types") == 0;
}

static void take_lists(struct parser *r, const char *section, struct ct_yaml *map)
{
	struct ct_yaml **at = &map->first;

	while (*at) {
		struct ct_yaml *y = *at;
		const char *key = section ? joined(r, section, y->key) : y->key;

		if (section && y->type == CT_YAML_LIST && !is_value(key)) {
			take_list(r, key, y);
			*at = y->next;
			map->n--;
			continue;
		}
		if (y->type == CT_YAML_MAP)
			take_lists(r, key, y);
		if (strcmp(key, CT_SWEEP_SEED_KEY) == 0)
			r->seed = y;
		at = &y->next;
	}
}

/* ---- the section sweep: */

static int sweep_key(struct parser *r, const struct ct_yaml *y)
{
	const struct ct_opt *o = ct_opt_find(sweep_opts, y->key);
	struct ct_opt_place place = { joined(r, "sweep", y->key), &y->at, NULL, CT_ECONFIG, &r->p->arena, r->err };
	struct ct_nearest near;
	char shown[CT_SHOWN];
	const char *best;

	for (size_t i = 0; sweep_lists[i]; i++)
		if (strcmp(y->key, sweep_lists[i]) == 0) {
			r->part[i] = y;
			return y->type == CT_YAML_LIST ? 0 : wrong(r, y, place.key, "a list");
		}
	if (strcmp(y->key, baseline_name) == 0) {
		r->baseline = y;
		return 0;
	}
	if (o && y->type != CT_YAML_SCALAR)
		return wrong(r, y, place.key, "one value");
	if (o) {
		r->has_runs = r->has_runs || strcmp(o->name, "runs") == 0;
		r->has_initial = r->has_initial || strcmp(o->name, "initial_seed") == 0;
		return ct_opt_set(&place, o, r->p, y->text);
	}
	ct_nearest_init(&near, y->key);
	for (const struct ct_opt *k = sweep_opts; k->name; k++)
		ct_nearest_offer(&near, k->name);
	for (size_t i = 0; sweep_lists[i]; i++)
		ct_nearest_offer(&near, sweep_lists[i]);
	ct_nearest_offer(&near, baseline_name);
	best = ct_nearest_word(&near);
	return ct_err_add(r->err, CT_ECONFIG, &y->key_at, "unknown key 'sweep.%s'%s%s%s",
			  ct_shown(shown, y->key, strlen(y->key)), best ? "; did you mean '" : "", best ? best : "",
			  best ? "'?" : "");
}

/* Unlinks `sweep:` from the root. */
static void take_section(struct parser *r, struct ct_yaml *root)
{
	for (struct ct_yaml **at = &root->first; *at; at = &(*at)->next) {
		const struct ct_yaml *y = *at;

		if (strcmp(y->key, "sweep") != 0)
			continue;
		*at = y->next;
		root->n--;
		if (y->type == CT_YAML_MAP)
			for (const struct ct_yaml *k = y->first; k; k = k->next)
				sweep_key(r, k);
		else if (y->type != CT_YAML_SCALAR || y->text[0])
			wrong(r, y, "sweep", "a mapping");
		return;
	}
}

/* ---- axes */

static struct ct_sweep_axis *new_axis(struct parser *r, size_t n_keys, size_t n_values, const struct ct_loc *at)
{
	struct ct_sweep_plan *p = r->p;
	struct ct_sweep_axis *a;

	if (p->n_axes == CT_SWEEP_AXES || p->n_keys + n_keys > CT_SWEEP_KEYS) {
		ct_err_add(r->err, CT_ECONFIG, at, "more than %d axes or %d keys of axes", (int)CT_SWEEP_AXES,
			   (int)CT_SWEEP_KEYS);
		return NULL;
	}
	a = &p->axis[p->n_axes++];
	a->n_values = n_values;
	a->n_keys = n_keys;
	a->first_key = p->n_keys;
	a->value = CT_NEW(&p->arena, const struct ct_yaml *, n_keys *n_values);
	p->n_keys += n_keys;
	return a;
}

static bool known_key(const struct ct_sweep_plan *p, const char *key, size_t *out)
{
	for (size_t i = 0; i < p->n_keys; i++)
		if (p->key[i] && strcmp(p->key[i], key) == 0) {
			*out = i;
			return true;
		}
	return false;
}

/* sweep.cells: the keys of all mappings, in order of appearance. */
static int cells_axis(struct parser *r)
{
	const struct ct_yaml *list = r->part[1];
	const char *key[CT_SWEEP_KEYS];
	struct ct_sweep_axis *a;
	size_t n = 0, row = 0, k;

	if (!list || list->type != CT_YAML_LIST)
		return 0;
	if (list->n == 0)
		return ct_err_add(r->err, CT_ECONFIG, &list->at, "'sweep.cells' is empty");
	for (const struct ct_yaml *y = list->first; y; y = y->next) {
		if (y->type != CT_YAML_MAP)
			return wrong(r, y, "sweep.cells", "mappings in its list");
		for (const struct ct_yaml *v = y->first; v; v = v->next) {
			for (k = 0; k < n && strcmp(key[k], v->key) != 0; k++)
				;
			if (v->type != CT_YAML_SCALAR)
				return wrong(r, v, v->key, "one value");
			if (k == n && n == CT_SWEEP_KEYS)
				return ct_err_add(r->err, CT_ECONFIG, &v->key_at, "more than %d keys",
						  (int)CT_SWEEP_KEYS);
			if (k == n)
				key[n++] = v->key;
		}
	}
	a = new_axis(r, n, list->n, &list->at);
	if (!a)
		return (int)r->err->code;
	for (k = 0; k < n; k++)
		r->p->key[a->first_key + k] = key[k];
	for (const struct ct_yaml *y = list->first; y; y = y->next, row++)
		for (k = 0; k < n; k++)
			for (const struct ct_yaml *v = y->first; v; v = v->next)
				if (strcmp(v->key, key[k]) == 0)
					a->value[row * n + k] = v;
	return 0;
}

static struct list *list_of(struct parser *r, const struct ct_yaml *name)
{
	struct ct_nearest near;
	char shown[CT_SHOWN];
	const char *best;

	if (name->type != CT_YAML_SCALAR) {
		wrong(r, name, "sweep.zip", "names of axes");
		return NULL;
	}
	ct_nearest_init(&near, name->text);
	for (size_t i = 0; i < r->n_lists; i++) {
		if (strcmp(r->list[i].key, name->text) == 0)
			return &r->list[i];
		ct_nearest_offer(&near, r->list[i].key);
	}
	best = ct_nearest_word(&near);
	ct_err_add(r->err, CT_ECONFIG, &name->at, "'sweep.zip': '%s' is no axis: no key of that name has a list%s%s%s",
		   ct_shown(shown, name->text, strlen(name->text)), best ? "; did you mean '" : "", best ? best : "",
		   best ? "'?" : "");
	return NULL;
}

/* The axis of `first` and of those zipped with it; group NULL: of itself. */
static int list_axis(struct parser *r, struct list *first, const struct ct_yaml *group)
{
	size_t n_keys = group ? group->n : 1, k = 0;
	struct ct_sweep_axis *a = new_axis(r, n_keys, first->y->n, &first->y->key_at);

	if (!a)
		return (int)r->err->code;
	for (const struct ct_yaml *name = group ? group->first : NULL; k < n_keys; k++) {
		struct list *l = group ? list_of(r, name) : first;
		size_t row = 0;

		r->p->key[a->first_key + k] = l->key;
		l->used = 1;
		for (const struct ct_yaml *v = l->y->first; v; v = v->next)
			a->value[row++ * n_keys + k] = v;
		name = name ? name->next : NULL;
	}
	return 0;
}

static int check_group(struct parser *r, const struct ct_yaml *group)
{
	struct list *first = NULL;

	if (group->type != CT_YAML_LIST || group->n < 2)
		return ct_err_add(r->err, CT_ECONFIG, &group->at, "'sweep.zip' wants lists of two or more axes");
	for (const struct ct_yaml *name = group->first; name; name = name->next) {
		struct list *l = list_of(r, name);

		if (!l)
			return (int)r->err->code;
		if (l->used)
			return ct_err_add(r->err, CT_ECONFIG, &name->at, "'sweep.zip' has axis '%s' twice", l->key);
		l->used = 1;
		first = first ? first : l;
		if (l->y->n != first->y->n)
			return ct_err_add(r->err, CT_ECONFIG, &name->at,
					  "zipped axes want lists of equal length: '%s' has %zu, '%s' has %zu",
					  first->key, first->y->n, l->key, l->y->n);
	}
	return 0;
}

static const struct ct_yaml *group_of(const struct parser *r, const char *key)
{
	const struct ct_yaml *zip = r->part[0];

	for (const struct ct_yaml *g = zip ? zip->first : NULL; g; g = g->next)
		for (const struct ct_yaml *name = g->first; name; name = name->next)
			if (strcmp(name->text, key) == 0)
				return g;
	return NULL;
}

/* Each list by itself, or with its group at the place of the group's first. */
static int list_axes(struct parser *r, bool seeds)
{
	for (size_t i = 0; i < r->n_lists; i++) {
		struct list *l = &r->list[i];
		bool is_seed = strcmp(l->key, CT_SWEEP_SEED_KEY) == 0 && !group_of(r, l->key);

		if (!l->used && is_seed == seeds)
			CT_TRY(list_axis(r, l, group_of(r, l->key)));
	}
	return 0;
}

/* The axis that sweep.runs stands for. */
static int runs_axis(struct parser *r)
{
	struct ct_sweep_plan *p = r->p;
	const struct ct_loc at = { .file = "sweep.runs" };
	struct ct_sweep_axis *a;

	if (!r->has_runs)
		return r->has_initial ? ct_err_add(r->err, CT_ECONFIG, NULL, "'sweep.initial_seed' needs 'sweep.runs'")
				      : 0;
	a = new_axis(r, 1, (size_t)p->opt.runs, &at);
	if (!a)
		return (int)r->err->code;
	p->key[a->first_key] = CT_SWEEP_SEED_KEY;
	for (size_t i = 0; i < a->n_values; i++) {
		struct ct_yaml *y = CT_NEW(&p->arena, struct ct_yaml, 1);
		char text[32];
		int n = snprintf(text, sizeof text, "%lld", (long long)p->opt.initial_seed + (long long)i);

		*y = (struct ct_yaml){ .type = CT_YAML_SCALAR,
				       .at = at,
				       .text = ct_arena_text(&p->arena, text, (size_t)n) };
		a->value[i] = y;
	}
	return 0;
}

static void check_keys(struct parser *r)
{
	const struct ct_sweep_plan *p = r->p;

	for (size_t i = 0; i < p->n_keys; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(p->key[i], p->key[k]) == 0)
				ct_err_add(r->err, CT_ECONFIG, NULL, "'%s' is set by two axes", p->key[i]);
	if (r->has_runs && r->seed)
		ct_err_add(r->err, CT_ECONFIG, &r->seed->at,
			   "'sim.seed' and 'sweep.runs' exclude each other; 'sweep.initial_seed' is the first seed");
}

static int make_axes(struct parser *r)
{
	const struct ct_yaml *zip = r->part[0];

	for (const struct ct_yaml *g = zip && zip->type == CT_YAML_LIST ? zip->first : NULL; g; g = g->next)
		check_group(r, g);
	if (r->err->code)
		return (int)r->err->code;
	for (size_t i = 0; i < r->n_lists; i++)
		r->list[i].used = 0;
	cells_axis(r);
	list_axes(r, false);
	list_axes(r, true); /* seeds are the fastest */
	runs_axis(r);
	check_keys(r);
	if (!r->err->code && !known_key(r->p, CT_SWEEP_SEED_KEY, &r->p->seed_key))
		r->p->seed_key = SIZE_MAX;
	return (int)r->err->code;
}

/* ---- the cells */

/* Value of a key in a place of the full product. */
static const struct ct_yaml *value_at(const struct ct_sweep_plan *p, size_t number, size_t key)
{
	for (size_t i = p->n_axes; i-- > 0;) {
		const struct ct_sweep_axis *a = &p->axis[i];
		size_t row = number % a->n_values;

		number /= a->n_values;
		if (key >= a->first_key && key < a->first_key + a->n_keys)
			return a->value[row * a->n_keys + (key - a->first_key)];
	}
	return NULL;
}

/* Equal texts, or equal numbers. */
static bool same_value(const struct ct_yaml *a, const struct ct_yaml *b)
{
	double x, y;

	if (strcmp(a->text, b->text) == 0)
		return true;
	return !ct_parse_f64(a->text, strlen(a->text), &x) && !ct_parse_f64(b->text, strlen(b->text), &y) && !(x < y) &&
	       !(x > y);
}

static bool matches_one(const struct ct_yaml *value, const struct ct_yaml *wanted)
{
	if (!value)
		return false;
	if (wanted->type == CT_YAML_SCALAR)
		return same_value(value, wanted);
	for (const struct ct_yaml *w = wanted->first; w; w = w->next)
		if (same_value(value, w))
			return true;
	return false;
}

static bool is_excluded(const struct ct_sweep_plan *p, size_t number, const struct ct_yaml *rule)
{
	for (const struct ct_yaml *w = rule->first; w; w = w->next) {
		size_t key = SIZE_MAX;

		if (!known_key(p, w->key, &key) || !matches_one(value_at(p, number, key), w))
			return false;
	}
	return true;
}

static int check_rule(struct parser *r, const struct ct_yaml *rule)
{
	struct ct_nearest near;
	char shown[CT_SHOWN];
	const char *best;
	size_t key;

	if (rule->type != CT_YAML_MAP || rule->n == 0)
		return wrong(r, rule, "sweep.exclude", "mappings of axes to values in its list");
	for (const struct ct_yaml *w = rule->first; w; w = w->next) {
		for (const struct ct_yaml *v = w->type == CT_YAML_LIST ? w->first : NULL; v; v = v->next)
			if (v->type != CT_YAML_SCALAR)
				return wrong(r, v, w->key, "single values in its list");
		if (w->type == CT_YAML_MAP)
			return wrong(r, w, w->key, "a value or a list of values");
		if (known_key(r->p, w->key, &key))
			continue;
		ct_nearest_init(&near, w->key);
		for (size_t i = 0; i < r->p->n_keys; i++)
			ct_nearest_offer(&near, r->p->key[i]);
		best = ct_nearest_word(&near);
		ct_err_add(r->err, CT_ECONFIG, &w->key_at, "'sweep.exclude': '%s' is no axis%s%s%s",
			   ct_shown(shown, w->key, strlen(w->key)), best ? "; did you mean '" : "", best ? best : "",
			   best ? "'?" : "");
	}
	return (int)r->err->code;
}

static int make_cells(struct parser *r)
{
	struct ct_sweep_plan *p = r->p;
	const struct ct_yaml *rules = r->part[2] && r->part[2]->type == CT_YAML_LIST ? r->part[2]->first : NULL;
	size_t all = 1;

	for (size_t i = 0; i < p->n_axes; i++) {
		if (p->axis[i].n_values > CT_SWEEP_CELLS / all)
			return ct_err_add(r->err, CT_ECONFIG, NULL, "the axes make more than %d cells",
					  (int)CT_SWEEP_CELLS);
		all *= p->axis[i].n_values;
	}
	for (const struct ct_yaml *rule = rules; rule; rule = rule->next)
		CT_TRY(check_rule(r, rule));
	p->number = CT_NEW(&p->arena, uint32_t, all);
	for (size_t i = 0; i < all; i++) {
		const struct ct_yaml *rule = rules;

		while (rule && !is_excluded(p, i, rule))
			rule = rule->next;
		if (!rule)
			p->number[p->n_cells++] = (uint32_t)i;
	}
	for (const struct ct_yaml *rule = rules; rule; rule = rule->next) {
		size_t i = 0;

		while (i < all && !is_excluded(p, i, rule))
			i++;
		if (i == all)
			ct_err_add(r->err, CT_ECONFIG, &rule->at, "'sweep.exclude': no cell has these values");
	}
	return p->n_cells ? (int)r->err->code : ct_err_add(r->err, CT_ECONFIG, NULL, "every cell is excluded");
}

/* ---- the tables */

static int take_baseline(struct parser *r)
{
	const struct ct_yaml *y = r->baseline;
	struct ct_sweep_plan *p = r->p;
	size_t key;

	if (!y)
		return 0;
	if (y->type != CT_YAML_MAP || y->n != 1 || y->first->type != CT_YAML_SCALAR)
		return ct_err_add(r->err, CT_ECONFIG, &y->at, "'sweep.baseline' wants one axis and its value");
	if (!known_key(p, y->first->key, &key) || key == p->seed_key)
		return ct_err_add(r->err, CT_ECONFIG, &y->first->key_at, "'sweep.baseline': '%s' is no axis",
				  y->first->key);
	for (size_t i = 0; i < p->n_cells; i++) {
		const struct ct_yaml *v = value_at(p, p->number[i], key);

		if (v && same_value(v, y->first)) {
			p->baseline_key = p->key[key];
			p->baseline_value = y->first->text;
			return 0;
		}
	}
	return ct_err_add(r->err, CT_ECONFIG, &y->first->at, "'sweep.baseline': no cell has this value");
}

static int take_metrics(struct parser *r)
{
	static const int usual[] = { CT_METRIC_mean_jct_s, CT_METRIC_p99_jct_s, CT_METRIC_mean_wait_s,
				     CT_METRIC_throughput, CT_METRIC_gpu_alloc_frac };
	const struct ct_yaml *list = r->part[3];
	struct ct_sweep_plan *p = r->p;

	if (!list) {
		memcpy(p->metric, usual, sizeof usual);
		p->n_metrics = sizeof usual / sizeof *usual;
		return 0;
	}
	for (const struct ct_yaml *y = list->type == CT_YAML_LIST ? list->first : NULL; y; y = y->next) {
		int m = y->type == CT_YAML_SCALAR ? ct_metric_find(y->text) : -1;
		struct ct_nearest near;
		const char *best;

		if (m >= 0 && p->n_metrics == CT_SWEEP_METRICS)
			return ct_err_add(r->err, CT_ECONFIG, &y->at, "'sweep.metrics' has more than %d",
					  (int)CT_SWEEP_METRICS);
		if (m >= 0) {
			p->metric[p->n_metrics++] = m;
			continue;
		}
		ct_nearest_init(&near, y->type == CT_YAML_SCALAR ? y->text : "");
		for (int i = 0; i < CT_METRIC_COUNT; i++)
			ct_nearest_offer(&near, ct_metric_info[i].key);
		best = ct_nearest_word(&near);
		ct_err_add(r->err, CT_ECONFIG, &y->at, "'sweep.metrics' wants metrics%s%s%s",
			   best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
	}
	return (int)r->err->code;
}

/* ---- the whole */

static int parse(struct parser *r, const char *path)
{
	struct ct_sweep_plan *p = r->p;
	struct ct_yaml *root = NULL;
	const char *slash;

	ct_opt_defaults(sweep_opts, p, &p->arena);
	p->file = ct_arena_text(&p->arena, path, strlen(path));
	CT_TRY(ct_data_path(p->file, &p->arena, &path, r->err));
	slash = strrchr(path, '/');
	p->folder = !slash ? NULL : slash == path ? "/" : ct_arena_text(&p->arena, path, (size_t)(slash - path));
	CT_TRY(ct_yaml_load(path, &p->arena, &root, r->err));
	if (root->type != CT_YAML_MAP)
		return wrong(r, root, "a sweep file", "a mapping of sections");
	p->base = root;
	take_section(r, root);
	take_lists(r, NULL, root);
	if (!r->err->code)
		make_axes(r);
	if (!r->err->code)
		make_cells(r);
	if (!r->err->code)
		take_baseline(r);
	take_metrics(r);
	return (int)r->err->code;
}

int ct_sweep_plan_load(const char *path, struct ct_sweep_plan **out, struct ct_err *err)
{
	struct parser *r = ct_calloc(1, sizeof *r);
	int rc;

	r->p = ct_calloc(1, sizeof *r->p);
	r->err = err;
	rc = parse(r, path);
	if (rc)
		ct_sweep_plan_free(r->p);
	else
		*out = r->p;
	free(r);
	return rc;
}

void ct_sweep_plan_free(struct ct_sweep_plan *p)
{
	if (!p)
		return;
	ct_arena_fini(&p->arena);
	free(p);
}

const char *ct_sweep_plan_value(const struct ct_sweep_plan *p, size_t cell, size_t key)
{
	const struct ct_yaml *y = value_at(p, p->number[cell], key);

	return y ? y->text : NULL;
}

static void put_axes(const struct ct_sweep_plan *p, size_t cell, bool cluster_file, struct ct_config *c,
		     struct ct_err *err)
{
	for (size_t k = 0; k < p->n_keys; k++) {
		const struct ct_yaml *y = value_at(p, p->number[cell], k);

		if (y && (strcmp(p->key[k], "cluster.file") == 0) == cluster_file)
			ct_config_set(c, p->key[k], y, p->folder, err);
	}
}

int ct_sweep_plan_config(const struct ct_sweep_plan *p, size_t cell, const struct ct_cell_set *set, size_t n,
			 struct ct_config *c, struct ct_err *err)
{
	unsigned before = err->count;

	put_axes(p, cell, true, c, err);
	ct_config_take(c, p->base, p->folder, err);
	put_axes(p, cell, false, c, err);
	if (err->count > before)
		return (int)err->code;
	return ct_cell_config(c, NULL, set, n, err);
}
