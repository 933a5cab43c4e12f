/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/setup.h"

#include "calib/transitions.h"
#include "experiments/command.h"
#include "experiments/data_path.h"
#include "experiments/outages.h"
#include "experiments/version.h"
#include "scheduler/control.h"
#include "traces/assign.h"
#include "traces/transform.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double ct_setup_gpus(const struct ct_config *c)
{
	double n = 0;

	for (size_t i = 0; i < c->cluster.spec.n; i++)
		n += (double)c->cluster.spec.nodes[i].count * c->cluster.spec.nodes[i].gpus;
	return n;
}

/* ---- the trace */

static void replace_jobs(struct ct_setup *s, struct ct_workload *by)
{
	if (!s->work_is_pooled)
		ct_workload_free(s->work);
	s->work_is_pooled = 0;
	s->work = by;
}

static int stretch(struct ct_setup *s, const struct ct_config *c, struct ct_err *err)
{
	struct ct_workload *stretched;

	if (!(c->trace.load > 0))
		return 0;
	if (!isfinite(s->load_read) || !(s->load_read > 0))
		return ct_err_add(err, CT_ECONFIG, NULL,
				  "'trace.load' cannot stretch this trace: it needs a cluster and jobs submitted at "
				  "different times");
	CT_TRY(ct_workload_stretch(s->work, s->load_read / c->trace.load, &stretched, err));
	replace_jobs(s, stretched);
	return 0;
}

static int assign(struct ct_setup *s, const struct ct_config *c, struct ct_err *err)
{
	struct ct_workload *named;
	const char *path;

	if (!c->trace.assign)
		return 0;
	CT_TRY(ct_data_path(c->trace.assign, &s->arena, &path, err));
	CT_TRY(ct_trace_assign(s->work, path, (uint64_t)c->sim.seed, &named, err));
	replace_jobs(s, named);
	return 0;
}

static int select_jobs(struct ct_setup *s, const struct ct_config *c, struct ct_err *err)
{
	const char *equals = c->trace.only ? strchr(c->trace.only, '=') : NULL;
	struct ct_workload *selected;

	if (!c->trace.only)
		return 0;
	if (!equals || equals == c->trace.only)
		return ct_err_add(err, CT_ECONFIG, NULL, "'trace.only' wants COLUMN=VALUE, got '%.60s'", c->trace.only);
	CT_TRY(ct_transform_only(s->work, ct_arena_text(&s->arena, c->trace.only, (size_t)(equals - c->trace.only)),
				 equals + 1, &selected, err));
	replace_jobs(s, selected);
	return 0;
}

int ct_setup_trace(struct ct_setup *s, struct ct_config *c, void (*progress)(void *ctx, uint64_t done, uint64_t total),
		   void *ctx, struct ct_err *err)
{
	double gpus = ct_setup_gpus(c), start = ct_wall_s();

	if (s->pool)
		CT_TRY(ct_jobs_pool_get(s->pool, c, progress, ctx, &s->work, err));
	else
		CT_TRY(ct_jobs_read(c, s->want_figures ? &s->figures : NULL, progress, ctx, &s->work, err));
	s->work_is_pooled = s->pool != NULL;
	s->load_read = gpus > 0 ? ct_workload_offered_load(s->work, gpus) : (double)NAN;
	CT_TRY(assign(s, c, err));
	CT_TRY(select_jobs(s, c, err));
	CT_TRY(stretch(s, c, err));
	s->read_s = ct_wall_s() - start;
	return 0;
}

void ct_setup_print_import(const struct ct_workload *w, FILE *to)
{
	const struct ct_import_report *r = &w->report;

	fprintf(to, "cotenant: read '%s' (%s): %" PRIu64 " rows, %" PRIu64 " jobs kept\n", r->source, r->format,
		r->rows_read, r->rows_kept);
	for (unsigned i = 0; i < r->n_rules; i++)
		fprintf(to, "cotenant: %s: %s: %" PRIu64 " (%s)\n", r->rules[i].dropped ? "warning" : "note",
			r->rules[i].rule, r->rules[i].rows, r->rules[i].meaning);
}

