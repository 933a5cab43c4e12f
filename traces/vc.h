/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vc.h - what becomes of a trace's virtual clusters: the option that the readers
 * with such a column share. Internal to traces/. */
#ifndef CT_TRACES_VC_H
#define CT_TRACES_VC_H

#include "sim/workload.h"

enum ct_vc { CT_VC_PARTITION, CT_VC_GROUP, CT_VC_IGNORE };
struct ct_vc_options {
	int vc;
};
#define CT_VC_OPT                                                                                                     \
	{                                                                                                             \
		"vc", CT_TRACE_OPT_WORD, offsetof(struct ct_vc_options, vc), "partition", 0, 0,                       \
		    "partition|group|ignore", "",                                                                     \
		    "virtual clusters become partitions that the cluster must have, groups of users, or are left out" \
	}

static inline void ct_vc_set(struct ct_job *job, int vc, uint32_t name)
{
	if (vc == CT_VC_PARTITION)
		job->partition = name;
	else if (vc == CT_VC_GROUP)
		job->group = name;
}

#endif
