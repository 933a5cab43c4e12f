/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lucid.c - the main queue: smallest estimated GPU time first, without preemption; a
 * job is packed where it may be, else placed where it fits, else passed over. With
 * packing switched off the head blocks.
 *
 * A pass goes through a partition's queue in order without looking at all of it.
 * Since the last pass a waiting job can only have got a chance through
 *	a host it has not been compared with (started, or left by its partner),
 *	GPUs that were given back,
 * or because it is new. So the candidates are the first guest of each such host, the
 * first job of each class of demand where something was freed, and the new jobs; the
 * earliest of them is tried, and the cursor moves past it. A job that starts on GPUs
 * of its own is a host for those behind it in this pass, for those before it in the
 * next round. Cost: O((hosts + classes + new jobs) x log jobs) a pass, each start
 * O(log jobs); see README.md. */
#include "scheduler/builtin.h"
#include "scheduler/lucid/lucid.h"
#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>

struct cursor {
	int64_t key;
	uint32_t job;
};
static const struct cursor at_start = { INT64_MIN, CT_NO_JOB }; /* before every job, and none itself */

/* ---- life of a job in the main queue */

int ct_lucid_enter(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	uint32_t partition = ct_view_job(v, job)->partition, class;
	int possible;

	if (ct_queueing_classify(&l->q, v, p, job, &class, &possible))
		return 1;
	if (!possible)
		return 0;
	ct_waiting_add(&l->q.waiting, class, job, ct_tree_key(l->job[job].weight), 0);
	l->job[job].place = CT_LUCID_WAITS;
	ct_lucid_offer(l, job);
	CT_GROW(l->q.fresh, l->q.cap_fresh, l->q.n_fresh + 1);
	l->q.fresh[l->q.n_fresh++] = job;
	l->q.part[partition].fresh = 1;
	return 0;
}

/* Told by queueing.c of each start in the main cluster. */
static int started(struct ct_queueing *q, const struct ct_view *v, uint32_t job, const struct ct_place *at)
{
	struct ct_lucid *l = (struct ct_lucid *)(void *)q;
	struct ct_lucid_job *j = &l->job[job];
	uint32_t host = l->pack_onto;

	(void)at;
	ct_lucid_withdraw(l, job);
	j->place = CT_LUCID_RUNS;
	j->started = ++l->n_started;
	if (host == CT_NO_JOB) {
		ct_lucid_add_host(l, v, job);
		return 0;
	}
	ct_lucid_remove_host(l, host);
	j->partner = host;
	l->job[host].partner = job;
	return 0;
}

/* A running job gives its GPUs back; its partner, if any, is alone and a host again. */
static void leave(struct ct_lucid *l, const struct ct_view *v, uint32_t job)
{
	struct ct_lucid_job *j = &l->job[job];
	uint32_t partner = j->partner;

	ct_lucid_remove_host(l, job);
	j->partner = CT_NO_JOB;
	if (partner == CT_NO_JOB) {
		l->q.part[ct_view_job(v, job)->partition].freed = 1;
		return;
	}
	l->job[partner].partner = CT_NO_JOB;
	if (!l->later_stays_packed || l->job[partner].started < j->started)
		ct_lucid_add_host(l, v, partner);
}

/* ---- starting */

static int pack(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job, uint32_t host)
{
	struct ct_place at = { l->gpus, v->host->gpus_of(v->host->ctx, host, l->gpus, v->n_gpus), CT_ANY };
	int rc;

	l->pack_onto = host;
	rc = ct_queueing_start_at(&l->q, v, p, job, &at);
	l->pack_onto = CT_NO_JOB;
	return rc;
}

static enum ct_start_result place(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	const struct ct_request *d = &l->q.waiting.class[ct_waiting_class_of(&l->q.waiting, job)].demand;
	struct ct_room room = ct_queueing_room(&l->q, v, d->partition);

	if (!ct_queueing_may_fit(&l->q, v, &room, d))
		return CT_DOES_NOT_FIT;
	return ct_queueing_start(&l->q, v, p, job);
}

