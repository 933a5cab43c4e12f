/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workers.h - runs numbered items in worker processes, each item's result a few bytes that
 * come back through a pipe.
 *
 *	struct ct_workers w = { .processes = 4, .bytes = sizeof figures, .run = run, .take = take };
 *	CT_TRY(ct_workers_run(&w, n, &err));
 *
 * A worker is a fork of this process: it shares what was read before, and what it changes
 * is gone with it, but for the result. Items must not depend on one another; then nothing
 * depends on how many processes there are. For cells that may hang, crash or grow, and
 * whose results are files, there is experiments/sweep/pool.h. */
#ifndef CT_EXPERIMENTS_WORKERS_H
#define CT_EXPERIMENTS_WORKERS_H

#include "sim/err.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct ct_workers {
	unsigned processes; /* 0 and 1: this one alone */
	size_t bytes;       /* of a result; zero before run() */
	/* In a worker; in this process where there is one only. */
	int (*run)(void *ctx, size_t item, void *result, struct ct_err *err);
	/* In this process, as results come in: in any order. */
	void (*take)(void *ctx, size_t item, const void *result);
	void *ctx;
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/* Items 0 to n - 1. The error of an item ends all. Returns 0 after an interruption, too:
 * what was not done was not taken. */
int ct_workers_run(const struct ct_workers *w, size_t n, struct ct_err *err);

#endif
