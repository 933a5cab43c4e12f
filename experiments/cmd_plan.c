/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant plan [CONFIG.yaml] --target ... --vary gpus=LO..HI */
#include "experiments/capacity.h"
#include "experiments/command.h"
#include "experiments/progress.h"
#include "sim/csv.h"
#include "sim/memory.h"

#include <string.h>

enum { FLAG_TARGET = CT_FLAG_OWN, FLAG_VARY, FLAG_POLICIES, FLAG_RUNS, FLAG_STATIC, FLAG_JSON, FLAG_PROGRESS };
static const struct ct_flag flags[] = {
	{ "target", FLAG_TARGET, "TARGET", "[train.|infer.]METRIC<N[,N...] or >; a row for each N; repeatable" },
	{ "vary", FLAG_VARY, "RANGE", "gpus=LO..HI or nodes=LO..HI, by nodes of cluster.gpus_per_node" },
	{ "policies", FLAG_POLICIES, "A,B,...", "instead of policy.name; --static: the pools', then the others" },
	{ "runs", FLAG_RUNS, "N", "seeds a size, from sim.seed on (5 where jobs are generated, else 1)" },
	{ "jobs", 'j', "N", "worker processes (1); results do not depend on it" },
	{ "static", FLAG_STATIC, NULL, "two pools, first policy, against one cluster, other policies" },
	{ "json", FLAG_JSON, NULL, "one JSON document instead of the tables" },
	{ "progress", FLAG_PROGRESS, "WHEN", "auto (on a terminal), always, never" },
	CT_RUN_FLAGS,
	{ 0 },
};

struct input {
	struct ct_capacity_request q;
	struct ct_overrides overrides;
	struct ct_arena arena;
	int json, has_range;
	enum ct_progress_mode progress;
};

static int add_policies(struct input *in, const char *list, struct ct_err *err)
{
	for (in->q.n_policies = 0;;) {
		size_t n = strcspn(list, ",");

		if (n == 0)
			return ct_err_at(err, CT_EUSAGE, NULL, "--policies wants names with commas between");
		if (in->q.n_policies == CT_CAPACITY_POLICIES)
			return ct_err_at(err, CT_EUSAGE, NULL, "at most %d policies", (int)CT_CAPACITY_POLICIES);
		in->q.policy[in->q.n_policies++] = ct_arena_text(&in->arena, list, n);
		if (!list[n])
			return 0;
		list += n + 1;
	}
}

static int add_target(struct input *in, const char *text, struct ct_err *err)
{
	if (in->q.n_targets == CT_CAPACITY_TARGETS)
		return ct_err_at(err, CT_EUSAGE, NULL, "at most %d targets", (int)CT_CAPACITY_TARGETS);
	return ct_capacity_target_parse(text, &in->q.target[in->q.n_targets++], err);
}

enum { RUNS_MOST = 10000, PROCESSES_MOST = 1024 };
static int take_flag(struct input *in, int id, const char *arg, struct ct_err *err)
{
	int64_t runs;

	switch (id) {
	case 'j':
		if (ct_parse_i64(arg, strlen(arg), &runs) || runs < 1 || runs > PROCESSES_MOST)
			return ct_err_at(err, CT_EUSAGE, NULL, "-j wants 1 to %d, got '%.60s'", (int)PROCESSES_MOST,
					 arg);
		in->q.processes = (unsigned)runs;
		return 0;
	case FLAG_TARGET:
		return add_target(in, arg, err);
	case FLAG_VARY:
		in->has_range = 1;
		return ct_capacity_vary_parse(arg, &in->q.lo, &in->q.hi, &in->q.in_nodes, err);
	case FLAG_POLICIES:
		return add_policies(in, arg, err);
	case FLAG_RUNS:
		if (ct_parse_i64(arg, strlen(arg), &runs) || runs < 1 || runs > RUNS_MOST)
			return ct_err_at(err, CT_EUSAGE, NULL, "--runs wants 1 to %d, got '%.60s'", (int)RUNS_MOST,
					 arg);
		in->q.runs = (size_t)runs;
		return 0;
	case FLAG_STATIC:
		in->q.is_static = 1;
		return 0;
	case FLAG_JSON:
		in->json = 1;
		return 0;
	case FLAG_PROGRESS:
		if (ct_progress_mode_parse(arg, &in->progress))
			return ct_err_at(err, CT_EUSAGE, NULL, "--progress wants auto, always or never, got '%.60s'",
					 arg);
		return 0;
	default:
		ct_overrides_add(&in->overrides, id, arg);
		return 0;
	}
}

static void on_run(void *ctx, uint64_t done)
{
	ct_progress_update(ctx, done, 0);
}

static int find(struct input *in, const struct ct_program *p, struct ct_err *err)
{
	struct ct_progress bar;
	struct ct_capacity c;
	int rc, stopped;

	in->q.interrupt = p->interrupted;
	in->q.progress = on_run;
	in->q.ctx = &bar;
	in->q.overrides = &in->overrides;
	ct_progress_init(&bar, in->progress, "planning", "runs");
	rc = ct_capacity_find(&in->q, &c, err);
	ct_progress_done(&bar);
	if (rc)
		return rc;
	stopped = c.stopped;
	rc = in->json ? ct_capacity_json(&c, stdout, err) : ct_capacity_print(&c, stdout, err);
	ct_capacity_fini(&c);
	if (rc || !stopped)
		return rc;
	ct_note("stopped by a signal: the answers that were not finished are missing");
	return 128 + *p->interrupted;
}

static int read_flags(struct ct_flag_reader *r, struct input *in, struct ct_err *err)
{
	int id;

	while ((id = ct_flag_next(r)) >= 0)
		if (take_flag(in, id, r->arg, err))
			return CT_FLAGS_DONE;
	return id;
}

static int run(const struct ct_command *self, struct ct_program *p, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct ct_err err = { 0 };
	struct input in = { 0 };
	int id = read_flags(&r, &in, &err), rc;

	if (id != CT_FLAGS_DONE)
		rc = id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	else if (err.code)
		rc = ct_misuse(self, "%s", err.text);
	else if (argc - r.first > 1)
		rc = ct_misuse(self, "one configuration at most, got '%.200s' too", argv[r.first + 1]);
	else if (!in.has_range || !in.q.n_targets)
		rc = ct_misuse(self, "wanted --target and --vary");
	else {
		in.q.config_file = r.first < argc ? argv[r.first] : NULL;
		rc = find(&in, p, &err);
		if (err.code)
			rc = ct_fail(&err);
	}
	ct_overrides_fini(&in.overrides);
	ct_arena_fini(&in.arena);
	return rc;
}

const struct ct_command ct_cmd_plan = {
	.name = "plan",
	.usage = "[CONFIG.yaml] --target TARGET --vary gpus=LO..HI [OPTION]...",
	.summary = "find the smallest cluster that meets targets, for each policy",
	.flags = flags,
	.notes = "The 95 % interval over seeds must meet the target. The jobs must be the same for every size: no\n"
		 "trace.load; generate.gpus with generate.kind. --static: as many GPUs as sharing saves (classes by\n"
		 "the trace's column kind = train or infer; without --policies volcano, then elastico).",
	.examples = "  cotenant plan run.yaml --target 'p95_jct_s<7200' --vary gpus=16..512 --policies fifo,easy\n"
		    "  cotenant plan r.yaml --static --target 'train.p95_wait_s<90' --target 'infer.p95_wait_s<60' ...",
	.run = run,
};
