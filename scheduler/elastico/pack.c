/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pack.c - bin-packing: jobs onto GPUs, at most two on one. Idle GPUs are taken best fit;
 * beside a resident a job goes where the pair loses least. A gang moves at the pace of
 * its slowest member, so each of its GPUs counts with the largest slow-down.
 *
 * Hosts of the same family, configuration and size are one group: a search costs
 * O(groups), not O(jobs). */
#include "scheduler/elastico/elastico.h"

#include <math.h>

enum { MAX_CANDIDATES = 6 }; /* configurations of a gang that are tried */

/* ---- who stands where */

static void meet(struct ct_elastico *e, const struct ct_view *v, uint32_t job, uint32_t other)
{
	struct ct_elastico_job *j = &e->job[job];
	const struct ct_elastico_family *f = &e->family[j->family], *g = &e->family[e->job[other].family];
	const struct ct_elastico_config *own = &f->config[ct_view_job(v, job)->config],
					*its = &g->config[ct_view_job(v, other)->config];
	double s = ct_iac_slowdown(e, v, own, its);

	if (!j->n_partners || j->partner != other) {
		j->n_partners += j->n_partners < 2;
		j->partner = other;
	}
	j->pace = fmax(j->pace, s);
	j->calm = j->calm && ct_elastico_ready(e, v, other);
	j->beside += (other + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
		     (ct_view_job(v, other)->config + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);
	if (ct_iac_is_measured(e, own, its)) {
		j->known = fmax(j->known, s);
	} else if (j->suspect == CT_NO_JOB || s > j->suspected) {
		j->suspect = other;
		j->suspected = s;
	}
}

static void look_at_gpu(struct ct_elastico *e, const struct ct_view *v, uint32_t gpu)
{
	const struct ct_view_gpu *g = ct_view_gpu(v, gpu);

	for (uint32_t i = 0; i < g->n_residents && i < 2; i++) {
		struct ct_elastico_job *j = &e->job[g->resident[i]];

		if (g->mem_mib < j->least_mem)
			j->least_mem = g->mem_mib;
	}
	if (g->n_residents == 1 && ct_keep_usable(e, gpu))
		e->job[g->resident[0]].n_alone++;
	if (g->n_residents >= 2) {
		meet(e, v, g->resident[0], g->resident[1]);
		meet(e, v, g->resident[1], g->resident[0]);
	}
}

static bool same_group(const struct ct_elastico_hosts *h, const struct ct_elastico_hosts *k)
{
	return h->held == k->held && h->requested == k->requested && h->n_alone == k->n_alone &&
	       h->partition == k->partition && h->type == k->type && h->least_mem == k->least_mem &&
	       h->free == k->free && !(h->pace < k->pace) && !(h->pace > k->pace);
}

/* The type of a job's GPUs; of several types: none that a job could ask for. */
static uint32_t type_of(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	uint32_t n = v->host->gpus_of(v->host->ctx, job, e->gpus, v->n_gpus), type = CT_ANY;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = ct_view_node(v, ct_view_gpu(v, e->gpus[i])->node)->gpu_type;

		if (i && t != type)
			return CT_ANY;
		type = t;
		if (v->n_gpu_types < 2)
			break;
	}
	return type;
}

void ct_pack_add_host(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	struct ct_elastico_job *j = &e->job[job];
	const struct ct_view_job *w = ct_view_job(v, job);
	const struct ct_elastico_family *f = &e->family[j->family];
	uint32_t *head = &e->config_head[f->first + w->config];
	struct ct_elastico_hosts h = { .family = j->family,
				       .config = w->config,
				       .held = w->gpus_held,
				       .requested = w->num_gpus,
				       .n_alone = j->n_alone,
				       .partition = w->partition,
				       .least_mem = j->least_mem,
				       .pace = j->pace,
				       .first = job,
				       .last = job };

	j->group = CT_ANY;
	if (v->max_residents < 2 || !j->n_alone || e->n_hosts == e->cap_hosts)
		return;
	h.type = type_of(e, v, job);
	h.free =
	    j->n_alone == w->gpus_held && ct_elastico_ready(e, v, job) && ct_elastico_due(e, j->changed_us + e->hold);
	j->next_host = CT_NO_JOB;
	for (uint32_t i = *head; i != CT_ANY; i = e->hosts[i].next) {
		struct ct_elastico_hosts *k = &e->hosts[i];

		if (!same_group(&h, k))
			continue;
		j->group = i;
		if (k->first == CT_NO_JOB)
			k->first = job;
		else
			e->job[k->last].next_host = job;
		k->last = job;
		return;
	}
	h.share = ct_rst_share(f, h.held, h.requested);
	h.next = *head;
	j->group = *head = e->n_hosts;
	e->hosts[e->n_hosts++] = h;
}

