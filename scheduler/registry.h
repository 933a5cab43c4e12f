/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.h - where policies come from: the explicit list of built-in ones, and
 * shared objects that export ct_policy_v1() (policy.h). */
#ifndef CT_SCHEDULER_REGISTRY_H
#define CT_SCHEDULER_REGISTRY_H

#include "scheduler/policy.h"
#include "sim/err.h"

/* Built-in policies in the order of the list; NULL past the end. */
const struct ct_policy *ct_policy_at(size_t i);
const struct ct_policy *ct_policy_find(const char *name);

/* A name, or, when it contains '/' or ends in ".so", a file to load. CT_EPOLICY:
 * unknown (with the nearest name), does not load, other ABI, incomplete. A loaded
 * object stays loaded until the process ends. */
int ct_policy_get(const char *name_or_path, const struct ct_policy **out, struct ct_err *err);

/* Bytes a value of this type takes in a policy's state; 0 = no such type. */
size_t ct_opt_value_size(enum ct_opt_type type);

#endif
