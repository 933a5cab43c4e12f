/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elastico.c - options, callbacks and the epoch.
 *
 * An epoch decides from the state of queue and cluster, the prices it began with, the
 * measured slow-downs and the tolerance; what depends on the clock asks
 * ct_elastico_due(). So while nothing happens and nothing falls due an epoch would decide
 * what the last one did, which was nothing: it is skipped, unless every_epoch asks for
 * it. Prices start from those of the epoch before the last change for the same reason. */
#include "scheduler/elastico/elastico.h"
#include "scheduler/builtin.h"
#include "sim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct ct_why ct_elastico_whys[] = {
	[CT_WHY_NO_MEMORY] = { "memory", "no memory beside any resident: wants %a MiB at its fastest, two have %b", 1 },
	[CT_WHY_NO_GANG] = { "gang", "no GPUs for its gang: wants %a, %b idle", 1 },
	[CT_WHY_PRICE] = { "price", "any configuration costs more than waiting (memory at %a, SMs at %b)", 1 },
	[CT_WHY_TOLERANCE] = { "tolerance", "every place would slow somebody down %a-fold, %b is tolerated", 1 },
	[CT_WHY_GAIN] = { "gain", "no place whose residents lose less than it gains", 1 },
	[CT_WHY_HORIZON] = { "horizon", "behind the first %a of %b waiting jobs", 1 },
	[CT_WHY_ALONE] = { "alone", "placed alone on %a of %b GPUs", 0 },
	[CT_WHY_BESIDE] = { "beside", "placed beside %j: slow-down %a, of its host %b", 0 },
	[CT_WHY_FEWER] = { "fewer", "placed on %a of %b GPUs, as no more are idle", 0 },
	[CT_WHY_MADE_ROOM] = { "made_room", "reconfigured to take %j in: slow-down %a, of the newcomer %b", 0 },
	[CT_WHY_PRICE_SWITCH] = { "price_switch", "reconfigured as prices allow it: %a to %b", 0 },
	[CT_WHY_INTERFERENCE] = { "interference", "reconfigured beside %j: slow-down %a to %b", 0 },
	[CT_WHY_MOVED] = { "moved", "moved beside %j: slow-down %a to %b", 0 },
	[CT_WHY_SPREAD] = { "spread", "moved away from %j to idle GPUs: slow-down %a to %b", 0 },
	[CT_WHY_EXPANDED] = { "expanded", "grown from %a to %b GPUs", 0 },
	[CT_WHY_MEASURED] = { "measured", "measured slow-down %a beside %j, %b is tolerated", 0 },
	[CT_WHY_SEPARATED] = { "separated", "parted from %j: slow-downs %a, %b", 0 },
	[CT_WHY_KEPT] = { "kept", "%a GPUs are kept for it, as it has waited for %b s", 0 },
	[CT_WHYS] = { NULL, NULL, 0 },
};

static const char *const components[] = { "esp", "iac", "pack", "pds", NULL };

/* ---- time */

bool ct_elastico_due(struct ct_elastico *e, ct_time t)
{
	if (t <= e->now)
		return true;
	if (t < e->next_due)
		e->next_due = t;
	return false;
}

bool ct_elastico_ready(struct ct_elastico *e, const struct ct_view *v, uint32_t job)
{
	if (!ct_elastico_due(e, e->job[job].ready_us))
		return false;
	if (ct_view_job(v, job)->state == CT_VIEW_RUNNING)
		return true;
	ct_elastico_due(e, e->now + 1); /* a transition took longer than its price */
	return false;
}

/* ---- the machine */

static void look_at_machine(struct ct_elastico *e, const struct ct_view *v)
{
	e->gpu_mem_mib = 0;
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct ct_view_node *n = ct_view_node(v, i);
		uint32_t mem;

		if (!n->n_gpus)
			continue;
		mem = ct_view_gpu(v, n->first_gpu)->mem_mib;
		e->uneven |= e->gpu_mem_mib && mem != e->gpu_mem_mib;
		e->gpu_mem_mib = mem > e->gpu_mem_mib ? mem : e->gpu_mem_mib;
		if (n->free_cpu_milli != UINT32_MAX)
			e->gpu_cpu_milli = fmax(e->gpu_cpu_milli, (double)n->free_cpu_milli / n->n_gpus);
		if (n->free_mem_mib != UINT32_MAX)
			e->gpu_ram_mib = fmax(e->gpu_ram_mib, (double)n->free_mem_mib / n->n_gpus);
	}
	e->hosts_modelled = e->gpu_cpu_milli > 0 || e->gpu_ram_mib > 0;
	e->uneven |= e->hosts_modelled || v->n_gpu_types > 1;
	e->shared_mem_mib = e->gpu_mem_mib == UINT32_MAX          ? UINT32_MAX
			    : e->gpu_mem_mib > v->gpu_reserve_mib ? e->gpu_mem_mib - v->gpu_reserve_mib
								  : 0;
	e->profiler_gpu = e->inside && e->cache_hit < 1 && v->n_gpus > 1 ? v->n_gpus - 1 : CT_ANY;
}

