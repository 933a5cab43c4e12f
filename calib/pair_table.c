/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of precedence are worked out once, at loading: what remains for the
 * engine is two array look-ups. Names that the table mentions and jobs use get a
 * dense index from 1 on; index 0 is every other model, which only "*" rows reach. */
#include "calib/pair_table.h"

#include "calib/csv_table.h"
#include "sim/digest.h"
#include "sim/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL, PARTNER, FACTOR, FIRST, COLUMNS };
static const char *const names[COLUMNS] = { "model", "partner", "factor", "first" };

enum { INDEX_LIMIT = 4096 }; /* models in the matrix: 128 MiB of doubles */
#define FACTOR_LIMIT 2.0

struct row {
	uint32_t model, partner; /* numbers in the loader's strings */
	double factor, first;    /* first: NaN where not given */
	size_t line, col;
};

struct ct_pair_table {
	double fallback;
	double *factor;   /* [n][n], of model beside partner */
	double *first;    /* [n], of a model that started before its like; NaN = no such row */
	uint32_t *index;  /* of a number in the workload's strings */
	size_t n_strings; /* entries of index */
	size_t n;
	struct ct_pair_table_info info;
	char ignored[256];
	char digest[CT_DIGEST_TEXT];
};

struct loader {
	struct ct_table t;
	struct ct_strings text; /* names of the file */
	struct row *row;
	size_t n, cap;
};

#define FAIL(l, name, ...)                                             \
	do {                                                           \
		struct ct_loc at_ = ct_table_loc(&(l)->t, (name));     \
		ct_err_add((l)->t.err, CT_ECONFIG, &at_, __VA_ARGS__); \
	} while (0)

/* ---- reading */

static void read_name(struct loader *l, size_t name, uint32_t *out)
{
	struct ct_csv_field f = ct_table_cell(&l->t, name);

	if (!f.n)
		FAIL(l, name, "'%s' is empty; '*' stands for any model", names[name]);
	*out = ct_strings_add(&l->text, f.s, f.n);
}

static void read_factor(struct loader *l, size_t name, double *out)
{
	struct ct_csv_field f = ct_table_cell(&l->t, name);
	int rc = ct_parse_f64(f.s, f.n, out);
	char b[CT_SHOWN];

	if (rc == -1)
		FAIL(l, name, "'%s' wants a number, got '%s'", names[name], ct_shown(b, f.s, f.n));
	else if (rc || !(*out > 0) || *out > FACTOR_LIMIT)
		FAIL(l, name, "'%s' wants more than 0 and at most %g, got '%s'", names[name], FACTOR_LIMIT,
		     ct_shown(b, f.s, f.n));
}

static void read_first(struct loader *l, struct row *r)
{
	r->first = NAN;
	if (!ct_table_has(&l->t, FIRST) || !ct_table_cell(&l->t, FIRST).n)
		return;
	read_factor(l, FIRST, &r->first);
	if (r->model != r->partner || strcmp(ct_strings_text(&l->text, r->model), "*") == 0)
		FAIL(l, FIRST, "'first' wants a row with one model as both 'model' and 'partner'");
}

