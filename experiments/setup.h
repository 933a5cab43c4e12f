/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setup.h - from a finished configuration to what a run needs, in steps, so that
 * `run`, `check` and `trace info` read, complain and report alike.
 *
 *	struct ct_setup s = { 0 };
 *	if (ct_setup_trace(&s, &config, NULL, NULL, &err) == 0 && ct_setup_world(&s, &config, &err) == 0)
 *		... s.work, s.spec ...
 *	ct_setup_fini(&s);                  // before ct_config_fini() */
#ifndef CT_EXPERIMENTS_SETUP_H
#define CT_EXPERIMENTS_SETUP_H

#include "calib/belief.h"
#include "calib/pair_table.h"
#include "calib/truth.h"
#include "experiments/config.h"
#include "experiments/jobs.h"
#include "sim/digest.h"
#include "sim/result.h"
#include "sim/workload.h"
#include "sim/world.h"
#include "traces/figures.h"

struct ct_setup {
	struct ct_jobs_pool *pool;   /* set it before reading: take the jobs from there; NULL: read them */
	struct ct_trained *trained;  /* likewise, of trained predictors */
	struct ct_workload *work;    /* as the run sees it: stretched, when asked */
	int work_is_pooled;          /* it belongs to the pool */
	double load_read;            /* offered load before stretching; NaN without a cluster */
	struct ct_pair_table *pairs; /* NULL: sharing costs nothing */
	struct ct_truth *truth;      /* NULL: no calibration */
	struct ct_believer *believer;
	const struct ct_belief *belief; /* what a policy may think, for ct_control_spec; may be NULL */
	const char *no_belief;          /* why there is none in spite of a calibration */
	struct ct_contention contention;
	struct ct_transition_table transitions;
	char transitions_digest[CT_DIGEST_TEXT];
	char outages_digest[CT_DIGEST_TEXT]; /* of failures.file; empty without it */
	struct ct_world_spec spec;           /* but observer */
	int want_figures;                    /* set it before reading: fill `figures` (traces/figures.h) */
	struct ct_figures figures;
	double read_s; /* wall time of reading */
	struct ct_arena arena;
};

/* Reads the trace, and stretches it to trace.load. `progress`: bytes done and in
 * all; may be NULL. */
int ct_setup_trace(struct ct_setup *s, struct ct_config *c, void (*progress)(void *ctx, uint64_t done, uint64_t total),
		   void *ctx, struct ct_err *err);
/* Tables and the world's specification; under a policy that makes use of it, training
 * jobs get their fewest GPUs (calib.gpu_span), in a new `work`. */
int ct_setup_world(struct ct_setup *s, struct ct_config *c, struct ct_err *err);
void ct_setup_fini(struct ct_setup *s);

/* GPUs of a configuration's cluster, 0 when it has none. */
double ct_setup_gpus(const struct ct_config *c);
/* "32 nodes, 256 GPUs (a100 x 256)" */
const char *ct_setup_cluster_text(const struct ct_config *c, struct ct_arena *arena);
/* What was read and what was dropped or repaired: one line, and one a rule. */
void ct_setup_print_import(const struct ct_workload *w, FILE *to);

/* Everything a result says beside the world's own numbers, and its digest. */
void ct_setup_describe(const struct ct_setup *s, struct ct_config *c, struct ct_result *r);

/* Jobs of a drained run that are still queued: what the policy starved. */
void ct_setup_print_starved(const struct ct_world *w, uint64_t n, FILE *to);
/* Jobs a world rejected, by reason: one line a reason with the first ids. */
void ct_setup_print_rejected(const struct ct_world *w, const char *head, FILE *to);
/* Lets all jobs arrive in a world without any policy, and says which of them can
 * never run there. Returns their number. */
int ct_setup_count_rejected(const struct ct_setup *s, uint64_t *n, FILE *to, struct ct_err *err);

#endif
