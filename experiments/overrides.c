/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/overrides.h"

#include "experiments/data_path.h"

#include <stdlib.h>

void ct_overrides_add(struct ct_overrides *o, int id, const char *arg)
{
	CT_GROW(o->v, o->cap, o->n + 1);
	o->v[o->n++] = (struct ct_override){ id, arg };
}

void ct_overrides_fini(struct ct_overrides *o)
{
	free(o->v);
	*o = (struct ct_overrides){ 0 };
}

static int apply(const struct ct_override *o, struct ct_config *c, struct ct_err *err)
{
	switch (o->id) {
	case CT_FLAG_TRACE:
		return ct_config_option(c, "--trace", "trace.file", o->arg, err);
	case CT_FLAG_POLICY:
		return ct_config_option(c, "--policy", "policy.name", o->arg, err);
	case CT_FLAG_CLUSTER:
		return ct_config_cluster_option(c, o->arg, err);
	case CT_FLAG_SET:
		return ct_config_assign(c, o->arg, err);
	case CT_FLAG_SEED:
		return ct_config_option(c, "--seed", "sim.seed", o->arg, err);
	case CT_FLAG_BAD_ROW:
		return ct_config_option(c, "--on-bad-row", "trace.on_bad_row", o->arg, err);
	case CT_FLAG_OUT:
		return ct_config_option(c, "--out", "output.file", o->arg, err);
	case CT_FLAG_CSV:
		return ct_config_option(c, "--csv", "output.csv", o->arg, err);
	case CT_FLAG_NO_PERF:
		return ct_config_option(c, "--no-perf", "output.perf", "false", err);
	default:
		return 0;
	}
}

int ct_overrides_apply(const struct ct_overrides *o, const char *file, struct ct_config *c, struct ct_err *err)
{
	unsigned before = err->count;

	if (file && ct_data_path(file, &c->arena, &file, err) == 0)
		ct_config_load(c, file, err);
	for (size_t i = 0; i < o->n; i++)
		apply(&o->v[i], c, err);
	return err->count > before ? (int)err->code : 0;
}
