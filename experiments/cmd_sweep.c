/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant sweep FILE.yaml, and cotenant sweep merge DIR... */
#include "experiments/command.h"
#include "experiments/overrides.h"
#include "experiments/progress.h"
#include "experiments/sweep/prepare.h"
#include "experiments/sweep/report.h"
#include "experiments/version.h"
#include "sim/csv.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { FLAG_SHARD = CT_FLAG_OWN, FLAG_RESUME, FLAG_ONLY, FLAG_BASELINE, FLAG_JSON, FLAG_PROGRESS };
static const struct ct_flag flags[] = {
	{ "jobs", 'j', "N", "worker processes (the processors there are)" },
	{ "out", CT_FLAG_OUT, "DIR", "folder of the sweep (FILE without .yaml, and .sweep)" },
	{ "resume", FLAG_RESUME, NULL, "keep the cells that DIR has finished, run the others" },
	{ "shard", FLAG_SHARD, "I/N", "only part I of N; auto, auto/N: as Slurm's or Kubernetes' array says" },
	{ "set", CT_FLAG_SET, "KEY=VALUE", "a key of the configuration, in all cells; repeatable" },
	{ "only", FLAG_ONLY, "CELL", "run that cell alone, into DIR" },
	{ "baseline", FLAG_BASELINE, "AXIS=VALUE", "compare the others with it, pair by pair (sweep.baseline)" },
	{ "json", FLAG_JSON, NULL, "one JSON document instead of the table" },
	{ "progress", FLAG_PROGRESS, "WHEN", "auto (on a terminal), always, never" },
	{ 0 },
};
enum { MOST_WORKERS = 1024, SETTINGS = 64, SHOWN_FAILURES = 5 };

struct request {
	const struct ct_program *program;
	const char *file, *out, *shard_text;
	const char *baseline_key, *baseline_value;
	int resume, json;
	enum ct_progress_mode progress;
	unsigned workers;
	uint32_t only;
	struct ct_shard shard;
	struct ct_cell_set set[SETTINGS];
	size_t n_set;
	struct ct_arena arena;
};

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* ---- texts */

static const char *joined(struct ct_arena *a, const char *x, const char *y)
{
	size_t n = strlen(x), m = strlen(y);
	char *s = CT_NEW(a, char, n + m + 1);

	memcpy(s, x, n);
	memcpy(s + n, y, m + 1);
	return s;
}

/* As a shell reads it. */
static const char *quoted(struct ct_arena *a, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-";
	char *s, *to;

	if (*word && strspn(word, plain) == strlen(word))
		return word;
	s = to = CT_NEW(a, char, 4 * strlen(word) + 3);
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			memcpy(to, "'\\'", 3);
			to += 3;
		}
		*to++ = *word;
	}
	*to++ = '\'';
	return s;
}

/* What repeats a cell, with " --only N" behind it. */
static const char *command_of(struct request *q)
{
	struct ct_arena *a = &q->arena;
	const char *s = joined(a, "cotenant sweep ", quoted(a, q->file));

	s = joined(a, joined(a, s, " --out "), quoted(a, q->out));
	for (size_t i = 0; i < q->n_set; i++) {
		const char *set = joined(a, joined(a, q->set[i].key, "="), q->set[i].value);

		s = joined(a, joined(a, s, " --set "), quoted(a, set));
	}
	return s;
}

/* "sweeps/demo.yaml" gives "demo.sweep" here. */
static const char *default_out(struct request *q)
{
	const char *slash = strrchr(q->file, '/'), *name = slash ? slash + 1 : q->file;
	size_t n = strlen(name);

	name = strncmp(name, "data:", 5) == 0 ? name + 5 : name;
	n = strlen(name);
	if (n > 5 && strcmp(name + n - 5, ".yaml") == 0)
		n -= 5;
	else if (n > 4 && strcmp(name + n - 4, ".yml") == 0)
		n -= 4;
	return joined(&q->arena, ct_arena_text(&q->arena, name, n), ".sweep");
}

/* ---- the steps of a sweep */

static int check_settings(const struct request *q, const struct ct_sweep_plan *p, struct ct_err *err)
{
	for (size_t i = 0; i < q->n_set; i++)
		for (size_t k = 0; k < p->n_keys; k++)
			if (strcmp(q->set[i].key, p->key[k]) == 0)
				return ct_err_add(err, CT_EUSAGE, NULL, "--set %s: the sweep has an axis of that name",
						  q->set[i].key);
	if (q->only > p->n_cells)
		return ct_err_add(err, CT_EUSAGE, NULL, "--only %" PRIu32 ": the sweep has %zu cells", q->only,
				  p->n_cells);
	return 0;
}

