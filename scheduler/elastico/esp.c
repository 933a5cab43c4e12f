/* SPDX-License-Identifier: GPL-3.0-or-later */
/* esp.c - Elastic Shadow Pricing: sections 3.2.2 and 3.2.3. Pure functions.
 *
 * Jobs of one family that hold the same configuration choose alike, so a job's best
 * response is that of its group: an iteration costs O(families x front + groups), not
 * O(jobs x configurations). A configuration that is dominated (no faster, and needs no less
 * of anything) never has the least score at prices >= 0, so looking at the front only
 * changes no choice. */
#include "scheduler/elastico/elastico.h"

#include <math.h>

double ct_esp_score(const struct ct_elastico_config *c, double weight, const double *price)
{
	double score = weight * (1 - c->perf);

	for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
		score += price[r] * c->need[r];
	return score;
}

uint32_t ct_esp_best(const struct ct_elastico_family *f, double weight, const double *price, double *score)
{
	uint32_t best = f->front[0];
	double least = ct_esp_score(&f->config[best], weight, price);

	for (uint32_t i = 1; i < f->n_front; i++) {
		double s = ct_esp_score(&f->config[f->front[i]], weight, price);

		if (s < least) {
			least = s;
			best = f->front[i];
		}
	}
	*score = least;
	return best;
}

/* Its own configuration costs no switch; among equals it stays. Waiting costs all of the
 * performance and no rent. */
static uint32_t respond(const struct ct_elastico_family *f, double weight, const double *price, uint32_t current,
			double switch_cost, uint32_t best, double score)
{
	if (current == CT_ELASTICO_WAIT)
		return score > weight ? CT_ELASTICO_WAIT : best;
	return ct_esp_score(&f->config[current], weight, price) <= score + switch_cost ? current : best;
}

uint32_t ct_esp_choose(const struct ct_elastico_family *f, double weight, const double *price, uint32_t current,
		       double switch_cost)
{
	double score;
	uint32_t best = ct_esp_best(f, weight, price, &score);

	return respond(f, weight, price, current, switch_cost, best, score);
}

void ct_esp_demand(const struct ct_esp_market *m, const double *price, double *demand)
{
	uint32_t family = UINT32_MAX, best = 0;
	double score = 0, weight = 0;

	for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
		demand[r] = 0;
	for (uint32_t i = 0; i < m->n_groups; i++) {
		struct ct_esp_group *g = &m->group[i];
		const struct ct_elastico_family *f = &m->family[g->family];

		if (g->family != family || g->weight < weight || g->weight > weight) {
			family = g->family;
			weight = g->weight;
			best = ct_esp_best(f, weight, price, &score);
		}
		g->chosen = respond(f, weight, price, g->current, m->switch_cost, best, score);
		if (g->chosen == CT_ELASTICO_WAIT)
			continue;
		for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
			demand[r] += g->gpus * f->config[g->chosen].need[r];
	}
}

/* U/C - 1; a resource without capacity (not modelled, or all reserved) has no price. */
static double excess(const struct ct_esp_market *m, const double *demand, int r)
{
	return m->capacity[r] > 0 ? demand[r] / m->capacity[r] - 1 : -1;
}

uint32_t ct_esp_tatonnement(struct ct_esp_market *m, double *price)
{
	double demand[CT_ELASTICO_RESOURCES];
	uint32_t t = 0;

	while (t < m->max_iterations) {
		double eta, moved = 0;

		ct_esp_demand(m, price, demand);
		t++;
		eta = m->diminishing ? m->step / sqrt((double)t) : m->step;
		for (int r = 0; r < CT_ELASTICO_RESOURCES; r++) {
			double next = fmax(0, price[r] + eta * excess(m, demand, r));

			moved = fmax(moved, fabs(next - price[r]));
			price[r] = next;
		}
		if (moved <= m->tolerance * eta)
			break;
	}
	ct_esp_demand(m, price, demand);
	return t;
}
