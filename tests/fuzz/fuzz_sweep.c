/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_sweep.c - sweep files from any bytes. Relations, not only absence of crashes:
 *  - an error has a message and an exit code of the outside world;
 *  - a plan has the cells that another count gives: of all tuples of values, walked through
 *    one by one, those that no exclusion names; and each cell has its tuple's values;
 *  - cells that say the same in full have one hash, and one hash means that they do;
 *  - a cell's configuration, printed and read again, has the same hash. */
#include "experiments/sweep/identity.h"
#include "experiments/sweep/plan.h"
#include "sim/csv.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(cond)                                                                    \
	do {                                                                             \
		if (!(cond)) {                                                           \
			fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #cond); \
			abort();                                                         \
		}                                                                        \
	} while (0)

enum { KEYS = 128, MOST_TUPLES = 5000, MOST_CELLS = 12, NAME = 300 };

/* ---- the other count: every list is a wheel, zipped ones turn with their first */

struct wheel {
	char key[NAME];
	const struct ct_yaml *list; /* NULL: seeds by sweep.runs */
	int64_t first, n;
	int turns_with; /* another wheel, or itself */
};

struct count {
	struct wheel wheel[KEYS];
	int n;
	const struct ct_yaml *cells, *exclude;
	int64_t at[KEYS], at_cell, n_cells;
};

static const struct ct_yaml *child(const struct ct_yaml *map, const char *key)
{
	for (const struct ct_yaml *y = map && map->type == CT_YAML_MAP ? map->first : NULL; y; y = y->next)
		if (!strcmp(y->key, key))
			return y;
	return NULL;
}

/* 0: more than is counted here. */
static int find_wheels(struct count *c, const struct ct_yaml *map, const char *prefix)
{
	for (const struct ct_yaml *y = map->first; y; y = y->next) {
		struct wheel *w = &c->wheel[c->n];
		int n;

		if (c->n == KEYS)
			return 0;
		if (!*prefix && !strcmp(y->key, "sweep"))
			continue;
		n = snprintf(w->key, NAME, "%s%s%s", prefix, *prefix ? "." : "", y->key);
		if (n >= NAME)
			return 0;
		if (y->type == CT_YAML_LIST && *prefix && strcmp(w->key, "cluster.node_types") != 0) {
			w->list = y;
			w->n = (int64_t)y->n;
			w->turns_with = c->n++;
		} else if (y->type == CT_YAML_MAP) {
			char name[NAME];

			memcpy(name, w->key, sizeof name);
			if (!find_wheels(c, y, name))
				return 0;
		}
	}
	return 1;
}

static int wheel_named(const struct count *c, const char *key)
{
	for (int i = 0; i < c->n; i++)
		if (!strcmp(c->wheel[i].key, key))
			return i;
	return -1;
}

static void zip(struct count *c, const struct ct_yaml *groups)
{
	for (const struct ct_yaml *g = groups ? groups->first : NULL; g; g = g->next)
		for (const struct ct_yaml *name = g->first; name; name = name->next) {
			int i = name->text ? wheel_named(c, name->text) : -1,
			    first = g->first->text ? wheel_named(c, g->first->text) : -1;

			if (i >= 0 && first >= 0)
				c->wheel[i].turns_with = first;
		}
}

