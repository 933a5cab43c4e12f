/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/machines.h"

#include "sim/csv.h"
#include "sim/shown.h"
#include "sim/strings.h"
#include "traces/pai_machines.h"

#include <stdlib.h>
#include <string.h>

enum { SN, CPU, MEMORY, GPUS, MODEL, FIELDS };
static const char *const names[FIELDS] = { "sn", "cpu_milli", "memory_mib", "gpu", "model" };

struct reader {
	struct ct_csv *in;
	struct ct_arena *arena;
	struct ct_err *err;
	struct ct_strings machines;
	struct ct_node_spec *kind;
	size_t n, cap;
};

static uint32_t amount(struct reader *r, size_t i, int64_t most)
{
	struct ct_csv_field f = ct_csv_field(r->in, i);
	struct ct_loc at = ct_csv_loc(r->in, i);
	char shown[CT_SHOWN];
	int64_t v;

	if (!ct_parse_i64(f.s, f.n, &v) && v >= 0 && v <= most)
		return (uint32_t)v;
	ct_err_add(r->err, CT_ECONFIG, &at, "'%s' wants a whole number from 0 to %lld, got '%s'", names[i],
		   (long long)most, ct_shown(shown, f.s, f.n));
	return 0;
}

static void add(struct reader *r, const struct ct_node_spec *row, const char *model)
{
	struct ct_node_spec *k;

	for (size_t i = 0; i < r->n; i++) {
		k = &r->kind[i];
		if (k->gpus == row->gpus && k->cpu_milli == row->cpu_milli && k->mem_mib == row->mem_mib &&
		    !strcmp(k->name, model)) {
			k->count++;
			return;
		}
	}
	CT_GROW(r->kind, r->cap, r->n + 1);
	k = &r->kind[r->n++];
	*k = *row;
	k->name = ct_arena_text(r->arena, model, strlen(model));
	k->gpu_type = k->gpus ? k->name : NULL;
}

static void read_row(struct reader *r)
{
	struct ct_node_spec row = { .count = 1, .gpu_speed = 1 };
	struct ct_loc at = ct_csv_loc(r->in, SIZE_MAX);
	unsigned before = r->err->count;
	struct ct_csv_field sn;
	const char *model;
	int is_new;

	if (ct_csv_fields(r->in) != FIELDS) {
		ct_err_add(r->err, CT_ECONFIG, &at, "row has %zu fields, wanted %d", ct_csv_fields(r->in), (int)FIELDS);
		return;
	}
	sn = ct_csv_field(r->in, SN);
	at = ct_csv_loc(r->in, SN);
	ct_strings_add_new(&r->machines, sn.s, sn.n, &is_new);
	if (!sn.n || !is_new)
		ct_err_add(r->err, CT_ECONFIG, &at, "'sn' wants a name that no row before has");
	row.cpu_milli = amount(r, CPU, UINT32_MAX);
	row.mem_mib = amount(r, MEMORY, UINT32_MAX);
	row.gpus = amount(r, GPUS, CT_MAX_GPUS_PER_NODE);
	model = ct_csv_field(r->in, MODEL).s;
	at = ct_csv_loc(r->in, MODEL);
	if (row.gpus && !*model)
		ct_err_add(r->err, CT_ECONFIG, &at, "a machine with GPUs wants a 'model'");
	if (r->err->count == before)
		add(r, &row, row.gpus ? model : "CPU");
}

static int read_rows(struct reader *r, const char *path)
{
	struct ct_loc at = { .file = path };
	int rc;

	while ((rc = ct_csv_next(r->in, r->err)) == 1)
		read_row(r);
	if (!rc && !r->err->code && !r->n)
		return ct_err_at(r->err, CT_ECONFIG, &at, "holds no machines");
	return r->err->code ? (int)r->err->code : rc;
}

/* Is the record at hand openb's header? */
static int is_openb(const struct ct_csv *in)
{
	if (ct_csv_fields(in) != FIELDS)
		return 0;
	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(ct_csv_field(in, i).s, names[i]) != 0)
			return 0;
	return 1;
}

static int load_openb(struct reader *r, const char *path, struct ct_cluster_spec *out)
{
	struct ct_node_spec *kept;
	int rc;

	ct_strings_init(&r->machines);
	rc = read_rows(r, path);
	if (!rc) {
		kept = CT_NEW(r->arena, struct ct_node_spec, r->n);
		memcpy(kept, r->kind, r->n * sizeof *kept);
		*out = (struct ct_cluster_spec){ kept, r->n };
	}
	ct_strings_fini(&r->machines);
	free(r->kind);
	return rc;
}

int ct_machines_load(const char *path, struct ct_arena *arena, struct ct_cluster_spec *out, struct ct_err *err)
{
	struct reader r = { .arena = arena, .err = err };
	int rc, openb;

	CT_TRY(ct_csv_open(path, ',', &r.in, err));
	rc = ct_csv_next(r.in, err);
	openb = rc == 1 && is_openb(r.in);
	if (openb)
		rc = load_openb(&r, path, out);
	ct_csv_close(r.in);
	if (openb || err->code)
		return rc;
	return ct_pai_machines_load(path, arena, out, err);
}
