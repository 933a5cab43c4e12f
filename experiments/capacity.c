/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/capacity.h"

#include "experiments/breakdown.h"
#include "experiments/cell.h"
#include "experiments/workers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL = 0.95;

/* ---- what was run: kept for all levels of the targets */

struct run {
	double metric[CT_CAPACITY_CLASSES][CT_METRIC_COUNT];
};
struct size {
	int64_t nodes;
	struct run *run; /* [runs] */
};
/* One policy on one selection of jobs. */
struct subject {
	const char *policy;
	enum ct_capacity_class only;
	struct size *size;
	size_t n, cap;
};

struct search {
	struct ct_capacity *c;
	const struct ct_capacity_request *q;
	struct ct_jobs_pool *pool;
	int64_t lo, hi; /* nodes */
	int want_classes;
	uint64_t runs_done;
	struct subject *subject;
	size_t n_subjects;
};

/* ---- one run */

static int configure(const struct search *s, const struct subject *u, int64_t nodes, size_t run, struct ct_config *c,
		     struct ct_err *err)
{
	char text[64];

	CT_TRY(ct_overrides_apply(s->q->overrides, s->q->config_file, c, err));
	if (u->policy)
		CT_TRY(ct_config_option(c, "--policies", "policy.name", u->policy, err));
	if (u->only != CT_CAPACITY_ALL) {
		snprintf(text, sizeof text, "trace.only=kind=%s", ct_capacity_class_name(u->only));
		CT_TRY(ct_config_assign(c, text, err));
	}
	snprintf(text, sizeof text, "cluster.nodes=%" PRId64, nodes);
	CT_TRY(ct_config_assign(c, text, err));
	snprintf(text, sizeof text, "sim.seed=%" PRId64, s->c->first_seed + (int64_t)run);
	CT_TRY(ct_config_assign(c, text, err));
	return ct_config_finish(c, CT_CONFIG_RUN, err);
}

static int keep_figures(const struct search *s, const struct ct_cell_result *r, struct run *to, struct ct_err *err)
{
	struct ct_breakdown b;

	memcpy(to->metric[CT_CAPACITY_ALL], r->summary, sizeof r->summary);
	for (int k = CT_CAPACITY_TRAIN; k < CT_CAPACITY_CLASSES; k++)
		for (int m = 0; m < CT_METRIC_COUNT; m++)
			to->metric[k][m] = NAN;
	if (!s->want_classes)
		return 0;
	CT_TRY(ct_breakdown_make(&r->result, CT_BY_CLASS, &b, err));
	for (int k = CT_CAPACITY_TRAIN; k < CT_CAPACITY_CLASSES; k++) {
		const struct ct_group *g = ct_breakdown_find(&b, ct_capacity_class_name((enum ct_capacity_class)k));

		if (g)
			memcpy(to->metric[k], g->metric, sizeof g->metric);
	}
	ct_breakdown_fini(&b);
	return 0;
}

/* The runs of a size, as items for workers. */
struct batch {
	struct search *s;
	const struct subject *u;
	struct size *size;
};

static int run_once(void *ctx, size_t item, void *result, struct ct_err *err)
{
	const struct batch *b = ctx;
	struct search *s = b->s;
	const struct ct_cell_request cell = { .pool = s->pool,
					      .want_jobs = s->want_classes,
					      .interrupt = s->q->interrupt };
	struct ct_cell_result r;
	struct ct_config c;
	int rc;

	ct_config_init(&c);
	rc = configure(s, b->u, b->size->nodes, item, &c, err);
	if (!rc)
		rc = ct_cell_run(&c, &cell, &r, err);
	if (!rc) {
		s->c->stopped |= r.stopped;
		rc = keep_figures(s, &r, result, err);
		ct_cell_fini(&r);
	}
	ct_config_fini(&c);
	return rc;
}

static void take_run(void *ctx, size_t item, const void *result)
{
	const struct batch *b = ctx;

	memcpy(&b->size->run[item], result, sizeof *b->size->run);
	if (b->s->q->progress)
		b->s->q->progress(b->s->q->ctx, ++b->s->runs_done);
}

