/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/csv_header.h"

#include "sim/nearest.h"
#include "sim/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct resolver {
	struct ct_csv *in;
	const struct ct_trace_options *o;
	struct ct_arena *arena;
	struct ct_csv_header *h;
	unsigned char *mapped; /* per field: a map names it */
	struct ct_err *err;
};

/* Such a name is an accident (a quote not closed, a binary file), and would break
 * lists of names. Tabs pass: a file delimited by them is found out later. */
static int has_control(const struct ct_csv_field *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (((unsigned char)f->s[i] < 0x20 && f->s[i] != '\t') || f->s[i] == 0x7f)
			return 1;
	return 0;
}

static int read_names(struct resolver *r)
{
	struct ct_csv_header *h = r->h;

	h->n = ct_csv_fields(r->in);
	if (h->n > CT_FIELD_LIMIT) {
		struct ct_loc at = ct_csv_loc(r->in, CT_FIELD_LIMIT);

		return ct_err_at(r->err, CT_ETRACE, &at, "%zu columns, wanted at most %d", h->n, CT_FIELD_LIMIT);
	}
	h->name = CT_NEW(r->arena, const char *, h->n);
	r->mapped = CT_NEW(r->arena, unsigned char, h->n);
	for (size_t i = 0; i < h->n; i++) {
		struct ct_csv_field f = ct_csv_field(r->in, i);
		struct ct_loc at = ct_csv_loc(r->in, i);
		char b[CT_SHOWN];

		if (f.n > CT_NAME_LIMIT)
			return ct_err_at(r->err, CT_ETRACE, &at, "column name '%s' is longer than %d bytes",
					 ct_shown(b, f.s, f.n), CT_NAME_LIMIT);
		if (has_control(&f))
			return ct_err_at(r->err, CT_ETRACE, &at, "column name '%s' holds a control character",
					 ct_shown(b, f.s, f.n));
		h->name[i] = ct_arena_text(r->arena, f.s, f.n);
	}
	return 0;
}

static size_t find_field(const struct ct_csv_header *h, const char *name)
{
	size_t i = 0;

	while (i < h->n && strcmp(h->name[i], name))
		i++;
	return i < h->n ? i : SIZE_MAX;
}

/* ---- files that are not what the reader wants as a whole */

static size_t count_char(const struct ct_csv_header *h, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		for (const char *s = h->name[i]; *s; s++)
			n += *s == c;
	return n;
}

static int check_delimiter(struct resolver *r)
{
	static const struct {
		char c;
		const char *name;
	} others[] = { { ';', "';'" }, { '\t', "tabs" }, { '|', "'|'" } };
	struct ct_loc at = ct_csv_loc(r->in, 0);

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (count_char(r->h, others[i].c) >= r->h->n)
			return ct_err_at(r->err, CT_ETRACE, &at, "looks delimited by %s, wanted ','", others[i].name);
	return 0;
}