/* Hosts are taken from the heads of their groups. */
void ct_pack_remove_host(struct ct_elastico *e, uint32_t job)
{
	struct ct_elastico_hosts *h;
	uint32_t *at, before = CT_NO_JOB;

	if (e->job[job].group == CT_ANY) /* it hosts nobody */
		return;
	h = &e->hosts[e->job[job].group];
	at = &h->first;
	while (*at != CT_NO_JOB && *at != job) {
		before = *at;
		at = &e->job[*at].next_host;
	}
	if (*at == CT_NO_JOB)
		return;
	*at = e->job[job].next_host;
	if (h->last == job)
		h->last = before;
}

void ct_pack_scan(struct ct_elastico *e, const struct ct_view *v)
{
	for (uint32_t i = 0; i < e->n_hosts; i++)
		e->config_head[e->family[e->hosts[i].family].first + e->hosts[i].config] = CT_ANY;
	e->n_hosts = e->n_shared = 0;
	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		struct ct_elastico_job *j = &e->job[job];

		j->n_alone = j->n_partners = 0;
		j->group = CT_ANY;
		j->partner = j->suspect = CT_NO_JOB;
		j->least_mem = UINT32_MAX;
		j->pace = j->known = j->suspected = 1;
		j->calm = true;
		j->beside = 0;
	}
	for (uint32_t gpu = 0; gpu < v->n_gpus; gpu++)
		if (ct_view_gpu(v, gpu)->n_residents && ct_view_gpu(v, gpu)->n_residents != CT_VIEW_GPU_DOWN)
			look_at_gpu(e, v, gpu);
	for (uint32_t job = v->running_first; job != CT_NO_JOB; job = ct_view_job(v, job)->next) {
		if (e->job[job].n_partners)
			e->shared[e->n_shared++] = job;
		else
			e->job[job].window_us = -1;
		ct_pack_add_host(e, v, job);
	}
}

/* ---- idle GPUs */

static bool suits(uint32_t partition, uint32_t type, uint32_t of_partition, uint32_t of_type)
{
	return partition == of_partition && (type == CT_ANY || type == of_type);
}

static uint32_t idle_on(const struct ct_elastico *e, const struct ct_view *v, uint32_t node)
{
	const struct ct_view_node *n = ct_view_node(v, node);
	bool held_back = e->profiler_gpu != CT_ANY && ct_view_gpu(v, e->profiler_gpu)->node == node &&
			 !ct_view_gpu(v, e->profiler_gpu)->n_residents;

	uint32_t kept = held_back + ct_keep_idle_on(e, v, node);

	if (!n->up || n->reserved)
		return 0;
	return n->idle_gpus > kept ? n->idle_gpus - kept : 0;
}

uint32_t ct_pack_idle(const struct ct_elastico *e, const struct ct_view *v, uint32_t partition, uint32_t type)
{
	uint32_t idle = 0;

	for (uint32_t i = 0; i < v->n_groups; i++) {
		const struct ct_view_group *g = ct_view_group(v, i);

		if (suits(partition, type, g->partition, g->gpu_type))
			idle += g->idle_gpus;
	}
	if (idle && e->profiler_gpu != CT_ANY) {
		const struct ct_view_node *n = ct_view_node(v, ct_view_gpu(v, e->profiler_gpu)->node);

		idle -= n->up && !n->reserved && !ct_view_gpu(v, e->profiler_gpu)->n_residents &&
			suits(partition, type, n->partition, n->gpu_type);
	}
	for (uint32_t i = 0; i < v->n_nodes && idle && e->n_kept && !e->open; i++) {
		const struct ct_view_node *n = ct_view_node(v, i);

		if (n->up && !n->reserved && suits(partition, type, n->partition, n->gpu_type))
			idle -= ct_keep_idle_on(e, v, i);
	}
	return idle;
}

