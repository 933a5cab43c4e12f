/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preemptive.c - greedy admission over running and waiting jobs in one order: a
 * merge of the sorted running jobs with the first jobs of the waiting classes, as
 * what is left only shrinks while it goes (see queueing.c). */
#include "scheduler/preemptive.h"

#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>

struct quota { /* GPU share that is not promised yet */
	uint64_t all, *by_type;
};

int ct_preemptive_init(struct ct_preemptive *s, const struct ct_view *v)
{
	int rc = ct_queueing_init(&s->q, v, CT_ORDER_OWN);

	s->active = ct_calloc(v->n_partitions, sizeof *s->active);
	s->left_by_type = ct_calloc(v->n_gpu_types, sizeof *s->left_by_type);
	return rc;
}

void ct_preemptive_fini(struct ct_preemptive *s)
{
	for (uint32_t i = 0; s->active && i < s->q.n_parts; i++)
		free(s->active[i].job);
	free(s->active);
	free(s->chosen);
	free(s->left_by_type);
	ct_queueing_fini(&s->q);
}

static void forget_active(struct ct_preemptive *s, uint32_t partition, uint32_t job)
{
	struct ct_active_list *a = &s->active[partition];
	size_t i = 0;

	while (i < a->n && a->job[i].job != job)
		i++;
	if (i == a->n)
		return;
	a->milli -= a->job[i].milli;
	a->n--;
	memmove(&a->job[i], &a->job[i + 1], (a->n - i) * sizeof *a->job);
}

void ct_preemptive_finish(struct ct_preemptive *s, const struct ct_view *v, uint32_t job)
{
	uint32_t partition = ct_view_job(v, job)->partition;

	ct_queueing_finish(&s->q, v, job);
	if (partition < s->q.n_parts)
		forget_active(s, partition, job);
}

void ct_preemptive_change(struct ct_preemptive *s, const struct ct_view *v, uint32_t job)
{
	ct_queueing_change(&s->q, v, job);
	if (job != CT_NO_JOB)
		forget_active(s, ct_view_job(v, job)->partition, job);
}

static int add_waiting(struct ct_preemptive *s, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	uint32_t class;
	int64_t key;
	int possible;

	if (ct_queueing_classify(&s->q, v, p, job, &class, &possible))
		return 1;
	if (!possible)
		return 0;
	if (s->key(s, v, job, &key))
		return 1;
	ct_waiting_add(&s->q.waiting, class, job, key, s->value ? s->value(s, v, job) : 0);
	s->q.part[ct_view_job(v, job)->partition].fresh = 1;
	return 0;
}

int ct_preemptive_admit(struct ct_preemptive *s, const struct ct_view *v, struct ct_plan *p)
{
	for (size_t i = 0; i < s->q.n_fresh; i++) {
		uint32_t job = s->q.fresh[i];

		/* killed meanwhile, or hit by two failures of one instant */
		if (ct_view_job(v, job)->state != CT_VIEW_QUEUED || ct_waiting_has(&s->q.waiting, job))
			continue;
		if (add_waiting(s, v, p, job))
			return 1;
	}
	s->q.n_fresh = 0;
	return 0;
}

/* ---- running jobs in order */

static void sort_active(struct ct_active_list *a)
{
	for (size_t i = 1; i < a->n; i++) {
		struct ct_active x = a->job[i];
		size_t k = i;

		for (; k > 0 && ct_order_before(x.key, x.job, a->job[k - 1].key, a->job[k - 1].job); k--)
			a->job[k] = a->job[k - 1];
		a->job[k] = x;
	}
}

static int rank_active(struct ct_preemptive *s, const struct ct_view *v, struct ct_active_list *a)
{
	for (size_t i = 0; i < a->n; i++) {
		if (s->key(s, v, a->job[i].job, &a->job[i].key))
			return 1;
		a->job[i].chosen = 0;
	}
	sort_active(a);
	return 0;
}

/* ---- choosing */

static struct quota quota_of(struct ct_preemptive *s, const struct ct_view *v, uint32_t partition)
{
	const struct ct_queue_part *part = &s->q.part[partition];
	uint64_t residents = s->q.placement == CT_PLACE_POOL ? 1 : (uint64_t)s->q.residents;
	struct quota quota = { 0, s->left_by_type };

	memset(quota.by_type, 0, v->n_gpu_types * sizeof *quota.by_type);
	for (uint32_t i = 0; i < part->n_groups; i++) {
		const struct ct_view_group *g = ct_view_group(v, part->group[i]);
		uint64_t milli = 1000 * (uint64_t)g->n_gpus * residents;

		quota.all += milli;
		quota.by_type[g->gpu_type] += milli;
	}
	return quota;
}

static uint64_t quota_left(const struct quota *quota, uint32_t type)
{
	return type == CT_ANY || quota->all < quota->by_type[type] ? quota->all : quota->by_type[type];
}

static bool quota_holds(const struct quota *quota, uint64_t milli, uint32_t type)
{
	return milli <= quota->all && (type == CT_ANY || milli <= quota->by_type[type]);
}

static bool quota_take(struct quota *quota, uint64_t milli, uint32_t type)
{
	if (!quota_holds(quota, milli, type))
		return false;
	quota->all -= milli;
	if (type != CT_ANY)
		quota->by_type[type] -= milli;
	return true;
}

