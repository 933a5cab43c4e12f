/* SPDX-License-Identifier: GPL-3.0-or-later */
/* data_path.h - where the program's own data files are (demo, calibration,
 * published values). Every file option also takes "data:NAME", e.g.
 * `cotenant run data:experiments/demo/demo.yaml`.
 *
 * NAME is relative to the project's root, and is looked up below, in this order,
 *	$COTENANT_DATA
 *	<folder of the binary>/../..              a build tree: build/release/cotenant
 *	<folder of the binary>/../share/cotenant  an installed tree, wherever it was moved
 *	PREFIX/share/cotenant */
#ifndef CT_EXPERIMENTS_DATA_PATH_H
#define CT_EXPERIMENTS_DATA_PATH_H

#include "sim/err.h"
#include "sim/memory.h"

/* `path` itself, or the file that "data:NAME" stands for; into the arena. CT_EIO
 * when there is none, naming the places. */
int ct_data_path(const char *path, struct ct_arena *arena, const char **out, struct ct_err *err);

#endif
