/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant compare A.h5 B.h5 [...] */
#include "experiments/command.h"
#include "experiments/compare.h"

enum { FLAG_JSON = 256 };
static const struct ct_flag flags[] = {
	{ "json", FLAG_JSON, NULL, "one JSON document, rows metric a b diff lo hi effect n verdict" },
	{ 0 },
};

static int compare(const char *const *paths, size_t n, int json, struct ct_err *err)
{
	struct ct_comparison c;
	int rc;

	CT_TRY(ct_compare_load(&c, paths, n, err));
	rc = json ? ct_compare_json(&c, stdout, err) : ct_compare_print(&c, stdout, err);
	ct_compare_fini(&c);
	return rc;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct ct_err err = { 0 };
	int id, json = 0, n;

	(void)program;
	while ((id = ct_flag_next(&r)) >= 0)
		json = json || id == FLAG_JSON;
	if (id != CT_FLAGS_DONE)
		return id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	n = argc - r.first;
	if (n < 2 || n > CT_COMPARE_RUNS)
		return ct_misuse(self, "wanted 2 to %d result files, got %d", (int)CT_COMPARE_RUNS, n);
	if (compare((const char *const *)(argv + r.first), (size_t)n, json, &err))
		return ct_fail(&err);
	return CT_OK;
}

const struct ct_command ct_cmd_compare = {
	.name = "compare",
	.usage = "A.h5 B.h5 [...] [OPTION]...",
	.summary = "compare results, each with the first: paired differences with confidence intervals",
	.flags = flags,
	.notes = "Jobs are paired by job_id; intervals are 95 %, by batch means over the order of submission.",
	.examples = "  cotenant compare fifo.h5 easy.h5\n"
		    "  cotenant compare fifo.h5 easy.h5 las.h5 --json",
	.run = run,
};
