/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weights.c - w_j of equations 6 and 7: all equal, or by the inverse of what is left of a
 * job (section 3.2.1 has it as an example), as far as a scheduler could know it: an estimate
 * of the run time, asked for once, less the work that is counted. True run times are not
 * seen: two traces that differ in nothing else have the same weights.
 *
 * The work is counted at the ends of windows (util_window), so that weights change at few
 * instants. The mean over the GPUs of those who bid is 1: prices, the switching cost and
 * the penalties keep their meaning. An inverse has a long tail, and who outlasts an
 * estimate has nothing left: no weight is further than `weight_span` from the geometric
 * mean before that. */
#include "scheduler/elastico/elastico.h"

#include <math.h>

struct ct_weight_law ct_weights_law(const double *remaining, const double *gpus, uint32_t n, double span)
{
	struct ct_weight_law law = { .lo = 0, .hi = INFINITY, .mean = 1 };
	double logs = 0, sum = 0, all = 0;

	for (uint32_t i = 0; i < n; i++) {
		logs -= gpus[i] * log(remaining[i]);
		all += gpus[i];
	}
	if (!(all > 0))
		return law;
	law.lo = exp(logs / all) / span;
	law.hi = exp(logs / all) * span;
	for (uint32_t i = 0; i < n; i++)
		sum += gpus[i] * ct_weights_weigh(&law, remaining[i]);
	law.mean = sum / all;
	return law;
}

double ct_weights_weigh(const struct ct_weight_law *law, double remaining)
{
	return fmin(fmax(1 / remaining, law->lo), law->hi) / law->mean;
}

/* Microseconds of its default configuration alone; at least 1. */
static void count(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	struct ct_elastico_job *j = &e->job[job];

	j->remaining = fmax(1, (double)j->estimate_us - v->host->progress_us(v->host->ctx, job));
}

static int look_at(struct ct_elastico *e, const struct ct_view *v, uint32_t job, bool now)
{
	struct ct_elastico_job *j = &e->job[job];

	if (!j->estimate_us) {
		int mode = e->estimate ? CT_ESTIMATE_COLUMN : CT_ESTIMATE_NOISY;

		if (v->host->estimate_us(v->host->ctx, job, mode, e->estimate_sigma, &j->estimate_us))
			return 1;
		j->remaining = (double)j->estimate_us;
	}
	if (now)
		count(e, v, job);
	return 0;
}

int ct_weights_update(struct ct_elastico *e, const struct ct_view *v)
{
	bool now;
	uint32_t n = 0;

	if (!e->weighted)
		return 0;
	now = ct_elastico_due(e, e->weights_next);
	if (now) {
		e->weights_next = (v->now_us / e->util_window + 1) * e->util_window;
		ct_elastico_due(e, e->weights_next);
		e->dirty = true;
	}
	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next)
		if (look_at(e, v, job, now))
			return 1;
	for (uint32_t job = v->queue_first; job != CT_NO_JOB && n < (uint64_t)e->horizon; n++) {
		if (look_at(e, v, job, now))
			return 1;
		job = ct_view_job(v, job)->next;
	}
	return 0;
}