/* Neither a host nor idle GPUs. */
static void note_wait(const struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	const struct ct_lucid_job *j = &l->job[job];

	if (l->packing && j->shelf != UINT32_MAX)
		p->note(p, job, CT_LUCID_WHY_NO_HOST, CT_NO_JOB, j->num_gpus, (double)l->capacity - j->score);
	else
		ct_queueing_note_room(&l->q, v, p, job);
}

/* New jobs of the main queue are looked at once. */
static void note_fresh(const struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p)
{
	for (size_t i = 0; p->keeps_notes && i < l->q.n_fresh; i++)
		if (ct_waiting_has(&l->q.waiting, l->q.fresh[i]))
			note_wait(l, v, p, l->q.fresh[i]);
}

static enum ct_start_result pack_or_place(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	uint32_t host = ct_lucid_find_host(l, v, job);

	enum ct_start_result r;

	if (host != CT_NO_JOB) {
		p->note(p, job, CT_LUCID_WHY_PACKED, host, l->job[job].score + l->job[host].score, (double)l->capacity);
		return pack(l, v, p, job, host) ? CT_START_FAILED : CT_STARTED;
	}
	r = place(l, v, p, job);
	if (r == CT_DOES_NOT_FIT)
		note_wait(l, v, p, job);
	return r;
}

/* ---- a pass with packing */

/* First guest behind the cursor of any new host; hosts without one leave the list,
 * when the pass began at the head of the queue for them. */
static uint32_t first_guest(struct ct_lucid *l, const struct ct_view *v, uint32_t partition, struct cursor c)
{
	struct ct_lucid_part *part = &l->part[partition];
	uint32_t best = CT_NO_JOB;

	for (size_t i = 0; i < part->n_hosts; i++) {
		uint32_t job = ct_lucid_find_guest(l, v, part->host[i], c.key, c.job);

		if (job != CT_NO_JOB && (best == CT_NO_JOB || ct_order_before(ct_tree_key(l->job[job].weight), job,
									      ct_tree_key(l->job[best].weight), best)))
			best = job;
	}
	return best;
}

static int by_order(const void *a, const void *b)
{
	const struct ct_candidate *x = a, *y = b;

	return ct_order_before(x->key, x->job, y->key, y->job) ? -1 : 1;
}

/* The new jobs of a partition behind the classes' first jobs in q->candidate, in order. */
static size_t add_fresh(struct ct_lucid *l, const struct ct_view *v, uint32_t partition, size_t n)
{
	struct ct_queueing *q = &l->q;
	size_t from = n;

	CT_GROW(q->candidate, q->cap_candidates, n + q->n_fresh + 1);
	for (size_t i = 0; i < q->n_fresh; i++) {
		uint32_t job = q->fresh[i];

		if (ct_view_job(v, job)->partition == partition && ct_waiting_has(&q->waiting, job))
			q->candidate[n++] =
			    (struct ct_candidate){ ct_waiting_key_of(&q->waiting, job), job, UINT32_MAX };
	}
	if (n - from > 1)
		qsort(q->candidate + from, n - from, sizeof *q->candidate, by_order);
	return n;
}

/* Forgets hosts that are none any more. */
static void prune_hosts(struct ct_lucid *l, uint32_t partition)
{
	struct ct_lucid_part *part = &l->part[partition];
	size_t n = 0;

	for (size_t i = 0; i < part->n_hosts; i++)
		if (l->job[part->host[i]].is_host)
			part->host[n++] = part->host[i];
	part->n_hosts = n;
}

struct pass {
	uint32_t partition, n_classes;
	size_t fresh, n; /* q->candidate: classes, then fresh .. n - 1 */
	struct cursor at;
};

/* The class candidates that may still fit; the earliest of them, CT_NO_JOB: none. */
static uint32_t first_of_classes(struct ct_lucid *l, const struct ct_view *v, struct pass *s, uint32_t *index)
{
	struct ct_queueing *q = &l->q;
	struct ct_room room;
	uint32_t best = CT_NO_JOB, kept = 0;

	if (!s->n_classes)
		return CT_NO_JOB;
	room = ct_queueing_room(q, v, s->partition);
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct ct_candidate c = q->candidate[i];

		if (ct_order_before(c.key, c.job, s->at.key, s->at.job) || c.job == s->at.job) {
			c.job = ct_waiting_next(&q->waiting, c.class, s->at.key, s->at.job);
			c.key = c.job != CT_NO_JOB ? ct_waiting_key_of(&q->waiting, c.job) : 0;
		}
		if (c.job == CT_NO_JOB || !ct_queueing_may_fit(q, v, &room, &q->waiting.class[c.class].demand))
			continue;
		q->candidate[kept] = c;
		if (best == CT_NO_JOB || ct_order_before(c.key, c.job, q->candidate[*index].key, best)) {
			best = c.job;
			*index = kept;
		}
		kept++;
	}
	s->n_classes = kept;
	return best;
}

