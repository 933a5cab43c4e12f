/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explain.h - the story of one job, from a result file: what it waited for, where it
 * ran and beside whom, what slowed it, and where its time went.
 *
 *	struct ct_story s;
 *	CT_TRY(ct_story_make(&s, &result, "j9", &err));
 *	CT_TRY(ct_story_print(&s, stdout, &err));       // or ct_story_json()
 *	ct_story_fini(&s);
 *
 * The timeline is a sequence of intervals from the submission to the end. It is put
 * together from /jobs (first start, end, last placement), /stretches (everything
 * between) and /decisions (the policy's own words). A wait about which the policy said
 * nothing is told by who was being waited for then: the job whose own reason to wait was
 * in force, of the same partition. */
#ifndef CT_EXPERIMENTS_EXPLAIN_H
#define CT_EXPERIMENTS_EXPLAIN_H

#include "sim/err.h"
#include "sim/result.h"

#include <stdio.h>

enum ct_episode_kind {
	CT_EPISODE_WAIT,
	CT_EPISODE_START, /* cold start or resume */
	CT_EPISODE_PROFILE,
	CT_EPISODE_RUN,
	CT_EPISODE_SWITCH,
	CT_EPISODE_MOVE,
	CT_EPISODE_NOTE, /* a reason at one instant */
	CT_EPISODE_LOST, /* an instant: gave its GPUs back */
	CT_EPISODE_KINDS
};

struct ct_episode {
	enum ct_episode_kind kind;
	ct_time from, to;
	const char *text; /* for people */
	/* WAIT, NOTE: the reason; "" none, "behind": `other` stands before it */
	const char *reason, *other;
	double a, b; /* NaN: no numbers */
	/* on GPUs; "" = not known */
	const char *gpus, *configuration, *beside, *beside_configuration;
	int64_t others;
	double slowdown, predicted;
};

struct ct_spent {
	const char *part;
	double s;
};

struct ct_story {
	const struct ct_result *r;
	size_t row; /* in /jobs */
	struct ct_arena arena;
	struct ct_episode *episode;
	size_t n_episodes, cap_episodes;
	struct ct_spent *spent; /* adds up to the time from submission to the end */
	size_t n_spent, cap_spent;
	double jct_s, alone_s; /* jct NaN: not ended */
};

/* CT_EUSAGE: no such job; CT_ECONFIG: the result keeps no decisions. `r` outlives it. */
int ct_story_make(struct ct_story *s, const struct ct_result *r, const char *job, struct ct_err *err);
void ct_story_fini(struct ct_story *s);

const char *ct_episode_kind_name(enum ct_episode_kind k);
int ct_story_print(const struct ct_story *s, FILE *to, struct ct_err *err);
int ct_story_json(const struct ct_story *s, FILE *to, struct ct_err *err);

/* A cell of the story's job in /jobs; "" and NaN where the column is not there. */
const char *ct_story_text(const struct ct_story *s, const char *column);
double ct_story_seconds(const struct ct_story *s, const char *column);

#endif
