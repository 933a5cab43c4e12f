/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate_testbed.h - a day of training and offline inference as on the ElastiCo
 * paper's testbed, from declared assumptions; generate_testbed.c says how it is made.
 * Internal to traces/. */
#ifndef CT_TRACES_GENERATE_TESTBED_H
#define CT_TRACES_GENERATE_TESTBED_H

#include "traces/generate.h"

int ct_generate_testbed(const struct ct_generate_options *o, const struct ct_constants *c, struct ct_workload *w,
			struct ct_err *err);
int ct_generate_testbed_check(const struct ct_generate_options *o, const struct ct_constants *c,
			      const struct ct_workload *w, struct ct_marginals *out, struct ct_err *err);

#endif
