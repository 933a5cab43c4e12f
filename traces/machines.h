/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machines.h - published tables of machines, one row each, as kinds of nodes; the
 * header says which table it is.
 *
 *	sn,cpu_milli,memory_mib,gpu,model      openb_node_list_*.csv
 *	anything else                          pai_machine_spec (traces/pai_machines.h)
 *
 * Machines that are alike become one row, in the order of their first one. */
#ifndef CT_TRACES_MACHINES_H
#define CT_TRACES_MACHINES_H

#include "sim/cluster.h"
#include "sim/err.h"
#include "sim/memory.h"

/* Lives in `arena`. CT_EIO; CT_ECONFIG with every row that is wrong. */
int ct_machines_load(const char *path, struct ct_arena *arena, struct ct_cluster_spec *out, struct ct_err *err);

#endif