static int check_folder(const struct request *q, const struct ct_sweep_store *store, struct ct_err *err)
{
	size_t n = ct_sweep_store_count(store);

	if (n == 0 || q->resume || q->only)
		return 0;
	return ct_err_add(err, CT_EUSAGE, NULL,
			  "'%s' has %zu finished cells: --resume keeps them, --out names another folder", q->out, n);
}

/* Those that cannot even begin are recorded here. */
static int record_unable(struct request *q, struct ct_sweep_prepared *s, const struct ct_sweep_store *store,
			 struct ct_err *err)
{
	for (size_t i = 0; i < s->table.n_rows; i++) {
		struct ct_sweep_row *r = &s->table.row[i];
		char only[32];

		if (r->state != CT_SWEEP_FAILED)
			continue;
		snprintf(only, sizeof only, " --only %" PRIu32, r->cell);
		r->command = joined(&s->table.arena, command_of(q), only);
		CT_TRY(ct_sweep_store_fail(store, r, NULL, err));
	}
	return 0;
}

/* Finished cells keep their state; failed ones have another try. */
static void look_for_finished(struct ct_sweep_prepared *s, const struct ct_sweep_store *store)
{
	const char *here = ct_version().revision, *other = NULL;
	size_t foreign = 0;

	for (size_t i = 0; i < s->table.n_rows; i++) {
		struct ct_sweep_row *r = &s->table.row[i];

		if (r->state == CT_SWEEP_FAILED)
			continue;
		ct_sweep_store_get(store->path, r, &s->table.arena);
		if (r->state == CT_SWEEP_FAILED)
			r->state = CT_SWEEP_MISSING;
		if (r->state == CT_SWEEP_DONE && strcmp(r->revision, here) != 0) {
			other = r->revision;
			foreign++;
		}
	}
	if (foreign)
		ct_note("warning: %zu finished cells were run by revision %s of the program, this is %s", foreign,
			other, here);
}

static size_t count(const struct ct_sweep_table *t, enum ct_sweep_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		n += t->row[i].state == state;
	return n;
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	ct_progress_update(ctx, done, total);
}

static int run_cells(struct request *q, struct ct_sweep_prepared *s, const struct ct_sweep_store *store,
		     struct ct_err *err)
{
	struct ct_progress bar;
	struct ct_sweep_pool pool = {
		.plan = s->plan,
		.set = q->set,
		.n_set = q->n_set,
		.jobs = s->jobs,
		.store = store,
		.table = &s->table,
		.command = command_of(q),
		.interrupted = q->program->interrupted,
		.progress = on_progress,
		.ctx = &bar,
	};
	int rc;

	CT_TRY(ct_sweep_make_batches(s, q->workers, err));
	pool.workers = s->n_batches < q->workers ? (unsigned)s->n_batches : q->workers;
	ct_progress_init(&bar, q->progress, "sweeping", "cells");
	rc = ct_sweep_pool_run(&pool, s->batch, s->n_batches, err);
	ct_progress_done(&bar);
	return rc;
}

/* `out` NULL: no table was written. */
static void print_failures(const struct ct_sweep_table *t, const char *out)
{
	size_t n = count(t, CT_SWEEP_FAILED), shown = 0;

	for (size_t i = 0; i < t->n_rows && shown < SHOWN_FAILURES; i++) {
		const struct ct_sweep_row *r = &t->row[i];

		if (r->state != CT_SWEEP_FAILED)
			continue;
		ct_note("warning: cell %" PRIu32 " failed: %s: %s", r->cell, r->status, r->message);
		shown++;
	}
	if (n && out)
		ct_note("warning: %zu of %" PRIu32 " cells failed: '%s/failed.csv' has all of them", n, t->n_cells,
			out);
}

/* The command line's baseline before the file's. */
static int report(const struct request *q, struct ct_sweep_table *t, struct ct_sweep_view view, struct ct_err *err)
{
	if (q->baseline_key) {
		view.key = q->baseline_key;
		view.value = q->baseline_value;
	}
	CT_TRY(ct_sweep_report_write(t, q->out, err));
	if (q->json)
		CT_TRY(ct_sweep_report_json(t, &view, stdout, err));
	else
		CT_TRY(ct_sweep_report_print(t, &view, stdout, err));
	print_failures(t, q->out);
	return 0;
}

static int conclude(struct request *q, struct ct_sweep_prepared *s, const struct ct_sweep_store *store, int *exit_code,
		    struct ct_err *err)
{
	struct ct_sweep_table *t = &s->table;

