/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/slowdown.h"

#include <math.h>

struct ct_slowdown_params ct_slowdown_published(void)
{
	return (struct ct_slowdown_params){
		.m = 0.01697350617725677,
		.beta = 0.18449256153256485,
		.c = { 0.4704171491602099, 0.7979954323682759, 0.41222455277514164, 0.8645858733176773 },
		.p = 8.409435184609908,
		.q = 3,
		.omega_clip = 3,
		.soft = 8,
	};
}

double ct_slowdown_sat(double x, double exponent)
{
	return x / pow(1 + pow(x, exponent), 1 / exponent);
}

struct ct_demand ct_slowdown_demand(const struct ct_slowdown_params *s, const struct ct_profile *p)
{
	const double u[CT_RESOURCES] = {
		[CT_RESOURCE_COMPUTE] = s->beta * p->sm_active + (1 - s->beta) * p->tensor_active,
		[CT_RESOURCE_DRAM] = p->dram_active,
		[CT_RESOURCE_OCCUPANCY] = p->sm_occupancy,
		[CT_RESOURCE_HOST] = p->host,
	};
	struct ct_demand d = { .weight = p->weight };

	for (int r = 0; r < CT_RESOURCES; r++)
		d.a[r] = ct_slowdown_sat(u[r] / s->c[r], s->soft);
	return d;
}

/* What a load of `l` GPUs' worth of one resource takes, 1 = no queue. */
static double phi(double l, double p)
{
	return pow(1 + pow(l, p), 1 / p);
}

static double power(double z, double q)
{
	return q == 3 ? z * z * z : pow(z, q);
}

double ct_slowdown_of(const struct ct_slowdown_params *s, const struct ct_demand *self, const struct ct_demand *other,
		      int resources)
{
	double omega = fmin(fmax(other->weight / self->weight, 1 / s->omega_clip), s->omega_clip);
	double sum = 0;

	for (int r = 0; r < resources; r++) {
		double a = self->a[r];
		/* The difference of two numbers near 1 may come out a rounding error below 0. */
		double z = fmax(0, a * (phi(a + omega * other->a[r], s->p) / phi(a, s->p) - 1));

		sum += power(z + s->guard, s->q);
	}
	return 1 + s->m + (sum > 0 ? (s->q == 3 ? cbrt(sum) : pow(sum, 1 / s->q)) : 0);
}

double ct_slowdown(const struct ct_slowdown_params *s, const struct ct_profile *self, const struct ct_profile *other)
{
	struct ct_demand i = ct_slowdown_demand(s, self), j = ct_slowdown_demand(s, other);

	return ct_slowdown_of(s, &i, &j, CT_RESOURCES);
}

int ct_slowdown_fits(const struct ct_workload_knobs *k, const struct ct_profile *a, const struct ct_profile *b)
{
	return (double)a->fb_mib + (double)b->fb_mib <= k->gpu_mem_mib - k->reserve_mib;
}

enum ct_coloc ct_coloc_type(const struct ct_profile *a, const struct ct_profile *b)
{
	if (a->train && b->train)
		return CT_COLOC_TT;
	return a->train || b->train ? CT_COLOC_TI : CT_COLOC_II;
}
