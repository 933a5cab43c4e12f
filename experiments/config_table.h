/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_table.h - the tables behind struct ct_config: every key of the
 * configuration with type, limits, default and help, once. */
#ifndef CT_EXPERIMENTS_CONFIG_TABLE_H
#define CT_EXPERIMENTS_CONFIG_TABLE_H

#include "scheduler/policy.h"

struct ct_config_section {
	const char *name;
	const struct ct_opt *opts; /* offsets from the start of struct ct_config */
	const char *help;
};

enum { CT_CONFIG_SECTIONS = 11 };
extern const struct ct_config_section ct_config_sections[CT_CONFIG_SECTIONS];
/* NULL: no such section. */
const struct ct_config_section *ct_config_section(const char *name);

/* One mapping of cluster.node_types; offsets from struct ct_config_nodes. */
extern const struct ct_opt ct_config_node_opts[];

#endif
