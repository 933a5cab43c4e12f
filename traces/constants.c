/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/constants.h"

#include "sim/changes.h"
#include "sim/csv.h"
#include "sim/memory.h"
#include "sim/shown.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
	const char *name;
	struct ct_constant_row *row;
	size_t n, cap;
	struct ct_constant_table view;
};

struct ct_constants {
	struct ct_arena arena;
	const char *path;
	struct table *table;
	size_t n, cap;
};

enum { NAME, AT, VALUE, KIND, SOURCE, FIELDS };
static const char *const header[FIELDS] = { "name", "at", "value", "kind", "source" };
static const char *const kinds[] = { "paper", "measured", "assumed" };

static const char *keep(struct ct_constants *c, struct ct_csv_field f)
{
	return ct_arena_text(&c->arena, f.s, f.n);
}

/* Tables are few; the rows of one mostly follow each other. */
static struct table *table_of(struct ct_constants *c, struct ct_csv_field name)
{
	for (size_t i = c->n; i-- > 0;)
		if (strcmp(c->table[i].name, name.s) == 0)
			return &c->table[i];
	CT_GROW(c->table, c->cap, c->n + 1);
	c->table[c->n] = (struct table){ .name = keep(c, name) };
	return &c->table[c->n++];
}

static int same_key(const struct table *t, const char *at)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->row[i].at, at) == 0)
			return 1;
	return 0;
}

static int read_kind(struct ct_csv_field f, enum ct_constant_kind *out)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i], f.s) == 0) {
			*out = (enum ct_constant_kind)i;
			return 0;
		}
	}
	return -1;
}

#define WRONG(in, i, err, ...)                                    \
	do {                                                      \
		struct ct_loc at_ = ct_csv_loc((in), (i));        \
		ct_err_add((err), CT_ECONFIG, &at_, __VA_ARGS__); \
	} while (0)

static void read_row(struct ct_constants *c, struct ct_csv *in, struct ct_err *err)
{
	unsigned before = err->count;
	struct ct_constant_row row = { .line = ct_csv_loc(in, SIZE_MAX).line };
	struct ct_csv_field f[FIELDS];
	struct table *t;
	char shown[CT_SHOWN];

	if (ct_csv_fields(in) != FIELDS) {
		WRONG(in, SIZE_MAX, err, "wanted %d fields, got %zu", FIELDS, ct_csv_fields(in));
		return;
	}
	for (size_t i = 0; i < FIELDS; i++)
		f[i] = ct_csv_field(in, i);
	if (ct_parse_f64(f[VALUE].s, f[VALUE].n, &row.value))
		WRONG(in, VALUE, err, "'value' wants a number, got '%s'", ct_shown(shown, f[VALUE].s, f[VALUE].n));
	if (read_kind(f[KIND], &row.kind))
		WRONG(in, KIND, err, "'kind' wants paper, measured or assumed, got '%s'",
		      ct_shown(shown, f[KIND].s, f[KIND].n));
	if (!f[NAME].n || !f[SOURCE].n)
		WRONG(in, f[NAME].n ? SOURCE : NAME, err, "a number wants a name and a source");
	if (ct_parse_f64(f[AT].s, f[AT].n, &row.at_number))
		row.at_number = (double)NAN;
	if (err->count > before)
		return;
	t = table_of(c, f[NAME]);
	if (same_key(t, f[AT].s)) {
		WRONG(in, AT, err, "'%s' has '%s' twice", t->name, ct_shown(shown, f[AT].s, f[AT].n));
		return;
	}
	row.at = keep(c, f[AT]);
	row.source = keep(c, f[SOURCE]);
	CT_GROW(t->row, t->cap, t->n + 1);
	t->row[t->n++] = row;
}

