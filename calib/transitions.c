/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/transitions.h"

#include "calib/csv_table.h"
#include "sim/nearest.h"
#include "sim/shown.h"
#include "sim/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND, MODEL, FROM, TO, SECONDS, BLOCKS, SOURCE, COLUMNS };
enum { ROWS = 10000 }; /* far more than any table has */
static const char *const names[COLUMNS] = { "kind", "model", "from", "to", "seconds", "blocks", "source" };

static const char *const kinds[CT_TRANSITION_KINDS] = {
	[CT_TRANSITION_START] = "start",
	[CT_TRANSITION_SWITCH] = "switch",
	[CT_TRANSITION_MIGRATE] = "migrate",
	[CT_TRANSITION_RESUME] = "resume",
};

struct loader {
	struct ct_table t;
	struct ct_arena *arena;
	struct ct_transition *row;
	size_t *line; /* of each row */
	size_t n, cap, cap_line;
};

#define FAIL(l, name, ...)                                             \
	do {                                                           \
		struct ct_loc at_ = ct_table_loc(&(l)->t, (name));     \
		ct_err_add((l)->t.err, CT_ECONFIG, &at_, __VA_ARGS__); \
	} while (0)

static void read_kind(struct loader *l, struct ct_transition *out)
{
	struct ct_csv_field f = ct_table_cell(&l->t, KIND);
	struct ct_nearest near;
	char b[CT_SHOWN];
	int k = 0;

	ct_shown(b, f.s, f.n);
	ct_nearest_init(&near, b);
	for (; k < CT_TRANSITION_KINDS && strcmp(kinds[k], f.s) != 0; k++)
		ct_nearest_offer(&near, kinds[k]);
	if (k < CT_TRANSITION_KINDS)
		out->kind = (enum ct_transition_kind)k;
	else if (ct_nearest_word(&near))
		FAIL(l, KIND, "'kind' wants start, switch, migrate or resume, got '%s'; did you mean '%s'?", b,
		     ct_nearest_word(&near));
	else
		FAIL(l, KIND, "'kind' wants start, switch, migrate or resume, got '%s'", b);
}

/* NULL for any. */
static const char *read_name(struct loader *l, int name)
{
	struct ct_csv_field f = ct_table_cell(&l->t, (size_t)name);

	return !f.n || !strcmp(f.s, "*") ? NULL : ct_arena_text(l->arena, f.s, f.n);
}

static void read_seconds(struct loader *l, struct ct_transition *out)
{
	struct ct_csv_field f = ct_table_cell(&l->t, SECONDS);
	char b[CT_SHOWN];
	int rc = ct_time_parse(f.s, f.n, &out->cost_us);

	ct_shown(b, f.s, f.n);
	if (rc == -1)
		FAIL(l, SECONDS, "'seconds' wants a number, got '%s'", b);
	else if (rc || out->cost_us < 0 || out->cost_us > CT_DURATION_LIMIT)
		FAIL(l, SECONDS, "'seconds' wants 0 to %lld, got '%s'", (long long)(CT_DURATION_LIMIT / CT_SECOND), b);
}

static void read_blocks(struct loader *l, struct ct_transition *out)
{
	struct ct_csv_field f = ct_table_cell(&l->t, BLOCKS);
	char b[CT_SHOWN];

	out->blocks = !strcmp(f.s, "1");
	if (!out->blocks && strcmp(f.s, "0") != 0)
		FAIL(l, BLOCKS, "'blocks' wants 0 or 1, got '%s'", ct_shown(b, f.s, f.n));
}

static int same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* A row given twice would be decided by its place in the file: refused. Tables have
 * tens of rows, so looking at all pairs is cheaper than a table of keys. */
static void check_twice(struct loader *l, const struct ct_transition *t)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct ct_transition *o = &l->row[i];

		if (o->kind == t->kind && same(o->model, t->model) && same(o->from, t->from) && same(o->to, t->to)) {
			FAIL(l, KIND, "the same transition stands in line %zu", l->line[i]);
			return;
		}
	}
}

static void read_row(struct loader *l)
{
	unsigned before = l->t.err->count;
	struct ct_transition t = { 0 };
	struct ct_csv_field source = ct_table_cell(&l->t, SOURCE);

	read_kind(l, &t);
	t.model = read_name(l, MODEL);
	t.from = read_name(l, FROM);
	t.to = read_name(l, TO);
	read_seconds(l, &t);
	read_blocks(l, &t);
	if (!source.n)
		FAIL(l, SOURCE, "'source' is empty; say where the number comes from");
	t.source = ct_arena_text(l->arena, source.s, source.n);
	if (l->t.err->count != before)
		return;
	if (l->n == ROWS) {
		FAIL(l, KIND, "more than %d transitions", ROWS);
		return;
	}
	check_twice(l, &t);
	CT_GROW(l->row, l->cap, l->n + 1);
	CT_GROW(l->line, l->cap_line, l->n + 1);
	l->line[l->n] = ct_table_loc(&l->t, SIZE_MAX).line;
	l->row[l->n++] = t;
}

int ct_transitions_load(const char *path, struct ct_arena *arena, struct ct_transition_table *out, struct ct_err *err)
{
	struct loader l = { .arena = arena };
	struct ct_loc whole = { .file = path };
	struct ct_transition *rows;
	int rc;

	CT_TRY(ct_table_open(&l.t, path, names, COLUMNS, CT_TABLE_REFUSE_UNKNOWN, err));
	while (ct_table_next(&l.t) == 1)
		read_row(&l);
	if (!err->code && !l.n)
		ct_err_at(err, CT_ECONFIG, &whole, "holds no transitions");
	rc = ct_table_close(&l.t);
	if (!rc) {
		rows = CT_NEW(arena, struct ct_transition, l.n);
		memcpy(rows, l.row, l.n * sizeof *rows);
		*out = (struct ct_transition_table){ .row = rows, .n = l.n };
	}
	free(l.row);
	free(l.line);
	return rc;
}
