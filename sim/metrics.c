/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/metrics.h"

const struct ct_metric_info ct_metric_info[CT_METRIC_COUNT] = {
#define CT_METRIC_INFO(key, unit, digits, text) { #key, unit, text, digits },
	CT_METRICS(CT_METRIC_INFO)
#undef CT_METRIC_INFO
};
