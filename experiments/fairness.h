/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fairness.h - how evenly a cluster was shared.
 *
 *	ct_mean_present(submit, finish, n, present);
 *	rho = ct_finish_time_fairness(jct, solo, gpus, present[i], 64);
 *	even = ct_jain(progress_of_user, users); */
#ifndef CT_EXPERIMENTS_FAIRNESS_H
#define CT_EXPERIMENTS_FAIRNESS_H

#include <stddef.h>

/* Jain's index (sum x)^2 / (n sum x^2) of amounts x >= 0: 1 = all equal, 1/n = one has
 * everything (Jain, Chiu and Hawe, DEC TR-301, 1984). NaN of none; 1 when all are 0. */
double ct_jain(const double *x, size_t n);

/* For each job the number of jobs in the system, itself included, averaged over its
 * own life [submit, finish): the integral of N(t) there / its length. A job of no
 * length gets the number at that instant, itself included. Any order;
 * finish >= submit. A job that did not end is given the end of the run. */
void ct_mean_present(const double *submit, const double *finish, size_t n, double *out);

/* Finish-time fairness, rho = T_shared / T_independent (Mahajan et al., Themis,
 * NSDI'20, section 3): how long the job took beside how long it would have taken with its
 * own 1/N of the cluster, N the average number of jobs it shared with. rho <= 1: sharing
 * cost it nothing. A gang of g GPUs runs at full speed when its part, G/N GPUs, holds
 * it, and for the fraction G / (N g) of the time otherwise, so
 *	T_independent = solo x max(1, g N / G)
 * where max(...) is its contention share. Themis measures solo on the whole cluster;
 * here it is the job's own duration, on the g GPUs it asked for, because a trace
 * knows no other. `present` = N by ct_mean_present(); g of shares may be fractional. */
double ct_finish_time_fairness(double jct_s, double solo_s, double gpus, double present, double cluster_gpus);

#endif