/* GPUs of a node that can have their share of `need`, for all `n` GPUs of a job: the
 * largest k with ceil(need * k / n) <= free. */
static uint32_t affordable(uint32_t free, uint32_t need, uint32_t n)
{
	uint64_t k;

	if (!need || free == UINT32_MAX)
		return UINT32_MAX;
	k = (uint64_t)free * n / need;
	return k < UINT32_MAX ? (uint32_t)k : UINT32_MAX;
}

/* GPUs' worth of CPU and host memory that a node has left for a job of `n` GPUs. */
static uint32_t host_room(const struct ct_elastico *e, const struct ct_view *v, uint32_t node,
			  const struct ct_elastico_config *c, uint32_t n)
{
	const struct ct_view_node *at = ct_view_node(v, node);
	uint32_t cpu, mem;

	if (!e->hosts_modelled)
		return UINT32_MAX;
	cpu = affordable(at->free_cpu_milli, c->cpu_milli, n);
	mem = affordable(at->free_mem_mib, c->ram_mib, n);
	return cpu < mem ? cpu : mem;
}

static void take_idle(struct ct_elastico *e, const struct ct_view *v, uint32_t node, uint32_t want, uint32_t at)
{
	const struct ct_view_node *n = ct_view_node(v, node);

	for (uint32_t i = 0; i < n->n_gpus && want; i++) {
		uint32_t gpu = n->first_gpu + i;

		if (ct_view_gpu(v, gpu)->n_residents || !ct_keep_usable(e, gpu))
			continue;
		e->found[at++] = gpu;
		want--;
	}
}

/* Best fit on one node; else the emptiest nodes, the last one best fit. */
static bool find_idle(struct ct_elastico *e, const struct ct_view *v, uint32_t job, const struct ct_elastico_config *c,
		      uint32_t want, uint32_t total, uint32_t at)
{
	const struct ct_view_job *j = ct_view_job(v, job);

	e->node_stamp++;
	while (want) {
		uint32_t best = CT_ANY, most = 0;

		for (uint32_t i = 0; i < v->n_nodes; i++) {
			const struct ct_view_node *n = ct_view_node(v, i);
			uint32_t idle = idle_on(e, v, i), room;

			if (!idle || e->node_mark[i] == e->node_stamp ||
			    !suits(j->partition, j->gpu_type, n->partition, n->gpu_type) ||
			    c->mem_mib > ct_view_gpu(v, n->first_gpu)->mem_mib)
				continue;
			room = host_room(e, v, i, c, total);
			if (room < idle)
				idle = room;
			if (!idle)
				continue;
			if (best == CT_ANY || (most < want ? idle > most : idle >= want && idle < most)) {
				best = i;
				most = idle;
			}
		}
		if (best == CT_ANY)
			return false;
		e->node_mark[best] = e->node_stamp;
		if (most > want)
			most = want;
		take_idle(e, v, best, most, at);
		at += most;
		want -= most;
	}
	return true;
}

bool ct_pack_find_idle(struct ct_elastico *e, const struct ct_view *v, uint32_t job, uint32_t config, uint32_t want,
		       uint32_t total, uint32_t at)
{
	const struct ct_view_job *j = ct_view_job(v, job);

	if (ct_pack_idle(e, v, j->partition, j->gpu_type) < want)
		return false;
	return find_idle(e, v, job, &e->family[e->job[job].family].config[config], want, total, at);
}

/* ---- beside residents */

struct search {
	struct ct_elastico *e;
	const struct ct_view *v;
	uint32_t job, want, idle; /* idle: GPUs without a resident that it may take as well */
	const struct ct_elastico_family *f;
	uint32_t family, partition, type, requested;
	double share, least;
	bool memory, tolerance; /* failures met */
	double met_slowdown, met_tau;
	struct ct_elastico_place best;
};

static uint32_t room_of(const struct search *s, const struct ct_elastico_hosts *h)
{
	return h->least_mem == UINT32_MAX             ? UINT32_MAX
	       : h->least_mem > s->v->gpu_reserve_mib ? h->least_mem - s->v->gpu_reserve_mib
						      : 0;
}

