/* SPDX-License-Identifier: GPL-3.0-or-later */
/* meter.h - exact time integral of an integer quantity (allocated share, queue
 * length, ...): area = sum of value x microseconds, in 128 bits. */
#ifndef CT_SIM_METER_H
#define CT_SIM_METER_H

#include "sim/clock.h"

struct ct_meter {
	ct_wide area;  /* up to `since` */
	int64_t value; /* from `since` on */
	ct_time since;
};

static inline void ct_meter_advance(struct ct_meter *m, ct_time now)
{
	m->area += (ct_wide)m->value * (now - m->since);
	m->since = now;
}
static inline void ct_meter_set(struct ct_meter *m, ct_time now, int64_t value)
{
	ct_meter_advance(m, now);
	m->value = value;
}
static inline void ct_meter_add(struct ct_meter *m, ct_time now, int64_t delta)
{
	ct_meter_set(m, now, m->value + delta);
}
/* Area up to `now`, in value x seconds. */
static inline double ct_meter_seconds(const struct ct_meter *m, ct_time now)
{
	return (double)(m->area + (ct_wide)m->value * (now - m->since)) / 1e6;
}

#endif
