/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shown.h - what is shown beside the published figures (`shown` of
 * experiments/paper/published.yaml) for people: a line a study and variant, a column a
 * metric, each mean with half of its 95 % interval. */
#ifndef CT_EXPERIMENTS_REPRO_SHOWN_H
#define CT_EXPERIMENTS_REPRO_SHOWN_H

#include "experiments/repro/repro.h"

#include <stdio.h>

/* Rows of runs of which nothing is published. */
void ct_repro_print_shown(const struct ct_paper *p, const struct ct_repro *rows, FILE *to);

#endif