/* So that every worker finds them, and none makes them anew for every size. */
static int read_jobs(const struct batch *b, struct ct_err *err)
{
	int rc = 0;

	for (size_t r = 0; r < b->s->c->runs && !rc; r++) {
		struct ct_workload *work;
		struct ct_config c;

		ct_config_init(&c);
		rc = configure(b->s, b->u, b->size->nodes, r, &c, err);
		if (!rc)
			rc = ct_jobs_pool_get(b->s->pool, &c, NULL, NULL, &work, err);
		ct_config_fini(&c);
	}
	return rc;
}

static int run_batch(struct batch *b, struct ct_err *err)
{
	const struct ct_capacity_request *q = b->s->q;
	const struct ct_workers workers = { .processes = q->processes,
					    .bytes = sizeof *b->size->run,
					    .run = run_once,
					    .take = take_run,
					    .ctx = b,
					    .interrupted = q->interrupt };
	int rc = 0;

	if (b->u->n == 1 && q->processes > 1)
		rc = read_jobs(b, err);
	if (!rc)
		rc = ct_workers_run(&workers, b->s->c->runs, err);
	b->s->c->stopped |= q->interrupt && *q->interrupt;
	return rc;
}

/* The runs of a size, made when they are not there. *out stays valid until the next call. */
static int runs_of(struct search *s, struct subject *u, int64_t nodes, const struct size **out, struct ct_err *err)
{
	struct batch b = { .s = s, .u = u };
	struct size *k;

	for (size_t i = 0; i < u->n; i++)
		if (u->size[i].nodes == nodes) {
			*out = &u->size[i];
			return 0;
		}
	CT_GROW(u->size, u->cap, u->n + 1);
	k = &u->size[u->n++];
	*k = (struct size){ nodes, ct_calloc(s->c->runs, sizeof *k->run) };
	b.size = k;
	if (!s->c->stopped)
		CT_TRY(run_batch(&b, err));
	*out = k;
	return 0;
}

/* ---- does a size meet the targets? */

enum proof { SHOWN, BY_MEAN, POSSIBLE, PROOFS };

/* Targets that a subject must meet: its class's when it runs one class, else all. */
static int concerns(const struct subject *u, const struct ct_capacity_target *t)
{
	return u->only == CT_CAPACITY_ALL || t->class == u->only;
}

static struct ct_estimate estimate_of(const struct search *s, const struct size *k, const struct ct_capacity_target *t)
{
	double *v = ct_calloc(s->c->runs, sizeof *v);
	struct ct_estimate e;

	for (size_t r = 0; r < s->c->runs; r++)
		v[r] = k->run[r].metric[t->class][t->metric];
	e = ct_mean_interval(v, s->c->runs, LEVEL);
	free(v);
	return e;
}

static int satisfies(const struct ct_capacity_target *t, size_t level, const struct ct_estimate *e, enum proof proof)
{
	double bound = t->bound[level < t->n_bounds ? level : t->n_bounds - 1], v = e->value;

	if (isnan(v))
		return 0;
	if (!isnan(e->lo) && proof != BY_MEAN)
		v = t->is_lower == (proof == SHOWN) ? e->hi : e->lo; /* the worse end, or the better */
	if (t->is_lower)
		return t->is_strict ? v < bound : v <= bound;
	return t->is_strict ? v > bound : v >= bound;
}

/* Jobs that the largest cluster finished in its window and this size did not. */
static size_t missing_jobs(const struct search *s, const struct size *k, const struct size *top)
{
	double missing = 0.0;

	for (size_t r = 0; r < s->c->runs; r++)
		missing += fmax(0.0, top->run[r].metric[CT_CAPACITY_ALL][CT_METRIC_jobs_measured] -
					 k->run[r].metric[CT_CAPACITY_ALL][CT_METRIC_jobs_measured]);
	return (size_t)missing;
}

static const struct size *largest_of(const struct search *s, const struct subject *u)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->size[i].nodes == s->hi)
			return &u->size[i];
	return NULL;
}

static int size_meets(const struct search *s, const struct subject *u, size_t level, const struct size *k,
		      enum proof proof)
{
	const struct ct_capacity_request *q = s->q;

	if (missing_jobs(s, k, largest_of(s, u)))
		return 0;
	for (size_t t = 0; t < q->n_targets; t++) {
		struct ct_estimate e;

		if (!concerns(u, &q->target[t]))
			continue;
		e = estimate_of(s, k, &q->target[t]);
		if (!satisfies(&q->target[t], level, &e, proof))
			return 0;
	}
	return 1;
}

