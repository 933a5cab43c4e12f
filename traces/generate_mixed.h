/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate_mixed.h - training like PAI's and offline inference like GenAI's on one
 * cluster; generate_mixed.c says how they are made. Internal to traces/. */
#ifndef CT_TRACES_GENERATE_MIXED_H
#define CT_TRACES_GENERATE_MIXED_H

#include "traces/generate.h"

int ct_generate_mixed(const struct ct_generate_options *o, struct ct_workload **out, struct ct_err *err);
int ct_generate_mixed_check(const struct ct_generate_options *o, const struct ct_constants *c,
			    const struct ct_workload *w, struct ct_marginals *out, struct ct_err *err);

#endif
