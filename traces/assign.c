/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/assign.h"

#include "sim/csv.h"
#include "sim/memory.h"
#include "sim/random.h"
#include "sim/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL, WEIGHT, KIND, MIN_DURATION, MAX_DURATION, MIN_GPUS, MAX_GPUS, SOURCE, FIELDS };
static const char *const header[FIELDS] = { "model",        "weight",   "kind",     "min_duration",
					    "max_duration", "min_gpus", "max_gpus", "source" };

struct row {
	const char *model, *kind;
	double weight, least[2], most[2]; /* duration in seconds, GPUs */
	uint32_t model_text;
};
struct rows {
	struct ct_arena arena;
	struct row *v;
	size_t n, cap;
};

/* ---- the file */

#define WRONG(in, i, err, ...)                                    \
	do {                                                      \
		struct ct_loc at_ = ct_csv_loc((in), (i));        \
		ct_err_add((err), CT_ECONFIG, &at_, __VA_ARGS__); \
	} while (0)

static double number(struct ct_csv *in, size_t i, double empty, struct ct_err *err)
{
	struct ct_csv_field f = ct_csv_field(in, i);
	char shown[CT_SHOWN];
	double v = empty;

	if (f.n && (ct_parse_f64(f.s, f.n, &v) || v < 0))
		WRONG(in, i, err, "'%s' wants a number that is not negative, got '%s'", header[i],
		      ct_shown(shown, f.s, f.n));
	return v;
}

static void read_row(struct rows *r, struct ct_csv *in, struct ct_err *err)
{
	struct ct_csv_field model = ct_csv_field(in, MODEL), kind;
	struct row row = { .weight = 0 };

	if (ct_csv_fields(in) != FIELDS) {
		WRONG(in, SIZE_MAX, err, "wanted %d fields, got %zu", (int)FIELDS, ct_csv_fields(in));
		return;
	}
	kind = ct_csv_field(in, KIND);
	if (!model.n)
		WRONG(in, MODEL, err, "'model' wants a name");
	row.model = ct_arena_text(&r->arena, model.s, model.n);
	row.kind = ct_arena_text(&r->arena, kind.s, kind.n);
	row.weight = number(in, WEIGHT, 1, err);
	row.least[0] = number(in, MIN_DURATION, 0, err);
	row.most[0] = number(in, MAX_DURATION, (double)INFINITY, err);
	row.least[1] = number(in, MIN_GPUS, 0, err);
	row.most[1] = number(in, MAX_GPUS, (double)INFINITY, err);
	CT_GROW(r->v, r->cap, r->n + 1);
	r->v[r->n++] = row;
}

static int read_file(const char *path, struct ct_csv *in, struct rows *r, struct ct_err *err)
{
	struct ct_loc at = { .file = path };
	int rc = ct_csv_next(in, err), ok = rc == 1 && ct_csv_fields(in) == FIELDS;

	for (size_t i = 0; ok && i < FIELDS; i++)
		ok = strcmp(ct_csv_field(in, i).s, header[i]) == 0;
	if (rc == 0 || rc == 1) {
		if (!ok)
			return ct_err_at(err, CT_ECONFIG, &at,
					 "wanted the header model,weight,kind,min_duration,max_duration,min_gpus,"
					 "max_gpus,source");
		while ((rc = ct_csv_next(in, err)) == 1)
			read_row(r, in, err);
	}
	if (err->code)
		return (int)err->code;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].weight > 0)
			return rc;
	return ct_err_at(err, CT_ECONFIG, &at, "has no workload with a weight above 0");
}

static int load(const char *path, struct rows *r, struct ct_err *err)
{
	struct ct_csv *in;
	int rc;

	CT_TRY(ct_csv_open(path, ',', &in, err));
	rc = read_file(path, in, r, err);
	ct_csv_close(in);
	return rc;
}

/* ---- the draw */

static int fits(const struct row *r, const struct ct_job *j, const char *kind)
{
	double run_s = ct_seconds(j->duration_us);

	return (!*r->kind || !*kind || strcmp(r->kind, kind) == 0) && run_s >= r->least[0] && run_s <= r->most[0] &&
	       j->num_gpus >= r->least[1] && j->num_gpus <= r->most[1];
}

/* FNV-1a: a job's stream hangs on its id, not on its place. */
static uint64_t entity_of(const char *id)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * UINT64_C(0x100000001b3);
	return h;
}

/* 0 when no row fits. */
static uint32_t draw(const struct rows *r, const struct ct_job *j, const char *kind, uint64_t seed)
{
	struct ct_stream s;
	double sum = 0, at;
	uint32_t last = 0;

	for (size_t i = 0; i < r->n; i++)
		sum += fits(&r->v[i], j, kind) ? r->v[i].weight : 0;
	if (!(sum > 0))
		return 0;
	ct_stream_init(&s, seed, CT_RANDOM_ASSIGN, entity_of(j->id));
	at = gsl_rng_uniform(&s.rng) * sum;
	for (size_t i = 0; i < r->n; i++) {
		if (!fits(&r->v[i], j, kind) || !(r->v[i].weight > 0))
			continue;
		last = r->v[i].model_text;
		if (at < r->v[i].weight)
			break;
		at -= r->v[i].weight;
	}
	return last;
}

/* ---- the copy */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void copy_extras(const struct ct_workload *w, struct ct_workload *to)
{
	for (size_t c = 0; c < w->n_columns; c++) {
		for (uint32_t i = 0; i < w->n; i++) {
			const char *s = ct_strings_text(&w->strings, w->columns[c].value[i]);

			ct_workload_set_extra(to, c, i, s, strlen(s));
		}
	}
}

static const struct ct_extra_column *kind_column(const struct ct_workload *w)
{
	for (size_t i = 0; i < w->n_columns; i++)
		if (strcmp(w->columns[i].name, "kind") == 0)
			return &w->columns[i];
	return NULL;
}

static void copy_jobs(const struct ct_workload *w, struct rows *r, uint64_t seed, struct ct_workload *to)
{
	const struct ct_extra_column *kind = kind_column(w);
	uint64_t given = 0, left = 0;

	for (size_t i = 0; i < r->n; i++)
		r->v[i].model_text = ct_strings_add(&to->strings, r->v[i].model, strlen(r->v[i].model));
	for (size_t i = 0; i < w->n; i++) {
		struct ct_job j = w->jobs[i];

		if (!j.model) {
			j.model = draw(r, &j, kind ? ct_strings_text(&w->strings, kind->value[i]) : "", seed);
			given += j.model != 0;
			left += !j.model;
		}
		j.id = ct_workload_text(to, j.id, strlen(j.id));
		ct_workload_add(to, &j);
	}
	copy_extras(w, to);
	ct_workload_count(to, "assigned_model", "job without a workload name: drawn by the weights of trace.assign",
			  given, 0);
	ct_workload_count(to, "unassigned_model", "job without a workload name that no row of trace.assign fits", left,
			  0);
}

int ct_trace_assign(const struct ct_workload *w, const char *path, uint64_t seed, struct ct_workload **out,
		    struct ct_err *err)
{
	struct rows r = { .n = 0 };
	struct ct_workload *to = ct_workload_like(w);
	int rc = load(path, &r, err);

	if (!rc) {
		copy_jobs(w, &r, seed, to);
		ct_workload_history(to, "assign '%.200s' seed=%llu", base_name(path), (unsigned long long)seed);
		rc = ct_workload_seal(to, err);
	}
	free(r.v);
	ct_arena_fini(&r.arena);
	if (rc)
		ct_workload_free(to);
	else
		*out = to;
	return rc;
}
