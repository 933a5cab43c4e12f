/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/calibration.h"

#include "calib/profiles_own.h"

#include <math.h>
#include <string.h>

static struct ct_workload_model *add_model(struct ct_profiles *set, const struct ct_calib_config *k)
{
	struct ct_profiles_own *own = set->own;

	CT_GROW(own->model, own->cap_model, set->n_models + 1);
	own->model[set->n_models] = (struct ct_workload_model){
		.name = ct_arena_text(&own->arena, k->workload, strlen(k->workload)),
		.unit = "1/s",
		.train = k->profile.train,
	};
	return &own->model[set->n_models++];
}

int ct_calibration_profiles(const struct ct_calibration *c, struct ct_profiles **out, struct ct_err *err)
{
	struct ct_profiles *set = ct_calloc(1, sizeof *set);
	struct ct_workload_model *m = NULL;

	set->own = ct_calloc(1, sizeof *set->own);
	set->own->profile = ct_calloc(c->n_configs + 1, sizeof *set->own->profile);
	set->signature = ct_arena_text(&set->own->arena, c->gpu, strlen(c->gpu));
	memcpy(set->digest, c->digest, sizeof set->digest);
	set->knobs.gpu_mem_mib = c->mem_mib;
	set->knobs.reserve_mib = c->reserve_mib;
	for (size_t i = 0; i < c->n_configs; i++) {
		const struct ct_calib_config *k = &c->config[i];

		if (!m || strcmp(m->name, k->workload) != 0) {
			if (ct_profiles_find(set, k->workload)) {
				ct_profiles_free(set);
				return ct_err_at(err, CT_ECONFIG, NULL, "rows of '%s' do not stand together",
						 k->workload);
			}
			m = add_model(set, k);
			set->model = set->own->model;
		}
		if (k->is_default)
			m->default_profile = m->n;
		m->n++;
		set->own->profile[i] = k->profile;
		set->own->profile[i].workload = set->n_models - 1;
		set->own->profile[i].weight = k->demand.weight;
	}
	for (uint32_t w = 0, first = 0; w < set->n_models; first += set->own->model[w++].n)
		set->own->model[w].profile = set->own->profile + first;
	set->profile = set->own->profile;
	set->n_profiles = (uint32_t)c->n_configs;
	*out = set;
	return 0;
}