static void count_gpus(struct ct_elastico *e, const struct ct_view *v)
{
	e->n_gpus_up = 0;
	for (uint32_t i = 0; i < v->n_groups; i++)
		e->n_gpus_up += ct_view_group(v, i)->n_gpus;
	e->n_gpus_up -= e->profiler_gpu != CT_ANY && e->n_gpus_up > 0;
}

/* ---- callbacks */

static int init(void *state, const struct ct_view *v)
{
	struct ct_elastico *e = state;
	size_t n = v->n_gpus;

	look_at_machine(e, v);
	e->prices &= e->esp;
	e->matching &= e->esp;
	e->passes &= e->esp;
	e->reshape_hosts &= e->esp;
	e->version = 1;
	e->tau = -1;
	e->utilisation = e->target;
	e->util_next = e->util_window;
	e->wake_us = -1;
	e->cap_hosts = (uint32_t)(6 * n + 64);
	e->hosts = v->host->alloc(v->host->ctx, e->cap_hosts * sizeof *e->hosts);
	e->gpus = v->host->alloc(v->host->ctx, (n + 1) * sizeof *e->gpus);
	e->found = v->host->alloc(v->host->ctx, (n + 1) * sizeof *e->found);
	e->host_job = v->host->alloc(v->host->ctx, (n + 1) * sizeof *e->host_job);
	e->host_config = v->host->alloc(v->host->ctx, (n + 1) * sizeof *e->host_config);
	e->node_mark = v->host->alloc(v->host->ctx, (v->n_nodes + 1) * sizeof *e->node_mark);
	e->kept = v->host->alloc(v->host->ctx, (n + 1) * sizeof *e->kept);
	e->kept_for = CT_NO_JOB;
	e->shared = v->host->alloc(v->host->ctx, (2 * n + 1) * sizeof *e->shared);
	if (e->profile_max < e->profile_min)
		return v->host->fail(v->host->ctx, "'policy.profile_max' is less than 'policy.profile_min'");
	if (e->rounds > CT_ELASTICO_ROUNDS)
		return v->host->fail(v->host->ctx, "'policy.rounds' is too large");
	return 0;
}

static uint32_t class_of(struct ct_elastico *e, const struct ct_view_job *j, uint32_t family)
{
	struct ct_elastico_class k = { .family = family,
				       .gpus = j->num_gpus,
				       .least = j->min_gpus,
				       .partition = j->partition,
				       .type = j->gpu_type };

	for (uint32_t i = 0; i < e->n_classes; i++) {
		const struct ct_elastico_class *c = &e->class[i];

		if (c->family == k.family && c->gpus == k.gpus && c->least == k.least && c->partition == k.partition &&
		    c->type == k.type)
			return i;
	}
	CT_GROW(e->class, e->cap_classes, e->n_classes + 1);
	e->class[e->n_classes] = k;
	return (uint32_t)e->n_classes++;
}

static void on_submit(void *state, const struct ct_view *v, uint32_t job)
{
	struct ct_elastico *e = state;
	struct ct_elastico_job *j;

	CT_GROW(e->job, e->cap_jobs, (size_t)job + 1);
	while (e->n_jobs <= job)
		e->job[e->n_jobs++] = (struct ct_elastico_job){ .window_us = -1, .profile_us = -1, .weight = 1 };
	j = &e->job[job];
	e->now = v->now_us;
	ct_rst_submit(e, v, job);
	j->class = class_of(e, ct_view_job(v, job), j->family);
	if (j->profile_us >= 0) {
		j->next_class = class_of(e, ct_view_job(v, job), j->next_family);
		CT_GROW(e->profiling, e->cap_profiling, e->n_profiling + 1);
		e->profiling[e->n_profiling++] = job;
	}
	e->dirty = true;
	e->n_active++;
	if (!e->weighted)
		return;
	CT_GROW(e->group, e->cap_group, e->n_active);
	CT_GROW(e->left, e->cap_left, e->n_active + 1);
	CT_GROW(e->gpus_of_group, e->cap_gpus_of_group, e->n_active);
}

