/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overrides.h - the flags that change the configuration, common to all commands
 * that have one. They are collected while flags are read and applied, in the order
 * of the command line, after the file they override is known. */
#ifndef CT_EXPERIMENTS_OVERRIDES_H
#define CT_EXPERIMENTS_OVERRIDES_H

#include "experiments/command.h"
#include "experiments/config.h"

enum {
	CT_FLAG_TRACE = 256,
	CT_FLAG_POLICY,
	CT_FLAG_CLUSTER,
	CT_FLAG_SET,
	CT_FLAG_SEED,
	CT_FLAG_BAD_ROW,
	CT_FLAG_OUT,
	CT_FLAG_CSV,
	CT_FLAG_NO_PERF,
	CT_FLAG_OWN, /* a command's own flags begin here */
};
#define CT_TRACE_FLAGS                                                                                                \
	{ "on-bad-row", CT_FLAG_BAD_ROW, "refuse|drop", "rows that cannot be a job: refuse the file, or drop them" }, \
	{                                                                                                             \
		"set", CT_FLAG_SET, "KEY=VALUE", "any key of the configuration (`cotenant help config`); repeatable"  \
	}
#define CT_RUN_FLAGS                                                                              \
	{ "trace", CT_FLAG_TRACE, "FILE", "the jobs (trace.file)" },                              \
	    { "policy", CT_FLAG_POLICY, "NAME", "the policy, or a shared object (policy.name)" }, \
	    { "cluster", CT_FLAG_CLUSTER, "NODESxGPUS", "nodes and GPUs of each, such as 32x8" }, \
	    { "seed", CT_FLAG_SEED, "N", "of all random draws (sim.seed)" }, CT_TRACE_FLAGS

struct ct_override {
	int id;
	const char *arg;
};
struct ct_overrides {
	struct ct_override *v;
	size_t n, cap;
};

void ct_overrides_add(struct ct_overrides *o, int id, const char *arg);
void ct_overrides_fini(struct ct_overrides *o);
/* The file (NULL: none), then the flags; every error is kept. */
int ct_overrides_apply(const struct ct_overrides *o, const char *file, struct ct_config *c, struct ct_err *err);

#endif