static int check_is_header(struct resolver *r)
{
	struct ct_loc at;
	char b[CT_SHOWN];
	double v;

	for (size_t i = 0; i < r->h->n; i++) {
		const char *s = r->h->name[i];

		if (ct_parse_f64(s, strlen(s), &v))
			continue;
		at = ct_csv_loc(r->in, i);
		return ct_err_at(r->err, CT_ETRACE, &at, "wanted a line of column names first, got the value '%s'",
				 ct_shown(b, s, strlen(s)));
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(**(const char **const *)a, **(const char **const *)b);
}

/* The same name twice: sorted, so that wide files stay cheap. */
static void check_twice(struct resolver *r)
{
	const char ***by_name = CT_NEW(r->arena, const char **, r->h->n);

	for (size_t i = 0; i < r->h->n; i++)
		by_name[i] = &r->h->name[i];
	qsort(by_name, r->h->n, sizeof *by_name, compare_names);
	for (size_t i = 1; i < r->h->n; i++) {
		size_t a = (size_t)(by_name[i - 1] - r->h->name), b = (size_t)(by_name[i] - r->h->name);
		struct ct_loc at = ct_csv_loc(r->in, a > b ? a : b);
		char s[CT_SHOWN];

		if (**by_name[i] && !strcmp(*by_name[i], *by_name[i - 1]))
			ct_err_add(r->err, CT_ETRACE, &at, "column '%s' stands twice, as fields %zu and %zu",
				   ct_shown(s, *by_name[i], strlen(*by_name[i])), (a < b ? a : b) + 1,
				   (a > b ? a : b) + 1);
	}
}

/* ---- the column map */

static void unknown_canonical(struct resolver *r, const char *name)
{
	struct ct_nearest near;
	char b[CT_SHOWN];

	ct_nearest_init(&near, name);
	for (size_t c = 0; c < CT_COLUMNS; c++)
		ct_nearest_offer(&near, ct_columns[c].doc.name);
	if (ct_nearest_word(&near))
		ct_err_add(r->err, CT_ECONFIG, NULL, "no job column 'trace.columns.%s'; did you mean '%s'?",
			   ct_shown(b, name, strlen(name)), ct_nearest_word(&near));
	else
		ct_err_add(r->err, CT_ECONFIG, NULL, "no job column 'trace.columns.%s'",
			   ct_shown(b, name, strlen(name)));
}

/* The file's name that is most like `wanted`, among fields no column took. */
static const char *nearest_field(const struct resolver *r, const char *wanted)
{
	struct ct_nearest near;

	ct_nearest_init(&near, wanted);
	for (size_t i = 0; i < r->h->n; i++)
		if (!r->mapped[i])
			ct_nearest_offer(&near, r->h->name[i]);
	return ct_nearest_word(&near);
}

static void missing_field(struct resolver *r, const struct ct_column_map *m)
{
	const char *near = nearest_field(r, m->name);
	struct ct_loc at = ct_csv_loc(r->in, SIZE_MAX);
	char b[CT_SHOWN], s[CT_SHOWN];

	ct_shown(b, m->name, strlen(m->name));
	if (near)
		ct_err_add(r->err, CT_ETRACE, &at, "no column '%s', which 'trace.columns.%s' names; did you mean '%s'?",
			   b, m->canonical, ct_shown(s, near, strlen(near)));
	else
		ct_err_add(r->err, CT_ETRACE, &at, "no column '%s', which 'trace.columns.%s' names", b, m->canonical);
}

static void apply_map(struct resolver *r)
{
	unsigned char done[CT_COLUMNS] = { 0 };

	for (size_t i = 0; i < r->o->n_columns; i++) {
		const struct ct_column_map *m = &r->o->columns[i];
		size_t c = 0, f = find_field(r->h, m->name);

		while (c < CT_COLUMNS && strcmp(ct_columns[c].doc.name, m->canonical))
			c++;
		if (c == CT_COLUMNS) {
			unknown_canonical(r, m->canonical);
			continue;
		}
		if (done[c]++)
			ct_err_add(r->err, CT_ECONFIG, NULL, "'trace.columns.%s' is given twice", m->canonical);
		else if (f == SIZE_MAX)
			missing_field(r, m);
		else
			r->mapped[f] = 1;
		r->h->field_of[c] = f;
	}
}

/* ---- names and aliases */

/* A column whose field the map wanted and did not find has its error already. */
static int is_mapped(const struct resolver *r, size_t c)
{
	for (size_t i = 0; i < r->o->n_columns; i++)
		if (!strcmp(r->o->columns[i].canonical, ct_columns[c].doc.name))
			return 1;
	return 0;
}

static void clash(struct resolver *r, size_t c, size_t one, size_t two)
{
	struct ct_loc at = ct_csv_loc(r->in, two);
	char a[CT_SHOWN], b[CT_SHOWN];

	ct_err_add(r->err, CT_ETRACE, &at, "columns '%s' and '%s' both mean '%s'; choose with trace.columns.%s=NAME",
		   ct_shown(a, r->h->name[one], strlen(r->h->name[one])),
		   ct_shown(b, r->h->name[two], strlen(r->h->name[two])), ct_columns[c].doc.name,
		   ct_columns[c].doc.name);
}

static void find_column(struct resolver *r, size_t c)
{
	enum ct_fit best = CT_FIT_NONE;
	size_t field = SIZE_MAX;
	struct ct_csv_header *h = r->h;

	for (size_t i = 0; i < h->n; i++) {
		enum ct_fit fit = ct_column_fit((enum ct_column_id)c, h->name[i]);

		if (fit > best && (fit == CT_FIT_EXACT || !r->mapped[i])) {
			best = fit;
			field = i;
		}
	}
	h->field_of[c] = field;
	if (best == CT_FIT_NONE || best == CT_FIT_EXACT)
		return; /* exact names that stand twice were reported */
	for (size_t i = field + 1; i < h->n; i++)
		if (!r->mapped[i] && ct_column_fit((enum ct_column_id)c, h->name[i]) == best &&
		    strcmp(h->name[i], h->name[field]))
			clash(r, c, field, i);
}

static void report_missing(struct resolver *r, size_t c)
{
	const struct ct_trace_column *doc = &ct_columns[c].doc;
	struct ct_loc at = ct_csv_loc(r->in, SIZE_MAX);
	const char *near = nearest_field(r, doc->name);
	char b[CT_SHOWN];

	if (near)
		ct_err_add(r->err, CT_ETRACE, &at, "no column '%s' (or: %s); did you mean '%s'?", doc->name,
			   doc->aliases, ct_shown(b, near, strlen(near)));
	else
		ct_err_add(r->err, CT_ETRACE, &at, "no column '%s' (or: %s); name it with trace.columns.%s=NAME",
			   doc->name, doc->aliases, doc->name);
}

static void find_columns(struct resolver *r)
{
	for (size_t c = 0; c < CT_COLUMNS; c++)
		if (!is_mapped(r, c))
			find_column(r, c);
	for (size_t c = 0; c < CT_COLUMNS; c++)
		if (r->h->field_of[c] != SIZE_MAX)
			r->mapped[r->h->field_of[c]] = 1; /* from here on: taken */
	for (size_t c = 0; c < CT_COLUMNS; c++)
		if (ct_columns[c].doc.required && r->h->field_of[c] == SIZE_MAX && !is_mapped(r, c))
			report_missing(r, c);
}

/* ---- what no column took */

static int is_canonical(const char *name)
{
	for (size_t c = 0; c < CT_COLUMNS; c++)
		if (!strcmp(ct_columns[c].doc.name, name))
			return 1;
	return 0;
}

static int is_extra(const struct ct_csv_header *h, const char *name)
{
	for (size_t i = 0; i < h->n_extra; i++)
		if (!strcmp(h->extra_name[i], name))
			return 1;
	return 0;
}

static const char *extra_name(struct resolver *r, size_t field)
{
	const char *name = r->h->name[field];
	char made[CT_NAME_LIMIT + 32];
	int n;

	if (!*name) {
		n = snprintf(made, sizeof made, "column_%zu", field + 1);
		name = ct_arena_text(r->arena, made, (size_t)n);
		if (find_field(r->h, name) == SIZE_MAX)
			return name;
	} else if (!is_canonical(name)) {
		return name;
	}
	do {
		n = snprintf(made, sizeof made, "file.%s", name);
		name = ct_arena_text(r->arena, made, (size_t)n);
	} while (find_field(r->h, name) != SIZE_MAX || is_extra(r->h, name));
	return name;
}

static void collect_extras(struct resolver *r)
{
	struct ct_csv_header *h = r->h;

	h->extra = CT_NEW(r->arena, size_t, h->n);
	h->extra_name = CT_NEW(r->arena, const char *, h->n);
	for (size_t i = 0; i < h->n; i++) {
		if (r->mapped[i])
			continue;
		h->extra_name[h->n_extra] = extra_name(r, i);
		h->extra[h->n_extra++] = i;
	}
}

int ct_csv_header_read(struct ct_csv *in, const struct ct_trace_options *o, struct ct_arena *arena,
		       struct ct_csv_header *out, struct ct_err *err)
{
	struct resolver r = { .in = in, .o = o, .arena = arena, .h = out, .err = err };
	struct ct_err own = { 0 };
	int rc = ct_csv_next(in, err);

	if (rc != 1) {
		struct ct_loc at = { .file = ct_csv_loc(in, SIZE_MAX).file };

		return rc ? rc : ct_err_at(err, CT_ETRACE, &at, "is empty");
	}
	memset(out, 0, sizeof *out);
	CT_TRY(read_names(&r));
	for (size_t c = 0; c < CT_COLUMNS; c++)
		out->field_of[c] = SIZE_MAX;
	r.err = &own;
	apply_map(&r);
	check_twice(&r);
	find_columns(&r);
	if (own.code) {
		CT_TRY(check_delimiter(&(struct resolver){ .in = in, .h = out, .err = err }));
		CT_TRY(check_is_header(&(struct resolver){ .in = in, .h = out, .err = err }));
		*err = own;
		return (int)own.code;
	}
	collect_extras(&r);
	return 0;
}
