/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How jobs fare against their default rate: windows met, and what they fall short of
 * it by cause. A rate is constant between two changes, so a stretch of any length is
 * booked in O(1): the rest of the window it begins in, the whole windows, and what is
 * left over. A job that runs at its default rate all the time costs one stretch. */
#include "sim/world_state.h"

#include <math.h>

static const ct_time window = (ct_time)CT_ATTAIN_WINDOW_S * CT_SECOND;
/* Sums of products of rates and times are exact to some 1e-15 a term. */
static const double rounding = 1e-9;

void ct_attain_open(struct ct_live *l, ct_time now)
{
	l->attain = (struct ct_attain){ .since = now, .plain = true };
}

static bool is_met(const struct ct_world *w, double work, ct_time us)
{
	return work >= w->spec.attain_floor * (double)us * (1 - rounding);
}

static void add_windows(const struct ct_world *w, struct ct_attain *a, ct_time dt, double rate)
{
	uint32_t whole;

	if (a->into + dt < window) {
		a->into += dt;
		a->work += (double)dt * rate;
		return;
	}
	if (a->into > 0) {
		a->work += (double)(window - a->into) * rate;
		a->met += is_met(w, a->work, window);
		a->windows++;
		dt -= window - a->into;
	}
	whole = (uint32_t)(dt / window);
	a->windows += whole;
	if (is_met(w, (double)window * rate, window))
		a->met += whole;
	a->into = dt - whole * window;
	a->work = (double)a->into * rate;
}

void ct_attain_settle(const struct ct_world *w, struct ct_live *l, ct_time t)
{
	struct ct_attain *a = &l->attain;
	ct_time dt = t - a->since;

	if (dt <= 0)
		return;
	a->since = t;
	add_windows(w, a, dt, l->rate);
	if (a->plain || !(l->rate > 0)) /* standing still is booked by phase */
		return;
	a->sum.config += (double)dt * a->now.config;
	a->sum.gpus += (double)dt * a->now.gpus;
	a->sum.slowdown += (double)dt * a->now.slowdown;
	a->sum.mispredicted += (double)dt * a->now.mispredicted;
}

void ct_attain_rate(struct ct_live *l, double throughput, double gpus, double speed, const struct ct_beside *b)
{
	struct ct_attain *a = &l->attain;
	double alone, foreseen;

	a->plain = !b->others && !(throughput < 1) && !(gpus < 1);
	if (a->plain)
		return;
	alone = throughput * gpus * speed;
	foreseen = 1 / b->predicted;
	a->now.config = throughput < 1 ? 1 - throughput : 0;
	a->now.gpus = throughput * (1 - gpus);
	a->now.slowdown = alone * (1 - b->factor);
	a->now.mispredicted = isnan(foreseen) || foreseen > b->factor ? alone * (foreseen - b->factor) : 0;
}

void ct_attain_close(struct ct_world *w, uint32_t job)
{
	struct ct_attain *a = &ct_live(w, job)->attain;
	struct ct_attained out;

	if (a->into > 0) {
		a->windows++;
		a->met += is_met(w, a->work, a->into);
	}
	out = (struct ct_attained){ .window_frac = a->windows ? (double)a->met / a->windows : 1,
				    .config_s = a->sum.config / 1e6,
				    .gpus_s = a->sum.gpus / 1e6,
				    .slowdown_s = a->sum.slowdown / 1e6,
				    .mispredicted_s = w->spec.belief ? a->sum.mispredicted / 1e6 : NAN };
	if (a->met == a->windows && !(fabs(out.config_s) > 0) && !(fabs(out.gpus_s) > 0) &&
	    !(fabs(out.slowdown_s) > 0) && !(out.mispredicted_s > 0))
		return;
	CT_GROW(w->attained, w->cap_attained, w->n_attained + 1);
	w->outcome[job].attain = (uint32_t)w->n_attained;
	w->attained[w->n_attained++] = out;
}

const struct ct_attained *ct_world_attained(const struct ct_world *w)
{
	return w->attained;
}
