/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cotenant trace info FILE | import IN --out OUT | columns | formats */
#include "experiments/cmd_trace.h"
#include "experiments/config.h"
#include "experiments/overrides.h"
#include "experiments/progress.h"
#include "experiments/setup.h"
#include "experiments/trace_profile.h"
#include "sim/json.h"
#include "sim/nearest.h"
#include "traces/reader_options.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLAG_JSON = CT_FLAG_OWN };
static const struct ct_flag flags[] = {
	{ "out", CT_FLAG_OUT, "FILE", "import: canonical trace to write, .h5 or .csv, or .swf" },
	{ "cluster", CT_FLAG_CLUSTER, "NODESxGPUS", "info: machines that the offered load is for" },
	{ "csv", CT_FLAG_CSV, "DIR", "info: what plots/ draws of a trace, as CSV" },
	CT_TRACE_FLAGS,
	{ "json", FLAG_JSON, NULL, "info: one JSON document" },
	{ 0 },
};

/* ---- info */

/* Quantiles by linear interpolation between order statistics (type 7). */
static const struct {
	const char *name;
	double q;
} quantile[] = { { "min", 0 },   { "p25", .25 }, { "median", .5 }, { "p75", .75 },
		 { "p95", .95 }, { "p99", .99 }, { "max", 1 } };
enum { N_QUANTILES = sizeof quantile / sizeof *quantile };

struct spread {
	double mean, q[N_QUANTILES];
};

struct info {
	const struct ct_workload *work;
	const struct ct_figures *figures;
	struct ct_trace_profile profile; /* when there are jobs */
	double gpus, load, gpu_s, first_s, last_s;
	struct spread duration, size;
	const struct ct_job *largest; /* most GPUs, then most work, then first */
	size_t shared, users, groups, models, partitions;
};

static struct spread spread_of(double *v, size_t n)
{
	struct spread s = { 0 };

	gsl_sort(v, 1, n);
	s.mean = gsl_stats_mean(v, 1, n);
	for (size_t i = 0; i < N_QUANTILES; i++)
		s.q[i] = gsl_stats_quantile_from_sorted_data(v, 1, n, quantile[i].q);
	return s;
}

static size_t distinct(const struct ct_workload *w, size_t offset)
{
	unsigned char *seen = ct_calloc(w->strings.n + 1, 1);
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		uint32_t k;

		memcpy(&k, (const char *)&w->jobs[i] + offset, sizeof k);
		n += k && !seen[k];
		seen[k] = 1;
	}
	free(seen);
	return n;
}

static const struct ct_job *larger(const struct ct_job *a, const struct ct_job *b)
{
	if (!a || b->num_gpus > a->num_gpus)
		return b;
	return b->num_gpus == a->num_gpus && b->duration_us > a->duration_us ? b : a;
}

static struct info info_of(const struct ct_setup *s, double gpus)
{
	const struct ct_workload *w = s->work;
	struct info i = { .work = w, .figures = &s->figures, .gpus = gpus, .load = NAN };
	double *duration = ct_calloc(w->n, sizeof *duration), *size = ct_calloc(w->n, sizeof *size);

	i.gpu_s = ct_workload_gpu_seconds(w);
	if (gpus > 0)
		i.load = ct_workload_offered_load(w, gpus);
	for (size_t k = 0; k < w->n; k++) {
		duration[k] = ct_seconds(w->jobs[k].duration_us);
		size[k] = w->jobs[k].num_gpus;
		i.shared += w->jobs[k].gpu_milli < 1000;
		i.largest = larger(i.largest, &w->jobs[k]);
	}
	if (w->n) {
		i.first_s = ct_seconds(w->jobs[0].submit_us);
		i.last_s = ct_seconds(w->jobs[w->n - 1].submit_us);
		i.duration = spread_of(duration, w->n);
		i.size = spread_of(size, w->n);
		ct_trace_profile(w, &i.profile);
	}
	i.users = distinct(w, offsetof(struct ct_job, user));
	i.groups = distinct(w, offsetof(struct ct_job, group));
	i.models = distinct(w, offsetof(struct ct_job, model));
	i.partitions = distinct(w, offsetof(struct ct_job, partition));
	free(duration);
	free(size);
	return i;
}

static void json_spread(struct ct_json *j, const char *key, const struct spread *s, int any)
{
	ct_json_open(j, key, '{', 1);
	ct_json_f64(j, "mean", any ? s->mean : (double)NAN);
	for (size_t i = 0; i < N_QUANTILES; i++)
		ct_json_f64(j, quantile[i].name, any ? s->q[i] : (double)NAN);
	ct_json_close(j);
}

