/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the log of a finished world to the frames decisions, reasons and stretches. */
#include "sim/result_frame.h"

#include "sim/strings.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of jobs are rows of /jobs, where jobs stand in order of submission; -1 = none. */
static int64_t row_of(uint32_t job)
{
	return job == CT_NONE ? -1 : (int64_t)job;
}

static void make_decisions(struct ct_result *r, const struct ct_log *log)
{
	size_t n = log->n_decisions;
	struct ct_frame *f = &r->decisions;
	int64_t *whole = ct_calloc(4 * n, sizeof *whole), *job = whole + n, *why = job + n, *other = why + n;
	double *a = ct_calloc(2 * n, sizeof *a), *b = a + n;

	for (size_t i = 0; i < n; i++) {
		const struct ct_decision *d = &log->decision[i];

		whole[i] = d->time;
		job[i] = row_of(d->job);
		why[i] = d->why;
		other[i] = row_of(d->other);
		a[i] = (double)d->a;
		b[i] = (double)d->b;
	}
	f->n_rows = n;
	ct_frame_add_i64(f, &r->arena, "time", "s", CT_COLUMN_TIME, whole);
	ct_frame_add_i64(f, &r->arena, "job", "", CT_COLUMN_I64, job)->narrow = 1;
	ct_frame_add_i64(f, &r->arena, "why", "", CT_COLUMN_I64, why)->narrow = 1;
	ct_frame_add_i64(f, &r->arena, "other", "", CT_COLUMN_I64, other)->narrow = 1;
	ct_frame_add_f64(f, &r->arena, "a", "", a)->narrow = 1;
	ct_frame_add_f64(f, &r->arena, "b", "", b)->narrow = 1;
	free(whole);
	free(a);
}

/* ---- stretches */