/* ---- tables */

static int load_pairs(struct ct_setup *s, const struct ct_config *c, struct ct_err *err)
{
	const char *path = NULL;

	if (!c->contention.pairs && c->contention.fallback == 1.0)
		return 0;
	if (c->contention.pairs)
		CT_TRY(ct_data_path(c->contention.pairs, &s->arena, &path, err));
	CT_TRY(ct_pair_table_load(path, c->contention.fallback, &s->work->strings, &s->pairs, err));
	s->contention = ct_pair_table_contention(s->pairs);
	return 0;
}

/* The largest GPU; 0 = unlimited. */
static uint32_t largest_gpu(const struct ct_config *c)
{
	uint32_t most = 0;

	for (size_t i = 0; i < c->cluster.spec.n; i++)
		most =
		    c->cluster.spec.nodes[i].gpu_mem_mib > most ? (uint32_t)c->cluster.spec.nodes[i].gpu_mem_mib : most;
	return most;
}

/* After the pair table, which stays in force for jobs the calibration does not know. */
static int load_calibration(struct ct_setup *s, const struct ct_config *c, struct ct_err *err)
{
	struct ct_truth_options o = {
		.seed = (uint64_t)c->sim.seed,
		.residual = c->calib.residual,
		.gpu_mem_mib = largest_gpu(c),
		.scaling = c->calib.scaling,
		.no_amp = !c->calib.amp,
		.fastest = c->calib.jobs_start,
		.world = { .draw = (uint64_t)c->calib.draw,
			   .blind_host = c->calib.host,
			   .default_batch = c->calib.default_batch,
			   .change = c->calib.change },
		.measured = c->calib.measured,
		.beside = s->contention,
	};

	if (!c->calib.dir && !c->calib.file)
		return 0;
	if (c->calib.dir && c->calib.file)
		return ct_err_add(err, CT_ECONFIG, NULL, "'calib.dir' and 'calib.file' exclude each other");
	if (c->calib.dir)
		CT_TRY(ct_data_path(c->calib.dir, &s->arena, &o.dir, err));
	else
		CT_TRY(ct_data_path(c->calib.file, &s->arena, &o.file, err));
	CT_TRY(ct_truth_new(&o, s->work, &s->truth, err));
	s->contention = ct_truth_contention(s->truth);
	return 0;
}

/* Training that the trace gives no range runs on fewer GPUs too. */
static int widen(struct ct_setup *s, const struct ct_config *c, struct ct_err *err)
{
	uint32_t *fewest;
	struct ct_workload *elastic;
	uint64_t n = 0;
	int rc;

	if (!s->truth || !(c->calib.gpu_span > 1) || !c->policy.policy ||
	    !(c->policy.policy->flags & CT_POLICY_ELASTIC))
		return 0;
	fewest = ct_calloc(s->work->n + 1, sizeof *fewest);
	for (size_t i = 0; i < s->work->n; i++) {
		const struct ct_job *j = &s->work->jobs[i];
		const struct ct_family *f = ct_truth_families(s->truth)[i];
		uint32_t k = (uint32_t)ceil(j->num_gpus / c->calib.gpu_span);

		if (!f || f->train != 1 || j->min_gpus < j->num_gpus || k >= j->num_gpus)
			continue;
		fewest[i] = k;
		n++;
	}
	rc = ct_workload_elastic(s->work, fewest, &elastic, err);
	free(fewest);
	CT_TRY(rc);
	ct_workload_count(elastic, "widened_gpus", "training job that may run on fewer GPUs, by calib.gpu_span", n, 0);
	replace_jobs(s, elastic);
	return 0;
}

/* DIR/iac.h5, there or not. */
static int ready_predictor(struct ct_setup *s, const struct ct_config *c, const char **out, struct ct_err *err)
{
	static const char name[] = "/iac.h5";
	const char *dir;
	char *path;
	size_t n;

	CT_TRY(ct_data_path(c->calib.dir, &s->arena, &dir, err));
	n = strlen(dir);
	path = CT_NEW(&s->arena, char, n + sizeof name);
	memcpy(path, dir, n);
	memcpy(path + n, name, sizeof name);
	*out = path;
	return 0;
}

