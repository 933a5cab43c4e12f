/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant repro [TABLE] */
#include "experiments/repro/ceiling.h"
#include "experiments/command.h"
#include "experiments/data_path.h"
#include "experiments/progress.h"
#include "experiments/repro/repro.h"
#include "experiments/repro/figures.h"
#include "experiments/repro/fits.h"
#include "experiments/repro/iac.h"
#include "experiments/repro/print.h"
#include "experiments/repro/sources.h"
#include "experiments/repro/traces.h"
#include "experiments/statistics.h"
#include "sim/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JSON = 256, SEEDS, WIDTH, SET, CHECK, ACCEPT, PROGRESS, FITS, VOLCANO, CSV, DATA, OUT };
static const struct ct_flag flags[] = {
	{ "seeds", SEEDS, "N", "runs of each cell, seeds 1 to N (10)" },
	{ "width", WIDTH, "X", "more seeds until half of each scored mean's interval is at most X % of it" },
	{ "jobs", 'j', "N", "worker processes (1); results do not depend on it" },
	{ "set", SET, "KEY=VALUE", "change the scenario: a sensitivity, not a reproduction" },
	{ "json", JSON, NULL, "one JSON document, rows id published ours lo hi ratio role tolerance within" },
	{ "check", CHECK, "FILE", "compare with a recorded state; exit status 7 where it differs" },
	{ "accept", ACCEPT, "FILE", "record this state, and show what differs from the last one" },
	{ "fits", FITS, "FILE", "also the range over equally good scenarios, a file of calib scenario" },
	{ "data", DATA, "DIR", "published data; real, worlds: else in ../shared/data; figures: else generated" },
	{ "volcano", VOLCANO, "NAME", "another profile plays Volcano, e.g. volcano-gpubinpack" },
	{ "csv", CSV, "FILE", "the rows as CSV, for `cotenant report`" },
	{ "out", OUT, "FOLDER", "fig1 to fig9, figures: what they are drawn from, as CSV" },
	{ "progress", PROGRESS, "WHEN", "auto (on a terminal), always, never" },
	{ 0 },
};

enum { SETTINGS = 32, FITS_MOST = 8, SEEDS_MOST = 1000, TABLES_TEXT = 1024 };
static const char published_file[] = "data:experiments/paper/published.yaml",
		  scenario_file[] = "data:experiments/paper/scenario.yaml";

struct request {
	const char *table, *check, *accept, *fits, *volcano, *csv, *data, *out;
	int64_t seeds, processes;
	double width; /* fraction; 0: as many seeds as were asked for */
	int json;
	enum ct_progress_mode progress;
	struct ct_cell_set set[SETTINGS];
	size_t n_set;
	struct ct_arena arena;
};

/* ---- the command line */

static int positive(const struct ct_command *self, const char *name, const char *arg, int64_t *out)
{
	if (ct_parse_i64(arg, strlen(arg), out) || *out < 1 || *out > SEEDS_MOST)
		return ct_misuse(self, "--%s wants a whole number of 1 to %d, got '%.60s'", name, (int)SEEDS_MOST, arg);
	return 0;
}

static int percent(const struct ct_command *self, const char *arg, double *out)
{
	if (ct_parse_f64(arg, strlen(arg), out) || !(*out >= 0.1 && *out <= 100))
		return ct_misuse(self, "--width wants a percentage of 0.1 to 100, got '%.60s'", arg);
	*out /= 100;
	return 0;
}

static int setting(const struct ct_command *self, struct request *q, const char *arg)
{
	const char *equals = strchr(arg, '=');

	if (!equals || equals == arg)
		return ct_misuse(self, "--set wants KEY=VALUE, got '%.100s'", arg);
	if (q->n_set == SETTINGS)
		return ct_misuse(self, "more than %d settings", (int)SETTINGS);
	q->set[q->n_set++] = (struct ct_cell_set){ ct_arena_text(&q->arena, arg, (size_t)(equals - arg)), equals + 1 };
	return 0;
}

