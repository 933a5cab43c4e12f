/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/measured_build.h"

#include "calib/features.h"
#include "calib/real_cells.h"
#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ct_measured_begin(struct ct_measured_build *b, struct ct_measured_report *report)
{
	*report = (struct ct_measured_report){ 0 };
	*b = (struct ct_measured_build){ .c = ct_calloc(1, sizeof *b->c), .report = report };
}

void ct_measured_drop(struct ct_measured_build *b)
{
	ct_calibration_free(b->c);
	b->c = NULL;
}

void ct_measured_list(char *list, size_t cap, const char *word)
{
	size_t used = strlen(list), n = strlen(word);

	if (used + n + 8 < cap)
		snprintf(list + used, cap - used, "%s%s", used ? ", " : "", word);
	else if (used < 4 || strcmp(list + used - 3, "...") != 0)
		snprintf(list + used, cap - used, ", ...");
}

uint32_t ct_measured_config(struct ct_measured_build *b, const char *workload, const struct ct_profile *p)
{
	struct ct_calib_config *k;

	CT_GROW(b->c->config, b->cap_config, b->c->n_configs + 1);
	k = &b->c->config[b->c->n_configs];
	memset(k, 0, sizeof *k);
	snprintf(k->workload, sizeof k->workload, "%s", workload);
	k->profile = *p;
	k->demand.weight = 1;
	return (uint32_t)b->c->n_configs++;
}

void ct_measured_pair(struct ct_measured_build *b, uint32_t i, uint32_t j, double s_i, double s_j)
{
	struct ct_fit_pair p = { i, j, s_i, s_j };

	if (i == j)
		p.s_a = p.s_b = 2 / (1 / s_i + 1 / s_j);
	CT_GROW(b->c->pair, b->cap_pair, b->c->n_pairs + 1);
	b->c->pair[b->c->n_pairs++] =
	    (struct ct_calib_pair){ .measured = p, .fit = { NAN, NAN }, .lopo = { NAN, NAN } };
}

/* Workloads by name, then smaller batches first, without mixed precision first. */
static int by_workload(const void *a, const void *b)
{
	const struct ct_calib_config *const *x = a, *const *y = b;
	int c = strcmp((*x)->workload, (*y)->workload);

	if (c)
		return c;
	if ((*x)->profile.batch != (*y)->profile.batch)
		return (*x)->profile.batch < (*y)->profile.batch ? -1 : 1;
	return (*x)->profile.amp - (*y)->profile.amp;
}

static void sort_configs(struct ct_calibration *c)
{
	struct ct_calib_config **order = ct_calloc(c->n_configs, sizeof *order);
	struct ct_calib_config *sorted = ct_calloc(c->n_configs, sizeof *sorted);
	uint32_t *place = ct_calloc(c->n_configs, sizeof *place);

	for (size_t i = 0; i < c->n_configs; i++)
		order[i] = &c->config[i];
	qsort(order, c->n_configs, sizeof(struct ct_calib_config *), by_workload);
	for (size_t i = 0; i < c->n_configs; i++) {
		sorted[i] = *order[i];
		place[order[i] - c->config] = (uint32_t)i;
	}
	for (size_t i = 0; i < c->n_pairs; i++) {
		c->pair[i].measured.a = place[c->pair[i].measured.a];
		c->pair[i].measured.b = place[c->pair[i].measured.b];
	}
	free(c->config);
	free(order);
	free(place);
	c->config = sorted;
}

static int by_pair(const void *a, const void *b)
{
	const struct ct_fit_pair *x = &((const struct ct_calib_pair *)a)->measured;
	const struct ct_fit_pair *y = &((const struct ct_calib_pair *)b)->measured;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	if (x->s_a < y->s_a || x->s_a > y->s_a)
		return x->s_a < y->s_a ? -1 : 1;
	return (x->s_b > y->s_b) - (x->s_b < y->s_b);
}

/* Repeats keep the mean of their speeds, in an order that the file's does not change. */
static void join_pairs(struct ct_calibration *c, struct ct_measured_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		struct ct_fit_pair *p = &c->pair[i].measured;

		if (p->a > p->b)
			*p = (struct ct_fit_pair){ p->b, p->a, p->s_b, p->s_a };
	}
	if (c->n_pairs)
		qsort(c->pair, c->n_pairs, sizeof *c->pair, by_pair);
	for (size_t i = 0, k; i < c->n_pairs; i = k) {
		struct ct_fit_pair p = c->pair[i].measured;
		double a = 0, b = 0;

		for (k = i; k < c->n_pairs && c->pair[k].measured.a == p.a && c->pair[k].measured.b == p.b; k++) {
			a += 1 / c->pair[k].measured.s_a;
			b += 1 / c->pair[k].measured.s_b;
		}
		p.s_a = (double)(k - i) / a;
		p.s_b = (double)(k - i) / b;
		r->repeated += k - i - 1;
		r->failed += p.s_a >= CT_CALIB_FAILED;
		r->speedups += (size_t)(p.s_a < 1) + (p.s_b < 1);
		c->pair[n++].measured = p;
	}
	c->n_pairs = n;
}