static char *put_number(char *to, uint32_t v)
{
	char digit[10];
	int n = 0;

	do
		digit[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*to++ = digit[--n];
	return to;
}

/* "0-3 8", as in /jobs; "node 2" for a share of one; "" where nothing was noted. Into
 * the growing `text`; returns its length. */
static size_t place_text(const struct ct_log *log, uint32_t place, char **text, size_t *cap)
{
	const uint32_t *at = place == CT_NONE ? NULL : log->place + place;
	size_t ranges = at && at[0] != CT_NONE ? at[0] : 0;
	char *to;

	CT_GROW(*text, *cap, 22 * ranges + 16);
	to = *text;
	if (at && at[0] == CT_NONE)
		to = put_number(stpcpy(to, "node "), at[1]);
	for (size_t i = 0; i < ranges; i++) {
		uint32_t first = at[1 + 2 * i], last = at[2 + 2 * i];

		if (i)
			*to++ = ' ';
		to = put_number(to, first);
		if (first != last) {
			*to++ = '-';
			to = put_number(to, last);
		}
	}
	*to = '\0';
	return (size_t)(to - *text);
}

static const char *config_text(const struct ct_world *w, uint32_t job, uint32_t config)
{
	const struct ct_family *const *families = ct_world_spec_of(w)->families;
	const struct ct_family *f = families && job != CT_NONE ? families[job] : NULL;

	return f && config < f->n && f->config[config].name ? f->config[config].name : "";
}

static void add_kinds(struct ct_result *r, const struct ct_log *log)
{
	struct ct_column *c = ct_frame_new(&r->stretches, &r->arena, "kind", "", CT_COLUMN_CODE);
	struct ct_coder k;

	ct_coder_init(&k, CT_STRETCH_KINDS, log->n_stretches);
	for (size_t i = 0; i < log->n_stretches; i++)
		ct_coder_put(&k, &r->arena, log->stretch[i].kind,
			     ct_stretch_kind_name((enum ct_stretch_kind)log->stretch[i].kind), 0);
	ct_coder_end(&k, &r->arena, c);
	c->narrow = 1;
}

static void add_places(struct ct_result *r, const struct ct_log *log)
{
	struct ct_column *c = ct_frame_new(&r->stretches, &r->arena, "gpus", "", CT_COLUMN_CODE);
	struct ct_strings strings;
	struct ct_coder k;
	char *text = NULL;
	size_t cap = 0;

	ct_strings_init(&strings);
	ct_coder_init(&k, log->n_stretches + 1, log->n_stretches);
	for (size_t i = 0; i < log->n_stretches; i++) {
		size_t n = place_text(log, log->stretch[i].place, &text, &cap);

		ct_coder_put(&k, &r->arena, ct_strings_add(&strings, text, n), text, 1);
	}
	ct_coder_end(&k, &r->arena, c);
	ct_strings_fini(&strings);
	free(text);
	c->narrow = 1;
}

static void add_configs(struct ct_result *r, const struct ct_world *w, const struct ct_log *log)
{
	struct ct_frame *f = &r->stretches;
	size_t n = f->n_rows;
	const char **config = ct_calloc(2 * n, sizeof *config), **partner = config + n;

	for (size_t i = 0; i < n; i++) {
		config[i] = config_text(w, log->stretch[i].job, log->stretch[i].config);
		partner[i] = config_text(w, log->stretch[i].partner, log->stretch[i].partner_config);
	}
	ct_frame_add_text(f, &r->arena, "configuration", CT_COLUMN_CODE, config)->narrow = 1;
	ct_frame_add_text(f, &r->arena, "partner_configuration", CT_COLUMN_CODE, partner)->narrow = 1;
	free(config);
}

static void make_stretches(struct ct_result *r, const struct ct_world *w, const struct ct_log *log)
{
	size_t n = log->n_stretches;
	struct ct_frame *f = &r->stretches;
	int64_t *whole = ct_calloc(4 * n, sizeof *whole), *job = whole + n, *others = job + n, *partner = others + n;
	double *slowdown = ct_calloc(2 * n, sizeof *slowdown), *predicted = slowdown + n;

	for (size_t i = 0; i < n; i++) {
		const struct ct_stretch *s = &log->stretch[i];

		whole[i] = s->time;
		job[i] = row_of(s->job);
		others[i] = s->others;
		partner[i] = row_of(s->partner);
		slowdown[i] = (double)s->slowdown;
		predicted[i] = (double)s->predicted;
	}
	f->n_rows = n;
	ct_frame_add_i64(f, &r->arena, "time", "s", CT_COLUMN_TIME, whole);
	ct_frame_add_i64(f, &r->arena, "job", "", CT_COLUMN_I64, job)->narrow = 1;
	add_kinds(r, log);
	add_places(r, log);
	add_configs(r, w, log);
	ct_frame_add_i64(f, &r->arena, "others", "", CT_COLUMN_I64, others)->narrow = 1;
	ct_frame_add_i64(f, &r->arena, "partner", "", CT_COLUMN_I64, partner)->narrow = 1;
	ct_frame_add_f64(f, &r->arena, "slowdown", "x", slowdown)->narrow = 1;
	ct_frame_add_f64(f, &r->arena, "predicted", "x", predicted)->narrow = 1;
	free(whole);
	free(slowdown);
}

/* "8x8 4x4": 8 nodes with 8 GPUs each, then 4 with 4, in the order of their GPUs' numbers. */
static void describe_nodes(struct ct_result *r, const struct ct_cluster *c)
{
	const char *text = "";

	for (uint32_t i = 0, k; i < c->n_nodes; i += k) {
		for (k = 1; i + k < c->n_nodes && c->nodes[i + k].n_gpus == c->nodes[i].n_gpus;)
			k++;
		text = ct_result_text(r, "%s%s%ux%u", text, i ? " " : "", k, c->nodes[i].n_gpus);
	}
	ct_result_add(r, CT_RESULT_MANIFEST, "node_gpus", text, 0);
}

void ct_result_add_log(struct ct_result *r, const struct ct_world *w)
{
	describe_nodes(r, ct_world_cluster(w));
	make_decisions(r, ct_world_log(w));
	make_stretches(r, w, ct_world_log(w));
	ct_result_add_reasons(r, NULL, NULL, NULL, 0); /* whoever knows the policy adds them */
}

void ct_result_add_reasons(struct ct_result *r, const char *const *name, const char *const *text, const int *waits,
			   size_t n)
{
	struct ct_frame *f = &r->reasons;
	int64_t *w = ct_calloc(n, sizeof *w);

	*f = (struct ct_frame){ .n_rows = n };
	for (size_t i = 0; i < n; i++)
		w[i] = waits[i];
	ct_frame_add_text(f, &r->arena, "name", CT_COLUMN_TEXT, name);
	ct_frame_add_text(f, &r->arena, "text", CT_COLUMN_TEXT, text);
	ct_frame_add_i64(f, &r->arena, "waits", "", CT_COLUMN_I64, w);
	free(w);
}
