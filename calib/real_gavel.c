/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/samples.h"

#include "calib/real_cells.h"
#include "sim/memory.h"
#include "sim/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAVEL_JOBS = 4096 };

struct config {
	size_t model;
	double log_batch;
};

struct pair {
	size_t config[2];
	double decay[2];
};

struct gavel {
	struct ct_name_list models, names;
	struct config *config;
	size_t cap_config;
	struct pair *pair;
	size_t n_pairs, cap_pairs, others;
};

/* "LM (batch size 40)" -> "LM" and 40; without the bracket: no batch. */
static size_t read_config(struct gavel *g, const struct ct_table *t, size_t cell)
{
	static const char mark[] = " (batch size ";
	struct ct_csv_field f = ct_table_cell(t, cell);
	struct ct_loc at = ct_table_loc(t, cell);
	size_t before = g->names.n, k = ct_name_list_add(&g->names, f.s, f.n), model_n = f.n;
	const char *open = strstr(f.s, mark);
	double batch = 1;

	if (k < before)
		return k;
	if (open) {
		const char *number = open + sizeof mark - 1;
		size_t n = strcspn(number, ")");

		model_n = (size_t)(open - f.s);
		if (ct_parse_f64(number, n, &batch) || batch < 1 || number[n] != ')' || number[n + 1]) {
			char b[CT_SHOWN];

			ct_shown(b, f.s, f.n);
			ct_err_add(t->err, CT_ECONFIG, &at, "want 'MODEL (batch size N)', got '%s'", b);
			batch = 1;
		}
	}
	CT_GROW(g->config, g->cap_config, g->names.n);
	g->config[k] = (struct config){ ct_name_list_add(&g->models, f.s, model_n), log2(batch) };
	return k;
}

static void read_pair(struct gavel *g, const struct ct_table *t, const char *gpu)
{
	struct ct_csv_field f = ct_table_cell(t, 0);
	struct pair *p;

	if (f.n != strlen(gpu) || memcmp(f.s, gpu, f.n) != 0) {
		g->others++;
		return;
	}
	CT_GROW(g->pair, g->cap_pairs, g->n_pairs + 1);
	p = &g->pair[g->n_pairs++];
	for (size_t k = 0; k < 2; k++) {
		p->config[k] = read_config(g, t, 1 + k);
		p->decay[k] = ct_cell_number(t, 3 + k, 1e-6, 10);
	}
}

static void add_sample(const struct gavel *g, const struct pair *p, int k, struct ct_samples *out)
{
	size_t a = p->config[k], b = p->config[1 - k], lo = a < b ? a : b, hi = a < b ? b : a;
	size_t m = g->config[a].model, n = g->config[b].model, width = g->models.n + 1;
	struct ct_sample row = { .slowdown = 1 / p->decay[k],
				 .truth = NAN,
				 .pair = (uint32_t)(lo * GAVEL_JOBS + hi),
				 .model_pair = (uint32_t)(m < n ? m * GAVEL_JOBS + n : n * GAVEL_JOBS + m),
				 .self = (uint32_t)a,
				 .other = (uint32_t)b };
	double *x = ct_samples_add(out, &row);

	memset(x, 0, 2 * width * sizeof *x);
	x[m] = 1;
	x[width - 1] = g->config[a].log_batch;
	x[width + n] = 1;
	x[2 * width - 1] = g->config[b].log_batch;
}

static int read_pairs(struct gavel *g, const char *path, const char *gpu, struct ct_err *err)
{
	static const char *const names[] = { "gpu", "config_a", "config_b", "decay_a", "decay_b" };
	struct ct_table t;

	CT_TRY(ct_table_open(&t, path, names, sizeof names / sizeof *names, CT_TABLE_KEEP_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		read_pair(g, &t, gpu);
	return ct_table_close(&t);
}

int ct_samples_gavel(const char *pairs, const char *gpu, struct ct_samples *out, struct ct_err *err)
{
	struct gavel g = { 0 };
	int rc = read_pairs(&g, pairs, gpu, err);

	if (rc == 0 && !g.n_pairs)
		rc = ct_err_at(err, CT_ECONFIG, NULL, "'%s' has no pair for GPU '%s'", pairs, gpu);
	if (rc == 0 && g.names.n >= GAVEL_JOBS)
		rc = ct_err_at(err, CT_ECONFIG, NULL, "'%s': more than %d configurations", pairs, GAVEL_JOBS - 1);
	if (rc == 0) {
		ct_samples_init(out, 2 * (g.models.n + 1));
		out->ignored = g.others;
		for (size_t i = 0; i < g.n_pairs; i++)
			for (int k = 0; k < 2; k++)
				add_sample(&g, &g.pair[i], k, out);
	}
	ct_name_list_fini(&g.models);
	ct_name_list_fini(&g.names);
	free(g.config);
	free(g.pair);
	return rc;
}
