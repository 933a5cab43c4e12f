/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iac.h - what co-location without a check should do, from the truth alone, said
 * before anything runs.
 *
 * All pairs of configurations that fit one GPU together, each pair of workloads counting
 * alike; inference at the lengths of its default configuration; no residual.
 *	losing.1     share with 1/S_i + 1/S_j < 1: together they do less than one alone
 *	losing.N     j of one GPU beside one member of a gang i of N GPUs, which all go at
 *		     that one's pace: N/S_i + 1/S_j < N (N > 2: training only)
 *	losing.default  losing.1 of default configurations alone
 *	least        smallest 1/S_i + 1/S_j
 * and what a pair of workloads does together, its work over that of each alone in its
 * fastest configuration: x_i/S_i + x_j/S_j; alone, the other waiting or not fitting, is 1:
 *	informed     mean over pairs of the best choice of configurations, alone included
 *	matched      the same of the best partners: mean over GPUs when equal numbers of
 *		     jobs of each workload pair up as well as they can
 *	blind        mean of the choice of who believes that S = 1
 *	blind.losing share of pairs of workloads in which that choice does less than one alone */
#ifndef CT_EXPERIMENTS_REPRO_IAC_H
#define CT_EXPERIMENTS_REPRO_IAC_H

#include "calib/profiles.h"
#include "calib/slowdown.h"
#include "experiments/repro/repro.h"

enum { CT_IAC_GANGS = 4 }; /* of 1, 2, 4, 8 GPUs */

struct ct_iac_expected {
	double losing[CT_IAC_GANGS], losing_default, least;
	double informed, matched, blind, blind_losing;
	size_t pairs; /* of configurations, ordered */
};
struct ct_iac_expected ct_iac_expect(const struct ct_profiles *set, const struct ct_slowdown_params *truth);

/* Mean weight per GPU when equal numbers of n kinds of jobs pair up as well as they can, two a
 * GPU: w[i * n + j] of i beside j, symmetric, w[i * n + i] of two of a kind. n at most 16. */
double ct_iac_matching(const double *w, size_t n);

/* Rows of table "iac"; other tables: none. Their notes say the sign. */
int ct_repro_expect(const char *table, struct ct_repro *out, struct ct_err *err);
/* One row more, whose note says what the runs show of it; nothing where they are not. */
void ct_repro_find_iac(struct ct_repro *rows);
/* `first` before `rows`; `first` is empty then. */
void ct_repro_prepend(struct ct_repro *rows, struct ct_repro *first);

#endif