static void json_import(struct ct_json *j, const struct ct_import_report *r)
{
	ct_json_text(j, "format", r->format);
	ct_json_i64(j, "rows_read", (int64_t)r->rows_read);
	ct_json_i64(j, "rows_kept", (int64_t)r->rows_kept);
	ct_json_open(j, "rules", '{', 0);
	for (unsigned k = 0; k < r->n_rules; k++)
		ct_json_i64(j, r->rules[k].rule, (int64_t)r->rules[k].rows);
	ct_json_close(j);
	if (r->history)
		ct_json_text(j, "history", r->history);
}

static void json_figures(struct ct_json *j, const struct ct_figures *f)
{
	ct_json_open(j, "figures", '{', 0);
	for (size_t k = 0; k < f->n; k++)
		ct_json_f64(j, f->v[k].name, f->v[k].value);
	ct_json_close(j);
}

static int json_info(const struct info *i, struct ct_err *err)
{
	struct ct_json j;

	ct_json_begin(&j, stdout);
	ct_json_open(&j, NULL, '{', 0);
	json_import(&j, &i->work->report);
	ct_json_text(&j, "digest", i->work->digest);
	ct_json_i64(&j, "jobs", (int64_t)i->work->n);
	ct_json_f64(&j, "first_submit_s", i->first_s);
	ct_json_f64(&j, "last_submit_s", i->last_s);
	ct_json_f64(&j, "work_gpu_s", i->gpu_s);
	ct_json_f64(&j, "gpus", i->gpus > 0 ? i->gpus : (double)NAN);
	ct_json_f64(&j, "offered_load", i->load);
	json_spread(&j, "duration_s", &i->duration, i->work->n > 0);
	json_spread(&j, "num_gpus", &i->size, i->work->n > 0);
	ct_json_text(&j, "largest_job", i->largest ? i->largest->id : NULL);
	ct_json_i64(&j, "jobs_below_one_gpu", (int64_t)i->shared);
	ct_json_i64(&j, "users", (int64_t)i->users);
	ct_json_i64(&j, "groups", (int64_t)i->groups);
	ct_json_i64(&j, "models", (int64_t)i->models);
	ct_json_i64(&j, "partitions", (int64_t)i->partitions);
	if (i->work->n)
		ct_trace_profile_json(&i->profile, &j);
	json_figures(&j, i->figures);
	ct_json_open(&j, "extra_columns", '[', 1);
	for (size_t k = 0; k < i->work->n_columns; k++)
		ct_json_text(&j, NULL, i->work->columns[k].name);
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, "standard output", err);
}

static void print_spread(const struct info *i)
{
	printf("\n%-14s %12s", "", "mean");
	for (size_t k = 0; k < N_QUANTILES; k++)
		printf(" %11s", quantile[k].name);
	printf("\n%-14s %12.3f", "duration s", i->duration.mean);
	for (size_t k = 0; k < N_QUANTILES; k++)
		printf(" %11.2f", i->duration.q[k]);
	printf("\n%-14s %12.3f", "GPUs", i->size.mean);
	for (size_t k = 0; k < N_QUANTILES; k++)
		printf(" %11.2f", i->size.q[k]);
	fputc('\n', stdout);
}

static void print_lines(const char *name, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		printf("%-14s %.*s\n", name, (int)n, text);
		text += n + (text[n] == '\n');
		name = "";
	}
}

static void print_figures(const struct ct_figures *f)
{
	if (f->n)
		puts("\nfigures of this trace");
	for (size_t k = 0; k < f->n; k++)
		printf("  %-28s %14.6g %-6s %s\n", f->v[k].name, f->v[k].value, f->v[k].unit, f->v[k].definition);
}

/* How many jobs of each size; sizes are few in real traces, the list stops at 24. */
static void print_sizes(const struct ct_workload *w)
{
	uint32_t last = 0;

	fputs("\nGPUs  jobs  share of jobs\n", stdout);
	for (int lines = 0;; lines++) {
		uint32_t next = UINT32_MAX;
		size_t n = 0;

		for (size_t k = 0; k < w->n; k++) {
			uint32_t g = w->jobs[k].num_gpus;

			if (g > last && g < next) {
				next = g;
				n = 0;
			}
			n += g == next;
		}
		if (next == UINT32_MAX)
			return;
		if (lines == 24) {
			puts("...");
			return;
		}
		printf("%4" PRIu32 " %6zu %6.2f %%\n", next, n, 100.0 * (double)n / (double)w->n);
		last = next;
	}
}