static void choose(struct ct_preemptive *s, uint32_t job)
{
	CT_GROW(s->chosen, s->cap_chosen, s->n_chosen + 1);
	s->chosen[s->n_chosen++] = job;
}

/* Merges the running jobs with the first jobs of the waiting classes. */
static void choose_all(struct ct_preemptive *s, struct ct_plan *p, struct ct_active_list *a, uint32_t partition,
		       struct quota quota)
{
	struct ct_queueing *q = &s->q;
	uint32_t n = ct_queueing_candidates(q, partition, &ct_room_unlimited);
	size_t i = 0;

	while (i < a->n || n > 0) {
		struct ct_active *r = i < a->n ? &a->job[i] : NULL;
		struct ct_candidate *c = n > 0 ? &q->candidate[ct_candidate_earliest(q->candidate, n)] : NULL;
		const struct ct_request *d;

		if (!c || (r && ct_order_before(r->key, r->job, c->key, c->job))) {
			r->chosen = quota_take(&quota, r->milli, r->gpu_type);
			if (!r->chosen && q->on_block == CT_ON_BLOCK_STOP)
				n = 0;
			i++;
			continue;
		}
		d = &q->waiting.class[c->class].demand;
		if (quota_take(&quota, ct_request_milli(d), d->gpu_type)) {
			choose(s, c->job);
			c->job = ct_waiting_next(&q->waiting, c->class, c->key, c->job);
			if (c->job != CT_NO_JOB)
				c->key = ct_waiting_key_of(&q->waiting, c->job);
			else
				*c = q->candidate[--n];
			continue;
		}
		if (p->keeps_notes)
			p->note(p, c->job, CT_WHY_RANK, CT_NO_JOB, (double)ct_request_milli(d) / 1000,
				(double)quota_left(&quota, d->gpu_type) / 1000);
		if (q->on_block == CT_ON_BLOCK_STOP)
			n = 0;
		else
			*c = q->candidate[--n];
	}
}

/* All that waits fits beside all that runs: no need to rank the running jobs. With
 * several GPU types in the partition that is not a matter of one sum. */
static bool all_fit(const struct ct_preemptive *s, uint32_t partition, const struct quota *quota)
{
	return s->q.part[partition].n_groups == 1 &&
	       s->active[partition].milli + s->q.waiting.milli[partition] <= quota->all;
}

/* ---- acting */

static int preempt_unchosen(struct ct_preemptive *s, const struct ct_view *v, struct ct_plan *p,
			    struct ct_active_list *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		uint32_t job = a->job[i].job;

		if (a->job[i].chosen) {
			a->job[n++] = a->job[i];
			continue;
		}
		a->milli -= a->job[i].milli;
		p->note(p, job, CT_WHY_PREEMPTED, s->chosen[0], 0, 0);
		if (p->preempt(p, job) || add_waiting(s, v, p, job))
			return 1;
	}
	a->n = n;
	return 0;
}

/* Type of the GPUs a job was just put on; its request when it holds a pool share. */
static uint32_t type_held(const struct ct_view *v, uint32_t job)
{
	uint32_t gpu;

	if (ct_view_job(v, job)->gpu_type != CT_ANY || !v->host->gpus_of(v->host->ctx, job, &gpu, 1))
		return ct_view_job(v, job)->gpu_type;
	return ct_view_node(v, ct_view_gpu(v, gpu)->node)->gpu_type;
}

static int start_chosen(struct ct_preemptive *s, const struct ct_view *v, struct ct_plan *p, struct ct_active_list *a)
{
	for (size_t i = 0; i < s->n_chosen; i++) {
		uint32_t job = s->chosen[i];
		struct ct_request d = ct_request_of(ct_view_job(v, job));
		int64_t key = ct_waiting_key_of(&s->q.waiting, job);
		enum ct_start_result r = ct_queueing_start(&s->q, v, p, job);

		if (r == CT_START_FAILED)
			return 1;
		if (r == CT_DOES_NOT_FIT) {
			ct_queueing_note_room(&s->q, v, p, job);
			continue;
		}
		CT_GROW(a->job, a->cap, a->n + 1);
		a->milli += ct_request_milli(&d);
		a->job[a->n++] = (struct ct_active){
			.key = key, .milli = ct_request_milli(&d), .job = job, .gpu_type = type_held(v, job)
		};
	}
	return 0;
}

static int pass(struct ct_preemptive *s, const struct ct_view *v, struct ct_plan *p, uint32_t partition)
{
	struct ct_active_list *a = &s->active[partition], none = { 0 };
	struct quota quota = quota_of(s, v, partition);

	s->n_chosen = 0;
	if (all_fit(s, partition, &quota)) {
		choose_all(s, p, &none, partition, quota);
		return start_chosen(s, v, p, a);
	}
	if (rank_active(s, v, a))
		return 1;
	choose_all(s, p, a, partition, quota);
	if (s->n_chosen == 0)
		return 0;
	return preempt_unchosen(s, v, p, a) || start_chosen(s, v, p, a);
}

int ct_preemptive_pass(struct ct_preemptive *s, const struct ct_view *v, struct ct_plan *p)
{
	for (uint32_t i = 0; i < s->q.n_parts; i++) {
		if ((!s->q.part[i].freed && !s->q.part[i].fresh) || ct_waiting_first(&s->q.waiting, i) == CT_NO_JOB)
			continue;
		if (pass(s, v, p, i))
			return 1;
	}
	ct_queueing_done(&s->q);
	return 0;
}
