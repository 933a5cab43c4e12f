/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pds.c - Phase-Aware Disaggregated Scheduling: section 3.4, Algorithm 1 up to the choice
 * of configurations. Incumbents keep their GPUs, so bin-packing the active jobs is to ask
 * whether the configurations they choose fit beside each other.
 *
 * Jobs that are alone bid as groups (esp.c). Jobs that share a GPU bid with what they
 * hold, and choose afterwards, under the memory that their partner leaves and with their
 * penalties: those differ from job to job. */
#include "scheduler/elastico/elastico.h"

#include <math.h>

/* ---- equation 12 */

void ct_pds_effective_capacity(const double *capacity, double gamma, const double *pending_least,
			       const double *running_least, double *effective)
{
	for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
		effective[r] = fmax(capacity[r] - gamma * pending_least[r], running_least[r]);
}

/* ---- line 4: the market */

static uint32_t fewest(const struct ct_elastico *e, const struct ct_view_job *j)
{
	return e->elastic && e->rst && j->min_gpus ? j->min_gpus : j->num_gpus;
}

/* Who could run now bids: the first jobs of the queue, while two on each GPU hold them.
 * More bidders would drive prices up for want of GPUs, which no reshaping can cure.
 * Otherwise all of the queue counts: as bidders, or as what capacity is reserved for. */
/* How many bid. */
static uint32_t count_pending(struct ct_elastico *e, const struct ct_view *v, double *least)
{
	double room = e->bidders ? INFINITY : (v->max_residents < 2 ? 1.0 : 2.0) * e->n_gpus_up;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_families; i++)
		e->pending_gpus[i] = 0;
	for (uint32_t i = 0; i < e->n_configs; i++)
		room -= e->config_gpus[i];
	for (uint32_t job = v->queue_first; job != CT_NO_JOB && n < (uint64_t)e->horizon && room > 0; n++) {
		const struct ct_view_job *j = ct_view_job(v, job);
		uint32_t family = e->job[job].family;

		if (e->bidders != CT_BID_RUNNING)
			e->pending_gpus[family] += j->num_gpus;
		room -= j->num_gpus;
		for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
			least[r] += fewest(e, j) * e->family[family].least[r];
		job = j->next;
	}
	return e->bidders == CT_BID_RUNNING ? 0 : n;
}

static void count_running(struct ct_elastico *e, const struct ct_view *v, double *least)
{
	for (uint32_t i = 0; i < e->n_configs; i++)
		e->config_gpus[i] = 0;
	for (uint32_t job = v->running_first; job != CT_NO_JOB;) {
		const struct ct_view_job *j = ct_view_job(v, job);
		const struct ct_elastico_family *f = &e->family[e->job[job].family];

		if (j->num_gpus) {
			e->config_gpus[f->first + j->config] += j->gpus_held;
			for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
				least[r] += j->gpus_held * f->least[r];
		}
		job = j->next;
	}
}

static uint32_t build_groups(struct ct_elastico *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_families; i++) {
		const struct ct_elastico_family *f = &e->family[i];

		if (e->pending_gpus[i] > 0)
			e->group[n++] =
			    (struct ct_esp_group){ i, CT_ELASTICO_WAIT, e->pending_gpus[i], 1, CT_ELASTICO_WAIT };
		for (uint32_t c = 0; c < f->n; c++)
			if (e->config_gpus[f->first + c] > 0)
				e->group[n++] = (struct ct_esp_group){ i, c, e->config_gpus[f->first + c], 1, c };
	}
	return n;
}

/* With weights of their own jobs bid one by one: the running ones, then the first `bidding`
 * of the queue. */
static uint32_t list_bidders(struct ct_elastico *e, const struct ct_view *v, uint32_t bidding)
{
	uint32_t n = 0;

	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		const struct ct_view_job *j = ct_view_job(v, job);

		e->left[n] = e->job[job].remaining;
		if (j->num_gpus)
			e->group[n++] =
			    (struct ct_esp_group){ e->job[job].family, j->config, j->gpus_held, 1, j->config };
	}
	for (uint32_t job = v->queue_first; job != CT_NO_JOB && bidding; job = ct_view_job(v, job)->next, bidding--) {
		e->left[n] = e->job[job].remaining;
		if (ct_view_job(v, job)->num_gpus)
			e->group[n++] = (struct ct_esp_group){ e->job[job].family, CT_ELASTICO_WAIT,
							       ct_view_job(v, job)->num_gpus, 1, CT_ELASTICO_WAIT };
	}
	return n;
}