static void print_info(const struct info *i)
{
	const struct ct_workload *w = i->work;
	const struct ct_import_report *r = &w->report;

	printf("%-14s %s (%s)\n", "trace", r->source, r->format);
	printf("%-14s %" PRIu64 " read, %" PRIu64 " kept\n", "rows", r->rows_read, r->rows_kept);
	for (unsigned k = 0; k < r->n_rules; k++)
		printf("  %-28s %8" PRIu64 "  %s%s\n", r->rules[k].rule, r->rules[k].rows,
		       r->rules[k].dropped ? "dropped: " : "", r->rules[k].meaning);
	print_lines("made by", r->history);
	print_lines("header", r->header);
	printf("%-14s %s\n", "digest", w->digest);
	printf("%-14s %zu; %zu below one GPU; %zu users, %zu groups, %zu models, %zu partitions\n", "jobs", w->n,
	       i->shared, i->users, i->groups, i->models, i->partitions);
	printf("%-14s %.6g s to %.6g s: %.2f h\n", "submissions", i->first_s, i->last_s,
	       (i->last_s - i->first_s) / 3600);
	printf("%-14s %.1f GPU h\n", "work", i->gpu_s / 3600);
	if (i->gpus > 0)
		printf("%-14s %.4f of %.0f GPUs: work / (GPUs x (last - first submission))\n", "offered load", i->load,
		       i->gpus);
	else
		printf("%-14s add --cluster NODESxGPUS\n", "offered load");
	if (i->largest)
		printf("%-14s '%s': %" PRIu32 " GPUs for %.6g s\n", "largest job", i->largest->id, i->largest->num_gpus,
		       ct_seconds(i->largest->duration_us));
	for (size_t k = 0; k < w->n_columns; k++)
		printf("%-14s %s\n", k ? "" : "other columns", w->columns[k].name);
	if (w->n) {
		print_spread(i);
		print_sizes(w);
		fputc('\n', stdout);
		ct_trace_profile_print(&i->profile, stdout);
	}
	print_figures(i->figures);
}

/* ---- lists */

static int print_columns(void)
{
	const struct ct_trace_column *c;

	for (size_t i = 0; (c = ct_trace_column_at(i)); i++) {
		printf("%-16s %-8s %s%s\n", c->name, c->unit ? c->unit : "", c->meaning,
		       c->required ? " (required)" : "");
		if (c->aliases && c->aliases[0])
			printf("%-16s %-8s also called: %s\n", "", "", c->aliases);
	}
	return CT_OK;
}

static int print_formats(void)
{
	const struct ct_trace_format *f;

	for (size_t i = 0; (f = ct_trace_format_at(i)); i++) {
		printf("%-16s %s\n", f->name, f->summary);
		for (const struct ct_trace_opt *t = f->opts; t && t->name; t++)
			printf("%-16s trace.options.%s: %s%s%s (%s)\n", "", t->name, t->help, *t->unit ? ", " : "",
			       t->unit, t->words ? t->words : t->standard);
	}
	return CT_OK;
}

/* ---- the command */

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	ct_progress_update(ctx, done, total);
}

static int do_trace(int import, int json, struct ct_config *c, struct ct_err *err)
{
	struct ct_setup s = { 0 };
	struct ct_progress p;
	int rc;

	s.want_figures = !import;
	ct_progress_init(&p, CT_PROGRESS_AUTO, "reading", "B");
	rc = ct_setup_trace(&s, c, on_progress, &p, err);
	ct_progress_done(&p);
	if (rc == 0 && import) {
		ct_setup_print_import(s.work, stderr);
		rc = ct_trace_write(s.work, c->output.file, err);
	} else if (rc == 0) {
		struct info i;

		if (!s.figures.n)
			ct_workload_figures(s.work, &s.figures);
		i = info_of(&s, ct_setup_gpus(c));
		if (c->output.csv && s.work->n)
			rc = ct_trace_profile_csv(&i.profile, s.work, c->output.csv, err);
		if (rc == 0 && c->output.csv && s.work->n && s.figures.n)
			rc = ct_figures_write(&s.figures, c->output.csv, err);
		if (rc == 0 && json)
			rc = json_info(&i, err);
		else if (rc == 0)
			print_info(&i);
	}
	ct_setup_fini(&s);
	return rc;
}