static uint32_t first_fresh(struct ct_lucid *l, struct pass *s)
{
	const struct ct_candidate *c = l->q.candidate;

	while (s->fresh < s->n && (ct_order_before(c[s->fresh].key, c[s->fresh].job, s->at.key, s->at.job) ||
				   c[s->fresh].job == s->at.job))
		s->fresh++;
	return s->fresh < s->n ? c[s->fresh].job : CT_NO_JOB;
}

static uint32_t earlier(const struct ct_lucid *l, uint32_t a, uint32_t b)
{
	if (a == CT_NO_JOB || b == CT_NO_JOB)
		return a == CT_NO_JOB ? b : a;
	return ct_order_before(ct_tree_key(l->job[a].weight), a, ct_tree_key(l->job[b].weight), b) ? a : b;
}

/* One walk through the queue of a partition. */
static int packing_pass(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t partition)
{
	struct ct_queueing *q = &l->q;
	struct ct_queue_part *part = &q->part[partition];
	struct ct_lucid_part *mine = &l->part[partition];
	struct pass s = { .partition = partition, .at = at_start };
	size_t old_hosts = mine->n_hosts;

	if (part->freed) {
		struct ct_room room = ct_queueing_room(q, v, partition);

		s.n_classes = ct_queueing_candidates(q, partition, &room);
	}
	s.fresh = s.n_classes;
	s.n = part->fresh ? add_fresh(l, v, partition, s.n_classes) : s.n_classes;
	for (;;) {
		uint32_t index = 0, class = first_of_classes(l, v, &s, &index), job;
		enum ct_start_result r;

		job = earlier(l, earlier(l, class, first_fresh(l, &s)), first_guest(l, v, partition, s.at));
		if (job == CT_NO_JOB)
			break;
		s.at = (struct cursor){ ct_tree_key(l->job[job].weight), job };
		r = pack_or_place(l, v, p, job);
		if (r == CT_START_FAILED)
			return 1;
		if (r == CT_DOES_NOT_FIT && job == class) /* nor do the others of its class */
			q->candidate[index] = q->candidate[--s.n_classes];
	}
	/* All jobs have been compared with the hosts the pass began with. */
	mine->n_hosts -= old_hosts;
	if (mine->n_hosts)
		memmove(mine->host, mine->host + old_hosts, mine->n_hosts * sizeof *mine->host);
	prune_hosts(l, partition);
	part->freed = part->fresh = 0;
	return 0;
}

/* Passes until nothing more can start; with rounds the next one waits its turn. */
static int packing_passes(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t partition)
{
	const struct ct_lucid_part *mine = &l->part[partition];

	do {
		if (packing_pass(l, v, p, partition))
			return 1;
		if (mine->n_hosts == 0 || first_guest(l, v, partition, at_start) == CT_NO_JOB)
			return 0;
	} while (!l->round);
	return p->wake(p, v->now_us + l->round);
}

/* ---- a pass without packing */

static int plain_pass(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t partition)
{
	int rc = ct_queueing_start_head(&l->q, v, p, partition);

	l->part[partition].n_hosts = 0;
	l->q.part[partition].freed = l->q.part[partition].fresh = 0;
	return rc;
}

/* ---- the switch */

/* All hosts and all jobs are to be compared anew. */
static void start_over(struct ct_lucid *l, const struct ct_view *v)
{
	for (uint32_t i = 0; i < l->q.n_parts; i++) {
		l->part[i].n_hosts = 0;
		l->q.part[i].freed = 1;
	}
	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		struct ct_lucid_part *part = &l->part[ct_view_job(v, job)->partition];

		if (!l->job[job].is_host)
			continue;
		CT_GROW(part->host, part->cap_hosts, part->n_hosts + 1);
		part->host[part->n_hosts++] = job;
	}
}

