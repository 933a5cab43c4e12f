/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job's story on the terminal, and as JSON. */
#include "experiments/explain.h"

#include "experiments/table.h"
#include "sim/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *manifest(const struct ct_story *s, const char *key)
{
	const char *v = ct_result_get(s->r, CT_RESULT_MANIFEST, key);

	return v ? v : "";
}

static int64_t whole(const struct ct_story *s, const char *column)
{
	const struct ct_column *c = ct_frame_column(&s->r->jobs, column);

	return c && c->type == CT_COLUMN_I64 ? ct_cell_i64(c, s->row) : 0;
}

static void print_head(const struct ct_story *s, FILE *to)
{
	const char *model = ct_story_text(s, "model"), *class = ct_story_text(s, "class"),
		   *reason = ct_story_text(s, "reason"), *state = ct_story_text(s, "state");
	int64_t gpus = whole(s, "num_gpus"), milli = whole(s, "gpu_milli");

	fprintf(to, "job       %s%s%s", ct_story_text(s, "job_id"), *model ? ", " : "", model);
	if (strcmp(class, "unknown") != 0 && *class)
		fprintf(to, ", %s", *class == 't' ? "training" : "offline inference");
	fprintf(to, ", %lld GPU%s", (long long)gpus, gpus == 1 ? "" : "s");
	if (milli != 1000)
		fprintf(to, ", a share of %.3f of each", (double)milli / 1000);
	fprintf(to, "\npolicy    %s\nsubmitted %.3f s\nstate     %s%s%s%s\n", manifest(s, "policy"),
		ct_story_seconds(s, "submission_time"), state, *reason ? " (" : "", reason, *reason ? ")" : "");
	if (s->r->partial)
		fputs("PARTIAL   the run was stopped before its end\n", to);
	if (!isnan(s->jct_s))
		fprintf(to, "JCT       %.3f s, %.3f times the %.3f s it would have run alone\n", s->jct_s,
			s->jct_s / s->alone_s, s->alone_s);
	else
		fprintf(to, "alone     %.3f s\n", s->alone_s);
}

static void print_timeline(const struct ct_story *s, FILE *to)
{
	struct ct_table t;

	ct_table_init(&t);
	ct_table_column(&t, "from", "s", CT_RIGHT);
	ct_table_column(&t, "to", "s", CT_RIGHT);
	ct_table_column(&t, "for", "s", CT_RIGHT);
	ct_table_column(&t, "what", "", CT_LEFT);
	for (size_t i = 0; i < s->n_episodes; i++) {
		const struct ct_episode *e = &s->episode[i];
		int instant = e->to == e->from;

		ct_table_number(&t, ct_seconds(e->from), 3);
		if (instant)
			ct_table_text(&t, "");
		else
			ct_table_number(&t, ct_seconds(e->to), 3);
		if (instant)
			ct_table_text(&t, "");
		else
			ct_table_number(&t, ct_seconds(e->to - e->from), 3);
		ct_table_text(&t, e->text);
	}
	ct_table_print(&t, to);
	ct_table_fini(&t);
}

static void print_spent(const struct ct_story *s, FILE *to)
{
	struct ct_table t;
	double sum = 0;

	for (size_t i = 0; i < s->n_spent; i++)
		sum += s->spent[i].s;
	ct_table_init(&t);
	ct_table_column(&t, "where its time went", "", CT_LEFT);
	ct_table_column(&t, "time", "s", CT_RIGHT);
	ct_table_column(&t, "share", "%", CT_RIGHT);
	for (size_t i = 0; i < s->n_spent; i++) {
		ct_table_text(&t, s->spent[i].part);
		ct_table_number(&t, s->spent[i].s, 3);
		ct_table_number(&t, 100 * s->spent[i].s / sum, 1);
	}
	ct_table_text(&t, "total");
	ct_table_number(&t, sum, 3);
	ct_table_number(&t, 100, 1);
	ct_table_print(&t, to);
	ct_table_fini(&t);
}

int ct_story_print(const struct ct_story *s, FILE *to, struct ct_err *err)
{
	print_head(s, to);
	if (s->n_episodes) {
		fputc('\n', to);
		print_timeline(s, to);
	}
	if (s->n_spent) {
		fputc('\n', to);
		print_spent(s, to);
	}
	errno = 0;
	if (fflush(to) != 0 || ferror(to))
		return ct_err_at(err, CT_EIO, NULL, "cannot write the story: %s", strerror(errno ? errno : EIO));
	return 0;
}

static void json_episode(struct ct_json *j, const struct ct_episode *e)
{
	ct_json_open(j, NULL, '{', 1);
	ct_json_text(j, "what", ct_episode_kind_name(e->kind));
	ct_json_f64(j, "from_s", ct_seconds(e->from));
	ct_json_f64(j, "to_s", ct_seconds(e->to));
	if (*e->reason) {
		ct_json_text(j, "reason", e->reason);
		ct_json_text(j, "other", *e->other ? e->other : NULL);
		ct_json_f64(j, "a", e->a);
		ct_json_f64(j, "b", e->b);
	}
	if (*e->gpus)
		ct_json_text(j, "gpus", e->gpus);
	if (*e->configuration)
		ct_json_text(j, "configuration", e->configuration);
	if (*e->beside) {
		ct_json_text(j, "beside", e->beside);
		ct_json_text(j, "beside_configuration", *e->beside_configuration ? e->beside_configuration : NULL);
		ct_json_i64(j, "others", e->others);
		ct_json_f64(j, "slowdown", e->slowdown);
		ct_json_f64(j, "predicted", e->predicted);
	}
	ct_json_text(j, "text", e->text);
	ct_json_close(j);
}

int ct_story_json(const struct ct_story *s, FILE *to, struct ct_err *err)
{
	struct ct_json j;

	ct_json_begin(&j, to);
	ct_json_open(&j, NULL, '{', 0);
	ct_json_text(&j, "job", ct_story_text(s, "job_id"));
	ct_json_text(&j, "policy", manifest(s, "policy"));
	ct_json_text(&j, "state", ct_story_text(s, "state"));
	ct_json_f64(&j, "submitted_s", ct_story_seconds(s, "submission_time"));
	ct_json_f64(&j, "started_s", ct_story_seconds(s, "starting_time"));
	ct_json_f64(&j, "finished_s", ct_story_seconds(s, "finish_time"));
	ct_json_f64(&j, "jct_s", s->jct_s);
	ct_json_f64(&j, "alone_s", s->alone_s);
	ct_json_open(&j, "timeline", '[', 0);
	for (size_t i = 0; i < s->n_episodes; i++)
		json_episode(&j, &s->episode[i]);
	ct_json_close(&j);
	ct_json_open(&j, "spent", '[', 0);
	for (size_t i = 0; i < s->n_spent; i++) {
		ct_json_open(&j, NULL, '{', 1);
		ct_json_text(&j, "part", s->spent[i].part);
		ct_json_f64(&j, "s", s->spent[i].s);
		ct_json_close(&j);
	}
	ct_json_close(&j);
	ct_json_close(&j);
	return ct_json_end(&j, "standard output", err);
}