static void note_failure(struct search *s, const struct ct_elastico_hosts *h, uint32_t config, const struct ct_pair *p)
{
	double tau;

	if (!p->fits) {
		s->memory = true;
		return;
	}
	tau = ct_iac_tau_of(s->e, s->v, s->f, config, s->share);
	if (p->self <= tau)
		tau = ct_iac_tau_of(s->e, s->v, &s->e->family[h->family], h->config, h->share);
	s->tolerance = true;
	s->met_tau = tau;
	s->met_slowdown = fmax(p->self, p->other);
}

/* A host that is reconfigured may not ask its nodes for more: nobody looked. */
static bool no_more_of_host(const struct ct_elastico *e, const struct ct_elastico_family *f, uint32_t from, uint32_t to)
{
	return !e->hosts_modelled || (f->config[to].cpu_milli <= f->config[from].cpu_milli &&
				      f->config[to].ram_mib <= f->config[from].ram_mib);
}

/* What a host of the group would change to beside that configuration; its own: nothing. */
static uint32_t reply_of(const struct search *s, const struct ct_elastico_hosts *h, uint32_t config)
{
	struct ct_elastico *e = s->e;
	const struct ct_pair_choice *r;

	if (e->by_price)
		return ct_esp_choose(&e->family[h->family], e->job[h->first].weight, e->price, h->config,
				     e->switch_cost);
	r = ct_iac_reply(e, s->v, s->family, config, h->family);
	return r->value < 0 ? h->config : r->other;
}

/* What the group offers a newcomer in `config`. */
static bool offer(struct search *s, struct ct_elastico_hosts *h, uint32_t config)
{
	struct ct_elastico *e = s->e;
	const struct ct_elastico_family *g = &e->family[h->family];
	uint32_t room = room_of(s, h);
	struct ct_pair p = ct_iac_pair(e, s->v, s->f, config, s->share, g, h->config, h->share, room);
	double value = h->requested * h->share;

	h->usable = false;
	h->reply = h->config;
	if (!p.fits || !p.content) {
		uint32_t reply;

		note_failure(s, h, config, &p);
		if (!h->free || !e->pds || !e->reshape_hosts ||
		    e->lenient) /* replies are kept, and respect tolerances */
			return false;
		reply = reply_of(s, h, config);
		if (reply == h->config || !no_more_of_host(e, g, h->config, reply))
			return false;
		p = ct_iac_pair(e, s->v, s->f, config, s->share, g, reply, h->share, room);
		if (!p.fits || !p.content)
			return false;
		h->reply = reply;
	}
	h->self = p.self;
	h->other = p.other;
	h->loss = value * (g->config[h->config].perf / h->pace - g->config[h->reply].perf / fmax(h->pace, p.other));
	h->usable = true;
	return true;
}

static bool in_reach(const struct search *s, const struct ct_elastico_hosts *h)
{
	return h->first != CT_NO_JOB && suits(s->partition, s->type, h->partition, h->type);
}

/* The GPUs on which a host is alone: e->found[at ..], at most `want`. */
static uint32_t take_host(struct search *s, uint32_t host, uint32_t want, uint32_t at)
{
	struct ct_elastico *e = s->e;
	uint32_t n = s->v->host->gpus_of(s->v->host->ctx, host, e->gpus, s->v->n_gpus), got = 0;

	for (uint32_t i = 0; i < n && got < want; i++)
		if (ct_view_gpu(s->v, e->gpus[i])->n_residents == 1 && ct_keep_usable(e, e->gpus[i]))
			e->found[at + got++] = e->gpus[i];
	return got;
}

/* CPU and host memory of the nodes in e->found[0 .. n). Conservative: whole GPUs' parts,
 * and nothing counted that reconfigured hosts would give back. */
static bool hosts_have_room(struct search *s, uint32_t config, uint32_t n)
{
	struct ct_elastico *e = s->e;

	if (!e->hosts_modelled)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = ct_view_gpu(s->v, e->found[i])->node, there = 0;

		for (uint32_t k = 0; k < n; k++)
			there += ct_view_gpu(s->v, e->found[k])->node == node;
		if (there > host_room(e, s->v, node, &s->f->config[config], n))
			return false;
	}
	return true;
}