/* ---- the search: a question, asked of sizes */

struct question {
	struct search *s;
	struct subject *u;
	size_t level;
	enum proof proof;
};

static int ask(const struct question *q, int64_t nodes, int *meets, struct ct_err *err)
{
	const struct size *k;

	CT_TRY(runs_of(q->s, q->u, nodes, &k, err));
	*meets = size_meets(q->s, q->u, q->level, k, q->proof);
	return 0;
}

/* The smallest in [from, to] when `to` meets, nothing below from - 1 does, and larger is
 * better; else 0. */
static int bisect(const struct question *q, int64_t from, int64_t to, int64_t *found, struct ct_err *err)
{
	int meets;

	CT_TRY(ask(q, to, &meets, err));
	*found = 0;
	if (!meets)
		return 0;
	while (from < to && !q->s->c->stopped) {
		int64_t middle = from + (to - from) / 2;

		CT_TRY(ask(q, middle, &meets, err));
		if (meets)
			to = middle;
		else
			from = middle + 1;
	}
	*found = to;
	return 0;
}

enum { NEIGHBOURS = 2 };

/* The smallest above which no size that was run fails. */
static int find_safe(const struct question *q, int64_t from, int64_t *found, struct ct_err *err)
{
	int64_t fails;
	int meets;

	do {
		fails = 0;
		CT_TRY(bisect(q, from, q->s->hi, found, err));
		for (int64_t d = 1; d <= NEIGHBOURS && *found && *found + d <= q->s->hi && !q->s->c->stopped; d++) {
			CT_TRY(ask(q, *found + d, &meets, err));
			fails = meets ? fails : *found + d;
		}
		from = fails + 1;
	} while (fails && !q->s->c->stopped);
	for (int64_t d = 1; d <= NEIGHBOURS && *found - d >= q->s->lo && !q->s->c->stopped; d++)
		CT_TRY(ask(q, *found - d, &meets, err));
	return 0;
}

/* Every size that was run is looked at: does one fail above one that meets? */
static void check_order(const struct question *q, struct ct_capacity_answer *a)
{
	int64_t smallest = INT64_MAX, fails = 0, node = q->s->c->node_gpus;

	for (size_t i = 0; i < q->u->n; i++) {
		int meets = size_meets(q->s, q->u, q->level, &q->u->size[i], q->proof);

		if (meets && q->u->size[i].nodes < smallest)
			smallest = q->u->size[i].nodes;
		if (!meets && q->u->size[i].nodes > fails)
			fails = q->u->size[i].nodes;
	}
	a->monotone = fails < smallest;
	if (!a->monotone) {
		a->gpus_fails = fails * node;
		a->gpus_smallest = smallest * node;
	}
}

static int all_runs_equal(const struct search *s, const struct size *k)
{
	for (size_t r = 1; r < s->c->runs; r++)
		if (memcmp(k->run[r].metric, k->run[0].metric, sizeof k->run[r].metric) != 0)
			return 0;
	return s->c->runs > 1;
}

static int describe(struct search *s, struct subject *u, struct ct_capacity_answer *a, struct ct_err *err)
{
	const struct size *k, *top;
	int64_t nodes = a->gpus ? a->gpus / s->c->node_gpus : s->hi;

	CT_TRY(runs_of(s, u, nodes, &k, err));
	top = largest_of(s, u);
	a->gpus_at = nodes * s->c->node_gpus;
	a->fewer_jobs = missing_jobs(s, k, top);
	a->same_runs = all_runs_equal(s, top);
	a->sizes = u->n;
	for (size_t t = 0; t < s->q->n_targets; t++)
		if (concerns(u, &s->q->target[t]))
			a->value[t] = estimate_of(s, k, &s->q->target[t]);
	return 0;
}

