/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network.h - the neural network of the interference predictor (ElastiCo, section
 * 3.3.2): two hidden layers h = ReLU(BN(W h)) with dropout, output
 *
 *	S = 1 + ReLU(w h2 + b)                      (eq. 9)
 *	loss = mean (log S - log S_measured)^2      (eq. 10)
 *
 *	struct ct_network_options o = ct_network_defaults();
 *	struct ct_network *net = ct_network_train(&o, &samples, seed);
 *	ct_network_predict(net, x, n, slowdown);    // x: n rows of net->in raw features
 *	ct_network_free(net);
 *
 * Deterministic: random numbers come from streams keyed by the seed, sums are taken
 * in the order of the inputs whatever the vector width, so that gcc and clang give
 * the same bits. */
#ifndef CT_CALIB_NETWORK_H
#define CT_CALIB_NETWORK_H

#include "calib/samples.h"

#include <stddef.h>
#include <stdint.h>

struct ct_network_options {
	size_t hidden[2];
	double dropout, rate, decay; /* share dropped; Adam's step at the start; weight decay */
	double leak;       /* slope of the output's gradient where S is at its floor, so that it can leave it */
	double validation; /* share of the groups (samples' pairs) kept apart for early stopping */
	unsigned epochs, patience, batch;
	int floor; /* 1: S = 1 + ReLU(z), the paper's; 0: S = exp(z), for data with speed-ups */
};
struct ct_network_options ct_network_defaults(void);

/* All that is learned lies in one vector, in this order: W1 [in][h1], scale1, shift1,
 * W2 [h1][h2], scale2, shift2, w3, b3. There is no bias before a batch normalisation:
 * its mean takes any bias away again, the shift stands for it. */
struct ct_network {
	size_t in, h1, h2, n_theta;
	int floor;
	double *theta;
	double *in_mean, *in_sd;    /* of the raw features */
	double *bn_mean1, *bn_var1; /* running statistics of the layers */
	double *bn_mean2, *bn_var2;
	double *plain;   /* the same function without normalisations, for inference; made by ct_network_fold() */
	unsigned epochs; /* after which the best validation loss was reached */
	double validation_loss;
};

struct ct_network *ct_network_new(size_t in, size_t h1, size_t h2, int floor);
void ct_network_free(struct ct_network *net);
/* Computes `plain` from the rest. Needed after changing anything by hand. */
void ct_network_fold(struct ct_network *net);

/* `s` has at least 8 rows. */
struct ct_network *ct_network_train(const struct ct_network_options *o, const struct ct_samples *s, uint64_t seed);
void ct_network_predict(const struct ct_network *net, const double *x, size_t n, double *out);

/* The training's inner step, for its test: loss of one batch of standardised rows in
 * training mode, and its gradient with respect to theta. `keep1` [n][h1] and `keep2`
 * [n][h2] are the dropout factors (0 or 1/(1-p)). Updates the running statistics with
 * `momentum` (0: not at all). */
struct ct_network_batch {
	const double *x, *y; /* n rows; slowdowns */
	const double *keep1, *keep2;
	size_t n;
	double leak, momentum;
};
struct ct_network_work;
struct ct_network_work *ct_network_work_new(const struct ct_network *net, size_t rows);
void ct_network_work_free(struct ct_network_work *w);
double ct_network_gradient(struct ct_network *net, struct ct_network_work *w, const struct ct_network_batch *b,
			   double *gradient);

#endif
