/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/network.h"
#include "calib/network_layout.h"

#include "calib/axpy.h"
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ct_network_options ct_network_defaults(void)
{
	return (struct ct_network_options){
		.hidden = { 64, 32 },
		.dropout = .2,
		.rate = 3e-3,
		.decay = 1e-4,
		.leak = .1,
		.validation = .1,
		.epochs = 300,
		.patience = 60,
		.batch = 64,
		.floor = 1,
	};
}

struct ct_network *ct_network_new(size_t in, size_t h1, size_t h2, int floor)
{
	struct ct_network *net = ct_calloc(1, sizeof *net);
	double *p;

	*net = (struct ct_network){ .in = in, .h1 = h1, .h2 = h2, .floor = floor };
	net->n_theta = ct_network_layout(net).end;
	/* One block: theta, statistics of the inputs and layers, the folded copy. */
	p = ct_calloc(2 * net->n_theta + 2 * (in + h1 + h2), sizeof *p);
	net->theta = p;
	net->in_mean = p += net->n_theta;
	net->in_sd = p += in;
	net->bn_mean1 = p += in;
	net->bn_var1 = p += h1;
	net->bn_mean2 = p += h1;
	net->bn_var2 = p += h2;
	net->plain = p + h2;
	for (size_t i = 0; i < in; i++)
		net->in_sd[i] = 1;
	for (size_t i = 0; i < h1; i++)
		net->bn_var1[i] = net->theta[ct_network_layout(net).scale1 + i] = 1;
	for (size_t i = 0; i < h2; i++)
		net->bn_var2[i] = net->theta[ct_network_layout(net).scale2 + i] = 1;
	return net;
}

void ct_network_free(struct ct_network *net)
{
	if (net)
		free(net->theta);
	free(net);
}

/* Layer of `rows` inputs and `n` outputs: its weights times the outputs' factor and
 * the inputs' 1/sd; the shift takes what the means leave. */
struct layer {
	const double *w, *scale, *shift, *mean, *var; /* of the outputs */
	const double *in_mean, *in_sd;                /* NULL: inputs as they are */
	size_t rows, n;
};

static void fold_layer(const struct layer *l, double *w, double *b)
{
	for (size_t i = 0; i < l->n; i++) {
		double g = l->scale[i] / sqrt(l->var[i] + CT_NETWORK_EPSILON);

		b[i] = l->shift[i] - l->mean[i] * g;
		for (size_t k = 0; k < l->rows; k++) {
			double v = l->w[k * l->n + i] * g / (l->in_sd ? l->in_sd[k] : 1);

			w[k * l->n + i] = v;
			if (l->in_mean)
				b[i] -= v * l->in_mean[k];
		}
	}
}

/* `plain` uses the places of theta: the shifts are the biases, the scales are unused. */
void ct_network_fold(struct ct_network *net)
{
	struct ct_network_layout at = ct_network_layout(net);
	const double *t = net->theta;
	struct layer one = { t + at.w1,    t + at.scale1, t + at.shift1, net->bn_mean1, net->bn_var1,
			     net->in_mean, net->in_sd,    net->in,       net->h1 };
	struct layer two = { t + at.w2, t + at.scale2, t + at.shift2, net->bn_mean2, net->bn_var2,
			     NULL,      NULL,          net->h1,       net->h2 };

	fold_layer(&one, net->plain + at.w1, net->plain + at.shift1);
	fold_layer(&two, net->plain + at.w2, net->plain + at.shift2);
	memcpy(net->plain + at.w3, t + at.w3, (net->h2 + 1) * sizeof *t);
}

static void rectify(double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = v[i] > 0 ? v[i] : 0;
}

void ct_network_predict(const struct ct_network *net, const double *x, size_t n, double *out)
{
	struct ct_network_layout at = ct_network_layout(net);
	const double *p = net->plain;
	double *h1 = ct_calloc(net->h1 + net->h2, sizeof *h1), *h2 = h1 + net->h1;

	for (size_t i = 0; i < n; i++) {
		double z = p[at.b3];

		memcpy(h1, p + at.shift1, net->h1 * sizeof *h1);
		ct_axpy_rows(h1, x + i * net->in, p + at.w1, net->in, net->h1);
		rectify(h1, net->h1);
		memcpy(h2, p + at.shift2, net->h2 * sizeof *h2);
		ct_axpy_rows(h2, h1, p + at.w2, net->h1, net->h2);
		rectify(h2, net->h2);
		for (size_t k = 0; k < net->h2; k++)
			z += h2[k] * p[at.w3 + k];
		out[i] = net->floor ? 1 + (z > 0 ? z : 0) : exp(z);
	}
	free(h1);
}