/* Without a predictor there is no belief: an error for a policy that makes use of it, a
 * warning in the result of others, where only the accounts of predictions miss it. */
static int take_belief(struct ct_setup *s, const struct ct_config *c, struct ct_err *err)
{
	struct ct_err why = { 0 };

	if (ct_believer_check(s->believer, &why) == 0) {
		s->belief = ct_believer_belief(s->believer);
		return 0;
	}
	if (c->policy.policy && c->policy.policy->flags & CT_POLICY_ELASTIC)
		return ct_believer_check(s->believer, err);
	s->no_belief = ct_arena_text(&s->arena, why.text, strcspn(why.text, "\n"));
	return 0;
}

static int load_belief(struct ct_setup *s, const struct ct_config *c, struct ct_err *err)
{
	struct ct_belief_options o = {
		.predictor = (enum ct_belief_predictor)c->iac.predictor,
		.seed = (uint64_t)c->iac.seed,
		.run_seed = (uint64_t)c->sim.seed,
		.profile_error = c->iac.profile_error,
		.pairs = c->iac.pairs,
		.trained = s->trained,
	};

	if (!s->truth && c->iac.file)
		return ct_err_add(err, CT_ECONFIG, NULL, "'iac.file' wants a calibration too: calib.dir");
	if (!s->truth)
		return 0;
	if (c->iac.file)
		CT_TRY(ct_data_path(c->iac.file, &s->arena, &o.file, err));
	if (c->calib.dir)
		CT_TRY(ready_predictor(s, c, &o.ready, err));
	CT_TRY(ct_believer_new(&o, s->truth, &s->believer, err));
	return take_belief(s, c, err);
}

/* The rows of the file, then one row "any model" for each cost of the configuration:
 * among equally specific rows the first wins, so the file does. */
static int load_transitions(struct ct_setup *s, const struct ct_config *c, struct ct_err *err)
{
	struct ct_transition_table file = { 0 };
	struct ct_transition *row;
	const char *path;
	size_t n;

	if (c->transitions.file) {
		CT_TRY(ct_data_path(c->transitions.file, &s->arena, &path, err));
		CT_TRY(ct_transitions_load(path, &s->arena, &file, err));
	}
	if (s->truth)
		file = ct_truth_transitions(s->truth, &file, &s->arena);
	n = file.n;
	row = CT_NEW(&s->arena, struct ct_transition, n + CT_TRANSITION_KINDS);
	if (n)
		memcpy(row, file.row, n * sizeof *row);
	for (int k = 0; k < CT_TRANSITION_KINDS; k++)
		if (c->transitions.cost[k] > 0)
			row[n++] = (struct ct_transition){ .kind = (enum ct_transition_kind)k,
							   .cost_us = c->transitions.cost[k],
							   .blocks = 1,
							   .source = "configuration" };
	s->transitions = (struct ct_transition_table){ row, n };
	return 0;
}

static void digest_transitions(struct ct_setup *s)
{
	struct ct_digest d;

	ct_digest_init(&d);
	for (size_t i = 0; i < s->transitions.n; i++) {
		const struct ct_transition *t = &s->transitions.row[i];

		ct_digest_i64(&d, t->kind);
		ct_digest_text(&d, t->model);
		ct_digest_text(&d, t->from);
		ct_digest_text(&d, t->to);
		ct_digest_i64(&d, t->cost_us);
		ct_digest_i64(&d, t->blocks);
	}
	ct_digest_final(&d, s->transitions_digest);
}

static void digest_outages(struct ct_setup *s, const struct ct_failure_spec *f)
{
	struct ct_digest d;

	ct_digest_init(&d);
	for (size_t i = 0; i < f->n_outages; i++) {
		const int64_t number[] = { f->outage[i].node, f->outage[i].gpu, f->outage[i].down_us,
					   f->outage[i].up_us };

		ct_digest_i64_array(&d, number, sizeof number / sizeof *number);
	}
	ct_digest_final(&d, s->outages_digest);
}

