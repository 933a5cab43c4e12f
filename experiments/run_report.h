/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_report.h - a run's summary for people: what was run, the measurement window,
 * every metric with unit and definition, the result digest, and the speed. */
#ifndef CT_EXPERIMENTS_RUN_REPORT_H
#define CT_EXPERIMENTS_RUN_REPORT_H

#include "sim/result.h"

#include <stdio.h>

struct ct_config;

/* `account` is of the world the result was made from. */
void ct_run_report(const struct ct_result *r, struct ct_config *c, const struct ct_account *account, FILE *to);

/* `cotenant help metrics`: key, unit and definition of each, and of those of `repro` alone. */
void ct_run_report_manual(FILE *to);

#endif