/* Takes the cheapest usable hosts with a slow-down of at most `pace`; true when they are
 * enough. `commit`: writes e->found and the hosts. */
static bool gather(struct search *s, uint32_t config, double pace, struct ct_elastico_place *out, bool commit)
{
	struct ct_elastico *e = s->e;
	uint32_t left = s->want - s->idle, at = s->idle;
	double worst = 1, loss = 0, other = 1;

	out->n_hosts = 0;
	for (uint32_t i = 0; i < e->n_hosts; i++)
		e->hosts[i].taken = false;
	while (left) {
		struct ct_elastico_hosts *best = NULL;
		double least = INFINITY;

		for (uint32_t i = 0; i < e->n_hosts; i++) {
			struct ct_elastico_hosts *h = &e->hosts[i];
			double each;

			if (!h->usable || h->taken || h->self > pace)
				continue;
			each = h->loss / (h->n_alone < left ? h->n_alone : left);
			if (each < least) {
				least = each;
				best = h;
			}
		}
		if (!best)
			return false;
		best->taken = true;
		worst = fmax(worst, best->self);
		other = fmax(other, best->other);
		for (uint32_t job = best->first; job != CT_NO_JOB && left; job = e->job[job].next_host) {
			uint32_t n = best->n_alone < left ? best->n_alone : left;

			loss += best->loss;
			if (commit) {
				e->host_job[out->n_hosts] = job;
				e->host_config[out->n_hosts] = best->reply;
				take_host(s, job, n, at);
			}
			out->n_hosts++;
			at += n;
			left -= n;
		}
	}
	out->config = config;
	out->n = s->want;
	out->self = worst;
	out->other = other;
	out->shared = true;
	out->gain = s->requested * s->share * s->f->config[config].perf / worst - loss;
	return true;
}

static void consider(struct search *s, uint32_t config, double pace)
{
	struct ct_elastico_place p = { 0 };

	if (!gather(s, config, pace, &p, false) || p.gain < s->least * s->want)
		return;
	if (s->best.found && p.gain <= s->best.gain)
		return;
	p.found = true;
	p.pace = pace;
	s->best = p;
}

/* Pairs fit and none is tolerated: the numbers of one of them, of the first host met. */
static void note_intolerable(struct search *s, const struct ct_elastico_hosts *h)
{
	const struct ct_elastico_family *g = &s->e->family[h->family];

	for (uint32_t i = 0; i < s->f->n_front && !s->tolerance; i++)
		for (uint32_t k = 0; k <= g->n_front; k++) {
			uint32_t c = s->f->front[i], other = k ? g->front[k - 1] : h->config;
			struct ct_pair p =
			    ct_iac_pair(s->e, s->v, s->f, c, s->share, g, other, h->share, room_of(s, h));

			if (!p.fits)
				continue;
			note_failure(s, h, c, &p);
			break;
		}
	s->tolerance = true;
}

/* A newcomer's configuration beside that host; CT_ANY: there is none. */
static uint32_t beside(struct search *s, const struct ct_elastico_hosts *h)
{
	struct ct_elastico *e = s->e;
	const struct ct_pair_choice *c;
	double score;

	if (e->by_price)
		return ct_esp_best(s->f, e->job[s->job].weight, e->price, &score);
	c = ct_iac_fixed(e, s->v, s->family, h->family, h->config);
	if (c->value < 0 && h->free && e->pds && e->reshape_hosts)
		c = ct_iac_joint(e, s->v, s->family, h->family);
	if (c->value >= 0)
		return c->self;
	if (c->fits)
		note_intolerable(s, h);
	else
		s->memory = true;
	return CT_ANY;
}

/* The configurations that suit some host best. */
static uint32_t candidates(struct search *s, uint32_t *config)
{
	struct ct_elastico *e = s->e;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_hosts && n < MAX_CANDIDATES; i++) {
		struct ct_elastico_hosts *h = &e->hosts[i];
		uint32_t k = 0, c;

		if (!in_reach(s, h))
			continue;
		c = beside(s, h);
		if (c == CT_ANY)
			continue;
		while (k < n && config[k] != c)
			k++;
		if (k == n)
			config[n++] = c;
	}
	return n;
}

