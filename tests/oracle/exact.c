/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two programs handed to GLPK's branch and cut. What is left out beforehand
 * cannot change the optimum: a configuration that another one of the same job beats
 * or equals in throughput and in every need (exact_aggregate), and of two jobs all
 * pairs of configurations but the most valuable (exact_placed). Answers are checked
 * against the constraints, and valued again, from the rounded columns. */
#include "tests/oracle/exact.h"

#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void answer_nobody(struct exact_answer *a)
{
	a->value = 0;
	for (uint32_t j = 0; j < EXACT_JOBS; j++)
		a->config[j] = a->partner[j] = EXACT_NONE;
}

double exact_pair_value(const struct exact_job *jobs, const struct exact_gpus *gpus, uint32_t i, uint32_t ci,
			uint32_t j, uint32_t cj)
{
	const struct exact_config *a = &jobs[i].config[ci], *b = &jobs[j].config[cj];
	double x, y;

	if (a->need[EXACT_GPU_MEM] + b->need[EXACT_GPU_MEM] > gpus->mem_two)
		return -1;
	x = a->throughput / gpus->slowdown(gpus->ctx, i, ci, j, cj);
	y = b->throughput / gpus->slowdown(gpus->ctx, j, cj, i, ci);
	if (x < jobs[i].floor || y < jobs[j].floor)
		return -1;
	return jobs[i].weight * x + jobs[j].weight * y;
}

#ifdef HAVE_GLPK
#include <glpk.h>

int exact_present(void)
{
	return 1;
}

/* ---- a program of binary columns, all rows `<= upper` or `= upper` */

struct program {
	glp_prob *p;
	int *row, *column; /* from 1, as GLPK has it */
	double *value;
	int n, cap;
};

static struct program program_new(int rows)
{
	struct program g = { .p = glp_create_prob() };

	glp_term_out(GLP_OFF);
	glp_set_obj_dir(g.p, GLP_MAX);
	glp_add_rows(g.p, rows);
	return g;
}

static int program_column(struct program *g, double value)
{
	int k = glp_add_cols(g->p, 1);

	glp_set_col_kind(g->p, k, GLP_BV);
	glp_set_obj_coef(g->p, k, value);
	return k;
}

static void program_entry(struct program *g, int row, int column, double value)
{
	if (value == 0)
		return;
	if (g->n + 2 > g->cap) {
		g->cap = g->cap ? 2 * g->cap : 256;
		g->row = ct_realloc_array(g->row, (size_t)g->cap, sizeof *g->row);
		g->column = ct_realloc_array(g->column, (size_t)g->cap, sizeof *g->column);
		g->value = ct_realloc_array(g->value, (size_t)g->cap, sizeof *g->value);
	}
	g->n++;
	g->row[g->n] = row;
	g->column[g->n] = column;
	g->value[g->n] = value;
}

/* 0, or EXACT_INFEASIBLE. GLPK gives up only for reasons that are ours. */
static int program_solve(struct program *g)
{
	glp_iocp how;
	int rc, status;

	if (glp_get_num_cols(g->p) == 0) { /* nothing may run: right, unless something must */
		for (int i = 1; i <= glp_get_num_rows(g->p); i++)
			if (glp_get_row_type(g->p, i) == GLP_FX)
				return EXACT_INFEASIBLE;
		return 0;
	}
	glp_load_matrix(g->p, g->n, g->row, g->column, g->value);
	glp_init_iocp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.presolve = GLP_ON;
	how.mip_gap = 0;
	rc = glp_intopt(g->p, &how);
	status = glp_mip_status(g->p);
	if (rc == GLP_ENOPFS || (rc == 0 && status == GLP_NOFEAS))
		return EXACT_INFEASIBLE;
	if (rc != 0 || status != GLP_OPT) {
		fprintf(stderr, "exact: GLPK ends with %d, status %d\n", rc, status);
		abort();
	}
	return 0;
}

static int program_chose(const struct program *g, int column)
{
	return glp_mip_col_val(g->p, column) > 0.5;
}

static void program_free(struct program *g)
{
	glp_delete_prob(g->p);
	free(g->row);
	free(g->column);
	free(g->value);
	glp_free_env();
}

static void broken(const char *what)
{
	fprintf(stderr, "exact: the answer of GLPK breaks %s\n", what);
	abort();
}

/* ---- equations 1 to 5 */