static uint32_t weigh(struct ct_elastico *e, const struct ct_view *v, uint32_t bidding)
{
	uint32_t n = list_bidders(e, v, bidding), waiting = 0;
	struct ct_weight_law law;

	for (uint32_t i = 0; i < n; i++)
		e->gpus_of_group[i] = e->group[i].gpus;
	law = ct_weights_law(e->left, e->gpus_of_group, n, e->weight_span);
	for (uint32_t i = 0; i < n; i++)
		e->group[i].weight = ct_weights_weigh(&law, e->left[i]);
	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next)
		e->job[job].weight = ct_weights_weigh(&law, e->job[job].remaining);
	for (uint32_t job = v->queue_first; job != CT_NO_JOB && waiting < (uint64_t)e->horizon; waiting++) {
		e->job[job].weight = ct_weights_weigh(&law, e->job[job].remaining);
		job = ct_view_job(v, job)->next;
	}
	return n;
}

static void open_market(struct ct_elastico *e, const struct ct_view *v, struct ct_esp_market *m)
{
	double capacity[CT_ELASTICO_RESOURCES], pending[CT_ELASTICO_RESOURCES] = { 0 },
						running[CT_ELASTICO_RESOURCES] = { 0 };
	uint32_t bidding;

	count_running(e, v, running);
	bidding = count_pending(e, v, pending);
	for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
		capacity[r] = e->n_gpus_up;
	ct_pds_effective_capacity(capacity, e->pds ? e->gamma : 0, pending, running, e->effective);
	*m = (struct ct_esp_market){ .family = e->family,
				     .group = e->group,
				     .n_groups = e->weighted ? weigh(e, v, bidding) : build_groups(e),
				     .switch_cost = e->switch_cost,
				     .step = e->step,
				     .diminishing = e->diminishing != 0,
				     .tolerance = e->price_tolerance,
				     .max_iterations = (uint32_t)e->iterations };
	for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
		m->capacity[r] = e->effective[r];
}

/* ---- lines 5 to 7 for jobs that share a GPU */

/* Memory that the partners leave on the job's GPUs. */
static uint32_t room_beside(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	uint32_t n = v->host->gpus_of(v->host->ctx, job, e->gpus, v->n_gpus), room = UINT32_MAX;
	const struct ct_elastico_family *f = &e->family[e->job[job].family];
	uint32_t own = f->config[ct_view_job(v, job)->config].mem_mib;

	for (uint32_t i = 0; i < n; i++) {
		const struct ct_view_gpu *g = ct_view_gpu(v, e->gpus[i]);
		uint32_t limit = g->mem_mib, others = g->used_mem_mib - own, left;

		if (limit == UINT32_MAX)
			continue;
		if (g->n_residents > 1)
			limit = limit > v->gpu_reserve_mib ? limit - v->gpu_reserve_mib : 0;
		left = limit > others ? limit - others : 0;
		if (left < room)
			room = left;
	}
	return room;
}

static double penalty_of(const struct ct_elastico_job *j, uint32_t config)
{
	double sum = 0;

	for (uint32_t i = 0; i < j->n_penalties; i++)
		if (j->penalty_config[i] == config)
			sum += j->penalty[i];
	return sum;
}

/* Equation 7 with both parts of the penalty; its own configuration among equals. */
static uint32_t choose(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	const struct ct_elastico_job *j = &e->job[job];
	const struct ct_elastico_family *f = &e->family[j->family];
	uint32_t current = ct_view_job(v, job)->config, best = current, room;
	const struct ct_view_job *w = ct_view_job(v, job);
	double least, share = ct_rst_share(f, w->gpus_held, w->num_gpus);

	least = ct_esp_score(&f->config[current], j->weight, e->price) + penalty_of(j, current);
	room = room_beside(e, v, job);
	for (uint32_t i = 0; i < f->n_front; i++) {
		uint32_t c = f->front[i];
		double s;

		if (c == current || f->config[c].mem_mib > room || !ct_rst_reaches(f, c, share, v->attain_floor))
			continue;
		s = ct_esp_score(&f->config[c], j->weight, e->price) + penalty_of(j, c) + e->switch_cost;
		if (s < least) {
			least = s;
			best = c;
		}
	}
	return best;
}

/* ---- lines 10 to 16 */

bool ct_pds_violates(const struct ct_elastico *e, const struct ct_view *v, uint32_t job, uint32_t config,
		     double slowdown, double slack)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	const struct ct_elastico_family *f = &e->family[e->job[job].family];
	double share = ct_rst_share(f, j->gpus_held, j->num_gpus), tau = ct_iac_tau_of(e, v, f, config, share);

	double floor =
	    v->attain_floor > 0 && !e->tau_paper ? f->config[config].throughput * share / v->attain_floor : INFINITY;

	/* What a job needs to reach its floor is no matter of slack. */
	return e->iac && slowdown > fmin(tau + slack, fmax(tau, floor));
}

