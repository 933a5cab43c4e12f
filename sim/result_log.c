/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the log of a finished world to the frames decisions, reasons and stretches. */
#include "sim/result_frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One cell of each row at a time; texts by number where the workload has one. */
static struct ct_column *add_jobs(struct ct_frame *f, struct ct_arena *a, const struct ct_workload *work,
				  const char *name, const uint32_t *job)
{
	struct ct_column *c;
	struct ct_coder k;

	ct_coder_init(&k, work->n + 1, f->n_rows);
	for (size_t i = 0; i < f->n_rows; i++)
		ct_coder_put(&k, a, job[i] == CT_NONE ? 0 : job[i] + 1, job[i] == CT_NONE ? "" : work->jobs[job[i]].id, 1);
	c = ct_frame_new(f, a, name, "", CT_COLUMN_CODE);
	ct_coder_end(&k, a, c);
	return c;
}

static void make_decisions(struct ct_result *r, const struct ct_workload *work, const struct ct_log *log)
{
	size_t n = log->n_decisions;
	struct ct_frame *f = &r->decisions;
	struct ct_arena *a = &r->arena;
	int64_t *whole = ct_calloc(n, sizeof *whole);
	uint32_t *job = ct_calloc(n, sizeof *job);
	double *real = ct_calloc(n, sizeof *real);

	f->n_rows = n;
	for (size_t i = 0; i < n; i++) {
		whole[i] = log->decision[i].time;
		job[i] = log->decision[i].job;
	}
	ct_frame_add_i64(f, a, "time", "s", CT_COLUMN_TIME, whole);
	add_jobs(f, a, work, "job_id", job);
	for (size_t i = 0; i < n; i++) {
		whole[i] = log->decision[i].why;
		job[i] = log->decision[i].other;
		real[i] = (double)log->decision[i].a;
	}
	ct_frame_add_i64(f, a, "why", "", CT_COLUMN_I64, whole);
	add_jobs(f, a, work, "other_id", job);
	ct_frame_add_f64(f, a, "a", "", real);
	for (size_t i = 0; i < n; i++)
		real[i] = (double)log->decision[i].b;
	ct_frame_add_f64(f, a, "b", "", real);
	free(whole);
	free(job);
	free(real);
}

/* ---- stretches */

/* "0-3 8", as in /jobs; "node 2" for a share of one; "" where nothing was noted. */
static const char *place_text(struct ct_result *r, const struct ct_log *log, uint32_t place)
{
	const uint32_t *at = log->place + place;
	const char *text = "";

	if (place == CT_NONE)
		return "";
	if (at[0] == CT_NONE)
		return ct_result_text(r, "node %u", at[1]);
	for (uint32_t i = 0; i < at[0]; i++) {
		uint32_t first = at[1 + 2 * i], last = at[2 + 2 * i];

		text = first == last ? ct_result_text(r, "%s%s%u", text, i ? " " : "", first)
				     : ct_result_text(r, "%s%s%u-%u", text, i ? " " : "", first, last);
	}
	return text;
}

static const char *config_text(const struct ct_world *w, uint32_t job, uint32_t config)
{
	const struct ct_family *const *families = ct_world_spec_of(w)->families;
	const struct ct_family *f = families && job != CT_NONE ? families[job] : NULL;

	return f && config < f->n && f->config[config].name ? f->config[config].name : "";
}

static void add_texts(struct ct_result *r, const struct ct_world *w, const struct ct_log *log)
{
	struct ct_frame *f = &r->stretches;
	const char **text = ct_calloc(f->n_rows, sizeof *text);
	size_t n = f->n_rows;

	for (size_t i = 0; i < n; i++)
		text[i] = ct_stretch_kind_name((enum ct_stretch_kind)log->stretch[i].kind);
	ct_frame_add_text(f, &r->arena, "kind", CT_COLUMN_CODE, text);
	for (size_t i = 0; i < n; i++)
		text[i] = place_text(r, log, log->stretch[i].place);
	ct_frame_add_text(f, &r->arena, "gpus", CT_COLUMN_CODE, text);
	for (size_t i = 0; i < n; i++)
		text[i] = config_text(w, log->stretch[i].job, log->stretch[i].config);
	ct_frame_add_text(f, &r->arena, "configuration", CT_COLUMN_CODE, text);
	for (size_t i = 0; i < n; i++)
		text[i] = config_text(w, log->stretch[i].partner, log->stretch[i].partner_config);
	ct_frame_add_text(f, &r->arena, "partner_configuration", CT_COLUMN_CODE, text);
	free(text);
}

static void make_stretches(struct ct_result *r, const struct ct_world *w, const struct ct_log *log)
{
	const struct ct_workload *work = ct_world_spec_of(w)->work;
	size_t n = log->n_stretches;
	struct ct_frame *f = &r->stretches;
	struct ct_arena *a = &r->arena;
	int64_t *whole = ct_calloc(n, sizeof *whole);
	uint32_t *job = ct_calloc(n, sizeof *job);
	double *real = ct_calloc(n, sizeof *real);

	f->n_rows = n;
	for (size_t i = 0; i < n; i++) {
		whole[i] = log->stretch[i].time;
		job[i] = log->stretch[i].job;
	}
	ct_frame_add_i64(f, a, "time", "s", CT_COLUMN_TIME, whole);
	add_jobs(f, a, work, "job_id", job);
	add_texts(r, w, log);
	for (size_t i = 0; i < n; i++) {
		whole[i] = log->stretch[i].others;
		job[i] = log->stretch[i].partner;
		real[i] = (double)log->stretch[i].slowdown;
	}
	ct_frame_add_i64(f, a, "others", "", CT_COLUMN_I64, whole);
	add_jobs(f, a, work, "partner_id", job);
	ct_frame_add_f64(f, a, "slowdown", "x", real);
	for (size_t i = 0; i < n; i++)
		real[i] = (double)log->stretch[i].predicted;
	ct_frame_add_f64(f, a, "predicted", "x", real);
	free(whole);
	free(job);
	free(real);
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
	make_decisions(r, ct_world_spec_of(w)->work, ct_world_log(w));
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
