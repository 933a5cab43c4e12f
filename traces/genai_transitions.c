/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which measured time stands for which transition is an assumption, and each row's
 * `source` says so:
 *
 *  start, migrate  a base model loaded from cold: base model updates at the pods that
 *                  serve the QPS series, whose models change (at the others 3 s are
 *                  usual: loaded from the host's memory)
 *  resume          a base model that the host still holds: updates at the other pods
 *  switch          the base model stays and adapters change: pipeline updates in
 *                  minutes that loaded LoRA and ControlNet and no base model
 *
 * Loads follow one another (an update takes the sum of its parts), so all block. */
#include "traces/genai_transitions.h"

#include "sim/output.h"
#include "traces/genai.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WANT = 1u << CT_GENAI_QPS | 1u << CT_GENAI_UPDATE | 1u << CT_GENAI_BASE | 1u << CT_GENAI_LORA |
	       1u << CT_GENAI_CONTROLNET
};

struct times {
	double *ms;
	size_t n;
	double median_s;
};

static void settle(struct times *t)
{
	gsl_sort(t->ms, 1, t->n);
	t->median_s = t->n ? gsl_stats_median_from_sorted_data(t->ms, 1, t->n) / 1e3 : 0;
}

/* ---- base models, cold and not */

static void base_loads(const struct ct_genai *g, struct times *cold, struct times *warm)
{
	const struct ct_genai_series *qps = &g->series[CT_GENAI_QPS], *base = &g->series[CT_GENAI_BASE];
	unsigned char *serves = ct_calloc(g->names.n + 1, 1);

	for (size_t i = 0; i < qps->n; i++)
		serves[qps->v[i].pod] = qps->v[i].pod != 0;
	cold->ms = ct_calloc(base->n + 1, sizeof *cold->ms);
	warm->ms = ct_calloc(base->n + 1, sizeof *warm->ms);
	for (size_t i = 0; i < base->n; i++) {
		struct times *to = serves[base->v[i].pod] ? cold : warm;

		to->ms[to->n++] = base->v[i].value;
	}
	settle(cold);
	settle(warm);
	free(serves);
}

/* ---- adapters alone */

enum { HAS_BASE = 1, HAS_LORA = 2, HAS_CONTROLNET = 4 };

static void mark(const struct ct_genai *g, enum ct_genai_table t, unsigned char bit, unsigned char *loaded)
{
	const struct ct_genai_series *s = &g->series[t];

	for (size_t i = 0; i < s->n; i++)
		loaded[(size_t)s->v[i].pod * (CT_GENAI_LAST + 1) + s->v[i].k] |= bit;
}

static void adapter_loads(const struct ct_genai *g, struct times *out)
{
	unsigned char *loaded = ct_calloc(g->names.n * (size_t)(CT_GENAI_LAST + 1), 1);
	const struct ct_genai_series *s = &g->series[CT_GENAI_UPDATE];

	mark(g, CT_GENAI_BASE, HAS_BASE, loaded);
	mark(g, CT_GENAI_LORA, HAS_LORA, loaded);
	mark(g, CT_GENAI_CONTROLNET, HAS_CONTROLNET, loaded);
	out->ms = ct_calloc(s->n + 1, sizeof *out->ms);
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].value > 0 &&
		    loaded[(size_t)s->v[i].pod * (CT_GENAI_LAST + 1) + s->v[i].k] == (HAS_LORA | HAS_CONTROLNET))
			out->ms[out->n++] = s->v[i].value;
	settle(out);
	free(loaded);
}

/* ---- the file */

static void write_row(struct ct_output *o, const char *kind, const struct times *t, const char *what)
{
	char source[256];

	if (!t->n)
		return;
	ct_output_text(o, kind);
	ct_output_text(o, ",*,*,*,");
	ct_output_f64(o, t->median_s);
	ct_output_text(o, ",1,");
	snprintf(source, sizeof source, "GenTD26, measured: median of %zu %s", t->n, what);
	ct_output_field(o, source);
	ct_output_text(o, "\n");
}

static int write_file(const struct times *cold, const struct times *warm, const struct times *adapters,
		      const char *path, struct ct_err *err)
{
	struct ct_output o;

	CT_TRY(ct_output_open(&o, path, err));
	ct_output_text(&o, "kind,model,from,to,seconds,blocks,source\n");
	write_row(&o, "start", cold, "base model loads at the pods that serve requests (assumed to stand for a start)");
	write_row(&o, "switch", adapters,
		  "updates that loaded LoRA and ControlNet alone (assumed to stand for a switch)");
	write_row(&o, "migrate", cold,
		  "base model loads at the pods that serve requests (assumed: cold at the new place)");
	write_row(&o, "resume", warm,
		  "base model loads at the other pods (assumed: weights still in the host's memory)");
	return ct_output_close(&o, err);
}

static int write_table(const struct ct_genai *g, const char *source, const char *path, struct ct_err *err)
{
	struct times cold = { 0 }, warm = { 0 }, adapters = { 0 };
	struct ct_loc at = { .file = source };
	int rc;

	base_loads(g, &cold, &warm);
	adapter_loads(g, &adapters);
	if (!cold.n || !adapters.n)
		rc =
		    ct_err_at(err, CT_ETRACE, &at, "no base model load at a serving pod, or no load of adapters alone");
	else
		rc = write_file(&cold, &warm, &adapters, path, err);
	free(cold.ms);
	free(warm.ms);
	free(adapters.ms);
	return rc;
}

static int read_and_write(const struct ct_source *s, const struct ct_trace_options *o, const char *path,
			  struct ct_err *err)
{
	struct ct_loc at = { .file = ct_source_path(s) };
	struct ct_genai *g = NULL;

	CT_TRY(ct_genai_load(s, WANT, o, &g, err));
	for (size_t t = 0; t < CT_GENAI_TABLES; t++)
		if (WANT & ~g->there & 1u << t)
			ct_err_add(err, CT_ETRACE, &at, "no table '%s', which the transitions want",
				   ct_genai_table_name((enum ct_genai_table)t));
	if (!err->code)
		write_table(g, ct_source_path(s), path, err);
	ct_genai_free(g);
	return (int)err->code;
}

int ct_genai_write_transitions(const char *path, const struct ct_trace_options *o, const char *out, struct ct_err *err)
{
	static const struct ct_trace_options defaults;
	struct ct_source *s;
	int rc;

	CT_TRY(ct_source_open(path, &s, err));
	rc = read_and_write(s, o ? o : &defaults, out, err);
	ct_source_close(s);
	return rc;
}