static int check_header(struct ct_csv *in, struct ct_err *err)
{
	int ok = ct_csv_fields(in) == FIELDS;

	for (size_t i = 0; ok && i < FIELDS; i++)
		ok = strcmp(ct_csv_field(in, i).s, header[i]) == 0;
	if (!ok)
		WRONG(in, SIZE_MAX, err, "wanted the header name,at,value,kind,source");
	return (int)err->code;
}

static int read_all(struct ct_constants *c, struct ct_csv *in, struct ct_err *err)
{
	struct ct_loc at = { .file = c->path };
	int rc = ct_csv_next(in, err);

	if (rc == 0)
		return ct_err_at(err, CT_ECONFIG, &at, "is empty; wanted the header name,at,value,kind,source");
	if (rc != 1)
		return rc;
	CT_TRY(check_header(in, err));
	while ((rc = ct_csv_next(in, err)) == 1)
		read_row(c, in, err);
	for (size_t i = 0; i < c->n; i++)
		c->table[i].view = (struct ct_constant_table){ c->table[i].name, c->table[i].row, c->table[i].n };
	return err->code ? (int)err->code : rc;
}

int ct_constants_load(const char *path, struct ct_constants **out, struct ct_err *err)
{
	struct ct_constants *c;
	struct ct_csv *in;
	int rc;

	CT_TRY(ct_csv_open(path, ',', &in, err));
	c = ct_calloc(1, sizeof *c);
	c->path = ct_arena_text(&c->arena, path, strlen(path));
	rc = read_all(c, in, err);
	ct_csv_close(in);
	if (rc)
		ct_constants_free(c);
	else
		*out = c;
	return rc;
}

void ct_constants_free(struct ct_constants *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		free(c->table[i].row);
	free(c->table);
	ct_arena_fini(&c->arena);
	free(c);
}

static int change_rows(struct ct_constants *c, const struct ct_change *change)
{
	int n = 0;

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; !strcmp(c->table[i].name, change->name) && k < c->table[i].n; k++) {
			struct ct_constant_row *row = &c->table[i].row[k];

			if (change->key && strcmp(change->key, row->at) != 0)
				continue;
			row->value = ct_change_of(change, row->value);
			n++;
		}
	return n;
}

int ct_constants_change(struct ct_constants *c, const char *changes, struct ct_err *err)
{
	struct ct_change *change;
	size_t n;

	CT_TRY(ct_changes_parse(changes, &c->arena, &change, &n, err));
	for (size_t i = 0; i < n; i++)
		if (!change_rows(c, &change[i]))
			ct_constants_refuse(c, err, "no row '%.60s'%s%.60s%s to change", change[i].name,
					    change[i].key ? " at '" : "", change[i].key ? change[i].key : "",
					    change[i].key ? "'" : "");
	return (int)err->code;
}

int ct_constants_refuse(const struct ct_constants *c, struct ct_err *err, const char *fmt, ...)
{
	struct ct_loc at = { .file = c->path };
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return ct_err_add(err, CT_ECONFIG, &at, "%s", text);
}

const struct ct_constant_table *ct_constant_table(const struct ct_constants *c, const char *name, size_t least,
						  struct ct_err *err)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->table[i].name, name) != 0)
			continue;
		if (c->table[i].n >= least)
			return &c->table[i].view;
		ct_constants_refuse(c, err, "'%s' wants at least %zu rows, got %zu", name, least, c->table[i].n);
		return NULL;
	}
	ct_constants_refuse(c, err, "'%s' is missing", name);
	return NULL;
}

double ct_constant(const struct ct_constants *c, const char *name, struct ct_err *err)
{
	const struct ct_constant_table *t = ct_constant_table(c, name, 1, err);

	if (!t)
		return 0;
	if (t->n == 1 && !*t->row[0].at)
		return t->row[0].value;
	ct_constants_refuse(c, err, "'%s' wants one number, not a table", name);
	return 0;
}

double ct_constant_at(const struct ct_constant_table *t, const char *at)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->row[i].at, at) == 0)
			return t->row[i].value;
	return (double)NAN;
}
