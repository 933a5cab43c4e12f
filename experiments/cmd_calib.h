/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_calib.h - the actions of `cotenant calib`, one file each. */
#ifndef CT_EXPERIMENTS_CMD_CALIB_H
#define CT_EXPERIMENTS_CMD_CALIB_H

#include "calib/calibration.h"
#include "experiments/command.h"
#include "sim/memory.h"

#include <signal.h>
#include <stdint.h>

/* What the flags say; NULL: not given. */
struct ct_calib_args {
	const struct ct_command *command;
	struct ct_arena *arena;
	const char *dir, *solo, *pairs, *mode, *gpu, *gpu_mem, *reserve, *out, *predictor, *calib;
	uint64_t seed;
	unsigned seeds; /* how many; 0: as it likes */
	int measured, json, curve, blind_host;
	/* scenario */
	const char *volcano, *without;
	unsigned processes, evaluations; /* 0: as it likes */
	const volatile sig_atomic_t *interrupted;
	int argc; /* operands after the action */
	char **argv;
};

/* Errors on pairs that were kept apart, one line a predictor; `title` heads their names. */
void ct_calib_print_holdouts(const struct ct_calibration *c, const char *title);

/* heatmap.csv, cdf.csv and families.csv of the A100 that comes with the program. */
int ct_calib_write_pairs(const char *folder, struct ct_err *err);

int ct_calib_cmd_fit(struct ct_calib_args *a);
int ct_calib_cmd_import(struct ct_calib_args *a);
int ct_calib_cmd_show(struct ct_calib_args *a);
int ct_calib_cmd_train(struct ct_calib_args *a);
int ct_calib_cmd_eval(struct ct_calib_args *a);
int ct_calib_cmd_scenario(struct ct_calib_args *a);
int ct_calib_cmd_posterior(struct ct_calib_args *a);

#endif