static void on_finish(void *state, const struct ct_view *v, uint32_t job)
{
	struct ct_elastico *e = state;

	(void)v;
	(void)job;
	e->n_active--;
	e->dirty = true;
}

static void on_change(void *state, const struct ct_view *v, uint32_t job)
{
	struct ct_elastico *e = state;

	if (job != CT_NO_JOB)
		e->job[job].window_us = -1;
	(void)v;
	e->dirty = true;
}

/* Profiles come in in order of arrival. */
static void collect_profiles(struct ct_elastico *e)
{
	while (e->first_profiling < e->n_profiling && ct_rst_collect(e, e->profiling[e->first_profiling])) {
		e->first_profiling++;
		e->dirty = true;
	}
}

static int wake(struct ct_elastico *e, const struct ct_view *v, struct ct_plan *p, ct_time t)
{
	if (v->running_first == CT_NO_JOB && v->queue_first == CT_NO_JOB)
		return 0;
	if (t == INT64_MAX || (e->wake_us > v->now_us && e->wake_us <= t))
		return 0;
	e->wake_us = t;
	return p->wake(p, t);
}

static int schedule(void *state, const struct ct_view *v, struct ct_plan *p)
{
	struct ct_elastico *e = state;
	uint32_t version;

	e->now = v->now_us;
	if (!e->every_epoch && !e->dirty && e->now < e->next_due)
		return wake(e, v, p, e->next_due);
	e->next_due = INT64_MAX;
	e->n_epochs++;
	count_gpus(e, v);
	collect_profiles(e);
	ct_iac_update(e, v);
	if (ct_weights_update(e, v))
		return 1;
	ct_keep_update(e, v, p);
	p->lap(p, CT_LAP_PDS);
	ct_pack_scan(e, v);
	p->lap(p, CT_LAP_PACK);
	version = e->version;
	ct_adapt_measure(e, v, p);
	p->lap(p, CT_LAP_IAC);
	if (e->dirty)
		memcpy(e->start_price, e->price, sizeof e->price);
	e->acted = false;
	ct_pds_rounds(e, v, p);
	if (ct_admit(e, v, p))
		return 1;
	p->lap(p, CT_LAP_PACK);
	if (ct_adapt(e, v, p))
		return 1;
	p->lap(p, CT_LAP_PDS);
	/* What was measured now is seen by all from the next epoch on. */
	e->dirty = e->acted || e->version != version;
	return wake(e, v, p, e->every_epoch || e->dirty ? e->now + e->epoch : e->next_due);
}

static void fini(void *state)
{
	struct ct_elastico *e = state;

	ct_iac_fini(e);
	free(e->family);
	free(e->family_of);
	free(e->config_head);
	free(e->config_gpus);
	free(e->pending_gpus);
	free(e->pending_choice);
	free(e->group);
	free(e->left);
	free(e->gpus_of_group);
	free(e->class);
	free(e->job);
	free(e->profiling);
}

/* ---- options */