static int take(const struct ct_command *self, struct request *q, int id, const char *arg)
{
	switch (id) {
	case SEEDS:
		return positive(self, "seeds", arg, &q->seeds);
	case WIDTH:
		return percent(self, arg, &q->width);
	case 'j':
		return positive(self, "jobs", arg, &q->processes);
	case SET:
		return setting(self, q, arg);
	case CHECK:
		q->check = arg;
		return 0;
	case FITS:
		q->fits = arg;
		return 0;
	case VOLCANO:
		q->volcano = arg;
		return 0;
	case CSV:
		q->csv = arg;
		return 0;
	case DATA:
		q->data = arg;
		return 0;
	case OUT:
		q->out = arg;
		return 0;
	case ACCEPT:
		q->accept = arg;
		return 0;
	case PROGRESS:
		if (ct_progress_mode_parse(arg, &q->progress))
			return ct_misuse(self, "--progress wants auto, always or never, got '%.60s'", arg);
		return 0;
	default:
		q->json = 1;
		return 0;
	}
}

/* ---- the recorded state */

static int check(const struct request *q, const struct ct_repro *rows, struct ct_err *err)
{
	struct ct_recorded was = { 0 };
	size_t differ;

	CT_TRY(ct_recorded_load(q->check, &was, err));
	differ = ct_recorded_compare(&was, rows, stderr);
	ct_recorded_fini(&was);
	if (differ)
		return ct_err_add(err, CT_EMISMATCH, NULL,
				  "%zu figures differ from '%s'; if that is wanted: cotenant repro %s --seeds %" PRId64
				  " --accept %s",
				  differ, q->check, q->table, q->seeds, q->check);
	return 0;
}

static int accept(const struct request *q, const struct ct_repro *rows, struct ct_err *err)
{
	struct ct_recorded was = { 0 };
	size_t differ;
	int rc;

	if (access(q->accept, F_OK) == 0)
		CT_TRY(ct_recorded_load(q->accept, &was, err));
	differ = ct_recorded_compare(&was, rows, stderr);
	rc = ct_recorded_write(&was, rows, q->accept, err);
	ct_recorded_fini(&was);
	if (!rc)
		ct_note("%zu figures changed in '%s'", differ, q->accept);
	return rc;
}

/* File name of the scenario behind the first row: a table's studies have one. */
static const char *scenario_name(const struct ct_paper *p, const struct ct_repro *rows)
{
	const char *path = scenario_file, *slash;

	for (size_t i = 0; i < rows->n; i++) {
		const struct ct_paper_figure *f = rows->row[i].figure;

		if (!f->runs || !p->study[f->study].base)
			continue;
		path = p->study[f->study].base;
		break;
	}
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void print(const struct request *q, const struct ct_paper *p, const struct ct_repro *rows)
{
	printf("%s; our means over seeds 1 to %" PRId64 "%s, %s%s%s%s\n\n", p->source, q->seeds,
	       q->width > 0 ? " and more, see below" : "",
	       q->n_set ? "scenario CHANGED by --set" : "scenario of experiments/paper/",
	       q->n_set ? "" : scenario_name(p, rows), q->volcano ? ", as Volcano " : "", q->volcano ? q->volcano : "");
	ct_repro_print(p, rows, q->fits != NULL);
}

static int conclude(const struct request *q, const struct ct_paper *p, const struct ct_repro *rows, struct ct_err *err)
{
	if (q->json)
		CT_TRY(ct_repro_print_json(rows, err));
	else if (rows->n)
		print(q, p, rows);
	if (ct_repro_figures_has(q->table) && !q->json) {
		fputs(rows->n ? "\n" : "", stdout);
		ct_repro_figures_print(q->table, q->out, stdout);
	}
	if (q->csv)
		CT_TRY(ct_repro_write_csv(rows, q->csv, err));
	if (q->accept)
		CT_TRY(accept(q, rows, err));
	return q->check ? check(q, rows, err) : 0;
}

/* ---- the whole */

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	ct_progress_update(ctx, done, total);
}

