/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/pai_machines.h"

#include "sim/csv.h"
#include "sim/shown.h"
#include "sim/strings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE, GPU_TYPE, CAP_CPU, CAP_MEM, CAP_GPU, FIELDS };
static const char *const names[FIELDS] = { "machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu" };

struct reader {
	struct ct_csv *in;
	struct ct_arena *arena;
	struct ct_err *err;
	struct ct_strings machines;
	struct ct_node_spec *kind;
	size_t n, cap;
};

#define WRONG(r, i, ...)                                             \
	do {                                                         \
		struct ct_loc at_ = ct_csv_loc((r)->in, (i));        \
		ct_err_add((r)->err, CT_ECONFIG, &at_, __VA_ARGS__); \
	} while (0)

/* A capacity times `unit`, rounded down: a machine has no more than it has. */
static uint32_t capacity(struct reader *r, size_t i, double unit, double most)
{
	struct ct_csv_field f = ct_csv_field(r->in, i);
	char shown[CT_SHOWN];
	double v;

	if (!ct_parse_f64(f.s, f.n, &v) && v >= 0 && v * unit <= most)
		return (uint32_t)floor(v * unit);
	WRONG(r, i, "'%s' wants a number from 0 to %.0f, got '%s'", names[i], most / unit, ct_shown(shown, f.s, f.n));
	return 0;
}

static int alike(const struct ct_node_spec *a, const struct ct_node_spec *b)
{
	return a->gpus == b->gpus && a->cpu_milli == b->cpu_milli && a->mem_mib == b->mem_mib &&
	       strcmp(a->name, b->name) == 0;
}

/* The type "CPU" is the table's word for no GPU; as a name it still tells such
 * machines apart. */
static void add(struct reader *r, struct ct_node_spec *row)
{
	for (size_t i = 0; i < r->n; i++) {
		if (alike(&r->kind[i], row)) {
			r->kind[i].count++;
			return;
		}
	}
	row->name = ct_arena_text(r->arena, row->name, strlen(row->name));
	row->gpu_type = row->gpus ? row->name : NULL;
	CT_GROW(r->kind, r->cap, r->n + 1);
	r->kind[r->n++] = *row;
}

static void read_row(struct reader *r)
{
	unsigned before = r->err->count;
	struct ct_node_spec row = { .count = 1, .gpu_speed = 1 };
	struct ct_csv_field machine;
	char shown[CT_SHOWN];
	int is_new;

	if (ct_csv_fields(r->in) != FIELDS) {
		WRONG(r, SIZE_MAX, "a machine wants %d fields (machine,gpu_type,cap_cpu,cap_mem,cap_gpu), got %zu",
		      (int)FIELDS, ct_csv_fields(r->in));
		return;
	}
	machine = ct_csv_field(r->in, MACHINE);
	ct_strings_add_new(&r->machines, machine.s, machine.n, &is_new);
	if (!machine.n || !is_new)
		WRONG(r, MACHINE, "'machine' wants a name that no row before has, got '%s'",
		      ct_shown(shown, machine.s, machine.n));
	row.name = ct_csv_field(r->in, GPU_TYPE).s;
	row.cpu_milli = capacity(r, CAP_CPU, 1000, UINT32_MAX);
	row.mem_mib = capacity(r, CAP_MEM, 1024, UINT32_MAX);
	row.gpus = capacity(r, CAP_GPU, 1, CT_MAX_GPUS_PER_NODE);
	if (row.gpus && !*row.name)
		WRONG(r, GPU_TYPE, "a machine with GPUs wants a 'gpu_type'");
	if (r->err->count == before)
		add(r, &row);
}

static int read_rows(struct reader *r, const char *path)
{
	struct ct_loc at = { .file = path };
	size_t rows = 0;
	int rc;

	while ((rc = ct_csv_next(r->in, r->err)) == 1) {
		if (!rows++ && strcmp(ct_csv_field(r->in, 0).s, names[0]) == 0)
			continue;
		read_row(r);
	}
	if (!rc && !r->err->code && !r->n)
		return ct_err_at(r->err, CT_ECONFIG, &at, "holds no machines");
	return r->err->code ? (int)r->err->code : rc;
}

int ct_pai_machines_load(const char *path, struct ct_arena *arena, struct ct_cluster_spec *out, struct ct_err *err)
{
	struct reader r = { .arena = arena, .err = err };
	struct ct_node_spec *kept;
	int rc;

	CT_TRY(ct_csv_open(path, ',', &r.in, err));
	ct_strings_init(&r.machines);
	rc = read_rows(&r, path);
	if (!rc) {
		kept = CT_NEW(arena, struct ct_node_spec, r.n);
		memcpy(kept, r.kind, r.n * sizeof *kept);
		*out = (struct ct_cluster_spec){ kept, r.n };
	}
	ct_strings_fini(&r.machines);
	free(r.kind);
	ct_csv_close(r.in);
	return rc;
}
