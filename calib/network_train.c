/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training: Adam (Kingma and Ba 2015) with decoupled weight decay and a cosine step,
 * early stopping on groups of samples that are kept apart. */
#include "calib/network.h"
#include "calib/network_layout.h"

#include "sim/memory.h"
#include "sim/random.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entities of the streams of one training. */
enum { STREAM_START, STREAM_SPLIT, STREAM_ORDER, STREAM_DROPOUT };

struct training {
	const struct ct_network_options *o;
	struct ct_network *net;
	struct ct_network_work *work;
	double *x, *y;             /* standardised rows; slowdowns */
	double *raw_hold, *y_hold; /* held back for early stopping */
	size_t n, n_hold;
	double *gradient, *m, *v, *best; /* best: theta and running statistics */
	double *bx, *by, *keep1, *keep2; /* the batch */
	double *predicted;
	uint32_t *order;
	unsigned long step;
	struct ct_stream shuffle, drop;
};

static size_t state_size(const struct ct_network *net)
{
	return net->n_theta + 2 * (net->in + net->h1 + net->h2);
}

/* He et al. 2015: sd sqrt(2 / inputs) before a ReLU. */
static void start_weights(struct ct_network *net, uint64_t seed)
{
	struct ct_network_layout at = ct_network_layout(net);
	struct ct_stream s;

	ct_stream_init(&s, seed, CT_RANDOM_PREDICTOR, STREAM_START);
	for (size_t i = 0; i < net->in * net->h1; i++)
		net->theta[at.w1 + i] = gsl_ran_gaussian_ziggurat(&s.rng, sqrt(2 / (double)net->in));
	for (size_t i = 0; i < net->h1 * net->h2; i++)
		net->theta[at.w2 + i] = gsl_ran_gaussian_ziggurat(&s.rng, sqrt(2 / (double)net->h1));
	for (size_t i = 0; i < net->h2; i++)
		net->theta[at.w3 + i] = gsl_ran_gaussian_ziggurat(&s.rng, sqrt(1 / (double)net->h2));
	net->theta[at.b3] = net->floor ? .3 : .2; /* off the floor */
}

/* Which rows stop the training: whole pairs, a draw keyed by the pair's number. */
static int is_held(const struct training *t, const struct ct_sample *row, uint64_t seed)
{
	struct ct_stream s;

	ct_stream_init(&s, seed, CT_RANDOM_PREDICTOR, STREAM_SPLIT + ((uint64_t)(row->pair + 1) << 8));
	return gsl_rng_uniform(&s.rng) < t->o->validation;
}

static void input_statistics(struct ct_network *net, const double *x, size_t n)
{
	for (size_t k = 0; k < net->in; k++) {
		double mean = 0, var = 0;

		for (size_t i = 0; i < n; i++)
			mean += x[i * net->in + k] / (double)n;
		for (size_t i = 0; i < n; i++)
			var += gsl_pow_2(x[i * net->in + k] - mean) / (double)n;
		net->in_mean[k] = mean;
		net->in_sd[k] = var > 1e-18 ? sqrt(var) : 1; /* a constant column says nothing */
	}
}

static void split(struct training *t, const struct ct_samples *s, uint64_t seed)
{
	size_t in = s->width;

	t->x = ct_calloc(s->n * in, sizeof *t->x);
	t->raw_hold = ct_calloc(s->n * in, sizeof *t->x);
	t->y = ct_calloc(s->n, sizeof *t->y);
	t->y_hold = ct_calloc(s->n, sizeof *t->y);
	for (size_t i = 0; i < s->n; i++) {
		int held = is_held(t, &s->row[i], seed);
		size_t to = held ? t->n_hold++ : t->n++;

		memcpy((held ? t->raw_hold : t->x) + to * in, s->x + i * in, in * sizeof *t->x);
		(held ? t->y_hold : t->y)[to] = s->row[i].slowdown;
	}
	input_statistics(t->net, t->x, t->n);
	for (size_t i = 0; i < t->n * in; i++)
		t->x[i] = (t->x[i] - t->net->in_mean[i % in]) / t->net->in_sd[i % in];
}

static void prepare(struct training *t, const struct ct_samples *s, uint64_t seed)
{
	struct ct_network *net = t->net = ct_network_new(s->width, t->o->hidden[0], t->o->hidden[1], t->o->floor);
	size_t rows = 2 * (size_t)t->o->batch;

	start_weights(net, seed);
	split(t, s, seed);
	t->work = ct_network_work_new(net, rows);
	t->gradient = ct_calloc(3 * net->n_theta + state_size(net), sizeof *t->gradient);
	t->m = t->gradient + net->n_theta;
	t->v = t->m + net->n_theta;
	t->best = t->v + net->n_theta;
	t->bx = ct_calloc(rows * (net->in + 1 + net->h1 + net->h2) + t->n_hold, sizeof *t->bx);
	t->by = t->bx + rows * net->in;
	t->keep1 = t->by + rows;
	t->keep2 = t->keep1 + rows * net->h1;
	t->predicted = t->keep2 + rows * net->h2;
	t->order = ct_calloc(t->n, sizeof *t->order);
	for (size_t i = 0; i < t->n; i++)
		t->order[i] = (uint32_t)i;
	ct_stream_init(&t->shuffle, seed, CT_RANDOM_PREDICTOR, STREAM_ORDER);
	ct_stream_init(&t->drop, seed, CT_RANDOM_PREDICTOR, STREAM_DROPOUT);
}