static void try_config(struct search *s, uint32_t config)
{
	static const double pace[] = { 1.15, 1.4, INFINITY };
	struct ct_elastico *e = s->e;

	for (uint32_t i = 0; i < e->n_hosts; i++)
		e->hosts[i].usable = in_reach(s, &e->hosts[i]) && offer(s, &e->hosts[i], config);
	for (size_t i = s->want > 1 ? 0 : 2; i < sizeof pace / sizeof *pace; i++)
		consider(s, config, pace[i]);
}

/* One GPU: the best pair there is. */
static void find_single(struct search *s)
{
	struct ct_elastico *e = s->e;
	uint32_t best = CT_ANY, config = 0;
	double most = -INFINITY;

	for (uint32_t i = 0; i < e->n_hosts; i++) {
		struct ct_elastico_hosts *h = &e->hosts[i];
		double gain;
		uint32_t c;

		if (!in_reach(s, h))
			continue;
		c = beside(s, h);
		if (c == CT_ANY || !offer(s, h, c))
			continue;
		gain = s->requested * s->share * s->f->config[c].perf / h->self - h->loss;
		if (gain > most) {
			most = gain;
			best = i;
			config = c;
		}
	}
	for (uint32_t i = 0; i < e->n_hosts; i++)
		e->hosts[i].usable = i == best;
	if (best != CT_ANY && offer(s, &e->hosts[best], config))
		consider(s, config, INFINITY);
}

static void first_host(struct search *s, uint32_t config)
{
	for (uint32_t i = 0; i < s->e->n_hosts; i++) {
		struct ct_elastico_hosts *h = &s->e->hosts[i];

		h->usable = in_reach(s, h) && offer(s, h, config);
		h->loss = (double)h->first * 1e-9; /* the first one wins */
	}
	consider(s, config, INFINITY);
}

/* Greedy: the fastest configuration that the hosts take, in order of start. */
static void find_first(struct search *s)
{
	const struct ct_elastico_family *f = s->f;
	double below = INFINITY, score;

	if (s->e->by_price) {
		first_host(s, ct_esp_best(f, s->e->job[s->job].weight, s->e->price, &score));
		return;
	}
	while (!s->best.found) {
		uint32_t next = CT_ANY;

		for (uint32_t i = 0; i < f->n_front; i++) {
			double t = f->config[f->front[i]].throughput;

			if (t < below && (next == CT_ANY || t > f->config[next].throughput))
				next = f->front[i];
		}
		if (next == CT_ANY)
			return;
		below = f->config[next].throughput;
		first_host(s, next);
	}
}

/* Algorithm 1 to the letter: after the rounds what still violates a tolerance is applied,
 * here where it costs least, the fastest configuration first. */
static void find_violating(struct search *s)
{
	struct ct_elastico *e = s->e;
	uint32_t best = s->f->front[0];

	for (uint32_t i = 1; i < s->f->n_front; i++)
		if (s->f->config[s->f->front[i]].throughput > s->f->config[best].throughput)
			best = s->f->front[i];
	e->lenient = true;
	s->least = -INFINITY;
	try_config(s, best);
	for (uint32_t i = 0; i < s->f->n_front && !s->best.found; i++)
		if (s->f->front[i] != best)
			try_config(s, s->f->front[i]);
}

