/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant compare A.h5 B.h5 [...], cotenant compare A1.h5 A2.h5 ... --vs B1.h5 B2.h5 ... */
#include "experiments/command.h"
#include "experiments/compare.h"
#include "experiments/compare_sets.h"
#include "sim/csv.h"
#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FLAG_JSON = 256, FLAG_VS, FLAG_BY, FLAG_WIDTH };
static const struct ct_flag flags[] = {
	{ "vs", FLAG_VS, NULL, "between sets: runs of one configuration before it, of the next behind" },
	{ "by", FLAG_BY, "WHAT", "also by user (with fairness), partition, class or size of job" },
	{ "width", FLAG_WIDTH, "FRAC", "half-width of a's mean for which needed runs are told (0.05)" },
	{ "json", FLAG_JSON, NULL, "one JSON document, rows metric a b diff lo hi effect n verdict" },
	{ 0 },
};

struct request {
	enum ct_breakdown_by by;
	double width;
	int json;
	struct ct_run_files *set;
	size_t n_sets;
};

static int compare_runs(const struct request *q, const char *const *paths, size_t n, struct ct_err *err)
{
	struct ct_comparison c;
	int rc = 0;

	CT_TRY(ct_compare_load(&c, paths, n, err));
	if (q->by != CT_BY_NONE)
		rc = ct_compare_break_down(&c, q->by, err);
	if (!rc)
		rc = q->json ? ct_compare_json(&c, stdout, err) : ct_compare_print(&c, stdout, err);
	ct_compare_fini(&c);
	return rc;
}

static int compare_sets(const struct request *q, struct ct_err *err)
{
	struct ct_set_comparison c;
	int rc;

	CT_TRY(ct_compare_sets_load(&c, q->set, q->n_sets, q->by, q->width, err));
	rc = q->json ? ct_compare_sets_json(&c, stdout, err) : ct_compare_sets_print(&c, stdout, err);
	ct_compare_sets_fini(&c);
	return rc;
}

/* The flag reader brings operands together behind the flags, in their order; --vs
 * has to stay among them, so it goes there as one. */
static const char between[] = "vs";

static void hide_separators(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--vs") == 0)
			argv[i] = (char *)(uintptr_t)between;
}

static void split_sets(struct request *q, const char *const *word, size_t n)
{
	q->set = ct_calloc(n + 1, sizeof *q->set);
	q->n_sets = 1;
	q->set[0].path = word;
	for (size_t i = 0; i < n; i++) {
		if (word[i] == between)
			q->set[q->n_sets++].path = word + i + 1;
		else
			q->set[q->n_sets - 1].n++;
	}
}

/* Sets of one run each are single runs. */
static int are_single(const struct request *q)
{
	for (size_t i = 0; i < q->n_sets; i++)
		if (q->set[i].n != 1)
			return 0;
	return 1;
}

static int compare(struct request *q, const char *const *word, size_t n, struct ct_err *err)
{
	const char **path;
	size_t kept = 0;
	int rc;

	split_sets(q, word, n);
	if (q->n_sets > 1 && !are_single(q))
		return compare_sets(q, err);
	path = ct_calloc(n + 1, sizeof *path);
	for (size_t i = 0; i < n; i++)
		if (word[i] != between)
			path[kept++] = word[i];
	rc = compare_runs(q, path, kept, err);
	free(path);
	return rc;
}

/* CT_FLAGS_DONE, or the reader's other ends. */
static int read_flags(struct ct_flag_reader *r, struct request *q)
{
	int id;

	while ((id = ct_flag_next(r)) >= 0) {
		if (id == FLAG_JSON) {
			q->json = 1;
		} else if (id == FLAG_VS) {
			ct_misuse(r->command, "'--vs' is written out and takes no value");
			return CT_FLAGS_ERROR;
		} else if (id == FLAG_BY && ct_breakdown_parse(r->arg, &q->by)) {
			ct_misuse(r->command, "--by wants " CT_BREAKDOWN_CHOICES ", got '%.60s'", r->arg);
			return CT_FLAGS_ERROR;
		} else if (id == FLAG_WIDTH && (ct_parse_f64(r->arg, strlen(r->arg), &q->width) || !(q->width > 0))) {
			ct_misuse(r->command, "--width wants a number above 0, got '%.60s'", r->arg);
			return CT_FLAGS_ERROR;
		}
	}
	return id;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct request q = { .width = 0.05 };
	struct ct_err err = { 0 };
	int id, n;

	(void)program;
	hide_separators(argc, argv);
	id = read_flags(&r, &q);
	if (id != CT_FLAGS_DONE)
		return id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	n = argc - r.first;
	if (n < 2)
		return ct_misuse(self, "wanted 2 to %d result files, got %d", (int)CT_COMPARE_RUNS, n);
	compare(&q, (const char *const *)(argv + r.first), (size_t)n, &err);
	free(q.set);
	return err.code ? ct_fail(&err) : CT_OK;
}

const struct ct_command ct_cmd_compare = {
	.name = "compare",
	.usage = "A.h5 B.h5 [...] [OPTION]... | A1.h5 A2.h5 ... --vs B1.h5 B2.h5 ...",
	.summary = "compare results, each with the first: paired differences with confidence intervals",
	.flags = flags,
	.notes = "Single runs: jobs are paired by job_id, 95 % intervals by batch means over the order of submission.\n"
		 "Sets (--vs): runs are paired by seed, 95 % intervals over seeds. The latter hold for other days of\n"
		 "the same kind when the runs are of several, the former only for the day that was run.",
	.examples = "  cotenant compare fifo.h5 easy.h5\n"
		    "  cotenant compare fifo.h5 easy.h5 las.h5 --by size --json\n"
		    "  cotenant compare fifo-1.h5 fifo-2.h5 fifo-3.h5 --vs easy-1.h5 easy-2.h5 easy-3.h5 --by user",
	.run = run,
};