/* Nothing where nothing fails: neither checkpoints nor restarts. */
static int load_failures(struct ct_setup *s, const struct ct_config *c, struct ct_failure_spec *f, struct ct_err *err)
{
	const char *path;

	*f = (struct ct_failure_spec){ 0 };
	if (!ct_config_fails(c))
		return 0;
	*f = (struct ct_failure_spec){
		.node = { ct_seconds(c->failures.mtbf), c->failures.shape, ct_seconds(c->failures.repair) },
		.gpu = { ct_seconds(c->failures.gpu_mtbf), c->failures.gpu_shape, ct_seconds(c->failures.gpu_repair) },
		.repair_law = (enum ct_repair_law)c->failures.repair_law,
		.repair_sigma = c->failures.repair_sigma,
		.checkpoint_us = c->failures.checkpoint,
		.restart_us = c->failures.restart,
	};
	if (!c->failures.file)
		return 0;
	if (ct_failures_on(f))
		return ct_err_add(err, CT_ECONFIG, NULL,
				  "'failures.file' excludes 'failures.mtbf' and 'failures.gpu_mtbf'");
	CT_TRY(ct_data_path(c->failures.file, &s->arena, &path, err));
	CT_TRY(ct_outages_load(path, &c->cluster.spec, &s->arena, f, err));
	digest_outages(s, f);
	return 0;
}

int ct_setup_world(struct ct_setup *s, struct ct_config *c, struct ct_err *err)
{
	struct ct_failure_spec failures;

	CT_TRY(load_pairs(s, c, err));
	CT_TRY(load_calibration(s, c, err));
	CT_TRY(widen(s, c, err));
	CT_TRY(load_belief(s, c, err));
	CT_TRY(load_transitions(s, c, err));
	CT_TRY(load_failures(s, c, &failures, err));
	digest_transitions(s);
	s->spec = (struct ct_world_spec){
		.work = s->work,
		.cluster = c->cluster.spec,
		.contention = s->pairs || s->truth ? &s->contention : NULL,
		.families = s->truth ? ct_truth_families(s->truth) : NULL,
		.transitions = s->transitions.n ? &s->transitions : NULL,
		.seed = (uint64_t)c->sim.seed,
		.residents = (uint32_t)c->sim.residents,
		.gpu_reserve_mib = (uint32_t)c->sim.gpu_reserve_mib,
		.warmup_us = c->sim.warmup,
		.until_us = c->sim.until ? c->sim.until : CT_NEVER,
		.censor = c->sim.censor != 0,
		.attain_floor = c->sim.attain_floor,
		.series_us = c->sim.series,
		.record_events = c->sim.events != 0,
		.record_decisions = c->sim.decisions && c->output.file, /* nothing else keeps them */
		.step = { .step_us = c->sim.step, .later_keeps_rate = c->sim.later_keeps_rate != 0 },
		.preempt_loss_us = { c->sim.preempt_loss, c->sim.preempt_loss_multi },
		.failures = failures,
	};
	if (s->truth && ct_truth_info(s->truth).reserve_mib > s->spec.gpu_reserve_mib)
		s->spec.gpu_reserve_mib = ct_truth_info(s->truth).reserve_mib;
	return 0;
}

void ct_setup_fini(struct ct_setup *s)
{
	ct_believer_free(s->believer); /* refers to the truth */
	ct_truth_free(s->truth);
	ct_pair_table_free(s->pairs);
	if (!s->work_is_pooled)
		ct_workload_free(s->work);
	ct_figures_fini(&s->figures);
	ct_arena_fini(&s->arena);
	memset(s, 0, sizeof *s);
}

/* ---- what is said about a run */

