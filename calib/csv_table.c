/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/csv_table.h"

#include "sim/memory.h"
#include "sim/nearest.h"
#include "sim/shown.h"

#include <stdio.h>
#include <string.h>

/* The tokenizer speaks of traces; here the same faults are configuration errors. */
static void as_config(struct ct_err *err)
{
	if (err->code == CT_ETRACE)
		err->code = CT_ECONFIG;
}

static int is_field(const struct ct_table *t, size_t field, const char *name)
{
	struct ct_csv_field f = ct_csv_field(t->csv, field);

	return f.n == strlen(name) && !memcmp(f.s, name, f.n);
}

static void unknown_column(struct ct_table *t, size_t field, enum ct_table_unknown unknown)
{
	struct ct_csv_field f = ct_csv_field(t->csv, field);
	struct ct_loc at = ct_csv_loc(t->csv, field);
	struct ct_nearest near;
	char b[CT_SHOWN];
	size_t used = strlen(t->unknown);

	ct_shown(b, f.s, f.n);
	if (unknown == CT_TABLE_KEEP_UNKNOWN) {
		snprintf(t->unknown + used, sizeof t->unknown - used, "%s%s", used ? ", " : "", b);
		return;
	}
	ct_nearest_init(&near, b);
	for (size_t k = 0; k < t->n_names; k++)
		if (t->field[k] == SIZE_MAX)
			ct_nearest_offer(&near, t->names[k]);
	if (ct_nearest_word(&near))
		ct_err_add(t->err, CT_ECONFIG, &at, "unknown column '%s'; did you mean '%s'?", b,
			   ct_nearest_word(&near));
	else
		ct_err_add(t->err, CT_ECONFIG, &at, "unknown column '%s'", b);
}

static void find_columns(struct ct_table *t)
{
	for (size_t k = 0; k < t->n_names; k++) {
		t->field[k] = SIZE_MAX;
		for (size_t i = 0; i < t->n_fields; i++) {
			struct ct_loc at = ct_csv_loc(t->csv, i);

			if (!is_field(t, i, t->names[k]))
				continue;
			if (t->field[k] != SIZE_MAX)
				ct_err_add(t->err, CT_ECONFIG, &at, "column '%s' stands twice", t->names[k]);
			else
				t->field[k] = i;
		}
	}
}

static void check_columns(struct ct_table *t, size_t required, enum ct_table_unknown unknown)
{
	struct ct_loc head = ct_csv_loc(t->csv, SIZE_MAX);

	for (size_t i = 0; i < t->n_fields; i++) {
		size_t k = 0;

		while (k < t->n_names && !is_field(t, i, t->names[k]))
			k++;
		if (k == t->n_names)
			unknown_column(t, i, unknown);
	}
	for (size_t k = 0; k < required; k++)
		if (t->field[k] == SIZE_MAX)
			ct_err_add(t->err, CT_ECONFIG, &head, "no column '%s'", t->names[k]);
}

int ct_table_open_some(struct ct_table *t, const char *path, const char *const *names, size_t n, size_t required,
		       enum ct_table_unknown unknown, struct ct_err *err)
{
	struct ct_loc whole = { .file = path };
	int rc;

	CT_CHECK(NULL, n <= CT_TABLE_COLUMNS, "%zu columns", n);
	memset(t, 0, sizeof *t);
	t->err = err;
	t->path = path;
	t->names = names;
	t->n_names = n;
	CT_TRY(ct_csv_open(path, ',', &t->csv, err));
	rc = ct_csv_next(t->csv, err);
	as_config(err);
	if (rc == 0)
		ct_err_at(err, CT_ECONFIG, &whole, "is empty");
	if (rc == 1) {
		t->n_fields = ct_csv_fields(t->csv);
		find_columns(t);
		check_columns(t, required, unknown);
	}
	return err->code ? ct_table_close(t) : 0;
}

int ct_table_open(struct ct_table *t, const char *path, const char *const *names, size_t n,
		  enum ct_table_unknown unknown, struct ct_err *err)
{
	return ct_table_open_some(t, path, names, n, n, unknown, err);
}

int ct_table_has(const struct ct_table *t, size_t name)
{
	return t->field[name] != SIZE_MAX;
}

int ct_table_next(struct ct_table *t)
{
	int rc;

	while ((rc = ct_csv_next(t->csv, t->err)) == 1) {
		size_t n = ct_csv_fields(t->csv);
		struct ct_loc at = ct_csv_loc(t->csv, n < t->n_fields ? n - 1 : t->n_fields);

		if (n == t->n_fields)
			return 1;
		ct_err_add(t->err, CT_ECONFIG, &at, "row has %zu fields, wanted %zu as in the header", n, t->n_fields);
	}
	as_config(t->err);
	return 0;
}

struct ct_csv_field ct_table_cell(const struct ct_table *t, size_t name)
{
	return ct_csv_field(t->csv, t->field[name]);
}

struct ct_loc ct_table_loc(const struct ct_table *t, size_t name)
{
	return ct_csv_loc(t->csv, name == SIZE_MAX ? SIZE_MAX : t->field[name]);
}

int ct_table_close(struct ct_table *t)
{
	ct_csv_close(t->csv);
	t->csv = NULL;
	return (int)t->err->code;
}
