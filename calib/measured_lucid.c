/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/measured_build.h"

#include "calib/real_lucid.h"
#include "sim/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kept {
	unsigned char *measured, *paired; /* [models] */
	uint32_t *number;                 /* [configs] in the calibration */
};

/* A model is paired when a row has it beside a measured one. */
static void find_paired(const struct ct_lucid *l, struct kept *k)
{
	k->measured = ct_lucid_measured(l);
	k->paired = ct_calloc(l->models.n + 1, 1);
	for (size_t i = 0; i < l->n_pairs; i++) {
		size_t a = l->single[l->pair[i][0].config].model, b = l->single[l->pair[i][1].config].model;

		if (k->measured[a] && k->measured[b])
			k->paired[a] = k->paired[b] = 1;
	}
}

/* A model that stands in pairs, but always at speed 1; or that no row has. */
static void name_left_out(const struct ct_lucid *l, const struct kept *k, struct ct_measured_report *r)
{
	for (size_t m = 0; m < l->models.n; m++) {
		int stands = 0;

		for (size_t i = 0; i < l->n_pairs && !stands; i++)
			stands =
			    l->single[l->pair[i][0].config].model == m || l->single[l->pair[i][1].config].model == m;
		if (k->paired[m])
			continue;
		if (stands && !k->measured[m])
			ct_measured_list(r->unmeasured, sizeof r->unmeasured, l->models.v[m]);
		else
			ct_measured_list(r->unpaired, sizeof r->unpaired, l->models.v[m]);
	}
}

/* The model's name; with the data set behind it where the model has several. */
static void workload_of(const struct ct_lucid *l, size_t config, char *out, size_t cap)
{
	const struct ct_lucid_single *s = &l->single[config];
	int several = 0;

	for (size_t i = 0; i < l->configs.n; i++)
		several |= l->single[i].model == s->model && l->single[i].dataset != s->dataset;
	snprintf(out, cap, "%s%s%s", l->models.v[s->model], several ? "/" : "",
		 several ? l->datasets.v[s->dataset] : "");
}

static int add_config(struct ct_measured_build *b, const struct ct_lucid *l, size_t config, uint32_t *number,
		      struct ct_err *err)
{
	const struct ct_lucid_single *s = &l->single[config];
	struct ct_profile p = { .train = 1,
				.batch = (uint32_t)s->batch,
				.amp = s->amp > 0,
				.sm_active = s->gpu_util,
				.dram_active = s->gmem_util,
				.sm_occupancy = NAN,
				.tensor_active = NAN,
				.host = NAN,
				.fb_mib = (uint32_t)ceil(s->gmem),
				.throughput = s->speed,
				.weight = 1 };
	char name[512];

	workload_of(l, config, name, sizeof name);
	if (strlen(name) >= sizeof b->c->config->workload)
		return ct_err_at(err, CT_ECONFIG, NULL, "the name '%.100s' is longer than %zu bytes", name,
				 sizeof b->c->config->workload - 1);
	snprintf(p.name, sizeof p.name, "b%u%s", p.batch, p.amp ? "+amp" : "");
	*number = ct_measured_config(b, name, &p);
	return 0;
}

static int build(struct ct_measured_build *b, const struct ct_lucid *l, struct kept *k, struct ct_err *err)
{
	find_paired(l, k);
	name_left_out(l, k, b->report);
	k->number = ct_calloc(l->configs.n + 1, sizeof *k->number);
	for (size_t i = 0; i < l->configs.n; i++)
		if (k->paired[l->single[i].model])
			CT_TRY(add_config(b, l, i, &k->number[i], err));
	for (size_t i = 0; i < l->n_pairs; i++) {
		const struct ct_lucid_side *a = &l->pair[i][0], *c = &l->pair[i][1];

		b->report->rows++;
		if (k->paired[l->single[a->config].model] && k->paired[l->single[c->config].model])
			ct_measured_pair(b, k->number[a->config], k->number[c->config], 1 / a->speed, 1 / c->speed);
		else
			b->report->left_out++;
	}
	return 0;
}

int ct_measured_lucid(const char *dir, const char *gpus, struct ct_measured_report *report, struct ct_calibration **out,
		      struct ct_err *err)
{
	char pairs[4096], single[4096];
	struct ct_measured_build b;
	struct kept k = { 0 };
	struct ct_lucid l;
	int rc;

	ct_measured_begin(&b, report);
	snprintf(pairs, sizeof pairs, "%s/colocate_info.csv", dir);
	snprintf(single, sizeof single, "%s/single_data.csv", dir);
	rc = ct_lucid_read(&l, pairs, single, err);
	if (!rc)
		rc = build(&b, &l, &k, err);
	if (rc)
		ct_measured_drop(&b);
	else
		rc = ct_measured_end(&b, "rtx3090", gpus, pairs, out, err);
	free(k.measured);
	free(k.paired);
	free(k.number);
	ct_lucid_fini(&l);
	return rc;
}