/* Possible is asked first: the stronger proofs cannot begin at a smaller size. */
static int answer(struct search *s, struct subject *u, size_t level, struct ct_capacity_answer *a, struct ct_err *err)
{
	struct question q = { s, u, level, POSSIBLE };
	int64_t found, node = s->c->node_gpus;
	const struct size *top;

	*a = (struct ct_capacity_answer){ .level = level, .policy = u->policy, .only = u->only, .monotone = 1 };
	CT_TRY(runs_of(s, u, s->hi, &top, err));
	CT_TRY(bisect(&q, s->lo, s->hi, &found, err));
	a->gpus_possible = found * node;
	q.proof = BY_MEAN;
	if (found)
		CT_TRY(bisect(&q, found, s->hi, &found, err));
	a->gpus_mean = found * node;
	q.proof = SHOWN;
	if (found)
		CT_TRY(find_safe(&q, found, &found, err));
	a->gpus = found * node;
	if (s->c->stopped)
		return 0;
	check_order(&q, a);
	return describe(s, u, a, err);
}

/* ---- what may be asked at all */

static int check_targets(const struct ct_capacity_request *q, struct ct_err *err)
{
	int seen[CT_CAPACITY_CLASSES] = { 0 };
	size_t levels = 1;

	if (q->n_targets == 0)
		return ct_err_at(err, CT_EUSAGE, NULL, "no --target");
	for (size_t i = 0; i < q->n_targets; i++) {
		size_t n = q->target[i].n_bounds;

		seen[q->target[i].class]++;
		if (n > 1 && levels > 1 && n != levels)
			return ct_err_at(err, CT_EUSAGE, NULL,
					 "targets with several values want equally many, got %zu and %zu", levels, n);
		levels = n > levels ? n : levels;
	}
	if (q->is_static && (seen[CT_CAPACITY_ALL] || !seen[CT_CAPACITY_TRAIN] || !seen[CT_CAPACITY_INFER]))
		return ct_err_at(
		    err, CT_EUSAGE, NULL,
		    "--static wants targets of both classes, train.METRIC and infer.METRIC, and no others");
	if (q->is_static && q->n_policies == 1)
		return ct_err_at(err, CT_EUSAGE, NULL,
				 "--static wants two policies at least: that of the pools, that of the shared cluster");
	return 0;
}

/* The work must be the same for every size. */
static int check_base(struct search *s, struct ct_config *c, struct ct_err *err)
{
	const struct ct_capacity_request *q = s->q;
	int64_t node;

	if (c->cluster.n_types || c->cluster.file)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "'plan' varies a cluster of like nodes: give cluster.gpus_per_node, not "
				 "cluster.%s",
				 c->cluster.file ? "file" : "node_types");
	if (c->trace.load > 0)
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "'trace.load' would stretch the trace anew for every size: scale it once with "
				 "'cotenant trace scale'");
	if (c->generate.kind && !(c->generate.gpus > 0))
		return ct_err_at(err, CT_ECONFIG, NULL,
				 "'generate.kind' would make other jobs for every size: give generate.gpus");
	node = c->cluster.gpus_per_node;
	if (node < 1)
		return ct_err_at(err, CT_ECONFIG, NULL, "'cluster.gpus_per_node' wants at least 1");
	s->lo = q->in_nodes ? q->lo : (q->lo + node - 1) / node;
	s->hi = q->in_nodes ? q->hi : q->hi / node;
	if (s->lo > s->hi)
		return ct_err_at(err, CT_EUSAGE, NULL,
				 "no whole node of %" PRId64 " GPUs between %" PRId64 " and %" PRId64 " GPUs", node,
				 q->lo, q->hi);
	s->c->node_gpus = node;
	s->c->first_seed = c->sim.seed;
	s->c->runs = q->runs ? q->runs : c->generate.kind ? 5 : 1;
	if (!q->is_static && q->n_policies == 0 && !c->policy.name)
		return ct_err_at(err, CT_ECONFIG, NULL, "no policy: give --policies or policy.name");
	if (!q->is_static && q->n_policies == 0) {
		s->c->request.policy[0] = ct_arena_text(&s->c->arena, c->policy.name, strlen(c->policy.name));
		s->c->request.n_policies = 1;
	}
	return 0;
}

static int read_base(struct search *s, struct ct_err *err)
{
	struct ct_config c;
	int rc;

	ct_config_init(&c);
	rc = ct_overrides_apply(s->q->overrides, s->q->config_file, &c, err);
	if (!rc)
		rc = check_base(s, &c, err);
	ct_config_fini(&c);
	return rc;
}

/* ---- all of it */