static int simulate(const struct request *q, struct ct_program *program, struct ct_study *s, struct ct_err *err)
{
	struct ct_progress bar;
	const struct ct_study_run how = { .processes = (unsigned)q->processes,
					  .interrupted = program->interrupted,
					  .progress = on_progress,
					  .ctx = &bar };
	int rc;

	ct_progress_init(&bar, q->progress, "running", "cells");
	rc = ct_study_run(s, &how, err);
	ct_progress_done(&bar);
	return rc;
}

/* Under each of the vectors that fit as well; with the other settings of --set none. */
static int range(const struct request *q, struct ct_program *program, const struct ct_paper *p, const char *scenario,
		 struct ct_repro *rows, struct ct_err *err)
{
	const struct ct_study_run how = { .processes = (unsigned)q->processes, .interrupted = program->interrupted };
	double *lo = ct_calloc(rows->n + 1, sizeof *lo), *hi = ct_calloc(rows->n + 1, sizeof *hi);
	struct ct_fits fits = { 0 };
	int rc = ct_fits_load(q->fits, FITS_MOST, &fits, err);

	for (size_t i = 0; i < rows->n; i++) {
		lo[i] = INFINITY;
		hi[i] = -INFINITY;
	}
	if (!rc)
		rc = ct_fits_range(&fits, p, scenario, q->table, (unsigned)q->seeds, &how, lo, hi, err);
	for (size_t i = 0; i < rows->n && !rc; i++) {
		rows->row[i].fits_lo = lo[i];
		rows->row[i].fits_hi = hi[i];
	}
	ct_fits_fini(&fits);
	free(lo);
	free(hi);
	return rc;
}

/* The scenario as it is set, without what is said of the policy: that is for variants of elastico
 * (experiments/repro/paper.h), and the scenario's own is another. */
static int scenario_config(const struct request *q, const char *scenario, struct ct_config *c, struct ct_err *err)
{
	struct ct_cell_set set[SETTINGS];
	size_t n = 0;

	for (size_t i = 0; i < q->n_set; i++)
		if (strncmp(q->set[i].key, "policy.", strlen("policy.")) != 0)
			set[n++] = q->set[i];
	return ct_cell_config(c, scenario, set, n, err);
}

/* Work a second that default configurations can do in the window, of the jobs of seed 1. */
static int ceiling_of(const struct request *q, const char *scenario, double *per_gpu, struct ct_err *err)
{
	struct ct_cell_request request = { 0 };
	struct ct_cell_result r;
	struct ct_config c;

	*per_gpu = NAN;
	ct_config_init(&c);
	if (scenario_config(q, scenario, &c, err) == 0 && ct_cell_run(&c, &request, &r, err) == 0) {
		uint32_t mem = (uint32_t)c.cluster.gpu_mem_mib, reserve = r.setup.spec.gpu_reserve_mib;
		double window = (double)ct_setup_gpus(&c) * ct_seconds(c.sim.until);
		struct ct_err inner = { 0 };

		if (!r.setup.truth || !c.sim.until)
			ct_note("no ceiling: it wants a calibration and sim.until");
		else if (ct_ceiling(r.setup.truth, r.setup.work, mem - reserve, window, per_gpu, &inner))
			ct_note("no ceiling: %s", inner.text);
		*per_gpu *= ct_setup_gpus(&c);
		ct_cell_fini(&r);
	}
	ct_config_fini(&c);
	return (int)err->code;
}

static int ceilings(const struct request *q, const struct ct_study *s, const char *scenario, struct ct_repro *rows,
		    struct ct_err *err)
{
	double work = NAN, base[SEEDS_MOST];
	int known = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct ct_paper_figure *f = rows->row[i].figure;
		size_t n;

		if (!f->bounded || f->over == SIZE_MAX)
			continue;
		if (!known)
			CT_TRY(ceiling_of(q, scenario, &work, err));
		known = 1;
		n = ct_study_values(s, f->study, f->over, f->metric, base, SEEDS_MOST);
		rows->row[i].ceiling = work / ct_mean(base, n);
	}
	return 0;
}

