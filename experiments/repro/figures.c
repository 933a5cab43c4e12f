/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/figures.h"

#include "experiments/cell.h"
#include "experiments/cmd_calib.h"
#include "experiments/data_path.h"
#include "experiments/version.h"
#include "sim/output.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { CURVES = 3, SCRIPTS = 2, SETTINGS = 64, PATH_MOST = 4096 };

/* ---- the table */

struct curve {
	const char *input, *name;
};
static const struct figure {
	const char *name, *shows;
	const char *script[SCRIPTS]; /* plots/NAME.gp, which draws the image of that name without "paper_" */
	const char *image[SCRIPTS];
	struct curve curve[CURVES];
	const char *config, *runs; /* what is run, and under which variants of published.yaml */
	int calibration;
} figures[] = {
	{ .name = "fig1",
	  .shows = "distribution of GPU utilisation: training, inference, GenAI pods",
	  .script = { "paper_fig1" },
	  .image = { "fig1" },
	  .curve = { { "pai", "util_cdf" }, { "genai", "duty_cdf" } } },
	{ .name = "fig2",
	  .shows = "demand over time: medians of six hours, requests a second",
	  .script = { "paper_fig2" },
	  .image = { "fig2" },
	  .curve = { { "pai", "util_6h" }, { "genai", "qps" } } },
	{ .name = "fig3",
	  .shows = "GPU requests of tasks, configurations of groups",
	  .script = { "paper_fig3" },
	  .image = { "fig3" },
	  .curve = { { "pai", "requests" }, { "pai", "configs" } } },
	{ .name = "fig4",
	  .shows = "tasks of four GPUs and more, flexibility of users",
	  .script = { "paper_fig4" },
	  .image = { "fig4" },
	  .curve = { { "pai", "large_tasks" }, { "pai", "flexibility_cdf" } } },
	{ .name = "fig5", .shows = "the architecture, a drawing: there is no data" },
	{ .name = "fig6",
	  .shows = "normalised JCT of training jobs (a), queueing delay in order of arrival (b)",
	  .script = { "paper_fig6a", "paper_fig6b" },
	  .image = { "fig6a", "fig6b" },
	  .runs = "volcano lucid elastico" },
	{ .name = "fig7",
	  .shows = "SM activity of the cluster over the day",
	  .script = { "paper_fig7" },
	  .image = { "fig7" },
	  .runs = "volcano lucid elastico" },
	{ .name = "fig8",
	  .shows = "what co-located pairs keep of their speed (a), case 3 over time (b)",
	  .script = { "decay_cdf", "paper_fig8b" },
	  .image = { "fig8a", "fig8b" },
	  .config = "data:experiments/cases/case3.yaml",
	  .runs = "firstfit elastico",
	  .calibration = 1 },
	{ .name = "fig9",
	  .shows = "what pairs of configurations keep of their speed",
	  .script = { "heatmap" },
	  .image = { "fig9" },
	  .calibration = 1 },
};
enum { FIGURES = sizeof figures / sizeof *figures };

static int is_asked(const struct figure *g, const char *name)
{
	return !strcmp(name, g->name) || !strcmp(name, "figures");
}

int ct_repro_figures_has(const char *name)
{
	for (size_t i = 0; i < FIGURES; i++)
		if (is_asked(&figures[i], name))
			return 1;
	return 0;
}

/* ---- folders and settings */

/* What a figure's settings.gp will say. */
struct settings {
	char folder[PATH_MOST], source[1024], calibration[256], pai[192], genai[192];
};

static void add(char *to, size_t size, const char *text)
{
	size_t n = strlen(to);

	snprintf(to + n, size - n, "%s", text);
}

static int make_folder(const char *path, struct ct_err *err)
{
	if (mkdir(path, 0777) && errno != EEXIST)
		return ct_err_add(err, CT_EIO, NULL, "cannot make folder '%s': %s", path, strerror(errno));
	return 0;
}

/* gnuplot takes what stands between single quotes as it is; a quote is doubled. */
static void put(struct ct_output *o, const char *name, const char *value)
{
	ct_output_text(o, name);
	ct_output_text(o, " = '");
	for (; *value; value++) {
		ct_output_write(o, value, 1);
		if (*value == '\'')
			ct_output_write(o, "'", 1);
	}
	ct_output_text(o, "'\n");
}

static int write_settings(const struct figure *g, const struct settings *s, struct ct_err *err)
{
	char path[PATH_MOST + 16];
	struct ct_output o;

	snprintf(path, sizeof path, "%s/settings.gp", s->folder);
	CT_TRY(ct_output_open(&o, path, err));
	put(&o, "source", s->source);
	if (g->curve[0].name) {
		put(&o, "pai", s->pai);
		put(&o, "genai", s->genai);
	}
	if (g->runs)
		put(&o, "policies", g->runs);
	if (g->calibration)
		put(&o, "calibration", s->calibration);
	return ct_output_close(&o, err);
}

/* ---- data */

static int write_curves(const struct figure *g, struct ct_repro_figures *f, struct settings *s, struct ct_err *err)
{
	for (size_t i = 0; i < CURVES && g->curve[i].name; i++) {
		const struct curve *c = &g->curve[i];
		const struct ct_curve *curve;
		struct ct_trace_origin from;

		CT_TRY(ct_repro_traces_curve(f->traces, c->input, c->name, &curve, &from, err));
		CT_TRY(ct_curve_write(curve, s->folder, err));
		snprintf(!strcmp(c->input, "pai") ? s->pai : s->genai, sizeof s->pai, "%s%s",
			 from.synthetic ? "SYNTHETIC, not the " : "", from.title);
		if (!strstr(s->source, from.text)) {
			add(s->source, sizeof s->source, "; ");
			add(s->source, sizeof s->source, from.text);
		}
	}
	return 0;
}

