/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant trace transitions IN --out OUT.csv */
#include "experiments/cmd_trace.h"
#include "experiments/data_path.h"
#include "experiments/overrides.h"
#include "traces/genai_transitions.h"

#include <string.h>

static const struct ct_flag flags[] = {
	{ "out", CT_FLAG_OUT, "FILE", "transition table to write (CSV, for transitions.file)" },
	{ "on-bad-row", CT_FLAG_BAD_ROW, "refuse|drop", "what to do with a row that cannot be read" },
	{ 0 },
};

static int write_table(const char *in, const struct ct_trace_options *o, const char *out)
{
	struct ct_arena arena = { 0 };
	struct ct_err err = { 0 };
	const char *path;

	if (!ct_data_path(in, &arena, &path, &err))
		ct_genai_write_transitions(path, o, out, &err);
	ct_arena_fini(&arena);
	return err.code ? ct_fail(&err) : CT_OK;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct ct_trace_options o = { .on_bad_row = CT_BAD_ROW_REFUSE };
	const char *out = NULL;
	int id;

	(void)program;
	while ((id = ct_flag_next(&r)) >= 0) {
		if (id == CT_FLAG_OUT)
			out = r.arg;
		else if (strcmp(r.arg, "drop") == 0)
			o.on_bad_row = CT_BAD_ROW_DROP;
		else if (strcmp(r.arg, "refuse") != 0)
			return ct_misuse(self, "--on-bad-row wants refuse or drop, got '%.60s'", r.arg);
	}
	if (id != CT_FLAGS_DONE)
		return id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	if (argc - r.first != 1)
		return ct_misuse(self, "wants one trace, got %d", argc - r.first);
	if (!out)
		return ct_misuse(self, "wants --out FILE");
	return write_table(argv[r.first], &o, out);
}

const struct ct_command ct_cmd_trace_transitions = {
	.name = "trace transitions",
	.usage = "IN --out OUT.csv",
	.summary = "loading times that the GenAI trace measured, as a table of transitions",
	.flags = flags,
	.examples = "  cotenant trace transitions data/genai --out cold_start.csv\n"
		    "  cotenant run lab.yaml --set transitions.file=cold_start.csv",
	.run = run,
};
