/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate_genai.h - a day of requests like those of Alibaba's GenAI serving trace
 * (GenTD26); generate_genai.c says how they are drawn. Internal to traces/. */
#ifndef CT_TRACES_GENERATE_GENAI_H
#define CT_TRACES_GENERATE_GENAI_H

#include "traces/generate.h"

int ct_generate_genai(const struct ct_generate_options *o, const struct ct_constants *c, struct ct_workload *w,
		      struct ct_err *err);
int ct_generate_genai_check(const struct ct_generate_options *o, const struct ct_constants *c,
			    const struct ct_workload *w, struct ct_marginals *out, struct ct_err *err);

#endif