/* The variant's settings, then those of the command line. */
static size_t settings_of(const struct ct_repro_figures *f, const char *name, struct ct_cell_set *set)
{
	size_t v = ct_paper_variant(f->paper, name), n = 0;

	if (v == SIZE_MAX)
		set[n++] = (struct ct_cell_set){ "policy.name", name };
	for (size_t i = 0; v != SIZE_MAX && i < f->paper->variant[v].n && n < SETTINGS; i++)
		set[n++] = f->paper->variant[v].set[i];
	for (size_t i = 0; i < f->n_set && n < SETTINGS; i++)
		if (strncmp(f->set[i].key, "policy.", strlen("policy.")) != 0 || !strcmp(name, "elastico"))
			set[n++] = f->set[i];
	return n;
}

static int write_run(const struct figure *g, const struct ct_repro_figures *f, const char *name, struct settings *s,
		     struct ct_err *err)
{
	const struct ct_cell_request request = { .want_jobs = 1 };
	struct ct_cell_set set[SETTINGS + 1];
	size_t n = settings_of(f, name, set);
	char folder[PATH_MOST + 64], file[PATH_MOST + 64];
	struct ct_cell_result r;
	struct ct_config c;

	snprintf(folder, sizeof folder, "%s/%s", s->folder, name);
	snprintf(file, sizeof file, "%s/%s.h5", s->folder, name);
	set[n++] = (struct ct_cell_set){ "output.file", file }; /* so that it keeps the decisions */
	ct_config_init(&c);
	if (ct_cell_config(&c, g->config ? g->config : f->scenario, set, n, err) == 0 &&
	    ct_cell_run(&c, &request, &r, err) == 0) {
		char text[64];

		snprintf(text, sizeof text, "seed %" PRId64 ", digests:", c.sim.seed);
		if (!strstr(s->source, "digests")) {
			add(s->source, sizeof s->source, g->config ? ", cases/case3.yaml, " : ", scenario.yaml, ");
			add(s->source, sizeof s->source, text);
		}
		snprintf(text, sizeof text, " %s %.8s", name, r.result.digest);
		add(s->source, sizeof s->source, text);
		if (!ct_result_write_csv(&r.result, folder, err))
			ct_result_write_h5(&r.result, file, err);
		ct_cell_fini(&r);
	}
	ct_config_fini(&c);
	return (int)err->code;
}

static int write_runs(const struct figure *g, const struct ct_repro_figures *f, struct settings *s, struct ct_err *err)
{
	const char *at = g->runs;

	while (at && *at) {
		char name[32];
		size_t n = strcspn(at, " ");

		snprintf(name, sizeof name, "%.*s", (int)n, at);
		CT_TRY(write_run(g, f, name, s, err));
		at += n + (at[n] == ' ');
	}
	return 0;
}

static int write_one(const struct figure *g, struct ct_repro_figures *f, struct ct_err *err)
{
	struct ct_version v = ct_version();
	struct settings s = { .folder = "" };

	if (!g->script[0])
		return 0;
	if (snprintf(s.folder, sizeof s.folder, "%s/%s", f->out, g->name) >= (int)sizeof s.folder)
		return ct_err_add(err, CT_EIO, NULL, "path of folder '%s' is too long", g->name);
	CT_TRY(make_folder(s.folder, err));
	snprintf(s.source, sizeof s.source, "cotenant %s", v.revision);
	snprintf(s.calibration, sizeof s.calibration,
		 "cotenant %s; profiles rest on assumed levels (calib/a100-40gb/workloads.csv)", v.revision);
	CT_TRY(write_curves(g, f, &s, err));
	if (g->calibration)
		CT_TRY(ct_calib_write_pairs(s.folder, err));
	CT_TRY(write_runs(g, f, &s, err));
	return write_settings(g, &s, err);
}

int ct_repro_figures_write(const char *name, struct ct_repro_figures *f, struct ct_err *err)
{
	CT_TRY(make_folder(f->out, err));
	for (size_t i = 0; i < FIGURES; i++)
		if (is_asked(&figures[i], name))
			CT_TRY(write_one(&figures[i], f, err));
	return 0;
}

/* Where a script is; its name in the source tree when it is not to be found. */
static const char *script_path(const char *name, struct ct_arena *arena)
{
	struct ct_err none = { 0 };
	const char *path;
	char text[64];

	snprintf(text, sizeof text, "data:plots/%s.gp", name);
	if (ct_data_path(ct_arena_text(arena, text, strlen(text)), arena, &path, &none))
		path = ct_arena_text(arena, text + strlen("data:"), strlen(text) - strlen("data:"));
	return path;
}

void ct_repro_figures_print(const char *name, const char *out, FILE *to)
{
	struct ct_arena arena = { 0 };

	for (size_t i = 0; i < FIGURES; i++) {
		const struct figure *g = &figures[i];

		if (!is_asked(g, name))
			continue;
		fprintf(to, "%s: %s\n", g->name, g->shows);
		for (size_t k = 0; k < SCRIPTS && g->script[k]; k++) {
			if (!out)
				fprintf(to, "  plots/%s.gp, from the files that --out FOLDER writes\n", g->script[k]);
			else
				fprintf(to,
					"  gnuplot -e \"folder='%s/%s'; out='%s/%s.png'; load folder.'/settings.gp'\" "
					"'%s'\n",
					out, g->name, out, g->image[k], script_path(g->script[k], &arena));
		}
	}
	ct_arena_fini(&arena);
}