const char *ct_setup_cluster_text(const struct ct_config *c, struct ct_arena *arena)
{
	char text[512];
	size_t at, nodes = 0;

	for (size_t i = 0; i < c->cluster.spec.n; i++)
		nodes += c->cluster.spec.nodes[i].count;
	at = (size_t)snprintf(text, sizeof text, "%zu nodes, %.0f GPUs:", nodes, ct_setup_gpus(c));
	for (size_t i = 0; i < c->cluster.spec.n && at < sizeof text - 100; i++) {
		const struct ct_node_spec *n = &c->cluster.spec.nodes[i];

		at += (size_t)snprintf(text + at, sizeof text - at, "%s %ux%u%s%.40s%s%.40s", i ? "," : "", n->count,
				       n->gpus, n->gpu_type ? " " : "", n->gpu_type ? n->gpu_type : "",
				       n->partition ? " in " : "", n->partition ? n->partition : "");
	}
	return ct_arena_text(arena, text, at < sizeof text ? at : sizeof text - 1);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void describe_build(struct ct_result *r)
{
	struct ct_version v = ct_version();
	const char *const fact[][2] = {
		{ "version", v.version }, { "revision", v.revision }, { "compiler", v.compiler },
		{ "build", v.build },     { "gsl", v.gsl },           { "hdf5", v.hdf5 },
		{ "zlib", v.zlib },       { "libyaml", v.libyaml },   { "openssl", v.openssl },
		{ "glibc", v.glibc },
	};

	for (size_t i = 0; i < sizeof fact / sizeof *fact; i++)
		ct_result_add(r, CT_RESULT_MANIFEST, fact[i][0], ct_result_text(r, "%s", fact[i][1]), 0);
}

static void describe_import(const struct ct_setup *s, struct ct_result *r)
{
	const struct ct_import_report *p = &s->work->report;

	ct_result_add(r, CT_RESULT_IMPORT, "source", ct_result_text(r, "%s", base_name(p->source)), 0);
	ct_result_add(r, CT_RESULT_IMPORT, "format", ct_result_text(r, "%s", p->format), 0);
	if (p->origin)
		ct_result_add(r, CT_RESULT_IMPORT, "origin", ct_result_text(r, "%s", p->origin), 0);
	if (p->history)
		ct_result_add(r, CT_RESULT_IMPORT, "history", ct_result_text(r, "%s", p->history), 0);
	ct_result_add(r, CT_RESULT_IMPORT, "rows_read", ct_result_text(r, "%" PRIu64, p->rows_read), 1);
	ct_result_add(r, CT_RESULT_IMPORT, "rows_kept", ct_result_text(r, "%" PRIu64, p->rows_kept), 1);
	for (unsigned i = 0; i < p->n_rules; i++) {
		const struct ct_rule_count *rule = &p->rules[i];

		ct_result_add(r, CT_RESULT_IMPORT, ct_result_text(r, "%s", rule->rule),
			      ct_result_text(r, "%" PRIu64, rule->rows), 1);
		if (rule->dropped)
			ct_result_warn(r, ct_result_text(r, "%s: %" PRIu64 " rows dropped (%s)", rule->rule, rule->rows,
							 rule->meaning));
	}
}

/* What the cluster is made of, whatever form the configuration gave it in. */
static const char *cluster_digest(const struct ct_setup *s, struct ct_result *r)
{
	const struct ct_cluster_spec *k = &s->spec.cluster;
	char text[CT_DIGEST_TEXT];
	struct ct_digest d;

	ct_digest_init(&d);
	for (size_t i = 0; i < k->n; i++) {
		const struct ct_node_spec *n = &k->nodes[i];
		const int64_t number[] = { n->count, n->gpus, n->gpu_mem_mib, n->cpu_milli, n->mem_mib };

		ct_digest_i64_array(&d, number, sizeof number / sizeof *number);
		ct_digest_f64(&d, n->gpu_speed);
		ct_digest_text(&d, n->gpu_type);
		ct_digest_text(&d, n->partition);
	}
	ct_digest_final(&d, text);
	return ct_result_text(r, "%s", text);
}

static void describe_calibration(const struct ct_setup *s, struct ct_result *r)
{
	struct ct_truth_info i;

	if (!s->truth)
		return;
	i = ct_truth_info(s->truth);
	ct_result_add(r, CT_RESULT_MANIFEST, "calibration", ct_result_text(r, "%s", i.gpu), 0);
	ct_result_add(r, CT_RESULT_MANIFEST, "calibration_digest", ct_result_text(r, "%s", i.digest), 0);
	ct_result_add(r, CT_RESULT_MANIFEST, "calibrated_jobs", ct_result_text(r, "%zu", i.jobs_known), 1);
	ct_result_add(r, CT_RESULT_MANIFEST, "measured_pairs", ct_result_text(r, "%zu", i.measured_pairs), 1);
	ct_result_add(r, CT_RESULT_MANIFEST, "profile_hit_rate",
		      ct_result_text(r, "%.6f", ct_profile_store_hit_rate(&i.store)), 1);
	if (i.measured_pairs)
		ct_result_warn(r,
			       ct_result_text(r, "%zu measured pairs replace the contention model", i.measured_pairs));
	if (i.jobs_unknown)
		ct_result_warn(r, ct_result_text(r,
						 "%zu jobs of a model that the calibration does not know run as "
						 "their request says",
						 i.jobs_unknown));
	if (i.jobs_unmet)
		ct_result_warn(r, ct_result_text(r,
						 "%zu jobs want lengths, throughput or memory that no configuration "
						 "of their model offers; they run as their request says",
						 i.jobs_unmet));
}

static void describe_belief(const struct ct_setup *s, struct ct_result *r)
{
	struct ct_belief_info i;

	if (!s->believer)
		return;
	i = ct_believer_info(s->believer);
	if (s->no_belief)
		ct_result_warn(r, ct_result_text(r, "nothing is predicted: %s", s->no_belief));
	ct_result_add(r, CT_RESULT_MANIFEST, "predictor", ct_result_text(r, "%s", i.predictor), 0);
	ct_result_add(r, CT_RESULT_MANIFEST, "belief_digest", ct_result_text(r, "%s", i.digest), 0);
	ct_result_add(r, CT_RESULT_MANIFEST, "predictions_asked", ct_result_text(r, "%" PRIu64, i.asked), 1);
	ct_result_add(r, CT_RESULT_MANIFEST, "predictions_computed", ct_result_text(r, "%" PRIu64, i.computed), 1);
}

static void describe_reasons(const struct ct_policy *p, struct ct_result *r)
{
	const struct ct_why *why = ct_control_whys(p);
	size_t n = 0;
	const char **name, **text;
	int *waits;

	if (!r->decisions.n_columns)
		return;
	while (why && why[n].name)
		n++;
	name = ct_calloc(n, sizeof *name);
	text = ct_calloc(n, sizeof *text);
	waits = ct_calloc(n, sizeof *waits);
	for (size_t i = 0; i < n; i++) {
		name[i] = why[i].name;
		text[i] = why[i].text;
		waits[i] = why[i].waits;
	}
	ct_result_add_reasons(r, name, text, waits, n);
	free(name);
	free(text);
	free(waits);
}

void ct_setup_describe(const struct ct_setup *s, struct ct_config *c, struct ct_result *r)
{
	const char *pairs = s->pairs ? ct_pair_table_digest(s->pairs) : "";
	const char *calib = s->truth ? ct_result_text(r, "calibration %s\nbelief %s\n", ct_truth_info(s->truth).digest,
						      ct_believer_info(s->believer).digest)
				     : "";
	const char *outages = *s->outages_digest ? ct_result_text(r, "outages %s\n", s->outages_digest) : "";
	const char *digests = ct_result_text(r, "trace %s\npairs %s\ntransitions %s\n%s%s", s->work->digest, pairs,
					     s->transitions_digest, calib, outages);

	describe_build(r);
	describe_reasons(c->policy.policy, r);
	ct_result_add(r, CT_RESULT_MANIFEST, "policy", ct_result_text(r, "%s", c->policy.policy->name), 0);
	ct_result_add(r, CT_RESULT_MANIFEST, "cluster", ct_result_text(r, "%s", ct_setup_cluster_text(c, &c->arena)),
		      0);
	ct_result_add(r, CT_RESULT_MANIFEST, "cluster_digest", cluster_digest(s, r), 0);
	ct_result_add(r, CT_RESULT_MANIFEST, "trace", ct_result_text(r, "%s", base_name(s->work->report.source)), 0);
	ct_result_add(r, CT_RESULT_MANIFEST, "trace_digest", ct_result_text(r, "%s", s->work->digest), 0);
	if (s->pairs)
		ct_result_add(r, CT_RESULT_MANIFEST, "pairs_digest", ct_result_text(r, "%s", pairs), 0);
	describe_calibration(s, r);
	describe_belief(s, r);
	ct_result_add(r, CT_RESULT_MANIFEST, "seed", ct_result_text(r, "%" PRId64, c->sim.seed), 1);
	describe_import(s, r);
	r->config_yaml = ct_result_text(r, "%s", ct_config_yaml(c));
	ct_result_seal(r, ct_config_digest_text(c), digests);
}

/* ---- jobs that were never run to their end */

enum { STARVED_IDS = 5 };

void ct_setup_print_starved(const struct ct_world *w, uint64_t n, FILE *to)
{
	const struct ct_workload *work = ct_world_spec_of(w)->work;
	unsigned shown = 0;

	fprintf(to,
		"cotenant: warning: %" PRIu64
		" jobs are left: the policy did not start them again, and nothing was pending:",
		n);
	for (uint32_t i = 0; i < work->n && shown < STARVED_IDS; i++) {
		if (ct_world_job_state(w, i) != CT_JOB_QUEUED)
			continue;
		fprintf(to, "%s '%s'", shown ? "," : "", work->jobs[i].id);
		shown++;
	}
	fputs(n > shown ? ", ...\n" : "\n", to);
}

/* ---- jobs that can never run */

enum { SHOWN_IDS = 5 };

void ct_setup_print_rejected(const struct ct_world *w, const char *head, FILE *to)
{
	const struct ct_outcome *o = ct_world_outcomes(w);
	const struct ct_workload *work = ct_world_spec_of(w)->work;
	uint64_t n[CT_REASONS] = { 0 };
	uint32_t first[CT_REASONS][SHOWN_IDS];

	for (size_t i = 0; i < work->n; i++) {
		unsigned r = o[i].reason;

		if (o[i].state != CT_JOB_REJECTED || r >= CT_REASONS)
			continue;
		if (n[r] < SHOWN_IDS)
			first[r][n[r]] = (uint32_t)i;
		n[r]++;
	}
	for (unsigned r = 0; r < CT_REASONS; r++) {
		if (!n[r])
			continue;
		fprintf(to, "%s: %" PRIu64 " job%s: %s (%s):", head, n[r], n[r] == 1 ? "" : "s",
			ct_reason_text((enum ct_reason)r), ct_reason_name((enum ct_reason)r));
		for (uint64_t k = 0; k < n[r] && k < SHOWN_IDS; k++)
			fprintf(to, " %s", work->jobs[first[r][k]].id);
		fputs(n[r] > SHOWN_IDS ? " ...\n" : "\n", to);
	}
}

int ct_setup_count_rejected(const struct ct_setup *s, uint64_t *n, FILE *to, struct ct_err *err)
{
	struct ct_world_spec spec = s->spec;
	struct ct_account account;
	struct ct_world *w;

	spec.warmup_us = 0;
	spec.until_us = CT_NEVER;
	spec.censor = false;
	spec.record_events = false;
	spec.failures = (struct ct_failure_spec){ 0 }; /* they would go on for ever */
	w = ct_world_new(&spec, err);
	if (!w)
		return (int)err->code;
	while (ct_world_advance(w))
		;
	ct_world_account(w, &account);
	*n = account.rejected;
	ct_setup_print_rejected(w, "can never run", to);
	ct_world_free(w);
	return 0;
}
