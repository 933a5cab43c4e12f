/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pai_machines.h - the machine table of the PAI trace (pai_machine_spec: machine,
 * gpu_type, cap_cpu in cores, cap_mem in GiB, cap_gpu; without a header, or with
 * one) as kinds of nodes.
 *
 *	struct ct_cluster_spec spec;
 *	CT_TRY(ct_pai_machines_load("pai_machine_spec.csv", &arena, &spec, err)); */
#ifndef CT_TRACES_PAI_MACHINES_H
#define CT_TRACES_PAI_MACHINES_H

#include "sim/cluster.h"
#include "sim/err.h"
#include "sim/memory.h"

/* Machines that are alike become one row, in the order of their first one; the table
 * does not say how fast a GPU is (1) or how much memory it has (0 = unlimited). Lives
 * in `arena`. CT_EIO; CT_ECONFIG with every row that is wrong: another number of
 * fields, a capacity that is no number or too large, a machine named twice. */
int ct_pai_machines_load(const char *path, struct ct_arena *arena, struct ct_cluster_spec *out, struct ct_err *err);

#endif