static void penalise(struct ct_elastico *e, const struct ct_view *v, uint32_t job, double slowdown)
{
	struct ct_elastico_job *j = &e->job[job];
	const struct ct_elastico_family *f = &e->family[j->family];
	const struct ct_view_job *w = ct_view_job(v, job);
	double tau = ct_iac_tau_of(e, v, f, j->choice, ct_rst_share(f, w->gpus_held, w->num_gpus));

	if (!(slowdown > tau) || j->n_penalties == CT_ELASTICO_ROUNDS)
		return;
	j->penalty_config[j->n_penalties] = j->choice;
	j->penalty[j->n_penalties++] = e->alpha * (slowdown - tau);
}

/* A pair of jobs with one partner each; the others are left alone. */
static bool check_pair(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	struct ct_elastico_job *j = &e->job[job], *k = &e->job[j->partner];
	const struct ct_elastico_config *a = &e->family[j->family].config[j->choice],
					*b = &e->family[k->family].config[k->choice];
	double s = ct_iac_slowdown(e, v, a, b), t = ct_iac_slowdown(e, v, b, a), slack = 0;

	/* Who is there already is not moved for a trifle. */
	if (j->choice == ct_view_job(v, job)->config && k->choice == ct_view_job(v, j->partner)->config)
		slack = e->hysteresis;
	if (!ct_pds_violates(e, v, job, j->choice, s, slack) && !ct_pds_violates(e, v, j->partner, k->choice, t, slack))
		return true;
	penalise(e, v, job, s);
	penalise(e, v, j->partner, t);
	return false;
}

static uint32_t check_all(struct ct_elastico *e, const struct ct_view *v)
{
	uint32_t violations = 0;

	for (uint32_t i = 0; i < e->n_shared; i++) {
		uint32_t job = e->shared[i], partner = e->job[job].partner;

		if (e->job[job].n_partners != 1 || e->job[partner].n_partners != 1 || partner < job)
			continue;
		violations += !check_pair(e, v, job);
	}
	return violations;
}

/* ---- Algorithm 1, lines 1 to 20 */

uint32_t ct_pds_choice(const struct ct_elastico *e, uint32_t job)
{
	return e->weighted ? e->job[job].choice : e->pending_choice[e->job[job].family];
}

/* What waits: a choice for each family, or for each job where weights differ. */
static void choose_for_queue(struct ct_elastico *e, const struct ct_view *v)
{
	uint32_t n = 0;
	double score;

	for (uint32_t i = 0; i < e->n_families; i++) {
		uint32_t best = ct_esp_best(&e->family[i], 1, e->price, &score);

		e->pending_choice[i] = e->prices && score > 1 ? CT_ELASTICO_WAIT : best;
	}
	for (uint32_t job = v->queue_first; e->weighted && job != CT_NO_JOB && n < (uint64_t)e->horizon; n++) {
		struct ct_elastico_job *j = &e->job[job];
		uint32_t best = ct_esp_best(&e->family[j->family], j->weight, e->price, &score);

		j->choice = e->prices && score > j->weight ? CT_ELASTICO_WAIT : best;
		job = ct_view_job(v, job)->next;
	}
}

void ct_pds_rounds(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	uint32_t rounds = e->pds && e->iac ? (uint32_t)e->rounds : 1;
	uint32_t violations;
	struct ct_esp_market m;

	open_market(e, v, &m);
	p->lap(p, CT_LAP_PDS);
	for (uint32_t i = 0; i < e->n_shared; i++)
		e->job[e->shared[i]].n_penalties = 0;
	for (int r = 0; r < CT_ELASTICO_RESOURCES; r++)
		e->price[r] = e->prices ? e->start_price[r] : 0;
	for (uint32_t round = 0; round < rounds; round++) {
		e->n_rounds++;
		if (e->prices)
			e->n_iterations += ct_esp_tatonnement(&m, e->price);
		for (uint32_t i = 0; i < e->n_shared; i++)
			e->job[e->shared[i]].choice = choose(e, v, e->shared[i]);
		p->lap(p, CT_LAP_ESP);
		violations = check_all(e, v);
		p->lap(p, CT_LAP_IAC);
		if (!violations)
			break;
	}
	choose_for_queue(e, v);
	for (uint32_t job = v->running_first; job != CT_NO_JOB;) {
		const struct ct_view_job *w = ct_view_job(v, job);
		struct ct_elastico_job *j = &e->job[job];

		if (w->num_gpus && !j->n_partners)
			j->choice =
			    ct_esp_choose(&e->family[j->family], j->weight, e->price, w->config, e->switch_cost);
		job = w->next;
	}
	p->lap(p, CT_LAP_ESP);
}