static void make_subjects(struct search *s)
{
	struct ct_capacity_request *q = &s->c->request;

	s->subject = ct_calloc(CT_CAPACITY_POLICIES + 2, sizeof *s->subject);
	if (q->is_static && q->n_policies == 0) {
		q->policy[0] = "volcano";
		q->policy[1] = "elastico";
		q->n_policies = 2;
	}
	if (q->is_static) {
		s->subject[s->n_subjects++] = (struct subject){ .policy = q->policy[0], .only = CT_CAPACITY_TRAIN };
		s->subject[s->n_subjects++] = (struct subject){ .policy = q->policy[0], .only = CT_CAPACITY_INFER };
	}
	for (size_t i = q->is_static ? 1 : 0; i < q->n_policies; i++)
		s->subject[s->n_subjects++] = (struct subject){ .policy = q->policy[i] };
}

static double share_saved(int64_t all, int64_t without, int64_t of)
{
	return all && of ? 1.0 - (double)(all - without) / (double)of : NAN;
}

static void save(struct ct_capacity *c, const struct ct_capacity_answer *train, const struct ct_capacity_answer *infer,
		 const struct ct_capacity_answer *shared)
{
	struct ct_capacity_saving *s = &c->saving[c->n_savings++];
	int all = train->gpus && infer->gpus, mean = train->gpus_mean && infer->gpus_mean;

	*s = (struct ct_capacity_saving){
		.level = shared->level,
		.train = train,
		.infer = infer,
		.shared = shared,
		.additional = all ? share_saved(shared->gpus, train->gpus, infer->gpus) : NAN,
		.total = all ? share_saved(shared->gpus, 0, train->gpus + infer->gpus) : NAN,
		.additional_mean = mean ? share_saved(shared->gpus_mean, train->gpus_mean, infer->gpus_mean) : NAN,
		.total_mean = mean ? share_saved(shared->gpus_mean, 0, train->gpus_mean + infer->gpus_mean) : NAN,
	};
}

/* Answers stand level by level, in the order of subjects. */
static void make_savings(struct search *s)
{
	struct ct_capacity *c = s->c;

	c->saving = ct_calloc(c->n_answers, sizeof *c->saving);
	for (size_t at = 0; at + s->n_subjects <= c->n_answers; at += s->n_subjects)
		for (size_t u = 2; u < s->n_subjects; u++)
			save(c, &c->answer[at], &c->answer[at + 1], &c->answer[at + u]);
}

static int answer_all(struct search *s, struct ct_err *err)
{
	struct ct_capacity *c = s->c;

	c->answer = ct_calloc(c->levels * s->n_subjects, sizeof *c->answer);
	for (size_t level = 0; level < c->levels; level++)
		for (size_t u = 0; u < s->n_subjects; u++) {
			CT_TRY(answer(s, &s->subject[u], level, &c->answer[c->n_answers], err));
			if (c->stopped)
				return 0;
			c->n_answers++;
		}
	return 0;
}

static void search_fini(struct search *s)
{
	for (size_t u = 0; u < s->n_subjects; u++) {
		for (size_t i = 0; i < s->subject[u].n; i++)
			free(s->subject[u].size[i].run);
		free(s->subject[u].size);
	}
	free(s->subject);
	ct_jobs_pool_free(s->pool);
}

int ct_capacity_find(const struct ct_capacity_request *q, struct ct_capacity *c, struct ct_err *err)
{
	struct search s = { .c = c, .q = &c->request };
	int rc;

	*c = (struct ct_capacity){ .request = *q, .levels = 1 };
	rc = check_targets(q, err);
	if (!rc)
		rc = read_base(&s, err);
	if (rc) {
		ct_capacity_fini(c);
		return rc;
	}
	for (size_t i = 0; i < q->n_targets; i++) {
		s.want_classes |= q->target[i].class != CT_CAPACITY_ALL;
		c->levels = q->target[i].n_bounds > c->levels ? q->target[i].n_bounds : c->levels;
	}
	s.pool = ct_jobs_pool_new();
	make_subjects(&s);
	rc = answer_all(&s, err);
	if (!rc && q->is_static)
		make_savings(&s);
	search_fini(&s);
	if (rc)
		ct_capacity_fini(c);
	return rc;
}

void ct_capacity_fini(struct ct_capacity *c)
{
	free(c->answer);
	free(c->saving);
	ct_arena_fini(&c->arena);
	memset(c, 0, sizeof *c);
}
