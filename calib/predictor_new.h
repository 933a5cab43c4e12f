/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_new.h - a learned predictor before its model is there, for the training
 * and the reader of files. Internal to calib/. */
#ifndef CT_CALIB_PREDICTOR_NEW_H
#define CT_CALIB_PREDICTOR_NEW_H

#include "calib/predictor.h"

/* `set` NULL: it will know no configuration by number. */
struct ct_predictor *ct_predictor_learned(const struct ct_learner *l, const struct ct_profiles *set);

#endif