static int configured(const struct ct_overrides *o, const char *file, int import, int json)
{
	struct ct_config c;
	struct ct_err err = { 0 };

	ct_config_init(&c);
	ct_config_option(&c, "FILE", "trace.file", file, &err);
	ct_overrides_apply(o, NULL, &c, &err);
	if (!err.code)
		ct_config_finish(&c, CT_CONFIG_TRACE, &err);
	if (!err.code)
		do_trace(import, json, &c, &err);
	ct_config_fini(&c);
	return err.code ? ct_fail(&err) : CT_OK;
}

static int unknown_action(const struct ct_command *self, const char *word)
{
	static const char *const words[] = { "info", "import",   "slice",       "sample",  "scale",
					     "mix",  "generate", "transitions", "columns", "formats" };
	struct ct_nearest near;
	const char *best;

	ct_nearest_init(&near, word);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		ct_nearest_offer(&near, words[i]);
	best = ct_nearest_word(&near);
	return ct_misuse(
	    self,
	    "'%.60s' is none of info, import, slice, sample, scale, mix, generate, transitions, columns, formats%s%s%s",
	    word, best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

static const char *out_of(const struct ct_overrides *o)
{
	const char *out = NULL;

	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].id == CT_FLAG_OUT)
			out = o->v[i].arg;
	return out;
}

static int act(const struct ct_command *self, const struct ct_overrides *o, int argc, char **argv, int json)
{
	const char *out = out_of(o);
	int import;

	if (argc == 0)
		return ct_misuse(self, "nothing to do");
	if (strcmp(argv[0], "columns") == 0 || strcmp(argv[0], "formats") == 0) {
		if (argc > 1)
			return ct_misuse(self, "'%s' takes no file", argv[0]);
		return argv[0][0] == 'c' ? print_columns() : print_formats();
	}
	import = strcmp(argv[0], "import") == 0;
	if (!import && strcmp(argv[0], "info") != 0)
		return unknown_action(self, argv[0]);
	if (argc != 2)
		return ct_misuse(self, "'%s' wants one file, got %d", argv[0], argc - 1);
	if (import && !out)
		return ct_misuse(self, "'import' wants --out FILE");
	if (!import && out)
		return ct_misuse(self, "--out belongs to 'import'");
	if (import && !ct_trace_can_write(out))
		return ct_misuse(self, "--out wants a name that ends in .h5, .csv or .swf, got '%.200s'", out);
	return configured(o, argv[1], import, json);
}

/* Actions with flags of their own. */
static const struct ct_command *const actions[] = { &ct_cmd_trace_slice,    &ct_cmd_trace_sample,
						    &ct_cmd_trace_scale,    &ct_cmd_trace_mix,
						    &ct_cmd_trace_generate, &ct_cmd_trace_transitions };

static const struct ct_command *action_of(const char *word)
{
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (strcmp(actions[i]->name + strlen("trace "), word) == 0)
			return actions[i];
	return NULL;
}

static int run(const struct ct_command *self, struct ct_program *program, int argc, char **argv)
{
	struct ct_flag_reader r = { .command = self, .argc = argc, .argv = argv };
	struct ct_overrides o = { 0 };
	const struct ct_command *action = argc > 1 ? action_of(argv[1]) : NULL;
	int id, json = 0, rc;

	if (action)
		return action->run(action, program, argc - 1, argv + 1);
	while ((id = ct_flag_next(&r)) >= 0) {
		if (id == FLAG_JSON)
			json = 1;
		else
			ct_overrides_add(&o, id, r.arg);
	}
	if (id == CT_FLAGS_DONE)
		rc = act(self, &o, argc - r.first, argv + r.first, json);
	else
		rc = id == CT_FLAGS_HELP ? CT_OK : CT_EUSAGE;
	ct_overrides_fini(&o);
	return rc;
}

const struct ct_command ct_cmd_trace = {
	.name = "trace",
	.usage = "info FILE | import FILE --out FILE | VERB [OPTION]...",
	.summary = "look at a trace, convert it, or make one from others",
	.flags = flags,
	.examples =
	    "  cotenant trace info jobs.csv.gz --cluster 32x8\n"
	    "  cotenant trace info jobs.csv --set trace.columns.submit_time=submit_s --json\n"
	    "  cotenant trace import jobs.csv --out jobs.h5 --on-bad-row=drop\n"
	    "  cotenant trace mix --help     also slice, sample, scale, generate, transitions: each has its help\n"
	    "  cotenant trace columns        the columns a CSV may have; formats: what can be read",
	.run = run,
};