/* Before anything runs. */
static void say_expected(const struct ct_repro *expected)
{
	for (size_t i = 0; i < expected->n; i++)
		if (*expected->row[i].figure->note)
			ct_note("%s", expected->row[i].figure->note);
}

static int of_traces(const struct request *q, const struct ct_paper *p, const char *scenario, struct ct_repro *rows,
		     struct ct_err *err)
{
	struct ct_repro_figures f = {
		.out = q->out, .paper = p, .scenario = scenario, .set = q->set, .n_set = q->n_set
	};
	struct ct_config c;
	int rc;

	ct_config_init(&c);
	rc = scenario_config(q, scenario, &c, err);
	if (!rc) {
		f.traces = ct_repro_traces_new(q->data, (unsigned)q->seeds, (uint64_t)c.sim.seed);
		rc = ct_repro_traces_rows(f.traces, rows, err);
	}
	if (!rc && q->out)
		rc = ct_repro_figures_write(q->table, &f, err);
	ct_repro_traces_free(f.traces);
	ct_config_fini(&c);
	return rc;
}

/* Looks and adds seeds until every scored mean is known well enough. That the data say when to
 * stop shortens intervals a little: the first look has the asked number of seeds, not two. */
static int widen(const struct request *q, struct ct_program *program, const struct ct_paper *p, struct ct_study *s,
		 struct ct_repro *rows, struct ct_err *err)
{
	size_t wide;

	while (q->width > 0 && (wide = ct_repro_widen(s, rows, q->width, SEEDS_MOST)) > 0) {
		ct_note("%zu means are not known to %g %% yet: more seeds", wide, 100 * q->width);
		CT_TRY(simulate(q, program, s, err));
		if (*program->interrupted)
			break;
		ct_repro_fini(rows);
		ct_repro_rows(p, s, q->table, rows);
	}
	return 0;
}

static int sources(const struct request *q, struct ct_program *program, const struct ct_paper *p, const char *scenario,
		   struct ct_repro *rows, struct ct_err *err)
{
	const struct ct_repro_sources s = { .paper = p,
					    .scenario = scenario,
					    .table = q->table,
					    .set = q->set,
					    .n_set = q->n_set,
					    .interrupted = program->interrupted };

	CT_TRY(ct_repro_cases(&s, rows, err));
	CT_TRY(ct_repro_instances(&s, rows, err));
	return ct_repro_clock(&s, rows, err);
}

/* "table4 table5 ...": each once, in the order of the file, and those that are not in it. */
static const char *tables_of(const struct ct_paper *p, struct ct_arena *arena)
{
	char *text = ct_arena_alloc(arena, TABLES_TEXT, 1);
	size_t at = 0;

	for (size_t i = 0; i < p->n_figures; i++) {
		const char *table = p->figure[i].table;
		size_t k = 0;

		while (strcmp(p->figure[k].table, table) != 0)
			k++;
		if (k == i && strcmp(table, "none") != 0 && strncmp(table, "fig", 3) != 0 && at < TABLES_TEXT)
			at += (size_t)snprintf(text + at, TABLES_TEXT - at, "%s ", table);
	}
	if (at < TABLES_TEXT)
		snprintf(text + at, TABLES_TEXT - at, "table6 table7 fig1 to fig9 figures");
	return text;
}

