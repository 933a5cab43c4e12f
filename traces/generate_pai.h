/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate_pai.h - jobs like those of Alibaba's PAI trace (cluster-trace-gpu-v2020);
 * generate_pai.c says how they are drawn. Internal to traces/. */
#ifndef CT_TRACES_GENERATE_PAI_H
#define CT_TRACES_GENERATE_PAI_H

#include "traces/generate.h"

int ct_generate_pai(const struct ct_generate_options *o, const struct ct_constants *c, struct ct_workload *w,
		    struct ct_err *err);
int ct_generate_pai_check(const struct ct_generate_options *o, const struct ct_constants *c,
			  const struct ct_workload *w, struct ct_marginals *out, struct ct_err *err);

#endif
