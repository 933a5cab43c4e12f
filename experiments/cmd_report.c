/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant report RESULT.h5... --out report.html, cotenant report RESULT.h5 --timeline out.json */
#include "experiments/command.h"
#include "experiments/data_path.h"
#include "experiments/report.h"
#include "experiments/timeline.h"
#include "sim/csv.h"

#include <string.h>

enum { OUT = 'o', FIGURES = 256, TIMELINE, LIMIT };
static const struct ct_flag flags[] = {
	{ "out", OUT, "FILE", "the page, one HTML file that needs nothing else" },
	{ "figures", FIGURES, "FILE", "published figures beside ours, from `cotenant repro --csv`" },
	{ "timeline", TIMELINE, "FILE", "of one result: who held which GPU when, Chrome trace JSON" },
	{ "limit", LIMIT, "N", "most events of a timeline (1000000)" },
	{ 0 },
};

struct request {
	const char *out, *figures, *timeline;
	int64_t limit;
};

static int write_timeline(const char *path, const struct request *q, struct ct_err *err)
{
	struct ct_result r;
	struct ct_timeline t;
	int rc;

	CT_TRY(ct_result_read_h5(path, &r, err));
	rc = ct_timeline_make(&t, &r, err);
	if (!rc) {
		rc = ct_timeline_write(&t, &r, q->timeline, (size_t)q->limit, err);
		if (!rc && t.unknown)
			ct_note(
			    "%zu placements are not shown: the result does not say where or when; run it again with "
			    "sim.decisions=true",
			    t.unknown);
		ct_timeline_fini(&t);
	}
	ct_result_fini(&r);
	return rc;
}

static int write_page(const char *const *path, size_t n, const struct request *q, struct ct_err *err)
{
	struct ct_report_request page = { .path = path, .n_paths = n, .figures = q->figures, .out = q->out };
	struct ct_arena arena = { 0 };
	int rc = ct_data_path("data:plots/report.css", &arena, &page.style, err);

	if (!rc)
		rc = ct_report_write(&page, err);
	ct_arena_fini(&arena);
	return rc;
}

static int take(const struct ct_command *self, struct request *q, int id, const char *arg)
{
	if (id == OUT)
		q->out = arg;
	else if (id == FIGURES)
		q->figures = arg;
	else if (id == TIMELINE)
		q->timeline = arg;
	else if (ct_parse_i64(arg, strlen(arg), &q->limit) || q->limit < 1)
		return ct_misuse(self, "--limit wants a whole number above 0, got '%.60s'", arg);
	return 0;
}

static int check(const struct ct_command *self, const struct request *q, int n)
{
	if (!q->out && !q->timeline)
		return ct_misuse(self, "what is to be written? give --out or --timeline");
	if (q->figures && !q->out)
		return ct_misuse(self, "--figures go into the page: give --out");
	if (q->timeline && n != 1)
		return ct_misuse(self, "--timeline is of one result, got %d", n);
	if (n < (q->figures ? 0 : 1) || n > CT_REPORT_RUNS)
		return ct_misuse(self, "wanted 1 to %d result files, got %d", (int)CT_REPORT_RUNS, n);
	return 0;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct request q = { .limit = CT_TIMELINE_EVENTS };
	struct ct_err err = { 0 };
	int id, rc = 0;

	(void)program;
	while (!rc && (id = ct_flag_next(&r)) >= 0)
		rc = take(self, &q, id, r.arg);
	if (rc)
		return rc;
	if (id != CT_FLAGS_DONE)
		return id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	CT_TRY(check(self, &q, argc - r.first));
	if (q.timeline)
		rc = write_timeline(argv[r.first], &q, &err);
	if (!rc && q.out)
		rc = write_page((const char *const *)(argv + r.first), (size_t)(argc - r.first), &q, &err);
	return rc ? ct_fail(&err) : CT_OK;
}

const struct ct_command ct_cmd_report = {
	.name = "report",
	.usage = "RESULT.h5 [...] --out FILE.html [--figures FILE.csv] | RESULT.h5 --timeline FILE.json",
	.summary = "results as one page of tables and drawings, or as a timeline for a trace viewer",
	.flags = flags,
	.notes =
	    "The page holds no script and asks no network. A timeline shows moves and preemptions of results that\n"
	    "keep their decisions (sim.decisions); open it with https://ui.perfetto.dev or chrome://tracing.",
	.examples = "  cotenant run data:experiments/demo/demo.yaml --policy easy --out easy.h5\n"
		    "  cotenant report easy.h5 --out report.html\n"
		    "  cotenant report easy.h5 --timeline easy.json",
	.run = run,
};
