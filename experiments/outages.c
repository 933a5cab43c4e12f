/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows are read as they stand, sorted by node or GPU and time, and paired. */
#include "experiments/outages.h"

#include "calib/csv_table.h"
#include "sim/shown.h"

#include <stdlib.h>
#include <string.h>

enum { TIME, NODE, GPU, DURATION, EVENT, COLUMNS, OPTIONAL = 3 };
static const char *const names[COLUMNS] = { "time", "node", "gpu", "duration", "event" };

enum kind { OUTAGE, DOWN, UP };

struct row {
	uint32_t node, gpu;
	ct_time at, until; /* until: OUTAGE only */
	enum kind kind;
	size_t line, col; /* of the time */
};

struct loader {
	struct ct_table t;
	const struct ct_cluster_spec *cluster;
	uint32_t n_nodes;
	struct row *row;
	size_t n, cap;
};

#define FAIL(l, name, ...)                                                 \
	do {                                                               \
		struct ct_loc at_ = ct_table_loc(&(l)->t, (size_t)(name)); \
		ct_err_add((l)->t.err, CT_ECONFIG, &at_, __VA_ARGS__);     \
	} while (0)

/* ---- reading */

static ct_time read_time(struct loader *l, int name, ct_time least)
{
	struct ct_csv_field f = ct_table_cell(&l->t, (size_t)name);
	char b[CT_SHOWN];
	ct_time t;

	if (!ct_time_parse(f.s, f.n, &t) && t >= least && t <= CT_DURATION_LIMIT)
		return t;
	FAIL(l, name, "'%s' wants a number of seconds, %s 0 and at most %lld, got '%s'", names[name],
	     least ? "above" : "at least", (long long)(CT_DURATION_LIMIT / CT_SECOND), ct_shown(b, f.s, f.n));
	return 0;
}

/* A number below `n` of things that are `of` something. */
static uint32_t read_number(struct loader *l, int name, uint32_t n, const char *of)
{
	struct ct_csv_field f = ct_table_cell(&l->t, (size_t)name);
	char b[CT_SHOWN];
	int64_t v;

	if (!ct_parse_i64(f.s, f.n, &v) && v >= 0 && v < n)
		return (uint32_t)v;
	FAIL(l, name, "'%s' wants a whole number from 0 to %lld, the last of %s, got '%s'", names[name],
	     (long long)n - 1, of, ct_shown(b, f.s, f.n));
	return CT_NONE;
}

/* First GPU of a node, and how many it has. */
static uint32_t gpus_before(const struct ct_cluster_spec *c, uint32_t node, uint32_t *on_node)
{
	uint32_t before = 0;

	for (size_t i = 0; i < c->n; i++) {
		*on_node = c->nodes[i].gpus;
		if (node < c->nodes[i].count)
			return before + node * *on_node;
		node -= c->nodes[i].count;
		before += c->nodes[i].count * *on_node;
	}
	return before;
}

static uint32_t read_gpu(struct loader *l, uint32_t node)
{
	uint32_t on_node = 0, first, k;

	if (!ct_table_has(&l->t, GPU) || !ct_table_cell(&l->t, GPU).n || node == CT_NONE)
		return CT_NONE;
	first = gpus_before(l->cluster, node, &on_node);
	if (!on_node) {
		FAIL(l, GPU, "node %u has no GPU", node);
		return CT_NONE;
	}
	k = read_number(l, GPU, on_node, "its node");
	return k == CT_NONE ? CT_NONE : first + k;
}

static void read_kind(struct loader *l, struct row *r)
{
	bool lasts = ct_table_has(&l->t, DURATION) && ct_table_cell(&l->t, DURATION).n;
	bool event = ct_table_has(&l->t, EVENT) && ct_table_cell(&l->t, EVENT).n;
	struct ct_csv_field f;
	char b[CT_SHOWN];

	if (lasts == event) {
		FAIL(l, TIME, "a row wants a 'duration' or an 'event', got %s", lasts ? "both" : "neither");
		return;
	}
	if (lasts) {
		r->kind = OUTAGE;
		r->until = r->at + read_time(l, DURATION, 1);
		return;
	}
	f = ct_table_cell(&l->t, EVENT);
	r->kind = !strcmp(f.s, "up") ? UP : DOWN;
	if (r->kind == DOWN && strcmp(f.s, "down") != 0)
		FAIL(l, EVENT, "'event' wants down or up, got '%s'", ct_shown(b, f.s, f.n));
}