static void update_switch(struct ct_lucid *l, const struct ct_view *v)
{
	int on = l->pack;

	if (on && l->packing_switch != CT_LUCID_ALWAYS)
		on = !(ct_lucid_expected_jobs(l, v) <= l->switch_jobs);
	if (on != l->packing)
		start_over(l, v);
	l->packing = on;
}

/* It changes at the ends of buckets only. */
static int wake_for_switch(const struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p)
{
	if (!l->pack || l->packing_switch == CT_LUCID_ALWAYS || !l->q.waiting.n_jobs)
		return 0;
	return p->wake(p, (v->now_us / CT_LUCID_BUCKET + 1) * CT_LUCID_BUCKET);
}

/* ---- callbacks */

static int init(void *state, const struct ct_view *v)
{
	struct ct_lucid *l = state;

	l->q.placement = CT_PLACE_PACK;
	l->q.residents = 1;
	l->q.started = started;
	l->pack_onto = CT_NO_JOB;
	l->part = ct_calloc(v->n_partitions, sizeof *l->part);
	l->gpus = ct_calloc(v->n_gpus, sizeof *l->gpus);
	l->pack = l->pack && v->max_residents > 1;
	if (ct_queueing_init(&l->q, v, CT_ORDER_OWN) || ct_lucid_facts_init(l, v) || ct_lucid_forecast_init(l, v) ||
	    ct_lucid_profiler_init(l, v))
		return 1;
	return 0;
}

static void wait_to_be_looked_at(struct ct_lucid *l, uint32_t job)
{
	CT_GROW(l->fresh, l->cap_fresh, l->n_fresh + 1);
	l->fresh[l->n_fresh++] = job;
}

static void on_submit(void *state, const struct ct_view *v, uint32_t job)
{
	ct_lucid_forecast_count(state, v);
	wait_to_be_looked_at(state, job);
}

/* Out of wherever it is. */
static void take_out(struct ct_lucid *l, const struct ct_view *v, uint32_t job, enum ct_lucid_place to)
{
	switch ((enum ct_lucid_place)l->job[job].place) {
	case CT_LUCID_WAITS_FOR_PROFILER:
	case CT_LUCID_PROFILED:
		ct_lucid_profiler_release(l, job);
		break;
	case CT_LUCID_WAITS:
		ct_waiting_remove(&l->q.waiting, job);
		ct_lucid_withdraw(l, job);
		break;
	case CT_LUCID_RUNS:
		leave(l, v, job);
		break;
	case CT_LUCID_NEW:
	case CT_LUCID_AGAIN:
	case CT_LUCID_ENDED:
		break;
	}
	l->job[job].place = to;
}

static void on_finish(void *state, const struct ct_view *v, uint32_t job)
{
	struct ct_lucid *l = state;

	if (job < l->n_jobs)
		take_out(l, v, job, CT_LUCID_ENDED);
}

static void on_change(void *state, const struct ct_view *v, uint32_t job)
{
	struct ct_lucid *l = state;

	if (job != CT_NO_JOB) {
		take_out(l, v, job, CT_LUCID_AGAIN);
		wait_to_be_looked_at(l, job);
		return;
	}
	for (uint32_t i = 0; i < l->q.n_parts; i++)
		l->q.part[i].freed = 1;
}

void ct_lucid_gained(struct ct_lucid *l, const struct ct_view *v, const char *partition)
{
	uint32_t i = v->host->partition(v->host->ctx, partition);

	if (i < l->q.n_parts)
		l->q.part[i].freed = 1;
}

/* A new job: into the profiler, the main queue, or both. */
static int look_at(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p, uint32_t job)
{
	ct_time duration;

	if (ct_lucid_learn(l, v, job))
		return 1;
	if (!ct_lucid_profiler_takes(l, v, job))
		return ct_lucid_enter(l, v, p, job);
	l->job[job].place = CT_LUCID_WAITS_FOR_PROFILER;
	if (l->profile != CT_LUCID_PROFILE_PARALLEL)
		return 0;
	if (v->host->estimate_us(v->host->ctx, job, CT_ESTIMATE_TRUE, 0, &duration))
		return 1;
	l->job[job].finishes = duration <= l->profile_time;
	return l->job[job].finishes ? 0 : ct_lucid_enter(l, v, p, job);
}