static int repro(const struct ct_command *self, struct request *q, struct ct_program *program, struct ct_err *err)
{
	struct ct_repro rows = { 0 }, expected = { 0 };
	const char *published, *scenario;
	struct ct_inputs *inputs;
	struct ct_study *s;
	struct ct_paper *p;
	int rc;

	CT_TRY(ct_data_path(published_file, &q->arena, &published, err));
	CT_TRY(ct_data_path(scenario_file, &q->arena, &scenario, err));
	CT_TRY(ct_paper_load(published, &p, err));
	if (q->out && !ct_repro_figures_has(q->table)) {
		ct_paper_free(p);
		return ct_misuse(self, "--out belongs to fig1 to fig9, or figures");
	}
	if (!ct_repro_knows(p, q->table) && !ct_repro_figures_has(q->table)) {
		rc = ct_misuse(self, "no table '%.60s' in '%s', which has %s", q->table, published,
			       tables_of(p, &q->arena));
		ct_paper_free(p);
		return rc;
	}
	if (q->volcano && ct_paper_play(p, "volcano", q->volcano, err)) {
		ct_paper_free(p);
		return (int)err->code;
	}
	inputs = ct_inputs_new(p, q->data);
	s = ct_study_new(p, scenario, q->set, q->n_set);
	ct_study_inputs(s, inputs);
	ct_repro_want(p, s, q->table, (unsigned)q->seeds);
	rc = ct_repro_expect(q->table, &expected, err);
	say_expected(&expected);
	if (!rc)
		rc = simulate(q, program, s, err);
	if (!rc && !*program->interrupted) {
		ct_repro_rows(p, s, q->table, &rows);
		rc = widen(q, program, p, s, &rows, err);
	}
	if (!rc && !*program->interrupted && q->fits)
		rc = range(q, program, p, scenario, &rows, err);
	if (!rc && !*program->interrupted)
		rc = ceilings(q, s, scenario, &rows, err);
	if (!rc && !*program->interrupted)
		rc = ct_repro_calibration(q->table, &rows, err);
	ct_repro_find_iac(&rows);
	ct_repro_prepend(&rows, &expected);
	if (!rc && !*program->interrupted)
		rc = of_traces(q, p, scenario, &rows, err);
	if (!rc && !*program->interrupted)
		rc = sources(q, program, p, scenario, &rows, err);
	if (!rc && !*program->interrupted)
		rc = conclude(q, p, &rows, err);
	ct_repro_fini(&rows);
	ct_repro_fini(&expected);
	ct_study_free(s);
	ct_inputs_free(inputs);
	ct_paper_free(p);
	return rc;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader f = { .command = self, .argc = argc, .argv = argv };
	struct request q = { .table = "all", .seeds = 10, .processes = 1 };
	struct ct_err err = { 0 };
	int id, rc = 0;

	while (!rc && (id = ct_flag_next(&f)) >= 0)
		rc = take(self, &q, id, f.arg);
	if (!rc && id != CT_FLAGS_DONE)
		rc = id == CT_FLAGS_HELP ? -1 : CT_EUSAGE;
	if (!rc && argc - f.first > 1)
		rc = ct_misuse(self, "wanted one table, got %d", argc - f.first);
	if (!rc) {
		if (f.first < argc)
			q.table = argv[f.first];
		rc = repro(self, &q, program, &err);
	}
	ct_arena_fini(&q.arena);
	if (err.code)
		return ct_fail(&err);
	if (*program->interrupted)
		return CT_EXIT_INTERRUPTED;
	return rc < 0 ? CT_OK : rc;
}

const struct ct_command ct_cmd_repro = {
	.name = "repro",
	.usage = "[TABLE|all] [OPTION]...",
	.summary = "reproduce the published figures of the ElastiCo paper, each beside ours",
	.flags = flags,
	.notes =
	    "The figures, their definitions and roles stand in experiments/paper/published.yaml, the one scenario\n"
	    "behind them in experiments/paper/scenario.yaml. Only rows of role 'fit' were used to choose it.\n"
	    "Tables: table4 to table9, load, overhead, crosscheck, terms, cases, instances, active, where, misses,\n"
	    "convergence, sensitivity. all: every published figure once.\n"
	    "real: days of published traces instead; worlds: measured pairs of other GPUs, nothing fitted (--data).",
	.examples = "  cotenant repro table4\n"
		    "  cotenant repro all --seeds 20 -j 2 --json > all.json\n"
		    "  cotenant repro sure --seeds 40 -j 2\n"
		    "  cotenant repro table4 --seeds 40 --width 3\n"
		    "  cotenant repro real --data ../shared/data -j 2\n"
		    "  cotenant repro fig1 --data ../shared/data --out build/paper\n"
		    "  cotenant repro table4 --set calib.residual=false",
	.run = run,
};