	for (size_t i = 0; i < t->n_rows; i++)
		ct_sweep_store_get(store->path, &t->row[i], &t->arena);
	if (*q->program->interrupted) {
		ct_note("stopped by a signal: %zu of %zu cells are finished; --resume goes on", count(t, CT_SWEEP_DONE),
			t->n_rows);
		*exit_code = 128 + *q->program->interrupted;
		return 0;
	}
	*exit_code = count(t, CT_SWEEP_DONE) == t->n_rows ? CT_OK : CT_EXIT_CELLS;
	if (!q->only)
		return report(q, t,
			      (struct ct_sweep_view){ s->plan->metric, s->plan->n_metrics, s->plan->baseline_key,
						      s->plan->baseline_value },
			      err);
	print_failures(t, NULL);
	return 0;
}

static int sweep_in(struct request *q, struct ct_sweep_prepared *s, const struct ct_sweep_store *store, int *exit_code,
		    struct ct_err *err)
{
	struct ct_progress bar;
	size_t kept;
	int rc;

	CT_TRY(check_folder(q, store, err));
	ct_progress_init(&bar, q->progress, "reading", "B");
	rc = ct_sweep_read(s, on_progress, &bar, err);
	ct_progress_done(&bar);
	if (rc)
		return rc;
	if (!q->only) {
		ct_sweep_report_remove(store->path);
		CT_TRY(ct_sweep_store_put_plan(store, &s->table, err));
	}
	CT_TRY(record_unable(q, s, store, err));
	look_for_finished(s, store);
	kept = count(&s->table, CT_SWEEP_DONE);
	ct_note("%" PRIu32 " cells%s: %zu finished before, %zu to run", s->table.n_cells,
		s->table.n_rows < s->table.n_cells ? ", not all here" : "", kept, count(&s->table, CT_SWEEP_MISSING));
	CT_TRY(run_cells(q, s, store, err));
	return conclude(q, s, store, exit_code, err);
}

static int sweep_plan(struct request *q, const struct ct_sweep_plan *plan, int *exit_code, struct ct_err *err)
{
	struct ct_sweep_prepared s = { .plan = plan, .set = q->set, .n_set = q->n_set };
	struct ct_sweep_store store;
	int rc = ct_sweep_configure(&s, err);

	if (!rc)
		rc = ct_sweep_store_open(&store, q->out, err);
	if (!rc) {
		ct_sweep_select(&s, q->shard, q->only);
		rc = sweep_in(q, &s, &store, exit_code, err);
		ct_sweep_store_close(&store);
	}
	ct_sweep_prepared_fini(&s);
	return rc;
}

static int sweep(struct request *q)
{
	struct ct_sweep_plan *plan = NULL;
	struct ct_err err = { 0 };
	int exit_code = CT_OK;

	q->out = q->out ? q->out : default_out(q);
	if (q->shard_text)
		ct_shard_parse(q->shard_text, getenv, &q->shard, &err);
	if (!err.code && !ct_sweep_plan_load(q->file, &plan, &err) && !check_settings(q, plan, &err))
		sweep_plan(q, plan, &exit_code, &err);
	ct_sweep_plan_free(plan);
	return err.code ? ct_fail(&err) : exit_code;
}

/* ---- merge */

static void note_missing(const struct ct_sweep_table *t)
{
	size_t n = count(t, CT_SWEEP_DONE) + count(t, CT_SWEEP_FAILED);

	if (n < t->n_cells)
		ct_note("warning: %zu of %" PRIu32 " cells are not in these folders: their shards have not ended",
			t->n_cells - n, t->n_cells);
}

static int merge(struct request *q, char *const *folder, int n)
{
	static const int metric[] = { CT_METRIC_mean_jct_s, CT_METRIC_p99_jct_s, CT_METRIC_mean_wait_s,
				      CT_METRIC_throughput, CT_METRIC_gpu_alloc_frac };
	struct ct_sweep_table t = { 0 };
	struct ct_sweep_store store = { .lock = -1 };
	struct ct_err err = { 0 };
	int code = CT_OK;

	for (int i = 0; i < n && !err.code; i++)
		ct_sweep_store_get_plan(folder[i], &t, &err);
	if (!err.code && ct_sweep_store_open(&store, q->out, &err) == 0) {
		note_missing(&t);
		code = count(&t, CT_SWEEP_DONE) == t.n_cells ? CT_OK : CT_EXIT_CELLS;
		report(q, &t, (struct ct_sweep_view){ metric, sizeof metric / sizeof *metric, NULL, NULL }, &err);
		ct_sweep_store_close(&store);
	}
	ct_sweep_table_fini(&t);
	return err.code ? ct_fail(&err) : code;
}