struct ct_elastico_place ct_pack_find_shared(struct ct_elastico *e, const struct ct_view *v, uint32_t job,
					     uint32_t want, double least)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	struct search s = { .e = e,
			    .v = v,
			    .job = job,
			    .want = want,
			    .family = e->job[job].family,
			    .f = &e->family[e->job[job].family],
			    .partition = j->partition,
			    .type = j->gpu_type,
			    .requested = j->num_gpus,
			    .least = e->matching && e->iac ? least : -INFINITY };
	uint32_t config[MAX_CANDIDATES], n;

	s.share = ct_rst_share(s.f, want, j->num_gpus);
	s.idle = want > 1 ? ct_pack_idle(e, v, j->partition, j->gpu_type) : 0;
	if (s.idle >= want)
		s.idle = want - 1;
	if (!e->matching) {
		find_first(&s);
	} else if (want == 1) {
		find_single(&s);
	} else {
		n = candidates(&s, config);
		for (uint32_t i = 0; i < n; i++)
			try_config(&s, config[i]);
	}
	if (!s.best.found && s.tolerance && e->violations)
		find_violating(&s);
	if (s.best.found) {
		struct ct_elastico_place p = s.best;

		for (uint32_t i = 0; i < e->n_hosts; i++)
			e->hosts[i].usable = in_reach(&s, &e->hosts[i]) && offer(&s, &e->hosts[i], p.config);
		if (!e->matching)
			for (uint32_t i = 0; i < e->n_hosts; i++)
				e->hosts[i].loss = (double)e->hosts[i].first * 1e-9;
		p.found = gather(&s, p.config, s.best.pace, &p, true) &&
			  (!s.idle || find_idle(e, v, job, &s.f->config[p.config], s.idle, want, 0)) &&
			  hosts_have_room(&s, p.config, want);
		p.gain = s.best.gain;
		e->lenient = false;
		if (p.found)
			return p;
	}
	e->lenient = false;
	s.best = (struct ct_elastico_place){ .why = CT_WHY_NO_GANG, .a = want };
	s.best.b = ct_pack_idle(e, v, j->partition, j->gpu_type);
	if (s.tolerance) {
		s.best.why = CT_WHY_TOLERANCE;
		s.best.a = s.met_slowdown;
		s.best.b = s.met_tau;
	} else if (s.memory) {
		s.best.why = CT_WHY_NO_MEMORY;
		s.best.a = e->family[s.family].config[e->family[s.family].fastest].mem_mib;
		s.best.b = e->shared_mem_mib;
	}
	return s.best;
}

/* ---- a place for a job of the queue */

/* Alone on `want` idle GPUs, in the configuration that prices choose. */
static struct ct_elastico_place find_alone(struct ct_elastico *e, const struct ct_view *v, uint32_t job, uint32_t want)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	uint32_t family = e->job[job].family, config = ct_pds_choice(e, job);
	const struct ct_elastico_family *f = &e->family[family];
	struct ct_elastico_place p = { .why = CT_WHY_NO_GANG };
	double share = ct_rst_share(f, want, j->num_gpus);

	if (config == CT_ELASTICO_WAIT)
		config = f->fastest;
	if (want < j->num_gpus && !ct_rst_reaches(f, config, share, v->attain_floor))
		config = f->fastest;
	if (want < j->num_gpus && !ct_rst_reaches(f, config, share, v->attain_floor))
		return p;
	if (!ct_pack_find_idle(e, v, job, config, want, want, 0))
		return p;
	p.found = true;
	p.config = config;
	p.n = want;
	p.self = p.other = 1;
	p.gain = j->num_gpus * share * f->config[config].perf;
	return p;
}

struct ct_elastico_place ct_pack_find(struct ct_elastico *e, const struct ct_view *v, uint32_t job, double least)
{
	const struct ct_view_job *j = ct_view_job(v, job);
	uint32_t idle = ct_pack_idle(e, v, j->partition, j->gpu_type),
		 fewest = e->elastic && e->rst ? j->min_gpus : j->num_gpus;
	struct ct_elastico_place alone = find_alone(e, v, job, j->num_gpus), shared, few = { 0 };
	bool tried;

	if (alone.found)
		return alone;
	if (fewest < 1)
		fewest = 1;
	shared = ct_pack_find_shared(e, v, job, j->num_gpus, least);
	tried = idle && idle >= fewest && idle < j->num_gpus;
	if (tried)
		few = find_alone(e, v, job, idle);
	if (few.found && (!shared.found || few.gain >= shared.gain))
		return few;
	if (shared.found && tried) /* the search for few overwrote the list, also where it failed half way */
		shared = ct_pack_find_shared(e, v, job, j->num_gpus, least);
	for (uint32_t k = j->num_gpus / 2; !shared.found && k >= fewest; k /= 2) {
		struct ct_elastico_place p = ct_pack_find_shared(e, v, job, k, least);

		if (p.found)
			shared = p;
	}
	return shared;
}
