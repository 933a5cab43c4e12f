/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/repro/traces.h"

#include "experiments/jobs.h"
#include "experiments/statistics.h"
#include "traces/generate.h"
#include "traces/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS_MOST = 10, PATH_MOST = 4096 };
#define LEVEL 0.95

/* Named alike: the folder, the reader, and the generator. As many jobs as give each six
 * hours of the 45 days hundreds; the GenAI trace's metrics are of one day. */
static const struct {
	const char *name, *title;
	uint64_t jobs;
	double days;
} input[] = { { "pai", "PAI trace", 200000, 45 }, { "genai", "GenAI trace", 0, 1 } };
enum { INPUTS = sizeof input / sizeof *input };

struct made {
	int there;
	struct ct_figures figures;
};

struct ct_repro_traces {
	const char *folder;
	unsigned seeds;
	uint64_t seed;
	struct ct_arena arena;
	struct of_input {
		int looked; /* for the real one */
		struct ct_figures real;
		struct made made[SEEDS_MOST], curves; /* of seeds 1 and up; of `seed` */
	} of[INPUTS];
};

static size_t input_of(const char *name)
{
	size_t i = 0;

	while (i < INPUTS && strcmp(input[i].name, name) != 0)
		i++;
	return i;
}

int ct_trace_input_is(const char *name)
{
	return input_of(name) < INPUTS;
}

struct ct_repro_traces *ct_repro_traces_new(const char *folder, unsigned seeds, uint64_t seed)
{
	struct ct_repro_traces *t = ct_calloc(1, sizeof *t);

	t->folder = folder;
	t->seeds = seeds < SEEDS_MOST ? seeds : SEEDS_MOST;
	t->seed = seed;
	return t;
}

void ct_repro_traces_free(struct ct_repro_traces *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < INPUTS; i++) {
		ct_figures_fini(&t->of[i].real);
		ct_figures_fini(&t->of[i].curves.figures);
		for (size_t k = 0; k < SEEDS_MOST; k++)
			ct_figures_fini(&t->of[i].made[k].figures);
	}
	ct_arena_fini(&t->arena);
	free(t);
}

/* ---- where figures come from */

static int look(struct ct_repro_traces *t, size_t i, struct ct_err *err)
{
	struct ct_trace_options o = { .figures = &t->of[i].real, .format = input[i].name };
	struct ct_workload *w = NULL;
	char path[PATH_MOST];

	if (t->of[i].looked || !t->folder)
		return 0;
	t->of[i].looked = 1;
	if (access(t->folder, F_OK))
		return ct_err_add(err, CT_EIO, NULL, "cannot read folder '%s': %s", t->folder, strerror(errno));
	if (snprintf(path, sizeof path, "%s/%s", t->folder, input[i].name) >= (int)sizeof path)
		return ct_err_add(err, CT_EIO, NULL, "path of '%s' is too long", input[i].name);
	if (access(path, F_OK))
		return 0;
	CT_TRY(ct_trace_read(path, &o, &w, err));
	ct_workload_free(w);
	return 0;
}

static int make(struct ct_repro_traces *t, size_t i, uint64_t seed, struct made *out, struct ct_err *err)
{
	const struct ct_generator *g = ct_generator_find(input[i].name);
	struct ct_generate_options o = { .seed = seed, .jobs = input[i].jobs, .days = input[i].days };
	struct ct_workload *w = NULL;

	if (out->there)
		return 0;
	CT_TRY(ct_jobs_generator_files(g, &o, &t->arena, err));
	CT_TRY(ct_generate(g, &o, &w, err));
	out->there = ct_workload_figures(w, &out->figures);
	ct_workload_free(w);
	if (!out->there)
		return ct_err_add(err, CT_ECONFIG, NULL, "a generated '%s' has no figures", input[i].name);
	return 0;
}

/* What a generated figure is of: seeds 1 to `last`, or the one seed `last`. */
static const char *say(struct ct_arena *arena, size_t i, const char *seeds, uint64_t last)
{
	char text[160];

	snprintf(text, sizeof text, "synthetic, not the %s (trace generate %s, %s %" PRIu64 ")", input[i].title,
		 input[i].name, seeds, last);
	return ct_arena_text(arena, text, strlen(text));
}

/* ---- rows */

static void take_real(struct ct_repro_row *r, double value, const char *title)
{
	const struct ct_paper_figure *f = r->figure;

	r->ours = value * f->scale;
	r->source = title;
	ct_repro_aim(r);
}

static int take_made(struct ct_repro_traces *t, struct ct_repro_row *r, struct ct_arena *arena, size_t i,
		     struct ct_err *err)
{
	const struct ct_paper_figure *f = r->figure;
	struct ct_estimate mean, single;
	double v[SEEDS_MOST];

	for (unsigned k = 0; k < t->seeds; k++) {
		const struct ct_figure *x;

		CT_TRY(make(t, i, k + 1, &t->of[i].made[k], err));
		x = ct_figures_find(&t->of[i].made[k].figures, f->figure);
		if (!x)
			return ct_err_add(err, CT_ECONFIG, NULL, "figure '%s': the %s has no figure '%s'", f->id,
					  input[i].title, f->figure);
		v[k] = x->value * f->scale;
	}
	mean = ct_mean_interval(v, t->seeds, LEVEL);
	single = ct_prediction_interval(v, t->seeds, LEVEL);
	r->ours = ct_mean(v, t->seeds);
	r->mean_lo = mean.lo;
	r->mean_hi = mean.hi;
	r->lo = single.lo;
	r->hi = single.hi;
	r->seeds = t->seeds;
	r->synthetic = 1;
	r->source = say(arena, i, "seeds 1 to", t->seeds);
	return 0;
}

int ct_repro_traces_rows(struct ct_repro_traces *t, struct ct_repro *rows, struct ct_err *err)
{
	for (size_t k = 0; k < rows->n; k++) {
		struct ct_repro_row *r = &rows->row[k];
		const struct ct_figure *real;
		size_t i;

		if (!r->figure->trace)
			continue;
		i = input_of(r->figure->input);
		CT_TRY(look(t, i, err));
		real = ct_figures_find(&t->of[i].real, r->figure->figure);
		if (real && !isnan(real->value))
			take_real(r, real->value, input[i].title);
		else
			CT_TRY(take_made(t, r, &rows->arena, i, err));
	}
	return 0;
}

/* ---- curves */

int ct_repro_traces_curve(struct ct_repro_traces *t, const char *name, const char *curve, const struct ct_curve **out,
			  struct ct_trace_origin *from, struct ct_err *err)
{
	size_t i = input_of(name);

	CT_TRY(look(t, i, err));
	*from = (struct ct_trace_origin){ 0, input[i].title, input[i].title };
	*out = ct_figures_find_curve(&t->of[i].real, curve);
	if (*out)
		return 0;
	CT_TRY(make(t, i, t->seed, &t->of[i].curves, err));
	*out = ct_figures_find_curve(&t->of[i].curves.figures, curve);
	if (!*out)
		return ct_err_add(err, CT_ECONFIG, NULL, "the %s has no curve '%s'", input[i].title, curve);
	*from = (struct ct_trace_origin){ 1, input[i].title, say(&t->arena, i, "seed", t->seed) };
	return 0;
}