static void read_rows(struct loader *l)
{
	while (ct_table_next(&l->t) == 1) {
		struct ct_loc at = ct_table_loc(&l->t, MODEL);
		struct row r = { .line = at.line, .col = at.col };

		read_name(l, MODEL, &r.model);
		read_name(l, PARTNER, &r.partner);
		read_factor(l, FACTOR, &r.factor);
		read_first(l, &r);
		CT_GROW(l->row, l->cap, l->n + 1);
		l->row[l->n++] = r;
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->model != y->model)
		return x->model < y->model ? -1 : 1;
	if (x->partner != y->partner)
		return x->partner < y->partner ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int compare_lines(const void *a, const void *b)
{
	const struct row *const *x = a, *const *y = b;

	return ((*x)->line > (*y)->line) - ((*x)->line < (*y)->line);
}

/* Rows sorted by pair and line; a repeated one is reported in the order of lines. */
static void check_twice(struct loader *l)
{
	const struct row **late = ct_calloc(l->n, sizeof *late);
	size_t n = 0;

	qsort(l->row, l->n, sizeof *l->row, compare_rows);
	for (size_t i = 1; i < l->n; i++)
		if (l->row[i].model == l->row[i - 1].model && l->row[i].partner == l->row[i - 1].partner)
			late[n++] = &l->row[i];
	qsort(late, n, sizeof *late, compare_lines);
	for (size_t i = 0; i < n; i++) {
		const struct row *first = late[i];
		const char *model = ct_strings_text(&l->text, first->model);
		const char *partner = ct_strings_text(&l->text, first->partner);
		struct ct_loc at = { .file = l->t.path, .line = late[i]->line, .col = late[i]->col };
		char a[CT_SHOWN], b[CT_SHOWN];

		while (first > l->row && first[-1].model == first->model && first[-1].partner == first->partner)
			first--;
		ct_err_add(l->t.err, CT_ECONFIG, &at, "the pair '%s' beside '%s' stands in line %zu already",
			   ct_shown(a, model, strlen(model)), ct_shown(b, partner, strlen(partner)), first->line);
	}
	free(late);
}

/* ---- the matrix */

/* Dense index of each of the file's names: 0 = "*", or no job uses it. */
static uint32_t *index_names(struct loader *l, struct ct_pair_table *t, const struct ct_strings *used)
{
	uint32_t *of = ct_calloc(l->text.n, sizeof *of);

	t->n_strings = used ? used->n : 0;
	t->index = ct_calloc(t->n_strings, sizeof *t->index);
	t->n = 1;
	for (uint32_t k = 1; k < l->text.n; k++) {
		const char *s = ct_strings_text(&l->text, k);
		uint32_t number = used ? ct_strings_find(used, s, strlen(s)) : UINT32_MAX;

		if (!strcmp(s, "*"))
			continue;
		if (number == UINT32_MAX) {
			t->info.unused_names++;
			continue;
		}
		of[k] = (uint32_t)t->n;
		t->index[number] = (uint32_t)t->n++;
	}
	return of;
}

/* Rows of rising precedence overwrite one another: both "*", partner named, model
 * named, both named. Names that no job uses are left out. */
static void fill_matrix(const struct loader *l, struct ct_pair_table *t, const uint32_t *of)
{
	uint32_t star = ct_strings_find(&l->text, "*", 1);

	for (size_t i = 0; i < t->n * t->n; i++)
		t->factor[i] = t->fallback;
	for (size_t i = 0; i < t->n; i++)
		t->first[i] = NAN;
	for (size_t i = 0; i < l->n; i++)
		if (!isnan(l->row[i].first) && of[l->row[i].model])
			t->first[of[l->row[i].model]] = l->row[i].first;
	for (int pass = 0; pass < 4; pass++) {
		for (size_t i = 0; i < l->n; i++) {
			const struct row *r = &l->row[i];
			int model_named = r->model != star, partner_named = r->partner != star;
			uint32_t m = of[r->model], p = of[r->partner];

			if (2 * model_named + partner_named != pass || (model_named && !m) || (partner_named && !p))
				continue;
			for (size_t a = model_named ? m : 0; a < (model_named ? m + 1 : t->n); a++)
				for (size_t b = partner_named ? p : 0; b < (partner_named ? p + 1 : t->n); b++)
					t->factor[a * t->n + b] = r->factor;
		}
	}
}

static void build(struct loader *l, struct ct_pair_table *t, const struct ct_strings *used)
{
	uint32_t *of = index_names(l, t, used);
	struct ct_loc at = { .file = l->t.path };

	if (t->n > INDEX_LIMIT) {
		ct_err_at(l->t.err, CT_ECONFIG, &at, "names %zu models that jobs use, wanted at most %d", t->n - 1,
			  INDEX_LIMIT - 1);
	} else {
		t->factor = ct_calloc(t->n * t->n, sizeof *t->factor);
		t->first = ct_calloc(t->n, sizeof *t->first);
		fill_matrix(l, t, of);
	}
	free(of);
}

/* ---- the digest: rows by name, so that their order does not matter */

struct named_row {
	const char *model, *partner;
	double factor, first;
};

static int compare_named(const void *a, const void *b)
{
	const struct named_row *x = a, *y = b;
	int c = strcmp(x->model, y->model);

	return c ? c : strcmp(x->partner, y->partner);
}

static void compute_digest(const struct loader *l, struct ct_pair_table *t)
{
	struct named_row *v = ct_calloc(l->n, sizeof *v);
	struct ct_digest d;

	for (size_t i = 0; i < l->n; i++)
		v[i] = (struct named_row){ ct_strings_text(&l->text, l->row[i].model),
					   ct_strings_text(&l->text, l->row[i].partner), l->row[i].factor,
					   l->row[i].first };
	if (l->n)
		qsort(v, l->n, sizeof *v, compare_named);
	ct_digest_init(&d);
	ct_digest_text(&d, "cotenant pair table 1");
	ct_digest_f64(&d, t->fallback);
	ct_digest_i64(&d, (int64_t)l->n);
	for (size_t i = 0; i < l->n; i++) {
		ct_digest_text(&d, v[i].model);
		ct_digest_text(&d, v[i].partner);
		ct_digest_f64(&d, v[i].factor);
		if (!isnan(v[i].first))
			ct_digest_f64(&d, v[i].first);
	}
	ct_digest_final(&d, t->digest);
	free(v);
}

/* ---- interface */

static int load_rows(struct loader *l, const char *path, struct ct_pair_table *t, struct ct_err *err)
{
	struct ct_loc whole = { .file = path };

	CT_TRY(ct_table_open_optional(&l->t, path, names, COLUMNS, 1, CT_TABLE_KEEP_UNKNOWN, err));
	read_rows(l);
	if (!err->code && !l->n)
		ct_err_at(err, CT_ECONFIG, &whole, "holds no pairs");
	if (l->n)
		check_twice(l);
	memcpy(t->ignored, l->t.unknown, sizeof t->ignored);
	t->info.rows = l->n;
	return ct_table_close(&l->t);
}

int ct_pair_table_load(const char *path, double fallback, const struct ct_strings *used, struct ct_pair_table **out,
		       struct ct_err *err)
{
	struct ct_pair_table *t;
	struct loader l = { .n = 0 };

	if (!(fallback > 0) || fallback > FACTOR_LIMIT)
		return ct_err_at(err, CT_ECONFIG, NULL, "the fallback factor wants more than 0 and at most %g, got %g",
				 FACTOR_LIMIT, fallback);
	t = ct_calloc(1, sizeof *t);
	t->fallback = fallback;
	ct_strings_init(&l.text);
	if (!path || !load_rows(&l, path, t, err)) {
		l.t.err = err;
		build(&l, t, used);
		compute_digest(&l, t);
	}
	ct_strings_fini(&l.text);
	free(l.row);
	if (err->code) {
		ct_pair_table_free(t);
		return (int)err->code;
	}
	*out = t;
	return 0;
}

void ct_pair_table_free(struct ct_pair_table *t)
{
	if (!t)
		return;
	free(t->factor);
	free(t->first);
	free(t->index);
	free(t);
}

static double factor(const void *state, const struct ct_contender *self, const struct ct_contender *other)
{
	const struct ct_pair_table *t = state;
	uint32_t a = self->model < t->n_strings ? t->index[self->model] : 0;
	uint32_t b = other->model < t->n_strings ? t->index[other->model] : 0;

	if (a && a == b && self->start < other->start && !isnan(t->first[a]))
		return t->first[a];
	return t->factor[a * t->n + b];
}

struct ct_contention ct_pair_table_contention(const struct ct_pair_table *t)
{
	/* The interface's state is not const for implementations that cache; this one only reads. */
	union {
		const void *in;
		void *out;
	} state = { .in = t };

	return (struct ct_contention){ .state = state.out, .factor = factor };
}

const char *ct_pair_table_digest(const struct ct_pair_table *t)
{
	return t->digest;
}

struct ct_pair_table_info ct_pair_table_info(const struct ct_pair_table *t)
{
	struct ct_pair_table_info info = t->info;

	info.ignored = t->ignored;
	return info;
}
