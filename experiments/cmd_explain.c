/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant explain RESULT.h5 --job ID */
#include "experiments/command.h"
#include "experiments/explain.h"

enum { FLAG_JOB = 256, FLAG_JSON };
static const struct ct_flag flags[] = {
	{ "job", FLAG_JOB, "ID", "the job, by its job_id" },
	{ "json", FLAG_JSON, NULL, "one JSON document: the timeline, and where the time went" },
	{ 0 },
};

static int explain(const char *path, const char *job, int json, struct ct_err *err)
{
	struct ct_result r;
	struct ct_story s;
	int rc;

	CT_TRY(ct_result_read_h5(path, &r, err));
	rc = ct_story_make(&s, &r, job, err);
	if (!rc)
		rc = json ? ct_story_json(&s, stdout, err) : ct_story_print(&s, stdout, err);
	ct_story_fini(&s);
	ct_result_fini(&r);
	return rc;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	const char *job = NULL;
	struct ct_err err = { 0 };
	int id, json = 0;

	(void)program;
	while ((id = ct_flag_next(&r)) >= 0) {
		json = json || id == FLAG_JSON;
		job = id == FLAG_JOB ? r.arg : job;
	}
	if (id != CT_FLAGS_DONE)
		return id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	if (argc - r.first != 1)
		return ct_misuse(self, "wanted one result file, got %d", argc - r.first);
	if (!job)
		return ct_misuse(self, "which job? give --job ID");
	return explain(argv[r.first], job, json, &err) ? ct_fail(&err) : CT_OK;
}

const struct ct_command ct_cmd_explain = {
	.name = "explain",
	.usage = "RESULT.h5 --job ID [--json]",
	.summary = "why a job waited, where and beside whom it ran, and where its time went",
	.flags = flags,
	.notes = "For any policy, from a result that keeps its decisions (sim.decisions, on unless switched off). A\n"
		 "reason stands from when the policy first gave it until it gave another, or the job got its GPUs.",
	.examples = "  cotenant run data:experiments/demo/demo.yaml --policy easy --out easy.h5\n"
		    "  cotenant explain easy.h5 --job j17",
	.run = run,
};
