/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failures.h - nodes and GPUs that fail and are repaired, and what jobs keep of it.
 *
 * Either from a list of outages, or from a law: each node (and each GPU) works for
 * a time with mean `mtbf` and is then repaired for a time with mean `repair`, for
 * ever, whether it is used or not. All work at the first submission.
 *	time to failure   Weibull of that mean and `shape`; 1 = exponential, below 1 =
 *	                  failures come in bursts, above 1 = wear
 *	repair            exponential, fixed, or log-normal with `repair_sigma`
 * The k-th outage of a node or GPU is drawn from a stream of its own, keyed by
 * (seed, node or GPU, k): the same outages under every policy. A GPU may fail while
 * its node is down; it comes back with both.
 *
 * A job that holds anything of what fails is queued again. It keeps its work up to the
 * last checkpoint, which it makes after each `checkpoint` of run time since its start
 * (0 = none: up to its last start) at no cost, and its next start takes
 * `restart` more than a resume. Of a node taken as a pool, a failed GPU hits the jobs
 * that lie on it when the shares are laid side by side over the working GPUs, in order
 * of start.
 *
 * A run with failures ends with its last job, although more outages are to come. */
#ifndef CT_SIM_FAILURES_H
#define CT_SIM_FAILURES_H

#include "sim/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_failure_law {
	double mtbf_s; /* mean time from repair to failure; 0 = never fails */
	double shape;  /* of the Weibull distribution, > 0 */
	double repair_s;
};

enum ct_repair_law { CT_REPAIR_EXPONENTIAL, CT_REPAIR_FIXED, CT_REPAIR_LOGNORMAL };

/* [down, up) after the first submission; of one node or GPU they do not overlap. */
struct ct_outage {
	uint32_t node, gpu;     /* gpu: cluster-wide number, or CT_NONE = the whole node */
	ct_time down_us, up_us; /* up_us CT_NEVER: for good */
};

/* All zero: nothing fails. */
struct ct_failure_spec {
	struct ct_failure_law node, gpu;
	enum ct_repair_law repair_law;
	double repair_sigma; /* of the logarithm, LOGNORMAL only */
	const struct ct_outage *outage;
	size_t n_outages;
	ct_time checkpoint_us, restart_us;
};

static inline bool ct_failures_on(const struct ct_failure_spec *f)
{
	return f->node.mtbf_s > 0 || f->gpu.mtbf_s > 0 || f->n_outages > 0;
}

/* What the k-th outage of a node or GPU waits for after the repair before it, and how
 * long it lasts. CT_NEVER where that is beyond the end of time. */
struct ct_outage_draw {
	ct_time after_us, lasts_us;
};
struct ct_outage_draw ct_failures_draw(const struct ct_failure_spec *f, uint64_t seed, bool of_gpu, uint32_t number,
				       uint32_t k);

#endif
