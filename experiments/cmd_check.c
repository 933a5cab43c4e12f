/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant check [CONFIG.yaml] */
#include "experiments/command.h"
#include "experiments/config.h"
#include "experiments/option.h"
#include "experiments/overrides.h"
#include "experiments/setup.h"

#include <inttypes.h>
#include <math.h>

enum { FLAG_PRINT = CT_FLAG_OWN };
static const struct ct_flag flags[] = {
	CT_RUN_FLAGS,
	{ "print-config", FLAG_PRINT, NULL, "instead of the report: every key with its effective value, as YAML" },
	{ 0 },
};

static void print_policy(struct ct_config *c)
{
	const struct ct_policy *p = c->policy.policy;

	printf("%-12s %s", "policy", p->name);
	for (const struct ct_opt *o = p->opts; o && o->name; o++)
		printf("%s %s=%s", o == p->opts ? ":" : ",", o->name, ct_opt_text(o, c->policy.state, &c->arena));
	fputc('\n', stdout);
}

static void print_window(const struct ct_config *c)
{
	printf("%-12s jobs submitted from %.6g s ", "window", ct_seconds(c->sim.warmup));
	if (c->sim.until)
		printf("to %.6g s after the first submission, %s\n", ct_seconds(c->sim.until),
		       c->sim.censor ? "cut off there" : "followed to their end");
	else
		fputs("after the first submission on, followed to their end\n", stdout);
}

static int report(struct ct_config *c, const struct ct_setup *s, struct ct_err *err)
{
	const struct ct_import_report *r = &s->work->report;
	uint64_t rejected = 0;

	printf("%-12s %s (%s): %" PRIu64 " rows, %zu jobs, %.1f GPU h\n", "trace", r->source, r->format, r->rows_read,
	       s->work->n, ct_workload_gpu_seconds(s->work) / 3600);
	for (unsigned i = 0; i < r->n_rules; i++)
		printf("  %s: %" PRIu64 " (%s)\n", r->rules[i].rule, r->rules[i].rows, r->rules[i].meaning);
	printf("%-12s %s\n", "cluster", ct_setup_cluster_text(c, &c->arena));
	printf("%-12s %.4f", "load", ct_workload_offered_load(s->work, ct_setup_gpus(c)));
	if (c->trace.load > 0)
		printf(", stretched from %.4f", s->load_read);
	fputc('\n', stdout);
	print_policy(c);
	print_window(c);
	printf("%-12s %s, fallback %g\n", "contention", c->contention.pairs ? c->contention.pairs : "no pair table",
	       c->contention.fallback);
	printf("%-12s %zu rows\n", "transitions", s->transitions.n);
	CT_TRY(ct_setup_count_rejected(s, &rejected, stdout, err));
	if (rejected == 0)
		printf("%-12s every job fits the cluster\n", "jobs");
	return 0;
}

static int check(struct ct_config *c, int print, struct ct_err *err)
{
	struct ct_setup s = { 0 };
	int rc = ct_setup_trace(&s, c, NULL, NULL, err);

	if (rc == 0)
		rc = ct_setup_world(&s, c, err);
	if (rc == 0 && print)
		fputs(ct_config_yaml(c), stdout);
	else if (rc == 0)
		rc = report(c, &s, err);
	ct_setup_fini(&s);
	return rc;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct ct_overrides o = { 0 };
	struct ct_err err = { 0 };
	struct ct_config c;
	int id, print = 0;

	(void)program;
	while ((id = ct_flag_next(&r)) >= 0) {
		if (id == FLAG_PRINT)
			print = 1;
		else
			ct_overrides_add(&o, id, r.arg);
	}
	if (id != CT_FLAGS_DONE || argc - r.first > 1 || argc == 1) {
		ct_overrides_fini(&o);
		if (id != CT_FLAGS_DONE)
			return id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
		return argc == 1 ? ct_misuse(self, "nothing to check")
				 : ct_misuse(self, "one configuration at most, got '%s' too", argv[r.first + 1]);
	}
	ct_config_init(&c);
	if (ct_overrides_apply(&o, r.first < argc ? argv[r.first] : NULL, &c, &err) == 0 &&
	    ct_config_finish(&c, CT_CONFIG_RUN, &err) == 0)
		check(&c, print, &err);
	ct_overrides_fini(&o);
	ct_config_fini(&c);
	return err.code ? ct_fail(&err) : CT_OK;
}

const struct ct_command ct_cmd_check = {
	.name = "check",
	.usage = "[CONFIG.yaml] [OPTION]...",
	.summary = "validate configuration, cluster, trace, policy and tables; run nothing",
	.flags = flags,
	.examples = "  cotenant check run.yaml\n"
		    "  cotenant check run.yaml --set cluster.nodes=16 --on-bad-row=drop\n"
		    "  cotenant check --trace jobs.csv --cluster 32x8 --policy easy --print-config > run.yaml",
	.run = run,
};
