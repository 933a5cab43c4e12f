/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/run_report.h"

#include "experiments/config.h"
#include "experiments/setup.h"
#include "experiments/study.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const struct ct_pair *p, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(p[i].key, key) == 0)
			return p[i].value;
	return NULL;
}

/* The measurement window in words, and what "measured" means in it. */
static void print_window(const struct ct_config *c, const struct ct_account *a, FILE *to)
{
	fprintf(to, "window    %.3f s to %.3f s (%s); JCT and wait are over the jobs submitted in it, %s\n",
		ct_seconds(a->window_start), ct_seconds(a->window_end), c->sim.until ? "sim.until" : "last event",
		c->sim.censor ? "cut off at its end" : "followed to their end");
}

/* Words of `text` from column `left` on, in lines of at most WIDTH columns. */
enum { WIDTH = 100, LEFT = 43 };
static void print_wrapped(const char *text, FILE *to)
{
	size_t at = LEFT;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > LEFT && at + 1 + n > WIDTH) {
			fprintf(to, "\n%*s", LEFT, "");
			at = LEFT;
		}
		fprintf(to, "%s%.*s", at > LEFT ? " " : "", (int)n, text);
		at += n + (at > LEFT);
		text += n + (text[n] == ' ');
	}
	fputc('\n', to);
}

static void print_metric(const struct ct_metric_info *m, double v, FILE *to)
{
	char text[48];

	if (isnan(v))
		snprintf(text, sizeof text, "-");
	else
		snprintf(text, sizeof text, "%.*f", m->digits, v);
	/* A long key takes room from its number. */
	fprintf(to, "%-18s %*s %-6s ", m->key, 16 - (int)(strlen(m->key) > 18 ? strlen(m->key) - 18 : 0), text,
		m->unit);
	print_wrapped(m->definition, to);
}

void ct_run_report(const struct ct_result *r, struct ct_config *c, const struct ct_account *account, FILE *to)
{
	const char *trace = value_of(r->manifest, r->n_manifest, "trace");
	const char *rate = value_of(r->perf, r->n_perf, "events_per_s");
	const char *cpu = value_of(r->perf, r->n_perf, "cpu_s"), *rss = value_of(r->perf, r->n_perf, "peak_rss_mib");

	fprintf(to, "trace     %s\ncluster   %s\npolicy    %s\nseed      %" PRId64 "\n", trace ? trace : "",
		ct_setup_cluster_text(c, &c->arena), c->policy.policy->name, c->sim.seed);
	print_window(c, account, to);
	if (r->partial)
		fputs("PARTIAL   stopped before its end: the figures cover what had happened until then\n", to);
	fputc('\n', to);
	for (int m = 0; m < CT_METRIC_COUNT; m++)
		if (!ct_metric_is_optional(m) || !isnan(r->summary[m]))
			print_metric(&ct_metric_info[m], r->summary[m], to);
	fprintf(to, "\ndigest    %s\n", r->digest);
	if (rate && cpu && rss)
		fprintf(to,
			"speed     %.4g engine events a CPU second (policy time not counted); %.3f CPU s, %.0f MiB\n",
			strtod(rate, NULL), strtod(cpu, NULL), strtod(rss, NULL));
}

static void manual_line(const char *key, const char *unit, const char *definition, FILE *to)
{
	fprintf(to, "%-26s %-6s %s\n", key, unit, definition);
}

void ct_run_report_manual(FILE *to)
{
	static const struct {
		const char *key, *definition;
	} study[] = {
#define LINE(key, text) { #key, text },
		CT_STUDY_METRICS(LINE)
#undef LINE
	};

	fputs("Window: jobs submitted in [sim.warmup, sim.until) since the first submission, followed to their end\n"
	      "unless sim.censor; integrals over [sim.warmup, sim.until or the end). Quantiles interpolate linearly\n"
	      "between order statistics.\n\n",
	      to);
	for (int m = 0; m < CT_METRIC_COUNT; m++)
		manual_line(ct_metric_info[m].key, ct_metric_info[m].unit, ct_metric_info[m].definition, to);
	fputs("\nIn `cotenant repro` besides:\n", to);
	for (size_t i = 0; i < sizeof study / sizeof *study; i++)
		manual_line(study[i].key, "", study[i].definition, to);
}