static void read_row(struct loader *l)
{
	unsigned before = l->t.err->count;
	struct ct_loc at = ct_table_loc(&l->t, TIME);
	struct row r = { .line = at.line, .col = at.col };

	r.at = read_time(l, TIME, 0);
	r.node = read_number(l, NODE, l->n_nodes, "the cluster");
	r.gpu = read_gpu(l, r.node);
	read_kind(l, &r);
	if (l->t.err->count != before)
		return;
	CT_GROW(l->row, l->cap, l->n + 1);
	l->row[l->n++] = r;
}

/* ---- pairing */

/* An `up` of an instant closes before a `down` opens. */
static int compare(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->gpu != b->gpu)
		return a->gpu < b->gpu ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if ((a->kind == UP) != (b->kind == UP))
		return a->kind == UP ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static bool same_thing(const struct row *a, const struct row *b)
{
	return a->node == b->node && a->gpu == b->gpu;
}

static void complain(struct loader *l, const struct row *r, const struct row *before)
{
	struct ct_loc at = { l->t.path, r->line, r->col };
	const char *what = r->gpu == CT_NONE ? "node" : "GPU";

	if (r->kind == UP)
		ct_err_add(l->t.err, CT_ECONFIG, &at, "the %s is not down at that time by a row 'down'", what);
	else
		ct_err_add(l->t.err, CT_ECONFIG, &at, "the %s is down at that time already, since line %zu", what,
			   before->line);
}

/* Rows are sorted. An outage stays open (up_us CT_NEVER) until its `up` comes. */
static void pair(struct loader *l, struct ct_outage *out, size_t *n)
{
	const struct row *last = NULL; /* that began out[*n - 1] */

	for (size_t i = 0; i < l->n; i++) {
		const struct row *r = &l->row[i];
		bool down = last && same_thing(last, r) && r->at < out[*n - 1].up_us;

		if ((r->kind == UP) != down || (down && last->kind == OUTAGE)) {
			complain(l, r, last);
		} else if (r->kind == UP) {
			out[*n - 1].up_us = r->at;
		} else {
			out[(*n)++] = (struct ct_outage){ .node = r->node,
							  .gpu = r->gpu,
							  .down_us = r->at,
							  .up_us = r->kind == OUTAGE ? r->until : CT_NEVER };
			last = r;
		}
	}
}

static int by_time(const void *x, const void *y)
{
	const struct ct_outage *a = x, *b = y;

	if (a->down_us != b->down_us)
		return a->down_us < b->down_us ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->gpu < b->gpu ? -1 : a->gpu > b->gpu;
}

int ct_outages_load(const char *path, const struct ct_cluster_spec *cluster, struct ct_arena *arena,
		    struct ct_failure_spec *f, struct ct_err *err)
{
	struct loader l = { .cluster = cluster };
	struct ct_loc whole = { .file = path };
	struct ct_outage *out;
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < cluster->n; i++)
		l.n_nodes += cluster->nodes[i].count;
	CT_TRY(ct_table_open_optional(&l.t, path, names, COLUMNS, OPTIONAL, CT_TABLE_REFUSE_UNKNOWN, err));
	while (ct_table_next(&l.t) == 1)
		read_row(&l);
	if (!err->code && !l.n)
		ct_err_at(err, CT_ECONFIG, &whole, "holds no outages");
	out = CT_NEW(arena, struct ct_outage, l.n ? l.n : 1);
	if (l.n) {
		qsort(l.row, l.n, sizeof *l.row, compare);
		pair(&l, out, &n);
	}
	if (n)
		qsort(out, n, sizeof *out, by_time);
	rc = ct_table_close(&l.t);
	if (!rc) {
		f->outage = out;
		f->n_outages = n;
	}
	free(l.row);
	return rc;
}
