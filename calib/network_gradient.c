/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forward and backward through the network for one batch. Batch normalisation and
 * its gradient: Ioffe and Szegedy 2015, section 3. */
#include "calib/network.h"
#include "calib/network_layout.h"

#include "calib/axpy.h"
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of one hidden layer, [rows][n]: the normalised sums, the outputs, and the loss's
 * derivative by the outputs and then by the sums. */
struct hidden {
	double *norm, *out, *d, *root; /* root [n]: sqrt(var + eps) */
};

struct ct_network_work {
	size_t rows;
	struct hidden one, two;
	double *w2t; /* W2 transposed: the backward step is the same ordered loop */
	double *sum; /* [2][n] */
	double *dz;  /* [rows] */
	double *block;
};

struct ct_network_work *ct_network_work_new(const struct ct_network *net, size_t rows)
{
	struct ct_network_work *w = ct_calloc(1, sizeof *w);
	size_t a = net->h1, b = net->h2, most = a > b ? a : b;
	double *p = ct_calloc(3 * rows * (a + b) + a + b + a * b + 2 * most + rows, sizeof *p);

	w->rows = rows;
	w->block = p;
	w->one = (struct hidden){ p, p + rows * a, p + 2 * rows * a, p + 3 * rows * a };
	p += 3 * rows * a + a;
	w->two = (struct hidden){ p, p + rows * b, p + 2 * rows * b, p + 3 * rows * b };
	w->w2t = p + 3 * rows * b + b;
	w->sum = w->w2t + a * b;
	w->dz = w->sum + 2 * most;
	return w;
}

void ct_network_work_free(struct ct_network_work *w)
{
	if (w)
		free(w->block);
	free(w);
}

struct layer {
	const double *in, *w, *scale, *shift, *keep;
	double *mean, *var; /* running */
	size_t n_in, n_out, rows;
	double momentum;
};

static void sums_of(const struct layer *l, double *out)
{
	memset(out, 0, l->rows * l->n_out * sizeof *out);
	for (size_t r = 0; r < l->rows; r++)
		ct_axpy_rows(out + r * l->n_out, l->in + r * l->n_in, l->w, l->n_in, l->n_out);
}

/* Normalises h->norm in place; keeps the root, moves the running statistics. */
static void normalise(const struct layer *l, struct hidden *h, double *sum)
{
	size_t n = l->n_out;
	double m = (double)l->rows;

	memset(sum, 0, 2 * n * sizeof *sum);
	for (size_t r = 0; r < l->rows; r++)
		for (size_t i = 0; i < n; i++)
			sum[i] += h->norm[r * n + i];
	for (size_t i = 0; i < n; i++)
		sum[i] /= m;
	for (size_t r = 0; r < l->rows; r++)
		for (size_t i = 0; i < n; i++) {
			double d = h->norm[r * n + i] -= sum[i];

			sum[n + i] += d * d;
		}
	for (size_t i = 0; i < n; i++) {
		h->root[i] = sqrt(sum[n + i] / m + CT_NETWORK_EPSILON);
		l->mean[i] += l->momentum * (sum[i] - l->mean[i]);
		l->var[i] += l->momentum * (sum[n + i] / (l->rows > 1 ? m - 1 : 1) - l->var[i]);
	}
	for (size_t r = 0; r < l->rows; r++)
		for (size_t i = 0; i < n; i++)
			h->norm[r * n + i] /= h->root[i];
}

static void forward(const struct layer *l, struct hidden *h, double *sum)
{
	size_t n = l->n_out;

	sums_of(l, h->norm);
	normalise(l, h, sum);
	for (size_t r = 0; r < l->rows; r++)
		for (size_t i = 0; i < n; i++) {
			double v = l->scale[i] * h->norm[r * n + i] + l->shift[i];

			h->out[r * n + i] = v > 0 ? v * l->keep[r * n + i] : 0;
		}
}