/* The last without mixed precision; of a workload that has none, the last. */
static void set_defaults(struct ct_calibration *c, struct ct_measured_report *r)
{
	for (size_t i = 0, k; i < c->n_configs; i = k) {
		size_t best = SIZE_MAX;

		for (k = i; k < c->n_configs && !strcmp(c->config[k].workload, c->config[i].workload); k++)
			if (!c->config[k].profile.amp)
				best = k;
		c->config[best == SIZE_MAX ? k - 1 : best].is_default = 1;
		r->workloads++;
	}
}

static int describe_gpu(struct ct_calibration *c, const char *gpu, const char *gpus, struct ct_err *err)
{
	static const char *const names[] = { "name", "gpu", "mem_mib", "source" };
	struct ct_table t;

	snprintf(c->gpu, sizeof c->gpu, "%s", gpu);
	if (!gpus)
		return 0;
	CT_TRY(ct_table_open(&t, gpus, names, sizeof names / sizeof *names, CT_TABLE_REFUSE_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		if (!strcmp(ct_table_cell(&t, 0).s, gpu)) {
			snprintf(c->gpu, sizeof c->gpu, "%s", ct_table_cell(&t, 1).s);
			c->mem_mib = ct_cell_number(&t, 2, 1, 1e9);
		}
	return ct_table_close(&t);
}

static int finish(struct ct_measured_build *b, const char *gpu, const char *gpus, const char *source,
		  struct ct_err *err)
{
	struct ct_calibration *c = b->c;
	struct ct_measured_report *r = b->report;

	if (!c->n_pairs)
		return ct_err_at(err, CT_ECONFIG, NULL, "'%s' has no measured pair for GPU '%s'", source, gpu);
	sort_configs(c);
	join_pairs(c, r);
	set_defaults(c, r);
	r->configs = c->n_configs;
	r->pairs = c->n_pairs;
	r->possible = c->n_configs * (c->n_configs + 1) / 2;
	c->mode = CT_CALIB_OVERRIDES;
	c->overrides = 1;
	c->wstr = ct_slowdown_published();
	return describe_gpu(c, gpu, gpus, err);
}

int ct_measured_end(struct ct_measured_build *b, const char *gpu, const char *gpus, const char *source,
		    struct ct_calibration **out, struct ct_err *err)
{
	const char *slash = strrchr(source, '/');

	if (finish(b, gpu, gpus, source, err)) {
		ct_measured_drop(b);
		return (int)err->code;
	}
	/* Not the path: the same file gives the same bytes anywhere. */
	snprintf(b->c->source, sizeof b->c->source, "measured pairs of '%.200s', no model", slash ? slash + 1 : source);
	*out = b->c;
	b->c = NULL;
	return 0;
}

/* ---- samples */

/* Where the counters are unknown, who the two are is told instead. */
static size_t names_wanted(const struct ct_calibration *c)
{
	size_t n = 0, wanted = 0;

	for (size_t i = 0; i < c->n_configs; i++) {
		n += !i || strcmp(c->config[i].workload, c->config[i - 1].workload) != 0;
		wanted += isnan(c->config[i].profile.sm_active) != 0;
	}
	return wanted ? n : 0;
}

struct sampler {
	const struct ct_calibration *c;
	double (*job)[CT_JOB_FEATURES];
	uint32_t *workload;
	size_t names;
};

static void add_sample(const struct sampler *m, size_t pair, int side, struct ct_samples *out)
{
	const struct ct_fit_pair *p = &m->c->pair[pair].measured;
	uint32_t a = side ? p->b : p->a, b = side ? p->a : p->b, v = m->workload[p->a], w = m->workload[p->b];
	struct ct_sample row = { .slowdown = side ? p->s_b : p->s_a,
				 .truth = NAN,
				 .pair = (uint32_t)pair,
				 .model_pair = v < w ? v << 16 | w : w << 16 | v,
				 .type = ct_features_type(m->job[a], m->job[b]),
				 .self = a,
				 .other = b };
	double *x;

	if (row.slowdown >= CT_CALIB_FAILED) {
		out->ignored++;
		return;
	}
	x = ct_samples_add(out, &row);
	ct_features_pair(m->job[a], m->job[b], x);
	if (!m->names)
		return;
	memset(x + CT_FEATURES, 0, 2 * m->names * sizeof *x);
	x[CT_FEATURES + m->workload[a]] = 1;
	x[CT_FEATURES + m->names + m->workload[b]] = 1;
}

void ct_samples_calibration(const struct ct_calibration *c, struct ct_samples *out)
{
	struct sampler m = { .c = c, .names = names_wanted(c) };
	uint32_t n = 0;

	m.job = ct_calloc(c->n_configs, sizeof *m.job);
	m.workload = ct_calloc(c->n_configs, sizeof *m.workload);
	ct_samples_init(out, CT_FEATURES + 2 * m.names);
	for (uint32_t i = 0; i < c->n_configs; i++) {
		ct_features_job(&c->config[i].profile, i, NULL, m.job[i]);
		n += i && strcmp(c->config[i].workload, c->config[i - 1].workload) != 0;
		m.workload[i] = n;
	}
	for (size_t i = 0; i < c->n_pairs; i++)
		for (int side = 0; side < 2; side++)
			add_sample(&m, i, side, out);
	free(m.workload);
	free(m.job);
}