static int look_at_all(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p)
{
	for (size_t i = 0; i < l->n_fresh; i++) {
		uint32_t job = l->fresh[i];
		bool again = job < l->n_jobs && l->job[job].place == CT_LUCID_AGAIN;

		if (ct_view_job(v, job)->state != CT_VIEW_QUEUED)
			continue; /* killed meanwhile */
		if (again ? ct_lucid_enter(l, v, p, job) : look_at(l, v, p, job))
			return 1;
	}
	l->n_fresh = 0;
	return 0;
}

static int pass_all(struct ct_lucid *l, const struct ct_view *v, struct ct_plan *p)
{
	for (uint32_t i = 0; i < l->q.n_parts; i++) {
		const struct ct_queue_part *part = &l->q.part[i];

		if (!part->freed && !part->fresh && !l->part[i].n_hosts)
			continue;
		if (l->packing ? packing_passes(l, v, p, i) : plain_pass(l, v, p, i))
			return 1;
	}
	note_fresh(l, v, p);
	l->q.n_fresh = 0;
	return 0;
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	struct ct_lucid *l = state;
	size_t n_new;

	if (!l->ready && ct_lucid_profiler_reserve(l, p))
		return 1;
	l->ready = 1;
	if (ct_lucid_profiler_end(l, v, p))
		return 1;
	n_new = l->n_fresh;
	if (look_at_all(l, v, p) || ct_lucid_profiler_start(l, v, p))
		return 1;
	for (size_t i = 0; p->keeps_notes && i < n_new; i++)
		ct_lucid_profiler_note(l, v, p, l->fresh[i]);
	update_switch(l, v);
	return pass_all(l, v, p) || ct_lucid_profiler_after(l, v, p) || wake_for_switch(l, v, p);
}

static void fini(void *state)
{
	struct ct_lucid *l = state;

	for (uint32_t i = 0; l->part && i < l->q.n_parts; i++)
		free(l->part[i].host);
	free(l->part);
	free(l->gpus);
	free(l->job);
	free(l->shelf);
	free(l->fresh);
	free(l->forecast.jobs);
	free(l->forecast.gpus);
	ct_tree_pool_fini(&l->trees);
	ct_lucid_profiler_fini(l);
	ct_queueing_fini(&l->q);
}

/* ---- options */

