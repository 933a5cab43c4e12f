/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measured_build.h - how the readers of published tables put a calibration together.
 * Internal to calib/.
 *
 *	struct ct_measured_build b;
 *	ct_measured_begin(&b, &report);
 *	uint32_t i = ct_measured_config(&b, "LM", &profile);   // any order
 *	ct_measured_pair(&b, i, j, s_i, s_j);
 *	CT_TRY(ct_measured_end(&b, "rtx3090", gpus, "source", &calibration, err)); */
#ifndef CT_CALIB_MEASURED_BUILD_H
#define CT_CALIB_MEASURED_BUILD_H

#include "calib/measured.h"

struct ct_measured_build {
	struct ct_calibration *c;
	struct ct_measured_report *report;
	size_t cap_config, cap_pair;
};

void ct_measured_begin(struct ct_measured_build *b, struct ct_measured_report *report);
uint32_t ct_measured_config(struct ct_measured_build *b, const char *workload, const struct ct_profile *p);
void ct_measured_pair(struct ct_measured_build *b, uint32_t i, uint32_t j, double s_i, double s_j);
/* Sorts, joins repeats, sets defaults and counts. Takes everything, also on error. */
int ct_measured_end(struct ct_measured_build *b, const char *gpu, const char *gpus, const char *source,
		    struct ct_calibration **out, struct ct_err *err);
void ct_measured_drop(struct ct_measured_build *b);
/* Appends to a list "a, b"; what does not fit is marked by "...". */
void ct_measured_list(char *list, size_t cap, const char *word);

#endif
