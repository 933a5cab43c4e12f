/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profiles_own.h - what a profile set owns. Internal to calib/. */
#ifndef CT_CALIB_PROFILES_OWN_H
#define CT_CALIB_PROFILES_OWN_H

#include "calib/profiles.h"
#include "sim/memory.h"

struct ct_profiles_own {
	struct ct_arena arena;
	struct ct_workload_model *model;
	struct ct_profile *profile;
	size_t cap_model, cap_profile;
};

#endif