#define AT(field) offsetof(struct ct_lucid, field)
static const struct ct_opt opts[] = {
	{ "pack", CT_OPT_ENUM, AT(pack), "on", 0, 0, "off|on", NULL,
	  "put two jobs on the same GPUs (never with sim.residents=1); off: the head blocks", 0 },
	{ "estimate", CT_OPT_ENUM, AT(q.estimate), "noisy", 0, 0, "true|noisy|column", NULL,
	  "run-time estimates: the truth, with log-normal error, the trace's requested time", 0 },
	/* R2 = 1 - k (x^4 - 2 x + 1), x = exp(sigma^2 / 2), k = 1 + 1 / cv^2 of run times:
	 * 0.41, the authors' figure, at cv = 3.2; a mean error of 50 %, theirs 46.5 %. */
	{ "estimate_sigma", CT_OPT_DOUBLE, AT(q.sigma), "0.56", 0, 10, NULL, NULL,
	  "sigma of that error; 0.56 gives an R2 of about 0.4", 0 },
	{ "capacity", CT_OPT_INT, AT(capacity), "2", 0, 4, NULL, NULL, "largest sum of two sharing scores", 0 },
	{ "pack_gpus", CT_OPT_INT, AT(pack_gpus), "8", 1, 1e6, NULL, "GPUs", "largest job that is packed", 0 },
	{ "time_factor", CT_OPT_DOUBLE, AT(time_factor), "2", 1e-6, 1e9, NULL, "x",
	  "a guest's estimate is at most so many times its host's", 0 },
	{ "memory", CT_OPT_DOUBLE, AT(memory), "0", 0, 4e9, NULL, "MiB",
	  "memory two jobs must stay below together, 0 = the GPU's", 0 },
	{ "score_column", CT_OPT_TEXT, AT(score_column), "", 0, 0, NULL, NULL,
	  "column with sharing scores 0, 1, 2; none: sharescore, label, or by utilisation", 0 },
	{ "score", CT_OPT_INT, AT(default_score), "2", 0, 2, NULL, NULL, "score of jobs of unknown utilisation", 0 },
	{ "utilisation", CT_OPT_ENUM, AT(utilisation), "profile", 0, 0, "trace|profile", NULL,
	  "of jobs without such a column: unknown, or as their calibrated default configuration has it", 0 },
	{ "switch", CT_OPT_ENUM, AT(packing_switch), "always", 0, 0, "always|recent|forecast", NULL,
	  "pack always, or while more jobs arrive: as lately, or by a forecast", 0 },
	{ "switch_jobs", CT_OPT_DOUBLE, AT(switch_jobs), "2", 0, 1e9, NULL, "jobs",
	  "arrivals in ten minutes at and below which packing is off", 0 },
	{ "forecast", CT_OPT_TEXT, AT(forecast_file), "", 0, 0, NULL, NULL,
	  "CSV with pred_gpu_job and pred_gpu_num, ten minutes a row from time 0", CT_OPT_PATH | CT_OPT_NO_DIGEST },
	{ "profile", CT_OPT_ENUM, AT(profile), "serial", 0, 0, "off|serial|parallel", NULL,
	  "new jobs run in the profiler first; parallel: they wait in the queue meanwhile", 0 },
	{ "profiler_nodes", CT_OPT_INT, AT(profiler_nodes), "-1", -1, 1e6, NULL, "nodes",
	  "its nodes, the last of the largest partition; -1: 2 in 135, at least 1, as the authors have it", 0 },
	{ "profiler", CT_OPT_TEXT, AT(profiler), "", 0, 0, NULL, NULL,
	  "takes the profiler's nodes from the head of this partition instead", 0 },
	{ "profile_time", CT_OPT_SECONDS, AT(profile_time), "200", 1e-6, 1e9, NULL, "s", "longest profile run", 0 },
	{ "profile_gpus", CT_OPT_INT, AT(profile_gpus), "8", 0, 1e6, NULL, "GPUs", "largest job that is profiled", 0 },
	{ "spare_nodes", CT_OPT_INT, AT(spare_nodes), "0", 0, 1, NULL, "nodes",
	  "further nodes of that partition while more than 10 jobs wait for it", 0 },
	{ "lender", CT_OPT_TEXT, AT(lender), "", 0, 0, NULL, NULL, "partition that gives an idle node up meanwhile",
	  0 },
	{ "round", CT_OPT_SECONDS, AT(round), "0", 0, 1e9, NULL, "s",
	  "time until jobs that were passed over meet hosts started behind them", 0 },
	{ "later_stays_packed", CT_OPT_BOOL, AT(later_stays_packed), "false", 0, 0, NULL, NULL,
	  "a guest whose host has ended gets no partner again (a defect of the artifact)", 0 },
	{ .name = NULL },
};

static const struct ct_why whys[] = {
	CT_QUEUEING_WHYS,
	{ "profiler", "for the profiler; GPUs wanted there: %a, free: %b", 1 },
	{ "no_host", "no node with %a GPUs idle, and no job on as many with a sharing score of at most %b and room",
	  1 },
	{ "packed", "put beside %j: sharing scores together %a, at most %b allowed", 0 },
	{ .name = NULL },
};

const struct ct_policy ct_policy_lucid = {
	CT_POLICY_HEAD,
	.name = "lucid",
	.summary = "smallest estimated GPU time first, packing jobs that disturb each other little (Lucid)",
	.paper = "Hu et al., Lucid: A Non-intrusive, Scalable and Interpretable Scheduler for Deep Learning Training "
		 "Jobs, ASPLOS 2023",
	.opts = opts,
	.state_size = sizeof(struct ct_lucid),
	.flags = CT_POLICY_ORACLE, /* for estimate=true and profile=parallel */
	.init = init,
	.on_submit = on_submit,
	.on_finish = on_finish,
	.on_change = on_change,
	.schedule = schedule,
	.fini = fini,
	.whys = whys,
};