/* 0: not counted here. */
static int prepare(struct count *c, const struct ct_yaml *root)
{
	const struct ct_yaml *sweep = child(root, "sweep"), *runs = child(sweep, "runs"),
			     *seed = child(sweep, "initial_seed");
	double tuples = 1;

	memset(c, 0, sizeof *c);
	if (!root || root->type != CT_YAML_MAP || !find_wheels(c, root, ""))
		return 0;
	zip(c, child(sweep, "zip"));
	c->cells = child(sweep, "cells");
	c->exclude = child(sweep, "exclude");
	if (runs && c->n < KEYS) {
		struct wheel *w = &c->wheel[c->n];

		w->first = 1;
		if (runs->type != CT_YAML_SCALAR || ct_parse_i64(runs->text, strlen(runs->text), &w->n) ||
		    (seed && (seed->type != CT_YAML_SCALAR || ct_parse_i64(seed->text, strlen(seed->text), &w->first))))
			return 0;
		snprintf(w->key, NAME, "sim.seed");
		w->turns_with = c->n++;
	}
	c->n_cells = c->cells && c->cells->n ? (int64_t)c->cells->n : 1;
	tuples *= (double)c->n_cells;
	for (int i = 0; i < c->n; i++)
		tuples *= c->wheel[i].turns_with == i && c->wheel[i].n > 0 ? (double)c->wheel[i].n : 1;
	return tuples <= MOST_TUPLES;
}

/* The text of a key in the tuple that the wheels show; NULL: not set. */
static const char *shown(const struct count *c, const char *key, char *number)
{
	int i = wheel_named(c, key);
	const struct ct_yaml *y;
	int64_t k;

	if (i < 0) {
		y = c->cells ? c->cells->first : NULL;
		for (k = 0; y && k < c->at_cell; k++)
			y = y->next;
		y = child(y, key);
		return y ? y->text : NULL;
	}
	k = c->at[c->wheel[i].turns_with];
	if (!c->wheel[i].list) {
		sprintf(number, "%lld", (long long)(c->wheel[i].first + k));
		return number;
	}
	for (y = c->wheel[i].list->first; k > 0; k--)
		y = y->next;
	return y->text;
}

static int equal(const char *a, const char *b)
{
	double x, y;

	return !strcmp(a, b) ||
	       (!ct_parse_f64(a, strlen(a), &x) && !ct_parse_f64(b, strlen(b), &y) && x - y >= 0 && x - y <= 0);
}

static int rule_holds(const struct count *c, const struct ct_yaml *rule)
{
	for (const struct ct_yaml *w = rule->first; w; w = w->next) {
		char number[32];
		const char *text = shown(c, w->key, number);
		int met = 0;

		if (!text)
			return 0;
		if (w->type == CT_YAML_SCALAR)
			met = equal(text, w->text);
		for (const struct ct_yaml *v = w->type == CT_YAML_LIST ? w->first : NULL; v; v = v->next)
			met |= equal(text, v->text);
		if (!met)
			return 0;
	}
	return 1;
}

static int is_left_out(const struct count *c)
{
	for (const struct ct_yaml *rule = c->exclude ? c->exclude->first : NULL; rule; rule = rule->next)
		if (rule_holds(c, rule))
			return 1;
	return 0;
}

/* The next tuple; 0: that was the last. Explicit cells are the slowest wheel, seeds that
 * are not zipped the fastest. */
static int turn(struct count *c)
{
	int seeds = wheel_named(c, "sim.seed"), own = 0;

	for (int i = 0; seeds >= 0 && i < c->n; i++)
		own += c->wheel[i].turns_with == c->wheel[seeds].turns_with;
	for (int pass = 0; pass < 2; pass++)
		for (int i = c->n; i-- > 0;) {
			if (c->wheel[i].turns_with != i || (pass == 0) != (i == seeds && own == 1))
				continue;
			if (++c->at[i] < c->wheel[i].n)
				return 1;
			c->at[i] = 0;
		}
	return ++c->at_cell < c->n_cells;
}

/* ---- against the plan */

static void check_cells(struct count *c, const struct ct_sweep_plan *p)
{
	size_t n = 0;

	do {
		if (is_left_out(c))
			continue;
		REQUIRE(n < p->n_cells);
		for (size_t k = 0; k < p->n_keys; k++) {
			char number[32];
			const char *want = shown(c, p->key[k], number), *got = ct_sweep_plan_value(p, n, k);

			REQUIRE(!want == !got);
			REQUIRE(!want || !strcmp(want, got));
		}
		n++;
	} while (turn(c));
	REQUIRE(n == p->n_cells);
}

