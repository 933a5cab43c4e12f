/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calib/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int parse_flags(const char *s, struct ct_profile *p)
{
	while (*s) {
		size_t n = strcspn(s + 1, "+");

		if (*s != '+')
			return -1;
		if (n == 2 && !memcmp(s + 1, "ck", 2))
			p->ckpt = 1;
		else if (n == 3 && !memcmp(s + 1, "amp", 3))
			p->amp = 1;
		else if (n == 2 && !memcmp(s + 1, "pc", 2))
			p->prefix = 1;
		else
			return -1;
		s += n + 1;
	}
	return 0;
}

int ct_profile_parse(const char *name, struct ct_profile *p)
{
	int used = 0;

	*p = (struct ct_profile){ 0 };
	if (sscanf(name, "b%9u-sl%9u-mu%5lf%n", &p->batch, &p->seqlen, &p->mu, &used) == 3 && used) {
		if (!p->seqlen || !(p->mu > 0 && p->mu <= 1))
			return -1;
	} else if (sscanf(name, "b%9u%n", &p->batch, &used) == 1 && used) {
		p->seqlen = 0;
		p->mu = 0;
		p->train = 1;
	} else {
		return -1;
	}
	return p->batch ? parse_flags(name + used, p) : -1;
}

static double log2_of(uint32_t v)
{
	return v ? log2(v) : 0;
}

double ct_profile_distance(const struct ct_profile *a, const struct ct_profile *b)
{
	const double d[] = { log2_of(a->batch) - log2_of(b->batch),
			     log2_of(a->seqlen) - log2_of(b->seqlen),
			     10 * (a->mu - b->mu),
			     a->ckpt - b->ckpt,
			     a->amp - b->amp,
			     a->prefix - b->prefix };
	double sum = 0;

	for (size_t i = 0; i < sizeof d / sizeof *d; i++)
		sum += d[i] * d[i];
	return sqrt(sum);
}

const struct ct_profile *ct_profile_store_find(struct ct_profile_store *s, const char *hardware,
					       const struct ct_profile *have, size_t n, const struct ct_profile *want,
					       int *exact)
{
	const struct ct_profile *best = NULL;
	double least = INFINITY;

	for (size_t i = 0; i < n && !strcmp(hardware, s->signature); i++) {
		double d = ct_profile_distance(&have[i], want);

		if (d < least) {
			least = d;
			best = &have[i];
		}
	}
	if (exact)
		*exact = least < 1e-6;
	s->hits += least < 1e-6;
	s->nearest += best && !(least < 1e-6);
	s->misses += !best;
	return best;
}

double ct_profile_store_hit_rate(const struct ct_profile_store *s)
{
	return (double)s->hits / (double)(s->hits + s->nearest + s->misses);
}
