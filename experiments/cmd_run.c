/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant run [CONFIG.yaml] */
#include "experiments/breakdown.h"
#include "experiments/cell.h"
#include "experiments/command.h"
#include "experiments/config.h"
#include "experiments/overrides.h"
#include "experiments/progress.h"
#include "experiments/run_report.h"
#include "sim/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FLAG_JSON = CT_FLAG_OWN, FLAG_PROGRESS, FLAG_BY };
static const struct ct_flag flags[] = {
	CT_RUN_FLAGS,
	{ "out", CT_FLAG_OUT, "FILE.h5", "result file; without --out and --csv no file is written" },
	{ "csv", CT_FLAG_CSV, "FOLDER", "jobs.csv, summary.csv and series.csv" },
	{ "json", FLAG_JSON, NULL, "one JSON document instead of the table" },
	{ "no-perf", CT_FLAG_NO_PERF, NULL, "leave wall-clock figures out: a result file repeats byte for byte" },
	{ "by", FLAG_BY, "WHAT", "table by user (with fairness), partition, class or size of job" },
	{ "progress", FLAG_PROGRESS, "WHEN", "auto (on a terminal), always, never" },
	{ 0 },
};

struct request {
	struct ct_overrides overrides;
	const char *config_file;
	int json;
	enum ct_breakdown_by by;
	enum ct_progress_mode progress;
};

/* ---- before the run: can its outputs be written at all? */