/* Does `a` make `b` superfluous? Of equals the first stays. */
static int dominates(const struct exact_config *a, const struct exact_config *b, int a_is_first)
{
	int better = a->throughput > b->throughput;

	if (a->throughput < b->throughput)
		return 0;
	for (int r = 0; r < EXACT_RESOURCES; r++) {
		if (a->need[r] > b->need[r])
			return 0;
		better |= a->need[r] < b->need[r];
	}
	return better || a_is_first;
}

static int superfluous(const struct exact_job *job, uint32_t c)
{
	if (job->config[c].throughput < job->floor)
		return 1;
	for (uint32_t d = 0; d < job->n; d++)
		if (d != c && job->config[d].throughput >= job->floor &&
		    dominates(&job->config[d], &job->config[c], d < c))
			return 1;
	return 0;
}

static void aggregate_rows(struct program *g, uint32_t n, const double *capacity, int may_wait)
{
	for (int r = 0; r < EXACT_RESOURCES; r++)
		glp_set_row_bnds(g->p, r + 1, isinf(capacity[r]) ? GLP_FR : GLP_UP, 0, 1);
	for (uint32_t j = 0; j < n; j++)
		glp_set_row_bnds(g->p, EXACT_RESOURCES + 1 + (int)j, may_wait ? GLP_UP : GLP_FX, 1, 1);
}

static void aggregate_read(const struct program *g, const struct exact_job *jobs, const double *capacity,
			   const uint32_t *job_of, const uint32_t *config_of, struct exact_answer *out)
{
	double use[EXACT_RESOURCES] = { 0 };

	for (int k = 1; k <= glp_get_num_cols(g->p); k++) {
		const struct exact_job *j = &jobs[job_of[k]];

		if (!program_chose(g, k))
			continue;
		if (out->config[job_of[k]] != EXACT_NONE)
			broken("equation 2");
		out->config[job_of[k]] = config_of[k];
		out->value += j->weight * j->config[config_of[k]].throughput;
		for (int r = 0; r < EXACT_RESOURCES; r++)
			use[r] += j->config[config_of[k]].need[r];
	}
	for (int r = 0; r < EXACT_RESOURCES; r++)
		if (use[r] > capacity[r] * (1 + 1e-9))
			broken("equation 3");
}

int exact_aggregate(const struct exact_job *jobs, uint32_t n, const double capacity[EXACT_RESOURCES], int may_wait,
		    struct exact_answer *out)
{
	struct program g = program_new(EXACT_RESOURCES + (int)n);
	uint32_t *job_of, *config_of, total = 0;
	int rc;

	for (uint32_t j = 0; j < n; j++)
		total += jobs[j].n;
	job_of = ct_calloc(total + 1, sizeof *job_of);
	config_of = ct_calloc(total + 1, sizeof *config_of);
	answer_nobody(out);
	aggregate_rows(&g, n, capacity, may_wait);
	for (uint32_t j = 0; j < n; j++)
		for (uint32_t c = 0; c < jobs[j].n; c++) {
			const struct exact_config *x = &jobs[j].config[c];
			int k;

			if (superfluous(&jobs[j], c))
				continue;
			k = program_column(&g, jobs[j].weight * x->throughput);
			job_of[k] = j;
			config_of[k] = c;
			program_entry(&g, EXACT_RESOURCES + 1 + (int)j, k, 1);
			for (int r = 0; r < EXACT_RESOURCES; r++)
				if (!isinf(capacity[r]))
					program_entry(&g, r + 1, k, x->need[r] / capacity[r]);
		}
	rc = program_solve(&g);
	if (rc == 0)
		aggregate_read(&g, jobs, capacity, job_of, config_of, out);
	program_free(&g);
	free(job_of);
	free(config_of);
	return rc;
}

/* ---- jobs and pairs of jobs onto GPUs */

struct column {
	uint32_t job, config, partner, partner_config;
	double value;
};

static struct column best_alone(const struct exact_job *jobs, const struct exact_gpus *gpus, uint32_t i)
{
	struct column best = { .job = i, .partner = EXACT_NONE, .value = -1 };

	for (uint32_t c = 0; c < jobs[i].n; c++) {
		const struct exact_config *x = &jobs[i].config[c];

		if (x->throughput < jobs[i].floor || x->need[EXACT_GPU_MEM] > gpus->mem ||
		    jobs[i].weight * x->throughput <= best.value)
			continue;
		best.value = jobs[i].weight * x->throughput;
		best.config = c;
	}
	return best;
}

