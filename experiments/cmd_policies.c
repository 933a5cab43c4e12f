/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant policies [NAME] */
#include "experiments/command.h"
#include "experiments/option.h"
#include "scheduler/registry.h"
#include "sim/json.h"

#include <string.h>

enum { FLAG_JSON = 256 };
static const struct ct_flag flags[] = {
	{ "json", FLAG_JSON, NULL, "one JSON document" },
	{ 0 },
};

static void json_option(struct ct_json *j, const struct ct_opt *o)
{
	char domain[160];

	ct_opt_domain(o, domain, sizeof domain);
	ct_json_open(j, NULL, '{', 1);
	ct_json_text(j, "name", o->name);
	ct_json_text(j, "takes", domain);
	ct_json_text(j, "default", o->def);
	ct_json_text(j, "unit", o->unit);
	ct_json_text(j, "help", o->help);
	ct_json_close(j);
}

static void json_policy(struct ct_json *j, const struct ct_policy *p)
{
	ct_json_open(j, NULL, '{', 0);
	ct_json_text(j, "name", p->name);
	ct_json_text(j, "summary", p->summary);
	ct_json_text(j, "paper", p->paper);
	ct_json_bool(j, "oracle", (p->flags & CT_POLICY_ORACLE) != 0);
	ct_json_f64(j, "period_s", (double)p->period_us / 1e6);
	ct_json_open(j, "options", '[', 0);
	for (const struct ct_opt *o = p->opts; o && o->name; o++)
		json_option(j, o);
	ct_json_close(j);
	ct_json_close(j);
}

static int print_json(const struct ct_policy *only, struct ct_err *err)
{
	const struct ct_policy *p;
	struct ct_json j;

	ct_json_begin(&j, stdout);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_open(&j, "rows", '[', 0);
	if (only)
		json_policy(&j, only);
	for (size_t i = 0; !only && (p = ct_policy_at(i)); i++)
		json_policy(&j, p);
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, "standard output", err);
}

static void print_one(const struct ct_policy *p)
{
	printf("%s: %s\n", p->name, p->summary);
	if (p->paper)
		printf("paper: %s\n", p->paper);
	if (p->flags & CT_POLICY_ORACLE)
		puts("may ask for true run times");
	if (p->period_us > 0)
		printf("decides every %g s\n", (double)p->period_us / 1e6);
	if (p->opts && p->opts->name) {
		puts("options:");
		ct_opt_print_manual(stdout, "policy", p->opts);
	}
}

static void print_all(void)
{
	const struct ct_policy *p;
	size_t width = 0;

	for (size_t i = 0; (p = ct_policy_at(i)); i++)
		if (strlen(p->name) > width)
			width = strlen(p->name);
	for (size_t i = 0; (p = ct_policy_at(i)); i++)
		printf("%-*s  %s\n", (int)width, p->name, p->summary);
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	const struct ct_policy *p = NULL;
	struct ct_err err = { 0 };
	int id, json = 0;

	(void)program;
	while ((id = ct_flag_next(&r)) >= 0)
		json = json || id == FLAG_JSON;
	if (id != CT_FLAGS_DONE)
		return id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	if (argc - r.first > 1)
		return ct_misuse(self, "one policy at most, got '%s' too", argv[r.first + 1]);
	if (r.first < argc &&
	    (ct_policy_get(argv[r.first], &p, &err) || ct_opt_check_table(p->opts, p->state_size, p->name, &err)))
		return ct_fail(&err);
	if (json)
		return print_json(p, &err) ? ct_fail(&err) : CT_OK;
	if (p)
		print_one(p);
	else
		print_all();
	return CT_OK;
}

const struct ct_command ct_cmd_policies = {
	.name = "policies",
	.usage = "[NAME|FILE.so] [OPTION]...",
	.summary = "list the policies, or the options of one",
	.flags = flags,
	.examples = "  cotenant policies\n"
		    "  cotenant policies easy\n"
		    "  cotenant policies ./mine.so --json",
	.run = run,
};
