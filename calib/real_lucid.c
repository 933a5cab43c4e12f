/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/samples.h"

#include "calib/real_cells.h"
#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB = 7, LUCID_JOBS = 4096 };

struct single {
	size_t model;
	double x[JOB];
};

struct side {
	size_t config;
	double speed;
};

struct lucid {
	struct ct_name_list models, configs; /* configs: "model/dataset/batch/amp" */
	struct single *single;
	size_t cap_single;
	struct side (*pair)[2];
	size_t n_pairs, cap_pairs;
};

static size_t config_name(const struct ct_table *t, size_t model, size_t dataset, size_t batch, size_t amp, char *out,
			  size_t cap)
{
	snprintf(out, cap, "%s/%s/%s/%s", ct_table_cell(t, model).s, ct_table_cell(t, dataset).s,
		 ct_table_cell(t, batch).s, ct_table_cell(t, amp).s);
	return strlen(out);
}

static void read_single(struct lucid *l, const struct ct_table *t)
{
	struct ct_csv_field model = ct_table_cell(t, 0);
	struct ct_loc at = ct_table_loc(t, SIZE_MAX);
	double batch = ct_cell_number(t, 2, 1, 1 << 20), speed = ct_cell_number(t, 4, 1e-9, 1e12);
	double util = ct_cell_number(t, 5, 0, 100);
	char name[512];
	size_t n = config_name(t, 0, 1, 2, 3, name, sizeof name), before = l->configs.n;
	size_t k = ct_name_list_add(&l->configs, name, n);

	if (k < before) {
		ct_err_add(t->err, CT_ECONFIG, &at, "configuration '%s' stands twice", name);
		return;
	}
	CT_GROW(l->single, l->cap_single, l->configs.n);
	l->single[k] = (struct single){
		.model = ct_name_list_add(&l->models, model.s, model.n),
		.x = { log2(batch), ct_cell_number(t, 3, 0, 1), util / 100, ct_cell_number(t, 6, 0, 100) / 100,
		       ct_cell_number(t, 7, 0, 1e7) / 1024, log(speed), log(batch / speed * (util + 1) / 100) },
	};
}

static int read_singles(struct lucid *l, const char *path, struct ct_err *err)
{
	static const char *const names[] = { "model", "dataset",  "batchsize", "amp",
					     "speed", "gpu_util", "gmem_util", "gmem" };
	struct ct_table t;

	CT_TRY(ct_table_open(&t, path, names, sizeof names / sizeof *names, CT_TABLE_KEEP_UNKNOWN, err));
	while (ct_table_next(&t) == 1)
		read_single(l, &t);
	return ct_table_close(&t);
}

static struct side read_side(const struct lucid *l, const struct ct_table *t, size_t first)
{
	struct ct_loc at = ct_table_loc(t, first);
	char name[512];
	size_t n = config_name(t, first, first + 1, first + 2, first + 3, name, sizeof name);
	struct side s = { ct_name_list_find(&l->configs, name, n), ct_cell_number(t, first + 4, 1e-6, 10) };

	if (s.config == SIZE_MAX)
		ct_err_add(t->err, CT_ECONFIG, &at, "configuration '%s' is not among the single ones", name);
	return s;
}

static int read_pairs(struct lucid *l, const char *path, struct ct_err *err)
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

/* Models with a speed other than 1 somewhere. */
static unsigned char *measured_models(const struct lucid *l)
{
	unsigned char *yes = ct_calloc(l->models.n + 1, 1);

	for (size_t i = 0; i < l->n_pairs; i++)
		for (int k = 0; k < 2; k++)
			if (l->pair[i][k].speed != 1)
				yes[l->single[l->pair[i][k].config].model] = 1;
	return yes;
}

static uint32_t pair_number(size_t a, size_t b)
{
	return (uint32_t)(a < b ? a * LUCID_JOBS + b : b * LUCID_JOBS + a);
}

static void add_sample(const struct lucid *l, const struct side *self, const struct side *other, struct ct_samples *out)
{
	const struct single *a = &l->single[self->config], *b = &l->single[other->config];
	struct ct_sample row = { .slowdown = 1 / self->speed,
				 .truth = NAN,
				 .pair = pair_number(self->config, other->config),
				 .model_pair = pair_number(a->model, b->model) };
	double *x = ct_samples_add(out, &row), hi = fmax(a->x[2], b->x[2]);

	memcpy(x, a->x, sizeof a->x);
	memcpy(x + JOB, b->x, sizeof b->x);
	x[14] = a->x[2] + b->x[2];
	x[15] = a->x[3] + b->x[3];
	x[16] = a->x[4] + b->x[4];
	x[17] = hi > 0 ? fmin(a->x[2], b->x[2]) / hi : 1;
	x[18] = a->x[6] - b->x[6];
}

static void make_samples(const struct lucid *l, struct ct_samples *out)
{
	unsigned char *measured = measured_models(l);

	ct_samples_init(out, CT_LUCID_FEATURES);
	for (size_t i = 0; i < l->n_pairs; i++)
		for (int k = 0; k < 2; k++) {
			const struct side *self = &l->pair[i][k];

			if (measured[l->single[self->config].model])
				add_sample(l, self, &l->pair[i][1 - k], out);
			else
				out->ignored++;
		}
	free(measured);
}

int ct_samples_lucid(const char *pairs, const char *single, struct ct_samples *out, struct ct_err *err)
{
	struct lucid l = { 0 };
	int rc = read_singles(&l, single, err);

	if (rc == 0 && l.configs.n >= LUCID_JOBS)
		rc = ct_err_at(err, CT_ECONFIG, NULL, "'%s': more than %d configurations", single, LUCID_JOBS - 1);
	if (rc == 0)
		rc = read_pairs(&l, pairs, err);
	if (rc == 0)
		make_samples(&l, out);
	ct_name_list_fini(&l.models);
	ct_name_list_fini(&l.configs);
	free(l.single);
	free(l.pair);
	return rc;
}
