/* SPDX-License-Identifier: GPL-3.0-or-later */
/* print.h - published figures beside ours: as tables on standard output, as JSON there,
 * as a CSV file. */
#ifndef CT_EXPERIMENTS_REPRO_PRINT_H
#define CT_EXPERIMENTS_REPRO_PRINT_H

#include "experiments/repro/repro.h"

/* `ranged`: all rows in one table, with the range over scenarios that fit equally well. */
void ct_repro_print(const struct ct_paper *p, const struct ct_repro *rows, int ranged);
/* CT_EIO. */
int ct_repro_print_json(const struct ct_repro *rows, struct ct_err *err);
int ct_repro_write_csv(const struct ct_repro *rows, const char *path, struct ct_err *err);

#endif