/* ---- the command line */

static int take_number(const struct ct_command *self, const char *name, const char *arg, int64_t most, uint32_t *out)
{
	int64_t v;

	if (ct_parse_i64(arg, strlen(arg), &v) || v < 1 || v > most)
		return ct_misuse(self, "%s wants a number 1..%lld, got '%.60s'", name, (long long)most, arg);
	*out = (uint32_t)v;
	return 0;
}

/* "key=value", the key into the arena. */
static int split(const struct ct_command *self, struct request *q, const char *name, const char *arg, const char **key,
		 const char **value)
{
	const char *equals = strchr(arg, '=');

	if (!equals || equals == arg)
		return ct_misuse(self, "%s wants key=value, got '%.200s'", name, arg);
	*key = ct_arena_text(&q->arena, arg, (size_t)(equals - arg));
	*value = equals + 1;
	return 0;
}

static int take_setting(const struct ct_command *self, struct request *q, const char *arg)
{
	if (q->n_set == SETTINGS)
		return ct_misuse(self, "more than %d settings", (int)SETTINGS);
	CT_TRY(split(self, q, "--set", arg, &q->set[q->n_set].key, &q->set[q->n_set].value));
	q->n_set++;
	return 0;
}

static int take(const struct ct_command *self, struct request *q, int id, const char *arg)
{
	switch (id) {
	case 'j':
		return take_number(self, "-j", arg, MOST_WORKERS, &q->workers);
	case CT_FLAG_OUT:
		q->out = arg;
		return 0;
	case FLAG_RESUME:
		q->resume = 1;
		return 0;
	case FLAG_SHARD:
		q->shard_text = arg;
		return 0;
	case CT_FLAG_SET:
		return take_setting(self, q, arg);
	case FLAG_ONLY:
		return take_number(self, "--only", arg, CT_SWEEP_CELLS, &q->only);
	case FLAG_BASELINE:
		return split(self, q, "--baseline", arg, &q->baseline_key, &q->baseline_value);
	case FLAG_JSON:
		q->json = 1;
		return 0;
	default:
		return ct_progress_mode_parse(arg, &q->progress)
			   ? ct_misuse(self, "--progress wants auto, always or never, got '%.60s'", arg)
			   : 0;
	}
}

static int act(const struct ct_command *self, struct request *q, int argc, char **argv)
{
	if (argc >= 1 && strcmp(argv[0], "merge") == 0) {
		if (argc < 2)
			return ct_misuse(self, "merge what? give the folders of the shards");
		if (!q->out)
			return ct_misuse(self, "merge wants --out DIR");
		return merge(q, argv + 1, argc - 1);
	}
	if (argc != 1)
		return ct_misuse(self, "wanted one sweep file, got %d", argc);
	q->file = argv[0];
	return sweep(q);
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct request q = { .program = program, .workers = processors() };
	int id, rc = 0;

	while (!rc && (id = ct_flag_next(&r)) >= 0)
		rc = take(self, &q, id, r.arg);
	if (!rc && id != CT_FLAGS_DONE)
		rc = id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	else if (!rc)
		rc = act(self, &q, argc - r.first, argv + r.first);
	ct_arena_fini(&q.arena);
	return rc;
}

const struct ct_command ct_cmd_sweep = {
	.name = "sweep",
	.usage = "FILE.yaml [OPTION]... | merge DIR... --out DIR",
	.summary = "run every combination of a configuration whose keys have lists",
	.flags = flags,
	.notes = "Any key of FILE may have a list: an axis. Its section `sweep:` may have runs (seeds), initial_seed,\n"
		 "zip (axes that advance together), cells (an explicit list), exclude, time_limit (s) and\n"
		 "memory_limit_mib of a cell, results (keep each run.h5), baseline, metrics (of the tables);\n"
		 "experiments/sweep/plan.h is the manual, data:experiments/sweeps/demo.yaml an example.\n"
		 "DIR: runs.csv, sweep.h5, perf.csv, failed.csv, and a folder for each cell, named by its hash.\n"
		 "Exit status 1: some cells failed, the others are there. merge: the tables of several DIRs as one.",
	.examples = "  cotenant sweep data:experiments/sweeps/demo.yaml -j 2\n"
		    "  cotenant sweep sweep.yaml --resume --out sweep.sweep\n"
		    "  cotenant sweep sweep.yaml --shard 1/4 --out part1\n"
		    "  cotenant sweep merge part1 part2 part3 part4 --out all",
	.run = run,
};
