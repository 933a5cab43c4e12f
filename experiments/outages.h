/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outages.h - the file of failures.file: when nodes and GPUs were down. CSV, plain or
 * .gz, whose header names the columns in any order:
 *
 *	time      seconds after the first submission, decimals allowed
 *	node      number of the node, from 0, in the order of the cluster's description
 *	gpu       number of a GPU on it, from 0; empty or without the column: the whole node
 *	duration  seconds until it is up again
 *	event     instead of duration: down or up
 *
 * Each row gives a duration or an event. Rows may stand in any order; a row `down`
 * lasts to the next row `up` of the same node or GPU, or for good. Refused with
 * file:line:column, all together: what is not a number, a node or GPU that the cluster
 * does not have, an outage that begins before the one before it has ended, an `up`
 * without a `down`, a file without rows. */
#ifndef CT_EXPERIMENTS_OUTAGES_H
#define CT_EXPERIMENTS_OUTAGES_H

#include "sim/cluster.h"
#include "sim/err.h"
#include "sim/failures.h"
#include "sim/memory.h"

/* Fills f->outage and f->n_outages; they live in `arena`. CT_EIO, CT_ECONFIG. */
int ct_outages_load(const char *path, const struct ct_cluster_spec *cluster, struct ct_arena *arena,
		    struct ct_failure_spec *f, struct ct_err *err);

#endif