struct seen {
	char hash[CT_SWEEP_HASH];
	char *digest_text, *yaml;
};

static void check_error(const struct ct_err *err)
{
	REQUIRE(err->count && err->kept && *err->text);
	REQUIRE(err->code == CT_ECONFIG || err->code == CT_EIO || err->code == CT_EPOLICY);
}

static void check_round_trip(const char *text, const char *folder, const char *hash)
{
	struct ct_err err = { 0 };
	struct ct_config c;
	char again[CT_SWEEP_HASH];

	ct_config_init(&c);
	REQUIRE(!ct_config_parse(&c, "printed", text, strlen(text), folder, &err));
	REQUIRE(!ct_config_finish(&c, CT_CONFIG_RUN, &err));
	REQUIRE(!ct_sweep_hash(&c, NULL, NULL, again, &err));
	REQUIRE(!strcmp(hash, again));
	ct_config_fini(&c);
}

static void check_hashes(const struct ct_sweep_plan *p)
{
	struct seen seen[MOST_CELLS];
	size_t n = 0;

	for (size_t i = 0; i < p->n_cells && n < MOST_CELLS; i++) {
		struct ct_err err = { 0 };
		struct seen *s = &seen[n];
		struct ct_config c;

		ct_config_init(&c);
		if (ct_sweep_plan_config(p, i, NULL, 0, &c, &err)) {
			check_error(&err);
			ct_config_fini(&c);
			if (!n)
				break; /* the others will hardly do */
			continue;
		}
		REQUIRE(!ct_sweep_hash(&c, NULL, NULL, s->hash, &err));
		REQUIRE(strspn(s->hash, "0123456789abcdef") == CT_SWEEP_HASH - 1);
		s->digest_text = strdup(ct_config_digest_text(&c));
		s->yaml = strdup(ct_config_yaml(&c));
		check_round_trip(s->yaml, p->folder, s->hash);
		for (size_t k = 0; k < n; k++) {
			int one = !strcmp(seen[k].hash, s->hash);

			REQUIRE(one || strcmp(seen[k].yaml, s->yaml) != 0);
			REQUIRE(!one || !strcmp(seen[k].digest_text, s->digest_text));
		}
		n++;
		ct_config_fini(&c);
	}
	for (size_t k = 0; k < n; k++) {
		free(seen[k].digest_text);
		free(seen[k].yaml);
	}
}

/* In a folder of this process; left empty after every input. */
static const char *scratch(void)
{
	static char path[64];

	if (!*path) {
		const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

		snprintf(path, sizeof path, "%s/cotenant-fuzz-sweep-%ld.yaml", base, (long)getpid());
	}
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_sweep_plan *p = NULL;
	struct ct_arena arena = { 0 };
	struct ct_yaml *root = NULL;
	struct ct_err err = { 0 };
	struct count *c;
	FILE *f;

	/* Neither devices nor shared objects: the input names files. */
	if (memchr(data, '/', size) || memmem(data, size, ".so", 3))
		return 0;
	c = malloc(sizeof *c);
	if (ct_yaml_parse("count", data, size, &arena, &root, &err) == 0 && !prepare(c, root)) {
		free(c); /* too many, or nothing that could be counted */
		ct_arena_fini(&arena);
		return 0;
	}
	f = fopen(scratch(), "wb");
	REQUIRE(f && fwrite(data, 1, size, f) == size && !fclose(f));
	err = (struct ct_err){ 0 };
	if (ct_sweep_plan_load(scratch(), &p, &err)) {
		REQUIRE(!p);
		check_error(&err);
	} else {
		REQUIRE(root);
		check_cells(c, p);
		check_hashes(p);
		ct_sweep_plan_free(p);
	}
	unlink(scratch());
	free(c);
	ct_arena_fini(&arena);
	return 0;
}