/* The configurations of a job, fastest first, the lowest number among equals. */
static void by_throughput(const struct exact_job *job, uint32_t *order)
{
	for (uint32_t c = 0; c < job->n; c++) {
		uint32_t k = c;

		for (; k > 0 && job->config[order[k - 1]].throughput < job->config[c].throughput; k--)
			order[k] = order[k - 1];
		order[k] = c;
	}
}

/* A slow-down is at least 1: two configurations are never worth more than alone. */
static struct column best_beside(const struct exact_job *jobs, const struct exact_gpus *gpus, uint32_t i, uint32_t j,
				 uint32_t *const *order)
{
	struct column best = { .job = i, .partner = j, .value = -1 };

	for (uint32_t k = 0; k < jobs[i].n; k++)
		for (uint32_t l = 0; l < jobs[j].n; l++) {
			uint32_t c = order[i][k], d = order[j][l];
			double v;

			if (jobs[i].weight * jobs[i].config[c].throughput +
				jobs[j].weight * jobs[j].config[d].throughput <=
			    best.value)
				break;
			v = exact_pair_value(jobs, gpus, i, c, j, d);
			if (v <= best.value)
				continue;
			best.value = v;
			best.config = c;
			best.partner_config = d;
		}
	return best;
}

static uint32_t all_columns(const struct exact_job *jobs, uint32_t n, const struct exact_gpus *gpus, struct column *out)
{
	uint32_t *order[EXACT_JOBS], k = 0;

	for (uint32_t i = 0; i < n; i++) {
		order[i] = ct_calloc(jobs[i].n + 1, sizeof *order[i]);
		by_throughput(&jobs[i], order[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		out[k] = best_alone(jobs, gpus, i);
		k += out[k].value >= 0;
		for (uint32_t j = i + 1; j < n; j++) {
			out[k] = best_beside(jobs, gpus, i, j, order);
			k += out[k].value >= 0;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		free(order[i]);
	return k;
}

static void take(struct exact_answer *out, uint32_t job, uint32_t config, uint32_t partner)
{
	if (out->config[job] != EXACT_NONE)
		broken("once a job");
	out->config[job] = config;
	out->partner[job] = partner;
}

static void placed_read(const struct program *g, const struct column *columns, uint32_t n_columns, uint32_t gpus,
			struct exact_answer *out)
{
	uint32_t used = 0;

	for (uint32_t k = 0; k < n_columns; k++) {
		const struct column *c = &columns[k];

		if (!program_chose(g, (int)k + 1))
			continue;
		used++;
		out->value += c->value;
		take(out, c->job, c->config, c->partner);
		if (c->partner != EXACT_NONE)
			take(out, c->partner, c->partner_config, c->job);
	}
	if (used > gpus)
		broken("the number of GPUs");
}

int exact_placed(const struct exact_job *jobs, uint32_t n, const struct exact_gpus *gpus, struct exact_answer *out)
{
	struct program g = program_new(1 + (int)n);
	struct column *columns = ct_calloc((size_t)n * (n + 1) / 2 + 1, sizeof *columns);
	uint32_t n_columns = all_columns(jobs, n, gpus, columns);
	int rc;

	answer_nobody(out);
	glp_set_row_bnds(g.p, 1, GLP_UP, 0, gpus->gpus);
	for (uint32_t j = 0; j < n; j++)
		glp_set_row_bnds(g.p, 2 + (int)j, GLP_UP, 0, 1);
	for (uint32_t i = 0; i < n_columns; i++) {
		int k = program_column(&g, columns[i].value);

		program_entry(&g, 1, k, 1);
		program_entry(&g, 2 + (int)columns[i].job, k, 1);
		if (columns[i].partner != EXACT_NONE)
			program_entry(&g, 2 + (int)columns[i].partner, k, 1);
	}
	rc = program_solve(&g);
	if (rc == 0)
		placed_read(&g, columns, n_columns, gpus->gpus, out);
	program_free(&g);
	free(columns);
	return rc;
}

#else

int exact_present(void)
{
	return 0;
}

int exact_aggregate(const struct exact_job *jobs, uint32_t n, const double capacity[EXACT_RESOURCES], int may_wait,
		    struct exact_answer *out)
{
	(void)jobs;
	(void)n;
	(void)capacity;
	(void)may_wait;
	answer_nobody(out);
	return EXACT_ABSENT;
}

int exact_placed(const struct exact_job *jobs, uint32_t n, const struct exact_gpus *gpus, struct exact_answer *out)
{
	(void)jobs;
	(void)n;
	(void)gpus;
	answer_nobody(out);
	return EXACT_ABSENT;
}

#endif
