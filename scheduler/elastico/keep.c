/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keep.c - GPUs kept for a job that has waited too long (`patience`).
 *
 * Admission passes over what has no place, so a job that needs many GPUs at once loses
 * each GPU that falls free to a job that needs one, for as long as those keep coming.
 * Equation 12 does not help: it lowers the capacity that prices are made of, and keeps no
 * GPU. Here the oldest job that has waited `patience` gets as many GPUs as it runs on at
 * least; nobody else is let onto them, so that they run empty. Its wait is then bounded by
 * the longest of the jobs that are on them. Fewest residents first, then the youngest: the
 * age of a job is the guess of what is left of it. One job at a time. */
#include "scheduler/elastico/elastico.h"

/* ---- what the rest of the policy may use */

bool ct_keep_usable(const struct ct_elastico *e, uint32_t gpu)
{
	return gpu != e->profiler_gpu && (e->open || !e->n_kept || !e->kept[gpu]);
}

uint32_t ct_keep_idle_on(const struct ct_elastico *e, const struct ct_view *v, uint32_t node)
{
	const struct ct_view_node *n = ct_view_node(v, node);
	uint32_t idle = 0;

	for (uint32_t i = 0; i < n->n_gpus && e->n_kept && !e->open; i++)
		idle += e->kept[n->first_gpu + i] && n->first_gpu + i != e->profiler_gpu &&
			!ct_view_gpu(v, n->first_gpu + i)->n_residents;
	return idle;
}

/* ---- for whom, and which */

static void release(struct ct_elastico *e, const struct ct_view *v)
{
	for (uint32_t i = 0; i < v->n_gpus && e->n_kept; i++)
		e->kept[i] = 0;
	e->n_kept = 0;
	e->kept_for = CT_NO_JOB;
}

/* The fewest GPUs on which it reaches its floor in some configuration. */
static uint32_t least_gpus(const struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	const struct ct_elastico_family *f = &e->family[e->job[job].family];
	uint32_t n = e->elastic && e->rst && j->min_gpus ? j->min_gpus : j->num_gpus;

	while (n < j->num_gpus && !ct_rst_reaches(f, f->fastest, ct_rst_share(f, n, j->num_gpus), v->attain_floor))
		n++;
	return n;
}

static ct_time oldest_start(const struct ct_view *v, const struct ct_view_gpu *g)
{
	ct_time oldest = INT64_MAX;

	for (uint32_t i = 0; i < g->n_residents && i < 2; i++)
		if (ct_view_job(v, g->resident[i])->start_us < oldest)
			oldest = ct_view_job(v, g->resident[i])->start_us;
	return oldest;
}

static bool could_have(const struct ct_elastico *e, const struct ct_view *v, const struct ct_view_job *j, uint32_t gpu,
		       uint32_t mem_mib)
{
	const struct ct_view_gpu *g = ct_view_gpu(v, gpu);
	const struct ct_view_node *n = ct_view_node(v, g->node);

	return gpu != e->profiler_gpu && n->up && !n->reserved && g->n_residents != CT_VIEW_GPU_DOWN &&
	       g->mem_mib >= mem_mib && n->partition == j->partition &&
	       (j->gpu_type == CT_ANY || j->gpu_type == n->gpu_type);
}

/* The GPU that will be empty first, as far as one can guess; CT_ANY: there is none. */
static uint32_t next_gpu(const struct ct_elastico *e, const struct ct_view *v, const struct ct_view_job *j,
			 uint32_t mem_mib)
{
	uint32_t best = CT_ANY;

	for (uint32_t i = 0; i < v->n_gpus; i++) {
		const struct ct_view_gpu *g = ct_view_gpu(v, i), *b;

		if (e->kept[i] || !could_have(e, v, j, i, mem_mib))
			continue;
		b = best == CT_ANY ? NULL : ct_view_gpu(v, best);
		if (!b || g->n_residents < b->n_residents ||
		    (g->n_residents == b->n_residents && oldest_start(v, g) > oldest_start(v, b)))
			best = i;
	}
	return best;
}

static bool keep_for(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	const struct ct_elastico_family *f = &e->family[e->job[job].family];
	uint32_t want = least_gpus(e, v, job), mem = f->config[f->fastest].mem_mib, gpu;

	while (e->n_kept < want && (gpu = next_gpu(e, v, j, mem)) != CT_ANY) {
		e->kept[gpu] = 1;
		e->n_kept++;
	}
	if (e->n_kept < want) {
		release(e, v);
		return false;
	}
	e->kept_for = job;
	return true;
}

/* One GPU is not worth it: the first that falls free is its own. */
static bool is_due(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	const struct ct_view_job *j = ct_view_job(v, job);

	return j->num_gpus > 1 && ct_elastico_due(e, j->since_us + e->patience);
}

static bool is_whole(const struct ct_elastico *e, const struct ct_view *v)
{
	for (uint32_t i = 0; i < v->n_gpus; i++)
		if (e->kept[i] && (!ct_view_node(v, ct_view_gpu(v, i)->node)->up ||
				   ct_view_gpu(v, i)->n_residents == CT_VIEW_GPU_DOWN))
			return false;
	return true;
}

void ct_keep_update(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p)
{
	e->open = false;
	if (e->kept_for != CT_NO_JOB && (ct_view_job(v, e->kept_for)->state != CT_VIEW_QUEUED || !is_whole(e, v)))
		release(e, v);
	if (!e->patience || !e->pds || e->kept_for != CT_NO_JOB)
		return;
	for (uint32_t job = v->queue_first, n = 0; job != CT_NO_JOB && n < (uint64_t)e->horizon; n++) {
		if (is_due(e, v, job) && keep_for(e, v, job)) {
			p->note(p, job, CT_WHY_KEPT, CT_NO_JOB, e->n_kept,
				(double)(v->now_us - ct_view_job(v, job)->since_us) / 1e6);
			return;
		}
		job = ct_view_job(v, job)->next;
	}
}
