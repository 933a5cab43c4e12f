/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of `plan` as tables and as JSON. */
#include "experiments/capacity.h"
#include "experiments/table.h"
#include "sim/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int is_asked(const struct ct_capacity_answer *a, const struct ct_capacity_target *t)
{
	return a->only == CT_CAPACITY_ALL || t->class == a->only;
}

/* The targets an answer had to meet, " and " between. */
static const char *targets_text(const struct ct_capacity *c, const struct ct_capacity_answer *a, char *out, size_t cap)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t t = 0; t < c->request.n_targets; t++) {
		char text[128];

		if (!is_asked(a, &c->request.target[t]))
			continue;
		ct_capacity_target_text(&c->request.target[t], a->level, text, sizeof text);
		if (at < cap)
			at += (size_t)snprintf(out + at, cap - at, "%s%s", at ? " and " : "", text);
	}
	return out;
}
enum { TARGETS_TEXT = 1024 };

static double or_none(int64_t gpus)
{
	return gpus ? (double)gpus : NAN;
}

/* ---- for people */

static void print_answers(const struct ct_capacity *c, FILE *to)
{
	static const char *const title[] = { "GPUs", "nodes", "by mean", "possible", "sizes run" };
	char text[TARGETS_TEXT];
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "targets", "", CT_LEFT);
	ct_table_column(&t, "policy", "", CT_LEFT);
	ct_table_column(&t, "jobs", "", CT_LEFT);
	for (size_t i = 0; i < sizeof title / sizeof *title; i++)
		ct_table_column(&t, title[i], "", CT_RIGHT);
	for (size_t i = 0; i < c->n_answers; i++) {
		const struct ct_capacity_answer *a = &c->answer[i];

		ct_table_text(&t, targets_text(c, a, text, sizeof text));
		ct_table_text(&t, a->policy);
		ct_table_text(&t, ct_capacity_class_name(a->only));
		ct_table_number(&t, or_none(a->gpus), 0);
		ct_table_number(&t, or_none(a->gpus / c->node_gpus), 0);
		ct_table_number(&t, or_none(a->gpus_mean), 0);
		ct_table_number(&t, or_none(a->gpus_possible), 0);
		ct_table_number(&t, (double)a->sizes, 0);
	}
	ct_table_print(&t, to);
	ct_table_fini(&t);
}

static void print_values(const struct ct_capacity *c, FILE *to)
{
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "policy", "", CT_LEFT);
	ct_table_column(&t, "jobs", "", CT_LEFT);
	ct_table_column(&t, "GPUs", "", CT_RIGHT);
	ct_table_column(&t, "target", "", CT_LEFT);
	ct_table_column(&t, "mean", "", CT_RIGHT);
	ct_table_column(&t, "95 % from", "", CT_RIGHT);
	ct_table_column(&t, "to", "", CT_RIGHT);
	for (size_t i = 0; i < c->n_answers; i++)
		for (size_t k = 0; k < c->request.n_targets; k++) {
			const struct ct_capacity_answer *a = &c->answer[i];
			const struct ct_capacity_target *target = &c->request.target[k];
			int digits = ct_metric_info[target->metric].digits;
			char text[128];

			if (!is_asked(a, target))
				continue;
			ct_capacity_target_text(target, a->level, text, sizeof text);
			ct_table_text(&t, a->policy);
			ct_table_text(&t, ct_capacity_class_name(a->only));
			ct_table_number(&t, (double)a->gpus_at, 0);
			ct_table_text(&t, text);
			ct_table_number(&t, a->value[k].value, digits);
			ct_table_number(&t, a->value[k].lo, digits);
			ct_table_number(&t, a->value[k].hi, digits);
		}
	fputs("\nAt the size found, or the largest where none was:\n", to);
	ct_table_print(&t, to);
	ct_table_fini(&t);
}

static void print_savings(const struct ct_capacity *c, FILE *to)
{
	static const char *const title[] = {
		"G_T", "G_I", "G_E", "additional", "total", "by mean: additional", "total"
	};
	char text[TARGETS_TEXT];
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "targets", "", CT_LEFT);
	ct_table_column(&t, "pools", "", CT_LEFT);
	ct_table_column(&t, "shared", "", CT_LEFT);
	for (size_t i = 0; i < sizeof title / sizeof *title; i++)
		ct_table_column(&t, title[i], "", CT_RIGHT);
	for (size_t i = 0; i < c->n_savings; i++) {
		const struct ct_capacity_saving *s = &c->saving[i];

		ct_table_text(&t, targets_text(c, s->shared, text, sizeof text));
		ct_table_text(&t, s->train->policy);
		ct_table_text(&t, s->shared->policy);
		ct_table_number(&t, or_none(s->train->gpus), 0);
		ct_table_number(&t, or_none(s->infer->gpus), 0);
		ct_table_number(&t, or_none(s->shared->gpus), 0);
		ct_table_number(&t, s->additional, 4);
		ct_table_number(&t, s->total, 4);
		ct_table_number(&t, s->additional_mean, 4);
		ct_table_number(&t, s->total_mean, 4);
	}
	fputs("\nGPUs saved by sharing:\n", to);
	ct_table_print(&t, to);
	ct_table_fini(&t);
	fputs("G_T, G_I: pools of training and of inference; G_E: the shared cluster. additional =\n"
	      "1 - (G_E - G_T) / G_I, of the GPUs that inference adds; total = 1 - G_E / (G_T + G_I).\n",
	      to);
}