static void release(struct training *t)
{
	ct_network_work_free(t->work);
	free(t->x);
	free(t->raw_hold);
	free(t->y);
	free(t->y_hold);
	free(t->gradient);
	free(t->bx);
	free(t->order);
}

static void draw_dropout(struct training *t, double *keep, size_t n)
{
	double p = t->o->dropout, scale = 1 / (1 - p);

	for (size_t i = 0; i < n; i++)
		keep[i] = p > 0 && (double)gsl_rng_get(&t->drop.rng) * 0x1p-32 < p ? 0 : scale;
}

static void adam(struct training *t, double rate)
{
	struct ct_network *net = t->net;
	struct ct_network_layout at = ct_network_layout(net);
	double c1, c2;

	t->step++;
	c1 = 1 - pow(.9, (double)t->step);
	c2 = 1 - pow(.999, (double)t->step);
	for (size_t i = 0; i < net->n_theta; i++) {
		double g = t->gradient[i];
		int weight = i < at.scale1 || (i >= at.w2 && i < at.scale2) || (i >= at.w3 && i < at.b3);

		t->m[i] = .9 * t->m[i] + .1 * g;
		t->v[i] = .999 * t->v[i] + .001 * g * g;
		net->theta[i] -=
		    rate * (t->m[i] / c1 / (sqrt(t->v[i] / c2) + 1e-8) + (weight ? t->o->decay * net->theta[i] : 0));
	}
}

static void train_batch(struct training *t, size_t from, size_t to, double rate)
{
	struct ct_network *net = t->net;
	struct ct_network_batch b = { .x = t->bx,
				      .y = t->by,
				      .keep1 = t->keep1,
				      .keep2 = t->keep2,
				      .n = to - from,
				      .leak = t->o->leak,
				      .momentum = .1 };

	for (size_t i = from; i < to; i++) {
		memcpy(t->bx + (i - from) * net->in, t->x + t->order[i] * net->in, net->in * sizeof *t->bx);
		t->by[i - from] = t->y[t->order[i]];
	}
	draw_dropout(t, t->keep1, b.n * net->h1);
	draw_dropout(t, t->keep2, b.n * net->h2);
	ct_network_gradient(net, t->work, &b, t->gradient);
	adam(t, rate);
}

/* Batches of nearly equal size: a last batch of one row would normalise to nothing. */
static void train_epoch(struct training *t, unsigned epoch)
{
	double rate = t->o->rate * .5 * (1 + cos(M_PI * epoch / t->o->epochs));
	size_t batches = t->n / t->o->batch;

	batches = batches ? batches : 1;
	gsl_ran_shuffle(&t->shuffle.rng, t->order, t->n, sizeof *t->order);
	for (size_t b = 0; b < batches; b++)
		train_batch(t, t->n * b / batches, t->n * (b + 1) / batches, rate);
}

static double held_loss(struct training *t)
{
	double loss = 0;

	ct_network_fold(t->net);
	ct_network_predict(t->net, t->raw_hold, t->n_hold, t->predicted);
	for (size_t i = 0; i < t->n_hold; i++)
		loss += gsl_pow_2(log(t->predicted[i]) - log(t->y_hold[i])) / (double)t->n_hold;
	return loss;
}

struct ct_network *ct_network_train(const struct ct_network_options *o, const struct ct_samples *s, uint64_t seed)
{
	struct training t = { .o = o };
	size_t bytes;

	CT_CHECK(NULL, s->n >= 8, "%zu samples to train on", s->n);
	prepare(&t, s, seed);
	CT_CHECK(NULL, t.n >= 2, "%zu samples to train on", t.n);
	bytes = state_size(t.net) * sizeof *t.best;
	t.net->validation_loss = INFINITY;
	for (unsigned e = 0; e < o->epochs; e++) {
		double loss;

		train_epoch(&t, e);
		loss = t.n_hold ? held_loss(&t) : -(double)e; /* nothing held back: the last epoch is the best */
		if (loss < t.net->validation_loss) {
			t.net->validation_loss = loss;
			t.net->epochs = e + 1;
			memcpy(t.best, t.net->theta, bytes);
		} else if (e + 1 - t.net->epochs >= o->patience) {
			break;
		}
	}
	memcpy(t.net->theta, t.best, bytes);
	ct_network_fold(t.net);
	release(&t);
	return t.net;
}
