/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/real_lucid.h"

#include "calib/samples.h"
#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB = 7 };

static size_t config_name(const struct ct_table *t, size_t model, size_t dataset, size_t batch, size_t amp, char *out,
			  size_t cap)
{
	snprintf(out, cap, "%s/%s/%s/%s", ct_table_cell(t, model).s, ct_table_cell(t, dataset).s,
		 ct_table_cell(t, batch).s, ct_table_cell(t, amp).s);
	return strlen(out);
}

static void read_single(struct ct_lucid *l, const struct ct_table *t)
{
	struct ct_csv_field model = ct_table_cell(t, 0), dataset = ct_table_cell(t, 1);
	struct ct_loc at = ct_table_loc(t, SIZE_MAX);
	struct ct_lucid_single s = {
		.batch = ct_cell_number(t, 2, 1, 1 << 20),
		.speed = ct_cell_number(t, 4, 1e-9, 1e12),
		.gpu_util = ct_cell_number(t, 5, 0, 100) / 100,
		.amp = ct_cell_number(t, 3, 0, 1),
		.gmem_util = ct_cell_number(t, 6, 0, 100) / 100,
		.gmem = ct_cell_number(t, 7, 0, 1e7),
	};
	char name[512];
	size_t n = config_name(t, 0, 1, 2, 3, name, sizeof name), before = l->configs.n;
	size_t k = ct_name_list_add(&l->configs, name, n);

	if (k < before) {
		ct_err_add(t->err, CT_ECONFIG, &at, "configuration '%s' stands twice", name);
		return;
	}
	CT_GROW(l->single, l->cap_single, l->configs.n);
	s.model = ct_name_list_add(&l->models, model.s, model.n);
	s.dataset = ct_name_list_add(&l->datasets, dataset.s, dataset.n);
	l->single[k] = s;
}

static int read_singles(struct ct_lucid *l, const char *path, struct ct_err *err)
{
	static const char *const names[] = { "model", "dataset",  "batchsize", "amp",
					     "speed", "gpu_util", "gmem_util", "gmem" };
	struct ct_table t;

	CT_TRY(ct_table_open(&t, path, names, sizeof names / sizeof *names, CT_TABLE_KEEP_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		read_single(l, &t);
	return ct_table_close(&t);
}

static struct ct_lucid_side read_side(const struct ct_lucid *l, const struct ct_table *t, size_t first)
{
	struct ct_loc at = ct_table_loc(t, first);
	char name[512];
	size_t n = config_name(t, first, first + 1, first + 2, first + 3, name, sizeof name);
	struct ct_lucid_side s = { ct_name_list_find(&l->configs, name, n), ct_cell_number(t, first + 4, 1e-6, 10) };

	if (s.config == SIZE_MAX)
		ct_err_add(t->err, CT_ECONFIG, &at, "configuration '%s' is not among the single ones", name);
	return s;
}

static int read_pairs(struct ct_lucid *l, const char *path, struct ct_err *err)
{
	static const char *const names[] = { "model1", "dataset1", "batchsize1", "amp1", "speed1",
					     "model2", "dataset2", "batchsize2", "amp2", "speed2" };
	struct ct_table t;

	CT_TRY(ct_table_open(&t, path, names, sizeof names / sizeof *names, CT_TABLE_KEEP_UNKNOWN, err));
	while (ct_table_next(&t) == 1) {
		CT_GROW(l->pair, l->cap_pairs, l->n_pairs + 1);
		l->pair[l->n_pairs][0] = read_side(l, &t, 0);
		l->pair[l->n_pairs++][1] = read_side(l, &t, 5);
	}
	return ct_table_close(&t);
}

unsigned char *ct_lucid_measured(const struct ct_lucid *l)
{
	unsigned char *yes = ct_calloc(l->models.n + 1, 1);

	for (size_t i = 0; i < l->n_pairs; i++)
		for (int k = 0; k < 2; k++)
			if (l->pair[i][k].speed != 1)
				yes[l->single[l->pair[i][k].config].model] = 1;
	return yes;
}

int ct_lucid_read(struct ct_lucid *l, const char *pairs, const char *single, struct ct_err *err)
{
	*l = (struct ct_lucid){ 0 };
	CT_TRY(read_singles(l, single, err));
	if (l->configs.n >= CT_LUCID_CONFIGS)
		return ct_err_at(err, CT_ECONFIG, NULL, "'%s': more than %d configurations", single,
				 CT_LUCID_CONFIGS - 1);
	return read_pairs(l, pairs, err);
}

void ct_lucid_fini(struct ct_lucid *l)
{
	ct_name_list_fini(&l->models);
	ct_name_list_fini(&l->datasets);
	ct_name_list_fini(&l->configs);
	free(l->single);
	free(l->pair);
}

/* ---- samples */

static uint32_t pair_number(size_t a, size_t b)
{
	return (uint32_t)(a < b ? a * CT_LUCID_CONFIGS + b : b * CT_LUCID_CONFIGS + a);
}

static void job_features(const struct ct_lucid_single *s, double x[JOB])
{
	x[0] = log2(s->batch);
	x[1] = s->amp;
	x[2] = s->gpu_util;
	x[3] = s->gmem_util;
	x[4] = s->gmem / 1024;
	x[5] = log(s->speed);
	x[6] = log(s->batch / s->speed * (s->gpu_util + .01));
}

static void add_sample(const struct ct_lucid *l, const struct ct_lucid_side *self, const struct ct_lucid_side *other,
		       struct ct_samples *out)
{
	const struct ct_lucid_single *a = &l->single[self->config], *b = &l->single[other->config];
	struct ct_sample row = { .slowdown = 1 / self->speed,
				 .truth = NAN,
				 .pair = pair_number(self->config, other->config),
				 .model_pair = pair_number(a->model, b->model),
				 .self = (uint32_t)self->config,
				 .other = (uint32_t)other->config };
	double *x = ct_samples_add(out, &row), *y = x + JOB, hi;

	job_features(a, x);
	job_features(b, y);
	hi = fmax(x[2], y[2]);
	x[14] = x[2] + y[2];
	x[15] = x[3] + y[3];
	x[16] = x[4] + y[4];
	x[17] = hi > 0 ? fmin(x[2], y[2]) / hi : 1;
	x[18] = x[6] - y[6];
}

static void make_samples(const struct ct_lucid *l, struct ct_samples *out)
{
	unsigned char *measured = ct_lucid_measured(l);

	ct_samples_init(out, CT_LUCID_FEATURES);
	for (size_t i = 0; i < l->n_pairs; i++)
		for (int k = 0; k < 2; k++) {
			const struct ct_lucid_side *self = &l->pair[i][k];

			if (measured[l->single[self->config].model])
				add_sample(l, self, &l->pair[i][1 - k], out);
			else
				out->ignored++;
		}
	free(measured);
}

int ct_samples_lucid(const char *pairs, const char *single, struct ct_samples *out, struct ct_err *err)
{
	struct ct_lucid l;
	int rc = ct_lucid_read(&l, pairs, single, err);

	if (rc == 0)
		make_samples(&l, out);
	ct_lucid_fini(&l);
	return rc;
}