static void print_notes(const struct ct_capacity *c, FILE *to)
{
	for (size_t i = 0; i < c->n_answers; i++) {
		const struct ct_capacity_answer *a = &c->answer[i];
		char text[TARGETS_TEXT];

		targets_text(c, a, text, sizeof text);
		if (!a->gpus)
			fprintf(to, "Note: %s (%s): %s is not met with %" PRId64 " GPUs.\n", a->policy,
				ct_capacity_class_name(a->only), text, a->gpus_at);
		if (!a->monotone)
			fprintf(to,
				"Note: %s (%s): %s is not monotone: met with %" PRId64 " GPUs, not with %" PRId64
				"; what is given is the smallest above which no size that was run fails.\n",
				a->policy, ct_capacity_class_name(a->only), text, a->gpus_smallest, a->gpus_fails);
	}
	for (size_t i = 0; i < c->n_answers; i++)
		if (c->answer[i].same_runs) {
			fputs("Note: all runs of a size are equal: seeds change nothing in this configuration, and the "
			      "intervals say nothing of other days. generate.kind makes other jobs for each seed.\n",
			      to);
			break;
		}
	if (c->runs == 1)
		fputs("Note: one run a size: no interval. --runs N takes N seeds.\n", to);
}

int ct_capacity_print(const struct ct_capacity *c, FILE *to, struct ct_err *err)
{
	fprintf(to, "Nodes of %" PRId64 " GPU%s; %zu run%s a size, seed%s %" PRId64, c->node_gpus,
		c->node_gpus == 1 ? "" : "s", c->runs, c->runs == 1 ? "" : "s", c->runs == 1 ? "" : "s", c->first_seed);
	if (c->runs > 1)
		fprintf(to, " to %" PRId64, c->first_seed + (int64_t)c->runs - 1);
	fputs("\n", to);
	print_answers(c, to);
	fputs("GPUs: the smallest cluster whose 95 % interval over seeds meets the targets; by mean: whose mean\n"
	      "does; possible: the smallest that the interval does not rule out.\n",
	      to);
	print_values(c, to);
	if (c->n_savings)
		print_savings(c, to);
	print_notes(c, to);
	errno = 0;
	if (fflush(to) != 0 || ferror(to))
		return ct_err_at(err, CT_EIO, NULL, "cannot write the table: %s", strerror(errno ? errno : EIO));
	return 0;
}

/* ---- for programs */

static void json_size(struct ct_json *j, const char *key, int64_t gpus)
{
	if (gpus)
		ct_json_i64(j, key, gpus);
	else
		ct_json_null(j, key);
}

static void json_values(struct ct_json *j, const struct ct_capacity *c, const struct ct_capacity_answer *a)
{
	ct_json_open(j, "values", '[', 1);
	for (size_t k = 0; k < c->request.n_targets; k++) {
		char text[128];

		if (!is_asked(a, &c->request.target[k]))
			continue;
		ct_capacity_target_text(&c->request.target[k], a->level, text, sizeof text);
		ct_json_open(j, NULL, '{', 1);
		ct_json_text(j, "target", text);
		ct_json_f64(j, "mean", a->value[k].value);
		ct_json_f64(j, "lo", a->value[k].lo);
		ct_json_f64(j, "hi", a->value[k].hi);
		ct_json_i64(j, "n", (int64_t)a->value[k].n);
		ct_json_close(j);
	}
	ct_json_close(j);
}

static void json_answer(struct ct_json *j, const struct ct_capacity *c, const struct ct_capacity_answer *a)
{
	char text[TARGETS_TEXT];

	ct_json_open(j, NULL, '{', 1);
	ct_json_text(j, "targets", targets_text(c, a, text, sizeof text));
	ct_json_text(j, "policy", a->policy);
	ct_json_text(j, "jobs", ct_capacity_class_name(a->only));
	json_size(j, "gpus", a->gpus);
	json_size(j, "nodes", a->gpus / c->node_gpus);
	json_size(j, "gpus_by_mean", a->gpus_mean);
	json_size(j, "gpus_possible", a->gpus_possible);
	ct_json_i64(j, "monotone", a->monotone);
	json_size(j, "gpus_fails", a->gpus_fails);
	ct_json_i64(j, "sizes_run", (int64_t)a->sizes);
	ct_json_i64(j, "runs", (int64_t)c->runs);
	ct_json_i64(j, "values_at_gpus", a->gpus_at);
	json_values(j, c, a);
	ct_json_close(j);
}

static void json_saving(struct ct_json *j, const struct ct_capacity *c, const struct ct_capacity_saving *s)
{
	char text[TARGETS_TEXT];

	ct_json_open(j, NULL, '{', 1);
	ct_json_text(j, "targets", targets_text(c, s->shared, text, sizeof text));
	ct_json_text(j, "pools", s->train->policy);
	ct_json_text(j, "shared", s->shared->policy);
	json_size(j, "gpus_train", s->train->gpus);
	json_size(j, "gpus_infer", s->infer->gpus);
	json_size(j, "gpus_shared", s->shared->gpus);
	ct_json_f64(j, "saving_additional", s->additional);
	ct_json_f64(j, "saving_total", s->total);
	ct_json_f64(j, "saving_additional_by_mean", s->additional_mean);
	ct_json_f64(j, "saving_total_by_mean", s->total_mean);
	ct_json_close(j);
}

int ct_capacity_json(const struct ct_capacity *c, FILE *to, struct ct_err *err)
{
	struct ct_json j;

	ct_json_begin(&j, to);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_open(&j, "rows", '[', 0);
	for (size_t i = 0; i < c->n_answers; i++)
		json_answer(&j, c, &c->answer[i]);
	ct_json_close(&j);
	ct_json_open(&j, "savings", '[', 0);
	for (size_t i = 0; i < c->n_savings; i++)
		json_saving(&j, c, &c->saving[i]);
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, to == stdout ? "standard output" : "JSON output", err);
}
