/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/paper.h"

#include "experiments/capacity.h"
#include "experiments/yaml.h"
#include "sim/csv.h"

#include <string.h>

static int refuse(const struct ct_yaml *y, struct ct_err *err, const char *wanted, const char *got)
{
	return ct_err_add(err, CT_ECONFIG, &y->at, "'%.40s' wants %s, got '%.60s'", y->key, wanted, got);
}

static void read_settings(struct ct_paper *p, const struct ct_yaml *y, struct ct_err *err)
{
	struct ct_paper_plan *plan = &p->plan;

	if (y->type != CT_YAML_MAP) {
		refuse(y, err, "a mapping of settings", ct_yaml_type_name(y));
		return;
	}
	plan->set = CT_NEW(&p->arena, struct ct_cell_set, y->n + 1);
	for (const struct ct_yaml *c = y->first; c; c = c->next) {
		if (c->type != CT_YAML_SCALAR)
			refuse(c, err, "one value", ct_yaml_type_name(c));
		else
			plan->set[plan->n_set++] = (struct ct_cell_set){ c->key, c->text };
	}
}

static void read_list(struct ct_paper *p, const struct ct_yaml *y, size_t most, const char ***out, size_t *n,
		      struct ct_err *err)
{
	if (y->type != CT_YAML_LIST || !y->n || y->n > most) {
		refuse(y, err, "a list of a few names", ct_yaml_type_name(y));
		return;
	}
	*out = CT_NEW(&p->arena, const char *, y->n);
	for (const struct ct_yaml *c = y->first; c; c = c->next) {
		if (c->type != CT_YAML_SCALAR)
			ct_err_add(err, CT_ECONFIG, &c->at, "'%.40s' wants names, got %s", y->key,
				   ct_yaml_type_name(c));
		else
			(*out)[(*n)++] = c->text;
	}
}

/* What is wrong with a target or a range is said where it stands. */
static void check_range(const struct ct_yaml *y, struct ct_err *err)
{
	struct ct_err inner = { 0 };
	int64_t lo, hi;
	int in_nodes;

	if (ct_capacity_vary_parse(y->text, &lo, &hi, &in_nodes, &inner))
		refuse(y, err, "gpus=LO..HI", y->text);
}

static void check_targets(const struct ct_yaml *y, struct ct_err *err)
{
	for (const struct ct_yaml *c = y->type == CT_YAML_LIST ? y->first : NULL; c; c = c->next) {
		struct ct_capacity_target t;
		struct ct_err inner = { 0 };

		if (c->type == CT_YAML_SCALAR && (ct_capacity_target_parse(c->text, &t, &inner) || t.class))
			ct_err_add(err, CT_ECONFIG, &c->at,
				   "'targets' wants METRIC<=NUMBER,... of a class, got '%.60s'", c->text);
	}
}

static void set_key(struct ct_paper *p, const struct ct_yaml *y, struct ct_err *err)
{
	struct ct_paper_plan *plan = &p->plan;

	if (!strcmp(y->key, "set")) {
		read_settings(p, y, err);
	} else if (!strcmp(y->key, "pools")) {
		read_list(p, y, CT_CAPACITY_POLICIES - 1, &plan->pool, &plan->n_pools, err);
	} else if (!strcmp(y->key, "targets")) {
		read_list(p, y, CT_CAPACITY_TARGETS, &plan->target, &plan->n_targets, err);
		check_targets(y, err);
	} else if (y->type != CT_YAML_SCALAR) {
		refuse(y, err, "one value", ct_yaml_type_name(y));
	} else if (!strcmp(y->key, "vary")) {
		plan->vary = y->text;
		check_range(y, err);
	} else if (!strcmp(y->key, "shared")) {
		plan->shared = y->text;
	} else if (!strcmp(y->key, "runs")) {
		if (ct_parse_i64(y->text, strlen(y->text), &plan->runs) || plan->runs < 1 || plan->runs > 1000)
			refuse(y, err, "a whole number of 1 to 1000", y->text);
	} else {
		ct_err_add(err, CT_ECONFIG, &y->key_at, "unknown key '%.60s'", y->key);
	}
}

void ct_paper_read_plan(struct ct_paper *p, const struct ct_yaml *y, struct ct_err *err)
{
	const struct ct_paper_plan *plan = &p->plan;

	if (y->type != CT_YAML_MAP) {
		refuse(y, err, "a mapping", ct_yaml_type_name(y));
		return;
	}
	for (const struct ct_yaml *c = y->first; c; c = c->next)
		set_key(p, c, err);
	if (!plan->vary || !plan->shared || !plan->runs || !plan->n_targets || !plan->n_pools)
		ct_err_add(err, CT_ECONFIG, &y->at, "'plan' wants vary, shared, runs, targets and pools");
}