#define AT(field) offsetof(struct ct_elastico, field)
static const struct ct_opt opts[] = {
	{ "rst", CT_OPT_BOOL, AT(rst), "true", 0, 0, NULL, NULL,
	  "jobs may run in other configurations than their default", 0 },
	{ "esp", CT_OPT_BOOL, AT(esp), "true", 0, 0, NULL, NULL,
	  "prices choose configurations; false: greedy first fit", 0 },
	{ "prices", CT_OPT_BOOL, AT(prices), "true", 0, 0, NULL, NULL,
	  "part of esp: equations 6 to 8; false: prices are 0, so the fastest configuration is chosen", 0 },
	{ "matching", CT_OPT_BOOL, AT(matching), "true", 0, 0, NULL, NULL,
	  "part of esp: the pair that loses least; false: the first host that takes the job", 0 },
	{ "passes", CT_OPT_BOOL, AT(passes), "true", 0, 0, NULL, NULL,
	  "part of esp: places with little loss are given away first; false: one pass over the queue", 0 },
	{ "reshape_hosts", CT_OPT_BOOL, AT(reshape_hosts), "true", 0, 0, NULL, NULL,
	  "part of esp: jobs that run are reconfigured to let others in", 0 },
	{ "bidders", CT_OPT_ENUM, AT(bidders), "room", 0, 0, "room|running|queue", NULL,
	  "who bids beside running jobs: waiting ones while two on each GPU would hold all; none, as in Algorithm 1; "
	  "all",
	  0 },
	{ "choice", CT_OPT_ENUM, AT(by_price), "pair", 0, 0, "pair|price", NULL,
	  "configurations beside a resident: those that suit each other (without esp: the fastest that fits), or what "
	  "prices choose (without esp: the fastest or none)",
	  0 },
	{ "iac", CT_OPT_BOOL, AT(iac), "true", 0, 0, NULL, NULL, "predicted slow-downs are respected", 0 },
	{ "pds", CT_OPT_BOOL, AT(pds), "true", 0, 0, NULL, NULL, "reservation, rounds, and changes of running jobs",
	  0 },
	{ "elastic", CT_OPT_BOOL, AT(elastic), "true", 0, 0, NULL, NULL,
	  "jobs may start on fewer GPUs than they ask for, where the trace or calib.gpu_span lets them", 0 },
	{ "every_epoch", CT_OPT_BOOL, AT(every_epoch), "false", 0, 0, NULL, NULL,
	  "decide at every epoch, also where nothing can have changed (same schedule)", 0 },
	{ "epoch", CT_OPT_SECONDS, AT(epoch), "5", 1e-6, 1e6, NULL, "s",
	  "with every_epoch, and after a change: time to the next decision", 0 },
	{ "pareto", CT_OPT_BOOL, AT(pareto), "true", 0, 0, NULL, NULL,
	  "consider only configurations that no other beats in everything", 0 },
	{ "cache_hit", CT_OPT_DOUBLE, AT(cache_hit), "0.94", 0, 1, NULL, "frac", "arrivals whose profile is known", 0 },
	{ "profile_min", CT_OPT_SECONDS, AT(profile_min), "180", 0, 1e9, NULL, "s", "shortest profiling of the others",
	  0 },
	{ "profile_max", CT_OPT_SECONDS, AT(profile_max), "300", 0, 1e9, NULL, "s", "longest", 0 },
	{ "profiler_inside", CT_OPT_BOOL, AT(inside), "false", 0, 0, NULL, NULL,
	  "the profiling GPU is the cluster's last one", 0 },
	{ "horizon", CT_OPT_INT, AT(horizon), "256", 1, 1e9, NULL, "jobs", "waiting jobs that are considered", 0 },
	{ "switch_cost", CT_OPT_DOUBLE, AT(switch_cost), "0.05", 0, 1e3, NULL, NULL, "gamma0 of equation 7", 0 },
	{ "step", CT_OPT_DOUBLE, AT(step), "0.5", 1e-6, 1e3, NULL, NULL, "eta0 of equation 8", 0 },
	{ "diminishing", CT_OPT_BOOL, AT(diminishing), "true", 0, 0, NULL, NULL, "eta0 / sqrt(t) instead of eta0", 0 },
	{ "iterations", CT_OPT_INT, AT(iterations), "20", 1, 1e6, NULL, NULL, "most price updates of a round", 0 },
	{ "price_tolerance", CT_OPT_DOUBLE, AT(price_tolerance), "0.02", 0, 1, NULL, NULL,
	  "prices stand when demand is this near to capacity, or they are 0", 0 },
	{ "weights", CT_OPT_ENUM, AT(weighted), "equal", 0, 0, "equal|remaining", NULL,
	  "w of equations 6 and 7: 1, or by the inverse of the estimated work left, 1 on average", 0 },
	{ "estimate", CT_OPT_ENUM, AT(estimate), "noisy", 0, 0, "noisy|column", NULL,
	  "weights=remaining: run times with log-normal error, drawn once a job, or the trace's requested time", 0 },
	{ "estimate_sigma", CT_OPT_DOUBLE, AT(estimate_sigma), "0.5", 0.1, 10, NULL, NULL,
	  "sigma of that error; never the true time", 0 },
	{ "weight_span", CT_OPT_DOUBLE, AT(weight_span), "10", 1, 1e6, NULL, "x",
	  "no weight is further from the geometric mean than this", 0 },
	{ "alpha", CT_OPT_DOUBLE, AT(alpha), "1", 0, 1e3, NULL, NULL, "weight of the interference penalty", 0 },
	{ "rounds", CT_OPT_INT, AT(rounds), "3", 1, CT_ELASTICO_ROUNDS, NULL, NULL, "M of Algorithm 1", 0 },
	{ "gamma", CT_OPT_DOUBLE, AT(gamma), "0.25", 0, 1, NULL, NULL, "reservation for waiting jobs, equation 12", 0 },
	{ "patience", CT_OPT_SECONDS, AT(patience), "0", 0, 1e9, NULL, "s",
	  "a gang that has waited so long gets GPUs kept for it alone, 0 = never", 0 },
	{ "tau_base", CT_OPT_DOUBLE, AT(tau_base), "1.5", 1, 100, NULL, NULL, "tolerated slow-down at the target", 0 },
	{ "beta", CT_OPT_DOUBLE, AT(beta), "0.5", 0, 100, NULL, NULL, "its sensitivity to utilisation", 0 },
	{ "beta_max", CT_OPT_DOUBLE, AT(beta_max), "0.25", 0, 100, NULL, NULL, "most that utilisation adds", 0 },
	{ "target", CT_OPT_DOUBLE, AT(target), "0.4", 0.01, 1, NULL, "frac", "U_target", 0 },
	{ "violations", CT_OPT_ENUM, AT(violations), "wait", 0, 0, "wait|apply", NULL,
	  "what would violate a tolerance: the newer job waits, or it is applied where it costs least", 0 },
	{ "tau", CT_OPT_ENUM, AT(tau_paper), "bounded", 0, 0, "bounded|paper", NULL,
	  "bounded: never so much that a job falls below its floor", 0 },
	{ "utilisation", CT_OPT_ENUM, AT(util_by_queue), "sm", 0, 0, "sm|queue", NULL,
	  "U: SM activity of a window, or the target plus waiting GPUs / GPUs", 0 },
	{ "util_window", CT_OPT_SECONDS, AT(util_window), "60", 1, 1e9, NULL, "s", "that window", 0 },
	{ "margin", CT_OPT_DOUBLE, AT(margin), "0.1", -10, 10, NULL, "GPUs",
	  "least gain of sharing, for each GPU shared", 0 },
	{ "payback", CT_OPT_DOUBLE, AT(payback), "1", 0, 1e6, NULL, NULL,
	  "a transition must pay back within this times the age of the job", 0 },
	{ "hold", CT_OPT_SECONDS, AT(hold), "60", 0, 1e9, NULL, "s", "least time between transitions of a job", 0 },
	{ "hysteresis", CT_OPT_DOUBLE, AT(hysteresis), "0.05", 0, 10, NULL, NULL,
	  "slow-down above the tolerance before residents are touched", 0 },
	{ "measure", CT_OPT_BOOL, AT(measure), "true", 0, 0, NULL, NULL, "measured slow-downs replace predictions", 0 },
	{ "learn", CT_OPT_BOOL, AT(learn), "true", 0, 0, NULL, NULL,
	  "measured errors of a prediction correct those of the same two families", 0 },
	{ "window", CT_OPT_SECONDS, AT(window), "60", 1e-6, 1e9, NULL, "s", "time over which they are measured", 0 },
	{ "separate", CT_OPT_BOOL, AT(separate), "true", 0, 0, NULL, NULL,
	  "preempt the newer of a pair that would be faster taking turns", 0 },
	{ .name = NULL },
};

const struct ct_policy ct_policy_elastico = {
	CT_POLICY_HEAD,
	.name = "elastico",
	.summary = "reshaped jobs share GPUs by prices and predicted interference (ElastiCo)",
	.paper = "Wang et al., ElastiCo: Elastic Configuration and Interference-Aware Orchestration for GPU Clusters, "
		 "arXiv:2608.07971",
	.opts = opts,
	.state_size = sizeof(struct ct_elastico),
	.flags = CT_POLICY_ELASTIC,
	.period_us = 5000000,
	.init = init,
	.on_submit = on_submit,
	.on_finish = on_finish,
	.on_change = on_change,
	.schedule = schedule,
	.fini = fini,
	.whys = ct_elastico_whys,
	.components = components,
};
