/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/ceiling.h"

#ifdef HAVE_GLPK

#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS_MOST = 128 };

/* Default configurations that occur, with the work there is of each. */
struct mix {
	uint32_t kind[KINDS_MOST], mem_mib[KINDS_MOST];
	double work[KINDS_MOST];
	size_t n;
};

static void add(struct mix *m, uint32_t kind, uint32_t mem_mib, double work)
{
	size_t i = 0;

	while (i < m->n && m->kind[i] != kind)
		i++;
	if (i == KINDS_MOST)
		return;
	if (i == m->n) {
		m->kind[i] = kind;
		m->mem_mib[i] = mem_mib;
		m->n++;
	}
	m->work[i] += work;
}

static void gather(const struct ct_truth *t, const struct ct_workload *w, struct mix *m)
{
	const struct ct_family *const *f = ct_truth_families(t);

	for (size_t i = 0; i < w->n; i++) {
		const struct ct_configuration *c = f[i] ? &f[i]->config[f[i]->default_config] : NULL;

		if (c)
			add(m, c->kind, c->gpu_mem_mib, ct_seconds(w->jobs[i].duration_us) * w->jobs[i].num_gpus);
	}
}

struct entries { /* of the matrix, from 1 on as GLPK counts */
	int row[4 * KINDS_MOST * KINDS_MOST], col[4 * KINDS_MOST * KINDS_MOST];
	double value[4 * KINDS_MOST * KINDS_MOST];
	int n;
};

static void put(struct entries *e, int row, int col, double value)
{
	e->n++;
	e->row[e->n] = row;
	e->col[e->n] = col;
	e->value[e->n] = value;
}

/* Rows 1 .. n: workloads; n + 1: the GPUs' time. Columns 1 .. n: what is done of each. */
static void fill(glp_prob *p, const struct ct_truth *t, const struct mix *m, uint32_t room, double window_gpu_s,
		 struct entries *e)
{
	int n = (int)m->n, time = n + 1;

	glp_add_rows(p, time);
	glp_add_cols(p, n);
	glp_set_row_bnds(p, time, GLP_UP, 0, 1);
	for (int i = 0; i < n; i++) {
		int c = glp_add_cols(p, 1);

		glp_set_obj_coef(p, i + 1, 1);
		glp_set_col_bnds(p, i + 1, GLP_DB, 0, m->work[i] / window_gpu_s);
		glp_set_row_bnds(p, i + 1, GLP_LO, 0, 0);
		glp_set_col_bnds(p, c, GLP_LO, 0, 0);
		put(e, i + 1, i + 1, -1);
		put(e, i + 1, c, 1);
		put(e, time, c, 1);
	}
	for (int i = 0; i < n; i++)
		for (int k = i; k < n; k++) {
			double a = 1 / ct_truth_slowdown(t, m->kind[i], m->kind[k]),
			       b = 1 / ct_truth_slowdown(t, m->kind[k], m->kind[i]);
			int c;

			if ((uint64_t)m->mem_mib[i] + m->mem_mib[k] > room)
				continue;
			c = glp_add_cols(p, 1);
			glp_set_col_bnds(p, c, GLP_LO, 0, 0);
			put(e, i + 1, c, i == k ? a + b : a);
			if (i != k)
				put(e, k + 1, c, b);
			put(e, time, c, 1);
		}
	glp_load_matrix(p, e->n, e->row, e->col, e->value);
}

int ct_ceiling(const struct ct_truth *t, const struct ct_workload *w, uint32_t gpu_mem_mib, double window_gpu_s,
	       double *out, struct ct_err *err)
{
	struct entries *e = ct_calloc(1, sizeof *e);
	struct mix m = { 0 };
	glp_prob *p = glp_create_prob();
	glp_smcp how;
	int rc;

	glp_term_out(GLP_OFF);
	glp_init_smcp(&how);
	gather(t, w, &m);
	if (!m.n) {
		ct_err_at(err, CT_ECONFIG, NULL, "no job has a family: there is nothing to pack");
	} else {
		glp_set_obj_dir(p, GLP_MAX);
		fill(p, t, &m, gpu_mem_mib, window_gpu_s, e);
		rc = glp_simplex(p, &how);
		if (rc || glp_get_status(p) != GLP_OPT)
			ct_err_at(err, CT_ECONFIG, NULL, "the linear program of the ceiling failed (%d, status %d)", rc,
				  glp_get_status(p));
		*out = glp_get_obj_val(p);
	}
	glp_delete_prob(p);
	free(e);
	return (int)err->code;
}

#else

int ct_ceiling(const struct ct_truth *t, const struct ct_workload *w, uint32_t gpu_mem_mib, double window_gpu_s,
	       double *out, struct ct_err *err)
{
	(void)t;
	(void)w;
	(void)gpu_mem_mib;
	(void)window_gpu_s;
	(void)out;
	return ct_err_at(err, CT_ECONFIG, NULL, "built without GLPK (libglpk-dev)");
}

#endif