/* h->d comes as the derivative by the outputs and leaves as that by the sums. */
static void backward_norm(const struct layer *l, struct hidden *h, double *sum, double *d_scale, double *d_shift)
{
	size_t n = l->n_out;
	double m = (double)l->rows;

	for (size_t r = 0; r < l->rows; r++)
		for (size_t i = 0; i < n; i++) {
			size_t k = r * n + i;

			h->d[k] = h->out[k] > 0 ? h->d[k] * l->keep[k] : 0;
			d_shift[i] += h->d[k];
			d_scale[i] += h->d[k] * h->norm[k];
		}
	for (size_t i = 0; i < n; i++) {
		sum[i] = l->scale[i] / h->root[i];
		sum[n + i] = d_shift[i] / m;
	}
	for (size_t r = 0; r < l->rows; r++)
		for (size_t i = 0; i < n; i++) {
			size_t k = r * n + i;

			h->d[k] = sum[i] * (h->d[k] - sum[n + i] - h->norm[k] * d_scale[i] / m);
		}
}

/* Adds in[r][k] * d[r][i] over the rows, in their order. */
static void backward_weights(const struct layer *l, const double *d, double *d_w)
{
	for (size_t r = 0; r < l->rows; r++)
		for (size_t k = 0; k < l->n_in; k++)
			if (l->in[r * l->n_in + k] != 0)
				ct_axpy_rows(d_w + k * l->n_out, l->in + r * l->n_in + k, d + r * l->n_out, 1,
					     l->n_out);
}

static double output_loss(const struct ct_network *net, struct ct_network_work *w, const struct ct_network_batch *b)
{
	struct ct_network_layout at = ct_network_layout(net);
	double loss = 0, m = (double)b->n;

	for (size_t r = 0; r < b->n; r++) {
		double z = net->theta[at.b3], e, slope = 1;

		for (size_t k = 0; k < net->h2; k++)
			z += w->two.out[r * net->h2 + k] * net->theta[at.w3 + k];
		if (net->floor) {
			e = log(1 + (z > 0 ? z : 0)) - log(b->y[r]);
			slope = z > 0 ? 1 / (1 + z) : b->leak;
		} else {
			e = z - log(b->y[r]);
		}
		loss += e * e / m;
		w->dz[r] = 2 * e * slope / m;
	}
	return loss;
}

static void backward_output(const struct ct_network *net, struct ct_network_work *w, size_t rows, double *gradient)
{
	struct ct_network_layout at = ct_network_layout(net);

	for (size_t r = 0; r < rows; r++) {
		for (size_t k = 0; k < net->h2; k++) {
			gradient[at.w3 + k] += w->dz[r] * w->two.out[r * net->h2 + k];
			w->two.d[r * net->h2 + k] = w->dz[r] * net->theta[at.w3 + k];
		}
		gradient[at.b3] += w->dz[r];
	}
}

static void transpose(const double *w, size_t rows, size_t cols, double *out)
{
	for (size_t i = 0; i < rows; i++)
		for (size_t k = 0; k < cols; k++)
			out[k * rows + i] = w[i * cols + k];
}

double ct_network_gradient(struct ct_network *net, struct ct_network_work *w, const struct ct_network_batch *b,
			   double *gradient)
{
	struct ct_network_layout at = ct_network_layout(net);
	const double *t = net->theta;
	struct layer one = { b->x,         t + at.w1, t + at.scale1, t + at.shift1, b->keep1,   net->bn_mean1,
			     net->bn_var1, net->in,   net->h1,       b->n,          b->momentum };
	struct layer two = { w->one.out,   t + at.w2, t + at.scale2, t + at.shift2, b->keep2,   net->bn_mean2,
			     net->bn_var2, net->h1,   net->h2,       b->n,          b->momentum };
	double loss;

	CT_CHECK(NULL, b->n <= w->rows, "batch of %zu rows in a work space of %zu", b->n, w->rows);
	forward(&one, &w->one, w->sum);
	forward(&two, &w->two, w->sum);
	loss = output_loss(net, w, b);
	memset(gradient, 0, net->n_theta * sizeof *gradient);
	backward_output(net, w, b->n, gradient);
	backward_norm(&two, &w->two, w->sum, gradient + at.scale2, gradient + at.shift2);
	backward_weights(&two, w->two.d, gradient + at.w2);
	transpose(t + at.w2, net->h1, net->h2, w->w2t);
	memset(w->one.d, 0, b->n * net->h1 * sizeof *w->one.d);
	for (size_t r = 0; r < b->n; r++)
		ct_axpy_rows(w->one.d + r * net->h1, w->two.d + r * net->h2, w->w2t, net->h2, net->h1);
	backward_norm(&one, &w->one, w->sum, gradient + at.scale1, gradient + at.shift1);
	backward_weights(&one, w->one.d, gradient + at.w1);
	return loss;
}