static int check_output(const char *path, int folder, struct ct_err *err)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	struct ct_arena arena = { 0 };
	const char *parent = ".";
	struct stat st;

	if (!path)
		return 0;
	if (slash)
		parent = slash == path ? "/" : ct_arena_text(&arena, path, (size_t)(slash - path));
	if (folder && stat(path, &st) == 0)
		parent = path;
	if (!folder && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		ct_err_add(err, CT_EIO, NULL, "cannot write '%s': %s", path, strerror(EISDIR));
	else if (stat(parent, &st) || access(parent, W_OK | X_OK))
		ct_err_add(err, CT_EIO, NULL, "cannot write '%s': folder '%s': %s", path, parent, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		ct_err_add(err, CT_EIO, NULL, "cannot write '%s': '%s' is not a folder", path, parent);
	ct_arena_fini(&arena);
	return (int)err->code;
}

/* ---- after it */

static void add_number(struct ct_result *r, const char *key, double v)
{
	char text[CT_F64_TEXT];

	ct_f64_format(v, text);
	ct_result_add(r, CT_RESULT_PERF, key, ct_result_text(r, "%s", text), 1);
}

/* Who ran what and when stands here, not in the manifest: it differs between runs
 * whose results are the same. */
static void add_circumstances(struct ct_result *r, const struct ct_program *p)
{
	const char *command = "cotenant";
	time_t now = time(NULL);
	struct tm utc;
	char date[32] = "";

	for (int i = 1; i < p->argc; i++)
		command = ct_result_text(r, "%s %s", command, p->argv[i]);
	if (gmtime_r(&now, &utc))
		strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
	ct_result_add(r, CT_RESULT_PERF, "date", ct_result_text(r, "%s", date), 0);
	ct_result_add(r, CT_RESULT_PERF, "command", command, 0);
}

static void add_perf(struct ct_result *r, const struct ct_program *p, const struct ct_policy *policy,
		     const struct ct_cell_result *cell)
{
	const struct ct_run_perf *perf = &cell->perf;
	const char *const *names = ct_control_components(policy);
	double engine_s = perf->cpu_s - perf->policy_cpu_s;
	struct rusage use;

	add_number(r, "cpu_s", ct_process_cpu_s());
	if (getrusage(RUSAGE_SELF, &use) == 0)
		add_number(r, "peak_rss_mib", (double)use.ru_maxrss / 1024);
	add_number(r, "events_per_s", engine_s > 0 ? (double)perf->events / engine_s : (double)NAN);
	add_number(r, "epoch_ms_mean", perf->schedule_mean_ms);
	add_number(r, "epoch_ms_max", perf->schedule_max_ms);
	add_number(r, "events", (double)perf->events);
	add_number(r, "epochs", (double)perf->schedules);
	add_number(r, "run_cpu_s", perf->cpu_s);
	add_number(r, "policy_cpu_s", perf->policy_cpu_s);
	for (uint32_t i = 0; names && i < CT_COMPONENTS && names[i]; i++)
		add_number(r, ct_result_text(r, "%s_%s_ms", policy->name, names[i]), perf->component_ms[i]);
	add_number(r, "read_s", cell->setup.read_s);
	add_number(r, "wall_s", ct_wall_s() - p->wall_start);
	add_circumstances(r, p);
}

static int write_outputs(const struct ct_result *r, struct ct_config *c, const struct ct_account *a,
			 const struct request *q, struct ct_err *err)
{
	if (c->output.file)
		CT_TRY(ct_result_write_h5(r, c->output.file, err));
	if (c->output.csv)
		CT_TRY(ct_result_write_csv(r, c->output.csv, err));
	if (q->json)
		return ct_result_write_json(r, stdout, err);
	ct_run_report(r, c, a, stdout);
	return q->by == CT_BY_NONE ? 0 : ct_breakdown_report(r, q->by, stdout, err);
}

static int conclude(const struct ct_program *p, const struct request *q, struct ct_config *c,
		    struct ct_cell_result *cell, struct ct_err *err)
{
	if (c->output.perf)
		add_perf(&cell->result, p, c->policy.policy, cell);
	ct_setup_print_rejected(cell->world, "cotenant: warning: rejected", stderr);
	if (cell->account.left && !cell->stopped && c->sim.until == 0)
		ct_setup_print_starved(cell->world, cell->account.left, stderr);
	return write_outputs(&cell->result, c, &cell->account, q, err);
}

/* ---- the run: one bar while reading, then one while running */

struct bars {
	struct ct_progress bar;
	enum ct_progress_mode mode;
};

static void on_read(void *ctx, uint64_t done, uint64_t total)
{
	ct_progress_update(&((struct bars *)ctx)->bar, done, total);
}

static void on_have_read(void *ctx, const struct ct_workload *w)
{
	struct bars *b = ctx;

	ct_progress_done(&b->bar);
	ct_setup_print_import(w, stderr);
	ct_progress_init(&b->bar, b->mode, "running", "jobs");
}

static void on_run(void *ctx, uint64_t ended, uint64_t jobs, uint64_t events, ct_time now)
{
	(void)events;
	(void)now;
	ct_progress_update(&((struct bars *)ctx)->bar, ended, jobs);
}

static int read_and_run(const struct ct_program *p, const struct request *q, struct ct_config *c, int *stopped,
			struct ct_err *err)
{
	struct bars bars = { .mode = q->progress };
	const struct ct_cell_request request = {
		.want_jobs = c->output.file || c->output.csv || q->by != CT_BY_NONE,
		.interrupt = p->interrupted,
		.reading = on_read,
		.have_read = on_have_read,
		.running = on_run,
		.ctx = &bars,
	};
	struct ct_cell_result cell;
	int rc;

	CT_TRY(check_output(c->output.file, 0, err));
	CT_TRY(check_output(c->output.csv, 1, err));
	ct_progress_init(&bars.bar, q->progress, "reading", "B");
	rc = ct_cell_run(c, &request, &cell, err);
	ct_progress_done(&bars.bar);
	if (rc)
		return rc;
	*stopped = cell.stopped;
	rc = conclude(p, q, c, &cell, err);
	ct_cell_fini(&cell);
	return rc;
}

static int configured(const struct ct_program *p, const struct request *q)
{
	struct ct_config c;
	struct ct_err err = { 0 };
	int stopped = 0;

	ct_config_init(&c);
	if (ct_overrides_apply(&q->overrides, q->config_file, &c, &err) == 0 &&
	    ct_config_finish(&c, CT_CONFIG_RUN, &err) == 0)
		read_and_run(p, q, &c, &stopped, &err);
	ct_config_fini(&c);
	if (err.code)
		return ct_fail(&err);
	if (stopped && *p->interrupted) {
		ct_note("stopped by a signal: the result is partial and says so");
		return 128 + *p->interrupted;
	}
	return CT_OK;
}

/* Reads the flags; returns CT_FLAGS_DONE, or the flag reader's other ends. */
static int read_flags(struct ct_flag_reader *r, struct request *q)
{
	int id;

	while ((id = ct_flag_next(r)) >= 0) {
		if (id == FLAG_JSON) {
			q->json = 1;
		} else if (id == FLAG_BY) {
			if (ct_breakdown_parse(r->arg, &q->by)) {
				ct_misuse(r->command, "--by wants " CT_BREAKDOWN_CHOICES ", got '%.60s'", r->arg);
				return CT_FLAGS_ERROR;
			}
		} else if (id != FLAG_PROGRESS) {
			ct_overrides_add(&q->overrides, id, r->arg);
		} else if (ct_progress_mode_parse(r->arg, &q->progress)) {
			ct_misuse(r->command, "--progress wants auto, always or never, got '%.60s'", r->arg);
			return CT_FLAGS_ERROR;
		}
	}
	return id;
}

static int run(const struct ct_command *self, struct ct_program *p, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct request q = { 0 };
	int id = read_flags(&r, &q), rc;

	q.config_file = id == CT_FLAGS_DONE && r.first < argc ? argv[r.first] : NULL;
	if (id != CT_FLAGS_DONE)
		rc = id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	else if (argc - r.first > 1)
		rc = ct_misuse(self, "one configuration at most, got '%.200s' too", argv[r.first + 1]);
	else if (argc == 1)
		rc = ct_misuse(self, "nothing to run: give a configuration, or --trace, --policy and --cluster");
	else
		rc = configured(p, &q);
	ct_overrides_fini(&q.overrides);
	return rc;
}

const struct ct_command ct_cmd_run = {
	.name = "run",
	.usage = "[CONFIG.yaml] [OPTION]...",
	.summary = "run one simulation and print its summary",
	.flags = flags,
	.notes = "Options override the file, in their order. All keys: cotenant help config. Metrics: the table\n"
		 "printed by a run defines each. Ctrl-C ends with a partial result, marked as such, exit 130.",
	.examples = "  cotenant run data:experiments/demo/demo.yaml --policy las\n"
		    "  cotenant run --trace jobs.csv.gz --cluster 32x8 --policy easy --out easy.h5 --csv easy\n"
		    "  cotenant run run.yaml --set policy.placement=pack --set trace.load=1.4 --json",
	.run = run,
};
